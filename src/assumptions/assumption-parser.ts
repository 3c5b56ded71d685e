/** The parser of the language: comparisons and arithmetic over names of a launch, and predicates of arrays. */
import { warpSize } from '../device/hardware-limits.ts';
import { nearest } from '../base/nearest.ts';
import { constantOf } from './evaluate.ts';
import {
  type AssumptionExpression,
  type Condition,
  type IntegerExpression,
  comparison,
  dimension,
  integer,
  negative,
  operation,
} from './expression.ts';
import { type ArithmeticOperator, type ComparisonOperator, precedences, resultOf, shiftLimit } from './operators.ts';
import { printExpression } from './print-assumption.ts';

type ParsedAssumption =
  | { readonly expression: AssumptionExpression }
  /** `column` counts from 1. */
  | { readonly error: string; readonly column: number };

interface Token {
  readonly text: string;
  readonly kind: 'integer' | 'name' | 'operator' | 'end';
  readonly column: number;
}

type Value =
  | { readonly is: 'expression'; readonly node: IntegerExpression; readonly column: number; readonly bare: boolean }
  | { readonly is: 'condition'; readonly node: Condition; readonly column: number; readonly bare: boolean };

class Refusal extends Error {
  readonly column: number;
  constructor(message: string, column: number) {
    super(message);
    this.column = column;
  }
}

const comparisons: ReadonlySet<string> = new Set<ComparisonOperator>(['==', '!=', '<', '<=', '>', '>=']);
const predicates = ['distinct', 'apart', 'extent'];
const maximumLength = 2000;
const maximumDepth = 100;

/**
 * Parses an assumption: `n % 32 == 0`, `distinct(A)`, `A[*] in 0..n - 1` (both ends included), `apart(A, B)`,
 * `apart(A[*])`, `extent(A) >= n`.
 * @param text - without the option, key or `assume(…)` around it
 * @returns the expression, or the error and its column
 */
export function parseAssumption(text: string): ParsedAssumption {
  if (text.length > maximumLength) return { error: `is longer than ${maximumLength} characters`, column: maximumLength };
  try {
    return { expression: parse(tokenize(text)) };
  } catch (refusal) {
    if (refusal instanceof Refusal) return { error: refusal.message, column: refusal.column };
    throw refusal;
  }
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /\s+|(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]{0,3})(?!\w|\.\d)|([A-Za-z_]\w*)|(\|\||&&|==|!=|<=|>=|<<|\.\.|[-+*/%&|!<>()[\].,])/y;
  while (pattern.lastIndex < text.length) {
    const column = pattern.lastIndex + 1;
    const match = pattern.exec(text);
    if (!match) {
      const rest = text.slice(column - 1);
      const number = /^[\d.]\w*(?:\.\w+)?/.exec(rest)?.[0];
      const symbol = /^(?:::|[=^~?])/.exec(rest)?.[0] ?? [...rest][0] ?? '';
      const what = number === undefined ? `"${symbol}"` : `the number ${number}`;
      const remedy = symbol === '=' ? '; write == to compare' : '';
      throw new Refusal(`${what} is not part of the assumption language${remedy}`, column);
    }
    const [whole, integer, , name, operator] = match;
    if (whole === '-' && text[column] === '>') {
      throw new Refusal('"->" is not part of the assumption language; write p.n for a field', column);
    }
    if (whole.startsWith('>') && text[column] === '>') {
      throw new Refusal('">>" is not part of the assumption language; divide by a power of two', column);
    }
    if (integer !== undefined) {
      if (/^0\d/.test(integer)) throw new Refusal(`the number ${integer} starts with 0: C reads it as octal`, column);
      tokens.push({ kind: 'integer', text: integer, column });
    } else if (name !== undefined) tokens.push({ kind: 'name', text: name, column });
    else if (operator !== undefined) tokens.push({ kind: 'operator', text: operator, column });
  }
  tokens.push({ kind: 'end', text: '', column: text.trimEnd().length + 1 });
  return tokens;
}

function parse(tokens: readonly Token[]): AssumptionExpression {
  let position = 0;
  let depth = 0;
  const end = tokens.at(-1) ?? { kind: 'end', text: '', column: 1 };
  const peek = (ahead = 0): Token => tokens[position + ahead] ?? end;
  const next = (): Token => tokens[position++] ?? end;
  const quoted = (token: Token): string => (token.kind === 'end' ? 'the end' : `"${token.text}"`);
  const expect = (text: string): void => {
    const token = next();
    if (token.text !== text) throw new Refusal(`expected "${text}" before ${quoted(token)}`, token.column);
  };

  const asExpression = (value: Value): IntegerExpression => {
    if (value.is === 'expression') return value.node;
    throw new Refusal('a comparison is not a number', value.column);
  };
  const asCondition = (value: Value): Condition => {
    if (value.is === 'condition') return value.node;
    throw new Refusal(`${printExpression(value.node)} is a number, not a condition; compare it with something`, value.column);
  };

  const primary = (): Value => {
    const token = next();
    const { column } = token;
    if (token.kind === 'integer') {
      return { is: 'expression', node: integer(BigInt(token.text)), column, bare: false };
    }
    if (token.kind === 'name') return { is: 'expression', node: named(token), column, bare: false };
    if (token.text === '(') {
      const inner = binary(1);
      expect(')');
      return { ...inner, column, bare: false };
    }
    if (token.text === '-') {
      const operand = asExpression(unary());
      return { is: 'expression', node: negative(operand), column, bare: false };
    }
    if (token.text === '!') {
      const operand = asCondition(unary());
      return { is: 'condition', node: { kind: 'not', operand }, column, bare: false };
    }
    throw new Refusal(`expected a number, a parameter or a condition before ${quoted(token)}`, column);
  };
  const unary = (): Value => {
    if (++depth > maximumDepth) throw new Refusal('the expression is nested too deeply', peek().column);
    const value = primary();
    depth--;
    return value;
  };

  const named = (token: Token): IntegerExpression => {
    if (token.text === 'warpSize') return { ...integer(warpSize), text: 'warpSize' };
    if (token.text === 'threadIdx' || token.text === 'blockIdx') {
      throw new Refusal(`${token.text} differs between threads; an assumption holds for the whole launch`, token.column);
    }
    if (token.text === 'true' || token.text === 'false') {
      throw new Refusal(`"${token.text}" is not part of the assumption language; write a comparison`, token.column);
    }
    if (predicates.includes(token.text) && peek().text === '(') {
      throw new Refusal(`${token.text}(…) cannot be part of a larger condition; state it as a separate assumption`, token.column);
    }
    if (peek().text === '(') {
      const known = nearest(token.text, predicates);
      const hint = known === undefined ? '' : `; did you mean ${known}?`;
      throw new Refusal(`${token.text}(…) is not part of the assumption language${hint}`, token.column);
    }
    if (peek().text === '[') {
      throw new Refusal(`write ${token.text}[*] in lo..hi as a separate assumption to state the range of the elements`, peek().column);
    }
    if (token.text === 'blockDim' || token.text === 'gridDim') {
      const axis = peek().text === '.' ? ['x', 'y', 'z'].indexOf(peek(1).text) : -1;
      if (axis < 0) {
        throw new Refusal(`${token.text} has three components; write ${token.text}.x, .y or .z`, token.column);
      }
      position += 2;
      return dimension(token.text, axis);
    }
    return { kind: 'parameter', path: path(token) };
  };
  /** The indices of an element of a member array, `[2]`. */
  const elements = (): string => {
    let text = '';
    while (peek().text === '[' && peek(1).kind === 'integer' && peek(2).text === ']') {
      text += `[${BigInt(peek(1).text)}]`;
      position += 3;
    }
    return text;
  };
  const path = (first: Token): string[] => {
    const names = [first.text];
    while (peek().text === '.') {
      next();
      const field = next();
      if (field.kind !== 'name') throw new Refusal(`expected the name of a field before ${quoted(field)}`, field.column);
      names.push(field.text + elements());
    }
    return names;
  };

  const binary = (minimum: number): Value => {
    let left = unary();
    for (;;) {
      const operator = peek();
      const level = operator.kind === 'operator' ? precedences[operator.text] : undefined;
      if (level === undefined || level < minimum) return left;
      next();
      const right = binary(level + 1);
      left = combine(operator, left, right);
    }
  };
  const combine = (operator: Token, left: Value, right: Value): Value => {
    const { column } = left;
    if (operator.text === '&&' || operator.text === '||') {
      const kind = operator.text === '&&' ? 'and' : 'or';
      return { is: 'condition', node: { kind, left: asCondition(left), right: asCondition(right) }, column, bare: true };
    }
    if (comparisons.has(operator.text)) {
      for (const side of [left, right]) {
        if (side.is === 'condition') {
          throw new Refusal('comparisons do not chain; join them with &&', side === left ? operator.column : side.column);
        }
        if (side.bare) {
          const text = printExpression(side.node);
          throw new Refusal(`put parentheses around ${text}: C would compare first`, side.column);
        }
      }
      const node = comparison(asExpression(left), operator.text as ComparisonOperator, asExpression(right));
      return { is: 'condition', node, column, bare: true };
    }
    const [dividend, by] = [asExpression(left), asExpression(right)];
    const problem = problemOfOperand(operator.text as ArithmeticOperator, by);
    if (problem !== null) throw new Refusal(problem, right.column);
    const node = operation(operator.text as ArithmeticOperator, dividend, by);
    return { is: 'expression', node, column, bare: operator.text === '&' || operator.text === '|' };
  };

  const arrayName = (): string => {
    const token = next();
    if (token.kind !== 'name') throw new Refusal(`expected the name of an array before ${quoted(token)}`, token.column);
    return path(token).join('.');
  };
  const bound = (): IntegerExpression => asExpression(binary(precedences['|'] ?? 0));

  const statement = (): AssumptionExpression => {
    const first = peek();
    if (first.kind === 'end') throw new Refusal('the assumption is empty', first.column);
    if (first.kind === 'name' && predicates.includes(first.text) && peek(1).text === '(') {
      position += 2;
      const array = arrayName();
      if (first.text === 'apart' && peek().text === '[') {
        for (const text of ['[', '*', ']', ')']) expect(text);
        return { kind: 'pointers-apart', array };
      }
      if (first.text === 'apart') {
        expect(',');
        const second = arrayName();
        expect(')');
        return { kind: 'apart', first: array, second };
      }
      expect(')');
      if (first.text === 'distinct') return { kind: 'distinct', array };
      expect('>=');
      return { kind: 'extent', array, atLeast: bound() };
    }
    let ahead = 1;
    while (peek(ahead).text === '.' && peek(ahead + 1).kind === 'name') ahead += 2;
    if (first.kind === 'name' && peek(ahead).text === '[' && peek(ahead + 1).text === '*') {
      const array = arrayName();
      expect('[');
      expect('*');
      expect(']');
      expect('in');
      const low = bound();
      expect('..');
      return { kind: 'elements', array, low, high: bound() };
    }
    return { kind: 'condition', condition: asCondition(binary(1)) };
  };

  const result = statement();
  const rest = peek();
  if (rest.kind !== 'end') {
    const joined = result.kind !== 'condition' && /^(?:&&|\|\|)$/.test(rest.text);
    throw new Refusal(
      joined ? `this form cannot be joined with "${rest.text}"; state two separate assumptions` : `${quoted(rest)} is not expected here`,
      rest.column,
    );
  }
  return result;
}

/** Why an operation with this right operand has no value in any execution; null if it has one in some execution. */
function problemOfOperand(operator: ArithmeticOperator, right: IntegerExpression): string | null {
  const operand = constantOf(right);
  if (operand === undefined || resultOf(operator, 1n, operand) !== undefined) return null;
  const written = printExpression(right);
  const text = written === String(operand) ? written : `${written}, which is ${operand}`;
  if (operator === '<<') return `"<<" has no value for a shift by ${text}; write 0 to ${shiftLimit - 1n}`;
  return `"${operator}" has no value for the divisor ${text}; write another divisor`;
}
