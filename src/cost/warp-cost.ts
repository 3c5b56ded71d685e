/**
 * Maximum cost of one warp. Its paths through the kernel are followed with the lanes that may be active: a uniform
 * branch costs its more expensive side, one that may split the lanes costs both. Lanes reconverge where the sides join,
 * and iterate a loop together, as the counters of `interpreter/counters.ts` define it.
 */
import { participantsOf } from '../isa/model/effect.ts';
import { waits } from '../interpreter/core/program.ts';
import type { Block, BlockId, Instruction, Kernel, Loop } from '../ir/form/kernel.ts';
import { type BlockPlace, costOfBlock, iterationsDiffer } from './block-cost.ts';
import { decideBranch, isSameInAllLanes, splitsOf } from './branch-sides.ts';
import { amortisedTripCount, isVisitedAlike } from './amortised-trip-count.ts';
import { type Cost, singleCost, free, loosened, mapCost, repeated, sequentialCost, sumOverIterations, worstOf } from './costs-by-line.ts';
import { type Expression, add, constant, constantValue, evaluate, named, namesOf, subtract, zero } from './expressions/expression.ts';
import { type Growth, compareGrowth, growthIn } from './expressions/growth.ts';
import { LaneEvaluator, type LaneMemos } from './lanes/lane-values.ts';
import { reconvergencePoints } from './lanes/reconvergence.ts';
import { counts } from './model/metrics.ts';
import { isNonNegative, maximum, minimum, substitute } from './expressions/expression-order.ts';
import { boundSharedIterations, sharedName } from './expressions/shared-iterations.ts';
import { roundName } from './lanes/term-bound.ts';
import { decidingExit, tightest } from './loops/deciding-exit.ts';
import { atLeastNothing, overRounds } from './iteration-cost.ts';
import { type TripCount, tripCounts } from './loops/trip-count.ts';
import { lanesInMask, type WarpPosition, type Rounds, type Warp } from './lanes/warp-position.ts';
import type { WarpSetting } from './warp-setting.ts';

/** Loops with at most this trip count are analysed by iteration if their iterations differ. */
const maxRounds = 64;
/** Blocks at which a walk ends, in their order. */
type Stops = ReadonlySet<BlockId>;

const noStops: Stops = new Set();

/** The cost of a walk, and the lanes that may arrive at its ends. */
interface Walked {
  readonly cost: Cost;
  readonly reached: ReadonlyMap<BlockId, number>;
  /** Whether lanes may wait for others on the path. Lanes that do not wait continue and do not reconverge. */
  readonly waits: boolean;
  /** The number of groups, not waiting for each other, in which the lanes may arrive. */
  readonly groups: number;
  /** The line of a loop on the path. */
  readonly loop: string | null;
  /** Whether all lanes that may arrive do arrive. */
  readonly isSure: boolean;
}

/** Lanes on the sides of a branch, as far as known. */
interface Decision {
  /** All lanes take one side. */
  readonly isExclusive: boolean;
  /** The side of every lane is known. */
  readonly isDecided: boolean;
}

/** One iteration of a loop, or the kernel outside of loops. */
interface Region extends BlockPlace {
  readonly loop: Loop | null;
  /** The region around the loop; null outside of loops. */
  readonly outer: Region | null;
  /** Lanes that have entered the loop, or started the kernel. */
  readonly mask: number;
  readonly known: Map<string, Walked>;
  /** Costs independent of the branch that bounds the trip count, shared by a staying and a leaving iteration. */
  readonly common: Common;
  /** Exits of the loop for which it is unknown in this iteration which lanes leave. */
  readonly open: Set<BlockId>;
  /** Outcome of the branch that bounds the trip count: lanes stay in all iterations except the last. */
  readonly forced: { readonly trip: TripCount; readonly stays: boolean } | null;
}

/** Costs of an iteration that do not depend on its end: of a block, and of an inner loop. */
interface Common {
  readonly blocks: Map<string, Cost>;
  readonly loops: Map<string, Walked>;
}

interface Round {
  readonly region: Region;
  readonly walked: Walked;
  readonly open: ReadonlySet<BlockId>;
}

/** The parts of a region that are common to two paths through one iteration of a loop. */
function placeOf({ place, evaluator, common }: Region): Pick<Region, 'place' | 'evaluator' | 'common'> {
  return { place, evaluator, common };
}

/** The bounds of one warp. */
export function costOfWarp(setting: WarpSetting, warp: Warp): Cost {
  const walker = new WarpWalker(setting, warp);
  return walker.whole();
}

class WarpWalker {
  readonly #setting: WarpSetting;
  readonly #warp: Warp;
  readonly #kernel: Kernel;
  /** Values that are the same in all iterations; cached for the warp. */
  readonly #ofWarp: LaneMemos = [];
  /** Bounds of trip counts, summed over all executions within a root, by their names. */
  readonly #shared = new Map<string, { readonly root: Loop | null; readonly total: Expression }>();

  constructor(setting: WarpSetting, warp: Warp) {
    this.#setting = setting;
    this.#warp = warp;
    this.#kernel = setting.symbolic.kernel;
  }

  whole(): Cost {
    const { lanes } = this.#warp;
    const region = this.#region(null, null, lanes, new Map(), null);
    return this.#settled(this.#visit(region, 0 as BlockId, noStops, lanes).cost, null);
  }

  #region(loop: Loop | null, outer: Region | null, mask: number, rounds: Rounds, forced: Region['forced']): Region {
    const place: WarpPosition = { warp: this.#warp, rounds };
    return {
      loop,
      outer,
      mask,
      place,
      evaluator: new LaneEvaluator(place, this.#ofWarp),
      known: new Map(),
      common: { blocks: new Map(), loops: new Map() },
      open: new Set(),
      forced,
    };
  }

  /** One iteration of a loop: with a given index, or with any index. */
  #round(outer: Region, loop: Loop, mask: number, number: number | null, forced: Region['forced'] = null): Region {
    return this.#region(loop, outer, mask, new Map([...outer.place.rounds, [loop.id, number]]), forced);
  }

  /**
   * A cost in which the trip counts bounded over all iterations of a loop, or over the kernel, are replaced by their
   * bounds.
   */
  #settled(cost: Cost, root: Loop | null): Cost {
    const boundOf = (name: string): Expression | null => {
      const known = this.#shared.get(name);
      return known && known.root === root ? known.total : null;
    };
    return mapCost(cost, (amount) => boundSharedIterations(amount, boundOf));
  }

  /** The walk from a block to the first of its stops. */
  #walk(region: Region, block: BlockId, stops: Stops, mask: number): Walked {
    const { loop } = region;
    const ends = stops.has(block) || (loop !== null && (block === loop.header || !loop.blocks.has(block)));
    if (ends) return { cost: free, reached: new Map([[block, mask]]), waits: false, groups: 1, loop: null, isSure: true };
    return this.#visit(region, block, stops, mask);
  }

  #visit(region: Region, block: BlockId, stops: Stops, mask: number): Walked {
    const key = `${block},${[...stops].join(' ')},${mask}`;
    let walked = region.known.get(key);
    if (!walked) {
      this.#setting.visit();
      walked = this.#compute(region, block, stops, mask);
      region.known.set(key, walked);
    }
    return walked;
  }

  #compute(region: Region, block: BlockId, stops: Stops, mask: number): Walked {
    const inner = this.#innerLoop(region, block);
    if (inner) {
      const key = `${inner.id},${mask}`;
      const run = region.common.loops.get(key) ?? this.#runLoop(region, inner, mask);
      region.common.loops.set(key, run);
      const sides = [...run.reached].filter(([, lanes]) => lanes !== 0);
      const join = sides.length === 1 ? null : this.#joinAfter(region, inner);
      return this.#goOn(region, run, mask, sides, { isExclusive: false, isDecided: true }, join, stops);
    }
    const node = this.#kernel.blocks[block]!;
    const { sides, splits, ...decision } = this.#decide(region, node, mask);
    const key = `${block},${mask}`;
    const straight = region.common.blocks.get(key) ?? costOfBlock(this.#setting, region, node, mask);
    region.common.blocks.set(key, straight);
    const own = [straight];
    if (splits) own.push(singleCost('divwarps', this.#setting.lineOf(node), splits, decision.isDecided));
    // Lanes that wait only for a subset of the warp continue without the other lanes.
    const waiting = node.instructions.filter(({ operation }) => waits(operation.effect));
    const groups = waiting.every(isForAllLanes) ? 1 : lanesInMask(mask).length;
    const whole: Walked = {
      cost: groups === 1 ? sequentialCost(own) : loosened(repeated(sequentialCost(own), constant(groups))),
      reached: new Map(),
      waits: waiting.length > 0,
      groups,
      loop: null,
      isSure: true,
    };
    return this.#goOn(region, whole, mask, sides, decision, this.#joinOf(region, block), stops);
  }

  /** Walks both sides to their reconvergence points, and continues from there. */
  #goOn(
    region: Region,
    own: Walked,
    mask: number,
    sides: readonly (readonly [BlockId, number])[],
    { isExclusive, isDecided }: Decision,
    join: BlockId | null,
    stops: Stops,
  ): Walked {
    const points = isExclusive
      ? pointsAt(join)
      : this.#pointsOf(
          region,
          sides.map(([next]) => next),
          join,
          stops,
        );
    const ahead = points.length > 0 ? new Set([...stops, ...points].sort((a, b) => a - b)) : stops;
    const walks = sides.map(([next, lanes]) => this.#walk(region, next, ahead, lanes));
    const costs = walks.map(({ cost }) => cost);
    const lanes = lanesInMask(mask).length;
    const inner = walks.find((walk) => walk.loop !== null)?.loop ?? null;
    // All sides reach the same block.
    const [first] = walks;
    const reconverges = walks.every(({ reached }) => reached.size === 1 && [...reached.keys()][0] === [...first!.reached.keys()][0]);
    const isKnown = isDecided || walks.length < 2;
    const isSure = own.isSure && walks.every((walk) => walk.isSure) && (isKnown || reconverges);
    const together = isExclusive ? worstOf(costs) : isKnown ? sequentialCost(costs) : loosened(sequentialCost(costs));
    const between = this.#inGroups(own.isSure ? together : loosened(together), own.groups, inner);
    const doWait = walks.some((walk) => walk.waits);
    const sideGroups = walks.map((walk) => walk.groups);
    const joinedGroups = !isExclusive && doWait ? sideGroups.reduce((a, b) => a + b, 0) : Math.max(1, ...sideGroups);
    const reached = new Map<BlockId, number>();
    for (const walk of walks) mergeInto(reached, walk.reached);
    let groups = Math.min(lanes, own.groups * joinedGroups);
    let loop = own.loop ?? inner;
    let isWaiting = own.waits || doWait;
    let isStillSure = isSure;
    const whole = [own.cost, between];
    for (const point of points) {
      const meeting = stops.has(point) ? 0 : (reached.get(point) ?? 0);
      if (meeting === 0) continue;
      reached.delete(point);
      const others = points.slice(points.indexOf(point) + 1);
      const rest = this.#walk(region, point, others.length > 0 ? new Set([...stops, ...others].sort((a, b) => a - b)) : stops, meeting);
      mergeInto(reached, rest.reached);
      whole.push(this.#inGroups(isStillSure ? rest.cost : loosened(rest.cost), groups, rest.loop));
      isWaiting ||= rest.waits;
      groups = Math.min(lanes, groups * rest.groups);
      loop ??= rest.loop;
      isStillSure &&= rest.isSure;
    }
    return { cost: sequentialCost(whole), reached, waits: isWaiting, groups, loop, isSure: isStillSure };
  }

  #pointsOf({ loop }: Region, starts: readonly BlockId[], join: BlockId | null, stops: Stops): readonly BlockId[] {
    if (starts.length < 2) return pointsAt(join);
    const { meetings } = this.#setting;
    const key = `${loop?.id ?? ''}/${starts.join(' ')}/${join ?? ''}/${[...stops].join(' ')}`;
    let points = meetings.get(key);
    if (!points) {
      points = reconvergencePoints(this.#kernel, loop, starts, join, stops);
      meetings.set(key, points);
    }
    return points;
  }

  /**
   * Cost of groups of lanes that continue separately. In a loop they may be in different iterations, and still execute
   * an instruction together.
   */
  #inGroups(cost: Cost, groups: number, loop: string | null): Cost {
    if (groups === 1) return cost;
    return loop === null ? loosened(repeated(cost, constant(groups))) : this.#apart(cost, loop);
  }

  #apart(cost: Cost, line: string): Cost {
    for (const count of counts)
      this.#setting.note(count, line, 'it is not known in which iterations of this loop the lanes of a warp execute together');
    return repeated(cost, null);
  }

  /** The inner loop of the region's loop with a block as header; null without one. */
  #innerLoop({ loop }: Region, block: BlockId): Loop | null {
    const { loopOf, loops } = this.#kernel;
    let at = loopOf[block] ?? null;
    const outer = loop?.id ?? null;
    if (at === outer) return null;
    while (at !== null && loops[at]!.parent !== outer) at = loops[at]!.parent;
    return at === null ? null : loops[at]!;
  }

  /** The block that joins all paths from a block within the iteration. */
  #joinOf({ loop }: Region, block: BlockId): BlockId | null {
    const join = this.#kernel.postdominators[block] ?? null;
    if (join === null || (loop && (join === loop.header || !loop.blocks.has(join)))) return null;
    return join;
  }

  #joinAfter(region: Region, inner: Loop): BlockId | null {
    let at: BlockId | null = inner.header;
    while (at !== null && inner.blocks.has(at)) at = this.#kernel.postdominators[at] ?? null;
    const { loop } = region;
    return at === null || (loop && (at === loop.header || !loop.blocks.has(at))) ? null : at;
  }

  /** The lanes that continue at each successor of a block. */
  #decide(
    region: Region,
    block: Block,
    mask: number,
  ): Decision & {
    readonly sides: readonly (readonly [BlockId, number])[];
    readonly splits: Expression | null;
  } {
    const { terminator, successors } = block;
    const all = (lanes: number): (readonly [BlockId, number])[] => [...new Set(successors)].map((next) => [next, lanes]);
    if (terminator.kind !== 'branch' && terminator.kind !== 'switch')
      return { sides: all(mask), isExclusive: false, isDecided: true, splits: null };
    const { forced, loop } = region;
    if (forced?.trip.from === block.id) {
      // Leaving lanes and their divergent branches are counted for all iterations together.
      const sides = all(mask).filter(([next]) => (next === forced.trip.stay) === forced.stays);
      return { sides, isExclusive: false, isDecided: true, splits: null };
    }
    const isExit = loop !== null && successors.some((next) => !loop.blocks.has(next));
    const decided = terminator.kind === 'branch' ? decideBranch(this.#setting, region, block, mask) : null;
    if (decided && terminator.kind === 'branch') {
      const { yes, no } = decided;
      const sides = [
        [terminator.then, yes],
        [terminator.otherwise, no],
      ] as const;
      const taken = sides.filter(([, lanes]) => lanes !== 0);
      const isSplit = taken.length > 1 && terminator.then !== terminator.otherwise;
      if (isSplit) this.#setting.assume('reconvergence');
      return { sides: taken, isExclusive: false, isDecided: true, splits: isSplit ? constant(1) : null };
    }
    const isUniform = this.#setting.uniformity.branch(block.id) !== 'varying' || isSameInAllLanes(this.#setting, region, block, mask);
    if (this.#setting.uniformity.branch(block.id) === 'stable') this.#setting.assume('stable-memory');
    if (isUniform) return { sides: all(mask), isExclusive: true, isDecided: false, splits: null };
    this.#setting.assume('reconvergence');
    if (isExit) region.open.add(block.id);
    const isSplit = !isExit && (mask & (mask - 1)) !== 0;
    return {
      sides: all(mask),
      isExclusive: false,
      isDecided: false,
      splits: isSplit ? splitsOf(this.#setting, region, block, mask) : null,
    };
  }

  /** The walk of all iterations of a loop; lanes arrive at the blocks after its exits. */
  #runLoop(outer: Region, loop: Loop, mask: number): Walked {
    const around = outer.place;
    const trips = tripCounts(this.#setting, loop, mask, around, outer.evaluator);
    const direct = tightest(trips);
    const amortised = direct?.isDetermined ? null : this.#amortised(outer, loop, mask, direct?.rounds ?? null);
    const trip = amortised ? decidingExit(this.#kernel, loop, amortised, mask) : direct;
    const number = trip ? constantValue(trip.rounds) : null;
    const count = number && number.bottom === 1n && number.top <= BigInt(maxRounds) ? Number(number.top) : null;
    this.#setting.loopRounds.note(loop.id, trip?.rounds ?? amortised ?? this.#fromRanges(loop), trip?.from ?? null);
    if (count !== null && iterationsDiffer(this.#setting, loop)) return this.#roundByRound(outer, loop, mask, count);
    return this.#allRounds(outer, loop, mask, trip, amortised);
  }

  /**
   * Trip count of a loop from potentials: its bound, or a name for it if its sum over all executions within an outer
   * loop has a better bound; null if none is better than the direct one.
   */
  #amortised(outer: Region, loop: Loop, mask: number, direct: Expression | null): Expression | null {
    const setting = this.#setting;
    const own = amortisedTripCount(setting, loop, loop, outer, mask, true);
    let least = own && direct ? tighter(direct, own) : (own ?? direct);
    let found = least === direct ? null : least;
    for (let root: Region | null = outer; root; root = root.outer) {
      // Trip counts are not shared if there is only one execution.
      if (least && outer.loop === null) break;
      const isAlike = mask === root.mask && isVisitedAlike(setting, root.loop, loop);
      const total = amortisedTripCount(setting, root.loop, loop, root.outer ?? root, root.mask, isAlike);
      // Of equal bounds the one over more outer iterations is better.
      if (!total || (least && compareGrowth(growthOf(least), growthOf(total)) < 0)) continue;
      least = total;
      const name = sharedName(loop.id, root.loop?.id ?? null, isAlike);
      this.#shared.set(name, { root: root.loop, total });
      found = named(name);
    }
    return found;
  }

  #roundByRound(outer: Region, loop: Loop, mask: number, count: number): Walked {
    const line = this.#setting.lineOf(this.#kernel.blocks[loop.header]!);
    const costs: Cost[] = [];
    const reached = new Map<BlockId, number>();
    const open = new Set<BlockId>();
    let lanes = mask;
    let doWait = false;
    let isSure = true;
    let groups = 1;
    let leaving = 0;
    const most = lanesInMask(mask).length;
    for (let round = 0; round <= count && lanes !== 0; round++) {
      const region = this.#round(outer, loop, mask, round);
      const walked = this.#visit(region, loop.header, noStops, lanes);
      const cost = isSure ? walked.cost : loosened(walked.cost);
      costs.push(groups === 1 ? cost : this.#apart(cost, line));
      isSure &&= walked.isSure;
      doWait ||= walked.waits;
      groups = Math.min(most, groups * walked.groups);
      lanes = 0;
      let leaves = false;
      for (const [block, arrived] of walked.reached) {
        if (block === loop.header) lanes = arrived;
        else {
          mergeInto(reached, new Map([[block, arrived]]));
          leaves ||= arrived !== 0;
        }
      }
      if (leaves) leaving++;
      for (const block of region.open) open.add(block);
    }
    costs.push(this.#openExits(open, mask, constant(count + 1)));
    // Lanes that left while others waited in a later iteration continue before those.
    const separateGroups = doWait ? Math.max(1, leaving) : 1;
    const cost = this.#settled(sumOverIterations(costs), loop);
    return { cost, reached, waits: doWait, groups: Math.min(most, groups * separateGroups), loop: line, isSure };
  }

  /** Each lane leaves a loop once, and the last lanes of a warp leave without divergence. */
  #openExits(open: ReadonlySet<BlockId>, mask: number, visits: Expression | null): Cost {
    const most = constant(lanesInMask(mask).length - 1);
    const [first] = open;
    if (first === undefined) return free;
    const times = visits && open.size === 1 ? minimum(most, visits) : most;
    return singleCost('divwarps', this.#setting.lineOf(this.#kernel.blocks[first]!), times, false);
  }

  #allRounds(outer: Region, loop: Loop, mask: number, trip: TripCount | null, amortised: Expression | null): Walked {
    const line = this.#setting.lineOf(this.#kernel.blocks[loop.header]!);
    const rounds = trip?.rounds ?? amortised ?? this.#fromRanges(loop);
    const round = (number: number | null, forced: Region['forced'], like?: Region): Round => {
      const region = { ...this.#round(outer, loop, mask, number, forced), ...(like && placeOf(like)) };
      return { region, walked: this.#visit(region, loop.header, noStops, mask), open: region.open };
    };
    const limit = this.#setting.symbolic.rounds[loop.id]!;
    const numbers: (number | null)[] =
      limit <= BigInt(maxRounds) && iterationsDiffer(this.#setting, loop) ? Array.from({ length: Number(limit) + 1 }, (_, k) => k) : [null];
    const staying = numbers.map((number) => round(number, trip && { trip, stays: true }));
    const leaving = trip ? numbers.map((number, at) => round(number, { trip, stays: false }, staying[at]!.region)) : staying;
    const each = worstOf(staying.map(({ walked }) => walked.cost));
    const last = worstOf(leaving.map(({ walked }) => walked.cost));
    if (rounds === null) {
      for (const [count, amount] of each.totals)
        if (amount?.addends.size !== 0) this.#setting.note(count, line, 'the trip count of this loop is not known');
    }
    const name = roundName(loop.id);
    const inner = rounds === null ? repeated(each, null) : atLeastNothing(overRounds(each, last, name, rounds), rounds);
    const open = new Set([...staying, ...leaving].flatMap((one) => [...one.open]));
    const visits = rounds && maximum(rounds, zero);
    // Branches before the one that bounds the trip count are executed once more.
    const isMetLast = leaving.some((one) => one.open.size > 0);
    const exits: Cost[] = [this.#openExits(open, mask, visits && (isMetLast ? add(visits, constant(1)) : visits))];
    if (trip && this.#setting.uniformity.branch(trip.from) === 'varying') {
      this.#setting.assume('reconvergence');
      const from = this.#kernel.blocks[trip.from]!;
      const spread = constantValue(trip.spread);
      const inLoop = this.#round(outer, loop, mask, null);
      const isOnce = spread?.top === 1n && spread.bottom === 1n;
      const once = isOnce ? splitsOf(this.#setting, inLoop, from, mask) : null;
      const isFixed = once !== null && !namesOf(once).has(name);
      const times = isFixed ? once : minimum(trip.spread, visits ?? trip.spread);
      exits.push(singleCost('divwarps', this.#setting.lineOf(from), times, false));
    }
    const reached = new Map<BlockId, number>();
    for (const { to } of loop.exits) reached.set(to, mask);
    const lanes = lanesInMask(mask).length;
    const all = [...staying, ...leaving].map(({ walked }) => walked);
    const doWait = all.some((walked) => walked.waits);
    const isUniform = loop.exits.every((exit) => this.#setting.uniformity.branch(exit.from) !== 'varying');
    const staysTogether = all.every((walked) => walked.groups === 1);
    const whole = this.#settled(sequentialCost([inner, ...exits]), loop);
    // Exact if all lanes leave together, after the maximum number of iterations.
    const isExact = trip?.isExact === true && loop.exits.length === 1 && all.every((walked) => walked.isSure);
    const total = isExact ? whole : loosened(whole);
    return {
      cost: staysTogether ? total : this.#apart(total, line),
      reached,
      waits: doWait,
      groups: staysTogether && (isUniform || !doWait) ? 1 : lanes,
      loop: line,
      isSure: new Set(loop.exits.map(({ to }) => to)).size === 1,
    };
  }

  /** The maximum trip count from the ranges of values; null if it is too large to be useful. */
  #fromRanges(loop: Loop): Expression | null {
    const most = this.#setting.symbolic.rounds[loop.id]!;
    return most <= 1n << 20n ? constant(most) : null;
  }
}

/** Whether all threads of the block, or all lanes of the warp, wait at an instruction. */
function isForAllLanes({ operation, arguments: operands }: Instruction): boolean {
  if (participantsOf(operation.effect) !== 'lanes') return true;
  // The mask is the last operand.
  const mask = operands[operands.length - 1];
  return mask?.kind === 'constant' && BigInt.asUintN(32, mask.value) === 0xffffffffn;
}

function pointsAt(join: BlockId | null): readonly BlockId[] {
  return join === null ? [] : [join];
}

function mergeInto(into: Map<BlockId, number>, more: ReadonlyMap<BlockId, number>): void {
  for (const [block, lanes] of more) into.set(block, (into.get(block) ?? 0) | lanes);
}

/**
 * The tighter of two bounds: the one that is at most the other for all values; otherwise the one with the lower order
 * of growth; otherwise the smaller one at representative sizes. Of equal bounds the second.
 */
function tighter(a: Expression, b: Expression): Expression {
  if (a.key === b.key) return b;
  if (isNonNegative(subtract(a, b))) return b;
  if (isNonNegative(subtract(b, a))) return a;
  const order = compareGrowth(growthOf(a), growthOf(b));
  if (order !== 0) return order < 0 ? a : b;
  const [ofA, ofB] = [a, b].map((bound) => valuesAt(bound));
  return ofA!.every((value, index) => value < ofB![index]!) ? a : b;
}

/** Growth of a bound if all its names grow at the same rate. */
function growthOf(bound: Expression): Growth {
  return growthIn(
    substitute(bound, () => named('')),
    '',
  );
}

/** Values of a bound at representative sizes. */
function valuesAt(bound: Expression): number[] {
  return usualSizes.map((size) => {
    const value = evaluate(bound, (name) => (/^blockDim\./.test(name) ? 256n : size));
    return value ? Number(value.top) / Number(value.bottom) : Infinity;
  });
}

/** Representative sizes; at these numbers, quotients are not exact by coincidence. */
const usualSizes: readonly bigint[] = [1001n, 32_003n, 1_000_003n];
