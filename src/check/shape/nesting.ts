/** Nesting of strides: each stride is at least the extent of the part of the index below it. */
import type { Dim3 } from '../../base/dim3.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Term } from '../../term/term.ts';
import { type IndexForm, type IndexGuard, extentSum, indexExtents } from './index-form.ts';
import { type IndexFactor, type Monomial, type ThreadPlace, expand, isCommon, leavesOfFactor, unextended, valueAt } from './monomial.ts';
import { keyOfProduct, plusProducts } from '../../algebra/products.ts';

/** One stride of an access and the extent of the part of the index below it, both in bytes. */
export interface Nesting {
  readonly form: IndexForm;
  readonly stride: Monomial;
  readonly below: readonly Monomial[];
  /** The parts of the index below the stride. */
  readonly parts: readonly Monomial[];
}

/** Whether a stride is at least the extent below it in a launch; null if that is not known. */
export function isNested({ stride, below }: Pick<Nesting, 'stride' | 'below'>, place: ThreadPlace): boolean | null {
  const [size, extent] = [valueAt([stride], place), valueAt(below, place)];
  return size === undefined || extent === undefined ? null : size >= extent;
}

/** Whether the stride with the last parameter is the largest one, or that with the first parameter; null: unknown. */
export type StrideOrder = 'first' | 'last' | null;

/**
 * The strides of an access with the parts of the index below each of them. Below a stride with scalars as factors are
 * the parts with fewer scalars; below a constant stride are the parts with a smaller constant.
 * @param forms all accesses: an offset that divides shared memory is at least the extent of the accesses before it
 */
export function nestingsOf(form: IndexForm, forms: readonly IndexForm[], dimensions: Dimensions, order: StrideOrder): readonly Nesting[] {
  const varying = form.offset.filter((monomial) => !isCommon(monomial));
  const strides = new Map<string, Monomial>();
  for (const { coefficient, factors } of varying) {
    if (coefficient <= 0n) continue;
    const shared = factors.filter((factor) => factor.isUniform);
    const scalars = shared.filter(isScalar);
    // If the index of several threads or blocks advances by rows of one stride, the smallest coefficient is the stride.
    const key = scalars.length > 0 ? scalars.map((factor) => factor.key).join(' ') : String(coefficient);
    const known = strides.get(key);
    const isLess = known && (known.factors.length < shared.length || known.coefficient < coefficient);
    const isOfRows = scalars.length > 0 || (shared.length === 0 && coefficient > BigInt(form.access.bytes));
    if (!isLess && isOfRows) strides.set(key, { coefficient, factors: shared });
  }
  const alike = forms.filter(({ target }) => target.base.key === form.target.base.key);
  const nestings = [...strides.values()]
    .map((stride) => rowStride(stride, form, forms))
    .flatMap((stride) => {
      const below = varying.filter((part) => isBelow(part, stride, order, varying, form.guards));
      // A row also contains the columns that an addend skips: `row * stride + width + x`.
      const skipped = form.offset.filter((part) => isSkipped(part, stride, alike));
      const isOfConstants = stride.factors.length === 0;
      return (isOfConstants && below.length === 0) || isOfSwappedDigits(stride, varying, below)
        ? []
        : reaching(form, form, stride, below, dimensions, elementBytes(form, forms), skipped);
    });
  const { base } = form.target;
  const isShared = base.kind === 'object' && base.object.space === 'shared';
  for (const { coefficient, factors } of form.offset) {
    if (coefficient <= 0n || !factors.some(isScalar) || !factors.every((factor) => factor.isUniform)) continue;
    const stride = { coefficient, factors };
    const isStart = isShared || isOnlyAddend(stride, forms);
    // The memory before the offset has the extent of the other accesses to the array.
    for (const other of isStart ? forms : []) {
      const isSame =
        other.target.base.key === form.target.base.key && !other.offset.some((part) => keyOfProduct(part) === keyOfProduct(stride));
      // A row index that occurs in both accesses shifts both equally.
      const isRow = (part: Monomial): boolean =>
        part.factors.some((factor) => factor.isUniform && isScalar(factor)) &&
        form.offset.some((own) => keyOfProduct(own) === keyOfProduct(part));
      const parts = other.offset.filter((monomial) => !isCommon(monomial) && !isRow(monomial));
      // In global memory, an addend may also be a distance between elements of one part: `a[i] += a[i + offset]`.
      const isElsewhere =
        isShared ||
        plusProducts(
          varying,
          other.offset.filter((part) => !isCommon(part)),
          -1n,
        ).length > 0;
      if (isSame && isElsewhere && parts.length > 0) nestings.push(...reaching(form, other, stride, parts, dimensions, other.access.bytes));
    }
  }
  return nestings;
}

/**
 * Whether a common addend of an index is a parameter that occurs only in such addends, not in a bound or a stride. A
 * quotient (`a[m / 2 + x]`) is computed from a size: the launch decides whether it is large enough.
 */
function isOnlyAddend({ factors }: Monomial, forms: readonly IndexForm[]): boolean {
  const isOwn = (factor: IndexFactor): boolean => factors.some((own) => isOfSame(own, factor));
  if (!factors.every(({ term }) => term && unextended(term).atom?.kind === 'parameter')) return false;
  const isIn = (sum: readonly Monomial[]): boolean => sum.some((part) => part.factors.some(isOwn));
  return !forms.some(({ offset, guards }) => isIn(offset.filter((part) => !isCommon(part))) || guards.some(({ bound }) => isIn(bound)));
}

/**
 * The stride of one row if the index advances by several rows at once: the row stride for rows `2 * y` and `2 * y + 1`.
 */
function rowStride(stride: Monomial, { target }: IndexForm, forms: readonly IndexForm[]): Monomial {
  if (!stride.factors.some(isScalar)) return stride;
  let { coefficient } = stride;
  for (const other of forms) {
    if (other.target.base.key !== target.base.key) continue;
    for (const part of other.offset) {
      const isPart = keyOfProduct(part) === keyOfProduct(stride) && part.coefficient > 0n && part.coefficient < coefficient;
      if (isPart && coefficient % part.coefficient === 0n) ({ coefficient } = part);
    }
  }
  return { ...stride, coefficient };
}

/**
 * Bytes of the element to which an access belongs, including following bytes that other accesses use: for `row[4 * x]`
 * to `row[4 * x + 3]`, four array elements.
 */
function elementBytes({ access, target, offset }: IndexForm, forms: readonly IndexForm[]): number {
  const steps = offset.filter((part) => !isCommon(part) && !part.factors.some((factor) => factor.isUniform));
  const element = steps.reduce((least, { coefficient }) => (coefficient > 0n && coefficient < least ? coefficient : least), maxElement);
  let most = BigInt(access.bytes);
  for (const other of forms) {
    if (other.target.base.key !== target.base.key) continue;
    const difference = plusProducts(other.offset, offset, -1n);
    const [distance = { coefficient: 0n, factors: [] }, ...rest] = difference;
    const end = distance.coefficient + BigInt(other.access.bytes);
    if (rest.length === 0 && distance.factors.length === 0 && distance.coefficient > 0n && end <= element && end > most) most = end;
  }
  return Number(most);
}

/** Whether a bound can be computed from launch and scalars only, without functions such as those on floats. */
function isComputable(bound: readonly Monomial[], dimensions: Dimensions): boolean {
  const extents = (sizes: readonly (number | null)[]): Dim3 => [sizes[0] ?? 1, sizes[1] ?? 1, sizes[2] ?? 1];
  const [block, grid, first] = [extents(dimensions.block), extents(dimensions.grid), [0, 0, 0] as const];
  return valueAt(bound, { block, grid, thread: first, blockIndex: first, scalar: () => 1n }) !== undefined;
}

/** Limit on the size of an element that is composed of several accesses. */
const maxElement = 256n;

function reaching(
  form: IndexForm,
  other: IndexForm,
  stride: Monomial,
  below: readonly Monomial[],
  dimensions: Dimensions,
  bytes: number,
  skipped: readonly Monomial[] = [],
): Nesting[] {
  const guards = other.guards.filter(({ bound }) => isComputable(bound, dimensions));
  const start = other.offset.find(({ factors }) => factors.length === 0)?.coefficient;
  return indexExtents(below, guards, dimensions, start).flatMap((extent) => {
    const sum = extentSum(extent, BigInt(bytes));
    return sum ? [{ form, stride, parts: below, below: plusProducts(sum, skipped, 1n) }] : [];
  });
}

/** Whether a part of an index has a smaller step than a stride. */
function isBelow(
  part: Monomial,
  stride: Monomial,
  order: StrideOrder,
  varying: readonly Monomial[],
  guards: readonly IndexGuard[],
): boolean {
  const { coefficient, factors } = part;
  const own = factors.filter((factor) => factor.isUniform);
  const [one, other] = [own, stride.factors].map((list) => list.filter(isScalar).flatMap(scalarsOf)) as [number[], number[]];
  if (one.length + other.length > 0) {
    // `d` is below `tokens * d`, in every order.
    const [few, many] = one.length < other.length ? [one, other] : [other, one];
    if (few.every((scalar) => many.includes(scalar))) return one.length < other.length;
    if (isLastDigit(part, varying, guards)) return false;
    if (partsOf(stride, varying).some((own) => isLastDigit(own, varying, guards))) return true;
    if (order === null) return false;
    // `batch * batchStride + (head * tokens + token) * d`: the last parameter, or the first one, has the largest stride.
    const [mine, its] = [one, other].map((list) => (order === 'last' ? Math.max(...list) : -Math.min(...list))) as [number, number];
    return mine === its ? one.length < other.length : mine < its;
  }
  const [x, y] = [own.length, stride.factors.length];
  // A flat index of threads is below every larger constant stride; a guard bounds it, or nothing does.
  return y === 0 && coefficient > 0n && coefficient < stride.coefficient && (x === 0 || isFlat(part, varying));
}

/**
 * Whether a product with extents of the launch is a part of a flat index of threads: `blockIdx.x * blockDim.x`, or the
 * step of a loop over the grid. Others are indices of rows: `row * (gridDim.x * 16)`.
 */
function isFlat({ coefficient, factors }: Monomial, varying: readonly Monomial[]): boolean {
  const own = factors.filter((factor) => !factor.isUniform);
  const extents = factors.filter((factor) => factor.isUniform).map(({ key }) => key);
  const [index] = own;
  if (own.length !== 1 || !index) return false;
  if (index.key.startsWith('block.')) return extents.every((key) => key === `blockDim.${index.key.slice(-1)}`);
  const [grid, ...others] = extents.filter((key) => key.startsWith('gridDim.'));
  if (grid === undefined) return index.term?.atom?.kind === 'iteration';
  const blocks = `block.${grid.slice(-1)}`;
  const isOfBlocks = (part: Monomial): boolean => part.coefficient === coefficient && part.factors.some(({ key }) => key === blocks);
  return index.term?.atom?.kind === 'iteration' && others.length === 0 && varying.some(isOfBlocks);
}

/**
 * Whether a uniform addend of an index skips columns of a row. Then it is a multiple of a size that bounds an index of
 * the same memory and that is not a factor of the stride.
 */
function isSkipped(part: Monomial, stride: Monomial, alike: readonly IndexForm[]): boolean {
  const sizes = part.factors.filter(isScalar);
  if (part.coefficient <= 0n || !isCommon(part) || sizes.length === 0 || !stride.factors.some(isScalar)) return false;
  return sizes.every(
    (size) =>
      !stride.factors.some(({ key }) => key === size.key) &&
      alike.some(({ guards }) =>
        guards.some(({ bound }) => bound.some((one) => one.coefficient > 0n && one.factors.some((factor) => isOfSame(factor, size)))),
      ),
  );
}

/** Whether two factors are one scalar, or one is computed from the other: `n / 2` and `n`. */
function isOfSame(a: IndexFactor, b: IndexFactor): boolean {
  const [some, all] = [leavesOfFactor(a), leavesOfFactor(b)];
  return a.key === b.key || (some.length > 0 && all.length > 0 && all.every((leaf) => some.includes(leaf)));
}

/**
 * Whether a part is the last digit of a number that the index divides, and nothing bounds the number: `i / (h * w)` where
 * the index has `i % (h * w)`, too. No stride can exceed the extent of this digit, so its own stride is the largest.
 */
function isLastDigit({ factors }: Monomial, varying: readonly Monomial[], guards: readonly IndexGuard[]): boolean {
  return factors.some(({ term, isUniform }) => {
    if (isUniform || !term || !/^[us]div$/.test(term.operator)) return false;
    const number = unextended(term.arguments[0]!);
    if (number.operator.endsWith('rem')) return false;
    const isRest = (other: Term): boolean => {
      const { operator, arguments: parts } = unextended(other);
      if (!/^[us](?:div|rem)$/.test(operator)) return false;
      return (operator.endsWith('rem') && unextended(parts[0]!) === number) || isRest(parts[0]!);
    };
    const isDivided = varying.some((part) => part.factors.some((factor) => factor.term !== null && isRest(factor.term)));
    const whole = expand(number)?.filter((part) => !isCommon(part));
    const isBounded = (guard: IndexGuard): boolean => whole !== undefined && plusProducts(guard.index, whole, -1n).length === 0;
    return isDivided && !guards.some(isBounded);
  });
}

/** The parts of an index with a stride. */
function partsOf({ factors: [own, ...more] }: Monomial, varying: readonly Monomial[]): readonly Monomial[] {
  return varying.filter(({ factors }) => {
    const [only, ...others] = factors.filter(({ isUniform }) => isUniform);
    return (
      own !== undefined && only?.key === own.key && others.length === more.length && others.every(({ key }, at) => key === more[at]!.key)
    );
  });
}

/**
 * Whether a digit has its own divisor as stride, and the quotient that belongs to it is below: for `(i % d) * d + i /
 * d`, `d` bounds the digit and not the quotient, so that both orders are representative.
 */
function isOfSwappedDigits(stride: Monomial, varying: readonly Monomial[], below: readonly Monomial[]): boolean {
  const [divisor, ...others] = stride.factors;
  if (!divisor?.term || others.length > 0) return false;
  const dividedIn = (parts: readonly Monomial[], operator: RegExp): readonly Term[] =>
    parts.flatMap(({ factors }) =>
      factors.flatMap(({ term }) =>
        term && operator.test(term.operator) && term.arguments[1] === divisor.term ? [term.arguments[0]!] : [],
      ),
    );
  const ofStride = partsOf(stride, varying);
  const quotients = dividedIn(below, /^[us]div$/);
  return dividedIn(ofStride, /^[us]rem$/).some((number) => quotients.includes(number));
}

/** Bytes that distinguish a parameter from the fields of the one before it. */
const parameterSize = 4096;

/** The scalars of a factor, in the order of the parameters: the same for `d` and `d / 2`. */
function scalarsOf(factor: IndexFactor): readonly number[] {
  return leavesOfFactor(factor).flatMap(({ atom, id }) =>
    atom?.kind === 'parameter' ? [atom.index * parameterSize + atom.offset] : [-id],
  );
}

function isScalar({ term }: IndexFactor): boolean {
  return term !== null;
}
