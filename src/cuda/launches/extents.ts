import { type HostTerm, termConstant } from '../../assumptions/expression.ts';
import type { HostValue } from './value.ts';

/** Extents along the three axes. */
export type Extents = readonly [x: number, y: number, z: number];

/** Extent of one axis of a launch; `computed`: the host program computes it; null: unspecified. */
export type AxisExtent = number | 'computed' | null;

/** Extents of each axis of the block and grid of a launch. */
export interface AxisExtents {
  readonly block: readonly [x: AxisExtent, y: AxisExtent, z: AxisExtent];
  readonly grid: readonly [x: AxisExtent, y: AxisExtent, z: AxisExtent];
}

/** The extent of each axis: an unknown `dim3`, such as a parameter, specifies none. */
export function axesOf(value: HostValue | undefined, terms: readonly (HostTerm | null)[]): AxisExtents['grid'] {
  const isWhole = (value?.kind === 'symbol' && value.symbol.type === 'dim3') || (value?.kind === 'record' && value.rest.type === 'dim3');
  const of = (axis: 0 | 1 | 2): AxisExtent => {
    const term = terms[axis] ?? null;
    const constant = term ? termConstant(term) : undefined;
    if (constant !== undefined) return constant >= 1n && constant < 1n << 32n ? Number(constant) : 'computed';
    const isPart = isWhole || (value?.kind === 'record' && !value.fields.has('xyz'[axis]!));
    return term === null || isPart ? null : 'computed';
  };
  return [of(0), of(1), of(2)];
}
