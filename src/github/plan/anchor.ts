/** Position of a finding on the diff. GitHub accepts comments only on lines inside a hunk, context included. */
import { isRace, type Finding } from '../../report-model/outcome.ts';
import { addedLines, hunkAt, inSameHunk, linesAdjacentToRemovals, type FileDiff } from '../../source/diff.ts';
import type { Location } from '../../source/location.ts';

export interface Anchor {
  readonly path: string;
  /** Line of the head revision. For a comment on several lines, the last one. */
  readonly line: number;
  readonly startLine?: number;
}

// Maximum number of lines of a comment. A longer one hides the code that it refers to.
const MAX_SPAN = 12;

type Diff = ReadonlyMap<string, FileDiff>;

/**
 * Selects the lines of a comment: the first added line among those of the two accesses (or the barrier), and of the
 * calls they were inlined through; otherwise the first one in a hunk. The comment spans other lines of the finding in
 * the same hunk: the other access, and removed lines between them, which are a likely place of a repair. If no line of
 * an access is in the diff, a change between them is selected; otherwise those of the other accesses of the cause;
 * undefined if nothing is in the diff.
 */
export function anchorOf(finding: Finding, diff: Diff): Anchor | undefined {
  if (!isRace(finding)) {
    const { barrier } = finding;
    const steps = finding.interleaving?.steps.map(({ location }) => location) ?? [];
    // A repair moves a barrier out of the branch around it, so the adjacent lines are considered too.
    return anchorOn([barrier], diff, [...adjacent(barrier), ...steps]);
  }
  for (const { first, second } of [finding, ...(finding.also ?? [])]) {
    const anchor = anchorOn([second.location, first.location], diff);
    if (anchor) return anchor;
  }
  return undefined;
}

/** The lines of a comment on a single place, with adjacent ones: a repair may move a statement over it. */
export function anchorAt(place: Location, diff: Diff): Anchor | undefined {
  return anchorOn([place], diff, adjacent(place));
}

function adjacent(place: Location): Location[] {
  return [place.line - 1, place.line + 1].map((line) => ({ ...place, line }));
}

function anchorOn(own: readonly (Location | undefined)[], diff: Diff, others: readonly (Location | undefined)[] = []): Anchor | undefined {
  const isKnown = (place: Location | undefined): place is Location => place !== undefined;
  const places = own.filter(isKnown);
  const shown = framesOf(places).filter(({ file, line }) => isInDiff({ path: file, line }, diff));
  const chosen = shown.find((frame) => isAdded(diff, frame)) ?? shown[0];
  const beside = [...places, ...others.filter(isKnown)];
  if (chosen) {
    const removed = between(chosen.file, places, diff, linesAdjacentToRemovals);
    return spanning(chosen.file, chosen.line, [...linesIn(chosen.file, beside), ...removed], diff);
  }
  for (const file of new Set(places.map((place) => place.file))) {
    const removed = between(file, places, diff, linesAdjacentToRemovals);
    const [line] = removed.length > 0 ? removed : between(file, places, diff, addedLines);
    if (line !== undefined) return spanning(file, line, removed, diff);
  }
  return undefined;
}

function linesIn(file: string, places: readonly Location[]): number[] {
  return places.filter((place) => place.file === file).map(({ line }) => line);
}

/** Changed lines between two locations. */
function between(file: string, places: readonly Location[], diff: Diff, linesOf: (file: FileDiff) => Iterable<number>): number[] {
  const lines = linesIn(file, places);
  const own = diff.get(file);
  if (!own || lines.length < 2) return [];
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  return [...linesOf(own)].filter((line) => first <= line && line <= last && isInDiff({ path: file, line }, diff));
}

/** The span of a line and of nearby ones in the same hunk, the nearest first. */
function spanning(path: string, line: number, others: readonly number[], diff: Diff): Anchor {
  const file = diff.get(path)!;
  let [start, end] = [line, line];
  const near = others.filter((one) => inSameHunk(file, one, line));
  for (const one of near.sort((a, b) => Math.abs(a - line) - Math.abs(b - line) || a - b)) {
    const [from, to] = [Math.min(start, one), Math.max(end, one)];
    if (to - from < MAX_SPAN) [start, end] = [from, to];
  }
  return start === end ? { path, line: end } : { path, startLine: start, line: end };
}

/** Whether GitHub accepts a comment on these lines. */
export function isInDiff(anchor: Anchor, diff: Diff): boolean {
  const file = diff.get(anchor.path);
  if (!file) return false;
  const start = anchor.startLine ?? anchor.line;
  return start <= anchor.line && hunkAt(file, start) !== undefined && inSameHunk(file, start, anchor.line);
}

/** Call stack of each location: innermost frames first, then their call sites. */
function framesOf(places: readonly Location[]): Location[] {
  const frames: Location[] = [];
  let level: readonly Location[] = places;
  while (level.length > 0) {
    frames.push(...level);
    level = level.map((place) => place.inlinedAt).filter((place) => place !== undefined);
  }
  return frames;
}

function isAdded(diff: Diff, place: Location): boolean {
  const file = diff.get(place.file);
  return file !== undefined && addedLines(file).has(place.line);
}
