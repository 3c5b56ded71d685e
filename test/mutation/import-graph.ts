/** Which files import a file, directly or through others. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** @param files relative to the root @returns all importers of a file, itself included */
export function importersOf(root: string, files: readonly string[]): (file: string) => ReadonlySet<string> {
  const direct = new Map<string, string[]>();
  for (const file of files)
    for (const [, quoted, called] of readFileSync(join(root, file), 'utf8').matchAll(
      /\bfrom '(\.[^']+)'|\b(?:import|URL)\('(\.?[^']+)'/g,
    )) {
      const imported = normalize(join(dirname(file), (quoted ?? called)!));
      direct.set(imported, [...(direct.get(imported) ?? []), file]);
    }
  return (file) => {
    const found = new Set([file]);
    for (const one of found) for (const importer of direct.get(one) ?? []) found.add(importer);
    return found;
  };
}
