/** Random terms and conditions of host programs, and their values by direct computation. */
import type { Random } from '../../src/base/random.ts';
import { type Fact, type HostTerm, integer, symbolTerm } from '../../src/assumptions/expression.ts';
import { type ArithmeticOperator, type ComparisonOperator, comparisonHolds, resultOf } from '../../src/assumptions/operators.ts';
import { arithmetic, choice, compared, joinedFact, negatedFact } from '../../src/assumptions/simplify.ts';

/** A value that a program computes: its term, and its number for known values of the symbols. */
export interface RandomTerm {
  readonly term: HostTerm;
  readonly value: bigint;
}

export interface RandomFact {
  readonly fact: Fact;
  readonly holds: boolean;
}

const operators: readonly ArithmeticOperator[] = ['+', '-', '*', '/', '%', '<<', '&', '|', '+', '*', '/'];
const comparisons: readonly ComparisonOperator[] = ['==', '!=', '<', '<=', '>', '>=', '=='];

export class RandomTerms {
  readonly #random: Random;
  /** Values of the symbols. */
  readonly symbols: readonly RandomTerm[];
  readonly #earlier: RandomTerm[] = [];

  constructor(random: Random) {
    this.#random = random;
    this.symbols = ['a', 'b', 'c', 'd'].map((id) => ({ term: symbolTerm({ id, label: id }), value: BigInt(1 + random.below(400)) }));
  }

  /** A term that has a value; parts of earlier terms appear in it again. */
  term(depth: number): RandomTerm {
    const random = this.#random;
    for (;;) {
      if (depth === 0 || random.chance(0.2)) {
        if (random.chance(0.6)) return random.pick(this.symbols);
        const value = BigInt(random.pick([0, 1, 2, 2, 3, 3, 4, 8, -1, -2, 64]));
        return { term: integer(value), value };
      }
      if (this.#earlier.length > 0 && random.chance(0.2)) return random.pick(this.#earlier);
      const made = random.chance(0.15) ? this.#choice(depth - 1) : this.#operation(depth - 1);
      if (!made) continue;
      if (this.#earlier.length < 12) this.#earlier.push(made);
      return made;
    }
  }

  #operation(depth: number): RandomTerm | null {
    const [left, right, operator] = [this.term(depth), this.term(depth), this.#random.pick(operators)];
    const value = resultOf(operator, left.value, right.value);
    const term = arithmetic(operator, left.term, right.term);
    // Terms are not shifted by 63.
    const isTooFar = operator === '<<' && right.value > 62n;
    return value === undefined || term === null || isTooFar ? null : { term, value };
  }

  #choice(depth: number): RandomTerm | null {
    const [{ fact, holds }, then, otherwise] = [this.fact(depth), this.term(depth), this.term(depth)];
    const term = choice(fact, then.term, otherwise.term);
    return term && { term, value: holds ? then.value : otherwise.value };
  }

  fact(depth: number): RandomFact {
    const random = this.#random;
    if (depth === 0 || random.chance(0.5)) {
      const [left, right, operator] = [this.term(depth), this.term(0), random.pick(comparisons)];
      return { fact: compared(operator, left.term, right.term), holds: comparisonHolds(operator, left.value, right.value) };
    }
    const [a, b] = [this.fact(depth - 1), this.fact(depth - 1)];
    if (random.chance(0.3)) return { fact: negatedFact(a.fact), holds: !a.holds };
    const kind = random.pick(['and', 'or'] as const);
    return { fact: joinedFact(kind, a.fact, b.fact), holds: kind === 'and' ? a.holds && b.holds : a.holds || b.holds };
  }
}
