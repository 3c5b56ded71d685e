/** Thread 0 of a block: indices that conditions fix, blocks that it reaches, values that it broadcasts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFullBarrier } from '../../../src/analysis/barriers/barrier-interval.ts';
import { findBroadcasts } from '../../../src/analysis/values/broadcast.ts';
import { areLeaders, isOneThread, leaderReaches, pinsOf } from '../../../src/analysis/values/leader.ts';
import { pointsOf } from '../../../src/analysis/values/program-point.ts';
import { contextOf, type CheckOptions } from '../../check/kernel-text.ts';

const solid: CheckOptions = { block: [8, 4, 2], grid: [3, 2, 1] };
const indices = `mov.u32 %r21, %tid.y; mov.u32 %r22, %tid.z; mov.u32 %r23, %ctaid.y; mov.u32 %r24, %ntid.x; mov.u32 %r25, %ntid.y;`;

/** `THREAD / BLOCK` with the fixed indices of the last store. */
function pinsIn(condition: string, options: CheckOptions = solid): string {
  const { symbolic, accesses, dimensions } = contextOf(`${indices} ${condition} @!%p1 bra X; st.u32 [%d1], 1; X:`, options);
  const pins = pinsOf(symbolic, accesses.at(-1)!.block, dimensions);
  const text = (list: readonly (bigint | undefined)[]): string => list.map((one) => one ?? '-').join(' ');
  const marks = [isOneThread(pins) ? 'one' : '', areLeaders(pins) ? 'leader' : '', pins.assumes.length > 0 ? 'assumes' : ''];
  return [text(pins.thread), '/', text(pins.block), ...marks].filter((one) => one !== '').join(' ');
}

test('indices that the conditions fix', () => {
  const cases: [string, string, CheckOptions?][] = [
    ['setp.eq.u32 %p1, %r0, 0;', '0 - - / - - 0'],
    ['setp.eq.u32 %p1, 0, %r0;', '0 - - / - - 0'],
    ['setp.eq.u32 %p1, %r0, 3;', '3 - - / - - 0'],
    ['setp.ne.u32 %p1, %r0, 0;', '- - - / - - 0'],
    ['setp.lt.u32 %p1, %r0, 1;', '- - - / - - 0'],
    ['setp.eq.u32 %p1, %r0, %r9;', '- - - / - - 0'],
    ['setp.eq.u32 %p1, %r6, 2;', '- - - / 2 - 0'],
    ['setp.eq.u32 %p1, %r23, 0;', '- - - / - 0 0'],
    ['or.b32 %r30, %r0, %r21; setp.eq.u32 %p1, %r30, 0;', '0 0 - / - - 0'],
    ['add.s32 %r30, %r0, %r21; add.s32 %r30, %r30, %r22; setp.eq.u32 %p1, %r30, 0;', '0 0 0 / - - 0 one leader'],
    ['add.s32 %r30, %r0, %r21; setp.eq.u32 %p1, %r30, 0;', '0 0 - / - - 0'],
    ['add.s32 %r30, %r0, %r21; setp.eq.u32 %p1, %r30, 1;', '- - - / - - 0'],
    ['add.s32 %r30, %r0, 1; setp.eq.u32 %p1, %r30, 1;', '- - - / - - 0'],
    ['sub.s32 %r30, %r0, %r21; setp.eq.u32 %p1, %r30, 0;', '- - - / - - 0'],
    ['add.s32 %r30, %r0, %r9; setp.eq.u32 %p1, %r30, 0;', '- - - / - - 0'],
    ['mad.lo.u32 %r30, %r22, 4, %r21; mad.lo.u32 %r30, %r30, 8, %r0; setp.eq.u32 %p1, %r30, 0;', '0 0 0 / - - 0 one leader'],
    ['mad.lo.u32 %r30, %r6, 8, %r0; setp.eq.u32 %p1, %r30, 0;', '0 - - / 0 - 0'],
    ['cvt.u64.u32 %d30, %r0; setp.eq.u64 %p1, %d30, 0;', '0 - - / - - 0'],
    // One thread that is not thread 0; one dimension.
    ['setp.eq.u32 %p1, %r0, 5;', '5 0 0 / 0 0 0 one', {}],
    ['setp.eq.u32 %p1, %r0, 0;', '0 0 0 / 0 0 0 one leader', {}],
    ['setp.eq.u32 %p1, %r9, 0;', '- 0 0 / 0 0 0', {}],
    ['setp.eq.u32 %p1, %r7, 0;', '0 0 0 / 0 0 0 one leader', { grid: [9, 1, 1] }],
    // Blocks of any size; extents that the kernel does not read are 1. A product of extents may wrap around.
    ['setp.eq.u32 %p1, %r7, 0;', '0 0 0 / 0 0 0 one assumes', { block: null, grid: null }],
    ['mad.lo.u32 %r30, %r21, %r24, %r0; setp.eq.u32 %p1, %r30, 0;', '0 0 0 / 0 0 0 one leader', { block: null, grid: null }],
    ['mul.lo.u32 %r30, %r0, %r9; setp.eq.u32 %p1, %r30, 0;', '- - - / - - 0'],
    ['mul.lo.u32 %r30, %r0, %r21; setp.eq.u32 %p1, %r30, 0;', '- - - / - - 0'],
  ];
  const wrong = cases.flatMap(([condition, expected, options]) => {
    const found = pinsIn(condition, options);
    return found === expected ? [] : [[condition, found]];
  });
  assert.deepEqual(wrong, []);
});

test('thread 0 reaches a block of code if another thread reaches a second one', () => {
  /** The first store is the one that thread 0 reaches; the second one is reached by some thread. */
  const reaches = (body: string): boolean => {
    const { symbolic, accesses } = contextOf(body, { block: [64, 1, 1], grid: [4, 1, 1] });
    const stores = accesses.filter(({ operation }) => operation === 'write');
    return leaderReaches(symbolic, stores[0]!.block, stores[1]!.block);
  };
  const cases: [string, boolean][] = [
    ['st.u32 [%d1], 1; bar.sync 0; st.u32 [%d2], 1;', true],
    ['setp.ne.u32 %p1, %r0, 0; @%p1 bra X; st.u32 [%d1], 1; X: st.u32 [%d2], 1;', true],
    ['setp.ne.u32 %p1, %r0, 1; @%p1 bra X; st.u32 [%d1], 1; X: st.u32 [%d2], 1;', false],
    ['setp.gt.u32 %p1, %r0, 31; @%p1 bra X; st.u32 [%d1], 1; X: st.u32 [%d2], 1;', true],
    ['setp.lt.s32 %p1, %r9, 3; @%p1 bra X; st.u32 [%d1], 1; X: st.u32 [%d2], 1;', false],
    ['setp.lt.s32 %p1, %r9, 3; @%p1 bra X; st.u32 [%d1], 1; bar.sync 0; st.u32 [%d2], 1; X:', true],
    ['setp.ne.u32 %p1, %r6, 1; @%p1 bra X; st.u32 [%d1], 1; bar.sync 0; st.u32 [%d2], 1; X:', true],
    ['setp.lt.s32 %p1, %r0, %r9; @!%p1 bra X; st.u32 [%d1], 1; bar.sync 0; st.u32 [%d2], 1; X:', false],
    ['ld.u32 %r20, [%d2]; setp.lt.s32 %p1, %r20, 3; @%p1 bra X; st.u32 [%d1], 1; bar.sync 0; st.u32 [%d1], 1; X:', false],
    // After a loop with one exit.
    [
      'mov.u32 %r20, 0; L: setp.ge.s32 %p1, %r20, %r9; @%p1 bra X; add.s32 %r20, %r20, 1; bra L; X: st.u32 [%d1], 1; bar.sync 0; st.u32 [%d2], 1;',
      true,
    ],
  ];
  for (const [body, expected] of cases) assert.equal(reaches(body), expected, body);
  // Thread 0 satisfies a condition on memory without which no thread of the block passes a barrier.
  const needed = 'ld.u32 %r20, [%d2]; setp.lt.s32 %p1, %r20, 3;';
  for (const [body, expected] of [
    [`${needed} @%p1 ret; bar.sync 0; st.u32 [%d1], 1; bar.sync 0; st.u32 [%d1], 1;`, true],
    [`bar.sync 0; ${needed} @%p1 ret; st.u32 [%d1], 1; bar.sync 0; st.u32 [%d1], 1;`, false],
  ] as const) {
    const { symbolic, kernel, accesses } = contextOf(body, { block: [64, 1, 1], grid: [4, 1, 1] });
    const [passed] = pointsOf(kernel, isFullBarrier);
    const [first, second] = accesses.filter(({ operation }) => operation === 'write');
    assert.equal(leaderReaches(symbolic, first!.block, second!.block, null, passed!.block), expected, body);
    assert.equal(leaderReaches(symbolic, first!.block, second!.block), false, body);
  }
});

const store = (value = '%r9', by = '%r0, 0'): string => `setp.ne.u32 %p1, ${by}; @%p1 bra S; st.shared.u32 [s], ${value}; S:`;
const load = 'ld.shared.u32 %r20, [s];';
const barrier = 'bar.sync 0;';
const loop = (body: string, bound = '%r9'): string =>
  `mov.u32 %r30, 0; L: ${body} add.s32 %r30, %r30, 1; setp.lt.s32 %p9, %r30, ${bound}; @%p9 bra L;`;

test('values that thread 0 broadcasts through shared memory', () => {
  const count = (body: string, together = true): string => {
    const { symbolic, accesses, kernel, dimensions } = contextOf(body, { grid: [4, 1, 1] });
    const found = findBroadcasts(symbolic, accesses, pointsOf(kernel, isFullBarrier), dimensions, () => together);
    return found.map(({ loop: around, leaderValues }) => `${around === null ? 'once' : 'each'} ${leaderValues.length}`).join();
  };
  const cases: [string, string][] = [
    [`${store()} ${barrier} ${load}`, 'once 0'],
    [`${store()} ${barrier} ${load} ${load}`, 'once 0,once 0'],
    [`${store()} ${load}`, ''],
    [`${barrier} ${store()} ${load}`, ''],
    [`${load} ${barrier} ${store()}`, ''],
    [`${store()} setp.eq.s32 %p2, %r9, 3; @%p2 bra N; ${barrier} N: ${load}`, ''],
    [`setp.eq.s32 %p2, %r9, 3; @%p2 bra N; ${store()} N: ${barrier} ${load}`, ''],
    // Another thread, for a value of all threads, if the block has it.
    [`${store('%r9', '%r0, 5')} ${barrier} ${load}`, 'once 0'],
    [`${store('%r0', '%r0, 5')} ${barrier} ${load}`, ''],
    [`${store('%r9', '%r0, 5000')} ${barrier} ${load}`, ''],
    [`setp.gt.u32 %p1, %r0, 31; @%p1 bra S; st.shared.u32 [s], %r9; S: ${barrier} ${load}`, 'once 0'],
    // A value of thread 0, and one that it computes once.
    [`${store('%r0')} ${barrier} ${load}`, 'once 0'],
    [`setp.ne.u32 %p1, %r0, 0; @%p1 bra S; ld.u32 %r21, [%d1]; st.shared.u32 [s], %r21; S: ${barrier} ${load}`, 'once 1'],
    [`setp.ne.u32 %p1, %r0, 0; @%p1 bra S; atom.add.u32 %r21, [%d1], 1; st.shared.u32 [s], %r21; S: ${barrier} ${load}`, 'once 1'],
    // All threads compute it.
    [`ld.u32 %r21, [%d1]; ${store('%r21')} ${barrier} ${load}`, ''],
    [`${store('%r22')} ${barrier} ${load}`, ''],
    // Other writers, sizes and places.
    [`${store()} st.shared.u32 [s+4], 1; ${barrier} ${load}`, 'once 0'],
    [`${store()} st.shared.u32 [s], 1; ${barrier} ${load}`, ''],
    [`${store()} st.shared.u8 [s+3], 1; ${barrier} ${load}`, ''],
    [
      `${store()} mad.lo.s32 %r23, %r0, 4, 8; cvt.u64.u32 %d20, %r23; add.s64 %d20, %d3, %d20; st.shared.u32 [%d20], 1; ${barrier} ${load}`,
      '',
    ],
    [`${store()} st.u32 [%d9], 1; ${barrier} ${load}`, ''],
    [`${store()} ${barrier} ld.shared.u32 %r20, [s+4];`, ''],
    [`${store()} ${barrier} ld.shared.u16 %r20, [s];`, ''],
    [`${store()} ${barrier} ld.shared.v2.u32 {%r20, %r21}, [s];`, ''],
    [`${store()} ${barrier} mad.lo.s32 %r23, %r0, 4, 0; cvt.u64.u32 %d20, %r23; add.s64 %d20, %d3, %d20; ld.shared.u32 %r20, [%d20];`, ''],
    [`setp.ne.u32 %p1, %r0, 0; @%p1 bra S; atom.shared.add.u32 %r21, [s], 1; S: ${barrier} ${load}`, ''],
    [`setp.ne.u32 %p1, %r0, 0; @%p1 bra S; st.u32 [%d1], %r9; S: ${barrier} ld.u32 %r20, [%d1];`, ''],
    // Strong accesses: of one thread.
    [`${store().replace('st.shared', 'st.volatile.shared')} ${barrier} ${load}`, 'once 0'],
    [`setp.gt.u32 %p1, %r0, 31; @%p1 bra S; st.volatile.shared.u32 [s], %r9; S: ${barrier} ${load}`, ''],
    // In a loop.
    [loop(`${store()} ${barrier} ${load} ${barrier}`), 'each 0'],
    [loop(`${store('%r30')} ${barrier} ${load} ${barrier}`), ''],
    [
      loop(`setp.ne.u32 %p1, %r0, 0; @%p1 bra S; atom.add.u32 %r21, [%d1], 1; st.shared.u32 [s], %r21; S: ${barrier} ${load} ${barrier}`),
      'each 1',
    ],
    [loop(`${load} ${barrier} ${store()} ${barrier}`), ''],
    [`${loop(`${store()} ${barrier}`)} ${load}`, ''],
    [`${store()} ${loop(`${barrier} ${load}`)}`, 'once 0'],
    [loop(`${store()} ${barrier} ld.volatile.shared.u32 %r20, [s]; ${barrier}`), ''],
    [loop(`${store().replace('st.shared', 'st.volatile.shared')} ${barrier} ${load} ${barrier}`), ''],
    [loop(`${store()} setp.eq.s32 %p2, %r9, 3; @%p2 bra N; ${barrier} N: ${load}`), ''],
  ];
  const wrong = cases.flatMap(([body, expected]) => (count(body) === expected ? [] : [[body, count(body)]]));
  assert.deepEqual(wrong, []);
  assert.equal(count(loop(`${store()} ${barrier} ${load} ${barrier}`), false), '');
  assert.equal(count(`${store()} ${barrier} ${load}`, false), 'once 0');
});
