/** Parameters that are addresses according to the PTX itself, if no source is available. */
import type { Draft } from './form/draft.ts';

/**
 * The parameters, or fields of them, that `cvta.to.global` converts to an address of global memory, before conversions
 * are folded. Compilers convert pointers, and add indices to the result.
 *
 * @param draft in SSA form
 * @returns byte offsets within the parameter, by its index
 */
export function convertedParameters(draft: Draft): ReadonlyMap<number, readonly number[]> {
  const loaded = new Map<number, { readonly parameter: number; readonly offset: number }>();
  const converted = new Map<number, readonly number[]>();
  for (const block of draft.blocks) {
    for (const { operation, arguments: operands, results, offset } of block.instructions) {
      const [source] = operands;
      const [result] = results;
      if (operation.effect.kind === 'load' && source?.kind === 'address') {
        const { parameter, space } = draft.objects[source.object]!;
        const isWhole = results.length === 1 && operation.effect.bytes === 8;
        if (space !== 'param' || parameter === undefined || !isWhole || typeof result !== 'number') continue;
        loaded.set(result, { parameter, offset: Number(source.offset + offset) });
      } else if (source?.kind === 'value' && operation.mnemonic.startsWith('cvta.to.global')) {
        const from = loaded.get(source.id);
        if (from) converted.set(from.parameter, [...new Set([...(converted.get(from.parameter) ?? []), from.offset])]);
      }
    }
  }
  return converted;
}
