/** The report as one page: findings first, then kernels, costs and parts that were not analysed. */
import { createHash } from 'node:crypto';
import { boundMetrics, boundTable } from '../cost/model/metrics.ts';
import { type FindingGroup, comparedCauses, tallyCauses, findingsByKernel } from '../report-model/finding-group.ts';
import type { KernelReport, Report } from '../report-model/report.ts';
import { count } from '../messages/text/code-text.ts';
import { comingsAndGoings, countsPhrase, findingsPhrase, kernelsByWorstVerdict, repairsPhrase } from '../messages/phrases.ts';
import { place } from '../messages/text/place.ts';
import { costsPhrase, notesOf, worseCosts } from '../messages/cost/worse-costs.ts';
import { compareSeverity } from '../source/severity.ts';
import { codeChangesHtml } from './cost/code-changes.ts';
import { costChart, svgChart } from './cost/cost-chart.ts';
import { toHtml } from './markup/code-pieces.ts';
import { escapeHtml } from './markup/html-text.ts';
import { findingCard } from './page/finding-card.ts';
import { isProved, kernelEntry } from './page/kernel-entry.ts';
import type { PageParts } from './page/page-parts.ts';
import { pageScript } from './page/page-script.ts';
import { patchLines } from './page/source-lines.ts';
import { pageStyle } from './page/style.ts';
import { renderPatch } from './patch.ts';

interface HtmlOptions {
  readonly source: (file: string) => string | undefined;
}

/**
 * The report as one self-contained page. Everything that comes from the input is escaped, and the page allows only its
 * own style and script.
 */
export function renderHtml(report: Report, { source }: HtmlOptions): string {
  const toldOf = findingsByKernel(report);
  const numbers = new Map(report.kernels.map((kernel, index) => [kernel, index]));
  const added = report.comparison && new Set(report.comparison.new);
  const parts: PageParts = {
    source,
    patchOf: (kernel) => renderPatch({ ...report, kernels: [kernel] }, source),
    numberOf: (kernel) => numbers.get(kernel) ?? 0,
    isNew: ({ fingerprints }) => added && fingerprints.some((name) => added.has(name)),
  };
  const groups = report.kernels
    .flatMap((kernel) => toldOf(kernel).here)
    .sort((a, b) => compareSeverity(a.severity, b.severity) || standingRank(a) - standingRank(b));
  const cards = groups.map((group, index) => findingCard(group, index, parts));
  const links = (kernel: KernelReport): string[] =>
    groups.flatMap((group, index) =>
      group.example.kernel === kernel ? [`<a href="#finding-${index}"><code>${escapeHtml(group.example.finding.code)}</code></a>`] : [],
    );
  const body = [
    '<a class="skip" href="#findings">to the findings</a>',
    '<h1>Selvage</h1>',
    head(report),
    `<p>${escapeHtml([countsPhrase(report), findingsPhrase(report), costsPhrase(worseCosts(report)), repairsPhrase(report)].filter((part) => part !== '').join('; '))}.</p>`,
    tiles(report),
    comparisonLine(report),
    report.kernels.length > 1 ? filter : '',
    '<main id="findings">',
    cards.length > 0 ? `<h2>Findings</h2>${cards.join('\n')}` : '',
    costsSection(report),
    codeChangesHtml(report.comparison ?? {}, source),
    listSection(
      'Messages',
      report.diagnostics.map(
        ({ severity, code, message, location }) =>
          `<span class="badge ${severity}">${severity}</span> <code>${escapeHtml(code)}</code>${location ? ` ${escapeHtml(place(location))}` : ''}: ${toHtml(message)}`,
      ),
    ),
    listSection(
      'Not analysed',
      (report.notAnalysed ?? []).map(
        ({ what, reason, location }) =>
          `<code>${escapeHtml(what)}</code>${location ? ` ${escapeHtml(place(location))}` : ''}: ${escapeHtml(reason)}`,
      ),
    ),
    kernelsSection(report, (kernel) => kernelEntry(kernel, toldOf(kernel), links(kernel), parts)),
    repairSection(
      renderPatch(report, source),
      report.kernels.some(({ repair }) => repair.leaves !== undefined),
    ),
    glossary(report),
    '</main>',
    '<footer><p class="dim"><small>Keys: <kbd>/</kbd> search, <kbd>n</kbd> and <kbd>p</kbd> the next and the previous finding, <kbd>←</kbd> and <kbd>→</kbd> the steps of an interleaving, <kbd>Esc</kbd> clears the search.</small></p></footer>',
  ];
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${hashOf(pageStyle)}'; script-src '${hashOf(pageScript)}'; base-uri 'none'; form-action 'none'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Selvage report</title><style>${pageStyle}</style></head><body>`,
    ...body.filter((part) => part !== ''),
    `<script>${pageScript}</script></body></html>`,
    '',
  ].join('\n');
}

/** Hash of an allowed text in the syntax of a content security policy. */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Rank of a finding group for ordering: confirmed findings come first. */
function standingRank({ example: { finding } }: FindingGroup): number {
  return finding.suppressed !== undefined ? 2 : finding.confirmed ? 0 : 1;
}

/** Page header: subject and tools of the analysis. */
function head({ comparison, toolchain, tool }: Report): string {
  const { compiler, arch, solver } = toolchain;
  const commits = [comparison?.base, comparison?.head].flatMap((name) => (name === undefined ? [] : shortName(name)));
  const rows: (readonly [string, string])[] = [
    ['Commits', commits.join(' … ')],
    ['Date', comparison?.date ?? ''],
    [
      'Compiler',
      [compiler === null || compiler === undefined ? '' : `nvcc ${compiler}`, ...(arch?.length ? [`for ${arch.join(', ')}`] : [])]
        .filter((part) => part !== '')
        .join(' '),
    ],
    ['Solver', solver ?? ''],
    ['Selvage', tool.version],
  ];
  const shown = rows.filter(([, value]) => value !== '');
  return `<dl class="meta">${shown.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>`;
}

/** A commit by its first twelve digits; other names unchanged. */
function shortName(name: string): string {
  return /^[\da-z]{40}$/.test(name) ? name.slice(0, 12) : name;
}

function tiles(report: Report): string {
  const { kernels } = report;
  const { errors, warnings } = tallyCauses(report);
  const byVerdict = kernelsByWorstVerdict(report);
  const of = (words: string, kind: string): [number, string, string] => [
    byVerdict.find((entry) => entry.words === words)?.amount ?? 0,
    words,
    kind,
  ];
  const { added, fixed } = comparedCauses(report);
  const compared: (readonly [number, string, string])[] = report.comparison
    ? [
        [added, 'new against the base', added > 0 ? 'error' : ''],
        [fixed, 'fixed', fixed > 0 ? 'proved' : ''],
      ]
    : [];
  const list: (readonly [number, string, string])[] = [
    [kernels.length, kernels.length === 1 ? 'kernel' : 'kernels', ''],
    of('proved', 'proved'),
    of('with races', 'race'),
    of('with barrier divergence', 'divergent'),
    of('undecided', 'possible'),
    [errors, errors === 1 ? 'error' : 'errors', 'error'],
    [warnings, warnings === 1 ? 'warning' : 'warnings', 'warning'],
    ...compared,
  ];
  const shown = list.filter(([amount], index) => amount > 0 || index < 2);
  return `<ul class="tiles">${shown.map(([amount, what, kind]) => `<li><b${kind === '' || amount === 0 ? '' : ` class="${kind}"`}>${amount}</b><span>${what}</span></li>`).join('')}</ul>`;
}

const filter =
  '<div class="filter" role="search"><input id="search" type="search" placeholder="Search kernels, files and codes" aria-label="Search kernels, files and codes" autocomplete="off">' +
  '<select id="kind" aria-label="Which kernels and findings"><option value="">all</option><option value="race">races</option><option value="divergent">barrier divergence</option><option value="open">undecided</option><option value="proved">proved</option></select>' +
  '<output id="counted"></output></div>';

function comparisonLine(report: Report): string {
  if (!report.comparison) return '';
  const { added, fixed, unchanged } = comparedCauses(report);
  return `<p>Against the base: ${count(added, 'finding')} new, ${fixed} fixed, ${unchanged} unchanged. ${comingsAndGoings(report, (name) => `<code>${escapeHtml(name)}</code>`).join(' ')}</p>`;
}

function kernelsSection({ kernels }: Report, entry: (kernel: KernelReport) => string): string {
  if (kernels.length === 0) return '';
  const proved = kernels.filter(isProved);
  const others = kernels.filter((kernel) => !isProved(kernel));
  const folded = proved.map(entry).join('\n');
  const group =
    proved.length > 3 || (proved.length > 0 && others.length > 0)
      ? `<details class="group"><summary><b>${count(proved.length, 'kernel')}</b> <span class="badge proved">proved</span></summary>${folded}</details>`
      : folded;
  return `<h2 id="kernels">Kernels</h2>${others.map(entry).join('\n')}${group}`;
}

/** Costs that are higher than in the base, or above a limit; worst first. */
function costsSection(report: Report): string {
  const costs = worseCosts(report);
  if (costs.length === 0) return '';
  const rows = costs.map((cost) => {
    const notes = notesOf(cost);
    const more = notes.length === 0 ? '' : ` <small>(${escapeHtml(notes.join('; '))})</small>`;
    const chart = costChart(cost);
    const drawn = chart
      ? `<details><summary>${escapeHtml(chart.legend)}: <span class="base">base</span>, <span class="head">head</span></summary>${svgChart(chart)}</details>`
      : '';
    return (
      `<tr><td><span class="badge ${cost.severity}">${cost.severity}</span></td><td><code>${escapeHtml(cost.kernel)}</code></td>` +
      `<td>${escapeHtml(cost.message)}${more}${drawn}</td><td>${cost.location ? escapeHtml(place(cost.location)) : ''}</td></tr>`
    );
  });
  return `<h2 id="costs">Costs</h2><table class="costs stack"><thead><tr><th>severity</th><th>kernel</th><th>cost</th><th>place</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** The repairs of all kernels as a patch. */
function repairSection(patch: string, isPartial: boolean): string {
  if (patch === '') return '';
  return `<h2 id="repairs">Repairs</h2><details><summary>All repairs as one patch for <code>git apply</code>, compiled and ${isPartial ? 'checked' : 'proved'}</summary><figure class="frame">${patchLines(patch)}</figure></details>`;
}

/** Glossary of the metrics in the report. */
function glossary({ kernels }: Report): string {
  if (!kernels.some(({ cost }) => cost)) return '';
  const entries = boundMetrics.map((metric) => {
    const { unit, explain } = boundTable[metric];
    const text = explain.explanation.replace('The bound counts one warp in its worst case. ', '');
    return `<dt><code>${metric}</code>, in ${unit}</dt><dd>${toHtml(text)}</dd>`;
  });
  return `<h2 id="metrics">What the costs count</h2><details><summary>Each bound counts one warp in its worst case</summary><dl class="glossary">${entries.join('')}</dl></details>`;
}

function listSection(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `<h2>${title}</h2><ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}
