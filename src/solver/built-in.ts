/**
 * The decision procedures of our own in front of Z3: most queries are small, and decided before Z3 would have been
 * loaded. What is not linear, or takes too long, Z3 is asked.
 */
import { LinearProblem } from './linear-problem.ts';
import { readCommands, type SExpression, Undecided } from './s-expression.ts';
import type { Solver, SolverAnswer, SolverSession } from './solver.ts';

/** Of Z3's resource units, those that come to about as much time as a unit of our own work. */
const unitsForWork = 5;

/** A session that starts another solver only where it has no answer itself. */
export function openBuiltIn(start: () => Promise<Solver>): SolverSession {
  const scripts: string[] = [];
  const commands: SExpression[] = [];
  let read = 0;
  let sent = 0;
  let other: SolverSession | undefined;

  function decide(assumptions: readonly string[], most: number): SolverAnswer | null {
    try {
      for (; read < scripts.length; read++) commands.push(...readCommands(scripts[read]!));
      return decideLinear(commands, assumptions, most);
    } catch (error) {
      if (error instanceof Undecided) return null;
      throw error;
    }
  }

  return {
    add: (script) => void scripts.push(script),
    check: async (assumptions, units, milliseconds) => {
      const answer = decide(assumptions, units / unitsForWork);
      if (answer) return answer;
      other ??= (await start()).open();
      for (; sent < scripts.length; sent++) other.add(scripts[sent]!);
      return other.check(assumptions, units, milliseconds);
    },
    dispose: () => other?.dispose(),
  };
}

/** @returns null where the budget did not suffice */
function decideLinear(
  commands: readonly SExpression[],
  assumptions: readonly string[],
  most: number,
): SolverAnswer | null {
  const problem = new LinearProblem(most);
  for (const [head, name, sort] of commands) {
    if (head === 'declare-const') problem.declare(name as string, sort!);
    else if (head !== 'assert') throw new Undecided(String(head));
    else if (!isSelected(name!, assumptions)) continue;
    else problem.assert(name!);
  }
  for (const assumption of assumptions) problem.assert(assumption);
  const result = problem.solve();
  return result.kind === 'unknown' ? null : result;
}

/** Whether an assertion counts: not what a name implies (`selN`, in no other place) that is not assumed. */
function isSelected(assertion: SExpression, assumptions: readonly string[]): boolean {
  const [head, name] = assertion;
  return head !== '=>' || typeof name !== 'string' || !/^sel\d+$/.test(name) || assumptions.includes(name);
}
