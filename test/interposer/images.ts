/** Images of code as nvcc writes them: fat binaries, their entries and compressions, cubins. */
import { zstdCompressSync } from 'node:zlib';

export interface Entry {
  readonly kind: 'ptx' | 'cubin';
  readonly architecture: number;
  readonly payload: Buffer;
  readonly compression?: 'lz4' | 'zstd';
  /** Additional bits of the flags. */
  readonly flags?: bigint;
}

/** Code for one architecture only. */
export const specific = 0x100000n;

/** Bytes before the payload of the first entry of a fat binary. */
export const firstPayload = 16 + 64;

/** A block of LZ4: literals, and a match where bytes repeat at once. */
function lz4(data: Buffer): Buffer {
  const parts: Buffer[] = [];
  const length = (value: number): Buffer => {
    const rest = value - 15;
    return rest < 0 ? Buffer.alloc(0) : Buffer.from([...Array<number>(Math.floor(rest / 255)).fill(255), rest % 255]);
  };
  let from = 0;
  for (let at = 1; at < data.length - 12; at++) {
    let match = 0;
    while (at + match < data.length - 5 && data[at + match] === data[at + match - 1]) match++;
    if (match < 4) continue;
    const literals = at - from;
    parts.push(Buffer.from([(Math.min(literals, 15) << 4) | Math.min(match - 4, 15)]), length(literals));
    parts.push(data.subarray(from, at), Buffer.from([1, 0]), length(match - 4));
    from = at + match;
    at = from;
  }
  const literals = data.length - from;
  parts.push(Buffer.from([Math.min(literals, 15) << 4]), length(literals), data.subarray(from));
  return Buffer.concat(parts);
}

/** A fat binary. */
export function fatBinary(entries: readonly Entry[]): Buffer {
  const body = entries.map(({ kind, architecture, payload, compression, flags = 0n }) => {
    const stored = compression === 'lz4' ? lz4(payload) : compression === 'zstd' ? zstdCompressSync(payload) : Buffer.from(payload);
    const padded = Buffer.alloc(Math.ceil(stored.length / 8) * 8);
    stored.copy(padded);
    const header = Buffer.alloc(64);
    header.writeUInt16LE(kind === 'ptx' ? 1 : 2, 0);
    header.writeUInt16LE(0x101, 2);
    header.writeUInt32LE(header.length, 4);
    header.writeBigUInt64LE(BigInt(padded.length), 8);
    header.writeUInt32LE(architecture, 28);
    const compressed = compression === 'lz4' ? 0x2000n : compression === 'zstd' ? 0x8000n : 0n;
    header.writeBigUInt64LE(0x11n | compressed | flags, 40);
    if (compression !== undefined) {
      header.writeUInt32LE(stored.length, 16);
      header.writeBigUInt64LE(BigInt(payload.length), 56);
    }
    return Buffer.concat([header, padded]);
  });
  const content = Buffer.concat(body);
  const header = Buffer.alloc(16);
  header.writeUInt32LE(0xba55ed50, 0);
  header.writeUInt16LE(1, 4);
  header.writeUInt16LE(header.length, 6);
  header.writeBigUInt64LE(BigInt(content.length), 8);
  return Buffer.concat([header, content]);
}

/** A cubin with the virtual architecture of its PTX: in a note, or in the flags of the file as formerly.
 * One that is not linked is an object. */
export function cubin(virtual: number, where: 'note' | 'flags' = 'note', linked = true): Buffer {
  const note = Buffer.alloc(32);
  note.writeUInt32LE(12, 0);
  note.writeUInt32LE(8, 4);
  note.writeUInt32LE(1000, 8);
  note.write('NVIDIA Corp\0', 12, 'latin1');
  note.writeUInt16LE(2, 24);
  note.writeUInt16LE(virtual, 26);
  const sections = Buffer.alloc(128);
  sections.writeUInt32LE(where === 'note' ? 7 : 0, 64 + 4);
  sections.writeBigUInt64LE(64n, 64 + 24);
  sections.writeBigUInt64LE(BigInt(note.length), 64 + 32);
  const header = Buffer.alloc(64);
  header.write('\x7fELF', 0, 'latin1');
  header.writeUInt8(2, 4);
  header.writeUInt8(1, 5);
  header.writeUInt8(where === 'note' ? 8 : 7, 8);
  header.writeUInt16LE(linked ? 2 : 1, 16);
  header.writeBigUInt64LE(96n, 40);
  if (where === 'flags') header.writeUInt32LE((virtual << 16) | 80, 48);
  header.writeUInt16LE(64, 58);
  header.writeUInt16LE(2, 60);
  return Buffer.concat([header, note, sections]);
}
