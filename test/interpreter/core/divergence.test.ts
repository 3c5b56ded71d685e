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

test('a shuffle whose mask names a lane that never arrives is a deadlock', () => {
  const body = `setp.ge.u32 %p1, %r0, 16; @%p1 bra JOIN; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;
    JOIN: bar.sync 0; st.global.u32 [%d3], %r1;`;
  assert.deepEqual(kinds(body, {}), ['stuck', 'deadlock']);
  const exitedLanes = `setp.ge.u32 %p1, %r0, 16; @%p1 bra DONE; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;
    st.global.u32 [%d3], %r1; DONE:`;
  assert.deepEqual(kinds(exitedLanes, {}), ['finished']);
});

test('the first event of each kind at each barrier is recorded', () => {
  const body = 'setp.ge.u32 %p1, %r0, 40; @%p1 bra DONE; bar.sync 0; st.global.u32 [%d3], 1; DONE:';
  assert.deepEqual(kinds(body, { block: [64, 1, 1], grid: [5, 1, 1] }), ['finished', 'early-exit']);
});
