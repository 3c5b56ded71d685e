/** Number of resident blocks of a kernel per multiprocessor, and what limits them. */
import { type Architecture, partitions, registerGranularity } from './architecture.ts';
import { maximumRegisters, maximumThreads, registersPerMultiprocessor, warpSize } from './hardware-limits.ts';

export interface BlockDemand {
  /** Registers of one thread. */
  readonly registers: number;
  /** Static and dynamic, in bytes. */
  readonly sharedBytes: number;
  /** Threads of a block. */
  readonly threads: number;
  /** Named barriers. */
  readonly barriers: number;
}

export type OccupancyLimiter = 'registers' | 'shared' | 'threads' | 'blocks' | 'none';

export interface Occupancy {
  /** Blocks on a multiprocessor; 0 if the launch is rejected. */
  readonly blocks: number;
  /** Resident warps as a fraction of the maximum: 0 to 1. */
  readonly fraction: number;
  /**
   * The limit that allows no further block; `none` if all warps are resident. `blocks` also includes the barriers of
   * blocks.
   */
  readonly limiter: OccupancyLimiter;
}

/** Occupancy after the rules of the toolkit's `cuda_occupancy.h`, with shared memory up to the opt-in limit. */
export function occupancyOf(architecture: Architecture, demand: BlockDemand): Occupancy {
  const warps = Math.ceil(demand.threads / warpSize);
  const most = architecture.threadsPerMultiprocessor / warpSize;
  const limits: readonly (readonly [OccupancyLimiter, number])[] = [
    ['threads', demand.threads > maximumThreads ? 0 : Math.floor(most / warps)],
    ['registers', blocksByRegisters(demand, warps)],
    ['shared', blocksByShared(architecture, demand)],
    ['blocks', blocksByNumber(architecture, demand)],
  ];
  const blocks = Math.min(...limits.map(([, limit]) => limit));
  const fraction = (blocks * warps) / most;
  const limiter = fraction === 1 ? 'none' : limits.find(([, limit]) => limit === blocks)![0];
  return { blocks, fraction, limiter };
}

function blocksByRegisters({ registers }: BlockDemand, warps: number): number {
  const perWarp = Math.ceil((registers * warpSize) / registerGranularity) * registerGranularity;
  if (perWarp === 0) return Infinity;
  const spread = Math.ceil(warps / partitions) * partitions;
  if (perWarp * spread > registersPerMultiprocessor || registers > maximumRegisters) return 0;
  const resident = Math.floor(registersPerMultiprocessor / partitions / perWarp) * partitions;
  return Math.floor(resident / warps);
}

function blocksByShared(architecture: Architecture, { sharedBytes }: BlockDemand): number {
  const { sharedReserved, sharedGranularity, sharedPerBlockOptIn, sharedPerMultiprocessor } = architecture;
  const taken = Math.ceil((sharedBytes + sharedReserved) / sharedGranularity) * sharedGranularity;
  if (taken > sharedPerBlockOptIn + sharedReserved) return 0;
  return taken === 0 ? Infinity : Math.floor(sharedPerMultiprocessor / taken);
}

function blocksByNumber(architecture: Architecture, { barriers }: BlockDemand): number {
  const { blocksPerMultiprocessor, barriersPerMultiprocessor } = architecture;
  if (barriersPerMultiprocessor === null || barriers === 0) return blocksPerMultiprocessor;
  return Math.min(blocksPerMultiprocessor, Math.floor(barriersPerMultiprocessor / barriers));
}
