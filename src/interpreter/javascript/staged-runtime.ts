import type { Dim3 } from '../../base/dim3.ts';
import type { InstructionId } from '../../ir/form/kernel.ts';
import type { Page } from '../core/global-memory.ts';
import type { MemoryAccess } from '../core/program.ts';
import type { Thread } from '../core/thread.ts';

/** Functions that staged code calls, as `m`. */
export interface StagedRuntime {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
  /** The page and offset that the last `read` or `write` located. */
  page: Page;
  at: number;
  read(thread: Thread, access: MemoryAccess, address: number): void;
  /** Locates a write; the code then assigns the value and calls `wrote`. */
  write(thread: Thread, access: MemoryAccess, address: number): void;
  wrote(thread: Thread, access: MemoryAccess): void;
  /** Performs an atomic; returns the old value. */
  atomic(thread: Thread, access: MemoryAccess, address: number, a: bigint, b?: bigint): bigint;
  /** Copies `count` bytes and zeroes up to the access's length. */
  copy(thread: Thread, write: MemoryAccess, read: MemoryAccess, to: number, from: number, count: number): void;
  /** Executes a fence, an arrival or a wait that orders accesses. */
  event(thread: Thread, instruction: InstructionId): void;
  /** Executes an instruction without staged code; returns its results. */
  foreign(thread: Thread, instruction: InstructionId, operands: readonly unknown[]): readonly unknown[];
  assumptionFailed(instruction: InstructionId): void;
  havocExecuted(instruction: InstructionId): void;
  unknownValue(thread: Thread, instruction: InstructionId, result: number): bigint;
  unknownOperation(thread: Thread, instruction: InstructionId, mnemonic: string): void;
  unknownControl(thread: Thread, reason: string): never;
  trap(thread: Thread): never;
}
