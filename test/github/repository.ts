/** GitHub's view of a repository: the diff of a pull request, and the position of a line between two commits. */
import { execFileSync } from 'node:child_process';

export interface ChangedFile {
  readonly path: string;
  readonly previousPath?: string;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  /** Only the hunks; null for binary files and files that only moved. */
  readonly patch: string | null;
}

export interface Repository {
  mergeBase(base: string, head: string): string;
  /** Changes of the head against the merge base. */
  changedFiles(base: string, head: string): readonly ChangedFile[];
  /** The line of `to` that corresponds to a line of `from`, null if it was changed or deleted. */
  mapLine(from: string, to: string, path: string, line: number): number | null;
}

export interface HunkRange {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
}

/** The ranges of a patch's hunks. */
export function hunkRanges(patch: string): HunkRange[] {
  return [...patch.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map((match) => ({
    oldStart: Number(match[1]),
    oldLines: Number(match[2] ?? 1),
    newStart: Number(match[3]),
    newLines: Number(match[4] ?? 1),
  }));
}

/** A real repository in a folder. */
export function gitRepository(directory: string): Repository {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'core.quotePath=false', ...args], {
      cwd: directory,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
  const cache = new Map<string, readonly ChangedFile[]>();
  const diff = ['diff', '--no-color', '--no-ext-diff', '--src-prefix=a/', '--dst-prefix=b/', '-M'];
  return {
    mergeBase: (base, head) => git('merge-base', base, head).trim(),
    changedFiles(base, head) {
      const key = `${base} ${head}`;
      let files = cache.get(key);
      if (!files) {
        files = rawEntries(git(...diff, '--raw', '-z', base, head)).map((entry) => {
          const paths = [entry.path, ...(entry.previousPath === undefined ? [] : [entry.previousPath])];
          const text = git(...diff, base, head, '--', ...paths);
          const start = text.search(/^@@ /m);
          return { ...entry, patch: start < 0 ? null : text.slice(start).replace(/\n$/, '') };
        });
        cache.set(key, files);
      }
      return files;
    },
    mapLine(from, to, path, line) {
      let shift = 0;
      for (const hunk of hunkRanges(git(...diff, '-U0', from, to, '--', path))) {
        // A hunk that only adds is located after its old line.
        const start = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
        if (line < start) break;
        if (line < start + hunk.oldLines) return null;
        shift += hunk.newLines - hunk.oldLines;
      }
      return line + shift;
    },
  };
}

function rawEntries(raw: string): Omit<ChangedFile, 'patch'>[] {
  const fields = raw.split('\0');
  const entries: Omit<ChangedFile, 'patch'>[] = [];
  for (let index = 0; index + 1 < fields.length;) {
    const letter = (fields[index] as string).split(' ')[4]?.charAt(0);
    const first = fields[index + 1] as string;
    if (letter === 'R' || letter === 'C') {
      const path = fields[index + 2] as string;
      entries.push(letter === 'R' ? { path, previousPath: first, status: 'renamed' } : { path, status: 'added' });
      index += 3;
    } else {
      entries.push({ path: first, status: letter === 'A' ? 'added' : letter === 'D' ? 'removed' : 'modified' });
      index += 2;
    }
  }
  return entries;
}
