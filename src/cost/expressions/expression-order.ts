/** Provable order of expressions. Minimums and maximums without dominated operands. */
import {
  type Expression,
  type Factor,
  add,
  constant,
  constantValue,
  floorQuotient,
  log2,
  made,
  multiply,
  named,
  scale,
  single,
  subtract,
} from './expression.ts';
import { type Rational, addRational, compareRational, floorOf, multiplyRational, rational } from './rational.ts';

const one: Rational = { top: 1n, bottom: 1n };
const none: Rational = { top: 0n, bottom: 1n };

/** Limit on the addends examined by one comparison: nested minimums and maximums would lead to any number. */
const maxAddends = 250;

/** Limit on the addends examined by all comparisons for one minimum or maximum. */
const maxAddendsTogether = 6000;

/** The remaining effort. */
interface Effort {
  left: number;
}

/**
 * Results of comparisons that could use the whole effort of one, with the effort that they used: iterations of a loop and
 * instances of a template compare the same operands. A known result takes the effort of a new one, so that no bound depends
 * on what was compared before.
 */
const compared = new Map<string, { readonly isLess: boolean; readonly spent: number }>();

/** Limit on the comparisons that are kept. */
const maxCompared = 100_000;

/** Results of {@link fullKey}. */
const fullKeys = new WeakMap<Expression | Factor, string>();

/** The key of an expression with the least value of each name, which the usual key leaves out. */
function fullKey(expression: Expression): string {
  const known = fullKeys.get(expression);
  if (known !== undefined) return known;
  const addends = [...expression.addends.values()].map(({ coefficient: { top, bottom }, factors }) => {
    return `${top}/${bottom}${factors.map(fullKeyOfFactor).join('')}`;
  });
  const key = addends.sort().join('+');
  fullKeys.set(expression, key);
  return key;
}

function fullKeyOfFactor(factor: Factor): string {
  const known = fullKeys.get(factor);
  if (known !== undefined) return known;
  const parts =
    factor.kind === 'floor' ? [factor.dividend, factor.divisor] : 'of' in factor ? [factor.of] : 'parts' in factor ? factor.parts : [];
  const key = factor.kind === 'name' ? `[${factor.name} >= ${factor.least}]` : `[${factor.kind} ${parts.map(fullKey).join(' , ')}]`;
  fullKeys.set(factor, key);
  return key;
}

/** Whether an expression is provably not negative, for all values of its names. False if unproven. */
export function isNonNegative(expression: Expression): boolean {
  return isSeen(expression, { left: maxAddends });
}

function isSeen(expression: Expression, effort: Effort): boolean {
  if (effort.left <= 0) return false;
  effort.left -= expression.addends.size;
  const low = lowest(expression);
  if (low !== null && low.top >= 0n) return true;
  const cancelled = withoutPairs(expression, effort);
  if (cancelled !== expression) return isSeen(cancelled, effort);
  const relaxed = withoutRounding(expression);
  const other = relaxed && lowest(fromLeast(relaxed));
  if (other && other.top >= 0n) return true;
  return withOneChoice(expression).some((smaller) => isSeen(smaller, effort));
}

/**
 * Lower bounds of an expression: an added maximum, or a subtracted minimum, is replaced by one of its operands that
 * cancels another addend.
 */
function withOneChoice(expression: Expression): Expression[] {
  return [...expression.addends.values()].flatMap(({ coefficient, factors }) => {
    const [factor] = factors;
    if (!factor || factors.length > 1 || factor.kind !== (coefficient.top > 0n ? 'max' : 'min')) return [];
    return factor.parts
      .map((part) => add(expression, scale(subtract(part, single(factor)), coefficient)))
      .filter(({ addends }) => addends.size < expression.addends.size);
  });
}

/** A lower bound: a subtrahend is cancelled against an addend that is provably at least as large. */
function withoutPairs(expression: Expression, effort: Effort): Expression {
  const list = [...expression.addends];
  for (const [key, taken] of list) {
    if (taken.coefficient.top >= 0n) continue;
    const giving = list.find(([, given]) => given.coefficient.top > 0n && isAtLeast(given.factors, taken.factors, effort));
    if (!giving) continue;
    const left = addRational(giving[1].coefficient, taken.coefficient);
    const rest = new Map(expression.addends);
    rest.delete(key);
    rest.delete(giving[0]);
    // The remainder of the two addends has the sign of the larger one.
    if (left.top > 0n) rest.set(giving[0], { ...giving[1], coefficient: left });
    if (left.top < 0n) rest.set(key, { ...taken, coefficient: left });
    return made(rest);
  }
  return expression;
}

/** Whether a product is at least another one for all values of the names. */
function isAtLeast(product: readonly Factor[], other: readonly Factor[], effort: Effort): boolean {
  if (effort.left-- <= 0) return false;
  const isPositive = (factor: Factor): boolean => (lowestOf(factor)?.top ?? -1n) >= 0n;
  const left = [...product];
  const unmatched: Factor[] = [];
  for (const factor of other) {
    const at = left.findIndex(({ key }) => key === factor.key);
    if (at < 0) unmatched.push(factor);
    else if (!isPositive(factor)) return false;
    else left.splice(at, 1);
  }
  // The other factors of two products that differ in one factor are equal.
  if (left.length === 1 && unmatched.length === 1) return isFactorAtLeast(left[0]!, unmatched[0]!, effort);
  if (![...left, ...unmatched].every(isPositive)) return false;
  for (const factor of unmatched) {
    const at = left.findIndex((candidate) => isFactorAtLeast(candidate, factor, effort));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  // n * n is at least n, and factors of at least 1 do not decrease a product.
  return left.every(
    (factor) =>
      other.some((same) => same.kind === 'name' && same.key === factor.key) || compareRational(lowestOf(factor) ?? none, one) >= 0,
  );
}

function isFactorAtLeast(a: Factor, b: Factor, effort: Effort): boolean {
  if (a.kind === 'floor' && b.kind === 'floor') return a.divisor.key === b.divisor.key && isSeen(subtract(a.dividend, b.dividend), effort);
  if ((a.kind === 'floor-log2' || a.kind === 'ceil-log2') && a.kind === b.kind) return isSeen(subtract(a.of, b.of), effort);
  if (b.kind === 'max') return b.parts.every((part) => isOver([single(a), ...partsOf(a, 'max')], part, effort));
  if (a.kind === 'max') return isOver(a.parts, single(b), effort);
  if (a.kind === 'min')
    return a.parts.every((part) => [single(b), ...partsOf(b, 'min')].some((under) => isSeen(subtract(part, under), effort)));
  if (b.kind === 'min') return b.parts.some((under) => isSeen(subtract(single(a), under), effort));
  return false;
}

/** Whether one of the candidates is at least another expression for all values of the names. */
function isOver(candidates: readonly Expression[], other: Expression, effort: Effort): boolean {
  return candidates.some((candidate) => effort.left > 0 && isSeen(subtract(candidate, other), effort));
}

function partsOf(factor: Factor, kind: 'min' | 'max'): readonly Expression[] {
  return factor.kind === kind ? factor.parts : [];
}

/** The expression with each name replaced by its least value plus a name that starts at 0. */
function fromLeast(expression: Expression): Expression {
  const least = new Map<string, bigint>();
  for (const { factors } of expression.addends.values())
    for (const factor of factors) if (factor.kind === 'name') least.set(factor.name, factor.least);
  if ([...least.values()].every((from) => from === 0n)) return expression;
  const raise = (name: string): Expression | undefined => {
    const from = least.get(name);
    return from === undefined || from === 0n ? undefined : add(named(name), constant(from));
  };
  return substituteWith(expression, raise, chosenFrom);
}

/** A lower bound without rounded quotients; null if none is useful. */
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

/** A constant lower bound of an expression; null if none is found. */
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

/** Results of {@link lowestOf}; cached, since sums share factors. */
const knownLowest = new WeakMap<Factor, Rational | null>();

function lowestOf(factor: Factor): Rational | null {
  let low = knownLowest.get(factor);
  if (low === undefined) {
    low = computeLowest(factor);
    knownLowest.set(factor, low);
  }
  return low;
}

function computeLowest(factor: Factor): Rational | null {
  switch (factor.kind) {
    case 'name':
      return rational(factor.least);
    case 'floor': {
      const low = lowest(factor.dividend);
      if (low === null) return null;
      const divisor = constantValue(factor.divisor);
      if (divisor) return rational(floorOf(multiplyRational(low, { top: divisor.bottom, bottom: divisor.top })));
      // The divisor has an unknown value of at least 1, and may exceed the dividend.
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
    product = multiplyRational(
      product,
      highs.reduce((a, b) => (compareRational(a, b) <= 0 ? a : b)),
    );
  }
  return product;
}

/** The minimum or maximum of expressions, without dominated operands. */
export function extremum(kind: 'min' | 'max', ...parts: readonly Expression[]): Expression {
  const flat = parts.flatMap((part) => {
    const [only] = part.addends.values();
    const [factor] = only?.factors ?? [];
    const isWhole = part.addends.size === 1 && only!.factors.length === 1 && compareRational(only!.coefficient, one) === 0;
    return isWhole && factor!.kind === kind ? factor!.parts : [part];
  });
  const kept = withoutLosers(kind, distinct(kind, flat));
  if (kept.length === 1) return kept[0]!;
  kept.sort((a, b) => (a.key < b.key ? -1 : 1));
  return chosenFrom(kind, ...kept);
}

/** The operands that are not dominated by another operand. */
function withoutLosers(kind: 'min' | 'max', parts: readonly Expression[]): Expression[] {
  let left = maxAddendsTogether;
  const loses = (a: Expression, b: Expression): boolean => {
    if (left <= 0) return false;
    const [more, less] = kind === 'max' ? [b, a] : [a, b];
    const key = `${fullKey(more)} - ${fullKey(less)}`;
    const known = left >= maxAddends ? compared.get(key) : undefined;
    if (known) {
      left -= known.spent;
      return known.isLess;
    }
    const granted = Math.min(left, maxAddends);
    const effort: Effort = { left: granted };
    const isLess = isSeen(subtract(more, less), effort);
    const spent = granted - Math.max(0, effort.left);
    left -= spent;
    if (granted === maxAddends) {
      if (compared.size >= maxCompared) compared.clear();
      compared.set(key, { isLess, spent });
    }
    return isLess;
  };
  let kept: Expression[] = [];
  for (const part of parts) {
    if (kept.some((other) => loses(part, other))) continue;
    kept = [...kept.filter((other) => !loses(other, part)), part];
  }
  return kept;
}

/** The minimum or maximum of expressions, without a comparison of the operands. */
function chosenFrom(kind: 'min' | 'max', ...parts: readonly Expression[]): Expression {
  return single({ kind, parts, key: `[${kind} ${parts.map(({ key }) => key).join(' , ')}]` });
}

/** The distinct operands; of the numbers only the smallest (`min`) or largest (`max`). */
function distinct(kind: 'min' | 'max', parts: readonly Expression[]): Expression[] {
  const found = new Map<string, Expression>();
  let number: Rational | null = null;
  for (const part of parts) {
    const value = constantValue(part);
    if (value === null) found.set(part.key, part);
    else if (number === null || compareRational(value, number) > 0 === (kind === 'max')) number = value;
  }
  return [...(number === null ? [] : [constant(number)]), ...found.values()];
}

/** The maximum of expressions, without dominated operands. */
export function maximum(...parts: readonly Expression[]): Expression {
  return extremum('max', ...parts);
}

/** The minimum of expressions, without dominated operands. */
export function minimum(...parts: readonly Expression[]): Expression {
  return extremum('min', ...parts);
}

/** Replaces names by expressions. */
export function substitute(expression: Expression, replace: (name: string) => Expression | undefined): Expression {
  return substituteWith(expression, replace, extremum);
}

function substituteWith(expression: Expression, replace: (name: string) => Expression | undefined, choose: typeof extremum): Expression {
  const inside = (part: Expression): Expression => substituteWith(part, replace, choose);
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
          value = floorQuotient(inside(factor.dividend), inside(factor.divisor));
          break;
        case 'floor-log2':
        case 'ceil-log2':
          value = log2(inside(factor.of), factor.kind === 'floor-log2' ? 'floor' : 'ceil');
          break;
        case 'min':
        case 'max':
          value = choose(factor.kind, ...factor.parts.map(inside));
      }
      product = multiply(product, value);
    }
    parts.push(product);
  }
  return add(...parts);
}
