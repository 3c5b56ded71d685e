/**
 * Representative launches: dimensions and scalars as programs use them, for what options, configuration, annotations
 * and the host program leave unspecified. A race that only other launches show is not a finding.
 */
import { sharedBytesWithoutOptIn } from '../../device/hardware-limits.ts';
import type { Dim3 } from '../../base/dim3.ts';
import { type Dimensions, threadLimit } from '../../analysis/values/launch-bounds.ts';
import { type Lookup, evaluateCondition } from '../../cuda/assumptions/evaluate-assumption.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import { isFloat } from '../../launch/parameter-field.ts';
import { evaluateTerm } from '../../term/evaluate.ts';
import type { Term } from '../../term/term.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { givenScalar, integerField } from '../context/scalars.ts';
import { conditionsOf, isUnsignedType, namedScalar, scalarBounds } from '../premises/premises.ts';
import type { IndexForm, IndexGuard } from '../shape/index-form.ts';
import { type IndexShape, indexShapeOf } from '../shape/index-shape.ts';
import { type Monomial, type ThreadPlace, atomValue, leavesOfFactor, valueAt } from '../shape/monomial.ts';
import { type Scalar, fieldOf } from '../shape/roles.ts';
import { blockShapes } from './block-shape.ts';
import {
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
}

/** How one launch instance differs from the others. */
interface Plan {
  readonly isLarge: boolean;
  /** Whether all sizes are 1. */
  readonly isTiny?: true;
  /** Index of the shape of the thread block in the list of representative shapes. */
  readonly shape: number;
  /** Number of blocks along each axis. */
  readonly grid: Dim3;
  /** Idle threads of the last block, in sixteenths of the block. */
  readonly rest: number;
  /** Trip count of a grid-stride loop, in quarters. */
  readonly rounds: number;
  /** Excess of a stride over its minimum. */
  readonly pad: bigint;
  /** Values of the scalars that are neither sizes nor strides: 1, small, or larger than the sizes. */
  readonly others: 'one' | 'few' | 'large';
  /** Which of two strides with different scalars is the larger one, by the order of their names. */
  readonly order: 'first' | 'last';
}

/** Small launch instances come first: their witnesses are the easiest to follow. */
const plans: readonly Plan[] = [
  { isLarge: false, shape: -1, grid: [2, 2, 1], rest: 5, rounds: 5, pad: 0n, others: 'one', order: 'last' },
  {
    isLarge: false,
    isTiny: true,
    shape: -1,
    grid: [2, 2, 1],
    rest: 0,
    rounds: 4,
    pad: 0n,
    others: 'one',
    order: 'last',
  },
  { isLarge: false, shape: -1, grid: [3, 2, 2], rest: 9, rounds: 6, pad: 1n, others: 'few', order: 'first' },
  { isLarge: true, shape: 0, grid: [5, 3, 2], rest: 7, rounds: 6, pad: 0n, others: 'large', order: 'last' },
  { isLarge: true, shape: 0, grid: [2, 5, 3], rest: 3, rounds: 9, pad: 5n, others: 'one', order: 'first' },
  { isLarge: true, shape: 1, grid: [4, 3, 2], rest: 11, rounds: 7, pad: 0n, others: 'few', order: 'last' },
  { isLarge: true, shape: 2, grid: [3, 4, 2], rest: 5, rounds: 5, pad: 16n, others: 'large', order: 'first' },
];

/** Cached by kernel and launch, since every question uses the same instances. */
const known = new WeakMap<object, { readonly shape: IndexShape; readonly settings: readonly LaunchInstance[] }>();

/**
 * The representative launches of a kernel, small ones first. Given values are the same in all of them. Each satisfies
 * the stated assumptions.
 */
export function representativeLaunches(context: KernelAndLaunch & SymbolicFacts): readonly LaunchInstance[] {
  return ofKernel(context).settings;
}

/** The shape of the kernel's indices under a launch, cached. */
export function shapeOf(context: KernelAndLaunch & SymbolicFacts): IndexShape {
  return ofKernel(context).shape;
}

function ofKernel(context: KernelAndLaunch & SymbolicFacts): {
  shape: IndexShape;
  settings: readonly LaunchInstance[];
} {
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
    open: fields.filter(isOpen).map((field) => ({ field, divisors: tiedDivisors(context, field) })),
    isComputed: [0, 1, 2].map((axis) => axes?.block[axis] === 'computed'),
  });
  const unique = new Map<string, LaunchInstance>();
  for (const plan of plans) {
    const setting = settingOf(context, shape, plan);
    // If everything is given, all plans yield the same launch instance.
    if (setting) unique.set(keyOf(context, setting), setting);
  }
  const settings = [...unique.values()];
  const made = { shape, settings };
  known.set(context.symbolic, made);
  return made;
}

function keyOf({ fields }: KernelAndLaunch, { block, grid, scalar }: LaunchInstance): string {
  return [block, grid, ...fields.filter((field) => !field.isPointer).map(scalar)].join(';');
}

/** Key of a field in maps. */
function fieldKey({ index, offset, bytes }: ParameterField): string {
  return `${index}.${offset}.${bytes}`;
}

function settingOf(context: KernelAndLaunch & SymbolicFacts, shape: IndexShape, plan: Plan): LaunchInstance | null {
  const { wanted: count, shapes } = blockShapes(context, shape, plan.isLarge);
  if (shapes.length === 0) return null;
  // The shapes are ordered by how well they suit the kernel.
  const wanted = shapes[Math.min(Math.max(plan.shape, 0), count - 1)]!;
  const isGiven = !context.dimensions.block.includes(null);
  let fallback: LaunchInstance | null = null;
  for (const block of [wanted, ...shapes]) {
    const setting = withScalars(context, shape, plan, block);
    // A given block may be too large for an array, which a run will show.
    if (setting && (isGiven || staysInBounds(context, setting))) return setting;
    fallback ??= setting;
  }
  return fallback;
}

/** Chooses scalars for a block and the plan's grid. */
function withScalars(
  context: KernelAndLaunch & SymbolicFacts,
  shape: IndexShape,
  plan: Plan,
  block: Dim3,
  isSecond = false,
): LaunchInstance | null {
  const { dimensions, fields, kernel, request } = context;
  const grid = gridOf(dimensions, shape, plan, block);
  const values = new Map<string, bigint>();
  const given = (field: ParameterField): bigint | undefined =>
    givenScalar(request.launch, field.index, field.offset, field.bytes);
  for (const field of fields) {
    const value = given(field) ?? pinned(context, field);
    if (value !== undefined) values.set(fieldKey(field), value);
    else if (isFloat(kernel, request.parameters, field))
      values.set(fieldKey(field), field.bytes === 8 ? 0x3ff0000000000000n : 0x3f800000n);
  }
  const open = shape.scalars.filter(({ field }) => !values.has(fieldKey(field)));
  const last = (extents: Dim3): Dim3 => [extents[0] - 1, extents[1] - 1, extents[2] - 1];
  const place: ThreadPlace = {
    block,
    grid,
    thread: last(block),
    blockIndex: last(grid),
    scalar: (index, offset, bytes) => values.get(`${index}.${offset}.${bytes}`),
  };
  const set = (scalar: Scalar, value: bigint): void => void values.set(fieldKey(scalar.field), fitting(context, scalar, value)); // oxfmt-ignore
  sizes(context, shape, open, plan, place, values, set);
  for (const [at, scalar] of open.filter(({ field }) => !values.has(fieldKey(field))).entries()) {
    if (scalar.isStride) continue;
    set(scalar, otherValue(context, scalar, plan, at, values));
  }
  const chosen = { block, grid, scalar: (field: ParameterField) => values.get(fieldKey(field)) };
  const isOpen = (field: ParameterField): boolean => open.some((one) => one.field === field);
  // A raised value may be below a stride.
  for (let round = 0; round < 2; round++) {
    strides(context, shape, open, plan, place, values, set);
    for (const [field, value] of raisedScalars(context, chosen, isOpen)) values.set(fieldKey(field), value);
    wholeParts(shape, open, place, values, set);
  }
  for (const [field, value] of tiedScalars(context, chosen, isOpen)) values.set(fieldKey(field), value);
  for (const [field, value] of unreadSizes(context, chosen, plan.rest)) values.set(fieldKey(field), value);
  const tied = tiedGrid(context, chosen);
  if (!tied) return null;
  const scalar = (field: ParameterField): bigint => BigInt.asUintN(8 * field.bytes, values.get(fieldKey(field)) ?? 1n);
  const setting: LaunchInstance = { block, grid: tied, scalar, isLarge: plan.isLarge };
  const met = meetingAssumptions(context, shape, setting);
  if (met && !divides(context, shape, met)) return null;
  if (!met || doNest(context, shape, met) || isSecond) return met;
  return withScalars(context, shape, { ...plan, order: plan.order === 'first' ? 'last' : 'first' }, block, true);
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
      return (
        count === undefined || count === 0n || BigInt.asIntN(8 * field.bytes, setting.scalar(field)) % count === 0n
      );
    })
  );
}

/** The signed value of a term for given launch and scalars; undefined if the term depends on anything else. */
function valueOf(term: Term, place: ThreadPlace): bigint | undefined {
  const value = evaluateTerm(term, (leaf) => atomValue(leaf, place), new Map());
  return value === undefined ? undefined : BigInt.asIntN(term.width, value);
}

/** The plan's grid, enlarged in large launch instances so that it covers the modulus of indices. */
function gridOf({ grid }: Dimensions, { ring }: IndexShape, plan: Plan, block: Dim3): Dim3 {
  const [x, y, z] = grid.map((size, axis) => size ?? plan.grid[axis]!) as [number, number, number];
  const isAlong = grid[0] === null && (grid[1] ?? 1) * (grid[2] ?? 1) === 1;
  // One more block than needed, since the last block may be almost idle.
  const least = Math.floor(Number(ring) / block[0]) + 2;
  return [plan.isLarge && isAlong && ring > 1n ? Math.max(x, least) : x, y, z];
}

/** Chooses sizes so that the grid covers the guarded range except for a remainder. */
function sizes(
  context: KernelAndLaunch & SymbolicFacts,
  { guards, constants }: IndexShape,
  open: readonly Scalar[],
  plan: Plan,
  place: ThreadPlace,
  values: Map<string, bigint>,
  set: (scalar: Scalar, value: bigint) => void,
): void {
  const largest = [...constants].reduce((most, value) => (value > most ? value : most), 1n);
  const threads = BigInt(Math.max(...place.block));
  const least = plan.isLarge ? (largest > threads ? largest : threads) : 3n;
  let step = 0n;
  for (const scalar of open) {
    if (!scalar.isSize || values.has(fieldKey(scalar.field))) continue;
    step++;
    if (plan.isTiny) {
      set(scalar, 1n);
      continue;
    }
    const own = (leaf: { readonly atom: unknown }): boolean => fieldOf(context, leaf as never) === scalar.field;
    const bounding = guards.filter(({ bound }) => bound.some(({ factors }) => factors.some(({ term }) => term?.leaves.some(own)))); // oxfmt-ignore
    // If several scalars bound one index, the last one chosen makes their product fit.
    const isOpen = ({ bound }: IndexGuard): boolean =>
      bound.some(({ factors }) =>
        factors.some(({ term }) =>
          term?.leaves.some((leaf) => {
            const field = fieldOf(context, leaf);
            return field && field !== scalar.field && !values.has(fieldKey(field));
          }),
        ),
      );
    const solved = bounding.flatMap((guard): bigint[] => {
      if (isOpen(guard)) return [];
      const reach = covered(guard, plan, place);
      if (reach === undefined) return [];
      const value = solve(guard, scalar, reach, place, values);
      return value === undefined ? [] : [value];
    });
    const chosen = {
      block: place.block,
      grid: place.grid,
      scalar: (field: ParameterField) => values.get(fieldKey(field)),
    };
    const bySize = solved.length > 0 ? undefined : sizeForGrid(context, scalar.field, chosen, plan.rest);
    if (solved.length > 0)
      set(
        scalar,
        solved.reduce((a, b) => (a > b ? a : b)),
      );
    else if (bySize !== undefined) set(scalar, bySize);
    else {
      // A value that is not a multiple of the block; different for each scalar.
      const free = plan.isLarge ? least + least / 2n + 5n + 14n * step : [7n, 5n, 11n, 3n][Number(step) % 4]! + (plan.rest > 7 ? 6n : 0n); // oxfmt-ignore
      set(scalar, free);
    }
  }
}

/**
 * The bound of an index for which the grid covers the range except for a remainder; undefined if threads do not affect
 * the index.
 */
function covered({ index }: IndexGuard, plan: Plan, place: ThreadPlace): bigint | undefined {
  const atoms = index.flatMap(({ factors }) => factors.map(({ term }) => term?.atom?.kind));
  if (!atoms.includes('block') && !atoms.includes('thread')) return undefined;
  const end = valueAt(index, place);
  if (end === undefined || end < 0n) return undefined;
  const { block, grid } = place;
  const [of, last] = atoms.includes('block') ? [grid, 'blockIndex' as const] : [block, 'thread' as const];
  // The index in the second to last block, along the axis on which the index depends.
  const axis = index.flatMap(({ factors }) => factors.flatMap(({ term }) => (term?.atom?.kind === 'block' ? [term.atom.axis] : [])))[0]; // oxfmt-ignore
  let before = -1n;
  if (last === 'blockIndex' && axis !== undefined && of[axis] > 1) {
    const shorter = [...place.blockIndex] as [number, number, number];
    shorter[axis] -= 1;
    before = valueAt(index, { ...place, blockIndex: shorter }) ?? -1n;
  }
  const width = end - before;
  const rest = (width * BigInt(plan.rest)) / 16n;
  const inLoop = atoms.includes('iteration');
  const reach = end + 1n - (rest > 0n ? rest : width > 1n ? 1n : 0n);
  // A grid-stride loop continues after the range that the grid covers at once.
  return inLoop ? (reach * BigInt(plan.rounds)) / 4n : reach;
}

/** The smallest value of a scalar for which a bound reaches a minimum; undefined if none exists. */
function solve(
  { bound }: IndexGuard,
  { field }: Scalar,
  reach: bigint,
  place: ThreadPlace,
  values: Map<string, bigint>,
): bigint | undefined {
  const at = (value: bigint): bigint | undefined =>
    valueAt(bound, {
      ...place,
      scalar: (index, offset, bytes) =>
        index === field.index && offset === field.offset && bytes === field.bytes
          ? value
          : values.get(`${index}.${offset}.${bytes}`),
    });
  let [low, high] = [1n, 1n];
  for (let now = at(high); now === undefined || now < reach; now = at(high)) {
    if (now === undefined || high > 1n << 20n) return undefined;
    low = high;
    high *= 2n;
  }
  while (low < high) {
    const middle = (low + high) / 2n;
    if (at(middle)! >= reach) high = middle;
    else low = middle + 1n;
  }
  return high;
}

/** The value of a scalar that is neither a size nor a stride. */
function otherValue(
  context: KernelAndLaunch,
  scalar: Scalar,
  plan: Plan,
  at: number,
  values: ReadonlyMap<string, bigint>,
): bigint {
  const { field, constants } = scalar;
  if (/^bool$/.test(typeOf(context, field))) return plan.others === 'one' ? 1n : 0n;
  const largest = context.fields.reduce(
    (most, other) => {
      const value = other.isPointer || isFloat(context.kernel, context.request.parameters, other) ? 0n : (values.get(fieldKey(other)) ?? 0n); // oxfmt-ignore
      return value > most && value < 1n << 24n ? value : most;
    },
    constants.reduce((most, value) => (value > most ? value : most), 8n),
  );
  const met = constants[Math.min(at, constants.length - 1)];
  if (plan.others === 'one') return 1n;
  if (plan.others === 'few') return met ?? 2n + BigInt(at);
  return largest + 3n + 2n * BigInt(at);
}

/** Chooses strides so that they nest: each is at least the extent below it. */
function strides(
  context: KernelAndLaunch & SymbolicFacts,
  { nestings }: IndexShape,
  open: readonly Scalar[],
  plan: Plan,
  place: ThreadPlace,
  values: Map<string, bigint>,
  set: (scalar: Scalar, value: bigint) => void,
): void {
  const all = nestings(plan.order);
  // A stride may occur in the extent below another one, so the strides are raised repeatedly.
  for (let round = 0; round < 3; round++) {
    for (const { form, stride, parts, below } of all) {
      const own = open.filter(({ field }) => isIn(context, [stride], field));
      const scalar = own.findLast(({ isSize }) => !isSize) ?? own.at(-1);
      if (!scalar) {
        // A constant stride cannot be raised, so a scalar in the extent below it is reduced.
        const inside = open.find(({ field }) => isIn(context, below, field) && values.has(fieldKey(field)));
        if (!inside || stride.factors.length > 0) continue;
        const [most, reached] = [valueAt([stride], place), valueAt(below, place)];
        if (most === undefined || reached === undefined || reached <= most || most <= 0n) continue;
        set(inside, (values.get(fieldKey(inside.field))! * most) / reached);
        continue;
      }
      const key = fieldKey(scalar.field);
      if (!values.has(key)) values.set(key, 1n + plan.pad);
      if (boundsIndex(context, form, parts, scalar)) continue;
      const value = leastStride(stride, below, scalar, place, values);
      if (value > values.get(key)!) set(scalar, value + (scalar.isSize ? 0n : plan.pad));
    }
  }
  for (const scalar of open) if (!values.has(fieldKey(scalar.field))) set(scalar, 1n + plan.pad);
}

/** Limit on scalars that are raised so that strides nest. */
const largestStride = 1n << 22n;

/**
 * The smallest value of a scalar, at least its current one, for which a stride nests; the current one if no such value
 * exists.
 */
function leastStride(
  stride: Monomial,
  below: readonly Monomial[],
  { field }: Scalar,
  place: ThreadPlace,
  values: ReadonlyMap<string, bigint>,
): bigint {
  const start = values.get(fieldKey(field))!;
  const nests = (value: bigint): boolean => {
    const scalar = (index: number, offset: number, bytes: number): bigint | undefined =>
      index === field.index && offset === field.offset && bytes === field.bytes
        ? value
        : values.get(`${index}.${offset}.${bytes}`);
    const [now, least] = [valueAt([stride], { ...place, scalar }), valueAt(below, { ...place, scalar })];
    return now === undefined || least === undefined || now >= least;
  };
  if (start <= 0n || nests(start)) return start;
  let [low, high] = [start, 2n * start];
  for (; !nests(high); high *= 2n) {
    if (high > largestStride) return start;
    low = high;
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (nests(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Whether a sum depends on a scalar. */
function isIn(context: KernelAndLaunch, sum: readonly Monomial[], field: ParameterField): boolean {
  return sum.some(({ factors }) => factors.some((factor) => leavesOfFactor(factor).some((leaf) => fieldOf(context, leaf) === field))); // oxfmt-ignore
}

/**
 * Whether a scalar bounds a part of the index other than the parts below its stride. Then the scalar may be smaller
 * than the extent below the stride.
 */
function boundsIndex(
  context: KernelAndLaunch,
  { guards, offset }: IndexForm,
  below: readonly Monomial[],
  { field }: Scalar,
): boolean {
  const others = offset.filter((part) => !below.includes(part));
  const isOfOthers = ({ index }: IndexGuard): boolean =>
    index.every(
      ({ factors }) =>
      factors.every(({ key, isUniform }) => isUniform || others.some((part) => part.factors.some((factor) => factor.key === key))), // oxfmt-ignore
    );
  return guards.some((guard) => isIn(context, guard.bound, field) && isOfOthers(guard));
}

/** The wanted value of a scalar, adjusted to its type, its use and the statements on it. */
function fitting(context: KernelAndLaunch, scalar: Scalar, wanted: bigint): bigint {
  const { request } = context;
  const { field, isMask, divisors, tiles, handlesRest } = scalar;
  const listed = listedValues(context, field);
  if (listed) return listed.reduce((best, one) => (best < wanted ? (one > best ? one : best) : one >= wanted && one < best ? one : best)); // oxfmt-ignore
  let value = wanted < 1n ? 1n : wanted;
  for (const unit of [...divisors, ...(handlesRest ? [] : tiles)]) value += (unit - (value % unit)) % unit;
  if (isMask) {
    let power = 1n;
    while (power < value) power *= 2n;
    value = power;
  }
  const conditions = conditionsOf(request.assumptions);
  const { low, high } = scalarBounds(conditions, request.parameters, field.index, field.offset, field.bytes);
  if (value < low) value = low;
  if (value > high) value = high;
  const most = (1n << BigInt(8 * field.bytes - 1)) - 1n;
  return value > most ? most : value;
}

function pinned(context: KernelAndLaunch, field: ParameterField): bigint | undefined {
  const { request } = context;
  const conditions = conditionsOf(request.assumptions);
  if (conditions.length === 0) return undefined;
  const { low, high } = scalarBounds(conditions, request.parameters, field.index, field.offset, field.bytes);
  return low === high ? low : undefined;
}

/** The type of a scalar as written in the source; empty if no source is available. */
function typeOf({ request }: Pick<KernelAndLaunch, 'request'>, { index, offset }: ParameterField): string {
  const parameter = request.parameters[index];
  const type = parameter?.fields?.find((field) => field.offset === offset)?.type ?? parameter?.type ?? '';
  return type.replace(/\bconst\b/g, '').trim();
}

/** The launch instance, or a similar one that satisfies the user's assumptions; null if none was found. */
function meetingAssumptions(
  context: KernelAndLaunch,
  { scalars }: IndexShape,
  setting: LaunchInstance,
): LaunchInstance | null {
  if (satisfiesAssumptions(context, setting)) return setting;
  const rounded = (to: bigint): LaunchInstance => ({
    ...setting,
    scalar: (field) => {
      const value = setting.scalar(field);
      const isOpen = scalars.some((scalar) => scalar.field === field) && pinned(context, field) === undefined;
      return isOpen ? (to === 0n ? powerAbove(value) : ((value + to - 1n) / to) * to) : value;
    },
  });
  const alike = (): LaunchInstance => {
    const most = scalars.reduce((value, { field }) => (setting.scalar(field) > value ? setting.scalar(field) : value), 1n); // oxfmt-ignore
    return { ...setting, scalar: (field) => (scalars.some((scalar) => scalar.field === field) ? most : setting.scalar(field)) }; // oxfmt-ignore
  };
  const threads = BigInt(setting.block[0] * setting.block[1] * setting.block[2]);
  const again = (candidate: LaunchInstance): LaunchInstance => {
    const grid = tiedGrid(context, candidate);
    return grid ? { ...candidate, grid } : candidate;
  };
  const tried = [rounded(2n), rounded(4n), rounded(16n), rounded(32n), rounded(64n), rounded(256n), rounded(1024n), rounded(threads), rounded(0n), alike()]; // oxfmt-ignore
  return tried.map(again).find((candidate) => satisfiesAssumptions(context, candidate)) ?? null;
}

function powerAbove(value: bigint): bigint {
  let power = 1n;
  while (power < value) power *= 2n;
  return power;
}

/** Whether a launch and its scalars satisfy the user's assumptions. */
export function satisfiesAssumptions(
  context: KernelAndLaunch,
  { block, grid, scalar }: Pick<LaunchInstance, 'block' | 'grid' | 'scalar'>,
): boolean {
  const { parameters, assumptions } = context.request;
  const valueOf: Lookup = (name) => {
    if (name.kind === 'dimension') return BigInt((name.name === 'blockDim' ? block : grid)['xyz'.indexOf(name.axis)]!);
    const named = namedScalar(parameters, name.path);
    const field = named && integerField(context, named);
    if (!field) return undefined;
    return isUnsignedType(named.type) ? scalar(field) : BigInt.asIntN(field.bytes * 8, scalar(field));
  };
  return conditionsOf(assumptions).every((condition) => evaluateCondition(condition, valueOf) !== false);
}

/** Limit on the threads of a block for which indices are evaluated. */
const sampledThreads = 24;

/**
 * Whether indices into shared memory stay in their arrays, evaluated for some threads of the first and the last block.
 */
function staysInBounds(context: KernelAndLaunch & SymbolicFacts, setting: LaunchInstance): boolean {
  const { accesses, symbolic, request } = context;
  const { block, grid } = setting;
  const count = block[0] * block[1] * block[2];
  if (count > threadLimit(context.kernel)) return false;
  const shared = accesses.flatMap((access) =>
    access.targets.flatMap(({ base, offset, condition }) => {
      if (base.kind !== 'object' || base.object.space !== 'shared') return [];
      // If the launch does not specify the size, runs use the size that every GPU offers.
      const dynamic = request.launch.sharedBytes ?? sharedBytesWithoutOptIn;
      const bytes = base.object.bytes ?? (base.key === 'dynamic' ? dynamic : null);
      return bytes === null ? [] : [{ offset, condition, bytes: BigInt(bytes - access.bytes), reach: symbolic.reach(access.block) }]; // oxfmt-ignore
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
      const thread: Dim3 = [number % block[0], Math.floor(number / block[0]) % block[1], Math.floor(number / (block[0] * block[1]))]; // oxfmt-ignore
      const place: ThreadPlace = { block, grid, scalar, thread, blockIndex };
      const memo = new Map<Term, bigint | undefined>();
      const value = (term: Term) => evaluateTerm(term, (leaf) => atomValue(leaf, place), memo);
      for (const { offset, condition, bytes, reach } of shared) {
        if (value(reach) !== 1n || value(condition) !== 1n) continue;
        const at = value(offset);
        if (at !== undefined && (BigInt.asIntN(offset.width, at) > bytes || BigInt.asIntN(offset.width, at) < 0n)) return false; // oxfmt-ignore
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
      const [now, least] = [valueAt([stride], place), valueAt(below, place)];
      return now === undefined || least === undefined || now >= least;
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
  if (open.length > 0 && (threads % 32 !== 0 || open.some((axis) => shape.rankOnly[axis] === true && block[axis] !== 1))) return false; // oxfmt-ignore
  for (const { field, isMask, divisors } of shape.scalars) {
    const value = BigInt.asIntN(8 * field.bytes, scalar(field));
    if (value < (/^bool$/.test(typeOf(context, field)) ? 0n : 1n)) return false;
    if (isMask && (value & (value - 1n)) !== 0n) return false;
    if (divisors.length === 1 && value % divisors[0]! !== 0n) return false;
  }
  return divides(context, shape, setting) && doNest(context, shape, setting) && staysInBounds(context, setting);
}
