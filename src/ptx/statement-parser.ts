/** The statements of a body, and recovery after a damaged one. */
import type { Guard, InlinedAt, PtxInstruction, LocDirective, PtxOperand, PtxStatement } from './ast.ts';
import { shortened, type Cursor } from './token-stream.ts';
import { parseFunctionDirectives, parseParameters, parsePragma, parseVariables } from './declaration-parser.ts';
import {
  AT,
  BANG,
  BAR,
  CLOSE_BRACE,
  COLON,
  COMMA,
  DIRECTIVE,
  END,
  GREATER,
  LESS,
  NAME,
  NUMBER,
  OPEN_BRACE,
  OPEN_PAREN,
  PLUS,
  SEMICOLON,
} from './lexer.ts';
import { innerScope } from './name-scope.ts';
import { markerOperand, parseCall, parseOperand } from './operand-parser.ts';
import {
  BARE_INSTRUCTIONS,
  BODY_DIRECTIVES,
  isModifier,
  LABELLED_DIRECTIVES,
  LINKAGES,
  MODULE_ONLY,
  SHARED_DIRECTIVES,
  SPACES,
} from './vocabulary.ts';

/** Maximum nesting depth of scopes; nvcc nests three. */
const MAX_SCOPE_DEPTH = 200;
/** Maximum number of frames of inlined calls of one `.loc`. */
const MAX_FRAMES = 64;
/** Maximum number of tokens that are read again after an error. */
const MAX_RETREAT = 4;
/** Maximum number of labels that a range of .branchtargets may denote. */
const MAX_TARGET_RANGE = 64;

interface Opcode {
  readonly opcode: string;
  readonly modifiers: readonly string[];
}

/** Reads the bodies of one module, one after the other. */
export class StatementParser {
  readonly #cursor: Cursor;
  /** Cache: a few hundred opcodes occur repeatedly. */
  readonly #opcodes = new Map<string, Opcode>();
  #nextMarker = 0;
  /** Whether the body has an extra `}`; then the missing last one is not reported. */
  #braceTooMany = false;
  /** Inlined-at chains by the place that a `.loc` of the body has named. */
  #frames = new Map<string, { readonly at: InlinedAt; readonly depth: number }>();

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /**
   * Reads the statements of a body, from after its opening brace, into `body`. False if the closing one is missing,
   * which is reported.
   *
   * @param owner name of the function in messages
   */
  parseBody(body: PtxStatement[], owner: string): boolean {
    const cursor = this.#cursor;
    this.#frames = new Map();
    this.#braceTooMany = false;
    const { markers } = cursor.tokens;
    while (this.#nextMarker < markers.length && markers[this.#nextMarker]!.before < cursor.index) this.#nextMarker++;
    if (this.#parseStatements(body, 0)) return true;
    if (this.#braceTooMany) return false;
    if (cursor.kind() !== END) {
      cursor.report('ptx/syntax', `${cursor.found()} inside the body of ${owner}: a \`}\` is missing before it`);
    } else if (!cursor.endReported) {
      cursor.endReported = true;
      cursor.report('ptx/truncated', `the text ends before the \`}\` that closes ${owner}`);
    }
    return false;
  }

  /** Parses statements into `body` up to and including the closing brace. False if that is missing. */
  #parseStatements(body: PtxStatement[], depth: number): boolean {
    const cursor = this.#cursor;
    for (;;) {
      this.#flushMarkers(body);
      const start = cursor.index;
      switch (cursor.kind()) {
        case NAME:
          if (cursor.kinds[start + 1] === COLON) this.#parseLabel(body);
          else this.#push(body, start, this.#parseInstruction(start, undefined));
          break;
        case AT: {
          const guard = this.#parseGuard();
          this.#push(body, start, guard && this.#parseInstruction(start, guard));
          break;
        }
        case DIRECTIVE:
          if (MODULE_ONLY.has(cursor.text()) && !this.#isLinkedVariable()) return false;
          this.#parseBodyDirective(body, start);
          break;
        case OPEN_BRACE:
          if (!this.#parseScope(body, depth)) return false;
          break;
        case CLOSE_BRACE:
          if (depth > 0 || this.#closesFunction()) {
            cursor.index++;
            return true;
          }
          cursor.report('ptx/syntax', 'a `}` that closes nothing, with statements after it');
          this.#braceTooMany = true;
          cursor.index++;
          body.push({ kind: 'damage', span: cursor.span(start), text: '}' });
          break;
        case END:
          return false;
        default:
          cursor.fail('a statement');
          this.#damage(body, start);
      }
    }
  }

  /**
   * Whether a declaration such as `.extern .shared …` follows, which belongs outside of a body but does not suggest
   * that the body ends here.
   */
  #isLinkedVariable(): boolean {
    const cursor = this.#cursor;
    return LINKAGES.has(cursor.text()) && SPACES.has(cursor.tokenText(cursor.index + 1));
  }

  #push(body: PtxStatement[], start: number, statement: PtxStatement | null): void {
    if (statement) body.push(statement);
    else this.#damage(body, start);
  }

  /** Whether the `}` at the cursor ends the function: not if a statement or another `}` follows. */
  #closesFunction(): boolean {
    const cursor = this.#cursor;
    const next = cursor.kinds[cursor.index + 1]!;
    if (next === DIRECTIVE) {
      const name = cursor.tokenText(cursor.index + 1);
      return SHARED_DIRECTIVES.has(name) || !BODY_DIRECTIVES.has(name);
    }
    return next !== NAME && next !== AT && next !== OPEN_BRACE && next !== CLOSE_BRACE;
  }

  #parseScope(body: PtxStatement[], depth: number): boolean {
    const cursor = this.#cursor;
    const start = cursor.index;
    if (depth >= MAX_SCOPE_DEPTH) {
      cursor.report('ptx/limit', `more than ${MAX_SCOPE_DEPTH} scopes inside one another`);
      skipBraces(cursor);
      body.push({ kind: 'damage', span: cursor.span(start), text: cursor.slice(start) });
      return true;
    }
    cursor.index++;
    const inner: PtxStatement[] = [];
    cursor.scope = innerScope(cursor.scope);
    const closed = this.#parseStatements(inner, depth + 1);
    cursor.scope = cursor.scope.outer!;
    body.push({ kind: 'scope', span: cursor.span(start), body: inner });
    return closed;
  }

  #parseLabel(body: PtxStatement[]): void {
    const cursor = this.#cursor;
    const start = cursor.index;
    const name = cursor.text();
    if (!cursor.isPlainName()) {
      cursor.fail('a label, which is one name');
      return this.#damage(body, start);
    }
    cursor.index += 2;
    if (cursor.kind() !== DIRECTIVE || !LABELLED_DIRECTIVES.has(cursor.text())) {
      body.push({ kind: 'label', span: cursor.span(start), name });
      return;
    }
    const directive = cursor.text().slice(1);
    cursor.index++;
    const first = cursor.index;
    const names = directive === 'callprototype' ? this.#skipPrototype() : this.#parseTargets();
    if (!names) return this.#damage(body, start);
    const text = cursor.joined(first);
    cursor.index++;
    body.push({ kind: 'directive', span: cursor.span(start), label: name, name: directive, text, names });
  }

  /** Names of a .branchtargets or .calltargets up to the semicolon; `L<3>` denotes L0, L1 and L2. */
  #parseTargets(): string[] | null {
    const cursor = this.#cursor;
    const names: string[] = [];
    do {
      const name = cursor.text();
      if (!cursor.isPlainName()) return cursor.fail('a label');
      cursor.index++;
      if (cursor.take(LESS)) {
        const count = cursor.smallNumber('a number of labels');
        if (count === null || !cursor.expect(GREATER)) return null;
        if (names.length + count > MAX_TARGET_RANGE) return cursor.fail('fewer labels', 'ptx/limit');
        for (let at = 0; at < count; at++) names.push(`${name}${at}`);
      } else {
        names.push(name);
      }
    } while (cursor.take(COMMA));
    return cursor.kind() === SEMICOLON ? names : cursor.fail('`,` or `;`');
  }

  /** `(.param .b32 _) _ (.param .b64 _, …) .noreturn`: checked for its shape and stored as text. */
  #skipPrototype(): string[] | null {
    const cursor = this.#cursor;
    const outer = cursor.scope;
    cursor.scope = innerScope(outer);
    const shaped = this.#parsePrototype();
    cursor.scope = outer;
    return shaped ? [] : null;
  }

  #parsePrototype(): boolean {
    const cursor = this.#cursor;
    if (cursor.kind() === OPEN_PAREN && !parseParameters(cursor)) return false;
    if (cursor.kind() !== NAME || cursor.text() !== '_') return cursor.fail('`_`') !== null;
    cursor.index++;
    if (cursor.kind() === OPEN_PAREN && !parseParameters(cursor)) return false;
    if (!parseFunctionDirectives(cursor, 'func')) return false;
    return cursor.kind() === SEMICOLON || cursor.fail('`;`') !== null;
  }

  #parseGuard(): Guard | null {
    const cursor = this.#cursor;
    cursor.index++;
    const negated = cursor.take(BANG);
    const name = cursor.text();
    if (!cursor.isPlainName()) return cursor.fail('a predicate register');
    const register = cursor.registerName(name);
    cursor.index++;
    return { register, negated };
  }

  #parseInstruction(start: number, guard: Guard | undefined): PtxInstruction | null {
    const cursor = this.#cursor;
    if (cursor.kind() !== NAME) return cursor.fail('an instruction');
    const known = this.#opcodeOf(cursor.text());
    const { opcode } = known;
    let { modifiers } = known;
    const first = opcode.charCodeAt(0) | 32;
    if (first < 97 || first > 122) return cursor.fail('an instruction');
    if (!modifiers.every(isModifier)) return cursor.fail('the name of an instruction');
    cursor.index++;
    // `mov .u32` is equivalent to `mov.u32`; a number is the `.1d` of a texture.
    while (cursor.kind() === DIRECTIVE || (cursor.kind() === NUMBER && /^\.[1-5]d$/.test(cursor.text()))) {
      const modifier = cursor.text().slice(1);
      if (!isModifier(modifier)) return cursor.fail('an operand');
      modifiers = [...modifiers, modifier];
      cursor.index++;
    }
    const operands: PtxOperand[] = [];
    if (opcode === 'call') {
      if (!parseCall(cursor, operands)) return null;
    } else if (cursor.kind() !== SEMICOLON) {
      do {
        const operand = parseOperand(cursor, operands.length === 0);
        if (!operand) return null;
        operands.push(operand);
      } while (cursor.take(COMMA));
    }
    if (cursor.kind() !== SEMICOLON) return cursor.fail(operands.length > 0 ? '`,` or `;`' : 'an operand or `;`');
    cursor.index++;
    const span = cursor.span(start);
    return guard
      ? { kind: 'instruction', span, guard, opcode, modifiers, operands }
      : { kind: 'instruction', span, opcode, modifiers, operands };
  }

  /** The opcode and modifiers in one token; a few hundred occur repeatedly. */
  #opcodeOf(name: string): Opcode {
    let known = this.#opcodes.get(name);
    if (!known) {
      const [opcode, ...modifiers] = name.split('.');
      known = { opcode: opcode!, modifiers };
      this.#opcodes.set(name, known);
    }
    return known;
  }

  #parseBodyDirective(body: PtxStatement[], start: number): void {
    const cursor = this.#cursor;
    const name = cursor.text();
    if (name === '.loc') return this.#push(body, start, this.#parseLoc(start));
    if (name === '.pragma') return this.#push(body, start, parsePragma(cursor, start));
    if (SPACES.has(name)) {
      const variables = parseVariables(cursor, start, []);
      if (variables) body.push(...variables);
      else this.#damage(body, start);
      return;
    }
    if (LINKAGES.has(name)) cursor.report('ptx/syntax', `${name} declares variables outside of functions only`);
    else if (LABELLED_DIRECTIVES.has(name)) cursor.report('ptx/syntax', `${name} needs a label in front of it`);
    else cursor.fail('a statement');
    this.#damage(body, start);
  }

  #parseLoc(start: number): LocDirective | null {
    const cursor = this.#cursor;
    cursor.index++;
    const place = this.#parsePlace();
    if (!place) return null;
    const span = cursor.span(start);
    const key = `${place.file} ${place.line} ${place.column}`;
    if (cursor.kind() !== COMMA) {
      this.#frames.delete(key);
      return { kind: 'loc', span, ...place };
    }
    let functionName: string | undefined;
    let inlinedAt: InlinedAt | undefined;
    // Both are given, in this order.
    while (!inlinedAt) {
      if (!cursor.expect(COMMA)) return null;
      const word = cursor.text();
      if (cursor.kind() === NAME && word === 'function_name' && functionName === undefined) {
        cursor.index++;
        const first = cursor.index;
        if (!cursor.isPlainName() && cursor.kind() !== DIRECTIVE) return cursor.fail('the label of a function name');
        cursor.index++;
        if (cursor.take(PLUS) && cursor.smallNumber('an offset') === null) return null;
        functionName = '';
        for (let at = first; at < cursor.index; at++) functionName += cursor.tokenText(at);
      } else if (cursor.kind() === NAME && word === 'inlined_at' && functionName !== undefined) {
        cursor.index++;
        const at = this.#parsePlace();
        if (!at) return null;
        const outer = this.#frames.get(`${at.file} ${at.line} ${at.column}`);
        const deeper = outer && outer.depth < MAX_FRAMES - 1;
        inlinedAt = deeper ? { ...at, inlinedAt: outer.at } : at;
        this.#frames.set(key, { at: inlinedAt, depth: deeper ? outer.depth + 1 : 1 });
      } else {
        return cursor.fail('function_name and then inlined_at');
      }
    }
    return { kind: 'loc', span, ...place, functionName: functionName!, inlinedAt };
  }

  /** File index, line and column. */
  #parsePlace(): { file: number; line: number; column: number } | null {
    const cursor = this.#cursor;
    const file = cursor.smallNumber('the index of a file');
    if (file === null) return null;
    const line = cursor.smallNumber('a line');
    if (line === null) return null;
    const column = cursor.smallNumber('a column');
    return column === null ? null : { file, line, column };
  }

  #flushMarkers(body: PtxStatement[]): void {
    const cursor = this.#cursor;
    const { markers } = cursor.tokens;
    for (; this.#nextMarker < markers.length; this.#nextMarker++) {
      const marker = markers[this.#nextMarker]!;
      if (marker.before > cursor.index) return;
      const span = { line: marker.line, column: marker.column };
      const operand = markerOperand(cursor, marker.operand);
      if (operand) {
        body.push({ kind: 'marker', span, name: marker.name, operand });
      } else {
        const message = `\`${shortened(marker.operand)}\` is not the operand of a selvage comment`;
        cursor.reportAt(span.line, span.column, 'ptx/marker', message);
        body.push({ kind: 'damage', span, text: '' });
      }
    }
  }

  /** Ends a damaged statement before the next one, and stores its text. */
  #damage(body: PtxStatement[], start: number): void {
    const cursor = this.#cursor;
    this.#retreat(start);
    if (cursor.index > start && isStatementStart(cursor, cursor.index)) this.#blameSemicolon();
    // Braces of a vector inside the statement are not scopes.
    let open = 0;
    for (let at = start; at < cursor.index; at++) {
      if (cursor.kinds[at] === OPEN_BRACE) open++;
      else if (cursor.kinds[at] === CLOSE_BRACE) open--;
    }
    for (; cursor.kind() !== END; cursor.index++) {
      const kind = cursor.kind();
      if (kind === SEMICOLON) {
        cursor.index++;
        break;
      }
      if (kind === OPEN_BRACE) open++;
      if (cursor.index === start) continue;
      if (isStatementStart(cursor, cursor.index)) break;
      if (kind === CLOSE_BRACE && --open < 0) {
        // `%r1, %r2}, …` lacks the opening brace of a vector; any other `}` is that of a scope.
        const next = cursor.kinds[cursor.index + 1];
        if (next !== COMMA && next !== SEMICOLON && next !== BAR) break;
        open = 0;
      }
    }
    if (cursor.kind() === END && cursor.kinds[cursor.index - 1] !== SEMICOLON && !cursor.endReported) {
      // Only the truncation is reported, not an error at its last token.
      cursor.diagnostics.pop();
      cursor.endReported = true;
      cursor.report('ptx/truncated', 'the text ends in the middle of a statement');
    }
    body.push({ kind: 'damage', span: cursor.span(start), text: cursor.slice(start) });
  }

  /** Removes diagnostics of the first token of the next statement, which are due to a missing semicolon before it. */
  #blameSemicolon(): void {
    const cursor = this.#cursor;
    if (cursor.uncounted > 0) return;
    cursor.diagnostics.pop();
    const last = cursor.tokenText(cursor.index - 1);
    cursor.report('ptx/syntax', `the statement does not end: a \`;\` is missing after \`${shortened(last)}\``, cursor.index - 1);
  }

  /**
   * If a semicolon is missing, the beginning of the next statement was read as an operand: returns to it. Looking back
   * only a few tokens keeps parsing linear.
   */
  #retreat(start: number): void {
    const cursor = this.#cursor;
    const first = Math.max(start + 1, cursor.index - MAX_RETREAT);
    for (let at = first; at < cursor.index; at++) {
      if (!isStatementStart(cursor, at)) continue;
      cursor.index = at;
      return;
    }
  }
}

/** Skips from an opening brace past the closing one, or to the next module-level item. */
export function skipBraces(cursor: Cursor): void {
  for (let open = 0; cursor.kind() !== END; cursor.index++) {
    if (cursor.kind() === OPEN_BRACE) open++;
    else if (cursor.kind() === DIRECTIVE && MODULE_ONLY.has(cursor.text())) return;
    else if (cursor.kind() === CLOSE_BRACE && --open === 0) {
      cursor.index++;
      return;
    }
  }
}

/**
 * Whether a token is the first of its line and may begin a statement. The lines of a continued statement begin
 * differently.
 */
export function isStatementStart(cursor: Cursor, index: number): boolean {
  const kind = cursor.kinds[index];
  if (kind === DIRECTIVE && MODULE_ONLY.has(cursor.tokenText(index))) return true;
  if (!cursor.isLineStart(index)) return false;
  if (kind === AT) return true;
  if (kind === DIRECTIVE) return BODY_DIRECTIVES.has(cursor.tokenText(index));
  const next = cursor.kinds[index + 1];
  if (kind === OPEN_BRACE) return next === DIRECTIVE;
  if (kind !== NAME) return false;
  if (next === COLON) return true;
  const text = cursor.tokenText(index);
  const first = text.charCodeAt(0);
  if (first < 97 || first > 122) return false;
  return text.includes('.') || BARE_INSTRUCTIONS.has(text);
}
