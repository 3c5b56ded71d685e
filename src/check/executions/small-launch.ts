/**
 * Proofs for launches in which few threads perform undecided accesses, by enumeration of all executions that the PTX
 * memory model allows. This proves orders by flags, counters and locks that `check/ordering/` does not recognise.
 */
import type { Access } from '../../analysis/values/access.ts';
import { isFullBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { type Base, isOneObject } from '../../analysis/values/memory-base.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import { type ConflictKind, conflictOf } from '../../memory-model/conflict.ts';
import type { Reach } from '../../memory-model/scope.ts';
import { fenceOf } from '../../memory-model/fence.ts';
import { clusterOf } from '../../launch/launch.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import type { AccessPair, MayAlias } from '../obligations/obligation.ts';
import { type Happening, mayRace, maxEvents } from './consistency.ts';
import { NotFollowed, type ThreadStep, type ThreadTrace, type Word, threadTraces } from './thread-traces.ts';

const maxThreads = 1024;
const maxActive = 6;
const maxCombinations = 50_000;
const maxExecutions = 40_000;
/** Limit on the instructions that are followed in all threads together. */
const maxInstructions = 400_000;

/** Assumptions of a proof by executions. */
interface SmallLaunchProof {
  /** Memory that is assumed to be 0 when the kernel starts. */
  readonly zero: readonly Base[];
  /** Memory assumed to be disjoint. */
  readonly disjoint: readonly Base[];
}

interface ThreadOfLaunch {
  readonly thread: Dim3;
  readonly block: Dim3;
  readonly ordinal: number;
  readonly cluster: number;
}

/**
 * Whether no execution has a race in one of these pairs; null if some execution may have one, or if the launch is not
 * small enough.
 * @param startsAtZero whether the words of an array used for synchronisation are 0 when the kernel starts
 */
export function provedByExecutions(
  facts: KernelAndLaunch & SymbolicFacts,
  pairs: readonly AccessPair[],
  mayAlias: MayAlias,
  startsAtZero: (base: Base) => boolean,
): SmallLaunchProof | null {
  try {
    return new SmallLaunch(facts, pairs, mayAlias, startsAtZero).prove();
  } catch (problem) {
    if (problem instanceof NotFollowed) return null;
    throw problem;
  }
}

class SmallLaunch {
  readonly #facts: KernelAndLaunch & SymbolicFacts;
  readonly #pairs: ReadonlySet<string>;
  readonly #accesses: ReadonlyMap<Instruction, readonly Access[]>;
  readonly #startsAtZero: (base: Base) => boolean;
  readonly #bases: readonly Base[];
  /** The values stored to each word. */
  readonly #written = new Map<string, Set<Word>>();
  readonly #repeated = new Set<string>();
  /** Words that more than one thread accesses. */
  readonly #shared = new Set<string>();
  readonly #zero = new Map<string, Base>();
  #executions = 0;
  #instructions = 0;

  constructor(
    facts: KernelAndLaunch & SymbolicFacts,
    pairs: readonly AccessPair[],
    mayAlias: MayAlias,
    startsAtZero: (base: Base) => boolean,
  ) {
    this.#facts = facts;
    this.#pairs = new Set(pairs.map(({ scope, first, second }) => pairName(scope, first.index, second.index)));
    this.#startsAtZero = startsAtZero;
    const strong = facts.accesses.filter(({ strong: scope }) => scope !== null);
    if (strong.length === 0 && !hasFence(facts)) throw new NotFollowed('nothing is synchronised');
    const chosen = [...strong, ...pairs.flatMap(({ first, second }) => [first, second])];
    const bases = new Map(chosen.flatMap(({ targets }) => targets.map(({ base }) => [base.key, base] as const)));
    this.#bases = [...bases.values()];
    const byInstruction = new Map<Instruction, Access[]>();
    for (const access of facts.accesses) {
      const isOfInterest = access.targets.some(({ base }) =>
        [...bases.values()].some((other) => base.key === other.key || mayAlias(base, other) !== 'apart'),
      );
      if (!isOfInterest) continue;
      const [target, ...more] = access.targets;
      if (!target || more.length > 0 || !isOneObject(target.base) || !bases.has(target.base.key)) throw new NotFollowed('pointers');
      byInstruction.set(access.instruction, [...(byInstruction.get(access.instruction) ?? []), access]);
    }
    // Two names that may denote the same memory are not analyzed.
    if (this.#bases.some((a) => this.#bases.some((b) => a.key !== b.key && mayAlias(a, b) !== 'apart'))) throw new NotFollowed('aliases');
    this.#accesses = byInstruction;
  }

  prove(): SmallLaunchProof | null {
    const ways = this.#waysOfThreads();
    const places = new Map<string, Set<number>>();
    for (const [, own] of ways)
      for (const { access, place } of own.flat()) {
        if (!access) continue;
        const [base, home, offset, bytes] = place.split(' ');
        const key = `${base} ${home}`;
        for (let byte = 0; byte < Number(bytes); byte++) {
          const cell = `${key} ${BigInt(offset!) + BigInt(byte)}`;
          places.set(cell, (places.get(cell) ?? new Set()).add(Number(bytes) * 65536 + Number(BigInt(offset!) & 0xffffn)));
        }
      }
    // Words that overlap partially are not analyzed.
    if ([...places.values()].some((words) => words.size > 1)) return null;
    this.#checkRepeated(ways);
    const threads = [...ways.keys()];
    const count = threads.reduce((product, thread) => product * ways.get(thread)!.length, 1);
    if (count > maxCombinations) return null;
    const chosen: ThreadTrace[] = [];
    const anyRaces = (index: number): boolean => {
      if (index === threads.length) return this.#races(threads, chosen);
      return ways.get(threads[index]!)!.some((way) => {
        chosen[index] = way;
        return anyRaces(index + 1);
      });
    };
    return anyRaces(0) ? null : { zero: [...this.#zero.values()], disjoint: this.#bases };
  }

  /**
   * The traces of the threads that access relevant memory, for all values that words may have. Each word is assumed to
   * be private to one thread until a second one accesses it; then all traces are computed again. This is sound: values
   * come only from earlier writes, so some thread would be the first to read from its private word a value written by
   * another thread.
   */
  #waysOfThreads(): ReadonlyMap<ThreadOfLaunch, readonly ThreadTrace[]> {
    for (;;) {
      const ways = this.#waysWithShared();
      const known = this.#shared.size;
      const users = new Map<string, ThreadOfLaunch>();
      for (const [thread, own] of ways)
        for (const { place } of own.flat()) {
          if (place !== '' && users.has(place) && users.get(place) !== thread) this.#shared.add(place);
          users.set(place, thread);
        }
      if (this.#shared.size === known) return ways;
      this.#written.clear();
      this.#repeated.clear();
    }
  }

  #waysWithShared(): ReadonlyMap<ThreadOfLaunch, readonly ThreadTrace[]> {
    for (let round = 0; ; round++) {
      const ways = new Map<ThreadOfLaunch, readonly ThreadTrace[]>();
      for (const thread of this.#threads()) {
        const own = this.#waysOf(thread);
        if (own.some((way) => way.some(({ access }) => access !== null))) ways.set(thread, own);
        if (ways.size > maxActive) throw new NotFollowed('threads');
      }
      let hasNew = false;
      for (const { kind, place, value } of [...ways.values()].flat(2)) {
        if (kind !== 'write') continue;
        const held = this.#written.get(place) ?? new Set<Word>();
        this.#written.set(place, held);
        if (!held.has(value)) hasNew = true;
        held.add(value);
      }
      // Each value results from a chain of distinct writes, which bounds the number of iterations.
      const writes = [...ways.values()].reduce((sum, own) => sum + Math.max(...own.map(writesIn)), 0);
      if (!hasNew || round > writes) return ways;
    }
  }

  *#threads(): Iterable<ThreadOfLaunch> {
    const { dimensions, request, kernel } = this.#facts;
    const [block, grid] = [dimensions.block, dimensions.grid];
    const threads = [...block, ...grid].reduce<number>((product, size) => product * (size ?? Infinity), 1);
    const cluster = clusterOf(request.launch, kernel);
    if (threads > maxThreads || cluster === null) throw new NotFollowed('launch');
    const sizes = grid as Dim3;
    for (const at of positions(sizes)) {
      const ordinal = at[0] + sizes[0] * (at[1] + sizes[1] * at[2]);
      const [x, y, z] = at.map((index, axis) => Math.floor(index / cluster[axis]!));
      const number = x! + sizes[0] * (y! + sizes[1] * z!);
      for (const thread of positions(block as Dim3)) yield { thread, block: at, ordinal, cluster: number };
    }
  }

  #waysOf({ thread, block }: ThreadOfLaunch): readonly ThreadTrace[] {
    const { kernel, dimensions, symbolic } = this.#facts;
    return threadTraces(
      {
        kernel,
        block: dimensions.block as Dim3,
        grid: dimensions.grid as Dim3,
        constant: (operand) => {
          const term = symbolic.operand(operand);
          return term.operator === 'constant' ? term.value : null;
        },
        accessesOf: (instruction) => this.#accesses.get(instruction) ?? [],
        isBlockBarrier: isFullBarrier,
        valuesAt: (place, access) => [this.#initial(access), ...(this.#written.get(place) ?? [])],
        isOwn: (place) => !this.#shared.has(place),
        initial: (access) => this.#initial(access),
        count: () => {
          if (++this.#instructions > maxInstructions) throw new NotFollowed('instructions');
        },
        repeats: (place) => this.#repeated.add(place),
      },
      thread,
      block,
    );
  }

  /**
   * Initial value of the word of an access: 0 if the access is strong and the array starts at zero; null if unknown.
   */
  #initial({ targets, strong }: Access): Word {
    const { base } = targets[0]!;
    const isShared = base.kind === 'object' && base.object.space !== 'global';
    if (isShared || strong === null || !this.#startsAtZero(base)) return null;
    this.#zero.set(base.key, base);
    return 0n;
  }

  /**
   * Checks omitted iterations that contain an atomic: all accesses of its word must be morally strong with each other.
   */
  #checkRepeated(ways: ReadonlyMap<ThreadOfLaunch, readonly ThreadTrace[]>): void {
    for (const place of this.#repeated) {
      const users = [...ways].flatMap(([thread, own]) =>
        [
          ...new Set(
            own
              .flat()
              .filter((step) => step.place === place)
              .map(({ access }) => access!),
          ),
        ].map((access) => ({ thread, access })),
      );
      for (const a of users)
        for (const b of users)
          if (
            a.thread !== b.thread &&
            conflictOf(
              { ...a.access, operation: 'write', semantics: 'relaxed' },
              { ...b.access, operation: 'write', semantics: 'relaxed' },
              distanceOf(a.thread, b.thread),
            ) !== null
          )
            throw new NotFollowed('scopes');
    }
  }

  #races(threads: readonly ThreadOfLaunch[], ways: readonly ThreadTrace[]): boolean {
    const events: Happening[] = [];
    for (const [thread, way] of ways.entries()) {
      const first = events.length;
      for (const step of way) events.push({ thread, step, readAt: step.readAt === null ? null : first + step.readAt });
    }
    if (events.length > maxEvents) throw new NotFollowed('events');
    return mayRace({
      events,
      distance: (a, b) => distanceOf(threads[a]!, threads[b]!),
      conflict: (a, b) => this.#conflict(a.step, b.step, distanceOf(threads[a.thread]!, threads[b.thread]!)),
      initial: ({ access }) => this.#initial(access!),
      count: () => {
        if (++this.#executions > maxExecutions) throw new NotFollowed('executions');
      },
    });
  }

  #conflict(a: ThreadStep, b: ThreadStep, distance: Reach): ConflictKind | null {
    const [one, other] = [a.access!, b.access!];
    const [low, high] = [Math.min(one.index, other.index), Math.max(one.index, other.index)];
    const scope = distance === 0 ? 'block' : 'grid';
    if (!this.#pairs.has(pairName(scope, low, high)) && !this.#pairs.has(pairName(scope, high, low))) return null;
    const kind = conflictOf(one, other, distance);
    return kind === 'volatile' && this.#facts.request.policy.volatile === 'allow' ? null : kind;
  }
}

function pairName(scope: string, first: number, second: number): string {
  return `${scope} ${first} ${second}`;
}

function writesIn(way: ThreadTrace): number {
  return way.filter(({ kind }) => kind === 'write').length;
}

function hasFence({ kernel }: KernelAndLaunch): boolean {
  return kernel.blocks.some(({ instructions }) => instructions.some(({ operation }) => fenceOf(operation.effect)));
}

function* positions([x, y, z]: Dim3): Iterable<Dim3> {
  for (let k = 0; k < z; k++) for (let j = 0; j < y; j++) for (let i = 0; i < x; i++) yield [i, j, k];
}

function distanceOf(a: ThreadOfLaunch, b: ThreadOfLaunch): Reach {
  if (a.ordinal === b.ordinal) return 0;
  return a.cluster === b.cluster ? 1 : 2;
}
