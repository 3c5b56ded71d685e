import type { ParameterSource } from '../../../src/launch/parameter-source.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionsOf, namedScalar, pinnedScalar, scalarBounds } from '../../../src/check/premises/premises.ts';
import { parseAssumption } from '../../../src/cuda/assumptions/assumption-parser.ts';

const parameters: ParameterSource[] = [
  { name: 'n', type: 'int' },
  { name: 'u', type: 'unsigned int' },
  { name: 'scale', type: 'float' },
  {
    name: 'v',
    type: 'View',
    fields: [
      { name: 'data', offset: 0, type: 'float *' },
      { name: 'inner.width', offset: 8, type: 'int' },
      { name: 'ratio', offset: 12, type: 'float' },
    ],
  },
  { name: 'opaque', type: 'Opaque' },
];

function conditions(...texts: string[]) {
  return conditionsOf(
    texts.map((text) => {
      const parsed = parseAssumption(text);
      if ('error' in parsed) assert.fail(`${text}: ${parsed.error}`);
      return { expression: parsed.expression, text };
    }),
  );
}
const pinned = (index: number, offset: number, bytes: number, ...texts: string[]): bigint | undefined =>
  pinnedScalar(conditions(...texts), parameters, index, offset, bytes);

test('a name stands for a whole number of the kernel', () => {
  const place = (...path: string[]) => {
    const found = namedScalar(parameters, path);
    return found && [found.index, found.offset];
  };
  assert.deepEqual(place('n'), [0, 0]);
  assert.deepEqual(place('v', 'inner', 'width'), [3, 8]);
  assert.deepEqual(place('param3', 'inner', 'width'), [3, 8]);
  assert.deepEqual(place('param9'), [9, 0], 'PTX without source');
  assert.equal(place('v'), null, 'a struct is no number');
  assert.equal(place('v', 'width'), null);
  assert.equal(place('opaque', 'width'), null);
  assert.equal(place('scale'), null, 'the bits of a float are no number');
  assert.equal(place('v', 'ratio'), null);
  assert.equal(place('m'), null);
});

test('assumptions pin a scalar where they leave one value', () => {
  assert.equal(pinned(0, 0, 4, 'n == 64'), 64n);
  assert.equal(pinned(0, 0, 4, 'n == -1'), 0xffffffffn);
  assert.equal(pinned(0, 0, 4, 'n > 2 && 4 > n'), 3n);
  assert.equal(pinned(0, 0, 4, '2 * 8 <= n', 'n <= warpSize / 2'), 16n);
  assert.equal(pinned(1, 0, 4, 'u <= 0'), 0n, 'an unsigned number is at least 0');
  assert.equal(pinned(0, 0, 4, 'n <= 0'), undefined);
  assert.equal(pinned(0, 0, 4, 'n == 4 || n == 5'), undefined);
  assert.equal(pinned(0, 0, 4, 'n == 4', 'n == 5'), undefined);
  assert.equal(pinned(0, 0, 4, 'n == u'), undefined);
  assert.equal(pinned(3, 8, 4, 'v.inner.width == 7'), 7n);
  assert.equal(pinned(3, 0, 4, 'v.inner.width == 7'), undefined);
});

test('an assumption says nothing of a part of a number, of several at once, or of the bits of a float', () => {
  assert.equal(pinned(0, 0, 2, 'n == 64'), undefined);
  assert.equal(pinned(3, 8, 8, 'v.inner.width == 7'), undefined);
  assert.equal(pinned(2, 0, 4, 'scale == 1'), undefined);
  assert.equal(pinned(3, 12, 4, 'v.ratio == 1'), undefined);
  const { low, high } = scalarBounds(conditions('v.inner.width <= 7'), parameters, 3, 8, 8);
  assert.deepEqual([low, high], [-(1n << 63n), (1n << 63n) - 1n]);
});
