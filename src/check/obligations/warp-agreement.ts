/**
 * Instructions that the lanes of a warp execute together (PTX ISA 9.7.9.6, 9.7.13): each names the lanes that take part
 * in a mask, and those must execute it, all of them. So two threads of a warp may part before it only where the one that
 * goes on does not name the other.
 */
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

/** What must not happen to two threads of a warp: that the conditions of one of these lists hold of them. */
export interface WarpObligation {
  readonly instruction: Instruction;
  /** For reports: what decides whether a lane executes the instruction. */
  readonly condition: Term;
  /** Empty where it cannot be expressed. */
  readonly ways: readonly (readonly ReadCondition[])[];
  /** All lanes have to agree, whatever the mask names. */
  readonly isOfAll: boolean;
}

/** The lanes that a mask names, as far as that is followed. */
type Lanes =
  /** All, or nothing is known of them. */
  | { readonly kind: 'all' }
  /** Those of which this holds, which says nothing but the place of a thread in its block. */
  | { readonly kind: 'such'; readonly holds: Term }
  /**
   * Those that executed an instruction together with the thread whose mask it is, and of which this held there; `inStep`:
   * in the same round of the loops around it.
   */
  | { readonly kind: 'told'; readonly at: ProgramPoint; readonly predicate: Term | null; readonly inStep: boolean };

const all: Lanes = { kind: 'all' };
const warpSize = 32n;

/** Where each instruction has its mask; null where it has none. */
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

const warpWide = new Set(['warp-barrier', 'shuffle', 'vote', 'warp-value', 'warpgroup-multiply', 'warpgroup-matrix']);

/** Whether lanes take part because they are named, or, where no mask names them, because all have to. */
function isTogether({ operation: { effect } }: Instruction): boolean {
  // `activemask` tells who executes it, whoever that is.
  return warpWide.has(effect.kind) && !(effect.kind === 'warp-value' && effect.name === 'activemask');
}

/** What must be shown for every instruction of that kind. */
export function warpObligations(
  symbolic: SymbolicKernel,
  dependences: ControlDependence,
  uniformity: UniformityResult,
): WarpObligation[] {
  const { kernel, store } = symbolic;
  const list: WarpObligation[] = [];
  for (const { id: block, instructions } of kernel.blocks) {
    const branches = [...dependences.controlling(block, kernel.loopOf[block] ?? null)].sort((a, b) => a - b);
    const varying = branches.filter((branch) => uniformity.branch(branch) === 'varying');
    let isDone = false;
    for (const [position, instruction] of instructions.entries()) {
      if (!isTogether(instruction)) continue;
      const lanes = lanesOf(symbolic, instruction);
      // What all lanes execute asks the same of each of these instructions.
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

/** Two threads come to a branch in one round, the second is named by the first, and they go different ways. */
function partings(
  symbolic: SymbolicKernel,
  branch: BlockId,
  condition: Term,
  block: BlockId,
  lanes: Lanes,
): readonly (readonly ReadCondition[])[] {
  const { kernel, store } = symbolic;
  const isOwn = (loop: Loop): boolean => lanes.kind === 'told' && !lanes.inStep && loop.blocks.has(lanes.at.block);
  const rounds = kernel.loops.map((loop): IterationRelation => isOwn(loop) ? 'free' : loop.blocks.has(branch) ? 'same' : 'before'); // oxfmt-ignore
  const first = oppositeBranchSides(symbolic, branch, condition, rounds);
  if (lanes.kind === 'all') return [first];
  const second = oppositeBranchSides(symbolic, branch, store.not(condition), rounds);
  const at = (side: 1 | 2, terms: readonly Term[]): ReadCondition[] =>
    terms.map((term) => ({ term, reading: { side, rounds } }));
  const lasting = (home: BlockId): readonly Term[] => lastingConditions(symbolic, home);
  const named =
    lanes.kind === 'such'
      ? [lanes.holds]
      : [...lasting(lanes.at.block), ...(lanes.predicate && isLasting(symbolic, lanes.predicate) ? [lanes.predicate] : [])]; // oxfmt-ignore
  const premises = [...at(1, lasting(block)), ...at(2, named)];
  return [first, second].map((way) => [...way, ...premises]);
}

/** That a lane executes the instruction although its own mask does not name it. */
function ownLane(symbolic: SymbolicKernel, instruction: Instruction, block: BlockId, lanes: Lanes): WarpObligation[] {
  const { kernel, store } = symbolic;
  const holds = lanes.kind === 'such' ? lanes.holds : lanes.kind === 'told' ? lanes.predicate : null;
  if (holds === null) return [];
  const reading: TermInstance = {
    side: 1,
    rounds: kernel.loops.map((loop) => (loop.blocks.has(block) ? 'same' : 'before')),
  };
  // Where a loop has ended since it was asked, its value then is that of another round.
  const isSame = lanes.kind !== 'told' || kernel.loops.every(({ blocks }) => !blocks.has(lanes.at.block) || blocks.has(block)); // oxfmt-ignore
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
  // Groups hold their mask in a structure, from which it comes back as it was.
  const value = term.atom?.kind === 'havoc' ? term.atom.value : -1;
  return value >= 0 && !symbolic.leaderValues.has(value) ? (toldBy(symbolic, value) ?? all) : all;
}

/** The condition on a lane that a mask of a known form names it; null for others. */
function namedBy({ store, operand }: SymbolicKernel, mask: Term): Term | null {
  const lane = operand({ kind: 'special', register: 'laneid' });
  const below = (limit: Term): Term => store.unsignedLess(lane, limit);
  if (mask.operator === 'constant') {
    // Runs of lanes that are named.
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
  const isBelow = mask.operator === 'sum' && mask.value === 0xffffffffn && mask.arguments.length === 1 && mask.coefficients[0] === 1n; // oxfmt-ignore
  const [one, by] = isBelow && shifted!.operator === 'shl' ? (shifted!.arguments as [Term, Term]) : [];
  const isOfAll = by?.leaves.every(({ atom }) => /^(parameter|block-size|grid-size)$/.test(atom!.kind)) === true;
  return one?.operator === 'constant' && one.value === 1n && isOfAll ? below(by) : null;
}

/** What a mask that a vote, a match or `activemask` gives says of the lanes in it. */
function toldBy({ kernel, operand }: SymbolicKernel, value: number): Lanes | null {
  const { definition } = kernel.values[value]!;
  if (definition.kind !== 'instruction') return null;
  const { instruction, block } = definition;
  const { effect } = instruction.operation;
  const at = { block, position: kernel.blocks[block]!.instructions.indexOf(instruction) };
  if (instruction.results[0] !== value) return null;
  // Threads that are at one place together without being named may be there in different rounds.
  const inStep = (kernel.loopOf[block] ?? null) === null || maskOf(instruction)?.kind === 'constant';
  if (effect.kind === 'vote' && effect.mode === 'ballot' && effect.sync)
    return { kind: 'told', at, predicate: operand(instruction.arguments[0]!), inStep };
  const tells = effect.kind === 'warp-value' && (effect.name === 'activemask' || effect.name === 'match.any');
  return tells ? { kind: 'told', at, predicate: null, inStep } : null;
}

/** The blocks at whose end a thread may be between an instruction and the next time that it comes to another. */
function blocksBetween(kernel: Kernel, from: ProgramPoint, to: ProgramPoint): ReadonlySet<BlockId> {
  const isAt = (place: ProgramPoint, other: ProgramPoint): boolean =>
    place.block === other.block && place.position === other.position;
  const ends = walkFrom(kernel, pointAfter(from), (_, at) => !isAt(at, to) && !isAt(at, from)).map(({ id }) => id);
  const comesTo = ends.filter((id) => reachable(kernel, kernel.blocks[id]!.successors).has(to.block));
  return new Set(comesTo);
}

/** The conditions under which a block is reached that hold of a thread once and for all. */
function lastingConditions(symbolic: SymbolicKernel, block: BlockId): readonly Term[] {
  const reach = symbolic.reach(block);
  const parts = reach.operator === 'all' ? reach.arguments : [reach];
  return parts.filter((term) => term !== symbolic.store.true && isLasting(symbolic, term));
}

/** Whether a condition is the same whenever a thread evaluates it. */
function isLasting({ kernel, definedIn }: SymbolicKernel, term: Term): boolean {
  return term.leaves.every((leaf) => {
    const atom = leaf.atom!;
    if (atom.kind === 'iteration' || atom.kind === 'phi') return false;
    if (atom.kind !== 'havoc') return true;
    // Of a value that a thread makes once there are no others.
    return atom.value >= 0 && (kernel.loopOf[definedIn(atom.value)] ?? null) === null;
  });
}
