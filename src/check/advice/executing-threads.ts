/** Which threads of a block execute code, as far as that follows from the thread index. */
import { inferUniformity } from '../../analysis/values/uniformity.ts';
import { isOfLaunch } from '../../analysis/values/leader.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import type { BlockId } from '../../ir/form/kernel.ts';
import { substituted } from '../../term/rewrite.ts';
import type { Term } from '../../term/term.ts';
import type { KernelContext } from '../context/facts.ts';

export const wholeWarp = 0xffffffff;

type Facts = Pick<KernelContext, 'kernel' | 'symbolic' | 'dependences' | 'loaded' | 'dimensions'>;

/**
 * The lanes that execute a basic block, as a mask, if they are the same in each warp that does and follow only from the thread
 * index; null otherwise.
 */
export function lanesAt(facts: Facts, block: BlockId): number | null {
  const [mask, ...more] = new Set(masksAt(facts, block)?.filter((one) => one !== 0) ?? []);
  return mask === undefined || more.length > 0 ? null : mask;
}

/** The number of threads of a block that execute a basic block, if it follows only from the thread index; null otherwise. */
export function threadsAt(facts: Facts, block: BlockId): number | null {
  const bitsOf = (mask: number): number => mask.toString(2).replaceAll('0', '').length;
  return masksAt(facts, block)?.reduce((sum, mask) => sum + bitsOf(mask), 0) ?? null;
}

/** The lanes of each warp that execute a basic block, as masks; null if that does not follow from the thread index. */
function masksAt({ kernel, symbolic, dependences, loaded, dimensions }: Facts, block: BlockId): readonly number[] | null {
  const [width, height, depth] = dimensions.block;
  if (width === null || height === null || depth === null) return null;
  const { store } = symbolic;
  const uniformity = inferUniformity(kernel, dependences, loaded, new Set());
  const branches = [...dependences.controlling(block, kernel.loopOf[block] ?? null)];
  const varying = new Set(branches.filter((branch) => uniformity.branch(branch) === 'varying').map((branch) => symbolic.condition(branch)));
  const reach = symbolic.reach(block);
  const conditions = (reach.operator === 'all' ? reach.arguments : [reach]).filter(({ leaves }) => !leaves.every(isOfLaunch));
  const isOfThread = ({ leaves }: Term): boolean => leaves.every((leaf) => leaf.atom?.kind === 'thread');
  const deciding = conditions.filter(isOfThread);
  // Each branch on which lanes part has to be one of these conditions.
  if ([...varying].some((condition) => condition === null || condition === undefined || !isOfThread(condition))) return null;
  const masks: number[] = [];
  const threads = width * height * depth;
  for (let first = 0; first < threads; first += warpSize) {
    let mask = 0;
    for (let lane = 0; lane < Math.min(warpSize, threads - first); lane++) {
      const at = first + lane;
      const index = [at % width, Math.floor(at / width) % height, Math.floor(at / (width * height))];
      const ofThread = (leaf: Term): Term | undefined =>
        leaf.atom?.kind === 'thread' ? store.constant(leaf.width, BigInt(index[leaf.atom.axis]!)) : undefined;
      if (deciding.every((condition) => substituted(store, condition, ofThread, new Map()) === store.true)) mask |= 1 << lane;
    }
    masks.push(mask >>> 0);
  }
  return masks;
}
