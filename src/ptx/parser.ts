/**
 * The parser of PTX: the output of nvcc and handwritten text (PTX ISA 9.0), and any other file contents.
 *
 * It never throws and takes linear time. An error becomes one diagnostic and a `damage` statement; parsing resumes at
 * the next semicolon, brace or line that begins like a statement, so the code before and after survives.
 */
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Function, Module, ModuleItem, PerformanceDirective, PtxSpan, PtxStatement, VariableDeclaration } from './ast.ts';
import { Cursor, MAX_DIAGNOSTICS, REMEDIES } from './token-stream.ts';
import { readDebugStrings } from './debug-information.ts';
import { parseAttribute, parseFunctionDirectives, parseParameters, parsePragma, parseVariables } from './declaration-parser.ts';
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  DIRECTIVE,
  DWARF_LINE,
  END,
  lex,
  MINUS,
  NAME,
  OPEN_BRACE,
  OPEN_PAREN,
  PLUS,
  SEMICOLON,
  STRING,
} from './lexer.ts';
import { innerScope } from './name-scope.ts';
import { isStatementStart, skipBraces, StatementParser } from './statement-parser.ts';
import { validateModule } from './validate.ts';
import { ARCHITECTURE, HEADER_DIRECTIVES, LINKAGES, MODULE_ONLY, SHARED_DIRECTIVES, SPACES, TARGET_OPTIONS } from './vocabulary.ts';

/**
 * Parses a PTX module. Never throws.
 *
 * @param text the module
 * @param file the file name in diagnostics
 * @returns the tree, with unreadable parts as `damage`, and the diagnostics in the order of the text
 */
export function parsePtx(text: string, file = '<ptx>'): { module: Module; diagnostics: Diagnostic[] } {
  const cursor = new Cursor(lex(text), file);
  const module = new ModuleParser(cursor).parseModule();
  const validated = validateModule(module, file);
  const diagnostics = [...cursor.diagnostics, ...validated.diagnostics];
  diagnostics.sort((a, b) => (a.location?.line ?? 0) - (b.location?.line ?? 0));
  return { module: validated.module, diagnostics: limited(diagnostics, cursor.uncounted, file) };
}

function limited(diagnostics: Diagnostic[], more: number, file: string): Diagnostic[] {
  const rest = Math.max(0, diagnostics.length - MAX_DIAGNOSTICS) + more;
  if (rest === 0) return diagnostics;
  const shown = diagnostics.slice(0, MAX_DIAGNOSTICS);
  const message = `${rest} further errors in this file are not listed. ${REMEDIES['ptx/limit']}`;
  const line = shown.at(-1)?.location?.line ?? 1;
  return [...shown, { severity: 'error', code: 'ptx/limit', message, location: { file, line } }];
}

/** Directives of the module header that were read so far. */
interface Header {
  readonly kind: 'entry' | 'func';
  readonly span: PtxSpan;
  readonly linkage: readonly string[];
  readonly attributes: string[];
  name: string;
  results: readonly VariableDeclaration[];
  parameters: readonly VariableDeclaration[];
  directives: readonly PerformanceDirective[];
}

class ModuleParser {
  readonly #cursor: Cursor;
  readonly #statements: StatementParser;
  readonly #items: ModuleItem[] = [];
  /** Index of the last function among the items. */
  #lastFunction = -1;
  readonly #files = new Map<number, string>();
  readonly #fileAttributes = new Map<number, string>();
  readonly #debugStrings = new Map<string, string>();

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
    this.#statements = new StatementParser(cursor);
  }

  parseModule(): Module {
    const cursor = this.#cursor;
    const comment = cursor.tokens.unterminatedComment;
    if (comment !== undefined) {
      cursor.reportAt(comment, 1, 'ptx/truncated', 'a comment that begins with /* has no end');
      cursor.endReported = true;
    }
    const { version, target, addressSize } = this.#parseHeader();
    while (cursor.kind() !== END) this.#parseItem();
    if (comment !== undefined) this.#markLastFunction();
    return {
      version,
      target,
      addressSize,
      items: this.#items,
      files: this.#files,
      fileAttributes: this.#fileAttributes,
      debugStrings: this.#debugStrings,
    };
  }

  #parseHeader(): Pick<Module, 'version' | 'target' | 'addressSize'> {
    const cursor = this.#cursor;
    let version = '';
    const target: string[] = [];
    let addressSize = 64;
    // Whether an error of the header was reported; only the first one is.
    let complained = false;
    const complain = (message: string, index = cursor.index): void => {
      if (!complained) cursor.report('ptx/header', message, index);
      complained = true;
    };
    for (let order = 0; cursor.kind() === DIRECTIVE;) {
      const at = cursor.index;
      const directive = cursor.text();
      const place = HEADER_DIRECTIVES.indexOf(directive);
      if (place < 0) break;
      if (place < order - (directive === '.target' ? 1 : 0)) complain(`${directive} stands too late or twice`);
      order = place + 1;
      cursor.index++;
      const text = cursor.text();
      if (directive === '.target') {
        do {
          const name = cursor.text();
          if (cursor.kind() !== NAME || !(ARCHITECTURE.test(name) || TARGET_OPTIONS.has(name))) {
            complain(`expected a target such as sm_80, found ${cursor.found()}`);
            this.#skipHeaderLine();
            break;
          }
          target.push(name);
          cursor.index++;
        } while (cursor.take(COMMA));
      } else if (directive === '.version' ? this.#isVersion() : text === '32' || text === '64') {
        if (directive === '.version') version = text;
        else addressSize = Number(text);
        cursor.index++;
      } else {
        complain(`${directive} is not followed by ${directive === '.version' ? 'a version such as 9.0' : '32 or 64'}`, at);
        this.#skipHeaderLine();
      }
    }
    if (version === '') complain('the module does not begin with a .version directive');
    if (!target.some((name) => ARCHITECTURE.test(name))) complain('the module lacks a .target after its .version');
    return { version, target, addressSize };
  }

  /** Whether the token is a version number such as 9.0, on the line of its directive. */
  #isVersion(): boolean {
    const cursor = this.#cursor;
    return /^\d+\.\d+$/.test(cursor.text()) && cursor.tokens.lines[cursor.index] === cursor.tokens.lines[cursor.index - 1];
  }

  /** Skips the rest of a damaged header line. */
  #skipHeaderLine(): void {
    const cursor = this.#cursor;
    const line = cursor.tokens.lines[cursor.index - 1];
    while (cursor.kind() !== END && cursor.tokens.lines[cursor.index] === line && cursor.kind() !== DIRECTIVE) cursor.index++;
  }

  #parseItem(): void {
    const cursor = this.#cursor;
    const start = cursor.index;
    cursor.faulty = false;
    const kind = cursor.kind();
    if (kind === DWARF_LINE) {
      cursor.index++;
      this.#items.push({ kind: 'raw', span: cursor.span(start), text: cursor.slice(start) });
      return;
    }
    if (kind !== DIRECTIVE) return this.#junkItem(start);
    const name = cursor.text();
    if (name === '.file') return this.#parseFile(start);
    if (name === '.section') return this.#parseSection(start);
    if (name === '.alias') return this.#parseAlias(start);
    if (name === '.pragma') {
      const pragma = parsePragma(cursor, start);
      if (pragma) this.#items.push(pragma);
      else this.#damagedItem(start);
      return;
    }
    const linkage: string[] = [];
    while (cursor.kind() === DIRECTIVE && LINKAGES.has(cursor.text())) {
      linkage.push(cursor.text().slice(1));
      cursor.index++;
    }
    if (linkage.length > 1) cursor.report('ptx/syntax', `only one of .${linkage.join(' and .')} may be given`, start);
    if (cursor.isDirective('.entry') || cursor.isDirective('.func')) return this.#parseFunction(start, linkage);
    if (cursor.kind() === DIRECTIVE && SPACES.has(cursor.text())) {
      const variables = parseVariables(cursor, start, linkage);
      if (variables) this.#items.push(...variables);
      else this.#damagedItem(start);
      return;
    }
    if (linkage.length > 0) {
      cursor.fail('.entry, .func or a variable');
      return this.#damagedItem(start);
    }
    this.#junkItem(start);
  }

  /** Reports text that begins no item: a statement outside a body, or garbage. */
  #junkItem(start: number): void {
    const cursor = this.#cursor;
    cursor.report(
      'ptx/syntax',
      cursor.kind() === CLOSE_BRACE
        ? 'a `}` that closes nothing'
        : `${cursor.found()} cannot stand outside a function (a brace too many before it, or a directive misspelt)`,
    );
    cursor.index++;
    this.#damagedItem(start);
  }

  /** Ends a damaged item at its semicolon, or before the next item. */
  #damagedItem(start: number): void {
    const cursor = this.#cursor;
    if (cursor.index === start) cursor.index++;
    for (; cursor.kind() !== END; cursor.index++) {
      if (cursor.kind() !== DIRECTIVE) continue;
      const name = cursor.text();
      if (MODULE_ONLY.has(name)) break;
      if (!SHARED_DIRECTIVES.has(name)) continue;
      const before = cursor.kinds[cursor.index - 1];
      if (cursor.isLineStart(cursor.index) || before === SEMICOLON || before === CLOSE_BRACE) break;
    }
    this.#items.push({ kind: 'damage', span: cursor.span(start), text: cursor.slice(start) });
    this.#markLastFunction();
  }

  /** Marks the last function as faulty: text after its body that is not an item may belong to that body. */
  #markLastFunction(): void {
    const item = this.#items[this.#lastFunction];
    if (!item || (item.kind !== 'entry' && item.kind !== 'func') || !item.body) return;
    this.#items[this.#lastFunction] = { ...item, truncated: true, faulty: true };
  }

  /** `.file index "path" [, timestamp, size]`. */
  #parseFile(start: number): void {
    const cursor = this.#cursor;
    cursor.index++;
    const index = cursor.smallNumber('the index of the file');
    if (index === null) return this.#damagedItem(start);
    if (cursor.kind() !== STRING) {
      cursor.fail('the path of the file in quotes');
      return this.#damagedItem(start);
    }
    const path = cursor.text().slice(1, -1);
    cursor.index++;
    const attributes = cursor.index;
    for (let values = 0; values < 2 && cursor.take(COMMA); values++) {
      if (!cursor.takeInteger()) {
        cursor.fail('a number');
        return this.#damagedItem(start);
      }
    }
    if (cursor.index > attributes) this.#fileAttributes.set(index, cursor.joined(attributes));
    this.#files.set(index, path);
  }

  /** `.section .debug_str { labels and data }`, stored as written. */
  #parseSection(start: number): void {
    const cursor = this.#cursor;
    cursor.index++;
    const name = cursor.text();
    if (cursor.kind() !== DIRECTIVE) {
      cursor.fail('the name of the section');
      return this.#damagedItem(start);
    }
    cursor.index++;
    if (!cursor.expect(OPEN_BRACE)) return this.#damagedItem(start);
    const open = cursor.index;
    if (!this.#parseSectionData(1)) return this.#damagedItem(start);
    if (name === '.debug_str') readDebugStrings(cursor.tokens, open, cursor.index, this.#debugStrings);
    this.#items.push({ kind: 'raw', span: cursor.span(start), text: cursor.slice(start) });
  }

  /** Parses labels and `.b8 1, label+2, label-label` up to and including the closing brace; braces may nest. */
  #parseSectionData(depth: number): boolean {
    const cursor = this.#cursor;
    for (;;) {
      switch (cursor.kind()) {
        case CLOSE_BRACE:
          cursor.index++;
          if (--depth === 0) return true;
          continue;
        case OPEN_BRACE:
          cursor.index++;
          depth++;
          continue;
        case NAME:
          if (!cursor.isPlainName() || cursor.kinds[cursor.index + 1] !== COLON) return cursor.fail('a label') !== null;
          cursor.index += 2;
          continue;
        case DIRECTIVE:
          if (!/^\.b(8|16|32|64)$/.test(cursor.text())) return cursor.fail('data such as .b8') !== null;
          cursor.index++;
          if (!this.#parseSectionValues()) return cursor.fail('a number or a label') !== null;
          continue;
        default:
          return cursor.fail('`}`') !== null;
      }
    }
  }

  /** A list of integers, or one label, `label+integer` or `label-label` (PTX ISA 11.5.3). */
  #parseSectionValues(): boolean {
    const cursor = this.#cursor;
    if (!cursor.isPlainName() && cursor.kind() !== DIRECTIVE) {
      do {
        cursor.take(MINUS);
        if (!cursor.takeInteger()) return false;
      } while (cursor.take(COMMA));
      return true;
    }
    cursor.index++;
    if (cursor.take(PLUS)) return cursor.takeInteger();
    if (!cursor.take(MINUS)) return true;
    if (!cursor.isPlainName() && cursor.kind() !== DIRECTIVE) return false;
    cursor.index++;
    return true;
  }

  /** `.alias name, name;`. */
  #parseAlias(start: number): void {
    const cursor = this.#cursor;
    cursor.index++;
    for (let side = 0; side < 2; side++) {
      if (side === 1 && !cursor.expect(COMMA)) return this.#damagedItem(start);
      if (cursor.kind() !== NAME) {
        cursor.fail('the name of a function');
        return this.#damagedItem(start);
      }
      cursor.index++;
    }
    if (!cursor.expect(SEMICOLON)) return this.#damagedItem(start);
    this.#items.push({ kind: 'raw', span: cursor.span(start), text: cursor.joined(start) });
  }

  #parseFunction(start: number, linkage: readonly string[]): void {
    const cursor = this.#cursor;
    const header: Header = {
      kind: cursor.isDirective('.entry') ? 'entry' : 'func',
      span: cursor.span(start),
      linkage,
      attributes: [],
      name: '',
      results: [],
      parameters: [],
      directives: [],
    };
    const module = cursor.scope;
    cursor.scope = innerScope(module);
    cursor.index++;
    const end = this.#parseSignature(header);
    if (end === 'declaration') {
      this.#addFunction({ ...functionOf(header), truncated: false, ...this.#fault(false) });
    } else if (end === 'body' || this.#findBody(header.name !== '')) {
      const lead: PtxStatement[] = end === 'body' ? [] : [{ kind: 'damage', span: cursor.span(start), text: cursor.slice(start) }];
      this.#addFunction(this.#parseFunctionBody(header, lead));
    } else {
      if (cursor.kind() === OPEN_BRACE) skipBraces(cursor);
      else cursor.take(SEMICOLON);
      this.#items.push({ kind: 'damage', span: cursor.span(start), text: cursor.slice(start) });
    }
    cursor.scope = module;
  }

  #addFunction(item: Function): void {
    this.#lastFunction = this.#items.push(item) - 1;
  }

  /** Parses everything before the body, and its opening brace. */
  #parseSignature(header: Header): 'declaration' | 'body' | null {
    const cursor = this.#cursor;
    while (header.kind === 'func' && cursor.isDirective('.attribute')) {
      const attribute = parseAttribute(cursor);
      if (attribute === null) return null;
      header.attributes.push(attribute);
    }
    if (header.kind === 'func' && cursor.kind() === OPEN_PAREN) {
      const results = parseParameters(cursor);
      if (!results) return null;
      header.results = results;
    }
    const name = cursor.text();
    if (!cursor.isPlainName()) return cursor.fail('the name of the function');
    header.name = name;
    cursor.index++;
    if (cursor.kind() === OPEN_PAREN) {
      const parameters = parseParameters(cursor);
      if (!parameters) return null;
      header.parameters = parameters;
    }
    const directives = parseFunctionDirectives(cursor, header.kind);
    if (!directives) return null;
    header.directives = directives;
    if (!(header.kind === 'entry' && directives.length > 0) && cursor.take(SEMICOLON)) return 'declaration';
    if (cursor.take(OPEN_BRACE)) return 'body';
    return cursor.fail('`{`');
  }

  /** After a damaged signature: skips to the beginning of the body, if it has one. */
  #findBody(named: boolean): boolean {
    const cursor = this.#cursor;
    for (; cursor.kind() !== END && cursor.kind() !== SEMICOLON; cursor.index++) {
      if (cursor.kind() === OPEN_BRACE) {
        if (named) cursor.index++;
        return named;
      }
      if (cursor.kind() === DIRECTIVE && MODULE_ONLY.has(cursor.text())) return false;
      // There is a statement but no brace: the brace itself is missing.
      if (named && isStatementStart(cursor, cursor.index) && !cursor.isDirective('.param')) return true;
    }
    return false;
  }

  #parseFunctionBody(header: Header, body: PtxStatement[]): Function {
    const owner = `\`${header.name}\` (line ${header.span.line})`;
    const truncated = !this.#statements.parseBody(body, owner);
    return { ...functionOf(header), body, truncated, ...this.#fault(truncated) };
  }

  #fault(truncated: boolean): Pick<Function, 'faulty'> {
    const cursor = this.#cursor;
    return cursor.faulty || truncated ? { faulty: true } : {};
  }
}

function functionOf(header: Header): Omit<Function, 'body' | 'truncated' | 'faulty'> {
  const { kind, span, linkage, attributes, name, results, parameters, directives } = header;
  return {
    kind,
    span,
    linkage,
    ...(attributes.length > 0 && { attributes }),
    name,
    results,
    parameters,
    directives,
  };
}
