/**
 * Barriers in shared memory (`mbarrier`, PTX ISA 9.7.13.15) that act as a barrier of the whole block: initialised once
 * with the number of arrivals, before any use; then all threads arrive, and each waits for that phase before it does
 * anything else. Arrival releases and the wait acquires, so such an arrival orders the same accesses as a `bar.sync`
 * there. The divergence check proves that all threads reach it in the same iteration.
 *
 * Copies that are announced to the barrier before their thread arrives (`cp.async.mbarrier.arrive`) are complete after
 * it.
 */
import { dominates } from '../../ir/form/dominators.ts';
import type { BlockId, Instruction, ValueId } from '../../ir/form/kernel.ts';
import { accessesOfEffect } from '../../isa/model/effect.ts';
import type { MbarrierEffect } from '../../isa/model/operation.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import { type Access, type LoadedMemory, accessesByInstruction, targetsOf } from '../values/access.ts';
import type { Dimensions } from '../values/launch-bounds.ts';
import type { DeclaredAs } from '../values/memory-base.ts';
import { pointAfter, pointDominates, isExit, walkFrom } from '../values/program-point.ts';
import type { SymbolicKernel } from '../values/symbolic.ts';

/** An arrival of all threads of the block. */
export interface Arrival {
  /** Key of the barrier. */
  readonly barrier: string;
  /**
   * Whether the thread makes no access between arrival and wait. Such accesses may happen on either side of the
   * barrier.
   */
  readonly isAwaitedAtOnce: boolean;
  /** Whether a thread may follow an edge before the wait has succeeded. */
  readonly isStillWaiting: (from: BlockId, to: BlockId) => boolean;
}

export interface Mbarriers {
  readonly arrivals: ReadonlyMap<Instruction, Arrival>;
  /** Instructions that make a barrier wait for earlier copies of the thread, with the key of the barrier. */
  readonly announcements: ReadonlyMap<Instruction, string>;
  /** Why some barrier is not analyzed; null if all are. */
  readonly problem: string | null;
  /** If there is a problem: the operations on barriers, which may race with the initialisation. */
  readonly accesses: readonly Access[];
}

interface Operation {
  readonly instruction: Instruction;
  readonly effect: MbarrierEffect;
  readonly block: BlockId;
  readonly position: number;
}

/** @param loaded the kind of memory that a load reads */
export function findMbarriers(
  symbolic: SymbolicKernel,
  dimensions: Dimensions,
  accesses: readonly Access[],
  declaredAs: DeclaredAs,
  loaded: (load: Instruction) => LoadedMemory,
): Mbarriers {
  const { kernel } = symbolic;
  const byInstruction = accessesByInstruction(accesses);
  const objects = new Map<string, Operation[]>();
  const arrivals = new Map<Instruction, Arrival>();
  const announcements = new Map<Instruction, string>();
  const fail = (problem: string): Mbarriers => {
    const own = operationsOf(symbolic, declaredAs).map((access, i) => ({ ...access, index: accesses.length + i }));
    return { arrivals: new Map(), announcements: new Map(), problem, accesses: own };
  };
  for (const { id: block, instructions } of kernel.blocks) {
    for (const [position, instruction] of instructions.entries()) {
      const { effect } = instruction.operation;
      if (effect.kind !== 'mbarrier') continue;
      if (effect.form === 'pending_count') continue;
      const [target, ...others] = targetsOf(symbolic, instruction, declaredAs, 0);
      const isFixed = others.length === 0 && target?.offset.operator === 'constant';
      if (!target || !isFixed || target.base.kind !== 'object' || target.base.object.space !== 'shared')
        return fail('Selvage cannot determine which mbarrier an instruction uses');
      const { value: start } = target.offset;
      // Any other access that may touch its 64 bits.
      const isTouched = accesses.some((access) =>
        access.targets.some(({ base, offset }) => {
          if (base.kind === 'unknown') return true;
          if (base.key !== target.base.key) return false;
          if (offset.operator !== 'constant') return true;
          return offset.value < start + 8n && start < offset.value + BigInt(access.bytes);
        }),
      );
      if (isTouched) return fail('other accesses may overwrite an mbarrier');
      const key = `${target.base.key}+${start}`;
      objects.set(key, [...(objects.get(key) ?? []), { instruction, effect, block, position }]);
    }
  }
  const keys = [...objects.keys()];
  for (const [i, key] of keys.entries()) {
    const overlapping = keys.some((other, j) => i !== j && areClose(key, other));
    const found = overlapping ? 'two mbarriers overlap' : blockWide(objects.get(key)!);
    if (typeof found === 'string') return fail(found);
    for (const [instruction, wait] of found.arrivals) arrivals.set(instruction, { barrier: key, ...wait });
    for (const { instruction } of found.announcements) announcements.set(instruction, key);
  }
  return { arrivals, announcements, problem: null, accesses: [] };

  /** The arrivals and announcements of a barrier, or the reason why it is not one of the whole block. */
  function blockWide(operations: readonly Operation[]):
    | {
        readonly arrivals: ReadonlyMap<Instruction, Omit<Arrival, 'barrier'>>;
        readonly announcements: readonly Operation[];
      }
    | string {
    const of = (...forms: MbarrierEffect['form'][]): Operation[] => operations.filter(({ effect: { form } }) => forms.includes(form));
    const found = { arrivals: of('arrive'), announcements: of('cp_async_arrive') };
    const waits = of('test_wait', 'try_wait');
    const [init, ...more] = of('init');
    const [arrival] = found.arrivals;
    if (!init || more.length > 0 || !arrival)
      return 'the kernel does not initialise an mbarrier at exactly one place, or no thread arrives at it';
    if (operations.length !== 1 + found.arrivals.length + found.announcements.length + waits.length)
      return 'an mbarrier counts bytes, or the kernel drops out of it or invalidates it';
    if ([...found.arrivals, ...waits].some(({ effect }) => effect.semantics === 'relaxed'))
      return 'a relaxed arrival or wait at an mbarrier orders no accesses';
    if (found.arrivals.some(({ effect }) => effect.counted || effect.noComplete || effect.expectTx))
      return 'one arrival at an mbarrier counts as several';
    const threads = threadsOf(dimensions);
    if (threads === null) return 'Selvage does not know how many threads arrive at an mbarrier';
    const uncounted = found.announcements.filter(({ effect }) => effect.noIncrement);
    const count = symbolic.operand(init.instruction.arguments[1]!);
    const expected = BigInt(threads.length) * BigInt(1 + uncounted.length);
    if (count.operator !== 'constant' || count.value !== expected)
      return 'an mbarrier does not wait for exactly one arrival of each thread';
    const others = operations.filter((each) => each !== init);
    if (!isSetUp(init, others, threads)) return 'a thread may use an mbarrier before it is initialised';
    if (uncounted.length > 0 && found.arrivals.length > 1)
      return 'asynchronous copies arrive at an mbarrier at which threads arrive in several places';
    for (const announcement of uncounted)
      if (!meetsOnly(announcement, arrival)) return 'asynchronous copies may arrive at an mbarrier more often than threads';
    const awaited = new Map<Instruction, Omit<Arrival, 'barrier'>>();
    for (const each of found.arrivals) {
      const own = waits.filter((wait) => pointDominates(kernel, each, wait) && waitsFor(wait, each, found.arrivals));
      const wait = waitBehind(each, own);
      if (!wait) return 'a thread may continue before the phase of the mbarrier that it arrived at is complete';
      awaited.set(each.instruction, wait);
    }
    return { arrivals: awaited, announcements: found.announcements };
  }

  /**
   * Whether one thread initialises the barrier, and a barrier of the block separates the initialisation from all uses.
   */
  function isSetUp(init: Operation, others: readonly Operation[], threads: readonly Coordinates[]): boolean {
    const reach = symbolic.reach(init.block);
    const isDone = threads.map((thread) => {
      const value = (leaf: Term): bigint | undefined => (leaf.atom?.kind === 'thread' ? BigInt(thread[leaf.atom.axis]) : undefined);
      return evaluateTerm(reach, value, new Map());
    });
    if (kernel.loopOf[init.block] !== null) return false;
    if (isDone.some((done) => done === undefined) || isDone.filter((done) => done === 1n).length !== 1) return false;
    return kernel.blocks.some(({ id: block, instructions }) =>
      instructions.some((instruction, position) => {
        const { effect } = instruction.operation;
        const isWhole = effect.kind === 'barrier' && effect.form === 'sync' && instruction.arguments.length === 1;
        const [barrier] = instruction.arguments;
        if (!isWhole || barrier?.kind !== 'constant' || barrier.value !== 0n) return false;
        if (!others.every((other) => pointDominates(kernel, { block, position }, other))) return false;
        return !reaches({ block, position }, init);
      }),
    );
  }

  /** Whether some path leads from the point after one instruction to another. */
  function reaches(from: Pick<Operation, 'block' | 'position'>, to: Operation): boolean {
    let found = from.block === to.block && from.position < to.position;
    walkFrom(kernel, pointAfter(from), (instruction) => {
      found ||= instruction === to.instruction;
      return !found;
    });
    return found;
  }

  /** Whether all paths from one operation reach another before they reach the first again. */
  function meetsOnly(first: Operation, second: Operation): boolean {
    let again = false;
    const ends = walkFrom(kernel, pointAfter(first), (instruction) => {
      again ||= instruction === first.instruction;
      return instruction !== second.instruction;
    });
    return !ends.some(isExit) && !again && pointDominates(kernel, first, second);
  }

  /** Whether a wait is for the phase in which a thread arrived. */
  function waitsFor({ instruction, effect }: Operation, arrival: Operation, all: readonly Operation[]): boolean {
    const phase = instruction.arguments[1]!;
    if (!effect.parity) {
      const [state] = arrival.instruction.results;
      return state !== null && state !== undefined && symbolic.operand(phase) === symbolic.value(state);
    }
    // Phases are counted by the iterations of the loop around the only arrival, each of which passes it.
    if (all.length > 1) return false;
    const loop = kernel.loopOf[arrival.block] ?? null;
    const term = symbolic.operand(phase);
    if (loop === null) return lowBit(term, null, 0) === 0;
    const { parent, latches } = kernel.loops[loop]!;
    if (parent !== null || !latches.every((latch) => dominates(kernel.dominators, arrival.block, latch))) return false;
    return ([0, 1] as const).every((parity) => lowBit(term, loop, parity) === parity);
  }

  /**
   * The region between an arrival and the waits for it; null if the thread may interact with others, or end, without a
   * wait.
   */
  function waitBehind(arrival: Operation, waits: readonly Operation[]): Omit<Arrival, 'barrier'> | null {
    const results = waits.flatMap(
      ({
        instruction: {
          results: [result],
        },
      }) => result ?? [],
    );
    const done = results.map((result: ValueId) => symbolic.value(result));
    const isStillWaiting = (from: BlockId, to: BlockId): boolean => {
      const { terminator } = kernel.blocks[from]!;
      if (terminator.kind !== 'branch' || terminator.then === terminator.otherwise) return true;
      const condition = symbolic.condition(from)!;
      if (done.includes(condition)) return to !== terminator.then;
      return !done.some((success) => symbolic.store.not(success) === condition) || to !== terminator.otherwise;
    };
    let isAlone = waits.length > 0;
    let isAwaitedAtOnce = true;
    const visit = (instruction: Instruction): boolean => {
      if (waits.some((wait) => wait.instruction === instruction)) return true;
      if (byInstruction.has(instruction)) {
        if (loaded(instruction) !== 'fixed') isAwaitedAtOnce = false;
      } else if (!isSilent(instruction)) isAlone = false;
      return isAlone;
    };
    const ends = walkFrom(kernel, pointAfter(arrival), visit, isStillWaiting);
    return isAlone && !ends.some(isExit) ? { isAwaitedAtOnce, isStillWaiting } : null;
  }
}

/** The operations on barriers as accesses of their words. */
function operationsOf(symbolic: SymbolicKernel, declaredAs: DeclaredAs): readonly Omit<Access, 'index'>[] {
  return symbolic.kernel.blocks.flatMap(({ id: block, instructions }) =>
    instructions.flatMap((instruction, position) => {
      const { effect } = instruction.operation;
      const [access] = accessesOfEffect(effect);
      if (effect.kind !== 'mbarrier' || !access) return [];
      const targets = targetsOf(symbolic, instruction, declaredAs, 0);
      if (!targets.every(({ base }) => base.kind === 'object' && base.object.space === 'shared')) return [];
      const { operation, bytes, strong, semantics } = access;
      const place = { instruction, block, position, memory: 'shared' as const, targets, stored: null, isCopy: false };
      return { ...place, operation, bytes, strong, semantics };
    }),
  );
}

/** Whether a non-access instruction neither touches memory visible to others nor synchronises. */
function isSilent({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'pure' || effect.kind === 'load' || effect.kind === 'havoc';
}

type Coordinates = readonly [number, number, number];

/** The threads of a block of known size. */
function threadsOf({ block: [x, y, z] }: Dimensions): readonly Coordinates[] | null {
  if (x === null || y === null || z === null) return null;
  return Array.from({ length: x * y * z }, (_, i) => [i % x, Math.floor(i / x) % y, Math.floor(i / (x * y))] as const);
}

/** Whether two barriers, named by object and offset, share bytes. */
function areClose(a: string, b: string): boolean {
  const [base, offset] = a.split('+');
  const [otherBase, otherOffset] = b.split('+');
  const distance = Number(offset) - Number(otherOffset);
  return base === otherBase && Math.abs(distance) < 8;
}

/** Lowest bit of a term for a given parity of the loop's iteration; undefined if it also depends on anything else. */
function lowBit(term: Term, loop: number | null, round: 0 | 1): 0 | 1 | undefined {
  const bitOf = (part: Term): 0 | 1 | undefined => lowBit(part, loop, round);
  const [a, b, c] = term.arguments as [Term, Term, Term];
  const from = (value: bigint): 0 | 1 => ((value & 1n) === 1n ? 1 : 0);
  switch (term.operator) {
    case 'constant':
      return from(term.value);
    case 'atom':
      return term.atom!.kind === 'iteration' && term.atom.loop === loop ? round : undefined;
    case 'sum': {
      let sum = from(term.value) as number;
      for (const [i, part] of term.arguments.entries()) {
        if (from(term.coefficients[i]!) === 0) continue;
        const bit = bitOf(part);
        if (bit === undefined) return undefined;
        sum ^= bit;
      }
      return sum as 0 | 1;
    }
    case 'and':
    case 'mul': {
      const [x, y] = [bitOf(a), bitOf(b)];
      if (x === 0 || y === 0) return 0;
      return x === 1 && y === 1 ? 1 : undefined;
    }
    case 'xor': {
      const [x, y] = [bitOf(a), bitOf(b)];
      return x === undefined || y === undefined ? undefined : ((x ^ y) as 0 | 1);
    }
    case 'zext':
    case 'sext':
    case 'trunc':
      return term.width > 0 && a.width > 0 ? bitOf(a) : undefined;
    case 'select': {
      const test = truthOf(a);
      return test === undefined ? undefined : bitOf(test ? b : c);
    }
    default:
      return undefined;
  }

  /** A test of a single bit. */
  function truthOf(test: Term): boolean | undefined {
    if (test.operator === 'constant') return test.value === 1n;
    if (test.operator === 'not') {
      const inner = truthOf(test.arguments[0]!);
      return inner === undefined ? undefined : !inner;
    }
    if (test.operator !== 'equal') return undefined;
    const [x, y] = test.arguments as [Term, Term];
    const [bit, number] = y.operator === 'constant' ? [x, y] : [y, x];
    const isBit = bit.operator === 'and' && bit.arguments.some((part) => part.operator === 'constant' && part.value === 1n);
    if (!isBit || number.operator !== 'constant') return undefined;
    const value = bitOf(bit);
    return value === undefined ? undefined : BigInt(value) === number.value;
  }
}
