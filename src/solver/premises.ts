/**
 * The premises of a session, and questions together with the premises that they need: the definitions of their names,
 * and later those that their models violate. A question is written in a normal form, its names numbered by first
 * occurrence, so that questions that differ only in names are equal.
 */
import type { Premise } from './premise.ts';
import { readCommands, type SExpression } from './s-expression.ts';
import type { Model } from './solver.ts';
import { type Evaluator, evaluatorOf } from './truth-of.ts';

/** A parsed premise, with the names that it mentions. */
interface ParsedPremise {
  readonly text: string;
  /** Names and the text between them, alternating. */
  readonly pieces: readonly string[];
  readonly names: readonly string[];
  readonly compares?: Premise['compares'];
  /** For an assertion over integers and truth values. */
  readonly evaluator: () => Evaluator;
}

/** An equation that defines an unknown. */
interface Equation {
  readonly factor: bigint;
  readonly value: Evaluator;
}

export class Premises {
  /** Declarations and definitions, by name. */
  private readonly introduced = new Map<string, ParsedPremise>();
  private readonly definitions = new Map<string, ParsedPremise[]>();
  private readonly equations = new Map<string, Equation>();
  private readonly assertions: ParsedPremise[] = [];
  /** Assertions that define no unknown, and assertions that compare unknowns. */
  private readonly common: ParsedPremise[] = [];
  private readonly comparing: ParsedPremise[] = [];
  private isOfBits = false;

  add({ text, of, compares, means }: Premise): void {
    if (!text.startsWith('(assert')) {
      const [, , name] = text.split(/[\s()]+/, 3) as [string, string, string];
      this.introduced.set(name, this.parsed(text, name));
      this.isOfBits ||= text.includes('BitVec');
      return;
    }
    const parsed = { ...this.parsed(text), ...(compares && { compares }) };
    // A premise of the launch that is true anyway does not make another question.
    if (parsed.names.length === 0 && isTrivial(text)) return;
    this.assertions.push(parsed);
    // The equation of an unknown takes precedence: models that violate its formula violate the equation.
    if (means && !this.equations.has(means.name))
      this.equations.set(means.name, { factor: 1n, value: evaluatorOf(expressionOf(means.value)) });
    if (compares) this.comparing.push(parsed);
    else if (of === null) this.common.push(parsed);
    else {
      const list = this.definitions.get(of);
      if (list) list.push(parsed);
      else this.definitions.set(of, [parsed]);
      if (text.startsWith('(assert (= ')) this.noteEquation(of, text);
    }
  }

  /**
   * The question whether a formula is satisfiable, with the premises that it reaches through definitions.
   * @param mode a truth value that is assumed in addition
   */
  question(formula: string, mode?: string): PremisedQuestion {
    const question = new PremisedQuestion(this.introduced, this.definitions);
    const { names: subject } = this.parsed(formula);
    question.ask(this.parsed(mode === undefined ? `(assert ${formula})` : `(assert (and ${mode} ${formula}))`));
    // A question without names asks whether all premises are consistent.
    const isNeeded = ({ names }: ParsedPremise): boolean =>
      names.length === 0 || subject.length === 0 || names.some((name) => question.reaches(name));
    for (let isNew = true; isNew;) {
      isNew = false;
      for (const one of this.common) if (isNeeded(one)) isNew = question.take(one) || isNew;
    }
    // Violated premises over bit-vectors are not evaluated.
    if (this.isOfBits) for (const one of this.comparing) if (one.compares!.every((name) => question.reaches(name))) question.take(one);
    return question;
  }

  /** Premises omitted from the question that its model does not satisfy. */
  broken(question: PremisedQuestion, model: Model): readonly ParsedPremise[] {
    if (this.isOfBits) return [];
    const known = new Map<string, bigint | boolean | undefined>(model);
    const lookup = (name: string): bigint | boolean | undefined => {
      if (known.has(name)) return known.get(name);
      // Marks the unknown as being evaluated: a cyclic definition has no value.
      known.set(name, undefined);
      const equation = this.equations.get(name);
      const value = equation?.value(lookup);
      // If no integer satisfies the equation, the one below violates it.
      const result = typeof value === 'bigint' ? value / equation!.factor : value;
      known.set(name, result);
      return result;
    };
    return this.assertions.filter((one) => {
      if (question.has(one)) return false;
      const value = one.evaluator()(lookup);
      // Operands of a comparison may have no value yet.
      const isOpen = value === undefined && one.compares?.every((name) => question.reaches(name)) === true;
      return value === false || isOpen;
    });
  }

  private parsed(text: string, own?: string): ParsedPremise {
    const pieces = text.split(/([^\s()]+)/);
    const names: string[] = [];
    // Every second piece is a word.
    const merged = [''];
    for (const [i, piece] of pieces.entries()) {
      if (i % 2 === 1 && (piece === own || this.introduced.has(piece))) {
        merged.push(piece, '');
        if (piece !== own && !names.includes(piece)) names.push(piece);
      } else merged[merged.length - 1] += piece;
    }
    let evaluator: Evaluator | undefined;
    return {
      text,
      pieces: merged,
      names,
      evaluator: () => (evaluator ??= evaluatorOf((expressionOf(text) as readonly SExpression[])[1]!)),
    };
  }

  /** `name = value` or `factor * name = value`. */
  private noteEquation(name: string, text: string): void {
    const [, [, left, right]] = expressionOf(text) as unknown as [string, [string, SExpression, SExpression]];
    const [times, factor, of] = typeof left === 'string' ? ['*', '1', left] : left;
    if (times !== '*' || of !== name || typeof factor !== 'string') return;
    this.equations.set(name, { factor: BigInt(factor), value: evaluatorOf(right) });
  }
}

/** Whether an assertion without names is `true`, or equates a number with itself. */
function isTrivial(text: string): boolean {
  const [, claim] = expressionOf(text) as readonly [string, SExpression];
  if (typeof claim === 'string') return claim === 'true';
  const [operator, a, b] = claim;
  return operator === '=' && claim.length === 3 && JSON.stringify(a) === JSON.stringify(b);
}

function expressionOf(text: string): SExpression {
  return readCommands(text)[0]!;
}

/** A question: a formula with the premises added so far. */
export class PremisedQuestion {
  /** The names in the normal form. */
  private readonly numbered = new Map<string, string>();
  private readonly held = new Set<ParsedPremise>();
  private readonly commands: ParsedPremise[] = [];
  private asked: ParsedPremise | undefined;
  private readonly introduced: ReadonlyMap<string, ParsedPremise>;
  private readonly definitions: ReadonlyMap<string, readonly ParsedPremise[]>;

  constructor(introduced: ReadonlyMap<string, ParsedPremise>, definitions: ReadonlyMap<string, readonly ParsedPremise[]>) {
    this.introduced = introduced;
    this.definitions = definitions;
  }

  ask(formula: ParsedPremise): void {
    this.asked = formula;
    this.reachAll(formula.names);
  }

  /** Whether the question mentions a name. */
  reaches(name: string): boolean {
    return this.numbered.has(name);
  }

  has(premise: ParsedPremise): boolean {
    return this.held.has(premise);
  }

  /** Adds a premise, with the definitions of its names. @returns whether it was missing */
  take(premise: ParsedPremise): boolean {
    if (this.held.has(premise)) return false;
    this.held.add(premise);
    this.reachAll(premise.names);
    this.commands.push(premise);
    return true;
  }

  /** Declarations, definitions and premises, in their original order. */
  get premises(): readonly string[] {
    return this.commands.map(({ text }) => text);
  }

  /** The commands in the normal form, the formula last. */
  get normalForm(): string {
    return [...this.commands, this.asked!].map((parsed) => this.renamed(parsed)).join('\n');
  }

  /** A model of the normal form, for the names of the question. */
  translated(model: Model): Model {
    const own = new Map<string, bigint | boolean>();
    for (const [name, number] of this.numbered) {
      const value = model.get(number);
      if (value !== undefined) own.set(name, value);
    }
    return own;
  }

  private renamed({ pieces }: ParsedPremise): string {
    return pieces.map((piece, i) => (i % 2 === 1 ? this.numbered.get(piece)! : piece)).join('');
  }

  /** Introduces names, then their definitions: the names of a premise are defined before it. */
  private reachAll(names: readonly string[]): void {
    const fresh: string[] = [];
    for (const name of names) this.introduce(name, fresh);
    for (const name of fresh) for (const premise of this.definitions.get(name) ?? []) this.take(premise);
  }

  private introduce(name: string, fresh: string[]): void {
    if (this.numbered.has(name)) return;
    this.numbered.set(name, `v${this.numbered.size}`);
    const parsed = this.introduced.get(name)!;
    for (const part of parsed.names) this.introduce(part, fresh);
    this.commands.push(parsed);
    fresh.push(name);
  }
}
