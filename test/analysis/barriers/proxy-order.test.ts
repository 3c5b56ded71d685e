/** Writes that a matrix product of a warp group may read without a proxy fence on some path between them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyCrossings } from '../../../src/analysis/barriers/proxy-order.ts';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { kernelOf, requestFor } from '../../check/kernel-text.ts';

const declarations = '.shared .align 1024 .b8 t[8192];';
const setUp = `mov.u32 %r30, t; bfe.u32 %r40, %r30, 4, 14; cvt.u64.u32 %d30, %r40; or.b64 %d30, %d30, 0x4000004000000000; mov.pred %p9, 1;`;
const write = 'st.shared.u32 [t], %r0;';
const fence = 'fence.proxy.async.shared::cta;';
const barrier = 'bar.sync 0;';
const product = `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d30, %d30, %p9, 1, 1, 0, 0;`;
const wait = 'wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;';
const copy = 'cp.async.ca.shared.global [t], [%d1], 4;';
const copied = 'cp.async.commit_group; cp.async.wait_group 0;';
const some = (body: string): string => `setp.lt.s32 %p2, %r9, 64; @%p2 bra F; ${body} F:`;
const loop = (body: string): string => `mov.u32 %r20, 0; L: ${body} add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 4; @%p3 bra L;`;

test('a fence is on each path from a write to a product, after the write and before its release, or after the acquire', () => {
  const cases: [string, boolean][] = [
    [write, false],
    [product, false],
    [`${write} ${barrier} ${product}`, true],
    [`${write} ${fence} ${barrier} ${product}`, false],
    [`${write} ${barrier} ${fence} ${product}`, false],
    [`${fence} ${write} ${barrier} ${product}`, true],
    [`${write} ${some(fence)} ${barrier} ${product}`, true],
    [`${write} ${barrier} ${some(fence)} ${product}`, true],
    [`${some(write)} ${fence} ${barrier} ${product}`, false],
    [`${write} ${barrier} ${barrier} ${fence} ${barrier} ${product}`, false],
    // Of the same thread.
    [`${write} ${product}`, true],
    [`${write} ${fence} ${product}`, false],
    [`${write} ${fence} ${write} ${product}`, true],
    // After the product.
    [`${product} ${wait} ${barrier} ${write}`, false],
    [`${product} ${wait} ${write}`, false],
    [loop(`${product} ${wait} ${barrier} ${write} ${barrier}`), true],
    [loop(`${product} ${wait} ${barrier} ${write} ${fence} ${barrier}`), false],
    [`${loop(`${write} ${fence} ${barrier}`)} ${product}`, false],
    [`${loop(`${fence} ${write} ${barrier}`)} ${product}`, true],
    // Reads and writes of global memory.
    [`ld.shared.u32 %r21, [t]; ${barrier} ${product}`, false],
    [`st.global.u32 [%d1], %r0; ${barrier} ${product}`, false],
    // Threads that synchronise by other means: a release of the write, an acquire before the product.
    [`${write} fence.acq_rel.cta; ${barrier} ${product}`, true],
    [`${write} ${fence} fence.acq_rel.cta; ${barrier} ${product}`, false],
    [`${write} fence.acq_rel.cta; ${fence} ${barrier} ${product}`, true],
    [`${write} ${barrier} fence.acq_rel.cta; ${fence} ${product}`, false],
    [`${write} ${barrier} ${fence} fence.acq_rel.cta; ${product}`, true],
    [`fence.acq_rel.cta; ${product} ${wait} ${write} fence.acq_rel.cta;`, true],
    [`${barrier} ${product} ${wait} ${write} ${barrier}`, false],
    [`${write} ${fence} st.volatile.shared.u32 [t+4], %r0; ${barrier} ${product}`, true],
    // Copies write when they are complete.
    [`${copy} ${copied} ${barrier} ${product}`, true],
    [`${copy} ${copied} ${fence} ${barrier} ${product}`, false],
    [`${copy} ${fence} ${copied} ${barrier} ${product}`, true],
    [`${copy} ${copied} ${barrier} ${fence} ${product}`, false],
    [`${copy} ${copied} ${some(fence)} ${barrier} ${product}`, true],
    [`${copy} ${fence} ${barrier} ${product}`, true],
  ];
  const wrong = cases.flatMap(([body, expected]) => {
    const { kernel, accesses } = kernelContext(requestFor(kernelOf(`${setUp} ${body}`, declarations), { block: [128, 1, 1] }));
    return proxyCrossings(kernel, accesses).length > 0 === expected ? [] : [`${expected ? 'missed' : 'wrong'}: ${body}`];
  });
  assert.deepEqual(wrong, []);
});
