/**
 * A cursor in the tokens of a module, with the names in scope at that place and the errors so far. Methods that read
 * something return null, or false, after they have reported an error.
 */
import type { Code } from '../source/codes.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { PtxSpan, VariableDeclaration } from './ast.ts';
import { DIRECTIVE, END, JUNK, NAME, NUMBER, type TokenStream } from './lexer.ts';
import { parseLiteral } from './literal.ts';
import { innerScope, resolveName, type NameScope } from './name-scope.ts';
import { RESERVED_NAMES } from './vocabulary.ts';

/** Maximum number of diagnostics of one file that are reported individually. */
export const MAX_DIAGNOSTICS = 100;

/** The remedy that a diagnostic of each code ends with. */
export const REMEDIES = {
  'ptx/syntax': 'Correct the statement, or generate the file again with nvcc -ptx',
  'ptx/literal': 'Correct the literal',
  'ptx/header': 'A module starts with .version and .target: generate the file again with nvcc -ptx',
  'ptx/truncated': 'Generate the whole file again with nvcc -ptx',
  'ptx/marker': 'Give one register or literal, as in `// selvage.assume %r1;`',
  'ptx/limit': 'Simplify the text',
} as const satisfies Partial<Record<Code, string>>;

/** The codes that the parser reports; those of `validate.ts` are others. */
type ParserCode = keyof typeof REMEDIES;

/** See the head of the file. Messages begin in lower case; their first letter is raised when they are reported. */
export class Cursor {
  readonly tokens: TokenStream;
  readonly kinds: Uint8Array;
  index = 0;

  scope: NameScope = innerScope(undefined);
  /** Whether some variable has a name that begins with a percent sign, so that such names must be looked up. */
  percentSymbols = false;

  readonly diagnostics: Diagnostic[] = [];
  /** Number of errors above the limit. */
  uncounted = 0;
  /** Whether an error was found since the item began. */
  faulty = false;
  /** Whether the premature end of the text was reported. */
  endReported = false;
  readonly #file: string;

  constructor(tokens: TokenStream, file: string) {
    this.tokens = tokens;
    this.kinds = tokens.kinds;
    this.#file = file;
  }

  /** Reads an integer literal. Nothing is reported if it is absent. */
  takeInteger(): boolean {
    if (this.kind() !== NUMBER) return false;
    const literal = parseLiteral(this.text());
    if (typeof literal === 'string' || literal.kind !== 'integer') return false;
    this.index++;
    return true;
  }

  /** Kind of the token at the cursor. */
  kind(): number {
    return this.kinds[this.index]!;
  }

  /** Text of the token at the cursor. */
  text(): string {
    return this.tokenText(this.index);
  }

  /** Text of any token. */
  tokenText(index: number): string {
    return this.tokens.text.slice(this.tokens.starts[index], this.tokens.ends[index]);
  }

  /** Whether the token is a name without dots and without a predefined meaning. */
  isPlainName(): boolean {
    if (this.kind() !== NAME) return false;
    const text = this.text();
    return !text.includes('.') && !RESERVED_NAMES.has(text);
  }

  /** Whether the token at the cursor is this directive, given with its dot. */
  isDirective(name: string): boolean {
    return this.kind() === DIRECTIVE && this.text() === name;
  }

  /** Reads a token of this kind. Nothing is reported if it is absent. */
  take(kind: number): boolean {
    if (this.kind() !== kind) return false;
    this.index++;
    return true;
  }

  /** Reads a punctuation token, or reports that it is missing. */
  expect(kind: number): boolean {
    if (this.take(kind)) return true;
    this.fail(`\`${String.fromCharCode(kind)}\``);
    return false;
  }

  /** Reads a number that can be a count, a line or an index. */
  smallNumber(what: string): number | null {
    if (this.kind() !== NUMBER) return this.fail(what);
    const literal = parseLiteral(this.text());
    if (typeof literal === 'string') return this.failConstant(literal);
    if (literal.kind !== 'integer' || literal.value > 0xffff_ffffn) return this.fail(what);
    this.index++;
    return Number(literal.value);
  }

  /** The text from a token to the one before the cursor, as written. */
  slice(start: number): string {
    if (this.index <= start) return '';
    return this.tokens.text.slice(this.tokens.starts[start], this.tokens.ends[this.index - 1]);
  }

  /** The tokens from `start` to before the cursor, joined by spaces: spaces and comments of the text do not matter. */
  joined(start: number): string {
    const texts: string[] = [];
    for (let at = start; at < this.index; at++) texts.push(this.tokenText(at));
    return texts.join(' ');
  }

  /** Place of a token. */
  span(index: number): PtxSpan {
    const line = this.tokens.lines[index]!;
    return { line, column: this.tokens.starts[index]! - this.tokens.lineStarts[line - 1]! + 1 };
  }

  /** The token at the cursor, as messages name it. */
  found(): string {
    const kind = this.kind();
    if (kind === END) return 'the end of the text';
    const text = this.text();
    if (kind === JUNK && text.startsWith('"')) return `a text without its closing quote, ${shortened(text)}`;
    return `\`${shortened(text)}\``;
  }

  /** Reports that something else was expected at the cursor. */
  fail(expected: string, code: ParserCode = 'ptx/syntax'): null {
    if (this.kind() === END) {
      if (this.endReported) this.faulty = true;
      else this.report('ptx/truncated', `the text ends where ${expected} was expected`);
      this.endReported = true;
    } else {
      this.report(code, `expected ${expected}, found ${this.found()}`);
    }
    return null;
  }

  /** Reports a mistake at a token. The message is a sentence without its full stop; the remedy follows it. */
  report(code: ParserCode, message: string, index = this.index): void {
    // The end of the text is reported on the line of the last token.
    const at = this.kinds[index] === END && index > 0 ? index - 1 : index;
    const { line, column } = this.span(at);
    this.reportAt(line, column, code, message);
  }

  /** As {@link report}, at a place. */
  reportAt(line: number, column: number, code: ParserCode, message: string): void {
    this.faulty = true;
    if (this.diagnostics.length >= MAX_DIAGNOSTICS) {
      this.uncounted++;
      return;
    }
    const sentence = message[0]!.toUpperCase() + message.slice(1);
    this.diagnostics.push({
      severity: 'error',
      code,
      message: `${sentence}. ${REMEDIES[code]}`,
      location: { file: this.#file, line, column },
    });
  }

  /** Reports a malformed constant, with the token at the cursor. */
  failConstant(message: string): null {
    if (this.kind() === END) return this.fail('a constant');
    const code = this.kind() === NUMBER ? 'ptx/literal' : 'ptx/syntax';
    this.report(code, `${message}, at ${this.found()}`);
    return null;
  }

  /** Adds a name to the scope. */
  declare(variable: VariableDeclaration): void {
    const { name, space, count } = variable;
    if (count !== undefined) {
      this.scope.ranges.set(name, count);
      return;
    }
    const kind = space === 'reg' || space === 'sreg' ? 'register' : 'symbol';
    if (kind === 'symbol' && name.charCodeAt(0) === 37 /* % */) this.percentSymbols = true;
    this.scope.names.set(name, kind);
  }

  /** A register as its declaration spells it: only a leading zero in an index (`%r01`) needs a lookup. */
  registerName(text: string): string {
    for (let at = text.length - 1; at > 0; at--) {
      const code = text.charCodeAt(at);
      if (code === 48) {
        const next = text.charCodeAt(at + 1);
        if (next >= 48 && next <= 57) return resolveName(this.scope, text)?.name ?? text;
      } else if (code < 48 || code > 57) break;
    }
    return text;
  }

  /** Whether the token is the first of its line. */
  isLineStart(index: number): boolean {
    return index === 0 || this.tokens.lines[index] !== this.tokens.lines[index - 1];
  }
}

/** A text shortened for a message: one line, printable. */
export function shortened(text: string): string {
  const printable = text.slice(0, 40).replace(/[^\x20-\x7e]/g, '?');
  return text.length > 40 ? `${printable}…` : printable;
}
