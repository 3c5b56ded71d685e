/**
 * Overlaps of threads of a block in collective accesses of a warp (`wmma.load`, `wmma.store`, `ldmatrix`, `stmatrix`).
 * Towards threads of other warps, each lane counts as accessing the whole matrix. Within a warp, one instruction
 * assigns each element to one lane, and accesses with equal fragments have each element in the same lane.
 */
import type { Access, WarpAccess } from '../../analysis/values/access.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';

/** Whether two threads of a block are in one warp or in two; null if both are possible. */
export type WarpRelation = 'same' | 'different' | null;

/** A case in which two threads may overlap. */
export interface WarpOverlapCase {
  readonly warp: WarpRelation;
  /** Whether this case requires that the first rows of the two accesses begin at different addresses. */
  readonly startsDiffer: boolean;
  readonly mayBeOne: boolean;
  /** A condition on uniform values, which is a premise of this case. */
  readonly condition?: Term;
}

/** Any two threads, regardless of their warps. */
export const anywhere: WarpOverlapCase = { warp: null, startsDiffer: false, mayBeOne: false };

/** An exhaustive list of the cases in which threads of a block may overlap in two accesses. */
export function warpOverlapCases(symbolic: SymbolicKernel, a: Access, b: Access, warp: WarpRelation): WarpOverlapCase[] {
  if (!a.ofWarp && !b.ofWarp) return [{ ...anywhere, warp }];
  const relations: readonly WarpRelation[] = warp === null ? ['different', 'same'] : [warp];
  return relations.flatMap((relation) => (relation === 'same' ? withinWarp(symbolic, a, b) : [{ ...anywhere, warp: relation }]));
}

function withinWarp(symbolic: SymbolicKernel, a: Access, b: Access): WarpOverlapCase[] {
  const plain: WarpOverlapCase = { ...anywhere, warp: 'same' };
  if ([a, b].some(({ ofWarp }) => ofWarp?.distance === null)) {
    // Other lanes access the row at the address of a lane, too, so their access conflicts with other accesses of that
    // lane.
    if (a !== b) return [{ ...plain, mayBeOne: true }];
    return [plain, { ...plain, mayBeOne: true, startsDiffer: true }];
  }
  if (!a.ofWarp || !b.ofWarp || !areHeldAlike(a.ofWarp, b.ofWarp)) return [plain];
  const { store } = symbolic;
  const distance = a.ofWarp.distance!;
  const overlapping = store.signedLess(distance, store.constant(distance.width, BigInt(a.bytes)));
  const startsApart: WarpOverlapCase = { ...plain, startsDiffer: true };
  // If rows overlap, elements of several lanes have one address.
  return overlapping === store.false ? [startsApart] : [startsApart, { ...plain, condition: overlapping }];
}

/** Whether elements at equal distance from the first row are in the same lane in both accesses. */
function areHeldAlike(a: WarpAccess, b: WarpAccess): boolean {
  const isOfLaunch = ({ leaves }: Term): boolean => leaves.every(({ atom }) => /^(parameter|block-size|grid-size)$/.test(atom!.kind));
  return a.fragment === b.fragment && a.transposed === b.transposed && a.distance === b.distance && isOfLaunch(a.distance!);
}
