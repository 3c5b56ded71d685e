/** A kernel's indices as sums of products, and the bounds of their parts. */
import type { Access } from '../../analysis/values/access.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { Term } from '../../term/term.ts';
import { gcd } from '../../base/integer.ts';
import type { StatedSize } from '../premises/stated-sizes.ts';
import { type IndexFactor, type Monomial, expand, extentFactor, clampOf, isCommon, unextended, dividedBy, times } from './monomial.ts';
import { keyOfProduct, plusProducts, withoutFactors } from '../../algebra/products.ts';

/** What the shape of a kernel's indices depends on. */
export interface ShapedKernel {
  readonly kernel: Pick<Kernel, 'blocks' | 'loops'>;
  readonly symbolic: Pick<SymbolicKernel, 'store' | 'reach' | 'condition' | 'operand'>;
  readonly accesses: readonly Access[];
  readonly dimensions: Dimensions;
  /** What is stated of sizes. */
  readonly stated: readonly StatedSize[];
  readonly fields: readonly ParameterField[];
  /** Integer scalars that the launch leaves open, with the constants by which the host program divides them. */
  readonly open: readonly { readonly field: ParameterField; readonly divisors: readonly bigint[] }[];
  /** For each axis, whether the host program computes the extent of the block. */
  readonly isComputed: readonly boolean[];
}

/** An index that a condition keeps below a bound that all threads share. */
export interface IndexGuard {
  /** The varying part of the index, without a constant. */
  readonly index: readonly Monomial[];
  /** The exclusive upper bound of the index. */
  readonly bound: readonly Monomial[];
}

/** The byte offset of an access as a sum of products, and the guards of the access. */
export interface IndexForm {
  readonly access: Access;
  readonly target: Target;
  readonly offset: readonly Monomial[];
  readonly guards: readonly IndexGuard[];
}

/** Extent of a part of an index: `1 +` the sum of `scale * (limit - 1)`. */
type Extent = readonly { readonly scale: Monomial; readonly limit: readonly Monomial[] }[];

const one: Monomial = { coefficient: 1n, factors: [] };

/** The index forms of all accesses to a known array. */
export function indexForms({ symbolic, accesses }: Pick<ShapedKernel, 'symbolic' | 'accesses'>): readonly IndexForm[] {
  const guardsAt = new Map<number, readonly IndexGuard[]>();
  return accesses.flatMap((access) => {
    let guards = guardsAt.get(access.block);
    if (!guards) guardsAt.set(access.block, (guards = guardsOf(symbolic.reach(access.block), true)));
    return access.targets.flatMap((target): IndexForm[] => {
      const whole = target.base.kind === 'unknown' ? null : expand(target.offset);
      const offset = whole && inParts(whole);
      return offset ? [{ access, target, offset, guards: [...guards, ...clampsOf(target.offset)] }] : [];
    });
  });
}

/** The guards implied by clamps within an index: `min(i, n - 1)` counts as a condition `i < n` of the access. */
function clampsOf(term: Term, seen = new Set<Term>()): readonly IndexGuard[] {
  if (seen.has(term)) return [];
  seen.add(term);
  const clamped = clampOf(term);
  const inner = term.arguments.flatMap((part) => clampsOf(part, seen));
  return clamped ? [...bounded(clamped.index, clamped.most, 1n), ...inner] : inner;
}

/** A sum in which `n` is replaced by `2 * (n / 2)` if `n / 2` is also a factor in the sum. */
function inParts(sum: readonly Monomial[]): readonly Monomial[] {
  const parts = new Map<string, { readonly factor: IndexFactor; readonly divisor: bigint }>();
  for (const { factors } of sum)
    for (const factor of factors) {
      const [whole, by] = factor.term?.arguments ?? [];
      const isPart = factor.isUniform && /^[us]div$/.test(factor.term?.operator ?? '') && by!.operator === 'constant';
      const [{ factors: [own] } = { factors: [] }, ...more] = (isPart && expand(whole!)) || [];
      if (own && more.length === 0 && own.term?.atom) parts.set(own.key, { factor, divisor: by!.value });
    }
  if (parts.size === 0) return sum;
  let written: readonly Monomial[] = [];
  for (const { coefficient, factors } of sum) {
    const scale = factors.reduce((product, { key }) => product * (parts.get(key)?.divisor ?? 1n), coefficient);
    const list = factors.map((factor) => parts.get(factor.key)?.factor ?? factor).sort((a, b) => (a.key < b.key ? -1 : 1));
    written = plusProducts(written, [{ coefficient: scale, factors: list }], 1n);
  }
  return written;
}

/**
 * Guards from every comparison of an index with a bound shared by all threads, whichever side of the branch they are
 * on.
 */
export function allGuards({ symbolic, kernel }: Pick<ShapedKernel, 'symbolic' | 'kernel'>): readonly IndexGuard[] {
  return kernel.blocks.flatMap(({ id }) => {
    const condition = symbolic.condition(id);
    return condition ? guardsOf(condition, 'either') : [];
  });
}

/**
 * A guard of an index that advances in steps: `2 * i < n` is `2 * i < n - 1` if `n` is even.
 * @param multipleOf a constant of which a size is a multiple
 */
export function inSteps(guard: IndexGuard, multipleOf: (size: Term) => bigint): IndexGuard {
  const { index, bound } = guard;
  const step = index.reduce((common, { coefficient }) => gcd(common, coefficient), 0n);
  if (step < 2n) return guard;
  const isMultiple = ({ coefficient, factors }: Monomial): boolean =>
    factors.reduce((product, { term }) => product * (term ? multipleOf(unextended(term)) : 1n), coefficient) % step === 0n;
  return bound.every(isMultiple) ? { index, bound: plusProducts(bound, [{ coefficient: 1n - step, factors: [] }], 1n) } : guard;
}

type Holds = boolean | 'either';

/** Guards by condition, cached because nested branches share conditions. */
const said = new Map<Holds, WeakMap<Term, readonly IndexGuard[]>>([
  [true, new WeakMap()],
  [false, new WeakMap()],
  ['either', new WeakMap()],
]);

/**
 * The guards that a condition implies.
 * @param holds the truth value of the condition; `either`: both values are considered, for each part of the condition
 */
function guardsOf(condition: Term, holds: Holds): readonly IndexGuard[] {
  const known = said.get(holds)!;
  let guards = known.get(condition);
  if (!guards) known.set(condition, (guards = readGuards(condition, holds)));
  return guards;
}

function readGuards(condition: Term, holds: Holds): readonly IndexGuard[] {
  switch (condition.operator) {
    case 'not':
      return guardsOf(condition.arguments[0]!, holds === 'either' ? holds : !holds);
    case 'all':
    case 'any':
      if (holds !== 'either' && holds !== (condition.operator === 'all')) return [];
      return condition.arguments.flatMap((part) => guardsOf(part, holds));
    case 'slt':
    case 'ult': {
      const [a, b] = condition.arguments as [Term, Term];
      return [...(holds === false ? [] : bounded(a, b, 0n)), ...(holds === true ? [] : bounded(b, a, 1n))];
    }
    case 'equal': {
      const [a, b] = condition.arguments as [Term, Term];
      return holds === false ? [] : [...bounded(a, b, 1n), ...bounded(b, a, 1n)];
    }
    default:
      return [];
  }
}

/** The guard for `a < b + more`, with the varying terms on the left. */
function bounded(a: Term, b: Term, more: bigint): readonly IndexGuard[] {
  const [left, right] = [expand(a), expand(b)];
  if (!left || !right) return [];
  const all = plusProducts(left, [...right, { coefficient: more, factors: [] }], -1n);
  const index = all.filter((monomial) => !isCommon(monomial));
  if (index.every(({ coefficient }) => coefficient < 0n)) return [];
  const bound = plusProducts([], all.filter(isCommon), -1n);
  return [{ index, bound }];
}

/**
 * Extents of a part of an index, from its guards, otherwise from the launch.
 * @param start constant added to the part: of `i + 1`, which a guard keeps below `n`, the extent is `n`
 * @returns several extents if the index depends on a condition; empty if neither guards nor launch bound the part
 */
export function indexExtents(
  part: readonly Monomial[],
  guards: readonly IndexGuard[],
  dimensions: Dimensions,
  start = 0n,
): readonly Extent[] {
  let left: readonly Monomial[] = part.filter((monomial) => !isCommon(monomial));
  const extent: { scale: Monomial; limit: readonly Monomial[] }[] = [];
  // A guard of the whole index bounds it more closely than one of a part.
  for (const { index, bound } of guards.toSorted((a, b) => b.index.length - a.index.length)) {
    const scale = scaleOf(left, index);
    if (!scale) continue;
    left = plusProducts(left, times([scale], index) ?? [], -1n);
    const less = -(bound.find(({ factors }) => factors.length === 0)?.coefficient ?? 0n);
    const isShifted = less > 0n && scale.factors.length === 0 && scale.coefficient * less === start;
    extent.push({ scale, limit: isShifted ? plusProducts(bound, [{ ...one, coefficient: less }], 1n) : bound });
  }
  let all: readonly Extent[] = [extent];
  for (const monomial of left) {
    const varying = monomial.factors.filter((factor) => !factor.isUniform);
    const sizes = varying.length === 1 ? valuesOf(varying[0]!.term!, guards, dimensions) : [];
    if (sizes.length * all.length > maxExtents || monomial.coefficient < 0n) return [];
    const factors = monomial.factors.filter((factor) => factor.isUniform);
    const scale = { coefficient: monomial.coefficient, factors };
    all = all.flatMap((before) => sizes.map((limit) => [...before, { scale, limit }]));
  }
  return all;
}

/** Limit on the alternatives of conditionals within an index that are distinguished. */
const maxExtents = 4;

/**
 * The number of values of a thread or block index, of a digit of an index, of bits of either, or of a conditional whose
 * arms are such terms.
 */
function valuesOf(term: Term, guards: readonly IndexGuard[], dimensions: Dimensions): readonly (readonly Monomial[])[] {
  const { atom, operator, arguments: parts } = term;
  if (atom?.kind === 'thread' || atom?.kind === 'block') {
    const of = atom.kind === 'thread' ? 'block' : 'grid';
    const size = dimensions[of][atom.axis];
    return [[size === null ? { coefficient: 1n, factors: [extentFactor(of, atom.axis)] } : { ...one, coefficient: BigInt(size) }]];
  }
  switch (operator) {
    case 'urem':
    case 'srem': {
      const size = expand(parts[1]!);
      return size?.every(isCommon) === true ? [size] : [];
    }
    case 'udiv':
    case 'sdiv': {
      const [by, ...more] = expand(parts[1]!) ?? [];
      if (!by || more.length > 0 || by.coefficient <= 0n || !isCommon(by)) return [];
      return limitsOf(parts[0]!, guards, dimensions).map((limit) => dividedBy(limit, by));
    }
    case 'lshr': {
      const [whole, by] = parts as [Term, Term];
      if (by.operator !== 'constant' || by.value >= BigInt(term.width)) return [];
      return limitsOf(whole, guards, dimensions).map((limit) => dividedBy(limit, { ...one, coefficient: 1n << by.value }));
    }
    case 'and': {
      const mask = parts.find((part) => part.operator === 'constant');
      if (!mask) return [];
      const most = BigInt.asIntN(term.width, mask.value);
      // A negative mask rounds down.
      return most >= 0n
        ? [[{ ...one, coefficient: most + 1n }]]
        : limitsOf(
            parts.find((part) => part !== mask)!,
            guards,
            dimensions,
          );
    }
    case 'select': {
      const arms = parts.slice(1).map((arm) => valuesOf(arm, guards, dimensions));
      return arms.every((sizes) => sizes.length > 0) ? arms.flat() : [];
    }
    default:
      return [];
  }
}

/** Exclusive upper bounds of a whole nonnegative index; empty if unknown. */
function limitsOf(term: Term, guards: readonly IndexGuard[], dimensions: Dimensions): readonly (readonly Monomial[])[] {
  const index = expand(term);
  if (!index) return [];
  const varying = index.filter((part) => !isCommon(part));
  const guard = guards.find((one) => plusProducts(one.index, varying, -1n).length === 0);
  if (guard) return [plusProducts(guard.bound, index.filter(isCommon), 1n)];
  return indexExtents(varying, guards, dimensions).flatMap((extent) => {
    const sum = extentSum(extent, 1n);
    return sum ? [plusProducts(sum, index.filter(isCommon), 1n)] : [];
  });
}

/** The factor by which an index is multiplied in a part of a sum; null if the sum contains no multiple of the index. */
function scaleOf(sum: readonly Monomial[], index: readonly Monomial[]): Monomial | null {
  const [first] = index;
  if (!first) return null;
  for (const monomial of sum) {
    const factors = withoutFactors(monomial.factors, first.factors);
    if (!factors || !factors.every((factor) => factor.isUniform)) continue;
    if (monomial.coefficient % first.coefficient !== 0n) continue;
    const scale = { coefficient: monomial.coefficient / first.coefficient, factors };
    const product = times([scale], index);
    const isPart = product?.every((part) =>
      sum.some((other) => keyOfProduct(other) === keyOfProduct(part) && other.coefficient === part.coefficient),
    );
    if (isPart && scale.coefficient > 0n) return scale;
  }
  return null;
}

/** An extent as a sum of products, in units of `bytes`; null if it is too long. */
export function extentSum(extent: Extent, bytes: bigint): readonly Monomial[] | null {
  let total: readonly Monomial[] = [{ coefficient: bytes, factors: [] }];
  for (const { scale, limit } of extent) {
    const part = times([scale], plusProducts(limit, [one], -1n));
    if (!part) return null;
    total = plusProducts(total, part, 1n);
  }
  return total;
}
