/** Finds stubs with which a unit compiles: the messages of the compiler name what is missing. */
import { launchingFunctions, stubUse } from './device-use.ts';
import { memberNames, undeclaredScopes, usesOf } from './name-uses.ts';
import { askedNames, openConditions, type OpenCondition, type OwnFile } from './open-condition.ts';
import { addAll, isDeclarable, type OwnCode, readOwnCode } from './own-code.ts';
import { declaringHeaders, dispatchOf, literalOperators, stubHeader, stubNamespace, stubTextOf } from './stub-text.ts';

/** Headers that do not exist, and their text. */
export interface Stubs {
  /** Names as in the directives. */
  readonly headers: readonly string[];
  readonly text: string;
}

/** Stubs of a unit. */
export interface StubbedUnit extends Stubs {
  /** Why the launches of its host program must not be read; null if they may. */
  readonly unreadLaunches: string | null;
  /** Names of classes that must not be part of the name of a kernel. */
  readonly classes: readonly string[];
}

/** Why no stub is made. */
export interface Unstubbed {
  readonly headers: readonly string[];
  readonly reason: string;
}

/** The unit as it is preprocessed. */
export interface PreprocessedStubs {
  /** Part of the project, with markers. */
  readonly own: string;
  /** Remaining text. */
  readonly others: string;
  /** Bodies of all macros. */
  readonly definitions: ReadonlyMap<string, string>;
  readonly files: readonly OwnFile[];
}

/** What the preprocessor reports. */
interface PreprocessorErrors {
  readonly errors: string;
  /** Undefined names that conditions call as macros. */
  readonly calledMacros: readonly string[];
}

/** The compiler, with a folder of stubs as the last include path. */
interface StubCompiler {
  /** @returns the text; or why it is missing; null if the text must not be used */
  readonly preprocess: (stubs: Stubs) => Promise<PreprocessedStubs | PreprocessorErrors | null>;
  /** @returns what the compiler printed; null if the unit compiles */
  readonly compile: (stubs: Stubs) => Promise<string | null>;
  /** Whether the project has a header of this name. */
  readonly isOfProject: (header: string) => boolean;
  /** Macros that the flags state to be undefined. */
  readonly unset: ReadonlySet<string>;
  /** Whether a reason may quote the compiler. */
  readonly isTrusted: boolean;
  /** The result of a search that was made before for the same unit, or of this one. */
  readonly remembered: (
    unit: PreprocessedStubs,
    headers: readonly string[],
    find: () => Promise<StubbedUnit | Unstubbed>,
  ) => Promise<StubbedUnit | Unstubbed>;
}

/** Limits of a search. They bound the work for a source that is not trusted. */
const maxHeaders = 64;
const maxAttempts = 24;
const maxNames = 2000;
const maxTextLength = 1 << 20;

const missing = /(?:fatal error: |cannot open source file ")([^\s":]+)(?:: No such file or directory|")/;
const headerName = /^(?!.*(?:^|\/)\.\.?(?:\/|$))[A-Za-z0-9_][\w.+-]*(?:\/[\w.+-]+)*$/;

/** @returns null if no header is missing, or the unit does not compile for another reason */
export async function findStubs(compiler: StubCompiler): Promise<StubbedUnit | Unstubbed | null> {
  const headers: string[] = [];
  const stopped = (reason: string): Unstubbed => ({ headers, reason });
  const called = new Set<string>();
  let unit: PreprocessedStubs | undefined;
  while (!unit) {
    // As in every condition, what is not defined is 0. The conditions are looked into later.
    const text = [...called].map((name) => `#ifndef ${name}\n#define ${name}(...) 0\n#endif\n`).join('');
    const found = await compiler.preprocess({ headers, text });
    if (found === null) return null;
    if (!('errors' in found)) {
      const definitions = new Map([...found.definitions].filter(([name]) => !called.has(name)));
      unit = { ...found, definitions };
      break;
    }
    if (called.size < maxHeaders && headers.length > 0 && addAll(called, found.calledMacros.filter(isDeclarable))) continue;
    const [, name] = missing.exec(found.errors) ?? [];
    if (name === undefined || headers.includes(name))
      return headers.length === 0
        ? null
        : stopped(`the preprocessor reports ${compiler.isTrusted ? firstError(found.errors) : 'another error'}`);
    if (!headerName.test(name) || name.length > 200) return stopped('the name of a header has characters that Selvage does not write');
    if (compiler.isOfProject(name)) {
      return { headers: [...headers, name], reason: `the repository has the header ${name}; state its folder with -I` };
    }
    if (headers.length === maxHeaders) return stopped(`more than ${maxHeaders} headers are missing`);
    headers.push(name);
  }
  if (headers.length === 0) return null;
  const known = unit;
  return compiler.remembered(known, headers, () => declaredStubs(compiler, known, headers, called));
}

async function declaredStubs(
  compiler: StubCompiler,
  unit: PreprocessedStubs,
  headers: readonly string[],
  called: ReadonlySet<string>,
): Promise<StubbedUnit | Unstubbed> {
  const stopped = (reason: string): Unstubbed => ({ headers, reason });
  const code = readOwnCode(unit.own);
  // A macro of the header may have the other bracket: then it is unknown where declarations end.
  const isUnbalanced = code.tokens.some(({ kind, text }, at) => kind === 'punctuation' && /^[(){}]$/.test(text) && code.partner[at] === -1);
  if (isUnbalanced) return stopped('without the header the brackets of the file are not balanced');
  const conditions = openConditions(unit.files, {
    definitions: unit.definitions,
    unset: compiler.unset,
    launching: launchingFunctions(code),
    isOfProject: compiler.isOfProject,
  });
  const refused = refusedConditions(code, conditions);
  if (refused !== null) return stopped(refused);
  const asked = new Set(unit.files.flatMap(({ text }) => askedNames(text)));
  const known = scopesIn(unit.others);
  const members = new Map(memberNames(code));
  const roots = new Set(undeclaredScopes(code, (name) => known.has(name)));
  const dropped = new Set<string>();
  const dispatched = code.tokens.flatMap(({ text }) => dispatchOf(text)?.alias ?? []);
  const literals = new Set<string>();
  const others = new Set<string>();
  const constants = new Set<string>();
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const uses = usesOf(code, roots);
    for (const name of constants) uses.names.get(name)?.uses.add('constant');
    const made = stubTextOf(uses, members, dropped);
    const stubs = { headers, text: stubHeader(`${made.text}${literalOperators(literals)}`, others, called) };
    if (roots.size + members.size > maxNames || stubs.text.length > maxTextLength) return stopped('the stub would be too large');
    const flipped = [...made.macros].find((name) => asked.has(name));
    if (flipped !== undefined) return stopped(`a condition of the preprocessor asks for ${flipped}, which the header may define`);
    // Checked first: a unit whose device code needs the header is not worth further attempts.
    const names = new Set([...roots, ...uses.aliases, ...made.macros, ...literals, stubNamespace]);
    const { inDeviceCode, unreadLaunches, classes } = stubUse(code, names, made.enumerators, made.macros);
    if (inDeviceCode)
      return stopped(`device code depends on ${inDeviceCode.name} (${inDeviceCode.file}:${inDeviceCode.line}), which the header declares`);
    const errors = await compiler.compile(stubs);
    if (errors === null) {
      const open = conditions.find(({ decidesLaunches }) => decidesLaunches);
      const condition = open && `a missing header might define ${open.names[0]}, on which a condition depends (${open.file}:${open.line})`;
      const reason = unreadLaunches?.reason ?? condition ?? null;
      return { ...stubs, unreadLaunches: reason, classes: [...made.classes, ...classes, stubNamespace] };
    }
    // A type that is missing breaks declarations, so that later messages name what the unit declares itself.
    if (addAll(others, declaringHeaders(errors))) continue;
    const size = roots.size + members.size + dropped.size;
    const suffixes = /user-defined literal operator not found/.test(errors) ? literalSuffixes(code) : [];
    const grown = [addAll(constants, constantsIn(code, errors, roots)), addAll(literals, suffixes)];
    const isLarger = grown.includes(true);
    readErrors(errors, { roots, members, dropped });
    addAll(roots, firstWords(code, errors));
    for (const name of dispatched) roots.delete(name);
    if (!isLarger && roots.size + members.size + dropped.size === size)
      return stopped(`with stubs the compiler still reports ${compiler.isTrusted ? firstError(errors) : 'an error'}`);
  }
  return stopped(`after ${maxAttempts} attempts names are still undeclared`);
}

/** Names that a text declares and that can precede `::`. */
function scopesIn(text: string): ReadonlySet<string> {
  const words =
    /\b(?:namespace|class|struct|union|enum)\s+(?:__attribute__\s*\(\([^()]*(?:\([^()]*\))?\)\)\s*|class\s+)*(\w+)|\busing\s+(\w+)\s*=|\btypedef\b[^;{}]*?\b(\w+)\s*;|\}\s*(\w+)\s*;/g;
  return new Set(Array.from(text.matchAll(words), (match) => match.slice(1).find((name) => name !== undefined)!));
}

/** Why conditions of the preprocessor exclude stubs; null if they do not. */
function refusedConditions(code: OwnCode, conditions: readonly OpenCondition[]): string | null {
  const decides = ({ isDecisive, declares }: OpenCondition): boolean =>
    isDecisive || stubUse(code, new Set(declares), new Set()).inDeviceCode !== null;
  const all = new Set(conditions.flatMap(({ declares }) => declares));
  const isAnyDecisive = conditions.some(({ isDecisive }) => isDecisive);
  if (!isAnyDecisive && stubUse(code, all, new Set()).inDeviceCode === null) return null;
  const refused = conditions.slice(0, 100).filter(decides);
  const [first = conditions[0]!] = refused;
  const names = [...new Set(refused.flatMap((one) => one.names))].slice(0, 40);
  return `a missing header might define ${first.names[0]}, and the condition on it at ${first.file}:${first.line} may decide device code; if your builds leave it undefined, state it in nvcc.args: ${names.map((name) => `-U${name}`).join(' ')}`;
}

interface StubNames {
  readonly roots: Set<string>;
  readonly members: Map<string, { readonly isTemplate: boolean; readonly isField: boolean }>;
  readonly dropped: Set<string>;
}

/** Takes names from the messages of the compiler. */
function readErrors(errors: string, { roots, members, dropped }: StubNames): void {
  const all = (pattern: RegExp): string[] => Array.from(errors.matchAll(pattern), ([, name]) => name!).filter(isDeclarable);
  addAll(
    roots,
    all(/identifier "(\w+)" is undefined/g).filter((name) => declaringHeaders(`identifier "${name}" is undefined`).length === 0),
  );
  addAll(roots, all(/^[^\n]*error: (\w+) has not been declared/gm));
  for (const name of all(/(?:class|struct) "[^"\n]*" has no member "(\w+)"/g)) {
    if (!members.has(name)) members.set(name, { isTemplate: false, isField: true });
  }
  addAll(
    dropped,
    all(/"(?:\w+::)*(\w+)" has already been declared/g).filter((name) => roots.has(name)),
  );
  addAll(
    dropped,
    all(/invalid redeclaration of [\w ]+ "(\w+)"/g).filter((name) => roots.has(name)),
  );
  addAll(
    dropped,
    all(/(?:class|struct) "(?:\w+::)*(\w+)" has already been defined/g).filter((name) => roots.has(name)),
  );
  addAll(
    dropped,
    all(/declaration is incompatible with "[^"\n]*?(\w+)" \(declared/g).filter((name) => roots.has(name)),
  );
  addAll(
    dropped,
    all(/"(\w+)" is ambiguous/g).filter((name) => roots.has(name)),
  );
}

/** Indices of the tokens in lines with an error. */
function tokensWithError(code: OwnCode, errors: string, message: RegExp): number[] {
  const lines = new Set<string>();
  for (const [, file, line, text] of errors.matchAll(/^(?:.*\/)?([^/\n]+)\((\d+)\): error[^:\n]*: ([^\n]*)/gm)) {
    if (message.test(text!)) lines.add(`${file}:${line}`);
  }
  if (lines.size === 0) return [];
  return code.tokens.flatMap((_, at) => {
    const { file, line } = code.placeOf(at);
    return lines.has(`${file.replace(/^.*\//, '')}:${line}`) ? [at] : [];
  });
}

/** Suffixes of string literals, as in `"a"_s`. */
function literalSuffixes({ tokens }: OwnCode): string[] {
  return tokens.flatMap(({ kind, text, start }, at) => {
    const before = tokens[at - 1];
    const isSuffix = kind === 'identifier' && before?.kind === 'string' && before.end === start && before.text.endsWith('"');
    return isSuffix && /^_[a-z]\w*$/.test(text) ? [text] : [];
  });
}

/** Names of a stub in lines in which a constant is needed. */
function constantsIn(code: OwnCode, errors: string, roots: ReadonlySet<string>): string[] {
  const found = tokensWithError(code, errors, /^expression must have a constant value/);
  return found.map((at) => code.tokens[at]!.text).filter((name) => roots.has(name));
}

/** First words of declarations without a type: macros that the compiler does not report as undefined. */
function firstWords(code: OwnCode, errors: string): string[] {
  const found = new Set(tokensWithError(code, errors, /^this declaration has no storage class or type specifier/));
  return [...found].flatMap((at) => {
    const { kind, text } = code.tokens[at]!;
    const isFirst = !found.has(at - 1) || /^[;{}]$/.test(code.tokens[at - 1]!.text);
    return isFirst && kind === 'identifier' && isDeclarable(text) ? [text] : [];
  });
}

/** The text of the first error, in one line of printable characters. */
function firstError(errors: string): string {
  const [, text = 'an error'] = /error(?: #\d+(?:-D)?)?: ([^\n]*)/.exec(errors) ?? [];
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 160);
}
