/** Bounds and resources of kernels, for their reports. */
import { declarationOf } from '../../../check/context/scalars.ts';
import type { Dimensions } from '../../../analysis/values/launch-bounds.ts';
import { type Launch, extentOfAxis } from '../../../launch/launch.ts';
import { fieldName } from '../../../launch/parameter-field.ts';
import { type Expression, evaluate, namesOf } from '../../../cost/expressions/expression.ts';
import { expressionText } from '../../../cost/expressions/expression-text.ts';
import { growthIn } from '../../../cost/expressions/growth.ts';
import { costAssumptionTexts } from '../../../cost/model/cost-assumption.ts';
import { type CostRequest, type MetricBound, costOfKernel, outOfTime, tooManyPaths, withoutCost } from '../../../cost/kernel-cost.ts';
import { launchTotals } from './launch-totals.ts';
import { boundMetrics, byMetric } from '../../../cost/model/metrics.ts';
import type { Kernel } from '../../../ir/form/kernel.ts';
import { distinctDiagnostics, type Diagnostic } from '../../../source/diagnostic.ts';
import { outsideToolkit } from '../../../source/location.ts';
import { compareText } from '../../../base/text.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import { limitsOf, withLimits } from './cost-limits.ts';
import { type Deadline, deadlineIn } from '../../../system/deadline.ts';
import { Interruption, withDefaultSignals } from '../../../system/interruption.ts';
import { inTime } from '../../../system/script-timeout.ts';
import { costLaunch } from './cost-reference.ts';
import { defectOf } from '../../build/defect.ts';
import type { MergedAccesses } from '../../../sass/merged-accesses.ts';
import type { Repetition } from '../../../sass/profile.ts';
import { codeOf, type CodeOfKernel, type RepeatedCode, withRounds } from './code-report.ts';
import type { Figures } from './figures.ts';
import type {
  BoundReport,
  BoundsReport,
  CostAssumptionReport,
  CostReport,
  LaunchCost,
  LaunchTotals,
  LineCost,
} from '../../../report-model/cost-report.ts';
import { type Assembled, notAssembled } from './assembled-unit.ts';
import { divisorsOf, elementsOf } from './stated-for-bounds.ts';
import { resourcesReport } from './resources-report.ts';
import { type Checked, type CheckedKernel, hasWrittenBuild, type LaunchedKernel } from '../../build/phase-data.ts';
import type { LaunchReport } from '../../../report-model/report.ts';
import type { Progress } from '../../project/progress.ts';
import type { Settings } from '../../../settings/settings.ts';

/** Kernel reports with costs, and diagnostics about units that the assembler rejects. */
export async function withCosts(
  kernels: readonly CheckedKernel[],
  { resourcesOf, figures, isBrief }: { readonly resourcesOf: Assembled; readonly figures: Figures | undefined; readonly isBrief: boolean },
  { options, configuration }: Settings,
  progress: Progress,
): Promise<Checked> {
  const result: CheckedKernel[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const one of kernels) {
    const { entry, report } = one;
    const resources = await resourcesOf(entry);
    let own: KernelResources | undefined;
    let made: CodeOfKernel | undefined;
    if (resources && 'reason' in resources) diagnostics.push(...notAssembled(options, entry, resources));
    else if (resources) {
      own = resources.kernels.get(entry.produced?.symbol ?? entry.kernel.symbol);
      made = codeOf(entry, resources.cubin, own);
      diagnostics.push(...made.diagnostics);
    }
    try {
      const limits = limitsOf(configuration, entry);
      const isLookedAt = !isBrief || Object.keys(limits).length > 0;
      const deadline = deadlineIn(options.timeout);
      const analyses = new Analyses(entry, deadline);
      const { repeated, ...bounds } = await withDefaultSignals(() =>
        costOf(analyses, own, made?.merged, isLookedAt ? undefined : briefVisits),
      );
      if (made) made = withRounds(made, repeated);
      const whole = {
        ...bounds,
        ...(made?.code && { code: made.code }),
        ...(await figures?.(entry, own, made?.profile, (bounds.bounds.production ?? bounds.bounds.source)!.steps.bound, deadline)),
      };
      const launches = await withDefaultSignals(() => withLaunchCosts(analyses, report.launches, made?.merged));
      const cost = withLimits(entry, deadline.wasCut() ? { ...whole, nondeterministic: true } : whole, own, limits);
      const code = made?.profile;
      result.push({ ...one, report: { ...report, cost, launches }, ...(code && { code }) });
    } catch (error) {
      if (error instanceof Interruption) throw error;
      diagnostics.push(defectOf(entry, costLaunch(entry), error, progress));
      result.push(one);
    }
  }
  return { kernels: result, diagnostics: distinctDiagnostics(diagnostics) };
}

/**
 * Maximum number of visits of basic blocks for bounds of the verification build if verdicts were requested as well:
 * about 15,000 are visited per second. The production build has the default maximum.
 */
const briefVisits = 4000;

/** Maximum number of launches of a kernel with separate costs. */
const maxLaunches = 8;

/** Costs of each launch of a kernel, if they differ between launches. */
function withLaunchCosts(
  analyses: Analyses,
  reports: readonly LaunchReport[],
  merged: MergedAccesses | undefined,
): readonly LaunchReport[] {
  const { launches, produced, kernel, unit } = analyses.entry;
  const key = ({ block, grid, sharedBytes, scalars }: Launch): string =>
    JSON.stringify([block, grid, sharedBytes, [...scalars].map(([at, value]) => [at, String(value)])]);
  if (new Set(launches.map(key)).size < 2) return reports;
  const known = new Map<string, LaunchCost>();
  return reports.map((report, index) => {
    const launch = launches[index];
    if (!launch || (known.size >= maxLaunches && !known.has(key(launch)))) return report;
    const runs = unit.kind === 'ptx' || !produced ? kernel : produced;
    const cost = known.get(key(launch)) ?? launchCostOf(costOfBuild(analyses, runs, launch, { merged }));
    known.set(key(launch), cost);
    return { ...report, cost };
  });
}

function launchCostOf({ bounds, totals }: BuildCost): LaunchCost {
  return { bounds: byMetric(boundMetrics, (metric) => bounds[metric].bound), ...(totals ? { totals } : {}) };
}

/**
 * Costs of a kernel under the first of its launches.
 * @param mostVisits - maximum number of visits for the verification build if there is a production build; its bounds
 * are omitted if more are needed
 */
function costOf(
  analyses: Analyses,
  resources: KernelResources | undefined,
  merged: MergedAccesses | undefined,
  mostVisits: number | undefined,
): CostReport & Pick<BuildCost, 'repeated'> {
  const { entry } = analyses;
  const launch = costLaunch(entry);
  const { kernel, produced, unit } = entry;
  // A PTX file has a single build, which is the executed one.
  const runs = unit.kind === 'ptx' ? undefined : produced;
  const production = runs ? costOfBuild(analyses, runs, launch, { merged }) : null;
  const written = hasWrittenBuild(entry)
    ? costOfBuild(analyses, kernel, launch, runs ? { mostVisits } : unit.kind === 'ptx' ? { merged } : {})
    : null;
  const isCut = runs !== undefined && mostVisits !== undefined && written?.bounds.steps.reason === tooManyPaths;
  const source = isCut ? null : written;
  const assumptions = [...(source?.assumptions ?? []), ...(production?.assumptions ?? [])];
  return {
    repeated: (production ?? source)!.repeated,
    bounds: { ...(source && { source: source.bounds }), ...(production && { production: production.bounds }) },
    totals: { ...(source?.totals && { source: source.totals }), ...(production?.totals && { production: production.totals }) },
    assumptions: [...new Map(assumptions.map((one) => [one.text, one])).values()],
    ...(resources ? { resources: resourcesReport(entry, launch, resources) } : {}),
  };
}

function dimensionsOf(kernel: Kernel, launch: Launch): Dimensions {
  const read = new Set<string>();
  for (const { instructions } of kernel.blocks) {
    for (const { arguments: operands } of instructions)
      for (const operand of operands) if (operand.kind === 'special') read.add(operand.register);
  }
  const isRead = (axis: 0 | 1 | 2): boolean => axis === 0 || read.has(`tid.${'xyz'[axis]}`) || read.has(`ntid.${'xyz'[axis]}`);
  const block = (axis: 0 | 1 | 2): number | null =>
    launch.block === null && kernel.requiredThreads ? kernel.requiredThreads[axis] : extentOfAxis(launch, 'block', axis, isRead(axis));
  const grid = (axis: 0 | 1 | 2): number | null => extentOfAxis(launch, 'grid', axis, true);
  // The number of lanes affects costs even if the kernel does not read the thread indices.
  return { block: [block(0), block(1), block(2)], grid: [grid(0), grid(1), grid(2)] };
}

interface BuildCost {
  readonly repeated: RepeatedCode;
  readonly bounds: BoundsReport;
  readonly totals: LaunchTotals | null;
  readonly assumptions: readonly CostAssumptionReport[];
}

/** Options of an analysis of a build, other than its launch. */
interface Means {
  readonly merged?: MergedAccesses | undefined;
  readonly mostVisits?: number | undefined;
}

/** The bounds of a build, and their inputs. */
interface Analysed extends ReturnType<typeof costOfKernel> {
  /** Parameters by the names that bounds use for them. */
  readonly names: ReadonlyMap<string, { readonly index: number; readonly offset: number }>;
  /** User statements that the bounds depend on. */
  readonly used: ReadonlySet<string>;
}

/**
 * Caches the bounds of the builds of a kernel: launches of the same dimensions share them, regardless of their
 * arguments.
 */
class Analyses {
  readonly entry: LaunchedKernel;
  /** Common deadline of all analyses. */
  readonly #deadline: Deadline;
  readonly #known = new Map<string, Analysed>();

  constructor(entry: LaunchedKernel, deadline: Deadline) {
    this.entry = entry;
    this.#deadline = deadline;
  }

  of(kernel: Kernel, launch: Launch, means: Means): Analysed {
    const { mostVisits, merged } = means;
    const key = JSON.stringify([
      kernel === this.entry.kernel,
      dimensionsOf(kernel, launch),
      launch.sharedBytes,
      mostVisits,
      merged !== undefined,
    ]);
    const analysed = this.#known.get(key) ?? analyse(this.entry, kernel, launch, means, this.#deadline);
    this.#known.set(key, analysed);
    return analysed;
  }
}

function analyse(entry: LaunchedKernel, kernel: Kernel, launch: Launch, { merged, mostVisits }: Means, deadline: Deadline): Analysed {
  const { parameters, assumptions } = entry;
  const names = new Map<string, { readonly index: number; readonly offset: number }>();
  const parameterName = (index: number, offset: number): string | null => {
    const type = kernel.parameters[index]?.type ?? '';
    if (declarationOf(parameters[index], offset) === 'pointer' || /^f/.test(type)) return null;
    // Bytes of a structure whose definition is not available. A plus sign in the name would be parsed as an addition.
    const name = fieldName(parameters, { index, offset }, kernel).replace('+', '@');
    names.set(name, { index, offset });
    return name;
  };
  const conditions = assumptions.flatMap(({ expression }) => (expression.kind === 'condition' ? [expression.condition] : []));
  const divisors = divisorsOf(conditions);
  const used = new Set<string>();
  const request: CostRequest = {
    kernel,
    dimensions: dimensionsOf(kernel, launch),
    sharedBytes: launch.sharedBytes,
    expired: deadline.expired,
    mostVisits,
    ...(merged && { merged }),
    declaredAs: (index, offset) => declarationOf(parameters[index], offset),
    parameterName,
    divisor: (index, offset) => {
      const stated = divisors.get(parameterName(index, offset) ?? '');
      if (stated) used.add(stated.text);
      return stated?.divisor ?? 1n;
    },
    elements: (index, offset) => {
      const stated = elementsOf(entry, index, offset);
      if (stated) used.add(stated.text);
      return stated;
    },
    placeOf: (location) => outsideToolkit(location) ?? location,
  };
  const cost = inTime(deadline, () => costOfKernel(request)) ?? withoutCost(outOfTime);
  return { ...cost, names, used };
}

function costOfBuild(analyses: Analyses, kernel: Kernel, launch: Launch, means: Means): BuildCost {
  const { bounds, block, rounds, visits, assumptions: taken, names, used } = analyses.of(kernel, launch, means);
  const reference = (name: string): bigint | undefined => {
    const known = names.get(name);
    if (known && known.offset === 0) return launch.scalars.get(known.index);
    const [kind, axis] = name.split('.') as [string, string];
    const extents = kind === 'blockDim' ? launch.block : kind === 'gridDim' ? launch.grid : null;
    return extents ? BigInt(extents['xyz'.indexOf(axis) as 0 | 1 | 2]) : undefined;
  };
  const blocks = launch.grid && launch.grid[0] * launch.grid[1] * launch.grid[2];
  return {
    repeated: { rounds, visits, amountOf: (bound) => amountOf(bound, reference) },
    bounds: byMetric(boundMetrics, (metric) => boundReport(bounds[metric], reference)),
    totals: block && blocks !== null ? launchTotals(bounds, block, blocks, reference) : null,
    assumptions: [
      ...taken.map((kind) => ({ kind, text: costAssumptionTexts[kind] })),
      ...[...used].sort().map((text) => ({ kind: 'user' as const, text })),
    ],
  };
}

type Reference = (name: string) => bigint | undefined;

function boundReport({ bound, reason, exact, lines }: MetricBound, reference: Reference): BoundReport {
  const ranked = lines.flatMap((line) => {
    if (!line.location || !line.bound) return [];
    const cost: LineCost = {
      location: line.location,
      bound: expressionText(line.bound),
      value: valueOf(line.bound, reference),
      ...(line.reason === undefined ? {} : { reason: line.reason }),
    };
    return [{ cost, rank: weightOf(line.bound, reference) }];
  });
  ranked.sort(
    ({ cost: a, rank: first }, { cost: b, rank: second }) =>
      second - first || compareText(a.location.file, b.location.file) || a.location.line - b.location.line,
  );
  const list = ranked.map(({ cost }) => cost);
  return {
    bound: bound && expressionText(bound),
    ...(bound
      ? { degree: degreesOf(bound), value: valueOf(bound, reference), exact: exact === true }
      : { value: null, reason: reason ?? 'no bound was found' }),
    lines: list,
  };
}

function amountOf(bound: Expression, reference: Reference): Repetition {
  return { bound: expressionText(bound), value: valueOf(bound, reference), weight: weightOf(bound, reference) };
}

/** Value of a bound for ordering. Unspecified names are assumed to be large. */
function weightOf(bound: Expression, reference: Reference): number {
  return valueOf(bound, (name) => reference(name) ?? 1000n) ?? 0;
}

function valueOf(bound: Expression, reference: Reference): number | null {
  const value = evaluate(bound, reference);
  return value && Number(value.top) / Number(value.bottom);
}

function degreesOf(bound: Expression): Record<string, number> {
  return Object.fromEntries([...namesOf(bound)].sort().map((name) => [name, growthIn(bound, name).degree]));
}
