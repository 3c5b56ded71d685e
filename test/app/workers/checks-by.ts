import { settled } from '../../../src/base/coroutine.ts';
import type { CheckRequest, CheckResult } from '../../../src/check/request/check-request.ts';
import type { Tools } from '../../../src/app/project/job.ts';
import { type CheckSettings, openChecks } from '../../../src/app/workers/check-pool.ts';

export type CheckFunction = (request: CheckRequest) => Promise<CheckResult>;

/**
 * Executors of checks with the settings of a test.
 * @param check - replaces the real one, in this thread
 * @param places - where and how long kernels are checked
 */
export function checksBy(check?: CheckFunction, places: Pick<CheckSettings, 'limits' | 'entry'> = {}): Tools['openChecks'] {
  return ({ solver, jobs, timeout }) =>
    openChecks({
      solver,
      jobs,
      timeout,
      searchPath: process.env['PATH'],
      ...(check && { check: (request: CheckRequest) => settled(() => check(request)) }),
      ...places,
    });
}
