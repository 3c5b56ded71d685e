/**
 * Conditions on a launch that validators test. Each errs on one side alone: it holds only where what it says is so. One
 * with a quantity that is not known, or that needs more than 127 bits, is not known to hold: the validator answers `false`
 * unless another one of an `any` holds.
 */
import type { AddressSet, Quantity } from './quantity.ts';

export type Condition =
  | { readonly kind: 'always' | 'never' }
  | {
      readonly kind: 'compare';
      readonly comparison: '=' | '!=' | '<' | '<=';
      readonly left: Quantity;
      readonly right: Quantity;
    }
  | { readonly kind: 'all' | 'any'; readonly conditions: readonly Condition[] }
  /** The two sets have no byte in common: by their ranges, or by their ranges modulo a common stride. */
  | { readonly kind: 'apart'; readonly left: AddressSet; readonly right: AddressSet }
  /** Every byte of the inner set lies in the outer set, or the inner one is empty. */
  | { readonly kind: 'within'; readonly inner: AddressSet; readonly outer: AddressSet };

export const always: Condition = { kind: 'always' };
export const never: Condition = { kind: 'never' };
