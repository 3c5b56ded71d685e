/**
 * A kernel as the interpreter runs it on any back end: segments, the instructions at which threads wait, and the memory
 * accesses. A segment is a part of a basic block up to the next instruction at which threads wait.
 */
import type { Block, BlockId, Instruction, Kernel, LoopId, Operand, Terminator, ValueId } from '../../ir/form/kernel.ts';
import { isUsed } from '../../ir/form/uses.ts';
import { accessesOfEffect, completionOf, hasPlainAccesses, participantsOf } from '../../isa/model/effect.ts';
import type { Effect, StateSpace } from '../../isa/model/operation.ts';
import type { Layout } from './global-memory.ts';
import type { AccessSite } from '../detector/race-detector.ts';
import { type ParentObject, parentObjects } from './access-bounds.ts';
import { layOut } from './global-memory.ts';

/** A memory access of an instruction. */
export interface MemoryAccess extends AccessSite {
  readonly space: StateSpace;
  /** Index of the source with the address, and what is added to it, except for the displacement of the instruction. */
  readonly source: number;
  readonly displacement: number;
  /** For `atom` and `red`. */
  readonly atomic?: { readonly operation: string; readonly type: string; readonly bytes: number };
  /** The variable of shared memory that the address is derived from, if known; the access must stay within it. */
  readonly home?: ParentObject;
  /**
   * Whether the access is an atomic whose stored value does not depend on the old one, and whose result is not read.
   */
  readonly overwrites?: true;
}

/** Whether an access uses the previous contents. */
export function needsContents({ operation, overwrites }: MemoryAccess): boolean {
  return operation !== 'write' && !overwrites;
}

/** An instruction at which a thread waits for others. */
export interface Suspension {
  readonly index: number;
  readonly instruction: Instruction;
  readonly effect: Effect;
  /** The segment that ends with it. */
  readonly segment: number;
  /** The segment to continue with after the wait. */
  readonly resume: number;
  /** For a barrier of the thread block: the loops around it, as indices into the program's `countedLoops`. */
  readonly loops: readonly number[];
}

export interface Segment {
  readonly index: number;
  readonly block: BlockId;
  /** The last one is the suspension, if the segment ends with one. */
  readonly instructions: readonly Instruction[];
  /** Whether the last instruction is a suspension. */
  readonly waits: boolean;
  /** Index of the suspension, or -1. */
  readonly suspension: number;
  /** Null: the next segment in order follows, directly or after a suspension. */
  readonly terminator: Terminator | null;
  /** Thread-instructions counted for an execution of the segment. */
  readonly length: number;
}

export interface Program {
  readonly kernel: Kernel;
  readonly layout: Layout;
  readonly segments: readonly Segment[];
  /** First segment by block. */
  readonly entries: readonly number[];
  readonly suspensions: readonly Suspension[];
  readonly accesses: readonly MemoryAccess[];
  /** By instruction: the first of its accesses; the others follow (lanes of a vector atomic; a copy's write, read). */
  readonly firstAccess: ReadonlyMap<Instruction, number>;
  /** By block: whether a barrier of the thread block can be reached from it. */
  readonly reachesBarrier: readonly boolean[];
  /** The loops with barriers of the thread block: each thread counts their iterations. */
  readonly countedLoops: readonly LoopId[];
  /** Whether other threads may determine the trip count of a loop of a thread. */
  readonly mayWait: boolean;
}

/** A program as observed by counters and traces: staged, with a register for each value. */
export interface WatchedProgram extends Program {
  /** Instructions in each segment. */
  readonly lengths: Int32Array;
  /** Basic block of each segment. */
  readonly blockOf: readonly BlockId[];
  /** Register by value; -1 for values that are used only in the segment that defines them. */
  readonly slots: Int32Array;
}

const programs = new WeakMap<Kernel, Program>();
const singlePrograms = new WeakMap<Kernel, Program>();

/**
 * The program of a kernel, cached.
 * @param singly each instruction is a separate segment, so that a run can be observed
 */
export function programOf(kernel: Kernel, singly = false): Program {
  const made = singly ? singlePrograms : programs;
  let program = made.get(kernel);
  if (!program) {
    program = createProgram(kernel, singly);
    made.set(kernel, program);
  }
  return program;
}

/** Whether threads wait for others at an instruction. */
export function waits(effect: Effect): boolean {
  const participants = participantsOf(effect);
  if (effect.kind === 'cluster-barrier') return effect.form === 'wait';
  // What warp groups compute is unknown.
  return participants !== 'thread' && participants !== 'warpgroup';
}

function createProgram(kernel: Kernel, singly: boolean): Program {
  const segments: Segment[] = [];
  const entries: number[] = [];
  const suspensions: Suspension[] = [];
  const accesses: MemoryAccess[] = [];
  const firstAccess = new Map<Instruction, number>();
  const layout = layOut(kernel);
  const homeOf = parentObjects(kernel, layout);
  const countedLoops = kernel.loops.flatMap(({ blocks }, id) =>
    [...blocks].some((block) => hasBarrier(kernel.blocks[block]!)) ? [id as LoopId] : [],
  );
  for (const block of kernel.blocks) {
    entries.push(segments.length);
    let start = 0;
    for (const [position, instruction] of block.instructions.entries()) {
      const found = withHome(accessesOf(kernel, instruction, accesses.length), instruction, homeOf);
      if (found.length > 0) firstAccess.set(instruction, accesses.length);
      accesses.push(...found);
      const { effect } = instruction.operation;
      const isWait = waits(effect);
      if (!isWait && !singly) continue;
      const index = segments.length;
      const suspension = isWait ? suspensions.length : -1;
      const around = effect.kind === 'barrier' ? countedLoops : [];
      const loops = around.flatMap((loop, at) => (kernel.loops[loop]!.blocks.has(block.id) ? [at] : []));
      if (isWait) suspensions.push({ index: suspension, instruction, effect, segment: index, resume: index + 1, loops });
      const instructions = block.instructions.slice(start, position + 1);
      segments.push({
        index,
        block: block.id,
        instructions,
        waits: isWait,
        suspension,
        terminator: null,
        length: instructions.length,
      });
      start = position + 1;
    }
    const instructions = block.instructions.slice(start);
    segments.push({
      index: segments.length,
      block: block.id,
      instructions,
      waits: false,
      suspension: -1,
      terminator: block.terminator,
      length: instructions.length + 1,
    });
  }
  return {
    kernel,
    layout,
    segments,
    entries,
    suspensions,
    accesses,
    firstAccess,
    reachesBarrier: reachesBarrier(kernel),
    countedLoops,
    mayWait: mayWait(kernel),
  };
}

/**
 * Whether a branch within a loop depends on memory, which other threads may change, or on values exchanged within a
 * warp, and not only on launch, arguments and thread.
 */
function mayWait(kernel: Kernel): boolean {
  const seen = new Set<ValueId>();
  const waiting: Operand[] = [];
  for (const block of new Set(kernel.loops.flatMap(({ blocks }) => [...blocks]))) {
    const { terminator } = kernel.blocks[block]!;
    if (terminator.kind === 'branch') waiting.push(terminator.condition);
    else if (terminator.kind === 'switch') waiting.push(terminator.index);
    else if (terminator.kind === 'unknown') return true;
  }
  for (let operand = waiting.pop(); operand; operand = waiting.pop()) {
    if (operand.kind !== 'value' || seen.has(operand.id)) continue;
    seen.add(operand.id);
    const { definition } = kernel.values[operand.id]!;
    if (definition.kind === 'phi') {
      waiting.push(...kernel.blocks[definition.block]!.phis[definition.index]!.inputs);
      continue;
    }
    const { effect } = definition.instruction.operation;
    const isArgument = effect.kind === 'load' && effect.space === 'param';
    if (effect.kind !== 'pure' && !isArgument) return true;
    waiting.push(...definition.instruction.arguments);
  }
  return false;
}

function accessesOf(kernel: Kernel, instruction: Instruction, first: number): MemoryAccess[] {
  const { effect } = instruction.operation;
  const copy = completionOf(effect);
  const overwrites =
    effect.kind === 'atomic' && effect.operation === 'exch' && instruction.results.every((id) => id === null || !isUsed(kernel, id));
  const found = accessesOfEffect(effect).flatMap(({ count, ...access }) =>
    Array.from({ length: count }, (_, lane) => ({ ...access, displacement: lane * access.bytes })),
  );
  return found.map((access, at) => ({
    ...access,
    index: first + at,
    instruction: instruction.id,
    ...(effect.kind === 'atomic' && { atomic: { operation: effect.operation, type: effect.type, bytes: effect.bytes } }),
    ...(overwrites && { overwrites }),
    ...(effect.kind === 'mbarrier' && { countsPhases: true }),
    ...(copy !== null && { copy }),
  }));
}

/** The accesses of an instruction; the first one with the variable that it must stay within. */
function withHome(
  accesses: MemoryAccess[],
  { arguments: [address], operation: { effect } }: Instruction,
  homeOf: (address: Operand) => ParentObject | undefined,
): MemoryAccess[] {
  const home = hasPlainAccesses(effect) && address ? homeOf(address) : undefined;
  if (!home) return accesses;
  return accesses.map((access, at) => (at === 0 || effect.kind === 'atomic' ? { ...access, home } : access));
}

function hasBarrier({ instructions }: Block): boolean {
  return instructions.some(({ operation }) => operation.effect.kind === 'barrier');
}

/**
 * Effect of an edge between blocks on an iteration counter of the thread, if it enters or repeats a counted loop:
 * `index` into {@link Program.countedLoops}, and whether the next iteration of the same execution begins.
 */
export function iterationAt(
  { kernel, countedLoops }: Pick<Program, 'kernel' | 'countedLoops'>,
  from: BlockId,
  to: BlockId,
): { readonly index: number; readonly isNext: boolean } | null {
  const index = countedLoops.findIndex((loop) => kernel.loops[loop]!.header === to);
  return index < 0 ? null : { index, isNext: kernel.loops[countedLoops[index]!]!.blocks.has(from) };
}

function reachesBarrier(kernel: Kernel): readonly boolean[] {
  const reaches = kernel.blocks.map(hasBarrier);
  const work = kernel.blocks.filter((block) => reaches[block.id]).map((block) => block.id);
  for (let block = work.pop(); block !== undefined; block = work.pop()) {
    for (const predecessor of kernel.blocks[block]!.predecessors) {
      if (reaches[predecessor]) continue;
      reaches[predecessor] = true;
      work.push(predecessor);
    }
  }
  return reaches;
}

/**
 * The possible next segments of a thread at the end of a segment without suspension, in the order of the terminator.
 */
export function segmentSuccessors(program: Program, segment: Segment): readonly number[] {
  const { terminator } = segment;
  switch (terminator?.kind) {
    case 'jump':
      return [program.entries[terminator.target]!];
    case 'branch':
      return [program.entries[terminator.then]!, program.entries[terminator.otherwise]!];
    case 'switch':
      return terminator.targets.map((target) => program.entries[target]!);
    default:
      return [];
  }
}

/**
 * Whether an edge between blocks may be part of a loop: the places where a thread's time slice can end. Blocks are in
 * reverse postorder, so every cycle contains such an edge.
 */
export function isRetreating(from: BlockId, to: BlockId): boolean {
  return to <= from;
}
