/** Bytes that two operations access. */
import { reachesGrid } from '../memory-model/scope.ts';
import { conflictOf } from '../memory-model/conflict.ts';
import type { LaunchEffect, OperationBytes } from './launch-effects.ts';

/** Two accesses of the same bytes, one of them a write. */
export interface SharedBytes<First, Second> {
  readonly first: First;
  readonly second: Second;
  readonly memory: string;
  /** The first byte that both access. */
  readonly offset: number;
}

/** Bytes of one cell of {@link Touches}. */
const cellBytes = 16;
/** Maximum number of cells that an access is entered in; a longer one is compared with all others. */
const maxCells = 64;

/** Accesses by the bytes that they touch. */
class Touches<Access extends OperationBytes> {
  readonly #cells = new Map<string, Access[]>();
  readonly #long: Access[] = [];

  constructor(accesses: readonly Access[]) {
    for (const access of accesses) {
      const keys = cellsOf(access);
      if (!keys) this.#long.push(access);
      for (const key of keys ?? []) {
        const list = this.#cells.get(key) ?? [];
        list.push(access);
        this.#cells.set(key, list);
      }
    }
  }

  /** The accesses that may share bytes with another one. */
  near(access: OperationBytes): Iterable<Access> {
    const keys = cellsOf(access);
    return [...(keys ? keys.flatMap((key) => this.#cells.get(key) ?? []) : [...this.#cells.values()].flat()), ...this.#long];
  }
}

function cellsOf({ memory, offset, bytes }: OperationBytes): string[] | null {
  const [from, to] = [Math.floor(offset / cellBytes), Math.floor((offset + bytes - 1) / cellBytes)];
  return to - from >= maxCells ? null : Array.from({ length: to - from + 1 }, (_, at) => `${memory} ${from + at}`);
}

/** For each access of the second operation the first one of the other operation that certainly conflicts with it. */
export function overlapsOf<First extends OperationBytes, Second extends OperationBytes>(
  first: readonly First[],
  second: readonly Second[],
): SharedBytes<First, Second>[] {
  const touches = new Touches(first.filter(({ isOpen }) => !isOpen));
  return second.flatMap((access) => {
    if (access.isOpen) return [];
    for (const other of touches.near(access)) {
      const offset = Math.max(access.offset, other.offset);
      const isShared = access.memory === other.memory && offset < Math.min(access.offset + access.bytes, other.offset + other.bytes);
      if (isShared && conflicts(other, access)) return [{ first: other, second: access, memory: access.memory, offset }];
    }
    return [];
  });
}

/** The accesses of the second operation to a memory that the other one accesses, if it is open which bytes one of the two accesses. */
export function possibleOverlaps<Second extends OperationBytes>(first: readonly OperationBytes[], second: readonly Second[]): Second[] {
  const keyOf = ({ memory, operation, isOpen, strong, bytes, stored }: OperationBytes): string =>
    [memory, operation, isOpen, strong, bytes, stored].join(' ');
  const others = [...new Map(first.map((one) => [keyOf(one), one])).values()];
  return second.filter((access) =>
    others.some((other) => other.memory === access.memory && (other.isOpen || access.isOpen) && conflicts(other, access)),
  );
}

/** Both operations are in other launches: their threads have no common scope below that of the device. */
function conflicts(first: OperationBytes, second: OperationBytes): boolean {
  // Stores are aligned: those of one size that overlap write the same element.
  const areEqual = first.stored !== undefined && first.stored === second.stored && first.bytes === second.bytes;
  return !areEqual && conflictOf(first, second, 2) === 'race';
}

/**
 * Whether one launch observes, by a strong access, memory that the other one writes by strong accesses: a flag or a lock may order
 * their other accesses (PTX ISA 8.8).
 */
export function maySynchronise(first: readonly LaunchEffect[], second: readonly LaunchEffect[]): boolean {
  const strong = ({ strong: scope }: LaunchEffect): boolean => reachesGrid(scope);
  const observes = (one: readonly LaunchEffect[], other: readonly LaunchEffect[]): boolean => {
    const written = new Set(other.flatMap((effect) => (strong(effect) && effect.operation !== 'read' ? [effect.memory] : [])));
    return one.some((effect) => strong(effect) && effect.isObserved === true && written.has(effect.memory));
  };
  return observes(first, second) || observes(second, first);
}

/**
 * Whether an access of a launch may not have ended when the next one starts early: what it only reads has been read, unless it let
 * that one start before (CUDA programming guide, "Programmatic Dependent Launch and Synchronization").
 */
export function mayBeLater({ operation, isAfterTrigger }: LaunchEffect): boolean {
  return operation !== 'read' || isAfterTrigger;
}
