/**
 * Decides which indices of 32 bits wrap around: at the given launch, where a run shows it, or from a size on, which is a
 * notice with that size. Such a size is evaluated before it is reported: at the size some thread wraps around, below it none does.
 */
import { fingerprintOf } from '../../verdict/fingerprint.ts';
import type { Steps } from '../../base/coroutine.ts';
import type { Access } from '../../analysis/values/access.ts';
import { partsOf } from '../../analysis/values/leader.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { Dim3 } from '../../base/dim3.ts';
import { maximumGrid } from '../../device/hardware-limits.ts';
import type { FaultEvent } from '../../interpreter/core/run-result.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { Location } from '../../source/location.ts';
import type { RaceFinding } from '../../verdict/finding.ts';
import { describeAccess } from '../context/access-description.ts';
import type { KernelContext } from '../context/facts.ts';
import { baseName, placeOf } from '../context/names.ts';
import type { Instances } from '../obligations/instance.ts';
import { scalarBounds, conditionsOf } from '../premises/premises.ts';
import { scalarOfExtent, tiedGrid } from '../representative/launch-constraints.ts';
import { productsText } from '../representative/nesting-text.ts';
import {
  type LaunchInstance,
  lastThread,
  representativeLaunches,
  satisfiesAssumptions,
} from '../representative/representative-launches.ts';
import { indexForms } from '../shape/index-form.ts';
import { fieldOf } from '../shape/roles.ts';
import { type Monomial, valueAt } from '../shape/monomial.ts';
import { withoutFactors } from '../../algebra/products.ts';
import type { LaneInteger } from '../witness/lanes-of-access.ts';
import { performsAt } from '../witness/recording.ts';
import type { Shown } from '../witness/replay.ts';
import type { Confirmation } from '../witness/scenarios.ts';
import { signedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { AccessInLaunches, effortOfKernel } from './access-in-launches.ts';
import { type NarrowIndex, type WrapCondition, computedAt, isOfGivenLaunch, narrowIndices, wrapConditions } from './width.ts';

/** What a finding states of an index that wraps around in a run. */
type Wrap = Pick<RaceFinding, 'wrapped' | 'computedAt'>;

/** An access whose index wraps around in a run. */
export interface WrappedAccess {
  readonly access: Access;
  readonly target: Target;
  readonly wrap: Wrap;
  /** The fault, or the thread that accesses another element than it should; absent if the run is too long to show it. */
  readonly shown?: Shown<Pick<FaultEvent, 'block' | 'thread' | 'left'>>;
}

/** What an index is in the run that shows a fault, if it wraps around there; null if it does not. */
export function wrappedIn(
  context: KernelContext,
  instances: Instances,
  access: Access,
  target: Target,
  { event, scenario }: NonNullable<WrappedAccess['shown']>,
): Wrap | null {
  const among = new AccessInLaunches(context, instances, access, target, effortOfKernel());
  for (const narrow of narrowIndices(context, target)) {
    const lanes = among.allIntegersOf({ ...scenario, isLarge: true }, event.block, narrow.term);
    const lane = wrapping(narrow, lanes).find(({ thread, start }) => thread.join() === event.thread.join() && start === event.left?.offset);
    if (lane) return wrapOf(context, narrow, lane);
  }
  return null;
}

/** The threads for which narrow arithmetic wraps around. */
function wrapping({ holds: { low, high } }: NarrowIndex, lanes: readonly LaneInteger[]): readonly LaneInteger[] {
  return lanes.filter(({ integer }) => integer < Number(low) || integer > Number(high));
}

function wrapOf(context: KernelContext, narrow: NarrowIndex, { integer }: LaneInteger): Wrap {
  return { wrapped: { value: integer, isSigned: narrow.holds.low < 0n }, computedAt: computedAt(context, narrow) };
}

/**
 * Accesses whose index wraps around at the given launch, by its terms. A run shows it as a fault before the start of an array, or
 * as an access to the element that the index wraps around to.
 * @param known accesses that are reported already
 */
export function* wrappedAccesses(
  context: KernelContext,
  narrowed: readonly NarrowAccess[],
  instances: Instances,
  confirmation: Confirmation,
  known: (access: Access) => boolean,
): Steps<readonly WrappedAccess[]> {
  const found: WrappedAccess[] = [];
  const effort = effortOfKernel();
  for (const { access, target, narrow, size } of narrowed) {
    if (size || known(access)) continue;
    const setting = representativeLaunches(context).findLast(({ isLarge }) => isLarge) ?? representativeLaunches(context)[0];
    if (!setting || target.base.kind !== 'parameter') continue;
    const among = new AccessInLaunches(context, instances, access, target, effort);
    const corner = among.inCorner(setting, (block) => wrapping(narrow, among.integersOf(setting, block, narrow.term)));
    if (!corner) continue;
    const lane = corner.found.reduce((least, other) => (other.integer < least.integer ? other : least));
    const scenario = yield* confirmation.runLaunch(setting, [corner.number], true);
    const fault = confirmation.faults.get(access.instruction.id);
    const shown = fault ?? { event: lane, scenario };
    const isShown = fault !== undefined || (yield* performsAt(context, scenario, lane, access.instruction.id, lane.start));
    found.push({ access, target, wrap: wrapOf(context, narrow, lane), ...(isShown && { shown }) });
  }
  return found;
}

/** Whether the index of one of the two accesses of a race wraps around in its thread at the given launch. */
export function racesByWrapAround(context: KernelContext, makeInstances: () => Instances, { array, first, second }: RaceFinding): boolean {
  const setting = representativeLaunches(context).findLast(({ isLarge }) => isLarge);
  if (!setting) return false;
  const effort = effortOfKernel();
  let instances: Instances | undefined;
  return [first, second].some(({ operation, location, thread, block }) => {
    if (!thread || !block || !location) return false;
    return context.accesses.some((access) => {
      const { file, line } = placeOf(context.kernel, access.instruction);
      if (access.operation !== operation || file !== location.file || line !== location.line) return false;
      return access.targets.some((target) =>
        narrowIndices(context, target).some((narrow) => {
          if (baseName(context, target.base) !== array || !isOfGivenLaunch(context, narrow.term)) return false;
          const among = new AccessInLaunches(context, (instances ??= makeInstances()), access, target, effort);
          const lanes = wrapping(narrow, among.allIntegersOf(setting, block, narrow.term));
          return lanes.some((lane) => lane.thread.join() === thread.join());
        }),
      );
    });
  });
}

/** Narrow arithmetic of an access; with its size, unless the launch gives all of its numbers. */
interface NarrowAccess {
  readonly access: Access;
  readonly target: Target;
  readonly narrow: NarrowIndex;
  readonly size?: { readonly condition: WrapCondition; readonly when: string };
}

/** The accesses of which an index may wrap around: at the given launch according to ranges, or from a size on. */
export function narrowAccesses(context: KernelContext): readonly NarrowAccess[] {
  const found: NarrowAccess[] = [];
  for (const access of context.accesses) {
    if (access.memory === 'shared') continue;
    for (const target of access.targets)
      for (const narrow of narrowIndices(context, target)) {
        const one = { access, target, narrow };
        if (isOfGivenLaunch(context, narrow.term)) {
          found.push(one);
          continue;
        }
        const [form] = indexForms({ symbolic: context.symbolic, accesses: [{ ...access, targets: [target] }] });
        for (const condition of form ? wrapConditions(context, narrow, form.guards) : []) {
          const isCounted = isBelowWide(context, access, narrow) && !isOfThreads(context, condition, narrow);
          const isOpen = isScaled(condition, narrow) || isCounted;
          const text = isOpen ? productsText(context, condition.size) : null;
          if (text !== null) found.push({ ...one, size: { condition, when: `${text} > ${condition.most}` } });
        }
      }
  }
  return found;
}

/** An access of which an index may wrap around, in the source. */
export interface NarrowPlace {
  readonly array: string;
  readonly location: Location;
  readonly computedAt: readonly Location[];
  /** The size from which on it does; absent if the launch gives all of its numbers. */
  readonly when?: string;
}

/** The accesses of which an index may wrap around, in the source. */
export function narrowPlaces(context: KernelContext): readonly NarrowPlace[] {
  return narrowAccesses(context).map(({ access, target, narrow, size }) => ({
    array: baseName(context, target.base),
    location: placeOf(context.kernel, access.instruction),
    computedAt: computedAt(context, narrow),
    ...(size && { when: size.when }),
  }));
}

/** Notices on indices that wrap around from a size on, which the launch leaves open; one for each such condition. */
export function overflowNotices(context: KernelContext, narrowed: readonly NarrowAccess[], instances: Instances): readonly RaceFinding[] {
  const { overflow } = context.request.policy;
  if (overflow === 'allow') return [];
  const effort = effortOfKernel();
  const tried = new Map<string, number>();
  const found = new Map<string, NarrowAccess & { readonly condition: WrapCondition }>();
  for (const one of narrowed) {
    if (!one.size) continue;
    const { condition, when } = one.size;
    const others = tried.get(when);
    tried.set(when, (others ?? -1) + 1);
    if (others !== undefined) continue;
    const among = new AccessInLaunches(context, instances, one.access, one.target, effort);
    const isOfScalars = condition.size.every(({ factors }) => factors.every(({ term }) => term !== null));
    const counted = isOfScalars && isBelowWide(context, one.access, one.narrow) ? axisOf(one.narrow) : null;
    if (isExact(context, among, one.narrow, condition, counted)) found.set(when, { ...one, condition });
  }
  const entries = [...found].filter(([, { condition }], at) => {
    return ![...found.values()].some((other, index) => index !== at && comesFirst(other.condition, condition));
  });
  return entries.map(([when, { condition, narrow, access, target }]): RaceFinding => {
    const array = baseName(context, target.base);
    const described = describeAccess(context, access, undefined);
    return {
      code: 'memory/index-overflow',
      severity: overflow,
      fingerprint: fingerprintOf(context.request.identity, ['index-overflow', array, when]),
      kind: 'index-overflow',
      memory: 'global',
      array,
      first: described,
      second: described,
      confirmed: false,
      computedAt: computedAt(context, narrow),
      when,
      ...leadingOf(context, condition, when),
      ...((tried.get(when) ?? 0) > 0 && { more: tried.get(when)! }),
    };
  });
}

/** The condition without the products of fewer factors, if it has more than two products. */
function leadingOf(context: KernelContext, { size, most }: WrapCondition, when: string): { readonly about?: string } {
  const degree = Math.max(...size.map(({ factors }) => factors.length));
  const text =
    size.length > 2
      ? productsText(
          context,
          size.filter(({ factors }) => factors.length === degree),
        )
      : null;
  const about = `${text} > ${most}`;
  return text === null || about === when ? {} : { about };
}

/**
 * Whether a size is more than a number of elements, whose own type bounds it: a product, or a multiple, of a scalar. The number of
 * the threads of a launch does not count: the host program computes the grid.
 */
function isScaled({ size, most }: WrapCondition, { holds }: NarrowIndex): boolean {
  const isMultiple = most <= holds.high / 2n + 1n;
  return size.some(
    ({ coefficient, factors }) =>
      factors.some(({ term }) => term !== null) && (factors.length > 1 || isMultiple || coefficient > 1n || coefficient < -1n),
  );
}

/** Whether a size is the number of the threads of a launch, of which a loop over the grid needs few. */
function isOfThreads({ dimensions }: KernelContext, { size, most }: WrapCondition, { holds }: NarrowIndex): boolean {
  const each = most > 0n ? (holds.high + most / 2n) / most : 0n;
  const isOfBlock = dimensions.block.some((extent) => extent !== null && BigInt(extent) === each);
  return (each === 1n || isOfBlock) && size.every(({ factors }) => factors.every(({ term }) => term === null));
}

/** Whether the access is performed below a number of 64 bits, so that the program counts elements that 32 bits do not. */
function isBelowWide({ symbolic, fields }: KernelContext, { block }: Access, { term }: NarrowIndex): boolean {
  const seen = new Set<Term>();
  // Terms share parts, and each is visited once.
  const contains = (part: Term): boolean => {
    if (/^[sz]ext$/.test(part.operator) && part.arguments[0] === term) return true;
    if (seen.has(part)) return false;
    seen.add(part);
    return part.arguments.some(contains);
  };
  const isWide = ({ atom }: Term): boolean =>
    atom?.kind === 'parameter' &&
    fields.some(({ index, offset, bytes, isPointer }) => index === atom.index && offset === atom.offset && bytes === 8 && !isPointer);
  return partsOf(symbolic.reach(block)).some((part) => {
    const { operator, arguments: sides } = part.operator === 'not' ? part.arguments[0]! : part;
    return /^[su]lt$/.test(operator) && sides.some(({ leaves }) => leaves.some(isWide)) && sides.some(contains);
  });
}

/** Whether a condition holds wherever another one does. */
function comesFirst(first: WrapCondition, { size, most }: WrapCondition): boolean {
  const isWithin = ({ coefficient, factors }: Monomial): boolean =>
    first.size.some(
      (other) =>
        other.coefficient >= coefficient && other.factors.length === factors.length && withoutFactors(other.factors, factors)?.length === 0,
    );
  return first.most <= most && first.size.every(({ coefficient }) => coefficient > 0n) && size.every(isWithin);
}

/** Whether some thread wraps around in a launch of a size just above a bound, and none in one just below it. */
function isExact(
  context: KernelContext,
  among: AccessInLaunches,
  narrow: NarrowIndex,
  condition: WrapCondition,
  counted: 0 | 1 | 2 | null,
): boolean {
  const wraps = (setting: LaunchInstance): boolean =>
    wrapping(narrow, among.integersOf(setting, among.lastBlock(setting), narrow.term)).length > 0;
  // Not all iterations of long loops are evaluated, so that other numbers may show what these do not.
  for (const [below, above] of aroundBound(context, condition, counted)) {
    if (wraps(below)) return false;
    if (wraps(above)) return among.effort.left > 0;
  }
  return false;
}

/** The exponents of the powers of two to which all factors of a size but one are raised. */
const raised = [0n, 8n, 12n, 16n];

/**
 * Pairs of launches that differ in one number: the largest one for which a size is within a bound, and the next one.
 * @param counted the axis along which the grid has a thread for each element of the size, if that is so
 */
function* aroundBound(
  context: KernelContext,
  { size, most }: WrapCondition,
  counted: 0 | 1 | 2 | null,
): Generator<readonly [LaunchInstance, LaunchInstance]> {
  const large = representativeLaunches(context).find(({ isLarge }) => isLarge);
  if (!large) return;
  const base = { ...large, grid: widestGrid(context, large) };
  const knobs = knobsOf(context, size);
  const sizeIn = (setting: LaunchInstance): bigint | undefined => valueAt(size, lastThread(context, setting));
  for (const power of raised)
    for (const knob of knobs) {
      const others = knobs.filter((other) => other !== knob);
      const start = others.reduce((setting, other) => (power === 0n ? setting : other.turn(setting, 1n << power)), base);
      let [low, high] = [0n, knob.most];
      const isAbove = (value: bigint): boolean => (sizeIn(knob.turn(start, value)) ?? 0n) > most;
      if (!isAbove(high) || isAbove(1n)) continue;
      while (high - low > 1n) {
        const middle = (low + high) / 2n;
        if (isAbove(middle)) high = middle;
        else low = middle;
      }
      const pair = [low, high].map((value) => {
        const turned = knob.turn(start, value);
        return withTies(context, counted === null ? turned : forEach(context, turned, counted, sizeIn(turned) ?? 0n));
      });
      const [below, above] = pair;
      if (below && above && (sizeIn(below) ?? most) <= most && (sizeIn(above) ?? 0n) > most) yield [below, above];
    }
}

/** The axis of the only block index of narrow arithmetic; null if it has others. */
function axisOf({ term: { leaves } }: NarrowIndex): 0 | 1 | 2 | null {
  const axes = leaves.flatMap(({ atom }) => (atom?.kind === 'block' ? [atom.axis] : []));
  return axes.length === 1 ? axes[0]! : null;
}

/** A launch with a thread for each of some elements along an axis of the grid that is open. */
function forEach({ dimensions }: KernelContext, setting: LaunchInstance, axis: 0 | 1 | 2, elements: bigint): LaunchInstance {
  if (dimensions.grid[axis] !== null) return setting;
  const size = BigInt(setting.block[axis]);
  const blocks = Number((elements + size - 1n) / size);
  return { ...setting, grid: setting.grid.with(axis, Math.min(blocks, maximumGrid[axis])) as unknown as Dim3 };
}

/** The grid of a launch, along open axes the largest one in which no index of a thread wraps around. */
function widestGrid({ dimensions }: KernelContext, { block, grid }: LaunchInstance): Dim3 {
  const along = (axis: 0 | 1 | 2): number =>
    dimensions.grid[axis] === null ? Math.min(maximumGrid[axis], Math.floor(maximumGrid[0] / block[axis])) : grid[axis];
  return [along(0), along(1), along(2)];
}

/** A launch whose grid is as its scalars determine it; null if it violates assumptions. */
function withTies(context: KernelContext, setting: LaunchInstance): LaunchInstance | null {
  const grid = tiedGrid(context, setting);
  const tied = grid && { ...setting, grid };
  return tied && satisfiesAssumptions(context, tied) ? tied : null;
}

/** A number of a launch that is open: a scalar, or an extent of the grid. */
interface SizeKnob {
  readonly most: bigint;
  readonly turn: (setting: LaunchInstance, value: bigint) => LaunchInstance;
}

function knobsOf(context: KernelContext, size: readonly Monomial[]): readonly SizeKnob[] {
  const { dimensions, request } = context;
  const fields = new Set<ParameterField>();
  const axes = new Set<0 | 1 | 2>();
  for (const { factors } of size)
    for (const { term, key } of factors) {
      const field = term ? fieldOf(context, term) : undefined;
      if (field) fields.add(field);
      const axis = 'xyz'.indexOf(key.at(-1)!) as 0 | 1 | 2;
      if (term === null && key.startsWith('gridDim') && dimensions.grid[axis] === null) axes.add(axis);
    }
  const conditions = conditionsOf(request.assumptions);
  return [
    ...[...fields].map((field): SizeKnob => {
      const { index, offset, bytes } = field;
      // Sizes are evaluated as signed numbers.
      const [{ high }, signed] = [scalarBounds(conditions, request.parameters, index, offset, bytes), signedBounds(8 * bytes).high];
      return {
        most: high < signed ? high : signed,
        turn: (setting, value) => withScalar(setting, field, value),
      };
    }),
    ...[...axes].map((axis): SizeKnob => {
      const equal = scalarOfExtent(context, axis);
      return {
        most: BigInt(maximumGrid[axis]),
        turn: (setting, value) => {
          const turned = { ...setting, grid: setting.grid.with(axis, Number(value)) as unknown as Dim3 };
          return equal ? withScalar(turned, equal, value) : turned;
        },
      };
    }),
  ];
}

function withScalar(setting: LaunchInstance, { index, offset }: ParameterField, value: bigint): LaunchInstance {
  return { ...setting, scalar: (other) => (other.index === index && other.offset === offset ? value : setting.scalar(other)) };
}
