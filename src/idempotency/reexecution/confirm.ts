/** Confirms that a kernel is not idempotent: a launch, at sizes as programs use them, whose re-execution differs. */
import type { KernelAndLaunch, SymbolicFacts } from '../../check/context/facts.ts';
import { naturalSettings } from '../../check/natural/settings.ts';
import { describeWitness, replayRequest } from '../../check/witness/replay.ts';
import { randomScenario } from '../../check/witness/random-scenario.ts';
import type { Witness } from '../../verdict/finding.ts';
import { type RunDifference, reexecute } from './reexecute.ts';

/** A launch that may not be run again. */
export interface NonIdempotencyWitness {
  readonly witness: Witness;
  readonly difference: RunDifference;
}

/** What a search may take. */
interface ConfirmationBudget {
  /** Thread-instructions of one run. */
  readonly steps: number;
  /** Launches that are run. */
  readonly launches: number;
}

const usualConfirmation: ConfirmationBudget = { steps: 200_000, launches: 6 };

/** Stops of each schedule: most differences show once a launch has ended. */
const stops = 6;
/** Blocks that are run of a grid that has more. */
const mostBlocks = 16;
/** Draws of contents that each setting is tried with. */
const draws = 2;

/**
 * Searches natural settings, small ones first, for a launch whose re-execution leaves other memory than one run. Its
 * arrays are apart from each other. What rests on values that runs make up does not count.
 * @param context of the production build, as `kernelContext` makes it
 */
export function confirmNonIdempotent(
  context: KernelAndLaunch & SymbolicFacts,
  budget: ConfirmationBudget = usualConfirmation,
): NonIdempotencyWitness | null {
  const { kernel, request, fields } = context;
  const { launch, parameters, name } = request;
  let left = budget.launches;
  for (const setting of naturalSettings(context)) {
    for (let draw = 0; draw < draws; draw++) {
      if (left-- <= 0) return null;
      const count = Math.min(setting.grid[0] * setting.grid[1] * setting.grid[2], mostBlocks);
      const scenario = randomScenario(context, setting, draw, [...Array(count).keys()]);
      const asked = replayRequest(kernel, parameters, fields, launch, scenario, budget.steps, false);
      const result = reexecute({ ...asked, stops, seed: draw });
      if (result.idempotent !== false || result.hasUnknownValues) continue;
      const { difference } = result;
      // What races or reads shared memory that nobody wrote may do so at this block alone.
      if (difference.kind === 'schedule') continue;
      if (difference.kind === 'outcome' && difference.outcome !== 'stuck') continue;
      return { witness: describeWitness(kernel, name, parameters, fields, launch, scenario), difference };
    }
  }
  return null;
}
