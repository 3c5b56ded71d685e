/**
 * Launches without races, determined from the footprints of the accesses: without barriers, atomic operations and
 * shared memory, a launch has no race if each written byte is accessed by only one thread. The checks of races prove it
 * for every launch or for none; here it depends on the launch, for instance on the distance between the bytes read and
 * written.
 */
import { type Access, isWriter } from '../analysis/values/access.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import type { Term } from '../term/term.ts';
import { allOf, anyOf, disjointSets } from './build-condition.ts';
import { type AddressForm, type IndexVariable, formMultiple, replaceVariable, subtractForms, scaleForm } from './footprint/form.ts';
import type { Footprint } from './footprint/footprint.ts';
import { type LaunchCondition, allMet, anyMet, lessOrEqual, neverMet } from './footprint/launch-condition.ts';
import {
  type Amount,
  addAmounts,
  fixedAmount,
  maxAmount,
  multiplyAmounts,
  oneAmount,
  scaleAmount,
  subtractAmounts,
  zeroAmount,
} from './footprint/amount.ts';
import { dimensionAmount, type StatedValue, LinearInterpretation } from './footprint/linear-interpretation.ts';
import type { FormFact, WayFacts } from './footprint/path-facts.ts';
import { pathsTo } from './footprint/paths.ts';
import { never, type ValidatorCondition } from './model/quantity.ts';
import { contactOf } from '../analysis/values/thread-contact.ts';
import { isPlain } from './same-thread-hazards.ts';

/** Maximum number of indices in a sum that is decomposed. */
const maxDigits = 4;

/**
 * Condition under which no two threads access a common byte that one of them writes.
 * @param footprints of all accesses
 */
export function withoutConflicts(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  footprints: readonly Footprint[],
  stated: StatedValue,
): ValidatorCondition {
  const { kernel } = symbolic;
  const isQuiet = kernel.blocks.every(({ instructions }) => instructions.every((one) => !/^(exchange|order)$/.test(contactOf(one))));
  const isKnown = ({ root, bytes }: Footprint): boolean =>
    bytes !== null && (root.kind === 'parameter' || (root.kind === 'object' && root.object.space !== 'shared'));
  if (!isQuiet || !accesses.every(isPlain) || !footprints.every(isKnown)) return never;
  const digits = new Map<Access, ValidatorCondition>();
  const owned = (write: Access): ValidatorCondition => {
    const condition = digits.get(write) ?? new Digits(symbolic, write, stated).areOwn();
    digits.set(write, condition);
    return condition;
  };
  const conditions = footprints.map(({ needs }) => needs);
  footprints.forEach((second, at) => {
    if (!isWriter(second.access)) return;
    if (!storesOneValue(second.access)) conditions.push(owned(second.access));
    footprints.forEach((first, before) => {
      // The same write on another path: each of its bytes belongs to one thread.
      if (first.access === second.access || (isWriter(first.access) && before > at)) return;
      const disjoint = disjointSets(first.bytes!, second.bytes!);
      conditions.push(isAtOnePlace(first.access, second.access) ? anyOf([disjoint, owned(second.access)]) : disjoint);
    });
  });
  return allOf(conditions);
}

/** Whether two accesses are made by the same threads, each at one address. */
function isAtOnePlace({ block: a, targets: [x] }: Access, { block: b, targets: [y] }: Access): boolean {
  return a === b && x!.base.key === y!.base.key && x!.offset === y!.offset && x!.condition === y!.condition;
}

/** Whether all threads store the same value, so that the order of the writes does not matter. */
function storesOneValue({ stored }: Access): boolean {
  const isOfLaunch = ({ atom }: Term): boolean => /^(parameter|block-size|grid-size)$/.test(atom!.kind);
  return stored !== null && stored.every((value) => value === stored[0] && value.leaves.every(isOfLaunch));
}

/**
 * Proves that no two threads write to one address: the address is a number in mixed radix whose digits are the indices.
 */
class Digits {
  private readonly symbolic: SymbolicKernel;
  private readonly write: Access;
  private readonly stated: StatedValue;

  constructor(symbolic: SymbolicKernel, write: Access, stated: StatedValue) {
    this.symbolic = symbolic;
    this.write = write;
    this.stated = stated;
  }

  areOwn(): ValidatorCondition {
    const [target, ...others] = this.write.targets;
    if (!target || others.length > 0 || target.offset.width !== 64) return never;
    const ways = pathsTo(this.symbolic, this.write.block, target.condition, this.stated);
    // With several paths, a fact of one path does not hold for a thread on another.
    const [way] = ways;
    const reading: LinearInterpretation = ways.length === 1 ? way!.reading : new LinearInterpretation({ ...way!.reading.context });
    const { scope } = reading;
    const offset = reading.natural(target.offset);
    const facts = scope.facts.filter(({ form }) => form.terms.size > 1);
    const own = injective(scope, offset, fixedAmount(BigInt(this.write.bytes)), facts);
    const fixed = unused(scope, offset).map(({ kind, axis }) => lessOrEqual(dimensionAmount(kind, axis), oneAmount));
    const found = allMet([own, ...fixed]);
    return allMet([scope.demanded(), anyMet([...scope.guards.map((guard) => guard.negation()), found])]).condition;
  }
}

/** Indices of threads and blocks that neither occur in the address nor are fixed by a condition. */
function unused(scope: WayFacts, offset: AddressForm): readonly { kind: 'block-size' | 'grid-size'; axis: 0 | 1 | 2 }[] {
  const held = new Set([...withoutRemainders(scope, offset).form.terms.keys()].map(({ key }) => key));
  for (const fact of scope.facts) if (isLeast(scope, fact)) for (const { key } of fact.form.terms.keys()) held.add(key);
  return ([0, 1, 2] as const).flatMap((axis) =>
    (['block-size', 'grid-size'] as const)
      .filter((kind) => !held.has(`${kind === 'block-size' ? 'thread' : 'block'}.${axis}`))
      .map((kind) => ({ kind, axis })),
  );
}

/** Whether a bound on a sum of indices equals its minimum, so that each index is at its minimum. */
function isLeast(scope: WayFacts, { form, high }: FormFact): boolean {
  const isRising = [...form.terms].every(([{ part, kind }, by]) => part === null && kind !== 'value' && scope.isPositive(by, 1n));
  const least = scope.byVariables(form).low;
  return isRising && high !== null && least !== null && scope.isAtMost(high, least);
}

interface Digit {
  readonly factor: Amount;
  readonly reach: Amount;
  readonly variables: readonly IndexVariable[];
  readonly inner: LaunchCondition;
}

/**
 * Condition under which values of a sum for different indices differ by at least `width`: the factor of each digit
 * exceeds the maximum of the lower digits together.
 */
function injective(scope: WayFacts, form: AddressForm, width: Amount, facts: readonly FormFact[]): LaunchCondition {
  const digits: Digit[] = [];
  const { form: whole, isWhole } = withoutRemainders(scope, form);
  let left: AddressForm = { ...whole, constant: zeroAmount };
  for (const fact of [...facts].sort((a, b) => b.form.terms.size - a.form.terms.size)) {
    const factor = formMultiple(left, fact.form);
    const { low, high } = scope.narrower(fact, scope.byVariables(fact.form));
    if (!factor || !low || !high) continue;
    const rest = facts.filter((other) => other !== fact);
    const inner = injective(scope, fact.form, oneAmount, rest);
    digits.push({ factor, reach: subtractAmounts(high, low), variables: [...fact.form.terms.keys()], inner });
    left = subtractForms(left, scaleForm({ ...fact.form, constant: zeroAmount }, factor));
  }
  for (const [variable, factor] of left.terms) {
    if (!/^(thread|block|round)$/.test(variable.kind)) return neverMet;
    const { low, high } = scope.ofVariable(variable);
    if (!low || !high) return neverMet;
    digits.push({ factor, reach: subtractAmounts(high, low), variables: [variable], inner: allMet([]) });
  }
  if (digits.length > maxDigits) return neverMet;
  const orders = permutations(digits.length).filter((order) => isUsual(order.map((at) => digits[at]!)));
  const byOrder = orders.map((order) =>
    isMixedRadix(
      order.map((at) => digits[at]!),
      width,
    ),
  );
  return allMet([...isWhole, ...digits.map(({ inner }) => inner), anyMet(byOrder)]);
}

/** The sum with each `e mod c` replaced by `e`, and the conditions under which e is below c in all threads. */
function withoutRemainders(scope: WayFacts, form: AddressForm): { form: AddressForm; isWhole: LaunchCondition[] } {
  const isWhole: LaunchCondition[] = [];
  let left = form;
  for (const variable of form.terms.keys()) {
    const { part } = variable;
    if (part?.kind !== 'remainder') continue;
    const { low, high } = scope.ofForm(part.of);
    if (!low || !high) continue;
    isWhole.push(lessOrEqual(zeroAmount, low), lessOrEqual(addAmounts(high, oneAmount), part.by));
    left = replaceVariable(left, variable, part.of);
  }
  return { form: left, isWhole };
}

/** Condition for mixed radix: the factor of each digit is at least `width` plus the maximum of the digits before it. */
function isMixedRadix(digits: readonly Digit[], width: Amount): LaunchCondition {
  let reached = width;
  const conditions = digits.map(({ factor, reach }) => {
    const worth = maxAmount(factor, scaleAmount(factor, -1n));
    const condition = anyMet([lessOrEqual(reach, zeroAmount), lessOrEqual(reached, worth)]);
    reached = addAmounts(reached, multiplyAmounts(worth, maxAmount(reach, zeroAmount)));
    return condition;
  });
  return allMet(conditions);
}

/**
 * Whether an order of digits is the usual one: on each axis, the block index has a larger factor than the thread index.
 */
function isUsual(digits: readonly Digit[]): boolean {
  const places = new Map(digits.flatMap(({ variables }, at) => variables.map(({ key }) => [key, at] as const)));
  return [0, 1, 2].every((axis) => (places.get(`thread.${axis}`) ?? -1) <= (places.get(`block.${axis}`) ?? maxDigits));
}

function permutations(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return permutations(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => [...order.slice(0, at), count - 1, ...order.slice(at)]),
  );
}
