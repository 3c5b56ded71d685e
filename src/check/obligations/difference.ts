/** The distance in bytes between the two accesses of an obligation, as a linear form over named unknowns. */
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Bounds, Linear } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import type { Instance, Instances, TermInstance } from './instance.ts';
import type { Obligation } from './obligation.ts';

/** One unknown of a difference with its term. */
export interface Unknown {
  readonly name: string;
  readonly coefficient: bigint;
  readonly bounds: Bounds;
  /** The atom or composite term that the unknown represents, in the reading of one of its threads. */
  readonly term: Term;
  readonly reading: TermInstance;
}

/** constant + sum of coefficient * unknown: offset of the first access minus offset of the second. */
export interface Difference {
  readonly constant: bigint;
  readonly unknowns: readonly Unknown[];
  readonly low: bigint;
  readonly high: bigint;
  readonly assumes: readonly Term[];
}

/** Computes the difference of the two offsets. Terms that both threads share cancel if their coefficients are equal. */
export function addressDifference(symbolic: SymbolicKernel, instances: Instances, obligation: Obligation): Difference {
  const [a, b] = [obligation.first, obligation.second].map(
    ({ target, reading }) => [symbolic.view.offset(target.offset), reading] as const,
  );
  return formDifference(symbolic, instances, a!, b!);
}

/** Computes the difference of two linear forms, each in the reading of a thread. */
export function formDifference(
  symbolic: SymbolicKernel,
  instances: Instances,
  [a, first]: readonly [Linear, TermInstance],
  [b, second]: readonly [Linear, TermInstance],
): Difference {
  let constant = a.constant - b.constant;
  const collected = new Map<string, { coefficient: bigint; bounds: Bounds; term: Term; reading: TermInstance }>();
  const add = (form: Linear, reading: TermInstance, sign: bigint): void => {
    for (const [term, factor] of form.terms) {
      const coefficient = sign * factor;
      const instance = instanceOf(symbolic, instances, term, reading);
      constant += coefficient * instance.offset;
      if (instance.name === null) continue;
      const known = collected.get(instance.name);
      const total = (known?.coefficient ?? 0n) + coefficient;
      if (total === 0n) collected.delete(instance.name);
      else collected.set(instance.name, { coefficient: total, bounds: instance.bounds, term, reading });
    }
  };
  add(a, first, 1n);
  add(b, second, -1n);
  let low = constant;
  let high = constant;
  const unknowns: Unknown[] = [];
  for (const [name, unknown] of collected) {
    const { coefficient, bounds } = unknown;
    low += coefficient > 0n ? coefficient * bounds.low : coefficient * bounds.high;
    high += coefficient > 0n ? coefficient * bounds.high : coefficient * bounds.low;
    unknowns.push({ name, ...unknown });
  }
  return { constant, unknowns, low, high, assumes: [...new Set([...a.assumes, ...b.assumes])] };
}

/** The named unknown that represents a term of a linear form in a reading. */
export function instanceOf(symbolic: SymbolicKernel, instances: Instances, term: Term, reading: TermInstance): Instance {
  if (term.atom) return instances.of(term, reading);
  const bounds = symbolic.view.unknownRange(term);
  return { name: instances.key(term, reading), offset: 0n, bounds, leaf: term, shared: false };
}
