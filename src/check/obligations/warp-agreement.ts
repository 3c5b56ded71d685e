/**
 * Instructions that the lanes of a warp execute together (PTX ISA 9.7.9.6, 9.7.13). A mask names the participating
 * lanes, and each of these must execute the instruction. So two threads of a warp may diverge before the instruction
 * only if the mask of the thread that executes it does not contain the other.
 */
import { participantsOf } from '../../isa/model/effect.ts';
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

/** A property to be refuted: two threads of a warp satisfy all conditions of one of these lists. */
export interface WarpObligation {
  readonly instruction: Instruction;
  /** For reports: the condition under which a lane executes the instruction. */
  readonly condition: Term;
  /** The lists of conditions; empty if the property cannot be expressed. */
  readonly ways: readonly (readonly ReadCondition[])[];
  /** Whether all lanes have to execute the instruction, regardless of the mask. */
  readonly isOfAll: boolean;
}

/** The lanes that a mask names, as far as the mask can be analyzed. */
type Lanes =
  /** All lanes, or unknown. */
  | { readonly kind: 'all' }
  /** The lanes that satisfy a condition on the thread index only. */
  | { readonly kind: 'such'; readonly holds: Term }
  /**
   * The lanes that executed the instruction at `at` together with the thread that owns the mask, and satisfied the
   * predicate there. `inStep`: they did so in the same iteration of the loops around `at`.
   */
  | { readonly kind: 'told'; readonly at: ProgramPoint; readonly predicate: Term | null; readonly inStep: boolean };

const all: Lanes = { kind: 'all' };
const warpSize = 32n;

/** The mask operand of an instruction; undefined if it has none. */
function maskOf({ operation: { effect }, arguments: operands }: Instruction): Operand | undefined {
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
function isTogether({ operation: { effect } }: Instruction): boolean {
  // `activemask` returns the lanes that execute it, and does not require any.
  return /^(lanes|warpgroup)$/.test(participantsOf(effect)) && !(effect.kind === 'warp-value' && effect.name === 'activemask');
}

/** Obligations for every instruction that lanes execute together. */
export function warpObligations(symbolic: SymbolicKernel, dependences: ControlDependence, uniformity: UniformityResult): WarpObligation[] {
  const { kernel, store } = symbolic;
  const list: WarpObligation[] = [];
  for (const { id: block, instructions } of kernel.blocks) {
    const branches = [...dependences.controlling(block, kernel.loopOf[block] ?? null)].sort((a, b) => a - b);
    const varying = branches.filter((branch) => uniformity.branch(branch) === 'varying');
    let isDone = false;
    for (const [position, instruction] of instructions.entries()) {
      if (!isTogether(instruction)) continue;
      const lanes = lanesOf(symbolic, instruction);
      // If all lanes are required, all such instructions of one basic block have the same obligations.
      if (lanes.kind === 'all' && isDone) continue;
      isDone ||= lanes.kind === 'all';
      const between = lanes.kind === 'told' ? blocksBetween(kernel, lanes.at, { block, position }) : null;
      const isInStep = lanes.kind !== 'told' || lanes.inStep;
      for (const branch of isInStep ? varying : branches) {
        if (between && !between.has(branch)) continue;
        const condition = symbolic.condition(branch);
        const ways = condition ? partings(symbolic, branch, condition, block, lanes) : [];
        list.push({ instruction, condition: condition ?? store.true, ways, isOfAll: lanes.kind === 'all' });
      }
      if (lanes.kind !== 'all') list.push(...ownLane(symbolic, instruction, block, lanes));
    }
  }
  return list;
}

/**
 * Conditions under which two threads reach a branch in one iteration, the mask of the first contains the second, and
 * they take different sides.
 */
function partings(
  symbolic: SymbolicKernel,
  branch: BlockId,
  condition: Term,
  block: BlockId,
  lanes: Lanes,
): readonly (readonly ReadCondition[])[] {
  const { kernel, store } = symbolic;
  const isOwn = (loop: Loop): boolean => lanes.kind === 'told' && !lanes.inStep && loop.blocks.has(lanes.at.block);
  const rounds = kernel.loops.map((loop): IterationRelation => (isOwn(loop) ? 'free' : loop.blocks.has(branch) ? 'same' : 'before'));
  const first = oppositeBranchSides(symbolic, branch, condition, rounds);
  if (lanes.kind === 'all') return [first];
  const second = oppositeBranchSides(symbolic, branch, store.not(condition), rounds);
  const at = (side: 1 | 2, terms: readonly Term[]): ReadCondition[] => terms.map((term) => ({ term, reading: { side, rounds } }));
  const lasting = (home: BlockId): readonly Term[] => lastingConditions(symbolic, home);
  const named =
    lanes.kind === 'such'
      ? [lanes.holds]
      : [...lasting(lanes.at.block), ...(lanes.predicate && isLasting(symbolic, lanes.predicate) ? [lanes.predicate] : [])];
  const premises = [...at(1, lasting(block)), ...at(2, named)];
  return [first, second].map((way) => [...way, ...premises]);
}

/** The obligation that a lane does not execute the instruction if its own mask does not name it. */
function ownLane(symbolic: SymbolicKernel, instruction: Instruction, block: BlockId, lanes: Lanes): WarpObligation[] {
  const { kernel, store } = symbolic;
  const holds = lanes.kind === 'such' ? lanes.holds : lanes.kind === 'told' ? lanes.predicate : null;
  if (holds === null) return [];
  const reading: TermInstance = {
    side: 1,
    rounds: kernel.loops.map((loop) => (loop.blocks.has(block) ? 'same' : 'before')),
  };
  // After a loop, the predicate of a mask from inside the loop has the value of another iteration.
  const isSame = lanes.kind !== 'told' || kernel.loops.every(({ blocks }) => !blocks.has(lanes.at.block) || blocks.has(block));
  const reach = symbolic.reach(block);
  const conditions = [...(reach.operator === 'all' ? reach.arguments : [reach]), store.not(holds)];
  const ways = isSame ? [conditions.map((term): ReadCondition => ({ term, reading }))] : [];
  return [{ instruction, condition: holds, ways, isOfAll: false }];
}

function lanesOf(symbolic: SymbolicKernel, instruction: Instruction): Lanes {
  const mask = maskOf(instruction);
  if (!mask) return all;
  const term = symbolic.operand(mask);
  const holds = namedBy(symbolic, term);
  if (holds) return holds === symbolic.store.true ? all : { kind: 'such', holds };
  // Cooperative groups store their mask in a structure, and load it unchanged.
  const value = term.atom?.kind === 'havoc' ? term.atom.value : -1;
  return value >= 0 && !symbolic.leaderValues.has(value) ? (toldBy(symbolic, value) ?? all) : all;
}

/** The condition that a lane is named by a mask, if the mask has a known form; null otherwise. */
function namedBy({ store, operand }: SymbolicKernel, mask: Term): Term | null {
  const lane = operand({ kind: 'special', register: 'laneid' });
  const below = (limit: Term): Term => store.unsignedLess(lane, limit);
  if (mask.operator === 'constant') {
    // Ranges of consecutive lanes that are named.
    const runs: Term[] = [];
    for (let start = 0n; start < warpSize; start++) {
      if (((mask.value >> start) & 1n) === 0n) continue;
      let end = start;
      while (end < warpSize && ((mask.value >> end) & 1n) === 1n) end++;
      const isAbove = store.not(below(store.constant(32, start)));
      runs.push(end === warpSize ? isAbove : store.all([isAbove, below(store.constant(32, end))]));
      start = end;
    }
    return store.any(runs);
  }
  // (1 << n) - 1
  const [shifted] = mask.arguments;
  const isBelow = mask.operator === 'sum' && mask.value === 0xffffffffn && mask.arguments.length === 1 && mask.coefficients[0] === 1n;
  const [one, by] = isBelow && shifted!.operator === 'shl' ? (shifted!.arguments as [Term, Term]) : [];
  const isOfAll = by?.leaves.every(({ atom }) => /^(parameter|block-size|grid-size)$/.test(atom!.kind)) === true;
  return one?.operator === 'constant' && one.value === 1n && isOfAll ? below(by) : null;
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
