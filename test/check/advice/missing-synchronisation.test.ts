/** What hand-made synchronisation between two accesses of different blocks lacks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { missingOrder } from '../../../src/check/advice/missing-order.ts';
import { missingSynchronisation } from '../../../src/check/advice/missing-synchronisation.ts';
import { leader } from '../ordering/ordered.ts';
import { kernelOf, load, requestFor, store } from '../kernel-text.ts';

const bar = 'bar.sync 0;';
const fence = 'fence.acq_rel.gpu;';
const add = 'atom.global.add.u32 %r20, [%d2], 1;';
const until = (goal: string): string => `W${goal}: ld.volatile.global.u32 %r21, [%d2]; setp.lt.u32 %p2, %r21, ${goal}; @%p2 bra W${goal};`;
const gate = (body: string, label: string): string => `${bar} ${leader(body, label)} ${bar}`;
/** Writes an element of the block before, reads that of the next block after. */
const around = (body: string): string =>
  `${store('%d1', '%r7', '%r0', 10)} ${body} add.s32 %r1, %r7, %r5; ${load('%r2', '%d1', '%r1', 11)}`;
/** Counts at `b[0]`; the last block changes `b[1]`, for which the others wait. */
const generation = (fences: string): string =>
  gate(
    `ld.volatile.global.u32 %r30, [%d2+4]; ${fences} ${add} setp.eq.u32 %p3, %r20, 3; @!%p3 bra WAIT;
    st.volatile.global.u32 [%d2], 0; ${fences} atom.global.add.u32 %r31, [%d2+4], 1; bra JOIN;
    WAIT: ld.volatile.global.u32 %r32, [%d2+4]; setp.eq.u32 %p4, %r32, %r30; @%p4 bra WAIT; JOIN: ${fences}`,
    'X',
  );

/** What the accesses of `a` lack, in words, and the number of accesses that synchronise. */
function lackOf(body: string): string {
  const context = kernelContext(requestFor(kernelOf(body), { grid: [4, 1, 1] }));
  const own = context.accesses.filter(({ targets }) => targets.some(({ base }) => base.key.startsWith('parameter0')));
  const pair = [own[0]!, own.at(-1)!] as const;
  const missing = missingOrder(context, pair, 'grid', 'any');
  const synchronising = missingSynchronisation(context, ...pair, 'grid')?.own.length ?? 0;
  const what = missing.kind === 'fence' ? missing.lacks.join(' ') : missing.kind === 'wait' ? missing.until : missing.kind;
  const change = missing.kind === 'fence' && missing.change ? ` and ${missing.change.flag}` : '';
  return `${what}${change}, ${synchronising}`;
}

test('a barrier of the grid that lacks fences or counts too few is named', () => {
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    'no fence before the count': [gate(`${add} ${until('4')} ${fence}`, 'X'), 'release, 2'],
    'no fence after the wait': [gate(`${fence} ${add} ${until('4')}`, 'X'), 'acquire, 2'],
    'no fence': [gate(`${add} ${until('4')}`, 'X'), 'release acquire, 2'],
    'too few of the only count': [gate(`${fence} ${add} ${until('3')} ${fence}`, 'X'), 'count, 2'],
    'a generation without fences': [generation(''), 'release acquire and b, 5'],
    'no barrier of the grid': [bar, 'grid-order, 0'],
  };
  const wrong = Object.entries(cases).filter(([, [body, expected]]) => lackOf(around(body)) !== expected);
  assert.deepEqual(
    wrong.map(([name, [body]]) => `${name}: ${lackOf(around(body))}`),
    [],
  );
  // The second barrier waits for the number of the first, which is what the accesses between them lack.
  const twice = (first: string, second: string): string => `${gate(`${fence} ${add} ${until('4')} ${fence}`, 'X')} ${first}
    ${gate(`${fence} ${add} ${until('4').replaceAll('W4', 'V4')} ${fence}`, 'Y')} ${second}`;
  const later = twice(store('%d1', '%r7', '%r0', 10), `add.s32 %r1, %r7, %r5; ${load('%r2', '%d1', '%r1', 11)}`);
  assert.equal(lackOf(later), 'goal, 4');
});

test('a barrier of the grid elsewhere is advised instead of another launch', () => {
  const up = gate(`${fence} ${add} ${until('4')} ${fence}`, 'X');
  assert.equal(lackOf(`${up} ${around('')}`), 'grid-order, 0');
  const context = kernelContext(requestFor(kernelOf(`${up} ${around('')}`), { grid: [4, 1, 1] }));
  const own = context.accesses.filter(({ targets }) => targets.some(({ base }) => base.key.startsWith('parameter0')));
  const missing = missingOrder(context, [own[0]!, own.at(-1)!], 'grid', 'any');
  assert.ok(missing.kind === 'grid-order' && missing.gridBarrier && !missing.nextIteration);
});

test('a counter on which the later access depends, and that orders nothing, is named', () => {
  const guarded = (body: string, test: string): string =>
    `${body} ${test} @%p5 bra END; add.s32 %r1, %r7, %r5; ${load('%r2', '%d1', '%r1', 11)} END:`;
  const counted = `${fence} ${add}`;
  const isLast = 'setp.ne.u32 %p5, %r20, 3;';
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    'two threads of a block count': [
      guarded(
        `${store('%d1', '%r7', '%r0', 10)} setp.gt.u32 %p9, %r0, 1; @%p9 bra X; ${counted} st.shared.u32 [s], %r20; X: ${bar} ld.shared.u32 %r22, [s];`,
        'setp.lt.u32 %p5, %r22, 3;',
      ),
      'count, 0',
    ],
    'the branch does not depend on it': [
      guarded(`${store('%d1', '%r7', '%r0', 10)} ${leader(counted, 'X')} ${bar}`, 'setp.ne.u32 %p5, %r0, 3;'),
      'grid-order, 0',
    ],
    'it is updated before the access': [guarded(`${leader(counted, 'X')} ${store('%d1', '%r7', '%r0', 10)} ${bar}`, isLast), 'release, 0'],
  };
  const wrong = Object.entries(cases).filter(([, [body, expected]]) => lackOf(body) !== expected);
  assert.deepEqual(
    wrong.map(([name, [body]]) => `${name}: ${lackOf(body)}`),
    [],
  );
});
