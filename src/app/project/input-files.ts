import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { compareText } from '../../base/text.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { includingUnits } from './include-graph.ts';
import { isPattern, pathPattern } from '../../base/path-pattern.ts';
import { isHeader, isUnit, kindOf, listFiles, relativeTo, type SourceTree } from './source-tree.ts';
import { UsageError } from '../../base/usage-error.ts';

/** One translation unit to analyse. */
export interface Unit {
  readonly kind: 'cuda' | 'ptx';
  /** Path of the unit in reports. */
  readonly path: string;
  /** Absolute path of the unit. */
  readonly file: string;
  /**
   * Set if the unit was selected only because it includes these headers. Then only kernels with code from one of them
   * are analysed.
   */
  readonly throughHeaders?: ReadonlySet<string>;
}

interface PathFilter {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/**
 * Finds the units that the arguments of the command line name: files, folders and patterns.
 * @throws UsageError if an argument names nothing
 */
export function findInputs(
  words: readonly string[],
  cwd: string,
  tree: SourceTree,
  filter: PathFilter,
): { readonly units: Unit[]; readonly diagnostics: Diagnostic[] } {
  const files = new Set<string>();
  for (const word of words) for (const file of filesOf(word, cwd, tree, filter)) files.add(realpathSync(file));

  const units = new Map<string, Unit>();
  const headers: string[] = [];
  for (const file of files) {
    const path = relativeTo(tree.root, file);
    if (isHeader(path)) headers.push(path);
    else units.set(file, { kind: path.endsWith('.ptx') ? 'ptx' : 'cuda', path, file });
  }
  const diagnostics: Diagnostic[] = [];
  const reached = new Map<string, Set<string>>();
  for (const [header, including] of headers.length > 0 ? includingUnits(tree, headers) : []) {
    if (including.length === 0) {
      const message = `No .cu file includes ${header}, so Selvage cannot compile it; name a .cu file that includes it.`;
      diagnostics.push({ severity: 'error', code: 'input/no-unit', message, location: { file: header, line: 1 } });
    }
    for (const path of including) {
      const file = resolve(tree.root, path);
      if (units.has(file)) continue;
      const through = reached.get(path);
      if (through) through.add(header);
      else reached.set(path, new Set([header]));
    }
  }
  for (const [path, throughHeaders] of reached) {
    const file = resolve(tree.root, path);
    units.set(file, { kind: 'cuda', path, file, throughHeaders });
  }
  const sorted = [...units.values()].sort((a, b) => compareText(a.path, b.path));
  return { units: sorted, diagnostics };
}

function filesOf(word: string, cwd: string, tree: SourceTree, filter: PathFilter): string[] {
  const path = resolve(cwd, word);
  const kind = kindOf(path);
  if (kind === 'folder') {
    const found = within(path, tree, filter);
    if (found.length === 0) throw new UsageError(`There is no .cu or .ptx file under ${word}.`);
    return found;
  }
  if (kind === 'file') {
    if (!isUnit(path) && !isHeader(path) && !path.endsWith('.ptx')) {
      throw new UsageError(`${word} is not a .cu, .cuh or .ptx file.`);
    }
    return [path];
  }
  if (!isPattern(word)) throw new UsageError(`${word} does not exist.`);
  const folder = resolve(cwd, word.slice(0, word.search(/[*?[{]/)).replace(/[^/]*$/, '') || '.');
  const expression = pathPattern(path.split('\\').join('/'));
  const found = kindOf(folder) === 'folder' ? within(folder, tree, undefined).filter((file) => expression.test(file)) : [];
  if (found.length === 0) throw new UsageError(`The pattern ${word} matches no .cu, .cuh or .ptx file.`);
  return found;
}

function within(folder: string, tree: SourceTree, filter: PathFilter | undefined): string[] {
  const wanted = (path: string): boolean => isUnit(path) || path.endsWith('.ptx') || (filter === undefined && path.endsWith('.cuh'));
  const found = listFiles(folder, wanted);
  // In a folder with sources, PTX is most likely compiled from them.
  const sources = filter !== undefined && found.some(isUnit) ? found.filter(isUnit) : found;
  return sources
    .map((path) => resolve(folder, path))
    .filter((file) => filter === undefined || passes(relativeTo(tree.root, realpathSync(file)), filter));
}

/** Whether the configuration's `paths` include a file. */
export function passes(path: string, filter: PathFilter): boolean {
  const matches = (pattern: string): boolean => pathPattern(pattern).test(path);
  return (filter.include.length === 0 || filter.include.some(matches)) && !filter.exclude.some(matches);
}
