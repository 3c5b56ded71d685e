/** Time of each file of tests: the slowest are reported and, in the next run, started first. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Files that are named. */
const named = 20;

/**
 * Seconds of the files that take longest, of a run from an empty cache folder: for a machine without a run before. All
 * others take less.
 */
const usual: Readonly<Record<string, number>> = {
  'test/repair/repair.test.ts': 120,
  'test/kernels/verdict.test.ts': 77,
  'test/app/commands/cli.test.ts': 50,
  'test/cost/compare.test.ts': 40,
  'test/e2e/action.test.ts': 40,
  'test/fuzz/soundness.test.ts': 40,
  'test/interpreter/core/back-ends.test.ts': 40,
  'test/verdicts/verdicts.test.ts': 40,
  'test/interpreter/kernels.test.ts': 36,
  'test/app/commands/cost.test.ts': 35,
  'test/toolchain/compile.test.ts': 35,
  'test/repair/mutants.test.ts': 30,
  'test/repair/suggestions.test.ts': 30,
  'test/app/compare/review-range.test.ts': 30,
  'test/cost/drawn-runs.test.ts': 26,
  'test/cost/paper.test.ts': 26,
  'test/e2e/bundle.test.ts': 26,
  'test/checks.test.ts': 24,
  'test/check/async-copy.test.ts': 20,
  'test/interpreter/webassembly/code/domains.test.ts': 18,
};

/** The seconds that each file took when it last ran; none where no run has been. */
function readSeconds(path: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}

/**
 * The seconds that files took when they last ran, or take usually.
 * @param path - the file that {@link keepSeconds} writes
 */
export function knownSeconds(path: string): Readonly<Record<string, number>> {
  return { ...usual, ...readSeconds(path) };
}

/** Writes the times of the files into `path`; files that did not run this time keep their entries. */
export function keepSeconds(taken: ReadonlyMap<string, number>, path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, JSON.stringify({ ...readSeconds(path), ...Object.fromEntries(taken) }, null, 1));
}

/** The slowest files and the sum over all, so that a slow one is seen in the run that made it slow. */
export function slowestFiles(taken: ReadonlyMap<string, number>): string {
  const sorted = [...taken].sort(([, a], [, b]) => b - a);
  const sum = sorted.reduce((total, [, seconds]) => total + seconds, 0);
  const lines = sorted.slice(0, named).map(([file, seconds]) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}\n`);
  return `${sorted.length} files took ${sum.toFixed(0)} file-seconds; the slowest:\n${lines.join('')}`;
}
