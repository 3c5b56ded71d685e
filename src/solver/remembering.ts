/** A solver that returns cached answers, its own or those of another one that shares the cache. */
import { createHash } from 'node:crypto';
import type { Solver, SolverAnswer, SolverSession } from './solver.ts';

/**
 * Answers by the text of a session before its first question. Pending answers are included: a second caller waits for
 * them.
 */
export type KnownAnswers = Map<string, Promise<SolverAnswer>>;

/** Maximum number of cached answers. */
const maxKnown = 20_000;

/** A solver with a cache of known answers. */
export function remembering(solver: Solver, known: KnownAnswers): Solver {
  return { ...solver, open: () => rememberingSession(solver.open(), known) };
}

/** Only the first answer of a session depends on nothing but its text. */
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
      // Answers cut short by the clock, and errors, are not shared.
      answer.then(
        (found) => isCut(found) && known.delete(key),
        () => known.delete(key),
      );
      return answer;
    },
  };
}

function isCut(answer: SolverAnswer): boolean {
  return answer.kind === 'unknown' && answer.nondeterministic === true;
}
