/** Lowers the host code of one file, in the environment of its compilation. */
import { readFile, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { understandsDump, selfTestProgram } from '../gimple/self-test.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { exitedWell, runProcess, type ProcessLimits } from '../system/child-process.ts';
import {
  type DependencyRequest,
  type Setting,
  preprocessedFrom,
  refusedPreprocessed,
  runCompiler,
  withSetting,
} from '../toolchain/compile.ts';
import { compileErrors } from '../toolchain/compiler-messages.ts';
import { isInside, pathIn, realPath, realPathNow } from '../toolchain/file-place.ts';
import { dependenciesOfCode, identityOf, withFolders, withoutFolders } from '../toolchain/kept-code.ts';
import type { ProgramCall } from '../toolchain/nvcc-steps.ts';
import { hostDump, type HostDump } from './host-dump.ts';
import { hostStepsOf, selfTestCall, type HostSteps } from './host-steps.ts';
import {
  type HostCompiler,
  isKeptDump,
  keepInputs,
  type KeptDump,
  type LoweredHost,
  loweredHost,
  packedDump,
  unchangedHost,
  unpackedDump,
} from './unchanged-host.ts';

/** Why the host code of a file was not lowered. */
export interface HostProblem {
  readonly problem: Diagnostic;
}

type Run = (command: ProgramCall, limits: ProcessLimits) => ReturnType<typeof runProcess>;

/** Lowers a file: a CUDA unit, or C++ that the host compiler compiles. */
export async function lowerHost(request: DependencyRequest): Promise<LoweredHost | HostProblem> {
  let made: LoweredHost | undefined;
  const { diagnostics } = await withSetting(request, 'production', async (setting) => {
    const { unreadLaunches } = setting;
    if (unreadLaunches) {
      const problem = problemOf(setting.unit, `it is compiled with stubs for missing headers, and ${unreadLaunches}`);
      return { dependencies: [], diagnostics: [problem] };
    }
    const lowered = (await unchangedHost(setting)) ?? (await lowerWithSetting(setting));
    if ('problem' in lowered) return { dependencies: [], diagnostics: [lowered.problem] };
    made = lowered;
    return { dependencies: [], diagnostics: [] };
  });
  return made ?? { problem: diagnostics[0] ?? problemOf(request.file, 'it was not compiled') };
}

async function lowerWithSetting(setting: Setting): Promise<LoweredHost | HostProblem> {
  const { cwd, env, temporary, unit, request } = setting;
  const { limits, signal, trust } = request;
  const started = Date.now();
  const dryRun = await runCompiler(setting, ['-c', '--dryrun', '--keep', '--keep-dir', temporary, '-o', resolve(temporary, 'unit.o')]);
  const printedSteps = `${dryRun.stdout}\n${dryRun.stderr}`;
  const steps = exitedWell(dryRun) ? hostStepsOf(printedSteps, temporary) : null;
  if (!steps) return { problem: problemOf(unit, 'the host compiler is not GCC, or nvcc does not print its steps') };
  const run: Run = ([executable, ...args], within) => runProcess({ executable, args, cwd, env, limits: within, signal });
  const own = await identityOfCompiler(steps, setting, run);
  if (!(await isUnderstood(steps, own?.digest ?? null, setting, run)))
    return { problem: problemOf(unit, 'Selvage does not understand what this version of GCC prints') };
  let files: readonly string[] = [];
  let parts: readonly unknown[] | undefined;
  let kept: KeptDump | undefined;
  let printedFolders = '';
  const found = await hostDump(steps, limits, run, async (text, printed) => {
    printedFolders = printed;
    const preprocessed = preprocessedFrom([text], setting);
    files = preprocessed.files;
    const refused = await refusedPreprocessed(preprocessed, dryRun, setting, true);
    if (refused) return { refused };
    parts = await partsOf(text, steps, own?.digest ?? null, setting);
    const known = parts && request.kept?.read(parts);
    if (isKeptDump(known)) kept = known;
    return kept ? { isKnown: true } : null;
  });
  const named = async (dump: () => HostDump): Promise<LoweredHost> => {
    const host = { own: await ownFiles(files, steps, setting), parts };
    if (parts) await keepInputs({ ...host, parts, files }, { steps, printedSteps, printedFolders, started, own }, setting);
    return loweredHost(host, dump, unit);
  };
  if ('isKnown' in found) return named(() => withFolders(unpackedDump(kept!), setting));
  if ('refused' in found) return { problem: found.refused };
  if ('step' in found) {
    const context = { root: request.root, unit, directory: cwd, trust };
    const [first] = await compileErrors(`${found.result.stderr}\n${found.result.stdout}`, context);
    return { problem: problemOf(unit, first ? `the host compiler reports: ${first.message}` : `the step ${found.step} failed`) };
  }
  if (parts) request.kept?.write(parts, packedDump(withoutFolders(found, setting)));
  return named(() => found);
}

/** Files of the project by the names that the preprocessed text, and so the dump, has for them. */
async function ownFiles(
  files: readonly string[],
  steps: HostSteps,
  { request, input, unit, cwd }: Setting,
): Promise<ReadonlyMap<string, string>> {
  const root = (await realPath(request.root)) ?? request.root;
  const names = new Map<string, string>([[input, unit]]);
  for (const file of files) {
    const real = realPathNow(file);
    if (real !== null && real !== root && isInside(root, real)) names.set(file, relative(root, real));
  }
  const marked = await readFile(steps.preprocessed, 'latin1');
  const own = new Map<string, string>();
  for (const [, name] of marked.matchAll(/^# \d+ "((?:[^"\\]|\\.)*)"/gm)) {
    const path = Buffer.from(name!.replace(/\\(.)/g, '$1'), 'latin1').toString('utf8');
    const known = names.get(pathIn(cwd, path));
    if (known !== undefined) own.set(path, known);
  }
  return own;
}

/** @returns null if it is not known */
async function identityOfCompiler({ lower: [driver] }: HostSteps, { request }: Setting, run: Run): Promise<HostCompiler | null> {
  if (!request.kept) return null;
  const { end, stdout } = await run([driver, '-print-prog-name=cc1plus'], request.limits);
  const path = stdout.trim();
  const digest = end.kind === 'exited' && end.code === 0 ? await identityOf(path, request.kept) : null;
  return digest === null ? null : { path, digest };
}

/** Results of the self-test of compilers in this process. */
const understood = new Map<string, Promise<boolean>>();

/** Whether the dumps of the compiler at hand are understood. */
async function isUnderstood(steps: HostSteps, own: string | null, { request, temporary }: Setting, run: Run): Promise<boolean> {
  const [driver] = steps.lower;
  const test = async (): Promise<boolean> => {
    const kept = own === null ? undefined : request.kept?.read(['self-test', own, selfTestProgram]);
    if (kept === true) return kept;
    const call = selfTestCall(driver, temporary);
    await writeFile(call.source, selfTestProgram);
    const isDone = exitedWell(await run(call.lower, request.limits));
    const result = isDone && understandsDump(await readFile(call.dump, 'utf8'));
    // A compiler that was stopped, or has no space left, may succeed the next time.
    if (result && own !== null) request.kept?.write(['self-test', own, selfTestProgram], result);
    return result;
  };
  const known = understood.get(driver) ?? test();
  understood.set(driver, known);
  return known;
}

/** Inputs of the dump of a preprocessed text; undefined if they are not all known. */
async function partsOf(text: string, steps: HostSteps, own: string | null, setting: Setting): Promise<readonly unknown[] | undefined> {
  const { kept, compiler } = setting.request;
  if (!kept || own === null) return undefined;
  const { preprocess, preprocessed } = steps;
  const [compile, validate] = steps.rewrite ? [steps.rewrite, steps.lower] : [steps.lower, null];
  const all = { preprocess, preprocessed, compile, validate, libraries: null, halves: null };
  return dependenciesOfCode(text, all, setting, kept, ['host', own, compiler.version.text]);
}

function problemOf(file: string, reason: string): Diagnostic {
  const message = `Selvage did not read the launches in this file's host code, because ${reason}. Its kernels are checked without them.`;
  return { severity: 'notice', code: 'launch/unread', message, location: { file, line: 1 } };
}
