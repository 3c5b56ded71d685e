/**
 * Cached answers, by question. Each question is decided separately, so that the answer and its effort depend only on
 * its text, not on the caller or on earlier questions.
 */
import { createHash } from 'node:crypto';
import { openBuiltIn } from './built-in.ts';
import type { Solver, SolverAnswer } from './solver.ts';

/** An answer, and its effort when it was first found. */
export interface Answered {
  readonly answer: SolverAnswer;
  /** As counted by the budget of a check: for our own procedures, and for Z3. */
  readonly effort: { readonly own: number; readonly other: number };
  readonly by: 'z3' | 'built-in';
}

/** Maximum number of cached answers, some kilobytes each. */
const maxKept = 20_000;

export class Answers {
  private readonly kept = new Map<string, Answered>();

  /**
   * Decides a script whose last assertion is the question.
   * @param start starts the solver if our own procedures have no answer
   * @param isBeyond our own procedures are known to have no answer
   */
  async find(script: string, units: number, start: () => Promise<Solver>, isBeyond = false): Promise<Answered> {
    const key = createHash('sha256').update(`${units} ${isBeyond}\n${script}`).digest('base64');
    const known = this.kept.get(key);
    if (known) {
      // A report names the solver that its answers are from.
      if (known.by === 'z3') await start();
      return known;
    }
    const session = openBuiltIn(start, isBeyond);
    session.add(script);
    const answer = await session.check([], units);
    const by = session.answeredBy();
    session.dispose();
    const answered = { answer, effort: session.effort(), by };
    if (answer.kind === 'unknown' && answer.nondeterministic) return answered;
    if (this.kept.size >= maxKept) this.kept.clear();
    this.kept.set(key, answered);
    return answered;
  }
}
