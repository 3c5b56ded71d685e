/** Residues of terms, compared with evaluation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { greatestPower, residueOf } from '../../../src/check/memory/residue.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import { type Term, TermStore } from '../../../src/term/term.ts';

const store = new TermStore();
const leaves = [0, 1, 2].map((index) => store.atom(32, { kind: 'parameter', index, offset: 0, bytes: 4 }));

/** A random term of 32 bits. */
function termOf(random: ReturnType<typeof seededRandom>, depth: number): Term {
  const part = (): Term => termOf(random, depth - 1);
  if (depth === 0) return random.chance(0.7) ? random.pick(leaves) : store.constant(32, BigInt(random.below(40)));
  switch (random.below(8)) {
    case 0:
    case 1:
      return store.sum(32, BigInt(random.below(9)), [
        [part(), BigInt(random.below(17) - 8)],
        [part(), 4n],
      ]);
    case 2:
      return store.mul(32, part(), part());
    case 3:
      return store.truncate(
        32,
        store.sum(64, 3n, [
          [store.signExtend(64, part()), 2n],
          [store.zeroExtend(64, part()), -1n],
        ]),
      );
    case 4:
      return store.and(32, part(), store.constant(32, random.pick([15n, 0xffff_fff0n, 7n, 0xffn, 12n])));
    case 5:
      return random.chance(0.5)
        ? store.or(32, part(), store.constant(32, 16n))
        : store.xor(32, part(), store.shift('shl', 32, part(), store.constant(32, 3n)));
    case 6:
      return store.select(store.equal(part(), part()), part(), part());
    default:
      return store.shift('lshr', 32, part(), store.constant(32, 1n));
  }
}

test('a residue has the value of its term, modulo the power of two', () => {
  let known = 0;
  for (let seed = 0; seed < 3000; seed++) {
    const random = seededRandom(seed);
    const term = termOf(random, 3);
    const modulus = random.pick([2n, 4n, 8n, 16n]);
    const residue = residueOf(term, modulus);
    if (!residue) continue;
    known += residue.length === 0 ? 1 : 0;
    for (let trial = 0; trial < 4; trial++) {
      const values = new Map(leaves.map((leaf) => [leaf, BigInt(random.below(2 ** 31)) * 2n + BigInt(random.below(2))]));
      const valueOf = (of: Term): bigint => evaluateTerm(of, (leaf) => values.get(leaf), new Map())!;
      const sum: bigint = residue.reduce(
        (all, { coefficient, factors }) => all + factors.reduce((one, factor) => one * valueOf(factor.term), coefficient),
        0n,
      );
      assert.equal(BigInt.asUintN(64, sum) % modulus, valueOf(term) % modulus, `seed ${seed}`);
    }
  }
  assert.ok(known > 100);
});

test('the coefficients of a residue are below the modulus, and multiples vanish', () => {
  const [x] = leaves as [Term];
  const four = store.sum(32, 8n, [[x, 12n]]);
  assert.deepEqual(residueOf(four, 4n), []);
  assert.deepEqual(
    residueOf(four, 8n)?.map(({ coefficient }) => coefficient),
    [4n],
  );
  assert.deepEqual(
    residueOf(four, 16n)?.map(({ coefficient }) => coefficient),
    [8n, 12n],
  );
  // A value of 2 bits, extended, has no residue modulo 8 but itself.
  const narrow = store.truncate(2, x);
  assert.equal(residueOf(store.zeroExtend(32, narrow), 8n)?.length, 1);
});

test('the greatest power of two that divides a number', () => {
  assert.deepEqual(
    [12n, -4n, 7n, 32n, 0n].map((value) => greatestPower(value, 16n)),
    [4n, 4n, 1n, 16n, 16n],
  );
});
