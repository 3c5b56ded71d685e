/** Conditions that validators test, expressed in the names of the source. */
import { absolute } from '../base/integer.ts';
import { type AddressSet, isOfOneDimension, type Quantity, type ValidatorCondition } from '../idempotency/model/quantity.ts';
import { code } from './text/code-text.ts';

/** Returns the name of a parameter, or of a member of a struct parameter. */
type NameOf = (field: { readonly index: number; readonly offset: number }) => string;

/** Maximum number of reported parts of a condition; longer texts are unreadable. */
const maxTold = 5;
/** Maximum number of operands of an expression, or of alternatives of a disjunction. */
const maxParts = 4;
/** Maximum number of block sizes that a text lists. */
const maxSizes = 8;

export interface LaunchConditionText {
  /** The condition as a clause after "if"; null if that is too long. */
  readonly text: string | null;
  /** Whether the text is equivalent to the condition and not only a part of it. */
  readonly isWhole: boolean;
}

/**
 * Text of a condition on a launch. Of a conjunction, the conditions with a short text. Disjointness of arrays is
 * reported by other clauses.
 */
export function launchConditionText(condition: ValidatorCondition, nameOf: NameOf): LaunchConditionText {
  // Most launches are one-dimensional, so that condition is reported only in the absence of others.
  const all = condition.kind === 'all' ? condition.conditions : [condition];
  const own = all.filter((part) => !isOfTwoArrays(part, nameOf));
  const others = own.filter((part) => !isOfOneDimension(part));
  const parts = others.length > 0 ? others : own;
  const told = parts.map((part) => {
    const whole = part.kind === 'any' && parts.length > 1 ? singleText(part.conditions, nameOf) : partText(part, nameOf);
    return { whole, text: whole ?? (part.kind === 'any' ? sufficientText(part.conditions, nameOf) : null) };
  });
  const texts = [...new Set(told.flatMap(({ text }) => text ?? []))];
  return {
    text: texts.length === 0 ? null : texts.slice(0, maxTold).join(' and '),
    isWhole: told.every(({ whole }) => whole !== null) && texts.length <= maxTold,
  };
}

/** Text of a disjunction, without an "or" that would need parentheses. */
function singleText(conditions: readonly ValidatorCondition[], nameOf: NameOf): string | null {
  return writtenText(conditions) ?? oneOf(conditions, nameOf);
}

/**
 * One alternative of a disjunction that has a text; another one may hold instead. Conditions that any launch may
 * satisfy come last.
 */
function sufficientText(conditions: readonly ValidatorCondition[], nameOf: NameOf): string | null {
  const told = conditions.map((part) => (part.kind === 'any' ? null : launchConditionText(part, nameOf)));
  const best = told.findLast((one) => one?.isWhole) ?? told.findLast((one) => one !== null && one.text !== null);
  return best?.text ?? null;
}

/**
 * Text if every block writes the shared memory that it reads, as shown by the address sets of a launch, or for certain
 * block sizes.
 */
function writtenText(conditions: readonly ValidatorCondition[]): string | null {
  const sets = conditions.filter((part) => part.kind === 'within');
  const isSize = (part: ValidatorCondition): boolean =>
    part.kind === 'all'
      ? part.conditions.every(isSize)
      : part.kind === 'compare' && part.left.kind === 'block-size' && part.comparison === '=';
  const [text = null, ...others] = new Set(sets.map(({ outer }) => withinText(outer)));
  return others.length === 0 && conditions.every((part) => part.kind === 'within' || isSize(part)) ? text : null;
}

/** Text of a part of a condition; null if that is too long. */
function partText(condition: ValidatorCondition, nameOf: NameOf): string | null {
  switch (condition.kind) {
    case 'compare':
      return comparisonText(condition, nameOf);
    case 'all':
      return joined(condition.conditions, ' and ', nameOf);
    case 'any':
      return singleText(condition.conditions, nameOf) ?? joined(condition.conditions, ' or ', nameOf);
    case 'within':
      return withinText(condition.outer);
    case 'disjoint':
      return apartText(condition.left, condition.right, nameOf);
    default:
      return null;
  }
}

/** Clause on shared memory: an array is large enough for its writes, or all bytes read are written. */
function withinText({ base, steps: [step, ...others], bytes }: AddressSet): string {
  const isArray = base.kind === 'constant' && base.value === 0n && bytes === 1 && others.length === 0;
  if (isArray && step?.count.kind === 'dynamic-shared') return 'its dynamic shared memory is large enough for all that it writes there';
  if (isArray && step?.count.kind === 'constant') return 'its writes to shared memory stay within the arrays there';
  return 'its blocks write all shared memory that they read';
}

/** Clause that two parts of one array are disjoint. */
function apartText(left: AddressSet, right: AddressSet, nameOf: NameOf): string | null {
  const [a, b] = [arrayOf(left, nameOf), arrayOf(right, nameOf)];
  return a === null || a !== b ? null : `what it writes of ${code(a)} does not overlap its other accesses there`;
}

function isOfTwoArrays(condition: ValidatorCondition, nameOf: NameOf): boolean {
  if (condition.kind !== 'disjoint') return false;
  const [a, b] = [arrayOf(condition.left, nameOf), arrayOf(condition.right, nameOf)];
  return a !== null && b !== null && a !== b;
}

/** The array of an address set whose base is a single argument. */
function arrayOf({ base }: AddressSet, nameOf: NameOf): string | null {
  const terms = base.kind === 'sum' ? base.operands : [base];
  const [pointer, ...others] = terms.filter((term) => term.kind === 'argument' && term.bytes === 8 && !term.signed);
  return pointer?.kind === 'argument' && others.length === 0 ? nameOf(pointer) : null;
}

function joined(parts: readonly ValidatorCondition[], word: string, nameOf: NameOf): string | null {
  const told = parts.map((part) => partText(part, nameOf));
  const isNested = parts.some((part) => part.kind === 'all' || part.kind === 'any');
  return told.includes(null) || told.length > maxParts || (isNested && word === ' and ') ? null : told.join(word);
}

/**
 * Text of a disjunction of values of one quantity: `` `blockDim.x` is 64, 128 or 256 ``; null for all other conditions.
 */
function oneOf(parts: readonly ValidatorCondition[], nameOf: NameOf): string | null {
  const sizes: bigint[] = [];
  const names = new Set<string | null>();
  for (const part of parts) {
    if (part.kind !== 'compare' || part.comparison !== '=' || part.right.kind !== 'constant') return null;
    names.add(quantityText(part.left, nameOf));
    sizes.push(part.right.value);
  }
  const [name, ...others] = names;
  if (!name || others.length > 0 || sizes.length > maxSizes) return null;
  const sorted = sizes.sort((a, b) => Number(a - b));
  return `${code(name)} is ${sorted.slice(0, -1).join(', ')} or ${sorted.at(-1)}`;
}

function comparisonText({ left, comparison, right }: Extract<ValidatorCondition, { kind: 'compare' }>, nameOf: NameOf): string | null {
  const bits = bitsOf(left) ?? bitsOf(right);
  if (bits !== null && comparison !== '=' && comparison !== '!=') return `its indices fit in ${bits} bits`;
  const [a, b] = [quantityText(left, nameOf), quantityText(right, nameOf)];
  return a === null || b === null ? null : code(`${a} ${comparison === '=' ? '==' : comparison} ${b}`);
}

/** The bit width whose range ends at, or near, a bound. A float represents integers of up to 24 bits exactly. */
function bitsOf(quantity: Quantity): 24 | 32 | 64 | null {
  if (quantity.kind !== 'constant') return null;
  const size = absolute(quantity.value);
  if (size === 1n << 23n) return 24;
  const isNear = (end: bigint): boolean => size <= end && size > end - 4096n;
  return [31n, 32n].some((bits) => isNear(1n << bits)) ? 32 : [63n, 64n].some((bits) => isNear(1n << bits)) ? 64 : null;
}

function quantityText(quantity: Quantity, nameOf: NameOf): string | null {
  switch (quantity.kind) {
    case 'constant':
      return String(quantity.value);
    case 'argument':
      return nameOf(quantity);
    case 'block-size':
    case 'grid-size':
      return `${quantity.kind === 'block-size' ? 'blockDim' : 'gridDim'}.${'xyz'[quantity.axis]}`;
    case 'sum':
    case 'product': {
      const parts = quantity.operands.map((operand) => quantityText(operand, nameOf));
      const isFlat = quantity.kind === 'sum' || quantity.operands.every(({ kind }) => kind !== 'sum');
      if (parts.includes(null) || parts.length > maxParts || !isFlat) return null;
      return parts.join(quantity.kind === 'sum' ? ' + ' : ' * ').replaceAll('+ -', '- ');
    }
    default:
      return null;
  }
}
