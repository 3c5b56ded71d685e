/** Applies facts to terms: symbols whose values they fix, conditions that they decide. */
import { LayeredMap } from '../base/layered-map.ts';
import { type Fact, type HostTerm, termConstant } from './expression.ts';
import { printCondition, printExpression } from './print-assumption.ts';
import { arithmetic, choice, compared, joinedFact, negatedFact, truth } from './simplify.ts';

export interface Substitution {
  readonly term: (term: HostTerm) => HostTerm;
  readonly fact: (fact: Fact) => Fact;
}

/** Consequences of facts: values of symbols and other terms, by their keys, and truth values of conditions. */
interface Settled {
  readonly facts: readonly Fact[];
  readonly pinned: LayeredMap<string, HostTerm>;
  readonly decided: LayeredMap<string, boolean>;
}

const nothingSettled: Settled = { facts: [], pinned: new LayeredMap(), decided: new LayeredMap() };

/**
 * The last query: a launch in a loop is queried in each iteration, and the facts of one iteration are a prefix of those
 * of the next.
 */
let settledLast = nothingSettled;

/**
 * The substitution that facts imply.
 * @param facts of the path to a place in the program
 * @param more facts of this place only
 */
export function substitutionOf(facts: readonly Fact[], more: readonly Fact[] = []): Substitution {
  let settled = nothingSettled;
  if (facts.length > 0) {
    const known = settledLast.facts.every((fact, at) => facts[at] === fact) ? settledLast : nothingSettled;
    settled = { ...settledFrom(known, facts.slice(known.facts.length)), facts };
    settledLast = settled;
  }
  return replacing(more.length === 0 ? settled : settledFrom(settled, more));
}

function settledFrom(known: Pick<Settled, 'pinned' | 'decided'>, facts: readonly Fact[]): Pick<Settled, 'pinned' | 'decided'> {
  if (facts.length === 0) return known;
  const pinned = known.pinned.copy();
  const decided = known.decided.copy();
  const settle = (fact: Fact, value: boolean): void => {
    decided.set(printCondition(fact), value);
    if (fact.kind === 'not') settle(fact.operand, !value);
    if (fact.kind === (value ? 'and' : 'or') && (fact.kind === 'and' || fact.kind === 'or')) {
      settle(fact.left, value);
      settle(fact.right, value);
    }
    const held = value ? fact : fact.kind === 'comparison' ? negatedFact(fact) : fact;
    if (held.kind !== 'comparison') return;
    decided.set(printCondition(held), true);
    decided.set(printCondition(negatedFact(held)), false);
    if (held.operator !== '==') return;
    for (const [a, b] of [
      [held.left, held.right],
      [held.right, held.left],
    ] as const)
      if (a.kind !== 'integer' && termConstant(b) !== undefined && pinned.get(printExpression(a)) === undefined)
        pinned.set(printExpression(a), b);
    // A fact about a choice between two numbers identifies the number, and so the condition of the choice.
    const [of, is] = held.left.kind === 'choice' ? [held.left, held.right] : [held.right, held.left];
    if (of.kind === 'choice') {
      const [then, otherwise] = [compared('==', of.then, is), compared('==', of.otherwise, is)];
      if (then.kind === 'truth' && !then.value) settle(of.condition, false);
      if (otherwise.kind === 'truth' && !otherwise.value) settle(of.condition, true);
      const sure = then.kind === 'truth' && !then.value ? otherwise : otherwise.kind === 'truth' && !otherwise.value ? then : undefined;
      if (sure && sure.kind !== 'truth') settle(sure, true);
    }
  };
  for (const fact of facts) settle(fact, true);
  return { pinned, decided };
}

function replacing({ pinned, decided }: Pick<Settled, 'pinned' | 'decided'>): Substitution {
  const replaceFact = (fact: Fact): Fact => {
    const known = decided.get(printCondition(fact));
    if (known !== undefined) return truth(known);
    return rebuilt(fact);
  };
  /** Rebuilds a fact from its simplified operands, without using the fact itself. */
  const rebuilt = (fact: Fact): Fact => {
    switch (fact.kind) {
      case 'comparison':
        // A fact that fixes the value of a term constrains the operands of the term.
        return compared(fact.operator, replaceWithin(fact.left), replaceWithin(fact.right));
      case 'and':
      case 'or':
        return joinedFact(fact.kind, replaceFact(fact.left), replaceFact(fact.right));
      case 'not':
        return negatedFact(replaceFact(fact.operand));
      case 'truth':
      case 'unknown':
        return fact;
    }
  };
  const replace = (term: HostTerm): HostTerm => {
    if (term.kind === 'integer' || pinned.isEmpty) return replaceWithin(term);
    return pinned.get(printExpression(term)) ?? replaceWithin(term);
  };
  const replaceWithin = (term: HostTerm): HostTerm => {
    switch (term.kind) {
      case 'integer':
        return term;
      case 'arithmetic':
        return arithmetic(term.operator, replace(term.left), replace(term.right)) ?? term;
      case 'choice':
        return choice(replaceFact(term.condition), replace(term.then), replace(term.otherwise)) ?? term;
      default:
        return pinned.get(printExpression(term)) ?? term;
    }
  };
  return { term: replace, fact: rebuilt };
}
