/** Scopes of operations, and which of them reach each other (PTX ISA 9.0, section 8.5: `.cta .cluster .gpu .sys`). */
import type { Scope } from '../isa/model/operation.ts';

/** How far a scope reaches: 0 the block, 1 the cluster, 2 all of the launch. */
export type Reach = 0 | 1 | 2;

export const reachOf: Readonly<Record<Scope, Reach>> = { cta: 0, cluster: 1, gpu: 2, sys: 2 };

/** Whether a scope includes the threads of all blocks of the grid. */
export function reachesGrid(scope: Scope | null): boolean {
  return scope === 'gpu' || scope === 'sys';
}

/** Which block of a run it is, and in which cluster. */
export interface BlockInCluster {
  readonly ordinal: number;
  readonly cluster: number;
}

/** Whether operations of this scope include threads of both blocks. */
export function reachesOver(reach: number, a: BlockInCluster, b: BlockInCluster): boolean {
  return reach === 2 || a === b || (reach === 1 && a.cluster === b.cluster);
}
