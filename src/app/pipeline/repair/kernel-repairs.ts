/** Repairs of the kernels of a run: selection, outcome, and compatibility of the repairs of one file. */
import { grouped } from '../../../base/grouped.ts';
import { explanationText, noRepairText, repairCostText } from '../../../messages/repair.ts';
import { isAbsolute } from 'node:path';
import { compareText } from '../../../base/text.ts';
import { isGridWait } from '../../../analysis/barriers/grid-dependency.ts';
import { isFullBarrier, isGridBarrier } from '../../../analysis/barriers/barrier-interval.ts';
import type { CudaSource } from '../../../cuda/syntax/syntax.ts';
import type { Kernel } from '../../../ir/form/kernel.ts';
import type { MissingOrder } from '../../../verdict/finding.ts';
import type { NoRepair, Obstacle } from '../../../repair/explanation.ts';
import { removeRedundant, repairKernel } from '../../../repair/repair-kernel.ts';
import { insertWait } from '../../../repair/wait-strategy.ts';
import { widenIndices } from '../../../repair/width-strategy.ts';
import type { RacingAccess, Repair, RepairOutcome, RepairRequest } from '../../../repair/request.ts';
import { clock } from '../../../system/clock.ts';
import { processCpu } from '../../../system/cpu-time.ts';
import { deadlineIn } from '../../../system/deadline.ts';
import { applyLineEdits, editsByFile, lineEdits } from '../../../report-model/repaired-file.ts';
import { type Finding, findingsOf, fingerprintsOf, isRace } from '../../../report-model/outcome.ts';
import type { Location } from '../../../source/location.ts';
import { compareSeverity, type Severity } from '../../../source/severity.ts';
import type { CheckedKernel, EarlyFinding, LaunchedKernel } from '../../build/phase-data.ts';
import type { KernelReport, RepairAlternative, RepairCost, RepairEdit, RepairReport } from '../../../report-model/report.ts';
import { isOfWidth, neededFindings } from './partial-repair.ts';
import {
  type Decided,
  type FirstEdit,
  type Foreseen,
  type SearchedOutcome,
  type Ahead,
  takingFirst,
  verifyAtOnce,
} from './batched-repair.ts';
import { type EditedTexts, type RepairRun, Workbench, provesBothChecks } from './repair-workbench.ts';

/**
 * All phases of a repair: the kernels with the outcome of their repair in their reports.
 * @param kernels - those that were checked; instances of one definition are repaired together
 */
export async function repairKernels(kernels: readonly CheckedKernel[], run: RepairRun): Promise<CheckedKernel[]> {
  const bench = new Workbench(run);
  // 1. Group the instances of each definition.
  const { groups, refused }: Selected = selected(groupsOf(kernels), run.selection);
  let compilations = 0;
  // 2. Repair each group separately: `repair/repair-kernel.ts` searches, the workbench compiles and verifies.
  const ahead: ReadonlyMap<readonly CheckedKernel[], Ahead> = await searchedAhead(run, bench, groups);
  const outcomes: Outcome[] = await inTurn(groups, run, async (group) => {
    const known = ahead.get(group);
    if (known) return { ...(await finished(bench, group, known.decided, known)), searched: known.milliseconds };
    const isSpent =
      compilations >= (run.selection?.compilations ?? Infinity) && group.some((one) => needed(one).length + earlyOf(one).length > 0);
    const why = refused.get(group) ?? (isSpent ? enough(group) : undefined);
    if (why) return skippedOutcome(group, why);
    const outcome = await repairGroup(run, bench, group);
    compilations += outcome.repair.compilations ?? 0;
    return outcome;
  });
  // 3. Verify the repairs of each file together.
  const accepted: Outcome[] = await acceptByFile(run, bench, outcomes);
  // 4. Write them into the reports.
  return withRepairs(kernels, accepted);
}

/** Processes groups sequentially and measures the time of each. */
async function inTurn(
  groups: readonly (readonly CheckedKernel[])[],
  { tools }: RepairRun,
  work: (group: readonly CheckedKernel[]) => Promise<Finished>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const group of groups) {
    tools.signal?.throwIfAborted();
    const started = clock();
    const outcome = await work(group);
    const { searched = 0 } = outcome;
    outcomes.push({ ...outcome, milliseconds: Math.round(clock() - started + searched) });
  }
  return outcomes;
}

/**
 * Outcomes of the searches for several racy kernels of a file, with their edits verified in one text per file. Not used
 * in reviews, which repair few kernels and limit the compilations of each.
 */
async function searchedAhead(
  run: RepairRun,
  bench: Workbench,
  groups: readonly (readonly CheckedKernel[])[],
): Promise<Map<readonly CheckedKernel[], Ahead>> {
  const all = new Map<readonly CheckedKernel[], Ahead>();
  if (run.selection) return all;
  const isBroken = (group: readonly CheckedKernel[]): boolean => group.some((one) => needed(one).length > 0);
  const broken = groups.filter(isBroken);
  for (const file of new Set(broken.map(([one]) => one!.entry.unit.path))) {
    const own = broken.filter(([one]) => one!.entry.unit.path === file);
    const foreseen: Foreseen[] = [];
    for (const group of own.length > 1 ? own : []) {
      run.tools.signal?.throwIfAborted();
      const started = clock();
      let first: FirstEdit | undefined;
      const decided = await decideGroup(run, bench, group, (edit) => (first ??= edit));
      if (!('outcome' in decided)) continue;
      const milliseconds = clock() - started;
      if (!first) all.set(group, { group, decided, milliseconds });
      else if ('text' in decided.outcome && decided.outcome.text === first.text) foreseen.push({ group, decided, first, milliseconds });
    }
    for (const one of await verifyAtOnce(bench, foreseen)) all.set(one.group, one);
  }
  return all;
}

async function acceptByFile(run: RepairRun, bench: Workbench, outcomes: readonly Outcome[]): Promise<Outcome[]> {
  const edited = outcomes.filter(({ repair }) => repair.edits !== undefined);
  const accepted = outcomes.filter(({ repair }) => repair.edits === undefined);
  for (const own of connected(edited)) accepted.push(...(await together(run, bench, own)));
  return accepted;
}

/**
 * Groups of repairs that may affect a common kernel: they edit the same file, or a header and a unit that may include
 * it.
 */
function connected(outcomes: readonly Outcome[]): Outcome[][] {
  const isOfHeaders = outcomes.some(({ group, repair }) => repair.edits?.some(({ file }) => file !== group[0]!.entry.unit.path));
  if (isOfHeaders) return [[...outcomes]];
  return [...grouped(outcomes, ({ repair }) => repair.edits?.[0]?.file ?? '').values()];
}

function withRepairs(kernels: readonly CheckedKernel[], outcomes: readonly Outcome[]): CheckedKernel[] {
  const outcomeOf = new Map(outcomes.flatMap((outcome) => outcome.group.map(({ report }) => [report, outcome])));
  return kernels.map((one) => {
    const { report } = one;
    const { repair, costs, milliseconds } = outcomeOf.get(report)!;
    const timings = report.timings && { timings: { ...report.timings, repair: milliseconds } };
    return { ...one, report: { ...report, repair: ofInstance(repair, report, costs.get(report)), ...timings } };
  });
}

/** Outcome of a kernel, before its repair is combined with those of others. */
type Finished = Omit<Outcome, 'milliseconds'> & { /** Milliseconds of prior search. */ readonly searched?: number };

/** Outcome of a kernel. */
interface Outcome {
  readonly group: readonly CheckedKernel[];
  readonly repair: RepairReport;
  /** Whether the edit changes the code of other kernels. */
  readonly isShared: boolean;
  /** Cost of the edit, by instance. */
  readonly costs: ReadonlyMap<KernelReport, RepairCost>;
  /** Whether the edit inserts a wait for the kernels before. */
  readonly isWait?: boolean;
  /** Text with the edits of other kernels in which this edit was verified. */
  readonly atOnce?: EditedTexts;
  readonly milliseconds: number;
}

/** The compatible repairs among those of a file, or of files that affect each other. Each was verified separately. */
async function together(run: RepairRun, bench: Workbench, outcomes: readonly Outcome[]): Promise<Outcome[]> {
  if ((await clashOf(run, bench, outcomes)) === null) return asOne(outcomes);
  const accepted: Outcome[] = [];
  const results: Outcome[] = [];
  for (const outcome of outcomes) {
    const clash = await clashOf(run, bench, [...accepted, outcome]);
    if (clash === null) accepted.push(outcome);
    const status = outcome.repair.status === 'optimised' ? 'not-needed' : 'unrepairable';
    results.push(clash === null ? outcome : { ...outcome, isShared: false, repair: { status, reason: noRepairText(clash) } });
  }
  return asOne(results);
}

/**
 * Combines repairs that affect each other's kernels into one edit: they were proved separately and all together, but
 * not in subsets.
 */
function asOne(outcomes: readonly Outcome[]): Outcome[] {
  const repaired = outcomes.filter(({ repair: { status } }) => status === 'repaired');
  if (repaired.length < 2 || !repaired.some(({ isShared }) => isShared)) return [...outcomes];
  const edits = [...editsByFile(repaired.map(({ repair }) => repair.edits ?? [])).values()].flat();
  return outcomes.map((outcome) => (repaired.includes(outcome) ? { ...outcome, repair: { ...outcome.repair, edits } } : outcome));
}

/** Why repairs are not compatible; null if they are. */
async function clashOf({ project }: RepairRun, bench: Workbench, all: readonly Outcome[]): Promise<NoRepair | null> {
  if (all.length < 2) return null;
  const [{ atOnce }] = all as [Outcome];
  const kernels = all.slice(0, -1).map(({ group }) => group[0]!.entry.name.qualified);
  const clash: NoRepair = { kind: 'clash', kernels };
  const texts = new Map<string, string>();
  for (const [file, edits] of editsByFile(all.map(({ repair }) => repair.edits ?? []))) {
    const text = project.tree.text(file);
    if (text === undefined) return null;
    if (edits.some((edit, index) => index > 0 && edit.startLine <= edits[index - 1]!.endLine)) return clash;
    texts.set(file, applyLineEdits(text, edits));
  }
  // All these repairs were already verified together in this text.
  const isKnown = atOnce !== undefined && all.every((one) => one.atOnce === atOnce);
  if (isKnown && [...texts].every(([file, text]) => atOnce.get(file) === text)) return null;
  for (const { group, repair, isWait } of all) {
    const extent = repair.leaves ? 'some' : 'all';
    const { verified } = await bench.verify(group, texts, isWait ? 'waits' : 'barriers', repair.status === 'optimised', extent);
    if (!verified) return clash;
  }
  return null;
}

/** The instances of each kernel definition. */
function groupsOf(kernels: readonly CheckedKernel[]): CheckedKernel[][] {
  const groups = grouped(kernels, ({ entry }) => {
    const { location } = entry.kernel;
    // A kernel of a header of the repository is repaired for all units at once.
    const isShared = location && location.file !== entry.unit.path && !isAbsolute(location.file);
    const place = location ? `${location.file}:${location.line}` : entry.kernel.symbol;
    return isShared ? place : `${entry.unit.path}|${place}`;
  });
  return [...groups.values()];
}

interface Selected {
  /** All groups, those with the worst new findings first. */
  readonly groups: readonly (readonly CheckedKernel[])[];
  /** Groups with findings that are not repaired, with the reason. */
  readonly refused: ReadonlyMap<readonly CheckedKernel[], NoRepair>;
}

function selected(groups: readonly CheckedKernel[][], selection: RepairRun['selection']): Selected {
  const refused = new Map<readonly CheckedKernel[], NoRepair>();
  if (!selection) return { groups, refused };
  const { wanted, most } = selection;
  const left: { readonly group: readonly CheckedKernel[]; readonly severity: Severity }[] = [];
  for (const group of groups) {
    const found = group.flatMap((one) => [
      ...needed(one).map((finding) => ({ names: fingerprintsOf(finding), severity: finding.severity })),
      ...earlyOf(one).map(({ fingerprint, severity }) => ({ names: [fingerprint], severity })),
    ]);
    const [worst] = found
      .filter(({ names }) => names.some((name) => wanted.has(name)))
      .map(({ severity }) => severity)
      .sort(compareSeverity);
    if (worst !== undefined) left.push({ group, severity: worst });
    else if (found.length > 0) refused.set(group, { kind: 'known' });
  }
  left.sort((a, b) => compareSeverity(a.severity, b.severity));
  for (const { group } of left.slice(most)) refused.set(group, enough(group));
  const first = left.map(({ group }) => group);
  return { groups: [...first, ...groups.filter((group) => !first.includes(group))], refused };
}

function enough([one]: readonly CheckedKernel[]): NoRepair {
  return { kind: 'enough', file: one!.entry.unit.path };
}

function skippedOutcome(group: readonly CheckedKernel[], why: NoRepair): Finished {
  return { group, repair: { status: 'skipped', reason: noRepairText(why) }, isShared: false, costs: new Map() };
}

function needed({ report }: Pick<CheckedKernel, 'report'>): Finding[] {
  return neededFindings(report);
}

/** Findings on accesses before the wait, which a wait is inserted for if no race is to be repaired. */
function earlyOf({ early = [] }: Pick<CheckedKernel, 'early'>): readonly EarlyFinding[] {
  return early;
}

/** Findings that are neither proved absent nor confirmed by a run. */
function undecidedOf(report: KernelReport): Finding[] {
  return findingsOf(report).filter(({ confirmed, suppressed }) => !confirmed && suppressed === undefined);
}

/** Whether added barriers may lead to a proof: a pair of accesses is unproved, and the whole kernel is supported. */
function mayBeProved(report: KernelReport): boolean {
  const verdicts = [report.race.verdict, report.divergence.verdict];
  const isOpen = verdicts.includes('possible') && verdicts.every((verdict) => verdict === 'possible' || verdict === 'proved');
  return isOpen && undecidedOf(report).length > 0;
}

/** Outcome of a group for one of its instances. */
function ofInstance(repair: RepairReport, report: KernelReport, cost?: RepairCost): RepairReport {
  const { edits, ...rest } = repair;
  const priced = cost && edits ? { ...rest, cost, edits } : repair;
  if (repair.status !== 'repaired' || repair.fixes) return priced;
  const left = new Set(repair.leaves);
  const fixed = needed({ report });
  const all = (fixed.length > 0 ? fixed : undecidedOf(report)).map(({ fingerprint }) => fingerprint);
  const { leaves, ...whole } = priced;
  return {
    ...whole,
    fixes: all.filter((name) => !left.has(name)),
    ...(leaves && { leaves: all.filter((name) => left.has(name)) }),
  };
}

async function repairGroup(run: RepairRun, bench: Workbench, group: readonly CheckedKernel[]): Promise<Finished> {
  const decided = await decideGroup(run, bench, group);
  if (!('outcome' in decided)) return { group, repair: decided, isShared: false, costs: new Map() };
  return finished(bench, group, decided);
}

/** @param atOnce - text in which the search verified the edit; the cost is determined from it */
async function finished(
  bench: Workbench,
  group: readonly CheckedKernel[],
  { outcome, source, texts }: Decided,
  atOnce?: Ahead,
): Promise<Finished> {
  const isWait = 'steps' in outcome && outcome.steps.some(({ kind }) => kind === 'wait');
  const early = group.flatMap(earlyOf).map(({ fingerprint }) => fingerprint);
  const repair = { ...reportOf(outcome, source), ...(isWait && { fixes: [...new Set(early)] }) };
  if (!('text' in outcome)) return { group, repair, isShared: false, costs: new Map() };
  const costs = new Map<KernelReport, RepairCost>();
  for (const { entry, report } of group) {
    const cost = await priceOf(bench, entry, outcome, atOnce?.texts ?? texts(outcome.text));
    if (cost) costs.set(report, cost);
  }
  const alternatives: RepairAlternative[] = [];
  for (const other of outcome.alternatives ?? []) {
    const cost = await priceOf(bench, group[0]!.entry, other, texts(other.text));
    const edits = editsOf(source, other.text);
    alternatives.push({ reason: explanationText(other), verified: true, ...(cost && { cost }), edits });
  }
  const whole = alternatives.length > 0 ? { ...repair, alternatives } : repair;
  const isShared = bench.changesOthers(texts(outcome.text));
  return { group, repair: whole, isShared, isWait, costs, ...(atOnce?.texts && { atOnce: atOnce.texts }) };
}

/** Cost of an edit for an instance; null if unknown. */
async function priceOf(bench: Workbench, entry: LaunchedKernel, repair: Repair, texts: EditedTexts): Promise<RepairCost | null> {
  const before = await bench.costOf(entry);
  const after = await bench.costOf(entry, texts);
  return before && after ? { text: repairCostText(repair, before, after), before, after } : null;
}

function editsOf(source: CudaSource, text: string): RepairEdit[] {
  return lineEdits(source.text, text).map((edit) => ({ file: source.file, ...edit }));
}

/**
 * Searches for the repair of a kernel.
 * @param found - if given, receives the first edit, which is not verified
 */
async function decideGroup(
  run: RepairRun,
  bench: Workbench,
  group: readonly CheckedKernel[],
  found?: (first: FirstEdit) => void,
): Promise<RepairReport | Decided> {
  const { project, settings, sources } = run;
  const [{ entry }] = group as [CheckedKernel];
  const all = group.flatMap(needed);
  const isEarly = all.length === 0 && group.some((one) => earlyOf(one).length > 0);
  const skipped = (why: NoRepair): RepairReport =>
    all.length === 0 && isUndecided
      ? { status: 'skipped', reason: noRepairText({ kind: 'unconfirmed' }) }
      : all.length === 0 && !isEarly
        ? { status: 'not-needed' }
        : { status: 'skipped', reason: noRepairText(why) };
  // Unconfirmed findings are repaired if the user requests repairs, but not in reviews.
  const isUndecided = all.length === 0 && !isEarly && !run.selection && group.some(({ report }) => mayBeProved(report));
  if (all.length === 0 && !isUndecided && !isEarly) {
    const mayShrink = group.every((instance) => provesBothChecks(instance.report) && instance.entry.notEvaluated.length === 0);
    if (!group.every((instance) => provesBothChecks(instance.report)))
      return { status: 'skipped', reason: noRepairText({ kind: 'unconfirmed' }) };
    const isOwn = group.every((one) => one.entry.kernel.location?.file === one.entry.unit.path);
    if (!run.removal || !mayShrink || !isOwn || !holdsBarrier(entry.kernel)) return { status: 'not-needed' };
  }
  const unit = entry.unit.path;
  if (entry.unit.kind === 'ptx') return skipped({ kind: 'ptx', file: unit });
  if (!project.builder.compiles) return skipped({ kind: 'no-compiler' });
  const { location } = entry.kernel;
  const file = location?.file ?? unit;
  if (isAbsolute(file) || location === undefined)
    return skipped({ kind: 'defined-elsewhere', file: unit, ...(location && { definedIn: file }), isOutside: isAbsolute(file) });
  const source = await sources.parseToEdit(file);
  if (!source) return skipped({ kind: 'unreadable', file });
  const line = lineDirective.exec(source.text);
  if (line) return skipped({ kind: 'generated', file, ...(line[1] !== undefined && { from: line[1] }) });
  if (!source.functions.some(({ firstLine, lastLine }) => firstLine <= location.line && location.line <= lastLine))
    return skipped({ kind: 'macro-kernel', line: location.line });
  // Each copy that is tried must be built for all of these units.
  const reached = file === unit ? null : await bench.reached(group, [file]);
  if (typeof reached === 'number') return skipped({ kind: 'many-units', file, units: reached });
  // Repairs run sequentially, so the CPU time of the process is that of this repair. It excludes compilers.
  const { left } = deadlineIn(settings.options.timeout, processCpu);
  const instances = group.map((instance) => instance.entry);
  const gridLevel =
    settings.configuration.checks.repair.gridLevel &&
    instances.every(({ launches, kernel }) => launches.every(({ cooperative }) => cooperative) || holdsGridBarrier(kernel));
  const isRemoval = all.length === 0 && !isUndecided && !isEarly;
  if (!isRemoval) bench.expect(instances);
  const textsOf =
    (edited: string) =>
    (text: string): EditedTexts =>
      new Map([[edited, text]]);
  const requestFor = (edited: CudaSource, texts = textsOf(edited.file)): RepairRequest => {
    const request = verifying(edited, texts);
    return found ? takingFirst(request, found) : request;
  };
  const toRepair = isUndecided ? group.flatMap(({ report }) => undecidedOf(report)) : all;
  const verifying = (edited: CudaSource, texts: (text: string) => EditedTexts): RepairRequest => ({
    source: edited,
    kernels: instances.map(({ kernel }) => kernel),
    racing: toRepair.flatMap((finding) => racingPairs(finding)[0] ?? []),
    shown: toRepair.flatMap(racingPairs),
    missing: toRepair.flatMap(missingOf),
    narrow: () => bench.narrowAccesses(group),
    waits: isEarly ? run.units.flatMap(({ kernels }) => kernels.flatMap(({ kernel }) => waitsOf(kernel))) : [],
    weights: settings.configuration.checks.repair.weights,
    gridLevel,
    build: (text) => bench.marked(instances, texts(text), left),
    verify: (text, change, extent) =>
      bench.verify(group, texts(text), typeof change === 'object' ? { as: texts(change.as) } : change, isRemoval, extent),
    mayBePartial: !isUndecided,
    prepare: (text) => bench.begin(group, texts(text)),
    cost: (text) => bench.worstCostOf(group, text === undefined ? undefined : texts(text)),
    parse: async (text) => (await sources.parseToEdit(edited.file, text))!,
    expired: () => left() === 0,
  });
  let edited = source;
  const search = isRemoval ? removeRedundant : isEarly ? insertWait : all.length > 0 && all.every(isOfWidth) ? widenIndices : repairKernel;
  let outcome = await search(requestFor(source));
  if (outcome.status === 'not-needed') return { status: 'not-needed' };
  // The necessary edit may be in a function that the kernel calls.
  for (const header of calledHeaders(outcome)) {
    const other = isAbsolute(header) || left() === 0 ? undefined : await sources.parseToEdit(header);
    if (!other || lineDirective.test(other.text)) continue;
    const found = await repairKernel({ ...requestFor(other), mayBePartial: false });
    if (found.status === 'repaired') {
      [edited, outcome] = [other, found];
      break;
    }
    outcome = withTried(outcome, header, found);
  }
  if (isUndecided) {
    // The findings are unconfirmed: that a proof needs an added barrier does not show that the kernel is racy.
    if (outcome.status !== 'repaired') return { status: 'skipped', reason: noRepairText({ kind: 'unconfirmed' }) };
    outcome = { ...outcome, notes: [...outcome.notes, 'not-shown'] };
  }
  const whole = 'text' in outcome ? await withHeader(bench, group, edited.file, outcome) : outcome;
  return { outcome: whole, source: edited, texts: textsOf(edited.file) };
}

/** The missing order of a finding; that of an unconfirmed one, if only lanes of a warp are known to need it. */
function missingOf(finding: Finding): MissingOrder[] {
  if (!isRace(finding)) return [];
  const missing = finding.interleaving?.missing as MissingOrder | undefined;
  return missing ? [missing] : [];
}

const lineDirective = /^[ \t]*#[ \t]*(?:line[ \t]+)?\d+(?:[ \t]+"([^"\n]*)")?/m;

/** The headers that contain the accesses which no barrier in the kernel's file can separate. */
function calledHeaders(outcome: SearchedOutcome): string[] {
  const obstacles = 'why' in outcome && outcome.why.kind === 'unrepairable' ? outcome.why.obstacles : [];
  return [...new Set(obstacles.flatMap((one) => (one.kind === 'foreign' ? [one.accesses.foreign] : [])))];
}

/** The outcome if neither the kernel's file nor a header can be edited: gives both reasons. */
function withTried(outcome: SearchedOutcome, header: string, tried: RepairOutcome): SearchedOutcome {
  if (!('why' in outcome) || outcome.why.kind !== 'unrepairable') return outcome;
  if (!('why' in tried) || tried.why.kind !== 'unrepairable') return outcome;
  const inside: Obstacle = { kind: 'in-header', file: header, obstacles: tried.why.obstacles };
  const obstacles = outcome.why.obstacles.map((one) => (one.kind === 'foreign' && one.accesses.foreign === header ? inside : one));
  return { ...outcome, why: { ...outcome.why, obstacles } };
}

/** An edit with the units that it was verified in, if it edits a header. */
async function withHeader<Edit extends Repair & { readonly alternatives?: readonly Repair[] }>(
  bench: Workbench,
  group: readonly CheckedKernel[],
  file: string,
  outcome: Edit,
): Promise<Edit> {
  if (group.every(({ entry }) => entry.unit.path === file)) return outcome;
  const reached = await bench.reached(group, [file]);
  if (typeof reached === 'number') return outcome;
  const verified = [...new Set(reached.units.map(({ unit }) => unit.path))].sort(compareText);
  const header = { file, verified, broken: reached.broken };
  const alternatives = outcome.alternatives?.map((other) => ({ ...other, header }));
  return { ...outcome, header, ...(alternatives && { alternatives }) };
}

/** The pairs of accesses of a race, the reported one first; barrier divergence has none. */
function racingPairs(finding: Finding): RacingAccess[][] {
  if (!isRace(finding)) return [];
  return [finding, ...(finding.also ?? [])].map(({ first, second }) =>
    [first, second].map(({ location, expression }) => ({
      file: location?.file,
      line: location?.line ?? 0,
      expression,
    })),
  );
}

/** The lines that wait for the kernels before, those of calls included. */
function waitsOf({ blocks }: Kernel): Location[] {
  const waits = blocks.flatMap(({ instructions }) => instructions.filter(isGridWait));
  return waits.flatMap(({ location }) => {
    const frames: Location[] = [];
    for (let frame = location; frame; frame = frame.inlinedAt) frames.push(frame);
    return frames;
  });
}

function holdsBarrier({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) => instructions.some(isFullBarrier));
}

function holdsGridBarrier({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) => instructions.some(isGridBarrier));
}

function reportOf(outcome: SearchedOutcome, source: CudaSource): RepairReport {
  const { status, effort } = outcome;
  const spent = {
    iterations: effort.iterations,
    clauses: effort.clauses,
    checks: effort.checks,
    compilations: effort.compiled,
  };
  if (!('text' in outcome)) return { status: outcome.status, reason: noRepairText(outcome.why), ...spent };
  return {
    status,
    verified: true,
    barriersAdded: outcome.added,
    barriersRemoved: outcome.removed,
    gridLevel: outcome.gridLevel,
    ...spent,
    edits: editsOf(source, outcome.text),
    reason: explanationText(outcome),
    ...(outcome.because && { leaves: outcome.leaves.map(({ fingerprint }) => fingerprint) }),
  };
}
