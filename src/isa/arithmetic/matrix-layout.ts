/**
 * Distribution of the elements of a matrix over lanes and registers (PTX ISA 9.7.14.4.1 and 9.7.14.5.1 to 9.7.14.5.13).
 * Registers count as 32-bit words; one of 64 bits is two.
 */
import type { MatrixElement, MatrixOperation } from '../model/operation.ts';

export type Product = Extract<MatrixOperation, { kind: 'product' }>;

const elementBits: Readonly<Record<MatrixElement, number>> = {
  f16: 16,
  bf16: 16,
  tf32: 32,
  f32: 32,
  f64: 64,
  e4m3: 8,
  e5m2: 8,
  e3m2: 8,
  e2m3: 8,
  e2m1: 4,
  s32: 32,
  s8: 8,
  u8: 8,
  s4: 4,
  u4: 4,
  b1: 1,
  b16: 16,
};

/** Bits of an element in a register. */
export function elementWidth(element: MatrixElement): number {
  return elementBits[element];
}

/**
 * Positions of elements in registers: for each element, the index of its word among the words of all lanes, and its
 * first bit.
 */
export interface Places {
  readonly words: Int32Array;
  readonly shifts: Uint8Array;
}

/** Rows and columns of one of the four matrices. */
export function matrixSize(product: Product, matrix: 'a' | 'b' | 'c' | 'd'): readonly [number, number] {
  const { m, n, k } = product;
  return matrix === 'a' ? [m, k] : matrix === 'b' ? [k, n] : [m, n];
}

/** Whether a product is the form of `mma` that computes four products at once, each by eight lanes. */
export function isQuadruple({ layout, m, k, a }: Product): boolean {
  return layout === 'mma' && m === 8 && k === 4 && a === 'f16';
}

/** 32-bit words of a matrix per lane; not an integer if the shape does not exist. */
export function fragmentWords(product: Product, matrix: 'a' | 'b' | 'c' | 'd'): number {
  const element = product[matrix];
  const [rows, columns] = matrixSize(product, matrix);
  if (isQuadruple(product)) return matrix === 'a' || matrix === 'b' ? 2 : element === 'f16' ? 4 : 8;
  // Fragments of f16 multiplicands contain every element two or more times.
  if (product.layout === 'wmma' && element === 'f16' && (matrix === 'a' || matrix === 'b')) return 8;
  return (rows * columns * elementWidth(element)) / 1024;
}

/**
 * The places of the elements of a matrix, row by row.
 *
 * @param lanes words of one lane among those that are indexed
 * @param first the matrix's first word among those of its lane
 * @param part 0 to 3 for a form that computes four products, otherwise 0
 */
export function elementPlaces(product: Product, matrix: 'a' | 'b' | 'c' | 'd', lanes: number, first: number, part: number): Places {
  const [rows, columns] = matrixSize(product, matrix);
  const words = new Int32Array(rows * columns);
  const shifts = new Uint8Array(rows * columns);
  const bits = elementWidth(product[matrix]);
  for (let lane = 0; lane < 32; lane++) {
    const count = Math.floor((fragmentWords(product, matrix) * 32) / bits);
    for (let index = 0; index < count; index++) {
      const element = elementAt(product, matrix, lane, index, part);
      if (element === null) continue;
      const bit = index * bits;
      words[element] = lane * lanes + first + (bit >> 5);
      shifts[element] = bit & 31;
    }
  }
  return { words, shifts };
}

/** The row-major index of the `index`-th element of a lane; null if the lane belongs to another part. */
function elementAt(product: Product, matrix: 'a' | 'b' | 'c' | 'd', lane: number, index: number, part: number): number | null {
  const [rows, columns] = matrixSize(product, matrix);
  if (product.layout === 'wmma') {
    const count = Math.floor((fragmentWords(product, matrix) * 32) / elementWidth(product[matrix]));
    return (lane * count + index) % (rows * columns);
  }
  if (isQuadruple(product)) return quadrupleElement(product, matrix, lane, index, part);
  const group = lane >> 2;
  const member = lane & 3;
  if (matrix === 'c' || matrix === 'd') {
    return (group + 8 * (index >> 1)) * columns + 2 * member + (index & 1);
  }
  // Along K, each of four lanes contains the elements of one register; the next registers continue after them.
  const along = Math.max(1, 32 / elementWidth(product[matrix]));
  const register = Math.floor(index / along);
  const rowBlocks = matrix === 'a' ? product.m / 8 : 1;
  const depth = Math.floor(register / rowBlocks) * 4 * along + member * along + (index % along);
  const across = group + 8 * (register % rowBlocks);
  return matrix === 'a' ? across * columns + depth : depth * columns + across;
}

/** `mma.m8n8k4` of `f16` (9.7.14.5.1): lanes 4p to 4p+3 and 16+4p to 19+4p compute part p. */
function quadrupleElement(
  { rowMajor, c, d }: Product,
  matrix: 'a' | 'b' | 'c' | 'd',
  lane: number,
  index: number,
  part: number,
): number | null {
  if ((lane & 15) >> 2 !== part) return null;
  const upper = lane < 16 ? 0 : 4;
  const member = lane & 3;
  switch (matrix) {
    case 'a':
      return rowMajor[0] ? (member + upper) * 4 + index : (index + upper) * 4 + member;
    case 'b':
      return rowMajor[1] ? member * 8 + index + upper : index * 8 + member + upper;
    default: {
      if ((matrix === 'c' ? c : d) === 'f16') return (member + upper) * 8 + index;
      const row = (lane & 1) + (index & 2) + upper;
      return row * 8 + (index & 4) + (lane & 2) + (index & 1);
    }
  }
}
