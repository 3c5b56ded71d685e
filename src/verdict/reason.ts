/**
 * Why a check has no better verdict than `possible` or `unknown`, as data; `messages/text/verdict-reason.ts` has the
 * texts.
 */
import type { MemoryFault } from './memory-fault.ts';
import type { Unmodelled } from '../interpreter/core/run-result.ts';

/** The faults after which the addresses of a kernel are not those that a proof would be about. */
type WrongAddress = Exclude<MemoryFault, 'uninitialised'>;

export type Reason =
  | { readonly kind: 'out-of-time' | 'out-of-memory' | 'defect' }
  /** No reason for the missing proof is known. */
  | { readonly kind: 'not-proved' }
  /** `cause`: the reason that the solver reports. */
  | { readonly kind: 'solver-gave-up'; readonly cause: string }
  | { readonly kind: 'solver-gave-up-often' }
  /** The solver finds an overlap, but no run shows it. */
  | { readonly kind: 'not-reproduced' }
  /** Two threads overlap for all values of the unknowns, but no run shows it. */
  | { readonly kind: 'overlap' }
  /** There are too many open pairs to query the solver for each of them. */
  | { readonly kind: 'many-pairs' }
  | { readonly kind: 'many-rounds' }
  /** The kernel, with the functions that it calls, has more instructions than the limit. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'replay'; readonly problem: 'too-long' | 'unknown-instruction' | 'invented-value' }
  | { readonly kind: 'unknown-pointer' }
  /** Two pointers may point into one object, at an unknown distance. */
  | { readonly kind: 'aliased-pointers' }
  | { readonly kind: 'unknown-index' }
  /**
   * An index is loaded from an array whose elements may have any value, that the kernel writes, or whose elements may
   * repeat; or it is the number of a counter of a table that may start anywhere.
   */
  | { readonly kind: 'loaded-index'; readonly array: string; readonly because: 'any-value' | 'written' | 'may-repeat' | 'counters' }
  /** The accesses race in a run, unless operations that are not modelled order them. */
  | { readonly kind: 'unmodelled-order'; readonly by: readonly Unmodelled[] }
  /** Races are undecided, since barriers order threads only in the absence of barrier divergence. */
  | { readonly kind: 'divergence' }
  | { readonly kind: 'unreachable'; readonly line: number; readonly assumptions: readonly string[] }
  /** An access at a wrong address, in a run of the given launch or in every execution. */
  | { readonly kind: Exclude<WrongAddress, 'out-of-bounds'>; readonly array: string; readonly line: number }
  /** `isNull`: the launch passes a null pointer. */
  | { readonly kind: 'out-of-bounds'; readonly array: string; readonly line: number; readonly isNull?: true }
  /** A block needs more shared memory than any device has. */
  | { readonly kind: 'refused'; readonly sharedBytes: number; readonly most: number }
  | { readonly kind: 'contradiction'; readonly assumptions: readonly string[] }
  /** `what`: the part of the kernel that is not modelled. */
  | { readonly kind: 'not-understood'; readonly what: string }
  /** The effect of an instruction, or of a collective access of a warp, is not modelled. */
  | { readonly kind: 'unknown-effect' | 'accesses-of-warp' | 'later-effect'; readonly mnemonic: string }
  /** A matrix product reads data through another proxy than the one through which that line writes it. */
  | { readonly kind: 'proxy-fence'; readonly line: number }
  | { readonly kind: 'surface-writes' }
  /** `problem`: the unsupported property of a barrier in memory, or of a barrier for part of a block. */
  | { readonly kind: 'unmodelled-barrier'; readonly problem: string }
  | { readonly kind: 'cluster-barrier' }
  /** A condition may differ between the threads of a block or of a warp, or between blocks. */
  | { readonly kind: 'condition'; readonly condition: string; readonly among: 'block' | 'grid' }
  | { readonly kind: 'condition'; readonly condition: string; readonly among: 'warp'; readonly mnemonic: string }
  | { readonly kind: 'locked-barrier' }
  /** Whether a barrier is reached depends on memory on which threads may race. */
  | { readonly kind: 'racy-barrier' }
  /** `differ`: how the verification build differs from the production build. */
  | { readonly kind: 'builds-differ'; readonly differ: string };
