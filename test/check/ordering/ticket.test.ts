/** Numbers that a counter issues, as indices of slots: no two threads have one, unless they are of one warp. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CheckOptions, check, closeSolver, store } from '../kernel-text.ts';

after(closeSolver);

type Case = readonly [body: string, isProved: boolean, options?: CheckOptions];

/** The cases that are proved although they should not be, or not proved although they should be, with their verdict. */
async function otherVerdicts(cases: Readonly<Record<string, Case>>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, [body, isProved, options]] of Object.entries(cases)) {
    const { race } = await check(body, { grid: [2, 1, 1], ...options });
    if ((race.verdict === 'proved') !== isProved) found.push(`${name}: ${race.verdict}`);
  }
  return found;
}

const take = (what: string): string => `atom.global.${what};`;
const slot = store('%d1', '%r20', '%r0', 10);

test('a slot of a counter is of one thread', async () => {
  const cases: Readonly<Record<string, Case>> = {
    one: [`${take('add.u32 %r20, [%d2], 1')} ${slot}`, true],
    two: [`${take('add.u32 %r20, [%d2], 2')} ${slot} add.s32 %r21, %r20, 1; ${store('%d1', '%r21', '%r0', 11)}`, true],
    tooFew: [`${take('add.u32 %r20, [%d2], 1')} ${slot} add.s32 %r21, %r20, 1; ${store('%d1', '%r21', '%r0', 11)}`, false],
    none: [`${take('add.u32 %r20, [%d2], 0')} ${slot}`, false],
    down: [`${take('add.u32 %r20, [%d2], -1')} ${slot}`, false],
    changed: [`${take('add.u32 %r20, [%d2], 1')} ${slot} ${take('exch.b32 %r21, [%d2], 0')}`, false],
    twoCounters: [`${take('add.u32 %r20, [%d2], 1')} ${slot} ${take('add.u32 %r20, [%d2+4], 1')} ${slot}`, false],
    beyond: [`${take('add.u32 %r20, [%d2], 67108864')} ${slot}`, false],
    ofAll: [`${take('add.u32 %r20, [%d2], 33554432')} ${slot}`, true],
    shared: [`mov.u32 %r21, 0; st.shared.u32 [s], %r21; bar.sync 0; atom.shared.add.u32 %r20, [s], 1; ${slot}`, true, { grid: [1, 1, 1] }],
    ofBlock: [`mov.u32 %r20, 0; atom.shared.add.u32 %r20, [s], 1; ${slot}`, false],
    // The number that a thread took in the previous iteration, and the one that it takes next.
    carried: [
      `mov.u32 %r1, 0; ${take('add.u32 %r20, [%d2], 1')} L: ${slot} ${take('add.u32 %r20, [%d2], 1')} add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 3; @%p1 bra L;`,
      true,
    ],
    carriedOther: [
      `mov.u32 %r1, 0; ${take('add.u32 %r20, [%d2+4], 1')} L: ${slot} ${take('add.u32 %r20, [%d2], 1')} add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 3; @%p1 bra L;`,
      false,
    ],
  };
  assert.deepEqual(await otherVerdicts(cases), []);
});

test('a slot of a warp, shuffled to its lanes', async () => {
  /** One lane takes slots for its warp; each lane uses the one with its number. */
  const warp = (shuffle: string, { lane = 0, count = 32, index = '%r2' } = {}): string =>
    `and.b32 %r2, %r0, 31; mov.u32 %r19, 0; setp.ne.s32 %p1, %r2, ${lane}; @%p1 bra J; ${take(`add.u32 %r19, [%d2], ${count}`)}
     J: shfl.sync.${shuffle}; add.s32 %r20, %r20, ${index}; ${slot}`;
  const from = (lane: number, more = '31, -1'): string => `idx.b32 %r20|%p2, %r19, ${lane}, ${more}`;
  const cases: Readonly<Record<string, Case>> = {
    lane0: [warp(from(0)), true],
    lane0OfPart: [warp(from(0)), true, { block: [40, 1, 1] }],
    lane5: [warp(from(5), { lane: 5 }), true],
    lane5OfPart: [warp(from(5), { lane: 5 }), false, { block: [35, 1, 1] }],
    another: [warp(from(1)), false],
    mode: [warp('down.b32 %r20|%p2, %r19, 0, 31, -1'), false],
    halves: [warp(from(0, '4127, -1')), false],
    mask: [warp(from(0, '31, 65535')), false],
    tooFew: [warp(from(0), { count: 31 }), false],
    same: [warp(from(0), { index: '0' }), false],
    rows: [warp(from(0)), false, { block: [32, 2, 1] }],
  };
  assert.deepEqual(await otherVerdicts(cases), []);
});
