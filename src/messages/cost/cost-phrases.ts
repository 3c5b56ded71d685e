import { boundTable, summedMetrics } from '../../cost/model/metrics.ts';
import type { LaunchTotals, ResourcesReport } from '../../report-model/cost-report.ts';
import { percent } from './cost-messages.ts';
import { count, sharedMemory } from '../text/code-text.ts';

/** `40 registers, 4096 bytes of shared memory (1024 dynamic), occupancy 75 % (limited by registers)`. */
export function resourcesPhrase(resources: ResourcesReport): string {
  const { registers, sharedBytes, dynamicSharedBytes, localBytes, spillStoreBytes, spillLoadBytes, occupancy, limiter } = resources;
  const isPartial = dynamicSharedBytes === null;
  const dynamic = isPartial
    ? ' plus the dynamic shared memory of the launch, which is unknown'
    : dynamicSharedBytes > 0
      ? ` (${dynamicSharedBytes} dynamic)`
      : '';
  const parts = [
    count(registers, 'register'),
    `${sharedMemory(sharedBytes)}${dynamic}`,
    ...(localBytes > 0 ? [`${count(localBytes, 'byte')} of stack`] : []),
    ...(spillStoreBytes + spillLoadBytes > 0
      ? [`${count(spillStoreBytes, 'byte')} of spill stores, ${spillLoadBytes} of spill loads`]
      : []),
    ...(occupancy === undefined ? [] : [occupancyText(occupancy, limiter, isPartial ? 'at most ' : '')]),
  ];
  return parts.join(', ');
}

function occupancyText(occupancy: number, limiter: string | undefined, atMost: string): string {
  const share = `occupancy ${atMost}${percent(occupancy)}`;
  if (occupancy === 0) return `${share}: the launch is refused (${limiter})`;
  return limiter === undefined || limiter === 'none' ? share : `${share} (limited by ${limiter})`;
}

/**
 * The cost of a whole launch, in a line: `10 blocks: at most 640 sectors, 0 bank conflicts, 20 divergent branches; …`.
 */
export function totalsPhrase(totals: LaunchTotals): string {
  const { blocks, bytes, leastBytes, intensity, blockCycles } = totals;
  const counted = summedMetrics.flatMap((metric) => {
    const amount = totals[metric];
    const words = boundTable[metric].ofLaunch;
    return amount === null || words === null ? [] : [count(amount, ...words)];
  });
  const parts = [
    ...(counted.length === 0 ? [] : [`at most ${counted.join(', ')}`]),
    ...(bytes === null || bytes === 0 || leastBytes === null
      ? []
      : [`${bytes} bytes of global memory transferred${leastBytes < bytes ? ` (${leastBytes} if the accesses were coalesced)` : ''}`]),
    ...(intensity === null || intensity < 0.005
      ? []
      : [`${count(Math.round(intensity * 100) / 100, 'floating-point operation')} per byte`]),
    ...(blockCycles === null ? [] : [`${Math.ceil(blockCycles)} cycles per block`]),
  ];
  return `${count(blocks, 'block')}: ${parts.length === 0 ? 'no bound on the whole launch' : parts.join('; ')}`;
}
