import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsVectorClocks } from '../../../src/interpreter/detector/needs-vector-clocks.ts';
import { kernel } from '../core/launch-text.ts';

const shared = '.shared .align 16 .b8 s[512];';

/** Reasons why a body needs vector clocks. */
function reasons(body: string): readonly string[] {
  return needsVectorClocks(kernel(body, shared));
}

test('barriers of whole blocks and warps and atomics of one width need none', () => {
  assert.deepEqual(reasons('st.global.u32 [%d3], %r0; bar.sync 0; ld.global.u32 %r1, [%d3]; bar.warp.sync -1;'), []);
  assert.deepEqual(reasons('red.global.add.u32 [%d1], 1; atom.cta.global.max.u32 %r1, [%d1], 1; bar.sync 2;'), []);
  assert.deepEqual(reasons('membar.gl; st.global.u32 [%d3], %r0; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;'), []);
  assert.deepEqual(reasons('ld.volatile.global.u32 %r1, [%d1]; st.global.u32 [%d3], %r1;'), []);
});

test('each instruction that requires vector clocks is named as the reason', () => {
  assert.deepEqual(reasons('membar.gl; red.global.add.u32 [%d1], 1;'), ['fence']);
  assert.deepEqual(reasons('red.release.gpu.global.add.u32 [%d1], 1;'), ['acquire-release']);
  const relaxed = 'st.relaxed.gpu.global.u32 [%d1], 1; ld.relaxed.gpu.global.u32 %r1, [%d1];';
  assert.deepEqual(reasons(relaxed), ['strong-read']);
  assert.deepEqual(reasons('ld.volatile.global.u32 %r1, [%d1]; red.global.add.u32 [%d1], 1;'), ['strong-read']);
  assert.deepEqual(reasons('st.volatile.global.u32 [%d1], 1;'), ['volatile-write']);
  assert.deepEqual(reasons('red.global.add.u32 [%d1], 1; red.global.add.u64 [%d1], 1;'), ['mixed-width']);
  const packed = 'mov.u32 %r1, 1; red.global.add.noftz.f16x2 [%d1], %r1; red.global.add.u32 [%d1], 1;';
  assert.deepEqual(reasons(packed), ['mixed-width']);
  assert.deepEqual(reasons('bar.sync 1, 64;'), ['named-barrier']);
  assert.deepEqual(reasons('bar.arrive 1, 64; bar.sync 1, 64;'), ['named-barrier']);
  assert.deepEqual(reasons('bar.warp.sync 255;'), ['warp-mask']);
  assert.deepEqual(reasons('activemask.b32 %r1; bar.warp.sync %r1;'), ['warp-mask']);
  const copy = 'mov.u64 %d6, s; cvt.u32.u64 %r5, %d6; cp.async.ca.shared.global [%r5], [%d3], 4; cp.async.wait_all;';
  assert.deepEqual(reasons(copy), ['async-copy']);
  assert.deepEqual(reasons('barrier.cluster.arrive; barrier.cluster.wait;'), ['cluster-barrier']);
  assert.deepEqual(reasons('red.relaxed.cluster.global.add.u32 [%d1], 1;'), ['cluster-scope']);
  assert.deepEqual(reasons('mov.u64 %d6, s; mbarrier.init.shared::cta.b64 [%d6], 32;'), ['mbarrier']);
});
