/** Stores that ptxas may omit, since a later store overwrites the same memory before it may be observed. */
import { dominates } from '../../ir/form/dominators.ts';
import type { BlockId, Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import { rootOf } from '../displacements.ts';

/** A store of the PTX with its block. */
export interface StoreInBlock {
  readonly instruction: Instruction;
  readonly block: BlockId;
}

/**
 * Lines of stores that, on every later path, are followed by a store to the same place before they may be observed:
 * with no barrier, no fence, no end of the kernel and no load of that place in between.
 * @param stores all stores of the kernel
 * @param lines requested lines
 * @param looking lines with SASS that loads; ptxas may know the results of other loads
 */
export function overwrittenLines(
  kernel: Kernel,
  stores: readonly StoreInBlock[],
  lines: ReadonlySet<number>,
  looking: ReadonlySet<number>,
): Set<number> {
  const asked = stores.filter(({ instruction }) => lines.has(instruction.ptxLine));
  if (asked.length === 0) return new Set();
  const successors: BlockId[][] = kernel.blocks.map(() => []);
  for (const { id, predecessors } of kernel.blocks) for (const one of predecessors) successors[one]!.push(id);
  const isOverwritten = ({ instruction, block }: StoreInBlock): boolean => {
    const seen = new Set<BlockId>();
    const work = [{ block, from: kernel.blocks[block]!.instructions.indexOf(instruction) + 1 }];
    while (work.length > 0) {
      const next = work.pop()!;
      const rest = kernel.blocks[next.block]!.instructions.slice(next.from);
      const last = rest.find(
        (one) => separates(one) || overwrites(kernel, instruction, one) || (looking.has(one.ptxLine) && looksAt(kernel, instruction, one)),
      );
      if (last && overwrites(kernel, instruction, last)) continue;
      // The address differs in the next iteration of a loop.
      const leaves = successors[next.block]!.some((one) => dominates(kernel.dominators, one, next.block));
      if (last || leaves || successors[next.block]!.length === 0) return false;
      for (const successor of successors[next.block]!) {
        if (seen.has(successor)) continue;
        seen.add(successor);
        work.push({ block: successor, from: 0 });
      }
    }
    return true;
  };
  return new Set(asked.filter(isOverwritten).map(({ instruction }) => instruction.ptxLine));
}

/** Whether an instruction may observe memory, or allow other threads to observe it. */
function separates({ operation: { effect } }: Instruction): boolean {
  return /^(?:barrier|grid-barrier|warp-barrier|cluster-barrier|mbarrier|fence|copy|warp-matrix)$/.test(effect.kind);
}

function bytesOf({ operation: { effect } }: Instruction): number {
  return effect.kind === 'store' ? effect.bytes * effect.lanes : 0;
}

/** Whether a load or an atomic may access memory that a store writes. */
function looksAt(kernel: Kernel, store: Instruction, { operation: { effect }, arguments: [address], offset }: Instruction): boolean {
  const own = store.operation.effect;
  if ((effect.kind !== 'load' && effect.kind !== 'atomic') || own.kind !== 'store') return false;
  if (effect.kind === 'load' && effect.nonCoherent) return false;
  if (effect.space !== own.space && effect.space !== 'generic' && own.space !== 'generic') return false;
  const [left, right] = [store.arguments[0], address].map((one) => one && rootOf(kernel, one));
  if (!left || !right || left.root !== right.root) return true;
  const distance = right.added + offset - left.added - store.offset;
  return distance < BigInt(bytesOf(store)) && distance + BigInt(effect.bytes * effect.lanes) > 0n;
}

/** Whether a later store overwrites all bytes of an earlier one. */
function overwrites(kernel: Kernel, earlier: Instruction, later: Instruction): boolean {
  if (earlier.operation.effect.kind !== 'store' || later.operation.effect.kind !== 'store') return false;
  if (bytesOf(later) < bytesOf(earlier)) return false;
  const [one, other] = [earlier.arguments[0], later.arguments[0]];
  if (!one || !other) return false;
  const [left, right] = [rootOf(kernel, one), rootOf(kernel, other)];
  if (!left || !right) return sameValue(kernel, one, other, 0) && earlier.offset === later.offset;
  if (left.root !== right.root && !sameRoot(kernel, left.root, right.root)) return false;
  const distance = left.added + earlier.offset - right.added - later.offset;
  return distance >= 0n && distance + BigInt(bytesOf(earlier)) <= BigInt(bytesOf(later));
}

/** Maximum depth to which two computations are compared. */
const maxDepth = 24;

function sameRoot(kernel: Kernel, one: string, other: string): boolean {
  const [left, right] = [one, other].map((root) => /^value (\d+)$/.exec(root)?.[1]);
  if (left === undefined || right === undefined) return false;
  const idOf = (text: string): Operand => ({ kind: 'value', id: Number(text) as ValueId });
  return sameValue(kernel, idOf(left), idOf(right), 0);
}

/** Whether two operands are computed by the same operations from the same operands. */
function sameValue(kernel: Kernel, one: Operand, other: Operand, depth: number): boolean {
  if (one.kind !== other.kind || depth > maxDepth) return false;
  if (one.kind === 'constant' && other.kind === 'constant') return one.value === other.value;
  if (one.kind === 'special' && other.kind === 'special') return one.register === other.register;
  if (one.kind === 'address' && other.kind === 'address') return one.object === other.object && one.offset === other.offset;
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
