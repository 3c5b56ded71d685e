/** Turns the markers of candidate barriers (`// SELVAGE_CANDIDATE n`) into barriers, or into nothing. */
import type { Operation } from '../../isa/model/operation.ts';
import { decode } from '../../isa/table.ts';
import type { Location } from '../../source/location.ts';
import type { Block, Instruction, Kernel } from './kernel.ts';
import { gridBarrier } from './synthetic-operation.ts';

/** `__syncwarp(mask)`, with the mask as a decimal number. */
export type LanesState = `warp ${number}`;

/**
 * The replacement of a marker: nothing, `__syncthreads()`, a grid barrier, `__syncwarp()`, a fence whose scope is the device or
 * the block, or `cudaGridDependencySynchronize()`.
 */
export type MarkerState = 'off' | 'block' | 'grid' | 'warp' | LanesState | 'fence' | 'block-fence' | 'wait';

type Kind = Exclude<MarkerState, 'off' | LanesState>;

const operations: Readonly<Record<Kind, Operation>> = {
  block: decode('bar', ['sync'])!,
  grid: gridBarrier,
  warp: decode('bar', ['warp', 'sync'])!,
  fence: decode('membar', ['gl'])!,
  'block-fence': decode('membar', ['cta'])!,
  wait: decode('griddepcontrol', ['wait'])!,
};

const numbers: Readonly<Record<Kind, readonly bigint[]>> = {
  block: [0n],
  grid: [],
  warp: [0xffffffffn],
  fence: [],
  'block-fence': [],
  wait: [],
};

/** The mask of `__syncwarp(mask)`; null for other states. */
export function lanesOfState(state: MarkerState): number | null {
  return state.startsWith('warp ') ? Number(state.slice('warp '.length)) : null;
}

/** The replacement of each marker, by default nothing, and the location of the marker in the source. */
export interface MarkerSwitches {
  readonly states: ReadonlyMap<number, MarkerState>;
  readonly places: ReadonlyMap<number, Location>;
}

/**
 * The kernel with each marker replaced according to its switch. Values and ids stay, so that results for several
 * switches can be compared; a marker that is off is removed.
 *
 * @param switches by marker number; several instructions may share one (inlined functions). Their locations are those
 *   of the source, since the compiler gives inline assembly the location of the preceding code
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

/** Whether an instruction marks a candidate position of a barrier. */
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
  const lanes = lanesOfState(state);
  const kind = lanes === null ? (state as Kind) : 'warp';
  const values = lanes === null ? numbers[kind] : [BigInt(lanes)];
  return {
    ...instruction,
    operation: operations[kind],
    arguments: values.map((value) => ({ kind: 'constant', type: 32, value })),
    ...(at && { location: at }),
  };
}
