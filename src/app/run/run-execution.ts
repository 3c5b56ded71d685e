import { clock } from '../../system/clock.ts';
import type { Launch } from '../../launch/launch.ts';
import type { RunRequest } from '../../machine/core/run-request.ts';
import type { RunResult } from '../../machine/core/run-result.ts';
import { LaunchCounters } from '../../machine/counters.ts';
import { runKernel } from '../../machine/machine.ts';
import { Trace } from '../../machine/trace.ts';
import type { Options } from '../../settings/options.ts';
import { isSelected } from '../../settings/run-threads.ts';
import type { LaunchedKernel } from '../build/kernel.ts';
import type { Binding } from './run-binding.ts';
import { RunWords } from './run-findings.ts';
import { progressBar } from './run-progress.ts';
import { traceLine } from './run-trace.ts';

/** Takes traces, and the bar where it is a terminal. */
export interface Terminal {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
}

/** Pairs of instructions that race, after which a run ends. */
const maxRaces = 1000;

export interface Executed {
  readonly result: RunResult;
  readonly counters: LaunchCounters | undefined;
}

/** Runs a launch, with a trace or a bar on the terminal. */
export function execute(
  { run, quiet }: Options,
  terminal: Terminal,
  entry: LaunchedKernel,
  launch: Launch,
  binding: Binding,
  track: readonly string[],
  blocks: readonly number[] | undefined,
): Executed {
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
