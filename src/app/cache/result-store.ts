/**
 * Results that are kept between runs, one file each, by a digest of all that they depend on. Nothing depends on what is
 * kept: a file that is torn, was changed or lies under another's name counts as missing, and is removed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { cacheFolder } from '../../system/cache-folder.ts';
import { codeIdentity } from './code-identity.ts';
import { exactText, textOfValue, valueOfText } from './encoding.ts';

/** What of a run may be kept: builds, what the assembler says, and verdicts. */
type ResultKind = 'build' | 'resources' | 'check' | 'cost';

export interface ResultStore {
  /** The digest under which a result of these parts is kept. The code of the program is one of them. */
  readonly keyOf: (kind: ResultKind, parts: readonly unknown[]) => string;
  /** What was kept; undefined where there is nothing, or nothing whole. */
  readonly read: (key: string) => unknown;
  /** Adds to what the unit cost in this run, in milliseconds. */
  readonly addCost: (unit: string, milliseconds: number) => void;
  /** What the unit cost when something of it was last made; undefined where that is not known. */
  readonly costOf: (unit: string) => number | undefined;
  /** Keeps a value of JSON, bigints, maps and undefined. Does nothing where it is anything else, or cannot be written. */
  readonly write: (key: string, value: unknown) => void;
}

/** Begins each file; changes with its form. */
const format = 'selvage result 1\n';
/** More than this no result has, decompressed, in bytes. */
const maxBytes = 512 << 20;
/** A file that was not used for so long goes, in milliseconds. */
const longestUnused = 30 * 24 * 3_600_000;
/** Bytes of all files; the ones that were not used for the longest time go first. */
const maxStored = 1 << 30;

/** What units cost in this run, by folder of results. */
const costsIn = new Map<string, Map<string, number>>();

/**
 * Opens the folder in which results are kept: `SELVAGE_CACHE`, which the action sets, or one in the user's cache folder.
 * @returns undefined where nothing is to be kept: in CI without that folder, and where `SELVAGE_CACHE` is `off`
 */
export function openResults(environment: Readonly<Record<string, string | undefined>>): ResultStore | undefined {
  const stated = environment['SELVAGE_CACHE'];
  if (stated === 'off') return undefined;
  const folder = stated !== undefined && isAbsolute(stated) ? stated : cacheFolder(environment, 'results');
  return folder === undefined ? undefined : storeIn(folder);
}

/** Results in a folder. */
export function storeIn(folder: string): ResultStore {
  removeUnused(folder);
  const costs = costsIn.get(folder) ?? new Map<string, number>();
  costsIn.set(folder, costs);
  const keyOf: ResultStore['keyOf'] = (kind, parts) => digest(textOfValue([kind, codeIdentity(), ...parts]));
  const store: ResultStore = {
    keyOf,
    addCost(unit, milliseconds) {
      const cost = (costs.get(unit) ?? 0) + milliseconds;
      costs.set(unit, cost);
      store.write(keyOf('cost', [unit]), cost);
    },
    costOf(unit) {
      const cost = store.read(keyOf('cost', [unit]));
      return typeof cost === 'number' ? cost : undefined;
    },
    read(key) {
      const file = join(folder, key.slice(0, 2), key);
      let bytes: Buffer;
      try {
        bytes = readFileSync(file);
      } catch {
        return undefined;
      }
      const value = readEntry(key, bytes);
      if (value === undefined) rmSync(file, { force: true });
      else touch(file);
      return value;
    },
    write(key, value) {
      const bytes = entryOf(key, value);
      if (bytes === undefined) return;
      const place = join(folder, key.slice(0, 2));
      const beside = join(place, `.${randomBytes(6).toString('hex')}`);
      try {
        mkdirSync(place, { recursive: true, mode: 0o700 });
        writeFileSync(beside, bytes, { mode: 0o600, flag: 'wx' });
        renameSync(beside, join(place, key));
      } catch {
        rmSync(beside, { force: true });
      }
    },
  };
  return store;
}

/** The bytes that keep a value; undefined where it cannot be kept. */
function entryOf(key: string, value: unknown): Buffer | undefined {
  const text = exactText(value);
  if (text === undefined) return undefined;
  const body = deflateRawSync(Buffer.from(text, 'utf8'), { level: 1 });
  return Buffer.concat([headOf(key, body), body]);
}

/** The value that bytes keep under a key; undefined where they are not what was written under it. */
export function readEntry(key: string, bytes: Buffer): unknown {
  const length = headOf(key, bytes).length;
  const body = bytes.subarray(length);
  if (!bytes.subarray(0, length).equals(headOf(key, body))) return undefined;
  try {
    return valueOfText(inflateRawSync(body, { maxOutputLength: maxBytes }).toString('utf8'));
  } catch {
    return undefined;
  }
}

function headOf(key: string, body: Uint8Array): Buffer {
  return Buffer.from(`${format}${key}\n${digest(body)}\n`, 'latin1');
}

function touch(file: string): void {
  try {
    const now = new Date();
    if (now.getTime() - statSync(file).mtimeMs > 3_600_000) utimesSync(file, now, now);
  } catch {
    // It went away, or others own it.
  }
}

/** Once a day, takes away what was not used for long, and what is too much. */
function removeUnused(folder: string): void {
  const mark = join(folder, 'tidied');
  const now = Date.now();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const last = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (now - last < 24 * 3_600_000) return;
    writeFileSync(mark, '');
    let left = maxStored;
    for (const { file, size, used } of storedFiles(folder)) {
      left -= size;
      if (left < 0 || now - used > longestUnused) rmSync(file, { force: true });
    }
  } catch {
    // Others may be at it.
  }
}

/** The files of a store, the one that was used last first. */
export function storedFiles(folder: string): { readonly file: string; readonly size: number; readonly used: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats ? [{ file, size: stats.size, used: stats.mtimeMs }] : [];
    })
    .sort((a, b) => b.used - a.used);
}

/** SHA-256, in hexadecimal digits. */
export function digest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
