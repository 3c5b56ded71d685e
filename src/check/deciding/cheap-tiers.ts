/** The tiers that need no solver, the cheaper first: affine, then enumeration. */
import type { TierContext } from '../obligations/instance.ts';
import type { Term } from '../../term/term.ts';
import { type DifferenceArgument, refutedByDifference } from './affine.ts';
import { refutedByCoordinates } from './coordinates.ts';
import { refutedByDigits } from './digits.ts';
import { type Difference, addressDifference } from '../obligations/difference.ts';
import { type Hit, enumerate } from './enumerate.ts';
import type { Obligation } from '../obligations/obligation.ts';

export type CheapResult =
  | { readonly kind: 'proved'; readonly by: DifferenceArgument | 'coordinates' | 'enumeration'; readonly assumes: readonly Term[] }
  /** `exact`: the hits occur for every value of the variables that are not enumerated. */
  | { readonly kind: 'open'; readonly hits: readonly Hit[]; readonly exact: boolean; readonly difference: Difference };

/** The tiers without a solver. */
export function decideCheaply(context: TierContext, obligation: Obligation): CheapResult {
  const { symbolic, instances, dimensions } = context;
  const difference = addressDifference(symbolic, instances, obligation);
  const by = refutedByDifference(dimensions, obligation, difference);
  if (by) return { kind: 'proved', by, assumes: difference.assumes };
  const coordinates =
    obligation.sameThread || obligation.mayBeOne ? null : refutedByCoordinates(symbolic, dimensions, obligation, difference);
  if (coordinates) return { kind: 'proved', by: 'coordinates', assumes: [...new Set([...difference.assumes, ...coordinates])] };
  const digits = obligation.sameThread || obligation.mayBeOne ? null : refutedByDigits(context, obligation);
  if (digits) return { kind: 'proved', by: 'coordinates', assumes: digits };
  const found = enumerate(symbolic, instances, dimensions, obligation, difference, context.evaluations);
  if (found.kind === 'none') return { kind: 'proved', by: 'enumeration', assumes: difference.assumes };
  if (found.kind === 'unable') return { kind: 'open', hits: [], exact: false, difference };
  return { kind: 'open', hits: found.hits, exact: found.exact, difference };
}
