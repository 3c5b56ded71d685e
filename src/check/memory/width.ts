/**
 * Indices computed in 32 bits that wrap around. The sums and products of an index are evaluated over the integers, too: at
 * a launch whose numbers are given they wrap around or do not, otherwise from a size on, which follows from the extents of the
 * parts of the index.
 */
import type { Target } from '../../analysis/values/memory-base.ts';
import { gcd, floorDivide } from '../../base/integer.ts';
import { type Bounds, inside, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import type { Instruction, Operand } from '../../ir/form/kernel.ts';
import type { Location } from '../../source/location.ts';
import type { KernelContext } from '../context/facts.ts';
import { placeOf } from '../context/names.ts';
import { givenScalar } from '../context/scalars.ts';
import { type IndexGuard, extentSum, indexExtents } from '../shape/index-form.ts';
import { type Monomial, expand, isCommon } from '../shape/monomial.ts';
import { plusProducts } from '../../algebra/products.ts';

/** Arithmetic on 32 bits whose result is widened, divided or compared. */
export interface NarrowIndex {
  readonly term: Term;
  /** The integers that its type holds. */
  readonly holds: Bounds;
}

const readings: Readonly<Record<string, 'signed' | 'unsigned'>> = {
  sext: 'signed',
  zext: 'unsigned',
  sdiv: 'signed',
  srem: 'signed',
  udiv: 'unsigned',
  urem: 'unsigned',
};

/** The narrow arithmetic of an offset that may wrap around according to ranges, and is not meant to, as hashes are. */
export function narrowIndices({ symbolic: { view } }: Pick<KernelContext, 'symbolic'>, { offset }: Target): readonly NarrowIndex[] {
  const found = new Map<Term, NarrowIndex>();
  const seen = new Set<Term>();
  const walk = (term: Term): void => {
    if (seen.has(term)) return;
    seen.add(term);
    const reading = readings[term.operator];
    const [inner] = term.arguments;
    if (reading && inner!.width === 32 && /^(?:sum|mul)$/.test(inner!.operator) && view.mayAssumeNoWrap(inner!)) {
      const holds = reading === 'signed' ? signedBounds(32) : unsignedBounds(32);
      if (!inside(view.natural(inner!), holds)) found.set(inner!, { term: inner!, holds });
    }
    for (const part of term.arguments) walk(part);
  };
  walk(offset);
  return [...found.values()];
}

/** Whether the launch gives all numbers that a term depends on, other than those of threads and iterations. */
export function isOfGivenLaunch({ request, dimensions }: KernelContext, { leaves }: Term): boolean {
  return leaves.every((leaf) => {
    const atom = leaf.atom!;
    switch (atom.kind) {
      case 'thread':
        return true;
      case 'block':
      case 'grid-size':
        return dimensions.grid[atom.axis] !== null;
      case 'block-size':
        return dimensions.block[atom.axis] !== null;
      case 'parameter':
        return givenScalar(request.launch, atom.index, atom.offset, atom.bytes) !== undefined;
      default:
        return atom.kind === 'iteration';
    }
  });
}

/** Where the products of narrow arithmetic are computed, other than the rank of a thread in the grid; its sum if it has none. */
export function computedAt({ kernel, symbolic }: Pick<KernelContext, 'kernel' | 'symbolic'>, { term }: NarrowIndex): readonly Location[] {
  const definitionOf = (operand: Operand): Instruction[] => {
    const definition = operand.kind === 'value' ? kernel.values[operand.id]?.definition : undefined;
    return definition?.kind === 'instruction' ? [definition.instruction] : [];
  };
  const productsOf = (instruction: Instruction): Instruction[] => {
    const { operation, arguments: operands } = instruction;
    const addends = /^(?:add|sub)$/.test(operation.opcode) ? operands : operation.opcode === 'mad' ? operands.slice(2) : [];
    const own = /^(?:mul|mad|shl)$/.test(operation.opcode) ? [instruction] : [];
    return [...own, ...addends.flatMap(definitionOf).flatMap(productsOf)];
  };
  const isOfTerm = ({ results, operation }: Instruction): boolean =>
    results.some((id, at) => id !== null && operation.results[at] === 32 && symbolic.value(id) === term);
  const root = kernel.blocks.flatMap(({ instructions }) => instructions).find(isOfTerm);
  const products = root ? productsOf(root) : [];
  const others = products.filter(({ results: [id] }) => typeof id !== 'number' || !symbolic.value(id).leaves.every(isOfThreads));
  const [chosen = []] = [others, products, root ? [root] : []].filter(({ length }) => length > 0);
  const places = chosen.map((instruction) => placeOf(kernel, instruction));
  return [...new Map(places.map((place) => [`${place.file}:${place.line}`, place])).values()];
}

function isOfThreads({ atom }: Term): boolean {
  return /^(?:thread|block|block-size|grid-size)$/.test(atom!.kind);
}

/** The condition `size > most` under which arithmetic wraps around, with the common divisor of its products divided out. */
export interface WrapCondition {
  readonly size: readonly Monomial[];
  readonly most: bigint;
}

/** When narrow arithmetic exceeds its type, if its parts take all values below their extents; null if that is not known. */
export function wrapConditions(
  { dimensions }: KernelContext,
  { term, holds }: NarrowIndex,
  guards: readonly IndexGuard[],
): readonly WrapCondition[] {
  const sum = expand(term);
  if (!sum) return [];
  const varying = sum.filter((part) => !isCommon(part));
  return indexExtents(varying, guards, dimensions).flatMap((extent): WrapCondition[] => {
    const below = extentSum(extent, 1n);
    if (!below) return [];
    // The extent is one more than the largest value.
    const largest = plusProducts(plusProducts(below, sum.filter(isCommon)), [{ coefficient: -1n, factors: [] }]);
    const constant = largest.find(({ factors }) => factors.length === 0)?.coefficient ?? 0n;
    const products = largest.filter(({ factors }) => factors.length > 0);
    const unit = products.reduce((common, { coefficient }) => gcd(common, coefficient), 0n);
    if (unit === 0n) return [];
    const size = products.map(({ coefficient, factors }) => ({ coefficient: coefficient / unit, factors }));
    return [{ size, most: floorDivide(holds.high - constant, unit) }];
  });
}
