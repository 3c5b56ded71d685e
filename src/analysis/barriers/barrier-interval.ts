/**
 * Barrier intervals: the accesses that a thread may execute between two barriers of its whole block. For each start
 * (the entry and every barrier): the accesses reached by some barrier-free path, with the state of each loop on that
 * path. Loops are not unrolled; the results hold for any number of iterations.
 */
import type { BlockId, Instruction, Kernel, LoopId } from '../../ir/form/kernel.ts';
import { type Access, accessesByInstruction } from '../values/access.ts';
import type { IterationRelation } from '../values/iteration-relation.ts';
import type { Arrival } from './block-mbarrier.ts';
import type { Term } from '../../term/term.ts';
import type { SymbolicKernel } from '../values/symbolic.ts';
import type { UniformityResult } from '../values/uniformity.ts';
import { substituted } from '../../term/rewrite.ts';

/** A condition that held on the path, in the iterations of that point of it. */
export interface PathCondition {
  readonly term: Term;
  readonly rounds: readonly IterationRelation[];
}

export interface AccessOccurrence {
  readonly access: Access;
  /** State of each loop, by LoopId. */
  readonly rounds: readonly IterationRelation[];
  /** Conditions under which the path left, or repeated, the loops that contain the start of the interval. */
  readonly path: readonly PathCondition[];
  /**
   * Present if the access is by an asynchronous operation that is still pending after its thread has returned: the
   * thread does not pass the start.
   */
  readonly hasReturned?: true;
}

export interface Interval {
  /** The basic block of the barrier that starts the interval, and that barrier; null for the entry of the kernel. */
  readonly start: { readonly block: BlockId; readonly barrier: Instruction } | null;
  readonly startRounds: readonly IterationRelation[];
  readonly occurrences: readonly AccessOccurrence[];
}

interface IntervalResult {
  readonly intervals: readonly Interval[];
  /** Whether the list is incomplete because there were too many combinations of loop states. */
  readonly truncated: boolean;
}

const maxStates = 20000;

/** A barrier of all blocks of a cooperative launch. */
export function isGridBarrier(instruction: Instruction): boolean {
  return instruction.operation.effect.kind === 'grid-barrier';
}

/** `__syncwarp()` of the whole warp: it orders the accesses of its threads. */
export function isWarpBarrier({ operation, arguments: [mask] }: Instruction): boolean {
  if (operation.effect.kind !== 'warp-barrier' || mask?.kind !== 'constant') return false;
  return BigInt.asUintN(32, mask.value) === 0xffffffffn;
}

/** A barrier that all threads of the block take part in: `bar.sync 0`, `bar.red 0` without a count, or one of the grid. */
export function isFullBarrier(instruction: Instruction): boolean {
  const { effect } = instruction.operation;
  if (isGridBarrier(instruction)) return true;
  if (effect.kind !== 'barrier' || effect.form === 'arrive') return false;
  const [barrier, ...rest] = instruction.arguments;
  const counts = rest.length - (effect.form === 'red' ? 1 : 0);
  return counts === 0 && barrier?.kind === 'constant' && barrier.value === 0n;
}

/**
 * Computes the barrier intervals of a kernel.
 * @param isBarrier which barriers count: those of the block, for two of its threads; those of the grid, for threads of
 * two blocks
 * @param uniformity for threads of a block or of the grid
 * @param arrivals split-phase barriers: accesses between arrival and wait belong to both sides
 * @param pending by barrier, asynchronous accesses that may still be pending; they belong to the interval that it
 *   starts
 * @param isOpen edges that the threads may take, if only some threads of the block are analyzed
 */
export function barrierIntervals(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  uniformity: UniformityResult,
  isBarrier: (instruction: Instruction) => boolean = isFullBarrier,
  pending: ReadonlyMap<Instruction, readonly AccessOccurrence[]> = new Map(),
  arrivals: ReadonlyMap<Instruction, Arrival> = new Map(),
  isOpen: (from: BlockId, to: BlockId) => boolean = () => true,
): IntervalResult {
  const { kernel, store, view } = symbolic;
  const events = eventsByBlock(kernel, accesses, isBarrier);
  const headerLoop = new Map(kernel.loops.map((loop) => [loop.header, loop]));
  const loopsAround = kernel.blocks.map((block) => {
    const list: LoopId[] = [];
    for (let loop = kernel.loopOf[block.id] ?? null; loop !== null; loop = kernel.loops[loop]!.parent) list.push(loop);
    return list;
  });
  /** Every iteration of the loop passes a full barrier. */
  const cut: boolean[] = kernel.loops.map(() => false);
  let states = 0;

  function step(from: BlockId, to: BlockId, rounds: readonly IterationRelation[]): readonly IterationRelation[] {
    const next = rounds.slice();
    for (const loop of loopsAround[from]!) {
      if (kernel.loops[loop]!.blocks.has(to)) continue;
      if (next[loop] === 'free' && !uniformity.divergent(loop)) next[loop] = 'left';
    }
    const entered = headerLoop.get(to);
    if (entered) {
      const again = entered.blocks.has(from);
      if (!again) next[entered.id] = cut[entered.id] ? 'first' : 'free';
      else {
        next[entered.id] = next[entered.id] === 'same' && cut[entered.id] ? 'next' : 'free';
        for (const inner of kernel.loops) if (inner.id !== entered.id && entered.blocks.has(inner.header)) next[inner.id] = 'before';
      }
    }
    return next;
  }

  /** The successors that are reachable in this state, given the ranges of values. */
  function openSuccessors(block: BlockId, rounds: readonly IterationRelation[]): readonly BlockId[] {
    const { terminator, successors } = kernel.blocks[block]!;
    if (terminator.kind !== 'branch') return successors;
    const condition = substituted(
      store,
      symbolic.condition(block)!,
      (leaf) => {
        const atom = leaf.atom!;
        const first = atom.kind === 'iteration' && rounds[atom.loop] === 'first';
        return first ? store.constant(leaf.width, 0n) : undefined;
      },
      new Map(),
    );
    const decided = view.decide(condition);
    if (decided === undefined) return successors;
    return [decided ? terminator.then : terminator.otherwise];
  }

  /**
   * Whether a path executes this iteration of the loop at most once: `first` recurs if the outer iteration is unknown.
   */
  function isKnown(loop: LoopId, rounds: readonly IterationRelation[]): boolean {
    if (rounds[loop] === 'same' || rounds[loop] === 'next') return true;
    if (rounds[loop] !== 'first') return false;
    const { parent } = kernel.loops[loop]!;
    return parent === null || isKnown(parent, rounds);
  }

  /**
   * Condition of an edge that leaves or repeats a loop, if the iteration is known: the one shared with the start, or
   * the first.
   */
  function turn(from: BlockId, to: BlockId, rounds: readonly IterationRelation[]): PathCondition | null {
    const turns = loopsAround[from]!.some((id) => {
      const loop = kernel.loops[id]!;
      return isKnown(id, rounds) && (loop.header === to || !loop.blocks.has(to));
    });
    if (!turns) return null;
    const term = symbolic.edge(from, to);
    return term === store.true ? null : { term, rounds };
  }

  /** Walks barrier-free paths. `visit` is called with each access, `edge` may reject an edge. */
  function walk(
    start: BlockId,
    position: number,
    startRounds: readonly IterationRelation[],
    visit: (access: Access, rounds: readonly IterationRelation[], path: readonly PathCondition[]) => void,
    edge: (from: BlockId, to: BlockId) => boolean,
  ): void {
    const seen = new Set<string>();
    const work: {
      block: BlockId;
      position: number;
      rounds: readonly IterationRelation[];
      path: readonly PathCondition[];
      /** The barrier at which the path has arrived without having waited. */
      arrival: Arrival | null;
    }[] = [{ block: start, position, rounds: startRounds, path: [], arrival: null }];
    for (let at = work.pop(); at; at = work.pop()) {
      if (++states > maxStates) return;
      let stopped = false;
      for (const event of events[at.block]!) {
        if (event.position < at.position) continue;
        if (event.kind === 'barrier') {
          const arrival = at.arrival ? undefined : arrivals.get(event.instruction);
          if (arrival && !arrival.isAwaitedAtOnce) {
            at.arrival = arrival;
            continue;
          }
          stopped = true;
          break;
        }
        visit(event.access, at.rounds, at.path);
      }
      if (stopped) continue;
      for (const to of openSuccessors(at.block, at.rounds)) {
        if (at.arrival?.isStillWaiting(at.block, to) === false || !isOpen(at.block, to) || !edge(at.block, to)) continue;
        const rounds = step(at.block, to, at.rounds);
        const turned = turn(at.block, to, at.rounds);
        const path = turned ? [...at.path, turned] : at.path;
        const key = `${to}:${at.arrival?.barrier ?? ''}:${stateKey(rounds, path)}`;
        if (seen.has(key)) continue;
        seen.add(key);
        work.push({ block: to, position: 0, rounds, path, arrival: at.arrival });
      }
    }
  }

  const before: readonly IterationRelation[] = kernel.loops.map(() => 'before');
  for (const loop of [...kernel.loops].reverse()) {
    let around = false;
    const rounds = before.map((state, id) => (id === loop.id ? 'same' : state));
    const edge = (_from: BlockId, to: BlockId): boolean => {
      if (to === loop.header) around = true;
      return to !== loop.header && loop.blocks.has(to);
    };
    walk(loop.header, 0, rounds, () => undefined, edge);
    cut[loop.id] = !around && states <= maxStates;
  }

  function interval(start: Interval['start'], block: BlockId, position: number): Interval {
    const startRounds = before.map((state, id): IterationRelation => (start && kernel.loops[id]!.blocks.has(block) ? 'same' : state));
    const occurrences = new Map<string, AccessOccurrence>();
    const visit = (access: Access, rounds: readonly IterationRelation[], path: readonly PathCondition[]): void => {
      const key = `${access.index}:${stateKey(rounds, path)}`;
      if (!occurrences.has(key)) occurrences.set(key, { access, rounds, path });
    };
    const initial = start ? startRounds : entryRounds(startRounds);
    walk(block, position, initial, visit, () => true);
    for (const { access, rounds, path } of (start && pending.get(start.barrier)) ?? []) visit(access, rounds, path);
    return { start, startRounds, occurrences: [...occurrences.values()] };
  }

  /** The entry block may itself be a loop header. */
  function entryRounds(rounds: readonly IterationRelation[]): readonly IterationRelation[] {
    const loop = headerLoop.get(0 as BlockId);
    if (!loop) return rounds;
    return rounds.map((state, id) => (id === loop.id ? (cut[id] ? 'first' : 'free') : state));
  }

  const intervals: Interval[] = [interval(null, 0 as BlockId, 0)];
  for (const block of kernel.blocks) {
    for (const event of events[block.id]!) {
      if (event.kind === 'barrier') intervals.push(interval({ block: block.id, barrier: event.instruction }, block.id, event.position + 1));
    }
  }
  return { intervals, truncated: states > maxStates };
}

function stateKey(rounds: readonly IterationRelation[], path: readonly PathCondition[]): string {
  return [rounds.join(), ...path.map((condition) => `${condition.term.id}@${condition.rounds.join()}`)].join('|');
}

type Event =
  | { readonly kind: 'access'; readonly position: number; readonly access: Access }
  | { readonly kind: 'barrier'; readonly position: number; readonly instruction: Instruction };

function eventsByBlock(
  kernel: Kernel,
  accesses: readonly Access[],
  isBarrier: (instruction: Instruction) => boolean,
): readonly (readonly Event[])[] {
  const byInstruction = accessesByInstruction(accesses);
  return kernel.blocks.map((block) => {
    const events: Event[] = [];
    block.instructions.forEach((instruction, position) => {
      const own = byInstruction.get(instruction);
      if (own) for (const access of own) events.push({ kind: 'access', position, access });
      else if (isBarrier(instruction)) events.push({ kind: 'barrier', position, instruction });
    });
    return events;
  });
}
