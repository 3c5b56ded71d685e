import type { Argument } from '../../../src/interpreter/core/arguments.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKernel } from '../../../src/interpreter/machine.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import { kernel, launch, words } from './launch-text.ts';

const shared = '.shared .align 4 .b8 s[512];';

test('thread and block indices are three-dimensional', () => {
  const code = kernel(`
    mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %ctaid.y; mov.u32 %r7, %laneid; mov.u32 %r8, %ntid.y;
    mad.lo.u32 %r10, %r2, %r8, %r1; mad.lo.u32 %r10, %r10, %r5, %r0;
    mad.lo.u32 %r11, %r6, %r4, %r3; mad.lo.u32 %r12, %r11, 24, %r10;
    mul.wide.u32 %d6, %r12, 4; add.s64 %d6, %d1, %d6;
    mad.lo.u32 %r13, %r7, 1000, %r12;
    st.global.u32 [%d6], %r13;`);
  const result = launch(code, { block: [4, 3, 2], grid: [2, 2, 1] });
  assert.equal(result.outcome, 'finished');
  assert.deepEqual(
    words(result, 0, 96),
    Array.from({ length: 96 }, (_, index) => index + (index % 24) * 1000),
  );
  assert.deepEqual(result.races, []);
});

test('loops, phis and predicates: the greatest common divisor', () => {
  const code = kernel(`
    add.s32 %r1, %r0, 1; mov.u32 %r2, 36;
    LOOP: setp.eq.u32 %p1, %r2, 0; @%p1 bra DONE;
    rem.u32 %r3, %r1, %r2; mov.u32 %r1, %r2; mov.u32 %r2, %r3; bra LOOP;
    DONE: st.global.u32 [%d3], %r1;`);
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  assert.deepEqual(
    words(launch(code), 0, 32),
    Array.from({ length: 32 }, (_, index) => divisor(index + 1, 36)),
  );
});

test('a swap through phis preserves both values', () => {
  const code = kernel(`
    mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 0;
    LOOP: mov.u32 %r4, %r1; mov.u32 %r1, %r2; mov.u32 %r2, %r4;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra LOOP;
    mad.lo.u32 %r5, %r1, 10, %r2; st.global.u32 [%d3], %r5;`);
  assert.deepEqual(words(launch(code, { block: [1, 1, 1] }), 0, 1), [21]);
});

test('loads and stores of every width, extended and cut', () => {
  const code = kernel(`
    ld.global.s8 %r1, [%d1+3]; st.global.u32 [%d2], %r1;
    ld.global.u8 %r2, [%d1+3]; st.global.u32 [%d2+4], %r2;
    ld.global.s16 %r3, [%d1+2]; st.global.u32 [%d2+8], %r3;
    ld.global.v2.u32 {%r4, %r5}, [%d1]; st.global.v2.u32 [%d2+16], {%r5, %r4};
    ld.global.u64 %d6, [%d1]; shr.u64 %d6, %d6, 8; st.global.u64 [%d2+24], %d6;
    mov.u32 %r6, 0x12345678; st.global.u8 [%d2+12], %r6; st.global.u16 [%d2+14], %r6;`);
  const values = new Map([
    [0, 0x80f00000n],
    [1, 0x11223344n],
  ]);
  const result = launch(code, { block: [1, 1, 1], a: { values } });
  const expected = [0xffffff80, 0x80, 0xffff80f0, 0x56780078, 0x11223344, 0x80f00000, 0x4480f000, 0x00112233];
  assert.deepEqual(words(result, 1, 8), expected);
});

test('buffers: fill, values, negative offsets if unbounded, and bounds otherwise', () => {
  const code = kernel('ld.global.u32 %r1, [%d3+-8]; st.global.u32 [%d4], %r1;');
  const a = { fill: 7n, values: new Map([[-1, 5n]]) };
  assert.deepEqual(words(launch(code, { block: [4, 1, 1], a }), 1, 4), [7, 5, 7, 7]);
  const bounded = launch(code, { block: [4, 1, 1], a: { ...a, bytes: 16 } });
  assert.equal(bounded.outcome, 'fault');
  assert.equal(bounded.faults[0]?.kind, 'out-of-bounds');
  assert.deepEqual(bounded.faults[0]?.thread, [0, 0, 0]);
});

test('misaligned accesses are faults', () => {
  const result = launch(kernel('ld.global.u32 %r1, [%d1+2]; st.global.u32 [%d2], %r1;'));
  assert.equal(result.outcome, 'fault');
  assert.equal(result.faults[0]?.kind, 'misaligned');
});

test('shared memory: static and dynamic, by window and by generic address', () => {
  const code = kernel(
    `mov.u64 %d6, s; add.s64 %d7, %d6, %d5; st.shared.u32 [%d7], %r0;
    mov.u32 %r1, dyn; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], 100;
    bar.sync 0;
    cvta.shared.u64 %d8, %d6; add.s64 %d8, %d8, %d5; xor.b64 %d8, %d8, 4; ld.u32 %r3, [%d8];
    ld.shared.u32 %r4, [%r1]; add.u32 %r3, %r3, %r4; st.global.u32 [%d3], %r3;`,
    `${shared} .extern .shared .align 16 .b8 dyn[];`,
  );
  const result = launch(code, { sharedBytes: 128 });
  assert.equal(result.outcome, 'finished');
  assert.deepEqual(
    words(result, 0, 32),
    Array.from({ length: 32 }, (_, index) => 100 + (index ^ 1)),
  );
  assert.equal(launch(code, { sharedBytes: 64 }).faults[0]?.kind, 'out-of-bounds');
});

test('each block has its own shared memory, each thread its own local memory', () => {
  const code = kernel(
    `.local .align 4 .b8 l[64];
    mov.u32 %r1, %ctaid.x; mov.u64 %d6, s; ld.shared.u32 %r2, [%d6]; st.shared.u32 [%d6], 9;
    and.b32 %r3, %r0, 3; mul.wide.u32 %d7, %r3, 4; mov.u64 %d8, l; add.s64 %d7, %d8, %d7;
    ld.local.u32 %r4, [%d7]; st.local.u32 [%d7], 5; ld.local.u32 %r5, [%d7];
    add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; mul.wide.u32 %d9, %r1, 4; add.s64 %d9, %d1, %d9;
    st.global.u32 [%d9], %r2;`,
    shared,
  );
  assert.deepEqual(words(launch(code, { block: [1, 1, 1], grid: [3, 1, 1] }), 0, 3), [5, 5, 5]);
});

test('atomics return the old value', () => {
  const code = kernel(`
    atom.global.add.u32 %r1, [%d1], 2; st.global.u32 [%d4], %r1;
    red.global.max.s32 [%d1+4], %r0; atom.global.inc.u32 %r2, [%d1+8], 4;
    atom.global.cas.b32 %r3, [%d1+12], 0, 77; atom.global.exch.b32 %r4, [%d1+16], %r0;
    atom.global.add.f32 %f1, [%d1+20], 0f3F000000; atom.global.add.u64 %d9, [%d1+24], -1;
    atom.global.min.s32 %r5, [%d1+32], -5; atom.global.dec.u32 %r6, [%d1+36], 3;`);
  const result = launch(code, { block: [4, 1, 1] });
  assert.deepEqual(words(result, 1, 4), [0, 2, 4, 6]);
  const expected = [8, 3, 4, 77, 3, 0x40000000, 0xfffffffc, 0xffffffff, 0xfffffffb, 0];
  assert.deepEqual(words(result, 0, 10), expected);
  assert.deepEqual(result.races, []);
});

test('constants and initial values of the module are read', () => {
  const code = kernel(
    `mov.u64 %d6, c; add.s64 %d6, %d6, %d5; ld.const.u32 %r1, [%d6]; ld.global.u32 %r2, [g];
    add.u32 %r1, %r1, %r2; st.global.u32 [%d3], %r1;`,
    '.const .align 4 .u32 c[4] = {10, 20, 30, 40}; .global .align 4 .u32 g = 3;',
  );
  assert.deepEqual(words(launch(code, { block: [4, 1, 1] }), 0, 4), [13, 23, 33, 43]);
});

test('struct parameters by value may contain pointers', () => {
  const text = `.version 8.6
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 p[16]) {
.reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param.u64 %d1, [p+8]; ld.param.u32 %r1, [p]; st.global.u32 [%d1], %r1; ret; }`;
  const code = lowerModule(parsePtx(text).module).kernels[0]!;
  const bytes = new Uint8Array(16);
  bytes[0] = 42;
  const values: Argument[] = [{ kind: 'struct', bytes, pointers: [{ at: 8, buffer: 0, offset: 8n }] }];
  const result = runKernel({
    kernel: code,
    block: [1, 1, 1],
    grid: [1, 1, 1],
    sharedBytes: 0,
    buffers: [{ name: 'A', bytes: 16, elementBytes: 4, fill: 0n, values: new Map() }],
    arguments: values,
    steps: 100,
    detectRaces: false,
  });
  assert.deepEqual(words(result, 0, 4), [0, 0, 42, 0]);
});

test('shuffles, votes and reductions over lanes', () => {
  const code = kernel(`
    shfl.sync.down.b32 %r1|%p1, %r0, 16, 31, -1; st.global.u32 [%d3], %r1;
    shfl.sync.up.b32 %r2, %r0, 1, 0, -1; st.global.u32 [%d3+128], %r2;
    shfl.sync.bfly.b32 %r3, %r0, 3, 31, -1; st.global.u32 [%d3+256], %r3;
    shfl.sync.idx.b32 %r4, %r0, 5, 6175, -1; st.global.u32 [%d3+384], %r4;
    selp.u32 %r5, 1, 0, %p1; st.global.u32 [%d4], %r5;
    setp.lt.u32 %p2, %r0, 3; vote.sync.ballot.b32 %r6, %p2, -1; st.global.u32 [%d4+128], %r6;
    redux.sync.add.s32 %r7, %r0, -1; st.global.u32 [%d4+256], %r7;
    shr.u32 %r8, %r0, 3; match.any.sync.b32 %r10, %r8, -1; st.global.u32 [%d4+384], %r10;`);
  const result = launch(code);
  const lanes = Array.from({ length: 32 }, (_, lane) => lane);
  assert.deepEqual(
    words(result, 0, 128),
    [
      lanes.map((lane) => (lane < 16 ? lane + 16 : lane)),
      lanes.map((lane) => Math.max(lane - 1, 0)),
      lanes.map((lane) => lane ^ 3),
      lanes.map((lane) => (lane & 24) + 5),
    ].flat(),
  );
  assert.deepEqual(
    words(result, 1, 128),
    [
      lanes.map((lane) => (lane < 16 ? 1 : 0)),
      lanes.map(() => 7),
      lanes.map(() => 496),
      lanes.map((lane) => (0xff << (8 * (lane >> 3))) >>> 0),
    ].flat(),
  );
});

test('barrier reductions count over the block', () => {
  const code = kernel(`
    and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
    bar.red.popc.u32 %r2, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;
    selp.u32 %r3, 100, 0, %p2; selp.u32 %r4, 1000, 0, %p3;
    add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%d3], %r2;`);
  assert.deepEqual(words(launch(code, { block: [64, 1, 1] }), 0, 2), [1032, 1032]);
});

test('asynchronous copies arrive, padded with zeros', () => {
  const code = kernel(
    `mov.u32 %r1, s; cp.async.ca.shared.global [%r1], [%d1], 8, 4; cp.async.wait_all;
    ld.shared.v2.u32 {%r2, %r3}, [%r1]; st.global.u32 [%d2], %r2; st.global.u32 [%d2+4], %r3;`,
    shared,
  );
  const result = launch(code, { block: [1, 1, 1], a: { fill: 6n } });
  assert.deepEqual(words(result, 1, 2), [6, 0]);
});

test('exhausted budget, trap, unknown operations and unknown values are reported', () => {
  assert.equal(launch(kernel('LOOP: bra LOOP;'), { steps: 5000 }).outcome, 'budget');
  assert.equal(launch(kernel('trap;')).outcome, 'trap');
  const unknown = launch(kernel('frobnicate.u32 %r1, %r2; st.global.u32 [%d3], %r1;'));
  assert.deepEqual(
    unknown.faults.map(({ kind, message }) => [kind, message]),
    [['unknown-operation', 'frobnicate.u32']],
  );
  assert.deepEqual(unknown.havocs, []);
  const code = kernel('isspacep.const %p1, %d1; selp.u32 %r1, 1, 2, %p1; st.global.u32 [%d3], %r1;');
  const havoc = launch(code);
  assert.equal(havoc.havocs.length, 1);
  assert.deepEqual(words(havoc, 0, 2), [2, 2]);
  const seeded = words(launch(code, { havocSeed: 3 }), 0, 32);
  assert.deepEqual(new Set(seeded), new Set([1, 2]));
  assert.deepEqual(seeded, words(launch(code, { havocSeed: 3 }), 0, 32));
});

test('a thread that waits for another of its block or of a later block is scheduled', () => {
  const within = kernel(`
    setp.ne.u32 %p1, %r0, 0; @%p1 bra WRITE;
    SPIN: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN; bra DONE;
    WRITE: st.volatile.global.u32 [%d1], 1;
    DONE: st.global.u32 [%d4], 1;`);
  assert.equal(launch(within, { block: [2, 1, 1] }).outcome, 'finished');
  const between = kernel(`
    mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra WRITE;
    SPIN: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN; bra DONE;
    WRITE: st.volatile.global.u32 [%d1], 1;
    DONE:`);
  assert.equal(launch(between, { block: [1, 1, 1], grid: [3, 1, 1] }).outcome, 'finished');
});

test('only the requested thread blocks are executed', () => {
  const code = kernel(`
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mad.lo.u32 %r1, %r2, 100, %r1;
    atom.global.add.u32 %r3, [%d1], 1; mul.wide.u32 %d6, %r3, 4; add.s64 %d6, %d2, %d6; st.global.u32 [%d6], %r1;`);
  const result = launch(code, { block: [1, 1, 1], grid: [4, 4, 1], blocks: [6, 1] });
  assert.deepEqual(words(result, 1, 3), [102, 1, 0]);
});

test('violated assumptions of the code are reported', () => {
  const code = kernel('setp.lt.u32 %p1, %r0, 8; selp.u32 %r1, 1, 0, %p1;\n// selvage.assume %r1;\nst.global.u32 [%d3], 1;');
  assert.equal(launch(code).brokenAssumptions.length, 1);
  assert.deepEqual(launch(code, { block: [8, 1, 1] }).brokenAssumptions, []);
});

const gridSync = '_ZNK18cooperative_groups4__v110grid_group4syncEv';

test('the grid barrier orders all blocks, and hangs if one never arrives', () => {
  const declarations = `.func ${gridSync} (.param .u64 this) { ret; }`;
  const sync = `{ .param .u64 p0; st.param.u64 [p0], %d1; call.uni ${gridSync}, (p0); }`;
  const body = (barrier: string): string => `
    mov.u32 %r1, %ctaid.x; mul.wide.u32 %d6, %r1, 4; add.s64 %d7, %d1, %d6; st.global.u32 [%d7], 5; ${barrier}
    xor.b32 %r2, %r1, 1; mul.wide.u32 %d8, %r2, 4; add.s64 %d9, %d1, %d8; ld.global.u32 %r3, [%d9];
    add.s64 %d10, %d2, %d6; st.global.u32 [%d10], %r3;`;
  const shape = { block: [1, 1, 1], grid: [2, 1, 1] } as const;
  const ordered = launch(kernel(body(sync), declarations), shape);
  assert.deepEqual([ordered.outcome, ordered.races, words(ordered, 1, 2)], ['finished', [], [5, 5]]);
  assert.equal(launch(kernel(body(''), declarations), shape).races.length, 1);
  const partial = kernel(`mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; ${sync} DONE:`, declarations);
  const hung = launch(partial, shape);
  assert.deepEqual([hung.outcome, hung.divergences[0]?.kind], ['stuck', 'deadlock']);
});

test('if no thread waits for another in a loop, blocks run sequentially', () => {
  const rounds = (from: string): string => `mov.u32 %r1, 16000; ${from}
    LOOP: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;
    mov.u32 %r2, %ctaid.x; mul.wide.u32 %d6, %r2, 4; add.s64 %d6, %d1, %d6; st.global.u32 [%d6], 7;`;
  const ended = (from: string, backend: 'javascript' | 'webassembly'): number => {
    const result = launch(kernel(rounds(from)), { grid: [8, 1, 1], steps: 5_200_000, backend });
    assert.equal(result.outcome, 'budget');
    return words(result, 0, 8).filter((word) => word === 7).length;
  };
  for (const backend of ['javascript', 'webassembly'] as const) {
    assert.ok(ended('', backend) >= 3);
    // Another thread might change the location: threads are interleaved.
    assert.equal(ended('ld.global.u32 %r3, [%d2]; add.u32 %r1, %r1, %r3;', backend), 0);
  }
});

test('a run in WebAssembly ends soon after it reproduced the wanted finding, and continues otherwise', () => {
  const code = kernel(`st.global.u32 [%d1], %r0; mov.u32 %r2, 20;
    OUTER: mov.u32 %r1, 400; bar.sync 0;
    LOOP: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;
    sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra OUTER; st.global.u32 [%d2], %r0;`);
  const run = (isEnough: boolean): ReturnType<typeof launch> =>
    launch(code, { backend: 'webassembly', steps: 2_000_000, watch: () => () => isEnough });
  const [brief, whole] = [run(true), run(false)];
  assert.deepEqual([brief.outcome, whole.outcome], ['race-limit', 'finished']);
  assert.ok(brief.steps < 100_000 && whole.steps > 700_000);
  assert.deepEqual([brief.races.length, whole.races.length], [1, 2]);
});
