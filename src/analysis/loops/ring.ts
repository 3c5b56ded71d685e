/** Loop variables that are indices of a ring buffer: reset to 0 at a limit, or a remainder or a mask of a sum. */
import type { Loop } from '../../ir/form/kernel.ts';
import type { LinearView } from '../../term/linear.ts';
import type { Term, TermStore } from '../../term/term.ts';
import { substituted } from '../../term/rewrite.ts';

/**
 * The closed form of a variable that is incremented each iteration and reset to 0 at its limit, or whose next value is
 * the remainder of itself and a constant; null for others.
 * @param start its value in the first iteration
 */
export function ringForm(
  store: TermStore,
  view: LinearView,
  loop: Loop,
  { phi, next }: { readonly phi: Term; readonly next: Term },
  start: Term,
): Term | null {
  if (phi.width < 8) return null;
  const range = view.unsigned(start);
  if (range.assumes.length > 0 || range.low < 0n) return null;
  const ring = remainderOf(store, phi, next) ?? resetOf(store, phi, next);
  if (!ring || range.high >= ring.size) return null;
  // In 64 bits: a narrower counter would wrap around.
  const counter = store.mul(64, store.constant(64, ring.step), store.atom(64, { kind: 'iteration', loop: loop.id }));
  const sum = store.add(64, counter, store.zeroExtend(64, start));
  return store.truncate(phi.width, store.divide('urem', 64, sum, store.constant(64, ring.size)));
}

/** A variable below `size` to which each iteration adds `step`, modulo the size. */
interface Ring {
  readonly size: bigint;
  readonly step: bigint;
}

/** Sizes beyond which no ring is recognised. */
const most = 1n << 12n;

function remainderOf(store: TermStore, phi: Term, next: Term): Ring | null {
  const [sum, by] = next.arguments as [Term, Term];
  if (by?.operator !== 'constant') return null;
  const isMask = next.operator === 'and' && (by.value & (by.value + 1n)) === 0n;
  if (!isMask && next.operator !== 'urem' && next.operator !== 'srem') return null;
  const size = isMask ? by.value + 1n : by.value;
  const step = store.sub(phi.width, sum, phi);
  // The sum is not negative, and does not wrap around.
  const isSmall = step.operator === 'constant' && step.value <= most && size <= most && 2n * most < 1n << BigInt(phi.width - 1);
  return isSmall && size > 0n ? { size, step: step.value % size } : null;
}

function resetOf(store: TermStore, phi: Term, next: Term): Ring | null {
  if (next.operator !== 'select') return null;
  const [test, a, b] = next.arguments as [Term, Term, Term];
  const more = store.sum(phi.width, 1n, [[phi, 1n]]);
  const isReset = (term: Term): boolean => term.operator === 'constant' && term.value === 0n;
  const [reset, goesOn] = isReset(a) && b === more ? [test, false] : isReset(b) && a === more ? [test, true] : [];
  if (!reset) return null;
  // The limit is found by evaluating the test for values from 0 on.
  for (let limit = 0n; limit < most; limit++) {
    const said = substituted(store, reset, (leaf) => (leaf === phi ? store.constant(phi.width, limit) : undefined), new Map());
    if (said.operator !== 'constant') return null;
    if ((said.value === 1n) !== goesOn) return { size: limit + 1n, step: 1n };
  }
  return null;
}
