import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernel, launch, raceTexts } from './launch-text.ts';

const shared = '.shared .align 8 .b8 s[512];';
const own = 'mov.u64 %d6, s; add.s64 %d7, %d6, %d5;';

test('neighbours without a barrier race, with one they do not', () => {
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

test('blocks race on global memory whatever barriers they pass', () => {
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

test('writes of equal values are told apart, over all occurrences', () => {
  assert.equal(launch(kernel('st.global.u32 [%d1], 5;')).races[0]!.sameValue, true);
  const late = kernel('setp.eq.u32 %p1, %r0, 31; selp.u32 %r1, 6, 5, %p1; st.global.u32 [%d1], %r1;');
  assert.equal(launch(late).races[0]!.sameValue, false);
  const varying = kernel(`
    setp.eq.u32 %p1, %r0, 0; @!%p1 bra SECOND; st.global.u32 [%d1], 4; bra JOIN; SECOND: st.global.u32 [%d1], 5;
    JOIN: st.global.u32 [%d1], 5;`);
  const same = launch(varying).races.map((race) => race.sameValue);
  assert.ok(same.includes(false));
});

test('atomics do not race with each other, but with plain accesses', () => {
  assert.deepEqual(launch(kernel('red.global.add.u32 [%d1], 1;'), { grid: [2, 1, 1] }).races, []);
  const mixed = kernel('red.global.add.u32 [%d1], 1; ld.global.u32 %r1, [%d1]; st.global.u32 [%d4], %r1;');
  assert.deepEqual(raceTexts(launch(mixed)), ['read-atomic global A+0']);
});

test('atomics of block scope race between blocks only', () => {
  const code = kernel('atom.cta.global.add.u32 %r1, [%d1], 1;');
  assert.deepEqual(launch(code).races, []);
  assert.deepEqual(raceTexts(launch(code, { grid: [2, 1, 1] })), ['atomic-atomic global A+0']);
});

test('atomics of different sizes race', () => {
  const code = kernel('red.global.add.u32 [%d1+4], 1; red.global.add.u64 [%d1], 1;');
  const [race] = launch(code).races;
  assert.deepEqual([race!.offset, race!.bytes], [4, 4]);
});

test('strong loads and stores do not race with each other, but with weak ones', () => {
  assert.deepEqual(launch(kernel('st.relaxed.gpu.global.u32 [%d1], %r0;'), { grid: [2, 1, 1] }).races, []);
  assert.deepEqual(launch(kernel('st.volatile.global.u32 [%d1], %r0;')).races, []);
  const half = kernel('st.relaxed.gpu.global.u32 [%d1], %r0; ld.global.u32 %r1, [%d1]; st.global.u32 [%d4], %r1;');
  assert.equal(launch(half).races.length, 1);
});

test('bytes of one word are apart', () => {
  const bytes = kernel('cvt.u64.u32 %d6, %r0; add.s64 %d6, %d1, %d6; st.global.u8 [%d6], %r0;');
  assert.deepEqual(launch(bytes).races, []);
  const overlap = kernel(`cvt.u64.u32 %d6, %r0; add.s64 %d6, %d1, %d6; st.global.u8 [%d6], %r0;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; st.global.u16 [%d1+2], 1; DONE:`);
  const result = launch(overlap);
  assert.deepEqual(raceTexts(result), ['write-write global A+2']);
  assert.equal(result.races[0]!.bytes, 1);
});

test('a page that was watched in words is split when bytes come', () => {
  const code = kernel(`${own} st.shared.u32 [%d7], %r0; setp.ne.u32 %p1, %r0, 9; @%p1 bra DONE;
    ld.shared.u8 %r1, [%d6+22]; st.global.u32 [%d1], %r1; DONE:`, shared); // prettier-ignore
  const result = launch(code);
  assert.deepEqual(raceTexts(result), ['write-read shared s+22']);
  assert.deepEqual(result.races[0]!.first.thread, [5, 0, 0]);
});

test('vectors overlap by bytes', () => {
  const code = kernel(`${own} and.b32 %r1, %r0, 15; mul.wide.u32 %d8, %r1, 8; add.s64 %d8, %d6, %d8;
    setp.lt.u32 %p1, %r0, 16; @%p1 bra PAIR; st.shared.u32 [%d8+4], 7; bra DONE;
    PAIR: st.shared.v2.u32 [%d8], {%r0, %r0}; DONE:`, shared); // prettier-ignore
  const [race] = launch(code).races;
  assert.deepEqual([race!.object, race!.offset % 8, race!.bytes], ['s', 4, 4]);
});

test('every racing pair of instructions is found', () => {
  const code = kernel(`${own} st.shared.u32 [%d6], 1; st.shared.u32 [%d6], 2; ld.shared.u32 %r1, [%d6];
    st.global.u32 [%d4], %r1;`, shared); // prettier-ignore
  const pairs = launch(code).races.map(({ first, second }) =>
    [first.instruction, second.instruction].sort((a, b) => a - b).join(),
  );
  // Each write with itself, the two writes, each write with the read.
  assert.equal(new Set(pairs).size, 5);
});

test('constructs that are not modelled are named', () => {
  const fenced = kernel(`${own} st.shared.u32 [%d7], %r0; membar.cta; ld.shared.u32 %r1, [%d7+4];
    st.global.u32 [%d3], %r1;`, shared); // prettier-ignore
  assert.deepEqual(launch(fenced).races[0]!.unmodelled, ['fence']);
  const warp = kernel(`${own} st.shared.u32 [%d7], %r0; bar.warp.sync -1; ld.shared.u32 %r1, [%d7+4];
    st.global.u32 [%d3], %r1;`, shared); // prettier-ignore
  assert.deepEqual(launch(warp).races[0]!.unmodelled, ['warp-barrier']);
  const passed = kernel(`${own} membar.cta; bar.warp.sync -1; bar.sync 0; st.shared.u32 [%d7], %r0;
    ld.shared.u32 %r1, [%d7+4]; st.global.u32 [%d3], %r1;`, shared); // prettier-ignore
  assert.deepEqual(launch(passed).races[0]!.unmodelled, []);
  const between = kernel('membar.gl; bar.sync 0; mov.u32 %r1, %ctaid.x; st.global.u32 [%d1], %r1;');
  const races = launch(between, { block: [1, 1, 1], grid: [2, 1, 1] }).races;
  assert.deepEqual(races[0]!.unmodelled, ['fence']);
});

test('named barriers of part of the block order nothing, and are named', () => {
  const code = kernel(`${own} st.shared.u32 [%d7], %r0; setp.ge.u32 %p1, %r0, 64; @%p1 bra DONE;
    bar.sync 1, 64; xor.b32 %r1, %r0, 32; mul.wide.u32 %d8, %r1, 4; add.s64 %d8, %d6, %d8;
    ld.shared.u32 %r2, [%d8]; st.global.u32 [%d3], %r2; DONE: bar.sync 0;`, shared); // prettier-ignore
  const result = launch(code, { block: [96, 1, 1] });
  assert.equal(result.outcome, 'finished');
  assert.deepEqual(result.races[0]!.unmodelled, ['named-barrier']);
  assert.deepEqual(result.divergences, []);
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

test('the run ends at the limit of races, and the detector can be off', () => {
  const code = kernel('st.global.u32 [%d1], %r0; st.global.u32 [%d1+4], %r0; st.global.u32 [%d1+8], %r0;');
  const limited = launch(code, { maxRaces: 2 });
  assert.equal(limited.outcome, 'race-limit');
  assert.equal(limited.races.length, 2);
  assert.deepEqual(launch(code, { detectRaces: false }).races, []);
});

test('the same run gives the same events', () => {
  const code = kernel(`${own} st.shared.u32 [%d6], %r0; ld.shared.u32 %r1, [%d7]; st.global.u32 [%d1], %r1;`, shared);
  const events = (): string => JSON.stringify(launch(code, { grid: [3, 1, 1] }).races);
  assert.equal(events(), events());
});
