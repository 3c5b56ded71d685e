/**
 * A program under generation: the rules that it used, its definitions, and the scopes of its functions.
 *
 * Values carry an interval, and a variable keeps to its interval while it exists. Therefore no generated arithmetic
 * overflows, divides by zero or indexes out of bounds, and loops end. Functions that are called within expressions have
 * no side effects, because the order of evaluation is unspecified.
 */
import { invariant } from '../../../src/base/assert.ts';
import type { Random } from '../../../src/base/random.ts';
import { type IntegerType, rangeOf } from './arithmetic.ts';

/** An integer expression. Its text needs no parentheses around it. */
export interface Value {
  readonly text: string;
  readonly type: IntegerType;
  readonly low: number;
  readonly high: number;
}

/** An object that expressions may name. */
export interface Variable extends Value {
  /** Whether statements may assign to it. */
  readonly isMutable: boolean;
}

export type ElementType = 'float' | 'int' | 'double' | 'unsigned char' | 'unsigned';

/** Device memory of a known minimum of elements. */
export interface Pointer {
  readonly text: string;
  readonly element: ElementType;
  readonly count: number;
}

export type Parameter =
  | { readonly kind: 'pointer'; readonly element: ElementType; readonly isConst: boolean }
  | { readonly kind: 'integer'; readonly type: IntegerType }
  | { readonly kind: 'float'; readonly type: 'float' | 'double' }
  | { readonly kind: 'struct'; readonly type: string; readonly make: (scope: Scope) => string };

/** A kernel, or an instance of a kernel template. */
export interface Kernel {
  /** Expression before `<<<`. */
  readonly callee: string;
  readonly parameters: readonly Parameter[];
  /** Bound of the threads of a block. */
  readonly maxThreads: number;
  /** Whether `__cluster_dims__` fixes the cluster: the grid is a multiple of 2. */
  readonly hasCluster: boolean;
}

/** A rule of the grammar. It returns null if it does not apply. */
export interface Rule<Input, Result> {
  readonly name: string;
  readonly weight: number;
  readonly make: (scope: Scope, input: Input) => Result | null;
}

/** Alternatives of one nonterminal. */
export class RuleTable<Input, Result> {
  readonly names: readonly string[];
  readonly #rules: readonly Rule<Input, Result>[];

  constructor(nonterminal: string, rules: readonly Rule<Input, Result>[]) {
    this.#rules = rules.map((rule) => ({ ...rule, name: `${nonterminal}/${rule.name}` }));
    this.names = this.#rules.map(({ name }) => name);
    invariant(new Set(this.names).size === this.names.length, `${nonterminal} has two rules of one name`);
  }

  /** The result of a random rule that applies; null without one. */
  tryMake(scope: Scope, input: Input): Result | null {
    const { random, used } = scope.program;
    const left = [...this.#rules];
    while (left.length > 0) {
      let at = random.next() * left.reduce((sum, { weight }) => sum + weight, 0);
      const index = Math.max(
        0,
        left.findIndex(({ weight }) => (at -= weight) < 0),
      );
      const [rule] = left.splice(index, 1);
      const restore = scope.checkpoint();
      used.push(rule!.name);
      const result = rule!.make(scope, input);
      if (result !== null) return result;
      restore();
    }
    return null;
  }

  make(scope: Scope, input: Input): Result {
    const result = this.tryMake(scope, input);
    invariant(result !== null, 'a nonterminal needs a rule that always applies');
    return result;
  }
}

/** Shortest description of a rule in a table. */
export function rule<Input, Result>(
  name: string,
  weight: number,
  make: (scope: Scope, input: Input) => Result | null,
): Rule<Input, Result> {
  return { name, weight, make };
}

/** An interval for a new expression. */
export interface Wanted {
  readonly low: number;
  readonly high: number;
  /** Levels of subexpressions that are left. */
  readonly depth: number;
}

/** The nonterminals, for rules of one table that contain those of another. */
export interface Grammar {
  integer(scope: Scope, wanted: Wanted): Value;
  float(scope: Scope, depth: number): string;
  /** A condition: an expression that is converted to bool. */
  condition(scope: Scope, depth: number): string;
  statement(scope: Scope): readonly string[];
  /** Statements that launch a kernel on each path. */
  launch(scope: Scope): readonly string[];
  /** A kernel of the program, new or old. */
  kernel(scope: Scope): Kernel;
  /** Text of an argument for the parameter; declarations that it needs are appended to `before`. */
  argument(scope: Scope, parameter: Parameter, before: string[]): string;
}

/** What another file defines for the program. */
export interface Wrapper {
  /** Text of the header. */
  readonly declaration: string;
  /** Bound of the launches of a call. */
  readonly launches: number;
  readonly call: (scope: Scope) => readonly string[];
}

export class Program {
  readonly seed: number;
  readonly random: Random;
  readonly grammar: Grammar;
  /** Arguments after the name of the program. */
  readonly arguments: readonly number[];
  readonly used: string[] = [];
  readonly headers = new Set<string>();
  /** Definitions at namespace scope, in their order. */
  readonly definitions: string[] = [];
  /** Names of macros. */
  readonly macros: string[] = [];
  readonly globals: Variable[] = [];
  readonly kernels: Kernel[] = [];
  /** Defined in another file. */
  readonly wrappers: Wrapper[] = [];
  /** Names of definitions that exist once, by their key. */
  readonly #once = new Map<string, string>();
  #names: number;

  /** @param firstName number of the first name: the files of one program differ in it */
  constructor(seed: number, random: Random, grammar: Grammar, args: readonly number[], firstName = 0) {
    this.seed = seed;
    this.random = random;
    this.grammar = grammar;
    this.arguments = args;
    this.#names = firstName;
  }

  /** A new name. */
  name(stem: string): string {
    return `${stem}${this.#names++}`;
  }

  /** A definition that is made on first use. `make` receives the name and returns the text. */
  once(key: string, stem: string, make: (name: string) => string): string {
    let name = this.#once.get(key);
    if (name === undefined) {
      name = this.name(stem);
      this.#once.set(key, name);
      this.definitions.push(make(name));
    }
    return name;
  }

  /** A macro that is defined on first use, from `(a, b) text`. */
  macro(stem: string, text: string): string {
    return this.once(`macro ${text}`, stem, (name) => {
      this.macros.push(name);
      return `#define ${name}${text}`;
    });
  }
}

/** Launches of one execution of a function: a bound. */
interface Cost {
  launches: number;
  readonly limit: number;
}

interface ScopeOptions {
  readonly cost: Cost;
  /** Trip counts of the loops around it, multiplied. */
  readonly trips: number;
  readonly depth: number;
  /** Whether `break` and `continue` are possible. */
  readonly isLoop: boolean;
  /** `return` statement that leaves the function early; null if it may not be left. */
  readonly exit: string | null;
  readonly hasArguments: boolean;
}

const maxDepth = 4;

export class Scope {
  readonly program: Program;
  readonly parent: Scope | null;
  readonly variables: Variable[] = [];
  readonly pointers: Pointer[] = [];
  readonly options: ScopeOptions;

  constructor(program: Program, parent: Scope | null, options: ScopeOptions) {
    this.program = program;
    this.parent = parent;
    this.options = options;
  }

  /** The scope of a function, with at most the given number of launches for one call. */
  static function(program: Program, limit: number, exit: string | null = null, hasArguments = false): Scope {
    const cost = { launches: 0, limit };
    return new Scope(program, null, { cost, trips: 1, depth: 0, isLoop: false, exit, hasArguments });
  }

  get random(): Random {
    return this.program.random;
  }

  get grammar(): Grammar {
    return this.program.grammar;
  }

  /** A block within this scope. */
  inner(changes: Partial<ScopeOptions> = {}): Scope {
    return new Scope(this.program, this, { ...this.options, depth: this.options.depth + 1, ...changes });
  }

  /** The body of a loop with at most that many iterations. */
  loop(trips: number, isLoop = true): Scope {
    return this.inner({ trips: this.options.trips * Math.max(1, trips), isLoop });
  }

  get isDeep(): boolean {
    return this.options.depth >= maxDepth;
  }

  /** Whether that many further launches are within the bound of the function. */
  canLaunch(count = 1): boolean {
    const { cost, trips } = this.options;
    return cost.launches + count * trips <= cost.limit;
  }

  /**
   * The scope of a function that this scope calls. Its calls are charged after its body is made.
   * @returns null if this scope has no launches left
   */
  callee(most = 3, exit: string | null = null): Scope | null {
    const { cost, trips, depth } = this.options;
    const limit = Math.min(most, Math.floor((cost.limit - cost.launches) / trips));
    if (limit < 1 || this.isDeep) return null;
    const options = { trips: 1, depth: depth + 1, isLoop: false, hasArguments: false };
    return new Scope(this.program, null, { ...options, exit, cost: { launches: 0, limit } });
  }

  /** Charges calls of a function with that scope. */
  charge(callee: Scope, calls = 1): void {
    this.chargeLaunches(callee.launches * calls);
  }

  chargeLaunches(count: number): void {
    this.options.cost.launches += count * this.options.trips;
  }

  get launches(): number {
    return this.options.cost.launches;
  }

  /** Returns a function that removes later declarations of this scope. Definitions remain: they are harmless. */
  checkpoint(): () => void {
    const lists = [this.program.used, this.variables, this.pointers];
    const lengths = lists.map(({ length }) => length);
    const { cost } = this.options;
    const { launches } = cost;
    return () => {
      lists.forEach((list, at) => (list.length = lengths[at]!));
      cost.launches = launches;
    };
  }

  visibleVariables(): readonly Variable[] {
    return [...(this.parent?.visibleVariables() ?? this.program.globals), ...this.variables];
  }

  visiblePointers(): readonly Pointer[] {
    return [...(this.parent?.visiblePointers() ?? []), ...this.pointers];
  }

  /** Adds a variable. */
  declare(text: string, type: IntegerType, low: number, high: number, isMutable = false): Variable {
    const range = rangeOf(type);
    invariant(low >= range.low && high <= range.high && low <= high, `${text}: ${low} to ${high} is not in ${type}`);
    const variable = { text, type, low, high, isMutable };
    this.variables.push(variable);
    return variable;
  }

  integer(low: number, high: number, depth = 2): Value {
    return this.grammar.integer(this, { low, high, depth });
  }

  /** Random statements in a new block, without braces. */
  statements(count: number): string[] {
    return Array.from({ length: count }, () => this.grammar.statement(this)).flat();
  }

  header(name: string): void {
    this.program.headers.add(name);
  }

  define(text: string): void {
    this.program.definitions.push(text);
  }

  name(stem: string): string {
    return this.program.name(stem);
  }
}

/** Lines in braces. */
export function block(lines: readonly string[]): string {
  return `{\n${lines.join('\n')}\n}`;
}
