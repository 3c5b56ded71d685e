/** What the names in bounds stand for. */
import type { Launch } from '../check/launch.ts';
import { fieldName } from '../check/parameter-field.ts';
import type { PreparedKernel } from './prepare.ts';

/** The launch that the costs of a kernel are told for. */
export function costLaunch({ launches }: Pick<PreparedKernel, 'launches'>): Launch {
  return launches.find(({ block }) => block !== null) ?? launches[0]!;
}

/** The value of a name at the reference arguments of a kernel; undefined where there is none. */
export function referenceOf(entry: PreparedKernel): (name: string) => bigint | undefined {
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

/** What parameters of the base are called in the head: those whose name is gone, by their position. */
export function renamedParameters(base: PreparedKernel, head: PreparedKernel): ReadonlyMap<string, string> {
  const names = (entry: PreparedKernel): string[] => entry.kernel.parameters.map(({ index }) => nameAt(entry, index));
  const [before, after] = [names(base), names(head)];
  if (before.length !== after.length) return new Map();
  return new Map(
    before.flatMap((name, index) => {
      const now = after[index]!;
      return after.includes(name) || before.includes(now) ? [] : [[name, now]];
    }),
  );
}

function nameAt({ parameters, kernel }: PreparedKernel, index: number): string {
  return fieldName(parameters, { index, offset: 0 }, kernel);
}
