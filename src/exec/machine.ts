/**
 * The machine: runs a launch on the back end that is asked for, or that suits its size, with every access seen by the
 * race detector. One run is one of the executions that the hardware may produce.
 */
import type { RunRequest, RunResult } from './launch.ts';
import { JavascriptBackEnd } from './javascript-back-end.ts';
import { MachineRun } from './machine-run.ts';
import { referenceProgram } from './reference-stage.ts';
import { stage } from './stage.ts';
import { runWebAssembly } from './wasm-run.ts';

export type {
  AccessEvent,
  Argument,
  BackEndName,
  Dim3,
  DivergenceEvent,
  FaultEvent,
  GlobalBuffer,
  RaceEvent,
  RunOutcome,
  RunRequest,
  RunResult,
  Unmodelled,
  Whereabouts,
} from './launch.ts';

/**
 * Steps after which a run that began in JavaScript begins again in WebAssembly: about as many as staged code executes
 * in the time that it takes to make that.
 */
const smallRun = 250_000;

/** Runs a launch. Never throws for what the kernel does. */
export function runKernel(request: RunRequest): RunResult {
  switch (request.backend ?? 'auto') {
    case 'webassembly':
      return runLarge(request);
    case 'auto':
      return request.observer ? runPages(request) : runAuto(request);
    default:
      return runPages(request);
  }
}

/** Runs on pages of typed arrays: staged JavaScript, or the reference. */
function runPages(request: RunRequest): RunResult {
  const staged = stage(request.kernel, request.observer?.singly);
  const program = request.backend === 'reference' ? referenceProgram(staged) : staged;
  const run = new MachineRun(request, program, request.detectRaces);
  return run.run(new JavascriptBackEnd(program, request, run));
}

/** Runs in WebAssembly; on pages, which are made when touched, if linear memory is too small for the arrays. */
function runLarge(request: RunRequest): RunResult {
  return runWebAssembly(request) ?? runPages(request);
}

/** Both back ends give the same, so a run that turns out to be large can be begun anew. */
function runAuto(request: RunRequest): RunResult {
  if (leastSteps(request) > smallRun) return runLarge(request);
  const steps = Math.min(request.steps, smallRun);
  const result = runPages({ ...request, steps });
  return result.outcome === 'budget' && steps < request.steps ? runLarge(request) : result;
}

/** Instructions that the launch executes if every thread takes the shortest way. */
function leastSteps({ kernel, block, grid, blocks }: RunRequest): number {
  const lengths = new Float64Array(kernel.blocks.length);
  for (let at = kernel.blocks.length - 1; at >= 0; at--) {
    const { instructions, successors } = kernel.blocks[at]!;
    // A jump back adds nothing that a shortest way would take.
    const ahead = successors.filter((next) => next > at).map((next) => lengths[next]!);
    lengths[at] = instructions.length + 1 + (ahead.length > 0 ? Math.min(...ahead) : 0);
  }
  const count = blocks?.length ?? grid[0] * grid[1] * grid[2];
  return lengths[0]! * block[0] * block[1] * block[2] * count;
}
