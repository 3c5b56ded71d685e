import type { Dim3 } from '../base/dim3.ts';
/** Threads of a launch that a trace shows. */

/** Threads of a block, or blocks of a grid, selected by linear index or by position. */
type Selection =
  | { readonly kind: 'all' }
  | { readonly kind: 'range'; readonly first: number; readonly last: number }
  | { readonly kind: 'position'; readonly at: Dim3 };

export interface ThreadSelection {
  readonly thread: Selection;
  readonly block: Selection;
}

/**
 * Parses `THREAD[,BLOCK]`, each an index, a range `0-31`, a position `3:1:0` or `*`; block 0 by default.
 * @returns the selection, or the problem as the end of a sentence
 */
export function parseThreads(text: string): ThreadSelection | { readonly problem: string } {
  const parts = text.split(',').map((part) => part.trim());
  const [thread, block] = [parseSelection(parts[0] ?? ''), parseSelection(parts[1] ?? '0')];
  if (parts.length > 2 || !thread || !block) {
    const form = 'write THREAD or THREAD,BLOCK, each a number, a range 0-31, a position 3:1:0 or *';
    return { problem: `does not name threads; ${form}` };
  }
  return { thread, block };
}

function parseSelection(text: string): Selection | undefined {
  if (text === '*') return { kind: 'all' };
  if (/^\d{1,10}(?:-\d{1,10})?$/.test(text)) {
    const [first = 0, last = first] = text.split('-').map(Number);
    return { kind: 'range', first, last };
  }
  if (!/^\d{1,10}:\d{1,10}(?::\d{1,10})?$/.test(text)) return undefined;
  const [x = 0, y = 0, z = 0] = text.split(':').map(Number);
  return { kind: 'position', at: [x, y, z] };
}

/**
 * Whether a thread is selected.
 * @param thread its position in the block, of extents `block`
 * @param home the position of the block in the grid, of extents `grid`
 */
export function isSelected(selections: readonly ThreadSelection[], thread: Dim3, block: Dim3, home: Dim3, grid: Dim3): boolean {
  return selections.some((one) => contains(one.thread, thread, block) && contains(one.block, home, grid));
}

function contains(selection: Selection, at: Dim3, extents: Dim3): boolean {
  if (selection.kind === 'all') return true;
  if (selection.kind === 'position') return selection.at.every((coordinate, axis) => coordinate === at[axis]);
  const number = at[0] + extents[0] * (at[1] + extents[1] * at[2]);
  return selection.first <= number && number <= selection.last;
}
