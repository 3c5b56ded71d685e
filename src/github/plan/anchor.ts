/** Where on the diff a finding is shown. GitHub takes comments only on lines inside a hunk, context included. */
import { isRace, type Finding } from '../../document/outcome.ts';
import { addedLines, hunkAt, inSameHunk, type FileDiff } from '../../source/diff.ts';
import type { Location } from '../../source/location.ts';

export interface Anchor {
  readonly path: string;
  /** Line of the head revision; the last one where the comment spans several. */
  readonly line: number;
  readonly startLine?: number;
}

// A comment over more lines than this hides the code it is about.
const MAX_SPAN = 12;

/**
 * Picks the line a comment goes to: of the lines of the two accesses (or the barrier), and then of the calls they were
 * inlined through, the first that the change adds, else the first that a hunk shows. Two accesses near each other in
 * one hunk give a range. Where none of these lines is in the diff, those of the other accesses of the cause; undefined where
 * none of all is.
 */
export function anchorOf(finding: Finding, diff: ReadonlyMap<string, FileDiff>): Anchor | undefined {
  if (!isRace(finding)) return anchorOn([finding.barrier], diff);
  for (const { first, second } of [finding, ...(finding.also ?? [])]) {
    const places = [second.location, first.location].filter((place) => place !== undefined);
    const anchor = anchorOn(places, diff);
    if (anchor) return anchor;
  }
  return undefined;
}

function anchorOn(places: readonly Location[], diff: ReadonlyMap<string, FileDiff>): Anchor | undefined {
  const frames = framesOf(places);
  const shown = frames.filter((frame) => {
    const file = diff.get(frame.file);
    return file !== undefined && hunkAt(file, frame.line) !== undefined;
  });
  const chosen = shown.find((frame) => isAdded(diff, frame)) ?? shown[0];
  if (chosen === undefined) return undefined;
  const file = diff.get(chosen.file) as FileDiff;
  const other = places.find(
    (place) =>
      place.file === chosen.file &&
      place.line !== chosen.line &&
      Math.abs(place.line - chosen.line) < MAX_SPAN &&
      inSameHunk(file, place.line, chosen.line),
  );
  // A call line is no access: the range would say that the accesses span it.
  if (other === undefined || !places.includes(chosen)) return { path: chosen.file, line: chosen.line };
  return {
    path: chosen.file,
    startLine: Math.min(chosen.line, other.line),
    line: Math.max(chosen.line, other.line),
  };
}

/** Whether GitHub takes a comment there. */
export function isInDiff(anchor: Anchor, diff: ReadonlyMap<string, FileDiff>): boolean {
  const file = diff.get(anchor.path);
  if (!file) return false;
  const start = anchor.startLine ?? anchor.line;
  return start <= anchor.line && inSameHunk(file, start, anchor.line);
}

/** Innermost frames first, the calls after them. */
function framesOf(places: readonly Location[]): Location[] {
  const frames: Location[] = [];
  let level: readonly Location[] = places;
  while (level.length > 0) {
    frames.push(...level);
    level = level.map((place) => place.inlinedAt).filter((place) => place !== undefined);
  }
  return frames;
}

function isAdded(diff: ReadonlyMap<string, FileDiff>, place: Location): boolean {
  const file = diff.get(place.file);
  return file !== undefined && addedLines(file).has(place.line);
}
