/**
 * Loads that a thread performs without anything in between that could change what it sees: no store of its own, and
 * nothing through which it could learn of another thread's. Of one place they give one value, unless another thread
 * races with them.
 */
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import type { Access, LoadedMemory } from './access.ts';
import { contactOf } from './thread-contact.ts';

/** What a load sees of memory. */
export interface Reread {
  /** Names the memory as it is for its thread there, the array and the size of its elements. */
  readonly memory: string;
  readonly offset: Term;
  readonly block: BlockId;
}

/** More loads of one memory are not compared with each other. */
const maxLoads = 12;

/**
 * The loads of memory that the kernel may write which have others to be compared with, by the value that they give.
 * @param loaded what a load reads
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
 * Names for the memory that each weak load sees, as in memory SSA: equal names stand for equal memory in one round of the
 * loops around.
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
        // Memory may be another one for the thread behind it.
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
