/**
 * Whether a bounds check such as `i < n` splits a warp. If neighbouring lanes compare consecutive integers and warps
 * start at multiples of 32, the check splits at most one warp, and none if the limit is a multiple of 32.
 */
import { absolute } from '../../base/integer.ts';
import type { BlockId } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import { type Expression, add, ceilDivide, constant, floorQuotient, scale, subtract } from '../expressions/expression.ts';
import { type LaneEvaluator, divisorOf, isWarpUniform, laneValues, withoutReadings } from './lane-values.ts';
import { type BoundSetting, TermBounder } from './term-bound.ts';
import type { WarpPosition } from './warp-position.ts';

/**
 * An expression that is 1 if a condition may split a full warp, and 0 if it cannot; null if unknown.
 * @param block block with the branch on the condition
 */
export function guardSplit(
  setting: BoundSetting,
  condition: Term,
  block: BlockId,
  place: WarpPosition,
  evaluator: LaneEvaluator,
): Expression | null {
  const core = condition.operator === 'not' ? condition.arguments[0]! : condition;
  if (core.operator !== 'slt' && core.operator !== 'ult') return null;
  if (place.warp.threads?.length !== warpSize) return null;
  const { view } = setting.symbolic;
  const [a, b] = core.arguments as [Term, Term];
  const read = (term: Term) => (core.operator === 'slt' ? view.signed(term) : view.unsigned(term));
  const difference = withoutReadings(setting, view.subtract(read(b), read(a)));
  const values = laneValues(setting, difference, -1, block, place, evaluator);
  const first = values.offsets[0]!;
  const step = values.offsets[1]! - first;
  const isEven = values.offsets.every((offset, lane) => offset === first + step * BigInt(lane));
  const isOneGroup = values.groups.every((group) => group === values.groups[0]);
  if (values.scattered || !isEven || !isOneGroup || step === 0n) return null;
  const size = absolute(step);
  const period = size * BigInt(warpSize);
  const bounder = new TermBounder(setting, place, evaluator, 0);
  let limit: Expression = constant(difference.constant);
  for (const [term, factor] of difference.terms) {
    if ((factor * divisorOf(setting, term)) % period === 0n && isWarpUniform(setting, term, block, place)) continue;
    const { low, high } = bounder.ofUnknown(term);
    if (!low || low.key !== high?.key) return null;
    limit = add(limit, scale(low, factor));
  }
  // Lanes below the crossing take one side, the others the other side.
  const crossing = ceilDivide(step < 0n ? limit : subtract(constant(1), limit), constant(size));
  const warp = constant(warpSize);
  return subtract(ceilDivide(crossing, warp), floorQuotient(crossing, warp));
}
