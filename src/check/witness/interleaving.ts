/** What the threads of a finding did, step by step, and the sentences that say so. */
import { givenScalar } from '../context/scalars.ts';
import { baseName, placeOf, shortTuple, tuple } from '../context/names.ts';
import type { KernelContext } from '../context/facts.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { DivergenceEvent, PassedBarrier, RaceEvent, Whereabouts } from '../../machine/core/run-result.ts';
import type { Access } from '../../analysis/values/access.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import type { Instruction, InstructionId, Kernel } from '../../ir/form/kernel.ts';
import { bareLock } from '../ordering/critical-section.ts';
import { fieldName, scalarText } from '../../launch/parameter-field.ts';
import type { Scenario } from './replay.ts';
import type {
  AccessDescription,
  Interleaving,
  InterleavingStep,
  MissingOrder,
  RaceFinding,
} from '../../verdict/finding.ts';

/** What a thread does, in the third person. */
export const verbs = { read: 'reads', write: 'writes', atomic: 'updates' } as const;

function verbOf({ operation, isCopy }: AccessDescription): string {
  if (!isCopy) return verbs[operation];
  return operation === 'write' ? 'copies asynchronously into' : 'copies asynchronously from';
}

/** `thread 31`, or `thread (31, 2, 0) of block 1`: one number where the launch has one dimension. */
function threadName(thread: Dim3, block: Dim3, scenario: Scenario, withBlock: boolean): string {
  const number = (at: Dim3, extent: Dim3): string => (extent[1] === 1 && extent[2] === 1 ? String(at[0]) : tuple(at));
  return `thread ${number(thread, scenario.block)}${withBlock ? ` of block ${number(block, scenario.grid)}` : ''}`;
}

function instructionOf(kernel: Kernel, id: InstructionId): Instruction {
  return kernel.blocks.flatMap(({ instructions }) => instructions).find((instruction) => instruction.id === id)!;
}

/** `the 2nd time`. */
function nth(count: number): string {
  const ending = count % 100 > 10 && count % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `the ${count}${ending} time`;
}

function barrierStep({ kernel }: KernelContext, { instruction, times }: PassedBarrier): InterleavingStep {
  const barrier = instructionOf(kernel, instruction);
  return {
    threads: [0, 1],
    action: 'pass',
    text: isGridBarrier(barrier) ? 'pass the barrier of the grid' : 'pass the barrier',
    ...(times > 1 && { times }),
    location: placeOf(kernel, barrier),
  };
}

/** The words for the object of an access: its text and what that is here, else how much of which array. */
function objectText({ expression, bytes }: AccessDescription, array: string, element: string | undefined): string {
  if (expression !== undefined)
    return element === undefined || element === expression ? expression : `${expression}, here ${element}`;
  return element ?? `${bytes === undefined ? '' : `${bytes} ${bytes === 1 ? 'byte' : 'bytes'} of `}${array}`;
}

function accessStep(access: AccessDescription, thread: number, array: string, element?: string): InterleavingStep {
  const isCall = access.operation === 'atomic' && access.expression?.includes('(') === true;
  const verb = isCall ? 'executes' : verbOf(access);
  return {
    threads: [thread],
    action: access.operation,
    text: `${verb} ${objectText(access, array, isCall ? undefined : element)}`,
    ...(access.location && { location: access.location }),
  };
}

/** The launch and scalars that a finding rests on and nobody gave. */
export function describeScenario({ request, kernel, fields, dimensions }: KernelContext, scenario: Scenario): string {
  const scalars = fields
    .filter(
      (field) => !field.isPointer && givenScalar(request.launch, field.index, field.offset, field.bytes) === undefined,
    )
    .map(
      (field) =>
        `${fieldName(request.parameters, field, kernel)} = ${scalarText(kernel, request.parameters, field, scenario.scalar(field))}`,
    );
  const { block, grid, contents, settled } = scenario;
  const parts = [
    ...(dimensions.block.includes(null) ? [`block ${shortTuple(block)}`] : []),
    ...(dimensions.grid.includes(null) ? [`grid ${shortTuple(grid)}`] : []),
    ...scalars,
  ];
  // Where all of that is given, it is what arrays hold.
  if (parts.length > 0) return parts.join(', ');
  const held = new Map<string, string[]>();
  for (const field of fields) {
    const value = field.isPointer ? settled.get(`${field.index}.${field.offset}`) : undefined;
    if (value === undefined || value === contents) continue;
    held.set(`${value}`, [...(held.get(`${value}`) ?? []), fieldName(request.parameters, field, kernel)]);
  }
  const others = [...held].map(([value, names]) => `, ${names.join(' and ')} ${value}`).join('');
  return `arrays that hold ${typeof contents === 'number' ? `${contents} everywhere` : `${contents} numbers`}${others}`;
}

/** Whether a thread races with a copy of its own. */
export function isOwn({ first, second }: RaceEvent): boolean {
  return first.block.join() === second.block.join() && first.thread.join() === second.thread.join();
}

/** What the threads of a race did in the run. */
export function raceInterleaving(
  context: KernelContext,
  event: RaceEvent,
  scenario: Scenario,
  array: string,
  accesses: readonly [AccessDescription, AccessDescription],
  missing: MissingOrder,
): Interleaving {
  const isGrid = event.first.block.join() !== event.second.block.join();
  const performers = isOwn(event) ? [event.first] : [event.first, event.second];
  return {
    threads: performers.map(({ thread, block }) => ({
      thread,
      block,
      name: threadName(thread, block, scenario, isGrid),
    })),
    steps: [
      ...(event.passed ? [barrierStep(context, event.passed)] : []),
      ...accesses.map((access, side) => accessStep(access, Math.min(side, performers.length - 1), array)),
    ],
    missing,
  };
}

/**
 * What would have kept two accesses apart.
 * @param lines of the two, ascending
 * @param meeting a thread meets its own copy, or only threads of one warp meet; else any two do
 */
export function missingOrder(
  context: KernelContext,
  [a, b]: readonly [Access, Access],
  scope: 'block' | 'grid',
  lines: readonly [number, number],
  meeting: 'own-copy' | 'in-warp' | 'any',
): MissingOrder {
  const places = lines[0] === lines[1] ? `the two accesses in line ${lines[0]}` : `lines ${lines[0]} and ${lines[1]}`;
  if (meeting === 'own-copy') {
    const wait = 'no cp.async.wait_group or wait_all that completes it separates';
    return { kind: 'copy-wait', text: `it has not waited for the copy: ${wait} ${places}` };
  }
  const lock = bareLock(context.bareLocks, a, b);
  if (lock) {
    const name = baseName(context, lock);
    const fences = 'without a __threadfence() behind taking it and one before releasing it nothing orders';
    return { kind: 'fence', lock: name, text: `both hold ${name}, but ${fences} ${places}` };
  }
  if (a.operation === 'atomic' && b.operation === 'atomic') {
    if (a.bytes !== b.bytes) return { kind: 'size', text: `atomics of ${a.bytes} and ${b.bytes} bytes are not atomic to each other` }; // prettier-ignore
    return { kind: 'scope', text: `the scope of ${a.scope === 'cta' && b.scope === 'cta' ? 'both atomics' : 'one of the atomics'} is the block, and the threads are of two` }; // prettier-ignore
  }
  if (scope === 'grid') return { kind: 'grid-order', text: `nothing orders ${places} between blocks` };
  if (a.isCopy) return { kind: 'copy-wait', text: `no wait for the copy with a __syncthreads() behind it separates ${places}` }; // prettier-ignore
  return meeting === 'in-warp'
    ? { kind: 'warp-barrier', text: `neither __syncwarp() nor __syncthreads() separates ${places}` }
    : { kind: 'block-barrier', text: `no __syncthreads() separates ${places}` };
}

/**
 * Two sentences on a confirmed race: who does what, and what is missing between; then since when, and under which
 * launch. As it stands where it is not confirmed.
 */
export function raceMessage(finding: Omit<RaceFinding, 'message'>): string {
  const { first, second, array = 'memory', sameValue, overlap, interleaving, chosen } = finding;
  if (!overlap || !interleaving) return '';
  const [a, b] = interleaving.threads.map(({ name }) => name);
  const { element, bytes } = overlap;
  const again = element !== undefined ? 'it' : bytes === 1 ? 'the same byte' : `the same ${bytes} bytes`;
  const joint = element === undefined || b === undefined ? 'and' : 'while';
  const other = b ?? 'then';
  const equal = sameValue === true ? ', though both write the same value' : '';
  const actors = `${a} ${verbOf(first)} ${element ?? array} ${joint} ${other} ${verbOf(second)} ${again}`;
  const pass = interleaving.steps.find(({ action }) => action === 'pass');
  const launch = chosen === undefined ? undefined : `races if launched with ${chosen}`;
  return sentences(`${actors}; ${interleaving.missing?.text}${equal}`, join(launch, pass && since(pass)));
}

/** `both last passed the barrier in line 12, for the 2nd time`. */
function since({ text, times, location }: InterleavingStep): string {
  const often = times === undefined ? '' : `, for ${nth(times)}`;
  return `both last ${text.replace(/^pass/, 'passed')} in line ${location?.line}${often}`;
}

function join(...parts: readonly (string | undefined)[]): string | undefined {
  const told = parts.filter((part) => part !== undefined);
  return told.length === 0 ? undefined : told.join('; ');
}

function sentences(...parts: readonly (string | undefined)[]): string {
  const told = parts.filter((part) => part !== undefined);
  return told.map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}.`).join(' ');
}

/**
 * A confirmed race in the words of the source, once the texts of its accesses are known.
 * @param element the bytes that both touch, as the source would name them
 * @param chosen what the finding says of it, which is not in reports
 */
export function withSourceText(
  finding: RaceFinding,
  element: string | undefined,
  chosen: string | undefined,
): RaceFinding {
  const { first, second, array = 'memory', overlap, interleaving } = finding;
  if (!overlap || !interleaving) return finding;
  const steps = interleaving.steps.filter(({ action }) => action === 'pass');
  const last = interleaving.threads.length - 1;
  const accesses = [first, second].map((access, side) => accessStep(access, Math.min(side, last), array, element));
  const worded: RaceFinding = {
    ...finding,
    overlap: element === undefined ? overlap : { ...overlap, element },
    interleaving: { ...interleaving, steps: [...steps, ...accesses] },
  };
  return { ...worded, message: raceMessage({ ...worded, ...(chosen !== undefined && { chosen }) }) };
}

/** Who waits at the barrier, and where a thread is that does not come. */
export function divergenceInterleaving(
  context: KernelContext,
  { kind, barrier, block, arrived, arrivedCount, absent }: DivergenceEvent,
  scenario: Scenario,
): Interleaving {
  const { kernel } = context;
  const waits: InterleavingStep = {
    threads: [0],
    action: 'wait',
    text: `waits at the barrier${arrivedCount > 1 ? `, as do ${arrivedCount - 1} more` : ''}`,
    ...(barrier !== null && { location: placeOf(kernel, instructionOf(kernel, barrier)) }),
  };
  const present = arrived[0] ? [arrived[0]] : [];
  const threads = [...present, ...(absent ? [absent.thread] : [])];
  return {
    threads: threads.map((thread) => ({
      thread,
      block,
      name: threadName(thread, block, scenario, scenario.blocks.length > 1),
    })),
    steps: [
      ...(present.length > 0 ? [waits] : []),
      ...(absent ? [absentStep(kernel, kind, barrier, absent.where, present.length)] : []),
    ],
  };
}

function absentStep(
  kernel: Kernel,
  kind: DivergenceEvent['kind'],
  barrier: InstructionId | null,
  where: Whereabouts,
  thread: number,
): InterleavingStep {
  const threads = [thread];
  if (where.kind === 'exited') {
    const text = kind === 'early-exit' ? 'has returned' : 'has ended without coming there';
    return { threads, action: 'exit', text };
  }
  if (where.kind === 'running') {
    const { instructions } = kernel.blocks[where.block]!;
    const next = instructions.find(({ location }) => location) ?? instructions[0];
    return { threads, action: 'run', text: 'goes on', ...(next && { location: placeOf(kernel, next) }) };
  }
  const other = instructionOf(kernel, where.instruction);
  const isBarrier = /^(grid-)?barrier$/.test(other.operation.effect.kind);
  const text = !isBarrier
    ? `waits at ${other.operation.mnemonic}`
    : other.id === barrier
      ? 'waits there in another round'
      : 'waits at another barrier';
  return { threads, action: 'wait', text, location: placeOf(kernel, other) };
}

/** Two sentences on a divergence: what the barrier depends on, and what two threads do; then the launch, if chosen. */
export function divergenceMessage(start: string, interleaving: Interleaving | undefined, chosen?: string): string {
  const [waiting, absent] = interleaving?.threads ?? [];
  const step = interleaving?.steps[1];
  const line = step?.location ? ` in line ${step.location.line}` : '';
  const who = waiting && absent && step ? `; ${waiting.name} waits there, ${absent.name} ${step.text}${line}` : '';
  return sentences(`${start}${who}`, chosen === undefined ? undefined : `happens if launched with ${chosen}`);
}
