import { grouped } from '../../base/grouped.ts';
import { posix } from 'node:path';
import type { CudaSource } from '../../cuda/syntax/syntax.ts';

/**
 * The sources of the tree that `from` includes, directly or transitively, according to the text only. A quoted
 * include refers to the file in the same folder, if there is one; any other include matches every file whose path ends
 * with the included name, so the result is an over-approximation.
 * @param paths of the tree
 * @param source reads one of them
 */
export function includedSources(
  from: CudaSource,
  paths: readonly string[],
  source: (file: string) => CudaSource | undefined,
): CudaSource[] {
  const byName = grouped(paths, (path) => posix.basename(path));
  const found = new Map<string, CudaSource>();
  const pending = [from];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    for (const { path: written, system } of current.includes) {
      const candidates: readonly string[] = byName.get(posix.basename(written)) ?? [];
      const beside = posix.join(posix.dirname(current.file), written);
      const end = written.replace(/^(?:\.{1,2}\/)+/, '');
      const files =
        !system && candidates.includes(beside) ? [beside] : candidates.filter((path) => path === end || path.endsWith(`/${end}`));
      for (const file of files) {
        const header = file === from.file || found.has(file) ? undefined : source(file);
        if (!header) continue;
        found.set(file, header);
        pending.push(header);
      }
    }
  }
  return [...found.values()];
}
