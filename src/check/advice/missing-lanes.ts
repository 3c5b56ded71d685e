/** What has to change where threads are missing at a barrier, or lanes at an instruction of their warp. */
import { sharedByLanes } from '../../analysis/values/shared-by-lanes.ts';
import { inferUniformity } from '../../analysis/values/uniformity.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import { sourceLane } from '../../interpreter/core/warp-exchange.ts';
import type { BlockId, Instruction, LoopId } from '../../ir/form/kernel.ts';
import type { Location } from '../../source/location.ts';
import type { DivergenceFinding, LaneFault } from '../../verdict/finding.ts';
import type { KernelContext } from '../context/facts.ts';
import { maskOf } from '../obligations/warp-agreement.ts';
import { lanesAt } from './executing-threads.ts';

/** How the loops around an instruction have to change so that all threads execute it; null if no loop matters. */
export function loopAround(context: KernelContext, home: BlockId, among: 'warp' | 'block'): DivergenceFinding['loop'] | null {
  const { kernel, dependences, loaded, symbolic, dimensions } = context;
  const { loops, loopOf } = kernel;
  const shared = among === 'warp' ? sharedByLanes(symbolic, dimensions, false) : among;
  const uniformity = inferUniformity(kernel, dependences, loaded, new Set(), shared);
  const innermost = loopOf[home] ?? null;
  const varying = [...dependences.controlling(home, innermost)].filter((branch) => uniformity.branch(branch) === 'varying');
  let isAroundAll = innermost !== null;
  for (let loop: LoopId | null = innermost; loop !== null; loop = loops[loop]!.parent) {
    const { exits, blocks } = loops[loop]!;
    if (exits.some(({ from }) => varying.includes(from))) return 'left';
    isAroundAll &&= !varying.some((branch) => blocks.has(branch));
  }
  return isAroundAll && varying.length > 0 ? 'whole' : null;
}

/**
 * The lanes that execute an instruction, and whether it belongs to a function of cooperative groups.
 * @param isOutside whether lanes execute it that its mask does not contain
 */
export function executingLanes(
  context: KernelContext,
  instruction: Instruction,
  home: BlockId,
  isOutside: boolean,
): Pick<LaneFault, 'lanes' | 'ofGroup'> {
  const mask = maskOf(instruction);
  const lanes = mask && (isOutside || context.symbolic.operand(mask).operator === 'constant') ? lanesAt(context, home) : null;
  return {
    ...(lanes !== null && (isOutside || canName(context, instruction, lanes)) && { lanes }),
    ...(isOfGroup(instruction.location) && { ofGroup: true as const }),
  };
}

/** Whether an instruction has a defined result in each lane if its mask names these lanes, and needs no other lane. */
export function canName({ symbolic }: KernelContext, { operation: { effect }, arguments: operands }: Instruction, lanes: number): boolean {
  if (effect.kind === 'vote' || (effect.kind === 'warp-value' && effect.name !== 'elect')) return true;
  if (effect.kind !== 'shuffle') return false;
  const [distance, segment] = operands.slice(1, 3).map((operand) => symbolic.operand(operand));
  if (distance?.operator !== 'constant' || segment?.operator !== 'constant') return false;
  const isNamed = (lane: number): boolean => ((lanes >>> lane) & 1) === 1;
  return Array.from({ length: warpSize }, (_, lane) => lane)
    .filter(isNamed)
    .every((lane) => {
      const source = sourceLane(effect.mode, lane, Number(distance.value), Number(segment.value));
      return source < 0 || isNamed(source);
    });
}

function isOfGroup(location: Location | undefined): boolean {
  return location !== undefined && (/\/cooperative_groups[/.]/.test(location.file) || isOfGroup(location.inlinedAt));
}
