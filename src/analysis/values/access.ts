/** The memory accesses of a kernel that can take part in a race. */
import type { BlockId, Instruction } from '../../ir/form/kernel.ts';
import { spanOfMatrix } from '../../isa/arithmetic/shared-matrix.ts';
import { accessesOfEffect, completionOf, hasPlainAccesses } from '../../isa/model/effect.ts';
import type { MatrixAccessEffect, SharedMatrix } from '../../isa/model/operation.ts';
import { type MemoryOperation, weak } from '../../memory-model/conflict.ts';
import { possibleBits } from '../../term/possible-bits.ts';
import { substituted } from '../../term/rewrite.ts';
import type { Term } from '../../term/term.ts';
import { type Base, type DeclaredAs, type Target, isOneObject, loadedPointer, resolveTargets } from './memory-base.ts';
import { describedMatrix } from '../../term/matrix-descriptor.ts';
import type { SymbolicKernel } from './symbolic.ts';

export interface Access extends MemoryOperation {
  readonly index: number;
  readonly instruction: Instruction;
  readonly block: BlockId;
  /** Position among the block's instructions. */
  readonly position: number;
  /** `generic` if the address does not determine the state space. */
  readonly memory: 'global' | 'shared' | 'generic';
  readonly targets: readonly Target[];
  /** The values stored, per lane; null for reads, atomics and copies. */
  readonly stored: readonly Term[] | null;
  /**
   * Whether an asynchronous operation, such as `cp.async` or `wgmma.mma_async`, makes the access: at any time between
   * the instruction and the wait of its thread.
   */
  readonly isCopy: boolean;
  /** Executed by a warp as a whole; absent if each thread accesses separately. */
  readonly ofWarp?: WarpAccess;
}

/**
 * Memory that `wmma.load`, `wmma.store`, `ldmatrix` and `stmatrix` access. The lanes that access the elements of a line
 * are not distinguished: each lane may access every line that its own address points to.
 */
export interface WarpAccess {
  /**
   * Bytes from the first line to the line that the lane accesses, a term with an atom `line`; null if there is only one
   * line.
   */
  readonly toLine: Term | null;
  /** Bytes from each line to the next; null if there is only one line. */
  readonly distance: Term | null;
  /** Layout of the fragment: accesses with equal layouts have each element in the same lane. */
  readonly fragment: string;
  /** Whether lines are columns of the matrix. */
  readonly transposed: boolean;
}

/**
 * Lists the loads, stores, atomics, asynchronous copies and accesses of warps of a kernel on global, shared and unresolved
 * memory. A copy is two accesses, the write first.
 */
export function collectAccesses(symbolic: SymbolicKernel, declaredAs: DeclaredAs): readonly Access[] {
  const accesses: Access[] = [];
  for (const block of symbolic.kernel.blocks) {
    const inBlock = onlyIteration(symbolic, block.id);
    block.instructions.forEach((instruction, position) => {
      for (const access of accessesOf(symbolic, instruction, declaredAs)) {
        const targets = inBlock ? access.targets.map((target) => ({ ...target, offset: inBlock(target.offset) })) : access.targets;
        accesses.push({ index: accesses.length, instruction, block: block.id, position, ...access, targets });
      }
    });
  }
  return withFixedTables(accesses);
}

/**
 * The value that terms have in a block which is reached in one iteration of a loop only, as in an unrolled copy of one element:
 * the compiler writes the condition `i < 1` as `i == 0`. Null if the block is reached in any iteration.
 */
function onlyIteration({ store, reach }: SymbolicKernel, block: BlockId): ((term: Term) => Term) | null {
  const condition = reach(block);
  const values = new Map<Term, Term>();
  for (const part of condition.operator === 'all' ? condition.arguments : [condition]) {
    const [a, b] = part.operator === 'equal' ? part.arguments : [];
    if (a?.atom?.kind === 'iteration' && b!.operator === 'constant') values.set(a, b!);
    if (b?.atom?.kind === 'iteration' && a!.operator === 'constant') values.set(b, a!);
  }
  const memo = new Map<Term, Term>();
  return values.size > 0 ? (term) => substituted(store, term, (leaf) => values.get(leaf), memo) : null;
}

/**
 * Lists the loads of a kernel from constant memory, as accesses of global memory, in which it is located (CUDA
 * programming guide, device memory spaces). They cannot race, so {@link collectAccesses} omits them; only their array
 * bounds are checked.
 */
export function constantReads(symbolic: SymbolicKernel, declaredAs: DeclaredAs): readonly Access[] {
  return symbolic.kernel.blocks.flatMap((block) =>
    block.instructions.flatMap((instruction, position): Access[] => {
      const { effect } = instruction.operation;
      if (effect.kind !== 'load' || (effect.space !== 'const' && effect.space !== 'generic')) return [];
      const targets = targetsOf(symbolic, instruction, declaredAs, 0).filter(({ base }) => isConstant(base));
      if (targets.length === 0) return [];
      const bytes = effect.bytes * effect.lanes;
      return [
        {
          index: -1,
          instruction,
          block: block.id,
          position,
          operation: 'read',
          bytes,
          ...weak,
          memory: 'global',
          targets,
          stored: null,
          isCopy: false,
        },
      ];
    }),
  );
}

function isConstant(base: Base): boolean {
  return base.kind === 'object' && base.object.space === 'const';
}

/** Pointers in an array that the kernel may write are not followed: the same pointer could be stored twice. */
function withFixedTables(accesses: readonly Access[]): readonly Access[] {
  const written = new Set(accesses.filter(isWriter).flatMap(({ targets }) => targets.map(({ base }) => base.key)));
  const isFixed = ({ base }: Target): boolean => base.kind !== 'loaded' || !(written.has(base.table.key) || written.has('unknown'));
  if (accesses.every(({ targets }) => targets.every(isFixed))) return accesses;
  return withFixedTables(
    accesses.map((access) => ({
      ...access,
      targets: access.targets.map((target) => (isFixed(target) ? target : unfollowed(target))),
    })),
  );
}

function unfollowed(target: Target): Target {
  return { ...target, base: { kind: 'unknown', key: 'unknown' } };
}

type AccessParts = Omit<Access, 'index' | 'instruction' | 'block' | 'position'>;

function accessesOf(symbolic: SymbolicKernel, instruction: Instruction, declaredAs: DeclaredAs): AccessParts[] {
  const { effect } = instruction.operation;
  if (effect.kind === 'warpgroup-multiply')
    return effect.matrices.map((matrix) => sharedMatrixRead(symbolic, instruction, matrix, declaredAs));
  if (effect.kind === 'matrix-access') return matrixAccess(symbolic, instruction, effect, declaredAs);
  if (!hasPlainAccesses(effect)) return [];
  return accessesOfEffect(effect).flatMap(({ operation, space, bytes, count, source, strong, semantics, elementBytes }) => {
    if (space === 'const' || space === 'param' || space === 'local') return [];
    const targets = targetsOf(symbolic, instruction, declaredAs, source).filter(({ base }) => isShareable(base));
    if (targets.length === 0) return [];
    const unit = elementBytes ?? (count > 1 ? bytes : undefined);
    return {
      operation,
      bytes: bytes * count,
      strong,
      semantics,
      ...(unit !== undefined && { elementBytes: unit }),
      memory: memoryOf(space, targets),
      targets,
      stored: effect.kind === 'store' ? instruction.arguments.slice(1, 1 + effect.lanes).map(symbolic.operand) : null,
      isCopy: completionOf(effect) !== null,
    };
  });
}

function matrixAccess(
  symbolic: SymbolicKernel,
  instruction: Instruction,
  effect: MatrixAccessEffect,
  declaredAs: DeclaredAs,
): AccessParts[] {
  const { store } = symbolic;
  const distance = effect.addressing === 'stride' ? lineDistance(symbolic, instruction, effect) : null;
  const line = store.atom(64, { kind: 'line', instruction: instruction.id, lines: effect.lines });
  const toLine = distance && store.mul(64, line, distance);
  const targets = targetsOf(symbolic, instruction, declaredAs, 0)
    .filter(({ base }) => isShareable(base))
    .map((target) => {
      const { width } = target.offset;
      return toLine ? { ...target, offset: store.add(width, target.offset, store.truncate(width, toLine)) } : target;
    });
  if (targets.length === 0) return [];
  return [
    {
      operation: effect.operation,
      bytes: effect.lineBytes,
      ...weak,
      memory: memoryOf(effect.space, targets),
      targets,
      stored: null,
      isCopy: false,
      ofWarp: { toLine, distance, fragment: effect.fragment, transposed: effect.transposed },
    },
  ];
}

/**
 * The read of a matrix in shared memory by a matrix product of a warp group, attributed to each of its threads: all
 * bytes from the first to the last. If the descriptor cannot be analyzed, any bytes.
 */
function sharedMatrixRead(symbolic: SymbolicKernel, instruction: Instruction, matrix: SharedMatrix, declaredAs: DeclaredAs): AccessParts {
  const { store, kernel } = symbolic;
  const read = { operation: 'read', ...weak, memory: 'shared', stored: null, isCopy: true } as const;
  const described = describedMatrix(store, symbolic.operand(instruction.arguments[matrix.source]!));
  const resolved = described ? resolveTargets(store, kernel, described.address, store.true, declaredAs) : [];
  const spans = resolved.map(({ base, offset }) => {
    const alignment = base.kind === 'object' && base.object.space === 'shared' ? base.object.alignment : null;
    if (alignment === null) return null;
    const varying =
      offset.operator === 'sum' ? offset.arguments.map((part, i) => store.sum(32, 0n, [[part, offset.coefficients[i]!]])) : [offset];
    const bits = offset.operator === 'constant' ? 0n : varying.reduce((all, part) => all | possibleBits(part), 0n);
    const isKnown = (modulus: number): boolean => alignment % modulus === 0 && (bits & BigInt(modulus - 1)) === 0n;
    const span = spanOfMatrix(matrix, described!.fields, isKnown(128) ? Number(offset.value % 128n) & ~15 : null);
    const lost = isKnown(16) ? Number(offset.value % 16n) : null;
    if (!span) return null;
    const before = span.before + (lost ?? 15);
    const bytes = span.bytes + (lost === null ? 15 : 0);
    return { before, bytes };
  });
  const [first] = spans;
  // An access has one length: if descriptors are selected, their matrices must have equal spans.
  if (!first || spans.some((span) => span?.bytes !== first.bytes)) {
    const target: Target = {
      base: { kind: 'unknown', key: 'unknown' },
      offset: store.constant(32, 0n),
      condition: store.true,
    };
    return { ...read, bytes: 1, targets: [target] };
  }
  const targets = resolved.map((target, i) => ({
    ...target,
    offset: store.sum(32, -BigInt(spans[i]!.before), [[target.offset, 1n]]),
  }));
  return { ...read, bytes: first.bytes, targets };
}

/** Bytes from one line of a matrix to the next: the last source gives the number of elements. */
function lineDistance(
  { store, operand }: SymbolicKernel,
  { operation: { sources }, arguments: operands }: Instruction,
  { strided, lineBytes, elementBits }: MatrixAccessEffect,
): Term {
  if (!strided) return store.constant(64, BigInt(lineBytes));
  const elements = store.signExtend(64, operand(operands[sources.length - 1]!));
  if (elementBits >= 8) return store.sum(64, 0n, [[elements, BigInt(elementBits / 8)]]);
  return store.shift('ashr', 64, elements, store.constant(64, BigInt(Math.log2(8 / elementBits))));
}

/** Targets of the address among the sources; the displacement belongs to the first of them. */
export function targetsOf(symbolic: SymbolicKernel, instruction: Instruction, declaredAs: DeclaredAs, source: number): readonly Target[] {
  const { store, kernel } = symbolic;
  const address = addressIn(symbolic, instruction, source);
  return resolveTargets(store, kernel, address, store.true, declaredAs).map((target) =>
    target.base.kind === 'unknown' ? followed(symbolic, target, declaredAs) : target,
  );
}

/** The target that a pointer loaded from an array of pointers leads to; other targets unchanged. */
function followed(symbolic: SymbolicKernel, target: Target, declaredAs: DeclaredAs): Target {
  const { store, kernel } = symbolic;
  const pointer = loadedPointer(target.offset);
  const definition = pointer?.atom?.kind === 'havoc' ? kernel.values[pointer.atom.value]?.definition : undefined;
  if (!pointer || pointer.atom?.kind !== 'havoc' || definition?.kind !== 'instruction') return target;
  const { instruction } = definition;
  const { effect } = instruction.operation;
  if (effect.kind !== 'load' || effect.bytes !== 8 || !/^(global|generic)$/.test(effect.space)) return target;
  const pointerValue = pointer.atom.value;
  const [from, ...others] = resolveTargets(store, kernel, addressIn(symbolic, instruction, 0), store.true, declaredAs);
  if (!from || others.length > 0 || !isOneObject(from.base) || isSharedObject(from.base)) return target;
  const lane = instruction.results.findIndex((result) => result === pointerValue);
  const element = store.sum(from.offset.width, BigInt(8 * Math.max(lane, 0)), [[from.offset, 1n]]);
  const base: Base = { kind: 'loaded', table: from.base, element, key: `loaded ${from.base.key}` };
  return { ...target, base, offset: store.sub(target.offset.width, target.offset, pointer) };
}

function isSharedObject(base: Base): boolean {
  return base.kind === 'object' && base.object.space !== 'global';
}

function addressIn({ store, operand }: SymbolicKernel, instruction: Instruction, source: number): Term {
  const pointer = operand(instruction.arguments[source]!);
  return store.sum(pointer.width, source === 0 ? instruction.offset : 0n, [[pointer, 1n]]);
}

/** Whether threads share the memory of a base. Local and constant memory, and parameters, cannot race. */
function isShareable(base: Target['base']): boolean {
  return base.kind !== 'object' || base.object.space === 'global' || base.object.space === 'shared';
}

function memoryOf(space: string, targets: readonly Target[]): Access['memory'] {
  if (space === 'global' || space === 'shared') return space;
  const spaces = new Set(
    targets.map(({ base }) =>
      base.kind === 'unknown' ? 'generic' : base.kind === 'object' && base.object.space === 'shared' ? 'shared' : 'global',
    ),
  );
  return spaces.size === 1 ? ([...spaces][0] as Access['memory']) : 'generic';
}

/** The accesses that each instruction makes. */
export function accessesByInstruction(accesses: readonly Access[]): ReadonlyMap<Instruction, readonly Access[]> {
  const byInstruction = new Map<Instruction, Access[]>();
  for (const access of accesses) {
    const list = byInstruction.get(access.instruction);
    if (list) list.push(access);
    else byInstruction.set(access.instruction, [access]);
  }
  return byInstruction;
}

/** Whether an access changes memory. */
export function isWriter(access: Access): boolean {
  return access.operation !== 'read';
}

/**
 * Memory that a load reads: not written by the kernel, possibly written by it, or private to each thread (its stack
 * frame, or the target of a pointer that is not analyzed).
 */
export type LoadedMemory = 'fixed' | 'written' | 'private';

/**
 * Classifies the memory that loads read, for the uniformity analysis.
 * @param mayAlias whether two bases may be the same memory
 */
export function loadedMemory(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  declaredAs: DeclaredAs,
  mayAlias: (a: Target['base'], b: Target['base']) => boolean,
): (load: Instruction) => LoadedMemory {
  const written = new Map<string, Target['base']>();
  for (const access of accesses) if (isWriter(access)) for (const { base } of access.targets) written.set(base.key, base);
  return (load) => {
    const { effect } = load.operation;
    if (effect.kind !== 'load' || effect.space === 'local') return 'private';
    if (effect.space === 'const') return 'fixed';
    const bases = targetsOf(symbolic, load, declaredAs, 0).map(({ base }) => base);
    const mayBePrivate = effect.space === 'generic' || effect.space === 'param';
    if (mayBePrivate && bases.some(isPrivate)) return 'private';
    const isWritten = bases.some(
      (base) => isShareable(base) && [...written.values()].some((other) => mayMeet(base, other) || mayAlias(base, other)),
    );
    return isWritten ? 'written' : 'fixed';
  };
}

function mayMeet(a: Target['base'], b: Target['base']): boolean {
  return a.key === b.key || a.kind === 'unknown' || b.kind === 'unknown';
}

/** Whether a base may refer to different memory in each thread. */
function isPrivate(base: Target['base']): boolean {
  if (base.kind === 'unknown' || base.kind === 'loaded') return true;
  if (base.kind === 'parameter') return false;
  const { space, parameter } = base.object;
  return space === 'local' || (space === 'param' && parameter === undefined);
}
