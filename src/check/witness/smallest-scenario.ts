/** Shrinks the run that shows a finding, if its launch or scalars are chosen. */
import { absolute } from '../../base/integer.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { givenScalar, memoryOf } from '../context/scalars.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Steps } from '../../base/coroutine.ts';
import type { PairScope } from '../obligations/instance.ts';
import { type ParameterField, isFloat } from '../../launch/parameter-field.ts';
import { isRepresentative, satisfiesAssumptions } from '../representative/representative-launches.ts';
import type { Scenario, Shown } from './replay.ts';

/** A dimension or scalar that may be varied: its value in a scenario, and the scenario with another value. */
interface Knob {
  readonly value: (scenario: Scenario) => bigint;
  readonly turn: (scenario: Scenario, value: bigint) => Scenario;
  readonly least: 0n | 1n;
  /** Whether the value is a dimension of the launch. */
  readonly isExtent: boolean;
}

/**
 * Searches for the smallest value of each variable in sequence, first by trying 1, 2 and 0, then by halving.
 * @param tries runs a scenario; undefined if the run does not show the finding
 * @returns the witness with smaller values, or `shown`
 */
export function* shrink<Event>(
  context: KernelAndLaunch & SymbolicFacts,
  shown: Shown<Event>,
  scope: PairScope,
  tries: (scenario: Scenario) => Steps<Event | undefined>,
): Steps<Shown<Event>> {
  let best = shown;
  function* accepts(turned: Scenario): Steps<boolean> {
    const scenario = { ...turned, ...memoryOf(context, turned) };
    if (!satisfiesAssumptions(context, scenario) || !isRepresentative(context, { ...scenario, isLarge: false })) return false;
    const event = yield* tries(scenario);
    if (event !== undefined) best = { event, scenario };
    return event !== undefined;
  }
  const list = knobs(context, scope);
  // Smaller scalars may permit still smaller dimensions, so the list is processed twice.
  for (const { value, turn, least, isExtent } of [...list, ...list]) {
    const now = value(best.scenario);
    const size = absolute(now);
    const small = [1n, 2n, ...(least === 0n ? [0n] : [])].filter((candidate) => candidate < size);
    let isSmall = false;
    for (const candidate of small) if ((isSmall = yield* accepts(turn(best.scenario, candidate)))) break;
    // The first candidate is a power of two, since halves of 992 threads are not whole warps.
    const first = isExtent ? 1n << BigInt((now - 1n).toString(2).length - 1) : now / 2n;
    for (let half = first; !isSmall && (half > 2n || half < -2n); half /= 2n) if (!(yield* accepts(turn(best.scenario, half)))) break;
  }
  return best;
}

/**
 * The variables: unspecified dimensions, those of the grid first as they save most, and unspecified integer scalars.
 */
function knobs(context: KernelAndLaunch, scope: PairScope): Knob[] {
  const { dimensions, fields, kernel, request } = context;
  const axes = [0, 1, 2] as const;
  const grid = axes.filter((axis) => dimensions.grid[axis] === null);
  const block = axes.filter((axis) => dimensions.block[axis] === null);
  const isReadWhole = (field: ParameterField): boolean =>
    // A value that the kernel also reads in part is excluded, as all fields of its bytes would have to change.
    !fields.some(
      (other) =>
        other !== field &&
        other.index === field.index &&
        other.offset < field.offset + field.bytes &&
        field.offset < other.offset + other.bytes,
    );
  const scalars = fields.filter(
    (field) =>
      !field.isPointer &&
      isReadWhole(field) &&
      !isFloat(kernel, request.parameters, field) &&
      givenScalar(request.launch, field.index, field.offset, field.bytes) === undefined,
  );
  return [
    ...grid.map((axis): Knob => ({
      value: (scenario) => BigInt(scenario.grid[axis]),
      turn: (scenario, value) => {
        const changed = withAxis(scenario.grid, axis, value);
        const count = changed[0] * changed[1] * changed[2];
        const blocks = scope === 'grid' ? [0, 1].filter((number) => number < count) : [0];
        return { ...scenario, grid: changed, blocks };
      },
      least: 1n,
      isExtent: true,
    })),
    ...block.map((axis): Knob => ({
      value: (scenario) => BigInt(scenario.block[axis]),
      turn: (scenario, value) => ({ ...scenario, block: withAxis(scenario.block, axis, value) }),
      least: 1n,
      isExtent: true,
    })),
    ...scalars.map((field): Knob => ({
      value: ({ scalar }) => BigInt.asIntN(8 * field.bytes, scalar(field)),
      turn: (scenario, value) => ({
        ...scenario,
        scalar: (other: ParameterField) => (other === field ? BigInt.asUintN(8 * field.bytes, value) : scenario.scalar(other)),
      }),
      least: 0n,
      isExtent: false,
    })),
  ];
}

function withAxis(of: Dim3, axis: 0 | 1 | 2, value: bigint): Dim3 {
  const size = (at: 0 | 1 | 2): number => (at === axis ? Number(value) : of[at]);
  return [size(0), size(1), size(2)];
}
