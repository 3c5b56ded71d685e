/**
 * The shape of a kernel's indices: sums of products with the guards of each access, how strides nest, and how scalars
 * and axes are used. It is computed once and depends on nothing else of a check.
 */
import { type AxisHints, axisHints } from './axis-hints.ts';
import { type DigitChain, digitChainsOf } from './digit-chain.ts';
import { type IndexForm, type IndexGuard, type ShapedKernel, allGuards, inSteps, indexForms } from './index-form.ts';
import { type Nesting, type StrideOrder, nestingsOf } from './nesting.ts';
import { type Roles, isField, rolesOf } from './roles.ts';
import type { Term } from '../../term/term.ts';
import { greatestOf } from '../../base/integer.ts';
import { statedDivisorOf } from '../premises/stated-sizes.ts';
import { inUnitsOfSteps } from './stepped-indices.ts';

export interface IndexShape extends Roles {
  readonly forms: readonly IndexForm[];
  /** All comparisons of indices with uniform bounds. */
  readonly guards: readonly IndexGuard[];
  /** The strides of all accesses. */
  readonly nestings: (order: StrideOrder) => readonly Nesting[];
  /** Flat numbers that indices divide into digits. */
  readonly chains: readonly DigitChain[];
  /** Evidence for the extents of the thread block, by axis. */
  readonly axes: readonly AxisHints[];
}

/** The shape of the indices of a kernel. */
export function indexShapeOf(kernel: ShapedKernel): IndexShape {
  const shaped = inUnitsOfSteps(kernel);
  const { dimensions } = shaped;
  const forms = indexForms(shaped);
  const guards = allGuards(shaped);
  const chains = forms.flatMap(digitChainsOf);
  // A number that is divided into digits is below the product of the divisors.
  const ofChains = chains.map(({ form, product, bound }): Nesting => ({
    form,
    stride: product,
    parts: [],
    below: bound,
  }));
  const known = new Map<StrideOrder, readonly Nesting[]>();
  const roles = rolesOf(shaped, forms, guards);
  const multipleOf = (size: Term): bigint => {
    const { divisors } = roles.scalars.find(({ field }) => isField(size, field)) ?? { divisors: [] };
    const stated = [true, false].map((isSigned) => statedDivisorOf(shaped.stated, size, isSigned));
    return greatestOf([...stated, ...(divisors.length === 1 ? divisors : [])]);
  };
  const stepped = forms.map((form) => ({ ...form, guards: form.guards.map((guard) => inSteps(guard, multipleOf)) }));
  return {
    forms,
    guards,
    ...roles,
    nestings(order) {
      const nestings = known.get(order) ?? [...ofChains, ...stepped.flatMap((form) => nestingsOf(form, stepped, dimensions, order))];
      known.set(order, nestings);
      return nestings;
    },
    chains,
    axes: axisHints(forms, dimensions),
  };
}
