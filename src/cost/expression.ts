/**
 * Symbolic costs: sums of products of names, floor(a / b), floor(log2(a)), ceil(log2(a)), minimums and maximums, with
 * rational coefficients, in a normal form. Names stand for integers that are not below `least`. A rounded-up quotient
 * is kept as a rounded-down one, and printed as it was meant.
 */
import { type Rational, add as addRational, compareRational, floorOf, multiply as multiplyRational, rational } from './rational.ts'; // prettier-ignore

export type Factor =
  | { readonly kind: 'name'; readonly name: string; readonly least: bigint; readonly key: string }
  | {
      readonly kind: 'floor';
      readonly dividend: Expression;
      /** Positive. */
      readonly divisor: Expression;
      readonly key: string;
    }
  /** Of numbers below 1 it is 0. */
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

/** An expression of addends that are keyed by their factors. */
export function made(addends: ReadonlyMap<string, Addend>): Expression {
  const keys = [...addends.keys()].sort();
  const key = keys
    .map((part) => {
      const { top, bottom } = addends.get(part)!.coefficient;
      return `${top}/${bottom}${part}`;
    })
    .join('+');
  return { addends, key };
}

/** A number. */
export function constant(value: bigint | number | Rational): Expression {
  const coefficient = typeof value === 'object' ? value : rational(BigInt(value));
  return made(coefficient.top === 0n ? new Map() : new Map([['', { coefficient, factors: [] }]]));
}

export const zero = constant(0);

/**
 * A name.
 * @param least what it is at least: 0 for sizes, 1 for dimensions of a launch
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
  return made(
    new Map(
      [...expression.addends].map(([key, { coefficient, factors }]) => [
        key,
        { coefficient: multiplyRational(coefficient, by), factors },
      ]),
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
export function floorDivide(dividend: Expression, divisor: Expression): Expression {
  const value = constantValue(divisor);
  if (value?.top === 1n && value.bottom === 1n) return dividend;
  const whole: [string, Addend][] = [];
  const rest: [string, Addend][] = [];
  if (value) {
    // What the divisor divides comes out; of the rest the constant is between 0 and the divisor.
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

/** ceil(dividend / divisor), for a positive divisor and a dividend with integer coefficients. */
export function ceilDivide(dividend: Expression, divisor: Expression): Expression {
  return floorDivide(add(dividend, divisor, constant(-1)), divisor);
}

/** floor(log2(of)) or ceil(log2(of)); 0 where `of` is below 1. */
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

/** The least or greatest of expressions; those that never count are left out. */
export function extremum(kind: 'min' | 'max', ...parts: readonly Expression[]): Expression {
  const flat = parts.flatMap((part) => {
    const [only] = part.addends.values();
    const [factor] = only?.factors ?? [];
    const isWhole =
      part.addends.size === 1 && only!.factors.length === 1 && compareRational(only!.coefficient, one) === 0;
    return isWhole && factor!.kind === kind ? factor!.parts : [part];
  });
  const kept: Expression[] = [];
  for (const part of flat) {
    const loses = (a: Expression, b: Expression): boolean =>
      kind === 'max' ? isNonNegative(subtract(b, a)) : isNonNegative(subtract(a, b));
    if (kept.some((other) => loses(part, other))) continue;
    const left = kept.filter((other) => !loses(other, part));
    kept.splice(0, kept.length, ...left, part);
  }
  if (kept.length === 1) return kept[0]!;
  kept.sort((a, b) => (a.key < b.key ? -1 : 1));
  return single({ kind, parts: kept, key: `[${kind} ${kept.map(({ key }) => key).join(' , ')}]` });
}

/** The greatest of expressions. */
export function maximum(...parts: readonly Expression[]): Expression {
  return extremum('max', ...parts);
}

/** The least of expressions. */
export function minimum(...parts: readonly Expression[]): Expression {
  return extremum('min', ...parts);
}

/**
 * The value for given names.
 * @returns null where a name has none, or a divisor is not positive
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

/** Puts expressions in place of names. */
export function substitute(expression: Expression, replace: (name: string) => Expression | undefined): Expression {
  const inside = (part: Expression): Expression => substitute(part, replace);
  const parts: Expression[] = [];
  for (const { coefficient, factors } of expression.addends.values()) {
    let product = constant(coefficient);
    for (const factor of factors) {
      let value: Expression;
      switch (factor.kind) {
        case 'name':
          value = replace(factor.name) ?? single(factor);
          break;
        case 'floor':
          value = floorDivide(inside(factor.dividend), inside(factor.divisor));
          break;
        case 'floor-log2':
        case 'ceil-log2':
          value = log2(inside(factor.of), factor.kind === 'floor-log2' ? 'floor' : 'ceil');
          break;
        case 'min':
        case 'max':
          value = extremum(factor.kind, ...factor.parts.map(inside));
      }
      product = multiply(product, value);
    }
    parts.push(product);
  }
  return add(...parts);
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

/** Whether an expression is provably not negative, whatever its names stand for. False where that is not seen. */
export function isNonNegative(expression: Expression): boolean {
  const low = lowest(expression);
  if (low !== null && low.top >= 0n) return true;
  const cancelled = withoutPairs(expression);
  if (cancelled !== expression) return isNonNegative(cancelled);
  const relaxed = withoutRounding(expression);
  if (relaxed === null) return false;
  const other = lowest(fromLeast(relaxed));
  return other !== null && other.top >= 0n;
}

/** Something that is nowhere larger: what is taken away is taken from something that is as large for sure. */
function withoutPairs(expression: Expression): Expression {
  const list = [...expression.addends];
  for (const [key, taken] of list) {
    if (taken.coefficient.top >= 0n) continue;
    const giving = list.find(([, given]) => given.coefficient.top > 0n && isAtLeast(given.factors, taken.factors));
    if (!giving) continue;
    const left = addRational(giving[1].coefficient, taken.coefficient);
    const rest = new Map(expression.addends);
    rest.delete(key);
    rest.delete(giving[0]);
    // Of the two what is left over, which keeps its sign.
    if (left.top > 0n) rest.set(giving[0], { ...giving[1], coefficient: left });
    if (left.top < 0n) rest.set(key, { ...taken, coefficient: left });
    return made(rest);
  }
  return expression;
}

/** Whether a product is nowhere below another one. */
function isAtLeast(product: readonly Factor[], other: readonly Factor[]): boolean {
  const isPositive = (factor: Factor): boolean => (lowestOf(factor)?.top ?? -1n) >= 0n;
  const left = [...product];
  const unmatched: Factor[] = [];
  for (const factor of other) {
    const at = left.findIndex(({ key }) => key === factor.key);
    if (at < 0) unmatched.push(factor);
    else if (!isPositive(factor)) return false;
    else left.splice(at, 1);
  }
  // Of two that differ in one factor, the others are as they are.
  if (left.length === 1 && unmatched.length === 1) return isFactorAtLeast(left[0]!, unmatched[0]!);
  if (![...left, ...unmatched].every(isPositive)) return false;
  for (const factor of unmatched) {
    const at = left.findIndex((candidate) => isFactorAtLeast(candidate, factor));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  // n * n is at least n, and what is at least 1 makes nothing smaller.
  return left.every(
    (factor) =>
      other.some((same) => same.kind === 'name' && same.key === factor.key) ||
      compareRational(lowestOf(factor) ?? none, one) >= 0,
  );
}

function isFactorAtLeast(a: Factor, b: Factor): boolean {
  if (a.kind === 'floor' && b.kind === 'floor')
    return a.divisor.key === b.divisor.key && isNonNegative(subtract(a.dividend, b.dividend));
  if ((a.kind === 'floor-log2' || a.kind === 'ceil-log2') && a.kind === b.kind)
    return isNonNegative(subtract(a.of, b.of));
  if (b.kind === 'max') return b.parts.every((part) => isOver([single(a), ...partsOf(a, 'max')], part));
  if (a.kind === 'max') return isOver(a.parts, single(b));
  if (a.kind === 'min') return a.parts.every((part) => [single(b), ...partsOf(b, 'min')].some((under) => isNonNegative(subtract(part, under)))); // prettier-ignore
  if (b.kind === 'min') return b.parts.some((under) => isNonNegative(subtract(single(a), under)));
  return false;
}

/** Whether one of some expressions is nowhere below another one. */
function isOver(candidates: readonly Expression[], other: Expression): boolean {
  return candidates.some((candidate) => isNonNegative(subtract(candidate, other)));
}

function partsOf(factor: Factor, kind: 'min' | 'max'): readonly Expression[] {
  return factor.kind === kind ? factor.parts : [];
}

/** Names counted from their least value: then all of them start at 0. */
function fromLeast(expression: Expression): Expression {
  const least = new Map<string, bigint>();
  for (const { factors } of expression.addends.values())
    for (const factor of factors) if (factor.kind === 'name') least.set(factor.name, factor.least);
  return substitute(expression, (name) => {
    const from = least.get(name);
    return from === undefined || from === 0n ? undefined : add(named(name), constant(from));
  });
}

/** Something that is nowhere larger, without quotients that are rounded; null where there is nothing of use. */
function withoutRounding(expression: Expression): Expression | null {
  const parts: Expression[] = [];
  let changed = false;
  for (const { coefficient, factors } of expression.addends.values()) {
    const rounded = factors.filter(({ kind }) => kind === 'floor' || kind === 'max' || kind === 'min');
    if (rounded.length === 0) {
      parts.push(made(new Map([[factors.map(({ key }) => key).join(''), { coefficient, factors }]])));
      continue;
    }
    const others = factors.filter((factor) => factor !== rounded[0]);
    const cofactor = others.reduce((product, factor) => multiply(product, single(factor)), constant(coefficient));
    const isPositive = coefficient.top > 0n;
    if (rounded.length > 1 || !others.every((factor) => (lowestOf(factor)?.top ?? -1n) >= 0n)) return null;
    const [factor] = rounded as [Factor];
    if (factor.kind === 'floor') {
      const divisor = constantValue(factor.divisor);
      if (!divisor) return null;
      const exact = scale(factor.dividend, { top: divisor.bottom, bottom: divisor.top });
      const down = addRational(rational(-1n), { top: divisor.bottom, bottom: divisor.top });
      parts.push(multiply(cofactor, isPositive ? add(exact, constant(down)) : exact));
      changed = true;
    } else if (factor.kind === 'max' && isPositive) {
      parts.push(multiply(cofactor, factor.parts.find((part) => constantValue(part) === null) ?? factor.parts[0]!));
      changed = true;
    } else if (factor.kind === 'max' && factor.parts.every((part) => (lowest(part)?.top ?? -1n) >= 0n)) {
      parts.push(multiply(cofactor, add(...factor.parts)));
      changed = true;
    } else if (factor.kind === 'min' && !isPositive) {
      parts.push(multiply(cofactor, factor.parts.find((part) => constantValue(part) === null) ?? factor.parts[0]!));
      changed = true;
    } else return null;
  }
  if (!changed) return expression;
  const left = add(...parts);
  return left.key === expression.key ? left : (withoutRounding(left) ?? left);
}

/** A number that an expression is never below; null where none is seen. */
function lowest(expression: Expression): Rational | null {
  let sum = none;
  for (const { coefficient, factors } of expression.addends.values()) {
    if (coefficient.top < 0n) {
      const high = highestOfProduct(factors);
      if (high === null) return null;
      sum = addRational(sum, multiplyRational(coefficient, high));
      continue;
    }
    let product = coefficient;
    for (const factor of factors) {
      const low = lowestOf(factor);
      if (low === null || low.top < 0n) return null;
      product = multiplyRational(product, low);
    }
    sum = addRational(sum, product);
  }
  return sum;
}

function lowestOf(factor: Factor): Rational | null {
  switch (factor.kind) {
    case 'name':
      return rational(factor.least);
    case 'floor': {
      const low = lowest(factor.dividend);
      if (low === null) return null;
      const divisor = constantValue(factor.divisor);
      if (divisor) return rational(floorOf(multiplyRational(low, { top: divisor.bottom, bottom: divisor.top })));
      // Divided by a number that is not known: by 1, or by more than there is.
      return low.top >= 0n ? none : rational(floorOf(low));
    }
    case 'floor-log2':
    case 'ceil-log2':
      return none;
    case 'max': {
      const lows = factor.parts.map(lowest).filter((low) => low !== null);
      return lows.length === 0 ? null : lows.reduce((a, b) => (compareRational(a, b) >= 0 ? a : b));
    }
    case 'min': {
      const lows = factor.parts.map(lowest);
      if (lows.includes(null)) return null;
      return (lows as Rational[]).reduce((a, b) => (compareRational(a, b) <= 0 ? a : b));
    }
  }
}

function highestOfProduct(factors: readonly Factor[]): Rational | null {
  let product = one;
  for (const factor of factors) {
    const low = lowestOf(factor);
    if (factor.kind !== 'min' || low === null || low.top < 0n) return null;
    const highs = factor.parts.map(constantValue).filter((value) => value !== null);
    if (highs.length === 0) return null;
    product = multiplyRational(product, highs.reduce((a, b) => (compareRational(a, b) <= 0 ? a : b))); // prettier-ignore
  }
  return product;
}

/** How an expression grows with a name: its degree, and that of the logarithm. */
export interface Growth {
  readonly degree: number;
  readonly logarithm: number;
}

/** Growth in one name, the others held. */
export function growthIn(expression: Expression, name: string): Growth {
  let most: Growth = { degree: 0, logarithm: 0 };
  for (const { factors } of expression.addends.values()) {
    const growth = factors.map((factor) => growthOfFactor(factor, name)).reduce(sumOfGrowths, { degree: 0, logarithm: 0 }); // prettier-ignore
    if (compareGrowth(growth, most) > 0) most = growth;
  }
  return most;
}

const sumOfGrowths = (a: Growth, b: Growth): Growth => ({
  degree: a.degree + b.degree,
  logarithm: a.logarithm + b.logarithm,
});

/** Negative, zero or positive. */
export function compareGrowth(a: Growth, b: Growth): number {
  return a.degree - b.degree || a.logarithm - b.logarithm;
}

function growthOfFactor(factor: Factor, name: string): Growth {
  switch (factor.kind) {
    case 'name':
      return { degree: factor.name === name ? 1 : 0, logarithm: 0 };
    case 'floor': {
      const [above, below] = [growthIn(factor.dividend, name), growthIn(factor.divisor, name)];
      const growth = { degree: above.degree - below.degree, logarithm: above.logarithm - below.logarithm };
      return compareGrowth(growth, { degree: 0, logarithm: 0 }) > 0 ? growth : { degree: 0, logarithm: 0 };
    }
    case 'floor-log2':
    case 'ceil-log2':
      return { degree: 0, logarithm: growthIn(factor.of, name).degree > 0 ? 1 : 0 };
    case 'min':
    case 'max': {
      const all = factor.parts.map((part) => growthIn(part, name)).sort(compareGrowth);
      return all[factor.kind === 'max' ? all.length - 1 : 0]!;
    }
  }
}

export type Comparison =
  | { readonly kind: 'equal' | 'smaller' | 'larger' | 'incomparable' }
  /** The second grows faster, or slower, with one of the names. */
  | { readonly kind: 'other-order'; readonly name: string; readonly grows: 'faster' | 'slower' };

/**
 * Compares two bounds of one metric, wherever their names may point: `larger` is the second one larger somewhere and
 * nowhere smaller. Another order of growth is told first.
 */
export function compare(before: Expression, after: Expression): Comparison {
  if (before.key === after.key) return { kind: 'equal' };
  const names = [...new Set([...namesOf(before), ...namesOf(after)])].sort();
  const orders = names.map((name) => compareGrowth(growthIn(after, name), growthIn(before, name)));
  if (orders.some((order) => order > 0) !== orders.some((order) => order < 0)) {
    const at = orders.findIndex((order) => order !== 0);
    return { kind: 'other-order', name: names[at]!, grows: orders[at]! > 0 ? 'faster' : 'slower' };
  }
  const difference = subtract(after, before);
  if (isNonNegative(difference)) return { kind: 'larger' };
  return { kind: isNonNegative(scale(difference, -1)) ? 'smaller' : 'incomparable' };
}

/** Prints an expression: `8*ceil(n/32) + 4`. */
export function print(expression: Expression): string {
  const list = [...expression.addends.values()];
  if (list.length === 0) return '0';
  const weight = ({ factors }: Addend): number => factors.length;
  list.sort((a, b) => weight(b) - weight(a) || Number(a.coefficient.top < 0n) - Number(b.coefficient.top < 0n));
  let text = '';
  for (const addend of list) {
    const negative = addend.coefficient.top < 0n;
    const part = printAddend(addend);
    text += text === '' ? `${negative ? '-' : ''}${part}` : ` ${negative ? '-' : '+'} ${part}`;
  }
  return text;
}

function printAddend({ coefficient: { top, bottom }, factors }: Addend): string {
  const size = top < 0n ? -top : top;
  const words = factors.map(printFactor);
  if (size !== 1n || words.length === 0) words.unshift(String(size));
  return words.join('*') + (bottom === 1n ? '' : `/${bottom}`);
}

function printFactor(factor: Factor): string {
  switch (factor.kind) {
    case 'name':
      return factor.name;
    case 'floor': {
      const { dividend, divisor } = factor;
      const up = add(subtract(dividend, divisor), constant(1));
      const value = constantValue(divisor);
      const last = dividend.addends.get('')?.coefficient;
      const isCeil = value
        ? last?.top === value.top - 1n && last.bottom === 1n
        : up.addends.size < dividend.addends.size;
      return `${isCeil ? 'ceil' : 'floor'}(${nested(isCeil ? up : dividend)}/${nested(divisor)})`;
    }
    case 'floor-log2':
      return `floor(log2(${print(factor.of)}))`;
    case 'ceil-log2':
      return `ceil(log2(${print(factor.of)}))`;
    case 'min':
    case 'max':
      return `${factor.kind}(${factor.parts.map(print).join(', ')})`;
  }
}

/** In parentheses where it is more than one factor. */
function nested(expression: Expression): string {
  const [only] = expression.addends.values();
  const isSimple = expression.addends.size === 1 && only!.factors.length + (constantValue(expression) ? 1 : 0) === 1;
  const isPlain =
    isSimple && only!.coefficient.top > 0n && (only!.coefficient.top === 1n || only!.factors.length === 0);
  return isPlain ? print(expression) : `(${print(expression)})`;
}
