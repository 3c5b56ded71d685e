/**
 * Preprocesses a file in place: the project's headers are included, macros that it and they define are expanded,
 * decidable conditions are evaluated. For host files that nvcc does not compile here.
 */
import { tokenize, type Token } from '../syntax/token.ts';

interface Macro {
  readonly parameters: readonly string[] | undefined;
  readonly body: readonly Token[];
}

interface PlainRequest {
  /** Relative to the tree. */
  readonly file: string;
  /** The text of a file of the tree; undefined if it cannot be read. */
  readonly text: (file: string) => string | undefined;
  /** The file that an include names; undefined if it is outside of the tree. */
  readonly resolve: (from: string, written: string, isSystem: boolean) => string | undefined;
  /** Macros from the command line: `NAME` or `NAME=VALUE`. */
  readonly definitions: readonly string[];
}

/** Maximum characters of one file with its headers. */
const maxText = 2 << 20;
/** Maximum tokens of one use of a macro. */
const maxTokens = 20_000;
const deepestInclude = 40;

/** @returns text with line markers, as `readHostText` takes it */
export function preprocessPlainly({ file, text, resolve, definitions }: PlainRequest): string {
  const macros = new Map<string, Macro>();
  for (const definition of definitions) {
    const [name = '', value = '1'] = definition.split(/=(.*)/s);
    macros.set(name, { parameters: undefined, body: tokenize(value) });
  }
  const included = new Set<string>();
  const parts: string[] = [];
  let size = 0;
  const emit = (piece: string): void => {
    if (size > maxText) return;
    size += piece.length;
    parts.push(piece);
  };
  const read = (path: string, depth: number): void => {
    const content = text(path);
    if (content === undefined || included.has(path) || depth > deepestInclude) return;
    included.add(path);
    const marker = (line: number): string => `\n# ${line} ${JSON.stringify(path)}\n`;
    emit(marker(1));
    const tokens = tokenize(content).filter(({ kind }) => kind !== 'comment');
    // Open conditionals: whether the current branch is active, whether a branch was taken already, and whether the
    // enclosing level is active.
    const levels: { active: boolean; taken: boolean; outer: boolean }[] = [];
    const isActive = (): boolean => levels.at(-1)?.active ?? true;
    let line = 1;
    let gap = true;
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at]!;
      if (token.kind === 'directive') {
        gap = true;
        const [, word = '', rest = ''] = /^#\s*(\w+)\s*([^]*)$/.exec(token.text.replace(/\\\r?\n/g, ' ')) ?? [];
        conditional(word, rest, levels, macros);
        if (!isActive()) continue;
        if (word === 'define') define(rest, macros);
        else if (word === 'undef') macros.delete(rest.trim());
        else if (word === 'include') {
          const [, system, quoted] = /^(?:<([^>]+)>|"([^"]+)")/.exec(rest) ?? [];
          const found = resolve(path, system ?? quoted ?? '', system !== undefined);
          if (found !== undefined) read(found, depth + 1);
        }
        continue;
      }
      if (!isActive()) continue;
      if (gap || token.line !== line) {
        emit(gap || token.line < line || token.line > line + 8 ? marker(token.line) : '\n'.repeat(token.line - line));
        line = token.line;
        gap = false;
      }
      if (token.kind === 'identifier' && macros.has(token.text)) {
        const use = expansion(tokens, at, macros);
        emit(` ${use.text} `);
        at = use.end;
        line = tokens[at]!.line;
        // Text that was joined from several lines.
        if (line !== token.line) gap = true;
        continue;
      }
      const before = tokens[at - 1];
      emit((before && before.end === token.start ? '' : ' ') + token.text);
      line = token.line + (token.text.split('\n').length - 1);
    }
  };
  read(file, 0);
  return parts.join('');
}

function define(rest: string, macros: Map<string, Macro>): void {
  const [, name, parameters, body = ''] = /^([A-Za-z_]\w*)(?:\(([^)]*)\))?\s*([^]*)$/.exec(rest) ?? [];
  if (name === undefined) return;
  macros.set(name, {
    parameters: parameters
      ?.split(',')
      .map((parameter) => parameter.trim())
      .filter((parameter) => parameter !== ''),
    body: tokenize(body).filter(({ kind }) => kind !== 'comment'),
  });
}

function conditional(
  word: string,
  rest: string,
  levels: { active: boolean; taken: boolean; outer: boolean }[],
  macros: ReadonlyMap<string, Macro>,
): void {
  const outer = levels.at(-1)?.active ?? true;
  const enter = (holds: boolean): void => void levels.push({ active: outer && holds, taken: holds, outer });
  const level = levels.at(-1);
  switch (word) {
    case 'ifdef':
      enter(macros.has(rest.trim()));
      return;
    case 'ifndef':
      enter(!macros.has(rest.trim()));
      return;
    case 'if':
      enter(holds(rest, macros));
      return;
    case 'elif':
      if (level) {
        level.active = level.outer && !level.taken && holds(rest, macros);
        level.taken ||= level.active;
      }
      return;
    case 'else':
      if (level) {
        level.active = level.outer && !level.taken;
        level.taken = true;
      }
      return;
    case 'endif':
      levels.pop();
  }
}

/** Whether the condition of an `#if` holds; names that nothing defines are 0. */
function holds(text: string, macros: ReadonlyMap<string, Macro>): boolean {
  const plain = text
    .replace(/\/\*[^]*?\*\/|\/\/[^]*$/g, ' ')
    .replace(/\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))/g, (_, a?: string, b?: string) =>
      macros.has(a ?? b ?? '') ? '1' : '0',
    );
  const tokens = tokenize(plain);
  const value = (depth: number, list: readonly Token[]): readonly Token[] =>
    list.flatMap((token) => {
      const macro = token.kind === 'identifier' && depth < 20 ? macros.get(token.text) : undefined;
      return macro && !macro.parameters ? value(depth + 1, macro.body) : [token];
    });
  return new ConditionReader(value(0, tokens)).read() !== 0n;
}

/** Reads `||`, `&&`, comparisons, sums, products, `!` and parentheses over integers. */
class ConditionReader {
  private at = 0;
  private readonly tokens: readonly string[];

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens.map(({ text }) => text);
  }

  read(): bigint {
    return this.binary(0);
  }

  private static readonly levels: readonly (readonly string[])[] = [['||'], ['&&'], ['==', '!='], ['<=', '>=', '<', '>'], ['+', '-'], ['*', '/', '%']]; // oxfmt-ignore

  private operator(level: number): string | undefined {
    const [a = '', b = ''] = this.tokens.slice(this.at, this.at + 2);
    return ConditionReader.levels[level]?.find((one) => one === (one.length === 2 ? a + b : a));
  }

  private binary(level: number): bigint {
    if (level >= ConditionReader.levels.length) return this.unary();
    let left = this.binary(level + 1);
    for (let operator = this.operator(level); operator !== undefined; operator = this.operator(level)) {
      this.at += operator.length;
      const right = this.binary(level + 1);
      left = ConditionReader.apply(operator, left, right);
    }
    return left;
  }

  private static apply(operator: string, a: bigint, b: bigint): bigint {
    const of = (value: boolean): bigint => (value ? 1n : 0n);
    switch (operator) {
      case '||':
        return of(a !== 0n || b !== 0n);
      case '&&':
        return of(a !== 0n && b !== 0n);
      case '==':
        return of(a === b);
      case '!=':
        return of(a !== b);
      case '<=':
        return of(a <= b);
      case '>=':
        return of(a >= b);
      case '<':
        return of(a < b);
      case '>':
        return of(a > b);
      case '+':
        return a + b;
      case '-':
        return a - b;
      case '*':
        return a * b;
      case '/':
        return b === 0n ? 0n : a / b;
      default:
        return b === 0n ? 0n : a % b;
    }
  }

  private unary(): bigint {
    const token = this.tokens[this.at++];
    if (token === undefined) return 0n;
    if (token === '!') return this.unary() === 0n ? 1n : 0n;
    if (token === '-') return -this.unary();
    if (token === '(') {
      const value = this.binary(0);
      if (this.tokens[this.at] === ')') this.at++;
      return value;
    }
    const digits = /^(0[xX][\da-fA-F]+|\d+)[uUlL]*$/.exec(token)?.[1];
    return digits === undefined ? 0n : BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  }
}

/** A macro at a place, expanded. @returns its text, and the last token that was used */
function expansion(
  tokens: readonly Token[],
  at: number,
  macros: ReadonlyMap<string, Macro>,
): { text: string; end: number } {
  const { list, end } = used(tokens, at, macros, new Set(), { left: maxTokens });
  return { text: joinTokens(list), end };
}

function used(
  tokens: readonly Token[],
  at: number,
  macros: ReadonlyMap<string, Macro>,
  active: ReadonlySet<string>,
  budget: { left: number },
): { list: readonly Token[]; end: number } {
  const token = tokens[at]!;
  const macro = macros.get(token.text);
  if (!macro || active.has(token.text) || budget.left <= 0) return { list: [token], end: at };
  let end = at;
  let body: readonly Token[] = macro.body;
  if (macro.parameters) {
    if (tokens[at + 1]?.text !== '(') return { list: [token], end: at };
    const given: Token[][] = [[]];
    let depth = 0;
    for (end = at + 1; end < tokens.length; end++) {
      const { text } = tokens[end]!;
      if ('([{'.includes(text) && text !== '' && depth++ === 0) continue;
      if (')]}'.includes(text) && text !== '' && --depth === 0) break;
      if (text === ',' && depth === 1) given.push([]);
      else given.at(-1)!.push(tokens[end]!);
    }
    if (end >= tokens.length) return { list: [token], end: at };
    body = substituted(macro, given);
  }
  budget.left -= body.length;
  return { list: expandAll(body, macros, new Set([...active, token.text]), budget), end };
}

function expandAll(
  body: readonly Token[],
  macros: ReadonlyMap<string, Macro>,
  active: ReadonlySet<string>,
  budget: { left: number },
): readonly Token[] {
  const result: Token[] = [];
  for (let at = 0; at < body.length; at++) {
    const token = body[at]!;
    if (token.kind !== 'identifier' || !macros.has(token.text)) {
      result.push(token);
      continue;
    }
    const { list, end } = used(body, at, macros, active, budget);
    result.push(...list);
    at = end;
  }
  return result;
}

/** The body of a macro with arguments substituted for its parameters; `#x` and `a ## b` too. */
function substituted({ parameters = [], body }: Macro, given: readonly (readonly Token[])[]): Token[] {
  const isVariadic = parameters.at(-1)?.endsWith('...') === true;
  const names = parameters.map((parameter) =>
    parameter === '...' ? '__VA_ARGS__' : parameter.replace(/\s*\.\.\.$/, ''),
  );
  const valueOf = (name: string): readonly Token[] | undefined => {
    const index = names.indexOf(name);
    if (index < 0) return undefined;
    if (!isVariadic || index < names.length - 1) return given[index] ?? [];
    return given.slice(index).flatMap((one, at) => (at === 0 ? one : [punctuation(','), ...one]));
  };
  const result: Token[] = [];
  for (let at = 0; at < body.length; at++) {
    const token = body[at]!;
    if (token.text === '#' && body[at + 1]?.text === '#' && result.length > 0 && body[at + 2]) {
      const right = valueOf(body[at + 2]!.text) ?? [body[at + 2]!];
      const left = result.pop()!;
      const [first, ...rest] = right;
      result.push({ ...left, text: left.text + (first?.text ?? '') }, ...rest);
      at += 2;
    } else if (token.text === '#' && valueOf(body[at + 1]?.text ?? '')) {
      const shown = joinTokens(valueOf(body[at + 1]!.text)!);
      result.push({ ...token, kind: 'string', text: JSON.stringify(shown) });
      at++;
    } else result.push(...(valueOf(token.text) ?? [token]));
  }
  return result;
}

function punctuation(text: string): Token {
  return { kind: 'punctuation', text, start: 0, end: 0, line: 1 };
}

/** Tokens as text; operators of several characters stay together. */
function joinTokens(tokens: readonly Token[]): string {
  let text = '';
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    const isJoined = before !== undefined && before.kind === 'punctuation' && token.kind === 'punctuation' && before.end === token.start && token.start > 0; // oxfmt-ignore
    text += (at === 0 || isJoined ? '' : ' ') + token.text;
  }
  return text;
}
