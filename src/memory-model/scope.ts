/** Scopes of operations, and the threads that they include (PTX ISA 9.0, section 8.5: `.cta .cluster .gpu .sys`). */
import type { Scope } from '../isa/model/operation.ts';

/** The extent of a scope: the block (0), the cluster (1), or the whole launch (2). */
export type Reach = 0 | 1 | 2;

export const reachOf: Readonly<Record<Scope, Reach>> = { cta: 0, cluster: 1, gpu: 2, sys: 2 };

/** Whether a scope includes the threads of all blocks of the grid. */
export function reachesGrid(scope: Scope | null): boolean {
  return scope === 'gpu' || scope === 'sys';
}

/** A thread block of a run, and its cluster. */
export interface BlockInCluster {
  readonly ordinal: number;
  readonly cluster: number;
}

/** Whether an operation with this scope in one block includes the threads of the other. */
export function reachesOver(reach: number, a: BlockInCluster, b: BlockInCluster): boolean {
  return reach === 2 || a === b || (reach === 1 && a.cluster === b.cluster);
}
