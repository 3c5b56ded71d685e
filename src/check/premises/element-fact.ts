/** The user's assumptions about the elements of arrays, and the loads that read such elements. */
import type { Launch } from '../../launch/launch.ts';
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import type { Access, LoadedMemory } from '../../analysis/values/access.ts';
import { type IntegerExpression, integer } from '../../assumptions/expression.ts';
import { integerType } from '../../cuda/syntax/basic-type.ts';
import type { Instruction, MemoryObject } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { namedPointer } from './premises.ts';

/** A value loaded from an array whose elements are known or described by the user. */
export interface ElementFact {
  /** Identifies the array and the size of its elements. */
  readonly array: string;
  /** Byte offset of the element. */
  readonly offset: Term;
  /** `distinct(A)`: no two elements are equal. */
  readonly distinct: boolean;
  /** `A[*] in low..high`: both inclusive. */
  readonly ranges: readonly { readonly low: IntegerExpression; readonly high: IntegerExpression }[];
  /** Whether the source declares the elements as unsigned. */
  readonly unsigned: boolean;
  /** The object whose initialiser implies the fact; absent if the user states it. */
  readonly initialised?: MemoryObject;
  /** Whether the host program fills the array before the launch, so that all of its elements are known. */
  readonly isFilled?: true;
}

/** Limit on the elements of a table; larger tables are ignored. */
const maxElements = 4096;

/** Facts about values loaded from tables that contain their initialisers because the kernel never writes them. */
function initialisedElements(accesses: readonly Access[], loaded: (load: Instruction) => LoadedMemory): ReadonlyMap<number, ElementFact> {
  const facts = new Map<number, ElementFact>();
  for (const { instruction, operation, targets } of accesses) {
    const { effect } = instruction.operation;
    const [result] = instruction.results;
    const [target, ...others] = targets;
    if (operation !== 'read' || effect.kind !== 'load' || effect.lanes !== 1 || typeof result !== 'number') continue;
    if (target?.base.kind !== 'object' || others.length > 0 || loaded(instruction) !== 'fixed') continue;
    const { object, key } = target.base;
    const { bytes, initial, space, alignment, addresses = [] } = object;
    const isTable = (space === 'global' || space === 'const') && initial !== undefined && addresses.length === 0;
    // A load is analyzed if it is aligned to the size of an element.
    if (!isTable || bytes === null || bytes % effect.bytes !== 0 || alignment % effect.bytes !== 0) continue;
    const count = bytes / effect.bytes;
    // A table of a single value may be a setting that the host program changes.
    if (count < 2 || count > maxElements) continue;
    const elements = Array.from({ length: count }, (_, at) => elementAt(initial, at * effect.bytes, effect.bytes));
    const [first = 0n] = elements;
    facts.set(result, {
      array: `${key}:${effect.bytes}`,
      offset: target.offset,
      distinct: new Set(elements).size === count,
      ranges: [
        {
          low: integer(elements.reduce((least, value) => (value < least ? value : least), first)),
          high: integer(elements.reduce((most, value) => (value > most ? value : most), first)),
        },
      ],
      unsigned: false,
      initialised: object,
    });
  }
  return facts;
}

/** The signed value of the bytes at an offset; bytes beyond the end are 0. */
function elementAt(memory: Uint8Array, at: number, bytes: number): bigint {
  let value = 0n;
  for (let byte = bytes - 1; byte >= 0; byte--) value = value * 256n + BigInt(memory[at + byte] ?? 0);
  return BigInt.asIntN(8 * bytes, value);
}

/**
 * The facts about loaded values, by value id, and all values that are loaded from an array with statements. Statements
 * are valid only for memory that the kernel does not write.
 * @param loaded the kind of memory that a load reads
 * @param filled arrays that the host program fills
 */
export function collectElementFacts(
  parameters: readonly ParameterSource[],
  assumptions: readonly StatedAssumption[],
  accesses: readonly Access[],
  loaded: (load: Instruction) => LoadedMemory,
  filled: Launch['contents'],
): { readonly elements: ReadonlyMap<number, ElementFact>; readonly stated: ReadonlySet<number> } {
  const facts = new Map<number, ElementFact>();
  const values = new Set<number>();
  const stated = assumptions.flatMap(({ expression }) =>
    expression.kind === 'distinct' || expression.kind === 'elements'
      ? [{ expression, pointer: namedPointer(parameters, expression.array) }]
      : [],
  );
  for (const [value, fact] of initialisedElements(accesses, loaded)) facts.set(value, fact);
  if (stated.length === 0) return { elements: facts, stated: values };
  for (const { instruction, operation, targets } of accesses) {
    const { effect } = instruction.operation;
    const [result] = instruction.results;
    const isStated = targets.some(
      ({ base }) =>
        base.kind === 'parameter' && stated.some(({ pointer }) => pointer?.index === base.index && pointer.offset === base.offset),
    );
    if (isStated) for (const value of instruction.results) if (value !== null) values.add(value);
    const [target, ...others] = targets;
    if (operation !== 'read' || effect.kind !== 'load' || effect.lanes !== 1 || typeof result !== 'number') continue;
    if (target?.base.kind !== 'parameter' || others.length > 0 || loaded(instruction) !== 'fixed') continue;
    const { index, offset, key } = target.base;
    const own = stated.filter(({ pointer }) => pointer?.index === index && pointer.offset === offset);
    const element = integerType(own[0]?.pointer?.type.replace(/\*\s*((const|volatile|__restrict__|__restrict)\s*)*$/, '') ?? '');
    // Statements do not extend to a part of an element, a member of a struct, or the bits of a float.
    if (!element || element.bytes !== effect.bytes) continue;
    facts.set(result, {
      array: `${key}:${effect.bytes}`,
      offset: target.offset,
      distinct: own.some(({ expression }) => expression.kind === 'distinct'),
      ranges: own.flatMap(({ expression }) => (expression.kind === 'elements' ? [expression] : [])),
      unsigned: !element.signed,
      ...(offset === 0 && filled?.arrays.has(index) ? { isFilled: true as const } : {}),
    });
  }
  return { elements: facts, stated: values };
}
