/** Index arithmetic as sums of products. Factors that all threads share are separate from varying ones. */
import type { Dim3 } from '../../base/dim3.ts';
import { type KeyedProduct, keyOfProduct, plusProducts, quotientOfProducts, timesProducts } from '../../algebra/products.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import { type Term, isFactor24 } from '../../term/term.ts';

/** A factor of a product: an extent of the launch, a term, or a quotient. */
export interface IndexFactor {
  /** Key of the factor, equal for equal factors: `blockDim.x`, or the identity of a term. */
  readonly key: string;
  /** The term; null for an extent of the launch. */
  readonly term: Term | null;
  /** Whether the factor has one value for all threads of the launch. */
  readonly isUniform: boolean;
  /** For a quotient of uniform sums, rounded up: dividend and divisor; the term is null then. */
  readonly ratio?: { readonly of: readonly Monomial[]; readonly by: Monomial };
}

/** A product of an index. */
export type Monomial = KeyedProduct<IndexFactor>;

/** The scalars and other atoms that a factor depends on, except for extents of the launch. */
export function leavesOfFactor({ term, ratio }: IndexFactor): readonly Term[] {
  const inRatio = ratio ? [...ratio.of, ratio.by].flatMap(({ factors }) => factors.flatMap(leavesOfFactor)) : [];
  return term ? term.leaves : inRatio;
}

/** A sum divided by a product, rounded up. */
export function dividedBy(of: readonly Monomial[], by: Monomial): readonly Monomial[] {
  const exact = quotientOfProducts(of, by);
  if (exact) return exact;
  const text = [...of, by].map((one) => `${one.coefficient} ${keyOfProduct(one)}`).join(' + ');
  return [{ coefficient: 1n, factors: [{ key: `ceil(${text})`, term: null, isUniform: true, ratio: { of, by } }] }];
}

/** Dimensions and scalars of a launch, and one of its threads. */
export interface ThreadPlace {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Bits of a scalar; undefined if its value is not chosen yet. */
  readonly scalar: (index: number, offset: number, bytes: number) => bigint | undefined;
  readonly thread: Dim3;
  readonly blockIndex: Dim3;
}

/** Limit on the products of a sum; longer sums are not expanded. */
const maxMonomials = 48;

const axes = 'xyz';

/** `blockDim.x` or `gridDim.x` as a factor. */
export function extentFactor(of: 'block' | 'grid', axis: 0 | 1 | 2): IndexFactor {
  return { key: `${of}Dim.${axes[axis]}`, term: null, isUniform: true };
}

function factorOf(term: Term): IndexFactor {
  const { atom } = term;
  if (atom?.kind === 'block-size') return extentFactor('block', atom.axis);
  if (atom?.kind === 'grid-size') return extentFactor('grid', atom.axis);
  const isUniform = term.leaves.every((leaf) => /^(parameter|block-size|grid-size|object)$/.test(leaf.atom?.kind ?? ''));
  // An iteration counter has one key for all widths.
  const key =
    atom?.kind === 'iteration'
      ? `round${atom.loop}`
      : atom?.kind === 'thread' || atom?.kind === 'block'
        ? `${atom.kind}.${axes[atom.axis]}`
        : `t${term.id}`;
  return { key, term, isUniform };
}

/** Cached expansions, since a chain of selects contains the same terms repeatedly. */
const sums = new WeakMap<Term, readonly Monomial[] | null>();

/** A term as a sum of products over the integers; null if the sum is too long. */
export function expand(term: Term): readonly Monomial[] | null {
  let sum = sums.get(term);
  if (sum === undefined) sums.set(term, (sum = multipliedOut(term)));
  return sum;
}

function multipliedOut(term: Term): readonly Monomial[] | null {
  if (isFactor24(term)) {
    const shift = term.operator === 'ashr' ? 256n : 1n;
    return expand(term.arguments[0]!)?.map(({ coefficient, factors }) => ({ coefficient: coefficient / shift, factors })) ?? null;
  }
  switch (term.operator) {
    case 'constant': {
      const coefficient = BigInt.asIntN(term.width, term.value);
      return coefficient === 0n ? [] : [{ coefficient, factors: [] }];
    }
    case 'sum': {
      let total: readonly Monomial[] = [{ coefficient: BigInt.asIntN(term.width, term.value), factors: [] }];
      for (const [at, part] of term.arguments.entries()) {
        const inner = expand(part);
        if (!inner) return null;
        total = plusProducts(total, inner, term.coefficients[at]);
      }
      return total.length > maxMonomials ? null : total;
    }
    case 'mul': {
      const [a, b] = term.arguments.map(expand);
      return a && b ? times(a, b) : null;
    }
    case 'sext':
    case 'zext':
    case 'trunc':
      return expand(term.arguments[0]!);
    case 'select': {
      const clamped = clampOf(term);
      if (clamped) return expand(clamped.index);
      // For an index that wraps around, the shared addend at the wrap is ignored.
      const [a, b] = term.arguments.slice(1).map(expand);
      // The addend for a negative index, which counts from the end, is ignored, since representative indices are not
      // negative.
      if (isOfNegative(term) && b?.length === 0 && a?.every(isCommon) === true) return b;
      const isRound = a && b && a.some((part) => !isCommon(part)) && plusProducts(a, b, -1n).every(isCommon);
      if (isRound) return a.length < b.length ? a : b;
      return [{ coefficient: 1n, factors: [factorOf(term)] }];
    }
    default:
      return [{ coefficient: 1n, factors: [factorOf(term)] }];
  }
}

/** Whether a select chooses its first arm if a value is negative. */
function isOfNegative({ arguments: [condition] }: Term): boolean {
  const [, zero] = condition!.arguments;
  return condition!.operator === 'slt' && zero!.operator === 'constant' && zero!.value === 0n;
}

/** A term without conversions between widths. */
export function unextended(term: Term): Term {
  return /^(?:[sz]ext|trunc)$/.test(term.operator) ? unextended(term.arguments[0]!) : term;
}

const isOfLaunch = ({ leaves }: Term): boolean => leaves.every(({ atom }) => /^(parameter|block-size|grid-size)$/.test(atom!.kind));

/**
 * The index and the bound in `min(index, most)`, if the index varies and all threads share the bound; null for other
 * terms.
 */
export function clampOf({ operator, arguments: [condition, a, b] }: Term): { index: Term; most: Term } | null {
  if (operator !== 'select' || !/^[us]lt$/.test(condition!.operator)) return null;
  const [x, y] = condition!.arguments as [Term, Term];
  if (x !== a || y !== b || isOfLaunch(x) === isOfLaunch(y)) return null;
  return isOfLaunch(x) ? { index: y, most: x } : { index: x, most: y };
}

/** `a * b`; null if that is too long. */
export function times(a: readonly Monomial[], b: readonly Monomial[]): readonly Monomial[] | null {
  return a.length * b.length > maxMonomials ? null : timesProducts(a, b);
}

/** Whether all threads share the value of a product. */
export function isCommon({ factors }: Monomial): boolean {
  return factors.every((factor) => factor.isUniform);
}

/** The value of a sum of products for a thread, in the first iteration of every loop; undefined if unknown. */
export function valueAt(sum: readonly Monomial[], place: ThreadPlace): bigint | undefined {
  let total = 0n;
  for (const { coefficient, factors } of sum) {
    let product = coefficient;
    for (const factor of factors) {
      const value = factorValue(factor, place);
      if (value === undefined) return undefined;
      product *= value;
    }
    total += product;
  }
  return total;
}

function factorValue({ key, term, ratio }: IndexFactor, place: ThreadPlace): bigint | undefined {
  if (ratio) {
    const [of, by] = [valueAt(ratio.of, place), valueAt([ratio.by], place)];
    return of === undefined || by === undefined || by <= 0n || of < 0n ? undefined : (of + by - 1n) / by;
  }
  if (term === null) {
    return BigInt((key.startsWith('blockDim') ? place.block : place.grid)[axes.indexOf(key.at(-1)!)]!);
  }
  if (term.operator === 'atom') {
    const value = atomValue(term, place);
    return value === undefined ? undefined : BigInt.asIntN(term.width, value);
  }
  const value = evaluateTerm(term, (leaf) => atomValue(leaf, place), new Map());
  return value === undefined ? undefined : BigInt.asIntN(term.width, value);
}

/** The value of an atom at a place, as an integer. */
export function atomValue(leaf: Term, place: ThreadPlace): bigint | undefined {
  const atom = leaf.atom!;
  switch (atom.kind) {
    case 'thread':
      return BigInt(place.thread[atom.axis]);
    case 'block':
      return BigInt(place.blockIndex[atom.axis]);
    case 'block-size':
      return BigInt(place.block[atom.axis]);
    case 'grid-size':
      return BigInt(place.grid[atom.axis]);
    case 'iteration':
      return 0n;
    case 'parameter':
      return place.scalar(atom.index, atom.offset, atom.bytes);
    case 'object':
    case 'line':
      return 0n;
    default:
      return undefined;
  }
}
