/**
 * Evaluates definitions of an Alloy model on one instance: functions, predicates and facts over unary and binary
 * relations. Only the part of the language that `ptx.als` and `util.als` of NVlabs/ptxmemorymodel use.
 */
type Tuples = ReadonlySet<string>;
type Value = Tuples | boolean;

/** Relations by name: tuples of atoms, joined by commas. `iden` and `univ` are made of `univ`. */
export type Instance = ReadonlyMap<string, Tuples>;

type Node =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly of: readonly Node[] }
  | { readonly kind: 'unary'; readonly operator: string; readonly a: Node }
  | { readonly kind: 'binary'; readonly operator: string; readonly a: Node; readonly b: Node }
  | {
      readonly kind: 'each';
      readonly how: string;
      readonly isDisjoint: boolean;
      readonly names: readonly string[];
      readonly domain: Node;
      readonly body: Node;
    };

interface Definition {
  readonly kind: string;
  readonly name: string;
  readonly parameters: readonly string[];
  readonly body: readonly Node[];
}

const token = /\s*(->|<:|:>|=>|[A-Za-z_][\w']*|\d+|\S)/y;

/** Operators of two operands, loosest first. */
const levels: readonly (readonly string[])[] = [
  ['or'],
  ['=>'],
  ['and'],
  ['in', 'not in', '='],
  ['+', '-'],
  ['&'],
  ['->'],
  ['<:', ':>'],
  ['.'],
];

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    const found: string[] = [];
    token.lastIndex = 0;
    for (let match = token.exec(text); match; match = token.exec(text)) found.push(match[1]!);
    this.#tokens = found;
  }

  peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  take(expected?: string): string {
    const taken = this.peek();
    if (expected !== undefined && taken !== expected) throw new Error(`${expected} expected, not ${taken}`);
    this.#at++;
    return taken;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** Skips the text between brackets. */
  skipBraces(): void {
    this.take('{');
    for (let depth = 1; depth > 0;) {
      const taken = this.take();
      if (taken === '{') depth++;
      if (taken === '}') depth--;
    }
  }

  formulas(): readonly Node[] {
    const list: Node[] = [];
    this.take('{');
    while (this.peek() !== '}') list.push(this.expression(0));
    this.take('}');
    return list;
  }

  names(): readonly string[] {
    const list = [this.take()];
    while (this.peek() === ',') {
      this.take();
      list.push(this.take());
    }
    return list;
  }

  expression(level: number): Node {
    const operators = levels[level];
    if (!operators) return this.#unary();
    if (level === 3 && /^(no|some|all|one|lone)$/.test(this.peek())) return this.#quantified();
    let a = this.expression(level + 1);
    for (;;) {
      let operator = this.peek();
      if (operator === 'not' && this.#tokens[this.#at + 1] === 'in') operator = 'not in';
      if (!operators.includes(operator)) return a;
      this.take();
      if (operator === 'not in') this.take();
      a = { kind: 'binary', operator, a, b: this.expression(operator === '=>' ? level : level + 1) };
    }
  }

  #quantified(): Node {
    const how = this.take();
    const start = this.#at;
    const isDisjoint = this.peek() === 'disj';
    if (isDisjoint) this.take();
    if (/^[A-Za-z_]/.test(this.peek())) {
      const names = this.names();
      if (this.peek() === ':') {
        this.take();
        const domain = this.expression(4);
        this.take('|');
        return { kind: 'each', how, isDisjoint, names, domain, body: this.expression(0) };
      }
    }
    this.#at = start;
    return { kind: 'unary', operator: how, a: this.expression(4) };
  }

  #unary(): Node {
    if (/^[~^*]$/.test(this.peek())) return { kind: 'unary', operator: this.take(), a: this.#unary() };
    if (this.peek() === '(') {
      this.take();
      const inner = this.expression(0);
      this.take(')');
      return inner;
    }
    const name = this.take();
    if (!/^[A-Za-z_]/.test(name)) throw new Error(`a name expected, not ${name}`);
    if (this.peek() !== '[') return { kind: 'name', name };
    this.take();
    const of = [this.expression(0)];
    while (this.peek() === ',') {
      this.take();
      of.push(this.expression(0));
    }
    this.take(']');
    return { kind: 'call', name, of };
  }
}

/** A model: the definitions of its files. Signatures are left to the instance. */
export class AlloyModel {
  readonly #definitions = new Map<string, Definition>();
  readonly facts: readonly Definition[];

  /** @throws if a text cannot be parsed */
  constructor(texts: readonly string[]) {
    const facts: Definition[] = [];
    for (const text of texts) {
      const reader = new Reader(text.replaceAll(/\/\/.*/g, ''));
      while (!reader.isAtEnd()) {
        const kind = reader.take();
        if (kind === 'open' || kind === 'module') reader.take();
        else if (kind === 'abstract' || kind === 'one') continue;
        else if (kind === 'sig') {
          while (reader.peek() !== '{') reader.take();
          reader.skipBraces();
          if (reader.peek() === '{') reader.skipBraces();
        } else if (kind === 'fun' || kind === 'pred' || kind === 'fact') {
          const name = reader.peek() === '{' ? '' : reader.take();
          const parameters: string[] = [];
          if (reader.peek() === '[') {
            reader.take();
            while (reader.peek() !== ']') {
              parameters.push(...reader.names());
              reader.take(':');
              reader.expression(4);
              if (reader.peek() === ',') reader.take();
            }
            reader.take();
          }
          while (reader.peek() !== '{') reader.take();
          const definition = { kind, name, parameters, body: reader.formulas() };
          if (kind === 'fact') facts.push(definition);
          else this.#definitions.set(name, definition);
        } else throw new Error(`${kind} is not understood`);
      }
    }
    this.facts = facts;
  }

  /** The first fact that an instance violates, or null. */
  brokenFact(instance: Instance): string | null {
    const evaluation = new Evaluation(this.#definitions, instance);
    const broken = this.facts.find(({ body }) => !body.every((formula) => evaluation.truth(formula, new Map())));
    return broken ? `${broken.name} ${JSON.stringify(broken.body).slice(0, 200)}` : null;
  }

  /** Whether an instance satisfies a predicate. */
  holds(name: string, instance: Instance): boolean {
    return new Evaluation(this.#definitions, instance).truth({ kind: 'name', name }, new Map());
  }

  /** Value of a function without parameters. */
  tuples(name: string, instance: Instance): Tuples {
    return new Evaluation(this.#definitions, instance).tuples({ kind: 'name', name }, new Map());
  }
}

class Evaluation {
  readonly #definitions: ReadonlyMap<string, Definition>;
  readonly #instance: Instance;
  readonly #known = new Map<string, Value>();

  constructor(definitions: ReadonlyMap<string, Definition>, instance: Instance) {
    this.#definitions = definitions;
    this.#instance = instance;
  }

  truth(node: Node, locals: ReadonlyMap<string, Tuples>): boolean {
    const value = this.#value(node, locals);
    if (typeof value !== 'boolean') throw new Error(`${JSON.stringify(node)} is not a formula`);
    return value;
  }

  tuples(node: Node, locals: ReadonlyMap<string, Tuples>): Tuples {
    const value = this.#value(node, locals);
    if (typeof value === 'boolean') throw new Error(`${JSON.stringify(node)} is not a relation`);
    return value;
  }

  #value(node: Node, locals: ReadonlyMap<string, Tuples>): Value {
    switch (node.kind) {
      case 'name': {
        const local = locals.get(node.name) ?? this.#known.get(node.name) ?? this.#instance.get(node.name);
        if (local !== undefined) return local;
        const value = this.#called(node.name, []);
        this.#known.set(node.name, value);
        return value;
      }
      case 'call':
        return this.#called(
          node.name,
          node.of.map((argument) => this.tuples(argument, locals)),
        );
      case 'unary':
        return this.#unary(node.operator, this.tuples(node.a, locals));
      case 'binary':
        return this.#binary(node, locals);
      case 'each':
        return this.#each(node, locals);
    }
  }

  #called(name: string, given: readonly Tuples[]): Value {
    const definition = this.#definitions.get(name);
    if (!definition || definition.parameters.length !== given.length) throw new Error(`${name} is not defined`);
    const locals = new Map(definition.parameters.map((parameter, index) => [parameter, given[index]!]));
    const [only] = definition.body;
    if (definition.kind === 'fun') return this.tuples(only!, locals);
    return definition.body.every((formula) => this.truth(formula, locals));
  }

  #unary(operator: string, a: Tuples): Value {
    switch (operator) {
      case '~':
        return new Set([...a].map((tuple) => tuple.split(',').reverse().join()));
      case '^':
        return closureOf(a);
      case '*':
        return new Set([...closureOf(a), ...this.#instance.get('iden')!]);
      case 'no':
        return a.size === 0;
      case 'some':
        return a.size > 0;
      case 'one':
        return a.size === 1;
      default:
        return a.size <= 1;
    }
  }

  #binary({ operator, a, b }: Node & { readonly kind: 'binary' }, locals: ReadonlyMap<string, Tuples>): Value {
    if (operator === 'or') return this.truth(a, locals) || this.truth(b, locals);
    if (operator === 'and') return this.truth(a, locals) && this.truth(b, locals);
    if (operator === '=>') return !this.truth(a, locals) || this.truth(b, locals);
    const [x, y] = [this.tuples(a, locals), this.tuples(b, locals)];
    switch (operator) {
      case 'in':
        return [...x].every((tuple) => y.has(tuple));
      case 'not in':
        return ![...x].every((tuple) => y.has(tuple));
      case '=':
        return x.size === y.size && [...x].every((tuple) => y.has(tuple));
      case '+':
        return new Set([...x, ...y]);
      case '-':
        return new Set([...x].filter((tuple) => !y.has(tuple)));
      case '&':
        return new Set([...x].filter((tuple) => y.has(tuple)));
      case '->':
        return new Set([...x].flatMap((left) => [...y].map((right) => `${left},${right}`)));
      case '<:':
        return new Set([...y].filter((tuple) => x.has(tuple.split(',')[0]!)));
      case ':>':
        return new Set([...x].filter((tuple) => y.has(tuple.split(',').at(-1)!)));
      default:
        return joined(x, y);
    }
  }

  #each(node: Node & { readonly kind: 'each' }, locals: ReadonlyMap<string, Tuples>): boolean {
    const { how, isDisjoint, names, domain, body } = node;
    const among = [...this.tuples(domain, locals)];
    let count = 0;
    let all = 0;
    const choose = (index: number, chosen: readonly string[]): void => {
      if (index === names.length) {
        all++;
        const inner = new Map(locals);
        for (const [at, name] of names.entries()) inner.set(name, new Set([chosen[at]!]));
        if (this.truth(body, inner)) count++;
        return;
      }
      for (const one of among) if (!isDisjoint || !chosen.includes(one)) choose(index + 1, [...chosen, one]);
    };
    choose(0, []);
    return how === 'all' ? count === all : how === 'some' ? count > 0 : how === 'no' ? count === 0 : count === 1;
  }
}

function joined(x: Tuples, y: Tuples): Tuples {
  const bySource = new Map<string, string[]>();
  for (const tuple of y) {
    const [first, ...rest] = tuple.split(',');
    bySource.set(first!, [...(bySource.get(first!) ?? []), rest.join()]);
  }
  const all = new Set<string>();
  for (const tuple of x) {
    const parts = tuple.split(',');
    for (const rest of bySource.get(parts.at(-1)!) ?? []) all.add([...parts.slice(0, -1), ...(rest === '' ? [] : [rest])].join());
  }
  return all;
}

function closureOf(relation: Tuples): Tuples {
  let all = relation;
  for (;;) {
    const more = new Set([...all, ...joined(all, all)]);
    if (more.size === all.size) return more;
    all = more;
  }
}
