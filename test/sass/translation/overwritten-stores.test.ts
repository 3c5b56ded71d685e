/** Stores that a later store overwrites before another thread, or a load, may see them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overwrittenLines, type StoreInBlock } from '../../../src/sass/translation/overwritten-stores.ts';
import { firstLine, kernelOf } from './machine-code.ts';

/** Whether the store on the first line of a body may be omitted. @param looking indices of lines with loads in the SASS */
function isOverwritten(body: readonly string[], looking: readonly number[] = []): boolean {
  const kernel = kernelOf(body);
  const stores = kernel.blocks.flatMap(({ id, instructions }) =>
    instructions.flatMap((instruction): StoreInBlock[] =>
      instruction.operation.effect.kind === 'store' ? [{ instruction, block: id }] : [],
    ),
  );
  const lines = overwrittenLines(kernel, stores, new Set([firstLine]), new Set(looking.map((index) => firstLine + index)));
  return lines.has(firstLine);
}

const store = 'st.global.u32 [%d1], %r0;';
const again = 'st.global.u32 [%d1], %r9;';

test('a later store must overwrite all bytes', () => {
  const rows: readonly (readonly [boolean, ...body: readonly string[]])[] = [
    [true, store, again],
    [false, store],
    [false, store, 'st.global.u16 [%d1], %r9;'],
    [true, store, 'st.global.u64 [%d1], %d2;'],
    [true, 'st.global.u32 [%d1+4], %r0;', 'st.global.u64 [%d1], %d2;'],
    [false, 'st.global.u32 [%d1+8], %r0;', 'st.global.u64 [%d1], %d2;'],
    [false, 'st.global.u32 [%d1+6], %r0;', 'st.global.u64 [%d1], %d2;'],
    [false, 'st.global.u32 [%d1+-4], %r0;', 'st.global.u64 [%d1], %d2;'],
    [true, 'st.global.v2.u32 [%d1], {%r0, %r9};', 'st.global.u64 [%d1], %d2;'],
    [false, 'st.global.v4.u32 [%d1], {%r0, %r9, %r0, %r9};', 'st.global.u64 [%d1], %d2;'],
    [false, store, 'st.global.u32 [%d2], %r9;'],
    [false, store, 'st.global.u32 [%d1+4], %r9;'],
    [true, store, 'add.s64 %d3, %d1, 4; st.global.u32 [%d3+-4], %r9;'],
    [false, store, 'add.s64 %d3, %d1, 4; st.global.u32 [%d3], %r9;'],
    [true, 'st.shared.u32 [s], %r0;', 'st.shared.u32 [s], %r9;'],
    [false, 'st.shared.u32 [s], %r0;', 'st.shared.u32 [t], %r9;'],
    [false, 'st.shared.u32 [s], %r0;', 'st.shared.u32 [s+4], %r9;'],
    [true, 'st.shared.u32 [%r0], %r0;', 'st.shared.u32 [%r0], %r9;'],
    [true, 'st.shared.u32 [%r0+4], %r0;', 'st.shared.u32 [%r0+4], %r9;'],
    [false, 'st.shared.u32 [%r0+4], %r0;', 'st.shared.u32 [%r0], %r9;'],
    [false, 'st.shared.u32 [%r0], %r0;', 'st.shared.u32 [%r9], %r9;'],
    [true, 'st.shared.u32 [16], %r0;', 'st.shared.u32 [16], %r9;'],
    [false, 'st.shared.u32 [16], %r0;', 'st.shared.u32 [20], %r9;'],
  ];
  for (const [expected, ...body] of rows) assert.equal(isOverwritten(body), expected, body.join(' '));
});

test('addresses are equal if the same operations compute them from the same operands', () => {
  const rows: readonly (readonly [boolean, string, string])[] = [
    [true, 'mul.lo.u32 %r1, %r0, 4;', 'mul.lo.u32 %r2, %r0, 4;'],
    [false, 'mul.lo.u32 %r1, %r0, 4;', 'mul.lo.u32 %r2, %r0, 8;'],
    [false, 'mul.lo.u32 %r1, %r0, 4;', 'mul.lo.u32 %r2, %r9, 4;'],
    [false, 'mul.lo.u32 %r1, %r0, 4;', 'shl.b32 %r2, %r0, 4;'],
    [true, 'mul.lo.u32 %r1, %r0, %r9;', 'mul.lo.u32 %r2, %r0, %r9;'],
    [false, 'mul.lo.u32 %r1, %r0, %r9;', 'mul.lo.u32 %r2, %r0, %r0;'],
    [true, 'mov.u32 %r3, %ctaid.x; xor.b32 %r1, %r3, 5;', 'mov.u32 %r3, %ctaid.x; xor.b32 %r2, %r3, 5;'],
    [false, 'mov.u32 %r3, %ctaid.x; xor.b32 %r1, %r3, 5;', 'mov.u32 %r3, %ctaid.y; xor.b32 %r2, %r3, 5;'],
    [true, 'ld.param.u32 %r3, [n]; xor.b32 %r1, %r3, 5;', 'ld.param.u32 %r3, [n]; xor.b32 %r2, %r3, 5;'],
    [false, 'ld.param.u32 %r3, [a]; xor.b32 %r1, %r3, 5;', 'ld.param.u32 %r3, [a+4]; xor.b32 %r2, %r3, 5;'],
    [false, 'ld.param.u32 %r3, [a]; xor.b32 %r1, %r3, 5;', 'ld.param.u32 %r3, [b]; xor.b32 %r2, %r3, 5;'],
    [false, 'ld.volatile.shared.u32 %r3, [s]; xor.b32 %r1, %r3, 5;', 'ld.volatile.shared.u32 %r3, [s]; xor.b32 %r2, %r3, 5;'],
  ];
  for (const [expected, one, other] of rows) {
    const kernel = ['', `${one} ${other}`, 'st.shared.u32 [%r1], %r0;', 'st.shared.u32 [%r2], %r9;'];
    const lowered = kernelOf(kernel);
    const stores = lowered.blocks.flatMap(({ id, instructions }) =>
      instructions.flatMap((instruction): StoreInBlock[] =>
        instruction.operation.effect.kind === 'store' ? [{ instruction, block: id }] : [],
      ),
    );
    assert.equal(overwrittenLines(lowered, stores, new Set([firstLine + 2]), new Set()).has(firstLine + 2), expected, `${one} / ${other}`);
  }
});

test('nothing between the stores may show the first one to others', () => {
  const between: readonly (readonly [boolean, string])[] = [
    [false, 'bar.sync 0;'],
    [false, 'bar.warp.sync -1;'],
    [false, 'membar.cta;'],
    [false, 'fence.acq_rel.gpu;'],
    [false, 'cp.async.ca.shared.global [%r0], [%d2], 4;'],
    [true, 'add.u32 %r1, %r0, 1;'],
    [true, 'st.global.u32 [%d2], %r0;'],
    [true, 'st.shared.u32 [s], %r0;'],
  ];
  for (const [expected, one] of between) assert.equal(isOverwritten([store, one, again]), expected, one);
});

test('a load of the bytes that has code needs the store', () => {
  const rows: readonly (readonly [boolean, string, string?])[] = [
    [false, 'ld.global.u32 %r1, [%d1];'],
    [true, 'ld.global.u32 %r1, [%d1+4];'],
    [true, 'ld.global.u32 %r1, [%d1+-4];'],
    [false, 'ld.global.u64 %d4, [%d1+-4];'],
    [false, 'ld.global.u8 %r1, [%d1+3];'],
    [false, 'ld.global.v2.u32 {%r1, %r2}, [%d1+-4];'],
    [false, 'ld.global.u32 %r1, [%d2];', 'another root may be the same address'],
    [true, 'ld.shared.u32 %r1, [s];'],
    [false, 'ld.u32 %r1, [%d1];'],
    [true, 'ld.global.nc.u32 %r1, [%d1];'],
    [false, 'atom.global.add.u32 %r1, [%d1], 1;'],
    [true, 'atom.global.add.u32 %r1, [%d1+8], 1;'],
  ];
  for (const [expected, load, why] of rows) {
    const used = [
      store,
      load,
      again,
      'st.global.u32 [%d2+64], %r1; st.global.u64 [%d2+64], %d4;'.replace(load.includes('%d4') ? /^[^;]*; / : / st[^;]*;$/, ''),
    ];
    assert.equal(isOverwritten(used, [1]), expected, why ?? load);
    assert.equal(isOverwritten(used), true, 'the load has no code');
  }
  assert.equal(
    isOverwritten(['st.u32 [%d1], %r0;', 'ld.shared.u32 %r1, [s];', 'st.u32 [%d1], %r1;'], [1]),
    false,
    'a generic store may be to shared memory',
  );
});

test('all paths must overwrite, and none may return to the store', () => {
  const on = (...body: readonly string[]): boolean => isOverwritten(['st.global.u32 [%d1], %r0; setp.gt.u32 %p1, %r9, 7;', ...body]);
  assert.equal(on('@%p1 bra A;', again, 'bra B;', `A: ${again}`, 'B: ret;'), true);
  assert.equal(on('@%p1 bra B;', again, 'B: ret;'), false);
  assert.equal(on('@%p1 bra B;', 'st.global.u32 [%d2], 1;', `B: ${again}`), true);
  assert.equal(on('@%p1 bra B;', 'bar.sync 0;', `B: ${again}`), false);
  const loop = isOverwritten([`L: ${store}`, 'add.u32 %r9, %r9, 1;', 'setp.lt.u32 %p1, %r9, 7;', '@%p1 bra L;', again]);
  assert.equal(loop, false);
  assert.equal(isOverwritten([`L: ${store}`, again, 'add.u32 %r9, %r9, 1;', 'setp.lt.u32 %p1, %r9, 7;', '@%p1 bra L;']), true);
});
