/**
 * The interpreter: runs a launch on the requested back end, or one that suits its size, with every access checked by
 * the race detector. One run is one of the executions that the hardware may produce.
 */
import type { RunResult } from './core/run-result.ts';
import type { RunRequest } from './core/run-request.ts';
import { referenceProgram } from './javascript/reference-stage.ts';
import { isInterleaved } from './core/schedule.ts';
import { runIfSmall, runStaged, stagedFor } from './javascript/staged-run.ts';
import { runWebAssembly } from './webassembly/wasm-run.ts';

/** Runs a launch. Never throws for errors of the kernel. */
export function runKernel(request: RunRequest): RunResult {
  if (isInterleaved(request.seed) && request.backend !== 'reference') return runStaged(request);
  switch (request.backend ?? 'auto') {
    case 'webassembly':
      return runLarge(request);
    case 'auto':
      return request.observer || request.contentsSeed !== undefined ? runStaged(request) : (runIfSmall(request) ?? runLarge(request));
    case 'reference':
      return runStaged(request, referenceProgram(stagedFor(request)));
    case 'javascript':
      return runStaged(request);
  }
}

/** Runs a launch in WebAssembly, or on pages allocated on first access if linear memory does not suit the arrays. */
function runLarge(request: RunRequest): RunResult {
  return runWebAssembly(request) ?? runStaged(request);
}
