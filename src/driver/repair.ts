/** Repairs of the kernels of a run: compiles marked copies, proves edited ones, and puts what holds into the reports. */
import { isAbsolute } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isFullBarrier, isGridBarrier } from '../analysis/barrier-interval.ts';
import { complete } from '../base/steps.ts';
import type { Launch } from '../check/launch.ts';
import { kernelContext } from '../check/context.ts';
import type { CheckResult } from '../check/request.ts';
import type { Assumption } from '../check/verdict.ts';
import { objectName } from '../cuda/demangle.ts';
import type { CudaSource } from '../cuda/syntax.ts';
import type { Kernel } from '../ir/kernel.ts';
import { switchMarkers } from '../ir/switch-markers.ts';
import { type BuildCost, describeCost, worstCost } from '../repair/build-cost.ts';
import type { LightestSets } from '../repair/placement-search.ts';
import { differingInput } from '../repair/same-memory.ts';
import { removeRedundant, repairKernel } from '../repair/repair-kernel.ts';
import type { Change, MarkedBuild, RepairOutcome, Verification } from '../repair/request.ts';
import { type Subject, markersOf } from '../repair/subject.ts';
import { defaultWeights } from '../repair/weight.ts';
import { applyLineEdits, distinctEdits, lineEdits } from './repaired-file.ts';
import { buildsDiffer } from './builds-differ.ts';
import { normalForm } from './normal-form.ts';
import { type Finding, findingsOf } from './outcome.ts';
import { type CheckTask, undecided } from './check-place.ts';
import { type KernelChecks, checkLimits } from './kernel-checks.ts';
import { type LazySolver, solverStarter } from './lazy-solver.ts';
import { policyOf } from './pipeline.ts';
import { type PreparedKernel, type PreparedUnit, type ReadModule, readBuild, stableName } from './prepare.ts';
import type { KernelReport, RepairCost, RepairReport } from './report.ts';
import type { AnalysisRequest, UnitBuilder } from './request.ts';
import { type SourceFacts, departureAmong } from './source-facts.ts';

export interface RepairRun {
  readonly request: AnalysisRequest;
  readonly facts: SourceFacts;
  /** Parallel to `reports`. */
  readonly kernels: readonly PreparedKernel[];
  readonly reports: readonly KernelReport[];
  readonly units: readonly PreparedUnit[];
  readonly checks: KernelChecks;
  /** Whether barriers are looked for that proved kernels do not need. */
  readonly removal: boolean;
}

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
      const started = performance.now();
      const outcome = await repairGroup(run, bench, group);
      for (const { report } of group) times.set(report, Math.round(performance.now() - started));
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

interface Instance {
  readonly entry: PreparedKernel;
  readonly report: KernelReport;
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
    const before = await bench.costOf(entry);
    const after = await bench.costOf(entry, outcome.text);
    if (before && after) costs.set(report, { text: describeCost(outcome, before, after), before, after });
  }
  return { group, repair, isShared: bench.changesOthers(outcome.text), costs };
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
    const mayShrink = group.every((instance) => isProved(instance.report) && instance.entry.notEvaluated.length === 0);
    if (!group.every((instance) => isProved(instance.report)))
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
  const deadline = performance.now() + request.options.timeout;
  const left = (): number => deadline - performance.now();
  const instances = group.map((instance) => instance.entry);
  const gridLevel =
    (request.configuration?.checks.repair.gridLevel ?? true) &&
    instances.every(
      ({ launches, kernel }) => launches.every(({ cooperative }) => cooperative) || holdsGridBarrier(kernel),
    );
  const isRemoval = all.length === 0;
  const outcome = await (isRemoval ? removeRedundant : repairKernel)({
    source,
    weights: request.configuration?.checks.repair.weights ?? defaultWeights,
    gridLevel,
    build: (text) => bench.marked(instances, text, left),
    verify: (text, change) => bench.verify(group, text, change, isRemoval),
    cost: async (text) => {
      const costs = await Promise.all(instances.map((entry) => bench.costOf(entry, text)));
      const known = costs.filter((cost) => cost !== null);
      return known.length === costs.length ? worstCost(known) : null;
    },
    lightestSets: bench.lightestSets,
    parse: (text) => facts.parseText(text, file),
    expired: () => left() < 0,
  });
  if (outcome.status === 'not-needed') return { status: 'not-needed' };
  return { outcome, source };
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
    edits: lineEdits(source.text, outcome.text).map((edit) => ({ file: source.file, ...edit })),
    reason,
  };
}

/** Compiles and checks texts in place of the files. What several kernels ask of one text is done once. */
class Workbench {
  private readonly run: RepairRun;
  private readonly builds = new Map<string, Promise<ReadModule | null>>();
  private readonly resources = new Map<string, ReturnType<NonNullable<UnitBuilder['resources']>>>();
  /** Edited texts that changed kernels beside the one that was repaired. */
  private readonly shared = new Set<string>();
  private readonly solver: LazySolver;

  constructor(run: RepairRun, solver: LazySolver) {
    this.run = run;
    this.solver = solver;
  }

  readonly lightestSets: LightestSets = async (clauses, weight) => {
    const { lightestSet } = await import('../solver/max-sat.ts');
    const found = await lightestSet(await this.solver.start(), clauses, weight, { units: 10_000, questions: 32 });
    return found?.set ?? null;
  };

  changesOthers(text: string): boolean {
    return this.shared.has(text);
  }

  /** What an instance costs in the production build, as it is or of an edited text; null where that is not known. */
  async costOf(entry: PreparedKernel, text?: string): Promise<BuildCost | null> {
    const { unit, arch } = entry;
    const module = text === undefined ? entry.productionBuild : await this.build(entry, 'production', text);
    if (!module) return null;
    const key = JSON.stringify([unit.path, arch, text]);
    const { builder } = this.run.request;
    const asked = this.resources.get(key) ?? builder.resources?.(module.source.ptx, arch, unit);
    if (asked) this.resources.set(key, asked);
    const resources = await asked;
    const kernel = module.kernels.find((other) => stableName(other) === stableName(entry.kernel));
    const usage = kernel && typeof resources === 'object' ? resources.get(kernel.symbol) : undefined;
    if (!kernel || !usage) return null;
    const instructions = kernel.blocks.flatMap((block) => block.instructions);
    const { registers, sharedBytes, spillStoreBytes, spillLoadBytes } = usage;
    const spillBytes = spillStoreBytes + spillLoadBytes;
    const barriers = instructions.filter(isFullBarrier).length;
    return { registers, spillBytes, sharedBytes, barriers, instructions: instructions.length };
  }

  /** The instances in a marked copy, with the checks that search asks for; null where it does not compile. */
  async marked(instances: readonly PreparedKernel[], text: string, left: () => number): Promise<MarkedBuild | null> {
    const subjects: Subject[] = [];
    const shared = new Set<number>();
    for (const arch of new Set(instances.map((entry) => entry.arch))) {
      const own = instances.filter((entry) => entry.arch === arch);
      const module = await this.build(own[0]!, 'verification', text);
      if (!module) return null;
      const departure = await this.departure(own[0]!, text);
      const names = new Map(own.map((entry) => [stableName(entry.kernel), entry]));
      for (const kernel of module.kernels) {
        const entry = names.get(stableName(kernel));
        if (!entry) {
          for (const marker of markersOf(kernel).values()) shared.add(marker);
          continue;
        }
        const { source } = module;
        const check: Subject['check'] = (switches, launch) =>
          this.check(entry, { kernel: switchMarkers(kernel, switches), source, switches }, launch, departure, {
            proofOnly: true,
            timeout: Math.max(0, left()),
          });
        subjects.push({ kernel, launches: entry.launches, check });
      }
    }
    return subjects.length === instances.length ? { subjects, shared } : null;
  }

  /** Whether a text is a repair: both builds, the same launches, no new assumption, and no harm to other kernels. */
  async verify(group: readonly Instance[], text: string, change: Change, isRemoval: boolean): Promise<Verification> {
    const notes = new Set<string>();
    for (const arch of new Set(group.map(({ entry }) => entry.arch))) {
      const instances = group.filter(({ entry }) => entry.arch === arch);
      const refused = await this.refusal(instances, text, change, isRemoval, notes);
      if (refused !== null) return { verified: false, reason: refused };
    }
    return { verified: true, notes: [...notes] };
  }

  private async refusal(
    group: readonly Instance[],
    text: string,
    change: Change,
    isRemoval: boolean,
    notes: Set<string>,
  ): Promise<string | null> {
    const [{ entry: one }] = group as [Instance];
    const [verification, production] = await Promise.all([
      this.build(one, 'verification', text),
      this.build(one, 'production', text),
    ]);
    if (!verification || !production) return 'the edited file does not compile';
    const departure = await this.departure(one, text);
    const unit = this.run.units.find(({ unit: own, arch }) => own === one.unit && arch === one.arch)!;
    for (const entry of unit.kernels) {
      const name = stableName(entry.kernel);
      const kernel = verification.kernels.find((other) => stableName(other) === name);
      if (!kernel) return `the edited file lacks the kernel ${entry.name.qualified}`;
      const instance = group.find((candidate) => candidate.entry === entry);
      if (!instance && isUnchanged(entry, verification, kernel)) continue;
      if (!instance) this.shared.add(text);
      const differ = buildsDiffer(
        kernel,
        production.kernels.find((other) => stableName(other) === name),
      );
      for (const launch of entry.launches) {
        const result = await this.check(entry, { kernel, source: verification.source }, launch, departure);
        if (instance) {
          const reason = complaint(result, differ, assumptionsOf(instance.report), isRemoval);
          if (reason !== null) return reason;
          if (change === 'statements' && !(await this.computesTheSame(entry, kernel, launch)))
            return 'the edited kernel computes something else';
          if (exitsEarly(result) && !exitsEarly(instance.report))
            notes.add('threads that have returned before do not come to it, which sm_70 and later allow');
          continue;
        }
        // Another kernel that uses the same function: it must be left as good as it was.
        const before = await this.check(entry, entry, launch, this.run.facts.departure);
        if (isProved(before) ? complaint(result, differ, assumptionsOf(before)) !== null : isWorse(result, before))
          return `it changes ${entry.name.qualified} too, and not for the better`;
      }
    }
    return null;
  }

  private async check(
    entry: PreparedKernel,
    { kernel, source, switches }: CheckedKernel,
    launch: Launch,
    departure: SourceFacts['departure'],
    { proofOnly = false, timeout }: { readonly proofOnly?: boolean; readonly timeout?: number } = {},
  ): Promise<CheckResult> {
    const asked = { ...this.requestOf(entry, kernel), departure, proofOnly };
    const [outcome] = await this.run.checks.check({
      request: asked,
      launches: [launch],
      source,
      ...(switches && { switches }),
      ...(timeout !== undefined && { timeout }),
    });
    if ('result' in outcome!) return outcome.result;
    const files = new Map([['kernel.ptx', source.ptx]]);
    this.run.request.progress.defect({ kernel: entry.name.full, error: outcome!.defect, files });
    return undecided(asked.checks, 'a defect of Selvage');
  }

  private requestOf({ name, parameters, assumptions }: PreparedKernel, kernel: Kernel): CheckTask['request'] {
    return {
      kernel,
      name: name.qualified,
      parameters,
      objectName,
      assumptions,
      checks: { race: true, divergence: true },
      policy: policyOf(this.run.request),
    };
  }

  /** Whether no input tells the edited kernel from the original, thread by thread. */
  private async computesTheSame(entry: PreparedKernel, edited: Kernel, launch: Launch): Promise<boolean> {
    const { kernel: original, parameters } = entry;
    const { fields } = kernelContext({
      ...this.requestOf(entry, original),
      launch,
      solver: () => Promise.reject(new Error('nothing is to be proved')),
      budget: { ...checkLimits.counted, expired: () => false },
    });
    return (await complete(differingInput({ original, edited, launch, parameters, fields }))) === null;
  }

  /** What threads do that miss a place, by the text that was compiled. */
  private async departure({ unit }: PreparedKernel, text: string): Promise<SourceFacts['departure']> {
    const { facts } = this.run;
    const edited = await facts.parseText(text, unit.path);
    return departureAmong((file) => (file === unit.path ? Promise.resolve(edited) : facts.parse(file)));
  }

  private build(
    { unit, arch }: PreparedKernel,
    kind: 'verification' | 'production',
    text: string,
  ): Promise<ReadModule | null> {
    const key = [unit.path, arch, kind, text].join('\0');
    let build = this.builds.get(key);
    if (!build) {
      const { builder, tree } = this.run.request;
      build = builder
        .build(unit, kind, arch, text)
        .then(({ ptx }) => (ptx === undefined ? null : readBuild(ptx, unit, tree)));
      this.builds.set(key, build);
    }
    return build;
  }
}

/** A kernel of a build, with its markers switched where it has some. */
type CheckedKernel = Pick<CheckTask, 'source' | 'switches'> & { readonly kernel: Kernel };

/** Kinds of assumptions that only a user can give, kernel by kernel; what the configuration tolerates it has given. */
const stated: ReadonlySet<Assumption['kind']> = new Set(['launch', 'user']);

/** Why a check of an edited kernel is no proof of it; null where it is one. */
function complaint(
  { race, divergence }: CheckResult,
  differ: string | undefined,
  known: ReadonlySet<string>,
  isRemoval = false,
): string | null {
  if (race.verdict !== 'proved')
    return `the edited kernel is not proved free of races (${race.reason ?? race.verdict})`;
  if (divergence.verdict !== 'proved')
    return `the edited kernel is not proved free of divergence (${divergence.reason ?? divergence.verdict})`;
  if (differ !== undefined) return `the builds of the edited kernel differ: ${differ}`;
  const fresh = [...(race.assumptions ?? []), ...(divergence.assumptions ?? [])].find(
    (assumption) => (isRemoval || stated.has(assumption.kind)) && !known.has(keyOf(assumption)),
  );
  return fresh ? `the proof takes for granted what was not given: ${fresh.text}` : null;
}

const rank: Readonly<Record<CheckResult['race']['verdict'] | CheckResult['divergence']['verdict'], number>> = {
  skipped: 0, proved: 0, possible: 1, unknown: 2, race: 3, divergent: 3,
}; // prettier-ignore

/** Whether some threads return before a barrier. */
function exitsEarly({ divergence }: Pick<CheckResult, 'divergence'>): boolean {
  return divergence.findings.some(({ kind }) => kind === 'early-exit');
}

function isProved({ race, divergence }: Pick<CheckResult, 'race' | 'divergence'>): boolean {
  return race.verdict === 'proved' && divergence.verdict === 'proved';
}

function isWorse(after: CheckResult, before: CheckResult): boolean {
  const badness = ({ race, divergence }: CheckResult): number[] => [
    rank[race.verdict],
    rank[divergence.verdict],
    race.findings.length + divergence.findings.length,
  ];
  const old = badness(before);
  return badness(after).some((value, index) => value > old[index]!);
}

function keyOf({ kind, text }: Assumption): string {
  return `${kind} ${text}`;
}

function assumptionsOf({ race, divergence }: Pick<CheckResult, 'race' | 'divergence'>): ReadonlySet<string> {
  return new Set([...(race.assumptions ?? []), ...(divergence.assumptions ?? [])].map(keyOf));
}

/** Whether an edit leaves the code of a kernel as it was. */
function isUnchanged(entry: PreparedKernel, edited: ReadModule, kernel: Kernel): boolean {
  return normalForm(entry.verification, entry.kernel.symbol) === normalForm(edited.module, kernel.symbol);
}
