/** Limits of kernels: those of the configuration, of launch bounds, and of the architecture. No base is needed. */
import type { Severity } from '../../../source/severity.ts';
import type { Dim3 } from '../../../base/dim3.ts';
import type { Regression } from '../../../document/regression.ts';
import { hashText } from '../../../base/hash.ts';
import { architectureOf } from '../../../device/architecture.ts';
import { maximumRegisters, maximumThreads, warpSize } from '../../../device/hardware-limits.ts';
import { parseBound } from '../../../cost/expressions/bound-parser.ts';
import { compare } from '../../../cost/expressions/comparison.ts';
import { type Expression, add, constant, evaluate, namesOf } from '../../../cost/expressions/expression.ts';
import type { Metric } from '../../../cost/model/metric.ts';
import { occupancyOf, type Occupancy } from '../../../device/occupancy.ts';
import { compareRational, type Rational } from '../../../cost/expressions/rational.ts';
import type { Launch } from '../../../launch/launch.ts';
import { matchKernel } from '../../../cuda/names/kernel-pattern.ts';
import type { Code } from '../../../source/codes.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { Configuration } from '../../../settings/configuration.ts';
import { type ComparedMetric, isBoundMetric, type KernelLimits, type Limit, type ResourceMetric } from '../../../settings/cost-policy.ts'; // prettier-ignore
import { referenceOf, resourceOf, sizeOf, sizes } from './cost-reference.ts';
import type { BoundReport, CostReport, LimitReport, LineCost } from '../../../document/cost-report.ts';
import { limitMessage } from '../../../wording/cost-words.ts';
import type { LaunchedKernel } from '../../build/kernel.ts';

/** The limits of a kernel: of several entries that match, the last that sets one. */
export function limitsOf(configuration: Configuration | undefined, { name }: LaunchedKernel): KernelLimits {
  const matching = (configuration?.kernels ?? []).filter(({ match }) => matchKernel(match, name.qualified));
  return Object.assign({}, ...matching.map(({ limits }) => limits)) as KernelLimits;
}

/** How a kernel stands to a limit; `at`: the arguments that decided, where the expressions did not. */
type Standing =
  | { readonly kind: 'kept'; readonly at?: Arguments }
  | { readonly kind: 'exceeded'; readonly at?: Arguments; readonly value?: number }
  | { readonly kind: 'not-compared'; readonly reason: string };
type Arguments = Readonly<Record<string, number>>;

/** A cost with its standing to the limits: what is kept, exceeded or could not be compared, and launches that fail. */
export function withLimits(
  entry: LaunchedKernel,
  cost: CostReport,
  resources: KernelResources | undefined,
  limits: KernelLimits,
): CostReport {
  const reports: LimitReport[] = [];
  const violations: Regression[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    const metric = name as ComparedMetric;
    const [standing, found] = isBoundMetric(metric)
      ? boundStanding(entry, cost, metric, limit)
      : resourceStanding(entry, cost, metric, limit);
    const at = standing.kind === 'not-compared' ? undefined : standing.at;
    const build = standing.kind === 'kept' && found.build !== undefined ? { build: found.build } : {};
    reports.push({ metric, limit: limit.text, standing: standing.kind, ...build, ...(at ? { at } : {}) });
    if (standing.kind !== 'kept') violations.push(violation(entry, standing, { ...found, metric, limit: limit.text }));
  }
  if (resources) violations.push(...launchViolations(entry, resources));
  return {
    ...cost,
    ...(reports.length > 0 ? { limits: reports } : {}),
    ...(violations.length > 0 ? { violations } : {}),
  };
}

/**
 * A bound of either build within the limit keeps it, which the report says of the build as it was written: that of what
 * runs may be the looser one, where the compiler unrolls a loop and the rest of its rounds is bounded apart; that of what
 * was written counts instructions that nobody runs.
 */
function boundStanding(
  entry: LaunchedKernel,
  { bounds }: CostReport,
  metric: Metric,
  limit: Limit,
): readonly [Standing, Found] {
  const isAccess = metric === 'sectors' || metric === 'conflicts' || metric === 'divwarps';
  const builds = isAccess ? (['source', 'production'] as const) : (['production', 'source'] as const);
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
    all[0] ?? [{ kind: 'not-compared', reason: 'there is no bound' }, { head: null }]
  );
}

function oneStanding(
  entry: LaunchedKernel,
  build: 'source' | 'production',
  { bound, reason, lines = [] }: BoundReport,
  limit: Limit,
): readonly [Standing, Found] {
  const standing: Standing =
    bound === null
      ? { kind: 'not-compared', reason: reason ?? 'there is no bound' }
      : standingOf(entry, bound, limit.value as Expression, limit.strict);
  const line = dearest(lines, entry);
  const location = line?.location ?? entry.kernel.location;
  const found: Found = {
    build,
    head: bound,
    ...(standing.kind === 'exceeded' && standing.at ? { at: standing.at, headValue: standing.value! } : {}),
    ...(location ? { location } : {}),
    ...(line?.reason === undefined ? {} : { reason: line.reason }),
  };
  return [standing, found];
}

function standingOf(entry: LaunchedKernel, text: string, limit: Expression, strict: boolean): Standing {
  const parsed = parseBound(text);
  if ('error' in parsed) return { kind: 'not-compared', reason: `its bound ${text} cannot be read` };
  const { expression } = parsed;
  // Bounds are whole numbers.
  const relation = compare(limit, strict ? add(expression, constant(1)) : expression);
  if (relation.kind === 'equal' || relation.kind === 'smaller') return { kind: 'kept' };
  const reference = referenceOf(entry);
  const names = [...new Set([...namesOf(expression), ...namesOf(limit)])].sort();
  const missing = names.filter((name) => reference(name) === undefined);
  const isRising = relation.kind === 'larger' || (relation.kind === 'other-order' && relation.grows === 'faster');
  for (const size of missing.length === 0 ? [0] : isRising ? sizes : []) {
    const values = (name: string): bigint => reference(name) ?? sizeOf(name, size);
    const [own, most] = [evaluate(expression, values), evaluate(limit, values)];
    if (!own || !most) continue;
    const at = Object.fromEntries(names.map((name) => [name, Number(values(name))]));
    if (compareRational(own, most) >= (strict ? 0 : 1)) return { kind: 'exceeded', at, value: numberOf(own) };
    if (missing.length === 0) return { kind: 'kept', at };
  }
  const own = namesOf(expression);
  const unknown = missing.find((name) => !own.has(name) && !isNameOf(entry, name));
  if (unknown !== undefined) return { kind: 'not-compared', reason: `the kernel has no parameter ${unknown}` };
  const strange = missing.filter((name) => !own.has(name));
  const why = strange.length > 0 ? ` (${strange.join(', ')} is not in it)` : '';
  const reason = `its bound ${text}${why} is neither always within it nor always above it; reference arguments for ${missing.join(', ')} would decide`;
  return { kind: 'not-compared', reason };
}

/** Whether a name of a limit means something in a kernel: a parameter, or a member of one, or a dimension. */
function isNameOf({ parameters, kernel }: LaunchedKernel, name: string): boolean {
  const [first = ''] = name.split('.');
  return (
    first === 'blockDim' ||
    first === 'gridDim' ||
    parameters.some((parameter) => parameter.name === first) ||
    kernel.parameters.some(({ index }) => first === `param${index}`)
  );
}

/** The line that spends most. */
function dearest(lines: readonly LineCost[], entry: LaunchedKernel): LineCost | undefined {
  const reference = referenceOf(entry);
  const valueOf = ({ bound }: LineCost): number => {
    const parsed = parseBound(bound);
    const value = 'expression' in parsed ? evaluate(parsed.expression, (name) => reference(name) ?? 1000n) : null;
    return value ? numberOf(value) : 0;
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
        ? 'the assembler does not tell what it uses'
        : 'its block is not known: give one with --block, or as `block` in the configuration';
    return [
      { kind: 'not-compared', reason },
      { head: null, ...place },
    ];
  }
  // Occupancy is to be at least, everything else at most that.
  const room = (metric === 'occupancy' ? value - Number(most) : Number(most) - value) + (strict ? 0 : 1e-9);
  const { limiter } = resources!;
  const why = metric === 'occupancy' && limiter !== undefined ? { reason: `limited by ${limiter}` } : {};
  return [{ kind: room > 0 ? 'kept' : 'exceeded' }, { head: value, ...place, ...why }];
}

type Found = Pick<Regression, 'head'> & Partial<Pick<Regression, 'build' | 'at' | 'headValue' | 'location' | 'reason'>>;

function violation(
  entry: LaunchedKernel,
  standing: Exclude<Standing, { kind: 'kept' }>,
  found: Found & { readonly metric: ComparedMetric; readonly limit: string },
): Regression {
  const [code, severity]: readonly [Code, Severity] =
    standing.kind === 'exceeded' ? ['limit/exceeded', 'error'] : ['limit/not-compared', 'notice'];
  const message = limitMessage(found, standing.kind === 'exceeded' ? undefined : standing.reason);
  return completed(entry, { code, severity, ...found, message });
}

function completed(
  entry: LaunchedKernel,
  found: Omit<Regression, 'kernel' | 'fingerprint' | 'base'>,
  detail = found.limit ?? '',
): Regression {
  const kernel = entry.name.full;
  const fingerprint = hashText([found.code, kernel, found.metric, detail].join('|'));
  return { kernel, fingerprint, base: null, ...found };
}

/** Launches that fail, and blocks that launch bounds promise and that have no room. */
function launchViolations(entry: LaunchedKernel, resources: KernelResources): Regression[] {
  const architecture = architectureOf(entry.arch);
  if (!architecture) return [];
  const found = new Map<string, Regression>();
  const wanted = blocksWanted(entry);
  const { location } = entry.kernel;
  for (const launch of entry.launches) {
    const block = launch.block ?? entry.kernel.requiredThreads;
    if (!block) continue;
    const threads = block[0] * block[1] * block[2];
    const sharedBytes = resources.sharedBytes + (launch.sharedBytes ?? 0);
    const demand = { registers: resources.registers, sharedBytes, threads, barriers: resources.barriers };
    const { blocks, limiter } = occupancyOf(architecture, demand);
    const place = launch.location ?? location;
    const add = (code: Code, severity: Severity, metric: ResourceMetric, head: number, message: string): void => {
      const one = completed(entry, { code, severity, metric, head, message, ...(place ? { location: place } : {}) }, message); // prettier-ignore
      if (!found.has(one.fingerprint)) found.set(one.fingerprint, one);
    };
    if (blocks === 0) {
      const why = refusal(limiter, demand, launch, architecture.sharedPerBlockOptIn);
      const metric = limiter === 'shared' ? 'sharedBytes' : limiter === 'registers' ? 'registers' : 'occupancy';
      const head = metric === 'sharedBytes' ? sharedBytes : metric === 'registers' ? resources.registers : 0;
      add('launch/refused', 'error', metric, head, `${architecture.name} refuses the launch with block ${dims(block)}: ${why}`); // prettier-ignore
    } else if (wanted !== null && blocks < wanted) {
      const message = `launch bounds ask for ${wanted} blocks on a multiprocessor, and ${architecture.name} has room for ${blocks} of block ${dims(block)} (limited by ${limiter})`;
      add('limit/launch-bounds', 'warning', 'occupancy', blocks, message);
    }
  }
  return [...found.values()];
}

function refusal(
  limiter: Occupancy['limiter'],
  { registers, sharedBytes, threads }: { registers: number; sharedBytes: number; threads: number },
  { sharedBytes: dynamic }: Launch,
  mostShared: number,
): string {
  switch (limiter) {
    case 'threads':
      return `a block has at most ${maximumThreads} threads, not ${threads}`;
    case 'shared':
      return `a block has at most ${mostShared} bytes of shared memory, not ${sharedBytes}${dynamic ? ` (${dynamic} of them dynamic)` : ''}`;
    default:
      return registers > maximumRegisters
        ? `a thread has at most ${maximumRegisters} registers, not ${registers}`
        : `${registers} registers for each of ${Math.ceil(threads / warpSize) * warpSize} threads are more than a multiprocessor has`;
  }
}

function dims(block: Dim3): string {
  return block.join(' x ');
}

/** The second number of launch bounds; null where it is not given. */
function blocksWanted({ production, produced, verification, kernel }: LaunchedKernel): number | null {
  const { module } = production && produced ? production : verification;
  const { symbol } = produced ?? kernel;
  for (const item of module.items) {
    if (item.kind !== 'entry' || item.name !== symbol) continue;
    return item.directives.find(({ name }) => name === 'minnctapersm')?.values[0] ?? null;
  }
  return null;
}

function numberOf({ top, bottom }: Rational): number {
  return Number(top) / Number(bottom);
}
