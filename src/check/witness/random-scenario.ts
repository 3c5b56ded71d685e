/** Scenarios of representative launches with random contents, for runs that do not search for races. */
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { memoryOf } from '../context/scalars.ts';
import { generatedContents } from '../representative/contents.ts';
import type { LaunchInstance } from '../representative/representative-launches.ts';
import type { Contents, Scenario } from './replay.ts';
import { elementRanges, resolvedElements } from './stated-elements.ts';
import { synchronisingArrays } from './synchronising-memory.ts';

/**
 * A run of some blocks of a launch instance. Elements differ, because equal ones would hide the kernel's effect on
 * them.
 * @param draw seed of the contents
 * @param blocks linear indices
 */
export function randomScenario(
  context: KernelAndLaunch & SymbolicFacts,
  setting: LaunchInstance,
  draw: number,
  blocks: readonly number[],
): Scenario {
  const { block, grid, scalar } = setting;
  const zeroed = synchronisingArrays(context);
  const contents: Contents = `random ${draw + 1}`;
  const drawn = [...generatedContents(context, setting, draw)].filter(([array]) => !zeroed.has(array));
  const { sharedBytes, extents } = memoryOf(context, setting);
  const isDynamic = context.kernel.objects.some(({ space, bytes }) => space === 'shared' && bytes === null);
  return {
    block,
    grid,
    extents,
    sharedBytes: isDynamic || context.request.launch.sharedBytes !== null ? sharedBytes : 0,
    scalar,
    blocks,
    contents,
    settled: new Map<string, Contents>([...drawn, ...resolvedElements(elementRanges(context), contents, zeroed)]),
  };
}
