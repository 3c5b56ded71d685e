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

/**
 * What parameters of the base, and members of structs, are called in the head: those whose name is gone, by their
 * position.
 */
export function renamedParameters(base: PreparedKernel, head: PreparedKernel): ReadonlyMap<string, string> {
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

/** Names by the number of the parameter and the offset in it. */
function namesByPosition(entry: PreparedKernel): Map<string, string> {
  const { parameters, kernel } = entry;
  return new Map(
    kernel.parameters.flatMap(({ index }) => {
      const offsets = parameters[index]?.fields?.map(({ offset }) => offset) ?? [0];
      return offsets.map((offset) => [`${index}+${offset}`, fieldName(parameters, { index, offset }, kernel)]);
    }),
  );
}

function nameAt({ parameters, kernel }: PreparedKernel, index: number): string {
  return fieldName(parameters, { index, offset: 0 }, kernel);
}
