/** Generated contents of runs and the command line that reproduces them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type GeneratedContents,
  generatedNumbers,
  drawnOf,
  drawnText,
  trailingValue,
  pointersIn,
} from '../../src/check/representative/contents.ts';

const all: readonly GeneratedContents[] = [
  { kind: 'indices', seed: 7, count: 64, below: 10 },
  { kind: 'ordinal', seed: 7, count: 64, below: 10 },
  { kind: 'ascending', seed: 7, count: 64, step: 3, least: 0 },
  { kind: 'mixed', seed: 7, count: 64 },
  { kind: 'sparse', seed: 7, count: 64 },
  { kind: 'pointers', seed: 0, count: 64, size: 100, period: 24, numbersAt: [16] },
];

test('a command line reproduces generated contents', () => {
  for (const drawn of all) {
    const [, kind = '', numbers = ''] = /^(\w+)\((.*)\)$/.exec(drawnText(drawn)) ?? [];
    const again = drawnOf(kind, numbers.split(',').map(Number));
    assert.deepEqual(again, drawn);
  }
  assert.equal(drawnOf('indices', [1, 64]), undefined);
  assert.equal(drawnOf('ascending', [1, 64, -1, 0]), undefined);
  assert.equal(drawnOf('anything', [1, 64]), undefined);
});

test('generated bounds ascend to the last element and beyond', () => {
  const bounds = { kind: 'ascending', seed: 3, count: 64, step: 3, least: 0 } as const;
  const numbers = generatedNumbers(bounds, 'int32');
  assert.ok(numbers.every((value, at) => at === 0 || value >= numbers[at - 1]!));
  assert.equal(trailingValue(bounds, 'int32'), numbers.at(-1));
});

test('generated integers respect their bounds if the kernel has pointers', () => {
  const structs = { kind: 'pointers', seed: 0, count: 6, size: 9, period: 24, numbersAt: [16] } as const;
  assert.deepEqual(pointersIn(structs), [0, 1, 3, 4]);
});
