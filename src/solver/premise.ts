/** What holds of the unknowns of questions, and which questions need it. */

export interface Premise {
  /** One command of SMT-LIB: a declaration, a definition or an assertion. */
  readonly text: string;
  /**
   * The unknown of which an assertion is part of the definition: a question that speaks of it needs the assertion. Null
   * where it belongs to none: each question needs it that speaks of one of its names.
   */
  readonly of: string | null;
  /**
   * The unknowns, defined without each other, that an assertion compares: a question that speaks of them does without it
   * until a model does not meet it.
   */
  readonly compares?: readonly string[];
}
