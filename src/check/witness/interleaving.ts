/** The steps of the threads of a finding, and the launch. */
import type { Dim3 } from '../../base/dim3.ts';
import type { DivergenceEvent, PassedBarrier, RaceEvent, Whereabouts } from '../../interpreter/core/run-result.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import type { Instruction, InstructionId, Kernel } from '../../ir/form/kernel.ts';
import { givenScalar } from '../context/scalars.ts';
import { placeOf, tuple } from '../context/names.ts';
import type { KernelContext } from '../context/facts.ts';
import { canReach, pointsOf } from '../../analysis/values/program-point.ts';
import { fenceOf } from '../../memory-model/fence.ts';
import { isBuffered } from '../../interpreter/core/schedule.ts';
import { fieldName, scalarText } from '../../launch/parameter-field.ts';
import type { Scenario } from './replay.ts';
import type { AccessDescription, ChosenLaunch, Interleaving, InterleavingStep, MissingOrder } from '../../verdict/finding.ts';

/**
 * `thread 31`, or `thread (31, 2, 0) of block 1`. A single index if the launch has one dimension.
 * @param launch dimensions of the launch
 */
export function threadName(thread: Dim3, block: Dim3, launch: { readonly block: Dim3; readonly grid: Dim3 }, withBlock: boolean): string {
  const number = (at: Dim3, extent: Dim3): string => (extent[1] === 1 && extent[2] === 1 ? String(at[0]) : tuple(at));
  return `thread ${number(thread, launch.block)}${withBlock ? ` of block ${number(block, launch.grid)}` : ''}`;
}

function instructionOf(kernel: Kernel, id: InstructionId): Instruction {
  return kernel.blocks.flatMap(({ instructions }) => instructions).find((instruction) => instruction.id === id)!;
}

function barrierStep({ kernel }: KernelContext, { instruction, times }: PassedBarrier): InterleavingStep {
  const barrier = instructionOf(kernel, instruction);
  const of = isGridBarrier(barrier) ? 'grid' : 'block';
  return { threads: [0, 1], action: 'pass', of, times, location: placeOf(kernel, barrier) };
}

/** The unspecified dimensions and scalars that a finding depends on, with their chosen values. */
export function chosenLaunch({ request, kernel, fields, dimensions }: KernelContext, scenario: Scenario): ChosenLaunch {
  const { block, grid, contents } = scenario;
  // Arrays that the host program fills are given, not chosen.
  const settled = new Map([...scenario.settled].filter(([, held]) => typeof held !== 'object' || held.kind !== 'filled'));
  const chosen: ChosenLaunch = {
    ...(dimensions.block.includes(null) && { block }),
    ...(dimensions.grid.includes(null) && { grid }),
    scalars: fields
      .filter((field) => !field.isPointer && givenScalar(request.launch, field.index, field.offset, field.bytes) === undefined)
      .map((field) => [
        fieldName(request.parameters, field, kernel),
        scalarText(kernel, request.parameters, field, scenario.scalar(field)),
      ]),
  };
  // If dimensions and scalars are given, the contents of arrays are what was chosen.
  if (chosen.block || chosen.grid || chosen.scalars.length > 0) return chosen;
  const held = new Map<number, string[]>();
  for (const field of fields) {
    const value = field.isPointer ? settled.get(`${field.index}.${field.offset}`) : undefined;
    if (typeof value !== 'number' || value === contents) continue;
    held.set(value, [...(held.get(value) ?? []), fieldName(request.parameters, field, kernel)]);
  }
  const others = [...held].map(([value, arrays]) => ({ value, arrays }));
  const isDrawn = [...settled.values()].some((value) => typeof value === 'object');
  return { ...chosen, contents: { value: isDrawn || typeof contents === 'object' ? 'random' : contents, others } };
}

/** Whether a thread races with its own asynchronous copy. */
export function isOwn({ first, second }: RaceEvent): boolean {
  return first.block.join() === second.block.join() && first.thread.join() === second.thread.join();
}

/** The steps of the two threads of a race in the run that showed it. */
export function raceInterleaving(
  context: KernelContext,
  event: RaceEvent,
  scenario: Scenario,
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
      ...accesses.map(({ operation, location }, side) => ({
        threads: [Math.min(side, performers.length - 1)],
        action: operation,
        ...(location && { location }),
      })),
    ],
    missing,
    ...(isBuffered(scenario.order) && { holdsStores: true, ...narrowFenceBefore(context, event.first.instruction) }),
  };
}

/** A fence with the scope of the block before an access of different blocks. */
function narrowFenceBefore({ kernel }: KernelContext, id: InstructionId): Pick<Interleaving, 'narrowFence'> {
  const [access] = pointsOf(kernel, (instruction) => instruction.id === id);
  const isNarrow = ({ operation: { effect } }: Instruction): boolean => fenceOf(effect)?.scope === 'cta';
  const fence = access && pointsOf(kernel, isNarrow).findLast((point) => canReach(kernel, point, access));
  return fence ? { narrowFence: placeOf(kernel, fence.instruction) } : {};
}

/** The threads that wait at the barrier, and the location of a thread that does not reach it. */
export function divergenceInterleaving(
  context: KernelContext,
  { kind, barrier, block, arrived, arrivedCount, absent }: DivergenceEvent,
  scenario: Scenario,
): Interleaving {
  const { kernel } = context;
  const waits: InterleavingStep = {
    threads: [0],
    action: 'wait',
    at: 'barrier',
    others: Math.max(0, arrivedCount - 1),
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
    steps: [...(present.length > 0 ? [waits] : []), ...(absent ? [absentStep(kernel, kind, barrier, absent.where, present.length)] : [])],
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
  if (where.kind === 'exited') return { threads, action: 'exit', how: kind === 'early-exit' ? 'returned' : 'ended' };
  if (where.kind === 'running') {
    const { instructions } = kernel.blocks[where.block]!;
    const next = instructions.find(({ location }) => location) ?? instructions[0];
    return { threads, action: 'run', ...(next && { location: placeOf(kernel, next) }) };
  }
  const other = instructionOf(kernel, where.instruction);
  const { mnemonic, effect } = other.operation;
  const location = placeOf(kernel, other);
  if (!/^(grid-)?barrier$/.test(effect.kind)) return { threads, action: 'wait', at: 'instruction', mnemonic, location };
  return { threads, action: 'wait', at: other.id === barrier ? 'other-round' : 'other-barrier', location };
}
