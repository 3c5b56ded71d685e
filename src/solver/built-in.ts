/**
 * The decision procedures of our own in front of Z3: most queries are small, and decided before Z3 would have been
 * loaded. What is not linear, or takes too long, Z3 is asked.
 */
import { BitProblem } from './bit-problem.ts';
import { LinearProblem } from './linear-problem.ts';
import { readCommands, type SExpression, Undecided } from './s-expression.ts';
import type { Solver, SolverAnswer, SolverSession } from './solver.ts';

/** Of Z3's resource units, those that come to about as much time as a unit of our own work. */
const unitsForWork = { linear: 1, bits: 500 } as const;

/** A session that starts another solver only where it has no answer itself. */
export function openBuiltIn(start: () => Promise<Solver>): SolverSession {
  const scripts: string[] = [];
  const commands: SExpression[] = [];
  let read = 0;
  let sent = 0;
  let other: SolverSession | undefined;
  let bits: { readonly problem: BitProblem; taken: number } | undefined;

  function decide(assumptions: readonly string[], units: number): SolverAnswer {
    for (; read < scripts.length; read++) commands.push(...readCommands(scripts[read]!));
    if (!bits && !commands.some(isOfBits)) return decideLinear(commands, assumptions, units / unitsForWork.linear);
    bits ??= { problem: new BitProblem(), taken: 0 };
    while (bits.taken < commands.length) takeBits(bits.problem, commands[bits.taken++]!);
    return bits.problem.solve(units / unitsForWork.bits, assumptions);
  }

  return {
    add: (script) => void scripts.push(script),
    check: async (assumptions, units, milliseconds) => {
      try {
        const answer = decide(assumptions, units);
        if (answer.kind !== 'unknown') return answer;
      } catch (error) {
        if (!(error instanceof Undecided)) throw error;
      }
      other ??= (await start()).open();
      for (; sent < scripts.length; sent++) other.add(scripts[sent]!);
      return other.check(assumptions, units, milliseconds);
    },
    dispose: () => other?.dispose(),
  };
}

function isOfBits([head, , sort]: SExpression): boolean {
  return head === 'declare-const' && typeof sort === 'object' && sort[1] === 'BitVec';
}

function takeBits(problem: BitProblem, [head, name, sort, , value]: SExpression): void {
  if (head === 'declare-const') problem.declare(name as string, sort!);
  else if (head === 'define-fun' && sort?.length === 0) problem.define(name as string, value!);
  else if (head === 'assert') problem.assert(name!);
  else throw new Undecided(String(head));
}

function decideLinear(commands: readonly SExpression[], assumptions: readonly string[], most: number): SolverAnswer {
  const problem = new LinearProblem(most);
  for (const [head, name, sort] of commands) {
    if (head === 'declare-const') problem.declare(name as string, sort!);
    else if (head !== 'assert') throw new Undecided(String(head));
    else if (isSelected(name!, assumptions)) problem.assert(name!);
  }
  for (const assumption of assumptions) problem.assert(assumption);
  return problem.solve();
}

/** Whether an assertion counts: not what a name implies (`selN`, in no other place) that is not assumed. */
function isSelected(assertion: SExpression, assumptions: readonly string[]): boolean {
  const [head, name] = assertion;
  return head !== '=>' || typeof name !== 'string' || !/^sel\d+$/.test(name) || assumptions.includes(name);
}
