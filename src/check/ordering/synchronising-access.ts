/**
 * Accesses with which threads synchronise: their location, other writers of that location, and the values added or
 * stored.
 */
import { type Access, isWriter } from '../../analysis/values/access.ts';
import { isOfLaunch } from '../../analysis/values/leader.ts';
import { type Base, isOneObject } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction, ValueId } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';

/** Number of elements that an access reads or writes; 0 for other instructions. */
export function lanesOf({ operation: { effect } }: Instruction): number {
  return 'lanes' in effect ? effect.lanes : 0;
}

/** Whether an access is to one element, at the same location for all threads. */
export function isOfOnePlace({ targets, instruction }: Access): boolean {
  const [target, ...more] = targets;
  if (!target || more.length > 0 || !isOneObject(target.base)) return false;
  return lanesOf(instruction) === 1 && target.offset.leaves.every(isOfLaunch);
}

/**
 * Whether an access is to one element, at a location that each thread computes from its indices and from results of
 * instructions.
 */
export function isOfOneElement({ kernel }: SymbolicKernel, { targets, instruction }: Access): boolean {
  const [target, ...more] = targets;
  if (!target || more.length > 0 || !isOneObject(target.base) || lanesOf(instruction) !== 1) return false;
  return target.offset.leaves.every(
    (leaf) =>
      isOfLaunch(leaf) ||
      leaf.atom?.kind === 'thread' ||
      leaf.atom?.kind === 'block' ||
      (leaf.atom?.kind === 'havoc' && leaf.atom.value >= 0 && kernel.values[leaf.atom.value]!.definition.kind === 'instruction'),
  );
}

/** Whether an access has the same location and size as another one. */
export function isAt({ targets, bytes }: Access, place: Access): boolean {
  const [target, ...more] = targets;
  const at = place.targets[0]!;
  return more.length === 0 && target?.base.key === at.base.key && target.offset === at.offset && bytes === place.bytes;
}

/**
 * Whether all targets of an access are disjoint from another access: different memory, or one object at a constant
 * distance.
 */
function isElsewhere(a: Access, b: Access, mayBeSame: (a: Base, b: Base) => boolean): boolean {
  const y = b.targets[0]!;
  return a.targets.every((x) => {
    if (!mayBeSame(x.base, y.base)) return true;
    if (x.base.key !== y.base.key || x.offset.operator !== 'constant' || y.offset.operator !== 'constant') return false;
    const distance = x.offset.value - y.offset.value;
    return distance >= BigInt(b.bytes) || -distance >= BigInt(a.bytes);
  });
}

/** Accesses that may write the location of an access. */
export function rivalsOf(accesses: readonly Access[], place: Access, mayBeSame: (a: Base, b: Base) => boolean): readonly Access[] {
  const { base } = place.targets[0]!;
  return accesses.filter(
    (other) => isWriter(other) && other.targets.some((target) => mayBeSame(target.base, base)) && !isElsewhere(other, place, mayBeSame),
  );
}

/** The addend of an atomic addition to one integer; null for every other access. */
export function addendOf(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || effect.operation !== 'add' || effect.lanes !== 1) return null;
  return /^[us]\d/.test(effect.type) ? symbolic.operand(instruction.arguments[1]!) : null;
}

/** The constant addend of an atomic addition to one integer; null for every other access. */
export function addedBy(symbolic: SymbolicKernel, access: Access): bigint | null {
  const added = addendOf(symbolic, access);
  return added?.operator === 'constant' ? BigInt.asIntN(added.width, added.value) : null;
}

/** A value that an access writes. */
interface Written {
  readonly value: Term;
  /** The value that it replaces, and otherwise writes nothing; null if it replaces any value. */
  readonly replaces: Term | null;
}

/** What a store or an atomic exchange of one element writes; null for every other access. */
export function writeOf(symbolic: SymbolicKernel, { instruction }: Access): Written | null {
  const { effect } = instruction.operation;
  if (lanesOf(instruction) !== 1) return null;
  const operand = (at: number): Term => symbolic.operand(instruction.arguments[at]!);
  if (effect.kind === 'store' || (effect.kind === 'atomic' && effect.operation === 'exch')) return { value: operand(1), replaces: null };
  return effect.kind === 'atomic' && effect.operation === 'cas' ? { value: operand(2), replaces: operand(1) } : null;
}

/** Whether an atomic reads without changing the value: `atomicAdd(&flag, 0)`. */
export function isPoll(symbolic: SymbolicKernel, access: Access): boolean {
  const { effect } = access.instruction.operation;
  if (effect.kind !== 'atomic' || effect.lanes !== 1) return false;
  if (effect.operation === 'or' || effect.operation === 'xor') return isZero(symbolic.operand(access.instruction.arguments[1]!));
  return addedBy(symbolic, access) === 0n;
}

/** Whether a term is the constant 0. */
export function isZero(term: Term | undefined): boolean {
  return term?.operator === 'constant' && term.value === 0n;
}

/** Whether an instruction result exists. */
export function isValue(id: ValueId | null | undefined): id is ValueId {
  return id !== null && id !== undefined;
}
