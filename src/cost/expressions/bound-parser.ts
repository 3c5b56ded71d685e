/**
 * Bounds as text, as in reports and in limits of configurations. Sums, products, `floor(a/b)`, `ceil(a/b)`,
 * `floor(log2(a))`, `ceil(log2(a))`, `min(a, b)`, `max(a, b)` of whole numbers and names; only quotients by numbers
 * need no rounding.
 */
import { type Expression, add, ceilDivide, constant, constantValue, floorQuotient, log2, multiply, named, scale } from './expression.ts';
import { maximum, minimum } from './expression-order.ts';
import type { Rational } from './rational.ts';

type ParsedBound =
  | { readonly expression: Expression }
  /** `column` from 1. */
  | { readonly error: string; readonly column: number };

/** A quotient before it is rounded. */
interface Fraction {
  readonly top: Expression;
  readonly bottom: Expression;
}

class Refused extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const one = constant(1);
/** A name may denote a member (`p.n`), or the bytes of a parameter from an offset on (`p@8`). */
const token = /\s*(?:(\d+)|([\p{L}_$][\p{L}\p{N}_$]*(?:[.@][\p{L}\p{N}_$]+)*)|(\S))/uy;
const deepest = 100;

/** Reads a bound. What the printer of expressions writes is read as an expression of the same values. */
export function parseBound(text: string): ParsedBound {
  const parser = new Parser(text);
  try {
    return { expression: parser.whole() };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { error: error.message, column: error.at + 1 };
  }
}

class Parser {
  readonly #text: string;
  #position = 0;
  #depth = 0;
  #word = '';
  #at = 0;
  #kind: 'number' | 'name' | 'sign' | 'end' = 'end';

  constructor(text: string) {
    this.#text = text;
    this.#next();
  }

  whole(): Expression {
    const at = this.#at;
    const value = this.#rounded(this.#sum(), at);
    if (this.#kind !== 'end') throw new Refused(`"${this.#word}" is not expected here`, this.#at);
    return value;
  }

  #next(): void {
    token.lastIndex = this.#position;
    const match = token.exec(this.#text);
    const [all = '', number, name, sign] = match ?? [];
    this.#word = number ?? name ?? sign ?? '';
    this.#kind = number !== undefined ? 'number' : name !== undefined ? 'name' : sign !== undefined ? 'sign' : 'end';
    this.#position = match ? this.#position + all.length : this.#text.length;
    this.#at = this.#position - this.#word.length;
  }

  #takes(sign: string): boolean {
    if (this.#kind !== 'sign' || this.#word !== sign) return false;
    this.#next();
    return true;
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) throw new Refused(`"${sign}" is missing`, this.#at);
  }

  #sum(): Fraction {
    this.#depth += 1;
    if (this.#depth > deepest) throw new Refused('there are too many parentheses', this.#at);
    let value = this.#takes('-') ? negated(this.#product()) : this.#product();
    for (;;) {
      const at = this.#at;
      if (this.#takes('+')) value = this.#added(value, this.#product(), at);
      else if (this.#takes('-')) value = this.#added(value, negated(this.#product()), at);
      else break;
    }
    this.#depth -= 1;
    return value;
  }

  #added(a: Fraction, b: Fraction, at: number): Fraction {
    const whole = (value: Fraction): Expression => this.#rounded(value, at);
    return a.bottom.key === b.bottom.key ? { ...a, top: add(a.top, b.top) } : asIs(add(whole(a), whole(b)));
  }

  #product(): Fraction {
    let value = this.#factor();
    for (;;) {
      if (this.#takes('*')) {
        const next = this.#factor();
        value = { top: multiply(value.top, next.top), bottom: multiply(value.bottom, next.bottom) };
      } else if (this.#takes('/')) {
        const at = this.#at;
        const next = this.#factor();
        const number = constantValue(next.top);
        if (number && number.top <= 0n) throw new Refused('the divisor is not positive', at);
        value = { top: multiply(value.top, next.bottom), bottom: multiply(value.bottom, next.top) };
      } else return value;
    }
  }

  #factor(): Fraction {
    const [kind, word, at] = [this.#kind, this.#word, this.#at];
    this.#next();
    if (kind === 'number') return asIs(constant(BigInt(word)));
    if (kind === 'sign' && word === '(') {
      const value = this.#sum();
      this.#expect(')');
      return value;
    }
    if (kind !== 'name') throw new Refused(kind === 'end' ? 'the bound ends too early' : `"${word}" is not expected here`, at);
    if (!this.#takes('(')) return asIs(named(word, /^(?:blockDim|gridDim)\./.test(word) ? 1n : 0n));
    switch (word) {
      case 'floor':
      case 'ceil':
        return asIs(this.#rounding(word));
      case 'min':
      case 'max':
        return asIs((word === 'min' ? minimum : maximum)(...this.#list()));
      case 'log2':
        throw new Refused('a logarithm must be rounded: floor(log2(…)) or ceil(log2(…))', at);
      default:
        throw new Refused(`there is no function "${word}"; there are floor, ceil, log2, min, max`, at);
    }
  }

  #rounding(kind: 'floor' | 'ceil'): Expression {
    if (this.#kind === 'name' && this.#word === 'log2') {
      this.#next();
      this.#expect('(');
      const at = this.#at;
      const of = this.#rounded(this.#sum(), at);
      this.#expect(')');
      this.#expect(')');
      return log2(of, kind);
    }
    const at = this.#at;
    const quotient = this.#sum();
    this.#expect(')');
    const number = constantValue(quotient.bottom);
    // (a / p) / (b / q) = q a / (p b)
    const dividend = whole(number ? this.#rounded(quotient, at) : quotient.top);
    const divisor = whole(number ? one : quotient.bottom);
    const top = scale(dividend.expression, divisor.by);
    const bottom = scale(divisor.expression, dividend.by);
    if (bottom.addends.size === 0) throw new Refused('the divisor is not positive', at);
    return kind === 'floor' ? floorQuotient(top, bottom) : ceilDivide(top, bottom);
  }

  #list(): Expression[] {
    const list: Expression[] = [];
    do {
      const at = this.#at;
      list.push(this.#rounded(this.#sum(), at));
    } while (this.#takes(','));
    this.#expect(')');
    return list;
  }

  /** A fraction as an expression if its divisor is a number. */
  #rounded({ top, bottom }: Fraction, at: number): Expression {
    const by = constantValue(bottom);
    if (!by) throw new Refused('a quotient of names must be rounded: floor(a/b) or ceil(a/b)', at);
    if (by.top === 0n) throw new Refused('the divisor is not positive', at);
    return scale(top, { top: by.bottom, bottom: by.top });
  }
}

function asIs(top: Expression): Fraction {
  return { top, bottom: one };
}

function negated({ top, bottom }: Fraction): Fraction {
  return { top: scale(top, -1), bottom };
}

/** `expression / by` with whole coefficients. */
function whole(expression: Expression): { readonly expression: Expression; readonly by: bigint } {
  let by = 1n;
  for (const { coefficient } of expression.addends.values()) by = leastMultiple(by, coefficient);
  return { expression: scale(expression, by), by };
}

function leastMultiple(a: bigint, { bottom }: Rational): bigint {
  let [x, y] = [a, bottom];
  while (y !== 0n) [x, y] = [y, x % y];
  return (a / x) * bottom;
}

/** The expression of a text; null if the text is not a bound. */
export function readBound(text: string): Expression | null {
  const parsed = parseBound(text);
  return 'expression' in parsed ? parsed.expression : null;
}
