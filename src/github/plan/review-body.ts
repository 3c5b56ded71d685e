/** The review of findings that were not reported before, and its body, which lists those without an inline comment. */
import { hashText } from '../../base/hash.ts';
import { byteLength, COMMENT_BUDGET, fitMarkdown } from '../text/fit-markdown.ts';
import { cutNote, restIn, type RunHost } from '../text/run-host.ts';
import { parseEntryMarker, parseMarker, printEntryMarker, printMarker, type EntryMarker } from '../text/marker.ts';
import type { InlineComment, PlannedFinding, PlannedReview, ReviewPlan } from './review-plan.ts';
import type { EarlierFinding } from './settlement.ts';
import { shortSha } from './summary.ts';

// Maximum number of fingerprints of an entry: a few suffice to recognise the entry, and keep the marker small.
const MAX_FINGERPRINTS = 4;

interface Composition {
  /** The findings to report. */
  readonly findings: readonly PlannedFinding[];
  /** Findings whose comments were rejected by GitHub: the review body contains them. */
  readonly refused?: ReadonlySet<PlannedFinding>;
  /** Findings whose comments are already posted. */
  readonly posted?: ReadonlySet<PlannedFinding>;
}

/** The review of findings that no earlier comment reports; null without such findings. */
export function composeReview(
  plan: Pick<ReviewPlan, 'reviewIntroduction' | 'name' | 'host'>,
  { findings, refused = new Set(), posted = new Set() }: Composition,
): PlannedReview | null {
  if (findings.length === 0) return null;
  const comments: InlineComment[] = [];
  const entries: PlannedFinding[] = [];
  for (const finding of findings) {
    if (posted.has(finding)) continue;
    if (finding.comment && !refused.has(finding)) comments.push(finding.comment);
    else entries.push(finding);
  }
  const marker = printMarker('review', { fingerprints: entries.flatMap(nameOf), name: plan.name });
  const parts = [plan.reviewIntroduction, headingOf(entries, refused)];
  const head = parts.filter((part) => part !== '').join('\n\n');
  const list = withinBudget(entries, refused, COMMENT_BUDGET - byteLength(marker + head) - 200, plan.host);
  const body = [head, ...list].filter((part) => part !== '').join('\n\n');
  return { event: 'COMMENT', body: fitMarkdown(marker + body, COMMENT_BUDGET, cutNote(plan.host)), comments };
}

/** Heading that explains why the listed findings have no separate comment; empty if the list is empty. */
function headingOf(entries: readonly PlannedFinding[], refused: ReadonlySet<PlannedFinding>): string {
  const reasons = new Set(entries.map((entry) => (refused.has(entry) ? 'refused' : entry.withoutComment)));
  if (reasons.size === 0) return '';
  if (reasons.size > 1) return 'Findings without a separate comment:';
  if (reasons.has('refused')) return 'Findings whose comments GitHub refused:';
  return reasons.has('not-in-diff') ? 'Findings on lines that the diff does not show:' : 'Findings over the maximum number of comments:';
}

function nameOf({ fingerprints }: PlannedFinding): readonly string[] {
  return fingerprints.slice(0, MAX_FINGERPRINTS);
}

/**
 * The entries that fit into the budget. Entries are not cut, because that would leave a list item or a code block open.
 */
function withinBudget(
  entries: readonly PlannedFinding[],
  refused: ReadonlySet<PlannedFinding>,
  budget: number,
  host: RunHost | undefined,
): string[] {
  const list: string[] = [];
  let left = budget;
  for (const finding of entries) {
    const marker = printEntryMarker({
      fingerprints: nameOf(finding),
      kernels: finding.kernels,
      path: finding.path,
      isRefused: refused.has(finding),
      text: finding.entryText,
    });
    const text = `${marker}\n${finding.entry}`;
    left -= byteLength(text) + 2;
    if (left < 0) return [...list, `- and ${entries.length - list.length} more${restIn(host)}`];
    list.push(text);
  }
  return list;
}

/** A finding in the body of an earlier review. */
interface Entry {
  readonly marker: EntryMarker;
  readonly text: string;
}

interface ReviewBody {
  readonly head: string;
  readonly entries: readonly Entry[];
}

/** The entries in the body of an earlier review. Each extends from its marker to the next one. */
function parseBody(body: string): ReviewBody {
  const lines = body
    .replaceAll('\r\n', '\n')
    .replace(/^[^\n]*\n/, '')
    .split('\n');
  const head: string[] = [];
  const entries: { marker: EntryMarker; lines: string[] }[] = [];
  for (const line of lines) {
    const marker = parseEntryMarker(line);
    if (marker) entries.push({ marker, lines: [] });
    else (entries.at(-1)?.lines ?? head).push(line);
  }
  return {
    head: head.join('\n').trimEnd(),
    entries: entries.map((entry) => ({ marker: entry.marker, text: entry.lines.join('\n').trimEnd() })),
  };
}

/** Fingerprints of the findings whose comments were rejected on the commit of the review. */
export function refusedIn(body: string): string[] {
  return parseBody(body).entries.flatMap(({ marker }) => (marker.isRefused ? marker.fingerprints : []));
}

/** A finding that a review names without an entry. */
function anywhere(fingerprint: string): EarlierFinding {
  return { path: undefined, fingerprints: [fingerprint], kernels: [] };
}

/** The open findings in the body of a review. */
export function findingsIn(body: string): readonly EarlierFinding[] {
  const told = parseMarker(body)?.fingerprints ?? [];
  const entries = parseBody(body).entries.map(({ marker }) => ({ ...marker, path: marker.path || undefined }));
  const inEntries = new Set(entries.flatMap(({ fingerprints }) => fingerprints));
  const isOpen = ({ fingerprints }: EarlierFinding): boolean => fingerprints.some((one) => told.includes(one));
  return [...entries.filter(isOpen), ...told.filter((one) => !inEntries.has(one)).map(anywhere)];
}

interface Settling {
  readonly headSha: string;
  readonly settle: ReviewPlan['settle'];
  /** Whether the review has comments whose findings are not settled. */
  readonly hasOpenComments: boolean;
  /** Whether a comment on a line reports the finding. */
  readonly isInline: (fingerprint: string) => boolean;
  /** Entries of the current run for the findings with these fingerprints. */
  readonly entriesOf: (fingerprints: readonly string[]) => readonly Pick<PlannedFinding, 'entry' | 'entryText'>[];
}

/** The text in the marker of a review whose findings are all settled. */
const settledText = hashText('settled');

/**
 * The body of an earlier review without findings that are settled or have a separate comment now, and with the others
 * updated; one line if all are settled; undefined if it is unchanged.
 */
export function settledBody(body: string, { headSha, settle, hasOpenComments, isInline, entriesOf }: Settling): string | undefined {
  const { fingerprints: told = [], name = '', text: state } = parseMarker(body) ?? {};
  const { head, entries } = parseBody(body);
  const inEntries = new Set(entries.flatMap(({ marker }) => marker.fingerprints));
  const gone = new Set<string>();
  let room = COMMENT_BUDGET - byteLength(body);
  let isRenewed = false;
  const parts = entries.map(({ marker, text }) => {
    const { fingerprints, kernels, path } = marker;
    const isTold = fingerprints.some((one) => told.includes(one));
    const isMoved = marker.isRefused && fingerprints.some(isInline);
    const settlement = settle({ path: path || undefined, fingerprints, kernels });
    const isSettled = settlement.kind !== 'open' && settlement.kind !== 'unchecked';
    if (!isTold || !(isMoved || isSettled)) {
      const all = isTold ? entriesOf(fingerprints) : [];
      const now = all.some(({ entryText }) => entryText === marker.text) ? undefined : all[0];
      const more = now ? byteLength(now.entry) - byteLength(text) + 30 : Infinity;
      if (!now || more > room) return `${printEntryMarker(marker)}\n${text}`;
      room -= more;
      isRenewed = true;
      return `${printEntryMarker({ ...marker, text: now.entryText })}\n${now.entry}`;
    }
    for (const fingerprint of fingerprints) gone.add(fingerprint);
    const words = {
      fixed: 'Fixed in',
      suppressed: 'Suppressed in',
      gone: 'No longer part of this change, as of',
    } as const;
    const what =
      isMoved || !(settlement.kind in words)
        ? 'Now a comment on its line'
        : `${words[settlement.kind as keyof typeof words]} ${shortSha(headSha)}`;
    return `- ${what}: ${(text.split('\n')[0] ?? '').replace(/^- /, '')}`;
  });
  // Findings that did not fit into the body, and findings of reviews by earlier versions of Selvage.
  for (const one of told) {
    if (!inEntries.has(one) && ['fixed', 'gone'].includes(settle(anywhere(one)).kind)) gone.add(one);
  }
  const left = told.filter((fingerprint) => !gone.has(fingerprint));
  if (left.length === 0 && !hasOpenComments) {
    if (state === settledText) return undefined;
    const marker = printMarker('review', { name, text: settledText });
    return `${marker}Nothing of this review is open here any more, as of ${shortSha(headSha)}.`;
  }
  if (gone.size === 0 && !isRenewed) return undefined;
  const marker = printMarker('review', { fingerprints: left, name });
  return marker + [head, ...parts].filter((part) => part !== '').join('\n\n');
}
