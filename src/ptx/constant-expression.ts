/**
 * Constant expressions (PTX ISA 4.5.4 and 4.5.5): integers of 64 bits, doubles, the operators of C and casts. They are
 * evaluated while they are read, as ptxas does.
 */
import { doubleOf, doublePattern, parseLiteral, type NumberLiteral } from './literal.ts';
import { DIRECTIVE, NAME, NUMBER, type TokenStream } from './lexer.ts';

/** The part of a token stream that is needed here. */
interface Position {
  readonly tokens: TokenStream;
  index: number;
}

/** Why an expression cannot be read, and at which token. */
interface ConstantError {
  readonly kind: 'error';
  readonly message: string;
  readonly index: number;
}

/** Maximum nesting depth of parentheses, signs and branches. */
const MAX_DEPTH = 64;

/** Threads of a warp: the predefined constant `WARP_SZ`. */
const WARP_SIZE = 32n;

const PRECEDENCE = new Map<string, number>([
  ['||', 1],
  ['&&', 2],
  ['|', 3],
  ['^', 4],
  ['&', 5],
  ['==', 6],
  ['!=', 6],
  ['<', 7],
  ['>', 7],
  ['<=', 7],
  ['>=', 7],
  ['<<', 8],
  ['>>', 8],
  ['+', 9],
  ['-', 9],
  ['*', 10],
  ['/', 10],
  ['%', 10],
]);

/** Whether a constant expression may begin here: a number, a sign, `~`, `!`, `(` or `WARP_SZ`. */
export function startsConstant(cursor: Position): boolean {
  const { tokens, index } = cursor;
  switch (tokens.kinds[index]) {
    case NUMBER:
    case 45: // -
    case 43: // +
    case 126: // ~
    case 33: // !
    case 40: // (
      return true;
    case NAME:
      return textAt(tokens, index) === 'WARP_SZ';
    default:
      return false;
  }
}

/** Reads a constant expression at the cursor and leaves the cursor after it; on an error, at the offending token. */
export function parseConstant(cursor: Position): NumberLiteral | ConstantError {
  const { tokens, index } = cursor;
  // Nearly every constant is one literal that a comma, bracket, brace or semicolon follows.
  if (tokens.kinds[index] === NUMBER) {
    const next = tokens.kinds[index + 1]!;
    if (next === 44 || next === 59 || next === 93 || next === 125) return literalAt(cursor);
  }
  return conditional(cursor, 0);
}

function conditional(cursor: Position, depth: number): NumberLiteral | ConstantError {
  const condition = binary(cursor, 1, depth);
  if (condition.kind === 'error' || cursor.tokens.kinds[cursor.index] !== 63 /* ? */) return condition;
  cursor.index++;
  const yes = conditional(cursor, depth + 1);
  if (yes.kind === 'error') return yes;
  if (cursor.tokens.kinds[cursor.index] !== 58 /* : */) return error(cursor, 'expected the `:` of a `?`');
  cursor.index++;
  const no = conditional(cursor, depth + 1);
  if (no.kind === 'error') return no;
  return truth(condition) ? yes : no;
}

function binary(cursor: Position, lowest: number, depth: number): NumberLiteral | ConstantError {
  let left = unary(cursor, depth);
  for (;;) {
    if (left.kind === 'error') return left;
    const operator = operatorAt(cursor);
    const precedence = PRECEDENCE.get(operator);
    if (precedence === undefined || precedence < lowest) return left;
    const at = cursor.index;
    cursor.index += operator.length;
    const right = binary(cursor, precedence + 1, depth + 1);
    if (right.kind === 'error') return right;
    const result = apply(operator, left, right);
    if (typeof result === 'string') return { kind: 'error', message: result, index: at };
    left = result;
  }
}

function unary(cursor: Position, depth: number): NumberLiteral | ConstantError {
  if (depth > MAX_DEPTH) return error(cursor, 'a constant expression is nested too deeply');
  const { tokens, index } = cursor;
  const kind = tokens.kinds[index]!;
  switch (kind) {
    case NUMBER:
      return literalAt(cursor);
    case NAME:
      if (textAt(tokens, index) !== 'WARP_SZ') break;
      cursor.index++;
      return { kind: 'integer', value: WARP_SIZE, unsigned: false };
    case 40: {
      // ( expression ), or a cast: (.s64) expression
      cursor.index++;
      if (tokens.kinds[cursor.index] === DIRECTIVE) {
        const type = textAt(tokens, cursor.index);
        if (type !== '.s64' && type !== '.u64') return error(cursor, 'a cast is (.s64) or (.u64)');
        cursor.index++;
        if (tokens.kinds[cursor.index] !== 41) return error(cursor, 'expected `)`');
        cursor.index++;
        const value = unary(cursor, depth + 1);
        if (value.kind !== 'integer') {
          return value.kind === 'error' ? value : error(cursor, 'a cast applies to an integer');
        }
        return integer(value.value, type === '.u64');
      }
      const value = conditional(cursor, depth + 1);
      if (value.kind === 'error') return value;
      if (tokens.kinds[cursor.index] !== 41) return error(cursor, 'expected `)`');
      cursor.index++;
      return value;
    }
    case 45:
    case 43:
    case 126:
    case 33: {
      cursor.index++;
      const value = unary(cursor, depth + 1);
      if (value.kind === 'error') return value;
      const result = applyUnary(kind, value);
      return typeof result === 'string' ? { kind: 'error', message: result, index } : result;
    }
  }
  return error(cursor, 'expected a constant');
}

function literalAt(cursor: Position): NumberLiteral | ConstantError {
  const literal = parseLiteral(textAt(cursor.tokens, cursor.index));
  if (typeof literal === 'string') return error(cursor, literal);
  cursor.index++;
  return literal;
}

/** The operator at the cursor; those of two characters are two adjacent tokens. Empty if none. */
function operatorAt(cursor: Position): string {
  const { tokens, index } = cursor;
  const first = tokens.kinds[index]!;
  // The lexer reads a percent sign as the start of a name.
  if (first === NAME && tokens.ends[index]! - tokens.starts[index]! === 1) return textAt(tokens, index);
  if (first >= 128) return '';
  const one = String.fromCharCode(first);
  const second = tokens.kinds[index + 1]!;
  if (second < 128 && tokens.starts[index + 1] === tokens.ends[index]) {
    const two = one + String.fromCharCode(second);
    if (PRECEDENCE.has(two)) return two;
  }
  return one;
}

function applyUnary(operator: number, value: NumberLiteral): NumberLiteral | string {
  if (value.kind === 'integer') {
    if (operator === 45) return integer(-value.value, value.unsigned);
    if (operator === 126) return integer(~value.value, value.unsigned);
    if (operator === 33) return integer(value.value === 0n ? 1n : 0n, false);
    return value;
  }
  if (value.bits === 32) return 'a 0f literal cannot be part of an expression';
  if (operator === 45) return double(-doubleOf(value.pattern));
  if (operator === 33) return integer(doubleOf(value.pattern) === 0 ? 1n : 0n, false);
  return operator === 43 ? value : '~ applies to integers only';
}

function apply(operator: string, left: NumberLiteral, right: NumberLiteral): NumberLiteral | string {
  if (left.kind === 'integer' && right.kind === 'integer') {
    const unsigned = left.unsigned || right.unsigned;
    const a = unsigned ? BigInt.asUintN(64, left.value) : left.value;
    const b = unsigned ? BigInt.asUintN(64, right.value) : right.value;
    const shift = BigInt.asUintN(64, right.value);
    switch (operator) {
      case '+':
        return integer(a + b, unsigned);
      case '-':
        return integer(a - b, unsigned);
      case '*':
        return integer(a * b, unsigned);
      case '/':
        return b === 0n ? 'division by zero' : integer(a / b, unsigned);
      case '%':
        // Operands of a remainder are unsigned, as in ptxas: -7 % 4 is 1.
        return b === 0n ? 'division by zero' : integer(BigInt.asUintN(64, a) % BigInt.asUintN(64, b), unsigned);
      case '<<':
        return integer(shift > 63n ? 0n : left.value << shift, left.unsigned);
      case '>>':
        return integer(left.value >> (shift > 63n ? 63n : shift), left.unsigned);
      case '&':
        return integer(a & b, unsigned);
      case '^':
        return integer(a ^ b, unsigned);
      case '|':
        return integer(a | b, unsigned);
      default:
        return boolean(compare(operator, a, b, truth(left), truth(right)));
    }
  }
  if (isSingle(left) || isSingle(right)) return 'a 0f literal cannot be part of an expression';
  const a = left.kind === 'integer' ? Number(left.value) : doubleOf(left.pattern);
  const b = right.kind === 'integer' ? Number(right.value) : doubleOf(right.pattern);
  switch (operator) {
    case '+':
      return double(a + b);
    case '-':
      return double(a - b);
    case '*':
      return double(a * b);
    case '/':
      return double(a / b);
    case '%':
    case '<<':
    case '>>':
    case '&':
    case '^':
    case '|':
      return `${operator} applies to integers only`;
    default:
      return boolean(compare(operator, a, b, truth(left), truth(right)));
  }
}

function compare(operator: string, a: bigint | number, b: bigint | number, left: boolean, right: boolean): boolean {
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
    case '&&':
      return left && right;
    default:
      return left || right;
  }
}

function isSingle(value: NumberLiteral): boolean {
  return value.kind === 'float' && value.bits === 32;
}

function truth(value: NumberLiteral): boolean {
  return value.kind === 'integer' ? value.value !== 0n : doubleOf(value.pattern) !== 0;
}

function boolean(value: boolean): NumberLiteral {
  return { kind: 'integer', value: value ? 1n : 0n, unsigned: false };
}

/** Expressions have 64 bits: larger results wrap around. A literal keeps its value. */
function integer(value: bigint, unsigned: boolean): NumberLiteral {
  return { kind: 'integer', value: unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value), unsigned };
}

function double(value: number): NumberLiteral {
  return { kind: 'float', bits: 64, pattern: doublePattern(value) };
}

function error(cursor: Position, message: string): ConstantError {
  return { kind: 'error', message, index: cursor.index };
}

function textAt(tokens: TokenStream, index: number): string {
  return tokens.text.slice(tokens.starts[index], tokens.ends[index]);
}
