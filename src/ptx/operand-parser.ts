/** Operands of instructions. Each function reads at the cursor, and returns null after it has reported a mistake. */
import type { AddressBase, PtxOperand } from './ast.ts';
import { parseConstant, startsConstant } from './constant-expression.ts';
import type { Cursor } from './token-stream.ts';
import {
  BANG,
  BAR,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COMMA,
  DIRECTIVE,
  MINUS,
  NAME,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
} from './lexer.ts';
import { parseLiteral } from './literal.ts';
import { resolveName } from './name-scope.ts';
import { isVectorSpecialRegister } from './special-register-names.ts';
import { RESERVED_NAMES } from './vocabulary.ts';

/** Parses one operand of an instruction. The first may be a pair, `d|p`. */
export function parseOperand(cursor: Cursor, isFirst: boolean): PtxOperand | null {
  switch (cursor.kind()) {
    case OPEN_BRACKET:
      return parseBracketed(cursor);
    case BANG:
    case MINUS: {
      const next = cursor.tokenText(cursor.index + 1);
      if (cursor.kinds[cursor.index + 1] !== NAME || RESERVED_NAMES.has(next)) break;
      const kind = cursor.kind() === BANG ? 'not' : 'negative';
      cursor.index++;
      const operand = parseName(cursor, false);
      return operand && { kind, operand };
    }
  }
  const operand = cursor.kind() === OPEN_BRACE ? parseVector(cursor) : parseValue(cursor, true);
  if (!operand || !isFirst || cursor.kind() !== BAR) return operand;
  if (operand.kind !== 'register' && operand.kind !== 'vector' && operand.kind !== 'sink') return operand;
  cursor.index++;
  if (!cursor.isPlainName() && cursor.text() !== '_') return cursor.fail('a register');
  const second = parseName(cursor, false);
  return second && { kind: 'pair', first: operand, second };
}

/** Parses a name or a constant, also within vectors and lists; there a symbol has no offset. */
function parseValue(cursor: Cursor, withOffset: boolean): PtxOperand | null {
  return cursor.kind() === NAME ? parseName(cursor, withOffset) : parseConstantOperand(cursor);
}

/** `{a, b}`. */
function parseVector(cursor: Cursor): PtxOperand | null {
  const elements = parseElements(cursor, CLOSE_BRACE);
  return elements && { kind: 'vector', elements };
}

/** `(a, b)` or `()` of a call. */
function parseList(cursor: Cursor): PtxOperand | null {
  if (cursor.kinds[cursor.index + 1] === CLOSE_PAREN) {
    cursor.index += 2;
    return { kind: 'list', elements: [] };
  }
  const elements = parseElements(cursor, CLOSE_PAREN);
  return elements && { kind: 'list', elements };
}

/** Parses the elements from an opening brace or parenthesis to the closing one. */
function parseElements(cursor: Cursor, close: number): PtxOperand[] | null {
  cursor.index++;
  const elements: PtxOperand[] = [];
  do {
    const element = parseValue(cursor, false);
    if (!element) return null;
    if (element.kind === 'component' && close === CLOSE_PAREN) {
      cursor.index--;
      return cursor.fail('an argument');
    }
    elements.push(element);
  } while (cursor.take(COMMA));
  return cursor.expect(close) ? elements : null;
}

/** A register, a component, the sink, a symbol with its offset, or an element of an array. */
function parseName(cursor: Cursor, withOffset: boolean): PtxOperand | null {
  const text = cursor.text();
  const first = text.charCodeAt(0);
  if (text === 'WARP_SZ') return parseConstantOperand(cursor);
  const dot = text.indexOf('.');
  if (text !== '_' && RESERVED_NAMES.has(dot < 0 ? text : text.slice(0, dot))) return cursor.fail('an operand');
  cursor.index++;
  if (dot >= 0) {
    const base = text.slice(0, dot);
    const selector = text.slice(dot + 1);
    if (isVectorSpecialRegister(base)) return { kind: 'register', name: text };
    return { kind: 'component', base: cursor.registerName(base), selector };
  }
  if (text === '_') return { kind: 'sink' };
  if (cursor.kind() === DIRECTIVE && isVectorSpecialRegister(text)) {
    const name = text + cursor.text();
    cursor.index++;
    return { kind: 'register', name };
  }
  if (first === 37 /* % */ && !cursor.percentSymbols) return { kind: 'register', name: cursor.registerName(text) };
  const resolved = resolveName(cursor.scope, text);
  if (resolved ? resolved.kind === 'register' : first === 37) {
    return { kind: 'register', name: resolved?.name ?? text };
  }
  if (!withOffset) return { kind: 'symbol', name: text, offset: 0n, generic: false };
  if (cursor.kind() === OPEN_BRACKET) return parseElement(cursor, text);
  const offset = parseOffset(cursor);
  return offset === null ? null : { kind: 'symbol', name: text, offset, generic: false };
}

/** `+ constant` after a name; 0 if absent. */
export function parseOffset(cursor: Cursor): bigint | null {
  if (!cursor.take(PLUS)) return 0n;
  return parseInteger(cursor);
}

/** `array[index]` with the cursor at the bracket. */
function parseElement(cursor: Cursor, array: string): PtxOperand | null {
  cursor.index++;
  let index: PtxOperand | null;
  let offset = 0n;
  if (cursor.kind() === NAME && cursor.text() !== 'WARP_SZ') {
    const name = cursor.text();
    if (name.includes('.')) return cursor.fail('a register');
    cursor.index++;
    index = { kind: 'register', name: cursor.registerName(name) };
    const added = parseOffset(cursor);
    if (added === null) return null;
    offset = added;
  } else {
    index = parseConstantOperand(cursor);
  }
  if (!index || !cursor.expect(CLOSE_BRACKET)) return null;
  return { kind: 'element', array, index, offset };
}

/** `[address]`, or `[texture, sampler, {coordinates}]`, of which one of the last two may be missing. */
function parseBracketed(cursor: Cursor): PtxOperand | null {
  cursor.index++;
  if (cursor.kinds[cursor.index + 1] === COMMA) {
    if (!cursor.isPlainName()) return cursor.fail('a name');
    const elements: PtxOperand[] = [];
    do {
      const last = cursor.kind() === OPEN_BRACE;
      if (!last && !cursor.isPlainName()) return cursor.fail('a name or `{`');
      const element = last ? parseVector(cursor) : parseName(cursor, false);
      if (!element) return null;
      elements.push(element);
      if (last) break;
    } while (elements.length < 3 && cursor.take(COMMA));
    return cursor.expect(CLOSE_BRACKET) ? { kind: 'bracketed', elements } : null;
  }
  const address = parseAddress(cursor);
  if (!address || !cursor.expect(CLOSE_BRACKET)) return null;
  if (!cursor.isDirective('.unified')) return address;
  cursor.index++;
  return { ...address, unified: true };
}

/** A base and an offset, or an absolute address. */
function parseAddress(cursor: Cursor): (PtxOperand & { kind: 'address' }) | null {
  if (cursor.isPlainName()) {
    const name = cursor.text();
    cursor.index++;
    let base: AddressBase;
    if (name.charCodeAt(0) === 37 && !cursor.percentSymbols) {
      base = { kind: 'register', name: cursor.registerName(name) };
    } else {
      const resolved = resolveName(cursor.scope, name);
      const kind = resolved?.kind ?? (name.charCodeAt(0) === 37 ? 'register' : 'symbol');
      base = { kind, name: resolved?.name ?? name };
    }
    const offset = parseOffset(cursor);
    return offset === null ? null : { kind: 'address', base, offset };
  }
  if (!startsConstant(cursor)) return cursor.fail('an address');
  const offset = parseInteger(cursor);
  return offset === null ? null : { kind: 'address', base: null, offset };
}

function parseInteger(cursor: Cursor): bigint | null {
  const at = cursor.index;
  const constant = parseConstant(cursor);
  if (constant.kind === 'integer') return constant.value;
  if (constant.kind === 'error') return cursor.failConstant(constant.message);
  cursor.index = at;
  return cursor.failConstant('expected an integer');
}

/** A constant expression, with its text. */
/**
 * A constant expression as an operand, evaluated (PTX ISA 4.5).
 * @returns null if it is missing or has no value; the cursor has the reason
 */
export function parseConstantOperand(cursor: Cursor): PtxOperand | null {
  if (!startsConstant(cursor)) return cursor.fail('an operand');
  const start = cursor.index;
  const constant = parseConstant(cursor);
  if (constant.kind === 'error') return cursor.failConstant(constant.message);
  const text = cursor.slice(start);
  if (constant.kind === 'integer') return { kind: 'integer', value: constant.value, text };
  return { kind: 'float', bits: constant.bits, pattern: constant.pattern, text };
}

/** The operands of a call, added to `operands`: `[(results),] function [, (arguments) [, prototype]]`. */
export function parseCall(cursor: Cursor, operands: PtxOperand[]): boolean {
  if (cursor.kind() === OPEN_PAREN) {
    const results = parseList(cursor);
    if (!results || !cursor.expect(COMMA)) return false;
    operands.push(results);
  }
  if (!cursor.isPlainName()) return cursor.fail('the function to call') !== null;
  const target = parseName(cursor, false);
  if (!target) return false;
  operands.push(target);
  if (!cursor.take(COMMA)) return true;
  if (cursor.kind() === OPEN_PAREN) {
    const list = parseList(cursor);
    if (!list) return false;
    operands.push(list);
    if (!cursor.take(COMMA)) return true;
  }
  if (!cursor.isPlainName()) return cursor.fail('a prototype') !== null;
  const prototype = parseName(cursor, false);
  if (!prototype) return false;
  operands.push(prototype);
  return true;
}

/** The operand of a selvage comment: one register or literal. Undefined for anything else, which is not reported. */
/**
 * The operand in the comment of a marker: a register, or a literal that may be negative.
 * @param text one word of the comment
 * @returns undefined for anything else, variables included
 */
export function markerOperand(cursor: Cursor, text: string): PtxOperand | undefined {
  if (/^[A-Za-z_$%][\w$]+$/.test(text) || /^[A-Za-z]$/.test(text)) {
    const resolved = resolveName(cursor.scope, text);
    if (resolved?.kind === 'symbol') return undefined;
    return { kind: 'register', name: resolved?.name ?? text };
  }
  const sign = text.startsWith('-') ? 1 : 0;
  const literal = parseLiteral(text.slice(sign));
  if (typeof literal === 'string') return undefined;
  if (literal.kind === 'integer') return { kind: 'integer', value: sign ? -literal.value : literal.value, text };
  return sign ? undefined : { kind: 'float', bits: literal.bits, pattern: literal.pattern, text };
}
