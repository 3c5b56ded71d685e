/** Assumptions of proofs about the elements of arrays for which the user states nothing. */
import type { Term } from '../../term/term.ts';

/**
 * Assumptions about a value loaded from an array without statements. Only arrays that the kernel does not write have
 * such facts.
 */
export interface ContentsFact {
  /** Identifies the array and the size of its elements. */
  readonly array: string;
  /** Byte offset of the element. */
  readonly offset: Term;
  /** Whether the source declares the elements as unsigned. */
  readonly unsigned: boolean;
  /** Whether the elements are assumed to ascend: none is less than an earlier one. */
  readonly ascends: boolean;
  /** Each element is assumed to be at least 0 and less than this product. */
  readonly below: { readonly coefficient: bigint; readonly factors: readonly Term[] } | null;
  /**
   * If the array gives starts or lengths of parts, which are assumed not to overlap: the pair of arrays, and the size of
   * an element.
   */
  readonly part: { readonly role: 'start' | 'length'; readonly pair: string; readonly bytes: number } | null;
  /** The assumptions in the words of a report. */
  readonly texts: readonly string[];
}
