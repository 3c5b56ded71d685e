/** Costs as Markdown: regressions in a table, then the charts, then all bounds of a kernel. */
import type { Regression } from '../../report-model/regression.ts';
import { boundMetrics, boundTable } from '../../cost/model/metrics.ts';
import type { BoundReport, CodeReport, CostReport } from '../../report-model/cost-report.ts';
import type { CostNote } from '../../report-model/report.ts';
import type { Location } from '../../source/location.ts';
import { costChart, mermaidChart } from './cost-chart.ts';
import { count } from '../../messages/text/code-text.ts';
import { resourcesPhrase } from '../../messages/cost/cost-phrases.ts';
import { briefBound, executedText, hasPartialWarp, partialWarpText, wholeBound } from '../../messages/cost/bound-text.ts';
import { figureLines } from '../../messages/cost/figure-phrases.ts';
import { codeSpan, details, escapeText, fencedBlock, tableCode } from '../markup/inert-markdown.ts';
import { writtenLine, type SourceOf } from './written-line.ts';
import { notesOf } from '../../messages/cost/worse-costs.ts';

const MAX_CHARTS = 5;
const MAX_NOTES = 30;
/** The metric whose most expensive lines are listed. */
const byLine = boundMetrics.find((metric) => boundTable[metric].byLine)!;
/** Maximum number of characters of a bound in a table. Of a longer one, the table contains the fastest-growing term. */
const MAX_BRIEF = 60;
const MAX_BOUND = 600;

/**
 * A row for each regression, worst first.
 * @param where renders a location as Markdown for a table
 */
export function regressionTable(costs: readonly Regression[], where: (location: Location | undefined) => string, mostRows: number): string {
  if (costs.length === 0) return '';
  const rows = costs.slice(0, mostRows).map((cost) => {
    const notes = notesOf(cost).map(cell);
    const more = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
    return `| ${cost.severity} | ${tableCode(cost.kernel)} | ${cell(cost.message)}${more} | ${where(cost.location)} |`;
  });
  const rest = costs.length > mostRows ? `\n\nand ${costs.length - mostRows} more.` : '';
  return ['| severity | kernel | cost | where |', '|---|---|---|---|', ...rows].join('\n') + rest;
}

/** Charts of growing bounds in a folded section; may be empty. */
export function regressionCharts(costs: readonly Regression[]): string {
  const charts = costs.flatMap((cost) => {
    const chart = costChart(cost);
    if (!chart) return [];
    const legend = escapeText(`${chart.legend}; the first line is the base, the second the head`);
    return [`${codeSpan(cost.kernel)}: ${legend}.\n\n${fencedBlock(mermaidChart(chart), 'mermaid')}`];
  });
  if (charts.length === 0) return '';
  const shown = charts.slice(0, MAX_CHARTS);
  const rest = charts.length > shown.length ? [`and ${charts.length - shown.length} more, which the report has.`] : [];
  return details(`Charts of the bounds for the base and the head commit (${charts.length})`, [...shown, ...rest].join('\n\n'));
}

/** Costs that were not compared, or only at sizes that Selvage chose, in a folded section; may be empty. */
export function costNotesList(notes: readonly CostNote[]): string {
  if (notes.length === 0) return '';
  const rows = notes.slice(0, MAX_NOTES).map(({ kernel, message }) => `- ${codeSpan(kernel)}: ${escapeText(message)}`);
  const rest = notes.length > MAX_NOTES ? [`and ${notes.length - MAX_NOTES} more, which the report has.`] : [];
  return details(`How costs were compared (${notes.length})`, [rows.join('\n'), ...rest].join('\n\n'));
}

/** The bounds of a warp in both builds, and the resources. */
export function costTable(cost: CostReport, sourceOf: SourceOf = () => undefined): string[] {
  const { bounds, resources } = cost;
  // If only the production build exists, only its bounds are listed.
  const source = bounds.source ?? bounds.production;
  const production = bounds.source && bounds.production;
  const lines: string[] = [];
  if (source) {
    const builds = production ? [source, production] : [source];
    lines.push(
      `| of one warp | ${production ? 'verification build, at most | production build, at most' : 'at most'} |`,
      `|---${'|---'.repeat(builds.length)}|`,
    );
    for (const metric of boundMetrics) lines.push(`| ${metric} | ${builds.map((build) => boundCell(build[metric])).join(' | ')} |`);
    lines.push('');
    const costly = (source[byLine].lines ?? []).filter(({ bound }) => bound !== '0').slice(0, 5);
    for (const { location, bound, reason } of costly) {
      const why = reason === undefined ? '' : `: ${escapeText(reason)}`;
      lines.push(`- line ${location.line}: ${codeSpan(briefBound(bound, MAX_BRIEF))} ${byLine}${why}`);
    }
    if (costly.length > 0) lines.push('');
  }
  const long = boundMetrics.flatMap((metric) =>
    [source, production].flatMap((build, at): string[] => {
      const bound = build?.[metric].bound ?? '';
      if (wholeBound(bound).length <= MAX_BRIEF) return [];
      return [
        `- ${metric}${production ? [' (verification build)', ' (production build)'][at]! : ''}: ${codeSpan(cutAt(wholeBound(bound)))}`,
      ];
    }),
  );
  if (lines.some(hasPartialWarp) || long.some(hasPartialWarp)) lines.push(`${escapeText(partialWarpText)}.`, '');
  if (long.length > 0) lines.push(details('Whole bounds', long.join('\n')), '');
  if (resources) lines.push(`${escapeText(resourcesPhrase(resources))}.`, '');
  const figures = figureLines(cost).map((line) => `- ${escapeText(line)}`);
  if (figures.length > 0) lines.push(details('What it executes, and how it fills the GPU', figures.join('\n')), '');
  if (cost.code && cost.code.lines.length > 0) lines.push(codeListing(cost.code, sourceOf), '');
  return lines;
}

/** The executed instructions, by source line, folded. */
function codeListing({ instructions, steps, lines }: CodeReport, source: SourceOf): string {
  const listed = lines.map(({ location, instructions: own, steps: executed, listing }) => {
    const rest = own > listing.length ? [`  and ${own - listing.length} more`] : [];
    const text = writtenLine(source, location);
    return [
      `${location.file}:${location.line} (${own}${executedText(executed, own)})${text === '' ? '' : `  ${text}`}`,
      ...listing.map((one) => `  ${one}`),
      ...rest,
    ].join('\n');
  });
  return details(
    `Machine code by line: ${count(instructions, 'instruction')}${executedText(steps, instructions)}`,
    fencedBlock(listed.join('\n'), ''),
  );
}

function boundCell({ bound, value, reason }: BoundReport): string {
  if (bound === null) return cell(reason ?? 'no bound');
  const text = tableCode(briefBound(bound, MAX_BRIEF));
  return value === null || value === undefined || bound === String(value) ? text : `${text} = ${value}`;
}

function cutAt(bound: string): string {
  return bound.length > MAX_BOUND ? `${bound.slice(0, MAX_BOUND - 1)}…` : bound;
}

/** Text in a cell of a table; `escapeText` escapes bars. */
function cell(text: string): string {
  return escapeText(text);
}
