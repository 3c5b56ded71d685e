/** What a run showed, in the words of its report. */
import { placeOf, tuple } from '../../check/context/names.ts';
import type { KernelContext } from '../../check/context/facts.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type {
  AccessEvent,
  DivergenceEvent,
  FaultEvent,
  RaceEvent,
  RunResult,
  Unmodelled,
  Whereabouts,
} from '../../machine/core/run-result.ts';
import { complete } from '../../base/steps.ts';
import { kernelContext } from '../../check/context/kernel-facts.ts';
import type { Launch } from '../../launch/launch.ts';
import { verbs } from '../../check/witness/interleaving.ts';
import { describeAccess, kindOf } from '../../check/race-result.ts';
import type { CheckRequest } from '../../check/question/request.ts';
import type { AccessDescription } from '../../verdict/finding.ts';
import { barriersPassedBy } from '../../check/divergence-check.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { Instruction, InstructionId, Terminator } from '../../ir/form/kernel.ts';
import type { Location } from '../../source/location.ts';
import type { PreparedKernel } from '../build/prepare.ts';
import type { RunEvent, RunFinding, RunRace, ThreadPosition } from '../../document/run-report.ts';
import type { SourceFacts } from '../project/source-facts.ts';

export interface FindingsRequest {
  readonly entry: PreparedKernel;
  readonly facts: SourceFacts;
  readonly launch: Launch;
  readonly result: RunResult;
  /** Thread-instructions that the run was allowed. */
  readonly steps: number;
  /** Buffers and symbols to tell of races on; empty: all. */
  readonly track: readonly string[];
}

/** The findings of a run, races first. */
export async function findingsOf(request: FindingsRequest): Promise<RunFinding[]> {
  const { entry, facts, result } = request;
  const words = new RunWords(entry);
  const races = await raceFindings(request, words);
  const passed = await passedBy(request);
  return [
    ...races,
    ...result.divergences.map((event) => divergenceFinding(event, passed, words)),
    ...(await Promise.all(result.faults.map((event) => faultFinding(event, result, words, facts)))),
    ...endFindings(request, words),
    ...doubtFindings(result, words),
  ];
}

/** Places and instructions of a kernel by the ids of events. */
export class RunWords {
  readonly #entry: PreparedKernel;
  readonly #instructions: ReadonlyMap<InstructionId, Instruction>;

  constructor(entry: PreparedKernel) {
    this.#entry = entry;
    const all = entry.kernel.blocks.flatMap(({ instructions }) => instructions);
    this.#instructions = new Map(all.map((instruction) => [instruction.id, instruction]));
  }

  instruction(id: InstructionId): Instruction {
    return this.#instructions.get(id)!;
  }

  /** Where the user wrote something; where no debug information tells, the line of the PTX. */
  place(of: Instruction | Terminator): Location {
    const { kernel, unit } = this.#entry;
    const place = placeOf(kernel, 'kind' in of && of.kind === 'jump' ? { ptxLine: 1 } : of);
    return place.file === kernel.symbol && unit.kind === 'ptx' ? { ...place, file: unit.path } : place;
  }

  placeOf(id: InstructionId): Location {
    return this.place(this.instruction(id));
  }

  /** Where a thread is that runs in a basic block. */
  placeIn(block: number): Location {
    const { instructions, terminator } = this.#entry.kernel.blocks[block]!;
    const first = instructions.find(({ location }) => location) ?? instructions[0] ?? terminator;
    return this.place(first);
  }
}

/** What may order two accesses although the detector does not take it to. */
const doubts: Readonly<Record<Unmodelled, string>> = {
  'fence-order': 'both threads pass a __threadfence() between them, and the order of the two fences is not known',
  'warp-exchange': 'a shuffle or vote lies between them, which orders no memory by itself',
  cluster: 'the blocks may be of one cluster',
};

const who = (thread: Dim3, block: Dim3): string => `Thread ${tuple(thread)} of block ${tuple(block)}`;

async function raceFindings(
  { entry, facts, launch, result, track }: FindingsRequest,
  words: RunWords,
): Promise<RunRace[]> {
  const wanted = result.races
    .filter(({ object }) => track.length === 0 || track.includes(object))
    .map((event) => ({ event, array: arrayOf(event) }));
  if (wanted.length === 0) return [];
  const context = contextOf(entry, launch, facts);
  const findings = new Map<string, RunRace>();
  for (const { event, array } of wanted) {
    const first = await describe(context, event.first, array, words, facts);
    const second = await describe(context, event.second, array, words, facts);
    const finding = raceFinding(launch.block ?? [1, 1, 1], event, array, first, second);
    // Several instructions of one line, and threads of one block and of two, are one finding.
    const lines = [first, second].map(({ location }) => `${location?.file}:${location?.line}`).sort();
    const key = [finding.code, array, finding.scope === 'grid', ...lines].join('|');
    const known = findings.get(key);
    if (!known || (known.severity === 'warning' && finding.severity === 'error')) findings.set(key, finding);
  }
  return [...findings.values()];
}

function arrayOf({ object, space }: RaceEvent): string {
  return space === 'shared' ? objectName(object) : object.startsWith('_Z') ? objectName(object) : object;
}

/** Barriers that threads passed by which the machine saw exit: only the source tells. */
async function passedBy({ entry, launch, facts, result }: FindingsRequest): Promise<ReadonlySet<InstructionId>> {
  if (!result.divergences.some(({ kind }) => kind === 'early-exit')) return new Set();
  return complete(barriersPassedBy(contextOf(entry, launch, facts)));
}

function contextOf({ kernel, name, parameters }: PreparedKernel, launch: Launch, facts: SourceFacts): KernelContext {
  const request: CheckRequest = {
    kernel,
    name: name.qualified,
    parameters,
    objectName,
    launch,
    assumptions: [],
    checks: { race: true, divergence: true },
    departure: facts.departure,
    policy: {
      race: 'error',
      sameValueWrites: 'warning',
      warpLockstep: false,
      divergence: 'error',
      earlyExit: 'warning',
    },
    solver: () => Promise.reject(new Error('a run asks no solver')),
    budget: { solverUnits: 0, evaluations: 0, replaySteps: 0, expired: () => false },
  };
  return kernelContext(request);
}

/** An access with its source text, as a check describes it. */
async function describe(
  context: KernelContext,
  event: AccessEvent,
  array: string,
  words: RunWords,
  facts: SourceFacts,
): Promise<AccessDescription> {
  const access = context.accesses.find(
    ({ instruction, operation }) => instruction.id === event.instruction && operation === event.operation,
  );
  const location = words.placeOf(event.instruction);
  if (!access) return { operation: event.operation, memory: 'generic', location, thread: event.thread, block: event.block }; // prettier-ignore
  const { ordinal, alike, ...description } = describeAccess(context, access, event);
  const expression = await facts.accessText(location, access.operation, array, ordinal, alike);
  return { ...description, location, ...(expression === undefined ? {} : { expression }) };
}

function raceFinding(
  [width, height]: Dim3,
  event: RaceEvent,
  array: string,
  first: AccessDescription,
  second: AccessDescription,
): RunRace {
  const { space, offset, bytes, sameValue, unmodelled } = event;
  const isGrid = event.first.block.join() !== event.second.block.join();
  const warp = ({ thread: [x, y, z] }: AccessEvent): number => Math.floor((x + width * (y + height * z)) / 32);
  const scope = isGrid ? 'grid' : warp(event.first) === warp(event.second) ? 'warp' : 'block';
  const lines = [first, second].map(({ location }) => location?.line ?? 0).sort((a, b) => a - b);
  const places = lines[0] === lines[1] ? `the two accesses in line ${lines[0]}` : `lines ${lines[0]} and ${lines[1]}`;
  const person = ({ thread, block }: AccessEvent): string =>
    isGrid ? `${tuple(thread)} of block ${tuple(block)}` : tuple(thread);
  const size = bytes === 1 ? 'the same byte' : `the same ${bytes} bytes`;
  const order = isGrid ? `nothing orders ${places} between blocks` : `no __syncthreads() separates ${places}`;
  const reasons = unmodelled.map((reason) => doubts[reason]).join('; ');
  const between = unmodelled.length > 0 ? ` They may be ordered after all: ${reasons}.` : '';
  return {
    code: `race/${space}`,
    severity: sameValue || unmodelled.length > 0 ? 'warning' : 'error',
    kind: kindOf(event.first, event.second),
    memory: space,
    scope,
    array,
    offset,
    bytes,
    ...(sameValue ? { sameValue } : {}),
    ...(unmodelled.length > 0 ? { unmodelled } : {}),
    first,
    second,
    message: `Thread ${person(event.first)} ${verbs[event.first.operation]} ${array} and thread ${person(event.second)} ${verbs[event.second.operation]} ${size}; ${order}.${sameValue ? ' Both write the same value.' : ''}${between}`,
  };
}

function divergenceFinding(event: DivergenceEvent, passed: ReadonlySet<InstructionId>, words: RunWords): RunEvent {
  const { barrier, block, arrived, arrivedCount, absent, others } = event;
  const isPassed = event.kind === 'early-exit' && barrier !== null && passed.has(barrier);
  const kind = isPassed ? 'divergent' : event.kind;
  const location = barrier === null ? undefined : words.placeOf(barrier);
  const positions: ThreadPosition[] = [
    { state: 'waiting', ...(location ? { location } : {}), threads: arrived, count: arrivedCount },
    ...others.map((other) => positionOf(other, words)),
  ];
  const line = location ? ` in line ${location.line}` : '';
  const waiting = `${arrivedCount === 1 ? `Thread ${tuple(arrived[0]!)}` : `${arrivedCount} threads`} of block ${tuple(block)} ${arrivedCount === 1 ? 'waits' : 'wait'} at the barrier${line}`;
  const other = absent ? `thread ${tuple(absent.thread)} ${whereText(absent.where, words)}` : 'the others never arrive';
  const consequences: Readonly<Record<DivergenceEvent['kind'], string>> = {
    divergent: 'not all threads of the block reach it',
    'early-exit': 'sm_70 and later count threads that have returned as arrived',
    'partial-arrival': 'fewer threads arrive than the barrier waits for',
    deadlock: 'no thread can go on',
  };
  return {
    code: kind === 'early-exit' ? 'barrier/early-exit' : kind === 'deadlock' ? 'barrier/deadlock' : 'barrier/divergent',
    severity: kind === 'early-exit' ? 'warning' : 'error',
    ...(location ? { location } : {}),
    block,
    ...(absent ? { thread: absent.thread } : {}),
    positions,
    message: `${waiting}, ${other}: ${consequences[kind]}.`,
  };
}

function positionOf({ where, threads, count }: DivergenceEvent['others'][number], words: RunWords): ThreadPosition {
  if (where.kind === 'exited') return { state: 'exited', threads, count };
  const isWaiting = where.kind === 'barrier';
  const location = isWaiting ? words.placeOf(where.instruction) : words.placeIn(where.block);
  return { state: isWaiting ? 'waiting' : 'running', location, threads, count };
}

function whereText(where: Whereabouts, words: RunWords): string {
  if (where.kind === 'exited') return 'has returned';
  if (where.kind === 'running') return `is at line ${words.placeIn(where.block).line}`;
  const { operation } = words.instruction(where.instruction);
  const isBarrier = /barrier/.test(operation.effect.kind);
  return `waits at ${isBarrier ? 'the barrier' : operation.mnemonic} in line ${words.placeOf(where.instruction).line}`;
}

const faults = {
  'out-of-bounds': { code: 'memory/out-of-bounds', severity: 'error', text: 'out of bounds' },
  misaligned: { code: 'memory/misaligned', severity: 'error', text: 'at an address that is not aligned' },
  'read-only': { code: 'memory/read-only', severity: 'error', text: 'where nothing may be written' },
  uninitialised: { code: 'memory/uninitialised', severity: 'warning', text: 'that nobody has written' },
} as const;

async function faultFinding(
  event: FaultEvent,
  result: RunResult,
  words: RunWords,
  facts: SourceFacts,
): Promise<RunEvent> {
  const { kind, instruction, block, thread, message } = event;
  const at = { block, thread };
  if (kind === 'unknown-operation' || kind === 'unknown-control') {
    const location = instruction === null ? words.placeIn(result.stopped!.at) : words.placeOf(instruction);
    const what = kind === 'unknown-operation' ? `the instruction ${message}` : message;
    const text = `${who(thread, block)} reaches ${what} in line ${location.line}, which is not supported: nothing after it is to be relied on.`;
    return { code: 'run/unsupported', severity: 'error', location, ...at, message: text };
  }
  const { code, severity, text } = faults[kind];
  const location = words.placeOf(instruction!);
  const { effect } = words.instruction(instruction!).operation;
  const verb = effect.kind === 'load' ? 'reads' : effect.kind === 'atomic' ? 'updates' : effect.kind === 'async-copy' ? 'copies' : 'writes'; // prettier-ignore
  const operation = effect.kind === 'load' ? 'read' : effect.kind === 'atomic' ? 'atomic' : 'write';
  const expression = await facts.accessText(location, operation, undefined, undefined, undefined);
  const size = 'bytes' in effect && typeof effect.bytes === 'number' ? effect.bytes * ('lanes' in effect ? effect.lanes : 1) : 0; // prettier-ignore
  const bytes = size === 0 ? '' : size === 1 ? ' a byte' : ` ${size} bytes`;
  return {
    code,
    severity,
    location,
    ...at,
    ...(expression === undefined ? {} : { expression }),
    message: `${who(thread, block)} ${verb}${bytes} ${text} in line ${location.line}: ${message}.`,
  };
}

/** Why the run ended before all threads did, where no fault tells. */
function endFindings({ entry, result, steps }: FindingsRequest, words: RunWords): RunEvent[] {
  const { outcome, stopped } = result;
  if (outcome === 'race-limit') {
    const message = `The run was ended after ${result.races.length} pairs of accesses that race.`;
    return [{ code: 'run/race-limit', severity: 'notice', message }];
  }
  if (outcome !== 'budget' && outcome !== 'trap') return [];
  const code = outcome === 'budget' ? 'run/budget' : 'run/trap';
  const reason = outcome === 'budget' ? `The run was ended after ${steps} thread-instructions, before all threads had returned` : 'The kernel ended with a trap'; // prettier-ignore
  if (!stopped) return [{ code, severity: 'error', message: `${reason}.` }];
  const { block, thread, at } = stopped;
  const { terminator } = entry.kernel.blocks[at]!;
  const location = outcome === 'trap' && terminator.kind === 'trap' ? words.place(terminator) : words.placeIn(at);
  const text =
    outcome === 'budget'
      ? `${reason}; thread ${tuple(thread)} of block ${tuple(block)} was at line ${location.line}. Perhaps a loop has no end; else allow more with --steps.`
      : `${who(thread, block)} executes a trap in line ${location.line}: a failed assertion, or __trap().`;
  return [{ code, severity: 'error', location, block, thread, message: text }];
}

/** What makes the run one of many, or none that the user meant. */
function doubtFindings({ havocs, brokenAssumptions }: RunResult, words: RunWords): RunEvent[] {
  const linesOf = (ids: readonly InstructionId[]): { location?: Location; text: string } => {
    const places = ids.map((id) => words.placeOf(id));
    const lines = [...new Set(places.map(({ line }) => line))].sort((a, b) => a - b);
    const text = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`;
    return { ...(places[0] ? { location: places[0] } : {}), text };
  };
  const findings: RunEvent[] = [];
  if (brokenAssumptions.length > 0) {
    const { text, ...place } = linesOf(brokenAssumptions);
    const message = `SELVAGE_ASSUME does not hold in ${text}: with these arguments the run means nothing.`;
    findings.push({ code: 'run/assumption', severity: 'warning', ...place, message });
  }
  if (havocs.length > 0) {
    const { text, ...place } = linesOf(havocs);
    const mnemonics = [...new Set(havocs.map((id) => words.instruction(id).operation.mnemonic))];
    const message = `The values of ${mnemonics.join(', ')} in ${text} cannot be computed here; 0 stands for them.`;
    findings.push({ code: 'run/unknown-value', severity: 'notice', ...place, message });
  }
  return findings;
}
