/** Results for a kernel's idempotency: the class, the condition that a validator tests, and the reasons by line. */
import type { Location } from '../../source/location.ts';
import type { AddressSet, Axis, ValidatorCondition } from './quantity.ts';

/**
 * - `idempotent`: every launch may be executed again.
 * - `conditional`: a launch that satisfies the condition may be executed again.
 * - `non-idempotent`: a launch was executed whose re-execution differs, and no launch is known to be idempotent.
 * - `undecided`: neither is known. Validators answer `false`.
 */
type IdempotencyClass = 'idempotent' | 'conditional' | 'non-idempotent' | 'undecided';

/** The paper's reasons and ours; `reasonTexts` has their texts. */
export type IdempotencyReasonKind =
  /** An atomic operation on global memory. */
  | 'atomic'
  /** Output, allocation, traps, clocks, device launches and the like: the effect leaves memory, or cannot be repeated. */
  | 'effect'
  /** A thread reads bytes that it, or another thread after a barrier, writes later (the paper's SO). */
  | 'read-then-write'
  /** Arguments may make a written array overlap a read one. */
  | 'overlap'
  /** An address depends on a value loaded from memory (NA). */
  | 'address-from-memory'
  /** A texture or surface with an unknown binding. */
  | 'unknown-texture'
  /** A condition depends on a value loaded from memory (NC). */
  | 'condition-from-memory'
  /** The bytes that an access touches have no bound (PE), or too wide a one (RO). */
  | 'unbounded'
  /** A call whose callees are not known (IF). */
  | 'indirect-call'
  /** Shared memory may be read before it is written. */
  | 'uninitialised-shared'
  /** The kernel is not known to be free of races and divergence. */
  | 'not-race-free'
  /** Two runs of a launch with different thread orders left different memory. */
  | 'order'
  /** An instruction whose effect is not known. */
  | 'unsupported'
  /** More accesses than a check examines; no other obstacle is known. */
  | 'many-accesses'
  | 'too-large'
  /** The time for the kernel was up. */
  | 'out-of-time';

export interface IdempotencyReason {
  readonly kind: IdempotencyReasonKind;
  /** Places; the read and the write of a pair in this order. */
  readonly locations: readonly Location[];
  /** Written and read arrays by the names of their parameters or variables. */
  readonly written?: string;
  readonly read?: string;
  /** The instruction or function, for `atomic`, `effect`, `unsupported` and `indirect-call`. */
  readonly what?: string;
}

/** A clause of the condition in source terms: idempotent unless `written` overlaps one of `read`. */
export interface OverlapClause {
  readonly written: string;
  readonly read: readonly string[];
  /** Locations of the read and the write that must be disjoint, in this order. */
  readonly locations: readonly Location[];
}

/** A pointer among the arguments: `offset` bytes into parameter `index`. */
export interface PointerArgument {
  readonly index: number;
  readonly offset: number;
}

/** The bytes of global memory that a launch may write, or more. */
export interface WrittenMemory {
  readonly sets: readonly AddressSet[];
  /** Condition under which the bytes are correct; for other launches they are unknown. */
  readonly needs: ValidatorCondition;
}

/** Bytes of global memory that an access may touch in a launch. */
export interface TouchedBytes {
  readonly isWrite: boolean;
  /** Null if nothing bounds them. */
  readonly bytes: AddressSet | null;
  /** Condition under which `bytes` is correct. */
  readonly needs: ValidatorCondition;
  /** Whether each of the bytes is accessed in every execution. */
  readonly exact: boolean;
}

/**
 * Conditions under which arrays are disjoint, if no index leaves its array and no arithmetic on indices wraps around.
 */
export interface Separation {
  /** Pairs of arrays that must be in different memory. */
  readonly pairs: readonly (readonly [ArrayOrigin, ArrayOrigin])[];
  readonly dimensions: readonly {
    readonly kind: 'block-size' | 'grid-size';
    readonly axis: Axis;
    readonly size: bigint;
  }[];
}

/** Origin of an array: an argument, or the module itself. */
export type ArrayOrigin = ({ readonly kind: 'pointer' | 'texture' } & PointerArgument) | { readonly kind: 'variable' };

export interface KernelIdempotency {
  readonly class: IdempotencyClass;
  /** Sufficient for a launch to be idempotent: `always`, `never`, or a condition that a validator tests. */
  readonly condition: ValidatorCondition;
  readonly overlaps: readonly OverlapClause[];
  readonly reasons: readonly IdempotencyReason[];
  /** Assumptions in addition to the condition, as with verdicts: stated facts on contents and the like. */
  readonly assumptions: readonly string[];
  /** The arguments that the kernel uses as addresses; null: not known. */
  readonly pointers: readonly PointerArgument[] | null;
  /** Pointer arguments whose memory the kernel writes; null if it may write elsewhere too. */
  readonly written: readonly PointerArgument[] | null;
  /**
   * Alternatives, each sufficient for a launch; empty if a launch must satisfy more, or an array has another origin.
   */
  readonly separations: readonly Separation[];
  /** Written memory, known for any class; null: unknown for every launch. */
  readonly writtenMemory: WrittenMemory | null;
  /** Global memory that is touched, for sequences of launches; null if that was not analyzed. */
  readonly touched: readonly TouchedBytes[] | null;
}
