/**
 * Patterns of hand-made synchronisation. Threads access one location with strong accesses. A thread acquires when it
 * reads a value there that only a release, or the initial contents, can have left. Which values there are, and who may
 * write them, determines how many threads may be inside at once, and which accesses happened before.
 */
import type { Access } from '../../analysis/values/access.ts';
import type { Broadcast } from '../../analysis/values/broadcast.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { ProgramPoint } from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import type { Scoped } from '../obligations/instance.ts';

/**
 * An order that hand-made synchronisation lacks, supposed to be there: a fence before each release, one after each acquire, the
 * reach of fences that have a narrower scope, or a barrier of the block before the release; `count`: any condition on a counter
 * implies that all have counted, and all flags are waited for; `join`: a barrier of the block after threads have waited for flags, or thread 0 for a
 * lock; `taken`: a thread that takes a lock stores another value than the free one; `freed`: only the thread that has taken a lock frees it.
 */
export type Supposition = 'release' | 'acquire' | 'scope' | 'arrival' | 'count' | 'join' | 'taken' | 'freed';

/** A kernel in which patterns are recognised. */
export interface SynchronisingKernel {
  readonly symbolic: SymbolicKernel;
  readonly accesses: readonly Access[];
  /** Whether two bases may be the same memory. */
  readonly mayBeSame: (a: Base, b: Base) => boolean;
  /** Barriers that all threads of a block take part in. */
  readonly barriers: readonly (ProgramPoint & { readonly instruction: Instruction })[];
  readonly broadcasts: readonly Broadcast[];
  readonly dimensions: Dimensions;
  /** Whether the elements of an array are zero when the kernel starts: stated by the user, assumed, or stated otherwise. */
  readonly startsAtZero: (base: Base) => 'stated' | 'assumed' | 'no';
  /** For advice only: what would be ordered with more fences. */
  readonly supposed?: ReadonlySet<Supposition>;
}

/** The units that each release a counter once: the blocks of the grid, the threads of the grid, or those of a block. */
export type Counted = 'blocks' | 'threads' | 'threads-of-block';

/** An access that acquires if a condition on its result holds. */
export interface Acquire {
  readonly access: Access;
  /** Whether a conjunct of a condition implies that the access has acquired. */
  readonly shows: (part: Term) => boolean;
  /** Conditions that together imply it, if different conjuncts show them of one result. */
  readonly together?: readonly Acquire['shows'][];
}

/** What threads do at one location, or at one element each of an array. */
export interface Pattern {
  /**
   * `lock`: at most one thread is inside at once. `flag`: one thread releases, once. Otherwise each unit releases once,
   * and threads acquire after all of them.
   */
  readonly kind: 'lock' | 'flag' | Counted;
  readonly base: Base;
  /** Offset of the releases from the start of the base. */
  readonly offset: Term;
  /** Strong accesses with which threads synchronise. */
  readonly own: readonly Access[];
  readonly acquires: readonly Acquire[];
  readonly releases: readonly Access[];
  /** Writes that make a counter zero again, which only threads that have acquired may do. */
  readonly resets: readonly Access[];
  /** The counter that issues the numbers that a lock serves, or that select flags. Each number is issued once, unless the counter wraps around. */
  readonly counter: Access | null;
  /** Whether it is an assumption that the location is zero when the kernel starts. */
  readonly startsAtZero: boolean;
  /** Terms that are assumed not to wrap around. */
  readonly assumes: readonly Term[];
}

/** The accesses that a pattern orders. */
export interface Synchronisation extends Pattern {
  /** Indices of accesses that are ordered before the releases that follow them. */
  readonly before: Scoped<ReadonlySet<number>>;
  /** Accesses that a thread executes only after it, or thread 0 of its block, has acquired. By index. */
  readonly after: Scoped<ReadonlyMap<number, readonly Acquired[]>>;
  /** Indices of accesses that only the last unit to arrive executes: not two threads of different blocks, or of one block. */
  readonly last: Scoped<ReadonlySet<number>>;
  /** Instructions other than accesses that at most one thread executes at once. */
  readonly held: ReadonlySet<Instruction>;
  /** Whether it is one lock that only its holder releases. */
  readonly isReleasedInside: boolean;
}

/** A location that was acquired. */
export interface Acquired {
  /** Whether the thread itself has acquired, or thread 0 of its block; or whether threads of its block have acquired all flags. */
  readonly level: 'thread' | 'block' | 'all';
  readonly offset: Term;
}
