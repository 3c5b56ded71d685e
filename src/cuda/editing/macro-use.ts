/** Replaces uses of macros by their expansions, so that a barrier can be placed between the statements of a macro. */
import type { CudaSource } from '../syntax/syntax.ts';
import { matchBrackets } from '../syntax/bracket-match.ts';
import { type Token, tokenize } from '../syntax/token.ts';
import { type TextEdit, indentOf, styleOf } from '../../source/text-edit.ts';

/** Why the use of a macro is not replaced by its expansion. */
export type MacroHindrance =
  /** `#`, `##` or `...`: the expansion is not text of the file. */
  | 'operators'
  /** The file defines it several times. */
  | 'definitions'
  /** The use is only a part of a statement, or the body of a condition without braces. */
  | 'part';

interface MacroUse {
  readonly macro: string;
  readonly line: number;
  /** The edit that replaces the use by its expansion, or why the use is not replaced. */
  readonly edit: TextEdit | MacroHindrance;
}

/** The first use of a function-like macro on a line, of the file or of a header; or null. */
export function macroUse(source: CudaSource, line: number): MacroUse | null {
  const { text, visibleMacros: macros } = source;
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment');
  const partner = matchBrackets(tokens);
  const isUse = ({ kind, text: word, line: at }: Token, index: number): boolean =>
    kind === 'identifier' &&
    at === line &&
    tokens[index + 1]?.text === '(' &&
    macros.some(({ name, parameters }) => name === word && parameters !== undefined);
  const index = tokens.findIndex(isUse);
  const name = tokens[index];
  const close = partner[index + 1] ?? -1;
  if (!name || close === -1) return null;
  const own = macros.filter((one) => one.name === name.text);
  const [{ parameters = [], value }] = own as [(typeof own)[0]];
  const refuse = (edit: MacroHindrance): MacroUse => ({ macro: name.text, line, edit });
  if (own.length > 1) return refuse('definitions');
  if (/#|\.\.\.|__VA_/.test(value) || parameters.some((parameter) => parameter.includes('.'))) return refuse('operators');
  if (!/^[;{}]$/.test(tokens[index - 1]?.text ?? '')) return refuse('part');
  const given = argumentsIn(text, tokens.slice(index + 1, close + 1));
  const isPlain = given.length === parameters.length && !tokenize(value).some((token) => token.text === name.text);
  const statements = isPlain ? bodyOf(substituted(value, new Map(parameters.map((one, at) => [one, given[at]!])))) : '';
  const next = tokens[close + 1];
  if (!/[;}]$/.test(statements) || !next) return refuse('part');
  const end = next.text === ';' ? next.end : tokens[close]!.end;
  const style = styleOf(text);
  const lines = linesOf(statements, style.indent).join(style.lineEnd + indentOf(text, name.start));
  return { macro: name.text, line, edit: { start: name.start, end, text: lines } };
}

/** The texts between the commas of a list in parentheses. */
function argumentsIn(text: string, tokens: readonly Token[]): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = tokens[0]!.end;
  for (const token of tokens) {
    if (token.kind !== 'punctuation') continue;
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    if ((token.text === ',' && depth === 1) || depth === 0) {
      found.push(text.slice(start, token.start).trim());
      start = token.end;
    }
    if (depth === 0) break;
  }
  return found;
}

/** The expansion of a macro, with the arguments of a use. */
function substituted(value: string, given: ReadonlyMap<string, string>): string {
  let result = '';
  let end = 0;
  for (const { start, end: to, text, kind } of tokenize(value)) {
    const argument = kind === 'identifier' ? given.get(text) : undefined;
    const between = value.slice(end, start);
    const next = argument ?? text;
    // Two operator characters must not join to one token: `- -1` from `-a` with `-1` as `a`.
    const isJoined = argument !== undefined && between === '' && result.at(-1) === next[0] && /[-+&|<>]/.test(next);
    result += `${between}${isJoined ? ' ' : ''}${next}`;
    end = to;
  }
  return result;
}

/** The statements of a macro body without an enclosing `do … while (0)`. */
function bodyOf(text: string): string {
  const trimmed = text.trim();
  const once = /^do\s*(\{[^]*\})\s*while\s*\(\s*0\s*\)\s*;?$/.exec(trimmed)?.[1];
  if (once !== undefined && !/\b(?:break|continue|do)\b/.test(once)) return once;
  return /[;}]$/.test(trimmed) ? trimmed : `${trimmed};`;
}

/** A statement on each line, indented within braces. */
function linesOf(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  let depth = 0;
  let round = 0;
  let end = 0;
  const flush = (): void => {
    if (line.trim() !== '') lines.push(indent.repeat(depth) + line.trim());
    line = '';
  };
  const tokens = tokenize(text);
  for (const [index, token] of tokens.entries()) {
    const isMark = token.kind === 'punctuation';
    if (isMark && token.text === '}') {
      flush();
      depth = Math.max(0, depth - 1);
    }
    line += text.slice(end, token.start) + token.text;
    end = token.end;
    if (!isMark) continue;
    if (/[([]/.test(token.text)) round++;
    if (/[)\]]/.test(token.text)) round--;
    if (token.text === '{') {
      flush();
      depth++;
    } else if (
      (token.text === ';' && round === 0) ||
      (token.text === '}' && !/^(?:while|else|;|,|\))$/.test(tokens[index + 1]?.text ?? ''))
    )
      flush();
  }
  flush();
  return lines;
}
