/** Lines of source and of patches as HTML. Long lines wrap, so that nothing scrolls horizontally. */
import { grouped } from '../../base/grouped.ts';
import { type Mark, markedLine } from '../../messages/phrases.ts';
import { escapeHtml } from '../markup/html-text.ts';

/** Number of lines shown before and after each line of a finding. */
const context = 4;

/**
 * The lines of a file around marks, with a note under each marked line.
 * @param lines of the file
 * @param also further lines that are shown, without a mark
 */
export function sourceLines(lines: readonly string[], file: string, marks: readonly Mark[], also: ReadonlySet<number>): string {
  const byLine = grouped(marks, ({ location }) => (location?.file === file ? location.line : undefined));
  const shown = new Set([...also].filter((line) => line >= 1 && line <= lines.length));
  for (const line of byLine.keys()) {
    for (let near = line - context; near <= line + context; near++) if (near >= 1 && near <= lines.length) shown.add(near);
  }
  const width = String(Math.max(...shown, 1)).length;
  let previous = 0;
  const rows: string[] = [];
  for (const number of [...shown].sort((a, b) => a - b)) {
    if (previous !== 0 && number > previous + 1) rows.push('<span class="gap">…</span>');
    previous = number;
    const marked = byLine.get(number) ?? [];
    const kind = marked.length > 0 ? ' class="hit"' : '';
    const gutter = `<span class="n">${String(number).padStart(width)}</span>`;
    rows.push(
      `<span${kind} data-line="${escapeHtml(`${file}:${number}`)}">${gutter}<span>${marksIn(lines[number - 1] ?? '', marked)}</span></span>`,
    );
    for (const note of new Set(marked.map(({ text }) => text))) rows.push(`<span class="note"><span>${escapeHtml(note)}</span></span>`);
  }
  return `<pre class="code">${rows.join('')}</pre>`;
}

/** A line with its marked ranges underlined; marks that overlap an earlier one are left out. */
function marksIn(line: string, marks: readonly Mark[]): string {
  const { text } = markedLine(line, { text: '' });
  const spans = marks
    .flatMap((mark) => {
      const { column, width } = markedLine(line, mark);
      return mark.expression === undefined || width <= 1 ? [] : [{ column, width }];
    })
    .sort((a, b) => a.column - b.column);
  let at = 0;
  let html = '';
  for (const { column, width } of spans) {
    if (column < at) continue;
    html += `${escapeHtml(text.slice(at, column))}<mark>${escapeHtml(text.slice(column, column + width))}</mark>`;
    at = column + width;
  }
  return html + escapeHtml(text.slice(at));
}

/** A patch, with added and removed lines marked. */
export function patchLines(patch: string): string {
  const kinds: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'head' };
  const rows = patch
    .trimEnd()
    .split('\n')
    .map((line) => {
      const isHead = /^(?:diff |--- |\+\+\+ |\\)/.test(line);
      const kind = isHead ? 'head' : (kinds[line.charAt(0)] ?? 'same');
      return `<span class="${kind}"><span>${escapeHtml(line.replace(/\r$/, '').replaceAll('\t', '    '))}</span></span>`;
    });
  return `<pre class="code">${rows.join('')}</pre>`;
}
