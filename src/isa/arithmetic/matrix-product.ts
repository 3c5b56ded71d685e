/** The results of `mma`, `wmma.mma` and `movmatrix` (PTX ISA 9.7.14.4.5, 9.7.14.5.14, 9.7.14.5.17). */
import type { MatrixElement, MatrixOperation } from '../model/operation.ts';
import { computeFloat } from './float-operation.ts';
import type { Places, Product } from './matrix-layout.ts';
import { isQuadruple, matrixSize, elementPlaces, fragmentWords } from './matrix-layout.ts';
import { decodeSmall, encodeSmall, fromSingle, toSingle } from './small-number.ts';

/** The places of all four matrices of one product. */
interface Part {
  readonly a: Places;
  readonly b: Places;
  readonly c: Places;
  readonly d: Places;
}

interface Plan {
  readonly sourceWords: number;
  readonly resultWords: number;
  readonly parts: readonly Part[];
}

const plans = new WeakMap<Product, Plan>();

function planOf(product: Product): Plan {
  let plan = plans.get(product);
  if (!plan) {
    const [a, b, c, d] = (['a', 'b', 'c', 'd'] as const).map((matrix) => fragmentWords(product, matrix)) as [
      number,
      number,
      number,
      number,
    ];
    const sourceWords = a + b + c;
    const parts = (isQuadruple(product) ? [0, 1, 2, 3] : [0]).map((part) => ({
      a: elementPlaces(product, 'a', sourceWords, 0, part),
      b: elementPlaces(product, 'b', sourceWords, a, part),
      c: elementPlaces(product, 'c', sourceWords, a + b, part),
      d: elementPlaces(product, 'd', d, 0, part),
    }));
    plan = { sourceWords, resultWords: d, parts };
    plans.set(product, plan);
  }
  return plan;
}

/**
 * Matrix product of a warp. Floating-point products are exact. Their sum is computed in double precision, starting with
 * C, in the order of K, and rounded once to the type of D; the ISA leaves order and rounding unspecified. `f64` is a
 * chain of fused multiply-adds in that order. Integers are exact.
 *
 * @param sources the 32-bit words of the sources of lane 0, then of lane 1, to lane 31; a register of 64 bits is its
 *   low word, then its high word
 * @returns the words of the results in the same order
 */
export function matrixResults(operation: MatrixOperation, sources: Uint32Array): Uint32Array {
  if (operation.kind === 'transpose') return transposed(sources);
  const plan = planOf(operation);
  const results = new Uint32Array(32 * plan.resultWords);
  for (const part of plan.parts) {
    if (operation.d === 'f64') multiplyDouble(operation, part, sources, results);
    else multiply(operation, part, sources, results);
  }
  return results;
}

function multiply(product: Product, part: Part, sources: Uint32Array, results: Uint32Array): void {
  const { m, n, k, bits } = product;
  const a = numbers(product.a, part.a, sources);
  const b = numbers(product.b, part.b, sources);
  const c = numbers(product.c, part.c, sources);
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = c[row * n + column]!;
      for (let depth = 0; depth < k; depth++) {
        const x = a[row * k + depth]!;
        const y = b[depth * n + column]!;
        sum += bits === 'xor' ? Number(x !== y) : x * y;
      }
      const at = row * n + column;
      const value = encode(product, sum);
      const word = part.d.words[at]!;
      results[word] = (results[word]! | (value << part.d.shifts[at]!)) >>> 0;
    }
  }
}

/** The elements of a matrix, row by row. */
function numbers(element: MatrixElement, { words, shifts }: Places, sources: Uint32Array): Float64Array {
  const values = new Float64Array(words.length);
  for (let at = 0; at < words.length; at++) values[at] = decode(element, sources[words[at]!]! >>> shifts[at]!);
  return values;
}

/** The number in the low bits of a word. */
function decode(element: MatrixElement, pattern: number): number {
  switch (element) {
    case 'f32':
      return fromSingle(pattern);
    case 'tf32':
      // The low 13 bits are not part of the format.
      return fromSingle((pattern & 0xffffe000) >>> 0);
    case 'bf16':
      return fromSingle((pattern << 16) >>> 0);
    case 's32':
      return pattern | 0;
    case 's8':
      return (pattern << 24) >> 24;
    case 'u8':
      return pattern & 0xff;
    case 's4':
      return (pattern << 28) >> 28;
    case 'u4':
      return pattern & 15;
    case 'b1':
      return pattern & 1;
    case 'f64':
    case 'b16':
      return NaN;
    default:
      return decodeSmall(element, pattern);
  }
}

/** The pattern of an element of D. */
function encode({ d, saturate }: Product, value: number): number {
  if (d === 'f16') return encodeSmall('f16', value, false);
  if (d !== 's32') return toSingle(value);
  return saturate ? Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, value)) : value | 0;
}

function multiplyDouble(product: Product, part: Part, sources: Uint32Array, results: Uint32Array): void {
  const [m, n] = matrixSize(product, 'd');
  const operation = { name: 'fma', from: 'f64', to: 'f64', rounding: product.rounding, ftz: false, saturate: false };
  const pattern = ({ words }: Places, at: number): bigint => {
    const word = words[at]!;
    return (BigInt(sources[word + 1]!) << 32n) | BigInt(sources[word]!);
  };
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = pattern(part.c, row * n + column);
      for (let depth = 0; depth < product.k; depth++) {
        const x = pattern(part.a, row * product.k + depth);
        sum = computeFloat(operation, [x, pattern(part.b, depth * n + column), sum]);
      }
      const word = part.d.words[row * n + column]!;
      results[word] = Number(BigInt.asUintN(32, sum));
      results[word + 1] = Number(sum >> 32n);
    }
  }
}

/** `movmatrix`: lane 4r+c holds elements 2c and 2c+1 of row r. */
function transposed(sources: Uint32Array): Uint32Array {
  const element = (row: number, column: number): number => (sources[4 * row + (column >> 1)]! >>> (16 * (column & 1))) & 0xffff;
  return Uint32Array.from({ length: 32 }, (_, lane) => {
    const row = lane >> 2;
    const column = 2 * (lane & 3);
    return (element(column, row) | (element(column + 1, row) << 16)) >>> 0;
  });
}
