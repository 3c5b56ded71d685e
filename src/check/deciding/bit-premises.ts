/** The user's assumptions as bit-vector formulas, including those with bit masks. */
import type { Condition, IntegerExpression } from '../../cuda/assumptions/assumption.ts';
import { evaluateExpression, shiftLimit } from '../../cuda/assumptions/evaluate-assumption.ts';
import {
  type BitValue,
  addBits,
  atMostBits,
  bitsOf,
  combineBits,
  constantBits,
  divideBits,
  equalBits,
  lessBits,
  multiplyBits,
} from './bit-value.ts';

/** The bit-vector that a name in an assumption denotes; null if the name is not a usable scalar. */
export type BitVocabulary = (name: Extract<IntegerExpression, { kind: 'parameter' | 'dimension' }>) => BitValue | null;

/** Limit on the width of intermediate results; an assumption with wider ones is not used. */
const maxBits = 160;

/**
 * A condition as a formula; null if it has no such form. The condition is then not used, which is weaker but still
 * sound.
 */
export function encodeBitCondition(condition: Condition, vocabulary: BitVocabulary): string | null {
  switch (condition.kind) {
    case 'comparison': {
      const a = encode(condition.left, vocabulary);
      const b = encode(condition.right, vocabulary);
      if (a === null || b === null) return null;
      switch (condition.operator) {
        case '<':
          return lessBits(a, b);
        case '<=':
          return atMostBits(a, b);
        case '>':
          return lessBits(b, a);
        case '>=':
          return atMostBits(b, a);
        case '==':
          return equalBits(a, b);
        case '!=':
          return `(not ${equalBits(a, b)})`;
      }
    }
    case 'not': {
      const inner = encodeBitCondition(condition.operand, vocabulary);
      return inner === null ? null : `(not ${inner})`;
    }
    case 'and':
    case 'or': {
      const a = encodeBitCondition(condition.left, vocabulary);
      const b = encodeBitCondition(condition.right, vocabulary);
      return a === null || b === null ? null : `(${condition.kind} ${a} ${b})`;
    }
  }
}

function encode(expression: IntegerExpression, vocabulary: BitVocabulary): BitValue | null {
  const known = constantOf(expression);
  if (known !== undefined) return constantBits(known);
  switch (expression.kind) {
    case 'parameter':
    case 'dimension':
      return vocabulary(expression);
    case 'negative': {
      const operand = encode(expression.operand, vocabulary);
      return operand && addBits(0n, [[operand, -1n]]);
    }
    case 'arithmetic': {
      const a = encode(expression.left, vocabulary);
      const b = encode(expression.right, vocabulary);
      if (a === null || b === null || bitsOf(a) + bitsOf(b) > maxBits) return null;
      switch (expression.operator) {
        case '+':
          return addBits(0n, [
            [a, 1n],
            [b, 1n],
          ]);
        case '-':
          return addBits(0n, [
            [a, 1n],
            [b, -1n],
          ]);
        case '*':
          return multiplyBits(a, b);
        case '/':
        case '%':
          if (a.low < 0n || b.low <= 0n) return null;
          return divideBits(expression.operator === '/' ? 'udiv' : 'urem', a, b);
        case '<<': {
          const by = constantOf(expression.right);
          return by === undefined || by < 0n || by >= shiftLimit ? null : addBits(0n, [[a, 1n << by]]);
        }
        case '&':
          return combineBits('and', a, b);
        case '|':
          return combineBits('or', a, b);
      }
    }
    default:
      return null;
  }
}

function constantOf(expression: IntegerExpression): bigint | undefined {
  return evaluateExpression(expression, () => undefined);
}

/** The expression that `(x & (x - 1)) == 0` states to be a power of two, or zero; null for any other condition. */
export function powerOfTwo(condition: Condition): IntegerExpression | null {
  if (condition.kind !== 'comparison' || condition.operator !== '==') return null;
  for (const [mask, zero] of [
    [condition.left, condition.right],
    [condition.right, condition.left],
  ] as const) {
    if (constantOf(zero) !== 0n || mask.kind !== 'arithmetic' || mask.operator !== '&') continue;
    for (const [number, below] of [
      [mask.left, mask.right],
      [mask.right, mask.left],
    ] as const)
      if (below.kind === 'arithmetic' && below.operator === '-' && constantOf(below.right) === 1n && isSameName(below.left, number))
        return number;
  }
  return null;
}

function isSameName(a: IntegerExpression, b: IntegerExpression): boolean {
  if (a.kind === 'parameter' && b.kind === 'parameter') return a.path.join('.') === b.path.join('.');
  return a.kind === 'dimension' && b.kind === 'dimension' && a.name === b.name && a.axis === b.axis;
}
