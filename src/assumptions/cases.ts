/** Cases of terms that contain choices. */
import type { Fact, HostTerm } from './expression.ts';
import { arithmetic, negatedFact } from './simplify.ts';
import { substitutionOf } from './substitution.ts';

/** A value that a term has under a condition. */
interface Case {
  readonly facts: readonly Fact[];
  readonly term: HostTerm;
}

/**
 * The values of a term without choices in them, each with the conditions under which the term has it.
 * @returns null if there are more than `most`
 */
function casesOf(term: HostTerm, most: number): readonly Case[] | null {
  switch (term.kind) {
    case 'choice': {
      const sides = [casesOf(term.then, most), casesOf(term.otherwise, most)] as const;
      if (!sides[0] || !sides[1] || sides[0].length + sides[1].length > most) return null;
      return [
        ...sides[0].map(({ facts, term: value }) => ({ facts: [term.condition, ...facts], term: value })),
        ...sides[1].map(({ facts, term: value }) => ({ facts: [negatedFact(term.condition), ...facts], term: value })),
      ];
    }
    case 'arithmetic': {
      const [lefts, rights] = [casesOf(term.left, most), casesOf(term.right, most)];
      if (!lefts || !rights || lefts.length * rights.length > most) return null;
      const cases: Case[] = [];
      for (const left of lefts)
        for (const right of rights) {
          const value = arithmetic(term.operator, left.term, right.term);
          if (!value) return null;
          cases.push({ facts: [...left.facts, ...right.facts], term: value });
        }
      return cases;
    }
    default:
      return [{ facts: [], term }];
  }
}

/**
 * The sets of facts under which terms contain no choices between constants: one launch for each path of the program.
 * @returns null if there are more than `most`
 */
export function alternativesOf(terms: readonly HostTerm[], most: number): readonly (readonly Fact[])[] | null {
  let ways: readonly (readonly Fact[])[] = [[]];
  for (const term of terms) {
    const next: (readonly Fact[])[] = [];
    for (const way of ways) {
      const cases = casesOf(substitutionOf([], way).term(term), most);
      if (!cases) return null;
      for (const { facts } of cases) next.push([...way, ...facts]);
    }
    if (next.length > most) return null;
    ways = next;
  }
  return ways;
}
