/** Analysis of a change: two trees, the differences between their kernels, and the findings that these add or fix. */
import { count } from '../../messages/text/code-text.ts';
import { compareSeverity } from '../../source/severity.ts';
import type { AffectedUnits, ChangeAnalysis, ChangeRequest, ChangeSide, TouchedKernel, TouchReason } from './change-request.ts';
import type { Settings } from '../../settings/settings.ts';
import { renamedParameters } from '../pipeline/cost/cost-reference.ts';
import { compareKernels } from '../../report-model/compared-reports.ts';
import type { Regression } from '../../report-model/regression.ts';
import type { Comparison, CostNote, KernelReport, NotAnalysed } from '../../report-model/report.ts';
import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import { deadlineIn } from '../../system/deadline.ts';
import { matchKernels, withIdentityOfHead } from '../build/kernel-identity.ts';
import {
  commentsOf,
  launchesKey,
  statedKey,
  type Checked,
  type CheckedKernel,
  type KernelUnit,
  type LaunchedKernel,
} from '../build/phase-data.ts';
import { normalForm } from '../build/normal-form.ts';
import { assemble } from '../pipeline/assemble.ts';
import { applyBaseline, fingerprintsIn } from '../pipeline/baselined-findings.ts';
import { classifyChecked } from '../pipeline/idempotency-phase.ts';
import { orderLaunches } from '../pipeline/ordering/between-launches.ts';
import { decide } from '../pipeline/decide.ts';
import { unitsNotAnalysed } from '../pipeline/not-analysed.ts';
import { diagnosticsOf, prepare, type Prepared } from '../pipeline/prepare.ts';
import { startPricing } from '../pipeline/cost-phase.ts';
import { repairChecked } from '../pipeline/repair-project.ts';
import { selectByName, selectKernels } from '../pipeline/select.ts';
import { statedSuppressions } from '../pipeline/stated-suppressions.ts';
import { holding, silenced, suppress, unsuppressed } from '../pipeline/suppressions.ts';
import type { Unit } from '../project/input-files.ts';
import type { Job, Tools } from '../project/job.ts';
import type { KernelChecks } from '../workers/check-pool.ts';
import { affectedUnits } from './affected-units.ts';
import type { CostPair } from './cost-pair.ts';
import type { MeasuredCost } from '../pipeline/cost/cost-series.ts';
import type { ClassPair } from './idempotency-changes.ts';
import { trustChanges, type TrustChange } from './trust-changes.ts';

/** Maximum number of repaired definitions. */
const maxRepairs = 25;

/**
 * Maximum number of compilations of edited texts for all repairs of a change; each compiles a whole file. For 60 racy
 * kernels in a file, 8 repairs take twice the CPU time of the check.
 */
const maxCompilations = 60;

/** All phases of a comparison: analyses the kernels that a change touches, before and after it. */
export async function analyseChange(request: ChangeRequest): Promise<ChangeAnalysis> {
  const { tools, names, diff } = request;
  // 1. Find the units that the change affects.
  const all: AffectedUnits = request.units ?? (await affectedUnits(request));
  const { units: affected, diagnostics: leftOut } = request.select?.(all) ?? { units: all, diagnostics: [] };
  const base: Job = jobOf(request.base, affected.base, tools);
  const head: Job = jobOf(request.head, affected.head, tools);
  const source = (file: string): string | undefined => head.project.tree.text(file);
  if (all.head.length === 0 && all.base.length === 0 && all.notAnalysed.length === 0) {
    const { excluded } = all;
    const nothing = `Nothing to review: ${excluded.length > 0 ? 'the configuration leaves out the CUDA code that changes' : 'no CUDA code changes'}.`;
    const report = assemble(head.project, head.settings, [], [], null);
    return {
      report: { ...report, comparison: compareKernels([], [], names), ...(excluded.length > 0 && { excluded }) },
      diff,
      touched: [],
      trust: [],
      costs: [],
      nothing,
      source,
    };
  }

  // 2. Build, lower, state facts and find launches on both sides, as a check does.
  const { step = () => undefined } = tools.progress;
  step(`Compiling ${count(affected.head.length, 'file')} that the change affects, and ${affected.base.length} of its base.`);
  const [found, after]: [Prepared, Prepared] = await Promise.all([prepare(base), prepare(head)]);

  // 3. Match the kernels of both sides, and choose those that the change touches.
  const pairs = withIdentityOfHead(found.units, matchKernels(found.units, after.units, affected.renamed));
  const before: Prepared = { ...found, units: pairs.base };
  const { matched }: { readonly matched: Matched } = pairs;
  const chosen: readonly LaunchedKernel[] = request.units
    ? selectKernels(after.units, head.settings.options)
    : selectByName(head.settings.options, [...matched.keys()]);
  const touched: readonly Touched[] = touchedKernels(chosen, matched, base, head, before.units, affected.renamed);
  const looked = request.units ? chosen : touched.map(({ kernel }) => kernel);
  const earlier = earlierKernels(looked, matched, before.units, after.units, base, affected.renamed);

  step(`Checking ${count(looked.length, 'kernel')}, and ${earlier.length} of the base.`);
  const checks: KernelChecks = await tools.openChecks(head.settings.options);
  try {
    // 4. Decide, price and suppress on both sides.
    const decided: Checked = await checkSide(head, after, looked, checks);
    const known: Checked = await checkSide(base, before, earlier, checks);
    const checked: Checked = applyBaseline(decided, knownBefore(head.settings, decided, known, touched));
    const reportsOf = ({ kernels }: Checked): KernelReport[] => kernels.map(({ report }) => report);
    // 5. Compare findings, costs and classes of idempotency.
    step('Comparing findings and costs with the base.');
    const [was, is] = [reportsOf(known), reportsOf(checked)];
    const sides = {
      base: known.kernels,
      head: checked.kernels,
      touched: touched.map(({ kernel }) => kernel),
      matched,
      settings: head.settings,
      texts: { base: (file: string) => base.project.tree.text(file), head: source },
      renamed: affected.renamed,
    };
    const suppressions = holding(statedSuppressions(head.settings.configuration, after.sources, after.units), head.settings.today);
    const costs = await compareCosts(sides);
    const regressions: Regression[] = silenced(costs.worse, suppressions);
    const classes: Diagnostic[] = unsuppressed(await compareClasses(sides), suppressions);
    const unknown = touched.flatMap(({ kernel, reason }) => (reason === 'base-unknown' ? [kernel.name.full] : []));
    const comparison: Comparison = compareKernels(was, is, {
      ...names,
      renamed: renamedKernels(looked, matched),
      unknown: new Set(unknown),
      sites: { base: known.diagnostics, head: checked.diagnostics },
      regressions,
      improvements: costs.better,
      ...(costs.code.length > 0 && { code: costs.code }),
      ...(costs.codeLines.length > 0 && { codeLines: costs.codeLines }),
      ...(costs.notes.length > 0 && { costNotes: costs.notes }),
    });
    // 6. Find parts of the change that were not analysed, and additions that have to be trusted.
    const notAnalysed: NotAnalysed[] = [...affected.notAnalysed, ...unitsNotAnalysed(after.sources, after.units, diff)];
    const trust: TrustChange[] = trustChanges({
      base: { ...before, configuration: base.settings.configuration, baseline: base.settings.baseline ?? [] },
      head: { ...after, configuration: head.settings.configuration, baseline: head.settings.baseline ?? [] },
      matched,
      diff,
    });
    const diagnostics = [
      ...leftOut,
      ...diagnosticsOf(after.units, looked),
      ...checked.diagnostics,
      ...distinctDiagnostics(classes),
      // If the user names two files, diagnostics of both are reported.
      ...(request.units ? diagnosticsOf(before.units, []) : baseProblems(before.units, after.units, affected.renamed)),
    ];
    // 7. Assemble.
    const analysisOf = async (kernels: readonly KernelReport[]): Promise<ChangeAnalysis> => {
      const report = assemble(head.project, head.settings, kernels, diagnostics, await checks.solverName());
      return {
        report: {
          ...report,
          comparison,
          ...(notAnalysed.length > 0 && { notAnalysed }),
          ...(affected.excluded.length > 0 && { excluded: affected.excluded }),
        },
        diff,
        touched: touched.map(touchedReport),
        trust,
        costs: costs.measured,
        source,
      };
    };
    // 8. Repair findings that the change adds. Readers need not wait for it: it takes longer than the check.
    const isWanted = head.settings.configuration.checks.repair.suggest && head.settings.options.checks.includes('repair');
    if (!isWanted) return await analysisOf(is);
    if (comparison.new.length > 0) step(`Searching repairs of ${count(comparison.new.length, 'finding')}.`);
    const told = comparison.new.length > 0 ? request.decided?.(await analysisOf(is)) : undefined;
    // The promise is awaited below. This handler prevents an "unhandled rejection" until then.
    told?.catch(() => undefined);
    const selection = { wanted: new Set(comparison.new), most: maxRepairs, compilations: maxCompilations };
    // A review does not report redundant barriers.
    const repaired: Checked = await repairChecked(checked, { ...head, ...after, checks, removal: false, selection });
    await told;
    return await analysisOf(reportsOf(repaired));
  } finally {
    await checks.close();
  }
}

type Matched = ReadonlyMap<LaunchedKernel, LaunchedKernel | undefined>;

interface Touched {
  readonly kernel: LaunchedKernel;
  readonly reason: TouchReason;
}

/**
 * Findings of the head that the baseline suppresses: those that the base also has, or may have if the base could not be
 * analysed. A finding that was fixed and reappears is reported as new, even if the baseline contains it.
 */
function knownBefore({ baseline = [] }: Settings, after: Checked, before: Checked, touched: readonly Touched[]): ReadonlySet<string> {
  const reports = ({ kernels }: Checked): KernelReport[] => kernels.map(({ report }) => report);
  const unknown = new Set(touched.filter(({ reason }) => reason === 'base-unknown').map(({ kernel }) => kernel));
  const open = after.kernels.filter(({ entry }) => unknown.has(entry)).map(({ report }) => report);
  const had = [fingerprintsIn(reports(before), before.diagnostics), fingerprintsIn(open, [])];
  return new Set(baseline.map(({ fingerprint }) => fingerprint).filter((name) => had.some((one) => one.has(name))));
}

function jobOf({ project, settings }: ChangeSide, units: readonly Unit[], tools: Tools): Job {
  return { project: { ...project, units }, settings, tools };
}

function touchedKernels(
  kernels: readonly LaunchedKernel[],
  matched: Matched,
  base: Job,
  head: Job,
  baseUnits: readonly KernelUnit[],
  renamed: ReadonlyMap<string, string>,
): Touched[] {
  const flags: Flags = {
    base: ({ unit }) => base.project.builder.flags(unit),
    head: ({ unit }) => head.project.builder.flags(unit),
  };
  return kernels.flatMap((kernel) => {
    const reason = touchReason(matched.get(kernel), kernel, flags, baseUnits, renamed);
    return reason === undefined ? [] : [{ kernel, reason }];
  });
}

function touchedReport({ kernel: { name, unit, kernel }, reason }: Touched): TouchedKernel {
  return { name: name.full, unit: unit.path, ...(kernel.location ? { location: kernel.location } : {}), reason };
}

/** Kernels of the base that correspond to the analysed kernels, and those that were removed. */
function earlierKernels(
  looked: readonly LaunchedKernel[],
  matched: Matched,
  baseUnits: readonly KernelUnit[],
  headUnits: readonly KernelUnit[],
  { settings: { options } }: Job,
  renamed: ReadonlyMap<string, string>,
): LaunchedKernel[] {
  const counterparts = new Set(looked.map((kernel) => matched.get(kernel)).filter((kernel) => kernel !== undefined));
  const kept = new Set(matched.values());
  // Files that do not compile in the head may still contain these kernels.
  const unread = new Set(headUnits.filter(({ compiled }) => !compiled).map(({ unit }) => renamed.get(unit.path) ?? unit.path));
  const all = baseUnits.flatMap(({ kernels }) => kernels);
  const gone = selectByName(options, all).filter((kernel) => !kept.has(kernel) && !unread.has(kernel.unit.path));
  return [...counterparts, ...gone];
}

function renamedKernels(looked: readonly LaunchedKernel[], matched: Matched): { base: string; head: string }[] {
  return looked.flatMap((kernel) => {
    const was = matched.get(kernel)?.name.full;
    return was === undefined || was === kernel.name.full ? [] : [{ base: was, head: kernel.name.full }];
  });
}

interface CostComparison {
  readonly base: readonly CheckedKernel[];
  readonly head: readonly CheckedKernel[];
  readonly touched: readonly LaunchedKernel[];
  readonly matched: Matched;
  readonly settings: Settings;
  readonly texts: Readonly<Record<'base' | 'head', (file: string) => string | undefined>>;
  readonly renamed: ReadonlyMap<string, string>;
}

/** Cost regressions and improvements of the touched kernels that have costs on both sides. */
async function compareCosts({ base, head, touched, matched, settings, texts, renamed }: CostComparison): Promise<{
  readonly worse: readonly Regression[];
  readonly better: readonly Regression[];
  readonly code: NonNullable<Comparison['code']>;
  readonly codeLines: NonNullable<Comparison['codeLines']>;
  readonly notes: readonly CostNote[];
  readonly measured: readonly MeasuredCost[];
}> {
  const [costBefore, costAfter] = [base, head].map((side) => new Map(side.map(({ entry, report }) => [entry, report.cost])));
  const pairs = touched.flatMap((kernel): CostPair[] => {
    const was = matched.get(kernel);
    const [before, after] = [was && costBefore!.get(was), costAfter!.get(kernel)];
    return was && before && after ? [{ base: { entry: was, cost: before }, head: { entry: kernel, cost: after } }] : [];
  });
  if (head.every(({ report }) => !report.cost)) return { worse: [], better: [], code: [], codeLines: [], notes: [], measured: [] };
  const [{ costChanges }, { matchLines }, { compareLaunches }, { codeDifferences }, { costNotes }, { measuredCosts }] = await Promise.all([
    import('./cost-comparison.ts'),
    import('./line-match.ts'),
    import('./counts/compared-launch.ts'),
    import('./code-differences.ts'),
    import('./cost-notes.ts'),
    import('./measured-costs.ts'),
  ]);
  const lines = matchLines(texts.base, texts.head, (file) => renamed.get(file) ?? file);
  const severalArches = new Set(pairs.map(({ head: { entry } }) => entry.arch)).size > 1;
  const changes = pairs.map((pair) => {
    const names = renamedParameters(pair.base.entry, pair.head.entry);
    const deadline = deadlineIn(settings.options.timeout);
    const launches = compareLaunches(pair.base.entry, pair.head.entry, names, settings, deadline);
    const own = costChanges(pair, launches, settings.configuration.checks.cost, lines);
    const named = (all: readonly Regression[]) => (severalArches ? all.map((one) => ({ ...one, arch: pair.head.entry.arch })) : all);
    return {
      worse: named(own.worse),
      better: named(own.better),
      launches,
      notes: costNotes(pair, launches, settings.configuration.checks.cost, deadline.wasCut()),
    };
  });
  const counted = pairs.map((pair, at) => ({ ...pair, launches: changes[at]!.launches }));
  const worse = toldOnce(changes.flatMap((one) => one.worse));
  return {
    worse: worse.sort((a, b) => compareSeverity(a.severity, b.severity)),
    better: toldOnce(changes.flatMap((one) => one.better)),
    ...codeDifferences(base, head, counted, lines),
    measured: measuredCosts(head, counted),
    // Notes that are identical on several architectures are reported once.
    notes: [...new Map(changes.flatMap(({ notes }) => notes).map((note) => [JSON.stringify(note), note])).values()],
  };
}

/** Removes duplicates: costs of the verification build are the same on all architectures. */
function toldOnce(all: readonly Regression[]): Regression[] {
  return all.filter(
    ({ fingerprint, message }, index) => all.findIndex((one) => fingerprint === one.fingerprint && message === one.message) === index,
  );
}

/** Changed classes of idempotency of the touched kernels. */
async function compareClasses({ base, head, touched, matched, settings, texts, renamed }: CostComparison): Promise<Diagnostic[]> {
  const [reportBefore, reportAfter] = [base, head].map((side) => new Map(side.map(({ entry, report }) => [entry, report])));
  const pairs = touched.flatMap((kernel): ClassPair[] => {
    const was = matched.get(kernel);
    const [before, after] = [was && reportBefore!.get(was), reportAfter!.get(kernel)];
    return before?.idempotency && after?.idempotency ? [{ base: before, head: after, name: kernel.name.qualified }] : [];
  });
  if (pairs.length === 0) return [];
  const [{ classChanges }, { matchLines }] = await Promise.all([import('./idempotency-changes.ts'), import('./line-match.ts')]);
  const lines = matchLines(texts.base, texts.head, (file) => renamed.get(file) ?? file);
  const { idempotency } = settings.configuration.checks;
  return classChanges(pairs, idempotency, ({ file, line }) => lines.changed(file).includes(line));
}

/** Phases 4 to 6 of a check. */
async function checkSide(
  { project, settings, tools: { progress } }: Job,
  { sources, units }: Prepared,
  kernels: readonly LaunchedKernel[],
  checks: KernelChecks,
): Promise<Checked> {
  const price = await startPricing(kernels, settings, project, progress);
  const priced = await price(await orderLaunches(await decide(kernels, settings, sources, checks, progress), units));
  const classified = await classifyChecked(priced, settings, progress, 'whole');
  const suppressions = statedSuppressions(settings.configuration, sources, units);
  // Untouched kernels are not analysed, so unused suppressions cannot be determined.
  return suppress(classified, suppressions, settings.today, () => false);
}

/** Flags with which the unit of a kernel is compiled, on either side. */
type Flags = Readonly<Record<'base' | 'head', (kernel: LaunchedKernel) => string>>;

function touchReason(
  before: LaunchedKernel | undefined,
  after: LaunchedKernel,
  flags: Flags,
  baseUnits: readonly KernelUnit[],
  renamed: ReadonlyMap<string, string>,
): TouchReason | undefined {
  if (!before) {
    const path = renamed.get(after.unit.path) ?? after.unit.path;
    const failed = baseUnits.some(({ unit, compiled }) => unit.path === path && !compiled);
    return failed ? 'base-unknown' : 'added';
  }
  const form = ({ verification, kernel }: LaunchedKernel): string => normalForm(verification.module, kernel.symbol);
  if (form(before) !== form(after)) return 'code';
  if (producedForm(before) !== producedForm(after)) return 'code';
  if (launchesKey(before) !== launchesKey(after)) return 'launches';
  if (before.arch !== after.arch || flags.base(before) !== flags.head(after)) return 'flags';
  if (statedKey(before) !== statedKey(after)) return 'assumptions';
  if (commentsOf(before).join('\n') !== commentsOf(after).join('\n')) return 'annotations';
  return undefined;
}

/** Normal form of the production build, whose internal symbols have other hashes than in the verification build. */
function producedForm({ production, produced }: LaunchedKernel): string {
  return production && produced ? normalForm(production.module, produced.symbol) : '';
}

/**
 * Diagnostics about compilation failures of the base. The head did not cause them, but without the base, old findings
 * cannot be distinguished from new ones.
 */
function baseProblems(units: readonly KernelUnit[], head: readonly KernelUnit[], renamed: ReadonlyMap<string, string>): Diagnostic[] {
  const compiledPaths = new Set(head.filter(({ compiled }) => compiled).map(({ unit }) => renamed.get(unit.path) ?? unit.path));
  return units.flatMap(({ unit, compiled, diagnostics }): Diagnostic[] => {
    // If the head does not compile either, there is nothing to compare.
    if (compiled || !compiledPaths.has(unit.path)) return [];
    const why = diagnostics[0]?.message ?? 'it does not compile';
    const message = `Selvage could not analyse the base version of ${unit.path}, so all findings in it count as new: ${why}`;
    return [{ severity: 'notice', code: 'review/base-not-compared', message }];
  });
}
