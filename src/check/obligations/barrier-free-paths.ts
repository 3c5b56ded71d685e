/** PlaceMask at which a barrier would separate two accesses. */
import { addBit, hasBit } from '../../base/bit-set.ts';
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';

/** A set of places as a bit mask: place `i` precedes instruction `i` of the kernel, counted over all basic blocks. */
export type PlaceMask = Uint32Array;

/** The places on paths without a barrier between two instructions. */
export class BarrierFreePaths {
  private readonly kernel: Kernel;
  private readonly isBarrier: (instruction: Instruction) => boolean;
  /** Index of the first place of each basic block; a block of n instructions has n + 1 places. */
  private readonly firstPlace: readonly number[];
  private readonly words: number;
  private readonly known = new Map<Instruction, { readonly after: PlaceMask; readonly before: PlaceMask }>();
  private readonly homes = new Map<Instruction, { readonly block: BlockId; readonly at: number }>();

  constructor(kernel: Kernel, isBarrier: (instruction: Instruction) => boolean) {
    this.kernel = kernel;
    this.isBarrier = isBarrier;
    let count = 0;
    this.firstPlace = kernel.blocks.map(({ id, instructions }) => {
      for (const [at, instruction] of instructions.entries()) this.homes.set(instruction, { block: id, at });
      const first = count;
      count += instructions.length + 1;
      return first;
    });
    this.words = Math.ceil(count / 32);
  }

  /** The places on paths without a barrier from one access to the other, in either direction. */
  between(first: Instruction, second: Instruction): PlaceMask {
    const [a, b] = [this.of(first), this.of(second)];
    return union(intersection(a.after, b.before), intersection(b.after, a.before));
  }

  /** The basic blocks with a place on such a path, ascending. */
  blocksBetween(first: Instruction, second: Instruction): readonly BlockId[] {
    const places = this.between(first, second);
    const isIn = (place: number): boolean => hasBit(places, place);
    return this.kernel.blocks.flatMap(({ id, instructions }) =>
      Array.from({ length: instructions.length + 1 }, (_, at) => this.firstPlace[id]! + at).some(isIn) ? [id] : [],
    );
  }

  private of(instruction: Instruction): { readonly after: PlaceMask; readonly before: PlaceMask } {
    let paths = this.known.get(instruction);
    if (!paths) {
      paths = { after: this.walk(instruction, 1), before: this.walk(instruction, -1) };
      this.known.set(instruction, paths);
    }
    return paths;
  }

  private walk(start: Instruction, step: 1 | -1): PlaceMask {
    const places = new Uint32Array(this.words);
    const home = this.homes.get(start);
    if (!home) return places;
    const entered = new Set<BlockId>();
    const work = [{ block: home.block, place: step === 1 ? home.at + 1 : home.at }];
    for (let item = work.pop(); item; item = work.pop()) {
      const { instructions, successors, predecessors } = this.kernel.blocks[item.block]!;
      let { place } = item;
      let isOpen = true;
      for (; isOpen && place >= 0 && place <= instructions.length; place += step) {
        const number = this.firstPlace[item.block]! + place;
        addBit(places, number);
        const next = instructions[step === 1 ? place : place - 1];
        if (next && this.isBarrier(next)) isOpen = false;
      }
      if (!isOpen) continue;
      for (const other of step === 1 ? successors : predecessors) {
        if (entered.has(other)) continue;
        entered.add(other);
        work.push({ block: other, place: step === 1 ? 0 : this.kernel.blocks[other]!.instructions.length });
      }
    }
    return places;
  }
}

/** The places of both. */
export function intersection(a: PlaceMask, b: PlaceMask): PlaceMask {
  return a.map((word, at) => word & b[at]!);
}

function union(a: PlaceMask, b: PlaceMask): PlaceMask {
  return a.map((word, at) => word | b[at]!);
}

/** Whether the mask is empty. */
export function isEmpty(places: PlaceMask): boolean {
  return places.every((word) => word === 0);
}
