/** Pairs that one run of a launch decides, and those that it must not decide. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aliasing } from '../../../src/check/context/aliasing.ts';
import { intervalsOf } from '../../../src/check/intervals.ts';
import { racingPairs } from '../../../src/check/race-pairs.ts';
import { isDecidedByRun } from '../../../src/check/witness/deciding-run.ts';
import { inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import { complete } from '../../../src/base/coroutine.ts';
import { type CheckOptions, contextOf, load, store } from '../kernel-text.ts';

/** Whether a run decides all pairs of a body that no barrier separates. */
async function decided(body: string, options: CheckOptions = {}): Promise<boolean> {
  const context = contextOf(body, options);
  const { kernel, dependences, loaded } = context;
  const of = (scope: 'block' | 'grid') => inferUniformity(kernel, dependences, loaded, new Set(), scope);
  const intervals = intervalsOf(context, { block: of('block'), grid: of('grid') }, false);
  const { pairs } = racingPairs(context, intervals, aliasing(context).mayAlias);
  assert.ok(pairs.length > 0, 'some pair is open');
  return complete(isDecidedByRun(context, pairs));
}

/** A stage of sums over warps: element `t` adds element `t ^ distance` of the previous stage after a barrier. */
const stage = (distance: number, barrier: string): string => `
xor.b32 %r20, %r0, ${distance};
${load('%r21', '%d0', '%r20', 30)}
${barrier}
${store('%d0', '%r0', '%r21', 31)}
${barrier}`;
const [warp, block] = ['bar.warp.sync 0xffffffff;', 'bar.sync 0;'];
const first = `${store('%d0', '%r0', '%r0', 32)} ${block}`;

test('warp barriers order the threads of one warp, but not threads of different warps', async () => {
  assert.equal(await decided(first + stage(1, warp) + stage(16, warp)), true);
  assert.equal(await decided(first + stage(1, warp) + stage(32, warp)), false);
  assert.equal(await decided(first + stage(1, warp) + block + stage(32, block)), true);
});

test('lanes of part of a warp order each other, in blocks whose accesses are all recorded', async () => {
  const mask = 'and.b32 %r23, %r0, 16; mov.u32 %r24, 65535; shl.b32 %r24, %r24, %r23;';
  const half = 'bar.warp.sync %r24;';
  assert.equal(await decided(first + mask + stage(1, half) + stage(8, half)), true);
  assert.equal(await decided(first + mask + stage(1, half) + stage(16, half)), false);
  assert.equal(await decided(first + mask + stage(1, half) + stage(8, '')), false);
  const large: CheckOptions = { block: [128, 1, 1] };
  assert.equal(await decided(first + mask + stage(1, half) + stage(8, half), large), true);
  // More threads read one element than the detector remembers.
  const shared = `mov.u32 %r27, 0; ${load('%r28', '%d0', '%r27', 33)} ${block}`;
  assert.equal(await decided(first + mask + shared + stage(1, half) + stage(8, half)), true);
  assert.equal(await decided(first + mask + shared + stage(1, half) + stage(8, half), large), false);
  // If blocks differ, all of them would have to be run.
  const own = `setp.eq.u32 %p1, %r6, 7; @%p1 bra END; ${stage(1, half)} END:`;
  assert.equal(await decided(first + mask + own, { grid: [8, 1, 1] }), false);
  // Contents of memory determine which lanes wait for each other.
  const read = load('%r24', '%d1', '%r0', 30);
  assert.equal(await decided(first + read + stage(1, half)), false);
});

test('a run decides only if the launch and all values of conditions and addresses are given', async () => {
  const upTo = `setp.ge.s32 %p1, %r0, %r9; @%p1 bra END; ${store('%d0', '%r0', '%r0', 30)} END:`;
  assert.equal(await decided(upTo), false);
  assert.equal(await decided(upTo, { scalars: { 2: 7n } }), true);
  assert.equal(await decided(upTo, { scalars: { 2: 7n }, block: null }), false);
  // A value that is only stored decides nothing.
  assert.equal(await decided(store('%d0', '%r0', '%r9', 30)), true);
});

test('if all blocks behave the same, the run decides without a given grid', async () => {
  const own = stage(1, warp) + stage(16, warp);
  assert.equal(await decided(first + own, { grid: null }), true);
  assert.equal(await decided(first + stage(1, warp) + stage(32, warp), { grid: null }), false);
  assert.equal(await decided(first + own, { grid: null, block: null }), false);
  // The index of a block, or the number of blocks, decides an address or a branch.
  const last = `setp.lt.u32 %p1, %r6, 7; selp.b32 %r20, %r0, 0, %p1; ${store('%d0', '%r20', '%r0', 33)}`;
  assert.equal(await decided(last, { grid: null }), false);
  const many = `mov.u32 %r20, %nctaid.x; setp.lt.u32 %p1, %r20, 7; @%p1 bra END; ${store('%d0', '%r0', '%r6', 33)} END:`;
  assert.equal(await decided(many, { grid: null }), false);
  assert.equal(await decided(many, { grid: [7, 1, 1] }), true);
  // Threads of different blocks.
  assert.equal(await decided(store('%d1', '%r0', '%r6', 33), { grid: null }), false);
});

test('contents of memory must decide neither branches nor addresses', async () => {
  const read = load('%r21', '%d1', '%r0', 30);
  assert.equal(await decided(`${read} setp.eq.s32 %p1, %r21, 5; @%p1 bra END; ${store('%d0', '%r0', '%r0', 31)} END:`), false);
  assert.equal(await decided(`${read} ${store('%d0', '%r21', '%r0', 31)}`), false);
  assert.equal(await decided(`${read} ${store('%d0', '%r0', '%r21', 31)}`), true);
  // The same goes for values exchanged in the warp, and for the address of an array.
  const exchanged = 'shfl.sync.idx.b32 %r22|%p2, %r21, 0, 31, -1; and.b32 %r22, %r22, 64;';
  assert.equal(await decided(`${read} ${exchanged} add.s32 %r22, %r22, %r0; ${store('%d0', '%r22', '%r0', 31)}`), false);
  const aligned = 'and.b64 %d40, %d1, 64; setp.ne.s64 %p1, %d40, 0; @%p1 bra END;';
  assert.equal(await decided(`${aligned} ${store('%d0', '%r0', '%r0', 31)} END:`), false);
});

test('unspecified values that the run chooses make it undecided', async () => {
  const sine = 'cvt.rn.f32.s32 %f1, %r0; sin.approx.f32 %f1, %f1;';
  const place = 'cvt.rzi.s32.f32 %r22, %f1; and.b32 %r22, %r22, 64; add.s32 %r22, %r22, %r0;';
  assert.equal(await decided(`${sine} setp.gt.f32 %p1, %f1, 0f3F000000; @%p1 bra END; ${store('%d0', '%r0', '%r0', 30)} END:`), false);
  assert.equal(await decided(`${sine} ${place} ${store('%d0', '%r22', '%r0', 30)}`), false);
});

test('the register %warpid decides nothing: it is a position on the multiprocessor', async () => {
  const own = (register: string): string => `mov.u32 %r20, ${register}; setp.eq.u32 %p1, %r20, 40; @%p1 bra ZERO;
    ${store('%d0', '%r0', '%r0', 30)} bra END; ZERO: st.u32 [%d0], %r0; END:`;
  assert.equal(await decided(own('%laneid')), true);
  for (const register of ['%warpid', '%nwarpid', '%smid', '%clock']) assert.equal(await decided(own(register)), false, register);
});

test('all differing blocks are executed; over the work budget it is undecided', async () => {
  // Only the last block has threads that write one element.
  const last = `setp.lt.u32 %p1, %r6, 7; selp.b32 %r20, %r0, 0, %p1; ${store('%d0', '%r20', '%r0', 30)}`;
  assert.equal(await decided(last, { grid: [7, 1, 1] }), true);
  assert.equal(await decided(last, { grid: [8, 1, 1] }), false);
  const own = store('%d1', '%r7', '%r0', 30);
  assert.equal(await decided(own, { grid: [16, 1, 1] }), true);
  assert.equal(await decided(own, { grid: [1 << 20, 1, 1] }), false);
  // Each block does the same in its own shared memory: one represents all.
  assert.equal(await decided(store('%d0', '%r0', '%r0', 30), { grid: [1 << 20, 1, 1] }), true);
  const neighbour = `${own} add.s32 %r20, %r7, 64; ${store('%d1', '%r20', '%r0', 31)}`;
  assert.equal(await decided(neighbour, { grid: [16, 1, 1] }), false);
});

test('pointers into one array, and order other than by barriers, are left to other tiers', async () => {
  const own = store('%d1', '%r7', '%r0', 30);
  assert.equal(await decided(own, { launch: { samePointers: [[0, 1]] } }), false);
  assert.equal(await decided(`${own} ${store('%d2', '%r7', '%r0', 31)}`), true);
  assert.equal(await decided(`${own} st.relaxed.gpu.u32 [%d2], %r0;`), false);
  assert.equal(await decided(`${own} atom.global.add.u32 %r30, [%d2], 1;`), false);
  assert.equal(await decided(`${own} bar.sync 1, 32;`), false);
});

test('a barrier that some threads do not reach, a trap and an exhausted budget decide nothing', async () => {
  const own = store('%d0', '%r0', '%r0', 30);
  assert.equal(await decided(`${own} setp.gt.u32 %p1, %r0, 40; @%p1 bra END; bar.sync 0; END:`), false);
  assert.equal(await decided(`${own} setp.lt.u32 %p1, %r0, 64; @%p1 bra END; trap; END:`), false);
  const long = `mov.u32 %r20, 0; LOOP: ${own} add.s32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 100; @%p1 bra LOOP;`;
  assert.equal(await decided(long), true);
  assert.equal(await decided(long, { budget: { replaySteps: 1000 } }), false);
  assert.equal(await decided(long, { budget: { replaySteps: 0 } }), false);
});

/** Warps below and from 2 on execute different code. */
const sides = (low: string, high: string): string => `setp.ge.u32 %p1, %r0, 64; @%p1 bra HIGH; ${low} bra END; HIGH: ${high} END:`;
const put = store('%d0', '%r25', '%r0', 30);
const get = load('%r21', '%d0', '%r26', 31);
/** The elements of both sides: that of the lane, and its mirror image. */
const places = 'and.b32 %r25, %r0, 63; sub.u32 %r26, 63, %r25;';
const often = (body: string, label: string): string =>
  `mov.u32 %r30, 0; ${label}: ${body} add.u32 %r30, %r30, 1; setp.lt.u32 %p2, %r30, 5; @%p2 bra ${label};`;
const [empty, full] = ['bar.sync 1, 128;', 'bar.sync 2, 128;'];
const [isEmpty, isFull] = ['bar.arrive 1, 128;', 'bar.arrive 2, 128;'];

test('barriers of some threads are followed if each phase comes after the one before', async () => {
  const of = { block: [128, 1, 1] } as const;
  const cases: Readonly<Record<string, readonly [string, boolean]>> = {
    'both sides wait twice': [sides(often(`${put} ${full} ${empty}`, 'P'), often(`${full} ${get} ${empty}`, 'C')), true],
    'one side only arrives': [
      sides(often(`${empty} ${put} ${isFull}`, 'P'), `${isEmpty} ${often(`${full} ${get} ${isEmpty}`, 'C')}`),
      true,
    ],
    'both sides wait once': [sides(often(`${put} ${full}`, 'P'), often(`${full} ${get}`, 'C')), false],
    'the buffer is free too early': [
      sides(often(`${empty} ${put} ${isFull}`, 'P'), `${isEmpty} ${often(`${full} ${isEmpty} ${get}`, 'C')}`),
      false,
    ],
    'the producer does not wait': [sides(often(`${put} ${isFull}`, 'P'), often(`${full} ${get}`, 'C')), false],
    // Any two of the four warps may take part.
    'pairs of warps at one barrier': [sides(`${put} bar.sync 1, 64;`, `bar.sync 1, 64; ${get}`), false],
    'other numbers of threads': [sides(`${put} bar.sync 1, 128;`, `bar.sync 1, 96; ${get}`), false],
    'half of a warp': [
      sides(`${put} setp.ge.u32 %p3, %r0, 48; @%p3 bra X; bar.arrive 1, 128; bra Y; X: bar.arrive 1, 128; Y:`, `bar.sync 1, 128; ${get}`),
      false,
    ],
    'a barrier by contents': [sides(`${put} ${load('%r27', '%d1', '%r0', 32)} bar.sync %r27, 128;`, `bar.sync 1, 128; ${get}`), false],
    'barrier 0 of some threads': [sides(`${put} bar.sync 0, 64;`, `bar.sync 0, 64; ${get}`), false],
  };
  for (const [name, [body, expected]] of Object.entries(cases)) assert.equal(await decided(`${places} ${body}`, of), expected, name);
});
