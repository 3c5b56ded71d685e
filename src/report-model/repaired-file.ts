/** Texts of the files of a report after its repairs. */
import { grouped } from '../base/grouped.ts';
import { structuredPatch } from 'diff';
import { lineStartsOf } from '../cuda/syntax/syntax-tree.ts';
import { type TextEdit, applyEdits } from '../source/text-edit.ts';
import type { KernelReport, RepairEdit } from './report.ts';

/** Edits of one file in the order of its lines. An edit that several kernels share appears once. */
function distinctEdits(edits: readonly RepairEdit[]): RepairEdit[] {
  const own = new Map(edits.map((edit) => [JSON.stringify([edit.startLine, edit.endLine, edit.replacement]), edit]));
  return [...own.values()].sort((a, b) => a.startLine - b.startLine || a.endLine - b.endLine);
}

/** The edits of repairs by file. Edits that instances of a kernel share appear once. */
export function editsByFile(repairs: readonly (readonly RepairEdit[])[]): Map<string, RepairEdit[]> {
  return new Map([...grouped(repairs.flat(), ({ file }) => file)].map(([file, edits]) => [file, distinctEdits(edits)]));
}

/** Applies edits that replace whole lines. */
export function applyLineEdits(text: string, edits: readonly RepairEdit[]): string {
  const starts = lineStartsOf(text);
  const offset = (line: number): number => starts[line - 1] ?? text.length;
  const ordered = edits.map(({ startLine, endLine, replacement }): TextEdit => ({
    start: offset(startLine),
    end: offset(endLine + 1),
    text: replacement,
  }));
  return applyEdits(text, ordered);
}

/** File and new text of every readable file that repairs change. */
export function repairedFiles(kernels: readonly KernelReport[], source: (file: string) => string | undefined): Map<string, string> {
  const files = new Map<string, string>();
  for (const [file, edits] of editsByFile(kernels.map(({ repair }) => repair.edits ?? []))) {
    const text = source(file);
    if (text !== undefined) files.set(file, applyLineEdits(text, edits));
  }
  return files;
}

/** The lines in which two texts differ. */
export function lineEdits(before: string, after: string): Omit<RepairEdit, 'file'>[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 0 });
  return hunks.map(({ oldStart: startLine, oldLines, lines }) => {
    const added = lines.flatMap((line, index) =>
      line.startsWith('+') ? [`${line.slice(1)}${lines[index + 1]?.startsWith('\\') === true ? '' : '\n'}`] : [],
    );
    return { startLine, endLine: startLine + oldLines - 1, replacement: added.join('') };
  });
}
