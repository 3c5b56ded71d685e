/** What the user's assumptions say of the elements of arrays, and the loads that read such elements. */
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import type { Access, LoadedMemory } from '../../analysis/values/access.ts';
import type { IntegerExpression } from '../../cuda/assumptions/assumption.ts';
import { integerType } from '../../cuda/syntax/basic-type.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { namedPointer } from './premises.ts';

/** A value that a load reads from an array of which something is stated. */
export interface ElementFact {
  /** Names the array and the size of its elements. */
  readonly array: string;
  /** Byte offset of the element. */
  readonly offset: Term;
  /** `distinct(A)`: no two elements are equal. */
  readonly distinct: boolean;
  /** `A[*] in low..high`: both inclusive. */
  readonly ranges: readonly { readonly low: IntegerExpression; readonly high: IntegerExpression }[];
  /** How the source declares the elements. */
  readonly unsigned: boolean;
}

/**
 * The facts about loaded values, by value id, and all values that are read from an array of which something is stated. Only memory that the kernel does not write holds what is stated of it.
 * @param loaded what a load reads
 */
export function collectElementFacts(
  parameters: readonly ParameterSource[],
  assumptions: readonly StatedAssumption[],
  accesses: readonly Access[],
  loaded: (load: Instruction) => LoadedMemory,
): { readonly elements: ReadonlyMap<number, ElementFact>; readonly stated: ReadonlySet<number> } {
  const facts = new Map<number, ElementFact>();
  const values = new Set<number>();
  const stated = assumptions.flatMap(({ expression }) =>
    expression.kind === 'distinct' || expression.kind === 'elements'
      ? [{ expression, pointer: namedPointer(parameters, expression.array) }]
      : [],
  );
  if (stated.length === 0) return { elements: facts, stated: values };
  for (const { instruction, operation, targets } of accesses) {
    const { effect } = instruction.operation;
    const [result] = instruction.results;
    const isStated = targets.some(
      ({ base }) =>
        base.kind === 'parameter' &&
        stated.some(({ pointer }) => pointer?.index === base.index && pointer.offset === base.offset),
    );
    if (isStated) for (const value of instruction.results) if (value !== null) values.add(value);
    const [target, ...others] = targets;
    if (operation !== 'read' || effect.kind !== 'load' || effect.lanes !== 1 || typeof result !== 'number') continue;
    if (target?.base.kind !== 'parameter' || others.length > 0 || loaded(instruction) !== 'fixed') continue;
    const { index, offset, key } = target.base;
    const own = stated.filter(({ pointer }) => pointer?.index === index && pointer.offset === offset);
    const element = integerType(
      own[0]?.pointer?.type.replace(/\*\s*((const|volatile|__restrict__|__restrict)\s*)*$/, '') ?? '',
    );
    // Of a part of an element, of a member or of the bits of a float nothing is stated.
    if (!element || element.bytes !== effect.bytes) continue;
    facts.set(result, {
      array: `${key}:${effect.bytes}`,
      offset: target.offset,
      distinct: own.some(({ expression }) => expression.kind === 'distinct'),
      ranges: own.flatMap(({ expression }) => (expression.kind === 'elements' ? [expression] : [])),
      unsigned: !element.signed,
    });
  }
  return { elements: facts, stated: values };
}
