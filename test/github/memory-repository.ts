/** A repository of texts in memory, for tests that create many of them. */
import { structuredPatch } from 'diff';
import { hunkRanges, type ChangedFile, type Repository } from './repository.ts';

/** Path to text. */
export type Tree = ReadonlyMap<string, string>;

/** Each commit is a tree; the first one is the merge base of all. */
export function memoryRepository(
  commits: ReadonlyMap<string, Tree>,
): Repository & { readonly text: (commit: string, path: string) => string | undefined } {
  const [root] = commits.keys();
  const tree = (commit: string): Tree => commits.get(commit) ?? new Map<string, string>();
  return {
    text: (commit, path) => tree(commit).get(path),
    mergeBase: () => root ?? '',
    changedFiles(base, head) {
      const before = tree(base);
      const after = tree(head);
      const files: ChangedFile[] = [];
      for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
        const [from, to] = [before.get(path), after.get(path)];
        if (from === to) continue;
        const status = from === undefined ? 'added' : to === undefined ? 'removed' : 'modified';
        files.push({ path, status, patch: patchOf(from ?? '', to ?? '', 3) });
      }
      return files;
    },
    mapLine(from, to, path, line) {
      const after = tree(to).get(path);
      if (after === undefined) return null;
      let shift = 0;
      for (const hunk of hunkRanges(patchOf(tree(from).get(path) ?? '', after, 0))) {
        const start = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
        if (line < start) break;
        if (line < start + hunk.oldLines) return null;
        shift += hunk.newLines - hunk.oldLines;
      }
      return line + shift;
    },
  };
}

/** The hunks of a unified diff, as git prints them. */
function patchOf(before: string, after: string, context: number): string {
  const { hunks } = structuredPatch('a', 'b', before, after, '', '', { context });
  return hunks
    .map((hunk) => {
      // The library counts an empty side from the line after it, git from the line before.
      const oldStart = hunk.oldLines === 0 ? hunk.oldStart - 1 : hunk.oldStart;
      const newStart = hunk.newLines === 0 ? hunk.newStart - 1 : hunk.newStart;
      return [`@@ -${oldStart},${hunk.oldLines} +${newStart},${hunk.newLines} @@`, ...hunk.lines].join('\n');
    })
    .join('\n');
}
