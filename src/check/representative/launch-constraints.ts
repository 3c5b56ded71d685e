/**
 * Equations between the dimensions of a launch and its scalars, such as `gridDim.x == (n + 255) / 256`, which
 * representative launches satisfy.
 */
import { type Lookup, constantOf, evaluateExpression } from '../../assumptions/evaluate.ts';
import { type Condition, type IntegerExpression, type LaunchName, isLaunchName, sidesOf } from '../../assumptions/expression.ts';
import { launchNamesIn } from '../../assumptions/parts.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Random } from '../../base/random.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { integerField, lookupIn, type KnownLaunch } from '../context/scalars.ts';
import { conditionsOf, namedScalar } from '../premises/premises.ts';

/** An equation between a name and an expression. */
interface Equation {
  readonly name: LaunchName;
  readonly value: IntegerExpression;
}

/** The equations among the stated assumptions. */
function equationsOf({ request }: Pick<KernelAndLaunch, 'request'>): readonly Equation[] {
  return conditionsOf(request.assumptions).flatMap((condition): Equation[] => {
    if (condition.kind !== 'comparison' || condition.operator !== '==') return [];
    return sidesOf(condition).flatMap(([name, , value]) => (isLaunchName(name) ? [{ name, value }] : []));
  });
}

/**
 * The values of a scalar in the launches of the host program, in order; undefined if the program does not enumerate
 * them. They count as given: representative launches use no other values, and preconditions exclude none of them.
 */
export function listedValues(context: KernelAndLaunch, field: ParameterField): readonly bigint[] | undefined {
  const { ties = [] } = context.request.launch;
  for (const { expression } of ties) {
    const values = expression.kind === 'condition' ? valuesIn(context, expression.condition, field) : null;
    if (values && values.length > 1) return values;
  }
  return undefined;
}

/** Limit on the values of a range that counts as an enumeration. */
const maxListed = 64n;

/** The values that `m == 2 || m == 3` or `m >= 2 && m <= 9` enumerates; null for other conditions. */
function valuesIn(context: KernelAndLaunch, condition: Condition, field: ParameterField): readonly bigint[] | null {
  if (condition.kind === 'and') {
    const { left: least, right: most } = condition;
    const ends = [least, most].map((end, at) =>
      end.kind === 'comparison' && end.operator === (at === 0 ? '>=' : '<=')
        ? valuesIn(context, { ...end, operator: '==' }, field)?.[0]
        : undefined,
    );
    const [low, high] = ends;
    if (low === undefined || high === undefined || high - low > maxListed) return null;
    return Array.from({ length: Number(high - low) + 1 }, (_, at) => low + BigInt(at));
  }
  if (condition.kind === 'or') {
    const [a, b] = [valuesIn(context, condition.left, field), valuesIn(context, condition.right, field)];
    return a && b && [...a, ...b];
  }
  if (condition.kind !== 'comparison' || condition.operator !== '==') return null;
  const { left, right } = condition;
  const isOwn = left.kind === 'parameter' && fieldNamed(context, left.path)?.field === field;
  return isOwn && right.kind === 'integer' ? [right.value] : null;
}

/** The field of the kernel's parameters that a name denotes. */
function fieldNamed(context: KernelAndLaunch, path: readonly string[]): { field: ParameterField; type: string } | null {
  const named = namedScalar(context.request.parameters, path);
  const field = named && integerField(context, named);
  return named && field ? { field, type: named.type } : null;
}

function lookupOf(context: KernelAndLaunch, chosen: KnownLaunch): Lookup {
  return lookupIn(context, context.request.parameters, chosen);
}

/** Maximum number of blocks along an axis in a run. */
const maxBlocks = 1n << 20n;
/** Maximum of a number of which an extent of the grid is a multiple. */
const maxUnit = 64n;
/** Maximum quotient of a sampled extent and such a number. */
const maxQuotient = 8;

/**
 * The grid dimensions that the equations determine from scalars and block; unconstrained axes keep their chosen extent.
 * @returns null if an axis would have no block, or too many
 */
export function tiedGrid(context: KernelAndLaunch, chosen: KnownLaunch): Dim3 | null {
  const open = context.dimensions.grid;
  const equations = equationsOf(context).filter(({ name }) => name.kind === 'dimension' && name.name === 'gridDim');
  const grid = [...chosen.grid] as [number, number, number];
  const known = new Set<number>();
  // The extent of one axis may depend on another, so the equations are evaluated once per axis.
  for (let round = 0; round < 3; round++) {
    for (const { name, value } of equations) {
      if (name.kind !== 'dimension' || open[name.axis] !== null || known.has(name.axis)) continue;
      const others = lookupOf(context, { ...chosen, grid });
      const lookup: Lookup = (leaf) =>
        leaf.kind === 'dimension' && leaf.name === 'gridDim' && open[leaf.axis] === null && !known.has(leaf.axis)
          ? undefined
          : others(leaf);
      const blocks = evaluateExpression(value, lookup);
      if (blocks === undefined) continue;
      if (blocks < 1n || blocks > maxBlocks) return null;
      grid[name.axis] = Number(blocks);
      known.add(name.axis);
    }
  }
  return grid;
}

/** The scalar that an extent of the grid is equal to, by a stated equation; undefined without such an equation. */
export function scalarOfExtent(context: KernelAndLaunch, axis: 0 | 1 | 2): ParameterField | undefined {
  const fields = equationsOf(context).flatMap(({ name, value }) => {
    const isOfAxis = name.kind === 'dimension' && name.name === 'gridDim' && name.axis === axis;
    return isOfAxis && value.kind === 'parameter' ? [fieldNamed(context, value.path)?.field] : [];
  });
  return fields.find((field) => field !== undefined);
}

/**
 * The grid with the extents raised that a scalar divides, to at least two times the scalar: to a multiple of it, if
 * `gridDim.z % groups == 0` is stated, else with a remainder.
 * @param random source of sampled extents; if absent, they are the smallest ones
 */
export function dividedGrid(context: KernelAndLaunch, chosen: KnownLaunch, random: Random | undefined): Dim3 {
  const grid = [...chosen.grid] as [number, number, number];
  const equations = conditionsOf(context.request.assumptions).flatMap((condition) =>
    condition.kind === 'comparison' && condition.operator === '==' ? [condition] : [],
  );
  const whole = new Set<number>();
  for (const equation of equations)
    for (const [division, , other] of sidesOf(equation)) {
      if (division.kind !== 'arithmetic' || (division.operator !== '/' && division.operator !== '%')) continue;
      const { left: extent, right: unit } = division;
      if (extent.kind !== 'dimension' || extent.name !== 'gridDim') continue;
      const { axis } = extent;
      if (context.dimensions.grid[axis] !== null) continue;
      const by = evaluateExpression(unit, lookupOf(context, chosen));
      if (by === undefined || by < 2n || by > maxUnit) continue;
      const isWhole = division.operator === '%' && constantOf(other) === 0n;
      if (isWhole) whole.add(axis);
      const least = Math.max(grid[axis], (random?.between(1, maxQuotient) ?? 2) * Number(by));
      // Of large grids only blocks at the corners are evaluated, so one block is left.
      const rest = random?.below(2) ?? 1;
      if (isWhole) grid[axis] = Number(by) * Math.ceil(least / Number(by));
      else if (!whole.has(axis)) grid[axis] = least % Number(by) === 0 ? least + rest : least;
    }
  return grid;
}

/**
 * Values of scalars that equations determine from others and from the block: `n` by `n == 2 * blockDim.x`, `size` by
 * `blockDim.x == size / heads`. Each equation is solved for one scalar; several times, since equations share scalars.
 * Parameters that the kernel does not read are determined, too.
 * @param isOpen whether a scalar that the kernel reads may be changed
 */
export function tiedScalars(
  context: KernelAndLaunch,
  chosen: KnownLaunch,
  isOpen: (field: ParameterField) => boolean,
): Map<ParameterField, bigint> {
  const values = new Map<ParameterField, bigint>();
  const isRead = (field: ParameterField): boolean => context.fields.some((one) => isOne(one, field));
  const known: KnownLaunch = {
    ...chosen,
    scalar: (field) => [...values].find(([one]) => isOne(one, field))?.[1] ?? chosen.scalar(field),
  };
  const mayChange = (field: ParameterField): boolean => (isRead(field) ? isOpen(field) : chosen.scalar(field) === undefined);
  const set = (field: ParameterField, value: bigint): void => {
    const same = [...values.keys()].find((one) => isOne(one, field)) ?? field;
    values.set(same, BigInt.asUintN(8 * field.bytes, value));
  };
  for (let times = 0; times < mostSolved; times++) {
    for (const { name, value } of equationsOf(context)) {
      const number = evaluateExpression(value, lookupOf(context, known));
      if (name.kind === 'parameter') {
        const own = fieldNamed(context, name.path)?.field;
        if (own && mayChange(own) && number !== undefined && number >= 0n) set(own, number);
      } else if (name.kind === 'dimension' && name.name === 'blockDim') {
        const wanted = BigInt(chosen.block[name.axis]);
        if (number === wanted) continue;
        for (const field of fieldsIn(context, value)) {
          const at = valueBy(context, value, known, field);
          const least = mayChange(field) ? leastFor(at, wanted) : undefined;
          if (least === undefined || at(least) !== wanted) continue;
          set(field, least);
          break;
        }
      }
    }
  }
  return values;
}

/** How often all equations are solved one after the other. */
const mostSolved = 3;

/**
 * Values of scalars that determine others by equations (`pitch == 4 * width`), raised until the determined scalars
 * reach their chosen values. For example, a stride is raised by raising the width that determines it.
 */
export function raisedScalars(
  context: KernelAndLaunch,
  chosen: KnownLaunch,
  isOpen: (field: ParameterField) => boolean,
): Map<ParameterField, bigint> {
  const values = new Map<ParameterField, bigint>();
  for (const { name, value } of equationsOf(context)) {
    if (name.kind !== 'parameter') continue;
    const own = fieldNamed(context, name.path);
    const wanted = own && isOpen(own.field) ? chosen.scalar(own.field) : undefined;
    if (!own || wanted === undefined) continue;
    const sources = context.fields.filter((field) => field !== own.field && !field.isPointer && dependsOn(context, value, field));
    const [source] = sources;
    if (!source || sources.length > 1 || !isOpen(source)) continue;
    const at = valueBy(context, value, chosen, source);
    const before = chosen.scalar(source);
    const now = before === undefined ? undefined : at(before);
    if (now === undefined || now >= wanted) continue;
    const least = leastFor(at, wanted);
    if (least !== undefined && least > (values.get(source) ?? before!)) values.set(source, least);
  }
  return values;
}

/**
 * A value of a scalar for which the constrained grid has the chosen number of blocks along an axis; undefined if no
 * constraint contains the scalar.
 * @param rest idle threads of the last block, in sixteenths of the block, if the program handles a remainder
 */
export function sizeForGrid(context: KernelAndLaunch, field: ParameterField, chosen: KnownLaunch, rest: number): bigint | undefined {
  for (const { name, value } of equationsOf(context)) {
    if (name.kind !== 'dimension' || name.name !== 'gridDim') continue;
    const wanted = BigInt(chosen.grid[name.axis]);
    const at = valueBy(context, value, chosen, field);
    if (!dependsOn(context, value, field)) continue;
    const least = leastFor(at, wanted);
    const next = least === undefined ? undefined : leastFor(at, wanted + 1n);
    if (least === undefined) continue;
    // `n / 256` blocks: the program assumes that n is a multiple. `(n + 255) / 256` blocks: the program handles a
    // remainder.
    const handlesRest = (at(1n) ?? 0n) >= 1n;
    if (!handlesRest || next === undefined) return least;
    return least + ((next - least - 1n) * BigInt(16 - rest)) / 16n;
  }
  return undefined;
}

/**
 * For each parameter that the kernel does not read but that determines the grid or a scalar (`n == images * size`), a
 * value for which the grid has the chosen number of blocks, or the scalar at least its chosen value. No other rule
 * chooses values for such parameters.
 */
export function unreadSizes(context: KernelAndLaunch, chosen: KnownLaunch, rest: number): Map<ParameterField, bigint> {
  const sizes = new Map<ParameterField, bigint>();
  const visit = (value: IntegerExpression, sizeOf: (field: ParameterField) => bigint | undefined): void => {
    for (const field of fieldsIn(context, value)) {
      if (chosen.scalar(field) !== undefined || context.fields.some((one) => isOne(one, field))) continue;
      const size = sizeOf(field);
      if (size !== undefined) sizes.set(field, size);
    }
  };
  for (const { name, value } of equationsOf(context)) {
    if (name.kind === 'dimension' && name.name === 'gridDim') visit(value, (field) => sizeForGrid(context, field, chosen, rest));
    const own = name.kind === 'parameter' ? fieldNamed(context, name.path)?.field : undefined;
    const wanted = own && chosen.scalar(own);
    if (own && wanted !== undefined) visit(value, (field) => leastFor(valueBy(context, value, chosen, field), wanted));
  }
  return sizes;
}

/** The value of an expression in a launch, as a function of one scalar. */
function valueBy(
  context: KernelAndLaunch,
  expression: IntegerExpression,
  chosen: KnownLaunch,
  field: ParameterField,
): (size: bigint) => bigint | undefined {
  return (size) =>
    evaluateExpression(expression, lookupOf(context, { ...chosen, scalar: (one) => (isOne(one, field) ? size : chosen.scalar(one)) }));
}

function isOne(a: ParameterField, b: ParameterField): boolean {
  return a.index === b.index && a.offset === b.offset && a.bytes === b.bytes;
}

/** Limit on divisors of sizes; larger divisors are block sizes. */
const largestDivisor = 16n;

/**
 * Constants other than the block size by which the host program divides a scalar: 2 for `(h / 2 + 7) / 8` blocks. The
 * scalar is assumed to be a multiple, since the program ignores the remainder.
 */
export function tiedDivisors(context: KernelAndLaunch, field: ParameterField): readonly bigint[] {
  const found = new Set<bigint>();
  const visit = (node: IntegerExpression, isInner: boolean): void => {
    if (node.kind !== 'arithmetic') return;
    const { operator, left, right } = node;
    const isOwn = left.kind === 'parameter' && fieldNamed(context, left.path)?.field === field;
    if (isInner && operator === '/' && isOwn && right.kind === 'integer' && right.value > 1n && right.value <= largestDivisor)
      found.add(right.value);
    visit(left, true);
    visit(right, true);
  };
  for (const { name, value } of equationsOf(context)) if (name.kind === 'dimension') visit(value, false);
  return [...found];
}

/** The fields of the kernel's parameters in an expression. */
function fieldsIn(context: KernelAndLaunch, expression: IntegerExpression): readonly ParameterField[] {
  return launchNamesIn(expression).flatMap((name) => (name.kind === 'parameter' ? (fieldNamed(context, name.path)?.field ?? []) : []));
}

function dependsOn(context: KernelAndLaunch, expression: IntegerExpression, field: ParameterField): boolean {
  return fieldsIn(context, expression).some((one) => isOne(one, field));
}

/** The smallest positive argument at which a nondecreasing function reaches a value; undefined if none exists. */
function leastFor(at: (size: bigint) => bigint | undefined, wanted: bigint): bigint | undefined {
  let [low, high] = [1n, 1n];
  for (let now = at(high); now === undefined || now < wanted; now = at(high)) {
    if (now === undefined || high > 1n << 24n) return undefined;
    low = high;
    high *= 2n;
  }
  while (low < high) {
    const middle = (low + high) / 2n;
    const now = at(middle);
    if (now === undefined) return undefined;
    if (now >= wanted) high = middle;
    else low = middle + 1n;
  }
  return high;
}
