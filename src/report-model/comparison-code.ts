/** Changes in the SASS of kernels. The published schema fixes the names. */
import type { Location } from '../source/location.ts';

/** A change of a kernel's machine code, in a sentence. */
export interface CodeDifference {
  readonly kernel: string;
  readonly message: string;
  readonly location?: Location;
}

/** A source line whose machine code changed; without either location, code that belongs to no line. */
export interface CodeLineChange {
  /** In the head; absent if the line was removed. */
  readonly location?: Location;
  /** In the base; absent if the line is new. */
  readonly was?: Location;
  /** Numbers of instructions in the base and in the head. */
  readonly instructions: readonly [before: number, after: number];
  /** Amounts of each kind of work that changed: `load global 32`, `spill load`, `barrier` … */
  readonly work: Readonly<Record<string, readonly [before: number, after: number]>>;
  /** Ignoring registers, addresses and order: `-` and `+` before instructions of the base and of the head. */
  readonly diff: readonly string[];
}

export interface CodeLinesOfKernel {
  readonly kernel: string;
  /** Largest changes first. */
  readonly lines: readonly CodeLineChange[];
  /** Further lines that changed. */
  readonly more?: number;
}
