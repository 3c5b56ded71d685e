/** Queries with the premises that they need, against all premises at once; and queries that differ only in names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { complete } from '../../../src/base/coroutine.ts';
import { ProductLemma } from '../../../src/check/deciding/product-lemma.ts';
import { type SolverQuery, type ObligationResult, SolverTier } from '../../../src/check/deciding/solver-tier.ts';
import { meetsStated, SolverTiers } from '../../../src/check/deciding/solver-tiers.ts';
import { uniformityOf } from '../../../src/check/warp-check.ts';
import { contextOf, pointersAndNumbers, store } from '../kernel-text.ts';
import { clauseProof } from '../../../src/check/certifying/linear-certificate.ts';
import { Answers } from '../../../src/solver/answers.ts';
import { openBuiltIn } from '../../../src/solver/built-in.ts';
import { type Premise, PremiseList } from '../../../src/solver/premise.ts';
import type { Solver } from '../../../src/solver/solver.ts';
import { sweep } from '../../run/sweep.ts';

const units = 200_000;

const noOther = (): Promise<Solver> =>
  Promise.resolve({
    name: 'none',
    close: () => Promise.resolve(),
    open: () => ({
      add: () => undefined,
      dispose: () => undefined,
      check: () => Promise.resolve({ kind: 'unknown' as const, reason: 'not here' }),
    }),
  });

/** Maps the number of an unknown to its name. */
type Naming = (unknown: number) => string;

/** Premises of a kernel's encoding: indices below sizes, quotients, products monotone in a factor, and rows of them. */
function randomPremises(random: Random): { count: number; premises: (name: Naming) => Premise[] } {
  const parts: ((name: Naming) => Premise[])[] = [];
  const products: { of: number; e: number; u: number }[] = [];
  const grows = (x: string, a: string, y: string, b: string, u: string): string =>
    `(=> (>= ${u} 0) (and (=> (= ${x} ${y}) (= ${a} ${b})) (=> (< ${x} ${y}) (<= (+ ${a} ${u}) ${b})) (=> (> ${x} ${y}) (<= (+ ${b} ${u}) ${a}))))`;
  const count = random.between(4, 9);
  for (let one = 0; one < count; one++) {
    const high = random.between(3, 40);
    const kind = one < 2 ? 0 : random.below(4);
    const [p, q] = [random.below(Math.max(one, 1)), random.below(Math.max(one, 1))];
    const by = random.pick([2, 3, 4]);
    const earlier = products.filter(({ u }) => u === q);
    if (kind === 2) products.push({ of: one, e: p, u: q });
    const sign = random.pick(['', '- ']);
    parts.push((name) => {
      const own = name(one);
      const asserted = (formula: string): Premise => ({ text: `(assert ${formula})`, of: own });
      const declared = { text: `(declare-const ${own} Int)`, of: null };
      switch (kind) {
        case 1:
          return [declared, asserted(`(= ${own} (div (+ ${name(p)} ${name(q)}) ${by}))`)];
        case 2:
          return [
            declared,
            asserted(`(<= 0 ${own} 1600)`),
            asserted(`(=> (= ${name(p)} 0) (= ${own} 0))`),
            asserted(`(=> (>= ${name(p)} 1) (>= ${own} ${name(q)}))`),
            ...earlier.map((other) => ({
              text: `(assert ${grows(name(p), own, name(other.e), name(other.of), name(q))})`,
              of: null,
              compares: [own, name(other.of)],
            })),
          ];
        case 3:
          return [declared, asserted(`(= ${own} (+ ${name(p)} (${sign}${sign ? '' : '* 1 '}${name(q)})))`)];
        default:
          return [declared, asserted(`(<= 0 ${own} ${high})`), ...(one > 0 ? [asserted(`(< ${name(0)} (+ ${own} 3))`)] : [])];
      }
    });
  }
  return { count, premises: (name) => parts.flatMap((part) => part(name)) };
}

function randomQuestion(random: Random, count: number): (name: Naming) => string {
  const atoms = Array.from({ length: random.between(2, 4) }, () => {
    const [x, y, offset] = [random.below(count), random.below(count), random.between(-4, 12)];
    const operator = random.pick(['<', '<=', '=', '>']);
    const right = offset < 0 ? `(- ${-offset})` : String(offset);
    return (name: Naming): string => `(${operator} (- ${name(x)} ${name(y)}) ${right})`;
  });
  const head = random.pick(['and', 'and', 'or']);
  return (name) =>
    `(and ${atoms[0]!(name)} (${head} ${atoms
      .slice(1)
      .map((atom) => atom(name))
      .join(' ')}))`;
}

function tierOf(premises: readonly Premise[], stated: readonly string[], answers: Answers, effort = { left: 1e9, kept: 0 }) {
  let left = premises;
  const encoding = {
    takePremises: (): readonly Premise[] => {
      const taken = left;
      left = [];
      return taken;
    },
    takeAssumptions: () => [],
  };
  return new SolverTier(encoding, stated, { solver: noOther, answers, units, effort, keeps: true });
}

const plain: Naming = (unknown) => `x${unknown}`;

/** The answer with all premises at once. */
async function atOnce(premises: readonly Premise[], stated: readonly string[], question: string): Promise<string> {
  const session = openBuiltIn(noOther);
  for (const { text } of premises) session.add(text);
  for (const formula of [...stated, question]) session.add(`(assert ${formula})`);
  return (await session.check([], units)).kind;
}

const kinds = { proved: 'unsat', open: 'sat', budget: 'unknown' } as const;

test('whether values of a model satisfy the statements on them', () => {
  const met = (assume: readonly string[], values: Readonly<Record<number, bigint>>): boolean =>
    meetsStated(contextOf('', { assume }), ({ atom }) => (atom?.kind === 'parameter' ? values[atom.index] : undefined));
  assert.ok(met(['n > 3'], { 2: 5n }));
  assert.ok(!met(['n > 3'], { 2: 3n }));
  assert.ok(!met(['n > 3', 'm > 3'], { 2: 5n, 3: 0n }));
  assert.ok(met(['n < 0'], { 2: 0xffff_ffffn }), 'patterns of signed parameters are negative numbers');
  // A statement on other values than those of the model can be satisfied, one on some of them is not known to be.
  assert.ok(met(['n > 3'], { 3: 0n }));
  assert.ok(!met(['n > m'], { 2: 5n }));
  assert.ok(met(['blockDim.x == 64'], {}));
  assert.ok(!met(['blockDim.x == 32'], {}));
  assert.ok(met(['n == blockDim.x'], { 2: 64n }));
  assert.ok(!met(['n == blockDim.x'], { 2: 63n }));
});

test('a scalar that the kernel does not read has the range of its type', async () => {
  const kinds = async (type: string, statement: string): Promise<string> => {
    const parameters = pointersAndNumbers.map((one) => (one.name === 'm' ? { ...one, type } : one));
    const context = contextOf(store('%d1', '%r0', '%r9', 10), { assume: [statement], parameters });
    const n = context.symbolic.store.atom(32, { kind: 'parameter', index: 2, offset: 0, bytes: 4 });
    const isFive = context.symbolic.store.equal(n, context.symbolic.store.constant(32, 5n));
    const tiers = new SolverTiers(context, new Map());
    const { encoding, tier } = tiers.linear('block', uniformityOf(context, new Set()));
    const bits = tiers.bits('block', uniformityOf(context, new Set()));
    const reading = { side: 1, rounds: [] } as const;
    const answers = [tier.decide(encoding.truth(isFive, reading)), bits.decide(bits.encoding.truth(isFive, reading))];
    return (await Promise.all(answers.map((one) => complete(one)))).map(({ kind }) => kind).join();
  };
  for (const [type, statement, isPossible] of [
    ['int', 'm < n - 2147483640', true],
    ['int', 'm > n + 2147483643', false],
    ['unsigned int', 'm < n - 6', false],
    ['unsigned int', 'm > n + 2147483643', true],
  ] as const)
    assert.equal(await kinds(type, statement), isPossible ? 'open,open' : 'proved,proved', `${type}: ${statement}`);
});

test('premises on demand: the answer of all premises at once, with a separate proof', async () => {
  const counts = { unsat: 0, sat: 0, unknown: 0, fewer: 0 };
  const seeds = sweep(400, 2000);
  for (let seed = 0; seed < seeds; seed++) {
    const random = seededRandom(seed);
    const { count, premises } = randomPremises(random);
    const all = premises(plain);
    const stated = random.chance(0.4) ? [randomQuestion(random, count)(plain)] : [];
    const tier = tierOf(all, stated, new Answers());
    for (let query = 0; query < 3; query++) {
      const question = randomQuestion(random, count)(plain);
      const result = await complete(tier.decide(question));
      const expected = await atOnce(all, stated, question);
      const where = `seed ${seed}: ${[...all.map(({ text }) => text), ...stated, question].join('\n')}`;
      const kind = kinds[result.kind];
      counts[kind]++;
      if (kind !== 'unknown' && expected !== 'unknown') assert.equal(kind, expected, where);
      if (result.kind !== 'proved') continue;
      const { scripts } = result.asked as SolverQuery;
      if (scripts.length < all.length + stated.length) counts.fewer++;
      const told = new Set([...all.map(({ text }) => text), ...stated.map((text) => `(assert ${text})`)]);
      assert.ok(
        scripts.every((text) => told.has(text)),
        where,
      );
      assert.ok(clauseProof(result.asked!), where);
    }
  }
  assert.ok(counts.unsat > seeds / 2 && counts.sat > seeds / 2 && counts.fewer > seeds / 4, JSON.stringify(counts));
  assert.ok(counts.unknown < seeds / 20, JSON.stringify(counts));
});

test('rows and their products separate two elements that no premise of the query mentions', async () => {
  // The index of a block, (bz * gy + by) * gx + bx, as compilers write it: a sum of products that are not expanded.
  const list = new PremiseList();
  const lemma = new ProductLemma(list);
  const declare = (name: string, ...facts: readonly string[]): void =>
    list.define(name, () => {
      list.emit(`(declare-const ${name} Int)`);
      for (const fact of facts) list.assert(fact);
    });
  const product = (name: string, e: string, u: string, ...facts: readonly string[]): void => {
    declare(name, ...facts);
    list.define(name, () => lemma.define(name, e, u));
  };
  for (const size of ['gx', 'gy', 'gz']) declare(size, `(<= 1 ${size} 65535)`);
  for (const side of [1, 2]) {
    for (const axis of ['x', 'y', 'z']) declare(`b${axis}_${side}`, `(<= 0 b${axis}_${side})`, `(< b${axis}_${side} g${axis})`);
    product(`across_${side}`, `by_${side}`, 'gx');
    product(`inner_${side}`, `bz_${side}`, 'gx');
    product(`down_${side}`, `inner_${side}`, 'gy');
  }
  for (const side of [1, 2]) {
    const [row, height] = [`row_${side}`, `height_${side}`];
    product(height, `bz_${side}`, 'gy');
    product(row, `(+ by_${side} ${height})`, 'gx', `(= (* 4 ${row}) (+ (* 4 across_${side}) (* 4 down_${side})))`);
  }
  const [one, other] = [1, 2].map((side) => `(+ bx_${side} across_${side} down_${side})`);
  const differ = ['x', 'y', 'z'].map((axis) => `(not (= b${axis}_1 b${axis}_2))`).join(' ');
  const premises = list.take();
  const ask = (question: string) => complete(tierOf(premises, [], new Answers()).decide(question));
  assert.equal((await ask(`(and (= ${one} ${other}) (or ${differ}))`)).kind, 'proved');
  assert.equal((await ask(`(and (= ${one} (+ 1 ${other})) (or ${differ}))`)).kind, 'open');
});

test('queries that differ in names, and in premises that they do not need, have one answer', async () => {
  for (let seed = 0; seed < sweep(150, 600); seed++) {
    const random = seededRandom(seed);
    const { count, premises } = randomPremises(random);
    const question = randomQuestion(random, count);
    const renamed: Naming = (unknown) => `${'tbq'[unknown % 3]}${(unknown * 7 + 3) % 31}_z`;
    const beside: Premise[] = [
      { text: '(declare-const a0 Int)', of: null },
      { text: '(assert (<= 0 a0 9))', of: 'a0' },
    ];
    const answers = new Answers();
    const efforts = [1e9, 1e9].map((left) => ({ left, kept: 0 }));
    const first = await complete(tierOf(premises(plain), [], answers, efforts[0]).decide(question(plain)));
    const again = await complete(tierOf([...beside, ...premises(renamed)], [], answers, efforts[1]).decide(question(renamed)));
    const alone = await complete(tierOf(premises(renamed), [], new Answers()).decide(question(renamed)));
    const where = `seed ${seed}`;
    assert.deepEqual(shown(again), shown(alone), where);
    assert.deepEqual(shown(again, plain, renamed, count), shown(first, plain, plain, count), where);
    // A cached answer is charged as if it were computed: no budget depends on earlier queries.
    assert.equal(efforts[1]!.left, efforts[0]!.left, where);
  }
});

/** A result with its model under other names. */
function shown(result: ObligationResult, name: Naming = plain, from: Naming = plain, count = 0): unknown {
  if (result.kind !== 'open') return result.kind;
  const model = new Map(result.model);
  return Array.from({ length: count }, (_, unknown) => [name(unknown), model.get(from(unknown))]);
}
