/** Candidate preconditions of a proof, from the shape of the indices. */
import type { Access } from '../../analysis/values/access.ts';
import { parseAssumption } from '../../assumptions/assumption-parser.ts';
import { type Lookup, evaluateCondition } from '../../assumptions/evaluate.ts';
import { type ParameterField, fieldName } from '../../launch/parameter-field.ts';
import type { StatedAssumption } from '../../launch/parameter-source.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { integerField } from '../context/scalars.ts';
import { namedScalar } from '../premises/premises.ts';
import type { CheckResult } from '../request/check-request.ts';
import type { Monomial } from '../shape/monomial.ts';
import { fieldOf } from '../shape/roles.ts';
import { listedValues } from './launch-constraints.ts';
import { nestingText } from './nesting-text.ts';
import { type LaunchInstance, representativeLaunches, satisfiesAssumptions, shapeOf } from './representative-launches.ts';

/** Limit on the number of candidate preconditions. */
const maxCandidates = 12;

/** Statements that strides nest in one order. */
export type StrideOrderCase = readonly StatedAssumption[];

/**
 * Candidate preconditions: statements that only exclude unrealistic launches, and statements on the shape of the block.
 * @param ofAll whether small launch instances satisfy them, too, and not only large ones
 */
export function preconditionCandidates(
  context: KernelAndLaunch & SymbolicFacts,
  result: Pick<CheckResult, 'open'>,
  ofAll: boolean,
): {
  readonly weak: readonly StatedAssumption[];
  readonly shapes: readonly StatedAssumption[];
  /** Those weak candidates that state that a size is positive. */
  readonly sizes: readonly StatedAssumption[];
  /**
   * For each order of the strides, what it states beyond the weak candidates: each launch instance satisfies all statements of
   * one order. Empty if one order suffices, or if some instance satisfies none of them.
   */
  readonly orders: readonly StrideOrderCase[];
} {
  const { dimensions, request, kernel } = context;
  const shape = shapeOf(context);
  const settings = representativeLaunches(context);
  const large = settings.filter(({ isLarge }) => isLarge);
  const nameOf = (of: Parameters<typeof fieldName>[1]): string => fieldName(request.parameters, of, kernel);
  const open = new Set(result.open.races.flatMap(({ first, second }) => [first, second]));
  const texts: string[] = [];
  // A divisor of an index is a size, as it is the number of values of the remainder.
  const isDivisor = (field: ParameterField): boolean =>
    shape.divisors.some(({ leaves }) => leaves.some((leaf) => fieldOf(context, leaf) === field));
  const positive = shape.scalars.flatMap(({ field, isSize }) => (isSize || isDivisor(field) ? [`${nameOf(field)} >= 1`] : []));
  texts.push(...positive);
  const isOpen = ({ instruction }: Access): boolean => open.size === 0 || open.has(instruction.id);
  const constantOf = (sum: readonly Monomial[]): bigint => sum.find(({ factors }) => factors.length === 0)?.coefficient ?? 0n;
  const nested = (['last', 'first'] as const).map((order) =>
    shape
      .nestings(order)
      .filter(({ form }) => isOpen(form.access))
      // Of two extents that differ by a constant, the larger one comes last, so that it is removed first.
      .toSorted((a, b) => Number(constantOf(a.below) - constantOf(b.below)))
      .flatMap(({ stride, below }) => nestingText(context, stride, below)?.nests ?? []),
  );
  texts.push(...nested.flat());
  for (const { field, mask, divisors } of shape.scalars) {
    if (mask !== null) texts.push(`(${nameOf(field)} & (${nameOf(field)} ${mask === 'size' ? '-' : '+'} 1)) == 0`);
    if (divisors.length === 1) texts.push(`${nameOf(field)} % ${divisors[0]} == 0`);
  }
  const free = ([0, 1, 2] as const).filter((axis) => dimensions.block[axis] === null);
  for (const axis of free) if (shape.rankOnly[axis] === true) texts.push(`blockDim.${'xyz'[axis]} == 1`);
  if (shape.usesWarps && free.includes(0)) texts.push('blockDim.x % 32 == 0');
  const hints = shape.axes;
  for (const axis of free) if (hints[axis]!.suggested.length > 0) texts.push(`blockDim.${'xyz'[axis]} <= ${hints[axis]!.most}`);
  const shapes = free.flatMap((axis) => {
    const sizes = new Set(large.map(({ block }) => block[axis]));
    const [size] = sizes;
    const name = `blockDim.${'xyz'[axis]}`;
    return sizes.size === 1 && shape.rankOnly[axis] !== true ? [`${name} <= ${size}`, `${name} == ${size}`] : [];
  });
  const instances = ofAll ? settings : large;
  const parsed = (list: readonly string[]): StatedAssumption[] =>
    [...new Set(list)].slice(0, maxCandidates).flatMap((text): StatedAssumption[] => {
      const statement = parseAssumption(text);
      if (!('expression' in statement) || request.assumptions.some((one) => one.text === text)) return [];
      const asked = { expression: statement.expression, text };
      return isMetByListed(context, asked) ? [asked] : [];
    });
  const satisfies = (setting: LaunchInstance, assumptions: readonly StatedAssumption[]): boolean =>
    satisfiesAssumptions({ ...context, request: { ...request, assumptions } }, setting);
  const stated = (list: readonly string[]): StatedAssumption[] =>
    large.length === 0 ? [] : parsed(list).filter((statement) => instances.every((setting) => satisfies(setting, [statement])));
  const weak = stated(texts);
  const sizes = weak.filter(({ text }) => positive.includes(text));
  const beyond = nested.map((list) => parsed(list).filter(({ text }) => weak.every((one) => one.text !== text)));
  const isOneOf =
    large.length > 0 &&
    beyond.every((list) => list.length > 0) &&
    instances.every((setting) => beyond.some((list) => satisfies(setting, list)));
  return { weak, shapes: stated(shapes.filter((text) => !texts.includes(text))), sizes, orders: isOneOf ? beyond : [] };
}

/**
 * Whether every value that the host program enumerates for a scalar satisfies a statement on that scalar, without
 * further facts.
 */
function isMetByListed(context: KernelAndLaunch, { expression }: StatedAssumption): boolean {
  if (expression.kind !== 'condition') return true;
  return context.fields.every((field) =>
    (listedValues(context, field) ?? []).every((value) => {
      const lookup: Lookup = (name) => {
        const named = name.kind === 'parameter' ? namedScalar(context.request.parameters, name.path) : null;
        return named && integerField(context, named) === field ? value : undefined;
      };
      return evaluateCondition(expression.condition, lookup) !== false;
    }),
  );
}
