/**
 * The rule of fences (PTX ISA 9.0, sections 8.4 to 8.10 and 9.7.13.4): which instruction is a fence, of which strength,
 * and how far it reaches; and which access releases or acquires without one. `isa/sync.ts` decodes `fence` and `membar`
 * into the effect that is read here. The prover, the race detector and repairs ask here.
 */
import type { Instruction } from '../ir/form/kernel.ts';
import type { Effect, Scope, Semantics } from '../isa/model/operation.ts';
import { reachesGrid } from './scope.ts';

/** A fence between memory accesses. */
export interface Fence {
  readonly semantics: 'sc' | 'acq_rel' | 'acquire' | 'release';
  readonly scope: Scope;
}

/** The effect as a fence, or null. A fence between proxies is null too: it orders none of the analyzed accesses. */
export function fenceOf(effect: Effect): Fence | null {
  return effect.kind === 'fence' && effect.semantics !== 'proxy' ? (effect as Fence) : null;
}

/** Whether this fence or access orders earlier accesses of the thread before a value that it publishes. */
export function releases(semantics: Semantics | 'proxy'): boolean {
  return semantics === 'release' || semantics === 'acq_rel' || semantics === 'sc';
}

/** Whether this fence or access orders later accesses of the thread after a value that it observed. */
export function acquires(semantics: Semantics | 'proxy'): boolean {
  return semantics === 'acquire' || semantics === 'acq_rel' || semantics === 'sc';
}

/** Whether an instruction is a fence that acquires and releases; if requested, also towards threads of other blocks. */
export function isFence({ operation: { effect } }: Instruction, acrossBlocks: boolean): boolean {
  const fence = fenceOf(effect);
  if (!fence || !acquires(fence.semantics) || !releases(fence.semantics)) return false;
  return !acrossBlocks || reachesGrid(fence.scope);
}

/** Whether an access is a release without a fence. */
export function isReleasing({ operation: { effect } }: Instruction): boolean {
  return 'semantics' in effect && effect.kind !== 'fence' && releases(effect.semantics);
}

/** Whether an access is an acquire without a fence. */
export function isAcquiring({ operation: { effect } }: Instruction): boolean {
  return 'semantics' in effect && effect.kind !== 'fence' && acquires(effect.semantics);
}

/** Whether an instruction is a strong access: one by which threads may synchronise (PTX ISA 8.4). */
export function isStrong({ operation: { effect } }: Pick<Instruction, 'operation'>): boolean {
  return (
    effect.kind === 'atomic' || ((effect.kind === 'load' || effect.kind === 'store') && effect.semantics !== 'weak')
  );
}
