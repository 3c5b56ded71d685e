/** Counters of a run that also record the memory each block accesses, and the contention of its atomics. */
import type { InstructionId } from '../ir/form/kernel.ts';
import { localWindow, sharedWindow } from '../isa/model/address-window.ts';
import type { MemoryAccess } from './core/program.ts';
import type { Thread } from './core/thread.ts';
import { LaunchCounters } from './counters.ts';

const sectorBytes = 32;
const sharedStart = Number(sharedWindow);
const localStart = Number(localWindow);

/** Updates of one address by atomics. */
interface Contention {
  /** The instruction with the most updates. */
  readonly instruction: InstructionId;
  /** Number of updates by all blocks that ran, and number of blocks with updates. */
  readonly updates: number;
  readonly blocks: number;
  readonly isShared: boolean;
}

interface Updates {
  updates: number;
  readonly blocks: Set<number>;
  readonly instruction: InstructionId;
  readonly isShared: boolean;
}

/** As {@link LaunchCounters}, with the sectors that each block touches at least once. */
export class MemoryUseCounters extends LaunchCounters {
  readonly #sectors = new Map<number, Set<number>>();
  readonly #updates = new Map<string, Updates>();

  override accessed(thread: Thread, access: MemoryAccess, address: number): void {
    super.accessed(thread, access, address);
    const { space, bytes, operation, instruction } = access;
    const { ordinal } = thread.home;
    const isShared = space === 'shared' || (space === 'generic' && address >= sharedStart && address < localStart);
    const isGlobal = space === 'global' || (space === 'generic' && address < sharedStart);
    if (isGlobal) {
      const own = this.#sectors.get(ordinal) ?? new Set();
      this.#sectors.set(ordinal, own);
      const last = Math.floor((address + bytes - 1) / sectorBytes);
      for (let sector = Math.floor(address / sectorBytes); sector <= last; sector++) own.add(sector);
    }
    if (operation !== 'atomic' || !(isShared || isGlobal)) return;
    const key = `${instruction} ${isShared ? ordinal : ''} ${address}`;
    const known = this.#updates.get(key) ?? { updates: 0, blocks: new Set(), instruction, isShared };
    this.#updates.set(key, known);
    known.updates++;
    known.blocks.add(ordinal);
  }

  /** Number of distinct sectors touched by each block, by the number of the block among those that ran. */
  get neededSectors(): ReadonlyMap<number, number> {
    return new Map([...this.#sectors].map(([block, { size }]) => [block, size]));
  }

  /** The address that one atomic updates most often; null without atomics. */
  get contention(): Contention | null {
    let most: Updates | null = null;
    for (const one of this.#updates.values()) if (!most || one.updates > most.updates) most = one;
    return most && { ...most, blocks: most.blocks.size };
  }
}
