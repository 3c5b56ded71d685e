/** The built-in decision procedures compared with exhaustive search and with Z3. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { openBuiltIn } from '../../src/solver/built-in.ts';
import type { Solver, SolverAnswer } from '../../src/solver/solver.ts';
import { closeSolver, sharedSolver } from '../check/kernel-text.ts';
import { sweep } from '../run/sweep.ts';

after(closeSolver);

const units = 200_000;

/** A session that must do without Z3. */
function alone(onUnknown: () => void = () => undefined) {
  const none: Solver = {
    name: 'none',
    close: () => Promise.resolve(),
    open: () => ({
      add: () => undefined,
      dispose: () => undefined,
      check: () => {
        onUnknown();
        return Promise.resolve({ kind: 'unknown', reason: 'not here' });
      },
    }),
  };
  return openBuiltIn(() => Promise.resolve(none));
}

interface Value {
  readonly text: string;
  readonly of: (values: readonly number[]) => number;
}

interface Truth {
  readonly text: string;
  readonly of: (values: readonly number[]) => boolean;
}

const numeral = (value: number): string => (value < 0 ? `(- ${-value})` : String(value));

/** A sum of unknowns with whole coefficients, quotients, remainders and choices. */
function randomValue(random: Random, unknowns: number, depth: number): Value {
  const kind = random.below(depth > 0 ? 7 : 3);
  const part = (): Value => randomValue(random, unknowns, depth - 1);
  switch (kind) {
    case 0: {
      const value = random.between(-9, 9);
      return { text: numeral(value), of: () => value };
    }
    case 3: {
      const [a, b] = [part(), part()];
      return { text: `(+ ${a.text} ${b.text})`, of: (values) => a.of(values) + b.of(values) };
    }
    case 4: {
      const a = part();
      const factor = random.pick([-4, -2, -1, 2, 3, 4, 16]);
      return { text: `(* ${numeral(factor)} ${a.text})`, of: (values) => factor * a.of(values) };
    }
    case 5: {
      const a = part();
      const by = random.pick([2, 3, 4, 8]);
      return random.chance(0.5)
        ? { text: `(div ${a.text} ${by})`, of: (values) => Math.floor(a.of(values) / by) }
        : { text: `(mod ${a.text} ${by})`, of: (values) => ((a.of(values) % by) + by) % by };
    }
    case 6: {
      const [a, b, condition] = [part(), part(), randomTruth(random, unknowns, 0)];
      return {
        text: `(ite ${condition.text} ${a.text} ${b.text})`,
        of: (values) => (condition.of(values) ? a.of(values) : b.of(values)),
      };
    }
    default: {
      const unknown = random.below(unknowns);
      return { text: `x${unknown}`, of: (values) => values[unknown]! };
    }
  }
}

function randomTruth(random: Random, unknowns: number, depth: number): Truth {
  const part = (): Truth => randomTruth(random, unknowns, depth - 1);
  switch (depth > 0 ? random.below(6) : 0) {
    case 1: {
      const [a, b] = [part(), part()];
      return { text: `(and ${a.text} ${b.text})`, of: (values) => a.of(values) && b.of(values) };
    }
    case 2: {
      const [a, b] = [part(), part()];
      return { text: `(or ${a.text} ${b.text})`, of: (values) => a.of(values) || b.of(values) };
    }
    case 3: {
      const [a, b] = [part(), part()];
      return { text: `(=> ${a.text} ${b.text})`, of: (values) => !a.of(values) || b.of(values) };
    }
    case 4: {
      const a = part();
      return { text: `(not ${a.text})`, of: (values) => !a.of(values) };
    }
    case 5: {
      const [a, b] = [part(), part()];
      return { text: `(xor ${a.text} ${b.text})`, of: (values) => a.of(values) !== b.of(values) };
    }
    default: {
      const [a, b] = [randomValue(random, unknowns, 2), randomValue(random, unknowns, 1)];
      const operators: Readonly<Record<string, (x: number, y: number) => boolean>> = {
        '<': (x, y) => x < y,
        '<=': (x, y) => x <= y,
        '>': (x, y) => x > y,
        '>=': (x, y) => x >= y,
        '=': (x, y) => x === y,
      };
      const operator = random.pick(Object.keys(operators));
      return { text: `(${operator} ${a.text} ${b.text})`, of: (values) => operators[operator]!(a.of(values), b.of(values)) };
    }
  }
}

/** All points of a box with sides from `low` to `high`. */
function* points(unknowns: number, low: number, high: number): Generator<number[]> {
  if (unknowns === 0) yield [];
  else for (const rest of points(unknowns - 1, low, high)) for (let x = low; x <= high; x++) yield [...rest, x];
}

test('linear formulas over a box: the result agrees with trying all of its points', async () => {
  const counts = { sat: 0, unsat: 0, unknown: 0 };
  const count = sweep(150, 400);
  for (let seed = 0; seed < count; seed++) {
    const random = seededRandom(seed);
    const unknowns = random.between(1, 3);
    const [low, high] = [random.between(-3, 0), random.between(1, 5)];
    const session = alone();
    for (let x = 0; x < unknowns; x++) session.add(`(declare-const x${x} Int)(assert (<= ${numeral(low)} x${x} ${high}))`);
    // Several queries of one session, each with the assertions of the earlier ones.
    const stated: Truth[] = [];
    for (let query = 0; query < 3; query++) {
      const fact = randomTruth(random, unknowns, 2);
      const asked = Array.from({ length: 3 }, () => randomTruth(random, unknowns, 2));
      stated.push(fact);
      session.add(`(assert ${fact.text})(declare-const sel${query} Bool)`);
      session.add(`(assert (=> sel${query} (and ${asked.map(({ text }) => text).join(' ')})))`);
      const holds = (values: readonly number[]): boolean => [...stated, ...asked].every((part) => part.of(values));
      const answer = await session.check([`sel${query}`], units);
      counts[answer.kind]++;
      const where = `seed ${seed}, query ${query}: ${[...stated, ...asked].map(({ text }) => text).join(' ')}`;
      if (answer.kind === 'sat') {
        const values = Array.from({ length: unknowns }, (_, x) => Number(answer.model.get(`x${x}`)));
        assert.ok(values.every((value) => value >= low && value <= high) && holds(values), `${where} ${values.join()}`);
      } else if (answer.kind === 'unsat')
        for (const values of points(unknowns, low, high)) assert.ok(!holds(values), `${where} ${values.join()}`);
    }
  }
  assert.ok(counts.sat > count / 2 && counts.unsat > count / 2, JSON.stringify(counts));
  assert.ok(counts.unknown < count / 10, JSON.stringify(counts));
});

test('unbounded integers: the result agrees with Z3', async () => {
  const solver = await sharedSolver();
  const counts = { sat: 0, unsat: 0, unknown: 0 };
  for (let seed = 5000; seed < 5050; seed++) {
    const random = seededRandom(seed);
    const parts = Array.from({ length: random.between(3, 6) }, () => randomTruth(random, 4, 1).text);
    const script = `${[0, 1, 2, 3].map((x) => `(declare-const x${x} Int)`).join('')}(assert (and ${parts.join(' ')}))`;
    const [own, other] = [alone(), solver.open()];
    own.add(script);
    other.add(script);
    const [answer, expected] = [await own.check([], units), await other.check([], units)];
    counts[answer.kind]++;
    if (answer.kind !== 'unknown' && expected.kind !== 'unknown') assert.equal(answer.kind, expected.kind, `seed ${seed}: ${script}`);
    other.dispose();
  }
  assert.ok(counts.sat > 5 && counts.unsat > 5 && counts.unknown < 8, JSON.stringify(counts));
});

test('formulas decided by the coefficients of sums', async () => {
  const decide = async (names: string, ...facts: readonly string[]): Promise<SolverAnswer['kind']> => {
    const session = alone();
    session.add(
      names
        .split(' ')
        .map((name) => `(declare-const ${name} Int)`)
        .join(''),
    );
    session.add(facts.map((fact) => `(assert ${fact})`).join(''));
    return (await session.check([], units)).kind;
  };
  // Two alternating buffers, in any iteration.
  const turns = ['(<= 0 k 2147483647)', '(= a (mod k 2))', '(= b (mod (+ k 1) 2))'];
  assert.equal(await decide('k a b', ...turns, '(= a b)'), 'unsat');
  assert.equal(await decide('k a b', ...turns, '(= a (- 1 b))', '(> k 1000000)'), 'sat');
  // Rows of 128 whose columns stay below 128 do not overlap; those of 129 columns do.
  const rows = (columns: number): string[] => ['x', 'z'].map((column) => `(<= 0 ${column} ${columns})`);
  const overlap = ['(= (+ (* 128 y) x) (+ (* 128 w) z))', '(not (= y w))'];
  assert.equal(await decide('x y z w', ...rows(127), ...overlap), 'unsat');
  assert.equal(await decide('x y z w', ...rows(128), ...overlap), 'sat');
  // No common divisor of the unknown terms divides the constant.
  assert.equal(await decide('x y z', '(= (+ (* 6 x) (* 10 y) (* (- 4) z)) 15)'), 'unsat');
});

test('nonlinear formulas are delegated to the other solver, and so are later queries of the session', async () => {
  let asked = 0;
  const session = alone(() => asked++);
  session.add('(declare-const x Int)(declare-const y Int)(assert (> x 3))');
  assert.equal((await session.check([], units)).kind, 'sat');
  assert.equal(asked, 0);
  session.add('(assert (= (* x y) 7))');
  await session.check([], units);
  // Later answers would lack that assertion.
  session.add('(assert (> x 8))');
  await session.check([], units);
  assert.equal(asked, 2);
});

const bitOperations = ['bvadd', 'bvmul', 'bvand', 'bvor', 'bvxor', 'bvshl', 'bvlshr', 'bvashr', 'bvudiv', 'bvurem'];

/** A bit-vector of the given width over the unknowns x0 to x2. */
function randomBits(random: Random, bits: number, depth: number): string {
  if (depth === 0 || random.chance(0.1)) return random.chance(0.25) ? `(_ bv${random.below(2 ** bits)} ${bits})` : `x${random.below(3)}`;
  const part = (): string => randomBits(random, bits, depth - 1);
  switch (random.below(8)) {
    case 0:
      return `(bvneg ${part()})`;
    case 1:
      return `(ite (bvslt ${part()} ${part()}) ${part()} ${part()})`;
    case 2:
      return `((_ extract ${bits} 1) ((_ ${random.pick(['zero', 'sign'])}_extend 1) ${part()}))`;
    default:
      return `(${random.pick(bitOperations)} ${part()} ${part()})`;
  }
}

test('bit-vectors: the result agrees with Z3, and models satisfy the formulas', async () => {
  const solver = await sharedSolver();
  const counts = { sat: 0, unsat: 0, unknown: 0 };
  for (let seed = 0; seed < 50; seed++) {
    const random = seededRandom(seed);
    const bits = random.between(1, 6);
    const names = [0, 1, 2].map((x) => `(declare-const x${x} (_ BitVec ${bits}))`).join('');
    const fact = (): string => `(${random.pick(['=', 'bvslt', 'bvsle'])} ${randomBits(random, bits, 3)} ${randomBits(random, bits, 2)})`;
    const [own, other] = [alone(), solver.open()];
    for (const session of [own, other]) session.add(names);
    for (let query = 0; query < 3; query++) {
      const name = `f${query}`;
      const asked = `(declare-const sel${query} Bool)(define-fun ${name} () Bool ${fact()})(assert (=> sel${query} (and ${name} ${fact()} (not ${fact()}))))`;
      for (const session of [own, other]) session.add(asked);
      const answer = await own.check([`sel${query}`], 20 * units);
      const expected = await other.check([`sel${query}`], 20 * units);
      counts[answer.kind]++;
      assert.equal(answer.kind, expected.kind, `seed ${seed}: ${asked}`);
      if (answer.kind !== 'sat') continue;
      const held = solver.open();
      held.add(`${names}${[...Array(query + 1).keys()].map((earlier) => `(declare-const sel${earlier} Bool)`).join('')}`);
      held.add(asked.replace(/^\(declare-const \w+ Bool\)/, ''));
      for (const x of [0, 1, 2]) held.add(`(assert (= x${x} (_ bv${String(answer.model.get(`x${x}`))} ${bits})))`);
      assert.equal((await held.check([`sel${query}`], 20 * units)).kind, 'sat', `seed ${seed}: ${asked}`);
      held.dispose();
    }
    other.dispose();
  }
  assert.ok(counts.sat > 30 && counts.unsat > 30 && counts.unknown === 0, JSON.stringify(counts));
});
