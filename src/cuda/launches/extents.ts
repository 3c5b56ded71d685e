import { type HostTerm, termConstant } from '../host/term.ts';
import type { HostValue } from '../host/value.ts';

/** Extents along the three axes. */
export type Extents = readonly [x: number, y: number, z: number];

/** What a launch says of one axis: its extent, or that the host program computes one; null where it says nothing. */
export type AxisExtent = number | 'computed' | null;

/** What a launch says of each axis of its block and grid. */
export interface AxisExtents {
  readonly block: readonly [x: AxisExtent, y: AxisExtent, z: AxisExtent];
  readonly grid: readonly [x: AxisExtent, y: AxisExtent, z: AxisExtent];
}

/** What extents say of each axis: those of a `dim3` that nobody knows, such as a parameter, say nothing. */
export function axesOf(value: HostValue | undefined, terms: readonly (HostTerm | null)[]): AxisExtents['grid'] {
  const isWhole = value?.kind === 'symbol' && value.symbol.type === 'dim3';
  const of = (axis: 0 | 1 | 2): AxisExtent => {
    const term = terms[axis] ?? null;
    const constant = term ? termConstant(term) : undefined;
    if (constant !== undefined) return constant >= 1n && constant < 1n << 32n ? Number(constant) : 'computed';
    const isPart = isWhole || (value?.kind === 'record' && !value.fields.has('xyz'[axis]!));
    return term === null || isPart ? null : 'computed';
  };
  return [of(0), of(1), of(2)];
}
