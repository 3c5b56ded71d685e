/** Kernels of a given number of accesses, to measure how the time of the analysis grows with it. */
import type { Options } from '../../src/settings/options.ts';

/** Accesses of a kernel; each is twice the one before. */
export const accessCounts = [10, 20, 40, 80, 160, 320, 640] as const;

export interface Family {
  readonly name: string;
  readonly options: Partial<Options>;
  /** CUDA of the kernel with this number of accesses (even), all of which have to be proved disjoint. */
  readonly source: (accesses: number) => string;
}

export const families: readonly Family[] = [
  {
    name: 'one interval: each thread writes and reads its own elements of shared memory, 64 threads',
    options: { block: [64, 1, 1], grid: [4, 1, 1] },
    source: (accesses) =>
      kernel([
        `extern __shared__ int tile[];`,
        `int* mine = tile + threadIdx.x * ${accesses / 2};`,
        ...statements(accesses / 2, (index) => `mine[${index}] = value + ${index};`),
        ...statements(accesses / 2 - 1, (index) => `value += mine[${index}];`),
      ]),
  },
  {
    name: 'one interval: each thread writes and reads its own elements of global memory, any launch',
    options: {},
    source: (accesses) =>
      kernel([
        `int* mine = data + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * ${accesses / 2};`,
        ...statements(accesses / 2, (index) => `mine[${index}] = value + ${index};`),
        ...statements(accesses / 2 - 1, (index) => `value += mine[${index}];`),
      ]),
  },
  {
    name: 'a barrier after each access: a ring of 64 elements of shared memory',
    options: { block: [64, 1, 1], grid: [4, 1, 1] },
    source: (accesses) =>
      kernel([
        `__shared__ int tile[64];`,
        ...statements(accesses / 2, (index) =>
          index === 0
            ? 'tile[threadIdx.x] = value; __syncthreads();'
            : `value += tile[(threadIdx.x + ${index}) % 64]; __syncthreads(); tile[threadIdx.x] = value; __syncthreads();`,
        ),
      ]),
  },
];

/**
 * A ring of 64 elements of shared memory with a barrier after each access, some of which are missing.
 * @param candidates - places of barriers, existing or possible
 * @param missing - number of omitted barriers, spread over the kernel
 */
export function manyBarriers(candidates: number, missing: number): string {
  // An access has a candidate before it, and an existing barrier two, one of them before it.
  const accesses = missing === Infinity ? candidates - 4 : Math.round((candidates - 4 + 2 * missing) / 3);
  const step = accesses / (missing + 1);
  const left = new Set(Array.from({ length: Math.min(missing, accesses) }, (_, at) => Math.floor((at + 1) * step)));
  const body = statements(accesses, (index) => {
    const access = index % 2 === 0 ? `tile[threadIdx.x] = value + ${index};` : `value += tile[(threadIdx.x + ${index}) % 64];`;
    return missing === Infinity || left.has(index) ? access : `${access} __syncthreads();`;
  });
  return `// selvage: block=64 grid=1\n${kernel(['__shared__ int tile[64];', ...body])}`;
}

/** The last access is the write of the result. */
function kernel(body: readonly string[]): string {
  return [
    'extern "C" __global__ void accesses(int* data, int* result) {',
    'int value = threadIdx.x;',
    ...body,
    'result[blockIdx.x * blockDim.x + threadIdx.x] = value;',
    '}',
    '',
  ].join('\n');
}

function statements(count: number, statement: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => statement(index));
}
