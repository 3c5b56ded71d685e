/** Variables advanced by an inner loop: `for (i …) for (j …) p += n` moves `p` by `size * n` each iteration of `i`. */
import type { Block, BlockId, Kernel, Loop } from '../../ir/form/kernel.ts';
import type { Linear } from '../../term/linear.ts';
import type { Term, TermStore } from '../../term/term.ts';
import { readComparison } from './ordered-terms.ts';

/** A loop variable: its phi, its initial value, and its value in the next iteration. */
interface Recurrence {
  readonly phi: Term;
  readonly initial: Term;
  readonly next: Term;
}

/** Facts about a kernel's loops while closed forms are built. */
interface Loops {
  readonly kernel: Kernel;
  readonly store: TermStore;
  readonly variablesOf: (loop: Loop) => readonly Recurrence[];
  /** The condition under which control flows from one block to another. */
  readonly edge: (from: Block, to: BlockId) => Term;
  readonly isInvariant: (term: Term, loop: Loop) => boolean;
  /** As a signed integer. */
  readonly read: (term: Term) => Linear;
}

/**
 * Increment of a variable in one iteration, if inner loops add the same amount once per inner iteration.
 * @returns null if it differs between iterations, or is unknown
 */
export function nestedStep(loops: Loops, loop: Loop, { phi, next }: Recurrence): Term | null {
  const { kernel, store, isInvariant } = loops;
  const { width } = phi;
  if (width === 0) return null;
  for (const inner of kernel.loops) {
    if (inner === loop || !loop.blocks.has(inner.header)) continue;
    const variables = loops.variablesOf(inner);
    const own = variables.find((one) => one.phi.width === width && next.leaves.includes(one.phi));
    if (!own) continue;
    const before = store.sub(width, own.initial, phi);
    const after = store.sub(width, next, own.phi);
    if (!isInvariant(before, loop) || !isInvariant(after, loop)) return null;
    const step = store.sub(width, own.next, own.phi);
    const each = isInvariant(step, inner) ? step : nestedStep(loops, inner, own);
    const rounds = each && roundsOf(loops, inner, variables, width);
    if (!rounds || !isInvariant(each, loop) || !isInvariant(rounds, loop)) return null;
    return store.sum(width, 0n, [
      [before, 1n],
      [after, 1n],
      [store.mul(width, each, rounds), 1n],
    ]);
  }
  return null;
}

/** Trip count of a loop that counts up by one and is left only at its header; null for others. */
function roundsOf({ kernel, store, edge, read }: Loops, loop: Loop, variables: readonly Recurrence[], width: number): Term | null {
  const [exit, ...others] = loop.exits;
  if (!exit || others.length > 0 || exit.from !== loop.header) return null;
  const comparison = readComparison(store.not(edge(kernel.blocks[exit.from]!, exit.to)));
  const counter = variables.find(({ phi }) => phi === comparison?.smaller);
  if (!comparison || counter?.initial.operator !== 'constant') return null;
  const { larger: limit, strict, signed } = comparison;
  const { phi, initial: first, next } = counter;
  if (phi.width < 32 || first.value >= 1n << BigInt(phi.width - 1) || next !== store.sum(phi.width, 1n, [[phi, 1n]])) return null;
  const distance = store.sub(phi.width, limit, first);
  const wide = signed ? store.signExtend(width, distance) : store.zeroExtend(width, distance);
  const count = store.sum(width, strict ? 0n : 1n, [[phi.width > width ? store.truncate(width, distance) : wide, 1n]]);
  const least = read(limit);
  if (signed ? least.low >= first.value && least.assumes.length === 0 : first.value === 0n) return count;
  const isEntered = strict
    ? signed
      ? store.signedLess(first, limit)
      : store.unsignedLess(first, limit)
    : store.not(signed ? store.signedLess(limit, first) : store.unsignedLess(limit, first));
  return store.select(isEntered, count, store.constant(width, 0n));
}
