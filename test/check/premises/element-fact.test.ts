/** Statements about the elements of arrays: `distinct(A)`, `A[*] in lo..hi`, `apart(A, B)`. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CheckOptions, check, closeSolver, load, store } from '../kernel-text.ts';

after(closeSolver);

/** `a[b[i]] = …`, with the global index of the thread. */
const scatter = `${load('%r1', '%d2', '%r7', 10)} ${store('%d1', '%r1', '%r7', 11)}`;

async function race(body: string, assume: readonly string[], options: CheckOptions = {}): Promise<string> {
  return (await check(body, { grid: [4, 1, 1], assume, ...options })).race.verdict;
}

test('distinct elements separate threads that read different ones', async () => {
  assert.equal(await race(scatter, []), 'possible');
  assert.equal(await race(scatter, ['distinct(b)']), 'proved');
  assert.equal(await race(scatter, ['distinct(param1)']), 'proved');
  assert.equal(await race(scatter, ['distinct(a)']), 'possible');
  // Both threads of a pair read the same element.
  const halved = `shr.u32 %r2, %r7, 1; ${load('%r1', '%d2', '%r2', 10)} ${store('%d1', '%r1', '%r7', 11)}`;
  assert.notEqual(await race(halved, ['distinct(b)']), 'proved');
  // The kernel changes the array.
  assert.notEqual(await race(`${store('%d2', '%r7', '%r9', 12)} bar.sync 0; ${scatter}`, ['distinct(b)']), 'proved');
});

test('a range separates loaded indices from the other accesses', async () => {
  const beside = `${scatter} add.s32 %r2, %r7, %r9; ${store('%d1', '%r2', '%r7', 12)}`;
  const size = ['n >= 1', 'n <= 4096'];
  assert.equal(await race(beside, [...size, 'distinct(b)', 'b[*] in 0..n-1']), 'proved');
  assert.equal(await race(beside, [...size, 'distinct(b)', 'b[*] in 0..n']), 'possible');
  assert.equal(await race(beside, [...size, 'distinct(b)']), 'possible');
});

test('contents that violate a statement do not reproduce a race', async () => {
  // Equal elements would race; with distinct ones no two threads overlap, except thread 0 and its neighbour.
  const mixed = `${scatter} ${load('%r3', '%d1', '%r9', 13)}`;
  const { race: result } = await check(mixed, { grid: [4, 1, 1], assume: ['distinct(b)'] });
  assert.ok(result.findings.every(({ confirmed }) => !confirmed));
});

test('arrays that the user states to be disjoint do not overlap', async () => {
  const body = `${load('%r1', '%d2', '%r9', 10)} ${store('%d1', '%r0', '%r1', 11)}`;
  const launch = { aliases: [[0, 1]] as const };
  assert.equal(await race(body, [], { launch, grid: [1, 1, 1] }), 'possible');
  assert.equal(await race(body, ['apart(a, b)'], { launch, grid: [1, 1, 1] }), 'proved');
  const same = { ...launch, samePointers: [[0, 1]] as const };
  assert.notEqual(await race(body, ['apart(a, b)'], { launch: same, grid: [1, 1, 1] }), 'proved');
});

test('statements about elements apply to whole elements, where these are read', async () => {
  // Only thread 0 reads the array, which may have two elements; all others may overlap.
  const few = `setp.ge.s32 %p1, %r0, 1; @%p1 bra M; ${load('%r1', '%d2', '%r0', 10)} ${store('%d1', '%r1', '%r0', 11)}
    add.s32 %r3, %r0, 1; ${load('%r2', '%d2', '%r3', 12)} add.s32 %r2, %r2, 8; ${store('%d1', '%r2', '%r0', 13)}
    M: bar.sync 0; mul.lo.s32 %r4, %r0, %r9; add.s32 %r4, %r4, 64; ${store('%d1', '%r4', '%r0', 14)}`;
  assert.notEqual(await race(few, ['distinct(b)', 'b[*] in 0..1', 'n == 0'], { grid: [1, 1, 1] }), 'proved');
  // Bytes of distinct integers are neither distinct nor in the range.
  const bytes = `cvt.u64.u32 %d20, %r0; add.s64 %d21, %d2, %d20; ld.u8 %h1, [%d21]; cvt.u32.u16 %r1, %h1; ${store('%d1', '%r1', '%r0', 11)}`;
  assert.notEqual(await race(bytes, ['distinct(b)'], { grid: [1, 1, 1] }), 'proved');
  const { contradiction, race: refused } = await check(scatter, { assume: ['b[*] in 5..3'] });
  assert.ok(contradiction);
  assert.match(refused.reason ?? '', /5\.\.3/);
  // No element that the assumption allows reaches the store: it is disabled, with a notice.
  const never = `${load('%r1', '%d2', '%r0', 10)} setp.ne.s32 %p1, %r1, 1; @%p1 bra X; ${store('%d1', '%r9', '%r0', 11)} X:`;
  const off = await check(never, { assume: ['b[*] in 300..400'], grid: [1, 1, 1] });
  assert.deepEqual([off.race.verdict, off.switchedOff?.length], ['proved', 1]);
});
