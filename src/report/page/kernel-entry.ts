/** A kernel as HTML, in a folded section: verdicts, launches, assumptions, costs. */
import { boundMetrics, boundTable } from '../../cost/model/metrics.ts';
import type { BoundReport, CodeReport } from '../../report-model/cost-report.ts';
import type { DivergenceReport, RaceReport } from '../../report-model/finding.ts';
import type { KernelFindingGroups } from '../../report-model/finding-group.ts';
import type { KernelReport } from '../../report-model/report.ts';
import { count } from '../../messages/text/code-text.ts';
import { amountText, briefBound, executedText, hasPartialWarp, partialWarpText, wholeBound } from '../../messages/cost/bound-text.ts';
import { resourcesPhrase } from '../../messages/cost/cost-phrases.ts';
import { figureLines } from '../../messages/cost/figure-phrases.ts';
import { idempotencyDetails, idempotencyPhrase } from '../../messages/idempotency.ts';
import { launchPhrase } from '../../messages/text/launch-text.ts';
import { alternativePhrases, assumptionsOf, decidingOf, repairPhrase } from '../../messages/phrases.ts';
import { place } from '../../messages/text/place.ts';
import { toldElsewhereText } from '../../messages/review.ts';
import { writtenLine, type SourceOf } from '../cost/written-line.ts';
import { heatSections } from '../cost/line-heat-map.ts';
import { toHtml } from '../markup/code-pieces.ts';
import { escapeHtml } from '../markup/html-text.ts';
import { decidingHtml } from './finding-card.ts';
import type { PageParts } from './page-parts.ts';

/** Whether a kernel is proved free of races and of divergence, so that it is folded. */
export function isProved({ race, divergence }: KernelReport): boolean {
  return race.verdict === 'proved' && divergence.verdict === 'proved';
}

/** The folded section of a kernel. */
export function kernelEntry(kernel: KernelReport, { elsewhere }: KernelFindingGroups, links: readonly string[], parts: PageParts): string {
  const { race, divergence } = kernel;
  const at = kernel.location ? place(kernel.location) : '';
  const kinds = [race.verdict, divergence.verdict].map((verdict) => (verdict === 'possible' || verdict === 'unknown' ? 'open' : verdict));
  // A kernel without other verdicts is proved.
  const told = isProved(kernel) ? ['proved'] : kinds.filter((kind) => kind !== 'proved');
  const findings = links.length === 0 ? '' : `<li>findings: ${links.join(', ')}</li>`;
  const assumptions = assumptionsOf(kernel).map(({ kind, text }) => `<li>${escapeHtml(kind)}: ${escapeHtml(text)}</li>`);
  return [
    `<details class="kernel" id="kernel-${parts.numberOf(kernel)}" data-text="${escapeHtml(`${kernel.name} ${at}`.toLowerCase())}" data-kinds="${told.join(' ')}">`,
    `<summary><code>${escapeHtml(kernel.name)}</code>${kernel.arch === undefined ? '' : ` <span class="dim">${escapeHtml(kernel.arch)}</span>`}<span class="dim">${escapeHtml(at)}</span>${chips(kernel)}</summary>`,
    '<ul>',
    verdictItem('races', race),
    verdictItem('barrier divergence', divergence),
    findings,
    idempotencyItem(kernel),
    repairItem(kernel),
    elsewhere.length > 0 ? `<li>${toHtml(toldElsewhereText(elsewhere))}</li>` : '',
    ...kernel.launches.map(
      (launch) =>
        `<li>launch: ${escapeHtml(launchPhrase(launch))}${(launch.open ?? []).map((reason) => `<br>${toHtml(reason)}`).join('')}</li>`,
    ),
    '</ul>',
    assumptions.length > 0
      ? `<details><summary>${count(assumptions.length, 'assumption')}</summary><ul>${assumptions.join('')}</ul></details>`
      : '',
    costTable(kernel, parts.source),
    ...heatSections(kernel, parts.source),
    '</details>',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function chips(kernel: KernelReport): string {
  const { race, divergence } = kernel;
  if (isProved(kernel)) return '<span class="badge proved">proved</span>';
  const chip = (noun: string, { verdict }: RaceReport | DivergenceReport): string =>
    `<span class="badge ${verdict}">${verdict === 'race' || verdict === 'divergent' ? verdict : `${noun} ${verdict}`}</span>`;
  return `${chip('races', race)}${chip('divergence', divergence)}`;
}

function verdictItem(noun: string, result: RaceReport | DivergenceReport): string {
  const fact = decidingOf(result);
  const reason = result.reason === undefined ? '' : `, ${toHtml(result.reason)}`;
  return `<li>${noun}: <b class="${result.verdict}">${result.verdict}</b>${reason}${fact ? `; ${decidingHtml(fact)}` : ''}</li>`;
}

function idempotencyItem({ idempotency }: KernelReport): string {
  if (!idempotency) return '';
  const details = idempotencyDetails(idempotency).map((text) => `<li>${toHtml(text)}</li>`);
  const list = details.length > 0 ? `<ul>${details.join('')}</ul>` : '';
  return `<li>idempotency: ${toHtml(idempotencyPhrase(idempotency))}${list}</li>`;
}

function repairItem({ repair }: KernelReport): string {
  const phrase = repairPhrase(repair);
  if (!phrase) return '';
  return [phrase, ...alternativePhrases(repair)]
    .map(
      ({ isEdit, head, detail }) =>
        `<li><b class="${isEdit ? 'proved' : 'possible'}">${head}</b>${detail === '' ? '' : `: ${toHtml(detail)}`}</li>`,
    )
    .join('');
}

/**
 * Maximum number of characters of a bound in the table. Of a longer one, the table contains the fastest-growing term,
 * and the whole bound is folded.
 */
const widestBound = 60;

/** The bounds of a warp in both builds with their units, and the resources. */
function costTable({ cost }: KernelReport, sourceOf: SourceOf): string {
  if (!cost) return '';
  const { source, production } = cost.bounds;
  const cell = ({ bound, value, reason }: BoundReport, of: string): string => {
    if (bound === null) return `<td class="dim" data-of="${of}">${escapeHtml(reason ?? 'no bound')}</td>`;
    const isPlain = value === null || value === undefined || bound === String(value);
    const [brief, whole] = [briefBound(bound, widestBound), wholeBound(bound)];
    const shown = `<code>${escapeHtml(brief)}</code>${isPlain ? '' : ` = ${value}`}`;
    if (brief === whole) return `<td data-of="${of}">${shown}</td>`;
    return `<td data-of="${of}"><details><summary>${shown}</summary><code>${escapeHtml(whole)}</code></details></td>`;
  };
  const builds = [
    ...(source ? [{ build: source, of: production ? 'verification build' : 'at most' }] : []),
    ...(production ? [{ build: production, of: source ? 'production build' : 'at most' }] : []),
  ];
  const rows = boundMetrics.map(
    (metric) =>
      `<tr><th>${metric} <small>${boundTable[metric].unit}</small></th>${builds.map(({ build, of }) => cell(build[metric], of)).join('')}</tr>`,
  );
  const heads = builds.map(({ of }) => `<th>${of}</th>`).join('');
  const table = `<table class="bounds stack"><thead><tr><th>one warp, at most</th>${heads}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
  const figures = figureLines(cost).map((line) => `<li>${escapeHtml(line)}</li>`);
  return [
    builds.length > 0 ? table : '',
    hasPartialWarp(table) ? `<p class="dim">${escapeHtml(partialWarpText)}</p>` : '',
    cost.resources ? `<p>${escapeHtml(resourcesPhrase(cost.resources))}</p>` : '',
    cost.code ? codeTable(cost.code, sourceOf) : '',
    figures.length > 0
      ? `<details><summary>What it executes, and how it fills the GPU</summary><ul>${figures.join('')}</ul></details>`
      : '',
  ].join('');
}

/** The executed instructions, by source line, folded. */
function codeTable({ instructions, steps, lines }: CodeReport, source: SourceOf): string {
  if (lines.length === 0) return '';
  const rows = lines.map(({ location, instructions: own, steps: executed, listing }) => {
    const rest = own > listing.length ? `\nand ${own - listing.length} more` : '';
    return `<tr><th>${escapeHtml(place(location))}</th><td><code>${escapeHtml(writtenLine(source, location))}</code></td><td>${own}</td><td>${executed ? escapeHtml(amountText(executed, widestBound)) : ''}</td><td><pre>${escapeHtml(listing.join('\n'))}${rest}</pre></td></tr>`;
  });
  return `<details><summary>Machine code by line: ${count(instructions, 'instruction')}${escapeHtml(executedText(steps, instructions))}</summary><table><thead><tr><th>line</th><th>source</th><th>instructions</th><th>executed by a warp, at most</th><th>the first of them</th></tr></thead><tbody>${rows.join('')}</tbody></table></details>`;
}
