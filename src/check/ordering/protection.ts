import type { Access } from '../../analysis/values/access.ts';
import type { Term } from '../../term/term.ts';

/** A lock that an access is protected by. */
export interface Protection {
  /** Names the lock. */
  readonly lock: string;
  /** Threads of different blocks exclude each other too, not only those of one block. */
  readonly acrossBlocks: boolean;
  /** The counter that issues the numbers of a ticket lock: each once, unless it wraps around. */
  readonly counter: Access | null;
  /** For an array of locks: the offset of the thread's lock. Others exclude each other only if that is the same. */
  readonly element: Term | null;
}

/** The locks that protect each access, by its index; an access that no lock protects has no entry. */
export type CriticalSections = ReadonlyMap<number, readonly Protection[]>;
