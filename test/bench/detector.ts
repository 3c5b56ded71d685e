/**
 * The race detector where more than whole barriers orders accesses: locks, tickets, counters of blocks, union-find.
 * `npm run bench -- detector [WORD…]`. A row is a kernel of `test/interpreter` in a larger launch, in millions of
 * thread-instructions a second of CPU time, best of several runs.
 */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/base/random.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import { loadKernels } from '../interpreter/machine-kernels.ts';

const { values, positionals } = parseArgs({
  options: { repetitions: { type: 'string', default: '3' } },
  allowPositionals: true,
});

interface Workload {
  readonly file: string;
  readonly kernel: string;
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Buffers, and numbers for scalars. */
  readonly given: readonly (GlobalBuffer | number)[];
}

function words(name: string, count: number, value: (index: number) => number = () => 0): GlobalBuffer {
  const contents = Int32Array.from({ length: count }, (_, index) => value(index));
  return {
    name,
    bytes: 4 * count,
    elementBytes: 4,
    fill: 0n,
    values: new Map(),
    initial: new Uint8Array(contents.buffer),
  };
}

const vertices = 4096;
const degree = 4;
const random = seededRandom(1);
const graph = [
  words('offsets', vertices + 1, (vertex) => degree * vertex),
  words('targets', degree * vertices, () => random.below(vertices)),
];

const workloads: readonly Workload[] = [
  {
    file: 'handover/last-block',
    kernel: 'last_block',
    block: [64, 1, 1],
    grid: [2048, 1, 1],
    given: [words('in', 64 * 2048, (index) => index % 7), words('partial', 2048), words('retired', 1), words('out', 1)],
  },
  {
    file: 'handover/spin-lock',
    kernel: 'lock_every_thread',
    block: [256, 1, 1],
    grid: [32, 1, 1],
    given: [words('lock', 1), words('counter', 1)],
  },
  {
    file: 'handover/spin-lock',
    kernel: 'lock_fenced',
    block: [32, 1, 1],
    grid: [4096, 1, 1],
    given: [words('lock', 1), words('counter', 1)],
  },
  {
    file: 'handover/ticket-lock',
    kernel: 'ticket_fenced',
    block: [32, 1, 1],
    grid: [4096, 1, 1],
    given: [words('next', 1), words('serving', 1), words('log', 4096), words('count', 1)],
  },
  {
    file: 'handover/back-off',
    kernel: 'back_off_lock',
    block: [32, 1, 1],
    grid: [4096, 1, 1],
    given: [words('lock', 1), words('total', 2)],
  },
  {
    file: 'graph/path-compression',
    kernel: 'union_thread',
    block: [128, 1, 1],
    grid: [vertices / 128, 1, 1],
    given: [...graph, words('parent', vertices, Number), vertices],
  },
  {
    file: 'graph/path-compression',
    kernel: 'union_warp',
    block: [128, 1, 1],
    grid: [vertices / 4, 1, 1],
    given: [...graph, words('parent', vertices, Number), vertices],
  },
];

for (const { file, kernel: name, block, grid, given } of workloads) {
  const isAsked = positionals.slice(1).every((word) => `${file} ${name}`.includes(word));
  if (!isAsked) continue;
  const kernel = loadKernels(`test/interpreter/${file}.cu`, 'verification').find(({ symbol }) =>
    symbol.includes(`${name.length}${name}P`),
  )!;
  const buffers = given.filter((each) => typeof each !== 'number');
  const request = {
    kernel,
    block,
    grid,
    sharedBytes: 0,
    buffers,
    arguments: given.map((each) =>
      typeof each === 'number'
        ? ({ kind: 'scalar', value: BigInt(each) } as const)
        : ({ kind: 'pointer', buffer: buffers.indexOf(each), offset: 0n } as const),
    ),
    steps: 1e12,
    backend: 'webassembly',
  } as const;
  const rates = [true, false].map((detectRaces) => {
    let best = 0;
    for (let repetition = 0; repetition < Number(values.repetitions); repetition++) {
      const before = process.cpuUsage();
      const result = runKernel({ ...request, detectRaces });
      const { user, system } = process.cpuUsage(before);
      if (result.outcome !== 'finished' || result.races.length > 0) throw new Error(`${name}: ${result.outcome}`);
      best = Math.max(best, result.steps / (user + system));
      if (repetition === 0 && detectRaces) process.stdout.write(`${(result.steps / 1e6).toFixed(2).padStart(8)} M `);
    }
    return best;
  });
  console.log(`${name.padEnd(20)} ${rates[0]!.toFixed(2).padStart(8)} M/s, without the detector ${rates[1]!.toFixed(0).padStart(5)} M/s`);
}
