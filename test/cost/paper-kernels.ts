/** The kernels of the paper with launches of at least ten sizes each. */
import { seededRandom } from '../../src/base/random.ts';
import type { Dimensions } from '../../src/analysis/values/launch-bounds.ts';
import type { CostRun } from './counted-kernel.ts';

export interface SizedRun extends CostRun {
  /** Values of the names in the bounds. */
  readonly names: Readonly<Record<string, number>>;
}

export interface PaperKernel {
  readonly name: string;
  /** By index: names of the integer parameters. */
  readonly parameters: readonly (string | null)[];
  readonly dimensions: Dimensions;
  readonly divisors?: Readonly<Record<string, bigint>>;
  readonly runs: readonly SizedRun[];
}

const line = (threads: number, blocks: number | null): Dimensions => ({
  block: [threads, 1, 1],
  grid: [blocks, 1, 1],
});

const big = (value: number): bigint => BigInt(value);

function matrices(name: string): PaperKernel {
  const sizes = Array.from({ length: 10 }, (_, index) => 32 * (index + 1));
  return {
    name,
    parameters: [null, null, null, 'n'],
    dimensions: { block: [32, 32, 1], grid: [null, null, 1] },
    divisors: { n: 32n },
    runs: sizes.map((n) => ({
      block: [32, 32, 1],
      grid: [n / 32, n / 32, 1],
      arguments: ['array', 'array', 'array', big(n)],
      blocks: [0],
      names: { n, 'gridDim.x': n / 32, 'gridDim.y': n / 32 },
    })),
  };
}

function reduction(name: string): PaperKernel {
  return {
    name,
    parameters: [null, null],
    dimensions: line(256, null),
    runs: Array.from({ length: 10 }, (_, index) => ({
      block: [256, 1, 1],
      grid: [index + 1, 1, 1],
      arguments: ['array', 'array'],
      names: { 'gridDim.x': index + 1 },
    })),
  };
}

function ofSizes(
  name: string,
  parameters: PaperKernel['parameters'],
  threads: number,
  sizes: readonly (Readonly<Record<string, number>> & { readonly blocks: number })[],
  more: Partial<PaperKernel> = {},
  contents: CostRun['arguments'][number] = 'array',
): PaperKernel {
  return {
    name,
    parameters,
    dimensions: line(threads, null),
    ...more,
    runs: sizes.map(({ blocks, ...names }) => ({
      block: [threads, 1, 1],
      grid: [blocks, 1, 1],
      arguments: parameters.map((parameter) => (parameter === null ? contents : big(names[parameter]!))),
      blocks: blocks > 1 ? [0, blocks - 1] : [0],
      names: { ...names, 'gridDim.x': blocks },
    })),
  };
}

const lengths = [1, 31, 32, 33, 64, 100, 256, 257, 1000, 1024, 4097];
const rows = [1, 2, 7, 8, 31, 32, 33, 64, 100, 129];

/** Bytes that all fall on one bank: the worst case of the histogram. */
const oneBank = new Uint8Array(1 << 16).fill(0x40);

export const paperKernels: readonly PaperKernel[] = [
  matrices('matMul'),
  matrices('matMulBad'),
  matrices('matMulTrans'),
  {
    name: 'mandelbrot',
    parameters: [null, 'width', 'limit'],
    dimensions: { block: [32, 1, 1], grid: [null, null, 1] },
    runs: [1, 5, 8, 16, 20, 31, 50, 64, 100, 128].map((limit, index) => ({
      block: [32, 1, 1],
      grid: [2 + index, 32, 1],
      arguments: ['array', big(64 + 32 * index), big(limit)],
      names: { width: 64 + 32 * index, limit, 'gridDim.x': 2 + index, 'gridDim.y': 32 },
    })),
  },
  ofSizes(
    'vectorAdd',
    [null, null, null, 'n'],
    256,
    lengths.map((n) => ({ n, blocks: Math.ceil(n / 256) })),
  ),
  ...['reduce0', 'reduce1', 'reduce2', 'reduce3', 'reduce2a', 'reduce3a'].map(reduction),
  ofSizes(
    'histogram',
    [null, null, 'n'],
    256,
    lengths.map((n) => ({ n, blocks: 2 })),
    {},
    oneBank,
  ),
  ...['addSub0', 'addSub1'].map((name) =>
    ofSizes(
      name,
      [null, null, 'w', 'h'],
      256,
      rows.map((w, index) => ({ w, h: 256 + 64 * index, blocks: 4 })),
    ),
  ),
  ...['addSub2', 'addSub3'].map((name) =>
    ofSizes(
      name,
      [null, null, 'w', 'h'],
      256,
      rows.map((h, index) => ({ w: 256 + 32 * index, h: 2 * h, blocks: 4 })),
      { divisors: { w: 8n } },
    ),
  ),
  ofSizes(
    'syntheticDivergence',
    [null, 'n'],
    64,
    rows.map((n) => ({ n, blocks: 1 })),
  ),
  ofSizes(
    'syntheticTriangle',
    [null, 'n'],
    64,
    rows.map((n) => ({ n, blocks: 1 })),
  ),
  ofSizes(
    'syntheticColumns',
    [null, 'n'],
    64,
    rows.map((n) => ({ n, blocks: 1 })),
  ),
  ofSizes(
    'syntheticStride',
    [null, null, 'n'],
    128,
    lengths.map((n) => ({ n, blocks: 2 })),
  ),
];

/** Random sizes. */
export function randomSizes(seed: number, count: number, most: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => 1 + random.below(most));
}
