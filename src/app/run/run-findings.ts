/** Results of a run in the form of its report. */
import { completionOf } from '../../isa/model/effect.ts';
import { kernelRequest } from '../build/kernel-request.ts';
import type {
  AccessEvent,
  DivergenceEvent,
  FaultEvent,
  RaceEvent,
  RunResult,
  UndefinedRead,
  Whereabouts,
} from '../../interpreter/core/run-result.ts';
import { complete } from '../../base/coroutine.ts';
import { placeOf } from '../../check/context/names.ts';
import type { KernelContext } from '../../check/context/facts.ts';
import { aliasing } from '../../check/context/aliasing.ts';
import { areOfOneLocation } from '../../check/ordering/order.ts';
import { isFlagWait, isSetByOne } from '../../check/ordering/synchronisation-idioms.ts';
import { mayTouch } from '../../check/obligations/obligation.ts';
import type { Access } from '../../analysis/values/access.ts';
import { kernelContext } from '../../check/context/kernel-facts.ts';
import type { Launch } from '../../launch/launch.ts';
import { isOwn, threadName } from '../../check/witness/interleaving.ts';
import { missingOrder } from '../../check/advice/missing-order.ts';
import { describeAccess } from '../../check/context/access-description.ts';
import { raceKind } from '../../check/race-result.ts';
import type { RacingThreads } from '../../check/advice/shared-index.ts';
import type { CheckPolicy } from '../../check/request/check-request.ts';
import type { AccessDescription, LaneFault, MissingOrder } from '../../verdict/finding.ts';
import { code, sentences } from '../../messages/text/code-text.ts';
import { type LaneFaultKind, laneFaultText, laneRemedy } from '../../messages/finding/lane-fault.ts';
import { shownRace } from '../../messages/finding/race.ts';
import {
  type AbsentThread,
  type StoppedThread,
  brokenAssumptionMessage,
  budgetMessage,
  doubtText,
  faultMessage,
  raceLimitMessage,
  trapMessage,
  unknownValueMessage,
  unsupportedMessage,
  waitingMessage,
} from '../../messages/run.ts';
import { faultOfEvent, faultOfRead } from '../../check/warp-findings.ts';
import type { Dim3 } from '../../base/dim3.ts';
import { barriersPassedBy } from '../../check/divergence-check.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { Instruction, InstructionId, Terminator } from '../../ir/form/kernel.ts';
import type { Location } from '../../source/location.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import type { RunEvent, RunFinding, RunRace, ThreadPosition } from '../../report-model/run-report.ts';
import type { SourceFacts } from '../project/source-facts.ts';

interface FindingsRequest {
  readonly entry: LaunchedKernel;
  readonly facts: SourceFacts;
  readonly policy: CheckPolicy;
  readonly launch: Launch;
  readonly result: RunResult;
  /** Maximum number of thread-instructions of the run. */
  readonly steps: number;
  /** Buffers and symbols whose races are reported; if empty, all are. */
  readonly track: readonly string[];
}

/** The findings of a run, races first. */
export async function runFindings(request: FindingsRequest): Promise<RunFinding[]> {
  const { entry, facts, result } = request;
  const words = new RunWords(entry);
  const races = await raceFindings(request, words);
  const passed = await passedBy(request);
  const block = request.launch.block ?? [1, 1, 1];
  return [
    ...races,
    ...result.divergences.map((event) => divergenceFinding(event, passed, words, block)),
    ...result.undefinedReads.map((read) => undefinedFinding(read, words, block)),
    ...(await Promise.all(result.faults.map((event) => faultFinding(event, result, words, facts)))),
    ...endFindings(request, words),
    ...doubtFindings(result, words),
  ];
}

/** Locations and instruction texts of a kernel by the IDs that events contain. */
export class RunWords {
  readonly #entry: LaunchedKernel;
  readonly #instructions: ReadonlyMap<InstructionId, Instruction>;

  constructor(entry: LaunchedKernel) {
    this.#entry = entry;
    const all = entry.kernel.blocks.flatMap(({ instructions }) => instructions);
    this.#instructions = new Map(all.map((instruction) => [instruction.id, instruction]));
  }

  instruction(id: InstructionId): Instruction {
    return this.#instructions.get(id)!;
  }

  /** Location in the source; without debug information, the line of the PTX. */
  place(of: Instruction | Terminator): Location {
    const { kernel, unit } = this.#entry;
    const place = placeOf(kernel, 'kind' in of && of.kind === 'jump' ? { ptxLine: 1 } : of);
    return place.file === kernel.symbol && unit.kind === 'ptx' ? { ...place, file: unit.path } : place;
  }

  placeOf(id: InstructionId): Location {
    return this.place(this.instruction(id));
  }

  /** Location of a thread in a basic block. */
  placeIn(block: number): Location {
    const { instructions, terminator } = this.#entry.kernel.blocks[block]!;
    const first = instructions.find(({ location }) => location) ?? instructions[0] ?? terminator;
    return this.place(first);
  }
}

async function raceFindings(request: FindingsRequest, words: RunWords): Promise<RunRace[]> {
  const { facts, policy, result, track } = request;
  const wanted = result.races
    .filter(({ object }) => track.length === 0 || track.includes(object))
    .map((event) => ({ event, array: arrayOf(event) }));
  if (wanted.length === 0) return [];
  const context = contextOf(request);
  const isRecognised = recognised(context, result.races);
  const undefinedReads = new Set(result.undefinedReads.map(({ instruction }) => instruction));
  const findings = new Map<string, RunRace>();
  for (const { event, array } of wanted) {
    if (isRecognised(event)) continue;
    const first = await describe(context, event.first, array, words, facts);
    const second = await describe(context, event.second, array, words, facts);
    const finding = raceFinding(context, policy, event, undefinedReads, array, first, second);
    // Races of several instructions on the same lines are one finding, whether their threads are in one block or in
    // two.
    const lines = [first, second].map(({ location }) => `${location?.file}:${location?.line}`).sort();
    const key = [finding.code, array, finding.scope === 'grid', ...lines].join('|');
    const known = findings.get(key);
    if (!known || (known.severity === 'warning' && finding.severity === 'error')) findings.set(key, finding);
  }
  return [...findings.values()];
}

/**
 * Which races are those of a lock, or of a flag that threads wait for, implemented with volatile accesses.
 * @param races all races that the run showed
 */
export function recognised(context: KernelContext, races: readonly RaceEvent[]): (event: RaceEvent) => boolean {
  const { symbolic, accesses, dimensions, synchronisation } = context;
  const pairOf = (event: RaceEvent) => {
    const [first, second] = [accessOf(context, event.first), accessOf(context, event.second)];
    return first && second ? [{ first, second }] : [];
  };
  const mayBeSame = mayTouch(aliasing(context).mayAlias);
  const shown = races.flatMap(pairOf);
  return (event) =>
    event.kind === 'volatile' &&
    pairOf(event).some(
      (pair) =>
        areOfOneLocation(synchronisation, pair.first, pair.second) ||
        (isFlagWait(symbolic, pair) && isSetByOne(symbolic, accesses, dimensions, pair, mayBeSame, shown)),
    );
}

function accessOf({ accesses }: KernelContext, event: AccessEvent): Access | undefined {
  return accesses.find(({ instruction, operation }) => instruction.id === event.instruction && operation === event.operation);
}

function arrayOf({ object, space }: RaceEvent): string {
  return space === 'shared' || object.startsWith('_Z') ? objectName(object) : object;
}

/** Barriers that threads missed because they exited earlier. They are determined from the source, not from the run. */
async function passedBy(request: FindingsRequest): Promise<ReadonlySet<InstructionId>> {
  const { result } = request;
  if (!result.divergences.some(({ kind }) => kind === 'early-exit')) return new Set();
  return complete(barriersPassedBy(contextOf(request)));
}

function contextOf({ entry, launch, facts, policy }: FindingsRequest): KernelContext {
  return kernelContext({
    ...kernelRequest(entry, policy),
    launch,
    assumptions: [],
    departure: facts.departure,
    solver: () => Promise.reject(new Error('a run asks no solver')),
    budget: { solverUnits: 0, evaluations: 0, replaySteps: 0, factor: 1, expired: () => false },
  });
}

/** An access with its source text, as a check describes it. */
async function describe(
  context: KernelContext,
  event: AccessEvent,
  array: string,
  words: RunWords,
  facts: SourceFacts,
): Promise<AccessDescription> {
  const access = accessOf(context, event);
  const location = words.placeOf(event.instruction);
  if (!access) return { operation: event.operation, memory: 'generic', location, thread: event.thread, block: event.block };
  const { ordinal, alike, ...description } = describeAccess(context, access, event);
  const expression = await facts.accessText(location, access.operation, array, ordinal, alike);
  return { ...description, location, ...(expression === undefined ? {} : { expression }) };
}

function raceFinding(
  context: KernelContext,
  policy: CheckPolicy,
  event: RaceEvent,
  undefinedReads: ReadonlySet<InstructionId>,
  array: string,
  first: AccessDescription,
  second: AccessDescription,
): RunRace {
  const { space, offset, bytes, sameValue, unmodelled } = event;
  const isGrid = event.first.block.join() !== event.second.block.join();
  const { launch } = context.request;
  const block = launch.block ?? [1, 1, 1];
  const [width, height] = block;
  const warp = ({ thread: [x, y, z] }: AccessEvent): number => Math.floor((x + width * (y + height * z)) / 32);
  const scope = isGrid ? 'grid' : warp(event.first) === warp(event.second) ? 'warp' : 'block';
  const kind = raceKind(event.first, event.second);
  const isMild = event.kind === 'volatile' && policy.volatile !== 'error';
  const doubt = doubtText(unmodelled);
  const dimensions = { block, grid: launch.grid ?? [1, 1, 1] } as const;
  const threads = isOwn(event) ? [event.first] : [event.first, event.second];
  const message = shownRace({
    first,
    second,
    array,
    sameValue,
    overlap: { offset, bytes },
    threads: threads.map((access) => threadName(access.thread, access.block, dimensions, isGrid)),
    missing: missingOf(context, event, scope, { first: event.first, second: event.second, block, undefinedReads }),
    ...(doubt !== undefined && { doubt }),
  });
  return {
    code: event.kind === 'volatile' ? 'race/volatile' : `race/${space}`,
    severity: sameValue || isMild || unmodelled.length > 0 ? 'warning' : 'error',
    kind,
    memory: space,
    scope,
    array,
    offset,
    bytes,
    ...(sameValue ? { sameValue } : {}),
    ...(unmodelled.length > 0 ? { unmodelled } : {}),
    first,
    second,
    message,
  };
}

/** The missing order between two racing accesses of a run, if the run determines it. */
function missingOf(context: KernelContext, event: RaceEvent, scope: 'warp' | 'block' | 'grid', racing: RacingThreads): MissingOrder {
  const [first, second] = [accessOf(context, event.first), accessOf(context, event.second)];
  if (!first || !second) return { kind: scope === 'grid' ? 'grid-order' : 'block-barrier' };
  return missingOrder(context, [first, second], scope === 'grid' ? 'grid' : 'block', 'any', racing);
}

function divergenceFinding(event: DivergenceEvent, passed: ReadonlySet<InstructionId>, words: RunWords, size: Dim3): RunEvent {
  const { barrier, block, arrived, arrivedCount, absent, others } = event;
  const isPassed = event.kind === 'early-exit' && barrier !== null && passed.has(barrier);
  const kind = isPassed ? 'divergent' : event.kind;
  const location = barrier === null ? undefined : words.placeOf(barrier);
  const positions: ThreadPosition[] = [
    { state: 'waiting', ...(location ? { location } : {}), threads: arrived, count: arrivedCount },
    ...others.map((other) => positionOf(other, words)),
  ];
  if (kind === 'missing-lanes' || kind === 'outside-mask') {
    const message = laneText(kind, faultOfEvent(event, size), words, barrier!);
    return { code: `warp/${kind}`, severity: 'error', location: location!, block, thread: arrived[0]!, positions, message };
  }
  const message = waitingMessage({
    kind,
    block,
    arrived,
    arrivedCount,
    ...(location && { barrier: location }),
    ...(absent && { absent: { thread: absent.thread, where: absentThread(absent.where, barrier, words) } }),
  });
  return {
    code: kind === 'early-exit' ? 'barrier/early-exit' : kind === 'deadlock' ? 'barrier/deadlock' : 'barrier/divergent',
    severity: kind === 'early-exit' ? 'warning' : 'error',
    ...(location ? { location } : {}),
    block,
    ...(absent ? { thread: absent.thread } : {}),
    positions,
    message,
  };
}

/** An undefined value of a shuffle. Whether it has an effect is not known. */
function undefinedFinding(read: UndefinedRead, words: RunWords, size: Dim3): RunEvent {
  const { instruction, block, thread } = read;
  const message = laneText('undefined-value', faultOfRead(read, size), words, instruction);
  return { code: 'warp/undefined-value', severity: 'notice', location: words.placeOf(instruction), block, thread, message };
}

function laneText(kind: LaneFaultKind, fault: Omit<LaneFault, 'mnemonic'>, words: RunWords, id: InstructionId): string {
  const { mnemonic } = words.instruction(id).operation;
  const named = { mnemonic, ...fault };
  return sentences(laneFaultText(kind, named, `line ${words.placeOf(id).line}`), laneRemedy(kind, named));
}

function positionOf({ where, threads, count }: DivergenceEvent['others'][number], words: RunWords): ThreadPosition {
  if (where.kind === 'exited') return { state: 'exited', threads, count };
  const isWaiting = where.kind === 'barrier';
  const location = isWaiting ? words.placeOf(where.instruction) : words.placeIn(where.block);
  return { state: isWaiting ? 'waiting' : 'running', location, threads, count };
}

function absentThread(where: Whereabouts, barrier: InstructionId | null, words: RunWords): AbsentThread {
  if (where.kind === 'exited') return { kind: 'returned' };
  if (where.kind === 'running') return { kind: 'running', line: words.placeIn(where.block).line };
  if (where.instruction === barrier) return { kind: 'other-iteration' };
  const { effect, mnemonic } = words.instruction(where.instruction).operation;
  const { line } = words.placeOf(where.instruction);
  return { kind: 'waiting', line, ...(/barrier/.test(effect.kind) ? {} : { mnemonic }) };
}

const faults = {
  'out-of-bounds': { code: 'memory/out-of-bounds', severity: 'error' },
  misaligned: { code: 'memory/misaligned', severity: 'error' },
  'read-only': { code: 'memory/read-only', severity: 'error' },
  uninitialised: { code: 'memory/uninitialised', severity: 'warning' },
} as const;

async function faultFinding(event: FaultEvent, result: RunResult, words: RunWords, facts: SourceFacts): Promise<RunEvent> {
  const { kind, instruction, block, thread, message, left } = event;
  const at = { block, thread };
  if (kind === 'unknown-operation' || kind === 'unknown-control') {
    const location = instruction === null ? words.placeIn(result.stopped!.at) : words.placeOf(instruction);
    const what = kind === 'unknown-operation' ? `the instruction ${code(message)}` : message;
    const text = unsupportedMessage(thread, block, what, location.line);
    return { code: 'run/unsupported', severity: 'error', location, ...at, message: text };
  }
  const { code: name, severity } = faults[kind];
  const location = words.placeOf(instruction!);
  const { effect } = words.instruction(instruction!).operation;
  const operation = effect.kind === 'load' ? 'read' : effect.kind === 'atomic' ? 'atomic' : 'write';
  const expression = await facts.accessText(location, operation, undefined, undefined, undefined);
  const size = 'bytes' in effect && typeof effect.bytes === 'number' ? effect.bytes * ('lanes' in effect ? effect.lanes : 1) : 0;
  return {
    code: name,
    severity,
    location,
    ...at,
    ...(expression === undefined ? {} : { expression }),
    message: faultMessage({
      kind,
      thread,
      block,
      operation: completionOf(effect) !== null ? 'copy' : operation,
      bytes: size,
      line: location.line,
      detail: left ? `byte ${left.offset} of ${left.bytes} in ${objectName(left.object)}` : message,
    }),
  };
}

/** Findings on why the run ended before all threads did. Faults have separate findings. */
function endFindings({ entry, result, steps }: FindingsRequest, words: RunWords): RunEvent[] {
  const { outcome, stopped } = result;
  if (outcome === 'race-limit') {
    const message = raceLimitMessage(result.races.length);
    return [{ code: 'run/race-limit', severity: 'notice', message }];
  }
  if (outcome !== 'budget' && outcome !== 'trap') return [];
  const name = outcome === 'budget' ? 'run/budget' : 'run/trap';
  const messageOf = (at?: StoppedThread): string => (outcome === 'budget' ? budgetMessage(steps, at) : trapMessage(at));
  if (!stopped) return [{ code: name, severity: 'error', message: messageOf() }];
  const { block, thread, at } = stopped;
  const { terminator } = entry.kernel.blocks[at]!;
  const location = outcome === 'trap' && terminator.kind === 'trap' ? words.place(terminator) : words.placeIn(at);
  const message = messageOf({ thread, block, line: location.line });
  return [{ code: name, severity: 'error', location, block, thread, message }];
}

/** Findings on unknown values, because of which the run is one of many possible ones, and on violated assumptions. */
function doubtFindings({ havocs, brokenAssumptions }: RunResult, words: RunWords): RunEvent[] {
  const linesOf = (ids: readonly InstructionId[]): { location?: Location; lines: number[] } => {
    const places = ids.map((id) => words.placeOf(id));
    const lines = [...new Set(places.map(({ line }) => line))].sort((a, b) => a - b);
    return { ...(places[0] ? { location: places[0] } : {}), lines };
  };
  const findings: RunEvent[] = [];
  if (brokenAssumptions.length > 0) {
    const { lines, ...place } = linesOf(brokenAssumptions);
    const message = brokenAssumptionMessage(lines);
    findings.push({ code: 'run/assumption', severity: 'warning', ...place, message });
  }
  if (havocs.length > 0) {
    const { lines, ...place } = linesOf(havocs);
    const mnemonics = [...new Set(havocs.map((id) => words.instruction(id).operation.mnemonic))];
    const message = unknownValueMessage(mnemonics, lines);
    findings.push({ code: 'run/unknown-value', severity: 'notice', ...place, message });
  }
  return findings;
}
