/** Decisions of one run of random kernels, compared with happens-before by its definition, by enumeration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { complete } from '../../../src/base/coroutine.ts';
import { aliasing } from '../../../src/check/context/aliasing.ts';
import { intervalsOf } from '../../../src/check/intervals.ts';
import { racingPairs } from '../../../src/check/race-pairs.ts';
import { isDecidedByRun } from '../../../src/check/witness/deciding-run.ts';
import { sweep } from '../../run/sweep.ts';
import { contextOf, load, store } from '../kernel-text.ts';

const threads = 64;

/** An index of shared memory as a function of the thread index: code for `%r` of a number, and its value here. */
interface Index {
  readonly text: (register: string) => string;
  readonly at: (thread: number) => number;
}

interface StagedAccess {
  readonly kind: 'read' | 'write';
  readonly index: Index;
  readonly takesPart: (thread: number) => boolean;
}

type Stage = StagedAccess | { readonly kind: 'warp' | 'block' };

function drawIndex(pick: <Choice>(choices: readonly Choice[]) => Choice): Index {
  const [bit, distance, shift, mask] = [pick([1, 2, 8, 16, 32]), pick([1, 31, 32, 33]), pick([1, 2, 5]), pick([7, 31, 48])];
  return pick<Index>([
    { text: (register) => `mov.u32 ${register}, %r0;`, at: (thread) => thread },
    { text: (register) => `xor.b32 ${register}, %r0, ${bit};`, at: (thread) => thread ^ bit },
    { text: (register) => `add.u32 ${register}, %r0, ${distance};`, at: (thread) => thread + distance },
    { text: (register) => `shr.u32 ${register}, %r0, ${shift};`, at: (thread) => thread >> shift },
    { text: (register) => `and.b32 ${register}, %r0, ${mask};`, at: (thread) => thread & mask },
  ]);
}

/** Accesses of one shared array, some by a part of the block, with barriers of warps and of the block between. */
function drawKernel(random: Random): { readonly stages: readonly Stage[]; readonly body: string } {
  const pick = <Choice>(choices: readonly Choice[]): Choice => choices[random.below(choices.length)]!;
  const stages: Stage[] = [];
  const lines: string[] = [];
  for (let number = 0; number < 5 + random.below(5); number++) {
    const kind = pick(['read', 'write', 'read', 'write', 'warp', 'block', 'block'] as const);
    if (kind === 'warp' || kind === 'block') {
      stages.push({ kind });
      lines.push(kind === 'warp' ? 'bar.warp.sync 0xffffffff;' : 'bar.sync 0;');
      continue;
    }
    const index = drawIndex(pick);
    const first = pick([0, 0, 0, 16, 32, 63]);
    stages.push({ kind, index, takesPart: (thread) => thread >= first });
    const [place, value, scratch] = [`%r${10 + 2 * number}`, `%r${11 + 2 * number}`, 20 + 2 * number];
    const guard = `setp.lt.u32 %p${number + 1}, %r0, ${first}; @%p${number + 1} bra BEHIND${number};`;
    const access = kind === 'write' ? store('%d0', place, '%r0', scratch) : load(value, '%d0', place, scratch);
    // An unused value is not loaded.
    const use = `mul.wide.u32 %d${scratch + 1}, %r0, 4; add.s64 %d${scratch + 1}, %d1, %d${scratch + 1}; st.global.u32 [%d${scratch + 1}+${4096 * number}], ${value};`;
    lines.push(`${guard} ${index.text(place)} ${access} ${kind === 'read' ? use : ''} BEHIND${number}:`);
  }
  return { stages, body: lines.join('\n') };
}

/** Whether two threads access one element, one of them writes, and no barrier of both is in between. */
function races(stages: readonly Stage[]): boolean {
  return stages.some((first, at) =>
    stages.slice(at).some((second, distance) => {
      if (!('index' in first) || !('index' in second) || (first.kind === 'read' && second.kind === 'read')) return false;
      const between = stages.slice(at, at + distance).map(({ kind }) => kind);
      if (between.includes('block')) return false;
      const all = Array.from({ length: threads }, (_, thread) => thread);
      return all.some((one) =>
        all.some(
          (other) =>
            one !== other &&
            first.takesPart(one) &&
            second.takesPart(other) &&
            first.index.at(one) === second.index.at(other) &&
            !(one >> 5 === other >> 5 && between.includes('warp')),
        ),
      );
    }),
  );
}

test('a run decides that random stages do not race if and only if they do not', async () => {
  const random = seededRandom(7);
  const counts = { proved: 0, racing: 0 };
  for (let number = 0; number < sweep(60, 2000); number++) {
    const { stages, body } = drawKernel(random);
    const context = contextOf(body);
    const { kernel, dependences, loaded } = context;
    const uniformity = inferUniformity(kernel, dependences, loaded, new Set());
    const intervals = intervalsOf(context, { block: uniformity, grid: uniformity }, false);
    const pairs = racingPairs(context, intervals, aliasing(context).mayAlias).pairs.filter(({ obligations }) =>
      obligations.every(({ first, second }) => first.target.base.key === second.target.base.key),
    );
    if (pairs.length === 0) continue;
    const isRacing = races(stages);
    assert.equal(await complete(isDecidedByRun(context, pairs)), !isRacing, body);
    counts[isRacing ? 'racing' : 'proved']++;
  }
  assert.ok(counts.proved >= 10 && counts.racing >= 10, JSON.stringify(counts));
});
