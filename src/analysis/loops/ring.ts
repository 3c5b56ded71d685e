/** Loop variables that are reset to 0 at a limit, as indices of a ring buffer. */
import type { Loop } from '../../ir/form/kernel.ts';
import type { LinearView } from '../../term/linear.ts';
import type { Term, TermStore } from '../../term/term.ts';
import { substituted } from '../../term/rewrite.ts';

/**
 * The closed form of a variable that is incremented each iteration and reset to 0 at its limit; null for others.
 * @param start its value in the first iteration
 */
export function ringForm(
  store: TermStore,
  view: LinearView,
  loop: Loop,
  { phi, next }: { readonly phi: Term; readonly next: Term },
  start: Term,
): Term | null {
  if (next.operator !== 'select' || phi.width < 8) return null;
  const [test, a, b] = next.arguments as [Term, Term, Term];
  const more = store.sum(phi.width, 1n, [[phi, 1n]]);
  const isReset = (term: Term): boolean => term.operator === 'constant' && term.value === 0n;
  const [reset, goesOn] = isReset(a) && b === more ? [test, false] : isReset(b) && a === more ? [test, true] : [];
  if (!reset) return null;
  const range = view.unsigned(start);
  if (range.assumes.length > 0) return null;
  // The limit is found by evaluating the test for values from 0 on.
  const most = 1n << 12n;
  for (let limit = 0n; limit < most; limit++) {
    const said = substituted(store, reset, (leaf) => (leaf === phi ? store.constant(phi.width, limit) : undefined), new Map());
    if (said.operator !== 'constant') return null;
    if ((said.value === 1n) === goesOn) continue;
    if (range.high > limit || range.low < 0n) return null;
    // In 64 bits: a narrower counter would wrap around.
    const counter = store.atom(64, { kind: 'iteration', loop: loop.id });
    const sum = store.add(64, counter, store.zeroExtend(64, start));
    return store.truncate(phi.width, store.divide('urem', 64, sum, store.constant(64, limit + 1n)));
  }
  return null;
}
