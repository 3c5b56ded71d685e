/** Contents of memory when a kernel starts, as the host program leaves it. */
import { type AssumptionExpression, type HostTerm, integer, termConstant } from '../../assumptions/expression.ts';
import type { HostValue } from './value.ts';
import { integerType } from '../syntax/basic-type.ts';
import type { LaunchEvent } from './launch-event.ts';
import type { LaunchParameter } from './launch-parameter.ts';

/** Contents of memory when a kernel starts. */
export interface SiteContents {
  /** All elements of the allocation that an argument points to, by position. */
  readonly arrays: ReadonlyMap<number, readonly number[]>;
  /** Variables of the device, by name: the bytes of all of their elements. */
  readonly variables: ReadonlyMap<string, Uint8Array>;
}

/** Contents of memory that arguments point to, and the facts they imply in the language of assumptions. */
export function contentsOfLaunch(
  { contents }: LaunchEvent,
  given: readonly HostValue[],
  parameters: readonly LaunchParameter[],
  resolve: (term: HostTerm) => HostTerm,
): { readonly contents: SiteContents; readonly ties: readonly AssumptionExpression[] } {
  const arrays = new Map<number, readonly number[]>();
  const ties: AssumptionExpression[] = [];
  for (const [index, value] of given.entries()) {
    const held = value.kind === 'pointer' ? contents.get(value.memory.id) : undefined;
    const parameter = parameters[index];
    if (!held || value.kind !== 'pointer' || !parameter || parameter.fields) continue;
    const start = value.offset && termConstant(resolve(value.offset));
    const element = integerType(
      parameter.type
        .replace(/\*\s*(?:const|volatile|__restrict__|__restrict|restrict|\s)*$/, '')
        .replace(/\b(?:const|volatile)\b/g, '')
        .trim(),
    );
    if (start !== 0n || !element || !/\*/.test(parameter.type)) continue;
    const { fill } = held;
    const values = held.values && elementsOf(held.element, held.values, element.bytes);
    if (held.values && !values) continue;
    const byte = BigInt(fill);
    const list = (values ?? [Array.from({ length: element.bytes }).reduce<bigint>((sum) => sum * 256n + byte, 0n)]).map((one) =>
      heldAs(one, element),
    );
    const sorted = list.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const [low, high] = [sorted[0], sorted.at(-1)];
    if (low === undefined || high === undefined) continue;
    const array = parameter.name;
    ties.push({ kind: 'elements', array, low: integer(low), high: integer(high) });
    if (!values) continue;
    const numbers = list.map(Number);
    if (numbers.every((one) => Number.isSafeInteger(one))) arrays.set(index, numbers);
    if (list.length > 1 && new Set(list).size === list.length) ties.push({ kind: 'distinct', array });
  }
  const variables = new Map<string, Uint8Array>();
  for (const [memory, { element, values }] of contents) {
    const name = /^symbol (\w+)$/.exec(memory)?.[1];
    if (name === undefined || !values) continue;
    const bytes = new Uint8Array(element * values.length);
    for (const [at, one] of values.entries())
      for (let byte = 0; byte < element; byte++) bytes[at * element + byte] = Number((one >> BigInt(8 * byte)) & 255n);
    variables.set(name, bytes);
  }
  return { contents: { arrays, variables }, ties };
}

/** Elements of another size, from bytes; undefined if the size does not divide them. */
function elementsOf(size: number, values: readonly bigint[], wanted: number): readonly bigint[] | undefined {
  if (size === wanted) return values;
  if (size !== 1 || values.length % wanted !== 0) return undefined;
  return Array.from({ length: values.length / wanted }, (_, at) =>
    values.slice(at * wanted, (at + 1) * wanted).reduceRight((sum, byte) => sum * 256n + byte, 0n),
  );
}

/** A number converted to an integer type. */
export function heldAs(value: bigint, { bytes, signed }: { readonly bytes: number; readonly signed: boolean }): bigint {
  return signed ? BigInt.asIntN(8 * bytes, value) : BigInt.asUintN(8 * bytes, value);
}
