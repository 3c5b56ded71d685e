/**
 * Loads of one location by one thread, without an own store or a synchronization between them. Such loads return one
 * value, unless another thread races with them.
 */
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import type { Access, LoadedMemory } from './access.ts';
import { contactOf } from './thread-contact.ts';

/** A load whose result is compared with that of others: the memory state that it reads. */
export interface Reread {
  /** Denotes the version of memory, the array and the element size. */
  readonly memory: string;
  readonly offset: Term;
  readonly block: BlockId;
}

/** Maximum number of loads of one memory that are compared with each other. */
const maxLoads = 12;

/**
 * Loads of memory that the kernel may write, by their result, if there are other loads to compare with.
 * @param loaded the kind of memory that a load reads
 */
export function findRereads(
  kernel: Kernel,
  accesses: readonly Access[],
  loaded: (load: Instruction) => LoadedMemory,
): ReadonlyMap<number, Reread> {
  const found = new Map<string, (readonly [number, Reread])[]>();
  let versions: ReadonlyMap<Instruction, string> | null = null;
  for (const { instruction, operation, targets, block, strong } of accesses) {
    const { effect } = instruction.operation;
    const [value] = instruction.results;
    const [target, ...others] = targets;
    if (operation !== 'read' || effect.kind !== 'load' || effect.lanes !== 1 || strong !== null) continue;
    if (typeof value !== 'number' || !target || others.length > 0 || loaded(instruction) === 'fixed') continue;
    versions ??= versionsOf(kernel);
    const memory = `${versions.get(instruction)} ${target.base.key} ${effect.bytes}`;
    found.set(memory, [...(found.get(memory) ?? []), [value, { memory, offset: target.offset, block }]]);
  }
  const several = [...found.values()].filter(({ length }) => length > 1 && length <= maxLoads);
  return new Map(several.flat());
}

/**
 * The version of memory that each weak load reads, as in memory SSA: equal names are equal memory in one iteration of
 * the loops around.
 */
function versionsOf({ blocks }: Kernel): ReadonlyMap<Instruction, string> {
  const after: (string | null)[] = blocks.map(() => null);
  const merging = new Set<BlockId>([0 as BlockId]);
  const seen = new Map<Instruction, string>();
  for (let changed = true; changed;) {
    changed = false;
    for (const { id, instructions, predecessors } of blocks) {
      const before = new Set(predecessors.flatMap((from) => after[from] ?? []));
      const [only] = before;
      if (before.size !== 1) merging.add(id);
      let version = merging.has(id) ? `block${id}` : only!;
      for (const instruction of instructions) {
        if (isWeakLoad(instruction)) seen.set(instruction, version);
        // After the instruction, the thread may observe other memory contents.
        else if (contactOf(instruction) !== 'none') version = `behind${instruction.id}`;
      }
      if (after[id] !== version) {
        after[id] = version;
        changed = true;
      }
    }
  }
  return seen;
}

function isWeakLoad({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'load' && effect.semantics === 'weak';
}
