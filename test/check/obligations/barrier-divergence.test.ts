import type { KernelContext } from '../../../src/check/context/facts.ts';
import { pointsOf } from '../../../src/analysis/values/program-point.ts';
import { enumerateBranch } from '../../../src/check/deciding/enumerate-branch.ts';
import type { Dim3 } from '../../../src/base/dim3.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFullBarrier } from '../../../src/analysis/barriers/barrier-interval.ts';
import { controlDependence } from '../../../src/analysis/values/control-dependence.ts';
import { inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { type DivergenceObligation, divergenceObligations, isClusterBarrier } from '../../../src/check/obligations/barrier-divergence.ts';
import { warpObligations } from '../../../src/check/obligations/warp-agreement.ts';
import { Instances, type TierContext } from '../../../src/check/obligations/instance.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import { contextOf, kernelOf, store } from '../kernel-text.ts';

interface Question {
  readonly context: KernelContext;
  readonly tier: TierContext;
  readonly obligations: readonly DivergenceObligation[];
}

function ask(body: string, block: Dim3, grid: Dim3): Question {
  const context = contextOf(body, { block, grid });
  const { kernel, symbolic, dimensions, loaded } = context;
  const dependences = controlDependence(kernel);
  const uniformity = inferUniformity(kernel, dependences, loaded, new Set());
  return {
    context,
    tier: {
      symbolic,
      dimensions,
      instances: new Instances(symbolic, uniformity, 'block'),
      evaluations: 100_000,
      stated: [],
    },
    obligations: divergenceObligations(symbolic, dependences, uniformity, context.isBlockBarrier),
  };
}

const end = store('%d1', '%r7', '%r0', 60);

/** A random condition on the thread and block in `%p1`. */
function randomCondition(random: Random): string {
  const factor = (): number => random.pick([0, 0, 1, 1, 2, 3, 32, -1]);
  const wrap = random.pick(['', 'and.b32 %r10, %r10, 31;', 'shr.u32 %r10, %r10, 5;', 'div.s32 %r10, %r10, 33;', 'cvt.s32.s8 %r10, %r10;']);
  const comparison = random.pick(['lt', 'ge', 'eq', 'ne']);
  return `mov.u32 %r4, %tid.y; mul.lo.s32 %r10, %r0, ${factor()}; mad.lo.s32 %r10, %r4, ${factor()}, %r10;
    mad.lo.s32 %r10, %r6, ${factor()}, %r10; ${wrap} setp.${comparison}.${random.pick(['s32', 'u32'])} %p1, %r10, ${random.pick([0, 1, 2, 31, 32, 33, 64, 96])};`;
}

test('conditions agree within a block or a warp exactly if enumeration of all threads finds them uniform', () => {
  const counts = { uniform: 0, varying: 0 };
  for (let seed = 0; seed < 400; seed++) {
    const random = seededRandom(seed);
    const block = random.pick<Dim3>([
      [64, 1, 1],
      [33, 1, 1],
      [16, 4, 1],
      [40, 2, 1],
    ]);
    const grid: Dim3 = [3, 1, 1];
    const question = ask(`${randomCondition(random)} @%p1 bra X; bar.sync 0; ${end} X: ${end}`, block, grid);
    for (const obligation of question.obligations) {
      const value = (x: number, y: number, number: number): bigint =>
        evaluateTerm(
          obligation.condition,
          (leaf) => BigInt(leaf.atom!.kind === 'block' ? number : (leaf.atom as { axis: number }).axis === 0 ? x : y),
          new Map(),
        )!;
      for (const group of ['block', 'warp'] as const) {
        let isUniform = true;
        for (let number = 0; number < grid[0]; number++) {
          const groups = new Map<number, bigint>();
          for (let thread = 0; thread < block[0] * block[1]; thread++) {
            const key = group === 'block' ? 0 : thread >> 5;
            const of = value(thread % block[0], Math.floor(thread / block[0]), number);
            isUniform &&= (groups.get(key) ?? of) === of;
            groups.set(key, of);
          }
        }
        const { kind } = enumerateBranch(question.tier, obligation, group === 'block' ? group : Array.from({ length: 32 }, () => 0));
        assert.equal(kind, isUniform ? 'uniform' : 'varying', `seed ${seed}, ${group}`);
        counts[isUniform ? 'uniform' : 'varying']++;
      }
    }
  }
  assert.ok(counts.uniform > 50 && counts.varying > 50, JSON.stringify(counts));
});

test('a branch counts only for threads that reach it', () => {
  // The inner condition distinguishes threads that the outer one has excluded.
  const body = `setp.ge.s32 %p1, %r0, 32; @%p1 bra X; setp.lt.s32 %p2, %r0, 32; @!%p2 bra X; bar.sync 0; ${end} X: ${end}`;
  const { tier, obligations } = ask(body, [64, 1, 1], [1, 1, 1]);
  const kinds = obligations.map((obligation) => enumerateBranch(tier, obligation, 'block').kind);
  assert.deepEqual(kinds.sort(), ['uniform', 'varying']);
});

test('a condition over values that are not enumerated is left open', () => {
  const kindOf = (condition: string): string => {
    const { tier, obligations } = ask(`${condition} @%p1 bra X; bar.sync 0; ${end} X: ${end}`, [64, 1, 1], [1, 1, 1]);
    return enumerateBranch(tier, obligations[0]!, 'block').kind;
  };
  assert.equal(kindOf('setp.lt.s32 %p1, %r0, %r9;'), 'unable');
  assert.equal(kindOf('ld.u32 %r1, [%d2]; add.s32 %r1, %r1, %r0; setp.lt.s32 %p1, %r1, 5;'), 'unable');
  assert.equal(kindOf('setp.lt.s32 %p1, %r0, 5;'), 'varying');
  assert.equal(kindOf('setp.lt.s32 %p1, %r0, 500;'), 'uniform');
});

test('uniform branches produce no obligations', () => {
  assert.equal(ask(`setp.lt.s32 %p1, %r9, 5; @%p1 bra X; bar.sync 0; ${end} X: ${end}`, [64, 1, 1], [1, 1, 1]).obligations.length, 0);
});

test('an early exit reaches the end without a barrier or code of other threads', () => {
  const early = (body: string): boolean[] => ask(body, [64, 1, 1], [1, 1, 1]).obligations.map(({ earlyExit }) => earlyExit);
  assert.deepEqual(early(`setp.ge.s32 %p1, %r0, 40; @%p1 ret; bar.sync 0; ${end}`), [true]);
  // Code on its own path to the end does not matter.
  assert.deepEqual(early(`setp.ge.s32 %p1, %r0, 40; @%p1 bra E; bar.sync 0; ${end} ret; E: ${store('%d2', '%r0', '%r0', 61)}`), [true]);
  assert.deepEqual(early(`setp.ge.s32 %p1, %r0, 40; @%p1 bra E; bar.sync 0; E: ${end}`), [false]);
  assert.deepEqual(early(`setp.ge.s32 %p1, %r0, 40; @%p1 bra E; bar.sync 0; ${end} ret; E: bar.sync 0; ${end}`), [false, false]);
  assert.deepEqual(early(`setp.ge.s32 %p1, %r0, 40; @%p1 bra E; bar.sync 0; ${end} ret; E: bra E;`), [false]);
});

test('barriers of the whole block are obligations, and so are barriers that are not modelled', () => {
  const kernel = kernelOf(`bar.sync 0; barrier.sync 0; bar.red.popc.u32 %r1, 0, %p1; bar.sync 1; bar.sync 0, 32;
    bar.arrive 0, 64; bar.warp.sync -1; barrier.cluster.arrive; barrier.cluster.wait; ${end}`);
  assert.equal(pointsOf(kernel, isFullBarrier).length, 3);
  assert.equal(kernel.blocks.flatMap(({ instructions }) => instructions.filter(isClusterBarrier)).length, 2);
});

test('whether a warp executes a collective together depends on the branches around it', () => {
  const body = `setp.lt.s32 %p1, %r0, 7; @%p1 bra X; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; X: ${end}`;
  const obligationsOf = (code: string) => {
    const { symbolic, kernel, loaded, dimensions } = contextOf(code);
    const dependences = controlDependence(kernel);
    const uniformity = inferUniformity(kernel, dependences, loaded, new Set());
    return warpObligations(symbolic, dependences, uniformity, dimensions);
  };
  const [obligation, ...rest] = obligationsOf(body);
  assert.equal(rest.length, 0);
  assert.equal(obligation!.instruction.operation.effect.kind, 'shuffle');
});
