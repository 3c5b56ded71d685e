/** Constructors of conditions and quantities that fold constants. */
import { type AddressSet, always, never, type Quantity, type ValidatorCondition } from './model/quantity.ts';

/** A number that is known. */
export function number(value: bigint | number): Quantity {
  return { kind: 'constant', value: BigInt(value) };
}

/** The sum of quantities. */
export function sumOfQuantities(...operands: readonly Quantity[]): Quantity {
  const rest: Quantity[] = [];
  let constant = 0n;
  for (const operand of operands.flatMap((one) => (one.kind === 'sum' ? one.operands : [one]))) {
    if (operand.kind === 'constant') constant += operand.value;
    else rest.push(operand);
  }
  if (constant !== 0n || rest.length === 0) rest.push(number(constant));
  return rest.length === 1 ? rest[0]! : { kind: 'sum', operands: rest };
}

/** The product of quantities. */
export function productOfQuantities(...operands: readonly Quantity[]): Quantity {
  const rest: Quantity[] = [];
  let constant = 1n;
  for (const operand of operands.flatMap((one) => (one.kind === 'product' ? one.operands : [one]))) {
    if (operand.kind === 'constant') constant *= operand.value;
    else rest.push(operand);
  }
  if (constant === 0n) return number(0);
  if (constant !== 1n || rest.length === 0) rest.unshift(number(constant));
  return rest.length === 1 ? rest[0]! : { kind: 'product', operands: rest };
}

/** `left - right`. */
export function differenceOfQuantities(left: Quantity, right: Quantity): Quantity {
  return sumOfQuantities(left, productOfQuantities(number(-1), right));
}

/** Whether two quantities are structurally identical, and so equal. */
function areAlike(a: Quantity, b: Quantity): boolean {
  return a === b || conditionKey(a) === conditionKey(b);
}

/** Cache of keys: the objects are immutable. */
const keys = new WeakMap<Quantity | AddressSet | ValidatorCondition, string>();

/** A string that distinguishes quantities, sets and conditions. */
export function conditionKey(of: Quantity | AddressSet | ValidatorCondition): string {
  let key = keys.get(of);
  if (key === undefined) {
    key = JSON.stringify(of, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
    keys.set(of, key);
  }
  return key;
}

type Comparison = Extract<ValidatorCondition, { kind: 'compare' }>['comparison'];

/** A comparison; decided if both sides are numbers, or structurally identical. */
export function compare(left: Quantity, comparison: Comparison, right: Quantity): ValidatorCondition {
  if (left.kind === 'constant' && right.kind === 'constant') {
    const holds = {
      '=': left.value === right.value,
      '!=': left.value !== right.value,
      '<': left.value < right.value,
      '<=': left.value <= right.value,
    }[comparison];
    return holds ? always : never;
  }
  if (areAlike(left, right)) return comparison === '=' || comparison === '<=' ? always : never;
  return { kind: 'compare', comparison, left, right };
}

/** The conjunction of the conditions. */
export function allOf(conditions: Iterable<ValidatorCondition>): ValidatorCondition {
  return connect('all', conditions, always, never);
}

/** The disjunction of the conditions. */
export function anyOf(conditions: Iterable<ValidatorCondition>): ValidatorCondition {
  return connect('any', conditions, never, always);
}

/** The disjunction of the conditions, without those that imply another one. */
export function anyOfWidest(conditions: readonly ValidatorCondition[]): ValidatorCondition {
  const parts = conditions.map((one) => new Set((one.kind === 'all' ? one.conditions : [one]).map(conditionKey)));
  const isWider = (at: number, than: number): boolean => {
    const [wide, narrow] = [parts[at]!, parts[than]!];
    const isSame = wide.size === narrow.size;
    return at !== than && (!isSame || at < than) && [...wide].every((key) => narrow.has(key));
  };
  return anyOf(conditions.filter((_, at) => !conditions.some((__, other) => isWider(other, at))));
}

function connect(
  kind: 'all' | 'any',
  conditions: Iterable<ValidatorCondition>,
  neutral: ValidatorCondition,
  absorbing: ValidatorCondition,
): ValidatorCondition {
  const parts = new Map<string, ValidatorCondition>();
  for (const condition of conditions) {
    for (const part of condition.kind === kind ? condition.conditions : [condition]) {
      if (part.kind === neutral.kind) continue;
      if (part.kind === absorbing.kind) return absorbing;
      parts.set(conditionKey(part), part);
    }
  }
  const [first, ...others] = parts.values();
  if (!first) return neutral;
  return others.length === 0 ? first : { kind, conditions: [first, ...others] };
}

/** Condition that a set is empty, so that no thread accesses a byte of it: the count of some step is not positive. */
function isEmpty({ steps }: AddressSet): ValidatorCondition {
  return anyOf(steps.map(({ count }) => compare(count, '<=', number(0))));
}

/** The sets have no byte in common; decided if they are structurally identical. */
export function disjointSets(left: AddressSet, right: AddressSet): ValidatorCondition {
  if (conditionKey(left) === conditionKey(right)) return isEmpty(left);
  return { kind: 'disjoint', left, right };
}
