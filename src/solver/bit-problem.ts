/** Formulas over bit-vectors as clauses over their bits: each operation becomes the gates of its circuit. */
import { maxGates } from './limits.ts';
import { type Literal, Sat } from './sat.ts';
import { type SExpression, Undecided } from './s-expression.ts';
import type { SolverAnswer } from './solver.ts';

/** From the lowest to the highest; a truth value is a single literal. */
type Bits = readonly Literal[];
type Value = Literal | Bits;

const yes: Literal = 0;
const no: Literal = 1;

/** Larger than any literal: two literals combine into one numeric key. */
const keyOfLiteral = 2 ** 25;

export class BitProblem {
  private readonly sat = new Sat();
  private readonly declared = new Map<string, Value>();
  private readonly defined = new Map<string, SExpression>();
  private readonly known = new Map<string, Value>();
  private readonly gates = new Map<string | number, Literal>();

  constructor() {
    this.sat.newVariable(true);
    this.sat.add([yes]);
  }

  /** @throws Undecided if it is neither Bool nor a bit-vector */
  declare(name: string, sort: SExpression): void {
    if (sort === 'Bool') this.declared.set(name, 2 * this.sat.newVariable());
    else if (sort[0] === '_' && sort[1] === 'BitVec')
      this.declared.set(
        name,
        Array.from({ length: Number(sort[2]) }, () => 2 * this.sat.newVariable()),
      );
    else throw new Undecided('sort');
  }

  /** Binds a name to the value of an expression. */
  define(name: string, expression: SExpression): void {
    this.defined.set(name, expression);
  }

  /** Adds a formula as an assertion. @throws Undecided if it is too large, or has unknown operations */
  assert(expression: SExpression): void {
    this.sat.reset();
    this.require(expression, []);
  }

  private require(expression: SExpression, unless: readonly Literal[]): void {
    const parts = expression.slice(1) as SExpression[];
    if (expression[0] === 'and') for (const part of parts) this.require(part, unless);
    else if (expression[0] === '=>') this.require(parts[1]!, [...unless, this.truth(parts[0]!) ^ 1]);
    else this.sat.add([...unless, this.truth(expression)]);
  }

  /** Effort of all questions so far, as {@link Sat.effort} counts it. */
  get effort(): number {
    return this.sat.effort;
  }

  /** Decides the assertions together with the named truth values. @param most conflicts */
  solve(most: number, assumptions: readonly string[]): SolverAnswer {
    const assumed = assumptions.map((name) => this.truth(name));
    const kind = this.sat.solve(most, assumed);
    if (kind === 'unknown') return { kind, reason: 'budget exhausted' };
    if (kind === 'unsat') return { kind };
    const model = new Map<string, bigint | boolean>();
    for (const [name, value] of this.declared) {
      if (typeof value === 'number') model.set(name, this.sat.isTrue(value));
      else {
        const bits = value.map((bit, i) => (this.sat.isTrue(bit) ? 1n << BigInt(i) : 0n));
        model.set(
          name,
          bits.reduce((sum, bit) => sum + bit, 0n),
        );
      }
    }
    return { kind, model };
  }

  private truth(expression: SExpression): Literal {
    const value = this.value(expression);
    if (typeof value !== 'number') throw new Undecided('sort');
    return value;
  }

  private bits(expression: SExpression): Bits {
    const value = this.value(expression);
    if (typeof value === 'number') throw new Undecided('sort');
    return value;
  }

  private value(expression: SExpression): Value {
    if (typeof expression === 'string') return this.named(expression);
    const [head, ...parts] = expression as readonly [SExpression, ...SExpression[]];
    if (typeof head !== 'string') return this.indexed(head, this.bits(parts[0]!));
    switch (head) {
      case '_':
        return constant(BigInt((parts[0] as string).slice(2)), Number(parts[1]));
      case 'not':
        return this.truth(parts[0]!) ^ 1;
      case 'and':
        return parts.reduce<Literal>((all, part) => this.and(all, this.truth(part)), yes);
      case 'or':
        return parts.reduce<Literal>((some, part) => this.or(some, this.truth(part)), no);
      case '=>':
        return this.or(this.truth(parts[0]!) ^ 1, this.truth(parts[1]!));
      case 'xor':
        return this.xor(this.truth(parts[0]!), this.truth(parts[1]!));
      case '=': {
        if (parts.length !== 2) throw new Undecided(head);
        const [a, b] = [this.value(parts[0]!), this.value(parts[1]!)];
        if (typeof a === 'number' && typeof b === 'number') return this.xor(a, b) ^ 1;
        return (a as Bits).reduce<Literal>((all, bit, i) => this.and(all, this.xor(bit, (b as Bits)[i]!) ^ 1), yes);
      }
      case 'ite': {
        const condition = this.truth(parts[0]!);
        const [a, b] = [this.value(parts[1]!), this.value(parts[2]!)];
        if (typeof a === 'number' && typeof b === 'number') return this.choose(condition, a, b);
        return (a as Bits).map((bit, i) => this.choose(condition, bit, (b as Bits)[i]!));
      }
      case 'bvand':
        return this.bitwise(parts, (a, b) => this.and(a, b));
      case 'bvor':
        return this.bitwise(parts, (a, b) => this.or(a, b));
      case 'bvxor':
        return this.bitwise(parts, (a, b) => this.xor(a, b));
      case 'bvneg':
        return this.negative(this.bits(parts[0]!));
      case 'bvadd':
        return parts.map((part) => this.bits(part)).reduce((a, b) => this.sum(a, b, no));
      case 'bvmul':
        return parts.map((part) => this.bits(part)).reduce((a, b) => this.product(a, b));
      case 'bvudiv':
        return this.division(this.bits(parts[0]!), this.bits(parts[1]!))[0];
      case 'bvurem':
        return this.division(this.bits(parts[0]!), this.bits(parts[1]!))[1];
      case 'bvshl':
        return [...this.shifted([...this.bits(parts[0]!)].reverse(), this.bits(parts[1]!), no)].reverse();
      case 'bvlshr':
        return this.shifted(this.bits(parts[0]!), this.bits(parts[1]!), no);
      case 'bvashr': {
        const shifted = this.bits(parts[0]!);
        return this.shifted(shifted, this.bits(parts[1]!), shifted[shifted.length - 1]!);
      }
      case 'bvslt':
        return this.less(this.bits(parts[0]!), this.bits(parts[1]!));
      case 'bvsle':
        return this.less(this.bits(parts[1]!), this.bits(parts[0]!)) ^ 1;
      default:
        throw new Undecided(head);
    }
  }

  private bitwise(parts: readonly SExpression[], gate: (a: Literal, b: Literal) => Literal): Bits {
    return parts.map((part) => this.bits(part)).reduce((a, b) => a.map((bit, i) => gate(bit, b[i]!)));
  }

  private named(name: string): Value {
    if (name === 'true') return yes;
    if (name === 'false') return no;
    let value = this.declared.get(name) ?? this.known.get(name);
    if (value === undefined) {
      const expression = this.defined.get(name);
      if (expression === undefined) throw new Undecided(name);
      value = this.value(expression);
      this.known.set(name, value);
    }
    return value;
  }

  private indexed([underscore, operation, a, b]: readonly SExpression[], bits: Bits): Bits {
    if (underscore !== '_') throw new Undecided(String(underscore));
    switch (operation) {
      case 'extract':
        return bits.slice(Number(b), Number(a) + 1);
      case 'zero_extend':
        return [...bits, ...Array.from({ length: Number(a) }, () => no)];
      case 'sign_extend':
        return [...bits, ...Array.from({ length: Number(a) }, () => bits[bits.length - 1]!)];
      default:
        throw new Undecided(String(operation));
    }
  }

  private gate(key: string | number, clauses: (output: Literal) => readonly (readonly Literal[])[]): Literal {
    let output = this.gates.get(key);
    if (output === undefined) {
      if (this.gates.size >= maxGates) throw new Undecided('size');
      output = 2 * this.sat.newVariable();
      this.gates.set(key, output);
      for (const clause of clauses(output)) this.sat.add(clause);
    }
    return output;
  }

  private and(a: Literal, b: Literal): Literal {
    if (a === no || b === no || a === (b ^ 1)) return no;
    if (a === yes || a === b) return b;
    if (b === yes) return a;
    const [x, y] = a < b ? [a, b] : [b, a];
    return this.gate(2 * (x * keyOfLiteral + y), (z) => [
      [z ^ 1, x],
      [z ^ 1, y],
      [z, x ^ 1, y ^ 1],
    ]);
  }

  private or(a: Literal, b: Literal): Literal {
    return this.and(a ^ 1, b ^ 1) ^ 1;
  }

  private xor(a: Literal, b: Literal): Literal {
    if (a <= no) return a === yes ? b ^ 1 : b;
    if (b <= no) return b === yes ? a ^ 1 : a;
    const sign = (a & 1) ^ (b & 1);
    const [x, y] = a < b ? [a & ~1, b & ~1] : [b & ~1, a & ~1];
    if (x === y) return no ^ sign;
    const clauses = (z: Literal) => [
      [z ^ 1, x, y],
      [z ^ 1, x ^ 1, y ^ 1],
      [z, x ^ 1, y],
      [z, x, y ^ 1],
    ];
    return this.gate(2 * (x * keyOfLiteral + y) + 1, clauses) ^ sign;
  }

  private choose(condition: Literal, a: Literal, b: Literal): Literal {
    if (condition === yes || a === b) return a;
    if (condition === no) return b;
    if (a === (b ^ 1)) return this.xor(condition, b);
    if (a <= no) return a === yes ? this.or(condition, b) : this.and(condition ^ 1, b);
    if (b <= no) return b === yes ? this.or(condition ^ 1, a) : this.and(condition, a);
    const clauses = (z: Literal) => [
      [condition ^ 1, z ^ 1, a],
      [condition ^ 1, z, a ^ 1],
      [condition, z ^ 1, b],
      [condition, z, b ^ 1],
      [z, a ^ 1, b ^ 1],
      [z ^ 1, a, b],
    ];
    return this.gate(`${condition}?${a}:${b}`, clauses);
  }

  /** The majority of three literals: true if at least two are true. */
  private majority(a: Literal, b: Literal, c: Literal): Literal {
    // If two agree, the third does not matter; if two differ, it decides.
    if (a === b || b === (c ^ 1)) return a;
    if (b === c || c === (a ^ 1)) return b;
    if (a === c || a === (b ^ 1)) return c;
    for (const [one, x, y] of [
      [a, b, c],
      [b, a, c],
      [c, a, b],
    ] as const)
      if (one <= no) return one === yes ? this.or(x, y) : this.and(x, y);
    const [x, y, w] = [a, b, c].sort((p, q) => p - q) as [Literal, Literal, Literal];
    const clauses = (z: Literal) => [
      [z ^ 1, x, y],
      [z ^ 1, x, w],
      [z ^ 1, y, w],
      [z, x ^ 1, y ^ 1],
      [z, x ^ 1, w ^ 1],
      [z, y ^ 1, w ^ 1],
    ];
    return this.gate(`${x}+${y}+${w}`, clauses);
  }

  private sum(a: Bits, b: Bits, carry: Literal): Bits {
    let carried = carry;
    return a.map((bit, i) => {
      const other = b[i]!;
      const total = this.xor(this.xor(bit, other), carried);
      if (i < a.length - 1) carried = this.majority(bit, other, carried);
      return total;
    });
  }

  private negative(bits: Bits): Bits {
    return this.sum(
      bits.map((bit) => bit ^ 1),
      bits.map(() => no),
      yes,
    );
  }

  private product(a: Bits, b: Bits): Bits {
    const known = ({ length }: Bits, bits: Bits): number => (bits.every((bit) => bit <= no) ? length : 0);
    const [times, bits] = known(a, a) > known(b, b) ? [a, b] : [b, a];
    const zero = bits.map(() => no);
    // A contiguous run of ones in the multiplier becomes one subtraction.
    const opposite = times.every((bit) => bit <= no) ? this.negative(times) : times;
    const ones = (factor: Bits): number => factor.filter((bit) => bit === yes).length;
    if (ones(opposite) + 1 < ones(times)) return this.negative(this.product(bits, opposite));
    return times.reduce<Bits>((total, bit, i) => {
      if (bit === no) return total;
      const row = zero.map((_, at) => (at < i ? no : this.and(bit, bits[at - i]!)));
      return this.sum(total, row, no);
    }, zero);
  }

  /** Long division; by zero, all ones and the dividend, as SMT-LIB has it. */
  private division(a: Bits, b: Bits): readonly [quotient: Bits, remainder: Bits] {
    const quotient: Literal[] = a.map(() => no);
    const divisor = [...b, no];
    let rest: Bits = divisor.map(() => no);
    for (let i = a.length - 1; i >= 0; i--) {
      rest = [a[i]!, ...rest.slice(0, -1)];
      const isEnough = this.lessUnsigned(rest, divisor) ^ 1;
      const reduced = this.sum(
        rest,
        divisor.map((bit) => bit ^ 1),
        yes,
      );
      quotient[i] = isEnough;
      rest = rest.map((bit, at) => this.choose(isEnough, reduced[at]!, bit));
    }
    return [quotient, rest.slice(0, -1)];
  }

  /** Shifted towards the lowest bit, with `fill` from above. */
  private shifted(bits: Bits, amount: Bits, fill: Literal): Bits {
    let result = bits;
    let isBeyond = no;
    for (const [i, by] of amount.entries()) {
      if (i < 31 && 2 ** i < bits.length) result = result.map((bit, at) => this.choose(by, result[at + 2 ** i] ?? fill, bit));
      else isBeyond = this.or(isBeyond, by);
    }
    return result.map((bit) => this.choose(isBeyond, fill, bit));
  }

  private lessUnsigned(a: Bits, b: Bits): Literal {
    return a.reduce<Literal>((isLess, bit, i) => this.choose(this.xor(bit, b[i]!), b[i]!, isLess), no);
  }

  /** Whether `a` is less than `b`, as signed integers in two's complement. */
  private less(a: Bits, b: Bits): Literal {
    const flipped = (bits: Bits): Bits => [...bits.slice(0, -1), bits[bits.length - 1]! ^ 1];
    return this.lessUnsigned(flipped(a), flipped(b));
  }
}

function constant(value: bigint, bits: number): Bits {
  return Array.from({ length: bits }, (_, i) => (((value >> BigInt(i)) & 1n) === 1n ? yes : no));
}
