/**
 * Capabilities of the architectures. Limits: CUDA C++ Programming Guide 13.0, "Compute Capabilities", tables of
 * technical specifications per compute capability; granularities of allocation as in the toolkit's `cuda_occupancy.h`
 * 13.0.
 */

export interface Architecture {
  /** `sm_80` */
  readonly name: string;
  readonly threadsPerMultiprocessor: number;
  readonly blocksPerMultiprocessor: number;
  /** In bytes, as all shared memory here. */
  readonly sharedPerMultiprocessor: number;
  /** For a kernel that opts in (`cudaFuncAttributeMaxDynamicSharedMemorySize`). */
  readonly sharedPerBlockOptIn: number;
  /** Taken by the driver from each block. */
  readonly sharedReserved: number;
  readonly sharedGranularity: number;
  /** Named barriers of a multiprocessor that limit its blocks; null if they never do. */
  readonly barriersPerMultiprocessor: number | null;
}

/** Registers are given to warps in such pieces, within one of four partitions of a multiprocessor. */
export const registerGranularity = 256;
export const partitions = 4;
/**
 * Warp instructions that a multiprocessor issues in a cycle at most: one by each of its four schedulers, from compute
 * capability 7.0 on (CUDA C++ Programming Guide 13.0, "Compute Capabilities", architecture of each).
 */
export const issuedPerCycle = 4;

/**
 * Latency of an access in cycles, to global memory past the L2 cache and to shared memory. As measured on the A100:
 * Abdelkhalik et al., Demystifying the Nvidia Ampere Architecture through Microbenchmarking and Instruction-level
 * Analysis (2022, arXiv:2208.11174), latencies of memories. Bounds use them for every architecture, so that bounds of
 * two architectures are comparable.
 */
export const latency = { global: 290, shared: 23 } as const;

type Row = readonly [
  name: string,
  threads: number,
  blocks: number,
  sharedKilobytes: number,
  optInKilobytes: number,
  barriers: number | null,
];

const rows: readonly Row[] = [
  ['sm_70', 2048, 32, 96, 96, null],
  ['sm_72', 2048, 32, 96, 96, null],
  ['sm_75', 1024, 16, 64, 64, null],
  ['sm_80', 2048, 32, 164, 163, null],
  ['sm_86', 1536, 16, 100, 99, null],
  ['sm_87', 1536, 16, 164, 163, null],
  ['sm_89', 1536, 24, 100, 99, null],
  ['sm_90', 2048, 32, 228, 227, 64],
  ['sm_100', 2048, 32, 228, 227, 64],
  ['sm_103', 2048, 32, 228, 227, 64],
  ['sm_110', 1536, 24, 228, 227, 24],
  ['sm_120', 1536, 24, 100, 99, 24],
  ['sm_121', 1536, 24, 100, 99, 24],
];

/** All that are known, oldest first. */
export const architectures: readonly Architecture[] = rows.map(([name, threads, blocks, shared, optIn, barriers]) => {
  const isVolta = /^sm_7/.test(name);
  return {
    name,
    threadsPerMultiprocessor: threads,
    blocksPerMultiprocessor: blocks,
    sharedPerMultiprocessor: shared * 1024,
    sharedPerBlockOptIn: optIn * 1024,
    sharedReserved: isVolta ? 0 : 1024,
    sharedGranularity: isVolta ? 256 : 128,
    barriersPerMultiprocessor: barriers,
  };
});

/** The most threads that a multiprocessor of some architecture holds. */
export const maxThreadsPerMultiprocessor = Math.max(...architectures.map((one) => one.threadsPerMultiprocessor));

/** The architecture of a name as nvcc takes it (`sm_90a` and `compute_90` are `sm_90`); undefined if unknown. */
export function architectureOf(name: string): Architecture | undefined {
  const wanted = name.replace(/^compute_/, 'sm_').replace(/[af]$/, '');
  return architectures.find((architecture) => architecture.name === wanted);
}

/** Whether kernels of an architecture overlap by programmatic dependent launch: from compute capability 9.0 on, or if it is unknown. */
export function canStartEarly(name: string): boolean {
  return Number(/^sm_(\d+)/.exec(name)?.[1] ?? 90) >= 90;
}
