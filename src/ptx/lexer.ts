/**
 * Tokens of a PTX text, in parallel arrays: one pass over the characters, no regular expression and no object per
 * token.
 *
 * A name includes the dotted parts that follow it without a space, so `ld.shared::cta.v2.f32`, `%tid.x` and `%r1.b0`
 * are one token each. Every other character that PTX uses is a separate token, whose kind is its character code.
 */

// Kinds of punctuation tokens: their character codes.
export const COLON = 58;
export const COMMA = 44;
export const SEMICOLON = 59;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
export const OPEN_PAREN = 40;
export const CLOSE_PAREN = 41;
export const OPEN_BRACKET = 91;
export const CLOSE_BRACKET = 93;
export const LESS = 60;
export const GREATER = 62;
export const PLUS = 43;
export const MINUS = 45;
export const BANG = 33;
export const BAR = 124;
export const EQUALS = 61;
export const AT = 64;

/** Kinds above the ASCII codes, which are kinds of punctuation tokens. */
export const END = 128;
export const NAME = 129;
/** `.reg`: a dot and one dotted part. */
export const DIRECTIVE = 130;
/** A literal as written; the parser checks whether it is well formed. */
export const NUMBER = 131;
export const STRING = 132;
/** A run of characters that are not part of PTX, or an unterminated string. */
export const JUNK = 133;
/** A whole line that begins with `@@DWARF`. */
export const DWARF_LINE = 134;

/** The tokens of a text; token `count` is of kind {@link END}. Lines count from 1, positions from 0. */
export interface TokenStream {
  readonly text: string;
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly lines: Int32Array;
  /** Position of the first character of each line, by line - 1. */
  readonly lineStarts: readonly number[];
  /** Comments that are markers, in order. */
  readonly markers: readonly MarkerToken[];
  /** Line of a block comment that has no end. */
  readonly unterminatedComment: number | undefined;
}

/** `// selvage.assume %r1;`: `operand` is the text after the keyword. */
interface MarkerToken {
  readonly name: 'assume' | 'unknown' | 'candidate';
  readonly operand: string;
  readonly line: number;
  readonly column: number;
  /** Index of the token that follows the comment. */
  readonly before: number;
}

const NAME_PART = 1;
const DIGIT = 2;
const SPACE = 4;
const PUNCTUATION = 8;
const NAME_START = 16;

const classes = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_$%]/.test(character)) classes[code] = NAME_START;
  if (/[A-Za-z0-9_$]/.test(character)) classes[code]! |= NAME_PART;
  if (/[0-9]/.test(character)) classes[code]! |= DIGIT;
  if (/[ \t\r\n\f]/.test(character)) classes[code] = SPACE;
  if ('{}()[]<>,;:@!|+-*/&^~?='.includes(character)) classes[code] = PUNCTUATION;
}

const MARKERS = [
  ['selvage.assume', 'assume'],
  ['selvage.unknown', 'unknown'],
  ['SELVAGE_CANDIDATE', 'candidate'],
] as const;

/** Splits a PTX text into tokens. Never throws; takes time linear in the length of the text. */
export function lex(text: string): TokenStream {
  const length = text.length;
  let capacity = (length >> 2) + 64;
  let kinds = new Uint8Array(capacity);
  let starts = new Int32Array(capacity);
  let ends = new Int32Array(capacity);
  let lines = new Int32Array(capacity);
  const lineStarts = [0];
  const markers: MarkerToken[] = [];
  let unterminatedComment: number | undefined;
  let count = 0;
  let line = 1;
  let position = 0;

  const push = (kind: number, start: number, end: number): void => {
    if (count === capacity) {
      capacity *= 2;
      kinds = grow(kinds, new Uint8Array(capacity));
      starts = grow(starts, new Int32Array(capacity));
      ends = grow(ends, new Int32Array(capacity));
      lines = grow(lines, new Int32Array(capacity));
    }
    kinds[count] = kind;
    starts[count] = start;
    ends[count] = end;
    lines[count] = line;
    count++;
  };

  while (position < length) {
    const code = text.charCodeAt(position);
    if (code === 10) {
      position++;
      line++;
      lineStarts.push(position);
      continue;
    }
    const type = classOf(code);
    if (type & SPACE) {
      position++;
      continue;
    }
    const start = position;
    if (type & NAME_START) {
      position = endOfName(text, position);
      // A lone `$` is not a name; a lone `_` is the sink and a lone `%` an operator.
      push(position === start + 1 && code === 36 ? JUNK : NAME, start, position);
    } else if (type & DIGIT) {
      position = endOfNumber(text, position);
      push(NUMBER, start, position);
    } else if (code === 46 /* . */) {
      const next = classOf(text.charCodeAt(position + 1));
      if (next & DIGIT) {
        position = endOfNumber(text, position);
        push(NUMBER, start, position);
      } else if (next & NAME_PART) {
        position = endOfPart(text, position + 1);
        push(DIRECTIVE, start, position);
      } else {
        position++;
        push(JUNK, start, position);
      }
    } else if (code === 47 /* / */ && text.charCodeAt(position + 1) === 47) {
      position = endOfLine(text, position);
      const marker = markerIn(text, start + 2, position);
      if (marker) markers.push({ ...marker, line, column: start - lineStarts[line - 1]! + 1, before: count });
    } else if (code === 47 && text.charCodeAt(position + 1) === 42 /* * */) {
      const close = text.indexOf('*/', position + 2);
      if (close < 0) unterminatedComment = line;
      const end = close < 0 ? length : close + 2;
      for (; position < end; position++) {
        if (text.charCodeAt(position) !== 10) continue;
        line++;
        lineStarts.push(position + 1);
      }
    } else if (code === 34 /* " */) {
      const close = endOfString(text, position + 1);
      position = Math.abs(close);
      push(close > 0 ? STRING : JUNK, start, position);
    } else if (code === 64 /* @ */ && text.startsWith('@@DWARF', position)) {
      position = endOfLine(text, position);
      push(DWARF_LINE, start, position);
    } else if (code === 35 /* # */ && isLineMarker(text, position, lineStarts[line - 1]!)) {
      position = endOfLine(text, position);
    } else if (type & PUNCTUATION) {
      position++;
      push(code, start, position);
    } else {
      do position++;
      while (position < length && isJunk(text.charCodeAt(position)));
      push(JUNK, start, position);
    }
  }
  push(END, length, length);
  count--;
  return { text, count, kinds, starts, ends, lines, lineStarts, markers, unterminatedComment };
}

function grow<Words extends Uint8Array | Int32Array>(old: Words, wider: Words): Words {
  wider.set(old);
  return wider;
}

/** Class of a character; 0 outside ASCII, and for the NaN that is read past the end. */
function classOf(code: number): number {
  return code < 128 ? classes[code]! : 0;
}

/** Whether a character is not part of PTX, and not the start of a string or of a dotted part. */
function isJunk(code: number): boolean {
  return classOf(code) === 0 && code !== 34 && code !== 46;
}

function endOfName(text: string, position: number): number {
  position = endOfWord(text, position + 1);
  while (text.charCodeAt(position) === 46 && classOf(text.charCodeAt(position + 1)) & NAME_PART) {
    position = endOfPart(text, position + 1);
  }
  return position;
}

/** End of one dotted part, with the `::` inside it: `shared::cta`. */
function endOfPart(text: string, position: number): number {
  position = endOfWord(text, position);
  while (
    text.charCodeAt(position) === 58 /* : */ &&
    text.charCodeAt(position + 1) === 58 &&
    classOf(text.charCodeAt(position + 2)) & NAME_PART
  ) {
    position = endOfWord(text, position + 2);
  }
  return position;
}

function endOfWord(text: string, position: number): number {
  while (classOf(text.charCodeAt(position)) & NAME_PART) position++;
  return position;
}

/** A number is a word, and, if decimal, a fraction and an exponent with its sign. */
function endOfNumber(text: string, position: number): number {
  const start = position;
  while (classOf(text.charCodeAt(position)) & DIGIT) position++;
  if (text.charCodeAt(position) === 46) {
    position++;
    while (classOf(text.charCodeAt(position)) & DIGIT) position++;
  }
  const exponent = text.charCodeAt(position) | 32;
  const sign = text.charCodeAt(position + 1);
  if (
    exponent === 101 /* e */ &&
    (sign === 43 || sign === 45) /* + - */ &&
    position > start &&
    classOf(text.charCodeAt(position + 2)) & DIGIT
  ) {
    position += 2;
  }
  return endOfWord(text, position);
}

function endOfLine(text: string, position: number): number {
  const end = text.indexOf('\n', position);
  return end < 0 ? text.length : end;
}

/** Position after the closing quote, or minus the end of the line if missing. */
function endOfString(text: string, position: number): number {
  for (; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === 34) return position + 1;
    if (code === 10) break;
    // The compiler writes a quotation mark within the name of a file as `\"`.
    if (code === 92 && text.charCodeAt(position + 1) === 34) position++;
  }
  return -position;
}

/** `# 12 "file.cu"` of a preprocessor: ptxas skips such lines and so do we. */
function isLineMarker(text: string, position: number, lineStart: number): boolean {
  for (let before = position - 1; before >= lineStart; before--) {
    if (!(classOf(text.charCodeAt(before)) & SPACE)) return false;
  }
  return /^#[ \t]*\d+[ \t]+"[^"]*"[ \t\d]*\r?$/.test(text.slice(position, endOfLine(text, position)));
}

function markerIn(text: string, start: number, end: number): Pick<MarkerToken, 'name' | 'operand'> | undefined {
  while (start < end && classOf(text.charCodeAt(start)) & SPACE) start++;
  const first = text.charCodeAt(start) | 32;
  if (first !== 115 /* s */) return undefined;
  for (const [keyword, name] of MARKERS) {
    if (!text.startsWith(keyword, start)) continue;
    const after = text.charCodeAt(start + keyword.length);
    // The keyword must end here: otherwise it is another word. At the end of the comment it is a marker without
    // operand.
    if (start + keyword.length < end && (classOf(after) & NAME_PART || after === 46)) continue;
    const rest = text.slice(start + keyword.length, end);
    const stop = rest.indexOf(';');
    return { name, operand: (stop < 0 ? rest : rest.slice(0, stop)).trim() };
  }
  return undefined;
}
