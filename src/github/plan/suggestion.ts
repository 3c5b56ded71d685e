/** Repairs as suggestion blocks, which a reader of a review can commit. */
import { applyLineEdits } from '../../document/repaired-file.ts';
import type { RepairEdit, Report } from '../../document/report.ts';
import { repairPhrase } from '../../wording/phrases.ts';
import type { FileDiff } from '../../source/diff.ts';
import { isInDiff, type Anchor } from './anchor.ts';

// A longer block hides the code it is about: the summary has the diff.
const MAX_LINES = 30;

/**
 * The suggestions for the repairs of a report, by fingerprint of the finding whose comment holds them. All edits of a
 * repair are in one block or, where the diff does not show all of their lines, in none.
 * @param source - text of a file of the head
 */
export function suggestionsOf(
  { kernels, comparison }: Report,
  diff: readonly FileDiff[],
  source: (file: string) => string | undefined,
): Map<string, Suggestion> {
  const files = new Map(diff.map((file) => [file.path, file]));
  const known = new Set(comparison?.unchanged ?? []);
  const told = new Set<string>();
  const suggestions = new Map<string, Suggestion>();
  for (const { repair } of kernels) {
    const { edits, fixes = [] } = repair;
    const fingerprint = fixes.find((candidate) => !known.has(candidate));
    if (repair.status !== 'repaired' || !edits || fingerprint === undefined) continue;
    // Instances of a kernel share an edit, which must not be applied twice.
    const key = JSON.stringify(edits);
    if (told.has(key)) continue;
    const text = edits[0] && source(edits[0].file);
    const suggestion = text === undefined ? undefined : suggestionFor(edits, text, files);
    if (!suggestion) continue;
    told.add(key);
    const reason = repairPhrase(repair)?.detail ?? '';
    const own = kernels.filter((kernel) => JSON.stringify(kernel.repair.edits) === key).map(({ name }) => name);
    suggestions.set(fingerprint, { ...suggestion, kernels: own, ...(reason === '' ? {} : { reason }) });
  }
  return suggestions;
}

function suggestionFor(
  original: readonly RepairEdit[],
  head: string,
  diff: ReadonlyMap<string, FileDiff>,
): Suggestion | undefined {
  const [{ file: path }] = original as [RepairEdit];
  // GitHub keeps the line ends of a file, but makes those of one that mixes them all alike: no such thing was verified.
  const text = withLineFeeds(head);
  if (text === undefined || original.some(({ file }) => file !== path)) return undefined;
  const edits = original.map((edit) => ({ ...edit, replacement: edit.replacement.replaceAll('\r\n', '\n') }));
  const first = Math.min(...edits.map(({ startLine }) => startLine));
  const last = Math.max(...edits.map(({ startLine, endLine }) => Math.max(startLine - 1, endLine)));
  // A block replaces at least one line, and leaves at least one: else the line above comes along, or the one below.
  const ranges = [...(last >= first ? [[first, last]] : []), [first - 1, last], [first, last + 1]];
  for (const [startLine, line] of ranges as [number, number][]) {
    if (startLine < 1 || line - startLine >= MAX_LINES) continue;
    if (!isInDiff({ path, startLine, line }, diff)) continue;
    const lines = text
      .split('\n')
      .slice(startLine - 1, line)
      .join('\n');
    const moved = edits.map((edit) => ({
      ...edit,
      startLine: edit.startLine - startLine + 1,
      endLine: edit.endLine - startLine + 1,
    }));
    const replaced = applyLineEdits(`${lines}\n`, moved);
    if (replaced === '') continue;
    return { path, line, ...(startLine < line && { startLine }), text: replaced.replace(/\n$/, '') };
  }
  return undefined;
}

/** A text whose lines all end alike, with line feeds; undefined where they do not. */
function withLineFeeds(text: string): string | undefined {
  if (!text.includes('\r')) return text;
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? undefined : text.replaceAll('\r\n', '\n');
}

/** Replaces `startLine` to `line` of a file of the head by `text`. */
export interface Suggestion extends Anchor {
  /** Whole lines, without the end of the last one. */
  readonly text: string;
  /** The kernels that it repairs; those of the comment where it is not given. */
  readonly kernels?: readonly string[];
  /** What it does: ``add `__syncthreads()` after line 6``. */
  readonly reason?: string;
}
