/** Locks and ticket locks: accesses that only one thread at once performs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextOf } from '../kernel-text.ts';
import { leader, type OrderedCase, otherwiseOrdered } from './ordered.ts';

const fence = 'fence.acq_rel.gpu;';
const work = 'ld.global.u32 %r40, [%d1]; add.s32 %r40, %r40, %r0; st.global.u32 [%d1], %r40;';
const take = 'atom.global.cas.b32 %r20, [%d2], 0, 1;';
const untilTaken = `L: ${take} setp.ne.s32 %p1, %r20, 0; @%p1 bra L;`;
const free = 'atom.global.exch.b32 %r21, [%d2], 0;';
const inside = `${fence} ${work} ${fence}`;
const always = 'block grid';

/** Thread 0 of each block executes `body`. */

test('a lock admits the thread whose atomic operation replaces the free value', () => {
  const cases: Readonly<Record<string, OrderedCase>> = {
    'compare and swap': [`${untilTaken} ${inside} ${free}`, always],
    'an exchange': [`L: atom.global.exch.b32 %r20, [%d2], 1; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} ${free}`, always],
    'an exchange that does not return the taken value': [
      `L: atom.global.exch.b32 %r20, [%d2], 1; setp.eq.s32 %p1, %r20, 1; @%p1 bra L; ${inside} ${free}`,
      always,
    ],
    'one of two taken values': [
      `L: atom.global.exch.b32 %r20, [%d2], 1; setp.eq.s32 %p1, %r20, 1; @%p1 bra L; ${inside} ${free} bra X;
        M: atom.global.cas.b32 %r22, [%d2], 0, 2; setp.ne.s32 %p2, %r22, 0; @%p2 bra M; ${free} X: setp.eq.s32 %p3, %r9, 3; @%p3 bra M;`,
      '',
    ],
    'a compare and swap that fails': [`L: ${take} setp.eq.s32 %p1, %r20, 1; @%p1 bra L; ${inside} ${free}`, ''],
    'values other than 0 and 1': [
      `L: atom.global.cas.b32 %r20, [%d2], 7, 3; setp.ne.s32 %p1, %r20, 7; @%p1 bra L; ${inside} atom.global.exch.b32 %r21, [%d2], 7;`,
      always,
    ],
    'a taken value that is free': [`L: atom.global.cas.b32 %r20, [%d2], 0, 0; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} ${free}`, ''],
    'a value of the thread': [`L: atom.global.cas.b32 %r20, [%d2], 0, %r0; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} ${free}`, ''],
    'the number of the thread plus one': [
      `add.s32 %r25, %r0, 1; L: atom.global.cas.b32 %r20, [%d2], 0, %r25; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} ${free}`,
      always,
    ],
    'an exchange by the number of the thread plus one': [
      `add.s32 %r25, %r0, 1; L: atom.global.exch.b32 %r20, [%d2], %r25; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} ${free}`,
      always,
    ],
    'an exchange that does not return the number of the thread': [
      `add.s32 %r25, %r0, 1; L: atom.global.exch.b32 %r20, [%d2], %r25; setp.eq.s32 %p1, %r20, %r25; @%p1 bra L; ${inside} ${free}`,
      '',
    ],
    'any number plus one': [
      `add.s32 %r25, %r9, 1; L: atom.global.cas.b32 %r20, [%d2], 0, %r25; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} ${free}`,
      '',
    ],
    'an addition, too': [`atom.global.add.u32 %r22, [%d2], 1; ${untilTaken} ${inside} ${free}`, ''],
    'a release by compare and swap': [`${untilTaken} ${inside} atom.global.cas.b32 %r21, [%d2], 1, 0;`, always],
    'a release by a store': [`${untilTaken} ${inside} st.volatile.global.u32 [%d2], 0;`, always],
    'a weak release': [`${untilTaken} ${inside} st.global.u32 [%d2], 0;`, ''],
    'a release that stores two elements': [`${untilTaken} ${inside} st.volatile.global.v2.u32 [%d2], {0, 0};`, ''],
    'a fence between the exchange and its branch': [
      `L: ${take} ${fence} setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${work} ${fence} ${free}`,
      always,
    ],
    'no fence after the exchange': [`${untilTaken} ${work} ${fence} ${free}`, ''],
    'no fence before the release': [`${untilTaken} ${fence} ${work} ${free}`, ''],
    'one of two conditions': [
      `${take} setp.eq.s32 %p1, %r20, 0; setp.lt.s32 %p3, %r9, 5; and.pred %p4, %p1, %p3; @!%p4 bra X; ${inside} ${free} X:`,
      always,
    ],
    'one of two conditions suffices': [
      `${take} setp.eq.s32 %p1, %r20, 0; setp.lt.s32 %p3, %r9, 5; or.pred %p4, %p1, %p3; @!%p4 bra X; ${inside} ${free} X:`,
      '',
    ],
    'the free value without an exchange': [
      `mov.u32 %r20, 0; setp.eq.s32 %p3, %r9, 3; @%p3 bra M; ${take} M: setp.ne.s32 %p1, %r20, 0; @%p1 bra X; ${inside} ${free} X:`,
      '',
    ],
    'work in a loop that releases': [`${untilTaken} ${fence} R: ${work} ${fence} ${free} setp.lt.s32 %p6, %r9, 5; @%p6 bra R;`, ''],
    'a fence between the two accesses': [`${untilTaken} ${work} ${fence} ${work} ${free}`, ''],
    'a fence before the one access, and after the other': [
      `${untilTaken} setp.eq.s32 %p3, %r9, 3; @%p3 bra M; ${fence} ${work} bra N; M: ${work} ${fence} N: ${free}`,
      '',
    ],
    'a fence after the one access, and before the other': [
      `${untilTaken} setp.eq.s32 %p3, %r9, 3; @%p3 bra M; ${work} ${fence} bra N; M: ${fence} ${work} N: ${free}`,
      '',
    ],
    'two elements': [
      `${untilTaken} ${inside} mul.wide.s32 %d30, %r7, 4; add.s64 %d30, %d1, %d30; st.global.u16 [%d30], %h1; ${fence} ${free}`,
      always,
    ],
    'no fence on one path to the release': [`${untilTaken} ${fence} ${work} setp.eq.s32 %p3, %r9, 3; @%p3 bra M; ${fence} M: ${free}`, ''],
    'two releases, one without a fence': [
      `${untilTaken} ${fence} ${work} setp.eq.s32 %p3, %r9, 3; @%p3 bra M; ${fence} ${free} bra X; M: ${free} X:`,
      '',
    ],
    'two acquiring accesses': [
      `setp.eq.s32 %p3, %r9, 3; @%p3 bra M; ${untilTaken} bra X; M: atom.global.exch.b32 %r22, [%d2], 1; setp.ne.s32 %p2, %r22, 0; @%p2 bra M; X: ${inside} ${free}`,
      always,
    ],
    'an acquisition on one path only': [`setp.eq.s32 %p3, %r9, 3; @%p3 bra X; ${untilTaken} X: ${inside} ${free}`, ''],
    'work after the release': [`${untilTaken} ${fence} ${fence} ${free} ${work}`, ''],
    'a release without holding it': [`${free} ${untilTaken} ${inside} ${free}`, ''],
    'scopes of the block': [`${untilTaken} fence.acq_rel.cta; ${work} fence.acq_rel.cta; ${free}`, 'block'],
    'an exchange of the block': [
      `L: atom.relaxed.cta.global.cas.b32 %r20, [%d2], 0, 1; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} ${free}`,
      'block',
    ],
    'scopes of the block, and a store that ends the release sequence': [
      `${untilTaken} fence.acq_rel.cta; ${work} fence.acq_rel.cta; st.volatile.global.u32 [%d2], 0;`,
      '',
    ],
    'the same in one block': [
      `${untilTaken} fence.acq_rel.cta; ${work} fence.acq_rel.cta; st.volatile.global.u32 [%d2], 0;`,
      'block',
      { grid: [1, 1, 1] },
    ],
    'a store by a thread that has no fence': [
      `${untilTaken} setp.eq.s32 %p3, %r0, 7; @!%p3 bra M; st.volatile.global.u32 [%d2], 0; bra X; M: ${inside} st.volatile.global.u32 [%d2], 0; X:`,
      '',
    ],
    'an exchange by a thread that has no fence': [
      `${untilTaken} setp.eq.s32 %p3, %r0, 7; @!%p3 bra M; ${free} bra X; M: ${inside} ${free} X:`,
      always,
    ],
    'a lock in shared memory': [
      `L: atom.shared.cas.b32 %r20, [s], 0, 1; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${inside} atom.shared.exch.b32 %r21, [s], 0;`,
      'block',
    ],
    'a copy that may last longer than the lock': [
      `mov.u32 %r50, s; ${untilTaken} ${fence} cp.async.ca.shared.global [%r50], [%d1], 4; ${fence} ${free}`,
      '',
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a result shows nothing once it is out of date, or if it is that of another thread', () => {
  const previous = (body: string): string => `mov.u32 %r23, 1; L: ${body} add.s32 %r22, %r22, 1; setp.lt.s32 %p2, %r22, %r9; @%p2 bra L;`;
  /** Iterations that read an index of the table into `%r24`. */
  const ofTable = (body: string): string =>
    `mov.u64 %d50, t; cvta.global.u64 %d50, %d50; mov.u32 %r33, 0; L: mul.wide.s32 %d51, %r33, 4; add.s64 %d51, %d50, %d51; ld.global.u32 %r24, [%d51];
      mul.wide.s32 %d52, %r24, 4; add.s64 %d53, %d2, %d52; add.s64 %d54, %d1, %d52;
      ${body} add.s32 %r33, %r33, 1; setp.lt.s32 %p2, %r33, %r9; @%p2 bra L;`;
  const takeElement = (result: string): string => `atom.global.cas.b32 ${result}, [%d53], 0, 1;`;
  const freeElement = 'atom.global.exch.b32 %r21, [%d53], 0;';
  const element = 'ld.global.u32 %r40, [%d54]; st.global.u32 [%d54], %r40;';
  const cases: Readonly<Record<string, OrderedCase>> = {
    'tested again after the release': [
      `${take} mov.u32 %r22, 0; L: setp.ne.s32 %p1, %r20, 0; @%p1 bra N; ${inside} ${free} N: add.s32 %r22, %r22, 1; setp.lt.s32 %p2, %r22, 2; @%p2 bra L;`,
      '',
    ],
    'the result of the previous iteration, while the lock is taken again': [
      previous(`${take} setp.ne.s32 %p1, %r23, 0; mov.u32 %r23, %r20; @%p1 bra N; ${inside} ${free} N:`),
      '',
    ],
    'the result of the previous iteration': [
      `mov.u32 %r23, 1; L: setp.eq.s32 %p1, %r23, 0; @%p1 bra N; ${take} mov.u32 %r23, %r20; bra L; N: ${inside} ${free}`,
      always,
    ],
    'the result of the previous iteration, in which the lock was released': [
      `mov.u32 %r23, 1; L: setp.eq.s32 %p1, %r23, 0; @%p1 bra N; ${take} mov.u32 %r23, %r20; bra L; N: ${inside} ${free} setp.lt.s32 %p2, %r22, %r9; @%p2 bra L;`,
      '',
    ],
    'thread 0 publishes that it has the lock': [
      `${leader(`${take} st.shared.u32 [s], %r20;`, 'X')} bar.sync 0; ld.shared.u32 %r22, [s]; setp.ne.s32 %p1, %r22, 0; @%p1 bra Y; ${inside} Y:`,
      '',
    ],
    'thread 0 has the lock': [leader(`${untilTaken} ${inside} ${free}`, 'X'), always],
    'the lock of the element that was selected in this iteration': [
      ofTable(`${takeElement('%r20')} setp.ne.s32 %p1, %r20, 0; @%p1 bra M; ${fence} ${element} ${fence} ${freeElement} M:`),
      always,
    ],
    'the lock of the element that was selected in the previous iteration': [
      `mov.u32 %r23, 1; ${ofTable(`setp.ne.s32 %p1, %r23, 0; @%p1 bra M; ${fence} ${element} ${fence} ret; M: ${takeElement('%r23')}`)}`,
      '',
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('each lock of an array admits one thread; which one is a question unless the element determines it', () => {
  const under = (index: string, at: string, between = ''): string => `${index} mul.wide.s32 %d30, %r31, 4; add.s64 %d30, %d2, %d30;
    L: atom.global.cas.b32 %r20, [%d30], 0, 1; setp.ne.s32 %p1, %r20, 0; @%p1 bra L; ${fence} ${between}
    ${at} mul.wide.s32 %d31, %r32, 4; add.s64 %d31, %d1, %d31; st.global.u32 [%d31], %r0; ${fence} atom.global.exch.b32 %r21, [%d30], 0;`;
  const ifSame = 'block? grid?';
  const cases: Readonly<Record<string, OrderedCase>> = {
    'work on the element of the lock': [under('and.b32 %r31, %r0, 3;', 'mov.u32 %r32, %r31;'), always],
    'several elements share a lock': [under('and.b32 %r31, %r0, 3;', 'mov.u32 %r32, %r0;'), always],
    'several locks for an element': [under('mov.u32 %r31, %r0;', 'and.b32 %r32, %r0, 3;'), ifSame],
    'locks and elements of different blocks': [under('mov.u32 %r31, %r7;', 'mov.u32 %r32, %r0;'), ifSame],
    'two elements of each thread': [under('mov.u32 %r31, %r0;', 'mov.u32 %r32, %r31;', 'st.global.u32 [%d1+4], %r0;'), ifSame],
    'elements of another size': [
      under('mov.u32 %r31, %r0;', 'mov.u32 %r32, %r31;', 'mul.wide.s32 %d33, %r31, 4; add.s64 %d33, %d1, %d33; st.global.u16 [%d33], %h1;'),
      ifSame,
    ],
    'pairs of elements': [
      under(
        'mov.u32 %r31, %r0;',
        'mov.u32 %r32, %r31;',
        'mul.wide.s32 %d33, %r31, 4; add.s64 %d33, %d1, %d33; st.global.v2.u32 [%d33], {%r0, %r0};',
      ),
      ifSame,
    ],
    'an element of a pair of elements': [under('shr.s32 %r31, %r0, 1;', 'mov.u32 %r32, %r0;'), always],
    'an index that another thread may have, too': [under('mov.u32 %r31, %r0;', 'ld.global.u32 %r32, [%d1+1024];'), ifSame],
    'one element for all locks': [under('mov.u32 %r31, %r0;', 'mov.u32 %r32, %r9;'), ifSame],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a store may free a lock first, unless it may follow the use of the lock by another thread', () => {
  const start = 'st.global.u32 [%d2], 0;';
  const section = `${untilTaken} ${inside} ${free}`;
  const flagged = (body: string): string =>
    `L9: ld.volatile.global.u32 %r60, [%d2+128]; setp.eq.s32 %p8, %r60, 0; @%p8 bra L9; ${fence} ${body}`;
  const set = `setp.ne.s32 %p7, %r7, 0; @%p7 bra W; ${fence} st.volatile.global.u32 [%d2+128], 1; W:`;
  const otherLock = (body: string): string => `K: atom.global.cas.b32 %r30, [%d2+64], 0, 1; setp.ne.s32 %p5, %r30, 0; @%p5 bra K;
    ${fence} ${body} ${fence} atom.global.exch.b32 %r31, [%d2+64], 0;`;
  const otherTicket = (body: string): string => `atom.global.add.u32 %r30, [%d2+64], 1; K: ld.volatile.global.u32 %r31, [%d2+68];
    setp.ne.s32 %p5, %r30, %r31; @%p5 bra K; ${fence} ${body} ${fence} atom.global.add.u32 %r32, [%d2+68], 1;`;
  const cases: Readonly<Record<string, OrderedCase>> = {
    'a store before': [`${start} bar.sync 0; ${section}`, always],
    'a store before, of another value': [`st.global.u32 [%d2], 5; bar.sync 0; ${section}`, ''],
    'a store between two sections': [`${section} ${start} ${section.replaceAll('L', 'M')}`, ''],
    'a store in the loop of the section': [`R: ${start} ${section} setp.lt.s32 %p6, %r9, 5; @%p6 bra R;`, ''],
    'a store under another lock': [`${otherLock(start)} ${section}`, ''],
    'a store under a ticket lock': [`${otherTicket(start)} ${section}`, ''],
    'a store after a flag': [`${set} ${flagged(start)} ${section}`, ''],
    'a store at the same time as the use of another warp': [
      `setp.ge.s32 %p7, %r0, 32; @%p7 bra W; ${untilTaken} ${inside} bar.arrive 1, 64; ret; W: ${start} ${section.replaceAll('L', 'M')}`,
      always,
    ],
    'a store after a barrier at which another warp has arrived': [
      `setp.ge.s32 %p7, %r0, 32; @%p7 bra W; ${untilTaken} ${inside} bar.arrive 1, 64; ret; W: bar.sync 1, 64; ${start} ${section.replaceAll('L', 'M')}`,
      '',
    ],
    'a store before another lock': [`${start} bar.sync 0; ${otherLock('')} ${section}`, always],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a ticket lock admits the thread that sees its own number', () => {
  const draw = 'atom.global.add.u32 %r20, [%d2], 1;';
  const served = 'ld.volatile.global.u32 %r21, [%d2+4];';
  const untilServed = (load = served, number = '%r20'): string => `L: ${load} setp.ne.s32 %p1, %r21, ${number}; @%p1 bra L;`;
  const advance = 'atom.global.add.u32 %r22, [%d2+4], 1;';
  const next = 'add.s32 %r23, %r20, 1; st.volatile.global.u32 [%d2+4], %r23;';
  const cases: Readonly<Record<string, OrderedCase>> = {
    'an addition serves the next': [`${draw} ${untilServed()} ${inside} ${advance}`, always],
    'a store serves the next': [`${draw} ${untilServed()} ${inside} ${next}`, always],
    'a look by an atomic': [`${draw} ${untilServed('atom.global.or.b32 %r21, [%d2+4], 0;')} ${inside} ${advance}`, always],
    'a look that alters the number': [`${draw} ${untilServed('atom.global.or.b32 %r21, [%d2+4], 1;')} ${inside} ${advance}`, ''],
    'a weak look': [`${draw} ${untilServed('ld.global.u32 %r21, [%d2+4];')} ${inside} ${advance}`, ''],
    'a look of half the size': [
      `${draw} L: ld.volatile.global.u16 %h1, [%d2+4]; cvt.u32.u16 %r21, %h1; setp.ne.s32 %p1, %r21, %r20; @%p1 bra L; ${inside} ${advance}`,
      '',
    ],
    'a store of the own number': [`${draw} ${untilServed()} ${inside} st.volatile.global.u32 [%d2+4], %r20;`, ''],
    'a store of 0': [`${draw} ${untilServed()} ${inside} st.volatile.global.u32 [%d2+4], 0;`, ''],
    'a weak store': [`${draw} ${untilServed()} ${inside} add.s32 %r23, %r20, 1; st.global.u32 [%d2+4], %r23;`, ''],
    'an addition of 2': [`${draw} ${untilServed()} ${inside} atom.global.add.u32 %r22, [%d2+4], 2;`, ''],
    'no fence after the look': [`${draw} ${untilServed()} ${work} ${fence} ${advance}`, ''],
    'no fence before the store': [`${draw} ${untilServed()} ${fence} ${work} ${next}`, ''],
    'others serve, too': [`${advance} ${draw} ${untilServed()} ${inside} ${advance}`, ''],
    'a weak store of another number, too': [`${draw} ${untilServed()} ${inside} ${advance} st.global.u32 [%d2+4], 7;`, ''],
    'an exchange of another number, too': [`${draw} ${untilServed()} ${inside} ${advance} atom.global.exch.b32 %r24, [%d2+4], %r9;`, ''],
    'no thread serves the next': [`${draw} ${untilServed()} ${inside}`, ''],
    'the counter is set back': [`${draw} ${untilServed()} ${inside} ${advance} atom.global.exch.b32 %r24, [%d2], 0;`, ''],
    'the counter also falls': [`${draw} ${untilServed()} ${inside} ${advance} atom.global.add.u32 %r24, [%d2], -1;`, ''],
    'the counter is zeroed first': [`st.global.u32 [%d2], 0; ${draw} ${untilServed()} ${inside} ${advance}`, ''],
    'a second number inside, and an addition': [
      `R: ${draw} ${untilServed()} ${inside} ${advance} setp.lt.s32 %p6, %r9, 5; @%p6 bra R;`,
      always,
    ],
    'a second number inside, and a store': [`R: ${draw} ${untilServed()} ${inside} ${next} setp.lt.s32 %p6, %r9, 5; @%p6 bra R;`, ''],
    'a look at the counter': [`${draw} ${untilServed('ld.volatile.global.u32 %r21, [%d2];')} ${inside} ${advance.replace('+4', '')}`, ''],
    'another number': [`${draw} ${untilServed(served, '%r9')} ${inside} ${advance}`, ''],
    'thread 0 takes a number for its block': [
      `${leader(`${draw} st.shared.u32 [s], %r20;`, 'X')} bar.sync 0; ld.shared.u32 %r24, [s]; ${untilServed(served, '%r24')} ${inside} ${advance}`,
      '',
    ],
    'thread 0 takes a number for itself': [leader(`${draw} ${untilServed()} ${inside} ${advance}`, 'X'), always],
    'blocks in the order of their indices': [leader(`${untilServed(served, '%r6')} ${inside} ${advance}`, 'X'), always],
    'all threads of a block': [`${untilServed(served, '%r6')} ${inside} ${advance}`, ''],
    'two threads of each block': [`setp.ge.s32 %p9, %r0, 2; @%p9 bra X; ${untilServed(served, '%r6')} ${inside} ${advance} X:`, ''],
    'one index of two': [leader(`${untilServed(served, '%r6')} ${inside} ${advance}`, 'X'), '', { grid: [4, 2, 1] }],
    'a number of the block': [`${draw.replace('global', 'shared').replace('%d2', 's')} ${untilServed()} ${inside} ${advance}`, ''],
    'block indices, and an unrelated ticket': [
      `atom.global.add.u32 %r50, [%d2+64], 1; ${leader(`${untilServed(served, '%r6')} ${inside} ${advance}`, 'X')}`,
      always,
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('tickets are those of a counter that only grows, after stores that precede it', () => {
  const draw = 'atom.global.add.u32 %r20, [%d2], 1;';
  const isTicket = (body: string, options = {}): boolean => contextOf(body, options).tickets.size > 0;
  const tickets: Readonly<Record<string, string>> = {
    'an addition': draw,
    'two steps': `${draw} atom.global.add.u32 %r21, [%d2], 3;`,
    'zero before': `st.global.u32 [%d2], 0; ${draw}`,
    'another element is written': `${draw} st.global.u32 [%d2+4], 0;`,
    'zero after a fence, before a barrier': `${fence} st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r20, [s], 1;`,
    'in shared memory, a strong zero before a barrier': 'st.volatile.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r20, [s], 1;',
  };
  for (const [what, body] of Object.entries(tickets)) assert.ok(isTicket(body), what);
  const others: Readonly<Record<string, string>> = {
    'a step of 0': 'atom.global.add.u32 %r20, [%d2], 0;',
    'a negative step': `${draw} atom.global.add.u32 %r21, [%d2], -1;`,
    'zero after': `${draw} st.global.u32 [%d2], 0;`,
    'zero in a loop': `R: st.global.u32 [%d2], 0; ${draw} setp.lt.s32 %p6, %r9, 5; @%p6 bra R;`,
    'a strong zero before': `st.volatile.global.u32 [%d2], 0; ${draw}`,
    'a strong zero before, without a barrier': 'st.volatile.shared.u32 [s], 0; atom.shared.add.u32 %r20, [s], 1;',
    'zero after a flag': `setp.ne.s32 %p7, %r7, 0; @%p7 bra W; ${fence} st.volatile.global.u32 [%d2+128], 1; W:
      L: ld.volatile.global.u32 %r60, [%d2+128]; setp.eq.s32 %p8, %r60, 0; @%p8 bra L; ${fence} st.global.u32 [%d2], 0; ${draw}`,
    'zero under a lock': `K: atom.global.cas.b32 %r30, [%d2+64], 0, 1; setp.ne.s32 %p5, %r30, 0; @%p5 bra K; ${fence} st.global.u32 [%d2], 0; ${fence}
      atom.global.exch.b32 %r31, [%d2+64], 0; ${draw}`,
    'zero after a barrier at which another warp has arrived': `setp.ge.s32 %p7, %r0, 32; @%p7 bra W; ${draw} bar.arrive 1, 64; ret; W:
      bar.sync 1, 64; st.global.u32 [%d2], 0; atom.global.add.u32 %r21, [%d2], 1;`,
    'an overlapping store': `${draw} st.global.u16 [%d2+2], 0;`,
    'an increment of all threads that wraps around at the number of blocks': `mov.u32 %r78, %nctaid.x; mul.lo.s32 %r79, %r78, %r5;
      sub.s32 %r79, %r79, 1; st.global.u32 [%d1], %r0; ${fence} atom.global.inc.u32 %r20, [%d2], %r78; setp.ne.s32 %p2, %r20, %r79; @%p2 bra Y;
      ${fence} ld.global.u32 %r30, [%d1]; Y:`,
  };
  for (const [what, body] of Object.entries(others)) assert.ok(!isTicket(body), what);
});

test('the instructions that only the holder of one lock executes', () => {
  const held = (body: string): string => {
    const { synchronisation } = contextOf(body, { grid: [4, 1, 1] });
    const names = synchronisation.flatMap((one) => [...one.held].map(({ operation }) => operation.mnemonic));
    return ['bar.sync', 'mul.lo.s32', 'popc.b32'].filter((name) => names.includes(name)).join();
  };
  const code = `mul.lo.s32 %r30, %r40, %r40; st.global.u32 [%d1+8], %r30; ${fence} bar.sync 0;`;
  assert.equal(held(`popc.b32 %r31, %r0; st.global.u32 [%d1+64], %r31; ${untilTaken} ${inside} ${code} ${free}`), 'bar.sync,mul.lo.s32');
  assert.equal(held(`${untilTaken} ${inside} ${free} popc.b32 %r31, %r0; st.global.u32 [%d1+64], %r31;`), '');
  // Of an array of locks several threads are holders, and without a release by the holder none is.
  const own = `mul.wide.s32 %d30, %r0, 4; add.s64 %d30, %d2, %d30;`;
  assert.equal(held(`${own} ${untilTaken} ${inside} ${code} ${free}`.replaceAll('[%d2]', '[%d30]')), '');
  assert.equal(held(`${free} ${untilTaken} ${inside} ${code} ${free}`), '');
});
