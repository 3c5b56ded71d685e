/**
 * Compares sets of bytes with known numbers. `selvage-validator.h` has the same procedures in C: both return the same
 * answers.
 */
import { absolute, floorDivide, gcd, greatestOf, leastOf } from '../../base/integer.ts';

/** An `AddressSet` evaluated at a launch; undefined: a quantity is not known. */
export interface LaunchedSet {
  readonly base: bigint | undefined;
  readonly steps: readonly { readonly stride: bigint | undefined; readonly count: bigint | undefined }[];
  readonly bytes: number;
}

/** `{ low + Σ stride·i + b | 0 ≤ i ≤ last, 0 ≤ b < bytes }`: strides are positive, and each is less than the one before. */
interface Reach {
  readonly low: bigint;
  readonly steps: readonly ReachStep[];
  readonly bytes: bigint;
}

interface ReachStep {
  readonly stride: bigint;
  /** At least 1. */
  readonly last: bigint;
}

const addressSpace = 1n << 64n;
/**
 * Maximum number of multiples of a stride at which two sets may overlap; with more, the stride is too small to prove
 * disjointness.
 */
const maxMultiples = 4n;
/** Maximum comparisons of two sets by their remainders modulo a stride. */
const maxComparisons = 32;

/**
 * Whether two sets have no byte in common: by their ranges, or by their ranges modulo a common stride.
 * @returns undefined if that depends on an unknown quantity, or a set leaves the 64 bits of addresses
 */
export function areDisjoint(left: LaunchedSet, right: LaunchedSet): boolean | undefined {
  if (isEmpty(left) || isEmpty(right)) return true;
  const [a, b] = [reachOf(left), reachOf(right)];
  if (!a || !b) return undefined;
  // The sets overlap if the difference of an address of `b` and one of `a` is above -(bytes of `b`) and below bytes of
  // `a`. Steps of `a` are counted from its end, so that all strides stay positive.
  const difference = b.low - a.low - spanOf(a.steps);
  return new Comparison(merged([...a.steps, ...b.steps]), 1n - b.bytes, a.bytes - 1n).misses(difference, 0);
}

/**
 * Whether every byte of the inner set is in the outer one, or the inner one is empty.
 * @returns undefined if that depends on an unknown quantity, a set leaves the 64 bits of addresses, or only the outer
 *   set is empty
 */
export function isWithin(inner: LaunchedSet, outer: LaunchedSet): boolean | undefined {
  if (isEmpty(inner)) return true;
  const [a, b] = [reachOf(inner), isEmpty(outer) ? undefined : reachOf(outer)];
  return a && b && covers(nested(b), nested(a));
}

function isEmpty({ steps }: LaunchedSet): boolean {
  return steps.some(({ count }) => count !== undefined && count <= 0n);
}

/** Undefined if a number is unknown, or a byte would be outside of the 64 bits of addresses. For non-empty sets. */
function reachOf({ base, steps, bytes }: LaunchedSet): Reach | undefined {
  if (base === undefined) return undefined;
  let low = base;
  const positive: ReachStep[] = [];
  for (const { stride, count } of steps) {
    if (stride === undefined || count === undefined) return undefined;
    if (stride === 0n || count === 1n) continue;
    const last = count - 1n;
    if (stride < 0n) low += stride * last;
    positive.push({ stride: absolute(stride), last });
  }
  const reach = { low, steps: merged(positive), bytes: BigInt(bytes) };
  return low >= 0n && low + spanOf(reach.steps) + reach.bytes <= addressSpace ? reach : undefined;
}

/** Steps of one stride are one step: `0..m + 0..n` is `0..m+n`. */
function merged(steps: readonly ReachStep[]): ReachStep[] {
  const lasts = new Map<bigint, bigint>();
  for (const { stride, last } of steps) lasts.set(stride, (lasts.get(stride) ?? 0n) + last);
  return [...lasts].map(([stride, last]) => ({ stride, last })).sort((a, b) => (a.stride > b.stride ? -1 : 1));
}

function spanOf(steps: readonly ReachStep[]): bigint {
  return steps.reduce((sum, { stride, last }) => sum + stride * last, 0n);
}

/** Whether `difference + Σ stride·i` avoids all of `least..most`. */
class Comparison {
  private readonly steps: readonly ReachStep[];
  private readonly least: bigint;
  private readonly most: bigint;
  /** For each step: the maximum sum of this step and all later ones. */
  private readonly spans: readonly bigint[];
  private left = maxComparisons;

  public constructor(steps: readonly ReachStep[], least: bigint, most: bigint) {
    this.steps = steps;
    this.least = least;
    this.most = most;
    this.spans = [...steps, undefined].map((_, from) => spanOf(steps.slice(from)));
  }

  /**
   * Whether no sum of the steps from `from` on is in the interval. The addresses are multiples of the greatest common
   * divisor of the larger steps, plus the smaller steps: few multiples, often none, are near enough to the interval,
   * and each is examined.
   */
  public misses(difference: bigint, from: number): boolean {
    const span = this.spans[from]!;
    if (difference > this.most || difference + span < this.least) return true;
    if (this.left === 0) return false;
    this.left -= 1;
    let divisor = 0n;
    for (let next = from + 1; next <= this.steps.length; next += 1) {
      divisor = gcd(divisor, this.steps[next - 1]!.stride);
      const rest = this.spans[next]!;
      const first = greatestOf([0n, -floorDivide(difference + rest - this.least, divisor)]);
      const last = leastOf([(span - rest) / divisor, floorDivide(this.most - difference, divisor)]);
      if (first > last) return true;
      if (next === this.steps.length || last - first >= maxMultiples) continue;
      let all = true;
      for (let k = first; all && k <= last; k += 1n) all = this.misses(difference + k * divisor, next);
      if (all) return true;
    }
    return false;
  }
}

/** A set with its smallest steps merged into its bytes, if those leave no gap. */
function nested({ low, steps, bytes }: Reach): Reach {
  let [whole, length] = [bytes, steps.length];
  for (; length > 0 && steps[length - 1]!.stride <= whole; length -= 1) whole += spanOf(steps.slice(length - 1, length));
  return { low, steps: steps.slice(0, length), bytes: whole };
}

/**
 * Whether the outer set covers the inner one. Each step of the inner set is matched with the largest stride of the
 * outer one that divides its own, as far as that extends; a step that no stride divides is replaced by all bytes up to
 * its end. The remainder must be within one contiguous piece of the outer set.
 */
function covers(outer: Reach, inner: Reach): boolean {
  const left = outer.steps.map(({ last }) => last);
  let bytes = inner.bytes;
  for (const { stride, last } of inner.steps) {
    const along = outer.steps.findIndex((step, index) => stride % step.stride === 0n && (stride / step.stride) * last <= left[index]!);
    if (along < 0) bytes += stride * last;
    else left[along] = left[along]! - (stride / outer.steps[along]!.stride) * last;
  }
  let offset = inner.low - outer.low;
  if (offset < 0n) return false;
  for (const [index, { stride }] of outer.steps.entries()) offset -= stride * leastOf([left[index]!, offset / stride]);
  return offset + bytes <= outer.bytes;
}
