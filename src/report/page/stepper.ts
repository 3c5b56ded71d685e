/** An interleaving as HTML: a column for each thread, steps with controls, and the values of the cells. */
import type { ReportedInterleaving, ReportedMove, ReportedStep } from '../../report-model/finding.ts';
import { stepText } from '../../messages/finding/interleaving-phrases.ts';
import { toHtml } from '../markup/code-pieces.ts';
import { escapeHtml } from '../markup/html-text.ts';

/** The run that confirmed a finding, step by step if it was recorded; otherwise all actions of its threads at once. */
export function stepper(interleaving: ReportedInterleaving): string {
  const { threads, recording = [], missing } = interleaving;
  const only = threads.length < 2 ? ' one' : '';
  const heads = threads.map(({ name }) => `<span>${escapeHtml(name)}</span>`);
  const end = missing ? `<li class="whole">${toHtml(missing.text)}</li>` : '';
  const isPlayed = recording.length > 0;
  const cells = isPlayed ? cellsOf(recording, threads) : [];
  const steps = isPlayed ? recording.map((move) => moveItem(move, cells)) : stepItems(interleaving);
  const controls = isPlayed
    ? '<div class="controls"><button type="button">‹ back</button><button type="button">next ›</button><output></output></div>'
    : '';
  const note = isPlayed
    ? '<span class="part">One run that shows it; the order of its threads is one of several.</span>'
    : '<span class="part">What the threads did in the run that shows it.</span>';
  return (
    `<div class="stepper"${isPlayed ? ' tabindex="0" role="group" aria-label="Interleaving, step by step"' : ''}>${note}${controls}` +
    `<div class="heads${only}">${heads.join('')}</div><ol class="lanes${only}">${steps.join('')}${end}</ol>${cellTable(cells)}</div>`
  );
}

function stepItems(interleaving: ReportedInterleaving): string[] {
  const item = (step: ReportedStep): string => {
    const isOfAll = step.threads.length > 1;
    const place = isOfAll ? 'whole' : `move t${step.threads[0] ?? 0}`;
    return `<li class="${place}">${toHtml(stepText(step, interleaving))}</li>`;
  };
  return interleaving.steps.map(item);
}

function moveItem({ thread, text, location, cell }: ReportedMove, cells: readonly Cell[]): string {
  const index = cells.findIndex(({ name, of }) => name === cell?.name && (of === null || of.index === thread));
  const held = cell?.value === undefined || index === -1 ? '' : ` data-of="${index}" data-value="${escapeHtml(String(cell.value))}"`;
  const place = escapeHtml(`${location.file}:${location.line}`);
  return (
    `<li class="move t${thread}${cell?.isShared ? ' shared' : ''}" data-thread="${thread}" data-at="${place}"${held}>` +
    `${toHtml(text)} <small>line ${location.line}</small></li>`
  );
}

interface Cell {
  readonly name: string;
  readonly isShared: boolean;
  readonly last: number | string | undefined;
  /** The thread that observed the value; null if the name denotes the same cell for all threads. */
  readonly of: { readonly index: number; readonly name: string } | null;
}

/** Cells whose values are known at some step. Cells that the threads share come first. */
function cellsOf(recording: readonly ReportedMove[], threads: ReportedInterleaving['threads']): Cell[] {
  const blocks = new Set(threads.map(({ block }) => block.join(',')));
  const racing = new Set(recording.flatMap(({ cell }) => (cell?.isShared ? [cell.name] : [])));
  const cells = new Map<string, Cell>();
  for (const { thread, cell } of recording) {
    if (cell?.value === undefined) continue;
    const { name, value } = cell;
    const isShared = racing.has(name);
    // Each block has a separate `__shared__` array under the same name.
    const isOwn = blocks.size > 1 && !isShared;
    const of = isOwn ? { index: thread, name: threads[thread]?.name ?? '' } : null;
    cells.set(isOwn ? `${thread} ${name}` : name, { name, isShared, last: value, of });
  }
  return [...cells.values()].sort((a, b) => Number(b.isShared) - Number(a.isShared));
}

function cellTable(cells: readonly Cell[]): string {
  if (cells.length === 0) return '';
  const rows = cells.map(({ name, isShared, last, of }, index) => {
    const who = isShared ? 'both threads' : (of?.name ?? '');
    return (
      `<tr${isShared ? ' class="shared"' : ''}><td><code>${escapeHtml(name)}</code>${who === '' ? '' : ` <small>${escapeHtml(who)}</small>`}</td>` +
      `<td data-cell="${index}">${escapeHtml(String(last ?? ''))}</td></tr>`
    );
  });
  return `<table class="cells"><caption>values that the threads have seen</caption><tbody>${rows.join('')}</tbody></table>`;
}
