/** Repeats the run that showed a finding, and records the steps of the finding's threads. */
import type { Dim3 } from '../../base/dim3.ts';
import { type Steps, settled } from '../../base/coroutine.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import type { Instruction, InstructionId, Terminator } from '../../ir/form/kernel.ts';
import { fieldName } from '../../launch/parameter-field.ts';
import type { AccessEvent, RaceEvent } from '../../interpreter/core/run-result.ts';
import type { TracedAccess, TracedValue, TraceEntry } from '../../interpreter/trace.ts';
import { outsideToolkit } from '../../source/location.ts';
import type { RecordedCell, RecordedStep } from '../../verdict/finding.ts';
import type { KernelContext } from '../context/facts.ts';
import { placeOf } from '../context/names.ts';
import { type Scenario, replayRequest } from './replay.ts';

/** Limit on the instructions of a run that is recorded. */
const maxSteps = 250_000;
/** Limit on the recorded steps; a run with more steps is not recorded. */
const maxEntries = 20_000;
/** Number of final steps of each thread that are reported. */
const maxTold = 5;

interface Performer {
  readonly thread: Dim3;
  readonly block: Dim3;
}

/** A recorded step, with the data that identifies the racing accesses. */
interface Entry extends RecordedStep {
  readonly instruction: Instruction | Terminator;
  readonly object?: string;
}

/**
 * The steps of the two threads of a race, up to the second of the racing accesses.
 * @returns undefined if the run is too long, or does not show the race in this form
 */
export function* recordedRace(context: KernelContext, scenario: Scenario, event: RaceEvent): Steps<readonly RecordedStep[] | undefined> {
  const { first, second } = event;
  const performers = first.block.join() === second.block.join() && first.thread.join() === second.thread.join() ? [first] : [first, second];
  const entries = yield* recorded(context, scenario, performers, event);
  if (!entries) return undefined;
  const last = performers.length - 1;
  const performs = ({ instruction, operation }: AccessEvent, thread: number, entry: Entry): boolean =>
    entry.thread === thread &&
    entry.action === operation &&
    'id' in entry.instruction &&
    entry.instruction.id === instruction &&
    entry.object === event.object &&
    entry.cell?.isShared === true;
  const isSameBlock = first.block.join() === second.block.join();
  for (let end = 0; end < entries.length; end++) {
    if (!performs(second, last, entries[end]!)) continue;
    const start = entries.findLastIndex((entry, at) => at < end && performs(first, 0, entry));
    if (start === -1) continue;
    const passed = new Set(entries.slice(start, end).flatMap(({ action, thread }) => (action === 'pass' ? thread : [])));
    // Both threads have passed a barrier since the first access, so these two executions of the accesses do not race.
    if (isSameBlock && passed.size === performers.length) continue;
    return told(entries.filter(({ thread, action }, at) => at <= (thread === 0 && last > 0 ? start : end) && action !== 'go'));
  }
  return undefined;
}

/** Whether a thread performs an instruction on a byte of an array in a run; false if the run is too long. */
export function* performsAt(
  context: KernelContext,
  scenario: Scenario,
  performer: Performer,
  instruction: InstructionId,
  offset: number,
): Steps<boolean> {
  const entries = yield* recorded(context, scenario, [performer]);
  return (
    entries?.some((entry) => 'id' in entry.instruction && entry.instruction.id === instruction && entry.cell?.offset === offset) ?? false
  );
}

/** The steps of a thread that waits at a barrier and of one that does not reach it, up to the end of the run. */
export function* recordedDivergence(
  context: KernelContext,
  scenario: Scenario,
  performers: readonly Performer[],
): Steps<readonly RecordedStep[] | undefined> {
  const entries = yield* recorded(context, scenario, performers);
  return entries && told(entries);
}

/** The last steps of each thread, in the order of the run. */
function told(entries: readonly Entry[]): readonly RecordedStep[] {
  const counts = new Map<number, number>();
  const kept = entries.toReversed().filter(({ thread }) => {
    const count = (counts.get(thread) ?? 0) + 1;
    counts.set(thread, count);
    return count <= maxTold;
  });
  return kept.reverse().map(({ thread, action, location, to, cell }): RecordedStep => ({
    thread,
    action,
    location,
    ...(to !== undefined && { to }),
    ...(cell && { cell }),
  }));
}

function* recorded(
  context: KernelContext,
  scenario: Scenario,
  performers: readonly Performer[],
  event?: RaceEvent,
): Steps<readonly Entry[] | undefined> {
  const { request, kernel, fields } = context;
  const { launch, parameters, policy, budget } = request;
  if (budget.replaySteps === 0 || budget.expired()) return undefined;
  const { Trace } = yield* settled(() => import('../../interpreter/trace.ts'));
  const { runIfSmall } = yield* settled(() => import('../../interpreter/javascript/staged-run.ts'));
  const numberOf = (block: Dim3, thread: Dim3): number =>
    performers.findIndex((one) => isSame(one.thread, thread) && isSame(one.block, block));
  const entries: Entry[] = [];
  let isOver = false;
  const trace = new Trace(
    (block, thread) => numberOf(block, thread) !== -1,
    (entry) => {
      if (entries.length > maxEntries) return;
      entries.push(...entriesOf(context, scenario, entry, numberOf(entry.block, entry.thread), isOver, event));
    },
    (place) => mayTell(place, event),
  );
  const steps = Math.min(maxSteps, budget.replaySteps);
  const asked = replayRequest(kernel, parameters, fields, launch, scenario, steps, policy.warpLockstep);
  const result = runIfSmall({ ...asked, detectRaces: false, observer: trace });
  isOver = true;
  trace.finish();
  return result === null || result.outcome === 'budget' || entries.length > maxEntries ? undefined : entries;
}

function isSame(a: Dim3, b: Dim3): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}

/** Whether {@link entriesOf} may produce entries for an instruction. */
function mayTell(place: Instruction | Terminator, event: RaceEvent | undefined): boolean {
  if ('operation' in place) return place.operation.effect.kind !== 'pure';
  return place.kind === 'exit' || (place.kind === 'branch' && !event);
}

function entriesOf(
  context: KernelContext,
  scenario: Scenario,
  entry: TraceEntry,
  thread: number,
  isOver: boolean,
  event: RaceEvent | undefined,
): Entry[] {
  const { kernel, request } = context;
  const { place: instruction } = entry;
  if (!('operation' in instruction)) {
    if (instruction.kind === 'exit') return entryAt(context, instruction, { thread, action: 'exit', instruction });
    if (instruction.kind !== 'branch' || event || entry.target === null) return [];
    const next = kernel.blocks[entry.target]!.instructions.find(({ location }) => location);
    return entryAt(context, instruction, {
      thread,
      action: 'go',
      instruction,
      ...(next && { to: placeOf(kernel, next) }),
    });
  }
  const { effect } = instruction.operation;
  if (effect.kind === 'barrier' || isGridBarrier(instruction)) {
    return entryAt(context, instruction, { thread, action: isOver ? 'wait' : 'pass', instruction });
  }
  return entry.accesses.flatMap((access) => {
    const space = kernel.objects.find(({ symbol }) => symbol === access.object)?.space;
    const isArray = space ? space === 'global' || space === 'shared' : /^\d+\.\d+/.test(access.object);
    if (!isArray) return [];
    const array = space ? request.objectName(access.object) : bufferName(context, access.object);
    const cell = { array, ...cellOf(scenario, entry, access, event) };
    return entryAt(context, instruction, {
      thread,
      action: access.operation,
      instruction,
      object: access.object,
      cell,
    });
  });
}

function entryAt({ kernel }: KernelContext, at: Instruction | Terminator, entry: Omit<Entry, 'location'>): Entry[] {
  if ('operation' in at) return [{ ...entry, location: placeOf(kernel, at) }];
  const location = 'location' in at ? outsideToolkit(at.location) : undefined;
  return location ? [{ ...entry, location }] : [];
}

/** The array of a buffer, whose name is `INDEX.OFFSET` of the parameter. */
function bufferName({ request, kernel }: KernelContext, name: string): string {
  const [, index, offset, rest = ''] = /^(\d+)\.(\d+)(.*)$/.exec(name)!;
  return fieldName(request.parameters, { index: Number(index), offset: Number(offset) }, kernel) + rest;
}

/** The bytes that an access touches and their value; for a race, only the bytes that both accesses touch. */
function cellOf(
  scenario: Scenario,
  entry: TraceEntry,
  { operation, offset, bytes, object }: TracedAccess,
  event: RaceEvent | undefined,
): Omit<RecordedCell, 'array'> {
  const { effect } = (entry.place as Instruction).operation;
  const lanes = effect.kind === 'load' || effect.kind === 'store' || effect.kind === 'atomic' ? lanesOf(effect) : 0;
  const meets = event?.object === object && offset < event.offset + event.bytes && event.offset < offset + bytes ? event : undefined;
  const values = lanes === 0 ? [] : operation === 'write' ? entry.reads.slice(-lanes) : entry.writes.slice(0, lanes);
  const size = lanes > 0 && values.length === lanes ? bytes / lanes : bytes;
  // The vector element that races, otherwise the whole access.
  const lane = lanes > 1 && meets ? Math.floor((meets.offset - offset) / size) : 0;
  const isLane = lanes === 1 || (lanes > 1 && meets !== undefined && lane >= 0 && lane < lanes);
  const bits = isLane && values.length === lanes ? bitsOf(values[lane], entry, scenario, size) : undefined;
  return {
    offset: isLane ? offset + lane * size : offset,
    bytes: isLane ? size : bytes,
    ...(bits !== undefined && { bits }),
    ...(meets && { isShared: true as const }),
  };
}

function lanesOf(effect: Extract<Instruction['operation']['effect'], { kind: 'load' | 'store' | 'atomic' }>): number {
  return effect.lanes;
}

/** The bits of a register. Special registers of indices and extents are computed, as no back end stores them. */
function bitsOf(held: TracedValue | undefined, { thread, block }: TraceEntry, scenario: Scenario, bytes: number): bigint | undefined {
  if (held === undefined || typeof held.value === 'boolean') return undefined;
  if (held.value !== null) return BigInt.asUintN(8 * bytes, held.value);
  const [, name = '', axis = ''] = /^%(tid|ntid|ctaid|nctaid)\.([xyz])$/.exec(held.register ?? '') ?? [];
  const of = { tid: thread, ntid: scenario.block, ctaid: block, nctaid: scenario.grid }[name];
  return of && BigInt(of['xyz'.indexOf(axis) as 0 | 1 | 2]);
}
