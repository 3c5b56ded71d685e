/**
 * Conflicts of accesses (PTX ISA 9.0, sections 8.6 and 8.7): two accesses conflict if their bytes overlap, one of them
 * writes, and they are not morally strong. They are morally strong if both are strong, access the same bytes, and have
 * scopes that include each other's threads. Whether bytes overlap is decided elsewhere, by proof or by a run. The
 * prover, the race detector and repairs use this module.
 */
import type { Scope, Semantics } from '../isa/model/operation.ts';
import { type Reach, reachOf } from './scope.ts';

/** The memory ordering strength of an access. */
interface Strength {
  /** The widest scope at which the access is strong; null if it is weak. */
  readonly strong: Scope | null;
  readonly semantics: Semantics;
  /**
   * Bytes of each element of a vector or packed type, as elements are separate accesses; absent for a single element.
   */
  readonly elementBytes?: number;
}

/** The properties of a memory operation on which conflicts depend. */
export interface MemoryOperation extends Strength {
  readonly operation: 'read' | 'write' | 'atomic';
  /** Bytes of the whole access. */
  readonly bytes: number;
}

/**
 * How two overlapping accesses conflict. `race`: they are not morally strong. `volatile`: they are morally strong but
 * one is volatile, which is a data race in CUDA C++ though not in PTX.
 */
export type ConflictKind = 'race' | 'volatile';

/** The strength of an access that is not part of synchronisation. */
export const weak: Strength = { strong: null, semantics: 'weak' };

/**
 * How two accesses by two threads conflict if they overlap; null if they do not conflict.
 * @param distance the closest common scope of the threads: one block (0), one cluster (1), or one launch (2)
 */
export function conflictOf(a: MemoryOperation, b: MemoryOperation, distance: Reach): ConflictKind | null {
  if (a.operation === 'read' && b.operation === 'read') return null;
  if (!areMorallyStrong(a, b, distance)) return 'race';
  return isVolatile(a) || isVolatile(b) ? 'volatile' : null;
}

/**
 * Whether two accesses are morally strong, so that they do not race (PTX ISA 8.7.1): both are strong, are to the same
 * bytes, and have scopes that include both threads.
 */
function areMorallyStrong(a: MemoryOperation, b: MemoryOperation, distance: Reach): boolean {
  if (a.strong === null || b.strong === null) return false;
  // Elements are aligned to their size, so overlapping elements of one size have the same bytes.
  return bytesOfElement(a) === bytesOfElement(b) && reachOf[a.strong] >= distance && reachOf[b.strong] >= distance;
}

/** Whether an access is volatile: strong at system scope in PTX (PTX ISA 9.7.9.8), but not an atomic in CUDA C++. */
export function isVolatile({ semantics }: Pick<Strength, 'semantics'>): boolean {
  return semantics === 'volatile';
}

/** Bytes that are read or written as a unit: an element of a vector, otherwise the whole access. */
export function bytesOfElement({ bytes, elementBytes }: Pick<MemoryOperation, 'bytes' | 'elementBytes'>): number {
  return elementBytes ?? bytes;
}
