/** The lanes of a warp that take each side of a branch. */
import type { Block } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import type { BlockPlace } from './block-cost.ts';
import { type Expression, constant } from './expressions/expression.ts';
import { guardSplit } from './lanes/guard-split.ts';
import { isWarpUniform, laneValues } from './lanes/lane-values.ts';
import { lanesInMask } from './lanes/warp-position.ts';
import type { WarpSetting } from './warp-setting.ts';

/** Upper bound of the divergent executions of a branch by the warp: 1, or fewer if the branch is a bounds check. */
export function splitsOf(setting: WarpSetting, { place, evaluator }: BlockPlace, block: Block, mask: number): Expression {
  const condition = mask === -1 ? setting.symbolic.condition(block.id) : undefined;
  return (condition && guardSplit(setting, condition, block.id, place, evaluator)) ?? constant(1);
}

/** The lanes that take each side of a branch; null if the side of some lane is unknown. */
export function decideBranch(
  setting: WarpSetting,
  region: BlockPlace,
  block: Block,
  mask: number,
): { readonly yes: number; readonly no: number } | null {
  const condition = setting.symbolic.condition(block.id);
  if (!condition) return null;
  let [yes, no] = [0, 0];
  const lanes = lanesInMask(mask);
  const values = region.evaluator.inLanes(condition, lanes);
  for (const [at, lane] of lanes.entries()) {
    const value = values[at];
    if (value === undefined) return null;
    if (value === 1n) yes |= 1 << lane;
    else no |= 1 << lane;
  }
  return { yes, no };
}

/** Whether all lanes that reach a branch in one iteration take the same side. */
export function isSameInAllLanes(setting: WarpSetting, region: BlockPlace, block: Block, mask: number): boolean {
  const condition = setting.symbolic.condition(block.id);
  const { view } = setting.symbolic;
  // Cached, since conditions share subterms.
  const known = new Map<Term, boolean>();
  const isSame = (term: Term): boolean => {
    const answer = known.get(term) ?? compute(term);
    known.set(term, answer);
    return answer;
  };
  const compute = (term: Term): boolean => {
    switch (term.operator) {
      case 'constant':
        return true;
      case 'not':
      case 'all':
      case 'any':
      case 'differ':
        return term.arguments.every(isSame);
      case 'slt':
      case 'ult':
      case 'equal':
        return term.arguments.every((side) => {
          const form = view.natural(side);
          const values = laneValues(setting, form, mask, block.id, region.place, region.evaluator);
          const [first, ...rest] = lanesInMask(mask);
          const isLike = (lane: number): boolean =>
            values.offsets[lane] === values.offsets[first!] && values.groups[lane] === values.groups[first!];
          return values.scattered === null && rest.every(isLike);
        });
      default:
        return isWarpUniform(setting, term, block.id, region.place);
    }
  };
  return condition !== undefined && isSame(condition);
}
