/**
 * Which two accesses conflict (PTX ISA 9.0, sections 8.6 and 8.7): their bytes overlap, one of them writes, and they are
 * not morally strong, that is both strong, of the same bytes, with scopes that reach each other. Whether bytes overlap is
 * decided elsewhere, by proof or by a run. Proofs, runs and repairs ask here.
 */
import type { Effect, Scope, Semantics } from '../isa/model/operation.ts';
import { type Reach, reachOf } from './scope.ts';

/** How strong an access is. */
interface Strength {
  /** The widest scope at which the access is strong; null: weak. */
  readonly strong: Scope | null;
  readonly semantics: Semantics;
  /** Bytes of each element of a vector or packed type; elements are separate accesses; absent: a single element. */
  readonly elementBytes?: number;
}

/** A memory operation, as far as it decides about conflicts. */
export interface MemoryOperation extends Strength {
  readonly operation: 'read' | 'write' | 'atomic';
  /** Bytes of the whole access. */
  readonly bytes: number;
}

/**
 * How two accesses that overlap conflict. `race`: they are not morally strong. `volatile`: they are, but one of them is
 * volatile, which is a data race in CUDA C++ and none in PTX.
 */
export type ConflictKind = 'race' | 'volatile';

/** The strength of an access that is not part of synchronisation. */
export const weak: Strength = { strong: null, semantics: 'weak' };

/** The strength of a load, a store or an atomic operation. */
export function strengthOf(effect: Extract<Effect, { kind: 'load' | 'store' | 'atomic' }>): Strength {
  const { semantics, scope, bytes, lanes } = effect;
  const isPacked = effect.kind === 'atomic' && effect.type.endsWith('x2');
  return {
    strong: semantics === 'weak' ? null : scope,
    semantics,
    ...((lanes > 1 || isPacked) && { elementBytes: isPacked ? bytes / 2 : bytes }),
  };
}

/**
 * How two accesses of two threads conflict if they overlap; null if they do not.
 * @param distance the closest common scope of the threads: one block (0), one cluster (1), or one launch (2)
 */
export function conflictOf(a: MemoryOperation, b: MemoryOperation, distance: Reach): ConflictKind | null {
  if (a.operation === 'read' && b.operation === 'read') return null;
  if (!areMorallyStrong(a, b, distance)) return 'race';
  return isVolatile(a) || isVolatile(b) ? 'volatile' : null;
}

/** Two strong accesses of the same bytes whose scopes include both threads do not race (PTX ISA 8.7.1, morally strong). */
function areMorallyStrong(a: MemoryOperation, b: MemoryOperation, distance: Reach): boolean {
  if (a.strong === null || b.strong === null) return false;
  // Elements are aligned to their size: those of one size that overlap are the same bytes.
  return bytesOfElement(a) === bytesOfElement(b) && reachOf[a.strong] >= distance && reachOf[b.strong] >= distance;
}

/** Whether an access is volatile: strong at system scope in PTX (PTX ISA 9.7.9.8), no atomic in CUDA C++. */
export function isVolatile({ semantics }: Pick<Strength, 'semantics'>): boolean {
  return semantics === 'volatile';
}

/** Bytes read or written as a unit: of an element of a vector, otherwise of the whole access. */
export function bytesOfElement({ bytes, elementBytes }: Pick<MemoryOperation, 'bytes' | 'elementBytes'>): number {
  return elementBytes ?? bytes;
}
