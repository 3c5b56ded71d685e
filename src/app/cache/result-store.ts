/**
 * Results cached between runs, one file each, by a digest of their inputs. Correctness does not depend on the cache: a
 * file that is truncated, modified or stored under another name counts as missing and is removed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { cacheFolder } from '../../system/cache-folder.ts';
import { codeIdentity } from './code-identity.ts';
import { exactText, textOfValue, valueOfText } from './encoding.ts';

/** Kinds of cached results: builds, results of the assembler, verdicts and costs. */
type ResultKind = 'build' | 'resources' | 'check' | 'cost';

export interface ResultStore {
  /** Digest of the parts, which is the key of a result. The code of the program is one of them. */
  readonly keyOf: (kind: ResultKind, parts: readonly unknown[]) => string;
  /** The cached value of a key; undefined if it is missing or incomplete. */
  readonly read: (key: string) => unknown;
  /** Adds to the cost of the unit in this run, in milliseconds. */
  readonly addCost: (unit: string, milliseconds: number) => void;
  /** Cost of the unit when parts of it were last built; undefined if unknown. */
  readonly costOf: (unit: string) => number | undefined;
  /** Caches a value of JSON, bigints, maps and undefined. Does nothing for other values, or if writing fails. */
  readonly write: (key: string, value: unknown) => void;
}

/** Magic string of each file; changes with its format. */
const format = 'selvage result 1\n';
/** Maximum size of a decompressed result in bytes. */
const maxBytes = 512 << 20;
/** Files that were unused for this time are removed, in milliseconds. */
const longestUnused = 30 * 24 * 3_600_000;
/** Maximum bytes of all files; the least recently used ones are removed first. */
const maxStored = 1 << 30;

/** Costs of units in this run, by folder of results. */
const costsIn = new Map<string, Map<string, number>>();

/**
 * Opens the folder of the cache: `SELVAGE_CACHE`, which the action sets, or one in the user's cache folder.
 * @returns undefined if nothing is cached: in CI without that folder, and if `SELVAGE_CACHE` is `off`
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

/** Serialised entry of a value; undefined if it cannot be cached. */
function entryOf(key: string, value: unknown): Buffer | undefined {
  const text = exactText(value);
  if (text === undefined) return undefined;
  const body = deflateRawSync(Buffer.from(text, 'utf8'), { level: 1 });
  return Buffer.concat([headOf(key, body), body]);
}

/** Value of a serialised entry; undefined if the bytes are not those written under the key. */
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
    // The file was removed, or another user owns it.
  }
}

/** Once a day, removes entries that were unused for long, and those beyond the maximum size. */
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
    // Another process may be removing it.
  }
}

/** Files of a store, most recently used first. */
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
