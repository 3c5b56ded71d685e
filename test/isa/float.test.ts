/** The reference domain's floating point, compared with hand-worked values and with JavaScript's arithmetic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { referenceDomain } from '../../src/isa/arithmetic/reference-domain.ts';

const view = new DataView(new ArrayBuffer(8));

function bits32(value: number): bigint {
  view.setFloat32(0, value);
  return BigInt(view.getUint32(0));
}

function number32(pattern: bigint): number {
  view.setUint32(0, Number(pattern));
  return view.getFloat32(0);
}

function bits64(value: number): bigint {
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

function number64(pattern: bigint): number {
  view.setBigUint64(0, pattern);
  return view.getFloat64(0);
}

interface Options {
  readonly format?: string;
  readonly from?: string;
  readonly rounding?: string;
  readonly ftz?: boolean;
  readonly saturate?: boolean;
}

function float(name: string, sources: readonly bigint[], options: Options = {}): bigint {
  const { format = 'f32', from = format, rounding = 'rn', ftz = false, saturate = false } = options;
  return referenceDomain.float({ name, from, to: format, rounding, ftz, saturate }, sources);
}

const edges32 = [
  0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
  0x4b800000, 0x33800000,
];

test('fma rounds once', () => {
  const result = float('fma', [bits32(24929), bits32(673 * 2 ** -24), bits32(2 ** -80)]);
  assert.equal(number32(result), 1 + 2 ** -23);
  assert.equal(number32(float('fma', [bits32(24929), bits32(673 * 2 ** -24), bits32(-(2 ** -80))])), 1);
  const down = float('fma', [bits32(24929), bits32(673 * 2 ** -24), bits32(2 ** -80)], { rounding: 'rm' });
  assert.equal(number32(down), 1);
});

test('f32 arithmetic equals that of JavaScript', () => {
  const random = seededRandom(1);
  const pick = (): number => (random.chance(0.3) ? random.pick(edges32) : random.below(2 ** 32));
  const operations: Record<string, (a: number, b: number) => number> = {
    add: (a, b) => a + b,
    sub: (a, b) => a - b,
    mul: (a, b) => a * b,
    div: (a, b) => a / b,
    sqrt: (a) => Math.sqrt(a),
  };
  for (let round = 0; round < 3000; round++) {
    const [a, b] = [BigInt(pick()), BigInt(pick())];
    for (const [name, compute] of Object.entries(operations)) {
      const expected = Math.fround(compute(number32(a), number32(b)));
      const actual = number32(float(name, [a, b]));
      assert.ok(Object.is(actual, expected), `${name} ${a} ${b}: ${actual} instead of ${expected}`);
    }
  }
});

test('f64 arithmetic equals that of JavaScript', () => {
  const random = seededRandom(2);
  const pick = (): bigint => (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
  for (let round = 0; round < 2000; round++) {
    const [a, b] = [pick(), pick()];
    const [x, y] = [number64(a), number64(b)];
    for (const [name, expected] of Object.entries({ add: x + y, mul: x * y, div: x / y, sqrt: Math.sqrt(x) })) {
      assert.ok(Object.is(number64(float(name, [a, b], { format: 'f64' })), expected), `${name} ${x} ${y}`);
    }
  }
});

test('directed rounding brackets the exact value', () => {
  const third = (rounding: string): bigint => float('div', [bits32(1), bits32(3)], { rounding });
  assert.equal(third('rz'), 0x3eaaaaaan);
  assert.equal(third('rm'), 0x3eaaaaaan);
  assert.equal(third('rp'), 0x3eaaaaabn);
  assert.equal(third('rn'), 0x3eaaaaabn);
  const negative = (rounding: string): bigint => float('div', [bits32(-1), bits32(3)], { rounding });
  assert.equal(negative('rm'), 0xbeaaaaabn);
  assert.equal(negative('rp'), 0xbeaaaaaan);
  assert.equal(float('mul', [0x7f7fffffn, bits32(2)], { rounding: 'rz' }), 0x7f7fffffn);
  assert.equal(float('mul', [0x7f7fffffn, bits32(2)], { rounding: 'rm' }), 0x7f7fffffn);
  assert.equal(float('mul', [0x7f7fffffn, bits32(2)], { rounding: 'rp' }), 0x7f800000n);
  assert.equal(float('sub', [bits32(1), bits32(1)], { rounding: 'rm' }), 0x80000000n);
});

test('the smallest subnormal halves to zero, three quarters of it do not', () => {
  assert.equal(float('mul', [1n, bits32(0.5)]), 0n);
  assert.equal(float('mul', [1n, bits32(0.75)]), 1n);
  assert.equal(float('mul', [1n, bits32(0.75)], { ftz: true }), 0n);
  assert.equal(float('mul', [0x80800000n, bits32(0.5)], { ftz: true }), 0x80000000n);
});

test('NaN results are canonical; min and max return the operand that is a number', () => {
  assert.equal(float('add', [0x7f800000n, 0xff800000n]), 0x7fffffffn);
  assert.equal(float('sqrt', [bits32(-1)]), 0x7fffffffn);
  assert.equal(float('min', [0x7fc00000n, bits32(2)], { rounding: 'none' }), bits32(2));
  assert.equal(float('min.nan', [0x7fc00000n, bits32(2)], { rounding: 'none' }), 0x7fffffffn);
  assert.equal(float('min', [0n, 0x80000000n], { rounding: 'none' }), 0x80000000n);
  assert.equal(float('max', [0x80000000n, 0n], { rounding: 'none' }), 0n);
  assert.equal(float('min.xorsign.abs', [bits32(-3), bits32(2)], { rounding: 'none' }), bits32(-2));
});

test('saturation and relu clamp the result', () => {
  assert.equal(float('add', [bits32(3), bits32(4)], { saturate: true }), bits32(1));
  assert.equal(float('add', [bits32(-3), bits32(1)], { saturate: true }), 0n);
  assert.equal(float('mul', [0n, 0x7f800000n], { saturate: true }), 0n);
  assert.equal(float('fma.relu', [0x3c00n, 0xbc00n, 0n], { format: 'f16' }), 0n);
});

test('half precision', () => {
  assert.equal(float('add', [0x3c00n, 0x1000n], { format: 'f16' }), 0x3c00n);
  assert.equal(float('add', [0x3c01n, 0x1000n], { format: 'f16' }), 0x3c02n);
  assert.equal(float('mul', [0x7bffn, 0x4000n], { format: 'f16' }), 0x7c00n);
  assert.equal(float('fma', [0x3f80n, 0x3f80n, 0x3b80n], { format: 'bf16' }), 0x3f80n);
});

test('conversions between formats', () => {
  const random = seededRandom(3);
  for (let round = 0; round < 2000; round++) {
    const pattern = (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
    const value = number64(pattern);
    assert.ok(Object.is(number32(float('cvt', [pattern], { from: 'f64' })), Math.fround(value)));
    const single = BigInt(random.below(2 ** 32));
    const wide = float('cvt', [single], { from: 'f32', format: 'f64', rounding: 'none' });
    assert.ok(Object.is(number64(wide), number32(single)));
  }
  assert.equal(float('cvt', [bits64(1e300)], { from: 'f64' }), 0x7f800000n);
  assert.equal(float('cvt', [1n], { from: 'f32', format: 'f64', rounding: 'none', ftz: true }), 0n);
});

test('approximations round the function of doubles', () => {
  assert.equal(number32(float('ex2', [bits32(3)], { rounding: 'approx' })), 8);
  assert.equal(number32(float('lg2', [bits32(8)], { rounding: 'approx' })), 3);
  assert.equal(number32(float('rsqrt', [bits32(4)], { rounding: 'approx' })), 0.5);
  assert.equal(number32(float('sin', [0n], { rounding: 'approx' })), 0);
});
