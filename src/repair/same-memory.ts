/**
 * Whether an edit of statements left what a thread computes as it was: both kernels run without their barriers, one
 * thread after the other, on the same seeded inputs, and have to leave the same memory.
 */
import { sharedBytesWithoutOptIn } from '../device/hardware-limits.ts';
import type { ParameterSource } from '../launch/parameter-source.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { RunResult } from '../machine/core/run-result.ts';
import type { Steps } from '../base/steps.ts';
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
const mostSteps = 1_000_000;
/** Bytes of each array that are compared. */
const compared = 1 << 15;

/** The seed of an input that tells the two apart; null where none does. */
export function* differingInput(run: ComparedRun): Steps<number | null> {
  const original = withoutBarriers(run.original);
  const edited = withoutBarriers(run.edited);
  for (let seed = 1; seed <= inputs; seed++) {
    const before = yield* resultOf(run, original, seed);
    const after = yield* resultOf(run, edited, seed);
    if (before !== after) return seed;
  }
  return null;
}

function* resultOf({ launch, parameters, fields }: ComparedRun, kernel: Kernel, seed: number): Steps<string> {
  const block: Dim3 = launch.block ?? [64, 1, 1];
  const grid: Dim3 = launch.grid ?? [2, 1, 1];
  const scenario: Scenario = {
    block,
    grid,
    sharedBytes: launch.sharedBytes ?? sharedBytesWithoutOptIn,
    scalar: ({ index, offset, bytes }) => {
      const given = launch.scalars.get(index);
      return given === undefined ? BigInt(seed) : BigInt.asUintN(8 * bytes, given >> BigInt(8 * offset));
    },
    blocks: grid[0] * grid[1] * grid[2] > 1 ? [0, 1] : [0],
    contents: `random ${seed}`,
    settled: new Map(),
  };
  const request = replayRequest(kernel, parameters, fields, launch, scenario, mostSteps, false);
  const result = yield* replay({ ...request, detectRaces: false });
  // What was cut short says nothing.
  if (result.outcome === 'budget') return 'budget';
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
