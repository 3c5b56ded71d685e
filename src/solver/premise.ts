/** Premises about the unknowns of questions, and the questions that need them. */

export interface Premise {
  /** One command of SMT-LIB: a declaration, a definition or an assertion. */
  readonly text: string;
  /**
   * The unknown that an assertion helps to define: a question that mentions it needs the assertion. Null if the
   * assertion belongs to no definition: then each question that mentions one of its names needs it.
   */
  readonly of: string | null;
  /** The separately defined unknowns that an assertion compares: questions omit it until a model violates it. */
  readonly compares?: readonly string[];
  /** The value of an unknown. It completes models, and is not part of any question. */
  readonly means?: { readonly name: string; readonly value: string };
}

/** Collects premises as the terms that they mention are encoded. */
export class PremiseList {
  private collected: Premise[] = [];
  /** The unknown that is being defined. */
  private defined: string | null = null;

  /** Premises since the last call. */
  take(): readonly Premise[] {
    const taken = this.collected;
    this.collected = [];
    return taken;
  }

  /** Adds commands to the current definition. */
  emit(...texts: readonly string[]): void {
    for (const text of texts) this.collected.push({ text, of: this.defined });
  }

  /** Adds an assertion to the current definition. */
  assert(formula: string, means?: Premise['means']): void {
    if (formula !== 'true') this.collected.push({ text: `(assert ${formula})`, of: this.defined, ...(means && { means }) });
  }

  /** Adds an assertion that compares two unknowns defined independently of each other. */
  compare(one: string, other: string, formula: string): void {
    this.collected.push({ text: `(assert ${formula})`, of: null, compares: [one, other] });
  }

  /** Builds the definition of an unknown: premises that `build` adds belong to it. */
  define<Result>(name: string, build: () => Result): Result {
    const outer = this.defined;
    this.defined = name;
    const result = build();
    this.defined = outer;
    return result;
  }
}
