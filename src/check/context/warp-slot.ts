/**
 * Warp-aggregated allocation of slots: a vote determines the participating lanes, one atomic addition of their number
 * to a counter reserves one slot for each, lane 0 broadcasts the first slot, and each participant adds the number of
 * participants in lower lanes. As long as the counter does not wrap around, no two executions get the same slot.
 */
import type { KernelAndLaunch, SymbolicFacts, OrderingFacts } from './facts.ts';
import { type Access, isWriter } from '../../analysis/values/access.ts';
import { partsOf } from '../../analysis/values/leader.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import { ofLane } from '../../analysis/values/shared-by-lanes.ts';
import { pointDominates, pointsOf, canReach } from '../../analysis/values/program-point.ts';
import { isFullBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { maximumThreads } from '../../device/hardware-limits.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import type { MayAlias } from '../obligations/obligation.ts';
import { addendOf, isOfOnePlace } from '../ordering/synchronising-access.ts';
import { isSetUpBefore } from '../ordering/initial-store.ts';

/** The counter from which the elements of an access are allocated, each to one thread and once; null if none exists. */
export function slotCounter(context: KernelAndLaunch & SymbolicFacts & OrderingFacts, access: Access, mayAlias: MayAlias): Access | null {
  const { symbolic, dimensions } = context;
  const { kernel } = symbolic;
  if (context.lanesMayHaveExited) return null;
  // The lane is derived from the thread index along x.
  if (dimensions.block[1] !== 1 || dimensions.block[2] !== 1) return null;
  const [target, ...more] = access.targets;
  const slot = target && more.length === 0 && slotOf(target, access.bytes);
  if (!slot) return null;
  const [start, rank] = slot.arguments[0]!.atom ? slot.arguments : [...slot.arguments].reverse();
  const shuffle = definer(context, start!);
  const counted = rank!.operator === 'pure' && rank!.name === 'popc' ? rank!.arguments[0]! : null;
  const ballot = counted?.operator === 'and' ? counted.arguments.find((part) => part.atom?.kind === 'havoc') : undefined;
  const before = counted?.arguments.find((part) => part !== ballot);
  const vote = ballot && definer(context, ballot);
  if (!shuffle || !vote || !before) return null;

  const isNumber = (instruction: Instruction, index: number, value: bigint): boolean => {
    const source = instruction.arguments[index];
    const term = source && symbolic.operand(source);
    return term?.operator === 'constant' && BigInt.asUintN(32, term.value) === value;
  };
  const everyone = 0xffffffffn;
  const { effect: told } = shuffle.operation;
  const { effect: asked } = vote.operation;
  if (told.kind !== 'shuffle' || told.mode !== 'idx' || !told.sync) return null;
  if (!isNumber(shuffle, 1, 0n) || !isNumber(shuffle, 2, 31n) || !isNumber(shuffle, 3, everyone)) return null;
  if (asked.kind !== 'vote' || asked.mode !== 'ballot' || !asked.sync || !isNumber(vote, 1, everyone)) return null;
  // A thread that reaches the access has voted for participation, and counts the participating lanes below its own.
  const reached = new Set(partsOf(symbolic.reach(access.block)));
  if (!partsOf(symbolic.operand(vote.arguments[0]!)).every((part) => reached.has(part))) return null;
  for (let thread = 0; thread < maximumThreads; thread++) if (valueFor(before, thread) !== (1n << BigInt(thread % 32)) - 1n) return null;

  const drawn = ofLane(symbolic.operand(shuffle.arguments[0]!), 0);
  const counter = drawn && context.accesses.find(({ instruction }) => instruction === definer(context, drawn));
  if (!counter || symbolic.operand(counter.instruction.arguments[1]!) !== countOf(context, ballot)) return null;
  if (!isOnlyCounted(context, counter, mayAlias)) return null;
  // The vote, the exchange and the addition are in the loop of the access, and so in one iteration.
  const points = [vote, shuffle, counter.instruction].map((instruction) => pointOf(context, instruction));
  const loop = kernel.loopOf[access.block] ?? null;
  const [voted, exchanged, added] = points as [Point, Point, Point];
  if (!points.every(({ block }) => (kernel.loopOf[block] ?? null) === loop)) return null;
  if (loop === null && canReach(kernel, access, voted)) return null;
  const isInOrder =
    pointDominates(kernel, voted, added) && pointDominates(kernel, voted, exchanged) && pointDominates(kernel, exchanged, access);
  return isInOrder ? counter : null;
}

type Point = ReturnType<typeof pointOf>;

function pointOf({ symbolic }: SymbolicFacts, instruction: Instruction) {
  const block = symbolic.kernel.blocks.find(({ instructions }) => instructions.includes(instruction))!;
  return { block: block.id, position: block.instructions.indexOf(instruction) };
}

/** The 32-bit sum that is the slot index, if the elements are at least as large as the access. */
function slotOf({ offset }: Target, bytes: number): Term | null {
  const [wide] = offset.arguments;
  if (offset.operator !== 'sum' || offset.width !== 64 || offset.arguments.length !== 1 || !wide) return null;
  const stride = offset.coefficients[0]!;
  if (stride < BigInt(bytes) || stride >= 1n << 31n || (wide.operator !== 'sext' && wide.operator !== 'zext')) return null;
  const slot = wide.arguments[0]!;
  const isSlot = slot.operator === 'sum' && slot.width === 32 && slot.arguments.length === 2;
  return isSlot && slot.coefficients.every((by) => by === 1n) ? slot : null;
}

/** The instruction whose first result is a value without closed form; undefined if none exists. */
function definer({ kernel }: Pick<KernelAndLaunch, 'kernel'>, { atom }: Term): Instruction | undefined {
  if (atom?.kind !== 'havoc' || atom.value < 0) return undefined;
  const { definition } = kernel.values[atom.value]!;
  if (definition.kind !== 'instruction') return undefined;
  return definition.instruction.results[0] === atom.value ? definition.instruction : undefined;
}

/** The value of a term for a thread; undefined if the term depends on more than the thread index along x. */
function valueFor(term: Term, thread: number): bigint | undefined {
  const index = ({ atom }: Term): bigint | undefined => (atom?.kind === 'thread' && atom.axis === 0 ? BigInt(thread) : undefined);
  return evaluateTerm(term, index, new Map());
}

/** The number of lanes in the mask that a vote returns. */
function countOf({ symbolic: { store } }: SymbolicFacts, ballot: Term): Term {
  return store.pure('popc', 32, [ballot]);
}

/** Whether every write of a counter after its first use increases it. */
function isOnlyCounted({ symbolic, accesses }: SymbolicFacts, counter: Access, mayAlias: MayAlias): boolean {
  if (!isOfOnePlace(counter) || counter.bytes !== 4) return false;
  const { base } = counter.targets[0]!;
  const barriers = pointsOf(symbolic.kernel, isFullBarrier);
  const grows = (access: Access): boolean => {
    const added = access.bytes === counter.bytes ? addendOf(symbolic, access) : null;
    if (added?.operator === 'constant') return BigInt.asIntN(32, added.value) >= 0n;
    return added?.operator === 'pure' && added.name === 'popc';
  };
  const mayChange = (access: Access): boolean =>
    isWriter(access) && access.targets.some((target) => mayAlias(target.base, base) !== 'apart');
  return (
    grows(counter) && accesses.every((other) => !mayChange(other) || grows(other) || isSetUpBefore(symbolic, barriers, other, counter))
  );
}
