/**
 * Cache of results of compilers for preprocessed texts, by all inputs: the text, the arguments, and the programs
 * themselves. Other inputs, such as option files, header search order and `__has_include`, only affect results through
 * the text and the arguments. ccache calls this the preprocessor mode.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { spellingOfPath } from '../ptx/debug-information.ts';
import { isInside } from './file-place.ts';
import type { NvccSteps } from './nvcc-steps.ts';

/** Cache of values by their inputs. */
export interface KeptCode {
  /** @returns undefined if nothing is cached under these parts */
  readonly read: (parts: readonly unknown[]) => unknown;
  readonly write: (parts: readonly unknown[], value: unknown) => void;
}

/** Folders of a compilation. Cached results can be used for a checkout in other folders. */
interface CompilePlace {
  readonly root: string;
  readonly temporary: string;
  readonly cwd: string;
  /** Path of the unit, relative to the root. */
  readonly unit: string;
  /** Path of the input of nvcc for the unit. */
  readonly input: string;
}

/** Placeholders for folders in cached results. */
const marks = { temporary: '\0temporary', root: '\0root' } as const;

/**
 * Inputs of the code of a unit.
 * @param text preprocessed text, one character per byte
 * @param more the version of the compiler, and further inputs
 * @returns undefined if the inputs are not all known, or not reproducible
 */
export async function dependenciesOfCode(
  text: string,
  steps: NvccSteps,
  place: CompilePlace,
  kept: KeptCode,
  more: readonly unknown[],
): Promise<readonly unknown[] | undefined> {
  const { root, temporary, cwd, unit, input } = place;
  if (text.includes('\0')) return undefined;
  const marked = text
    .replaceAll(latin1(temporary), marks.temporary)
    .replaceAll(new RegExp(`^(# \\d+ ")${escaped(latin1(root))}(?=/)`, 'gm'), `$1${marks.root}`);
  // If a text contains the path of its folder, as with `__FILE__`, the result depends on that path.
  const named = [spellingOfPath(root), latin1(root)].some((name) => marked.includes(name)) ? root : null;
  const [program, ...words] = steps.compile;
  const read: unknown[] = [];
  for (const word of words) {
    if (word.startsWith('@')) return undefined;
    for (const name of [word, ...word.split(/[=,]/).slice(1)]) {
      const path = resolve(cwd, name);
      if (name === '' || path === input || isInside(temporary, path)) continue;
      const found = await stat(path).catch(() => null);
      if (found?.isFile()) read.push(await identityOf(path, kept));
      else if (found) return undefined;
    }
  }
  const library = steps.libraries === null ? null : resolve(steps.libraries, 'libdevice.10.bc');
  const [assembler, ...options] = steps.validate ?? [];
  const programs = await Promise.all([program, library, assembler].map(async (file) => file && identityOf(file, kept)));
  const own = [...words, assembler, ...options].map((word) => word && inFolders(word, place, marks));
  return [digestOf(marked), own, read, programs, unit, named, cwd === temporary, more];
}

/** The digest of a file, which is read again if its metadata changed; null if it does not exist. */
export async function identityOf(file: string, kept: KeptCode): Promise<string | null> {
  try {
    const real = await realpath(file);
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(real, { bigint: true });
    const parts = ['file', real, [dev, ino, size, mtimeNs, ctimeNs].join()];
    const known = kept.read(parts);
    if (typeof known === 'string') return known;
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(real)) hash.update(chunk as Buffer);
    const digest = hash.digest('hex');
    // A file that was modified within the resolution of time stamps could change again without a new time stamp.
    if (Date.now() - Number(ctimeNs / 1_000_000n) > settlingTime) kept.write(parts, digest);
    return digest;
  } catch {
    return null;
  }
}

/** Milliseconds after a modification within which a file may change again without a new time stamp. */
const settlingTime = 3000;

/** Whether a text of which these are the inputs contains the path of the root. */
export function rootNamed(parts: readonly unknown[]): boolean {
  return parts[5] !== null;
}

/** Replaces folders of the compilation in texts by placeholders, for the cache. */
export function withoutFolders<Texts extends object>(texts: Texts, place: CompilePlace): Texts {
  return mapTexts(texts, (text) => withoutFolder(text, place));
}

/** Replaces placeholders in cached texts by the folders of the current compilation. */
export function withFolders<Texts extends object>(texts: Texts, place: CompilePlace): Texts {
  return mapTexts(texts, (text) => withFolder(text, place));
}

/** A text with placeholders instead of folders. */
export function withoutFolder(text: string, place: CompilePlace): string {
  return inFolders(text, place, marks);
}

/** A text with folders instead of placeholders. */
export function withFolder(text: string, { root, temporary }: CompilePlace): string {
  return text
    .replaceAll(`"${marks.temporary}/`, () => `"${spellingOfPath(temporary)}/`)
    .replaceAll(`"${marks.root}/`, () => `"${spellingOfPath(root)}/`)
    .replaceAll(marks.temporary, () => temporary)
    .replaceAll(marks.root, () => root);
}

function mapTexts<Texts extends object>(texts: Texts, change: (text: string) => string): Texts {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]: [string, unknown]) => [key, typeof text === 'string' ? change(text) : text]),
  ) as Texts;
}

/** Replaces folders in PTX, where paths are in quotes and have their own spelling. */
function inFolders(text: string, { root, temporary }: CompilePlace, names: typeof marks): string {
  return text
    .replaceAll(`"${spellingOfPath(temporary)}/`, `"${names.temporary}/`)
    .replaceAll(`"${spellingOfPath(root)}/`, `"${names.root}/`)
    .replaceAll(temporary, names.temporary)
    .replaceAll(`${root}/`, `${names.root}/`);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
