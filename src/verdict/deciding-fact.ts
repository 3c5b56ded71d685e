/** The facts that would decide the open obligations of a check: data, worded by `messages/finding/deciding-phrases.ts`. */
import type { Dim3 } from '../base/dim3.ts';
import type { Unmodelled } from '../interpreter/core/run-result.ts';

/** Values and assumptions to be stated about a kernel and its launch. */
export interface Statement {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  /** Assumptions, in the language of assumptions. */
  readonly assume: readonly string[];
  /** Bits of the scalar arguments, by parameter index. */
  readonly scalars: ReadonlyMap<number, bigint>;
}

/** Unspecified dimensions and scalars of a launch. */
export interface OpenLaunch {
  readonly dimensions: readonly ('block' | 'grid')[];
  /** Names of the unspecified scalars. */
  readonly scalars: readonly string[];
}

/** The question that the missing fact would answer. */
export type OpenQuestion =
  | { readonly kind: 'order'; readonly by: readonly Unmodelled[] }
  | { readonly kind: 'index'; readonly index: string }
  /** Whether two threads access the same element. */
  | { readonly kind: 'overlap' }
  | { readonly kind: 'pointer' }
  | { readonly kind: 'distance' }
  /**
   * `apart`: whether the accessed parts of arrays overlap; `distinct`: whether elements repeat; `written`: which values
   * are stored.
   */
  | { readonly kind: 'apart' | 'distinct' | 'written'; readonly arrays: readonly string[] }
  | { readonly kind: 'launch'; readonly launch: OpenLaunch }
  | { readonly kind: 'condition'; readonly condition: string; readonly launch?: OpenLaunch }
  /** Whether threads diverge at a barrier; `isShown` if a run or a proof shows it, otherwise it is undecided. */
  | { readonly kind: 'divergence'; readonly isShown: boolean }
  | { readonly kind: 'races' }
  | { readonly kind: 'warp-agreement' }
  /** Whether threads that miss a barrier have returned or bypass the barrier. */
  | { readonly kind: 'departure' }
  | { readonly kind: 'reachability' | 'bounds' | 'width' | 'null-pointer' | 'alignment' };

/** A fact that would decide an open obligation. */
export interface DecidingFact {
  readonly question: OpenQuestion;
  /** Text of the statement: a comment above the kernel, or command-line options if no source is available. */
  readonly statement?: string;
  /** The statement as data. */
  readonly change?: Statement;
  /**
   * The result of the check repeated with the statement: the kernel is proved, this finding disappears, or neither.
   * Absent if no statement was tried.
   */
  readonly tried?: 'proved' | 'settled' | 'open';
}
