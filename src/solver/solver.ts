/**
 * The one interface to a decision procedure. Formulas are SMT-LIB 2 text over sorts Int, Bool and (_ BitVec n).
 * Only this folder knows Z3.
 */
export type SolverAnswer = Decision & {
  /** Resource units that the check took; absent if that is not known. */
  readonly units?: number;
};

type Decision =
  | { readonly kind: 'unsat' }
  /** Values of the declared constants: integers (also of bit-vectors, unsigned) and truth values. */
  | { readonly kind: 'sat'; readonly model: Model }
  /**
   * Budget exhausted, killed, or an error of the solver: never a verdict. `nondeterministic`: the cause is not the
   * budget.
   */
  | { readonly kind: 'unknown'; readonly reason: string; readonly nondeterministic?: true };

/** Values by the name of the constant. */
export type Model = ReadonlyMap<string, bigint | boolean>;

/** One solver context: declarations and assertions stay until it is disposed. */
export interface SolverSession {
  /** Adds SMT-LIB commands (`declare-const`, `define-fun`, `assert`). */
  add(script: string): void;
  /**
   * Decides the assertions so far together with the named Boolean constants, within `units` of Z3's rlimit.
   * @param milliseconds the hard limit of CPU time, after which the solver is killed; by default a generous one
   * @throws Error naming the parse error, at this and each later check, when an added script does not parse: it must
   *   never count as sat
   */
  check(assumptions: readonly string[], units: number, milliseconds?: number): Promise<SolverAnswer>;
  /** Milliseconds of CPU that its checks have taken so far; undefined if unknown. */
  cpu?(): number | undefined;
  dispose(): void;
}

export interface Solver {
  /** For the report: `z3-solver 5.2.0 (wasm)`. */
  readonly name: string;
  open(): SolverSession;
  /** Ends worker threads or processes, so that the program can exit. */
  close(): Promise<void>;
}
