/**
 * A property to be refuted: in executions that no barrier orders, two threads, one in each access of a pair, touch
 * overlapping bytes of one object.
 */
import type { Access } from '../../analysis/values/access.ts';
import type { ConflictKind } from '../../memory-model/conflict.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Interval, AccessOccurrence } from '../../analysis/barriers/barrier-interval.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import type { OwnAccess } from '../../analysis/barriers/pending-copy.ts';
import type { ProxyCrossing } from '../../analysis/barriers/proxy-order.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { IterationRelation } from '../../analysis/values/iteration-relation.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';
import type { Reason } from '../../verdict/reason.ts';
import type { PairScope, TermInstance } from './instance.ts';
import { type WarpOverlapCase, type WarpRelation, anywhere, warpOverlapCases } from './warp-collective-overlap.ts';

/** A condition on one of the two threads. */
export interface ReadCondition {
  readonly term: Term;
  readonly reading: TermInstance;
}

export interface AccessSide {
  readonly access: Access;
  readonly target: Target;
  readonly reading: TermInstance;
  /** Conjunction: all conditions hold whenever the thread performs the access. */
  readonly conditions: readonly ReadCondition[];
}

export interface Obligation {
  readonly scope: PairScope;
  /** Whether two threads of a block are in one warp or in two; null if both are possible. */
  readonly warp: WarpRelation;
  readonly first: AccessSide;
  readonly second: AccessSide;
  /** Whether one thread performs both accesses, the first one asynchronously. */
  readonly sameThread: boolean;
  /** Blocks per cluster, if the two threads must be in different clusters; null if they may be in one. */
  readonly betweenClusters: Dim3 | null;
  /** Lower bounds on the difference of an iteration counter between the two readings. */
  readonly later: readonly CountedLater[];
  /**
   * Byte offsets in one array from which both pointers were loaded. The accesses overlap only if these offsets are
   * equal.
   */
  readonly elements: readonly [Term, Term] | null;
  /**
   * Addresses of the first rows of two collective accesses with the same lane layout. Different threads overlap only if
   * these addresses differ.
   */
  readonly starts: readonly [Term, Term] | null;
  /** Whether the two threads may be one, since other lanes of the warp access the row at a thread's address, too. */
  readonly mayBeOne: boolean;
  /** Whether both bases are known to be the same object; false if it is unknown whether they share memory. */
  readonly resolved: boolean;
}

/** `counter` in the reading `to` is at least `by` more than in the reading `from`. */
interface CountedLater {
  readonly counter: Term;
  readonly from: TermInstance;
  readonly to: TermInstance;
  readonly by: bigint;
}

/** A pair of accesses, with an obligation for each case in which they might race. */
export interface AccessPair {
  readonly scope: PairScope;
  readonly conflict: ConflictKind;
  readonly first: Access;
  readonly second: Access;
  readonly obligations: readonly Obligation[];
  /** The order that is missing although a barrier separates the accesses. */
  readonly lacks?: 'proxy-fence';
}

/** Remaining number of conditions for all pairs of a kernel. */
export interface PairBudget {
  conditions: number;
}

/**
 * Whether two bases may be the same memory. Pointer parameters are disjoint unless a launch passes one pointer to both.
 */
export type MayAlias = (a: Target['base'], b: Target['base']) => 'same' | 'apart' | 'unknown';

/** How two accesses conflict if they overlap. */
interface PairConflict {
  readonly kind: ConflictKind;
  /** Blocks per cluster, if only threads of different clusters conflict; null if any two threads do. */
  readonly betweenClusters: Dim3 | null;
}

/** How two accesses conflict, by threads of one block or of two; null if they do not conflict. */
export type Conflicts = (a: Access, b: Access, scope: PairScope) => PairConflict | null;

/** Whether two accesses may touch the same memory, judging by their bases. */
export function mayTouch(mayAlias: MayAlias): (a: Access, b: Access) => boolean {
  return (a, b) => a.targets.some(({ base }) => b.targets.some((other) => mayAlias(base, other.base) !== 'apart'));
}

type Pairs = Map<string, { pair: AccessPair; obligations: Obligation[]; seen: Set<string> }>;

/** Barrier intervals for two threads of a block. */
export interface ThreadIntervals {
  readonly warp: WarpRelation;
  readonly intervals: readonly Interval[];
  /** Intervals of the second thread, in the same order, if it is in another part of the block. */
  readonly others?: readonly Interval[];
  /** Conditions that identify the part of the block of each thread. */
  readonly members?: readonly [Term, Term];
  /**
   * Whether, within an interval, some order other than a barrier puts an access of one thread before an access of the
   * other.
   */
  readonly isOrdered?: (interval: Interval, first: Access, second: Access) => boolean;
}

/**
 * Barrier intervals of a block: one list for any two threads, or separate lists for threads of one warp, of two warps,
 * or of parts of the block.
 */
export type BlockIntervals = readonly ThreadIntervals[];

/** Accesses that may conflict within a block. */
interface BlockMeetings {
  readonly block: BlockIntervals;
  /** Pairs of an asynchronous copy and an access by the same thread before it waits for the copy. */
  readonly own: readonly OwnAccess[];
  /**
   * Pairs whose accesses no barrier orders, whether by one thread or by two, since a fence between proxies is missing.
   */
  readonly crossings: readonly ProxyCrossing[];
}

/**
 * Pairs of accesses of two threads of one block, by barrier interval.
 * @param conflicts whether and how two accesses conflict
 * @param lockstep whether accesses by two instructions of one warp are ordered
 * @param budget once it is exhausted, pairs are missing
 */
export function blockPairs(
  symbolic: SymbolicKernel,
  { block: groups, own, crossings }: BlockMeetings,
  conflicts: Conflicts,
  mayAlias: MayAlias,
  lockstep: boolean,
  budget: PairBudget,
): AccessPair[] {
  const pairs: Pairs = new Map();
  const atAnyTime = (access: Access): AccessOccurrence => ({ access, rounds: symbolic.kernel.loops.map(() => 'free'), path: [] });
  for (const { write, read } of crossings) {
    const [a, b] = order(atAnyTime(write), atAnyTime(read));
    const conflict = conflicts(a.access, b.access, 'block');
    for (const sameThread of [false, true]) {
      const meeting = { scope: 'block', ...anywhere, interval: null, sameThread, later: [], lacks: 'proxy-fence' } as const;
      if (conflict) addPair(symbolic, pairs, { ...meeting, conflict }, a, b, mayAlias, budget);
    }
  }
  for (const { warp, intervals, others = intervals, members, isOrdered } of groups) {
    for (const [index, interval] of intervals.entries()) {
      const list = interval.occurrences;
      const second = others[index]!.occurrences;
      for (let i = 0; i < list.length; i++) {
        for (let j = list === second ? i : 0; j < second.length && budget.conditions >= 0; j++) {
          const [one, other] = [list[i]!, second[j]!];
          if (isOrdered?.(interval, one.access, other.access)) continue;
          const [a, b] = order(one, other);
          if (lockstep && warp === 'same' && isOrderedInLockstep(a.access, b.access)) continue;
          const groupsOf = members && (a === one ? members : ([members[1], members[0]] as const));
          const conflict = conflicts(a.access, b.access, 'block');
          if (!conflict) continue;
          for (const meeting of warpOverlapCases(symbolic, a.access, b.access, warp))
            addPair(
              symbolic,
              pairs,
              { scope: 'block', conflict, ...meeting, interval, sameThread: false, later: [], members: groupsOf },
              a,
              b,
              mayAlias,
              budget,
            );
        }
      }
    }
  }
  for (const { copy, access, later: counted } of own) {
    if (budget.conditions < 0) break;
    const [from, to] = [copy, access].map(({ rounds }) => ({ side: 1 as const, rounds })) as [TermInstance, TermInstance];
    const later = counted.map(({ counter, by }) => ({ counter, from, to, by: BigInt(by) }));
    const [a, b] = order(copy, access);
    const conflict = conflicts(a.access, b.access, 'block');
    const alone = { scope: 'block', ...anywhere, interval: null, sameThread: true, later } as const;
    if (conflict) addPair(symbolic, pairs, { ...alone, conflict }, a, b, mayAlias, budget);
  }
  return [...pairs.values()].map(({ pair }) => pair);
}

/**
 * Pairs of accesses to global memory by threads of different blocks.
 * @param intervals intervals between barriers of the grid; null without such barriers: then nothing orders the accesses
 * @param budget once it is exhausted, pairs are missing
 */
export function gridPairs(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  intervals: readonly Interval[] | null,
  conflicts: Conflicts,
  mayAlias: MayAlias,
  budget: PairBudget,
): AccessPair[] {
  const pairs: Pairs = new Map();
  const rounds: readonly IterationRelation[] = symbolic.kernel.loops.map(() => 'free');
  const anyTime = { occurrences: accesses.map((access) => ({ access, rounds, path: [] })), interval: null };
  for (const { occurrences, interval } of intervals?.map((one) => ({
    occurrences: one.occurrences,
    interval: one,
  })) ?? [anyTime]) {
    const list = occurrences.filter(({ access }) => access.memory !== 'shared');
    for (let i = 0; i < list.length; i++) {
      for (let j = i; j < list.length && budget.conditions >= 0; j++) {
        const [a, b] = order(list[i]!, list[j]!);
        const conflict = conflicts(a.access, b.access, 'grid');
        const meeting = { scope: 'grid', ...anywhere, interval, sameThread: false, later: [] } as const;
        if (conflict) addPair(symbolic, pairs, { ...meeting, conflict }, a, b, mayAlias, budget);
      }
    }
  }
  return [...pairs.values()].map(({ pair }) => pair);
}

/**
 * Whether lockstep orders the accesses of two instructions of a warp. It does not order a copy that may be pending
 * after both.
 */
function isOrderedInLockstep(a: Access, b: Access): boolean {
  return a.instruction !== b.instruction && !a.isCopy && !b.isCopy;
}

function order(a: AccessOccurrence, b: AccessOccurrence): [AccessOccurrence, AccessOccurrence] {
  return a.access.index <= b.access.index ? [a, b] : [b, a];
}

function addPair(
  symbolic: SymbolicKernel,
  pairs: Pairs,
  meeting: Pick<Obligation, 'scope' | 'sameThread' | 'later'> &
    WarpOverlapCase & {
      readonly conflict: PairConflict;
      readonly interval: Interval | null;
      readonly members?: readonly [Term, Term] | undefined;
      readonly lacks?: AccessPair['lacks'];
    },
  a: AccessOccurrence,
  b: AccessOccurrence,
  mayAlias: MayAlias,
  budget: PairBudget,
): void {
  const { scope, conflict, warp, interval, sameThread, later, members, mayBeOne } = meeting;
  for (const first of a.access.targets) {
    for (const second of b.access.targets) {
      if (scope === 'grid' && (isShared(first) || isShared(second))) continue;
      const alias = mayAlias(first.base, second.base);
      if (alias === 'apart') continue;
      const key = `${a.access.index}:${b.access.index}`;
      let entry = pairs.get(key);
      if (!entry) {
        const obligations: Obligation[] = [];
        const { kind } = conflict;
        const pair = {
          scope,
          conflict: kind,
          first: a.access,
          second: b.access,
          obligations,
          ...(meeting.lacks && { lacks: meeting.lacks }),
        };
        entry = { pair, obligations, seen: new Set() };
        pairs.set(key, entry);
      }
      const obligation: Obligation = {
        scope,
        warp,
        first: side(symbolic, a, first, 1, interval, [members?.[0], meeting.condition]),
        second: side(symbolic, b, second, sameThread ? 1 : 2, interval, [members?.[1]]),
        sameThread,
        betweenClusters: conflict.betweenClusters,
        later,
        elements: elementsOf(first.base, second.base),
        starts: meeting.startsDiffer ? [startOf(symbolic, a.access, first), startOf(symbolic, b.access, second)] : null,
        mayBeOne,
        resolved: alias === 'same',
      };
      budget.conditions -= 1 + obligation.first.conditions.length + obligation.second.conditions.length;
      // Intervals often contain a pair again under the same conditions.
      const shape = questionOf(obligation);
      if (entry.seen.has(shape)) continue;
      entry.seen.add(shape);
      entry.obligations.push(obligation);
    }
  }
}

function elementsOf(first: Target['base'], second: Target['base']): Obligation['elements'] {
  return first.kind === 'loaded' && second.kind === 'loaded' ? [first.element, second.element] : null;
}

/** The offset of the first row of a collective access, from the target of one lane. */
function startOf({ store }: SymbolicKernel, { ofWarp }: Access, { offset }: Target): Term {
  const toLine = ofWarp?.toLine;
  return toLine ? store.sub(offset.width, offset, store.truncate(offset.width, toLine)) : offset;
}

function isShared(target: Target): boolean {
  return target.base.kind === 'object' && target.base.object.space === 'shared';
}

function side(
  symbolic: SymbolicKernel,
  occurrence: AccessOccurrence,
  target: Target,
  number: 1 | 2,
  interval: Interval | null,
  more: readonly (Term | undefined)[],
): AccessSide {
  const reading: TermInstance = { side: number, rounds: occurrence.rounds };
  const conditions = new Map<string, ReadCondition>();
  const add = (term: Term, at: TermInstance): void => {
    const rounds = at.rounds.join();
    for (const part of term.operator === 'all' ? term.arguments : [term]) {
      const key = `${part.id}@${rounds}`;
      if (part !== symbolic.store.true && !conditions.has(key)) conditions.set(key, { term: part, reading: at });
    }
  };
  for (const condition of more) if (condition) add(condition, reading);
  add(symbolic.reach(occurrence.access.block), reading);
  add(target.condition, reading);
  for (const { term, rounds } of occurrence.path) add(term, { side: number, rounds });
  if (interval?.start && !occurrence.hasReturned) add(symbolic.reach(interval.start.block), { side: number, rounds: interval.startRounds });
  return { access: occurrence.access, target, reading, conditions: [...conditions.values()] };
}

/** Canonical text of an obligation: obligations with equal texts have the same answer, whichever arrays they access. */
export function questionOf(obligation: Obligation): string {
  const sides = [obligation.first, obligation.second].map(({ access, target, reading, conditions }) =>
    [
      access.bytes,
      target.offset.id,
      reading.rounds.join(),
      ...conditions.map(({ term, reading: at }) => `${term.id}@${at.rounds.join()}`),
    ].join(';'),
  );
  const later = obligation.later.map(({ counter, from, by }) => `${counter.id}+${by}@${from.side}`);
  const { scope, sameThread, warp, betweenClusters, elements, starts, mayBeOne } = obligation;
  const of = [elements, starts].map((terms) => terms?.map(({ id }) => id).join() ?? '');
  return [scope, sameThread, warp, betweenClusters !== null, mayBeOne, ...of, ...later, ...sides].join('|');
}

/** A pair that no tier proved to be free of races. */
export interface OpenPair {
  readonly pair: AccessPair;
  /** The reason why it is open. */
  readonly reason: Reason;
  /** Undecided for lack of budget. */
  readonly budget: boolean;
  /** Both accesses store a value that is provably equal. */
  readonly sameValue: boolean;
  /**
   * Loads of both threads from one element of shared memory that yield the stored values; null if none exist or they
   * are unknown.
   */
  readonly elements: ReadonlySet<Instruction> | null;
  /** Whether no tier was queried, since enough other pairs are open. */
  readonly unasked?: boolean;
}
