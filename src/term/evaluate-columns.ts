/**
 * The values of a term for many valuations of its atoms at once: each operation processes a column of numbers, as long
 * as 53 bits suffice, and subterms without varying atoms are computed once.
 */
import { applyOperator, evaluateTerm } from './evaluate-term.ts';
import type { Term } from './term.ts';

/** Values of a term: one for all valuations, or one for each. */
type Values = bigint | undefined | Float64Array | readonly (bigint | undefined)[];

/** The values of an atom: one pattern for all valuations, or one for each, as numbers; undefined if it has no value. */
export type AtomColumn = bigint | undefined | Float64Array;

/** Represents a missing value. */
const none = Number.NaN;

/**
 * The patterns of a term, as {@link evaluateTerm} returns them, in each of `count` valuations. In columns of numbers a
 * 64-bit pattern is represented as signed, and a missing value as NaN.
 */
export class ColumnEvaluation {
  private readonly known = new Map<Term, Values>();
  private readonly uniform = new Map<Term, bigint | undefined>();
  /** Whether an atom varies between valuations. */
  private readonly columns = new Map<Term, boolean>();
  private readonly count: number;
  private readonly atom: (leaf: Term) => AtomColumn;

  /** @param atom columns hold patterns below 2^53 */
  constructor(count: number, atom: (leaf: Term) => AtomColumn) {
    this.count = count;
    this.atom = atom;
  }

  /** The pattern of a term in each valuation. */
  patterns(term: Term): readonly (bigint | undefined)[] {
    return this.exact(this.values(term), term.width);
  }

  /** The signed value of a term in each valuation, exact up to 53 bits; NaN if it is missing. */
  signedNumbers(term: Term): Float64Array {
    const values = this.values(term);
    if (values instanceof Float64Array) return term.width === 0 ? values : signedColumn(values, term.width);
    return Float64Array.from(this.exact(values, term.width), (pattern) =>
      pattern === undefined ? none : Number(term.width === 0 ? pattern : BigInt.asIntN(term.width, pattern)),
    );
  }

  /** The integer that a term is if its sums, products and conversions do not wrap around; exact up to 53 bits. */
  integers(term: Term): Float64Array {
    const { operator, width, value, coefficients } = term;
    const parts = (): Float64Array[] => term.arguments.map((part) => this.integers(part));
    const result = new Float64Array(this.count);
    switch (operator) {
      case 'sum':
        result.fill(Number(BigInt.asIntN(width, value)));
        for (const [i, part] of parts().entries())
          for (let lane = 0; lane < this.count; lane++) result[lane]! += Number(coefficients[i]) * part[lane]!;
        return result;
      case 'mul': {
        const [a, b] = parts() as [Float64Array, Float64Array];
        for (let lane = 0; lane < this.count; lane++) result[lane] = a[lane]! * b[lane]!;
        return result;
      }
      case 'sext':
      case 'zext': {
        const [inner] = term.arguments;
        return /^(?:sum|mul|[sz]ext)$/.test(inner!.operator) ? this.integers(inner!) : this.signedNumbers(term);
      }
      default:
        return this.signedNumbers(term);
    }
  }

  /** Whether a truth value is true or unknown in some valuation. */
  someNotFalse(condition: Term): boolean {
    const values = this.values(condition);
    if (values instanceof Float64Array) return values.some((value) => value !== 0);
    return Array.isArray(values) ? values.some((value) => value !== 0n) : values !== 0n;
  }

  private values(term: Term): Values {
    if (this.known.has(term)) return this.known.get(term);
    const values = this.compute(term);
    this.known.set(term, values);
    return values;
  }

  private compute(term: Term): Values {
    if (!this.varies(term)) return evaluateTerm(term, (leaf) => this.atom(leaf) as bigint | undefined, this.uniform);
    if (term.operator === 'atom') return this.atom(term);
    const decided = this.decided(term);
    if (decided !== null) return decided;
    const parts = term.arguments.map((part) => this.values(part));
    const columns = parts.map((values, i) => this.numbers(values, term.arguments[i]!.width));
    const column = columns.includes(null) ? null : numberColumn(term, columns as readonly Float64Array[], this.count);
    if (column) return column;
    const patterns = parts.map((values, i) => this.exact(values, term.arguments[i]!.width));
    return this.narrowed(
      Array.from({ length: this.count }, (_, lane) => applyOperator(term, (part) => patterns[part]![lane])),
      term.width,
    );
  }

  /** Whether valuations differ in an atom of the term. */
  private varies({ leaves }: Term): boolean {
    return leaves.some((leaf) => {
      let isColumn = this.columns.get(leaf);
      if (isColumn === undefined) this.columns.set(leaf, (isColumn = typeof this.atom(leaf) === 'object'));
      return isColumn;
    });
  }

  /** The value of a term that a single argument determines in all valuations; null if none does. */
  private decided({ operator, arguments: parts }: Term): Values | null {
    if (operator === 'all' || operator === 'any') {
      const decisive = operator === 'any' ? 1n : 0n;
      return parts.some((part) => !this.varies(part) && this.values(part) === decisive) ? decisive : null;
    }
    if (operator !== 'select' || this.varies(parts[0]!)) return null;
    const condition = this.values(parts[0]!);
    return condition === undefined ? undefined : this.values(parts[condition === 1n ? 1 : 2]!);
  }

  /** A column of numbers; null if some pattern does not fit. */
  private numbers(values: Values, width: number): Float64Array | null {
    if (values instanceof Float64Array) return values;
    if (typeof values === 'object') return null;
    if (values === undefined) return new Float64Array(this.count).fill(none);
    const number = numberOf(values, width);
    return Number.isSafeInteger(number) ? new Float64Array(this.count).fill(number) : null;
  }

  private narrowed(patterns: readonly (bigint | undefined)[], width: number): Values {
    const column = new Float64Array(this.count);
    for (let lane = 0; lane < this.count; lane++) {
      const pattern = patterns[lane];
      const number = pattern === undefined ? none : numberOf(pattern, width);
      if (pattern !== undefined && !Number.isSafeInteger(number)) return patterns;
      column[lane] = number;
    }
    return column;
  }

  private exact(values: Values, width: number): readonly (bigint | undefined)[] {
    if (values instanceof Float64Array)
      return Array.from(values, (value) => (Number.isNaN(value) ? undefined : BigInt.asUintN(Math.max(width, 1), BigInt(value))));
    return typeof values === 'object' ? values : new Array<bigint | undefined>(this.count).fill(values);
  }
}

/** A pattern of up to 32 bits unchanged, a wider one as signed. */
function numberOf(pattern: bigint, width: number): number {
  return Number(width > 32 ? BigInt.asIntN(width, pattern) : pattern);
}

/** Applies one operation to columns of numbers; null if it needs bigint patterns, or a result may not fit. */
function numberColumn(term: Term, columns: readonly Float64Array[], count: number): Float64Array | null {
  const { operator, width } = term;
  const [a, b, c] = columns as [Float64Array, Float64Array, Float64Array];
  const from = term.arguments[0]!.width;
  if (![width, from].every((bits) => bits <= 32 || bits === 64)) return null;
  const result = new Float64Array(count);
  const one = (of: (x: number) => number): Float64Array => {
    for (let lane = 0; lane < count; lane++) result[lane] = a[lane] === a[lane] ? of(a[lane]!) : none;
    return result;
  };
  const two = (of: (x: number, y: number) => number): Float64Array => {
    for (let lane = 0; lane < count; lane++) {
      const isKnown = a[lane] === a[lane] && b[lane] === b[lane];
      result[lane] = isKnown ? of(a[lane]!, b[lane]!) : none;
    }
    return result;
  };
  switch (operator) {
    case 'all':
    case 'any': {
      const decisive = operator === 'any' ? 1 : 0;
      result.fill(1 - decisive);
      for (const column of columns)
        for (let lane = 0; lane < count; lane++)
          if (column[lane] === decisive || (column[lane] !== 1 - decisive && result[lane] !== decisive)) result[lane] = column[lane]!;
      return result;
    }
    case 'select':
      for (let lane = 0; lane < count; lane++) result[lane] = a[lane] === a[lane] ? (a[lane] === 1 ? b : c)[lane]! : none;
      return result;
    case 'not':
      return one((x) => 1 - x);
    case 'equal':
      return two((x, y) => (x === y ? 1 : 0));
    case 'differ':
      return two((x, y) => (x === y ? 0 : 1));
    case 'slt': {
      const [low, high] = [signedColumn(a, from), signedColumn(b, from)];
      for (let lane = 0; lane < count; lane++) {
        const isKnown = low[lane] === low[lane] && high[lane] === high[lane];
        result[lane] = isKnown ? (low[lane]! < high[lane]! ? 1 : 0) : none;
      }
      return result;
    }
    case 'ult':
      // As unsigned patterns, negative signed values are the largest.
      return two((x, y) => (x < 0 === y < 0 ? (x < y ? 1 : 0) : y < 0 ? 1 : 0));
    case 'zext':
      return from <= 32 ? a : null;
    case 'sext':
      return from <= 32 ? one((x) => modulo(signed(x, from), width)) : null;
    case 'trunc':
      return width <= 32 ? one((x) => modulo(x, width)) : null;
    case 'sum':
      return width <= 32 ? narrowSum(term, columns, result) : wideSum(term, columns, result);
    case 'mul': {
      if (width <= 32) return two((x, y) => modulo(Math.imul(x, y), width));
      const product = two((x, y) => x * y);
      return product.some((value) => Math.abs(value) > Number.MAX_SAFE_INTEGER) ? null : product;
    }
    default:
  }
  if (width > 32) return wideQuotient(operator, a, b, result);
  switch (operator) {
    case 'and':
      return two((x, y) => (x & y) >>> 0);
    case 'or':
      return two((x, y) => (x | y) >>> 0);
    case 'xor':
      return two((x, y) => (x ^ y) >>> 0);
    case 'shl':
      return two((x, y) => (y >= width ? 0 : modulo(x << y, width)));
    case 'lshr':
      return two((x, y) => (y >= width ? 0 : x >>> y));
    case 'udiv':
      return two((x, y) => (y === 0 ? modulo(-1, width) : Math.floor(x / y)));
    case 'urem':
      return two((x, y) => (y === 0 ? x : x % y));
    case 'sdiv':
      return two((x, y) => modulo(y === 0 ? -1 : Math.trunc(signed(x, width) / signed(y, width)), width));
    case 'srem':
      return two((x, y) => (y === 0 ? x : modulo(signed(x, width) % signed(y, width), width)));
    case 'ashr':
      return two((x, y) => modulo(Math.floor(signed(x, width) / 2 ** Math.min(y, width)), width));
    default:
      return null;
  }
}

/** A quotient or remainder of 64 bits; null for another operation, or for patterns that are negative as signed ones. */
function wideQuotient(operator: Term['operator'], a: Float64Array, b: Float64Array, result: Float64Array): Float64Array | null {
  if (!/^[us](?:div|rem)$/.test(operator) || a.some((x) => x < 0) || b.some((y) => y <= 0)) return null;
  const isQuotient = operator.endsWith('div');
  for (let lane = 0; lane < result.length; lane++) result[lane] = isQuotient ? Math.floor(a[lane]! / b[lane]!) : a[lane]! % b[lane]!;
  return result;
}

/** A sum of up to 32 bits, computed from the lowest bits of its addends. */
function narrowSum({ width, value, coefficients }: Term, columns: readonly Float64Array[], sum: Float64Array): Float64Array {
  sum.fill(Number(value));
  for (const [i, column] of columns.entries()) {
    const factor = Number(coefficients[i]);
    for (let lane = 0; lane < sum.length; lane++) {
      const number = column[lane]!;
      const before = sum[lane]!;
      sum[lane] = number === number && before === before ? (before + Math.imul(factor, number)) >>> 0 : none;
    }
  }
  // Modulo 2^32 so far.
  if (width < 32) for (let lane = 0; lane < sum.length; lane++) sum[lane] = modulo(sum[lane]!, width);
  return sum;
}

function wideSum({ width, value, coefficients }: Term, columns: readonly Float64Array[], sum: Float64Array): Float64Array | null {
  const constant = numberOf(value, width);
  // Bound of the magnitude of the sum: the sum of the magnitudes of its addends.
  const magnitude = new Float64Array(sum.length).fill(Math.abs(constant));
  sum.fill(constant);
  for (const [i, column] of columns.entries()) {
    const factor = Number(coefficients[i]);
    for (let lane = 0; lane < sum.length; lane++) {
      sum[lane]! += factor * column[lane]!;
      magnitude[lane]! += Math.abs(factor * column[lane]!);
    }
  }
  return magnitude.some((value) => value > Number.MAX_SAFE_INTEGER) ? null : sum;
}

/** The signed values of patterns of up to 32 bits; the same column if they are wider, and so signed already. */
function signedColumn(column: Float64Array, width: number): Float64Array {
  if (width > 32) return column;
  const [half, size] = [2 ** (width - 1), 2 ** width];
  const result = new Float64Array(column.length);
  for (let lane = 0; lane < column.length; lane++) {
    const number = column[lane]!;
    result[lane] = number >= half ? number - size : number;
  }
  return result;
}

/** The signed value of a pattern of up to 32 bits; wider ones are signed already. */
function signed(x: number, width: number): number {
  return width <= 32 && x >= 2 ** (width - 1) ? x - 2 ** width : x;
}

/** A number as a pattern of up to 32 bits; a signed one that is wider stays. */
function modulo(x: number, width: number): number {
  if (width > 32) return x;
  // Exact up to 2^53, as are all patterns; a missing value stays missing.
  if (width === 32) return x === x ? x >>> 0 : x;
  const size = 2 ** width;
  return x - Math.floor(x / size) * size;
}
