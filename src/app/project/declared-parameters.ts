import type { ParameterSource } from '../../launch/parameter-source.ts';
import { sizeOfType } from '../../cuda/syntax/basic-type.ts';
import { kernelParameters } from '../../cuda/names/kernel-match.ts';
import { structLayout, type DeclaredTypes } from '../../cuda/reading/struct-layout.ts';
import type { KernelDefinition } from '../../cuda/syntax/syntax.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';

/**
 * Source declarations of the parameters of a compiled kernel, by index.
 * @param types returns the types that the unit declares; called only if a parameter is a struct
 * @returns nothing if the parameters of the definition differ from those of the compiled kernel
 */
export function parameterSources(
  definition: KernelDefinition,
  kernel: Kernel,
  name: KernelName,
  types: () => readonly DeclaredTypes[],
): ParameterSource[] {
  const written = kernelParameters(definition, kernel.parameters.length);
  // The symbol of an extern "C" kernel contains no parameter types.
  const isMangled = name.parameters.length === written.length;
  return written.map((parameter, index): ParameterSource => {
    const compiled = isMangled ? name.parameters[index] : undefined;
    const { type: ptxType = '', bytes = 0, alignment = 0 } = kernel.parameters[index] ?? {};
    if (!ptxType.startsWith('b')) {
      // For a template parameter or an alias, the symbol contains the actual type.
      return isBuiltIn(parameter.type) ? parameter : { ...parameter, type: compiled ?? parameter.type };
    }
    const struct = compiled ?? parameter.type.replace(/\b(?:const|volatile|struct|class|__grid_constant__)\b/g, '').trim();
    const layout = structLayout(struct, types());
    const agrees = layout?.bytes === bytes && layout.alignment === alignment;
    return layout && agrees ? { ...parameter, fields: layout.fields } : parameter;
  });
}

/** Whether a type as written is a built-in one, or a pointer to one. */
function isBuiltIn(type: string): boolean {
  return sizeOfType(type.replace(/[*&[][^]*$/, '')) !== undefined;
}
