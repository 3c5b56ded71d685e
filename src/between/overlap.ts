/** Bytes that two operations access, and which accesses of two launches nothing orders. */
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

/** For each access of the second operation the first one of the other operation that conflicts with it. */
export function overlapsOf<First extends OperationBytes, Second extends OperationBytes>(
  first: readonly First[],
  second: readonly Second[],
  isUnordered: (first: First, second: Second) => boolean = () => true,
): SharedBytes<First, Second>[] {
  const touches = new Touches(first);
  return second.flatMap((access) => {
    for (const other of touches.near(access)) {
      const offset = Math.max(access.offset, other.offset);
      const isShared = access.memory === other.memory && offset < Math.min(access.offset + access.bytes, other.offset + other.bytes);
      if (isShared && conflicts(other, access) && isUnordered(other, access))
        return [{ first: other, second: access, memory: access.memory, offset }];
    }
    return [];
  });
}

function conflicts(first: OperationBytes, second: OperationBytes): boolean {
  const areAtomic = first.operation === 'atomic' && second.operation === 'atomic';
  return !areAtomic && (first.operation !== 'read' || second.operation !== 'read');
}

/**
 * Whether nothing orders an access of a launch with programmatic stream serialization after one of the launch before: it is made
 * before the wait. What the first launch only reads has been read when the second one starts, unless it let the second start
 * before (CUDA programming guide, "Programmatic Dependent Launch and Synchronization").
 */
export function isBeforeWait(first: LaunchEffect, second: LaunchEffect): boolean {
  return second.isEarly && (first.operation !== 'read' || first.isAfterTrigger);
}
