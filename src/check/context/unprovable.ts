/** Constructs whose model is too weak for any proof about a kernel that contains them. */
import type { Kernel } from '../../ir/form/kernel.ts';
import { isUnfollowed } from '../../isa/model/effect.ts';
import type { Reason } from '../../verdict/reason.ts';
import { harmlessCalls } from './unknown-calls.ts';
import type { KernelAndLaunch, SymbolicFacts } from './facts.ts';

/** Why nothing about this kernel can be proved; null if all of its constructs are modelled. */
export function unprovable(context: KernelAndLaunch & SymbolicFacts): Reason | null {
  const { kernel } = context;
  if (kernel.isTooLarge) return { kind: 'too-large' };
  const calls = harmlessCalls(context);
  const unsupported = kernel.unsupported.find(({ reason }) => !calls.has(reason));
  if (unsupported) return { kind: 'not-understood', what: unsupported.reason };
  for (const block of kernel.blocks) {
    if (block.terminator.kind === 'unknown') return { kind: 'not-understood', what: block.terminator.reason };
    for (const { operation } of block.instructions) {
      const { effect, mnemonic } = operation;
      if (effect.kind === 'opaque' && !calls.has(effect.reason)) return { kind: 'unknown-effect', mnemonic };
      if (isUnfollowed(effect)) return { kind: 'later-effect', mnemonic };
    }
  }
  return null;
}

/** Whether the kernel writes surfaces: each such write is a store to an unknown element. */
export function writesSurfaces({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) => instructions.some(({ operation: { effect } }) => effect.kind === 'surface-store'));
}
