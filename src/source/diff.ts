import { parsePatch } from 'diff';

/** One hunk of a unified diff. Line numbers count from 1. A side without lines starts at the line before the hunk. */
interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** With their leading ` `, `+`, `-` or `\`. */
  readonly lines: readonly string[];
}

/** Changes of one file. */
export interface FileDiff {
  readonly path: string;
  readonly previousPath?: string;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  /** Hunks; null if the patch is missing, because the file is binary or too large. */
  readonly hunks: readonly Hunk[] | null;
}

/**
 * Parses the hunks of one file, without file headers, as in GitHub's `patch` field.
 * @throws Error if the text is not a sequence of hunks.
 */
export function parseHunks(patch: string): Hunk[] {
  return parsePatch(patch).flatMap((file) => file.hunks.map(toHunk));
}

/** The hunk whose new side (added and context lines) contains `line`, if any. */
export function hunkAt(file: FileDiff, line: number): Hunk | undefined {
  return file.hunks?.find((hunk) => line >= hunk.newStart && line < hunk.newStart + hunk.newLines);
}

/** Whether one hunk's new side contains both lines. */
export function inSameHunk(file: FileDiff, first: number, second: number): boolean {
  const hunk = hunkAt(file, first);
  return hunk !== undefined && hunk === hunkAt(file, second);
}

/** The lines of the new side that the change adds, without context. */
export function addedLines(file: FileDiff): Set<number> {
  const added = new Set<number>();
  for (const hunk of file.hunks ?? []) {
    let line = hunk.newStart;
    for (const text of hunk.lines) {
      if (text.startsWith('+')) added.add(line);
      if (!text.startsWith('-') && !text.startsWith('\\')) line += 1;
    }
  }
  return added;
}

/** The lines of the new side before and after each removal, ascending. */
export function linesAdjacentToRemovals(file: FileDiff): number[] {
  const beside = new Set<number>();
  for (const hunk of file.hunks ?? []) {
    let line = hunk.newStart;
    for (const text of hunk.lines) {
      if (text.startsWith('-')) beside.add(line - 1).add(line);
      else if (!text.startsWith('\\')) line += 1;
    }
  }
  return [...beside].sort((a, b) => a - b);
}

/**
 * Converts the start of an empty side: the parser uses the line after the position; git, and {@link Hunk}, use the line
 * before it.
 */
function toHunk(hunk: Hunk): Hunk {
  const { oldStart, oldLines, newStart, newLines, lines } = hunk;
  return {
    oldStart: oldLines === 0 ? oldStart - 1 : oldStart,
    oldLines,
    newStart: newLines === 0 ? newStart - 1 : newStart,
    newLines,
    lines,
  };
}

/**
 * The part of a diff inside a folder, with paths relative to it. A file moved into the folder is added, and one moved
 * out of it is removed.
 * @param folder with a trailing slash; empty for the whole
 */
export function diffWithin(files: readonly FileDiff[], folder: string): FileDiff[] {
  const within = (path: string): string | undefined => (path.startsWith(folder) ? path.slice(folder.length) : undefined);
  return files.flatMap(({ path: whole, previousPath, ...file }): FileDiff[] => {
    const path = within(whole);
    const previous = previousPath === undefined ? undefined : within(previousPath);
    if (path !== undefined && previous !== undefined) return [{ ...file, path, previousPath: previous }];
    if (path !== undefined) return [{ ...file, path, status: file.status === 'renamed' ? 'added' : file.status }];
    return previous === undefined ? [] : [{ path: previous, status: 'removed', hunks: [] }];
  });
}
