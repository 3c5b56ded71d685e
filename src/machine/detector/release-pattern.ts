/** What releases hand over to acquires, by the scopes that let them meet. */
import type { BlockInCluster, Reach } from '../../memory-model/scope.ts';
import { type Knowledge, both, nothing } from './knowledge.ts';

/** What operations with scopes hand over, by which of the operations that take it they are morally strong with. */
export class ReleasedKnowledge {
  #wide = nothing;
  readonly #clusters = new Map<number, Knowledge>();
  readonly #blocks = new Map<number, Knowledge>();

  add(knowledge: Knowledge, reach: Reach, block: BlockInCluster): void {
    if (knowledge === nothing) return;
    this.#blocks.set(block.ordinal, both(this.#blocks.get(block.ordinal) ?? nothing, knowledge));
    if (reach >= 1) {
      this.#clusters.set(block.cluster, both(this.#clusters.get(block.cluster) ?? nothing, knowledge));
    }
    if (reach === 2) this.#wide = both(this.#wide, knowledge);
  }

  /** By reach, what an operation of that reach by a thread of the block takes in addition to narrower ones. */
  forBlock(block: BlockInCluster): ByReach {
    return [this.#blocks.get(block.ordinal) ?? nothing, this.#clusters.get(block.cluster) ?? nothing, this.#wide];
  }

  take(reach: Reach, block: BlockInCluster): Knowledge {
    return upTo(this.forBlock(block), reach);
  }
}

/** By reach: what an operation of that reach takes in addition to narrower ones. */
export type ByReach = readonly [Knowledge, Knowledge, Knowledge];

export const nothingByReach: ByReach = [nothing, nothing, nothing];

/** What an operation of a reach takes. */
export function upTo(knowledge: ByReach, reach: Reach): Knowledge {
  let all = knowledge[0];
  for (let at = 1; at <= reach; at++) all = both(all, knowledge[at]!);
  return all;
}

/** What either hands over. */
export function joinByReach(a: ByReach, b: ByReach): ByReach {
  return [both(a[0], b[0]), both(a[1], b[1]), both(a[2], b[2])];
}
