/**
 * Overlaps of threads of a block in collective accesses of a warp (`wmma.load`, `wmma.store`, `ldmatrix`, `stmatrix`).
 * For threads of other warps each lane accesses all of it. For threads of the same warp, one instruction assigns each
 * element to one lane, and equal fragments have each element in the same lane.
 */
import type { Access, WarpAccess } from '../../analysis/values/access.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';

/** Two threads of a block: in one warp, or in two; null if it does not matter. */
export type WarpRelation = 'same' | 'different' | null;

/** A case in which two threads may overlap. */
export interface WarpOverlapCase {
  readonly warp: WarpRelation;
  /** Only if the first lines of both begin at different addresses. */
  readonly startsDiffer: boolean;
  readonly mayBeOne: boolean;
  /** A condition that both threads satisfy or neither does. */
  readonly condition?: Term;
}

/** Any two threads, regardless of their warps. */
export const anywhere: WarpOverlapCase = { warp: null, startsDiffer: false, mayBeOne: false };

/** An exhaustive list of the cases in which threads of a block may overlap in two accesses. */
export function warpOverlapCases(
  symbolic: SymbolicKernel,
  a: Access,
  b: Access,
  warp: WarpRelation,
): WarpOverlapCase[] {
  if (!a.ofWarp && !b.ofWarp) return [{ ...anywhere, warp }];
  const relations: readonly WarpRelation[] = warp === null ? ['different', 'same'] : [warp];
  return relations.flatMap((relation) =>
    relation === 'same' ? withinWarp(symbolic, a, b) : [{ ...anywhere, warp: relation }],
  );
}

function withinWarp(symbolic: SymbolicKernel, a: Access, b: Access): WarpOverlapCase[] {
  const plain: WarpOverlapCase = { ...anywhere, warp: 'same' };
  if ([a, b].some(({ ofWarp }) => ofWarp?.distance === null)) {
    // The line at the address of a lane is accessed by other lanes: it conflicts with its own other accesses.
    if (a !== b) return [{ ...plain, mayBeOne: true }];
    return [plain, { ...plain, mayBeOne: true, startsDiffer: true }];
  }
  if (!a.ofWarp || !b.ofWarp || !areHeldAlike(a.ofWarp, b.ofWarp)) return [plain];
  const { store } = symbolic;
  const distance = a.ofWarp.distance!;
  const overlapping = store.signedLess(distance, store.constant(distance.width, BigInt(a.bytes)));
  const startsApart: WarpOverlapCase = { ...plain, startsDiffer: true };
  // Lines that overlap hold elements of several lanes at one address.
  return overlapping === store.false ? [startsApart] : [startsApart, { ...plain, condition: overlapping }];
}

/** Whether elements at the same distance from the first line are in the same lane of both. */
function areHeldAlike(a: WarpAccess, b: WarpAccess): boolean {
  const isOfLaunch = ({ leaves }: Term): boolean =>
    leaves.every(({ atom }) => /^(parameter|block-size|grid-size)$/.test(atom!.kind));
  return (
    a.fragment === b.fragment && a.transposed === b.transposed && a.distance === b.distance && isOfLaunch(a.distance!)
  );
}
