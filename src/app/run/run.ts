/** `selvage run`: one launch of one kernel in the interpreter. */
import type { Dim3 } from '../../base/dim3.ts';
import type { RunResult } from '../../machine/core/run-result.ts';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from '../../base/nearest.ts';
import type { Launch } from '../../launch/launch.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import { LaunchCounters } from '../../machine/counters.ts';
import type { RunRequest } from '../../machine/core/run-request.ts';
import { runKernel } from '../../machine/machine.ts';
import { Trace } from '../../machine/trace.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import { clock } from '../../system/clock.ts';
import type { Options } from '../../settings/options.ts';
import { selectByName } from '../pipeline/pipeline.ts';
import { prepare, type PreparedKernel, type PreparedUnit } from '../build/prepare.ts';
import type { AnalysisRequest } from '../project/request.ts';
import { bindArguments, type Binding } from './run-binding.ts';
import { countersReport } from './run-counters.ts';
import { elementAt, valueOf } from './run-element.ts';
import { findingsOf, RunWords } from './run-findings.ts';
import { progressBar } from './run-progress.ts';
import type { OutputReport, RunReport } from '../../document/run-report.ts';
import { isSelected } from '../../settings/run-threads.ts';
import { traceLine } from './run-trace.ts';
import { readWitness, type RunWitness } from './run-witness.ts';
import { openSourceFacts, type SourceFacts } from '../project/source-facts.ts';
import { UsageError } from '../../base/usage-error.ts';
import { toolVersion } from '../../system/version.ts';

export interface RunCommand {
  /** The project of the one path; its builder is the caller's to close. */
  readonly project: AnalysisRequest;
  readonly cwd: string;
  /** Takes traces, and the bar where it is a terminal. */
  readonly terminal: { readonly write: (text: string) => unknown; readonly isTTY?: boolean };
}

export interface RunOutcomeReport {
  /** Absent where there is no kernel to run. */
  readonly report?: RunReport;
  /** Of compiling and reading the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Pairs of instructions that race, after which a run ends. */
const maxRaces = 1000;
const shownElements = 8;

/**
 * Compiles, binds the arguments, runs, and tells what it saw.
 * @throws UsageError where the command line does not say one launch of one kernel
 */
export async function runLaunch(command: RunCommand): Promise<RunOutcomeReport> {
  const started = clock();
  const { project, cwd } = command;
  const { options } = project;
  const witness = options.run.input === undefined ? undefined : openWitness(options.run.input, options.kernel, cwd);
  const request = buildOnly(project);
  const opening = openSourceFacts(request);
  const [facts, units] = await Promise.all([opening, prepare(request, opening)]);
  const diagnostics = [...project.diagnostics, ...distinctDiagnostics(units.flatMap((unit) => unit.diagnostics))];
  if (units.some(({ compiled }) => !compiled)) return { diagnostics };
  const entry = selectKernel(options, units, witness);
  const launch = chooseLaunch(entry, options, witness);
  const binding = bindArguments({
    kernel: entry.kernel,
    name: entry.name.qualified,
    parameters: entry.parameters,
    given: options.args,
    stated: launch.scalars,
    witness,
    readFile: (path) => readBytes(resolve(cwd, path)),
  });
  const track = trackedArrays(options.run.track, entry.kernel, binding);
  requireDumps(options.run.dump, binding);
  const prepared = clock();
  const blocks = options.run.blocks ?? witness?.schedule?.blocks;
  requireBlocks(options.run.blocks, launch);
  const { result, counters } = execute(command, entry, launch, binding, track, blocks);
  const finished = clock();
  const report = await reportOf(entry, facts, launch, binding, { options, witness, track, cwd, result, counters });
  const timings = {
    prepare: Math.round(prepared - started),
    run: Math.round(finished - prepared),
  };
  return { diagnostics, report: options.timings ? { ...report, timings } : report };
}

function openWitness(input: string, kernel: string | undefined, cwd: string): RunWitness {
  const [, file = input, fingerprint] = /^(.*)#([^#/]+)$/.exec(input) ?? [];
  const read = readBytes(resolve(cwd, file));
  if ('problem' in read) throw new UsageError(`--input ${file} ${read.problem}.`);
  return readWitness(new TextDecoder().decode(read), file, { fingerprint, kernel });
}

function readBytes(path: string): Uint8Array | { readonly problem: string } {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing ? 'there is no such file' : error instanceof Error ? error.message : String(error);
    return { problem: `is to be read from ${path}: ${reason}` };
  }
}

/** The project with one build of each unit, and without the arguments, which are more than scalars here. */
function buildOnly(project: AnalysisRequest): AnalysisRequest {
  const { builder, options } = project;
  return {
    ...project,
    options: { ...options, args: new Map() },
    builder: {
      ...builder,
      build: async (unit, kind, arch) =>
        kind === 'production' ? { diagnostics: [] } : builder.build(unit, options.run.build, arch),
    },
  };
}

/** The one kernel that is meant. */
function selectKernel(
  options: Options,
  units: readonly PreparedUnit[],
  witness: RunWitness | undefined,
): PreparedKernel {
  const all = units.flatMap(({ kernels }) => kernels);
  const isMeant = ({ name }: PreparedKernel): boolean =>
    options.kernel !== undefined || witness === undefined || name.qualified === witness.kernel;
  const selected = selectByName(options, all).filter(isMeant);
  const [only] = selected;
  if (only && selected.length === 1) return only;
  const pattern = options.kernel ?? witness?.kernel;
  const asked = pattern === undefined ? '' : `--kernel ${pattern}`;
  const list = (kernels: readonly PreparedKernel[]): string =>
    kernels.slice(0, 20).map(({ name, kernel }) => `  ${name.full}${kernel.location ? `  (${kernel.location.file}:${kernel.location.line})` : ''}`).join('\n'); // prettier-ignore
  if (all.length === 0) throw new UsageError('There is no kernel in the file.');
  if (selected.length === 0) throw new UsageError(`${asked} matches no kernel. The kernels are:\n${list(all)}`);
  throw new UsageError(
    `${asked === '' ? 'The file has several kernels; name one with --kernel' : `${asked} matches ${selected.length} kernels; name one`}:\n${list(selected)}`,
  );
}

function requireBlocks(blocks: readonly number[] | undefined, { grid }: Launch): void {
  const outside = blocks?.find((number) => number >= threads(grid!));
  if (outside !== undefined)
    throw new UsageError(`--blocks ${outside}: the grid of ${text(grid)} has blocks 0 to ${threads(grid!) - 1}.`);
}

/** The launch that options, witness or sources say, all of it concrete. */
function chooseLaunch(entry: PreparedKernel, options: Options, witness: RunWitness | undefined): Launch {
  const { kernel, name } = entry;
  const found = distinctLaunches(entry.launches, options, witness);
  const [only] = found;
  if (!only || found.length > 1) {
    const lines = found.map(({ block, grid, location }) => `  --block ${text(block)} --grid ${text(grid)}${location ? `  (${location.file}:${location.line})` : ''}`); // prettier-ignore
    throw new UsageError(`${name.qualified} has ${found.length} launches; choose one:\n${lines.join('\n')}`);
  }
  const missing = [only.block ? '' : '--block X[,Y[,Z]]', only.grid ? '' : '--grid X[,Y[,Z]]'].filter((word) => word !== ''); // prettier-ignore
  if (missing.length > 0) {
    throw new UsageError(`Selvage does not know the launch of ${name.qualified}; give ${missing.join(' and ')}.`);
  }
  const block = only.block!;
  const { requiredThreads, maximumThreads } = kernel;
  if (only.cluster && threads(only.cluster) > 1) {
    throw new UsageError(
      `${name.qualified} is launched in clusters of ${text(only.cluster)}; only clusters of one block can be run.`,
    );
  }
  const effects = kernel.blocks.flatMap(({ instructions }) =>
    instructions.map(({ operation }) => operation.effect.kind),
  );
  // A witness does not say; the check has let such a barrier pass.
  if (!only.cooperative && !witness && (effects.includes('grid-barrier') || kernel.workspace !== undefined)) {
    throw new UsageError(
      `${name.qualified} has a grid barrier, which works only in a cooperative launch; give --cooperative.`,
    );
  }
  const given = witness?.block ?? options.block;
  if (requiredThreads && given && requiredThreads.some((extent, axis) => extent !== given[axis])) {
    throw new UsageError(
      `${name.qualified} requires a block of ${text(requiredThreads)}; a launch with ${text(given)} fails.`,
    );
  }
  if (maximumThreads && threads(block) > threads(maximumThreads)) {
    throw new UsageError(
      `${name.qualified} allows ${threads(maximumThreads)} threads per block; a launch with ${threads(block)} fails.`,
    );
  }
  return only;
}

function text(extents: Dim3 | null): string {
  return extents ? extents.join(',') : '?';
}

function threads([x, y, z]: Dim3): number {
  return x * y * z;
}

function distinctLaunches(launches: readonly Launch[], options: Options, witness: RunWitness | undefined): Launch[] {
  const distinct = new Map<string, Launch>();
  for (const launch of launches) {
    const block = options.block ?? witness?.block ?? launch.block;
    const grid = options.grid ?? witness?.grid ?? launch.grid;
    const sharedBytes = options.shared ?? witness?.sharedBytes ?? (witness ? 0 : launch.sharedBytes);
    const one: Launch = { ...launch, block, grid, sharedBytes };
    const key = JSON.stringify([block, grid, sharedBytes, [...launch.scalars].map(([index, value]) => `${index}=${value}`)]); // prettier-ignore
    if (!distinct.has(key)) distinct.set(key, one);
  }
  // What is stated of scalars decides nothing where the witness names them.
  const all = [...distinct.values()];
  return witness ? all.slice(0, 1) : all;
}

/** The buffers and symbols that `--track` names. */
function trackedArrays(names: readonly string[], kernel: Kernel, { arrays }: Binding): readonly string[] {
  const variables = kernel.objects.filter(({ space }) => space === 'shared' || space === 'global');
  const known = [...arrays.map(({ name }) => name), ...variables.map(({ symbol }) => objectName(symbol))];
  return names.map((name) => {
    const owner = arrays.find((array) => array.names.includes(name));
    const variable = variables.find(({ symbol }) => symbol === name || objectName(symbol) === name);
    if (owner) return owner.name;
    if (variable) return variable.symbol;
    const close = nearest(name, known);
    const hint = close === undefined ? '' : ` Did you mean ${close}?`;
    throw new UsageError(`--track ${name}: there is no such array.${hint} There are: ${known.join(', ') || 'none'}.`);
  });
}

function requireDumps(dump: ReadonlyMap<string, string>, { arrays }: Binding): void {
  for (const name of dump.keys()) {
    const array = arrays.find((one) => one.names.includes(name));
    if (array?.length === null) throw new UsageError(`--dump ${name}: the array has no bounds.`);
    if (array) continue;
    const names = arrays.map((one) => one.name);
    const close = nearest(name, names);
    const hint = close === undefined ? '' : ` Did you mean ${close}?`;
    throw new UsageError(`--dump ${name}: there is no such array.${hint} There are: ${names.join(', ') || 'none'}.`);
  }
}

interface Executed {
  readonly result: RunResult;
  readonly counters: LaunchCounters | undefined;
}

function execute(
  { project, terminal }: RunCommand,
  entry: PreparedKernel,
  launch: Launch,
  binding: Binding,
  track: readonly string[],
  blocks: readonly number[] | undefined,
): Executed {
  const { run, quiet } = project.options;
  const { kernel } = entry;
  const [block, grid] = [launch.block!, launch.grid!];
  const counters = run.counters ? new LaunchCounters() : undefined;
  const lines = lineWriter((part) => terminal.write(part));
  const words = new RunWords(entry);
  const trace =
    run.trace.length > 0
      ? new Trace(
          (home, thread) => isSelected(run.trace, thread, block, home, grid),
          (step) => lines.write(traceLine(step, (place) => words.place(place))),
        )
      : undefined;
  const observer = counters ?? trace;
  const bar =
    terminal.isTTY === true && !quiet && !trace
      ? progressBar((part) => void terminal.write(part), clock) // prettier-ignore
      : undefined;
  const request: RunRequest = {
    kernel,
    block,
    grid,
    sharedBytes: launch.sharedBytes ?? 0,
    buffers: binding.buffers,
    arguments: binding.arguments,
    ...(blocks ? { blocks } : {}),
    steps: run.steps,
    detectRaces: run.races,
    maxRaces,
    backend: run.backEnd,
    ...(track.length > 0 ? { track } : {}),
    ...(run.schedule === undefined ? {} : { seed: run.schedule }),
    ...(observer ? { observer } : {}),
    ...(bar ? { onProgress: bar.update } : {}),
  };
  try {
    return { result: withDefaultSignals(() => runKernel(request)), counters };
  } finally {
    bar?.end();
    trace?.finish();
    lines.end();
  }
}

/** Collects lines: one write for each would be slow. */
function lineWriter(write: (text: string) => unknown): { readonly write: (line: string) => void; end: () => void } {
  let held = '';
  const flush = (): void => {
    if (held !== '') write(held);
    held = '';
  };
  return {
    write(line) {
      held += `${line}\n`;
      if (held.length > 1 << 16) flush();
    },
    end: flush,
  };
}

/**
 * Runs something that never lets go of the thread. A listener for a signal would not be called, and so keep the process
 * from being ended; without one the system ends it.
 */
function withDefaultSignals<Result>(run: () => Result): Result {
  const held = (['SIGINT', 'SIGTERM'] as const).map((name) => ({ name, listeners: process.listeners(name) }));
  for (const { name } of held) process.removeAllListeners(name);
  try {
    return run();
  } finally {
    for (const { name, listeners } of held) for (const listener of listeners) process.on(name, listener);
  }
}

interface Told {
  readonly options: Options;
  readonly witness: RunWitness | undefined;
  readonly track: readonly string[];
  readonly cwd: string;
  readonly result: RunResult;
  readonly counters: LaunchCounters | undefined;
}

async function reportOf(
  entry: PreparedKernel,
  facts: SourceFacts,
  launch: Launch,
  binding: Binding,
  { options, witness, track, cwd, result, counters }: Told,
): Promise<RunReport> {
  const { kernel, name, unit } = entry;
  const { run } = options;
  const blocks = run.blocks ?? witness?.schedule?.blocks;
  return {
    schema: 1,
    tool: { name: 'selvage', version: toolVersion },
    kernel: {
      name: name.full,
      symbol: kernel.symbol,
      ...(kernel.location ? { location: kernel.location } : {}),
      build: unit.kind === 'ptx' ? 'ptx' : run.build,
    },
    launch: {
      block: launch.block!,
      grid: launch.grid!,
      sharedBytes: launch.sharedBytes ?? 0,
      cooperative: launch.cooperative,
      ...(blocks ? { blocks } : {}),
      ...(run.schedule === undefined ? {} : { schedule: run.schedule }),
      backend: run.backEnd,
      races: run.races,
      args: binding.described,
    },
    outcome: result.outcome,
    steps: result.steps,
    findings: await findingsOf({ entry, facts, launch, result, steps: run.steps, track }),
    counters: counters ? countersReport(counters, new RunWords(entry)) : null,
    outputs: outputsOf(binding, result, run.dump, cwd),
  };
}

/** The arrays after the run; writes those that are asked for. */
function outputsOf(
  { arrays, buffers }: Binding,
  result: RunResult,
  dump: ReadonlyMap<string, string>,
  cwd: string,
): Record<string, OutputReport> {
  const outputs: Record<string, OutputReport> = {};
  for (const { name, names, buffer, type, length, aliases } of arrays) {
    const shown = Math.min(length ?? shownElements, shownElements);
    const bytes = result.readBytes(buffer, 0, (length ?? shown) * type.bytes);
    const first = Array.from({ length: shown }, (_, index) => valueOf(type, elementAt(type, bytes, index)));
    const file = [...dump].find(([wanted]) => names.includes(wanted))?.[1];
    if (file !== undefined) writeBytes(resolve(cwd, file), bytes);
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    outputs[name] = {
      type: type.name,
      length,
      sha256: length === null ? null : digest,
      changed: length === null ? null : !holds(bytes, buffers[buffer]!),
      first,
      ...(aliases.length > 0 ? { aliases } : {}),
      ...(file === undefined ? {} : { file }),
    };
  }
  return outputs;
}

/** Whether bytes are what a buffer held at the start. */
function holds(bytes: Uint8Array, { initial, fill, elementBytes }: Binding['buffers'][number]): boolean {
  if (initial) return Buffer.compare(bytes, initial) === 0;
  const pattern = Uint8Array.from({ length: elementBytes }, (_, at) => Number((fill >> BigInt(8 * at)) & 255n));
  return bytes.every((byte, at) => byte === pattern[at % elementBytes]);
}

/** @throws UsageError where the file cannot be written */
function writeBytes(file: string, bytes: Uint8Array): void {
  try {
    writeFileSync(file, bytes);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
