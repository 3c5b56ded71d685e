/**
 * Representative launches: dimensions and scalars as programs use them, for what options, configuration, annotations
 * and the host program leave unspecified. A race that only other launches show is not a finding.
 */
import { type Dim3, extentProduct } from '../../base/dim3.ts';
import { seededRandom } from '../../base/random.ts';
import { threadLimit } from '../../analysis/values/launch-bounds.ts';
import { type Lookup, evaluateCondition } from '../../assumptions/evaluate.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import { isFloat } from '../../launch/parameter-field.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { comparedSizes } from '../context/named-term.ts';
import { givenScalar, lookupIn, memoryOf } from '../context/scalars.ts';
import { conditionsOf, scalarBounds } from '../premises/premises.ts';
import { type IndexShape, indexShapeOf } from '../shape/index-shape.ts';
import { type ThreadPlace, atomValue } from '../shape/monomial.ts';
import { isNested } from '../shape/nesting.ts';
import type { Scalar } from '../shape/roles.ts';
import { blockShapes } from './block-shape.ts';
import { type LaunchPlan, samples, sampledPlan, gridOf, groupsOfBlocks, plans } from './plan.ts';
import {
  boundsIndex,
  chooseDigits,
  chooseShifts,
  chooseSizes,
  chooseStrides,
  declaredType,
  fieldKey,
  keyOfScalar,
  isIn,
  largestStride,
  otherValue,
} from './scalar-sizes.ts';
import {
  dividedGrid,
  listedValues,
  raisedScalars,
  sizeForGrid,
  tiedDivisors,
  tiedGrid,
  tiedScalars,
  unreadSizes,
} from './launch-constraints.ts';

/** The dimensions of a launch and the values of its scalars. */
export interface LaunchInstance {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** The bits of a scalar. */
  readonly scalar: (field: ParameterField) => bigint;
  readonly isLarge: boolean;
  /** Whether sizes fill whole blocks and a remainder that the kernel handles, as few sizes of programs do. */
  readonly isWhole?: boolean;
}

/** Sizes below this are not large. */
const fewElements = 4n;

/** Cached by kernel and launch, since every question uses the same instances. */
const known = new WeakMap<object, KernelLaunches>();

interface KernelLaunches {
  readonly shape: IndexShape;
  /** Null if no question needed them yet: a check that only looks for a proof needs no more than the shape. */
  settings: readonly LaunchInstance[] | null;
  readonly sampled: Map<boolean, readonly LaunchInstance[]>;
}

/**
 * The representative launches of a kernel, small ones first. Given values are the same in all of them. Each satisfies
 * the stated assumptions.
 */
export function representativeLaunches(context: KernelAndLaunch & SymbolicFacts): readonly LaunchInstance[] {
  const launches = ofKernel(context);
  return (launches.settings ??= plannedLaunches(context, launches.shape));
}

/** The shape of the kernel's indices under a launch, cached. */
export function shapeOf(context: KernelAndLaunch & SymbolicFacts): IndexShape {
  return ofKernel(context).shape;
}

/**
 * Samples of large representative launches, with values spread over all representative ones: for questions about
 * terms, since they are too many to run. The same for every call.
 * @param hasIdleBlocks whether all blocks but one may be idle along each axis
 */
export function sampledLaunches(context: KernelAndLaunch & SymbolicFacts, hasIdleBlocks: boolean): readonly LaunchInstance[] {
  const launches = ofKernel(context);
  const earlier = launches.sampled.get(hasIdleBlocks);
  if (earlier) return earlier;
  const random = seededRandom(samples.seed);
  const draw = (): LaunchInstance | null => settingOf(context, launches.shape, sampledPlan(random, hasIdleBlocks));
  // Sizes of a few elements are exceptions of many conditions: a matrix of one row.
  const isFew = ({ scalar }: LaunchInstance): boolean =>
    hasIdleBlocks &&
    launches.shape.scalars.some(({ field, isSize }) => isSize && BigInt.asIntN(8 * field.bytes, scalar(field)) < fewElements);
  const found = Array.from({ length: samples.count }, draw)
    .filter((launch) => launch !== null)
    .filter((launch) => !isFew(launch));
  launches.sampled.set(hasIdleBlocks, found);
  return found;
}

function ofKernel(context: KernelAndLaunch & SymbolicFacts): KernelLaunches {
  const found = known.get(context.symbolic);
  if (found) return found;
  const { kernel, request, fields } = context;
  const { axes } = request.launch;
  const isOpen = (field: ParameterField): boolean =>
    !field.isPointer &&
    !isFloat(kernel, request.parameters, field) &&
    givenScalar(request.launch, field.index, field.offset, field.bytes) === undefined;
  const shape = indexShapeOf({
    ...context,
    stated: comparedSizes(context),
    open: fields.filter(isOpen).map((field) => ({ field, divisors: tiedDivisors(context, field) })),
    isComputed: [0, 1, 2].map((axis) => axes?.block[axis] === 'computed'),
  });
  const made: KernelLaunches = { shape, settings: null, sampled: new Map() };
  known.set(context.symbolic, made);
  return made;
}

/** A launch instance for each plan, without repetitions. */
function plannedLaunches(context: KernelAndLaunch & SymbolicFacts, shape: IndexShape): readonly LaunchInstance[] {
  const unique = new Map<string, LaunchInstance>();
  const hasRests = shape.scalars.some(({ rests }) => rests.length > 0);
  for (const plan of plans) {
    if (plan.isWhole && !hasRests) continue;
    const setting = settingOf(context, shape, plan);
    // If everything is given, all plans yield the same launch instance.
    if (setting) unique.set(keyOf(context, setting), setting);
  }
  return [...unique.values()];
}

function keyOf({ fields }: KernelAndLaunch, { block, grid, scalar }: LaunchInstance): string {
  return [block, grid, ...fields.filter((field) => !field.isPointer).map(scalar)].join(';');
}

function settingOf(context: KernelAndLaunch & SymbolicFacts, shape: IndexShape, plan: LaunchPlan): LaunchInstance | null {
  const all = blockShapes(context, shape, plan.isLarge);
  const fewer = plan.random ? all.shapes.slice(0, all.wanted).filter((extents) => extentProduct(extents) <= fewThreads) : [];
  const { wanted: count, shapes } = fewer.length > 0 ? { wanted: fewer.length, shapes: fewer } : all;
  if (shapes.length === 0) return null;
  // The shapes are ordered by how well they suit the kernel.
  const wanted = shapes[Math.min(Math.max(plan.shape, 0), count - 1)]!;
  const isGiven = !context.dimensions.block.includes(null);
  let fallback: LaunchInstance | null = null;
  for (const block of [wanted, ...shapes]) {
    if (excludesBlock(context, block)) continue;
    const setting = withScalars(context, shape, plan, block);
    // A given block may be too large for an array, which a run will show.
    if (setting && (isGiven || staysInBounds(context, setting))) return setting;
    fallback ??= setting;
  }
  return fallback;
}

/** Threads of a block of a sample, if the kernel suggests no larger one. */
const fewThreads = 256;

/** Chooses scalars for a block and the plan's grid. */
function planned(context: KernelAndLaunch & SymbolicFacts, shape: IndexShape, plan: LaunchPlan, block: Dim3): LaunchInstance | null {
  const { dimensions, fields, kernel, request } = context;
  const grid = gridOf(dimensions, shape, plan, block);
  const values = new Map<string, bigint>();
  const given = (field: ParameterField): bigint | undefined => givenScalar(request.launch, field.index, field.offset, field.bytes);
  for (const field of fields) {
    const value = given(field) ?? pinned(context, field);
    if (value !== undefined) values.set(fieldKey(field), value);
    else if (isFloat(kernel, request.parameters, field)) values.set(fieldKey(field), field.bytes === 8 ? 0x3ff0000000000000n : 0x3f800000n);
  }
  const open = shape.scalars.filter(({ field }) => !values.has(fieldKey(field)));
  const last = (extents: Dim3): Dim3 => [extents[0] - 1, extents[1] - 1, extents[2] - 1];
  const place: ThreadPlace = {
    block,
    grid,
    thread: last(block),
    blockIndex: last(grid),
    scalar: (index, offset, bytes) => values.get(keyOfScalar(index, offset, bytes)),
  };
  const set = (scalar: Scalar, value: bigint): void =>
    void values.set(fieldKey(scalar.field), fitting(context, scalar, value, plan.isLarge));
  for (const scalar of open) if (scalar.isShift) set(scalar, 1n);
  chooseSizes(context, shape, open, plan, place, values, set);
  chooseShifts(shape, open, plan, place, set);
  chooseDigits(shape, open, plan, place, set);
  const chosen = { block, grid, scalar: (field: ParameterField) => values.get(fieldKey(field)) };
  for (const [at, scalar] of open.filter(({ field }) => !values.has(fieldKey(field))).entries()) {
    const size = plan.isTiny ? undefined : sizeForGrid(context, scalar.field, chosen, plan.rest);
    if (size !== undefined) set(scalar, size);
    else if (scalar.isStride) continue;
    else if (scalar.dividesBlocks) set(scalar, groupsOfBlocks(plan, grid));
    else set(scalar, otherValue(context, scalar, plan, at, values));
  }
  const isOpen = (field: ParameterField): boolean => open.some((one) => one.field === field);
  // A raised value may be below a stride.
  for (let round = 0; round < 2; round++) {
    chooseStrides(context, shape, open, plan, place, values, set);
    for (const [field, value] of raisedScalars(context, chosen, isOpen))
      set(
        open.find((one) => one.field === field)!,
        value,
      );
    wholeParts(shape, open, place, values, set);
  }
  for (const [field, value] of unreadSizes(context, chosen, plan.rest)) values.set(fieldKey(field), value);
  const divided = { ...chosen, grid: dividedGrid(context, chosen, plan.random) };
  const ties = [...tiedScalars(context, divided, isOpen)].filter(([field, value]) => values.get(fieldKey(field)) !== value);
  for (const [field, value] of ties) values.set(fieldKey(field), value);
  // An extent that the grid determines may exceed the stride above it.
  if (ties.length > 0)
    chooseStrides(
      context,
      shape,
      open.filter(({ field }) => !ties.some(([tied]) => tied === field)),
      plan,
      place,
      values,
      set,
    );
  const tied = tiedGrid(context, divided);
  if (!tied) return null;
  // A sample whose sizes leave one block shows nothing about several.
  if (plan.random && plan.hasIdleBlocks !== true && tied.some((size, axis) => size === 1 && grid[axis]! > 1)) return null;
  const scalarOf =
    (of: ReadonlyMap<string, bigint>) =>
    (field: ParameterField): bigint =>
      BigInt.asUintN(8 * field.bytes, of.get(fieldKey(field)) ?? unreadValue(context, field));
  const setting: LaunchInstance = {
    block,
    grid: tied,
    scalar: scalarOf(new Map(values)),
    isLarge: plan.isLarge,
    isWhole: plan.isWhole === true,
  };
  // A rounded size may exceed the stride above it.
  const renested = (candidate: LaunchInstance, roundedUp: (value: bigint) => bigint): LaunchInstance => {
    for (const { field } of open) values.set(fieldKey(field), BigInt.asIntN(8 * field.bytes, candidate.scalar(field)));
    chooseStrides(context, shape, open, plan, { ...place, grid: candidate.grid }, values, (scalar, value) => set(scalar, roundedUp(value)));
    return { ...candidate, scalar: scalarOf(new Map(values)) };
  };
  const met = meetingAssumptions(context, shape, setting, renested);
  if (met && !divides(context, shape, met)) return null;
  return met;
}

/**
 * The launch of a plan, or of the plan with the other order of strides, or with fewer rows, if strides do not nest: those of
 * large sizes may exceed their type.
 */
function withScalars(context: KernelAndLaunch & SymbolicFacts, shape: IndexShape, plan: LaunchPlan, block: Dim3): LaunchInstance | null {
  const swapped: LaunchPlan = { ...plan, order: plan.order === 'first' ? 'last' : 'first' };
  const all = [plan, swapped];
  if (plan.others === 'large') all.push(...all.map((one): LaunchPlan => ({ ...one, others: 'few' })));
  let last: LaunchInstance | null = null;
  for (const one of all) {
    const setting = planned(context, shape, one, block);
    if (!setting || doNest(context, shape, setting)) return setting;
    last = setting;
  }
  return last;
}

/** Makes each scalar that is divided into parts a multiple of their number, with at least two elements per part. */
function wholeParts(
  { wholes }: IndexShape,
  open: readonly Scalar[],
  place: ThreadPlace,
  values: Map<string, bigint>,
  set: (scalar: Scalar, value: bigint) => void,
): void {
  for (const { field, parts } of wholes) {
    const scalar = open.find((one) => one.field === field);
    const count = valueOf(parts, place);
    const now = values.get(fieldKey(field));
    if (!scalar || count === undefined || now === undefined || count <= 0n || count > largestStride) continue;
    const each = (now + count - 1n) / count;
    set(scalar, (each < 2n ? 2n : each) * count);
  }
}

/** Whether no divisor of the kernel is 0, and all divisions into parts are exact. */
function divides(context: KernelAndLaunch, { divisors, wholes }: IndexShape, setting: LaunchInstance): boolean {
  const place = lastThread(context, setting);
  return (
    divisors.every((divisor) => valueOf(divisor, place) !== 0n) &&
    wholes.every(({ field, parts }) => {
      const count = valueOf(parts, place);
      return count === undefined || count === 0n || BigInt.asIntN(8 * field.bytes, setting.scalar(field)) % count === 0n;
    })
  );
}

/** The signed value of a term for given launch and scalars; undefined if the term depends on anything else. */
function valueOf(term: Term, place: ThreadPlace): bigint | undefined {
  const value = evaluateTerm(term, (leaf) => atomValue(leaf, place), new Map());
  return value === undefined ? undefined : BigInt.asIntN(term.width, value);
}

/** The wanted value of a scalar, adjusted to its type, its use and the statements on it. */
function fitting(context: KernelAndLaunch, scalar: Scalar, wanted: bigint, isLarge: boolean): bigint {
  const { request } = context;
  const { field, mask, divisors, tiles, handlesRest } = scalar;
  const listed = listedValues(context, field);
  if (listed) return listed.reduce((best, one) => (best < wanted ? (one > best ? one : best) : one >= wanted && one < best ? one : best));
  const isZero = wanted === 0n && !scalar.isSize && scalar.constants.includes(0n);
  let value = wanted < 1n && !isZero ? 1n : wanted;
  if (isLarge && scalar.isDivisor && value < 2n && !isZero) value = 2n;
  for (const unit of [...divisors, ...(handlesRest ? [] : tiles)]) value += (unit - (value % unit)) % unit;
  if (mask === 'size') value = powerAbove(value);
  if (mask === 'bits') value = powerAbove(value + 1n) - 1n;
  const conditions = conditionsOf(request.assumptions);
  const { low, high } = scalarBounds(conditions, request.parameters, field.index, field.offset, field.bytes);
  if (value < low) value = low;
  if (value > high) value = high;
  const most = (1n << BigInt(8 * field.bytes - 1)) - 1n;
  return value > most ? most : value;
}

/** The value of a scalar that the kernel does not read, so that only statements matter: 1, or the next value in its bounds. */
function unreadValue({ request }: KernelAndLaunch, { index, offset, bytes }: ParameterField): bigint {
  const { low, high } = scalarBounds(conditionsOf(request.assumptions), request.parameters, index, offset, bytes);
  return low > 1n ? low : high < 1n ? high : 1n;
}

function pinned(context: KernelAndLaunch, field: ParameterField): bigint | undefined {
  const { request } = context;
  const conditions = conditionsOf(request.assumptions);
  if (conditions.length === 0) return undefined;
  const { low, high } = scalarBounds(conditions, request.parameters, field.index, field.offset, field.bytes);
  return low === high ? low : undefined;
}

/**
 * The launch instance, or a similar one that satisfies the user's assumptions; null if none was found.
 * @param renested raises the strides of a candidate that do not nest, to rounded values
 */
function meetingAssumptions(
  context: KernelAndLaunch,
  { scalars }: IndexShape,
  setting: LaunchInstance,
  renested: (candidate: LaunchInstance, roundedUp: (value: bigint) => bigint) => LaunchInstance,
): LaunchInstance | null {
  if (satisfiesAssumptions(context, setting)) return setting;
  const alike = (): LaunchInstance => {
    const most = scalars.reduce((value, { field }) => (setting.scalar(field) > value ? setting.scalar(field) : value), 1n);
    return { ...setting, scalar: (field) => (scalars.some((scalar) => scalar.field === field) ? most : setting.scalar(field)) };
  };
  const threads = BigInt(setting.block[0] * setting.block[1] * setting.block[2]);
  const again = (candidate: LaunchInstance): LaunchInstance => {
    const grid = tiedGrid(context, candidate);
    return grid ? { ...candidate, grid } : candidate;
  };
  // One candidate at a time, since a candidate takes longer than the conditions.
  function* candidates(): Iterable<LaunchInstance> {
    for (const to of [2n, 4n, 16n, 32n, 64n, 256n, 1024n, threads, 0n]) {
      const roundedUp = (value: bigint): bigint => (to === 0n ? powerAbove(value) : ((value + to - 1n) / to) * to);
      const scalar = (field: ParameterField): bigint => {
        const isOpen = scalars.some((one) => one.field === field) && pinned(context, field) === undefined;
        return isOpen ? roundedUp(setting.scalar(field)) : setting.scalar(field);
      };
      const candidate = { ...setting, scalar };
      yield renested(again(candidate), roundedUp);
      yield candidate;
    }
    yield alike();
  }
  for (const candidate of candidates()) {
    const launch = again(candidate);
    if (satisfiesAssumptions(context, launch)) return launch;
  }
  return null;
}

function powerAbove(value: bigint): bigint {
  let power = 1n;
  while (power < value) power *= 2n;
  return power;
}

/** Whether a launch and its scalars satisfy the user's assumptions. */
export function satisfiesAssumptions(context: KernelAndLaunch, launch: Pick<LaunchInstance, 'block' | 'grid' | 'scalar'>): boolean {
  const { parameters, assumptions } = context.request;
  const valueOf = lookupIn(context, parameters, launch);
  return conditionsOf(assumptions).every((condition) => evaluateCondition(condition, valueOf) !== false);
}

/** Whether the user's assumptions exclude a block for all scalars and grids. */
function excludesBlock(context: KernelAndLaunch, block: Dim3): boolean {
  const valueOf: Lookup = (name) => (name.kind === 'dimension' && name.name === 'blockDim' ? BigInt(block[name.axis]) : undefined);
  return conditionsOf(context.request.assumptions).some((condition) => evaluateCondition(condition, valueOf) === false);
}

/** Limit on the threads of a block for which indices are evaluated. */
const sampledThreads = 24;

/**
 * Whether indices into shared memory stay in their arrays, evaluated for some threads of the first and the last block.
 */
function staysInBounds(context: KernelAndLaunch & SymbolicFacts, setting: LaunchInstance): boolean {
  const { accesses, symbolic } = context;
  const { block, grid } = setting;
  const { sharedBytes } = memoryOf(context, setting);
  const count = block[0] * block[1] * block[2];
  if (count > threadLimit(context.kernel)) return false;
  const shared = accesses.flatMap((access) =>
    access.targets.flatMap(({ base, offset, condition }) => {
      if (base.kind !== 'object' || base.object.space !== 'shared') return [];
      const bytes = base.object.bytes ?? (base.key === 'dynamic' ? sharedBytes : null);
      return bytes === null ? [] : [{ offset, condition, bytes: BigInt(bytes - access.bytes), reach: symbolic.reach(access.block) }];
    }),
  );
  if (shared.length === 0) return true;
  const { scalar } = lastThread(context, setting);
  const numbers = new Set([0, block[0] - 1, count - block[0], count - 1]);
  for (let at = 1; at < sampledThreads; at++) numbers.add(Math.floor((at * count) / sampledThreads));
  for (const blockIndex of [
    [0, 0, 0],
    [grid[0] - 1, grid[1] - 1, grid[2] - 1],
  ] as const) {
    for (const number of numbers) {
      const thread: Dim3 = [number % block[0], Math.floor(number / block[0]) % block[1], Math.floor(number / (block[0] * block[1]))];
      const place: ThreadPlace = { block, grid, scalar, thread, blockIndex };
      const memo = new Map<Term, bigint | undefined>();
      const value = (term: Term) => evaluateTerm(term, (leaf) => atomValue(leaf, place), memo);
      for (const { offset, condition, bytes, reach } of shared) {
        if (value(reach) !== 1n || value(condition) !== 1n) continue;
        const at = value(offset);
        if (at !== undefined && (BigInt.asIntN(offset.width, at) > bytes || BigInt.asIntN(offset.width, at) < 0n)) return false;
      }
    }
  }
  return true;
}

/** The last thread of a launch instance. */
export function lastThread({ fields }: KernelAndLaunch, { block, grid, scalar }: LaunchInstance): ThreadPlace {
  const last = ([x, y, z]: Dim3): Dim3 => [x - 1, y - 1, z - 1];
  return {
    block,
    grid,
    thread: last(block),
    blockIndex: last(grid),
    scalar: (index, offset, bytes) => {
      const field = fields.find((one) => one.index === index && one.offset === offset && one.bytes === bytes);
      return field && !field.isPointer ? scalar(field) : undefined;
    },
  };
}

/** Whether the strides of each access nest, for one of the orders of strides with different scalars. */
function doNest(context: KernelAndLaunch, shape: IndexShape, setting: LaunchInstance): boolean {
  const place = lastThread(context, setting);
  const nests = (order: 'first' | 'last'): boolean =>
    shape.nestings(order).every(({ form, stride, parts, below }) => {
      const own = shape.scalars.filter(({ field }) => isIn(context, [stride], field));
      const isOfScalars = own.length > 0 || shape.scalars.some(({ field }) => isIn(context, below, field));
      if (!isOfScalars) return true;
      if (own.some((scalar) => boundsIndex(context, form, parts, scalar))) return true;
      return isNested({ stride, below }, place) !== false;
    });
  return nests('last') || nests('first');
}

/**
 * Whether a launch instance is representative: sizes are positive, strides nest, masks are powers of two, the block has
 * a representative shape.
 */
export function isRepresentative(context: KernelAndLaunch & SymbolicFacts, setting: LaunchInstance): boolean {
  const shape = shapeOf(context);
  const { dimensions } = context;
  const { block, scalar } = setting;
  const open = ([0, 1, 2] as const).filter((axis) => dimensions.block[axis] === null);
  const hints = shape.axes;
  if (open.some((axis) => block[axis] > hints[axis]!.most)) return false;
  const threads = block[0] * block[1] * block[2];
  if (open.length > 0 && (threads % 32 !== 0 || open.some((axis) => shape.rankOnly[axis] === true && block[axis] !== 1))) return false;
  for (const { field, mask, divisors, constants } of shape.scalars) {
    const value = BigInt.asIntN(8 * field.bytes, scalar(field));
    if (value < (/^bool$/.test(declaredType(context, field)) || constants.includes(0n) ? 0n : 1n)) return false;
    if (mask === 'size' && (value & (value - 1n)) !== 0n) return false;
    if (mask === 'bits' && (value & (value + 1n)) !== 0n) return false;
    if (divisors.length === 1 && value % divisors[0]! !== 0n) return false;
  }
  return divides(context, shape, setting) && doNest(context, shape, setting) && staysInBounds(context, setting);
}
