/** What a run of the reference machine is given: dimensions, arguments and memory. */
export type Dim3 = readonly [number, number, number];
