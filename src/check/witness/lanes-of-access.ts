/** The threads that perform an access in a launch, by the terms of its address and path and without a run. */
import type { Dim3 } from '../../base/dim3.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import { parseIterationRelation } from '../../analysis/values/iteration-relation.ts';
import { type AtomColumn, ColumnEvaluation } from '../../term/evaluate-columns.ts';
import type { Term } from '../../term/term.ts';
import type { Access } from '../../analysis/values/access.ts';
import { partsOf } from '../../analysis/values/leader.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import type { Instances, TermInstance } from '../obligations/instance.ts';
import type { AccessSide } from '../obligations/obligation.ts';
import type { LaunchInstance } from '../representative/representative-launches.ts';

/** Numbers of first iterations that are tried of a loop, unless that are too many combinations. */
const firstIterations = [4, 2, 1];
/** Limit on the combinations of iterations. */
const mostCombinations = 72;
/** Limit on the trip count of a loop of which the last iterations are tried. */
const mostTrips = 1 << 16;
/** The effort of an evaluation in addition to that for its lanes, in lanes. */
const overhead = 64;

/** Number of conditions that may be evaluated, each for one thread in one iteration. */
export interface OverlapEffort {
  left: number;
  /** What sides touch in launches, for pairs that have sides in common; absent: nothing is kept. */
  readonly kept?: KeptTouches;
}

/** An access of one thread, in any iteration of each loop. */
export function inAnyIteration({ symbolic, kernel }: KernelAndLaunch & SymbolicFacts, access: Access, target: Target): AccessSide {
  const reading: TermInstance = { side: 1, rounds: kernel.loops.map(() => 'free' as const) };
  const conditions = [symbolic.reach(access.block), target.condition].flatMap(partsOf).map((term) => ({ term, reading }));
  return { access, target, reading, conditions };
}

/** Limit on the threads that are kept. */
const mostKept = 2_000_000;

/** The threads that perform an access in launches, and what they touch. */
export class KeptTouches {
  readonly #byLaunch = new WeakMap<LaunchInstance, Map<string, Touched>>();
  #left = mostKept;

  /** What a side touches, computed if it is not known. */
  of(launch: LaunchInstance, key: string, compute: () => Touched): Touched {
    const known = this.#byLaunch.get(launch) ?? new Map<string, Touched>();
    this.#byLaunch.set(launch, known);
    const found = known.get(key) ?? compute();
    if (known.has(key) || found.lanes.length > this.#left) return found;
    this.#left -= found.lanes.length;
    known.set(key, found);
    return found;
  }
}

/** The scalars of a launch, as values of the leaves of terms; undefined for other leaves. */
export function scalarsOf({ fields }: Pick<KernelAndLaunch, 'fields'>, launch: LaunchInstance): (leaf: Term) => bigint | undefined {
  return ({ atom }) => {
    if (atom?.kind !== 'parameter') return undefined;
    const field = fields.find(({ index, offset, bytes }) => index === atom.index && offset === atom.offset && bytes === atom.bytes);
    return field && !field.isPointer ? launch.scalar(field) : undefined;
  };
}

/** Iterations to be tried, by the name of the counter. */
export type Tried = ReadonlyMap<string, readonly number[]>;

/** The iterations of a combination, by the name of the counter. */
type Iterations = ReadonlyMap<string, number>;

/**
 * All combinations of the iterations to be tried: of many loops, fewer each.
 * @param all the most iterations of a single loop of which each is tried
 */
export function combinations(tried: Tried, all = 0): readonly Iterations[] {
  const lists = [...tried];
  const [only, ...others] = lists;
  const last = others.length === 0 ? only?.[1].at(-1) : undefined;
  if (only && last !== undefined && last < all) return Array.from({ length: last + 1 }, (_, at) => new Map([[only[0], at]]));
  const few =
    firstIterations.find((most) => lists.reduce((product, [, list]) => product * fewer(list, most).length, 1) <= mostCombinations) ?? 1;
  let combined: readonly (readonly (readonly [string, number])[])[] = [[]];
  for (const [name, list] of lists) combined = combined.flatMap((one) => fewer(list, few).map((at) => [...one, [name, at] as const]));
  return combined.map((entries) => new Map(entries));
}

/** The first iterations of a list, and up to two of the last ones. */
function fewer(list: readonly number[], most: number): readonly number[] {
  return list.length <= most ? list : [...new Set([...list.slice(0, most), ...list.slice(-Math.min(most, 2))])];
}

/** A thread with its number in the block, and its block with its number among those that are tried. */
export interface Lane {
  readonly thread: Dim3;
  readonly rank: number;
  readonly block: Dim3;
  readonly home: number;
}

/** The lists of threads of the last launch, which both sides of a pair need in several iterations. */
let listed: { readonly launch: LaunchInstance; readonly lists: Map<string, readonly Lane[]> } | null = null;

/** Up to `most` threads of some blocks: of large blocks, the first and the last ones, one warp at least. */
function threadsOf(launch: LaunchInstance, blocks: readonly Dim3[], most: number): readonly Lane[] {
  if (listed?.launch !== launch) listed = { launch, lists: new Map() };
  const key = `${most}:${blocks.join(';')}`;
  const threads = listed.lists.get(key) ?? listThreads(launch, blocks, most);
  listed.lists.set(key, threads);
  return threads;
}

function listThreads({ block: [x, y, z] }: LaunchInstance, blocks: readonly Dim3[], most: number): readonly Lane[] {
  const count = x * y * z;
  const each = Math.max(warpSize, Math.floor(most / blocks.length));
  const numbers = [...Array(count).keys()].filter((at) => count <= each || at < each - warpSize / 2 || at >= count - warpSize / 2);
  return blocks.flatMap((block, home) =>
    numbers.map((rank): Lane => ({ thread: [rank % x, Math.floor(rank / x) % y, Math.floor(rank / (x * y))], rank, block, home })),
  );
}

/** A thread with the integer that a term is for it, and the first byte that it touches. */
export interface LaneInteger extends Lane {
  readonly integer: number;
  readonly start: number;
}

/** The threads that perform an access, and the first bytes that they touch. */
export interface Touched {
  readonly lanes: readonly Lane[];
  readonly starts: readonly number[];
}

/** One side of an obligation under a launch. */
export class SideOfLaunch {
  private readonly side: AccessSide;
  private readonly instances: Instances;
  private readonly launch: LaunchInstance;
  private readonly scalar: (leaf: Term) => bigint | undefined;
  private readonly effort: OverlapEffort;
  /** The counters of iterations that the side reads, outer loops first; of a loop that is left, the trip count. */
  private readonly counters: readonly { readonly name: string; readonly isLeft: boolean }[];

  constructor(
    side: AccessSide,
    instances: Instances,
    launch: LaunchInstance,
    scalar: (leaf: Term) => bigint | undefined,
    effort: OverlapEffort,
  ) {
    this.side = side;
    this.effort = effort;
    this.instances = instances;
    this.launch = launch;
    this.scalar = scalar;
    const { target, reading, conditions, access } = side;
    const { loops } = instances.kernel;
    const found = new Map<string, { readonly loop: number; readonly isLeft: boolean }>();
    for (const { term, reading: at } of [{ term: target.offset, reading }, ...conditions])
      for (const leaf of term.leaves) {
        if (leaf.atom!.kind !== 'iteration') continue;
        const { loop } = leaf.atom;
        const { name } = instances.of(leaf, at);
        const { base } = parseIterationRelation(at.rounds[loop]!);
        const isLeft = base === 'left' || base === 'before' || !loops[loop]!.blocks.has(access.block);
        // Threads leave a loop after different trip counts; unless the address has it, they need not be known.
        if (name !== null && (!isLeft || found.has(name) || term === target.offset)) found.set(name, { loop, isLeft });
      }
    this.counters = [...found].map(([name, of]) => ({ name, ...of })).sort((a, b) => a.loop - b.loop);
  }

  /** The first iterations of each loop, and the last ones that threads of these blocks perform. */
  iterationsTried(blocks: readonly Dim3[]): Tried {
    const threads = threadsOf(this.launch, [blocks[0]!, blocks.at(-1)!], Infinity).filter((_, at) => at % 61 === 0);
    const found = new Map<string, readonly number[]>();
    for (const { name, isLeft } of this.counters) {
      const before = new Map([...found].map(([other, list]) => [other, list[0]!]));
      const isPerformed = (candidates: readonly number[]): boolean[] => {
        this.effort.left -= this.effortOf(threads.length * candidates.length);
        const performed = this.evaluated(
          threads,
          candidates.map((at) => new Map([...before, [name, at]])),
          new Map(),
        ).isPerformed;
        return candidates.map((_, at) => performed.subarray(at * threads.length, (at + 1) * threads.length).includes(1));
      };
      const end = lastWhere(isPerformed, isLeft);
      found.set(name, isLeft ? [end] : [...new Set([0, 1, 2, 3, end - 1, end].filter((at) => at >= 0 && at <= Math.max(end, 3)))]);
    }
    return found;
  }

  /** The threads of some blocks that perform the access in some iterations, and the first bytes that they touch. */
  touched(blocks: readonly Dim3[], own: readonly Iterations[], shared: Iterations, lanes: number): Touched {
    const threads = threadsOf(this.launch, blocks, lanes / own.length);
    this.effort.left -= this.effortOf(threads.length * own.length);
    const { kept } = this.effort;
    if (!kept) return this.computed(threads, own, shared);
    const { target, reading, conditions } = this.side;
    const valuesOf = (iterations: Iterations): (number | null)[] => this.counters.map(({ name }) => iterations.get(name) ?? null);
    const read = [{ term: target.offset, reading }, ...conditions].map(({ term, reading: { rounds } }) => [term.id, ...rounds]);
    const key = JSON.stringify([this.instances.scope, blocks, lanes, own.map(valuesOf), valuesOf(shared), read]);
    return kept.of(this.launch, key, () => this.computed(threads, own, shared));
  }

  /** The threads of some blocks that perform the access, and the integer that a term of it is if nothing wraps around. */
  integersOf(term: Term, blocks: readonly Dim3[], own: readonly Iterations[], lanes: number): readonly LaneInteger[] {
    const threads = threadsOf(this.launch, blocks, lanes / own.length);
    this.effort.left -= this.effortOf(threads.length * own.length);
    const { isPerformed, evaluation } = this.evaluated(threads, own, new Map());
    const { reading, target } = this.side;
    const [integers, starts] = [evaluation(reading).integers(term), evaluation(reading).signedNumbers(target.offset)];
    const found: LaneInteger[] = [];
    for (let lane = 0; lane < integers.length; lane++) {
      if (isPerformed[lane] === 0 || Number.isNaN(integers[lane])) continue;
      found.push({ ...threads[lane % threads.length]!, integer: integers[lane]!, start: starts[lane]! });
    }
    return found;
  }

  private computed(threads: readonly Lane[], own: readonly Iterations[], shared: Iterations): Touched {
    const { isPerformed, evaluation } = this.evaluated(threads, own, shared);
    const values = evaluation(this.side.reading).signedNumbers(this.side.target.offset);
    const touched: { lanes: Lane[]; starts: number[] } = { lanes: [], starts: [] };
    for (let lane = 0; lane < values.length; lane++) {
      if (isPerformed[lane] === 0 || Number.isNaN(values[lane])) continue;
      touched.lanes.push(threads[lane % threads.length]!);
      touched.starts.push(values[lane]!);
    }
    return touched;
  }

  private effortOf(count: number): number {
    return (count + overhead) * (this.side.conditions.length + 1);
  }

  /** Whether threads perform the access in some iterations: one lane for each thread in each of the iterations. */
  private evaluated(
    threads: readonly Lane[],
    own: readonly Iterations[],
    shared: Iterations,
  ): { readonly isPerformed: Uint8Array; readonly evaluation: (at: TermInstance) => ColumnEvaluation } {
    const count = threads.length * own.length;
    const column = (of: (thread: Lane, iterations: Iterations) => number): Float64Array => {
      const values = new Float64Array(count);
      for (const [number, iterations] of own.entries())
        for (const [at, thread] of threads.entries()) values[number * threads.length + at] = of(thread, iterations);
      return values;
    };
    const known = new Map<string, AtomColumn>();
    const evaluations = new Map<string, ColumnEvaluation>();
    const evaluation = (at: TermInstance): ColumnEvaluation => {
      const key = at.rounds.join();
      const made =
        evaluations.get(key) ??
        new ColumnEvaluation(count, (leaf) => {
          const name = `${leaf.id} ${leaf.atom!.kind === 'iteration' ? key : ''}`;
          if (!known.has(name)) known.set(name, this.valueOf(leaf, at, column, shared));
          return known.get(name);
        });
      evaluations.set(key, made);
      return made;
    };
    const isPerformed = new Uint8Array(count).fill(1);
    for (const { term, reading } of this.side.conditions) {
      const values = evaluation(reading).signedNumbers(term);
      for (let lane = 0; lane < count; lane++) if (values[lane] === 0) isPerformed[lane] = 0;
    }
    return { isPerformed, evaluation };
  }

  private valueOf(
    leaf: Term,
    at: TermInstance,
    column: (of: (thread: Lane, iterations: Iterations) => number) => Float64Array,
    shared: Iterations,
  ): AtomColumn {
    const { block, grid } = this.launch;
    const atom = leaf.atom!;
    switch (atom.kind) {
      case 'thread':
        return column(({ thread }) => thread[atom.axis]);
      case 'block':
        return column((lane) => lane.block[atom.axis]);
      case 'block-size':
        return BigInt(block[atom.axis]);
      case 'grid-size':
        return BigInt(grid[atom.axis]);
      case 'parameter':
        return this.scalar(leaf);
      case 'iteration': {
        const { name, offset } = this.instances.of(leaf, at);
        if (name === null) return offset;
        const common = shared.get(name);
        if (common !== undefined) return BigInt(common) + offset;
        if (!this.counters.some((counter) => counter.name === name)) return undefined;
        return column((_, iterations) => (iterations.get(name) ?? 0) + Number(offset));
      }
      case 'object':
        return 0n;
      default:
        return undefined;
    }
  }
}

/**
 * The last iteration that is performed, or, of a loop that is left, the first iteration count with which it is.
 * @param isPerformed whether some thread performs each of some iterations
 */
function lastWhere(isPerformed: (candidates: readonly number[]) => readonly boolean[], isLeft: boolean): number {
  const powers = [0, 1];
  while (powers.at(-1)! < mostTrips) powers.push(powers.at(-1)! * 2);
  const isBefore = (candidates: readonly number[]): readonly boolean[] => isPerformed(candidates).map((is) => is !== isLeft);
  let found = isBefore(powers).lastIndexOf(true);
  if (found < 0 || found === powers.length - 1) return isLeft ? 0 : Math.max(found, 0);
  let [low, high] = [powers[found]!, powers[found + 1]!];
  while (high - low > 1) {
    const step = Math.max(1, Math.floor((high - low) / 16));
    const candidates: number[] = [];
    for (let at = low; at < high; at += step) candidates.push(at);
    found = isBefore(candidates).lastIndexOf(true);
    [low, high] = [candidates[Math.max(found, 0)]!, found + 1 < candidates.length ? candidates[found + 1]! : high];
  }
  return isLeft ? high : low;
}
