/** Costs of a part of a kernel: a total for each count, and the shares of the lines. Null: no bound. */
import { type Expression, add, constant, constantValue, multiply, scale, zero } from './expressions/expression.ts';
import { maximum } from './expressions/expression-order.ts';
import type { Count } from './model/metrics.ts';
import { addRounds, holdsShared } from './expressions/shared-iterations.ts';

export interface Cost {
  readonly totals: ReadonlyMap<Count, Expression | null>;
  /** Keys are count and line: `sectors@file.cu:3`. */
  readonly parts: ReadonlyMap<string, Expression | null>;
  /** Counts whose amounts are upper bounds that may not be attained. */
  readonly loose: ReadonlySet<Count>;
}

/** Maximum length of the key of an amount, in characters; longer amounts have no bound. */
const longestKey = 2000;

const none: ReadonlySet<Count> = new Set();

export const free: Cost = { totals: new Map(), parts: new Map(), loose: none };

/**
 * A cost of one count, on one line.
 * @param isExact whether every execution has this cost
 */
export function singleCost(count: Count, line: string, amount: Expression | null, isExact = true): Cost {
  const loose = isExact ? none : new Set([count]);
  return { totals: new Map([[count, amount]]), parts: new Map([[`${count}@${line}`, amount]]), loose };
}

/** Exact costs with numeric amounts, as a tally stores them. */
export interface FixedCosts {
  readonly totals: readonly (readonly [Count, number | null])[];
  readonly parts: readonly (readonly [string, number | null])[];
}

/** Adds up costs that are numbers. */
export class CostTally {
  readonly #totals = new Map<Count, number | null>();
  readonly #parts = new Map<string, number | null>();
  readonly #loose = new Set<Count>();

  /** Adds the costs of another tally. */
  addFixed({ totals, parts }: FixedCosts): void {
    for (const [count, amount] of totals) added(this.#totals, count, amount);
    for (const [part, amount] of parts) added(this.#parts, part, amount);
  }

  /** As {@link singleCost}. */
  add(count: Count, line: string, amount: number | null, isExact = true): void {
    added(this.#totals, count, amount);
    added(this.#parts, `${count}@${line}`, amount);
    if (!isExact) this.#loose.add(count);
  }

  /** The sum so far, all of it exact. */
  fixed(): FixedCosts {
    return { totals: [...this.#totals], parts: [...this.#parts] };
  }

  cost(): Cost {
    return { totals: expressions(this.#totals), parts: expressions(this.#parts), loose: this.#loose };
  }
}

function added<Key>(sums: Map<Key, number | null>, key: Key, amount: number | null): void {
  const known = sums.get(key);
  if (known !== null) sums.set(key, amount === null ? null : (known ?? 0) + amount);
}

function expressions<Key>(sums: ReadonlyMap<Key, number | null>): Map<Key, Expression | null> {
  return new Map([...sums].map(([key, sum]) => [key, sum === null ? null : constant(sum)]));
}

/** The cost of executions in sequence. */
export function sequentialCost(costs: readonly Cost[]): Cost {
  const present = costs.filter(({ totals }) => totals.size > 0);
  if (present.length <= 1) return present[0] ?? free;
  return {
    totals: combined(
      present.map(({ totals }) => totals),
      total,
    ),
    parts: combined(
      present.map(({ parts }) => parts),
      total,
    ),
    loose: unionOf(present),
  };
}

function total(values: readonly (Expression | null)[]): Expression | null {
  if (values.length === 1) return values[0]!;
  return values.includes(null) ? null : add(...(values as Expression[]));
}

/** The sum of the costs of successive iterations. */
export function sumOverIterations(costs: readonly Cost[]): Cost {
  const inTurn = (values: readonly (Expression | null)[]): Expression | null => {
    if (values.includes(null)) return null;
    return values.some((value) => holdsShared(value!)) ? addRounds(values as Expression[]) : total(values);
  };
  return {
    totals: combined(
      costs.map(({ totals }) => totals),
      inTurn,
    ),
    parts: combined(
      costs.map(({ parts }) => parts),
      inTurn,
    ),
    loose: unionOf(costs),
  };
}

/** The cost of either execution: the maximum of each count. */
export function worstOf(costs: readonly Cost[]): Cost {
  const [first] = costs;
  if (costs.length <= 1) return first ?? free;
  // A count that one of the costs lacks is 0 there.
  const worst = (values: readonly (Expression | null)[]): Expression | null =>
    values.includes(null) ? null : maximum(...(values as Expression[]), ...(values.length < costs.length ? [zero] : []));
  const totals = combined(
    costs.map((cost) => cost.totals),
    worst,
  );
  const differ = [...totals.keys()].filter((count) => new Set(costs.map((cost) => cost.totals.get(count)?.key)).size > 1);
  return {
    totals,
    parts: combined(
      costs.map(({ parts }) => parts),
      worst,
    ),
    loose: new Set([...unionOf(costs), ...differ]),
  };
}

function unionOf(costs: readonly Cost[]): ReadonlySet<Count> {
  return costs.every(({ loose }) => loose.size === 0) ? none : new Set(costs.flatMap(({ loose }) => [...loose]));
}

/** The cost, marked as an upper bound that may not be attained. */
export function loosened(cost: Cost): Cost {
  const counts = [...cost.totals].flatMap(([count, amount]) => (amount?.addends.size === 0 ? [] : [count]));
  return counts.every((count) => cost.loose.has(count)) ? cost : { ...cost, loose: new Set([...cost.loose, ...counts]) };
}

/** A cost times a number of repetitions; null if their number is unknown. */
export function repeated(cost: Cost, times: Expression | null): Cost {
  return mapCost(cost, (amount) => {
    if (amount.addends.size === 0) return amount;
    if (times === null) return null;
    const number = constantValue(times);
    return number ? scale(amount, number) : multiply(amount, times);
  });
}

/** Applies a function to all amounts; null stays null. */
export function mapCost({ totals, parts, loose }: Cost, change: (amount: Expression) => Expression | null): Cost {
  const changed = <Key>(map: ReadonlyMap<Key, Expression | null>): Map<Key, Expression | null> =>
    new Map([...map].map(([key, amount]) => [key, amount && shortened(change(amount))]));
  return { totals: changed(totals), parts: changed(parts), loose };
}

function combined<Key>(
  maps: readonly ReadonlyMap<Key, Expression | null>[],
  combine: (values: readonly (Expression | null)[]) => Expression | null,
): Map<Key, Expression | null> {
  const lists = new Map<Key, (Expression | null)[]>();
  for (const map of maps) {
    for (const [key, amount] of map) {
      const list = lists.get(key);
      if (list) list.push(amount);
      else lists.set(key, [amount]);
    }
  }
  return new Map([...lists].map(([key, list]) => [key, shortened(combine(list))]));
}

/** The amount; null if it is too long to be readable, or to be compared quickly. */
function shortened(amount: Expression | null): Expression | null {
  return amount && constantValue(amount) === null && amount.key.length > longestKey ? null : amount;
}
