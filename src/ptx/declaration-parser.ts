/** Declarations: variables, parameters, initial values, and the directives of a function before its body. */
import type { BodyDirective, Initializer, PtxOperand, PerformanceDirective, VariableDeclaration } from './ast.ts';
import { startsConstant } from './constant-expression.ts';
import type { Cursor } from './token-stream.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COMMA,
  DIRECTIVE,
  EQUALS,
  GREATER,
  LESS,
  NAME,
  NUMBER,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  SEMICOLON,
  STRING,
} from './lexer.ts';
import { parseLiteral } from './literal.ts';
import { parseConstantOperand, parseOffset } from './operand-parser.ts';
import { ENTRY_DIRECTIVES, FUNC_DIRECTIVES, SPACES, TYPES } from './vocabulary.ts';

/** Maximum nesting depth of braces in an initial value. */
const MAX_INITIALIZER_DEPTH = 16;

/** The parameters or results of a function, with their parentheses; their names enter the scope. */
/**
 * The parameters of a function between parentheses; the cursor is at the opening one.
 * @returns null if they are damaged; the cursor has the reason
 */
export function parseParameters(cursor: Cursor): VariableDeclaration[] | null {
  cursor.index++;
  const parameters: VariableDeclaration[] = [];
  if (cursor.take(CLOSE_PAREN)) return parameters;
  do {
    const start = cursor.index;
    const space = cursor.kind() === DIRECTIVE ? SPACES.get(cursor.text()) : undefined;
    if (space !== 'param' && space !== 'reg') return cursor.fail('a parameter such as .param .u64 name');
    const parameter = parseDeclarator(cursor, start, [], true);
    if (!parameter) return null;
    cursor.declare(parameter);
    parameters.push(parameter);
  } while (cursor.take(COMMA));
  return cursor.expect(CLOSE_PAREN) ? parameters : null;
}

/** The directives between the parameters of a function and its body. */
export function parseFunctionDirectives(cursor: Cursor, kind: 'entry' | 'func'): PerformanceDirective[] | null {
  const counts = kind === 'entry' ? ENTRY_DIRECTIVES : FUNC_DIRECTIVES;
  const order = [...counts.keys()];
  const directives: PerformanceDirective[] = [];
  let latest = -1;
  while (cursor.kind() === DIRECTIVE) {
    const name = cursor.text();
    if (kind === 'entry' && name === '.pragma') {
      const pragma = parsePragma(cursor, cursor.index);
      if (!pragma) return null;
      directives.push({ name: 'pragma', values: [], text: pragma.text });
      continue;
    }
    const count = counts.get(name);
    if (!count || (kind === 'func' && order.indexOf(name) <= latest)) {
      return cursor.fail(`\`{\`, \`;\` or a directive such as ${order[0]}`);
    }
    latest = order.indexOf(name);
    cursor.index++;
    const values: number[] = [];
    while (values.length < count[1]) {
      const value = cursor.smallNumber(`a number for ${name}`);
      if (value === null) return null;
      values.push(value);
      if (values.length === count[1] || !cursor.take(COMMA)) break;
    }
    directives.push({ name: name.slice(1), values, text: values.join(', ') });
  }
  return directives;
}

/** `.attribute(.managed, .unified(1, 2))`, as written except for spaces and without the dot. */
export function parseAttribute(cursor: Cursor): string | null {
  const start = cursor.index;
  cursor.index++;
  if (!cursor.expect(OPEN_PAREN)) return null;
  do {
    if (cursor.isDirective('.managed')) {
      cursor.index++;
      continue;
    }
    if (!cursor.isDirective('.unified')) return cursor.fail('.managed or .unified');
    cursor.index++;
    if (!cursor.expect(OPEN_PAREN)) return null;
    if (!cursor.takeInteger()) return cursor.fail('a number');
    if (!cursor.expect(COMMA)) return null;
    if (!cursor.takeInteger()) return cursor.fail('a number');
    if (!cursor.expect(CLOSE_PAREN)) return null;
  } while (cursor.take(COMMA));
  if (!cursor.expect(CLOSE_PAREN)) return null;
  let text = '';
  for (let at = start; at < cursor.index; at++) text += cursor.tokenText(at);
  return text.slice(1);
}

/** One statement, which may declare several variables: `.reg .b32 a, b, %r<4>;`. */
export function parseVariables(cursor: Cursor, start: number, linkage: readonly string[]): VariableDeclaration[] | null {
  const first = parseDeclarator(cursor, start, linkage, false);
  if (!first) return null;
  cursor.declare(first);
  const variables = [first];
  while (cursor.take(COMMA)) {
    const { name: _, count: __, dimensions: ___, initializer: ____, ...shape } = first;
    const next = parseNamed(cursor, shape, false);
    if (!next) return null;
    cursor.declare(next);
    variables.push(next);
  }
  return cursor.expect(SEMICOLON) ? variables : null;
}

/** Space, attributes, type and name. */
function parseDeclarator(cursor: Cursor, start: number, linkage: readonly string[], isParameter: boolean): VariableDeclaration | null {
  const span = cursor.span(start);
  const space = SPACES.get(cursor.text())!;
  cursor.index++;
  const attributes: string[] = [];
  let alignment: number | undefined;
  let vector: 2 | 4 | undefined;
  let type: string | undefined;
  let pointer: VariableDeclaration['pointer'];
  if (cursor.kind() === OPEN_BRACKET && space === 'const') {
    cursor.index++;
    const bank = cursor.smallNumber('a bank');
    if (bank === null || !cursor.expect(CLOSE_BRACKET)) return null;
    attributes.push(`[${bank}]`);
  }
  for (; cursor.kind() === DIRECTIVE;) {
    const name = cursor.text();
    if (type !== undefined) {
      if (name !== '.ptr' || !isParameter || pointer) return cursor.fail('the name of the variable');
      cursor.index++;
      pointer = parsePointer(cursor);
      if (!pointer) return null;
    } else if (name === '.align' && vector === undefined) {
      cursor.index++;
      const value = cursor.smallNumber('an alignment');
      if (value === null) return null;
      if (value === 0 || (value & (value - 1)) !== 0) {
        cursor.index--;
        return cursor.fail('a power of two');
      }
      alignment = value;
    } else if ((name === '.v2' || name === '.v4') && vector === undefined) {
      cursor.index++;
      vector = name === '.v2' ? 2 : 4;
    } else if (name === '.attribute' && vector === undefined) {
      const attribute = parseAttribute(cursor);
      if (attribute === null) return null;
      attributes.push(attribute);
    } else if (TYPES.has(name)) {
      cursor.index++;
      type = name.slice(1);
    } else {
      return cursor.fail('a type such as .b32');
    }
  }
  if (type === undefined) return cursor.fail('a type such as .b32');
  const shape = {
    kind: 'variable' as const,
    span,
    linkage,
    space,
    attributes,
    type,
    ...(alignment !== undefined && { alignment }),
    ...(vector !== undefined && { vector }),
    ...(pointer && { pointer }),
  };
  return parseNamed(cursor, shape, isParameter);
}

/** `.ptr [.space] [.align n]` of a parameter. */
function parsePointer(cursor: Cursor): { space?: string; alignment?: number } | undefined {
  const pointer: { space?: string; alignment?: number } = {};
  const name = cursor.kind() === DIRECTIVE ? cursor.text() : '';
  if (name === '.global' || name === '.const' || name === '.shared' || name === '.local') {
    pointer.space = name.slice(1);
    cursor.index++;
  }
  if (cursor.isDirective('.align')) {
    cursor.index++;
    const value = cursor.smallNumber('an alignment');
    if (value === null) return undefined;
    pointer.alignment = value;
  }
  return pointer;
}

/** Name, range or extents, and initial value. */
function parseNamed(
  cursor: Cursor,
  shape: Omit<VariableDeclaration, 'name' | 'dimensions' | 'count' | 'initializer'>,
  isParameter: boolean,
): VariableDeclaration | null {
  const name = cursor.text();
  if (!(cursor.isPlainName() || (isParameter && name === '_'))) return cursor.fail('the name of a variable');
  cursor.index++;
  let count: number | undefined;
  if (shape.space === 'reg' && !isParameter && cursor.take(LESS)) {
    const value = cursor.smallNumber('a number of registers');
    if (value === null || !cursor.expect(GREATER)) return null;
    count = value;
  }
  const dimensions: (bigint | null)[] = [];
  while (shape.space !== 'reg' && !(isParameter && dimensions.length > 0) && cursor.take(OPEN_BRACKET)) {
    if (dimensions.length === 0 && cursor.take(CLOSE_BRACKET)) {
      dimensions.push(null);
      continue;
    }
    const extent = cursor.kind() === NUMBER ? parseLiteral(cursor.text()) : 'no number';
    if (typeof extent === 'string' || extent.kind !== 'integer') return cursor.fail('an array size');
    cursor.index++;
    dimensions.push(extent.value);
    if (!cursor.expect(CLOSE_BRACKET)) return null;
  }
  let initializer: Initializer | undefined;
  if ((shape.space === 'global' || shape.space === 'const') && cursor.take(EQUALS)) {
    const value = parseInitializer(cursor, 0);
    if (!value) return null;
    initializer = value;
  }
  return {
    ...shape,
    name,
    dimensions,
    ...(count !== undefined && { count }),
    ...(initializer && { initializer }),
  };
}

function parseInitializer(cursor: Cursor, depth: number): Initializer | null {
  if (depth > MAX_INITIALIZER_DEPTH) return cursor.fail('fewer braces inside one another', 'ptx/limit');
  if (cursor.take(OPEN_BRACE)) {
    const elements: Initializer[] = [];
    do {
      const element = parseInitializer(cursor, depth + 1);
      if (!element) return null;
      elements.push(element);
    } while (cursor.take(COMMA));
    return cursor.expect(CLOSE_BRACE) ? { kind: 'aggregate', elements } : null;
  }
  if (cursor.kind() === NUMBER && cursor.kinds[cursor.index + 1] === OPEN_PAREN) {
    const mask = cursor.text();
    const literal = parseLiteral(mask);
    if (typeof literal === 'string' || literal.kind !== 'integer') return cursor.fail('a mask such as 0xff');
    cursor.index += 2;
    const operand = startsConstant(cursor) ? parseConstantOperand(cursor) : parseAddressValue(cursor);
    return operand && cursor.expect(CLOSE_PAREN) ? { kind: 'scalar', operand, mask } : null;
  }
  if (cursor.kind() === NAME && cursor.text() !== 'WARP_SZ') {
    const name = cursor.text();
    if (cursor.kinds[cursor.index + 1] !== EQUALS) {
      const operand = parseAddressValue(cursor);
      return operand && { kind: 'scalar', operand };
    }
    cursor.index += 2;
    if (cursor.kind() !== NAME && cursor.kind() !== NUMBER) return cursor.fail('a value');
    const value = cursor.text();
    cursor.index++;
    return { kind: 'field', name, value };
  }
  const operand = parseConstantOperand(cursor);
  return operand && { kind: 'scalar', operand };
}

/** `symbol`, `symbol+8`, `generic(symbol)+8` of an initial value. */
function parseAddressValue(cursor: Cursor): PtxOperand | null {
  let name = cursor.text();
  if (!cursor.isPlainName()) return cursor.fail('a name');
  cursor.index++;
  const generic = name === 'generic' && cursor.take(OPEN_PAREN);
  if (generic) {
    name = cursor.text();
    if (!cursor.isPlainName()) return cursor.fail('a name');
    cursor.index++;
    if (!cursor.expect(CLOSE_PAREN)) return null;
  }
  const offset = parseOffset(cursor);
  return offset === null ? null : { kind: 'symbol', name, offset, generic };
}

/** `.pragma "text" [, "text"] ;`. */
export function parsePragma(cursor: Cursor, start: number): BodyDirective | null {
  cursor.index++;
  const first = cursor.index;
  do {
    if (cursor.kind() !== STRING) return cursor.fail('a text in quotes');
    cursor.index++;
  } while (cursor.take(COMMA));
  const text = cursor.joined(first);
  if (!cursor.expect(SEMICOLON)) return null;
  return { kind: 'directive', span: cursor.span(start), name: 'pragma', text, names: [] };
}
