/**
 * The last tier before a run encodes obligations over bit-vectors, for operations beyond linear arithmetic: xor, masks,
 * shifts by variables, population counts. Every value has the minimal width for its range, and every operation is
 * exact. Products of two wide unknowns are the exception: for these only the product lemma is known (see
 * `linear-encoding.ts`).
 */
import { bitLength, floorDivide, gcd } from '../../base/integer.ts';
import { type Premise, PremiseList } from '../../solver/premise.ts';
import type { Model } from '../../solver/solver.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { threadLimit } from '../../analysis/values/launch-bounds.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { type Bounds, type Linear, inside, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import {
  type BitValue,
  addBits,
  atMostBits,
  bitsOf,
  chooseBits,
  combineBits,
  constantBits,
  divideBits,
  equalBits,
  lessBits,
  lowBits,
  multiplyBits,
  resize,
  shiftLeft,
  shiftRight,
  signedLowBits,
  sumOf,
} from './bit-value.ts';
import { addressDifference, instanceOf } from '../obligations/difference.ts';
import type { Instances, TermInstance } from '../obligations/instance.ts';
import type { AccessSide, Obligation, ReadCondition } from '../obligations/obligation.ts';
import type { WarpRelation } from '../obligations/warp-collective-overlap.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';

/**
 * Modes of a query for products of two unknowns: only the product lemma, or, if the products are small, also their
 * exact bits. The modes are names of assumptions, the cheaper one first.
 */
export const productModes = ['products_related', 'products_exact'] as const;

/** Limit on the partial products of a multiplication, and on the bits of a division, that are encoded bit by bit. */
const maxPartialProducts = 256;
const maxDivisionBits = 20;
/** Limit on the width of values; wider ones are unconstrained. */
const maxBits = 200;

/** Collects declarations and definitions, and encodes obligations against them. */
export class BitVectorEncoding {
  /** Declarations, definitions and facts that have not been sent to the solver yet. */
  private readonly premises = new PremiseList();
  private readonly values = new Map<string, BitValue>();
  private readonly truths = new Map<string, { readonly name: string; readonly assumes: ReadonlySet<Term> }>();
  /** Exponents of known powers of two, by name. */
  private readonly exponents = new Map<string, BitValue>();
  /** Declared names that may be negative, with their bits. */
  private readonly signed = new Map<string, number>();
  private readonly products: {
    readonly name: string;
    readonly e: BitValue;
    readonly u: BitValue;
    readonly product: BitValue;
  }[] = [];
  private knowsExact = false;
  private assumed = new Set<Term>();
  /**
   * Terms that the definitions sent so far assume not to wrap around. Every later formula depends on this assumption.
   */
  private readonly standing = new Set<Term>();
  private defining = 0;
  private readonly symbolic: SymbolicKernel;
  private readonly instances: Instances;
  private readonly dimensions: Dimensions;
  private readonly isPowerOfTwo: (leaf: Term) => boolean;

  /** @param isPowerOfTwo whether an atom is stated to be a power of two, or zero */
  constructor(symbolic: SymbolicKernel, instances: Instances, dimensions: Dimensions, isPowerOfTwo: (leaf: Term) => boolean) {
    this.symbolic = symbolic;
    this.instances = instances;
    this.dimensions = dimensions;
    this.isPowerOfTwo = isPowerOfTwo;
    const [related, exact] = productModes;
    this.premises.emit(`(declare-const ${related} Bool)`, `(declare-const ${exact} Bool)`);
    this.premises.assert(`(xor ${related} ${exact})`);
  }

  /** Declarations and definitions since the last call. */
  takePremises(): readonly Premise[] {
    return this.premises.take();
  }

  /** Terms assumed not to wrap around: those in formulas since the last call, and those in all definitions. */
  takeAssumptions(): Term[] {
    const list = [...new Set([...this.assumed, ...this.standing])];
    this.assumed.clear();
    return list;
  }

  /** The names of the modes for products that occur in the premises so far; empty without such products. */
  get modes(): readonly string[] {
    return this.knowsExact ? productModes : productModes.slice(0, 1);
  }

  /** The solver's model, translated to values of the unknowns. */
  readModel(model: Model): Model {
    const numbers = new Map(model);
    for (const [name, bits] of this.signed) {
      const value = model.get(name);
      if (typeof value === 'bigint') numbers.set(name, BigInt.asIntN(bits, value));
    }
    return numbers;
  }

  /** The formula that the accesses of two different threads of the obligation overlap. */
  overlap(obligation: Obligation): string {
    const { first, second } = obligation;
    const parts = [
      ...this.overlaps(obligation),
      ...(obligation.mayBeOne ? [] : [this.distinct(obligation.scope === 'block' ? 't' : 'b')]),
      ...this.warps(obligation.warp),
      ...this.conditions(first.conditions),
      ...this.conditions(second.conditions),
    ];
    return `(and ${parts.join(' ')})`;
  }

  /**
   * Formulas that state, for each thread, that those of the given terms that occur in the obligation do not wrap
   * around.
   */
  fit({ first, second }: Obligation, terms: ReadonlySet<Term>): string[] {
    const formulas: string[] = [];
    const read = [first, second].flatMap(({ target, reading, conditions }) => [{ term: target.offset, reading }, ...conditions]);
    for (const { term: whole, reading } of read) {
      for (const [term, isSigned] of partsAmong(whole, terms)) {
        const value = this.linear(this.symbolic.view.natural(term), reading);
        const { low, high } = isSigned
          ? signedBounds(term.width)
          : { low: signedBounds(term.width).low, high: unsignedBounds(term.width).high };
        if (inside(value, { low, high })) continue;
        this.take([term]);
        formulas.push(atMostBits(constantBits(low), value), atMostBits(value, constantBits(high)));
      }
    }
    return formulas;
  }

  /**
   * The formulas that the distance between the accesses is less than their bytes. Added terms are on one side and
   * subtracted ones on the other, without their common factor. Sums that also occur in conditions are then
   * syntactically equal for the solver.
   */
  private overlaps(obligation: Obligation): string[] {
    const { constant, unknowns, assumes } = addressDifference(this.symbolic, this.instances, obligation);
    this.take(assumes);
    const factor = unknowns.reduce((divisor, { coefficient }) => gcd(divisor, coefficient), 0n);
    const { first, second } = obligation;
    const above = -BigInt(first.access.bytes) - constant;
    const below = BigInt(second.access.bytes) - constant;
    if (factor === 0n) return [above < 0n && 0n < below ? 'true' : 'false'];
    const least = floorDivide(above, factor) + 1n;
    const most = -floorDivide(-below, factor) - 1n;
    const sum = (sign: bigint, offset: bigint): BitValue =>
      addBits(
        offset,
        unknowns
          .filter(({ coefficient }) => coefficient * sign > 0n)
          .map(({ term, reading, coefficient }) => [this.named(term, reading)!, (coefficient * sign) / factor]),
      );
    if (least > most) return ['false'];
    if (least === most) return [equalBits(sum(1n, least < 0n ? -least : 0n), sum(-1n, least > 0n ? least : 0n))];
    return [atMostBits(sum(-1n, least), sum(1n, 0n)), atMostBits(sum(1n, 0n), sum(-1n, most))];
  }

  /** The formula that two threads satisfy the conditions. */
  together(conditions: readonly ReadCondition[]): string {
    return `(and ${[this.distinct('t'), ...this.conditions(conditions)].join(' ')})`;
  }

  conditions(conditions: readonly ReadCondition[]): string[] {
    return conditions.map(({ term, reading }) => this.truth(term, reading));
  }

  /** The value of a linear form; declares and defines the unknowns that it contains. */
  linear(form: Linear, reading: TermInstance): BitValue {
    this.take(form.assumes);
    const parts = [...form.terms].map(([term, coefficient]) => [this.unknown(term, reading), coefficient] as const);
    return sumOf(form.constant, parts, form);
  }

  /** The value of a scalar parameter that the kernel never reads, bounded by its type only. */
  unread({ index, offset, bytes }: ParameterField, unsigned: boolean): BitValue {
    const name = `p${index}_${offset}_${bytes}`;
    return this.values.get(name) ?? this.introduce(name, unsigned ? unsignedBounds(8 * bytes) : signedBounds(8 * bytes));
  }

  private take(assumes: readonly Term[]): void {
    for (const term of assumes) (this.defining > 0 ? this.standing : this.assumed).add(term);
  }

  private introduce(name: string, range: Bounds): BitValue {
    const isSigned = range.low < 0n;
    const bits = Math.max(1, bitsOf(range) - (isSigned ? 0 : 1));
    this.premises.emit(`(declare-const ${name} (_ BitVec ${bits}))`);
    if (isSigned) this.signed.set(name, bits);
    const text = isSigned ? name : `((_ zero_extend 1) ${name})`;
    const whole = isSigned ? signedBounds(bits) : unsignedBounds(bits);
    const value = { text, ...whole };
    this.premises.define(name, () => {
      if (range.low > whole.low) this.premises.assert(atMostBits(constantBits(range.low), value));
      if (range.high < whole.high) this.premises.assert(atMostBits(value, constantBits(range.high)));
    });
    this.values.set(name, value);
    return value;
  }

  /** Names a value, so that its text occurs only once in the script. */
  private keep(name: string, value: BitValue): BitValue {
    const kept = { ...value, text: name };
    this.premises.emit(`(define-fun ${name} () (_ BitVec ${bitsOf(value)}) ${value.text})`);
    this.values.set(name, kept);
    return kept;
  }

  /** The formula that two threads (blocks) differ in a coordinate. */
  private distinct(letter: 't' | 'b'): string {
    const extents = letter === 't' ? this.dimensions.block : this.dimensions.grid;
    const kind = letter === 't' ? 'thread' : 'block';
    const differ: string[] = [];
    for (const axis of [0, 1, 2] as const) {
      if (extents[axis] === 1) continue;
      const leaf = this.symbolic.store.atom(32, { kind, axis });
      const [x, y] = ([1, 2] as const).map((side) => this.unknown(leaf, { side, rounds: [] }));
      differ.push(`(not ${equalBits(x!, y!)})`);
    }
    return differ.length === 0 ? 'false' : `(or ${differ.join(' ')})`;
  }

  /**
   * The formulas that the two threads are in one warp, or in two; empty if the linear thread index has no linear form.
   */
  private warps(relation: WarpRelation): string[] {
    const [width, height, depth] = this.dimensions.block;
    if (relation === null || (width === null && (height !== 1 || depth !== 1)) || (height === null && depth !== 1)) return [];
    const strides = [1, width ?? 0, (width ?? 0) * (height ?? 0)];
    const [first, second] = ([1, 2] as const).map((side) => {
      const parts = ([0, 1, 2] as const)
        .filter((axis) => this.dimensions.block[axis] !== 1)
        .map((axis) => {
          const leaf = this.symbolic.store.atom(32, { kind: 'thread', axis });
          return [this.unknown(leaf, { side, rounds: [] }), BigInt(strides[axis]!)] as const;
        });
      return shiftRight(addBits(0n, parts), constantBits(5n));
    });
    const same = equalBits(first!, second!);
    return [relation === 'same' ? same : `(not ${same})`];
  }

  private unknown(term: Term, reading: TermInstance): BitValue {
    const { offset } = instanceOf(this.symbolic, this.instances, term, reading);
    const value = this.named(term, reading);
    if (!value) return constantBits(offset);
    return offset === 0n ? value : addBits(offset, [[value, 1n]]);
  }

  /** The unknown that represents a term in one thread, regardless of the iteration; null for a constant. */
  private named(term: Term, reading: TermInstance): BitValue | null {
    const { name, bounds } = instanceOf(this.symbolic, this.instances, term, reading);
    if (name === null) return null;
    const known = this.values.get(name);
    if (known) return known;
    this.defining++;
    const value = this.premises.define(name, () =>
      term.atom ? this.declareAtom(term, name, bounds, reading) : this.define(term, name, bounds, reading),
    );
    this.defining--;
    return value;
  }

  /** Declares an atom: indices are below symbolic dimensions, and a block has at most `threadLimit` threads. */
  private declareAtom(leaf: Term, name: string, bounds: Bounds, reading: TermInstance): BitValue {
    const value = bounds.low >= 0n && this.isPowerOfTwo(leaf) ? this.declarePower(name, bounds) : this.introduce(name, bounds);
    const atom = leaf.atom!;
    if (atom.kind === 'thread' || atom.kind === 'block') {
      const extents = atom.kind === 'thread' ? this.dimensions.block : this.dimensions.grid;
      if (extents[atom.axis] !== null) return value;
      const kind = atom.kind === 'thread' ? 'block-size' : 'grid-size';
      const size = this.symbolic.store.atom(32, { kind, axis: atom.axis });
      this.premises.assert(lessBits(value, this.unknown(size, reading)));
    } else if (atom.kind === 'block-size') {
      // Linear consequences of x*y*z <= limit.
      const known = this.dimensions.block.reduce<number>((product, size) => product * (size ?? 1), 1);
      this.premises.assert(atMostBits(value, constantBits(BigInt(Math.floor(threadLimit(this.symbolic.kernel) / known)))));
    }
    return value;
  }

  /** Declares an unknown that is 1 << exponent, or zero if its range contains zero. */
  private declarePower(name: string, bounds: Bounds): BitValue {
    const value = this.introduce(name, bounds);
    const exponent = this.introduce(`${name}_e`, { low: 0n, high: BigInt(bitLength(bounds.high)) });
    const power = shiftLeft(constantBits(1n), exponent, bitLength(bounds.high));
    this.premises.assert(equalBits(value, power));
    this.exponents.set(name, exponent);
    return value;
  }

  private define(term: Term, name: string, range: Bounds, reading: TermInstance): BitValue {
    if (bitsOf(range) > maxBits) return this.introduce(name, signedBounds(maxBits));
    const pattern = this.pattern(term, range, reading);
    if (pattern) return this.settle(name, term.width, range, pattern);
    const value = this.introduce(name, range);
    if (term.operator === 'mul') this.relateProduct(term, name, value, reading);
    return value;
  }

  /** Defines the value in the range that is congruent to a bit pattern modulo 2^width. */
  private settle(name: string, width: number, range: Bounds, pattern: BitValue): BitValue {
    if (inside(pattern, range)) return this.keep(name, pattern);
    const reading = inside(range, unsignedBounds(width))
      ? lowBits(pattern, width)
      : inside(range, signedBounds(width))
        ? signedLowBits(pattern, width)
        : null;
    if (!reading) {
      const value = this.introduce(name, range);
      this.premises.assert(`(= ${resize(value, width)} ${resize(pattern, width)})`);
      return value;
    }
    const whole = this.keep(`${name}_w`, reading);
    if (range.low > whole.low) this.premises.assert(atMostBits(constantBits(range.low), whole));
    if (range.high < whole.high) this.premises.assert(atMostBits(whole, constantBits(range.high)));
    return this.keep(name, { ...range, text: resize(whole, bitsOf(range)) });
  }

  /** A value congruent to the term modulo 2^width; null if the term is left unconstrained. */
  private pattern(term: Term, range: Bounds, reading: TermInstance): BitValue | null {
    const { view } = this.symbolic;
    const { width, operator } = term;
    const [a, b, c] = term.arguments as [Term, Term, Term];
    const natural = (part: Term): BitValue => this.linear(view.natural(part), reading);
    const bits = (part: Term): BitValue => lowBits(natural(part), part.width);
    switch (operator) {
      case 'pure':
        return this.patternOfFunction(term, natural);
      case 'mul':
        return this.patternOfProduct(term, reading);
      case 'and':
      case 'or':
      case 'xor':
        return combineBits(operator, natural(a), natural(b));
      case 'shl':
        // For a nonnegative value, the bits of its range are enough.
        return shiftLeft(natural(a), bits(b), range.low < 0n ? width : Math.min(width, bitsOf(range)));
      case 'lshr':
        return shiftRight(bits(a), bits(b));
      case 'ashr':
        return shiftRight(signedLowBits(natural(a), width), bits(b));
      case 'udiv':
      case 'sdiv':
      case 'urem':
      case 'srem': {
        const [dividend, divisor] = [natural(a), natural(b)];
        const isPlain = (value: BitValue): boolean => inside(value, { low: 0n, high: signedBounds(width).high });
        if (!isPlain(dividend) || !isPlain(divisor) || divisor.low <= 0n) return null;
        if (divisor.low !== divisor.high && bitsOf(dividend) + bitsOf(divisor) > 2 * maxDivisionBits) return null;
        return divideBits(operator.endsWith('div') ? 'udiv' : 'urem', dividend, divisor);
      }
      case 'trunc':
        return natural(a);
      case 'select':
        return chooseBits(this.truth(a, reading), natural(b), natural(c));
      default:
        return null;
    }
  }

  private patternOfFunction(term: Term, natural: (part: Term) => BitValue): BitValue | null {
    const [a] = term.arguments as [Term];
    switch (term.name) {
      case 'signed':
        return signedLowBits(natural(a), term.width);
      case 'unsigned':
        return lowBits(natural(a), term.width);
      case 'popc':
      case 'clz':
      case 'brev': {
        const bits = lowBits(natural(a), a.width);
        const source = this.keep(`v${this.values.size}`, bits);
        const bit = (index: number): BitValue | null =>
          index < bitsOf(source) ? { text: `((_ zero_extend 1) ((_ extract ${index} ${index}) ${source.text}))`, low: 0n, high: 1n } : null;
        const set = Array.from({ length: a.width }, (_, index) => bit(index)).flatMap((value, index) => (value ? [{ value, index }] : []));
        if (term.name === 'popc')
          return addBits(
            0n,
            set.map(({ value }) => [value, 1n]),
          );
        if (term.name === 'brev')
          return addBits(
            0n,
            set.map(({ value, index }) => [value, 1n << BigInt(a.width - 1 - index)]),
          );
        return set.reduce(
          (zeros, { value, index }) => chooseBits(equalBits(value, constantBits(1n)), constantBits(BigInt(a.width - 1 - index)), zeros),
          constantBits(BigInt(a.width)),
        );
      }
      default:
        return null;
    }
  }

  /** A product with a power of two as a shift; other products are encoded exactly if they are small. */
  private patternOfProduct(term: Term, reading: TermInstance): BitValue | null {
    const { view } = this.symbolic;
    const factors = term.arguments as [Term, Term];
    for (const [factor, other] of [factors, [factors[1], factors[0]]] as const) {
      if (factor.operator === 'shl' && factor.width === term.width) {
        const [base, amount] = factor.arguments as [Term, Term];
        const [x, y] = [base, other].map((part) => this.linear(view.natural(part), reading));
        const by = lowBits(this.linear(view.natural(amount), reading), amount.width);
        if (x!.low === x!.high || y!.low === y!.high) return shiftLeft(multiplyBits(x!, y!), by, term.width);
      }
      const name = factor.atom && instanceOf(this.symbolic, this.instances, factor, reading).name;
      if (!name) continue;
      const value = this.unknown(factor, reading);
      const exponent = this.exponents.get(name);
      if (!exponent) continue;
      const shifted = shiftLeft(this.linear(view.natural(other), reading), exponent, term.width);
      if (value.low > 0n) return shifted;
      return chooseBits(equalBits(value, constantBits(0n)), constantBits(0n), shifted);
    }
    return null;
  }

  /** Relates a product to earlier ones: P(e, u) = e*u grows with e, by at least u per step, if u is not negative. */
  private relateProduct(term: Term, name: string, product: BitValue, reading: TermInstance): void {
    const { view } = this.symbolic;
    const [a, b] = (term.arguments as [Term, Term]).map((factor) => this.linear(view.natural(factor), reading));
    const zero = constantBits(0n);
    if (bitsOf(a!) * bitsOf(b!) <= maxPartialProducts) {
      const exact = this.settle(`${name}_x`, term.width, product, multiplyBits(a!, b!));
      this.premises.assert(`(=> ${productModes[1]} ${equalBits(product, exact)})`);
      this.knowsExact = true;
    }
    for (const [e, u] of [
      [a!, b!],
      [b!, a!],
    ] as const) {
      const positive = atMostBits(zero, u);
      const fact = (condition: string, formula: string): void => this.premises.assert(`(=> (and ${positive} ${condition}) ${formula})`);
      fact(equalBits(e, zero), equalBits(product, zero));
      fact(equalBits(e, constantBits(1n)), equalBits(product, u));
      fact(lessBits(zero, e), atMostBits(u, product));
      fact(lessBits(e, zero), atMostBits(product, addBits(0n, [[u, -1n]])));
      fact('true', atMostBits(addBits(0n, [[u, e.low]]), product));
      fact('true', atMostBits(product, addBits(0n, [[u, e.high]])));
      for (const other of this.products) {
        if (other.u.text !== u.text) continue;
        const fact = (condition: string, formula: string): void =>
          this.premises.compare(name, other.name, `(=> (and ${positive} ${condition}) ${formula})`);
        fact(equalBits(e, other.e), equalBits(product, other.product));
        fact(
          lessBits(e, other.e),
          atMostBits(
            addBits(0n, [
              [product, 1n],
              [u, 1n],
            ]),
            other.product,
          ),
        );
        fact(
          lessBits(other.e, e),
          atMostBits(
            addBits(0n, [
              [other.product, 1n],
              [u, 1n],
            ]),
            product,
          ),
        );
      }
      this.products.push({ name, e, u, product });
    }
  }

  /** A condition as a formula. Parts that are not arithmetic become separate unknown truth values. */
  truth(term: Term, reading: TermInstance): string {
    if (term.operator === 'constant') return term.value === 1n ? 'true' : 'false';
    const key = instanceOf(this.symbolic, this.instances, term, reading).name ?? '';
    let known = this.truths.get(key);
    if (known === undefined) {
      const outer = this.assumed;
      this.assumed = new Set();
      const text = this.truthText(term, reading);
      known = { name: `q${key}`, assumes: this.assumed };
      this.assumed = outer;
      this.premises.emit(text === null ? `(declare-const ${known.name} Bool)` : `(define-fun ${known.name} () Bool ${text})`);
      this.truths.set(key, known);
    }
    for (const assumption of known.assumes) this.assumed.add(assumption);
    return known.name;
  }

  private truthText(term: Term, reading: TermInstance): string | null {
    const { view } = this.symbolic;
    const [a, b, c] = term.arguments as [Term, Term, Term];
    const truth = (part: Term): string => this.truth(part, reading);
    const value = (form: Linear): BitValue => this.linear(form, reading);
    switch (term.operator) {
      case 'not':
        return `(not ${truth(a)})`;
      case 'all':
        return `(and ${term.arguments.map(truth).join(' ')})`;
      case 'any':
        return `(or ${term.arguments.map(truth).join(' ')})`;
      case 'differ':
        return `(xor ${truth(a)} ${truth(b)})`;
      case 'select':
        return `(ite ${truth(a)} ${truth(b)} ${truth(c)})`;
      case 'slt':
        return lessBits(value(view.signed(a)), value(view.signed(b)));
      case 'ult':
        return lessBits(value(view.unsigned(a)), value(view.unsigned(b)));
      case 'equal': {
        const difference = view.subtract(view.natural(a), view.natural(b));
        const modulus = 1n << BigInt(a.width);
        if (difference.low > -modulus && difference.high < modulus) return equalBits(value(difference), constantBits(0n));
        return equalBits(lowBits(value(view.natural(a)), a.width), lowBits(value(view.natural(b)), b.width));
      }
      default:
        return null;
    }
  }
}

/** Those of the given terms that occur in a term, each with the signedness with which it is read there. */
function partsAmong(
  term: Term,
  terms: ReadonlySet<Term>,
  found = new Map<Term, boolean>(),
  seen = new Set<Term>(),
): ReadonlyMap<Term, boolean> {
  if (seen.has(term)) return found;
  seen.add(term);
  if (terms.has(term) && !found.has(term)) found.set(term, false);
  for (const part of term.arguments) {
    if (terms.has(part)) found.set(part, readsSigned.has(term.operator) || found.get(part) === true);
    partsAmong(part, terms, found, seen);
  }
  return found;
}

const readsSigned: ReadonlySet<Term['operator']> = new Set<Term['operator']>(['slt', 'sext', 'sdiv', 'srem']);

/** Whether an obligation contains bit operations, which the linear encoding leaves unconstrained. */
export function holdsBits({ first, second }: Obligation): boolean {
  return [first, second].some(
    ({ target, conditions }: AccessSide) => computesWithBits(target.offset) || conditions.some(({ term }) => computesWithBits(term)),
  );
}

const counting = new Set(['popc', 'clz', 'brev']);
const bitTerms = new WeakMap<Term, boolean>();

/** Whether a term contains a xor, a mask other than a remainder, a shift by a variable or a population count. */
export function computesWithBits(term: Term): boolean {
  let known = bitTerms.get(term);
  if (known === undefined) {
    known = isBitOperation(term) || term.arguments.some(computesWithBits);
    bitTerms.set(term, known);
  }
  return known;
}

function isBitOperation({ operator, name, arguments: [, b] }: Term): boolean {
  switch (operator) {
    case 'xor':
    case 'or':
      return true;
    case 'and':
      return b!.operator !== 'constant' || (b!.value & (b!.value + 1n)) !== 0n;
    case 'shl':
    case 'lshr':
    case 'ashr':
      return b!.operator !== 'constant';
    case 'pure':
      return counting.has(name);
    default:
      return false;
  }
}
