/** Requirements on every implementation of the solver interface. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import type { Solver, SolverAnswer } from '../../src/solver/solver.ts';

const units = 1_000_000;

export const neighbours = `
  (declare-const t1 Int) (declare-const t2 Int) (declare-const n Int) (declare-const near Bool) (declare-const far Bool)
  (assert (and (<= 0 t1) (< t1 n) (<= 0 t2) (< t2 n) (<= n 1024) (distinct t1 t2)))
  (assert (=> near (= (+ t1 1) t2)))`;
/** A product of two 32-bit factors: no small budget decides it. */
const factoring = `
  (declare-const a (_ BitVec 64)) (declare-const b (_ BitVec 64))
  (assert (= (bvmul a b) #x123456789abcdef1))
  (assert (and (bvugt a #x0000000000000001) (bvult a #x00000000ffffffff)))
  (assert (and (bvugt b #x0000000000000001) (bvult b #x00000000ffffffff)))`;

export async function decide(solver: Solver, script: string, budget = units, milliseconds?: number): Promise<SolverAnswer> {
  const session = solver.open();
  session.add(script);
  try {
    return await session.check([], budget, milliseconds);
  } finally {
    session.dispose();
  }
}

export function modelOf(answer: SolverAnswer): ReadonlyMap<string, bigint | boolean> {
  assert.ok(answer.kind === 'sat', `expected sat, got ${answer.kind}`);
  return answer.model;
}

/**
 * @param start starts a solver
 * @param startText source text that does so in another process, and names it `z3`
 */
export async function testSolver(start: () => Promise<Solver>, startText: string): Promise<void> {
  const z3 = await start();
  after(() => z3.close());

  test('selectors, and scripts added after a check', async () => {
    const session = z3.open();
    session.add(neighbours);
    const near = await session.check(['near'], units);
    const model = modelOf(near);
    assert.equal((model.get('t1') as bigint) + 1n, model.get('t2'));
    assert.equal(model.get('near'), true);
    session.add('(assert (=> far (= (- t1 t2) 1024)))');
    assert.equal((await session.check(['far'], units)).kind, 'unsat');
    assert.equal((await session.check(['near', 'far'], units)).kind, 'unsat');
    assert.equal((await session.check(['near'], units)).kind, 'sat');
    session.dispose();
  });

  test('a model has a value for every declared constant, of each sort', async () => {
    const answer = await decide(
      z3,
      `(declare-const free Int) (declare-const |a b| Bool) (declare-fun mask () (_ BitVec 64))
       (declare-const low Int) (declare-const big Int) (define-fun twice () Int (* 2 low))
       (assert |a b|) (assert (= mask #xfffffffffffffffe)) (assert (= twice (- 14)))
       (assert (= big 123456789012345678901234567890))`,
    );
    assert.deepEqual(Object.fromEntries(modelOf(answer)), {
      free: 0n,
      'a b': true,
      mask: 0xffff_ffff_ffff_fffen,
      low: -7n,
      big: 123456789012345678901234567890n,
    });
  });

  test('assertions of two solver sessions are independent', async () => {
    const [first, second] = [z3.open(), z3.open()];
    first.add('(declare-const x Int) (assert (> x 3))');
    second.add('(declare-const x Int) (assert (< x 3))');
    const answers = await Promise.all([first.check([], units), second.check([], units)]);
    assert.deepEqual(
      answers.map((answer) => answer.kind),
      ['sat', 'sat'],
    );
    first.add('(assert (< x 4))');
    assert.equal((await first.check([], units)).kind, 'unsat');
    assert.equal((await second.check([], units)).kind, 'sat');
    first.dispose();
    second.dispose();
  });

  for (const script of [
    '(assert (> y 0))',
    '(assert (> x 0)',
    '(assert (> x 0)))',
    '(assert (= x #x00))',
    '(assert |x',
    '(declare-const x Int)',
    '(assert (> x 0)) nonsense',
    '(frobnicate)',
    '(declare-const z Int) ; ( | \n (frobnicate |)| x)',
    '(set-option :timeout 1)',
    '(push)',
    '(check-sat)',
  ]) {
    test(`an invalid script is rejected: ${script}`, async () => {
      const session = z3.open();
      session.add('(declare-const x Int)');
      session.add(script);
      session.add('(assert (< x 0))');
      await assert.rejects(session.check([], units), /^Error: Z3: /);
      await assert.rejects(session.check([], units), /^Error: Z3: /, 'and at the next check');
      session.dispose();
      assert.equal((await decide(z3, '(declare-const x Int)')).kind, 'sat', 'others are not affected');
    });
  }

  test('an assumption that is not a declared Boolean is rejected', async () => {
    const session = z3.open();
    session.add('(declare-const x Int)');
    await assert.rejects(session.check(['x'], units), /x is not a declared Bool/);
    session.dispose();
  });

  test('the solver budget counts steps, not time: answers are the same in another thread', async () => {
    const budgets = [1_000, 10_000, 100_000];
    const other = await start();
    for (const solver of [z3, other]) {
      for (const budget of budgets) {
        const { units: taken, ...answer } = await decide(solver, factoring, budget);
        assert.deepEqual(answer, { kind: 'unknown', reason: 'solver budget exhausted' });
        if (taken !== undefined) assert.ok(taken >= budget && taken < 2 * budget, `${taken} units of ${budget}`);
      }
      // The budget belongs to one check: the next one decides.
      assert.equal((await decide(solver, neighbours)).kind, 'sat');
    }
    await other.close();
  });

  test('a check that exceeds its wall-clock limit is killed, and the sessions continue', async () => {
    const session = z3.open();
    session.add(neighbours);
    assert.equal((await session.check(['near'], units)).kind, 'sat');
    assert.deepEqual(await decide(z3, factoring, 4_000_000_000, 300), {
      kind: 'unknown',
      reason: 'solver killed after 0.3 s',
      nondeterministic: true,
    });
    session.add('(assert (not near))');
    assert.equal((await session.check(['near'], units)).kind, 'unsat');
    assert.equal((await session.check([], units)).kind, 'sat');
    session.dispose();
  });

  test('a deeply nested formula does not overflow the stack', async () => {
    const depth = 20_000;
    const answer = await decide(
      z3,
      `(declare-const x Int) (assert (> ${'(+ 1 '.repeat(depth)}x${')'.repeat(depth)} 0)) (assert (< x (- ${depth})))`,
    );
    assert.equal(answer.kind, 'unsat');
  });

  test('a long script is transmitted completely', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `(declare-const v${i} Int) (assert (= v${i} ${i}))`);
    const answer = await decide(z3, lines.join('\n'), 50_000_000);
    const model = modelOf(answer);
    assert.equal(model.size, 20_000);
    assert.equal(model.get('v19999'), 19_999n);
  });

  test('a closed solver returns unknown', async () => {
    const other = await start();
    const session = other.open();
    await other.close();
    assert.equal((await session.check([], units)).kind, 'unknown');
  });

  test('the process ends without a signal, with Z3 loading, loaded, or closed in mid-check', () => {
    const program = (body: string): string => `${startText}\n${body}\nconsole.log('end');`;
    for (const [body, printed] of [
      ['', 'end\n'],
      ['const s = z3.open(); console.log((await s.check([], 1000)).kind);', 'sat\nend\n'],
      [
        `const s = z3.open(); await s.check([], 1000); s.add(${JSON.stringify(factoring)});
         const a = s.check([], 4e9); setTimeout(() => z3.close(), 100); console.log((await a).kind);`,
        'unknown\nend\n',
      ],
    ] as const) {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program(body)], {
        encoding: 'utf8',
        timeout: 60_000,
      });
      assert.equal(status, 0, stderr);
      assert.equal(stdout, printed);
    }
  });
}
