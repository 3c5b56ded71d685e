/** The user's assumptions as bit-vector formulas, including those with bit masks. */
import { constantOf } from '../../assumptions/evaluate.ts';
import type { NumberComparison, IntegerExpression, LaunchName } from '../../assumptions/expression.ts';
import { shiftLimit } from '../../assumptions/operators.ts';
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
export type BitVocabulary = (name: LaunchName) => BitValue | null;

/** Limit on the width of intermediate results; an assumption with wider ones is not used. */
const maxBits = 160;

/** A comparison as a formula; null if it has no such form. */
export function encodeBitComparison({ operator, left, right }: NumberComparison, vocabulary: BitVocabulary): string | null {
  const a = encode(left, vocabulary);
  const b = encode(right, vocabulary);
  if (a === null || b === null) return null;
  switch (operator) {
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

function encode(expression: IntegerExpression, vocabulary: BitVocabulary): BitValue | null {
  const known = constantOf(expression);
  if (known !== undefined) return constantBits(known);
  switch (expression.kind) {
    case 'parameter':
    case 'dimension':
      return vocabulary(expression);
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
    case 'integer':
      return constantBits(expression.value);
  }
}
