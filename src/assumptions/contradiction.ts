/** Whether conditions of a path exclude each other. */
import { type Fact, type HostTerm, termConstant } from './expression.ts';
import { type ComparisonOperator, mirroredOperators } from './operators.ts';
import { printExpression } from './print-assumption.ts';
import { negatedFact } from './simplify.ts';

interface Range {
  low: bigint | null;
  high: bigint | null;
  readonly excluded: Set<bigint>;
}

/**
 * Whether no values satisfy all conditions, as far as comparisons of a term with numbers show.
 * @param facts all of them hold
 */
export function isContradictory(facts: readonly Fact[]): boolean {
  const ranges = new Map<string, Range>();
  return facts.some((fact) => contradicts(fact, ranges));
}

function contradicts(fact: Fact, ranges: Map<string, Range>): boolean {
  switch (fact.kind) {
    case 'truth':
      return !fact.value;
    case 'and':
      return contradicts(fact.left, ranges) || contradicts(fact.right, ranges);
    case 'not': {
      const negated = negatedFact(fact.operand);
      return negated.kind !== 'not' && contradicts(negated, ranges);
    }
    case 'comparison':
      return narrowed(fact, ranges);
    case 'or':
    case 'unknown':
      return false;
  }
}

function narrowed({ operator, left, right }: Fact & { kind: 'comparison' }, ranges: Map<string, Range>): boolean {
  const [a, b] = [termConstant(left), termConstant(right)];
  if (b !== undefined) return narrow(left, operator, b, ranges);
  return a !== undefined && narrow(right, mirroredOperators[operator], a, ranges);
}

function narrow(term: HostTerm, operator: ComparisonOperator, value: bigint, ranges: Map<string, Range>): boolean {
  // `n + 2 > 5` is a condition on `n`.
  if (term.kind === 'arithmetic' && term.operator === '+') {
    const by = termConstant(term.right);
    if (by !== undefined) return narrow(term.left, operator, value - by, ranges);
  }
  const key = printExpression(term);
  const range: Range = ranges.get(key) ?? { low: null, high: null, excluded: new Set<bigint>() };
  ranges.set(key, range);
  const atLeast = (low: bigint): void => void (range.low = range.low === null || low > range.low ? low : range.low);
  const atMost = (high: bigint): void => void (range.high = range.high === null || high < range.high ? high : range.high);
  if (operator === '>' || operator === '>=' || operator === '==') atLeast(operator === '>' ? value + 1n : value);
  if (operator === '<' || operator === '<=' || operator === '==') atMost(operator === '<' ? value - 1n : value);
  if (operator === '!=') range.excluded.add(value);
  const { low, high, excluded } = range;
  const values = valuesOfShift(term);
  if (values && high !== null) return values.every((one) => one > high || (low !== null && one < low) || excluded.has(one));
  if (low === null || high === null) return false;
  return low > high || (low === high && excluded.has(low));
}

/** All values of a shift of a positive constant: `1 << p` is a power of two. Null for other terms. */
function valuesOfShift(term: HostTerm): readonly bigint[] | null {
  if (term.kind !== 'arithmetic' || term.operator !== '<<') return null;
  const shifted = termConstant(term.left);
  return shifted !== undefined && shifted > 0n ? Array.from({ length: 64 }, (_, by) => shifted << BigInt(by)) : null;
}
