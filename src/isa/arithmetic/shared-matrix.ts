/**
 * The bytes of shared memory that a matrix of `wgmma` occupies (PTX ISA 9.7.15.5.1): layouts, strides and swizzling.
 */
import type { SharedMatrix } from '../model/operation.ts';

/** A range of bytes that begins `before` bytes before the start address of a matrix. */
interface Span {
  readonly before: number;
  readonly bytes: number;
}

/**
 * Bytes of each row of the eight rows that are swizzled together, by bits 62 and 63 of a descriptor; 0: no swizzling.
 */
const pitches = [0, 128, 64, 32] as const;

/**
 * The bytes between the first and the last byte of a matrix. Swizzling permutes chunks of 16 bytes within a region that
 * is aligned to its length, so whole regions count.
 * @param fields the descriptor, of which the bits above the start address are read
 * @param startIn the start address modulo 128, if known
 * @returns null if the ISA gives the matrix no layout
 */
export function spanOfMatrix(matrix: SharedMatrix, fields: bigint, startIn: number | null): Span | null {
  if (matrix.transposed !== null) return spanOf(matrix, matrix.transposed, fields, startIn);
  const [a, b] = [spanOf(matrix, false, fields, startIn), spanOf(matrix, true, fields, startIn)];
  if (!a || !b) return null;
  const before = Math.max(a.before, b.before);
  return { before, bytes: before + Math.max(a.bytes - a.before, b.bytes - b.before) };
}

function spanOf({ rows, depth, elementBits }: SharedMatrix, transposed: boolean, fields: bigint, startIn: number | null): Span | null {
  const pitch = pitches[Number((fields >> 62n) & 3n)]!;
  const [leading, stride] = [16n, 32n].map((at) => Number((fields >> at) & 0x3fffn) * 16) as [number, number];
  const depthBytes = (depth * elementBits) / 8;
  // Lines of 16 bytes along M or N if transposed, otherwise along K; eight of them are adjacent.
  const perPiece = 128 / elementBits;
  if (pitch === 0) {
    const [alongRows, alongDepth] = transposed ? [rows / perPiece, depth / 8] : [rows / 8, depthBytes / 16];
    return { before: 0, bytes: (Math.ceil(alongRows) - 1) * stride + (Math.ceil(alongDepth) - 1) * leading + 128 };
  }
  const width = transposed ? pitch : depthBytes;
  if (width > pitch) return null;
  const distances = transposed
    ? [(Math.ceil((rows * elementBits) / 8 / pitch) - 1) * leading, (Math.ceil(depth / 8) - 1) * stride]
    : [(rows / 8 - 1) * stride];
  const distance = distances.reduce((sum, one) => sum + one);
  const inPiece = startIn !== null && distances.every((one) => one % pitch === 0) ? startIn % pitch : null;
  if (inPiece === null) return { before: pitch - 16, bytes: pitch - 16 + distance + 8 * pitch + width - 16 };
  return { before: inPiece, bytes: distance + (inPiece + width <= pitch ? 8 : 9) * pitch };
}
