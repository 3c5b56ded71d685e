/**
 * Stores of one thread that other threads do not see yet, first in, first out. Each such execution is one that the PTX
 * memory model allows (PTX ISA 9.0, section 8). A store becomes visible after all earlier accesses of its thread.
 * Atomics, barriers and exchanges wait until the buffer is empty, and so does a `fence.sc` that reaches beyond the
 * block. One of the block lets its thread's stores wait, until another thread of the block passes a `fence.sc`. So
 * causality between threads still follows the time at which accesses become visible, and each read returns the latest
 * store at its time.
 */
import type { InstructionId } from '../../ir/form/kernel.ts';
import type { Page } from '../core/memory.ts';
import type { MemoryAccess } from '../core/program.ts';

/** Where a store goes to. */
export interface StorePlace {
  readonly page: Page;
  readonly at: number;
  /** Whether it is shared memory (1), global memory (0), or of no interest to the detector (-1). */
  readonly where: -1 | 0 | 1;
}

/** A store that has not become visible, or a fence after such stores: its release has to include them. */
type Pending =
  | { readonly kind: 'store'; readonly access: MemoryAccess; readonly place: StorePlace; readonly value: Page }
  | { readonly kind: 'fence'; readonly instruction: InstructionId };

export class StoreBuffer {
  readonly #pending: Pending[] = [];

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  add(pending: Pending): void {
    this.#pending.push(pending);
  }

  /** Whether some of these bytes are to be stored. */
  containsAnyOf(page: Page, at: number, bytes: number): boolean {
    return this.#pending.some(
      (pending) =>
        pending.kind === 'store' &&
        pending.place.page === page &&
        pending.place.at < at + bytes &&
        at < pending.place.at + pending.access.bytes,
    );
  }

  /** Takes all of it, in order. */
  take(): readonly Pending[] {
    return this.#pending.splice(0);
  }
}
