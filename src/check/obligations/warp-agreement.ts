/**
 * Instructions that the lanes of a warp execute together (PTX ISA 9.7.9.6, 9.7.13, 9.7.14). A mask names the
 * participating lanes, and each of these must execute the instruction unless it has exited. So two threads of a warp may
 * diverge before the instruction only if the mask of the thread that executes it does not contain the other, or if the
 * other one exits without waiting for any thread. All lanes of a warp execute a matrix instruction, none may have exited.
 */
import { participantsOf } from '../../isa/model/effect.ts';
import type { Effect } from '../../isa/model/operation.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import { masksByLane } from '../../analysis/values/shared-by-lanes.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { pointAfter, reachable, walkFrom } from '../../analysis/values/program-point.ts';
import type { ProgramPoint } from '../../analysis/values/program-point.ts';
import type { ControlDependence } from '../../analysis/values/control-dependence.ts';
import type { IterationRelation } from '../../analysis/values/iteration-relation.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { UniformityResult } from '../../analysis/values/uniformity.ts';
import type { BlockId, Instruction, Kernel, Loop, Operand } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { oppositeBranchSides } from './barrier-divergence.ts';
import type { TermInstance } from './instance.ts';
import type { ReadCondition } from './obligation.ts';

/** The conditions under which two threads of a warp take different sides of a branch although both have to come. */
interface Parting {
  /** The lists of conditions; empty if the property cannot be expressed. */
  readonly paths: readonly (readonly ReadCondition[])[];
  /**
   * The same property if it depends on lane indices only: the conditions under which two threads take different sides of
   * the branch, and by lane the group of lanes that must not. Lanes of group -1 may take any side. Null otherwise.
   */
  readonly byLane: { readonly sides: readonly ReadCondition[]; readonly groups: readonly number[] } | null;
}

/** A property to be refuted: two threads of a warp satisfy all conditions of one of these lists. */
export interface WarpObligation extends Parting {
  readonly instruction: Instruction;
  /** Further instructions with the same property. */
  readonly others: readonly Instruction[];
  /** Whether one of the two threads exits unawaited, so that it is only missing as a source of values. */
  readonly isOfExit: boolean;
  /** For reports: the condition under which a lane executes the instruction. */
  readonly condition: Term;
}

/** The lanes that a mask names, as far as the mask can be analyzed. */
type Lanes =
  /** All lanes. */
  | { readonly kind: 'all' }
  /** Unknown lanes. */
  | { readonly kind: 'unknown' }
  /** The lanes that satisfy a condition on the thread index only. */
  | { readonly kind: 'such'; readonly holds: Term; readonly groups: readonly number[] | null }
  /** Lanes of equal number name each other; -1: the mask of that lane does not name it. */
  | { readonly kind: 'parts'; readonly groups: readonly number[] }
  /**
   * The lanes that executed the instruction at `at` together with the thread that owns the mask, and satisfied the
   * predicate there. `inStep`: they did so in the same iteration of the loops around `at`.
   */
  | { readonly kind: 'told'; readonly at: ProgramPoint; readonly predicate: Term | null; readonly inStep: boolean };

const all: Lanes = { kind: 'all' };
const unknownLanes: Lanes = { kind: 'unknown' };
/** Limit on the parts of a warp for which a solver is asked. */
const maxParts = 8;

/** The mask operand of an instruction; undefined if it has none. */
export function maskOf({ operation: { effect }, arguments: operands }: Instruction): Operand | undefined {
  switch (effect.kind) {
    case 'warp-barrier':
      return operands[0];
    case 'shuffle':
      return effect.sync ? operands[3] : undefined;
    case 'vote':
      return effect.sync ? operands[1] : undefined;
    case 'warp-value':
      return effect.sync ? operands[effect.name === 'elect' ? 0 : 1] : undefined;
    default:
      return undefined;
  }
}

/** Whether lanes execute an instruction together: those named by its mask, or all lanes if it has none. */
export function isTogether({ operation: { effect } }: Instruction): boolean {
  // `activemask` returns the lanes that execute it, and does not require any.
  return /^(lanes|warp|warpgroup)$/.test(participantsOf(effect)) && !(effect.kind === 'warp-value' && effect.name === 'activemask');
}

/**
 * Whether lanes may have exited before an instruction. All lanes have to execute matrix instructions. A warp barrier does
 * not wait for lanes that have exited either, but it does not order their accesses before those of the others.
 */
function mayFollowExits({ operation: { effect } }: Instruction): boolean {
  return participantsOf(effect) === 'lanes' && effect.kind !== 'warp-barrier';
}

/**
 * Obligations for every instruction that lanes execute together.
 * @param uniformity for the lanes of a warp
 */
export function warpObligations(
  symbolic: SymbolicKernel,
  dependences: ControlDependence,
  uniformity: UniformityResult,
  dimensions: Dimensions,
): WarpObligation[] {
  const { kernel, store } = symbolic;
  const list: WarpObligation[] = [];
  for (const { id: block, instructions } of kernel.blocks) {
    const branches = [...dependences.controlling(block, kernel.loopOf[block] ?? null)].sort((a, b) => a - b);
    const varying = branches.filter((branch) => uniformity.branch(branch) === 'varying');
    /** Further instructions that all lanes have to execute, by whether lanes may have exited before. */
    const alike = new Map<boolean, Instruction[]>();
    for (const [position, instruction] of instructions.entries()) {
      if (!isTogether(instruction)) continue;
      const lanes = lanesOf(symbolic, instruction, dimensions);
      const between = lanes.kind === 'told' ? blocksBetween(kernel, lanes.at, { block, position }) : null;
      const isInStep = lanes.kind !== 'told' || lanes.inStep;
      const mayExit = mayFollowExits(instruction);
      // If all lanes are required, all such instructions of one basic block have the same obligations.
      const known = lanes.kind === 'all' ? alike.get(mayExit) : undefined;
      if (known) {
        known.push(instruction);
        continue;
      }
      const others: Instruction[] = [];
      if (lanes.kind === 'all') alike.set(mayExit, others);
      for (const branch of isInStep ? varying : branches) {
        if (between && !between.has(branch)) continue;
        const condition = symbolic.condition(branch);
        const isOfExit = mayExit && leavesUnawaited(kernel, branch, block);
        const parting = condition ? partings(symbolic, branch, condition, block, lanes) : { paths: [], byLane: null };
        list.push({ instruction, others, isOfExit, condition: condition ?? store.true, ...parting });
      }
      list.push(...ownLane(symbolic, instruction, block, lanes));
    }
  }
  return list;
}

/** Groups of lanes that have to take the same side of a branch; null if they depend on values. */
function groupsOf(lanes: Lanes): readonly number[] | null {
  if (lanes.kind === 'parts' || lanes.kind === 'such') return lanes.groups;
  return lanes.kind === 'all' || lanes.kind === 'unknown' ? Array.from({ length: warpSize }, () => 0) : null;
}

/**
 * Whether at most one side of a branch does not lead to the end of the kernel without waiting for any thread. Threads that
 * take such a side exit, so that no instruction of the warp waits for them any more.
 * @param home the basic block of the instruction
 */
function leavesUnawaited(kernel: Kernel, branch: BlockId, home: BlockId): boolean {
  const staying = kernel.blocks[branch]!.successors.filter((start) => {
    const region = reachable(kernel, [start]);
    if (region.has(home)) return true;
    return [...region].some((id) => {
      const { instructions, terminator } = kernel.blocks[id]!;
      if (terminator.kind === 'unknown' || !reachesEnd(kernel, id)) return true;
      const isInLoop = kernel.loopOf[id] !== null;
      return instructions.some(({ operation: { effect } }) => mayWait(effect, isInLoop));
    });
  });
  return staying.length < 2;
}

function reachesEnd(kernel: Kernel, from: BlockId): boolean {
  return [...reachable(kernel, [from])].some((id) => kernel.blocks[id]!.successors.length === 0);
}

/** Whether a thread may wait for another one at an instruction, or in a loop that contains it. */
function mayWait(effect: Effect, isInLoop: boolean): boolean {
  switch (effect.kind) {
    case 'load':
      return isInLoop && effect.semantics !== 'weak';
    case 'atomic':
      return isInLoop;
    case 'opaque':
    case 'call':
    case 'mbarrier':
      return true;
    default:
      return participantsOf(effect) !== 'thread';
  }
}

/**
 * Conditions under which two threads reach a branch in one iteration, the mask of the first contains the second, and
 * they take different sides.
 */
function partings(symbolic: SymbolicKernel, branch: BlockId, condition: Term, block: BlockId, lanes: Lanes): Parting {
  const { kernel, store } = symbolic;
  const isOwn = (loop: Loop): boolean => lanes.kind === 'told' && !lanes.inStep && loop.blocks.has(lanes.at.block);
  const rounds = kernel.loops.map((loop): IterationRelation => (isOwn(loop) ? 'free' : loop.blocks.has(branch) ? 'same' : 'before'));
  const first = oppositeBranchSides(symbolic, branch, condition, rounds);
  const groups = groupsOf(lanes);
  const byLane = groups && { sides: first, groups };
  if (lanes.kind === 'all' || lanes.kind === 'unknown') return { paths: [first], byLane };
  const second = oppositeBranchSides(symbolic, branch, store.not(condition), rounds);
  const at = (side: 1 | 2, terms: readonly Term[]): ReadCondition[] => terms.map((term) => ({ term, reading: { side, rounds } }));
  const lasting = (home: BlockId): readonly Term[] => lastingConditions(symbolic, home);
  const own = lasting(block);
  if (lanes.kind === 'parts') {
    const parts = [...new Set(lanes.groups)].filter((group) => group >= 0);
    if (parts.length > maxParts) return { paths: [], byLane };
    const paths = parts.flatMap((part) => {
      const isOfPart = lanesThat(symbolic, (lane) => lanes.groups[lane] === part);
      return [first, second].map((sides) => [...sides, ...at(1, [...own, isOfPart]), ...at(2, [isOfPart])]);
    });
    return { paths, byLane };
  }
  const named =
    lanes.kind === 'such'
      ? [lanes.holds]
      : [...lasting(lanes.at.block), ...(lanes.predicate && isLasting(symbolic, lanes.predicate) ? [lanes.predicate] : [])];
  const premises = [...at(1, own), ...at(2, named)];
  return { paths: [first, second].map((sides) => [...sides, ...premises]), byLane };
}

/** The obligation that a lane does not execute the instruction if its own mask does not name it. */
function ownLane(symbolic: SymbolicKernel, instruction: Instruction, block: BlockId, lanes: Lanes): WarpObligation[] {
  const { kernel, store } = symbolic;
  const ofInstruction = { instruction, others: [], isOfExit: false, byLane: null } as const;
  if (lanes.kind === 'all' || (lanes.kind === 'parts' && !lanes.groups.includes(-1))) return [];
  if (lanes.kind === 'unknown' || lanes.kind === 'parts')
    return [{ ...ofInstruction, condition: symbolic.operand(maskOf(instruction)!), paths: [] }];
  const holds = lanes.kind === 'such' ? lanes.holds : lanes.predicate;
  if (holds === null) return [];
  const reading: TermInstance = {
    side: 1,
    rounds: kernel.loops.map((loop) => (loop.blocks.has(block) ? 'same' : 'before')),
  };
  // After a loop, the predicate of a mask from inside the loop has the value of another iteration.
  const isSame = lanes.kind !== 'told' || kernel.loops.every(({ blocks }) => !blocks.has(lanes.at.block) || blocks.has(block));
  const reach = symbolic.reach(block);
  const conditions = [...(reach.operator === 'all' ? reach.arguments : [reach]), store.not(holds)];
  const paths = isSame ? [conditions.map((term): ReadCondition => ({ term, reading }))] : [];
  return [{ ...ofInstruction, condition: holds, paths }];
}

function lanesOf(symbolic: SymbolicKernel, instruction: Instruction, dimensions: Dimensions): Lanes {
  const mask = maskOf(instruction);
  if (!mask) return all;
  const term = symbolic.operand(mask);
  const holds = namedBy(symbolic, term);
  if (holds === symbolic.store.true) return all;
  const masks = masksByLane(symbolic, term, dimensions);
  const parts = masks && partsOfWarp(masks);
  if (holds) return { kind: 'such', holds, groups: parts?.kind === 'parts' ? parts.groups : null };
  if (parts) return parts;
  // Cooperative groups store their mask in a structure, and load it unchanged.
  const value = term.atom?.kind === 'havoc' ? term.atom.value : -1;
  return value >= 0 && !symbolic.leaderValues.has(value) ? (toldBy(symbolic, value) ?? unknownLanes) : unknownLanes;
}

/** The lanes named by masks that depend on the lane; unknown if a lane names one that passes another mask. */
function partsOfWarp(masks: readonly number[]): Lanes {
  const names = (lane: number, other: number): boolean => ((masks[lane]! >>> other) & 1) === 1;
  const lanes = [...masks.keys()];
  const isApart = lanes.some((lane) => lanes.some((other) => names(lane, other) && masks[other] !== masks[lane]));
  if (isApart) return unknownLanes;
  return { kind: 'parts', groups: lanes.map((lane) => (names(lane, lane) ? masks.indexOf(masks[lane]!) : -1)) };
}

/** The condition that the lane index satisfies a predicate. */
function lanesThat({ store, operand }: SymbolicKernel, holds: (lane: number) => boolean): Term {
  const lane = operand({ kind: 'special', register: 'laneid' });
  const below = (limit: number): Term => store.unsignedLess(lane, store.constant(32, BigInt(limit)));
  const runs: Term[] = [];
  for (let start = 0; start < warpSize; start++) {
    if (!holds(start)) continue;
    let end = start;
    while (end < warpSize && holds(end)) end++;
    runs.push(end === warpSize ? store.not(below(start)) : store.all([store.not(below(start)), below(end)]));
    start = end;
  }
  return store.any(runs);
}

/** The condition that a lane is named by a mask, if the mask has a known form; null otherwise. */
function namedBy(symbolic: SymbolicKernel, mask: Term): Term | null {
  if (mask.operator === 'constant') return lanesThat(symbolic, (lane) => ((mask.value >> BigInt(lane)) & 1n) === 1n);
  const { store, operand } = symbolic;
  // (1 << n) - 1
  const [shifted] = mask.arguments;
  const isBelow = mask.operator === 'sum' && mask.value === 0xffffffffn && mask.arguments.length === 1 && mask.coefficients[0] === 1n;
  const [one, by] = isBelow && shifted!.operator === 'shl' ? (shifted!.arguments as [Term, Term]) : [];
  const isOfAll = by?.leaves.every(({ atom }) => /^(parameter|block-size|grid-size)$/.test(atom!.kind)) === true;
  return one?.operator === 'constant' && one.value === 1n && isOfAll
    ? store.unsignedLess(operand({ kind: 'special', register: 'laneid' }), by)
    : null;
}

/** The lanes in a mask returned by a vote, a match or `activemask`. */
function toldBy({ kernel, operand }: SymbolicKernel, value: number): Lanes | null {
  const { definition } = kernel.values[value]!;
  if (definition.kind !== 'instruction') return null;
  const { instruction, block } = definition;
  const { effect } = instruction.operation;
  const at = { block, position: kernel.blocks[block]!.instructions.indexOf(instruction) };
  if (instruction.results[0] !== value) return null;
  // Without a mask, threads that execute an instruction together may be in different iterations.
  const inStep = (kernel.loopOf[block] ?? null) === null || maskOf(instruction)?.kind === 'constant';
  if (effect.kind === 'vote' && effect.mode === 'ballot' && effect.sync)
    return { kind: 'told', at, predicate: operand(instruction.arguments[0]!), inStep };
  const tells = effect.kind === 'warp-value' && (effect.name === 'activemask' || effect.name === 'match.any');
  return tells ? { kind: 'told', at, predicate: null, inStep } : null;
}

/** The basic blocks at whose end a thread may be after an instruction `from` and before its next execution of `to`. */
function blocksBetween(kernel: Kernel, from: ProgramPoint, to: ProgramPoint): ReadonlySet<BlockId> {
  const isAt = (place: ProgramPoint, other: ProgramPoint): boolean => place.block === other.block && place.position === other.position;
  const ends = walkFrom(kernel, pointAfter(from), (_, at) => !isAt(at, to) && !isAt(at, from)).map(({ id }) => id);
  const comesTo = ends.filter((id) => reachable(kernel, kernel.blocks[id]!.successors).has(to.block));
  return new Set(comesTo);
}

/** Those conditions for reaching a basic block that are the same in all of its executions by a thread. */
function lastingConditions(symbolic: SymbolicKernel, block: BlockId): readonly Term[] {
  const reach = symbolic.reach(block);
  const parts = reach.operator === 'all' ? reach.arguments : [reach];
  return parts.filter((term) => term !== symbolic.store.true && isLasting(symbolic, term));
}

/** Whether a condition has the same value whenever a thread evaluates it. */
function isLasting({ kernel, definedIn }: SymbolicKernel, term: Term): boolean {
  return term.leaves.every((leaf) => {
    const atom = leaf.atom!;
    if (atom.kind === 'iteration' || atom.kind === 'phi') return false;
    if (atom.kind !== 'havoc') return true;
    // Outside of loops, a thread computes a value once.
    return atom.value >= 0 && (kernel.loopOf[definedIn(atom.value)] ?? null) === null;
  });
}
