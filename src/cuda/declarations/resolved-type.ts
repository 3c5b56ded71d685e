/** Types of a unit with aliases resolved. */

/** Cache of resolved types: a program has few, and they are requested often. */
const resolvedTypes = new WeakMap<ReadonlyMap<string, string>, { readonly aliases: number; readonly types: Map<string, string> }>(); // oxfmt-ignore

/** A type with aliases replaced. */
export function resolvedType(type: string, aliases: ReadonlyMap<string, string>): string {
  let known = resolvedTypes.get(aliases);
  if (known?.aliases !== aliases.size)
    resolvedTypes.set(aliases, (known = { aliases: aliases.size, types: new Map() }));
  let resolved = known.types.get(type);
  if (resolved === undefined) known.types.set(type, (resolved = withoutAliases(type, aliases)));
  return resolved;
}

function withoutAliases(type: string, aliases: ReadonlyMap<string, string>): string {
  let known = type;
  for (let round = 0; round < 8; round++) {
    const stem = known.replace(/\b(?:const|volatile|static|constexpr|typename|struct|class)\b/g, '').trim();
    const name = /^[\w:]+/.exec(stem)?.[0] ?? '';
    const other = aliases.get(name.replace(/^.*::/, ''));
    if (other === undefined || other === name) return stem;
    known = other + stem.slice(name.length);
  }
  return known;
}
