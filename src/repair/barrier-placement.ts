/**
 * Barriers in other places: at statement boundaries, in split assignments, for threads of a warp, and between parts of
 * a condition.
 */
import { type BarrierCandidate, type CandidateOptions, markCandidates } from '../cuda/editing/barrier-candidates.ts';
import { barrierEdits } from '../cuda/editing/barrier-edit.ts';
import type { FunctionDefinition } from '../cuda/syntax/outline.ts';
import type { CudaSource } from '../cuda/syntax/syntax.ts';
import type { MarkerState } from '../ir/form/switch-markers.ts';
import { applyEdits } from '../source/text-edit.ts';
import type { Location } from '../source/location.ts';
import { type BarrierChange, type BuildCost, compareCost, isLeast } from './build-cost.ts';
import { type Placement, type SearchResult, searchPlacements } from './placement-search.ts';
import type { Effort, Repair, RepairRequest } from './request.ts';
import { type UnorderedPair, Oracle, type Subject } from './repair-target.ts';
import { loopDepths } from './weight.ts';
import { lineIn, obstacleOf, stepOf } from './explain-placement.ts';
import type { Obstacle } from './explanation.ts';

export type PlacementOutcome =
  | {
      readonly kind: 'repaired';
      readonly repair: Repair;
    }
  | {
      readonly kind: 'none';
      readonly obstacles: readonly Obstacle[];
      /** The pairs of accesses that no barrier separates. */
      readonly races: readonly UnorderedPair[];
      /** The functions that contain markers of the kernel. */
      readonly functions?: readonly FunctionDefinition[];
      /** Conditional statements that were not split yet, by their offset: {@link partConditions} does. */
      readonly conditions?: ReadonlySet<number>;
    }
  | { readonly kind: 'timeout' };

interface Attempt extends CandidateOptions {
  readonly level: 'block' | 'warp';
  /** Of a partial repair: races that no run has shown may remain. */
  readonly isOfShown?: true;
}

/**
 * Searches for a placement of barriers in the source with which the kernel is proved.
 * @param isRewritten - the source was edited before: nothing is advised about it
 */
export async function placeBarriers(request: RepairRequest, effort: Effort, isRewritten = false): Promise<PlacementOutcome> {
  const first: Attempt[] = [
    ...(request.isPartial && !isRewritten ? [{ splits: true, level: 'block', isOfShown: true } as const] : []),
    { splits: true, level: 'block' },
  ];
  const outcome = await placeBy(first, request, effort, isRewritten);
  const conditions = outcome.kind === 'none' ? outcome.conditions : undefined;
  if (!conditions || !(isRewritten || request.isPartial)) return outcome;
  const parted = await partConditions(request, conditions, effort, isRewritten);
  if (outcome.kind !== 'none' || parted.kind !== 'none') return parted;
  return { ...outcome, obstacles: [...outcome.obstacles, ...parted.obstacles] };
}

/**
 * Searches for a placement between the statements of bodies that only some threads execute.
 * @param conditions - the conditional statements, by their offset
 */
export async function partConditions(
  request: RepairRequest,
  conditions: ReadonlySet<number>,
  effort: Effort,
  isRewritten = false,
): Promise<PlacementOutcome> {
  return placeBy([{ splits: true, level: 'block', conditions }], request, effort, isRewritten);
}

async function placeBy(attempts: Attempt[], request: RepairRequest, effort: Effort, isRewritten: boolean): Promise<PlacementOutcome> {
  const { source, expired } = request;
  const obstacles: Obstacle[] = [];
  let races: readonly UnorderedPair[] = [];
  let conditions: ReadonlySet<number> | undefined;
  const functions = new Set<FunctionDefinition>();
  for (let attempt = attempts.shift(); attempt; attempt = attempts.shift()) {
    const searched = await search(request, attempt, effort);
    if (searched === null) {
      obstacles.push({ kind: 'marked-copy' });
      continue;
    }
    const { result, candidates, depths } = searched;
    for (const marker of depths.keys()) functions.add(candidates[marker]!.function);
    if (result.kind === 'budget') return { kind: 'timeout' };
    if (result.kind === 'none') {
      if (attempt.level === 'block') obstacles.push(obstacleOf(result, source));
      if (result.needsGrid && !request.gridLevel && !isRewritten && attempt.level === 'block')
        obstacles.push(...(await adviceForBlocks(request, searched, effort)));
      if (!attempt.conditions && !attempt.isOfShown && attempt.level === 'block') {
        races = result.races;
        const needsGrid = result.races.length > 0 && result.needsGrid;
        // Barriers of the warp have the lowest cost.
        if (!needsGrid) attempts.push({ splits: true, level: 'warp' });
        const found = needsGrid && !request.gridLevel ? undefined : divergentConditions(candidates, result);
        if (found && found.size > 0) conditions = found;
      }
      continue;
    }
    // Nothing is placed: the remaining pairs have been tolerated.
    if (request.isPartial && !isRewritten && result.placement.added.length + result.placement.removed.length === 0) continue;
    for await (const { placement, text } of cheapestFirst(request, result, candidates, effort)) {
      if (expired()) return { kind: 'timeout' };
      const step = stepOf(placement, candidates, source);
      if (attempt.level === 'warp' && !(await holdsForOtherArguments(searched, placement, source.file, effort))) {
        obstacles.push({ kind: 'refused', step, refusal: { kind: 'one-site' } });
        continue;
      }
      const changes = placement.added.some(({ marker }) => /^(?:split|condition)$/.test(candidates[marker]!.kind));
      const ofWarp = isRewritten ? null : await byWarpBarriers(request, searched, placement, effort);
      if (ofWarp) return { kind: 'repaired', repair: ofWarp };
      effort.compiled++;
      const verification = await request.verify(text, changes ? 'statements' : 'barriers');
      if (!verification.verified) {
        obstacles.push({ kind: 'refused', step, refusal: verification.refusal });
        continue;
      }
      const repair: Repair = {
        text,
        ...changeOf(placement, candidates, depths),
        gridLevel: placement.added.some(({ state }) => state === 'grid'),
        steps: [step],
        notes: verification.notes,
        leaves: verification.leaves,
      };
      return { kind: 'repaired', repair };
    }
  }
  return { kind: 'none', obstacles, races, functions: [...functions], ...(conditions && { conditions }) };
}

function applyPlacement(source: CudaSource, { removed, added }: Placement, candidates: readonly BarrierCandidate[]): string {
  const placed = [
    ...removed.map((marker) => ({ candidate: candidates[marker]!, state: 'off' as const })),
    ...added.map(({ marker, state }) => ({ candidate: candidates[marker]!, state })),
  ];
  return applyEdits(source.text, barrierEdits(source, placed));
}

/** Source location of a marker. */
export function placeIn(file: string, candidates: readonly BarrierCandidate[]): (marker: number) => Location | undefined {
  return (marker) => {
    const candidate = candidates[marker];
    return candidate && { file, line: candidate.line };
  };
}

interface Searched {
  readonly oracle: Oracle;
  readonly result: SearchResult;
  readonly subjects: readonly Subject[];
  readonly isShared: (candidate: BarrierCandidate) => boolean;
  readonly candidates: readonly BarrierCandidate[];
  /** Depths of the loops around each marker. */
  readonly depths: ReadonlyMap<number, number>;
}

async function search(
  { source, shown, weights, gridLevel, build, expired, isPartial }: RepairRequest,
  { level, isOfShown, ...options }: Attempt,
  effort: Effort,
): Promise<Searched | null> {
  for (const splits of options.splits ? [true, false] : [false]) {
    const { candidates, text } = markCandidates(source, { ...options, splits });
    effort.compiled++;
    const built = await build(text);
    if (!built) continue;
    const { subjects } = built;
    const isShared = ({ number }: BarrierCandidate): boolean => built.shared.has(number);
    const oracle = new Oracle(subjects, placeIn(source.file, candidates), effort);
    const replacements = isPartial ? (marker: number) => placesBeside(candidates, marker) : undefined;
    const request = { oracle, candidates, weights, gridLevel, level, isShared, replacements, expired, effort };
    if (isOfShown) {
      const { races } = await oracle.ask((marker) => asWritten(candidates[marker]));
      oracle.tolerate(races.filter((pair) => !isShown(pair)));
    }
    let result = await searchPlacements(request);
    if (isPartial && result.kind === 'none' && result.races.length > 0) {
      oracle.tolerate(result.races);
      result = await searchPlacements(request);
    }
    return { oracle, result, subjects, isShared, candidates, depths: loopDepths(subjects.map(({ kernel }) => kernel)) };
  }
  return null;

  /** Whether a run showed a race of the two lines; true if a line is unknown. */
  function isShown(pair: UnorderedPair): boolean {
    const lines = [pair.first, pair.second].map((id) => lineIn(source.file, pair, id));
    if (lines.includes(undefined)) return true;
    return shown.some((accesses) => {
      const [a, b] = accesses.map(({ file, line }) => (file === source.file ? line : undefined));
      return (a === lines[0] && b === lines[1]) || (a === lines[1] && b === lines[0]);
    });
  }
}

/**
 * The places right before and right after the conditional statements around a barrier. A barrier at one of them
 * replaces it, since it is unknown which accesses the barrier of an unproved kernel was meant to order.
 */
function placesBeside(candidates: readonly BarrierCandidate[], marker: number): number[] {
  const from = candidates[marker]!;
  const stands = (to: BarrierCandidate, condition: number): boolean =>
    (to.kind === 'before' || to.kind === 'after') &&
    !to.conditions.includes(condition) &&
    (to.statement.start === condition || to.previous?.start === condition);
  const places = candidates.filter((to) => to.function === from.function && from.conditions.some((condition) => stands(to, condition)));
  return places.map(({ number }) => number);
}

/** State of a candidate in the source. */
function asWritten(candidate: BarrierCandidate | undefined): MarkerState {
  return candidate?.kind === 'existing' ? candidate.level : 'off';
}

/**
 * Whether a placement that removes barriers of the block is valid for all arguments of a launch site: a barrier of the
 * warp instead may suffice only for the value that one site passes. Placements that only add barriers are always valid.
 */
async function holdsForOtherArguments(
  { subjects, candidates }: Searched,
  { added, removed }: Placement,
  file: string,
  effort: Effort,
): Promise<boolean> {
  const isChanged = removed.length > 0 || added.some(({ marker }) => candidates[marker]!.kind === 'existing');
  const rests = subjects.some(({ launches }) => launches.some(({ source, scalars }) => source === 'launch-site' && scalars.size > 0));
  if (!isChanged || !rests) return true;
  const general = subjects.map((subject) => ({
    ...subject,
    launches: subject.launches.map((launch) =>
      launch.source === 'launch-site' ? { ...launch, scalars: new Map<number, bigint>() } : launch,
    ),
  }));
  const states = new Map<number, MarkerState>(added.map(({ marker, state }) => [marker, state]));
  for (const marker of removed) states.set(marker, 'off');
  const { proved } = await new Oracle(general, placeIn(file, candidates), effort).ask((marker) => {
    return states.get(marker) ?? asWritten(candidates[marker]);
  });
  return proved;
}

/**
 * The placement with barriers of the warp wherever these suffice, if some finding is about threads of one warp: they cost almost
 * nothing.
 * @returns null if none does, or that is not a repair
 */
async function byWarpBarriers(
  request: RepairRequest,
  { oracle, candidates, depths }: Searched,
  { added, removed, weight }: Placement,
  effort: Effort,
): Promise<Repair | null> {
  if (!request.missing.some(({ kind }) => kind === 'warp-barrier') || removed.length > 0 || request.isPartial) return null;
  let lighter = added;
  for (const [at, { marker, state }] of added.entries()) {
    if (state !== 'block' || candidates[marker]!.kind === 'existing' || request.expired()) continue;
    const trial = lighter.with(at, { marker, state: 'warp' });
    const states = new Map(trial.map((one) => [one.marker, one.state]));
    const { proved } = await oracle.ask((other) => states.get(other) ?? asWritten(candidates[other]));
    if (proved) lighter = trial;
  }
  if (lighter === added) return null;
  const placement: Placement = { added: lighter, removed, weight };
  const text = applyPlacement(request.source, placement, candidates);
  const changes = lighter.some(({ marker }) => /^(?:split|condition)$/.test(candidates[marker]!.kind));
  effort.compiled++;
  const { verified, ...rest } = await request.verify(text, changes ? 'statements' : 'barriers');
  if (!verified || !('notes' in rest)) return null;
  const steps = [stepOf(placement, candidates, request.source)];
  return { text, ...changeOf(placement, candidates, depths), gridLevel: false, steps, notes: rest.notes, leaves: rest.leaves };
}

interface PlacedText {
  readonly placement: Placement;
  readonly text: string;
}

/**
 * Advice for blocks that race if the launch allows no barrier of the grid: the user has to change that, so nothing is
 * edited.
 */
async function adviceForBlocks(
  { source, weights, expired }: RepairRequest,
  { subjects, candidates, isShared }: Searched,
  effort: Effort,
): Promise<Obstacle[]> {
  const cooperative = subjects.map((subject) => ({
    ...subject,
    launches: subject.launches.map((launch) => ({ ...launch, cooperative: true })),
  }));
  const oracle = new Oracle(cooperative, placeIn(source.file, candidates), effort);
  const policy = { weights, gridLevel: true, level: 'block' } as const;
  const result = await searchPlacements({ oracle, candidates, ...policy, isShared, expired, effort });
  if (result.kind !== 'found' || result.placement.removed.length > 0) return [];
  return [{ kind: 'not-cooperative', step: stepOf(result.placement, candidates, source) }];
}

/**
 * Placements of equal weight, in the order of their cost in the production build; if equal, by readability of the
 * source. Placements after the first are searched only if one of them could cost less, or the search continues anyway.
 */
async function* cheapestFirst(
  { source, cost, prepare }: RepairRequest,
  { placement, others }: Extract<SearchResult, { kind: 'found' }>,
  candidates: readonly BarrierCandidate[],
  effort: Effort,
): AsyncGenerator<PlacedText> {
  const placed = (one: Placement): PlacedText => ({ placement: one, text: applyPlacement(source, one, candidates) });
  const first = placed(placement);
  prepare(first.text);
  const [before, least] = await Promise.all([cost(), cost(first.text)]);
  const isFirst = least === null || (before !== null && isLeast(least, before));
  if (isFirst) yield first;
  const rest = (await others()).map(placed);
  if (isFirst) return yield* rest;
  effort.compiled += rest.length;
  const costs: readonly (BuildCost | null)[] = [least, ...(await Promise.all(rest.map(({ text }) => cost(text))))];
  const all = [first, ...rest];
  const order = all.map((_, index) => index);
  if (!costs.includes(null)) order.sort((a, b) => compareCost(costs[a]!, costs[b]!) || a - b);
  for (const index of order) yield all[index]!;
}

function changeOf(
  { added, removed }: Placement,
  candidates: readonly BarrierCandidate[],
  depths: ReadonlyMap<number, number>,
): BarrierChange {
  // Existing barriers of the block that became barriers of the grid or of the warp.
  const replaced = added.map(({ marker }) => marker).filter((marker) => candidates[marker]!.kind === 'existing');
  const gone = [...removed, ...replaced];
  const inLoops = (markers: readonly number[]): number => markers.filter((marker) => (depths.get(marker) ?? 0) > 0).length;
  return {
    added: added.length,
    removed: gone.length,
    addedInLoops: inLoops(added.map(({ marker }) => marker)),
    removedInLoops: inLoops(gone),
  };
}

/** The conditional statements that contain no place reached by all threads, by offset. */
function divergentConditions(
  candidates: readonly BarrierCandidate[],
  { unsafe, safe }: Extract<SearchResult, { kind: 'none' }>,
): ReadonlySet<number> {
  const around = (markers: ReadonlySet<number>): Set<number> =>
    new Set(candidates.flatMap(({ number, conditions }) => (markers.has(number) ? conditions : [])));
  const partly = around(safe);
  return new Set([...around(unsafe)].filter((start) => !partly.has(start)));
}
