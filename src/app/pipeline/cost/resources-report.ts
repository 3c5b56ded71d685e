/** The resources of a kernel, and the occupancy that they allow. */
import type { Launch } from '../../../launch/launch.ts';
import { architectureOf } from '../../../device/architecture.ts';
import { occupancyOf } from '../../../device/occupancy.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { ResourcesReport } from '../../../report-model/cost-report.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';

/** Resources as ptxas reports them, with the shared memory that a launch adds. */
export function resourcesReport(entry: LaunchedKernel, { block, sharedBytes }: Launch, own: KernelResources): ResourcesReport {
  const shared = own.sharedBytes + (sharedBytes ?? 0);
  const extents = block ?? entry.kernel.requiredThreads ?? null;
  const architecture = architectureOf(entry.arch);
  const isPartial = sharedBytes === null && entry.kernel.objects.some(({ space, bytes }) => space === 'shared' && bytes === null);
  const occupancy =
    extents && architecture
      ? occupancyOf(architecture, {
          registers: own.registers,
          sharedBytes: shared,
          threads: extents[0] * extents[1] * extents[2],
          barriers: own.barriers,
        })
      : null;
  return {
    registers: own.registers,
    sharedBytes: shared,
    dynamicSharedBytes: isPartial ? null : (sharedBytes ?? 0),
    localBytes: own.stackBytes,
    constantBytes: own.constantBytes,
    spillStoreBytes: own.spillStoreBytes,
    spillLoadBytes: own.spillLoadBytes,
    barriers: own.barriers,
    ...(occupancy ? { occupancy: occupancy.fraction, limiter: occupancy.limiter } : {}),
  };
}
