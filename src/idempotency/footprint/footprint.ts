/**
 * The bytes that each access of a kernel touches, in all threads and iterations of a launch, as quantities that a
 * validator computes when the kernel is launched (sections 4.1, 5.1 and 5.2 of PICKER).
 */
import type { Access } from '../../analysis/values/access.ts';
import type { Base, Target } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { MemoryObject } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { type AddressSet, always, type Quantity, type ValidatorCondition } from '../model/quantity.ts';
import type { IdempotencyReasonKind } from '../model/kernel-idempotency.ts';
import { assembleBytes } from './assembly.ts';
import { type AddressForm, type FootprintVariable, shiftForm } from './form.ts';
import { lessOrEqual, neverMet } from './launch-condition.ts';
import { type Amount, atom, fixedAmount, oneAmount, quantityOf, zeroAmount } from './amount.ts';
import { tighten, withKnownRemainders } from './relations.ts';
import type { StatedValue } from './linear-interpretation.ts';
import { type PathCase, pathsTo } from './paths.ts';

/** The base of an address. */
export type Root =
  /** A pointer among the arguments: parameter `index`, `offset` bytes into it. */
  | { readonly kind: 'parameter'; readonly index: number; readonly offset: number }
  /** A variable of the module, or shared memory. */
  | { readonly kind: 'object'; readonly object: MemoryObject }
  /** A pointer read from an array of pointers, `table`, at byte `element`. */
  | { readonly kind: 'loaded'; readonly table: Base; readonly element: Term }
  /** A texture object among the arguments. */
  | { readonly kind: 'texture'; readonly index: number; readonly offset: number }
  | { readonly kind: 'unknown' };

/**
 * Some of the bytes that an access touches: those that its other footprints do not cover. An access has several if its
 * address has several targets, or its first iteration differs from the others.
 */
export interface Footprint {
  readonly access: Access;
  readonly root: Root;
  /**
   * Bytes that all threads of the launch touch in all iterations, or a superset; null if nothing bounds them. Global
   * addresses are machine addresses (an object starts at its symbol), shared ones are offsets from the start of the
   * object.
   */
  readonly bytes: AddressSet | null;
  /** The variable of each step of `bytes`, in the same order. */
  readonly variables: readonly FootprintVariable[];
  /**
   * Condition under which `bytes` is correct: no arithmetic wraps around, and the like. If it is false, the launch is
   * undecided.
   */
  readonly needs: ValidatorCondition;
  /**
   * Whether each byte of `bytes` is accessed in every execution: no condition of the path is left out, no part was
   * widened.
   */
  readonly exact: boolean;
  /** Why `bytes` is null or wide; null if it is neither. */
  readonly reason: IdempotencyReasonKind | null;
}

/**
 * The bytes that each access touches.
 * @param symbolic the production build of a kernel, with every dimension and scalar symbolic
 * @param accesses those of `collectAccesses`
 * @param stated bounds that are stated for loaded values, by the value
 * @returns at least one footprint for each access, in the order of the accesses
 */
export function footprintsOf(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  stated: StatedValue = () => undefined,
): readonly Footprint[] {
  return accesses.flatMap((access) => access.targets.flatMap((target) => ofTarget(symbolic, access, target, stated)));
}

function ofTarget(symbolic: SymbolicKernel, access: Access, target: Target, stated: StatedValue): readonly Footprint[] {
  const root = rootOf(target);
  const ways = pathsTo(symbolic, access.block, target.condition, stated);
  const list = ways.filter(({ isPossible }) => isPossible).map((way) => ofWay(symbolic, access, target, root, way));
  // An access that no thread reaches touches nothing, provided that the arithmetic of its conditions does not wrap
  // around.
  const nothing: Footprint = { access, root, bytes: nothingAt, variables: [nobody], needs: always, exact: true, reason: null };
  const unreached = ways
    .filter(({ isPossible }) => !isPossible)
    .map(({ reading }) => ({ ...nothing, needs: reading.scope.demanded().condition }))
    .filter(({ needs }) => needs.kind !== 'always');
  const all = [...list, ...unreached];
  return all.length > 0 ? all : [nothing];
}

const nobody: FootprintVariable = { kind: 'part', of: [] };
const nothingAt: AddressSet = {
  base: quantityOf(zeroAmount),
  steps: [{ stride: quantityOf(zeroAmount), count: quantityOf(zeroAmount) }],
  bytes: 1,
};

function rootOf({ base }: Target): Root {
  if (base.kind === 'parameter') return { kind: 'parameter', index: base.index, offset: base.offset };
  if (base.kind === 'loaded') return { kind: 'loaded', table: base.table, element: base.element };
  return base.kind === 'object' ? { kind: 'object', object: base.object } : { kind: 'unknown' };
}

/** Start of a root; null if unknown. */
function startOf(root: Root): Amount | null {
  switch (root.kind) {
    case 'parameter': {
      const { index, offset } = root;
      const key = `argument.${index}.${offset}.8.u`;
      return atom(key, { kind: 'argument', index, offset, bytes: 8, signed: false }, 0n, (1n << 64n) - 1n);
    }
    case 'object': {
      const { space, symbol } = root.object;
      return space === 'shared' ? zeroAmount : atom(`symbol.${symbol}`, { kind: 'symbol', name: symbol }, 0n, (1n << 64n) - 1n);
    }
    case 'loaded':
    case 'texture':
    case 'unknown':
      return null;
  }
}

function ofWay(symbolic: SymbolicKernel, access: Access, target: Target, root: Root, way: PathCase): Footprint {
  const { reading } = way;
  const { scope } = reading;
  const start = startOf(root);
  const isLoaded = target.base.kind === 'loaded';
  const offset = isLoaded ? null : reading.natural(target.offset);
  const whole: AddressForm | null = offset && shiftForm(offset, start ?? zeroAmount);
  if (whole) tighten(reading, whole);
  const address = whole && withKnownRemainders(reading, whole);
  const found = address && assembleBytes(scope, address, access.bytes, way.isComplete);
  const inMemory = isLoaded || holdsMemory(symbolic, target.offset) ? 'address-from-memory' : null;
  if (!found) {
    const all = allocationOf(root);
    return {
      access,
      root,
      bytes: all,
      variables: all ? [nobody] : [],
      needs: scope.demanded().condition,
      exact: false,
      reason: inMemory ?? way.reason ?? 'unbounded',
    };
  }
  const isShared = root.kind === 'object' && root.object.space === 'shared';
  const last = fixedAmount((1n << (isShared ? 32n : 64n)) - 1n);
  const fits = scope.need(lessOrEqual(zeroAmount, found.low)) && scope.need(lessOrEqual(found.high, last));
  return {
    access,
    root,
    bytes: found.bytes,
    variables: found.variables,
    needs: fits ? scope.demanded().condition : neverMet.condition,
    exact: found.exact,
    reason: inMemory ?? way.reason,
  };
}

function holdsMemory({ kernel }: SymbolicKernel, term: Term): boolean {
  return term.leaves.some(({ atom: leaf }) => {
    const definition = leaf!.kind === 'havoc' && leaf.value >= 0 ? kernel.values[leaf.value]!.definition : null;
    return definition?.kind === 'instruction' && definition.instruction.operation.effect.kind !== 'pure';
  });
}

/** All bytes of the allocation of a pointer, or of a variable. */
function allocationOf(root: Root): AddressSet | null {
  const start = startOf(root);
  if (!start) return null;
  if (root.kind === 'parameter') {
    const pointer = quantityOf(start);
    return {
      base: { kind: 'allocation-start', pointer },
      steps: [{ stride: quantityOf(oneAmount), count: { kind: 'allocation-bytes', pointer } }],
      bytes: 1,
    };
  }
  if (root.kind !== 'object') return null;
  const { bytes } = root.object;
  const count: Quantity = bytes === null ? { kind: 'dynamic-shared' } : { kind: 'constant', value: BigInt(bytes) };
  return { base: quantityOf(start), steps: [{ stride: quantityOf(oneAmount), count }], bytes: 1 };
}
