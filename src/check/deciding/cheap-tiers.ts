/** The tiers that need no solver, the cheaper first: digits in mixed radix, then enumeration. */
import type { TierContext } from '../obligations/instance.ts';
import type { Term } from '../../term/term.ts';
import { refutedByDigits } from '../radix/size-digits.ts';
import { type Difference, addressDifference } from '../obligations/difference.ts';
import { type Hit, enumerate } from './enumerate.ts';
import type { Obligation } from '../obligations/obligation.ts';

export type CheapResult =
  | { readonly kind: 'proved'; readonly by: 'digits' | 'enumeration'; readonly assumes: readonly Term[] }
  /** `exact`: the hits occur for every value of the variables that are not enumerated. */
  | { readonly kind: 'open'; readonly hits: readonly Hit[]; readonly exact: boolean; readonly difference: Difference };

/** The tiers without a solver. */
export function decideCheaply(context: TierContext, obligation: Obligation): CheapResult {
  const { symbolic, instances, dimensions } = context;
  const difference = addressDifference(symbolic, instances, obligation);
  const digits = refutedByDigits(context, obligation, difference);
  if (digits) return { kind: 'proved', by: 'digits', assumes: [...new Set(digits)] };
  const found = enumerate(symbolic, instances, dimensions, obligation, difference, context.evaluations);
  if (found.kind === 'none') return { kind: 'proved', by: 'enumeration', assumes: difference.assumes };
  if (found.kind === 'unable') return { kind: 'open', hits: [], exact: false, difference };
  return { kind: 'open', hits: found.hits, exact: found.exact, difference };
}
