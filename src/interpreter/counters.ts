/**
 * Counts the costs of a launch by warp: instructions, sectors of global memory, bank conflicts of shared memory,
 * divergent branches. The lanes of a warp run in lockstep: of the ready lanes those at the first block execute
 * together, in an order of the basic blocks in which every block comes after its predecessors, and a loop is
 * contiguous, with its header last. So diverged lanes wait for each other at the postdominator of the branch, as on
 * hardware with a reconvergence stack, even if that begins the next iteration.
 */
import type { Dim3 } from '../base/dim3.ts';
import { localWindow, sharedWindow } from '../isa/model/address-window.ts';
import type { BlockId, Instruction, Kernel, LoopId, Terminator } from '../ir/form/kernel.ts';
import type { RunObserver } from './core/observer.ts';
import type { MemoryAccess } from './core/program.ts';
import type { WatchedProgram } from './core/program.ts';
import type { Thread } from './core/thread.ts';

/** Counts of warps, unless stated otherwise. */
export interface Counts {
  /** Instructions executed by a warp, for one or more of its lanes. */
  readonly steps: number;
  /** Instructions executed, summed over lanes. */
  readonly threadSteps: number;
  /** Accesses to global memory, and the 32-byte segments that they touch. */
  readonly globalAccesses: number;
  readonly sectors: number;
  /** Minimum number of segments that could contain the accessed bytes of the lanes, if they were contiguous. */
  readonly leastSectors: number;
  /** Extra phases of atomics on global memory, because lanes update the same word. */
  readonly atomicTurns: number;
  /** Accesses to shared memory, and the extra turns that they take because lanes need other words of one bank. */
  readonly sharedAccesses: number;
  readonly conflicts: number;
  /** Conditional branches, and the divergent ones among them. */
  readonly branches: number;
  readonly divergentBranches: number;
}

export interface WarpCounts extends Counts {
  readonly block: Dim3;
  /** Number of the warp in its block. */
  readonly warp: number;
}

/** Counts of one instruction or terminator. */
interface PlacedCounts {
  readonly place: Instruction | Terminator;
  readonly counts: Counts;
}

type Counting = { -readonly [Name in keyof Counts]: Counts[Name] };

/** Counts of zero. */
export function noCounts(): Counting {
  return {
    steps: 0,
    threadSteps: 0,
    globalAccesses: 0,
    sectors: 0,
    leastSectors: 0,
    atomicTurns: 0,
    sharedAccesses: 0,
    conflicts: 0,
    branches: 0,
    divergentBranches: 0,
  };
}

/** Adds counts to a sum. */
export function addCounts(sum: Counting, counts: Counts): void {
  for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
}

const sectorBytes = 32;
const banks = 32;
const wordBytes = 4;
/** Bytes of shared memory accessed by a warp in one phase without conflicts. */
const turnBytes = banks * wordBytes;

const sharedStart = Number(sharedWindow);
const localStart = Number(localWindow);

/** Time slice of a warp in segments. */
const turn = 1 << 14;
/**
 * Segments after which lanes that wait for the foremost lanes are scheduled, since the foremost lanes may wait for
 * them.
 */
const patience = 1 << 11;
/** Waiting time, as a fraction of a segment, for a segment without accesses to shared state. */
const unasking = 1 / 512;

/** Number of 32-byte segments that the accesses of lanes touch together. */
export function sectorsOf(addresses: readonly number[], bytes: number): number {
  const sectors = new Set<number>();
  for (const address of addresses) {
    const last = Math.floor((address + bytes - 1) / sectorBytes);
    for (let sector = Math.floor(address / sectorBytes); sector <= last; sector++) sectors.add(sector);
  }
  return sectors.size;
}

/**
 * The extra phases of an access to shared memory: in each phase a bank delivers one word, to all lanes that request it.
 * Accesses of 8 and 16 bytes are done by half warps and quarter warps.
 * @param lanes parallel to `offsets`, which are in bytes
 * @param bytes of one lane
 * @param atomic updates of one word are serialized, too
 */
export function conflictsOf(lanes: readonly number[], offsets: readonly number[], bytes: number, atomic: boolean): number {
  const lanesOfPhase = turnBytes / Math.max(bytes, wordBytes);
  let conflicts = 0;
  for (let phase = 0; phase * lanesOfPhase < 32; phase++) {
    const turns = new Array<number>(banks).fill(0);
    const seen = new Set<number>();
    for (const [index, lane] of lanes.entries()) {
      if (Math.floor(lane / lanesOfPhase) !== phase) continue;
      const last = Math.floor((offsets[index]! + bytes - 1) / wordBytes);
      for (let word = Math.floor(offsets[index]! / wordBytes); word <= last; word++) {
        if (seen.has(word) && !atomic) continue;
        seen.add(word);
        turns[word % banks]!++;
      }
    }
    conflicts += Math.max(0, Math.max(...turns) - 1);
  }
  return conflicts;
}

/**
 * The blocks of a kernel in an order in which each comes after its predecessors, except that the header of a loop is
 * its last block: lanes that begin the next iteration wait for those still in this one. The blocks of a loop are
 * contiguous.
 */
export function convergenceOrder(kernel: Kernel): readonly BlockId[] {
  const order: BlockId[] = [];
  /** Orders a loop, or the kernel. Its items are its own blocks, and for each inner loop the header. */
  const place = (loop: LoopId | null): void => {
    const partOf = (block: BlockId): BlockId | null => {
      let inner: LoopId | null = null;
      let at = kernel.loopOf[block] ?? null;
      while (at !== loop) {
        if (at === null) return null;
        inner = at;
        at = kernel.loops[at]!.parent;
      }
      return inner === null ? block : kernel.loops[inner]!.header;
    };
    const header = loop === null ? null : kernel.loops[loop]!.header;
    const waiting = new Map<BlockId, Set<BlockId>>();
    for (const { id, predecessors } of kernel.blocks) {
      const part = partOf(id);
      if (part === null) continue;
      const before = waiting.get(part) ?? new Set();
      waiting.set(part, before);
      if (id === header) continue;
      for (const predecessor of predecessors) {
        const source = partOf(predecessor);
        if (source !== null && source !== part) before.add(source);
      }
    }
    const dependents = new Map<BlockId, BlockId[]>();
    for (const part of waiting.keys()) dependents.set(part, []);
    for (const [part, before] of waiting) for (const source of before) dependents.get(source)!.push(part);
    const inners = new Map(kernel.loops.flatMap(({ id, parent, header: at }) => (parent === loop ? [[at, id]] : [])));
    // The keys are in reverse postorder, and deleted keys are not visited again.
    const parts = waiting.keys();
    for (let next = parts.next(); !next.done;) {
      // Irreducible control flow has no such order: the first item in reverse postorder continues.
      const isReady = waiting.get(next.value)!.size === 0;
      const part = isReady ? next.value : (firstReady(waiting) ?? next.value);
      waiting.delete(part);
      for (const after of dependents.get(part)!) waiting.get(after)?.delete(part);
      const inner = inners.get(part);
      if (inner !== undefined) place(inner);
      else if (part !== header) order.push(part);
      if (part === next.value) next = parts.next();
    }
    if (header !== null) order.push(header);
  };
  place(null);
  return order;
}

/** The first item without unfinished predecessors. */
function firstReady(waiting: ReadonlyMap<BlockId, ReadonlySet<BlockId>>): BlockId | undefined {
  for (const [part, before] of waiting) if (before.size === 0) return part;
  return undefined;
}

/** Accesses of the lanes of a warp by one instruction. */
interface Together {
  readonly access: MemoryAccess;
  readonly lanes: number[];
  readonly addresses: number[];
}

/** Observes a run and counts. */
export class LaunchCounters implements RunObserver {
  readonly singly = false;
  #program!: WatchedProgram;
  #segments: Counting[] = [];
  #accesses: Counting[] = [];
  readonly #warps = new Map<number, Counting & { readonly block: Dim3; readonly warp: number }>();
  readonly #together = new Map<number, Together>();
  /** By segment: its position in the order in which lanes wait for each other. */
  #rank: readonly number[] = [];
  /** By segment: waiting time that its execution adds for other lanes. */
  #waiting: readonly number[] = [];

  start(program: WatchedProgram): void {
    this.#program = program;
    const places = new Map(convergenceOrder(program.kernel).map((block, index) => [block, index]));
    const count = program.segments.length;
    this.#rank = program.segments.map(({ block, index }) => places.get(block)! * count + index);
    this.#segments = program.segments.map(noCounts);
    this.#accesses = program.accesses.map(noCounts);
    const asking = new Set(
      program.accesses.flatMap(({ operation, semantics, instruction }) =>
        operation === 'atomic' || (operation === 'read' && semantics !== 'weak') ? [instruction] : [],
      ),
    );
    this.#waiting = program.segments.map(({ instructions }) => (instructions.some(({ id }) => asking.has(id)) ? 1 : unasking));
  }

  runWarp(warp: readonly Thread[], step: (thread: Thread) => void): void {
    let waited = 0;
    const rank = this.#rank;
    let latest = -1;
    for (let left = turn; left > 0; left--) {
      const ready = warp.filter(({ status }) => status === 'ready');
      if (ready.length === 0) return;
      const inTurn = waited % (2 * patience) >= patience;
      const higher = inTurn ? ready.filter(({ pc }) => rank[pc]! > latest) : [];
      latest = Math.min(...(higher.length > 0 ? higher : ready).map(({ pc }) => rank[pc]!));
      const group = ready.filter(({ pc }) => rank[pc] === latest);
      waited = group.length === ready.length ? 0 : waited + this.#waiting[group[0]!.pc]!;
      this.#runTogether(group, group[0]!.pc, step);
    }
  }

  accessed(thread: Thread, access: MemoryAccess, address: number): void {
    let together = this.#together.get(access.index);
    if (!together) {
      together = { access, lanes: [], addresses: [] };
      this.#together.set(access.index, together);
    }
    together.lanes.push(thread.lane);
    together.addresses.push(address);
  }

  /** Runs the lanes that are at one segment through it. */
  #runTogether(group: readonly Thread[], pc: number, step: (thread: Thread) => void): void {
    const segment = this.#segments[pc]!;
    const warp = this.#warpOf(group[0]!);
    const length = this.#program.lengths[pc]!;
    for (const counting of [segment, warp]) {
      counting.steps += length;
      counting.threadSteps += length * group.length;
    }
    try {
      for (const thread of group) step(thread);
    } finally {
      // If a step ends the run, earlier accesses are still counted.
      for (const together of this.#together.values()) this.#count(together, warp);
      this.#together.clear();
    }
    const terminator = this.#program.segments[pc]!.terminator?.kind;
    if (terminator !== 'branch' && terminator !== 'switch') return;
    const isDivergent = group.some((thread) => thread.pc !== group[0]!.pc);
    for (const counting of [segment, warp]) {
      counting.branches++;
      if (isDivergent) counting.divergentBranches++;
    }
  }

  #warpOf(thread: Thread): Counting {
    const { home, warp } = thread;
    const key = home.ordinal * 32 + warp;
    let counting = this.#warps.get(key);
    if (!counting) {
      counting = { ...noCounts(), block: home.position, warp };
      this.#warps.set(key, counting);
    }
    return counting;
  }

  #count({ access, lanes, addresses }: Together, warp: Counting): void {
    const { space, bytes, operation } = access;
    const global: number[] = [];
    const shared: number[] = [];
    const sharedLanes: number[] = [];
    for (const [index, address] of addresses.entries()) {
      if (space === 'shared' || (space === 'generic' && address >= sharedStart && address < localStart)) {
        shared.push(space === 'shared' ? address : address - sharedStart);
        sharedLanes.push(lanes[index]!);
      } else if (space === 'global' || (space === 'generic' && address < sharedStart)) global.push(address);
    }
    for (const counting of [this.#accesses[access.index]!, warp]) {
      if (global.length > 0) {
        const sectors = sectorsOf(global, bytes);
        counting.globalAccesses++;
        counting.sectors += sectors;
        // Lanes with the same address are served by one read of it.
        if (operation === 'atomic') counting.atomicTurns += global.length - new Set(global).size;
        counting.leastSectors += Math.min(sectors, Math.ceil((global.length * bytes) / sectorBytes));
      }
      if (shared.length > 0) {
        counting.sharedAccesses++;
        counting.conflicts += conflictsOf(sharedLanes, shared, bytes, operation === 'atomic');
      }
    }
  }

  /** The counts of each warp that ran, in ascending order of block and warp. */
  get warps(): readonly WarpCounts[] {
    return [...this.#warps.entries()].sort(([a], [b]) => a - b).map(([, counts]) => counts);
  }

  /** The counts of each instruction and terminator that was executed. Their sum is that of the warps. */
  get places(): readonly PlacedCounts[] {
    const places: PlacedCounts[] = [];
    const accesses = new Map<number, Counting>();
    for (const { index, instruction } of this.#program.accesses) {
      const sum = accesses.get(instruction) ?? noCounts();
      addCounts(sum, this.#accesses[index]!);
      accesses.set(instruction, sum);
    }
    for (const { index, instructions, terminator } of this.#program.segments) {
      const { steps, branches, divergentBranches, threadSteps } = this.#segments[index]!;
      if (steps === 0) continue;
      const length = this.#program.lengths[index]!;
      const each = { ...noCounts(), steps: steps / length, threadSteps: threadSteps / length };
      for (const instruction of instructions) {
        const counts = { ...each };
        addCounts(counts, accesses.get(instruction.id) ?? noCounts());
        places.push({ place: instruction, counts });
      }
      if (terminator) places.push({ place: terminator, counts: { ...each, branches, divergentBranches } });
    }
    return places;
  }
}
