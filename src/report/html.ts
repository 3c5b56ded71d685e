import { toHtml } from './markup/code-pieces.ts';
import { decidingPhrases } from '../wording/finding/deciding-fact.ts';
import { launchPhrase, witnessPhrase } from '../wording/text/launch.ts';
import { place } from '../wording/text/place.ts';
import { count } from '../wording/text/code-text.ts';
import type {
  DivergenceReport,
  RaceReport,
  ReportedFact,
  ReportedInterleaving,
  ReportedStep,
} from '../document/finding.ts';
import { comparedCauses, toldByKernel, type FindingGroup, type ToldOfKernel } from '../document/finding-group.ts';
import { type Finding, placesOf } from '../document/outcome.ts';
import type { KernelReport, Report } from '../document/report.ts';
import {
  assumptionsOf,
  comingsAndGoings,
  conditionOf,
  countsPhrase,
  decidingOf,
  findingsPhrase,
  markedLine,
  marksOf,
  otherMarksOf,
  alternativePhrases,
  repairPhrase,
  repairsPhrase,
  standing,
  type Mark,
} from '../wording/phrases.ts';
import { boundMetrics } from '../cost/model/metrics.ts';
import type { BoundReport } from '../document/cost-report.ts';
import { costChart, svgChart } from './cost/cost-chart.ts';
import { resourcesPhrase } from '../wording/cost/cost-phrases.ts';
import { heatSections } from './cost/heat.ts';
import { escapeHtml } from './markup/html-text.ts';
import { renderPatch } from './patch.ts';
import { idempotencyDetails, idempotencyPhrase } from '../wording/idempotency.ts';
import { costsPhrase, notesOf, worseCosts } from '../wording/cost/worse-costs.ts';
import { sharedTexts, toldElsewhereText } from '../wording/review.ts';
import { stepText } from './sequence.ts';

interface HtmlOptions {
  readonly source: (file: string) => string | undefined;
}

/** Lines shown around each line that a finding is about. */
const CONTEXT = 6;

const style = `
:root{color-scheme:light dark;--line:#8884;--error:#c62828;--warning:#b26a00;--notice:#1565c0;--good:#2e7d32}
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem}
code,pre{font:13px/1.45 ui-monospace,monospace}h2 code{font-size:1rem;font-weight:600}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line)}
.race,.divergent,.error{color:var(--error)}.possible,.unknown,.warning{color:var(--warning)}.notice{color:var(--notice)}.proved{color:var(--good)}
pre{border:1px solid var(--line);border-radius:6px;overflow-x:auto;padding:.4rem 0}
pre span{display:block;padding:0 .6rem}pre .n{display:inline;opacity:.5;user-select:none;padding:0}
pre .hit{background:#c6282822}pre .note{color:var(--error);font-style:italic}pre .gap{opacity:.5}pre .add{background:#2e7d3222}pre .del{background:#c6282822}
.finding{border-left:3px solid var(--line);padding-left:1rem;margin:1.2rem 0}.finding.error{border-color:var(--error);color:inherit}.finding.warning{border-color:var(--warning);color:inherit}.finding.notice{border-color:var(--notice);color:inherit}
.badge{font-weight:600}small,.dim{opacity:.75}td:first-child{min-width:9rem}td:first-child,.finding,h2{overflow-wrap:anywhere}
.steps{width:auto;table-layout:fixed;margin-left:1rem}.steps td,.steps th{border:1px solid var(--line);min-width:12rem}.steps .both{text-align:center;opacity:.75}
.heat .n{opacity:.7}.h1{background:#e6510015}.h2{background:#e651002a}.h3{background:#e651003f}.h4{background:#e6510055}.h5{background:#e651006a}.h6{background:#e651007f}.h7{background:#e6510094}.h8{background:#e65100aa}.h9{background:#e65100bf}
.chart{max-width:30rem;font:10px ui-monospace,monospace}.chart text{fill:currentColor;text-anchor:middle}.chart .most{text-anchor:end}.chart polyline{fill:none;stroke-width:2;stroke:var(--notice)}.chart polyline.head{stroke:var(--error)}span.base{color:var(--notice)}span.head{color:var(--error)}
@media(max-width:40rem){table:not(.steps):not(.costs):not(.bounds) td:nth-child(2),table:not(.steps):not(.costs):not(.bounds) th:nth-child(2){display:none}}
@media(prefers-color-scheme:dark){:root{--error:#ff8a80;--warning:#ffb74d;--notice:#82b1ff;--good:#81c784}pre .hit{background:#ff8a8033}}
`;

/** The report as one page that needs nothing else; everything that comes from the input is escaped. */
export function renderHtml(report: Report, options: HtmlOptions): string {
  const { compiler, arch, solver } = report.toolchain;
  const tools = [compiler, arch?.join(', '), solver].filter((part) => typeof part === 'string' && part !== '');
  const rows = report.kernels.map(
    ({ name, location, race, divergence }, index) =>
      `<tr><td><a href="#kernel-${index}"><code>${escapeHtml(name)}</code></a></td><td>${location ? escapeHtml(place(location)) : ''}</td>` +
      `<td class="${race.verdict}">${race.verdict}</td><td class="${divergence.verdict}">${divergence.verdict}</td></tr>`,
  );
  const toldOf = toldByKernel(report);
  const body = [
    '<h1>Selvage</h1>',
    `<p>${escapeHtml([countsPhrase(report), findingsPhrase(report), costsPhrase(worseCosts(report)), repairsPhrase(report)].filter((part) => part !== '').join('; '))}.</p>`,
    comparisonLine(report),
    rows.length > 0
      ? `<table><thead><tr><th>kernel</th><th>place</th><th>races</th><th>barrier divergence</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
      : '',
    costsSection(report),
    listSection(
      'Messages',
      report.diagnostics.map(
        ({ severity, code, message, location }) =>
          `<span class="${severity} badge">${severity}</span> <code>${escapeHtml(code)}</code>${location ? ` ${escapeHtml(place(location))}` : ''}: ${toHtml(message)}`,
      ),
    ),
    listSection(
      'Not analysed',
      (report.notAnalysed ?? []).map(
        ({ what, reason, location }) =>
          `<code>${escapeHtml(what)}</code>${location ? ` ${escapeHtml(place(location))}` : ''}: ${escapeHtml(reason)}`,
      ),
    ),
    ...report.kernels.map((kernel, index) => kernelSection(kernel, index, toldOf(kernel), options)),
    repairSection(renderPatch(report, options.source)),
    `<p><small>selvage ${escapeHtml(report.tool.version)}${tools.length > 0 ? ` · ${escapeHtml(tools.join(' · '))}` : ''}</small></p>`,
  ];
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Selvage report</title><style>${style}</style></head><body>`,
    ...body.filter((part) => part !== ''),
    '</body></html>',
    '',
  ].join('\n');
}

function comparisonLine(report: Report): string {
  if (!report.comparison) return '';
  const { added, fixed, unchanged } = comparedCauses(report);
  return `<p>Against the base: ${count(added, 'finding')} new, ${fixed} fixed, ${unchanged} unchanged. ${comingsAndGoings(report, (name) => `<code>${escapeHtml(name)}</code>`).join(' ')}</p>`;
}

function kernelSection(
  kernel: KernelReport,
  index: number,
  { here, elsewhere }: ToldOfKernel,
  options: HtmlOptions,
): string {
  const { race, divergence } = kernel;
  const verdict = (noun: string, result: RaceReport | DivergenceReport): string => {
    const fact = decidingOf(result);
    const reason = result.reason === undefined ? '' : `, ${toHtml(result.reason)}`;
    return `<li>${noun}: <span class="${result.verdict} badge">${result.verdict}</span>${reason}${fact ? `; ${decidingHtml(fact)}` : ''}</li>`;
  };
  const assumptions = assumptionsOf(kernel).map(
    ({ kind, text }) => `<li>${escapeHtml(kind)}: ${escapeHtml(text)}</li>`,
  );
  const findings = here.map(({ example }) => example.finding);
  return [
    `<h2 id="kernel-${index}"><code>${escapeHtml(kernel.name)}</code>${kernel.arch === undefined ? '' : ` (${escapeHtml(kernel.arch)})`}</h2>`,
    kernel.location ? `<p class="dim">${escapeHtml(place(kernel.location))}</p>` : '',
    '<ul>',
    verdict('races', race),
    verdict('barrier divergence', divergence),
    idempotencyItem(kernel),
    repairItem(kernel),
    elsewhere.length > 0 ? `<li>${toHtml(toldElsewhereText(elsewhere))}</li>` : '',
    ...kernel.launches.map((launch) => `<li>launch: ${escapeHtml(launchPhrase(launch))}</li>`),
    '</ul>',
    assumptions.length > 0
      ? `<details><summary>${count(assumptions.length, 'assumption')}</summary><ul>${assumptions.join('')}</ul></details>`
      : '',
    costTable(kernel),
    ...heatSections(kernel, options.source),
    ...here.map(findingSection),
    ...sourceSections(findings, options),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function idempotencyItem({ idempotency }: KernelReport): string {
  if (!idempotency) return '';
  const details = idempotencyDetails(idempotency).map((text) => `<li>${toHtml(text)}</li>`);
  const list = details.length > 0 ? `<ul>${details.join('')}</ul>` : '';
  return `<li>idempotency: ${toHtml(idempotencyPhrase(idempotency))}${list}</li>`;
}

/** What is worse than before, or than a limit; worst first. */
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
      `<tr><td class="${cost.severity} badge">${cost.severity}</td><td><code>${escapeHtml(cost.kernel)}</code></td>` +
      `<td>${escapeHtml(cost.message)}${more}${drawn}</td><td>${cost.location ? escapeHtml(place(cost.location)) : ''}</td></tr>`
    );
  });
  return `<h2 id="costs">Costs</h2><table class="costs"><thead><tr><th>severity</th><th>kernel</th><th>cost</th><th>place</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** The bounds of a warp in both builds, and the resources. */
function costTable({ cost }: KernelReport): string {
  if (!cost) return '';
  const { source, production } = cost.bounds;
  const cell = ({ bound, value, reason }: BoundReport): string => {
    if (bound === null) return `<td class="dim">${escapeHtml(reason ?? 'no bound')}</td>`;
    const isPlain = value === null || value === undefined || bound === String(value);
    return `<td><code>${escapeHtml(bound)}</code>${isPlain ? '' : ` = ${value}`}</td>`;
  };
  const builds = [source, production].filter((build) => build !== undefined);
  const rows = boundMetrics.map(
    (metric) => `<tr><td>${metric}</td>${builds.map((build) => cell(build[metric])).join('')}</tr>`,
  );
  const heads = production ? '<th>as written</th><th>as compiled</th>' : '<th>at most</th>';
  const table = `<table class="bounds"><thead><tr><th>of one warp</th>${heads}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
  return (
    (builds.length > 0 ? table : '') + (cost.resources ? `<p>${escapeHtml(resourcesPhrase(cost.resources))}</p>` : '')
  );
}

function repairItem({ repair }: KernelReport): string {
  const phrase = repairPhrase(repair);
  if (!phrase) return '';
  return [phrase, ...alternativePhrases(repair)]
    .map(
      ({ isEdit, head, detail }) =>
        `<li><span class="${isEdit ? 'proved' : 'possible'} badge">${head}</span>${detail === '' ? '' : `: ${toHtml(detail)}`}</li>`,
    )
    .join('');
}

/** The repairs of all kernels as the patch that they are. */
function repairSection(patch: string): string {
  if (patch === '') return '';
  const kinds: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'gap' };
  const rows = patch
    .trimEnd()
    .split('\n')
    .map((line) => {
      const isHead = /^(?:diff |--- |\+\+\+ )/.test(line);
      const kind = isHead ? 'gap' : kinds[line.charAt(0)];
      return `<span${kind === undefined ? '' : ` class="${kind}"`}>${escapeHtml(line.replace(/\r$/, ''))}</span>`;
    });
  return `<h2 id="repairs">Repairs</h2><p>Compiled and proved.</p><pre>${rows.join('')}</pre>`;
}

function findingSection(group: FindingGroup): string {
  const { finding } = group.example;
  const facts = marksOf(finding).map(
    ({ location, text }) => toHtml(text) + (location ? ` at ${escapeHtml(place(location))}` : ''),
  );
  facts.push(...sharedTexts(group).map(toHtml));
  const condition = conditionOf(finding);
  if (condition !== undefined) facts.push(`under the condition <code>${escapeHtml(condition)}</code>`);
  const witness = witnessPhrase(finding);
  facts.push(escapeHtml(standing(finding)) + (witness === undefined ? '' : `: ${escapeHtml(witness)}`));
  if (finding.wouldDecide) facts.push(decidingHtml(finding.wouldDecide));
  if (finding.reproduce !== undefined) facts.push(`<code>${escapeHtml(finding.reproduce)}</code>`);
  return (
    `<div class="finding ${finding.severity}"><p><span class="${finding.severity} badge">${finding.severity}</span> ` +
    `<code>${escapeHtml(finding.code)}</code> ${toHtml(finding.message)}</p><ul>${facts.map((fact) => `<li>${fact}</li>`).join('')}</ul>${finding.interleaving ? stepTable(finding.interleaving) : ''}</div>`
  );
}

function decidingHtml(wouldDecide: ReportedFact): string {
  const { fact, statement } = decidingPhrases(wouldDecide);
  return (
    toHtml(fact) +
    (statement ? `; ${statement.before}<code>${escapeHtml(statement.code)}</code>${statement.after}` : '')
  );
}

/** A column a thread, from top to bottom; what nothing orders stands in one row. */
function stepTable(interleaving: ReportedInterleaving): string {
  const { threads, steps, missing } = interleaving;
  const width = threads.length;
  const cell = (list: readonly ReportedStep[]): string =>
    `<td>${list.map((step) => toHtml(stepText(step, interleaving))).join('<br>')}</td>`;
  const whole = (text: string): string => `<tr><td class="both" colspan="${width}">${toHtml(text)}</td></tr>`;
  const own = steps.filter((step) => step.threads.length === 1);
  const rows = [
    ...steps.filter((step) => step.threads.length > 1).map((step) => whole(stepText(step, interleaving))),
    `<tr>${threads.map((_, index) => cell(own.filter((step) => step.threads[0] === index))).join('')}</tr>`,
    ...(missing ? [whole(missing.text)] : []),
  ];
  const heads = threads.map(({ name }) => `<th>${escapeHtml(name)}</th>`);
  return `<table class="steps"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** The source around the findings, each file once, with a note under each line that a finding is about. */
function sourceSections(findings: readonly Finding[], { source }: HtmlOptions): string[] {
  const marks = findings.flatMap((finding) => [
    ...marksOf(finding),
    ...otherMarksOf(finding),
    ...placesOf(finding).map(({ inlinedAt }): Mark => ({ location: inlinedAt, text: 'inlined here' })),
  ]);
  const files = new Set(marks.flatMap(({ location }) => (location ? [location.file] : [])));
  return [...files].flatMap((file) => {
    const lines = source(file)?.trimEnd().split('\n');
    return lines ? [`<p><code>${escapeHtml(file)}</code></p><pre>${annotated(lines, file, marks)}</pre>`] : [];
  });
}

function annotated(lines: readonly string[], file: string, marks: readonly Mark[]): string {
  const byLine = new Map<number, Mark[]>();
  for (const mark of marks) {
    if (mark.location?.file !== file) continue;
    byLine.set(mark.location.line, [...(byLine.get(mark.location.line) ?? []), mark]);
  }
  const shown = new Set<number>();
  for (const line of byLine.keys()) {
    for (let near = line - CONTEXT; near <= line + CONTEXT; near++)
      if (near >= 1 && near <= lines.length) shown.add(near);
  }
  const width = String(Math.max(...shown, 1)).length;
  let previous = 0;
  const rows: string[] = [];
  for (const number of [...shown].sort((a, b) => a - b)) {
    if (previous !== 0 && number > previous + 1) rows.push('<span class="gap">…</span>');
    previous = number;
    const line = lines[number - 1] ?? '';
    const marked = byLine.get(number) ?? [];
    const gutter = `<span class="n">${String(number).padStart(width)}  </span>`;
    const text = escapeHtml(markedLine(line, { text: '' }).text);
    rows.push(`<span${marked.length > 0 ? ' class="hit"' : ''}>${gutter}${text}</span>`);
    const notes = marked.map((mark) => `${' '.repeat(width + 2 + markedLine(line, mark).column)}^ ${mark.text}`);
    for (const note of new Set(notes)) rows.push(`<span class="note">${escapeHtml(note)}</span>`);
  }
  return rows.join('');
}

function listSection(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `<h2>${title}</h2><ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}
