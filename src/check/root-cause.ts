/** Which open pairs one missing barrier would order: these are one finding. */
import type { Access } from '../analysis/values/access.ts';
import type { BlockId, Instruction, Kernel } from '../ir/form/kernel.ts';
import type { PairScope } from './obligations/instance.ts';

/** What of a pair of accesses tells its cause. */
interface Pair {
  readonly scope: PairScope;
  readonly first: Pick<Access, 'instruction'>;
  readonly second: Pick<Access, 'instruction'>;
}

/**
 * Groups pairs of one array, so that the pairs of a group have a place in common at which a barrier would separate each of
 * them. Pairs of threads of different blocks are one group: no barrier of the block orders them.
 *
 * Two threads that are at both accesses of a pair within one barrier interval have come there without a barrier in
 * between. Threads of a block pass a barrier together. So what separates the two lies behind the access of the one thread
 * and in front of that of the other.
 *
 * @param isBarrier - whether all threads of the block meet at an instruction
 * @returns the pairs in groups, both in the order in which they come
 */
export function groupByCause<Of extends Pair>(
  kernel: Kernel,
  pairs: readonly Of[],
  isBarrier: (instruction: Instruction) => boolean,
): readonly (readonly [Of, ...Of[]])[] {
  const ways = new BarrierFreeWays(kernel, isBarrier);
  const groups: { readonly scope: PairScope; place: Places | null; readonly members: [Of, ...Of[]] }[] = [];
  for (const pair of pairs) {
    const place = pair.scope === 'grid' ? null : ways.between(pair.first.instruction, pair.second.instruction);
    let joined = false;
    for (const group of groups) {
      if (group.scope !== pair.scope) continue;
      const common = group.place && place ? intersection(group.place, place) : null;
      if (pair.scope === 'block' && (common === null || isEmpty(common))) continue;
      group.place = common;
      group.members.push(pair);
      joined = true;
      break;
    }
    if (!joined) groups.push({ scope: pair.scope, place, members: [pair] });
  }
  return groups.map(({ members }) => members);
}

/** A set of places, a bit each: place `i` is in front of instruction `i` of the kernel, counted over all blocks. */
type Places = Uint32Array;

class BarrierFreeWays {
  private readonly kernel: Kernel;
  private readonly isBarrier: (instruction: Instruction) => boolean;
  /** Number of the first place of each block; a block of n instructions has n + 1 places. */
  private readonly firstPlace: readonly number[];
  private readonly words: number;
  private readonly known = new Map<Instruction, { readonly behind: Places; readonly before: Places }>();
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

  /** The places behind the one access and in front of the other, either way round, that ways without a barrier pass. */
  between(first: Instruction, second: Instruction): Places {
    const [a, b] = [this.of(first), this.of(second)];
    return union(intersection(a.behind, b.before), intersection(b.behind, a.before));
  }

  private of(instruction: Instruction): { readonly behind: Places; readonly before: Places } {
    let ways = this.known.get(instruction);
    if (!ways) {
      ways = { behind: this.walk(instruction, 1), before: this.walk(instruction, -1) };
      this.known.set(instruction, ways);
    }
    return ways;
  }

  private walk(start: Instruction, step: 1 | -1): Places {
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
        places[number >>> 5]! |= 1 << (number & 31);
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

function intersection(a: Places, b: Places): Places {
  return a.map((word, at) => word & b[at]!);
}

function union(a: Places, b: Places): Places {
  return a.map((word, at) => word | b[at]!);
}

function isEmpty(places: Places): boolean {
  return places.every((word) => word === 0);
}
