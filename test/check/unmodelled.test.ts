/** Constructs that are not modelled, or easily modelled incorrectly: none of them yields an unsound proof. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, closeSolver, load, store, verdicts } from './kernel-text.ts';

after(closeSolver);

const own = store('%d1', '%r0', '%r0', 50);

test('instructions with an unknown effect leave the verdict open', async () => {
  for (const instruction of ['frobnicate.b32 %r1, %r0;', 'discard.global.L2 [%d1], 128;']) {
    const { race, divergence } = await check(`${instruction} ${own}`);
    assert.deepEqual([race.verdict, divergence.verdict], ['unknown', 'unknown'], instruction);
    assert.match(race.reason!, /does not support part of this kernel/);
  }
});

test('asynchronous copies and barriers on memory leave the verdict open', async () => {
  const instructions = [
    'cvt.u32.u64 %r3, %d3; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 16, [%r3];',
    'cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;',
  ];
  for (const instruction of instructions) assert.equal(await verdicts(`${instruction} bar.sync 0;`), 'unknown/unknown', instruction);
});

test('accesses of warp matrix loads and stores are decided row by row', async () => {
  const shared = 'cvt.u32.u64 %r3, %d3;';
  const ofWarp = `${shared} and.b32 %r4, %r0, 32; shl.b32 %r4, %r4, 5; add.u32 %r3, %r3, %r4;`;
  const ofLane = `${shared} shl.b32 %r4, %r0, 4; add.u32 %r3, %r3, %r4;`;
  const fragment = '{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}';
  const storeTile = (stride: number): string => `wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r3], ${fragment}, ${stride};`;
  const cases: readonly (readonly [string, string])[] = [
    [`${shared} ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];`, 'proved/proved'],
    ['wmma.load.a.sync.aligned.row.m8n8k128.b1 {%r4}, [%d1], 128;', 'proved/proved'],
    // Each warp has a tile of 16 rows of 64 bytes; rows with a larger stride overlap the tile of the other one.
    [`${ofWarp} ${storeTile(16)}`, 'proved/proved'],
    [`${ofWarp} ${storeTile(32)}`, 'race/proved'],
    // Rows that overlap within a tile.
    [`${ofWarp} ${storeTile(8)}`, 'race/proved'],
    // The same tile again is in the same lanes; the columns next to it are not.
    [`${ofWarp} ${storeTile(16)} ${storeTile(16)}`, 'proved/proved'],
    [`${shared} setp.lt.u32 %p1, %r0, 32; @!%p1 bra E; ${storeTile(32)} add.u32 %r3, %r3, 64; ${storeTile(32)} E:`, 'proved/proved'],
    [`${shared} setp.lt.u32 %p1, %r0, 32; @!%p1 bra E; ${storeTile(32)} add.u32 %r3, %r3, 32; ${storeTile(32)} E:`, 'possible/proved'],
    // The rows and columns of each lane are in other places.
    [`${ofWarp} ${storeTile(16)} ${storeTile(16).replace('row', 'col')}`, 'possible/proved'],
    [`${ofLane} stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%r10, %r11, %r12, %r13};`, 'proved/proved'],
    [`${shared} stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%r10, %r11, %r12, %r13};`, 'race/proved'],
    // The row at the address of a lane is loaded for other lanes.
    [`${ofLane} st.shared.u32 [%r3], %r0; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r3];`, 'race/proved'],
    [
      `${ofLane} st.shared.u32 [%r3], %r0; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r3];`,
      'proved/proved',
    ],
  ];
  for (const [body, expected] of cases) assert.equal(await verdicts(body), expected, body);
});

test('accesses to tiles that a warp traverses in a loop are decided', async () => {
  const loop = (step: number): string =>
    `cvt.u32.u64 %r3, %d3; setp.lt.u32 %p1, %r0, 32; @!%p1 bra E; mov.u32 %r4, 0;
    L: wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r3], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 64;
    add.u32 %r3, %r3, ${step}; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 4; @%p2 bra L; E:`;
  assert.equal(await verdicts(loop(64)), 'proved/proved');
  assert.equal(await verdicts(loop(0)), 'proved/proved');
  assert.equal(await verdicts(loop(32)), 'possible/proved');
});

test('barriers in memory that not all threads are known to reach order nothing, and are not proved', async () => {
  const init = 'cvt.u32.u64 %r3, %d3; setp.ne.u32 %p1, %r0, 0; @%p1 bra I; mbarrier.init.shared.b64 [%r3], 64; I: bar.sync 0;';
  const exchange = (arrival: string): string =>
    `${init} ${store('%d1', '%r0', '%r0', 10)} ${arrival} xor.b32 %r4, %r0, 33; ${load('%r5', '%d1', '%r4', 11)}`;
  const wait = (state: string): string => `W: mbarrier.test_wait.shared.b64 %p2, [%r3], ${state}; @!%p2 bra W;`;
  const whole = `mbarrier.arrive.shared.b64 %d20, [%r3]; ${wait('%d20')}`;
  assert.equal(await verdicts(exchange(whole)), 'proved/proved');
  const byParity = 'mbarrier.arrive.shared.b64 %d20, [%r3]; W: mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra W;';
  assert.equal(await verdicts(exchange(byParity)), 'proved/proved');
  const others = {
    'no wait': 'mbarrier.arrive.shared.b64 %d20, [%r3];',
    'another state': `mbarrier.arrive.shared.b64 %d20, [%r3]; ${wait('%d21')}`,
    'a relaxed arrival': `mbarrier.arrive.relaxed.cta.shared.b64 %d20, [%r3]; ${wait('%d20')}`,
    'a relaxed wait': `mbarrier.arrive.shared.b64 %d20, [%r3]; W: mbarrier.test_wait.relaxed.cta.shared.b64 %p2, [%r3], %d20; @!%p2 bra W;`,
    'two arrivals at once': `mbarrier.arrive.shared.b64 %d20, [%r3], 2; ${wait('%d20')}`,
    'another barrier': `add.u32 %r3, %r3, %r9; ${whole}`,
    'the parity of the phase before':
      'mbarrier.arrive.shared.b64 %d20, [%r3]; W: mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 1; @!%p2 bra W;',
    'the wrong loop exit': 'mbarrier.arrive.shared.b64 %d20, [%r3]; W: mbarrier.test_wait.shared.b64 %p2, [%r3], %d20; @%p2 bra W;',
    'an end to it': `${whole} mbarrier.inval.shared.b64 [%r3];`,
  };
  for (const [name, arrival] of Object.entries(others))
    assert.notEqual((await check(exchange(arrival), { budget: { replaySteps: 100_000 } })).race.verdict, 'proved', name);
  for (const init of ['mbarrier.init.shared.b64 [%r3], 64; bar.sync 0;', 'mbarrier.init.shared.b64 [%r3], 64;'])
    assert.notEqual(
      (await check(`cvt.u32.u64 %r3, %d3; ${init} ${exchange(whole).slice(exchange(whole).indexOf('bar.sync 0;') + 11)}`)).race.verdict,
      'proved',
      init,
    );
});

test('barriers that not all awaited threads are known to reach are not proved', async () => {
  assert.equal(await verdicts(`bar.sync 1; bar.sync 3, 64; ${own}`), 'proved/proved');
  for (const barrier of [
    'bar.sync 0, 64;',
    'bar.sync 3, 32;',
    'bar.sync %r0, 64;',
    'bar.sync 3, %r9;',
    'bar.arrive 3, 64;',
    'bar.red.popc.u32 %r1, 3, 64, %p1;',
    'barrier.cluster.arrive; barrier.cluster.wait;',
  ])
    assert.equal(await verdicts(`${barrier} ${own}`), 'possible/possible', barrier);
});

test('a release without a waiting acquire is a race: the reader may come first', async () => {
  const handOver = (write: string, read: string): string => `setp.ne.s32 %p1, %r0, 0; @%p1 bra R; ${write} bra X; R: ${read} X:`;
  const cases = [
    handOver(
      'st.u32 [%d0], 1; fence.acq_rel.gpu; st.relaxed.gpu.u32 [%d0+4], 1;',
      'ld.relaxed.gpu.u32 %r1, [%d0+4]; fence.acq_rel.gpu; ld.u32 %r2, [%d0];',
    ),
    handOver('st.u32 [%d0], 1; st.release.gpu.u32 [%d0+4], 1;', 'ld.acquire.gpu.u32 %r1, [%d0+4]; ld.u32 %r2, [%d0];'),
  ];
  for (const body of cases) {
    const { race } = await check(body);
    const told = race.findings.map(({ code, confirmed }) => `${code} ${confirmed}`);
    assert.deepEqual([race.verdict, ...told], ['race', 'race/shared true'], body);
  }
  // The volatile flag itself is a race of CUDA C++.
  const { race } = await check(
    handOver('st.u32 [%d0], 1; membar.gl; st.volatile.u32 [%d0+4], 1;', 'ld.volatile.u32 %r1, [%d0+4]; membar.gl; ld.u32 %r2, [%d0];'),
  );
  assert.equal(race.verdict, 'race');
  const told = race.findings.map(({ code, confirmed }) => `${code} ${confirmed}`);
  assert.deepEqual(told.sort(), ['race/shared true', 'race/volatile true']);
});

test('a barrier of the whole warp orders its threads and no others', async () => {
  const exchange = (barrier: string, distance: number): string =>
    `${store('%d0', '%r0', '%r0', 10)} ${barrier} xor.b32 %r1, %r0, ${distance}; ${load('%r2', '%d0', '%r1', 11)}`;
  const verdict = async (barrier: string, distance: number): Promise<string> =>
    (await check(exchange(barrier, distance), { block: [64, 1, 1] })).race.verdict;
  assert.equal(await verdict('bar.warp.sync -1;', 1), 'proved');
  assert.equal(await verdict('bar.warp.sync -1;', 31), 'proved');
  assert.notEqual(await verdict('bar.warp.sync -1;', 32), 'proved');
  // Part of a warp, or unknown lanes.
  assert.notEqual(await verdict('bar.warp.sync 0x7fffffff;', 1), 'proved');
  assert.notEqual(await verdict('bar.warp.sync %r9;', 1), 'proved');
  // An exchange of values is not a barrier.
  assert.notEqual(await verdict('shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;', 1), 'proved');
});

test('a warp collective that some lanes do not reach is not proved', async () => {
  const diverging = `setp.lt.u32 %p1, %r0, 7; @%p1 bra A; bar.warp.sync -1; A: bar.sync 0; ${own}`;
  assert.equal(await verdicts(diverging), 'possible/divergent');
  const whole = `setp.lt.u32 %p1, %r0, 32; @%p1 bra A; bar.warp.sync -1; A: bar.sync 0; ${own}`;
  assert.equal(await verdicts(whole), 'proved/proved');
});

test('a load from memory private to each thread does not make a branch uniform', async () => {
  const body = `.local .align 4 .b8 own[64]; mov.u64 %d20, own; cvta.local.u64 %d21, %d20; and.b32 %r1, %r9, 15;
    mul.wide.u32 %d22, %r1, 4; add.s64 %d23, %d21, %d22; st.u32 [%d23], %r0; and.b32 %r2, %r8, 15; mul.wide.u32 %d24, %r2, 4;
    add.s64 %d25, %d21, %d24; ld.u32 %r3, [%d25]; setp.gt.s32 %p1, %r3, 5; @%p1 bra E; bar.sync 0; E: ${own}`;
  const { divergence } = await check(body);
  assert.notEqual(divergence.verdict, 'proved');
});

test('a loop with a uniform exit condition that threads leave in different iterations diverges', async () => {
  const body = `mov.u32 %r1, 0; L: setp.gt.s32 %p1, %r0, %r1; @%p1 bra C; mov.u32 %r2, %r1; setp.ne.s32 %p2, %r9, 0; @%p2 bra X;
    add.s32 %r2, %r1, 1; setp.ne.s32 %p4, %r8, 0; @%p4 bra X; C: add.s32 %r1, %r1, 1; bra L;
    X: setp.gt.s32 %p3, %r2, 3; @%p3 bra E; bar.sync 0; ${own} E: ${store('%d2', '%r0', '%r0', 11)}`;
  const { divergence } = await check(body, { scalars: { 2: 1n, 3: 1n } });
  assert.equal(divergence.verdict, 'divergent');
});

test('a barrier that each thread reaches, but in different iterations, diverges', async () => {
  const body = `mov.u32 %r1, 0; L: setp.gt.s32 %p1, %r0, %r1; @%p1 bra C; bar.sync 0; add.s32 %r2, %r1, %r0; and.b32 %r2, %r2, 63;
    ${store('%d1', '%r2', '%r0', 10)} setp.ne.s32 %p3, %r9, 12345; @%p3 bra X; C: add.s32 %r1, %r1, 1; bra L; X:`;
  const { race, divergence } = await check(body);
  assert.equal(race.verdict, 'race');
  assert.equal(divergence.verdict, 'divergent');
});

test('if a thread never returns, the other threads wait at the barrier forever', async () => {
  assert.notEqual((await check(`setp.eq.s32 %p1, %r0, 0; @%p1 bra S; bar.sync 0; ret; S: bra S;`)).divergence.verdict, 'proved');
});

test('truncated, hashed or intentionally wrapping indices are not assumed to be injective', async () => {
  const racy = {
    'to a byte': 'mul.lo.u32 %r1, %r0, 3; cvt.u32.u8 %r2, %r1;',
    'to a signed byte': 'mul.lo.u32 %r1, %r0, 3; cvt.s32.s8 %r2, %r1;',
    'to 16 bits': 'mul.lo.u32 %r1, %r0, 4096; cvt.u32.u16 %r2, %r1;',
    'by a mask': 'mul.lo.u32 %r1, %r0, 3; and.b32 %r2, %r1, 255;',
    'by a multiplicative hash': 'mul.lo.u32 %r1, %r0, 2654435761; shr.u32 %r2, %r1, 27;',
    'by a remainder of one': 'mul.lo.u32 %r1, %r0, 2654435761; rem.u32 %r2, %r1, 61;',
    'by shifting all bits out': 'shl.b32 %r1, %r0, 24; and.b32 %r2, %r1, 16777215;',
    'by a field': 'bfe.u32 %r2, %r0, 1, 6;',
  };
  for (const [name, index] of Object.entries(racy)) {
    const { race } = await check(`${index} ${store('%d1', '%r2', '%r0', 10)}`, { block: [1024, 1, 1] });
    assert.equal(race.verdict, 'race', name);
  }
  // 300 t modulo 2^16 is different for each of 1024 threads.
  const injective = `mul.lo.u32 %r1, %r0, 300; cvt.u32.u16 %r2, %r1; ${store('%d1', '%r2', '%r0', 10)}`;
  assert.equal(await verdicts(injective, { block: [1024, 1, 1] }), 'proved/proved');
});

test('an address of 32 bits that wraps around is not proved', async () => {
  const body = `and.b32 %r1, %r0, 127; setp.ne.s32 %p1, %r1, 0; @%p1 bra E; shl.b32 %r2, %r0, 27; mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0; E:`;
  assert.equal(await verdicts(body, { block: [1024, 1, 1] }), 'race/proved');
});

test('the minimum of a truncated integer and a constant may be negative', async () => {
  const body = `ld.u64 %d5, [%d2]; cvt.u32.u64 %r1, %d5; min.s32 %r2, %r1, 5; setp.lt.s32 %p1, %r2, 0; @!%p1 bra X;
    mov.u32 %r3, 0; ${store('%d1', '%r3', '%r0', 10)} X:`;
  assert.notEqual((await check(body)).race.verdict, 'proved');
});

test('accesses of different widths and alignment overlap in some bytes', async () => {
  const bytes = (factor: number, access: string): string => `mul.wide.s32 %d10, %r0, ${factor}; add.s64 %d10, %d1, %d10; ${access}`;
  assert.equal(await verdicts(bytes(2, 'st.u16 [%d10], %h1;')), 'proved/proved');
  assert.notEqual((await check(bytes(3, 'st.u32 [%d10], %r0;'))).race.verdict, 'proved');
  assert.notEqual((await check(bytes(4, 'st.v2.u32 [%d10], {%r0, %r0};'))).race.verdict, 'proved');
  assert.equal(await verdicts(bytes(8, 'st.v2.u32 [%d10], {%r0, %r0};')), 'proved/proved');
  assert.notEqual((await check(bytes(1, 'st.u16 [%d10], %h1;'))).race.verdict, 'proved');
  assert.equal(
    (await check(`${bytes(4, 'st.u32 [%d10], %r0;')} bar.sync 0; ${bytes(4, 'st.u8 [%d10+4], %h1;')} ${bytes(4, 'ld.u32 %r1, [%d10];')}`))
      .race.verdict,
    'race',
  );
});

test('irreducible control flow is undecided', async () => {
  const body = `setp.lt.s32 %p1, %r0, %r9; @%p1 bra B; A: add.s32 %r1, %r1, 1; B: add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r8;
    @%p2 bra A; ${own}`;
  const { race, divergence } = await check(body);
  assert.notEqual(race.verdict, 'proved');
  assert.notEqual(divergence.verdict, 'proved');
});
