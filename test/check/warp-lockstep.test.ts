/** Lockstep of the threads of a warp that the configuration may assume, and its limits. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CheckOptions, check, closeSolver, load, store } from './kernel-text.ts';

after(closeSolver);

/** The verdict about races with and without lockstep. */
async function both(body: string, options: CheckOptions = {}): Promise<string> {
  const verdicts = await Promise.all(
    [true, false].map(async (warpLockstep) => (await check(body, { ...options, policy: { warpLockstep } })).race.verdict),
  );
  return verdicts.join(' ');
}

/** `s[tid] += s[tid + n]` by one instruction each. */
const step = (distance: string): string =>
  `add.s32 %r1, %r0, ${distance}; ${load('%r2', '%d0', '%r1', 10)} ${store('%d0', '%r0', '%r2', 11)}`;

test('two instructions of one warp in lockstep are ordered', async () => {
  assert.equal(await both(step('1'), { block: [32, 1, 1] }), 'proved race');
  const { race } = await check(step('1'), { block: [32, 1, 1], policy: { warpLockstep: true } });
  assert.ok(race.assumptions!.some(({ kind }) => kind === 'warp-lockstep'));
});

test('threads of different warps are not ordered', async () => {
  assert.equal(await both(step('1'), { block: [64, 1, 1] }), 'race race');
  assert.equal(await both(step('32'), { block: [64, 1, 1] }), 'race race');
  assert.equal(await both(step('1'), { block: [33, 1, 1] }), 'race race');
  // Rows of a block of 16 columns: a warp is two rows.
  const rows = 'mov.u32 %r3, %tid.y; shl.b32 %r4, %r3, 4; add.s32 %r0, %r0, %r4;';
  assert.equal(await both(`${rows} ${step('16')}`, { block: [16, 2, 1] }), 'proved race');
  assert.equal(await both(`${rows} ${step('16')}`, { block: [16, 3, 1] }), 'race race');
});

test('two lanes of one instruction race in lockstep too', async () => {
  assert.equal(await both(`shr.u32 %r1, %r0, 1; ${store('%d0', '%r1', '%r0', 10)}`, { block: [32, 1, 1] }), 'race race');
});

test('threads of different blocks are not in lockstep', async () => {
  const global = `${load('%r2', '%d1', '%r0', 10)} ${store('%d1', '%r0', '%r2', 11)}`;
  assert.equal(await both(global, { block: [32, 1, 1], grid: [2, 1, 1] }), 'race race');
});

test('in a block of any size, only the lanes of a warp are in lockstep', async () => {
  const own = `and.b32 %r3, %r0, 31; sub.s32 %r4, %r0, %r3; add.s32 %r1, %r3, 1; and.b32 %r1, %r1, 31; add.s32 %r1, %r1, %r4;`;
  const body = `${own} ${load('%r2', '%d0', '%r1', 10)} ${store('%d0', '%r0', '%r2', 11)}`;
  assert.equal(await both(body, { block: null, launch: { block: null } }), 'proved race');
  assert.equal((await both(step('1'), { block: null })).split(' ')[0], 'race');
});
