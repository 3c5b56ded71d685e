/**
 * Barriers of the grid that programs make of a counter: between two barriers of the block, thread 0 counts its block and
 * waits until all blocks have counted. What a block does after the second barrier follows what all did before the first.
 */
import { type Access, isWriter } from '../../analysis/values/access.ts';
import type { ControlDependence } from '../../analysis/values/control-dependence.ts';
import { areLeaders, leaderReaches, partsOf, pinsOf } from '../../analysis/values/leader.ts';
import { type ProgramPoint, everyPathPasses, isExit, pointAfter, pointDominates, walkFrom } from '../../analysis/values/program-point.ts';
import type { UniformityResult } from '../../analysis/values/uniformity.ts';
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import { isFenceFor, isStrong } from '../../memory-model/fence.ts';
import { reachesGrid } from '../../memory-model/scope.ts';
import type { Term } from '../../term/term.ts';
import { numberOfUnits } from './arrival.ts';
import type { Supposition, SynchronisingKernel } from './pattern.ts';
import { addedBy, addendOf, isAt, isOfOnePlace, isPoll, isValue, isZero, rivalsOf, writeOf } from './synchronising-access.ts';

/** Whether both accesses belong to gates of one counter. */
export function areOfOneGate(gates: readonly GridGate[], a: Access, b: Access): boolean {
  return gates.some(({ own }) => own.includes(a) && own.includes(b));
}

/** A barrier of the grid. */
export interface GridGate {
  /** The barrier of the block that ends it. */
  readonly barrier: Instruction;
  readonly block: BlockId;
  /** All accesses with which it synchronises; they are ordered among all gates of one location. */
  readonly own: readonly Access[];
  /** The counter, and whether it is an assumption that it is 0 when the kernel starts. */
  readonly counter: Access;
  readonly startsAtZero: boolean;
  /** Whether the counter is never set back, so that the waits before and after it are for larger and larger numbers. */
  readonly countsUp: boolean;
  /** Terms that are assumed not to wrap around. */
  readonly assumes: readonly Term[];
}

type Barrier = SynchronisingKernel['barriers'][number];

/** What happens between two barriers of the block. */
interface Region {
  readonly start: Barrier;
  readonly end: Barrier;
  /** Strong accesses of thread 0, and a weak store that resets the counter. */
  readonly own: readonly Access[];
}

/** A region in which thread 0 waits, by one of the protocols; the place of its counter. */
interface Candidate extends Region {
  readonly arrival: Access;
  /** For a counter that only grows: the number that the block waits for. */
  readonly goal: Term | null;
  readonly assumes: readonly Term[];
}

/** The barriers of the grid of a kernel; none if any access could disturb one. */
export function findGridGates(of: SynchronisingKernel): readonly GridGate[] {
  const found = of.barriers.flatMap((end) => {
    const region = regionBefore(of, end);
    return (region && candidateOf(of, region)) ?? [];
  });
  const sound = found.filter(({ arrival }) => {
    const all = found.filter((other) => isAt(other.arrival, arrival));
    const own = all.flatMap((one) => one.own);
    const places = own.filter((one) => isWriter(one));
    return places.every((place) => rivalsOf(of.accesses, place, of.mayBeSame).every((rival) => own.includes(rival))) && haveGoals(of, all);
  });
  return sound.map(({ end, arrival, goal, assumes }) => ({
    barrier: end.instruction,
    block: end.block,
    own: sound.filter((other) => isAt(other.arrival, arrival)).flatMap(({ own }) => own),
    counter: arrival,
    startsAtZero: of.startsAtZero(arrival.targets[0]!.base) === 'assumed',
    countsUp: goal !== null,
    assumes,
  }));
}

/**
 * Whether all blocks execute the same gates in the same iterations: no branch that decides whether a gate is reached
 * differs between blocks.
 */
export function areExecutedByAll(
  gates: readonly GridGate[],
  { loopOf }: Kernel,
  dependences: ControlDependence,
  uniformity: UniformityResult,
): boolean {
  return gates.every(({ block }) =>
    [...dependences.controlling(block, loopOf[block] ?? null)].every((branch) => uniformity.branch(branch) === 'uniform'),
  );
}

/** The only barrier from which a thread comes to a barrier, and what thread 0 does in between; null for any other barrier. */
function regionBefore({ symbolic, barriers, accesses, dimensions }: SynchronisingKernel, end: Barrier): Region | null {
  const { kernel } = symbolic;
  const isBarrier = new Set(barriers.map(({ instruction }) => instruction));
  const leads = (from: ProgramPoint, to: ProgramPoint): boolean =>
    !everyPathPasses(kernel, from, to, (instruction) => isBarrier.has(instruction));
  const [start, ...more] = barriers.filter((barrier) => leads(barrier, end));
  if (!start || more.length > 0 || start.instruction === end.instruction || leads({ block: 0 as BlockId, position: -1 }, end)) return null;
  if (barriers.some((barrier) => barrier.instruction !== end.instruction && leads(start, barrier))) return null;
  const ends = walkFrom(kernel, pointAfter(start), (instruction) => !isBarrier.has(instruction));
  if (ends.some(isExit)) return null;
  const own = accesses.filter((access) => leads(start, access) && leads(access, end));
  const isOfLeader = ({ block }: Access): boolean => areLeaders(pinsOf(symbolic, block, dimensions));
  return own.length > 0 && own.every((access) => isOfLeader(access) && isOfOnePlace(access) && !access.isCopy) ? { start, end, own } : null;
}

/** The protocol by which thread 0 waits in a region; null for none that is known. */
function candidateOf(of: SynchronisingKernel, region: Region): Candidate | null {
  const { symbolic, dimensions } = of;
  const { own, start, end } = region;
  const { kernel } = symbolic;
  const adds = own.filter((access) => addendOf(symbolic, access) !== null && !isPoll(symbolic, access));
  const all = numberOfUnits(symbolic, dimensions, { kind: 'blocks', along: null }, 32);
  if (!all || !own.every((access) => access.bytes === 4)) return null;
  for (const arrival of adds) {
    const mayStart = of.startsAtZero(arrival.targets[0]!.base) !== 'no';
    // All threads of the block pass the first barrier, so that thread 0 satisfies what leads to it.
    const isPassed = pointDominates(kernel, start, arrival) && kernel.loopOf[start.block] === kernel.loopOf[arrival.block];
    const isExecuted = leaderReaches(symbolic, arrival.block, end.block, kernel.loopOf[end.block] ?? null, isPassed ? start.block : null);
    if (!isStrongInGrid(arrival) || !mayStart || !isExecuted || canReachInside(of, region, arrival, arrival)) continue;
    if (!isSupposed(of, 'release') && !everyPathPasses(kernel, start, arrival, isGate)) continue;
    const others = own.filter((access) => access !== arrival);
    const candidate =
      countingUp(of, region, arrival, others) ??
      byGeneration(of, region, arrival, others, all.term) ??
      byHighBit(of, region, arrival, others, all.term);
    if (candidate) return { ...candidate, assumes: [...candidate.assumes, ...(all.fits ? [] : [all.term])] };
  }
  return null;
}

const isGate = (instruction: Instruction): boolean => isFenceFor(instruction, 'patterns', true);

function isStrongInGrid({ instruction, strong }: Access): boolean {
  return isStrong(instruction) && reachesGrid(strong);
}

function canReachInside({ symbolic: { kernel } }: SynchronisingKernel, { end }: Region, from: Access, to: Access): boolean {
  return !everyPathPasses(kernel, from, to, (instruction) => instruction === end.instruction);
}

/** Edges of the control flow whose condition implies something. */
type Edges = (from: BlockId, to: BlockId) => boolean;

function edgesThat({ symbolic }: SynchronisingKernel, shows: (part: Term) => boolean): Edges {
  return (from, to) => partsOf(symbolic.edge(from, to)).some(shows);
}

/** Edges whose condition implies something about what a poll has read since the arrival. */
function edgesAfter(
  of: SynchronisingKernel,
  arrival: Access,
  polls: readonly Access[],
  shows: (part: Term, value: Term) => boolean,
): Edges {
  const { symbolic } = of;
  const { kernel } = symbolic;
  const byPoll = polls.map(({ instruction }) => ({
    instruction,
    isShown: edgesThat(of, (part) => shows(part, symbolic.value(instruction.results[0]!))),
  }));
  return (from, to) =>
    byPoll.some(({ instruction, isShown }) => {
      const end = { block: from, position: kernel.blocks[from]!.instructions.length };
      return isShown(from, to) && everyPathPasses(kernel, arrival, end, (gate) => gate === instruction);
    });
}

/**
 * Whether every path of thread 0 from a point to the end of the region takes one of the edges, or passes an instruction,
 * and a fence later.
 */
function opensOnly(
  { symbolic: { kernel } }: SynchronisingKernel,
  from: ProgramPoint,
  { end }: Region,
  isOpening: Edges,
  opener: Instruction | null = null,
): boolean {
  let isMet = false;
  const goesOn = (instruction: Instruction): boolean => {
    isMet ||= instruction === end.instruction;
    return instruction !== end.instruction && instruction !== opener;
  };
  walkFrom(kernel, pointAfter(from), goesOn, (source, to) => !isOpening(source, to));
  return !isMet;
}

/** Whether a fence is on every path from a read to the end of the region. */
function isAcquired(of: SynchronisingKernel, { end }: Region, read: ProgramPoint): boolean {
  return isSupposed(of, 'acquire') || everyPathPasses(of.symbolic.kernel, read, end, isGate);
}

function isSupposed({ supposed }: SynchronisingKernel, what: Supposition): boolean {
  return supposed?.has(what) === true;
}

/** Polls: strong reads that leave the value. */
function arePolls(of: SynchronisingKernel, some: readonly Access[], place: Access): boolean {
  return (
    some.length > 0 &&
    some.every(
      (poll) =>
        isAt(poll, place) &&
        isStrongInGrid(poll) &&
        (poll.operation === 'read' || isPoll(of.symbolic, poll)) &&
        isValue(poll.instruction.results[0]),
    )
  );
}

/** A counter that only grows: the block waits for a number, which `haveGoals` compares. */
function countingUp(of: SynchronisingKernel, region: Region, arrival: Access, polls: readonly Access[]): Candidate | null {
  const { symbolic } = of;
  const { store } = symbolic;
  if (addedBy(symbolic, arrival) !== 1n || !arePolls(of, polls, arrival)) return null;
  const goals = new Set<Term>();
  const isEnough = edgesAfter(of, arrival, polls, (part, value) => {
    const [below] = part.operator === 'not' ? part.arguments : [];
    const goal = below?.arguments[0] === value ? below.arguments[1]! : null;
    if (!goal || part !== store.not(store.unsignedLess(value, goal))) return false;
    goals.add(goal);
    return true;
  });
  if (!opensOnly(of, arrival, region, isEnough) || goals.size !== 1) return null;
  return polls.every((poll) => isAcquired(of, region, poll)) ? { ...region, arrival, goal: [...goals][0]!, assumes: [...goals] } : null;
}

/**
 * The last block to count sets the counter back and changes the generation, for which the others wait. Fences separate
 * the read of the generation from the count, and the count and the reset from the change.
 */
function byGeneration(of: SynchronisingKernel, region: Region, arrival: Access, others: readonly Access[], all: Term): Candidate | null {
  const { symbolic } = of;
  const { store, view, kernel } = symbolic;
  if (addedBy(symbolic, arrival) !== 1n || !isValue(arrival.instruction.results[0])) return null;
  const reset = others.filter((access) => isAt(access, arrival));
  const generation = others.filter((access) => !reset.includes(access));
  const writers = generation.filter((access) => isWriter(access) && !isPoll(symbolic, access));
  const [change, ...more] = writers;
  const [clear, ...others2] = reset;
  if (!change || more.length > 0 || !clear || others2.length > 0 || !isZero(writeOf(symbolic, clear)?.value) || !isStrongInGrid(change))
    return null;
  const reads = generation.filter((access) => access !== change);
  if (!arePolls(of, reads, change)) return null;
  const firsts = reads.filter((read) => pointDominates(kernel, read, arrival));
  const [first, ...moreFirsts] = firsts;
  const polls = reads.filter((read) => read !== first);
  if (!first || moreFirsts.length > 0 || polls.length === 0) return null;
  const own = symbolic.value(first.instruction.results[0]!);
  const written = addendOf(symbolic, change) === null ? writeOf(symbolic, change)?.value : null;
  const isOther = written
    ? view.decide(store.equal(written, own)) === false || isShifted(written, own)
    : (addedBy(symbolic, change) ?? 0n) !== 0n;
  const old = symbolic.value(arrival.instruction.results[0]);
  const last = store.equal(old, store.sum(32, -1n, [[all, 1n]]));
  const isLast = edgesThat(of, (part) => part === last);
  const isChanged = edgesAfter(of, arrival, polls, (part, value) => part === store.not(store.equal(value, own)));
  const passes = (from: ProgramPoint, to: ProgramPoint, { instruction }: Access): boolean =>
    everyPathPasses(kernel, from, to, (gate) => gate === instruction);
  const fenced = (from: Access, to: Access): boolean => isSupposed(of, 'release') || everyPathPasses(kernel, from, to, isGate);
  const reaches = (to: Access): boolean => {
    let isMet = false;
    const goesOn = (instruction: Instruction): boolean => {
      isMet ||= instruction === to.instruction;
      return !isMet && instruction !== region.end.instruction;
    };
    walkFrom(kernel, pointAfter(arrival), goesOn, (source, target) => !isLast(source, target));
    return isMet;
  };
  const isSound =
    isOther &&
    passes(region.start, arrival, first) &&
    [clear, change].every((access) => passes(region.start, access, arrival) && !reaches(access)) &&
    passes(arrival, change, clear) &&
    !canReachInside(of, region, change, clear) &&
    polls.every((poll) => passes(region.start, poll, arrival)) &&
    fenced(first, arrival) &&
    fenced(arrival, change) &&
    fenced(clear, change) &&
    opensOnly(of, arrival, region, isChanged, change.instruction) &&
    [...polls, change].every((read) => isAcquired(of, region, read) || read === change);
  return isSound ? { ...region, arrival, goal: null, assumes: [] } : null;
}

/** Whether a value is another one plus a constant other than 0. */
function isShifted(value: Term, own: Term): boolean {
  return (
    value.operator === 'sum' &&
    value.value !== 0n &&
    value.arguments.length === 1 &&
    value.arguments[0] === own &&
    value.coefficients[0] === 1n
  );
}

/**
 * The additions of all blocks amount to the highest bit, which changes when the last one has counted: block 0 adds what
 * the ones of the others leave.
 */
function byHighBit(of: SynchronisingKernel, region: Region, arrival: Access, polls: readonly Access[], all: Term): Candidate | null {
  const { symbolic, dimensions } = of;
  const { store } = symbolic;
  const added = addendOf(symbolic, arrival)!;
  const high = store.constant(32, 1n << 31n);
  const isFirst = store.all(
    ([0, 1, 2] as const).flatMap((axis) =>
      dimensions.grid[axis] === 1 ? [] : [store.equal(store.atom(32, { kind: 'block', axis }), store.constant(32, 0n))],
    ),
  );
  const rest = store.sum(32, (1n << 31n) + 1n, [[all, -1n]]);
  if (added !== store.select(isFirst, rest, store.constant(32, 1n)) || !arePolls(of, polls, arrival)) return null;
  const old = symbolic.value(arrival.instruction.results[0]!);
  const isFlipped = edgesAfter(of, arrival, polls, (part, value) => {
    const bits = store.xor(32, old, value);
    const isSet = store.and(32, bits, high);
    const signs = [store.signedLess(bits, store.constant(32, 0n)), store.not(store.signedLess(store.constant(32, (1n << 32n) - 1n), bits))];
    return signs.includes(part) || part === store.not(store.equal(isSet, store.constant(32, 0n))) || part === store.equal(isSet, high);
  });
  const isSound = opensOnly(of, arrival, region, isFlipped) && polls.every((poll) => isAcquired(of, region, poll));
  return isSound ? { ...region, arrival, goal: null, assumes: [] } : null;
}

/**
 * Whether the numbers that blocks wait for at one counter are those that it has once all blocks have counted: the gates
 * follow one another, each once, or once in every iteration of one loop.
 */
function haveGoals(of: SynchronisingKernel, all: readonly Candidate[]): boolean {
  const { symbolic, dimensions } = of;
  const { kernel, store } = symbolic;
  if (isSupposed(of, 'count') || all.every(({ goal }) => goal === null)) return true;
  const count = dimensions.grid.reduce<bigint | null>(
    (product, size) => (product === null || size === null ? null : product * BigInt(size)),
    1n,
  );
  const ordered = [...all].sort((a, b) => (pointDominates(kernel, a.end, b.end) ? -1 : 1));
  const isChain = ordered.every((one, at) => at === 0 || pointDominates(kernel, ordered[at - 1]!.end, one.end));
  const loops = ordered.map(({ end }) => kernel.loopOf[end.block] ?? null);
  const loop = loops.at(-1)!;
  const inLoop = ordered.filter((_, at) => loops[at] === loop && loop !== null).length;
  const isSimple =
    loops.every((one, at) => one === (at < ordered.length - inLoop ? null : loop)) &&
    (loop === null || kernel.loops[loop]!.parent === null);
  if (count === null || !isChain || !isSimple) return false;
  // Every iteration passes all gates of the loop.
  const isWhole =
    loop === null ||
    kernel.loops[loop]!.latches.every((latch) =>
      ordered.slice(-inLoop).every(({ end }) => pointDominates(kernel, end, { block: latch, position: Infinity })),
    );
  if (!isWhole) return false;
  return ordered.every(({ goal }, at) => {
    if (goal === null) return false;
    const isRepeated = loop !== null && at >= ordered.length - inLoop;
    const iteration = isRepeated ? store.atom(32, { kind: 'iteration', loop }) : null;
    const expected = store.sum(32, count * BigInt(at + 1), iteration ? [[iteration, count * BigInt(inLoop)]] : []);
    return goal === expected;
  });
}
