/** Costs of a kernel, for a terminal. */
import { grouped } from '../../base/grouped.ts';
import { argumentsText } from '../../messages/cost/cost-messages.ts';
import type { Paint } from '../markup/paint.ts';
import type { BoundReport, BoundsReport, CodeLine, CodeReport, CostReport, LaunchCost, LineCost } from '../../report-model/cost-report.ts';
import type { KernelReport } from '../../report-model/report.ts';
import { type BoundMetric, boundMetrics, boundTable } from '../../cost/model/metrics.ts';
import { count } from '../../messages/text/code-text.ts';
import { amountText, briefBound, executedText, hasPartialWarp, partialWarpText, wholeBound } from '../../messages/cost/bound-text.ts';
import { resourcesPhrase, totalsPhrase } from '../../messages/cost/cost-phrases.ts';
import { figureLines } from '../../messages/cost/figure-phrases.ts';
import { writtenLine, type SourceOf } from './written-line.ts';

const brief = boundMetrics.filter((metric) => boundTable[metric].brief);
/** Metrics with a list of lines, and the number of lines of each. */
const byLine = boundMetrics.filter((metric) => boundTable[metric].byLine);
const maxLines = 5;
/** Maximum number of characters of a bound in a column. */
const widest = 60;
const widestBrief = 40;

/**
 * A table of the bounds of both builds, the most expensive lines of the source, and the resources.
 * @param verbose whether to list all lines of all metrics
 */
export function costLines(
  { cost, launches }: Pick<KernelReport, 'cost' | 'launches'>,
  verbose: boolean,
  paint: Paint,
  source: SourceOf,
): string[] {
  if (!cost) return [];
  const { bounds, totals, assumptions = [], resources } = cost;
  // If only the production build exists, only its bounds are listed.
  const written = bounds.source ?? bounds.production;
  const production = bounds.source && bounds.production;
  const lines: string[] = [];
  if (written) {
    const rows = boundMetrics.map((metric) => [
      metric,
      boundText(written[metric], verbose),
      ...(production ? [boundText(production[metric], verbose)] : []),
    ]);
    const head = ['of one warp', ...(production ? ['verification build, at most', 'production build, at most'] : ['at most'])];
    const [first, ...rest] = aligned([head, ...rows]);
    lines.push(paint('dim', `    ${first}`), ...rest.map((row) => `    ${row}`));
    for (const metric of verbose ? boundMetrics : byLine) {
      const costly = (written[metric].lines ?? []).filter(({ bound }) => bound !== '0');
      if (costly.length === 0) continue;
      const listed = verbose ? costly : costly.slice(0, maxLines);
      const open = written[metric].bound === null ? ', where they have bounds' : '';
      lines.push(
        paint('dim', `    ${metric} by line${open}`),
        ...aligned(listed.map((line) => lineCells(line, verbose))).map((row) => `      ${row}`),
      );
      if (listed.length < costly.length)
        lines.push(paint('dim', `      ${count(costly.length - listed.length, 'more line')} with --verbose`));
    }
    if (lines.some(hasPartialWarp)) lines.push(paint('dim', `    ${partialWarpText}`));
    const unbounded = reasonLines(written, () => true);
    // Reasons for missing bounds of the production build are listed only if the verification build has a bound.
    const asCompiled = production ? reasonLines(production, (metric) => written[metric].bound !== null) : [];
    for (const line of [...unbounded, ...asCompiled.map((line) => `production build, ${line}`)])
      lines.push(`    ${paint('yellow', '?')} ${line}`);
  }
  const whole = totals?.production ?? totals?.source;
  // If there are several launches, their costs are reported separately.
  if (whole && !launches.some((launch) => launch.cost)) lines.push(`    ${totalsPhrase(whole)}`);
  if (resources) lines.push(`    ${resourcesPhrase(resources)}`);
  lines.push(...figureLines(cost).map((line) => `    ${line}`));
  if (cost.code) lines.push(...codeLines(cost.code, verbose || !written, verbose, paint, source));
  const own = verbose ? assumptions : assumptions.filter(({ kind }) => kind === 'user');
  if (written && own.length > 0) lines.push(paint('dim', `    assumed: ${own.map(({ text }) => text).join('; ')}`));
  return [...lines, ...limitLines(cost, paint)];
}

/** SASS statistics in one line. They are listed by source line if no other list is, or if everything is requested. */
function codeLines(code: CodeReport, isByLine: boolean, isListed: boolean, paint: Paint, source: SourceOf): string[] {
  const { instructions, steps, unknown, translation, lines, live, merged } = code;
  const order = translation.checked ? 'in the order of the PTX' : `not compared with the PTX: ${translation.reason}`;
  const strange = unknown === 0 ? '' : `, ${unknown} of them unknown`;
  const at = live?.location ? ` at line ${live.location.line}` : '';
  const pressure = live ? `, at most ${live.registers} registers live at once${at}` : '';
  const wide = merged ? `, ${count(merged.accesses, 'access', 'accesses')} merged into ${merged.into}` : '';
  const told = [
    `    machine code: ${count(instructions, 'instruction')}${strange}${executedText(steps, instructions)}, ${order}${wide}${pressure}`,
  ];
  if (!isByLine || lines.length === 0) return told;
  const rows = lines.map(({ location, instructions: own, roundBounds, steps: executed, work }) => [
    `${location.file}:${location.line}`,
    String(own),
    [
      ...Object.entries(work).map(([kind, many]) => (many === 1 ? kind : `${many} × ${kind}`)),
      ...(roundBounds && roundBounds.all.bound !== '1' ? [`at most ${amountText(roundBounds.all, widest)} times`] : []),
    ].join(', ') + executedText(executed, own),
    ...(isListed ? [writtenLine(source, location)] : []),
  ]);
  return [
    ...told,
    paint('dim', '    instructions by line'),
    ...aligned(rows).flatMap((row, index) => [
      `      ${row}`,
      ...(isListed ? listed(lines[index]!) : []).map((text) => paint('dim', `        ${text}`)),
    ]),
  ];
}

/** The first instructions of a line, and the number of further ones. */
function listed({ instructions, listing }: CodeLine): string[] {
  const more = instructions - listing.length;
  return [...listing, ...(more > 0 ? [`and ${more} more`] : [])];
}

/** Implicit assumptions of the bounds of all kernels, for the end of a report; may be empty. */
export function grantedLine(costs: readonly CostReport[], paint: Paint): string[] {
  const all = costs.flatMap(({ assumptions = [] }) => assumptions.filter(({ kind }) => kind !== 'user'));
  const texts = [...new Set(all.map(({ text }) => text))];
  return texts.length === 0 ? [] : [paint('dim', `The bounds assume: ${texts.join('; ')}.`)];
}

/** Reasons for missing bounds. Metrics with the same reason are listed together. */
function reasonLines(build: BoundsReport, isWanted: (metric: BoundMetric) => boolean): string[] {
  const missing = boundMetrics.filter((metric) => build[metric].bound === null && isWanted(metric));
  const byReason = grouped(missing, (metric) => build[metric].reason);
  return [...byReason].map(([reason, of]) => `${of.join(', ')}: ${reason}`);
}

/** Costs of the production build in one line, and the resources: for a report that is not only about costs. */
export function briefCostLines(cost: CostReport, paint: Paint): string[] {
  const { bounds, resources } = cost;
  const build = bounds.production ?? bounds.source;
  return [
    ...(build ? [paint('dim', `    ${briefBounds(build)}`)] : []),
    ...(resources ? [paint('dim', `    ${resourcesPhrase(resources)}`)] : []),
    ...limitLines(cost, paint),
  ];
}

/** Costs of one of several launches: of the whole launch if its dimensions are known, otherwise of a warp. */
export function launchCostText({ bounds, totals }: LaunchCost): string {
  if (totals) return totalsPhrase(totals);
  const known = brief.flatMap((metric) => (bounds[metric] === null ? [] : [`${metric} ${briefBound(bounds[metric], widestBrief)}`]));
  return known.length === 0 ? 'no bound on what a warp costs' : `a warp at most: ${known.join(', ')}`;
}

/** `a warp at most: 68 sectors, …`; integers or expressions in the launch, and one reason for missing bounds. */
function briefBounds(build: BoundsReport): string {
  const known = brief.filter((metric) => build[metric].bound !== null);
  const reasons = new Set(brief.flatMap((metric) => (build[metric].bound === null ? (build[metric].reason ?? []) : [])));
  const bounds = known.map((metric) => {
    const { bound, value } = build[metric];
    return `${metric} ${value === null || value === undefined ? briefBound(bound!, widestBrief) : value}`;
  });
  const missing = brief.filter((metric) => !known.includes(metric));
  const why = reasons.size === 0 ? '' : ` (${[...reasons][0]})`;
  return [
    ...(bounds.length === 0 ? [] : [`a warp at most: ${bounds.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`no bound on ${known.length === 0 ? 'what a warp costs' : missing.join(', ')}${why}`]),
  ].join('; ');
}

/** Limits that are satisfied. Exceeded ones are reported as findings. */
function limitLines({ limits = [], bounds }: CostReport, paint: Paint): string[] {
  return limits
    .filter(({ standing }) => standing === 'kept')
    .map(({ metric, limit, build, at }) => {
      const names = argumentsText(at ?? {});
      const source = build === 'source' && bounds.production ? ['verification build (the bound of the production build is looser)'] : [];
      const notes = [...(names === '' ? [] : [`at ${names}`]), ...source];
      return `    ${paint('green', '✓')} ${[`${metric} ${limit}`, ...notes].join(' ')}`;
    });
}

function boundText({ bound, value }: BoundReport, verbose: boolean): string {
  if (bound === null) return '-';
  const short = verbose ? wholeBound(bound) : briefBound(bound, widest);
  return value === null || value === undefined || bound === String(value) ? short : `${short} = ${value}`;
}

function lineCells({ location, bound, value, reason }: LineCost, verbose: boolean): string[] {
  const text = boundText({ bound, value }, verbose);
  return [`line ${location.line}`, text, reason ?? ''];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
}
