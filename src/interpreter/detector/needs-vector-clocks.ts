/** Kernels that need more than shadow words, because their accesses are not ordered only by full barriers. */
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import { accessesOfEffect, hasPlainAccesses } from '../../isa/model/effect.ts';
import { bytesOfElement, isVolatile } from '../../memory-model/conflict.ts';
import { acquires, fenceOf, releases } from '../../memory-model/fence.ts';
import { type Reach, reachOf } from '../../memory-model/scope.ts';
import type { Scope } from '../../isa/model/operation.ts';

/**
 * - `fence`, `acquire-release`: accesses may synchronize with threads that observe them;
 * - `strong-read`: strong loads in addition to strong writes: neither plain reads nor atomics;
 * - `volatile-write`: volatile stores: neither plain writes nor atomics;
 * - `mixed-width`: strong accesses of several widths, which race where they overlap;
 * - `named-barrier`, `warp-mask`: barriers of part of a block or warp;
 * - `async-copy`, `bulk-copy`: copies, of a fixed or a variable size, that continue concurrently with their thread;
 * - `mbarrier`, `cluster-barrier`, `cluster-scope`: uses of these features.
 */
type VectorClockReason =
  | 'fence'
  | 'acquire-release'
  | 'strong-read'
  | 'volatile-write'
  | 'mixed-width'
  | 'named-barrier'
  | 'warp-mask'
  | 'async-copy'
  | 'bulk-copy'
  | 'mbarrier'
  | 'cluster-barrier'
  | 'cluster-scope';

/** Cached by kernel, since a kernel is usually run many times. */
const known = new WeakMap<Kernel, readonly VectorClockReason[]>();

/** Reasons for recording the accesses of a kernel with clocks; empty if shadow words can find all of its races. */
export function needsVectorClocks(kernel: Kernel): readonly VectorClockReason[] {
  let reasons = known.get(kernel);
  if (!reasons) {
    reasons = findReasons(kernel);
    known.set(kernel, reasons);
  }
  return reasons;
}

function findReasons(kernel: Kernel): readonly VectorClockReason[] {
  const reasons = new Set<VectorClockReason>();
  const widths = new Set<number>();
  let writesStrongly = false;
  let readsStrongly = false;
  let hasFence = false;
  for (const { instructions } of kernel.blocks) {
    for (const instruction of instructions) {
      const { effect } = instruction.operation;
      switch (effect.kind) {
        case 'load':
        case 'store':
        case 'atomic': {
          if (effect.semantics === 'weak' || effect.space === 'local' || effect.space === 'param') break;
          for (const access of accessesOfEffect(effect)) widths.add(bytesOfElement(access));
          if (effect.kind === 'store' && isVolatile(effect)) reasons.add('volatile-write');
          if (effect.kind === 'load') readsStrongly = true;
          if (effect.kind !== 'load') writesStrongly = true;
          if (effect.scope === 'cluster') reasons.add('cluster-scope');
          if (acquires(effect.semantics) || releases(effect.semantics)) reasons.add('acquire-release');
          break;
        }
        case 'fence':
          hasFence ||= fenceOf(effect) !== null;
          break;
        case 'barrier':
          if (isPartial(instruction)) reasons.add('named-barrier');
          break;
        case 'warp-barrier':
          if (!isWholeMask(instruction)) reasons.add('warp-mask');
          break;
        case 'copy':
          reasons.add(hasPlainAccesses(effect) ? 'async-copy' : 'bulk-copy');
          break;
        case 'mbarrier':
        case 'cluster-barrier':
          reasons.add(effect.kind);
          break;
        default:
      }
    }
  }
  if (hasFence && writesStrongly) reasons.add('fence');
  if (readsStrongly && writesStrongly) reasons.add('strong-read');
  if (widths.size > 1) reasons.add('mixed-width');
  return [...reasons];
}

/**
 * The narrowest reach of the fences and strong accesses of a kernel: usually the whole launch.
 * @param sites its accesses
 */
export function narrowestReach(kernel: Kernel, sites: readonly { readonly strong: Scope | null }[]): Reach {
  let narrowest: Reach = 2;
  const narrowTo = (scope: Scope): void => {
    if (reachOf[scope] < narrowest) narrowest = reachOf[scope];
  };
  for (const { strong } of sites) if (strong !== null) narrowTo(strong);
  for (const { instructions } of kernel.blocks) {
    for (const { operation } of instructions) {
      const fence = fenceOf(operation.effect);
      if (fence) narrowTo(fence.scope);
    }
  }
  return narrowest;
}

/** Whether all fences of a kernel are `fence.sc`. */
export function hasOnlySequentialFences({ blocks }: Kernel): boolean {
  return blocks.every(({ instructions }) => instructions.every(({ operation }) => (fenceOf(operation.effect)?.semantics ?? 'sc') === 'sc'));
}

/** Whether a barrier may synchronize part of a block: it has a thread count, or some threads arrive without waiting. */
function isPartial({ operation }: Instruction): boolean {
  const { effect } = operation;
  if (effect.kind !== 'barrier' || effect.form === 'arrive') return true;
  return operation.sources.length > (effect.form === 'red' ? 2 : 1);
}

function isWholeMask(instruction: Instruction): boolean {
  const mask = instruction.arguments.at(-1);
  return mask?.kind === 'constant' && BigInt.asUintN(32, mask.value) === 0xffffffffn;
}
