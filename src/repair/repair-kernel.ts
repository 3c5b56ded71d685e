/**
 * Repairs one kernel: strategies propose edits that the oracle proves on a marked copy; each is then applied to the
 * source, compiled without markers and proved again. Only an edit that passes is a repair.
 */
import type { Launch } from '../launch/launch.ts';
import { markCandidates } from '../cuda/editing/barrier-candidates.ts';
import type { FunctionDefinition } from '../cuda/syntax/outline.ts';
import { barrierEdits } from '../cuda/editing/barrier-edit.ts';
import { applyEdits } from '../source/text-edit.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { atomicAlternative, updateAtomically } from './atomic-strategy.ts';
import { bufferAlternative } from './buffer-strategy.ts';
import { type PlacementOutcome, partConditions, placeBarriers, placeIn } from './barrier-placement.ts';
import { repairFences } from './fence-strategy.ts';
import type { Obstacle } from './explanation.ts';
import { redundantBarriers } from './redundant-barrier.ts';
import { guardReturns, hoistFromBranches, writeOutMacros } from './rewrite-strategy.ts';
import type { Change, Effort, Repair, RepairOutcome, RepairRequest } from './request.ts';
import { type UnorderedPair, Oracle } from './repair-target.ts';
import { loopDepths } from './weight.ts';

/** Repairs a kernel that has confirmed findings. */
export async function repairKernel(request: RepairRequest): Promise<RepairOutcome> {
  const effort: Effort = { clauses: 0, iterations: 0, checks: 0, compiled: 0 };
  const obstacles: Obstacle[] = [];
  let races: readonly UnorderedPair[] = [];
  let functions: readonly FunctionDefinition[] = [];
  let conditions: ReadonlySet<number> = new Set();
  const byBarriers = (): Promise<PlacementOutcome> => placeBarriers(request, effort);
  // With a lock, atomic operations on the data are not another form of the same repair.
  const isHandMade = request.missing.some(({ kind }) => kind === 'fence');
  // Atomic operations on the data would not mend a lock, a flag or a counter that is not waited for long enough.
  const mayBeAtomic = !request.missing.some(({ kind }) => kind === 'wait');
  const byFences = (): Promise<PlacementOutcome> => repairFences(request, effort);
  // Where threads synchronise by a lock, a flag or a counter, a barrier between the accesses could be one that not all reach.
  const isByFences = request.missing.some(
    (missing) => missing.kind === 'fence' && !missing.lacks.some((lack) => lack === 'arrival' || lack === 'join'),
  );
  // Each strategy is tried if those before it fail.
  const strategies: readonly (() => Promise<PlacementOutcome>)[] = [
    ...(isByFences ? [byFences, byBarriers] : [byBarriers, byFences]),
    () => hoistFromBranches(request, functions, effort),
    inConditions,
    () => guardReturns(request, functions, effort),
    () => writeOutMacros(request, races, effort),
    ...(mayBeAtomic ? [() => updateAtomically(request, races, effort)] : []),
  ];
  for (const strategy of strategies) {
    const outcome = await strategy();
    if (outcome.kind === 'timeout') return { status: 'timeout', why: { kind: 'timeout', isLate: request.expired() }, effort };
    if (outcome.kind === 'repaired') {
      const other =
        strategy === byBarriers && mayBeAtomic && !isHandMade && request.racing.length > 0
          ? await atomicAlternative(request, effort)
          : null;
      const copies = strategy === byBarriers ? await bufferAlternative(request, outcome.repair, effort) : null;
      const alternatives = [other, copies].filter((one) => one !== null);
      return { status: 'repaired', ...outcome.repair, ...(alternatives.length > 0 && { alternatives }), effort };
    }
    obstacles.push(...outcome.obstacles);
    if (outcome.races.length > 0) races = outcome.races;
    if (outcome.functions?.length) functions = outcome.functions;
    conditions = outcome.conditions ?? conditions;
  }
  const part = request.mayBePartial ? await repairInPart(request, mayBeAtomic ? races : [], effort) : null;
  if (part) {
    // The search executes nothing, so it knows no proof under a precondition; the verification does.
    const { repair, change } = part;
    const isWhole = repair.leaves.length === 0 && (await request.verify(repair.text, change)).verified;
    return { status: 'repaired', ...repair, ...(!isWhole && { because: standing(obstacles) }), effort };
  }
  const flags = [...new Set(request.missing.flatMap((missing) => (missing.kind === 'wait' ? missing.flag : [])))];
  const why = flags.length > 0 ? [{ kind: 'wait', flags } as const] : obstacles;
  return { status: 'unrepairable', why: { kind: 'unrepairable', obstacles: why }, effort };

  async function inConditions(): Promise<PlacementOutcome> {
    if (conditions.size === 0) return { kind: 'none', obstacles: [], races: [] };
    return partConditions(request, conditions, effort);
  }
}

/**
 * The partial repair with the fewest remaining findings, the worst of them repaired first.
 * @param races the pairs that no barrier separates
 * @returns null if nothing can be repaired
 */
async function repairInPart(
  request: RepairRequest,
  races: readonly UnorderedPair[],
  effort: Effort,
): Promise<{ readonly repair: Repair; readonly change: Change } | null> {
  const changes = new Map<string, Change>();
  const inPart: RepairRequest = {
    ...request,
    isPartial: true,
    verify: (text, change) => {
      changes.set(text, change);
      return request.verify(text, change, 'some');
    },
  };
  const errors = ({ leaves }: Repair): number => leaves.filter(({ severity }) => severity === 'error').length;
  const found: Repair[] = [];
  for (const strategy of [placeBarriers, updateIn]) {
    if (request.expired()) break;
    const outcome = await strategy(inPart, effort);
    if (outcome.kind !== 'repaired') continue;
    found.push(outcome.repair);
    if (errors(outcome.repair) === 0) break;
  }
  found.sort((a, b) => errors(a) - errors(b) || a.leaves.length - b.leaves.length);
  const [best] = found;
  return best ? { repair: best, change: changes.get(best.text) ?? 'statements' } : null;

  function updateIn(part: RepairRequest): Promise<PlacementOutcome> {
    return updateAtomically(part, races, effort);
  }
}

/** The obstacles to a proof, without those that are failed attempts. */
function standing(obstacles: readonly Obstacle[]): readonly Obstacle[] {
  const known = obstacles.filter(({ kind }) => kind !== 'refused' && kind !== 'not-enough');
  return known.length > 0 ? known : obstacles;
}

/** Searches for barriers that a proved kernel does not need. */
export async function removeRedundant(request: RepairRequest): Promise<RepairOutcome> {
  const { source, build, verify, expired } = request;
  const effort: Effort = { clauses: 0, iterations: 0, checks: 0, compiled: 1 };
  const { candidates, text } = markCandidates(source, { splits: false });
  const nothing: RepairOutcome = { status: 'not-needed' };
  const built = await build(text);
  if (!built) return nothing;
  const oracle = new Oracle(built.subjects, placeIn(source.file, candidates), effort);
  // Unstated facts may be false in other launches: a barrier that is redundant only under such facts is not removed.
  const general = new Oracle(
    built.subjects.map((subject) => ({
      ...subject,
      launches: subject.launches.map((launch) => asStated(launch, subject.kernel)),
    })),
    placeIn(source.file, candidates),
    effort,
  );
  // A variable of the module may be the memory that a parameter points to, unless stated otherwise.
  const isKnown = built.subjects.every(({ kernel }) => kernel.objects.every(({ space }) => space !== 'global'));
  const redundant = await redundantBarriers(oracle, isKnown ? general : null, candidates, expired, built.shared);
  if (redundant.length === 0) return nothing;
  const edits = barrierEdits(
    source,
    redundant.map((candidate) => ({ candidate, state: 'off' })),
  );
  effort.compiled++;
  const edited = applyEdits(source.text, edits);
  const verification = await verify(edited, 'barriers');
  if (!verification.verified) return nothing;
  const depths = loopDepths(built.subjects.map(({ kernel }) => kernel));
  return {
    status: 'optimised',
    text: edited,
    added: 0,
    removed: redundant.length,
    addedInLoops: 0,
    removedInLoops: redundant.filter(({ number }) => (depths.get(number) ?? 0) > 0).length,
    gridLevel: false,
    steps: [{ kind: 'redundant', lines: redundant.map(({ line }) => line) }],
    notes: [],
    leaves: [],
    effort,
  };
}

/**
 * The launch restricted to stated facts: without arguments, dimensions that were only found at a launch site, and the
 * assumption that pointers do not overlap (stated disjointness remains).
 */
function asStated({ axes, ...launch }: Launch, { parameters }: Kernel): Launch {
  void axes;
  const aliases = parameters.flatMap(({ index }, at) => parameters.slice(at).map((other) => [index, other.index] as const));
  const dimensions = launch.source === 'launch-site' ? { block: null, grid: null } : {};
  return { ...launch, ...dimensions, scalars: new Map(), aliases };
}
