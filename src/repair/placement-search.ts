/**
 * Search for barrier placements (paper 003, section 2.4). The checker is the oracle: each pair of accesses that it
 * leaves open is a clause over the candidates between the two, and the next query is the lightest set that satisfies
 * all clauses. One IR with switches serves all queries.
 */
import type { Reason } from '../verdict/reason.ts';
import type { BarrierCandidate } from '../cuda/editing/barrier-candidates.ts';
import type { LanesState, MarkerState } from '../ir/form/switch-markers.ts';
import { type KnownWays, containsAtomics, holdsOtherBarriers, markersAmongAccesses, markersBetween } from './barrier-candidates-between.ts';
import { lightestHittingSet, withoutSupersets } from './hitting-set.ts';
import type { Effort } from './request.ts';
import { type Answer, type UnorderedPair, type Oracle, adjacentMarkers } from './repair-target.ts';
import { type WeightPolicy, costOf, loopDepths, markerCounts, weightOf } from './weight.ts';

interface SearchRequest {
  readonly oracle: Oracle;
  readonly candidates: readonly BarrierCandidate[];
  readonly weights: WeightPolicy;
  /** Whether barriers of the grid may be used: the launches are cooperative. */
  readonly gridLevel: boolean;
  /** `warp`: if only some threads of a block reach a place, barriers of the warp are allowed. */
  readonly level: 'block' | 'warp';
  /** Counts queries and clauses. */
  readonly effort: Pick<Effort, 'iterations' | 'clauses'>;
  /** Whether other kernels call the function of a candidate. */
  readonly isShared: (candidate: BarrierCandidate) => boolean;
  /** Of a partial repair: places, one of which receives a barrier that is removed from a marker. */
  readonly replacements?: ((marker: number) => readonly number[]) | undefined;
  /** Whether the time limit has passed. */
  readonly expired: () => boolean;
}

interface PlacedState {
  readonly marker: number;
  readonly state: Exclude<MarkerState, 'off'>;
}

/** Barriers to add, and existing barriers to remove since some threads do not reach them. */
export interface Placement {
  readonly added: readonly PlacedState[];
  readonly removed: readonly number[];
  readonly weight: number;
}

export type SearchResult =
  | {
      readonly kind: 'found';
      /** A placement with which the kernel is proved, the most readable one of minimum weight. */
      readonly placement: Placement;
      /** Searches for other placements of the same weight; proved too, in the order of readability. */
      readonly others: () => Promise<readonly Placement[]>;
    }
  /** No set of candidates is a repair. */
  | {
      readonly kind: 'none';
      readonly reason: Reason | { readonly kind: 'no-candidate' };
      /** The pairs of accesses that no barrier separates. */
      readonly races: readonly UnorderedPair[];
      /** Whether the pairs are of different blocks, so that only a barrier of the grid could separate them. */
      readonly needsGrid: boolean;
      /** The markers that only some threads reach. */
      readonly unsafe: ReadonlySet<number>;
      /** The markers that all threads reach. */
      readonly safe: ReadonlySet<number>;
    }
  | { readonly kind: 'budget' };

/** Maximum number of queries to the oracle, each for all instances and launches. */
const maxIterations = 200;
/** Maximum number of searches for placements of equal cost. */
const maxTies = 16;
/** Maximum number of placements of equal cost, the first included. */
const maxPlacements = 3;

interface Switch {
  readonly marker: number;
  readonly state: 'block' | 'grid' | 'warp' | LanesState;
  readonly weight: number;
}

/** Searches for the lightest placements that the oracle proves. */
export async function searchPlacements(request: SearchRequest): Promise<SearchResult> {
  const { oracle, candidates, effort, expired } = request;
  const present = oracle.present();
  const existing = new Map<number, 'block' | 'grid'>();
  for (const marker of present) {
    const candidate = candidates[marker];
    if (candidate?.kind === 'existing') existing.set(marker, candidate.level);
  }
  const stands = (marker: number): MarkerState => existing.get(marker) ?? 'off';
  let iterations = 0;
  const ask = (stateOf: (marker: number) => MarkerState): Promise<Answer> => {
    iterations++;
    effort.iterations++;
    return oracle.ask(stateOf);
  };

  const useful = new Set(oracle.subjects.flatMap(({ kernel }) => [...markersAmongAccesses(kernel)]));
  // Whether all threads reach a place does not depend on the other barriers: one query with all barriers on decides it.
  const original = await ask(stands);
  const full = await ask((marker) => existing.get(marker) ?? (useful.has(marker) ? 'block' : 'off'));
  const removed = present.filter((marker) => existing.has(marker) && original.divergent.has(marker) && full.divergent.has(marker));
  for (const marker of removed) existing.delete(marker);
  const unsafe = new Set([...full.divergent].filter((marker) => marker !== null));
  let free = present.filter((marker) => candidates[marker]?.kind !== 'existing' && useful.has(marker) && !unsafe.has(marker));

  let best = await ask((marker) => existing.get(marker) ?? (free.includes(marker) ? 'block' : 'off'));
  // Exception: threads that return early count as exited only if no barrier precedes the return.
  const exits = new Set<number>();
  for (const marker of between(best.races, (other) => existing.has(other) || free.includes(other))) {
    if (!unsafe.has(marker) || !useful.has(marker) || expired()) continue;
    const alone = await ask((other) => existing.get(other) ?? (other === marker ? 'block' : 'off'));
    if (alone.divergent.has(marker)) continue;
    if (alone.earlyExits.has(marker)) exits.add(marker);
    free = [...free, marker];
  }
  if (exits.size > 0) best = await ask((marker) => existing.get(marker) ?? (free.includes(marker) ? 'block' : 'off'));
  const needsGrid = best.races.some(({ scope }) => scope === 'grid');
  let gridFree: readonly number[] = [];
  if (needsGrid && request.gridLevel) {
    // A barrier of the block may be replaced by a barrier of the grid.
    gridFree = [...free, ...[...existing].flatMap(([marker, level]) => (level === 'block' ? [marker] : []))];
    for (;;) {
      best = await ask((marker) =>
        gridFree.includes(marker) ? 'grid' : (existing.get(marker) ?? (free.includes(marker) ? 'block' : 'off')),
      );
      const missed = gridFree.filter((marker) => best.divergent.has(marker));
      if (missed.length === 0 || expired()) break;
      // Threads that do not reach one place of a basic block do not reach the others either.
      const beside = new Set(oracle.subjects.flatMap(({ kernel }) => [...adjacentMarkers(kernel, missed)]));
      const parted = gridFree.filter((marker) => beside.has(marker));
      for (const marker of parted) unsafe.add(marker);
      gridFree = gridFree.filter((marker) => !parted.includes(marker));
    }
  }
  let warpFree: readonly number[] = [];
  const lanes = new Map<number, number>();
  const warpState = (marker: number): 'warp' | LanesState => (lanes.has(marker) ? `warp ${lanes.get(marker)!}` : 'warp');
  if (request.level === 'warp') {
    warpFree = present.filter((marker) => !existing.has(marker) && useful.has(marker) && !free.includes(marker));
    for (;;) {
      best = await ask(
        (marker) => existing.get(marker) ?? (free.includes(marker) ? 'block' : warpFree.includes(marker) ? warpState(marker) : 'off'),
      );
      const split = warpFree.filter((marker) => best.splitWarps.has(marker));
      if (split.length === 0 || expired()) break;
      // If the same lanes of each warp reach a place, a mask names them.
      const lost = new Set(split.filter((marker) => lanes.has(marker) || oracle.lanesAt(marker) === null));
      for (const marker of split) if (!lost.has(marker)) lanes.set(marker, oracle.lanesAt(marker)!);
      warpFree = warpFree.filter((marker) => !lost.has(marker));
    }
  }
  if (expired()) return { kind: 'budget' };
  const isOpen = best.races.length > 0 || (!best.proved && best.divergent.size === 0);
  const reason: Reason = best.races[0]?.reason ?? best.reason ?? { kind: 'not-proved' };
  const needsGridOnly = best.races.length > 0 && best.races.every(({ scope }) => scope === 'grid');
  const safe = new Set(gridFree.length > 0 ? gridFree : free.filter((marker) => !unsafe.has(marker)));
  const unproved: SearchResult = { kind: 'none', reason, races: best.races, needsGrid: needsGridOnly, unsafe, safe };
  // Barriers in memory and of part of a block order accesses too; a barrier of the block between them can prevent that.
  const besidesOthers = !needsGridOnly && oracle.subjects.some(({ kernel }) => holdsOtherBarriers(kernel));
  if (isOpen && !besidesOthers) return unproved;

  const depths = loopDepths(oracle.subjects.map(({ kernel }) => kernel));
  const counts = markerCounts(oracle.subjects.map(({ kernel }) => kernel));
  const switches: Switch[] = [];
  const indexOf = new Map<string, number>();
  const add = (marker: number, state: Switch['state']): void => {
    const candidate = candidates[marker]!;
    const facts = {
      isShared: request.isShared(candidate),
      hasEarlyExit: exits.has(marker) || full.earlyExits.has(marker),
      calls: counts.get(marker) ?? 1,
    };
    const weight = weightOf(candidate, state, depths.get(marker) ?? 0, request.weights, facts);
    indexOf.set(`${marker}${state.startsWith('warp') ? 'warp' : state}`, switches.length);
    switches.push({ marker, state, weight });
  };
  for (const marker of free) add(marker, 'block');
  for (const marker of gridFree) add(marker, 'grid');
  for (const marker of warpFree) add(marker, warpState(marker));

  const clauses: (readonly number[])[] = [];
  const addClauses = (fresh: readonly (readonly number[])[]): void => {
    clauses.push(...fresh);
    effort.clauses += fresh.length;
  };
  for (const marker of removed) {
    const places = (request.replacements?.(marker) ?? []).flatMap((place) => indexOf.get(`${place}block`) ?? []);
    if (places.length > 0) addClauses([places]);
  }
  let publishes = oracle.subjects.some(({ kernel }) => containsAtomics(kernel));
  const refused = new Set<number>();
  const stateWith = (chosen: readonly number[]) => {
    const states = new Map<number, MarkerState>();
    for (const index of chosen) states.set(switches[index]!.marker, switches[index]!.state);
    return (marker: number): MarkerState => states.get(marker) ?? existing.get(marker) ?? 'off';
  };
  /** Adds a clause from an answer; returns the reason if the answer implies no clause. */
  const learn = async (answer: Answer, chosen: readonly number[]): Promise<Reason | null> => {
    if (answer.proved) return null;
    const stateOf = stateWith(chosen);
    const known = clauses.length + refused.size;
    const fresh: number[][] = [];
    const ways: KnownWays = new Map();
    for (const pair of answer.races) {
      const isBarrier = (marker: number): boolean => stateOf(marker) === 'grid' || (pair.scope === 'block' && stateOf(marker) !== 'off');
      const between = markersBetween(pair.subject.kernel, pair.first, pair.second, isBarrier, pair.scope, ways);
      const clause = [...between].flatMap((marker) => {
        const levels = pair.scope === 'grid' ? (['grid'] as const) : (['block', 'grid', 'warp'] as const);
        return levels.flatMap((state) => indexOf.get(`${marker}${state}`) ?? []);
      });
      if (clause.length > 0) fresh.push(clause);
    }
    addClauses(withoutSupersets(fresh));
    for (const index of chosen) {
      const { marker } = switches[index]!;
      if (answer.divergent.has(marker) || answer.splitWarps.has(marker)) refused.add(index);
    }
    if (clauses.length + refused.size === known) {
      publishes = true;
      const clause = await missing(chosen);
      if (clause.length > 0) addClauses([clause]);
    }
    return clauses.length + refused.size > known ? null : (answer.reason ?? { kind: 'not-proved' });
  };

  /**
   * Switches that a set lacks. Its open pairs are ordered by no barrier between their accesses, but by all barriers
   * together: for example barriers of a block around data that it publishes to another block. The set grows until the
   * kernel is proved; one of the switches outside the proved set is needed.
   */
  const missing = async (chosen: readonly number[]): Promise<number[]> => {
    let grown = chosen;
    const rest: number[] = [];
    // The last switch of a marker is the strongest one.
    const strongest = new Map(switches.map(({ marker }, index) => [marker, index]));
    for (const index of strongest.values()) {
      if (grown.includes(index) || refused.has(index)) continue;
      if (iterations >= maxIterations || expired()) return [];
      const more = [...grown.filter((other) => switches[other]!.marker !== switches[index]!.marker), index];
      const { proved, divergent, splitWarps } = await ask(stateWith(more));
      const { marker } = switches[index]!;
      if (proved) rest.push(index);
      else if (!divergent.has(marker) && !splitWarps.has(marker)) grown = more;
    }
    return rest;
  };

  const none = (reason: Reason | { kind: 'no-candidate' }, races: readonly UnorderedPair[]): SearchResult => ({
    kind: 'none',
    reason,
    races,
    needsGrid: false,
    unsafe,
    safe: new Set(free),
  });
  const first = isOpen ? null : await learn(removed.length === 0 ? original : await ask(stateWith([])), []);
  if (first !== null && removed.length === 0 && !besidesOthers) return none(first, []);

  /** The lightest proved set without the given switches; a result if none exists, null if the time limit has passed. */
  const lightest = async (without: ReadonlySet<number>): Promise<readonly number[] | SearchResult | null> => {
    while (iterations < maxIterations && !expired()) {
      const open = clauses.map((clause) => clause.filter((index) => !refused.has(index) && !without.has(index)));
      const weight = (index: number): number => switches[index]!.weight;
      const set = lightestHittingSet(open, weight);
      if (!set) return none({ kind: 'no-candidate' }, best.races);
      const answer = await ask(stateWith(set));
      if (answer.proved) return withoutNeedless(set);
      const stuck = await learn(answer, set);
      if (stuck !== null) return none(stuck, answer.races);
    }
    return null;
  };

  /**
   * Removes unneeded barriers: a barrier that orders two accesses is redundant if another barrier lets a flag publish
   * the first.
   */
  const withoutNeedless = async (set: readonly number[]): Promise<readonly number[]> => {
    let needed = set;
    if (!publishes) return set;
    for (const index of [...set].sort((a, b) => switches[b]!.weight - switches[a]!.weight)) {
      if (needed.length === 1 || iterations >= maxIterations || expired()) break;
      const fewer = needed.filter((other) => other !== index);
      if ((await ask(stateWith(fewer))).proved) needed = fewer;
    }
    return needed;
  };

  const seen = new Set<string>();
  /** Null if the set is similar to an earlier one: its places are on the same lines. */
  const placementOf = (set: readonly number[]): Placement | null => {
    const lines = set.map((index) => `${candidates[switches[index]!.marker]!.line}${switches[index]!.state}`).join();
    if (seen.has(lines)) return null;
    seen.add(lines);
    const added = set.map((index) => ({ marker: switches[index]!.marker, state: switches[index]!.state }));
    // A barrier that is replaced by another kind is not removed in addition.
    const gone = removed.filter((marker) => !added.some((placed) => placed.marker === marker));
    return { added, removed: gone, weight: weightOfSet(set) };
  };
  const weightOfSet = (set: readonly number[]): number => set.reduce((sum, index) => sum + switches[index]!.weight, 0);

  /**
   * The lightest single switch with which the kernel is proved; pairs of switches too, if no other search is possible.
   */
  const fewest = async (): Promise<readonly number[] | null> => {
    const alone = switches.map((_, index) => [index]);
    const pairs = isOpen ? alone.flatMap(([a]) => alone.slice(a! + 1).map(([b]) => [a!, b!])) : [];
    for (const few of [...alone, ...pairs].sort((a, b) => weightOfSet(a) - weightOfSet(b))) {
      if (iterations >= maxIterations || expired()) break;
      if ((await ask(stateWith(few))).proved) return few;
    }
    return null;
  };

  const few = besidesOthers ? await fewest() : null;
  const set = few ?? (isOpen ? unproved : await lightest(new Set()));
  if (set === null) return { kind: 'budget' };
  if ('kind' in set) return set;
  const others = async (): Promise<readonly Placement[]> => {
    const found: Placement[] = [];
    if (few) return found;
    // Each further set must exclude an element of a set found before.
    const queue: ReadonlySet<number>[] = set.map((index) => new Set([index]));
    for (let tries = 1; queue.length > 0 && tries < maxTies && found.length < maxPlacements - 1; tries++) {
      const without = queue.shift()!;
      const other = await lightest(without);
      if (other === null || 'kind' in other || costOf(weightOfSet(other)) > costOf(weightOfSet(set))) continue;
      for (const index of other) queue.push(new Set([...without, index]));
      const placement = placementOf(other);
      if (placement) found.push(placement);
    }
    return found;
  };
  return { kind: 'found', placement: placementOf(set)!, others };
}

/** The markers between the accesses of pairs within a block. */
function between(races: readonly UnorderedPair[], isBarrier: (marker: number) => boolean): Set<number> {
  const found = new Set<number>();
  for (const { subject, first, second, scope } of races)
    if (scope === 'block') for (const marker of markersBetween(subject.kernel, first, second, isBarrier, scope)) found.add(marker);
  return found;
}
