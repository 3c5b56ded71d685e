/** Results worked out by hand from the PTX ISA, over the reference domain. */
import type { OperandShape } from '../../src/isa/model/row.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localWindow, sharedWindow } from '../../src/isa/model/address-window.ts';
import { referenceDomain } from '../../src/isa/arithmetic/reference-domain.ts';
import { decode } from '../../src/isa/table.ts';

type Value = bigint | boolean;

function run(mnemonic: string, sources: readonly Value[], shape?: OperandShape): readonly Value[] {
  const [opcode, ...modifiers] = mnemonic.split('.');
  const operation = decode(opcode!, modifiers, shape);
  assert.ok(operation?.evaluate, mnemonic);
  assert.equal(operation.sources.length, sources.length, mnemonic);
  const patterns = sources.map((source, index) => {
    const width = operation.sources[index]!;
    return typeof source === 'bigint' && width !== 'predicate' ? BigInt.asUintN(width, source) : source;
  });
  return operation.evaluate<bigint, boolean>(referenceDomain, patterns);
}

function show(value: Value): string {
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : String(value);
}

/** Each case: mnemonic, sources, first result. */
const cases: readonly (readonly [string, readonly Value[], Value])[] = [
  ['add.s32', [0x7fffffffn, 1n], 0x80000000n],
  ['add.u16', [0xffffn, 2n], 1n],
  ['add.sat.s32', [0x7fffffffn, 1n], 0x7fffffffn],
  ['add.sat.s32', [0x80000000n, -1n], 0x80000000n],
  ['add.u16x2', [0xffff0001n, 0x0001ffffn], 0n],
  ['sub.s32', [0n, 1n], 0xffffffffn],
  ['sub.sat.s32', [0x80000000n, 1n], 0x80000000n],
  ['mul.lo.s32', [-3n, 5n], 0xfffffff1n],
  ['mul.hi.s32', [-1n, 1n], 0xffffffffn],
  ['mul.hi.u32', [0xffffffffn, 0xffffffffn], 0xfffffffen],
  ['mul.hi.s64', [-1n, -1n], 0n],
  ['mul.hi.u64', [0xffffffffffffffffn, 2n], 1n],
  ['mul.wide.s32', [-1n, 4n], 0xfffffffffffffffcn],
  ['mul.wide.u32', [0xffffffffn, 4n], 0x3fffffffcn],
  ['mul.wide.s16', [-2n, 3n], 0xfffffffan],
  ['mad.lo.s32', [3n, 4n, -2n], 10n],
  ['mad.hi.sat.s32', [0x7fffffffn, 0x7fffffffn, 0x7fffffffn], 0x7fffffffn],
  ['mad.wide.u16', [0xffffn, 0xffffn, 1n], 0xfffe0002n],
  ['mul24.lo.u32', [0xff000002n, 0x1000003n], 6n],
  ['mul24.lo.s32', [0x00ffffffn, 5n], 0xfffffffbn],
  ['mul24.hi.u32', [0xffffffn, 0xffffffn], 0xfffffe00n],
  ['mad24.lo.s32', [2n, 3n, 4n], 10n],
  ['sad.s32', [-5n, 3n, 1n], 9n],
  ['sad.u16', [1n, 0xffffn, 0n], 0xfffen],
  ['div.s32', [-7n, 2n], -3n],
  ['div.s32', [0x80000000n, -1n], 0x80000000n],
  ['div.u32', [7n, 0n], 0xffffffffn],
  ['div.s64', [-9n, -2n], 4n],
  ['rem.s32', [-7n, 2n], -1n],
  ['rem.s32', [7n, -2n], 1n],
  ['rem.u64', [17n, 5n], 2n],
  ['abs.s32', [0x80000000n], 0x80000000n],
  ['abs.s16', [-3n], 3n],
  ['neg.s64', [1n], 0xffffffffffffffffn],
  ['min.s32', [-1n, 1n], 0xffffffffn],
  ['min.u32', [0xffffffffn, 1n], 1n],
  ['max.s16', [-1n, 1n], 1n],
  ['max.relu.s32', [-5n, -3n], 0n],
  ['min.s16x2', [0x0001ffffn, 0xffff0001n], 0xffffffffn],
  ['popc.b64', [0xf0f0n], 8n],
  ['clz.b32', [0n], 32n],
  ['clz.b64', [1n], 63n],
  ['bfind.u32', [0x10n], 4n],
  ['bfind.u32', [0n], 0xffffffffn],
  ['bfind.s32', [-1n], 0xffffffffn],
  ['bfind.s32', [-3n], 1n],
  ['bfind.shiftamt.u32', [1n], 31n],
  ['fns.b32', [0b10110n, 0n, 2n], 2n],
  ['fns.b32', [0b10110n, 4n, -2n], 2n],
  ['fns.b32', [0b10110n, 1n, 0n], 1n],
  ['fns.b32', [0b10110n, 0n, 4n], 0xffffffffn],
  ['brev.b32', [1n], 0x80000000n],
  ['brev.b64', [3n], 0xc000000000000000n],
  ['bfe.u32', [0xabcd1234n, 8n, 8n], 0x12n],
  ['bfe.s32', [0x00008000n, 8n, 8n], 0xffffff80n],
  ['bfe.s32', [0x80000000n, 28n, 8n], 0xfffffff8n],
  ['bfe.s32', [0x80000000n, 40n, 4n], 0xffffffffn],
  ['bfe.u32', [0xffffffffn, 0n, 255n], 0xffffffffn],
  ['bfe.s32', [0xffffffffn, 3n, 0n], 0n],
  ['bfe.u64', [0xf000000000000000n, 60n, 16n], 0xfn],
  ['bfi.b32', [0xffn, 0n, 8n, 4n], 0xf00n],
  ['bfi.b32', [0x1n, 0xffffffffn, 31n, 8n], 0xffffffffn],
  ['bfi.b32', [0x0n, 0xffffffffn, 32n, 8n], 0xffffffffn],
  ['bfi.b64', [0x0n, 0xffffffffffffffffn, 0n, 64n], 0n],
  ['szext.wrap.s32', [0x8n, 4n], 0xfffffff8n],
  ['szext.clamp.u32', [0xffffffffn, 40n], 0xffffffffn],
  ['szext.wrap.u32', [0xffffffffn, 32n], 0n],
  ['bmsk.clamp.b32', [4n, 8n], 0xff0n],
  ['bmsk.clamp.b32', [30n, 40n], 0xc0000000n],
  ['bmsk.wrap.b32', [33n, 1n], 2n],
  ['dp4a.s32.s32', [0xff010203n, 0x01010101n, 0n], 5n],
  ['dp4a.u32.u32', [0xff010203n, 0x01010101n, 1n], 262n],
  ['dp2a.lo.s32.s32', [0x0003ffffn, 0x00000205n, 0n], 1n],
  ['dp2a.hi.u32.u32', [0x00030001n, 0x02050000n, 0n], 11n],
  ['and.b32', [0xff00n, 0x0ff0n], 0xf00n],
  ['xor.pred', [true, true], false],
  ['not.b16', [0n], 0xffffn],
  ['cnot.b32', [0n], 1n],
  ['cnot.b32', [7n], 0n],
  ['shl.b32', [1n, 32n], 0n],
  ['shl.b64', [1n, 63n], 0x8000000000000000n],
  ['shl.b16', [0xffffn, 8n], 0xff00n],
  ['shr.s32', [0x80000000n, 100n], 0xffffffffn],
  ['shr.u32', [0x80000000n, 31n], 1n],
  ['shr.s16', [0x8000n, 15n], 0xffffn],
  ['shr.u16', [0x8000n, 16n], 0n],
  ['shf.l.wrap.b32', [0x80000000n, 1n, 33n], 3n],
  ['shf.r.clamp.b32', [5n, 0xabcdn, 99n], 0xabcdn],
  ['shf.r.wrap.b32', [5n, 1n, 1n], 0x80000002n],
  ['setp.lt.u32', [-1n, 1n], false],
  ['setp.lt.s32', [-1n, 1n], true],
  ['setp.hi.u32', [-1n, 1n], true],
  ['setp.le.s64', [5n, 5n], true],
  ['setp.ne.b16', [1n, 0x10001n], false],
  ['setp.ge.xor.s32', [5n, 5n, true], false],
  ['setp.lt.f32', [0x7fc00000n, 0n], false],
  ['setp.ltu.f32', [0x7fc00000n, 0n], true],
  ['setp.eq.f32', [0x80000000n, 0n], true],
  ['setp.eq.ftz.f32', [1n, 0n], true],
  ['setp.num.f64', [0x7ff8000000000000n, 0n], false],
  ['set.lt.u32.s32', [-1n, 0n], 0xffffffffn],
  ['set.gt.f32.f32', [0x40000000n, 0x3f800000n], 0x3f800000n],
  ['set.gt.u32.f16x2', [0x3c000000n, 0x00003c00n], 0xffff0000n],
  ['selp.b32', [1n, 2n, false], 2n],
  ['slct.s32.s32', [1n, 2n, -1n], 2n],
  ['slct.s32.f32', [1n, 2n, 0x80000000n], 1n],
  ['slct.s32.f32', [1n, 2n, 0x7fc00000n], 2n],
  ['cvt.s64.s32', [-1n], 0xffffffffffffffffn],
  ['cvt.u64.u32', [-1n], 0xffffffffn],
  ['cvt.s32.s8', [0xffn], 0xffffffffn],
  ['cvt.sat.u8.s32', [-5n], 0n],
  ['cvt.sat.u8.s32', [300n], 0xffn],
  ['cvt.sat.s8.s32', [-300n], 0x80n],
  ['cvt.sat.s32.u32', [0xffffffffn], 0x7fffffffn],
  ['cvt.sat.u32.s64', [-1n], 0n],
  ['cvt.rn.f32.s32', [16777217n], 0x4b800000n],
  ['cvt.rp.f32.s32', [16777217n], 0x4b800001n],
  ['cvt.rzi.s32.f32', [0xbff00000n], 0xffffffffn],
  ['cvt.rni.s32.f32', [0x40200000n], 2n],
  ['cvt.rmi.s32.f32', [0xbf000000n], 0xffffffffn],
  ['cvt.rzi.u32.f32', [0xbf800000n], 0n],
  ['cvt.rzi.s32.f32', [0x7f800000n], 0x7fffffffn],
  ['cvt.rzi.s32.f32', [0x7fc00000n], 0n],
  ['cvt.rzi.s64.f32', [0x7fc00000n], 0x8000000000000000n],
  ['cvt.f64.f32', [0x3fc00000n], 0x3ff8000000000000n],
  ['cvt.rn.f32.f64', [0x3ff8000000000000n], 0x3fc00000n],
  ['cvt.rn.f16.f32', [0x477ff000n], 0x7c00n],
  ['cvt.rz.f16.f32', [0x477ff000n], 0x7bffn],
  ['cvt.rn.bf16.f32', [0x3f808000n], 0x3f80n],
  ['cvt.rna.tf32.f32', [0x3f801000n], 0x3f802000n],
  ['cvt.rn.f16x2.f32', [0x3f800000n, 0x40000000n], 0x3c004000n],
  ['cvt.sat.f32.f32', [0xc0000000n], 0n],
  ['cvt.rni.f32.f32', [0x40200000n], 0x40000000n],
  ['cvt.pack.sat.u16.s32', [70000n, -1n], 0xffff0000n],
  ['cvt.pack.sat.s8.s32.b32', [1n, -200n, 0x1234n], 0x12340180n],
  ['prmt.b32', [0x33221100n, 0x77665544n, 0x7531n], 0x77553311n],
  ['prmt.b32', [0x33221180n, 0n, 0x8888n], 0xffffffffn],
  ['prmt.b32.f4e', [0x33221100n, 0x77665544n, 1n], 0x44332211n],
  ['prmt.b32.b4e', [0x33221100n, 0x77665544n, 0n], 0x55667700n],
  ['prmt.b32.rc8', [0x33221100n, 0n, 2n], 0x22222222n],
  ['prmt.b32.ecl', [0x33221100n, 0n, 1n], 0x33221111n],
  ['prmt.b32.ecr', [0x33221100n, 0n, 1n], 0x11111100n],
  ['prmt.b32.rc16', [0x33221100n, 0n, 1n], 0x33223322n],
  ['cvta.shared.u64', [16n], sharedWindow + 16n],
  ['cvta.to.shared.u64', [sharedWindow + 16n], 16n],
  ['cvta.local.u64', [8n], localWindow + 8n],
  ['cvta.to.global.u64', [0x1234n], 0x1234n],
  ['testp.subnormal.f32', [1n], true],
  ['testp.normal.f32', [0n], false],
  ['testp.notanumber.f64', [0x7ff0000000000001n], true],
  ['testp.infinite.f32', [0xff800000n], true],
  ['copysign.f32', [0x80000000n, 0x3f800000n], 0xbf800000n],
  // 9.7.3.14, 9.7.3.17: the lower words are ignored and zero.
  ['rcp.approx.ftz.f64', [0x40000000ffffffffn], 0x3fe0000000000000n],
  ['rcp.approx.ftz.f64', [0x8000000000000001n], 0xfff0000000000000n],
  ['rcp.approx.ftz.f64', [0x4008000000000000n], 0x3fd5555500000000n],
  ['rsqrt.approx.ftz.f64', [0x4010000000000000n], 0x3fe0000000000000n],
  // 9.7.4, 9.7.5, 9.7.7: half and mixed precision.
  ['fma.rn.relu.bf16', [0x3f80n, 0xbf80n, 0n], 0n],
  ['add.sat.f16', [0x3c00n, 0x3c00n], 0x3c00n],
  ['min.NaN.f16x2', [0x7e003c00n, 0x3c004000n], 0x7fff3c00n],
  ['neg.f16x2', [0x3c00fe00n], 0xbc007e00n],
  ['abs.bf16', [0xff81n], 0x7f81n],
  ['setp.gt.bf16', [0x4000n, 0x3f80n], true],
  ['set.gt.bf16.bf16', [0x4000n, 0x3f80n], 0x3f80n],
  ['add.f32.f16', [0x3c00n, 0x3f800000n], 0x40000000n],
  ['sub.rz.f32.bf16', [0x3f80n, 0x33000000n], 0x3f7fffffn],
  ['fma.rn.sat.f32.f16', [0x4000n, 0x4000n, 0x3f800000n], 0x3f800000n],
  ['add.rn.f32x2', [0x3f80000040000000n, 0x3f80000040000000n], 0x4000000040800000n],
  // 9.7.9.19: the windows are ours.
  ['isspacep.shared', [sharedWindow], true],
  ['isspacep.shared', [sharedWindow + (1n << 32n)], false],
  ['isspacep.local', [localWindow + 4n], true],
  ['isspacep.global', [localWindow + 4n], false],
  ['isspacep.global', [0x10000n], true],
  // 9.7.9.21: formats of 8 bits and fewer. 448 is the largest e4m3, 57344 the largest e5m2.
  ['cvt.rn.satfinite.e4m3x2.f32', [0x3f800000n, 0x44000000n], 0x387en],
  ['cvt.rn.satfinite.e4m3x2.f32', [0xff800000n, 0x7fc00000n], 0xfe7fn],
  ['cvt.rn.satfinite.e5m2x2.f32', [0x47800000n, 0x3fa00000n], 0x7b3dn],
  ['cvt.rn.satfinite.relu.e5m2x2.f32', [0xbf800000n, 0x3f900000n], 0x3cn],
  ['cvt.rn.satfinite.e4m3x2.f16x2', [0xbc001800n], 0xb801n],
  ['cvt.rn.satfinite.e2m1x2.f32', [0x40e00000n, 0xbf000000n], 0x79n],
  ['cvt.rn.satfinite.e2m3x2.f32', [0x40e00000n, 0x3e000000n], 0x1e01n],
  ['cvt.rn.f16x2.e4m3x2', [0x7e01n], 0x5f001800n],
  ['cvt.rn.f16x2.e5m2x2', [0x7cfdn], 0x7c007fffn],
  ['cvt.rn.relu.f16x2.e3m2x2', [0x3f0cn], 0x3c00n],
  ['cvt.rn.f16x2.e2m1x2', [0x71n], 0x46003800n],
  ['cvt.rn.satfinite.f16.f32', [0xff800000n], 0xfbffn],
  ['cvt.rz.relu.f16.f32', [0xbf800000n], 0n],
  ['cvt.rn.satfinite.bf16x2.f32', [0x7f7fffffn, 0x3f800000n], 0x7f7f3f80n],
  // 9.7.18: video.
  ['vadd.s32.u32.s32.sat', [0xffffffffn, 1n], 0x7fffffffn],
  ['vsub.u32.u32.u32.sat.add', [1n, 2n, 7n], 7n],
  ['vabsdiff.u32.s32.s32', [-3n, 4n], 7n],
  ['vmin.s32.u32.s32', [0xffffffffn, -1n], 0xffffffffn],
  ['vmax.u32.u32.s32', [3n, -1n], 3n],
  ['vshl.u32.u32.u32.clamp', [1n, 40n], 0n],
  ['vshr.s32.s32.u32.wrap', [0x80000000n, 33n], 0xc0000000n],
  ['vmad.s32.s32.u32.po.shr7', [-128n, 2n, 127n], -1n],
  ['vset.s32.u32.lt.add', [-1n, 0n, 5n], 6n],
  ['vadd2.s32.s32.s32.sat', [0x7fff8000n, 0x0001ffffn, 0n], 0x7fff8000n],
  ['vavrg2.s32.s32.s32', [0x0001ffffn, 0x0002fffen, 0n], 0x0002fffen],
  ['vabsdiff4.u32.u32.u32.add', [0x01ff0005n, 0x0300ff01n, 10n], 526n],
  ['vmin4.s32.s32.s32', [0x017f80ffn, 0x02800100n, 0n], 0x018080ffn],
  ['vset4.u32.u32.ge', [0x01020304n, 0x01030204n, 0n], 0x01000101n],
];

for (const [mnemonic, sources, expected] of cases) {
  test(`${mnemonic} ${sources.map(show).join(', ')}`, () => {
    const [operation, ...modifiers] = mnemonic.split('.');
    const width = decode(operation!, modifiers)!.results[0]!;
    const pattern = typeof expected === 'bigint' && width !== 'predicate' ? BigInt.asUintN(width, expected) : expected;
    assert.equal(show(run(mnemonic, sources)[0]!), show(pattern));
  });
}

test('the carry of add.cc is an operand of addc, the borrow of sub.cc one of subc', () => {
  assert.deepEqual(run('add.cc.u32', [0xffffffffn, 1n]), [0n, true]);
  assert.deepEqual(run('addc.cc.u32', [0xffffffffn, 0n, true]), [0n, true]);
  assert.deepEqual(run('addc.u32', [1n, 2n, true]), [4n]);
  assert.deepEqual(run('sub.cc.u32', [0n, 1n]), [0xffffffffn, true]);
  assert.deepEqual(run('subc.cc.u32', [0n, 0n, true]), [0xffffffffn, true]);
  assert.deepEqual(run('subc.u32', [5n, 0xffffffffn, true]), [5n]);
  assert.deepEqual(run('mad.lo.cc.u32', [0x10000n, 0x10000n, 0xffffffffn]), [0xffffffffn, false]);
  assert.deepEqual(run('madc.hi.u32', [0x10000n, 0x10000n, 0n, true]), [2n]);
});

test('three-operand min and max', () => {
  const register = { kind: 'scalar', widths: [32] } as const;
  const shape = [register, register, register, register];
  assert.deepEqual(run('min.abs.f32', [0xbf800000n, 0x40000000n, 0x40400000n], shape), [0x3f800000n]);
  assert.deepEqual(run('max.NaN.f32', [0xbf800000n, 0x7fc00000n, 0x40400000n], shape), [0x7fffffffn]);
});

test('setp with two results: the second negates the comparison before it is combined', () => {
  const register = (widths: readonly (32 | 'predicate')[], kind: 'scalar' | 'pair' = 'scalar') => ({ kind, widths });
  const shape = [register(['predicate', 'predicate'], 'pair'), register([32]), register([32]), register(['predicate'])];
  assert.deepEqual(run('setp.lt.and.s32', [1n, 2n, true], shape), [true, false]);
  assert.deepEqual(run('setp.lt.and.s32', [1n, 2n, false], shape), [false, false]);
});

test('vectors are packed lowest first', () => {
  const pack = [
    { kind: 'scalar', widths: [32] },
    { kind: 'vector', widths: [16, 16] },
  ] as const;
  const unpack = [
    { kind: 'vector', widths: [32, null] },
    { kind: 'scalar', widths: [64] },
  ] as const;
  assert.deepEqual(run('mov.b32', [0x1234n, 0xabcdn], pack), [0xabcd1234n]);
  assert.deepEqual(run('mov.b64', [0x1111111122222222n], unpack), [0x22222222n, 0x11111111n]);
});

test('lop3 computes its lookup table', () => {
  const shape = (table: bigint): OperandShape => [
    { kind: 'scalar', widths: [32] },
    { kind: 'scalar', widths: [32] },
    { kind: 'scalar', widths: [32] },
    { kind: 'scalar', widths: [32] },
    { kind: 'scalar', widths: [null], literal: table },
  ];
  const [a, b, c] = [0xf0f0f0f0n, 0xccccccccn, 0xaaaaaaaan];
  for (const table of [0x00n, 0x1an, 0x96n, 0xe8n, 0xffn]) {
    // For these sources, each byte of the result is the table itself.
    assert.deepEqual(run('lop3.b32', [a, b, c, table], shape(table)), [table * 0x01010101n]);
  }
});

test('operands and results have the width of their registers', () => {
  const wide = [
    { kind: 'scalar', widths: [32] },
    { kind: 'scalar', widths: [32] },
  ] as const;
  assert.deepEqual(run('cvt.s8.s32', [0x1ffn], wide), [0xffffffffn]);
  assert.deepEqual(run('cvt.u8.u32', [0x1ffn], wide), [0xffn]);
  assert.deepEqual(run('cvt.s32.s8', [0x1ffn], wide), [0xffffffffn]);
});
