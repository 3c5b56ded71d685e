/** Declarations of a unit: where they begin and end, and which names they introduce. */
import { isDeclarable, type OwnCode } from './own-code.ts';

/** Tokens with their brackets. */
export type BracketedTokens = Pick<OwnCode, 'tokens' | 'partner'>;

/** A declaration of the unit: of a class, a function, a variable, or a type. */
export interface Declared {
  readonly kind: 'class' | 'function' | 'other';
  readonly start: number;
  /** Index after its last token before the body. */
  readonly header: number;
  /** Index of the brace that opens its body; -1 without one. */
  readonly body: number;
  /** Index after its last token. */
  readonly end: number;
}

/** Words that mark a declaration as one of device code, in a preprocessed text. */
const deviceAttributes = new Set([
  'global',
  'device',
  'shared',
  'constant',
  'managed',
  '__global__',
  '__device__',
  '__shared__',
  '__constant__',
  '__managed__',
]);

/** Declarations between two tokens; those of namespaces are taken out of them. */
export function itemsIn({ tokens, partner }: BracketedTokens, first: number, last: number): Declared[] {
  const items: Declared[] = [];
  for (let start = first; start < last;) {
    let at = start;
    let body = -1;
    for (; at < last; at++) {
      const { text } = tokens[at]!;
      if (text === ';') break;
      if (text === '}' || (text === ':' && /^(?:public|private|protected)$/.test(tokens[at - 1]?.text ?? ''))) break;
      if ((text === '(' || text === '[') && partner[at]! > at) at = partner[at]!;
      else if (text === '{') {
        const isInitializer =
          tokens[at - 1]?.text === '=' ||
          (hasCall(tokens, start, at) && tokens[at - 1]?.kind === 'identifier' && isMemberInitializer(tokens, partner, start, at));
        if (!isInitializer) {
          body = at;
          break;
        }
        at = partner[at]! > at ? partner[at]! : at;
      }
    }
    if (body < 0) {
      if (at > start) items.push({ kind: 'other', start, header: at, body: -1, end: Math.min(at + 1, last) });
      start = at + 1;
      continue;
    }
    const close = partner[body]! > body ? partner[body]! : last;
    const words = tokens.slice(start, body);
    const isClass =
      words.some(({ text }, index) => /^(?:class|struct|union|enum)$/.test(text) && !/^[<,]$/.test(words[index - 1]?.text ?? '')) &&
      !hasCall(tokens, start, body);
    if (words.some(({ text }) => text === 'namespace') || (words[0]?.text === 'extern' && words.length === 2)) {
      items.push(...itemsIn({ tokens, partner }, body + 1, close));
      start = close + 1;
      continue;
    }
    let end = close + 1;
    if (isClass || !hasCall(tokens, start, body)) {
      while (end < last && tokens[end]!.text !== ';') end += 1;
      end += 1;
    }
    items.push({
      kind: isClass ? 'class' : hasCall(tokens, start, body) ? 'function' : 'other',
      start,
      header: body,
      body,
      end: Math.min(end, last),
    });
    start = end;
  }
  return items;
}

/** Whether a parameter list is part of a header; attributes have parentheses too. */
function hasCall(tokens: OwnCode['tokens'], start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    if (tokens[at]!.text === '(' && !/^(?:__attribute__|__declspec|alignas|decltype|__align__|\()$/.test(tokens[at - 1]!.text)) return true;
    if (tokens[at]!.text === '(' && tokens[at - 1]!.text === '__attribute__') {
      let depth = 0;
      for (; at < end; at++) {
        if (tokens[at]!.text === '(') depth += 1;
        else if (tokens[at]!.text === ')' && --depth === 0) break;
      }
    }
  }
  return false;
}

/** Whether a brace belongs to `: member{value}` before the body of a constructor. */
function isMemberInitializer(tokens: OwnCode['tokens'], partner: Int32Array, start: number, brace: number): boolean {
  const next = tokens[(partner[brace] ?? -1) + 1]?.text;
  const isAfterColon = tokens.slice(start, brace).some(({ text }) => text === ':');
  return isAfterColon && (next === ',' || next === '{');
}

/** Declarations in the body of a class. */
export function membersOf(code: BracketedTokens, { body }: Declared): Declared[] {
  return itemsIn(code, body + 1, code.partner[body]! > body ? code.partner[body]! : code.tokens.length);
}

/** Whether a token in a range matches. */
export function hasWord({ tokens }: BracketedTokens, start: number, end: number, pattern: RegExp): boolean {
  for (let at = start; at < end; at++) if (pattern.test(tokens[at]!.text)) return true;
  return false;
}

/** Whether a range has an attribute of device code. */
export function isDevice({ tokens }: BracketedTokens, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const { text, kind } = tokens[at]!;
    if (
      kind === 'identifier' &&
      deviceAttributes.has(text) &&
      (text.startsWith('__') || (tokens[at - 1]?.text === '(' && tokens[at - 2]?.text === '(' && tokens[at - 3]?.text === '__attribute__'))
    )
      return true;
  }
  return false;
}

/** Whether a declaration without a body is one of a function. */
export function isFunctionDeclaration(code: BracketedTokens, { start, header }: Declared): boolean {
  return hasCall(code.tokens, start, header) && !hasWord(code, start, header, /^[=]$/);
}

/** The name of a class, enumerators, and names after its body. */
export function classNames({ tokens, partner }: BracketedTokens, { start, header, body, end }: Declared): string[] {
  const names: string[] = [];
  for (let at = start; at < header; at++) {
    if (!/^(?:class|struct|union|enum)$/.test(tokens[at]!.text)) continue;
    for (let next = at + 1; next < header && tokens[next]!.text !== ':'; next++) {
      const { kind, text } = tokens[next]!;
      if (kind === 'identifier' && isDeclarable(text) && /^(?:[:{<]|final)$/.test(tokens[next + 1]?.text ?? '{')) {
        names.push(text);
        break;
      }
    }
  }
  const isEnum = tokens.slice(start, header).some(({ text }) => text === 'enum');
  if (isEnum) for (let at = body + 1; at < partner[body]!; at++) if (/^[{,]$/.test(tokens[at - 1]!.text)) names.push(tokens[at]!.text);
  const isType = tokens[start]!.text === 'typedef';
  if (isType) for (let at = partner[body]! + 1; at < end; at++) if (tokens[at]!.kind === 'identifier') names.push(tokens[at]!.text);
  return names;
}

/** Names that a statement or declaration may introduce. */
export function declaredNames({ tokens }: BracketedTokens, start: number, end: number): string[] {
  const names: string[] = [];
  for (let at = start; at < Math.min(end, tokens.length); at++) {
    const { kind, text } = tokens[at]!;
    if (kind !== 'identifier' || !isDeclarable(text)) continue;
    const before = tokens[at - 1];
    const after = tokens[at + 1]?.text ?? ';';
    const isAlias = tokens[at - 1]?.text === 'using' && after === '=';
    const isTyped =
      at > start &&
      before !== undefined &&
      (before.kind === 'identifier'
        ? !/^(?:return|throw|case|goto|new|delete|else|do|sizeof)$/.test(before.text)
        : /^[>*&\]]$/.test(before.text));
    const isListed = at > start && before?.text === ',';
    const isBound = before?.text === '[' && tokens[at - 2]?.text !== undefined && /^(?:auto|&)$/.test(tokens[at - 2]!.text);
    if (isAlias || isBound || ((isTyped || isListed) && /^[=;,)[({:\]]$/.test(after))) names.push(text);
  }
  return names;
}

/** Name before the first parameter list. */
export function functionName({ tokens, partner }: BracketedTokens, { start, body }: Pick<Declared, 'start' | 'body'>): string | null {
  for (let at = start; at + 1 < body; at++) {
    const { text } = tokens[at]!;
    if (text === '__attribute__' && partner[at + 1]! > at) at = partner[at + 1]!;
    else if (tokens[at]!.kind === 'identifier' && tokens[at + 1]!.text === '(' && isDeclarable(text)) return text;
  }
  return null;
}

/** All functions of the host with a body, also those of classes. */
export function hostFunctions(code: BracketedTokens, items: readonly Declared[]): Declared[] {
  return items.flatMap((item) => {
    if (item.kind === 'class') return hostFunctions(code, membersOf(code, item));
    return item.kind === 'function' && !isDevice(code, item.start, item.header) ? [item] : [];
  });
}
