/** Interface by which back ends report events to a run, and query it. */
import type { FaultEvent, LeftObject } from './run-result.ts';
import type { InstructionId } from '../../ir/form/kernel.ts';
import type { ResidentBlock } from './back-end.ts';
import type { MemoryAccess } from './program.ts';
import type { WatchedPage } from '../detector/race-detector.ts';

/** A part of memory watched by the detector with lists. */
export interface TrackedPage extends WatchedPage {
  /**
   * The buffer or variable that contains the page, and the offset of the page in it; null: shared memory of a block.
   */
  readonly region: { readonly name: string } | null;
  readonly start: number;
  /**
   * By byte: 1 once a thread has written it. Null: all bytes are initialised, or the back end checks initialisation.
   */
  readonly written: Uint8Array | null;
}

/** The target of an access that was found to be in bounds, aligned and accessible. */
export interface LocatedBytes {
  readonly page: TrackedPage;
  readonly offset: number;
}

/** Memory as accessed by code outside a back end, one access at a time. */
export interface SlowMemory {
  /** Finds the target of an access; reports a fault if it has none. */
  locate(who: Executor, access: MemoryAccess, address: number): LocatedBytes;
  /** Reports an access that has been performed. */
  touch(who: Executor, access: MemoryAccess, place: LocatedBytes): void;
}

/** A thread that executes an instruction. */
export interface Executor {
  readonly block: ResidentBlock;
  /** Number of the thread in the block. */
  readonly thread: number;
}

export interface MachineHost {
  /**
   * Counts instructions executed by threads; throws if they exceed the limit.
   * @param who the last thread that executed instructions
   * @param segment of that thread
   */
  ran(steps: number, block: ResidentBlock, thread: number, segment: number): void;
  /** Counts instructions of threads, one of which is about to end the run. */
  counted(steps: number): void;
  fault(who: Executor, kind: FaultEvent['kind'], access: MemoryAccess, message: string): never;
  /** Reports an access outside of the object that its address is derived from. */
  left(who: Executor, access: MemoryAccess, left: LeftObject): never;
  /** Reports an unsupported terminator of a segment. */
  lost(who: Executor, segment: number): never;
  trapped(who: Executor, segment: number): never;
  havoc(instruction: InstructionId): void;
  /** Reports that an assumption is violated. */
  broken(instruction: InstructionId): void;
  /** Reports an unsupported instruction. */
  unsupported(who: Executor, instruction: InstructionId): void;
  /** An unknown value of 128 bits. */
  unknown(who: Executor, instruction: InstructionId, result: number): bigint;
  /** Records an access that has been performed, at an offset of a page. */
  record(block: ResidentBlock, thread: number, access: MemoryAccess, page: TrackedPage, offset: number): void;
  /** Records an access that has been performed and can only synchronize. */
  handOver(block: ResidentBlock, thread: number, access: MemoryAccess, page: TrackedPage, offset: number): void;
  /** Executes an instruction of a thread outside the back end; returns its results. */
  foreign(who: Executor, instruction: InstructionId, operands: readonly unknown[]): readonly unknown[];
  /** Reports an instruction that orders accesses. */
  event(block: ResidentBlock, thread: number, instruction: InstructionId): void;
  /** Reports a read of bytes that no thread has written. */
  uninitialised(who: Executor, access: MemoryAccess, page: TrackedPage, offset: number): void;
}
