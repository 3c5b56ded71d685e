import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Quantity, ValidatorCondition } from '../../../src/idempotency/model/quantity.ts';
import { isKnownToHold, type InstanceArguments } from '../../../src/idempotency/validator/instance-condition.ts';

const constant = (value: number | bigint): Quantity => ({ kind: 'constant', value: BigInt(value) });
const compare = (left: Quantity, comparison: '=' | '!=' | '<' | '<=', right: Quantity): ValidatorCondition => ({
  kind: 'compare',
  comparison,
  left,
  right,
});
const equals = (left: Quantity, value: number | bigint): ValidatorCondition => compare(left, '=', constant(value));
const pointer = (index: number): Quantity => ({ kind: 'argument', index, offset: 0, bytes: 8, signed: false });

/** A pointer at 0, a pointer at 8, an `int` at 16. */
function launch(a: bigint, b: bigint, n: number, changes: Partial<InstanceArguments> = {}): InstanceArguments {
  const bytes = new Uint8Array(20);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, a, true);
  view.setBigUint64(8, b, true);
  view.setInt32(16, n, true);
  return {
    arguments: bytes,
    offsets: [0, 8, 16],
    grid: [4, 1, 1],
    block: [64, 2, 1],
    dynamicShared: 128,
    ...changes,
  };
}

const one = launch(0x1000n, 0xffff_ffff_ffff_fff0n, -3);
const n: Quantity = { kind: 'argument', index: 2, offset: 0, bytes: 4, signed: true };
const unknown: Quantity = { kind: 'symbol', name: 'table' };

test('arguments, dimensions and shared memory are those of the launch', () => {
  const all: readonly [Quantity, number | bigint][] = [
    [pointer(0), 0x1000],
    [pointer(1), 0xffff_ffff_ffff_fff0n],
    [n, -3],
    [{ kind: 'argument', index: 2, offset: 0, bytes: 4, signed: false }, 0xffff_fffd],
    [{ kind: 'argument', index: 0, offset: 1, bytes: 1, signed: false }, 0x10],
    [{ kind: 'block-size', axis: 1 }, 2],
    [{ kind: 'grid-size', axis: 0 }, 4],
    [{ kind: 'dynamic-shared' }, 128],
  ];
  for (const [quantity, value] of all) {
    assert.ok(isKnownToHold(equals(quantity, value), one), JSON.stringify(quantity));
    assert.ok(!isKnownToHold(equals(quantity, BigInt(value) + 1n), one), JSON.stringify(quantity));
  }
});

test('arithmetic is exact on integers, quotients are rounded down', () => {
  const seven = constant(7);
  const all: readonly [Quantity, number | bigint][] = [
    [{ kind: 'sum', operands: [pointer(1), pointer(1)] }, 0x1_ffff_ffff_ffff_ffe0n],
    [{ kind: 'product', operands: [n, n, n] }, -27],
    [{ kind: 'min', operands: [seven, n] }, -3],
    [{ kind: 'max', operands: [n, seven] }, 7],
    [{ kind: 'quotient', dividend: n, divisor: constant(2) }, -2],
    [{ kind: 'remainder', dividend: n, divisor: constant(2) }, 1],
    [{ kind: 'and', left: seven, right: constant(12) }, 4],
    [{ kind: 'or', left: seven, right: constant(12) }, 15],
    [{ kind: 'xor', left: seven, right: constant(12) }, 11],
    [{ kind: 'shift-left', left: seven, right: constant(2) }, 28],
    [{ kind: 'shift-right', left: seven, right: constant(200) }, 0],
    [{ kind: 'choice', test: compare(n, '<', seven), yes: seven, no: unknown }, 7],
  ];
  for (const [quantity, value] of all) assert.ok(isKnownToHold(equals(quantity, value), one), JSON.stringify(quantity.kind));
});

test('an unknown condition is not satisfied, nor is its negation', () => {
  const huge = constant((1n << 127n) - 1n);
  const all: readonly Quantity[] = [
    unknown,
    pointer(3),
    { kind: 'argument', index: 2, offset: 1, bytes: 4, signed: false },
    { kind: 'argument', index: 2, offset: -17, bytes: 1, signed: false },
    { kind: 'sum', operands: [huge, constant(1)] },
    { kind: 'product', operands: [huge, constant(2), constant(0)] },
    { kind: 'quotient', dividend: n, divisor: constant(0) },
    { kind: 'remainder', dividend: n, divisor: n },
    { kind: 'and', left: n, right: huge },
    { kind: 'shift-left', left: constant(1), right: constant(127) },
    { kind: 'shift-left', left: huge, right: constant(1n << 70n) },
    { kind: 'min', operands: [] },
    { kind: 'allocation-start', pointer: pointer(0) },
    { kind: 'choice', test: equals(unknown, 1), yes: constant(1), no: constant(1) },
  ];
  for (const quantity of all) {
    const shown = JSON.stringify(quantity, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    assert.ok(!isKnownToHold(compare(quantity, '=', quantity), one), shown);
    assert.ok(!isKnownToHold(compare(quantity, '!=', quantity), one), shown);
    const guarded: Quantity = { kind: 'choice', test: equals(n, -3), yes: constant(1), no: quantity };
    assert.ok(isKnownToHold(equals(guarded, 1), one), `guarded by a choice: ${shown}`);
    assert.ok(isKnownToHold({ kind: 'any', conditions: [equals(quantity, 1), equals(n, -3)] }, one), shown);
    assert.ok(!isKnownToHold({ kind: 'all', conditions: [equals(n, -3), equals(quantity, 1)] }, one), shown);
  }
});

test('the allocation of an address is the one that contains it', () => {
  const within = (start: bigint, bytes: bigint): InstanceArguments => ({
    ...one,
    allocation: () => ({ start, bytes }),
    symbol: () => 0x2000n,
  });
  const start = equals({ kind: 'allocation-start', pointer: pointer(0) }, 0x0f00);
  const extent = equals({ kind: 'allocation-bytes', pointer: pointer(0) }, 0x200);
  assert.ok(isKnownToHold({ kind: 'all', conditions: [start, extent] }, within(0x0f00n, 0x200n)));
  assert.ok(!isKnownToHold(start, within(0x0f00n, 0x100n)));
  assert.ok(!isKnownToHold(extent, within(0x1001n, 0x200n)));
  assert.ok(isKnownToHold(equals(unknown, 0x2000), within(0n, 0n)));
});

test('no condition is satisfied for a launch that no device accepts', () => {
  const always: ValidatorCondition = { kind: 'always' };
  assert.ok(isKnownToHold(always, one));
  const wrong: readonly Partial<InstanceArguments>[] = [
    { grid: [0, 1, 1] },
    { grid: [1, 65536, 1] },
    { grid: [2 ** 31, 1, 1] },
    { block: [1, 1, 65] },
    { block: [1024, 2, 1] },
    { block: [1, -1, 1] },
    { block: [1.5, 1, 1] },
    { dynamicShared: -1 },
    { dynamicShared: Number.NaN },
  ];
  for (const change of wrong) assert.ok(!isKnownToHold(always, { ...one, ...change }), JSON.stringify(change));
});
