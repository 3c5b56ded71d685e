/**
 * The parser of PTX: the language of nvcc and of people (PTX ISA 9.0), and whatever else a file may hold.
 *
 * It never throws and takes linear time. A mistake becomes one diagnostic and a `damage` statement; reading goes on at
 * the next semicolon, brace or line that begins like a statement, so what stands before and after survives.
 */
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Code } from '../source/codes.ts';
import type {
  AddressBase,
  BodyDirective,
  Function,
  Guard,
  InlinedAt,
  Initializer,
  Instruction,
  LocDirective,
  Module,
  ModuleItem,
  Operand,
  PerformanceDirective,
  PtxSpan,
  Statement,
  VariableDeclaration,
} from './ast.ts';
import { parseConstant, startsConstant } from './constant-expression.ts';
import { parseLiteral } from './literal.ts';
import { DIRECTIVE, DWARF_LINE, END, JUNK, lex, NAME, NUMBER, STRING, type TokenStream } from './lexer.ts';
import { innerScope, resolveName, type NameScope } from './name-scope.ts';
import { isVectorSpecialRegister } from './special-register.ts';
import { readDebugStrings } from './debug-information.ts';
import { validateModule } from './validate.ts';

const COLON = 58;
const COMMA = 44;
const SEMICOLON = 59;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_PAREN = 40;
const CLOSE_PAREN = 41;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const LESS = 60;
const GREATER = 62;
const PLUS = 43;
const MINUS = 45;
const BANG = 33;
const BAR = 124;
const EQUALS = 61;
const AT = 64;

/** Scopes in one another, and initial values in one another. nvcc nests three scopes. */
const MAX_SCOPE_DEPTH = 200;
const MAX_INITIALIZER_DEPTH = 16;
/** Diagnostics of one file that are told in full. */
const MAX_DIAGNOSTICS = 100;
/** Frames of inlined calls that one `.loc` is given. */
const MAX_FRAMES = 64;
/** Tokens that are read again after a mistake. */
const MAX_RETREAT = 4;
/** Labels that one range `L<n>` of a .branchtargets may stand for. */
const MAX_TARGET_RANGE = 65536;

const SPACES = new Map<string, VariableDeclaration['space']>([
  ['.reg', 'reg'],
  ['.param', 'param'],
  ['.shared', 'shared'],
  ['.local', 'local'],
  ['.global', 'global'],
  ['.const', 'const'],
  ['.tex', 'tex'],
]);

/** The directives of the header, in their order. */
const HEADER_DIRECTIVES = ['.version', '.target', '.address_size'];

const LINKAGES = new Set(['.extern', '.visible', '.weak', '.common']);

/** Types that a variable can have (PTX ISA 5.2). */
const TYPES = new Set(
  (
    '.b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .f32 .f64 .pred ' +
    '.texref .samplerref .surfref'
  ).split(' '),
);

type NumberOfValues = readonly [least: number, most: number];

/** What may stand between the parameters of an entry and its body, and how many numbers it takes. */
const ENTRY_DIRECTIVES = new Map<string, NumberOfValues>([
  ['.maxntid', [1, 3]],
  ['.reqntid', [1, 3]],
  ['.minnctapersm', [1, 1]],
  ['.maxnctapersm', [1, 1]],
  ['.maxnreg', [1, 1]],
  ['.explicitcluster', [0, 0]],
  ['.reqnctapercluster', [1, 3]],
  ['.maxclusterrank', [1, 1]],
  ['.blocksareclusters', [0, 0]],
]);

/** The same for other functions and for prototypes, in this order. */
const FUNC_DIRECTIVES = new Map<string, NumberOfValues>([
  ['.noreturn', [0, 0]],
  ['.abi_preserve', [1, 1]],
  ['.abi_preserve_control', [1, 1]],
]);

/** Directives that stand at module level only: meeting one inside a body means that a brace is missing. */
const MODULE_ONLY = new Set(
  '.entry .func .extern .visible .weak .common .version .target .address_size .file .section .alias'.split(' '),
);

/** Directives that module level and bodies share. */
const SHARED_DIRECTIVES = new Set(['.global', '.const', '.shared', '.local', '.tex', '.pragma']);

/** Directives that begin a statement of a body. */
const BODY_DIRECTIVES = new Set('.reg .param .shared .local .global .const .loc .pragma'.split(' '));

const LABELLED_DIRECTIVES = new Set(['.branchtargets', '.calltargets', '.callprototype']);

/** Instructions that are complete without a dot and without an operand. */
const BARE_INSTRUCTIONS = new Set(['ret', 'exit', 'trap', 'brkpt', 'nanosleep', 'membar', 'bra', 'call']);

/** Words that cannot be the modifier of an instruction, because they are directives or parts of them. */
const NO_MODIFIERS = new Set(
  (
    'version target address_size entry func extern visible common reg loc file section pragma attribute managed ' +
    'unified align ptr scratch branchtargets calltargets callprototype'
  ).split(' '),
);
for (const directive of [...ENTRY_DIRECTIVES.keys(), ...FUNC_DIRECTIVES.keys()]) NO_MODIFIERS.add(directive.slice(1));

/** A modifier is a word, the dimensions of a texture (`1d`) or the shape of a matrix (`16x256b`). */
const MODIFIER = /^(?:[A-Za-z]|[1-5]d(?:ms)?$|\d+x\d+b)/;

/** Words with a meaning of their own: no register, variable, label or function has such a name. */
const RESERVED_NAMES = new Set(['WARP_SZ', 'function_name', 'inlined_at', '_', '%']);

const ARCHITECTURE = /^(?:sm|compute)_\d+[af]?$/;
const TARGET_OPTIONS = new Set(['texmode_unified', 'texmode_independent', 'texmode_raw', 'debug', 'map_f64_to_f32']);

/** The remedy that a diagnostic of each code ends with. */
const REMEDIES = {
  'ptx/syntax': 'Correct the statement, or write the file again with nvcc -ptx',
  'ptx/literal': 'Correct the literal',
  'ptx/header': 'A module begins with .version and .target: write the file again with nvcc -ptx',
  'ptx/truncated': 'Write the whole file again with nvcc -ptx',
  'ptx/marker': 'Give one register or literal, as in `// selvage.assume %r1;`',
  'ptx/limit': 'Simplify the text',
} as const satisfies Partial<Record<Code, string>>;

type ParserCode = keyof typeof REMEDIES;

/**
 * Parses a PTX module. Never throws.
 *
 * @param text the module
 * @param file the name that diagnostics give as their file
 * @returns the tree, with what could not be read as `damage`, and the diagnostics in the order of the text
 */
export function parsePtx(text: string, file = '<ptx>'): { module: Module; diagnostics: Diagnostic[] } {
  const parser = new Parser(lex(text), file);
  const module = parser.parseModule();
  const validated = validateModule(module, file);
  const diagnostics = [...parser.diagnostics, ...validated.diagnostics];
  diagnostics.sort((a, b) => (a.location?.line ?? 0) - (b.location?.line ?? 0));
  return { module: validated.module, diagnostics: limited(diagnostics, parser.uncounted, file) };
}

function limited(diagnostics: Diagnostic[], more: number, file: string): Diagnostic[] {
  const rest = Math.max(0, diagnostics.length - MAX_DIAGNOSTICS) + more;
  if (rest === 0) return diagnostics;
  const shown = diagnostics.slice(0, MAX_DIAGNOSTICS);
  const message = `${rest} further errors in this file are not listed. ${REMEDIES['ptx/limit']}`;
  const line = shown.at(-1)?.location?.line ?? 1;
  return [...shown, { severity: 'error', code: 'ptx/limit', message, location: { file, line } }];
}

interface Opcode {
  readonly opcode: string;
  readonly modifiers: readonly string[];
}

/** What a header has given so far, for the function that is being read. */
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

class Parser {
  readonly diagnostics: Diagnostic[] = [];
  /** Errors past the limit, which are only counted. */
  uncounted = 0;
  readonly tokens: TokenStream;
  readonly #file: string;
  readonly #kinds: Uint8Array;
  index = 0;

  readonly #opcodes = new Map<string, Opcode>();
  readonly #items: ModuleItem[] = [];
  readonly #files = new Map<number, string>();
  readonly #fileAttributes = new Map<number, string>();
  readonly #debugStrings = new Map<string, string>();
  #scope: NameScope = innerScope(undefined);
  /** Some variable has a name that begins with a percent sign, so that such names must be looked up. */
  #percentSymbols = false;
  /** A mistake was found since the body began. */
  #faulty = false;
  #endReported = false;
  /** The function had a `}` too many; that its last one is missing then goes without saying. */
  #braceTooMany = false;
  #nextMarker = 0;
  /** Calls around each place that a `.loc` of the function has named. */
  #frames = new Map<string, { readonly at: InlinedAt; readonly depth: number }>();

  constructor(tokens: TokenStream, file: string) {
    this.tokens = tokens;
    this.#kinds = tokens.kinds;
    this.#file = file;
  }

  // Module level

  parseModule(): Module {
    const comment = this.tokens.unterminatedComment;
    if (comment !== undefined) {
      this.#reportAt(comment, 1, 'ptx/truncated', 'a comment that begins with /* has no end');
      this.#endReported = true;
    }
    const { version, target, addressSize } = this.#parseHeader();
    while (this.#kind() !== END) this.#parseItem();
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
    let version = '';
    const target: string[] = [];
    let addressSize = 64;
    // One complaint about the header is enough.
    let complained = false;
    const complain = (message: string, index = this.index): void => {
      if (!complained) this.#report('ptx/header', message, index);
      complained = true;
    };
    for (let order = 0; this.#kind() === DIRECTIVE;) {
      const at = this.index;
      const directive = this.#text();
      const place = HEADER_DIRECTIVES.indexOf(directive);
      if (place < 0) break;
      if (place < order - (directive === '.target' ? 1 : 0)) complain(`${directive} stands too late or twice`);
      order = place + 1;
      this.index++;
      const text = this.#text();
      if (directive === '.target') {
        do {
          const name = this.#text();
          if (this.#kind() !== NAME || !(ARCHITECTURE.test(name) || TARGET_OPTIONS.has(name))) {
            complain(`expected a target such as sm_80, found ${this.#found()}`);
            this.#skipHeaderLine();
            break;
          }
          target.push(name);
          this.index++;
        } while (this.#take(COMMA));
      } else if (directive === '.version' ? this.#isVersion() : text === '32' || text === '64') {
        if (directive === '.version') version = text;
        else addressSize = Number(text);
        this.index++;
      } else {
        complain(
          `${directive} is not followed by ${directive === '.version' ? 'a version such as 9.0' : '32 or 64'}`,
          at,
        );
        this.#skipHeaderLine();
      }
    }
    if (version === '') complain('the module does not begin with a .version directive');
    if (!target.some((name) => ARCHITECTURE.test(name))) complain('the module lacks a .target after its .version');
    return { version, target, addressSize };
  }

  /** A number such as 9.0, on the line of its directive. */
  #isVersion(): boolean {
    return /^\d+\.\d+$/.test(this.#text()) && this.tokens.lines[this.index] === this.tokens.lines[this.index - 1];
  }

  /** Skips what is left of a damaged header line. */
  #skipHeaderLine(): void {
    const line = this.tokens.lines[this.index - 1];
    while (this.#kind() !== END && this.tokens.lines[this.index] === line && this.#kind() !== DIRECTIVE) this.index++;
  }

  #parseItem(): void {
    const start = this.index;
    this.#faulty = false;
    const kind = this.#kind();
    if (kind === DWARF_LINE) {
      this.index++;
      this.#items.push({ kind: 'raw', span: this.#span(start), text: this.#slice(start) });
      return;
    }
    if (kind !== DIRECTIVE) return this.#junkItem(start);
    const name = this.#text();
    if (name === '.file') return this.#parseFile(start);
    if (name === '.section') return this.#parseSection(start);
    if (name === '.alias') return this.#parseAlias(start);
    if (name === '.pragma') {
      const pragma = this.#parsePragma(start);
      if (pragma) this.#items.push(pragma);
      else this.#damagedItem(start);
      return;
    }
    const linkage: string[] = [];
    while (this.#kind() === DIRECTIVE && LINKAGES.has(this.#text())) {
      linkage.push(this.#text().slice(1));
      this.index++;
    }
    if (linkage.length > 1) this.#report('ptx/syntax', `only one of .${linkage.join(' and .')} may be given`, start);
    if (this.#isDirective('.entry') || this.#isDirective('.func')) return this.#parseFunction(start, linkage);
    if (this.#kind() === DIRECTIVE && SPACES.has(this.#text())) {
      const variables = this.#parseVariables(start, linkage);
      if (variables) this.#items.push(...variables);
      else this.#damagedItem(start);
      return;
    }
    if (linkage.length > 0) {
      this.#fail('.entry, .func or a variable');
      return this.#damagedItem(start);
    }
    this.#junkItem(start);
  }

  /** What no item begins with: a statement outside a body, or nonsense. */
  #junkItem(start: number): void {
    this.#report(
      'ptx/syntax',
      this.#kind() === CLOSE_BRACE
        ? 'a `}` that closes nothing'
        : `${this.#found()} cannot stand outside a function (a brace too many before it, or a directive misspelt)`,
    );
    this.index++;
    this.#damagedItem(start);
  }

  /** Ends a damaged item at its semicolon, or before the next item. */
  #damagedItem(start: number): void {
    if (this.index === start) this.index++;
    for (; this.#kind() !== END; this.index++) {
      if (this.#kind() !== DIRECTIVE) continue;
      const name = this.#text();
      if (MODULE_ONLY.has(name)) break;
      if (!SHARED_DIRECTIVES.has(name)) continue;
      const before = this.#kinds[this.index - 1];
      if (this.#isLineStart(this.index) || before === SEMICOLON || before === CLOSE_BRACE) break;
    }
    this.#items.push({ kind: 'damage', span: this.#span(start), text: this.#slice(start) });
    this.#markLastFunction();
  }

  /** What follows a body and is no item may be a part of that body. */
  #markLastFunction(): void {
    for (let at = this.#items.length - 1; at >= 0; at--) {
      const item = this.#items[at]!;
      if (item.kind !== 'entry' && item.kind !== 'func') continue;
      if (item.body && !item.truncated) this.#items[at] = { ...item, truncated: true, faulty: true };
      return;
    }
  }

  /** `.file index "path" [, timestamp, size]`. */
  #parseFile(start: number): void {
    this.index++;
    const index = this.#smallNumber('the index of the file');
    if (index === null) return this.#damagedItem(start);
    if (this.#kind() !== STRING) {
      this.#fail('the path of the file in quotes');
      return this.#damagedItem(start);
    }
    const path = this.#text().slice(1, -1);
    this.index++;
    const attributes = this.index;
    for (let values = 0; values < 2 && this.#take(COMMA); values++) {
      if (!this.#takeInteger()) {
        this.#fail('a number');
        return this.#damagedItem(start);
      }
    }
    if (this.index > attributes) this.#fileAttributes.set(index, this.#joined(attributes));
    this.#files.set(index, path);
  }

  /** `.section .debug_str { labels and data }`, kept as it is written. */
  #parseSection(start: number): void {
    this.index++;
    const name = this.#text();
    if (this.#kind() !== DIRECTIVE) {
      this.#fail('the name of the section');
      return this.#damagedItem(start);
    }
    this.index++;
    if (!this.#expect(OPEN_BRACE)) return this.#damagedItem(start);
    const open = this.index;
    if (!this.#parseSectionData(1)) return this.#damagedItem(start);
    if (name === '.debug_str') readDebugStrings(this.tokens, open, this.index, this.#debugStrings);
    this.#items.push({ kind: 'raw', span: this.#span(start), text: this.#slice(start) });
  }

  /** Labels and `.b8 1, label+2, label-label` up to the closing brace, which is taken; braces may nest. */
  #parseSectionData(depth: number): boolean {
    for (;;) {
      switch (this.#kind()) {
        case CLOSE_BRACE:
          this.index++;
          if (--depth === 0) return true;
          continue;
        case OPEN_BRACE:
          this.index++;
          depth++;
          continue;
        case NAME:
          if (!this.#isPlainName() || this.#kinds[this.index + 1] !== COLON) return this.#fail('a label') !== null;
          this.index += 2;
          continue;
        case DIRECTIVE:
          if (!/^\.b(8|16|32|64)$/.test(this.#text())) return this.#fail('data such as .b8') !== null;
          this.index++;
          if (!this.#parseSectionValues()) return this.#fail('a number or a label') !== null;
          continue;
        default:
          return this.#fail('`}`') !== null;
      }
    }
  }

  /** A list of integers, or one label, `label+integer` or `label-label` (PTX ISA 11.5.3). */
  #parseSectionValues(): boolean {
    if (!this.#isPlainName() && this.#kind() !== DIRECTIVE) {
      do {
        this.#take(MINUS);
        if (!this.#takeInteger()) return false;
      } while (this.#take(COMMA));
      return true;
    }
    this.index++;
    if (this.#take(PLUS)) return this.#takeInteger();
    if (!this.#take(MINUS)) return true;
    if (!this.#isPlainName() && this.#kind() !== DIRECTIVE) return false;
    this.index++;
    return true;
  }

  #takeInteger(): boolean {
    if (this.#kind() !== NUMBER) return false;
    const literal = parseLiteral(this.#text());
    if (typeof literal === 'string' || literal.kind !== 'integer') return false;
    this.index++;
    return true;
  }

  /** `.alias name, name;`. */
  #parseAlias(start: number): void {
    this.index++;
    for (let side = 0; side < 2; side++) {
      if (side === 1 && !this.#expect(COMMA)) return this.#damagedItem(start);
      if (this.#kind() !== NAME) {
        this.#fail('the name of a function');
        return this.#damagedItem(start);
      }
      this.index++;
    }
    if (!this.#expect(SEMICOLON)) return this.#damagedItem(start);
    this.#items.push({ kind: 'raw', span: this.#span(start), text: this.#joined(start) });
  }

  // Functions

  #parseFunction(start: number, linkage: readonly string[]): void {
    const header: Header = {
      kind: this.#isDirective('.entry') ? 'entry' : 'func',
      span: this.#span(start),
      linkage,
      attributes: [],
      name: '',
      results: [],
      parameters: [],
      directives: [],
    };
    const module = this.#scope;
    this.#scope = innerScope(module);
    this.index++;
    const end = this.#parseSignature(header);
    if (end === 'declaration') {
      this.#items.push({ ...functionOf(header), truncated: false, ...this.#fault(false) });
    } else if (end === 'body' || this.#findBody(header.name !== '')) {
      const lead: Statement[] =
        end === 'body' ? [] : [{ kind: 'damage', span: this.#span(start), text: this.#slice(start) }];
      this.#items.push(this.#parseFunctionBody(header, lead));
    } else {
      if (this.#kind() === OPEN_BRACE) this.#skipBraces();
      else this.#take(SEMICOLON);
      this.#items.push({ kind: 'damage', span: this.#span(start), text: this.#slice(start) });
    }
    this.#scope = module;
  }

  /** Everything before the body. The token after it is the first of the body, the brace taken. */
  #parseSignature(header: Header): 'declaration' | 'body' | null {
    while (header.kind === 'func' && this.#isDirective('.attribute')) {
      const attribute = this.#parseAttribute();
      if (attribute === null) return null;
      header.attributes.push(attribute);
    }
    if (header.kind === 'func' && this.#kind() === OPEN_PAREN) {
      const results = this.#parseParameters();
      if (!results) return null;
      header.results = results;
    }
    const name = this.#text();
    if (!this.#isPlainName()) return this.#fail('the name of the function');
    header.name = name;
    this.index++;
    if (this.#kind() === OPEN_PAREN) {
      const parameters = this.#parseParameters();
      if (!parameters) return null;
      header.parameters = parameters;
    }
    const directives = this.#parseFunctionDirectives(header.kind);
    if (!directives) return null;
    header.directives = directives;
    if (!(header.kind === 'entry' && directives.length > 0) && this.#take(SEMICOLON)) return 'declaration';
    if (this.#take(OPEN_BRACE)) return 'body';
    return this.#fail('`{`');
  }

  /** After a damaged signature: goes to where the body begins, if it has one. */
  #findBody(named: boolean): boolean {
    for (; this.#kind() !== END && this.#kind() !== SEMICOLON; this.index++) {
      if (this.#kind() === OPEN_BRACE) {
        if (named) this.index++;
        return named;
      }
      if (this.#kind() === DIRECTIVE && MODULE_ONLY.has(this.#text())) return false;
      // No brace, but a statement: the brace itself is what is missing.
      if (named && this.#isStatementStart(this.index) && !this.#isDirective('.param')) return true;
    }
    return false;
  }

  #parseFunctionBody(header: Header, lead: Statement[]): Function {
    this.#frames = new Map();
    this.#braceTooMany = false;
    const { markers } = this.tokens;
    while (this.#nextMarker < markers.length && markers[this.#nextMarker]!.before < this.index) this.#nextMarker++;
    const closed = this.#parseStatements(lead, 0);
    if (!closed && !this.#braceTooMany) {
      if (this.#kind() !== END) {
        this.#report(
          'ptx/syntax',
          `${this.#found()} inside the body of \`${header.name}\` (line ${header.span.line}): a \`}\` is missing before it`,
        );
      } else if (!this.#endReported) {
        this.#endReported = true;
        this.#report('ptx/truncated', `the text ends before the \`}\` that closes \`${header.name}\``);
      }
    }
    return {
      ...functionOf(header),
      body: lead,
      truncated: !closed,
      ...this.#fault(!closed),
    };
  }

  #fault(truncated: boolean): Pick<Function, 'faulty'> {
    return this.#faulty || truncated ? { faulty: true } : {};
  }

  #parseParameters(): VariableDeclaration[] | null {
    this.index++;
    const parameters: VariableDeclaration[] = [];
    if (this.#take(CLOSE_PAREN)) return parameters;
    do {
      const start = this.index;
      const space = this.#kind() === DIRECTIVE ? SPACES.get(this.#text()) : undefined;
      if (space !== 'param' && space !== 'reg') return this.#fail('a parameter such as .param .u64 name');
      const parameter = this.#parseDeclarator(start, [], true);
      if (!parameter) return null;
      this.#declare(parameter);
      parameters.push(parameter);
    } while (this.#take(COMMA));
    return this.#expect(CLOSE_PAREN) ? parameters : null;
  }

  /** The directives between the parameters and the body. */
  #parseFunctionDirectives(kind: 'entry' | 'func'): PerformanceDirective[] | null {
    const counts = kind === 'entry' ? ENTRY_DIRECTIVES : FUNC_DIRECTIVES;
    const order = [...counts.keys()];
    const directives: PerformanceDirective[] = [];
    let latest = -1;
    while (this.#kind() === DIRECTIVE) {
      const name = this.#text();
      if (kind === 'entry' && name === '.pragma') {
        const pragma = this.#parsePragma(this.index);
        if (!pragma) return null;
        directives.push({ name: 'pragma', values: [], text: pragma.text });
        continue;
      }
      const count = counts.get(name);
      if (!count || (kind === 'func' && order.indexOf(name) <= latest)) {
        return this.#fail(`\`{\`, \`;\` or a directive such as ${order[0]}`);
      }
      latest = order.indexOf(name);
      this.index++;
      const values: number[] = [];
      while (values.length < count[1]) {
        const value = this.#smallNumber(`a number for ${name}`);
        if (value === null) return null;
        values.push(value);
        if (values.length === count[1] || !this.#take(COMMA)) break;
      }
      directives.push({ name: name.slice(1), values, text: values.join(', ') });
    }
    return directives;
  }

  /** `.attribute(.managed, .unified(1, 2))`, as written but for spaces and without the dot. */
  #parseAttribute(): string | null {
    const start = this.index;
    this.index++;
    if (!this.#expect(OPEN_PAREN)) return null;
    do {
      if (this.#isDirective('.managed')) {
        this.index++;
        continue;
      }
      if (!this.#isDirective('.unified')) return this.#fail('.managed or .unified');
      this.index++;
      if (!this.#expect(OPEN_PAREN)) return null;
      if (!this.#takeInteger()) return this.#fail('a number');
      if (!this.#expect(COMMA)) return null;
      if (!this.#takeInteger()) return this.#fail('a number');
      if (!this.#expect(CLOSE_PAREN)) return null;
    } while (this.#take(COMMA));
    if (!this.#expect(CLOSE_PAREN)) return null;
    let text = '';
    for (let at = start; at < this.index; at++) text += this.#textOf(at);
    return text.slice(1);
  }

  // Statements

  /** Reads statements into `body` up to the brace that closes it, which is taken. False where there is none. */
  #parseStatements(body: Statement[], depth: number): boolean {
    for (;;) {
      this.#flushMarkers(body);
      const start = this.index;
      switch (this.#kind()) {
        case NAME:
          if (this.#kinds[start + 1] === COLON) this.#parseLabel(body);
          else this.#push(body, start, this.#parseInstruction(start, undefined));
          break;
        case AT: {
          const guard = this.#parseGuard();
          this.#push(body, start, guard && this.#parseInstruction(start, guard));
          break;
        }
        case DIRECTIVE:
          if (MODULE_ONLY.has(this.#text()) && !this.#isLinkedVariable()) return false;
          this.#parseBodyDirective(body, start);
          break;
        case OPEN_BRACE:
          if (!this.#parseScope(body, depth)) return false;
          break;
        case CLOSE_BRACE:
          if (depth > 0 || this.#closesFunction()) {
            this.index++;
            return true;
          }
          this.#report('ptx/syntax', 'a `}` that closes nothing, with statements after it');
          this.#braceTooMany = true;
          this.index++;
          body.push({ kind: 'damage', span: this.#span(start), text: '}' });
          break;
        case END:
          return false;
        default:
          this.#fail('a statement');
          this.#damage(body, start);
      }
    }
  }

  /** `.extern .shared …`, which belongs outside: no reason to think that the body ends here. */
  #isLinkedVariable(): boolean {
    return LINKAGES.has(this.#text()) && SPACES.has(this.#textOf(this.index + 1));
  }

  #push(body: Statement[], start: number, statement: Statement | null): void {
    if (statement) body.push(statement);
    else this.#damage(body, start);
  }

  /** Is the `}` at the cursor the end of the function? It is not where a statement or another `}` follows. */
  #closesFunction(): boolean {
    const next = this.#kinds[this.index + 1]!;
    if (next === DIRECTIVE) {
      const name = this.#textOf(this.index + 1);
      return SHARED_DIRECTIVES.has(name) || !BODY_DIRECTIVES.has(name);
    }
    return next !== NAME && next !== AT && next !== OPEN_BRACE && next !== CLOSE_BRACE;
  }

  #parseScope(body: Statement[], depth: number): boolean {
    const start = this.index;
    if (depth >= MAX_SCOPE_DEPTH) {
      this.#report('ptx/limit', `more than ${MAX_SCOPE_DEPTH} scopes inside one another`);
      this.#skipBraces();
      body.push({ kind: 'damage', span: this.#span(start), text: this.#slice(start) });
      return true;
    }
    this.index++;
    const inner: Statement[] = [];
    this.#scope = innerScope(this.#scope);
    const closed = this.#parseStatements(inner, depth + 1);
    this.#scope = this.#scope.outer!;
    body.push({ kind: 'scope', span: this.#span(start), body: inner });
    return closed;
  }

  /** From an opening brace past the one that closes it, or to where the module goes on. */
  #skipBraces(): void {
    for (let open = 0; this.#kind() !== END; this.index++) {
      if (this.#kind() === OPEN_BRACE) open++;
      else if (this.#kind() === DIRECTIVE && MODULE_ONLY.has(this.#text())) return;
      else if (this.#kind() === CLOSE_BRACE && --open === 0) {
        this.index++;
        return;
      }
    }
  }

  #parseLabel(body: Statement[]): void {
    const start = this.index;
    const name = this.#text();
    if (!this.#isPlainName()) {
      this.#fail('a label, which is one name');
      return this.#damage(body, start);
    }
    this.index += 2;
    if (this.#kind() !== DIRECTIVE || !LABELLED_DIRECTIVES.has(this.#text())) {
      body.push({ kind: 'label', span: this.#span(start), name });
      return;
    }
    const directive = this.#text().slice(1);
    this.index++;
    const first = this.index;
    const names = directive === 'callprototype' ? this.#skipPrototype() : this.#parseTargets();
    if (!names) return this.#damage(body, start);
    const text = this.#joined(first);
    this.index++;
    body.push({ kind: 'directive', span: this.#span(start), label: name, name: directive, text, names });
  }

  /** Names of a .branchtargets or .calltargets up to the semicolon; `L<3>` stands for L0, L1 and L2. */
  #parseTargets(): string[] | null {
    const names: string[] = [];
    do {
      const name = this.#text();
      if (!this.#isPlainName()) return this.#fail('a label');
      this.index++;
      if (this.#take(LESS)) {
        const count = this.#smallNumber('a number of labels');
        if (count === null || !this.#expect(GREATER)) return null;
        if (names.length + count > MAX_TARGET_RANGE) return this.#fail('fewer labels', 'ptx/limit');
        for (let at = 0; at < count; at++) names.push(`${name}${at}`);
      } else {
        names.push(name);
      }
    } while (this.#take(COMMA));
    return this.#kind() === SEMICOLON ? names : this.#fail('`,` or `;`');
  }

  /** `(.param .b32 _) _ (.param .b64 _, …) .noreturn`: checked for its shape and kept as text. */
  #skipPrototype(): string[] | null {
    const outer = this.#scope;
    this.#scope = innerScope(outer);
    const shaped = this.#parsePrototype();
    this.#scope = outer;
    return shaped ? [] : null;
  }

  #parsePrototype(): boolean {
    if (this.#kind() === OPEN_PAREN && !this.#parseParameters()) return false;
    if (this.#kind() !== NAME || this.#text() !== '_') return this.#fail('`_`') !== null;
    this.index++;
    if (this.#kind() === OPEN_PAREN && !this.#parseParameters()) return false;
    if (!this.#parseFunctionDirectives('func')) return false;
    return this.#kind() === SEMICOLON || this.#fail('`;`') !== null;
  }

  #parseGuard(): Guard | null {
    this.index++;
    const negated = this.#take(BANG);
    const name = this.#text();
    if (!this.#isPlainName()) return this.#fail('a predicate register');
    const register = this.#registerName(name);
    this.index++;
    return { register, negated };
  }

  #parseInstruction(start: number, guard: Guard | undefined): Instruction | null {
    if (this.#kind() !== NAME) return this.#fail('an instruction');
    let { opcode, modifiers } = this.#opcodeOf(this.#text());
    const first = opcode.charCodeAt(0) | 32;
    if (first < 97 || first > 122) return this.#fail('an instruction');
    if (!modifiers.every(isModifier)) return this.#fail('the name of an instruction');
    this.index++;
    // `mov .u32` is as good as `mov.u32`; a number is the `.1d` of a texture.
    while (this.#kind() === DIRECTIVE || (this.#kind() === NUMBER && /^\.[1-5]d$/.test(this.#text()))) {
      const modifier = this.#text().slice(1);
      if (!isModifier(modifier)) return this.#fail('an operand');
      modifiers = [...modifiers, modifier];
      this.index++;
    }
    const operands: Operand[] = [];
    if (opcode === 'call') {
      if (!this.#parseCall(operands)) return null;
    } else if (this.#kind() !== SEMICOLON) {
      do {
        const operand = this.#parseOperand(operands.length === 0);
        if (!operand) return null;
        operands.push(operand);
      } while (this.#take(COMMA));
    }
    if (this.#kind() !== SEMICOLON) return this.#fail(operands.length > 0 ? '`,` or `;`' : 'an operand or `;`');
    this.index++;
    const span = this.#span(start);
    return guard
      ? { kind: 'instruction', span, guard, opcode, modifiers, operands }
      : { kind: 'instruction', span, opcode, modifiers, operands };
  }

  /** `[(results),] function [, (arguments) [, prototype]]`. */
  #parseCall(operands: Operand[]): boolean {
    if (this.#kind() === OPEN_PAREN) {
      const results = this.#parseList();
      if (!results || !this.#expect(COMMA)) return false;
      operands.push(results);
    }
    if (!this.#isPlainName()) return this.#fail('the function to call') !== null;
    const target = this.#parseName(false);
    if (!target) return false;
    operands.push(target);
    if (!this.#take(COMMA)) return true;
    if (this.#kind() === OPEN_PAREN) {
      const list = this.#parseList();
      if (!list) return false;
      operands.push(list);
      if (!this.#take(COMMA)) return true;
    }
    if (!this.#isPlainName()) return this.#fail('a prototype') !== null;
    const prototype = this.#parseName(false);
    if (!prototype) return false;
    operands.push(prototype);
    return true;
  }

  /** The opcode and modifiers in one token; the same few hundred come again and again. */
  #opcodeOf(name: string): Opcode {
    let known = this.#opcodes.get(name);
    if (!known) {
      const [opcode, ...modifiers] = name.split('.');
      known = { opcode: opcode!, modifiers };
      this.#opcodes.set(name, known);
    }
    return known;
  }

  #parseBodyDirective(body: Statement[], start: number): void {
    const name = this.#text();
    if (name === '.loc') return this.#push(body, start, this.#parseLoc(start));
    if (name === '.pragma') return this.#push(body, start, this.#parsePragma(start));
    if (SPACES.has(name)) {
      const variables = this.#parseVariables(start, []);
      if (variables) body.push(...variables);
      else this.#damage(body, start);
      return;
    }
    if (LINKAGES.has(name)) this.#report('ptx/syntax', `${name} declares variables outside of functions only`);
    else if (LABELLED_DIRECTIVES.has(name)) this.#report('ptx/syntax', `${name} needs a label in front of it`);
    else this.#fail('a statement');
    this.#damage(body, start);
  }

  /** `.pragma "text" [, "text"] ;`. */
  #parsePragma(start: number): BodyDirective | null {
    this.index++;
    const first = this.index;
    do {
      if (this.#kind() !== STRING) return this.#fail('a text in quotes');
      this.index++;
    } while (this.#take(COMMA));
    const text = this.#joined(first);
    if (!this.#expect(SEMICOLON)) return null;
    return { kind: 'directive', span: this.#span(start), name: 'pragma', text, names: [] };
  }

  #parseLoc(start: number): LocDirective | null {
    this.index++;
    const place = this.#parsePlace();
    if (!place) return null;
    const span = this.#span(start);
    const key = `${place.file} ${place.line} ${place.column}`;
    if (this.#kind() !== COMMA) {
      this.#frames.delete(key);
      return { kind: 'loc', span, ...place };
    }
    let functionName: string | undefined;
    let inlinedAt: InlinedAt | undefined;
    // Both are given, in this order.
    while (!inlinedAt) {
      if (!this.#expect(COMMA)) return null;
      const word = this.#text();
      if (this.#kind() === NAME && word === 'function_name' && functionName === undefined) {
        this.index++;
        const first = this.index;
        if (!this.#isPlainName() && this.#kind() !== DIRECTIVE) return this.#fail('the label of a function name');
        this.index++;
        if (this.#take(PLUS) && this.#smallNumber('an offset') === null) return null;
        functionName = '';
        for (let at = first; at < this.index; at++) functionName += this.#textOf(at);
      } else if (this.#kind() === NAME && word === 'inlined_at' && functionName !== undefined) {
        this.index++;
        const at = this.#parsePlace();
        if (!at) return null;
        const outer = this.#frames.get(`${at.file} ${at.line} ${at.column}`);
        const deeper = outer && outer.depth < MAX_FRAMES - 1;
        inlinedAt = deeper ? { ...at, inlinedAt: outer.at } : at;
        this.#frames.set(key, { at: inlinedAt, depth: deeper ? outer.depth + 1 : 1 });
      } else {
        return this.#fail('function_name and then inlined_at');
      }
    }
    return { kind: 'loc', span, ...place, functionName: functionName!, inlinedAt };
  }

  /** File index, line and column. */
  #parsePlace(): { file: number; line: number; column: number } | null {
    const file = this.#smallNumber('the index of a file');
    if (file === null) return null;
    const line = this.#smallNumber('a line');
    if (line === null) return null;
    const column = this.#smallNumber('a column');
    return column === null ? null : { file, line, column };
  }

  // Declarations

  /** One statement, which may declare several variables: `.reg .b32 a, b, %r<4>;`. */
  #parseVariables(start: number, linkage: readonly string[]): VariableDeclaration[] | null {
    const first = this.#parseDeclarator(start, linkage, false);
    if (!first) return null;
    this.#declare(first);
    const variables = [first];
    while (this.#take(COMMA)) {
      const { name: _, count: __, dimensions: ___, initializer: ____, ...shape } = first;
      const next = this.#parseNamed(shape, false);
      if (!next) return null;
      this.#declare(next);
      variables.push(next);
    }
    return this.#expect(SEMICOLON) ? variables : null;
  }

  /** Space, attributes, type and name. */
  #parseDeclarator(start: number, linkage: readonly string[], isParameter: boolean): VariableDeclaration | null {
    const span = this.#span(start);
    const space = SPACES.get(this.#text())!;
    this.index++;
    const attributes: string[] = [];
    let alignment: number | undefined;
    let vector: 2 | 4 | undefined;
    let type: string | undefined;
    let pointer: VariableDeclaration['pointer'];
    if (this.#kind() === OPEN_BRACKET && space === 'const') {
      this.index++;
      const bank = this.#smallNumber('a bank');
      if (bank === null || !this.#expect(CLOSE_BRACKET)) return null;
      attributes.push(`[${bank}]`);
    }
    for (; this.#kind() === DIRECTIVE;) {
      const name = this.#text();
      if (type !== undefined) {
        if (name !== '.ptr' || !isParameter || pointer) return this.#fail('the name of the variable');
        this.index++;
        pointer = this.#parsePointer();
        if (!pointer) return null;
      } else if (name === '.align' && vector === undefined) {
        this.index++;
        const value = this.#smallNumber('an alignment');
        if (value === null) return null;
        if (value === 0 || (value & (value - 1)) !== 0) {
          this.index--;
          return this.#fail('a power of two');
        }
        alignment = value;
      } else if ((name === '.v2' || name === '.v4') && vector === undefined) {
        this.index++;
        vector = name === '.v2' ? 2 : 4;
      } else if (name === '.attribute' && vector === undefined) {
        const attribute = this.#parseAttribute();
        if (attribute === null) return null;
        attributes.push(attribute);
      } else if (TYPES.has(name)) {
        this.index++;
        type = name.slice(1);
      } else {
        return this.#fail('a type such as .b32');
      }
    }
    if (type === undefined) return this.#fail('a type such as .b32');
    const shape = {
      kind: 'variable' as const,
      span,
      linkage,
      space,
      attributes,
      type,
      ...(alignment !== undefined && { alignment }),
      ...(vector !== undefined && { vector }),
      ...(pointer && { pointer }),
    };
    return this.#parseNamed(shape, isParameter);
  }

  /** `.ptr [.space] [.align n]` of a parameter. */
  #parsePointer(): { space?: string; alignment?: number } | undefined {
    const pointer: { space?: string; alignment?: number } = {};
    const name = this.#kind() === DIRECTIVE ? this.#text() : '';
    if (name === '.global' || name === '.const' || name === '.shared' || name === '.local') {
      pointer.space = name.slice(1);
      this.index++;
    }
    if (this.#isDirective('.align')) {
      this.index++;
      const value = this.#smallNumber('an alignment');
      if (value === null) return undefined;
      pointer.alignment = value;
    }
    return pointer;
  }

  /** Name, range or extents, and initial value. */
  #parseNamed(
    shape: Omit<VariableDeclaration, 'name' | 'dimensions' | 'count' | 'initializer'>,
    isParameter: boolean,
  ): VariableDeclaration | null {
    const name = this.#text();
    if (!(this.#isPlainName() || (isParameter && name === '_'))) return this.#fail('the name of a variable');
    this.index++;
    let count: number | undefined;
    if (shape.space === 'reg' && !isParameter && this.#take(LESS)) {
      const value = this.#smallNumber('a number of registers');
      if (value === null || !this.#expect(GREATER)) return null;
      count = value;
    }
    const dimensions: (bigint | null)[] = [];
    while (shape.space !== 'reg' && !(isParameter && dimensions.length > 0) && this.#take(OPEN_BRACKET)) {
      if (dimensions.length === 0 && this.#take(CLOSE_BRACKET)) {
        dimensions.push(null);
        continue;
      }
      const extent = this.#kind() === NUMBER ? parseLiteral(this.#text()) : 'no number';
      if (typeof extent === 'string' || extent.kind !== 'integer') return this.#fail('an array size');
      this.index++;
      dimensions.push(extent.value);
      if (!this.#expect(CLOSE_BRACKET)) return null;
    }
    let initializer: Initializer | undefined;
    if ((shape.space === 'global' || shape.space === 'const') && this.#take(EQUALS)) {
      const value = this.#parseInitializer(0);
      if (!value) return null;
      initializer = value;
    }
    return {
      ...shape,
      name,
      dimensions,
      ...(count !== undefined && { count }),
      ...(initializer && { initializer }),
    };
  }

  #parseInitializer(depth: number): Initializer | null {
    if (depth > MAX_INITIALIZER_DEPTH) return this.#fail('fewer braces inside one another', 'ptx/limit');
    if (this.#take(OPEN_BRACE)) {
      const elements: Initializer[] = [];
      do {
        const element = this.#parseInitializer(depth + 1);
        if (!element) return null;
        elements.push(element);
      } while (this.#take(COMMA));
      return this.#expect(CLOSE_BRACE) ? { kind: 'aggregate', elements } : null;
    }
    if (this.#kind() === NUMBER && this.#kinds[this.index + 1] === OPEN_PAREN) {
      const mask = this.#text();
      const literal = parseLiteral(mask);
      if (typeof literal === 'string' || literal.kind !== 'integer') return this.#fail('a mask such as 0xff');
      this.index += 2;
      const operand = startsConstant(this) ? this.#parseConstantOperand() : this.#parseAddressValue();
      return operand && this.#expect(CLOSE_PAREN) ? { kind: 'scalar', operand, mask } : null;
    }
    if (this.#kind() === NAME && this.#text() !== 'WARP_SZ') {
      const name = this.#text();
      if (this.#kinds[this.index + 1] !== EQUALS) {
        const operand = this.#parseAddressValue();
        return operand && { kind: 'scalar', operand };
      }
      this.index += 2;
      if (this.#kind() !== NAME && this.#kind() !== NUMBER) return this.#fail('a value');
      const value = this.#text();
      this.index++;
      return { kind: 'field', name, value };
    }
    const operand = this.#parseConstantOperand();
    return operand && { kind: 'scalar', operand };
  }

  /** `symbol`, `symbol+8`, `generic(symbol)+8` of an initial value. */
  #parseAddressValue(): Operand | null {
    let name = this.#text();
    if (!this.#isPlainName()) return this.#fail('a name');
    this.index++;
    const generic = name === 'generic' && this.#take(OPEN_PAREN);
    if (generic) {
      name = this.#text();
      if (!this.#isPlainName()) return this.#fail('a name');
      this.index++;
      if (!this.#expect(CLOSE_PAREN)) return null;
    }
    const offset = this.#parseOffset();
    return offset === null ? null : { kind: 'symbol', name, offset, generic };
  }

  #declare(variable: VariableDeclaration): void {
    const { name, space, count } = variable;
    if (count !== undefined) {
      this.#scope.ranges.set(name, count);
      return;
    }
    const kind = space === 'reg' || space === 'sreg' ? 'register' : 'symbol';
    if (kind === 'symbol' && name.charCodeAt(0) === 37 /* % */) this.#percentSymbols = true;
    this.#scope.names.set(name, kind);
  }

  // Operands

  /** The first operand may be two, `d|p`. */
  #parseOperand(isFirst: boolean): Operand | null {
    switch (this.#kind()) {
      case OPEN_BRACKET:
        return this.#parseBracketed();
      case BANG:
      case MINUS: {
        const next = this.#textOf(this.index + 1);
        if (this.#kinds[this.index + 1] !== NAME || RESERVED_NAMES.has(next)) break;
        const kind = this.#kind() === BANG ? 'not' : 'negative';
        this.index++;
        const operand = this.#parseName(false);
        return operand && { kind, operand };
      }
    }
    const operand = this.#kind() === OPEN_BRACE ? this.#parseVector() : this.#parseValue(true);
    if (!operand || !isFirst || this.#kind() !== BAR) return operand;
    if (operand.kind !== 'register' && operand.kind !== 'vector' && operand.kind !== 'sink') return operand;
    this.index++;
    if (!this.#isPlainName() && this.#text() !== '_') return this.#fail('a register');
    const second = this.#parseName(false);
    return second && { kind: 'pair', first: operand, second };
  }

  /** A name or a constant, as it stands in vectors and lists too; there a symbol has no offset. */
  #parseValue(withOffset: boolean): Operand | null {
    return this.#kind() === NAME ? this.#parseName(withOffset) : this.#parseConstantOperand();
  }

  /** `{a, b}`. */
  #parseVector(): Operand | null {
    const elements = this.#parseElements(CLOSE_BRACE);
    return elements && { kind: 'vector', elements };
  }

  /** `(a, b)` or `()` of a call. */
  #parseList(): Operand | null {
    if (this.#kinds[this.index + 1] === CLOSE_PAREN) {
      this.index += 2;
      return { kind: 'list', elements: [] };
    }
    const elements = this.#parseElements(CLOSE_PAREN);
    return elements && { kind: 'list', elements };
  }

  /** From an opening brace or parenthesis to the closing one. */
  #parseElements(close: number): Operand[] | null {
    this.index++;
    const elements: Operand[] = [];
    do {
      const element = this.#parseValue(false);
      if (!element) return null;
      if (element.kind === 'component' && close === CLOSE_PAREN) {
        this.index--;
        return this.#fail('an argument');
      }
      elements.push(element);
    } while (this.#take(COMMA));
    return this.#expect(close) ? elements : null;
  }

  /** A register, a component, the sink, a symbol with its offset, or an element of an array. */
  #parseName(withOffset: boolean): Operand | null {
    const text = this.#text();
    const first = text.charCodeAt(0);
    if (text === 'WARP_SZ') return this.#parseConstantOperand();
    const dot = text.indexOf('.');
    if (text !== '_' && RESERVED_NAMES.has(dot < 0 ? text : text.slice(0, dot))) return this.#fail('an operand');
    this.index++;
    if (dot >= 0) {
      const base = text.slice(0, dot);
      const selector = text.slice(dot + 1);
      if (isVectorSpecialRegister(base)) return { kind: 'register', name: text };
      return { kind: 'component', base: this.#registerName(base), selector };
    }
    if (text === '_') return { kind: 'sink' };
    if (this.#kind() === DIRECTIVE && isVectorSpecialRegister(text)) {
      const name = text + this.#text();
      this.index++;
      return { kind: 'register', name };
    }
    if (first === 37 /* % */ && !this.#percentSymbols) return { kind: 'register', name: this.#registerName(text) };
    const resolved = resolveName(this.#scope, text);
    if (resolved ? resolved.kind === 'register' : first === 37) {
      return { kind: 'register', name: resolved?.name ?? text };
    }
    if (!withOffset) return { kind: 'symbol', name: text, offset: 0n, generic: false };
    if (this.#kind() === OPEN_BRACKET) return this.#parseElement(text);
    const offset = this.#parseOffset();
    return offset === null ? null : { kind: 'symbol', name: text, offset, generic: false };
  }

  /** A register as its declaration spells it: only a leading zero in an index (`%r01`) calls for a look. */
  #registerName(text: string): string {
    for (let at = text.length - 1; at > 0; at--) {
      const code = text.charCodeAt(at);
      if (code === 48) {
        const next = text.charCodeAt(at + 1);
        if (next >= 48 && next <= 57) return resolveName(this.#scope, text)?.name ?? text;
      } else if (code < 48 || code > 57) break;
    }
    return text;
  }

  /** `+ constant` after a name; 0 where there is none. */
  #parseOffset(): bigint | null {
    if (!this.#take(PLUS)) return 0n;
    return this.#parseInteger();
  }

  /** `array[index]` with the cursor at the bracket. */
  #parseElement(array: string): Operand | null {
    this.index++;
    let index: Operand | null;
    let offset = 0n;
    if (this.#kind() === NAME && this.#text() !== 'WARP_SZ') {
      const name = this.#text();
      if (name.includes('.')) return this.#fail('a register');
      this.index++;
      index = { kind: 'register', name: this.#registerName(name) };
      const added = this.#parseOffset();
      if (added === null) return null;
      offset = added;
    } else {
      index = this.#parseConstantOperand();
    }
    if (!index || !this.#expect(CLOSE_BRACKET)) return null;
    return { kind: 'element', array, index, offset };
  }

  /** `[address]`, or `[texture, sampler, {coordinates}]`, where one of the last two may be missing. */
  #parseBracketed(): Operand | null {
    this.index++;
    if (this.#kinds[this.index + 1] === COMMA) {
      if (!this.#isPlainName()) return this.#fail('a name');
      const elements: Operand[] = [];
      do {
        const last = this.#kind() === OPEN_BRACE;
        if (!last && !this.#isPlainName()) return this.#fail('a name or `{`');
        const element = last ? this.#parseVector() : this.#parseName(false);
        if (!element) return null;
        elements.push(element);
        if (last) break;
      } while (elements.length < 3 && this.#take(COMMA));
      return this.#expect(CLOSE_BRACKET) ? { kind: 'bracketed', elements } : null;
    }
    const address = this.#parseAddress();
    if (!address || !this.#expect(CLOSE_BRACKET)) return null;
    if (!this.#isDirective('.unified')) return address;
    this.index++;
    return { ...address, unified: true };
  }

  /** A base and an offset, or an absolute address. */
  #parseAddress(): (Operand & { kind: 'address' }) | null {
    if (this.#isPlainName()) {
      const name = this.#text();
      this.index++;
      let base: AddressBase;
      if (name.charCodeAt(0) === 37 && !this.#percentSymbols) {
        base = { kind: 'register', name: this.#registerName(name) };
      } else {
        const resolved = resolveName(this.#scope, name);
        const kind = resolved?.kind ?? (name.charCodeAt(0) === 37 ? 'register' : 'symbol');
        base = { kind, name: resolved?.name ?? name };
      }
      const offset = this.#parseOffset();
      return offset === null ? null : { kind: 'address', base, offset };
    }
    if (!startsConstant(this)) return this.#fail('an address');
    const offset = this.#parseInteger();
    return offset === null ? null : { kind: 'address', base: null, offset };
  }

  #parseInteger(): bigint | null {
    const at = this.index;
    const constant = parseConstant(this);
    if (constant.kind === 'integer') return constant.value;
    if (constant.kind === 'error') return this.#failConstant(constant.message);
    this.index = at;
    return this.#failConstant('expected an integer');
  }

  #parseConstantOperand(): Operand | null {
    if (!startsConstant(this)) return this.#fail('an operand');
    const start = this.index;
    const constant = parseConstant(this);
    if (constant.kind === 'error') return this.#failConstant(constant.message);
    const text = this.#slice(start);
    if (constant.kind === 'integer') return { kind: 'integer', value: constant.value, text };
    return { kind: 'float', bits: constant.bits, pattern: constant.pattern, text };
  }

  #failConstant(message: string): null {
    if (this.#kind() === END) return this.#fail('a constant');
    const code = this.#kind() === NUMBER ? 'ptx/literal' : 'ptx/syntax';
    this.#report(code, `${message}, at ${this.#found()}`);
    return null;
  }

  // Markers

  #flushMarkers(body: Statement[]): void {
    const { markers } = this.tokens;
    for (; this.#nextMarker < markers.length; this.#nextMarker++) {
      const marker = markers[this.#nextMarker]!;
      if (marker.before > this.index) return;
      const span = { line: marker.line, column: marker.column };
      const operand = this.#markerOperand(marker.operand);
      if (operand) {
        body.push({ kind: 'marker', span, name: marker.name, operand });
      } else {
        const message = `\`${shortened(marker.operand)}\` is not the operand of a selvage comment`;
        this.#reportAt(span.line, span.column, 'ptx/marker', message);
        body.push({ kind: 'damage', span, text: '' });
      }
    }
  }

  #markerOperand(text: string): Operand | undefined {
    if (/^[A-Za-z_$%][\w$]+$/.test(text) || /^[A-Za-z]$/.test(text)) {
      const resolved = resolveName(this.#scope, text);
      if (resolved?.kind === 'symbol') return undefined;
      return { kind: 'register', name: resolved?.name ?? text };
    }
    const sign = text.startsWith('-') ? 1 : 0;
    const literal = parseLiteral(text.slice(sign));
    if (typeof literal === 'string') return undefined;
    if (literal.kind === 'integer') return { kind: 'integer', value: sign ? -literal.value : literal.value, text };
    return sign ? undefined : { kind: 'float', bits: literal.bits, pattern: literal.pattern, text };
  }

  // Damage

  /** Ends a damaged statement where the next one begins, and keeps its text. */
  #damage(body: Statement[], start: number): void {
    this.#retreat(start);
    if (this.index > start && this.#isStatementStart(this.index)) this.#blameSemicolon();
    // Braces of a vector inside the statement are no scopes.
    let open = 0;
    for (let at = start; at < this.index; at++) {
      if (this.#kinds[at] === OPEN_BRACE) open++;
      else if (this.#kinds[at] === CLOSE_BRACE) open--;
    }
    for (; this.#kind() !== END; this.index++) {
      const kind = this.#kind();
      if (kind === SEMICOLON) {
        this.index++;
        break;
      }
      if (kind === OPEN_BRACE) open++;
      if (this.index === start) continue;
      if (this.#isStatementStart(this.index)) break;
      if (kind === CLOSE_BRACE && --open < 0) {
        // `%r1, %r2}, …` lacks the opening brace of a vector; any other `}` is that of a scope.
        const next = this.#kinds[this.index + 1];
        if (next !== COMMA && next !== SEMICOLON && next !== BAR) break;
        open = 0;
      }
    }
    if (this.#kind() === END && this.#kinds[this.index - 1] !== SEMICOLON && !this.#endReported) {
      // The cut is the mistake, whatever its last token looks like.
      this.diagnostics.pop();
      this.#endReported = true;
      this.#report('ptx/truncated', 'the text ends in the middle of a statement');
    }
    body.push({ kind: 'damage', span: this.#span(start), text: this.#slice(start) });
  }

  /** What was told of the first token of the next statement is the fault of the one before it. */
  #blameSemicolon(): void {
    if (this.uncounted > 0) return;
    this.diagnostics.pop();
    const last = this.#textOf(this.index - 1);
    this.#report(
      'ptx/syntax',
      `the statement does not end: a \`;\` is missing after \`${shortened(last)}\``,
      this.index - 1,
    );
  }

  /**
   * Where a semicolon is missing, the beginning of the next statement was read as an operand: goes back to it. Looking
   * back a few tokens only keeps parsing linear.
   */
  #retreat(start: number): void {
    const first = Math.max(start + 1, this.index - MAX_RETREAT);
    for (let at = first; at < this.index; at++) {
      if (!this.#isStatementStart(at)) continue;
      this.index = at;
      return;
    }
  }

  #isLineStart(index: number): boolean {
    return index === 0 || this.tokens.lines[index] !== this.tokens.lines[index - 1];
  }

  /** Does a line begin here, and like a statement? A continued statement begins its lines otherwise. */
  #isStatementStart(index: number): boolean {
    const kind = this.#kinds[index];
    if (kind === DIRECTIVE && MODULE_ONLY.has(this.#textOf(index))) return true;
    if (!this.#isLineStart(index)) return false;
    if (kind === AT) return true;
    if (kind === DIRECTIVE) return BODY_DIRECTIVES.has(this.#textOf(index));
    const next = this.#kinds[index + 1];
    if (kind === OPEN_BRACE) return next === DIRECTIVE;
    if (kind !== NAME) return false;
    if (next === COLON) return true;
    const text = this.#textOf(index);
    const first = text.charCodeAt(0);
    if (first < 97 || first > 122) return false;
    return text.includes('.') || BARE_INSTRUCTIONS.has(text);
  }

  // Tokens

  #kind(): number {
    return this.#kinds[this.index]!;
  }

  #text(): string {
    return this.#textOf(this.index);
  }

  #textOf(index: number): string {
    return this.tokens.text.slice(this.tokens.starts[index], this.tokens.ends[index]);
  }

  /** A name without dots and without a meaning of its own. */
  #isPlainName(): boolean {
    if (this.#kind() !== NAME) return false;
    const text = this.#text();
    return !text.includes('.') && !RESERVED_NAMES.has(text);
  }

  #isDirective(name: string): boolean {
    return this.#kind() === DIRECTIVE && this.#text() === name;
  }

  #take(kind: number): boolean {
    if (this.#kind() !== kind) return false;
    this.index++;
    return true;
  }

  #expect(kind: number): boolean {
    if (this.#take(kind)) return true;
    this.#fail(`\`${String.fromCharCode(kind)}\``);
    return false;
  }

  /** A number that a count, a line or an index may be. */
  #smallNumber(what: string): number | null {
    if (this.#kind() !== NUMBER) return this.#fail(what);
    const literal = parseLiteral(this.#text());
    if (typeof literal === 'string') return this.#failConstant(literal);
    if (literal.kind !== 'integer' || literal.value > 0xffff_ffffn) return this.#fail(what);
    this.index++;
    return Number(literal.value);
  }

  /** The text from a token to the one before the cursor, as it is written. */
  #slice(start: number): string {
    if (this.index <= start) return '';
    return this.tokens.text.slice(this.tokens.starts[start], this.tokens.ends[this.index - 1]);
  }

  /** The tokens from `start` to before the cursor with a space between: spaces and comments do not matter. */
  #joined(start: number): string {
    const texts: string[] = [];
    for (let at = start; at < this.index; at++) texts.push(this.#textOf(at));
    return texts.join(' ');
  }

  #span(index: number): PtxSpan {
    const line = this.tokens.lines[index]!;
    return { line, column: this.tokens.starts[index]! - this.tokens.lineStarts[line - 1]! + 1 };
  }

  // Diagnostics

  #found(): string {
    const kind = this.#kind();
    if (kind === END) return 'the end of the text';
    const text = this.#text();
    if (kind === JUNK && text.startsWith('"')) return `a text without its closing quote, ${shortened(text)}`;
    return `\`${shortened(text)}\``;
  }

  /** Reports that something else was expected at the cursor. */
  #fail(expected: string, code: ParserCode = 'ptx/syntax'): null {
    if (this.#kind() === END) {
      if (this.#endReported) this.#faulty = true;
      else this.#report('ptx/truncated', `the text ends where ${expected} was expected`);
      this.#endReported = true;
    } else {
      this.#report(code, `expected ${expected}, found ${this.#found()}`);
    }
    return null;
  }

  #report(code: ParserCode, message: string, index = this.index): void {
    // The end of the text is on the line of the last token.
    const at = this.#kinds[index] === END && index > 0 ? index - 1 : index;
    const { line, column } = this.#span(at);
    this.#reportAt(line, column, code, message);
  }

  #reportAt(line: number, column: number, code: ParserCode, message: string): void {
    this.#faulty = true;
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

/** Can a word stand behind the dot of an instruction? Whether one knows it there is for `isa/`. */
function isModifier(word: string): boolean {
  return MODIFIER.test(word) && !NO_MODIFIERS.has(word);
}

/** A text for a message: one line, printable, not long. */
function shortened(text: string): string {
  const printable = text.slice(0, 40).replace(/[^\x20-\x7e]/g, '?');
  return text.length > 40 ? `${printable}…` : printable;
}
