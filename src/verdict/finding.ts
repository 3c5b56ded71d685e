/** Results of the checks as data. `report-model/finding.ts` has the same results in the wording of reports. */
import type { Severity } from '../source/severity.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';
import type { DecidingFact } from './deciding-fact.ts';
import type { FindingSubject } from './fingerprint.ts';
import type { MemoryFault } from './memory-fault.ts';
import type { Reason } from './reason.ts';

export type RaceVerdict = 'proved' | 'race' | 'possible' | 'unknown' | 'skipped';
export type DivergenceVerdict = 'proved' | 'divergent' | 'possible' | 'unknown' | 'skipped';

/**
 * Assumptions of a verdict:
 *
 * - `launch`: dimensions and arguments of a launch; `user`: stated by the user;
 * - `precondition`: satisfied by intended launches, such as a positive size;
 * - `no-alias`: different pointers do not alias;
 * - `no-wrap`: index arithmetic does not wrap around;
 * - `in-bounds`: an index stays in its object;
 * - `stable-memory`: memory that the kernel does not write does not change while it runs;
 * - `initial`: locks, counters and flags start at 0;
 * - `contents`: contents of arrays; bounds and pointers in memory;
 * - `no-effect`: a call of a function without a body accesses no memory of the kernel;
 * - `texture-apart`: textures and surfaces are bound to memory that the kernel does not write;
 * - `equal-value-writes`: threads that store equal values to one element at once leave that value in it;
 * - `warp-lockstep`: the threads of a warp execute each instruction together.
 */
type AssumptionKind =
  | 'launch'
  | 'user'
  | 'precondition'
  | 'no-alias'
  | 'no-wrap'
  | 'in-bounds'
  | 'stable-memory'
  | 'initial'
  | 'contents'
  | 'no-effect'
  | 'texture-apart'
  | 'equal-value-writes'
  | 'warp-lockstep';

export interface Assumption {
  readonly kind: AssumptionKind;
  readonly text: string;
  readonly location?: Location;
  /** Of `initial`: the number of the parameter that points to the memory, if the kernel leaves another value there. */
  readonly changes?: number;
}

export interface AccessDescription {
  readonly operation: 'read' | 'write' | 'atomic';
  /** Whether an asynchronous copy performs the access, at any time until its thread has waited for it. */
  readonly isCopy?: true;
  readonly memory: 'global' | 'shared' | 'local' | 'generic';
  readonly bytes?: number;
  /** The parameter of the access, if the launch passes one array to this parameter and to that of the finding. */
  readonly array?: string;
  /** Source text of the access, filled in by the driver if found. */
  readonly expression?: string;
  readonly location?: Location;
  readonly thread?: Dim3;
  readonly block?: Dim3;
  /** Whether all lanes of a warp perform it together, as they store a matrix. */
  readonly ofWarp?: true;
  /**
   * Ordinal of the access among those of this kind on this array at this line, in order of evaluation; not in reports.
   */
  readonly ordinal?: number;
  /** Number of accesses of this kind on this array at this line; not in reports. */
  readonly alike?: number;
}

/**
 * The missing order of the two accesses of a race:
 *
 * - `block-barrier`, `warp-barrier`: {@link MissingBarrier};
 * - `fence`: {@link MissingFence};
 * - `wait`: {@link MissingWait};
 * - `copy-wait`: the thread that copies asynchronously waits for the copy, and the others synchronise with that thread;
 * - `grid-order`: {@link MissingGridOrder};
 * - `atomic`: atomics instead of weak or volatile accesses, or a barrier, unless one thread `waits` for the other;
 * - `scope`: an atomic whose scope includes both threads, if the scope of one is too narrow (`narrow`);
 * - `size`: atomics of one size;
 * - `width`: an index of more than 32 bits, which does not wrap around.
 */
export type MissingOrder =
  | MissingBarrier
  | MissingFence
  /** `wait`: where the thread of the other access waits later for the phase of the barrier at which the copy arrives. */
  | { readonly kind: 'copy-wait'; readonly wait?: Location }
  | { readonly kind: 'size' | 'width' }
  | MissingGridOrder
  /** `inWarp`: the threads are lanes of one warp; `isMove`: as in {@link MissingBarrier}. */
  | { readonly kind: 'atomic'; readonly waits?: true; readonly inWarp?: true; readonly isMove?: true }
  | { readonly kind: 'scope'; readonly narrow: 'block' | 'cluster' }
  | MissingWait;

/** An order of threads of different blocks. */
export interface MissingGridOrder {
  readonly kind: 'grid-order';
  /** As in {@link MissingBarrier}. */
  readonly isUpdate?: true;
  readonly indexFrom?: Location;
  readonly indexCause?: IndexCause;
  readonly nextIteration?: true;
  /** A barrier of the grid elsewhere in the kernel. */
  readonly gridBarrier?: Location;
  /** The counter of that barrier, if it is never set back. */
  readonly countedUp?: string;
  /** A thread reads before it writes, so that the value before the write may be the right one. */
  readonly isReadFirst?: true;
  /** An update by two statements, which an atomic operation has to replace. */
  readonly split?: SplitUpdate;
}

/** A thread reads an element, and writes it by another statement: `exchange`: another value; `add`: one computed from it; `compare`: under a condition on it. */
export interface SplitUpdate {
  readonly read: Location;
  readonly write: Location;
  readonly by: 'exchange' | 'add' | 'compare';
}

/** `block-barrier`: `__syncthreads()`, or another barrier of the block; `warp-barrier`: `__syncwarp()`. */
export interface MissingBarrier {
  readonly kind: 'block-barrier' | 'warp-barrier';
  /** These lines race between blocks, too, which no barrier of a block orders. */
  readonly betweenBlocks?: true;
  readonly isReadFirst?: true;
  /** Other barriers of the kernel: of some threads of the block, such as `bar.sync 1, 64`, or in memory. */
  readonly others?: 'named' | 'in-memory';
  readonly phase?: MissingPhase;
  /** One statement reads the element and writes it back. */
  readonly isUpdate?: true;
  /** One statement writes what it computes from an element of another thread. */
  readonly isMove?: true;
  /** The lanes that reach the code between the accesses, as a mask, if that is only a part of the warp. */
  readonly lanes?: number;
  /**
   * `part`: only some threads reach the code between the accesses, so that a barrier must be outside of the branch; `none`:
   * no code, as no path leads from one access to the other; `loop`: only some threads reach the accesses, but all reach the end of
   * the loop body.
   */
  readonly between?: 'part' | 'none' | 'loop';
  /** In one iteration of a loop a barrier separates the accesses, from the later line to the earlier one of the next does none. */
  readonly nextIteration?: true;
  /** Of one statement that two threads execute: the atomic operation or the shuffle from which its index comes. */
  readonly indexFrom?: Location;
  /** Why both threads have the same index; absent if that is not known. */
  readonly indexCause?: IndexCause;
}

/**
 * Why two threads compute the same index from the number that an atomic operation at `counted` returns, possibly to another lane:
 *
 * - `undefined`: the lane from which the shuffle takes the number does not take part in it;
 * - `lane`: it is not the lane `reads` (absent: several or unknown lanes), which executes the atomic operation;
 * - `block`: the counter is in shared memory, and the threads are in two blocks;
 * - `count`: the atomic operation adds less than the extent of the indices that are computed from one number;
 * - `number`: both threads have one number; `isRepeated`: they use it in several iterations of a loop.
 */
export type IndexCause =
  | { readonly kind: 'undefined'; readonly mnemonic: string }
  | {
      readonly kind: 'lane';
      readonly mnemonic: string;
      readonly counted: Location;
      readonly lane: number;
      readonly source: number;
      readonly reads?: number;
    }
  | { readonly kind: 'block'; readonly counted: Location; readonly counter: string }
  | { readonly kind: 'count'; readonly counted: Location; readonly added: number; readonly needed: number }
  | { readonly kind: 'number'; readonly counted: Location; readonly isRepeated: boolean };

/**
 * What the only barrier in memory of a kernel lacks to order two accesses:
 *
 * - `wait`: `access` is after the arrival, but before the wait at `at`;
 * - `any-wait`: `access` is after the arrival at `at`, and no wait precedes it;
 * - `arrival`: `access` is before the wait, but after the arrival at `at`;
 * - `repetition`: the wait at `at` tests the phase once;
 * - `token`: the wait at `at` is for the phase of another arrival than that at `arrival`;
 * - `threads`: only some threads of `access` arrive at `at`;
 * - `count`: the initialisation at `at` states `count` arrivals of a phase, but `threads` arrive;
 * - `phase`: an arrival and a wait, as those at `at`.
 */
export type MissingPhase =
  | { readonly lacks: 'wait' | 'any-wait' | 'arrival' | 'threads'; readonly at: Location; readonly access: Location }
  | { readonly lacks: 'count'; readonly at: Location; readonly count: number; readonly threads: number }
  | { readonly lacks: 'token'; readonly at: Location; readonly arrival: Location }
  | { readonly lacks: 'phase' | 'repetition'; readonly at: Location };

/** What a lock, a flag or a counter lacks to order the accesses; its name is either `lock` or `flag`. */
export interface MissingFence {
  readonly kind: 'fence';
  readonly lock?: string;
  readonly flag?: string;
  /**
   * `release`: a fence before the location is written; `acquire`: a fence after it is read; `scope`: the scope of the fences is
   * the block; `arrival`: one thread writes it although others of its block have not arrived; `join`: others do not wait until it
   * has read it.
   */
  readonly lacks: readonly ('release' | 'acquire' | 'scope' | 'arrival' | 'join')[];
  readonly among: 'block' | 'grid';
  readonly releasedAt?: Location;
  readonly acquiredAt?: Location;
  /** Whether the thread that acquires waits in a loop. */
  readonly waits: boolean;
  /** Of a counter whose last arrival changes another location, for which the others wait. */
  readonly change?: { readonly flag: string; readonly at: Location };
}

/** A thread waits for a flag or a counter, but not long enough, or the flag is set too early. */
export interface MissingWait {
  readonly kind: 'wait';
  readonly flag: string;
  /**
   * `count`: the number does not show that all have counted; `element`: it is another element than the one that is set; `join`:
   * only one thread of the block has waited for it; `release`: the flag is set before the access; `lock`: the threads hold
   * different elements of an array of locks; `free`: a thread may take the lock with the value of a free one; `turn`: the loop may
   * end before the other access; `goal`: all blocks wait, for a number that the counter has earlier; `order`: the value does not show whether
   * the other access is done; `none`: the update is not waited for; `weak`: it is read or written by an access that is not atomic;
   * `number`: the value that is waited for comes from a counter of each block; `freed`: a thread that does not hold the lock frees it.
   */
  readonly until:
    | 'count'
    | 'element'
    | 'join'
    | 'release'
    | 'lock'
    | 'free'
    | 'turn'
    | 'goal'
    | 'order'
    | 'none'
    | 'weak'
    | 'number'
    | 'freed';
  /** Where the flag is read; for `release`, `none` and `freed`, where it is set. */
  readonly at: Location;
  /** The access before which a thread has to wait. */
  readonly to?: Location;
  /** For `count`: the number of arrivals in words, less one if it is compared with the result of the arrival itself. */
  readonly goal?: { readonly text: string; readonly isOfResult: boolean; readonly units: 'blocks' | 'threads' };
  /** For `turn`: the only value that a thread stores after its access, if others are stored, too; or whether all threads store one value. */
  readonly stored?: string;
  readonly isOneValue?: true;
  /** For `free`: the value of a free lock, the one that a thread stores to take it, and one that is never the first; in words. */
  readonly taken?: { readonly free: string; readonly value: string; readonly instead?: string };
  /** For `none`: the element of the flag that the thread has to wait for. */
  readonly element?: string;
  /** For `number`: the counter, and where it counts. */
  readonly counter?: { readonly name: string; readonly at: Location };
  /** For `lock`: the index of the block that has to choose the element, and the one whose turn it then is. */
  readonly turns?: { readonly element: string; readonly number: string };
}

/** A step of an interleaving; `threads` are the indices of the threads that perform it. */
export type InterleavingStep = { readonly threads: readonly number[]; readonly location?: Location } & (
  | {
      /** All threads of the step have passed a barrier. */
      readonly action: 'pass';
      readonly of: 'block' | 'grid';
      /** How many times they have passed it. */
      readonly times: number;
    }
  /** An access of a race: the first such step is the first access. */
  | { readonly action: 'read' | 'write' | 'atomic' }
  /**
   * A thread waits: at the barrier with a number of others, at another one, in another iteration, or at an instruction.
   */
  | { readonly action: 'wait'; readonly at: 'barrier'; readonly others: number }
  | { readonly action: 'wait'; readonly at: 'other-barrier' | 'other-round' }
  | { readonly action: 'wait'; readonly at: 'instruction'; readonly mnemonic: string }
  | { readonly action: 'exit'; readonly how: 'returned' | 'ended' }
  | { readonly action: 'run' }
);

/**
 * The steps of the threads of a finding in the run that showed it. The two accesses of a race are the last steps. They
 * are unordered, and listed in the order in which that run performed them.
 */
export interface Interleaving {
  /**
   * The threads; only one if a thread races with its own copy. `name` is short if the launch has one dimension: `thread
   * 31`.
   */
  readonly threads: readonly { readonly thread: Dim3; readonly block: Dim3; readonly name: string }[];
  readonly steps: readonly InterleavingStep[];
  /** The missing order; for a race only. */
  readonly missing?: MissingOrder;
  /** Whether the run delayed stores: a thread read a value before another thread's store became visible. */
  readonly holdsStores?: true;
  /** A fence between that store and that read whose scope is the block; for `holdsStores` only. */
  readonly narrowFence?: Location;
  /** The preceding steps, in the order of that run; absent if the run was too long to be recorded. */
  readonly recording?: readonly RecordedStep[];
}

/** A step of one thread in a recorded run. */
export interface RecordedStep {
  /** Index of the thread among those of the interleaving. */
  readonly thread: number;
  /** `pass`, `wait`: a barrier; `go`: a branch to the line `to`; `exit`: the thread has ended. */
  readonly action: 'read' | 'write' | 'atomic' | 'pass' | 'wait' | 'go' | 'exit';
  readonly location: Location;
  /** The line after a branch; for `go` only. */
  readonly to?: Location;
  /** The accessed bytes; for accesses only. */
  readonly cell?: RecordedCell;
}

/** The bytes of a recorded access, and their value: for an atomic before the access, otherwise after it. */
export interface RecordedCell {
  readonly array: string;
  /** Offset in bytes from the start of the array. */
  readonly offset: number;
  readonly bytes: number;
  /**
   * The value; absent if the run does not determine it, as for an asynchronous copy or an access of several elements.
   */
  readonly bits?: bigint;
  /** Whether both threads of the race access these bytes. */
  readonly isShared?: true;
  /**
   * Name of the element in the source, and its value in the element's type; added by the driver if a declaration
   * determines them.
   */
  readonly element?: string;
  readonly value?: number | string;
}

/** The bytes that both accesses of a race touch. */
export interface Overlap {
  /** Offset in bytes from the start of the array. */
  readonly offset: number;
  readonly bytes: number;
  /** Name of these bytes in the source, added by the driver if the declaration determines it: `s[32]`. */
  readonly element?: string;
}

/**
 * The unspecified values that a finding depends on: parts of the launch, or, if all of it is given, contents of arrays.
 */
export interface ChosenLaunch {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  /** Arguments by name. */
  readonly scalars: readonly (readonly [name: string, value: string | number])[];
  /** The chosen contents of arrays, if nothing else was chosen. */
  readonly contents?: ChosenContents;
}

interface ChosenContents {
  /** The value of the elements, or how the values ascend or descend. */
  readonly value: number | string;
  /** Arrays whose elements have another value, by that value. */
  readonly others: readonly { readonly value: number; readonly arrays: readonly string[] }[];
}

/** Length of an array in a witness if its size is not stated: large enough to count as unbounded. */
export const endlessElements = 1 << 20;

export type WitnessArgument =
  | number
  | string
  | boolean
  | {
      readonly type: string;
      readonly length: number;
      readonly fill?: number | string;
      readonly values?: Readonly<Record<string, number | string>>;
      /**
       * The seed and the parameters from which `selvage run` generates the values; absent if the values are not
       * generated or are pointers.
       */
      readonly drawn?: string;
    }
  /** The name of another argument that is the same pointer, or that is `bytes` bytes lower. */
  | { readonly same: string; readonly bytes?: number };

/** Launch and arguments that show a finding. A witness is also an input for `selvage run --input`. */
export interface Witness {
  readonly kernel: string;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly cluster?: Dim3;
  readonly sharedBytes?: number;
  /** Indices of the blocks that ran, and the schedule of blocks and warps, in the form of `selvage run --schedule`. */
  readonly schedule?: { readonly blocks?: readonly number[]; readonly order?: number };
  /** Arguments by parameter name (`param0`, … if no source is available). */
  readonly args: Readonly<Record<string, WitnessArgument>>;
  /** Names of the scalar arguments that were unspecified and chosen by Selvage. */
  readonly chosen?: readonly string[];
}

export interface RaceFinding {
  /** `memory/*`: of a single access; `first` equals `second`. */
  readonly code: 'race/shared' | 'race/global' | 'race/generic' | 'race/volatile' | `memory/${MemoryFault}`;
  readonly severity: Severity;
  readonly fingerprint: string;
  /** For an unconfirmed finding only. */
  readonly subject?: FindingSubject;
  readonly kind: 'read-write' | 'write-write' | 'atomic-read' | 'atomic-write' | 'scope' | MemoryFault;
  readonly memory: 'global' | 'shared' | 'generic';
  readonly scope?: 'warp' | 'block' | 'cluster' | 'grid';
  readonly array?: string;
  readonly sameValue?: boolean;
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  readonly confirmed: boolean;
  readonly witness?: Witness;
  readonly witnessOrigin?: 'given' | 'chosen';
  /** For an access out of bounds: its offset from the start of the object, and the size of the object, in bytes. */
  readonly left?: {
    readonly offset: number;
    readonly bytes: number;
    readonly memory: 'allocated' | 'dynamic-shared' | 'declared';
    readonly by?: 'threads' | 'blocks';
  };
  /**
   * For a misaligned access: the number of which its address has to be a multiple, its offset from the start of the array in
   * bytes, and what each launch has to satisfy, if arguments decide: `pitch % 4 == 0`.
   */
  readonly misaligned?: { readonly multiple: number; readonly offset?: number; readonly needs?: string };
  /**
   * For a read of memory that no thread has written: the offset of the first such byte, and the array that the value reaches; null:
   * it decides the path of a thread; absent: no result of the run depends on it.
   */
  readonly uninitialised?: { readonly offset?: number; readonly reaches?: string | null };
  /** For an index that wraps around in a run: the integer that it would be, and its width in bits. */
  readonly wrapped?: { readonly value: number; readonly isSigned: boolean };
  /** For an index of 32 bits that wraps around: where its products are computed, or its sum if it has none. */
  readonly computedAt?: readonly Location[];
  /** For an access out of bounds: the element of an array of the host program that the index comes from, with its value. */
  readonly fromElement?: { readonly element: string; readonly value: number };
  /** The leading products of a long `when`. */
  readonly about?: string;
  /** The launch that passes one array to both parameters of the accesses. */
  readonly passedAt?: Location;
  /** The condition for the finding, in the language of assumptions, if only some representative launches show it. */
  readonly when?: string;
  /** The bytes that both accesses touch; for a confirmed finding only. */
  readonly overlap?: Overlap;
  readonly chosen?: ChosenLaunch;
  /** The steps of the threads; for a confirmed finding only. */
  readonly interleaving?: Interleaving;
  /** The fact that would decide the finding; for an unconfirmed one only. */
  readonly wouldDecide?: DecidingFact;
  /** Why the pair is not proved; for an unconfirmed finding only. */
  readonly reason?: Reason;
  /** Number of further such findings on the array, which are not listed. */
  readonly more?: number;
  /** Number of the cause, if other findings of the launch have the same one. Reports show each cause once. */
  readonly cause?: number;
}

/** What is wrong with an instruction that lanes of a warp execute together. */
export interface LaneFault {
  readonly mnemonic: string;
  /** Bits of the named lanes; absent if all lanes have to execute the instruction. */
  readonly mask?: number;
  /** A lane that executes the instruction. */
  readonly lane: number;
  /**
   * A lane that does not come, or whose value is undefined; `absent`: the block has no such thread, `unnamed`: the mask does
   * not contain it.
   */
  readonly other?: { readonly lane: number; readonly is: 'exited' | 'absent' | 'unnamed' | 'elsewhere'; readonly hasExited?: true };
  /** The array that an undefined value reaches; null: it decides the path of a thread. */
  readonly reaches?: string | null;
  /** Bits of the lanes that execute it, if they are the same in each warp; of missing lanes, if it needs no others. */
  readonly lanes?: number;
  /** Whether lanes of the mask read values of lanes outside it. */
  readonly needsOthers?: true;
  /** Whether a function of cooperative groups executes it. */
  readonly ofGroup?: true;
}

/** A finding on a barrier, or on an instruction that lanes of a warp execute together (`warp/*`). */
export interface DivergenceFinding {
  readonly code: 'barrier/divergent' | 'barrier/early-exit' | 'warp/missing-lanes' | 'warp/outside-mask' | 'warp/undefined-value';
  readonly severity: Severity;
  readonly fingerprint: string;
  /** For an unconfirmed finding only. */
  readonly subject?: FindingSubject;
  readonly kind: 'divergent' | 'early-exit' | 'partial-arrival' | 'deadlock' | 'missing-lanes' | 'outside-mask' | 'undefined-value';
  /** Location of the barrier, or of the instruction of a warp. */
  readonly barrier: Location;
  /** For findings on an instruction of a warp. */
  readonly fault?: LaneFault;
  /**
   * `left`: threads that do not come have left a loop around the instruction; `whole`: they skip the loop around it.
   */
  readonly loop?: 'left' | 'whole';
  readonly condition?: string;
  readonly confirmed: boolean;
  readonly witness?: Witness;
  readonly witnessOrigin?: 'given' | 'chosen';
  /** The condition for the finding, in the language of assumptions, if only some representative launches show it. */
  readonly when?: string;
  /** The steps of the threads; for a confirmed finding only. */
  readonly interleaving?: Interleaving;
  /** The fact that would decide the finding; for an unconfirmed one only. */
  readonly wouldDecide?: DecidingFact;
  /** The group of threads of which not all reach the barrier or the instruction. */
  readonly among: 'warp' | 'block' | 'grid';
  readonly chosen?: ChosenLaunch;
}

export interface RaceResult {
  readonly verdict: RaceVerdict;
  readonly reason?: Reason;
  /** The fact that would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: DecidingFact;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly RaceFinding[];
  readonly nondeterministic?: boolean;
}

export interface DivergenceResult {
  readonly verdict: DivergenceVerdict;
  readonly reason?: Reason;
  /** The fact that would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: DecidingFact;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly DivergenceFinding[];
  readonly nondeterministic?: boolean;
}
