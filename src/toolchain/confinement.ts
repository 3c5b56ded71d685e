/** What compilers are held to: what they may take, and what they may read. */
import { lstat, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isInside, realPath } from './file-place.ts';
import { isPrivatePlace } from './flags.ts';
import type { ProcessLimits } from '../system/child-process.ts';

/** More text than this, preprocessed or PTX, is a runaway template or include, not a program; in bytes. */
export const largestText = 256 << 20;

/** Of each program: generous, since a unit with many templates takes minutes. */
export const compilerLimits = {
  // By the clock, for what hangs without working.
  milliseconds: 1_800_000,
  outputBytes: 64 << 20,
  resources: { cpuSeconds: 600, memoryBytes: 24 * 2 ** 30, fileBytes: 4 * largestText },
} as const satisfies ProcessLimits;

/** Of a verification build of which nothing tells how long it should take: seconds of CPU. */
export const secondsAlone = 180;

/** Limits with less CPU time. */
export function withCpu(limits: ProcessLimits, seconds: number): ProcessLimits {
  const { resources } = limits;
  return resources === undefined ? limits : { ...limits, resources: { ...resources, cpuSeconds: Math.min(seconds, resources.cpuSeconds) } }; // oxfmt-ignore
}

/** Why a file may not be part of a compilation. */
export type Refusal =
  | { readonly kind: 'include-outside'; readonly path: string }
  | { readonly kind: 'embedding'; readonly path: string };

/**
 * Finds a file of a compilation that lies outside of the given folders, links followed: an include of a file that is
 * no source would end up in error messages, or in names and strings of the PTX.
 * @param paths absolute; as the preprocessor spells them
 * @param roots absolute, links followed: the workspace, the include folders of the toolkit and of the host compiler
 */
export async function fileOutside(paths: readonly string[], roots: readonly string[]): Promise<Refusal | null> {
  for (const path of paths) {
    const real = await realPath(path);
    if (isPrivatePlace(path) || (real === null ? await mayBeRead(path) : !allowed(real, roots))) {
      return { kind: 'include-outside', path };
    }
  }
  return null;
}

function allowed(real: string, roots: readonly string[]): boolean {
  return !isPrivatePlace(real) && roots.some((root) => isInside(root, real));
}

/**
 * Whether a name that leads nowhere for us may still have been read. As a rule it was made up by a `#line` directive:
 * what was read exists. But not where we cannot spell it, nor a link (to `/proc/self/fd/1`), nor under `/proc`, which
 * differs for each process.
 */
async function mayBeRead(path: string): Promise<boolean> {
  if (path.includes('\ufffd') || (await lstat(path).catch(() => null)) !== null) return true;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const real = await realPath(folder);
    if (real !== null) return isPrivatePlace(real);
    if (folder === dirname(folder)) return false;
  }
}

/**
 * Finds a file with an `#embed` directive, which puts the bytes of any file into the program and leaves no trace in
 * the list of dependencies. Comments and line splices between the tokens hide nothing; a directive that is only part
 * of a comment or string is refused as well.
 *
 * `__has_include` and `__has_embed` tell whether a file exists, no more, and are let be.
 * @param files of the workspace, relative to `root`
 */
export async function embeddingFile(files: readonly string[], root: string): Promise<Refusal | null> {
  for (const path of files.map((file) => join(root, file))) {
    const text = await readFile(path, 'latin1').catch(() => '');
    if (embedDirective.test(withoutSplices(text))) return { kind: 'embedding', path };
  }
  return null;
}

const embedDirective = /(?:#|%:)(?:[ \t\v\f]|\/\*[^]*?\*\/)*embed(?![A-Za-z0-9_])/;

function withoutSplices(text: string): string {
  return text
    .replaceAll('??/', '\\')
    .replaceAll('??=', '#')
    .replaceAll(/\\[ \t\v\f]*\r?\n/g, '');
}

/**
 * The files that preprocessed text came from, in order of first appearance. Names that a `#line` directive made up
 * are among them; none that was read is missing.
 * @param text one character a byte
 */
export function filesOfPreprocessed(text: string): string[] {
  // A file is named at each of its many markers.
  const names = new Set(Array.from(text.matchAll(/^#(?:line)? \d+ "((?:[^"\\\n]|\\.)*)"/gm), ([, name]) => name!));
  const files = [...names].map((name) => Buffer.from(unescapeLiteral(name), 'latin1').toString('utf8'));
  return [...new Set(files)].filter((path) => !/^<.*>$/.test(path) && path !== '');
}

/**
 * Whether preprocessed text holds assembler directives that read files (`.incbin`), or that could spell one (macros
 * of the assembler). Strings are compared after joining neighbours and resolving escapes. We never assemble host code,
 * so this is a second lock on a door that is closed.
 */
export function embedsByAssembler(text: string): boolean {
  let joined = '';
  let end = 0;
  let inAssembly = false;
  const suspicious = (): boolean =>
    /incbin/i.test(joined) || (inAssembly && /\.\s*(?:include|macro|irpc?|altmacro)\b/i.test(joined));
  for (const match of text.matchAll(tokens)) {
    const { raw, plain, word, marker } = match.groups!;
    if (marker !== undefined) continue;
    const literal = raw ?? (plain === undefined ? undefined : unescapeLiteral(plain));
    if (literal === undefined) {
      if (word !== undefined)
        inAssembly = /^(?:__asm__|__asm|asm|section|__section__)$/.test(word) || (inAssembly && qualifier.test(word));
      continue;
    }
    const between = text.slice(end, match.index).replaceAll(/^#.*$/gm, '');
    if (between.trim() !== '') joined = '';
    joined += literal;
    end = match.index + match[0].length;
    if (suspicious()) return true;
  }
  return false;
}

const qualifier = /^(?:volatile|__volatile__|__volatile|goto|inline|__inline__|__inline)$/;

const tokens =
  /(?<marker>^#.*$)|(?:(?:u8|u|U|L)?R"(?<delimiter>[^ ()\\\t\v\f\n"]{0,16})\((?<raw>[^]*?)\)\k<delimiter>")|(?:u8|u|U|L)?"(?<plain>(?:[^"\\\n]|\\[^])*)"|'(?:[^'\\\n]|\\.)*'|\.?\d(?:'?[\w.])*|(?<word>[A-Za-z_$][\w$]*)/gm;

/** Resolves the escapes of a C string literal. */
function unescapeLiteral(text: string): string {
  return text.replaceAll(
    /\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g,
    (_, octal?: string, hex?: string, short?: string, long?: string, other?: string) => {
      if (other !== undefined) return simpleEscapes[other] ?? other;
      const code = octal !== undefined ? parseInt(octal, 8) : parseInt(hex ?? short ?? long ?? '', 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : '?';
    },
  );
}

const simpleEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  v: '\v',
  f: '\f',
  a: '\x07',
  b: '\b',
};
