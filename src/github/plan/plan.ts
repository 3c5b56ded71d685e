/** Plans the posts of a review of a range of commits, without any request to GitHub. */
import { optionDefaults } from '../../settings/defaults.ts';
import { hashText } from '../../base/hash.ts';
import { type Severity, compareSeverity } from '../../source/severity.ts';
import type { FailOn } from '../../settings/options.ts';
import { isFailure, violationsOf } from '../../report-model/outcome.ts';
import { exitCodeOf } from '../../report-model/exit-code.ts';
import type { Report } from '../../report-model/report.ts';
import { renderPatch } from '../../report/patch.ts';
import type { TrustChange } from '../../app/compare/trust-changes.ts';
import type { FileDiff } from '../../source/diff.ts';
import { codes, type Code } from '../../source/codes.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { listed } from '../../messages/text/code-text.ts';
import type { Location } from '../../source/location.ts';
import { anchorAt, anchorOf, type Anchor } from './anchor.ts';
import { kernelsText, launchText, otherLinesText, titleText } from '../../messages/review.ts';
import { placeName, placeNames } from '../../report-model/cause.ts';
import { findingsInGroup, groupFindings, locationOf, occurrences, type FindingGroup } from '../../report-model/finding-group.ts';
import { notesOf, worseCosts } from '../../messages/cost/worse-costs.ts';
import { CHECK_SUMMARY_BUDGET, COMMENT_BUDGET, fitMarkdown, JOB_SUMMARY_BUDGET, prefixOfBytes } from '../text/fit-markdown.ts';
import { cutNote, logOf, restIn, type RunHost } from '../text/run-host.ts';
import { printMarker } from '../text/marker.ts';
import { toPlainText } from '../../report/markup/code-pieces.ts';
import { commentText, findingText, repairDiff, siteComment, siteText, wholeText } from './comment.ts';
import type { EarlierCosts } from './cost-history.ts';
import { composeReview } from './review-body.ts';
import { kernelKeys, settlements } from './settlement.ts';
import type { CheckPlan, PlannedFinding, ReviewPlan } from './review-plan.ts';
import { offersOf, type Offer } from './suggestion.ts';
import {
  countFindings,
  diagnosticText,
  headline,
  isOwnWords,
  provesAllThatWasAsked,
  jobSummaryMarkdown,
  ordersPhrase,
  summaryMarkdown,
  shortSha,
  toolName,
  trustSection,
  where,
  type ReviewFacts,
  type Site,
  type ToolPlace,
} from './summary.ts';
import { annotationCommands, logText, type Annotation } from '../text/workflow-command.ts';

interface ReviewOptions {
  /** Findings below this severity appear only in the summary. */
  readonly inlineSeverity: Severity;
  /** Maximum number of inline comments per review. The review body lists further findings. */
  readonly maxComments: number;
  /** Whether a review is posted. False for drafts, which get only the summary. */
  readonly review: boolean;
}

export interface PlanInput {
  readonly report: Report;
  readonly diff: readonly FileDiff[];
  /** Folder that paths of report and diff are relative to, with a trailing slash; empty for the top. */
  readonly folder?: string;
  readonly headSha: string;
  /** The name of the job among several that review one pull request; empty by default. */
  readonly name?: string;
  /**
   * For the commit of a fork: whose run analysed it. If the fork controls the run, its check run has another name, so
   * that it cannot satisfy a rule of the branch.
   */
  readonly analysedBy?: 'fork' | 'repository';
  /** Base commit that texts name; by default the one that the report was compared with. */
  readonly baseSha?: string;
  /** New findings that make the exit code 1; error by default. */
  readonly failOn?: FailOn;
  /** Repository for links; undefined if the code is not on GitHub. */
  readonly repository?: { readonly serverUrl: string; readonly fullName: string };
  /** Where readers can obtain Selvage; absent if they already have it. */
  readonly tool?: ToolPlace;
  /** What runs Selvage; a job by default. */
  readonly host?: RunHost | undefined;
  readonly trust?: readonly TrustChange[];
  /** Text of a file of the head, for quotations and repairs. */
  readonly source?: (file: string) => string | undefined;
  /** Costs of earlier commits of the default branch. They add a column to the table of costs, and change nothing else. */
  readonly history?: EarlierCosts;
  /** `verdicts`: the search for repairs is not finished. `whole`, the default: the report contains the repairs. */
  readonly stage?: 'verdicts' | 'whole';
  readonly options?: Partial<ReviewOptions>;
}

const DEFAULTS: ReviewOptions = { inlineSeverity: 'warning', maxComments: 25, review: true };
// Maximum number of findings with a text in the review. Further findings are only counted.
const MAX_TOLD = 200;
const MAX_TITLE = 255;
const MAX_MESSAGE_BYTES = 60_000;
const REPEATED = "This repository repeated the analysis of the fork's commit, and did not take over the results of the fork's run.\n\n";

/** Plans all posts of a review of the range. Pure: the same input gives the same plan. */
export function planReview(input: PlanInput): ReviewPlan {
  const { report, folder = '', name = '' } = input;
  const options = { ...DEFAULTS, ...input.options };
  const diff = new Map(input.diff.map((file) => [file.path, file]));
  const all = occurrences(report);
  const unchanged = new Set(report.comparison?.unchanged ?? []);
  const isNew = (fingerprint: string) => !unchanged.has(fingerprint);
  const news = all.filter(({ finding }) => isNew(finding.fingerprint));
  const fresh = news.filter(({ finding }) => finding.suppressed === undefined);
  const confirmed = groupFindings(fresh.filter(({ finding }) => finding.confirmed));
  const told = new Set(confirmed.flatMap((group) => group.occurrences.flatMap(({ finding }) => placeNames(finding))));
  const possible = groupFindings(fresh.filter(({ finding }) => !finding.confirmed && !told.has(placeName(finding))));
  const isWhole = input.stage !== 'verdicts';
  const offers = isWhole && input.source ? offersOf(report, input.diff, input.source) : new Map<string, Offer>();
  const found: ReviewFacts = {
    report,
    name,
    headSha: input.headSha,
    baseSha: input.baseSha ?? report.comparison?.base ?? '',
    isOfChange: input.baseSha !== undefined || report.comparison !== undefined,
    confirmed,
    possible,
    suppressed: groupFindings(news.filter(({ finding }) => finding.suppressed !== undefined)).length,
    unchanged: groupFindings(all.filter(({ finding }) => !isNew(finding.fingerprint))).length,
    fixed: new Set(report.comparison?.fixed ?? []).size,
    costs: worseCosts(report).filter(({ fingerprint }) => isNew(fingerprint)),
    errors: report.diagnostics.filter(isFailure),
    sites: report.diagnostics.filter(isOrdering).filter(({ fingerprint }) => isNew(fingerprint)),
    trust: input.trust ?? [],
    folder,
    tool: input.tool,
    host: input.host,
    link: linkTo(input, folder),
    source: input.source,
    hasRepairs: isWhole,
    repairsInPart: report.kernels.some(({ repair }) => repair.leaves !== undefined),
    patch: '',
    settledBefore: 0,
    history: input.history ?? new Map(),
  };

  const limits = report.kernels.flatMap(violationsOf).map(({ fingerprint }) => fingerprint);
  const sites = report.diagnostics.flatMap(({ fingerprint }) => fingerprint ?? []);
  const reported = new Set([...all.map(({ finding }) => finding.fingerprint), ...limits, ...sites].filter(isNew));
  const exitCode = exitCodeOf(report, input.failOn ?? optionDefaults.failOn, reported);
  const inReview = confirmed.filter(({ severity }) => compareSeverity(severity, options.inlineSeverity) <= 0);
  const sitesInReview = found.sites.filter(({ severity }) => compareSeverity(severity, options.inlineSeverity) <= 0);
  const ofKernels = options.review ? planFindings(inReview.slice(0, MAX_TOLD), found, diff, offers, options.maxComments) : [];
  const commentsLeft = options.maxComments - ofKernels.filter(({ comment }) => comment !== null).length;
  const findings = [
    ...ofKernels,
    ...(options.review ? planSites(sitesInReview.slice(0, MAX_TOLD), found, diff, offers, commentsLeft) : []),
  ];
  const suggested = new Set(findings.flatMap(({ suggested: one }) => one ?? []));
  const isSuggested = (fingerprint: string): boolean => {
    const offer = offers.get(fingerprint);
    return offer !== undefined && suggested.has(offer);
  };
  const facts: ReviewFacts = { ...found, patch: isWhole ? patchOf(input, isSuggested) : '' };
  const whole: ReviewFacts = { ...found, patch: isWhole ? patchOf(input, () => false) : '' };
  const annotations = planAnnotations(facts, input);
  const parts = [confirmed, possible, facts.sites, facts.costs, facts.errors, facts.trust];
  const nothingToTell = parts.every(({ length }) => length === 0);
  const blamed = confirmed.length + facts.sites.length + facts.costs.filter(({ severity }) => severity !== 'notice').length;
  const [summary, ofVerdicts] = [facts, { ...found, hasRepairs: false, history: new Map() }].map(summaryMarkdown) as [string, string];
  const [title, conclusion] = [cutTitle(headline(facts)), conclusionOf(exitCode, blamed)];
  const verdicts = hashText(JSON.stringify([title, conclusion, annotations, ofVerdicts]));
  const commentOf = (count: number): string => {
    const settled = count > 0 ? { settled: { count, commit: shortSha(input.headSha) } } : {};
    const head = printMarker('summary', { name, ...settled, text: verdicts });
    const body = count > 0 ? summaryMarkdown({ ...facts, settledBefore: count }) : summary;
    return fitMarkdown(head + body, COMMENT_BUDGET, cutNote(input.host));
  };
  const plan = {
    name,
    headSha: input.headSha,
    host: input.host,
    isWhole,
    verdicts,
    exitCode,
    findings,
    reviewIntroduction: reviewIntroduction(facts, inReview.length + sitesInReview.length),
    summary: { body: commentOf(0), withSettled: commentOf, createIfMissing: !nothingToTell },
    check: {
      name: toolName(input.analysedBy === 'fork' ? [name, 'fork'].filter((word) => word !== '').join(', ') : name),
      title,
      summary: fitMarkdown((input.analysedBy === 'repository' ? REPEATED : '') + summary, CHECK_SUMMARY_BUDGET, cutNote(input.host)),
      conclusion,
      annotations,
    },
    jobSummary: `${fitMarkdown(jobSummaryMarkdown(whole), JOB_SUMMARY_BUDGET, cutNote(input.host))}\n`,
    workflowCommands: annotationCommands(annotations),
    log: logLines(facts),
    outputs: outputsOf(facts, exitCode, blamed),
    settle: settlements(report, folder),
  };
  return { ...plan, review: composeReview(plan, plan) };
}

/** The plan as readable text. */
export function renderPlan(plan: ReviewPlan): string {
  const parts: string[] = [];
  if (plan.review) {
    parts.push(`## Review\n\n${visible(plan.review.body)}`);
    for (const comment of plan.review.comments) {
      const lines = comment.startLine === undefined ? comment.line : `${comment.startLine}-${comment.line}`;
      parts.push(`### ${comment.path}:${lines}\n\n${visible(comment.body)}`);
    }
  } else {
    parts.push('## Review\n\nNone: the diff has no new findings.');
  }
  const summary = plan.summary.createIfMissing ? 'Summary comment' : 'Summary comment (only if one exists)';
  parts.push(`## ${summary}\n\n${visible(plan.summary.body)}`);
  const { title, conclusion, annotations } = plan.check;
  const check = [`## Check run: ${conclusion}`, title];
  if (annotations.length > 0) {
    check.push(annotations.map((one) => `- ${one.path}:${one.startLine} (${one.severity}) ${one.title}`).join('\n'));
  }
  parts.push(check.join('\n\n'));
  return `${parts.join('\n\n')}\n`;
}

/** The repairs of new findings as a patch, without those that a comment suggests. */
function patchOf({ report, source }: PlanInput, isSuggested: (fingerprint: string) => boolean): string {
  if (!source) return '';
  const known = new Set(report.comparison?.unchanged ?? []);
  const suggested = new Set(
    report.kernels.filter(({ repair: { fixes = [] } }) => fixes.some(isSuggested)).map(({ repair }) => JSON.stringify(repair.edits)),
  );
  const kernels = report.kernels.filter(
    ({ repair }) =>
      repair.status === 'repaired' &&
      !suggested.has(JSON.stringify(repair.edits)) &&
      (repair.fixes ?? []).some((fingerprint) => !known.has(fingerprint)),
  );
  return renderPatch({ ...report, kernels }, source);
}

function planFindings(
  groups: readonly FindingGroup[],
  facts: ReviewFacts,
  diff: ReadonlyMap<string, FileDiff>,
  offers: ReadonlyMap<string, Offer>,
  maxComments: number,
): PlannedFinding[] {
  let comments = 0;
  return groups.map((group) => {
    // If several repairs exist, that of the kernel which the comment describes is preferred.
    const offer = [group.example.finding.fingerprint, ...group.fingerprints]
      .map((fingerprint) => offers.get(fingerprint))
      .find((one) => one !== undefined);
    const anchors = [group.example, ...group.occurrences].map(({ finding }) => anchorOf(finding, diff));
    // The anchor does not depend on repairs, because repairs are determined later.
    const anchor = anchors.find((one) => one !== undefined);
    const fits = anchor !== undefined && comments < maxComments;
    if (fits) comments += 1;
    const location = locationOf(group.example);
    const text = fits ? commentText(facts, group, offer, anchor) : undefined;
    return {
      fingerprints: group.fingerprints,
      kernels: kernelKeys(group.occurrences),
      severity: group.severity,
      path: location ? `${facts.folder}${location.file}` : '',
      place: where(facts, location),
      withoutComment: anchor ? 'too-many' : 'not-in-diff',
      comment:
        fits && text
          ? { ...anchor, path: `${facts.folder}${anchor.path}`, side: 'RIGHT', body: text.body, fingerprints: group.fingerprints }
          : null,
      ...(text?.suggests && offer ? { suggested: offer } : {}),
      bodyAt: (lines) => commentText(facts, group, offer, withinFolder(lines, facts.folder)).body,
      // The summary contains the repairs that no comment suggests.
      ...entryOf(facts, group, text?.suggests ? repairDiff(offer, group.kernels) : ''),
    };
  });
}

/** The texts of findings of the host program, and of accesses before a wait. */
function planSites(
  sites: readonly Site[],
  facts: ReviewFacts,
  diff: ReadonlyMap<string, FileDiff>,
  offers: ReadonlyMap<string, Offer>,
  maxComments: number,
): PlannedFinding[] {
  let comments = 0;
  return sites.map((site) => {
    const { fingerprint, location, severity } = site;
    const offer = offers.get(fingerprint);
    const anchor = anchorAt(location, diff);
    const text = anchor && comments < maxComments ? siteComment(facts, site, offer, anchor) : undefined;
    if (text) comments += 1;
    const place = where(facts, location);
    const entry = wholeText({ head: siteText(site), background: '', reproduction: '' }, text?.suggests ? repairDiff(offer) : '');
    return {
      fingerprints: [fingerprint],
      kernels: [],
      severity,
      path: `${facts.folder}${location.file}`,
      place,
      withoutComment: anchor ? 'too-many' : 'not-in-diff',
      comment:
        anchor && text
          ? { ...anchor, path: `${facts.folder}${anchor.path}`, side: 'RIGHT', body: text.body, fingerprints: [fingerprint] }
          : null,
      ...(text?.suggests && offer ? { suggested: offer } : {}),
      bodyAt: (lines) => siteComment(facts, site, offer, withinFolder(lines, facts.folder)).body,
      entry: `- ${place} ${entry.replaceAll('\n', '\n  ')}`,
      entryText: hashText(`${location.file}:${location.line} ${entry}`),
    };
  });
}

/** Whether a diagnostic is a finding on the order of operations that is not suppressed. */
function isOrdering(diagnostic: Diagnostic): diagnostic is Site {
  const { code, severity, fingerprint, location } = diagnostic;
  return code.startsWith('ordering/') && severity !== 'notice' && fingerprint !== undefined && location !== undefined;
}

/**
 * Converts lines with paths from the repository root to lines with paths from a folder. Lines outside of the folder
 * contain no repair.
 */
function withinFolder(lines: Anchor, folder: string): Anchor {
  return { ...lines, path: lines.path.startsWith(folder) ? lines.path.slice(folder.length) : `/${lines.path}` };
}

/** The text of a finding in the body of a review, with a hash of the parts that do not depend on the commit. */
function entryOf(facts: ReviewFacts, group: FindingGroup, repair: string): Pick<PlannedFinding, 'entry' | 'entryText'> {
  const text = findingText(facts, group, repair !== '');
  const location = locationOf(group.example);
  const whole = wholeText(text, repair);
  return {
    entry: `- ${where(facts, location)} ${whole.replaceAll('\n', '\n  ')}`,
    entryText: hashText(`${location?.file}:${location?.line} ${wholeText({ ...text, reproduction: '' }, repair)}`),
  };
}

function reviewIntroduction(facts: ReviewFacts, total: number): string {
  const { confirmed, errors } = facts;
  const kept = errors.length > 0 ? ' Some code could not be analysed because of errors; see the summary.' : '';
  const what = `Selvage found ${listed([...(confirmed.length > 0 ? [countFindings(confirmed, listed)] : []), ...ordersPhrase(facts)])} in the kernels that this change affects.${kept}`;
  const more = total > MAX_TOLD ? ` This review shows the first ${MAX_TOLD}${restIn(facts.host, 'see the job summary for the rest')}.` : '';
  return [trustSection(facts), what + more].filter((part) => part !== '').join('\n\n');
}

function planAnnotations(facts: ReviewFacts, { report }: PlanInput): Annotation[] {
  const annotations: Annotation[] = facts.confirmed.flatMap((group) => {
    const location = locationOf(group.example);
    if (!location) return [];
    const message = sentencesOf(group).join('\n');
    return [annotation(facts, location, group.severity, toPlainText(titleText(findingsInGroup(group))), message)];
  });
  for (const cost of facts.costs) {
    if (!cost.location) continue;
    const notes = notesOf(cost);
    const message = [`${cost.kernel}: ${cost.message}.`, ...notes].join('\n');
    annotations.push(annotation(facts, cost.location, cost.severity, titleOf(cost.code), message));
  }
  for (const diagnostic of report.diagnostics) {
    const isOld = diagnostic.fingerprint !== undefined && report.comparison?.unchanged.includes(diagnostic.fingerprint);
    if (diagnostic.severity !== 'error' || !diagnostic.location || isOld) continue;
    const more = isFailure(diagnostic) ? `\nSee the ${logOf(facts.host)} for details.` : '';
    const message = `${diagnosticText(diagnostic)}${more}`;
    annotations.push(annotation(facts, diagnostic.location, 'error', diagnostic.code, message));
  }
  return annotations;
}

/** The meaning of a code as a title, without full stop. */
function titleOf(code: Code): string {
  const entry: { readonly title: string } | undefined = codes[code];
  return entry?.title.replace(/\.$/, '') ?? code;
}

/** Sentences of a finding: what happens, other locations, the launch, and the kernels. */
function sentencesOf(group: FindingGroup): string[] {
  const { finding, launch } = group.example;
  const others = otherLinesText(findingsInGroup(group));
  const sentences = [finding.message, others, launchText(finding, launch), kernelsText(group)];
  return sentences.map(toPlainText).filter((text) => text !== '');
}

function annotation({ folder }: ReviewFacts, location: Location, severity: Severity, title: string, message: string): Annotation {
  return {
    path: `${folder}${location.file}`,
    startLine: location.line,
    endLine: location.line,
    severity,
    title: cutTitle(title),
    message: prefixOfBytes(message, MAX_MESSAGE_BYTES),
  };
}

function cutTitle(title: string): string {
  if (title.length <= MAX_TITLE) return title;
  return `${title.slice(0, MAX_TITLE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function conclusionOf(exitCode: number, newFindings: number): CheckPlan['conclusion'] {
  if (exitCode !== 0) return 'failure';
  return newFindings > 0 ? 'neutral' : 'success';
}

function logLines(facts: ReviewFacts): string[] {
  const at = (location: Location | undefined) => (location ? `${location.file}:${location.line}: ` : '');
  const findings = facts.confirmed.map((group) => {
    const location = locationOf(group.example);
    const sentences = sentencesOf(group);
    return `${at(location)}${group.severity}: ${toPlainText(titleText(findingsInGroup(group)))}. ${sentences.join(' ')}`;
  });
  const errors = facts.errors.map(({ code, message, location }) => `${at(location)}error: ${message} [${code}]`);
  // Messages of these diagnostics are logged only: elsewhere only the titles of their codes appear.
  const notes = facts.report.diagnostics
    .filter((one) => !isFailure(one) && (!isOwnWords(one.code) || one.code.startsWith('ordering/')))
    .map(({ code, message, location, severity }) => `${at(location)}${severity}: ${message} [${code}]`);
  const costs = facts.costs.map(
    ({ code, kernel, message, location, severity }) => `${at(location)}${severity}: ${kernel}: ${message} [${code}]`,
  );
  return [...errors, ...notes, ...findings, ...costs, headline(facts)].map(logText);
}

function outputsOf(facts: ReviewFacts, exitCode: number, blamed: number): Record<string, string> {
  const { report, confirmed } = facts;
  const of = (severity: Severity) => String(confirmed.filter((group) => group.severity === severity).length);
  return {
    errors: of('error'),
    warnings: of('warning'),
    notices: of('notice'),
    possible: String(facts.possible.length),
    suppressed: String(facts.suppressed),
    unchanged: String(facts.unchanged),
    fixed: String(facts.fixed),
    kernels: String(report.kernels.length),
    proved: String(report.kernels.filter(provesAllThatWasAsked).length),
    costs: String(facts.costs.length),
    conclusion: conclusionOf(exitCode, blamed),
    'exit-code': String(exitCode),
  };
}

function linkTo({ repository, headSha, source }: PlanInput, folder: string): ReviewFacts['link'] {
  if (!repository) return null;
  const root = `${repository.serverUrl}/${repository.fullName}/blob/${headSha}`;
  // A `#line` directive may name any file, including one that does not exist.
  const isThere = (file: string): boolean => !source || source(file) !== undefined;
  return ({ file, line }) => (isThere(file) ? `${root}/${`${folder}${file}`.split('/').map(encodeSegment).join('/')}#L${line}` : undefined);
}

/** Encodes a segment of a URL. Parentheses would end a Markdown link. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.replace(/[\ud800-\udfff]/gu, '\ufffd'))
    .replaceAll('(', '%28')
    .replaceAll(')', '%29');
}

function visible(body: string): string {
  return body.replace(/^<!-- selvage:[^\n]*\n/, '');
}
