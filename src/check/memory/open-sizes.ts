/**
 * Accesses that leave memory whose size depends on dimensions or scalars that the launch leaves open: dynamic shared
 * memory of `blockDim.x * 4` bytes, an array of `n` elements. By the terms of an address, some thread leaves it in each
 * large representative launch and in each sample of such launches; a run of one of these confirms it.
 */
import type { Steps } from '../../base/coroutine.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { FaultEvent } from '../../interpreter/core/run-result.ts';
import type { KernelContext } from '../context/facts.ts';
import { memoryOf } from '../context/scalars.ts';
import type { Instances } from '../obligations/instance.ts';
import { type LaunchInstance, representativeLaunches, sampledLaunches } from '../representative/representative-launches.ts';
import type { Shown } from '../witness/replay.ts';
import type { Confirmation } from '../witness/scenarios.ts';
import { blockAt, endsOf } from '../witness/some-blocks.ts';
import { AccessInLaunches, effortOfKernel } from './access-in-launches.ts';

/** The run in which an access leaves memory of such a size; null if its size is not of this kind, or not all launches show it. */
export function* leftInChosen(
  context: KernelContext,
  instances: Instances,
  access: Access,
  target: Target,
  confirmation: Confirmation,
): Steps<{ readonly shown: Shown<FaultEvent>; readonly extent: number } | null> {
  if (!hasOpenSize(context, target) || !target.offset.leaves.every(isOfLaunch)) return null;
  const large = representativeLaunches(context).filter(({ isLarge }) => isLarge);
  const among = new AccessInLaunches(context, instances, access, target, effortOfKernel());
  const leftIn = (setting: LaunchInstance): ReturnType<typeof blocksThatLeave> => blocksThatLeave(context, among, access, target, setting);
  const found = large.map(leftIn);
  const [first] = found;
  // The large launches are few: a radius may be above the height in each of them, and below it in samples.
  if (!first || found.includes(null) || sampledLaunches(context, false).some((setting) => !leftIn(setting))) return null;
  yield* confirmation.runLaunch(large[0]!, first.blocks);
  const shown = confirmation.faults.get(access.instruction.id);
  return shown ? { shown, extent: first.extent } : null;
}

function isOfLaunch({ atom }: Target['offset']): boolean {
  return /^(?:thread|block|block-size|grid-size|parameter|iteration|object)$/.test(atom!.kind);
}

/** Whether the size of an object is stated, and depends on values that the launch leaves open. */
function hasOpenSize({ request, extents }: KernelContext, { base }: Target): boolean {
  const { launch, assumptions } = request;
  if (base.kind === 'parameter')
    return !extents.has(`${base.index}.${base.offset}`) && assumptions.some(({ expression }) => expression.kind === 'extent');
  return base.kind === 'object' && base.key === 'dynamic' && base.object.bytes === null && launch.sharedSize !== undefined;
}

/** The blocks, of the first and the last one, in which some thread leaves the object in a launch; null if none does. */
function blocksThatLeave(
  context: KernelContext,
  among: AccessInLaunches,
  access: Access,
  target: Target,
  setting: LaunchInstance,
): { readonly blocks: readonly number[]; readonly extent: number } | null {
  const { sharedBytes, extents } = memoryOf(context, setting);
  const { base } = target;
  const extent = base.kind === 'parameter' ? extents.get(`${base.index}.${base.offset}`) : sharedBytes;
  if (extent === undefined) return null;
  const leaves = (number: number): boolean => {
    const { starts } = among.touched(setting, blockAt(setting.grid, number));
    return among.effort.left > 0 && starts.some((start) => start < 0 || start + access.bytes > extent);
  };
  const blocks = endsOf(setting.grid).filter(leaves);
  return blocks.length > 0 ? { blocks, extent } : null;
}
