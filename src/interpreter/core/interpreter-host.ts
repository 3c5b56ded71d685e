/** Events and queries of back ends to a run. */
import type { FaultEvent, LeftObject } from './run-result.ts';
import type { InstructionId } from '../../ir/form/kernel.ts';
import type { ResidentBlock } from './back-end.ts';
import type { MemoryAccess } from './program.ts';
import type { WatchedPage } from '../detector/race-detector.ts';

/** A part of memory that the detector with lists watches. */
export interface TrackedPage extends WatchedPage {
  /** The buffer or variable that it belongs to, and its first byte in it; null: shared memory of a block. */
  readonly region: { readonly name: string } | null;
  readonly start: number;
  /** By byte, 1 once a thread has written it; null: all are initialised, or the check is elsewhere. */
  readonly written: Uint8Array | null;
}

/** A place in memory that was found to be there, aligned, and open to an access. */
export interface LocatedBytes {
  readonly page: TrackedPage;
  readonly offset: number;
}

/** Memory as code outside a back end sees it, one access at a time. */
export interface SlowMemory {
  /** Finds the target of an access; reports a fault if it has none. */
  locate(who: Executor, access: MemoryAccess, address: number): LocatedBytes;
  /** The access has happened. */
  touch(who: Executor, access: MemoryAccess, place: LocatedBytes): void;
}

/** A thread that executes an instruction. */
export interface Executor {
  readonly block: ResidentBlock;
  /** Number in the block. */
  readonly thread: number;
}

export interface MachineHost {
  /**
   * Counts instructions executed by threads; throws if they exceed the limit.
   * @param who the last of them
   * @param segment that it was at
   */
  ran(steps: number, block: ResidentBlock, thread: number, segment: number): void;
  /** Counts instructions of threads of which one is about to end the run. */
  counted(steps: number): void;
  fault(who: Executor, kind: FaultEvent['kind'], access: MemoryAccess, message: string): never;
  /** An access that leaves the object that its address belongs to. */
  left(who: Executor, access: MemoryAccess, left: LeftObject): never;
  /** Control at the end of a segment that is not understood. */
  lost(who: Executor, segment: number): never;
  trapped(who: Executor, segment: number): never;
  havoc(instruction: InstructionId): void;
  /** An assumption does not hold. */
  broken(instruction: InstructionId): void;
  /** An instruction that is not known. */
  unsupported(who: Executor, instruction: InstructionId): void;
  /** An unknown value, of 128 bits. */
  unknown(who: Executor, instruction: InstructionId, result: number): bigint;
  /** An access has happened, at an offset of a page. */
  record(block: ResidentBlock, thread: number, access: MemoryAccess, page: TrackedPage, offset: number): void;
  /** An access has happened that only synchronizes. */
  handOver(block: ResidentBlock, thread: number, access: MemoryAccess, page: TrackedPage, offset: number): void;
  /** Executes an instruction of a thread outside the back end; returns its results. */
  foreign(who: Executor, instruction: InstructionId, operands: readonly unknown[]): readonly unknown[];
  /** An instruction that orders accesses. */
  event(block: ResidentBlock, thread: number, instruction: InstructionId): void;
  /** A read of bytes that no thread has written. */
  uninitialised(who: Executor, access: MemoryAccess, page: TrackedPage, offset: number): void;
}
