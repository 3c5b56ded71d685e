/** Random expressions over a few atoms, built over any domain, so that a term and a number can be compared. */
import type { Domain, Width } from '../../src/isa/model/domain.ts';
import type { Random } from '../../src/base/random.ts';

/** An expression as it is written, before any domain simplifies it. */
export type Expression =
  | { readonly kind: 'atom'; readonly width: Width; readonly index: number }
  | { readonly kind: 'constant'; readonly width: Width; readonly value: bigint }
  | {
      readonly kind: 'binary';
      readonly width: Width;
      readonly operator: (typeof binaryOperators)[number];
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'not'; readonly width: Width; readonly operand: Expression }
  | { readonly kind: 'factor24'; readonly width: 32; readonly signed: boolean; readonly operand: Expression }
  | { readonly kind: 'resize'; readonly width: Width; readonly signed: boolean; readonly operand: Expression }
  | {
      readonly kind: 'select';
      readonly width: Width;
      readonly condition: Truth;
      readonly left: Expression;
      readonly right: Expression;
    };

export type Truth =
  | { readonly kind: 'constant'; readonly value: boolean }
  | {
      readonly kind: 'comparison';
      readonly operator: (typeof comparisons)[number];
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'negate'; readonly operand: Truth }
  | {
      readonly kind: 'connective';
      readonly operator: (typeof connectives)[number];
      readonly left: Truth;
      readonly right: Truth;
    }
  | { readonly kind: 'select'; readonly condition: Truth; readonly left: Truth; readonly right: Truth };

const binaryOperators = ['add', 'sub', 'mul', 'udiv', 'sdiv', 'urem', 'srem', 'and', 'or', 'xor', 'shl', 'lshr', 'ashr'] as const;
const comparisons = ['equal', 'unsignedLess', 'signedLess'] as const;
const connectives = ['both', 'either', 'differ'] as const;
const widths: readonly Width[] = [8, 16, 32, 64];

/** An expression of a width over the atoms of the given widths. */
export function randomExpression(random: Random, width: Width, atoms: readonly Width[], depth: number): Expression {
  const inner = (of: Width = width): Expression => randomExpression(random, of, atoms, depth - 1);
  if (depth === 0 || random.chance(0.1)) {
    const known = atoms.flatMap((of, index) => (of === width ? [index] : []));
    if (known.length > 0 && random.chance(0.7)) return { kind: 'atom', width, index: random.pick(known) };
    return { kind: 'constant', width, value: randomConstant(random, width) };
  }
  switch (random.below(12)) {
    case 0:
      if (width === 32 && random.chance(0.5)) return { kind: 'factor24', width, signed: random.chance(0.5), operand: inner() };
      return { kind: 'not', width, operand: inner() };
    case 1:
    case 2: {
      const from = random.pick(widths);
      return { kind: 'resize', width, signed: random.chance(0.5), operand: inner(from) };
    }
    case 3:
      return {
        kind: 'select',
        width,
        condition: randomTruth(random, atoms, depth - 1),
        left: inner(),
        right: inner(),
      };
    case 4:
    case 5:
    case 6:
      // Operations of index arithmetic.
      return {
        kind: 'binary',
        width,
        operator: random.pick(['add', 'sub', 'mul']),
        left: inner(),
        right: random.chance(0.5) ? { kind: 'constant', width, value: randomConstant(random, width) } : inner(),
      };
    default:
      return {
        kind: 'binary',
        width,
        operator: random.pick(binaryOperators),
        left: inner(),
        right: random.chance(0.5) ? { kind: 'constant', width, value: randomConstant(random, width) } : inner(),
      };
  }
}

/** A condition over the atoms of the given widths. */
export function randomTruth(random: Random, atoms: readonly Width[], depth: number): Truth {
  if (depth <= 0 && random.chance(0.2)) return { kind: 'constant', value: random.chance(0.5) };
  const inner = (): Truth => randomTruth(random, atoms, depth - 1);
  switch (depth <= 0 ? 0 : random.below(7)) {
    case 1:
      return { kind: 'negate', operand: inner() };
    case 2:
    case 3:
      return { kind: 'connective', operator: random.pick(connectives), left: inner(), right: inner() };
    case 4:
      return { kind: 'select', condition: inner(), left: inner(), right: inner() };
    default: {
      const width = random.pick(widths);
      const left = randomExpression(random, width, atoms, Math.max(0, depth - 1));
      const right = randomExpression(random, width, atoms, random.chance(0.5) ? 0 : Math.max(0, depth - 1));
      return { kind: 'comparison', operator: random.pick(comparisons), left, right };
    }
  }
}

/** Small numbers, powers of two, masks and their neighbours, and any pattern. */
export function randomConstant(random: Random, width: number): bigint {
  const power = 1n << BigInt(random.below(width));
  switch (random.below(6)) {
    case 0:
      return power;
    case 1:
      return power - 1n;
    case 2:
      return BigInt.asUintN(width, -BigInt(random.below(9)));
    case 3:
      return BigInt.asUintN(width, randomBits(random));
    default:
      return BigInt.asUintN(width, BigInt(random.below(random.chance(0.5) ? 9 : 300)));
  }
}

/** 64 random bits. */
export function randomBits(random: Random): bigint {
  return (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
}

/** The value of an expression over a domain. */
export function interpret<V, B>(domain: Domain<V, B>, expression: Expression, atom: (index: number, width: Width) => V): V {
  const of = (inner: Expression): V => interpret(domain, inner, atom);
  const { width } = expression;
  switch (expression.kind) {
    case 'atom':
      return atom(expression.index, width);
    case 'constant':
      return domain.constant(width, expression.value);
    case 'factor24':
      return domain.factor24(expression.signed, of(expression.operand));
    case 'not':
      return domain.not(width, of(expression.operand));
    case 'select': {
      const condition = interpretTruth(domain, expression.condition, atom);
      return domain.select(width, condition, of(expression.left), of(expression.right));
    }
    case 'resize': {
      const from = expression.operand.width;
      const value = of(expression.operand);
      if (from === width) return value;
      if (from > width) return domain.truncate(from, width, value);
      return expression.signed ? domain.signExtend(from, width, value) : domain.zeroExtend(from, width, value);
    }
    case 'binary':
      return domain[expression.operator](width, of(expression.left), of(expression.right));
  }
}

/** The value of a condition over a domain. */
export function interpretTruth<V, B>(domain: Domain<V, B>, truth: Truth, atom: (index: number, width: Width) => V): B {
  const of = (inner: Truth): B => interpretTruth(domain, inner, atom);
  switch (truth.kind) {
    case 'constant':
      return domain.truth(truth.value);
    case 'negate':
      return domain.negate(of(truth.operand));
    case 'connective':
      return domain[truth.operator](of(truth.left), of(truth.right));
    case 'select':
      return domain.selectTruth(of(truth.condition), of(truth.left), of(truth.right));
    case 'comparison':
      return domain[truth.operator](truth.left.width, interpret(domain, truth.left, atom), interpret(domain, truth.right, atom));
  }
}
