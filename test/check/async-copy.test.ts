/** Random pipelines of `cp.async`, with block and memory barriers: proved ones race in no run, racy runs are found. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import { replayRequest } from '../../src/check/witness/replay.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import { check, closeSolver, kernelOf, pointersAndNumbers, requestFor } from './kernel-text.ts';
import { sweep } from '../run/sweep.ts';

after(closeSolver);

const threads = 64;
/** A run whose threads wait for an event that never comes ends after this many instructions. */
const steps = 150_000;
const roundsToRun = [0, 1, 2, 5];

type Random = (below: number) => number;

/** Barriers in memory, disjoint from the buffers that the copies write. */
const declarations = '.shared .align 8 .b64 first; .shared .align 8 .b64 second;';

const setUp = (isSecond: boolean): string => `mov.u32 %r75, first; mov.u32 %r76, second; setp.ne.u32 %p5, %r0, 0;
  @%p5 bra I; ${isSecond ? 'mbarrier.init.shared.b64 [%r76], 128;' : 'mbarrier.init.shared.b64 [%r75], 64;'} I: bar.sync 0;`;

/**
 * A random kernel body: statements before, in and after a loop of `n` iterations, some with an inner loop of three.
 * @param inMemory with barriers in memory
 */
function randomPipeline(random: Random, inMemory: boolean): string {
  let scratch = 0;
  const fresh = (): number => 10 + (scratch++ % 50);
  const lines: string[] = [];

  /** Computes the address of an element of a buffer of 64 ints into `%rN`. */
  const address = (round: string | null, element: 'own' | 'mirrored' | 'neighbour'): string => {
    const at = fresh();
    const by = random(3);
    const stages = random(3) === 0 ? 3 : 2;
    if (round === null) lines.push(`mov.u32 %r${at}, ${random(3)};`);
    else if (stages === 2) lines.push(`add.s32 %r${at}, ${round}, ${by}; and.b32 %r${at}, %r${at}, 1;`);
    else lines.push(`add.s32 %r${at}, ${round}, ${by}; rem.u32 %r${at}, %r${at}, 3;`);
    lines.push(`shl.b32 %r${at}, %r${at}, 8;`);
    const index = { own: '%r0', mirrored: '%r70', neighbour: '%r74' }[element];
    lines.push(`mad.lo.s32 %r${at}, ${index}, 4, %r${at}; add.s32 %r${at}, %r${at}, %r71;`);
    return `%r${at}`;
  };

  let labels = 0;
  const guarded = (round: string | null, emit: () => void): void => {
    const kind = random(5);
    const label = `G${labels++}`;
    if (kind === 0 && round) {
      const next = fresh();
      lines.push(`add.s32 %r${next}, ${round}, 1; setp.ge.s32 %p1, %r${next}, %r9; @%p1 bra ${label};`);
    } else if (kind === 1) lines.push(`setp.ge.u32 %p1, %r0, 32; @%p1 bra ${label};`);
    emit();
    if (kind <= 1) lines.push(`${label}:`);
  };

  const read = (round: string | null): void => {
    const element = (['own', 'mirrored', 'neighbour'] as const)[random(3)]!;
    if (element === 'neighbour' && random(2) === 0) lines.push('bar.warp.sync -1;');
    lines.push(`ld.shared.u32 %r4, [${address(round, element)}];`);
  };

  /** All threads arrive, and usually wait; the second barrier expects copies to arrive too. */
  const isSecond = random(3) === 0;
  const byParity = random(3) === 0;
  let arrivals = 0;
  const synchronize = (round: string | null): void => {
    // Arrivals that are counted by iterations or by copies are at one place.
    if ((byParity || isSecond) && arrivals++ > 0) return void lines.push('bar.sync 0;');
    const barrier = isSecond ? '%r76' : '%r75';
    if (isSecond && random(8) > 0) lines.push('cp.async.mbarrier.arrive.noinc.shared.b64 [%r76];');
    if (!isSecond && random(2) === 0) lines.push('cp.async.mbarrier.arrive.shared.b64 [%r75];');
    const state = `%d${20 + labels}`;
    lines.push(`mbarrier.arrive.shared.b64 ${state}, [${barrier}];`);
    if (random(4) === 0) read(round);
    const label = `W${labels++}`;
    if (random(20) === 0) return;
    if (byParity) lines.push(`add.s32 %r77, ${round ?? '0'}, ${random(8) === 0 ? 1 : 0}; and.b32 %r77, %r77, 1;`);
    lines.push(
      `${label}: mbarrier.test_wait${byParity ? '.parity' : ''}.shared.b64 %p6, [${barrier}], ${byParity ? '%r77' : state}; @!%p6 bra ${label};`,
    );
  };

  const statement = (round: string | null): void => {
    const kind = random(14);
    if (kind < 4) {
      guarded(round, () => {
        const to = address(round, 'own');
        lines.push(`cp.async.ca.shared.global [${to}], [%d1], 4;`);
        if (random(2) === 0) lines.push('cp.async.commit_group;');
      });
    } else if (kind < 6) lines.push('cp.async.commit_group;');
    else if (kind < 9) {
      const wait = random(6) === 0 ? 'cp.async.wait_all;' : `cp.async.wait_group ${random(3)};`;
      if (random(3) === 0) guarded(round, () => void lines.push(wait));
      else lines.push(wait);
    } else if (kind < 12) {
      if (inMemory && random(2) === 0) synchronize(round);
      else lines.push('bar.sync 0;');
    } else if (random(40) === 0) lines.push('setp.lt.u32 %p4, %r0, 32; @%p4 bra X;');
    else read(round);
  };
  const statements = (count: number, round: string | null): void => {
    for (let i = 0; i < count; i++) statement(round);
  };

  lines.push('sub.s32 %r70, 63, %r0; cvt.u32.u64 %r71, %d3; xor.b32 %r74, %r0, 1; mov.u32 %r72, 0;');
  if (inMemory) lines.push(setUp(isSecond));
  statements(random(5), null);
  lines.push('L: setp.ge.s32 %p2, %r72, %r9; @%p2 bra E;');
  statements(2 + random(5), '%r72');
  if (random(4) === 0) {
    lines.push('mov.u32 %r73, 0; M:');
    statements(1 + random(4), random(2) === 0 ? '%r73' : '%r72');
    lines.push('add.s32 %r73, %r73, 1; setp.lt.s32 %p3, %r73, 3; @%p3 bra M;');
    statements(random(3), '%r72');
  }
  lines.push('add.s32 %r72, %r72, 1; bra L; E:');
  statements(random(4), null);
  lines.push('X:');
  return lines.join('\n');
}

/** Whether some run sees a race. */
function races(body: string, rounds: number): boolean {
  const kernel = kernelOf(body, declarations);
  const request = requestFor(kernel, { scalars: { 2: BigInt(rounds) } });
  const { fields } = kernelContext(request);
  const scenario = {
    block: [threads, 1, 1] as const,
    grid: [1, 1, 1] as const,
    sharedBytes: 0,
    scalar: () => BigInt(rounds),
    blocks: [0],
    contents: 1,
    settled: new Map<string, number>(),
  };
  const run = replayRequest(kernel, pointersAndNumbers, fields, request.launch, scenario, steps, false);
  return runKernel(run).races.length > 0;
}

/** Verdicts on `count` random pipelines, each compared with runs. */
async function compare(count: number, seed: number, rounds: number | null, inMemory = false): Promise<Record<string, number>> {
  const random = seededRandom(seed);
  const tally: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const body = randomPipeline((bound) => random.below(bound), inMemory);
    const scalars = rounds === null ? {} : { 2: BigInt(rounds) };
    const { race, divergence } = await checkKernel(requestFor(kernelOf(body, declarations), { scalars, budget: { replaySteps: steps } }));
    const seen = (rounds === null ? roundsToRun : [rounds]).filter((number) => races(body, number));
    const key = `${race.verdict}, ${seen.length > 0 ? 'racy' : 'clean'}`;
    tally[key] = (tally[key] ?? 0) + 1;
    if (race.verdict === 'proved') assert.deepEqual(seen, [], body);
    if (rounds !== null && race.verdict === 'race') assert.notEqual(seen.length, 0, body);
    assert.notEqual(divergence.verdict, 'unknown', body);
  }
  return tally;
}

/** Decided pipelines of a tally, and the proved ones among them. */
function decided(tally: Record<string, number>): { readonly all: number; readonly proved: number } {
  const proved = tally['proved, clean'] ?? 0;
  return { all: proved + (tally['race, racy'] ?? 0) + (tally['race, clean'] ?? 0), proved };
}

test('random pipelines with a known trip count are decided', async () => {
  const count = sweep(12, 80);
  const { all, proved } = decided(await compare(count, 1, 5));
  assert.ok(all >= 0.95 * count && proved >= 0.2 * count, `${all} decided, ${proved} proved`);
});

test('random pipelines with barriers in memory agree with runs', async () => {
  const { all, proved } = decided(await compare(40, 3, 5, true));
  assert.ok(all >= 20 && proved >= 4, `${all} decided, ${proved} proved`);
});

test('random pipelines of any trip count agree with runs', async () => {
  const { all, proved } = decided(await compare(30, 2, null));
  assert.ok(all >= 28 && proved >= 5, `${all} decided, ${proved} proved`);
});

test('a copy of the first iteration is pending at the barrier of the last one', async () => {
  const { race } = await check(`cvt.u32.u64 %r30, %d3; shl.b32 %r31, %r0, 2; add.s32 %r32, %r30, %r31; sub.s32 %r33, %r30, %r31;
    mov.u32 %r1, 0;
    L: bar.sync 0;
    setp.ne.s32 %p1, %r1, 1; @%p1 bra N; ld.shared.u32 %r2, [%r33+252];
    N: setp.ne.s32 %p2, %r1, 0; @%p2 bra M; cp.async.ca.shared.global [%r32], [%d1], 4;
    M: add.s32 %r1, %r1, 1; setp.lt.s32 %p3, %r1, 2; @%p3 bra L; cp.async.wait_all;`);
  assert.equal(race.verdict, 'race');
});

test('a flag publishes a copy if its thread has waited for the copy', async () => {
  const handOver = (work: string): string =>
    `cvt.u32.u64 %r30, %d3; setp.ne.s32 %p1, %r0, 0; @%p1 bra R; cp.async.ca.shared.global [%r30], [%d1], 4; ${work} bra X;
    R: setp.ne.s32 %p3, %r0, 32; @%p3 bra X; L: ld.acquire.gpu.u32 %r1, [%d2]; setp.eq.s32 %p2, %r1, 0; @%p2 bra L;
    ld.shared.u32 %r2, [%r30]; X:`;
  const wait = 'cp.async.wait_all;';
  const [release, set] = ['st.release.gpu.u32 [%d2], 1;', 'st.relaxed.gpu.u32 [%d2], 1;'];
  const fence = 'fence.acq_rel.gpu;';
  for (const work of [`${wait} ${release}`, `${wait} ${fence} ${set}`])
    assert.equal((await check(handOver(work))).race.verdict, 'proved', work);
  for (const work of [
    release,
    `${release} ${wait}`,
    `${fence} ${wait} ${set}`,
    `${fence} ${set}`,
    'cp.async.commit_group; cp.async.wait_group 1; st.release.gpu.u32 [%d2], 1;',
  ])
    assert.notEqual((await check(handOver(work))).race.verdict, 'proved', work);
});
