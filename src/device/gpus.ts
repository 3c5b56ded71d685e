/**
 * GPUs that launches are compared with: their peak throughput, without sparsity, at boost clock. Sources, by row: the
 * data sheets of NVIDIA for the V100 SXM2, T4, A100 80GB SXM, A10, L4, L40S, H100 SXM and H200; the appendices of
 * NVIDIA's architecture white papers of the GA102 (RTX 3090), AD102 (RTX 4090) and Blackwell (RTX 5090) GPUs. If a data
 * sheet does not give double precision, it is the share of single precision in the CUDA C++ Programming Guide 13.0,
 * table of throughputs of arithmetic instructions.
 */

export interface Gpu {
  readonly name: string;
  /** `sm_80` */
  readonly arch: string;
  readonly multiprocessors: number;
  /** Floating-point operations a second: of single and of double precision, and of half-precision matrices. */
  readonly single: number;
  readonly double: number;
  readonly tensor: number;
  /** Bytes of memory a second. */
  readonly bandwidth: number;
}

type Row = readonly [
  name: string,
  arch: string,
  multiprocessors: number,
  singleTera: number,
  doubleTera: number,
  tensorTera: number,
  gigabytes: number,
];

const rows: readonly Row[] = [
  ['V100', 'sm_70', 80, 15.7, 7.8, 125, 900],
  ['T4', 'sm_75', 40, 8.1, 0.25, 65, 320],
  ['A100', 'sm_80', 108, 19.5, 9.7, 312, 2039],
  ['A10', 'sm_86', 72, 31.2, 0.49, 125, 600],
  ['RTX 3090', 'sm_86', 82, 35.6, 0.56, 71, 936],
  ['L4', 'sm_89', 58, 30.3, 0.47, 121, 300],
  ['L40S', 'sm_89', 142, 91.6, 1.43, 362, 864],
  ['RTX 4090', 'sm_89', 128, 82.6, 1.29, 165.2, 1008],
  ['H100', 'sm_90', 132, 67, 34, 989, 3350],
  ['H200', 'sm_90', 132, 67, 34, 989, 4800],
  ['RTX 5090', 'sm_120', 170, 104.8, 1.64, 209.5, 1792],
];

/** All that are known, by architecture. */
export const gpus: readonly Gpu[] = rows.map(([name, arch, multiprocessors, single, double, tensor, gigabytes]) => ({
  name,
  arch,
  multiprocessors,
  single: single * 1e12,
  double: double * 1e12,
  tensor: tensor * 1e12,
  bandwidth: gigabytes * 1e9,
}));

/** The GPU of a name, ignoring case, spaces and hyphens (`rtx4090`); undefined if unknown. */
export function gpuOf(name: string): Gpu | undefined {
  const plain = (text: string): string => text.toLowerCase().replace(/[\s_-]|^nvidia|geforce/g, '');
  return gpus.find((gpu) => plain(gpu.name) === plain(name));
}
