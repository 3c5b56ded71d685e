/** Terms and conditions of a host program over the names of a launch, as its kernel sees them. */
import {
  type NumberComparison,
  type Condition,
  type Fact,
  type HostTerm,
  type IntegerExpression,
  comparison,
  equalsOneOf,
  integer,
  operation,
  termConstant,
} from './expression.ts';
import { isClosed } from './parts.ts';
import { printExpression } from './print-assumption.ts';
import { arithmetic } from './simplify.ts';

/** Expressions over names of the launch for values of the program, by the text of the term. */
export type NamesOfTerms = ReadonlyMap<string, IntegerExpression>;

/** Names of values of the program: parameters, their fields, dimensions. The first name of a value is used. */
export function namesOfTerms(named: readonly (readonly [HostTerm | null, IntegerExpression])[]): NamesOfTerms {
  const names = new Map<string, IntegerExpression>();
  for (const [term, name] of named) {
    const key = term && !isClosed(term) ? printExpression(term) : undefined;
    if (key !== undefined && !names.has(key)) names.set(key, name);
  }
  // The symbol `n` of `k<<<…>>>(a, n / 4)` is expressed by the argument, if the argument can be inverted.
  for (const [term, name] of named) {
    const [part, value] = (term && inverse(term, name)) ?? [];
    if (part && value && !names.has(printExpression(part))) names.set(printExpression(part), value);
  }
  return names;
}

/** Solves `symbol * a + b == value` for the symbol. */
function inverse(term: HostTerm, value: IntegerExpression): readonly [HostTerm, IntegerExpression] | null {
  if (term.kind === 'symbol' || term.kind === 'choice') return [term, value];
  const constant = term.kind === 'arithmetic' && term.right.kind === 'integer' ? term.right : null;
  if (term.kind !== 'arithmetic' || !constant) return null;
  if (term.operator === '+') return inverse(term.left, operation('-', value, constant));
  return term.operator === '*' && constant.value !== 0n ? inverse(term.left, operation('/', value, constant)) : null;
}

/**
 * A term over names; null if a part of it has none.
 * @param except the text of a term that is not expressed by its name
 */
export function renamed(term: HostTerm, names: NamesOfTerms, except?: string): IntegerExpression | null {
  const key = printExpression(term);
  const own = key === except ? undefined : names.get(key);
  if (own) return own;
  if (term.kind === 'integer') return term;
  if (term.kind !== 'arithmetic') return null;
  const { operator } = term;
  const [left, right] = [renamed(term.left, names), renamed(term.right, names)];
  if (!left && operator === '/') return quotientOfQuotient(term.left, termConstant(term.right), names);
  if (!left || !right) return null;
  return operator === '+' && right.kind === 'integer' && right.value < 0n
    ? operation('-', left, integer(-right.value))
    : operation(operator, left, right);
}

/** Maximum factor of a divisor that is tried. */
const maxFactors = 4096n;

/** `m / 512` for `n / 1024`, if an argument `m` is `n / 2`. */
function quotientOfQuotient(dividend: HostTerm, divisor: bigint | undefined, names: NamesOfTerms): IntegerExpression | null {
  for (let factor = 2n; divisor !== undefined && factor <= maxFactors && 2n * factor <= divisor; factor++) {
    if (divisor % factor !== 0n) continue;
    const part = arithmetic('/', dividend, integer(divisor / factor));
    const left = part && names.get(printExpression(part));
    if (left) return operation('/', left, integer(factor));
  }
  return null;
}

/** A condition over names; null if it is trivial, or a part of it has no name. */
export function renamedFact(fact: Fact, names: NamesOfTerms): Condition | null {
  switch (fact.kind) {
    case 'comparison': {
      const [left, right] = [renamed(fact.left, names), renamed(fact.right, names)];
      if (!left || !right || (left.kind === 'integer' && right.kind === 'integer')) return null;
      return undivided(comparison(left, fact.operator, right));
    }
    case 'and':
    case 'or': {
      const [left, right] = [renamedFact(fact.left, names), renamedFact(fact.right, names)];
      return left && right && { kind: fact.kind, left, right };
    }
    case 'not': {
      const operand = renamedFact(fact.operand, names);
      return operand && { kind: 'not', operand };
    }
    case 'truth':
    case 'unknown':
      return null;
  }
}

/** A bound of a name itself, which is more useful to a check: `gridDim.x <= 131071` for `gridDim.x / 2 <= 65535`. */
function undivided(condition: NumberComparison): NumberComparison {
  const { operator, left, right } = condition;
  if (left.kind !== 'arithmetic' || left.operator !== '/' || right.kind !== 'integer') return condition;
  const by = termConstant(left.right) ?? 0n;
  if (by <= 0n || right.value < 1n) return condition;
  const whole = right.value * by;
  const of = (limit: bigint): NumberComparison => undivided(comparison(left.left, operator, integer(limit)));
  switch (operator) {
    case '<':
    case '>=':
      return of(whole);
    case '<=':
    case '>':
      return of(whole + by - 1n);
    default:
      return condition;
  }
}

/** Maximum number of values of one argument that are listed. */
const maxValues = 8;

/** `dir == 1 || dir == 0` for the argument `dir != 0`: a choice between numbers. Null for other terms. */
export function valuesOfChoice(name: IntegerExpression, term: HostTerm): Condition | null {
  const values = new Set<bigint>();
  const isKnown = (part: HostTerm): boolean => {
    if (part.kind === 'integer') values.add(part.value);
    return part.kind === 'integer' || (part.kind === 'choice' && isKnown(part.then) && isKnown(part.otherwise));
  };
  if (!isKnown(term) || values.size < 2 || values.size > maxValues) return null;
  // Larger numbers do not fit in every type.
  return [...values].every((value) => value >= 0n && value <= 127n) ? equalsOneOf(name, [...values]) : null;
}

/** Whether an expression is positive if its names are: a sum or product of names and positive numbers. */
export function isPositive(expression: IntegerExpression): boolean {
  switch (expression.kind) {
    case 'integer':
      return expression.value > 0n;
    case 'parameter':
    case 'dimension':
      return true;
    case 'arithmetic': {
      const { operator, left, right } = expression;
      return (operator === '+' || operator === '*') && isPositive(left) && isPositive(right);
    }
  }
}
