/** Integers and conditions as a host program computes them, over symbols for unknown values. */
import { createHash } from 'node:crypto';
import type { ArithmeticOperator, ComparisonOperator } from '../assumptions/assumption.ts';

/** An unknown that has a value only when the host program runs. Symbols with the same id have the same value. */
export interface HostSymbol {
  readonly id: string;
  /** As the source names it, for messages. */
  readonly label: string;
  /** Its type without qualifiers, if declared. */
  readonly type?: string;
  /** Where it comes from, for messages, if more is known than its label: `the result of strtol()`. */
  readonly origin?: string;
}

/** An integer term, over mathematical integers: index arithmetic of host programs is assumed not to wrap around. */
export type HostTerm =
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'symbol'; readonly symbol: HostSymbol }
  | {
      readonly kind: 'arithmetic';
      readonly operator: ArithmeticOperator;
      readonly left: HostTerm;
      readonly right: HostTerm;
      readonly size: number;
    }
  | {
      readonly kind: 'choice';
      readonly condition: Fact;
      readonly then: HostTerm;
      readonly otherwise: HostTerm;
      readonly size: number;
    };

/** A condition. */
export type Fact =
  | { readonly kind: 'truth'; readonly value: boolean }
  | {
      readonly kind: 'comparison';
      readonly operator: ComparisonOperator;
      readonly left: HostTerm;
      readonly right: HostTerm;
    }
  | { readonly kind: 'and' | 'or'; readonly left: Fact; readonly right: Fact }
  | { readonly kind: 'not'; readonly operand: Fact }
  /** An unknown condition, the same wherever its id appears. */
  | { readonly kind: 'unknown'; readonly id: string };

/** Maximum size of terms and conditions; larger ones become symbols, since no launch needs them. */
const largestTerm = 160;

/** A number. */
export function integer(value: bigint | number): HostTerm {
  return { kind: 'integer', value: BigInt(value) };
}

export const zeroTerm = integer(0);
export const one = integer(1);

/** Longer names of symbols are abbreviated: they have a digest instead of their operands. */
const longestId = 240;

/**
 * A symbol for a function of other values, of which only that it is one is known: equal operands have equal results.
 * @param operands keys of the operands
 */
export function appliedSymbol(name: string, operands: readonly string[], label: string, type?: string): HostSymbol {
  const whole = `${name}(${operands.join()})`;
  const typed = type === undefined ? {} : { type };
  if (whole.length <= longestId) return { id: whole, label, ...typed };
  // The symbols in the operands stay visible.
  const leaves = [...new Set([...whole.matchAll(/‹[^‹›]+›/g)].map(([leaf]) => leaf))].sort();
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 32);
  return { id: `${name} ${digest} of ${leaves.join()}`, label, ...typed };
}

/** The term of a symbol. */
export function symbolTerm(symbol: HostSymbol): HostTerm {
  return { kind: 'symbol', symbol };
}

/** The number that a term is; undefined if it is not constant. */
export function termConstant(term: HostTerm): bigint | undefined {
  return term.kind === 'integer' ? term.value : undefined;
}

function termSize(term: HostTerm): number {
  return term.kind === 'integer' || term.kind === 'symbol' ? 1 : term.size;
}

/** Cache of the sizes of conditions, which share their parts: each is computed once. */
const factSizes = new WeakMap<Fact, number>();

function factSize(fact: Fact): number {
  if (fact.kind === 'truth' || fact.kind === 'unknown') return 1;
  if (fact.kind === 'comparison') return termSize(fact.left) + termSize(fact.right) + 1;
  let size = factSizes.get(fact);
  if (size === undefined) {
    size = (fact.kind === 'not' ? factSize(fact.operand) : factSize(fact.left) + factSize(fact.right)) + 1;
    factSizes.set(fact, size);
  }
  return size;
}

/** Whether a condition exceeds the size that launches need. */
export function isLarge(fact: Fact): boolean {
  return factSize(fact) > largestTerm;
}

/** The keys of terms and conditions, which share their parts. */
const knownKeys = new WeakMap<HostTerm | Fact, string>();

function keyed<Of extends HostTerm | Fact>(of: Of, make: (of: Of) => string): string {
  let key = knownKeys.get(of);
  if (key === undefined) knownKeys.set(of, (key = make(of)));
  return key;
}

/** A key that is equal for equal terms. */
export function termKey(term: HostTerm): string {
  switch (term.kind) {
    case 'integer':
      return String(term.value);
    case 'symbol':
      return `‹${term.symbol.id}›`;
    case 'arithmetic':
      return keyed(term, ({ left, operator, right }) => `(${termKey(left)}${operator}${termKey(right)})`);
    case 'choice':
      return keyed(term, ({ condition, then, otherwise }) => `(${factKey(condition)}?${termKey(then)}:${termKey(otherwise)})`);
  }
}

/** A key that is equal for equal conditions. */
export function factKey(fact: Fact): string {
  return keyed(fact, keyOfFact);
}

function keyOfFact(fact: Fact): string {
  switch (fact.kind) {
    case 'truth':
      return String(fact.value);
    case 'comparison':
      return `${termKey(fact.left)}${fact.operator}${termKey(fact.right)}`;
    case 'and':
    case 'or':
      return `(${factKey(fact.left)} ${fact.kind} ${factKey(fact.right)})`;
    case 'not':
      return `!${factKey(fact.operand)}`;
    case 'unknown':
      return `?‹${fact.id}›`;
  }
}

/** Whether two terms are equal. Their keys would be equal too, but terms share subterms, and keys do not. */
export function isSame(a: HostTerm, b: HostTerm): boolean {
  if (a === b) return true;
  if (a.kind === 'integer') return b.kind === 'integer' && a.value === b.value;
  if (a.kind === 'symbol') return b.kind === 'symbol' && a.symbol.id === b.symbol.id;
  if (a.kind === 'arithmetic')
    return b.kind === 'arithmetic' && a.size === b.size && a.operator === b.operator && isSame(a.left, b.left) && isSame(a.right, b.right);
  return (
    b.kind === 'choice' &&
    a.size === b.size &&
    isSame(a.then, b.then) &&
    isSame(a.otherwise, b.otherwise) &&
    isSameFact(a.condition, b.condition)
  );
}

/** Whether two conditions are the same. */
export function isSameFact(a: Fact, b: Fact): boolean {
  if (a === b) return true;
  switch (a.kind) {
    case 'truth':
      return b.kind === 'truth' && a.value === b.value;
    case 'unknown':
      return b.kind === 'unknown' && a.id === b.id;
    case 'not':
      return b.kind === 'not' && isSameFact(a.operand, b.operand);
    case 'comparison':
      return b.kind === 'comparison' && a.operator === b.operator && isSame(a.left, b.left) && isSame(a.right, b.right);
    case 'and':
    case 'or':
      return b.kind === a.kind && factSize(a) === factSize(b) && isSameFact(a.left, b.left) && isSameFact(a.right, b.right);
  }
}

/**
 * An operation of C on two integers, simplified.
 * @returns null if it has no value or is too large: a division by zero, a shift amount out of range
 */
export function arithmetic(operator: ArithmeticOperator, left: HostTerm, right: HostTerm): HostTerm | null {
  const [a, b] = [termConstant(left), termConstant(right)];
  if (a !== undefined && b !== undefined) {
    const value = folded(operator, a, b);
    return value === undefined ? null : integer(value);
  }
  if (b === 0n && (operator === '/' || operator === '%')) return null;
  const simple = simplified(operator, left, right, a, b);
  if (simple) return simple;
  const size = termSize(left) + termSize(right) + 1;
  return size > largestTerm ? null : { kind: 'arithmetic', operator, left, right, size };
}

function folded(operator: ArithmeticOperator, a: bigint, b: bigint): bigint | undefined {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0n ? undefined : a / b;
    case '%':
      return b === 0n ? undefined : a % b;
    case '<<':
      return b < 0n || b > 62n ? undefined : a << b;
    case '&':
      return a & b;
    case '|':
      return a | b;
  }
}

function simplified(
  operator: ArithmeticOperator,
  left: HostTerm,
  right: HostTerm,
  a: bigint | undefined,
  b: bigint | undefined,
): HostTerm | null {
  switch (operator) {
    case '+': {
      if (a === 0n) return right;
      if (b === 0n) return left;
      if (a !== undefined) return arithmetic('+', right, left);
      if (left.kind === 'arithmetic' && b !== undefined) {
        const inner = termConstant(left.right);
        if (left.operator === '+' && inner !== undefined) return arithmetic('+', left.left, integer(inner + b));
        if (left.operator === '-' && inner !== undefined) return arithmetic('+', left.left, integer(b - inner));
      }
      return roundedUp(left, right) ?? roundedUp(right, left);
    }
    case '-': {
      if (b !== undefined) return arithmetic('+', left, integer(-b));
      if (isSame(left, right)) return zeroTerm;
      // (a + b) - a
      if (left.kind === 'arithmetic' && left.operator === '+') {
        if (isSame(left.left, right)) return left.right;
        if (isSame(left.right, right)) return left.left;
      }
      return null;
    }
    case '*': {
      if (a === 0n || b === 0n) return zeroTerm;
      if (a === 1n) return right;
      if (b === 1n) return left;
      if (a !== undefined) return arithmetic('*', right, left);
      if (b !== undefined && left.kind === 'arithmetic' && left.operator === '*') {
        const inner = termConstant(left.right);
        if (inner !== undefined) return arithmetic('*', left.left, integer(inner * b));
      }
      return null;
    }
    case '/': {
      if (b === 1n) return left;
      if (a === 0n) return zeroTerm;
      if (isSame(left, right)) return one;
      if (left.kind !== 'arithmetic') return null;
      const inner = termConstant(left.right);
      if (b !== undefined && inner !== undefined) {
        if (left.operator === '*' && inner % b === 0n) return arithmetic('*', left.left, integer(inner / b));
        if (left.operator === '*' && inner > 0n && b % inner === 0n) return arithmetic('/', left.left, integer(b / inner));
        if (left.operator === '/' && inner > 0n && b > 0n) return arithmetic('/', left.left, integer(inner * b));
      }
      if (left.operator === '*' && isSame(left.right, right)) return left.left;
      if (left.operator === '*' && isSame(left.left, right)) return left.right;
      return null;
    }
    case '%':
      if (b === 1n || a === 0n) return zeroTerm;
      return null;
    case '<<':
      return b !== undefined && b >= 0n && b <= 62n ? arithmetic('*', left, integer(1n << b)) : null;
    case '&':
      return a === 0n || b === 0n ? zeroTerm : null;
    case '|':
      return a === 0n ? right : b === 0n ? left : null;
  }
}

/** `n / b + (n % b != 0)` equals `(n + b - 1) / b`. */
function roundedUp(quotient: HostTerm, added: HostTerm): HostTerm | null {
  if (quotient.kind !== 'arithmetic' || quotient.operator !== '/' || added.kind !== 'choice') return null;
  const { condition, then, otherwise } = added;
  const isRest = restOf(condition, quotient);
  const [some, none] = isRest === true ? [then, otherwise] : isRest === false ? [otherwise, then] : [];
  if (!some || !none || termConstant(some) !== 1n || termConstant(none) !== 0n) return null;
  return dividedUp(quotient.left, quotient.right);
}

/** `ceil(a / b)` of numbers that are not negative: `(a + b - 1) / b`. */
export function dividedUp(a: HostTerm, b: HostTerm): HostTerm | null {
  const less = arithmetic('-', b, one);
  const sum = less && arithmetic('+', a, less);
  return sum && arithmetic('/', sum, b);
}

/** Whether a condition implies that a division has a remainder (true) or none (false); undefined if neither. */
function restOf(condition: Fact, quotient: HostTerm): boolean | undefined {
  if (condition.kind === 'not') {
    const inner = restOf(condition.operand, quotient);
    return inner === undefined ? undefined : !inner;
  }
  if (condition.kind !== 'comparison' || quotient.kind !== 'arithmetic') return undefined;
  const { left, right, operator } = condition;
  const isOfIt =
    left.kind === 'arithmetic' &&
    left.operator === '%' &&
    isSame(left.left, quotient.left) &&
    isSame(left.right, quotient.right) &&
    termConstant(right) === 0n;
  if (!isOfIt) return undefined;
  if (operator === '!=' || operator === '>') return true;
  return operator === '==' || operator === '<=' ? false : undefined;
}

/** A choice between two integers by a condition. */
export function choice(condition: Fact, then: HostTerm, otherwise: HostTerm): HostTerm | null {
  if (condition.kind === 'truth') return condition.value ? then : otherwise;
  if (isSame(then, otherwise)) return then;
  if (condition.kind === 'not') return choice(condition.operand, otherwise, then);
  // `n % b == 0 ? n / b : n / b + 1`
  for (const [low, high, isRest] of [
    [otherwise, then, true],
    [then, otherwise, false],
  ] as const) {
    const isNext = high.kind === 'arithmetic' && high.operator === '+' && termConstant(high.right) === 1n;
    if (isNext && isSame(high.left, low) && restOf(condition, low) === isRest && low.kind === 'arithmetic')
      return dividedUp(low.left, low.right);
  }
  const size = termSize(then) + termSize(otherwise) + factSize(condition) + 1;
  return size > largestTerm ? null : { kind: 'choice', condition, then, otherwise, size };
}

/** A condition that is always true, or always false. */
export function truth(value: boolean): Fact {
  return { kind: 'truth', value };
}

const opposite = { '<': '>=', '>': '<=', '<=': '>', '>=': '<', '==': '!=', '!=': '==' } as const;

/** The opposite of a condition. */
export function negatedFact(fact: Fact): Fact {
  switch (fact.kind) {
    case 'truth':
      return truth(!fact.value);
    case 'not':
      return fact.operand;
    case 'comparison':
      return { ...fact, operator: opposite[fact.operator] };
    case 'and':
    case 'or':
      return { kind: fact.kind === 'and' ? 'or' : 'and', left: negatedFact(fact.left), right: negatedFact(fact.right) };
    case 'unknown':
      return { kind: 'not', operand: fact };
  }
}

/** A comparison; constant if it is decidable. */
export function compared(operator: ComparisonOperator, left: HostTerm, right: HostTerm): Fact {
  const [a, b] = [termConstant(left), termConstant(right)];
  if (a !== undefined && b !== undefined) {
    switch (operator) {
      case '==':
        return truth(a === b);
      case '!=':
        return truth(a !== b);
      case '<':
        return truth(a < b);
      case '<=':
        return truth(a <= b);
      case '>':
        return truth(a > b);
      case '>=':
        return truth(a >= b);
    }
  }
  if (isSame(left, right)) return truth(operator === '==' || operator === '<=' || operator === '>=');
  // A comparison with a choice between two numbers is decided by the condition of the choice, if the comparison is
  // decided for each of the two numbers.
  if (left.kind === 'choice' && b !== undefined) {
    const [then, otherwise] = [compared(operator, left.then, right), compared(operator, left.otherwise, right)];
    if (then.kind === 'truth' && otherwise.kind === 'truth') {
      if (then.value === otherwise.value) return then;
      return then.value ? left.condition : negatedFact(left.condition);
    }
  }
  return { kind: 'comparison', operator, left, right };
}

/** The conjunction or disjunction of two conditions. */
export function joinedFact(kind: 'and' | 'or', left: Fact, right: Fact): Fact {
  const decisive = kind === 'or';
  if (left.kind === 'truth') return left.value === decisive ? left : right;
  if (right.kind === 'truth') return right.value === decisive ? right : left;
  return { kind, left, right };
}

/** The symbols in a term, in the order of their first use. */
export function symbolsOf(term: HostTerm, found = new Map<string, HostSymbol>()): Map<string, HostSymbol> {
  switch (term.kind) {
    case 'integer':
      break;
    case 'symbol':
      found.set(term.symbol.id, term.symbol);
      break;
    case 'arithmetic':
      symbolsOf(term.left, found);
      symbolsOf(term.right, found);
      break;
    case 'choice':
      symbolsOfFact(term.condition, found);
      symbolsOf(term.then, found);
      symbolsOf(term.otherwise, found);
  }
  return found;
}

function symbolsOfFact(fact: Fact, found: Map<string, HostSymbol>): void {
  if (fact.kind === 'comparison') {
    symbolsOf(fact.left, found);
    symbolsOf(fact.right, found);
  } else if (fact.kind === 'and' || fact.kind === 'or') {
    symbolsOfFact(fact.left, found);
    symbolsOfFact(fact.right, found);
  } else if (fact.kind === 'not') symbolsOfFact(fact.operand, found);
}

/** A value that a term has under a condition. */
interface Case {
  readonly facts: readonly Fact[];
  readonly term: HostTerm;
}

/**
 * The values of a term without choices in them, each with the conditions under which the term has it.
 * @returns null if there are more than `most`
 */
export function casesOf(term: HostTerm, most: number): readonly Case[] | null {
  switch (term.kind) {
    case 'integer':
    case 'symbol':
      return [{ facts: [], term }];
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
  }
}
