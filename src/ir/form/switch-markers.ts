/** Turns the markers of candidate barriers (`// SELVAGE_CANDIDATE n`) into barriers, or into nothing. */
import type { Operation } from '../../isa/model/operation.ts';
import { decode } from '../../isa/table.ts';
import type { Location } from '../../source/location.ts';
import type { Block, Instruction, Kernel } from './kernel.ts';
import { gridBarrier } from './synthetic-operation.ts';

/** What stands at a marker: nothing, `__syncthreads()`, a barrier of the grid, `__syncwarp()`, or a fence of the device. */
export type MarkerState = 'off' | 'block' | 'grid' | 'warp' | 'fence';

const operations: Readonly<Record<Exclude<MarkerState, 'off'>, Operation>> = {
  block: decode('bar', ['sync'])!,
  grid: gridBarrier,
  warp: decode('bar', ['warp', 'sync'])!,
  fence: decode('membar', ['gl'])!,
};

const numbers: Readonly<Record<Exclude<MarkerState, 'off'>, readonly bigint[]>> = {
  block: [0n],
  grid: [],
  warp: [0xffffffffn],
  fence: [],
};

/** What stands at each marker, nothing where nothing is said, and where the source has it. */
export interface MarkerSwitches {
  readonly states: ReadonlyMap<number, MarkerState>;
  readonly places: ReadonlyMap<number, Location>;
}

/**
 * The kernel with each marker as its switch says. Values and ids stay, so that results for several settings can be
 * compared; a marker that is off is gone.
 *
 * @param switches by the number of a marker; several instructions may share one (inlined functions). Their places are
 *   those of the source, since the compiler gives inline assembly the place of what is before it
 */
export function switchMarkers(kernel: Kernel, { states, places }: MarkerSwitches): Kernel {
  const blocks = kernel.blocks.map((block): Block => {
    if (!block.instructions.some(isCandidate)) return block;
    return {
      ...block,
      instructions: block.instructions.flatMap((instruction) => {
        if (!isCandidate(instruction)) return instruction;
        const number = instruction.marker!.number!;
        const state = states.get(number) ?? 'off';
        return state === 'off' ? [] : barrierAt(instruction, state, places.get(number));
      }),
    };
  });
  return { ...kernel, blocks };
}

/** Whether an instruction marks where a barrier could stand. */
export function isCandidate({ marker }: Instruction): boolean {
  return marker?.name === 'candidate' && marker.number !== undefined;
}

function barrierAt(
  { marker, location, ...instruction }: Instruction,
  state: Exclude<MarkerState, 'off'>,
  place: Location | undefined,
): Instruction {
  void marker;
  const inlinedAt = location?.inlinedAt;
  const at = place ? { ...place, ...(inlinedAt && { inlinedAt }) } : location;
  return {
    ...instruction,
    operation: operations[state],
    arguments: numbers[state].map((value) => ({ kind: 'constant', type: 32, value })),
    ...(at && { location: at }),
  };
}
