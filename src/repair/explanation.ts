/** Types for the effects of an edit, and for why none exists: `messages/repair.ts` makes the sentences. */
import type { MacroHindrance } from '../cuda/editing/macro-use.ts';
import type { NarrowValue, WiderIndex } from '../cuda/editing/wider-index.ts';
import type { Severity } from '../source/severity.ts';
import type { Reason } from '../verdict/reason.ts';

/** Statement that is inserted into the source. */
export type AddedStatement = 'block' | 'warp' | 'grid' | 'fence' | 'block-fence';

/** Where an edit inserts a statement. */
export type EditPlace =
  | { readonly kind: 'after' | 'before'; readonly line: number }
  /** Between the read and the write of a statement. */
  | { readonly kind: 'split'; readonly line: number }
  /** Between two parts of an `if`, and outside of it. */
  | { readonly kind: 'condition'; readonly line: number }
  /** Instead of the barrier at that line. */
  | { readonly kind: 'existing'; readonly line: number };

interface AddedPlace {
  readonly statement: AddedStatement;
  /** The statement in the style of the function, without the semicolon, if that is known: `cg::sync(block)`. */
  readonly written?: string;
  readonly place: EditPlace;
}

/** A step of an edit. */
export type EditStep =
  | {
      readonly kind: 'placement';
      readonly added: readonly AddedPlace[];
      /** Lines of barriers that some threads miss. */
      readonly removed: readonly number[];
    }
  /** A barrier that some threads miss is moved. */
  | { readonly kind: 'move'; readonly line: number; readonly isOutOfIf: boolean; readonly to: EditPlace }
  | { readonly kind: 'atomics'; readonly lines: readonly number[]; readonly updates: number; readonly isFloat: boolean }
  /** The scope of fences becomes the device. */
  | { readonly kind: 'widen'; readonly lines: readonly number[] }
  /** Uses of macros are replaced by their expansions. */
  | { readonly kind: 'write-out'; readonly macros: readonly { readonly macro: string; readonly line: number }[] }
  | { readonly kind: 'guard-returns' | 'join-branches'; readonly lines: readonly number[] }
  /** Two copies of shared arrays, which the iterations of the loop on a line alternate between. */
  | { readonly kind: 'double-buffer'; readonly arrays: readonly string[]; readonly line: number }
  /** An operand of products is cast to 64 bits, and local variables get a type of 64 bits. */
  | { readonly kind: 'wider-index'; readonly casts: WiderIndex['casts']; readonly variables: WiderIndex['variables'] }
  /** The wait for the kernels before, as the file writes it, and the lines of waits that are removed. */
  | { readonly kind: 'wait'; readonly written: string; readonly place: EditPlace; readonly removed: readonly number[] }
  /** Barriers that no two accesses need are removed. */
  | { readonly kind: 'redundant'; readonly lines: readonly number[] };

/** Remarks for a reader of an edit. */
export type Note = 'returned-threads' | 'not-shown';

/** A finding that a partial repair leaves unchanged. */
export interface LeftOpen {
  readonly fingerprint: string;
  readonly severity: Severity;
  /** Lines of its accesses, or of its barrier; ascending. */
  readonly lines: readonly number[];
}

/** Effects of an edit: its steps in order. */
export interface Explanation {
  readonly steps: readonly EditStep[];
  readonly notes: readonly Note[];
  /** Findings that are unchanged; empty if the kernel is proved. */
  readonly leaves: readonly LeftOpen[];
  /** Of a partial repair, after which the kernel is not proved: obstacles to a complete repair. */
  readonly because?: readonly Obstacle[];
  /** Present if another file is edited than that of a unit. */
  readonly header?: EditedHeader;
}

/** A header that an edit changes. */
export interface EditedHeader {
  readonly file: string;
  /** Paths of the units that include it, whose kernels were verified with the edit. */
  readonly verified: readonly string[];
  /** Paths of including units that do not compile unedited. */
  readonly broken: readonly string[];
}

/** Why an edited file is not a repair. */
export type EditRefusal =
  /**
   * `nothing-fixed`: of a partial repair, each finding is still there; `one-site`: it is valid only for the arguments
   * of one launch site.
   */
  | { readonly kind: 'does-not-compile' | 'other-values' | 'nothing-fixed' | 'one-site' }
  /** Of a partial repair: these accesses race only in the edited kernel, or their finding is worse than before. */
  | { readonly kind: 'new-race'; readonly lines: readonly number[] }
  /** Only the edited kernel has a finding on these lines. */
  | { readonly kind: 'new-finding'; readonly lines: readonly number[] }
  /** Indices of the edited kernel wrap around from these sizes on, those of the original do not, or that is not reported. */
  | { readonly kind: 'other-overflow'; readonly sizes: readonly string[] }
  /** Number of units that include the edited file: more than are built for an edit. */
  | { readonly kind: 'many-units'; readonly units: number }
  /** Accesses on these lines are still before the wait. `isMoved`: in the production build only. */
  | { readonly kind: 'early-access'; readonly lines: readonly number[]; readonly isMoved: boolean }
  | { readonly kind: 'lost-kernel' | 'harms-kernel'; readonly kernel: string }
  | { readonly kind: 'not-proved'; readonly check: 'race' | 'divergence'; readonly verdict: string; readonly reason?: Reason }
  | { readonly kind: 'builds-differ'; readonly differ: string }
  | { readonly kind: 'unstated-assumption'; readonly assumption: string };

/** Two accesses that race. */
export interface RacingLines {
  /** Line of the access; absent: not known. */
  readonly first?: number;
  readonly second?: number;
  /** The file that contains the accesses, if it is not the edited file. */
  readonly foreign?: string;
}

/** Why a search found no edit. */
export type Obstacle =
  /** The copy of the file in which barriers are tried does not compile. */
  | { readonly kind: 'marked-copy' }
  | {
      readonly kind: 'unproved';
      readonly reason: Reason | { readonly kind: 'no-candidate' };
      /** The accesses that the reason is about. */
      readonly accesses?: RacingLines;
    }
  /** Several threads execute one access. */
  | { readonly kind: 'one-access'; readonly line?: number }
  | { readonly kind: 'blocks' | 'no-place' | 'partial'; readonly accesses: RacingLines }
  | {
      readonly kind: 'macro';
      readonly accesses: RacingLines;
      readonly macro: string;
      /** Why the use of the macro is not replaced by its expansion. */
      readonly hindrance?: MacroHindrance;
    }
  | {
      readonly kind: 'foreign';
      readonly accesses: RacingLines & { readonly foreign: string };
      readonly file: string;
      /** The call, in `file`, of code of the other file. */
      readonly call?: { readonly line: number; readonly name?: string };
    }
  /** Threads do not wait long enough for these locks, flags or counters, which no added statement changes. */
  | { readonly kind: 'wait'; readonly flags: readonly string[] }
  /** A value of 32 bits that an index is computed from, which no edit makes wider. */
  | { readonly kind: 'narrow-value'; readonly value: NarrowValue }
  /** The source of an index has no product that a cast could make wider. */
  | { readonly kind: 'no-product' }
  /** No statement of the file is on all paths to the accesses of global memory. */
  | { readonly kind: 'no-wait-place' }
  /** The reason is that of the verdict before the edit. */
  | { readonly kind: 'as-before'; readonly reason: Reason }
  /** A header was edited, which contains the accesses, with these obstacles. */
  | { readonly kind: 'in-header'; readonly file: string; readonly obstacles: readonly Obstacle[] }
  /** With a cooperative launch this edit would be proved. */
  | { readonly kind: 'not-cooperative'; readonly step: EditStep }
  | { readonly kind: 'refused'; readonly step: EditStep; readonly refusal: EditRefusal }
  /** A step did not suffice; `obstacles` prevented placing barriers after it. */
  | { readonly kind: 'not-enough'; readonly step: EditStep; readonly obstacles: readonly Obstacle[] };

/** Why a kernel was not repaired: no search was made, or it ended without an edit. */
export type NoRepair =
  | { readonly kind: 'unrepairable'; readonly obstacles: readonly Obstacle[] }
  /** `isLate`: the time limit passed; otherwise the search reached its limit of checks. */
  | { readonly kind: 'timeout'; readonly isLate: boolean }
  | { readonly kind: 'unconfirmed' | 'no-compiler' }
  /** A review repairs only findings of the change, and of those no more than its budget allows. */
  | { readonly kind: 'known' }
  | { readonly kind: 'enough'; readonly file: string }
  | { readonly kind: 'ptx' | 'unreadable'; readonly file: string }
  | { readonly kind: 'generated'; readonly file: string; readonly from?: string }
  | {
      readonly kind: 'defined-elsewhere';
      readonly file: string;
      /** The file that defines the kernel. */
      readonly definedIn?: string;
      readonly isOutside: boolean;
    }
  | { readonly kind: 'macro-kernel'; readonly line: number }
  /** Number of units that include the header that defines the kernel: more than are built for an edit. */
  | { readonly kind: 'many-units'; readonly file: string; readonly units: number }
  /** The edit conflicts with the edits of these kernels. */
  | { readonly kind: 'clash'; readonly kernels: readonly string[] };
