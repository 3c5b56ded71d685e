/** The array element that both accesses of a race touch, in the syntax of the source. */
import type { ParameterSource } from '../../launch/parameter-source.ts';
import { elementTypeNamed, valueOf } from '../../launch/element.ts';
import type { Location } from '../../source/location.ts';
import type { Interleaving, RaceFinding, RecordedStep } from '../../verdict/finding.ts';
import type { DeclaredArray } from '../../cuda/reading/array-declaration.ts';
import { basicTypeOf, sizeOfType } from '../../cuda/syntax/basic-type.ts';
import type { SourceFacts } from './source-facts.ts';

/**
 * Names the element, `s[32]` or `tile[1][0]`.
 * @returns undefined if no declaration specifies the size and shape of the array
 */
export async function elementText(
  { array, overlap, first, second }: RaceFinding,
  parameters: readonly ParameterSource[],
  facts: SourceFacts,
): Promise<string | undefined> {
  const location = first.location ?? second.location;
  if (!overlap || array === undefined || !location) return undefined;
  const declared = await declaration(array, location, parameters, facts);
  return declared && elementName(array, declared, overlap);
}

/** A recorded run with the names and values of the elements that its threads access. */
export async function namedRecording<Of extends Pick<Interleaving, 'recording'>>(
  interleaving: Of,
  parameters: readonly ParameterSource[],
  facts: SourceFacts,
): Promise<Of> {
  const { recording } = interleaving;
  if (!recording) return interleaving;
  return { ...interleaving, recording: await Promise.all(recording.map((step) => named(step, parameters, facts))) };
}

async function named(step: RecordedStep, parameters: readonly ParameterSource[], facts: SourceFacts): Promise<RecordedStep> {
  const { cell, location } = step;
  if (!cell) return step;
  const declared = await declaration(cell.array, location, parameters, facts);
  const element = declared && elementName(cell.array, declared, cell);
  if (element === undefined) return step;
  const type = elementTypeNamed(basicTypeOf(declared!.type));
  const value = type && cell.bits !== undefined && type.bytes === cell.bytes ? valueOf(type, cell.bits) : undefined;
  return { ...step, cell: { ...cell, element, ...(value !== undefined && { value }) } };
}

/** Declaration of an array at a location; the array of a parameter is unbounded. */
async function declaration(
  array: string,
  location: Location,
  parameters: readonly ParameterSource[],
  facts: SourceFacts,
): Promise<DeclaredArray | undefined> {
  const pointer = /^([^*&]*)\*\s*(?:__restrict__|__restrict|const)?$/.exec(
    parameters.find(({ name }) => name === array)?.type.trim() ?? '',
  );
  return pointer
    ? { type: pointer[1]!.replace(/\b(?:const|volatile)\b/g, '').trim(), extents: [''] }
    : facts.declaredArray(location, array);
}

/**
 * Name of the element at a byte offset; undefined if the bytes are not exactly one element, or an inner extent is not
 * an integer.
 */
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
