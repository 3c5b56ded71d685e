import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runKernel } from '../../src/interpreter/machine.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { verifyKernel } from './form/verify.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

const folder = new URL('builds/', import.meta.url);
const expected = JSON.parse(readFileSync(new URL('expected.json', folder), 'utf8')) as Record<string, number[]>;

const words = 256;
const input = new Map(
  Array.from({ length: words }, (_, i) => {
    const value = Math.imul(i, 2654435761) ^ (i << 3) ^ (i % 3 === 0 ? i : 0);
    return [i, BigInt(value >>> 0)];
  }),
);

for (const build of ['verification', 'production']) {
  const name = `kernels.${build}.ptx`;
  const { module } = parsePtx(readFileSync(new URL(name, folder), 'utf8'), name);
  const { kernels } = lowerModule(module, { abstractMathematics: false });
  for (const symbol of Object.keys(expected)) {
    test(`${symbol}, ${build} build, computes the results of the source`, () => {
      const kernel = kernels.find((candidate) => candidate.symbol === symbol);
      assert.ok(kernel);
      verifyKernel(kernel);
      assert.deepEqual(kernel.unsupported, []);
      const result = runKernel({
        kernel,
        block: [64, 1, 1],
        grid: [4, 1, 1],
        sharedBytes: 0,
        buffers: [{ name: 'data', bytes: 4 * words, elementBytes: 4, fill: 0n, values: input }],
        arguments: [
          { kind: 'pointer', buffer: 0, offset: 0n },
          { kind: 'scalar', value: 37n },
        ],
        steps: 10_000_000,
        detectRaces: true,
      });
      assert.deepEqual([result.outcome, result.races, result.faults, result.havocs], ['finished', [], [], []]);
      const output = Array.from({ length: words }, (_, i) => Number(result.read(0, 4 * i, 4)));
      assert.deepEqual(output, expected[symbol]);
    });
  }
}
