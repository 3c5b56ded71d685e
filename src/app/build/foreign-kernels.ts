/** Kernels that are defined outside of the repository: of CUB, Thrust, or another library that its units include. */
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { matchKernel } from '../../cuda/names/kernel-pattern.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';
import { compareText } from '../../base/text.ts';
import { isToolkitFile, outermost, type Location } from '../../source/location.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Unit } from '../project/input-files.ts';
import { isHeader, relativeTo, repositoryRoot, type SourceTree } from '../project/source-tree.ts';
import type { KernelUnit, LoweredKernel } from './phase-data.ts';

/** Whether a kernel is excluded from the analysis because a third-party header defines it. */
export type ThirdPartyKernelTest = (unit: Unit, name: KernelName, location: Location | undefined) => boolean;

/**
 * Makes the test for the units of a tree. A kernel is third-party if the file of its first line is outside of the
 * repository, of that of its unit, and of the requested headers, and contains its name: so a `#line` directive cannot
 * hide a kernel. Without a repository only the files of the toolkit are outside.
 * @param pattern `--kernel`: kernels that it names are checked wherever they are defined
 */
export function thirdPartyKernelTest(
  tree: Pick<SourceTree, 'root'>,
  wholeTree: boolean,
  pattern: string | undefined,
): ThirdPartyKernelTest {
  const outside = new Map<string, string | undefined>();
  /** Text of a third-party file. */
  const foreignText = (unit: Unit, file: string): string | undefined => {
    const key = JSON.stringify([unit.file, file]);
    if (!outside.has(key)) outside.set(key, textOutside(unit, file, tree.root, wholeTree));
    return outside.get(key);
  };
  return (unit, name, location) => {
    if (unit.kind === 'ptx' || !location || (pattern !== undefined && matchKernel(pattern, name.qualified, name.symbol))) return false;
    const { file } = outermost(location);
    if (!isAbsolute(file) || unit.throughHeaders?.has(file)) return false;
    return foreignText(unit, file)?.includes(baseName(name)) === true;
  };
}

function textOutside(unit: Unit, file: string, root: string, wholeTree: boolean): string | undefined {
  let real: string;
  try {
    real = realpathSync(file);
    if (wholeTree) {
      const home = repositoryRoot(dirname(unit.file)) ?? dirname(unit.file);
      const isInside = (folder: string): boolean => !isAbsolute(relativeTo(folder, real));
      if (isInside(root) || isInside(home)) return undefined;
    } else if (!isAbsolute(relativeTo(root, real)) || !(isToolkitFile(real) && isHeader(real))) return undefined;
    return readFileSync(real, 'utf8');
  } catch {
    return undefined;
  }
}

/** `ns::Reduce<int>::sum` without its qualifiers and template arguments. */
function baseName({ qualified }: KernelName): string {
  let depth = 0;
  let plain = '';
  for (const character of qualified) {
    if (character === '<') depth += 1;
    if (depth === 0) plain += character;
    if (character === '>') depth -= 1;
  }
  return plain.slice(plain.lastIndexOf(':') + 1);
}

/** Counts the third-party kernels of all units that were left out, in one notice. */
export function foreignNotice(units: readonly KernelUnit<LoweredKernel>[]): Diagnostic[] {
  const names = new Set(units.flatMap(({ foreign }) => foreign.map(({ full }) => full)));
  if (names.size === 0) return [];
  const libraries = new Map<string, number>();
  const told = new Set<string>();
  for (const { full, qualified } of units.flatMap(({ foreign }) => foreign)) {
    if (told.has(full)) continue;
    told.add(full);
    const library = /^(\w+)::/.exec(qualified)?.[1] ?? 'no namespace';
    libraries.set(library, (libraries.get(library) ?? 0) + 1);
  }
  const list = [...libraries]
    .sort(([a, many], [b, more]) => more - many || compareText(a, b))
    .map(([library, count]) => `${library}: ${count}`);
  const what = names.size === 1 ? '1 kernel that is' : `${names.size} kernels that are`;
  const message = `Selvage did not check ${what} defined outside of the repository (${list.join(', ')}). Name them with --kernel to have them checked.`;
  return [{ severity: 'notice', code: 'input/foreign-kernels', message }];
}
