/**
 * How a kernel uses its scalars and threads: as sizes, strides, masks, divisors, lanes of a warp, and the constants in
 * the same expressions.
 */
import { participantsOf } from '../../isa/model/effect.ts';
import { registersRead } from '../../ir/special-registers.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { Term } from '../../term/term.ts';
import { fieldAt } from '../context/scalars.ts';
import type { IndexForm, IndexGuard, ShapedKernel } from './index-form.ts';
import { type IndexFactor, type Monomial, isCommon, unextended } from './monomial.ts';

/** How a kernel uses an unspecified scalar. */
export interface Scalar {
  readonly field: ParameterField;
  /** Whether the scalar bounds an index or a loop. */
  readonly isSize: boolean;
  /** Whether the kernel handles a remainder, since it compares an index of single elements with the scalar. */
  readonly handlesRest: boolean;
  /** Whether the scalar is a factor of an index. */
  readonly isStride: boolean;
  /** Whether an index is masked with the scalar: with `m - 1`, where `m` is a size, or with `m`. */
  readonly mask: 'size' | 'bits' | null;
  /** Whether the scalar is a distance between elements of one range: `i + k < n` with `a[i + k]`, or `a[i - k]`. */
  readonly isShift: boolean;
  /** Whether an index is divided by the scalar or by a product with it. */
  readonly isDivisor: boolean;
  /** Whether the scalar is divided by other ones, so that a size is the quotient. */
  readonly isDividend: boolean;
  /** Whether an index of blocks is divided by the scalar, and depends on nothing else. */
  readonly dividesBlocks: boolean;
  /** Constants by which bounds of loops divide the scalar. */
  readonly tiles: readonly bigint[];
  /** Constants by which offsets divide the scalar. */
  readonly divisors: readonly bigint[];
  /** Constants by which the kernel divides the scalar, where it handles the remainder; ascending. */
  readonly rests: readonly bigint[];
  /** Constants that the scalar is compared with. */
  readonly constants: readonly bigint[];
}

/** How a kernel uses its scalars and threads. */
export interface Roles {
  readonly scalars: readonly Scalar[];
  /** Whether the kernel divides thread indices by the size of a warp, or exchanges values within warps. */
  readonly usesWarps: boolean;
  /** For each axis of the block, whether the thread index is read only as part of the linear thread index. */
  readonly rankOnly: readonly boolean[];
  /** Constants that indices are compared with or multiplied by. */
  readonly constants: ReadonlySet<bigint>;
  /** The largest constant modulus of an index over the grid; 1 if none exists. */
  readonly ring: bigint;
  /** Divisors in the kernel that depend on the launch only. */
  readonly divisors: readonly Term[];
  /** Scalars that must be a multiple of a launch-dependent number of parts: an index is divided by the quotient. */
  readonly wholes: readonly Whole[];
}

/** The scalar `n` and the number of parts, if an index is decomposed by `n / parts`. */
interface Whole {
  readonly field: ParameterField;
  readonly parts: Term;
}

/** Whether an atom is a scalar. */
export function isField(leaf: Term, { index, offset, bytes }: ParameterField): boolean {
  const { atom } = leaf;
  return atom?.kind === 'parameter' && atom.index === index && atom.offset === offset && atom.bytes === bytes;
}

/**
 * Collects the uses of the scalars and threads of a kernel.
 * @param forms of its accesses
 * @param guards all comparisons of indices with uniform bounds
 */
export function rolesOf(shaped: ShapedKernel, forms: readonly IndexForm[], guards: readonly IndexGuard[]): Roles {
  const { kernel, open, isComputed } = shaped;
  const terms = allTerms(shaped);
  const offsets = allTerms(shaped, true);
  const constants = new Set<bigint>();
  for (const term of terms) for (const met of constantsMet(term)) constants.add(met);
  const starts = halvedStarts(shaped);
  const scalars = open.map(({ field, divisors: tied }): Scalar => {
    const isOwn = (leaf: Term): boolean => isField(leaf, field);
    const uses = terms.filter(({ leaves }) => leaves.some(isOwn));
    const bounding = guards.filter(({ index, bound }) =>
      [...bound, ...index.filter((part) => !isPlain(part))].some((part) => mentions(part, isOwn)),
    );
    // A bound such as `n - n / 2` takes care of the rest.
    const isPart = ({ term }: IndexFactor, by: bigint): boolean =>
      term !== null && subterms(term).some((part) => divisorOf(part, isOwn).includes(by));
    const handlesParts = (by: bigint): boolean =>
      guards.some(
        ({ bound }) =>
          bound.some((part) => part.coefficient > 0n && mentionsPlainly(part, isOwn)) &&
          bound.some(({ coefficient, factors }) => coefficient < 0n && factors.some((factor) => isPart(factor, by))),
      );
    const byParts = [...new Set([...offsets.flatMap((term) => divisorOf(term, isOwn)), ...tied])];
    const divisions = uses.filter(({ operator, arguments: [whole] }) => /^[us](?:div|rem)$/.test(operator) && isOfThreads(whole!));
    const divided = divisions.filter((one) => isOwn(scaled(one.arguments[1]!))).map((one) => one.arguments[0]!);
    return {
      field,
      isSize: bounding.length > 0 || starts.some(({ leaves }) => leaves.some(isOwn)),
      handlesRest: bounding.some(({ index, bound }) => bound.some((part) => mentionsPlainly(part, isOwn)) && index.some(isOfPlace)),
      isStride: forms.some(({ offset }) =>
        offset.some((part) => !isCommon(part) && mentions({ ...part, factors: part.factors.filter(({ isUniform }) => isUniform) }, isOwn)),
      ),
      mask: maskOf(uses, isOwn),
      isShift: forms.some(({ offset, guards: own }) => isShiftIn(offset, own, isOwn)),
      isDividend: uses.some(
        ({ operator, arguments: [whole, by] }) =>
          /^[us]div$/.test(operator) &&
          whole!.leaves.some(isOwn) &&
          by!.leaves.some((leaf) => leaf.atom?.kind === 'parameter' && !isOwn(leaf)),
      ),
      isDivisor: divisions.some((one) => one.arguments[1]!.leaves.some(isOwn)),
      dividesBlocks: divided.some(({ leaves }) => leaves.every(({ atom }) => atom!.kind === 'block')),
      tiles: [...new Set(uses.flatMap((term) => divisorOf(term, isOwn)))],
      divisors: byParts.filter((by) => !handlesParts(by)),
      rests: byParts.filter(handlesParts).toSorted((a, b) => Number(a - b)),
      constants: [...new Set(uses.flatMap((term) => comparedWith(term, isOwn)))],
    };
  });
  const usesWarps =
    kernel.blocks.some(({ instructions }) =>
      instructions.some(
        ({ operation }) =>
          /^(lanes|warp|warpgroup)$/.test(participantsOf(operation.effect)) || /^(shfl|vote|redux|match)/.test(operation.mnemonic),
      ),
    ) || terms.some(dividesByWarp);
  // The same applies to an axis whose extent the program computes and the kernel does not read: the extent may exceed
  // 1.
  const isUnread = (axis: number): boolean => !terms.some(({ atom }) => atom?.kind === 'thread' && atom.axis === axis);
  const read = registersRead(kernel);
  const rankOnly = ([0, 1, 2] as const).map((axis) => isRankOnly(terms, axis, read) && !(isComputed[axis] === true && isUnread(axis)));
  const ring = offsets.flatMap(ringOf).reduce((most, size) => (size > most ? size : most), 1n);
  const divisors = [
    ...new Set(terms.flatMap(({ operator, arguments: [, by] }) => (/^[us](?:div|rem)$/.test(operator) && isOfLaunch(by!) ? [by!] : []))),
  ];
  const wholes = divisors.flatMap((divisor): Whole[] => {
    const [whole, parts] = divisor.arguments;
    const field = /^[us]div$/.test(divisor.operator) ? fieldOf(shaped, whole!) : undefined;
    return field && isOfLaunch(parts!) ? [{ field, parts: parts! }] : [];
  });
  return { scalars, usesWarps, rankOnly, constants, ring, divisors, wholes };

  function isOfPlace(part: Monomial): boolean {
    return part.factors.some(({ term }) => term?.atom?.kind === 'thread' || term?.atom?.kind === 'block');
  }
  function isPlain(part: Monomial): boolean {
    return part.factors.every(({ term }) => term !== null && term.atom !== null && term.atom.kind !== 'parameter');
  }
  function mentionsPlainly(part: Monomial, isOwn: (leaf: Term) => boolean): boolean {
    return part.factors.some(({ term }) => term !== null && isOwn(term));
  }
}

/** What loops start from that halve a variable, or divide it by another constant, in each iteration. */
function halvedStarts({ kernel, symbolic }: ShapedKernel): readonly Term[] {
  return kernel.loops.flatMap(({ header, latches }) => {
    const { phis, predecessors } = kernel.blocks[header]!;
    return phis.flatMap(({ result, inputs }): Term[] => {
      const terms = inputs.map((input) => symbolic.operand(input));
      const isOfLoop = (at: number): boolean => latches.includes(predecessors[at]!);
      const isHalved = (term: Term): boolean =>
        /^(?:[al]shr|[us]div)$/.test(unextended(term).operator) &&
        term.leaves.some(({ atom }) => (atom?.kind === 'phi' || atom?.kind === 'havoc') && atom.value === result);
      const next = terms.filter((_, at) => isOfLoop(at));
      return next.length > 0 && next.every(isHalved) ? terms.filter((_, at) => !isOfLoop(at)) : [];
    });
  });
}

function maskOf(uses: readonly Term[], isOwn: (leaf: Term) => boolean): Scalar['mask'] {
  const masking = uses.flatMap(({ operator, arguments: parts }) => (operator === 'and' && parts.some(isOfThreads) ? parts : []));
  const isLessOne = ({ operator, width, value, arguments: [inner, ...others] }: Term): boolean =>
    operator === 'sum' && BigInt.asIntN(width, value) === -1n && others.length === 0 && isOwn(scaled(inner!));
  if (masking.some(isLessOne)) return 'size';
  return masking.some((part) => isOwn(scaled(part))) ? 'bits' : null;
}

function isOfThreads({ leaves }: Term): boolean {
  return leaves.some(({ atom }) => /^(?:thread|block|iteration)$/.test(atom!.kind));
}

/** Whether a scalar is added to an index or subtracted from it, and a guard keeps the sum in the range of the index. */
function isShiftIn(offset: readonly Monomial[], guards: readonly IndexGuard[], isOwn: (leaf: Term) => boolean): boolean {
  const isAlone = ({ factors: [only, ...others] }: Monomial): boolean =>
    others.length === 0 && only?.term !== null && only !== undefined && isOwn(scaled(only.term));
  const isStride = offset.some((part) => !isCommon(part) && mentions(part, isOwn));
  const isExtent = guards.some(({ bound }) => bound.some((one) => one.coefficient > 0n && isAlone(one)));
  if (isStride || isExtent) return false;
  return offset.some((part) => {
    if (!isAlone(part)) return false;
    if (part.coefficient < 0n) return true;
    return guards.some(
      ({ bound }) => bound.some((one) => one.coefficient < 0n && isAlone(one)) && bound.some(({ coefficient }) => coefficient > 0n),
    );
  });
}

/** Whether a term depends on launch and scalars only, and is not constant. */
function isOfLaunch({ leaves }: Term): boolean {
  return leaves.length > 0 && leaves.every(({ atom }) => /^(?:parameter|block-size|grid-size)$/.test(atom!.kind));
}

function mentions({ factors }: Monomial, isOwn: (leaf: Term) => boolean): boolean {
  return factors.some(({ term }) => term?.leaves.some(isOwn) === true);
}

/** A term with conversions, shifts, and constant divisors or factors removed. */
function scaled(term: Term): Term {
  const [inner, by] = term.arguments;
  if (/^(sext|zext|trunc|[al]shr|shl)$/.test(term.operator)) return scaled(inner!);
  const isDivided = /^[us]div$/.test(term.operator) && by!.operator === 'constant';
  const isMultiple = term.operator === 'sum' && term.arguments.length === 1 && term.value === 0n;
  return isDivided || isMultiple ? scaled(inner!) : term;
}

/** The constants by which a term divides a scalar: one or none. */
function divisorOf(term: Term, isOwn: (leaf: Term) => boolean): bigint[] {
  const [a, b] = term.arguments;
  if (!a || b?.operator !== 'constant' || !a.leaves.some(isOwn) || a.leaves.some((leaf) => !isOwn(leaf))) return [];
  if (/^[us]div$/.test(term.operator)) return [b.value];
  return /^[al]shr$/.test(term.operator) && b.value < 16n ? [1n << b.value] : [];
}

function comparedWith(term: Term, isOwn: (leaf: Term) => boolean): bigint[] {
  if (!/^(slt|ult|equal)$/.test(term.operator)) return [];
  const [a, b] = term.arguments as [Term, Term];
  const [constant, other] = a.operator === 'constant' ? [a, b] : [b, a];
  if (constant.operator !== 'constant' || !other.leaves.every(isOwn)) return [];
  const value = BigInt.asIntN(constant.width, constant.value);
  return (value > 0n || (value === 0n && term.operator === 'equal')) && value < 1n << 30n ? [value] : [];
}

/** Constants that an index is compared with or multiplied by, within the range of possible extents and sizes. */
function constantsMet(term: Term): bigint[] {
  const found: bigint[] = [];
  if (/^(slt|ult|equal)$/.test(term.operator)) {
    for (const part of term.arguments) if (part.operator === 'constant') found.push(part.value);
  }
  if (term.operator === 'sum' && term.width === 32) found.push(...term.coefficients);
  return found.filter((value) => value >= 8n && value <= largestConstant);
}

/** The constant modulus of an index over the grid; empty if the term is not a remainder of such an index. */
function ringOf({ operator, arguments: [a, b] }: Term): bigint[] {
  const isRemainder = operator === 'and' || operator === 'urem' || operator === 'srem';
  if (!isRemainder || b?.operator !== 'constant' || !a!.leaves.some(({ atom }) => atom?.kind === 'block')) return [];
  const size = operator === 'and' ? b.value + 1n : b.value;
  return (operator !== 'and' || (b.value & size) === 0n) && size <= largestConstant ? [size] : [];
}

const warpSize = 32n;
/** Limit on constants that may be extents of a block or sizes. */
const largestConstant = 4096n;

function dividesByWarp(term: Term): boolean {
  const [a, b] = term.arguments;
  if (!a || b?.operator !== 'constant' || !a.leaves.some(({ atom }) => atom?.kind === 'thread')) return false;
  if (term.operator === 'and') return b.value === warpSize - 1n;
  if (/^[us](div|rem)$/.test(term.operator)) return b.value === warpSize;
  return /^[al]shr$/.test(term.operator) && b.value === 5n;
}

/** The terms in a kernel's conditions and indices, including all subterms. */
function allTerms({ symbolic, kernel, accesses }: ShapedKernel, indicesOnly = false): readonly Term[] {
  const seen = new Set<Term>();
  const visit = (term: Term): void => {
    if (seen.has(term) || seen.size > maxTerms) return;
    seen.add(term);
    term.arguments.forEach(visit);
  };
  for (const { targets } of accesses) for (const { offset } of targets) visit(offset);
  if (!indicesOnly) {
    for (const { block, targets } of accesses) {
      visit(symbolic.reach(block));
      for (const { condition } of targets) visit(condition);
    }
    for (const { id } of kernel.blocks) {
      const condition = symbolic.condition(id);
      if (condition) visit(condition);
    }
  }
  return [...seen];
}

/** A term with all its subterms. */
function subterms(term: Term): readonly Term[] {
  const seen = new Set<Term>([term]);
  for (const one of seen) for (const part of one.arguments) if (seen.size < maxTerms) seen.add(part);
  return [...seen];
}

/** Maximum number of analyzed terms. */
const maxTerms = 20_000;

/** Whether the thread index along an axis is used only in the linear thread index. */
function isRankOnly(terms: readonly Term[], axis: number, read: ReadonlySet<string>): boolean {
  if (axis === 0) return false;
  const isAxis = ({ atom }: Term): boolean => atom?.kind === 'thread' && atom.axis === axis;
  const isSize = ({ atom }: Term, of: number): boolean => atom?.kind === 'block-size' && atom.axis === of;
  const factors = (term: Term): readonly Term[] => (term.operator === 'mul' ? term.arguments.flatMap(factors) : [term]);
  const isRankPart = (term: Term): boolean => {
    const all = factors(term);
    return all.some(isAxis) && all.length === axis + 1 && [0, 1].slice(0, axis).every((of) => all.some((part) => isSize(part, of)));
  };
  const users = terms.filter(({ arguments: parts }) => parts.some((part) => isAxis(part) || isRankPart(part)));
  // An index that no address and no condition contains is stored. The lane, which may be stored as well, is a rank.
  const isStored = users.length === 0 && read.has(`tid.${'xyz'[axis]}`);
  return (
    !isStored &&
    users.every(
      (term) =>
        isRankPart(term) ||
        (term.operator === 'mul' && term.arguments.every((part) => isAxis(part) || isSize(part, 0) || isSize(part, 1))) ||
        (term.operator === 'sum' &&
          term.arguments.every((part, at) => {
            if (isAxis(part)) return false;
            if (!isRankPart(part)) return true;
            const x = term.arguments.findIndex(({ atom }) => atom?.kind === 'thread' && atom.axis === 0);
            return x !== -1 && term.coefficients[x] === term.coefficients[at];
          })),
    )
  );
}

/** The scalar that an atom denotes, if the kernel reads it; undefined otherwise. */
export function fieldOf(context: Pick<ShapedKernel, 'fields'>, leaf: Term): ParameterField | undefined {
  const { atom } = leaf;
  return atom?.kind === 'parameter' ? fieldAt(context, atom.index, atom.offset) : undefined;
}
