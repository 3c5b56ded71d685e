/**
 * Whether an edit preserved the values that threads compute, by runs on the same seeded inputs that have to leave the
 * same memory. For edited statements, both kernels run without their barriers, one thread after the other. For
 * communication between threads, both run with them: kernels without races leave the same memory in any order.
 */
import { sharedBytesWithoutOptIn } from '../device/hardware-limits.ts';
import type { ParameterSource } from '../launch/parameter-source.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { RunResult } from '../interpreter/core/run-result.ts';
import type { Steps } from '../base/coroutine.ts';
import { isFullBarrier, isWarpBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { Launch } from '../launch/launch.ts';
import type { ParameterField } from '../launch/parameter-field.ts';
import { type Scenario, replay, replayRequest } from '../check/witness/replay.ts';
import type { Kernel } from '../ir/form/kernel.ts';

interface ComparedRun {
  readonly original: Kernel;
  readonly edited: Kernel;
  readonly launch: Launch;
  readonly parameters: readonly ParameterSource[];
  readonly fields: readonly ParameterField[];
}

const inputs = 20;
/** Instructions of one run. */
const maxSteps = 1_000_000;
/** Number of inputs of runs with barriers, the step between their scalars, and instructions of one run. */
const synchronizedInputs = 8;
const extent = 32;
const maxSynchronizedSteps = 4_000_000;
const outOfSteps = 'budget';
/** Bytes of each array that are compared. */
const compared = 1 << 15;

/**
 * The seed of an input on which the two kernels, executed thread by thread, leave different memory; null if none does.
 */
export function* differingInput(run: ComparedRun): Steps<number | null> {
  const original = withoutBarriers(run.original);
  const edited = withoutBarriers(run.edited);
  for (let seed = 1; seed <= inputs; seed++) {
    const before = yield* resultOf(run, original, seed, BigInt(seed), maxSteps);
    const after = yield* resultOf(run, edited, seed, BigInt(seed), maxSteps);
    if (before !== after) return seed;
  }
  return null;
}

/**
 * Whether two kernels without races leave the same memory if they are run with their barriers.
 * @returns false too if no run ended
 */
export function* leaveTheSame(run: ComparedRun): Steps<boolean> {
  let finished = 0;
  for (let seed = 1; seed <= synchronizedInputs; seed++) {
    // The scalars are several tiles large, so that loops over tiles run several iterations.
    const scalar = BigInt(extent * seed);
    const before = yield* resultOf(run, run.original, seed, scalar, maxSynchronizedSteps);
    const after = yield* resultOf(run, run.edited, seed, scalar, maxSynchronizedSteps);
    if (before !== after) return false;
    if (before !== outOfSteps) finished++;
  }
  return finished > 0;
}

function* resultOf(
  { launch, parameters, fields }: ComparedRun,
  kernel: Kernel,
  seed: number,
  scalar: bigint,
  steps: number,
): Steps<string> {
  const block: Dim3 = launch.block ?? [64, 1, 1];
  const grid: Dim3 = launch.grid ?? [2, 1, 1];
  const scenario: Scenario = {
    block,
    grid,
    sharedBytes: launch.sharedBytes ?? sharedBytesWithoutOptIn,
    scalar: ({ index, offset, bytes }) => {
      const given = launch.scalars.get(index);
      return given === undefined ? scalar : BigInt.asUintN(8 * bytes, given >> BigInt(8 * offset));
    },
    blocks: grid[0] * grid[1] * grid[2] > 1 ? [0, 1] : [0],
    contents: `random ${seed}`,
    settled: new Map(),
  };
  const request = replayRequest(kernel, parameters, fields, launch, scenario, steps, false);
  const result = yield* replay({ ...request, detectRaces: false });
  // An aborted run has no result.
  if (result.outcome === outOfSteps) return outOfSteps;
  return [result.outcome, ...arrays(result, launch, fields)].join('|');
}

function arrays(result: RunResult, launch: Launch, fields: readonly ParameterField[]): string[] {
  // Pointers that share an array have one buffer.
  const shared = new Set([...(launch.samePointers ?? []), ...(launch.distances ?? [])].map(([, second]) => second));
  const owners = fields.filter(({ isPointer, index, offset }) => isPointer && !(offset === 0 && shared.has(index)));
  const decoder = new TextDecoder('latin1');
  return owners.map((_, buffer) => decoder.decode(result.readBytes(buffer, 0, compared)));
}

function withoutBarriers(kernel: Kernel): Kernel {
  const blocks = kernel.blocks.map((block) => ({
    ...block,
    instructions: block.instructions.filter(
      (instruction) => instruction.results.length > 0 || !(isFullBarrier(instruction) || isWarpBarrier(instruction)),
    ),
  }));
  return { ...kernel, blocks };
}
