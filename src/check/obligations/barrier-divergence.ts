/**
 * Barrier divergence: all threads of the block must take the same side of every branch that decides whether a barrier
 * of the whole block is reached, in the same iteration of the loops around the branch. Most branches are uniform by
 * syntax. The others are enumerated for all threads, or passed to the solver.
 */
import { reachable, pointsOf } from '../../analysis/values/program-point.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import type { IterationRelation } from '../../analysis/values/iteration-relation.ts';
import type { ControlDependence } from '../../analysis/values/control-dependence.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { UniformityResult } from '../../analysis/values/uniformity.ts';
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import type { TermInstance } from './instance.ts';
import type { ReadCondition } from './obligation.ts';

/** A barrier of the whole block and a branch that may keep some threads from it. */
export interface DivergenceObligation {
  readonly barrier: Instruction;
  readonly branch: BlockId;
  readonly condition: Term;
  /** Whether the threads that take the other side of the branch only return afterwards. */
  readonly earlyExit: boolean;
  /** Whether these threads, in the source, do not return but bypass the statement that contains the barrier. */
  readonly passedBy?: boolean;
  /** Conditions of both threads under which they take different sides. */
  readonly conditions: readonly ReadCondition[];
}

type IsBarrier = (instruction: Instruction) => boolean;

/** A barrier of a cluster, which is not modelled yet. */
export function isClusterBarrier({ operation }: Instruction): boolean {
  return operation.effect.kind === 'cluster-barrier';
}

/** Obligations for every branch that is not uniform by syntax. */
export function divergenceObligations(
  symbolic: SymbolicKernel,
  dependences: ControlDependence,
  uniformity: UniformityResult,
  isBlockBarrier: IsBarrier,
): DivergenceObligation[] {
  const { kernel, store } = symbolic;
  const list: DivergenceObligation[] = [];
  for (const { block, instruction } of pointsOf(kernel, isBlockBarrier)) {
    for (const branch of [...dependences.controlling(block, kernel.loopOf[block] ?? null)].sort((a, b) => a - b)) {
      if (uniformity.branch(branch) !== 'varying') continue;
      const condition = symbolic.condition(branch);
      // A barrier of the block also counts returned threads. At a barrier of the grid or in memory, returned threads
      // never arrive.
      const countsReturned = instruction.operation.effect.kind === 'barrier';
      const earlyExit = countsReturned && leavesOnly(kernel, branch, block, isBlockBarrier);
      if (!condition) {
        list.push({ barrier: instruction, branch, condition: store.true, earlyExit, conditions: [] });
        continue;
      }
      const conditions = oppositeBranchSides(symbolic, branch, condition);
      list.push({ barrier: instruction, branch, condition, earlyExit, conditions });
    }
  }
  return list;
}

/**
 * A barrier of the grid, and a branch that decides whether a block reaches it and that may be non-uniform among blocks;
 * null if none exists.
 */
export function blocksMayPart(
  { kernel }: SymbolicKernel,
  dependences: ControlDependence,
  uniformity: UniformityResult,
): { readonly barrier: Instruction; readonly branch: BlockId } | null {
  for (const block of kernel.blocks) {
    const barrier = block.instructions.find(isGridBarrier);
    if (!barrier) continue;
    for (const branch of dependences.controlling(block.id, kernel.loopOf[block.id] ?? null))
      if (uniformity.branch(branch) === 'varying') return { barrier, branch };
  }
  return null;
}

/**
 * The conditions under which two threads reach a branch in one iteration of the loops around it and take different
 * sides.
 */
export function oppositeBranchSides(
  symbolic: SymbolicKernel,
  branch: BlockId,
  condition: Term,
  rounds: readonly IterationRelation[] = symbolic.kernel.loops.map((loop) => (loop.blocks.has(branch) ? 'same' : 'before')),
): ReadCondition[] {
  const { store } = symbolic;
  const reach = symbolic.reach(branch);
  const conditions: ReadCondition[] = [];
  for (const side of [1, 2] as const) {
    const reading: TermInstance = { side, rounds };
    for (const term of reach.operator === 'all' ? reach.arguments : [reach]) if (term !== store.true) conditions.push({ term, reading });
    conditions.push({ term: side === 1 ? condition : store.not(condition), reading });
  }
  return conditions;
}

/**
 * Whether one side of a branch leads only to the end of the kernel, without any barrier and without code that threads
 * after the barrier also reach. Then the threads that take this side have returned. If the threads after the barrier
 * have no other path to an end, the side is a loop exit for all of them.
 */
function leavesOnly(kernel: Kernel, branch: BlockId, barrier: BlockId, isBlockBarrier: IsBarrier): boolean {
  return kernel.blocks[branch]!.successors.some((start) => {
    const otherwise = (from: BlockId, to: BlockId): boolean => from !== branch || to !== start;
    const next = kernel.blocks[barrier]!.successors;
    const continued = reachable(
      kernel,
      next.filter((to) => otherwise(barrier, to)),
      otherwise,
    );
    const ends = [...continued].some((id) => kernel.blocks[id]!.successors.length === 0);
    const after = ends ? continued : reachable(kernel, next);
    const region = reachable(kernel, [start]);
    // In a loop without an exit, threads never return.
    if (![...region].every((id) => mayReturn(kernel, id))) return false;
    for (const id of region) {
      const block = kernel.blocks[id]!;
      if (block.instructions.some(isBlockBarrier)) return false;
      const doesWork = block.instructions.some(({ operation }) => operation.effect.kind !== 'pure');
      if (doesWork && (after.has(id) || id === barrier)) return false;
    }
    return true;
  });
}

/** Whether threads may return instead of reaching a barrier. */
export function mayReturnBefore(kernel: Kernel, dependences: ControlDependence, barrier: Instruction, isBlockBarrier: IsBarrier): boolean {
  const home = kernel.blocks.find(({ instructions }) => instructions.includes(barrier))!.id;
  const branches = dependences.controlling(home, kernel.loopOf[home] ?? null);
  return [...branches].some((branch) => leavesOnly(kernel, branch, home, isBlockBarrier));
}

function mayReturn(kernel: Kernel, from: BlockId): boolean {
  return [...reachable(kernel, [from])].some((id) => kernel.blocks[id]!.successors.length === 0);
}
