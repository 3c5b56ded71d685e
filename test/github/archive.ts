/** ZIP archives as `actions/upload-artifact` makes them, and as it never would. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
  /** The mode of a Unix file. */
  readonly mode?: number;
  /** What the directory says instead of the truth. */
  readonly size?: number;
  readonly crc?: number;
  readonly flags?: number;
  readonly method?: number;
  /** The name beside the content, where it is another than in the directory. */
  readonly localName?: string;
}

/** An archive of these entries. */
export function zip(entries: readonly ZipEntry[], tail: Uint8Array = new Uint8Array()): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = deflateRawSync(entry.content);
    const { mode = 0o100644, size = entry.content.length, crc = crc32(entry.content), flags = 0, method = 8 } = entry;
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
    const local = Buffer.concat([
      Buffer.from('PK\u0003\u0004', 'latin1'),
      head(localName),
      Buffer.from(localName),
      data,
    ]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    const made = Buffer.from([20, 3]);
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002', 'latin1'), made, head(entry.name), rest, Buffer.from(entry.name)]),
    );
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
