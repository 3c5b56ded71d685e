/**
 * Our own decision procedures, which run before Z3: most queries are small, and decided before Z3 would have been
 * loaded. Z3 gets the non-linear ones and those that take too long.
 */
import { effortOfUnit, integerFactor, unitsForWork } from './limits.ts';
import { BitProblem } from './bit-problem.ts';
import { LinearProblem } from './linear-problem.ts';
import { readCommands, type SExpression, Undecided } from './s-expression.ts';
import type { Solver, SolverAnswer, SolverSession } from './solver.ts';

type Problem = LinearProblem | BitProblem;

/** A session that measures the work of its answers. */
interface MeasuredSession extends SolverSession {
  /** Clauses visited and steps of the simplex so far, and the effort of Z3, counted as a fraction of its limit. */
  readonly effort: () => { readonly own: number; readonly other: number };
  /** The source of the last answer. */
  readonly answeredBy: () => 'z3' | 'built-in';
}

/**
 * A session that starts another solver only if it has no answer itself.
 * @param isBeyond our own procedures are known to have no answer
 */
export function openBuiltIn(start: () => Promise<Solver>, isBeyond = false): MeasuredSession {
  const scripts: string[] = [];
  let taken = 0;
  let sent = 0;
  let other: SolverSession | undefined;
  let problem: Problem | undefined;
  let ofOther = 0;
  let by: 'z3' | 'built-in' = 'built-in';

  function decide(assumptions: readonly string[], units: number): SolverAnswer {
    problem ??= scripts.some(isOfBits) ? new BitProblem() : new LinearProblem();
    const commands = scripts.slice(taken).flatMap(readCommands);
    taken = scripts.length;
    for (const command of commands) take(problem, command);
    return problem.solve(units / (problem instanceof BitProblem ? unitsForWork.bits : unitsForWork.linear), assumptions);
  }

  return {
    add: (script) => void scripts.push(script),
    check: async (assumptions, units, milliseconds) => {
      by = 'built-in';
      try {
        const answer = isBeyond ? null : decide(assumptions, units);
        if (answer && answer.kind !== 'unknown') return answer;
      } catch (error) {
        if (!(error instanceof Undecided)) throw error;
        // An assertion that our own procedures reject would be missing from their later answers.
        isBeyond = true;
      }
      by = 'z3';
      other ??= (await start()).open();
      for (; sent < scripts.length; sent++) other.add(scripts[sent]!);
      const areBits = scripts.some(isOfBits);
      const most = units * (areBits ? 1 : integerFactor);
      const answer = await other.check(assumptions, most, milliseconds);
      ofOther += (answer.units ?? most) * (areBits ? effortOfUnit.bits : effortOfUnit.linear);
      return answer;
    },
    answeredBy: () => by,
    effort: () => ({ own: problem?.effort ?? 0, other: ofOther }),
    dispose: () => other?.dispose(),
  };
}

/**
 * Whether a script is over bit-vectors: only they have indexed sorts, constants and operations, and only their
 * questions define names.
 */
function isOfBits(script: string): boolean {
  return /\(_ |\(define-fun /.test(script);
}

function take(problem: Problem, [head, name, sort, , value]: SExpression): void {
  if (head === 'declare-const') problem.declare(name as string, sort!);
  else if (head === 'assert') problem.assert(name!);
  else if (head === 'define-fun' && sort?.length === 0 && problem instanceof BitProblem) problem.define(name as string, value!);
  else throw new Undecided(String(head));
}
