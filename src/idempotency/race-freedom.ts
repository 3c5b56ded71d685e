/**
 * Launches for which the proofs of no race and no divergence are valid: assumptions of the proofs become conditions on
 * the launch, if the launch determines them.
 *
 * - `no-alias`: nothing here. The pairs require that written bytes are disjoint from accesses through any other
 *   pointer.
 * - `no-wrap`: the text names the index and its bits; the condition is that it fits for all threads. If it counts the
 *   iterations of a loop, the footprints of the accesses in that loop have the condition (`Footprint.needs`).
 * - `in-bounds`: the accesses of one pointer are compared as bytes, so leaving an array of global memory changes
 *   nothing. For shared memory it is a condition if the launch determines it, and otherwise an assumption.
 * - `launch`, `user`, `precondition`: conditions, if they are about parameters and dimensions. Statements of the user
 *   on contents remain assumptions.
 * - `stable-memory`: remains an assumption: nothing else writes what the kernel reads while it runs. Writes of the
 *   kernel itself are disjoint from it, or precede all reads of it. That the previous kernel in the stream has ended is
 *   not an assumption: a re-execution would not wait for it.
 * - `texture-apart`: required by the conditions on textures among the arguments; other textures are obstacles
 *   themselves.
 * - `equal-value-writes`: harmless: the values are equal in each execution, so any of them may remain.
 * - `contents` of tables and pointers to functions that the module itself defines remain assumptions.
 * - other `contents` that are not stated, `initial`, `no-effect`, `warp-lockstep`: the launch may violate what the
 *   proof is about, and nothing reveals it. The kernel is then undecided.
 */
import { parseAssumption } from '../assumptions/assumption-parser.ts';
import type { Condition as Assumed, IntegerExpression } from '../assumptions/expression.ts';
import { negatedFact } from '../assumptions/simplify.ts';
import { isFloatType, sizeOfType } from '../cuda/syntax/basic-type.ts';
import { isOfOtherKernels } from '../check/stable-memory.ts';
import { isUnsignedType, namedScalar } from '../check/premises/premises.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import type { ParameterSource } from '../launch/parameter-source.ts';
import type { Assumption, DivergenceResult, RaceResult } from '../verdict/finding.ts';
import { allOf, anyOf, compare, differenceOfQuantities, number, sumOfQuantities, productOfQuantities } from './build-condition.ts';
import { type Axis, never, type Quantity, type ValidatorCondition } from './model/quantity.ts';

/** Proofs of the checks for the kernel, under the launch that was configured. */
export interface KernelProofs {
  readonly race: Pick<RaceResult, 'verdict' | 'assumptions'>;
  readonly divergence: Pick<DivergenceResult, 'verdict' | 'assumptions'>;
  /** Volatile accesses were treated as racing like weak ones: if no race remains, they are ordered by other means. */
  readonly volatileRaces?: boolean;
}

export interface RaceFreedom {
  /** Launches that satisfy it have no race and no divergence, given that the pairs of accesses are disjoint. */
  readonly condition: ValidatorCondition;
  /** Whether the condition is more than a number of dimensions of the launch, and indices that do not wrap around. */
  readonly isRestricted: boolean;
  /** Whether it requires one thread, or one block, along an axis whose index the kernel does not read. */
  readonly isOfOneAlong: boolean;
  /**
   * Indices assumed not to wrap around whose conditions are those of the footprints: indices that count iterations, or
   * any index, if one is shortened in the text.
   */
  readonly unread: 'none' | 'rounds' | 'any';
  readonly assumptions: readonly string[];
  /** Whether indices are assumed to stay within their arrays. */
  readonly inBounds: boolean;
  /** Requirements of the proofs that cannot be determined at a launch. */
  readonly open: readonly string[];
}

/**
 * Assumptions on the module, valid as long as the host passes no other functions to the kernel and does not change its
 * tables.
 */
const ofModule = /^pointers to functions lead to functions whose address this module takes$| holds what it is initialised with$/;

/**
 * Turns the proofs of the checks into a condition on the launch.
 * @param checked null: the kernel was not checked
 */
export function raceFreedom(kernel: Kernel, parameters: readonly ParameterSource[], checked: KernelProofs | null): RaceFreedom {
  if (checked?.race.verdict !== 'proved' || checked.divergence.verdict !== 'proved')
    return {
      condition: never,
      isRestricted: true,
      isOfOneAlong: false,
      unread: 'none',
      assumptions: [],
      inBounds: false,
      open: ['`selvage check` tells why'],
    };
  const conditions: ValidatorCondition[] = [];
  const assumptions = new Set<string>();
  const open: string[] = [];
  let inBounds = false;
  let isRestricted = false;
  let isOfOneAlong = false;
  let unread = 'none' as RaceFreedom['unread'];
  for (const assumption of [...(checked.race.assumptions ?? []), ...(checked.divergence.assumptions ?? [])]) {
    const { kind, text } = assumption;
    const condition = conditionOf(kernel, parameters, assumption);
    if (condition) {
      if (kind === 'launch' && ofFirstAxis.test(text)) isOfOneAlong = true;
      conditions.push(condition);
      if ((kind === 'precondition' || kind === 'user') && !ofDimensions.test(text)) isRestricted = true;
    } else if (kind === 'in-bounds') inBounds = true;
    else if (kind === 'stable-memory' && !isOfOtherKernels(text)) assumptions.add(text);
    else if (kind === 'user' && isOfContents(text)) assumptions.add(text);
    else if (kind === 'contents' && ofModule.test(text)) assumptions.add(text);
    else if (!isImplied(kind, text)) open.push(text);
    else if (kind === 'no-wrap') unread = text.includes('...') || unread === 'any' ? 'any' : 'rounds';
  }
  const condition = open.length > 0 ? never : allOf(conditions);
  return { condition, isRestricted, isOfOneAlong, unread, assumptions: [...assumptions], inBounds, open };
}

/** The launch has one or two dimensions. */
const ofDimensions = /^(blockDim|gridDim)\.[yz] ==? 1$/;

const ofFirstAxis = /^(blockDim|gridDim)\.x ==? 1$/;

/** Whether the conditions of the pairs imply an assumption, or its violation is harmless. */
function isImplied(kind: Assumption['kind'], text: string): boolean {
  // The pairs imply it for textures that are parameters; other textures are listed among the effects, as surfaces are.
  if (kind === 'no-alias' || kind === 'equal-value-writes' || kind === 'texture-apart') return true;
  if ((kind === 'launch' || kind === 'user') && isExtent(text)) return true;
  return kind === 'no-wrap' && wrapped.test(text) && countsRounds.test(text);
}

/**
 * Indices that count iterations, or are shortened in the text: the footprints of the accesses require that they fit.
 */
const countsRounds = /\bround\b|\.\.\. fits in/;

/** Whether a statement is the size of an array: that affects only whether indices are in bounds. */
function isExtent(text: string): boolean {
  const parsed = parseAssumption(text);
  return 'expression' in parsed && parsed.expression.kind === 'extent';
}

function isOfContents(text: string): boolean {
  const parsed = parseAssumption(text);
  return 'expression' in parsed && parsed.expression.kind !== 'condition';
}

const wrapped = /^(.*) fits in (\d+) bits$/;

/** An assumption of a proof as a condition on the launch; null if it is not one. */
function conditionOf(kernel: Kernel, parameters: readonly ParameterSource[], { kind, text }: Assumption): ValidatorCondition | null {
  const words: Words = { kernel, parameters, conditions: [] };
  const meant = (condition: ValidatorCondition | null): ValidatorCondition | null => condition && allOf([condition, ...words.conditions]);
  switch (kind) {
    case 'launch':
    case 'user':
    case 'precondition':
      return meant(dimensionsGiven(text) ?? statement(words, text.replace(/ = /, ' == ')));
    case 'no-wrap': {
      const [, index, bits] = wrapped.exec(text) ?? [];
      const parsed = index === undefined ? null : parseAssumption(`${withoutIndices(index)} <= 0`);
      if (!parsed || !('expression' in parsed) || parsed.expression.kind !== 'condition') return null;
      const { condition } = parsed.expression;
      const range = condition.kind === 'comparison' ? rangeOf(words, condition.left) : null;
      const most = 1n << BigInt(Number(bits) - 1);
      return meant(range && allOf([compare(number(-most), '<=', range.low), compare(range.high, '<', number(most))]));
    }
    default:
      return null;
  }
}

/** `blockDim = 256`, `gridDim = (16, 16)`. */
function dimensionsGiven(text: string): ValidatorCondition | null {
  const [, name, list] = /^(blockDim|gridDim) = \(?([\d, ]+)\)?$/.exec(text) ?? [];
  if (list === undefined) return null;
  const sizes = list.split(',').map(Number);
  const kind = name === 'blockDim' ? 'block-size' : 'grid-size';
  return allOf(([0, 1, 2] as const).map((axis) => compare({ kind, axis }, '=', number(sizes[axis] ?? 1))));
}

interface Words {
  readonly kernel: Kernel;
  readonly parameters: readonly ParameterSource[];
  /** Conditions under which the quantities equal expressions of the assumption language. */
  readonly conditions: ValidatorCondition[];
}

/**
 * A statement in the language of assumptions as a condition on a launch.
 * @returns null if it is about something other than integer arguments and dimensions
 */
function statement(words: Words, text: string): ValidatorCondition | null {
  const parsed = parseAssumption(text);
  if (!('expression' in parsed) || parsed.expression.kind !== 'condition') return null;
  return translate(words, parsed.expression.condition);
}

function translate(words: Words, condition: Assumed): ValidatorCondition | null {
  if (condition.kind === 'not') return translate(words, negatedFact(condition.operand));
  if (condition.kind === 'comparison') {
    const left = exactly(words, condition.left);
    const right = exactly(words, condition.right);
    if (!left || !right) return null;
    const { operator } = condition;
    if (operator === '>' || operator === '>=') return compare(right, operator === '>' ? '<' : '<=', left);
    return compare(left, operator === '==' ? '=' : operator, right);
  }
  const [left, right] = [translate(words, condition.left), translate(words, condition.right)];
  return left && right && (condition.kind === 'and' ? allOf : anyOf)([left, right]);
}

/** Value of an expression of the language of assumptions in a launch; null if it needs more than its arguments. */
export function launchValue(kernel: Kernel, parameters: readonly ParameterSource[], expression: IntegerExpression): Quantity | null {
  const words: Words = { kernel, parameters, conditions: [] };
  const value = exactly(words, expression);
  return words.conditions.length > 0 ? null : value;
}

/** The exact value of an expression in a launch; null if it differs between threads. */
function exactly(words: Words, expression: IntegerExpression): Quantity | null {
  const range = rangeOf(words, expression);
  return range && range.low === range.high ? range.low : null;
}

interface Range {
  /** The minimum over all threads; the same quantity as `high` if the launch determines the value. */
  readonly low: Quantity;
  readonly high: Quantity;
}

const one = (value: Quantity): Range => ({ low: value, high: value });

/** Bounds of an expression over all threads of a launch. */
function rangeOf(words: Words, expression: IntegerExpression): Range | null {
  switch (expression.kind) {
    case 'integer':
      return one(number(expression.value));
    case 'dimension':
      return one({ kind: expression.name === 'blockDim' ? 'block-size' : 'grid-size', axis: expression.axis });
    case 'parameter':
      return index(expression.path) ?? scalar(words, expression.path);
    case 'arithmetic': {
      const left = rangeOf(words, expression.left);
      const right = rangeOf(words, expression.right);
      return left && right && combined(words, expression.operator, left, right);
    }
  }
}

/**
 * Renames indices of threads and blocks, which the language of assumptions rejects because they differ between threads,
 * to names that no parameter has: identifiers with two underscores are reserved. Replaces shifts to the right, which
 * the language lacks, by quotients.
 */
function withoutIndices(text: string): string {
  return text.replaceAll(/\b(threadIdx|blockIdx)\b/g, '__$1').replaceAll(/>> (\d+)/g, (_, by: string) => `/ ${1n << BigInt(by)}`);
}

/** `threadIdx.x`, `blockIdx.y`, as {@link withoutIndices} writes them. */
function index([name, member]: readonly string[]): Range | null {
  if ((name !== '__threadIdx' && name !== '__blockIdx') || !/^[xyz]$/.test(member ?? '')) return null;
  const axis = 'xyz'.indexOf(member!) as Axis;
  const size: Quantity = { kind: name === '__threadIdx' ? 'block-size' : 'grid-size', axis };
  return { low: number(0), high: sumOfQuantities(size, number(-1)) };
}

function scalar({ kernel, parameters, conditions }: Words, path: readonly string[]): Range | null {
  const named = namedScalar(parameters, path);
  if (!named || isFloatType(named.type)) return null;
  if (named.type === '') {
    // A PTX file does not specify signedness. If the highest bit is zero, signed and unsigned values agree.
    const size = kernel.parameters[named.index]?.bytes;
    if (size !== 4 && size !== 8) return null;
    const value: Quantity = { kind: 'argument', index: named.index, offset: 0, bytes: size, signed: true };
    conditions.push(compare(number(0), '<=', value));
    return one(value);
  }
  const bytes = sizeOfType(named.type) ?? (named.offset === 0 ? kernel.parameters[named.index]?.bytes : undefined);
  if (bytes !== 1 && bytes !== 2 && bytes !== 4 && bytes !== 8) return null;
  const { index: parameter, offset, type } = named;
  return one({ kind: 'argument', index: parameter, offset, bytes, signed: !isUnsignedType(type) });
}

function combined(words: Words, operator: string, left: Range, right: Range): Range | null {
  const isKnown = left.low === left.high && right.low === right.high;
  switch (operator) {
    case '+':
      return isKnown
        ? one(sumOfQuantities(left.low, right.low))
        : { low: sumOfQuantities(left.low, right.low), high: sumOfQuantities(left.high, right.high) };
    case '-':
      return isKnown
        ? one(differenceOfQuantities(left.low, right.low))
        : { low: differenceOfQuantities(left.low, right.high), high: differenceOfQuantities(left.high, right.low) };
    case '*': {
      if (isKnown) return one(productOfQuantities(left.low, right.low));
      const products = [left.low, left.high].flatMap((a) => [productOfQuantities(a, right.low), productOfQuantities(a, right.high)]);
      return { low: { kind: 'min', operands: products }, high: { kind: 'max', operands: products } };
    }
    case '/':
    case '%':
    case '<<':
    case '&':
    case '|': {
      // The language rounds towards zero; for nonnegative values that equals rounding down.
      words.conditions.push(compare(number(0), '<=', left.low));
      words.conditions.push(compare(number(operator === '/' || operator === '%' ? 1 : 0), '<=', right.low));
      if (right.low !== right.high) return null;
      const quotient = (dividend: Quantity): Quantity => ({ kind: 'quotient', dividend, divisor: right.low });
      if (operator === '/') return isKnown ? one(quotient(left.low)) : { low: quotient(left.low), high: quotient(left.high) };
      if (operator === '%') {
        if (isKnown) return one({ kind: 'remainder', dividend: left.low, divisor: right.low });
        return { low: number(0), high: sumOfQuantities(right.low, number(-1)) };
      }
      if (!isKnown) return null;
      return one({
        kind: operator === '<<' ? 'shift-left' : operator === '&' ? 'and' : 'or',
        left: left.low,
        right: right.low,
      });
    }
    default:
      return null;
  }
}
