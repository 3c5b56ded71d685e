/** Chooses values of scalars that satisfy the user's assumptions: representative values if possible, otherwise any. */
import type { Dim3 } from '../../base/dim3.ts';
import { seededRandom } from '../../base/random.ts';
import { threadLimit } from '../../analysis/values/launch-bounds.ts';
import { type ParameterField, isFloat } from '../../launch/parameter-field.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { evaluateCondition, evaluateExpression } from '../../assumptions/evaluate.ts';
import { type Condition, type IntegerExpression, sidesOf } from '../../assumptions/expression.ts';
import type { ComparisonOperator } from '../../assumptions/operators.ts';
import { type NamedField, givenScalar, lookupIn, namedFields } from '../context/scalars.ts';
import { conditionsOf, scalarBounds } from '../premises/premises.ts';
import { fieldKey } from './scalar-sizes.ts';
import type { Bounds } from '../../term/linear.ts';

/** Number of random choices, and their seed. */
const random = { count: 48, seed: 31 } as const;

/** The value of a scalar. */
export type ScalarChoice = (field: ParameterField) => bigint;

/**
 * Values of the scalars that satisfy the stated assumptions; null if none were found.
 * @param block if absent, the block of the launch, or a small one
 * @param grid if absent, the grid of the launch, or a small one
 * @param most maximum of the values, unless the statements require larger ones
 */
export function chooseScalars(context: KernelAndLaunch, block?: Dim3, grid?: Dim3, most?: bigint): ScalarChoice | null {
  const [first] = scalarChoices(context, block, grid, most);
  return first ?? null;
}

/** Like {@link chooseScalars}, several choices: first the same value for all scalars, then random ones, always the same. */
export function* scalarChoices(
  context: KernelAndLaunch,
  block: Dim3 = someBlock(context),
  grid: Dim3 = someGrid(context),
  most?: bigint,
): Generator<ScalarChoice, void> {
  const { launch, parameters, assumptions } = context.request;
  const conditions = conditionsOf(assumptions);
  const threads = BigInt(block[0] * block[1] * block[2]);
  const total = threads * BigInt(grid[0] * grid[1] * grid[2]);
  const values = [total, threads, BigInt(block[0]), 1024n, 64n, 32n, 16n, 2n, 1n, 0n];
  const source = seededRandom(random.seed);
  const drawn = Array.from({ length: random.count }, () => {
    const of = new Map<string, bigint>();
    return (field: ParameterField): bigint => {
      const key = fieldKey(field);
      const known = of.get(key) ?? source.pick(field.bytes === 1 ? [0n, 1n] : values);
      of.set(key, known);
      return known;
    };
  });
  const named = namedFields(context, parameters);
  const satisfies = (scalar: ScalarChoice): boolean => {
    const valueOf = lookupIn(context, parameters, { block, grid, scalar }, named);
    return conditions.every((condition) => evaluateCondition(condition, valueOf) !== false);
  };
  const bounds = new Map<string, Bounds>();
  for (const wanted of [...values.map((value) => () => value), ...drawn]) {
    const known = new Map<string, bigint>();
    const choose: ScalarChoice = (field) => {
      const given = givenScalar(launch, field.index, field.offset, field.bytes);
      if (given !== undefined) return given;
      const mask = (1n << BigInt(8 * field.bytes)) - 1n;
      if (isFloat(context.kernel, parameters, field)) return field.bytes === 8 ? 0x3ff0000000000000n : 0x3f800000n;
      const value = wanted(field);
      const common = most !== undefined && value > most ? most : value;
      if (conditions.length === 0) return common & mask;
      const key = fieldKey(field);
      const { low, high } = bounds.get(key) ?? scalarBounds(conditions, parameters, field.index, field.offset, field.bytes);
      bounds.set(key, { low, high });
      return (common < low ? low : common > high ? high : common) & mask;
    };
    const scalar: ScalarChoice = (field) => {
      const key = fieldKey(field);
      let value = known.get(key);
      if (value === undefined) known.set(key, (value = choose(field)));
      return value;
    };
    if (satisfies(scalar)) yield scalar;
    else {
      const moved = movedToBounds(context, conditions, { block, grid, scalar }, named);
      if (moved && satisfies(moved)) yield moved;
    }
  }
}

interface ChosenLaunch {
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly scalar: ScalarChoice;
}

/** Passes over all statements: a stride that is moved may be in the bound of another one. */
const maxPasses = 4;

/**
 * The values of a launch in which each scalar that violates a comparison with a sum is moved to that bound: strides that nest
 * differ from each other. Null if none violates one.
 */
function movedToBounds(
  context: KernelAndLaunch,
  conditions: readonly Condition[],
  chosen: ChosenLaunch,
  named: NamedField,
): ScalarChoice | null {
  const { launch, parameters } = context.request;
  const moved = new Map<string, bigint>();
  const scalar: ScalarChoice = (field) => moved.get(fieldKey(field)) ?? chosen.scalar(field);
  const valueOf = lookupIn(context, parameters, { ...chosen, scalar }, named);
  const move = (subject: IntegerExpression, operator: ComparisonOperator, bound: bigint): boolean => {
    const field = subject.kind === 'parameter' ? named(subject)?.field : undefined;
    if (!field || givenScalar(launch, field.index, field.offset, field.bytes) !== undefined) return false;
    const value = operator === '>' ? bound + 1n : operator === '<' ? bound - 1n : bound;
    if (value < 0n || value >= 1n << BigInt(8 * field.bytes - 1)) return false;
    moved.set(fieldKey(field), value);
    return true;
  };
  for (let pass = 0, isMoving = true; isMoving && pass < maxPasses; pass++) {
    isMoving = false;
    for (const condition of conditions) {
      if (condition.kind !== 'comparison' || condition.operator === '!=' || evaluateCondition(condition, valueOf) !== false) continue;
      const [subject, operator, other] = sidesOf(condition).find(([side]) => side.kind === 'parameter') ?? [];
      const bound = other && evaluateExpression(other, valueOf);
      if (bound !== undefined && move(subject!, operator!, bound)) isMoving = true;
    }
  }
  return moved.size > 0 ? scalar : null;
}

function someBlock({ dimensions, kernel }: KernelAndLaunch): Dim3 {
  const limit = threadLimit(kernel);
  const open = dimensions.block.filter((size) => size === null).length;
  for (let size = open <= 1 ? 64 : open === 2 ? 8 : 4; size > 1; size >>= 1) {
    const [x, y, z] = dimensions.block.map((along) => along ?? size) as [number, number, number];
    if (x * y * z <= limit) return [x, y, z];
  }
  const [x, y, z] = dimensions.block.map((along) => along ?? 1) as [number, number, number];
  return [x, y, z];
}

function someGrid({ dimensions }: KernelAndLaunch): Dim3 {
  const open = dimensions.grid.filter((size) => size === null).length;
  const [x, y, z] = dimensions.grid.map((size) => size ?? (open <= 1 ? 4 : 2)) as [number, number, number];
  return [x, y, z];
}
