/** Fat binaries: code for several architectures in one file, as nvcc puts it into objects and programs. */
import * as zlib from 'node:zlib';
import { ByteReader, DamagedFile } from './byte-reader.ts';
import { isElf, readElf } from './elf.ts';
import { isForGpu } from './cubin.ts';

const magic = 0xba55ed50;
const machineCode = 2;
const isLz4 = 0x2000;
const isZstandard = 0x8000;
/** Upper bound of the size of a cubin in bytes. */
const maxBytes = 1 << 28;

/**
 * The cubins in a file: the file itself, or those in a fat binary, an object or a program.
 * @returns their bytes in the order of the file, or an error message
 */
export function cubinsIn(bytes: Uint8Array): readonly Uint8Array[] | { readonly problem: string } {
  try {
    if (isElf(bytes) && isForGpu(bytes)) return [bytes];
    const containers = isElf(bytes)
      ? readElf(bytes)
          .sections.filter(({ name }) => name === '.nv_fatbin' || name === '__nv_relfatbin')
          .map((section) => section.bytes)
      : [bytes];
    const cubins = containers.flatMap(cubinsOf);
    return cubins.length > 0 ? cubins : { problem: 'it holds no code for a GPU' };
  } catch (error) {
    if (error instanceof DamagedFile) return { problem: error.message };
    throw error;
  }
}

/** Containers follow each other, with zeros in between. */
function cubinsOf(bytes: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new ByteReader(bytes, 'the fat binary');
  let unpacked = 0;
  while (reader.at + 16 <= bytes.length) {
    if (reader.u32() !== magic) {
      if (found.length === 0 && reader.at === 4) throw new DamagedFile('it is neither a cubin nor a fat binary');
      continue;
    }
    const version = reader.u16();
    if (version !== 1) throw new DamagedFile(`its fat binary is of version ${version}, which is not known`);
    const headerBytes = reader.u16();
    if (headerBytes !== 16) throw new DamagedFile(`its fat binary has a header of ${headerBytes} bytes`);
    const size = reader.offset();
    const end = reader.at + size;
    if (end > bytes.length) throw new DamagedFile('its fat binary is cut off');
    while (reader.at + 64 <= end) {
      const start = reader.at;
      const kind = reader.u16();
      reader.skip(2);
      const [header, payload] = [reader.u32(), reader.offset()];
      const packed = reader.u32();
      reader.at = start + 40;
      const flags = reader.u32();
      reader.at = start + 56;
      const original = reader.offset();
      if (header < 64 || start + header + payload > end) throw new DamagedFile('its fat binary has an entry that is cut off');
      reader.at = start + header;
      const content = reader.slice(payload);
      if (kind !== machineCode) continue;
      if ((flags & (isLz4 | isZstandard)) === 0) {
        found.push(content);
        continue;
      }
      unpacked += original;
      if (unpacked > maxBytes) throw new DamagedFile(`its fat binary unpacks to more than ${maxBytes} bytes`);
      if (packed > payload) throw new DamagedFile('its fat binary has an entry that is cut off');
      const data = content.subarray(0, packed);
      found.push(flags & isLz4 ? unpackLz4(data, original) : unpackZstandard(data, original));
    }
    reader.at = end;
  }
  return found;
}

/** One block of LZ4: literals, then a copy of earlier output, alternately. */
function unpackLz4(data: Uint8Array, size: number): Uint8Array {
  const reader = new ByteReader(data, 'the compressed code');
  const output = new Uint8Array(size);
  let at = 0;
  const lengthFrom = (nibble: number): number => {
    let length = nibble;
    if (nibble === 15) {
      for (let byte = 255; byte === 255;) {
        byte = reader.u8();
        length += byte;
      }
    }
    return length;
  };
  while (!reader.isAtEnd) {
    const token = reader.u8();
    const literals = lengthFrom(token >> 4);
    if (at + literals > size) throw new DamagedFile('the compressed code is longer than it says');
    output.set(reader.slice(literals), at);
    at += literals;
    if (reader.isAtEnd) break;
    const distance = reader.u16();
    const length = lengthFrom(token & 15) + 4;
    if (distance === 0 || distance > at || at + length > size) throw new DamagedFile('the compressed code is damaged');
    for (let left = length; left > 0; left--, at++) output[at] = output[at - distance]!;
  }
  if (at !== size) throw new DamagedFile('the compressed code is shorter than it says');
  return output;
}

/** Node has it from 22.15 on. */
const zstandard = (zlib as unknown as Readonly<Record<string, typeof zlib.inflateSync | undefined>>)['zstdDecompressSync'];

function unpackZstandard(data: Uint8Array, size: number): Uint8Array {
  if (!zstandard) {
    throw new DamagedFile('its code is compressed by Zstandard, which this Node does not know; Node 22.15 does');
  }
  let output: Uint8Array;
  try {
    output = zstandard(data, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw new DamagedFile('the compressed code is damaged');
  }
  if (output.length !== size) throw new DamagedFile('the compressed code is shorter than it says');
  return output;
}
