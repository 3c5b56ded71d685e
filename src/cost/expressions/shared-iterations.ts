/**
 * Costs in which the trip count of one execution of a loop is a name, since only its sum over all iterations of an
 * outer loop is bounded. Summed over these iterations, the name denotes the sum; at the end of the outer loop it is
 * replaced by its bound.
 */
import {
  type Addend,
  type Expression,
  type Factor,
  add,
  constant,
  constantValue,
  made,
  multiply,
  named,
  namesOf,
  single,
} from './expression.ts';
import { isNonNegative, maximum } from './expression-order.ts';

const mark = '@';

/** The name of the trip count of a loop whose sum over all executions within a root is bounded. */
export function sharedName(loop: number, root: number | null, isAlike: boolean): string {
  return `${mark}${loop}/${root ?? ''}${isAlike ? '' : '*'}`;
}

/** Whether an amount contains shared trip counts. */
export function holdsShared(amount: Expression): boolean {
  return constantValue(amount) === null && amount.key.includes(`[${mark}`);
}

/** rest + sum of factor * shared trip count. */
interface SharedSum {
  readonly rest: Expression;
  readonly shared: ReadonlyMap<string, Expression>;
}

/** An upper bound of an amount that is linear in the shared trip counts; null if none is found. */
export function sharedSumOf(amount: Expression): SharedSum | null {
  if (!holdsShared(amount)) return { rest: amount, shared: new Map() };
  const rest: Expression[] = [];
  const shared = new Map<string, Expression>();
  for (const [key, addend] of amount.addends) {
    const holding = addend.factors.filter((factor) => holdsShared(single(factor)));
    if (holding.length === 0) {
      rest.push(made(new Map([[key, addend]])));
      continue;
    }
    const [factor] = holding as [Factor];
    const cofactor = without(addend, factor);
    const found = holding.length === 1 && isNonNegative(cofactor) ? sharedSumOfFactor(factor) : null;
    if (!found) return null;
    rest.push(multiply(cofactor, found.rest));
    for (const [name, by] of found.shared) shared.set(name, add(shared.get(name) ?? constant(0), multiply(cofactor, by)));
  }
  return { rest: add(...rest), shared };
}

function sharedSumOfFactor(factor: Factor): SharedSum | null {
  if (factor.kind === 'name') return { rest: constant(0), shared: new Map([[factor.name, constant(1)]]) };
  if (factor.kind === 'min') {
    const other = factor.parts.find((part) => !holdsShared(part));
    return other ? { rest: other, shared: new Map() } : null;
  }
  if (factor.kind !== 'max') return null;
  const parts = factor.parts.map(sharedSumOf);
  if (parts.includes(null)) return null;
  return worstShared(parts as SharedSum[], maximum);
}

function without({ coefficient, factors }: Addend, left: Factor): Expression {
  return factors.reduce((product, factor) => (factor === left ? product : multiply(product, single(factor))), constant(coefficient));
}

function worstShared(parts: readonly SharedSum[], rests: (...rests: readonly Expression[]) => Expression): SharedSum {
  const names = new Set(parts.flatMap(({ shared }) => [...shared.keys()]));
  const most = (name: string): Expression => maximum(...parts.flatMap(({ shared }) => shared.get(name) ?? []));
  return {
    rest: rests(...parts.map(({ rest }) => rest)),
    shared: new Map([...names].map((name) => [name, most(name)])),
  };
}

/** The expression that a sum represents. */
export function joined({ rest, shared }: SharedSum): Expression {
  return add(rest, ...[...shared].map(([name, by]) => multiply(by, named(name))));
}

/** The cost of successive iterations, each with a different part of the shared trip counts; null if none is found. */
export function addRounds(amounts: readonly Expression[]): Expression | null {
  const parts = amounts.map(sharedSumOf);
  return parts.includes(null) ? null : joined(worstShared(parts as SharedSum[], add));
}

/**
 * An amount with shared trip counts replaced by their bounds.
 * @param boundOf the bound of a name, null if the name is not replaced
 */
export function boundSharedIterations(amount: Expression, boundOf: (name: string) => Expression | null): Expression | null {
  if (!holdsShared(amount)) return amount;
  const sum = sharedSumOf(amount);
  if (!sum) return null;
  const parts = [...sum.shared].map(([name, by]) => multiply(by, boundOf(name) ?? named(name)));
  return add(sum.rest, ...parts);
}

/**
 * Whether the factors of shared trip counts are independent of a name: the factors are equal in all iterations then.
 */
export function isSteady({ shared }: SharedSum, name: string): boolean {
  return [...shared.values()].every((by) => constantValue(by) !== null || !namesOf(by).has(name));
}
