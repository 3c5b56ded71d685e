/** Orders of `fence.sc` operations, that barriers pass on, and what only the last unit to arrive executes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leader, type OrderedCase, otherwiseOrdered } from './ordered.ts';

const fence = 'fence.sc.gpu;';
const weaker = 'fence.acq_rel.gpu;';
const write = 'st.global.u32 [%d1], 1;';
const read = 'ld.global.u32 %r40, [%d1];';
const add = 'atom.global.add.u32 %r20, [%d2], 1;';
const sizes = 'mov.u32 %r78, %nctaid.x; sub.s32 %r79, %r78, 1;';
const publish = 'st.shared.u32 [s], %r20; ';
const broadcast = (body: string): string => `bar.sync 0; ld.shared.u32 %r21, [s]; setp.ne.s32 %p2, %r21, %r79; @%p2 bra Y; ${body} Y:`;

/** All write, thread 0 of each block counts and broadcasts the result, and all of the last block read. */
const counted = (before: string, count: string, after: string): string =>
  `${sizes} ${write} ${before} ${leader(`${count} ${publish}`, 'X')} ${broadcast(`${after} ${read}`)}`;

test('a fence of each writer before the barrier, and one of each reader after the barrier, are ordered if they are sequential', () => {
  const cases: Readonly<Record<string, OrderedCase>> = {
    'fences of all threads': [counted(`${fence} bar.sync 0;`, add, fence), 'grid'],
    'a fence of the thread that counts, on both sides': [counted('bar.sync 0;', `${fence} ${add} ${fence}`, ''), 'grid'],
    'fences of the writers, and of the thread that counts': [counted(`${fence} bar.sync 0;`, `${add} ${fence}`, ''), 'grid'],
    'fences of the thread that counts, and of the readers': [counted('bar.sync 0;', `${fence} ${add}`, fence), 'grid'],
    'weaker fences of the writers': [counted(`${weaker} bar.sync 0;`, add, fence), ''],
    'weaker fences of the readers': [counted(`${fence} bar.sync 0;`, add, weaker), ''],
    'fences of the block': [counted('fence.sc.cta; bar.sync 0;', add, fence), ''],
    'fences of the block after': [counted(`${fence} bar.sync 0;`, add, 'fence.sc.cta;'), ''],
    'no fence of the writers': [counted('bar.sync 0;', add, fence), ''],
    'no fence of the readers': [counted(`${fence} bar.sync 0;`, add, ''), ''],
    'no barrier': [counted(fence, add, fence), ''],
    'a fence after the count': [counted('bar.sync 0;', `${add} ${fence}`, fence), ''],
    'a fence before the count of the other side only': [counted('bar.sync 0;', `${fence} ${add}`, ''), ''],
    'a fence of the writers on one path': [counted(`setp.lt.s32 %p4, %r9, 5; @%p4 bra B; ${fence} B: bar.sync 0;`, add, fence), ''],
    'a fence of the readers on one path': [counted(`${fence} bar.sync 0;`, add, `setp.lt.s32 %p4, %r9, 5; @%p4 bra B; ${fence} B:`), ''],
    'writers that leave before the barrier': [counted(`setp.lt.s32 %p4, %r9, 5; @%p4 ret; ${fence} bar.sync 0;`, add, fence), ''],
    'a fence before the write': [
      `${sizes} ${fence} ${write} bar.sync 0; ${leader(`${add} ${publish}`, 'X')} ${broadcast(`${fence} ${read}`)}`,
      '',
    ],
    'a fence after the read': [counted(`${fence} bar.sync 0;`, add, `${read.replace('40', '41')} ${fence}`).replace(read, ''), ''],
    'a count of the block': [counted(`${fence} bar.sync 0;`, add.replace('atom.', 'atom.relaxed.cta.'), fence), ''],
    'a count that releases instead of the fences of the writers': [
      counted('bar.sync 0;', add.replace('atom.', 'atom.release.gpu.'), fence),
      '',
    ],
    'a count that acquires instead of the fences of the readers': [
      counted(`${fence} bar.sync 0;`, add.replace('atom.', 'atom.acquire.gpu.'), ''),
      '',
    ],
    'a plain count': [
      counted(`${fence} bar.sync 0;`, 'ld.global.u32 %r20, [%d2]; add.s32 %r20, %r20, 1; st.global.u32 [%d2], %r20;', fence),
      '',
    ],
    'a count that a thread may repeat': [counted(`${fence} bar.sync 0;`, `R: ${add} setp.lt.s32 %p4, %r20, %r9; @%p4 bra R;`, fence), ''],
    'a counter in the array, at the element': [counted(`${fence} bar.sync 0;`, add, fence).replaceAll('[%d2]', '[%d1]'), ''],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a grid that waits for its counter is ordered by sequential fences of all threads', () => {
  const wait = 'L: ld.volatile.global.u32 %r20, [%d2]; setp.lt.u32 %p2, %r20, %r78; @%p2 bra L;';
  const separated = (before: string, between: string, after: string): string =>
    `${sizes} ${write} ${before} ${leader(between, 'X')} ${after} ${read}`;
  const all = `${add} ${wait}`;
  const cases: Readonly<Record<string, OrderedCase>> = {
    'fences of all threads': [separated(`${fence} bar.sync 0;`, all, `bar.sync 0; ${fence}`), 'grid'],
    'fences before, and one of the thread that waits': [separated(`${fence} bar.sync 0;`, `${all} ${fence}`, 'bar.sync 0;'), 'grid'],
    'no barrier after': [separated(`${fence} bar.sync 0;`, `${all} ${fence}`, ''), ''],
    'no fence after': [separated(`${fence} bar.sync 0;`, all, 'bar.sync 0;'), ''],
    'weaker fences after': [separated(`${fence} bar.sync 0;`, all, `bar.sync 0; ${weaker}`), ''],
    'a wait for one too few': [separated(`${fence} bar.sync 0;`, all.replace('%r78;', '%r79;'), `bar.sync 0; ${fence}`), ''],
    'a counter that is reset before the wait': [
      separated(`${fence} bar.sync 0;`, `${add} st.volatile.global.u32 [%d2], 0; ${wait}`, `bar.sync 0; ${fence}`),
      '',
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a barrier that returns whether some thread is last returns to all threads what thread 0 has found', () => {
  const voted = (vote: string, own = 'setp.eq.s32 %p3, %r20, %r79;'): string => `${sizes} ${write} ${fence} bar.sync 0; mov.u32 %r22, 0;
    ${leader(`${add} ${own} selp.u32 %r22, 1, 0, %p3;`, 'X')} setp.ne.s32 %p3, %r22, 0; ${vote} @!%p4 bra Y; ${fence} ${read} Y:`;
  const or = 'bar.red.or.pred %p4, 0, %p3;';
  const cases: Readonly<Record<string, OrderedCase>> = {
    'some thread': [voted(or), 'grid'],
    'all threads': [voted('bar.red.and.pred %p4, 0, %p3;'), ''],
    'no thread': [voted('bar.red.or.pred %p4, 0, !%p3;'), ''],
    'another predicate': [voted('setp.gt.s32 %p3, %r9, 3; bar.red.or.pred %p4, 0, %p3;'), ''],
    'or another predicate': [voted(`setp.gt.s32 %p5, %r9, 3; or.pred %p3, %p3, %p5; ${or}`), ''],
    'or that of another thread': [voted(`setp.eq.s32 %p5, %r0, 1; or.pred %p3, %p3, %p5; ${or}`), ''],
    'the last but one': [voted(or, 'sub.s32 %r77, %r79, 1; setp.eq.s32 %p3, %r20, %r77;'), ''],
    'a barrier of part of the block': [voted('bar.red.or.pred %p4, 0, 32, %p3;'), ''],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('of all units that arrive at a counter only the last one goes on', () => {
  const own = 'mov.u32 %r30, 0;';
  const lastly = (body: string, test = 'setp.ne.s32 %p2, %r20, %r79;'): string => `${test} @%p2 bra Y; ${body} Y:`;
  const byLeader = (count: string, after: string): string => `${sizes} ${own} ${leader(`${count} ${after}`, 'X')}`;
  const column = 'mul.wide.u32 %d30, %r6, 4; add.s64 %d30, %d2, %d30; mov.u32 %r78, %nctaid.y; sub.s32 %r79, %r78, 1;';
  const ofColumn = `${column} ${leader(`atom.global.add.u32 %r20, [%d30], 1; ${lastly(write)}`, 'X')}`;
  const cases: Readonly<Record<string, OrderedCase>> = {
    'the last block writes': [byLeader(add, lastly(write)), 'grid'],
    'the last block writes, and broadcasts that': [`${sizes} ${leader(`${add} ${publish}`, 'X')} ${broadcast(write)}`, 'grid'],
    'the last block writes, by a counter that wraps around': [byLeader('atom.global.inc.u32 %r20, [%d2], %r79;', lastly(write)), 'grid'],
    'another block writes': [byLeader(add, lastly(write, 'sub.s32 %r77, %r79, 1; setp.ne.s32 %p2, %r20, %r77;')), ''],
    'those that are not last write': [byLeader(add, lastly(write, 'setp.eq.s32 %p2, %r20, %r79;')), ''],
    'the last two write': [byLeader(add, lastly(write, 'sub.s32 %r77, %r79, 1; setp.lt.u32 %p2, %r20, %r77;')), ''],
    'two threads of each block count': [`${sizes} setp.ge.s32 %p9, %r0, 2; @%p9 bra X; ${add} ${lastly(write)} X:`, ''],
    'a count of the block': [byLeader(add.replace('atom.', 'atom.relaxed.cta.'), lastly(write)), ''],
    'a counter in shared memory': [
      `${leader('st.shared.u32 [s], 0;', 'I')} bar.sync 0; atom.shared.add.u32 %r20, [s], 1; setp.ne.s32 %p2, %r20, 63; @%p2 bra Y; ${write} Y:`,
      'block',
    ],
    'the last block of each column': [ofColumn, 'grid?', { grid: [4, 3, 1] }],
    'the last block of each column, counted to the number of columns': [
      ofColumn.replace('%nctaid.y', '%nctaid.x'),
      '',
      { grid: [4, 3, 1] },
    ],
    'the last block of each column, and another axis': [ofColumn, '', { grid: [4, 3, 2] }],
    'columns that overlap': [ofColumn.replace('%r6, 4', '%r6, 2'), '', { grid: [4, 3, 1] }],
    'columns of two': [
      ofColumn.replace('%d30, %r6, 4', '%d30, %r31, 4').replace('mul', 'shr.u32 %r31, %r6, 1; mul'),
      '',
      { grid: [4, 3, 1] },
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});
