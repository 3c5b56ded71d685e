/** Kinds of expensive instructions. */

/**
 * - `double`: arithmetic of double precision, and conversions from and to it;
 * - `special`: sines, exponentials, logarithms, roots and reciprocals;
 * - `division`: divisions and remainders, of integers too;
 * - `atomic`: atomics and reductions on memory;
 * - `tensor`: products of matrices that a warp computes together.
 */
export type MixKind = 'double' | 'special' | 'division' | 'atomic' | 'tensor';
