/** An excerpt of a module: one kernel with all that it refers to, under names that reveal nothing of its program. */
import type { Function, Module, ModuleItem, VariableDeclaration } from './ast.ts';
import { printModule } from './printer.ts';

/** Name of the kernel in the text; its parameters are `kernel_param_0` and so on. */
const excerptName = 'kernel';

/**
 * The text of a module with only one kernel, and the functions and variables that it reaches. Names of symbols and
 * files are replaced, and debug sections left out; lines of `.loc` stay, and so do initial values of variables.
 * @returns null if the module has no such kernel
 */
export function kernelExcerpt(module: Module, symbol: string): string | null {
  const items = module.items.filter((item): item is Named => 'name' in item && item.kind !== 'directive');
  const kernel = items.find((item): item is Function => item.kind === 'entry' && item.name === symbol);
  if (!kernel) return null;
  const reached = new Set([symbol]);
  const mention = (name: string): undefined => void (items.some((item) => item.name === name) && reached.add(name));
  for (const name of reached)
    withNames(
      items.filter((item) => item.name === name),
      mention,
    );
  const kept = items.filter(({ name }) => reached.has(name));
  const names = new Map([[symbol, excerptName]]);
  kernel.parameters.forEach(({ name }, index) => names.set(name, `${excerptName}_param_${index}`));
  for (const name of declaredIn(kept)) if (!names.has(name)) names.set(name, `symbol_${names.size}`);
  const files = new Map([...module.files].map(([index]) => [index, `file${index}.cu`]));
  const excerpt = withNames(kept, (name) => names.get(name));
  return printModule({ ...module, items: excerpt, files, debugStrings: new Map() });
}

type Named = Extract<ModuleItem, { readonly name: string }>;

/** Names of functions, variables and parameters that a part of the tree declares; not of registers. */
function declaredIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const inner = Object.values(part).flatMap(declaredIn);
  return isDeclaration(part) ? [part.name, ...inner] : inner;
}

function isDeclaration(node: object): node is Function | VariableDeclaration {
  const { kind, space } = node as { readonly kind?: string; readonly space?: string };
  return kind === 'entry' || kind === 'func' || (kind === 'variable' && space !== 'reg');
}

/**
 * A copy of a part of the tree with renamed declarations and references. @param other undefined: the name is unchanged
 */
function withNames<Part>(part: Part, other: (name: string) => string | undefined): Part {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((one: unknown) => withNames(one, other)) as Part;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(part)) copy[key] = withNames(value as unknown, other);
  const { kind, name, array } = part as { readonly kind?: string; readonly name?: string; readonly array?: string };
  if (name !== undefined && (kind === 'symbol' || isDeclaration(part))) copy['name'] = other(name) ?? name;
  if (array !== undefined && kind === 'element') copy['array'] = other(array) ?? array;
  // The section with the names of inlined functions is omitted, and `inlined_at` requires such a name.
  if (kind === 'loc') {
    delete copy['functionName'];
    delete copy['inlinedAt'];
  }
  return copy as Part;
}
