import { kernelRequest } from '../build/kernel-request.ts';
import type { Witness } from '../../verdict/finding.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import type { CheckResult } from '../../check/request/check-request.ts';
import { type Finding, weakened, worstDivergence, worstRace } from '../../report-model/outcome.ts';
import type { DivergenceReport, RaceReport } from '../../report-model/finding.ts';
import type { KernelReport, LaunchReport } from '../../report-model/report.ts';
import type { Launch } from '../../launch/launch.ts';
import { parameterName, scalarText } from '../../launch/parameter-field.ts';
import { policyOf } from '../../settings/configuration.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { clock } from '../../system/clock.ts';
import type { AccessDescription, Assumption } from '../../verdict/finding.ts';
import { divergenceReport, raceReport } from '../../messages/finding/verdict.ts';
import { reasonText } from '../../messages/text/verdict-reason.ts';
import { defectOf } from '../build/defect.ts';
import { differsAt } from '../build/builds-differ.ts';
import type { Checked, LaunchedKernel } from '../build/phase-data.ts';
import { elementText, namedRecording } from '../project/element-text.ts';
import type { Progress } from '../project/progress.ts';
import type { SourceFacts } from '../project/source-facts.ts';
import { type CheckTask, undecided } from '../workers/check-executor.ts';
import type { KernelChecks } from '../workers/check-pool.ts';
import { certificateFile, type ProvedLaunch } from './certificates.ts';
import { violatedAt } from './launch-preconditions.ts';
import { reproduceCommand } from './reproduce.ts';

/**
 * Checks kernels under each of their launches, several at a time. An internal error in one does not affect the others.
 * @param progress - receives internal errors
 */
export async function decide(
  kernels: readonly LaunchedKernel[],
  settings: Settings,
  sources: SourceFacts,
  checks: KernelChecks,
  progress: Progress,
): Promise<Checked> {
  const severalArches = new Set(kernels.map(({ arch }) => arch)).size > 1;
  const decided = await Promise.all(
    kernels.map(async (entry) => {
      const diagnostics: Diagnostic[] = [];
      const onDefect = (launch: Launch, error: unknown): void => void diagnostics.push(defectOf(entry, launch, error, progress));
      const onContradiction = (launch: Launch): void => void diagnostics.push(contradiction(entry, launch));
      const onSwitchedOff = (result: CheckResult): void => void diagnostics.push(...switchedOff(entry, result));
      const onBroken = (launch: Launch, texts: readonly string[]): void => void diagnostics.push(violatedAt(entry, launch, texts));
      const proved: ProvedLaunch[] = [];
      const onProved = (launch: ProvedLaunch): void => void proved.push(launch);
      const report = await checkOne(settings, sources, entry, checks, { onDefect, onContradiction, onSwitchedOff, onBroken, onProved });
      const certificates = settings.options.certificates === undefined ? {} : { certificates: certificateFile(entry, proved) };
      return { entry, report: severalArches ? { ...report, arch: entry.arch } : report, diagnostics, ...certificates };
    }),
  );
  return {
    kernels: decided.map(({ entry, report, certificates }) => ({
      entry,
      report,
      ...(certificates && { certificates }),
    })),
    diagnostics: decided.flatMap(({ diagnostics }) => diagnostics),
  };
}

interface Troubles {
  readonly onDefect: (launch: Launch, error: unknown) => void;
  /** Called if the stated assumptions contradict each other or the launch. */
  readonly onContradiction: (launch: Launch) => void;
  /** Called if the stated assumptions, or the preconditions of the proof, make code unreachable. */
  readonly onSwitchedOff: (result: CheckResult) => void;
  /** Called if the launch never satisfies preconditions of the proof. */
  readonly onBroken: (launch: Launch, texts: readonly string[]) => void;
  /** Called with the certificates of a proof. */
  readonly onProved: (proved: ProvedLaunch) => void;
}

function switchedOff({ name, assumptions }: LaunchedKernel, { switchedOff: places, race }: CheckResult): Diagnostic[] {
  if (!places) return [];
  const lines = [...new Set(places.map(({ line }) => line))].sort((a, b) => a - b);
  const where = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`;
  const texts = assumptions.map(({ text }) => text).join('; ');
  const preconditions = (race.assumptions ?? []).filter(({ kind }) => kind === 'precondition').map(({ text }) => text);
  const named = [
    ...(texts === '' ? [] : [`assumption ${texts}`]),
    ...(preconditions.length === 0 ? [] : [`precondition ${preconditions.join('; ')}`]),
  ];
  const stated = named.length === 0 ? 'What the code states' : `The ${named.join(' with the ')}`;
  const message = `${stated} switches off ${where} of ${name.qualified}: the verdicts do not cover code that no such launch executes.`;
  const location = places.find(({ line }) => line === lines[0]);
  return [{ severity: 'notice', code: 'assumption/unreachable', message, ...(location ? { location } : {}) }];
}

function contradiction({ name, kernel, assumptions }: LaunchedKernel, { block, grid }: Launch): Diagnostic {
  const dimensions = [block && `block ${block.join(',')}`, grid && `grid ${grid.join(',')}`].filter((text) => text);
  const launch = dimensions.length > 0 ? `, or its launch with ${dimensions.join(' and ')}` : '';
  const texts = assumptions.map(({ text }) => text).join('; ');
  const message = `The assumptions about ${name.qualified} contradict each other${launch}, so Selvage proves nothing: ${texts}.`;
  const location = assumptions.find((stated) => stated.location)?.location ?? kernel.location;
  return { severity: 'error', code: 'assumption/contradictory', message, ...(location ? { location } : {}) };
}

/** The check of a kernel under its launches, as a task. */
export function taskOf({ options, configuration }: Settings, facts: SourceFacts, entry: LaunchedKernel): CheckTask {
  const { launches, verification } = entry;
  // A proof of race freedom is needed because only race-free kernels can be idempotent.
  const isNeeded = options.checks.includes('idempotency');
  const checks = {
    race: isNeeded || options.checks.includes('race'),
    divergence: isNeeded || options.checks.includes('divergence'),
  };
  return {
    request: {
      ...kernelRequest(entry, policyOf(configuration)),
      checks,
      departure: facts.departure,
      ...(options.certificates !== undefined && { certificates: true }),
    },
    launches,
    source: verification.source,
    module: verification.module,
  };
}

async function checkOne(
  settings: Settings,
  facts: SourceFacts,
  entry: LaunchedKernel,
  places: KernelChecks,
  { onDefect, onContradiction, onSwitchedOff, onBroken, onProved }: Troubles,
): Promise<KernelReport> {
  const { options, nvccArguments } = settings;
  const { kernel, name } = entry;
  const started = clock();
  const task = taskOf(settings, facts, entry);
  const { checks } = task.request;
  const outcomes = await places.check(task);
  const launches: LaunchReport[] = [];
  for (const [index, launch] of entry.launches.entries()) {
    const outcome = outcomes[index]!;
    if ('defect' in outcome) {
      onDefect(launch, outcome.defect);
      const { race, divergence } = undecided(checks, 'defect');
      launches.push(bareReport(entry, launch, raceReport(race), divergenceReport(divergence)));
      continue;
    }
    if (outcome.result.contradiction) onContradiction(launch);
    onSwitchedOff(outcome.result);
    const { certificates } = outcome.result;
    if (certificates) onProved({ launch, certificates });
    const broken = outcome.result.brokenPreconditions;
    if (broken) onBroken(launch, broken);
    const told = await launchReport(launch, outcome.result, entry, facts, nvccArguments);
    launches.push(broken ? { ...told, broken } : told);
  }
  const open = openAssumptions(entry);
  const race = worstRace(launches.map((launch) => launch.race));
  const divergence = worstDivergence(launches.map((launch) => launch.divergence));
  return {
    name: name.full,
    symbol: kernel.symbol,
    ...(kernel.location ? { location: kernel.location } : {}),
    race: withAssumptions(race, open),
    divergence: withAssumptions(divergence, open),
    repair: { status: 'skipped' },
    ...(entry.unoptimised && { unoptimised: entry.unoptimised }),
    launches,
    ...(options.timings ? { timings: { check: milliseconds(clock() - started) } } : {}),
  };
}

/** Integer arguments by name. */
function argsOf({ kernel, parameters }: LaunchedKernel, { scalars }: Launch): Pick<LaunchReport, 'args'> {
  const args = [...scalars].flatMap(([index, value]) => {
    const field = { index, offset: 0, bytes: kernel.parameters[index]?.bytes ?? 0, isPointer: false };
    if (field.bytes === 0) return [];
    return [[parameterName(parameters, index), scalarText(kernel, parameters, field, value)] as const];
  });
  return args.length > 0 ? { args: Object.fromEntries(args) } : {};
}

function bareReport(entry: LaunchedKernel, launch: Launch, race: RaceReport, divergence: DivergenceReport): LaunchReport {
  const { source, block, grid, cluster, sharedBytes, cooperative, location, ties = [], reasons } = launch;
  const place = location ? { location } : {};
  const tied = ties.length > 0 ? { ties: ties.map(({ text }) => text) } : {};
  return {
    source,
    block,
    grid,
    cluster,
    sharedBytes,
    cooperative,
    ...place,
    ...argsOf(entry, launch),
    ...tied,
    ...(reasons && { open: reasons }),
    race,
    divergence,
  };
}

async function launchReport(
  launch: Launch,
  { race, divergence }: CheckResult,
  entry: LaunchedKernel,
  facts: SourceFacts,
  nvccArguments: readonly string[],
): Promise<LaunchReport> {
  const { unit, kernel, parameters } = entry;
  const differ = differsAt(launch, entry);
  const reason = differ === undefined ? undefined : reasonText({ kind: 'builds-differ', differ });
  const cooperative = launch.cooperative || kernel.blocks.some(({ instructions }) => instructions.some(isGridBarrier));
  const withCommand = <Reported extends Finding>(finding: Reported): Reported => {
    const words = unit.kind === 'cuda' ? nvccArguments : [];
    const reproduce = finding.witness && reproduceCommand(unit.path, witnessToReplay(finding.witness, kernel), cooperative, words);
    return reproduce === undefined ? finding : { ...finding, reproduce };
  };
  const findings = [];
  for (const finding of race.findings) {
    const first = await withText(finding.first, finding.array, facts);
    const second = await withText(finding.second, finding.array, facts);
    const told = finding.interleaving && (await namedRecording(finding.interleaving, parameters, facts));
    const texted = { ...finding, first, second, ...(told && { interleaving: told }) };
    const element = await elementText(texted, parameters, facts);
    const { overlap } = finding;
    findings.push(overlap && element !== undefined ? { ...texted, overlap: { ...overlap, element } } : texted);
  }
  const races = raceReport({ ...race, findings });
  const missed = [];
  for (const finding of divergence.findings) {
    const told = finding.interleaving && (await namedRecording(finding.interleaving, parameters, facts));
    missed.push(told ? { ...finding, interleaving: told } : finding);
  }
  const barriers = divergenceReport({ ...divergence, findings: missed });
  const checked: RaceReport = { ...races, findings: races.findings.map(withCommand) };
  const checkedBarriers: DivergenceReport = { ...barriers, findings: barriers.findings.map(withCommand) };
  // The usual, optimised verification build exceeded the time limit. With it, the verdicts may differ.
  const byChance = entry.unoptimised === 'late' ? { nondeterministic: true } : {};
  return bareReport(
    entry,
    launch,
    { ...(reason === undefined ? checked : weakened(checked, reason)), ...byChance },
    { ...(reason === undefined ? checkedBarriers : weakened(checkedBarriers, reason)), ...byChance },
  );
}

/** The witness as an input of a replay: without the size of dynamic shared memory if the kernel has none. */
function witnessToReplay({ sharedBytes, ...witness }: Witness, { objects, blocks }: Kernel): Witness {
  const readsSize = blocks.some(({ instructions }) =>
    instructions.some(({ arguments: given }) => given.some((operand) => operand.kind === 'special' && /smem/.test(operand.register))),
  );
  const isUsed = readsSize || objects.some(({ space, bytes }) => space === 'shared' && bytes === null);
  return isUsed && sharedBytes !== undefined ? { ...witness, sharedBytes } : witness;
}

async function withText(
  { ordinal, alike, ...access }: AccessDescription,
  array: string | undefined,
  facts: SourceFacts,
): Promise<AccessDescription> {
  if (access.expression !== undefined || !access.location) return access;
  const expression = await facts.accessText(access.location, access.operation, access.array ?? array, ordinal, alike);
  return expression === undefined ? access : { ...access, expression };
}

/** Assumption that each proof of the kernel depends on if some launches could not be evaluated. */
function openAssumptions({ notEvaluated }: LaunchedKernel): Assumption[] {
  return notEvaluated.map(({ text, location }) => ({
    kind: 'launch',
    text: `the launch ${text}, which Selvage could not evaluate completely, is one of those that it checked`,
    location,
  }));
}

function withAssumptions<Result extends RaceReport | DivergenceReport>(result: Result, more: readonly Assumption[]): Result {
  if (more.length === 0 || result.verdict === 'skipped') return result;
  return { ...result, assumptions: [...(result.assumptions ?? []), ...more] };
}

function milliseconds(time: number): number {
  return Math.round(time * 10) / 10;
}
