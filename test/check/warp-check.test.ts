/** Instructions that lanes of a warp execute together: which lanes have to come, with which masks, and what they share. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, type CheckOptions, closeSolver, load, store, verdicts } from './kernel-text.ts';

after(closeSolver);

const end = store('%d2', '%r0', '%r0', 60);
const warp: CheckOptions = { block: [32, 1, 1] };

async function divergenceOf(body: string, options: CheckOptions = {}): Promise<string> {
  const { divergence } = await check(body, options);
  const [finding] = divergence.findings;
  return finding ? `${divergence.verdict} ${finding.code}` : divergence.verdict;
}

async function assertAll(cases: readonly (readonly [body: string, expected: string])[], options: CheckOptions = {}): Promise<void> {
  for (const [body, expected] of cases) assert.equal(await divergenceOf(body, options), expected, body);
}

/** A shuffle of the lanes with a tid.x below a limit; the others wait at a barrier, or have returned. */
const below = (limit: number, mask: string, after = 'bar.sync 0;'): string =>
  `setp.ge.u32 %p1, %r0, ${limit}; @%p1 bra X; shfl.sync.bfly.b32 %r1, %r0, 1, 31, ${mask}; X: ${after} ${end}`;

test('lanes that the mask names, and that wait elsewhere, are missing', () =>
  assertAll([
    [below(64, '-1'), 'proved'],
    [below(32, '-1'), 'proved'],
    [below(31, '-1'), 'divergent warp/missing-lanes'],
    [below(16, '0xffff'), 'proved'],
    [below(16, '0x1ffff'), 'divergent warp/missing-lanes'],
  ]));

test('a lane that its mask does not name is outside', () =>
  assertAll(
    [
      [below(16, '0xffff'), 'proved'],
      [below(17, '0xffff'), 'divergent warp/outside-mask'],
      [below(32, '0x7fffffff'), 'divergent warp/outside-mask'],
      // An unknown mask may be wrong for some lane.
      [below(32, '%r9'), 'possible'],
    ],
    warp,
  ));

test('an exchange does not wait for a lane that exits, unless that lane may wait for others before', () =>
  assertAll(
    [
      [below(16, '-1', ''), 'proved'],
      [below(15, '-1', ''), 'proved'],
      [below(16, '-1', 'bar.warp.sync -1;'), 'divergent warp/missing-lanes'],
      // A loop that waits for memory.
      [below(16, '-1', 'L: ld.relaxed.gpu.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 7; @%p2 bra L;'), 'possible'],
    ],
    warp,
  ));

test('a warp barrier orders accesses, so that all lanes have to execute it', async () => {
  const body = `setp.ge.u32 %p1, %r0, 16; @%p1 bra X; bar.warp.sync -1; X: ${end}`;
  assert.equal(await divergenceOf(body, warp), 'possible');
});

test('all lanes execute matrix instructions', () => {
  const move = 'movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;';
  return assertAll([
    [`${move} ${end}`, 'proved'],
    [`setp.ge.u32 %p1, %r0, 32; @%p1 bra X; ${move} X: ${end}`, 'proved'],
    [`setp.ge.u32 %p1, %r0, 31; @%p1 bra X; ${move} X: ${end}`, 'divergent warp/missing-lanes'],
  ]);
});

/** The mask of the part of a warp, of a size, to which the lane belongs. */
const part = (size: number, bits: string): string => `and.b32 %r3, %r0, ${32 - size}; mov.u32 %r4, ${bits}; shl.b32 %r4, %r4, %r3;`;

test('masks that depend on the lane name parts of the warp', () =>
  assertAll(
    [
      [`${part(16, '0xffff')} ${below(16, '%r4')}`, 'proved'],
      [`${part(16, '0xffff')} ${below(48, '%r4')}`, 'proved'],
      [`${part(16, '0xffff')} ${below(24, '%r4')}`, 'divergent warp/missing-lanes'],
      [`${part(8, '0xff')} ${below(24, '%r4')}`, 'proved'],
      // The lanes of a part name one that passes another mask.
      [`${part(16, '0x1ffff')} ${below(64, '%r4')}`, 'divergent warp/missing-lanes'],
      [`${part(16, '0x7fff')} ${below(64, '%r4')}`, 'divergent warp/outside-mask'],
    ],
    { block: [64, 1, 1] },
  ));

test('a vote of the warp is one value for a block of one warp', async () => {
  const voted = (mode: string): string =>
    `${load('%r1', '%d1', '%r0', 10)} setp.lt.s32 %p1, %r1, 5; vote.sync.${mode}.pred %p2, %p1, -1; @%p2 bra X; bar.sync 0; X: bar.sync 0; ${end}`;
  for (const mode of ['any', 'all', 'uni']) {
    assert.equal(await divergenceOf(voted(mode), warp), 'proved', mode);
    assert.notEqual(await divergenceOf(voted(mode)), 'proved', mode);
  }
});

test('a loop that a vote ends is left by all lanes together', async () => {
  const loop = (vote: string): string => `mov.u32 %r1, %r0; L: add.u32 %r1, %r1, 32; setp.lt.u32 %p1, %r1, %r9; ${vote}
    shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; @%p2 bra L; bar.sync 0; ${end}`;
  assert.equal(await divergenceOf(loop('vote.sync.any.pred %p2, %p1, -1;'), warp), 'proved');
  assert.notEqual(await divergenceOf(loop('and.pred %p2, %p1, %p1;'), warp), 'proved');
});

test('what all lanes read from one lane is one value, unless that lane may have exited', async () => {
  const broadcast = (before: string, lane = '0'): string => `${before} ${load('%r1', '%d1', '%r0', 10)}
    shfl.sync.idx.b32 %r2, %r1, ${lane}, 31, -1; setp.lt.s32 %p2, %r2, 5; @%p2 bra Y; bar.warp.sync -1; ${end} Y: bar.warp.sync -1; X:`;
  const returns = 'setp.ge.u32 %p1, %r0, 20; @%p1 bra X;';
  assert.equal(await divergenceOf(broadcast('')), 'proved');
  assert.equal(await divergenceOf(broadcast('', '%r9')), 'proved');
  assert.notEqual(await divergenceOf(broadcast('', '%r0')), 'proved');
  assert.notEqual(await divergenceOf(broadcast(returns)), 'proved');
  // Lane 0 exists in every warp, lane 31 may not.
  assert.equal(await divergenceOf(broadcast(''), { block: [40, 1, 1] }), 'proved');
  assert.notEqual(await divergenceOf(broadcast('', '31'), { block: [40, 1, 1] }), 'proved');
});

test('values that lanes exchanged after others have exited are not equal', async () => {
  const steps = [16, 8, 4, 2, 1].map((mask) => `shfl.sync.bfly.b32 %r2, %r1, ${mask}, 31, -1; add.s32 %r1, %r1, %r2;`).join(' ');
  const body = (before: string): string => `${before} ${load('%r1', '%d1', '%r0', 10)} ${steps} st.u32 [%d2], %r1; X:`;
  assert.equal((await check(body(''), warp)).race.verdict, 'proved');
  assert.notEqual((await check(body('setp.ge.u32 %p1, %r0, 20; @%p1 bra X;'), warp)).race.verdict, 'proved');
});

test('a lane-uniform value of memory needs memory without races, and only that memory', async () => {
  const body = (racy: string): string => `and.b32 %r3, %r0, 32; ${store('%d0', '%r0', '%r0', 12)} bar.sync 0; ${racy}
    ${load('%r1', '%d0', '%r3', 10)} setp.lt.u32 %p1, %r1, 5; @%p1 bra X; bar.warp.sync -1; X: ${end}`;
  assert.equal(await verdicts(body('')), 'proved/proved');
  assert.equal(await verdicts(body('st.u32 [%d1], %r0;')), 'race/proved');
  assert.equal(await verdicts(body('setp.lt.u32 %p2, %r0, 1; @!%p2 bra Z; st.u32 [%d0], 3; Z:')), 'race/possible');
});

test('an undefined value is reported where it has an effect', () => {
  const forever = 'L: ld.volatile.global.u32 %r4, [%d1]; setp.ne.u32 %p3, %r4, 77; @%p3 bra L;';
  const read = (use: string): string =>
    `setp.ge.u32 %p1, %r0, 20; @%p1 bra X; shfl.sync.down.b32 %r1, %r0, 1, 31, -1; setp.lt.u32 %p2, %r0, 19; ${use} X:`;
  return assertAll(
    [
      [read(store('%d2', '%r0', '%r1', 11)), 'proved warp/undefined-value'],
      [read(`selp.b32 %r2, %r1, 7, %p2; ${store('%d2', '%r0', '%r2', 11)}`), 'proved'],
      // Also in a run that does not end.
      [read(`${store('%d2', '%r0', '%r1', 11)} ${forever}`), 'proved warp/undefined-value'],
      [read(`selp.b32 %r2, %r1, 7, %p2; ${store('%d2', '%r0', '%r2', 11)} ${forever}`), 'proved'],
      [read(`and.b32 %r2, %r1, 1023; ${store('%d2', '%r2', '%r0', 11)}`).replace('bfly', 'down'), 'proved warp/undefined-value'],
    ],
    warp,
  );
});
