/**
 * Hash-consed terms: bit-vectors of a width, and truth values (width 0). Equal terms are the same object. The
 * constructors simplify; sums are in the normal form constant + sum of coefficient * term, modulo 2^width, so that
 * index arithmetic needs no solver to be recognised as equal.
 */
import { invariant } from '../base/assert.ts';
import { type Atom, atomKey } from './atom.ts';
import { addends, hasFactor, remainderBy } from './addends.ts';
import { possibleBits } from './possible-bits.ts';

type TermOperator =
  | 'constant'
  | 'atom'
  | 'sum'
  | 'mul'
  | 'udiv'
  | 'sdiv'
  | 'urem'
  | 'srem'
  | 'and'
  | 'or'
  | 'xor'
  | 'shl'
  | 'lshr'
  | 'ashr'
  | 'zext'
  | 'sext'
  | 'trunc'
  | 'select'
  | 'pure'
  | 'equal'
  | 'ult'
  | 'slt'
  | 'not'
  | 'all'
  | 'any'
  | 'differ'
  | 'test';

export interface Term {
  readonly id: number;
  readonly operator: TermOperator;
  /** Bits; 0 for a truth value. */
  readonly width: number;
  readonly arguments: readonly Term[];
  /** The constant, or a sum's constant part; unsigned, below 2^width. */
  readonly value: bigint;
  /** For a sum, parallel to `arguments`; signed, nearest to zero. */
  readonly coefficients: readonly bigint[];
  readonly atom: Atom | null;
  /** Name of a `pure` function or of a `test` (an uninterpreted truth value of its arguments). */
  readonly name: string;
  /** The atoms below, in order of id. */
  readonly leaves: readonly Term[];
  /** Terms on the longest path down to an atom. */
  readonly depth: number;
  /** Terms below, shared ones counted as often as they occur: the length of the term as text. May be infinite. */
  readonly size: number;
}

const none: readonly never[] = [];

const lowest24 = (1n << 24n) - 1n;
const factor24 = 'factor24';

/**
 * Whether a term is a factor of `mul24`, whose upper bits are truncated. It is meant to fit, as an index is meant not
 * to wrap around. Signed ones are shifted to the left and back.
 */
export function isFactor24({ name }: Term): boolean {
  return name === factor24;
}

/** The constant and the coefficients of a sum before it was shifted to the left by 8. */
export function unshifted({ value, coefficients }: Term): { constant: bigint; coefficients: readonly bigint[] } {
  return { constant: BigInt.asIntN(32, value) / 256n, coefficients: coefficients.map((factor) => factor / 256n) };
}

/** Maximum number of products into which a product of two sums is expanded. */
const largestProduct = 9;

/** Maximum nesting depth of selections that are compared case by case. */
const maxChoices = 4;

/** Whether conditions only select among constants, with at most `depth` nested selections. */
function isChoiceOfConstants({ operator, arguments: [, a, b] }: Term, depth: number): boolean {
  if (operator === 'constant') return true;
  return operator === 'select' && depth > 0 && isChoiceOfConstants(a!, depth - 1) && isChoiceOfConstants(b!, depth - 1);
}

export class TermStore {
  private readonly table = new Map<string, Term>();
  /** Rewritten operands, by the kind of rewriting. */
  private readonly rewritten = new Map<string, Map<Term, Term>>();
  private count = 0;
  readonly true: Term;
  readonly false: Term;

  private readonly isShared: (object: number) => boolean;

  /** @param isShared whether a memory object is shared: then its address within its window has 32 bits */
  constructor(isShared: (object: number) => boolean = () => false) {
    this.isShared = isShared;
    this.true = this.make('constant', 0, none, 1n, none, null, '');
    this.false = this.make('constant', 0, none, 0n, none, null, '');
  }

  /**
   * Caches a rewriting of an operand: terms share subterms, and each is rewritten once, not once for each path to it.
   */
  private remembered(what: string, operand: Term, rewrite: (parts: readonly Term[]) => Term): Term {
    let results = this.rewritten.get(what);
    if (!results) this.rewritten.set(what, (results = new Map<Term, Term>()));
    let result = results.get(operand);
    if (!result) results.set(operand, (result = rewrite(operand.arguments)));
    return result;
  }

  private make(
    operator: TermOperator,
    width: number,
    parts: readonly Term[],
    value: bigint,
    coefficients: readonly bigint[],
    atom: Atom | null,
    name: string,
  ): Term {
    const key = keyOf(operator, width, parts, value, coefficients, atom, name);
    const known = this.table.get(key);
    if (known) return known;
    const term: Term = {
      id: this.count++,
      operator,
      width,
      arguments: parts,
      value,
      coefficients,
      atom,
      name,
      leaves: none,
      depth: parts.reduce((most, part) => Math.max(most, part.depth), 0) + 1,
      size: parts.reduce((sum, part) => sum + part.size, 1),
    };
    (term as { leaves: readonly Term[] }).leaves = atom ? [term] : mergeLeaves(parts);
    this.table.set(key, term);
    return term;
  }

  atom(width: number, atom: Atom): Term {
    return this.make('atom', width, none, 0n, none, atom, '');
  }

  constant(width: number, value: bigint): Term {
    return this.make('constant', width, none, BigInt.asUintN(width, value), none, null, '');
  }

  truth(value: boolean): Term {
    return value ? this.true : this.false;
  }

  /** constant + sum of coefficient * term, modulo 2^width. */
  sum(width: number, constant: bigint, parts: readonly (readonly [Term, bigint])[]): Term {
    const collected = new Map<Term, bigint>();
    let total = constant;
    for (const [term, coefficient] of parts) {
      if (term.operator === 'constant') total += coefficient * term.value;
      else if (term.operator === 'sum') {
        total += coefficient * term.value;
        for (let i = 0; i < term.arguments.length; i++) {
          const inner = term.arguments[i]!;
          collected.set(inner, (collected.get(inner) ?? 0n) + coefficient * term.coefficients[i]!);
        }
      } else collected.set(term, (collected.get(term) ?? 0n) + coefficient);
    }
    const terms: Term[] = [];
    for (const term of [...collected.keys()].sort((a, b) => a.id - b.id)) {
      const coefficient = BigInt.asIntN(width, collected.get(term)!);
      collected.set(term, coefficient);
      if (coefficient !== 0n) terms.push(term);
    }
    const rest = terms.length > 1 ? terms.find((term) => this.isWhole(term, collected)) : undefined;
    if (rest) {
      const times = collected.get(rest)!;
      const [whole, by] = rest.arguments as [Term, Term];
      const product = this.mul(width, by, this.quotientOf(rest)!);
      return this.sum(width, total, [
        ...terms.map((term) => [term, collected.get(term)!] as const),
        [rest, -times],
        [product, -times],
        [whole, times],
      ]);
    }
    for (const product of terms.length > 1 ? terms : []) {
      const found = remainderBy(product, collected);
      if (!found) continue;
      const times = -collected.get(product)!;
      const remainder = this.divide(found.operator, width, found.whole, found.by);
      collected.delete(product);
      return this.sum(width, total, [...collected, [found.whole, -times], [remainder, times]]);
    }
    const value = BigInt.asUintN(width, total);
    if (terms.length === 0) return this.constant(width, value);
    if (terms.length === 1 && value === 0n && collected.get(terms[0]!) === 1n) return terms[0]!;
    return this.make(
      'sum',
      width,
      terms,
      value,
      terms.map((term) => collected.get(term)!),
      null,
      '',
    );
  }

  add(width: number, a: Term, b: Term): Term {
    return this.sum(width, 0n, [
      [a, 1n],
      [b, 1n],
    ]);
  }

  sub(width: number, a: Term, b: Term): Term {
    return this.sum(width, 0n, [
      [a, 1n],
      [b, -1n],
    ]);
  }

  mul(width: number, a: Term, b: Term): Term {
    if (a.operator === 'constant') return this.sum(width, 0n, [[b, a.value]]);
    if (b.operator === 'constant') return this.sum(width, 0n, [[a, b.value]]);
    const left = addends(a);
    const right = addends(b);
    if (left.length * right.length <= largestProduct && (left.length > 1 || right.length > 1 || hasFactor(left) || hasFactor(right))) {
      const products: [Term, bigint][] = [];
      let constant = 0n;
      for (const [x, p] of left) {
        for (const [y, q] of right) {
          if (x && y) products.push([this.product(width, x, y), p * q]);
          else if (x || y) products.push([(x ?? y)!, p * q]);
          else constant += p * q;
        }
      }
      return this.sum(width, constant, products);
    }
    return this.product(width, a, b);
  }

  private product(width: number, a: Term, b: Term): Term {
    return a.id <= b.id ? this.make('mul', width, [a, b], 0n, none, null, '') : this.make('mul', width, [b, a], 0n, none, null, '');
  }

  /** `udiv sdiv urem srem` with all ones as the result of a division by zero (remainder: the dividend). */
  divide(operator: 'udiv' | 'sdiv' | 'urem' | 'srem', width: number, a: Term, b: Term): Term {
    if (b.operator === 'constant') {
      const divisor = operator === 'sdiv' || operator === 'srem' ? BigInt.asIntN(width, b.value) : b.value;
      if (a.operator === 'constant' && divisor !== 0n) {
        const dividend = operator === 'sdiv' || operator === 'srem' ? BigInt.asIntN(width, a.value) : a.value;
        const result = operator === 'udiv' || operator === 'sdiv' ? dividend / divisor : dividend % divisor;
        return this.constant(width, result);
      }
      if (divisor === 1n) return operator === 'udiv' || operator === 'sdiv' ? a : this.constant(width, 0n);
    }
    return this.make(operator, width, [a, b], 0n, none, null, '');
  }

  /** `x / n` for `x % n` if that term exists and `n` is not a constant. */
  private quotientOf({ operator, width, arguments: [whole, by] }: Term): Term | undefined {
    if (by!.operator === 'constant') return undefined;
    return this.table.get(keyOf(operator === 'urem' ? 'udiv' : 'sdiv', width, [whole!, by!], 0n, none, null, ''));
  }

  /**
   * Whether a term is `x % n` and the sum contains `x / n * n` with the same coefficient: together they are `x`, for
   * any `n`.
   */
  private isWhole(rest: Term, times: ReadonlyMap<Term, bigint>): boolean {
    if (rest.operator !== 'urem' && rest.operator !== 'srem') return false;
    const quotient = this.quotientOf(rest);
    if (!quotient) return false;
    const product = addends(this.mul(rest.width, rest.arguments[1]!, quotient));
    return product.every(([term, by]) => term && times.get(term) === BigInt.asIntN(rest.width, by * times.get(rest)!));
  }

  and(width: number, a: Term, b: Term): Term {
    const ones = (1n << BigInt(width)) - 1n;
    if (a.operator === 'constant') [a, b] = [b, a];
    if (a === b) return a;
    if (b.operator === 'constant') {
      if (a.operator === 'constant') return this.constant(width, a.value & b.value);
      if (b.value === 0n) return b;
      if (b.value === ones) return a;
      if (a.operator === 'and' && a.arguments[1]!.operator === 'constant')
        return this.and(width, a.arguments[0]!, this.constant(width, a.arguments[1]!.value & b.value));
      if (a.operator === 'select') {
        const [condition, x, y] = a.arguments as [Term, Term, Term];
        if (x.operator === 'constant' && y.operator === 'constant')
          return this.select(condition, this.and(width, x, b), this.and(width, y, b));
      }
      // The masked part may be known to be zero, as for fields of a structure in a register.
      const bits = possibleBits(a);
      if ((bits & b.value) === 0n) return this.constant(width, 0n);
      if ((bits & ~b.value) === 0n) return a;
      // Low bits that are never set in the value may be included in the mask.
      const low = (bits & -bits) - 1n;
      if ((b.value & low) !== low) return this.and(width, a, this.constant(width, b.value | low));
      if (a.operator === 'or') {
        const kept = a.arguments.filter((part) => (possibleBits(part) & b.value) !== 0n);
        if (kept.length === 1) return this.and(width, kept[0]!, b);
      }
      return this.make('and', width, [a, b], 0n, none, null, '');
    }
    return this.make('and', width, a.id < b.id ? [a, b] : [b, a], 0n, none, null, '');
  }

  /** The lowest 24 of 32 bits, sign or zero extended, as a factor of `mul24`. */
  factor24(signed: boolean, a: Term): Term {
    const eight = this.constant(32, 8n);
    const cut = signed ? this.shift('shl', 32, a, eight) : a;
    const whole = signed ? this.shift('ashr', 32, cut, eight) : this.and(32, a, this.constant(32, lowest24));
    const isPlain = /^(and|ashr)$/.test(whole.operator) && whole.arguments[0] === cut && whole !== a;
    return isPlain ? this.make(whole.operator, 32, whole.arguments, 0n, none, null, factor24) : whole;
  }

  /** The untruncated operand of a factor of `mul24`, equal modulo 2^24. */
  wholeFactor(factor: Term): Term {
    const [a] = factor.arguments as [Term];
    if (factor.operator === 'and') return a;
    const { constant, coefficients } = unshifted(a);
    return this.sum(
      32,
      constant,
      a.arguments.map((part, i) => [part, coefficients[i]!]),
    );
  }

  or(width: number, a: Term, b: Term): Term {
    if (a.operator === 'constant') [a, b] = [b, a];
    if (a === b) return a;
    if (b.operator === 'constant') {
      if (a.operator === 'constant') return this.constant(width, a.value | b.value);
      if (b.value === 0n) return a;
      return this.make('or', width, [a, b], 0n, none, null, '');
    }
    return this.make('or', width, a.id < b.id ? [a, b] : [b, a], 0n, none, null, '');
  }

  xor(width: number, a: Term, b: Term): Term {
    if (a.operator === 'constant') [a, b] = [b, a];
    if (a === b) return this.constant(width, 0n);
    if (b.operator === 'constant') {
      if (a.operator === 'constant') return this.constant(width, a.value ^ b.value);
      if (b.value === 0n) return a;
      if (b.value === (1n << BigInt(width)) - 1n) return this.sum(width, -1n, [[a, -1n]]);
      // Bits among those of the constant are subtracted from it: the parity of the next iteration is 1 less that of
      // this one.
      const mask = a.operator === 'and' ? a.arguments[1]! : null;
      if (mask?.operator === 'constant' && (mask.value & ~b.value) === 0n) return this.sum(width, b.value, [[a, -1n]]);
      return this.make('xor', width, [a, b], 0n, none, null, '');
    }
    return this.make('xor', width, a.id < b.id ? [a, b] : [b, a], 0n, none, null, '');
  }

  shift(operator: 'shl' | 'lshr' | 'ashr', width: number, a: Term, amount: Term): Term {
    if (amount.operator === 'constant') {
      const by = amount.value;
      if (by === 0n) return a;
      if (by >= BigInt(width)) {
        if (operator !== 'ashr') return this.constant(width, 0n);
        return this.shift('ashr', width, a, this.constant(width, BigInt(width - 1)));
      }
      if (operator === 'shl') return this.sum(width, 0n, [[a, 1n << by]]);
      if (operator === 'lshr' && !isFactor24(a)) {
        const field = this.upperField(width, a, by);
        if (field) return field;
      }
      if (a.operator === 'constant') return this.constant(width, operator === 'lshr' ? a.value >> by : BigInt.asIntN(width, a.value) >> by);
      const lower = operator === 'ashr' && width === 64 && by === 32n ? this.lowerHalf(a) : null;
      if (lower) return this.signExtend(64, lower);
    }
    return this.make(operator, width, [a, amount], 0n, none, null, '');
  }

  /** `x` in 32 bits for `x << 32`, with which compilers write `(int)x` as a 64-bit number; null for other terms. */
  private lowerHalf({ operator, value, arguments: parts, coefficients }: Term): Term | null {
    const half = 1n << 32n;
    if (operator !== 'sum' || value % half !== 0n || coefficients.some((by) => by % half !== 0n)) return null;
    return this.sum(
      32,
      value / half,
      parts.map((part, at) => [this.truncate(32, part), coefficients[at]! / half]),
    );
  }

  /** The part of a field of a structure in a register left by a shift to the right; null if that is not simpler. */
  private upperField(width: number, a: Term, by: bigint): Term | null {
    if (possibleBits(a) >> by === 0n) return this.constant(width, 0n);
    if (a.operator === 'or') {
      const kept = a.arguments.filter((part) => possibleBits(part) >> by !== 0n);
      return kept.length === 1 ? this.shift('lshr', width, kept[0]!, this.constant(width, by)) : null;
    }
    const [inner] = a.arguments as [Term];
    const isShifted = a.operator === 'sum' && a.value === 0n && a.coefficients.length === 1 && a.coefficients[0] === 1n << by;
    return isShifted && (possibleBits(inner) << by) >> BigInt(width) === 0n ? inner : null;
  }

  zeroExtend(to: number, a: Term): Term {
    if (a.width === to) return a;
    if (a.operator === 'constant') return this.constant(to, a.value);
    if (a.operator === 'zext') return this.zeroExtend(to, a.arguments[0]!);
    if (a.operator === 'select')
      return this.remembered(`zext ${to}`, a, ([condition, x, y]) =>
        this.select(condition!, this.zeroExtend(to, x!), this.zeroExtend(to, y!)),
      );
    return this.make('zext', to, [a], 0n, none, null, '');
  }

  signExtend(to: number, a: Term): Term {
    if (a.width === to) return a;
    if (a.operator === 'constant') return this.constant(to, BigInt.asIntN(a.width, a.value));
    if (a.operator === 'zext') return this.zeroExtend(to, a.arguments[0]!);
    if (a.operator === 'sext') return this.signExtend(to, a.arguments[0]!);
    if (a.operator === 'select')
      return this.remembered(`sext ${to}`, a, ([condition, x, y]) =>
        this.select(condition!, this.signExtend(to, x!), this.signExtend(to, y!)),
      );
    return this.make('sext', to, [a], 0n, none, null, '');
  }

  truncate(to: number, a: Term): Term {
    if (a.width === to) return a;
    return this.remembered(`trunc ${to}`, a, () => this.truncated(to, a));
  }

  private truncated(to: number, a: Term): Term {
    switch (a.operator) {
      case 'constant':
        return this.constant(to, a.value);
      case 'zext':
      case 'sext': {
        const inner = a.arguments[0]!;
        if (inner.width === to) return inner;
        if (inner.width > to) return this.truncate(to, inner);
        return a.operator === 'zext' ? this.zeroExtend(to, inner) : this.signExtend(to, inner);
      }
      case 'trunc':
        return this.truncate(to, a.arguments[0]!);
      case 'sum':
        return this.sum(
          to,
          a.value,
          a.arguments.map((part, i) => [this.truncate(to, part), a.coefficients[i]!]),
        );
      case 'mul':
        return this.mul(to, this.truncate(to, a.arguments[0]!), this.truncate(to, a.arguments[1]!));
      case 'and':
        return this.and(to, this.truncate(to, a.arguments[0]!), this.truncate(to, a.arguments[1]!));
      case 'or':
        return this.or(to, this.truncate(to, a.arguments[0]!), this.truncate(to, a.arguments[1]!));
      case 'xor':
        return this.xor(to, this.truncate(to, a.arguments[0]!), this.truncate(to, a.arguments[1]!));
      case 'select':
        return this.select(a.arguments[0]!, this.truncate(to, a.arguments[1]!), this.truncate(to, a.arguments[2]!));
      case 'atom':
        // An iteration counter has no specific width.
        if (a.atom!.kind === 'iteration') return this.atom(to, a.atom);
        if (to === 32 && a.atom!.kind === 'object' && !a.atom!.generic && this.isShared(a.atom!.object)) return this.atom(to, a.atom!);
        break;
      default:
    }
    return this.make('trunc', to, [a], 0n, none, null, '');
  }

  select(condition: Term, a: Term, b: Term): Term {
    invariant(a.width === b.width, 'select of different widths');
    if (condition === this.true) return a;
    if (condition === this.false) return b;
    if (a === b) return a;
    if (a.width === 0) {
      if (a === this.true) return this.any([condition, b]);
      if (a === this.false) return this.all([this.not(condition), b]);
      if (b === this.true) return this.any([this.not(condition), a]);
      if (b === this.false) return this.all([condition, a]);
    }
    if (condition.operator === 'not') return this.select(condition.arguments[0]!, b, a);
    return this.make('select', a.width, [condition, a, b], 0n, none, null, '');
  }

  /** An uninterpreted function of its arguments. */
  pure(name: string, width: number, parts: readonly Term[]): Term {
    if (name === 'cvta.shared' || name === 'cvta.to.shared') {
      const converted = this.sharedAddress(parts[0]!, name === 'cvta.shared');
      if (converted) return converted;
    }
    return this.make('pure', width, parts, 0n, none, null, name);
  }

  /** A generic address within shared memory, or one within its window, as the other; null if it cannot be converted. */
  private sharedAddress(address: Term, toGeneric: boolean): Term | null {
    if (address.operator === 'select') {
      const [condition, ...arms] = address.arguments as [Term, Term, Term];
      const [a, b] = arms.map((arm) => this.sharedAddress(arm, toGeneric));
      return a && b ? this.select(condition, a, b) : null;
    }
    const parts = address.operator === 'sum' ? address.arguments : [address];
    const starts = parts.filter(({ atom }) => atom?.kind === 'object');
    const [start] = starts;
    const atom = start?.atom;
    if (!start || starts.length > 1 || atom?.kind !== 'object') return null;
    if (!this.isShared(atom.object) || atom.generic === toGeneric) return null;
    if (address.operator === 'sum' && address.coefficients[parts.indexOf(start)] !== 1n) return null;
    const other = this.atom(start.width, { ...atom, generic: toGeneric });
    return this.add(address.width, this.sub(address.width, address, start), other);
  }

  /** An uninterpreted truth value of its arguments. */
  test(name: string, parts: readonly Term[]): Term {
    return this.make('test', 0, parts, 0n, none, null, name);
  }

  equal(a: Term, b: Term): Term {
    if (a === b) return this.true;
    if (a.width === 0) return this.not(this.differ(a, b));
    const difference = this.sub(a.width, a, b);
    if (difference.operator === 'constant') return this.truth(difference.value === 0n);
    if (a.operator === 'constant') [a, b] = [b, a];
    if (b.operator === 'constant' && a.operator === 'select') {
      const [condition, x, y] = a.arguments as [Term, Term, Term];
      if (x.operator === 'constant' && y.operator === 'constant') {
        if (x === b) return condition;
        return y === b ? this.not(condition) : this.false;
      }
      // nvcc compares a condition in this form if a branch has converted it to an integer.
      if (isChoiceOfConstants(a, maxChoices)) return this.select(condition, this.equal(x, b), this.equal(y, b));
    }
    if (b.operator === 'constant' && (a.operator === 'zext' || a.operator === 'sext')) {
      const inner = a.arguments[0]!;
      const narrow = this.constant(inner.width, b.value);
      const wide = a.operator === 'zext' ? this.zeroExtend(a.width, narrow) : this.signExtend(a.width, narrow);
      return wide === b ? this.equal(inner, narrow) : this.false;
    }
    // nvcc emits this form to test whether several indices are zero.
    if (b.operator === 'constant' && b.value === 0n && a.operator === 'or') return this.all(a.arguments.map((part) => this.equal(part, b)));
    return this.make('equal', 0, a.id < b.id ? [a, b] : [b, a], 0n, none, null, '');
  }

  unsignedLess(a: Term, b: Term): Term {
    if (a === b) return this.false;
    if (a.operator === 'constant' && b.operator === 'constant') return this.truth(a.value < b.value);
    if (b.operator === 'constant' && b.value === 0n) return this.false;
    return this.make('ult', 0, [a, b], 0n, none, null, '');
  }

  signedLess(a: Term, b: Term): Term {
    if (a === b) return this.false;
    if (a.operator === 'constant' && b.operator === 'constant')
      return this.truth(BigInt.asIntN(a.width, a.value) < BigInt.asIntN(b.width, b.value));
    // A compiler tests two signs at once: `(x | y) < 0`.
    if (b.operator === 'constant' && b.value === 0n && (a.operator === 'or' || a.operator === 'and')) {
      const parts = a.arguments.map((part) => this.signedLess(part, b));
      return a.operator === 'or' ? this.any(parts) : this.all(parts);
    }
    const isMinusOne = a.operator === 'constant' && BigInt.asIntN(a.width, a.value) === -1n;
    if (isMinusOne && /^(?:or|and)$/.test(b.operator)) return this.not(this.signedLess(b, this.constant(b.width, 0n)));
    return this.make('slt', 0, [a, b], 0n, none, null, '');
  }

  not(a: Term): Term {
    if (a === this.true) return this.false;
    if (a === this.false) return this.true;
    if (a.operator === 'not') return a.arguments[0]!;
    return this.make('not', 0, [a], 0n, none, null, '');
  }

  differ(a: Term, b: Term): Term {
    if (a === b) return this.false;
    if (a.operator === 'constant') return a === this.true ? this.not(b) : b;
    if (b.operator === 'constant') return b === this.true ? this.not(a) : a;
    if (this.not(a) === b) return this.true;
    return this.make('differ', 0, a.id < b.id ? [a, b] : [b, a], 0n, none, null, '');
  }

  /** Conjunction, flattened and sorted. */
  all(parts: readonly Term[]): Term {
    return this.connect('all', parts, this.true, this.false);
  }

  any(parts: readonly Term[]): Term {
    return this.connect('any', parts, this.false, this.true);
  }

  private connect(operator: 'all' | 'any', parts: readonly Term[], neutral: Term, absorbing: Term): Term {
    const members = new Set<Term>();
    for (const part of parts) {
      for (const member of part.operator === operator ? part.arguments : [part]) {
        if (member === neutral) continue;
        if (member === absorbing || members.has(this.not(member))) return absorbing;
        members.add(member);
      }
    }
    const list = [...members].sort((a, b) => a.id - b.id);
    if (list.length === 0) return neutral;
    if (list.length === 1) return list[0]!;
    if (operator === 'any' && list.length === 2) {
      const merged = this.mergeAlternatives(list[0]!, list[1]!);
      if (merged) return merged;
    }
    return this.make(operator, 0, list, 0n, none, null, '');
  }

  /** (x and c) or (x and not c) is x; x or (x and y) is x; c or (not c and y) is c or y. */
  private mergeAlternatives(a: Term, b: Term): Term | null {
    const left = new Set(a.operator === 'all' ? a.arguments : [a]);
    const right = new Set(b.operator === 'all' ? b.arguments : [b]);
    const onlyLeft = [...left].filter((part) => !right.has(part));
    const onlyRight = [...right].filter((part) => !left.has(part));
    if (onlyLeft.length === 0) return a;
    if (onlyRight.length === 0) return b;
    const shared = [...left].filter((part) => right.has(part));
    if (onlyLeft.length === 1 && onlyRight.includes(this.not(onlyLeft[0]!))) {
      const rest = onlyRight.filter((part) => part !== this.not(onlyLeft[0]!));
      return rest.length === 0 ? this.all(shared) : this.rejoin(shared, onlyLeft[0]!, rest);
    }
    if (onlyRight.length === 1 && onlyLeft.includes(this.not(onlyRight[0]!))) {
      const rest = onlyLeft.filter((part) => part !== this.not(onlyRight[0]!));
      return this.rejoin(shared, onlyRight[0]!, rest);
    }
    return null;
  }

  private rejoin(shared: readonly Term[], literal: Term, rest: readonly Term[]): Term {
    const alternatives = [literal, this.all(rest)].sort((a, b) => a.id - b.id);
    return this.all([...shared, this.make('any', 0, alternatives, 0n, none, null, '')]);
  }
}

/** A key that is equal for equal terms. */
function keyOf(
  operator: TermOperator,
  width: number,
  parts: readonly Term[],
  value: bigint,
  coefficients: readonly bigint[],
  atom: Atom | null,
  name: string,
): string {
  let key = `${operator}:${width}:${value}:${name}`;
  for (const part of parts) key += `,${part.id}`;
  if (coefficients.length > 0) key += `;${coefficients.join(',')}`;
  return atom ? `${key};${atomKey(atom)}` : key;
}

function mergeLeaves(parts: readonly Term[]): readonly Term[] {
  if (parts.length === 0) return none;
  if (parts.length === 1) return parts[0]!.leaves;
  const all = new Set<Term>();
  for (const part of parts) for (const leaf of part.leaves) all.add(leaf);
  return [...all].sort((a, b) => a.id - b.id);
}
