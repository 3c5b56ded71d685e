/** The memory accesses of a kernel that can take part in a race. */
import type { BlockId, Instruction } from '../ir/kernel.ts';
import type { Scope } from '../isa/operation.ts';
import type { Term } from '../term/term.ts';
import { type IsScalar, type Target, resolveTargets } from './memory-base.ts';
import type { SymbolicKernel } from './symbolic.ts';

export interface Access {
  readonly index: number;
  readonly instruction: Instruction;
  readonly block: BlockId;
  /** Position among the block's instructions. */
  readonly position: number;
  readonly operation: 'read' | 'write' | 'atomic';
  /** Bytes touched, all lanes of a vector together. */
  readonly bytes: number;
  readonly scope: Scope;
  /** `generic` where the address does not tell. */
  readonly memory: 'global' | 'shared' | 'generic';
  readonly targets: readonly Target[];
  /** The values stored, per lane; null for reads and atomics. */
  readonly stored: readonly Term[] | null;
}

/** Lists the loads, stores and atomics of a kernel on global, shared and unresolved memory. */
export function collectAccesses(symbolic: SymbolicKernel, isScalar: IsScalar): readonly Access[] {
  const accesses: Access[] = [];
  for (const block of symbolic.kernel.blocks) {
    block.instructions.forEach((instruction, position) => {
      const access = readAccess(symbolic, instruction, isScalar);
      if (access) accesses.push({ index: accesses.length, instruction, block: block.id, position, ...access });
    });
  }
  return accesses;
}

type AccessParts = Omit<Access, 'index' | 'instruction' | 'block' | 'position'>;

function readAccess(symbolic: SymbolicKernel, instruction: Instruction, isScalar: IsScalar): AccessParts | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'load' && effect.kind !== 'store' && effect.kind !== 'atomic') return null;
  if (effect.space === 'const' || effect.space === 'param' || effect.space === 'local') return null;
  const { store, kernel } = symbolic;
  const pointer = symbolic.operand(instruction.arguments[0]!);
  const address = store.sum(pointer.width, instruction.offset, [[pointer, 1n]]);
  const targets = resolveTargets(store, kernel, address, store.true, isScalar).filter(({ base }) => isShareable(base));
  if (targets.length === 0) return null;
  const { lanes } = effect;
  return {
    operation: effect.kind === 'load' ? 'read' : effect.kind === 'store' ? 'write' : 'atomic',
    bytes: effect.bytes * lanes,
    scope: effect.scope,
    memory: memoryOf(effect.space, targets),
    targets,
    stored: effect.kind === 'store' ? instruction.arguments.slice(1, 1 + lanes).map(symbolic.operand) : null,
  };
}

/** Local and constant memory, and parameters, are never raced on. */
function isShareable(base: Target['base']): boolean {
  return base.kind !== 'object' || base.object.space === 'global' || base.object.space === 'shared';
}

function memoryOf(space: string, targets: readonly Target[]): Access['memory'] {
  if (space === 'global' || space === 'shared') return space;
  const spaces = new Set(
    targets.map(({ base }) =>
      base.kind === 'unknown'
        ? 'generic'
        : base.kind === 'object' && base.object.space === 'shared'
          ? 'shared'
          : 'global',
    ),
  );
  return spaces.size === 1 ? ([...spaces][0] as Access['memory']) : 'generic';
}

/** Whether an access changes memory. */
export function isWriter(access: Access): boolean {
  return access.operation !== 'read';
}

/** Whether two accesses conflict: not both reads, and not both atomic (within reach of their scopes). */
export function conflict(a: Access, b: Access, sameBlock: boolean): boolean {
  if (a.operation === 'read' && b.operation === 'read') return false;
  if (a.operation !== 'atomic' || b.operation !== 'atomic') return true;
  // Atomics of different sizes are not atomic to each other (PTX ISA, morally strong operations).
  if (a.bytes !== b.bytes) return true;
  return !sameBlock && (a.scope === 'cta' || b.scope === 'cta');
}

/** Whether the kernel may write the object that a load reads: asked by the uniformity analysis. */
export function writtenObjects(accesses: readonly Access[]): (load: Instruction) => boolean {
  const keys = new Set<string>();
  for (const access of accesses) if (isWriter(access)) for (const { base } of access.targets) keys.add(base.key);
  const byInstruction = new Map(accesses.map((access) => [access.instruction, access]));
  const unknown = keys.has('unknown');
  return (load) => {
    const access = byInstruction.get(load);
    if (!access) return false;
    if (unknown) return true;
    return access.targets.some(({ base }) => (base.kind === 'unknown' ? keys.size > 0 : keys.has(base.key)));
  };
}
