/** State shared by the bounds of all warps of a kernel. */
import type { LoopIterations } from './line-iterations.ts';
import type { AccessShape } from './lanes/access-cost.ts';
import type { Linear } from '../term/linear.ts';
import type { DeclaredAs } from '../analysis/values/memory-base.ts';
import type { Program } from '../interpreter/core/program.ts';
import type { Block, BlockId, Instruction, LoopId } from '../ir/form/kernel.ts';
import type { Count } from './model/metrics.ts';
import type { Halving } from './loops/halved-distance.ts';
import type { Potential } from './loops/potential.ts';
import type { BoundSetting } from './lanes/term-bound.ts';

export interface WarpSetting extends BoundSetting {
  readonly program: Program;
  readonly declaredAs: DeclaredAs;
  /** The name of the source line of an instruction or block. */
  readonly lineOf: (place: Instruction | Block) => string;
  /** Trip counts of the loops. */
  readonly loopRounds: LoopIterations;
  /** By root and counted loop: the potential; null if none was found. */
  readonly potentials: Map<string, Potential | null>;
  /** By loop: the form that each iteration halves; null if none was found. */
  readonly halvings: Map<LoopId, Halving | null>;
  /** By loop and branch: the blocks at which the diverged lanes reconverge. */
  readonly meetings: Map<string, readonly BlockId[]>;
  /** By loop: whether the cost of its iterations differs. */
  readonly differing: Map<LoopId, boolean>;
  /** Bytes per lane of accesses that represent merged ones; 0 for accesses represented by another one. */
  readonly merged: ReadonlyMap<Instruction, number>;
  /** By instruction: its accesses. */
  readonly accessForms: Map<Instruction, readonly AccessForm[]>;
  /** Counts a visit of a basic block; throws if the limit is exceeded. */
  readonly visit: () => void;
  /** Counts examined addresses of an access; throws if the limit is exceeded. */
  readonly look: (addresses: number) => void;
  /** Called with the reason for a missing bound, or the cost of an access. */
  readonly note: (count: Count, line: string, text: string) => void;
}

export interface AccessForm {
  /** `generic`: unknown whether global or shared. */
  readonly space: 'global' | 'shared' | 'generic';
  /** From the start of the array, in bytes. */
  readonly offset: Linear;
  readonly shape: AccessShape;
  /** Whether it is in an array that a parameter points to. */
  readonly isParameter: boolean;
}
