/** Values of scalars by their use: sizes, shifts, strides that nest, and others. */
import { greatestOf } from '../../base/integer.ts';
import { type ParameterField, isFloat } from '../../launch/parameter-field.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import type { IndexForm, IndexGuard } from '../shape/index-form.ts';
import type { IndexShape } from '../shape/index-shape.ts';
import { type Monomial, type ThreadPlace, leavesOfFactor, unextended, valueAt } from '../shape/monomial.ts';
import { type Scalar, fieldOf, isField } from '../shape/roles.ts';
import { sizeForGrid } from './launch-constraints.ts';
import { type LaunchPlan, sampleUpTo } from './plan.ts';

/** Chooses sizes so that the grid covers the guarded range except for a remainder. */
export function chooseSizes(
  context: KernelAndLaunch & SymbolicFacts,
  { guards, constants }: IndexShape,
  open: readonly Scalar[],
  plan: LaunchPlan,
  place: ThreadPlace,
  values: Map<string, bigint>,
  set: (scalar: Scalar, value: bigint) => void,
): void {
  const largest = [...constants].reduce((most, value) => (value > most ? value : most), 1n);
  const threads = BigInt(Math.max(...place.block));
  const least = plan.isLarge ? (largest > threads ? largest : threads) : 3n;
  let step = 0n;
  // A dividend is chosen after its divisors, so that the quotient is large.
  for (const scalar of open.toSorted((a, b) => Number(a.isDividend) - Number(b.isDividend))) {
    if (!scalar.isSize || values.has(fieldKey(scalar.field))) continue;
    step++;
    if (plan.isTiny) {
      set(scalar, 1n);
      continue;
    }
    const own = (leaf: { readonly atom: unknown }): boolean => fieldOf(context, leaf as never) === scalar.field;
    const bounding = guards.filter(({ bound }) => bound.some(({ factors }) => factors.some(({ term }) => term?.leaves.some(own))));
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
      // A loop over a quotient has several iterations.
      const reach = covered(guard, plan, place) ?? (scalar.isDividend && plan.isLarge ? fewIterations : undefined);
      if (reach === undefined) return [];
      const value = solve(guard, scalar, reach, place, values);
      return value === undefined ? [] : [value];
    });
    const chosen = {
      block: place.block,
      grid: place.grid,
      scalar: (field: ParameterField) => values.get(fieldKey(field)),
    };
    const bound = solved.length > 0 ? greatestOf(solved) : undefined;
    // A size is too small if the host program launches fewer blocks for it.
    const isSmall = bound !== undefined && plan.isLarge && bound < (sizeForGrid(context, scalar.field, chosen, oneThread) ?? 0n);
    const bySize = bound === undefined || isSmall ? sizeForGrid(context, scalar.field, chosen, plan.rest) : undefined;
    const [part] = scalar.rests;
    const choose = (value: bigint): void => {
      if (plan.isWhole && part !== undefined) set(scalar, wholeBlocks(value, part * threads) + part / 2n);
      else set(scalar, plan.isLarge && scalar.handlesRest ? besideMultiples(value, threads) : value);
    };
    // The least value for a bound such as `n - n / 2` is odd.
    const less = plan.random ? BigInt(plan.random.below(2)) : plan.isLarge && plan.order === 'first' ? 1n : 0n;
    if (bySize !== undefined) set(scalar, bySize);
    else if (bound !== undefined) choose(bound - less);
    else {
      // A value that is not a multiple of the block; different for each scalar.
      const beyond = plan.random ? sampleUpTo(plan.random, 2n * least) : 14n * step;
      const shared = bounding.find((guard) => isOpen(guard));
      const reach = shared && covered(shared, plan, place);
      // Of two factors of a bound, either one may be the larger.
      const isSmaller =
        plan.isLarge && reach !== undefined && reach > 16n && (plan.random ? plan.random.chance(0.5) : plan.order === 'first');
      if (isSmaller) {
        set(scalar, plan.random ? 1n + sampleUpTo(plan.random, reach / 4n) : 3n + step);
        continue;
      }
      const free = plan.isLarge ? least + least / 2n + 5n + beyond : [7n, 5n, 11n, 3n][Number(step) % 4]! + (plan.rest > 7 ? 6n : 0n);
      choose(free);
    }
  }
}

/** Iterations of a loop over a quotient of sizes. */
const fewIterations = 5n;

/** Idle threads of a last block in which one thread works, in sixteenths of the block. */
const oneThread = 16;

/**
 * A size that leaves a rest in the last block, as does half of it: the wanted one, or a slightly smaller one. A size
 * below one block is returned as it is.
 */
function besideMultiples(value: bigint, threads: bigint): bigint {
  // Of a size that is even, the next even number is taken.
  const leavesRest = (one: bigint): boolean =>
    [one, one + (one % 2n)].every((size) => size % threads !== 0n && (size / 2n) % threads !== 0n);
  return value < threads + 4n ? value : ([value, value - 2n, value - 4n].find(leavesRest) ?? value);
}

/** The largest multiple of the elements of a block that is at most a value, which the grid covers. */
function wholeBlocks(value: bigint, elements: bigint): bigint {
  return value < elements ? elements : value - (value % elements);
}

/** Chooses shifts below a third of the range of their index. */
export function chooseShifts(
  { guards }: IndexShape,
  open: readonly Scalar[],
  plan: LaunchPlan,
  place: ThreadPlace,
  set: (scalar: Scalar, value: bigint) => void,
): void {
  for (const [at, scalar] of open.filter(({ isShift }) => isShift).entries()) {
    const ranges = guards.flatMap(({ index, bound }): bigint[] => {
      if (index.length === 0 || !index.some(({ coefficient }) => coefficient > 0n)) return [];
      const range = valueAt(bound, place);
      return range !== undefined && range > 3n ? [range] : [];
    });
    const threads = BigInt(place.block[0] * place.block[1] * place.block[2]);
    const most = ranges.reduce((least, range) => (range < least ? range : least), 3n * threads) / 3n - 1n;
    if (most < 2n || plan.others === 'one') continue;
    const few = 2n + BigInt(at);
    if (plan.random) set(scalar, sampleUpTo(plan.random, most));
    else set(scalar, plan.others === 'few' && few < most ? few : most);
  }
}

/** Chooses the divisors of the digits of a number: each digit has several values, and the number is below the product. */
export function chooseDigits(
  { chains }: IndexShape,
  open: readonly Scalar[],
  plan: LaunchPlan,
  place: ThreadPlace,
  set: (scalar: Scalar, value: bigint) => void,
): void {
  for (const { divisors, bound } of chains) {
    const total = valueAt(bound, place);
    const scalars = divisors.map((divisor) => open.find(({ field }) => isField(unextended(divisor), field)));
    if (total === undefined || total < 8n || scalars.includes(undefined)) continue;
    let left = Number(total);
    for (const [at, scalar] of scalars.entries()) {
      const more = scalars.length - at;
      const even = Math.max(2, Math.floor(left ** (1 / more)));
      const value = more === 1 ? Math.max(2, Math.ceil(left)) : (plan.random?.between(2, even) ?? even);
      set(scalar!, BigInt(value));
      left /= value;
    }
  }
}

/**
 * The bound of an index for which the grid covers the range except for a remainder; undefined if threads do not affect
 * the index.
 */
function covered({ index }: IndexGuard, plan: LaunchPlan, place: ThreadPlace): bigint | undefined {
  const atoms = index.flatMap(({ factors }) => factors.map(({ term }) => term?.atom?.kind));
  if (!atoms.includes('block') && !atoms.includes('thread')) return undefined;
  const end = valueAt(index, place);
  if (end === undefined || end < 0n) return undefined;
  const { block, grid } = place;
  const [of, last] = atoms.includes('block') ? [grid, 'blockIndex' as const] : [block, 'thread' as const];
  // The index in the second to last block, along the axis on which the index depends.
  const axis = index.flatMap(({ factors }) => factors.flatMap(({ term }) => (term?.atom?.kind === 'block' ? [term.atom.axis] : [])))[0];
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
  return inLoop ? (reach * BigInt(plan.trips)) / 4n : reach;
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
        index === field.index && offset === field.offset && bytes === field.bytes ? value : values.get(keyOfScalar(index, offset, bytes)),
    });
  let [low, high] = [1n, 1n];
  for (let now = at(high); now === undefined || now < reach; now = at(high)) {
    if (now === undefined || high > largestStride) return undefined;
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
export function otherValue(
  context: KernelAndLaunch,
  scalar: Scalar,
  plan: LaunchPlan,
  at: number,
  values: ReadonlyMap<string, bigint>,
): bigint {
  const { field, constants } = scalar;
  if (/^bool$/.test(declaredType(context, field))) return plan.random ? BigInt(plan.random.below(2)) : plan.others === 'one' ? 1n : 0n;
  const largest = context.fields.reduce(
    (most, other) => {
      const value =
        other.isPointer || isFloat(context.kernel, context.request.parameters, other) ? 0n : (values.get(fieldKey(other)) ?? 0n);
      return value > most && value < 1n << 24n ? value : most;
    },
    constants.reduce((most, value) => (value > most ? value : most), 8n),
  );
  const { random } = plan;
  if (random) return constants.length > 0 && random.chance(0.5) ? random.pick(constants) : sampleUpTo(random, 2n * largest);
  const met = constants[Math.min(at, constants.length - 1)];
  if (plan.others === 'one') return 1n;
  if (plan.others === 'few') return met ?? 2n + BigInt(at);
  return largest + 3n + 2n * BigInt(at);
}

/** Chooses strides so that they nest: each is at least the extent below it. */
export function chooseStrides(
  context: KernelAndLaunch & SymbolicFacts,
  { nestings }: IndexShape,
  open: readonly Scalar[],
  plan: LaunchPlan,
  place: ThreadPlace,
  values: Map<string, bigint>,
  set: (scalar: Scalar, value: bigint) => void,
): void {
  const all = nestings(plan.order);
  const divisors = open.filter(({ isDivisor }) => isDivisor);
  // Divisors are the extents of digits: of several values, and different ones.
  const startOf = (scalar: Scalar): bigint => {
    const at = divisors.indexOf(scalar);
    if (!plan.isLarge || at < 0) return 1n + plan.pad;
    return plan.pad + (plan.random ? sampleUpTo(plan.random, 16n) : 3n + 2n * BigInt(plan.order === 'last' ? at : divisors.length - at));
  };
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
      if (!values.has(key)) values.set(key, startOf(scalar));
      if (boundsIndex(context, form, parts, scalar)) continue;
      const value = leastStride(stride, below, scalar, place, values);
      if (value > values.get(key)!) set(scalar, value + (scalar.isSize ? 0n : plan.pad));
    }
  }
  for (const scalar of open) if (!values.has(fieldKey(scalar.field))) set(scalar, startOf(scalar));
}

/** Limit on scalars that are raised so that strides nest. */
export const largestStride = 1n << 22n;

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
      index === field.index && offset === field.offset && bytes === field.bytes ? value : values.get(keyOfScalar(index, offset, bytes));
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
export function isIn(context: KernelAndLaunch, sum: readonly Monomial[], field: ParameterField): boolean {
  return sum.some(({ factors }) => factors.some((factor) => leavesOfFactor(factor).some((leaf) => fieldOf(context, leaf) === field)));
}

/**
 * Whether a scalar bounds a part of the index other than the parts below its stride. Then the scalar may be smaller
 * than the extent below the stride.
 */
export function boundsIndex(
  context: KernelAndLaunch,
  { guards, offset }: IndexForm,
  below: readonly Monomial[],
  { field }: Scalar,
): boolean {
  const others = offset.filter((part) => !below.includes(part));
  const isOfOthers = ({ index }: IndexGuard): boolean =>
    index.every(({ factors }) =>
      factors.every(({ key, isUniform }) => isUniform || others.some((part) => part.factors.some((factor) => factor.key === key))),
    );
  // `c * w` with `c = i % w`: the scalar bounds the row and is the stride of the column.
  const isRemainder = ({ factors }: Monomial): boolean =>
    factors.some(
      ({ term, isUniform }) =>
        !isUniform && term !== null && /^[us]rem$/.test(term.operator) && isField(unextended(term.arguments[1]!), field),
    );
  return others.some(isRemainder) || guards.some((guard) => isIn(context, guard.bound, field) && isOfOthers(guard));
}

/** Keys of fields by place: the search for strides needs many. */
const fieldKeys = new Map<number, string>();

/** Key of the field at an offset of a parameter, for maps. */
export function keyOfScalar(index: number, offset: number, bytes: number): string {
  const place = (index * 65_536 + offset) * 65_536 + bytes;
  let key = fieldKeys.get(place);
  if (key === undefined) fieldKeys.set(place, (key = `${index}.${offset}.${bytes}`));
  return key;
}

/** Key of a field in maps. */
export function fieldKey({ index, offset, bytes }: ParameterField): string {
  return keyOfScalar(index, offset, bytes);
}

/** The type of a scalar as written in the source; empty if no source is available. */
export function declaredType({ request }: Pick<KernelAndLaunch, 'request'>, { index, offset }: ParameterField): string {
  const parameter = request.parameters[index];
  const type = parameter?.fields?.find((field) => field.offset === offset)?.type ?? parameter?.type ?? '';
  return type.replace(/\bconst\b/g, '').trim();
}
