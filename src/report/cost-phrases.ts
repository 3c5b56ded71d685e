import type { ResourcesReport } from '../driver/cost-report.ts';
import { percent } from '../driver/cost-words.ts';
import { count } from './phrases.ts';

/** `40 registers, 4096 bytes shared, occupancy 75 % (limited by registers)`. */
export function resourcesPhrase(resources: ResourcesReport): string {
  const { registers, sharedBytes, localBytes, spillStoreBytes, spillLoadBytes, occupancy, limiter } = resources;
  const parts = [
    count(registers, 'register'),
    `${count(sharedBytes, 'byte')} shared`,
    ...(localBytes > 0 ? [`${count(localBytes, 'byte')} of stack`] : []),
    ...(spillStoreBytes + spillLoadBytes > 0 ? [`${spillStoreBytes} bytes spilled, ${spillLoadBytes} reloaded`] : []),
    ...(occupancy === undefined ? [] : [occupancyText(occupancy, limiter)]),
  ];
  return parts.join(', ');
}

function occupancyText(occupancy: number, limiter: string | undefined): string {
  const share = `occupancy ${percent(occupancy)}`;
  if (occupancy === 0) return `${share}: the launch is refused (${limiter})`;
  return limiter === undefined || limiter === 'none' ? share : `${share} (limited by ${limiter})`;
}
