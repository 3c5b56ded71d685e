/** Findings about accesses after a wait for a flag. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isFlagWait, isSetByOne, isWait, waitBefore } from '../../../src/check/ordering/synchronisation-idioms.ts';
import { type CheckOptions, check, closeSolver, contextOf } from '../kernel-text.ts';

after(closeSolver);

/** Thread 0 writes `a[0]` and sets `b[0]`; thread 1 waits for it, or not, and reads `a[0]`. */
const handOver = (load: string): string => `
setp.ne.s32 %p1, %r0, 0; @%p1 bra OTHER;
st.global.u32 [%d1], 42; st.volatile.global.u32 [%d2], 1;
OTHER: setp.ne.s32 %p2, %r0, 1; @%p2 bra END;
WAIT: ${load}
ld.global.u32 %r21, [%d1]; st.shared.u32 [s], %r21;
END:`;

test('a wait for a flag that orders nothing is reported, and no barrier advised, which would deadlock', async () => {
  const waiting = 'ld.volatile.global.u32 %r20, [%d2]; setp.eq.s32 %p3, %r20, 0; @%p3 bra WAIT;';
  const { race } = await check(handOver(waiting));
  const [first] = race.findings;
  assert.match(
    first!.message,
    /no `__threadfence\(\)` is between the access of one thread and the update of `b` .*Add `__threadfence\(\)` before the update of `b` .* and after the loop .* that waits for `b`\.$/,
  );
  const alone = await check(handOver(''));
  assert.match(alone.race.findings[0]!.message, /Add `__sync(threads|warp)\(\)` between the two accesses/);
});

const setter = 'st.volatile.global.u32 [%d2], 1;';
const poll = (code: string, leave = '%r20'): string => `WAIT: ${code} setp.eq.s32 %p3, ${leave}, 0; @%p3 bra WAIT;`;
const volatileLoad = 'ld.volatile.global.u32 %r20, [%d2];';
const of = (axis: string, body: string, label: string): string =>
  `mov.u32 %r30, %${axis}; setp.ne.s32 %p1, %r30, 0; @%p1 bra ${label}; ${body} ${label}:`;

/** Whether the last load of `b` waits for the first write of it, and whether one thread sets it; with conflicts between the writes. */
function flag(body: string, options: CheckOptions = {}): readonly [waits: boolean, isSetByOne: boolean, ifTheyConflict: boolean] {
  const { symbolic, accesses, dimensions } = contextOf(body, options);
  const ofFlag = accesses.filter(({ targets }) => targets[0]!.base.key.startsWith('parameter1'));
  const [first, second] = [
    ofFlag.find(({ operation }) => operation !== 'read')!,
    ofFlag.findLast(({ operation }) => operation === 'read')!,
  ];
  const writes = ofFlag.filter(({ operation }) => operation !== 'read');
  const mayBeSame = (): boolean => true;
  const among = (conflicts: Parameters<typeof isSetByOne>[5]): boolean =>
    isSetByOne(symbolic, ofFlag, dimensions, { first, second }, mayBeSame, conflicts);
  assert.equal(isFlagWait(symbolic, { first, second }), isFlagWait(symbolic, { first: second, second: first }));
  return [isFlagWait(symbolic, { first, second }), among([]), among([{ first: writes[0]!, second: writes.at(-1)! }])];
}

test('a volatile load waits for a flag that one thread sets', () => {
  const wide: CheckOptions = { grid: [4, 1, 1] };
  const byOne = `${of('tid.x', setter, 'A')} ${poll(volatileLoad)}`;
  const cases: readonly (readonly [string, CheckOptions, ReturnType<typeof flag>])[] = [
    [byOne, {}, [true, true, true]],
    // One thread of each block: the conflicts between the writes decide.
    [byOne, wide, [true, true, false]],
    [`${of('tid.x', of('ctaid.x', setter, 'B'), 'A')} ${poll(volatileLoad)}`, wide, [true, true, true]],
    [`${of('tid.x', of('ctaid.x', setter, 'B'), 'A')} ${setter} ${poll(volatileLoad)}`, wide, [true, true, false]],
    [`${setter} ${poll(volatileLoad)}`, {}, [true, true, false]],
    [`atom.global.exch.b32 %r21, [%d2], 1; ${poll(volatileLoad)}`, {}, [true, false, false]],
    [`${of('tid.x', 'atom.global.exch.b32 %r21, [%d2], 1;', 'A')} ${poll(volatileLoad)}`, {}, [true, true, true]],
    // Loads that no loop waits for.
    [`${of('tid.x', setter, 'A')} ${volatileLoad}`, {}, [false, true, true]],
    [
      `${of('tid.x', setter, 'A')} mov.u32 %r21, 5; L: ${volatileLoad} sub.s32 %r21, %r21, 1; setp.ne.s32 %p3, %r21, 0; @%p3 bra L;`,
      {},
      [false, true, true],
    ],
  ];
  for (const [body, options, expected] of cases) assert.deepEqual(flag(body, options), expected, body);
});

test('which accesses wait, and for which accesses a thread has waited before', () => {
  const waits = (body: string): string => {
    const { symbolic, accesses } = contextOf(body);
    return accesses.map((access) => (isWait(symbolic, access) ? 'w' : '-')).join('');
  };
  assert.equal(waits(poll(volatileLoad)), 'w');
  assert.equal(waits(poll('ld.global.u32 %r20, [%d2];')), 'w');
  assert.equal(waits(poll('atom.global.or.b32 %r20, [%d2], 0;')), 'w');
  assert.equal(waits(poll('atom.global.add.u32 %r20, [%d2], 1;')), '-');
  assert.equal(waits(poll(`${volatileLoad} st.shared.u32 [s], %r20;`)), 'w-');
  // A weak load in a loop that does something else, and a load of another place in each iteration.
  assert.equal(waits(poll('ld.global.u32 %r20, [%d2]; st.shared.u32 [s], %r20;')), '--');
  assert.equal(waits(`mov.u64 %d20, %d2; ${poll('ld.volatile.global.u32 %r20, [%d20]; add.s64 %d20, %d20, 4;')}`), '-');
  assert.equal(waits(volatileLoad), '-');
  const { symbolic, accesses } = contextOf(
    `ld.global.u32 %r1, [%d1]; ${poll(`${volatileLoad} ld.global.u32 %r2, [%d1];`)} ld.global.u32 %r3, [%d1];`,
  );
  const [early, wait, inside, late] = accesses as [(typeof accesses)[0], (typeof accesses)[0], (typeof accesses)[0], (typeof accesses)[0]];
  assert.equal(waitBefore(symbolic, [wait], late), wait);
  assert.equal(waitBefore(symbolic, [wait], inside), undefined);
  assert.equal(waitBefore(symbolic, [wait], early), undefined);
});
