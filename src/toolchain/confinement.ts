/** Limits of compilers: resources, and files that they may read. */
import { lstat, readFile, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { isInside, pathIn, realPath } from './file-place.ts';
import { isPrivatePlace } from './flags.ts';
import type { ProcessLimits } from '../system/child-process.ts';

/** Maximum bytes of a preprocessed text or PTX. A larger one results from a runaway template or include. */
export const largestText = 256 << 20;

/** Maximum share of the memory of the computer, or of the container, that a compiler may use. */
const memoryShare = 0.8;

function memoryOfComputer(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem();
}

/** Limits of each program: generous, since a unit with many templates takes minutes. */
export const compilerLimits = {
  // Wall-clock time limit, for programs that hang without using CPU time.
  milliseconds: 1_800_000,
  outputBytes: 64 << 20,
  resources: {
    cpuSeconds: 600,
    memoryBytes: Math.min(24 * 2 ** 30, Math.max(2 ** 32, memoryShare * memoryOfComputer())),
    fileBytes: 4 * largestText,
  },
} as const satisfies ProcessLimits;

/**
 * The limits of a preprocessor, which reads files before their places are known: an included device has no end. Less
 * than {@link largestText} of preprocessed text is accepted, which needs a fraction of them.
 */
export function ofPreprocessor(limits: ProcessLimits): ProcessLimits {
  const { resources } = limits;
  if (resources === undefined) return limits;
  const memoryBytes = Math.min(2 ** 32, resources.memoryBytes);
  const milliseconds = Math.min(300_000, limits.milliseconds);
  return withCpu({ ...limits, milliseconds, resources: { ...resources, memoryBytes } }, 120);
}

/** CPU time limit in seconds of a verification build whose expected time is unknown. */
export const secondsAlone = 180;

/** The limits with a lower CPU time. */
export function withCpu(limits: ProcessLimits, seconds: number): ProcessLimits {
  const { resources } = limits;
  return resources === undefined ? limits : { ...limits, resources: { ...resources, cpuSeconds: Math.min(seconds, resources.cpuSeconds) } };
}

/** Why a file must not be part of a compilation. */
export type Refusal = { readonly kind: 'include-outside'; readonly path: string } | { readonly kind: 'embedding'; readonly path: string };

/**
 * Finds a file of a compilation outside of the given folders, links resolved: contents of an included file that is not
 * a source would appear in error messages, or in names and strings of the PTX.
 * @param paths absolute; as the preprocessor spells them
 * @param roots absolute, links resolved: the workspace, the include folders of the toolkit and of the host compiler
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
 * Whether a file that does not exist under its name may still have been read. Usually a `#line` directive invented the
 * name: a file that was read exists. Exceptions are names that cannot be spelled here, links (to `/proc/self/fd/1`),
 * and names under `/proc`, which differs for each process.
 */
async function mayBeRead(path: string): Promise<boolean> {
  if (path.includes('\ufffd') || (await lstat(path).catch(() => null)) !== null) return true;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const real = await realPath(folder);
    if (real !== null) return isPrivatePlace(real);
    if (folder === dirname(folder)) return false;
  }
}

/** White space and comments between the tokens of a directive. */
const gap = String.raw`(?:[ \t\v\f]|\/\*[^*\n]*\*\/)*`;

/** `#include "name"` and `#include <name>` in a text whose continued lines are joined. */
const includeDirective = new RegExp(`^${gap}(?:#|%:)${gap}(?:include|include_next|import)${gap}(?:"([^"\\n]+)"|<([^>\\n]+)>)`, 'gm');

/** Maximum number of included names that are looked up for a unit. A unit of a large library has some thousands. */
const mostIncludes = 50_000;

/**
 * Finds an included device, pipe or socket, and an included link out of the given folders: the preprocessor would read a
 * device without end. Names that macros make up are not found; there the limits of the preprocessor apply.
 * @param file the unit, absolute
 * @param folders include folders
 * @param roots folders that may be read, absolute, links resolved; the text of files in the first one is searched, too
 */
export async function endlessInclude(
  file: string,
  folders: readonly string[],
  roots: readonly string[],
  signal?: AbortSignal,
): Promise<Refusal | null> {
  const [root = '/'] = roots;
  const files = new Set([file]);
  const looked = new Set<string>();
  for (const path of files) {
    const text = await readFile(path, 'latin1').catch(() => '');
    // Whether trigraphs count depends on the dialect.
    const texts = [withoutSplices(text), ...(text.includes('??/') ? [text.replaceAll(/\\[ \t\v\f]*\r?\n/g, '')] : [])];
    for (const [, quoted, angled] of texts.flatMap((one) => [...one.matchAll(includeDirective)])) {
      const places = quoted === undefined ? folders : [dirname(path), ...folders];
      for (const candidate of places.map((folder) => pathIn(folder, quoted ?? angled!))) {
        if (looked.has(candidate)) continue;
        if (looked.size >= mostIncludes || signal?.aborted === true) return null;
        looked.add(candidate);
        const own = await lstat(candidate).catch(() => null);
        const target = own && (await stat(candidate).catch(() => null));
        if (own === null || target === null || target.isDirectory()) continue;
        const real = (await realPath(candidate)) ?? candidate;
        if (!target.isFile() || (own.isSymbolicLink() && !allowed(real, roots))) return { kind: 'include-outside', path: candidate };
        // Quoted names are relative to the folder as it is spelled.
        if (isInside(root, real) && target.size <= largestSearched) files.add(candidate);
      }
    }
  }
  return null;
}

/** Larger files are not searched. */
const largestSearched = 16 << 20;

/**
 * Finds a file with an `#embed` directive, which inserts the bytes of any file into the program and is absent from the
 * list of dependencies. Comments and line splices between the tokens do not hide it; a directive that is only part of a
 * comment or string is rejected as well.
 *
 * `__has_include` and `__has_embed` only test whether a file exists, and are allowed.
 * @param files of the workspace, relative to `root`
 */
export async function embeddingFile(files: readonly string[], root: string): Promise<Refusal | null> {
  for (const path of files.map((file) => join(root, file))) {
    const text = await readFile(path, 'latin1').catch(() => '');
    if (embedDirective.test(withoutSplices(text))) return { kind: 'embedding', path };
  }
  return null;
}

/** An `#embed` directive, or the start of what may be one; in a text {@link withoutSplices}. */
export const embedDirective = /(?:#|%:)(?:[ \t\v\f]|\/\*[^]*?\*\/)*embed(?![A-Za-z0-9_])/;

/** A text in which lines that are continued are one line, without trigraphs that matter to directives. */
export function withoutSplices(text: string): string {
  return text
    .replaceAll('??/', '\\')
    .replaceAll('??=', '#')
    .replaceAll(/\\[ \t\v\f]*\r?\n/g, '');
}

/**
 * The files that preprocessed text came from, in order of first appearance. May include names invented by `#line`
 * directives, but always includes all files that were read.
 * @param text one character per byte
 */
export function filesOfPreprocessed(text: string): string[] {
  // Each file is named by many markers, so names are collected without duplicates.
  const names = new Set(Array.from(text.matchAll(/^#(?:line)? \d+ "((?:[^"\\\n]|\\.)*)"/gm), ([, name]) => name!));
  const files = [...names].map((name) => Buffer.from(unescapeLiteral(name), 'latin1').toString('utf8'));
  return [...new Set(files)].filter((path) => !/^<.*>$/.test(path) && path !== '');
}

/**
 * Whether preprocessed text contains assembler directives that read files (`.incbin`), or that could construct one
 * (macros of the assembler). Strings are compared after joining adjacent ones and resolving escapes. Host code is never
 * assembled, so this is an additional protection.
 */
export function embedsByAssembler(text: string): boolean {
  let joined = '';
  let end = 0;
  let inAssembly = false;
  const suspicious = (): boolean => /incbin/i.test(joined) || (inAssembly && /\.\s*(?:include|macro|irpc?|altmacro)\b/i.test(joined));
  for (const match of text.matchAll(tokens)) {
    const { raw, plain, word, marker } = match.groups!;
    if (marker !== undefined) continue;
    const literal = raw ?? (plain === undefined ? undefined : unescapeLiteral(plain));
    if (literal === undefined) {
      if (word !== undefined) inAssembly = /^(?:__asm__|__asm|asm|section|__section__)$/.test(word) || (inAssembly && qualifier.test(word));
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
