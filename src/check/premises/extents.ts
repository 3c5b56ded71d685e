/** Sizes of memory: `extent(A) >= n` of the assumptions, and the dynamic shared memory of a launch. */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { type Lookup, evaluateExpression } from '../../assumptions/evaluate.ts';
import { sizeOfType } from '../../cuda/syntax/basic-type.ts';
import { sharedBytesWithoutOptIn } from '../../device/hardware-limits.ts';
import type { Launch } from '../../launch/launch.ts';
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import { isUnsignedType, namedPointer, namedScalar } from './premises.ts';

/** Pointers that share their memory. */
type SharedMemory = Pick<Launch, 'samePointers' | 'distances' | 'nulls'>;

/**
 * The stated sizes in bytes of the arrays of pointer parameters, by `INDEX.OFFSET` of the parameter. Omitted are sizes
 * that the launch does not determine, elements of unknown size, and arrays that share their memory with others.
 */
export function statedExtents(
  assumptions: readonly StatedAssumption[],
  parameters: readonly ParameterSource[],
  launch: Pick<Launch, 'scalars'> & SharedMemory,
  { block, grid }: Dimensions,
): ReadonlyMap<string, number> {
  return extentsBy(assumptions, parameters, launch, (name) => {
    if (name.kind === 'dimension') {
      const size = (name.name === 'blockDim' ? block : grid)[name.axis];
      return size === null || size === undefined ? undefined : BigInt(size);
    }
    const named = namedScalar(parameters, name.path);
    const bits = named ? launch.scalars.get(named.index) : undefined;
    const bytes = named ? sizeOfType(named.type) : undefined;
    if (!named || bits === undefined || bytes === undefined) return undefined;
    const own = bits >> BigInt(8 * named.offset);
    return isUnsignedType(named.type) ? BigInt.asUintN(8 * bytes, own) : BigInt.asIntN(8 * bytes, own);
  });
}

/** Like {@link statedExtents}, of a launch in which names have values. */
export function extentsBy(
  assumptions: readonly StatedAssumption[],
  parameters: readonly ParameterSource[],
  { samePointers, distances, nulls = [] }: SharedMemory,
  lookup: Lookup,
): ReadonlyMap<string, number> {
  // A null pointer points to no element.
  const extents = new Map<string, number>(nulls.map((index) => [`${index}.0`, 0]));
  const shared = new Set([...(samePointers ?? []), ...(distances ?? [])].flatMap(([first, second]) => [first, second]));
  for (const { expression } of assumptions) {
    if (expression.kind !== 'extent') continue;
    const array = namedPointer(parameters, expression.array);
    const elementBytes = array ? sizeOfType(array.type.replace(/\*[^*]*$/, '')) : undefined;
    const elements = evaluateExpression(expression.atLeast, lookup);
    if (!array || shared.has(array.index) || !elementBytes || elements === undefined || elements < 1n || elements > 2n ** 40n) continue;
    const key = `${array.index}.${array.offset}`;
    extents.set(key, Math.max(extents.get(key) ?? 0, Number(elements) * elementBytes));
  }
  return extents;
}

/** The bytes of dynamic shared memory of a launch in which names have values; if it does not state them, what every GPU offers. */
export function dynamicSharedBytes({ sharedBytes, sharedSize }: Pick<Launch, 'sharedBytes' | 'sharedSize'>, lookup: Lookup): number {
  const bytes = sharedSize && evaluateExpression(sharedSize, lookup);
  return sharedBytes ?? (bytes === undefined || bytes < 0n ? sharedBytesWithoutOptIn : Number(bytes));
}
