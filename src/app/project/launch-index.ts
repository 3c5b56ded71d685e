/**
 * Index of the sources of a tree that may launch kernels, by kernel name. Each version of a source is scanned once;
 * results are cached by content. Git identifies the content of a tracked file without reading the file; an untracked
 * file is identified by its size and times.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { git, withoutFilters } from './git.ts';
import { hashOf, scanSource, type ScannedSource } from './source-scan.ts';
import { largestSource, mayBeRead, relativeTo, repositoryRoot, type SourceTree } from './source-tree.ts';

export interface LaunchIndex {
  /**
   * The sources that contain one of the words as an identifier, sorted. May include a few others, because words are
   * hashed.
   */
  readonly mentioning: (words: Iterable<string>) => readonly string[];
  /**
   * The sources that may launch one of these kernels: they contain a launch, and one of the names or pasted names.
   * Sorted. A launch through a wrapper is in the wrapper's file; `mentioning` returns its callers.
   * @param names of kernels, without namespaces and template arguments
   */
  readonly launching: (names: Iterable<string>) => readonly string[];
  /** The sources that define or declare a kernel of one of these names, sorted. */
  readonly declaring: (names: Iterable<string>) => readonly string[];
  /** The scan of a source; undefined if it cannot be read. */
  readonly source: (path: string) => ScannedSource | undefined;
}

interface IndexRequest {
  readonly tree: Pick<SourceTree, 'root' | 'sources'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder of cached scans (`system/cache-folder.ts`); undefined to cache none. */
  readonly folder: string | undefined;
  /** Current time in milliseconds since 1970; by default the system clock. */
  readonly now?: () => number;
}

/** Scans the sources of a tree, or reuses cached scans. A tree that is not a git checkout is read in full. */
export async function openLaunchIndex({ tree, environment, folder, now = Date.now }: IndexRequest): Promise<LaunchIndex> {
  const paths = tree.sources();
  const isKept = folder !== undefined && repositoryRoot(tree.root) === tree.root;
  const pack = !isKept ? undefined : join(folder, `${digest(tree.root).slice(0, 32)}.scans`);
  const contents = pack === undefined ? new Map<string, string>() : await knownContents(tree.root, environment);
  const { kept, seen } = pack === undefined ? emptyPack() : readPack(pack);
  const files = new Map<string, SeenFile>();
  const used = new Map<string, ScannedSource>();
  const sources = new Map<string, ScannedSource>();
  const reader = new SourceReader(tree.root);
  let isNew = false;
  for (const path of paths) {
    const stamp = pack === undefined || contents.has(path) ? undefined : stampOf(join(tree.root, path), now());
    const before = stamp === undefined ? undefined : seen.get(path);
    const named = contents.get(path) ?? (before?.stamp === stamp ? before?.content : undefined);
    const known = named === undefined ? undefined : (used.get(named) ?? kept.get(named));
    const scan = known === undefined ? scanFile(reader, path, named, kept) : { content: named!, scanned: known };
    if (!scan) continue;
    sources.set(path, scan.scanned);
    if (stamp !== undefined) {
      files.set(path, { stamp, content: scan.content });
      isNew ||= before?.stamp !== stamp;
    }
    isNew ||= !kept.has(scan.content) && !used.has(scan.content);
    used.set(scan.content, scan.scanned);
  }
  if (pack !== undefined && isNew) writePack(pack, files, used, kept);
  return indexOf(sources);
}

/** Size, times and content of an untracked file when it was read. */
interface SeenFile {
  readonly stamp: string;
  readonly content: string;
}

/** A file that was changed less than this ago may change again without a new time stamp, in milliseconds. */
const settlingTime = 3000;

/**
 * Stamp that changes when a file changes; undefined for links, for files that are not regular, and for recently changed
 * files.
 */
function stampOf(file: string, now: number): string | undefined {
  try {
    const stats = lstatSync(file);
    const { size, mtimeMs, ctimeMs, ino, dev } = stats;
    if (!stats.isFile()) return undefined;
    return Math.max(mtimeMs, ctimeMs) + settlingTime < now ? [size, mtimeMs, ctimeMs, ino, dev].join() : undefined;
  } catch {
    return undefined;
  }
}

interface Scan {
  readonly content: string;
  readonly scanned: ScannedSource;
}

/** Reads files of a tree sequentially into the same memory. */
class SourceReader {
  private bytes = Buffer.allocUnsafeSlow(1 << 16);
  /** Real paths of folders; undefined for folders whose links leave the tree. */
  private readonly folders = new Map<string, string | undefined>();
  private readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** @returns the bytes of a file , valid until the next file is read; undefined if it cannot or may not be read */
  read(path: string): Uint8Array | undefined {
    const slash = path.lastIndexOf('/');
    const folder = slash < 0 ? '' : path.slice(0, slash);
    if (!this.folders.has(folder)) this.folders.set(folder, folderInside(this.root, folder));
    const real = this.folders.get(folder);
    if (real === undefined) return undefined;
    try {
      return this.contents(`${real}/${path.slice(slash + 1)}`, constants.O_NOFOLLOW);
    } catch {
      // A link: its target may be inside the tree.
      const file = mayBeRead(this.root, path);
      try {
        return file === undefined ? undefined : this.contents(file, 0);
      } catch {
        return undefined;
      }
    }
  }

  private contents(file: string, flags: number): Uint8Array | undefined {
    const descriptor = openSync(file, constants.O_RDONLY | flags);
    try {
      const { size } = fstatSync(descriptor);
      if (size > largestSource) return undefined;
      if (size > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow(2 * size);
      let length = 0;
      for (let more = -1; more !== 0 && length < size; length += more) more = readSync(descriptor, this.bytes, length, size - length, null);
      return this.bytes.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  }
}

function folderInside(root: string, folder: string): string | undefined {
  try {
    const real = realpathSync(join(root, folder));
    return real === root || !isAbsolute(relativeTo(root, real)) ? real : undefined;
  } catch {
    return undefined;
  }
}

function scanFile(
  reader: SourceReader,
  path: string,
  named: string | undefined,
  kept: ReadonlyMap<string, ScannedSource>,
): Scan | undefined {
  const bytes = reader.read(path);
  if (!bytes) return undefined;
  // Hash of the content in git.
  const content = named ?? createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  return { content, scanned: kept.get(content) ?? scanSource(bytes) };
}

function indexOf(sources: ReadonlyMap<string, ScannedSource>): LaunchIndex {
  const those = (accept: (source: ScannedSource) => boolean): string[] =>
    [...sources].flatMap(([path, source]) => (accept(source) ? [path] : [])).sort();
  const holdsOneOf = (words: Iterable<string>): ((source: ScannedSource) => boolean) => {
    const hashes = new Set(Array.from(words, hashOf));
    const [only] = hashes;
    if (hashes.size === 1) return (source) => source.words.includes(only!);
    return ({ words: own }) => {
      for (let index = 0; index < own.length; index++) if (hashes.has(own[index]!)) return true;
      return false;
    };
  };
  return {
    mentioning: (words) => those(holdsOneOf(words)),
    launching(names) {
      const holds = holdsOneOf(names);
      return those((source) => (source.launched.length > 0 || source.calls.length > 0) && (source.pastes || holds(source)));
    },
    declaring(names) {
      const wanted = new Set(names);
      return those(({ kernels }) => kernels.some((name) => wanted.has(name)));
    },
    source: (path) => sources.get(path),
  };
}

/** Time limit of git in milliseconds. If git exceeds it, the files are read instead. */
const patience = 20_000;

/**
 * The contents of unmodified files of a checkout as recorded by git, by path from `root`. Links, and files that git is
 * configured not to check, are left out.
 */
async function knownContents(root: string, environment: IndexRequest['environment']): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  try {
    const words = ['ls-files', '-z', '--stage', '-v', '--modified'];
    const { code, stdout } = await git({ root, environment }, words, await withoutFilters({ root, environment }), patience);
    for (const entry of code === 0 ? stdout.split('\0') : []) {
      // `H`: the file is in the index and is checked for modification. Modified files are listed a second time under
      // another letter.
      const [, letter, content = '', path = ''] = /^(\S) \d+ ([0-9a-f]+) \d\t([^]+)$/.exec(entry) ?? [];
      if (letter === 'H' && /^\S 100(?:644|755) /.test(entry)) contents.set(path, content);
      else contents.delete(path);
    }
  } catch {
    contents.clear();
  }
  return contents;
}

/** Magic string of the index; changes with the data that a scan contains. */
const format = 'selvage scans 2\n';
/** Maximum number of cached scans of earlier versions of sources. */
const maxKept = 20_000;

type Kept = readonly [
  content: string,
  words: number,
  pastes: 0 | 1,
  launched: readonly string[],
  calls: readonly string[],
  kernels: readonly string[],
  includes: readonly string[],
];

/**
 * A pack consists of its format, the digest of the following bytes, the size of the records, the records and the
 * untracked files in JSON, and the words of all sources. A file that is truncated or modified does not match its digest
 * and counts as empty.
 */
function writePack(
  file: string,
  files: ReadonlyMap<string, SeenFile>,
  used: ReadonlyMap<string, ScannedSource>,
  kept: ReadonlyMap<string, ScannedSource>,
): void {
  const all = new Map(used);
  for (const [content, scanned] of kept) if (all.size < maxKept && !all.has(content)) all.set(content, scanned);
  const records: Kept[] = [];
  const words: Buffer[] = [];
  for (const [content, scanned] of all) {
    const { launched, calls, kernels, includes, pastes } = scanned;
    records.push([content, scanned.words.length, pastes ? 1 : 0, launched, calls, kernels, includes]);
    words.push(Buffer.from(scanned.words.buffer, scanned.words.byteOffset, scanned.words.byteLength));
  }
  const head = Buffer.from(JSON.stringify([records, [...files].map(([path, { stamp, content }]) => [path, stamp, content])]), 'utf8');
  const size = Buffer.alloc(4);
  size.writeUInt32LE(head.length);
  const hash = createHash('sha256');
  const parts = [size, head, ...words];
  for (const part of parts) hash.update(part);
  const beside = `${file}.${process.pid}.${process.hrtime.bigint()}`;
  try {
    writeFileSync(beside, Buffer.concat([Buffer.from(`${format}${hash.digest('hex')}\n`, 'latin1'), ...parts]), {
      mode: 0o600,
    });
    renameSync(beside, file);
  } catch {
    // A failure to write is ignored: correctness does not depend on the cache.
    rmSync(beside, { force: true });
  }
}

interface Pack {
  readonly kept: Map<string, ScannedSource>;
  readonly seen: Map<string, SeenFile>;
}

function emptyPack(): Pack {
  return { kept: new Map(), seen: new Map() };
}

function readPack(file: string): Pack {
  const { kept, seen } = emptyPack();
  try {
    const bytes = readFileSync(file);
    const start = format.length + 65;
    const body = bytes.subarray(start);
    if (bytes.toString('latin1', 0, start) !== `${format}${digest(body)}\n`) return emptyPack();
    const size = body.readUInt32LE(0);
    const [records, files] = JSON.parse(body.toString('utf8', 4, 4 + size)) as [readonly Kept[], readonly [string, string, string][]];
    for (const [path, stamp, content] of files) seen.set(path, { stamp, content });
    // Words are accessed without conversion, which requires an offset that is a multiple of their size.
    const words = new Uint32Array(Uint8Array.prototype.slice.call(body, 4 + size).buffer);
    let at = 0;
    for (const [content, count, pastes, launched, calls, kernels, includes] of records) {
      const own = words.subarray(at, at + count);
      kept.set(content, { words: own, launched, calls, kernels, includes, pastes: pastes === 1 });
      at += count;
    }
  } catch {
    return emptyPack();
  }
  return { kept, seen };
}

function digest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
