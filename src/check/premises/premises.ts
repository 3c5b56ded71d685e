/**
 * The user's assumptions about scalars and dimensions in three forms: as ranges, as premises for the solver, and as a
 * test of a scenario.
 */
import { constantOf } from '../../assumptions/evaluate.ts';
import {
  type NumberComparison,
  type Condition,
  type IntegerExpression,
  comparison,
  integer,
  sidesOf,
  zeroTerm,
} from '../../assumptions/expression.ts';
import { shiftLimit } from '../../assumptions/operators.ts';
import { isSame } from '../../assumptions/parts.ts';
import { negatedFact } from '../../assumptions/simplify.ts';
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import { numeral } from '../../solver/s-expression.ts';
import { isFloatType, sizeOfType } from '../../cuda/syntax/basic-type.ts';
import { type Bounds, signedBounds, unsignedBounds } from '../../term/linear.ts';

/** Finds the unknown or value that a name in an assumption denotes. */
export interface Vocabulary {
  /** SMT-LIB text of a parameter's value; null if it is not a scalar that the kernel reads. */
  readonly parameter: (scalar: NamedScalar) => string | null;
  readonly dimension: (name: 'blockDim' | 'gridDim', axis: 0 | 1 | 2) => string;
  /** A formula for the product of two formulas, neither of which is a constant. */
  readonly product: (a: string, b: string) => string;
}

/** A scalar that an assumption names: a parameter, or a field of one at a byte offset. */
export interface NamedScalar {
  readonly index: number;
  readonly offset: number;
  /** Type as written; empty if the source is not available. */
  readonly type: string;
}

/** The parameter or field that `n`, `p.n` or `param3` names; null for other names. */
export function namedScalar(parameters: readonly ParameterSource[], path: readonly string[]): NamedScalar | null {
  const named = namedPointer(parameters, path.join('.'));
  const isStruct = path.length === 1 && parameters[named?.index ?? -1]?.fields !== undefined;
  // Assumptions are about integers: the bits of a float are not one.
  return named && !isStruct && !isFloatType(named.type) ? named : null;
}

/**
 * The array that `A`, `p.a` or `param0` names: a pointer parameter or the pointer member of a struct; null for other
 * names.
 */
export function namedPointer(parameters: readonly ParameterSource[], name: string): NamedScalar | null {
  const [head = '', ...members] = name.split('.');
  const byNumber = /^param(\d+)$/.exec(head);
  const known = parameters.findIndex((parameter) => parameter.name === head);
  const index = known >= 0 ? known : byNumber ? Number(byNumber[1]) : -1;
  if (index < 0) return null;
  const { type = '', fields } = parameters[index] ?? {};
  if (members.length === 0) return { index, offset: 0, type };
  const field = fields?.find((candidate) => candidate.name === members.join('.'));
  return field ? { index, offset: field.offset, type: field.type } : null;
}

/** Whether a C++ type as written is an unsigned integer. */
export function isUnsignedType(type: string): boolean {
  return /\b(unsigned|uint\d*(_t)?|size_t|uchar|ushort|ulong)\b/.test(type);
}

/**
 * A condition with negations removed (`a < b` for `!(a >= b)`), since ranges and launch instances are read from
 * comparisons. Each comparison is conjoined with its definedness: an execution in which a divisor is 0 does not satisfy
 * it.
 */
function spelledOut(condition: Condition): Condition {
  if (condition.kind === 'not') return spelledOut(negatedFact(condition.operand));
  if (condition.kind !== 'comparison') return { ...condition, left: spelledOut(condition.left), right: spelledOut(condition.right) };
  return [...neededBy(condition.left), ...neededBy(condition.right)].reduce<Condition>(
    (left, right) => ({ kind: 'and', left, right }),
    condition,
  );
}

/** The conditions under which an expression has a value. */
function neededBy(expression: IntegerExpression): readonly Condition[] {
  if (expression.kind !== 'arithmetic') return [];
  const { operator, left, right } = expression;
  const needed = [...neededBy(left), ...neededBy(right)];
  if (constantOf(right) !== undefined) return needed;
  if (operator === '/' || operator === '%') return [...needed, comparison(right, '!=', zeroTerm)];
  return operator === '<<' ? [...needed, comparison(right, '>=', zeroTerm), comparison(right, '<', integer(shiftLimit))] : needed;
}

/** The conditions among the assumptions, split at their conjunctions. */
export function conditionsOf(assumptions: readonly StatedAssumption[]): readonly Condition[] {
  const list: Condition[] = [];
  const split = (condition: Condition): void => {
    if (condition.kind === 'and') {
      split(condition.left);
      split(condition.right);
    } else list.push(condition);
  };
  for (const { expression } of assumptions) if (expression.kind === 'condition') split(spelledOut(expression.condition));
  return list;
}

/**
 * The range of a scalar of `bytes` bytes that the assumptions imply.
 * @param least a further lower bound, if one is known
 */
export function scalarBounds(
  conditions: readonly Condition[],
  parameters: readonly ParameterSource[],
  index: number,
  offset: number,
  bytes: number,
  least?: bigint,
): Bounds {
  const declared = parameters[index]?.fields?.find((field) => field.offset === offset)?.type ?? parameters[index]?.type ?? '';
  const range = isUnsignedType(declared) ? unsignedBounds(bytes * 8) : signedBounds(bytes * 8);
  // An assumption applies neither to a part of a value nor to several values loaded together.
  const declaredBytes = sizeOfType(declared);
  if (declaredBytes !== undefined && declaredBytes !== bytes) return range;
  const bounds = narrowed(conditions, range, (subject) => {
    const named = subject.kind === 'parameter' ? namedScalar(parameters, subject.path) : null;
    return named?.index === index && named.offset === offset;
  });
  return least !== undefined && least > bounds.low && least <= bounds.high ? { ...bounds, low: least } : bounds;
}

/** The range of a dimension that the assumptions imply. */
export function dimensionBounds(conditions: readonly Condition[], name: 'blockDim' | 'gridDim', axis: 0 | 1 | 2, range: Bounds): Bounds {
  return narrowed(conditions, range, (subject) => subject.kind === 'dimension' && subject.name === name && subject.axis === axis);
}

/** Extents of the blocks and grids of all devices. */
const extents: Bounds = { low: 1n, high: (1n << 31n) - 1n };

/** The range of a subject that comparisons with constants, and with dimensions of the launch, imply. */
function narrowed(conditions: readonly Condition[], range: Bounds, isSubject: (expression: IntegerExpression) => boolean): Bounds {
  let { low, high } = range;
  for (const condition of conditions) {
    if (condition.kind !== 'comparison') continue;
    for (const [subject, operator, other] of sidesOf(condition)) {
      if (!isSubject(subject)) continue;
      const value = constantOf(other);
      const of = value !== undefined ? { low: value, high: value } : other.kind === 'dimension' ? extents : null;
      if (!of) continue;
      if (/^(?:<|<=|==)$/.test(operator)) {
        const most = of.high - (operator === '<' ? 1n : 0n);
        if (high > most) high = most;
      }
      if (/^(?:>|>=|==)$/.test(operator)) {
        const least = of.low + (operator === '>' ? 1n : 0n);
        if (low < least) low = least;
      }
    }
  }
  return { low, high };
}

/** The bits of a scalar that the assumptions fix to one value; undefined if several values are possible. */
export function pinnedScalar(
  conditions: readonly Condition[],
  parameters: readonly ParameterSource[],
  index: number,
  offset: number,
  bytes: number,
): bigint | undefined {
  const { low, high } = scalarBounds(conditions, parameters, index, offset, bytes);
  return low === high ? BigInt.asUintN(bytes * 8, low) : undefined;
}

/** Whether the elements of some array are stated to be in an empty range. */
export function hasEmptyRange(assumptions: readonly StatedAssumption[]): boolean {
  return assumptions.some(({ expression }) => {
    if (expression.kind !== 'elements') return false;
    const [low, high] = [constantOf(expression.low), constantOf(expression.high)];
    return low !== undefined && high !== undefined && low > high;
  });
}

/** The operand and the power of two of `x & 31`, the floored remainder modulo 32; null for any other expression. */
function lowBitsOf(expression: IntegerExpression): { readonly number: IntegerExpression; readonly power: bigint } | null {
  if (expression.kind !== 'arithmetic' || expression.operator !== '&') return null;
  for (const [number, mask] of [
    [expression.left, expression.right],
    [expression.right, expression.left],
  ] as const) {
    const bits = constantOf(mask);
    if (bits !== undefined && bits > 0n && (bits & (bits + 1n)) === 0n) return { number, power: bits + 1n };
  }
  return null;
}

/** The expression and the divisor in `x % 32 == 0` or `(x & 31) == 0`; null for other conditions. */
export function multipleOf(condition: Condition): { readonly expression: IntegerExpression; readonly divisor: bigint } | null {
  if (condition.kind !== 'comparison' || condition.operator !== '==') return null;
  for (const [rest, , zero] of sidesOf(condition)) {
    if (constantOf(zero) !== 0n || rest.kind !== 'arithmetic') continue;
    const masked = lowBitsOf(rest);
    if (masked) return { expression: masked.number, divisor: masked.power };
    if (rest.operator !== '%') continue;
    const divisor = constantOf(rest.right);
    if (divisor !== undefined && divisor > 1n) return { expression: rest.left, divisor };
  }
  return null;
}

/** The expression that `(x & (x - 1)) == 0` states to be a power of two, or zero; null for any other condition. */
export function powerOfTwo(condition: Condition): IntegerExpression | null {
  if (condition.kind !== 'comparison' || condition.operator !== '==') return null;
  for (const [mask, , zero] of sidesOf(condition)) {
    if (constantOf(zero) !== 0n || mask.kind !== 'arithmetic' || mask.operator !== '&') continue;
    for (const [number, below] of [
      [mask.left, mask.right],
      [mask.right, mask.left],
    ] as const)
      if (below.kind === 'arithmetic' && below.operator === '-' && constantOf(below.right) === 1n && isSame(below.left, number))
        return number;
  }
  return null;
}

/**
 * A condition as SMT-LIB; null if it has no such form. The condition is then not used, which is weaker but still sound.
 * @param encode a comparison as SMT-LIB, or null
 */
export function encodeCondition(condition: Condition, encode: (comparison: NumberComparison) => string | null): string | null {
  if (condition.kind === 'comparison') return encode(condition);
  const parts = (condition.kind === 'not' ? [condition.operand] : [condition.left, condition.right]).map((part) =>
    encodeCondition(part, encode),
  );
  return parts.includes(null) ? null : `(${condition.kind} ${parts.join(' ')})`;
}

/** A comparison as SMT-LIB over integers; null if it has no such form. */
export function encodeComparison(
  { operator, left, right }: NumberComparison,
  vocabulary: Vocabulary,
  parameters: readonly ParameterSource[],
): string | null {
  const a = encodeExpression(left, vocabulary, parameters);
  const b = encodeExpression(right, vocabulary, parameters);
  if (a === null || b === null) return null;
  return operator === '!=' ? `(not (= ${a} ${b}))` : `(${operator === '==' ? '=' : operator} ${a} ${b})`;
}

/** An expression as SMT-LIB over integers; null if it has no such form. */
export function encodeExpression(
  expression: IntegerExpression,
  vocabulary: Vocabulary,
  parameters: readonly ParameterSource[],
): string | null {
  const known = constantOf(expression);
  if (known !== undefined) return numeral(known);
  const encode = (inner: IntegerExpression): string | null => encodeExpression(inner, vocabulary, parameters);
  switch (expression.kind) {
    case 'parameter': {
      const scalar = namedScalar(parameters, expression.path);
      return scalar && vocabulary.parameter(scalar);
    }
    case 'dimension':
      return vocabulary.dimension(expression.name, expression.axis);
    case 'arithmetic': {
      const a = encode(expression.left);
      const b = encode(expression.right);
      if (a === null || b === null) return null;
      const right = constantOf(expression.right);
      switch (expression.operator) {
        case '*':
          if (constantOf(expression.left) === undefined && right === undefined) return vocabulary.product(a, b);
          return `(* ${a} ${b})`;
        case '+':
        case '-':
          return `(${expression.operator} ${a} ${b})`;
        // SMT-LIB rounds down while C truncates. Both agree only for nonnegative values.
        case '/':
          return right !== undefined && right > 0n ? `(ite (>= ${a} 0) (div ${a} ${b}) (- (div (- ${a}) ${b})))` : null;
        case '%':
          return right !== undefined && right > 0n ? `(ite (>= ${a} 0) (mod ${a} ${b}) (- (mod (- ${a}) ${b})))` : null;
        case '<<':
          return right !== undefined && right >= 0n && right < shiftLimit ? `(* ${a} ${1n << right})` : null;
        case '&': {
          const masked = lowBitsOf(expression);
          return masked && `(mod ${masked.number === expression.left ? a : b} ${masked.power})`;
        }
        case '|':
          return null;
      }
    }
    case 'integer':
      return numeral(expression.value);
  }
}
