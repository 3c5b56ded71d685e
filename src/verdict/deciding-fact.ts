/** What would decide what a check leaves open: data, which `messages/finding/deciding-fact.ts` words. */
import type { Dim3 } from '../base/dim3.ts';
import type { Unmodelled } from '../interpreter/core/run-result.ts';

/** What is stated of a kernel. */
export interface Statement {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  /** In the language of assumptions. */
  readonly assume: readonly string[];
  /** By parameter index. */
  readonly scalars: ReadonlyMap<number, bigint>;
}

/** Parts of a launch that nobody gave. */
export interface OpenLaunch {
  readonly dimensions: readonly ('block' | 'grid')[];
  /** Names of scalars. */
  readonly scalars: readonly string[];
}

/** What is not known. */
export type OpenQuestion =
  | { readonly kind: 'order'; readonly by: readonly Unmodelled[] }
  | { readonly kind: 'index'; readonly index: string }
  /** Whether two threads access the same element. */
  | { readonly kind: 'overlap' }
  | { readonly kind: 'pointer' }
  | { readonly kind: 'distance' }
  /** `apart`: whether the parts that are used overlap; `distinct`: whether elements repeat; `written`: what the kernel stores. */
  | { readonly kind: 'apart' | 'distinct' | 'written'; readonly arrays: readonly string[] }
  | { readonly kind: 'launch'; readonly launch: OpenLaunch }
  | { readonly kind: 'condition'; readonly condition: string; readonly launch?: OpenLaunch }
  /** A run or a proof shows barrier divergence, or may yet. */
  | { readonly kind: 'divergence'; readonly isShown: boolean }
  | { readonly kind: 'races' }
  | { readonly kind: 'warp-agreement' }
  /** Whether threads that miss a barrier have returned or pass it by. */
  | { readonly kind: 'departure' }
  | { readonly kind: 'reachability' | 'bounds' };

/** A fact that would decide what is not decided. */
export interface DecidingFact {
  readonly question: OpenQuestion;
  /** How it is stated: a comment for above the kernel, or options where there is no source. */
  readonly statement?: string;
  /** The same as data. */
  readonly change?: Statement;
  /**
   * What the check found when it was repeated with the statement: the kernel proved, this finding gone, or neither.
   * Absent: there is no statement to try.
   */
  readonly tried?: 'proved' | 'settled' | 'open';
}
