/** What a candidate costs: how often a barrier there is passed, and then how the source reads with it. */
import type { BarrierCandidate } from '../cuda/editing/barrier-candidates.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { isCandidate } from '../ir/form/switch-markers.ts';

export interface WeightPolicy {
  /** Of a barrier of the grid, against one of the block. */
  readonly grid: number;
  /** Of a barrier in a loop, against one outside: to the power of the depth. */
  readonly loop: number;
}

/** A barrier more outweighs any difference in how the source reads. */
const unit = 1000;

/** The greatest depth of loops around a marker, calls followed. */
export function loopDepths(kernels: readonly Kernel[]): ReadonlyMap<number, number> {
  const depths = new Map<number, number>();
  for (const kernel of kernels) {
    for (const block of kernel.blocks) {
      for (const instruction of block.instructions) {
        if (!isCandidate(instruction)) continue;
        let depth = 0;
        for (let loop = kernel.loopOf[block.id] ?? null; loop !== null; loop = kernel.loops[loop]!.parent) depth++;
        const number = instruction.marker!.number!;
        depths.set(number, Math.max(depth, depths.get(number) ?? 0));
      }
    }
  }
  return depths;
}

/**
 * The weight of a barrier at a candidate; of two of equal cost, the one that reads better is lighter.
 * @param isShared whether other kernels call the function that it is in
 * @param hasEarlyExit whether threads may have returned before it
 */
export function weightOf(
  candidate: BarrierCandidate,
  state: 'block' | 'grid' | 'warp' | 'fence',
  depth: number,
  policy: WeightPolicy,
  { isShared, hasEarlyExit }: { readonly isShared: boolean; readonly hasEarlyExit: boolean },
): number {
  const cost = policy.loop ** Math.min(depth, 4) * (state === 'grid' ? policy.grid : 1);
  // Of a warp: next to nothing, but still a statement to read.
  const price = state === 'warp' ? Math.ceil(cost / 4) : cost;
  let style = 0;
  // One barrier in place of another is less to read than one beside it.
  if (candidate.kind !== 'existing') style += 1;
  if (candidate.kind === 'split') style += 12;
  if (candidate.kind === 'condition') style += 30;
  if (candidate.bare) style += 6;
  if (isShared) style += 20;
  if (hasEarlyExit) style += 200;
  // Rounds of a loop are parted at its end rather than at its start.
  if (candidate.kind === 'before' && candidate.previous === null) style += 2;
  if (candidate.kind === 'before' && candidate.statement.type === 'declaration' && candidate.previous?.type === 'declaration') style += 1; // prettier-ignore
  // Whether all threads take a branch may change with the arguments: beside it a barrier stands for good.
  style += 3 * Math.min(candidate.conditions.length, 4);
  return price * unit + style;
}

/** What of a weight is cost, and not how the source reads. */
export function costOf(weight: number): number {
  return Math.floor(weight / unit);
}
