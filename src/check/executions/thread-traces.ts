/**
 * The traces of one thread of a launch: its accesses, for each choice of the values that its loads may read. Values are
 * computed on bigints. If a branch condition is unknown, both sides are followed.
 */
import type { Access } from '../../analysis/values/access.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Block, BlockId, Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import { referenceDomain } from '../../isa/arithmetic/reference-domain.ts';
import type { Effect } from '../../isa/model/operation.ts';
import { atomicResult } from '../../interpreter/core/atomic-operation.ts';
import type { Fence } from '../../memory-model/fence.ts';
import { fenceOf } from '../../memory-model/fence.ts';
import type { Term } from '../../term/term.ts';

/** The value of a word; null if it is unknown, so any value is possible. */
export type Word = bigint | null;

/** A step of a thread that other threads may observe. An atomic is a read, followed by a write with `readAt`. */
export interface ThreadStep {
  readonly kind: 'read' | 'write' | 'fence' | 'arrive' | 'pass';
  readonly access: Access | null;
  /** Names the word that the step accesses; empty for steps without an access. */
  readonly place: string;
  readonly value: Word;
  /** For the write of an atomic: the index in the trace of the read of the same atomic. */
  readonly readAt: number | null;
  readonly fence: Fence | null;
  /** For barriers: the number of barriers of the block that the thread has reached before. */
  readonly barrier: number;
}

/** One trace of a thread, up to its end or up to a loop that the thread may never leave. */
export type ThreadTrace = readonly ThreadStep[];

/** Environment of a thread. */
interface Surroundings {
  readonly kernel: Kernel;
  readonly block: Dim3;
  readonly grid: Dim3;
  /** The value of an operand if it is one constant for all threads; null otherwise. */
  readonly constant: (operand: Operand) => bigint | null;
  /** The accesses of interest that an instruction makes. */
  readonly accessesOf: (instruction: Instruction) => readonly Access[];
  readonly isBlockBarrier: (instruction: Instruction) => boolean;
  /** The possible values of a word that other threads access too. */
  readonly valuesAt: (place: string, access: Access) => Iterable<Word>;
  /** Whether no other thread accesses a word. */
  readonly isOwn: (place: string) => boolean;
  /** The value that an access reads if no write precedes it. */
  readonly initial: (access: Access) => Word;
  /** Counts a followed instruction. @throws NotFollowed if there are too many */
  readonly count: () => void;
  /** Records that the iterations of a loop may repeat an atomic which stores the value that it read to `place`. */
  readonly repeats: (place: string) => void;
}

/** Thrown if the launch is too large or contains unsupported operations. */
export class NotFollowed extends Error {}

const maxSteps = 14;
const maxWays = 256;
const maxForks = 32;

type Value = bigint | boolean | null;

interface State {
  readonly values: Map<ValueId, Value>;
  readonly steps: ThreadStep[];
  barriers: number;
  /** For each loop header: the loop's variables when the thread reached it last, and the number of steps up to then. */
  readonly visits: Map<BlockId, { readonly key: string; readonly steps: number }>;
  /** Whether an iteration without effect has been executed. */
  hasSpun: boolean;
  /** Number of branches whose condition was unknown. */
  forks: number;
}

/**
 * All traces of a thread. Of the loop iterations that change neither variables nor memory, at most one is executed per
 * thread. The others could be removed from any execution; what remains would be consistent and have the same races. A
 * trace that ends before such a loop is listed separately.
 * @throws NotFollowed
 */
export function threadTraces(surroundings: Surroundings, thread: Dim3, block: Dim3): readonly ThreadTrace[] {
  return new Walk(surroundings, thread, block).ways();
}

class Walk {
  readonly #in: Surroundings;
  readonly #thread: Dim3;
  readonly #block: Dim3;
  readonly #found = new Map<string, ThreadTrace>();

  constructor(surroundings: Surroundings, thread: Dim3, block: Dim3) {
    this.#in = surroundings;
    this.#thread = thread;
    this.#block = block;
  }

  ways(): readonly ThreadTrace[] {
    const state = { values: new Map(), steps: [], barriers: 0, visits: new Map(), hasSpun: false, forks: 0 };
    const entry = this.#in.kernel.blocks[0]!;
    if (this.#enter(state, null, entry.id)) this.#follow(state, entry, 0);
    return [...this.#found.values()];
  }

  #end({ steps }: State): void {
    const key = steps
      .map(
        ({ kind, access, place, value, fence, barrier }) =>
          `${kind} ${access?.index} ${place} ${value} ${fence?.semantics} ${fence?.scope} ${barrier}`,
      )
      .join(';');
    this.#found.set(key, steps);
    if (this.#found.size > maxWays) throw new NotFollowed('ways');
  }

  /** Enters a basic block; returns whether the thread is followed further from there. */
  #enter(state: State, from: BlockId | null, to: BlockId): boolean {
    const { kernel } = this.#in;
    const block = kernel.blocks[to]!;
    const side = from === null ? -1 : block.predecessors.indexOf(from);
    const inputs = block.phis.map(({ inputs: own }) => (side < 0 ? null : this.#operand(state, own[side]!)));
    for (const [index, { result }] of block.phis.entries()) state.values.set(result, inputs[index]!);
    const loop = kernel.loops.find(({ header }) => header === to);
    if (loop && (from === null || !loop.blocks.has(from))) state.visits.delete(to);
    return !loop || this.#goesRound(state, to, inputs);
  }

  /**
   * Whether a thread at the header of a loop is followed further. If an iteration changes neither the loop's variables
   * nor memory, the next one is identical.
   */
  #goesRound(state: State, header: BlockId, inputs: readonly Value[]): boolean {
    const key = inputs.join();
    const before = state.visits.get(header);
    const { steps } = state;
    state.visits.set(header, { key, steps: steps.length });
    if (before?.key !== key) return true;
    const round = steps.slice(before.steps);
    const keepsMemory = round.every((step, index) => {
      if (step.kind === 'read' || step.kind === 'fence') return true;
      const read = step.readAt === null ? undefined : round[index - 1];
      return step.kind === 'write' && read !== undefined && step.value !== null && read.value === step.value;
    });
    if (!keepsMemory) return true;
    for (const step of round) if (step.kind === 'write') this.#in.repeats(step.place);
    this.#end(state);
    if (state.hasSpun) return false;
    state.hasSpun = true;
    return true;
  }

  /** Follows a thread from an instruction, and records each trace at its end. */
  #follow(state: State, start: Block, first: number): void {
    let block = start;
    for (let at = first; ; at = 0) {
      for (; at < block.instructions.length; at++) {
        this.#in.count();
        if (state.steps.length > maxSteps) throw new NotFollowed('steps');
        const instruction = block.instructions[at]!;
        const accesses = this.#in.accessesOf(instruction);
        if (accesses.length === 0) this.#compute(state, instruction);
        else if (!this.#access(state, block, at, instruction, accesses)) return;
      }
      this.#in.count();
      const next = this.#next(state, block);
      if (next === null || !this.#enter(state, block.id, next)) return;
      block = this.#in.kernel.blocks[next]!;
    }
  }

  /**
   * The next basic block of a thread; null if the thread ends. If two are possible, follows one of them here and
   * returns the other.
   */
  #next(state: State, block: Block): BlockId | null {
    const { terminator } = block;
    switch (terminator.kind) {
      case 'jump':
        return terminator.target;
      case 'branch': {
        const condition = this.#operand(state, terminator.condition);
        if (condition !== null) return condition === true || condition === 1n ? terminator.then : terminator.otherwise;
        if (++state.forks > maxForks) throw new NotFollowed('conditions');
        const other = copyOf(state);
        if (this.#enter(other, block.id, terminator.then)) this.#follow(other, this.#in.kernel.blocks[terminator.then]!, 0);
        return terminator.otherwise;
      }
      case 'exit':
      case 'trap':
        this.#end(state);
        return null;
      default:
        throw new NotFollowed(terminator.kind);
    }
  }

  /** Executes an instruction without relevant accesses: its result, or its effect as fence or barrier. */
  #compute(state: State, instruction: Instruction): void {
    const { operation, results } = instruction;
    const { effect } = operation;
    if (effect.kind === 'opaque' || effect.kind === 'call') throw new NotFollowed(effect.kind);
    const fence = fenceOf(effect);
    if (fence) state.steps.push({ ...nothing, kind: 'fence', fence, barrier: 0 });
    else if (this.#in.isBlockBarrier(instruction)) {
      const barrier = state.barriers++;
      state.steps.push({ ...nothing, kind: 'arrive', barrier }, { ...nothing, kind: 'pass', barrier });
    }
    let computed: readonly Value[] | null = null;
    if (effect.kind === 'pure' && operation.evaluate && instruction.marker === undefined) {
      const sources = instruction.arguments.map((operand, index) => {
        const value = this.#operand(state, operand);
        if (value === null) return null;
        const type = operation.sources[index]!;
        if (type === 'predicate') return value === true || value === 1n;
        return BigInt.asUintN(type, BigInt(value));
      });
      if (!sources.includes(null)) computed = operation.evaluate<bigint, boolean>(referenceDomain, sources as (bigint | boolean)[]);
    }
    for (const [index, id] of results.entries()) {
      if (id === null) continue;
      state.values.set(id, computed?.[index] ?? this.#in.constant({ kind: 'value', id }));
    }
  }

  /**
   * Performs an access. Follows the thread once for each value that the access may read; returns false if that
   * completes all traces.
   */
  #access(state: State, block: Block, at: number, instruction: Instruction, accesses: readonly Access[]): boolean {
    const [access, ...more] = accesses;
    const { effect } = instruction.operation;
    if (!access || more.length > 0 || access.ofWarp || access.isCopy) throw new NotFollowed('copies');
    if (effect.kind !== 'load' && effect.kind !== 'store' && effect.kind !== 'atomic') throw new NotFollowed(effect.kind);
    if (effect.lanes !== 1 || (effect.kind === 'load' && effect.nonCoherent)) throw new NotFollowed('accesses');
    const place = this.#placeOf(state, access);
    const operandAt = (index: number): Word => {
      const operand = instruction.arguments[index];
      const value = operand ? this.#operand(state, operand) : null;
      return value === null ? null : BigInt.asUintN(8 * effect.bytes, BigInt(value));
    };
    const step = { ...nothing, access, place };
    if (effect.kind === 'store') {
      state.steps.push({ ...step, kind: 'write', value: operandAt(1) });
      return true;
    }
    const result = instruction.results[0];
    for (const found of this.#valuesAt(state, place, access)) {
      const next = copyOf(state);
      const readAt = next.steps.length;
      next.steps.push({ ...step, kind: 'read', value: found });
      if (effect.kind === 'atomic') {
        const [a, b] = [operandAt(1), operandAt(2)];
        const known = found !== null && a !== null && (effect.operation !== 'cas' || b !== null);
        const exchanged = effect.operation === 'exch' ? a : null;
        const value = known ? atomicValue(effect, found, a, b ?? 0n) : exchanged;
        next.steps.push({ ...step, kind: 'write', value, readAt });
      }
      if (result !== null && result !== undefined) {
        // Sign-extending loads, and values used as predicates, are not supported.
        const isPlain = effect.kind === 'atomic' || effect.extend === 'zero' || instruction.operation.results[0] === 8 * effect.bytes;
        next.values.set(result, isPlain ? found : null);
      }
      this.#follow(next, block, at + 1);
    }
    return false;
  }

  /** The values that an access may read. A private word has the value of the thread's last write. */
  #valuesAt({ steps }: State, place: string, access: Access): Iterable<Word> {
    if (!this.#in.isOwn(place)) return new Set(this.#in.valuesAt(place, access));
    const last = steps.findLast((step) => step.kind === 'write' && step.place === place);
    return [last ? last.value : this.#in.initial(access)];
  }

  /** The name of the word at the address of an access. */
  #placeOf(state: State, { targets, bytes }: Access): string {
    const [target, ...more] = targets;
    if (!target || more.length > 0) throw new NotFollowed('pointers');
    const offset = this.#evaluate(state, target.offset);
    const { base } = target;
    const home = base.kind === 'object' && base.object.space === 'shared' ? this.#block.join() : '';
    return `${base.key} ${home} ${offset} ${bytes}`;
  }

  #evaluate(state: State, term: Term): bigint {
    const { width, arguments: parts } = term;
    const wrap = (value: bigint): bigint => BigInt.asUintN(width, value);
    switch (term.operator) {
      case 'constant':
        return term.value;
      case 'sum':
        return wrap(parts.reduce((sum, part, index) => sum + term.coefficients[index]! * this.#evaluate(state, part), term.value));
      case 'mul':
        return wrap(parts.reduce((product, part) => product * this.#evaluate(state, part), 1n));
      case 'zext':
      case 'trunc':
        return wrap(this.#evaluate(state, parts[0]!));
      case 'sext':
        return wrap(BigInt.asIntN(parts[0]!.width, this.#evaluate(state, parts[0]!)));
      case 'shl':
        return wrap(this.#evaluate(state, parts[0]!) << this.#evaluate(state, parts[1]!));
      case 'atom': {
        const atom = term.atom!;
        if (atom.kind === 'thread') return BigInt(this.#thread[atom.axis]);
        if (atom.kind === 'block') return BigInt(this.#block[atom.axis]);
        if (atom.kind === 'block-size') return BigInt(this.#in.block[atom.axis]);
        if (atom.kind === 'grid-size') return BigInt(this.#in.grid[atom.axis]);
        const value = atom.kind === 'havoc' || atom.kind === 'phi' ? state.values.get(atom.value as ValueId) : null;
        if (typeof value === 'bigint') return wrap(value);
        throw new NotFollowed('index');
      }
      default:
        throw new NotFollowed('index');
    }
  }

  #operand(state: State, operand: Operand): Value {
    switch (operand.kind) {
      case 'value': {
        const value = state.values.get(operand.id);
        return value === undefined ? this.#in.constant(operand) : value;
      }
      case 'constant':
        return operand.type === 'predicate' ? operand.value !== 0n : BigInt.asUintN(operand.type, operand.value);
      case 'special':
        return this.#special(operand.register);
      default:
        return null;
    }
  }

  #special(register: string): Value {
    const [name, axis] = register.split('.');
    const of: Readonly<Record<string, Dim3>> = { tid: this.#thread, ctaid: this.#block, ntid: this.#in.block, nctaid: this.#in.grid };
    const dimensions = of[name!];
    if (dimensions && axis) return BigInt(dimensions['xyz'.indexOf(axis)]!);
    return register === 'warpsize' ? 32n : null;
  }
}

const nothing = { access: null, place: '', value: null, readAt: null, fence: null, barrier: 0 } as const;

function copyOf(state: State): State {
  return { ...state, values: new Map(state.values), steps: [...state.steps], visits: new Map(state.visits) };
}

/** The value that an atomic stores; null if it depends on the numeric value of a generic address. */
function atomicValue({ operation, type, bytes, space }: Extract<Effect, { kind: 'atomic' }>, found: bigint, a: bigint, b: bigint): Word {
  const [inShared, inGlobal] = [false, true].map((isGlobal) => atomicResult(operation, type, 8 * bytes, found, a, b, isGlobal));
  if (space !== 'generic') return space === 'global' ? inGlobal! : inShared!;
  return inShared === inGlobal ? inShared! : null;
}
