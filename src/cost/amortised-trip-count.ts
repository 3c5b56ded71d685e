/** Bounds from potentials: iterations of a loop by one warp during one execution of an outer loop, or of the kernel. */
import { dominates } from '../ir/form/dominators.ts';
import type { Loop } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import type { BlockPlace } from './block-cost.ts';
import { type Expression, add, constant, floorQuotient, log2, scale } from './expressions/expression.ts';
import { halvingOf } from './loops/halved-distance.ts';
import { maximum } from './expressions/expression-order.ts';
import { type Potential, potentialOf } from './loops/potential.ts';
import { TermBounder } from './lanes/term-bound.ts';
import type { Form } from './loops/transition.ts';
import { lanesInMask } from './lanes/warp-position.ts';
import type { WarpSetting } from './warp-setting.ts';

/**
 * Upper bound of the trip count of a loop.
 * @param root the counted loop or one around it; null for the kernel
 * @param around the region that contains the root
 * @param mask lanes that enter the root
 * @param isTogether whether lanes iterate together: then the lane with most iterations counts, otherwise their sum
 * @returns null if none is found
 */
export function amortisedTripCount(
  setting: WarpSetting,
  root: Loop | null,
  counted: Loop,
  around: BlockPlace,
  mask: number,
  isTogether: boolean,
): Expression | null {
  const lanes = lanesInMask(mask);
  const searched = root === counted ? searchRounds(setting, counted, around, lanes) : null;
  if (searched) return searched;
  const bounderOf = (lane: number): TermBounder => new TermBounder(setting, around.place, around.evaluator, lane);
  const first = bounderOf(lanes[0]!);
  const key = `${root?.id ?? ''}/${counted.id}`;
  let potential = setting.potentials.get(key);
  if (potential === undefined) {
    potential = potentialOf(setting, root, counted, (form) => highest(form, first) !== null);
    setting.potentials.set(key, potential);
  }
  if (!potential) return null;
  setting.assume('no-wrap');
  const holdsThread = ({ leaves }: Term): boolean => leaves.some(({ atom }) => atom!.kind === 'thread');
  const isSame = potential.parts.every(({ form }) => ![...form.terms.keys()].some(holdsThread));
  const each = (isSame ? lanes.slice(0, 1) : lanes).map((lane) => valueAtStart(potential, bounderOf(lane)));
  if (each.includes(null)) return null;
  const all = each as Expression[];
  if (isTogether) return maximum(...all);
  return isSame ? scale(all[0]!, lanes.length) : add(...all);
}

/** Trip count of a loop that halves a distance, for the lane with the most iterations. */
function searchRounds(setting: WarpSetting, loop: Loop, { place, evaluator }: BlockPlace, lanes: readonly number[]): Expression | null {
  let halving = setting.halvings.get(loop.id);
  if (halving === undefined) {
    halving = halvingOf(setting, loop);
    setting.halvings.set(loop.id, halving);
  }
  if (!halving) return null;
  const { starts, more } = halving;
  const highs = starts.flatMap((start) => lanes.map((lane) => highest(start, new TermBounder(setting, place, evaluator, lane))));
  if (highs.includes(null)) return null;
  setting.assume('no-wrap');
  const most = maximum(...(highs as Expression[]), constant(0));
  // floor(log2(x)) + 1 is ceil(log2(x + 1)), which is 0 for 0.
  return more === 1 ? log2(add(most, constant(1)), 'ceil') : log2(most, 'floor');
}

function highest({ constant: own, terms }: Form, bounder: TermBounder): Expression | null {
  return bounder.ofForm({ constant: own, terms, low: 0n, high: 0n, assumes: [] }).high;
}

function valueAtStart({ constant: own, parts }: Potential, bounder: TermBounder): Expression | null {
  const bottom = [own, ...parts.map(({ times }) => times)].reduce((product, { bottom: by }) => product * by, 1n);
  const rounded = (sum: Expression): Expression => (bottom === 1n ? sum : floorQuotient(scale(sum, bottom), constant(bottom)));
  const sums = [];
  for (const { times, form } of parts) {
    const high = highest(form, bounder);
    if (!high) return null;
    sums.push({ times, high });
  }
  // Rounded on both sides of the maximum, the expression is comparable with other bounds.
  const [only] = sums;
  if (sums.length === 1 && only!.times.top > 0n)
    return maximum(rounded(add(constant(own), scale(only!.high, only!.times))), rounded(constant(own)));
  return rounded(add(constant(own), ...sums.map(({ times, high }) => scale(maximum(high, constant(0)), times))));
}

/** Whether all lanes that iterate a root together enter an inner loop in each iteration, with equal trip counts. */
export function isVisitedAlike({ symbolic: { kernel }, uniformity }: WarpSetting, root: Loop | null, loop: Loop): boolean {
  for (let at = loop; at.id !== root?.id;) {
    if (uniformity.divergent(at.id)) return false;
    if (at.parent === null) return root === null;
    const parent = kernel.loops[at.parent]!;
    const isInEach = parent.latches.every((latch) => dominates(kernel.dominators, at.header, latch));
    if (!isInEach && [...parent.blocks].some((block) => uniformity.branch(block) === 'varying')) return false;
    at = parent;
  }
  return true;
}
