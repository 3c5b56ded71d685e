/** Stores that ptxas may leave out, since another one behind them stores to the same place before anybody may look. */
import { dominates } from '../../ir/form/dominators.ts';
import type { BlockId, Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import { rootOf } from '../displacements.ts';

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
  const successors: BlockId[][] = kernel.blocks.map(() => []);
  for (const { id, predecessors } of kernel.blocks) for (const one of predecessors) successors[one]!.push(id);
  for (const { instruction, block } of asked) {
    const { instructions } = kernel.blocks[block]!;
    const seen = new Set<BlockId>();
    const work = [{ block, from: instructions.indexOf(instruction) + 1 }];
    while (work.length > 0) {
      const next = work.pop()!;
      const rest = kernel.blocks[next.block]!.instructions.slice(next.from);
      const last = rest.findIndex((one) => separates(one) || overwrites(kernel, instruction, one));
      if (last >= 0) {
        if (!separates(rest[last]!)) found.add(instruction.ptxLine);
        continue;
      }
      for (const successor of successors[next.block]!) {
        // The next round of a loop has an address of its own.
        if (seen.has(successor) || dominates(kernel.dominators, successor, next.block)) continue;
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

/** Whether a store is of all that an earlier one stores. */
function overwrites(kernel: Kernel, earlier: Instruction, later: Instruction): boolean {
  if (later.operation.effect.kind !== 'store' || bytesOf(later) < bytesOf(earlier)) return false;
  const [one, other] = [earlier.arguments[0], later.arguments[0]];
  if (!one || !other) return false;
  const [left, right] = [rootOf(kernel, one), rootOf(kernel, other)];
  if (!left || !right) return sameValue(kernel, one, other, 0) && earlier.offset === later.offset;
  if (left.root !== right.root && !sameRoot(kernel, left.root, right.root)) return false;
  const apart = left.added + earlier.offset - right.added - later.offset;
  return apart >= 0n && apart + BigInt(bytesOf(earlier)) <= BigInt(bytesOf(later));
}

/** So far two computations are compared. */
const mostDepth = 24;

function sameRoot(kernel: Kernel, one: string, other: string): boolean {
  const [left, right] = [one, other].map((root) => /^value (\d+)$/.exec(root)?.[1]);
  if (left === undefined || right === undefined) return false;
  const idOf = (text: string): Operand => ({ kind: 'value', id: Number(text) as ValueId });
  return sameValue(kernel, idOf(left), idOf(right), 0);
}

/** Whether two operands are computed in the same way from the same. */
function sameValue(kernel: Kernel, one: Operand, other: Operand, depth: number): boolean {
  if (one.kind !== other.kind || depth > mostDepth) return false;
  if (one.kind === 'constant' && other.kind === 'constant') return one.value === other.value;
  if (one.kind === 'special' && other.kind === 'special') return one.register === other.register;
  if (one.kind === 'address' && other.kind === 'address')
    return one.object === other.object && one.offset === other.offset;
  if (one.kind !== 'value' || other.kind !== 'value') return false;
  if (one.id === other.id) return true;
  const [left, right] = [kernel.values[one.id]!.definition, kernel.values[other.id]!.definition];
  if (left.kind === 'phi' || right.kind === 'phi') return false;
  const [from, to] = [left.instruction, right.instruction];
  const { effect, mnemonic } = from.operation;
  if (mnemonic !== to.operation.mnemonic || from.offset !== to.offset) return false;
  if (effect.kind !== 'pure' && !(effect.kind === 'load' && effect.space === 'param')) return false;
  return from.arguments.every((argument, index) => sameValue(kernel, argument, to.arguments[index]!, depth + 1));
}
