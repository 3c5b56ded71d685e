/** Answers of the prover and the race detector for litmus programs. */
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { firstBuffered, firstInterleaved } from '../../src/interpreter/core/schedule.ts';
import type { RunResult } from '../../src/interpreter/core/run-result.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { requestFor } from '../check/kernel-text.ts';
import { launchOf, mostLocations, ptxOf } from './print.ts';
import type { LitmusProgram } from './program.ts';

/** Thread-instructions of one run: enough for every program whose threads do not wait in vain. */
export const usualSteps = 10_000;

/**
 * The kernels of programs.
 * @param keepsReads as of {@link ptxOf}
 * @throws where one of them is not understood
 */
export function kernelsOf(programs: readonly LitmusProgram[], keepsReads = false): readonly Kernel[] {
  const text = ptxOf(programs, keepsReads);
  const { module, diagnostics } = parsePtx(text);
  if (diagnostics.length > 0) throw new Error(`${JSON.stringify(diagnostics[0])} in\n${text}`);
  const { kernels } = lowerModule(module);
  const unsupported = kernels.find((kernel) => kernel.unsupported.length > 0);
  if (unsupported) throw new Error(`${JSON.stringify(unsupported.unsupported)} in\n${text}`);
  return kernels;
}

export interface Verdict {
  readonly verdict: string;
  /** Why the verdict is undecided. */
  readonly reason: string | null;
}

/**
 * The verdict of a check.
 * @param volatile whether volatile accesses race, as in CUDA C++, or are strong, as in PTX
 * @param steps thread-instructions of one run
 */
export async function verdictOf(kernel: Kernel, program: LitmusProgram, volatile: 'race' | 'strong', steps = usualSteps): Promise<Verdict> {
  const { block, grid, cluster } = launchOf(program);
  const { race } = await checkKernel(
    requestFor(kernel, {
      block,
      grid,
      parameters: Array.from({ length: mostLocations }, (_, at) => ({ name: `a${at}`, type: 'unsigned *' })),
      launch: { cluster: cluster[0] === 1 ? null : cluster },
      policy: { volatile: volatile === 'race' ? 'warning' : 'allow' },
      budget: { replaySteps: steps },
    }),
  );
  return { verdict: race.verdict, reason: 'reason' in race && race.reason ? JSON.stringify(race.reason) : null };
}

/** Result of the race detector: a race, one that an unmodelled order may exclude, or none. */
export type Detected = 'race' | 'presumed' | 'nothing';

/** The worst result of the race detector in the first schedules, and in some that interleave or delay stores. */
export function detected(kernel: Kernel, program: LitmusProgram, schedules: number, steps = usualSteps): Detected {
  let sees: Detected = 'nothing';
  const seeds = Array.from({ length: schedules }, (_, seed) => seed);
  for (const seed of [...seeds, firstInterleaved, firstBuffered, firstBuffered + 1, firstBuffered + 2]) {
    const result = runOf(kernel, program, seed, steps);
    if (result.races.some(({ unmodelled }) => unmodelled.length === 0)) return 'race';
    if (result.races.length > 0) sees = 'presumed';
  }
  return sees;
}

/** One run of a program. */
export function runOf(kernel: Kernel, program: LitmusProgram, seed: number, steps = usualSteps): RunResult {
  const { block, grid, cluster } = launchOf(program);
  return runKernel({
    kernel,
    block,
    grid,
    cluster,
    sharedBytes: 0,
    buffers: Array.from({ length: mostLocations }, (_, at) => ({
      name: `a${at}`,
      // The last location may contain the values read.
      bytes: at === mostLocations - 1 ? 256 : 4,
      elementBytes: 4,
      fill: 0n,
      values: new Map(),
    })),
    arguments: Array.from({ length: mostLocations }, (_, at) => ({ kind: 'pointer', buffer: at, offset: 0n }) as const),
    steps,
    detectRaces: true,
    ...(seed > 0 && { seed }),
  });
}
