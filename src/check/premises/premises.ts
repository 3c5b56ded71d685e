/**
 * The user's assumptions about scalars and dimensions in three forms: as ranges, as premises for the solver, and as a
 * test of a scenario.
 */
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import { numeral } from '../../solver/s-expression.ts';
import type { ComparisonOperator, Condition, IntegerExpression } from '../../cuda/assumptions/assumption.ts';
import { isFloatType, sizeOfType } from '../../cuda/syntax/basic-type.ts';
import { evaluateExpression, shiftLimit } from '../../cuda/assumptions/evaluate-assumption.ts';
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
  const [name, ...members] = path;
  const byNumber = /^param(\d+)$/.exec(name ?? '');
  const known = parameters.findIndex((parameter) => parameter.name === name);
  const index = known >= 0 ? known : byNumber ? Number(byNumber[1]) : -1;
  if (index < 0) return null;
  const { type = '', fields } = parameters[index] ?? {};
  const member = members.join('.');
  const named =
    member !== '' ? fields?.find((candidate) => candidate.name === member) : fields === undefined ? { offset: 0, type } : undefined;
  // Assumptions are about integers: the bits of a float are not one.
  return named && !isFloatType(named.type) ? { index, offset: named.offset, type: named.type } : null;
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

const opposite = { '<': '>=', '>': '<=', '<=': '>', '>=': '<', '==': '!=', '!=': '==' } as const;

/**
 * A condition with negations removed (`a < b` for `!(a >= b)`), since ranges and launch instances are read from
 * comparisons. Each comparison is conjoined with its definedness: an execution in which a divisor is 0 does not satisfy
 * it.
 */
function spelledOut(condition: Condition, isNegated = false): Condition {
  switch (condition.kind) {
    case 'not':
      return spelledOut(condition.operand, !isNegated);
    case 'comparison': {
      const { left, right, operator } = condition;
      const own = isNegated ? { ...condition, operator: opposite[operator] } : condition;
      return [...neededBy(left), ...neededBy(right)].reduce<Condition>((a, b) => ({ kind: 'and', left: a, right: b }), own);
    }
    case 'and':
    case 'or':
      return {
        kind: (condition.kind === 'and') === isNegated ? 'or' : 'and',
        left: spelledOut(condition.left, isNegated),
        right: spelledOut(condition.right, isNegated),
      };
  }
}

/** The conditions under which an expression has a value. */
function neededBy(expression: IntegerExpression): readonly Condition[] {
  if (expression.kind === 'negative') return neededBy(expression.operand);
  if (expression.kind !== 'arithmetic') return [];
  const { operator, left, right } = expression;
  const needed = [...neededBy(left), ...neededBy(right)];
  if (constantOf(right) !== undefined) return needed;
  const compare = (comparison: ComparisonOperator, value: bigint): Condition => {
    return { kind: 'comparison', operator: comparison, left: right, right: { kind: 'integer', value } };
  };
  if (operator === '/' || operator === '%') return [...needed, compare('!=', 0n)];
  return operator === '<<' ? [...needed, compare('>=', 0n), compare('<', shiftLimit)] : needed;
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

/** The range of a scalar of `bytes` bytes that the assumptions imply. */
export function scalarBounds(
  conditions: readonly Condition[],
  parameters: readonly ParameterSource[],
  index: number,
  offset: number,
  bytes: number,
): Bounds {
  const declared = parameters[index]?.fields?.find((field) => field.offset === offset)?.type ?? parameters[index]?.type ?? '';
  const range = isUnsignedType(declared) ? unsignedBounds(bytes * 8) : signedBounds(bytes * 8);
  // An assumption applies neither to a part of a value nor to several values loaded together.
  const declaredBytes = sizeOfType(declared);
  if (declaredBytes !== undefined && declaredBytes !== bytes) return range;
  return narrowed(conditions, range, (subject) => {
    const named = subject.kind === 'parameter' ? namedScalar(parameters, subject.path) : null;
    return named?.index === index && named.offset === offset;
  });
}

/** The range of a dimension that the assumptions imply. */
export function dimensionBounds(conditions: readonly Condition[], name: 'blockDim' | 'gridDim', axis: 0 | 1 | 2, range: Bounds): Bounds {
  return narrowed(conditions, range, (subject) => subject.kind === 'dimension' && subject.name === name && subject.axis === 'xyz'[axis]);
}

/** Extents of the blocks and grids of all devices. */
const extents: Bounds = { low: 1n, high: (1n << 31n) - 1n };

/** The range of a subject that comparisons with constants, and with dimensions of the launch, imply. */
function narrowed(conditions: readonly Condition[], range: Bounds, isSubject: (expression: IntegerExpression) => boolean): Bounds {
  let { low, high } = range;
  for (const condition of conditions) {
    if (condition.kind !== 'comparison') continue;
    for (const [subject, other, operator] of [
      [condition.left, condition.right, condition.operator],
      [condition.right, condition.left, mirrored[condition.operator]],
    ] as const) {
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
  for (const [rest, zero] of [
    [condition.left, condition.right],
    [condition.right, condition.left],
  ] as const) {
    if (constantOf(zero) !== 0n || rest.kind !== 'arithmetic') continue;
    const masked = lowBitsOf(rest);
    if (masked) return { expression: masked.number, divisor: masked.power };
    if (rest.operator !== '%') continue;
    const divisor = constantOf(rest.right);
    if (divisor !== undefined && divisor > 1n) return { expression: rest.left, divisor };
  }
  return null;
}

/** The value of an expression without names; undefined if it contains a name. */
export function constantOf(expression: IntegerExpression): bigint | undefined {
  return evaluateExpression(expression, () => undefined);
}

const mirrored = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!=' } as const;

/**
 * A condition as SMT-LIB over integers; null if it has no such form. The condition is then not used, which is weaker
 * but still sound.
 */
export function encodeCondition(condition: Condition, vocabulary: Vocabulary, parameters: readonly ParameterSource[]): string | null {
  const encode = (inner: Condition): string | null => encodeCondition(inner, vocabulary, parameters);
  switch (condition.kind) {
    case 'comparison': {
      const a = encodeExpression(condition.left, vocabulary, parameters);
      const b = encodeExpression(condition.right, vocabulary, parameters);
      if (a === null || b === null) return null;
      if (condition.operator === '!=') return `(not (= ${a} ${b}))`;
      return `(${condition.operator === '==' ? '=' : condition.operator} ${a} ${b})`;
    }
    case 'not': {
      const inner = encode(condition.operand);
      return inner === null ? null : `(not ${inner})`;
    }
    case 'and':
    case 'or': {
      const a = encode(condition.left);
      const b = encode(condition.right);
      return a === null || b === null ? null : `(${condition.kind} ${a} ${b})`;
    }
  }
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
      return vocabulary.dimension(expression.name, 'xyz'.indexOf(expression.axis) as 0 | 1 | 2);
    case 'negative': {
      const inner = encode(expression.operand);
      return inner === null ? null : `(- ${inner})`;
    }
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
    default:
      return null;
  }
}
