/** Analysis of a change: two trees, what differs between their kernels, and what that brings or fixes. */
import type { ChangeRequest } from './change-request.ts';
import type { Regression } from '../../document/regression.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { FileDiff } from '../../source/diff.ts';
import type { Location } from '../../source/location.ts';
import { affectedUnits } from './affected-units.ts';
import { compareKernels } from '../../document/comparison.ts';
import type { CostPair } from './cost-comparison.ts';
import type { CostThresholds } from '../../settings/cost-policy.ts';
import { compareSeverity } from '../../document/outcome.ts';
import { matchKernels } from '../build/kernel-identity.ts';
import type { KernelChecks } from '../workers/check-pool.ts';
import { unitsNotAnalysed } from '../pipeline/not-analysed.ts';
import { normalForm } from '../build/normal-form.ts';
import { assemble, checkAndCost, checksOf, repaired, selectByName, selectKernels } from '../pipeline/pipeline.ts';
import { launchesKey, prepare, statedKey, type PreparedKernel, type PreparedUnit } from '../build/prepare.ts';
import type { KernelReport, Report } from '../../document/report.ts';
import type { AnalysisRequest } from '../project/request.ts';
import { openSourceFacts, type SourceFacts } from '../project/source-facts.ts';
import { statedSuppressions } from '../pipeline/stated-suppressions.ts';
import { applySuppressions, holding, silenced } from '../pipeline/suppressions.ts';
import { trustChanges, type TrustChange } from './trust-changes.ts';

/** Why a kernel of the head counts as changed. */
export type TouchReason = 'added' | 'code' | 'launches' | 'flags' | 'assumptions' | 'annotations' | 'base-unknown';

export interface TouchedKernel {
  readonly name: string;
  readonly unit: string;
  readonly location?: Location;
  readonly reason: TouchReason;
}

export interface ChangeAnalysis {
  /** Of the touched kernels, with the comparison. */
  readonly report: Report;
  readonly diff: readonly FileDiff[];
  readonly touched: readonly TouchedKernel[];
  /** What the change adds that makes findings disappear. */
  readonly trust: readonly TrustChange[];
  /** One line where the change concerns no CUDA code, and nothing was analysed. */
  readonly nothing?: string;
  /** Text of a file of the head. */
  readonly source: (file: string) => string | undefined;
}

/** Analyses the kernels that a change touches, before and after it. */
export async function analyseChange(request: ChangeRequest): Promise<ChangeAnalysis> {
  const { diff, names } = request;
  const affected = request.units ?? (await affectedUnits(request));
  const base: AnalysisRequest = { ...request.base, units: affected.base };
  const head: AnalysisRequest = { ...request.head, units: affected.head };
  const source = (file: string): string | undefined => head.tree.text(file);
  if (affected.head.length === 0 && affected.base.length === 0 && affected.notAnalysed.length === 0) {
    const nothing = 'Nothing to review: no CUDA code changes.';
    const comparison = compareKernels([], [], names);
    return { report: { ...assemble(head, [], [], null), comparison }, diff, touched: [], trust: [], nothing, source };
  }

  const [openingBase, openingHead] = [openSourceFacts(base), openSourceFacts(head)];
  const [baseFacts, headFacts, baseUnits, headUnits] = await Promise.all([
    openingBase,
    openingHead,
    prepare(base, openingBase),
    prepare(head, openingHead),
  ]);
  const matched = matchKernels(baseUnits, headUnits, affected.renamed);
  const chosen = request.units ? selectKernels(head, headUnits) : selectByName(head.options, [...matched.keys()]);
  const touched = chosen.flatMap((kernel) => {
    const reason = touchReason(matched.get(kernel), kernel, baseUnits, affected.renamed);
    return reason === undefined ? [] : [{ kernel, reason }];
  });
  const looked = request.units ? chosen : touched.map(({ kernel }) => kernel);
  const counterparts = new Set(looked.map((kernel) => matched.get(kernel)).filter((kernel) => kernel !== undefined));
  const kept = new Set(matched.values());
  // What does not compile any more may hold them still.
  const unread = new Set(
    headUnits.filter(({ compiled }) => !compiled).map(({ unit }) => affected.renamed.get(unit.path) ?? unit.path),
  );
  const gone = selectByName(
    base.options,
    baseUnits.flatMap(({ kernels }) => kernels),
  ).filter((kernel) => !kept.has(kernel) && !unread.has(kernel.unit.path));

  const checks = await checksOf(head);
  try {
    const after = await checkSide(head, headFacts, looked, headUnits, checks);
    // Barriers that are not needed are no matter of a review.
    const run = { request: head, facts: headFacts, kernels: looked, reports: after.reports, units: headUnits };
    const isOffered = head.configuration?.checks.repair.suggest ?? true;
    const reports = isOffered ? await repaired({ ...run, checks, removal: false }) : after.reports;
    const earlier = [...counterparts, ...gone];
    const before = await checkSide(base, baseFacts, earlier, baseUnits, checks);
    const costs = await compareCosts({
      base: new Map(earlier.map((kernel, index) => [kernel, before.reports[index]!])),
      head: new Map(looked.map((kernel, index) => [kernel, reports[index]!])),
      touched: touched.map(({ kernel }) => kernel),
      matched,
      thresholds: head.configuration?.checks.cost ?? {},
      texts: { base: (file) => base.tree.text(file), head: source },
      renamed: affected.renamed,
    });
    const stated = holding(statedSuppressions(head, headFacts, headUnits), head.today);
    const regressions = silenced(costs, stated);
    const renames = looked.flatMap((kernel) => {
      const was = matched.get(kernel)?.name.full;
      return was === undefined || was === kernel.name.full ? [] : [{ base: was, head: kernel.name.full }];
    });
    const unknown = new Set(
      touched.flatMap(({ kernel, reason }) => (reason === 'base-unknown' ? [kernel.name.full] : [])),
    );
    const notAnalysed = [...affected.notAnalysed, ...unitsNotAnalysed(headFacts, headUnits, diff)];
    const report = assemble(
      head,
      reports,
      [
        ...headUnits.flatMap(({ diagnostics }) => diagnostics),
        ...looked.flatMap(({ diagnostics }) => diagnostics),
        ...after.diagnostics,
        // Of two files that somebody names, both are wanted.
        ...(request.units
          ? baseUnits.flatMap(({ diagnostics }) => diagnostics)
          : baseProblems(baseUnits, headUnits, affected.renamed)),
      ],
      await checks.solverName(),
    );
    return {
      report: {
        ...report,
        comparison: compareKernels(before.reports, reports, { ...names, renamed: renames, unknown, regressions }),
        ...(notAnalysed.length > 0 ? { notAnalysed } : {}),
      },
      diff,
      touched: touched.map(({ kernel: { name, unit, kernel }, reason }) => ({
        name: name.full,
        unit: unit.path,
        ...(kernel.location ? { location: kernel.location } : {}),
        reason,
      })),
      trust: trustChanges({ base, head, baseFacts, headFacts, baseUnits, headUnits, matched, diff }),
      source,
    };
  } finally {
    await checks.close();
  }
}

interface CostComparison {
  readonly base: ReadonlyMap<PreparedKernel, KernelReport>;
  readonly head: ReadonlyMap<PreparedKernel, KernelReport>;
  readonly touched: readonly PreparedKernel[];
  readonly matched: ReadonlyMap<PreparedKernel, PreparedKernel | undefined>;
  readonly thresholds: CostThresholds;
  readonly texts: Readonly<Record<'base' | 'head', (file: string) => string | undefined>>;
  readonly renamed: ReadonlyMap<string, string>;
}

/** What is worse in the kernels that the change touches, of those that have costs on both sides. */
async function compareCosts({ base, head, touched, matched, thresholds, texts, renamed }: CostComparison) {
  const pairs = touched.flatMap((kernel): CostPair[] => {
    const was = matched.get(kernel);
    const [before, after] = [was && base.get(was)?.cost, head.get(kernel)?.cost];
    return was && before && after ? [{ base: { entry: was, cost: before }, head: { entry: kernel, cost: after } }] : [];
  });
  if (pairs.length === 0) return [];
  const [{ costRegressions }, { matchLines }] = await Promise.all([
    import('./cost-comparison.ts'),
    import('./line-match.ts'),
  ]);
  const lines = matchLines(texts.base, texts.head, (file) => renamed.get(file) ?? file);
  const severalArches = new Set(pairs.map(({ head: { entry } }) => entry.arch)).size > 1;
  const all = pairs.flatMap((pair) => {
    const own = costRegressions(pair, thresholds, lines);
    return severalArches ? own.map((one) => ({ ...one, arch: pair.head.entry.arch })) : own;
  });
  // What was written costs the same on all of them.
  const isTold = (one: Regression, index: number): boolean =>
    all.findIndex(({ kernel, message }) => kernel === one.kernel && message === one.message) === index;
  const found = all.filter(isTold);
  return found.sort((a, b) => compareSeverity(a.severity, b.severity));
}

async function checkSide(
  request: AnalysisRequest,
  facts: SourceFacts,
  kernels: readonly PreparedKernel[],
  units: readonly PreparedUnit[],
  checks: KernelChecks,
): Promise<{ reports: readonly KernelReport[]; diagnostics: readonly Diagnostic[] }> {
  const { reports, diagnostics } = await checkAndCost(request, facts, kernels, units, checks);
  // Kernels that the change does not touch are not looked at, so nothing can be said of unused suppressions.
  const applied = applySuppressions(reports, statedSuppressions(request, facts, units), request.today, () => false);
  return { reports: applied.kernels, diagnostics: [...diagnostics, ...applied.diagnostics] };
}

function touchReason(
  before: PreparedKernel | undefined,
  after: PreparedKernel,
  baseUnits: readonly PreparedUnit[],
  renamed: ReadonlyMap<string, string>,
): TouchReason | undefined {
  if (!before) {
    const path = renamed.get(after.unit.path) ?? after.unit.path;
    const failed = baseUnits.some(({ unit, compiled }) => unit.path === path && !compiled);
    return failed ? 'base-unknown' : 'added';
  }
  const form = ({ verification, kernel }: PreparedKernel): string => normalForm(verification, kernel.symbol);
  if (form(before) !== form(after)) return 'code';
  if (producedForm(before) !== producedForm(after)) return 'code';
  if (launchesKey(before) !== launchesKey(after)) return 'launches';
  if (before.flags !== after.flags) return 'flags';
  if (statedKey(before) !== statedKey(after)) return 'assumptions';
  if (before.annotations.join('\n') !== after.annotations.join('\n')) return 'annotations';
  return undefined;
}

/** Of the production build, whose symbols of internal linkage carry another hash than those of the verification build. */
function producedForm({ production, productionSymbol }: PreparedKernel): string {
  return production && productionSymbol !== undefined ? normalForm(production, productionSymbol) : '';
}

/** What does not compile in the base is no fault of the head, but its findings cannot be told from new ones. */
function baseProblems(
  units: readonly PreparedUnit[],
  head: readonly PreparedUnit[],
  renamed: ReadonlyMap<string, string>,
): Diagnostic[] {
  const compiledPaths = new Set(
    head.filter(({ compiled }) => compiled).map(({ unit }) => renamed.get(unit.path) ?? unit.path),
  );
  return units.flatMap(({ unit, compiled, diagnostics }): Diagnostic[] => {
    // Where the head does not compile either there is nothing to compare.
    if (compiled || !compiledPaths.has(unit.path)) return [];
    const why = diagnostics[0]?.message ?? 'it does not compile';
    const message = `Selvage could not analyse the base version of ${unit.path}, so all findings in it count as new: ${why}`;
    return [{ severity: 'notice', code: 'review/base-not-compared', message }];
  });
}
