/**
 * What runs of a kernel have shown. Launches of one kernel that differ in what ties their arguments often come to the same
 * runs, and a run gives the same each time.
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

/** What ends a run before its time; `of` is all that this depends on. */
export type RunUntil = Pick<RunRequest, 'watch'> & { readonly of: unknown };

/** By kernel, then by all that a run of it depends on but its budget, oldest first. */
const runs = new WeakMap<Kernel, Map<string, { readonly run: CachedRun; readonly budget: number }>>();

/** Runs that are kept of a kernel. */
const maxKept = 64;

/** Runs a launch, unless it is known what that shows. @param key of {@link runKey} */
export function* replayOnce(request: RunRequest, key: string): Steps<CachedRun> {
  const { kernel, steps } = request;
  return cachedRun(kernel, key, steps) ?? cacheRun(kernel, key, steps, yield* replay(request));
}

/**
 * What a run would show that may execute so many instructions; undefined where that is not known. What ended within one
 * budget is the same under a larger one. Under a smaller one it might not be: pages of memory are counted too.
 */
export function cachedRun(kernel: Kernel, key: string, budget: number): CachedRun | undefined {
  const kept = runs.get(kernel)?.get(key);
  if (!kept) return undefined;
  const isWithin = budget > kept.budget && kept.run.steps < kept.budget && kept.run.outcome !== 'budget';
  return isWithin || kept.budget === budget ? kept.run : undefined;
}

/** Keeps what a run has shown that might have executed so many instructions. */
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
 * Names all that a run of a kernel depends on but its budget.
 * @param others what it depends on besides scenario and launch: its policy, what it looks for
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
