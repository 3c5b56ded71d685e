/** Extents along the three axes. */
export type Extents = readonly [x: number, y: number, z: number];

/** What a launch says of one axis: its extent, or that the host program computes one; null where it says nothing. */
export type AxisExtent = number | 'computed' | null;

/** What a launch says of each axis of its block and grid. */
export interface AxisExtents {
  readonly block: readonly [x: AxisExtent, y: AxisExtent, z: AxisExtent];
  readonly grid: readonly [x: AxisExtent, y: AxisExtent, z: AxisExtent];
}
