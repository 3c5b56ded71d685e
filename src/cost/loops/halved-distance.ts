/** Loops in which the distance of two variables is halved in each iteration: binary searches. */
import type { Loop } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import type { LaneSetting } from '../lanes/lane-values.ts';
import { isNonNegativeTerm, nonNegativeVariables } from './loop-variable.ts';
import { type Form, type Transition, transitionsOf } from './transition.ts';

export interface Halving {
  /** The halved form over values known before the loop, by entry edge. */
  readonly starts: readonly Form[];
  /** Iterations beyond floor(log2(start)) that are followed by another one; none if the start is below 1. */
  readonly more: 0 | 1;
}

/** A form that every iteration of a loop halves, and that is at least 1 in each iteration followed by another one. */
export function halvingOf(setting: LaneSetting, loop: Loop): Halving | null {
  const transitions = transitionsOf(setting, loop);
  const rounds = transitions?.filter(({ from }) => from === loop.header) ?? [];
  const entries = transitions?.filter(({ from }) => from === null) ?? [];
  if (rounds.length === 0 || rounds.length + entries.length < transitions!.length) return null;
  const variables = nonNegativeVariables(setting.symbolic);
  for (const form of candidates(setting, loop)) {
    if (!rounds.every((round) => isHalved(setting, variables, form, round))) continue;
    const starts = entries.map(({ before }) => before(form));
    if (starts.includes(null)) continue;
    const isFrom = (round: Transition, at: Form | null): boolean =>
      at !== null && round.guards.some((guard) => isSame(at, guard) && at.constant > guard.constant);
    const more = rounds.every((round) => isFrom(round, round.before(form))) ? 0 : 1;
    if (more === 0 || rounds.every((round) => isFrom(round, form))) return { starts: starts as Form[], more };
  }
  return null;
}

/** Candidate forms: variables, and distances of two variables, each also plus 1 and minus 1. */
function candidates({ symbolic }: LaneSetting, { header }: Loop): Form[] {
  const variables = symbolic.kernel.blocks[header]!.phis.flatMap(({ result }) => {
    const term = symbolic.value(result);
    return term.atom?.kind === 'havoc' && term.width >= 32 ? [term] : [];
  });
  if (variables.length > 6) return [];
  const single = variables.map((high): Form => ({ constant: 0n, terms: new Map([[high, 1n]]) }));
  const distances = variables.flatMap((high) =>
    variables
      .filter((low) => high !== low && high.width === low.width)
      .flatMap((low) =>
        [0n, 1n, -1n].map((constant): Form => ({
          constant,
          terms: new Map([
            [high, 1n],
            [low, -1n],
          ]),
        })),
      ),
  );
  return [...single, ...distances];
}

/** Whether twice the value of a form after an iteration is at most its value before the iteration. */
function isHalved({ symbolic: { view } }: LaneSetting, variables: ReadonlySet<number>, form: Form, { before }: Transition): boolean {
  const after = before(form);
  if (!after) return false;
  const twice = new Map<Term, bigint>();
  const include = (term: Term, factor: bigint): void => {
    twice.set(term, (twice.get(term) ?? 0n) + factor);
  };
  let constant = 2n * after.constant - form.constant;
  for (const [term, factor] of form.terms) include(term, -factor);
  for (const [term, factor] of after.terms) {
    const whole = wholeOf(view, variables, term, factor > 0n);
    if (!whole) {
      include(term, 2n * factor);
      continue;
    }
    // Twice the half of a number is the number, or the number minus 1.
    constant += factor * whole.constant - (factor < 0n ? factor : 0n);
    for (const [part, by] of whole.terms) include(part, factor * by);
  }
  return constant <= 0n && [...twice.values()].every((factor) => factor === 0n);
}

/**
 * The form of which a term is the half, rounded down. Null if the term is not a half, or the form may be negative.
 * @param mayBeLess whether the result may be a smaller form
 */
function wholeOf(view: LaneSetting['symbolic']['view'], variables: ReadonlySet<number>, term: Term, mayBeLess: boolean): Form | null {
  const { operator, arguments: parts } = term;
  const [whole, by] = parts;
  if (!whole || by?.operator !== 'constant') return null;
  const isShift = operator === 'ashr' || operator === 'lshr';
  const least = isShift ? 1n : 2n;
  const isQuotient = isShift || operator === 'sdiv' || operator === 'udiv';
  const isSmall = by.value < 1n << BigInt(term.width - 1);
  const isHalf = isQuotient && isSmall && (mayBeLess ? by.value >= least : by.value === least);
  if (!isHalf || !isNonNegativeTerm(view, variables, whole)) return null;
  const { constant, terms } = view.natural(whole);
  // Compilers add the sign bit, which is 0 here, to round towards zero.
  const isSign = ({ operator: own, arguments: [, amount], width }: Term): boolean =>
    own === 'lshr' && amount!.operator === 'constant' && amount!.value === BigInt(width - 1);
  const kept = [...terms].filter(([part]) => !isSign(part) || !isNonNegativeTerm(view, variables, part.arguments[0]!));
  return { constant, terms: new Map(kept) };
}

function isSame(a: Form, b: Form): boolean {
  return a.terms.size === b.terms.size && [...a.terms].every(([term, factor]) => b.terms.get(term) === factor);
}
