/**
 * Converts results of the solver tiers to certificates. The linear procedure decides the question a second time and
 * records the steps of its proof. A question that the procedure does not decide is recorded as an SMT-LIB script with
 * the solver's answer.
 */
import type { CertificateProof, ClauseStep, ClauseVariable } from '../../certificate/certificate.ts';
import { unitsForWork } from '../../solver/limits.ts';
import { LinearProblem } from '../../solver/linear-problem.ts';
import { readCommands, Undecided } from '../../solver/s-expression.ts';
import type { SolverQuery } from '../deciding/solver-tier.ts';

/** A literal in the numbering of the procedure. */
type Literal = number;

type Told =
  | { readonly kind: 'given' | 'learnt'; readonly literals: readonly Literal[] }
  | { readonly kind: 'sum' | 'divisor'; readonly literals: readonly Literal[]; readonly factors: readonly bigint[] };

/** The claim of an unsatisfiable question, and the argument for it. */
export function solverProof(asked: SolverQuery): CertificateProof {
  return clauseProof(asked) ?? scriptProof(asked);
}

function scriptProof({ scripts, question, by }: SolverQuery): CertificateProof {
  const script = [...scripts.filter((text) => text !== ''), `(assert ${question})`, '(check-sat)'].join('\n');
  return { claim: { kind: 'script', script }, argument: { kind: 'answer', answer: 'unsat', by } };
}

/** Like {@link solverProof}, by the linear procedure only; null if it does not decide the question. */
export function clauseProof({ scripts, question, units }: SolverQuery): CertificateProof | null {
  const told: Told[] = [];
  const problem = new LinearProblem({
    given: (clause) => void told.push({ kind: 'given', literals: [...clause] }),
    learnt: (clause) => void told.push({ kind: 'learnt', literals: [...clause] }),
    excluded: (literals, factors, kind) => void told.push({ kind, literals: [...literals], factors: [...factors] }),
  });
  try {
    for (const [head, name, sort] of [...scripts, `(assert ${question})`].flatMap(readCommands)) {
      if (head === 'declare-const') problem.declare(name as string, sort!);
      else if (head === 'assert') problem.assert(name!);
      else return null;
    }
    if (problem.solve(units / unitsForWork.linear, []).kind !== 'unsat') return null;
  } catch (error) {
    if (error instanceof Undecided) return null;
    throw error;
  }
  return writtenProof(problem, told);
}

/** The proof in the form of a certificate, with its variables; those that occur in the claim come first. */
function writtenProof(problem: LinearProblem, told: readonly Told[]): CertificateProof {
  const variables: ClauseVariable[] = [];
  const numbers = new Map<number, number>();
  const numbered = (literals: readonly Literal[]): number[] =>
    literals.map((literal) => {
      const variable = literal >> 1;
      let number = numbers.get(variable);
      if (number === undefined) {
        numbers.set(variable, (number = numbers.size));
        const meaning = problem.meaningOf(variable);
        variables.push(
          meaning && {
            sum: [...meaning.terms].map(([name, factor]) => [name, String(factor)] as const),
            most: String(meaning.bound),
          },
        );
      }
      return 2 * number + (literal & 1);
    });
  const clauses = told.flatMap(({ kind, literals }) => (kind === 'given' ? [numbered(literals)] : []));
  const ofClaim = variables.length;
  const steps = told.flatMap((one): ClauseStep[] => {
    switch (one.kind) {
      case 'given':
        return [];
      case 'learnt':
        return [{ learnt: numbered(one.literals) }];
      case 'sum':
        return [{ excluded: numbered(one.literals), sum: one.factors.map(String) }];
      case 'divisor':
        return [{ excluded: numbered(one.literals), divisor: one.factors.map(String) }];
    }
  });
  return {
    claim: { kind: 'clauses', variables: variables.slice(0, ofClaim), clauses },
    argument: { kind: 'clauses', variables: variables.slice(ofClaim), steps },
  };
}
