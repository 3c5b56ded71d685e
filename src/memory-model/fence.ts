/**
 * Fences (PTX ISA 9.0, sections 8.4 to 8.10 and 9.7.13.4): which instructions are fences, their semantics and scope,
 * and which accesses release or acquire without a fence. `isa/sync.ts` decodes `fence` and `membar` into the effects
 * that are used here. The prover, the race detector and repairs use this module.
 */
import type { Instruction } from '../ir/form/kernel.ts';
import type { Effect, Scope, Semantics } from '../isa/model/operation.ts';
import { reachesGrid } from './scope.ts';

/** A fence between memory accesses. */
export interface Fence {
  readonly semantics: 'sc' | 'acq_rel' | 'acquire' | 'release';
  readonly scope: Scope;
}

/**
 * The fence of an effect; null if it is not a fence. A fence between proxies is excluded, as it orders none of the
 * analyzed accesses.
 */
export function fenceOf(effect: Effect): Fence | null {
  return effect.kind === 'fence' && effect.semantics !== 'proxy' ? (effect as Fence) : null;
}

/**
 * Whether the semantics include release: earlier accesses of the thread are ordered before a value that it publishes.
 */
export function releases(semantics: Semantics | 'proxy'): boolean {
  return semantics === 'release' || semantics === 'acq_rel' || semantics === 'sc';
}

/** Whether the semantics include acquire: later accesses of the thread are ordered after a value that it observed. */
export function acquires(semantics: Semantics | 'proxy'): boolean {
  return semantics === 'acquire' || semantics === 'acq_rel' || semantics === 'sc';
}

/**
 * Whether an instruction is a fence that both acquires and releases; if `acrossBlocks`, also towards threads of other
 * blocks.
 */
export function isFence({ operation: { effect } }: Instruction, acrossBlocks: boolean): boolean {
  const fence = fenceOf(effect);
  if (!fence || !acquires(fence.semantics) || !releases(fence.semantics)) return false;
  return !acrossBlocks || reachesGrid(fence.scope);
}

/**
 * How fences order accesses of two threads that synchronise by a strong access each. `patterns`: the thread of the access
 * has the fence, or the access itself releases or acquires (8.7). `order`: a `fence.sc` comes before the access that
 * releases, and one after the access that acquires, of any threads; in the other order of the two, the second access
 * would come before the first, whose value it has read (8.9.4).
 */
export type FenceUse = 'patterns' | 'order';

/** Whether an instruction is a fence for that use; if `acrossBlocks`, also towards threads of other blocks. */
export function isFenceFor(instruction: Instruction, use: FenceUse, acrossBlocks: boolean): boolean {
  return isFence(instruction, acrossBlocks) && (use === 'patterns' || fenceOf(instruction.operation.effect)?.semantics === 'sc');
}

/** Whether an access has release semantics without a fence. */
export function isReleasing({ operation: { effect } }: Instruction): boolean {
  return 'semantics' in effect && effect.kind !== 'fence' && releases(effect.semantics);
}

/** Whether an access has acquire semantics without a fence. */
export function isAcquiring({ operation: { effect } }: Instruction): boolean {
  return 'semantics' in effect && effect.kind !== 'fence' && acquires(effect.semantics);
}

/** Whether an instruction is a strong access, so that threads can synchronise by it (PTX ISA 8.4). */
export function isStrong({ operation: { effect } }: Pick<Instruction, 'operation'>): boolean {
  return effect.kind === 'atomic' || ((effect.kind === 'load' || effect.kind === 'store') && effect.semantics !== 'weak');
}
