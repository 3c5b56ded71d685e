/** The element of an array that the two accesses of a race touch, as the source would name it. */
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { RaceFinding } from '../../verdict/finding.ts';
import type { DeclaredArray } from '../../cuda/reading/array-declaration.ts';
import { sizeOfType } from '../../cuda/syntax/basic-type.ts';
import type { SourceFacts } from './source-facts.ts';

/**
 * Names the element, `s[32]` or `tile[1][0]`.
 * @returns undefined where no declaration tells the size and shape of the array
 */
export async function elementText(
  { array, overlap, first, second }: RaceFinding,
  parameters: readonly ParameterSource[],
  facts: SourceFacts,
): Promise<string | undefined> {
  const location = first.location ?? second.location;
  if (!overlap || array === undefined || !location) return undefined;
  const pointer = /^([^*&]*)\*\s*(?:__restrict__|__restrict|const)?$/.exec(
    parameters.find(({ name }) => name === array)?.type.trim() ?? '',
  );
  const declared: DeclaredArray | undefined = pointer
    ? { type: pointer[1]!.replace(/\b(?:const|volatile)\b/g, '').trim(), extents: [''] }
    : await facts.declaredArray(location, array);
  return declared && elementName(array, declared, overlap);
}

/** An element by the offset of its bytes; undefined where they are not one element, or an inner extent is no number. */
export function elementName(
  array: string,
  { type, extents }: DeclaredArray,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
): string | undefined {
  if (sizeOfType(type) !== bytes || offset % bytes !== 0) return undefined;
  const inner = extents.slice(1).map(Number);
  if (!inner.every((extent) => Number.isInteger(extent) && extent > 0)) return undefined;
  let index = offset / bytes;
  const indices: number[] = [];
  for (const extent of inner.toReversed()) {
    indices.unshift(((index % extent) + extent) % extent);
    index = Math.floor(index / extent);
  }
  return `${array}[${[index, ...indices].join('][')}]`;
}
