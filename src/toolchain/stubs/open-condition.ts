/** Conditions of the preprocessor that a missing header may decide. */
import { matchBrackets } from '../../cuda/syntax/bracket-match.ts';
import { tokenize, type Token } from '../../cuda/syntax/token.ts';
import {
  type BracketedTokens,
  classNames,
  declaredNames,
  functionName,
  isFunctionDeclaration,
  type Declared,
  itemsIn,
} from './declarations.ts';
import { isLaunch } from './device-use.ts';

/** A file of the project, as it is on disk. */
export interface OwnFile {
  /** Name for messages. */
  readonly path: string;
  readonly text: string;
  /** Conditions before this line are decided before the first missing header is included. */
  readonly from: number;
}

/** A condition on macros that nothing defines. The missing header might define them; without it they count as 0. */
export interface OpenCondition {
  readonly names: readonly string[];
  readonly file: string;
  readonly line: number;
  /** Whether device code may depend on it by means that are not followed. */
  readonly isDecisive: boolean;
  /** Names that the text under the condition declares, and classes around it. */
  readonly declares: readonly string[];
  /** Whether it may decide launches. */
  readonly decidesLaunches: boolean;
}

/** What is known of the unit. */
interface UnitMacros {
  /** Bodies of all macros. */
  readonly definitions: ReadonlyMap<string, string>;
  /** Macros that are stated to be undefined. */
  readonly unset: ReadonlySet<string>;
  /** Functions of the host that may lead to a launch. */
  readonly launching: ReadonlySet<string>;
  readonly isOfProject: (header: string) => boolean;
}

interface Conditional {
  readonly start: number;
  readonly line: number;
  readonly names: string[];
}

/** Macros of compilers and systems: libraries do not define them. */
const ofCompilers = /^(?:_[_A-Z]\w*|NDEBUG|WIN32|WIN64|linux|unix)$/;

/** Maximum number of conditions that are looked into. */
const maxConditions = 500;

/** A file with the brackets of its text. */
interface RawFile extends BracketedTokens {
  readonly path: string;
  readonly from: number;
}

/** All conditions on macros that nothing defines, from the first missing header on. */
export function openConditions(files: readonly OwnFile[], macros: UnitMacros): OpenCondition[] {
  const device = deviceMacros(macros.definitions);
  const isOpen = (name: string): boolean => !macros.definitions.has(name) && !macros.unset.has(name) && !ofCompilers.test(name);
  const raw = files.map(({ path, text, from }): RawFile => {
    const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment');
    return { path, from, tokens, partner: matchBrackets(tokens) };
  });
  const found: OpenCondition[] = [];
  for (const file of raw) {
    const stack: Conditional[] = [];
    for (const [at, token] of file.tokens.entries()) {
      if (token.kind !== 'directive') continue;
      const [, word = '', rest = ''] = /^#\s*(\w+)([^]*)$/.exec(token.text) ?? [];
      if (/^if(?:n?def)?$/.test(word)) stack.push({ start: at, line: token.line, names: namesOf(rest).filter(isOpen) });
      else if (/^elif/.test(word)) stack.at(-1)?.names.push(...namesOf(rest).filter(isOpen));
      if (word !== 'endif') continue;
      const conditional = stack.pop();
      if (!conditional || conditional.names.length === 0 || token.line < file.from) continue;
      const { names, line, start } = conditional;
      if (found.length === maxConditions) return [...found, { names, file: file.path, line, ...decisive }];
      found.push({ names: [...new Set(names)], file: file.path, line, ...effectOf(file, [start, at], raw, device, macros) });
    }
  }
  return found;
}

/** Names in all conditions of a text. */
export function askedNames(text: string): string[] {
  const conditions = text.matchAll(/^[ \t]*#[ \t]*(?:el)?ifn?(?:def)?\b((?:\\\r?\n|[^\n])*)/gm);
  return Array.from(conditions, ([, condition]) => namesOf(condition!)).flat();
}

/** Names in a condition; those that `defined` asks for too. */
function namesOf(condition: string): string[] {
  const plain = condition.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*|"[^"\n]*"|<[^>\n]*>(?=\s*\))|\b\d[\w.]*/g, ' ');
  return (plain.match(/[A-Za-z_]\w*/g) ?? []).filter((name) => !/^(?:defined|true|false|and|or|not)$/.test(name));
}

/** Words that mark device code: those of CUDA, and macros that expand to them. */
function deviceMacros(definitions: ReadonlyMap<string, string>): ReadonlySet<string> {
  return usersOf(['__global__', '__device__', '__constant__', '__shared__', '__managed__'], definitions);
}

/** Words, and macros whose bodies have one of them. */
function usersOf(words: readonly string[], definitions: ReadonlyMap<string, string>): ReadonlySet<string> {
  const users = new Set(words);
  for (let before = -1; before !== users.size;) {
    before = users.size;
    for (const [name, body] of definitions) {
      if (!users.has(name) && (body.match(/[A-Za-z_]\w*/g) ?? []).some((word) => users.has(word))) users.add(name);
    }
  }
  return users;
}

type Effect = Pick<OpenCondition, 'isDecisive' | 'declares' | 'decidesLaunches'>;

const decisive: Effect = { isDecisive: true, declares: [], decidesLaunches: true };

function effectOf(
  file: RawFile,
  [start, end]: readonly [number, number],
  files: readonly RawFile[],
  device: ReadonlySet<string>,
  { definitions, launching, isOfProject }: UnitMacros,
): Effect {
  const content = file.tokens.slice(start + 1, end);
  if (content.some(({ text }) => device.has(text))) return decisive;
  const macros: string[] = [];
  for (const { kind, text } of content) {
    if (kind !== 'directive') continue;
    const [, word = '', rest = ''] = /^#\s*(\w+)\s*([^]*)$/.exec(text) ?? [];
    if (/^(?:include|import|include_next)$/.test(word)) {
      // A library's header, which only host code uses.
      const [, name] = /^[<"]([^>"\n]+)[>"]/.exec(rest) ?? [];
      if (name === undefined || isOfProject(name)) return decisive;
    } else if (word === 'define' || word === 'undef') {
      const [name = ''] = /^\w+/.exec(rest) ?? [];
      macros.push(name);
    }
  }
  const code = content.filter(({ kind }) => kind !== 'directive');
  const around = surroundings(file, start, device);
  const declares = [...around.classes];
  const decidesLaunches =
    code.some((_, at) => isLaunch(code, at)) ||
    code.some(({ text }) => launching.has(text)) ||
    around.functions.some((name) => launching.has(name));
  if (around.isDevice) return decisive;
  for (const user of usersOf(macros, definitions)) {
    for (const other of files) {
      const uses = usesOfMacro(other, user, device);
      if (uses === null) return decisive;
      declares.push(...uses);
    }
  }
  if (around.functions.length === 0) {
    const part = { tokens: code, partner: matchBrackets(code) };
    if (code.some(({ text }, at) => /^[(){}[\]]$/.test(text) && part.partner[at] === -1)) return decisive;
    // Lookup of names may depend on a namespace.
    if (code.some(({ text }, at) => text === 'namespace' && (code[at - 1]?.text === 'using' || code[at + 2]?.text === '=')))
      return decisive;
    for (const item of itemsIn(part, 0, code.length)) {
      declares.push(...namesOfItem(part, item));
    }
  }
  return { isDecisive: false, declares, decidesLaunches };
}

/** Names that a declaration introduces; of a function those of its parameters are left out. */
function namesOfItem(code: BracketedTokens, item: Declared): readonly string[] {
  if (item.kind === 'class') return classNames(code, item);
  const name = item.kind === 'function' || isFunctionDeclaration(code, item) ? functionName(code, { ...item, body: item.header }) : null;
  return name === null ? declaredNames(code, item.start, item.header + 1) : [name];
}

/**
 * Names that are declared with a macro, outside of functions of the host.
 * @returns null if device code has it
 */
function usesOfMacro(file: RawFile, name: string, device: ReadonlySet<string>): string[] | null {
  const names: string[] = [];
  const { tokens } = file;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'identifier' || text !== name) continue;
    const around = surroundings(file, at, device);
    if (around.isDevice) return null;
    if (around.functions.length > 0) continue;
    let [first, last] = [at, at];
    while (first > 0 && !isBoundary(tokens[first - 1]!)) first -= 1;
    while (last < tokens.length && !/^[;{]$/.test(tokens[last]!.text)) last += 1;
    const statement = tokens.slice(first, last);
    if (statement.some((token) => device.has(token.text))) return null;
    const [item] = itemsIn({ tokens: statement, partner: matchBrackets(statement) }, 0, statement.length);
    const code = { tokens: statement, partner: matchBrackets(statement) };
    names.push(...around.classes, ...(item ? namesOfItem(code, item) : []));
    const [named] = statement.filter(
      (_, index) => /^(?:class|struct|union|enum)$/.test(statement[index - 1]?.text ?? '') || statement[index - 1]?.text === name,
    );
    if (named?.kind === 'identifier' && statement.some((token) => /^(?:class|struct|union|enum)$/.test(token.text))) names.push(named.text);
  }
  return names;
}

function isBoundary({ kind, text }: Token): boolean {
  return kind === 'directive' || /^[;{}]$/.test(text);
}

/** Functions and classes around a place. */
interface Surroundings {
  readonly isDevice: boolean;
  readonly functions: readonly string[];
  readonly classes: readonly string[];
}

function surroundings({ tokens, partner }: RawFile, at: number, device: ReadonlySet<string>): Surroundings {
  const functions: string[] = [];
  const classes: string[] = [];
  for (let open = 0; open < at; open++) {
    const { text } = tokens[open]!;
    if (!/^[({]$/.test(text) || (partner[open]! >= 0 && partner[open]! < at)) continue;
    let first = open;
    while (first > 0 && !isBoundary(tokens[first - 1]!)) first -= 1;
    const header = tokens.slice(first, open);
    const isDevice = header.some((token) => device.has(token.text) || token.text === 'constexpr');
    // A bracket without a partner may enclose everything after it.
    if (partner[open]! < 0 || isDevice) return { isDevice: true, functions, classes };
    if (text === '(') continue;
    const call = header.findIndex((token) => token.text === '(');
    const word = header.findIndex((token) => /^(?:class|struct|union|enum)$/.test(token.text));
    if (header.some((token) => token.text === 'namespace' || token.text === 'extern') && call < 0) continue;
    if (call > 0) functions.push(header[call - 1]!.text);
    else if (word >= 0)
      classes.push(
        ...header
          .slice(word + 1)
          .filter(({ kind }) => kind === 'identifier')
          .map((token) => token.text),
      );
  }
  return { isDevice: false, functions, classes };
}
