/** Runs on pages of typed arrays, without the parts of the interpreter that only large runs need. */
import type { RunResult } from '../core/run-result.ts';
import type { RunRequest } from '../core/run-request.ts';
import { JavascriptBackEnd } from './javascript-back-end.ts';
import type { GlobalMemory } from '../core/global-memory.ts';
import { MachineRun } from '../core/machine-run.ts';
import { isInterleaved } from '../core/schedule.ts';
import { type CompiledProgram, stage } from './stage.ts';

/**
 * Steps after which a run that began in JavaScript restarts in WebAssembly: about the number that staged code executes
 * in the time of the WebAssembly compilation.
 */
const smallRun = 250_000;

/**
 * Limit on the minimum number of steps of a run that starts in JavaScript because its races may suffice within {@link
 * smallRun} steps.
 */
const largestTry = 8 * smallRun;

/**
 * Runs a launch in staged JavaScript; null if the run needs too many steps. All back ends have the same results, so
 * that the run can be restarted. Never throws for errors of the kernel.
 */
export function runIfSmall(request: RunRequest): RunResult | null {
  if (leastSteps(request) > (request.watch ? largestTry : smallRun)) return null;
  const steps = Math.min(request.steps, smallRun);
  const result = runStaged({ ...request, steps });
  return result.outcome === 'budget' && steps < request.steps ? null : result;
}

/**
 * @param program by default the kernel in staged JavaScript
 * @param memory initial global memory, which the run changes; absent: that of the request
 */
export function runStaged(request: RunRequest, program: CompiledProgram = stagedFor(request), memory?: GlobalMemory): RunResult {
  const run = new MachineRun(request, program, request.detectRaces);
  return run.run(new JavascriptBackEnd(program, request, run, memory));
}

/**
 * The kernel in staged JavaScript; each instruction is a separate segment if threads have to stop between instructions.
 */
export function stagedFor({ kernel, observer, seed }: RunRequest): CompiledProgram {
  return stage(kernel, observer?.singly === true || isInterleaved(seed));
}

/** Runs a launch on the global memory of an earlier run, originally from {@link initialMemory}, and changes it. */
export function runOn(request: RunRequest, memory: GlobalMemory): RunResult {
  return runStaged(request, undefined, memory);
}

/** Minimum number of instructions of the launch: each thread executes the shortest path. */
function leastSteps({ kernel, block, grid, blocks }: RunRequest): number {
  const lengths = new Float64Array(kernel.blocks.length);
  for (let at = kernel.blocks.length - 1; at >= 0; at--) {
    const { instructions, successors } = kernel.blocks[at]!;
    // A back edge is never on a shortest path.
    const ahead = successors.filter((next) => next > at).map((next) => lengths[next]!);
    lengths[at] = instructions.length + 1 + (ahead.length > 0 ? Math.min(...ahead) : 0);
  }
  const count = blocks?.length ?? grid[0] * grid[1] * grid[2];
  return lengths[0]! * block[0] * block[1] * block[2] * count;
}
