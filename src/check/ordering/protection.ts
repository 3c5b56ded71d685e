import type { Access } from '../../analysis/values/access.ts';
import type { Term } from '../../term/term.ts';

/** A lock that protects an access. */
export interface Protection {
  /** Names the lock. */
  readonly lock: string;
  /** Whether threads of different blocks exclude each other, too, and not only threads of one block. */
  readonly acrossBlocks: boolean;
  /**
   * The counter that issues the numbers of a ticket lock. Each number is issued once, unless the counter wraps around.
   */
  readonly counter: Access | null;
  /**
   * For an array of locks: the offset of the lock of the thread. Two threads exclude each other only if their offsets
   * are equal.
   */
  readonly element: Term | null;
}

/** The locks that protect each access, by access index. Unprotected accesses have no entry. */
export type CriticalSections = ReadonlyMap<number, readonly Protection[]>;
