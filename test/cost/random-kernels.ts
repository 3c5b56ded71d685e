/**
 * Random kernels, run: the count of the worst warp is never above the bound. `node test/cost/random-kernels.ts SEED COUNT`.
 */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { seededRandom } from '../../src/base/random.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { randomKernel } from '../fuzz/random-kernel.ts';
import { compareRun, emptyTally, type Tally, tallyText } from './compared-run.ts';

/** Generates kernels and runs each three times. Failures are followed by the source of the kernel. */
export function compareRandom(seed: number, count: number): Tally {
  const tally = emptyTally();
  for (let index = 0; index < count; index++) {
    const random = seededRandom(seed + index);
    const ptx = randomKernel(random);
    const kernel = lowerModule(parsePtx(ptx).module).kernels[0]!;
    const block: Dim3 = random.pick([
      [32, 1, 1],
      [64, 1, 1],
      [33, 1, 1],
      [8, 8, 1],
    ] as const);
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
      const values: Record<string, number> = { ...scalars, 'blockDim.x': block[0], 'gridDim.x': grid[0] };
      const known = tally.failures.length;
      compareRun(
        `seed ${seed + index}, block ${block.join(',')} grid ${grid.join(',')} n=${scalars.n} m=${scalars.m}`,
        { kernel, block, grid, sharedBytes: 0, buffers, arguments: given, steps: 300_000, detectRaces: true },
        bounds,
        (name) => (name in values ? BigInt(values[name]!) : undefined),
        tally,
      );
      if (tally.failures.length > known) tally.failures.push(ptx);
    }
  }
  return tally;
}

if (import.meta.filename === process.argv[1]) {
  const [seed = '1', count = '300'] = process.argv.slice(2);
  const tally = compareRandom(Number(seed), Number(count));
  console.log(tally.failures.slice(0, 10).join('\n'));
  console.log(tallyText(tally));
}
