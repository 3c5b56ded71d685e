import { clock } from '../../system/clock.ts';
import { withDefaultSignals } from '../../system/interruption.ts';
import { type Launch, clusterOf } from '../../launch/launch.ts';
import { reversedSchedule } from '../../interpreter/core/schedule.ts';
import type { RunRequest } from '../../interpreter/core/run-request.ts';
import type { RunResult } from '../../interpreter/core/run-result.ts';
import { LaunchCounters } from '../../interpreter/counters.ts';
import { runKernel } from '../../interpreter/machine.ts';
import { Trace } from '../../interpreter/trace.ts';
import type { Settings } from '../../settings/settings.ts';
import { isSelected } from '../../settings/run-threads.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import type { Binding } from './run-binding.ts';
import { RunWords } from './run-findings.ts';
import { progressBar } from './run-progress.ts';
import { traceLine } from './run-trace.ts';

/** Receives traces; if it is a terminal, also the progress bar. */
export interface Terminal {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
}

/** Maximum number of racing pairs of instructions; a run ends when it has found them. */
const maxRaces = 1000;

interface Executed {
  readonly result: RunResult;
  readonly counters: LaunchCounters | undefined;
}

/** A launch that is executed under several schedules. */
interface Execution {
  readonly settings: Pick<Settings, 'options' | 'configuration'>;
  readonly terminal: Terminal;
  readonly entry: LaunchedKernel;
  readonly launch: Launch;
  readonly binding: Binding;
  /** Arrays whose races are searched for; if empty, all. */
  readonly track: readonly string[];
  /** Indices of the blocks to run; if absent, all. */
  readonly blocks: readonly number[] | undefined;
}

/** A run, with its schedule and the number of schedules that were run. */
interface Tried extends Executed {
  readonly schedule: number | undefined;
  readonly schedules: number | undefined;
}

/**
 * Runs a launch under several schedules: the default one, reversed, then shuffled. Ends at the first schedule with a
 * race, a missed barrier or a fault. If none has any, the result of the default schedule is returned.
 * @param witnessed the schedule of the replayed witness; the options may select another one
 */
export async function executeSchedules(execution: Execution, witnessed: number | undefined): Promise<Tried> {
  const { schedule: asked = witnessed, schedules } = execution.settings.options.run;
  const run = (schedule: number | undefined): Promise<Executed> => execute(execution, schedule);
  const plain = await run(asked);
  for (let seed = reversedSchedule; schedules !== undefined && !showsDefect(plain) && seed < schedules; seed++) {
    const other = await run(seed);
    if (showsDefect(other)) return { ...other, schedule: seed, schedules: seed + 1 };
  }
  return { ...plain, schedule: asked, schedules: showsDefect(plain) && schedules !== undefined ? 1 : schedules };
}

function showsDefect({ result: { races, divergences, faults, outcome } }: Executed): boolean {
  return races.length + divergences.length + faults.length > 0 || outcome !== 'finished';
}

/** Runs a launch, with a trace or a progress bar on the terminal. */
async function execute(
  { settings, terminal, entry, launch, binding, track, blocks }: Execution,
  schedule: number | undefined,
): Promise<Executed> {
  const { options, configuration } = settings;
  const { run, quiet } = options;
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
  const bar = terminal.isTTY === true && !quiet && !trace ? progressBar((part) => void terminal.write(part), clock) : undefined;
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
    cluster: clusterOf(launch, kernel),
    volatileRaces: configuration.checks.race.volatile !== 'allow',
    maxRaces,
    backend: run.backEnd,
    ...(track.length > 0 ? { track } : {}),
    ...(schedule === undefined ? {} : { seed: schedule }),
    ...(observer ? { observer } : {}),
    ...(bar ? { onProgress: bar.update } : {}),
  };
  try {
    return { result: await withDefaultSignals(() => runKernel(request)), counters };
  } finally {
    bar?.end();
    trace?.finish();
    lines.end();
  }
}

/** Buffers lines: a separate write for each line would be slow. */
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
