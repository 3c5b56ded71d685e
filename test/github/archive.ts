/** ZIP archives like those of `actions/upload-artifact`, and malformed ones. */
import { constants, crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
  /** Number of consecutive copies of the content in the file; absent: one. */
  readonly times?: number;
  /** The mode of a Unix file. */
  readonly mode?: number;
  /** The size in the directory, if it differs from the actual one. */
  readonly size?: number;
  readonly crc?: number;
  readonly flags?: number;
  readonly method?: number;
  /** The name next to the content, if it differs from that in the directory. */
  readonly localName?: string;
}

/** A repeated content: each copy except for the last compresses to the same bytes, independent of its predecessors. */
function packed(content: Uint8Array, times: number): Buffer {
  const again = times > 1 ? deflateRawSync(content, { finishFlush: constants.Z_FULL_FLUSH }) : Buffer.alloc(0);
  return Buffer.concat([...Array.from({ length: times - 1 }, () => again), deflateRawSync(content)]);
}

/** An archive of these entries. */
export function zip(entries: readonly ZipEntry[], tail: Uint8Array = new Uint8Array()): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { times = 1 } = entry;
    const data = packed(entry.content, times);
    const { mode = 0o100644, size = entry.content.length * times, flags = 0, method = 8 } = entry;
    const crc = entry.crc ?? Array.from({ length: times }).reduce<number>((sum) => crc32(entry.content, sum), 0);
    const common = Buffer.alloc(26);
    [20, flags, method, 0, 0].forEach((value, index) => common.writeUInt16LE(value, index * 2));
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(size, 18);
    const head = (name: string): Buffer => {
      const copy = Buffer.from(common);
      copy.writeUInt16LE(Buffer.byteLength(name), 22);
      return copy;
    };
    const localName = entry.localName ?? entry.name;
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), head(localName), Buffer.from(localName), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    const made = Buffer.from([20, 3]);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002', 'latin1'), made, head(entry.name), rest, Buffer.from(entry.name)]));
    locals.push(local);
    offset += local.length;
  }
  const all = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(all.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, all, end, tail]);
}
