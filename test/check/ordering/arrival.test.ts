/** Flags and counters: accesses that they order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CheckOptions, contextOf } from '../kernel-text.ts';
import { leader, type OrderedCase, otherwiseOrdered } from './ordered.ts';

const fence = 'fence.acq_rel.gpu;';
const write = 'st.global.u32 [%d1], 1;';
const read = 'ld.global.u32 %r40, [%d1];';
const up = 'st.volatile.global.u32 [%d2], 1;';
const look = 'ld.volatile.global.u32 %r20, [%d2];';

/** Thread 0 of the launch executes `body`. */
const first = (body: string): string => `setp.ne.s32 %p1, %r7, 0; @%p1 bra W; ${body} W:`;
/** Thread 0 of each block executes `body`. */
const until = (load: string, after = fence): string => `L: ${load} setp.eq.s32 %p2, %r20, 0; @%p2 bra L; ${after}`;

const oneBlock: CheckOptions = { grid: [1, 1, 1] };

test('a flag orders what one thread did before it set it, and what others do after they saw it', () => {
  const cases: Readonly<Record<string, OrderedCase>> = {
    'fences on both sides': [`${first(`${write} ${fence} ${up}`)} ${until(look)} ${read}`, 'block grid'],
    'release and acquire': [
      `${first(`${write} st.release.gpu.global.u32 [%d2], 1;`)} ${until('ld.acquire.gpu.global.u32 %r20, [%d2];', '')} ${read}`,
      'block grid',
    ],
    'atomics, and a flag of another value': [
      `${first(`${write} ${fence} atom.global.exch.b32 %r21, [%d2], 7;`)} ${until('atom.global.or.b32 %r20, [%d2], 0;')} ${read}`,
      'block grid',
    ],
    'a fence between the load and its branch': [
      `${first(`${write} ${fence} ${up}`)} L: ${look} ${fence} setp.eq.s32 %p2, %r20, 0; @%p2 bra L; ${read}`,
      'block grid',
    ],
    'the value of the previous iteration': [
      `${first(`${write} ${fence} ${up}`)} mov.u32 %r21, 0; L: setp.ne.s32 %p2, %r21, 0; @%p2 bra M; ${look} mov.u32 %r21, %r20; bra L; M: ${fence} ${read}`,
      'block grid',
    ],
    'no fence before the flag': [`${first(`${write} ${up}`)} ${until(look)} ${read}`, ''],
    'a fence before the write': [`${first(`${fence} ${write} ${up}`)} ${until(look)} ${read}`, ''],
    'no fence after the flag': [`${first(`${write} ${fence} ${up}`)} ${until(look, '')} ${read}`, ''],
    'a fence on one path only': [
      `${first(`${write} ${fence} ${up}`)} ${until(look, `setp.eq.s32 %p3, %r9, 3; @%p3 bra N; ${fence} N:`)} ${read}`,
      '',
    ],
    'fences of the block': [`${first(`${write} fence.acq_rel.cta; ${up}`)} ${until(look, 'fence.acq_rel.cta;')} ${read}`, 'block'],
    'a flag of the block': [
      `${first(`${write} ${fence} atom.relaxed.cta.global.exch.b32 %r21, [%d2], 1;`)} ${until(look)} ${read}`,
      'block',
    ],
    'a load of the block': [`${first(`${write} ${fence} ${up}`)} ${until('ld.relaxed.cta.global.u32 %r20, [%d2];')} ${read}`, 'block'],
    'a flag that no thread sets': [`${first(`${write} ${fence} atom.global.or.b32 %r21, [%d2], 0;`)} ${until(look)} ${read}`, ''],
    'a flag at one of two addresses': [
      `setp.gt.s32 %p4, %r9, 3; add.s64 %d30, %d1, 64; selp.b64 %d31, %d30, %d2, %p4; ${first(`${write} ${fence} st.volatile.global.u32 [%d31], 1;`)} ${until(look)} ${read}`,
      '',
    ],
    'a weak flag': [`${first(`${write} ${fence} st.global.u32 [%d2], 1;`)} ${until(look)} ${read}`, ''],
    'a weak load': [`${first(`${write} ${fence} ${up}`)} ${until('ld.global.u32 %r20, [%d2];')} ${read}`, ''],
    'a load whose value is not tested': [`${first(`${write} ${fence} ${up}`)} ${look} ${fence} ${read}`, ''],
    'a wait until the flag is not set': [
      `${first(`${write} ${fence} ${up}`)} L: ${look} setp.ne.s32 %p2, %r20, 0; @%p2 bra L; ${fence} ${read}`,
      '',
    ],
    'one look, and an access on the other side': [
      `${first(`${write} ${fence} ${up}`)} ${look} setp.eq.s32 %p2, %r20, 0; ${fence} @!%p2 bra M; ${read} M:`,
      '',
    ],
    'a write after the flag': [`${first(`${fence} ${up} ${write}`)} ${until(look)} ${read}`, ''],
    'a write in a loop with the flag': [
      `mov.u32 %r30, 0; R: ${first(`${write} ${fence} ${up}`)} add.s32 %r30, %r30, 1; setp.lt.s32 %p4, %r30, 2; @%p4 bra R; ${until(look)} ${read}`,
      '',
    ],
    'a flag that each block sets': [`${leader(`${write} ${fence} ${up}`, 'W')} ${until(look)} ${read}`, ''],
    'a flag that two threads set': [`setp.gt.s32 %p1, %r7, 1; @%p1 bra W; ${write} ${fence} ${up} W: ${until(look)} ${read}`, ''],
    ...Object.fromEntries(
      (
        [
          ['a flag that another thread may reset', 'st.volatile.global.u32 [%d2], 0;', 'block grid'],
          ['a flag that another thread may set', 'st.volatile.global.u32 [%d2], 1;', ''],
          ['a flag that another thread may reset by a weak store', 'st.global.u32 [%d2], 0;', ''],
          ['a flag that another thread may increment', 'atom.global.add.u32 %r41, [%d2], 1;', ''],
          ['a flag of which another thread may reset a part', 'st.volatile.global.u16 [%d2], 0;', ''],
        ] as const
      ).map(([name, store, order]) => [
        name,
        [`${first(`${write} ${fence} ${up}`)} setp.ne.s32 %p5, %r7, 9; @%p5 bra Z; ${store} Z: ${until(look)} ${read}`, order],
      ]),
    ),
    'a flag that an unknown store may alter': [
      `${first(`${write} ${fence} ${up}`)} mul.wide.s32 %d30, %r9, 4; add.s64 %d30, %d2, %d30; st.global.u32 [%d30], 3; ${until(look)} ${read}`,
      '',
    ],
    'another element of the array is set': [
      `${first(`${write} ${fence} st.volatile.global.u32 [%d2+4], 1;`)} ${until(look)} ${read}`,
      'block? grid?',
    ],
    'a flag of another size is seen': [`${first(`${write} ${fence} st.volatile.global.u16 [%d2], 1;`)} ${until(look)} ${read}`, ''],
    'each block sets its own flag': [
      `mul.wide.u32 %d30, %r6, 4; add.s64 %d30, %d2, %d30; ${leader(`${write} ${fence} st.volatile.global.u32 [%d30], 1;`, 'W')} ${until(look)} ${read}`,
      'block? grid?',
    ],
    'blocks of a row set one flag': [
      `mul.wide.u32 %d30, %r6, 4; add.s64 %d30, %d2, %d30; ${leader(`${write} ${fence} st.volatile.global.u32 [%d30], 1;`, 'W')} ${until(look)} ${read}`,
      '',
      { grid: [4, 2, 1] },
    ],
    'two blocks set one flag': [
      `shr.u32 %r30, %r6, 1; mul.wide.u32 %d30, %r30, 4; add.s64 %d30, %d2, %d30; ${leader(`${write} ${fence} st.volatile.global.u32 [%d30], 1;`, 'W')} ${until(look)} ${read}`,
      '',
    ],
    'flags that overlap': [
      `mul.wide.u32 %d30, %r6, 2; add.s64 %d30, %d2, %d30; ${leader(`${write} ${fence} st.volatile.global.u32 [%d30], 1;`, 'W')} ${until(look)} ${read}`,
      '',
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a barrier of the block extends a flag to the threads of the block', () => {
  const wait = leader(until(look), 'X');
  const cases: Readonly<Record<string, OrderedCase>> = {
    'all threads write before a barrier': [
      `${write} bar.sync 0; ${first(`${fence} ${up}`)} ${until(look)} ${read}`,
      'block grid',
      oneBlock,
    ],
    'threads of other blocks write, too': [`${write} bar.sync 0; ${first(`${fence} ${up}`)} ${until(look)} ${read}`, ''],
    'all threads write, without a barrier': [`${write} ${first(`${fence} ${up}`)} ${until(look)} ${read}`, '', oneBlock],
    'a fence before the barrier only': [`${write} ${fence} bar.sync 0; ${first(up)} ${until(look)} ${read}`, '', oneBlock],
    'a barrier before the write': [`bar.sync 0; ${write} ${first(`${fence} ${up}`)} ${until(look)} ${read}`, '', oneBlock],
    'another thread writes': [
      `setp.ne.s32 %p9, %r0, 1; @%p9 bra V; ${write} V: ${first(`${fence} ${up}`)} ${until(look)} ${read}`,
      '',
      oneBlock,
    ],
    'the same thread writes earlier': [
      `setp.ne.s32 %p9, %r0, 0; @%p9 bra V; ${write} V: ${first(`${fence} ${up}`)} ${until(look)} ${read}`,
      'block grid',
      oneBlock,
    ],
    'thread 0 waits for its block': [`${first(`${write} ${fence} ${up}`)} ${wait} bar.sync 0; ${read}`, 'block grid'],
    'thread 0 waits, and no barrier follows': [`${first(`${write} ${fence} ${up}`)} ${wait} ${read}`, ''],
    'a fence after the barrier': [`${first(`${write} ${fence} ${up}`)} ${leader(until(look, ''), 'X')} bar.sync 0; ${fence} ${read}`, ''],
    'thread 1 waits': [
      `${first(`${write} ${fence} ${up}`)} setp.ne.s32 %p9, %r0, 1; @%p9 bra X; ${until(look)} X: bar.sync 0; ${read}`,
      '',
    ],
    'thread 0 looks once': [`${first(`${write} ${fence} ${up}`)} ${leader(`${look} ${fence}`, 'X')} bar.sync 0; ${read}`, ''],
    'thread 0 may leave without having waited': [
      `${first(`${write} ${fence} ${up}`)} ${leader(`setp.eq.s32 %p3, %r9, 3; @%p3 ret; ${until(look)}`, 'X')} bar.sync 0; ${read}`,
      '',
    ],
    'thread 0 looks once, and leaves if the flag is not set': [
      `${first(`${write} ${fence} ${up}`)} ${leader(`${look} setp.eq.s32 %p3, %r20, 0; @%p3 ret; ${fence}`, 'X')} bar.sync 0; ${read}`,
      '',
    ],
    'thread 0 waits after the barrier': [`${first(`${write} ${fence} ${up}`)} bar.sync 0; ${wait} ${read}`, ''],
    'thread 0 publishes what it saw': [
      `${first(`${write} ${fence} ${up}`)} ${leader(`${look} ${fence} st.shared.u32 [s], %r20;`, 'X')} bar.sync 0;
        ld.shared.u32 %r21, [s]; setp.eq.s32 %p3, %r21, 0; @%p3 bra Y; ${read} Y:`,
      'block grid',
    ],
    'thread 0 publishes what it saw, without a fence': [
      `${first(`${write} ${fence} ${up}`)} ${leader(`${look} st.shared.u32 [s], %r20;`, 'X')} bar.sync 0;
        ld.shared.u32 %r21, [s]; setp.eq.s32 %p3, %r21, 0; @%p3 bra Y; ${fence} ${read} Y:`,
      '',
    ],
    'thread 0 publishes that it saw nothing': [
      `${first(`${write} ${fence} ${up}`)} ${leader(`${look} ${fence} st.shared.u32 [s], %r20;`, 'X')} bar.sync 0;
        ld.shared.u32 %r21, [s]; setp.ne.s32 %p3, %r21, 0; @%p3 bra Y; ${read} Y:`,
      '',
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a flag in shared memory needs a first value, and orders threads of its block', () => {
  const flag = (init: string): string =>
    `${init} setp.ne.s32 %p1, %r0, 5; @%p1 bra W; ${write} ${fence} st.volatile.shared.u32 [s], 1; W: ${until('ld.volatile.shared.u32 %r20, [s];')} ${read}`;
  const zero = leader('st.shared.u32 [s], 0;', 'I');
  const cases: Readonly<Record<string, OrderedCase>> = {
    'zero, and a barrier': [flag(`${zero} bar.sync 0;`), 'block'],
    'no first value': [flag(''), ''],
    'zero without a barrier': [flag(zero), ''],
    'a first value other than zero': [flag(`${leader('st.shared.u32 [s], 1;', 'I')} bar.sync 0;`), ''],
    'zero on one path': [flag(`setp.eq.s32 %p8, %r9, 3; @%p8 bra I; ${zero.replaceAll('I', 'J')} I: bar.sync 0;`), ''],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

/** `%r78` is the number of blocks, `%r79` one less. */
const sizes = 'mov.u32 %r78, %nctaid.x; sub.s32 %r79, %r78, 1;';

test('a counter orders what all did before they counted, and what the last one does', () => {
  const add = 'atom.global.add.u32 %r20, [%d2], 1;';
  const last = (body: string, test = 'setp.ne.s32 %p2, %r20, %r79;'): string => `${test} @%p2 bra Y; ${body} Y:`;
  const counted = (count: string, after = last(`${fence} ${read}`), before = `${write} bar.sync 0;`): string =>
    `${sizes} ${before} ${leader(`${fence} ${count} ${after}`, 'X')}`;
  const reset = 'st.global.u32 [%d2], 0;';
  const cases: Readonly<Record<string, OrderedCase>> = {
    'thread 0 of each block counts': [counted(add), 'grid'],
    'with a compare for at least the number': [counted(add, last(`${fence} ${read}`, 'setp.lt.u32 %p2, %r20, %r79;')), 'grid'],
    'with a counter that wraps around': [counted('atom.global.inc.u32 %r20, [%d2], %r79;'), 'grid'],
    'with a counter that wraps around too early': [counted('sub.s32 %r77, %r79, 1; atom.global.inc.u32 %r20, [%d2], %r77;'), ''],
    'one block too few': [counted(add, last(`${fence} ${read}`, 'sub.s32 %r77, %r79, 1; setp.lt.u32 %p2, %r20, %r77;')), ''],
    'another number': [counted(add, last(`${fence} ${read}`, 'setp.ne.s32 %p2, %r20, %r9;')), ''],
    'an access of those who are not last': [counted(add, last(`${fence} ${read}`, 'setp.eq.s32 %p2, %r20, %r79;')), ''],
    'a step of 2': [counted('atom.global.add.u32 %r20, [%d2], 2;'), ''],
    'a maximum': [counted('atom.global.max.u32 %r20, [%d2], 1;'), ''],
    'a store': [counted('st.volatile.global.u32 [%d2], 1;', `L: ${look} setp.lt.u32 %p2, %r20, %r78; @%p2 bra L; ${fence} ${read}`), ''],
    'no fence after the count': [counted(add, last(read)), ''],
    'no barrier before the count': [counted(add, last(`${fence} ${read}`), write), ''],
    'a counter of the block': [counted('atom.relaxed.cta.global.add.u32 %r20, [%d2], 1;'), ''],
    'a reset by the last': [counted(add, last(`${fence} ${reset} ${read}`)), 'grid'],
    'a reset by the last, without a fence': [counted(add, last(`${reset} ${fence} ${read}`)), ''],
    'a reset to another number': [counted(add, last(`${fence} st.global.u32 [%d2], 1; ${read}`)), ''],
    'a reset by any thread': [counted(add, `${last(`${fence} ${read}`)} ${reset}`), ''],
    'a counter of two sizes': [counted(add, last(`${fence} st.global.u16 [%d2], 0; ${read}`)), ''],
    'a counter that each block waits for': [counted(add, `L: ${look} setp.lt.u32 %p2, %r20, %r78; @%p2 bra L; ${fence} ${read}`), 'grid'],
    'a wait for one too few': [counted(add, `L: ${look} setp.lt.u32 %p2, %r20, %r79; @%p2 bra L; ${fence} ${read}`), ''],
    'threads count, the last one reads': [
      `${sizes} mul.lo.s32 %r78, %r78, %r5; sub.s32 %r79, %r78, 1; ${write} ${fence} ${add} ${last(`${fence} ${read}`)}`,
      'block grid',
    ],
    'threads count to the number of blocks': [`${sizes} ${write} ${fence} ${add} ${last(`${fence} ${read}`)}`, ''],
    'thread 0 publishes that its block is last': [
      `${sizes} ${write} bar.sync 0; ${leader(`${fence} ${add} ${fence} st.shared.u32 [s], %r20;`, 'X')} bar.sync 0; ld.shared.u32 %r20, [s]; ${last(read)}`,
      'grid',
    ],
    'thread 0 publishes that its block is last, without a fence': [
      `${sizes} ${write} bar.sync 0; ${leader(`${fence} ${add} st.shared.u32 [s], %r20;`, 'X')} bar.sync 0; ld.shared.u32 %r20, [s]; ${last(`${fence} ${read}`)}`,
      '',
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a counter in shared memory counts the threads of the block', () => {
  const counted = (n: string, grid = ''): string =>
    `${leader('st.shared.u32 [s], 0;', 'I')} bar.sync 0; ${write} ${fence} atom.shared.add.u32 %r20, [s], 1; ${grid} setp.ne.s32 %p2, %r20, ${n}; @%p2 bra Y; ${fence} ${read} Y:`;
  const cases: Readonly<Record<string, OrderedCase>> = {
    'all threads': [counted('63'), 'block'],
    'one too few': [counted('62'), ''],
    'all threads of one block': [counted('63'), 'block', oneBlock],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('what an order depends on is listed', () => {
  const of = (body: string, options: CheckOptions = { grid: [4, 1, 1] }) => {
    const [first] = contextOf(body, options).synchronisation;
    return [first?.startsAtZero, first?.assumes.length];
  };
  const zero = leader('st.shared.u32 [s], 0;', 'I');
  const inShared = `${zero} bar.sync 0; setp.ne.s32 %p1, %r0, 5; @%p1 bra W; ${write} ${fence} st.volatile.shared.u32 [s], 1; W: ${until('ld.volatile.shared.u32 %r20, [s];')} ${read}`;
  const threads = `${sizes} mul.lo.s32 %r78, %r78, %r5; sub.s32 %r79, %r78, 1; ${write} ${fence} atom.global.add.u32 %r20, [%d2], 1; setp.ne.s32 %p2, %r20, %r79; @%p2 bra Y; ${fence} ${read} Y:`;
  assert.deepEqual(of(`${first(`${write} ${fence} ${up}`)} ${until(look)} ${read}`), [true, 0], 'a flag in global memory');
  assert.deepEqual(of(inShared), [false, 0], 'a flag in shared memory');
  assert.deepEqual(of(threads), [true, 0], 'a known number of threads');
});
