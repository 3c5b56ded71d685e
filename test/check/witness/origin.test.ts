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

test('a barrier between the accesses that depends on an argument makes it a warning', async () => {
  const onArgument = 'setp.eq.s32 %p1, %r9, 64;';
  const { race } = await check(`${write} ${onArgument} @%p1 bra L; bar.sync 0; L: ${readNext}`);
  assert.deepEqual(
    race.findings.map(({ severity, when }) => [severity, when]),
    [['warning', 'n == 64']],
  );
  const body = `${write} ${onArgument} @%p1 bra L; bar.sync 0; L: ${readNext}`;
  assert.deepEqual(await races(body, { scalars: { 2: 64n } }), ['error given']);
});

/** Sets a predicate to a comparison of an element of the block with 1. */
const element = (comparison: string): string => `${load('%r30', '%d2', '%r6', 30)} setp.${comparison}.s32 %p1, %r30, 1;`;

test('a race on a path that random contents reach is an error, one that needs special contents is not', async () => {
  const body = (comparison: string): string => `${element(comparison)} @%p1 bra L; ${write} ${readNext} L:`;
  assert.deepEqual(await races(body('lt')), ['error chosen']);
  assert.deepEqual(await races(body('ne')), []);
  const barrier = (comparison: string): string => `${write} ${element(comparison)} @%p1 bra L; bar.sync 0; L: ${readNext}`;
  assert.deepEqual(await races(barrier('lt')), ['error chosen']);
  assert.deepEqual(await races(barrier('eq')), []);
});

test('a race in a loop whose trip count depends on memory is an error', async () => {
  const rounds = `mov.u32 %r40, 0; L: add.s32 %r41, %r0, %r40; ${store('%d1', '%r41', '%r0', 40)} add.s32 %r40, %r40, 1; ${load('%r30', '%d2', '%r40', 30)} setp.gt.s32 %p1, %r30, 1; setp.lt.s32 %p2, %r40, 5; and.pred %p3, %p1, %p2; @%p3 bra L;`;
  assert.deepEqual(await races(rounds), ['error chosen']);
});

test('a conditional barrier after both accesses does not weaken the error', async () => {
  const condition = `${load('%r30', '%d2', '%r6', 30)} setp.eq.s32 %p1, %r30, 1;`;
  assert.deepEqual(await races(`${write} ${readNext} ${condition} @%p1 bra L; bar.sync 0; L:`), ['error given']);
});

test('a race that only threads decide is an error if runs of large launches take too many steps', async () => {
  const late =
    'mov.u32 %r41, %nctaid.x; mul.lo.s32 %r41, %r41, 1000; mov.u32 %r40, 0; L: add.s32 %r40, %r40, 1; setp.lt.s32 %p2, %r40, %r41; @%p2 bra L;';
  const options: CheckOptions = { block: null, grid: null, budget: { replaySteps: 200_000 } };
  assert.deepEqual(await races(`${late} ${write} ${readNext}`, options), ['error chosen']);
  // A path that only small values take is one of small launches.
  const onSmall = `setp.gt.s32 %p3, %r9, 40; @%p3 bra END; ${write} ${readNext} END:`;
  assert.deepEqual(await races(`${late} ${onSmall}`, options), ['warning chosen']);
});

test('a run in which the timer does not advance is possible, unless an address depends on its value', async () => {
  const kindOf = async (body: string): Promise<string> => {
    const { race } = await check(body);
    return race.findings[0]?.confirmed ? 'confirmed' : race.verdict;
  };
  const race = (index: string): string =>
    `${store('%d0', '%r0', '%r0', 10)} ${index} ${load('%r2', '%d0', '%r1', 11)} ${store('%d1', '%r7', '%r2', 12)}`;
  const until = (timer: string): string =>
    `mov.u64 %d20, ${timer}; W: mov.u64 %d21, ${timer}; sub.s64 %d22, %d21, %d20; setp.gt.s64 %p2, %d22, 100; @%p2 bra W;`;
  const next = 'xor.b32 %r1, %r0, 33;';
  assert.equal(await kindOf(`${until('%globaltimer')} ${race(next)}`), 'confirmed');
  assert.equal(await kindOf(`${until('%clock64')} ${race(next)}`), 'possible');
  assert.equal(await kindOf(race('mov.u64 %d20, %globaltimer; cvt.u32.u64 %r1, %d20; and.b32 %r1, %r1, 31;')), 'possible');
});
