/** What both encodings state of a term, for given values of its atoms: its value is possible, and no other one. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { complete } from '../../../src/base/coroutine.ts';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { BitVectorEncoding } from '../../../src/check/deciding/bit-vector-encoding.ts';
import { LinearEncoding } from '../../../src/check/deciding/linear-encoding.ts';
import { SolverTier } from '../../../src/check/deciding/solver-tier.ts';
import { Answers } from '../../../src/solver/answers.ts';
import { termDomain } from '../../../src/term/term-domain.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import type { Term } from '../../../src/term/term.ts';
import { interpretTruth, randomConstant, randomTruth } from '../../term/random-term.ts';
import { areMet } from './brute-force.ts';
import { closeSolver, kernelOf, sharedSolver } from '../kernel-text.ts';
import { problemsOf } from '../problem.ts';

after(closeSolver);

const reading = { side: 1, rounds: [] } as const;
const [{ context, instances }] = problemsOf(kernelOf(''), { block: [64, 1, 1] }) as [ReturnType<typeof problemsOf>[number]];
const { symbolic, dimensions } = context;
const { store } = symbolic;
const t = store.atom(32, { kind: 'thread', axis: 0 });
const n = store.atom(32, { kind: 'parameter', index: 2, offset: 0, bytes: 4 });
const m = store.atom(32, { kind: 'parameter', index: 3, offset: 0, bytes: 4 });
const w = store.atom(64, { kind: 'parameter', index: 0, offset: 0, bytes: 8 });
const atoms = [t, n, m, w];

const encodings = {
  linear: () => new LinearEncoding(symbolic, instances, dimensions),
  bits: () => new BitVectorEncoding(symbolic, instances, dimensions, () => false),
};

/** Whether a condition may be true, and whether it may be false, for given patterns of atoms. */
async function outcomes(name: keyof typeof encodings, condition: Term, values: ReadonlyMap<Term, bigint>): Promise<string> {
  const encoding = encodings[name]();
  const given = [...values].map(([leaf, value]) => encoding.truth(store.equal(leaf, store.constant(leaf.width, value)), reading));
  const formula = encoding.truth(condition, reading);
  const tier = new SolverTier(encoding, [], { solver: sharedSolver, answers: new Answers(), units: 100_000 });
  const kinds = [];
  for (const one of [formula, `(not ${formula})`]) {
    const answer = await complete(tier.decide(`(and ${[...given, one].join(' ')})`, encoding.modes));
    const isMeant = answer.kind !== 'proved' || areMet(symbolic, answer.assumes, (leaf) => values.get(leaf)!);
    kinds.push(isMeant ? answer.kind : 'assumed');
  }
  return kinds.join();
}

function randomValues(random: Random): ReadonlyMap<Term, bigint> {
  return new Map(atoms.map((leaf) => [leaf, leaf === t ? BigInt(random.below(64)) : randomConstant(random, leaf.width)]));
}

const both = (x: Term, y: Term): readonly [string, Term][] => [
  [
    'x + 3 y - 7',
    store.sum(32, -7n, [
      [x, 1n],
      [y, 3n],
    ]),
  ],
  ['x >> 3', store.shift('lshr', 32, x, store.constant(32, 3n))],
  ['(int)x >> 3', store.shift('ashr', 32, x, store.constant(32, 3n))],
  ['x & 15', store.and(32, x, store.constant(32, 15n))],
  ['(unsigned short)x', store.truncate(16, x)],
  ['(unsigned short)x as int', store.zeroExtend(32, store.truncate(16, x))],
  ['(short)x as int', store.signExtend(32, store.truncate(16, x))],
  ['(long)(int)x', store.signExtend(64, x)],
  ['(unsigned long)x', store.zeroExtend(64, x)],
  ['x < y ? x : 5', store.select(store.unsignedLess(x, y), x, store.constant(32, 5n))],
  ['(int)x < (int)y ? y : x + 1', store.select(store.signedLess(x, y), y, store.sum(32, 1n, [[x, 1n]]))],
];
const ofUnsigned = (x: Term): readonly [string, Term][] => [
  ['x / 7', store.divide('udiv', 32, x, store.constant(32, 7n))],
  ['x % 7', store.divide('urem', 32, x, store.constant(32, 7n))],
];
const ofSigned = (x: Term): readonly [string, Term][] =>
  [7n, 8n].flatMap((by): readonly [string, Term][] => [
    [`(int)x / ${by}`, store.divide('sdiv', 32, x, store.constant(32, by))],
    [`(int)x % ${by}`, store.divide('srem', 32, x, store.constant(32, by))],
  ]);
const ofBits = (x: Term, y: Term): readonly [string, Term][] => [
  ['x & y', store.and(32, x, y)],
  ['x & 0x5a', store.and(32, x, store.constant(32, 0x5an))],
  ['x | y', store.or(32, x, y)],
  ['x ^ y', store.xor(32, x, y)],
  ['x << y', store.shift('shl', 32, x, y)],
  ['x << (y & 31)', store.shift('shl', 32, x, store.and(32, y, store.constant(32, 31n)))],
  ['x >> y', store.shift('lshr', 32, x, y)],
  ['(int)x >> y', store.shift('ashr', 32, x, y)],
  ['popc', store.pure('popc', 32, [x])],
  ['clz', store.pure('clz', 32, [x])],
  ['brev', store.pure('brev', 32, [x])],
  ['popc of 64 bits', store.pure('popc', 32, [w])],
  ['clz of 64 bits', store.pure('clz', 32, [w])],
  ['t / (y & 7)', store.divide('udiv', 32, t, store.sum(32, 1n, [[store.and(32, y, store.constant(32, 7n)), 1n]]))],
  ['t % (y & 7)', store.divide('urem', 32, t, store.sum(32, 1n, [[store.and(32, y, store.constant(32, 7n)), 1n]]))],
  ['t (y & 7)', store.mul(32, t, store.and(32, y, store.constant(32, 7n)))],
];

for (const [name, list] of [
  ['linear', [...both(n, m), ...both(t, n), ...both(n, t), ...ofUnsigned(n), ...ofUnsigned(t), ...ofSigned(n)]],
  ['bits', [...both(n, m), ...both(t, n), ...ofUnsigned(t), ...ofBits(n, m), ...ofBits(n, t), ...ofBits(t, n)]],
] as const)
  test(`${name}: each operator has its value and no other one`, async () => {
    const random = seededRandom(1);
    const counts: Record<string, number> = {};
    for (const [text, term] of list)
      for (let round = 0; round < 5; round++) {
        const values = randomValues(random);
        const value = evaluateTerm(term, (leaf) => values.get(leaf), new Map())!;
        const where = `${text} = ${value} for ${[...values.values()].join()}`;
        const found = await outcomes(name, store.equal(term, store.constant(term.width, value)), values);
        // A sum is assumed not to wrap around.
        assert.match(found, /^(?:open,proved|assumed,(?:open|assumed))$/, where);
        if (found === 'open,proved') counts[text] = (counts[text] ?? 0) + 1;
      }
    for (const [text] of list) assert.ok(counts[text]! > 0, text);
  });

test('bits: operations on many bits are left open', async () => {
  const low = (x: Term, bits: number): Term => store.and(32, x, store.constant(32, (1n << BigInt(bits)) - 1n));
  const divisor = (bits: number): Term => store.sum(32, 1n, [[low(m, bits), 1n]]);
  for (const [term, isOpen] of [
    [store.mul(32, n, m), true],
    [store.mul(32, low(n, 20), low(m, 16)), true],
    [store.mul(32, low(n, 15), low(m, 15)), false],
    [store.divide('udiv', 32, low(n, 20), divisor(20)), true],
    [store.divide('urem', 32, low(n, 30), divisor(12)), true],
    [store.divide('udiv', 32, low(n, 17), divisor(19)), false],
    [store.divide('udiv', 32, low(n, 18), divisor(19)), false],
    [store.divide('udiv', 32, low(n, 19), divisor(19)), true],
    // Divisors that may be 0, and numbers that may be negative.
    [store.divide('udiv', 32, low(n, 5), low(m, 5)), true],
    [store.divide('sdiv', 32, n, divisor(3)), true],
  ] as const) {
    const values = new Map([...randomValues(seededRandom(3)), [n, 12345n], [m, 678n]]);
    const value = evaluateTerm(term, (leaf) => values.get(leaf), new Map())!;
    const found = await outcomes('bits', store.equal(term, store.constant(32, value)), values);
    assert.equal(found, isOpen ? 'open,open' : 'open,proved', `${term.operator} ${value}`);
  }
});

test('random conditions: their value is possible', async () => {
  const counts: Record<string, number> = {};
  for (let seed = 0; seed < 200; seed++) {
    const random = seededRandom(seed);
    const truth = randomTruth(random, [32, 32, 32, 64], random.between(2, 4));
    const condition = interpretTruth(termDomain(store), truth, (index) => atoms[index]!);
    const values = randomValues(random);
    const value = evaluateTerm(condition, (leaf) => values.get(leaf), new Map());
    for (const name of ['linear', 'bits'] as const) {
      const found = await outcomes(name, condition, values);
      const [own, other] = value === 1n ? found.split(',') : found.split(',').reverse();
      counts[`${name} ${other}`] = (counts[`${name} ${other}`] ?? 0) + 1;
      assert.notEqual(own, 'proved', `seed ${seed}, ${name}`);
    }
  }
  for (const name of ['linear', 'bits']) assert.ok(counts[`${name} proved`]! > 170, JSON.stringify(counts));
});

test('quotients of numbers that may be negative or 0: their value is possible', async () => {
  const random = seededRandom(2);
  const shifted = store.sum(32, -3n, [[t, 1n]]);
  for (const operator of ['udiv', 'sdiv', 'urem', 'srem'] as const)
    for (const [a, b] of [
      [n, m],
      [t, m],
      [n, t],
      [n, shifted],
      [shifted, t],
      [t, store.constant(32, -3n)],
    ] as const)
      for (let round = 0; round < 3; round++) {
        const term = store.divide(operator, 32, a, b);
        const values = randomValues(random);
        const value = evaluateTerm(term, (leaf) => values.get(leaf), new Map())!;
        for (const name of ['linear', 'bits'] as const) {
          const [own] = (await outcomes(name, store.equal(term, store.constant(32, value)), values)).split(',');
          assert.notEqual(own, 'proved', `${name}: ${operator} is ${value} for ${[...values.values()].join()}`);
        }
      }
});
