/** Expressions and statements of Python, Starlark (Bazel) and Meson. Their expressions differ in a few tokens. */
import type { Branch } from './branches.ts';

export type ScriptLanguage = 'python' | 'meson';

export interface ScriptArgument {
  readonly name: string | undefined;
  readonly value: ScriptExpression;
}

export type ScriptExpression =
  | { readonly kind: 'text'; readonly text: string; readonly isFormatted: boolean }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly ScriptExpression[] }
  | { readonly kind: 'dictionary'; readonly entries: readonly (readonly [ScriptExpression, ScriptExpression])[] }
  | { readonly kind: 'call'; readonly called: ScriptExpression; readonly given: readonly ScriptArgument[]; readonly line: number }
  | { readonly kind: 'member'; readonly of: ScriptExpression; readonly name: string }
  | { readonly kind: 'item'; readonly of: ScriptExpression; readonly key: ScriptExpression }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: ScriptExpression;
      readonly right: ScriptExpression;
    }
  | { readonly kind: 'not'; readonly operand: ScriptExpression }
  | { readonly kind: 'choice'; readonly condition: ScriptExpression; readonly yes: ScriptExpression; readonly no: ScriptExpression }
  | {
      readonly kind: 'each';
      readonly element: ScriptExpression;
      readonly variable: string;
      readonly over: ScriptExpression;
      readonly condition: ScriptExpression | undefined;
    }
  | { readonly kind: 'opaque' };

interface Token {
  readonly kind: 'text' | 'formatted' | 'number' | 'name' | 'sign' | 'end';
  readonly text: string;
  readonly line: number;
}

const tokenPattern =
  /(?<space>[ \t\r\n\\]+|#[^\n]*)|(?<prefix>[rbuRBU]|[fF][rR]?|[rR][fF])?(?<string>'''[^]*?'''|"""[^]*?"""|'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*")|(?<name>[A-Za-z_]\w*)|(?<number>\d[\w.]*)|(?<sign>==|!=|<=|>=|\*\*|\/\/|->|:=|[+*/%|&-]=|[^\w\s])/y;

function tokensOf(text: string, firstLine: number): Token[] {
  const tokens: Token[] = [];
  let line = firstLine;
  const pattern = new RegExp(tokenPattern);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { prefix = '', string, name, number, sign } = match.groups!;
    if (string !== undefined) {
      const quotes = /^(?:'''|""")/.test(string) ? 3 : 1;
      const inner = string.slice(quotes, -quotes);
      const plain = /r/i.test(prefix)
        ? inner
        : inner.replaceAll(/\\(\n|[^])/g, (_, character: string) =>
            character === 'n' ? '\n' : character === 't' ? '\t' : character === '\n' ? '' : character,
          );
      tokens.push({ kind: /f/i.test(prefix) ? 'formatted' : 'text', text: plain, line });
    } else if (name !== undefined) tokens.push({ kind: 'name', text: name, line });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, line });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, line });
    line += match[0].split('\n').length - 1;
  }
  tokens.push({ kind: 'end', text: '', line });
  return tokens;
}

const opaque: ScriptExpression = { kind: 'opaque' };

/** Operators from the loosest to the tightest. */
const levels: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['not'],
  ['==', '!=', '<', '>', '<=', '>=', 'in', 'is'],
  ['|'],
  ['&'],
  ['+', '-'],
  ['*', '/', '//', '%'],
];
const levelOfNot = 2;

/**
 * Parses an expression.
 * @param line of its first character
 * @returns `opaque` if a construct is not on the list
 */
export function parseScript(text: string, language: ScriptLanguage, line = 1): ScriptExpression {
  return new ScriptParser(tokensOf(text, line), language).whole();
}

class ScriptParser {
  private at = 0;
  private readonly tokens: readonly Token[];
  private readonly language: ScriptLanguage;

  constructor(tokens: readonly Token[], language: ScriptLanguage) {
    this.tokens = tokens;
    this.language = language;
  }

  whole(): ScriptExpression {
    const first = this.expression();
    if (!this.is(',')) return this.current.kind === 'end' ? first : opaque;
    const items = [first];
    while (this.skip(',')) if (this.current.kind !== 'end') items.push(this.expression());
    return { kind: 'list', items };
  }

  private get current(): Token {
    return this.tokens[Math.min(this.at, this.tokens.length - 1)]!;
  }

  private is(text: string): boolean {
    return (this.current.kind === 'sign' || this.current.kind === 'name') && this.current.text === text;
  }

  private skip(text: string): boolean {
    const isNext = this.is(text);
    if (isNext) this.at++;
    return isNext;
  }

  private expression(): ScriptExpression {
    const first = this.level(0);
    if (this.language === 'meson' && this.skip('?')) {
      const yes = this.expression();
      return this.skip(':') ? { kind: 'choice', condition: first, yes, no: this.expression() } : opaque;
    }
    if (this.language !== 'python' || !this.skip('if')) return first;
    const condition = this.level(0);
    return this.skip('else') ? { kind: 'choice', condition, yes: first, no: this.expression() } : opaque;
  }

  private level(depth: number): ScriptExpression {
    const operators = levels[depth];
    if (operators === undefined) return this.postfix();
    if (depth === levelOfNot) return this.skip('not') ? { kind: 'not', operand: this.level(depth) } : this.level(depth + 1);
    let left = this.level(depth + 1);
    for (;;) {
      const isNotIn = this.is('not') && this.tokens[this.at + 1]?.text === 'in' && operators.includes('in');
      const operator = operators.find((one) => this.is(one));
      if (operator === undefined && !isNotIn) return left;
      this.at += isNotIn ? 2 : 1;
      const isNegated = isNotIn || (operator === 'is' && this.skip('not'));
      const right = this.level(depth + 1);
      const result: ScriptExpression = { kind: 'binary', operator: isNotIn ? 'in' : operator!, left, right };
      left = isNegated ? { kind: 'not', operand: result } : result;
    }
  }

  private postfix(): ScriptExpression {
    let value = this.primary();
    for (;;) {
      const { line } = this.current;
      if (this.skip('.')) value = { kind: 'member', of: value, name: this.tokens[this.at++]?.text ?? '' };
      else if (this.is('(')) value = { kind: 'call', called: value, given: this.argumentsInside(), line };
      else if (this.skip('[')) {
        const key = this.is(':') ? opaque : this.expression();
        const isSlice = !this.skip(']');
        if (isSlice) this.skipTo(']');
        value = isSlice ? opaque : { kind: 'item', of: value, key };
      } else return value;
    }
  }

  private argumentsInside(): ScriptArgument[] {
    const given: ScriptArgument[] = [];
    this.at++;
    while (!this.skip(')') && this.current.kind !== 'end') {
      const sign = this.language === 'meson' ? ':' : '=';
      const isNamed = this.current.kind === 'name' && this.tokens[this.at + 1]?.text === sign && this.tokens[this.at + 1]?.kind === 'sign';
      const name = isNamed ? this.current.text : undefined;
      if (isNamed) this.at += 2;
      const isSpread = this.skip('*') || this.skip('**');
      const value = this.comprehension(this.expression());
      given.push({ name, value: isSpread ? opaque : value });
      if (!this.skip(',') && !this.is(')')) this.skipTo(')', ',');
    }
    return given;
  }

  private primary(): ScriptExpression {
    const token = this.current;
    this.at++;
    switch (token.kind) {
      case 'text':
      case 'formatted': {
        let { text } = token;
        let isFormatted = token.kind === 'formatted';
        // Adjacent literals are one text.
        for (; this.current.kind === 'text' || this.current.kind === 'formatted'; this.at++) {
          text += this.current.text;
          isFormatted ||= this.current.kind === 'formatted';
        }
        return { kind: 'text', text, isFormatted };
      }
      case 'number':
        return { kind: 'number', value: Number(token.text) };
      case 'name':
        if (token.text === 'lambda') this.skipTo(')', ',', ']', '}');
        return token.text === 'lambda' ? opaque : { kind: 'name', name: token.text };
      case 'sign':
        if (token.text === '(' || token.text === '[') return this.sequence(token.text);
        if (token.text === '{') return this.dictionary();
        if (token.text === '-' || token.text === '+') {
          const operand = this.postfix();
          return operand.kind === 'number' ? { kind: 'number', value: token.text === '-' ? -operand.value : operand.value } : opaque;
        }
        return opaque;
      default:
        this.at--;
        return opaque;
    }
  }

  /** A list or tuple, or an expression in parentheses. */
  private sequence(open: string): ScriptExpression {
    const close = open === '(' ? ')' : ']';
    const items: ScriptExpression[] = [];
    let isTuple = open === '[';
    while (!this.skip(close) && this.current.kind !== 'end') {
      const isSpread = this.skip('*');
      const first = this.expression();
      const item = this.comprehension(first);
      if (item !== first) {
        this.skipTo(close);
        this.skip(close);
        return item;
      }
      items.push(isSpread ? opaque : item);
      if (this.skip(',')) isTuple = true;
      else if (!this.is(close)) this.skipTo(close, ',');
    }
    return isTuple || items.length !== 1 ? { kind: 'list', items } : items[0]!;
  }

  private comprehension(element: ScriptExpression): ScriptExpression {
    if (this.language !== 'python' || !this.skip('for')) return element;
    const variable = this.current.kind === 'name' ? this.current.text : '';
    this.at++;
    if (!this.skip('in')) return opaque;
    const over = this.level(0);
    const condition = this.skip('if') ? this.level(0) : undefined;
    return this.is('for') ? opaque : { kind: 'each', element, variable, over, condition };
  }

  private dictionary(): ScriptExpression {
    const entries: (readonly [ScriptExpression, ScriptExpression])[] = [];
    const items: ScriptExpression[] = [];
    while (!this.skip('}') && this.current.kind !== 'end') {
      const key = this.expression();
      // Inline tables of TOML use `=`.
      if (this.skip(':') || this.skip('='))
        entries.push([
          key.kind === 'name' && this.tokens[this.at - 1]?.text === '=' ? { kind: 'text', text: key.name, isFormatted: false } : key,
          this.expression(),
        ]);
      else items.push(key);
      if (!this.skip(',') && !this.is('}')) this.skipTo('}', ',');
    }
    return items.length > 0 ? { kind: 'list', items } : { kind: 'dictionary', entries };
  }

  /** Skips to one of the signs outside of parentheses. */
  private skipTo(...signs: readonly string[]): void {
    for (let depth = 0; this.current.kind !== 'end'; this.at++) {
      const { kind, text } = this.current;
      if (kind !== 'sign') continue;
      if (depth === 0 && signs.includes(text)) break;
      if (/^[([{]$/.test(text)) depth++;
      else if (/^[)\]}]$/.test(text) && --depth < 0) break;
    }
  }
}

export interface ScriptLine {
  readonly indent: number;
  readonly text: string;
  readonly line: number;
}

/** Lines of a script, joined inside of parentheses and texts; comments and empty lines are left out. */
export function scriptLines(text: string): ScriptLine[] {
  const lines: ScriptLine[] = [];
  const pattern = /'''[^]*?(?:'''|$)|"""[^]*?(?:"""|$)|'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|#[^\n]*|[([{]|[)\]}]|\\\r?\n|\n/g;
  let depth = 0;
  let start = 0;
  let line = 1;
  let counted = 0;
  const add = (end: number): void => {
    const whole = text.slice(start, end);
    const content = whole.replace(/^\s*\n/, '');
    for (; counted < start; counted++) if (text[counted] === '\n') line++;
    const indent = /^[ \t]*/.exec(content)![0].replaceAll('\t', '        ').length;
    if (!/^\s*(?:#.*)?$/.test(content)) lines.push({ indent, text: content.trim(), line });
    start = end + 1;
  };
  for (const match of text.matchAll(pattern)) {
    if (/^[([{]$/.test(match[0])) depth++;
    else if (/^[)\]}]$/.test(match[0])) depth = Math.max(0, depth - 1);
    else if (match[0] === '\n' && depth === 0) add(match.index);
  }
  add(text.length);
  return lines;
}

export type ScriptStatement =
  | { readonly kind: 'if'; readonly branches: readonly (Branch<ScriptLine, ScriptLine> & { readonly line: number })[] }
  | { readonly kind: 'loop'; readonly names: readonly string[]; readonly over: ScriptLine; readonly body: readonly ScriptLine[] }
  | { readonly kind: 'other'; readonly head: ScriptLine; readonly body: readonly ScriptLine[] };

/** A line with the lines inside of it. */
interface ScriptBlock {
  readonly head: ScriptLine;
  readonly body: readonly ScriptLine[];
}

/** Groups lines of Python by their indentation. */
export function* pythonStatements(lines: readonly ScriptLine[]): Iterable<ScriptStatement> {
  for (let at = 0; at < lines.length;) {
    const block = (): ScriptBlock => {
      const head = lines[at++]!;
      const start = at;
      while (at < lines.length && lines[at]!.indent > head.indent) at++;
      const body = lines.slice(start, at);
      const { text, rest } = headOf(head.text);
      return { head: { ...head, text }, body: rest === '' ? body : [{ indent: head.indent + 1, text: rest, line: head.line }, ...body] };
    };
    const blocks = [block()];
    const { head } = blocks[0]!;
    const isConditional = /^if\b/.test(head.text);
    while (isConditional && lines[at]?.indent === head.indent && /^(?:elif|else)\b/.test(lines[at]!.text)) blocks.push(block());
    yield statementOf(blocks, /^for\b(?:\s+([\w\s,()]+?)\s+in\s+([^]+))?$/);
  }
}

/** Groups lines of Meson by the keywords that end blocks. */
export function* mesonStatements(lines: readonly ScriptLine[]): Iterable<ScriptStatement> {
  for (let at = 0; at < lines.length; at++) {
    const blocks = [{ head: lines[at]!, body: [] as ScriptLine[] }];
    let depth = /^(?:if|foreach)\b/.test(lines[at]!.text) ? 1 : 0;
    while (depth > 0 && ++at < lines.length) {
      const line = lines[at]!;
      if (/^(?:if|foreach)\b/.test(line.text)) depth++;
      else if (/^(?:endif|endforeach)\b/.test(line.text)) depth--;
      if (depth === 1 && /^(?:elif|else)\b/.test(line.text)) blocks.push({ head: line, body: [] });
      else if (depth > 0) blocks.at(-1)!.body.push(line);
    }
    yield statementOf(blocks, /^foreach\b(?:\s+([\w\s,]+?)\s*:\s*([^]+))?$/);
  }
}

function statementOf(blocks: readonly ScriptBlock[], loop: RegExp): ScriptStatement {
  const { head, body } = blocks[0]!;
  if (/^if\b/.test(head.text)) {
    const branches = blocks.map(({ head: { text, line, indent }, body: inner }) => {
      const condition = text.startsWith('else') ? undefined : { text: text.replace(/^(?:el)?if\b/, '').trim(), line, indent };
      return { condition, body: inner, line };
    });
    return { kind: 'if', branches };
  }
  const match = loop.exec(head.text);
  if (match === null) return { kind: 'other', head, body };
  const [, names = '', over = ''] = match;
  return { kind: 'loop', names: names.split(',').map((name) => name.replaceAll(/[()]/g, '').trim()), over: { ...head, text: over }, body };
}

/** The head of a compound statement, and the statement after its colon. */
function headOf(text: string): { readonly text: string; readonly rest: string } {
  if (!/^(?:if|elif|else|for|while|def|class|try|except|finally|with|async)\b/.test(text)) return { text, rest: '' };
  let depth = 0;
  const pattern = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|[([{]|[)\]}]|:/g;
  for (const match of text.matchAll(pattern)) {
    if (/^[([{]$/.test(match[0])) depth++;
    else if (/^[)\]}]$/.test(match[0])) depth--;
    else if (match[0] === ':' && depth === 0)
      return {
        text: text.slice(0, match.index).trim(),
        rest: text
          .slice(match.index + 1)
          .replace(/^\s*#.*$/, '')
          .trim(),
      };
  }
  return { text, rest: '' };
}
