/** Which instructions are fences, release or acquire, and which are strong: PTX ISA 9.0, sections 8.4 to 8.10 and 9.7.13.4. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instruction } from '../../src/ir/form/kernel.ts';
import { acquires, fenceOf, isAcquiring, isFence, isReleasing, isStrong, releases } from '../../src/memory-model/fence.ts';
import { reachesGrid, reachesOver } from '../../src/memory-model/scope.ts';
import { kernelOf } from '../check/kernel-text.ts';

/** The last instruction of a body before the end of the kernel. */
function instructionOf(text: string): Instruction {
  const found = kernelOf(`${text}\nret;`)
    .blocks.flatMap(({ instructions }) => instructions)
    .findLast(({ operation: { effect } }) => !/^(?:pure|return|exit)$/.test(effect.kind));
  assert.ok(found, text);
  return found;
}

/** `B`: it is a fence that orders both directions within a block, `G`: also towards other blocks. */
const fences: readonly (readonly [string, string])[] = [
  ['membar.cta', 'B'],
  ['membar.gl', 'BG'],
  ['membar.sys', 'BG'],
  ['fence.sc.cta', 'B'],
  ['fence.sc.cluster', 'B'],
  ['fence.sc.gpu', 'BG'],
  ['fence.acq_rel.cta', 'B'],
  ['fence.acq_rel.cluster', 'B'],
  ['fence.acq_rel.gpu', 'BG'],
  ['fence.acq_rel.sys', 'BG'],
  ['fence.acquire.gpu', ''],
  ['fence.release.gpu', ''],
  ['fence.proxy.async', ''],
  ['bar.sync 0', ''],
  ['atom.global.acq_rel.gpu.add.u32 %r20, [%d1], 1', ''],
];

for (const [text, expected] of fences)
  test(`${text} orders ${expected === '' ? 'nothing as a fence in both directions' : expected === 'B' ? 'a block' : 'a grid'}`, () => {
    const one = instructionOf(`${text};`);
    assert.equal(`${isFence(one, false) ? 'B' : ''}${isFence(one, true) ? 'G' : ''}`, expected);
    const isOne = /^(?:fence|membar)/.test(text) && !text.includes('proxy');
    assert.equal(fenceOf(one.operation.effect) !== null, isOne);
    // A fence does not count as an access that releases or acquires.
    if (!text.startsWith('atom')) assert.ok(!isReleasing(one) && !isAcquiring(one) && !isStrong(one));
  });

/** `R` releases, `A` acquires, `S` is strong. */
const accesses: readonly (readonly [string, string])[] = [
  ['ld.global.u32 %r20, [%d1]', ''],
  ['ld.volatile.global.u32 %r20, [%d1]', 'S'],
  ['ld.relaxed.gpu.global.u32 %r20, [%d1]', 'S'],
  ['ld.acquire.gpu.global.u32 %r20, [%d1]', 'AS'],
  ['st.global.u32 [%d1], %r9', ''],
  ['st.volatile.global.u32 [%d1], %r9', 'S'],
  ['st.relaxed.cta.global.u32 [%d1], %r9', 'S'],
  ['st.release.sys.global.u32 [%d1], %r9', 'RS'],
  ['atom.global.add.u32 %r20, [%d1], 1', 'S'],
  ['atom.relaxed.gpu.global.add.u32 %r20, [%d1], 1', 'S'],
  ['atom.acquire.gpu.global.add.u32 %r20, [%d1], 1', 'AS'],
  ['atom.release.gpu.global.add.u32 %r20, [%d1], 1', 'RS'],
  ['atom.acq_rel.gpu.global.add.u32 %r20, [%d1], 1', 'RAS'],
  ['red.release.gpu.global.add.u32 [%d1], 1', 'RS'],
  ['barrier.cluster.arrive.release', 'R'],
  ['barrier.cluster.wait.acquire', 'A'],
  ['barrier.cluster.arrive.relaxed', ''],
];

for (const [text, expected] of accesses)
  test(`${text} is ${expected === '' ? 'weak' : expected}`, () => {
    const one = instructionOf(`${text};`);
    assert.equal(`${isReleasing(one) ? 'R' : ''}${isAcquiring(one) ? 'A' : ''}${isStrong(one) ? 'S' : ''}`, expected);
    assert.ok(!isFence(one, false));
  });

test('acq_rel and sc release and acquire; relaxed, volatile and weak do neither', () => {
  const all = ['weak', 'volatile', 'relaxed', 'acquire', 'release', 'acq_rel', 'sc', 'mmio', 'proxy'] as const;
  assert.deepEqual(all.filter(releases), ['release', 'acq_rel', 'sc']);
  assert.deepEqual(all.filter(acquires), ['acquire', 'acq_rel', 'sc']);
});

test('a scope includes its own block, the blocks of its cluster, or the grid', () => {
  assert.deepEqual(
    ['cta', 'cluster', 'gpu', 'sys', null].map((scope) => reachesGrid(scope as 'cta' | null)),
    [false, false, true, true, false],
  );
  const first = { ordinal: 0, cluster: 0 };
  const blocks = [first, { ordinal: 1, cluster: 0 }, { ordinal: 2, cluster: 1 }];
  const reached = (reach: number): boolean[] => blocks.map((one) => reachesOver(reach, first, one));
  assert.deepEqual(reached(0), [true, false, false]);
  assert.deepEqual(reached(1), [true, true, false]);
  assert.deepEqual(reached(2), [true, true, true]);
});
