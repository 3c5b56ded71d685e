import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, closeSolver, load, store } from '../kernel-text.ts';
import type { CheckOptions } from '../kernel-text.ts';

after(closeSolver);

/** Severity and origin of each confirmed race, in order. */
async function races(body: string, options: CheckOptions = {}): Promise<string[]> {
  const { race } = await check(body, options);
  return race.findings.filter(({ confirmed }) => confirmed).map((it) => `${it.severity} ${it.witnessOrigin}`);
}

const write = store('%d0', '%r0', '1', 20);
const readNext = `xor.b32 %r20, %r0, 1; ${load('%r21', '%d0', '%r20', 22)} ${store('%d1', '%r0', '%r21', 24)}`;

test('a race that no argument decides is an error', async () => {
  assert.deepEqual(await races(`${write} ${readNext}`), ['error given']);
});

test('a barrier between the accesses that depends on memory or on an unknown argument makes it a warning', async () => {
  const onMemory = `${load('%r30', '%d2', '%r6', 30)} setp.eq.s32 %p1, %r30, 1;`;
  const onArgument = 'setp.eq.s32 %p1, %r9, 64;';
  for (const condition of [onMemory, onArgument]) {
    const body = `${write} ${condition} @%p1 bra L; bar.sync 0; L: ${readNext}`;
    assert.deepEqual(await races(body), ['warning chosen']);
  }
  const body = `${write} ${onArgument} @%p1 bra L; bar.sync 0; L: ${readNext}`;
  assert.deepEqual(await races(body, { scalars: { 2: 64n } }), ['error given']);
});

test('so does a branch on memory around an access, and a loop that goes on as memory says', async () => {
  const condition = `${load('%r30', '%d2', '%r6', 30)} setp.ne.s32 %p1, %r30, 1;`;
  assert.deepEqual(await races(`${condition} @%p1 bra L; ${write} ${readNext} L:`), ['warning chosen']);
  const rounds = `mov.u32 %r40, 0; L: add.s32 %r41, %r0, %r40; ${store('%d1', '%r41', '%r0', 40)} add.s32 %r40, %r40, 1; ${load('%r30', '%d2', '%r40', 30)} setp.eq.s32 %p1, %r30, 1; setp.lt.s32 %p2, %r40, 5; and.pred %p3, %p1, %p2; @%p3 bra L;`;
  assert.deepEqual(await races(rounds), ['warning chosen']);
});

test('a barrier behind both accesses does not', async () => {
  const condition = `${load('%r30', '%d2', '%r6', 30)} setp.eq.s32 %p1, %r30, 1;`;
  assert.deepEqual(await races(`${write} ${readNext} ${condition} @%p1 bra L; bar.sync 0; L:`), ['error given']);
});
