/** Barrier divergence of one kernel: decides the obligations and creates the findings. */
import type { AssumedFacts } from './context/assumed-facts.ts';
import type { CertificateLog } from './certifying/certificate-log.ts';
import { unprovable } from './context/unprovable.ts';
import { loopAround } from './advice/missing-lanes.ts';
import { describeTerm, placeOf } from './context/names.ts';
import type { KernelContext, KernelAndLaunch, SymbolicFacts } from './context/facts.ts';
import { enumerateBranch } from './deciding/enumerate-branch.ts';
import type { DivergenceEvent } from '../interpreter/core/run-result.ts';
import { isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import { type UniformityResult, inferUniformity } from '../analysis/values/uniformity.ts';
import type { Departure } from '../cuda/reading/early-return.ts';
import { type FindingSubject, fingerprintOf } from '../verdict/fingerprint.ts';
import { capRemainingEffort } from './request/check-budget.ts';
import { settled, type Steps } from '../base/coroutine.ts';
import type { BlockId, Instruction, InstructionId, Kernel, Operand } from '../ir/form/kernel.ts';
import type { Location } from '../source/location.ts';
import {
  type DivergenceObligation,
  blocksMayPart,
  divergenceObligations,
  mayReturnBefore,
  isClusterBarrier,
} from './obligations/barrier-divergence.ts';
import { computesWithBits } from './deciding/bit-vector-encoding.ts';
import { factOfCondition } from './witness/deciding-fact.ts';
import { Instances } from './obligations/instance.ts';
import { chosenLaunch, divergenceInterleaving } from './witness/interleaving.ts';
import { recordedDivergence } from './witness/recording.ts';
import type { SolverTiers } from './deciding/solver-tiers.ts';
import { decidingConditions, isGiven, standingOf, unconfirmed, weaker } from './witness/origin.ts';
import { type Scenario, type Shown, describeWitness } from './witness/replay.ts';
import { type Confirmation, barrierKey } from './witness/scenarios.ts';
import { warpFindings } from './warp-findings.ts';
import { type WarpState, decideWarps, uniformityOf } from './warp-check.ts';
import type { DecidingFact } from '../verdict/deciding-fact.ts';
import type { Assumption, DivergenceFinding, DivergenceResult } from '../verdict/finding.ts';
import type { Reason } from '../verdict/reason.ts';

interface OpenBranch {
  readonly obligation: DivergenceObligation;
  readonly reason: Reason;
  /** Whether the obligation is undecided for lack of budget. */
  readonly budget: boolean;
}

export interface DivergenceState {
  /** Branches that were proved uniform only by a solver or by enumeration of all threads. */
  readonly provedBranches: ReadonlySet<BlockId>;
  readonly open: readonly OpenBranch[];
  readonly earlyExits: readonly DivergenceObligation[];
  readonly warps: WarpState;
}

/** Decides every obligation, and executes those that the tiers leave open. */
export function* decideBarriers(
  context: KernelContext,
  uniformity: UniformityResult,
  tiers: SolverTiers,
  confirmation: Confirmation,
  assumed: AssumedFacts,
  log: CertificateLog | null,
): Steps<DivergenceState> {
  const { dependences } = context;
  const provedBranches = new Set<BlockId>();
  const open: OpenBranch[] = [];
  const earlyExits: DivergenceObligation[] = [];
  const decided = new Map<BlockId, 'proved' | Omit<OpenBranch, 'obligation'>>();
  for (const obligation of divergenceObligations(context.symbolic, dependences, uniformity, context.isBlockBarrier)) {
    let result = decided.get(obligation.branch);
    if (!result) {
      result = yield* decideBranch(context, tiers, confirmation, obligation, uniformity, assumed, log);
      decided.set(obligation.branch, result);
    }
    if (result === 'proved') provedBranches.add(obligation.branch);
    else if (!obligation.earlyExit) open.push({ obligation, ...result });
    else {
      const departure = yield* departureOf(context, uniformity, obligation);
      if (departure === 'returned') earlyExits.push(obligation);
      else open.push({ obligation: { ...obligation, earlyExit: false, passedBy: departure === 'passed' }, ...result });
    }
  }
  const parted = checkBlocks(context);
  if (parted) open.push(parted);
  if (open.length > 0) capRemainingEffort(context.request);
  const suspects = [...open.map(({ obligation }) => obligation), ...earlyExits];
  for (const suspect of suspects) yield* confirmation.runBarrier(suspect, null, null);
  return { provedBranches, open, earlyExits, warps: yield* decideWarps(context, provedBranches, tiers, confirmation, assumed, log) };
}

/**
 * Barriers that exiting threads bypass according to the source, although in the PTX these threads look as if they had
 * returned. Queries `request.departure` and decides no obligation.
 */
export function* barriersPassedBy(context: KernelContext): Steps<ReadonlySet<InstructionId>> {
  const { symbolic, dependences, isBlockBarrier } = context;
  const uniformity = uniformityOf(context, new Set());
  const [passed, left] = [new Set<InstructionId>(), new Set<InstructionId>()];
  for (const obligation of divergenceObligations(symbolic, dependences, uniformity, isBlockBarrier)) {
    if (!obligation.earlyExit) continue;
    const departure = yield* departureOf(context, uniformity, obligation);
    (departure === 'passed' ? passed : left).add(obligation.barrier.id);
  }
  return new Set([...passed].filter((barrier) => !left.has(barrier)));
}

/**
 * How the threads that miss the barrier leave, according to the source. Without a source they are assumed to return.
 */
function* departureOf(
  { request, kernel }: KernelContext,
  uniformity: UniformityResult,
  obligation: DivergenceObligation,
): Steps<Departure> {
  const { terminator } = kernel.blocks[obligation.branch]!;
  const barrier = obligation.barrier.location;
  if ((terminator.kind !== 'branch' && terminator.kind !== 'switch') || !barrier) return 'returned';
  const condition = terminator.kind === 'branch' ? terminator.condition : terminator.index;
  const places = decidingPlaces(kernel, uniformity, condition, 4);
  const deciding = places.length > 0 || !terminator.location ? places : [terminator.location];
  if (deciding.length === 0) return 'returned';
  const { departure } = request;
  return (departure && (yield* settled(() => departure(deciding, barrier, terminator.location)))) ?? 'returned';
}

/**
 * Source locations at which the varying parts of a condition are computed, since compilers merge the conditions of
 * several statements.
 */
function decidingPlaces(kernel: Kernel, uniformity: UniformityResult, operand: Operand, depth: number): Location[] {
  if (operand.kind !== 'value' || depth === 0 || uniformity.value(operand.id) !== 'varying') return [];
  const { definition, type } = kernel.values[operand.id]!;
  if (definition.kind !== 'instruction' || type !== 'predicate') return [];
  const { location, arguments: sources } = definition.instruction;
  const parts = sources.flatMap((source) => decidingPlaces(kernel, uniformity, source, depth - 1));
  return parts.length > 0 ? parts : location ? [location] : [];
}

/**
 * The first branch that may keep blocks from a barrier of the grid, which needs all blocks. No tier decides whether the
 * condition of such a branch really differs between blocks.
 */
function checkBlocks(context: KernelAndLaunch & SymbolicFacts): OpenBranch | null {
  const { kernel, symbolic, loaded, dimensions, dependences } = context;
  if (dimensions.grid.every((size) => size === 1)) return null;
  const uniformity = inferUniformity(kernel, dependences, loaded, new Set(), 'grid');
  const parted = blocksMayPart(symbolic, dependences, uniformity);
  if (!parted) return null;
  const condition = symbolic.condition(parted.branch) ?? symbolic.store.true;
  const obligation: DivergenceObligation = { ...parted, condition, earlyExit: false, conditions: [] };
  const reason: Reason = { kind: 'condition', condition: describeTerm(context, condition), among: 'grid' };
  return { obligation, reason, budget: false };
}

function* decideBranch(
  context: KernelAndLaunch & SymbolicFacts,
  tiers: SolverTiers,
  confirmation: Confirmation,
  obligation: DivergenceObligation,
  uniformity: UniformityResult,
  assumed: AssumedFacts,
  log: CertificateLog | null,
): Steps<'proved' | Omit<OpenBranch, 'obligation'>> {
  const { symbolic, dimensions, request } = context;
  const instances = new Instances(symbolic, uniformity, 'block');
  const { evaluations } = request.budget;
  const tried = enumerateBranch({ symbolic, instances, dimensions, evaluations }, obligation, 'block');
  if (tried.kind === 'uniform') {
    log?.addDivergence(obligation.barrier, 'enumeration', null);
    return 'proved';
  }
  const reason: Reason = { kind: 'condition', condition: describeTerm(context, obligation.condition), among: 'block' };
  if (tried.kind === 'varying') {
    yield* confirmation.runBarrier(obligation, null, [tried.block]);
    return { reason, budget: false };
  }
  if (obligation.conditions.length === 0) return { reason, budget: false };
  if (request.budget.expired()) return { reason: { kind: 'out-of-time' }, budget: true };
  const { tier, encoding } = tiers.linear('block', uniformity);
  let result = yield* tier.decide(encoding.together(obligation.conditions));
  let by: 'linear' | 'bit-vectors' = 'linear';
  if (result.kind !== 'proved' && obligation.conditions.some(({ term }) => computesWithBits(term))) {
    const bits = tiers.bits('block', uniformity);
    const exact = yield* bits.decide(bits.encoding.together(obligation.conditions));
    if (exact.kind !== 'budget') [result, by] = [exact, 'bit-vectors'];
  }
  if (result.kind === 'proved') {
    log?.addSolvedDivergence(obligation.barrier, by, result.asked);
    assumed.addNoWrap(result.assumes);
    return 'proved';
  }
  if (result.kind === 'budget') return { reason: result.reason, budget: true };
  yield* confirmation.runBarrier(obligation, result.model, null);
  return { reason, budget: false };
}

/**
 * The verdict with its findings.
 * @param isStable the uniformity of branches that decide about barriers does not depend on the absence of races, or no
 *   accesses race
 * @param assumptions the assumptions of a proof
 */
export function* divergenceResult(
  context: KernelContext,
  confirmation: Confirmation,
  state: DivergenceState,
  isStable: boolean,
  assumptions: readonly Assumption[],
): Steps<DivergenceResult> {
  const findings = new Map<string, DivergenceFinding>();
  function* add(obligation: DivergenceObligation, kind: 'divergent' | 'early-exit'): Steps<void> {
    const { file, line } = placeOf(context.kernel, obligation.barrier);
    const key = `${file}:${line}:${kind}`;
    if (findings.get(key)?.confirmed) return;
    const shown = shownBy(context, confirmation, state, obligation, kind);
    const scope = isGridBarrier(obligation.barrier) ? 'grid' : 'block';
    if (shown) yield* confirmation.barrierAtLargeSettings(shown, scope);
    const smallest = shown && (yield* confirmation.smallestDivergence(shown, scope));
    const finding = describeFinding(context, confirmation, obligation, kind, smallest);
    findings.set(key, smallest ? yield* withRecording(context, smallest.scenario, finding) : finding);
  }
  for (const { obligation } of state.open) yield* add(obligation, 'divergent');
  for (const obligation of state.earlyExits) yield* add(obligation, 'early-exit');
  const list = [...findings.values(), ...(yield* warpFindings(context, confirmation, state.warps))];
  const isShown = list.some(({ kind, confirmed }) => confirmed && /^(divergent|missing-lanes|outside-mask)$/.test(kind));
  if (isShown) return { verdict: 'divergent', assumptions, findings: list };
  const weak = unprovable(context);
  if (weak) return { verdict: 'unknown', reason: weak, findings: list };
  const budget = state.open.find((entry) => entry.budget);
  if (budget) {
    const wouldDecide = factOfBarrier(context, confirmation, budget.obligation);
    return { verdict: 'unknown', reason: budget.reason, wouldDecide, findings: list };
  }
  const reason: Reason | null =
    state.open[0]?.reason ??
    state.warps.split?.reason ??
    unmodelledReason(context) ??
    (lockedBarriers(context).length > 0 ? { kind: 'locked-barrier' } : null) ??
    (isStable ? null : { kind: 'racy-barrier' });
  if (reason !== null) {
    const wouldDecide = decidingFact(context, confirmation, state, reason);
    return { verdict: 'possible', reason, ...(wouldDecide && { wouldDecide }), findings: list };
  }
  return { verdict: 'proved', assumptions, findings: list };
}

function decidingFact(
  context: KernelContext,
  confirmation: Confirmation,
  { open, warps }: DivergenceState,
  reason: Reason,
): DecidingFact | undefined {
  if (open[0]) return factOfBarrier(context, confirmation, open[0].obligation);
  if (reason.kind === 'racy-barrier') return { question: { kind: 'races' } };
  return reason === warps.split?.reason ? { question: { kind: 'warp-agreement' } } : undefined;
}

function factOfBarrier(
  context: KernelContext,
  { barriers, exits }: Confirmation,
  { barrier, condition }: DivergenceObligation,
): DecidingFact {
  if (exits.has(barrier.id)) return { question: { kind: 'departure' } };
  // A run that got stuck at a barrier shows nothing about later barriers.
  if (barriers.size > 0) return { question: { kind: 'divergence', isShown: true } };
  return factOfCondition(context, condition);
}

/**
 * Barriers in a critical section. The lock admits one thread at a time, and that thread would wait at the barrier for
 * threads that wait for the lock.
 */
export function lockedBarriers({ kernel, synchronisation, isBlockBarrier, dimensions: { block, grid } }: KernelContext): Instruction[] {
  const isAlone = (sizes: readonly (number | null)[]): boolean => sizes.every((size) => size === 1);
  return kernel.blocks
    .flatMap(({ instructions }) => instructions)
    .filter(
      (instruction) =>
        synchronisation.some(({ held }) => held.has(instruction)) &&
        isBlockBarrier(instruction) &&
        !(isAlone(block) && (isAlone(grid) || !isGridBarrier(instruction))),
    );
}

function unmodelledReason({ kernel, inMemory, named }: KernelContext): Reason | null {
  const problem = inMemory.problem ?? named.problem;
  if (problem !== null) return { kind: 'unmodelled-barrier', problem };
  const areOfClusters = kernel.blocks.some(({ instructions }) => instructions.some(isClusterBarrier));
  return areOfClusters ? { kind: 'cluster-barrier' } : null;
}

/** The run that refutes an obligation. Threads that have exited refute it only if they cannot have returned. */
function shownBy(
  { kernel, dependences, isBlockBarrier }: KernelContext,
  { barriers, exits }: Confirmation,
  { earlyExits }: DivergenceState,
  { barrier, passedBy }: DivergenceObligation,
  kind: 'divergent' | 'early-exit',
): Shown<DivergenceEvent> | undefined {
  const exit = exits.get(barrier.id);
  if (kind === 'early-exit') return exit;
  const mayHaveReturned =
    earlyExits.some((other) => other.barrier === barrier) ||
    (passedBy !== true && mayReturnBefore(kernel, dependences, barrier, isBlockBarrier));
  return barriers.get(barrier.id) ?? (mayHaveReturned ? undefined : exit);
}

/** A confirmed divergence finding, with the recorded steps of its threads in the run that showed it. */
function* withRecording(context: KernelContext, scenario: Scenario, finding: DivergenceFinding): Steps<DivergenceFinding> {
  const { interleaving } = finding;
  const recording = interleaving && (yield* recordedDivergence(context, scenario, interleaving.threads));
  return interleaving && recording ? { ...finding, interleaving: { ...interleaving, recording } } : finding;
}

function describeFinding(
  context: KernelContext,
  confirmation: Confirmation,
  obligation: DivergenceObligation,
  kind: 'divergent' | 'early-exit',
  shown: Shown<DivergenceEvent> | undefined,
): DivergenceFinding {
  const { request, kernel, fields } = context;
  const condition = describeTerm(context, obligation.condition);
  const code = kind === 'early-exit' ? 'barrier/early-exit' : 'barrier/divergent';
  const terms = [obligation.condition, ...obligation.conditions.map(({ term }) => term)];
  const home = kernel.blocks.find(({ instructions }) => instructions.includes(obligation.barrier))!.id;
  const deciding = [...terms, ...decidingConditions(context, [home], terms)];
  const origin = isGiven(context, deciding) ? 'given' : 'chosen';
  const standing = shown && origin === 'chosen' ? standingOf(context, confirmation, [barrierKey(shown.event)], deciding) : null;
  const interleaving = shown && divergenceInterleaving(context, shown.event, shown.scenario);
  const chosen = shown && origin === 'chosen' ? chosenLaunch(context, shown.scenario) : undefined;
  const loop = kind === 'divergent' ? loopAround(context, home, 'block') : null;
  const { divergence, earlyExit } = request.policy;
  const subject: FindingSubject = [code, condition, String(barrierOrdinal(context, obligation.barrier))];
  return {
    code,
    severity: !shown
      ? unconfirmed(kind === 'early-exit' ? earlyExit : divergence)
      : kind === 'early-exit'
        ? earlyExit
        : standing?.isEverywhere === false
          ? weaker(divergence)
          : divergence,
    fingerprint: fingerprintOf(request.identity, subject),
    ...(!shown && { subject }),
    kind,
    barrier: placeOf(kernel, obligation.barrier),
    condition,
    confirmed: shown !== undefined,
    ...(shown && {
      witness: describeWitness(kernel, request.name, request.parameters, fields, request.launch, shown.scenario),
      witnessOrigin: origin,
    }),
    ...(standing?.when !== undefined && { when: standing.when }),
    ...(loop && { loop }),
    ...(interleaving ? { interleaving } : { wouldDecide: factOfBarrier(context, confirmation, obligation) }),
    among: isGridBarrier(obligation.barrier) ? 'grid' : 'block',
    ...(chosen && { chosen }),
  };
}

/** Ordinal of the barrier in the kernel. Fingerprints use it because it does not change if lines are moved. */
function barrierOrdinal({ kernel }: KernelContext, barrier: Instruction): number {
  const barriers = kernel.blocks.flatMap(({ instructions }) =>
    instructions.filter(({ operation }) => /^((grid-)?barrier|mbarrier)$/.test(operation.effect.kind)),
  );
  return barriers.indexOf(barrier);
}
