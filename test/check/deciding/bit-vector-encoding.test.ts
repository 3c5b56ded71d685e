/** The bit-vector tier compared with enumeration of all threads. */
import { SolverTier } from '../../../src/check/deciding/solver-tier.ts';
import { Answers } from '../../../src/solver/answers.ts';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { complete } from '../../../src/base/coroutine.ts';
import { BitVectorEncoding, productModes } from '../../../src/check/deciding/bit-vector-encoding.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { findOverlap } from './brute-force.ts';
import { check, closeSolver, kernelOf, load, sharedSolver, store, verdicts } from '../kernel-text.ts';
import { describe, problemsOf, shown } from '../problem.ts';

after(closeSolver);

/** From `%r20` on, results of a few random instructions over the indices, and over n if requested. */
function bitKernel(random: Random, unknowns: readonly string[]): Kernel {
  const sources = ['%r0', '%r3', '%r6', ...unknowns];
  let text = 'mov.u32 %r3, %tid.y;';
  let next = 20;
  const operand = (): string =>
    random.chance(0.3) ? String(random.pick([0, 1, 2, 3, 4, 5, 7, 8, 15, -1, -2, 32, 33])) : random.pick(sources);
  const emit = (): void => {
    const result = `%r${next++}`;
    const two = random.pick([
      'xor.b32',
      'xor.b32',
      'and.b32',
      'or.b32',
      'add.s32',
      'sub.s32',
      'mul.lo.s32',
      'shl.b32',
      'shr.u32',
      'shr.s32',
      'min.s32',
      'max.u32',
      'mul.hi.u32',
      ...(unknowns.length > 0 ? ['div.u32', 'rem.u32', 'div.s32'] : []),
    ]);
    const one = random.pick(['popc.b32', 'clz.b32', 'brev.b32', 'not.b32', 'neg.s32']);
    if (random.chance(0.15)) text += `${one} ${result}, ${random.pick(sources)};`;
    else text += `${two} ${result}, ${random.pick(sources)}, ${operand()};`;
    sources.push(result);
  };
  const access = (scratch: number): string => {
    for (let count = random.between(1, 4); count > 0; count--) emit();
    const guard = random.chance(0.5);
    const comparison = random.pick(['lt.u32', 'lt.s32', 'eq.s32', 'ne.s32', 'ge.u32']);
    if (guard) text += `setp.${comparison} %p${scratch}, ${random.pick(sources)}, ${operand()};`;
    const body = store('%d1', sources[sources.length - 1]!, '%r0', scratch);
    text += guard ? body.replace(/st\.u32/, `@%p${scratch} st.u32`) : body;
    return '';
  };
  access(10);
  if (random.chance(0.3)) text += 'bar.sync 0;';
  access(11);
  return kernelOf(text);
}

async function decide(problem: ReturnType<typeof problemsOf>[number], units: number) {
  const { context, instances, obligations } = problem;
  const encoding = new BitVectorEncoding(context.symbolic, instances, context.dimensions, () => false);
  const tier = new SolverTier(encoding, [], { solver: sharedSolver, answers: new Answers(), units });
  const answers = [];
  for (const obligation of obligations) {
    const answer = await complete(tier.decide(encoding.overlap(obligation), productModes));
    answers.push({ obligation, answer });
  }
  return answers;
}

test('for conditions over the indices the solver agrees with enumeration of all threads', async () => {
  const counts = { proved: 0, open: 0, budget: 0 };
  for (let seed = 0; seed < 50; seed++) {
    const random = seededRandom(seed);
    const kernel = bitKernel(random, []);
    const block = random.pick([
      [4, 1, 1],
      [6, 1, 1],
      [4, 2, 1],
      [8, 1, 1],
    ] as const);
    for (const problem of problemsOf(kernel, { block, grid: [2, 1, 1] })) {
      for (const { obligation, answer } of await decide(problem, 400_000)) {
        counts[answer.kind]++;
        if (answer.kind === 'budget') continue;
        const assumes = answer.kind === 'proved' ? answer.assumes : [];
        const found = findOverlap(problem.context, problem.instances, obligation, assumes, random, 30_000);
        const where = `seed ${seed}, ${describe(problem, obligation)} ${shown(found)}`;
        if (answer.kind === 'proved') assert.equal(found, null, where);
        else assert.ok(found, where);
      }
    }
  }
  assert.ok(counts.proved > 40 && counts.open > 40 && counts.budget < 5, JSON.stringify(counts));
});

test('in loops the solver agrees with enumeration of all threads and iterations', async () => {
  const counts: Record<string, number> = { proved: 0, open: 0 };
  for (const [read, written] of [
    ['xor.b32 %r2, %r0, %r1;', 'xor.b32 %r3, %r0, %r1;'],
    ['add.s32 %r2, %r1, 1; xor.b32 %r2, %r2, %r0;', 'xor.b32 %r3, %r0, %r1;'],
    ['xor.b32 %r2, %r0, 5;', 'or.b32 %r3, %r0, 4;'],
  ] as const) {
    const kernel = kernelOf(`mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, 4; @%p1 bra X; ${read} ${load('%r4', '%d0', '%r2', 10)}
      bar.sync 0; ${written} ${store('%d0', '%r3', '%r4', 11)} add.s32 %r1, %r1, 1; bra L; X:`);
    const [problem] = problemsOf(kernel, { block: [4, 1, 1] });
    for (const { obligation, answer } of await decide(problem!, 400_000)) {
      counts[answer.kind]!++;
      const found = findOverlap(problem!.context, problem!.instances, obligation, [], seededRandom(1), 100_000);
      assert.equal(answer.kind, found ? 'open' : 'proved', `${describe(problem!, obligation)} ${shown(found)}`);
    }
  }
  assert.ok(counts['proved']! > 0 && counts['open']! > 0, JSON.stringify(counts));
});

test('a proof for any scalar and block size agrees with enumeration of the sizes that are tried', async () => {
  const counts = { proved: 0, open: 0, budget: 0 };
  for (let seed = 500; seed < 530; seed++) {
    const random = seededRandom(seed);
    const kernel = bitKernel(random, ['%r9', '%r5']);
    for (const problem of problemsOf(kernel, { block: null, launch: { block: null }, grid: [2, 1, 1] })) {
      for (const { obligation, answer } of await decide(problem, 100_000)) {
        counts[answer.kind]++;
        if (answer.kind !== 'proved') continue;
        const found = findOverlap(problem.context, problem.instances, obligation, answer.assumes, random, 3_000);
        assert.equal(found, null, `seed ${seed}, ${describe(problem, obligation)} ${shown(found)}`);
      }
    }
  }
  assert.ok(counts.proved > 15, JSON.stringify(counts));
});

const isPowerOfTwo = '(blockDim.x & (blockDim.x - 1)) == 0';
const any = { block: null, launch: { block: null } } as const;

/** `for (m = first; m < blockDim.x; m *= 2) { body; barrier }` with m in `%r20`. */
const doubling = (body: string): string =>
  `mov.u32 %r20, 1; L: setp.ge.u32 %p9, %r20, %r5; @%p9 bra X; ${body} bar.sync 0; shl.b32 %r20, %r20, 1; bra L; X:`;

test('a butterfly exchange with a growing mask is proved for block sizes that are powers of two', async () => {
  const body = (test: string): string =>
    doubling(
      `and.b32 %r21, %r0, %r20; setp.${test}.s32 %p1, %r21, 0; @!%p1 bra N; or.b32 %r22, %r0, %r20;
       ${load('%r23', '%d0', '%r22', 10)} ${store('%d0', '%r0', '%r23', 11)} ${store('%d0', '%r22', '%r0', 12)} N:`,
    );
  assert.equal(await verdicts(body('eq'), any), 'proved/proved');
  // Each thread of the other half is its own partner.
  assert.equal(await verdicts(body('eq').replace('or.b32 %r22', 'xor.b32 %r22'), any), 'proved/proved');
  const missing = body('eq').replace('bar.sync 0;', '');
  assert.equal(await verdicts(missing, any), 'race/proved');
  const everyone = body('eq').replace('@!%p1 bra N;', '');
  assert.equal(await verdicts(everyone, any), 'race/proved');
});

test('a property that only powers of two satisfy is proved only for them', async () => {
  // t + n - (t & (n - 1)) for threads of a block of n: always n if n is a power of two, otherwise not.
  const body = `sub.s32 %r1, %r5, 1; and.b32 %r2, %r0, %r1; sub.s32 %r3, %r0, %r2; add.s32 %r3, %r3, %r0; ${store('%d0', '%r3', '%r0', 10)}`;
  assert.equal(await verdicts(body, { ...any, assume: [isPowerOfTwo] }), 'proved/proved');
  assert.equal(await verdicts(body, { ...any, assume: [isPowerOfTwo.replace('- 1)) == 0', '- 1)) <= 0')] }), 'proved/proved');
  const between = `mul.lo.s32 %r1, %r6, %r5; or.b32 %r1, %r1, %r0; ${store('%d1', '%r1', '%r0', 10)}`;
  const grid = { grid: null, launch: { block: null, grid: null }, block: null } as const;
  const few = 'gridDim.x <= 4096';
  assert.equal(await verdicts(between, { ...grid, assume: [isPowerOfTwo, few] }), 'proved/proved');
  assert.equal(await verdicts(between, { ...grid, assume: [few] }), 'race/proved');
  // Factors of 20 and 14 bits, whose product is encoded only as a shift.
  const rows = `mul.lo.s32 %r1, %r6, %r9; or.b32 %r1, %r1, %r0; ${store('%d1', '%r1', '%r0', 10)}`;
  const sizes = ['n >= 64', 'n <= 4096', 'gridDim.x <= 524288'];
  const open = { grid: null, launch: { grid: null } } as const;
  assert.equal(await verdicts(rows, { ...open, assume: [...sizes, '(n & (n - 1)) == 0'] }), 'proved/proved');
  assert.notEqual(await verdicts(rows, { ...open, assume: sizes }), 'proved/proved');
  // The code may state it, too.
  const stated = (zero: string): string =>
    `sub.s32 %r20, %r9, 1; and.b32 %r21, %r9, %r20; setp.eq.s32 %p1, %r21, ${zero}; selp.u32 %r22, 1, 0, %p1;\n// selvage.assume %r22;\n${rows}`;
  assert.equal(await verdicts(stated('0'), { ...open, assume: sizes }), 'proved/proved');
  assert.notEqual(await verdicts(stated('64'), { ...open, assume: sizes }), 'proved/proved');
});

test('assumptions about bits may contradict each other or exclude an access', async () => {
  const body = `and.b32 %r1, %r9, 1; setp.eq.s32 %p1, %r1, 1; @!%p1 bra E; xor.b32 %r2, %r0, 5; ${store('%d0', '%r2', '%r0', 10)} E:`;
  const { contradiction } = await check(body, { assume: ['(n & 1) == 0', '(n & 3) == 1'] });
  assert.ok(contradiction);
  const even = await check(body, { ...any, assume: ['(n & 1) == 0'] });
  assert.equal(even.race.verdict, 'possible');
  assert.match(even.race.reason!, /unreachable under/);
  assert.equal(await verdicts(body, { ...any, assume: ['(n & 1) == 1'] }), 'proved/proved');
});

test('a wrapping expression is an index only as far as it is assumed not to wrap', async () => {
  // (b * n + t) ^ 1 of a grid of any size: equal for two threads if the sum wraps, in no representative grid.
  const body = `xor.b32 %r1, %r7, 1; ${store('%d1', '%r1', '%r0', 10)}`;
  const options = { block: null, grid: null, launch: { block: null, grid: null } } as const;
  assert.equal((await check(body, options)).race.verdict, 'possible');
  const { race } = await check(`${load('%r2', '%d2', '%r7', 11)} ${body}`, options);
  assert.equal(race.verdict, 'proved');
  assert.ok(race.assumptions!.some(({ kind, text }) => kind === 'no-wrap' && text.includes('threadIdx.x')));
});
