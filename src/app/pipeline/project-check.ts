/**
 * All phases of a check, one call per phase. `build/phase-data.ts` declares the data that the phases extend.
 *
 * `commands/check.ts` calls the phases before and after:
 *  1 options   `settings/options.ts` reads the command line, `build/open-project.ts` the configuration
 *  2 find      `project/inputs.ts` lists the units, `build/open-project.ts` looks for the compiler
 *  3 to 12     `checkProject`, below
 *  13 report   `report/render.ts` renders the report, `commands/output.ts` prints it; `report-model/exit-code.ts`
 */
import type { Report } from '../../report-model/report.ts';
import type { Options } from '../../settings/options.ts';
import type { Settings } from '../../settings/settings.ts';
import { isBoundMetric, type Metric } from '../../cost/model/metrics.ts';
import { clock } from '../../system/clock.ts';
import { bothBuilds } from '../build/build-units.ts';
import { foreignNotice } from '../build/foreign-kernels.ts';
import type { Checked, CheckedKernel, KernelUnit, LaunchedKernel } from '../build/phase-data.ts';
import type { Job } from '../project/job.ts';
import type { BuildKind } from '../project/unit-builder.ts';
import type { KernelChecks } from '../workers/check-pool.ts';
import { sharingChecks } from '../workers/shared-checks.ts';
import { assemble } from './assemble.ts';
import { applyBaseline, fingerprintsIn, goneFrom, goneNotice } from './baselined-findings.ts';
import { classifyChecked, underAnyLaunch } from './idempotency-phase.ts';
import { decide } from './decide.ts';
import { orderLaunches } from './ordering/between-launches.ts';
import { earlyStarts } from './early-starts.ts';
import { diagnosticsOf, prepare, type Prepared } from './prepare.ts';
import { startPricing } from './cost-phase.ts';
import { repairChecked } from './repair-project.ts';
import { selectKernels } from './select.ts';
import { undecidedPreconditions } from './launch-preconditions.ts';
import { unstatedLaunches } from './unstated-launches.ts';
import { staleTest, statedSuppressions } from './stated-suppressions.ts';
import { suppress, type Suppression } from './suppressions.ts';

/**
 * Checks the kernels of a project.
 * @throws UsageError if the options name kernels, parameters or files that do not exist
 */
export async function checkProject(job: Job): Promise<Report> {
  return (await checkKernels(job)).report;
}

/**
 * Checks the kernels of a project; also returns the kernels and diagnostics that the report is made from.
 * @throws UsageError if the options name kernels, parameters or files that do not exist
 */
export async function checkKernels({ project, settings, tools }: Job): Promise<{
  readonly report: Report;
  readonly kernels: readonly CheckedKernel[];
  readonly units: readonly KernelUnit[];
  /** Kernels before classification, suppression and repair; with certificates if requested. */
  readonly decided: readonly CheckedKernel[];
}> {
  const { options, configuration, today, baseline = [] } = settings;
  const { progress } = tools;
  const time = stopwatch();
  const checks: KernelChecks = sharingChecks(await tools.openChecks(options));
  try {
    // `prepare.ts` lists these phases, which are also the first ones of a comparison and of `selvage run`:
    //  3 build            `build/build-units.ts`: two builds of each unit, by nvcc  BuiltUnit
    //  4 lower            `build/lower-unit.ts`: PTX to IR, by `ptx/` and `ir/`     LoweredKernel
    //  5 compare builds   `build/builds-differ.ts`                                  ComparedKernel
    //  6 state facts      `project/stated-facts.ts`: assumptions, parameters        StatedKernel
    //  7 find launches    `project/resolve-launches.ts`                             LaunchedKernel
    const { sources, units }: Prepared = await prepare({ project, settings, tools }, buildsFor(settings));
    const kernels: LaunchedKernel[] = underAnyLaunch(selectKernels(units, options), settings);
    time.lap('prepare');

    //  8 decide           races and divergence under each launch, by `check/check-kernel.ts`
    //  9 price            costs of a warp, registers, limits; the assembler runs while kernels are checked
    const price = await startPricing(kernels, settings, project, progress, costEffort(options));
    const decided: Checked = await decide(kernels, settings, sources, checks, progress);
    //    order            launches and copies that may overlap, by `between/unordered-bytes.ts`
    const ordered: Checked = options.checks.includes('race') ? await orderLaunches(decided, units) : decided;
    const priced: Checked = await price(ordered);
    //    classify         which launches may be run again, by `idempotency/classify.ts`
    const classified: Checked = await classifyChecked(priced, settings, progress, isBrief(options) ? 'brief' : 'whole');

    // 10 suppress         findings suppressed by the user
    const suppressions: Suppression[] = statedSuppressions(configuration, sources, units);
    const stated: Checked = suppress(classified, suppressions, today, staleTest(options, units));
    //    baseline         findings that the baseline contains
    const suppressed: Checked = applyBaseline(stated, new Set(baseline.map(({ fingerprint }) => fingerprint)));
    time.lap('check');

    // 11 repair           findings confirmed by a run; redundant barriers of proved kernels
    const run = { project, settings, tools, sources, units, checks, removal: true };
    const repaired: Checked = await repairChecked(suppressed, run);
    if (options.checks.includes('repair')) time.lap('repair');

    // 12 assemble         the report
    const reports = repaired.kernels.map(({ report }) => report);
    const present = fingerprintsIn(reports, repaired.diagnostics);
    const exists = (file: string): boolean => project.tree.text(file) !== undefined;
    const gone = goneFrom(baseline, { options, units, kernels: reports, present, exists });
    const foreign = options.kernel === undefined ? foreignNotice(units) : [];
    const diagnostics = [
      ...diagnosticsOf(units, kernels),
      ...repaired.diagnostics,
      ...unstatedLaunches(repaired.kernels),
      ...undecidedPreconditions(repaired.kernels),
      ...earlyStarts(repaired.kernels),
      ...foreign,
      ...goneNotice(gone),
    ];
    const report = assemble(project, settings, reports, diagnostics, await checks.solverName());
    return {
      report: options.timings ? { ...report, timings: time.laps } : report,
      kernels: classified.kernels,
      units,
      decided: decided.kernels,
    };
  } finally {
    await checks.close();
  }
}

/**
 * Builds that a check needs. For costs only, the production build is enough unless all figures are requested or a bound
 * has a limit. A limit may be satisfied by the verification build if the bound of the production build is too loose.
 */
function buildsFor({ options, configuration }: Settings): readonly BuildKind[] {
  const isOfCostAlone = options.checks.every((check) => check === 'cost');
  const isLimited = configuration.kernels.some(({ limits }) => Object.keys(limits).some((metric) => isBoundMetric(metric as Metric)));
  return isOfCostAlone && !options.verbose && !isLimited ? ['production'] : bothBuilds;
}

/** Detail of cost reports: `selvage cost` reports more than a check. */
function costEffort(options: Options): 'figures' | 'usual' | 'brief' {
  if (!options.checks.includes('race')) return 'figures';
  return isBrief(options) && !options.verbose ? 'brief' : 'usual';
}

/** Whether costs and idempotency are checked only by default: the separate commands report more. */
function isBrief({ checks, hasImpliedChecks }: Options): boolean {
  return hasImpliedChecks === true && checks.includes('race');
}

/** Milliseconds of each phase. */
function stopwatch(): { readonly laps: Record<string, number>; readonly lap: (name: string) => void } {
  const laps: Record<string, number> = {};
  let started = clock();
  const lap = (name: string): void => {
    laps[name] = Math.round((clock() - started) * 10) / 10;
    started = clock();
  };
  return { laps, lap };
}
