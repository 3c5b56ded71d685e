import { withoutTemplateArguments } from './demangle.ts';
import type { Demangled } from './demangle.ts';
import type { CudaSource, KernelDefinition } from '../syntax/syntax.ts';

/**
 * The definition that a compiled kernel comes from.
 * @param source - the file that the debug information of the kernel names
 * @param name - its demangled symbol
 * @param line - of the kernel in its debug information, if it has any
 * @returns undefined if none fits, or several do
 */
export function findKernel(source: CudaSource, name: Demangled, line?: number): KernelDefinition | undefined {
  const compiled = withoutTemplateArguments(name.qualified);
  const isMangled = name.full !== name.qualified;
  const fitting = source.kernels.filter(
    ({ firstLine, lastLine, parameters }) =>
      (line === undefined || (firstLine <= line && line <= lastLine)) &&
      (!isMangled || parameters.length === name.parameters.length || parameters.some(isPack)),
  );
  const named = (spell: (qualified: string) => string): KernelDefinition[] =>
    fitting.filter(({ qualified }) => spell(qualified) === spell(compiled));
  const tiers = [
    named((qualified) => qualified),
    named((qualified) => qualified.replaceAll('(anonymous namespace)::', '')),
    // An inline namespace, or one that a macro opens, is not visible in the text.
    line === undefined ? [] : named((qualified) => qualified.slice(qualified.lastIndexOf(':') + 1)),
  ];
  const candidates = tiers.find((tier) => tier.length > 0) ?? [];
  if (candidates.length < 2) return candidates[0];
  const specialized = candidates.filter(
    ({ specialization }) =>
      specialization !== undefined && name.qualified.replaceAll(' ', '').endsWith(`<${specialization.replaceAll(' ', '')}>`),
  );
  const general = candidates.filter(({ specialization }) => specialization === undefined);
  const remaining = specialized.length > 0 ? specialized : general;
  return remaining.length === 1 ? remaining[0] : undefined;
}

/**
 * Names and types of the parameters of a compiled kernel, by index. Unnamed ones are `param0`, `param1`, …
 * @param count - parameters of the compiled kernel: a pack in the definition represents all that remain
 */
export function kernelParameters(definition: KernelDefinition, count: number): { readonly name: string; readonly type: string }[] {
  const expanded = definition.parameters.flatMap((parameter) =>
    isPack(parameter)
      ? Array.from({ length: Math.max(0, count - definition.parameters.length + 1) }, () => ({
          ...parameter,
          name: undefined,
        }))
      : [parameter],
  );
  if (expanded.length !== count) return [];
  return expanded.map(({ name, type }, index) => ({ name: name ?? `param${index}`, type }));
}

function isPack({ type }: { readonly type: string }): boolean {
  return type.includes('...');
}
