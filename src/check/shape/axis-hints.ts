/** Evidence for the extents of a thread block from the constants in a kernel's indices. */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { maximumBlock } from '../../device/hardware-limits.ts';
import { type IndexForm, type IndexGuard, indexExtents } from './index-form.ts';
import { type Monomial, isCommon } from './monomial.ts';

/** Evidence in the kernel for the extent of its thread block along an axis. */
export interface AxisHints {
  /** Largest extent for which strides that are constants nest. */
  readonly most: number;
  /** Extents that the kernel suggests, in descending order. */
  readonly suggested: readonly number[];
}

/** Evidence for the shape of the thread block from the constants in a kernel's indices, by axis. */
export function axisHints(forms: readonly IndexForm[], dimensions: Dimensions): readonly AxisHints[] {
  return ([0, 1, 2] as const).map((axis) => {
    const ratios = forms.flatMap(({ offset, guards }) => {
      const varying = offset.filter((monomial) => !isCommon(monomial));
      return varying.flatMap((part): number[] => {
        if (!isThread(part, axis) || !isBoundByLaunch(part, guards, dimensions) || goesRound(varying, axis)) return [];
        const larger = varying.filter((other) => sharedKey(other) === sharedKey(part) && other.coefficient > part.coefficient);
        return larger.map((other) => Number(other.coefficient / part.coefficient));
      });
    });
    const usable = ratios.filter((ratio) => ratio >= (axis === 0 ? 8 : 2) && ratio <= maximumBlock[axis]);
    const most = usable.reduce((least, ratio) => Math.min(least, ratio), maximumBlock[axis]);
    // Rows are often padded by one element, so the padding is subtracted.
    const whole = usable.filter((ratio) => ratio <= most).map((ratio) => (ratio > 8 && ratio % 8 === 1 ? ratio - 1 : ratio));
    return { most, suggested: [...new Set(whole)].sort((a, b) => b - a) };
  });
}

/** Whether a product is a thread index along an axis, times factors that all threads share. */
export function isThread({ coefficient, factors }: Monomial, axis: 0 | 1 | 2): boolean {
  const [own, ...others] = factors.filter((factor) => !factor.isUniform);
  const atom = own?.term?.atom;
  return coefficient > 0n && others.length === 0 && atom?.kind === 'thread' && atom.axis === axis;
}

/** Whether a block-stride loop adds multiples of the block's extent along an axis to the index. */
function goesRound(varying: readonly Monomial[], axis: 0 | 1 | 2): boolean {
  const extent = `blockDim.${'xyz'[axis]}`;
  return varying.some(({ factors }) => factors.some(({ key }) => key === extent) && factors.some(({ key }) => key.startsWith('round')));
}

/** Whether a thread index is bounded by the extent of the block only, and not by a guard. */
export function isBoundByLaunch(part: Monomial, guards: readonly IndexGuard[], dimensions: Dimensions): boolean {
  const [extent = [], ...alternatives] = indexExtents([part], guards, dimensions);
  const [only, ...others] = alternatives.length > 0 ? [] : extent;
  const [limit, ...more] = only?.limit ?? [];
  return others.length === 0 && more.length === 0 && limit?.factors.length === 1 && limit.factors[0]!.term === null;
}

/** Key of those factors of a product that all threads share. */
function sharedKey({ factors }: Monomial): string {
  return factors.flatMap(({ key, isUniform: isShared }) => (isShared ? [key] : [])).join(' ');
}
