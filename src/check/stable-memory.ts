/** Facts of a check that are valid only if no accesses to shared memory race. */
import { participantsOf } from '../isa/model/effect.ts';
import type { BlockId, ValueId } from '../ir/form/kernel.ts';
import type { UniformityResult } from '../analysis/values/uniformity.ts';
import { gridDependency, waitsFirst } from '../analysis/barriers/grid-dependency.ts';
import { type Access, isWriter } from '../analysis/values/access.ts';
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

/** The assumption about kernels that a launch lets start before it has ended. */
const laterWait = 'kernels launched after it wait for its end before they access its arrays';

/** The assumption about a program with several streams whose order is not known. */
const othersElsewhere = 'launches and copies in other streams access none of its arrays while it runs';

/** Whether an assumption is about the kernels before and after in the stream. */
export function isOfOtherKernels(text: string): boolean {
  return text === earlierEnded || text === laterWait;
}

/**
 * What a proof assumes about kernels before and after a launch that may run at the same time: the launch has the attribute of a
 * programmatic dependent launch, or the kernel waits for the end of another one, or lets another one start.
 */
export function assumedOfOtherKernels({ kernel, request: { launch } }: KernelAndLaunch): readonly string[] {
  const elsewhere = launch.mayOverlap ? [othersElsewhere] : [];
  if (!launch.startsEarly && !kernel.overlapsOthers) return elsewhere;
  const dependency = gridDependency(kernel);
  const isAfterOthers = launch.source === 'launch-site' && !launch.startsEarly && !dependency.hasWait;
  return [...(isAfterOthers || waitsFirst(dependency) ? [] : [earlierEnded]), ...(dependency.hasTrigger ? [laterWait] : []), ...elsewhere];
}

/** Memory on which no accesses may race, for a proof of no divergence: all of it, or that of some bases, by key. */
export type RaceFreeMemory = 'all' | ReadonlySet<string>;

/**
 * The memory on which no accesses may race, since branches that may decide about a barrier, or about an instruction of a
 * warp, are uniform only then.
 * @param proved branches that were proved uniform only by a solver or by enumeration of all threads
 * @param ofWarp uniformity for the lanes of a warp
 */
export function neededRaceFreedom(
  facts: KernelAndLaunch & SymbolicFacts,
  uniformity: UniformityResult,
  proved: ReadonlySet<BlockId>,
  ofWarp: UniformityResult,
): RaceFreeMemory {
  const { symbolic, dependences, dimensions, rereads } = facts;
  // A value broadcast by thread 0 is the stored one, and repeated loads return the same value, only if no access races.
  const isCopied = ({ atom }: Term): boolean =>
    atom?.kind === 'havoc' && (symbolic.leaderValues.has(atom.value) || rereads.has(atom.value));
  const isStable =
    (of: UniformityResult) =>
    ({ atom }: Term): boolean =>
      atom?.kind === 'havoc' && atom.value >= 0 && of.value(atom.value as ValueId) === 'stable';
  const branches = branchesOfBarriers(facts);
  const leaves = branches.flatMap((id) =>
    proved.has(id) ? [...(symbolic.condition(id)?.leaves ?? []), ...symbolic.reach(id).leaves] : [],
  );
  const ofWarps = warpObligations(symbolic, dependences, ofWarp, dimensions).flatMap(({ paths }) =>
    paths.flatMap((conditions) => conditions.flatMap(({ term }) => term.leaves)),
  );
  if ([...leaves, ...ofWarps].some(isCopied)) return 'all';
  const rests =
    branches.some((id) => uniformity.branch(id) === 'stable' || ofWarp.branch(id) === 'stable') ||
    leaves.some(isStable(uniformity)) ||
    ofWarps.some(isStable(ofWarp));
  return rests ? readAsOne(facts, ofWarp) : new Set();
}

/** The memory from which lanes of a warp, or threads of a block, load one value. */
function readAsOne({ accesses, loaded }: SymbolicFacts, ofWarp: UniformityResult): RaceFreeMemory {
  const bases = accesses.flatMap(({ instruction, operation, targets }) => {
    const isOne = instruction.results.some((id) => id !== null && ofWarp.value(id) !== 'varying');
    return operation === 'read' && isOne && loaded(instruction) === 'written' ? targets.map(({ base }) => base) : [];
  });
  const isKnown = bases.every(({ kind }) => kind === 'object' || kind === 'parameter');
  return isKnown ? new Set(bases.map(({ key }) => key)) : 'all';
}

/** Whether an access may be to memory on which no accesses may race. */
export function isOfMemory({ targets }: Access, memory: RaceFreeMemory): boolean {
  if (memory === 'all') return true;
  return targets.some(({ base }) => memory.has(base.key) || (base.kind !== 'object' && base.kind !== 'parameter'));
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
