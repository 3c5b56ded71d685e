/**
 * The accesses that can follow other accesses on some path, and those that can do so without a separator in between.
 */
import { addBit } from '../../base/bit-set.ts';

/** One step of a block: an access, a separator such as a barrier, or both. */
export interface OrderedStep {
  /** The number of the access, from 0; several steps may have the same access. */
  readonly access?: number;
  readonly separates: boolean;
  /**
   * Guard of the step. A path that executes the step executes no step with the negated guard until the register is
   * written.
   */
  readonly guard?: { readonly register: number; readonly negated: boolean };
  /** Predicates written by the step. */
  readonly writes?: readonly number[];
}

export interface OrderedBlock {
  readonly steps: readonly OrderedStep[];
  readonly predecessors: readonly number[];
  /** The predicate of its final branch: to `taken` if true, otherwise to another block. */
  readonly branch?: { readonly register: number; readonly negated: boolean; readonly taken: number };
}

/** By access: the set of accesses that can come before it. */
type Relation = readonly Uint32Array[];

/** Limit on the total size of all sets in words; with more, the result is null. */
const maxWords = 1 << 22;

/**
 * For each access, the accesses that some path executes before it.
 * @param count number of accesses
 * @param stops whether a path ends at a separator
 * @returns null if there are too many
 */
export function earlierAccesses(blocks: readonly OrderedBlock[], count: number, stops: boolean): Relation | null {
  const words = Math.ceil(count / 32);
  if (words * (blocks.length + count) > maxWords) return null;
  /** Accesses that reach the end of each block, for a taken and for an untaken branch. */
  const atEnd = blocks.map(() => ({ taken: new Uint32Array(words), passed: new Uint32Array(words) }));
  const result = Array.from({ length: count }, () => new Uint32Array(words));
  const incoming = new Uint32Array(words);
  /** The accesses that reach the end of a block. If `records`, stores the accesses before each access in the block. */
  const walk = (block: OrderedBlock, index: number, records: boolean): (typeof atEnd)[number] => {
    incoming.fill(0);
    for (const predecessor of block.predecessors) {
      const isTaken = blocks[predecessor]!.branch?.taken === index;
      unite(incoming, atEnd[predecessor]![isTaken ? 'taken' : 'passed']);
    }
    const outside = incoming.slice();
    /** Accesses of this block, each with the guard that still determines whether it was executed. */
    let own: { readonly access: number; guard: OrderedStep['guard'] }[] = [];
    for (const { access, separates, guard, writes } of block.steps) {
      if (separates && stops) {
        outside.fill(0);
        own = [];
      }
      if (access !== undefined) {
        if (records) {
          unite(result[access]!, outside);
          for (const one of own) if (!excludes(one.guard, guard)) addBit(result[access]!, one.access);
        }
        own.push({ access, guard });
      }
      if (writes && writes.length > 0) {
        for (const one of own) if (one.guard && writes.includes(one.guard.register)) one.guard = undefined;
      }
    }
    const { branch } = block;
    const passed = outside.slice();
    for (const { access, guard } of own) {
      if (!branch || !excludes(guard, branch)) addBit(outside, access);
      if (!branch || !excludes(guard, { register: branch.register, negated: !branch.negated })) addBit(passed, access);
    }
    return { taken: outside, passed };
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const [index, block] of blocks.entries()) {
      const { taken, passed } = walk(block, index, false);
      if (unite(atEnd[index]!.taken, taken)) changed = true;
      if (unite(atEnd[index]!.passed, passed)) changed = true;
    }
  }
  for (const [index, block] of blocks.entries()) walk(block, index, true);
  return result;
}

function excludes(one: OrderedStep['guard'], other: OrderedStep['guard']): boolean {
  return one !== undefined && other !== undefined && one.register === other.register && one.negated !== other.negated;
}

function unite(target: Uint32Array, source: Uint32Array): boolean {
  let changed = false;
  for (let word = 0; word < target.length; word++) {
    const united = (target[word]! | source[word]!) >>> 0;
    if (united !== target[word]) {
      target[word] = united;
      changed = true;
    }
  }
  return changed;
}
