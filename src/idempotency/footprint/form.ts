/**
 * Indices of threads, blocks, rounds and parts of them as integer variables, and linear forms over those whose
 * coefficients are quantities of the launch.
 */
import { gcd } from '../../base/integer.ts';
import { type Polynomial, add, constant, divideExactly, multiply, scale, zero } from './polynomial.ts';

/** What a step of a footprint counts. */
export interface Variable {
  /**
   * `combined`: a sum of indices that is one dense index, such as `blockIdx.x * blockDim.x + threadIdx.x`. `part`: what a
   * quotient, a remainder, a minimum or the like may be. `value`: what an instruction computes that is not followed.
   */
  readonly kind: 'thread' | 'block' | 'round' | 'line' | 'combined' | 'part' | 'value';
  /** What the values of the variable depend on: `thread.0`, `block.1`, `round.2` (by axis and loop), `line.7`, `value.9`. */
  readonly of: readonly string[];
}

/** An integer that differs between threads, blocks or rounds, or that memory holds. */
export interface IndexVariable extends Variable {
  readonly key: string;
  /** Its range where nothing is known of it but what it is; null: not bounded by the launch. */
  readonly low: Polynomial | null;
  readonly high: Polynomial | null;
  /** What a part is made of. */
  readonly part: Part | null;
  /** Whether nothing but its type bounds it. */
  readonly isAnything: boolean;
}

export type Part =
  | { readonly kind: 'quotient' | 'remainder'; readonly of: Form; readonly by: Polynomial }
  /** One of two forms. */
  | { readonly kind: 'either' | 'least' | 'largest'; readonly a: Form; readonly b: Form };

export interface Form {
  readonly constant: Polynomial;
  readonly terms: ReadonlyMap<IndexVariable, Polynomial>;
}

export function launchForm(value: Polynomial): Form {
  return { constant: value, terms: new Map() };
}

export function variableForm(variable: IndexVariable): Form {
  return { constant: zero, terms: new Map([[variable, constant(1n)]]) };
}

export function addForms(a: Form, b: Form, factor: Polynomial = constant(1n)): Form {
  const terms = new Map(a.terms);
  for (const [variable, coefficient] of b.terms) {
    const total = add(terms.get(variable) ?? zero, multiply(coefficient, factor));
    if (total.monomials.size === 0) terms.delete(variable);
    else terms.set(variable, total);
  }
  return { constant: add(a.constant, multiply(b.constant, factor)), terms };
}

export function scaleForm(form: Form, factor: Polynomial): Form {
  return addForms(launchForm(zero), form, factor);
}

export function subtractForms(a: Form, b: Form): Form {
  return addForms(a, b, constant(-1n));
}

export function shiftForm(form: Form, by: Polynomial): Form {
  return { ...form, constant: add(form.constant, by) };
}

/** The form with a variable replaced. */
export function replaceVariable(form: Form, variable: IndexVariable, by: Form): Form {
  const coefficient = form.terms.get(variable);
  if (!coefficient) return form;
  const terms = new Map(form.terms);
  terms.delete(variable);
  return addForms({ ...form, terms }, by, coefficient);
}

export function formKey({ constant: value, terms }: Form): string {
  const parts = [...terms].map(([variable, coefficient]) => `${variable.key}:${coefficient.key}`).sort();
  return [value.key, ...parts].join(';');
}

/** The largest integer that divides all coefficients. */
export function contentOf({ terms }: Form): bigint {
  let content = 0n;
  for (const { monomials } of terms.values())
    for (const { coefficient } of monomials.values()) content = gcd(content, coefficient);
  return content;
}

/** The factor by which a form holds another one, constants aside; null where it does not hold it. */
export function multipleOf(form: Form, inner: Form): Polynomial | null {
  const [first] = inner.terms;
  const own = first && form.terms.get(first[0]);
  const factor = own && divideExactly(own, first[1]);
  if (!factor) return null;
  for (const [variable, coefficient] of inner.terms)
    if (form.terms.get(variable)?.key !== multiply(coefficient, factor).key) return null;
  return factor;
}

/** All that a form depends on, parts looked into. */
export function leavesOf(form: Form): ReadonlySet<string> {
  return new Set([...form.terms.keys()].flatMap(({ of }) => of));
}

export function negated(form: Form): Form {
  const terms = new Map([...form.terms].map(([variable, coefficient]) => [variable, scale(coefficient, -1n)]));
  return { constant: scale(form.constant, -1n), terms };
}
