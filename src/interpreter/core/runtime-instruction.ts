/**
 * Instructions for which no back end generates code. The interpreter executes them on the memory of the running back
 * end. They are the operations on mbarriers, bulk copies, and matrix operations of a warp.
 */
import type { Instruction } from '../../ir/form/kernel.ts';
import type { CopyEffect, Effect, MatrixAccessEffect, MbarrierEffect, Operation } from '../../isa/model/operation.ts';
import type { MbarrierStep } from '../../isa/arithmetic/mbarrier-word.ts';
import type { Executor, LocatedBytes, SlowMemory, TrackedPage } from './interpreter-host.ts';
import type { MemoryAccess, Program } from './program.ts';
import { holderOf, loadFragments, matrixLines, storeFragments } from '../../isa/arithmetic/matrix-access.ts';
import { hasPlainAccesses, participantsOf } from '../../isa/model/effect.ts';
import { matrixResults } from '../../isa/arithmetic/matrix-product.ts';
import {
  addTransactions,
  arriveAt,
  initialMbarrier,
  mbarrierState,
  parityDone,
  pendingCount,
  phaseDone,
  raisePending,
} from '../../isa/arithmetic/mbarrier-word.ts';
import { atomicResult } from './atomic-operation.ts';

/** Whether a thread executes an instruction of this effect on its own, through {@link executeByRuntime}. */
export function needsRuntime(effect: Effect): effect is MbarrierEffect | CopyEffect {
  return effect.kind === 'mbarrier' || (effect.kind === 'copy' && !hasPlainAccesses(effect));
}

/**
 * How back ends execute an instruction other than a load, a store, an atomic or a plain copy: `compute` its values, report
 * an `event` that orders accesses, call {@link executeByRuntime}, invent `unknown` results, or stop since it is
 * `unsupported`.
 */
export function executionOf({ effect, evaluate }: Operation): 'compute' | 'event' | 'runtime' | 'unknown' | 'unsupported' {
  if (needsRuntime(effect)) return 'runtime';
  switch (effect.kind) {
    case 'pure':
    case 'grid-dependency':
      return evaluate ? 'compute' : 'unsupported';
    case 'group':
    case 'fence':
    case 'cluster-barrier':
      return 'event';
    case 'warpgroup-multiply':
    case 'havoc':
    case 'surface-store':
      return 'unknown';
    default:
      return 'unsupported';
  }
}

/** Whether the lanes of a warp execute an instruction of this effect together, through {@link executeMatrix}. */
export function isMatrix(effect: Effect): effect is MatrixAccessEffect | Extract<Effect, { readonly kind: 'warp-matrix' }> {
  return participantsOf(effect) === 'warp';
}

/** Interface for events of an mbarrier: the order of accesses, and incorrect uses. */
export interface RuntimeHost {
  /** `mbarrier`: the copy just made arrives; a group: the thread's earlier copies of the group. */
  arrivedAt(who: Executor, page: TrackedPage, offset: number, how: 'thread' | CopyEffect['completion']): void;
  phaseCompleted(who: Executor, page: TrackedPage, offset: number): void;
  phaseSeen(who: Executor, page: TrackedPage, offset: number): void;
  misused(who: Executor, access: MemoryAccess, message: string): never;
}

/**
 * Executes an instruction for one thread.
 * @param operands as for exchanges: signed 32-bit numbers, unsigned bigints, truths
 * @returns the results in the same form
 */
export function executeByRuntime(
  program: Program,
  memory: SlowMemory,
  host: RuntimeHost,
  who: Executor,
  instruction: Instruction,
  operands: readonly unknown[],
): readonly unknown[] {
  const { effect } = instruction.operation;
  const first = program.firstAccess.get(instruction);
  const access = first === undefined ? null : program.accesses[first]!;
  if (effect.kind === 'mbarrier') {
    if (effect.form === 'pending_count') return [pendingCount(operands[0] as bigint)];
    return executeMbarrier(memory, host, who, effect, access!, operands, addressOf(instruction, operands, 0));
  }
  if (effect.kind === 'copy') copyBulk(program, memory, host, who, effect, instruction, operands);
  return [];
}

/** The address in a source; the constant displacement of the instruction is added to the first source only. */
function addressOf(instruction: Instruction, operands: readonly unknown[], index: number): number {
  const offset = index === 0 ? instruction.offset : 0n;
  const operand = operands[index];
  if (typeof operand === 'bigint') return Number(BigInt.asUintN(64, operand + offset));
  return Number(BigInt.asUintN(32, BigInt(operand as number) + offset));
}

function readWord({ page, offset }: LocatedBytes): bigint {
  return new DataView(page.u8.buffer, page.u8.byteOffset).getBigUint64(offset, true);
}

function writeWord({ page, offset }: LocatedBytes, word: bigint): void {
  new DataView(page.u8.buffer, page.u8.byteOffset).setBigUint64(offset, word, true);
  page.written?.fill(1, offset, offset + 8);
}

function executeMbarrier(
  memory: SlowMemory,
  host: RuntimeHost,
  who: Executor,
  effect: MbarrierEffect,
  access: MemoryAccess,
  operands: readonly unknown[],
  address: number,
): readonly unknown[] {
  const place = memory.locate(who, access, address);
  const before = readWord(place);
  const { page, offset } = place;
  // An arrival precedes the publication by its phase. Of the repeated waits only the last one, which succeeds, is
  // reported.
  const isWait = effect.form === 'test_wait' || effect.form === 'try_wait';
  if (access.operation !== 'write' && !isWait && mbarrierState(before)) memory.touch(who, access, place);
  const step = ({ word, fault }: MbarrierStep): void => {
    if (fault) host.misused(who, access, `mbarrier.${effect.form}: ${fault}`);
    const isComplete = phaseDone(word, readWord(place));
    writeWord(place, word);
    if (isComplete) host.phaseCompleted(who, page, offset);
  };
  const number = (index: number): number => Number(operands[index]) >>> 0;
  switch (effect.form) {
    case 'init':
      writeWord(place, initialMbarrier(number(1)));
      memory.touch(who, access, place);
      return [];
    case 'inval':
      writeWord(place, 0n);
      memory.touch(who, access, place);
      return [];
    case 'expect_tx':
      step(addTransactions(before, number(1)));
      return [];
    case 'complete_tx':
      step(addTransactions(before, -number(1)));
      return [];
    case 'arrive':
    case 'arrive_drop': {
      if (effect.expectTx) step(addTransactions(before, number(1)));
      const state = readWord(place);
      if (effect.semantics !== 'relaxed') host.arrivedAt(who, page, offset, 'thread');
      step(arriveAt(state, effect.counted ? number(1) : 1, effect.form === 'arrive_drop'));
      return [state];
    }
    case 'cp_async_arrive':
      // The copies have happened, so that the pending count raised for them falls again at once.
      host.arrivedAt(who, page, offset, effect.copies!);
      if (!effect.noIncrement) step(raisePending(before));
      step(arriveAt(readWord(place), 1, false));
      return [];
    default: {
      const [, phase] = operands;
      const isDone = effect.parity ? parityDone(before, Number(phase)) : phaseDone(before, phase as bigint);
      if (isDone) memory.touch(who, access, place);
      if (isDone && effect.semantics !== 'relaxed') host.phaseSeen(who, page, offset);
      return [isDone];
    }
  }
}

/** Performs the copy immediately, and reports the number of bytes to the mbarrier that expects them. */
function copyBulk(
  program: Program,
  memory: SlowMemory,
  host: RuntimeHost,
  who: Executor,
  effect: CopyEffect,
  instruction: Instruction,
  operands: readonly unknown[],
): void {
  const first = program.firstAccess.get(instruction)!;
  const [write, read, barrier] = [0, 1, 2].map((index) => program.accesses[first + index]) as [MemoryAccess, MemoryAccess, MemoryAccess];
  const to = addressOf(instruction, operands, 0);
  const from = addressOf(instruction, operands, 1);
  const count = effect.bytes ?? Number(operands[2]) >>> 0;
  const mask = effect.masked ? Number(operands.at(-1)) : 0xffff;
  for (let at = 0; at < count; at += write.bytes) {
    const source = memory.locate(who, read, from + at);
    const bytes = source.page.u8.slice(source.offset, source.offset + write.bytes);
    memory.touch(who, read, source);
    const target = memory.locate(who, write, to + at);
    const { u8 } = target.page;
    if (effect.reduction) combine(effect.reduction, u8, target.offset, bytes);
    else for (let byte = 0; byte < write.bytes; byte++) if ((mask >> byte) & 1) u8[target.offset + byte] = bytes[byte]!;
    memory.touch(who, write, target);
  }
  if (effect.completion !== 'mbarrier') return;
  const place = memory.locate(who, barrier, addressOf(instruction, operands, 3));
  const { word, fault } = addTransactions(readWord(place), -count);
  if (fault) host.misused(who, barrier, `cp.async.bulk: ${fault}`);
  host.arrivedAt(who, place.page, place.offset, 'mbarrier');
  const isComplete = phaseDone(word, readWord(place));
  writeWord(place, word);
  if (isComplete) host.phaseCompleted(who, place.page, place.offset);
}

function combine({ operation, type }: NonNullable<CopyEffect['reduction']>, u8: Uint8Array, offset: number, bytes: Uint8Array): void {
  const bits = Number(/\d+/.exec(type)![0]);
  const size = bits / 8;
  const number = (from: Uint8Array, at: number): bigint =>
    from.subarray(at, at + size).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  for (let at = 0; at < bytes.length; at += size) {
    const result = atomicResult(operation, type, bits, number(u8, offset + at), number(bytes, at), 0n, false);
    for (let byte = 0; byte < size; byte++) u8[offset + at + byte] = Number((result >> BigInt(8 * byte)) & 0xffn);
  }
}

/** A participating lane, with the sources of its instruction. */
interface Lane {
  readonly thread: number;
  readonly operands: readonly unknown[];
}

/** Executes an instruction for a warp; the results of each lane, in order. */
export function executeMatrix(
  program: Program,
  memory: SlowMemory,
  block: Executor['block'],
  instruction: Instruction,
  lanes: readonly Lane[],
): readonly (readonly unknown[])[] {
  const { effect, sources, results } = instruction.operation;
  if (effect.kind === 'warp-matrix') {
    const fragments = matrixResults(effect.operation, wordsOf(lanes, sources, 0));
    return lanes.map(({ thread }) => resultsOf(fragments, thread & 31, results));
  }
  if (effect.kind !== 'matrix-access') return lanes.map(() => []);
  const access = program.accesses[program.firstAccess.get(instruction)!]!;
  const isLoad = effect.operation === 'read';
  const stored = isLoad ? 0 : sources.length - 1 - (effect.strided ? 1 : 0);
  const stride = effect.strided ? Number(lanes[0]!.operands.at(-1)) : null;
  const contents = isLoad
    ? new Uint8Array(effect.lines * effect.lineBytes)
    : storeFragments(effect, wordsOf(lanes, sources.slice(0, 1 + stored), 1));
  for (const [line, { lane, offset }] of matrixLines(effect, stride).entries()) {
    const memberOf = (number: number): Lane => lanes.find(({ thread }) => (thread & 31) === number) ?? lanes[0]!;
    const start = addressOf(instruction, memberOf(lane).operands, 0) + offset;
    // A lane's address is that of a whole line, and is aligned to it (PTX ISA 9.7.14.5.15); this reports the fault.
    if (effect.addressing === 'lanes' && start % effect.lineBytes !== 0)
      memory.locate({ block, thread: memberOf(lane).thread }, { ...access, bytes: effect.lineBytes }, start);
    for (let at = 0; at < effect.lineBytes; at += access.bytes) {
      const who = { block, thread: memberOf(holderOf(effect, line, at)).thread };
      const place = memory.locate(who, access, start + at);
      const bytes = contents.subarray(line * effect.lineBytes + at, line * effect.lineBytes + at + access.bytes);
      if (isLoad) bytes.set(place.page.u8.subarray(place.offset, place.offset + access.bytes));
      else place.page.u8.set(bytes, place.offset);
      memory.touch(who, access, place);
    }
  }
  if (!isLoad) return lanes.map(() => []);
  const fragments = loadFragments(effect, contents);
  return lanes.map(({ thread }) => resultsOf(fragments, thread & 31, results));
}

/** The 32-bit words of the lanes' sources from `first` on; zeros for missing lanes. */
function wordsOf(lanes: readonly Lane[], sources: readonly unknown[], first: number): Uint32Array {
  const count = sources.slice(first).reduce((sum: number, type) => sum + (type === 64 ? 2 : 1), 0);
  const words = new Uint32Array(32 * count);
  for (const { thread, operands } of lanes) {
    let at = (thread & 31) * count;
    for (const operand of operands.slice(first, sources.length)) {
      if (typeof operand === 'bigint') {
        words[at++] = Number(operand & 0xffffffffn);
        words[at++] = Number(operand >> 32n);
      } else {
        words[at++] = operand as number;
      }
    }
  }
  return words;
}

function resultsOf(fragments: Uint32Array, lane: number, types: readonly unknown[]): unknown[] {
  const count = fragments.length / 32;
  let at = lane * count;
  return types.map((type) => {
    if (type !== 64) return fragments[at++]! | 0;
    const low = BigInt(fragments[at++]!);
    return low | (BigInt(fragments[at++]!) << 32n);
  });
}
