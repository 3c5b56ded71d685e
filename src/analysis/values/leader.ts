/**
 * Thread 0 of a block, the leader, which often computes a value for all threads: terms and conditions of that thread.
 */
import type { BlockId, LoopId } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { inside, unsignedBounds } from '../../term/linear.ts';
import type { Dimensions } from './launch-bounds.ts';
import type { SymbolicKernel } from './symbolic.ts';
import { substituted } from '../../term/rewrite.ts';

/** The conjuncts of a condition. */
export function partsOf(term: Term): readonly Term[] {
  if (term.operator === 'all') return term.arguments;
  const [inner] = term.operator === 'not' ? term.arguments : [];
  const isOfNegations = inner?.operator === 'any' && inner.arguments.every(({ operator }) => operator === 'not');
  return isOfNegations ? inner.arguments.map(({ arguments: [part] }) => part!) : [term];
}

/** The indices of a thread of a block. */
export type ThreadIndex = readonly bigint[];

const thread0: ThreadIndex = [0n, 0n, 0n];

/** A term in which thread indices are those of thread 0 of the block, or of another one. */
export function ofLeader({ store }: SymbolicKernel, term: Term, leader: ThreadIndex = thread0): Term {
  const index = ({ atom, width }: Term): Term | undefined =>
    atom?.kind === 'thread' ? store.constant(width, leader[atom.axis]!) : undefined;
  return substituted(store, term, index, new Map());
}

/**
 * Whether thread 0 is sure to reach a basic block in every thread block of which one thread reaches another basic
 * block.
 * @param shared a loop around both; all threads of a block are in the same iteration of it and of its outer loops
 * @param passed a basic block that all threads of the block reach before both, in the same iteration
 * @param leader another thread that exists, instead of thread 0
 */
export function leaderReaches(
  symbolic: SymbolicKernel,
  block: BlockId,
  given: BlockId,
  shared: LoopId | null = null,
  passed: BlockId | null = null,
  leader: ThreadIndex = thread0,
): boolean {
  const { kernel, view } = symbolic;
  const header = shared === null ? null : kernel.loops[shared]!.header;
  const isOfRound = ({ atom }: Term): boolean =>
    atom?.kind === 'iteration' && header !== null && kernel.loops[atom.loop]!.blocks.has(header);
  const isAgreed = (part: Term): boolean => part.leaves.every((leaf) => isOfBlock(leaf) || isOfRound(leaf));
  const known = new Set(partsOf(symbolic.reach(given)).filter(isAgreed));
  if (passed !== null) for (const part of partsOf(ofLeader(symbolic, symbolic.reach(passed), leader))) known.add(part);
  // A thread that left a loop by its only exit has satisfied the exit condition.
  for (const { blocks, exits } of kernel.loops) {
    const [exit, ...more] = exits;
    if (!exit || more.length > 0 || blocks.has(block)) continue;
    for (const part of partsOf(ofLeader(symbolic, symbolic.edge(exit.from, exit.to), leader))) known.add(part);
  }
  return partsOf(ofLeader(symbolic, symbolic.reach(block), leader)).every((part) => known.has(part) || view.decide(part) === true);
}

/** Whether an atom has the same value in all threads of a block at any time. */
export function isOfBlock({ atom }: Term): boolean {
  return atom?.kind === 'block' || isOfLaunch({ atom });
}

/** Whether all threads of a launch agree on an atom. */
export function isOfLaunch({ atom }: Pick<Term, 'atom'>): boolean {
  return atom?.kind === 'parameter' || atom?.kind === 'block-size' || atom?.kind === 'grid-size';
}

/** The thread and block indices that are fixed by the conditions to reach a basic block. */
export interface Pins {
  /** By axis; undefined if the conditions do not fix the index. */
  readonly thread: readonly (bigint | undefined)[];
  readonly block: readonly (bigint | undefined)[];
  /** Sums that must not wrap around for that. */
  readonly assumes: readonly Term[];
}

/** Computes the thread and block indices that the conditions to reach a basic block fix. */
export function pinsOf(symbolic: SymbolicKernel, block: BlockId, dimensions: Dimensions): Pins {
  return pinsIn(symbolic, partsOf(symbolic.reach(block)), dimensions);
}

/** Computes the thread and block indices that the conjuncts of a condition fix. */
export function pinsIn(symbolic: SymbolicKernel, parts: readonly Term[], dimensions: Dimensions): Pins {
  const known = (size: number | null): bigint | undefined => (size === 1 ? 0n : undefined);
  const assumes: Term[] = [];
  const pins = { thread: dimensions.block.map(known), block: dimensions.grid.map(known), assumes };
  const pin = (term: Term, value: bigint): void => {
    const { atom } = term;
    if (atom?.kind === 'thread' || atom?.kind === 'block') pins[atom.kind][atom.axis] ??= value;
    else if (value !== 0n) return;
    // A sum of nonnegative terms is zero only if all of them are.
    else if (term.operator === 'sum' && term.value === 0n) {
      if (!term.coefficients.every((by) => by > 0n) || !term.leaves.every(isIndexOrSize)) return;
      if (!inside(symbolic.view.natural(term), unsignedBounds(term.width))) assumes.push(term);
      for (const part of term.arguments) pin(part, 0n);
    } else if (term.operator === 'mul') {
      const [index, ...more] = term.arguments.filter(({ atom: factor }) => factor?.kind !== 'block-size');
      if (index && more.length === 0 && term.leaves.every(isIndexOrSize)) pin(index, 0n);
    } else if (term.operator === 'zext') pin(term.arguments[0]!, 0n);
  };
  for (const part of parts) {
    if (part.operator !== 'equal') continue;
    const [a, b] = part.arguments as [Term, Term];
    if (b.operator === 'constant') pin(a, b.value);
    else if (a.operator === 'constant') pin(b, a.value);
  }
  return pins;
}

function isIndexOrSize({ atom }: Term): boolean {
  return atom?.kind === 'thread' || atom?.kind === 'block' || atom?.kind === 'block-size';
}

/** Whether at most one thread of a block has these indices. */
export function isOneThread({ thread }: Pins): boolean {
  return thread.every((index) => index !== undefined);
}

/** Whether these are the indices of thread 0, and no sum has to be free of wrap-around for that. */
export function areLeaders({ thread, assumes }: Pins): boolean {
  return assumes.length === 0 && thread.every((index) => index === 0n);
}
