/** An expected launch is matched only if the constraints leave no other value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JudgedLaunch, launchDifferences, parseLaunch } from './launch-expectation.ts';

const nothing = { race: {}, divergence: {} };
const at = (line: number): Pick<JudgedLaunch, 'location' | 'race' | 'divergence'> => ({
  ...nothing,
  location: { file: 'main.cu', line },
});

function isMet(text: string, ...launches: readonly JudgedLaunch[]): boolean {
  return launchDifferences(parseLaunch(text), launches).length === 0;
}

test('dimensions of a launch are compared exactly', () => {
  const launch = { ...at(7), block: [16, 16, 1], grid: [4, 1, 1], sharedBytes: 64, cooperative: true };
  assert.ok(isMet('main.cu:7 block=16,16 grid=4 shared=64 cooperative', launch));
  for (const text of [
    'main.cu:7 block=16,16 grid=4',
    'main.cu:8 block=16,16 grid=4 cooperative',
    'main.cu:7 block=16 cooperative',
    'main.cu:7 grid=4 shared=128 cooperative',
  ])
    assert.ok(!isMet(text, launch), text);
});

test('constraints determine a dimension only if they leave no other value', () => {
  const open = { ...at(7), block: [256, 1, 1], grid: null, cooperative: false };
  const text = 'main.cu:7 block=256 grid=4 where n=1000';
  const others = ['gridDim.y == 1', 'gridDim.z == 1'];
  assert.ok(isMet(text, { ...open, ties: ['gridDim.x == (n + 255) / 256', ...others] }));
  for (const ties of [
    [],
    others,
    ['gridDim.x == n / 256', ...others],
    ['gridDim.x >= (n + 255) / 256', ...others],
    ['gridDim.x == (n + 255) / 256'],
  ])
    assert.ok(!isMet(text, { ...open, ties }), ties.join());
});

test('a block may be determined by the cases of a condition', () => {
  const launch = {
    ...at(7),
    block: null,
    grid: null,
    cooperative: false,
    ties: ['blockDim.x == 64 || blockDim.x == 128', 'n < blockDim.x', 's >= 1'],
  };
  assert.ok(isMet('main.cu:7 permits blockDim.x=64', launch));
  assert.ok(isMet('main.cu:7 excludes blockDim.x=96', launch));
  assert.ok(isMet('main.cu:7 excludes blockDim.x=64,n=64', launch));
  assert.ok(isMet('main.cu:7 excludes s=0', launch));
  assert.ok(!isMet('main.cu:7 excludes blockDim.x=64,n=63', launch));
  assert.ok(!isMet('main.cu:7 permits blockDim.x=96', launch));
  assert.ok(!isMet('main.cu:7 excludes blockDim.x=96', launch, { ...launch, ties: [] }));
});

test('arguments are determined by constraints or assumptions of the proof, extents by constraints', () => {
  const launch = { ...at(7), block: null, grid: null, cooperative: false };
  const assumed = { race: { assumptions: [{ kind: 'launch', text: 'n = 1000' }] } };
  assert.ok(isMet('main.cu:7 args n=1000', { ...launch, ties: ['n == 1000'] }));
  assert.ok(isMet('main.cu:7 args n=1000', { ...launch, ...assumed }));
  assert.ok(!isMet('main.cu:7 args n=1000', { ...launch, ties: ['n <= 1000'] }));
  const extent = { ...launch, ties: ['extent(a) >= n + 1'] };
  assert.ok(isMet('main.cu:7 extent a=11 where n=10', extent));
  assert.ok(!isMet('main.cu:7 extent a=10 where n=10', extent));
  assert.ok(!isMet('main.cu:7 extent b=11 where n=10', extent));
});

test('malformed expectations are refused', () => {
  for (const text of ['main.cu block=1', 'main.cu:7 block=a', 'main.cu:7 where n', 'main.cu:7 args', 'main.cu:7 tall'])
    assert.throws(() => parseLaunch(text), text);
});
