/** Counters of 8 and 16 bits in registers of 32 bits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextOf } from '../../check/kernel-text.ts';

/** The upper bound on the trip count, if it is below 2^20. */
function roundsOf(body: string): number | null {
  const { symbolic } = contextOf(`${body} st.u32 [%d1], %r0;`);
  const most = symbolic.rounds[0]!;
  return most < 1n << 20n ? Number(most) : null;
}

/** `for (T i = 0; i < limit; i += step)`, with the register `%r20` widened by `widen` into `%r21`. */
const loop = (widen: string, step = 1, compare = 'ge.u32', limit = 10, more = ''): string =>
  `mov.u32 %r20, 0; L: ${widen} setp.${compare} %p1, %r21, ${limit}; @%p1 bra X; ${more} add.s32 %r20, %r21, ${step}; bra L; X:`;

const low = {
  'and 255': 'and.b32 %r21, %r20, 255;',
  'and 65535': 'and.b32 %r21, %r20, 65535;',
  'shl 24, shr 24': 'shl.b32 %r22, %r20, 24; shr.s32 %r21, %r22, 24;',
  'shl 16, shr 16': 'shl.b32 %r22, %r20, 16; shr.u32 %r21, %r22, 16;',
  'cvt s16': 'cvt.u16.u32 %h1, %r20; cvt.s32.s16 %r21, %h1;',
  'cvt u16': 'cvt.u16.u32 %h1, %r20; cvt.u32.u16 %r21, %h1;',
};

test('counters that are widened from their low bits have a trip count', () => {
  for (const [name, widen] of Object.entries(low)) {
    assert.equal(roundsOf(loop(widen)), 10, name);
    assert.equal(roundsOf(loop(widen, 3)), 4, name);
    assert.equal(roundsOf(loop(widen, 1, 'gt.s32', 10)), 11, name);
  }
});

test('a limit or step that lets the low bits wrap around has none', () => {
  assert.equal(roundsOf(loop(low['and 255'], 1, 'ge.u32', 255)), 255);
  assert.equal(roundsOf(loop(low['and 255'], 1, 'ge.u32', 256)), null);
  assert.equal(roundsOf(loop(low['and 255'], 2, 'ge.u32', 255)), null);
  assert.equal(roundsOf(loop(low['and 255'], 2, 'ge.u32', 254)), 127);
  assert.equal(roundsOf(loop(low['shl 24, shr 24'], 1, 'ge.s32', 127)), 127);
  assert.equal(roundsOf(loop(low['cvt s16'], 1, 'ge.s32', 32767)), 32767);
  assert.equal(roundsOf(loop(low['cvt s16'], 1, 'ge.s32', 32768)), null);
  assert.equal(roundsOf(loop(low['shl 24, shr 24'], 1, 'ge.s32', 128)), null);
  assert.equal(roundsOf(loop(low['shl 16, shr 16'], 1, 'ge.u32', 65535)), 65535);
  assert.equal(roundsOf(loop(low['shl 16, shr 16'], 1, 'ge.u32', 65536)), null);
});

test('the upper bits are not read elsewhere', () => {
  const read = (use: string, widen = low['and 255']): number | null => roundsOf(loop(widen, 1, 'ge.s32', 10, `${use} st.u32 [%d2], %r30;`));
  const masked = (bits: number): string => `and.b32 %r30, %r20, ${2 ** bits - 1};`;
  assert.deepEqual([read(masked(4)), read(masked(8)), read(masked(9))], [10, 10, null]);
  assert.deepEqual([read(masked(9), low['and 65535']), read(masked(16), low['cvt u16']), read(masked(17), low['cvt u16'])], [10, 10, null]);
  const shifted = (by: number): string => `shl.b32 %r30, %r20, ${by};`;
  assert.deepEqual([read(shifted(24)), read(shifted(30)), read(shifted(23)), read(shifted(16), low['and 65535'])], [10, 10, null, 10]);
  const uses = [
    'mov.u32 %r30, %r20;',
    'add.s32 %r30, %r20, 1;',
    'shl.b32 %r30, 1, %r20;',
    'shl.b32 %r30, %r20, %r9;',
    'and.b32 %r30, %r20, %r9;',
    'and.b32 %r30, %r20, %r20;',
    'cvt.u64.u32 %d30, %r20; cvt.u32.u64 %r30, %d30;',
    'setp.eq.s32 %p2, %r9, 3; selp.b32 %r30, %r20, 1, %p2;',
    'mov.u32 %r30, 1; setp.eq.s32 %p2, %r9, 3; @%p2 bra Y; mov.u32 %r30, %r20; Y:',
    'st.u32 [%d2+4], %r20; mov.u32 %r30, 1;',
    'T: .branchtargets Y, Y2; brx.idx %r20, T; Y: Y2: mov.u32 %r30, 1;',
  ];
  for (const use of uses) assert.equal(read(use), null, use);
  assert.equal(roundsOf(loop('and.b32 %r21, %r20, 254;')), null);
  assert.equal(roundsOf(loop('shl.b32 %r22, %r20, 24; shr.s32 %r21, %r22, 23;')), null);
});

test('a limit that is a parameter', () => {
  const bounded = (widen: string): bigint =>
    contextOf(`mov.u32 %r20, 0; L: ${widen} setp.ge.s32 %p1, %r21, %r9; @%p1 bra X; add.s32 %r20, %r21, 1; bra L; X: st.u32 [%d1], %r0;`, {
      assume: ['n >= 0', 'n <= 100'],
    }).symbolic.rounds[0]!;
  for (const [name, widen] of Object.entries(low)) assert.equal(bounded(widen), 100n, name);
});
