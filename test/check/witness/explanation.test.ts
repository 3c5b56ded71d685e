/** Details of a finding beyond its verdict: interleaving, smallest launch, and statements that would decide it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ReportedRace } from '../../../src/report-model/finding.ts';
import { placeOf } from '../../../src/check/context/names.ts';
import { type CheckOptions, check, closeSolver, kernelOf, load, store } from '../kernel-text.ts';

after(closeSolver);

/** Writes `s[t]`, then reads `s[t ^ distance]` or, with `+`, `s[t + distance]`. */
function exchange(distance: number, operator: '^' | '+' = '^', between = ''): string {
  const index = operator === '^' ? `xor.b32 %r1, %r0, ${distance};` : `add.s32 %r1, %r0, ${distance};`;
  return `${store('%d0', '%r0', '%r0', 10)} ${between} ${index} ${load('%r2', '%d0', '%r1', 11)} ${store('%d1', '%r7', '%r2', 12)}`;
}

async function racesOf(body: string, options: CheckOptions = {}): Promise<readonly ReportedRace[]> {
  return (await check(body, options)).race.findings;
}

async function onlyRace(body: string, options: CheckOptions = {}): Promise<ReportedRace> {
  const [finding, ...others] = await racesOf(body, options);
  assert.ok(finding && others.length === 0, JSON.stringify(others));
  return finding;
}

const symbolic = { block: null, grid: null } as const;

test('a race is reported with its threads, the missing order and the remedy', async () => {
  const finding = await onlyRace(exchange(32));
  const { interleaving, overlap, message } = finding;
  assert.deepEqual(
    interleaving?.threads.map(({ name }) => name),
    ['thread 0', 'thread 32'],
  );
  assert.deepEqual(interleaving.steps.map(({ action }) => action).toSorted(), ['read', 'write']);
  assert.equal(interleaving.missing?.kind, 'block-barrier');
  assert.equal(overlap?.bytes, 4);
  assert.match(
    message,
    /^Thread \d+ (reads|writes) 4 bytes of `s` while thread \d+ (reads|writes) the same 4 bytes, both on line \d+; no `__syncthreads\(\)` separates the two accesses\. Add `__syncthreads\(\)` between the two accesses\.$/,
  );
});

test('a finding records the events of its threads, in the order of the run, with the values of the cells', async () => {
  const { interleaving } = await onlyRace(exchange(32));
  const recording = interleaving?.recording ?? [];
  const shared = recording.filter(({ cell }) => cell?.isShared);
  assert.deepEqual(
    shared.map(({ action, thread }) => [action, thread]),
    interleaving?.steps.map(({ action, threads }) => [action, threads[0]]),
  );
  assert.deepEqual(new Set(recording.map(({ thread }) => thread)), new Set([0, 1]));
  // The path to the accesses of each thread comes before them, and nothing comes after the last.
  assert.equal(recording.at(-1), shared.at(-1));
  assert.ok(recording.length > shared.length);
  // A kernel without a race records nothing, and neither does a run over its step limit.
  assert.equal((await racesOf(exchange(32, '^', 'bar.sync 0;'))).length, 0);
  const long = `mov.u32 %r3, 0; W: add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 9000; @%p1 bra W; ${exchange(32)}`;
  const [late] = await racesOf(long);
  assert.ok(late?.confirmed);
  assert.equal(late.interleaving?.recording, undefined);
});

test('the last barrier that both threads passed is named, with its count', async () => {
  const body = `mov.u32 %r3, 0;
    L: bar.sync 0; ${exchange(32)} add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 3; @%p1 bra L;`;
  const findings = await racesOf(body);
  const passes = findings.flatMap(({ interleaving }) => interleaving?.steps.filter(({ action }) => action === 'pass') ?? []);
  assert.equal(passes.length, findings.length);
  for (const { threads, location } of passes) {
    assert.deepEqual(threads, [0, 1]);
    assert.ok(location && location.line > 0);
  }
  assert.match(findings[0]!.message, /\. Both threads last passed the barrier on line \d+(, for the 2nd time)?\. Add /);
  // Only in the second iteration does a thread write an element that another has read in the first.
  const late = await racesOf(`mov.u32 %r3, 0;
    L: bar.sync 0; setp.eq.s32 %p2, %r3, 0; @%p2 bra M; ${exchange(32)} M: add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 2; @%p1 bra L;`);
  assert.match(late[0]!.message, /for the 2nd time\. Add /);
  assert.equal(late[0]!.interleaving?.steps[0]?.times, 2);
});

test('__syncwarp() is named only if the racing threads are in one warp', async () => {
  const kindOf = async (body: string, options?: CheckOptions): Promise<string | undefined> =>
    (await onlyRace(body, options)).interleaving?.missing?.kind;
  assert.equal(await kindOf(exchange(1)), 'warp-barrier');
  assert.equal(await kindOf(exchange(16)), 'warp-barrier');
  assert.equal(await kindOf(exchange(32)), 'block-barrier');
  // Neighbours are of one warp except at its end.
  assert.equal(await kindOf(exchange(1, '+')), 'block-barrier');
  // For an unknown block they are not known to be in one warp.
  assert.equal(await kindOf(exchange(1, '+'), symbolic), 'block-barrier');
  const { message } = await onlyRace(exchange(1));
  assert.match(message, /neither `__syncwarp\(\)` nor `__syncthreads\(\)` separates/);
});

test('one barrier is advised for races of a warp and of the block at the same line', async () => {
  const kindsOf = async (between: string): Promise<(string | undefined)[]> => {
    const stores = `${store('%d0', '%r0', '%r0', 10)}\n${store('%d1', '%r0', '%r0', 11)}`;
    const loads = `xor.b32 %r1, %r0, 1; ${load('%r2', '%d0', '%r1', 12)}${between} xor.b32 %r3, %r0, 32; ${load('%r4', '%d1', '%r3', 13)}`;
    const findings = await racesOf(`${stores}\n${loads}`, { grid: [1, 1, 1] });
    return findings.map(({ interleaving }) => interleaving?.missing?.kind);
  };
  assert.deepEqual(await kindsOf(''), ['block-barrier', 'block-barrier']);
  assert.deepEqual(new Set(await kindsOf('\n')), new Set(['block-barrier', 'warp-barrier']));
});

test('if blocks race on the same lines, no barrier of the block is advised', async () => {
  const shift = `add.s32 %r1, %r7, 1; ${load('%r2', '%d1', '%r1', 10)} ${store('%d1', '%r7', '%r2', 11)}`;
  const free = await onlyRace(shift, symbolic);
  assert.deepEqual(free.witness?.grid, [1, 1, 1]);
  assert.equal(free.interleaving?.missing?.betweenBlocks, true);
  assert.match(free.message, /, and nothing orders threads of different blocks, which race on these lines too\./);
  assert.doesNotMatch(free.message, /Add `__syncthreads/);
  // In the only block of a launch, and in shared memory, a barrier of the block is enough.
  for (const alone of [await onlyRace(shift, { grid: [1, 1, 1] }), await onlyRace(exchange(32, '+'), symbolic)]) {
    assert.equal(alone.interleaving?.missing?.betweenBlocks, undefined);
    assert.match(alone.message, /(?:Add|, and add) `__syncthreads\(\)` between the (?:two accesses|read and the write)\.$/);
  }
});

test('in a loop whose barrier separates the accesses, the missing one is at the end', async () => {
  const loop = (end: string): string =>
    `mov.u32 %r3, 0;\nW:\n${store('%d0', '%r0', '%r0', 10)}\nbar.sync 0;\nxor.b32 %r1, %r0, 32; ${load('%r2', '%d0', '%r1', 11)}\n${end}add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 4; @%p1 bra W;`;
  const { interleaving, message } = await onlyRace(loop(''));
  assert.deepEqual(interleaving?.missing?.nextIteration, true);
  assert.match(message, /no `__syncthreads\(\)` separates the access on line (\d+) from the one on line (\d+) in the next iteration\. /);
  assert.match(message, / Add `__syncthreads\(\)` at the end of the loop body, where all threads of the block execute it\.$/);
  assert.equal((await racesOf(loop('bar.sync 0;\n'))).length, 0);
  const both = await onlyRace(loop('').replace('bar.sync 0;', ''));
  assert.equal(both.interleaving?.missing?.nextIteration, undefined);
});

test('in a loop whose accesses only some threads reach, the barrier is outside of their branch', async () => {
  const halves = (step: string): string =>
    `${store('%d0', '%r0', '%r0', 10)} bar.sync 0; mov.u32 %r3, 32; W: setp.ge.u32 %p2, %r0, %r3; @%p2 bra N;
    add.s32 %r1, %r0, %r3; ${load('%r2', '%d0', '%r1', 11)}\n${store('%d0', '%r0', '%r2', 12)}
    N: ${step} shr.u32 %r3, %r3, 1; setp.gt.u32 %p1, %r3, 0; @%p1 bra W;`;
  const { message } = await onlyRace(halves(''));
  assert.match(message, / where all lanes of the warp execute it: between the two accesses, or at the end of the loop body if /);
  assert.equal((await racesOf(halves('bar.sync 0;'))).length, 0);
});

test('in a kernel with barriers of some threads, one of both threads is advised', async () => {
  const { interleaving, message } = await onlyRace(`setp.ge.u32 %p1, %r0, 32; @%p1 bra M; bar.sync 1, 32; M: ${exchange(32)}`);
  assert.equal(interleaving?.missing?.kind, 'block-barrier');
  assert.match(message, /no barrier that both threads take part in separates .*\. Let both threads take part in one barrier between /);
  assert.doesNotMatch(message, /__sync/);
});

test('an index that two threads get from one counter is named, since no order keeps both writes', async () => {
  const counted = `atom.global.add.u32 %r1, [%d2], 1; shr.u32 %r2, %r1, 1;\n${store('%d1', '%r2', '%r0', 10)}`;
  const finding = await onlyRace(counted, { grid: [1, 1, 1] });
  assert.match(finding.message, /both threads compute the same index from the result on line \d+\. Give each thread a different index\.$/);
});

test('a race of atomics with too narrow scopes states the reason', async () => {
  const scoped = await onlyRace('atom.cta.add.u32 %r1, [%d1], 1;', { grid: [2, 1, 1] });
  assert.equal(scoped.interleaving?.missing?.kind, 'scope');
  assert.match(scoped.message, /thread 0 of block 1/i);
  const mixed = await onlyRace('red.add.u32 [%d1+4], 1; red.add.u64 [%d1], 1;');
  assert.equal(mixed.interleaving?.missing?.kind, 'size');
  const blocks = await onlyRace(store('%d1', '%r0', '%r7', 10), { grid: [2, 1, 1] });
  assert.equal(blocks.interleaving?.missing?.kind, 'grid-order');
});

test('unspecified values are minimised within the statements', async () => {
  const guarded = `setp.ge.s32 %p1, %r0, %r9; @%p1 bra M; ${exchange(1, '+')} M: bar.sync 0;`;
  const free = await onlyRace(guarded, symbolic);
  assert.deepEqual([free.witness?.block, free.witness?.grid, free.witness?.args['n']], [[32, 1, 1], [1, 1, 1], 2]);
  assert.match(
    free.message,
    /For example, the kernel races if it is launched with block 32, (?:grid 1, )?`n` = 2\. Add `__syncthreads\(\)` between the two accesses, outside of the branch /,
  );
  const bounded = await onlyRace(guarded, { ...symbolic, assume: ['blockDim.x >= 20', 'n % 3 == 0', 'n > 3'] });
  const { block, args } = bounded.witness!;
  assert.ok(block[0] >= 20 && block[0] < 64, String(block));
  assert.ok(Number(args['n']) > 3 && Number(args['n']) % 3 === 0);
  // Given values stay.
  const given = await onlyRace(guarded, { scalars: { 2: 64n } });
  assert.deepEqual([given.witness?.block, given.witness?.args['n'], given.witnessOrigin], [[64, 1, 1], 64, 'given']);
  // Threads with a distance of 32 need more than 32.
  const disjoint = await onlyRace(exchange(32, '+'), symbolic);
  assert.ok(disjoint.witness!.block[0] > 32 && disjoint.witness!.block[0] <= 64);
});

test('a divergence states which thread waits, and where another is', async () => {
  const both = await check(`setp.lt.s32 %p1, %r0, 32; @%p1 bra L; bar.sync 0; bra M; L: bar.sync 0; M: st.u32 [%d1], %r9;`);
  const [finding] = both.divergence.findings.filter(({ confirmed }) => confirmed);
  assert.deepEqual(
    finding?.interleaving?.steps.map(({ action }) => action),
    ['wait', 'wait'],
  );
  assert.match(finding.message, /\. Thread \d+ waits there while thread \d+ waits at another barrier on line \d+\. Move the barrier /);
  const passedBy = await check(`setp.lt.s32 %p1, %r0, %r9; @%p1 bra M; bar.sync 0; M: st.u32 [%d1], %r9;`, {
    ...symbolic,
  });
  const [chosen] = passedBy.divergence.findings;
  assert.equal(chosen?.witnessOrigin, 'chosen');
  assert.match(chosen.message, / This happens, for example, if the kernel is launched with block 32, `n` = 1\. Move the barrier /);
});

/** `a[b[i]] = …`, with the index of the whole launch. */
const scatter = `${load('%r1', '%d2', '%r7', 10)} ${store('%d1', '%r1', '%r7', 11)}`;

test('an assumption that would decide a pair is tried before it is suggested', async () => {
  const { race } = await check(scatter, { grid: [4, 1, 1] });
  assert.deepEqual(race.findings[0]?.wouldDecide, {
    text: 'state, if it is true, that all elements of `b` are different',
    statement: '// selvage: assume(distinct(b))',
    tried: 'proved',
  });
  const bare = await check(scatter, { grid: [4, 1, 1], parameters: [] });
  assert.equal(bare.race.wouldDecide?.statement, `--assume 'distinct(param1)'`);
  // The size of the elements is unknown.
  assert.equal(bare.race.wouldDecide.tried, 'open');
});

test('a statement that is not sufficient is not suggested', async () => {
  // Threads read one element in pairs.
  const halved = `shr.u32 %r2, %r7, 1; ${load('%r1', '%d2', '%r2', 10)} ${store('%d1', '%r1', '%r7', 11)}`;
  assert.equal((await check(halved, { grid: [4, 1, 1] })).race.wouldDecide?.tried, 'open');
  // The kernel changes the array: a statement about it would not hold.
  const written = `${store('%d2', '%r7', '%r9', 12)} bar.sync 0; ${scatter}`;
  assert.deepEqual((await check(written, { grid: [4, 1, 1] })).race.wouldDecide, {
    text: 'the kernel writes `b`, so Selvage accepts no assumption about the indices that it reads from there',
  });
  // The other half of the kernel stays open.
  const two = `${scatter} shr.u32 %r2, %r7, 1; ${load('%r3', '%d2', '%r2', 13)} add.s64 %d20, %d2, 65536; ${store('%d20', '%r3', '%r7', 14)}`;
  for (const { wouldDecide } of (await check(two, { grid: [4, 1, 1] })).race.findings) assert.notEqual(wouldDecide?.tried, 'proved');
});

test('statements are suggested for pointers into one object and for unspecified launches', async () => {
  const aliased = `${load('%r1', '%d2', '%r9', 10)} ${store('%d1', '%r0', '%r1', 11)}`;
  const { race } = await check(aliased, { launch: { aliases: [[0, 1]] } });
  assert.deepEqual([race.wouldDecide?.statement, race.wouldDecide?.tried], ['// selvage: assume(apart(a, b))', 'proved']);
  // That all cubes are different is not derived for every launch.
  const scattered = `mul.lo.u32 %r1, %r0, %r0; mul.lo.u32 %r1, %r1, %r0; ${store('%d1', '%r1', '%r0', 10)}`;
  const launched = await check(scattered, symbolic);
  assert.deepEqual([launched.race.wouldDecide?.statement, launched.race.wouldDecide?.tried], ['// selvage: block=256', 'proved']);
});

test('a missing fact without a statement is described in prose', async () => {
  const slot = `atom.add.u32 %r1, [%d2], %r9; ${store('%d1', '%r1', '%r7', 11)}`;
  const { race } = await check(slot, { grid: [4, 1, 1] });
  const [finding] = race.findings.filter(({ confirmed }) => !confirmed);
  assert.ok(finding === undefined || finding.wouldDecide?.statement === undefined || finding.wouldDecide.tried !== undefined);
  const proved = await check(store('%d1', '%r7', '%r9', 10));
  assert.equal(proved.race.wouldDecide, undefined);
});

test('an access without a line gets the preceding known line, otherwise the following one', () => {
  const kernel = kernelOf(
    `.loc 1 20 1\n setp.lt.s32 %p1, %r0, 8;\n .loc 1 0 0\n ${load('%r2', '%d0', '%r0', 10)}
     @%p1 bra there;
     ${store('%d0', '%r0', '%r2', 11)}
     .loc 1 22 1\n ${store('%d0', '%r0', '%r0', 12)}
     there:`,
    '.file 1 "a.cu"',
  );
  const accesses = kernel.blocks
    .flatMap(({ instructions }) => instructions)
    .filter(({ operation }) => /^(?:ld|st)\.u32/.test(operation.mnemonic));
  assert.deepEqual(
    accesses.map((access) => placeOf(kernel, access).line),
    [20, 22, 22],
  );
});

test('a table of constant memory that an index is read from is named', async () => {
  const declarations = '.const .align 4 .b8 table[16];';
  const body = `cvt.u64.u32 %d4, %r0; shl.b64 %d4, %d4, 2; mov.u64 %d5, table; add.s64 %d4, %d4, %d5;
    ld.const.u32 %r1, [%d4]; ${store('%d2', '%r1', '%r0', 12)}`;
  const [scatter] = await racesOf(body, { declarations, block: [4, 1, 1], grid: [1, 1, 1] });
  assert.match(scatter?.message ?? '', /\. An index is read from `table`, and threads access the same element where /);
});

test('no statement is suggested about the elements of an array that the kernel writes', async () => {
  // at = a[0]; a[0] = at + 1; b[at] = t
  const body = `ld.u32 %r1, [%d1]; add.s32 %r2, %r1, 1; st.u32 [%d1], %r2; ${store('%d2', '%r1', '%r0', 12)}`;
  const findings = await racesOf(body);
  const slots = findings.find(({ array, confirmed }) => array === 'b' && !confirmed);
  assert.match(slots?.message ?? '', /\. An index is read from `a`, which the kernel writes\.$/);
  assert.deepEqual(slots?.wouldDecide, {
    text: 'the kernel writes `a`, so Selvage accepts no assumption about the indices that it reads from there',
  });
});
