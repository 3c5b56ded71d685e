/** The costs of one warp, as the paper on RaCUDA (Muller and Hoffmann, 2021) counts them. */
import { latency } from '../../device/architecture.ts';

/**
 * - `sectors`: segments of 32 bytes that accesses to global memory touch;
 * - `conflicts`: extra turns of accesses to shared memory, of 32 banks of 4 bytes;
 * - `divwarps`: branches on which the warp splits;
 * - `steps`: instructions that the warp executes, branches included.
 */
export type CountedMetric = 'sectors' | 'conflicts' | 'divwarps' | 'steps';

/**
 * - `work`: turns in which the warp keeps a unit busy: its steps, the extra turns, and the sectors;
 * - `span`: its work, and the latency of each access, one after the other.
 */
export type Metric = CountedMetric | 'work' | 'span';

export const metrics: readonly Metric[] = ['sectors', 'conflicts', 'divwarps', 'steps', 'work', 'span'];

/**
 * What is counted to make up the metrics and the totals. `leastSectors`: those that the bytes would fill which lanes
 * access; `operations`: of floating-point arithmetic, by all lanes.
 */
export type Count = CountedMetric | 'globalAccesses' | 'sharedAccesses' | 'leastSectors' | 'operations';

export const counts: readonly Count[] = [
  'sectors',
  'conflicts',
  'divwarps',
  'steps',
  'globalAccesses',
  'sharedAccesses',
  'leastSectors',
  'operations',
];

/** How often each count goes into a metric. */
export const weights: Readonly<Record<Metric, Readonly<Partial<Record<Count, number>>>>> = {
  sectors: { sectors: 1 },
  conflicts: { conflicts: 1 },
  divwarps: { divwarps: 1 },
  steps: { steps: 1 },
  work: { steps: 1, conflicts: 1, sectors: 1 },
  span: {
    steps: 1,
    conflicts: 1,
    sectors: 1,
    globalAccesses: latency.global,
    sharedAccesses: latency.shared,
  },
};
