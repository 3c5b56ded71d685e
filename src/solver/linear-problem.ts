/**
 * Linear integer arithmetic with truth values: formulas become clauses over comparisons of sums with constants, and the
 * simplex method decides which of those are consistent. Non-integer values are split on.
 */
import { type Exact, exact, added } from '../base/exact.ts';
import { absolute, gcd } from '../base/integer.ts';
import { maxParts, maxSplits } from './limits.ts';
import { type Literal, Sat, type SatRecorder, type Theory } from './sat.ts';
import { type SExpression, Undecided } from './s-expression.ts';
import type { SolverAnswer } from './solver.ts';
import { given, Simplex } from './simplex.ts';

/** constant + sum of coefficient * column. */
interface Linear {
  readonly constant: bigint;
  readonly terms: ReadonlyMap<number, bigint>;
}

type Formula =
  | { readonly kind: 'literal'; readonly literal: Literal }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Formula[] };

const always: Formula = { kind: 'and', parts: [] };
const never: Formula = { kind: 'or', parts: [] };

/** The comparison `column <= bound`; its negation is `column >= bound + 1`. */
interface Atom {
  readonly column: number;
  readonly bound: Exact;
}

/** Records the steps of a proof that the formulas are unsatisfiable. */
interface LinearRecorder extends SatRecorder {
  /**
   * Reports a conflict: the literals cannot all be true. `sum`: the sum of their comparisons, multiplied by the
   * factors, is a contradiction. `divisor`: pairs of literals fix the values of sums, and the sum of these values times
   * the factors is not divisible by the common divisor of its terms.
   */
  readonly excluded: (literals: readonly Literal[], factors: readonly bigint[], kind: 'sum' | 'divisor') => void;
}

/** Meaning of a literal without its sign: a comparison of a sum with a bound, or a truth value. */
type LiteralMeaning = { readonly terms: ReadonlyMap<string, bigint>; readonly bound: bigint } | null;

/** Number of values of a variable, less one, that are tried individually first. */
const fewTried = 7;

export class LinearProblem {
  private readonly simplex = new Simplex();
  private readonly sat: Sat;
  private readonly integers = new Map<string, number>();
  private readonly truths = new Map<string, Literal>();
  private readonly sums = new Map<string, number>();
  private readonly atoms: (Atom | undefined)[] = [];
  /** Atoms of a column, by rising bound. */
  private readonly byColumn = new Map<number, { readonly bound: Exact; readonly literal: Literal }[]>();
  /** The marks of the simplex before each literal. */
  private readonly marks: number[] = [];
  private readonly divisions = new Map<string, readonly [quotient: Linear, remainder: Linear]>();
  /** Declared variables that are not defined in terms of others. */
  private readonly dividable = new Set<number>();
  /** Variables that were replaced by an expression in quotient and remainder. */
  private readonly written = new Map<number, Linear>();
  private readonly digits = new Set<number>();
  private names: Map<number, string> | undefined;
  private splits = 0;
  /** Size of the current formula: both sides of an equivalence count for each use. */
  private parts = 0;

  private readonly recorder: LinearRecorder | null;

  /** @param recorder records a proof */
  constructor(recorder: LinearRecorder | null = null) {
    this.recorder = recorder;
    this.simplex.explains = recorder !== null;
    const theory: Theory = {
      assign: (literal) => this.assign(literal),
      retract: (kept) => {
        this.simplex.retract(this.marks[kept]!);
        this.marks.length = kept;
      },
      check: () => this.literalsOf(this.simplex.check()),
      holds: (literal) => {
        const atom = this.atoms[literal >> 1];
        return atom && this.simplex.isAtMost(atom.column, atom.bound) === ((literal & 1) === 0);
      },
      complete: () => this.completeIntegers(),
      work: () => this.simplex.work,
    };
    this.sat = new Sat(theory, recorder);
  }

  declare(name: string, sort: SExpression): void {
    if (sort === 'Int') {
      const column = this.simplex.add();
      this.integers.set(name, column);
      this.dividable.add(column);
    } else if (sort === 'Bool') this.truths.set(name, 2 * this.newVariable());
    else throw new Undecided('sort');
  }

  /** Adds a formula as an assertion, or as an implication of a name. @throws Undecided if it is not linear */
  assert(expression: SExpression): void {
    this.sat.reset();
    this.parts = 0;
    const [head, name, implied] = expression;
    const selector = head === '=>' && typeof name === 'string' ? this.truths.get(name) : undefined;
    if (selector === undefined) this.require(this.formula(expression, true), []);
    else this.require(this.formula(implied!, true), [selector ^ 1], true);
  }

  /** Effort of all questions so far, as {@link Sat.effort} counts it. */
  get effort(): number {
    return this.sat.effort;
  }

  /** Decides the assertions together with the named truth values. @param most work, in conflicts and coefficients */
  solve(most: number, assumptions: readonly string[]): SolverAnswer {
    this.splits = 0;
    this.simplex.mostWork = this.simplex.work + most;
    const assumed = assumptions.map((name) => this.truths.get(name));
    if (!assumed.every((literal) => literal !== undefined)) throw new Undecided('assumption');
    const kind = this.sat.solve(most, assumed);
    if (kind === 'unknown') return { kind, reason: 'budget exhausted' };
    if (kind === 'unsat') return { kind };
    const model = new Map<string, bigint | boolean>();
    for (const [name, column] of this.integers) if (!name.startsWith(' ')) model.set(name, BigInt(this.simplex.floor(column)));
    for (const [name, literal] of this.truths) model.set(name, this.sat.isTrue(literal));
    return { kind, model };
  }

  private newVariable(): number {
    this.atoms.push(undefined);
    return this.sat.newVariable();
  }

  private assign(literal: Literal): readonly Literal[] | null {
    this.marks.push(this.simplex.mark);
    const atom = this.atoms[literal >> 1];
    if (!atom) return null;
    const isUpper = (literal & 1) === 0;
    return this.literalsOf(this.simplex.bound(atom.column, isUpper, isUpper ? atom.bound : added(atom.bound, 1), literal));
  }

  private literalsOf(sources: readonly number[] | null): readonly Literal[] | null {
    if (sources && this.recorder) this.recorder.excluded(sources, this.simplex.factors.map(BigInt), 'sum');
    return sources && [...new Set(sources)].filter((source) => source !== given);
  }

  /** Meaning of a variable in the recorded clauses. */
  meaningOf(variable: number): LiteralMeaning {
    const atom = this.atoms[variable];
    if (!atom) return null;
    const names = (this.names ??= new Map([...this.integers].map(([name, column]) => [column, name])));
    const sum = this.simplex.sumAt(atom.column) ?? [[atom.column, 1n]];
    return { terms: new Map(sum.map(([column, factor]) => [names.get(column)!, factor])), bound: BigInt(atom.bound) };
  }

  private completeIntegers(): ReturnType<Theory['complete']> {
    const broken = [...this.integers.values()].filter((column) => !this.simplex.isInteger(column));
    if (broken.length === 0) return { kind: 'model' };
    if (++this.splits > maxSplits) return { kind: 'unknown' };
    let best: number | null = null;
    let range: Exact | null = null;
    for (const column of broken) {
      const conflict = this.simplex.divisibilityConflict(column);
      if (conflict) {
        this.recorder?.excluded(conflict, this.simplex.factors.map(BigInt), 'divisor');
        return { kind: 'conflict', literals: [...new Set(conflict)] };
      }
      for (const candidate of [column, ...this.simplex.undividedParts(column)]) {
        const own = this.simplex.range(candidate);
        if (candidate !== column && (own === null || own > fewTried)) continue;
        if (best === null || (own !== null && (range === null || own < range))) [best, range] = [candidate, own];
      }
    }
    if (range === null || range > fewTried) best = [...this.digits].find((digit) => !this.simplex.isInteger(digit)) ?? best!;
    const floor = this.simplex.floor(best!);
    const literal = this.simplex.isAtUpper(best!) ? this.atom(best!, added(floor, -1)) ^ 1 : this.atom(best!, floor);
    return { kind: 'split', literal };
  }

  /** The literal `column <= bound`. */
  private atom(column: number, bound: Exact): Literal {
    let list = this.byColumn.get(column);
    if (!list) this.byColumn.set(column, (list = []));
    let at = list.findIndex((other) => other.bound >= bound);
    if (at < 0) at = list.length;
    if (list[at]?.bound === bound) return list[at]!.literal;
    const literal = 2 * this.newVariable();
    this.atoms[literal >> 1] = { column, bound };
    // Adjacent bounds on one column: the tighter one implies the other.
    const [below, above] = [list[at - 1], list[at]];
    if (below) this.imply(below.literal, literal);
    if (above) this.imply(literal, above.literal);
    list.splice(at, 0, { bound, literal });
    return literal;
  }

  /** Adds the implication between two bounds on one column. */
  private imply(literal: Literal, other: Literal): void {
    this.recorder?.excluded([literal, other ^ 1], [1n, 1n], 'sum');
    this.sat.add([literal ^ 1, other], false, true);
  }

  /** The formula `linear <= 0`. */
  private atMostZero({ constant, terms }: Linear): Formula {
    if (terms.size === 0) return constant <= 0n ? always : never;
    // A sum and its negation share one column.
    const sorted = [...terms].sort(([a], [b]) => a - b);
    const [first, leading] = sorted[0]!;
    let divisor = 0n;
    for (const [, coefficient] of sorted) divisor = gcd(divisor, coefficient);
    const sign = leading < 0n ? -1n : 1n;
    // sign * divisor * sum + constant <= 0.
    const column =
      sorted.length === 1 ? first : this.columnOf(new Map(sorted.map(([part, coefficient]) => [part, (sign * coefficient) / divisor])));
    if (sign > 0n) return { kind: 'literal', literal: this.atom(column, exact(floorOf(-constant, divisor))) };
    return { kind: 'literal', literal: this.atom(column, exact(-floorOf(-constant, divisor) - 1n)) ^ 1 };
  }

  private columnOf(terms: ReadonlyMap<number, bigint>): number {
    const key = [...terms].map(([column, coefficient]) => `${column}*${coefficient}`).join();
    let column = this.sums.get(key);
    if (column === undefined) {
      this.sums.set(key, (column = this.simplex.add(terms)));
      this.noteDigits(terms);
    }
    return column;
  }

  /**
   * Notes digits: in a*x + a*y + z with z smaller than a, the sum x + y is a digit. That x + y is an integer is a
   * stronger constraint than that x is.
   */
  private noteDigits(terms: ReadonlyMap<number, bigint>): void {
    const sorted = [...terms].sort(([, a], [, b]) => (absolute(a) < absolute(b) ? 1 : absolute(a) > absolute(b) ? -1 : 0));
    let divisor = 0n;
    for (const [i, [, coefficient]] of sorted.entries()) {
      if (i > 1 && divisor > absolute(coefficient)) {
        const by = divisor;
        const digit = new Map(
          sorted
            .slice(0, i)
            .map(([column, factor]) => [column, factor / by] as const)
            .sort(([a], [b]) => a - b),
        );
        this.digits.add(this.columnOf(digit));
      }
      divisor = gcd(divisor, coefficient);
    }
  }

  /**
   * Adds the clauses of a formula, as a disjunction with the literals of `unless`.
   * @param isQuery its literals are needed at once; otherwise clauses stay dormant until a model violates them
   */
  private require(formula: Formula, unless: readonly Literal[], isQuery = false): void {
    if (formula.kind === 'and') for (const part of formula.parts) this.require(part, unless, isQuery);
    else this.sat.add([...unless, ...this.alternatives(formula)], !isQuery || formula.kind === 'or');
  }

  /** Literals of a clause for the formula; a new variable that implies it replaces a conjunction. */
  private alternatives(formula: Formula): Literal[] {
    if (formula.kind === 'literal') return [formula.literal];
    if (formula.kind === 'or') return formula.parts.flatMap((part) => this.alternatives(part));
    if (formula.parts.length === 1) return this.alternatives(formula.parts[0]!);
    const name = 2 * this.newVariable();
    this.require(formula, [name ^ 1]);
    return [name];
  }

  /** Normalises a formula, or its negation if `isTrue` is false. */
  private formula(expression: SExpression, isTrue: boolean): Formula {
    if (++this.parts > maxParts) throw new Undecided('size');
    if (typeof expression === 'string') {
      if (expression === 'true' || expression === 'false') return (expression === 'true') === isTrue ? always : never;
      const literal = this.truths.get(expression);
      if (literal === undefined) throw new Undecided(expression);
      return { kind: 'literal', literal: isTrue ? literal : literal ^ 1 };
    }
    const [head, ...parts] = expression;
    const both = (kind: 'and' | 'or', list: readonly Formula[]): Formula => combined(isTrue === (kind === 'and') ? 'and' : 'or', list);
    switch (head) {
      case 'not':
        return this.formula(parts[0]!, !isTrue);
      case 'and':
      case 'or':
        return both(
          head,
          parts.map((part) => this.formula(part, isTrue)),
        );
      case '=>': {
        const last = parts.length - 1;
        return both(
          'or',
          parts.map((part, i) => this.formula(part, (i === last) === isTrue)),
        );
      }
      case 'xor':
        return this.differ(parts[0]!, parts[1]!, isTrue);
      case 'ite': {
        const [condition, yes, no] = parts as [SExpression, SExpression, SExpression];
        return combined('and', [
          combined('or', [this.formula(condition, false), this.formula(yes, isTrue)]),
          combined('or', [this.formula(condition, true), this.formula(no, isTrue)]),
        ]);
      }
      case '=': {
        if (this.isTruth(parts[0]!)) {
          if (parts.length !== 2) throw new Undecided('=');
          return this.differ(parts[0]!, parts[1]!, !isTrue);
        }
        return both(
          'and',
          this.differences(parts).map((difference) => this.equalsZero(difference, isTrue)),
        );
      }
      case '<=':
      case '<':
      case '>=':
      case '>': {
        const list = this.differences(head.startsWith('<') ? parts : [...parts].reverse());
        const offset = head.length === 1 ? 1n : 0n;
        return both(
          'and',
          list.map((difference) => {
            const form = plus(difference, { constant: offset, terms: new Map() }, 1n);
            return this.atMostZero(isTrue ? form : scaled(form, -1n, 1n));
          }),
        );
      }
      default:
        throw new Undecided(String(head));
    }
  }

  private differ(a: SExpression, b: SExpression, isTrue: boolean): Formula {
    return combined('and', [
      combined('or', [this.formula(a, true), this.formula(b, isTrue)]),
      combined('or', [this.formula(a, false), this.formula(b, !isTrue)]),
    ]);
  }

  private isTruth(expression: SExpression): boolean {
    if (typeof expression === 'string') return this.truths.has(expression) || /^(true|false)$/.test(expression);
    const [head, , second] = expression;
    if (head === 'ite') return this.isTruth(second!);
    return typeof head === 'string' && /^(not|and|or|=>|xor|=|<|<=|>|>=)$/.test(head);
  }

  private equalsZero(form: Linear, isTrue: boolean): Formula {
    let divisor = 0n;
    for (const coefficient of form.terms.values()) divisor = gcd(divisor, coefficient);
    if (divisor !== 0n && form.constant % divisor !== 0n) return isTrue ? never : always;
    const negated = scaled(form, -1n, 0n);
    if (isTrue) return combined('and', [this.atMostZero(form), this.atMostZero(negated)]);
    const one = { constant: 1n, terms: new Map() };
    return combined('or', [this.atMostZero(plus(form, one, 1n)), this.atMostZero(plus(negated, one, 1n))]);
  }

  /** The differences of consecutive terms. */
  private differences(parts: readonly SExpression[]): Linear[] {
    const numbers = parts.map((part) => this.number(part));
    return numbers.slice(1).map((next, i) => plus(numbers[i]!, next, -1n));
  }

  private number(expression: SExpression): Linear {
    if (++this.parts > maxParts) throw new Undecided('size');
    if (typeof expression === 'string') {
      if (/^\d+$/.test(expression)) return { constant: BigInt(expression), terms: new Map() };
      const column = this.integers.get(expression);
      if (column === undefined) throw new Undecided(expression);
      return this.written.get(column) ?? { constant: 0n, terms: new Map([[column, 1n]]) };
    }
    const [head, ...parts] = expression;
    switch (head) {
      case '+':
        return parts.map((part) => this.number(part)).reduce((a, b) => plus(a, b, 1n));
      case '-': {
        const [first, ...rest] = parts.map((part) => this.number(part)) as [Linear, ...Linear[]];
        return rest.length === 0 ? scaled(first, -1n, 0n) : rest.reduce((a, b) => plus(a, b, -1n), first);
      }
      case '*': {
        return parts
          .map((part) => this.number(part))
          .reduce((a, b) => {
            if (a.terms.size > 0 && b.terms.size > 0) throw new Undecided('*');
            return a.terms.size === 0 ? scaled(b, a.constant, 0n) : scaled(a, b.constant, 0n);
          });
      }
      case 'div':
      case 'mod':
        return this.division(parts[0]!, parts[1]!)[head === 'div' ? 0 : 1];
      case 'ite': {
        const [condition, yes, no] = parts as [SExpression, SExpression, SExpression];
        const [a, b] = [this.number(yes), this.number(no)];
        const chosen = this.fresh();
        this.require(this.equalsZero(plus(chosen, a, -1n), true), this.alternatives(this.formula(condition, false)));
        this.require(this.equalsZero(plus(chosen, b, -1n), true), this.alternatives(this.formula(condition, true)));
        return chosen;
      }
      default:
        throw new Undecided(String(head));
    }
  }

  /** Quotient and remainder by a positive constant, rounded down. */
  private division(dividend: SExpression, divisor: SExpression): readonly [quotient: Linear, remainder: Linear] {
    const [x, { constant: by, terms }] = [this.number(dividend), this.number(divisor)];
    if (terms.size > 0 || by <= 0n) throw new Undecided('div');
    // Addends that are multiples of the divisor are not part of the remainder.
    const whole = { constant: floorOf(x.constant, by), terms: mapped(x.terms, (factor) => floorOf(factor, by)) };
    const rest = plus(x, whole, -by);
    if (rest.terms.size === 0) return [whole, rest];
    const key = `${[...rest.terms].map(([column, coefficient]) => `${column}*${coefficient}`).join()}+${rest.constant}/${by}`;
    let known = this.divisions.get(key);
    if (!known) {
      const quotient = this.fresh();
      let remainder = plus(rest, quotient, -by);
      const first = [...rest.terms].find(([column, factor]) => factor === 1n && this.dividable.has(column))?.[0];
      if (first !== undefined) {
        this.dividable.delete(first);
        // From here on the variable is expressed by its quotient and remainder, so that further divisions by the same
        // divisor reuse them.
        const left = this.fresh();
        this.require(this.equalsZero(plus(remainder, left, -1n), true), []);
        const others = plus(rest, { constant: 0n, terms: new Map([[first, 1n]]) }, -1n);
        this.written.set(first, plus(plus(left, quotient, by), others, -1n));
        remainder = left;
      }
      known = [quotient, remainder];
      this.divisions.set(key, known);
      this.require(this.atMostZero(scaled(remainder, -1n, 0n)), []);
      this.require(this.atMostZero(plus(remainder, { constant: 1n - by, terms: new Map() }, 1n)), []);
    }
    return [plus(whole, known[0], 1n), known[1]];
  }

  private fresh(): Linear {
    const column = this.simplex.add();
    this.integers.set(` ${column}`, column);
    return { constant: 0n, terms: new Map([[column, 1n]]) };
  }
}

function combined(kind: 'and' | 'or', parts: readonly Formula[]): Formula {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
  const neutral = kind === 'and' ? 'or' : 'and';
  // An empty conjunction is true, an empty disjunction is false.
  if (flat.some((part) => part.kind === neutral && part.parts.length === 0)) return { kind: neutral, parts: [] };
  return flat.length === 1 ? flat[0]! : { kind, parts: flat };
}

function plus(a: Linear, b: Linear, factor: bigint): Linear {
  const terms = new Map(a.terms);
  for (const [column, coefficient] of b.terms) {
    const total = (terms.get(column) ?? 0n) + factor * coefficient;
    if (total === 0n) terms.delete(column);
    else terms.set(column, total);
  }
  return { constant: a.constant + factor * b.constant, terms };
}

/** factor * form + offset. */
function scaled(form: Linear, factor: bigint, offset: bigint): Linear {
  if (factor === 0n) return { constant: offset, terms: new Map() };
  return {
    constant: factor * form.constant + offset,
    terms: mapped(form.terms, (coefficient) => factor * coefficient),
  };
}

function mapped(terms: ReadonlyMap<number, bigint>, change: (coefficient: bigint) => bigint): Map<number, bigint> {
  const list = [...terms].map(([column, coefficient]) => [column, change(coefficient)] as const);
  return new Map(list.filter(([, coefficient]) => coefficient !== 0n));
}

function floorOf(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a < 0n && quotient * b !== a ? quotient - 1n : quotient;
}
