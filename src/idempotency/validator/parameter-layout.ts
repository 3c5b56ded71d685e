import type { ParameterPlace } from './c-function.ts';

/**
 * Offsets of the parameters of a kernel in the buffer of its arguments: in order, each at the next multiple of its
 * alignment (PTX ISA, "Kernel Function Parameters"; CUDA driver API, `CU_LAUNCH_PARAM_BUFFER_POINTER`).
 */
export function parameterPlaces(parameters: readonly { readonly bytes: number; readonly alignment: number }[]): readonly ParameterPlace[] {
  let end = 0;
  return parameters.map(({ bytes, alignment }) => {
    const offset = Math.ceil(end / Math.max(1, alignment)) * Math.max(1, alignment);
    end = offset + bytes;
    return { offset, bytes };
  });
}
