/** What of a kernel is not understood well enough to prove anything. */
import type { Kernel } from '../../ir/form/kernel.ts';

/** Why nothing about this kernel can be proved; null where all of it is understood. */
export function unprovable(kernel: Kernel): string | null {
  const unsupported = kernel.unsupported[0];
  if (unsupported) return `not understood: ${unsupported.reason}`;
  for (const block of kernel.blocks) {
    if (block.terminator.kind === 'unknown') return `not understood: ${block.terminator.reason}`;
    for (const { operation } of block.instructions) {
      const { effect } = operation;
      if (effect.kind === 'opaque') return `the effect of ${operation.mnemonic} is not known`;
      if (effect.kind === 'surface-store') return 'surface writes are not modelled yet';
      if (effect.kind === 'matrix-load' || effect.kind === 'matrix-store')
        return `what the lanes of a warp access together (${operation.mnemonic}) is not modelled yet`;
      if (effect.kind === 'bulk-copy' || effect.kind === 'bulk-wait' || effect.kind === 'warpgroup-matrix')
        return `what ${operation.mnemonic} does later is not modelled yet`;
    }
  }
  return null;
}
