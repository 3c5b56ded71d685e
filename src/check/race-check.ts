/** Data races of one kernel: decides the pairs of accesses, cheapest tier first. */
import { stableMemory } from './stable-memory.ts';
import type { AssumedFacts } from './context/assumed-facts.ts';
import { baseName } from './context/names.ts';
import type { KernelContext, KernelAndLaunch, SymbolicFacts, OrderingFacts, ElementFacts } from './context/facts.ts';
import type { OpenPair } from './obligations/obligation.ts';
import type { Instruction, MemoryObject } from '../ir/form/kernel.ts';
import { isOfLaunch } from '../analysis/values/leader.ts';
import { type Access, constantReads } from '../analysis/values/access.ts';
import type { DeclaredAs, Target } from '../analysis/values/memory-base.ts';
import type { UniformityResult } from '../analysis/values/uniformity.ts';
import { isSpent, capRemainingEffort } from './request/check-budget.ts';
import type { Steps } from '../base/coroutine.ts';
import { warpSize } from '../device/hardware-limits.ts';
import type { RaceEvent } from '../interpreter/core/run-result.ts';
import { maxUnsettled } from '../solver/limits.ts';
import type { Term } from '../term/term.ts';
import type { Reason } from '../verdict/reason.ts';
import { holdsBits } from './deciding/bit-vector-encoding.ts';
import type { CertificateLog } from './certifying/certificate-log.ts';
import { isWritten, startOf } from './context/kernel-facts.ts';
import { declarationOf } from './context/scalars.ts';
import { isSame } from '../assumptions/parts.ts';
import type { StatedAssumption } from '../launch/parameter-source.ts';
import { aliasing } from './context/aliasing.ts';
import { provedByExecutions } from './executions/small-launch.ts';
import type { Hit } from './deciding/enumerate.ts';
import { meetsInWarp, staysInWarp, storesEqually, storesSameValue } from './equal-writes.ts';
import { Instances, type PairScope, type TierContext, type Scoped } from './obligations/instance.ts';
import { type Order, orderBetween } from './ordering/order.ts';
import { addedBy } from './ordering/synchronising-access.ts';
import type { Synchronisation } from './ordering/pattern.ts';
import { usualContents } from './deciding/held-contents.ts';
import type { LinearEncoding } from './deciding/linear-encoding.ts';
import type { SolverTiers } from './deciding/solver-tiers.ts';
import { type AccessPair, type AccessSide, type MayAlias, type Obligation, mayTouch, questionOf } from './obligations/obligation.ts';
import { isFlagWait, isSetByOne } from './ordering/synchronisation-idioms.ts';
import { arraysOfParts, ascendingArrays } from './representative/assumed-contents.ts';
import type { LaunchInstance } from './representative/representative-launches.ts';
import { type CheapResult, decideCheaply } from './deciding/cheap-tiers.ts';
import { comparedSizes } from './context/named-term.ts';
import { refutedBySizes } from './radix/size-digits.ts';
import { KeptTouches, type OverlapEffort } from './witness/lanes-of-access.ts';
import { type OverlapInLaunch, overlapsIn } from './witness/overlap.ts';
import type { Shown } from './witness/replay.ts';
import { isDecidedByRun } from './witness/deciding-run.ts';
import { type Confirmation, pairKey } from './witness/scenarios.ts';
import type { CheckResult } from './request/check-request.ts';

/** The effort for overlaps in launches that are to be run, for all pairs of a kernel. */
const effortOfRuns = 2_000_000;

export interface RaceState {
  readonly open: readonly OpenPair[];
  /** Whether two threads of a block overlap in a pair only within one warp. */
  readonly staysInWarp: (pair: AccessPair) => boolean;
  /** Whether two threads overlap in a launch, as {@link overlapsIn}. */
  readonly overlapsIn: (pair: AccessPair, launch: LaunchInstance, effort: OverlapEffort) => OverlapInLaunch;
}

/** An obligation that the cheap tiers left open. */
interface Waiting {
  readonly pair: AccessPair;
  readonly obligation: Obligation;
  readonly hits: readonly Hit[];
  /** Whether the hits occur for all values of the unknowns. */
  readonly exact: boolean;
  /** The order of the accesses under the condition that two flags are the same; null if none exists. */
  readonly order: Order | null;
}

/** The obligations and pairs that the tiers without a solver left undecided. */
export interface CheapTrial {
  /** Undecided obligations, in the order of the pairs. */
  readonly waiting: readonly Waiting[];
  /** Pairs of which it is unknown whether they access the same memory. */
  readonly unresolved: readonly OpenPair[];
  /** Pairs whose two sides are not syntactically known to store equal values. */
  readonly different: Set<AccessPair>;
  /** Releases and acquires that order some pair for all values of the unknowns. */
  readonly rests: ReadonlySet<Synchronisation>;
  /** The context in which the obligations of each scope are decided. */
  readonly contexts: Scoped<TierContext>;
}

/** Decides every pair by orders other than barriers, then by the tiers without a solver. */
export function tryCheaply(
  facts: KernelAndLaunch & SymbolicFacts & OrderingFacts,
  pairs: readonly AccessPair[],
  mayAlias: MayAlias,
  uniformity: Scoped<UniformityResult>,
  assumed: AssumedFacts,
  log: CertificateLog | null,
): CheapTrial {
  const { request, symbolic, accesses, dimensions, synchronisation } = facts;
  const stated = comparedSizes(facts);
  const tierContext = (scope: PairScope): TierContext => ({
    symbolic,
    instances: new Instances(symbolic, uniformity[scope], scope),
    dimensions,
    evaluations: request.budget.evaluations,
    stated,
  });
  const contexts = { block: tierContext('block'), grid: tierContext('grid') };
  const answers = new Map<string, CheapResult>();
  const rests = new Set<Synchronisation>();
  const waiting: Waiting[] = [];
  const unresolved: OpenPair[] = [];
  const different = new Set<AccessPair>();
  const mayBeSame = mayTouch(mayAlias);
  /**
   * Whether a pair is a thread that waits for a flag that only one thread sets, according to the pairs of the flag's
   * writers.
   */
  const isRecognised = (pair: AccessPair): boolean => {
    const left = [...waiting, ...unresolved].map((other) => other.pair);
    return isSetByOne(symbolic, accesses, dimensions, pair, mayBeSame, left);
  };
  const waits = new Set(pairs.filter((pair) => pair.conflict === 'volatile' && isFlagWait(symbolic, pair)));
  for (const pair of [...pairs.filter((one) => !waits.has(one)), ...waits]) {
    if (waits.has(pair) && isRecognised(pair)) continue;
    if (pair.obligations.some((obligation) => !obligation.resolved)) {
      unresolved.push({
        pair,
        reason: unresolvedReason(pair),
        budget: false,
        sameValue: false,
        elements: null,
        unasked: false,
      });
      continue;
    }
    for (const obligation of pair.obligations) {
      // An order of two threads does not order accesses through two different proxies.
      const order = pair.lacks ? null : orderBetween(synchronisation, pair.scope, obligation.first.access, obligation.second.access);
      if (order?.kind === 'always') {
        rests.add(order.by);
        log?.addRace(obligation, 'order', null);
        continue;
      }
      // Unrolled code asks the same questions repeatedly, so answers are cached.
      const question = questionOf(obligation);
      const result = answers.get(question) ?? decideCheaply(contexts[pair.scope], obligation);
      answers.set(question, result);
      if (result.kind === 'proved') {
        assumed.addNoWrap(result.assumes);
        log?.addCheap(contexts[pair.scope], obligation, result);
      } else {
        // Overlapping threads may be ordered, so a run with overlapping threads would not show a race. Those under locks may
        // hold different ones.
        if (order?.by.kind === 'lock') waiting.push({ pair, obligation, hits: result.hits, exact: false, order });
        else if (order) waiting.push({ pair, obligation, hits: [], exact: false, order });
        else waiting.push({ pair, obligation, hits: result.hits, exact: result.exact, order });
        if (!storesSameValue(facts, contexts[pair.scope], obligation)) different.add(pair);
      }
    }
  }
  return { waiting, unresolved, different, rests, contexts };
}

/** Pairs and obligations that remain undecided; none if no execution of a small launch has a race. */
export function tryExecutions(
  facts: KernelContext,
  tried: CheapTrial,
  mayAlias: MayAlias,
  assumed: AssumedFacts,
  log: CertificateLog | null,
): CheapTrial {
  const pairs = [...tried.waiting, ...tried.unresolved].map(({ pair }) => pair);
  if (pairs.length === 0) return tried;
  const { request } = facts;
  // The aliasing analysis is separate, so that a proof lists only the assumptions that it uses.
  const proof = provedByExecutions(facts, pairs, aliasing(facts).mayAlias, (base) => startOf(request, base) !== 'no');
  if (!proof) return tried;
  for (const a of proof.disjoint) for (const b of proof.disjoint) if (a.key !== b.key) mayAlias(a, b);
  for (const base of proof.zero) if (startOf(request, base) === 'assumed') assumed.addZero(base, false);
  for (const { obligation } of tried.waiting) log?.addRace(obligation, 'executions', null);
  return { ...tried, waiting: [], unresolved: [] };
}

/** Obligations that one run of the launch leaves undecided; none if the run shows that no pair races. */
export function* tryRun(context: KernelContext, tried: CheapTrial, log: CertificateLog | null): Steps<CheapTrial> {
  const { waiting, unresolved } = tried;
  if (waiting.length === 0 || unresolved.length > 0) return tried;
  const isDecided = yield* isDecidedByRun(context, [...new Set(waiting.map(({ pair }) => pair))]);
  if (!isDecided) return tried;
  for (const { obligation } of waiting) log?.addRace(obligation, 'executions', null);
  return { ...tried, waiting: [] };
}

/** Pairs to run first, since pairs confirmed by a run need no solver. */
export function hintsOf({ waiting }: CheapTrial): { pair: AccessPair; hits: readonly Hit[]; model: null }[] {
  return waiting.filter(({ hits }) => hits.length > 0).map(({ pair, hits }) => ({ pair, hits, model: null }));
}

/** A kernel that was proved under preconditions before any run for its open pairs. */
interface ProvedBeforeRuns {
  readonly proved: CheckResult;
}

/**
 * Queries the solver for undecided pairs, and runs the scenarios that its models suggest.
 * @param proveFirst tries to prove the kernel under preconditions before the first such run; given are the pairs that may be
 *   open. Null if it does not succeed.
 */
export function* querySolver(
  context: KernelContext,
  { waiting, unresolved, different, rests, contexts }: CheapTrial,
  uniformity: Scoped<UniformityResult>,
  tiers: SolverTiers,
  confirmation: Confirmation,
  assumed: AssumedFacts,
  log: CertificateLog | null,
  proveFirst: (pairs: ReadonlySet<AccessPair>) => Steps<CheckResult | null>,
): Steps<RaceState | ProvedBeforeRuns> {
  const { request } = context;
  const open = new Map(unresolved.map((entry) => [pairKey(entry.pair), entry]));
  /** Pairs whose two threads store a value loaded from one element of shared memory, with these loads. */
  const ofElement = new Map<AccessPair, ReadonlySet<Instruction>>();
  const leave = (pair: AccessPair, reason: Reason, budget: boolean, sameValue: boolean, unasked = false): void => {
    if (!sameValue) capRemainingEffort(request);
    const known = open.get(pairKey(pair));
    if (!known || (budget && !known.budget) || (known.unasked === true && !unasked))
      open.set(pairKey(pair), { pair, reason, budget, sameValue, elements: ofElement.get(pair) ?? null, unasked });
  };
  if (open.size > 0) capRemainingEffort(request);
  const orders = new Set(rests);
  let unsettled = 0;
  /** Pairs whose overlapping threads may store different values. */
  const unequal = new Set<AccessPair>();
  /** Pairs whose overlapping threads are always in one warp, according to the solver. */
  const ofWarp = new Set<AccessPair>();
  function* storeEqually(pair: AccessPair): Steps<boolean> {
    const isEqual = !different.has(pair) || (yield* areShownEqual(pair));
    const shown = confirmation.races.get(pairKey(pair));
    const isOneStore = isEqual && pair.first === pair.second && (!shown || areOfOneWarp(shown));
    if (pair.scope === 'block' && !ofWarp.has(pair) && (isOneStore || (shown && areOfOneWarp(shown) && !request.budget.expired()))) {
      const rests: Term[] = [];
      let isOfWarp = true;
      for (const { obligation } of waiting.filter((one) => one.pair === pair)) {
        const assumes = yield* meetsInWarp(obligation, tiers.linear(pair.scope, uniformity[pair.scope]));
        if (!assumes) isOfWarp = false;
        else rests.push(...assumes);
      }
      if (isOfWarp) {
        ofWarp.add(pair);
        // For a race that a run has shown, this decides only between remedies.
        if (isOneStore) assumed.addNoWrap(rests);
      }
    }
    return isEqual;
  }
  function* areShownEqual(pair: AccessPair): Steps<boolean> {
    if (unequal.has(pair) || request.budget.expired()) return false;
    const linear = tiers.linear(pair.scope, uniformity[pair.scope]);
    for (const { pair: other, obligation } of waiting)
      if (other === pair && !(yield* storesEqually(context, contexts[pair.scope], obligation, linear))) unequal.add(pair);
    if (!unequal.has(pair)) different.delete(pair);
    else yield* findElements(pair, linear);
    return !unequal.has(pair);
  }
  function* findElements(pair: AccessPair, linear: ReturnType<SolverTiers['linear']>): Steps<void> {
    const loads = new Set<Instruction>();
    for (const { pair: other, obligation } of waiting)
      if (other === pair && !(yield* storesEqually(context, contexts[pair.scope], obligation, linear, loads))) return;
    ofElement.set(pair, loads);
  }
  const inLaunch: RaceState['overlapsIn'] = (pair, launch, effort) =>
    overlapsIn(context, contexts[pair.scope].instances, pair, launch, effort);
  const effort = { left: request.budget.factor * effortOfRuns, kept: new KeptTouches() };
  let isFirstRun = true;
  for (const [at, { pair, obligation, hits, exact, order }] of waiting.entries()) {
    const why = indexReason(context, obligation);
    if (confirmation.races.has(pairKey(pair)) || exact) {
      leave(pair, why ?? { kind: 'overlap' }, false, yield* storeEqually(pair));
      continue;
    }
    if (request.budget.expired()) {
      leave(pair, { kind: 'out-of-time' }, true, !different.has(pair), true);
      continue;
    }
    // No proof is possible any more, and further queries could only add undecided pairs.
    if (unsettled >= maxUnsettled || (unsettled > 0 && isSpent(request.budget.effort))) {
      leave(pair, why ?? { kind: 'many-pairs' }, false, !different.has(pair), true);
      continue;
    }
    // If positive sizes suffice for a proof, they are tried later as preconditions.
    if (!request.proofOnly && !order && refutedBySizes(contexts[pair.scope], obligation, null)) {
      leave(pair, why ?? { kind: 'not-reproduced' }, false, !different.has(pair), true);
      continue;
    }
    const { tier, encoding } = tiers.linear(pair.scope, uniformity[pair.scope]);
    const overlap = encoding.overlap(obligation);
    const question = order ? `(and ${overlap} ${unordered(encoding, obligation, order)})` : overlap;
    let result = yield* tier.decide(question, encoding.modes);
    let by: 'linear' | 'bit-vectors' = 'linear';
    if (result.kind === 'proved' && result.mode === usualContents) assumed.addContents(encoding.contentsTexts);
    if (result.kind !== 'proved' && holdsBits(obligation)) {
      const bits = tiers.bits(pair.scope, uniformity[pair.scope]);
      // If this tier does not decide the obligation, the answer of the previous tier remains.
      const exact = yield* bits.decideOverlap(obligation);
      if (exact.kind !== 'budget') [result, by] = [exact, 'bit-vectors'];
    }
    if (result.kind === 'proved') {
      log?.addSolvedRace(obligation, by, result.asked);
      if (order) orders.add(order.by);
      assumed.addNoWrap(result.assumes);
      continue;
    }
    unsettled++;
    leave(pair, why ?? result.reason, result.kind === 'budget', yield* storeEqually(pair));
    if (result.kind !== 'open') continue;
    const isOnlyOne = [...open.values()].every((one) => one.pair === pair || one.unasked === true);
    const { sameValue = true, elements = null } = open.get(pairKey(pair)) ?? {};
    // Threads that may store equal values need no precondition, but a run.
    if (isFirstRun && isOnlyOne && !sameValue && elements === null) {
      const proved = yield* proveFirst(new Set(waiting.slice(at).map((one) => one.pair)));
      if (proved) return { proved };
    }
    isFirstRun = false;
    const overlapIn = (launch: LaunchInstance): OverlapInLaunch => (effort.left > 0 ? inLaunch(pair, launch, effort) : { kind: 'unknown' });
    yield* confirmation.runHints([{ pair, hits, model: result.model, overlapIn }]);
  }
  for (const { base, kind, resets, releases, counter, startsAtZero, assumes } of orders) {
    if (counter) assumed.addCounter(counter.targets[0]!.base, counter.bytes);
    // A counter to which all have added, in each launch.
    const isCounted = releases.every((release) => addedBy(context.symbolic, release) !== null && isReachedInEachLaunch(context, release));
    if (startsAtZero) assumed.addZero(base, kind !== 'lock' && kind !== 'flag' && resets.length === 0 && isCounted);
    assumed.addNoWrap(assumes);
  }
  if (contexts.block.instances.sharedLoad) assumed.add('stable-memory', stableMemory);
  return {
    open: [...open.values()],
    overlapsIn: inLaunch,
    staysInWarp: (pair) => ofWarp.has(pair) || pair.obligations.every((obligation) => staysInWarp(contexts.block, obligation)),
  };
}

/** Whether neither a scalar nor the grid decides whether an access is reached. */
function isReachedInEachLaunch({ symbolic }: SymbolicFacts, { block }: Access): boolean {
  return !symbolic.reach(block).leaves.some(({ atom }) => atom?.kind === 'parameter' || atom?.kind === 'grid-size');
}

/** Whether the threads of a race that a run has shown are in one warp. */
function areOfOneWarp({ event: { first, second }, scenario }: Shown<RaceEvent>): boolean {
  const [width, height] = scenario.block;
  const [one, other] = [first, second].map(({ thread: [x, y, z] }) => Math.floor((x + width * (y + height * z)) / warpSize));
  return one === other;
}

/** The formula that the flag that one thread observed is not the flag that the other thread set. */
function unordered(encoding: LinearEncoding, { first, second }: Obligation, order: Order): string {
  if (order.kind === 'always') return 'false';
  const [earlier, later] = order.earlier === 1 ? [first, second] : [second, first];
  return encoding.differ(order.arrived, earlier.reading, order.seen, later.reading);
}

function unresolvedReason(pair: AccessPair): Reason {
  const bases = pair.obligations.flatMap(({ first, second }) => [first.target.base, second.target.base]);
  return { kind: bases.some(({ kind }) => kind === 'unknown') ? 'unknown-pointer' : 'aliased-pointers' };
}

/** Whether an atom is a value that was read from memory. */
function isLoaded({ kernel }: Pick<KernelAndLaunch, 'kernel'>, leaf: Term): boolean {
  if (leaf.atom?.kind !== 'havoc' || leaf.atom.value < 0) return false;
  const { definition } = kernel.values[leaf.atom.value]!;
  return definition.kind === 'instruction' && definition.instruction.operation.effect.kind === 'load';
}

/** How contents of memory affect whether the threads of a pair overlap. */
type Indirection =
  /** Contents have no effect, or some threads overlap for all contents. */
  | 'none'
  /** For other contents the threads would not overlap. Some thread loads from the location in question. */
  | 'loads'
  /** Like `loads`, but threads only store there, so contents without equal elements make the kernel correct. */
  | 'stores';

/**
 * How the addresses of a pair depend on elements that differ between threads.
 * @param confirmation results of runs with contents of all kinds
 */
export function indirectionOf(
  context: KernelAndLaunch & SymbolicFacts & ElementFacts,
  pair: AccessPair,
  confirmation: Pick<Confirmation, 'fewestThreads' | 'racesWithAllContents'>,
): Indirection {
  const sides = pair.obligations.flatMap(({ first, second }) => [first, second]);
  const isOwn = (leaf: Term): boolean => !isInitialised(context, leaf) && isOwnElement(context, pair.scope, leaf);
  const resting = sides.filter(({ target }) => leavesOf(target).some(isOwn));
  if (resting.length === 0) return 'none';
  if (restsOnForeseen(context, pair) && confirmation.racesWithAllContents(pair)) return 'none';
  const hasFewElements = (threads: number): boolean =>
    resting.every(({ target: { base, offset } }) => base.kind !== 'loaded' && elementsOf(context, offset) < threads);
  if (sides.length === resting.length && hasFewElements(confirmation.fewestThreads(pair.scope))) return 'none';
  if (sides.some(({ access }) => access.operation !== 'write')) return 'loads';
  const isLoadedToo = ({ target: { base, offset } }: AccessSide): boolean =>
    context.accesses.some(
      ({ operation, targets }) => operation === 'read' && targets.some((other) => other.base.key === base.key && other.offset === offset),
    );
  return resting.every(isLoadedToo) ? 'loads' : 'stores';
}

/** The atoms that determine the array and the element of an access. */
function leavesOf({ base, offset }: Target): readonly Term[] {
  return base.kind === 'loaded' ? [...base.element.leaves, ...offset.leaves] : offset.leaves;
}

/**
 * Whether the generated contents make the threads of a pair disjoint if any contents can: its addresses depend only on
 * bounds of rows or parts, or on elements with so few values that all values are generated.
 */
export function restsOnForeseen(context: KernelAndLaunch & SymbolicFacts & ElementFacts, pair: AccessPair): boolean {
  const [ascending, parts] = [ascendingArrays(context), arraysOfParts(context)];
  const isKnown = (leaf: Term): boolean => {
    if (isInitialised(context, leaf) || !isOwnElement(context, pair.scope, leaf)) return true;
    const value = leaf.atom?.kind === 'havoc' ? leaf.atom.value : -1;
    const access = loadOf(context, value);
    const { base } = access?.targets[0] ?? {};
    if (!access || base?.kind !== 'parameter' || context.statedValues.has(value)) return false;
    const array = `${base.key}:${access.bytes}`;
    return access.bytes === 1 || ascending.has(array) || parts.has(array);
  };
  const leaves = pair.obligations.flatMap(({ first, second }) => [first, second].flatMap(({ target }) => leavesOf(target)));
  return leaves.some((leaf) => isOwnElement(context, pair.scope, leaf)) && leaves.every(isKnown);
}

/** The load that defines a value; undefined if none exists. */
function loadOf({ kernel, accesses }: KernelAndLaunch & SymbolicFacts, value: number): Access | undefined {
  const definition = value < 0 ? undefined : kernel.values[value]!.definition;
  return accesses.find(({ instruction }) => definition?.kind === 'instruction' && instruction === definition.instruction);
}

/** Whether an atom is loaded from a table with known contents, from an initialiser or the host program. */
function isInitialised({ elements }: ElementFacts, { atom }: Term): boolean {
  const fact = atom?.kind === 'havoc' ? elements.get(atom.value) : undefined;
  return fact?.initialised !== undefined || fact?.isFilled === true;
}

/** The tables whose initialisers determine indices and conditions. */
export function initialisedTables(context: SymbolicFacts & ElementFacts): readonly MemoryObject[] {
  const { accesses, symbolic, elements } = context;
  const terms = accesses.flatMap(({ block, targets }) => [symbolic.reach(block), ...targets.map(({ offset }) => offset)]);
  const tables = terms.flatMap(({ leaves }) =>
    leaves.flatMap(({ atom }) => (atom?.kind === 'havoc' ? (elements.get(atom.value)?.initialised ?? []) : [])),
  );
  return [...new Set(tables)];
}

/** Upper bound of the number of different values of an offset, from the sizes of the elements that it depends on. */
function elementsOf(context: KernelAndLaunch & SymbolicFacts, offset: Term): number {
  const { kernel } = context;
  const { low, high } = context.symbolic.view.natural(offset);
  const sizes = offset.leaves.map(({ atom }) => {
    if (atom?.kind !== 'havoc' || atom.value < 0) return Infinity;
    const { definition } = kernel.values[atom.value]!;
    const effect = definition.kind === 'instruction' ? definition.instruction.operation.effect : undefined;
    return effect?.kind === 'load' ? 2 ** (8 * effect.bytes) : Infinity;
  });
  const steps = offset.operator === 'sum' ? offset.coefficients.map((step) => Math.abs(Number(step))) : [1];
  return Math.min(
    Number(high - low) / Math.min(...steps) + 1,
    sizes.reduce((product, size) => product * size, 1),
  );
}

/**
 * Whether an atom comes from memory, except from one location for all threads of the block or of the grid: it is loaded, or it is a
 * number of a table of counters.
 */
function isOwnElement(context: KernelAndLaunch & SymbolicFacts, scope: PairScope, leaf: Term): boolean {
  if (leaf.atom?.kind !== 'havoc') return false;
  const { value } = leaf.atom;
  const access = loadOf(context, value);
  const isOnePlace = ({ base, offset }: Target): boolean =>
    offset.leaves.every(isOfLaunch) && (scope === 'block' || base.kind !== 'object' || base.object.space !== 'shared');
  const isOfTable = access === undefined || !access.targets.every(isOnePlace);
  if (isLoaded(context, leaf)) return isOfTable;
  if (access?.instruction.operation.effect.kind === 'atomic')
    return isOfTable && access.targets.every((one) => startsAnywhere(context, one));
  return isCarriedElement(context, value);
}

/**
 * Whether nothing determines where the counters of a table start. A table of offsets, by which values are sorted, starts with sums of
 * counts, and not with zeros.
 */
function startsAnywhere(context: KernelAndLaunch & SymbolicFacts, { base }: Target): boolean {
  const stored = context.accesses.flatMap((one) => (one.targets.some((other) => other.base.key === base.key) ? (one.stored ?? []) : []));
  if (stored.length > 0) return stored.some(({ leaves }) => leaves.some((leaf) => isLoaded(context, leaf)));
  if (base.kind !== 'parameter') return false;
  const { launch, assumptions, parameters } = context.request;
  const isFilled = ({ expression: one }: StatedAssumption): boolean =>
    one.kind === 'elements' && one.array === parameters[base.index]?.name && isSame(one.low, one.high);
  return launch.contents?.arrays.has(base.index) !== true && ![...(launch.ties ?? []), ...assumptions].some(isFilled);
}

/** Whether a loop-carried value comes from memory, as in `node = next[node]`. */
function isCarriedElement({ kernel }: KernelAndLaunch, value: number): boolean {
  if (value < 0 || kernel.values[value]!.definition.kind !== 'phi') return false;
  const seen = new Set<number>();
  const comesFromLoad = (id: number): boolean => {
    if (seen.has(id)) return false;
    seen.add(id);
    const { definition } = kernel.values[id]!;
    const isLoad = definition.kind === 'instruction' && definition.instruction.operation.effect.kind === 'load';
    if (definition.kind === 'instruction' && isLoad) {
      const [address] = definition.instruction.arguments;
      // Loads of parameters do not count as loads from memory.
      return !(address?.kind === 'address' && kernel.objects[address.object]!.space === 'param');
    }
    const sources =
      definition.kind === 'phi' ? kernel.blocks[definition.block]!.phis[definition.index]!.inputs : definition.instruction.arguments;
    return sources.some((source) => source.kind === 'value' && comesFromLoad(source.id));
  };
  return comesFromLoad(value);
}

/** The reason why an index has no closed form; null if it has one. */
function indexReason(context: KernelAndLaunch & SymbolicFacts & ElementFacts, { first, second }: Obligation): Reason | null {
  const declared: DeclaredAs = (index, offset) => declarationOf(context.request.parameters[index], offset);
  for (const { target } of [first, second]) {
    for (const leaf of target.offset.leaves) {
      if (leaf.atom?.kind !== 'havoc') continue;
      if (!isLoaded(context, leaf)) {
        const [table] = loadOf(context, leaf.atom.value)?.targets ?? [];
        const isOfTable = table !== undefined && isOwnElement(context, 'block', leaf);
        return isOfTable ? { kind: 'loaded-index', array: baseName(context, table.base), because: 'counters' } : { kind: 'unknown-index' };
      }
      const { definition } = context.kernel.values[leaf.atom.value]!;
      const isSource = ({ instruction }: Access): boolean => definition.kind === 'instruction' && instruction === definition.instruction;
      const source = context.accesses.find(isSource) ?? constantReads(context.symbolic, declared).find(isSource);
      const array = source ? baseName(context, source.targets[0]!.base) : 'memory';
      if (context.elements.get(leaf.atom.value)?.distinct === true) return { kind: 'loaded-index', array, because: 'any-value' };
      if (source && isWritten(context, source.targets[0]!.base)) return { kind: 'loaded-index', array, because: 'written' };
      return { kind: 'loaded-index', array, because: 'may-repeat' };
    }
  }
  return null;
}
