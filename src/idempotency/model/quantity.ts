/**
 * Quantities that are known when a kernel is launched: integers computed from its arguments and dimensions. Validators
 * evaluate them, in C and in JavaScript. They are mathematical integers: nothing wraps around.
 */

export type Axis = 0 | 1 | 2;

export type Quantity =
  | { readonly kind: 'constant'; readonly value: bigint }
  /** An integer in the buffer of the launch's arguments: parameter `index`, `offset` bytes into it. Pointers are unsigned. */
  | {
      readonly kind: 'argument';
      readonly index: number;
      readonly offset: number;
      readonly bytes: 1 | 2 | 4 | 8;
      readonly signed: boolean;
    }
  | { readonly kind: 'block-size' | 'grid-size'; readonly axis: Axis }
  /** Bytes of dynamic shared memory. */
  | { readonly kind: 'dynamic-shared' }
  /** First byte, and number of bytes, of the allocation that a pointer points into; known only with an interposer. */
  | { readonly kind: 'allocation-start' | 'allocation-bytes'; readonly pointer: Quantity }
  /**
   * The same of the memory that a texture object is bound to; known only if a host program states it. Memory without
   * addresses, such as a CUDA array, counts as a separate allocation.
   */
  | { readonly kind: 'texture-start' | 'texture-bytes'; readonly texture: Quantity }
  /** Address of a `__device__` variable; known only with an interposer. */
  | { readonly kind: 'symbol'; readonly name: string }
  | { readonly kind: 'sum' | 'product' | 'min' | 'max'; readonly operands: readonly Quantity[] }
  /**
   * Rounded towards minus infinity. If the divisor is not positive, the value is unknown, and the validator answers
   * `false`.
   */
  | { readonly kind: 'quotient' | 'remainder'; readonly dividend: Quantity; readonly divisor: Quantity }
  /** For operands that are not negative; results for negative ones are unknown. */
  | {
      readonly kind: 'and' | 'or' | 'xor' | 'shift-left' | 'shift-right';
      readonly left: Quantity;
      readonly right: Quantity;
    }
  | { readonly kind: 'choice'; readonly test: ValidatorCondition; readonly yes: Quantity; readonly no: Quantity };

/**
 * Bytes of global or shared memory: `{ base + Σ stride·i + b | 0 ≤ i < count for each step, 0 ≤ b < bytes }`. Empty if
 * a count is not positive. Strides may be negative.
 */
export interface AddressSet {
  readonly base: Quantity;
  readonly steps: readonly Step[];
  readonly bytes: number;
}

interface Step {
  readonly stride: Quantity;
  readonly count: Quantity;
}

/**
 * Conditions on a launch that validators test. They are conservative: a condition that is known to hold is true. A
 * condition with a quantity that is unknown, or that needs more than 127 bits, is not known to hold: the validator
 * answers `false` unless another one of an `any` holds.
 */
export type ValidatorCondition =
  | { readonly kind: 'always' | 'never' }
  | {
      readonly kind: 'compare';
      readonly comparison: '=' | '!=' | '<' | '<=';
      readonly left: Quantity;
      readonly right: Quantity;
    }
  | { readonly kind: 'all' | 'any'; readonly conditions: readonly ValidatorCondition[] }
  /** The two sets have no byte in common: by their ranges, or by their ranges modulo a common stride. */
  | { readonly kind: 'disjoint'; readonly left: AddressSet; readonly right: AddressSet }
  /** Every byte of the inner set is in the outer set, or the inner one is empty. */
  | { readonly kind: 'within'; readonly inner: AddressSet; readonly outer: AddressSet };

export const always: ValidatorCondition = { kind: 'always' };
export const never: ValidatorCondition = { kind: 'never' };

/** Whether a condition states that a block or a grid has one thread or block along y or z, as in most launches. */
export function isOfOneDimension(condition: ValidatorCondition): boolean {
  if (condition.kind !== 'compare' || condition.comparison !== '=') return false;
  const { left, right } = condition;
  const isSize = left.kind === 'block-size' || left.kind === 'grid-size';
  return isSize && left.axis > 0 && right.kind === 'constant' && right.value === 1n;
}
