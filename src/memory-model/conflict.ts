/**
 * Which two accesses conflict (PTX ISA 9.0, sections 8.6 and 8.7): their bytes overlap, one of them writes, and they are
 * not morally strong, that is both strong with scopes that reach each other. Whether bytes overlap is decided elsewhere,
 * by proof or by a run.
 *
 * A proof takes more pairs to conflict than a run shows: strong loads and stores that are not atomic.
 */
import type { Scope } from '../isa/model/operation.ts';
import { reachesGrid } from './scope.ts';

interface Touching {
  readonly operation: 'read' | 'write' | 'atomic';
  /** Bytes of the whole access. */
  readonly bytes: number;
}

/** Whether two accesses conflict where they overlap, as proofs take it: not both reads, and not both atomic within reach. */
export function conflictInProof(
  a: Touching & { readonly scope: Scope },
  b: Touching & { readonly scope: Scope },
  sameBlock: boolean,
): boolean {
  if (a.operation === 'read' && b.operation === 'read') return false;
  if (a.operation !== 'atomic' || b.operation !== 'atomic') return true;
  // Atomics of different sizes are not atomic to each other (PTX ISA, morally strong operations).
  if (a.bytes !== b.bytes) return true;
  return !sameBlock && (a.scope === 'cta' || b.scope === 'cta');
}

interface TouchingStrongly extends Touching {
  /** Bytes of each element of a vector, which are accesses of their own; absent: it has but one. */
  readonly elementBytes?: number;
  /** The widest scope at which the access is strong; null: weak. */
  readonly strong: Scope | null;
}

/** Whether two accesses conflict where they overlap, as runs show it: not both reads, and not morally strong. */
export function conflictInRun(a: TouchingStrongly, b: TouchingStrongly, sameBlock: boolean): boolean {
  return !(a.operation === 'read' && b.operation === 'read') && !areMorallyStrong(a, b, sameBlock);
}

/**
 * Two strong accesses of the same bytes whose scopes include both threads do not race (PTX ISA 8, morally strong).
 * Between blocks, `cluster` counts as `cta`.
 */
function areMorallyStrong(a: TouchingStrongly, b: TouchingStrongly, sameBlock: boolean): boolean {
  if (a.strong === null || b.strong === null) return false;
  // A packed atomic is one of each element, but pairs with one of the whole are of no interest.
  const isPacked = a.operation === 'atomic' && b.operation === 'atomic' && a.bytes === b.bytes;
  if (bytesOfElement(a) !== bytesOfElement(b) && !isPacked) return false;
  return sameBlock || (reachesGrid(a.strong) && reachesGrid(b.strong));
}

/** Bytes of what an access reads or writes at once: of an element of a vector, else of the whole. */
export function bytesOfElement({ bytes, elementBytes }: Pick<TouchingStrongly, 'bytes' | 'elementBytes'>): number {
  return elementBytes ?? bytes;
}
