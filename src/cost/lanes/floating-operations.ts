/** Floating-point arithmetic. */
import type { Operation } from '../../isa/model/operation.ts';

const arithmetic = /^(add|sub|mul|fma|mad|div|rcp|sqrt|rsqrt|sin|cos|lg2|ex2|tanh|min|max|abs|neg)\..*\b(b?f16|b?f16x2|f32|f32x2|f64)$/;

/**
 * Floating-point operations of one lane: two for a fused multiply-add, and twice the number for packed values.
 * @returns null for products of matrices, which a warp computes as a whole
 */
export function operationsOf({ mnemonic }: Operation): number | null {
  if (/^(mma|wmma\.mma|wgmma\.mma_async|tcgen05\.mma)\b/.test(mnemonic)) return null;
  const match = arithmetic.exec(mnemonic);
  if (!match) return 0;
  const [, name, type] = match;
  return (name === 'fma' || name === 'mad' ? 2 : 1) * (type!.endsWith('x2') ? 2 : 1);
}
