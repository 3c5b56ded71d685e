/** A tier that queries a solver, for all obligations of one scope over one encoding. */
import { settled, type Steps } from '../../base/coroutine.ts';
import { isSpent, type SolverEffort } from '../request/check-budget.ts';
import type { Answers } from '../../solver/answers.ts';
import type { Premise } from '../../solver/premise.ts';
import { Premises, type PremisedQuestion } from '../../solver/premises.ts';
import type { Model, Solver, SolverAnswer } from '../../solver/solver.ts';
import type { Hit } from './enumerate.ts';
import type { Term } from '../../term/term.ts';
import type { Reason } from '../../verdict/reason.ts';

export type ObligationResult =
  | {
      readonly kind: 'proved';
      readonly assumes: readonly Term[];
      /** The mode whose assumption the proof uses. */
      readonly mode?: string | undefined;
      /** The unsatisfiable query, recorded if certificates are requested. */
      readonly asked?: SolverQuery;
    }
  /** Two threads may overlap; `hits` lists some pairs, `model` is the solver's. */
  | {
      readonly kind: 'open';
      readonly hits: readonly Hit[];
      readonly model: Model | null;
      readonly reason: Reason;
    }
  | { readonly kind: 'budget'; readonly reason: Reason };

/** A query without a model: it is unsatisfiable. */
export interface SolverQuery {
  /** Declarations, definitions and premises, in SMT-LIB. */
  readonly scripts: readonly string[];
  readonly question: string;
  readonly by: 'z3' | 'built-in';
  /** Limit on the Z3 resource units for this query. */
  readonly units: number;
}

/** Collects declarations and definitions for queries, and translates formulas. */
interface Encoding {
  /** Declarations and definitions since the last call. */
  readonly takePremises: () => readonly Premise[];
  /** Terms assumed not to wrap around: those in formulas since the last call, and those in all definitions. */
  readonly takeAssumptions: () => Term[];
  /** The solver's model, translated to values of the unknowns; absent if no translation is needed. */
  readonly readModel?: (model: Model) => Model;
}

/** The decision procedures for queries, and their limits. */
export interface Deciding {
  /** Starts the solver for queries that the built-in procedures do not decide. */
  readonly solver: () => Promise<Solver>;
  readonly answers: Answers;
  /** Limit on the Z3 resource units for one query. */
  readonly units: number;
  /** The remaining effort for all queries of the check. */
  readonly effort?: SolverEffort | undefined;
  /** Whether queries are recorded for certificates. */
  readonly keeps?: boolean | undefined;
}

interface Outcome {
  readonly answer: SolverAnswer;
  readonly question: PremisedQuestion;
  readonly by: 'z3' | 'built-in';
}

/** Decides the obligations of one scope over one encoding. */
export class SolverTier {
  private readonly encoding: Encoding;
  private readonly deciding: Deciding;
  private readonly premises = new Premises();
  /** Cached results, since unrolled code asks the same questions repeatedly. */
  private readonly answered = new Map<string, ObligationResult>();

  /** @param stated SMT-LIB formulas, valid in every execution (the user's assumptions) */
  constructor(encoding: Encoding, stated: readonly string[], deciding: Deciding) {
    this.encoding = encoding;
    this.deciding = deciding;
    this.takePremises();
    for (const formula of stated) this.premises.add({ text: `(assert ${formula})`, of: null });
  }

  /**
   * Decides one formula over the encoding's unknowns.
   * @param modes names to assume, in this order until the formula is refuted; empty: no assumption
   */
  *decide(formula: string, modes: readonly string[] = []): Steps<ObligationResult> {
    const assumes = this.encoding.takeAssumptions();
    const key = [formula, ...modes].join(' ');
    const known = this.answered.get(key);
    if (known) return known;
    if (isSpent(this.deciding.effort)) return { kind: 'budget', reason: { kind: 'solver-gave-up-often' } };
    this.takePremises();
    let result: ObligationResult | undefined;
    for (const mode of modes.length > 0 ? modes : [undefined]) {
      result = this.read(yield* this.ask(formula, mode), formula, assumes, mode);
      if (result.kind === 'proved') break;
    }
    this.answered.set(key, result!);
    return result!;
  }

  /**
   * Queries with the premises that are connected to the question, and again with those that the returned model
   * violates. If the query has no model, adding premises does not produce one.
   */
  private *ask(formula: string, mode: string | undefined): Steps<Outcome> {
    const { answers, units, solver, effort } = this.deciding;
    const question = this.premises.question(formula, mode);
    let ofOther = 0;
    for (let isBeyond = false; ;) {
      const found = yield* settled(() => answers.find(question.normalForm, units, solver, isBeyond));
      const { answer, by } = found;
      // A question that is passed to Z3 repeatedly with more premises counts as one query.
      if (effort) effort.left -= found.effort.own + Math.max(0, found.effort.other - ofOther);
      ofOther = Math.max(ofOther, found.effort.other);
      if (answer.kind !== 'sat') return { answer, question, by };
      const model = question.translated(answer.model);
      const broken = this.premises.broken(question, model);
      if (broken.length === 0) return { answer: { kind: 'sat', model }, question, by };
      for (const premise of broken) question.take(premise);
      // A query that the built-in procedures gave up on does not become easier by more premises.
      isBeyond = by === 'z3';
    }
  }

  private takePremises(): void {
    for (const premise of this.encoding.takePremises()) this.premises.add(premise);
  }

  private read({ answer, question, by }: Outcome, formula: string, assumes: readonly Term[], mode: string | undefined): ObligationResult {
    switch (answer.kind) {
      case 'unsat': {
        const asked = {
          scripts: question.premises,
          question: mode === undefined ? formula : `(and ${mode} ${formula})`,
          by,
          units: this.deciding.units,
        };
        return { kind: 'proved', assumes, mode, ...(this.deciding.keeps && { asked }) };
      }
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
}
