/** Assumptions of proofs about the elements of arrays without statements. */
import type { Term } from '../../term/term.ts';

/** A value that a load reads from such an array. Only arrays that the kernel does not write have facts. */
export interface ContentsFact {
  /** Names the array and the size of its elements. */
  readonly array: string;
  /** Byte offset of the element. */
  readonly offset: Term;
  /** How the source declares the elements. */
  readonly unsigned: boolean;
  /** No element is less than one before it. */
  readonly ascends: boolean;
  /** Each element is at least 0 and below this product. */
  readonly below: { readonly coefficient: bigint; readonly factors: readonly Term[] } | null;
  /** In the words of a report. */
  readonly texts: readonly string[];
}
