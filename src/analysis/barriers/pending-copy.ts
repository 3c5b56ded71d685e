/**
 * Asynchronous copies (`cp.async`, PTX ISA 9.7.9.25.3), and matrix products of warp groups (`wgmma.mma_async`, PTX ISA
 * 9.7.15.5), which read like one: weak accesses that happen at any time between the instruction and the wait that
 * completes them. From each copy all paths are walked until it is complete, counting the groups that are committed
 * after it: `cp.async.wait_group N` completes those that are followed by N others. Accesses of the thread on these
 * paths are concurrent with it, and it belongs to the intervals that start at the barriers on them.
 */
import type { BlockId, Instruction, Loop, LoopId } from '../../ir/form/kernel.ts';
import { groupOf } from '../../isa/model/effect.ts';
import type { Term } from '../../term/term.ts';
import { type Access, accessesByInstruction } from '../values/access.ts';
import type { AccessOccurrence, PathCondition } from './barrier-interval.ts';
import { groupAgeBehind, groupsThatMayGoOn } from './copy-group.ts';
import type { Mbarriers } from './block-mbarrier.ts';
import { type IterationRelation, iterationBeforeEnd, iterationOfExecution, sameIteration } from '../values/iteration-relation.ts';
import { type SymbolicKernel, undefinedValue } from '../values/symbolic.ts';
import { substituted } from '../../term/rewrite.ts';

/** An access of a thread that may execute before its own copy is complete; iterations are relative to the copy. */
export interface OwnAccess {
  readonly copy: AccessOccurrence;
  readonly access: AccessOccurrence;
  /** For each loop that contains both: the access is executed at least this many iterations after the copy. */
  readonly later: readonly { readonly counter: Term; readonly by: number }[];
}

interface PendingCopies {
  /** By barrier: copies that the threads passing it may not have waited for; iterations are relative to the barrier. */
  readonly at: ReadonlyMap<Instruction, readonly AccessOccurrence[]>;
  readonly own: readonly OwnAccess[];
  /** Copies for which some thread may return without having waited. */
  readonly abandoned: readonly Access[];
}

/** Limit for one copy; beyond it, the copy is assumed to stay pending forever. */
const maxStates = 1000;
/** Number of iterations of a loop that are distinguished: in any loop, and in one with a known maximum. */
const fewestRounds = 4;
const maxRounds = 64;

/** State of a loop relative to a copy. */
interface LoopState {
  /** Iterations since the copy, in the execution of the loop that contains the copy; null: outside the loop. */
  readonly since: number | null;
  /** Whether that execution of the loop has ended. */
  readonly isOver: boolean;
  /** The condition under which the loop was left; null if it was not left, or if the condition is unknown. */
  readonly exit: Term | null;
  /** Number of the current iteration, from 0, of an execution of the loop that began since the copy; null: none did. */
  readonly run: number | null;
}

interface State {
  readonly block: BlockId;
  readonly position: number;
  /** Number of groups committed after the copy's own group; -1 if that one is not committed yet. */
  readonly age: number;
  /** Barriers in memory (mbarriers) that wait for the copy. */
  readonly announcedTo: readonly string[];
  readonly loops: readonly LoopState[];
  /** Branch conditions that are known on the path and also decide other branches. */
  readonly decided: ReadonlyMap<Term, boolean>;
}

/**
 * @param isBarrier the barriers at which pending copies are to be listed
 * @param inMemory barriers that copies may be announced to, which wait for them
 */
export function pendingCopies(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  isBarrier: (instruction: Instruction) => boolean,
  inMemory: Pick<Mbarriers, 'arrivals' | 'announcements'>,
): PendingCopies {
  if (!accesses.some(({ isCopy }) => isCopy)) return { at: new Map(), own: [], abandoned: [] };
  const { kernel, store, view } = symbolic;
  const byInstruction = accessesByInstruction(accesses);
  const headerLoop = new Map(kernel.loops.map((loop) => [loop.header, loop]));
  const at = new Map<Instruction, readonly AccessOccurrence[]>();
  const own: OwnAccess[] = [];
  const abandoned: Access[] = [];
  const kinds = new Set(accesses.filter(({ isCopy }) => isCopy).map(({ instruction }) => instruction.operation.effect));
  const oldest = Math.max(
    0,
    ...kernel.blocks.flatMap(({ instructions }) =>
      instructions.flatMap((instruction) => [...kinds].map((kind) => groupsThatMayGoOn(kind, instruction))),
    ),
  );
  /** By loop: counts are capped at this number of iterations. */
  const many = symbolic.rounds.map((most, id) =>
    isIdle(kernel.loops[id]!) ? 0 : most < maxRounds ? Number(most) + 1 : Math.max(fewestRounds, oldest + 2),
  );
  const next = (loop: number, count: number): number => Math.min(count + 1, many[loop]!);

  /** Whether a loop only waits, for a lock or a barrier in memory: its iterations are irrelevant. */
  function isIdle({ blocks }: Loop): boolean {
    return [...blocks].every((block) =>
      kernel.blocks[block]!.instructions.every((instruction) => {
        const isOfGroup = instruction.operation.effect.kind === 'group';
        const isEvent = isOfGroup || isBarrier(instruction) || inMemory.announcements.has(instruction);
        return !isEvent && !byInstruction.has(instruction);
      }),
    );
  }

  const exitOn = (from: BlockId, to: BlockId): Term | null => {
    const term = symbolic.edge(from, to);
    return term === store.true ? null : term;
  };

  function step(from: BlockId, to: BlockId, loops: readonly LoopState[]): readonly LoopState[] {
    const entered = headerLoop.get(to);
    return loops.map((state, id): LoopState => {
      const loop = kernel.loops[id]!;
      if (loop === entered && loop.blocks.has(from)) {
        return state.run === null && state.since !== null && !state.isOver
          ? { ...state, since: next(id, state.since) }
          : { ...state, run: next(id, state.run ?? many[id]!) };
      }
      if (loop === entered) return { ...state, run: 0 };
      // Executions of inner loops are counted within one iteration of the outer loop.
      if (entered?.blocks.has(from) && entered.blocks.has(loop.header)) {
        const exit = state.exit ?? exitOn(from, to);
        return { ...state, run: null, ...(state.since !== null && { isOver: true, exit }) };
      }
      const isLeft = loop.blocks.has(from) && !loop.blocks.has(to) && state.run === null;
      if (!isLeft || state.since === null || state.isOver) return state;
      return { ...state, isOver: true, exit: exitOn(from, to) };
    });
  }

  /** Whether a state has more iterations than the loop can have. */
  const isImpossible = ({ since, run }: LoopState, id: number): boolean => Math.max(since ?? 0, run ?? 0) > symbolic.rounds[id]!;

  /** Successors left open by the ranges and by earlier branches, if the iteration is known. */
  function openSuccessors({ block, loops, decided: earlier }: State): readonly BlockId[] {
    const { terminator, successors } = kernel.blocks[block]!;
    if (terminator.kind !== 'branch') return successors;
    const [core, isNegated] = coreOf(symbolic.condition(block)!);
    const known = earlier.get(core);
    if (known !== undefined) return [known !== isNegated ? terminator.then : terminator.otherwise];
    const condition = substituted(
      store,
      symbolic.condition(block)!,
      (leaf) => {
        const atom = leaf.atom!;
        if (atom.kind !== 'iteration') return undefined;
        const { run } = loops[atom.loop]!;
        return run !== null && run < many[atom.loop]! ? store.constant(leaf.width, BigInt(run)) : undefined;
      },
      new Map(),
    );
    const decided = view.decide(condition);
    if (decided === undefined) return successors;
    return [decided ? terminator.then : terminator.otherwise];
  }

  const conditions = kernel.blocks.flatMap(({ id }) => symbolic.condition(id) ?? []).map((term) => coreOf(term)[0]);
  const isRepeated = (core: Term): boolean =>
    conditions.indexOf(core) !== conditions.lastIndexOf(core) &&
    core.leaves.length > 0 &&
    core.leaves.every(({ atom }) => atom?.kind !== 'havoc' || atom.value !== undefinedValue);

  /** Conditions that are decided in any execution of a block. */
  function decidedIn(block: BlockId): ReadonlyMap<Term, boolean> {
    const reach = symbolic.reach(block);
    const parts = (reach.operator === 'all' ? reach.arguments : [reach]).map(coreOf);
    return new Map(parts.filter(([core]) => isRepeated(core)).map(([core, isNegated]) => [core, !isNegated]));
  }

  /** Conditions decided after an edge: those on values that a loop recomputes are dropped. */
  function decidedAfter({ block, decided }: State, to: BlockId): ReadonlyMap<Term, boolean> {
    const { terminator } = kernel.blocks[block]!;
    let after = decided;
    if (terminator.kind === 'branch' && terminator.then !== terminator.otherwise) {
      const [core, isNegated] = coreOf(symbolic.condition(block)!);
      if (isRepeated(core)) after = new Map([...after, [core, (to === terminator.then) !== isNegated]]);
    }
    const loop = headerLoop.get(to);
    if (!loop || after.size === 0) return after;
    return new Map([...after].filter(([core]) => core.leaves.every((leaf) => isOutside(leaf, loop))));
  }

  function isOutside({ atom }: Term, { blocks }: Loop): boolean {
    if (atom?.kind === 'iteration') return !blocks.has(kernel.loops[atom.loop]!.header);
    return (atom?.kind !== 'havoc' && atom?.kind !== 'phi') || !blocks.has(symbolic.definedIn(atom.value));
  }

  const counter = (loop: LoopId): Term => store.atom(64, { kind: 'iteration', loop });
  const atLeast = (loop: LoopId, round: number): Term => store.not(store.unsignedLess(counter(loop), store.constant(64, BigInt(round))));

  /** A pending copy, with iterations relative to a barrier that its thread passes. */
  function pendingAt(access: Access, barrier: BlockId, loops: readonly LoopState[]): AccessOccurrence {
    const start = kernel.loops.map(({ blocks }): IterationRelation => (blocks.has(barrier) ? 'same' : 'before'));
    const rounds = loops.map(({ since, isOver }, id): IterationRelation => {
      if (since === null) return 'before';
      if (since === many[id]) return 'free';
      return isOver ? iterationBeforeEnd(since) : sameIteration(-since);
    });
    const path: PathCondition[] = [];
    for (const { id } of kernel.loops) {
      const { since, isOver, exit, run } = loops[id]!;
      if (run !== null) {
        const exact = store.equal(counter(id), store.constant(64, BigInt(run)));
        path.push({ term: run === many[id] ? atLeast(id, run) : exact, rounds: start });
      }
      if (since === null || (since === 0 && !exit)) continue;
      // Relative to the end of the execution that contains the copy, or to the iteration of the barrier.
      const moment = isOver ? roundsAround(id, rounds, 'before') : start;
      if (exit) path.push({ term: exit, rounds: moment });
      path.push({ term: atLeast(id, since), rounds: moment });
    }
    return { access, rounds, path };
  }

  /** An access of the same thread, with iterations relative to the copy. */
  function laterAccess(access: Access, loops: readonly LoopState[]): AccessOccurrence {
    const rounds = loops.map(({ since, run }, id): IterationRelation => {
      if (run !== null) return run === many[id] ? 'free' : iterationOfExecution(run);
      if (since === null) return 'before';
      return since === many[id] ? 'free' : sameIteration(since);
    });
    const path: PathCondition[] = [];
    for (const { id } of kernel.loops) {
      const { since, exit } = loops[id]!;
      if (since === null || since === many[id] || !exit) continue;
      const home = loops.map((state): IterationRelation => (state.since === null ? 'before' : 'same'));
      path.push({ term: exit, rounds: roundsAround(id, home, sameIteration(since)) });
    }
    return { access, rounds, path };
  }

  /** The iterations of a loop and of the loops around it, relative to the end of an execution of that loop. */
  function roundsAround(loop: LoopId, rounds: readonly IterationRelation[], last: IterationRelation): readonly IterationRelation[] {
    const { header } = kernel.loops[loop]!;
    return kernel.loops.map(({ id, blocks }): IterationRelation => {
      if (id === loop) return last;
      return blocks.has(header) ? rounds[id]! : 'before';
    });
  }

  /** Follows a copy on all paths to its wait; null if there are too many. */
  function follow(copy: Instruction, block: BlockId, position: number): Met | null {
    const met: Met = { at: new Map(), own: new Map(), isAbandoned: false };
    const copies = byInstruction.get(copy) ?? [];
    const home = kernel.loops.map(({ blocks }): IterationRelation => (blocks.has(block) ? 'same' : 'before'));
    const recordAccess = (access: Access, loops: readonly LoopState[]): void => {
      const seenFromCopy = laterAccess(access, loops);
      const later = loops.flatMap(({ since, isOver, run }, id) =>
        since === many[id] && !isOver && run === null ? [{ counter: counter(id as LoopId), by: since }] : [],
      );
      for (const each of copies) {
        const key = `${each.index}:${access.index}:${stateKey(loops)}`;
        met.own.set(key, { copy: { access: each, rounds: home, path: [] }, access: seenFromCopy, later });
      }
    };
    const outlast = (barrier: Instruction, where: BlockId, loops: readonly LoopState[]): void => {
      const list = met.at.get(barrier) ?? new Map<string, AccessOccurrence>();
      met.at.set(barrier, list);
      for (const each of copies) list.set(`${each.index}:${stateKey(loops)}`, pendingAt(each, where, loops));
    };
    const { effect } = copy.operation;
    const isAnnounced = ({ operation }: Instruction): boolean =>
      operation.effect.kind === 'mbarrier' &&
      operation.effect.copies !== undefined &&
      operation.effect.copies.name === groupOf(effect)?.name;
    const start = kernel.loops.map(({ blocks }): LoopState => ({
      since: blocks.has(block) ? 0 : null,
      isOver: false,
      exit: null,
      run: null,
    }));
    const seen = new Set<string>();
    const work: State[] = [{ block, position: position + 1, age: -1, announcedTo: [], loops: start, decided: decidedIn(block) }];
    for (let state = work.pop(); state; state = work.pop()) {
      if (seen.size > maxStates) return null;
      let age: number | null = state.age;
      let { announcedTo } = state;
      for (const instruction of kernel.blocks[state.block]!.instructions.slice(state.position)) {
        age = groupAgeBehind(effect, instruction, age, oldest);
        const announced = inMemory.announcements.get(instruction);
        if (announced !== undefined && isAnnounced(instruction) && !announcedTo.includes(announced))
          announcedTo = [...announcedTo, announced].sort();
        const arrival = inMemory.arrivals.get(instruction);
        if (arrival?.isAwaitedAtOnce === true && announcedTo.includes(arrival.barrier)) age = null;
        if (age === null) break;
        if (isBarrier(instruction)) outlast(instruction, state.block, state.loops);
        for (const access of byInstruction.get(instruction) ?? []) recordAccess(access, state.loops);
      }
      if (age === null) continue;
      if (kernel.blocks[state.block]!.terminator.kind === 'exit') met.isAbandoned = true;
      for (const to of openSuccessors(state)) {
        const loops = step(state.block, to, state.loops);
        if (loops.some(isImpossible)) continue;
        const decided = decidedAfter(state, to);
        const known = [...decided].map(([core, is]) => `${core.id}=${is}`);
        const key = `${to}:${age}:${announcedTo.join()}:${stateKey(loops)}:${known.join()}`;
        if (seen.has(key)) continue;
        seen.add(key);
        work.push({ block: to, position: 0, age, announcedTo, loops, decided });
      }
    }
    return met;
  }

  /** A copy that is pending at all accesses of its thread and at all barriers. */
  function always(copy: Instruction): Met {
    const met: Met = { at: new Map(), own: new Map(), isAbandoned: true };
    const rounds = kernel.loops.map((): IterationRelation => 'free');
    for (const each of byInstruction.get(copy) ?? []) {
      const home = kernel.loops.map(({ blocks }): IterationRelation => (blocks.has(each.block) ? 'same' : 'before'));
      for (const access of accesses) {
        const later: OwnAccess = {
          copy: { access: each, rounds: home, path: [] },
          access: { access, rounds, path: [] },
          later: [],
        };
        met.own.set(`${each.index}:${access.index}`, later);
      }
      for (const instruction of kernel.blocks.flatMap(({ instructions }) => instructions)) {
        if (!isBarrier(instruction)) continue;
        const list = met.at.get(instruction) ?? new Map<string, AccessOccurrence>();
        met.at.set(instruction, list.set(`${each.index}`, { access: each, rounds, path: [] }));
      }
    }
    return met;
  }

  for (const block of kernel.blocks) {
    if (view.decide(symbolic.reach(block.id)) === false) continue;
    block.instructions.forEach((instruction, position) => {
      const copies = byInstruction.get(instruction) ?? [];
      if (!copies.some(({ isCopy }) => isCopy)) return;
      const met = follow(instruction, block.id, position) ?? always(instruction);
      own.push(...met.own.values());
      if (met.isAbandoned) abandoned.push(...copies);
      for (const [barrier, list] of met.at) at.set(barrier, [...(at.get(barrier) ?? []), ...list.values()]);
    });
  }
  return { at, own, abandoned };
}

/** Accesses and barriers that are concurrent with a copy. */
interface Met {
  readonly at: Map<Instruction, Map<string, AccessOccurrence>>;
  readonly own: Map<string, OwnAccess>;
  isAbandoned: boolean;
}

/** Splits a condition into its core and whether it is negated. */
function coreOf(condition: Term): readonly [Term, boolean] {
  return condition.operator === 'not' ? [condition.arguments[0]!, true] : [condition, false];
}

function stateKey(loops: readonly LoopState[]): string {
  return loops.map(({ since, isOver, exit, run }) => `${since ?? ''}${isOver ? `!${exit?.id ?? ''}` : ''}/${run ?? ''}`).join();
}
