/** Keeps what nvcc and ptxas make of units. */
import { readFileSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import type { CompileRequest, CompileResult, DependencyRequest } from '../../toolchain/compile.ts';
import type { Compiler } from '../../toolchain/compiler.ts';
import type { AssembledUnit, Unassembled } from '../../toolchain/resources.ts';
import { spellingOfPath } from '../../ptx/debug-information.ts';
import { clock } from '../../system/clock.ts';
import { relativeTo, type SourceTree } from '../project/source-tree.ts';
import { digest, type ResultStore } from './result-store.ts';

/** What a result of nvcc depends on beside the text of the unit and the flags. */
interface Surroundings {
  /** All files that were read, those of the tree relative to it, with the digests of their contents. */
  readonly files: readonly (readonly [path: string, content: string])[];
  /** The files of the tree that have the name of one that was read: another one may stand before it on the path. */
  readonly namesakes: readonly string[];
  /** The tree, where the result names it. */
  readonly root: string | null;
}

/** What is kept of a run of nvcc. */
interface KeptBuild {
  readonly result: Omit<CompileResult, 'files' | 'namesRoot'>;
  /** The compiler's own words. */
  readonly log: readonly string[];
}

/** So many surroundings of one unit are known: two sides of a change differ in headers. */
const mostSurroundings = 8;

/**
 * The results of compilers, not made again where the text of the unit, the flags, the compiler, all files that it read
 * and their namesakes in the tree are as they were. Not kept are units that do not compile, that name the time, and
 * that include files by other means than `#include`.
 */
interface KeptBuilds {
  readonly compile: (
    request: CompileRequest,
    compile: (request: CompileRequest) => Promise<CompileResult>,
  ) => Promise<CompileResult>;
  readonly dependencies: (
    request: DependencyRequest,
    list: (request: DependencyRequest) => Promise<CompileResult>,
  ) => Promise<CompileResult>;
  readonly resources: (
    question: readonly [ptx: string, arch: string, mostRegisters: number | undefined],
    assemble: () => Promise<AssembledUnit | Unassembled>,
  ) => Promise<AssembledUnit | Unassembled>;
}

/** Keeps builds of the units of a tree. */
export function keepingBuilds(store: ResultStore, tree: SourceTree, compiler: Compiler): KeptBuilds {
  const tools = [compiler.path, compiler.version, compiler.searchPath, compiler.features];
  const contents = new Map<string, string | undefined>();
  const contentOf = (path: string): string | undefined => {
    const file = resolve(tree.root, path);
    if (!contents.has(file)) contents.set(file, digestOfFile(file));
    return contents.get(file);
  };
  const namesakesOf = (files: readonly string[]): string[] => {
    const names = new Set(files.map((file) => basename(file)));
    return tree.sources().filter((path) => names.has(basename(path)));
  };
  const fits = ({ files, namesakes, root }: Surroundings): boolean =>
    (root === null || root === tree.root) &&
    files.every(([path, content]) => contentOf(path) === content) &&
    namesakesOf([...files.map(([path]) => path), ...probedNames(files.map(([path]) => path))]).join('\n') ===
      namesakes.join('\n');
  const textOf = (path: string): string => (isAbsolute(path) ? '' : (tree.text(path) ?? ''));
  /** What own files ask for that may not be there: `__has_include(<x.h>)`. */
  const probedNames = (paths: readonly string[]): string[] =>
    paths.flatMap((path) => [...textOf(path).matchAll(/__has_include(?:_next)?\s*\(\s*[<"]([^>"]+)/g)].map(([, name]) => name!)); // prettier-ignore

  async function keep<Request extends DependencyRequest>(
    kind: 'build' | 'dependencies',
    build: string | null,
    request: Request,
    run: (request: Request) => Promise<CompileResult>,
  ): Promise<CompileResult> {
    const { text, arch, trust, flags } = request;
    const unit = relativeTo(tree.root, resolve(tree.root, request.file));
    const groups = flags.map(({ directory, ...group }) => ({ ...group, directory: relativeTo(tree.root, directory) }));
    const own = text ?? contentOf(unit);
    const key = store.keyOf(kind, [unit, own, build, arch, trust, groups, tools]);
    const read = store.read(key);
    const known: readonly Surroundings[] = Array.isArray(read) && read.every(isSurroundings) ? read : [];
    const fitting = known.find(fits);
    const kept = fitting && store.read(store.keyOf(kind, [key, fitting]));
    if (isKeptBuild(kept)) {
      const { result: found, log: told } = inFolder(kept, folderMark, tree.root) as KeptBuild;
      for (const words of told) request.onLog(words);
      return { ...found, files: [] };
    }
    const log: string[] = [];
    const onLog = (words: string): void => {
      log.push(words);
      request.onLog(words);
    };
    const started = clock();
    const result = await run({ ...request, onLog });
    store.addCost(unit, clock() - started);
    const { files: found, namesRoot, ...rest } = result;
    const made = build === null ? rest.diagnostics.length === 0 : rest.ptx !== undefined;
    if (!made || !found) return result;
    const paths = [...new Set(found.map((file) => relativeTo(tree.root, file)))].sort();
    const files = paths.flatMap((path) => {
      const content = contentOf(path);
      return content === undefined ? [] : [[path, content] as const];
    });
    const texts = [...(text === undefined ? [] : [text]), ...paths.map(textOf)];
    if (files.length < paths.length || texts.some(isUnsteady)) return result;
    const around: Surroundings = {
      files,
      namesakes: namesakesOf([...paths, ...probedNames(paths)]),
      root: namesRoot ? tree.root : null,
    };
    const value: KeptBuild = { result: rest, log };
    store.write(store.keyOf(kind, [key, around]), inFolder(value, tree.root, folderMark));
    store.write(key, [around, ...known.filter((one) => !fits(one))].slice(0, mostSurroundings));
    return result;
  }

  return {
    compile: (request, compile) =>
      keep('build', request.build, request, (asked) => compile({ ...asked, listsFiles: true })),
    dependencies: (request, list) => keep('dependencies', null, request, list),
    async resources(question, assemble) {
      const key = store.keyOf('resources', [...question, tools]);
      const kept = store.read(key);
      if (isAssembled(kept)) return kept;
      const found = await assemble();
      if (isAssembled(found)) store.write(key, found);
      return found;
    },
  };
}

/** Stands for the folder of the tree in what is kept: another checkout lies elsewhere. No text holds it. */
const folderMark = '\0root';

/** A value whose texts name files in one folder as if they lay in another. PTX spells paths in its own way. */
function inFolder(value: unknown, from: string, to: string, isPtx = false): unknown {
  const spelling = isPtx ? spellingOfPath : (path: string): string => path;
  if (typeof value === 'string') return value.replaceAll(`${spelling(from)}/`, `${spelling(to)}/`);
  if (Array.isArray(value)) return value.map((inner) => inFolder(inner, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inFolder(inner, from, to, key === 'ptx')])); // prettier-ignore
}

function isAssembled(value: unknown): value is AssembledUnit {
  if (typeof value !== 'object' || value === null) return false;
  const { kernels, cubin } = value as Partial<Record<keyof AssembledUnit, unknown>>;
  return kernels instanceof Map && cubin instanceof Uint8Array;
}

/** Whether a text may compile to something else another time, or reads files that no list names. */
function isUnsteady(text: string): boolean {
  return /__(?:DATE|TIME|TIMESTAMP)__|\bincbin\b|#\s*embed\b/.test(text);
}

function digestOfFile(file: string): string | undefined {
  try {
    return digest(readFileSync(file));
  } catch {
    return undefined;
  }
}

function isSurroundings(value: unknown): value is Surroundings {
  if (typeof value !== 'object' || value === null) return false;
  const { files, namesakes, root } = value as Partial<Record<keyof Surroundings, unknown>>;
  const isPair = (one: unknown): boolean => Array.isArray(one) && one.length === 2;
  return (
    Array.isArray(files) &&
    files.every(isPair) &&
    Array.isArray(namesakes) &&
    (root === null || typeof root === 'string')
  );
}

function isKeptBuild(value: unknown): value is KeptBuild {
  if (typeof value !== 'object' || value === null) return false;
  const { result, log } = value as Partial<Record<keyof KeptBuild, unknown>>;
  return typeof result === 'object' && result !== null && 'diagnostics' in result && Array.isArray(log);
}
