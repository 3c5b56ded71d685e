/** Random pipelines of `cp.async`: what is proved no run sees racing, and what runs see racing is found. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { checkKernel } from '../../../src/check/check-kernel.ts';
import { kernelContext } from '../../../src/check/context.ts';
import { replay } from '../../../src/check/replay.ts';
import { closeSolver, kernelOf, pointersAndNumbers, requestFor } from './kernel-text.ts';

after(closeSolver);

const threads = 64;
const roundsToRun = [0, 1, 2, 5];

type Random = (below: number) => number;

/** A random kernel body: statements before, in and behind a loop of `n` rounds, with a loop of three in some of them. */
function randomPipeline(random: Random): string {
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
    } else if (kind < 12) lines.push('bar.sync 0;');
    else if (random(40) === 0) lines.push('setp.lt.u32 %p4, %r0, 32; @%p4 bra X;');
    else {
      const element = (['own', 'mirrored', 'neighbour'] as const)[random(3)]!;
      if (element === 'neighbour' && random(2) === 0) lines.push('bar.warp.sync -1;');
      lines.push(`ld.shared.u32 %r4, [${address(round, element)}];`);
    }
  };
  const statements = (count: number, round: string | null): void => {
    for (let i = 0; i < count; i++) statement(round);
  };

  lines.push('sub.s32 %r70, 63, %r0; cvt.u32.u64 %r71, %d3; xor.b32 %r74, %r0, 1; mov.u32 %r72, 0;');
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
  const kernel = kernelOf(body);
  const request = requestFor(kernel, { scalars: { 2: BigInt(rounds) } });
  const { fields } = kernelContext(request);
  const scenario = {
    block: [threads, 1, 1] as const,
    grid: [1, 1, 1] as const,
    sharedBytes: 0,
    scalar: () => BigInt(rounds),
    blocks: [0],
    contents: 1,
    zeroed: new Set<string>(),
  };
  return replay(kernel, pointersAndNumbers, fields, request.launch, scenario, 1_000_000).races.length > 0;
}

/** Verdicts on `count` random pipelines, each held against runs. */
async function compare(count: number, seed: number, rounds: number | null): Promise<Record<string, number>> {
  const random = seededRandom(seed);
  const tally: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const body = randomPipeline(random.below);
    const scalars = rounds === null ? {} : { 2: BigInt(rounds) };
    const { race, divergence } = await checkKernel(requestFor(kernelOf(body), { scalars }));
    const seen = (rounds === null ? roundsToRun : [rounds]).filter((number) => races(body, number));
    const key = `${race.verdict}, ${seen.length > 0 ? 'racy' : 'clean'}`;
    tally[key] = (tally[key] ?? 0) + 1;
    if (race.verdict === 'proved') assert.deepEqual(seen, [], body);
    if (rounds !== null && race.verdict === 'race') assert.notEqual(seen.length, 0, body);
    assert.notEqual(divergence.verdict, 'unknown', body);
  }
  return tally;
}

test('random pipelines of a known number of rounds are decided', async () => {
  const tally = await compare(150, 1, 5);
  console.log(tally);
});

test('random pipelines of any number of rounds', async () => {
  const tally = await compare(60, 2, null);
  console.log(tally);
});
