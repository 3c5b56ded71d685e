/**
 * Barriers of part of a block (`bar.sync a, b` and `bar.arrive a, b`, PTX ISA 9.7.13.1) for whole warps that are
 * selected by conditions on the thread index only, reach it together, and whose number equals the count of the barrier.
 * Among threads that all wait at one point it orders the same accesses as a barrier of the block. If threads reach it
 * by two paths, on one of which they may only arrive, it is passed once between two barriers of the block, and orders
 * everything that any of them did before it with everything that the waiting ones do after it.
 */
import { commonDominator } from '../../ir/form/dominators.ts';
import type { BlockId, Instruction } from '../../ir/form/kernel.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import type { Access } from '../values/access.ts';
import { isFullBarrier } from './barrier-interval.ts';
import type { ControlDependence } from '../values/control-dependence.ts';
import type { Dimensions } from '../values/launch-bounds.ts';
import { partsOf } from '../values/leader.ts';
import { type ProgramPoint, pointAfter, isExit, walkFrom } from '../values/program-point.ts';
import type { SymbolicKernel } from '../values/symbolic.ts';
import type { UniformityResult } from '../values/uniformity.ts';

/** Threads that reach the same barriers of part of the block, on the same side. */
export interface ThreadGroup {
  /** Condition on the thread index that exactly the members satisfy. */
  readonly members: Term;
  /** Whether a member may follow an edge. */
  readonly isOpen: (from: BlockId, to: BlockId) => boolean;
  /** Barriers at which all members wait if one of them does, possibly with other threads. */
  readonly meets: ReadonlySet<Instruction>;
}

export interface NamedBarriers {
  /** A partition of the threads of the block; at most one group if no barriers distinguish threads. */
  readonly groups: readonly ThreadGroup[];
  /**
   * Whether an access by a thread of one group is ordered before an access by a thread of another group, both in the
   * interval between barriers of the block that starts at a place.
   */
  readonly handsOver: (
    start: Instruction | null,
    earlier: readonly [ThreadGroup, Access],
    later: readonly [ThreadGroup, Access],
  ) => boolean;
  /** Why some barrier is not analyzed; null if all are. */
  readonly problem: string | null;
}

interface Site {
  readonly instruction: Instruction;
  readonly block: BlockId;
  readonly position: number;
  readonly isArrival: boolean;
  /** Number of threads that the barrier waits for; null: all threads of the block. */
  readonly count: bigint | null;
}

/** By thread, in the linear order of the block. */
type Members = readonly boolean[];

/** A barrier that its threads reach by two paths. */
interface Handing {
  readonly sites: readonly Site[];
  readonly participants: Members;
  /** Threads that wait until the barrier is complete; the others only arrive. */
  readonly waiting: Members;
}

const none: NamedBarriers = { groups: [], handsOver: () => false, problem: null };

/** Maximum number of groups: the number of pairs is quadratic in it. */
const maxGroups = 6;

/**
 * Finds the barriers of part of a block.
 * @param uniformity for the threads of a block, from syntax only
 * @param isBlockBarrier whether all threads of the block take part in a barrier
 */
export function namedBarriers(
  symbolic: SymbolicKernel,
  dimensions: Dimensions,
  dependences: ControlDependence,
  uniformity: () => UniformityResult,
  isBlockBarrier: (instruction: Instruction) => boolean,
): NamedBarriers {
  const { kernel, store } = symbolic;
  const fail = (problem: string): NamedBarriers => ({ ...none, problem });
  const byName = new Map<bigint, Site[]>();
  for (const { id: block, instructions } of kernel.blocks) {
    for (const [position, instruction] of instructions.entries()) {
      const { effect } = instruction.operation;
      if (effect.kind !== 'barrier' || isFullBarrier(instruction)) continue;
      const [name, count] = instruction.arguments;
      if (effect.form === 'red') return fail('Selvage does not support named barriers that count or vote');
      if (name?.kind !== 'constant' || (count && count.kind !== 'constant'))
        return fail('Selvage cannot determine which named barrier an instruction uses, or for how many threads it waits');
      const isArrival = effect.form === 'arrive';
      const sites = byName.get(name.value) ?? [];
      byName.set(name.value, [...sites, { instruction, block, position, isArrival, count: count?.value ?? null }]);
    }
  }
  if (byName.size === 0) return none;
  const [x, y, z] = dimensions.block;
  if (x === null || y === null || z === null) return fail('Selvage does not know how many threads reach a named barrier');
  if (byName.has(0n)) return fail('the kernel uses barrier 0, which `__syncthreads()` uses, for a part of the block');
  if (kernel.blocks.some(({ instructions }) => instructions.some((each) => isBlockBarrier(each) && !isFullBarrier(each))))
    return fail('Selvage does not support named barriers and mbarriers in one kernel');
  const threads = x * y * z;
  const uniform = uniformity();
  const memo = new Map<Term, Members | null>();

  /** The threads that satisfy a condition on the thread index; null if it depends on anything else. */
  function holdersOf(term: Term): Members | null {
    let found = memo.get(term);
    if (found !== undefined) return found;
    found = null;
    if (term.leaves.every(({ atom }) => atom!.kind === 'thread')) {
      const values = Array.from({ length: threads }, (_, i) => {
        const index = [i % x!, Math.floor(i / x!) % y!, Math.floor(i / (x! * y!))];
        const value = (leaf: Term): bigint | undefined => (leaf.atom?.kind === 'thread' ? BigInt(index[leaf.atom.axis]!) : undefined);
        return evaluateTerm(term, value, new Map());
      });
      if (values.every((value) => value !== undefined)) found = values.map((value) => value !== 0n);
    }
    memo.set(term, found);
    return found;
  }

  /** The conditions on the thread index under which a block is reached. */
  const selection = (block: BlockId): Term => store.all(partsOf(symbolic.reach(block)).filter((part) => holdersOf(part) !== null));

  /** The side of a branch that all of these threads take; undefined if unknown or divergent. */
  function wayOf(branch: BlockId, members: Members): boolean | undefined {
    const condition = symbolic.condition(branch);
    const holders = condition && holdersOf(condition);
    if (!holders) return undefined;
    const ways = new Set(holders.filter((_, thread) => members[thread]));
    return ways.size === 1 ? [...ways][0] : undefined;
  }

  const isOpenFor =
    (members: Members) =>
    (from: BlockId, to: BlockId): boolean => {
      const { terminator } = kernel.blocks[from]!;
      if (terminator.kind !== 'branch' || terminator.then === terminator.otherwise) return true;
      const way = wayOf(from, members);
      return way === undefined || to === (way ? terminator.then : terminator.otherwise);
    };

  /** Whether all of these threads reach a basic block together if one of them does. */
  const comeTogether = (block: BlockId, members: Members): boolean =>
    [...dependences.controlling(block, kernel.loopOf[block] ?? null)].every(
      (branch) => uniform.branch(branch) !== 'varying' || wayOf(branch, members) !== undefined,
    );

  /** Whether these threads are whole warps, and their number equals the count of a barrier. */
  function areWhole(members: Members, asked: bigint | null): boolean {
    const count = asked ?? BigInt(threads);
    if (BigInt(members.filter(Boolean).length) !== count || count === 0n || count % 32n !== 0n) return false;
    return members.every((isMember, thread) => isMember === members[thread - (thread % 32)]);
  }

  const isNamed = ({ operation: { effect } }: Instruction): boolean => effect.kind === 'barrier';

  /** The threads that wait at a barrier, if they are the same at each of its places and reach it together. */
  function meeting(sites: readonly Site[]): { readonly members: Members; readonly term: Term } | null {
    const term = selection(sites[0]!.block);
    const members = holdersOf(term)!;
    const fits = ({ block, isArrival, count }: Site): boolean =>
      !isArrival &&
      areWhole(members, count) &&
      holdersOf(selection(block))!.every((isMember, thread) => isMember === members[thread]) &&
      comeTogether(block, members);
    return sites.every(fits) ? { members, term } : null;
  }

  /** A barrier that all threads of each side of a branch on the thread index reach, once. */
  function handing(sites: readonly Site[]): (Handing & { readonly terms: readonly Term[] }) | null {
    const fork = sites.map(({ block }) => block).reduce((a, b) => commonDominator(kernel.dominators, a, b));
    const condition = symbolic.condition(fork);
    const decided = condition && holdersOf(condition);
    const { terminator } = kernel.blocks[fork]!;
    const term = selection(fork);
    const participants = holdersOf(term)!;
    if (!condition || !decided || terminator.kind !== 'branch') return null;
    if (sites.some(({ count }) => !areWhole(participants, count)) || !comeTogether(fork, participants)) return null;
    const isOwn = (instruction: Instruction): boolean => sites.some((site) => site.instruction === instruction);
    const waiting = participants.map(() => false);
    for (const way of [true, false]) {
      const members = participants.map((isMember, thread) => isMember && decided[thread] === way);
      const met = new Set<Instruction>();
      let isStraight = true;
      const visit = (instruction: Instruction, { block }: ProgramPoint): boolean => {
        // Another barrier, or the branch again, may be executed before the barrier.
        if (block === fork || ((isNamed(instruction) || isBlockBarrier(instruction)) && !isOwn(instruction))) isStraight = false;
        if (isOwn(instruction)) met.add(instruction);
        return isStraight && !isOwn(instruction);
      };
      const isRound = (from: BlockId, to: BlockId): boolean => {
        if (to === fork) isStraight = false;
        return isOpenFor(members)(from, to);
      };
      const first = way ? terminator.then : terminator.otherwise;
      const size = members.filter(Boolean).length;
      const ends = walkFrom(kernel, { block: first, position: 0 }, visit, isRound);
      if (ends.some(isExit) || !isStraight || !areWhole(members, BigInt(size))) return null;
      const arrivals = sites.filter(({ instruction, isArrival }) => met.has(instruction) && isArrival);
      if (arrivals.length !== 0 && arrivals.length !== met.size) return null;
      if (arrivals.length === 0) for (const [thread, isMember] of members.entries()) waiting[thread] ||= isMember;
    }
    // No thread reaches the barrier again before all threads have synchronised at a barrier of the block.
    for (const site of sites) {
      let isOnce = true;
      walkFrom(kernel, pointAfter(site), (instruction) => {
        if (isOwn(instruction)) isOnce = false;
        return isOnce && !isBlockBarrier(instruction);
      });
      if (!isOnce) return null;
    }
    return { sites, participants, waiting, terms: [term, condition] };
  }

  const telling: Term[] = [];
  const meetings: { readonly members: Members; readonly sites: readonly Site[] }[] = [];
  const handings: Handing[] = [];
  for (const [name, sites] of byName) {
    const met = meeting(sites);
    const handed = met ? null : handing(sites);
    if (met) meetings.push({ members: met.members, sites });
    else if (handed) handings.push(handed);
    else return fail(`Selvage cannot show that all threads for which barrier ${name} waits reach it together, each once`);
    telling.push(...(met ? [met.term] : handed!.terms));
  }
  const kinds = new Map<string, number>();
  for (let thread = 0; thread < threads; thread++) {
    const kind = telling.map((term) => holdersOf(term)![thread]).join();
    if (!kinds.has(kind)) kinds.set(kind, thread);
  }
  if (kinds.size > maxGroups) return fail('the named barriers of this kernel divide the block into too many groups of threads');
  const membersOf = new Map<ThreadGroup, Members>();
  for (const thread of kinds.values()) {
    const term = store.all(telling.map((each) => (holdersOf(each)![thread] ? each : store.not(each))));
    const members = holdersOf(term)!;
    const own = meetings.filter((met) => met.members[thread]);
    const meets = new Set(own.flatMap(({ sites }) => sites.map(({ instruction }) => instruction)));
    membersOf.set({ members: term, isOpen: isOpenFor(members), meets }, members);
  }
  const isIn = (group: ThreadGroup, set: Members): boolean => membersOf.get(group)!.every((isMember, thread) => !isMember || set[thread]);

  /** Instructions reachable from a point before a barrier of the block and before any of these. */
  function instructionsFrom(from: ProgramPoint, gates: readonly Site[], isOpen?: ThreadGroup['isOpen']): ReadonlySet<Instruction> {
    const found = new Set<Instruction>();
    const goesOn = (instruction: Instruction): boolean => {
      found.add(instruction);
      return !isBlockBarrier(instruction) && !gates.some((gate) => gate.instruction === instruction);
    };
    walkFrom(kernel, from, goesOn, isOpen);
    return found;
  }
  const after = new Map(handings.map((each) => [each, each.sites.map((site) => instructionsFrom(pointAfter(site), []))]));
  const places = new Map<Instruction, ProgramPoint>();
  for (const { id: block, instructions } of kernel.blocks)
    for (const [position, instruction] of instructions.entries()) places.set(instruction, { block, position });
  const early = new Map<string, ReadonlySet<Instruction>>();
  const groups = [...membersOf.keys()];
  return {
    groups,
    handsOver: (start, [earlierGroup, earlier], [laterGroup, later]) => {
      if (earlier.isCopy || later.isCopy) return false;
      return handings.some((each, index) => {
        if (!isIn(earlierGroup, each.participants) || !isIn(laterGroup, each.waiting)) return false;
        if (after.get(each)!.some((instructions) => instructions.has(earlier.instruction))) return false;
        const key = `${index}:${groups.indexOf(laterGroup)}:${start?.id ?? ''}`;
        let before = early.get(key);
        if (!before) {
          const at = start ? places.get(start)! : { block: 0 as BlockId, position: -1 };
          before = instructionsFrom(pointAfter(at), each.sites, laterGroup.isOpen);
          early.set(key, before);
        }
        return !before.has(later.instruction);
      });
    },
    problem: null,
  };
}
