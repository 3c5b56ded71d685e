/** Launches that the architecture rejects, and launch bounds that request more resident blocks than fit. */
import type { Severity } from '../../../source/severity.ts';
import type { Dim3 } from '../../../base/dim3.ts';
import type { Regression } from '../../../report-model/regression.ts';
import { architectureOf } from '../../../device/architecture.ts';
import { refusedSharedBytes } from '../../../launch/shared-memory-limit.ts';
import { refusedText } from '../../../messages/text/launch-text.ts';
import { maximumRegisters, maximumThreads, warpSize } from '../../../device/hardware-limits.ts';
import { type ResourceMetric } from '../../../cost/model/metrics.ts';
import { occupancyOf, type Occupancy } from '../../../device/occupancy.ts';
import type { Launch } from '../../../launch/launch.ts';
import type { Code } from '../../../source/codes.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';
import { violationOf } from './violation.ts';

/** Violations of a kernel: launches that fail, and launch bounds that request more resident blocks than fit. */
export function launchViolations(entry: LaunchedKernel, resources: KernelResources): Regression[] {
  const architecture = architectureOf(entry.arch);
  if (!architecture) return [];
  const found = new Map<string, Regression>();
  const wanted = blocksWanted(entry);
  const { location } = entry.kernel;
  for (const launch of entry.launches) {
    const block = launch.block ?? entry.kernel.requiredThreads;
    if (!block) continue;
    const threads = block[0] * block[1] * block[2];
    const sharedBytes = resources.sharedBytes + (launch.sharedBytes ?? 0);
    const demand = { registers: resources.registers, sharedBytes, threads, barriers: resources.barriers };
    const { blocks, limiter } = occupancyOf(architecture, demand);
    const place = launch.location ?? location;
    const add = (code: Code, severity: Severity, metric: ResourceMetric, head: number, message: string): void => {
      const one = violationOf(entry, { code, severity, metric, head, message, ...(place ? { location: place } : {}) }, message);
      if (!found.has(one.fingerprint)) found.set(one.fingerprint, one);
    };
    if (blocks === 0) {
      const why = refusal(limiter, demand, launch, architecture.sharedPerBlockOptIn);
      const metric = limiter === 'shared' ? 'sharedBytes' : limiter === 'registers' ? 'registers' : 'occupancy';
      const head = metric === 'sharedBytes' ? sharedBytes : metric === 'registers' ? resources.registers : 0;
      add('launch/refused', 'error', metric, head, `${architecture.name} refuses the launch with block ${dims(block)}: ${why}`);
    } else if (wanted !== null && blocks < wanted) {
      const message = `launch bounds ask for ${wanted} blocks on a multiprocessor, and ${architecture.name} has room for ${blocks} of block ${dims(block)} (limited by ${limiter})`;
      add('limit/launch-bounds', 'warning', 'occupancy', blocks, message);
    }
  }
  return [...found.values()];
}

/** Launches that no device runs, regardless of the code of ptxas: a block needs more shared memory than any has. */
export function refusedEverywhere(entry: LaunchedKernel): Regression[] {
  const found = new Map<string, Regression>();
  for (const launch of entry.launches) {
    const { location = entry.kernel.location } = launch;
    const head = refusedSharedBytes(entry.kernel, launch);
    if (head === null) continue;
    const message = refusedText(head);
    const facts = { code: 'launch/refused', severity: 'error', metric: 'sharedBytes', head, message } as const;
    const one = violationOf(entry, { ...facts, ...(location && { location }) }, message);
    found.set(one.fingerprint, one);
  }
  return [...found.values()];
}

function refusal(
  limiter: Occupancy['limiter'],
  { registers, sharedBytes, threads }: { registers: number; sharedBytes: number; threads: number },
  { sharedBytes: dynamic }: Launch,
  mostShared: number,
): string {
  switch (limiter) {
    case 'threads':
      return `a block has at most ${maximumThreads} threads, not ${threads}`;
    case 'shared':
      return `a block has at most ${mostShared} bytes of shared memory, not ${sharedBytes}${dynamic ? ` (${dynamic} of them dynamic)` : ''}`;
    default:
      return registers > maximumRegisters
        ? `a thread has at most ${maximumRegisters} registers, not ${registers}`
        : `${registers} registers for each of ${Math.ceil(threads / warpSize) * warpSize} threads are more than a multiprocessor has`;
  }
}

function dims(block: Dim3): string {
  return block.join(' x ');
}

/** The minimum number of resident blocks, from the second argument of launch bounds; null if it is not given. */
function blocksWanted({ production, produced, verification, kernel }: LaunchedKernel): number | null {
  const { module } = production && produced ? production : verification;
  const { symbol } = produced ?? kernel;
  for (const item of module.items) {
    if (item.kind !== 'entry' || item.name !== symbol) continue;
    return item.directives.find(({ name }) => name === 'minnctapersm')?.values[0] ?? null;
  }
  return null;
}
