/** The repairs of a report as a patch for `git apply`. */
import { createTwoFilesPatch } from 'diff';
import { repairedFiles } from '../report-model/repaired-file.ts';
import type { Report } from '../report-model/report.ts';

/** A unified diff with paths from the root of the repository; empty without repairs. */
export function renderPatch({ kernels }: Report, source: (file: string) => string | undefined): string {
  const patches = [...repairedFiles(kernels, source)].map(([file, text]) =>
    createTwoFilesPatch(`a/${file}`, `b/${file}`, source(file)!, text, undefined, undefined, { context: 3 }).replace(
      /^=+\n/,
      `diff --git a/${file} b/${file}\n`,
    ),
  );
  return patches.join('');
}
