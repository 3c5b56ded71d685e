import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLaunch, type TracedKernel } from '../../../src/app/idempotency/launch-trace.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { Parameter } from '../../../src/ir/form/kernel.ts';

function parameter(index: number, type: string, bytes: number): Parameter {
  return { index, symbol: `p${index}`, type, bytes, alignment: Math.min(bytes, 8) };
}

/** `scale(float *out, const float *in, int n, float by, struct { … } rest)`. */
const scale: TracedKernel = {
  names: ['_Z5scale', 'scale(float*, float const*, int, float, rest)', 'scale'],
  parameters: [
    parameter(0, 'u64', 8),
    parameter(1, 'u64', 8),
    parameter(2, 'u32', 4),
    parameter(3, 'f32', 4),
    { ...parameter(4, 'b8', 12), alignment: 4 },
  ],
  sources: [
    { name: 'out', type: 'float *' },
    { name: 'in', type: 'const float *' },
    { name: 'n', type: 'int' },
    { name: 'by', type: 'float' },
    { name: 'rest', type: 'Rest' },
  ],
};
const byName = { out: '0x10000', in: 131072, n: -2, by: 1.5, rest: { hex: '000102030405060708090a0b' } };
const line = { kernel: 'scale', grid: [4], block: 64, arguments: byName };

const bytes = Buffer.from('00000100000000000000020000000000feffffff0000c03f000102030405060708090a0b', 'hex');

function read(fields: unknown): ReturnType<typeof readLaunch> {
  return readLaunch(typeof fields === 'string' ? fields : JSON.stringify(fields), [scale]);
}

test('arguments by name, by position and as bytes give the same buffer', () => {
  for (const given of [byName, Object.values(byName), bytes.toString('hex'), `0x${bytes.toString('hex')}`]) {
    const result = read({ ...line, arguments: given });
    assert.ok('launch' in result, JSON.stringify(result));
    assert.deepEqual(Buffer.from(result.launch.arguments), bytes);
    assert.deepEqual([result.launch.grid, result.launch.block, result.launch.dynamicShared], [[4, 1, 1], [64, 1, 1], 0]);
    assert.deepEqual(result.launch.offsets, [0, 8, 16, 20, 24]);
  }
  assert.ok('launch' in read({ ...line, kernel: '_Z5scale', arguments: { ...byName, n: undefined, param2: 7 } }));
});

test('allocations and symbols are looked up by the addresses that they contain', () => {
  const allocations = [
    { start: '0x20000', bytes: 16 },
    { start: '0x10000', bytes: '0x40' },
  ];
  const result = read({ ...line, allocations, symbols: { table: '0x30000' }, shared: 128 });
  assert.ok('launch' in result);
  const { allocation, symbol, dynamicShared } = result.launch;
  assert.deepEqual(allocation?.(0x1003fn), { start: 0x10000n, bytes: 64n });
  assert.equal(allocation?.(0x10040n), undefined);
  assert.equal(symbol?.('table'), 0x30000n);
  assert.equal(symbol?.('other'), undefined);
  assert.equal(dynamicShared, 128);
});

/** Malformed lines. */
const malformed: readonly (readonly [unknown, RegExp])[] = [
  ['{"kernel": "scale", "grid": [4', /not JSON/],
  ['', /not JSON/],
  ['[]', /not a JSON object/],
  ['null', /not a JSON object/],
  [{ ...line, gird: 4 }, /the field "gird" is unknown/],
  [{ ...line, kernel: 7 }, /`kernel` is not the name/],
  [{ ...line, grid: 1.5 }, /`grid` is not a whole number/],
  [{ ...line, grid: [] }, /`grid` has 0 dimensions/],
  [{ ...line, block: [1, 1, 1, 1] }, /`block` has 4 dimensions/],
  [{ ...line, block: undefined }, /`block` is not a whole number/],
  [{ ...line, shared: '128' }, /`shared` is not a whole number/],
  [{ ...line, arguments: 7 }, /neither a list/],
  [{ ...line, arguments: 'abc' }, /not hexadecimal digits/],
  [{ ...line, arguments: 'zz'.repeat(36) }, /not hexadecimal digits/],
  [{ ...line, arguments: { ...byName, n: null } }, /"n" is neither a number nor a string/],
  [{ ...line, arguments: { ...byName, n: [1] } }, /"n" is neither a number nor a string/],
  [{ ...line, arguments: { ...byName, rest: {} } }, /"rest" has no field `hex`/],
  [{ ...line, allocations: {} }, /not a list/],
  [{ ...line, allocations: [{ start: -1, bytes: 4 }] }, /`start` of an allocation is not an address/],
  [{ ...line, symbols: [] }, /not an object/],
  [{ ...line, allocations: [{ start: 1, bytes: 4, shared: 1 }] }, /`shared` of an allocation is neither true nor false/],
  [{ ...line, sequence: {} }, /`sequence` is neither a name nor a number/],
  [{ ...line, stream: 1.5 }, /`stream` is neither a name nor a number/],
  [`{"kernel":"${'x'.repeat(2 ** 20)}"}`, /more than 1048576 characters/],
];

/** Launches that do not match the kernel or any device. */
const unfitting: readonly (readonly [unknown, RegExp])[] = [
  [{ ...line, kernel: 'scal' }, /"scal" is not known/],
  [{ ...line, grid: 0 }, /no device accepts a grid of 0, 1, 1/],
  [{ ...line, grid: [1, 65536] }, /no device/],
  [{ ...line, block: [1024, 2] }, /no device/],
  [{ ...line, block: -1 }, /no device/],
  [{ ...line, shared: -1 }, /no device/],
  [{ ...line, arguments: [1, 2] }, /5 parameters, and the launch 2/],
  [{ ...line, arguments: undefined }, /5 parameters, and the launch 0/],
  [{ ...line, arguments: { ...byName, m: 1 } }, /no parameter "m"/],
  [{ ...line, arguments: { ...byName, param0: 1 } }, /"param0" is given twice/],
  [{ ...line, arguments: { out: 1 } }, /"in" is missing/],
  [{ ...line, arguments: bytes.toString('hex').slice(2) }, /35 bytes and not 36/],
  [{ ...line, arguments: { ...byName, out: '0x10000000000000000' } }, /"out" cannot be .*64 bits/],
  [{ ...line, arguments: { ...byName, n: 2 ** 32 } }, /"n" cannot be .*32 bits/],
  [{ ...line, arguments: { ...byName, out: 2 ** 60 } }, /"out" has more digits than JSON keeps/],
  [{ ...line, arguments: { ...byName, n: 'many' } }, /"n" cannot be many/],
  [{ ...line, arguments: { ...byName, n: '9'.repeat(99) } }, /"n" is too long/],
  [{ ...line, arguments: { ...byName, rest: 4 } }, /"rest" is not a scalar/],
  [{ ...line, arguments: { ...byName, rest: { hex: '00' } } }, /1 bytes and not 12/],
  [{ ...line, allocations: [{ start: '0xffffffffffffffff', bytes: 2 }] }, /beyond 64 bits/],
  [
    {
      ...line,
      allocations: [
        { start: 16, bytes: 32 },
        { start: 40, bytes: 1 },
      ],
    },
    /overlap/,
  ],
  [{ ...line, symbols: { table: '0x10000000000000000' } }, /more than 64 bits/],
  [{ ...line, allocations: [{ start: 0xff00, bytes: 0x200, shared: true }] }, /leads to 0x10000, which is memory with two addresses/],
];

test('memory that other processes use counts if an argument points to it', () => {
  for (const [start, isRefused] of [
    [0xfff0, true],
    [0xff80, false],
    [0x10001, false],
    [0x20000, true],
  ] as const) {
    const result = read({ ...line, allocations: [{ start, bytes: 0x80, shared: true }] });
    assert.equal('problem' in result, isRefused, String(start));
  }
});

for (const [isMalformed, cases] of [
  [true, malformed],
  [false, unfitting],
] as const) {
  test(isMalformed ? 'malformed lines give a reason' : 'launches that do not match give a reason', () => {
    for (const [fields, expected] of cases) {
      const result = read(fields);
      assert.ok('problem' in result, JSON.stringify(fields));
      assert.match(result.problem, expected);
      assert.equal(result.isMalformed, isMalformed, result.problem);
    }
  });
}

test('an ambiguous kernel name matches no kernel', () => {
  const result = readLaunch(JSON.stringify(line), [scale, { ...scale, names: ['scale'] }]);
  assert.ok('problem' in result && /several kernels/.test(result.problem));
});

test('damaged lines are read without an exception', () => {
  const random = seededRandom(5);
  const text = JSON.stringify({ ...line, allocations: [{ start: 1, bytes: 2 }], symbols: { a: 3 } });
  let launches = 0;
  for (let round = 0; round < 4000; round += 1) {
    const at = random.below(text.length);
    const damaged = random.pick([
      () => text.slice(0, at),
      () => text.slice(0, at) + random.pick(['0', '-', '"', '[', '{', 'e', '9'.repeat(40)]) + text.slice(at + 1),
      () => text.slice(0, at) + text.slice(at + random.below(12)),
    ])();
    if ('launch' in read(damaged)) launches += 1;
  }
  assert.ok(launches < 1500, `${launches}`);
});
