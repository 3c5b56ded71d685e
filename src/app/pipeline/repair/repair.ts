/** Repairs of the kernels of a run: which are repaired, with what outcome, and which repairs of a file hold together. */
import { reasonText } from '../../../wording/verdict-reason.ts';
import { isAbsolute } from 'node:path';
import { isFullBarrier, isGridBarrier } from '../../../analysis/barriers/barrier-interval.ts';
import type { CudaSource } from '../../../cuda/syntax/syntax.ts';
import type { Kernel } from '../../../ir/form/kernel.ts';
import { describeCost, worstCost } from '../../../repair/build-cost.ts';
import { removeRedundant, repairKernel } from '../../../repair/repair-kernel.ts';
import type { RacingAccess, Repair, RepairOutcome } from '../../../repair/request.ts';
import { defaultWeights } from '../../../repair/weight.ts';
import { clock } from '../../../system/clock.ts';
import { applyLineEdits, distinctEdits, lineEdits } from '../../../document/repaired-file.ts';
import { type Finding, findingsOf } from '../../../document/outcome.ts';
import { solverStarter } from '../../workers/lazy-solver.ts';
import type { PreparedKernel } from '../../build/prepare.ts';
import type {
  KernelReport,
  RepairAlternative,
  RepairCost,
  RepairEdit,
  RepairReport,
} from '../../../document/report.ts';
import { type Instance, type RepairRun, Workbench, provesBothChecks } from './repair-workbench.ts';

/** The reports with what repair came to. The instances of a kernel are repaired together. */
export async function repairKernels(run: RepairRun): Promise<KernelReport[]> {
  const { options, searchPath } = run.request;
  const z3 = (await solverStarter(options.solver, searchPath))();
  try {
    const bench = new Workbench(run, z3);
    const files = new Map<string, Outcome[]>();
    const times = new Map<KernelReport, number>();
    for (const group of groupsOf(run)) {
      run.request.signal?.throwIfAborted();
      const started = clock();
      const outcome = await repairGroup(run, bench, group);
      for (const { report } of group) times.set(report, Math.round(clock() - started));
      const file = outcome.repair.edits?.[0]?.file ?? '';
      files.set(file, [...(files.get(file) ?? []), outcome]);
    }
    const repairs = new Map<KernelReport, RepairReport>();
    for (const [file, outcomes] of files)
      for (const { group, repair, costs } of file === '' ? outcomes : await together(run, bench, file, outcomes))
        for (const { report } of group) repairs.set(report, ofInstance(repair, report, costs.get(report)));
    return run.reports.map((report) => ({
      ...report,
      repair: repairs.get(report) ?? { status: 'skipped' },
      ...(report.timings && { timings: { ...report.timings, repair: times.get(report) ?? 0 } }),
    }));
  } finally {
    await z3.close();
  }
}

/** What a kernel came to. */
interface Outcome {
  readonly group: readonly Instance[];
  readonly repair: RepairReport;
  /** Whether its edit changes the code of other kernels. */
  readonly isShared: boolean;
  /** Of its edit, by instance. */
  readonly costs: ReadonlyMap<KernelReport, RepairCost>;
}

/** The repairs of one file that hold together: each was verified by itself. */
async function together(
  run: RepairRun,
  bench: Workbench,
  file: string,
  outcomes: readonly Outcome[],
): Promise<Outcome[]> {
  if ((await clashOf(run, bench, file, outcomes)) === null) return asOne(outcomes);
  const accepted: Outcome[] = [];
  const results: Outcome[] = [];
  for (const outcome of outcomes) {
    const reason = await clashOf(run, bench, file, [...accepted, outcome]);
    if (reason === null) accepted.push(outcome);
    const status = outcome.repair.status === 'optimised' ? 'not-needed' : 'unrepairable';
    results.push(reason === null ? outcome : { ...outcome, isShared: false, repair: { status, reason } });
  }
  return asOne(results);
}

/**
 * Repairs of which one changes what another one's kernel does are one edit: they were proved by themselves and together,
 * but a part of them was not.
 */
function asOne(outcomes: readonly Outcome[]): Outcome[] {
  const repaired = outcomes.filter(({ repair: { status } }) => status === 'repaired');
  if (repaired.length < 2 || !repaired.some(({ isShared }) => isShared)) return [...outcomes];
  const edits = distinctEdits(repaired.flatMap(({ repair }) => repair.edits ?? []));
  return outcomes.map((outcome) =>
    repaired.includes(outcome) ? { ...outcome, repair: { ...outcome.repair, edits } } : outcome,
  );
}

/** Why repairs of one file do not hold together; null where they do. */
async function clashOf(
  { facts }: RepairRun,
  bench: Workbench,
  file: string,
  all: readonly Outcome[],
): Promise<string | null> {
  const source = facts.source(file);
  if (all.length < 2 || !source) return null;
  const names = all.slice(0, -1).map(({ group }) => group[0]!.entry.name.qualified);
  const reason = `it was repaired by itself, but not together with ${names.join(', ')}: apply those first`;
  const edits = distinctEdits(all.flatMap(({ repair }) => repair.edits ?? []));
  if (edits.some((edit, index) => index > 0 && edit.startLine <= edits[index - 1]!.endLine)) return reason;
  const text = applyLineEdits(source.text, edits);
  for (const { group, repair } of all) {
    const { verified } = await bench.verify(group, text, 'barriers', repair.status === 'optimised');
    if (!verified) return reason;
  }
  return null;
}

/** The instances of a kernel: what one definition was compiled to. */
function groupsOf({ kernels, reports }: RepairRun): Instance[][] {
  const groups = new Map<string, Instance[]>();
  for (const [index, entry] of kernels.entries()) {
    const { location } = entry.kernel;
    const key = location
      ? `${entry.unit.path}|${location.file}:${location.line}`
      : `${entry.unit.path}|${entry.kernel.symbol}`;
    groups.set(key, [...(groups.get(key) ?? []), { entry, report: reports[index]! }]);
  }
  return [...groups.values()];
}

/** The findings that a repair is to remove: a run showed them, and nobody tolerates them. */
function needed({ report }: Instance): Finding[] {
  return findingsOf(report).filter(
    (finding) =>
      finding.confirmed && finding.suppressed === undefined && !('kind' in finding && finding.kind === 'early-exit'),
  );
}

/** What a group came to, for one of its instances. */
function ofInstance(repair: RepairReport, report: KernelReport, cost?: RepairCost): RepairReport {
  const { edits, ...rest } = repair;
  const priced = cost && edits ? { ...rest, cost, edits } : repair;
  if (repair.status !== 'repaired') return priced;
  return { ...priced, fixes: needed({ report } as Instance).map(({ fingerprint }) => fingerprint) };
}

async function repairGroup(run: RepairRun, bench: Workbench, group: readonly Instance[]): Promise<Outcome> {
  const decided = await decideGroup(run, bench, group);
  if (!('outcome' in decided)) return { group, repair: decided, isShared: false, costs: new Map() };
  const { outcome, source } = decided;
  const repair = reportOf(outcome, source);
  if (!('text' in outcome)) return { group, repair, isShared: false, costs: new Map() };
  const costs = new Map<KernelReport, RepairCost>();
  for (const { entry, report } of group) {
    const cost = await priceOf(bench, entry, outcome);
    if (cost) costs.set(report, cost);
  }
  const alternatives: RepairAlternative[] = [];
  for (const other of outcome.alternatives ?? []) {
    const cost = await priceOf(bench, group[0]!.entry, other);
    const edits = editsOf(source, other.text);
    alternatives.push({ reason: other.reason, verified: true, ...(cost && { cost }), edits });
  }
  const whole = alternatives.length > 0 ? { ...repair, alternatives } : repair;
  return { group, repair: whole, isShared: bench.changesOthers(outcome.text), costs };
}

/** What an edit costs an instance; null where that is not known. */
async function priceOf(bench: Workbench, entry: PreparedKernel, repair: Repair): Promise<RepairCost | null> {
  const before = await bench.costOf(entry);
  const after = await bench.costOf(entry, repair.text);
  return before && after ? { text: describeCost(repair, before, after), before, after } : null;
}

function editsOf(source: CudaSource, text: string): RepairEdit[] {
  return lineEdits(source.text, text).map((edit) => ({ file: source.file, ...edit }));
}

async function decideGroup(
  run: RepairRun,
  bench: Workbench,
  group: readonly Instance[],
): Promise<RepairReport | { readonly outcome: RepairOutcome; readonly source: CudaSource }> {
  const { request, facts } = run;
  const [{ entry }] = group as [Instance];
  const all = group.flatMap(needed);
  const skipped = (reason: string): RepairReport =>
    all.length === 0 ? { status: 'not-needed' } : { status: 'skipped', reason };
  if (all.length === 0) {
    const mayShrink = group.every(
      (instance) => provesBothChecks(instance.report) && instance.entry.notEvaluated.length === 0,
    );
    if (!group.every((instance) => provesBothChecks(instance.report)))
      return { status: 'skipped', reason: 'no run shows what there is to repair' };
    if (!run.removal || !mayShrink || !holdsBarrier(entry.kernel)) return { status: 'not-needed' };
  }
  if (entry.unit.kind === 'ptx')
    return skipped(`${entry.unit.path} is PTX: give the CUDA file that it was compiled from, which can be edited`);
  if (!request.builder.compiles) return skipped('there is no compiler to try an edit with');
  const file = entry.unit.path;
  const source = await facts.parse(file);
  if (!source) return skipped(`${file} cannot be read`);
  const line = /^[ \t]*#[ \t]*(?:line[ \t]+)?\d+(?:[ \t]+"([^"\n]*)")?/m.exec(source.text);
  if (line)
    return skipped(
      `${file} is generated${line[1] === undefined ? '' : ` from ${line[1]}`}, as a #line in it says: an edit would be lost when it is made again`,
    );
  const { location } = entry.kernel;
  if (location?.file !== file) {
    const outside = location && isAbsolute(location.file) ? ', outside of the repository' : '';
    return skipped(
      `the kernel is defined in ${location?.file ?? 'a file that is not known'}${outside}, and only ${file} itself is edited`,
    );
  }
  if (!source.functions.some(({ firstLine, lastLine }) => firstLine <= location.line && location.line <= lastLine))
    return skipped(`a macro writes the kernel at line ${location.line}, and no barrier can be put into a macro`);
  if (source.text.includes('\ufffd')) return skipped(`${file} is not UTF-8: an edit could change more than it shows`);
  const deadline = clock() + request.options.timeout;
  const left = (): number => deadline - clock();
  const instances = group.map((instance) => instance.entry);
  const gridLevel =
    (request.configuration?.checks.repair.gridLevel ?? true) &&
    instances.every(
      ({ launches, kernel }) => launches.every(({ cooperative }) => cooperative) || holdsGridBarrier(kernel),
    );
  const isRemoval = all.length === 0;
  if (!isRemoval) bench.expect(instances);
  const outcome = await (isRemoval ? removeRedundant : repairKernel)({
    source,
    racing: all.flatMap(racingAccesses),
    weights: request.configuration?.checks.repair.weights ?? defaultWeights,
    gridLevel,
    build: (text) => bench.marked(instances, text, left),
    verify: (text, change) => bench.verify(group, text, change, isRemoval),
    prepare: (text) => bench.begin(group, text),
    cost: async (text) => {
      const costs = await Promise.all(instances.map((entry) => bench.costOf(entry, text)));
      const known = costs.filter((cost) => cost !== null);
      return known.length === costs.length ? worstCost(known) : null;
    },
    lightestSets: bench.lightestSets,
    parse: (text) => facts.parseText(text, file),
    expired: () => left() < 0,
    reasonText,
  });
  if (outcome.status === 'not-needed') return { status: 'not-needed' };
  return { outcome, source };
}

/** The accesses of a race; what a barrier is missed for has none. */
function racingAccesses(finding: Finding): RacingAccess[] {
  if (!('first' in finding)) return [];
  return [finding.first, finding.second].map(({ location, expression }) => ({
    file: location?.file,
    line: location?.line ?? 0,
    expression,
  }));
}

function holdsBarrier({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) => instructions.some(isFullBarrier));
}

function holdsGridBarrier({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) => instructions.some(isGridBarrier));
}

function reportOf(outcome: RepairOutcome, source: CudaSource): RepairReport {
  const { status, reason, effort } = outcome;
  const spent = {
    iterations: effort.iterations,
    clauses: effort.clauses,
    checks: effort.checks,
    compilations: effort.compiled,
  };
  if (!('text' in outcome)) return { status: outcome.status, reason, ...spent };
  return {
    status,
    verified: true,
    barriersAdded: outcome.added,
    barriersRemoved: outcome.removed,
    gridLevel: outcome.gridLevel,
    ...spent,
    edits: editsOf(source, outcome.text),
    reason,
  };
}
