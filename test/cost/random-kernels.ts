/**
 * Random kernels, run: the count of the worst warp is never above the bound. `node test/cost/random-kernels.ts SEED COUNT`.
 */
import { seededRandom } from '../../src/base/random.ts';
import { evaluate } from '../../src/cost/expression.ts';
import { print } from '../../src/cost/expression-text.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import { metrics } from '../../src/cost/metric.ts';
import { LaunchCounters } from '../../src/exec/counters.ts';
import type { Argument, Dim3, GlobalBuffer } from '../../src/exec/launch.ts';
import { runKernel } from '../../src/exec/machine.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { randomKernel } from '../fuzz/random-kernel.ts';
import { worstOf } from './counted-kernel.ts';

export interface RandomTally {
  readonly runs: number;
  readonly compared: number;
  readonly exact: number;
  readonly none: number;
  /** With the text of the kernel. */
  readonly failures: readonly { readonly text: string; readonly ptx: string }[];
}

/** Draws kernels and runs each three times. */
export function compareRandom(seed: number, count: number): RandomTally {
  const tally = { runs: 0, compared: 0, exact: 0, none: 0, failures: [] as { text: string; ptx: string }[] };
  for (let index = 0; index < count; index++) {
    const random = seededRandom(seed + index);
    const ptx = randomKernel(random);
    const kernel = lowerModule(parsePtx(ptx).module).kernels[0]!;
    const block: Dim3 = random.pick([[32, 1, 1], [64, 1, 1], [33, 1, 1], [8, 8, 1]] as const); // prettier-ignore
    const grid: Dim3 = [random.between(1, 3), 1, 1];
    const isAny = random.chance(0.3);
    const bounds = boundKernel({
      kernel,
      dimensions: isAny && block[1] === 1 ? { block: [null, 1, 1], grid: [null, 1, 1] } : { block, grid },
      sharedBytes: 0,
      declaredAs: (parameter) => (parameter < 2 ? 'pointer' : 'scalar'),
      parameterName: (parameter) => [null, null, 'n', 'm'][parameter] ?? null,
    });
    for (let run = 0; run < 3; run++) {
      const scalars = { n: random.pick([0, 1, 2, 5, 31, 32, 40, 64]), m: random.pick([0, 1, 3, 8, 33]) };
      const buffers = ['a', 'b'].map((name): GlobalBuffer => {
        const contents = Array.from({ length: 512 }, (_, element) => [element, BigInt(random.below(40))] as const);
        return { name, bytes: null, elementBytes: 4, fill: 0n, values: new Map(contents) };
      });
      const given: Argument[] = [
        { kind: 'pointer', buffer: 0, offset: 0n },
        { kind: 'pointer', buffer: 1, offset: 0n },
        { kind: 'scalar', value: BigInt(scalars.n) },
        { kind: 'scalar', value: BigInt(scalars.m) },
      ];
      const counters = new LaunchCounters();
      const request = { kernel, block, grid, sharedBytes: 0, buffers, arguments: given, steps: 300_000 };
      const { outcome, races, divergences } = runKernel({ ...request, detectRaces: true, observer: counters });
      if (outcome !== 'finished' || races.length > 0 || divergences.length > 0) continue;
      tally.runs++;
      const worst = worstOf(counters.warps);
      const values: Record<string, number> = { ...scalars, 'blockDim.x': block[0], 'gridDim.x': grid[0] };
      for (const metric of metrics) {
        const { bound } = bounds[metric];
        const value = bound && evaluate(bound, (name) => (name in values ? BigInt(values[name]!) : undefined));
        if (!value) {
          tally.none++;
          continue;
        }
        const most = Number(value.top) / Number(value.bottom);
        tally.compared++;
        if (most === worst[metric]) tally.exact++;
        if (most >= worst[metric]) continue;
        const launch = `block ${block.join(',')} grid ${grid.join(',')} n=${scalars.n} m=${scalars.m}`;
        const text = `seed ${seed + index}, ${launch}: ${metric} ${print(bound)} is ${most}, counted ${worst[metric]}`;
        tally.failures.push({ text, ptx });
      }
    }
  }
  return tally;
}

if (import.meta.filename === process.argv[1]) {
  const [seed = '1', count = '300'] = process.argv.slice(2);
  const { failures, ...tally } = compareRandom(Number(seed), Number(count));
  for (const { text } of failures) console.log(text);
  if (failures[0]) console.log(failures[0].ptx);
  console.log(JSON.stringify(tally), failures.length);
}
