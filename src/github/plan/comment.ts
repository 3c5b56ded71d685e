/** The comment on a finding: what happens, the lines, the repair; then, folded, how it was found. */
import { hashText } from '../../base/hash.ts';
import type { Finding } from '../../report-model/outcome.ts';
import { findingsInGroup, type FindingGroup } from '../../report-model/finding-group.ts';
import type { RepairReport } from '../../report-model/report.ts';
import { codes } from '../../source/codes.ts';
import type { Location } from '../../source/location.ts';
import { kernelsText, launchText, otherLinesText, remediesOf, sentencesIn, titleText } from '../../messages/review.ts';
import { repairPhrase } from '../../messages/phrases.ts';
import { toMarkdown, toPlainText } from '../../report/markup/code-pieces.ts';
import { codeSpan, details, fencedBlock, oneLine } from '../../report/markup/inert-markdown.ts';
import { sequenceDiagram } from '../../report/sequence-diagram.ts';
import { byteLength, COMMENT_BUDGET, fitMarkdown } from '../text/fit-markdown.ts';
import { cutNote } from '../text/run-host.ts';
import { printMarker } from '../text/marker.ts';
import type { Anchor } from './anchor.ts';
import { kernelKeys } from './settlement.ts';
import type { Offer } from './suggestion.ts';
import { reproduction, type ReviewFacts, type Site } from './summary.ts';

// Maximum number of fingerprints in a marker. A later run recognises the comment by any of them.
const MAX_FINGERPRINTS = 50;
/** Maximum length of a source line that a comment quotes, in UTF-16 units. */
const MAX_LINE = 120;
/** Maximum column at which notes to source lines are aligned. */
const MAX_COLUMN = 60;
// Maximum number of lines of a patch in a comment. Longer patches are in the summary.
const MAX_PATCH_LINES = 60;

/** Parts of the text of a finding, in reading order. */
interface FindingText {
  /** What happens, and where. */
  readonly head: string;
  /** Launch and interleaving, in a folded section. */
  readonly background: string;
  /** Commands that reproduce the finding, in a folded section. They name the commit. */
  readonly reproduction: string;
}

/** Text of a finding and of its repair. @param hasRepair whether there is a repair; the remedy is then omitted */
export function findingText(facts: ReviewFacts, group: FindingGroup, hasRepair: boolean): FindingText {
  const { finding, launch } = group.example;
  const findings = findingsInGroup(group);
  const remedies = hasRepair ? remediesOf(finding) : [];
  const [what = '', ...more] = sentencesIn(finding.message).filter((sentence) => !remedies.includes(sentence));
  const isShared = group.kernels.length > 1 || group.archs.length > 0;
  const paragraphs = [
    `**${toMarkdown(titleText(findings))}** (${group.severity})`,
    toMarkdown(what),
    sourceLines(facts, finding),
    [...more, otherLinesText(findings), isShared ? kernelsText(group) : '']
      .filter((text) => text !== '')
      .map(toMarkdown)
      .join(' '),
  ];
  const diagram = sequenceDiagram(finding);
  const launched = [launchText(finding, launch), isShared ? '' : kernelsText(group)].filter((text) => text !== '');
  const background = [launched.map(toMarkdown).join(' '), diagram === undefined ? '' : fencedBlock(diagram, 'mermaid')];
  return {
    head: joined(paragraphs),
    background: joined(background) === '' ? '' : details('Launch and interleaving', joined(background)),
    reproduction: finding.reproduce === undefined ? '' : details('Reproduce', reproduction(facts, finding.reproduce)),
  };
}

/** The whole text of a finding. */
export function wholeText({ head, background, reproduction: commands }: FindingText, repair: string): string {
  return joined([head, repair, background, commands]);
}

/** The comment on a finding at certain lines. */
interface CommentText {
  readonly body: string;
  /** Whether it contains the repair as a suggestion. */
  readonly suggests: boolean;
}

/**
 * The body of a comment on the lines of an anchor.
 * @param offer the repair that the comment suggests, if there is one
 * @param anchor with the path of the file in the report
 */
export function commentText(facts: ReviewFacts, group: FindingGroup, offer: Offer | undefined, anchor: Anchor): CommentText {
  const fingerprints = group.fingerprints.slice(0, MAX_FINGERPRINTS);
  const bodyOf = (repair: string): string => {
    const text = findingText(facts, group, offer !== undefined && repair !== '');
    // Text that names the commit is excluded, so that it causes no edit of a comment.
    const isOf = hashText(wholeText({ ...text, reproduction: '' }, repair));
    return `${printMarker('finding', { fingerprints, kernels: kernelKeys(group.occurrences), name: facts.name, text: isOf })}${wholeText(text, repair)}`;
  };
  const beside = facts.hasRepairs ? repairSentence(group.example.kernel.repair) : '';
  return fitting(facts, bodyOf, offer ? repairTexts(offer, group.kernels, anchor) : [], beside);
}

/** The longest text of a comment that fits. @param instead the text without a repair */
function fitting(facts: ReviewFacts, bodyOf: (repair: string) => string, repairs: readonly RepairText[], instead: string): CommentText {
  for (const { text, suggests } of repairs) {
    const body = bodyOf(text);
    // The suggestion is included completely or not at all: a shortened one would delete code.
    if (byteLength(body) <= COMMENT_BUDGET) return { body, suggests };
  }
  return { body: fitMarkdown(bodyOf(instead), COMMENT_BUDGET, cutNote(facts.host)), suggests: false };
}

/** The body of a comment on a finding of the host program. */
export function siteComment(facts: ReviewFacts, site: Site, offer: Offer | undefined, anchor: Anchor): CommentText {
  const { fingerprint } = site;
  const bodyOf = (repair: string): string => {
    const text = joined([siteText(site), repair]);
    return `${printMarker('finding', { fingerprints: [fingerprint], kernels: [], name: facts.name, text: hashText(text) })}${text}`;
  };
  return fitting(facts, bodyOf, offer ? repairTexts(offer, offer.kernels, anchor) : [], '');
}

/** Title and message of a finding on the order of operations. */
export function siteText({ code, severity, message }: Site): string {
  return joined([`**${toMarkdown(codes[code].title.replace(/\.$/, ''))}** (${severity})`, toMarkdown(message)]);
}

interface RepairText {
  readonly text: string;
  readonly suggests: boolean;
}

function repairTexts(offer: Offer, kernels: readonly string[], anchor: Anchor): RepairText[] {
  const block = offer.blockAt(anchor);
  const isShort = offer.patch.split('\n').length <= MAX_PATCH_LINES;
  const intro = introduction(offer, kernels);
  return [
    ...(block === undefined ? [] : [{ text: `${intro}\n\n${fencedBlock(`${block}\n`, 'suggestion')}`, suggests: true }]),
    ...(isShort ? [{ text: `${intro}\n\n${fencedBlock(offer.patch, 'diff')}`, suggests: false }] : []),
  ];
}

/** The repair as a diff, for findings without a comment. */
export function repairDiff(offer: Offer | undefined, kernels: readonly string[] = offer?.kernels ?? []): string {
  if (!offer || offer.patch.split('\n').length > MAX_PATCH_LINES) return '';
  return `${introduction(offer, kernels)}\n\n${fencedBlock(offer.patch, 'diff')}`;
}

function introduction({ reason, kernels, isPartial }: Offer, told: readonly string[]): string {
  const isForAll = told.every((name) => kernels.includes(name));
  const names = told.filter((name) => kernels.includes(name)).map(codeSpan);
  const forWhom = isForAll ? '' : ` for ${names.join(', ')} (the summary has the others)`;
  return `**Fix**, compiled and ${isPartial ? 'checked' : 'proved'}${forWhom}${reason === '' ? '' : `: ${toMarkdown(reason)}`}.`;
}

/** Outcome of the search for a repair, if the comment does not contain the repair. */
function repairSentence(repair: RepairReport): string {
  const phrase = repairPhrase(repair);
  // If no repair was tried, the summary states the reason once for all kernels.
  if (!phrase || phrase.detail === '' || repair.status === 'skipped') return '';
  return phrase.isEdit ? 'Another comment, or the summary, has a fix.' : `Selvage has no fix: ${toMarkdown(phrase.detail)}.`;
}

interface SourceLine {
  readonly place: Location;
  readonly notes: string[];
}

/** The source lines of a finding, with the actions of the threads there; empty if the source is not available. */
function sourceLines({ source }: ReviewFacts, { interleaving }: Finding): string {
  if (!source || !interleaving) return '';
  const lines = new Map<string, SourceLine>();
  for (const { location, action, threads, text } of interleaving.steps) {
    if (!location || action === 'pass') continue;
    const names = threads.map((index) => interleaving.threads[index]?.name ?? '').join(' and ');
    const key = `${location.file}:${location.line}`;
    const line = lines.get(key) ?? { place: location, notes: [] };
    // The note omits the expression if the source line itself contains it.
    line.notes.push(toPlainText(`${names} ${text.replace(/ `[^`]*`, here (`[^`]*`)$/, ' $1')}`));
    lines.set(key, line);
  }
  const rows = [...lines.values()].flatMap(({ place, notes }) => {
    const text = lineOf(source(place.file), place.line);
    return text === undefined ? [] : [{ place, text, note: notes.join('; ') }];
  });
  if (rows.length === 0) return '';
  rows.sort((a, b) => (a.place.file === b.place.file ? a.place.line - b.place.line : 0));
  const files = new Set(rows.map(({ place }) => place.file));
  const width = Math.max(...rows.map(({ place }) => String(place.line).length));
  const indent = Math.min(...rows.map(({ text }) => text.length - text.trimStart().length));
  const column = Math.max(...rows.map(({ text }) => text.length - indent).filter((length) => length <= MAX_COLUMN), 0);
  const printed = rows.map(({ place, text, note }, index) => {
    const isNewFile = files.size > 1 && rows[index - 1]?.place.file !== place.file;
    const title = isNewFile ? `// ${oneLine(place.file)}\n` : '';
    return `${title}${String(place.line).padStart(width)}  ${text.slice(indent).padEnd(column)}  // ${note}`;
  });
  return fencedBlock(printed.join('\n'), 'cuda');
}

/** A line of a text, with control characters made visible; undefined after the end of the text. */
function lineOf(text: string | undefined, line: number): string | undefined {
  const found = text?.split(/\r?\n/)[line - 1]?.replaceAll('\t', '    ').trimEnd();
  if (found === undefined || found.trim() === '') return undefined;
  const shown = oneLine(found);
  return shown.length <= MAX_LINE ? shown : `${shown.slice(0, MAX_LINE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function joined(paragraphs: readonly string[]): string {
  return paragraphs.filter((text) => text !== '').join('\n\n');
}
