/** Results of a folder as one file, to transfer them between hosts. */
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { storedFiles } from './result-store.ts';

/** Magic string of a pack; changes with its format. */
const format = Buffer.from('selvage results 1\n', 'latin1');
/** Bytes of the header of an entry: its key and its size. */
const headBytes = 64 + 4;

/**
 * Packs the results of a folder, most recently used first.
 * @param mostBytes maximum size of the pack
 */
export function packResults(folder: string, mostBytes: number): Buffer {
  const parts = [format];
  let left = mostBytes - format.length;
  for (const { file, size } of storedFiles(folder)) {
    left -= size + headBytes;
    if (left < 0) break;
    const head = Buffer.alloc(headBytes);
    const bytes = readFileSync(file);
    head.write(basename(file), 'latin1');
    head.writeUInt32LE(bytes.length, 64);
    parts.push(head, bytes);
  }
  return Buffer.concat(parts);
}

/**
 * Adds the results of a pack to a folder. Of a truncated pack the entries before the end are used; each entry is
 * validated when it is read (`result-store.ts`).
 * @returns number of entries
 */
export function unpackResults(folder: string, pack: Buffer): number {
  if (!pack.subarray(0, format.length).equals(format)) return 0;
  // Unpacked entries are dated before the entries that this run uses, in the order of their last use.
  const start = Date.now() / 1000 - 7200;
  let count = 0;
  for (let at = format.length; at + headBytes <= pack.length;) {
    const key = pack.toString('latin1', at, at + 64);
    const length = pack.readUInt32LE(at + 64);
    at += headBytes;
    if (!/^[0-9a-f]{64}$/.test(key) || at + length > pack.length) break;
    const place = join(folder, key.slice(0, 2));
    const file = join(place, key);
    if (!existsSync(file)) {
      mkdirSync(place, { recursive: true, mode: 0o700 });
      writeFileSync(file, pack.subarray(at, at + length), { mode: 0o600 });
      utimesSync(file, start - count, start - count);
    }
    count += 1;
    at += length;
  }
  return count;
}
