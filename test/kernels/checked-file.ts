/** Checks a file of test kernels once, for every test that examines the results. */
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { CheckRequest, CheckResult } from '../../src/check/request/check-request.ts';
import type { Report } from '../../src/report-model/report.ts';
import { sharedSolver } from '../check/kernel-text.ts';
import { analyseCheckedIn, type CheckedInOptions } from './checked-in.ts';

/** One kernel under one launch. */
export interface Checked {
  readonly request: CheckRequest;
  readonly result: CheckResult;
}

export interface CheckedFile {
  readonly report: Report;
  /** Inputs of the report. */
  readonly checks: readonly Checked[];
}

/** Analyses a file as {@link analyseCheckedIn} does, in this thread, and records each check. */
export async function checkFile(file: string, options: Omit<CheckedInOptions, 'check'> = {}): Promise<CheckedFile> {
  const checks: Checked[] = [];
  const report = await analyseCheckedIn(file, {
    ...options,
    check: async (original) => {
      const request = { ...original, solver: sharedSolver };
      const result = await checkKernel(request);
      checks.push({ request, result });
      return result;
    },
  });
  return { report, checks };
}
