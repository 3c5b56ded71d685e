/** Compares bounds of a kernel of the head with those of the base: by expression, at arguments, and by line. */
import type { Severity } from '../../source/severity.ts';
import type { Regression } from '../../report-model/regression.ts';
import { sizeOf, sizes } from '../pipeline/cost/cost-reference.ts';
import { boundSeries } from '../pipeline/cost/cost-series.ts';
import { readBound } from '../../cost/expressions/bound-parser.ts';
import { compareBounds } from '../../cost/expressions/compared-bounds.ts';
import { type Expression, add, constant, evaluate, named, namesOf, scale, zero } from '../../cost/expressions/expression.ts';
import { expressionText } from '../../cost/expressions/expression-text.ts';
import { type BoundMetric, boundTable } from '../../cost/model/metrics.ts';
import { substitute } from '../../cost/expressions/expression-order.ts';
import { numberOfRational, rational, type Rational } from '../../cost/expressions/rational.ts';
import type { Location } from '../../source/location.ts';
import type { Threshold, Thresholds } from '../../settings/cost-policy.ts';
import { referenceOf, renamedParameters } from '../pipeline/cost/cost-reference.ts';
import type { BoundReport, CostReport, LineCost } from '../../report-model/cost-report.ts';
import type { LineMatch } from './line-match.ts';
import { type CostPair, allowed, hasSameShape, regressionOf } from './cost-pair.ts';

/** Substitutes the parameter names of an expression. */
export type Rename = (expression: Expression) => Expression;

/** Gives expressions of the base the names that parameters have in the head. */
export function renamer({ base, head }: CostPair): Rename {
  const names = renamedParameters(base.entry, head.entry);
  return (expression) =>
    names.size === 0 ? expression : substitute(expression, (name) => (names.has(name) ? named(names.get(name)!) : undefined));
}

/** The values of both bounds at some arguments. */
interface Point {
  readonly values: (name: string) => bigint;
  readonly base: Rational;
  readonly head: Rational;
}

interface BoundChange {
  readonly build: 'source' | 'production';
  readonly base: Expression;
  readonly head: Expression;
  /** Whether the bound of the head is at least that of the base at all arguments. */
  readonly isLarger: boolean;
  /** The name of a parameter or dimension with which the bound of the head grows faster; null if none exists. */
  readonly growsWith: string | null;
  readonly isReference: boolean;
  readonly points: readonly Point[];
  /** Values of both bounds under the same launch at other arguments. */
  readonly elsewhere: readonly Point[];
}

/** How a bound of the head is worse, in the build that decides; null if it is not. */
export function boundRegression(
  pair: CostPair,
  metric: BoundMetric,
  thresholds: Thresholds | undefined,
  rename: Rename,
  lines: LineMatch | null,
): Regression | null {
  if (!thresholds && !hasSameShape(pair)) return null;
  const of = (build: 'source' | 'production') => ({
    base: pair.base.cost.bounds[build]?.[metric],
    head: pair.head.cost.bounds[build]?.[metric],
  });
  const [written, compiled] = [of('source'), of('production')];
  const isKnown = ({ base, head }: ReturnType<typeof of>): boolean => typeof base?.bound === 'string' && typeof head?.bound === 'string';
  // The production build decides if it has bounds.
  const judged = isKnown(compiled) ? 'production' : isKnown(written) ? 'source' : null;
  if (judged === null) return lostBound(pair, metric, thresholds, written.base ?? compiled.base, written.head ?? compiled.head);
  const change = changeOf(pair, metric, judged, rename);
  const severity = change && severityOf(change, metric, thresholds);
  if (!change || !severity) return null;
  // The source is familiar to readers: if the bounds of the verification build are worse as well, they are reported
  // too.
  const source = judged === 'production' && isKnown(written) ? changeOf(pair, metric, 'source', rename) : null;
  const isShown = source !== null && severityOf(source, metric, thresholds) !== null;
  const told = isShown ? source : change;
  const line = worstLine(pair, metric, told, rename, lines);
  const [point] = told.points;
  const [baseValue, headValue] = [numberOfRational(point!.base), numberOfRational(point!.head)];
  const exceeded = severity === 'notice' ? undefined : thresholds?.[severity === 'error' ? 'fail' : 'warn'];
  return regressionOf(pair, {
    metric,
    ...(told.isReference ? { series: boundSeries(pair.head.entry, metric, told.build) } : {}),
    severity,
    build: told.build,
    base: expressionText(told.base),
    head: boundOf(pair.head.cost, told.build, metric),
    baseValue,
    headValue,
    at: argumentsOf(told, point!),
    ratio: baseValue === 0 ? null : headValue / baseValue,
    ...(told.growsWith === null ? {} : { asymptotic: true as const, growsWith: told.growsWith }),
    ...(line ? { location: line.location } : {}),
    ...(line?.reason === undefined ? {} : { reason: line.reason }),
    ...(exceeded ? { limit: exceeded.text } : {}),
  });
}

/**
 * The bounds of both sides in the names of the head, and the name with which that of the head grows faster; null if a
 * side has none.
 */
export function boundsOfBoth(
  pair: CostPair,
  metric: BoundMetric,
  build: 'source' | 'production',
  rename: Rename,
): {
  readonly build: 'source' | 'production';
  readonly base: string;
  readonly head: string;
  readonly growsWith: string | null;
} | null {
  const [before, after] = [pair.base, pair.head].map(({ cost }) => readBound(cost.bounds[build]?.[metric].bound ?? ''));
  if (!before || !after) return null;
  const base = rename(before);
  const relation = compareBounds(base, after);
  const growsWith = relation.kind === 'other-order' && relation.grows === 'faster' ? relation.name : null;
  return { build, base: expressionText(base), head: expressionText(after), growsWith };
}

/** A bound that only the base has. */
function lostBound(
  pair: CostPair,
  metric: BoundMetric,
  thresholds: Thresholds | undefined,
  base?: BoundReport,
  head?: BoundReport,
): Regression | null {
  if ((!thresholds && boundTable[metric].clearFactor === null) || typeof base?.bound !== 'string' || head?.bound !== null) return null;
  const { location } = pair.head.entry.kernel;
  return regressionOf(pair, {
    metric,
    // The unbounded cost may exceed the threshold, which cannot be decided.
    severity: thresholds ? 'warning' : 'notice',
    base: base.bound,
    head: null,
    ...(location ? { location } : {}),
    ...(head.reason === undefined ? {} : { reason: head.reason }),
  });
}

function boundOf({ bounds }: CostReport, build: 'source' | 'production', metric: BoundMetric): string {
  return bounds[build]![metric].bound!;
}

/** How a bound of a build changed; null if it is not larger anywhere. */
function changeOf({ base, head }: CostPair, metric: BoundMetric, build: 'source' | 'production', rename: Rename): BoundChange | null {
  const before = readBound(boundOf(base.cost, build, metric));
  const after = readBound(boundOf(head.cost, build, metric));
  if (!before || !after) return null;
  const renamed = rename(before);
  const relation = compareBounds(renamed, after);
  if (relation.kind === 'equal' || relation.kind === 'smaller') return null;
  if (relation.kind === 'other-order' && relation.grows === 'slower') return null;
  const reference = referenceOf(head.entry);
  const names = [...new Set([...namesOf(renamed), ...namesOf(after)])];
  const isReference = names.every((name) => reference(name) !== undefined);
  const pointOf = (values: Point['values']): Point[] => {
    const [atBase, atHead] = [evaluate(renamed, values), evaluate(after, values)];
    return atBase && atHead ? [{ values, base: atBase, head: atHead }] : [];
  };
  const points = (isReference ? [0] : sizes).flatMap((size) => pointOf((name) => reference(name) ?? sizeOf(name, size)));
  const elsewhere = sizes.flatMap((size) =>
    pointOf((name) => (/^(?:block|grid)Dim\./.test(name) ? reference(name) : undefined) ?? sizeOf(name, size)),
  );
  if (points.length === 0) return null;
  const isLarger = relation.kind !== 'incomparable';
  const growsWith = relation.kind === 'other-order' ? relation.name : null;
  return { build, base: renamed, head: after, isLarger, growsWith, isReference, points, elsewhere };
}

/** Severity of a change; null if it is not reported. */
function severityOf(change: BoundChange, metric: BoundMetric, thresholds: Thresholds | undefined): Severity | null {
  const { points, elsewhere, growsWith, isReference, isLarger } = change;
  const isWorse = points.every(({ base, head }) => numberOfRational(head) > numberOfRational(base));
  if (thresholds) {
    if (exceeds(change, thresholds.fail)) return 'error';
    if (exceeds(change, thresholds.warn)) return 'warning';
    return growsWith !== null && isWorse ? 'notice' : null;
  }
  const factor = boundTable[metric].clearFactor;
  if (factor === null) return null;
  if (growsWith !== null) return isReference || isWorse ? 'notice' : null;
  // If neither bound is the larger one for all arguments, the bounds are compared at further sizes.
  const tried = isLarger ? points : [...points, ...elsewhere];
  const isClear = tried.every(({ base, head }) => numberOfRational(head) > numberOfRational(base) * factor);
  return isWorse && isClear ? 'notice' : null;
}

function exceeds({ base, head, points, growsWith, isReference, isLarger }: BoundChange, threshold?: Threshold): boolean {
  if (!threshold) return false;
  const isOver = points.every((point) => numberOfRational(point.head) > allowed(numberOfRational(point.base), threshold));
  if (isReference) return isOver;
  if (growsWith !== null) return true;
  if (!isLarger) return false;
  const relation = compareBounds(allowedBound(base, threshold), head);
  return isOver && (relation.kind === 'larger' || (relation.kind === 'other-order' && relation.grows === 'faster'));
}

function allowedBound(base: Expression, { unit, amount }: Threshold): Expression {
  const exact = rational(BigInt(Math.round(amount * 1000)), 1000n);
  if (unit !== 'percent') return add(base, constant(exact));
  return add(base, scale(base, rational(exact.top, exact.bottom * 100n)));
}

function argumentsOf({ base, head }: BoundChange, { values }: Point): Record<string, number> {
  const names = [...new Set([...namesOf(base), ...namesOf(head)])].sort();
  return Object.fromEntries(names.map((name) => [name, Number(values(name))]));
}

/** The line of the head whose bound grew most. */
function worstLine(
  { base, head }: CostPair,
  metric: BoundMetric,
  { build, points }: BoundChange,
  rename: Rename,
  lines: LineMatch | null,
): LineCost | null {
  const key = ({ file, line }: Pick<Location, 'file' | 'line'>): string => `${file}:${line}`;
  const before = new Map((base.cost.bounds[build]?.[metric].lines ?? []).map((one) => [key(one.location), one.bound]));
  // If the orders of growth differ, the values at the largest size decide.
  const { values } = points.at(-1)!;
  let worst: LineCost | null = null;
  let most = -Infinity;
  for (const line of head.cost.bounds[build]?.[metric].lines ?? []) {
    const was = lines?.baseOf(line.location);
    const known = was && before.get(key(was));
    const [after, earlier] = [readBound(line.bound), known === null || known === undefined ? zero : readBound(known)];
    const [now, then] = [after && evaluate(after, values), earlier && evaluate(rename(earlier), values)];
    if (!now || !then) continue;
    const growth = numberOfRational(now) - numberOfRational(then);
    if (growth > most) [worst, most] = [line, growth];
  }
  return worst;
}
