/** Limits of kernels: those of the configuration, of launch bounds, and of the architecture. No base is needed. */
import type { Severity } from '../../../source/severity.ts';
import type { Regression } from '../../../report-model/regression.ts';
import { parseBound } from '../../../cost/expressions/bound-parser.ts';
import { compareBounds } from '../../../cost/expressions/compared-bounds.ts';
import { type Expression, add, constant, evaluate, namesOf, subtract } from '../../../cost/expressions/expression.ts';
import { isNonNegative } from '../../../cost/expressions/expression-order.ts';
import { type BoundMetric, boundTable, isBoundMetric, isShare, type Metric, type ResourceMetric } from '../../../cost/model/metrics.ts';
import { compareRational, numberOfRational } from '../../../cost/expressions/rational.ts';
import { matchKernel } from '../../../cuda/names/kernel-pattern.ts';
import type { Code } from '../../../source/codes.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { Configuration } from '../../../settings/configuration.ts';
import type { KernelLimits, Limit } from '../../../settings/cost-policy.ts';
import { referenceOf, resourceOf, sizeOf, sizes } from './cost-reference.ts';
import type { BoundReport, CostReport, LimitReport, LineCost } from '../../../report-model/cost-report.ts';
import { exceededMessage, notComparedMessage } from '../../../messages/cost/cost-messages.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';
import { launchViolations, refusedEverywhere } from './launch-violations.ts';
import { violationOf } from './violation.ts';

/** The limits of a kernel: of several matching entries, the last one that sets a limit takes precedence. */
export function limitsOf(configuration: Configuration, { name }: LaunchedKernel): KernelLimits {
  const matching = configuration.kernels.filter(({ match }) => matchKernel(match, name.qualified, name.symbol));
  return Object.assign({}, ...matching.map(({ limits }) => limits)) as KernelLimits;
}

/**
 * Result of comparing a cost with a limit. `at`: the arguments at which it was decided, if the expressions did not
 * decide.
 */
type Standing =
  | { readonly kind: 'kept'; readonly at?: Arguments }
  | { readonly kind: 'exceeded'; readonly at?: Arguments; readonly value?: number }
  | { readonly kind: 'not-compared'; readonly reason: string };
type Arguments = Readonly<Record<string, number>>;

/** A cost with the results of its limits (satisfied, exceeded or not comparable), and launches that fail. */
export function withLimits(
  entry: LaunchedKernel,
  cost: CostReport,
  resources: KernelResources | undefined,
  limits: KernelLimits,
): CostReport {
  const reports: LimitReport[] = [];
  const violations: Regression[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    const metric = name as Metric;
    const [standing, found] = isBoundMetric(metric)
      ? boundStanding(entry, cost, metric, limit)
      : resourceStanding(entry, cost, metric, limit);
    const at = standing.kind === 'not-compared' ? undefined : standing.at;
    const build = standing.kind === 'kept' && found.build !== undefined ? { build: found.build } : {};
    reports.push({ metric, limit: limit.text, standing: standing.kind, ...build, ...(at ? { at } : {}) });
    if (standing.kind !== 'kept') violations.push(violation(entry, standing, { ...found, metric, limit: limit.text }));
  }
  violations.push(...(resources ? launchViolations(entry, resources) : refusedEverywhere(entry)));
  return {
    ...cost,
    ...(reports.length > 0 ? { limits: reports } : {}),
    ...(violations.length > 0 ? { violations } : {}),
  };
}

/**
 * A limit is satisfied if the bound of either build is within it. The bound of the production build may be looser, if
 * the compiler unrolls a loop and the remaining iterations are bounded separately; that of the verification build
 * counts instructions that are not executed.
 */
function boundStanding(entry: LaunchedKernel, { bounds }: CostReport, metric: BoundMetric, limit: Limit): readonly [Standing, Found] {
  const { limitedBuild } = boundTable[metric];
  const builds = [limitedBuild, limitedBuild === 'source' ? 'production' : 'source'] as const;
  const all = builds.flatMap((build): (readonly [Standing, Found])[] => {
    const report = bounds[build]?.[metric];
    return report ? [oneStanding(entry, build, report, limit)] : [];
  });
  const first = (kind: Standing['kind'], of = all) => of.find(([standing]) => standing.kind === kind);
  const runs = all.filter(([, { build }]) => build === 'production');
  return (
    first('kept', runs) ??
    first('kept') ??
    first('exceeded') ??
    all[0] ?? [{ kind: 'not-compared', reason: 'no bound was found' }, { head: null }]
  );
}

function oneStanding(
  entry: LaunchedKernel,
  build: 'source' | 'production',
  { bound, reason, exact = false, lines = [] }: BoundReport,
  limit: Limit,
): readonly [Standing, Found] {
  const standing: Standing =
    bound === null
      ? { kind: 'not-compared', reason: reason ?? 'no bound was found' }
      : standingOf(entry, bound, limit.value as Expression, limit.strict);
  const line = dearest(lines, entry);
  const location = line?.location ?? entry.kernel.location;
  const found: Found = {
    build,
    isReached: exact,
    head: bound,
    ...(standing.kind === 'exceeded' && standing.at ? { at: standing.at, headValue: standing.value! } : {}),
    ...(location ? { location } : {}),
    ...(line?.reason === undefined ? {} : { reason: line.reason }),
  };
  return [standing, found];
}

function standingOf(entry: LaunchedKernel, text: string, limit: Expression, strict: boolean): Standing {
  const parsed = parseBound(text);
  if ('error' in parsed) return { kind: 'not-compared', reason: `the bound ${text} cannot be read` };
  const { expression } = parsed;
  // Bounds are integers.
  const least = strict ? add(expression, constant(1)) : expression;
  // A bound that grows more slowly than its limit may still exceed the limit at small sizes.
  const isBelow = [...namesOf(limit)].every((name) => isNameOf(entry, name)) && isNonNegative(subtract(limit, least));
  const relation = compareBounds(limit, least);
  if (isBelow || relation.kind === 'equal' || relation.kind === 'smaller') return { kind: 'kept' };
  const reference = referenceOf(entry);
  const names = [...new Set([...namesOf(expression), ...namesOf(limit)])].sort();
  const missing = names.filter((name) => reference(name) === undefined);
  const isRising = relation.kind === 'larger' || (relation.kind === 'other-order' && relation.grows === 'faster');
  for (const size of missing.length === 0 ? [0] : isRising ? sizes : []) {
    const values = (name: string): bigint => reference(name) ?? sizeOf(name, size);
    const [own, most] = [evaluate(expression, values), evaluate(limit, values)];
    if (!own || !most) continue;
    const at = Object.fromEntries(names.map((name) => [name, Number(values(name))]));
    if (compareRational(own, most) >= (strict ? 0 : 1)) return { kind: 'exceeded', at, value: numberOfRational(own) };
    if (missing.length === 0) return { kind: 'kept', at };
  }
  const own = namesOf(expression);
  const unknown = missing.find((name) => !own.has(name) && !isNameOf(entry, name));
  if (unknown !== undefined) return { kind: 'not-compared', reason: `the kernel has no parameter ${unknown}` };
  const strange = missing.filter((name) => !own.has(name));
  const why = strange.length > 0 ? ` (which does not name ${strange.join(', ')})` : '';
  const open = missing.join(', ');
  const values = missing.length === 1 ? `a reference value for ${open}` : `reference values for ${open}`;
  const reason = `whether the bound ${text}${why} stays within the limit depends on ${open}; give ${values}`;
  return { kind: 'not-compared', reason };
}

/** Whether a name of a limit exists in a kernel: a parameter, a member of one, or a dimension. */
function isNameOf({ parameters, kernel }: LaunchedKernel, name: string): boolean {
  const [first = ''] = name.split('.');
  return (
    first === 'blockDim' ||
    first === 'gridDim' ||
    parameters.some((parameter) => parameter.name === first) ||
    kernel.parameters.some(({ index }) => first === `param${index}`)
  );
}

/** The line with the highest cost. */
function dearest(lines: readonly LineCost[], entry: LaunchedKernel): LineCost | undefined {
  const reference = referenceOf(entry);
  const valueOf = ({ bound }: LineCost): number => {
    const parsed = parseBound(bound);
    const value = 'expression' in parsed ? evaluate(parsed.expression, (name) => reference(name) ?? 1000n) : null;
    return value ? numberOfRational(value) : 0;
  };
  return [...lines].sort((a, b) => valueOf(b) - valueOf(a))[0];
}

function resourceStanding(
  entry: LaunchedKernel,
  { resources }: CostReport,
  metric: ResourceMetric,
  { value: most, strict }: Limit,
): readonly [Standing, Found] {
  const value = resources && resourceOf(resources, metric);
  const { location } = entry.kernel;
  const place = location ? { location } : {};
  if (value === undefined) {
    const reason =
      resources === undefined
        ? 'ptxas gave no resource usage'
        : 'the block size is not known; give it with --block, or as `block` in the configuration';
    return [
      { kind: 'not-compared', reason },
      { head: null, ...place },
    ];
  }
  // A limit of a ratio metric is a minimum; a limit of any other metric is a maximum.
  const room = (isShare(metric) ? value - Number(most) : Number(most) - value) + (strict ? 0 : 1e-9);
  const { limiter } = resources!;
  const why = metric === 'occupancy' && limiter !== undefined ? { reason: `limited by ${limiter}` } : {};
  return [{ kind: room > 0 ? 'kept' : 'exceeded' }, { head: value, ...place, ...why }];
}

type Found = Pick<Regression, 'head'> &
  Partial<Pick<Regression, 'build' | 'at' | 'headValue' | 'location' | 'reason'>> & { readonly isReached?: boolean };

function violation(
  entry: LaunchedKernel,
  standing: Exclude<Standing, { kind: 'kept' }>,
  found: Found & { readonly metric: Metric; readonly limit: string },
): Regression {
  const [code, severity]: readonly [Code, Severity] =
    standing.kind === 'exceeded' ? ['limit/exceeded', 'error'] : ['limit/not-compared', 'notice'];
  const { isReached = false, ...told } = found;
  const message = standing.kind === 'exceeded' ? exceededMessage({ ...told, isReached }) : notComparedMessage(told, standing.reason);
  return violationOf(entry, { code, severity, ...told, message });
}
