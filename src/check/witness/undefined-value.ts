/**
 * Whether an undefined value has an effect, that of a shuffle or the contents of shared memory that no thread has written: two runs
 * that differ only in that value differ in the memory that they leave, or in the paths of threads.
 */
import { settled, type Steps } from '../../base/coroutine.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { RunRequest } from '../../interpreter/core/run-request.ts';
import type { FaultEvent, UndefinedRead } from '../../interpreter/core/run-result.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { undefinedRuns } from '../request/check-budget.ts';
import { fieldName } from '../../launch/parameter-field.ts';
import { type Scenario, type Shown, replayRequest } from './replay.ts';

/** What an undefined value reaches: a named array, or the path of a thread. */
export type UndefinedUse = { readonly kind: 'memory'; readonly array: string } | { readonly kind: 'path' };

/** What an undefined value reaches in the run that showed it; null if no effect was seen. */
export function useOfUndefined(facts: KernelAndLaunch, { event, scenario }: Shown<UndefinedRead>): Steps<UndefinedUse | null> {
  return useOfValue(facts, event.block, scenario, (seed) => ({ undefinedValue: { instruction: event.instruction, seed } }));
}

/** What the contents of shared memory before the kernel reach in a run that read them; null if no effect was seen. */
export function useOfContents(facts: KernelAndLaunch, { event, scenario }: Shown<FaultEvent>): Steps<UndefinedUse | null> {
  return useOfValue(facts, event.block, scenario, (contentsSeed) => ({ contentsSeed }));
}

function* useOfValue(
  facts: KernelAndLaunch,
  block: Dim3,
  scenario: Scenario,
  changed: (seed: number) => Partial<RunRequest>,
): Steps<UndefinedUse | null> {
  const { request, kernel, fields } = facts;
  const { runOn } = yield* settled(() => import('../../interpreter/javascript/staged-run.ts'));
  const { copyMemory, firstDifference, initialMemory } = yield* settled(() => import('../../interpreter/javascript/memory-image.ts'));
  const [x, y] = scenario.grid;
  const [i, j, k] = block;
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
      const second = runOn({ ...plain, ...changed(seed) }, other);
      if (second.outcome !== first.outcome || second.steps !== first.steps) return { kind: 'path' };
      const difference = firstDifference(memory, other);
      if (difference) return { kind: 'memory', array: arrayName(facts, difference.name) };
    }
    return null;
  }
  return null;
}

/** Name of an array of a run: of a parameter, `INDEX.OFFSET`, or of a variable. */
function arrayName({ request, fields, kernel }: KernelAndLaunch, name: string): string {
  const [index, offset] = name.split('.').map(Number);
  const field = fields.find((one) => one.isPointer && one.index === index && one.offset === offset);
  return field ? fieldName(request.parameters, field, kernel) : request.objectName(name);
}
