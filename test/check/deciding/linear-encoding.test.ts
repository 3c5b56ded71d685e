/** Products of unknowns in linear integers: rows, steps and stated divisors, without the tiers that are tried before. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { complete } from '../../../src/base/coroutine.ts';
import { SolverTiers } from '../../../src/check/deciding/solver-tiers.ts';
import { uniformityOf } from '../../../src/check/warp-check.ts';
import { type CheckOptions, closeSolver, kernelOf, load, store } from '../kernel-text.ts';
import { problemsOf } from '../problem.ts';

after(closeSolver);

/** The answers for the obligations of a kernel in a scope, each listed once. */
async function answers(body: string, scope: 'block' | 'grid', options: CheckOptions): Promise<string> {
  const { context, obligations } = problemsOf(kernelOf(body), options)[scope === 'block' ? 0 : 1]!;
  const { encoding, tier } = new SolverTiers(context, new Map()).linear(scope, uniformityOf(context, new Set()));
  const kinds = new Set<string>();
  for (const obligation of obligations) kinds.add((await complete(tier.decide(encoding.overlap(obligation)))).kind);
  return [...kinds].sort().join();
}

const anyGrid: CheckOptions = { block: [32, 1, 1], grid: null, launch: { grid: null } };
const anyBlock: CheckOptions = { block: null, launch: { block: null } };
const leader = (body: string): string => `setp.ne.s32 %p1, %r0, 0; @%p1 bra E; ${body} E:`;

/** `a[(z * height + y) * width + x]` by the index of the block, for thread 0. */
const rows = (height: string, width: string): string =>
  leader(`mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z; mov.u32 %r3, ${height}; mov.u32 %r4, ${width};
    mad.lo.s32 %r1, %r2, %r3, %r1; mad.lo.s32 %r1, %r1, %r4, %r6; ${store('%d1', '%r1', '%r0', 10)}`);
/** `b[first] = a[second]`, with `%r20` and `%r21` as indices of one array. */
const pair = (code: string): string => `${code} ${load('%r22', '%d1', '%r21', 10)} ${store('%d1', '%r20', '%r22', 11)}`;

test('rows of symbolic sizes do not overlap, unless a size is of another axis', async () => {
  assert.equal(await answers(rows('%nctaid.y', '%nctaid.x'), 'grid', anyGrid), 'proved');
  assert.equal(await answers(rows('%nctaid.x', '%nctaid.y'), 'grid', anyGrid), 'open');
  // Threads of a block of any size: z rows of y rows.
  const threads = `mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ntid.y; mad.lo.s32 %r1, %r2, %r3, %r1; mad.lo.s32 %r1, %r1, %r5, %r0;`;
  assert.equal(await answers(`${threads} ${store('%d1', '%r1', '%r0', 10)}`, 'block', anyBlock), 'proved');
  assert.equal(await answers(`${threads} shr.u32 %r1, %r1, 1; ${store('%d1', '%r1', '%r0', 10)}`, 'block', anyBlock), 'open');
});

test('products of one size are compared if they are counted in other units', async () => {
  const options: CheckOptions = { block: [32, 1, 1], assume: ['n >= 1', 'm >= 1'] };
  for (const [code, expected] of [
    // 2 t n and (2 t + 1) n; t n and (t + 1) n.
    ['shl.b32 %r1, %r0, 1; mul.lo.s32 %r20, %r1, %r9; add.s32 %r2, %r1, 1; mul.lo.s32 %r21, %r2, %r9;', 'proved'],
    ['mul.lo.s32 %r20, %r0, %r9; add.s32 %r2, %r0, 1; mul.lo.s32 %r21, %r2, %r9;', 'open,proved'],
    // t (n + m) and t n + t m, which are equal.
    ['add.s32 %r1, %r9, %r8; mul.lo.s32 %r20, %r0, %r1; mul.lo.s32 %r2, %r0, %r9; mad.lo.s32 %r21, %r0, %r8, %r2;', 'proved'],
    // t (n + m) and t n, which are equal for some n and m.
    ['add.s32 %r1, %r9, %r8; mul.lo.s32 %r20, %r0, %r1; mul.lo.s32 %r21, %r0, %r9;', 'open,proved'],
    // t n + n - 1 and (t + 2) n, which are disjoint in a thread.
    [
      'mad.lo.s32 %r20, %r0, %r9, %r9; sub.s32 %r20, %r20, 1; add.s32 %r1, %r0, 1; mul.lo.s32 %r21, %r1, %r9; add.s32 %r21, %r21, %r9;',
      'open,proved',
    ],
  ] as const)
    assert.equal(await answers(pair(code), 'block', options), expected, code);
});

test('a product is a multiple of a stated divisor of its factor', async () => {
  const kind = async (assume: readonly string[], rest: bigint): Promise<string> => {
    const [{ context }] = problemsOf(kernelOf(store('%d1', '%r9', '%r8', 10)), { assume }) as [ReturnType<typeof problemsOf>[number]];
    const { store: terms } = context.symbolic;
    const { encoding, tier } = new SolverTiers(context, new Map()).linear('block', uniformityOf(context, new Set()));
    const size = terms.atom(32, { kind: 'parameter', index: 2, offset: 0, bytes: 4 });
    const other = terms.atom(32, { kind: 'parameter', index: 3, offset: 0, bytes: 4 });
    const product = terms.mul(32, terms.atom(32, { kind: 'thread', axis: 0 }), size);
    const isEqual = terms.equal(product, terms.sum(32, rest, [[other, 4n]]));
    return (await complete(tier.decide(encoding.truth(isEqual, { side: 1, rounds: [] })))).kind;
  };
  assert.equal(await kind(['n % 4 == 0'], 1n), 'proved');
  assert.equal(await kind(['n % 4 == 0'], 2n), 'proved');
  assert.equal(await kind(['n % 4 == 0'], 4n), 'open');
  assert.equal(await kind(['n % 2 == 0'], 2n), 'open');
  assert.equal(await kind(['m % 4 == 0'], 1n), 'open');
});

test('a thread that loads one location twice gets one value, unless something may be written in between', async () => {
  const options: CheckOptions = { block: [32, 1, 1] };
  const twice = (between: string, second = '%r0'): string =>
    `${load('%r20', '%d2', '%r0', 10)} ${between} ${load('%r21', '%d2', second, 11)} sub.s32 %r22, %r20, %r21; add.s32 %r22, %r22, %r0;
     ${store('%d1', '%r22', '%r0', 12)} st.global.u32 [%d2+4096], %r0;`;
  const ofStore = async (body: string): Promise<string> => {
    const [{ context, obligations }] = problemsOf(kernelOf(body), options) as [ReturnType<typeof problemsOf>[number]];
    const { encoding, tier } = new SolverTiers(context, new Map()).linear('block', uniformityOf(context, new Set()));
    const own = obligations.find(({ first, second }) => first.access === second.access && first.target.base.key.startsWith('parameter0'))!;
    return (await complete(tier.decide(encoding.overlap(own)))).kind;
  };
  assert.equal(await ofStore(twice('')), 'proved');
  assert.equal(await ofStore(twice('add.s32 %r2, %r0, 1;', '%r2')), 'open');
  assert.equal(await ofStore(twice('bar.sync 0;')), 'open');
  assert.equal(await ofStore(twice('st.global.u32 [%d2+4], %r0;')), 'open');
});

test('elements that are stated to be distinct, or to be in a range', async () => {
  const scatter = `${load('%r20', '%d2', '%r0', 10)} ${store('%d1', '%r20', '%r0', 11)}`;
  const own: CheckOptions = { block: [32, 1, 1] };
  assert.equal(await answers(scatter, 'block', { ...own, assume: ['distinct(b)'] }), 'proved');
  assert.equal(await answers(scatter, 'block', own), 'open');
  const half = `shr.u32 %r2, %r0, 1; ${load('%r20', '%d2', '%r2', 10)} ${store('%d1', '%r20', '%r0', 11)}`;
  assert.equal(await answers(half, 'block', { ...own, assume: ['distinct(b)'] }), 'open');
  const guarded = `${load('%r20', '%d2', '%r0', 10)} setp.ge.s32 %p1, %r20, %r9; @!%p1 bra E; ${store('%d1', '%r9', '%r0', 11)} E:`;
  assert.equal(await answers(guarded, 'block', { ...own, assume: ['b[*] in 0..n - 1'] }), 'proved');
  assert.equal(await answers(guarded, 'block', { ...own, assume: ['b[*] in 0..n'] }), 'open');
});
