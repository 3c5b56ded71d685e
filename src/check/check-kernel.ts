/**
 * Checks one kernel under one launch: barrier divergence first, since barrier intervals rest on it, then races within
 * blocks and between blocks. What the tiers leave open is run in the interpreter; only what it shows is confirmed.
 */
import {
  type Interval,
  barrierIntervals,
  isGridBarrier,
  isWarpBarrier,
} from '../analysis/barriers/barrier-interval.ts';
import type { ThreadGroup } from '../analysis/barriers/named-barrier.ts';
import { pendingCopies } from '../analysis/barriers/pending-copy.ts';
import { type UniformityResult, inferUniformity } from '../analysis/values/uniformity.ts';
import { complete, type Steps } from '../base/steps.ts';
import { type KernelContext, kernelContext } from './context/context.ts';
import type { BlockId, Instruction, ValueId } from '../ir/form/kernel.ts';
import { tryStatements } from './witness/deciding-fact.ts';
import { type DivergenceState, checkDivergence, divergenceResult, lockedBarriers } from './divergence-check.ts';
import { SolverTiers } from './deciding/solver-tiers.ts';
import type { ThreadIntervals, WarpRelation } from './obligations/obligation.ts';
import { conditionsOf, hasEmptyRange } from './premises/premises.ts';
import { type RaceState, checkRaces, stableMemory } from './race-check.ts';
import { raceResult } from './race-result.ts';
import { unreachableAccess } from './reachability.ts';
import { type CheckRequest, type CheckResult, type OpenObligations, nothingOpen } from './question/request.ts';
import { Confirmation, chooseScalars } from './witness/scenarios.ts';

/** Checks one kernel under one launch. Never throws for what the input may hold; a defect of ours throws. */
export function checkKernel(request: CheckRequest): Promise<CheckResult> {
  return complete(checkSteps(request));
}

/** As {@link checkKernel}, in steps that wait for the solver and the sources. */
export function* checkSteps(request: CheckRequest): Steps<CheckResult> {
  if (isIdle(request) && request.assumptions.length === 0) return skipped;
  const context = kernelContext(request);
  if (request.proofOnly) return yield* checkOnce(context);
  return yield* tryStatements(context, yield* checkOnce(context), (other) => checkOnce(kernelContext(other)));
}

/** Whether nobody wants to know more than whether the assumptions exclude each other. */
function isIdle({ checks }: CheckRequest): boolean {
  return !checks.race && !checks.divergence;
}

const skipped: CheckResult = {
  race: { verdict: 'skipped', findings: [] },
  divergence: { verdict: 'skipped', findings: [] },
  open: nothingOpen,
};

function* checkOnce(context: KernelContext): Steps<CheckResult> {
  const tiers = new SolverTiers(context);
  try {
    return yield* check(context, tiers);
  } finally {
    tiers.dispose();
  }
}

function* check(context: KernelContext, tiers: SolverTiers): Steps<CheckResult> {
  const { request, kernel, dependences, loaded } = context;
  if (hasEmptyRange(request.assumptions)) return contradiction(request);
  const syntactic = inferUniformity(kernel, dependences, loaded, new Set());
  if (conditionsOf(request.assumptions).length > 0 && !chooseScalars(context, null)) {
    const { tier } = tiers.linear('grid', syntactic);
    if ((yield* tier.decide('true')).kind === 'proved') return contradiction(request);
    const bits = tiers.bits('grid', syntactic);
    if ((yield* bits.decide('true')).kind === 'proved') return contradiction(request);
  }
  if (isIdle(request)) return skipped;
  const confirmation = new Confirmation(context);
  const divergence = yield* checkDivergence(context, tiers, confirmation, dependences, syntactic);
  tiers.dispose();
  const uniformity = inferUniformity(kernel, dependences, loaded, divergence.provedBranches);
  const ofGrid = inferUniformity(kernel, dependences, loaded, new Set(), 'grid');
  const intervals = allIntervals(context, uniformity, ofGrid, divergence.earlyExits.length > 0);
  if (intervals.grid && !request.launch.cooperative) context.assumed.add('launch', 'the launch is cooperative');
  const races = yield* checkRaces(context, tiers, confirmation, intervals, { block: uniformity, grid: ofGrid });
  const unreachable = yield* unreachableAccess(context, tiers, ofGrid);
  const stableBranches = branchesOfBarriers(context).some(
    (id) =>
      uniformity.branch(id) === 'stable' || (divergence.provedBranches.has(id) && readsStable(context, uniformity, id)),
  );
  if (readsUniformly(context, uniformity)) context.assumed.add('stable-memory', stableMemory);
  const converged = yield* divergenceResult(context, confirmation, divergence, stableBranches, races.open.length === 0);
  const race = yield* raceResult(context, confirmation, races, converged.verdict, unreachable);
  return {
    race: request.checks.race ? race : { verdict: 'skipped', findings: [] },
    divergence: request.checks.divergence ? converged : { verdict: 'skipped', findings: [] },
    open: openObligations(context, races, divergence),
  };
}

function openObligations(context: KernelContext, { open }: RaceState, divergence: DivergenceState): OpenObligations {
  const barriers = [...divergence.open.map(({ obligation }) => obligation.barrier), ...lockedBarriers(context)];
  return {
    races: open
      .filter(({ unasked }) => unasked !== true)
      .map(({ pair: { scope, first, second }, reason }) => ({
        scope,
        first: first.instruction.id,
        second: second.instruction.id,
        reason,
      })),
    barriers: [...new Set(barriers.map(({ id }) => id))],
    earlyExits: [...new Set(divergence.earlyExits.map(({ barrier }) => barrier.id))],
    warps: divergence.warps?.instructions ?? [],
  };
}

/**
 * Barrier intervals for threads of one warp, of one block and of different blocks, apart where barriers tell them apart.
 * @param somePart some threads return while others go on
 */
function allIntervals(
  { kernel, symbolic, accesses: plain, dimensions, request, inMemory, named, isBlockBarrier }: KernelContext,
  ofBlock: UniformityResult,
  ofGrid: UniformityResult,
  somePart: boolean,
) {
  const accesses = [...plain, ...inMemory.accesses];
  const holds = (isBarrier: (instruction: Instruction) => boolean): boolean =>
    kernel.blocks.some(({ instructions }) => instructions.some(isBarrier));
  const between = (
    isBarrier: (instruction: Instruction) => boolean,
    uniformity: UniformityResult,
    isOpen?: ThreadGroup['isOpen'],
  ) => {
    const copies = pendingCopies(symbolic, accesses, isBarrier, inMemory);
    const result = barrierIntervals(symbolic, accesses, uniformity, isBarrier, copies.at, inMemory.arrivals, isOpen);
    // Nobody waits for the copies of a thread that has returned.
    const rounds = kernel.loops.map(() => 'free' as const);
    const hasReturned = true as const;
    const abandoned = somePart ? copies.abandoned.map((access) => ({ access, rounds, path: [], hasReturned })) : [];
    const intervals = result.intervals.map((interval) =>
      abandoned.length > 0 ? { ...interval, occurrences: [...interval.occurrences, ...abandoned] } : interval,
    );
    return { intervals, own: copies.own, truncated: result.truncated };
  };
  const block = between(isBlockBarrier, ofBlock);
  const grid = holds(isGridBarrier) ? between(isGridBarrier, ofGrid) : null;
  const threads = dimensions.block.reduce<number>((product, size) => product * (size ?? Infinity), 1);
  const hasWarpBarriers = holds(isWarpBarrier);
  const areApart = hasWarpBarriers || request.policy.warpLockstep;
  let truncated = block.truncated || grid?.truncated === true;
  const groups: ThreadIntervals[] = [];
  const add = (warp: WarpRelation, one: ThreadGroup | null, other: ThreadGroup | null): void => {
    const isBarrier = (instruction: Instruction): boolean =>
      isBlockBarrier(instruction) ||
      (warp === 'same' && isWarpBarrier(instruction)) ||
      (one?.meets.has(instruction) === true && other?.meets.has(instruction) === true);
    const isUsual = !one && !(warp === 'same' && hasWarpBarriers);
    const first = isUsual ? block : between(isBarrier, ofBlock, one?.isOpen);
    const second = other === one ? first : between(isBarrier, ofBlock, other?.isOpen);
    truncated ||= first.truncated || second.truncated;
    const isOfBlock = ({ start }: Interval): boolean => start === null || isBlockBarrier(start.barrier);
    groups.push({
      warp,
      intervals: first.intervals,
      others: second.intervals,
      ...(one &&
        other && {
          members: [one.members, other.members],
          isOrdered: (interval, a, b) =>
            isOfBlock(interval) &&
            (named.handsOver(interval.start?.barrier ?? null, [one, a], [other, b]) ||
              named.handsOver(interval.start?.barrier ?? null, [other, b], [one, a])),
        }),
    });
  };
  const relations: readonly WarpRelation[] = !areApart ? [null] : threads > 32 ? ['same', 'different'] : ['same'];
  for (const warp of relations) {
    if (named.groups.length === 0) add(warp, null, null);
    for (const [i, one] of named.groups.entries()) for (const other of named.groups.slice(i)) add(warp, one, other);
  }
  return { block: groups, grid: grid?.intervals ?? null, own: block.own, truncated };
}

/**
 * The branches that may decide about an instruction for which threads come together: those that control it, and those
 * of loops, since the number of rounds goes into values behind the loop. What others decide goes into values by phis.
 */
function branchesOfBarriers({ kernel, dependences }: KernelContext): BlockId[] {
  const wanted = kernel.blocks.filter(({ instructions }) =>
    instructions.some(({ operation }) => /barrier|shuffle|vote|warp/.test(operation.effect.kind)),
  );
  const controlling = new Set(wanted.flatMap(({ id }) => [...dependences.controlling(id, kernel.loopOf[id] ?? null)]));
  return kernel.blocks.flatMap(({ id, successors }) =>
    successors.length > 1 && wanted.length > 0 && (controlling.has(id) || kernel.loopOf[id] !== null) ? [id] : [],
  );
}

/** Whether a branch, or reaching it, depends on a value that threads share only in the absence of races. */
function readsStable({ symbolic }: KernelContext, uniformity: UniformityResult, branch: BlockId): boolean {
  const leaves = [...(symbolic.condition(branch)?.leaves ?? []), ...symbolic.reach(branch).leaves];
  return leaves.some(
    ({ atom }) =>
      atom?.kind === 'havoc' &&
      // What thread 0 has told its block is what it told only where nothing races on it.
      (symbolic.leaderValues.has(atom.value) ||
        (atom.value >= 0 && uniformity.value(atom.value as ValueId) === 'stable')),
  );
}

/** Whether some branch is uniform only because all threads of a block read one value from memory. */
function readsUniformly({ kernel, symbolic }: KernelContext, uniformity: UniformityResult): boolean {
  return kernel.blocks.some((block) => {
    if (block.successors.length < 2 || uniformity.branch(block.id) === 'varying') return false;
    const leaves = symbolic.condition(block.id)?.leaves ?? [];
    return leaves.some(({ atom }) => {
      if (atom?.kind !== 'havoc' || atom.value < 0) return false;
      const { definition } = kernel.values[atom.value]!;
      return definition.kind === 'instruction' && definition.instruction.operation.effect.kind === 'load';
    });
  });
}

function contradiction(request: CheckRequest): CheckResult {
  const reason = `the assumptions exclude each other: ${request.assumptions.map(({ text }) => text).join('; ')}`;
  return {
    race: { verdict: 'unknown', reason, findings: [] },
    divergence: { verdict: 'unknown', reason, findings: [] },
    contradiction: reason,
    open: nothingOpen,
  };
}
