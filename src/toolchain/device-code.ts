/**
 * The PTX of a preprocessed unit. Both builds come from one pass of `cicc`'s front end, which takes nearly all of
 * nvcc's time for most files: its two halves can be run separately, a front end that generates a module of LLVM and a
 * back end that generates PTX from it. This is not documented by NVIDIA. So it is limited to versions for which both
 * texts were compared with those of nvcc, byte by byte, and to arguments that were compared too; everything else is
 * compiled by the whole program.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clock } from '../system/clock.ts';
import { cpuOf } from '../system/cpu-time.ts';
import { exitedWell, type ProcessLimits, type ProcessResult } from '../system/child-process.ts';
import { secondsAlone, withCpu } from './confinement.ts';
import { leastOptimised, type ProgramCall, type NvccSteps } from './nvcc-steps.ts';

/**
 * Why a verification build is not optimised at all, instead of `-Ofc max`: that would take too long for a unit with
 * large straight-line functions (`large`), or exceeded its time limit in this run (`late`).
 */
export type Unoptimised = 'large' | 'late';

/** PTX and messages of compilers for a preprocessed text. */
export interface DeviceCode {
  /** Output of the front end. */
  readonly result: ProcessResult;
  /**
   * Paths of files with the PTX of the requested builds. A verification build is included only if it needs no second
   * front-end run.
   */
  readonly production?: string;
  readonly verification?: string;
  /** Why the verification build is not optimised. */
  readonly unoptimised?: Unoptimised;
}

export interface WantedCode {
  readonly production: boolean;
  readonly verification: boolean;
  /** Whether the two halves of this `cicc` can be run separately. */
  readonly separates: boolean;
}

interface DeviceCodeRequest extends WantedCode {
  readonly steps: NvccSteps;
  readonly limits: ProcessLimits;
  /** Runs a program in the environment of nvcc. */
  readonly run: (command: ProgramCall, limits: ProcessLimits, onStart?: (pid: number) => void) => Promise<ProcessResult>;
  /** Folder for intermediate files. */
  readonly temporary: string;
}

/**
 * Unoptimised instructions of one function beyond which `-Ofc max` takes many times as long as all other steps: its
 * time grows with their number times that of the stack slots. Functions of 13,000 take it 0.1 s, of 28,000 13 s, of
 * 61,000 minutes.
 */
const largestOptimised = 20_000;

/** Minimum CPU time limit in seconds of the optimiser of the verification build. */
const leastSeconds = 60;

/** CPU time limit of the optimiser, as a multiple of the time of the front end and a back end without optimisation. */
const patience = 20;

/**
 * Compiles a preprocessed text.
 * @returns null if a step fails: the caller then runs nvcc, which reports the reason. If a step exceeded a limit, or
 * was stopped, that is the result
 */
export async function deviceCode(request: DeviceCodeRequest): Promise<DeviceCode | null> {
  const { steps, separates, limits, run } = request;
  const made = await (separates && steps.halves ? fromOneFrontEnd(request, steps.halves) : compiledWhole(request));
  const { validate } = steps;
  if (made === null || validate === null) return made;
  const [program, ...words] = validate;
  const files = [made.production, made.verification].filter((file) => file !== undefined);
  const read = await Promise.all(files.map((file) => run([program, ...words.slice(0, -1), file], limits)));
  const strange = read.find((one) => !isSilent(one));
  return strange ? stopped(strange) : made;
}

async function fromOneFrontEnd(
  { steps, production, verification, limits, run, temporary }: DeviceCodeRequest,
  { frontEnd, backEnd }: NonNullable<NvccSteps['halves']>,
): Promise<DeviceCode | null> {
  const [cicc] = steps.compile;
  const module = join(temporary, 'unit.bc');
  const time = stopwatch();
  const front = await run([cicc, '-lgenfe', ...frontEnd, '--emit-llvm-bc', steps.preprocessed, '-o', module], limits, time.onStart);
  if (!exitedWell(front)) return stopped(front);
  const fileOf = (name: string): string => join(temporary, `${name}.ptx`);
  const back = (name: string, words: readonly string[], within = limits): Promise<ProcessResult> =>
    run([cicc, '-libnvvm', ...backEnd, ...words, module, '-o', fileOf(name)], within, name === 'plain' ? time.onStart : undefined);
  const made = await Promise.all([...(production ? [back('production', [])] : []), ...(verification ? [back('plain', ['-opt=0'])] : [])]);
  const strange = made.find((one) => !isSilent(one));
  if (strange) return stopped(strange);
  const told = { result: front, ...(production && { production: fileOf('production') }) };
  if (!verification) return told;
  const unoptimised = { ...told, verification: fileOf('plain') };
  if (largestFunction(await readFile(fileOf('plain'), 'latin1')) > largestOptimised) return { ...unoptimised, unoptimised: 'large' };
  const seconds = Math.max(leastSeconds, (patience * time.milliseconds()) / 1000);
  const least = await back('verification', ['-Ofast-compile=max'], withCpu(limits, seconds));
  if (least.end.kind === 'time-limit') return { ...unoptimised, unoptimised: 'late' };
  return isSilent(least) ? { ...told, verification: fileOf('verification') } : stopped(least);
}

/** Compiles with the arguments of nvcc, one build at a time. */
async function compiledWhole(request: DeviceCodeRequest): Promise<DeviceCode | null> {
  const { steps, production, limits, run } = request;
  const output = steps.compile.at(-1)!;
  if (production) {
    const result = await run(steps.compile, limits);
    return exitedWell(result) ? { result, production: output } : stopped(result);
  }
  const result = await run(steps.compile, withCpu(limits, secondsAlone));
  if (exitedWell(result)) return { result, verification: output };
  if (result.end.kind !== 'time-limit' || !steps.compile.includes(leastOptimised)) return stopped(result);
  const plain = await run(steps.compile.map((word) => (word === leastOptimised ? '-O0' : word)) as [string, ...string[]], limits);
  return exitedWell(plain) ? { result: plain, verification: output, unoptimised: 'late' } : stopped(plain);
}

/** Whether a back end succeeded without messages, which Selvage cannot parse. */
function isSilent(result: ProcessResult): boolean {
  return exitedWell(result) && result.stdout === '' && result.stderr === '';
}

/** The result if a step was stopped or exceeded a limit, since nvcc could not complete it either; otherwise null. */
function stopped(result: ProcessResult): DeviceCode | null {
  return ['time-limit', 'output-limit', 'aborted'].includes(result.end.kind) ? { result } : null;
}

/** Interval between measurements of the CPU time of a program, in milliseconds. */
const interval = 100;

/** Sums the CPU time of programs, or wall-clock time if the system does not report it. */
function stopwatch() {
  let total = 0;
  return {
    milliseconds: (): number => total,
    onStart: (pid: number): void => {
      const began = clock();
      let seen = 0;
      const before = total;
      const look = setInterval(() => {
        const cpu = cpuOf(pid);
        seen = Math.max(seen, cpu ?? (process.platform === 'linux' ? 0 : clock() - began));
        total = before + seen;
        if (cpu === undefined) clearInterval(look);
      }, interval);
      look.unref();
    },
  };
}

/**
 * The number of instructions of the largest function.
 * @param ptx as `cicc` prints it
 */
export function largestFunction(ptx: string): number {
  let largest = 0;
  let instructions = 0;
  let isInstruction = false;
  for (let start = 0; start < ptx.length;) {
    const end = ptx.indexOf('\n', start);
    const line = ptx.slice(start, end < 0 ? ptx.length : end);
    start = end < 0 ? ptx.length : end + 1;
    if (line === '}') {
      largest = Math.max(largest, instructions);
      instructions = 0;
      continue;
    }
    // A call spans several lines.
    if (!isInstruction) isInstruction = /^\s+[@a-z]/.test(line);
    if (!isInstruction || !line.includes(';')) continue;
    instructions += 1;
    isInstruction = false;
  }
  return largest;
}
