/**
 * The interpreter: thread-instructions a second on kernels of the test suite, and the cost of the race detector.
 * `npm run bench -- machine [WORD…]`. A row is one build of a kernel. Each run is timed as a whole: laying out and
 * filling memory, generating missing code, running, the detector's tables. `first` is the first run in the process, the
 * others are the best of several. The exit code is 1 if a limit is exceeded.
 */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { RunResult } from '../../src/interpreter/core/run-result.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { RunRequest } from '../../src/interpreter/core/run-request.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

/** Median rate without the detector, in million thread-instructions a second. */
const leastRate = 400;
/** Slowdown by the detector: median, and of any row. */
const mostMedianSlowdown = 3;
const mostSlowdown = 10;
/** A vector add of a million threads with the detector on, from the PTX text on, in milliseconds. */
const mostVectorAddTime = 1000;

const { values, positionals } = parseArgs({
  options: { repetitions: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const repetitions = Number(values.repetitions);

interface Workload {
  readonly file: string;
  readonly kernel: string;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly buffers: readonly GlobalBuffer[];
  readonly scalars: readonly bigint[];
}

function words(name: string, count: number, value: (index: number) => number): GlobalBuffer {
  const contents = Uint32Array.from({ length: count }, (_, index) => value(index));
  return buffer(name, new Uint8Array(contents.buffer), 4);
}

function floats(name: string, count: number, value: (index: number) => number): GlobalBuffer {
  return buffer(name, new Uint8Array(Float32Array.from({ length: count }, (_, index) => value(index)).buffer), 4);
}

function bytes(name: string, count: number, value: (index: number) => number): GlobalBuffer {
  return buffer(
    name,
    Uint8Array.from({ length: count }, (_, index) => value(index)),
    1,
  );
}

function buffer(name: string, initial: Uint8Array, elementBytes: number): GlobalBuffer {
  return { name, bytes: initial.length, elementBytes, fill: 0n, values: new Map(), initial };
}

const scrambled = (index: number): number => Math.imul(index ^ (index >>> 7), 0x9e3779b1) >>> 8;

const million = 1 << 20;
const vectorAdd: Workload = {
  file: 'vector-add',
  kernel: 'vector_add',
  block: [256, 1, 1],
  grid: [million / 256, 1, 1],
  buffers: [floats('a', million, Number), floats('b', million, (i) => 2 * i), floats('c', million, () => 0)],
  scalars: [BigInt(million)],
};

const workloads: readonly Workload[] = [
  {
    file: 'matmul-tiled',
    kernel: 'matmul',
    block: [16, 16, 1],
    grid: [16, 16, 1],
    buffers: [floats('A', 65536, (i) => i % 7), floats('B', 65536, (i) => i % 5), floats('C', 65536, () => 0)],
    scalars: [256n],
  },
  {
    file: 'reduction-halving',
    kernel: 'reduce',
    block: [256, 1, 1],
    grid: [2048, 1, 1],
    buffers: [floats('in', 2048 * 256, (i) => i % 9), floats('out', 2048, () => 0)],
    scalars: [2048n * 256n],
  },
  {
    file: 'reduction-shuffle',
    kernel: 'block_sum',
    block: [256, 1, 1],
    grid: [2048, 1, 1],
    buffers: [floats('in', 2048 * 256, (i) => i % 9), floats('out', 2048, () => 0)],
    scalars: [],
  },
  {
    file: 'transpose-padded',
    kernel: 'transpose',
    block: [32, 8, 1],
    grid: [32, 32, 1],
    buffers: [floats('in', million, Number), floats('out', million, () => 0)],
    scalars: [1024n],
  },
  vectorAdd,
  {
    file: 'bitonic-sort',
    kernel: 'bitonic_sort',
    block: [256, 1, 1],
    grid: [256, 1, 1],
    buffers: [words('data', 65536, scrambled)],
    scalars: [],
  },
  {
    file: 'histogram-atomics',
    kernel: 'histogram',
    block: [256, 1, 1],
    grid: [64, 1, 1],
    buffers: [bytes('data', million, scrambled), words('bins', 256, () => 0)],
    scalars: [BigInt(million)],
  },
  {
    file: 'histogram-atomics',
    kernel: 'histogram_shared',
    block: [256, 1, 1],
    grid: [64, 1, 1],
    buffers: [bytes('data', million, scrambled), words('bins', 256, () => 0)],
    scalars: [BigInt(million)],
  },
];

function kernelOf({ file, kernel }: Workload, build: string): Kernel {
  const path = new URL(`../kernels/race/${file}${build}.ptx`, import.meta.url);
  const { kernels } = lowerModule(parsePtx(readFileSync(path, 'utf8')).module);
  const found = kernels.find(({ symbol }) => symbol.includes(`${kernel.length}${kernel}P`));
  if (!found) throw new Error(`no kernel ${kernel} in ${path.pathname}`);
  return found;
}

function requestOf(kernel: Kernel, workload: Workload, detectRaces: boolean): RunRequest {
  const { block, grid, buffers, scalars } = workload;
  const values: readonly Argument[] = [
    ...buffers.map((_, index): Argument => ({ kind: 'pointer', buffer: index, offset: 0n })),
    ...scalars.map((value): Argument => ({ kind: 'scalar', value })),
  ];
  return {
    kernel,
    block,
    grid,
    sharedBytes: 0,
    buffers,
    arguments: values,
    steps: 1e12,
    detectRaces,
    backend: 'webassembly',
  };
}

interface Timed {
  readonly time: number;
  readonly result: RunResult;
}

function timed(request: RunRequest): Timed {
  const started = performance.now();
  const result = runKernel(request);
  const time = performance.now() - started;
  if (result.outcome !== 'finished' || result.races.length > 0 || result.divergences.length > 0) {
    throw new Error(`${request.kernel.symbol}: ${result.outcome}, ${result.races.length} races`);
  }
  return { time, result };
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function line(first: string, ...cells: readonly (string | number)[]): void {
  console.log(first.padEnd(32) + cells.map((cell) => String(cell).padStart(12)).join(''));
}

/** The first time and the best of the repetitions. */
function measure(request: RunRequest): { readonly first: number; readonly best: number; readonly result: RunResult } {
  const { time: first, result } = timed(request);
  let best = first;
  for (let repetition = 1; repetition < repetitions; repetition++) best = Math.min(best, timed(request).time);
  return { first, best, result };
}

{
  // Before the first warm-up
  const started = performance.now();
  const kernel = kernelOf(vectorAdd, '');
  const { result } = timed(requestOf(kernel, vectorAdd, true));
  const time = performance.now() - started;
  console.log(`vector add, ${million} threads, detector on, PTX to result: ${time.toFixed(0)} ms (${result.steps} thread-instructions)\n`);
  if (time > mostVectorAddTime) process.exitCode = 1;
}

const rates: number[] = [];
const slowdowns: number[] = [];
line('kernel, build', 'M steps', 'first M/s', 'best M/s', 'detector M/s', 'slowdown', 'shadow B');
for (const workload of workloads) {
  if (positionals.slice(1).length > 0 && !positionals.slice(1).some((word) => workload.file.includes(word))) continue;
  for (const [build, name] of [
    ['', 'verification'],
    ['.production', 'production'],
  ] as const) {
    const kernel = kernelOf(workload, build);
    const off = measure(requestOf(kernel, workload, false));
    const on = measure(requestOf(kernel, workload, true));
    const { steps } = off.result;
    const rate = (time: number): string => (steps / time / 1000).toFixed(0);
    rates.push(steps / off.best / 1000);
    slowdowns.push(on.best / off.best);
    const shadow = [...new Set(on.result.shadow?.map(({ bytesPerLocation }) => bytesPerLocation))].join();
    line(
      `${workload.kernel}, ${name}`,
      (steps / 1e6).toFixed(1),
      rate(off.first),
      rate(off.best),
      rate(on.best),
      (on.best / off.best).toFixed(2),
      shadow,
    );
  }
}
const rate = median(rates);
const slowdown = median(slowdowns);
console.log(
  `\nmedian of ${rates.length}: ${rate.toFixed(0)} M thread-instructions/s (least ${leastRate}), ` +
    `slowdown with the detector ${slowdown.toFixed(2)} (most ${mostMedianSlowdown}), ` +
    `greatest ${Math.max(...slowdowns).toFixed(2)} (most ${mostSlowdown}); best of ${repetitions}, ${process.version}`,
);
if (!(rate >= leastRate && slowdown <= mostMedianSlowdown && Math.max(...slowdowns) <= mostSlowdown)) {
  process.exitCode = 1;
}
