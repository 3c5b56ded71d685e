/** A token of CUDA C++. Offsets are UTF-16 units from 0; `line` counts from 1. `::` and `->` are the only long ones. */
export interface Token {
  readonly kind: 'identifier' | 'number' | 'string' | 'punctuation' | 'comment' | 'directive';
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/** White space, comment, raw string, string or character, identifier, number, punctuation: in this order. */
const pattern =
  /(?:\s|\\\r?\n)+|\/\/(?:\\\r?\n|[^\n])*|\/\*[^]*?(?:\*\/|$)|(?:u8|[uUL])?R"([^\s()\\"]{0,16})\([^]*?\)\1"|(?:u8|[uUL])?(?:"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)|[\p{L}_$][\p{L}\p{N}_$]*|\.?\d(?:[eEpP][+-]|'?[\w.])*|::|->|[^]/uy;
const directive = /#(?:\\\r?\n|\/\*[^]*?\*\/|(?!\/\/)[^\n])*/y;

function kindOf(value: string): Token['kind'] | 'space' {
  const first = value.charCodeAt(0);
  if (first <= 32) return 'space';
  if (value.startsWith('//') || value.startsWith('/*')) return 'comment';
  if ((first >= 48 && first <= 57) || (first === 46 && value.length > 1)) return 'number';
  if (value.includes('"') || value.includes("'")) return 'string';
  if (/^[\p{L}_$]/u.test(value)) return 'identifier';
  return /^(?:\s|\\\r?\n)/.test(value) ? 'space' : 'punctuation';
}

/**
 * Splits CUDA C++ into tokens; white space is dropped, a preprocessor line is one token.
 * @param text - any text: characters outside of C++ become punctuation
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let atLineStart = true;
  for (let offset = 0; offset < text.length;) {
    const isDirective: boolean = atLineStart && text[offset] === '#';
    const expression: RegExp = isDirective ? directive : pattern;
    expression.lastIndex = offset;
    const value: string = expression.exec(text)?.[0] ?? text.charAt(offset);
    const kind: Token['kind'] | 'space' = isDirective ? 'directive' : kindOf(value);
    const end: number = offset + value.length;
    if (kind === 'space') atLineStart ||= value.includes('\n');
    else {
      tokens.push({ kind, text: value, start: offset, end, line });
      if (kind !== 'comment' && kind !== 'directive') atLineStart = false;
    }
    for (let at = value.indexOf('\n'); at !== -1; at = value.indexOf('\n', at + 1)) line++;
    offset = end;
  }
  return tokens;
}
