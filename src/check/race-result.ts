/** The race verdict of one kernel and its findings. */
import type { Kernel } from '../ir/form/kernel.ts';
import { unprovable, writesSurfaces } from './context/unprovable.ts';
import type { AssumedFacts } from './context/assumed-facts.ts';
import { unboundedArrays } from './memory/bounds-check.ts';
import { decidedWithout } from './memory/fault-finding.ts';
import { noAlias, nonAliasingTextures } from './context/aliasing.ts';
import { baseName, describeTerm, placeOf } from './context/names.ts';
import type { KernelContext } from './context/facts.ts';
import { type LaunchInstance, sampledLaunches } from './representative/representative-launches.ts';
import type { OverlapInLaunch } from './witness/overlap.ts';
import type { AccessEvent, RaceEvent } from '../interpreter/core/run-result.ts';
import type { AccessPair, OpenPair } from './obligations/obligation.ts';
import { isStrong } from '../memory-model/fence.ts';
import { type Access, isWriter } from '../analysis/values/access.ts';
import type { Term } from '../term/term.ts';
import { connected } from '../base/connected.ts';
import { type Severity, compareSeverity } from '../source/severity.ts';
import type { CheckPolicy } from './request/check-request.ts';
import type { Steps } from '../base/coroutine.ts';
import { factOfPair } from './witness/deciding-fact.ts';
import { chosenLaunch, isOwn, raceInterleaving } from './witness/interleaving.ts';
import { isOfWarps, missingOrder } from './advice/missing-order.ts';
import { missingSynchronisation } from './advice/missing-synchronisation.ts';
import { coveredPairs } from './witness/covered.ts';
import { recordedRace } from './witness/recording.ts';
import type { PairScope } from './obligations/instance.ts';
import {
  type ShownIn,
  type Standing,
  decidingConditions,
  isGiven,
  dependOnOpenScalars,
  standingOf,
  unconfirmed,
  weaker,
} from './witness/origin.ts';
import { equalWriteSeverity, keepsElements, storesLiteral } from './equal-writes.ts';
import { groupByCause } from './root-cause.ts';
import { type RaceState, indirectionOf, restsOnForeseen } from './race-check.ts';
import { type Shown, describeWitness } from './witness/replay.ts';
import { type Confirmation, pairKey } from './witness/scenarios.ts';
import type { DecidingFact, OpenQuestion } from '../verdict/deciding-fact.ts';
import type { DivergenceResult, MissingOrder, RaceFinding, RaceResult } from '../verdict/finding.ts';
import { type FindingSubject, fingerprintOf } from '../verdict/fingerprint.ts';
import { describeAccess } from './context/access-description.ts';
import type { Reason } from '../verdict/reason.ts';

/**
 * The race verdict with its findings.
 * @param divergence the verdict on barrier divergence: barriers order threads only if these do not diverge
 * @param unreachable an access that no execution under the stated assumptions reaches, or null
 */
export function* raceResult(
  context: KernelContext,
  confirmation: Confirmation,
  found: RaceState & {
    readonly disjoint: ReadonlySet<string>;
    /** Why the list of pairs is incomplete; null if it is complete. */
    readonly cut: Reason | null;
    readonly faults: { readonly reason: Reason | null; readonly findings: readonly RaceFinding[] };
  },
  divergence: DivergenceResult['verdict'],
  unreachable: Access | null,
  assumed: AssumedFacts,
): Steps<RaceResult> {
  const { policy } = context.request;
  // Barriers order the loads of shared elements only if threads do not diverge.
  const areAllKnown = found.cut === null && divergence === 'proved';
  const known = found.open.map((entry) => (areAllKnown ? withElements(context, entry, found.open) : entry));
  const raced = known.filter(({ pair }) => confirmation.races.has(pairKey(pair)));
  const covered = coveredPairs(
    context,
    raced.map(({ pair }) => pair),
    found.staysInWarp,
  );
  const state: JudgedState & typeof found = { ...found, open: known, covered };
  const notices = new Map<string, RaceFinding>();
  yield* confirmation.withAllContents(raced.flatMap(({ pair }) => (restsOnForeseen(context, pair) ? [pair] : [])));
  const shown = state.open.filter((entry) => shownBy(context, confirmation, entry));
  const chosen = shown.filter((entry) => originOf(context, entry) === 'chosen');
  yield* confirmation.atLargeSettings(chosen.map(({ pair }) => pair));
  const isTolerated = (entry: OpenPair): boolean =>
    entry.sameValue && (policy.sameValueWrites === 'proved' || isHarmlessWrite(context, state, entry));
  const isConsequence = consequencesOf(
    context,
    shown.filter((entry) => !isTolerated(entry)),
  );
  const open: OpenPair[] = [];
  for (const entry of state.open) {
    if (isConsequence(entry)) continue;
    if (isTolerated(entry)) {
      assumed.add('equal-value-writes', 'threads that write the same element write the same value');
      const isTold = notices.has(keyOf(context, entry)) || policy.sameValueWrites === 'proved';
      if (isTold || !shownBy(context, confirmation, entry)) continue;
      const notice = {
        ...(yield* confirmedFinding(context, confirmation, state, entry, new Cause(context, confirmation, state, [entry]))),
        severity: 'notice' as const,
      };
      notices.set(keyOf(context, entry), notice);
      continue;
    }
    open.push(entry);
  }
  const shownOpen = open.filter((entry) => shownBy(context, confirmation, entry));
  const causes = causesOf(context, confirmation, state, shownOpen);
  const causeOf = new Map(causes.flatMap((cause, number) => cause.entries.map((entry) => [entry, { cause, number }])));
  const told = new Map<string, RaceFinding>();
  const undecided: OpenPair[] = [];
  for (const entry of open) {
    const of = causeOf.get(entry);
    const key = keyOf(context, entry);
    if (!of) undecided.push(entry);
    else if (!told.has(key)) {
      const { entries } = of.cause;
      const [first = entry, ...others] = entries.filter((other) => keyOf(context, other) === key);
      const worst = worstOf(context, confirmation, state, [first, ...others]);
      const finding = yield* confirmedFinding(context, confirmation, state, worst, of.cause);
      told.set(key, entries.length > others.length + 1 ? { ...finding, cause: of.number } : finding);
    }
  }
  const others = undecided.filter((entry) => !told.has(keyOf(context, entry)));
  // A confirmed finding replaces notices on races with the same lines.
  for (const entry of open) notices.delete(keyOf(context, entry));
  const list = [
    ...atOneBarrier(sharedFirst([...told.values()])),
    ...possibleFindings(context, confirmation, others),
    ...notices.values(),
    ...state.faults.findings,
  ];
  if (told.size > 0) return { verdict: 'race', assumptions: assumed.list(), findings: list };
  const { reason: left } = state.faults;
  if (left) return { verdict: 'possible', reason: left, wouldDecide: decidedWithout(left), findings: list };
  const weak = unprovable(context);
  if (weak) return { verdict: 'unknown', reason: weak, findings: list };
  const budget = undecided.find((entry) => entry.budget);
  if (budget) return { verdict: 'unknown', reason: budget.reason, ...decidedBy(context, confirmation, budget), findings: list };
  if (state.cut) return { verdict: 'unknown', reason: state.cut, findings: list };
  const reason: Reason | null =
    (undecided[0] && (barriersInMemory(context) ?? openReason(context, confirmation, undecided[0]))) ??
    (divergence === 'proved' ? null : { kind: 'divergence' }) ??
    (unreachable ? unreachableReason(context.kernel, unreachable, assumed) : null) ??
    (writesSurfaces(context.kernel) ? { kind: 'surface-writes' } : null);
  if (reason !== null) {
    const fact = undecided[0]
      ? decidedBy(context, confirmation, undecided[0])
      : { wouldDecide: { question: questionOf(reason, divergence) } };
    return { verdict: 'possible', reason, ...fact, findings: list };
  }
  const unbounded = unboundedArrays(context);
  if (unbounded.length > 0) assumed.add('in-bounds', `every index into ${unbounded.join(', ')} stays in its array`);
  for (const assumption of [noAlias(state.disjoint), nonAliasingTextures(context)])
    if (assumption) assumed.add(assumption.kind, assumption.text);
  return { verdict: 'proved', assumptions: assumed.list(), findings: list };
}

/**
 * Why a check whose open pairs are reported shows nothing about the other pairs; null if every other pair is decided.
 * Unlike a verdict, this does not depend on whether a run has shown a race.
 */
export function reasonBeside(
  context: KernelContext,
  state: RaceState & { readonly cut: Reason | null; readonly faults: { readonly reason: Reason | null } },
  unreachable: Access | null,
  assumed: AssumedFacts,
): Reason | null {
  return (
    state.faults.reason ??
    unprovable(context) ??
    state.cut ??
    (state.open.some(({ unasked }) => unasked === true) ? { kind: 'many-pairs' } : null) ??
    (state.open.length > 0 ? barriersInMemory(context) : null) ??
    (unreachable ? unreachableReason(context.kernel, unreachable, assumed) : null) ??
    (writesSurfaces(context.kernel) ? { kind: 'surface-writes' } : null)
  );
}

/**
 * Findings whose missing barriers are one: where an access needs a barrier of the block, a barrier of the warp at the same
 * line is not a second remedy.
 */
function atOneBarrier(findings: readonly RaceFinding[]): readonly RaceFinding[] {
  const linesOf = ({ first, second }: RaceFinding): readonly string[] =>
    [first, second].flatMap(({ location }) => (location ? [`${location.file}:${location.line}`] : []));
  const ofBlock = new Set(findings.filter(({ interleaving }) => interleaving?.missing?.kind === 'block-barrier').flatMap(linesOf));
  return findings.map((finding) => {
    const { interleaving } = finding;
    const isOfWarp = interleaving?.missing?.kind === 'warp-barrier' && linesOf(finding).some((line) => ofBlock.has(line));
    return isOfWarp
      ? { ...finding, interleaving: { ...interleaving, missing: { ...interleaving.missing, kind: 'block-barrier' } } }
      : finding;
  });
}

/**
 * Whether a pair is of accesses that synchronise, or was not shown to race and is ordered by them, and another pair races since this
 * synchronisation lacks something: the remedy for the other pair is one for both. The other pair is a finding, as its accesses are not of this kind.
 */
function consequencesOf(context: KernelContext, shown: readonly OpenPair[]): (entry: OpenPair) => boolean {
  const ownOf = ({ pair: { first, second, scope } }: OpenPair): readonly Access[] =>
    missingSynchronisation(context, first, second, scope)?.own ?? [];
  const isAmong = ({ pair: { first, second } }: OpenPair, own: readonly Access[]): boolean => own.includes(first) && own.includes(second);
  const owns = shown.map(ownOf);
  const causes = owns.filter((_, at) => !owns.some((own) => isAmong(shown[at]!, own)));
  const isOrderedBy = (entry: OpenPair, own: readonly Access[]): boolean => {
    const ordering = own.length === 0 || shown.includes(entry) ? [] : ownOf(entry);
    return ordering.length > 0 && ordering.every((access) => own.includes(access));
  };
  return (entry) => causes.some((own) => isAmong(entry, own) || isOrderedBy(entry, own));
}

/** The findings; of those of one cause first the one that no barrier repairs, as two threads write one element in one statement. */
function sharedFirst(findings: readonly RaceFinding[]): readonly RaceFinding[] {
  const isShared = ({ kind, first, second, interleaving }: RaceFinding): boolean => {
    const missing = interleaving?.missing;
    const isOneLine = first.location?.line === second.location?.line;
    return kind === 'write-write' && isOneLine && missing?.kind === 'block-barrier' && missing.between === 'none';
  };
  const causes = new Set(findings.flatMap((finding) => (isShared(finding) && finding.cause !== undefined ? [finding.cause] : [])));
  const isFirst = (finding: RaceFinding): boolean => causes.has(finding.cause ?? -1) && isShared(finding);
  return [...findings.filter(isFirst), ...findings.filter((finding) => !isFirst(finding))];
}

/** Groups pairs that are one finding: pairs of one array with the same missing order, or pairs of the same lines. */
function causesOf(
  context: KernelContext,
  confirmation: Confirmation,
  state: Pick<JudgedState, 'overlapsIn' | 'covered'>,
  pairs: readonly OpenPair[],
): readonly Cause[] {
  const lacks = new Map(pairs.map((entry) => [entry, lackOf(context, entry)]));
  const names = new Map([...lacks].map(([entry, { name }]) => [entry, name]));
  const ofBarriers = pairs.filter((entry) => lacks.get(entry)!.isBarrier);
  for (const [name, entries] of groupedBy(ofBarriers, (entry) => names.get(entry)!)) {
    const entryOf = new Map(entries.map((entry) => [entry.pair, entry]));
    const groups = groupByCause(context.kernel, [...entryOf.keys()], context.isBlockBarrier);
    for (const [number, group] of groups.entries()) for (const pair of group) names.set(entryOf.get(pair)!, `${name} ${number}`);
  }
  const groups = connected(pairs, (entry) => [names.get(entry)!, keyOf(context, entry)]);
  return groups.map((entries) => new Cause(context, confirmation, state, entries));
}

/** The open pairs, with those of which contents of memory cannot avoid the overlap. */
interface JudgedState extends RaceState {
  readonly covered: ReadonlySet<AccessPair>;
}

/** A group of pairs with one cause, reported as one finding. */
class Cause {
  readonly entries: readonly OpenPair[];
  private readonly context: KernelContext;
  private readonly confirmation: Confirmation;
  private readonly state: Pick<JudgedState, 'overlapsIn' | 'covered'>;
  private known: Standing | null = null;

  constructor(
    context: KernelContext,
    confirmation: Confirmation,
    state: Pick<JudgedState, 'overlapsIn' | 'covered'>,
    entries: readonly OpenPair[],
  ) {
    this.context = context;
    this.state = state;
    this.confirmation = confirmation;
    this.entries = entries;
  }

  /**
   * The launches that show the races. If the overlap of some pairs does not depend on contents of memory, only these
   * pairs count. If addresses depend on scalars of our choosing, samples of launches count, too.
   */
  get standing(): Standing {
    const { context, confirmation, entries, state } = this;
    if (this.known) return this.known;
    const firm = entries.filter((entry) => isFirm(context, confirmation, state, entry));
    const decisive = firm.length > 0 ? firm : entries;
    const keys = decisive.map(({ pair }) => pairKey(pair));
    const terms = new Set(decisive.flatMap((entry) => termsOf(context, entry)));
    const hasOpen = dependOnOpenScalars(
      context,
      decisive.flatMap(({ pair }) => addressesOf(pair)),
    );
    const sampled = (hasIdleBlocks: boolean): readonly ShownIn[] =>
      hasOpen ? shownInSamples(context, state, decisive, hasIdleBlocks) : [];
    const effort = { left: context.request.budget.factor * effortOfSamples };
    const isIdle = (setting: LaunchInstance): boolean =>
      effort.left > 0 && decisive.every(({ pair }) => state.overlapsIn(pair, setting, effort).kind === 'idle');
    this.known = standingOf(context, confirmation, keys, [...terms], sampled, isIdle);
    return this.known;
  }
}

function addressesOf({ obligations }: AccessPair): readonly Term[] {
  return obligations.flatMap(({ first, second }) => [first, second].map(({ target }) => target.offset));
}

/** The effort for the overlaps of one finding in samples of launches, and the fewest samples that count. */
const effortOfSamples = 6_000_000;
const fewestSamples = 24;

/**
 * In which samples of launches some pair overlaps, of those with threads that perform both accesses; empty if the terms
 * do not determine it, or not in time.
 */
function shownInSamples(
  context: KernelContext,
  { overlapsIn }: Pick<RaceState, 'overlapsIn'>,
  entries: readonly OpenPair[],
  hasIdleBlocks: boolean,
): readonly ShownIn[] {
  const effort = { left: context.request.budget.factor * effortOfSamples };
  const found: ShownIn[] = [];
  for (const setting of sampledLaunches(context, hasIdleBlocks)) {
    if (effort.left <= 0) break;
    const seen = new Set<OverlapInLaunch['kind']>();
    for (const { pair } of entries) if (!seen.has('overlap')) seen.add(overlapsIn(pair, setting, effort).kind);
    if (seen.has('unknown') && !seen.has('overlap')) return [];
    if (seen.has('overlap') || seen.has('none')) found.push({ setting, isShown: seen.has('overlap') });
  }
  return found.length < fewestSamples ? [] : found;
}

/** Key of the array and the missing order of a pair, and whether the missing order is a barrier. */
function lackOf(context: KernelContext, entry: OpenPair): { readonly name: string; readonly isBarrier: boolean } {
  const { first, second, scope } = entry.pair;
  const { kind, ...details } = missingOrder(context, [first, second], scope, 'any');
  // Details of a barrier or an atomic are advice for one pair; those of the others identify what orders are missing.
  const what = /^(?:fence|scope|wait)$/.test(kind) ? details : null;
  const isBarrier = kind === 'block-barrier' || kind === 'grid-order' || kind === 'copy-wait';
  const order = isBarrier && (first.isCopy || second.isCopy) ? 'copy-wait' : kind;
  return { name: JSON.stringify([codeOf(entry), baseOf(context, entry.pair), order, what]), isBarrier };
}

/**
 * Of pairs with the same lines, the one with the worst severity, then the one with the least dependence on chosen
 * values.
 */
function worstOf(
  context: KernelContext,
  confirmation: Confirmation,
  state: Pick<JudgedState, 'covered'>,
  entries: readonly [OpenPair, ...OpenPair[]],
): OpenPair {
  if (entries.length === 1) return entries[0];
  const ranked = entries.map((entry) => ({
    entry,
    severity: severityOf(context.request.policy, entry),
    doubts: (originOf(context, entry) === 'chosen' ? 2 : 0) + (isFirm(context, confirmation, state, entry) ? 0 : 1),
  }));
  ranked.sort((a, b) => compareSeverity(a.severity, b.severity) || a.doubts - b.doubts);
  return ranked[0]!.entry;
}

/** Whether a run showed the race of a pair, and contents of memory cannot avoid the overlap. */
function isFirm(
  context: KernelContext,
  confirmation: Confirmation,
  { covered }: Pick<JudgedState, 'covered'>,
  { pair }: OpenPair,
): boolean {
  const isShown = confirmation.races.has(pairKey(pair));
  return isShown && (covered.has(pair) || indirectionOf(context, pair, confirmation) === 'none');
}

/** An open pair, marked as storing equal values if its threads provably store the value of one element. */
function withElements(context: KernelContext, entry: OpenPair, open: readonly OpenPair[]): OpenPair {
  if (entry.sameValue || entry.elements === null) return entry;
  const pairs = open.map(({ pair }) => pair);
  return { ...entry, sameValue: keepsElements(context, entry.pair, entry.elements, pairs) };
}

/**
 * Whether writes of equal values are harmless: stores of one literal to memory that no thread accesses unordered by
 * another access, or stores of one instruction within one warp, as compilers emit them.
 */
function isHarmlessWrite(context: KernelContext, { open, staysInWarp }: RaceState, { pair, sameValue }: OpenPair): boolean {
  if (!sameValue) return false;
  const isOfWarp = pair.scope === 'block' && pair.first === pair.second && staysInWarp(pair);
  if (isOfWarp || !storesLiteral(context, pair) || restsOnStrong(context, pair)) return isOfWarp;
  const keys = new Set([pair.first, pair.second].flatMap(({ targets }) => targets.map(({ base }) => base.key)));
  const isMet = (access: Access): boolean => access.targets.some(({ base }) => keys.has(base.key));
  return !open.some((other) => !other.sameValue && (isMet(other.pair.first) || isMet(other.pair.second)));
}

function decidedBy(context: KernelContext, confirmation: Confirmation, entry: OpenPair): { readonly wouldDecide: DecidingFact } {
  // A run that got stuck at a barrier shows nothing about the code after it.
  if (confirmation.barriers.size > 0) return { wouldDecide: { question: { kind: 'divergence', isShown: true } } };
  const ordered = confirmation.ordered.get(pairKey(entry.pair))?.unmodelled ?? [];
  return { wouldDecide: factOfPair(context, entry, ordered) };
}

/** Limit on the unconfirmed findings of one array that are reported; the remaining pairs are counted. */
const maxCauses = 3;

/** Findings of unconfirmed pairs, one for each cause. The number of pairs may be quadratic if indices are unknown. */
function possibleFindings(context: KernelContext, confirmation: Confirmation, undecided: readonly OpenPair[]): readonly RaceFinding[] {
  const onePerPlace = [...groupedBy(undecided, (entry) => keyOf(context, entry)).values()].map(([entry]) => entry!);
  const byArray = groupedBy(onePerPlace, ({ pair }) => `${pair.conflict}|${baseOf(context, pair)}`);
  return [...byArray.values()].flatMap((entries) => {
    const entryOf = new Map(entries.map((entry) => [entry.pair, entry]));
    const causes = groupByCause(context.kernel, [...entryOf.keys()], context.isBlockBarrier);
    const rest = causes.slice(maxCauses).reduce((sum, { length }) => sum + length, 0);
    return causes.slice(0, maxCauses).map((pairs, index, { length }) => {
      const entry = entryOf.get(pairs[0])!;
      const more = pairs.length - 1 + (index === length - 1 ? rest : 0);
      const finding = raceFinding(context, confirmation, { covered: new Set() }, entry, undefined, null);
      return more > 0 ? { ...finding, more } : finding;
    });
  });
}

function groupedBy<Of>(all: readonly Of[], keyOf: (one: Of) => string): ReadonlyMap<string, readonly Of[]> {
  const groups = new Map<string, Of[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

/** The open question of a verdict if all pairs are decided. */
function questionOf({ kind }: Reason, divergence: DivergenceResult['verdict']): OpenQuestion {
  if (divergence !== 'proved') return { kind: 'divergence', isShown: divergence === 'divergent' };
  return { kind: kind === 'surface-writes' ? 'overlap' : 'reachability' };
}

function unreachableReason(kernel: Kernel, access: Access, assumed: AssumedFacts): Reason {
  const stated = assumed.list().filter(({ kind }) => /^(user|no-wrap|contents)$/.test(kind));
  const { line } = placeOf(kernel, access.instruction);
  return { kind: 'unreachable', line, assumptions: stated.map(({ text }) => text) };
}

function openReason({ kernel }: KernelContext, confirmation: Confirmation, { pair, reason }: OpenPair): Reason {
  const write = [pair.first, pair.second].find(isWriter);
  if (pair.lacks && write) return { kind: pair.lacks, line: placeOf(kernel, write.instruction).line };
  const ordered = confirmation.ordered.get(pairKey(pair));
  if (ordered) return { kind: 'unmodelled-order', by: ordered.unmodelled };
  return confirmation.problem === null ? reason : { kind: 'replay', problem: confirmation.problem };
}

/** Why the kernel's barriers in memory are not modelled; null if they are. */
function barriersInMemory({ inMemory: { problem } }: KernelContext): Reason | null {
  return problem === null ? null : { kind: 'unmodelled-barrier', problem };
}

/** Whether the addresses of the stores depend on strong reads, whose values depend on the schedule. */
function restsOnStrong({ kernel }: KernelContext, { first, second }: AccessPair): boolean {
  return [first, second].some(({ targets }) =>
    targets.some(({ offset }) =>
      offset.leaves.some(({ atom }) => {
        const definition = atom?.kind === 'havoc' && atom.value >= 0 ? kernel.values[atom.value]!.definition : undefined;
        return definition?.kind === 'instruction' && isStrong(definition.instruction);
      }),
    ),
  );
}

function shownBy(context: KernelContext, confirmation: Confirmation, { pair, sameValue }: OpenPair): Shown<RaceEvent> | undefined {
  const shown = confirmation.races.get(pairKey(pair));
  // The overlap of stores of one literal depends on the schedule. Such stores are harmless, but not proved to be.
  if (sameValue && storesLiteral(context, pair) && restsOnStrong(context, pair)) return undefined;
  return shown && indirectionOf(context, pair, confirmation) === 'stores' ? undefined : shown;
}

/**
 * A confirmed finding, as shown by the smallest run.
 * @param cause - the cause of the pair, with all of its pairs
 */
function* confirmedFinding(
  context: KernelContext,
  confirmation: Confirmation,
  state: JudgedState,
  entry: OpenPair,
  cause: Cause,
): Steps<RaceFinding> {
  const { pair } = entry;
  const first = shownBy(context, confirmation, entry)!;
  const shown = yield* confirmation.smallestRace(pair, first);
  const { event, scenario } = shown;
  const finding = raceFinding(context, confirmation, state, entry, shown, cause);
  const ordered = event.first.instruction === pair.first.instruction.id ? pair : { first: pair.second, second: pair.first };
  const inWarp = finding.scope === 'warp' && isOfWarps(context) && state.staysInWarp(pair);
  const meeting = isOwn(event) ? 'own-copy' : inWarp ? 'in-warp' : 'any';
  const { undefinedReads } = confirmation;
  const racing = { first: event.first, second: event.second, block: scenario.block, undefinedReads };
  const ordering = missingOrder(context, [ordered.first, ordered.second], pair.scope, meeting, racing);
  const missing = ofAllBlocks(
    context,
    ordering,
    pairsBetweenBlocks(context, state, entry),
    (other) => !!shownBy(context, confirmation, other),
  );
  const accesses = [finding.first, finding.second] as const;
  const recording = yield* recordedRace(context, scenario, event);
  return {
    ...finding,
    overlap: { offset: event.offset, bytes: event.bytes },
    interleaving: {
      ...raceInterleaving(context, event, scenario, accesses, missing),
      ...(recording && { recording }),
    },
    ...(finding.witnessOrigin === 'chosen' && { chosen: chosenLaunch(context, scenario) }),
  };
}

/** The pairs with the same lines that are not proved to be free of races between threads of different blocks. */
function pairsBetweenBlocks(context: KernelContext, { open }: Pick<JudgedState, 'open'>, entry: OpenPair): readonly OpenPair[] {
  const key = keyOf(context, entry);
  return open.filter((other) => other.pair.scope === 'grid' && keyOf(context, other) === key && !other.unasked);
}

/**
 * The missing order of a race whose lines race between blocks, too: what would order the blocks, if a lock, a flag, a counter or a
 * barrier of the grid lacks only that, orders the threads of a block as well.
 */
function ofAllBlocks(
  context: KernelContext,
  missing: MissingOrder,
  between: readonly OpenPair[],
  isShown: (entry: OpenPair) => boolean,
): MissingOrder {
  if (missing.kind !== 'block-barrier' && missing.kind !== 'warp-barrier') return missing;
  const [wider] = [...between.filter(isShown), ...between];
  if (!wider) return missing;
  const ofGrid = missingOrder(context, [wider.pair.first, wider.pair.second], 'grid', 'any');
  if (ofGrid.kind === 'fence' || ofGrid.kind === 'wait' || (ofGrid.kind === 'grid-order' && (ofGrid.gridBarrier || ofGrid.split)))
    return ofGrid;
  return isShown(wider) ? { ...missing, betweenBlocks: true } : missing;
}

function raceFinding(
  context: KernelContext,
  confirmation: Confirmation,
  state: Pick<JudgedState, 'covered'>,
  entry: OpenPair,
  shown: Shown<RaceEvent> | undefined,
  cause: Cause | null,
): RaceFinding {
  const { pair, sameValue } = entry;
  const { request, kernel, fields } = context;
  const reversed = shown !== undefined && shown.event.first.instruction !== pair.first.instruction.id;
  const [a, b] = reversed ? [pair.second, pair.first] : [pair.first, pair.second];
  const origin = originOf(context, entry);
  const { policy } = request;
  const standing = shown && origin === 'chosen' && cause ? cause.standing : null;
  const severity = severityOf(policy, { pair, sameValue });
  const isCertain = shown !== undefined && standing?.isEverywhere !== false && isFirm(context, confirmation, state, entry);
  const memory = pair.first.memory === 'generic' ? pair.second.memory : pair.first.memory;
  const array = baseOf(context, pair);
  const identity = [pair.first, pair.second].map((access) => accessIdentity(context, access));
  const kind = raceKind(a, b);
  const subject: FindingSubject = ['race', array, pair.scope, kind, ...identity];
  return {
    code: codeOf(entry),
    severity: !shown ? unconfirmed(severity, policy.undecided) : isCertain ? severity : weaker(severity),
    fingerprint: fingerprintOf(request.identity, subject),
    ...(!shown && { subject }),
    kind,
    memory,
    scope: scopeOf(context, pair.scope, shown?.event),
    array,
    ...(sameValue && { sameValue }),
    first: { ...describeAccess(context, a, shown?.event.first), ...otherArray(a) },
    second: { ...describeAccess(context, b, shown?.event.second), ...otherArray(b) },
    ...([a, b].some(otherArray) && request.launch.location && { passedAt: request.launch.location }),
    confirmed: shown !== undefined,
    ...(shown && {
      witness: describeWitness(kernel, request.name, request.parameters, fields, request.launch, shown.scenario),
      witnessOrigin: origin,
    }),
    ...(standing?.when !== undefined && { when: standing.when }),
    ...(!shown && { ...decidedBy(context, confirmation, entry), reason: openReason(context, confirmation, entry) }),
  };

  /** The parameter of an access that gets the array through another parameter than that of the finding. */
  function otherArray({ targets }: Access): { readonly array: string } | undefined {
    const base = targets[0]!.through ?? targets[0]!.base;
    const name = baseName(context, base);
    return base.kind === 'parameter' && name !== array ? { array: name } : undefined;
  }
}

/** The severity of a race regardless of its launch and confirmation. */
function severityOf(policy: CheckPolicy, { pair, sameValue }: Pick<OpenPair, 'pair' | 'sameValue'>): Severity {
  if (pair.conflict === 'volatile' && policy.volatile !== 'allow') return policy.volatile;
  return sameValue ? equalWriteSeverity(policy) : policy.race;
}

/** The array and the lines of a pair. */
function placesOf(context: KernelContext, { pair }: OpenPair): string {
  const lines = [pair.first, pair.second].map(({ instruction }) => placeOf(context.kernel, instruction).line);
  return [baseOf(context, pair), ...lines.sort((a, b) => a - b)].join('|');
}

/** Key of a finding within its cause: its code, the array and the lines. */
function keyOf(context: KernelContext, entry: OpenPair): string {
  return `${codeOf(entry)}|${placesOf(context, entry)}`;
}

function codeOf({ pair }: OpenPair): RaceFinding['code'] {
  if (pair.conflict === 'volatile') return 'race/volatile';
  return `race/${pair.first.memory === 'generic' ? pair.second.memory : pair.first.memory}` as RaceFinding['code'];
}

function baseOf(context: KernelContext, { first }: OpenPair['pair']): string {
  return baseName(context, first.targets[0]!.base);
}

/** The terms on which the overlap of the threads of a pair depends. */
function termsOf(context: KernelContext, { pair }: OpenPair): readonly Term[] {
  const terms = pair.obligations.flatMap(({ first, second }) => [
    first.target.offset,
    second.target.offset,
    ...[...first.conditions, ...second.conditions].map(({ term }) => term),
  ]);
  return [...terms, ...decidingConditions(context, [pair.first.block, pair.second.block], terms)];
}

function originOf(context: KernelContext, entry: OpenPair): 'given' | 'chosen' {
  return isGiven(context, termsOf(context, entry)) ? 'given' : 'chosen';
}

/** The kinds of the two accesses of a race. */
export function raceKind(a: Pick<Access, 'operation'>, b: Pick<Access, 'operation'>): RaceFinding['kind'] {
  const kinds = new Set([a.operation, b.operation]);
  if (kinds.has('atomic')) return kinds.has('read') ? 'atomic-read' : kinds.has('write') ? 'atomic-write' : 'scope';
  return kinds.has('read') ? 'read-write' : 'write-write';
}

function scopeOf({ dimensions }: KernelContext, scope: PairScope, event: RaceEvent | undefined): 'warp' | 'block' | 'grid' {
  if (scope === 'grid') return 'grid';
  const [width, height] = dimensions.block;
  if (!event || width === null || height === null) return 'block';
  const warp = ({ thread: [x, y, z] }: AccessEvent): number => Math.floor((x + width * (y + height * z)) / 32);
  return warp(event.first) === warp(event.second) ? 'warp' : 'block';
}

/** Identity of an access, independent of its position in the file. */
function accessIdentity(context: KernelContext, access: Access): string {
  const offsetTextOf = ({ targets }: Access): string => describeTerm(context, targets[0]!.offset);
  const text = offsetTextOf(access);
  const all = [...context.accesses, ...context.inMemory.accesses];
  const alike = all.filter((other) => other.operation === access.operation && offsetTextOf(other) === text);
  return `${access.operation}:${text}:${alike.indexOf(access)}`;
}
