/** A tier with a solver: one session, for all obligations of one scope over one encoding. */
import { settled, type Steps } from '../../base/steps.ts';
import { isSpent, type SolverEffort } from '../question/budget.ts';
import { type MeasuredSession, openBuiltIn } from '../../solver/built-in.ts';
import type { Model, Solver, SolverAnswer } from '../../solver/solver.ts';
import type { Hit } from './enumerate.ts';
import type { Term } from '../../term/term.ts';
import type { Reason } from '../../verdict/reason.ts';

export type ObligationResult =
  | {
      readonly kind: 'proved';
      readonly assumes: readonly Term[];
      /** What was assumed. */
      readonly mode?: string | undefined;
      /** What was asked, where certificates are wanted. */
      readonly asked?: Asked;
    }
  /** Two threads may meet; `hits` name some, `model` is the solver's. */
  | {
      readonly kind: 'open';
      readonly hits: readonly Hit[];
      readonly model: Model | null;
      readonly reason: Reason;
    }
  | { readonly kind: 'budget'; readonly reason: Reason };

/** A question that has no model. */
export interface Asked {
  /** Declarations, definitions and premises, in SMT-LIB. */
  readonly scripts: readonly string[];
  readonly question: string;
  readonly by: 'z3' | 'built-in';
  /** Z3 resource units that the question may take. */
  readonly units: number;
}

/** Collects declarations for a session, and puts what is asked over them. */
interface Encoding {
  /** What has been declared and defined since the last call. */
  readonly takeScript: () => string;
  /** Terms taken not to wrap around in formulas since the last call, and in all definitions. */
  readonly takeAssumptions: () => Term[];
  /** A model with the numbers that the unknowns stand for, where they are not those of the solver. */
  readonly readModel?: (model: Model) => Model;
}

/** One solver session for all obligations of one scope. */
export class SolverTier {
  private readonly session: MeasuredSession;
  private readonly encoding: Encoding;
  private readonly units: number;
  private readonly effort: SolverEffort | undefined;
  /** What the session was told, where certificates are wanted. */
  private readonly kept: string[] | null;
  private queries = 0;
  /** Code that is written out many times asks the same many times. */
  private readonly answered = new Map<string, ObligationResult>();

  /**
   * @param solver starts what is asked where our own procedures have no answer
   * @param premises SMT-LIB formulas that hold in every execution (the user's assumptions)
   * @param units Z3 resource units for one query
   * @param effort what is left for all queries of the check
   * @param keeps whether what is asked is kept for certificates
   */
  constructor(
    solver: () => Promise<Solver>,
    encoding: Encoding,
    premises: readonly string[],
    units: number,
    effort?: SolverEffort,
    keeps = false,
  ) {
    this.kept = keeps ? [] : null;
    this.session = openBuiltIn(solver);
    this.encoding = encoding;
    this.units = units;
    this.effort = effort;
    this.add(encoding.takeScript());
    for (const premise of premises) this.add(`(assert ${premise})`);
  }

  /**
   * Decides one formula over the encoding's unknowns.
   * @param modes names to assume, one after the other until the formula is excluded; none: nothing more
   */
  *decide(formula: string, modes: readonly string[] = []): Steps<ObligationResult> {
    const assumes = this.encoding.takeAssumptions();
    const key = [formula, ...modes].join(' ');
    const known = this.answered.get(key);
    if (known) return known;
    if (isSpent(this.effort)) return { kind: 'budget', reason: { kind: 'solver-gave-up-often' } };
    const before = this.session.effort();
    const selector = `sel${this.queries++}`;
    const script = this.encoding.takeScript();
    this.kept?.push(script);
    this.session.add(`${script}\n(declare-const ${selector} Bool)\n(assert (=> ${selector} ${formula}))`);
    let [assumed] = modes;
    let answer = yield* settled(() => this.session.check([selector, ...modes.slice(0, 1)], this.units));
    for (const mode of modes.slice(1)) {
      if (answer.kind === 'unsat') break;
      answer = yield* settled(() => this.session.check([selector, mode], this.units));
      assumed = mode;
    }
    if (this.effort) this.effort.left -= this.session.effort() - before;
    const read = this.read(answer, assumes, assumed);
    const result = read.kind === 'proved' && this.kept ? { ...read, asked: this.askedOf(formula, assumed) } : read;
    this.answered.set(key, result);
    return result;
  }

  private add(script: string): void {
    this.session.add(script);
    this.kept?.push(script);
  }

  private askedOf(formula: string, mode: string | undefined): Asked {
    const question = mode === undefined ? formula : `(and ${mode} ${formula})`;
    return { scripts: [...this.kept!], question, by: this.session.answeredBy(), units: this.units };
  }

  private read(answer: SolverAnswer, assumes: readonly Term[], mode: string | undefined): ObligationResult {
    switch (answer.kind) {
      case 'unsat':
        return { kind: 'proved', assumes, mode };
      case 'sat':
        return {
          kind: 'open',
          hits: [],
          model: this.encoding.readModel?.(answer.model) ?? answer.model,
          reason: { kind: 'not-reproduced' },
        };
      case 'unknown':
        return { kind: 'budget', reason: { kind: 'solver-gave-up', cause: answer.reason } };
    }
  }

  dispose(): void {
    this.session.dispose();
  }
}
