/**
 * Indices of threads, blocks, iterations and parts of them as integer variables, and linear forms over those whose
 * coefficients are quantities of the launch.
 */
import { gcd } from '../../base/integer.ts';
import { type Amount, addAmounts, fixedAmount, divideExactly, multiplyAmounts, scaleAmount, zeroAmount } from './amount.ts';

/** The variable that a step of a footprint ranges over. */
export interface FootprintVariable {
  /**
   * `combined`: a sum of indices that is one dense index, such as `blockIdx.x * blockDim.x + threadIdx.x`. `part`:
   * value of a quotient, a remainder, a minimum or the like. `value`: result of an instruction that is not followed.
   */
  readonly kind: 'thread' | 'block' | 'round' | 'line' | 'combined' | 'part' | 'value';
  /** Dependences of the variable: `thread.0`, `block.1`, `round.2` (by axis and loop), `line.7`, `value.9`. */
  readonly of: readonly string[];
}

/** An integer that differs between threads, blocks or iterations, or that is loaded from memory. */
export interface IndexVariable extends FootprintVariable {
  readonly key: string;
  /** Its range by its kind; null: not bounded by the launch. */
  readonly low: Amount | null;
  readonly high: Amount | null;
  /** Operands of a part. */
  readonly part: Part | null;
  /** Whether its range is only that of its type. */
  readonly isAnything: boolean;
}

export type Part =
  | { readonly kind: 'quotient' | 'remainder'; readonly of: AddressForm; readonly by: Amount }
  /** One of two forms, or their minimum or maximum. */
  | { readonly kind: 'either' | 'least' | 'largest'; readonly a: AddressForm; readonly b: AddressForm };

export interface AddressForm {
  readonly constant: Amount;
  readonly terms: ReadonlyMap<IndexVariable, Amount>;
}

/** A form without variables: the value is determined by the launch. */
export function launchForm(value: Amount): AddressForm {
  return { constant: value, terms: new Map() };
}

/** The form of a variable. */
export function variableForm(variable: IndexVariable): AddressForm {
  return { constant: zeroAmount, terms: new Map([[variable, fixedAmount(1n)]]) };
}

/** a + factor * b */
export function addForms(a: AddressForm, b: AddressForm, factor: Amount = fixedAmount(1n)): AddressForm {
  const terms = new Map(a.terms);
  for (const [variable, coefficient] of b.terms) {
    const total = addAmounts(terms.get(variable) ?? zeroAmount, multiplyAmounts(coefficient, factor));
    if (total.monomials.size === 0) terms.delete(variable);
    else terms.set(variable, total);
  }
  return { constant: addAmounts(a.constant, multiplyAmounts(b.constant, factor)), terms };
}

/** factor * form */
export function scaleForm(form: AddressForm, factor: Amount): AddressForm {
  return addForms(launchForm(zeroAmount), form, factor);
}

/** a - b */
export function subtractForms(a: AddressForm, b: AddressForm): AddressForm {
  return addForms(a, b, fixedAmount(-1n));
}

/** The form with a launch-determined value added. */
export function shiftForm(form: AddressForm, by: Amount): AddressForm {
  return { ...form, constant: addAmounts(form.constant, by) };
}

/** The form with a variable replaced. */
export function replaceVariable(form: AddressForm, variable: IndexVariable, by: AddressForm): AddressForm {
  const coefficient = form.terms.get(variable);
  if (!coefficient) return form;
  const terms = new Map(form.terms);
  terms.delete(variable);
  return addForms({ ...form, terms }, by, coefficient);
}

/** Equal for equal forms. */
export function formKey({ constant: value, terms }: AddressForm): string {
  const parts = [...terms].map(([variable, coefficient]) => `${variable.key}:${coefficient.key}`).sort();
  return [value.key, ...parts].join(';');
}

/** The largest integer that divides all coefficients. */
export function contentOf({ terms }: AddressForm): bigint {
  let content = 0n;
  for (const { monomials } of terms.values()) for (const { coefficient } of monomials.values()) content = gcd(content, coefficient);
  return content;
}

/** The factor by which a form contains another one, constants aside; null if it does not contain it. */
export function formMultiple(form: AddressForm, inner: AddressForm): Amount | null {
  const [first] = inner.terms;
  const own = first && form.terms.get(first[0]);
  const factor = own && divideExactly(own, first[1]);
  if (!factor) return null;
  for (const [variable, coefficient] of inner.terms)
    if (form.terms.get(variable)?.key !== multiplyAmounts(coefficient, factor).key) return null;
  return factor;
}

/** Indices and values that a form depends on, including those inside quotients, remainders and the like. */
export function leavesOf(form: AddressForm): ReadonlySet<string> {
  return new Set([...form.terms.keys()].flatMap(({ of }) => of));
}

/** -form */
export function oppositeForm(form: AddressForm): AddressForm {
  const terms = new Map([...form.terms].map(([variable, coefficient]) => [variable, scaleAmount(coefficient, -1n)]));
  return { constant: scaleAmount(form.constant, -1n), terms };
}
