import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import type { Dim3 } from '../../../src/base/dim3.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { kernelsOf } from '../../cost/counted-kernel.ts';
import { bytesOf, compare, footprintsOfKernel, instanceOf, touchedBytes } from './touched-bytes.ts';

const kernels = kernelsOf('test/idempotency/footprint/kernels.cu', 'production');

/** Kernels of rectangles of threads; the others have rows of them. */
const flat = new Set(['transpose', 'tiledTranspose', 'tiledMatmul', 'naiveMatmul', 'convolution']);
/** Kernels that can do nothing with many numbers in little time, or have 8 bytes that are no pointer. */
const numbersFrom: Readonly<Record<string, number>> = { gridStrideWide: 2, mixedWidths: 2 };

function drawnLaunch(name: string, kernel: Kernel, random: Random): Parameters<typeof touchedBytes>[1] {
  const size = (): number => random.between(1, 9);
  const block: Dim3 = flat.has(name) ? [size(), size(), 1] : [random.pick([1, 7, 32, 33, 64]), 1, 1];
  const grid: Dim3 = flat.has(name) ? [random.between(1, 3), random.between(1, 3), 1] : [random.between(1, 4), 1, 1];
  const most = name === 'convolution' ? 12 : 200;
  const number = (): bigint => BigInt(random.pick([random.between(-1, 4), random.between(0, most), random.between(0, most)])); // prettier-ignore
  const values = kernel.parameters.map(({ bytes, index }) =>
    bytes === 8 && index < (numbersFrom[name] ?? 8) ? ('array' as const) : number(),
  );
  return { grid, block, arguments: values, fill: BigInt(random.between(0, 50)) };
}

for (const [name, kernel] of kernels) {
  test(`launches of ${name} touch no byte outside its footprints, and all of those that are exact`, () => {
    const footprints = footprintsOfKernel(kernel);
    const random = seededRandom(7);
    for (let run = 0; run < 8; run++) {
      const launch = drawnLaunch(name, kernel, random);
      const { missed, untouched } = compare(kernel, footprints, touchedBytes(kernel, launch));
      const where = `grid ${launch.grid.join()}, block ${launch.block.join()}, arguments ${launch.arguments.join()}`;
      assert.deepEqual({ missed, untouched }, { missed: [], untouched: [] }, where);
    }
  });
}

test('the ranges of Figure 4 of PICKER', () => {
  const kernel = kernels.get('elemwiseRelu')!;
  const instance = instanceOf(kernel, { grid: [32, 1, 1], block: [32, 1, 1] }, [0x10000n, 0x20000n, 16n]);
  const bytes = { read: new Set<bigint>(), write: new Set<bigint>() };
  for (const { access, bytes: set } of footprintsOfKernel(kernel))
    for (const byte of bytesOf(set!, instance)!) bytes[access.operation === 'read' ? 'read' : 'write'].add(byte);
  const range = (set: ReadonlySet<bigint>): unknown => {
    const list = [...set].sort((a, b) => (a < b ? -1 : 1));
    return { low: list[0], high: list[list.length - 1], size: list.length };
  };
  assert.deepEqual(range(bytes.read), { low: 0x10000n, high: 0x1ffffn, size: 0x10000 });
  assert.deepEqual(range(bytes.write), { low: 0x20000n, high: 0x2ffffn, size: 0x10000 });
});
