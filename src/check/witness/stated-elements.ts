/** Contents of arrays that are not chosen freely: elements with stated ranges, and words by which threads synchronise. */
import { constantOf } from '../../assumptions/evaluate.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { namedPointer } from '../premises/premises.ts';
import type { Contents } from './replay.ts';

/** The minimum and the maximum of an array's elements, by `INDEX.OFFSET` of the parameter. */
export type ElementRanges = ReadonlyMap<string, { readonly low: bigint; readonly high: bigint }>;

/** The ranges of elements that the assumptions state as constants. */
export function elementRanges({ request }: KernelAndLaunch): ElementRanges {
  const ranges = new Map<string, { low: bigint; high: bigint }>();
  for (const { expression } of request.assumptions) {
    if (expression.kind !== 'elements') continue;
    const array = namedPointer(request.parameters, expression.array);
    const [low, high] = [constantOf(expression.low), constantOf(expression.high)];
    if (!array || low === undefined || high === undefined) continue;
    const key = `${array.index}.${array.offset}`;
    const known = ranges.get(key);
    ranges.set(key, {
      low: known && known.low > low ? known.low : low,
      high: known && known.high < high ? known.high : high,
    });
  }
  return ranges;
}

/** The contents of arrays with stated elements, and of those that start at zero. */
export function resolvedElements(ranges: ElementRanges, contents: Contents, zeroed: ReadonlySet<string>): ReadonlyMap<string, number> {
  const settled = new Map([...zeroed].map((array) => [array, 0]));
  for (const [array, { low, high }] of ranges) {
    const usual = BigInt(settled.get(array) ?? (typeof contents === 'number' ? contents : 1));
    settled.set(array, Number(usual < low ? low : usual > high ? high : usual));
  }
  return settled;
}
