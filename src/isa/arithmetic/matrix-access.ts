/** Bytes and registers that `ldmatrix`, `stmatrix`, `wmma.load` and `wmma.store` read and write. */
import type { MatrixAccessEffect } from '../model/operation.ts';
import { pieceBytes } from '../model/effect.ts';
import { elementWidth } from './matrix-layout.ts';

/** A line of a matrix in memory: a row or a column of `lineBytes` contiguous bytes. */
interface MatrixLine {
  /** The lane whose address determines the line's address. */
  readonly lane: number;
  /** Bytes from the address of that lane to the line. */
  readonly offset: number;
}

/**
 * The lines of an access, in order.
 * @param stride distance of lines in elements, the value of the last source; null if absent: then lines are contiguous
 */
export function matrixLines(effect: MatrixAccessEffect, stride: number | null): MatrixLine[] {
  const { addressing, lines, lineBytes, elementBits } = effect;
  if (addressing === 'lanes') return Array.from({ length: lines }, (_, lane) => ({ lane, offset: 0 }));
  const distance = stride === null ? lineBytes : (stride * elementBits) / 8;
  return Array.from({ length: lines }, (_, line) => ({ lane: line % 32, offset: line * distance }));
}

/**
 * The lane that accesses a byte of a line: the one whose registers have its element (9.7.14.5.15). For `wmma` the ISA
 * leaves it open; chosen is the distribution of `mma`, which hardware has.
 */
export function holderOf(effect: MatrixAccessEffect, line: number, byte: number): number {
  const piece = Math.floor(byte / pieceBytes(effect));
  if (effect.addressing === 'lanes' && effect.transposed) return 4 * (piece % 8) + ((line % 8) >> 1);
  return 4 * (line % 8) + (piece % 4);
}

/**
 * The registers after a load.
 * @param bytes the lines in order
 * @returns the 32-bit words of lane 0, of lane 1, to lane 31
 */
export function loadFragments(effect: MatrixAccessEffect, bytes: Uint8Array): Uint32Array {
  const fragments = new Uint32Array(32 * effect.words);
  moveElements(effect, (byte, bit, count, word, shift) => {
    if (count < 8) {
      fragments[word]! |= ((bytes[byte]! >> bit) & ((1 << count) - 1)) << shift;
      return;
    }
    for (let i = 0; i < count / 8; i++) fragments[word + (i >> 2)]! |= bytes[byte + i]! << ((shift + 8 * i) & 31);
  });
  return fragments;
}

/**
 * The bytes that a store writes.
 * @param fragments the 32-bit words of the stored registers of lane 0, of lane 1, to lane 31
 * @returns the lines in order
 */
export function storeFragments(effect: MatrixAccessEffect, fragments: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(effect.lines * effect.lineBytes);
  moveElements(effect, (byte, bit, count, word, shift) => {
    if (count < 8) {
      bytes[byte]! |= ((fragments[word]! >>> shift) & ((1 << count) - 1)) << bit;
      return;
    }
    for (let i = 0; i < count / 8; i++) bytes[byte + i] = fragments[word + (i >> 2)]! >>> ((shift + 8 * i) & 31);
  });
  return bytes;
}

/** Copies an element of `count` bits between memory, at `byte` and `bit`, and the registers, at `word` and `shift`. */
type Move = (byte: number, bit: number, count: number, word: number, shift: number) => void;

function moveElements(effect: MatrixAccessEffect, move: Move): void {
  if (effect.addressing === 'lanes') moveEights(effect, move);
  else moveWhole(effect, move);
}

/** 8x8 matrices of 16 bits (9.7.14.5.15): lane 4r+c holds elements 2c and 2c+1 of row r, or column r if transposed. */
function moveEights({ words, transposed, lineBytes }: MatrixAccessEffect, move: Move): void {
  for (let lane = 0; lane < 32; lane++) {
    for (let matrix = 0; matrix < words; matrix++) {
      for (let half = 0; half < 2; half++) {
        const across = lane >> 2;
        const along = 2 * (lane & 3) + half;
        const [row, column] = transposed ? [along, across] : [across, along];
        move((8 * matrix + row) * lineBytes + 2 * column, 0, 16, lane * words + matrix, 16 * half);
      }
    }
  }
}

/** One matrix whose elements are distributed over the lanes row by row, as `placesOf` defines it for `wmma`. */
function moveWhole(effect: MatrixAccessEffect, move: Move): void {
  const { lines, lineBytes, elementBits, words, transposed } = effect;
  const perLine = (lineBytes * 8) / elementBits;
  const columns = transposed ? lines : perLine;
  const total = lines * perLine;
  const bits = elementWidth(effect.element);
  const perLane = (words * 32) / bits;
  for (let lane = 0; lane < 32; lane++) {
    for (let index = 0; index < perLane; index++) {
      const element = (lane * perLane + index) % total;
      const [row, column] = [Math.floor(element / columns), element % columns];
      const [line, along] = transposed ? [column, row] : [row, column];
      const bit = line * lineBytes * 8 + along * elementBits;
      const register = index * bits;
      move(bit >> 3, bit & 7, elementBits, lane * words + (register >> 5), register & 31);
    }
  }
}
