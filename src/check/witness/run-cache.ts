/**
 * Cached results of runs of a kernel. Launches of one kernel that differ in their constraints often lead to the same
 * runs, and runs are deterministic.
 */
import type { RunResult } from '../../interpreter/core/run-result.ts';
import { type Launch, clusterOf } from '../../launch/launch.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { RunRequest } from '../../interpreter/core/run-request.ts';
import type { Steps } from '../../base/coroutine.ts';
import { type Scenario, replay } from './replay.ts';

/** A run without the memory that it left. */
type CachedRun = Omit<RunResult, 'read' | 'readBytes' | 'shadow' | 'stopped'>;

/** A criterion that ends a run early; `of` is its complete identity. */
export type RunUntil = Pick<RunRequest, 'watch'> & { readonly of: unknown };

/** By kernel, then by all that a run of it depends on but its budget, oldest first. */
const runs = new WeakMap<Kernel, Map<string, { readonly run: CachedRun; readonly budget: number }>>();

/** Cached runs of a kernel. */
const maxKept = 64;

/** Executes a launch, unless its result is cached. @param key of {@link runKey} */
export function* replayOnce(request: RunRequest, key: string): Steps<CachedRun> {
  const { kernel, steps } = request;
  return cachedRun(kernel, key, steps) ?? cacheRun(kernel, key, steps, yield* replay(request));
}

/**
 * The result of a run with a budget of instructions; undefined if it is not cached. A run that ended within one budget
 * is the same under a larger one. Under a smaller one it might not be: pages of memory are counted too.
 */
export function cachedRun(kernel: Kernel, key: string, budget: number): CachedRun | undefined {
  const kept = runs.get(kernel)?.get(key);
  if (!kept) return undefined;
  const isWithin = budget > kept.budget && kept.run.steps < kept.budget && kept.run.outcome !== 'budget';
  return isWithin || kept.budget === budget ? kept.run : undefined;
}

/** Caches the result of a run with a budget of instructions. */
export function cacheRun(kernel: Kernel, key: string, budget: number, result: RunResult): CachedRun {
  const { outcome, steps, races, divergences, faults, havocs, brokenAssumptions } = result;
  const run: CachedRun = { outcome, steps, races, divergences, faults, havocs, brokenAssumptions };
  const known = runs.get(kernel) ?? new Map<string, { readonly run: CachedRun; readonly budget: number }>();
  const [oldest] = known.keys();
  if (known.size >= maxKept && oldest !== undefined) known.delete(oldest);
  runs.set(kernel, known.set(key, { run, budget }));
  return run;
}

/**
 * Key of a run of a kernel: all of its inputs except for the budget.
 * @param others inputs other than scenario and launch: the policy, the searched events
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
  const memory = [contents, [...settled], [...(extents ?? [])], samePointers, distances];
  return JSON.stringify([
    block,
    grid,
    sharedBytes,
    blocks,
    order,
    scalars,
    types,
    memory,
    clusterOf(launch, kernel),
    others,
  ]);
}
