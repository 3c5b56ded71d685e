import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dim3 } from '../../../src/base/dim3.ts';
import { firstInterleaved } from '../../../src/interpreter/core/schedule.ts';
import { kernel, launch, raceTexts, words } from '../core/launch-text.ts';

const shared = '.shared .align 8 .b8 s[512];';
const own = 'mov.u64 %d6, s; add.s64 %d7, %d6, %d5;';

test('neighbouring threads race without a barrier, and do not race with a barrier', () => {
  const body = (barrier: string): string => `${own}
    st.shared.u32 [%d7], %r0; ${barrier} ld.shared.u32 %r1, [%d7+4]; st.global.u32 [%d3], %r1;`;
  const racy = launch(kernel(body(''), shared));
  assert.deepEqual(raceTexts(racy), ['read-write shared s+4']);
  const [race] = racy.races;
  assert.deepEqual(
    [race!.first.thread, race!.second.thread],
    [
      [0, 0, 0],
      [1, 0, 0],
    ],
  );
  assert.deepEqual(race!.unmodelled, []);
  assert.equal(race!.sameValue, false);
  assert.deepEqual(launch(kernel(body('bar.sync 0;'), shared)).races, []);
});

test('thread blocks race on global memory regardless of block barriers', () => {
  const code = kernel('bar.sync 0; mov.u32 %r1, %ctaid.x; st.global.u32 [%d3], %r1; bar.sync 0;');
  const result = launch(code, { grid: [3, 1, 1] });
  assert.equal(result.races.length, 1);
  const [race] = result.races;
  assert.deepEqual([race!.space, race!.object, race!.bytes, race!.sameValue], ['global', 'A', 4, false]);
  assert.notDeepEqual(race!.first.block, race!.second.block);
});

test('the last race of an interval is found after many reads by one instruction', () => {
  const code = kernel(`
    ld.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r0, 17; @%p1 bra DONE; st.global.u32 [%d1], 1; DONE:`);
  const result = launch(code);
  assert.deepEqual(raceTexts(result), ['read-write global A+0']);
  assert.deepEqual(result.races[0]!.second.thread, [17, 0, 0]);
});

test('a thread does not race with itself', () => {
  const code = kernel('st.global.u32 [%d3], 1; ld.global.u32 %r1, [%d3]; st.global.u32 [%d3], %r1;');
  assert.deepEqual(launch(code, { block: [64, 1, 1] }).races, []);
});

test('races are marked as equal-value writes only if all occurrences store equal values', () => {
  assert.equal(launch(kernel('st.global.u32 [%d1], 5;')).races[0]!.sameValue, true);
  const late = kernel('setp.eq.u32 %p1, %r0, 31; selp.u32 %r1, 6, 5, %p1; st.global.u32 [%d1], %r1;');
  assert.equal(launch(late).races[0]!.sameValue, false);
  const varying = kernel(`
    setp.eq.u32 %p1, %r0, 0; @!%p1 bra SECOND; st.global.u32 [%d1], 4; bra JOIN; SECOND: st.global.u32 [%d1], 5;
    JOIN: st.global.u32 [%d1], 5;`);
  const same = launch(varying).races.map((race) => race.sameValue);
  assert.ok(same.includes(false));
});

test('only values of unordered writes are compared', () => {
  const loop = (value: string, barrier: string, guard = ''): string => `mov.u32 %r1, 0; mov.u32 %r3, %tid.x; ${guard}
    L: ${barrier} ${value} st.global.u32 [%d1], %r2; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L; DONE:`;
  const areSame = (body: string, block: Dim3 = [32, 1, 1]): readonly boolean[] =>
    [0, firstInterleaved].flatMap((seed) => launch(kernel(body), { seed, block }).races.map(({ sameValue }) => sameValue));
  // In each iteration, all lanes write the same value.
  const iteration = 'add.u32 %r2, %r1, 5;';
  assert.deepEqual(areSame(loop(iteration, 'bar.warp.sync -1;')), [true, true]);
  assert.deepEqual(areSame(loop(iteration, 'bar.sync 0;'), [64, 1, 1]), [true, true]);
  assert.deepEqual(areSame(loop(iteration, '')), [false, false]);
  // The last values of the two warps are the same, and no barrier orders the second one of the first warp.
  const first = 'setp.lt.u32 %p2, %r3, 32; setp.eq.u32 %p3, %r1, 1; and.pred %p2, %p2, %p3; selp.u32 %r2, 4, 5, %p2;';
  const ofTwoLanes = 'and.b32 %r4, %r3, 31; setp.ne.u32 %p4, %r4, 0; @%p4 bra DONE;';
  assert.deepEqual(areSame(loop(first, 'bar.warp.sync 1;', ofTwoLanes), [64, 1, 1]), [false, false]);
  // Lane 1 writes after a barrier that the other value of lane 0 precedes; the last one of lane 0 does not.
  const after = (barrier: string, last: string): string => `setp.gt.u32 %p2, %r0, 1; @%p2 bra DONE;
    setp.eq.u32 %p1, %r0, 0; mov.u32 %r1, 0; @!%p1 bra WAIT; mov.u32 %r2, 4; bra WRITE;
    WAIT: ${barrier} mov.u32 %r2, 6; mov.u32 %r1, 1;
    WRITE: st.global.u32 [%d1], %r2; setp.eq.u32 %p3, %r1, 1; @%p3 bra DONE; mov.u32 %r1, 1; ${barrier}
    mov.u32 %r2, ${last}; bra WRITE; DONE:`;
  assert.deepEqual(areSame(after('bar.warp.sync 3;', '6')), [true, true]);
  assert.deepEqual(areSame(after('bar.warp.sync 3;', '5')), [false, false]);
  assert.deepEqual(areSame(after('', '6')), [false, false]);
});

test('atomics race with plain accesses, but not with each other', () => {
  assert.deepEqual(launch(kernel('red.global.add.u32 [%d1], 1;'), { grid: [2, 1, 1] }).races, []);
  const mixed = kernel('red.global.add.u32 [%d1], 1; ld.global.u32 %r1, [%d1]; st.global.u32 [%d4], %r1;');
  assert.deepEqual(raceTexts(launch(mixed)), ['read-atomic global A+0']);
});

test('block-scope atomics race only with atomics of other thread blocks', () => {
  const code = kernel('atom.cta.global.add.u32 %r1, [%d1], 1;');
  assert.deepEqual(launch(code).races, []);
  assert.deepEqual(raceTexts(launch(code, { grid: [2, 1, 1] })), ['atomic-atomic global A+0']);
});

test('a race names the barrier that both passed last', () => {
  const race = 'st.global.u32 [%d1], %r0;';
  const passed = (body: string, options = {}) => {
    const code = kernel(body);
    const [{ passed: last } = assert.fail('no race')] = launch(code, { block: [64, 1, 1], ...options }).races;
    const barriers = code.blocks.flatMap(({ instructions }) => instructions).filter(({ operation }) => operation.effect.kind === 'barrier');
    return last && [barriers.findIndex(({ id }) => id === last.instruction), last.times];
  };
  assert.equal(passed(race), null);
  assert.deepEqual(passed(`bar.sync 0; bar.sync 0; ${race}`), [1, 1]);
  assert.equal(passed(`${race} bar.sync 0;`), null);
  const loop = `mov.u32 %r1, 0; L: bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L; ${race}`;
  assert.deepEqual(passed(loop), [0, 3]);
  // A barrier of the block orders nothing between blocks.
  const once = `setp.ne.u32 %p1, %r0, 0; bar.sync 0; @%p1 bra M; ${race} M:`;
  assert.equal(passed(once, { grid: [2, 1, 1] }), null);
});

test('atomics of different sizes race', () => {
  const code = kernel('red.global.add.u32 [%d1+4], 1; red.global.add.u64 [%d1], 1;');
  const [race] = launch(code).races;
  assert.deepEqual([race!.offset, race!.bytes], [4, 4]);
});

test('strong loads and stores race with weak ones, but not with each other', () => {
  assert.deepEqual(launch(kernel('st.relaxed.gpu.global.u32 [%d1], %r0;'), { grid: [2, 1, 1] }).races, []);
  assert.deepEqual(launch(kernel('st.volatile.global.u32 [%d1], %r0;')).races, []);
  const half = kernel('st.relaxed.gpu.global.u32 [%d1], %r0; ld.global.u32 %r1, [%d1]; st.global.u32 [%d4], %r1;');
  assert.equal(launch(half).races.length, 1);
});

test('bytes of one word are disjoint', () => {
  const bytes = kernel('cvt.u64.u32 %d6, %r0; add.s64 %d6, %d1, %d6; st.global.u8 [%d6], %r0;');
  assert.deepEqual(launch(bytes).races, []);
  const overlap = kernel(`cvt.u64.u32 %d6, %r0; add.s64 %d6, %d1, %d6; st.global.u8 [%d6], %r0;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; st.global.u16 [%d1+2], 1; DONE:`);
  const result = launch(overlap);
  assert.deepEqual(raceTexts(result), ['write-write global A+2']);
  assert.equal(result.races[0]!.bytes, 1);
});

test('a page with shadow words of four bytes is split when bytes are accessed', () => {
  const code = kernel(
    `${own} st.shared.u32 [%d7], %r0; setp.ne.u32 %p1, %r0, 9; @%p1 bra DONE;
    ld.shared.u8 %r1, [%d6+22]; st.global.u32 [%d1], %r1; DONE:`,
    shared,
  );
  const result = launch(code);
  assert.deepEqual(raceTexts(result), ['write-read shared s+22']);
  assert.deepEqual(result.races[0]!.first.thread, [5, 0, 0]);
});

test('overlap of vector accesses is decided by bytes', () => {
  const code = kernel(
    `${own} and.b32 %r1, %r0, 15; mul.wide.u32 %d8, %r1, 8; add.s64 %d8, %d6, %d8;
    setp.lt.u32 %p1, %r0, 16; @%p1 bra PAIR; st.shared.u32 [%d8+4], 7; bra DONE;
    PAIR: st.shared.v2.u32 [%d8], {%r0, %r0}; DONE:`,
    shared,
  );
  const [race] = launch(code).races;
  assert.deepEqual([race!.object, race!.offset % 8, race!.bytes], ['s', 4, 4]);
});

test('every racing pair of instructions is found', () => {
  const code = kernel(
    `${own} st.shared.u32 [%d6], 1; st.shared.u32 [%d6], 2; ld.shared.u32 %r1, [%d6];
    st.global.u32 [%d4], %r1;`,
    shared,
  );
  const pairs = launch(code).races.map(({ first, second }) => [first.instruction, second.instruction].sort((a, b) => a - b).join());
  // Each write with itself, the two writes, each write with the read.
  assert.equal(new Set(pairs).size, 5);
});

test('barriers of the warp order its lanes, fences without them do not', () => {
  const body = (between: string): string => `${own} st.shared.u32 [%d7], %r0; ${between}
    xor.b32 %r1, %r0, 1; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d6, %d8; ld.shared.u32 %r2, [%d8];
    st.global.u32 [%d3], %r2;`;
  const races = (between: string): unknown[] => launch(kernel(body(between), shared)).races.map((race) => race.unmodelled);
  assert.deepEqual(races(''), [[]]);
  assert.deepEqual(races('membar.cta;'), [[]]);
  assert.deepEqual(races('bar.warp.sync -1;'), []);
  assert.deepEqual(races('mov.u32 %r3, 3; and.b32 %r4, %r0, 30; shl.b32 %r3, %r3, %r4; bar.warp.sync %r3;'), []);
  assert.deepEqual(races('mov.u32 %r3, 1; shl.b32 %r3, %r3, %r0; bar.warp.sync %r3;'), [[]]);
});

test('exchanges between lanes do not order their accesses, and are named', () => {
  const body = (exchange: string): string => `${own} st.shared.u32 [%d7], %r0; ${exchange}
    xor.b32 %r1, %r0, 1; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d6, %d8; ld.shared.u32 %r2, [%d8];
    st.global.u32 [%d3], %r2;`;
  const races = (exchange: string): unknown[] => launch(kernel(body(exchange), shared)).races.map((race) => race.unmodelled);
  assert.deepEqual(races('shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;'), [['warp-exchange']]);
  assert.deepEqual(races('vote.sync.ballot.b32 %r3, %p1, -1;'), [['warp-exchange']]);
  const half = 'setp.lt.u32 %p2, %r0, 16; selp.b32 %r3, 65535, -65536, %p2;';
  assert.deepEqual(races(`${half} vote.sync.any.pred %p1, %p2, %r3;`), [['warp-exchange']]);
  assert.deepEqual(races('activemask.b32 %r3;'), [[]]);
  assert.deepEqual(races('shfl.sync.idx.b32 %r3, %r0, 0, 31, -1; bar.warp.sync -1;'), []);
});

test('barriers with a thread count order the participating threads', () => {
  const body = (partner: number): string => `${own} st.shared.u32 [%d7], %r0; setp.ge.u32 %p1, %r0, 64; @%p1 bra DONE;
    bar.sync 1, 64; xor.b32 %r1, %r0, ${partner}; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d6, %d8;
    ld.shared.u32 %r2, [%d8]; st.global.u32 [%d3], %r2; DONE: bar.sync 0;`;
  const result = launch(kernel(body(32), shared), { block: [96, 1, 1] });
  assert.deepEqual([result.outcome, result.races, result.divergences], ['finished', [], []]);
  assert.equal(launch(kernel(body(64), shared), { block: [96, 1, 1] }).races.length, 1);
});

test('producers arrive at a barrier, consumers wait for them', () => {
  const body = (late: string): string => `${own} setp.ge.u32 %p1, %r0, 32; @%p1 bra CONSUME;
    st.shared.u32 [%d7], %r0; bar.arrive 1, 64; ${late} bra DONE;
    CONSUME: bar.sync 1, 64; ld.shared.u32 %r2, [%d7+-128]; st.global.u32 [%d3], %r2; DONE:`;
  assert.deepEqual(launch(kernel(body(''), shared), { block: [64, 1, 1] }).races, []);
  const late = kernel(body('st.shared.u32 [%d7], 7;'), shared);
  assert.deepEqual(raceTexts(launch(late, { block: [64, 1, 1] })), ['write-read shared s+0']);
});

/** Block 0 writes, then sets a flag; block 1 waits for that, then reads. */
function flagged(release: string, acquire: string): ReturnType<typeof launch> {
  return launch(
    kernel(`mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra READER;
      st.global.u32 [%d1], 7; ${release} bra DONE;
      READER: WAIT: ${acquire.split('|')[0]} setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; ${acquire.split('|')[1]}
      ld.global.u32 %r3, [%d1]; st.global.u32 [%d1+8], %r3; DONE:`),
    { block: [1, 1, 1], grid: [2, 1, 1] },
  );
}

test('a flag synchronizes blocks, with fences of sufficient scope on both sides', () => {
  const set = 'st.volatile.global.u32 [%d2], 1;';
  const get = 'ld.volatile.global.u32 %r2, [%d2];';
  assert.deepEqual(raceTexts(flagged(`membar.gl; ${set}`, `${get}|membar.gl;`)), []);
  assert.deepEqual(raceTexts(flagged('st.release.gpu.global.u32 [%d2], 1;', 'ld.acquire.gpu.global.u32 %r2, [%d2];|')), []);
  for (const [release, acquire] of [
    [set, `${get}|membar.gl;`],
    [`membar.gl; ${set}`, `${get}|`],
    [`membar.cta; ${set}`, `${get}|membar.gl;`],
    [`membar.gl; ${set}`, `${get}|membar.cta;`],
  ] as const) {
    const { races } = flagged(release, acquire);
    assert.deepEqual(
      races.map(({ object, unmodelled }) => [object, unmodelled]),
      [['A', []]],
    );
  }
  // A plain store of the flag races, but a read that observes it orders the two fences (PTX ISA 8.10, causality).
  assert.equal(flagged('membar.gl; st.global.u32 [%d2], 1;', `${get}|membar.gl;`).races.length, 1);
});

test('the order of two fences is not determined: it is named if fences of other kinds exist, otherwise the accesses race', () => {
  const racesOf = (end: string): unknown[] => {
    const code = kernel(`mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra READER;
      st.global.u32 [%d1], 7; membar.gl; bra DONE;
      READER: membar.gl; ld.global.u32 %r3, [%d1]; st.global.u32 [%d1+8], %r3; DONE: ${end}`);
    return launch(code, { block: [1, 1, 1], grid: [2, 1, 1] }).races.map(({ unmodelled }) => unmodelled);
  };
  assert.deepEqual(racesOf(''), [[]]);
  assert.deepEqual(racesOf('fence.acq_rel.gpu;'), [['fence-order']]);
});

test('an asynchronous copy is unordered until its thread waits; then a barrier publishes it', () => {
  const body = (wait: string): string => `${own} cvt.u32.u64 %r5, %d7; cp.async.ca.shared.global [%r5], [%d3], 4;
    ${wait} ld.shared.u32 %r2, [%d7]; st.global.u32 [%d4], %r2;`;
  const races = (wait: string): string[] => raceTexts(launch(kernel(body(wait), shared)));
  const commit = 'cp.async.commit_group;';
  assert.deepEqual(races('cp.async.wait_all;'), []);
  assert.deepEqual(races(`${commit} cp.async.wait_group 0;`), []);
  // Even the thread that issued the copy may not read without waiting.
  for (const wait of ['', commit, `${commit} cp.async.wait_group 1;`, 'cp.async.wait_group 0;']) {
    assert.deepEqual(races(wait), ['write-read shared s+0'], wait);
  }
  const neighbour = (wait: string): string[] =>
    raceTexts(launch(kernel(body(wait).replace('ld.shared.u32 %r2, [%d7]', 'ld.shared.u32 %r2, [%d7+4]'), shared)));
  assert.deepEqual(neighbour('cp.async.wait_all; bar.sync 0;'), []);
  assert.equal(neighbour('cp.async.wait_all;').length, 1);
  assert.equal(neighbour('bar.sync 0; cp.async.wait_all;').length, 1);
  const source = (wait: string): string[] =>
    raceTexts(launch(kernel(body(wait).replace('st.global.u32 [%d4]', 'st.global.u32 [%d3]'), shared)));
  assert.deepEqual(source('cp.async.wait_all;'), []);
  assert.ok(source('').includes('read-write global A+0'));
});

test('groups of copies are waited for in the order in which they were committed', () => {
  const body = (left: number): string => `${own} cvt.u32.u64 %r5, %d7;
    cp.async.ca.shared.global [%r5], [%d3], 4; cp.async.commit_group;
    cp.async.ca.shared.global [%r5+128], [%d3], 4; cp.async.commit_group;
    cp.async.wait_group ${left}; bar.sync 0; ld.shared.u32 %r2, [%d7]; ld.shared.u32 %r3, [%d7+128];
    st.global.u32 [%d4], %r2;`;
  const races = (left: number): string[] => raceTexts(launch(kernel(body(left), shared)));
  assert.deepEqual(races(0), []);
  assert.deepEqual(races(1), ['write-read shared s+128']);
  assert.deepEqual(races(2), ['write-read shared s+0', 'write-read shared s+128']);
});

test('an mbarrier synchronizes arriving threads with waiting ones', () => {
  const declarations = `${shared} .shared .align 8 .b64 m;`;
  const body = (init: string, wait: string): string => `${own} mov.u64 %d9, m; setp.ne.u32 %p1, %r0, 0;
    @%p1 bra READY; mbarrier.init.shared.b64 [%d9], 64; READY: ${init}
    st.shared.u32 [%d7], %r0; mbarrier.arrive.shared.b64 %d10, [%d9];
    ${wait} xor.b32 %r1, %r0, 33; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d6, %d8; ld.shared.u32 %r2, [%d8];
    st.global.u32 [%d3], %r2;`;
  const wait = 'WAIT: mbarrier.test_wait.shared.b64 %p2, [%d9], %d10; @!%p2 bra WAIT;';
  const options = { block: [64, 1, 1] } as const;
  const result = launch(kernel(body('bar.sync 0;', wait), declarations), options);
  assert.deepEqual([result.outcome, result.faults, result.races], ['finished', [], []]);
  const hasty = launch(kernel(body('bar.sync 0;', ''), declarations), options);
  assert.deepEqual(raceTexts(hasty).length, 1);
});

test('asynchronous copies arrive at an mbarrier when they complete', () => {
  const declarations = `${shared} .shared .align 8 .b64 m;`;
  const body = (arrive: string): string => `${own} mov.u64 %d9, m; setp.ne.u32 %p1, %r0, 0;
    @%p1 bra READY; mbarrier.init.shared.b64 [%d9], 32; READY: bar.sync 0; cvt.u32.u64 %r5, %d7;
    cp.async.ca.shared.global [%r5], [%d3], 4; ${arrive} mbarrier.arrive.shared.b64 %d10, [%d9];
    WAIT: mbarrier.test_wait.shared.b64 %p2, [%d9], %d10; @!%p2 bra WAIT;
    xor.b32 %r1, %r0, 1; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d6, %d8; ld.shared.u32 %r2, [%d8];
    st.global.u32 [%d4], %r2;`;
  const races = (arrive: string): string[] => raceTexts(launch(kernel(body(arrive), declarations)));
  assert.deepEqual(races('cp.async.mbarrier.arrive.shared.b64 [%d9];'), []);
  assert.equal(races('').length, 1);
  assert.deepEqual(races('cp.async.wait_all;'), []);
});

test('bulk copies signal completion through an mbarrier or through bulk groups', () => {
  const declarations = `${shared} .shared .align 8 .b64 m;`;
  const fetch = (wait: string): string => `${own} mov.u64 %d9, m; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;
    mbarrier.init.shared.b64 [%d9], 1; mbarrier.arrive.expect_tx.shared.b64 %d10, [%d9], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d6], [%d1], 128, [%d9];
    READY: bar.sync 0; ${wait} ld.shared.u32 %r2, [%d7]; st.global.u32 [%d4], %r2;`;
  const wait = 'WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%d9], 0; @!%p2 bra WAIT;';
  const races = (text: string): string[] => raceTexts(launch(kernel(text, declarations)));
  assert.deepEqual(races(fetch(wait)), []);
  assert.equal(races(fetch('')).length, 1);
  const put = (after: string, read: string): string => `${own} st.shared.u32 [%d7], %r0; bar.sync 0;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; cp.async.bulk.global.shared::cta.bulk_group [%d1], [%d6], 128;
    cp.async.bulk.commit_group; ${after} ${read} DONE: `;
  const reuse = 'st.shared.u32 [%d6], 5;';
  const load = 'ld.global.u32 %r2, [%d1]; st.global.u32 [%d4], %r2;';
  assert.deepEqual(races(put('cp.async.bulk.wait_group 0;', reuse + load)), []);
  assert.deepEqual(races(put('cp.async.bulk.wait_group.read 0;', reuse)), []);
  assert.deepEqual(races(put('', reuse)), ['read-write shared s+0']);
  assert.deepEqual(races(put('cp.async.bulk.wait_group.read 0;', load)), ['write-read global A+0']);
  // A wait at an mbarrier completes the copies that the mbarrier expects, and no copies of bulk groups.
  const both = `mov.u64 %d9, m; mbarrier.init.shared.b64 [%d9], 1; mbarrier.arrive.expect_tx.shared.b64 %d10, [%d9], 64;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d6+64], [%d2], 64, [%d9]; ${wait}`;
  const halves = put('', `${both} ${reuse}`).replace('[%d6], 128;\n    cp.async.bulk.commit_group;', '[%d6], 64;');
  assert.ok(!halves.includes('commit_group'));
  assert.deepEqual(races(halves), ['read-write shared s+0']);
  assert.deepEqual(races(halves.replace(reuse, 'st.shared.u32 [%d6+64], 5;')), []);
});

test('a lock synchronizes threads, in one block and between blocks', () => {
  const body = (scope: string, fence: string): string => `TAKE: atom${scope}.global.cas.b32 %r2, [%d2], 0, 1;
    setp.ne.u32 %p1, %r2, 0; @%p1 bra TAKE; ${fence} ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, 1;
    st.global.u32 [%d1], %r3; ${fence} atom${scope}.global.exch.b32 %r4, [%d2], 0;`;
  const run = (scope: string, fence: string, grid: number): ReturnType<typeof launch> =>
    launch(kernel(body(scope, fence)), { block: [40, 1, 1], grid: [grid, 1, 1] });
  const correct = run('', 'membar.gl;', 2);
  assert.deepEqual([correct.races, words(correct, 0, 1)], [[], [80]]);
  assert.deepEqual(run('.cta', 'membar.cta;', 1).races, []);
  assert.ok(run('.cta', 'membar.cta;', 2).races.some(({ unmodelled }) => unmodelled.length === 0));
  assert.ok(run('', '', 1).races.some(({ unmodelled }) => unmodelled.length === 0));
});

test('elements of vectors are separate accesses', () => {
  const code = kernel(`setp.ne.u32 %p1, %r0, 0; @%p1 bra SECOND; st.volatile.global.v2.u32 [%d1], {%r0, %r0}; bra DONE;
    SECOND: ld.volatile.global.u32 %r1, [%d1+4]; st.global.u32 [%d4], %r1; DONE:`);
  assert.deepEqual(launch(code).races, []);
});

test('packed atomics are atomic by element and as a whole', () => {
  const code = (other: string): ReturnType<typeof kernel> =>
    kernel(`mov.b32 %r1, 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra OTHER; red.global.add.noftz.f16x2 [%d1], %r1; bra DONE;
      OTHER: ${other} DONE:`);
  assert.deepEqual(launch(code('red.global.add.noftz.f16 [%d1+2], %h1;')).races, []);
  assert.deepEqual(launch(code('red.global.add.noftz.f16x2 [%d1], %r1;')).races, []);
  assert.deepEqual(raceTexts(launch(code('st.relaxed.gpu.global.b32 [%d1], %r1;'))), ['atomic-write global A+0']);
});

test('a read by a second warp stays recorded after reads by one warp', () => {
  const code = kernel(`ld.global.u32 %r1, [%d1]; bar.warp.sync -1; setp.ne.u32 %p1, %r0, 3; @%p1 bra DONE;
    st.global.u32 [%d1], 1; DONE:`);
  assert.deepEqual(launch(code).races, []);
  assert.equal(launch(code, { block: [64, 1, 1] }).races.length, 1);
  // The writer comes last: both warps have read.
  const late = kernel(`setp.eq.u32 %p2, %r0, 40; ld.global.u32 %r1, [%d1]; bar.warp.sync -1;
    setp.ne.u32 %p1, %r0, 3; @%p1 bra DONE; bar.warp.sync 8; st.global.u32 [%d1], 1; DONE:`);
  assert.equal(launch(late, { block: [64, 1, 1] }).races.length, 1);
});

test('a block-scope atomic stays recorded after an atomic of another block', () => {
  // Thread 0 of block 0 releases to that of block 1; thread 32 of block 1 participates without having waited.
  const code = kernel(`mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r0, 0; @%p1 bra FIRST;
    @!%p2 bra COUNT; WAIT: ld.acquire.gpu.global.u32 %r2, [%d2]; setp.eq.u32 %p3, %r2, 0; @%p3 bra WAIT; bra COUNT;
    FIRST: @!%p2 bra DONE; COUNT: red.cta.global.add.u32 [%d1], 1; @!%p1 bra DONE; st.release.gpu.global.u32 [%d2], 1;
    DONE:`);
  assert.deepEqual(launch(code, { block: [1, 1, 1], grid: [2, 1, 1] }).races, []);
  assert.deepEqual(raceTexts(launch(code, { block: [33, 1, 1], grid: [2, 1, 1] })), ['atomic-atomic global A+0']);
});

test('warp barriers do not wait for named lanes that have exited', () => {
  const body = (mask: number): string => `${own} st.shared.u32 [%d7], %r0; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra DONE; bar.warp.sync ${mask}; xor.b32 %r1, %r0, 1; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d6, %d8;
    ld.shared.u32 %r2, [%d8]; st.global.u32 [%d3], %r2; DONE:`;
  assert.deepEqual(launch(kernel(body(-1), shared)).races, []);
  assert.deepEqual(raceTexts(launch(kernel(body(0xaaaaaaaa), shared))), ['write-read shared s+0']);
});

test('without cluster dimensions each block is its own cluster', () => {
  const code = kernel(`st.global.u32 [%d3], %r0; barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r1, %r0, 1; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d1, %d8; ld.global.u32 %r2, [%d8];
    st.global.u32 [%d4], 1;`);
  assert.deepEqual(launch(code).races, []);
  const between = launch(code, { grid: [2, 1, 1] }).races;
  assert.ok(between.length > 0);
  for (const { unmodelled } of between) assert.deepEqual(unmodelled, ['cluster']);
  const early = kernel(`barrier.cluster.arrive; st.global.u32 [%d3], %r0; barrier.cluster.wait;
    xor.b32 %r1, %r0, 1; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d1, %d8; ld.global.u32 %r2, [%d8];
    st.global.u32 [%d4], %r2;`);
  assert.deepEqual(raceTexts(launch(early)), ['write-read global A+4']);
});

test('only the requested arrays are tracked for races', () => {
  const code = kernel('st.global.u32 [%d1], %r0; st.global.u32 [%d2], %r0;');
  assert.deepEqual(
    launch(code, { track: ['B'] }).races.map(({ object }) => object),
    ['B'],
  );
  assert.deepEqual(launch(code, { track: [] }).races, []);
});

test('parameters, constants and local memory do not race', () => {
  const code = kernel(
    `.local .align 4 .b8 l[8]; mov.u64 %d6, l; and.b32 %r1, %r0, 1; mul.wide.u32 %d7, %r1, 4; add.s64 %d6, %d6, %d7;
    st.local.u32 [%d6], %r0; ld.local.u32 %r2, [%d6]; ld.const.u32 %r3, [c]; add.u32 %r2, %r2, %r3;
    st.global.u32 [%d3], %r2;`,
    '.const .align 4 .u32 c = 1;',
  );
  assert.deepEqual(launch(code).races, []);
});

test('a run ends at the limit of races, and the detector can be disabled', () => {
  const code = kernel('st.global.u32 [%d1], %r0; st.global.u32 [%d1+4], %r0; st.global.u32 [%d1+8], %r0;');
  const limited = launch(code, { maxRaces: 2 });
  assert.equal(limited.outcome, 'race-limit');
  assert.equal(limited.races.length, 2);
  assert.deepEqual(launch(code, { detectRaces: false }).races, []);
});

test('a repeated run has the same events', () => {
  const code = kernel(`${own} st.shared.u32 [%d6], %r0; ld.shared.u32 %r1, [%d7]; st.global.u32 [%d1], %r1;`, shared);
  const events = (): string => JSON.stringify(launch(code, { grid: [3, 1, 1] }).races);
  assert.equal(events(), events());
});
