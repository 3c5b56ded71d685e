/** The limits of a comparison of costs, in words. */
import type { Dim3 } from '../../base/dim3.ts';
import { type BoundMetric, boundTable } from '../../cost/model/metrics.ts';
import { listed } from '../text/code-text.ts';

/**
 * Note on a launch with unspecified dimensions.
 * @param blocks block dimensions at which a kernel with unspecified block was compared
 * @param isGridOpen whether the number of blocks is unknown
 * @returns a sentence without its full stop; null if all is known
 */
export function someLaunchText(blocks: readonly Dim3[], isGridOpen: boolean): string | null {
  const shapes = [...new Set(blocks.map((block) => [...block].join(' x ').replace(/( x 1)+$/, '')))];
  const parts = [
    ...(shapes.length > 0 ? [`the block is not known: costs are compared at ${listed(shapes)} threads`] : []),
    ...(isGridOpen ? ['the grid is not known: compared is what an access and a branch take, not how much the launch does'] : []),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

/**
 * Note on launches that are not reported.
 * @param compared number of compared launches, at least one
 * @param all number of launches of the head
 * @param most maximum number of compared launches
 */
export function fewerLaunchesText(compared: number, all: number, most: number): string {
  return `of ${all} launches ${compared} ${compared === 1 ? 'is' : 'are'} compared: Selvage compares at most ${most}, and only launches that both sides have and that a run can count`;
}

/** Note on a comparison that the time limit ended early. */
export function cutShortText(compared: number, all: number): string {
  return `the time limit ended the runs that compare it: of ${all} ${all === 1 ? 'launch' : 'launches'} ${compared} ${compared === 1 ? 'is' : 'are'} compared`;
}

/** Note on metrics that could not be compared. */
export function notBoundText(metrics: readonly BoundMetric[], reason: string): string {
  return `${listed(metrics.map((metric) => boundTable[metric].noun))} are not compared: no launch could be counted, and ${reason}`;
}
