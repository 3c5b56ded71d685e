/** Costs of a whole launch at the reference arguments. */
import { issuedPerCycle } from '../../../device/architecture.ts';
import { type Expression, add, evaluate, scale } from '../../../cost/expressions/expression.ts';
import type { BlockCost, KernelBounds } from '../../../cost/kernel-cost.ts';
import { boundTable, byMetric, type Count, counts, type SummedMetric, summedMetrics } from '../../../cost/model/metrics.ts';
import type { LaunchTotals } from '../../../report-model/cost-report.ts';

const sectorBytes = 32;

/**
 * Upper bounds on the totals of a launch: all warps of a block, times the blocks. A block takes at most work / P + span
 * cycles on a multiprocessor that issues P instructions in each (Muller and Hoffmann, 2021, theorem 2).
 * @param blocks of the grid
 * @param valueOf values of names
 */
export function launchTotals(
  { span }: KernelBounds,
  { warps, totals }: BlockCost,
  blocks: number,
  valueOf: (name: string) => bigint | undefined,
): LaunchTotals {
  const value = (bound: Expression | null): number | null => {
    const found = bound && evaluate(bound, valueOf);
    return found && Number(found.top) / Number(found.bottom);
  };
  const times = (amount: number | null, by: number): number | null => (amount === null ? null : amount * by);
  const of = (count: Count): number | null => times(value(totals[count]), blocks);
  const ofBlock = (metric: SummedMetric): number | null => {
    const parts = counts.flatMap((count) => {
      const weight = boundTable[metric].weights[count];
      return weight === undefined ? [] : [totals[count] && scale(totals[count], weight)];
    });
    return parts.includes(null) ? null : value(add(...(parts as Expression[])));
  };
  const blockWork = ofBlock('work');
  const [bytes, operations, longest] = [times(of('sectors'), sectorBytes), of('operations'), value(span.bound)];
  return {
    blocks,
    warps: warps * blocks,
    ...byMetric(summedMetrics, (metric) => times(ofBlock(metric), blocks)),
    bytes,
    leastBytes: times(of('leastSectors'), sectorBytes),
    operations,
    intensity: bytes === null || bytes === 0 || operations === null ? null : operations / bytes,
    blockCycles: blockWork === null || longest === null ? null : blockWork / issuedPerCycle + longest,
  };
}
