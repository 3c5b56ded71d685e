/** Weight of a candidate: how often a barrier there is executed, then the readability of the source. */
import type { BarrierCandidate } from '../cuda/editing/barrier-candidates.ts';
import { type SyntaxNode, nodesWhere } from '../cuda/syntax/syntax-tree.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { type MarkerState, isCandidate } from '../ir/form/switch-markers.ts';

export interface WeightPolicy {
  /** Factor of a barrier of the grid, relative to one of the block. */
  readonly grid: number;
  /** Factor of a barrier per enclosing loop, relative to one outside of loops. */
  readonly loop: number;
}

/** One more barrier outweighs any difference in readability. */
const unit = 1000;

/** The maximum loop depth of each marker, over all calls. */
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

/** Number of copies of each marker in the code of a kernel: one for each call of the function that contains it. */
export function markerCounts(kernels: readonly Kernel[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { blocks } of kernels) {
    const own = new Map<number, number>();
    for (const { instructions } of blocks)
      for (const instruction of instructions) {
        if (!isCandidate(instruction)) continue;
        const number = instruction.marker!.number!;
        own.set(number, (own.get(number) ?? 0) + 1);
      }
    for (const [number, count] of own) counts.set(number, Math.max(count, counts.get(number) ?? 0));
  }
  return counts;
}

/**
 * The weight of a barrier at a candidate; of two of equal cost, the more readable one is lighter.
 * @param isShared whether other kernels call the function that contains it
 * @param hasEarlyExit whether threads may have returned before it
 * @param calls how often the kernel calls the function that contains it, if that is not the kernel itself
 */
export function weightOf(
  candidate: BarrierCandidate,
  state: Exclude<MarkerState, 'off'>,
  depth: number,
  policy: WeightPolicy,
  { isShared, hasEarlyExit, calls = 1 }: { readonly isShared: boolean; readonly hasEarlyExit: boolean; readonly calls?: number },
): number {
  const { kind, firstLine, lastLine } = candidate.function;
  const isCallee = kind === 'device';
  const cost = policy.loop ** Math.min(depth, 4) * (state === 'grid' ? policy.grid : 1) * (isCallee ? Math.min(calls, 4) : 1);
  // A barrier of the warp costs almost nothing, and a fence less than a barrier, but both are statements to read.
  const price = state.startsWith('warp') ? Math.ceil(cost / 4) : state.endsWith('fence') ? Math.ceil(cost / 2) : cost;
  let style = 0;
  // Replacing a barrier affects readability less than adding one.
  if (candidate.kind !== 'existing') style += 1;
  if (candidate.kind === 'split') style += 12;
  if (candidate.kind === 'condition') style += 30;
  if (candidate.bare) style += 6;
  if (isShared) style += 20;
  // A reader of the kernel sees only the names of its callees, and does not expect a function of one line to
  // synchronise.
  if (isCallee) style += firstLine === lastLine ? 9 : 2;
  if (hasEarlyExit) style += 200;
  // A barrier between iterations of a loop is more readable at the end of the body than at its start.
  if (candidate.kind === 'before' && candidate.previous === null) style += 2;
  if (candidate.kind === 'before' && candidate.statement.type === 'declaration' && candidate.previous?.type === 'declaration') style += 1;
  // A barrier after an access is preferred to one after a declaration that only names values.
  if (candidate.kind === 'before' && candidate.previous?.type === 'declaration' && !accessesMemory(candidate.previous)) style += 1;
  // A barrier next to a branch is always reached; one inside the branch only as long as all threads take the branch,
  // which may change with the arguments. A fence is for the thread that synchronises, so that others need not execute it.
  const isFence = state.endsWith('fence');
  if (isFence !== candidate.conditions.length > 0) style += 3 * (isFence ? 1 : Math.min(candidate.conditions.length, 4));
  return price * unit + style;
}

function accessesMemory(node: SyntaxNode): boolean {
  return nodesWhere(node, ({ type }) => /^(?:subscript|pointer|call|field)_expression$/.test(type)).length > 0;
}

/** The part of a weight that is cost, without readability. */
export function costOf(weight: number): number {
  return Math.floor(weight / unit);
}
