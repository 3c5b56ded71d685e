/** The rules over the reference domain, against independent formulas: edge values and seeded random ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Random } from '../../src/base/random.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { ValueType } from '../../src/isa/model/operation.ts';
import { referenceDomain } from '../../src/isa/arithmetic/reference-domain.ts';
import { decode } from '../../src/isa/table.ts';

type Formula = (...sources: bigint[]) => bigint;

const u = (width: number, a: bigint): bigint => BigInt.asUintN(width, a);
const s = (width: number, a: bigint): bigint => BigInt.asIntN(width, a);
const absolute = (a: bigint): bigint => (a < 0n ? -a : a);
const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const limit = (a: bigint, low: bigint, high: bigint): bigint => lesser(greater(a, low), high);
const signed32 = (a: bigint): bigint => limit(a, -(1n << 31n), (1n << 31n) - 1n);
const half = (a: bigint, lane: number): bigint => u(16, a >> BigInt(16 * lane));
const byte = (a: bigint, lane: number): bigint => u(8, a >> BigInt(8 * lane));
const bit = (a: bigint, at: number): bigint => (a >> BigInt(at)) & 1n;

/** Lanes put together from the lowest on. */
function pack(width: number, lanes: readonly bigint[]): bigint {
  return lanes.reduce((whole, lane, at) => whole | (u(width, lane) << BigInt(width * at)), 0n);
}

const halves = (rule: (lane: number) => bigint): bigint => pack(16, [0, 1].map(rule));
const bytes = (rule: (lane: number) => bigint): bigint => pack(8, [0, 1, 2, 3].map(rule));

/** Bit by bit, as the ISA's pseudocode has it. */
function extractField(width: number, isSigned: boolean, a: bigint, b: bigint, c: bigint): bigint {
  const msb = width - 1;
  const position = Number(b & 0xffn);
  const length = Number(c & 0xffn);
  const sign = !isSigned || length === 0 ? 0n : bit(a, Math.min(position + length - 1, msb));
  let result = 0n;
  for (let i = 0; i <= msb; i++) {
    const source = i < length && position + i <= msb ? bit(a, position + i) : sign;
    result |= source << BigInt(i);
  }
  return result;
}

function insertField(width: number, a: bigint, b: bigint, c: bigint, d: bigint): bigint {
  const position = Number(c & 0xffn);
  const length = Number(d & 0xffn);
  let result = b;
  for (let i = 0; i < length && position + i < width; i++) {
    const at = BigInt(position + i);
    result = (result & ~(1n << at)) | (bit(a, i) << at);
  }
  return result;
}

function permute(a: bigint, b: bigint, c: bigint): bigint {
  const source = (b << 32n) | a;
  return bytes((lane) => {
    const selector = Number((c >> BigInt(4 * lane)) & 15n);
    const chosen = byte(source, selector & 7);
    return selector & 8 ? (bit(chosen, 7) === 1n ? 0xffn : 0n) : chosen;
  });
}

const formulas: Readonly<Record<string, Formula>> = {
  'add.sat.s32': (a, b) => signed32(s(32, a) + s(32, b)),
  'sub.sat.s32': (a, b) => signed32(s(32, a) - s(32, b)),
  'add.s16x2': (a, b) => halves((lane) => half(a, lane) + half(b, lane)),
  'mul.hi.s16': (a, b) => (s(16, a) * s(16, b)) >> 16n,
  'mul.hi.u32': (a, b) => (a * b) >> 32n,
  'mul.hi.s64': (a, b) => (s(64, a) * s(64, b)) >> 64n,
  'mul.wide.s32': (a, b) => s(32, a) * s(32, b),
  'mul.wide.u16': (a, b) => a * b,
  'mad.hi.sat.s32': (a, b, c) => signed32(((s(32, a) * s(32, b)) >> 32n) + s(32, c)),
  'mad.wide.s16': (a, b, c) => s(16, a) * s(16, b) + c,
  'mul24.hi.s32': (a, b) => (s(24, a) * s(24, b)) >> 16n,
  'mad24.lo.u32': (a, b, c) => u(24, a) * u(24, b) + c,
  'mad24.hi.sat.s32': (a, b, c) => signed32(s(32, (s(24, a) * s(24, b)) >> 16n) + s(32, c)),
  'sad.s32': (a, b, c) => c + absolute(s(32, a) - s(32, b)),
  'sad.u64': (a, b, c) => c + absolute(a - b),
  'min.s64': (a, b) => lesser(s(64, a), s(64, b)),
  'max.u16x2': (a, b) => halves((lane) => greater(half(a, lane), half(b, lane))),
  'min.relu.s16x2': (a, b) => halves((lane) => greater(lesser(s(16, half(a, lane)), s(16, half(b, lane))), 0n)),
  'bfe.u32': (a, b, c) => extractField(32, false, a, b, c),
  'bfe.s32': (a, b, c) => extractField(32, true, a, b, c),
  'bfe.s64': (a, b, c) => extractField(64, true, a, b, c),
  'bfi.b32': (a, b, c, d) => insertField(32, a, b, c, d),
  'bfi.b64': (a, b, c, d) => insertField(64, a, b, c, d),
  'dp4a.s32.u32': (a, b, c) => [0, 1, 2, 3].reduce((sum, lane) => sum + s(8, byte(a, lane)) * byte(b, lane), c),
  'dp2a.hi.u32.s32': (a, b, c) => [0, 1].reduce((sum, lane) => sum + half(a, lane) * s(8, byte(b, lane + 2)), c),
  'prmt.b32': (a, b, c) => permute(a, b, c),
  'shf.l.clamp.b32': (a, b, c) => (((b << 32n) | a) << lesser(c, 32n)) >> 32n,
  'shf.r.wrap.b32': (a, b, c) => ((b << 32n) | a) >> (c & 31n),
  'shl.b64': (a, b) => (b > 63n ? 0n : a << b),
  'shr.s32': (a, b) => s(32, a) >> lesser(b, 32n),
  'shr.u16': (a, b) => (b > 15n ? 0n : a >> b),
  'szext.clamp.s32': (a, b) => (b >= 32n ? a : b === 0n ? 0n : s(Number(b), a)),
  'bmsk.wrap.b32': (a, b) => ((1n << (b & 31n)) - 1n) << (a & 31n),
  'clz.b64': (a) => BigInt(64 - (a === 0n ? 0 : a.toString(2).length)),
  'popc.b32': (a) => BigInt([...a.toString(2)].filter((digit) => digit === '1').length),
  'cvt.sat.s8.s64': (a) => limit(s(64, a), -128n, 127n),
  'cvt.sat.u16.s32': (a) => limit(s(32, a), 0n, 0xffffn),
  'cvt.s32.u8': (a) => u(8, a),
  'cvt.u64.s16': (a) => s(16, a),
  'cvt.pack.sat.u8.s32.b32': (a, b, c) => (c << 16n) | (limit(s(32, a), 0n, 255n) << 8n) | limit(s(32, b), 0n, 255n),
  'slct.u64.s32': (a, b, c) => (s(32, c) >= 0n ? a : b),
  'vadd.s32.s32.u32.sat': (a, b) => signed32(s(32, a) + b),
  'vabsdiff.u32.s32.s32.sat': (a, b) => lesser(absolute(s(32, a) - s(32, b)), 0xffffffffn),
  'vshr.s32.s32.u32.clamp': (a, b) => s(32, a) >> lesser(b, 32n),
  'vmad.s32.s32.u32.shr15': (a, b, c) => (s(32, a) * b + s(32, c)) >> 15n,
  'vavrg4.u32.u32.u32': (a, b) => bytes((lane) => (byte(a, lane) + byte(b, lane) + 1n) >> 1n),
  'vsub4.s32.s32.s32.sat': (a, b) => bytes((lane) => limit(s(8, byte(a, lane)) - s(8, byte(b, lane)), -128n, 127n)),
  'vabsdiff2.u32.u32.u32.add': (a, b, c) => [0, 1].reduce((sum, lane) => sum + absolute(half(a, lane) - half(b, lane)), c),
};

const edges = [0n, 1n, 7n, 31n, 32n, 33n, 63n, 64n, 255n, -1n, -2n, 1n << 15n, 1n << 31n, (1n << 31n) - 1n, 1n << 63n];

function draw(random: Random, width: ValueType): bigint {
  assert.ok(width !== 'predicate');
  const value = random.chance(0.5) ? random.pick(edges) : (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
  return u(width, value);
}

for (const [mnemonic, formula] of Object.entries(formulas)) {
  test(mnemonic, () => {
    const [opcode, ...modifiers] = mnemonic.split('.');
    const operation = decode(opcode!, modifiers);
    assert.ok(operation?.evaluate);
    const { evaluate } = operation;
    const random = seededRandom(21);
    const width = operation.results[0]!;
    assert.ok(width !== 'predicate');
    for (let round = 0; round < 400; round++) {
      const sources: bigint[] = operation.sources.map((source) => draw(random, source));
      const [actual] = evaluate<bigint, boolean>(referenceDomain, sources);
      const expected = u(width, formula(...sources));
      assert.equal(actual, expected, `${mnemonic} ${sources.map((source) => source.toString(16)).join(' ')}`);
    }
  });
}
