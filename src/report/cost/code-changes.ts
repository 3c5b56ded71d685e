/** Renders changes in the SASS of kernels by source line: as Markdown, as HTML, and for a terminal. */
import type { CodeLineChange, CodeLinesOfKernel } from '../../report-model/comparison-code.ts';
import type { Comparison } from '../../report-model/report.ts';
import { count } from '../../messages/text/code-text.ts';
import { place } from '../../messages/text/place.ts';
import { escapeHtml } from '../markup/html-text.ts';
import { codeSpan, details, escapeText, fencedBlock, oneLine, tableCode } from '../markup/inert-markdown.ts';
import type { Paint } from '../markup/paint.ts';
import { writtenLine, type SourceOf } from './written-line.ts';

type CodeOfComparison = Pick<Comparison, 'code' | 'codeLines'>;

/** Maximum number of listed sentences. */
const maxSentences = 30;
/** Maximum number of rows per kernel in a terminal without `--verbose`. */
const maxRows = 8;

/** One row of a table: line, kind of work, amounts before and after. */
interface Row {
  readonly line: string;
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

/** Instructions of lines first, then the kinds of work whose amount changed. */
function rowsOf({ lines }: CodeLinesOfKernel): Row[] {
  return lines.flatMap((change) => {
    const { instructions, work } = change;
    const line = lineName(change);
    const all = [...(instructions[0] === instructions[1] ? [] : [['instructions', instructions] as const]), ...Object.entries(work)];
    return all.map(([what, [before, after]]) => ({
      line,
      what: oneLine(what),
      before: String(before),
      after: String(after),
    }));
  });
}

function lineName({ location, was }: CodeLineChange): string {
  if (location) return place({ file: location.file, line: location.line });
  return was ? `${place({ file: was.file, line: was.line })} of the base` : 'no line';
}

/** Changed instructions with `-` and `+`, below their source lines. */
function diffText({ lines }: CodeLinesOfKernel, source: SourceOf): string {
  const heading = (change: CodeLineChange): string => {
    const text = change.location ? writtenLine(source, change.location) : '';
    return `@@ ${oneLine(lineName(change))} @@${text === '' ? '' : ` ${text}`}`;
  };
  return lines.map((change) => [heading(change), ...change.diff.map(oneLine)].join('\n')).join('\n');
}

/**
 * Sentences, then a table and the instructions of each kernel, folded.
 * @param budget maximum number of UTF-16 units; kernels that do not fit are only counted
 * @returns empty if no code changed
 */
export function codeChangesMarkdown({ code = [], codeLines = [] }: CodeOfComparison, budget: number, source: SourceOf): string {
  if (code.length === 0) return '';
  const sentences = code.slice(0, maxSentences).map(({ kernel, message }) => `- ${codeSpan(kernel)}: ${escapeText(message)}`);
  if (code.length > maxSentences) sentences.push(`- and ${code.length - maxSentences} more, which the report has`);
  const parts = [sentences.join('\n')];
  let left = budget - parts[0]!.length;
  let omitted = 0;
  for (const kernel of codeLines) {
    const part = kernelMarkdown(kernel, source);
    if (part.length > left) omitted += 1;
    else parts.push(part);
    left -= part.length > left ? 0 : part.length;
  }
  if (omitted > 0) parts.push(`The report has the lines of ${count(omitted, 'more kernel')}.`);
  return parts.join('\n\n');
}

function kernelMarkdown(changed: CodeLinesOfKernel, source: SourceOf): string {
  const rows = rowsOf(changed).map(
    ({ line, what, before, after }) => `| ${tableCode(line)} | ${escapeText(what)} | ${before} | ${after} |`,
  );
  const table = ['| line | machine code | before | after |', '|---|---|---:|---:|', ...rows].join('\n');
  const lines = [...(rows.length > 0 ? [table] : []), fencedBlock(diffText(changed, source), 'diff'), ...moreLines(changed)];
  return `${codeSpan(changed.kernel)}\n\n${details('The lines that changed, and their instructions', lines.join('\n\n'))}`;
}

function moreLines({ more = 0 }: CodeLinesOfKernel): string[] {
  return more === 0 ? [] : [`The code of ${count(more, 'more line')} changed.`];
}

/** Sentences, then a table and the instructions of each kernel, folded; empty if no code changed. */
export function codeChangesHtml({ code = [], codeLines = [] }: CodeOfComparison, source: SourceOf): string {
  if (code.length === 0) return '';
  const sentences = code.map(({ kernel, message }) => `<li><code>${escapeHtml(kernel)}</code>: ${escapeHtml(message)}</li>`);
  const kernels = codeLines.map((changed) => {
    const rows = rowsOf(changed).map(
      ({ line, what, before, after }) =>
        `<tr><td>${escapeHtml(line)}</td><td>${escapeHtml(what)}</td><td>${before}</td><td>${after}</td></tr>`,
    );
    const table = `<table><thead><tr><th>line</th><th>machine code</th><th>before</th><th>after</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
    const rest = moreLines(changed).map((text) => `<p class="dim">${text}</p>`);
    return `<details><summary>Lines of <code>${escapeHtml(changed.kernel)}</code></summary>${rows.length > 0 ? table : ''}<pre>${escapeHtml(diffText(changed, source))}</pre>${rest.join('')}</details>`;
  });
  return `<h2 id="code">Machine code that changed</h2><ul>${sentences.join('')}</ul>${kernels.join('\n')}`;
}

/** Sentences on each kernel, then its table. With `verbose`, the table is complete and instructions are listed. */
export function codeChangesPretty(
  { code = [], codeLines = [] }: CodeOfComparison,
  verbose: boolean,
  paint: Paint,
  source: SourceOf,
): string[] {
  const byKernel = new Map(codeLines.map((changed) => [changed.kernel, changed]));
  return code.flatMap(({ kernel, message }, at) => {
    const sentence = `${paint('cyan', 'code')}: ${kernel}: ${message}`;
    const changed = code[at + 1]?.kernel === kernel ? undefined : byKernel.get(kernel);
    return [sentence, ...(changed ? tableLines(changed, verbose, paint, source) : [])];
  });
}

function tableLines(changed: CodeLinesOfKernel, verbose: boolean, paint: Paint, source: SourceOf): string[] {
  const rows = rowsOf(changed);
  const shown = verbose ? rows : rows.slice(0, maxRows);
  const width = (of: (row: Row) => string): number => Math.max(0, ...shown.map((row) => of(row).length));
  const [line, what, before] = [width((row) => row.line), width((row) => row.what), width((row) => row.before)];
  const told = shown.map((row) => `  ${row.line.padEnd(line)}  ${row.what.padEnd(what)}  ${row.before.padStart(before)} → ${row.after}`);
  if (verbose) {
    const diff = diffText(changed, source)
      .split('\n')
      .map((text) => `  ${text}`);
    return [...told, ...diff.map(painted(paint)), ...moreLines(changed).map((text) => paint('dim', `  ${text}`))];
  }
  const left = rows.length - shown.length;
  return [
    ...told,
    paint('dim', left > 0 ? `  ${count(left, 'more row')}, and the instructions, with --verbose` : '  the instructions with --verbose'),
  ];
}

function painted(paint: Paint): (text: string) => string {
  return (text) => (text.startsWith('  +') ? paint('green', text) : text.startsWith('  -') ? paint('red', text) : paint('dim', text));
}
