/** What a barrier in shared memory (`mbarrier`) lacks to order two accesses of threads of a block. */
import type { Access } from '../../analysis/values/access.ts';
import { type ProgramPoint, canReach, pointsOf } from '../../analysis/values/program-point.ts';
import type { Instruction, Kernel, Operand } from '../../ir/form/kernel.ts';
import type { MbarrierEffect } from '../../isa/model/operation.ts';
import type { Location } from '../../source/location.ts';
import type { MissingPhase } from '../../verdict/finding.ts';
import type { KernelContext } from '../context/facts.ts';
import { placeOf } from '../context/names.ts';

type Operation = ProgramPoint & { readonly instruction: Instruction };

/**
 * What lacks; null if the kernel has no barrier in memory, or several, or one of unknown use.
 * @param isOfNextIteration whether one access is of the next iteration of a loop
 */
export function missingPhase(context: KernelContext, a: Access, b: Access, isOfNextIteration: boolean): MissingPhase | null {
  const { kernel, inMemory } = context;
  const of = (...forms: readonly MbarrierEffect['form'][]): readonly Operation[] =>
    pointsOf(kernel, ({ operation: { effect } }) => effect.kind === 'mbarrier' && forms.includes(effect.form));
  const [init, ...more] = of('init');
  const [arrivals, waits] = [of('arrive'), of('test_wait', 'try_wait')];
  if (!init || more.length > 0 || a.instruction === b.instruction || [a, b].some(({ isCopy }) => isCopy)) return null;
  const at = ({ instruction }: { readonly instruction: Instruction }): Location => placeOf(kernel, instruction);
  const [known] = arrivals.filter(({ instruction }) => inMemory.arrivals.has(instruction));
  if (isOfNextIteration) return known ? { lacks: 'phase', at: at(known) } : null;
  const [earlier, later] = isBefore(a, b) ? [a, b] : [b, a];
  const isBetween = (point: Operation): boolean =>
    isBefore(earlier, point) && isBefore(point, later) && canReach(kernel, earlier, point) && canReach(kernel, point, later);
  const inside = arrivals.filter(isBetween);
  const [arrival] = inside;
  const wait = waits.findLast(isBetween);
  if (arrival && wait) return isBefore(arrival, wait) ? missingInPhase(context, init, [arrival, ...inside], wait, arrivals, earlier) : null;
  if (arrival) {
    const next = waits.find((point) => isBefore(later, point) && canReach(kernel, later, point));
    return next ? { lacks: 'wait', at: at(next), access: at(later) } : { lacks: 'any-wait', at: at(arrival), access: at(later) };
  }
  if (wait) {
    const previous = arrivals.findLast((point) => isBefore(point, earlier) && canReach(kernel, point, earlier));
    return previous ? { lacks: 'arrival', at: at(previous), access: at(earlier) } : null;
  }
  return known ? { lacks: 'phase', at: at(known) } : null;
}

/** What lacks although the thread of the earlier access can arrive after it, and the other one waits before the later access. */
function missingInPhase(
  { kernel, symbolic, dimensions }: KernelContext,
  init: Operation,
  inside: readonly [Operation, ...(readonly Operation[])],
  wait: Operation,
  arrivals: readonly Operation[],
  earlier: Access,
): MissingPhase | null {
  const [arrival] = inside;
  const [ofInit, ofArrival, ofWait, access] = [init, arrival, wait, earlier].map(({ instruction }) => placeOf(kernel, instruction)) as [
    Location,
    Location,
    Location,
    Location,
  ];
  if (kernel.loopOf[wait.block] === null) return { lacks: 'repetition', at: ofWait };
  const tokens = tokensIn(kernel, wait.instruction.arguments[1]!);
  if (tokens.size > 0 && !inside.some(({ instruction }) => tokens.has(instruction)))
    return { lacks: 'token', at: ofWait, arrival: ofArrival };
  const reach = symbolic.reach(arrival.block);
  const isOfSome = reach.leaves.some(({ atom }) => atom?.kind === 'thread');
  if (isOfSome && reach !== symbolic.reach(earlier.block)) return { lacks: 'threads', at: ofArrival, access };
  const count = symbolic.operand(init.instruction.arguments[1]!);
  const threads = dimensions.block.reduce<number>((product, size) => product * (size ?? Number.NaN), 1);
  return !isOfSome && arrivals.length === 1 && count.operator === 'constant' && Number(count.value) < threads
    ? { lacks: 'count', at: ofInit, count: Number(count.value), threads }
    : null;
}

/** The arrivals whose token may be in a value. */
function tokensIn(kernel: Kernel, operand: Operand, seen = new Set<number>()): ReadonlySet<Instruction> {
  if (operand.kind !== 'value' || seen.has(operand.id)) return new Set();
  seen.add(operand.id);
  const { definition } = kernel.values[operand.id]!;
  if (definition.kind === 'phi') {
    const { inputs } = kernel.blocks[definition.block]!.phis[definition.index]!;
    return new Set(inputs.flatMap((input) => [...tokensIn(kernel, input, seen)]));
  }
  if (definition.kind !== 'instruction') return new Set();
  const { operation, arguments: operands } = definition.instruction;
  if (operation.effect.kind === 'mbarrier') return new Set([definition.instruction]);
  return operation.effect.kind === 'pure' ? new Set(operands.flatMap((each) => [...tokensIn(kernel, each, seen)])) : new Set();
}

/** The order in the kernel: only back edges of loops lead to an earlier basic block. */
function isBefore(point: ProgramPoint, other: ProgramPoint): boolean {
  return point.block < other.block || (point.block === other.block && point.position < other.position);
}
