/** Why a check has no verdict better than `possible` or `unknown`: data, which `messages/text/verdict-reason.ts` words. */
import type { Unmodelled } from '../interpreter/core/run-result.ts';

export type Reason =
  | { readonly kind: 'out-of-time' | 'out-of-memory' | 'defect' }
  /** There is no known reason for the missing proof. */
  | { readonly kind: 'not-proved' }
  /** `cause`: the reason that the solver reports. */
  | { readonly kind: 'solver-gave-up'; readonly cause: string }
  | { readonly kind: 'solver-gave-up-often' }
  /** The solver finds an overlap, and no run shows one. */
  | { readonly kind: 'not-reproduced' }
  /** Two threads overlap for all values of the unknowns, but no run shows it. */
  | { readonly kind: 'overlap' }
  /** One of too many open pairs for all to be queried. */
  | { readonly kind: 'many-pairs' }
  | { readonly kind: 'many-rounds' }
  /** More instructions than the limit, including those of called functions. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'replay'; readonly problem: 'too-long' | 'unknown-instruction' | 'invented-value' }
  | { readonly kind: 'unknown-pointer' }
  /** Two pointers into one object, whose distance is not known. */
  | { readonly kind: 'aliased-pointers' }
  | { readonly kind: 'unknown-index' }
  /** An index is an element of an array: one that may hold anything, that the kernel writes, or that may repeat. */
  | { readonly kind: 'loaded-index'; readonly array: string; readonly because: 'any-value' | 'written' | 'may-repeat' }
  /** A run shows the accesses to race, unless other operations order them. */
  | { readonly kind: 'unmodelled-order'; readonly by: readonly Unmodelled[] }
  /** Barriers order threads only without barrier divergence. */
  | { readonly kind: 'divergence' }
  | { readonly kind: 'unreachable'; readonly line: number; readonly assumptions: readonly string[] }
  /** An index leaves the array, in a run of the given launch or in every one. */
  | { readonly kind: 'out-of-bounds'; readonly array: string; readonly line: number }
  /** No device has the amount of shared memory that a block needs. */
  | { readonly kind: 'refused'; readonly sharedBytes: number; readonly most: number }
  | { readonly kind: 'contradiction'; readonly assumptions: readonly string[] }
  /** `what`: the part of the kernel that is not modelled. */
  | { readonly kind: 'not-understood'; readonly what: string }
  /** An instruction, or accesses of a warp, whose effect is not modelled. */
  | { readonly kind: 'unknown-effect' | 'accesses-of-warp' | 'later-effect'; readonly mnemonic: string }
  /** A matrix product reads through another proxy than that of a write on that line. */
  | { readonly kind: 'proxy-fence'; readonly line: number }
  | { readonly kind: 'surface-writes' }
  /** `problem`: the unsupported property of a barrier in memory, or of part of a block. */
  | { readonly kind: 'unmodelled-barrier'; readonly problem: string }
  | { readonly kind: 'cluster-barrier' }
  /** A condition that may differ between the threads of a block or of a warp, or between blocks. */
  | { readonly kind: 'condition'; readonly condition: string; readonly among: 'block' | 'grid' }
  | { readonly kind: 'condition'; readonly condition: string; readonly among: 'warp'; readonly mnemonic: string }
  | { readonly kind: 'locked-barrier' }
  /** A barrier depends on memory on which threads may race. */
  | { readonly kind: 'racy-barrier' }
  /** `differ`: how the builds differ. */
  | { readonly kind: 'builds-differ'; readonly differ: string };
