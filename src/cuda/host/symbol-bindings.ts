/** Applies facts to terms: symbols whose values they fix, conditions that they decide. */
import {
  type Fact,
  type HostTerm,
  arithmetic,
  casesOf,
  choice,
  compared,
  termConstant,
  factKey,
  joinedFact,
  negatedFact,
  symbolsOf,
  termKey,
} from './term.ts';

export interface Substitution {
  readonly term: (term: HostTerm) => HostTerm;
  readonly fact: (fact: Fact) => Fact;
}

/** Consequences of facts: values of symbols and other terms, by their keys, and truth values of conditions. */
interface Settled {
  readonly facts: readonly Fact[];
  readonly pinned: Layered<HostTerm>;
  readonly decided: Layered<boolean>;
}

/** Maximum number of layers; above that, entries are copied into one map. */
const maxLayers = 16;

/**
 * A map on top of another map, which is not changed: copies of long maps would dominate the time for launches in loops.
 */
class Layered<Value> {
  readonly #own = new Map<string, Value>();
  readonly #below: Layered<Value> | undefined;
  readonly #depth: number;

  constructor(below?: Layered<Value>) {
    this.#depth = below === undefined ? 0 : below.#depth + 1;
    if (this.#depth <= maxLayers) this.#below = below;
    else {
      this.#depth = 0;
      below!.#copyInto(this.#own);
    }
  }

  get(key: string): Value | undefined {
    let found = this.#own.get(key);
    for (let layer = this.#below; found === undefined && layer !== undefined; layer = layer.#below) found = layer.#own.get(key);
    return found;
  }

  set(key: string, value: Value): void {
    this.#own.set(key, value);
  }

  get isEmpty(): boolean {
    return this.#own.size === 0 && (this.#below === undefined || this.#below.isEmpty);
  }

  #copyInto(target: Map<string, Value>): void {
    if (this.#below !== undefined) this.#below.#copyInto(target);
    for (const [key, value] of this.#own) target.set(key, value);
  }
}

const nothingSettled: Settled = { facts: [], pinned: new Layered(), decided: new Layered() };

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
  const pinned = new Layered(known.pinned);
  const decided = new Layered(known.decided);
  const settle = (fact: Fact, value: boolean): void => {
    decided.set(factKey(fact), value);
    if (fact.kind === 'not') settle(fact.operand, !value);
    if (fact.kind === (value ? 'and' : 'or') && (fact.kind === 'and' || fact.kind === 'or')) {
      settle(fact.left, value);
      settle(fact.right, value);
    }
    const held = value ? fact : fact.kind === 'comparison' ? negatedFact(fact) : fact;
    if (held.kind !== 'comparison') return;
    decided.set(factKey(held), true);
    decided.set(factKey(negatedFact(held)), false);
    if (held.operator !== '==') return;
    for (const [a, b] of [
      [held.left, held.right],
      [held.right, held.left],
    ] as const)
      if (a.kind !== 'integer' && termConstant(b) !== undefined && pinned.get(termKey(a)) === undefined) pinned.set(termKey(a), b);
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
    const known = decided.get(factKey(fact));
    if (known !== undefined) return { kind: 'truth', value: known };
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
    return pinned.get(termKey(term)) ?? replaceWithin(term);
  };
  const replaceWithin = (term: HostTerm): HostTerm => {
    switch (term.kind) {
      case 'integer':
        return term;
      case 'symbol':
        return pinned.get(termKey(term)) ?? term;
      case 'arithmetic':
        return arithmetic(term.operator, replace(term.left), replace(term.right)) ?? term;
      case 'choice':
        return choice(replaceFact(term.condition), replace(term.then), replace(term.otherwise)) ?? term;
    }
  };
  return { term: replace, fact: rebuilt };
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

/** Whether a term has a choice in it. */
export function hasChoice(term: HostTerm): boolean {
  if (term.kind === 'choice') return true;
  return term.kind === 'arithmetic' && (hasChoice(term.left) || hasChoice(term.right));
}

/** Whether nothing in a term is a symbol. */
export function isClosed(term: HostTerm): boolean {
  return symbolsOf(term).size === 0;
}
