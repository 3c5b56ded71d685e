/**
 * Costs in which the rounds of a loop in one visit are a name, since only their sum over all rounds of a loop around it
 * is bounded. Added up over those rounds the name stands for the sum, until the loop around ends and its bound takes
 * the name's place.
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
import { isNonNegative, maximum } from './order.ts';

const mark = '@';

/** The name of the rounds of a loop, of which a root has a bound for all visits together. */
export function sharedName(loop: number, root: number | null, isAlike: boolean): string {
  return `${mark}${loop}/${root ?? ''}${isAlike ? '' : '*'}`;
}

/** Whether an amount speaks of rounds that only have a bound together. */
export function holdsShared(amount: Expression): boolean {
  return constantValue(amount) === null && amount.key.includes(`[${mark}`);
}

/** rest + sum of factor * shared rounds. */
interface SharedSum {
  readonly rest: Expression;
  readonly shared: ReadonlyMap<string, Expression>;
}

/** A sum that is not below an amount, and linear in the shared rounds; null where there is none. */
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
    for (const [name, by] of found.shared)
      shared.set(name, add(shared.get(name) ?? constant(0), multiply(cofactor, by)));
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
  return factors.reduce((product, factor) => (factor === left ? product : multiply(product, single(factor))), constant(coefficient)); // oxfmt-ignore
}

function worstShared(parts: readonly SharedSum[], rests: (...rests: readonly Expression[]) => Expression): SharedSum {
  const names = new Set(parts.flatMap(({ shared }) => [...shared.keys()]));
  const most = (name: string): Expression => maximum(...parts.flatMap(({ shared }) => shared.get(name) ?? []));
  return {
    rest: rests(...parts.map(({ rest }) => rest)),
    shared: new Map([...names].map((name) => [name, most(name)])),
  };
}

/** The sum again. */
export function joined({ rest, shared }: SharedSum): Expression {
  return add(rest, ...[...shared].map(([name, by]) => multiply(by, named(name))));
}

/** The cost of rounds one after the other, of which each has its share of the shared ones; null where none is seen. */
export function addRounds(amounts: readonly Expression[]): Expression | null {
  const parts = amounts.map(sharedSumOf);
  return parts.includes(null) ? null : joined(worstShared(parts as SharedSum[], add));
}

/**
 * An amount with bounds in place of shared rounds.
 * @param boundOf the bound of a name, null for those that stay
 */
export function boundSharedIterations(
  amount: Expression,
  boundOf: (name: string) => Expression | null,
): Expression | null {
  if (!holdsShared(amount)) return amount;
  const sum = sharedSumOf(amount);
  if (!sum) return null;
  const parts = [...sum.shared].map(([name, by]) => multiply(by, boundOf(name) ?? named(name)));
  return add(sum.rest, ...parts);
}

/** Whether the factors of shared rounds are without a name: then they are the same in all rounds. */
export function isSteady({ shared }: SharedSum, name: string): boolean {
  return [...shared.values()].every((by) => constantValue(by) !== null || !namesOf(by).has(name));
}
