import { matchBrackets } from './bracket-match.ts';
import type { Token } from './token.ts';

/** A parameter of a function or template as written, for example `const float *` and `in`. */
interface ParameterSyntax {
  /** Name of the parameter; undefined if unnamed. */
  readonly name: string | undefined;
  readonly type: string;
}

/** A function with its body. Lines count from 1, offsets are UTF-16 units from 0. */
export interface FunctionDefinition {
  readonly name: string;
  /** With namespaces and classes: `ns::(anonymous namespace)::reduce`; without template arguments. */
  readonly qualified: string;
  readonly kind: 'kernel' | 'device' | 'host';
  readonly templateParameters: readonly ParameterSyntax[];
  /** Arguments of an explicit specialisation as written: `256, float`. */
  readonly specialization: string | undefined;
  readonly parameters: readonly ParameterSyntax[];
  readonly start: number;
  readonly bodyStart: number;
  readonly end: number;
  /** Line of the first token, `template` included. */
  readonly firstLine: number;
  /** Line of the name. */
  readonly signatureLine: number;
  readonly lastLine: number;
}

interface Scope {
  readonly prefix: string;
  readonly parent: Scope | null;
}

/** Words that can precede a parenthesis in a function header without being its name. */
const notNames = new Set(
  '__launch_bounds__ __attribute__ alignas __align__ __declspec decltype requires noexcept throw explicit __cluster_dims__ __block_size__ __maxnreg__ sizeof if for while switch catch'.split(
    ' ',
  ),
);
/** Tokens that can follow the parameter list of a definition. */
const trailers = new Set([
  'const',
  'volatile',
  'noexcept',
  'override',
  'final',
  '->',
  ':',
  'try',
  '&',
  'requires',
  'throw',
  '__attribute__',
]);
/** Words of a type: a name consisting only of these is not a parameter name. */
const typeWords = new Set(
  'const volatile __restrict__ __restrict restrict unsigned signed int long short char bool float double void auto size_t __half struct class union enum typename __grid_constant__ register static'.split(
    ' ',
  ),
);
const qualifierWords = new Set(
  'const volatile __restrict__ __restrict restrict struct union enum __grid_constant__ register static'.split(' '),
);

/**
 * Finds the function definitions of a text from its tokens only, so that macros and broken code elsewhere do not affect
 * the result.
 * @param text - the text that the tokens are of
 * @param allTokens - with comments and directives
 * @param globalMacros - names of macros that expand to `__global__`
 * @param deviceMacros - names of macros that expand to `__device__`
 */
export function outline(
  text: string,
  allTokens: readonly Token[],
  globalMacros: ReadonlySet<string>,
  deviceMacros: ReadonlySet<string>,
): FunctionDefinition[] {
  const partnersOfAll = matchBrackets(allTokens);
  const kept = [...allTokens.keys()].filter((index) => !['comment', 'directive'].includes(allTokens[index]?.kind ?? ''));
  const newIndex = new Map(kept.map((old, index) => [old, index]));
  const tokens = kept.map((index) => allTokens[index] as Token);
  const partner = kept.map((old) => newIndex.get(partnersOfAll[old] ?? -1) ?? -1);
  const textAt = (index: number): string => tokens[index]?.text ?? '';

  /** The index after the `>` that closes the `<` at `open`, or `open` itself if not closed. */
  const afterAngles = (open: number, end: number): number => {
    let depth = 0;
    for (let i = open; i < Math.min(end, open + 1000); i++) {
      const current = textAt(i);
      if ((current === '(' || current === '[' || current === '{') && (partner[i] ?? -1) > i) i = partner[i] ?? i;
      else if (current === '<') depth++;
      else if (current === '>' && --depth === 0) return i + 1;
    }
    return open;
  };

  const slice = (from: number, to: number): string => {
    const start = tokens[from]?.start ?? 0;
    return from >= to ? '' : normalizeSpace(text.slice(start, tokens[to - 1]?.end ?? start));
  };

  /** Splits [from, to) at the commas outside all brackets. */
  const splitAtCommas = (from: number, to: number): [number, number][] => {
    const parts: [number, number][] = [];
    let start = from;
    for (let i = from; i < to; i++) {
      const current = textAt(i);
      if ('([{'.includes(current) && (partner[i] ?? -1) > i) i = partner[i] ?? i;
      else if (current === '<') i = Math.max(i, afterAngles(i, to) - 1);
      else if (current === ',') {
        parts.push([start, i]);
        start = i + 1;
      }
    }
    if (to > start) parts.push([start, to]);
    return parts;
  };

  const parameterOf = ([from, limit]: [number, number]): ParameterSyntax => {
    let to = limit;
    let name = -1;
    let words = 0;
    for (let i = from; i < limit; i++) {
      const current = textAt(i);
      const closing = partner[i] ?? -1;
      if (current === '=') {
        to = i;
        break;
      } else if (current === '<') i = Math.max(i, afterAngles(i, limit) - 1);
      else if (current === '(' && /^[*&]$/.test(textAt(i + 1)) && tokens[closing - 1]?.kind === 'identifier') {
        name = closing - 1;
        i = closing;
      } else if ('([{'.includes(current) && closing > i) i = closing;
      else if (tokens[i]?.kind === 'identifier' && textAt(i - 1) !== '::' && textAt(i + 1) !== '::') {
        if (words > 0 && !typeWords.has(current)) name = i;
        if (!qualifierWords.has(current)) words++;
      } else if (tokens[i]?.kind === 'identifier') words++;
    }
    if (name === -1) return { name: undefined, type: slice(from, to) };
    return {
      name: textAt(name),
      type: normalizeSpace(`${slice(from, name)} ${slice(name + 1, to)}`).replace(/ (?=[)\]])|(?<=[([]) /g, ''),
    };
  };
  const parametersOf = (from: number, to: number): ParameterSyntax[] => {
    const parts = splitAtCommas(from, to).map(parameterOf);
    return parts.length === 1 && parts[0]?.type === 'void' ? [] : parts;
  };

  /** Start and end of the parameter list in the header [from, to) and of the name before it. */
  const declarator = (
    from: number,
    to: number,
  ): { name: string; nameAt: number; open: number; specialization: string | undefined } | null => {
    let found = -1;
    let fallback = -1;
    for (let i = from; i < to; i++) {
      const closing = partner[i] ?? -1;
      if (textAt(i) === '<') i = Math.max(i, afterAngles(i, to) - 1);
      else if (textAt(i) === '[' && closing > i) i = closing;
      else if (textAt(i) === '(' && closing > i && closing < to) {
        const before = tokens[i - 1];
        const named = i > from && (before?.text === '>' || before?.kind === 'identifier' || textAt(i - 2) === 'operator');
        if (named && !notNames.has(before?.text ?? '')) {
          fallback = i;
          const after = textAt(closing + 1);
          if (closing + 1 === to || trailers.has(after) || (after === '[' && textAt(closing + 2) === '[')) {
            found = i;
            break;
          }
        }
        i = closing;
      }
    }
    const open = found === -1 ? fallback : found;
    if (open === -1) return null;
    let at = open - 1;
    let specialization: string | undefined;
    if (textAt(at) === '>') {
      let start = at;
      for (let depth = 0; start > from; start--) {
        if (textAt(start) === '>') depth++;
        else if (textAt(start) === '<' && --depth === 0) break;
      }
      specialization = slice(start + 1, at);
      at = start - 1;
    }
    for (let i = Math.max(from, open - 4); i < open; i++) {
      if (textAt(i) === 'operator') return { name: slice(i, open), nameAt: i, open, specialization: undefined };
    }
    if (tokens[at]?.kind !== 'identifier') return null;
    let first = at;
    while (first - 2 >= from && textAt(first - 1) === '::' && tokens[first - 2]?.kind === 'identifier') first -= 2;
    return { name: slice(first, at + 1).replaceAll(' ', ''), nameAt: at, open, specialization };
  };

  /** The name of the class whose body opens at `to`, null if the header is of something else. */
  const className = (from: number, to: number): string | null => {
    let at = from;
    while (['typedef', 'static', 'const', 'constexpr', 'extern'].includes(textAt(at))) at++;
    if (!['struct', 'class', 'union'].includes(textAt(at))) return null;
    let name = '';
    for (let i = at + 1; i < to; i++) {
      const closing = partner[i] ?? -1;
      if (textAt(i) === ':') break;
      if (textAt(i) === '[' && closing > i) i = closing;
      else if (textAt(i) === '<') i = Math.max(i, afterAngles(i, to) - 1);
      else if (textAt(i + 1) === '(' && (partner[i + 1] ?? -1) > i) i = partner[i + 1] ?? i;
      else if (textAt(i) === '(') return null;
      else if (tokens[i]?.kind === 'identifier' && textAt(i) !== 'final') {
        name = textAt(i - 1) === '::' ? `${name}::${textAt(i)}` : textAt(i);
      }
    }
    return textAt(to - 1) === ')' ? null : name;
  };

  const namespaceName = (from: number, to: number): string => {
    const words: string[] = [];
    for (let i = from; i < to; i++) {
      if ('[('.includes(textAt(i)) && (partner[i] ?? -1) > i) i = partner[i] ?? i;
      else if (tokens[i]?.kind === 'identifier' && textAt(i) !== 'inline' && textAt(i) !== 'namespace') {
        if (textAt(i - 1) !== '::' && !(textAt(i - 1) === 'inline' && textAt(i - 2) === '::')) words.length = 0;
        words.push(textAt(i));
      }
    }
    return words.length === 0 ? '(anonymous namespace)' : words.join('::');
  };

  const functions: FunctionDefinition[] = [];
  let scope: Scope = { prefix: '', parent: null };
  const enter = (name: string): void => {
    scope = { prefix: name === '' ? scope.prefix : `${scope.prefix}${name}::`, parent: scope };
  };
  let start = 0;
  for (let i = 0; i < tokens.length; i++) {
    const current = textAt(i);
    if (current === '(' && (partner[i] ?? -1) > i) i = partner[i] ?? i;
    else if (current === ';') start = i + 1;
    else if (current === ':' && ['public', 'private', 'protected'].includes(textAt(i - 1))) start = i + 1;
    else if (current === '}') {
      scope = scope.parent ?? scope;
      start = i + 1;
    } else if (current === '{') {
      let from = start;
      const templates: [number, number][] = [];
      while (textAt(from) === 'template' && textAt(from + 1) === '<') {
        const after = afterAngles(from + 1, i);
        if (after === from + 1) break;
        templates.push([from + 2, after - 1]);
        from = after;
      }
      const closing = partner[i] ?? -1;
      const header = tokens.slice(from, i);
      const type = className(from, i);
      if (header.some((token) => token.text === 'namespace')) enter(namespaceName(from, i));
      else if (type !== null) enter(type);
      else if (textAt(from) === 'extern' && tokens[from + 1]?.kind === 'string' && from + 2 === i) enter('');
      else {
        const found = declarator(from, i);
        if (found) {
          const words = new Set(header.map((token) => token.text));
          const hasWord = (word: string, macros: ReadonlySet<string>): boolean =>
            words.has(word) || header.some((token) => macros.has(token.text));
          const isDevice = hasWord('__device__', deviceMacros);
          const end = closing > i ? (tokens[closing]?.end ?? text.length) : text.length;
          functions.push({
            name: found.name.slice(found.name.lastIndexOf('::') === -1 ? 0 : found.name.lastIndexOf('::') + 2),
            qualified: scope.prefix + found.name,
            kind: hasWord('__global__', globalMacros) ? 'kernel' : isDevice ? 'device' : 'host',
            templateParameters: templates.flatMap(([open, close]) => parametersOf(open, close)),
            specialization: found.specialization,
            parameters: parametersOf(found.open + 1, partner[found.open] ?? found.open),
            start: tokens[start]?.start ?? 0,
            bodyStart: tokens[i]?.start ?? 0,
            end,
            firstLine: tokens[start]?.line ?? 1,
            signatureLine: tokens[found.nameAt]?.line ?? 1,
            lastLine: tokens[closing > i ? closing : tokens.length - 1]?.line ?? 1,
          });
        }
        // The opening bracket is in an earlier branch of a conditional; the bracket in the last branch comes later.
        const isAlternative = closing > i && partner[closing] !== i;
        if (closing <= i) enter('');
        else if (!isAlternative) i = closing;
      }
      start = i + 1;
    }
  }
  return functions;
}

/** Collapses white space and drops comments. */
export function normalizeSpace(text: string): string {
  return text
    .replace(/\/\/[^\n]*|\/\*[^]*?\*\//g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
