/** Tests a condition on one launch. `c-source.ts` writes the same test as C. */
import type { Dim3 } from '../../base/dim3.ts';
import { floorDivide } from '../../base/integer.ts';
import { maximumBlock, maximumGrid, maximumThreads } from '../../device/hardware-limits.ts';
import type { AddressSet, Quantity, ValidatorCondition } from '../model/quantity.ts';
import { areDisjoint, isWithin, type LaunchedSet } from './address-sets.ts';

/** Values that are known when a kernel is launched. */
export interface InstanceArguments {
  /** The buffer of the parameters, each at its offset in PTX (PTX ISA, "Kernel Function Parameters"). */
  readonly arguments: Uint8Array;
  /** Offset of each parameter in the buffer. */
  readonly offsets: readonly number[];
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly dynamicShared: number;
  /** The allocation that contains an address. */
  readonly allocation?: (address: bigint) => { readonly start: bigint; readonly bytes: bigint } | undefined;
  /** The memory that a texture object is bound to, by its value. */
  readonly texture?: (handle: bigint) => { readonly start: bigint; readonly bytes: bigint } | undefined;
  /** Address of a `__device__` variable. */
  readonly symbol?: (name: string) => bigint | undefined;
}

/**
 * Whether the condition is known to hold for the launch. A quantity is unknown if an argument is outside of the buffer,
 * a divisor is not positive, an operand of a bit operation is negative, or a result needs more than 127 bits; a
 * comparison with it does not hold. Conditions are not known to hold for a launch that no device accepts.
 */
export function isKnownToHold(condition: ValidatorCondition, launch: InstanceArguments): boolean {
  return isLegal(launch) && new Evaluation(launch).test(condition) === true;
}

/** A set of bytes at a launch, as {@link isKnownToHold} computes its quantities. */
export function bytesAt(set: AddressSet, launch: InstanceArguments): LaunchedSet {
  return new Evaluation(launch).set(set);
}

/** Whether a device can accept the launch: footprints depend on these limits. */
export function isLegal({ grid, block, dynamicShared }: InstanceArguments): boolean {
  const within = (dimensions: Dim3, most: Dim3): boolean =>
    dimensions.every((size, axis) => Number.isInteger(size) && size >= 1 && size <= most[axis]!);
  return (
    within(grid, maximumGrid) &&
    within(block, maximumBlock) &&
    block[0] * block[1] * block[2] <= maximumThreads &&
    Number.isInteger(dynamicShared) &&
    dynamicShared >= 0 &&
    dynamicShared < 2 ** 32
  );
}

/** Undefined if unknown. */
type Value = bigint | undefined;
type Truth = boolean | undefined;

const limit = 1n << 127n;
const addresses = 1n << 64n;

/** Each quantity of a launch is computed once. */
class Evaluation {
  private readonly launch: InstanceArguments;
  private readonly values = new Map<Quantity, Value>();
  private readonly truths = new Map<ValidatorCondition, Truth>();

  public constructor(launch: InstanceArguments) {
    this.launch = launch;
  }

  public test(condition: ValidatorCondition): Truth {
    if (this.truths.has(condition)) return this.truths.get(condition);
    const truth = this.testAnew(condition);
    this.truths.set(condition, truth);
    return truth;
  }

  private testAnew(condition: ValidatorCondition): Truth {
    switch (condition.kind) {
      case 'always':
        return true;
      case 'never':
        return false;
      case 'compare':
        return compare(condition.comparison, this.value(condition.left), this.value(condition.right));
      case 'all':
        return this.combine(condition.conditions, true);
      case 'any':
        return this.combine(condition.conditions, false);
      case 'disjoint':
        return areDisjoint(this.set(condition.left), this.set(condition.right));
      case 'within':
        return isWithin(this.set(condition.inner), this.set(condition.outer));
    }
  }

  /**
   * A conjunction is false if one part is false, a disjunction is true if one part is true; else a part that is not
   * known makes the result unknown.
   */
  private combine(conditions: readonly ValidatorCondition[], neutral: boolean): Truth {
    let known = true;
    for (const condition of conditions) {
      const truth = this.test(condition);
      if (truth === !neutral) return truth;
      if (truth === undefined) known = false;
    }
    return known ? neutral : undefined;
  }

  public set({ base, steps, bytes }: AddressSet): LaunchedSet {
    return {
      base: this.value(base),
      steps: steps.map(({ stride, count }) => ({ stride: this.value(stride), count: this.value(count) })),
      bytes,
    };
  }

  private value(quantity: Quantity): Value {
    if (quantity.kind === 'constant') return bounded(quantity.value);
    if (this.values.has(quantity)) return this.values.get(quantity);
    const value = this.compute(quantity);
    this.values.set(quantity, value);
    return value;
  }

  private compute(quantity: Quantity): Value {
    const { launch } = this;
    switch (quantity.kind) {
      case 'constant':
        return bounded(quantity.value);
      case 'argument':
        return argument(launch, quantity);
      case 'block-size':
        return BigInt(launch.block[quantity.axis]);
      case 'grid-size':
        return BigInt(launch.grid[quantity.axis]);
      case 'dynamic-shared':
        return BigInt(launch.dynamicShared);
      case 'allocation-start':
      case 'allocation-bytes': {
        const found = this.allocation(quantity.pointer);
        return quantity.kind === 'allocation-start' ? found?.start : found?.bytes;
      }
      case 'texture-start':
      case 'texture-bytes': {
        const handle = this.value(quantity.texture);
        const found = handle === undefined ? undefined : this.launch.texture?.(handle);
        return quantity.kind === 'texture-start' ? found?.start : found?.bytes;
      }
      case 'symbol': {
        const address = launch.symbol?.(quantity.name);
        return address !== undefined && address >= 0n && address < addresses ? address : undefined;
      }
      case 'sum':
        return this.fold(quantity.operands, (a, b) => bounded(a + b), 0n);
      case 'product':
        return this.fold(quantity.operands, (a, b) => bounded(a * b), 1n);
      case 'min':
        return this.fold(quantity.operands, (a, b) => (a < b ? a : b));
      case 'max':
        return this.fold(quantity.operands, (a, b) => (a > b ? a : b));
      case 'quotient':
      case 'remainder': {
        const [dividend, divisor] = [this.value(quantity.dividend), this.value(quantity.divisor)];
        if (dividend === undefined || divisor === undefined || divisor <= 0n) return undefined;
        const quotient = floorDivide(dividend, divisor);
        return quantity.kind === 'quotient' ? quotient : dividend - quotient * divisor;
      }
      case 'and':
      case 'or':
      case 'xor':
      case 'shift-left':
      case 'shift-right': {
        const [left, right] = [this.value(quantity.left), this.value(quantity.right)];
        if (left === undefined || right === undefined || left < 0n || right < 0n) return undefined;
        return bitOperation(quantity.kind, left, right);
      }
      case 'choice': {
        const truth = this.test(quantity.test);
        return truth === undefined ? undefined : this.value(truth ? quantity.yes : quantity.no);
      }
    }
  }

  /** Folds the operands from the first to the last; without operands, the result is `none`. */
  private fold(operands: readonly Quantity[], combine: (a: bigint, b: bigint) => Value, none?: bigint): Value {
    const [first, ...rest] = operands;
    if (!first) return none;
    return rest.reduce<Value>((value, operand) => {
      const next = this.value(operand);
      return value === undefined || next === undefined ? undefined : combine(value, next);
    }, this.value(first));
  }

  /** The range of an allocation counts only if it contains the address. */
  private allocation(pointer: Quantity): { readonly start: bigint; readonly bytes: bigint } | undefined {
    const address = this.value(pointer);
    if (address === undefined || address < 0n || address >= addresses) return undefined;
    const found = this.launch.allocation?.(address);
    return found && found.start >= 0n && found.start <= address && address < found.start + found.bytes ? found : undefined;
  }
}

/** An integer of at most 127 bits and a sign. */
function bounded(value: bigint): Value {
  return value < limit && value > -limit ? value : undefined;
}

function compare(comparison: '=' | '!=' | '<' | '<=', left: Value, right: Value): Truth {
  if (left === undefined || right === undefined) return undefined;
  switch (comparison) {
    case '=':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
  }
}

/** For operands that are not negative. */
function bitOperation(kind: 'and' | 'or' | 'xor' | 'shift-left' | 'shift-right', left: bigint, right: bigint): Value {
  switch (kind) {
    case 'and':
      return left & right;
    case 'or':
      return left | right;
    case 'xor':
      return left ^ right;
    case 'shift-left':
      if (left === 0n) return 0n;
      return right < 127n ? bounded(left << right) : undefined;
    case 'shift-right':
      return right < 127n ? left >> right : 0n;
  }
}

function argument(launch: InstanceArguments, quantity: Quantity & { readonly kind: 'argument' }): Value {
  const { index, offset, bytes, signed } = quantity;
  const begin = launch.offsets[index];
  if (begin === undefined || offset < 0 || begin + offset + bytes > launch.arguments.length) return undefined;
  let value = 0n;
  for (let byte = bytes - 1; byte >= 0; byte -= 1) {
    value = (value << 8n) | BigInt(launch.arguments[begin + offset + byte]!);
  }
  return signed ? BigInt.asIntN(bytes * 8, value) : value;
}
