/**
 * Symbolic costs: sums of products of names, floor(a / b), floor(log2(a)), ceil(log2(a)), minimums and maximums, with
 * rational coefficients, in a normal form. Names denote integers of at least `least`. A rounded-up quotient is
 * represented as a rounded-down one, and printed as a rounded-up one.
 */
import { gcd } from '../../base/integer.ts';
import { type Rational, addRational, compareRational, floorOf, multiplyRational, rational } from './rational.ts';

export type Factor =
  | { readonly kind: 'name'; readonly name: string; readonly least: bigint; readonly key: string }
  | {
      readonly kind: 'floor';
      readonly dividend: Expression;
      /** Positive. */
      readonly divisor: Expression;
      readonly key: string;
    }
  /** 0 for numbers below 1. */
  | { readonly kind: 'floor-log2' | 'ceil-log2'; readonly of: Expression; readonly key: string }
  | { readonly kind: 'min' | 'max'; readonly parts: readonly Expression[]; readonly key: string };

export interface Addend {
  readonly coefficient: Rational;
  /** In order of their keys. */
  readonly factors: readonly Factor[];
}

export interface Expression {
  /** By the keys of their factors. */
  readonly addends: ReadonlyMap<string, Addend>;
  readonly key: string;
}

const one: Rational = { top: 1n, bottom: 1n };
const none: Rational = { top: 0n, bottom: 1n };

/** Most expressions are added up and never compared: the key is computed on demand. */
class Made implements Expression {
  readonly addends: ReadonlyMap<string, Addend>;
  #key: string | null = null;

  constructor(addends: ReadonlyMap<string, Addend>) {
    this.addends = addends;
  }

  get key(): string {
    return (this.#key ??= keyOf(this.addends));
  }
}

function keyOf(addends: ReadonlyMap<string, Addend>): string {
  const keys = addends.size > 1 ? [...addends.keys()].sort() : [...addends.keys()];
  return keys
    .map((part) => {
      const { top, bottom } = addends.get(part)!.coefficient;
      return `${top}/${bottom}${part}`;
    })
    .join('+');
}

/** An expression of addends that are keyed by their factors. */
export function made(addends: ReadonlyMap<string, Addend>): Expression {
  return new Made(addends);
}

/** Cached small constants: most costs of an instruction are small. */
const smallNumbers: Expression[] = [];
const maxSmall = 1024;

/** A number. */
export function constant(value: bigint | number | Rational): Expression {
  if (typeof value === 'number' && value >= 0 && value < maxSmall && Number.isInteger(value))
    return (smallNumbers[value] ??= ofNumber(rational(BigInt(value))));
  return ofNumber(typeof value === 'object' ? value : rational(BigInt(value)));
}

function ofNumber(coefficient: Rational): Expression {
  return made(coefficient.top === 0n ? new Map() : new Map([['', { coefficient, factors: [] }]]));
}

export const zero = constant(0);

/**
 * A name.
 * @param least its lower bound: 0 for sizes, 1 for dimensions of a launch
 */
export function named(name: string, least = 0n): Expression {
  return single({ kind: 'name', name, least, key: `[${name}]` });
}

/** A factor as an expression. */
export function single(factor: Factor): Expression {
  return made(new Map([[factor.key, { coefficient: one, factors: [factor] }]]));
}

/** The value of an expression without names; null for others. */
export function constantValue({ addends }: Expression): Rational | null {
  if (addends.size === 0) return none;
  const only = addends.get('');
  return only && addends.size === 1 ? only.coefficient : null;
}

/** Sum of expressions. */
export function add(...parts: readonly Expression[]): Expression {
  const present = parts.filter(({ addends }) => addends.size > 0);
  if (present.length === 1) return present[0]!;
  const sum = new Map<string, Addend>();
  for (const { addends } of present) {
    for (const [key, { coefficient, factors }] of addends) {
      const known = sum.get(key);
      const total = known ? addRational(known.coefficient, coefficient) : coefficient;
      if (total.top === 0n) sum.delete(key);
      else sum.set(key, { coefficient: total, factors });
    }
  }
  return made(sum);
}

/** factor * expression. */
export function scale(expression: Expression, factor: bigint | number | Rational): Expression {
  const by = typeof factor === 'object' ? factor : rational(BigInt(factor));
  if (by.top === 0n) return zero;
  if (by.top === 1n && by.bottom === 1n) return expression;
  return made(
    new Map(
      [...expression.addends].map(([key, { coefficient, factors }]) => [key, { coefficient: multiplyRational(coefficient, by), factors }]),
    ),
  );
}

/** a - b. */
export function subtract(a: Expression, b: Expression): Expression {
  return add(a, scale(b, -1));
}

/** a * b, multiplied out. */
export function multiply(a: Expression, b: Expression): Expression {
  const parts: Expression[] = [];
  for (const x of a.addends.values()) {
    for (const y of b.addends.values()) {
      const factors = [...x.factors, ...y.factors].sort((p, q) => (p.key < q.key ? -1 : p.key > q.key ? 1 : 0));
      const key = factors.map((factor) => factor.key).join('');
      parts.push(made(new Map([[key, { coefficient: multiplyRational(x.coefficient, y.coefficient), factors }]])));
    }
  }
  return add(...parts);
}

/** floor(dividend / divisor), for a positive divisor and a dividend with integer coefficients. */
export function floorQuotient(dividend: Expression, divisor: Expression): Expression {
  const value = constantValue(divisor);
  if (value?.top === 1n && value.bottom === 1n) return dividend;
  const whole: [string, Addend][] = [];
  const rest: [string, Addend][] = [];
  if (value) {
    // Multiples of the divisor are factored out; the remaining constant is between 0 and the divisor.
    for (const [key, addend] of dividend.addends) {
      const { coefficient, factors } = addend;
      const quotient = multiplyRational(coefficient, { top: value.bottom, bottom: value.top });
      if (quotient.bottom === 1n) whole.push([key, { coefficient: quotient, factors }]);
      else if (key === '') {
        const down = floorOf(quotient);
        whole.push([key, { coefficient: rational(down), factors }]);
        const left = addRational(coefficient, multiplyRational(rational(-down), value));
        if (left.top !== 0n) rest.push([key, { coefficient: left, factors }]);
      } else rest.push([key, addend]);
    }
  } else if (divisor.addends.size === 1) {
    // n * m / m
    const [{ coefficient: by, factors: out }] = divisor.addends.values() as unknown as [Addend];
    for (const [key, addend] of dividend.addends) {
      const left = [...addend.factors];
      const divides = out.every((factor) => {
        const at = left.findIndex((other) => other.key === factor.key);
        if (at >= 0) left.splice(at, 1);
        return at >= 0;
      });
      const quotient = multiplyRational(addend.coefficient, { top: by.bottom, bottom: by.top });
      if (divides && quotient.bottom === 1n)
        whole.push([left.map((factor) => factor.key).join(''), { coefficient: quotient, factors: left }]);
      else rest.push([key, addend]);
    }
  } else rest.push(...dividend.addends);
  let outside = made(new Map(whole.filter(([, { coefficient }]) => coefficient.top !== 0n)));
  let inside = made(new Map(rest));
  const simpler = value && reduced(inside, value);
  if (simpler) return add(outside, floorQuotient(simpler.dividend, constant(simpler.divisor)));
  if (!value && (inside.addends.get('')?.coefficient.top ?? 0n) < 0n) {
    inside = add(inside, divisor);
    outside = add(outside, constant(-1));
    if (inside.key === add(divisor, constant(-1)).key) return outside;
  }
  const left = constantValue(inside);
  if (left && value) {
    const quotient = multiplyRational(left, { top: value.bottom, bottom: value.top });
    return add(outside, constant(floorOf(quotient)));
  }
  if (left?.top === 0n) return outside;
  const factor: Factor = {
    kind: 'floor',
    dividend: inside,
    divisor,
    key: `[floor ${inside.key} / ${divisor.key}]`,
  };
  return add(outside, single(factor));
}

/** The same quotient with smaller numbers: floor(2a / 4) is floor(a / 2), floor(floor(a / 2) / 3) is floor(a / 6). */
function reduced({ addends }: Expression, { top, bottom }: Rational): { dividend: Expression; divisor: bigint } | null {
  const own = addends.get('')?.coefficient ?? none;
  const moving = [...addends.values()].filter(({ factors }) => factors.length > 0);
  const [first] = moving;
  if (!first || bottom !== 1n || [...addends.values()].some(({ coefficient }) => coefficient.bottom !== 1n)) return null;
  const [inner] = first.factors;
  const divisor = inner?.kind === 'floor' ? constantValue(inner.divisor) : null;
  if (
    moving.length === 1 &&
    first.factors.length === 1 &&
    first.coefficient.top === 1n &&
    divisor?.bottom === 1n &&
    inner?.kind === 'floor'
  )
    return { dividend: add(inner.dividend, constant(own.top * divisor.top)), divisor: divisor.top * top };
  const common = moving.reduce((by, { coefficient }) => gcd(by, coefficient.top), top);
  if (common === 1n) return null;
  const rest = moving.map(({ coefficient, factors }) =>
    multiply(constant(coefficient.top / common), made(new Map([[factors.map(({ key }) => key).join(''), { coefficient: one, factors }]]))),
  );
  return { dividend: add(...rest, constant(floorOf(rational(own.top, common)))), divisor: top / common };
}

/** ceil(dividend / divisor), for a positive divisor and a dividend with integer coefficients. */
export function ceilDivide(dividend: Expression, divisor: Expression): Expression {
  return floorQuotient(add(dividend, divisor, constant(-1)), divisor);
}

/** floor(log2(of)) or ceil(log2(of)); 0 if `of` is below 1. */
export function log2(of: Expression, rounding: 'floor' | 'ceil'): Expression {
  const value = constantValue(of);
  if (value) return constant(logarithm(value, rounding));
  return single({ kind: `${rounding}-log2`, of, key: `[${rounding}log ${of.key}]` });
}

function logarithm(value: Rational, rounding: 'floor' | 'ceil'): bigint {
  let power = 0n;
  while (compareRational(rational(1n << (power + 1n)), value) <= 0) power++;
  return rounding === 'ceil' && compareRational(rational(1n << power), value) < 0 ? power + 1n : power;
}

/** The names in an expression. */
export function namesOf(expression: Expression, into = new Set<string>()): Set<string> {
  for (const { factors } of expression.addends.values()) {
    for (const factor of factors) {
      switch (factor.kind) {
        case 'name':
          into.add(factor.name);
          break;
        case 'floor':
          namesOf(factor.dividend, into);
          namesOf(factor.divisor, into);
          break;
        case 'floor-log2':
        case 'ceil-log2':
          namesOf(factor.of, into);
          break;
        case 'min':
        case 'max':
          for (const part of factor.parts) namesOf(part, into);
      }
    }
  }
  return into;
}

/**
 * The value for given names.
 * @returns null if a name has none, or a divisor is not positive
 */
export function evaluate(expression: Expression, values: (name: string) => bigint | undefined): Rational | null {
  let sum = none;
  for (const { coefficient, factors } of expression.addends.values()) {
    let product = coefficient;
    for (const factor of factors) {
      const value = evaluateFactor(factor, values);
      if (value === null) return null;
      product = multiplyRational(product, value);
    }
    sum = addRational(sum, product);
  }
  return sum;
}

function evaluateFactor(factor: Factor, values: (name: string) => bigint | undefined): Rational | null {
  switch (factor.kind) {
    case 'name': {
      const value = values(factor.name);
      return value === undefined ? null : rational(value);
    }
    case 'floor': {
      const dividend = evaluate(factor.dividend, values);
      const divisor = evaluate(factor.divisor, values);
      if (!dividend || !divisor || divisor.top <= 0n) return null;
      return rational(floorOf(multiplyRational(dividend, { top: divisor.bottom, bottom: divisor.top })));
    }
    case 'floor-log2':
    case 'ceil-log2': {
      const of = evaluate(factor.of, values);
      return of && rational(logarithm(of, factor.kind === 'floor-log2' ? 'floor' : 'ceil'));
    }
    case 'min':
    case 'max': {
      let best: Rational | null = null;
      for (const part of factor.parts) {
        const value = evaluate(part, values);
        if (value === null) return null;
        const order = best === null ? 0 : compareRational(value, best);
        if (best === null || (factor.kind === 'max' ? order > 0 : order < 0)) best = value;
      }
      return best;
    }
  }
}
