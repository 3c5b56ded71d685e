/** Host code of which no input has changed since it was lowered: no program has to run. */
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { areUnchanged, fileInputs, knownInput, type FileInputs, withPaths } from './file-inputs.ts';
import { fileOutside } from '../toolchain/confinement.ts';
import { type Setting, withoutPlace } from '../toolchain/compile.ts';
import { pathIn } from '../toolchain/file-place.ts';
import { identityOf, rootNamed, withFolder, withFolders, withoutFolder } from '../toolchain/kept-code.ts';
import type { HostDump } from './host-dump.ts';
import type { HostSteps } from './host-steps.ts';

/** What the host compiler makes of a file. */
export interface LoweredHost {
  /** The dump and the assembly. */
  readonly dump: () => HostDump;
  /** Equal for equal dumps; null if not all of their inputs are known. */
  readonly key: string | null;
  /** Files of the project that the dump names, with their paths relative to the root. */
  readonly files: ReadonlyMap<string, string>;
}

/** The host compiler itself, which its driver `gcc` starts. */
export interface HostCompiler {
  readonly path: string;
  readonly digest: string;
}

/** A compressed dump. */
export interface KeptDump {
  readonly gimple: Uint8Array;
  readonly assembly: Uint8Array;
}

/** Whether a cached value is a dump. */
export function isKeptDump(value: unknown): value is KeptDump {
  if (typeof value !== 'object' || value === null) return false;
  const { gimple, assembly } = value as Partial<KeptDump>;
  return gimple instanceof Uint8Array && assembly instanceof Uint8Array;
}

/** Compresses a dump. */
export function packedDump({ gimple, assembly }: HostDump): KeptDump {
  const pack = (text: string): Uint8Array => new Uint8Array(gzipSync(text, { level: 1 }));
  return { gimple: pack(gimple), assembly: pack(assembly) };
}

/** Decompresses a dump. */
export function unpackedDump({ gimple, assembly }: KeptDump): HostDump {
  return { gimple: gunzipSync(gimple).toString(), assembly: gunzipSync(assembly).toString() };
}

/** Host code with a dump that is read when it is needed. */
export function loweredHost(
  { own, parts }: Pick<UnchangedHost, 'own'> & { readonly parts: readonly unknown[] | undefined },
  dump: () => HostDump,
  unit: string,
): LoweredHost {
  return {
    dump: () => {
      const { gimple, assembly } = dump();
      return { gimple: withoutPlace(gimple, unit), assembly: withoutPlace(assembly, unit) };
    },
    key: parts ? createHash('sha256').update(JSON.stringify(parts)).digest('hex') : null,
    files: own,
  };
}

/** What is cached of a file that was lowered, without its dump. */
interface UnchangedHost {
  /** Everything that decides the rest. */
  readonly inputs: FileInputs;
  /** Key of the dump. */
  readonly parts: readonly unknown[];
  /** Files that its preprocessed text names. */
  readonly files: readonly string[];
  readonly own: ReadonlyMap<string, string>;
  /** The root, if the text contains it. */
  readonly root: string | null;
}

/** Host code of which no input has changed: no program has to run. */
export async function unchangedHost(setting: Setting): Promise<LoweredHost | null> {
  const { request, roots, root, unit } = setting;
  const { kept } = request;
  const question = kept && questionOf(setting);
  if (!question) return null;
  const before = kept.read(question) as UnchangedHost | undefined;
  if (!before || (before.root !== null && before.root !== root)) return null;
  const here = (path: string): string => withFolder(path, setting);
  if (!areUnchanged(withPaths(before.inputs, here))) return null;
  if (request.trust === 'pull-request' && (await fileOutside(before.files.map(here), roots))) return null;
  const dump = kept.read(before.parts);
  if (!isKeptDump(dump)) return null;
  const own = new Map(Array.from(before.own, ([path, name]) => [here(path), name]));
  return loweredHost({ own, parts: before.parts }, () => withFolders(unpackedDump(dump), setting), unit);
}

/** Caches what {@link unchangedHost} returns. */
export async function keepInputs(
  { parts, files, own }: Pick<UnchangedHost, 'parts' | 'files' | 'own'>,
  run: {
    readonly steps: HostSteps;
    readonly printedSteps: string;
    readonly printedFolders: string;
    readonly started: number;
    readonly own: HostCompiler | null;
  },
  setting: Setting,
): Promise<void> {
  const { cwd, env, root, request, flags } = setting;
  const { kept, compiler } = request;
  const question = questionOf(setting);
  const { preprocess, rewrite, lower } = run.steps;
  const here = /^#\$ _HERE_=(\/.*)$/m.exec(run.printedSteps)?.[1];
  if (!kept || !question || !run.own || here === undefined) return;
  const drivers = (env['PATH'] ?? '').split(':').map((folder) => pathIn(folder, lower[0]));
  const named = flags.flatMap((word) => [word, ...word.split(/[=,]/).slice(1)]).filter((word) => /^[^-]/.test(word));
  const inputs = fileInputs({ words: preprocess.slice(1), errors: run.printedFolders, read: files, cwd, started: run.started }, [
    ...drivers,
    ...named.map((word) => pathIn(cwd, word)),
    `${here}/nvcc.profile`,
  ]);
  if (!inputs) return;
  const programs = [compiler.path, ...(rewrite ? [rewrite[0]] : [])];
  const known = await Promise.all(programs.map(async (path) => ({ path, digest: await identityOf(path, kept) })));
  const digests = [...known, run.own].flatMap(({ path, digest }) => (digest === null ? [] : [knownInput(path, digest)]));
  if (digests.length <= programs.length) return;
  const there = (path: string): string => withoutFolder(path, setting);
  const all = { ...inputs, files: [...inputs.files, ...digests] };
  kept.write(question, {
    inputs: withPaths(all, there),
    parts,
    files: files.map(there),
    own: new Map(Array.from(own, ([path, name]) => [there(path), name])),
    root: rootNamed(parts) ? root : null,
  } satisfies UnchangedHost);
}

/** What is asked of the compilers; undefined for edited texts. */
function questionOf(setting: Setting): readonly unknown[] | undefined {
  const { request, flags, unit, cwd, temporary, roots } = setting;
  if (request.text !== undefined || request.headers !== undefined) return undefined;
  const words = [...flags, ...roots].map((word) => withoutFolder(word, setting));
  const { path, searchPath, version } = request.compiler;
  return ['unchanged host', words, unit, request.trust, cwd === temporary, path, searchPath, version.text];
}
