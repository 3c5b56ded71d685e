/**
 * Whether an undefined value of a shuffle has an effect: two runs that differ only in that value differ in the memory that
 * they leave, or in the paths of threads.
 */
import { settled, type Steps } from '../../base/coroutine.ts';
import type { UndefinedRead } from '../../interpreter/core/run-result.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { undefinedRuns } from '../request/check-budget.ts';
import { type Scenario, type Shown, replayRequest } from './replay.ts';

/** What an undefined value reaches: a named array, or the path of a thread. */
export type UndefinedUse = { readonly kind: 'memory'; readonly array: string } | { readonly kind: 'path' };

/** What an undefined value reaches in the run that showed it; null if no effect was seen. */
export function* useOfUndefined(
  { request, kernel, fields }: KernelAndLaunch,
  { event, scenario }: Shown<UndefinedRead>,
): Steps<UndefinedUse | null> {
  const { runOn } = yield* settled(() => import('../../interpreter/javascript/staged-run.ts'));
  const { copyMemory, firstDifference, initialMemory } = yield* settled(() => import('../../interpreter/javascript/memory-image.ts'));
  const [x, y] = scenario.grid;
  const [i, j, k] = event.block;
  const steps = Math.min(undefinedRuns.mostSteps, request.budget.replaySteps);
  // Other blocks have no effect on most blocks, and make the run longer.
  for (const blocks of [[i + x * (j + y * k)], scenario.blocks]) {
    const single: Scenario = { ...scenario, blocks };
    const asked = replayRequest(kernel, request.parameters, fields, request.launch, single, steps, request.policy.warpLockstep);
    const plain = { ...asked, detectRaces: false };
    const start = initialMemory(plain);
    const memory = copyMemory(start);
    const first = runOn(plain, memory);
    if (first.outcome !== 'finished' && first.outcome !== 'budget') continue;
    for (let seed = 1; seed <= undefinedRuns.values; seed++) {
      const other = copyMemory(start);
      const second = runOn({ ...plain, undefinedValue: { instruction: event.instruction, seed } }, other);
      if (second.outcome !== first.outcome || second.steps !== first.steps) return { kind: 'path' };
      const difference = firstDifference(memory, other);
      if (difference) return { kind: 'memory', array: difference.name };
    }
    return null;
  }
  return null;
}
