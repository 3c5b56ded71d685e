/** Whether contents of memory decide an access: through addresses, branches, loops and values of the warp. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { dependsOnContents } from '../../../src/check/memory/contents-dependence.ts';
import { kernelOf, requestFor, store } from '../kernel-text.ts';

/** Whether contents decide the last access to shared memory of a kernel. */
function depends(body: string): boolean {
  const facts = kernelContext(requestFor(kernelOf(body)));
  const access = facts.accesses.findLast(({ memory }) => memory === 'shared');
  return dependsOnContents(facts, access!);
}

const write = (index: string): string => store('%d0', index, '%r0', 10);

test('numbers of threads, arguments and what follows from them are of the launch', () => {
  assert.equal(depends(write('%r0')), false);
  assert.equal(depends(`setp.lt.s32 %p1, %r7, %r9; @!%p1 bra E; ${write('%r8')} E:`), false);
  assert.equal(depends(`shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1; ${write('%r2')}`), false);
  const loop = (end: string): string =>
    `mov.u32 %r21, 0; L: setp.ge.s32 %p2, %r21, ${end}; @%p2 bra D; ${write('%r21')} add.s32 %r21, %r21, 1; bra L; D:`;
  assert.equal(depends(loop('%r9')), false);
  assert.equal(depends(`ld.global.u32 %r20, [%d1]; ${loop('%r20')}`), true);
});

test('loaded values and results of atomics are contents, as an address or as a condition', () => {
  const loaded = 'ld.global.u32 %r2, [%d1];';
  assert.equal(depends(`${loaded} ${write('%r2')}`), true);
  assert.equal(depends(`${loaded} setp.lt.s32 %p1, %r2, %r9; @!%p1 bra E; ${write('%r0')} E:`), true);
  assert.equal(depends(`atom.global.add.u32 %r2, [%d1], 1; ${write('%r2')}`), true);
  // The stored value decides nothing.
  assert.equal(depends(`${loaded} ${store('%d0', '%r0', '%r2', 10)}`), false);
});

test('a value that a loop carries from a load is found, though the loop also carries others', () => {
  const start = 'ld.global.u32 %r20, [%d1]; mov.u32 %r21, 0; mov.u32 %r22, 0;';
  const loop = `L: mov.u32 %r23, %r21; mov.u32 %r21, %r22; mov.u32 %r22, %r20; add.s32 %r24, %r24, 1; setp.lt.s32 %p2, %r24, %r9; @%p2 bra L;`;
  assert.equal(depends(`mov.u32 %r24, 0; ${start} ${loop} ${write('%r23')}`), true);
});
