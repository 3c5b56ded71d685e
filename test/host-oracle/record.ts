/**
 * Launches of host programs as `recording-runtime.c` records them: programs are compiled by nvcc, linked with that
 * runtime instead of libcudart, and run. Kernels do not run, and no GPU is needed. The programs run
 * on this machine: only those of this folder's generator, checked-in ones and the samples of a suite may be passed.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { demangle } from '../../src/cuda/names/demangle.ts';
import { type ProcessEnd, exitedWell, runProcess } from '../../src/system/child-process.ts';
import type { GeneratedProgram, GeneratedUnit } from './generator.ts';

export type Dimensions = readonly [x: number, y: number, z: number];

export interface RecordedLaunch {
  /** Symbol of the kernel on the device; null if it was never registered. */
  readonly kernel: string | null;
  /** Demangled name with parameters, without the namespace of a program in a unit; null if it is not understood. */
  readonly name: string | null;
  readonly grid: Dimensions;
  readonly block: Dimensions;
  /** Bytes of dynamic shared memory. */
  readonly shared: number;
  /** Of the attribute of the launch; null if it has none, even if the kernel has `__cluster_dims__`. */
  readonly cluster: Dimensions | null;
  readonly cooperative: boolean;
  /** Whether programmatic stream serialization is allowed. */
  readonly early: boolean;
  /** Bytes of each argument in hexadecimal digits, in the order of memory; null if the sizes are unknown. */
  readonly arguments: readonly string[] | null;
}

export interface RecordedAllocation {
  readonly address: bigint;
  readonly bytes: number;
  /** Function of the runtime. */
  readonly call: string;
  /** Number of launches before the allocation: addresses are used again after a release. */
  readonly launchesBefore: number;
}

/** An operation of a stream or of the host, with handles and addresses in hexadecimal digits: `0` without one. */
export interface RecordedOperation {
  /** Function of the runtime, or `launch`, `stream`, `separate stream`. */
  readonly operation: string;
  /** The number that the program has given last. */
  readonly mark: number;
  readonly stream: string;
  readonly event: string;
  readonly to: string;
  readonly from: string;
  /** Number of launches before it. */
  readonly launchesBefore: number;
}

export interface Recording {
  readonly launches: readonly RecordedLaunch[];
  /** With `SELVAGE_ORDER` in the environment, in the order of their calls. */
  readonly operations: readonly RecordedOperation[];
  readonly allocations: readonly RecordedAllocation[];
  readonly exit: ProcessEnd;
  /** Standard error, cut at 64 KiB. */
  readonly errors: string;
}

export interface RecordOptions {
  /** Further flags of nvcc, for the compilation and for the link. */
  readonly flags?: readonly string[];
  /** Environment of the program, in addition to the variables of the record: empty by default. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** An executable that records its launches. */
export interface RecordingExecutable {
  readonly path: string;
  /** File with the sizes of the kernels' parameters. */
  readonly parameters: string;
  readonly environment: Readonly<Record<string, string>>;
}

const runtimeSource = fileURLToPath(new URL('recording-runtime.c', import.meta.url));

/** PTX is embedded without machine code: no program here runs a kernel, and ptxas would take time. */
const architecture = ['-gencode=arch=compute_90,code=compute_90'];

const compileLimits = { milliseconds: 300_000, outputBytes: 1 << 16 };
const runLimits = {
  milliseconds: 10_000,
  outputBytes: 1 << 16,
  resources: { cpuSeconds: 10, memoryBytes: 1 << 30, fileBytes: 1 << 26 },
};
/** The address sanitizer reserves terabytes of addresses. */
const sanitizedLimits = { ...runLimits, resources: { ...runLimits.resources, memoryBytes: 2 ** 46 } };

async function compile(args: readonly string[], cwd: string): Promise<void> {
  const result = await runProcess({ executable: 'nvcc', args, cwd, env: process.env, limits: compileLimits });
  if (!exitedWell(result)) throw new Error(`nvcc ${args.join(' ')}: ${result.end.kind}\n${result.stdout}${result.stderr}`);
}

/** The object of the runtime, which is compiled once for each folder. */
async function runtimeObject(folder: string): Promise<string> {
  const object = join(folder, 'recording-runtime.o');
  if (!existsSync(object)) await compile(['-c', runtimeSource, '-o', object], folder);
  return object;
}

const bytesOfType: Readonly<Record<string, number>> = { 8: 1, 16: 2, 32: 4, 64: 8, 128: 16 };

/** Sizes of the parameters of each kernel of a PTX text. */
export function parameterSizes(ptx: string): ReadonlyMap<string, readonly number[]> {
  const sizes = new Map<string, readonly number[]>();
  for (const [, name, list] of ptx.matchAll(/\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?/g)) {
    const parameters = (list ?? '').matchAll(
      /\.param\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d+)\s+(?:\.ptr[^\n]*?)?[\w$]+(?:\[(\d+)\])?\s*(?:,|$)/gm,
    );
    sizes.set(
      name!,
      [...parameters].map(([, bits, count]) => bytesOfType[bits!]! * Number(count ?? 1)),
    );
  }
  return sizes;
}

/** The table of parameters that {@link compileRecording} writes. */
export function parametersIn(text: string): ReadonlyMap<string, readonly number[]> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [name, ...sizes] = line.split(' ');
      return name ? [[name, sizes.map(Number)] as const] : [];
    }),
  );
}

/**
 * Compiles and links `.cu` and `.cpp` files.
 * @param sources - names of files in the folder
 * @throws if nvcc fails
 */
export async function compileRecording(
  sources: readonly string[],
  folder: string,
  { flags = [], environment = {} }: RecordOptions = {},
): Promise<RecordingExecutable> {
  const runtime = await runtimeObject(folder);
  const objects: string[] = [];
  const lines: string[] = [];
  for (const source of sources) {
    const stem = basename(source).replaceAll('.', '_');
    const intermediate = join(folder, `${stem}.keep`);
    mkdirSync(intermediate, { recursive: true });
    const object = join(folder, `${stem}.o`);
    const common = ['-std=c++17', '-w', ...architecture, '--keep', '--keep-dir', intermediate];
    await compile([...common, ...flags, '-c', source, '-o', object], folder);
    objects.push(object);
    for (const file of readdirSync(intermediate).filter((name) => name.endsWith('.ptx')))
      for (const [kernel, sizes] of parameterSizes(readFileSync(join(intermediate, file), 'utf8')))
        lines.push([kernel, ...sizes].join(' '));
    rmSync(intermediate, { recursive: true });
  }
  const path = join(folder, basename(sources[0]!).replace(/\.[a-z]+$/, ''));
  await compile(['--cudart=none', ...architecture, ...flags, ...objects, runtime, '-o', path], folder);
  const parameters = `${path}.parameters`;
  writeFileSync(parameters, `${lines.join('\n')}\n`);
  return { path, parameters, environment };
}

/** Runs an executable in a new folder within its folder, with the given arguments after the name of the program. */
export async function runRecording(executable: RecordingExecutable, args: readonly string[]): Promise<Recording> {
  const cwd = mkdtempSync(`${executable.path}-run-`);
  try {
    const record = join(cwd, 'record');
    writeFileSync(record, '');
    const isSanitized = executable.environment['ASAN_OPTIONS'] !== undefined;
    const { end, stderr } = await runProcess({
      executable: executable.path,
      args,
      cwd,
      env: { ...executable.environment, SELVAGE_RECORD: record, SELVAGE_PARAMETERS: executable.parameters },
      limits: isSanitized ? sanitizedLimits : runLimits,
    });
    return { ...readRecord(readFileSync(record, 'utf8')), exit: end, errors: stderr };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

type RecordLine =
  | Omit<RecordedLaunch, 'name'>
  | Omit<RecordedOperation, 'launchesBefore'>
  | { readonly allocation: string; bytes: number; call: string };

function readRecord(text: string): Pick<Recording, 'launches' | 'allocations' | 'operations'> {
  const operations: RecordedOperation[] = [];
  const launches: RecordedLaunch[] = [];
  const allocations: RecordedAllocation[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const read = JSON.parse(line) as RecordLine;
    if ('allocation' in read) {
      const { allocation, bytes, call } = read;
      allocations.push({ address: BigInt(allocation), bytes, call, launchesBefore: launches.length });
    } else if ('operation' in read) operations.push({ ...read, launchesBefore: launches.length });
    else {
      const full = read.kernel === null ? undefined : demangle(read.kernel)?.full;
      launches.push({ ...read, name: full?.replaceAll(/\bp\d+::/g, '') ?? null });
    }
  }
  return { launches, allocations, operations };
}

/** Writes the files of one program into a folder, compiles them and runs the program with its arguments. */
export async function recordLaunches(
  program: Pick<GeneratedProgram, 'files' | 'arguments'>,
  folder: string,
  options: RecordOptions = {},
): Promise<Recording> {
  for (const [name, text] of program.files) writeFileSync(join(folder, name), text);
  const sources = [...program.files.keys()].filter((name) => name.endsWith('.cu'));
  return runRecording(await compileRecording(sources, folder, options), program.arguments);
}

/** Compiles the programs of a unit together and runs each in a separate process; recordings are by seed. */
export async function recordUnit(
  unit: GeneratedUnit,
  folder: string,
  options: RecordOptions = {},
): Promise<ReadonlyMap<number, Recording>> {
  writeFileSync(join(folder, unit.name), unit.text);
  const executable = await compileRecording([unit.name], folder, options);
  const recordings = new Map<number, Recording>();
  for (const { seed, arguments: args } of unit.programs) recordings.set(seed, await runRecording(executable, [String(seed), ...args]));
  return recordings;
}
