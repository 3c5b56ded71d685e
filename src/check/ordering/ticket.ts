/**
 * Tickets: the old values returned by atomic additions of positive constants to one counter. As long as nothing else
 * changes the counter and it does not wrap around, no two executions of such an addition return the same ticket.
 */
import { type ProgramPoint, canReach, pointDominates, reachable } from '../../analysis/values/program-point.ts';
import type { CriticalSections } from './protection.ts';
import type { Access } from '../../analysis/values/access.ts';
import { isOfLaunch } from '../../analysis/values/leader.ts';
import { type Base, isOneObject } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { BlockId } from '../../ir/form/kernel.ts';
import type { Handover } from './release-acquire.ts';
import { addedBy } from './synchronising-access.ts';

export interface Ticket {
  /** Identifies the counter. */
  readonly counter: string;
  readonly base: Base;
  /** Signedness of the counter. */
  readonly signed: boolean;
  /** The addend of the addition that returned the ticket: later tickets are larger by at least this amount. */
  readonly step: bigint;
  /** Whether each block has a separate counter, in shared memory. */
  readonly ofBlock: boolean;
}

/**
 * The values of a kernel that are tickets, by value id.
 * @param barriers barriers of all threads of the block
 * @param mayBeSame whether two bases may be the same memory
 * @param sections accesses in critical sections: a store under a lock may reset the counter at any time
 * @param handovers a counter of arrivals may be reset by the last thread to arrive, after which no ticket is issued
 * @param threads number of threads of the launch; infinite if its dimensions are symbolic
 */
export function collectTickets(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  barriers: readonly ProgramPoint[],
  mayBeSame: (a: Base, b: Base) => boolean,
  sections: CriticalSections,
  handovers: readonly Handover[],
  threads: number,
): ReadonlyMap<number, Ticket> {
  const tickets = new Map<number, Ticket>();
  for (const access of accesses) {
    const counted = handovers.some(({ arrival, kind }) => arrival === access && kind !== 'flag');
    const step = counted ? 1n : stepOf(symbolic, access);
    const [result] = access.instruction.results;
    const [target] = access.targets;
    if (step === null || result === null || result === undefined || !target || access.targets.length > 1) continue;
    if (!isOneObject(target.base) || !target.offset.leaves.every(isOfLaunch)) continue;
    const rivals = accesses.filter((other) => other.operation !== 'read' && other.targets.some(({ base }) => mayBeSame(base, target.base)));
    const isLegal = (rival: Access): boolean =>
      stepOf(symbolic, rival) !== null || (!sections.has(rival.index) && isSetUpBefore(symbolic, barriers, rival, access));
    if (!counted && !rivals.every(isLegal)) continue;
    // If all threads together count beyond the range of the counter, it must wrap around.
    if (Number.isFinite(threads) && step * BigInt(threads) > 1n << BigInt(8 * access.bytes)) continue;
    const ofBlock = target.base.kind === 'object' && target.base.object.space === 'shared';
    const { base, offset } = target;
    tickets.set(result, { counter: `${base.key}+${offset.id}`, base, signed: isSigned(access), step, ofBlock });
  }
  addCarried(symbolic, tickets);
  return tickets;
}

/**
 * Adds the loop variables that always contain a ticket of one counter: the ticket obtained before the loop or in the
 * previous iteration. A thread may have the same ticket in several iterations, but no other thread ever has it.
 */
function addCarried({ kernel }: SymbolicKernel, tickets: Map<number, Ticket>): void {
  for (const { header } of kernel.loops) {
    for (const { result, inputs } of kernel.blocks[header]!.phis) {
      const held = inputs.map((input) => (input.kind === 'value' ? tickets.get(input.id) : undefined));
      const [first] = held;
      const isOne = held.every((ticket) => ticket?.counter === first?.counter && ticket?.signed === first?.signed);
      if (!first || !isOne) continue;
      const step = held.reduce((least, ticket) => (ticket!.step < least ? ticket!.step : least), first.step);
      tickets.set(result, { ...first, step });
    }
  }
}

function isSigned({ instruction }: Access): boolean {
  const { effect } = instruction.operation;
  return effect.kind === 'atomic' && effect.type.startsWith('s');
}

/** The addend of an atomic addition, if it is a positive constant; null for every other access. */
function stepOf(symbolic: SymbolicKernel, access: Access): bigint | null {
  const step = addedBy(symbolic, access);
  return step !== null && step > 0n ? step : null;
}

/**
 * Whether a store initialises a counter before any thread obtains a ticket. The store precedes the atomic in its own
 * thread. If another thread executed the store after this thread obtained a ticket, the two accesses would race. A
 * strong store does not race with an atomic operation, so in that case a barrier is required between the two.
 */
export function isSetUpBefore(symbolic: SymbolicKernel, barriers: readonly ProgramPoint[], store: Access, taker: Access): boolean {
  if (!comesBefore(symbolic, store, taker)) return false;
  if (store.strong === null) return true;
  const { kernel } = symbolic;
  return (
    taker.memory === 'shared' && barriers.some((barrier) => pointDominates(kernel, barrier, taker) && !canReach(kernel, barrier, store))
  );
}

/** Whether a store precedes an access in its own thread: no path leads from the access to the store. */
export function comesBefore({ kernel }: SymbolicKernel, store: Access, taker: Access): boolean {
  if (store.operation !== 'write' || store.isCopy) return false;
  const after: ReadonlySet<BlockId> = reachable(kernel, kernel.blocks[taker.block]!.successors);
  return !after.has(store.block) && !(store.block === taker.block && store.position > taker.position);
}
