/** Stores that ptxas may leave out, since another one behind them stores to the same place before anybody may look. */
import type { BlockId, Instruction, Kernel } from '../ir/form/kernel.ts';
import { rootOf } from './displacements.ts';
import { SourceOrigins } from './origins.ts';

/** A store of the PTX with the block that it is in. */
export interface StoreInBlock {
  readonly instruction: Instruction;
  readonly block: BlockId;
}

/**
 * Lines of stores behind which, with no barrier and no fence in between, a store follows that may be of the same place.
 * @param stores all of the kernel
 * @param lines those asked for
 */
export function overwrittenLines(
  kernel: Kernel,
  stores: readonly StoreInBlock[],
  lines: ReadonlySet<number>,
): Set<number> {
  const asked = stores.filter(({ instruction }) => lines.has(instruction.ptxLine));
  const found = new Set<number>();
  if (asked.length === 0) return found;
  const origins = new SourceOrigins(kernel);
  const successors: BlockId[][] = kernel.blocks.map(() => []);
  for (const { id, predecessors } of kernel.blocks) for (const one of predecessors) successors[one]!.push(id);
  for (const { instruction, block } of asked) {
    const { instructions } = kernel.blocks[block]!;
    const seen = new Set<BlockId>();
    const work = [{ block, from: instructions.indexOf(instruction) + 1 }];
    while (work.length > 0) {
      const next = work.pop()!;
      const rest = kernel.blocks[next.block]!.instructions.slice(next.from);
      const last = rest.findIndex((one) => separates(one) || overwrites(kernel, origins, instruction, one));
      if (last >= 0) {
        if (!separates(rest[last]!)) found.add(instruction.ptxLine);
        continue;
      }
      for (const successor of successors[next.block]!) {
        if (seen.has(successor)) continue;
        seen.add(successor);
        work.push({ block: successor, from: 0 });
      }
    }
  }
  return found;
}

/** What may look at a place, or lets others look. */
function separates({ operation: { effect } }: Instruction): boolean {
  return /^(?:barrier|grid-barrier|fence|async-copy|bulk-copy)$/.test(effect.kind);
}

function bytesOf({ operation: { effect } }: Instruction): number {
  return effect.kind === 'store' ? effect.bytes * effect.lanes : 0;
}

/** Whether a store may be of all that an earlier one stores. */
function overwrites(kernel: Kernel, origins: SourceOrigins, earlier: Instruction, later: Instruction): boolean {
  if (later.operation.effect.kind !== 'store' || bytesOf(later) < bytesOf(earlier)) return false;
  const [one, other] = [earlier.arguments[0], later.arguments[0]];
  if (!one || !other) return false;
  const [left, right] = [rootOf(kernel, one), rootOf(kernel, other)];
  if (left && right && left.root === right.root) {
    const apart = left.added + earlier.offset - right.added - later.offset;
    return apart >= 0n && apart + BigInt(bytesOf(earlier)) <= BigInt(bytesOf(later));
  }
  const [from, to] = [origins.of(one), origins.of(other)];
  if (from.isOpen || to.isOpen) return true;
  return from.leaves.size === to.leaves.size && [...from.leaves].every((leaf) => to.leaves.has(leaf));
}
