/** The classes of kernels on both sides of each rule, and their conditions at concrete launches. */
import { earlierEnded } from '../../src/check/stable-memory.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Classification, classify } from '../../src/idempotency/classify.ts';
import type { KernelProofs } from '../../src/idempotency/race-freedom.ts';
import { isKnownToHold } from '../../src/idempotency/validator/instance-condition.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { ParameterSource } from '../../src/launch/parameter-source.ts';
import { definedKernels } from '../interpreter/machine-kernels.ts';

const folder = new URL('./classes/', import.meta.url);
const source = readFileSync(new URL('classes.cu', folder), 'utf8');
const { module } = parsePtx(readFileSync(new URL('classes.production.ptx', folder), 'utf8'));
const kernels = new Map(lowerModule(module).kernels.map((kernel) => [kernel.symbol.replace(/^_Z\d+/, ''), kernel]));
const parameters = definedKernels(source);

function kernelNamed(name: string): Kernel {
  const found = [...kernels].find(([symbol]) => new RegExp(`^${name}(?=P|V|$)`).test(symbol));
  assert.ok(found, name);
  return found[1];
}

type Assumptions = KernelProofs['race']['assumptions'];

function classOf(
  name: string,
  assumptions: Assumptions = [],
  declared: readonly ParameterSource[] = parameters.get(name)!,
): Classification {
  const bounds = { kind: 'in-bounds', text: 'every index stays in its array' } as const;
  return classify({
    kernel: kernelNamed(name),
    module,
    parameters: declared,
    objectName: (symbol) => symbol,
    checked: {
      race: { verdict: 'proved', assumptions: [bounds, ...assumptions] },
      divergence: { verdict: 'proved', assumptions: [] },
    },
    stated: [],
  });
}

interface Launched {
  readonly args: readonly (number | bigint)[];
  readonly block?: readonly [number, number, number];
  readonly grid?: readonly [number, number, number];
  readonly dynamicShared?: number;
}

/** Whether a launch satisfies the condition of a class; arguments of 8 bytes are pointers. */
function meets(name: string, { condition }: Classification, launched: Launched): boolean {
  const { args, block = [64, 1, 1], grid = [4, 1, 1], dynamicShared = 0 } = launched;
  const view = new DataView(new ArrayBuffer(256));
  const offsets: number[] = [];
  let at = 0;
  kernelNamed(name).parameters.forEach(({ bytes, alignment }, index) => {
    at = Math.ceil(at / alignment) * alignment;
    offsets.push(at);
    if (bytes === 8) view.setBigUint64(at, BigInt(args[index]!), true);
    else view.setInt32(at, Number(args[index]), true);
    at += bytes;
  });
  return isKnownToHold(condition, { arguments: new Uint8Array(view.buffer), offsets, block, grid, dynamicShared });
}

for (const [, name, expected, reason] of source.matchAll(/^\/\/ class: (\w+) (\S+)(?: (\S+))?$/gm)) {
  test(`${name} is ${expected}`, () => {
    const found = classOf(name!);
    assert.equal(found.class, expected, JSON.stringify(found.reasons));
    if (reason)
      assert.ok(
        found.reasons.some(({ kind }) => kind === reason),
        JSON.stringify(found.reasons),
      );
    if (expected === 'undecided') assert.ok(found.reasons.length > 0);
    for (const { locations } of found.reasons) assert.ok(locations.length > 0);
  });
}

const far = 1n << 32n;

test('a vector sum may be repeated unless its result overlaps its operands', () => {
  const found = classOf('vectorAdd');
  assert.deepEqual(
    found.overlaps.map(({ written, read }) => [written, read]),
    [['a', ['b', 'c']]],
  );
  const at = (a: bigint, n = 256): boolean => meets('vectorAdd', found, { args: [a, far, 2n * far, n] });
  assert.ok(at(4n * far));
  assert.ok(at(far - 1024n));
  assert.ok(!at(far));
  assert.ok(!at(far - 1023n));
  assert.ok(!at(far + 1023n));
  assert.ok(at(far + 1024n));
  // Fewer elements than threads, and none.
  assert.ok(at(far + 40n, 10));
  assert.ok(!at(far + 36n, 10));
  assert.ok(at(far, 0));
});

test('a location read before its write is a candidate for a witness, and so is an atomic', () => {
  assert.deepEqual(
    classOf('vectorInc').candidate.map(({ kind }) => kind),
    ['read-then-write'],
  );
  assert.deepEqual(
    classOf('count').candidate.map(({ kind }) => kind),
    ['atomic'],
  );
  assert.deepEqual(classOf('vectorAdd').candidate, []);
});

test('an in-place map may write to the address that it reads', () => {
  const copied = classOf('copy');
  assert.ok(meets('copy', copied, { args: [far, far, 256] }));
  assert.ok(!meets('copy', copied, { args: [far + 4n, far, 256] }));
});

test('even elements may be written from odd ones, under any launch', () => {
  assert.ok(meets('evenFromOdd', classOf('evenFromOdd'), { args: [far] }));
});

test('a byte written by a thread must not overlap the word that it read', () => {
  const found = classOf('byteBesideOwnWord');
  const at = (k: number): boolean => meets('byteBesideOwnWord', found, { args: [far, k], grid: [1, 1, 1] });
  assert.deepEqual([-2, -1, 0, 3, 4, 5].filter(at), [-2, -1, 4, 5]);
});

test('shared memory has to be written by blocks of the launched shape', () => {
  const found = classOf('product');
  const at = (x: number, y: number): boolean =>
    meets('product', found, { args: [far, 2n * far, 3n * far, 40], block: [x, y, 1], grid: [3, 3, 1] });
  assert.ok(at(16, 16));
  assert.ok(!at(16, 8));
  assert.ok(!at(8, 8));
  const summed = classOf('sum');
  const sum = (x: number, bytes: number): boolean =>
    meets('sum', summed, { args: [far, 2n * far, 1000], block: [x, 1, 1], dynamicShared: bytes });
  assert.ok(sum(128, 512));
  assert.ok(!sum(128, 508));
});

test('an element written again after a barrier must be written before in blocks of that shape', () => {
  const found = classOf('writtenFirstAndAgain');
  assert.ok(meets('writtenFirstAndAgain', found, { args: [far], block: [64, 1, 1], grid: [1, 1, 1] }));
  // The last thread of 65 reads the element of a missing neighbour.
  assert.ok(!meets('writtenFirstAndAgain', found, { args: [far], block: [65, 1, 1], grid: [1, 1, 1] }));
});

test('assumptions of a proof about the launch are part of the condition', () => {
  const at = (assumptions: Assumptions, n: number, block: readonly [number, number, number] = [64, 1, 1]): boolean =>
    meets('vectorSet', classOf('vectorSet', assumptions), { args: [far, n], block });
  assert.ok(at([{ kind: 'launch', text: 'blockDim.y = 1' }], 5));
  assert.ok(!at([{ kind: 'launch', text: 'blockDim.y = 1' }], 5, [64, 2, 1]));
  assert.ok(at([{ kind: 'launch', text: 'blockDim = (64, 1, 1)' }], 5));
  assert.ok(!at([{ kind: 'launch', text: 'blockDim = (32, 1, 1)' }], 5));
  assert.ok(at([{ kind: 'precondition', text: 'value >= 5' }], 5));
  assert.ok(!at([{ kind: 'precondition', text: 'value >= 5' }], 4));
  assert.ok(at([{ kind: 'user', text: 'value % 4 == 0 || blockDim.x < 8' }], 8));
  assert.ok(!at([{ kind: 'user', text: 'value % 4 == 0 || blockDim.x < 8' }], 9));
  const index = { kind: 'no-wrap', text: 'value * blockIdx.x + threadIdx.x fits in 32 bits' } as const;
  assert.ok(at([index], 1000));
  assert.ok(!at([index], 2 ** 30));
  assert.ok(!at([index], -(2 ** 30)));
  const rounded = { kind: 'no-wrap', text: '(blockDim.x >> 5) * value fits in 32 bits' } as const;
  assert.ok(at([rounded], 2 ** 29));
  assert.ok(!at([rounded], 2 ** 30));
});

test('parameters of a PTX file with unknown types are compared if they have no sign', () => {
  const found = classOf('vectorSet', [{ kind: 'precondition', text: 'param1 >= 5' }], []);
  const at = (value: number): boolean => meets('vectorSet', found, { args: [far, value] });
  assert.deepEqual([found.class, at(5), at(4), at(-1)], ['conditional', true, false, false]);
  const below = classOf('vectorSet', [{ kind: 'precondition', text: 'param1 <= 5' }], []);
  assert.ok(!meets('vectorSet', below, { args: [far, -1] }));
});

test('preconditions on block dimensions or arguments make a kernel conditional', () => {
  const withOne = (kind: 'launch' | 'precondition', text: string): string => classOf('vectorSet', [{ kind, text }]).class;
  assert.equal(withOne('precondition', 'value >= 5'), 'conditional');
  assert.equal(withOne('precondition', 'blockDim.x == 64'), 'conditional');
  assert.equal(withOne('precondition', 'blockDim.y == 1'), 'idempotent');
  assert.equal(withOne('launch', 'blockDim.y = 1'), 'idempotent');
});

test('a proof whose assumptions no validator can check leaves a kernel with barriers undecided', () => {
  const withOne = (name: string, kind: NonNullable<Assumptions>[number]['kind']): Classification =>
    classOf(name, [{ kind, text: 'something' }]);
  for (const kind of ['contents', 'initial', 'no-effect', 'warp-lockstep'] as const) {
    const found = withOne('sum', kind);
    assert.equal(found.class, 'undecided', kind);
    assert.deepEqual(found.condition, { kind: 'never' });
    // Without barriers the footprints identify launches without races.
    const copied = withOne('copy', kind);
    assert.equal(copied.class, 'conditional', kind);
    assert.ok(meets('copy', copied, { args: [far, 2n * far, 256] }));
    // Two threads write each element.
    assert.ok(!meets('copy', copied, { args: [far, 2n * far, 256], block: [64, 2, 1] }));
  }
  for (const kind of ['no-alias', 'stable-memory', 'equal-value-writes'] as const) {
    assert.equal(withOne('vectorSet', kind).class, 'idempotent', kind);
    assert.equal(withOne('sum', kind).class, 'conditional', kind);
  }
});

test('a kernel that may overlap its predecessor is undecided', () => {
  const assumptions = [{ kind: 'stable-memory', text: earlierEnded }] as const;
  assert.equal(classOf('vectorSet', assumptions).class, 'undecided');
  const copied = classOf('copy', assumptions);
  assert.equal(copied.class, 'undecided');
  assert.deepEqual(copied.condition, { kind: 'never' });
});
