import { withWholeChevrons } from './spaced-chevrons.ts';
import { Language, Parser } from 'web-tree-sitter';
import { normalizeSpace, outline } from './outline.ts';
import type { FunctionDefinition } from './outline.ts';
import { copyTree, lineStartsOf } from './syntax-tree.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import { tokenize } from './token.ts';
import type { Token } from './token.ts';

/** A comment with its markers; lines count from 1, columns from 1. */
export interface Comment {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** A kernel with its body and the `// selvage:` comments above it or in its header. */
export interface KernelDefinition extends FunctionDefinition {
  readonly annotations: readonly Comment[];
}

interface Include {
  /** As written between the brackets or quotes. */
  readonly path: string;
  readonly system: boolean;
  readonly line: number;
}

/** `#define NAME value` or `#define NAME(a, b) value`. */
interface MacroDefinition {
  readonly name: string;
  /** Undefined if it is not a function-like macro. */
  readonly parameters: readonly string[] | undefined;
  readonly value: string;
  readonly line: number;
}

/** A `// selvage-ignore CODE: reason` comment as written; `code` and `reason` may be empty if it is malformed. */
interface SuppressionComment extends Comment {
  readonly code: string;
  readonly reason: string;
  /** The lines that it applies to: its own line if code precedes it, otherwise those of the statement below. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** A CUDA text, read. The outline (functions, comments, …) comes from tokens; the tree is made on first use. */
export interface CudaSource {
  readonly file: string;
  readonly text: string;
  /** Offsets at which the lines start. */
  readonly lineStarts: readonly number[];
  readonly functions: readonly FunctionDefinition[];
  readonly kernels: readonly KernelDefinition[];
  readonly includes: readonly Include[];
  readonly macros: readonly MacroDefinition[];
  /** These, and those of headers that it includes, if given. */
  readonly visibleMacros: readonly MacroDefinition[];
  readonly suppressions: readonly SuppressionComment[];
  /** `// selvage:` comments that are not above a kernel. */
  readonly strayAnnotations: readonly Comment[];
  /** The syntax tree; text that does not parse is under nodes of type `ERROR`. */
  readonly tree: () => SyntaxNode;
}

export interface CudaParser {
  /**
   * Reads a text. Never throws for any text.
   * @param file - the name that the locations of its diagnostics get
   * @param included - macros of headers
   */
  readonly parse: (text: string, file?: string, included?: readonly MacroDefinition[]) => CudaSource;
  /** Only the syntax tree. */
  readonly treeOf: (text: string) => SyntaxNode;
}

/** The two WebAssembly modules, as bytes: `web-tree-sitter.wasm` and `tree-sitter-cuda.wasm`. */
export interface GrammarFiles {
  readonly runtime: Uint8Array;
  readonly grammar: Uint8Array;
}

/**
 * Starts the parser.
 * @param around wraps each parse, which may be the first to call a function of the grammar
 * @throws if the bytes are not the two modules
 */
export async function loadCudaGrammar(
  files: GrammarFiles,
  around: <Result>(parse: () => Result) => Result = (parse) => parse(),
): Promise<CudaParser> {
  await Parser.init({ wasmBinary: files.runtime });
  const language = await Language.load(files.grammar);
  const parser = new Parser();
  parser.setLanguage(language);
  const { types, fields } = language;
  const parsed = (text: string, lineStarts: readonly number[]): SyntaxNode => {
    const tree = parser.parse(withWholeChevrons(text));
    const cursor = tree?.walk();
    try {
      return cursor ? copyTree(cursor, types, fields, lineStarts) : emptyTree;
    } finally {
      cursor?.delete();
      tree?.delete();
    }
  };
  const treeOf: typeof parsed = (text, lineStarts) => around(() => parsed(text, lineStarts));
  return {
    parse: (text, file = '', included = []) => readSource(text, file, treeOf, included),
    treeOf: (text) => treeOf(text, lineStartsOf(text)),
  };
}

const emptyTree: SyntaxNode = {
  type: 'translation_unit',
  field: null,
  start: 0,
  end: 0,
  line: 1,
  endLine: 1,
  children: [],
};

/**
 * The names of macros that put a word into the header of a function, themselves or through others. One that contains
 * braces is a complete definition: the function after it is another one.
 */
export function macrosFor(word: string, macros: readonly MacroDefinition[]): ReadonlySet<string> {
  const names = new Set<string>();
  const containsWord = ({ value }: MacroDefinition): boolean =>
    !value.includes('{') && (value.match(/[A-Za-z_]\w*/g) ?? []).some((part) => part === word || names.has(part));
  for (let known = -1; known < names.size;) {
    known = names.size;
    for (const macro of macros) if (!names.has(macro.name) && containsWord(macro)) names.add(macro.name);
  }
  return names;
}

/**
 * Reads a text without a parser: everything but the tree, which is empty.
 * @param treeOf - makes the tree
 * @param included - macros of headers
 */
export function readSource(
  text: string,
  file: string,
  treeOf: (text: string, lineStarts: readonly number[]) => SyntaxNode = () => emptyTree,
  included: readonly MacroDefinition[] = [],
): CudaSource {
  const tokens = tokenize(text);
  const lineStarts = lineStartsOf(text);
  const { includes, macros } = readDirectives(tokens);
  const visibleMacros = [...macros, ...included];
  const [globalMacros, deviceMacros] = ['__global__', '__device__'].map((word) => macrosFor(word, visibleMacros));
  const functions = outline(text, tokens, globalMacros!, deviceMacros!);
  const commentOf = ({ text: words, line, start }: Token): Comment => ({
    text: words,
    line,
    column: start - (lineStarts[line - 1] ?? 0) + 1,
  });

  const kernels: KernelDefinition[] = [];
  const isAnnotation = (token: Token): boolean => token.kind === 'comment' && /^\/[/*]\s*selvage:/.test(token.text);
  const stray = new Set(tokens.filter(isAnnotation));
  const indexAt = new Map(tokens.map((token, index) => [token.start, index]));
  for (const definition of functions) {
    if (definition.kind !== 'kernel') continue;
    let first = indexAt.get(definition.start) ?? 0;
    while (tokens[first - 1]?.kind === 'comment') first--;
    const own = tokens.slice(first, indexAt.get(definition.bodyStart)).filter(isAnnotation);
    for (const comment of own) stray.delete(comment);
    kernels.push({ ...definition, annotations: own.map(commentOf) });
  }

  let tree: SyntaxNode | undefined;
  return {
    file,
    text,
    lineStarts,
    functions,
    kernels,
    includes,
    macros,
    visibleMacros,
    suppressions: readSuppressions(tokens, commentOf),
    strayAnnotations: [...stray].map(commentOf),
    tree: () => (tree ??= treeOf(text, lineStarts)),
  };
}

function readDirectives(tokens: readonly Token[]): { includes: Include[]; macros: MacroDefinition[] } {
  const includes: Include[] = [];
  const macros: MacroDefinition[] = [];
  for (const { kind, text, line } of tokens) {
    if (kind !== 'directive') continue;
    const include = /^#\s*include(?:_next)?\s*(?:<([^>]+)>|"([^"]+)")/.exec(text);
    if (include) includes.push({ path: include[1] ?? include[2] ?? '', system: include[1] !== undefined, line });
    const macro = /^#\s*define\s+([A-Za-z_]\w*)(?:\(([^)]*)\))?([^]*)$/.exec(text);
    if (!macro) continue;
    const [, name = '', parameters, value = ''] = macro;
    macros.push({
      name,
      parameters: parameters?.split(',').map((parameter) => parameter.trim()),
      value: normalizeSpace(value.replace(/\\\r?\n/g, ' ')),
      line,
    });
  }
  return { includes, macros };
}

function readSuppressions(tokens: readonly Token[], commentOf: (token: Token) => Comment): SuppressionComment[] {
  const suppressions: SuppressionComment[] = [];
  for (const [index, token] of tokens.entries()) {
    const words = token.kind === 'comment' ? /^\/[/*]\s*selvage-ignore\b([^]*?)(?:\*\/)?$/.exec(token.text)?.[1] : undefined;
    if (words === undefined) continue;
    const [, code = '', reason = ''] = /^\s*([^\s:]*)\s*:?\s*([^]*?)\s*$/.exec(words) ?? [];
    const before = tokens[index - 1];
    let firstLine = token.line;
    let lastLine = token.line;
    if (!before || before.line !== token.line || before.kind === 'comment') {
      const code = tokens.slice(index + 1).find(({ kind }) => kind !== 'comment' && kind !== 'directive');
      firstLine = lastLine = code?.line ?? token.line;
      for (let i = code ? tokens.indexOf(code, index) : tokens.length; i < tokens.length; i++) {
        lastLine = tokens[i]?.line ?? lastLine;
        if (/^[;{}]$/.test(tokens[i]?.text ?? '')) break;
      }
    }
    suppressions.push({ ...commentOf(token), code, reason, firstLine, lastLine });
  }
  return suppressions;
}
