/** The Markdown of the summary comment, the check run and the job summary. */
import { capitalised } from '../../base/text.ts';
import { grouped } from '../../base/grouped.ts';
import { decidingPhrases } from '../../messages/finding/deciding-phrases.ts';
import { count, listed } from '../../messages/text/code-text.ts';
import type { Regression } from '../../report-model/regression.ts';
import type { DivergenceReport, RaceReport, ReportedFact } from '../../report-model/finding.ts';
import { isFailure, isRace, type Finding } from '../../report-model/outcome.ts';
import type { KernelReport, Report } from '../../report-model/report.ts';
import type { TrustChange } from '../../app/compare/trust-changes.ts';
import { amountOf, costName } from '../../messages/cost/cost-messages.ts';
import { codeChangesMarkdown } from '../../report/cost/code-changes.ts';
import { costNotesList, regressionCharts, regressionTable } from '../../report/cost/cost-markdown.ts';
import { codeSpan, details, escapeText, fencedBlock, tableCode } from '../../report/markup/inert-markdown.ts';
import { assumptionsOf, comingsAndGoings, repairPhrase } from '../../messages/phrases.ts';
import { costsPhrase } from '../../messages/cost/worse-costs.ts';
import { stepText } from '../../messages/finding/interleaving-phrases.ts';
import { codes } from '../../source/codes.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import { ownReason } from '../../toolchain/compiler-messages.ts';
import { fixedTitle, launchText, titleText } from '../../messages/review.ts';
import { findingsInGroup, locationOf, type FindingGroup } from '../../report-model/finding-group.ts';
import { sparkline, type EarlierCosts } from './cost-history.ts';
import { byteLength } from '../text/fit-markdown.ts';
import { logOf, type RunHost } from '../text/run-host.ts';
import { toMarkdown, toTableCell } from '../../report/markup/code-pieces.ts';
import { memoryFaultOf } from '../../verdict/memory-fault.ts';

/** The repository of Selvage, and the tag, branch or commit of the running version. */
export interface ToolPlace {
  readonly url: string;
  readonly ref: string;
}

/** A finding on the order of operations, which is a diagnostic with a fingerprint. */
export interface Site extends Diagnostic {
  readonly fingerprint: string;
  readonly location: Location;
}

/** Facts that all texts of one review are generated from. */
export interface ReviewFacts {
  /** The name of the job; empty if there is only one. */
  readonly name: string;
  readonly report: Report;
  readonly headSha: string;
  readonly baseSha: string;
  /** False if a whole repository was checked. */
  readonly isOfChange: boolean;
  /** New findings that were replayed, worst first. */
  readonly confirmed: readonly FindingGroup[];
  /** New findings that could neither be excluded nor confirmed. */
  readonly possible: readonly FindingGroup[];
  /** New findings that are suppressed. */
  readonly suppressed: number;
  /** Number of causes that the base has too. */
  readonly unchanged: number;
  readonly fixed: number;
  /** Costs that are worse than in the base, or newly over a limit; worst first. */
  readonly costs: readonly Regression[];
  readonly errors: readonly Diagnostic[];
  /** New findings on the order of launches, copies and the host. */
  readonly sites: readonly Site[];
  readonly trust: readonly TrustChange[];
  /** Creates a link to a location in the head revision; null if the code is not hosted. */
  readonly link: ((location: Location) => string | undefined) | null;
  /** The folder that locations are relative to, with a trailing slash; empty for the top of the repository. */
  readonly folder: string;
  /** Where the reader can obtain Selvage to reproduce a finding; undefined if the reader already has it. */
  readonly tool: ToolPlace | undefined;
  /** What runs Selvage; a job if undefined. */
  readonly host: RunHost | undefined;
  /** Text of a file of the head, if available. */
  readonly source: ((file: string) => string | undefined) | undefined;
  /** False if the search for repairs is not finished. Texts then do not mention repairs. */
  readonly hasRepairs: boolean;
  /** Whether some repair leaves its kernel unproved. */
  readonly repairsInPart: boolean;
  /** Repairs to show, as a patch: those that no comment suggests; may be empty. */
  readonly patch: string;
  /** Number of findings of earlier commits of the change that are fixed, or no longer part of the change. */
  readonly settledBefore: number;
  /** Costs of earlier commits of the default branch; may be empty. */
  readonly history: EarlierCosts;
}

const MAX_ROWS = 100;
// Maximum number of findings in the part that is not folded, which has to fit in one screen.
const MOST_FINDINGS = 10;
const MOST_SHOWN = 5;
/** Maximum length of the changed instructions, in UTF-16 units. */
const MOST_CODE = 12_000;
/** Maximum length of a bound in a cell, in UTF-16 units. */
const MOST_BOUND = 40;
// Maximum bytes of a patch. Longer patches are omitted, because a cut patch would not apply.
const MAX_PATCH_BYTES = 30_000;

/** `Selvage`, or `Selvage (name)` for a job with a name. */
export function toolName(name: string): string {
  return name === '' ? 'Selvage' : `Selvage (${name})`;
}

/** The result in a few words, at most 255 characters. */
export function headline(facts: ReviewFacts): string {
  const { confirmed, possible, errors, report, costs } = facts;
  const parts = [...(confirmed.length > 0 ? [countFindings(confirmed)] : []), ...ordersPhrase(facts)];
  const severe = costs.filter(({ severity }) => severity !== 'notice');
  if (severe.length > 0) parts.push(costsPhrase(costs));
  if (errors.length > 0) parts.push(count(errors.length, 'analysis error'));
  if (parts.length > 0) return parts.join(', ');
  const also = costs.length > 0 ? `; ${costsPhrase(costs)}` : '';
  if (possible.length > 0) return `${count(possible.length, 'possible finding')}, none confirmed${also}`;
  const kernels = report.kernels.length;
  const mends = facts.fixed > 0 ? `; fixes ${count(facts.fixed, 'finding')}` : '';
  if (!facts.isOfChange && kernels === 0) return 'No CUDA kernel was found';
  const none = facts.isOfChange ? 'No new findings' : 'No findings';
  if (kernels === 0) {
    const missing = report.notAnalysed?.length ?? 0;
    const why = missing > 0 ? `${count(missing, 'part')} of the change not analysed` : 'this change affects no kernel';
    return `${none}; ${facts.fixed > 0 ? `fixes ${count(facts.fixed, 'finding')}` : why}`;
  }
  const proved = report.kernels.filter(provesAllThatWasAsked).length;
  // Files that the base leaves out, too, are not listed as not analysed.
  const excluded = (report.notAnalysed ?? []).filter(({ what }) => report.excluded?.includes(what)).length;
  const more = `${also}${mends}${excluded > 0 ? `; ${count(excluded, 'file')} excluded` : ''}`;
  if (proved < kernels) return `${none}; ${proved} of ${count(kernels, 'kernel')} proved${more}`;
  return `${count(kernels, 'kernel')} proved free of data races and barrier divergence${more}`;
}

/** Number of the findings on the order of launches, copies and the host; empty without any. */
export function ordersPhrase({ sites }: ReviewFacts): readonly string[] {
  return sites.length > 0 ? [count(sites.length, 'missing order')] : [];
}

/** `2 data races, 1 barrier divergence`. @param join combines the parts into one text */
export function countFindings(confirmed: readonly FindingGroup[], join = (parts: readonly string[]): string => parts.join(', ')): string {
  const wrong = confirmed.filter(({ example }) => memoryFaultOf(example.finding.code)).length;
  const races = confirmed.filter(({ example }) => isRace(example.finding)).length - wrong;
  const exits = confirmed.filter(({ example }) => example.finding.code === 'barrier/early-exit').length;
  const divergences = confirmed.length - races - wrong - exits;
  const parts: string[] = [];
  if (races > 0) parts.push(count(races, 'data race'));
  if (wrong > 0) parts.push(count(wrong, 'wrong access', 'wrong accesses'));
  if (divergences > 0) parts.push(count(divergences, 'barrier divergence'));
  if (exits > 0) parts.push(count(exits, 'early exit before a barrier', 'early exits before a barrier'));
  return join(parts);
}

/**
 * The whole result. Its essential parts fit in one screen: additions that have to be trusted, new findings, costs,
 * fixed findings, and parts that were not analysed. Everything else is folded.
 */
export function summaryMarkdown(facts: ReviewFacts): string {
  const sections = [
    `### ${escapeText(toolName(facts.name))}: ${headline(facts)}`,
    trustSection(facts, MOST_SHOWN),
    findingTable(facts.confirmed.slice(0, MOST_FINDINGS), facts),
    siteSection(facts),
    costSection(facts),
    fixedSection(facts),
    settledBefore(facts),
    notAnalysedSection(facts),
    standing(facts),
    foldedFindings(facts),
    foldedTrust(facts),
    foldedCosts(facts),
    foldedCode(facts),
    repairSection(facts),
    possibleSection(facts),
    kernelSection(facts),
    assumptionSection(facts),
    noteSection(facts),
    foldedNotAnalysed(facts),
    footer(facts),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

/** The summary, then every finding in full. The only output of a run that cannot write comments. */
export function jobSummaryMarkdown(facts: ReviewFacts): string {
  const told = facts.confirmed.map((group) => {
    const { finding, launch } = group.example;
    return [
      `#### ${toMarkdown(titleText(findingsInGroup(group)))} (${group.severity})`,
      `${where(facts, locationOf(group.example))}: ${toMarkdown(finding.message)} ${toMarkdown(launchText(finding, launch))}`.trimEnd(),
      ...stepList(finding),
      ...(finding.reproduce === undefined ? [] : [reproduction(facts, finding.reproduce)]),
    ].join('\n\n');
  });
  return [summaryMarkdown(facts), ...told].join('\n\n');
}

/** The commands that reproduce a finding, in a clone of the repository. @param command begins with `selvage` */
export function reproduction({ tool, folder, headSha }: Pick<ReviewFacts, 'tool' | 'folder' | 'headSha'>, command: string): string {
  if (!tool) return fencedBlock(command, 'sh');
  const lines = [
    `git clone ${tool.url} ~/selvage && git -C ~/selvage checkout ${tool.ref}  # once; needs Node 20 or later`,
    `git checkout ${shortSha(headSha)}`,
    ...(folder === '' ? [] : [`cd ${shellWord(folder)}`]),
    command.replace(/^selvage /, 'node ~/selvage/dist/cli.js '),
  ];
  return fencedBlock(lines.join('\n'), 'sh');
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The interleaving as a list, because GitHub does not document diagrams in job summaries. */
function stepList({ interleaving }: Finding): string[] {
  if (!interleaving) return [];
  const { threads, steps } = interleaving;
  const items = steps.map((step) => {
    const names = step.threads.map((index) => threads[index]?.name ?? '').join(' and ');
    return `- ${toMarkdown(`${names}: ${stepText(step, interleaving)}`)}`;
  });
  return [items.join('\n')];
}

/** Lists the assumptions, suppressions, flags and settings that the change adds; empty if it adds none. */
export function trustSection(facts: ReviewFacts, most = MAX_ROWS): string {
  if (facts.trust.length === 0) return '';
  const rows = trustRows(facts).slice(0, most).join('\n');
  return `**This change adds assumptions; please check them:**\n${rows}${moreItems(facts.trust.length, most)}`;
}

function trustRows(facts: ReviewFacts): string[] {
  return facts.trust.map((change) => {
    const at = change.location ? ` at ${where(facts, change.location)}` : '';
    return `- ${change.kind} ${codeSpan(change.text)}${at}`;
  });
}

function foldedTrust(facts: ReviewFacts): string {
  const rows = trustRows(facts);
  if (rows.length <= MOST_SHOWN) return '';
  return details(`All that this change asks to be trusted (${rows.length})`, rows.slice(0, MAX_ROWS).join('\n') + moreItems(rows.length));
}

/** A location in the code, as a link to the head commit if it is hosted. */
export function where({ link, folder }: Pick<ReviewFacts, 'link' | 'folder'>, location: Location | undefined, table = false): string {
  if (!location) return 'no line';
  const text = (table ? tableCode : codeSpan)(`${folder}${location.file}:${location.line}`);
  const target = link?.(location);
  return target === undefined ? text : `[${text}](${target})`;
}

function findingTable(groups: readonly FindingGroup[], facts: ReviewFacts): string {
  if (groups.length === 0) return '';
  const rows = groups.map((group) => {
    const kernels = group.kernels.slice(0, 3).map(tableCode).join(', ');
    const more = group.kernels.length > 3 ? ` and ${group.kernels.length - 3} more` : '';
    const archs = group.archs.length === 0 ? '' : ` (${listed(group.archs)})`;
    return `| ${group.severity} | ${toTableCell(titleText(findingsInGroup(group)))} | ${where(facts, locationOf(group.example), true)} | ${kernels}${more}${archs} |`;
  });
  const left = facts.confirmed.length - groups.length;
  const table = [`| severity | ${facts.isOfChange ? 'new finding' : 'finding'} | where | kernels |`, '|---|---|---|---|', ...rows].join(
    '\n',
  );
  return left > 0 && groups.length === MOST_FINDINGS ? `${table}\n\nand ${left} more, below.` : table;
}

function foldedFindings(facts: ReviewFacts): string {
  const { confirmed } = facts;
  if (confirmed.length <= MOST_FINDINGS) return '';
  const table = findingTable(confirmed.slice(0, MAX_ROWS), facts);
  return details(`All ${facts.isOfChange ? 'new ' : ''}findings (${confirmed.length})`, table + moreRows(confirmed.length));
}

/** Costs before and after, worst first: regressions, then improvements. */
function costSection(facts: ReviewFacts): string {
  const { costs, report } = facts;
  const better = report.comparison?.improvements ?? [];
  if (costs.length + better.length === 0) return '';
  const parts = [costsPhrase(costs), better.length > 0 ? count(better.length, 'cost better', 'costs better') : ''];
  const shown = [...costs, ...better].slice(0, MOST_SHOWN);
  const lines = shown.map((cost) => historyLine(facts, cost));
  const hasHistory = lines.some((line) => line !== '');
  const rows = shown.map((cost, index) => costRow(facts, cost, hasHistory ? ` ${lines[index]} |` : ''));
  const left = costs.length + better.length - shown.length;
  const [history, rule] = hasHistory ? [' history |', '---|'] : ['', ''];
  const table = [`| kernel | cost | before | after |${history} where |`, `|---|---|---:|---:|${rule}---|`, ...rows].join('\n');
  return `**${capitalised(parts.filter((part) => part !== '').join(', '))}**\n\n${table}${left > 0 ? `\n\nand ${left} more, below.` : ''}`;
}

/** @param history the cell of the column `history`; empty without one */
function costRow(facts: ReviewFacts, cost: Regression, history: string): string {
  const severity = cost.severity === 'notice' ? '' : `**${cost.severity}**: `;
  const name = cost.base === null ? cost.message : costName(cost);
  const [before, after] = [costAmount(cost, 'base'), costAmount(cost, 'head')];
  return `| ${tableCode(cost.kernel)} | ${severity}${escapeText(name)} | ${before} | ${after} |${history} ${where(facts, cost.location, true)} |`;
}

/** The values of a cost on the default branch, then that of the change; empty if fewer than two are known. */
function historyLine({ history }: ReviewFacts, { series = '', head, headValue }: Regression): string {
  const [earlier, value] = [history.get(series) ?? [], headValue ?? head];
  return earlier.length < 2 || typeof value !== 'number' ? '' : tableCode(sparkline([...earlier, value]));
}

/**
 * One side of a cost in a table cell: its value, otherwise its bound. For an exceeded limit, the base side shows the
 * limit.
 */
function costAmount(cost: Regression, side: 'base' | 'head'): string {
  if (side === 'base' && cost.base === null) return cost.limit === undefined ? '' : tableCode(`limit ${cost.limit}`);
  const value = side === 'base' ? cost.baseValue : cost.headValue;
  const text = amountOf(cost, value ?? cost[side]);
  return text === null ? 'no bound' : text.length > MOST_BOUND ? tableCode(`${text.slice(0, MOST_BOUND - 1)}…`) : tableCode(text);
}

/** All costs with their bounds and reasons, and the charts. */
function foldedCosts(facts: ReviewFacts): string {
  const all = [...facts.costs, ...(facts.report.comparison?.improvements ?? [])];
  const notes = costNotesList(facts.report.comparison?.costNotes ?? []);
  if (all.length === 0) return notes;
  const table = regressionTable(all, (location) => where(facts, location, true), MAX_ROWS);
  const parts = [details(`All costs (${all.length})`, table), regressionCharts(facts.costs), notes];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Changes in the SASS of kernels, by line. */
function foldedCode({ report, source = () => undefined }: ReviewFacts): string {
  const text = codeChangesMarkdown(report.comparison ?? {}, MOST_CODE, source);
  return text === '' ? '' : details('Machine code that changed', text);
}

/** Findings of the base that the head lacks. */
function fixedSection({ report, folder }: ReviewFacts): string {
  const fixed = report.comparison?.fixedFindings ?? [];
  if (fixed.length === 0) return '';
  const rows = fixed.slice(0, MOST_SHOWN).map((one) => {
    const at = one.location ? `, was at ${codeSpan(`${folder}${one.location.file}:${one.location.line}`)}` : '';
    return `- ${toMarkdown(fixedTitle(one))} in ${codeSpan(one.kernel)}${at}`;
  });
  return `**Fixed by this change:**\n${rows.join('\n')}${moreItems(fixed.length, MOST_SHOWN)}`;
}

/** Findings that earlier commits of the change had. */
function settledBefore({ settledBefore: settled, headSha }: ReviewFacts): string {
  return settled === 0
    ? ''
    : `**Settled in ${escapeText(shortSha(headSha))}:** ${count(settled, 'finding')} of earlier commits of this pull request.`;
}

/** The repairs as a patch, and why other findings were not repaired. */
function repairSection(facts: ReviewFacts): string {
  const { patch, hasRepairs, repairsInPart } = facts;
  if (!hasRepairs) return '';
  const isShown = byteLength(patch) <= MAX_PATCH_BYTES;
  const block = isShown ? fencedBlock(patch, 'diff') : 'The patch is too long to show here; `selvage repair` prints it.';
  // Text that is copied from a web page has lost its carriage returns.
  const note = patch.includes('\r') ? '\n\nThe file has CRLF line ends. `selvage repair --write` keeps them.' : '';
  const edits = patch === '' ? '' : details(`Repairs (compiled and ${repairsInPart ? 'checked' : 'proved'})`, block + note);
  return [edits, notRepaired(facts)].filter((part) => part !== '').join('\n\n');
}

function namesOf(names: readonly string[]): string {
  return names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
}

function notRepaired({ confirmed }: ReviewFacts): string {
  const kernels = new Set(confirmed.flatMap(({ occurrences }) => occurrences.map(({ kernel }) => kernel)));
  const byReason = grouped(kernels, ({ repair }) => {
    const phrase = repairPhrase(repair);
    return !phrase || phrase.isEdit || phrase.detail === '' ? undefined : phrase.detail;
  });
  const rows = [...byReason].map(([reason, own]) => `- ${namesOf(own.map(({ name }) => codeSpan(name)))}: ${toMarkdown(reason)}`);
  if (rows.length === 0) return '';
  return details('Not repaired', rows.slice(0, MAX_ROWS).join('\n') + moreItems(rows.length));
}

function standing({ report, unchanged, fixed, suppressed }: ReviewFacts): string {
  const parts: string[] = [];
  const told = report.comparison?.fixedFindings?.length ?? 0;
  if (fixed > told) parts.push(`This change fixes ${count(fixed - told, told === 0 ? 'finding' : 'more finding')}.`);
  if (unchanged > 0)
    parts.push(
      unchanged === 1
        ? '1 finding is already in the base commit; it gets no comment.'
        : `${unchanged} findings are already in the base commit; they get no comments.`,
    );
  if (suppressed > 0) parts.push(`${count(suppressed, 'finding')} ${suppressed === 1 ? 'is' : 'are'} suppressed.`);
  return parts.join(' ');
}

function possibleSection(facts: ReviewFacts): string {
  if (facts.possible.length === 0) return '';
  const rows = facts.possible.slice(0, MAX_ROWS).map(({ example: { finding }, kernels }) => {
    const { message, wouldDecide } = finding;
    const decides = wouldDecide ? ` ${decidingMarkdown(wouldDecide)}.` : '';
    return `- ${namesOf(kernels.map(codeSpan))}: ${toMarkdown(message)}${decides}`;
  });
  return details(`Possible (${facts.possible.length})`, rows.join('\n') + moreItems(facts.possible.length));
}

function decidingMarkdown(wouldDecide: ReportedFact): string {
  const { fact, statement } = decidingPhrases(wouldDecide);
  return toMarkdown(capitalised(fact)) + (statement ? `; ${statement.before}${codeSpan(statement.code)}${statement.after}` : '');
}

function kernelSection({ report }: ReviewFacts): string {
  const { kernels } = report;
  if (kernels.length === 0) return '';
  const rows = kernels
    .slice(0, MAX_ROWS)
    .map(
      (kernel) =>
        `| ${tableCode(kernel.name)} | ${verdict(kernel.race)} | ${verdict(kernel.divergence, kernel.race.reason)} | ${kernel.launches.length} |`,
    );
  const table = ['| kernel | race | divergence | launches |', '|---|---|---|---|', ...rows].join('\n');
  const moves = comingsAndGoings(report, codeSpan);
  const more = moves.length === 0 ? '' : `\n\n${moves.join(' ')}`;
  return details(`Kernels (${kernels.length})`, table + moreRows(kernels.length) + more);
}

function assumptionSection({ report }: ReviewFacts): string {
  const rows: string[] = [];
  for (const kernel of report.kernels) {
    if (!provesAllThatWasAsked(kernel)) continue;
    const byKind = grouped(assumptionsOf(kernel), ({ kind }) => kind);
    const texts = [...byKind].map(([kind, list]) => `${kind}: ${list.map(({ text }) => codeSpan(text)).join(', ')}`);
    if (texts.length > 0) rows.push(`- ${codeSpan(kernel.name)}: ${texts.join('; ')}`);
  }
  if (rows.length === 0) return '';
  return details('Assumptions of the proofs', rows.slice(0, MAX_ROWS).join('\n') + moreItems(rows.length));
}

/** Findings on the order of launches, copies and the host. */
function siteSection(facts: ReviewFacts): string {
  const { sites } = facts;
  if (sites.length === 0) return '';
  const rows = sites.slice(0, MOST_FINDINGS).map((site) => `- ${site.severity}: ${diagnosticLine(facts, site)}`);
  return rows.join('\n') + moreItems(sites.length, MOST_FINDINGS);
}

function noteSection(facts: ReviewFacts): string {
  const shown = new Set<Diagnostic>(facts.sites);
  const notes = facts.report.diagnostics.filter((one) => !isFailure(one) && !shown.has(one));
  if (notes.length === 0) return '';
  const rows = notes.slice(0, MAX_ROWS).map((note) => `- ${diagnosticLine(facts, note)}`);
  return details(`Notes (${notes.length})`, rows.join('\n') + moreItems(notes.length));
}

/** Parts that could not be analysed, or were not, and why. */
function notAnalysedSection(facts: ReviewFacts): string {
  const rows = [...errorRows(facts), ...notAnalysedRows(facts)];
  if (rows.length === 0) return '';
  const more = facts.errors.length > 0 ? ` (the ${logOf(facts.host)} has the details)` : '';
  return `**Not analysed**${more}:\n${rows.slice(0, MOST_SHOWN).join('\n')}${moreItems(rows.length, MOST_SHOWN)}`;
}

function errorRows(facts: ReviewFacts): string[] {
  return facts.errors.map((error) => `- ${diagnosticLine(facts, error)}`);
}

function notAnalysedRows(facts: ReviewFacts): string[] {
  // Files that do not compile are already named by the errors.
  const named = new Set(facts.errors.map(({ location }) => location?.file));
  const all = (facts.report.notAnalysed ?? []).filter(({ what }) => !named.has(what));
  return all.map(({ what, reason, location }) => {
    const at = location && location.file !== what ? ` (${where(facts, location)})` : '';
    return `- ${codeSpan(what)}${at}: ${escapeText(reason)}`;
  });
}

function foldedNotAnalysed(facts: ReviewFacts): string {
  const rows = [...errorRows(facts), ...notAnalysedRows(facts)];
  if (rows.length <= MOST_SHOWN) return '';
  return details(`All that was not analysed (${rows.length})`, rows.slice(0, MAX_ROWS).join('\n') + moreItems(rows.length));
}

function footer({ report, headSha, baseSha }: ReviewFacts): string {
  const { compiler, arch } = report.toolchain;
  const with_ = [compiler === null || compiler === undefined ? '' : `nvcc ${compiler}`, (arch ?? []).join(' ')]
    .filter((text) => text !== '')
    .map(escapeText);
  const tool = [`selvage ${escapeText(report.tool.version)}`, ...with_].join(', ');
  const against = baseSha === '' ? '' : ` against ${escapeText(shortSha(baseSha))}`;
  return `<sub>${escapeText(shortSha(headSha))}${against}; ${tool}</sub>`;
}

/** The first characters of a commit ID. */
export function shortSha(sha: string): string {
  return sha.slice(0, 9);
}

function diagnosticLine(facts: ReviewFacts, diagnostic: Diagnostic): string {
  const at = diagnostic.location ? `${where(facts, diagnostic.location)}: ` : '';
  return `${at}${toMarkdown(diagnosticText(diagnostic))} (${codeSpan(diagnostic.code)})`;
}

// Except for names, these messages contain only text of Selvage. Others may quote the compiler, which may quote any
// file it can read.
const OWN_WORDS = new Set([
  'config',
  'input',
  'launch',
  'ordering',
  'assumption',
  'annotation',
  'suppression',
  'review',
  'idempotency',
  'compile/no-compiler',
  'compile/commands',
  'compile/removed-api',
  'compile/flag-refused',
  'compile/include-outside',
  'compile/embedding',
  'compile/unsafe-name',
  'compile/selvage-macro',
]);

/** Whether the messages of a code may appear outside of the log. */
export function isOwnWords(code: string): boolean {
  return OWN_WORDS.has(code) || OWN_WORDS.has(code.split('/')[0] ?? '');
}

/** The message of a diagnostic if it may appear outside of the log, otherwise the title of its code. */
export function diagnosticText({ code, message }: Diagnostic): string {
  if (isOwnWords(code)) return message;
  const reason = code === 'compile/failed' ? ownReason(message) : undefined;
  if (reason !== undefined) return reason;
  const entry: { readonly title: string } | undefined = codes[code];
  return entry?.title ?? 'The log describes this problem.';
}

/** Whether all requested checks of a kernel are proved. */
export function provesAllThatWasAsked({ race, divergence }: KernelReport): boolean {
  const verdicts: readonly string[] = [race.verdict, divergence.verdict];
  return verdicts.includes('proved') && verdicts.every((text) => text === 'proved' || text === 'skipped');
}

/**
 * The verdict with its reason. The reason is omitted if the reader has already seen it: in `told`, or with the possible
 * findings.
 */
function verdict({ verdict: text, reason, findings }: RaceReport | DivergenceReport, told?: string): string {
  return reason === undefined || reason === told || findings.length > 0 ? text : `${text} (${toTableCell(reason)})`;
}

function moreRows(total: number): string {
  return total > MAX_ROWS ? `\n\nand ${total - MAX_ROWS} more.` : '';
}

function moreItems(total: number, most = MAX_ROWS): string {
  return total > most ? `\n- and ${total - most} more${most === MAX_ROWS ? '' : ', below'}` : '';
}
