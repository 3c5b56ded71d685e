/** The facts that would decide the open obligations of a check: data, worded by `messages/finding/deciding-fact.ts`. */
import type { Dim3 } from '../base/dim3.ts';
import type { Unmodelled } from '../interpreter/core/run-result.ts';

/** Statements about a kernel. */
export interface Statement {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  /** In the language of assumptions. */
  readonly assume: readonly string[];
  /** By parameter index. */
  readonly scalars: ReadonlyMap<number, bigint>;
}

/** Unspecified parts of a launch. */
export interface OpenLaunch {
  readonly dimensions: readonly ('block' | 'grid')[];
  /** Names of scalars. */
  readonly scalars: readonly string[];
}

/** The unknown fact. */
export type OpenQuestion =
  | { readonly kind: 'order'; readonly by: readonly Unmodelled[] }
  | { readonly kind: 'index'; readonly index: string }
  /** Whether two threads access the same element. */
  | { readonly kind: 'overlap' }
  | { readonly kind: 'pointer' }
  | { readonly kind: 'distance' }
  /** `apart`: whether the used parts overlap; `distinct`: whether elements repeat; `written`: the stored values. */
  | { readonly kind: 'apart' | 'distinct' | 'written'; readonly arrays: readonly string[] }
  | { readonly kind: 'launch'; readonly launch: OpenLaunch }
  | { readonly kind: 'condition'; readonly condition: string; readonly launch?: OpenLaunch }
  /** A run or a proof shows barrier divergence, or it is undecided. */
  | { readonly kind: 'divergence'; readonly isShown: boolean }
  | { readonly kind: 'races' }
  | { readonly kind: 'warp-agreement' }
  /** Whether threads that miss a barrier have returned or bypass it. */
  | { readonly kind: 'departure' }
  | { readonly kind: 'reachability' | 'bounds' };

/** A fact that would decide an open obligation. */
export interface DecidingFact {
  readonly question: OpenQuestion;
  /** How it is stated: a comment above the kernel, or options without a source. */
  readonly statement?: string;
  /** The same as data. */
  readonly change?: Statement;
  /**
   * The result of the check when it was repeated with the statement: the kernel proved, this finding gone, or neither.
   * Absent: no statement was tried.
   */
  readonly tried?: 'proved' | 'settled' | 'open';
}
