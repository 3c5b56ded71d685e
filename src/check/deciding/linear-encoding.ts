/**
 * The third tier encodes obligations as linear integer arithmetic in SMT-LIB. Products with a factor that both threads
 * share stay linear by the product lemma: P(e, u) = e*u is a separate unknown, and for every two products with the same
 * u, e <= f - 1 implies P(e, u) + u <= P(f, u). Terms without a linear form are left unconstrained, which only weakens
 * the premises.
 */
import { floorDivide, gcd } from '../../base/integer.ts';
import { type Premise, PremiseList } from '../../solver/premise.ts';
import { numeral, productText, sumText } from '../../solver/s-expression.ts';
import type { Model } from '../../solver/solver.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { threadLimit } from '../../analysis/values/launch-bounds.ts';
import { ofLeader } from '../../analysis/values/leader.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { type Linear, dippingUnsigned, readingOf, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { instanceOf } from '../obligations/difference.ts';
import type { Instances, TermInstance } from '../obligations/instance.ts';
import type { Obligation } from '../obligations/obligation.ts';
import type { WarpRelation } from '../obligations/warp-collective-overlap.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { ContentsFact } from '../premises/contents-fact.ts';
import type { ElementFact } from '../premises/element-fact.ts';
import { type Polynomial, maxMonomials, multiplyPolynomials, plus, without } from '../premises/polynomial.ts';
import type { Ticket } from '../ordering/ticket.ts';
import type { Reread } from '../../analysis/values/repeated-loads.ts';
import { HeldContents, usualContents } from './held-contents.ts';
import type { KnownValues } from './known-values.ts';
import { ProductLemma } from './product-lemma.ts';

/** The mode in which usual contents of memory are not assumed. */
const anyContents = 'any';

/** Limit on the rows with one factor that are related to each other. */
const maxRows = 24;

/** Summands that have a factor in common, and the greatest common divisor of their coefficients. */
interface Row {
  readonly multiples: readonly (readonly [string, bigint])[];
  readonly size: bigint;
}

const maxTerms = 4000;
const maxWraps = 1n << 12n;

/** Collects declarations and definitions, and encodes obligations against them. */
export class LinearEncoding {
  /** Declarations, definitions and lemmas that have not been sent to the solver yet. */
  private readonly premises = new PremiseList();
  private readonly declared = new Set<string>();
  private readonly read: {
    readonly of: string;
    readonly fact: ElementFact;
    readonly offset: string;
    readonly name: string;
    readonly reached: string;
  }[] = [];
  private readonly elements: ReadonlyMap<number, ElementFact>;
  private readonly divisors: ReadonlyMap<Term, bigint>;
  /** A statement about the range of an element as formulas over the element's name. */
  rangeOf: (fact: ElementFact, name: string) => readonly string[] = () => [];
  private readonly contents: ReadonlyMap<number, ContentsFact>;
  private readonly held = new HeldContents(this.premises);
  private readonly taken: {
    readonly of: string;
    readonly ticket: Ticket;
    readonly side: 1 | 2;
    readonly name: string;
    readonly reached: string;
    /** The number of the warp that shares the ticket. */
    readonly warp: string | null;
  }[] = [];
  private readonly tickets: KnownValues['tickets'];
  private readonly rereads: KnownValues['rereads'];
  private readonly loadedAgain: (readonly [of: string, Reread, Term, string, TermInstance])[] = [];
  private readonly lemma = new ProductLemma(this.premises);
  private readonly rows = new Map<string, readonly Row[]>();
  /** Names of the unknowns for products, by their factors. */
  private readonly factored = new Map<string, string>();
  private readonly assumed = new Set<Term>();
  /**
   * Terms that the definitions sent so far assume not to wrap around. Every later formula depends on this assumption.
   */
  private readonly standing = new Set<Term>();
  private defining = 0;
  private readonly symbolic: SymbolicKernel;
  private readonly instances: Instances;
  private readonly dimensions: Dimensions;

  /**
   * @param values facts about non-arithmetic values
   * @param divisors stated divisors of atoms
   */
  constructor(
    symbolic: SymbolicKernel,
    instances: Instances,
    dimensions: Dimensions,
    { tickets, elements, rereads, contents }: Partial<KnownValues> = {},
    divisors: ReadonlyMap<Term, bigint> = new Map(),
  ) {
    this.divisors = divisors;
    this.tickets = tickets ?? new Map();
    this.elements = elements ?? new Map();
    this.rereads = rereads ?? new Map();
    this.contents = contents ?? new Map();
    if (this.contents.size > 0) this.premises.emit(...[anyContents, usualContents].map((mode) => `(declare-const ${mode} Bool)`));
    this.symbolic = symbolic;
    this.instances = instances;
    this.dimensions = dimensions;
  }

  /** Declarations and definitions since the last call. */
  takePremises(): readonly Premise[] {
    return this.premises.take();
  }

  /** Terms assumed not to wrap around: in any definition, or in formulas since the last call. */
  takeAssumptions(): Term[] {
    const list = [...new Set([...this.assumed, ...this.standing])];
    this.assumed.clear();
    return list;
  }

  /** The value of an atom in a model, as a bit pattern; undefined if the model has none. */
  patternIn(model: Model, leaf: Term, reading: TermInstance): bigint | undefined {
    const { name, offset } = instanceOf(this.symbolic, this.instances, leaf, reading);
    const value = name === null ? 0n : model.get(name);
    return typeof value === 'bigint' ? BigInt.asUintN(leaf.width, value + offset) : undefined;
  }

  /** The names of the modes that the declarations so far distinguish. */
  get modes(): readonly string[] {
    return this.held.isEmpty ? [] : [anyContents, usualContents];
  }

  /** Assumptions about contents in the mode {@link usualContents}. */
  get contentsTexts(): ReadonlySet<string> {
    return this.held.texts;
  }

  /** The formula that the accesses of the obligation overlap: of two different threads, or of one. */
  overlap(obligation: Obligation): string {
    const { first, second, later, starts } = obligation;
    const { view } = this.symbolic;
    const forms = [first, second].map(({ target, reading }) => ({ form: view.offset(target.offset), reading }));
    const [a, b] = forms.map(({ form, reading }) => this.linear(form, reading)) as [string, string];
    const parts = [
      ...forms.flatMap(({ form, reading }) => this.unwrapped(form, reading)),
      `(< ${a} (+ ${b} ${second.access.bytes}))`,
      `(< ${b} (+ ${a} ${first.access.bytes}))`,
      ...(obligation.sameThread || obligation.mayBeOne ? [] : [this.distinct(obligation.scope === 'block' ? 't' : 'b')]),
      ...(starts ? [this.differ(starts[0], first.reading, starts[1], second.reading)] : []),
      ...this.warps(obligation.warp),
      ...this.oneElement(obligation),
      ...later.map(({ counter, from, to, by }) => `(>= ${this.unknown(counter, to)} (+ ${this.unknown(counter, from)} ${by}))`),
      ...this.conditions(first.conditions),
      ...this.conditions(second.conditions),
    ];
    return `(and ${parts.join(' ')})`;
  }

  /** The formulas that the pointers of both accesses were loaded from one element. */
  private oneElement({ elements, first, second }: Obligation): string[] {
    if (!elements) return [];
    const { view } = this.symbolic;
    const [a, b] = [first, second].map(({ reading }, i) => this.linear(view.offset(elements[i]!), reading));
    return [`(= ${a} ${b})`];
  }

  /** The formula that two offsets differ, each evaluated in one thread. */
  differ(a: Term, of: TermInstance, b: Term, other: TermInstance): string {
    const { view } = this.symbolic;
    return `(not (= ${this.linear(view.offset(a), of)} ${this.linear(view.offset(b), other)}))`;
  }

  /** The formula that a thread satisfies the conditions and its offset is less than 0 or greater than `last`. */
  outside(offset: Term, last: bigint, conditions: readonly Term[], reading: TermInstance): string {
    const form = this.symbolic.view.offset(offset);
    const value = this.linear(form, reading);
    const met = this.conditions(conditions.map((term) => ({ term, reading })));
    return `(and ${[...this.unwrapped(form, reading), ...met, `(or (< ${value} 0) (> ${value} ${numeral(last)}))`].join(' ')})`;
  }

  /**
   * Formulas that the parts of an offset do not wrap around. They hold for executed accesses only, so they belong to
   * the formula of the access and not to a definition.
   */
  private unwrapped({ terms }: Linear, reading: TermInstance): string[] {
    return [...terms.keys()].flatMap((term) => {
      if (term.name !== dippingUnsigned) return [];
      const inner = this.linear(this.symbolic.view.natural(term.arguments[0]!), reading);
      return `(<= ${numeral(signedBounds(term.width).low)} ${inner} ${numeral(unsignedBounds(term.width).high)})`;
    });
  }

  /** The formula that both threads satisfy the conditions of their sides, or, for divergence, any conditions. */
  together(conditions: readonly { readonly term: Term; readonly reading: TermInstance }[], warp: WarpRelation = null): string {
    return `(and ${[this.distinct('t'), ...this.warps(warp), ...this.conditions(conditions)].join(' ')})`;
  }

  conditions(conditions: readonly { readonly term: Term; readonly reading: TermInstance }[]): string[] {
    return conditions.map(({ term, reading }) => this.truth(term, reading));
  }

  /** The formula that two threads (blocks) differ in a coordinate. */
  private distinct(letter: 't' | 'b'): string {
    const extents = letter === 't' ? this.dimensions.block : this.dimensions.grid;
    const kind = letter === 't' ? 'thread' : 'block';
    const differ: string[] = [];
    for (const axis of [0, 1, 2] as const) {
      if (extents[axis] === 1) continue;
      const leaf = this.symbolic.store.atom(32, { kind, axis });
      const [x, y] = ([1, 2] as const).map((side) => this.unknown(leaf, { side, rounds: [] }));
      differ.push(`(not (= ${x} ${y}))`);
    }
    return differ.length === 0 ? 'false' : `(or ${differ.join(' ')})`;
  }

  /** The formulas that two threads are in one warp, or in two; empty if the linear thread index is not linear. */
  private warps(relation: WarpRelation): string[] {
    const [width, height, depth] = this.dimensions.block;
    if (relation === null || (width === null && (height !== 1 || depth !== 1)) || (height === null && depth !== 1)) return [];
    const strides = [1, width, (width ?? 0) * (height ?? 0)];
    const [first, second] = ([1, 2] as const).map((side) => {
      const name = `w_${side}`;
      if (!this.declared.has(name)) {
        this.declared.add(name);
        const parts = ([0, 1, 2] as const)
          .filter((axis) => this.dimensions.block[axis] !== 1)
          .map((axis) => {
            const leaf = this.symbolic.store.atom(32, { kind: 'thread', axis });
            return `(* ${strides[axis]} ${this.unknown(leaf, { side, rounds: [] })})`;
          });
        const thread = `(+ 0 ${parts.join(' ')})`;
        this.premises.define(name, () =>
          this.premises.emit(`(declare-const ${name} Int)`, `(assert (<= (* 32 ${name}) ${thread} (+ (* 32 ${name}) 31)))`),
        );
      }
      return name;
    });
    const same = `(= ${first} ${second})`;
    return [relation === 'same' ? same : `(not ${same})`];
  }

  /** A linear form as SMT-LIB; declares and defines the unknowns that it contains. */
  linear(form: Linear, reading: TermInstance): string {
    for (const term of form.assumes) (this.defining > 0 ? this.standing : this.assumed).add(term);
    const parts: string[] = [];
    if (form.constant !== 0n || form.terms.size === 0) parts.push(numeral(form.constant));
    for (const [term, coefficient] of form.terms) parts.push(productText(coefficient, this.unknown(term, reading)));
    if (this.hasRows(form)) {
      const sum = this.expand(form, reading);
      if (sum) this.factor(sum);
    }
    return sumText(parts);
  }

  /** Whether several summands of a form have a factor in common: two products, or a product and one of its factors. */
  private hasRows({ terms }: Linear): boolean {
    const products = [...terms.keys()].filter(({ operator }) => operator === 'mul');
    const isFactor = (term: Term): boolean =>
      products.some((product) =>
        product.arguments.some((factor) => {
          const view = this.symbolic.view.natural(factor);
          return view.constant === 0n && view.terms.size === 1 && view.terms.has(term);
        }),
      );
    return products.length > 1 || (products.length === 1 && [...terms.keys()].some(isFactor));
  }

  /** A form multiplied out until its unknowns are not products; null if it becomes too long. */
  private expand(form: Linear, reading: TermInstance): Polynomial | null {
    let sum: Polynomial = new Map(form.constant === 0n ? [] : [['', form.constant]]);
    for (const [term, coefficient] of form.terms) {
      const unknown = this.unknown(term, reading);
      let part: Polynomial | null;
      if (term.operator === 'mul') {
        const [a, b] = term.arguments.map((factor) => this.expand(this.symbolic.view.natural(factor), reading));
        part = a && b ? multiplyPolynomials(a, b) : null;
        if (part) this.identify(unknown, part);
      } else {
        const { name, offset } = instanceOf(this.symbolic, this.instances, term, reading);
        part = plus(new Map(offset === 0n ? [] : [['', offset]]), new Map(name === null ? [] : [[name, 1n]]), 1n);
      }
      if (!part) return null;
      sum = plus(sum, part, coefficient);
    }
    return sum.size > maxMonomials ? null : sum;
  }

  /** Asserts that the unknown of a product equals its expansion. */
  private identify(unknown: string, part: Polynomial): void {
    const [[monomial, factor] = ['', 0n]] = part;
    if (part.size === 1 && factor === 1n && monomial.includes(' ') && !this.factored.has(monomial)) this.factored.set(monomial, unknown);
    const written = this.written(part);
    if (written === unknown || this.factored.has(unknown)) return;
    this.factored.set(unknown, written);
    this.premises.define(unknown, () => this.premises.emit(`(assert (= ${unknown} ${written}))`));
  }

  /**
   * Factors a sum: u*a + u*b becomes u*(a + b), a product to which the lemma applies. This is done for each u that is
   * common to several summands, one of them a product. It is valid for all integers, so it excludes no model.
   */
  private factor(sum: Polynomial): void {
    const products = [...sum].filter(([monomial]) => monomial.includes(' '));
    const names = new Set(products.flatMap(([monomial]) => monomial.split(' ')));
    for (const u of names) {
      const multiples = [...sum].filter(([monomial]) => monomial.split(' ').includes(u));
      if (multiples.length < 2 || isOwn(u)) continue;
      // Rows of smaller values are distinguished better, so they are counted in elements rather than bytes.
      const size = multiples.reduce((divisor, [, factor]) => gcd(divisor, factor), 0n);
      const rows = this.rows.get(u) ?? [];
      this.row(u, multiples, size);
      if (rows.length >= maxRows) continue;
      this.rows.set(u, [...rows, { multiples, size }]);
      // The lemma compares products of one size: 8*s*i and 4*s*(2*j + 1) are compared as 4*s*(2*i) and 4*s*(2*j + 1).
      for (const other of rows) {
        if (other.size !== size && other.size % size === 0n) this.row(u, other.multiples, size);
        if (other.size !== size && size % other.size === 0n) this.row(u, multiples, other.size);
      }
    }
  }

  /** Declares one row: summands with the common factor u, in units of a size. */
  private row(u: string, multiples: Row['multiples'], size: bigint): void {
    const quotient: Polynomial = new Map(multiples.map(([monomial, factor]) => [without(monomial, u), factor / size]));
    const cofactor = this.written(quotient);
    const name = `${cofactor}*${u}`;
    if (this.factored.has(name)) return;
    const product = `s${this.factored.size}`;
    this.factored.set(name, product);
    const whole = this.written(new Map(multiples));
    this.premises.define(product, () => {
      this.premises.emit(`(declare-const ${product} Int)`, `(assert (= ${productText(size, product)} ${whole}))`);
      this.lemma.define(product, cofactor, u);
    });
    this.factor(quotient);
  }

  /** A polynomial as SMT-LIB, with an unknown for each product. */
  private written(sum: Polynomial): string {
    return sumText(
      [...sum].map(([monomial, factor]) => (monomial === '' ? numeral(factor) : productText(factor, this.monomial(monomial)))),
    );
  }

  private monomial(monomial: string): string {
    const factors = monomial.split(' ');
    if (factors.length === 1) return monomial;
    const known = this.factored.get(monomial);
    if (known !== undefined) return known;
    const product = `s${this.factored.size}`;
    this.factored.set(monomial, product);
    this.premises.emit(`(declare-const ${product} Int)`);
    const divisors = factors.length === 2 ? factors.slice(1) : new Set(factors);
    for (const u of divisors) {
      const cofactor = this.monomial(without(monomial, u));
      this.premises.define(product, () => this.lemma.define(product, cofactor, u));
    }
    return product;
  }

  /** The value of a scalar parameter that the kernel never reads, bounded by its type only. */
  unread({ index, offset, bytes }: ParameterField, unsigned: boolean): string {
    const name = `p${index}_${offset}_${bytes}`;
    if (!this.declared.has(name)) {
      this.declared.add(name);
      const { low, high } = unsigned ? unsignedBounds(8 * bytes) : signedBounds(8 * bytes);
      this.premises.define(name, () =>
        this.premises.emit(`(declare-const ${name} Int)`, `(assert (<= ${numeral(low)} ${name} ${numeral(high)}))`),
      );
    }
    return name;
  }

  /** The product of two formulas, an unknown to which the product lemma applies. */
  product(a: string, b: string): string {
    const key = `${a} * ${b}`;
    const known = this.factored.get(key);
    if (known !== undefined) return known;
    const product = `s${this.factored.size}`;
    this.factored.set(key, product);
    this.premises.emit(`(declare-const ${product} Int)`);
    this.premises.define(product, () => this.lemma.define(product, a, b));
    return product;
  }

  private unknown(term: Term, reading: TermInstance): string {
    const instance = instanceOf(this.symbolic, this.instances, term, reading);
    if (instance.name === null) return numeral(instance.offset);
    const name = instance.name;
    if (!this.declared.has(name)) {
      this.declared.add(name);
      const { low, high } = instance.bounds;
      this.defining++;
      this.premises.define(name, () => {
        this.premises.emit(`(declare-const ${name} Int)`, `(assert (<= ${numeral(low)} ${name} ${numeral(high)}))`);
        if (term.atom) this.relate(term, name, reading);
        else this.explain(term, name, reading);
      });
      this.defining--;
    }
    return instance.offset === 0n ? name : `(+ ${name} ${numeral(instance.offset)})`;
  }

  /** Asserts that indices are below symbolic dimensions, and that a block has at most `threadLimit` threads. */
  private relate(leaf: Term, name: string, reading: TermInstance): void {
    const atom = leaf.atom!;
    const divisor = this.divisors.get(leaf);
    if (divisor !== undefined) this.lemma.multiples.set(name, divisor);
    if (atom.kind === 'thread' || atom.kind === 'block') {
      const extents = atom.kind === 'thread' ? this.dimensions.block : this.dimensions.grid;
      if (extents[atom.axis] !== null) return;
      const size = this.symbolic.store.atom(32, {
        kind: atom.kind === 'thread' ? 'block-size' : 'grid-size',
        axis: atom.axis,
      });
      this.premises.emit(`(assert (< ${name} ${this.unknown(size, reading)}))`);
    } else if (atom.kind === 'block-size') {
      // Linear consequences of x*y*z <= limit.
      const known = this.dimensions.block.reduce<number>((product, size) => product * (size ?? 1), 1);
      const limit = Math.floor(threadLimit(this.symbolic.kernel) / known);
      this.premises.emit(`(assert (<= ${name} ${limit}))`);
      // At most one of two sizes is greater than the square root of the limit.
      const root = Math.floor(Math.sqrt(limit));
      for (const axis of ([0, 1, 2] as const).filter((other) => other < atom.axis)) {
        if (this.dimensions.block[axis] !== null) continue;
        const other = this.unknown(this.symbolic.store.atom(32, { kind: 'block-size', axis }), reading);
        const most = Math.floor(limit / (root + 1));
        this.premises.emit(
          `(assert (and (or (<= ${name} ${root}) (<= ${other} ${most})) (or (<= ${other} ${root}) (<= ${name} ${most}))))`,
        );
      }
    } else if (atom.kind === 'havoc' || atom.kind === 'phi') {
      const ticket = this.tickets.get(atom.value);
      if (ticket) this.take(name, ticket, leaf, reading);
      if (atom.kind === 'phi') return;
      const fact = this.elements.get(atom.value);
      if (fact) this.readElement(name, fact, leaf, reading);
      const again = this.rereads.get(atom.value);
      if (again) this.loadAgain(name, again, leaf, reading);
      const usual = this.contents.get(atom.value);
      if (usual) this.holdUsual(name, usual, leaf, reading);
    }
  }

  /** The condition that the defining instruction of a value is executed. Facts about the value hold only under it. */
  private reached(leaf: Term, reading: TermInstance): string {
    const { value } = leaf.atom as { readonly value: number };
    const { leaderValues, definedIn } = this.symbolic;
    const reach = this.symbolic.reach(definedIn(value));
    return this.truth(leaderValues.has(value) ? ofLeader(this.symbolic, reach) : reach, reading);
  }

  /** Asserts that equal offsets have equal values. For arrays of distinct elements, asserts the converse, too. */
  private readElement(of: string, fact: ElementFact, leaf: Term, reading: TermInstance): void {
    const { view } = this.symbolic;
    const name = this.linear(fact.unsigned ? view.unsigned(leaf) : view.signed(leaf), reading);
    const offset = this.linear(view.offset(fact.offset), reading);
    const reached = this.reached(leaf, reading);
    for (const formula of this.rangeOf(fact, name)) this.premises.emit(`(assert (=> ${reached} ${formula}))`);
    for (const other of this.read) {
      if (other.fact.array !== fact.array) continue;
      const [sameValue, sameElement] = [`(= ${name} ${other.name})`, `(= ${offset} ${other.offset})`];
      const both = `(and ${reached} ${other.reached})`;
      this.premises.compare(of, other.of, `(=> (and ${both} ${sameElement}) ${sameValue})`);
      if (fact.distinct) this.premises.compare(of, other.of, `(=> (and ${both} ${sameValue}) ${sameElement})`);
    }
    this.read.push({ of, fact, offset, name, reached });
  }

  /** Asserts that repeated loads of a thread from one location have one value. */
  private loadAgain(of: string, fact: Reread, leaf: Term, reading: TermInstance): void {
    const { view } = this.symbolic;
    const name = this.linear(view.unsigned(leaf), reading);
    for (const [other, before, value, same, by] of this.loadedAgain) {
      const isOne = this.instances.isOneExecution([fact.block, reading], [before.block, by]);
      if (before.memory !== fact.memory || !isOne) continue;
      const places = `(= ${this.linear(view.offset(fact.offset), reading)} ${this.linear(view.offset(before.offset), by)})`;
      const both = `${this.reached(leaf, reading)} ${this.reached(value, by)}`;
      this.premises.compare(of, other, `(=> (and ${both} ${places}) (= ${name} ${same}))`);
    }
    this.loadedAgain.push([of, fact, leaf, name, reading]);
  }

  private holdUsual(of: string, fact: ContentsFact, leaf: Term, reading: TermInstance): void {
    const { view } = this.symbolic;
    const name = this.linear(fact.unsigned ? view.unsigned(leaf) : view.signed(leaf), reading);
    const offset = this.linear(view.offset(fact.offset), reading);
    const reached = this.reached(leaf, reading);
    this.held.hold({ of, fact, offset, name, reached }, fact.below && this.stride(fact.below, reading));
  }

  private stride({ coefficient, factors }: NonNullable<ContentsFact['below']>, reading: TermInstance): string {
    const { view } = this.symbolic;
    let product: Polynomial | null = new Map([['', coefficient]]);
    for (const factor of factors) {
      const next = this.expand(view.natural(factor), reading);
      product = product && next && multiplyPolynomials(product, next);
    }
    return this.written(product ?? new Map());
  }

  /** Asserts that of two tickets from one counter in different threads the later one is larger, unless they are of one warp. */
  private take(of: string, ticket: Ticket, leaf: Term, reading: TermInstance): void {
    if (ticket.ofBlock && this.instances.scope === 'grid') return;
    const { view, leaderValues } = this.symbolic;
    // All threads of a block have the ticket broadcast by thread 0, though the names of the two values differ.
    if (this.instances.scope === 'block' && leaderValues.has((leaf.atom as { readonly value: number }).value)) return;
    const { side } = reading;
    const name = this.linear(ticket.signed ? view.signed(leaf) : view.unsigned(leaf), reading);
    const most = (ticket.signed ? signedBounds(leaf.width) : unsignedBounds(leaf.width)).high;
    const reached = this.reached(leaf, reading);
    const warp = ticket.ofWarp && this.instances.scope === 'block' ? this.warpOf(of, reading) : null;
    for (const other of this.taken) {
      if (other.side === side || other.ticket.counter !== ticket.counter) continue;
      this.standing.add(leaf);
      const both = `(and ${reached} ${other.reached})`;
      for (const one of [{ ticket, name }, other])
        this.premises.compare(of, other.of, `(=> ${both} (<= ${one.name} ${numeral(most - one.ticket.step)}))`);
      const orders = [`(<= (+ ${name} ${ticket.step}) ${other.name})`, `(<= (+ ${other.name} ${other.ticket.step}) ${name})`];
      if (warp !== null && other.warp !== null) orders.push(`(and (= ${name} ${other.name}) (= ${warp} ${other.warp}))`);
      this.premises.compare(of, other.of, `(=> ${both} (or ${orders.join(' ')}))`);
    }
    this.taken.push({ of, ticket, side, name, reached, warp });
  }

  /** The number of the warp of a thread in a block with one row. */
  private warpOf(of: string, reading: TermInstance): string {
    const index = this.unknown(this.symbolic.store.atom(32, { kind: 'thread', axis: 0 }), reading);
    this.premises.emit(`(declare-const ${of}_warp Int)`);
    this.premises.assert(`(<= (* 32 ${of}_warp) ${index} (+ (* 32 ${of}_warp) 31))`);
    return `${of}_warp`;
  }

  private explain(term: Term, name: string, reading: TermInstance): void {
    const { view } = this.symbolic;
    const [a, b, c] = term.arguments as [Term, Term, Term];
    const assert = (text: string): void => this.premises.assert(text);
    const modulus = numeral(1n << BigInt(term.width));
    switch (term.operator) {
      case 'pure': {
        const as = readingOf(term);
        if (!as) return;
        const inner = this.linear(view.natural(a), reading);
        const range = view.natural(a);
        const half = 1n << BigInt(term.width - 1);
        if (range.low >= -half && range.high < 1n << BigInt(term.width)) {
          if (as === 'signed') assert(`(= ${name} (ite (>= ${inner} ${half}) (- ${inner} ${modulus}) ${inner}))`);
          else assert(`(= ${name} (ite (< ${inner} 0) (+ ${inner} ${modulus}) ${inner}))`);
        } else if (term.name === dippingUnsigned) {
          // Formulas assume that the value is in range. A case distinction is easier than a multiple of the modulus.
          assert(`(=> (<= (- ${half}) ${inner} (- ${modulus} 1)) (= ${name} (ite (< ${inner} 0) (+ ${inner} ${modulus}) ${inner})))`);
        } else {
          this.premises.emit(`(declare-const ${name}_w Int)`);
          assert(`(= ${name} (- ${inner} (* ${modulus} ${name}_w)))`);
          const target = as === 'signed' ? signedBounds(term.width) : unsignedBounds(term.width);
          const [least, most] = [range.low, range.high].map((value) => floorDivide(value - target.low, 1n << BigInt(term.width)));
          // A bound on the wrap count helps the solver only if it leaves few values.
          if (most! - least! <= maxWraps) assert(`(<= ${numeral(least!)} ${name}_w ${numeral(most!)})`);
        }
        return;
      }
      case 'mul':
        return this.lemma.define(name, this.linear(view.natural(a), reading), this.linear(view.natural(b), reading));
      case 'udiv':
      case 'sdiv':
      case 'urem':
      case 'srem': {
        const signed = term.operator.startsWith('s');
        const dividend = signed ? view.signed(a) : view.unsigned(a);
        const divisor = signed ? view.signed(b) : view.unsigned(b);
        if (divisor.low < 0n || (divisor.low === 0n && divisor.terms.size === 0)) return;
        const x = this.linear(dividend, reading);
        const isQuotient = term.operator.endsWith('div');
        // Division rounds towards 0, and a remainder has the sign of the dividend.
        const canBeNegative = dividend.low < 0n;
        if (canBeNegative && divisor.terms.size === 0) {
          const [operator, by] = [isQuotient ? 'div' : 'mod', numeral(divisor.constant)];
          assert(`(= ${name} (ite (>= ${x} 0) (${operator} ${x} ${by}) (- (${operator} (- ${x}) ${by}))))`);
          return;
        }
        if (divisor.terms.size === 0) {
          const by = numeral(divisor.constant);
          assert(isQuotient ? `(= ${name} (div ${x} ${by}))` : `(= ${name} (mod ${x} ${by}))`);
          return;
        }
        // The product q*d in x = q*d + r is a separate unknown.
        const d = this.linear(divisor, reading);
        const quotient = isQuotient ? name : `${name}_q`;
        const remainder = isQuotient ? `${name}_r` : name;
        this.premises.emit(`(declare-const ${isQuotient ? remainder : quotient} Int)`, `(declare-const ${name}_p Int)`);
        this.lemma.define(`${name}_p`, quotient, d);
        const isDivided = `(and (= ${x} (+ ${name}_p ${remainder})) (<= 0 ${remainder}) (< ${remainder} ${d}) (<= 0 ${quotient}))`;
        const ifNegative = isQuotient ? `(<= ${name} 0)` : `(and (<= ${name} 0) (< (- ${d}) ${name}))`;
        const meaning = canBeNegative ? `(ite (>= ${x} 0) ${isDivided} ${ifNegative})` : isDivided;
        // Nothing is known of a division by zero.
        assert(divisor.low > 0n ? meaning : `(=> (> ${d} 0) ${meaning})`);
        return;
      }
      case 'lshr':
      case 'ashr':
        if (b.operator === 'constant') {
          assert(`(= ${name} (div ${this.linear(view.shifted(term), reading)} ${1n << b.value}))`);
        }
        return;
      case 'and':
        if (b.operator === 'constant' && (b.value & (b.value + 1n)) === 0n)
          assert(`(= ${name} (mod ${this.linear(view.natural(a), reading)} ${b.value + 1n}))`);
        return;
      case 'trunc':
        assert(`(= ${name} (mod ${this.linear(view.natural(a), reading)} ${modulus}))`);
        return;
      case 'select':
        assert(
          `(= ${name} (ite ${this.truth(a, reading)} ${this.linear(view.natural(b), reading)} ${this.linear(view.natural(c), reading)}))`,
        );
        return;
      default:
    }
  }

  /** A condition; parts other than arithmetic become separate unknown truth values. */
  truth(term: Term, reading: TermInstance): string {
    const { view } = this.symbolic;
    const [a, b, c] = term.arguments as [Term, Term, Term];
    // A formula for a truth value is repeated at each use, so its size is limited.
    if (term.size > maxTerms) return this.opaqueTruth(term, reading);
    switch (term.operator) {
      case 'constant':
        return term.value === 1n ? 'true' : 'false';
      case 'not':
        return `(not ${this.truth(a, reading)})`;
      case 'all':
        return `(and ${term.arguments.map((part) => this.truth(part, reading)).join(' ')})`;
      case 'any':
        return `(or ${term.arguments.map((part) => this.truth(part, reading)).join(' ')})`;
      case 'differ':
        return `(xor ${this.truth(a, reading)} ${this.truth(b, reading)})`;
      case 'select':
        return `(ite ${this.truth(a, reading)} ${this.truth(b, reading)} ${this.truth(c, reading)})`;
      case 'slt':
        return `(< ${this.linear(view.signed(a), reading)} ${this.linear(view.signed(b), reading)})`;
      case 'ult':
        return `(< ${this.linear(view.unsigned(a), reading)} ${this.linear(view.unsigned(b), reading)})`;
      case 'equal': {
        const difference = view.subtract(view.natural(a), view.natural(b));
        const modulus = 1n << BigInt(a.width);
        if (difference.low > -modulus && difference.high < modulus) return `(= ${this.linear(difference, reading)} 0)`;
        return `(= ${this.linear(view.signed(a), reading)} ${this.linear(view.signed(b), reading)})`;
      }
      default:
        return this.opaqueTruth(term, reading);
    }
  }

  private opaqueTruth(term: Term, reading: TermInstance): string {
    const instance = instanceOf(this.symbolic, this.instances, term, reading);
    const name = `q${instance.name ?? ''}`;
    if (!this.declared.has(name)) {
      this.declared.add(name);
      this.premises.emit(`(declare-const ${name} Bool)`);
    }
    return name;
  }
}

/** Whether an unknown is separate in each thread. Division by such an unknown yields no useful product. */
function isOwn(name: string): boolean {
  return /_[12]$/.test(name) && !name.startsWith('p');
}
