/** Confirms that a kernel is not idempotent by a launch, at sizes as programs use them, whose re-execution differs. */
import type { KernelAndLaunch, SymbolicFacts } from '../../check/context/facts.ts';
import { representativeLaunches, type LaunchInstance } from '../../check/representative/representative-launches.ts';
import { describeWitness, replayRequest } from '../../check/witness/replay.ts';
import { randomScenario } from '../../check/witness/random-scenario.ts';
import type { Witness } from '../../verdict/finding.ts';
import { type Reexecution, type RunDifference, reexecute } from './reexecute.ts';

/** A launch that may not be run again. */
export interface NonIdempotencyWitness {
  readonly witness: Witness;
  readonly difference: RunDifference;
}

/** Budget of a search. */
interface ConfirmationBudget {
  /** Thread-instructions of one run. */
  readonly steps: number;
  /** Launches that are run. */
  readonly launches: number;
}

const usualConfirmation: ConfirmationBudget = { steps: 200_000, launches: 6 };

/** Number of steps at which each schedule is stopped: most differences appear once a launch has ended. */
const stops = 6;
/** Maximum number of blocks that are executed of a larger grid. */
const maxBlocks = 16;
/** Number of blocks that are executed if all of them exceed the budget. */
const fewBlocks = 2;
/** Number of samples of array contents for each setting. */
const draws = 2;

/**
 * Searches representative settings, small ones first, for a launch that is not idempotent: its re-execution leaves
 * other memory than one run, or another schedule of its threads leaves other memory. Its arrays are disjoint.
 * Differences that depend on values invented for unknown ones do not count.
 * @param context of the production build, as `kernelContext` makes it
 */
export function confirmNonIdempotent(
  context: KernelAndLaunch & SymbolicFacts,
  budget: ConfirmationBudget = usualConfirmation,
): NonIdempotencyWitness | null {
  let left = budget.launches;
  for (const setting of representativeLaunches(context)) {
    for (let draw = 0; draw < draws; draw++) {
      if (left-- <= 0) return null;
      const found = refuted(context, setting, draw, budget.steps);
      if (found) return found;
    }
  }
  return null;
}

/**
 * Confirms a kernel that is only known to have races in some launches. Launches with other block shapes may have none,
 * so each of the large settings must show a difference.
 */
export function confirmUnordered(
  context: KernelAndLaunch & SymbolicFacts,
  budget: ConfirmationBudget = usualConfirmation,
): NonIdempotencyWitness | null {
  const all = representativeLaunches(context);
  const large = all.filter(({ isLarge }) => isLarge);
  const settings = (large.length > 0 ? large : all).slice(0, Math.ceil(budget.launches / draws));
  const found: NonIdempotencyWitness[] = [];
  for (const setting of settings) {
    const ofSetting = refuted(context, setting, 0, budget.steps) ?? refuted(context, setting, 1, budget.steps);
    if (ofSetting?.difference.kind !== 'schedule') return null;
    found.push(ofSetting);
  }
  return found[0] ?? null;
}

/** A witness at a setting, if re-execution shows that the launch is not idempotent. */
function refuted(
  context: KernelAndLaunch & SymbolicFacts,
  setting: LaunchInstance,
  draw: number,
  steps: number,
): NonIdempotencyWitness | null {
  const { kernel, request, fields } = context;
  const { launch, parameters, name } = request;
  const blocks = setting.grid[0] * setting.grid[1] * setting.grid[2];
  for (const most of [maxBlocks, fewBlocks]) {
    const scenario = randomScenario(context, setting, draw, [...Array(Math.min(blocks, most)).keys()]);
    const asked = replayRequest(kernel, parameters, fields, launch, scenario, steps, false);
    const result = reexecute({ ...asked, stops, seed: draw });
    const difference = telling(result);
    if (difference) return { witness: describeWitness(kernel, name, parameters, fields, launch, scenario), difference };
    if (result.idempotent !== 'undetermined' || result.why !== 'budget' || blocks <= fewBlocks) return null;
  }
  return null;
}

function telling(result: Reexecution): RunDifference | null {
  if (result.idempotent !== false || result.hasUnknownValues) return null;
  const { difference } = result;
  // A difference due to the contents of uninitialised shared memory may exist only in the interpreter.
  if (difference.kind === 'schedule' && !difference.isOfOrder) return null;
  return difference.kind === 'outcome' && difference.outcome !== 'stuck' ? null : difference;
}
