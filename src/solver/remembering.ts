/** A solver that answers at once what it, or another one that shares what is known, has answered before. */
import { createHash } from 'node:crypto';
import type { Solver, SolverAnswer, SolverSession } from './solver.ts';

/** By what a session was told before its first question. What is being answered counts: who asks too waits for it. */
export type KnownAnswers = Map<string, Promise<SolverAnswer>>;

/** So many are kept. */
const maxKnown = 20_000;

/** A solver with what is known so far. */
export function remembering(solver: Solver, known: KnownAnswers): Solver {
  return { ...solver, open: () => rememberingSession(solver.open(), known) };
}

/** Of a session only the first answer depends on nothing but what it was told. */
function rememberingSession(session: SolverSession, known: KnownAnswers): SolverSession {
  const told: string[] = [];
  let isFirst = true;
  return {
    ...session,
    add: (script) => {
      told.push(script);
      session.add(script);
    },
    check: async (assumptions, units, milliseconds) => {
      if (!isFirst) return session.check(assumptions, units, milliseconds);
      isFirst = false;
      const key = createHash('sha256')
        .update(JSON.stringify([told, assumptions, units]))
        .digest('base64');
      const earlier = known.get(key);
      const before = earlier && (await earlier);
      if (before && !isCut(before)) return before;
      if (known.size >= maxKnown) known.clear();
      const answer = session.check(assumptions, units, milliseconds);
      known.set(key, answer);
      // What the clock cut short, or an error, is nobody else's answer.
      answer.then((found) => isCut(found) && known.delete(key), () => known.delete(key)); // oxfmt-ignore
      return answer;
    },
  };
}

function isCut(answer: SolverAnswer): boolean {
  return answer.kind === 'unknown' && answer.nondeterministic === true;
}
