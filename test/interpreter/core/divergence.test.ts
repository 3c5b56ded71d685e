import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernel, launch } from './launch-text.ts';

const big = { block: [64, 1, 1] } as const;

function kinds(body: string, options: Parameters<typeof launch>[1] = big): readonly [string, ...string[]] {
  const result = launch(kernel(body), options);
  return [result.outcome, ...result.divergences.map((event) => event.kind)];
}

test('a barrier that all threads reach has no finding', () => {
  assert.deepEqual(kinds('bar.sync 0; st.global.u32 [%d3], 1; barrier.sync 0;'), ['finished']);
});

test('a barrier in a branch, with common code after it, diverges', () => {
  const body = `setp.ge.u32 %p1, %r0, 32; @%p1 bra JOIN; bar.sync 0; JOIN: st.global.u32 [%d3], 1;`;
  assert.deepEqual(kinds(body), ['finished', 'divergent']);
  const [event] = launch(kernel(body), big).divergences;
  assert.equal(event!.arrivedCount, 32);
  assert.deepEqual(event!.arrived[0], [0, 0, 0]);
  assert.deepEqual(event!.absent, { thread: [32, 0, 0], where: { kind: 'exited' } });
});

test('threads that returned before a barrier exited early', () => {
  const body = 'setp.ge.u32 %p1, %r0, 40; @%p1 bra DONE; bar.sync 0; st.global.u32 [%d3], 1; DONE:';
  assert.deepEqual(kinds(body), ['finished', 'early-exit']);
});

test('threads at different barrier instructions diverge, and the block stops', () => {
  const body = `setp.ge.u32 %p1, %r0, 32; @%p1 bra ELSE; bar.sync 0; st.global.u32 [%d3], 1; bra JOIN;
    ELSE: bar.sync 0; st.global.u32 [%d3], 2; JOIN:`;
  const result = launch(kernel(body), big);
  assert.equal(result.outcome, 'stuck');
  assert.deepEqual(
    result.divergences.map((event) => event.kind),
    ['divergent'],
  );
  assert.equal(result.divergences[0]!.absent?.where.kind, 'barrier');
});

test('a loop with another trip count for some threads diverges', () => {
  const body = `mov.u32 %r1, 0; shr.u32 %r2, %r0, 5; add.u32 %r2, %r2, 1;
    LOOP: bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra LOOP; st.global.u32 [%d3], %r1;`;
  assert.deepEqual(kinds(body), ['finished', 'divergent']);
});

test('waiting at different barriers is a deadlock', () => {
  const body = `setp.ge.u32 %p1, %r0, 32; @%p1 bra ELSE; bar.sync 0; bra JOIN; ELSE: bar.sync 1;
    JOIN: st.global.u32 [%d3], 1;`;
  assert.deepEqual(kinds(body), ['stuck', 'deadlock']);
});

test('a barrier whose count exceeds the number of arriving threads is a deadlock', () => {
  assert.deepEqual(kinds('bar.sync 1, 64; st.global.u32 [%d3], 1;', { block: [40, 1, 1] }), ['finished']);
  assert.deepEqual(kinds('bar.sync 1, 96; st.global.u32 [%d3], 1;'), ['stuck', 'partial-arrival']);
  const body = 'setp.ge.u32 %p1, %r0, 32; @%p1 bra DONE; bar.sync 1, 64; DONE: st.global.u32 [%d3], 1;';
  assert.deepEqual(kinds(body, { block: [96, 1, 1] }), ['stuck', 'partial-arrival']);
});

test('named barriers: producers arrive, consumers wait', () => {
  const body = `setp.ge.u32 %p1, %r0, 32; @%p1 bra CONSUME; st.global.u32 [%d3], 1; bar.arrive 1, 64; bra DONE;
    CONSUME: bar.sync 1, 64; st.global.u32 [%d3], 2; DONE:`;
  const result = launch(kernel(body), big);
  assert.deepEqual([result.outcome, result.divergences], ['finished', []]);
});

test('an arrival count reached by partial warps is divergent only for the aligned form', () => {
  const body = (form: string): string =>
    `and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 1; @%p1 bra DONE; ${form} 1, 32; st.global.u32 [%d3], 1; DONE: bar.sync 0;`;
  assert.deepEqual(kinds(body('bar.sync')), ['finished', 'divergent']);
  assert.deepEqual(kinds(body('barrier.sync')), ['finished']);
});

test('a shuffle waits for each lane of its mask that has not exited', () => {
  const body = `setp.ge.u32 %p1, %r0, 16; @%p1 bra JOIN; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;
    JOIN: bar.sync 0; st.global.u32 [%d3], %r1;`;
  assert.deepEqual(kinds(body, {}), ['stuck', 'missing-lanes']);
  const [event] = launch(kernel(body), {}).divergences;
  assert.deepEqual([event!.arrivedCount, event!.mask, event!.absent!.thread], [16, -1, [16, 0, 0]]);
  const exitedLanes = `setp.ge.u32 %p1, %r0, 16; @%p1 bra DONE; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;
    st.global.u32 [%d3], %r1; DONE:`;
  assert.deepEqual(kinds(exitedLanes, {}), ['finished']);
});

/** A shuffle by the lanes below 16 and one by the others, each with a mask. */
const halves = (lower: string, upper: string, mode = 'bfly'): string =>
  `setp.ge.u32 %p1, %r0, 16; @%p1 bra ELSE; shfl.sync.bfly.b32 %r1, %r0, 1, 31, ${lower}; bra JOIN;
    ELSE: shfl.sync.${mode}.b32 %r1, %r0, 1, 31, ${upper}; JOIN: bar.sync 0; st.global.u32 [%d3], %r1;`;

test('lanes exchange values with one mask and by one kind of instruction', () => {
  assert.deepEqual(kinds(halves('0xffff', '0xffff0000'), {}), ['finished']);
  assert.deepEqual(kinds(halves('-1', '0xffff0000'), {}), ['stuck', 'missing-lanes']);
  assert.deepEqual(kinds(halves('-1', '-1', 'down'), {}), ['stuck', 'missing-lanes']);
});

test('a lane that its mask does not name is reported, and goes on', () => {
  const body = (mask: string): string =>
    `setp.gt.u32 %p1, %r0, 8; @%p1 bra JOIN; bar.warp.sync ${mask}; JOIN: bar.sync 0; st.global.u32 [%d3], %r0;`;
  assert.deepEqual(kinds(body('0x1ff'), {}), ['finished']);
  assert.deepEqual(kinds(body('0xff'), {}), ['finished', 'outside-mask']);
  const [event] = launch(kernel(body('0xff')), {}).divergences;
  assert.deepEqual([event!.mask, event!.arrived], [0xff, [[8, 0, 0]]]);
});

test('a matrix instruction is executed by all lanes of its warp', () => {
  const mma = `mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e1, %e2}, {%e3}, {%e4}, {%e1, %e2};`;
  const zero = '0d0000000000000000';
  const body = (before: string): string => `mov.f64 %e1, ${zero}; mov.f64 %e2, ${zero}; mov.f64 %e3, ${zero}; mov.f64 %e4, ${zero};
    ${before} ${mma} DONE: st.global.u32 [%d3], 1;`;
  assert.deepEqual(kinds(body(''), {}), ['finished']);
  assert.deepEqual(kinds(body('setp.ge.u32 %p1, %r0, 31; @%p1 bra DONE;'), {}), ['finished', 'missing-lanes']);
});

test('the value of a lane that does not take part is undefined', () => {
  const reads = (body: string, options: Parameters<typeof launch>[1]): unknown =>
    launch(kernel(`${body} DONE:`), options).undefinedReads.map(({ thread: [x], lane, where }) => [x, lane, where?.kind ?? null]);
  const shuffle = (mask: string): string => `shfl.sync.down.b32 %r1, %r0, 1, 31, ${mask}; st.global.u32 [%d3], %r1;`;
  assert.deepEqual(reads(shuffle('-1'), {}), []);
  assert.deepEqual(reads(`setp.ge.u32 %p1, %r0, 20; @%p1 bra DONE; ${shuffle('-1')}`, {}), [[19, 20, 'exited']]);
  assert.deepEqual(reads(`setp.ge.u32 %p1, %r0, 20; @%p1 bra DONE; ${shuffle('0xfffff')}`, {}), [[19, 20, 'exited']]);
  assert.deepEqual(reads(shuffle('-1'), { block: [20, 1, 1] }), [[19, 20, null]]);
});

test('an undefined value can be replaced', () => {
  const body = `setp.ge.u32 %p1, %r0, 20; @%p1 bra DONE; shfl.sync.down.b32 %r1, %r0, 1, 31, -1; setp.eq.u32 %p2, %r0, 19;
    @%p2 st.global.u32 [%d3], %r1; DONE:`;
  const parsed = kernel(body);
  const { instruction } = launch(parsed, {}).undefinedReads[0]!;
  const stored = (undefinedValue?: { instruction: typeof instruction; seed: number }): bigint =>
    launch(parsed, undefinedValue ? { undefinedValue } : {}).read(0, 76, 4);
  assert.equal(stored(), 19n);
  assert.notEqual(stored({ instruction, seed: 1 }), stored({ instruction, seed: 2 }));
});

test('the first event of each kind at each barrier is recorded', () => {
  const body = 'setp.ge.u32 %p1, %r0, 40; @%p1 bra DONE; bar.sync 0; st.global.u32 [%d3], 1; DONE:';
  assert.deepEqual(kinds(body, { block: [64, 1, 1], grid: [5, 1, 1] }), ['finished', 'early-exit']);
});
