/** Conditions on which a verdict and its severities may depend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { WordedResult } from './kernel-text.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { randomKernel } from '../fuzz/random-kernel.ts';
import { type CheckOptions, check, closeSolver, load, requestFor, stated, store, verdicts } from './kernel-text.ts';
import { isMemoryFault } from '../../src/verdict/memory-fault.ts';

after(closeSolver);

/** Race findings as `KIND SEVERITY given|chosen|possible`. */
function races({ race }: WordedResult): string[] {
  return race.findings.map(({ kind, severity, confirmed, witnessOrigin }) =>
    [kind, severity, confirmed ? witnessOrigin : 'possible'].join(' '),
  );
}

const assumed = ({ race }: WordedResult, kind: string): string[] =>
  (race.assumptions ?? []).filter((assumption) => assumption.kind === kind).map(({ text }) => text);

const guarded = (comparison: string, body: string): string => `setp.${comparison}; @!%p1 bra G; ${body} G:`;

test('a race within the given launch is an error', async () => {
  const result = await check(`mov.u32 %r1, 5; ${store('%d1', '%r1', '%r0', 10)}`);
  assert.equal(result.race.verdict, 'race');
  assert.deepEqual(races(result), ['write-write error given']);
  const [finding] = result.race.findings;
  assert.deepEqual(finding!.witness!.block, [64, 1, 1]);
  assert.equal(finding!.code, 'race/global');
});

test('a grid may be constrained by an integer that the kernel does not read', async () => {
  const ties = ['gridDim.x == n / 64', 'gridDim.y == 1', 'gridDim.z == 1'].map((text) => ({ ...stated(text), isOfLaunch: true as const }));
  const body = `shr.u32 %r1, %r0, 1; ${store('%d0', '%r1', '%r6', 10)} bar.sync 0; ${load('%r2', '%d0', '%r0', 11)} ${store('%d0', '%r5', '%r2', 12)}`;
  assert.equal((await check(body, { grid: null, launch: { ties } })).race.verdict, 'race');
});

test('a single thread in its launch races only with its own copies', async () => {
  // A list that the thread traverses, to any address.
  const list =
    'mov.u64 %d30, %d1; GO: ld.global.u64 %d31, [%d30]; st.global.u64 [%d30], %d1; st.global.u32 [%d31+8], %r7; mov.u64 %d30, %d31; setp.ne.s64 %p1, %d30, 0; @%p1 bra GO;';
  const one = [1, 1, 1] as const;
  assert.equal(await verdicts(list, { block: one, grid: one }), 'proved/proved');
  for (const other of [
    { block: [2, 1, 1] as const, grid: one },
    { block: one, grid: [2, 1, 1] as const },
    { block: null, grid: one },
    { block: one, grid: null },
  ])
    assert.notEqual((await check(list, other)).race.verdict, 'proved');
  // Its copies run concurrently with it.
  const copied = (wait: string): string =>
    `mov.u32 %r20, s; cp.async.ca.shared.global [%r20], [%d1], 4; cp.async.commit_group; ${wait} ld.shared.u32 %r21, [%r20]; st.global.u32 [%d2], %r21; cp.async.wait_all;`;
  assert.equal(await verdicts(copied('cp.async.wait_all;'), { block: one, grid: one }), 'proved/proved');
  assert.equal(await verdicts(copied(''), { block: one, grid: one }), 'race/proved');
});

test('stores of one value in each block are an error if blocks store different values', async () => {
  const body = `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r6', 10)}`;
  assert.deepEqual(races(await check(body, { grid: [8, 1, 1] })), ['write-write error given']);
});

test('a race that every representative launch reproduces is an error', async () => {
  const body = `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r0', 10)}`;
  assert.deepEqual(races(await check(body, { block: null })), ['write-write error chosen']);
  assert.deepEqual(races(await check(body, { grid: null, block: [64, 1, 1] })), ['write-write error given']);
  const wide = `shr.u32 %r1, %r7, 6; ${store('%d1', '%r1', '%r0', 10)}`;
  assert.deepEqual(races(await check(wide, { grid: null })), ['write-write error chosen']);
});

test('a race that depends on a scalar: the scalar is given, or set to a representative value', async () => {
  const body = guarded('lt.s32 %p1, %r0, %r9', `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r0', 10)}`);
  assert.deepEqual(races(await check(body)), ['write-write error chosen']);
  assert.deepEqual(races(await check(body, { scalars: { 2: 40n } })), ['write-write error given']);
  assert.deepEqual(races(await check(body, { assume: ['n == 40'] })), ['write-write error given']);
  assert.deepEqual(races(await check(body, { assume: ['n >= 40'] })), ['write-write error chosen']);
  assert.equal(await verdicts(body, { scalars: { 2: 1n } }), 'proved/proved');
  // A scalar that decides nothing need not be given.
  const besides = `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r9', 10)} add.s32 %r2, %r0, 100; ${store('%d1', '%r2', '%r9', 11)}`;
  assert.equal((await check(besides, { policy: { sameValueWrites: 'error' } })).race.findings[0]!.severity, 'error');
});

test('a mask of low bits implies the fact of a remainder, and a division that its divisor is not 0', async () => {
  // a[2 * tid + n] = a[2 * (tid + 7)]
  const index = 'shl.b32 %r1, %r0, 1; add.s32 %r2, %r1, %r9; add.s32 %r3, %r1, 14;';
  const body = `${index} ${load('%r4', '%d1', '%r3', 10)} ${store('%d1', '%r2', '%r4', 11)}`;
  for (const odd of ['n % 2 == 1', '(n & 1) == 1', '(1 & n) != 0', '!((n & 3) == 0 || (n & 3) == 2)'])
    assert.equal((await check(body, { assume: [odd] })).race.verdict, 'proved', odd);
  for (const other of ['(n & 1) == 0', '(n & 2) == 2', '(n & 3) != 0'])
    assert.notEqual((await check(body, { assume: [other] })).race.verdict, 'proved', other);
  // a[m == 0 ? 5 : tid] = tid
  const zero = `setp.eq.s32 %p1, %r8, 0; selp.b32 %r1, 5, %r0, %p1; ${store('%d1', '%r1', '%r0', 10)}`;
  for (const assume of ['m != 0', 'n / m == 3', 'n % m < 9', '64 % (m + m) == 0'])
    assert.equal((await check(zero, { assume: [assume] })).race.verdict, 'proved', assume);
  for (const assume of ['n / (m + 1) == 3', 'm == 0 || n / m == 3'])
    assert.notEqual((await check(zero, { assume: [assume] })).race.verdict, 'proved', assume);
});

test('severities of the configuration, and weaker ones for uncertain findings', async () => {
  const body = `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r0', 10)}`;
  assert.deepEqual(races(await check(body, { policy: { race: 'warning' } })), ['write-write warning given']);
  assert.deepEqual(races(await check(body, { policy: { race: 'notice' }, block: null })), ['write-write notice chosen']);
});

test('findings that contents of memory decide are at most possible', async () => {
  const indirect = await check(`${load('%r1', '%d2', '%r0', 10)} ${store('%d1', '%r1', '%r0', 11)}`);
  assert.equal(indirect.race.verdict, 'possible');
  assert.match(indirect.race.reason!, /read from `b`/);
  assert.deepEqual(races(indirect), ['write-write notice possible']);
});

test('a possible finding is never an error, a confirmed one has a witness; races need proved barriers', async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 36; seed++) {
    const random = seededRandom(seed);
    const kernel = lowerModule(parsePtx(randomKernel(random)).module).kernels[0]!;
    const symbolic = random.chance(0.3);
    const options: CheckOptions = symbolic ? { block: null, grid: null } : { block: [32, 1, 1], grid: [2, 1, 1] };
    const budget = { solverUnits: 10_000, evaluations: 100_000, replaySteps: 20_000 };
    const { race, divergence } = await checkKernel(requestFor(kernel, { ...options, budget }));
    seen.add(race.verdict).add(divergence.verdict);
    for (const finding of [...race.findings, ...divergence.findings]) {
      assert.equal(finding.confirmed, finding.witness !== undefined);
      assert.equal(finding.confirmed, finding.witnessOrigin !== undefined);
      if (finding.severity !== 'notice' && finding.kind !== 'early-exit') assert.ok(finding.confirmed, `seed ${seed}`);
    }
    // Notices are harmless: equal values. An index outside of its array is not a race.
    const confirmed = race.findings.some((finding) => finding.confirmed && finding.severity !== 'notice' && !isMemoryFault(finding.kind));
    assert.equal(race.verdict === 'race', confirmed, `seed ${seed}`);
    if (race.verdict === 'proved') assert.equal(divergence.verdict, 'proved', `seed ${seed}`);
    if (race.verdict === 'possible' || race.verdict === 'unknown') assert.ok(race.reason, `seed ${seed}`);
    if (divergence.verdict === 'proved')
      assert.ok(
        divergence.findings.every(({ kind }) => kind === 'early-exit'),
        `seed ${seed}`,
      );
  }
  for (const verdict of ['divergent', 'possible', 'proved', 'race']) assert.ok(seen.has(verdict), verdict);
});

test('the total work of the queries of a check is bounded, and the bound is reported', async () => {
  // Every second column of a matrix of any width, with a constant on both sides of the guard: only the solver separates the rows.
  const rows = `shl.b32 %r2, %r0, 1; mad.lo.s32 %r1, %r6, %r9, %r2; add.s32 %r3, %r2, 3; add.s32 %r4, %r9, 3; setp.ge.s32 %p1, %r3, %r4; @%p1 bra E; ${store('%d1', '%r1', '%r0', 10)} E:`;
  const run = async (effort?: { left: number; kept: number }) =>
    (await check(rows, { grid: null, ...(effort && { budget: { effort } }) })).race;
  assert.equal((await run()).verdict, 'proved');
  const part = await check(rows, { grid: null, budget: { factor: 0 } });
  assert.equal(part.race.verdict, 'unknown', 'a factor multiplies the effort of a check');
  const much = { left: 1_000_000, kept: 0 };
  assert.equal((await run(much)).verdict, 'proved');
  assert.ok(much.left > 0 && much.left < 1_000_000, `${much.left}`);
  const again = { left: 1_000_000, kept: 0 };
  await run(again);
  assert.equal(again.left, much.left, 'the budget is measured in work');
  const spent = await run({ left: 0, kept: 0 });
  assert.equal(spent.verdict, 'unknown');
  assert.match(spent.reason!, /solver gave up/);
});

const sameValue = `mov.u32 %r1, 5; mov.u32 %r2, 7; ${store('%d1', '%r1', '%r2', 10)}`;

test('unordered writes of one value: a warning, or the configured severity', async () => {
  // Equal because threads of several warps store a value that the launch determines.
  const uniform = `mov.u32 %r1, 5; add.s32 %r2, %r9, 3; ${store('%d1', '%r1', '%r2', 10)}`;
  const plain = await check(uniform);
  assert.equal(plain.race.verdict, 'race');
  assert.equal(plain.race.findings[0]!.sameValue, true);
  assert.match(races(plain).join(), /^write-write warning /);
  // Equal because the stored element is one that the kernel only reads, or a function of the address.
  const loaded = `shr.u32 %r1, %r0, 6; ${load('%r2', '%d2', '%r1', 10)} ${store('%d1', '%r1', '%r2', 11)}`;
  assert.equal((await check(loaded)).race.findings[0]!.sameValue, true);
  const index = `shr.u32 %r1, %r0, 1; ${store('%d1', '%r1', '%r1', 10)}`;
  assert.equal((await check(index)).race.findings[0]!.sameValue, true);
  const other = `shr.u32 %r1, %r0, 1; ${store('%d1', '%r1', '%r0', 10)}`;
  assert.equal((await check(other)).race.findings[0]!.sameValue, undefined);
});

test('unordered stores of one literal are harmless if every read is ordered after them', async () => {
  const plain = await check(sameValue);
  assert.equal(plain.race.verdict, 'proved');
  assert.deepEqual(races(plain), ['write-write notice given']);
  assert.equal(assumed(plain, 'equal-value-writes').length, 1);
  const polled = await check(`${sameValue}\n${load('%r3', '%d1', '%r1', 11)} ${store('%d0', '%r0', '%r3', 12)}`);
  assert.equal(polled.race.verdict, 'race');
  assert.ok(races(polled).some((text) => text.startsWith('write-write warning')));
  const two = await check(`${sameValue} mov.u32 %r2, 8; ${store('%d1', '%r1', '%r2', 11)}`);
  assert.equal(two.race.verdict, 'race');
});

test('one instruction may store a value that a butterfly makes equal in the warp', async () => {
  const step = (mask: number): string => `shfl.sync.bfly.b32 %r3, %r2, ${mask}, 31, -1; add.s32 %r2, %r2, %r3;`;
  const written = (masks: readonly number[], shift: number): string =>
    `${load('%r2', '%d0', '%r0', 10)} ${masks.map(step).join(' ')} shr.u32 %r1, %r0, ${shift}; ${store('%d1', '%r1', '%r2', 11)}`;
  const verdictOf = async (body: string) => (await check(body, { block: [128, 1, 1] })).race.verdict;
  assert.equal(await verdictOf(written([16, 8, 4, 2, 1], 5)), 'proved');
  assert.equal(await verdictOf(written([31, 15, 7, 3, 1], 5)), 'proved');
  // Half of the warp, and two warps.
  assert.equal(await verdictOf(written([8, 4, 2, 1], 5)), 'race');
  assert.equal(await verdictOf(written([16, 8, 4, 2, 1], 6)), 'race');
});

test('lanes of a part of a warp may store a value that a butterfly makes equal in that part', async () => {
  const step = (mask: number, operation = 'add.f32', lanes = '-1', segment = 31): string =>
    `shfl.sync.bfly.b32 %r3, %r2, ${mask}, ${segment}, ${lanes}; ${operation} %r2, %r2, %r3;`;
  const written = (steps: string, index: string): string =>
    `${load('%r2', '%d0', '%r0', 10)} ${steps} ${index} ${store('%d1', '%r1', '%r2', 11)}`;
  const result = (steps: string, index: string) => check(written(steps, index), { block: [128, 1, 1] });
  const verdictOf = async (steps: string, index: string) => (await result(steps, index)).race.verdict;
  const by = (shift: number): string => `shr.u32 %r1, %r0, ${shift};`;
  const four = [8, 4, 2, 1].map((mask) => step(mask)).join(' ');
  const { race, ...rest } = await result(four, by(4));
  assert.equal(race.verdict, 'proved');
  assert.deepEqual(assumed({ race, ...rest }, 'equal-value-writes').length, 1);
  assert.equal(await verdictOf(four, by(3)), 'proved');
  assert.equal(await verdictOf(four, by(5)), 'race');
  assert.equal(await verdictOf(`${step(1)} ${step(2)}`, by(2)), 'proved');
  assert.equal(await verdictOf(`${step(3)} ${step(1)}`, by(2)), 'proved');
  assert.equal(await verdictOf(`${step(4)} ${step(2)}`, 'and.b32 %r1, %r0, 0xfffffff9;'), 'proved');
  assert.equal(await verdictOf(`${four} mul.f32 %r2, %r2, %r9; add.s32 %r2, %r2, %r6;`, by(4)), 'proved');
  const racy: Readonly<Record<string, readonly [string, string]>> = {
    'other bits': [`${step(4)} ${step(2)}`, by(2)],
    'only one distance': [step(3), by(1)],
    'an operation that does not commute': [step(1, 'sub.f32'), by(1)],
    'lanes outside of the mask': [step(1, 'add.f32', '0xffff'), by(1)],
    'parts of the warp': [step(16, 'add.f32', '-1', 4127), by(5)],
    'the index of the thread': [`${step(1)} add.s32 %r2, %r2, %r0;`, by(1)],
    'another value of each lane': [`${step(1)} xor.b32 %r2, %r2, %r4;`, `ld.u32 %r4, [%d10]; ${by(1)}`],
    'a sum with something else': [`${step(1)} shfl.sync.bfly.b32 %r3, %r2, 2, 31, -1; add.s32 %r2, %r3, %r0;`, by(2)],
  };
  for (const [name, [steps, index]] of Object.entries(racy)) assert.notEqual(await verdictOf(steps, index), 'proved', name);
  // Two instructions are a warning.
  const twice = (steps: string, index: string) =>
    check(`${written(steps, index)} ${store('%d1', '%r1', '%r2', 12)}`, { block: [128, 1, 1] });
  assert.deepEqual([...new Set(races(await twice(step(1), by(1))))], ['write-write warning given']);
  assert.ok(races(await twice(step(1), by(2))).includes('write-write error given'));
});

test('tolerated writes of one value: proved under that assumption', async () => {
  const tolerant = { policy: { sameValueWrites: 'proved' } } as const;
  const result = await check(sameValue, tolerant);
  assert.equal(result.race.verdict, 'proved');
  assert.equal(assumed(result, 'equal-value-writes').length, 1);
  assert.deepEqual(result.race.findings, []);
  // In this run only, another race remains one, and equal values only in this run are not equal.
  const other = await check(`${sameValue} mov.u32 %r3, 9; ${store('%d1', '%r3', '%r0', 11)}`, tolerant);
  assert.deepEqual([other.race.verdict, races(other)], ['race', ['write-write error given']]);
  const halves = `shr.u32 %r2, %r0, 6; mov.u32 %r1, 5; ${store('%d1', '%r1', '%r2', 10)}`;
  assert.equal((await check(halves, tolerant)).race.verdict, 'proved');
  assert.notEqual((await check(halves, { ...tolerant, block: [128, 1, 1] })).race.verdict, 'proved');
});

test('threads that return before a barrier: a warning, and otherwise the verdicts without them', async () => {
  const body = `setp.ge.s32 %p1, %r0, 40; @%p1 ret; ${store('%d0', '%r0', '%r0', 10)} bar.sync 0; xor.b32 %r1, %r0, 1;
    ${load('%r2', '%d0', '%r1', 11)} ${store('%d1', '%r0', '%r2', 12)}`;
  const result = await check(body);
  assert.deepEqual([result.race.verdict, result.divergence.verdict], ['proved', 'proved']);
  assert.deepEqual(
    result.divergence.findings.map(({ code, severity }) => `${code} ${severity}`),
    ['barrier/early-exit warning'],
  );
  const strict = await check(body, { policy: { earlyExit: 'error' } });
  assert.equal(strict.divergence.verdict, 'proved');
  assert.equal(strict.divergence.findings[0]!.severity, 'error');
});

test('absence of races is proved only if absence of divergence is proved', async () => {
  const body = (condition: string): string => `${condition} @%p1 bra X; bar.sync 0; X: ${store('%d1', '%r0', '%r0', 12)}`;
  assert.equal(await verdicts(body('setp.lt.s32 %p1, %r9, 5;')), 'proved/proved');
  assert.equal(await verdicts(body('setp.lt.s32 %p1, %r0, 5;')), 'possible/divergent');
  const loaded = await check(body(`${load('%r1', '%d2', '%r0', 10)} setp.lt.s32 %p1, %r1, 5;`));
  assert.equal(loaded.race.verdict, 'possible');
  assert.notEqual(loaded.divergence.verdict, 'proved');
  assert.match(loaded.race.reason!, /did not prove that all threads reach each barrier/);
});

test('a divergence is an error if the given launch, or every representative one, reproduces it', async () => {
  const body = (limit: string): string => `setp.ge.s32 %p1, %r0, ${limit}; @%p1 bra X; bar.sync 0; X: ${store('%d1', '%r0', '%r0', 12)}`;
  const severity = async (limit: string, options: CheckOptions = {}): Promise<string> => {
    const [finding] = (await check(body(limit), options)).divergence.findings;
    return `${finding!.kind} ${finding!.severity} ${finding!.witnessOrigin}`;
  };
  assert.equal(await severity('40'), 'divergent error given');
  assert.equal(await severity('%r9'), 'divergent error chosen');
  assert.equal(await severity('%r9', { scalars: { 2: 40n } }), 'divergent error given');
  assert.equal(await severity('40', { block: null }), 'divergent error chosen');
  assert.equal(await severity('40', { policy: { divergence: 'warning' } }), 'divergent warning given');
});

test('a branch that is uniform only without races is not proved while there are races', async () => {
  // A thread writes the flag without a barrier; all threads that read it get one value.
  const flag = (writer: string): string => `${writer} ld.u32 %r1, [%d0]; setp.gt.s32 %p1, %r1, 0; selp.b32 %r2, 100, 0, %p1;
    add.s32 %r3, %r2, %r0; setp.ge.s32 %p2, %r3, 100; @%p2 bra E; bra X; E: bar.sync 0; X: ${store('%d1', '%r0', '%r0', 12)}`;
  const write = guarded('eq.s32 %p1, %r0, 5', 'st.u32 [%d0], %r9;');
  assert.equal(await verdicts(flag(write), { block: [32, 1, 1] }), 'race/possible');
  assert.equal(await verdicts(flag(`${write} bar.sync 0;`), { block: [32, 1, 1] }), 'proved/proved');
});

test('a proof under assumptions that make an access unreachable is not a proof', async () => {
  const body = guarded('lt.s32 %p1, %r0, %r9', store('%d1', '%r0', '%r0', 10));
  assert.equal(await verdicts(body, { assume: ['n >= 1'] }), 'proved/proved');
  const vacuous = await check(body, { assume: ['n < 0'] });
  assert.equal(vacuous.race.verdict, 'possible');
  assert.match(vacuous.race.reason!, /unreachable under `n < 0`/);
});

test('contradictory assumptions are reported as a user error', async () => {
  const body = guarded('lt.s32 %p1, %r0, %r9', store('%d1', '%r0', '%r0', 10));
  const result = await check(body, { assume: ['n < 5', 'n > 10'] });
  assert.ok(result.contradiction);
  assert.match(result.race.reason!, /`n < 5` and `n > 10`/);
  assert.deepEqual([result.race.verdict, result.divergence.verdict], ['unknown', 'unknown']);
  assert.equal((await check(body, { assume: ['n % 4 == 1', 'n % 2 == 0'] })).contradiction === undefined, false);
  assert.equal((await check(body, { assume: ['n > 5', 'n < 10'] })).contradiction, undefined);
  // Also if the kernel reads no scalar of them.
  const silent = store('%d1', '%r0', '%r0', 10);
  const { race } = await check(silent, { assume: ['n < 5', 'n > 10'] });
  assert.match(race.reason!, /`n < 5` and `n > 10`/);
  assert.equal((await check(silent, { assume: ['n > 5', 'n % 7 == 3'] })).contradiction, undefined);
});

test('an assumption that excludes the race yields a proof, and is listed', async () => {
  const body = guarded('lt.s32 %p1, %r0, %r9', `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r0', 10)}`);
  const result = await check(body, { assume: ['n <= 1', 'n >= 1'] });
  assert.equal(result.race.verdict, 'proved');
  assert.deepEqual(assumed(result, 'user'), ['n <= 1', 'n >= 1']);
  const strided = `mul.lo.s32 %r1, %r0, %r9; ${store('%d1', '%r1', '%r0', 10)}`;
  assert.equal((await check(strided, { assume: ['n >= 1', 'n <= 1000'] })).race.verdict, 'proved');
  // A stride of zero is excluded by a precondition.
  const natural = await check(strided, { assume: ['n >= 0', 'n <= 1000'] });
  assert.equal(natural.race.verdict, 'proved');
  assert.deepEqual(assumed(natural, 'precondition'), ['n >= 1']);
});

test('an assumption in the code is listed as the user’s', async () => {
  const body = `setp.lt.s32 %p2, %r9, 2; selp.b32 %r1, 1, 0, %p2;
    // selvage.assume %r1;
    ${guarded('lt.s32 %p1, %r0, %r9', `mov.u32 %r2, 5; ${store('%d1', '%r2', '%r0', 10)}`)}`;
  const result = await check(body);
  assert.equal(result.race.verdict, 'proved');
  assert.equal(assumed(result, 'user').length, 1);
});

test('the assumptions of a proof are listed', async () => {
  const body = store('%d1', '%r7', '%r9', 10);
  const given = await check(body, { grid: [4, 1, 1], scalars: { 2: 5n } });
  assert.deepEqual(assumed(given, 'launch'), ['blockDim = (64, 1, 1)', 'gridDim = (4, 1, 1)', 'n = 5']);
  assert.equal(assumed(given, 'in-bounds').length, 1);
  assert.deepEqual(assumed(given, 'no-wrap'), []);
  const symbolic = await check(body, { block: null, grid: null });
  assert.equal(symbolic.race.verdict, 'proved');
  assert.equal(assumed(symbolic, 'no-wrap').length, 1);
  const two = await check(`${load('%r1', '%d2', '%r7', 10)} ${store('%d1', '%r7', '%r1', 11)}`);
  assert.deepEqual(assumed(two, 'no-alias'), ['a, b do not overlap']);
  const flag = await check(`ld.u32 %r1, [%d2]; ${guarded('eq.s32 %p1, %r1, 0', `bar.sync 0; ${body}`)}`);
  assert.equal(flag.divergence.verdict, 'proved');
  assert.equal(assumed(flag, 'stable-memory').length, 1);
});

test('a tile of each block that LLVM joins with an or is proved for any grid; overlapping tiles are not', async () => {
  const tile = (bits: number): string => `shl.b32 %r1, %r6, ${bits}; or.b32 %r2, %r1, %r0; ${store('%d1', '%r2', '%r9', 10)}`;
  const disjoint = await check(tile(7), { block: [128, 1, 1], grid: null });
  assert.equal(disjoint.race.verdict, 'proved');
  assert.equal(assumed(disjoint, 'no-wrap').length, 1);
  assert.notEqual((await check(tile(6), { block: [128, 1, 1], grid: null })).race.verdict, 'proved');
  // The grid has enough blocks for the indices of some to wrap around.
  const many = await check(tile(25), { block: [128, 1, 1], grid: [256, 1, 1] });
  assert.notEqual(many.race.verdict, 'proved');
});

test('an assumption of a definition of the solver stays listed for later proofs that depend on it', async () => {
  // Both pairs use the quotient; only the second is proved.
  const body = `mad.lo.s32 %r1, %r0, 8000000, %r9; div.s32 %r2, %r1, 8000000; ${store('%d1', '%r2', '%r0', 10)}
    add.s32 %r3, %r2, 5000; ${store('%d1', '%r3', '%r0', 11)}`;
  const result = await check(body, { assume: ['n >= 0', 'n <= 2147480000'], block: [512, 1, 1] });
  if (result.race.verdict === 'proved') assert.ok(assumed(result, 'no-wrap').length > 0);
});

test('two pointers into one object overlap unless they are assumed disjoint', async () => {
  const body = `add.s32 %r1, %r0, 1; ${load('%r2', '%d2', '%r1', 10)} ${store('%d1', '%r0', '%r2', 11)}`;
  assert.equal(await verdicts(body), 'proved/proved');
  assert.equal(await verdicts(body, { launch: { aliases: [[0, 1]] } }), 'possible/proved');
  assert.equal(await verdicts(body, { launch: { aliases: [[0, 1]], samePointers: [[0, 1]] } }), 'race/proved');
  const pointer = `ld.u64 %d20, [%d2]; ${store('%d20', '%r0', '%r0', 10)}`;
  const followed = await check(pointer);
  assert.equal(followed.race.verdict, 'proved');
  assert.equal(assumed(followed, 'contents').length, 1);
  const replaced = `ld.u64 %d20, [%d2]; ${store('%d20', '%r0', '%r0', 10)} st.u64 [%d2+8], %d20;`;
  assert.equal((await check(replaced)).race.verdict, 'possible');
});

test('conflicts are classified by kind and scope of their accesses', async () => {
  const kinds = async (body: string, options: CheckOptions = {}): Promise<string[]> =>
    [...new Set((await check(body, options)).race.findings.map(({ kind }) => kind))].sort();
  const one = 'mov.u32 %r1, 5;';
  assert.deepEqual(await kinds(`${store('%d1', '%r0', '%r0', 10)} xor.b32 %r1, %r0, 1; ${load('%r2', '%d1', '%r1', 11)}`), ['read-write']);
  assert.deepEqual(await kinds(`${one} red.add.u32 [%d1], 1; ld.u32 %r2, [%d1];`), ['atomic-read']);
  assert.deepEqual(await kinds(`red.add.u32 [%d1], 1; ${guarded('eq.s32 %p1, %r0, 3', 'st.u32 [%d1], %r0;')}`), ['atomic-write']);
  assert.deepEqual(await kinds('red.add.u32 [%d1], 1;', { grid: [4, 1, 1] }), []);
  assert.deepEqual(await kinds('red.cta.add.u32 [%d1], 1;', { grid: [4, 1, 1] }), ['scope']);
  assert.deepEqual(await kinds('red.add.u32 [%d1], 1; atom.add.u64 %d10, [%d1], 1;'), ['scope']);
});

test('checks that are not requested are skipped', async () => {
  const body = `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r0', 10)} bar.sync 0;`;
  const { race, divergence } = await check(body, { checks: { race: false, divergence: true } });
  assert.deepEqual([race.verdict, race.findings, divergence.verdict], ['skipped', [], 'proved']);
});

test('analyses that the deadline or the budget cuts short are unknown', async () => {
  const body = `mul.lo.s32 %r1, %r0, %r9; add.s32 %r1, %r1, %r8; ${store('%d1', '%r1', '%r0', 10)}`;
  const cut = await check(body, { assume: ['n >= 1', 'n <= 1000'], budget: { expired: () => true } });
  assert.equal(cut.race.verdict, 'unknown');
  assert.match(cut.race.reason!, /time/);
});

test('a hash wraps around intentionally: absence of overflow is never assumed', async () => {
  const multiplied = (use: string): string =>
    `mul.lo.s32 %r1, %r7, 1664525; add.s32 %r1, %r1, 1013904223; ${use} ${store('%d1', '%r2', '%r7', 10)}`;
  const launch: CheckOptions = { block: null, grid: null };
  for (const use of ['shr.u32 %r2, %r1, 12;', 'rem.u32 %r2, %r1, 1048576;', 'and.b32 %r2, %r1, 65535;'])
    assert.notEqual((await check(multiplied(use), launch)).race.verdict, 'proved', use);
});

test('an index of 16 bits that a loop counts wraps around at 16 bits', async () => {
  // Iterations 0 and 65,536 write the same element: thread i + 1 continues at the element of thread i.
  const body = `cvt.u16.u32 %h1, %r0; mov.u32 %r1, 0;
    L: cvt.u32.u16 %r2, %h1; ${store('%d1', '%r2', '%r0', 10)}
    add.s16 %h1, %h1, 64; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r9; @%p1 bra L;`;
  assert.equal(await verdicts(body, { scalars: { 2: 1024n } }), 'proved/proved');
  const odd = body.replace('add.s16 %h1, %h1, 64', 'add.s16 %h1, %h1, 65');
  assert.notEqual((await check(odd, { scalars: { 2: 2000n } })).race.verdict, 'proved');
});

test('tickets are distinct only if no other instruction changes the counter', async () => {
  const take = 'atom.global.add.u32 %r1, [%d2], 1;';
  const launch: CheckOptions = { grid: [4, 1, 1] };
  const verdict = async (body: string): Promise<string> => (await check(body, launch)).race.verdict;
  const result = await check(`${take} ${store('%d1', '%r1', '%r0', 10)}`, launch);
  assert.equal(result.race.verdict, 'proved');
  assert.deepEqual(assumed(result, 'no-wrap'), ['the counter b fits in 32 bits']);
  for (const other of [
    'atom.global.exch.b32 %r2, [%d2], 0;',
    'red.global.add.u32 [%d2], -1;',
    'atom.global.add.u32 %r2, [%d2], %r9;',
    'bar.sync 0; st.global.u32 [%d2], 0; bar.sync 0;',
  ])
    assert.notEqual(await verdict(`${take} ${store('%d1', '%r1', '%r0', 10)} ${other}`), 'proved', other);
  // A counter for each element, and one for each block.
  const bucket = `mul.wide.s32 %d20, %r0, 4; add.s64 %d20, %d2, %d20; atom.global.add.u32 %r1, [%d20], 1;`;
  assert.notEqual(await verdict(`${bucket} ${store('%d1', '%r1', '%r0', 10)}`), 'proved');
  const ofBlock = `atom.shared.add.u32 %r1, [s], 1; ${store('%d1', '%r1', '%r0', 10)}`;
  assert.notEqual(await verdict(ofBlock), 'proved');
  assert.equal((await check(ofBlock, { grid: [1, 1, 1] })).race.verdict, 'proved');
});

test('a shift to the left and back intentionally drops bits', async () => {
  const cut = `mul.lo.s32 %r1, %r0, %r9; shl.b32 %r2, %r1, 16; shr.s32 %r3, %r2, 16; setp.gt.s32 %p1, %r9, 0; @!%p1 bra X;
    ${store('%d1', '%r3', '%r0', 10)} X:`;
  assert.notEqual(await verdicts(cut), 'proved/proved');
});

test('a counter that must wrap around yields no distinct tickets', async () => {
  const huge = `atom.global.add.u32 %r1, [%d2], 1073741824; ${store('%d1', '%r1', '%r0', 10)}`;
  assert.notEqual((await check(huge)).race.verdict, 'proved');
});

test('a warp barrier after an indexed branch is not known to be reached by the warp', async () => {
  const body = `and.b32 %r1, %r0, 1; ${store('%d0', '%r0', '%r0', 10)} T: .branchtargets A, B;
    brx.idx %r1, T; B: bar.warp.sync -1; xor.b32 %r2, %r0, 1; ${load('%r3', '%d0', '%r2', 11)} A:`;
  const { race, divergence } = await check(body);
  assert.notEqual(race.verdict, 'proved');
  assert.notEqual(divergence.verdict, 'proved');
});

test('synchronisation variables are initially zero', async () => {
  // The block with the last ticket reads the writes of the others: no race, unless the counter starts elsewhere.
  const body = `${store('%d1', '%r6', '%r0', 10)} fence.acq_rel.gpu; atom.global.add.u32 %r1, [%d2], 1; fence.acq_rel.gpu;
    mov.u32 %r2, %nctaid.x; sub.s32 %r2, %r2, 1; setp.ne.s32 %p1, %r1, %r2; @%p1 bra X; ${load('%r3', '%d1', '%r0', 11)}
    ${store('%d1', '%r2', '%r3', 12)} X:`;
  const { race } = await check(body, { block: [1, 1, 1], grid: [4, 1, 1] });
  assert.ok(race.findings.every(({ confirmed }) => !confirmed));
});

test('a proof is not vacuous because of assumptions in the code', async () => {
  const assume = (value: string): string => `${value}\n// selvage.assume %r3;\n`;
  const race = `mov.u32 %r1, 5; ${store('%d1', '%r1', '%r0', 10)}`;
  const never = await check(`${assume('mov.u32 %r3, 0;')} ${race}`);
  assert.equal(never.race.verdict, 'possible');
  assert.match(never.race.reason!, /unreachable under/);
  const isZero = 'setp.eq.s32 %p1, %r9, 0; selp.u32 %r3, 0, 1, %p1;';
  const other = await check(`${assume(isZero)} @!%p1 bra E; ${race} E:`);
  assert.equal(other.race.verdict, 'possible');
  // Without the statement, a launch that never reaches the access is proved by that fact.
  assert.equal((await check(`setp.eq.s32 %p1, %r9, 0; @!%p1 bra E; ${race} E:`, { scalars: { 2: 1n } })).race.verdict, 'proved');
});
