/**
 * Tickets: the old values returned by atomic additions of positive constants to one counter. As long as nothing else
 * changes the counter and it does not wrap around, no two executions of such an addition return the same ticket.
 */
import type { Access } from '../../analysis/values/access.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Synchronisation, SynchronisingKernel } from './pattern.ts';
import { ofLane } from '../../analysis/values/shared-by-lanes.ts';
import { addedBy, isOfOnePlace, isValue, rivalsOf } from './synchronising-access.ts';

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
  /** Whether the lanes of a warp share the ticket that one of them received. */
  readonly ofWarp?: true;
}

/**
 * The values of a kernel that are tickets, by value id.
 * @param all a counter of arrivals may be reset by the last thread to arrive, after which no ticket is issued
 * @param mayStart whether a store may make the counter zero before an addition returns its first ticket
 */
export function findTickets(
  { symbolic, accesses, mayBeSame, dimensions }: SynchronisingKernel,
  all: readonly Synchronisation[],
  mayStart: (store: Access, counter: Access) => boolean,
): ReadonlyMap<number, Ticket> {
  const tickets = new Map<number, Ticket>();
  const threads = [...dimensions.block, ...dimensions.grid].reduce<number>((product, size) => product * (size ?? Infinity), 1);
  for (const access of accesses) {
    const isCounted = all.some(({ kind, releases }) => kind !== 'lock' && kind !== 'flag' && releases.includes(access));
    const step = isCounted ? 1n : stepOf(symbolic, access);
    const [result] = access.instruction.results;
    if (step === null || !isValue(result) || !isOfOnePlace(access)) continue;
    const isLegal = (rival: Access): boolean => stepOf(symbolic, rival) !== null || mayStart(rival, access);
    if (!isCounted && !rivalsOf(accesses, access, mayBeSame).every(isLegal)) continue;
    // If all threads together count beyond the range of the counter, it must wrap around.
    if (Number.isFinite(threads) && step * BigInt(threads) > 1n << BigInt(8 * access.bytes)) continue;
    const { base, offset } = access.targets[0]!;
    const ofBlock = base.kind === 'object' && base.object.space === 'shared';
    tickets.set(result, { counter: `${base.key}+${offset.id}`, base, signed: isSigned(access), step, ofBlock });
  }
  addCarried(symbolic, tickets);
  addShared(symbolic, dimensions, tickets);
  return tickets;
}

/** Adds the results of shuffles by which all lanes of a warp read a ticket from the lane that received it. */
function addShared(symbolic: SymbolicKernel, { block }: SynchronisingKernel['dimensions'], tickets: Map<number, Ticket>): void {
  const { kernel } = symbolic;
  // The lane is derived from the thread index along x.
  if (block[1] !== 1 || block[2] !== 1) return;
  for (const { arguments: operands, operation, results } of kernel.blocks.flatMap(({ instructions }) => instructions)) {
    const { effect } = operation;
    const [result] = results;
    if (effect.kind !== 'shuffle' || effect.mode !== 'idx' || !effect.sync || !isValue(result)) continue;
    const [from, segment, mask] = operands.slice(1).map((operand) => symbolic.operand(operand));
    const isWhole =
      segment?.operator === 'constant' &&
      segment.value === 31n &&
      mask?.operator === 'constant' &&
      BigInt.asUintN(32, mask.value) === everyLane;
    // Lane 0 exists in every warp.
    const exists = from?.operator === 'constant' && (from.value === 0n || (from.value < 32n && block[0] !== null && block[0] % 32 === 0));
    if (!isWhole || !exists) continue;
    const received = ofLane(symbolic.operand(operands[0]!), Number(from.value));
    const ticket = received?.atom?.kind === 'havoc' || received?.atom?.kind === 'phi' ? tickets.get(received.atom.value) : undefined;
    if (ticket) tickets.set(result, { ...ticket, ofWarp: true });
  }
}

const everyLane = 0xffff_ffffn;

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
