/** The order of two accesses that patterns of synchronisation give. */
import type { Access } from '../../analysis/values/access.ts';
import { isOfBlock, isOfLaunch } from '../../analysis/values/leader.ts';
import { isOneObject } from '../../analysis/values/memory-base.ts';
import type { Term } from '../../term/term.ts';
import type { PairScope } from '../obligations/instance.ts';
import type { Acquired, Synchronisation } from './pattern.ts';
import { lanesOf } from './synchronising-access.ts';

/**
 * An order of two accesses: unconditional, or only if the flag or lock that one thread released is the one that the
 * other acquired.
 */
export type Order =
  | { readonly kind: 'always'; readonly by: Synchronisation }
  | {
      readonly kind: 'if-same';
      readonly by: Synchronisation;
      readonly arrived: Term;
      readonly seen: Term;
      /** Which access, the first or the second, is ordered before the other. */
      readonly earlier: 1 | 2;
    };

/** How synchronisation orders two accesses of any two threads; null if it does not. */
export function orderBetween(all: readonly Synchronisation[], scope: PairScope, first: Access, second: Access): Order | null {
  let conditional: Order | null = null;
  for (const by of all) {
    const { kind, offset: arrived } = by;
    // A counter of blocks does not order accesses within one block.
    if (kind === 'blocks' && scope === 'block') continue;
    const [forwards, backwards] = [acquiredAfter(by, scope, first, second), acquiredAfter(by, scope, second, first)];
    if (kind === 'lock') {
      // Either section may be the earlier one.
      const isOrdered = forwards.length > 0 && backwards.length > 0;
      if (!isOrdered) continue;
      if (arrived.leaves.every(isOfLaunch) || tellsLock(arrived, first, second)) return { kind: 'always', by };
      if (arrived.leaves.every((leaf) => isOfBlock(leaf) || leaf.atom?.kind === 'thread'))
        conditional = { kind: 'if-same', by, arrived, seen: arrived, earlier: 1 };
      continue;
    }
    if (by.last[scope].has(first.index) && by.last[scope].has(second.index)) {
      if (arrived.leaves.every(isOfLaunch)) return { kind: 'always', by };
      conditional = { kind: 'if-same', by, arrived, seen: arrived, earlier: 1 };
    }
    for (const [earlier, offsets] of [[1, forwards] as const, [2, backwards] as const]) {
      for (const { level, offset: seen } of offsets) {
        if (level === 'all' || (seen === arrived && seen.leaves.every(isOfLaunch))) return { kind: 'always', by };
        conditional = { kind: 'if-same', by, arrived, seen, earlier };
      }
    }
  }
  return conditional;
}

/** The locations that were acquired before the second access, if the first access is before the release; else none. */
function acquiredAfter({ before, after }: Synchronisation, scope: PairScope, first: Access, second: Access): readonly Acquired[] {
  return before[scope].has(first.index) ? (after[scope].get(second.index) ?? []) : [];
}

/**
 * Whether two accesses under locks of an array overlap only if both threads hold the same lock: the lock's offset is a
 * function of the offset of the accesses, or of the single value from which that offset is computed.
 */
function tellsLock(lock: Term, a: Access, b: Access): boolean {
  const [x, ...more] = a.targets;
  const [y, ...others] = b.targets;
  if (!x || !y || more.length > 0 || others.length > 0 || a.bytes !== b.bytes) return false;
  if (lanesOf(a.instruction) !== 1 || lanesOf(b.instruction) !== 1) return false;
  if (!isOneObject(x.base) || x.base.key !== y.base.key || x.offset !== y.offset) return false;
  // Both accesses are aligned to their size, so if they overlap, their offsets are equal.
  const known = [x.offset];
  const { operator, width, arguments: parts, coefficients } = x.offset;
  const [wide] = parts;
  if (operator === 'sum' && width === 64 && parts.length === 1 && wide!.width === 64) {
    const [narrow] = wide!.operator === 'sext' || wide!.operator === 'zext' ? wide!.arguments : [];
    // The product of a 32-bit value and the factor does not wrap around, so equal products imply equal values.
    const factor = coefficients[0]!;
    if (narrow && narrow.width <= 32 && factor > 0n && factor < 1n << 31n) known.push(wide!, narrow);
  }
  return isMadeOf(lock, known);
}

/** Whether the known terms determine the value of a term. */
function isMadeOf(term: Term, known: readonly Term[]): boolean {
  if (known.includes(term) || term.operator === 'constant' || isOfLaunch(term)) return true;
  return term.atom === null && term.arguments.length > 0 && term.arguments.every((part) => isMadeOf(part, known));
}

/** Whether a thread performs an access only while it holds a lock, with the fences that order it. */
export function isProtected(all: readonly Synchronisation[], { index }: Access): boolean {
  const isInside = ({ before, after }: Synchronisation, scope: PairScope): boolean => before[scope].has(index) && after[scope].has(index);
  return all.some((by) => by.kind === 'lock' && (isInside(by, 'block') || isInside(by, 'grid')));
}

/** Whether both accesses acquire, release or poll the same lock or counter. */
export function areOfOneLocation(all: readonly Synchronisation[], a: Access, b: Access): boolean {
  return all.some(
    ({ kind, isReleasedInside, own }) => (kind === 'lock' ? isReleasedInside : kind !== 'flag') && own.includes(a) && own.includes(b),
  );
}
