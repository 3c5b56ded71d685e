/** Clocks that releases publish to acquires, by the scopes in which they synchronize. */
import type { BlockInCluster, Reach } from '../../memory-model/scope.ts';
import { type OrderClocks, both, nothing } from './order-clocks.ts';

/**
 * Clocks published by operations with scopes, by the acquiring operations that are morally strong with them. If no
 * operation of the kernel has a narrower reach than `narrowest`, nothing is stored for narrower ones.
 */
export class ReleasedKnowledge {
  /** Clocks acquired by operations with the scope of the whole launch. */
  wide = nothing;
  #clusters: Map<number, OrderClocks> | null = null;
  #blocks: Map<number, OrderClocks> | null = null;
  /** The clocks added last to `wide` only. */
  #last = nothing;

  add(knowledge: OrderClocks, reach: Reach, block: BlockInCluster, narrowest: Reach): void {
    if (knowledge === nothing) return;
    if (narrowest === 2) {
      this.addWide(knowledge);
      return;
    }
    if (narrowest === 0) {
      const blocks = (this.#blocks ??= new Map<number, OrderClocks>());
      blocks.set(block.ordinal, both(blocks.get(block.ordinal) ?? nothing, knowledge));
    }
    if (reach >= 1) {
      const clusters = (this.#clusters ??= new Map<number, OrderClocks>());
      clusters.set(block.cluster, both(clusters.get(block.cluster) ?? nothing, knowledge));
    }
    if (reach === 2) this.wide = both(this.wide, knowledge);
  }

  /** {@link add} if all operations reach the whole launch. */
  addWide(knowledge: OrderClocks): void {
    if (knowledge === this.#last) return;
    this.wide = both(this.wide, knowledge);
    this.#last = knowledge;
  }

  /**
   * The clocks that an operation acquires at a given reach, in addition to those at narrower reaches, by a thread of
   * the block.
   */
  at(reach: Reach, block: BlockInCluster): OrderClocks {
    if (reach === 2) return this.wide;
    if (reach === 1) return this.#clusters?.get(block.cluster) ?? nothing;
    return this.#blocks?.get(block.ordinal) ?? nothing;
  }

  /** The clocks that an operation of a reach by a thread of the block acquires, including those at narrower reaches. */
  take(reach: Reach, block: BlockInCluster, narrowest: Reach): OrderClocks {
    let all = nothing;
    for (let at = narrowest; at <= reach; at++) all = both(all, this.at(at, block));
    return all;
  }

  /** Removes all published clocks. */
  clear(): void {
    this.wide = nothing;
    this.#last = nothing;
    this.#clusters = null;
    this.#blocks = null;
  }
}

/** By reach: the clocks that an operation of that reach acquires in addition to narrower ones. */
export type ByReach = readonly [OrderClocks, OrderClocks, OrderClocks];

export const nothingByReach: ByReach = [nothing, nothing, nothing];

/** The clocks that an operation of a reach acquires, including those at narrower reaches. */
export function upTo(knowledge: ByReach, reach: Reach): OrderClocks {
  let all = knowledge[0];
  for (let at = 1; at <= reach; at++) all = both(all, knowledge[at]!);
  return all;
}

/** The clocks published by either of two releases. */
export function joinByReach(a: ByReach, b: ByReach): ByReach {
  return [both(a[0], b[0]), both(a[1], b[1]), both(a[2], b[2])];
}
