/**
 * Representative launches, with arrays far from each other. A condition that only launches with hardly any effect
 * satisfy is satisfied by none of them. This affects only the name of a class.
 */
import type { Dim3 } from '../base/dim3.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import type { AddressSet, ValidatorCondition } from './model/quantity.ts';
import type { LaunchedSet } from './validator/address-sets.ts';
import { type InstanceArguments, bytesAt, isKnownToHold } from './validator/instance-condition.ts';

const scalars = [1, 37, 1000, 100_000];
const grids: readonly Dim3[] = [
  [1, 1, 1],
  [4, 1, 1],
  [3, 3, 1],
];
const arrayBytes = 1n << 36n;

/**
 * Whether some usual launch with blocks of one of the shapes satisfies a condition.
 * @param written bytes that the kernel writes, null if unknown: a launch that writes nothing is not usual
 */
export function isUsuallyMet(
  condition: ValidatorCondition,
  kernel: Kernel,
  shapes: readonly Dim3[],
  written: readonly (AddressSet | null)[] = [null],
): boolean {
  // Contents of a struct are unknown.
  if (kernel.parameters.some(({ bytes }) => bytes > 8)) return true;
  const launches = shapes.flatMap((block) => grids.flatMap((grid) => scalars.map((scalar) => launchOf(kernel, block, grid, scalar))));
  const isIdle = (launch: InstanceArguments): boolean => written.every((set) => set !== null && isEmpty(bytesAt(set, launch)));
  const met = launches.filter((launch) => isKnownToHold(condition, launch));
  // If the stated contents let none of the launches write, launches without writes count too.
  return met.some((launch) => !isIdle(launch)) || (met.length > 0 && launches.every(isIdle));
}

/** Whether all usual launches with one shape of blocks satisfy a condition; unknown for kernels that take structs. */
export function isAlwaysUsuallyMet(condition: ValidatorCondition, kernel: Kernel, block: Dim3): boolean {
  if (kernel.parameters.some(({ bytes }) => bytes > 8)) return false;
  return grids.every((grid) => scalars.every((scalar) => isKnownToHold(condition, launchOf(kernel, block, grid, scalar))));
}

function isEmpty({ steps }: LaunchedSet): boolean {
  return steps.some(({ count }) => count !== undefined && count <= 0n);
}

function launchOf({ parameters }: Kernel, block: Dim3, grid: Dim3, scalar: number): InstanceArguments {
  const view = new DataView(new ArrayBuffer(16 * parameters.length));
  const offsets = parameters.map((_, index) => 16 * index);
  parameters.forEach(({ bytes }, index) => {
    if (bytes === 8) view.setBigUint64(16 * index, BigInt(index + 1) * arrayBytes, true);
    else if (bytes === 4) view.setInt32(16 * index, scalar, true);
    else view.setInt8(16 * index, scalar % 100);
  });
  return {
    arguments: new Uint8Array(view.buffer),
    offsets,
    block,
    grid,
    dynamicShared: 48 << 10,
    allocation: (address) => ({ start: (address / arrayBytes) * arrayBytes, bytes: arrayBytes / 2n }),
  };
}
