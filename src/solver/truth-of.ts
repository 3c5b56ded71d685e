/** Values of formulas over integers and truth values. */
import type { SExpression } from './s-expression.ts';

type Value = bigint | boolean;
type Lookup = (name: string) => Value | undefined;

/** The value of a formula for given values of its names; undefined if these do not determine it. */
export type Evaluator = (lookup: Lookup) => Value | undefined;

/** Prepares a formula for repeated evaluation. Unknown operations have no value. */
export function evaluatorOf(expression: SExpression): Evaluator {
  if (typeof expression === 'string') {
    if (expression === 'true' || expression === 'false') return () => expression === 'true';
    if (!/^\d/.test(expression)) return (lookup) => lookup(expression);
    const number = BigInt(expression);
    return () => number;
  }
  const [head, ...rest] = expression;
  const parts = rest.map(evaluatorOf);
  const [a, b, c] = parts as [Evaluator, Evaluator, Evaluator];
  switch (head) {
    case 'and':
      return every(parts);
    case 'or':
      return negated(every(parts.map(negated)));
    case 'not':
      return negated(a);
    case '=>':
      return negated(every([...parts.slice(0, -1), negated(parts.at(-1)!)]));
    case 'ite':
      return (lookup) => {
        const condition = a(lookup);
        return condition === undefined ? undefined : condition ? b(lookup) : c(lookup);
      };
    case 'xor':
      return strict(parts, ([x, y]) => x !== y);
    case '=':
      return strict(parts, (values) => values.every((value) => value === values[0]));
    case '<':
      return strict(
        parts,
        ascends((x, y) => x < y),
      );
    case '<=':
      return strict(
        parts,
        ascends((x, y) => x <= y),
      );
    case '>':
      return strict(
        parts,
        ascends((x, y) => x > y),
      );
    case '>=':
      return strict(
        parts,
        ascends((x, y) => x >= y),
      );
    case '+':
      return strict(parts, (values) => (values as bigint[]).reduce((sum, value) => sum + value, 0n));
    case '-':
      return strict(parts, (values) => {
        const [first, ...others] = values as [bigint, ...bigint[]];
        return others.length === 0 ? -first : others.reduce((left, value) => left - value, first);
      });
    case '*':
      return strict(parts, (values) => (values as bigint[]).reduce((product, value) => product * value, 1n));
    case 'div':
      return strict(parts, ([x, y]) => (y === 0n ? undefined : quotient(x as bigint, y as bigint)));
    case 'mod':
      return strict(parts, ([x, y]) => (y === 0n ? undefined : (x as bigint) - (y as bigint) * quotient(x as bigint, y as bigint)));
    default:
      return () => undefined;
  }
}

function negated(formula: Evaluator): Evaluator {
  return (lookup) => {
    const value = formula(lookup);
    return value === undefined ? undefined : !value;
  };
}

/** The value of a conjunction: false if a part is false, even if others have no value. */
function every(parts: readonly Evaluator[]): Evaluator {
  return (lookup) => {
    let result: boolean | undefined = true;
    for (const part of parts) {
      const value = part(lookup);
      if (value === false) return false;
      if (value === undefined) result = undefined;
    }
    return result;
  };
}

function strict(parts: readonly Evaluator[], of: (values: readonly Value[]) => Value | undefined): Evaluator {
  return (lookup) => {
    const values: Value[] = [];
    for (const part of parts) {
      const value = part(lookup);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return of(values);
  };
}

function ascends(holds: (x: Value, y: Value) => boolean): (values: readonly Value[]) => boolean {
  return (values) => values.every((value, i) => i === 0 || holds(values[i - 1]!, value));
}

/** As SMT-LIB divides integers: the remainder is not negative. */
function quotient(x: bigint, y: bigint): bigint {
  const toZero = x / y;
  if (x >= toZero * y) return toZero;
  return y > 0n ? toZero - 1n : toZero + 1n;
}
