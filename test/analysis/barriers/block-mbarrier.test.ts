/** Barriers in shared memory (PTX ISA 9.7.13.15) that act as barriers of the block: which do, and why others do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { type CheckOptions, kernelOf, requestFor } from '../../check/kernel-text.ts';

const declarations = '.shared .align 8 .b64 one; .shared .align 8 .b64 two; .shared .align 16 .b8 bytes[64];';
const initOf = (count: number | string, at = '%r30'): string =>
  `setp.ne.u32 %p5, %r0, 0; @%p5 bra I; mbarrier.init.shared.b64 [${at}], ${count}; I:`;
const setUp = 'mov.u32 %r30, one; mov.u32 %r31, two;';
const arrive = 'mbarrier.arrive.shared.b64 %d20, [%r30];';
const waitFor = (state = '%d20', label = 'W', at = '%r30'): string =>
  `${label}: mbarrier.test_wait.shared.b64 %p6, [${at}], ${state}; @!%p6 bra ${label};`;
const parity = (phase: string, label = 'W'): string =>
  `${label}: mbarrier.test_wait.parity.shared.b64 %p6, [%r30], ${phase}; @!%p6 bra ${label};`;
const whole = `${arrive} ${waitFor()}`;
const usual = `${setUp} ${initOf(64)} bar.sync 0;`;

const contextOf = (body: string, options: CheckOptions = {}) => kernelContext(requestFor(kernelOf(body, declarations), options));

/** `N` arrivals; with `later` for those after which the thread makes accesses before it waits; or the problem. */
function outcome(body: string, options: CheckOptions = {}): string {
  const { inMemory } = contextOf(body, options);
  if (inMemory.problem !== null) return inMemory.problem;
  const arrivals = [...inMemory.arrivals.values()];
  const later = arrivals.filter(({ isAwaitedAtOnce }) => !isAwaitedAtOnce).length;
  const announced = inMemory.announcements.size;
  return [`${arrivals.length}`, ...(later > 0 ? [`${later} later`] : []), ...(announced > 0 ? [`${announced} announced`] : [])].join(', ');
}

function compare(cases: readonly (readonly [string, string])[], options: CheckOptions = {}): void {
  const wrong = cases.flatMap(([body, expected]) => {
    const found = outcome(body, options);
    return (/^\d/.test(expected) ? found === expected : found.includes(expected)) ? [] : [`${body}: ${found}, not ${expected}`];
  });
  assert.deepEqual(wrong, []);
}

test('all threads arrive and wait for that phase', () => {
  compare([
    [`${usual} ${whole}`, '1'],
    [`${usual} ${whole} mbarrier.arrive.shared.b64 %d21, [%r30]; ${waitFor('%d21', 'V')}`, '2'],
    [`${usual} ${arrive} W: mbarrier.try_wait.shared.b64 %p6, [%r30], %d20; @!%p6 bra W;`, '1'],
    // The state of another arrival.
    [`${usual} ${arrive} mbarrier.arrive.shared.b64 %d21, [%r30]; ${waitFor()}`, 'before the phase'],
    [`${usual} ${whole} mbarrier.arrive.shared.b64 %d21, [%r30]; ${waitFor('%d20', 'V')}`, 'before the phase'],
    // Without a wait, with one look, with a wait on one path.
    [`${usual} ${arrive}`, 'before the phase'],
    [`${usual} ${arrive} mbarrier.test_wait.shared.b64 %p6, [%r30], %d20;`, 'before the phase'],
    [`${usual} ${arrive} setp.eq.s32 %p7, %r9, 3; @%p7 bra N; ${waitFor()} N:`, 'before the phase'],
    [`${usual} ${arrive} setp.eq.s32 %p7, %r9, 3; @%p7 ret; ${waitFor()}`, 'before the phase'],
    // It waits until the phase is not complete.
    [`${usual} ${arrive} W: mbarrier.test_wait.shared.b64 %p6, [%r30], %d20; @%p6 bra W;`, 'before the phase'],
    // Accesses between arrival and wait; fences and barriers there.
    [`${usual} ${arrive} st.u32 [%d1], %r0; ${waitFor()}`, '1, 1 later'],
    [`${usual} ${arrive} ld.u32 %r20, [%d1]; ${waitFor()}`, '1'],
    [`${usual} st.u32 [%d1], %r0; ${arrive} ld.u32 %r20, [%d1]; ${waitFor()}`, '1, 1 later'],
    [`${usual} ${arrive} add.s32 %r20, %r9, 1; ${waitFor()}`, '1'],
    [`${usual} ${arrive} fence.acq_rel.cta; ${waitFor()}`, 'before the phase'],
    [`${usual} ${arrive} bar.sync 0; ${waitFor()}`, 'before the phase'],
    // The store follows the wait.
    [`${usual} ${whole} st.u32 [%d1], %r0;`, '1'],
  ]);
});

test('one thread initialises with the number of threads, and a barrier of the block follows', () => {
  compare([
    [`${setUp} ${initOf(63)} bar.sync 0; ${whole}`, 'exactly one arrival of each thread'],
    [`${setUp} ${initOf(128)} bar.sync 0; ${whole}`, 'exactly one arrival of each thread'],
    [`${setUp} ${initOf('%r9')} bar.sync 0; ${whole}`, 'exactly one arrival of each thread'],
    [`${setUp} mov.u32 %r32, %ntid.x; ${initOf('%r32')} bar.sync 0; ${whole}`, '1'],
    [`${setUp} ${initOf(64)} ${whole}`, 'before it is initialised'],
    [`${setUp} bar.sync 0; ${initOf(64)} ${whole}`, 'before it is initialised'],
    [`${setUp} bar.sync 0; ${initOf(64)} bar.sync 0; ${whole}`, '1'],
    [`${setUp} ${initOf(64)} bar.sync 1; ${whole}`, 'before it is initialised'],
    [`${setUp} ${initOf(64)} bar.sync 0, 64; ${whole}`, 'before it is initialised'],
    [`${setUp} ${initOf(64)} setp.eq.s32 %p7, %r9, 3; @%p7 bra N; bar.sync 0; N: ${whole}`, 'before it is initialised'],
    [`${setUp} mbarrier.init.shared.b64 [%r30], 64; bar.sync 0; ${whole}`, 'before it is initialised'],
    [
      `${setUp} setp.gt.u32 %p5, %r0, 1; @%p5 bra I; mbarrier.init.shared.b64 [%r30], 64; I: bar.sync 0; ${whole}`,
      'before it is initialised',
    ],
    [`${setUp} setp.ne.u32 %p5, %r0, 5; @%p5 bra I; mbarrier.init.shared.b64 [%r30], 64; I: bar.sync 0; ${whole}`, '1'],
    [
      `${setUp} setp.ne.u32 %p5, %r0, 77; @%p5 bra I; mbarrier.init.shared.b64 [%r30], 64; I: bar.sync 0; ${whole}`,
      'before it is initialised',
    ],
    [
      `${setUp} setp.ne.u32 %p5, %r9, 0; @%p5 bra I; mbarrier.init.shared.b64 [%r30], 64; I: bar.sync 0; ${whole}`,
      'before it is initialised',
    ],
    [`${setUp} ${initOf(64)} bar.sync 0; ${initOf(64).replaceAll('I', 'J')} bar.sync 0; ${whole}`, 'at exactly one place'],
    [`${setUp} bar.sync 0; ${whole}`, 'at exactly one place'],
    [usual, 'no thread arrives'],
    // In a loop: a second initialisation.
    [
      `${setUp} mov.u32 %r33, 0; L: ${initOf(64)} bar.sync 0; ${whole} add.s32 %r33, %r33, 1; setp.lt.s32 %p7, %r33, %r9; @%p7 bra L;`,
      'before it is initialised',
    ],
  ]);
  const square = { block: [8, 4, 2] } as const;
  const first = (test: string): string =>
    `${setUp} mov.u32 %r21, %tid.y; mov.u32 %r22, %tid.z; ${test} @%p5 bra I; mbarrier.init.shared.b64 [%r30], 64; I: bar.sync 0; ${whole}`;
  compare(
    [
      [first('or.b32 %r23, %r0, %r21; or.b32 %r23, %r23, %r22; setp.ne.u32 %p5, %r23, 0;'), '1'],
      [first('or.b32 %r23, %r0, %r21; setp.ne.u32 %p5, %r23, 0;'), 'before it is initialised'],
      [first('mad.lo.u32 %r23, %r22, 4, %r21; mad.lo.u32 %r23, %r23, 8, %r0; setp.ne.u32 %p5, %r23, 63;'), '1'],
    ],
    square,
  );
  compare([[`${usual} ${whole}`, 'how many threads']], { block: null as never });
});

test('operations other than plain arrivals and waits', () => {
  compare([
    [`${usual} mbarrier.arrive.shared.b64 %d20, [%r30], 2; ${waitFor()}`, 'counts as several'],
    [`${usual} mbarrier.arrive.noComplete.shared.b64 %d20, [%r30], 1; ${waitFor()}`, 'counts as several'],
    [`${usual} mbarrier.arrive.expect_tx.shared::cta.b64 %d20, [%r30], 16; ${waitFor()}`, 'counts as several'],
    [`${usual} mbarrier.arrive_drop.shared.b64 %d20, [%r30]; ${whole}`, 'drops out'],
    [`${usual} ${whole} mbarrier.inval.shared.b64 [%r30];`, 'invalidates'],
    [`${usual} mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r30], 16; ${whole}`, 'counts bytes'],
    [`${usual} mbarrier.arrive.relaxed.cta.shared::cta.b64 %d20, [%r30]; ${waitFor()}`, 'relaxed'],
    [`${usual} ${arrive} W: mbarrier.test_wait.relaxed.cta.shared::cta.b64 %p6, [%r30], %d20; @!%p6 bra W;`, 'relaxed'],
    [`${usual} ${whole} mbarrier.pending_count.b64 %r20, %d20;`, '1'],
  ]);
});

test('places of barriers: fixed, in shared memory, not touched by other accesses', () => {
  const at = (address: string): string => usual.replace('mov.u32 %r30, one;', `mov.u32 %r30, bytes; ${address}`);
  compare([
    [`${at('add.u32 %r30, %r30, 16;')} ${whole}`, '1'],
    [`${at('mad.lo.u32 %r30, %r9, 8, %r30;')} ${whole}`, 'which mbarrier'],
    [`${usual} ${whole} st.shared.u32 [one], %r0;`, 'may overwrite'],
    [`${usual} ${whole} ld.shared.u32 %r20, [one+4];`, 'may overwrite'],
    [`${usual} ${whole} st.shared.u32 [two], %r0;`, '1'],
    [`${usual} ${whole} mad.lo.u32 %r33, %r0, 4, %r31; st.shared.u32 [%r33], %r0;`, '1'],
    [`${usual} ${whole} mad.lo.u32 %r33, %r0, 4, %r30; st.shared.u32 [%r33], %r0;`, 'may overwrite'],
    [`${usual} ${whole} ld.u64 %d40, [%d1]; st.u32 [%d40], %r0;`, '1'],
    // A pointer that the kernel itself may have stored.
    [`${usual} ${whole} st.u64 [%d1], %d0; ld.u64 %d40, [%d1]; st.u32 [%d40], %r0;`, 'may overwrite'],
    // The 8 bytes at 16 of one array.
    ...(
      [
        [8, '1'],
        [9, 'may overwrite'],
        [16, 'may overwrite'],
        [20, 'may overwrite'],
        [23, 'may overwrite'],
        [24, '1'],
      ] as const
    ).map(
      ([offset, expected]) =>
        [`${at('add.u32 %r30, %r30, 16;')} ${whole} st.shared.v2.u32 [bytes+${offset}], {%r0, %r0};`, expected] as const,
    ),
    // The next address up to which 1 byte may be written.
    [`${at('add.u32 %r30, %r30, 16;')} ${whole} st.shared.u8 [bytes+15], %r0;`, '1'],
    [`${at('add.u32 %r30, %r30, 16;')} ${whole} st.shared.u8 [bytes+23], %r0;`, 'may overwrite'],
  ]);
  const two = (first: number, second: number): string =>
    `mov.u32 %r30, bytes; add.u32 %r31, %r30, ${second}; add.u32 %r30, %r30, ${first}; ${initOf(64)} ${initOf(64, '%r31').replaceAll('I', 'J')} bar.sync 0;
      ${whole} mbarrier.arrive.shared.b64 %d21, [%r31]; ${waitFor('%d21', 'V', '%r31')}`;
  compare([
    [two(0, 8), '2'],
    [two(8, 0), '2'],
    [two(0, 7), 'overlap'],
    [two(4, 0), 'overlap'],
  ]);
});

test('phases by parity: that of the iterations that pass the only arrival', () => {
  const loop = (phase: string, more = ''): string =>
    `${usual} mov.u32 %r33, 0; L: ${arrive} ${phase} ${parity('%r34')} ${more} add.s32 %r33, %r33, 1; setp.lt.s32 %p7, %r33, %r9; @%p7 bra L;`;
  const wrong = 'before the phase';
  compare([
    [`${usual} ${arrive} ${parity('0')}`, '1'],
    [`${usual} ${arrive} ${parity('1')}`, wrong],
    [`${usual} ${arrive} ${parity('2')}`, '1'],
    [`${usual} ${arrive} ${parity('%r9')}`, wrong],
    [`${usual} ${arrive} ${parity('0')} mbarrier.arrive.shared.b64 %d21, [%r30]; ${parity('1', 'V')}`, wrong],
    [loop('and.b32 %r34, %r33, 1;'), '1'],
    [loop('mov.u32 %r34, %r33;'), '1'],
    [loop('add.s32 %r34, %r33, 2;'), '1'],
    [loop('add.s32 %r34, %r33, 1;'), wrong],
    [loop('add.s32 %r34, %r33, 1; and.b32 %r34, %r34, 1; xor.b32 %r34, %r34, 1;'), '1'],
    [loop('xor.b32 %r34, %r33, 1;'), wrong],
    [loop('xor.b32 %r34, %r33, 6;'), '1'],
    [loop('mad.lo.s32 %r34, %r33, 3, 4;'), '1'],
    [loop('mad.lo.s32 %r34, %r33, 2, 1;'), wrong],
    [loop('mul.lo.s32 %r34, %r33, %r33;'), '1'],
    [loop('mul.lo.s32 %r34, %r33, %r9;'), wrong],
    [loop('mad.lo.s32 %r34, %r9, 2, %r33;'), '1'],
    [loop('add.s32 %r34, %r9, %r33;'), wrong],
    [loop('mov.u32 %r34, 0;'), wrong],
    [loop('mov.u32 %r34, 1;'), wrong],
    [loop('and.b32 %r35, %r33, 1; setp.eq.u32 %p8, %r35, 1; selp.b32 %r34, 1, 0, %p8;'), '1'],
    [loop('and.b32 %r35, %r33, 1; setp.ne.u32 %p8, %r35, 1; selp.b32 %r34, 0, 1, %p8;'), '1'],
    [loop('and.b32 %r35, %r33, 1; setp.eq.u32 %p8, %r35, 0; selp.b32 %r34, 1, 0, %p8;'), wrong],
    [loop('and.b32 %r35, %r33, 1; setp.ne.u32 %p8, %r35, 0; selp.b32 %r34, 1, 2, %p8;'), '1'],
    [loop('and.b32 %r35, %r33, 2; setp.eq.u32 %p8, %r35, 0; selp.b32 %r34, 1, 0, %p8;'), wrong],
    [loop('setp.eq.u32 %p8, %r33, 0; selp.b32 %r34, 0, 1, %p8;'), wrong],
    [loop('cvt.u16.u32 %h1, %r33; cvt.u32.u16 %r34, %h1;'), '1'],
    // An iteration that does not pass the arrival.
    [
      `${usual} mov.u32 %r33, 0; L: setp.eq.s32 %p8, %r33, %r8; @%p8 bra N; ${arrive} and.b32 %r34, %r33, 1; ${parity('%r34')} N:
        add.s32 %r33, %r33, 1; setp.lt.s32 %p7, %r33, %r9; @%p7 bra L;`,
      wrong,
    ],
    // Of an inner loop.
    [
      `${usual} mov.u32 %r36, 0; O: mov.u32 %r33, 0; L: ${arrive} and.b32 %r34, %r33, 1; ${parity('%r34')} add.s32 %r33, %r33, 1;
        setp.lt.s32 %p7, %r33, %r9; @%p7 bra L; add.s32 %r36, %r36, 1; setp.lt.s32 %p8, %r36, %r8; @%p8 bra O;`,
      wrong,
    ],
  ]);
});

test('copies that a barrier waits for', () => {
  const counted = (count: number): string => `${setUp} ${initOf(count)} bar.sync 0;`;
  const copy = 'cp.async.ca.shared.global [bytes], [%d1], 4;';
  const announce = 'cp.async.mbarrier.arrive.shared.b64 [%r30];';
  const uncounted = 'cp.async.mbarrier.arrive.noinc.shared.b64 [%r30];';
  compare([
    [`${counted(64)} ${copy} ${announce} ${whole}`, '1, 1 announced'],
    [`${counted(128)} ${copy} ${uncounted} ${whole}`, '1, 1 announced'],
    [`${counted(64)} ${copy} ${uncounted} ${whole}`, 'exactly one arrival'],
    [`${counted(128)} ${copy} ${announce} ${whole}`, 'exactly one arrival'],
    [`${counted(192)} ${copy} ${uncounted} ${uncounted} ${whole}`, '1, 2 announced'],
    // On one path only, after the arrival, twice before one arrival, with two arrivals.
    [`${counted(128)} ${copy} setp.eq.s32 %p7, %r9, 3; @%p7 bra N; ${uncounted} N: ${whole}`, 'more often than threads'],
    [`${counted(128)} ${copy} ${whole} ${uncounted}`, 'more often than threads'],
    [
      `${counted(128)} ${copy} mov.u32 %r33, 0; L: ${uncounted} add.s32 %r33, %r33, 1; setp.lt.s32 %p7, %r33, %r9; @%p7 bra L; ${whole}`,
      'more often than threads',
    ],
    [`${counted(128)} ${copy} ${uncounted} setp.eq.s32 %p7, %r9, 3; @%p7 ret; ${whole}`, 'more often than threads'],
    [`${counted(128)} ${copy} ${uncounted} ${whole} mbarrier.arrive.shared.b64 %d21, [%r30]; ${waitFor('%d21', 'V')}`, 'in several places'],
    [
      `${counted(128)} mov.u32 %r33, 0; L: ${copy} ${uncounted} ${whole} add.s32 %r33, %r33, 1; setp.lt.s32 %p7, %r33, %r9; @%p7 bra L;`,
      '1, 1 announced',
    ],
  ]);
});

test('operations on barriers that are not analyzed are accesses of their words', () => {
  const { inMemory, accesses } = contextOf(`${setUp} ${initOf(64)} ${whole}`);
  assert.deepEqual(
    inMemory.accesses.map(({ index, bytes, operation }) => [index - accesses.length, bytes, operation]),
    [
      [0, 8, inMemory.accesses[0]!.operation],
      [1, 8, inMemory.accesses[1]!.operation],
      [2, 8, inMemory.accesses[2]!.operation],
    ],
  );
  assert.equal(contextOf(`${usual} ${whole}`).inMemory.accesses.length, 0);
});
