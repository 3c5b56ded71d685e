/** The threads that perform one access in launches, by the terms of its address and path, within one set of limits. */
import type { Access } from '../../analysis/values/access.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Term } from '../../term/term.ts';
import type { KernelContext } from '../context/facts.ts';
import type { Instances } from '../obligations/instance.ts';
import type { LaunchInstance } from '../representative/representative-launches.ts';
import { type LaneInteger, SideOfLaunch, type Touched, combinations, inAnyIteration, scalarsOf } from '../witness/lanes-of-access.ts';
import { blockAt, cornersOf } from '../witness/some-blocks.ts';

/** Limit on the threads and iterations that are evaluated for one access in one launch. */
const mostLanes = 1024;
/** The same where it matters only whether some thread performs the access. */
const fewLanes = 64;
/** Limit on the iterations of a loop of which all are evaluated in one block. */
const mostIterations = 256;

/** The conditions that a check may evaluate for one kernel, each for one thread in one iteration. */
export function effortOfKernel(): { left: number } {
  return { left: 4_000_000 };
}

/** One access of a kernel in launches. */
export class AccessInLaunches {
  readonly effort: { left: number };
  private readonly context: KernelContext;
  private readonly instances: Instances;
  private readonly access: Access;
  private readonly target: Target;

  constructor(context: KernelContext, instances: Instances, access: Access, target: Target, effort: { left: number }) {
    this.context = context;
    this.instances = instances;
    this.access = access;
    this.target = target;
    this.effort = effort;
  }

  /** What some threads of the first two blocks and the last one along each axis show: of the first of these blocks in which any does. */
  inCorner<Found>(
    setting: LaunchInstance,
    shownIn: (block: Dim3) => readonly Found[],
  ): { readonly number: number; readonly found: readonly [Found, ...Found[]] } | null {
    for (const number of cornersOf(setting.grid)) {
      if (this.effort.left <= 0) return null;
      const [first, ...others] = shownIn(blockAt(setting.grid, number));
      if (first !== undefined) return { number, found: [first, ...others] };
    }
    return null;
  }

  /** The threads of a block that perform the access in the first and last iterations, and the first bytes that they touch. */
  touched(setting: LaunchInstance, block: Dim3): Touched {
    const side = this.sideIn(setting);
    return side.touched([block], combinations(side.iterationsTried([block])), new Map(), mostLanes);
  }

  /** The integer that a term of the access is for threads of a block if nothing wraps around. */
  integersOf(setting: LaunchInstance, block: Dim3, term: Term): readonly LaneInteger[] {
    const side = this.sideIn(setting);
    return side.integersOf(term, [block], combinations(side.iterationsTried([block])), mostLanes);
  }

  /** The same for all threads of a block, and in all iterations of a loop that has few. */
  allIntegersOf(setting: LaunchInstance, block: Dim3, term: Term): readonly LaneInteger[] {
    const side = this.sideIn(setting);
    return side.integersOf(term, [block], combinations(side.iterationsTried([block]), mostIterations), Infinity);
  }

  /**
   * The last block along each axis, of those that are first along the others, in which some thread performs the access in the
   * first iterations.
   */
  lastBlock(setting: LaunchInstance): Dim3 {
    const side = this.sideIn(setting);
    const first = combinations(new Map([...side.iterationsTried([[0, 0, 0]])].map(([name, [at]]) => [name, [at ?? 0]])));
    const terms = [this.target.offset, this.target.condition, this.context.symbolic.reach(this.access.block)];
    const along = (axis: 0 | 1 | 2): number => {
      if (!terms.some(({ leaves }) => leaves.some(({ atom }) => atom?.kind === 'block' && atom.axis === axis))) return 0;
      const performs = (at: number): boolean => {
        const blocks = [([0, 0, 0] as Dim3).with(axis, at) as unknown as Dim3];
        return this.effort.left > 0 && side.touched(blocks, first, new Map(), fewLanes).lanes.length > 0;
      };
      let [low, high] = [0, setting.grid[axis]];
      if (performs(high - 1)) return high - 1;
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (performs(middle)) low = middle;
        else high = middle;
      }
      return low;
    };
    return [along(0), along(1), along(2)];
  }

  private sideIn(setting: LaunchInstance): SideOfLaunch {
    const { context, instances, access, target, effort } = this;
    return new SideOfLaunch(inAnyIteration(context, access, target), instances, setting, scalarsOf(context, setting), effort);
  }
}
