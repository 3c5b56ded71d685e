/** Confirms that a kernel is not idempotent: a launch, at sizes as programs use them, whose re-execution differs. */
import type { KernelAndLaunch, SymbolicFacts } from '../../check/context/facts.ts';
import { drawnContents } from '../../check/natural/contents.ts';
import { type Setting, naturalSettings } from '../../check/natural/settings.ts';
import { type Contents, type Scenario, describeWitness, replayRequest } from '../../check/witness/replay.ts';
import { elementRanges, settledElements, synchronisingArrays } from '../../check/witness/scenarios.ts';
import { sharedBytesWithoutOptIn } from '../../device/hardware-limits.ts';
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
      const scenario = scenarioOf(context, setting, draw);
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

function scenarioOf(context: KernelAndLaunch & SymbolicFacts, setting: Setting, draw: number): Scenario {
  const { block, grid, scalar } = setting;
  const zeroed = synchronisingArrays(context);
  // Equal values everywhere would hide what a kernel does to them.
  const contents: Contents = `random ${draw + 1}`;
  const drawn = [...drawnContents(context, setting, draw)].filter(([array]) => !zeroed.has(array));
  const isDynamic = context.kernel.objects.some(({ space, bytes }) => space === 'shared' && bytes === null);
  const count = Math.min(grid[0] * grid[1] * grid[2], mostBlocks);
  return {
    block,
    grid,
    sharedBytes: context.request.launch.sharedBytes ?? (isDynamic ? sharedBytesWithoutOptIn : 0),
    scalar,
    blocks: Array.from({ length: count }, (_, number) => number),
    contents,
    settled: new Map<string, Contents>([...drawn, ...settledElements(elementRanges(context), contents, zeroed)]),
    extents: context.extents,
  };
}
