import { isUnit, type SourceTree } from './source-tree.ts';

/**
 * The units whose text includes one of `headers`, directly or transitively. Only texts are compared: an include matches
 * every file whose path ends with the included name, so the result is an over-approximation.
 * @param headers paths relative to the tree
 * @returns units by header, sorted
 */
export function includingUnits(tree: SourceTree, headers: readonly string[]): Map<string, string[]> {
  const includers = new Map<string, string[]>();
  for (const file of tree.sources()) {
    const text = tree.text(file);
    if (text === undefined) continue;
    for (const match of text.matchAll(/^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]/gm)) {
      const name = baseName(match[1] ?? '');
      const list = includers.get(name);
      if (list) list.push(file);
      else includers.set(name, [file]);
    }
  }
  const result = new Map<string, string[]>();
  for (const header of headers) {
    const seen = new Set<string>([header]);
    const units = new Set<string>();
    const pending = [header];
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      for (const includer of includers.get(baseName(file)) ?? []) {
        if (seen.has(includer)) continue;
        seen.add(includer);
        if (isUnit(includer)) units.add(includer);
        pending.push(includer);
      }
    }
    result.set(header, [...units].sort());
  }
  return result;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
