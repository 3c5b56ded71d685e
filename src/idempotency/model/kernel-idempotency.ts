/** What is known of a kernel's idempotency: the class, the condition that a validator tests, and the reasons by line. */
import type { Location } from '../../source/location.ts';
import type { AddressSet, Axis, ValidatorCondition } from './quantity.ts';

/**
 * - `idempotent`: every launch may be run again.
 * - `conditional`: a launch that meets the condition may be run again.
 * - `non-idempotent`: a launch was executed whose re-execution differs, and no launch is known to be idempotent.
 * - `undecided`: neither is known. Validators answer `false`.
 */
type IdempotencyClass = 'idempotent' | 'conditional' | 'non-idempotent' | 'undecided';

/** The paper's reasons and ours; `reasonTexts` of the wording says them. */
export type IdempotencyReasonKind =
  /** An atomic operation on global memory. */
  | 'atomic'
  /** Output, allocation, traps, clocks, device launches and the like: the effect leaves memory, or cannot be repeated. */
  | 'effect'
  /** A thread reads what it, or another thread behind a barrier, writes afterwards (the paper's SO). */
  | 'read-then-write'
  /** Arguments may make a written array overlap a read one. */
  | 'overlap'
  /** An address rests on a value that is read from memory (NA). */
  | 'address-from-memory'
  /** A texture or surface of which nobody knows what it is bound to. */
  | 'unknown-texture'
  /** A condition rests on a value that is read from memory (NC). */
  | 'condition-from-memory'
  /** The bytes that an access touches have no bound (PE), or too wide a one (RO). */
  | 'unbounded'
  /** A call whose callees are not known (IF). */
  | 'indirect-call'
  /** Shared memory may be read before it is written. */
  | 'uninitialised-shared'
  /** The kernel is not known to be free of races and divergence. */
  | 'not-race-free'
  /** A launch was run in two orders of its threads, which left other memory. */
  | 'order'
  /** An instruction whose effect is not known. */
  | 'unsupported'
  /** More accesses than a check looks at; nothing else is known to stand in the way. */
  | 'many-accesses'
  | 'too-large'
  /** The time for the kernel was up. */
  | 'out-of-time';

export interface IdempotencyReason {
  readonly kind: IdempotencyReasonKind;
  /** Where; the read and the write of a pair in this order. */
  readonly locations: readonly Location[];
  /** Arrays by the names of their parameters or variables: what is written, and what is read. */
  readonly written?: string;
  readonly read?: string;
  /** The instruction or function, for `atomic`, `effect`, `unsupported` and `indirect-call`. */
  readonly what?: string;
}

/** A clause of the condition in source terms: idempotent unless `written` overlaps one of `read`. */
export interface OverlapClause {
  readonly written: string;
  readonly read: readonly string[];
  /** Of a read and the write that must lie apart, in this order. */
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
  /** Under which they are right; of other launches nothing is known. */
  readonly needs: ValidatorCondition;
}

/** Bytes of global memory that an access may touch in a launch. */
export interface TouchedBytes {
  readonly isWrite: boolean;
  /** Null where nothing bounds them. */
  readonly bytes: AddressSet | null;
  /** Under which `bytes` is right. */
  readonly needs: ValidatorCondition;
  /** Each of them is touched in every execution. */
  readonly exact: boolean;
}

/** What a launch has to meet where no index leaves its array and no arithmetic on indices wraps around. */
export interface Separation {
  /** What must lie in different memory. */
  readonly pairs: readonly (readonly [ArrayOrigin, ArrayOrigin])[];
  readonly dimensions: readonly {
    readonly kind: 'block-size' | 'grid-size';
    readonly axis: Axis;
    readonly size: bigint;
  }[];
}

/** What leads to an array: an argument, or the module itself. */
export type ArrayOrigin = ({ readonly kind: 'pointer' | 'texture' } & PointerArgument) | { readonly kind: 'variable' };

export interface KernelIdempotency {
  readonly class: IdempotencyClass;
  /** Sufficient for a launch to be idempotent: `always`, `never`, or what a validator tests. */
  readonly condition: ValidatorCondition;
  readonly overlaps: readonly OverlapClause[];
  readonly reasons: readonly IdempotencyReason[];
  /** What is taken for granted beside the condition, as with verdicts: stated facts on contents and the like. */
  readonly assumptions: readonly string[];
  /** The arguments that the kernel uses as addresses; null: not known. */
  readonly pointers: readonly PointerArgument[] | null;
  /** Pointers among the arguments to what the kernel writes; null where it may write elsewhere too. */
  readonly written: readonly PointerArgument[] | null;
  /** Each is enough for a launch; none where a launch has to meet more, or something else leads to an array. */
  readonly separations: readonly Separation[];
  /** Whatever the class; null: not known of any launch. */
  readonly writtenMemory: WrittenMemory | null;
  /** What is touched of global memory, for sequences of launches; null where that was not looked at. */
  readonly touched: readonly TouchedBytes[] | null;
}
