/** Changes in the SASS of kernels. The published schema fixes the names. */
import type { Location } from '../source/location.ts';

/** A change of a kernel's machine code, described in a sentence. */
export interface CodeDifference {
  readonly kernel: string;
  readonly message: string;
  readonly location?: Location;
}

/** A source line whose machine code changed. If both locations are missing, the code belongs to no line. */
export interface CodeLineChange {
  /** Location in the head; absent if the line was removed. */
  readonly location?: Location;
  /** Location in the base; absent if the line is new. */
  readonly was?: Location;
  /** Numbers of instructions in the base and in the head. */
  readonly instructions: readonly [before: number, after: number];
  /** Amounts of each kind of work that changed: `load global 32`, `spill load`, `barrier` … */
  readonly work: Readonly<Record<string, readonly [before: number, after: number]>>;
  /**
   * Instructions of the base, marked `-`, and of the head, marked `+`, that differ if registers, addresses and order
   * are ignored.
   */
  readonly diff: readonly string[];
}

export interface CodeLinesOfKernel {
  readonly kernel: string;
  /** Changed lines, those with the largest changes first. */
  readonly lines: readonly CodeLineChange[];
  /** Number of further changed lines. */
  readonly more?: number;
}
