/**
 * Programmatic dependent launch: which accesses of global memory a thread may execute before the kernels before it in the
 * stream have ended, that is before `griddepcontrol.wait` (`cudaGridDependencySynchronize()`). Lemma S24a.
 */
import { referenceDomain } from '../../isa/arithmetic/reference-domain.ts';
import { accessesOfEffect, mayOrderAccesses, participantsOf } from '../../isa/model/effect.ts';
import type { Block, BlockId, Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import { dominates } from '../../ir/form/dominators.ts';
import { addressedObjects } from '../../ir/form/variable-use.ts';
import { isFullBarrier } from './barrier-interval.ts';

/**
 * `after`: on every path the thread has waited, or has passed a barrier of its block before which a thread of the block has
 * certainly waited. `early`: on no path has any wait ended before. `open`: neither.
 */
export type WaitOrder = 'early' | 'open' | 'after';

interface GridDependency {
  readonly hasWait: boolean;
  /** Whether each path from the entry to the end of the kernel has a wait. */
  readonly alwaysWaits: boolean;
  /** Whether the next kernel may start before this one has ended (`griddepcontrol.launch_dependents`). */
  readonly hasTrigger: boolean;
  /** Whether each thread lets the next kernel start, without any wait before. */
  readonly triggersFirst: boolean;
  /** The accesses of global memory, in the order of the code. */
  readonly accesses: ReadonlyMap<Instruction, WaitOrder>;
}

/** Whether a kernel accesses global memory only after it has waited for the kernels before it. */
export function waitsFirst({ accesses }: GridDependency): boolean {
  return [...accesses.values()].every((order) => order === 'after');
}

const known = new WeakMap<Kernel, GridDependency>();

/** Orders the accesses of a kernel and its waits. */
export function gridDependency(kernel: Kernel): GridDependency {
  const made = known.get(kernel) ?? orderAccesses(kernel);
  known.set(kernel, made);
  return made;
}

function orderAccesses(kernel: Kernel): GridDependency {
  const transferring = transferringBarriers(kernel);
  const certain = passed(kernel, (instruction) => isGridWait(instruction) || transferring.has(instruction), 'every path');
  const others = mayTransfer(kernel);
  const possible = passed(kernel, (instruction) => isGridWait(instruction) || others.has(instruction), 'some path');
  const waited = passed(kernel, isGridWait, 'every path');
  const all = kernel.blocks.flatMap(({ instructions }) => instructions);
  const accesses = all.filter((instruction) => accessesGlobal(kernel, instruction));
  return {
    hasWait: all.some(isGridWait),
    alwaysWaits: atEnds(kernel, waited),
    hasTrigger: all.some(isTrigger),
    triggersFirst: atEnds(
      kernel,
      passed(kernel, (one) => isTrigger(one) && !possible.before.has(one), 'every path'),
    ),
    accesses: new Map(accesses.map((one) => [one, certain.before.has(one) ? 'after' : possible.before.has(one) ? 'open' : 'early'])),
  };
}

/** Whether an instruction waits for the kernels before. */
export function isGridWait({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'grid-dependency' && effect.form === 'wait';
}

function isTrigger({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'grid-dependency' && effect.form === 'launch';
}

function atEnds({ blocks }: Kernel, { atEnd }: Passed): boolean {
  return blocks.every(({ id, terminator: { kind } }) => (kind !== 'exit' && kind !== 'unknown') || atEnd[id]);
}

/** Where a thread has passed one of some instructions. */
interface Passed {
  readonly before: ReadonlySet<Instruction>;
  /** By block. */
  readonly atEnd: readonly boolean[];
}

/** Where the thread has passed one of some instructions, on every path from the entry or on some path. */
function passed(kernel: Kernel, isPassed: (one: Instruction) => boolean, on: 'every path' | 'some path'): Passed {
  const isCertain = on === 'every path';
  const atEnd: boolean[] = kernel.blocks.map(() => isCertain);
  const atStart = ({ id, predecessors }: Block): boolean => {
    if (isCertain) return id !== 0 && predecessors.every((from) => atEnd[from]);
    return predecessors.some((from) => atEnd[from]);
  };
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const block of kernel.blocks) {
      const end = block.instructions.some(isPassed) || atStart(block);
      isChanged ||= end !== atEnd[block.id];
      atEnd[block.id] = end;
    }
  }
  const before = new Set<Instruction>();
  for (const block of kernel.blocks) {
    let hasPassed = atStart(block);
    for (const instruction of block.instructions) {
      if (hasPassed) before.add(instruction);
      hasPassed ||= isPassed(instruction);
    }
  }
  return { before, atEnd };
}

/**
 * Barriers of the block that thread 0 reaches only after it has waited, and after which it cannot have returned without a wait: all
 * threads of the block that pass such a barrier see what the kernels before have written.
 */
function transferringBarriers(kernel: Kernel): ReadonlySet<Instruction> {
  const barriers = new Set(kernel.blocks.flatMap(({ instructions }) => instructions.filter(isFullBarrier)));
  if (barriers.size === 0) return barriers;
  const values = new FirstThread(kernel);
  const seen = new Set<BlockId>();
  const work: BlockId[] = [0 as BlockId];
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const { instructions, successors, terminator } = kernel.blocks[id]!;
    const end = instructions.findIndex(isGridWait);
    for (const one of end < 0 ? instructions : instructions.slice(0, end)) barriers.delete(one);
    if (end >= 0) continue;
    if (terminator.kind === 'exit' || terminator.kind === 'unknown') return new Set();
    const isTaken = terminator.kind === 'branch' ? values.truth(terminator.condition) : null;
    if (terminator.kind === 'branch' && isTaken !== null) work.push(isTaken ? terminator.then : terminator.otherwise);
    else work.push(...successors);
  }
  return barriers;
}

/** Values of thread 0 of any block, as far as they follow from constants and its position. */
class FirstThread {
  readonly #kernel: Kernel;
  readonly #values = new Map<ValueId, bigint | boolean | null>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  truth(operand: Operand): boolean | null {
    const value = this.#operand(operand);
    return value === null ? null : value === true || value === 1n;
  }

  #operand(operand: Operand): bigint | boolean | null {
    if (operand.kind === 'constant') return operand.type === 'predicate' ? operand.value !== 0n : operand.value;
    if (operand.kind === 'special') return /^(?:tid\.[xyz]|laneid)$/.test(operand.register) ? 0n : null;
    if (operand.kind !== 'value') return null;
    const { id } = operand;
    const found = this.#values.get(id);
    if (found !== undefined) return found;
    // A cycle goes through a phi, whose value is unknown.
    const computed = this.#computed(id);
    this.#values.set(id, computed);
    return computed;
  }

  #computed(id: ValueId): bigint | boolean | null {
    const { definition } = this.#kernel.values[id]!;
    if (definition.kind === 'phi') return null;
    const { operation, arguments: given, marker } = definition.instruction;
    const { effect, evaluate, sources } = operation;
    if (effect.kind !== 'pure' || !evaluate || marker) return null;
    const operands: (bigint | boolean)[] = [];
    for (const [at, one] of given.entries()) {
      const value = this.#operand(one);
      if (value === null) return null;
      const type = sources[at]!;
      operands.push(type === 'predicate' ? value === true || value === 1n : BigInt.asUintN(type, BigInt(value)));
    }
    return evaluate<bigint, boolean>(referenceDomain, operands)[definition.result] ?? null;
  }
}

/**
 * Instructions by which a thread may see that another one has waited, although no wait is on its own path. At a barrier on every
 * path to a wait, no thread that takes part has waited.
 */
function mayTransfer(kernel: Kernel): ReadonlySet<Instruction> {
  const waits = kernel.blocks.filter(({ instructions }) => instructions.some(isGridWait)).map(({ id }) => id);
  if (waits.length === 0) return new Set();
  const isBeforeAll = (id: BlockId): boolean => waits.every((wait) => dominates(kernel.dominators, id, wait));
  const orders = ({ operation: { effect } }: Instruction): boolean => mayOrderAccesses(effect) && effect.kind !== 'fence';
  if (![...passed(kernel, isGridWait, 'some path').before].some(orders)) return new Set();
  return new Set(
    kernel.blocks.flatMap(({ id, instructions }) => instructions.filter((one) => orders(one) && !(isOfAll(one) && isBeforeAll(id)))),
  );
}

/** Whether at least all threads of the block take part in an instruction. */
function isOfAll(instruction: Instruction): boolean {
  return isFullBarrier(instruction) || participantsOf(instruction.operation.effect) === 'cluster';
}

/** Whether an instruction may access global memory. Textures, surfaces and unknown functions count. */
function accessesGlobal(kernel: Kernel, instruction: Instruction): boolean {
  const { effect } = instruction.operation;
  if (effect.kind === 'havoc') return /^(?:texture fetch|surface load)$/.test(effect.reason);
  if (effect.kind === 'surface-store' || effect.kind === 'opaque' || effect.kind === 'call') return true;
  return accessesOfEffect(effect).some(
    ({ space, source }) => space === 'global' || (space === 'generic' && !isOfVariable(kernel, instruction.arguments[source])),
  );
}

/** Whether a generic address is within a variable outside of global memory. */
function isOfVariable(kernel: Kernel, address: Operand | undefined): boolean {
  const { objects, isKnown } = addressedObjects(kernel, address);
  return isKnown && [...objects].every(({ space }) => space !== 'global');
}
