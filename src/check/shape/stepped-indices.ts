/**
 * Indices that advance by a constant: for `8 * i / n` and `8 * i % n`, the kernel takes `n` as a multiple of 8, or it
 * would not address whole groups of 8 elements.
 */
import type { Term, TermStore } from '../../term/term.ts';
import { dividedBySteps, commonStep, wholeQuotient } from '../../term/steps.ts';
import type { ShapedKernel } from './index-form.ts';
import { unextended } from './monomial.ts';
import { rewritten } from '../../term/rewrite.ts';

/** A kernel with the remainders and quotients of its stepped indices in units of the step: `i / (n / 8)`. */
export function inUnitsOfSteps(shaped: ShapedKernel): ShapedKernel {
  const { symbolic, accesses, open } = shaped;
  const { store } = symbolic;
  const memo = new Map<Term, Term>();
  const written = (term: Term): Term => rewritten(store, term, (next) => inSteps(store, next, isOpen), memo);
  return {
    ...shaped,
    symbolic: {
      store,
      operand: (value) => symbolic.operand(value),
      reach: (block) => written(symbolic.reach(block)),
      condition(block) {
        const condition = symbolic.condition(block);
        return condition && written(condition);
      },
    },
    accesses: accesses.map((access) => ({
      ...access,
      targets: access.targets.map((target) => ({
        ...target,
        offset: written(target.offset),
        condition: written(target.condition),
      })),
    })),
  };

  function isOpen(size: Term): boolean {
    const { atom } = unextended(size);
    return atom?.kind === 'parameter' && open.some(({ field }) => field.index === atom.index && field.offset === atom.offset);
  }
}

function inSteps(store: TermStore, term: Term, isOpen: (size: Term) => boolean): Term {
  if (!/^[us](?:div|rem)$/.test(term.operator)) return term;
  const [number, divisor] = term.arguments as [Term, Term];
  if (divisor.operator === 'constant') return isIndex(number) ? wholeQuotient(store, term, isOpen) : term;
  const step = isOfThreads(number) && isOpen(divisor) ? commonStep(number) : 1n;
  return step > 1n && step <= largestStep ? dividedBySteps(store, term, step) : term;
}

/** Whether a number depends on the thread or on the iteration of a loop. */
function isIndex({ leaves }: Term): boolean {
  return leaves.some(({ atom }) => atom!.kind === 'thread' || atom!.kind === 'iteration');
}

function isOfThreads({ leaves }: Term): boolean {
  return leaves.some(({ atom }) => atom!.kind === 'thread');
}

/** Limit on the elements of a group; longer ones are tiles, of which the last one need not be whole. */
const largestStep = 64n;
