/**
 * Runs random kernels on the back ends of the interpreter and compares the resulting memory, the findings and the
 * number of executed instructions. `node machine-differential.ts SEED COUNT` prints the figures, and the kernels that
 * differ.
 */
import type { RunResult } from '../../src/interpreter/core/run-result.ts';
import type { GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { pathToFileURL } from 'node:url';
import type { Random } from '../../src/base/random.ts';
import type { RunRequest } from '../../src/interpreter/core/run-request.ts';
import { seededRandom } from '../../src/base/random.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { drawValue } from '../interpreter/webassembly/code/domain-values.ts';
import { counterElements, inputElements, mostThreads, ownBytes, randomMachineKernel } from './machine-kernel.ts';

export const backends = ['reference', 'javascript', 'webassembly'] as const;

export interface Difference {
  readonly seed: number;
  readonly text: string;
  readonly ptx: string;
}

export interface Outcome {
  readonly kernels: number;
  /** Kernels by outcome and findings. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Thread-instructions, of one back end. */
  readonly steps: number;
  readonly differences: readonly Difference[];
}

function buffer(name: string, bytes: number, draw: (element: number) => bigint): GlobalBuffer {
  const values = new Map(Array.from({ length: bytes / 4 }, (_, element) => [element, draw(element)]));
  return { name, bytes, elementBytes: 4, fill: 0n, values };
}

function requestOf(ptx: string, isRacy: boolean, random: Random): RunRequest {
  const { module, diagnostics } = parsePtx(ptx);
  const [kernel] = lowerModule(module).kernels;
  if (!kernel || diagnostics.length > 0) throw new Error(`cannot be read: ${JSON.stringify(diagnostics[0])}`);
  const block = random.pick([
    [32, 1, 1],
    [33, 1, 1],
    [8, 5, 1],
    [3, 4, 4],
    [mostThreads, 1, 1],
    [1, 1, 1],
  ] as const);
  const grid = random.pick([
    [1, 1, 1],
    [1, 1, 1],
    [2, 1, 1],
    [1, 2, 1],
  ] as const);
  const threads = block[0] * block[1] * block[2] * grid[0] * grid[1];
  const request: RunRequest = {
    kernel,
    block,
    grid,
    sharedBytes: 0,
    buffers: [
      buffer('input', 4 * inputElements, () => drawValue(random, 32) as bigint),
      buffer('own', threads * ownBytes, (element) => BigInt(element % 5)),
      buffer('counters', 6 * 4 * counterElements * 2, () => drawValue(random, 32) as bigint),
    ],
    arguments: [
      { kind: 'pointer', buffer: 0, offset: 0n },
      { kind: 'pointer', buffer: 1, offset: 0n },
      { kind: 'pointer', buffer: 2, offset: 0n },
      { kind: 'scalar', value: BigInt(random.below(4)) },
    ],
    steps: 400_000,
    detectRaces: random.chance(0.5) || isRacy,
  };
  return { ...request, buffers: request.buffers.map((each) => (random.chance(0.3) ? { ...each, bytes: null } : each)) };
}

/** Bytes that are compared of a buffer without end. */
const comparedBytes = 1 << 14;

/** Everything that a run shows, as text. Of a run that was cut off, why: back ends may run threads in another order. */
function summary(request: RunRequest, result: RunResult): string {
  const { outcome, steps, races, divergences, faults, havocs, brokenAssumptions } = result;
  if (outcome !== 'finished') return JSON.stringify({ outcome, kinds: faults.map((fault) => fault.kind) });
  const memory = request.buffers.map((_, index) =>
    Buffer.from(result.readBytes(index, 0, request.buffers[index]!.bytes ?? comparedBytes)).toString('hex'),
  );
  return JSON.stringify({ outcome, steps, races, divergences, faults, havocs, brokenAssumptions, memory });
}

/** The first difference of two texts. */
function firstDifference(a: string, b: string): string {
  let at = 0;
  while (a[at] === b[at]) at++;
  const cut = (text: string): string => text.slice(Math.max(0, at - 60), at + 60);
  return `at ${at}: …${cut(a)}… and …${cut(b)}…`;
}

/** Runs `count` kernels from seed `first` on. */
export function compareBackends(first: number, count: number): Outcome {
  const outcomes: Record<string, number> = {};
  const differences: Difference[] = [];
  let steps = 0;
  for (let seed = first; seed < first + count; seed++) {
    const random = seededRandom(seed);
    const { ptx, oddity } = randomMachineKernel(random);
    try {
      const request = requestOf(ptx, oddity === 'race', random);
      const [expected, ...others] = backends.map((backend) => {
        const result = runKernel({ ...request, backend });
        return { backend, result, text: summary(request, result) };
      });
      const { outcome, races, divergences, faults, steps: taken } = expected!.result;
      const found = new Set([...divergences, ...faults].map((event) => event.kind));
      const key = [outcome, ...(races.length > 0 ? ['race'] : []), ...found].join(' ');
      outcomes[key] = (outcomes[key] ?? 0) + 1;
      steps += taken;
      if (races.length > 0 && oddity !== 'race') differences.push({ seed, text: `races: ${JSON.stringify(races[0])}`, ptx });
      for (const other of others) {
        if (other.text === expected!.text) continue;
        const text = `${expected!.backend} and ${other.backend} ${firstDifference(expected!.text, other.text)}`;
        differences.push({ seed, text, ptx });
      }
    } catch (error) {
      differences.push({ seed, text: String(error instanceof Error ? error.stack : error), ptx });
    }
  }
  return { kernels: count, outcomes, steps, differences };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [first = '1', count = '5000'] = process.argv.slice(2);
  const { differences, ...figures } = compareBackends(Number(first), Number(count));
  for (const { seed, text, ptx } of differences.slice(0, 3)) console.log(`seed ${seed}: ${text}\n${ptx}`);
  console.log({ ...figures, differences: differences.length });
  process.exitCode = differences.length > 0 ? 1 : 0;
}
