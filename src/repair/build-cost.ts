/** What a kernel costs in the build that runs, by which placements that weigh the same are compared. */
import { maxThreadsPerMultiprocessor, registerGranularity } from '../device/architecture.ts';
import { registersPerMultiprocessor, warpSize } from '../device/hardware-limits.ts';

export interface BuildCost {
  /** Of a thread. */
  readonly registers: number;
  /** Stored and loaded by a thread, in bytes. */
  readonly spillBytes: number;
  /** Of a block, in bytes. */
  readonly sharedBytes: number;
  /** Barriers of the block or the grid in the code; those of unrolled loops count as often as they were copied. */
  readonly barriers: number;
  readonly instructions: number;
}

/** Multiprocessors allocate registers to a thread in steps of this many. */
const granule = registerGranularity / warpSize;
/**
 * With as many registers a thread, a multiprocessor of any architecture holds as many threads as it can: fewer registers
 * change nothing.
 */
const freeRegisters = registersPerMultiprocessor / maxThreadsPerMultiprocessor;

/**
 * Which of two costs is less, by what decides how many blocks run at once: spills, shared memory, registers as they are
 * handed out. Where those are the same, how the source reads counts for more than a register or an instruction.
 * @returns below 0 where it is the first, 0 where neither is
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
 * Whether no barriers placed in another way could cost less.
 * @param before - of the kernel as it was: barriers make no use of shared memory
 */
export function isLeast({ registers, spillBytes, sharedBytes }: BuildCost, before: BuildCost): boolean {
  return registers <= freeRegisters && spillBytes === 0 && sharedBytes <= before.sharedBytes;
}

/** The worst of several instances of a kernel. */
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

/** Barriers that an edit adds or takes away, and how many of them stand in a loop. */
export interface BarrierChange {
  readonly added: number;
  readonly removed: number;
  readonly addedInLoops: number;
  readonly removedInLoops: number;
}

export const noBarriers: BarrierChange = { added: 0, removed: 0, addedInLoops: 0, removedInLoops: 0 };
