/** What of a kernel is not understood well enough to prove anything. */
import type { Kernel } from '../../ir/form/kernel.ts';
import type { Reason } from '../../verdict/reason.ts';

/** Why nothing about this kernel can be proved; null where all of it is understood. */
export function unprovable(kernel: Kernel): Reason | null {
  if (kernel.isTooLarge) return { kind: 'too-large' };
  const unsupported = kernel.unsupported[0];
  if (unsupported) return { kind: 'not-understood', what: unsupported.reason };
  for (const block of kernel.blocks) {
    if (block.terminator.kind === 'unknown') return { kind: 'not-understood', what: block.terminator.reason };
    for (const { operation } of block.instructions) {
      const { effect, mnemonic } = operation;
      if (effect.kind === 'opaque') return { kind: 'unknown-effect', mnemonic };
      if (effect.kind === 'surface-store') return { kind: 'surface-writes' };
      if (effect.kind === 'matrix-load' || effect.kind === 'matrix-store')
        return { kind: 'accesses-of-warp', mnemonic };
      if (effect.kind === 'bulk-copy' || effect.kind === 'bulk-wait' || effect.kind === 'warpgroup-matrix')
        return { kind: 'later-effect', mnemonic };
    }
  }
  return null;
}
