/** Repairs in reviews: as a suggestion block, or as a diff. */
import { applyLineEdits } from '../../report-model/repaired-file.ts';
import type { KernelReport, RepairEdit, Report } from '../../report-model/report.ts';
import { repairPhrase } from '../../messages/phrases.ts';
import { renderPatch } from '../../report/patch.ts';
import { hasNonTextBytes } from '../../source/source-bytes.ts';
import type { FileDiff } from '../../source/diff.ts';
import { isInDiff, type Anchor } from './anchor.ts';

// Maximum number of lines of a suggestion block. A longer block hides the code that it refers to; the summary contains
// the diff instead.
const MAX_LINES = 30;

/** A repair of new findings that was compiled and proved. */
export interface Offer {
  readonly path: string;
  /** Names of the kernels that the offer repairs. */
  readonly kernels: readonly string[];
  /** Effect of the repair: ``add `__syncthreads()` after line 6``; empty if there is nothing to state. */
  readonly reason: string;
  /** Whether the repair removes only some of the findings and leaves the kernel unproved. */
  readonly isPartial: boolean;
  /**
   * The smallest range of lines of the diff that a suggestion block can replace; undefined if GitHub accepts no such
   * block.
   */
  readonly lines: Anchor | undefined;
  /**
   * Replacement of these lines of the head: whole lines, without the end of the last one. Undefined if an edit is
   * outside of them. All edits of a repair are in one block.
   */
  readonly blockAt: (lines: Anchor) => string | undefined;
  /** The hunks of the repair as a unified diff. */
  readonly patch: string;
}

/**
 * The repairs of a report, by fingerprint of the finding whose comment contains them.
 * @param source - text of a file of the head
 */
export function offersOf(
  { kernels, comparison, ...report }: Report,
  diff: readonly FileDiff[],
  source: (file: string) => string | undefined,
): Map<string, Offer> {
  const files = new Map(diff.map((file) => [file.path, file]));
  const known = new Set(comparison?.unchanged ?? []);
  const told = new Set<string>();
  const offers = new Map<string, Offer>();
  for (const { repair } of kernels) {
    const { edits, fixes = [] } = repair;
    const fingerprint = fixes.find((candidate) => !known.has(candidate));
    const [first] = edits ?? [];
    if (repair.status !== 'repaired' || !edits || !first || fingerprint === undefined) continue;
    // Instances of a kernel share an edit, which must not be applied twice.
    const key = JSON.stringify(edits);
    const text = source(first.file);
    if (told.has(key) || text === undefined) continue;
    told.add(key);
    const own = kernels.filter((kernel) => JSON.stringify(kernel.repair.edits) === key);
    const patch = renderPatch({ ...report, kernels: own }, source);
    offers.set(fingerprint, offerOf(own, edits, text, patch, files));
  }
  return offers;
}

function offerOf(
  kernels: readonly KernelReport[],
  edits: readonly RepairEdit[],
  head: string,
  patch: string,
  diff: ReadonlyMap<string, FileDiff>,
): Offer {
  const [{ file: path }] = edits as [RepairEdit];
  const isOneFile = edits.every(({ file }) => file === path);
  // GitHub preserves the line ends of a file, but unifies mixed ones: that edit was not verified.
  const text = isOneFile ? withLineFeeds(head) : undefined;
  const blockAt: Offer['blockAt'] = (lines) => (text !== undefined && lines.path === path ? blockIn(text, edits, lines) : undefined);
  const first = Math.min(...edits.map(({ startLine }) => startLine));
  const last = Math.max(...edits.map(({ startLine, endLine }) => Math.max(startLine - 1, endLine)));
  // A block replaces at least one line, and leaves at least one: otherwise the line above or below is added.
  const ranges = [...(last >= first ? [[first, last]] : []), [first - 1, last], [first, last + 1]];
  const places = ranges.map(([startLine, line]): Anchor => ({ path, startLine: startLine!, line: line! }));
  const lines = places.find((one) => one.startLine! >= 1 && isInDiff(one, diff) && blockAt(one) !== undefined);
  return {
    path,
    kernels: kernels.map(({ name }) => name),
    isPartial: kernels.some(({ repair }) => repair.leaves !== undefined),
    reason: repairPhrase(kernels[0]!.repair)?.detail ?? '',
    lines: lines && (lines.startLine === lines.line ? { path, line: lines.line } : lines),
    blockAt,
    // The patch of a single file omits the file names, because the comment names the file.
    patch: isOneFile ? patch.replace(/^[^]*?^(?=@@ )/m, '') : patch,
  };
}

/** Lines of a text with edits applied; undefined if an edit is outside of the lines, or no text remains. */
function blockIn(text: string, edits: readonly RepairEdit[], { startLine, line }: Anchor): string | undefined {
  const start = startLine ?? line;
  if (line - start >= MAX_LINES) return undefined;
  // An edit that only inserts has an end before its start.
  const lie = edits.every((edit) => edit.startLine >= start && edit.startLine <= line + 1 && edit.endLine <= line);
  if (!lie) return undefined;
  const moved = edits.map((edit) => ({
    ...edit,
    replacement: edit.replacement.replaceAll('\r\n', '\n'),
    startLine: edit.startLine - start + 1,
    endLine: edit.endLine - start + 1,
  }));
  const lines = text
    .split('\n')
    .slice(start - 1, line)
    .join('\n');
  const replaced = applyLineEdits(`${lines}\n`, moved);
  // GitHub accepts only texts.
  return replaced === '' || hasNonTextBytes(replaced) ? undefined : replaced.replace(/\n$/, '');
}

/** A text with uniform line ends, converted to line feeds; undefined if they are mixed. */
function withLineFeeds(text: string): string | undefined {
  if (!text.includes('\r')) return text;
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? undefined : text.replaceAll('\r\n', '\n');
}
