/** Extents along the three axes. */
export type Extents = readonly [x: number, y: number, z: number];
