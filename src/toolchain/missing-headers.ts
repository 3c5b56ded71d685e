/** Stubs for headers of libraries that only host code uses: a folder of them, the last include path of a unit. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { exitedWell, type ProcessResult } from '../system/child-process.ts';
import { headersOf, isInside, pathIn, realPathNow } from './file-place.ts';
import type { KeptCode } from './kept-code.ts';
import { ownText } from './preprocessed.ts';
import type { OwnFile } from './stubs/open-condition.ts';
import { findStubs, type PreprocessedStubs, type StubbedUnit, type Stubs, type Unstubbed } from './stubs/stub-search.ts';

/** Stubs of the units of one run: all builds of a unit, and edits of it, have the same. */
export type KnownStubs = Map<string, Promise<StubbedUnit | Unstubbed | null>>;

/** A unit whose headers may be missing. */
interface StubbedCompilation {
  /** Root of the project. */
  readonly root: string;
  readonly unit: string;
  /** Path of the unit for nvcc, and of a copy of the root with edits. */
  readonly input: string;
  readonly mirror: string | null;
  readonly temporary: string;
  readonly cwd: string;
  /** Folder of the stubs. */
  readonly folder: string;
  /** Flags of the user, to look for macros that are stated to be undefined. */
  readonly words: readonly string[];
  /** Include folders of the toolkit and of the host compiler. */
  readonly systemFolders: readonly string[];
  /** Whether messages may quote the compiler. */
  readonly isTrusted: boolean;
  /** Runs nvcc with the flags of the production build and the folder of stubs. */
  readonly run: (words: readonly string[]) => Promise<ProcessResult>;
  /** Whether a preprocessed text must not be compiled. */
  readonly isRefused: (text: string, result: ProcessResult) => Promise<boolean>;
  /** Cache, and inputs that decide the result in addition to the preprocessed text. */
  readonly kept: KeptCode | undefined;
  readonly inputs: readonly unknown[];
}

/** Writes the stubs of a unit, one file a header. */
export async function writeStubs(folder: string, { headers, text }: Stubs): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const header of headers) {
    const file = join(folder, header);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** Finds the stubs that a unit needs. */
export async function stubsOf(compilation: StubbedCompilation): Promise<StubbedUnit | Unstubbed | null> {
  const { root, folder, temporary, cwd, run, isRefused, isTrusted, words, kept, inputs } = compilation;
  return findStubs({
    unset: new Set(Array.from(words.join(' ').matchAll(/(?:^| )-U ?([A-Za-z_]\w*)/g), ([, name]) => name!)),
    isTrusted,
    isOfProject: await headersOf(root),
    async preprocess(stubs) {
      await writeStubs(folder, stubs);
      const result = await run(['-E', '-Xcompiler', '-dD']);
      if (!exitedWell(result)) return { errors: result.stderr, calledMacros: await calledMacros(result.stderr, root, cwd) };
      const text = Buffer.from(result.stdout, 'utf8').toString('latin1');
      return (await isRefused(text, result)) ? null : preprocessedStubs(text, compilation);
    },
    async compile(stubs) {
      await writeStubs(folder, stubs);
      const output = join(temporary, 'stubbed.ptx');
      const result = await run(['-ptx', '-Xcicc', '-O0', '-w', '-o', output]);
      await rm(output, { force: true });
      return exitedWell(result) ? null : `${result.stderr}\n${result.stdout}`;
    },
    async remembered({ own, others, definitions, files }, headers, find) {
      const all = JSON.stringify([own, others, [...definitions], files, headers]);
      const parts = ['stubs', createHash('sha256').update(all).digest('hex'), isTrusted, ...inputs];
      const known = kept?.read(parts);
      if (typeof known === 'string') return JSON.parse(known) as StubbedUnit | Unstubbed;
      const found = await find();
      kept?.write(parts, JSON.stringify(found));
      return found;
    },
  });
}

/** Names that the conditions call that the preprocessor does not understand, in files of the project. */
async function calledMacros(errors: string, root: string, cwd: string): Promise<string[]> {
  const names: string[] = [];
  const home = realPathNow(root) ?? root;
  for (const [, file, line] of errors.matchAll(/^([^:\n]+):(\d+):\d+: error: missing binary operator before token "\("/gm)) {
    const real = realPathNow(pathIn(cwd, file!));
    if (real === null || !isInside(home, real)) continue;
    const text = await readFile(real, 'utf8').catch(() => '');
    const condition = text.split('\n')[Number(line) - 1] ?? '';
    names.push(
      ...Array.from(condition.matchAll(/\b([A-Za-z_]\w*)\s*\(/g), ([, name]) => name!).filter(
        (name) => !/^(?:defined|__\w+|if|elif)$/.test(name),
      ),
    );
  }
  return names;
}

/** A file of the project, or of a folder of the user. */
interface OpenedFile {
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
}

async function preprocessedStubs(text: string, compilation: StubbedCompilation): Promise<PreprocessedStubs> {
  const { root, unit, input, mirror, temporary, cwd, folder, systemFolders } = compilation;
  const realRoot = realPathNow(root) ?? root;
  const named = new Map<string, OpenedFile | undefined>();
  const lookUp = (path: string): OpenedFile | undefined => {
    const file = pathIn(cwd, Buffer.from(path, 'latin1').toString('utf8'));
    if (file === input) return { name: unit, file };
    const real = realPathNow(file);
    if (real === null || path.startsWith('<')) return undefined;
    const home = mirror === null ? null : (realPathNow(mirror) ?? mirror);
    if (home !== null && isInside(home, real)) return { name: relative(home, real), file: real };
    if (isInside(realPathNow(temporary) ?? temporary, real)) return undefined;
    if (isInside(realRoot, real)) return { name: relative(realRoot, real), file: real };
    return systemFolders.some((system) => isInside(system, real)) ? undefined : { name: real, file: real };
  };
  const own = (path: string): OpenedFile | undefined => {
    if (!named.has(path)) named.set(path, lookUp(path));
    return named.get(path);
  };
  const definitions = new Map<string, string>();
  for (const [, name, body] of text.matchAll(/^#define (\w+)([^\n]*)/gm)) definitions.set(name!, body!);
  // Lines that are read after the first stub.
  const from = new Map<string, { readonly name: string; line: number }>();
  let isAfter = false;
  for (const [, line, path] of text.matchAll(/^# (\d+) "((?:[^"\\]|\\.)*)"/gm)) {
    const plain = path!.replace(/\\(.)/g, '$1');
    isAfter ||= pathIn(cwd, plain).startsWith(`${folder}/`);
    const found = isAfter ? own(plain) : undefined;
    if (!found) continue;
    const known = from.get(found.file);
    if (known) known.line = Math.min(known.line, Number(line));
    else from.set(found.file, { name: found.name, line: Number(line) });
  }
  const files: OwnFile[] = [];
  for (const [file, { name, line }] of from) {
    files.push({ path: name, from: line, text: await readFile(file, 'utf8').catch(() => '') });
  }
  const utf8 = (part: string): string => Buffer.from(part, 'latin1').toString('utf8');
  return {
    own: utf8(ownText(text, (path) => own(path)?.name)),
    others: ownText(text, (path) => (own(path) ? undefined : '')),
    definitions,
    files,
  };
}
