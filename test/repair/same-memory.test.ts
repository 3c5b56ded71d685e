import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { complete } from '../../src/base/coroutine.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import { differingInput } from '../../src/repair/same-memory.ts';
import { closeSolver, kernelOf, requestFor } from '../check/kernel-text.ts';

after(closeSolver);

const address = 'mad.wide.s32 %d5, %r0, 4, %d1;\n';

function differing(original: string, edited: string): Promise<number | null> {
  const request = requestFor(kernelOf(original));
  const { fields } = kernelContext(request);
  const { kernel, launch, parameters } = request;
  return complete(differingInput({ original: kernel, edited: kernelOf(edited), launch, parameters, fields }));
}

test('a load that moves before a barrier has the same value, thread by thread', async () => {
  const before = `${address}ld.global.u32 %r20, [%d5+4];\nst.global.u32 [%d5], %r20;`;
  const disjoint = `${address}ld.global.u32 %r20, [%d5+4];\nbar.sync 0;\nst.global.u32 [%d5], %r20;`;
  assert.equal(await differing(before, disjoint), null);
});

test('another element, another operation or another condition is detected', async () => {
  const before = `${address}ld.global.u32 %r20, [%d5+4];\nadd.s32 %r20, %r20, 1;\nst.global.u32 [%d5], %r20;`;
  assert.notEqual(await differing(before, before.replace('+4', '+8')), null);
  assert.notEqual(await differing(before, before.replace('add.s32', 'sub.s32')), null);
  const guarded = before.replace('st.global', 'setp.lt.s32 %p1, %r20, 50;\n@%p1 st.global');
  assert.notEqual(await differing(before, guarded), null);
});

test('an atomic update computes the same as the plain one', async () => {
  const before = `${address}ld.global.u32 %r20, [%d1];\nadd.s32 %r20, %r20, %r9;\nst.global.u32 [%d1], %r20;`;
  assert.equal(await differing(before, `${address}red.global.add.u32 [%d1], %r9;`), null);
});
