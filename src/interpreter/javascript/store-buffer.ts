/**
 * Stores of one thread that other threads do not see yet, first in, first out. Each such execution is one that the PTX
 * memory model allows (PTX ISA 9.0, section 8). A store becomes visible after all earlier accesses of its thread.
 * Atomics, barriers and exchanges wait until the buffer is empty, and so does a `fence.sc` that reaches beyond the
 * block. At a `fence.sc` with the scope of the block, the stores of its thread stay buffered until another thread of
 * the block passes a `fence.sc`. So causality between threads follows the time at which accesses become visible, and
 * each read returns the latest visible store.
 */
import type { InstructionId } from '../../ir/form/kernel.ts';
import type { Page } from '../core/global-memory.ts';
import type { MemoryAccess } from '../core/program.ts';

/** Target of a store. */
export interface StorePlace {
  readonly page: Page;
  readonly at: number;
  /** Whether it is shared memory (1), global memory (0), or of no interest to the detector (-1). */
  readonly where: -1 | 0 | 1;
}

/** A buffered store, or a fence after buffered stores: the release of the fence has to include them. */
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

  /** Whether the buffer has a store to some of these bytes. */
  containsAnyOf(page: Page, at: number, bytes: number): boolean {
    return this.#pending.some(
      (pending) =>
        pending.kind === 'store' &&
        pending.place.page === page &&
        pending.place.at < at + bytes &&
        at < pending.place.at + pending.access.bytes,
    );
  }

  /** Removes and returns all entries, in order. */
  take(): readonly Pending[] {
    return this.#pending.splice(0);
  }
}
