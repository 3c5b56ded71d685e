/** The data folder of the server: space for it, and removal of what earlier analyses left. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  utimesSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { opendir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../base/usage-error.ts';
import { causeOf } from '../system/system-error.ts';

/** Bytes that have to be free for a delivery to be handled. */
const minFree = 32 << 20;
/** Results are removed if no analysis of their repository, or fork, used them for this time, in milliseconds. */
const longestUnused = 30 * 24 * 3_600_000;
/** Begin of the name of a folder of a running analysis. */
export const workPrefix = 'work-';

/**
 * Makes the folder.
 * @throws UsageError if the server cannot write it
 */
export function prepareDataFolder(folder: string): void {
  try {
    makeFolder(folder);
    writeProbe(folder);
  } catch (error) {
    throw new UsageError(
      `SELVAGE_DATA: the folder ${folder} cannot be written (${causeOf(error)}). Give the server's user a folder that it may write.`,
    );
  }
}

/** Makes a folder and those that contain it. Below /proc, `mkdirSync` with `recursive` does not return. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (!existsSync(dirname(folder))) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

function writeProbe(folder: string): void {
  const file = join(folder, '.probe');
  writeFileSync(file, '.'.repeat(4096), { flush: true });
  rmSync(file, { force: true });
}

/** Why the folder cannot take more files, in a few words; undefined if it can. */
export function spaceProblem(folder: string): string | undefined {
  try {
    const { blocks, bavail, bsize } = statfsSync(folder);
    // Some file systems do not report their size.
    if (blocks > 0 && bavail * bsize < minFree) return `less than ${minFree >> 20} MiB are free`;
    // A quota, or a disk that became read-only.
    writeProbe(folder);
    return undefined;
  } catch (error) {
    return `writing fails with ${causeOf(error)}`;
  }
}

/** The folder of the results of a repository or fork, marked as used now. */
export function resultsFolder(folder: string, name: string): string {
  const results = join(folder, 'results', name);
  mkdirSync(results, { recursive: true });
  const now = Date.now() / 1000;
  utimesSync(results, now, now);
  return results;
}

/**
 * Removes the folders of analyses that an earlier server did not end. No server may be using the data folder.
 * @returns the number of removed folders, and the names of those that cannot be removed
 */
export function removeLeftovers(folder: string): { readonly removed: number; readonly left: readonly string[] } {
  const names = readdirSync(folder).filter((name) => name.startsWith(workPrefix) || /^app\.json\.[0-9a-f]+$/.test(name));
  const left = names.filter((name) => !isRemoved(join(folder, name)));
  return { removed: names.length - left.length, left };
}

function isRemoved(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 2 });
    return true;
  } catch {
    return false;
  }
}

interface Bounds {
  /** Maximum bytes of the results of all repositories. */
  readonly cacheBytes: number;
  /** Milliseconds after which no analysis can still be running. */
  readonly longestRun: number;
}

/**
 * Removes folders of analyses that must have ended, and results that are old or exceed the space for results. Results
 * that a running analysis may be using are not removed.
 * @param now milliseconds since 1970
 */
export async function removeOld(folder: string, { cacheBytes, longestRun }: Bounds, now: number): Promise<void> {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(workPrefix))) {
    const found = statsOf(join(folder, name));
    if (found && now - found.mtimeMs > 2 * longestRun) isRemoved(join(folder, name));
  }
  const all = join(folder, 'results');
  const names = statsOf(all)?.isDirectory() === true ? readdirSync(all) : [];
  const found = names.flatMap((name) => {
    const used = statsOf(join(all, name))?.mtimeMs;
    return used === undefined ? [] : [{ path: join(all, name), used }];
  });
  found.sort((one, other) => other.used - one.used);
  let bytes = 0;
  for (const { path, used } of found) {
    bytes += await sizeOf(path);
    if (now - used <= longestRun || (now - used <= longestUnused && bytes <= cacheBytes)) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Bytes of the files in a folder. Files that are removed meanwhile do not count. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  try {
    for await (const entry of await opendir(folder, { recursive: true })) {
      if (entry.isFile())
        bytes += await stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        );
    }
  } catch {
    // The folder is being changed.
  }
  return bytes;
}
