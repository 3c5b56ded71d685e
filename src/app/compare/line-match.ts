import { diffArrays } from 'diff';
import type { Location } from '../../source/location.ts';

/** Maps lines of the head to lines of the base. */
export interface LineMatch {
  /** Location in the base; null for a new line. A changed line corresponds to the line of the base at its position. */
  readonly baseOf: (location: Location) => { readonly file: string; readonly line: number } | null;
  /** Lines of a file of the head that are new or changed, in order. */
  readonly changed: (file: string) => readonly number[];
  /** The text of a line of the head. */
  readonly text: (file: string, line: number) => string;
}

/** Maximum number of removed and added lines; the running time grows with the square of this number. */
const maxEdits = 4000;

interface FileMatch {
  /** Line of the base for each line of the head, counted from 1; 0 if none exists. */
  readonly base: readonly number[];
  readonly changed: readonly number[];
}

/**
 * Matches lines by their text, ignoring indentation.
 * @param fileOf the path in the base of a path in the head
 */
export function matchLines(
  base: (file: string) => string | undefined,
  head: (file: string) => string | undefined,
  fileOf: (file: string) => string,
): LineMatch {
  const known = new Map<string, FileMatch>();
  const matchOf = (file: string): FileMatch => {
    let match = known.get(file);
    if (!match) known.set(file, (match = matchTexts(base(fileOf(file)) ?? '', head(file) ?? '')));
    return match;
  };
  return {
    baseOf: ({ file, line }) => {
      const was = matchOf(file).base[line] ?? 0;
      return was === 0 ? null : { file: fileOf(file), line: was };
    },
    changed: (file) => matchOf(file).changed,
    text: (file, line) => head(file)?.split('\n')[line - 1] ?? '',
  };
}

function matchTexts(base: string, head: string): FileMatch {
  const lines = (text: string): string[] => text.split('\n').map((line) => line.trim());
  const match = [0];
  const changed: number[] = [];
  let before = 1;
  let removed = 0;
  // In a file that was replaced entirely, no line has a counterpart.
  const parts = diffArrays(lines(base), lines(head), { maxEditLength: maxEdits }) ?? [];
  for (const part of parts) {
    const count = part.value.length;
    if (part.removed) {
      removed += count;
      continue;
    }
    if (part.added) {
      for (let index = 0; index < count; index += 1) {
        changed.push(match.length);
        match.push(index < removed ? before + index : 0);
      }
    }
    before += removed;
    removed = 0;
    if (part.added) continue;
    for (let index = 0; index < count; index += 1) match.push(before + index);
    before += count;
  }
  return { base: match, changed };
}
