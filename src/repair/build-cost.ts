/** Cost of a kernel in the production build; it decides between placements of equal weight. */
import { maxThreadsPerMultiprocessor, registerGranularity } from '../device/architecture.ts';
import { registersPerMultiprocessor, warpSize } from '../device/hardware-limits.ts';

export interface BuildCost {
  /** Registers of a thread. */
  readonly registers: number;
  /** Bytes that a thread spills and reloads. */
  readonly spillBytes: number;
  /** Shared memory of a block, in bytes. */
  readonly sharedBytes: number;
  /** Barriers of the block or the grid in machine code; those of unrolled loops count once per copy. */
  readonly barriers: number;
  readonly instructions: number;
}

/** Multiprocessors allocate registers to a thread in steps of this many. */
const granule = registerGranularity / warpSize;
/**
 * With this number of registers per thread, a multiprocessor of any architecture has its maximum of resident threads:
 * fewer registers change nothing.
 */
const freeRegisters = registersPerMultiprocessor / maxThreadsPerMultiprocessor;

/**
 * Compares two costs by what limits occupancy: spills, shared memory, registers as they are allocated. If those are
 * equal, readability of the source is more important than a register or an instruction.
 * @returns below 0 if the first is less, 0 if they are equal
 */
export function compareCost(a: BuildCost, b: BuildCost): number {
  const keys = ({ registers, spillBytes, sharedBytes }: BuildCost): number[] => [
    spillBytes,
    sharedBytes,
    Math.ceil(Math.max(registers, freeRegisters) / granule),
  ];
  const [first, second] = [keys(a), keys(b)];
  const at = first.findIndex((key, index) => key !== second[index]);
  return at === -1 ? 0 : first[at]! - second[at]!;
}

/**
 * Whether no other placement of barriers could cost less.
 * @param before - of the original kernel: barriers use no shared memory
 */
export function isLeast({ registers, spillBytes, sharedBytes }: BuildCost, before: BuildCost): boolean {
  return registers <= freeRegisters && spillBytes === 0 && sharedBytes <= before.sharedBytes;
}

/** The maximum cost over several instances of a kernel. */
export function worstCost(costs: readonly BuildCost[]): BuildCost {
  const most = (of: (cost: BuildCost) => number): number => Math.max(...costs.map(of));
  return {
    registers: most(({ registers }) => registers),
    spillBytes: most(({ spillBytes }) => spillBytes),
    sharedBytes: most(({ sharedBytes }) => sharedBytes),
    barriers: most(({ barriers }) => barriers),
    instructions: most(({ instructions }) => instructions),
  };
}

/** Barriers that an edit adds or removes, and how many of them are in a loop. */
export interface BarrierChange {
  readonly added: number;
  readonly removed: number;
  readonly addedInLoops: number;
  readonly removedInLoops: number;
}

export const noBarriers: BarrierChange = { added: 0, removed: 0, addedInLoops: 0, removedInLoops: 0 };
