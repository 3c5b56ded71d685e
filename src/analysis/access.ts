/** The memory accesses of a kernel that can take part in a race. */
import type { BlockId, Instruction } from '../ir/kernel.ts';
import type { Scope } from '../isa/operation.ts';
import type { Term } from '../term/term.ts';
import { type DeclaredAs, type Target, resolveTargets } from './memory-base.ts';
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
export function collectAccesses(symbolic: SymbolicKernel, declaredAs: DeclaredAs): readonly Access[] {
  const accesses: Access[] = [];
  for (const block of symbolic.kernel.blocks) {
    block.instructions.forEach((instruction, position) => {
      const access = readAccess(symbolic, instruction, declaredAs);
      if (access) accesses.push({ index: accesses.length, instruction, block: block.id, position, ...access });
    });
  }
  return accesses;
}

type AccessParts = Omit<Access, 'index' | 'instruction' | 'block' | 'position'>;

function readAccess(symbolic: SymbolicKernel, instruction: Instruction, declaredAs: DeclaredAs): AccessParts | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'load' && effect.kind !== 'store' && effect.kind !== 'atomic') return null;
  if (effect.space === 'const' || effect.space === 'param' || effect.space === 'local') return null;
  const targets = targetsOf(symbolic, instruction, declaredAs).filter(({ base }) => isShareable(base));
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

function targetsOf(symbolic: SymbolicKernel, instruction: Instruction, declaredAs: DeclaredAs): readonly Target[] {
  const { store, kernel } = symbolic;
  const pointer = symbolic.operand(instruction.arguments[0]!);
  const address = store.sum(pointer.width, instruction.offset, [[pointer, 1n]]);
  return resolveTargets(store, kernel, address, store.true, declaredAs);
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

/**
 * What a load reads: memory that the kernel does not write, memory that it may write, or memory of which each thread
 * has its own (its stack frame, or what a pointer that is not followed leads to).
 */
export type LoadedMemory = 'fixed' | 'written' | 'private';

/**
 * Tells what loads read: asked by the uniformity analysis.
 * @param mayAlias whether two bases may be the same memory
 */
export function loadedMemory(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  declaredAs: DeclaredAs,
  mayAlias: (a: Target['base'], b: Target['base']) => boolean,
): (load: Instruction) => LoadedMemory {
  const written = new Map<string, Target['base']>();
  for (const access of accesses)
    if (isWriter(access)) for (const { base } of access.targets) written.set(base.key, base);
  return (load) => {
    const { effect } = load.operation;
    if (effect.kind !== 'load' || effect.space === 'local') return 'private';
    if (effect.space === 'const') return 'fixed';
    const bases = targetsOf(symbolic, load, declaredAs).map(({ base }) => base);
    const mayBePrivate = effect.space === 'generic' || effect.space === 'param';
    if (mayBePrivate && bases.some(isPrivate)) return 'private';
    const isWritten = bases.some(
      (base) =>
        isShareable(base) && [...written.values()].some((other) => mayMeet(base, other) || mayAlias(base, other)),
    );
    return isWritten ? 'written' : 'fixed';
  };
}

function mayMeet(a: Target['base'], b: Target['base']): boolean {
  return a.key === b.key || a.kind === 'unknown' || b.kind === 'unknown';
}

/** Whether each thread may have its own memory behind a base. */
function isPrivate(base: Target['base']): boolean {
  if (base.kind === 'unknown') return true;
  if (base.kind === 'parameter') return false;
  const { space, parameter } = base.object;
  return space === 'local' || (space === 'param' && parameter === undefined);
}
