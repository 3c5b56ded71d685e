/**
 * Checks certificates again. It shares no code with the provers and imports nothing of ours: it reads the JSON, rejects
 * malformed input, and computes with integers of any size.
 */

/** Thrown with the problem of a certificate. */
class Refused extends Error {}

/** Results for the obligations of a file. */
interface CheckedCertificates {
  /** Obligations that are proved again. */
  readonly verified: number;
  /** Number of obligations whose tier produced no evidence that can be checked here. */
  readonly unchecked: number;
  /** Problems, one for each rejected obligation. */
  readonly refused: readonly string[];
}

const most = { digits: 4000, depth: 100 } as const;

/**
 * Checks a file of certificates.
 * @param text the JSON
 * @returns the number of obligations proved again, and the problems of the others
 */
export function checkCertificates(text: string): CheckedCertificates {
  const refused: string[] = [];
  let [verified, unchecked] = [0, 0];
  try {
    const file = record(parsed(text), ['format', 'version', 'kernel', 'symbol', 'launches']);
    if (file['format'] !== 'selvage-certificates') refuse('the file is none of certificates');
    if (file['version'] !== 1) refuse('the version is not known');
    const [kernel, symbol] = [name(file['kernel']), name(file['symbol'])];
    for (const entry of list(file['launches'])) {
      const { block, grid, obligations } = record(entry, ['block', 'grid', 'obligations']);
      for (const sizes of [block, grid]) sizesOf(sizes);
      for (const obligation of list(obligations)) {
        try {
          if (isShown(obligation, { kernel, symbol, block, grid })) verified++;
          else unchecked++;
        } catch (error) {
          refused.push(reasonOf(error));
        }
      }
    }
  } catch (error) {
    refused.push(reasonOf(error));
  }
  return { verified, unchecked, refused };
}

/**
 * The seal of the claim of an obligation: 128 bits of FNV-1a over its text. It binds a claim to its subject, so that
 * neither is exchanged by accident; it does not protect against forgery.
 */
export function sealOf(content: unknown): string {
  // In eight pieces of 16 bits, the lowest first, so that small integers suffice: the prime is 2^88 + 315.
  const pieces = new Int32Array([0xc58d, 0x6295, 0x2175, 0x62b8, 0x0142, 0x07bb, 0x272e, 0x6c62]);
  for (const byte of new TextEncoder().encode(canonical(content))) {
    pieces[0]! ^= byte;
    const low = pieces[0]!;
    const second = pieces[1]!;
    const third = pieces[2]!;
    let carry = 0;
    for (let at = 0; at < 8; at++) {
      carry += pieces[at]! * 315;
      // Multiplication by 2^88: a shift by 5 limbs and 8 bits.
      if (at === 5) carry += (low << 8) & 0xffff;
      else if (at === 6) carry += ((second << 8) | (low >>> 8)) & 0xffff;
      else if (at === 7) carry += ((third << 8) | (second >>> 8)) & 0xffff;
      pieces[at] = carry & 0xffff;
      carry >>>= 16;
    }
  }
  return [...pieces]
    .reverse()
    .map((piece) => piece.toString(16).padStart(4, '0'))
    .join('');
}

/** JSON with the keys of objects in the order of the alphabet. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join()}}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  throw error;
}

function refuse(reason: string): never {
  throw new Refused(reason);
}

function demand(holds: boolean, otherwise: string): void {
  if (!holds) refuse(otherwise);
}

/** Whether the proof of an obligation was checked; false if it has nothing to check. */
function isShown(value: unknown, about: Readonly<Record<string, unknown>>): boolean {
  const { subject, tier, proof, seal } = record(value, ['subject', 'tier', 'proof', 'seal']);
  const { kind, scope, places } = record(subject, ['kind', 'scope', 'places']);
  demand(kind === 'race' || kind === 'divergence', 'the kind of the obligation is not known');
  demand(scope === 'block' || scope === 'grid', 'the scope of the obligation is not known');
  for (const place of list(places)) {
    const { instruction, file, line } = record(place, ['instruction', 'file', 'line']);
    demand(isCount(instruction) && isCount(line), 'a place has no numbers');
    name(file);
  }
  demand(/^(affine|coordinates|enumeration|order|executions|linear|bit-vectors)$/.test(name(tier)), 'the tier is not known');
  demand(seal === sealOf({ ...about, subject, tier, proof }), 'the seal is of another certificate');
  if (proof === null) {
    demand(tier !== 'affine', 'the proof is missing');
    return false;
  }
  const { claim, argument } = record(proof, ['claim', 'argument']);
  const claimed = typeof claim === 'object' && claim !== null && (claim as Record<string, unknown>)['kind'];
  if (claimed === 'apart') checkAffine(claim, argument);
  else if (claimed === 'clauses') checkClauses(claim, argument);
  else if (claimed === 'script') return isAnswer(record(claim, ['kind', 'script']), record(argument, ['kind', 'answer', 'by']));
  else refuse('the kind of the claim is not known');
  return true;
}

/** A script answered by a solver can only be checked by a solver: here, only its form is checked. */
function isAnswer({ script }: Record<string, unknown>, { kind, answer, by }: Record<string, unknown>): false {
  name(script);
  demand(kind === 'answer' && answer === 'unsat' && (by === 'z3' || by === 'built-in'), 'the answer is not known');
  return false;
}

interface Term {
  readonly factor: bigint;
  readonly least: bigint;
  readonly most: bigint;
}

interface AffineClaim {
  readonly constant: bigint;
  readonly terms: ReadonlyMap<string, Term>;
  /** The sum must be outside of `-behind … ahead`. */
  readonly behind: bigint;
  readonly ahead: bigint;
  readonly differ: readonly (readonly [string, string])[] | null;
  readonly products: ReadonlyMap<string, readonly [string, string]>;
  readonly below: readonly (readonly [string, string])[];
}

function affineClaim(value: unknown): AffineClaim {
  const claim = record(value, ['kind', 'constant', 'terms', 'behind', 'ahead', 'differ', 'products', 'below']);
  demand(claim['kind'] === 'apart', 'the kind of the claim is not known');
  const terms = new Map<string, Term>();
  for (const entry of list(claim['terms'])) {
    const term = record(entry, ['name', 'factor', 'least', 'most']);
    const own = name(term['name']);
    demand(!terms.has(own), `${own} is twice among the terms`);
    const [factor, least, highest] = ['factor', 'least', 'most'].map((key) => integer(term[key])) as [bigint, bigint, bigint];
    demand(factor !== 0n && least <= highest, `${own} has no factor, or no values`);
    terms.set(own, { factor, least, most: highest });
  }
  const [behind, ahead] = [integer(claim['behind']), integer(claim['ahead'])];
  demand(behind >= 0n && ahead >= 0n, 'an access has no bytes');
  const products = new Map<string, readonly [string, string]>();
  for (const entry of list(claim['products'])) {
    const product = record(entry, ['name', 'of']);
    products.set(name(product['name']), pair(product['of']));
  }
  return {
    constant: integer(claim['constant']),
    terms,
    behind,
    ahead,
    differ: claim['differ'] === null ? null : list(claim['differ']).map(pair),
    products,
    below: list(claim['below']).map(pair),
  };
}

/** The reason why an argument about two accesses does not prove its claim; null if it does. */
export function refusalOf({ claim, argument }: { readonly claim: unknown; readonly argument: unknown }): string | null {
  try {
    checkAffine(claim, argument);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

/** @throws Refused if the argument does not prove the claim */
function checkAffine(given: unknown, argument: unknown): void {
  const claim = affineClaim(given);
  const kind = typeof argument === 'object' && argument !== null && (argument as Record<string, unknown>)['kind'];
  if (kind === 'interval') checkInterval(claim, record(argument, ['kind', 'low', 'high']));
  else if (kind === 'divisor') checkDivisor(claim, record(argument, ['kind', 'divisor', 'rest']));
  else if (kind === 'radix') checkRadix(claim, record(argument, ['kind', 'order', 'reach']));
  else if (kind === 'block-size') checkBlockSize(claim, record(argument, ['kind', 'step']));
  else refuse('the kind of the argument is not known');
}

/** All values of the sum are above `ahead`, or all are below `-behind`. */
function checkInterval({ constant, terms, behind, ahead }: AffineClaim, argument: Record<string, unknown>): void {
  let [low, high] = [constant, constant];
  for (const { factor, least, most: highest } of terms.values()) {
    low += factor * (factor > 0n ? least : highest);
    high += factor * (factor > 0n ? highest : least);
  }
  demand(integer(argument['low']) === low && integer(argument['high']) === high, 'the interval is another one');
  demand(low > ahead || high < -behind, 'the interval reaches the overlap');
}

/** The sum is `rest` modulo `divisor`, and no such value is within `-behind … ahead`. */
function checkDivisor({ constant, terms, behind, ahead }: AffineClaim, argument: Record<string, unknown>): void {
  const [divisor, rest] = [integer(argument['divisor']), integer(argument['rest'])];
  demand(divisor > 0n && rest >= 0n && rest < divisor, 'the divisor leaves no such rest');
  for (const { factor } of terms.values()) demand(factor % divisor === 0n, 'a factor is no multiple of the divisor');
  demand((constant - rest) % divisor === 0n, 'the constant leaves another rest');
  demand(rest > ahead && divisor - rest > behind, 'a multiple of the divisor is in the overlap');
}

/**
 * Each pair (x, y) has the factors c and -c. If some pair is unequal, the one with the largest factor contributes at
 * least |c|, and all pairs with smaller factors together at most their span. So all pairs are equal, and so are those
 * of `differ`: a contradiction.
 */
function checkRadix(claim: AffineClaim, argument: Record<string, unknown>): void {
  const { constant, terms, behind, ahead, differ } = claim;
  demand(differ !== null, 'the claim is not about two that differ');
  const order = list(argument['order']).map(pair);
  const reaches = list(argument['reach']).map(integer);
  demand(2 * order.length === terms.size && reaches.length === order.length, 'the pairs are not all terms');
  const used = new Set(order.flat());
  demand(used.size === terms.size, 'a term is in two pairs');
  let reach = larger(behind, ahead) + absolute(constant);
  for (const [index, [x, y]] of order.entries()) {
    const [one, other] = [terms.get(x), terms.get(y)];
    if (!one || !other) return refuse('a pair has names that are no terms');
    demand(one.factor === -other.factor, 'the terms of a pair have no opposite factors');
    demand(reaches[index] === reach, 'smaller pairs reach another distance');
    demand(absolute(one.factor) > reach, 'smaller pairs reach as far');
    reach += absolute(one.factor) * larger(larger(one.most - other.least, other.most - one.least), 0n);
  }
  for (const [x, y] of differ!) {
    const isPair = order.some(([one, other]) => (one === x && other === y) || (one === y && other === x));
    demand(isPair, `nothing shows that ${x} and ${y} are equal`);
  }
}

/** The sum is c*(n*b + t - n*b' - t') + constant, with t and t' in 0 … n-1 and b is not b'. */
function checkBlockSize(claim: AffineClaim, argument: Record<string, unknown>): void {
  const { constant, terms, behind, ahead, differ, products, below } = claim;
  const step = integer(argument['step']);
  const blocks = differ?.[0];
  if (!blocks || differ.length !== 1) return refuse('the claim is not about blocks along one axis');
  const [first, second] = [step, -step].map((factor) => [...terms].filter(([, term]) => term.factor === factor));
  demand(step !== 0n && terms.size === 4 && first!.length === 2 && second!.length === 2, 'the terms have other factors');
  const sizes = [first!, second!].map((own) => {
    const product = own.find(([term]) => products.has(term));
    const thread = own.find((entry) => entry !== product);
    if (!product || !thread) return refuse('a block has no start');
    const size = below.find(([small]) => small === thread[0])?.[1];
    const factors = products.get(product[0])!;
    const block = factors.find((factor) => blocks.includes(factor));
    if (size === undefined || block === undefined) return refuse('nothing is below the size of a block');
    demand(factors.includes(size) && block !== size, 'a start is no multiple of the size');
    demand(thread[1].least >= 0n, 'a thread is below 0');
    return { size, block };
  });
  demand(sizes[0]!.size === sizes[1]!.size && sizes[0]!.block !== sizes[1]!.block, 'the blocks are not two of one size');
  demand(absolute(step) > larger(behind, ahead) + absolute(constant), 'the overlap reaches the next block');
}

/** The comparison `sum <= bound`; the sum has a coefficient for each name. */
interface Comparison {
  readonly sum: ReadonlyMap<string, bigint>;
  readonly bound: bigint;
}

function comparison(value: unknown): Comparison | null {
  if (value === null) return null;
  const { sum, most: bound } = record(value, ['sum', 'most']);
  const parts = new Map<string, bigint>();
  for (const entry of list(sum)) {
    const [own, factor] = pair(entry);
    demand(!parts.has(own), `${own} is twice in a sum`);
    parts.set(own, integer(factor));
  }
  return { sum: parts, bound: integer(bound) };
}

/** Meaning of a literal; the negation of `sum <= bound` is `-sum <= -bound - 1`, since these are integers. */
function saying(variables: readonly (Comparison | null)[], literal: number): Comparison {
  const positive = variables[literal >> 1];
  if (!positive) return refuse('a truth value is no comparison');
  if (literal % 2 === 0) return positive;
  return { sum: new Map([...positive.sum].map(([own, factor]) => [own, -factor])), bound: -positive.bound - 1n };
}

/** @throws Refused if some assignment may satisfy all clauses */
function checkClauses(given: unknown, argument: unknown): void {
  const claim = record(given, ['kind', 'variables', 'clauses']);
  const { kind, variables: more, steps } = record(argument, ['kind', 'variables', 'steps']);
  demand(kind === 'clauses', 'the kind of the argument is not known');
  const own = list(claim['variables']).map(comparison);
  const variables = [...own, ...list(more).map(comparison)];
  const propagation = new Propagation(variables.length);
  for (const clause of list(claim['clauses'])) propagation.add(literals(clause, own.length));
  for (const step of list(steps)) {
    const isLearnt = typeof step === 'object' && step !== null && Object.hasOwn(step, 'learnt');
    if (isLearnt) {
      const clause = literals(record(step, ['learnt'])['learnt'], variables.length);
      demand(propagation.implies(clause), 'a clause does not follow');
      propagation.add(clause);
      continue;
    }
    const isSum = typeof step === 'object' && step !== null && Object.hasOwn(step, 'sum');
    const exclusion = record(step, ['excluded', isSum ? 'sum' : 'divisor']);
    const excluded = literals(exclusion['excluded'], variables.length);
    const said = excluded.map((literal) => saying(variables, literal));
    if (isSum) checkSum(said, list(exclusion['sum']).map(integer));
    else checkDivisibility(said, list(exclusion['divisor']).map(integer));
    propagation.add(excluded.map((literal) => literal ^ 1));
  }
  demand(propagation.isContradictory, 'the clauses leave an assignment');
}

function literals(value: unknown, variables: number): number[] {
  return list(value).map((literal) => {
    demand(isCount(literal) && (literal as number) < 2 * variables, 'a literal has no variable');
    return literal as number;
  });
}

/** Farkas: a sum of the comparisons, none of them with a factor below 0, is 0 <= a negative constant. */
function checkSum(said: readonly Comparison[], factors: readonly bigint[]): void {
  demand(said.length === factors.length && factors.every((factor) => factor > 0n), 'a comparison has no factor');
  const { sum, bound } = combined(said, factors);
  demand([...sum.values()].every((factor) => factor === 0n) && bound < 0n, 'the sum of the comparisons is possible');
}

/** Equalities fix a sum of multiples of an integer to a constant that is not a multiple: a contradiction. */
function checkDivisibility(said: readonly Comparison[], factors: readonly bigint[]): void {
  demand(said.length === 2 * factors.length, 'an equality has no factor');
  const equal = said.filter((_, index) => index % 2 === 0);
  for (const [index, one] of equal.entries()) {
    const { sum, bound } = combined([one, said[2 * index + 1]!], [1n, 1n]);
    demand(bound === 0n && [...sum.values()].every((factor) => factor === 0n), 'two comparisons are no equality');
  }
  const { sum, bound } = combined(equal, factors);
  let divisor = 0n;
  for (const factor of sum.values()) for (let a = absolute(factor); a !== 0n;) [divisor, a] = [a, divisor % a];
  demand(divisor === 0n ? bound !== 0n : bound % divisor !== 0n, 'the sum is divisible');
}

function combined(said: readonly Comparison[], factors: readonly bigint[]): Comparison {
  const sum = new Map<string, bigint>();
  let bound = 0n;
  for (const [index, factor] of factors.entries()) {
    for (const [own, part] of said[index]!.sum) sum.set(own, (sum.get(own) ?? 0n) + factor * part);
    bound += factor * said[index]!.bound;
  }
  return { sum, bound };
}

/** A set of clauses with unit propagation. */
class Propagation {
  isContradictory = false;
  private readonly value: Int8Array;
  private readonly watches: number[][][];
  private readonly trail: number[] = [];
  private done = 0;

  constructor(variables: number) {
    this.value = new Int8Array(2 * variables);
    this.watches = Array.from({ length: 2 * variables }, () => []);
  }

  add(literals: readonly number[]): void {
    if (this.isContradictory) return;
    const clause = [...new Set(literals)];
    if (clause.some((literal) => this.value[literal] === 1)) return;
    // Literals that are false at this level stay false.
    const open = clause.filter((literal) => this.value[literal] === 0);
    if (open.length > 1) {
      this.watches[open[0]!]!.push(open);
      this.watches[open[1]!]!.push(open);
    } else if (open.length === 0 || !this.follow(open)) this.isContradictory = true;
  }

  /** Whether a clause follows: all its literals false lead to a contradiction. */
  implies(clause: readonly number[]): boolean {
    if (this.isContradictory) return true;
    const kept = this.trail.length;
    const follows = !this.follow(clause.map((literal) => literal ^ 1));
    for (const literal of this.trail.splice(kept)) this.value[literal] = this.value[literal ^ 1] = 0;
    this.done = kept;
    return follows;
  }

  /** Assigns literals and their consequences. @returns false on a contradiction */
  private follow(literals: readonly number[]): boolean {
    for (const literal of literals) if (!this.isSet(literal)) return false;
    while (this.done < this.trail.length) {
      const gone = this.trail[this.done++]! ^ 1;
      const list = this.watches[gone]!;
      let kept = 0;
      for (let at = 0; at < list.length; at++) {
        const clause = list[at]!;
        if (clause[0] === gone) [clause[0], clause[1]] = [clause[1]!, gone];
        const next = this.value[clause[0]!] === 1 ? -1 : clause.findIndex((literal, i) => i > 1 && this.value[literal]! >= 0);
        if (next > 1) {
          [clause[1], clause[next]] = [clause[next]!, gone];
          this.watches[clause[1]]!.push(clause);
          continue;
        }
        list[kept++] = clause;
        if (this.isSet(clause[0]!)) continue;
        for (at++; at < list.length; at++) list[kept++] = list[at]!;
        list.length = kept;
        return false;
      }
      list.length = kept;
    }
    return true;
  }

  /** Makes a literal true. @returns false if it was false */
  private isSet(literal: number): boolean {
    if (this.value[literal] === 0) {
      this.value[literal] = 1;
      this.value[literal ^ 1] = -1;
      this.trail.push(literal);
    }
    return this.value[literal] === 1;
  }
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('the file is no JSON');
  }
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    demand(depth <= most.depth, 'the file is nested too deeply');
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? (Object.values(part) as unknown[]) : []));
  }
  return value;
}

/** Checks that a value is an object with these keys and no others. */
function record(value: unknown, keys: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('an object is missing');
  const own = Object.keys(value);
  demand(own.length === keys.length && keys.every((key) => Object.hasOwn(value, key)), `an object is not one of ${keys.join()}`);
  return value as Record<string, unknown>;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : refuse('a list is missing');
}

function pair(value: unknown): readonly [string, string] {
  const [first, second, ...rest] = list(value);
  demand(rest.length === 0, 'a pair has more than two names');
  return [name(first), name(second)];
}

function name(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : refuse('a name is missing');
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function sizesOf(value: unknown): void {
  const sizes = list(value);
  demand(sizes.length === 3 && sizes.every((size) => size === null || (isCount(size) && size !== 0)), 'a launch has no three sizes');
}

/** The integer of a decimal text in canonical form. */
function integer(value: unknown): bigint {
  if (typeof value !== 'string' || !/^(?:0|-?[1-9]\d*)$/.test(value)) return refuse('an integer is missing');
  demand(value.length <= most.digits, 'an integer has too many digits');
  return BigInt(value);
}
