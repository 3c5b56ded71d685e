/**
 * Blocks that wait for the flags of all blocks: their threads wait for some of the flags each, and a barrier of the block
 * joins them.
 */
import type { Access } from '../../analysis/values/access.ts';
import { isOfBlock, partsOf } from '../../analysis/values/leader.ts';
import { type ProgramPoint, canReach, pointAfter, walkFrom } from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Kernel, LoopId } from '../../ir/form/kernel.ts';
import { rewritten, substituted } from '../../term/rewrite.ts';
import type { Term } from '../../term/term.ts';
import type { Acquire, SynchronisingKernel } from './pattern.ts';

/**
 * Whether the threads of a block together have seen the flags of all blocks of the grid set before they pass a barrier.
 * @param arrived the offset of the flag that a block sets, different for each index along an axis of the grid
 * @param isOrdered whether a fence, or the access itself, orders what follows the barrier after an access
 */
export function waitsForEach(
  { symbolic, dimensions, supposed }: SynchronisingKernel,
  arrived: Term,
  axis: 0 | 1 | 2,
  acquire: Acquire,
  barrier: ProgramPoint,
  isOrdered: (watch: Access) => boolean,
): boolean {
  const { kernel, store, view } = symbolic;
  const { access: watch } = acquire;
  const seen = watch.targets[0]!.offset;
  if (seen.leaves.every(isOfBlock) || canReach(kernel, barrier, watch) || !isOrdered(watch)) return false;
  const number = store.atom(32, { kind: 'block', axis });
  const count = dimensions.grid[axis]!;
  const blocks = count === null ? store.atom(32, { kind: 'grid-size', axis }) : store.constant(32, BigInt(count));
  const isBelow = new Set([store.signedLess(number, blocks), store.unsignedLess(number, blocks)]);
  const agreed = new Set(partsOf(symbolic.reach(barrier.block)).filter(({ leaves }) => leaves.every(isOfBlock)));
  return indicesIn(seen).some((index) => {
    const waiting = waitingFor(symbolic, index, dimensions.block, count);
    if (!waiting || !goesOnIfSeen(symbolic, acquire, barrier, waiting.loop)) return false;
    const ofBlock = (part: Term): Term => rewritten(store, part, (next, of) => (of === index ? number : next), new Map());
    if (unsigned(symbolic, ofBlock(seen)) !== unsigned(symbolic, arrived)) return false;
    const isMet = (part: Term): boolean => {
      const ofOne = substituted(store, ofBlock(part), waiting.thread, new Map());
      return agreed.has(part) || isBelow.has(ofOne) || view.decide(ofOne) === true || waiting.isMetByAll(part);
    };
    const isEach = supposed?.has('count') === true || partsOf(symbolic.reach(watch.block)).every(isMet);
    return isEach && isOnlyIn(kernel, watch, waiting.loop);
  });
}

/** Who waits for a flag whose number is an index, for every number of a block. */
interface Waiting {
  /** The loop in whose iterations a thread waits for several flags. */
  readonly loop: LoopId | null;
  /** The thread indices that the number of the flag leaves open. */
  readonly thread: (leaf: Term) => Term | undefined;
  /** Whether all threads that wait satisfy a condition on their index. */
  readonly isMetByAll: (part: Term) => boolean;
}

/**
 * Who waits for the flag with a number, if that is `threadIdx.x`, the iteration of a loop, or `threadIdx.x` plus a multiple
 * of the number of threads for each iteration; null for other indices.
 */
function waitingFor(
  { kernel, store }: SymbolicKernel,
  index: Term,
  block: readonly (number | null)[],
  count: number | null,
): Waiting | null {
  const zeroBut =
    (own: number | null) =>
    ({ atom, width }: Term): Term | undefined =>
      atom?.kind === 'thread' && atom.axis !== own ? store.constant(width, 0n) : undefined;
  const isMetByAll = (): boolean => false;
  const isSimple = (loop: LoopId): boolean => {
    const { exits, header, parent } = kernel.loops[loop]!;
    return parent === null && exits.every(({ from }) => from === header);
  };
  const { atom } = index;
  if (atom?.kind === 'thread') {
    const size = block[atom.axis]!;
    return size !== null && count !== null && count <= size ? { loop: null, thread: zeroBut(atom.axis), isMetByAll } : null;
  }
  if (atom?.kind === 'iteration')
    return isSimple(atom.loop as LoopId) ? { loop: atom.loop as LoopId, thread: zeroBut(null), isMetByAll } : null;
  if (index.operator !== 'sum' || index.value !== 0n || index.arguments.length !== 2) return null;
  const first = index.arguments.findIndex((part, at) => part.atom?.kind === 'thread' && index.coefficients[at] === 1n);
  const own = index.arguments[first]?.atom;
  const [step, by] = [index.arguments[1 - first], index.coefficients[1 - first]];
  if (own?.kind !== 'thread' || !step) return null;
  const iteration = [step, ...step.arguments].find((part) => part.atom?.kind === 'iteration')?.atom;
  if (iteration?.kind !== 'iteration' || !isSimple(iteration.loop as LoopId)) return null;
  const size = block[own.axis]!;
  const threads = step.atom ? by! : null;
  const isOfSize =
    step.operator === 'mul' && by === 1n && step.arguments.some((part) => part.atom?.kind === 'block-size' && part.atom.axis === own.axis);
  if (threads === null ? !isOfSize || step.arguments.length !== 2 : size === null || threads < 1n || threads > BigInt(size)) return null;
  return {
    loop: iteration.loop as LoopId,
    thread: zeroBut(own.axis),
    isMetByAll: (part) => {
      if (threads === null || !part.leaves.every((leaf) => leaf.atom?.kind === 'thread' && leaf.atom.axis === own.axis)) return false;
      const ofThread = (number: number): Term => substituted(store, part, ({ width }) => store.constant(width, BigInt(number)), new Map());
      return Array.from({ length: Number(threads) }, (_, number) => number).every((number) => ofThread(number) === store.true);
    },
  };
}

/** Whether a thread that has looked at a flag comes to a barrier, or to the next iteration of a loop, only if it is set. */
function goesOnIfSeen(symbolic: SymbolicKernel, { access: watch, shows }: Acquire, barrier: ProgramPoint, loop: LoopId | null): boolean {
  const { kernel } = symbolic;
  const value = watch.instruction.results[0]!;
  const isSeen = (part: Term): boolean => shows(part) && part.leaves.some(({ atom }) => atom?.kind === 'havoc' && atom.value === value);
  const header = loop === null ? null : kernel.loops[loop]!.header;
  let isUnseen = false;
  const goesOn = (_: unknown, at: ProgramPoint): boolean => {
    isUnseen ||= at.block === barrier.block && at.position === barrier.position;
    return !isUnseen;
  };
  walkFrom(kernel, pointAfter(watch), goesOn, (from, to) => {
    if (partsOf(symbolic.edge(from, to)).some(isSeen)) return false;
    isUnseen ||= to === header;
    return !isUnseen;
  });
  return !isUnseen;
}

/** Whether an access is in no loop but the one in which a thread waits, and one around it. */
function isOnlyIn({ loops, loopOf }: Kernel, { block }: Access, around: LoopId | null): boolean {
  const own = loopOf[block] ?? null;
  return own === around || (own !== null && loops[own]!.parent === around);
}

/** The 32-bit numbers in an offset that depend on the thread or on the iteration, the largest first. */
function indicesIn(offset: Term): readonly Term[] {
  const found = new Set<Term>();
  const collect = (term: Term): void => {
    if (term.leaves.every(isOfBlock)) return;
    if (term.width === 32) found.add(term);
    for (const part of term.arguments) collect(part);
  };
  collect(offset);
  return [...found];
}

/** A term whose sign extensions of numbers that are not negative are zero extensions. */
function unsigned({ store, view }: SymbolicKernel, term: Term): Term {
  return rewritten(
    store,
    term,
    (next) => {
      const [inner] = next.operator === 'sext' ? next.arguments : [];
      return inner && view.signed(inner).low >= 0n ? store.zeroExtend(next.width, inner) : next;
    },
    new Map(),
  );
}
