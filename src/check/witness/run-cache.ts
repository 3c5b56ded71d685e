/**
 * Cached results of runs. Launches of one kernel that differ only in their constraints often lead to identical runs,
 * and runs are deterministic.
 */
import type { RunResult } from '../../interpreter/core/run-result.ts';
import { type Launch, clusterOf } from '../../launch/launch.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { RunRequest } from '../../interpreter/core/run-request.ts';
import type { Steps } from '../../base/coroutine.ts';
import { type Scenario, replay, offsetInArray } from './replay.ts';

/** The result of a run without its memory. */
type CachedRun = Omit<RunResult, 'mayMissRaces' | 'read' | 'readBytes' | 'shadow' | 'stopped'>;

/** A criterion that ends a run early. `of` identifies the criterion completely. */
export type RunUntil = Pick<RunRequest, 'watch'> & { readonly of: unknown };

/** Cached results by kernel, then by key of the run, the oldest first. */
const runs = new WeakMap<Kernel, Map<string, { readonly run: CachedRun; readonly budget: number }>>();

/** Limit on the cached runs of a kernel. */
const maxKept = 64;

/** Executes a launch, unless its result is cached. @param key of {@link runKey} */
export function* replayOnce(request: RunRequest, key: string): Steps<CachedRun> {
  const { kernel, steps } = request;
  return cachedRun(kernel, key, steps) ?? cacheRun(kernel, key, steps, yield* replay(request));
}

/**
 * The cached result of a run with a budget of instructions; undefined if none exists. A run that ended within its
 * budget has the same result under a larger one, but not necessarily under a smaller one, since pages of memory count
 * against the budget, too.
 */
export function cachedRun(kernel: Kernel, key: string, budget: number): CachedRun | undefined {
  const kept = runs.get(kernel)?.get(key);
  if (!kept) return undefined;
  const isWithin = budget > kept.budget && kept.run.steps < kept.budget && kept.run.outcome !== 'budget';
  return isWithin || kept.budget === budget ? kept.run : undefined;
}

/** Caches the result of a run with a budget of instructions. */
export function cacheRun(kernel: Kernel, key: string, budget: number, result: RunResult): CachedRun {
  const { outcome, steps, races, divergences, faults, undefinedReads, havocs, brokenAssumptions } = result;
  const run: CachedRun = { outcome, steps, races, divergences, faults, undefinedReads, havocs, brokenAssumptions };
  const known = runs.get(kernel) ?? new Map<string, { readonly run: CachedRun; readonly budget: number }>();
  const [oldest] = known.keys();
  if (known.size >= maxKept && oldest !== undefined) known.delete(oldest);
  runs.set(kernel, known.set(key, { run, budget }));
  return run;
}

/**
 * Key of a run of a kernel: all of its inputs except for the budget.
 * @param others inputs other than scenario and launch: the policy, the events that are searched for
 */
export function runKey(
  kernel: Kernel,
  parameters: readonly ParameterSource[],
  fields: readonly ParameterField[],
  launch: Launch,
  scenario: Scenario,
  others: readonly unknown[],
): string {
  const { block, grid, sharedBytes, blocks, order, contents, settled, extents, scalar } = scenario;
  const { samePointers, distances } = launch;
  const scalars = fields.flatMap((field) => (field.isPointer ? [] : [String(scalar(field))]));
  const types = parameters.map(({ type, fields: own }) => [type, own]);
  const starts = distances?.map(([from, to]) => [
    from,
    to,
    offsetInArray(kernel, parameters, fields, launch, scenario, { index: to, offset: 0 }),
  ]);
  const memory = [contents, [...settled], [...(extents ?? [])], samePointers, starts];
  return JSON.stringify([block, grid, sharedBytes, blocks, order, scalars, types, memory, clusterOf(launch, kernel), others]);
}
