import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import type { Dim3 } from '../../../src/base/dim3.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { isKnownToHold } from '../../../src/idempotency/validator/instance-condition.ts';
import { kernelsOf } from '../../cost/counted-kernel.ts';
import { bytesOf, compare, footprintsOfKernel, instanceOf, touchedBytes } from './touched-bytes.ts';

const kernels = kernelsOf('test/idempotency/footprint/kernels.cu', 'production');

/** Kernels with blocks of two dimensions; the others have one. */
const flat = new Set(['transpose', 'tiledTranspose', 'tiledMatmul', 'naiveMatmul', 'convolution']);
/** From this index on, parameters of 8 bytes are integers; with large values the kernels would run too long. */
const numbersFrom: Readonly<Record<string, number>> = { gridStrideWide: 2, mixedWidths: 2 };

function drawnLaunch(name: string, kernel: Kernel, random: Random): Parameters<typeof touchedBytes>[1] {
  const size = (): number => random.between(1, 9);
  const block: Dim3 = flat.has(name) ? [size(), size(), 1] : [random.pick([1, 7, 32, 33, 64]), 1, 1];
  const grid: Dim3 = flat.has(name) ? [random.between(1, 3), random.between(1, 3), 1] : [random.between(1, 4), 1, 1];
  const most = name === 'convolution' ? 12 : 200;
  const number = (): bigint => BigInt(random.pick([random.between(-1, 4), random.between(0, most), random.between(0, most)]));
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

test('the footprint of PICKER, Figure 4, has the published ranges', () => {
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

/** Bytes of the footprints of reads or writes of a kernel at a launch, as ranges from `start` on. */
function rangesOf(
  name: string,
  operation: 'read' | 'write',
  grid: Dim3,
  block: Dim3,
  values: readonly bigint[],
  start: bigint,
): [number, number][] {
  const kernel = kernels.get(name)!;
  const instance = instanceOf(kernel, { grid, block }, values);
  const bytes = new Set<bigint>();
  for (const { access, bytes: set, needs, root } of footprintsOfKernel(kernel)) {
    if (access.operation !== operation || root.kind !== 'parameter') continue;
    assert.ok(isKnownToHold(needs, instance));
    for (const byte of bytesOf(set!, instance)!) bytes.add(byte - start);
  }
  const ranges: [number, number][] = [];
  for (const byte of [...bytes].map(Number).sort((a, b) => a - b)) {
    const last = ranges[ranges.length - 1];
    if (last && last[1] === byte - 1) last[1] = byte;
    else ranges.push([byte, byte]);
  }
  return ranges;
}

const [a, b] = [0x10000n, 0x90000n];

test('a guard bounds the global index; an unsatisfiable guard gives an empty footprint', () => {
  assert.deepEqual(rangesOf('bytes', 'write', [4, 1, 1], [32, 1, 1], [a, b, 100n], b), [[0, 99]]);
  assert.deepEqual(rangesOf('bytes', 'write', [2, 1, 1], [32, 1, 1], [a, b, 100n], b), [[0, 63]]);
  assert.deepEqual(rangesOf('bytes', 'write', [2, 1, 1], [32, 1, 1], [a, b, 0n], b), []);
  assert.deepEqual(rangesOf('guarded', 'write', [2, 1, 1], [32, 1, 1], [a, b, 50n, 0n, 10n], b), []);
  assert.deepEqual(rangesOf('guarded', 'write', [2, 1, 1], [32, 1, 1], [a, b, 50n, 1n, 10n], b), [[40, 199]]);
});

test('even elements are distinguished from odd ones', () => {
  const writes = rangesOf('even', 'write', [1, 1, 1], [4, 1, 1], [a, b, 3n], b);
  const reads = rangesOf('even', 'read', [1, 1, 1], [4, 1, 1], [a, b, 3n], a);
  assert.deepEqual(writes, [
    [0, 3],
    [8, 11],
    [16, 19],
  ]);
  assert.deepEqual(reads, [
    [4, 7],
    [12, 15],
    [20, 23],
  ]);
});

test('unrolled loops over rows stay in the rows', () => {
  for (const columns of [1, 5, 32, 33, 100, 130, 259])
    assert.deepEqual(
      rangesOf('rowSum', 'read', [2, 1, 1], [64, 1, 1], [a, b, 3n, BigInt(columns)], a),
      [[0, 12 * columns - 1]],
      `${columns} columns`,
    );
});

test('a division by a constant is recognised', () => {
  assert.deepEqual(rangesOf('moduloTen', 'read', [2, 1, 1], [32, 1, 1], [a, b, 50n], a), [[0, 39]]);
  assert.deepEqual(rangesOf('moduloTen', 'read', [2, 1, 1], [32, 1, 1], [a, b, 6n], a), [[0, 23]]);
});

test('matrices with partial tiles are touched up to their last rows and columns', () => {
  const values = [a, b, 0xf0000n, 20n, 30n, 40n];
  assert.deepEqual(rangesOf('tiledMatmul', 'write', [2, 2, 1], [16, 16, 1], values, 0xf0000n), [[0, 2399]]);
});

test('footprints assume that no index wraps around and no address exceeds 64 bits', () => {
  const kernel = kernels.get('vectorAdd')!;
  const needs = footprintsOfKernel(kernel).map((footprint) => footprint.needs);
  const at = (grid: number, pointer: bigint, n = 100n): boolean[] => {
    const instance = instanceOf(kernel, { grid: [grid, 1, 1], block: [1024, 1, 1] }, [pointer, pointer, pointer, n]);
    return needs.map((need) => isKnownToHold(need, instance));
  };
  assert.deepEqual(at(1, a), [true, true, true]);
  assert.deepEqual(at(1 << 22, a), [false, false, false]);
  assert.deepEqual(at(1, (1n << 64n) - 400n), [true, true, true]);
  assert.deepEqual(at(1, (1n << 64n) - 396n), [false, false, false]);
});
