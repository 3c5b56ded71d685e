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
  /** What an unknown is, beyond what formulas may say: it completes models, and no question holds it. */
  readonly means?: { readonly name: string; readonly value: string };
}

/** Collects premises as what they speak of is written down. */
export class PremiseList {
  private said: Premise[] = [];
  /** The unknown that is being defined. */
  private defined: string | null = null;

  /** What has been said since the last call. */
  take(): readonly Premise[] {
    const taken = this.said;
    this.said = [];
    return taken;
  }

  /** Commands of the definition that is going on. */
  emit(...texts: readonly string[]): void {
    for (const text of texts) this.said.push({ text, of: this.defined });
  }

  /** A formula that holds, of the definition that is going on. */
  assert(formula: string, means?: Premise['means']): void {
    if (formula !== 'true') this.said.push({ text: `(assert ${formula})`, of: this.defined, ...(means && { means }) });
  }

  /** A formula that compares two unknowns which are defined without each other. */
  compare(one: string, other: string, formula: string): void {
    this.said.push({ text: `(assert ${formula})`, of: null, compares: [one, other] });
  }

  /** What is said meanwhile belongs to the definition of an unknown. */
  define<Result>(name: string, build: () => Result): Result {
    const outer = this.defined;
    this.defined = name;
    const result = build();
    this.defined = outer;
    return result;
  }
}
