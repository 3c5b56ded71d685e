/** Groups races that one missing order would separate. Each group is one finding. */
import type { Access } from '../analysis/values/access.ts';
import { connected } from '../base/connected.ts';
import { isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { BlockId, Instruction, Kernel } from '../ir/form/kernel.ts';
import type { PairScope } from './obligations/instance.ts';

/** The properties of a pair of accesses that determine its cause. */
interface Pair {
  readonly scope: PairScope;
  readonly first: Pick<Access, 'instruction' | 'operation'>;
  readonly second: Pick<Access, 'instruction' | 'operation'>;
}

interface Group<Of> {
  readonly scope: PairScope;
  place: Places | null;
  readonly members: [Of, ...Of[]];
}

/**
 * Groups pairs of one array by the missing order between their accesses. Pairs have one cause if they have a common
 * place at which a barrier would separate each of them.
 *
 * Two threads that reach both accesses of a pair within one barrier interval do so without a barrier in between.
 * Threads of a block pass a barrier together. So a barrier that separates the two is after the access of one thread and
 * before that of the other. Pairs of threads of different blocks are separated by barriers of the grid. In a kernel
 * without these barriers such pairs are one cause, as nothing orders blocks.
 *
 * If two threads store to one element, the bug is not a missing barrier between one store and a load: the threads share
 * an element that should be private to one of them. So races with either store have that cause, too.
 *
 * @param isBarrier - whether all threads of the block synchronise at an instruction
 * @returns the pairs in groups; groups and pairs are in the order of `pairs`
 */
export function groupByCause<Of extends Pair>(
  kernel: Kernel,
  pairs: readonly Of[],
  isBarrier: (instruction: Instruction) => boolean,
): readonly (readonly [Of, ...Of[]])[] {
  const hasGridBarrier = kernel.blocks.some(({ instructions }) => instructions.some(isGridBarrier));
  const inBlock = new BarrierFreeWays(kernel, isBarrier);
  const inGrid = hasGridBarrier ? new BarrierFreeWays(kernel, isGridBarrier) : null;
  const groups: Group<Of>[] = [];
  for (const pair of pairs) {
    const ways = pair.scope === 'grid' ? inGrid : inBlock;
    const place = ways?.between(pair.first.instruction, pair.second.instruction) ?? null;
    let joined = false;
    for (const group of groups) {
      if (group.scope !== pair.scope) continue;
      const common = group.place && place ? intersection(group.place, place) : null;
      if (common && isEmpty(common)) continue;
      group.place = common;
      group.members.push(pair);
      joined = true;
      break;
    }
    if (!joined) groups.push({ scope: pair.scope, place, members: [pair] });
  }
  const numbers = new Map(groups.flatMap(({ members }, number) => members.map((pair) => [pair, `${number}`])));
  const storesOf = sharedStores(pairs);
  return connected(pairs, (pair) => [numbers.get(pair)!, ...storesOf(pair)]);
}

/** For each pair, the names of those of its stores that race with a store. */
function sharedStores<Of extends Pair>(pairs: readonly Of[]): (pair: Of) => readonly string[] {
  const storesOf = ({ scope, first, second }: Of): string[] =>
    [first, second].flatMap(({ instruction, operation }) => (operation === 'write' ? [`${scope} ${instruction.id}`] : []));
  const shared = new Set(pairs.map(storesOf).flatMap((names) => (names.length > 1 ? names : [])));
  return (pair) => storesOf(pair).filter((name) => shared.has(name));
}
/** A set of places as a bit mask: place `i` precedes instruction `i` of the kernel, counted over all basic blocks. */
type Places = Uint32Array;

class BarrierFreeWays {
  private readonly kernel: Kernel;
  private readonly isBarrier: (instruction: Instruction) => boolean;
  /** Index of the first place of each basic block; a block of n instructions has n + 1 places. */
  private readonly firstPlace: readonly number[];
  private readonly words: number;
  private readonly known = new Map<Instruction, { readonly after: Places; readonly before: Places }>();
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
  between(first: Instruction, second: Instruction): Places {
    const [a, b] = [this.of(first), this.of(second)];
    return union(intersection(a.after, b.before), intersection(b.after, a.before));
  }

  private of(instruction: Instruction): { readonly after: Places; readonly before: Places } {
    let ways = this.known.get(instruction);
    if (!ways) {
      ways = { after: this.walk(instruction, 1), before: this.walk(instruction, -1) };
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
