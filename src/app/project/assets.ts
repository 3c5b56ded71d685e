import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GrammarFiles } from '../../cuda/syntax/syntax.ts';

/** Files that ship with the program. */
export interface Assets {
  /** Folder of the bundled example pull request. */
  readonly demo: string;
  readonly grammar: () => GrammarFiles;
  /** Folder that contains `selvage.h`, for the include path of both builds. */
  readonly include: string;
  /** Folder of the sources of the interposer, in C. */
  readonly interposer: string;
  /** Headers of validators: paths by name. */
  readonly validatorHeaders: ReadonlyMap<string, string>;
}

/** Headers of validators, and their paths in the source tree. */
const headers = [
  ['selvage-idempotency.h', './interposer'],
  ['selvage-validator.h', './idempotency/validator'],
] as const;

/**
 * Finds the files that ship with the program: next to the bundle, or in the source tree and the packages.
 * @param entry `import.meta.url` of the entry point
 */
export function findAssets(entry: string): Assets {
  const bundled = !entry.endsWith('.ts');
  const at = (path: string): string => fileURLToPath(new URL(path, entry));
  const [runtime, grammar] = bundled
    ? ['web-tree-sitter.wasm', 'tree-sitter-cuda.wasm']
    : ['../node_modules/web-tree-sitter/web-tree-sitter.wasm', '../node_modules/tree-sitter-cuda/tree-sitter-cuda.wasm'];
  return {
    demo: at(bundled ? 'demo' : 'app/commands/demo'),
    grammar: () => ({ runtime: readFileSync(at(runtime)), grammar: readFileSync(at(grammar)) }),
    include: at(bundled ? 'include' : 'toolchain/include'),
    interposer: at(bundled ? 'interposer' : 'interposer'),
    validatorHeaders: new Map(headers.map(([name, folder]) => [name, at(bundled ? name : `${folder}/${name}`)])),
  };
}
