/** How the source declares the arrays of shared and global memory. */
import { nodesWhere, pathTo } from '../syntax/syntax-tree.ts';
import type { CudaSource } from '../syntax/syntax.ts';

/** `__shared__ float tile[32][33]`. */
export interface DeclaredArray {
  /** Type of an element as written. */
  readonly type: string;
  /** The extents as written, the outermost first; empty for `[]`. */
  readonly extents: readonly string[];
}

/** Maximum length of a declaration that is examined; longer ones have long initial values. */
const longestDeclaration = 300;

const declaration =
  /^(?:(?:extern|static|const|volatile|__device__|__constant__|__managed__|alignas\s*\([^)]*\)|__align__\s*\([^)]*\))\s+)*__(?:shared|device|managed)__\s+(?:(?:const|volatile|__align__\s*\([^)]*\)|alignas\s*\([^)]*\))\s+)*([\w\s:]+?)\s*\b(\w+)\s*((?:\[[^[\]]*\]\s*)+)(?:=[^,]*)?;$/;

/**
 * Finds the declaration of an array, in the function around a line first.
 * @param line - from 1
 * @returns undefined if it is not found, or declared together with others
 */
export function declaredArray(source: CudaSource, line: number, name: string): DeclaredArray | undefined {
  const home = source.functions.find(({ firstLine, lastLine }) => firstLine <= line && line <= lastLine);
  const body = home && pathTo(source.tree(), home.bodyStart, home.end).at(-1);
  const declarations = [
    ...(body ? nodesWhere(body, ({ type }) => type === 'declaration') : []),
    ...source.tree().children.filter(({ type }) => type === 'declaration'),
  ];
  const found = declarations.flatMap(({ start, end }) => {
    if (end - start > longestDeclaration) return [];
    const [, type, declared, extents] = declaration.exec(source.text.slice(start, end).trim()) ?? [];
    if (type === undefined || declared !== name || extents === undefined) return [];
    return [{ type: type.trim(), extents: [...extents.matchAll(/\[([^[\]]*)\]/g)].map(([, text]) => text!.trim()) }];
  });
  return found[0];
}
