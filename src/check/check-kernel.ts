/**
 * Phase 5 of a check in detail (`app/pipeline/` has the others): decides one kernel under one launch. Barrier
 * divergence is decided first, since barrier intervals depend on it, then races within blocks and between blocks. Pairs
 * that the tiers leave open are executed in the interpreter; only a run confirms a finding.
 */
import type { Assumption, DivergenceResult, RaceResult } from '../verdict/finding.ts';
import { placeOf } from './context/names.ts';
import { isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import { areExecutedByAll } from './ordering/grid-gate.ts';
import { assumedOfCalls } from './context/unknown-calls.ts';
import { hasEmptyRange, conditionsOf } from './premises/premises.ts';
import { maximumSharedBytes } from '../device/hardware-limits.ts';
import { refusedSharedBytes } from '../launch/shared-memory-limit.ts';
import { raceResult, reasonBeside } from './race-result.ts';
import {
  type RaceFreeMemory,
  assumedOfMemory,
  assumedOfOtherKernels,
  isOfMemory,
  neededRaceFreedom,
  readsUniformly,
  stableMemory,
} from './stable-memory.ts';
import { type Reachability, allReached, excludesAllAccesses, reachabilityOf } from './reachability.ts';
import {
  type CheapTrial,
  tryCheaply,
  tryExecutions,
  tryRun,
  hintsOf,
  type RaceState,
  querySolver,
  initialisedTables,
} from './race-check.ts';
import { racingPairs, unorderedPairs } from './race-pairs.ts';
import { withMemoryFaults } from './memory/memory-faults.ts';
import { type MemoryResult, checkBounds } from './memory/bounds-check.ts';
import type { AccessPair } from './obligations/obligation.ts';
import { type Aliasing, aliasing, nonAliasingPointers } from './context/aliasing.ts';
import { type KernelIntervals, intervalsOf } from './intervals.ts';
import { type Scoped, Instances } from './obligations/instance.ts';
import { type DivergenceState, decideBarriers, divergenceResult, lockedBarriers } from './divergence-check.ts';
import { CertificateLog } from './certifying/certificate-log.ts';
import { Confirmation } from './witness/scenarios.ts';
import { assumedContents } from './representative/assumed-contents.ts';
import { chooseScalars } from './representative/scalar-choice.ts';
import { type UniformityResult, inferUniformity } from '../analysis/values/uniformity.ts';
import { limitEffort, useReserve } from './request/check-budget.ts';
import { effortOfCheck, effortOfProof, effortOfTrials } from '../solver/limits.ts';
import { SolverTiers } from './deciding/solver-tiers.ts';
import { AssumedFacts } from './context/assumed-facts.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import type { KernelContext, KernelAndLaunch, SymbolicFacts } from './context/facts.ts';
import { violatedPreconditions } from './representative/violated-preconditions.ts';
import { underPreconditions } from './representative/preconditions.ts';
import { uniformityOf } from './warp-check.ts';
import { tryStatements } from './witness/deciding-fact.ts';
import { kernelContext } from './context/kernel-facts.ts';
import type { Reason } from '../verdict/reason.ts';
import { complete, type Steps } from '../base/coroutine.ts';
import { type CheckRequest, type CheckResult, type Exclusion, nothingOpen, type OpenObligations } from './request/check-request.ts';
import type { CheckTrace } from './check-trace.ts';

/** The kernel with the initial values of those variables that the host program fills before the launch. */
function withFilledVariables({ kernel, launch, objectName }: CheckRequest): Kernel {
  const { variables } = launch.contents ?? {};
  if (!variables?.size) return kernel;
  const objects = kernel.objects.map((object) => {
    const initial = variables.get(objectName(object.symbol));
    return initial && initial.length === object.bytes ? { ...object, initial, external: false } : object;
  });
  return { ...kernel, objects };
}

function tableText({ launch, objectName }: CheckRequest, symbol: string): string {
  const name = objectName(symbol);
  return `${name} holds what ${launch.contents?.variables.has(name) === true ? 'the host program copies there' : 'it is initialised with'}`;
}

/** Checks one kernel under one launch. It throws only on an internal error, never because of the input. */
export function checkKernel(request: CheckRequest): Promise<CheckResult> {
  return complete(checkSteps(request));
}

/**
 * Like {@link checkKernel}, as a coroutine that yields while it waits for the solver and the sources.
 * @param trace receives intermediate results, also those of checks repeated under further conditions
 */
export function* checkSteps(asked: CheckRequest, trace: CheckTrace = {}): Steps<CheckResult> {
  const request: CheckRequest = {
    ...asked,
    kernel: withFilledVariables(asked),
    budget: { ...asked.budget, effort: asked.budget.effort ?? { left: asked.budget.factor * effortOfCheck, kept: 0 } },
  };
  if (isIdle(request) && request.assumptions.length === 0) return skipped;
  const refused = refusal(request);
  if (refused) {
    const undecided = { verdict: 'unknown', reason: refused, findings: [] } as const;
    return {
      race: request.checks.race ? undecided : skipped.race,
      divergence: request.checks.divergence ? undecided : skipped.divergence,
      open: nothingOpen,
    };
  }
  const { facts, result } = yield* decideWithHelp(request, trace);
  return request.proofOnly || result.contradiction ? result : yield* withMemoryFaults(facts, result);
}

/** The result, after trials of preconditions and statements if it is open, and the facts that it is about. */
function* decideWithHelp(request: CheckRequest, trace: CheckTrace): Steps<{ readonly facts: KernelContext; readonly result: CheckResult }> {
  const { ties = [] } = request.launch;
  const tied: CheckRequest = { ...request, assumptions: [...request.assumptions, ...ties] };
  if (!request.proofOnly) limitEffort(request.budget.effort, request.budget.factor * effortOfProof);
  const again = (other: CheckRequest): Steps<CheckResult> => decide(kernelContext(other), trace);
  function* excluded(other: CheckRequest): Steps<Exclusion | null> {
    const of = kernelContext(other);
    return yield* excludesAllAccesses(of, uniformityOf(of, new Set()));
  }
  const failed = new Set<string>();
  /**
   * A proof under preconditions that all representative launches satisfy, before any of these is run: no run could then
   * show a race. What it spends does not count, so that runs and further questions are as without it.
   */
  function* provedFirst(of: KernelContext, open: CheckResult): Steps<CheckResult | null> {
    const { budget } = of.request;
    if (request.proofOnly || budget.replaySteps === 0) return null;
    const effort = { ...budget.effort! };
    useReserve(effort);
    limitEffort(effort, budget.factor * effortOfTrials);
    const asked = { ...of, request: { ...of.request, budget: { ...budget, effort } } };
    return yield* underPreconditions(asked, open, again, excluded, failed, true);
  }
  let facts = kernelContext(tied);
  let result = yield* decide(facts, trace, provedFirst);
  if (result.contradiction && ties.length > 0) {
    // No execution satisfies the launch constraints derived from the host program. This is not the user's error, and
    // nothing is proved under these constraints.
    facts = kernelContext(request);
    result = yield* decide(facts, trace, provedFirst);
  }
  // The remaining effort is not spent, since further queries would be equally expensive.
  const effort = request.budget.effort!;
  useReserve(effort);
  if (request.proofOnly || effort.left <= 0) return { facts, result };
  limitEffort(effort, request.budget.factor * effortOfTrials);
  const proved = yield* underPreconditions(facts, result, again, excluded, failed);
  if (proved) return { facts, result: withUndefinedValues(proved, result) };
  const broken = result.contradiction ? null : yield* violatedPreconditions(request, facts, result, kernelContext, again, excluded);
  return { facts, result: broken ?? (yield* tryStatements(facts, result, again)) };
}

/** A result without runs, with the undefined values of shuffles that runs have shown. */
function withUndefinedValues(proved: CheckResult, { divergence }: CheckResult): CheckResult {
  const shown = divergence.findings.filter(({ kind }) => kind === 'undefined-value');
  return { ...proved, divergence: { ...proved.divergence, findings: [...proved.divergence.findings, ...shown] } };
}

/**
 * The steps of a check, one call each. `tiers` queries the solver, `runs` has the results of runs, and `assumed`
 * collects the assumptions.
 */
function* decide(
  before: KernelContext,
  trace: CheckTrace,
  provedFirst?: (facts: KernelContext, open: CheckResult) => Steps<CheckResult | null>,
): Steps<CheckResult> {
  let facts = before;
  trace.facts?.(facts);
  const assumed = new AssumedFacts(facts);
  for (const { symbol } of initialisedTables(facts)) assumed.add('contents', tableText(facts.request, symbol));
  for (const text of nonAliasingPointers(facts)) assumed.add('contents', text);
  for (const text of assumedOfOtherKernels(facts)) assumed.add('stable-memory', text);
  const contents = assumedContents(facts);
  let tiers = new SolverTiers(facts, contents);
  const { request } = facts;
  const log = request.certificates ? new CertificateLog(facts.kernel) : null;
  if (request.budget.effort) request.budget.effort.kept = 0;
  // Facts: check/context has made them, with check/premises and check/ordering.
  const syntactic: UniformityResult = uniformityOf(facts, new Set());
  if (yield* excludeEachOther(facts, syntactic, tiers)) return contradiction(request);
  if (isIdle(request)) return skipped;

  // Decide barriers: divergence-check, obligations/barrier-divergence, deciding/enumerate-branch.
  const runs = new Confirmation(facts);
  const barriers: DivergenceState = yield* decideBarriers(facts, syntactic, tiers, runs, assumed, log);
  if (barriers.warps.mayHaveExited) {
    const tickets = new Map([...facts.tickets].filter(([, { ofWarp }]) => !ofWarp));
    facts = { ...facts, lanesMayHaveExited: true, tickets };
    tiers = new SolverTiers(facts, contents);
  }
  tiers.forget(); // Values that were private to a thread may be uniform now.
  const uniformity: Scoped<UniformityResult> = uniformityBehind(facts, barriers);

  // Intervals: analysis/barriers.
  const isPart = barriers.earlyExits.length > 0;
  const gates = !isPart && areExecutedByAll(facts.gates, facts.kernel, facts.dependences, uniformity.grid) ? facts.gates : [];
  for (const { counter, startsAtZero, countsUp, assumes } of gates) {
    if (startsAtZero) assumed.addZero(counter.targets[0]!.base, countsUp);
    assumed.addNoWrap(assumes);
  }
  const intervals: KernelIntervals = intervalsOf(facts, uniformity, isPart, gates);
  trace.intervals?.(facts, intervals);
  const isCooperative = facts.kernel.blocks.some(({ instructions }) => instructions.some(isGridBarrier));
  if (isCooperative && !request.launch.cooperative) assumed.add('launch', 'the launch is cooperative');

  // Single accesses: memory/bounds-check.
  const faults: MemoryResult = yield* checkBounds(
    facts,
    runs,
    () => tiers.linear('grid', uniformity.grid),
    new Instances(facts.symbolic, uniformity.grid, 'grid'),
  );

  // Pairs: obligations/obligation. Ordered: ordering/critical-section, context/warp-slot.
  const memory: Aliasing = aliasing(facts);
  const { pairs, isCut } = racingPairs(facts, intervals, memory.mayAlias);
  const cut: Reason | null = cutBy(facts, intervals, isCut);
  const unordered: readonly AccessPair[] = unorderedPairs(facts, pairs, memory.mayAlias, assumed, gates);
  trace.pairs?.(facts, unordered);

  // Decide pairs: deciding/cheap-tiers, runs of the overlaps found there, witness/deciding-run and
  // executions/small-launch, and deciding/solver-tiers with runs of the solver's models.
  const tried: CheapTrial = tryCheaply(facts, unordered, memory.mayAlias, uniformity, assumed, log);
  yield* runs.runHints(hintsOf(tried));
  const isOpen = runs.races.size === 0;
  const unrun: CheapTrial = isOpen ? yield* tryRun(facts, tried, log) : tried;
  // A run that decides all pairs shows who synchronises at each barrier.
  if (unrun !== tried) facts = { ...facts, named: { ...facts.named, problem: null } };
  const left: CheapTrial = isOpen ? tryExecutions(facts, unrun, memory.mayAlias, assumed, log) : unrun;
  const noRace: RaceFreeMemory = neededRaceFreedom(facts, uniformity.block, barriers.provedBranches, barriers.warps.uniformity);
  const needsNoRace = noRace === 'all' || noRace.size > 0;
  const isRaceAllThatIsOpen =
    cut === null && faults.reason === null && faults.findings.every(({ confirmed }) => !confirmed) && reachesAll(barriers, runs);
  function* proveFirst(among: ReadonlySet<AccessPair>): Steps<CheckResult | null> {
    if (!provedFirst || !isRaceAllThatIsOpen || runs.races.size > 0) return null;
    return yield* provedFirst(facts, undecided(among, needsNoRace));
  }
  const races = yield* querySolver(facts, left, uniformity, tiers, runs, assumed, log, proveFirst);
  if ('proved' in races) return races.proved;
  // If pairs are missing, nothing is proved, so vacuity need not be excluded.
  const { unreachable, off }: Reachability = cut ? allReached : yield* reachabilityOf(facts, uniformity.grid, tiers, assumed);

  // Verdict: divergence-check, race-result; witness/smallest-scenario replays their witnesses.
  if (readsUniformly(facts, uniformity.block)) assumed.add('stable-memory', stableMemory);
  const racing = races.open.filter(({ pair: { first, second } }) => isOfMemory(first, noRace) || isOfMemory(second, noRace));
  const isStable = !needsNoRace || (racing.length === 0 && cut === null);
  const ofMemory = assumedOfMemory(facts, uniformity.block, needsNoRace ? memory.disjoint : null);
  for (const { kind, text } of assumedOfCalls(facts)) assumed.add(kind, text);
  const rests: readonly Assumption[] = [...assumed.list(), ...ofMemory];
  const divergence: DivergenceResult = yield* divergenceResult(facts, runs, barriers, isStable, rests);
  const state = { ...races, disjoint: memory.disjoint, cut, faults };
  const race: RaceResult = yield* raceResult(facts, runs, state, divergence.verdict, unreachable, assumed);
  return {
    race: request.checks.race ? race : { verdict: 'skipped', findings: [] },
    divergence: request.checks.divergence ? divergence : { verdict: 'skipped', findings: [] },
    open: openObligations(facts, races, barriers, reasonBeside(facts, state, unreachable, assumed)),
    ...(off.length > 0 && { switchedOff: off.map(({ instruction }) => placeOf(facts.kernel, instruction)) }),
    ...(log && { certificates: log.certificates }),
  };
}

/** Whether all threads were proved to reach each barrier. */
function reachesAll({ open, earlyExits, warps }: DivergenceState, { undefinedReads }: Confirmation): boolean {
  return open.length === 0 && earlyExits.length === 0 && warps.split === null && undefinedReads.size === 0;
}

/** The result as it is before runs: some of these pairs are open, and with them, possibly, which threads reach barriers. */
function undecided(pairs: ReadonlySet<AccessPair>, needsNoRace: boolean): CheckResult {
  const reason: Reason = { kind: 'not-reproduced' };
  const races = [...pairs].map(({ scope, first, second }) => ({
    scope,
    first: first.instruction.id,
    second: second.instruction.id,
    reason,
  }));
  return {
    race: { verdict: 'possible', reason, findings: [] },
    divergence: needsNoRace ? { verdict: 'possible', reason, findings: [] } : { verdict: 'proved', assumptions: [], findings: [] },
    open: { ...nothingOpen, races },
  };
}

/** Why the list of pairs is incomplete; null if it is complete. */
function cutBy({ kernel }: KernelAndLaunch, { truncated }: KernelIntervals, isCut: boolean): Reason | null {
  if (truncated) return kernel.loops.length > 0 ? { kind: 'many-rounds' } : { kind: 'too-large' };
  return isCut ? { kind: 'many-pairs' } : null;
}

/** Whether the request only asks if the assumptions are contradictory. */
function isIdle({ checks }: CheckRequest): boolean {
  return !checks.race && !checks.divergence;
}

const skipped: CheckResult = {
  race: { verdict: 'skipped', findings: [] },
  divergence: { verdict: 'skipped', findings: [] },
  open: nothingOpen,
};

/** Uniformity given the branches that have been proved uniform. */
function uniformityBehind(facts: KernelAndLaunch & SymbolicFacts, { provedBranches }: DivergenceState): Scoped<UniformityResult> {
  const { kernel, dependences, loaded } = facts;
  return {
    block: uniformityOf(facts, provedBranches),
    grid: inferUniformity(kernel, dependences, loaded, new Set(), 'grid'),
  };
}

/** Whether the assumptions are contradictory: no execution satisfies all of them. */
function* excludeEachOther(facts: KernelContext, uniformity: UniformityResult, tiers: SolverTiers): Steps<boolean> {
  const { assumptions } = facts.request;
  if (hasEmptyRange(assumptions)) return true;
  if (conditionsOf(assumptions).length === 0 || chooseScalars(facts)) return false;
  if ((yield* tiers.linear('grid', uniformity).tier.decide('true')).kind === 'proved') return true;
  return (yield* tiers.bits('grid', uniformity).decide('true')).kind === 'proved';
}

function openObligations(context: KernelContext, { open }: RaceState, divergence: DivergenceState, beside: Reason | null): OpenObligations {
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
    warps: [...(divergence.warps.split?.conditions.keys() ?? [])],
    beside,
  };
}

/** Why no device can execute the launch; null if some device may. */
function refusal({ kernel, launch }: CheckRequest): Reason | null {
  const sharedBytes = refusedSharedBytes(kernel, launch);
  return sharedBytes === null ? null : { kind: 'refused', sharedBytes, most: maximumSharedBytes };
}

function contradiction(request: CheckRequest): CheckResult {
  const reason: Reason = { kind: 'contradiction', assumptions: request.assumptions.map(({ text }) => text) };
  return {
    race: { verdict: 'unknown', reason, findings: [] },
    divergence: { verdict: 'unknown', reason, findings: [] },
    contradiction: true,
    open: nothingOpen,
  };
}
