import { SolverTier } from '../../../src/check/deciding/solver-tier.ts';
import { Answers } from '../../../src/solver/answers.ts';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { complete } from '../../../src/base/coroutine.ts';
import { addressDifference } from '../../../src/check/obligations/difference.ts';
import { BitVectorEncoding } from '../../../src/check/deciding/bit-vector-encoding.ts';
import { enumerate } from '../../../src/check/deciding/enumerate.ts';
import { LinearEncoding } from '../../../src/check/deciding/linear-encoding.ts';
import type { AccessSide } from '../../../src/check/obligations/obligation.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import type { Term } from '../../../src/term/term.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import { randomKernel } from '../../fuzz/random-kernel.ts';
import { findOverlap } from './brute-force.ts';
import { closeSolver, kernelOf, load, sharedSolver, store } from '../kernel-text.ts';
import { describe, problemsOf, refutedIn, shown } from '../problem.ts';
import { sweep } from '../../run/sweep.ts';

after(closeSolver);

const evaluations = 300_000;
const assignments = 1000;

/** Two stores of random widths at random linear addresses, in a small block and grid; a scale makes addresses sparse. */
function linearKernel(random: Random, scale = 1): Kernel {
  const access = (scratch: number): string => {
    const factor = (): number => scale * random.pick([0, 1, 1, 2, 3, 4, 4, 8, 12, 16, -4, 32]);
    const width = random.pick([8, 16, 32, 32, 64]);
    const [index, offset] = [`%r${scratch}`, random.below(24)];
    return `mul.lo.s32 ${index}, %r0, ${factor()}; mad.lo.s32 ${index}, %r3, ${factor()}, ${index};
      mad.lo.s32 ${index}, %r6, ${factor()}, ${index}; cvt.s64.s32 %d${scratch}, ${index};
      add.s64 %d${scratch}, %d1, %d${scratch}; st.u${width} [%d${scratch}+${offset}], ${width === 64 ? '%d2' : width < 32 ? '%h1' : '%r0'};`;
  };
  return kernelOf(`mov.u32 %r3, %tid.y; ${access(20)} ${random.chance(0.3) ? 'bar.sync 0;' : ''} ${access(21)}`);
}

/** The offset of an access by a thread, if it depends on indices only. */
function addressOf({ target }: AccessSide, thread: readonly number[], block: readonly number[]): bigint {
  const valueOf = ({ atom }: Term): bigint | undefined =>
    atom?.kind === 'thread' || atom?.kind === 'block' ? BigInt((atom.kind === 'thread' ? thread : block)[atom.axis]!) : undefined;
  return BigInt.asIntN(64, evaluateTerm(target.offset, valueOf, new Map())!);
}

test('linear addresses: refuted pairs have no overlap, and enumeration of all threads finds each overlap', () => {
  const counts = { refuted: 0, none: 0, hits: 0 };
  for (let seed = 0; seed < 300; seed++) {
    const random = seededRandom(seed);
    const kernel = linearKernel(random, seed % 4 === 0 ? 7_000_000 : 1);
    const options = {
      block: random.pick([
        [4, 1, 1],
        [3, 2, 1],
        [4, 4, 1],
        [2, 1, 1],
      ] as const),
      grid: random.pick([
        [2, 1, 1],
        [3, 2, 1],
      ] as const),
    };
    for (const problem of problemsOf(kernel, options)) {
      const { context, instances, obligations } = problem;
      for (const obligation of obligations) {
        const difference = addressDifference(context.symbolic, instances, obligation);
        const refuted = null !== refutedIn(problem, obligation);
        const tried = enumerate(context.symbolic, instances, context.dimensions, obligation, difference, evaluations);
        const found = findOverlap(context, instances, obligation, [], random, 20_000);
        const where = `seed ${seed}, ${describe(problem, obligation)} ${shown(found)}`;
        assert.ok(!(refuted && found), where);
        assert.equal(tried.kind, found ? 'hits' : 'none', where);
        if (refuted) counts.refuted++;
        counts[found ? 'hits' : 'none']++;
        if (tried.kind !== 'hits') continue;
        assert.ok(tried.exact);
        for (const { firstThread, secondThread, firstBlock, secondBlock } of tried.hits) {
          const isOfBlock = obligation.scope === 'block';
          assert.equal(String(firstBlock) === String(secondBlock), isOfBlock, where);
          assert.ok(!isOfBlock || String(firstThread) !== String(secondThread), where);
          const [a, b] = [addressOf(obligation.first, firstThread, firstBlock), addressOf(obligation.second, secondThread, secondBlock)];
          assert.ok(a < b + BigInt(obligation.second.access.bytes) && b < a + BigInt(obligation.first.access.bytes), where);
        }
      }
    }
  }
  // The tier decides more than half of all pairs.
  assert.ok(counts.refuted > counts.none / 3 && counts.hits > 100, JSON.stringify(counts));
});

test('threads of one warp or of two, maybe one thread, and blocks of different clusters', async () => {
  const solver = await sharedSolver();
  const counts: Record<string, number> = { none: 0, hits: 0 };
  for (let seed = 2000; seed < 2040; seed++) {
    const random = seededRandom(seed);
    const kernel = linearKernel(random);
    const ofBlock = random.chance(0.6);
    const options = ofBlock
      ? {
          block: random.pick([
            [40, 1, 1],
            [16, 3, 1],
            [5, 4, 3],
            [3, 1, 22],
          ] as const),
          grid: [1, 1, 1] as const,
        }
      : {
          block: [2, 1, 1] as const,
          grid: random.pick([
            [4, 1, 1],
            [2, 6, 1],
            [6, 2, 2],
          ] as const),
        };
    const problem = problemsOf(kernel, options)[ofBlock ? 0 : 1]!;
    const { context, instances } = problem;
    const { symbolic, dimensions } = context;
    for (const plain of problem.obligations) {
      const obligation = ofBlock
        ? { ...plain, ...random.pick([{ warp: 'same' }, { warp: 'same', mayBeOne: true }, { warp: 'different' }] as const) }
        : {
            ...plain,
            betweenClusters: random.pick([
              [2, 1, 1],
              [2, 2, 1],
              [1, 2, 2],
            ] as const),
          };
      const found = findOverlap(context, instances, obligation, [], random, 20_000);
      const difference = addressDifference(symbolic, instances, obligation);
      const tried = enumerate(symbolic, instances, dimensions, obligation, difference, evaluations);
      const where = `seed ${seed}, ${obligation.warp}, ${describe(problem, obligation)} ${shown(found)}`;
      assert.equal(tried.kind, found ? 'hits' : 'none', where);
      counts[tried.kind]!++;
      for (const encoding of [
        new LinearEncoding(symbolic, instances, dimensions),
        new BitVectorEncoding(symbolic, instances, dimensions, () => false),
      ]) {
        const tier = new SolverTier(encoding, [], { solver: async () => solver, answers: new Answers(), units: 200_000 });
        const answer = await complete(tier.decide(encoding.overlap(obligation)));
        // The solver tiers do not distinguish clusters.
        if (found || ofBlock) assert.equal(answer.kind, found ? 'open' : 'proved', where);
      }
    }
  }
  assert.ok(
    Object.values(counts).every((count) => count > 25),
    JSON.stringify(counts),
  );
});

test('random kernels: pairs that any tier proves have no overlap', async () => {
  const solver = await sharedSolver();
  const counts: Record<string, number> = { digits: 0, enumeration: 0, solver: 0 };
  for (let seed = 0; seed < sweep(30, 60); seed++) {
    const random = seededRandom(seed);
    const kernel = lowerModule(parsePtx(randomKernel(random)).module).kernels[0]!;
    const options = random.chance(0.25)
      ? { block: null, grid: null }
      : ({
          block: random.pick([
            [4, 1, 1],
            [3, 1, 1],
            [8, 1, 1],
          ] as const),
          grid: [2, 1, 1],
        } as const);
    for (const problem of problemsOf(kernel, options)) {
      const { context, instances, obligations } = problem;
      const { symbolic, dimensions } = context;
      const encoding = new LinearEncoding(symbolic, instances, dimensions);
      const tier = new SolverTier(encoding, [], { solver: async () => solver, answers: new Answers(), units: 30_000 });
      let queries = 0;
      for (const obligation of obligations) {
        const difference = addressDifference(symbolic, instances, obligation);
        const tried = enumerate(symbolic, instances, dimensions, obligation, difference, evaluations);
        const check = (by: string, assumes: Parameters<typeof findOverlap>[3]): void => {
          const found = findOverlap(context, instances, obligation, assumes, random, assignments);
          counts[by]!++;
          assert.equal(found, null, `seed ${seed}, by ${by}, ${describe(problem, obligation)}: ${shown(found)}`);
        };
        const assumed = refutedIn(problem, obligation);
        if (assumed) check('digits', assumed);
        if (tried.kind === 'none') check('enumeration', difference.assumes);
        if (tried.kind !== 'none' && queries++ < 6) {
          const answer = await complete(tier.decide(encoding.overlap(obligation)));
          if (answer.kind === 'proved') check('solver', answer.assumes);
        }
      }
    }
  }
  for (const [tier, count] of Object.entries(counts)) assert.ok(count > 30, `${tier}: ${count}`);
});

test('the solver agrees with enumeration of all threads where that is feasible', async () => {
  const solver = await sharedSolver();
  let decided = 0;
  for (let seed = 1000; seed < 1030; seed++) {
    const kernel = linearKernel(seededRandom(seed));
    for (const problem of problemsOf(kernel, { block: [4, 2, 1], grid: [2, 1, 1] })) {
      const { context, instances, obligations } = problem;
      const encoding = new LinearEncoding(context.symbolic, instances, context.dimensions);
      const tier = new SolverTier(encoding, [], { solver: async () => solver, answers: new Answers(), units: 200_000 });
      for (const obligation of obligations) {
        const answer = await complete(tier.decide(encoding.overlap(obligation)));
        const difference = addressDifference(context.symbolic, instances, obligation);
        const { kind } = enumerate(context.symbolic, instances, context.dimensions, obligation, difference, evaluations);
        assert.equal(answer.kind === 'proved', kind === 'none', describe(problem, obligation));
        decided++;
      }
    }
  }
  assert.ok(decided > 60);
});

test('the case distinction for iterations that differ by one is made only once', () => {
  // Element 4 (k + 1) that an iteration reads is element 4 of the previous iteration's write only if k = 0.
  const kernel = kernelOf(`mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, 6; @%p1 bra X;
    shl.b32 %r2, %r1, 2; ${load('%r4', '%d0', '%r2', 10)}
    bar.sync 0; mov.u32 %r3, 4; ${store('%d0', '%r3', '%r0', 11)} add.s32 %r1, %r1, 1; bra L; X:`);
  const [block] = problemsOf(kernel, { block: [4, 1, 1] });
  const { context, instances, obligations } = block!;
  const next = obligations.filter(({ first, second }) => first.reading.rounds.join() !== second.reading.rounds.join());
  assert.ok(next.length > 0);
  for (const obligation of next) {
    const difference = addressDifference(context.symbolic, instances, obligation);
    const tried = enumerate(context.symbolic, instances, context.dimensions, obligation, difference, evaluations);
    const found = findOverlap(context, instances, obligation, [], seededRandom(1), 100_000);
    assert.equal(tried.kind === 'hits', found !== null, shown(found));
    assert.equal(tried.kind, 'hits');
  }
});

test('without enough evaluations enumeration does not start', () => {
  const [block] = problemsOf(kernelOf(store('%d0', '%r0', '%r0', 10)), { block: [64, 1, 1] });
  const { context, instances, obligations } = block!;
  const difference = addressDifference(context.symbolic, instances, obligations[0]!);
  const within = (budget: number): string =>
    enumerate(context.symbolic, instances, context.dimensions, obligations[0]!, difference, budget).kind;
  // Both sides of each of 64 threads, and one combination of the values that they share.
  assert.equal(within(129), 'none');
  assert.equal(within(128), 'unable');
});

test('enumeration drops conditions that it cannot evaluate, and leaves addresses open', () => {
  const tried = (body: string): ReturnType<typeof enumerate> => {
    const [block] = problemsOf(kernelOf(body), { block: [16, 1, 1] });
    const { context, instances, obligations } = block!;
    const [first] = obligations;
    const difference = addressDifference(context.symbolic, instances, first!);
    return enumerate(context.symbolic, instances, context.dimensions, first!, difference, evaluations);
  };
  const reversed = 'brev.b32 %r1, %r0; shr.u32 %r1, %r1, 28;';
  const found = tried(`${reversed} ${store('%d0', '%r1', '%r0', 10)}`);
  assert.equal(found.kind === 'unable' && found.reason, 'brev of a value');
  const half = `shr.u32 %r2, %r0, 1; ${store('%d0', '%r2', '%r0', 10)}`;
  const guard = (condition: string, body: string): string => `${condition} @%p1 bra E; ${body} E:`;
  for (const [body, kind, isExact] of [
    [half, 'hits', true],
    [guard('setp.gt.u32 %p1, %r0, 3;', half), 'hits', true],
    [guard('setp.gt.u32 %p1, %r0, 0;', half), 'none', true],
    [guard(`${reversed} setp.gt.u32 %p1, %r1, 3;`, half), 'hits', false],
    [guard(`${reversed} setp.gt.u32 %p1, %r1, 3;`, store('%d0', '%r0', '%r0', 10)), 'none', false],
    // The scalar is not enumerated.
    [guard('setp.gt.s32 %p1, %r0, %r9;', half), 'hits', false],
  ] as const) {
    const one = tried(body);
    assert.equal(one.kind, kind, body);
    if (one.kind === 'hits') assert.equal(one.exact, isExact, body);
  }
});
