/**
 * Which bytes each access of a kernel touches, in all threads and rounds of a launch, as quantities that a validator
 * computes when the kernel is launched (sections 4.1, 5.1 and 5.2 of PICKER).
 */
import type { Access } from '../../analysis/values/access.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { MemoryObject } from '../../ir/form/kernel.ts';
import { type Condition, always } from '../model/condition.ts';
import type { Extensions } from '../model/extensions.ts';
import type { IdempotencyReasonKind } from '../model/kernel-idempotency.ts';
import type { AddressSet, Quantity } from '../model/quantity.ts';

/** What an address starts from. */
export type Root =
  /** A pointer among the arguments: parameter `index`, `offset` bytes into it. */
  | { readonly kind: 'parameter'; readonly index: number; readonly offset: number }
  /** A variable of the module, or shared memory. */
  | { readonly kind: 'object'; readonly object: MemoryObject }
  | { readonly kind: 'unknown' };

/** What a step of a footprint counts. */
export interface Variable {
  /**
   * `combined`: a sum of indices that is one dense index, such as `blockIdx.x * blockDim.x + threadIdx.x`. `part`: what a
   * quotient, a remainder, a minimum or the like may be.
   */
  readonly kind: 'thread' | 'block' | 'round' | 'line' | 'combined' | 'part';
  /** What the values of the variable depend on: `thread.0`, `block.1`, `round.2` (by axis and loop), `line.7`, `value.9`. */
  readonly of: readonly string[];
}

/**
 * Some of the bytes that an access touches: those that its other footprints do not cover. An access has several where
 * its address has several targets, or where its first round differs from the others.
 */
export interface Footprint {
  readonly access: Access;
  readonly root: Root;
  /**
   * Bytes that all threads of the launch touch in all rounds, or more; null where nothing bounds them. Global addresses
   * are addresses of the machine (an object starts at its symbol), shared ones are offsets from the start of the object.
   */
  readonly bytes: AddressSet | null;
  /** Which variable each step of `bytes` stands for, in the same order. */
  readonly variables: readonly Variable[];
  /** Under which `bytes` is right: no arithmetic wraps, and the like. Its failure makes the launch undecided. */
  readonly needs: Condition;
  /** Each byte of `bytes` is touched in every execution: no condition on the way is left out, no part was widened. */
  readonly exact: boolean;
  /** Why `bytes` is null or wide; null where it is neither. */
  readonly reason: IdempotencyReasonKind | null;
}

/** What is stated of the contents of an array: the least and the largest value of its elements; undefined: nothing. */
export type StatedContents = (
  access: Access,
  lane: number,
) => { readonly low: Quantity; readonly high: Quantity } | undefined;

/**
 * The bytes that each access touches.
 * @param symbolic the production build of a kernel, with every dimension and scalar symbolic
 * @param accesses those of `collectAccesses`
 * @param contents what is stated of the contents of the arrays that loads read
 * @returns at least one footprint for each access, in the order of the accesses
 */
export function footprintsOf(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  extensions: Extensions,
  contents: StatedContents = () => undefined,
): readonly Footprint[] {
  void [symbolic, extensions, contents];
  return accesses.map((access) => ({
    access,
    root: { kind: 'unknown' },
    bytes: null,
    variables: [],
    needs: always,
    exact: false,
    reason: 'unbounded',
  }));
}
