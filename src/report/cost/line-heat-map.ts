/** The source of a kernel with the costs of its lines, as HTML. */
import { parseBound } from '../../cost/expressions/bound-parser.ts';
import { evaluate } from '../../cost/expressions/expression.ts';
import { boundMetrics, boundTable } from '../../cost/model/metrics.ts';
import type { LineCost } from '../../report-model/cost-report.ts';
import type { KernelReport } from '../../report-model/report.ts';
import { escapeHtml } from '../markup/html-text.ts';

/** Value of unspecified names. Shares of lines are computed at this size. */
const size = 1000n;
/** Maximum number of displayed lines of a file. Of a longer file, only lines near those with a cost are displayed. */
const maxLines = 400;
const context = 2;
/** Metrics in the note next to a line. */
const noted = boundMetrics.filter((metric) => boundTable[metric].brief);

/**
 * A block of source for each file with costs of the kernel: a column with the share of the kernel's work, shaded
 * accordingly, and the bounds of the line as its note.
 */
export function heatSections({ cost, location }: KernelReport, source: (file: string) => string | undefined): string[] {
  const bounds = cost?.bounds.source ?? cost?.bounds.production;
  if (!bounds) return [];
  const work = bounds.work.lines ?? [];
  const total = work.reduce((sum, line) => sum + valueOf(line), 0);
  if (total <= 0) return [];
  const files = [...new Set(work.map((line) => line.location.file))].sort();
  return files.flatMap((file) => {
    const text = source(file)?.trimEnd().split('\n');
    if (!text) return [];
    const shares = new Map(work.filter((line) => line.location.file === file).map((line) => [line.location.line, valueOf(line) / total]));
    const costly = [...shares.keys()].filter((line) => line <= text.length);
    if (costly.length === 0) return [];
    const first = Math.min(...costly, location?.file === file ? location.line : Infinity);
    const last = Math.max(...costly);
    const shown: number[] = [];
    for (let line = first; line <= last; line += 1) {
      if (last - first < maxLines || costly.some((one) => Math.abs(one - line) <= context)) shown.push(line);
    }
    const width = String(last).length;
    let previous = first;
    const rows = shown.map((line) => {
      const gap = line > previous + 1 ? '<span class="gap">…</span>' : '';
      previous = line;
      const share = shares.get(line);
      const percent = share === undefined ? '' : `${Math.round(share * 100)} %`;
      const note = noted.flatMap((metric) => {
        const own = bounds[metric].lines?.find((one) => one.location.file === file && one.location.line === line);
        return own && own.bound !== '0' ? [`${metric} ${own.bound}${own.reason === undefined ? '' : ` (${own.reason})`}`] : [];
      });
      const title = note.length === 0 ? '' : ` title="${escapeHtml(note.join('; '))}"`;
      const heat = share === undefined ? '' : ` class="h${Math.min(9, Math.floor(share * 10))}"`;
      return `${gap}<span${heat}${title}><span class="n">${String(line).padStart(width)} ${percent.padStart(5)}</span><span>${escapeHtml(text[line - 1]!.replaceAll('\t', '    '))}</span></span>`;
    });
    return [
      `<details><summary>work of a warp by line of <code>${escapeHtml(file)}</code></summary><pre class="code heat">${rows.join('')}</pre></details>`,
    ];
  });
}

function valueOf({ bound, value }: LineCost): number {
  if (value !== null) return value;
  const parsed = parseBound(bound);
  const known = 'expression' in parsed ? evaluate(parsed.expression, () => size) : null;
  return known ? Number(known.top) / Number(known.bottom) : 0;
}
