import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KnownAnswers, remembering } from '../../src/solver/remembering.ts';
import type { Solver, SolverAnswer } from '../../src/solver/solver.ts';

/** A solver that counts its queries, and answers scripts in order. */
function counting(answers: (asked: number) => SolverAnswer | Error): { solver: Solver; asked: () => number } {
  let asked = 0;
  const check = async (): Promise<SolverAnswer> => {
    const answer = answers(asked++);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const open = () => ({ add: () => undefined, dispose: () => undefined, check });
  return { solver: { name: 'counting', close: async () => undefined, open }, asked: () => asked };
}

test('the first answer of a session is reused for all sessions with the same queries', async () => {
  const known: KnownAnswers = new Map();
  const { solver, asked } = counting((number) => ({ kind: 'sat', model: new Map([['x', BigInt(number)]]) }));
  const ask = async (script: string, units: number): Promise<SolverAnswer> => {
    const session = remembering(solver, known).open();
    session.add(script);
    return session.check([], units);
  };
  const both = await Promise.all([ask('(assert p)', 5), ask('(assert p)', 5)]);
  assert.equal(both[0], both[1]);
  assert.equal(asked(), 1);
  await ask('(assert q)', 5);
  await ask('(assert p)', 6);
  assert.equal(asked(), 3);
  // State that a session derives from an answer is not shared.
  const session = remembering(solver, known).open();
  session.add('(assert p)');
  assert.equal(await session.check([], 5), both[0]);
  assert.notEqual(await session.check([], 5), both[0]);
  assert.equal(asked(), 4);
});

test('queries that ended by a time limit or an error are repeated', async () => {
  const cut: SolverAnswer = { kind: 'unknown', reason: 'solver killed after 1 s', nondeterministic: true };
  const { solver, asked } = counting((number) => [cut, new Error('Z3: no such sort'), { kind: 'unsat' } as const][number]!);
  const known: KnownAnswers = new Map();
  const open = () => remembering(solver, known).open();
  assert.equal(await open().check([], 5), cut);
  await assert.rejects(open().check([], 5), /no such sort/);
  assert.deepEqual(await open().check([], 5), { kind: 'unsat' });
  assert.deepEqual(await open().check([], 5), { kind: 'unsat' });
  assert.equal(asked(), 3);
});
