/** Values of the names in bounds. */
import type { ResourceMetric } from '../../../cost/model/metrics.ts';
import type { ResourcesReport } from '../../../report-model/cost-report.ts';
import type { Launch } from '../../../launch/launch.ts';
import { fieldName } from '../../../launch/parameter-field.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';

/** The launch for which the costs of a kernel are reported. */
export function costLaunch({ launches }: Pick<LaunchedKernel, 'launches'>): Launch {
  return launches.find(({ block }) => block !== null) ?? launches[0]!;
}

/** The value of a name at the reference arguments of a kernel; undefined without one. */
export function referenceOf(entry: LaunchedKernel): (name: string) => bigint | undefined {
  const launch = costLaunch(entry);
  const scalars = new Map([...launch.scalars].map(([index, value]) => [nameAt(entry, index), value]));
  return (name) => {
    const known = scalars.get(name);
    if (known !== undefined) return known;
    const [kind, axis = ''] = name.split('.');
    const extents = kind === 'blockDim' ? launch.block : kind === 'gridDim' ? launch.grid : null;
    const extent = extents?.['xyz'.indexOf(axis)];
    return extent === undefined ? undefined : BigInt(extent);
  };
}

/**
 * Maps names of the base to names of the head, for parameters and struct members at the same position. Contains only
 * names that the head no longer has.
 */
export function renamedParameters(base: LaunchedKernel, head: LaunchedKernel): ReadonlyMap<string, string> {
  const [before, after] = [namesByPosition(base), namesByPosition(head)];
  if ([...before.keys()].join(' ') !== [...after.keys()].join(' ')) return new Map();
  const [gone, fresh] = [new Set(before.values()), new Set(after.values())];
  return new Map(
    [...before].flatMap(([position, name]) => {
      const now = after.get(position)!;
      return fresh.has(name) || gone.has(now) ? [] : [[name, now]];
    }),
  );
}

/** Names by parameter index and byte offset in the parameter. */
function namesByPosition(entry: LaunchedKernel): Map<string, string> {
  const { parameters, kernel } = entry;
  return new Map(
    kernel.parameters.flatMap(({ index }) => {
      const offsets = parameters[index]?.fields?.map(({ offset }) => offset) ?? [0];
      return offsets.map((offset) => [`${index}+${offset}`, fieldName(parameters, { index, offset }, kernel)]);
    }),
  );
}

function nameAt({ parameters, kernel }: LaunchedKernel, index: number): string {
  return fieldName(parameters, { index, offset: 0 }, kernel);
}

/** The value of a resource; undefined if unknown. */
export function resourceOf(resources: ResourcesReport, metric: ResourceMetric): number | undefined {
  if (metric === 'spillBytes') return resources.spillStoreBytes + resources.spillLoadBytes;
  return resources[metric];
}

/** Value of an unspecified name at a given problem size. */
export function sizeOf(name: string, size: number): bigint {
  if (name === 'blockDim.x') return 256n;
  return /^blockDim\.|^gridDim\.[yz]/.test(name) ? 1n : BigInt(size);
}

/** Problem sizes for unspecified arguments. They are chosen so that a bound is not exact by coincidence. */
export const sizes: readonly number[] = [1000, 32_000, 1_000_000];
