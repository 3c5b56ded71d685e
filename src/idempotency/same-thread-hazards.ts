/**
 * Reads and writes of one array in a kernel without races. Two threads access common bytes only if something orders
 * them. If no barrier, and nothing else that synchronizes threads, follows the read and precedes the write, nothing
 * orders the read of one thread before the write of another: then only a thread that reads and later writes the same
 * bytes is a hazard. That is determined by the difference of the two addresses within one thread.
 */
import type { Access } from '../analysis/values/access.ts';
import { canReach, pointsOf, type ProgramPoint } from '../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import { contactOf } from '../analysis/values/thread-contact.ts';
import type { Base, Target } from '../analysis/values/memory-base.ts';
import type { Instruction } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import { allOf } from './build-condition.ts';
import { loopsAround } from './certain-execution.ts';
import { subtractForms } from './footprint/form.ts';
import { allMet, anyMet, lessOrEqual } from './footprint/launch-condition.ts';
import { fixedAmount } from './footprint/amount.ts';
import type { StatedValue } from './footprint/linear-interpretation.ts';
import { type PathCase, pathsTo } from './footprint/paths.ts';
import { always, never, type ValidatorCondition } from './model/quantity.ts';

export class OwnThread {
  private readonly symbolic: SymbolicKernel;
  private readonly stated: StatedValue;
  private readonly meetings: readonly ProgramPoint[];
  private readonly known = new Map<string, ValidatorCondition>();

  constructor(symbolic: SymbolicKernel, stated: StatedValue) {
    this.symbolic = symbolic;
    this.stated = stated;
    this.meetings = pointsOf(symbolic.kernel, mayOrder);
  }

  /**
   * Condition under which, in a launch without races, no thread writes bytes that it has read before.
   * @param read of the same array as the write
   */
  keepsApart(read: Access, write: Access): ValidatorCondition {
    const key = `${read.index},${write.index}`;
    let condition = this.known.get(key);
    if (!condition) {
      condition = this.compare(read, write);
      this.known.set(key, condition);
    }
    return condition;
  }

  private compare(read: Access, write: Access): ValidatorCondition {
    const { kernel } = this.symbolic;
    const [from, ...others] = read.targets;
    const [to, ...more] = write.targets;
    if (read.operation !== 'read' || write.operation !== 'write' || !from || !to || others.length + more.length > 0) return never;
    if (![read, write].every(isPlain) || !areOfOneArray(from.base, to.base)) return never;
    const isBehind = this.meetings.some((meeting) => canReach(kernel, read, meeting));
    if (isBehind && this.meetings.some((meeting) => canReach(kernel, meeting, write))) return never;
    if (!canReach(kernel, read, write)) return always;
    return this.differ(read, from, write, to);
  }

  /** Condition under which the addresses of one thread are disjoint, for all iterations of the read and the write. */
  private differ(read: Access, from: Target, write: Access, to: Target): ValidatorCondition {
    const { symbolic } = this;
    if (from.offset.width !== 64 || to.offset.width !== 64 || !to.offset.leaves.every(isOfThread)) return never;
    const common = loopsAround(symbolic, read.block).filter((loop) => loopsAround(symbolic, write.block).includes(loop));
    const isOfCommon = ({ atom }: Term): boolean => atom?.kind === 'iteration' && common.some((loop) => loop === atom.loop);
    if (from.offset.leaves.some(isOfCommon)) return never;
    // Other symbols of the write denote values of another iteration.
    const { store } = symbolic;
    const reached = store.all([symbolic.reach(write.block), to.condition]);
    const parts = (reached.operator === 'all' ? reached.arguments : [reached]).filter(({ leaves }) => leaves.every(isOfThread));
    const condition = store.all([from.condition, ...parts]);
    const ways = pathsTo(symbolic, read.block, condition, this.stated);
    return allOf(ways.map((way) => disjointOn(way, read, from, write, to)));
  }
}

/** Condition under which the bytes are disjoint for all threads on a path. */
function disjointOn(way: PathCase, read: Access, from: Target, write: Access, to: Target): ValidatorCondition {
  const { scope } = way.reading;
  if (!way.isPossible) return scope.demanded().condition;
  const distance = subtractForms(way.reading.natural(to.offset), way.reading.natural(from.offset));
  const { low, high } = scope.ofForm(distance);
  if (!low || !high) return never;
  // Addresses are known modulo 2^64 only.
  const far = fixedAmount(1n << 63n);
  const disjoint = allMet([
    anyMet([lessOrEqual(fixedAmount(BigInt(read.bytes)), low), lessOrEqual(high, fixedAmount(BigInt(-write.bytes)))]),
    lessOrEqual(fixedAmount(-(1n << 63n)), low),
    lessOrEqual(high, far),
  ]);
  const guarded = anyMet([...scope.guards.map((guard) => guard.negation()), disjoint]);
  return allMet([scope.demanded(), guarded]).condition;
}

/** Whether two addresses of a thread start from one pointer. */
function areOfOneArray(a: Base, b: Base): boolean {
  if (a.kind !== 'loaded' || b.kind !== 'loaded') return a.kind === b.kind && a.kind !== 'unknown' && a.key === b.key;
  return a.element === b.element && a.element.leaves.every(isOfThread) && areOfOneArray(a.table, b.table);
}

/** Whether an access is weak, by one thread, and complete before the next instruction. */
export function isPlain({ instruction, isCopy, ofWarp, memory }: Access): boolean {
  const { effect } = instruction.operation;
  return !isCopy && !ofWarp && memory !== 'shared' && (effect.kind === 'load' || effect.kind === 'store') && effect.semantics === 'weak';
}

/** Whether an instruction may observe an action of another thread, or signal one to it. */
function mayOrder(instruction: Instruction): boolean {
  return contactOf(instruction) === 'order';
}

/** Whether an atom has one value in all iterations of a thread. */
function isOfThread({ atom }: Term): boolean {
  return /^(thread|block|block-size|grid-size|parameter|object)$/.test(atom?.kind ?? '');
}
