/** Facts of a check that are valid only if no accesses to shared memory race. */
import { participantsOf } from '../isa/model/effect.ts';
import type { BlockId, ValueId } from '../ir/form/kernel.ts';
import type { UniformityResult } from '../analysis/values/uniformity.ts';
import { isWriter } from '../analysis/values/access.ts';
import type { Assumption } from '../verdict/finding.ts';
import { noAlias, disjointFromSharedValues } from './context/aliasing.ts';
import { inBounds } from './context/assumed-facts.ts';
import { warpObligations } from './obligations/warp-agreement.ts';
import type { Term } from '../term/term.ts';
import type { KernelAndLaunch, OrderingFacts, SymbolicFacts } from './context/facts.ts';

/** The assumption that all threads of a block that load from one address read the same value. */
export const stableMemory = 'memory that the kernel does not write does not change while it runs';

/** The assumption that memory written by earlier kernels is visible when a launch starts. */
export const earlierEnded = 'the kernel before it in the stream has ended';

/**
 * Whether a launch may run while the previous kernel in the stream still does: it has the attribute of a programmatic
 * dependent launch, or the kernel waits for the end of another one, or lets another one start.
 */
export function overlapsOthers({ kernel, request: { launch } }: KernelAndLaunch): boolean {
  return launch.startsEarly === true || kernel.overlapsOthers === true;
}

/**
 * Whether some branch that may decide about a barrier is uniform only if no accesses race on the memory that it depends
 * on.
 * @param proved branches that were proved uniform only by a solver or by enumeration of all threads
 */
export function needsRaceFreedom(
  facts: KernelAndLaunch & SymbolicFacts,
  uniformity: UniformityResult,
  proved: ReadonlySet<BlockId>,
): boolean {
  const isAgain = ({ atom }: Term): boolean => atom?.kind === 'havoc' && facts.rereads.has(atom.value);
  return (
    branchesOfBarriers(facts).some((id) => uniformity.branch(id) === 'stable' || (proved.has(id) && readsStable(facts, uniformity, id))) ||
    (facts.rereads.size > 0 &&
      warpObligations(facts.symbolic, facts.dependences, uniformity).some(({ ways }) =>
        ways.some((way) => way.some(({ term }) => term.leaves.some(isAgain))),
      ))
  );
}

/**
 * The branches that may affect an instruction at which threads synchronise: those that control it, and those of loops,
 * since the trip count affects values after the loop. Other branches affect values only through phis.
 */
function branchesOfBarriers({ kernel, dependences }: KernelAndLaunch & SymbolicFacts): BlockId[] {
  const wanted = kernel.blocks.filter(({ instructions }) =>
    instructions.some(({ operation: { effect } }) => participantsOf(effect) !== 'thread' || effect.kind === 'mbarrier'),
  );
  const controlling = new Set(wanted.flatMap(({ id }) => [...dependences.controlling(id, kernel.loopOf[id] ?? null)]));
  return kernel.blocks.flatMap(({ id, successors }) =>
    successors.length > 1 && wanted.length > 0 && (controlling.has(id) || kernel.loopOf[id] !== null) ? [id] : [],
  );
}

/**
 * Whether the condition of a branch, or its reach condition, contains a value that is uniform only in the absence of
 * races.
 */
function readsStable({ symbolic, rereads }: SymbolicFacts, uniformity: UniformityResult, branch: BlockId): boolean {
  const leaves = [...(symbolic.condition(branch)?.leaves ?? []), ...symbolic.reach(branch).leaves];
  return leaves.some(
    ({ atom }) =>
      atom?.kind === 'havoc' &&
      // A value broadcast by thread 0 is the stored one only if no access races with the store.
      (symbolic.leaderValues.has(atom.value) ||
        // Repeated loads return the same value only if no access races with them.
        rereads.has(atom.value) ||
        (atom.value >= 0 && uniformity.value(atom.value as ValueId) === 'stable')),
  );
}

/** Whether some branch is uniform only because all threads of a block load one value from memory. */
export function readsUniformly(facts: KernelAndLaunch & SymbolicFacts, uniformity: UniformityResult): boolean {
  return facts.kernel.blocks.some(
    ({ id, successors }) => successors.length > 1 && uniformity.branch(id) !== 'varying' && dependsOnLoad(facts, id),
  );
}

/** Whether the condition of a branch depends on a value loaded from memory. */
function dependsOnLoad({ kernel, symbolic }: KernelAndLaunch & SymbolicFacts, branch: BlockId): boolean {
  return (symbolic.condition(branch)?.leaves ?? []).some(({ atom }) => {
    if (atom?.kind !== 'havoc' || atom.value < 0) return false;
    const { definition } = kernel.values[atom.value]!;
    return definition.kind === 'instruction' && definition.instruction.operation.effect.kind === 'load';
  });
}

/**
 * Assumptions that a proof of no divergence makes about the memory on which barriers depend: writes of the kernel do
 * not overlap it, and no index leaves its object and reaches it.
 * @param disjointForRaces names of memory assumed to be disjoint by the proof of no race; null if this proof does not
 *   depend on that one
 */
export function assumedOfMemory(
  facts: KernelAndLaunch & SymbolicFacts & OrderingFacts,
  uniformity: UniformityResult,
  disjointForRaces: ReadonlySet<string> | null,
): readonly Assumption[] {
  if (!branchesOfBarriers(facts).some((branch) => dependsOnLoad(facts, branch))) return [];
  const disjoint = disjointFromSharedValues(facts, (id) => uniformity.value(id) !== 'varying');
  const isWriting = facts.accesses.some(isWriter);
  const elsewhere = noAlias(new Set([...disjoint, ...(disjointForRaces ?? [])]));
  return [...(isWriting ? [{ kind: 'in-bounds', text: inBounds } as const] : []), ...(elsewhere ? [elsewhere] : [])];
}
