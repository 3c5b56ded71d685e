/**
 * Total trip count of a loop that depends on several iterations of the loops around it, or on several variables:
 * amortised analysis with potential functions, after section 6 of the paper on RaCUDA. At each header the potential is
 * a sum of q * max(0, form) for the linear forms that conditions compare, with non-negative factors q found by a linear
 * program. A transition decreases the potential by at least the number of counted iterations. So the potential at the
 * start bounds that number.
 */
import type { Loop } from '../../ir/form/kernel.ts';
import type { LaneSetting } from '../lanes/lane-values.ts';
import { type Constraint, minimise } from '../expressions/linear-program.ts';
import { type Rational, addRational, compareRational, multiplyRational, negate, rational } from '../expressions/rational.ts';
import { type Form, type Point, type Transition, isKnownAt, transitionsOf } from './transition.ts';

/** The sum of times * max(0, form), and a number. */
export interface Potential {
  readonly constant: Rational;
  readonly parts: readonly { readonly times: Rational; readonly form: Form }[];
}

/** Maximum number of forms at one header. */
const maxForms = 8;
const maxPivots = 400;
const one = rational(1n);
const none = rational(0n);

/**
 * Bound of the iterations of a loop by one thread in one execution of the root, over values known before it.
 * @param root the counted loop or one around it; null for the kernel
 * @param isBounded whether a form over values known before the root has a bound; others are not used
 * @returns null if none is found
 */
export function potentialOf(setting: LaneSetting, root: Loop | null, counted: Loop, isBounded: (form: Form) => boolean): Potential | null {
  const transitions = transitionsOf(setting, root);
  if (!transitions) return null;
  const forms = formsOf(setting, transitions);
  const list = transitions.map((transition) => ({ transition, isCounted: isRound(transition, counted) }));
  removeLoose(forms, transitions, isBounded);
  return solved(forms, list);
}

/** Whether a transition begins another iteration of a loop: it comes from within the loop. */
function isRound({ from, to }: Transition, { header, blocks }: Loop): boolean {
  return to === header && from !== null && blocks.has(from);
}

type Forms = Map<Point, Form[]>;

/** The forms that conditions compare at each header, and their values before transitions. */
function formsOf(setting: LaneSetting, transitions: readonly Transition[]): Forms {
  const forms: Forms = new Map([[null, []], ...transitions.map(({ to }) => [to, []] as [Point, Form[]])]);
  const work: { readonly at: Point; readonly form: Form }[] = [];
  const include = (at: Point, form: Form): void => {
    const known = forms.get(at)!;
    if (form.terms.size === 0 || known.length >= maxForms || known.some((other) => ratio(form, other))) return;
    known.push(form);
    work.push({ at, form });
  };
  for (const { from, guards } of transitions) {
    if (from === null) continue;
    for (const guard of guards) {
      if (!isKnownAt(setting, guard, from)) continue;
      const form = raised(guard, stepOf(transitions, from, guard));
      // Only the weakest of several conditions on one form is used: the form must be able to decrease in the iteration
      // that the condition allows.
      const weaker = forms.get(from)!.findIndex((other) => isAbove(form, other));
      if (weaker >= 0) forms.get(from)![weaker] = form;
      else include(from, form);
    }
  }
  for (const [at, known] of forms) work.push(...known.map((form) => ({ at, form })));
  for (let next = work.pop(); next; next = work.pop()) {
    for (const { from, to, before } of transitions) {
      const earlier = to === next.at ? before(next.form) : null;
      if (earlier) include(from, earlier);
    }
  }
  return forms;
}

/** Minimum decrease of a form in one iteration, if the form decreases; otherwise 1. */
function stepOf(transitions: readonly Transition[], at: Point, form: Form): bigint {
  let least: bigint | null = null;
  for (const { from, to, before } of transitions) {
    const later = from === at && to === at ? before(form) : null;
    const times = later && ratio(later, form);
    if (!times || times.top !== times.bottom) continue;
    const step = form.constant - later.constant;
    if (step > 0n && (least === null || step < least)) least = step;
  }
  return least ?? 1n;
}

/** Whether a form is another one plus a positive number. */
function isAbove(form: Form, other: Form): boolean {
  const times = ratio(form, other);
  return times !== null && times.top === times.bottom && form.constant > other.constant;
}

function raised({ constant, terms }: Form, by: bigint): Form {
  return { constant: constant + by, terms };
}

/** Removes forms whose value some transition makes unknown, and forms at the start without a bound. */
function removeLoose(forms: Forms, transitions: readonly Transition[], isBounded: (form: Form) => boolean): void {
  forms.set(null, forms.get(null)!.filter(isBounded));
  for (let changed = true; changed;) {
    changed = false;
    for (const transition of transitions) {
      const known = forms.get(transition.to)!;
      const left = known.filter((form) => boundsBefore(forms, transition, form).length > 0);
      changed ||= left.length < known.length;
      forms.set(transition.to, left);
    }
  }
}

/** constant + sum of factor * max(0, form), by the number of the form at a header. */
interface Mix {
  readonly constant: Rational;
  readonly factors: ReadonlyMap<number, Rational>;
}

/** Sums of at least max(0, form) after a transition, over the forms at the start of the transition. */
function boundsBefore(forms: Forms, { from, guards, before }: Transition, form: Form): Mix[] {
  const earlier = before(form);
  if (!earlier) return [];
  if (earlier.terms.size === 0) return [{ constant: rational(earlier.constant > 0n ? earlier.constant : 0n), factors: new Map() }];
  const found: Mix[] = [];
  const known = forms.get(from)!;
  const mix = (sum: Form, times: Rational, factors: Mix['factors']): Mix => {
    // The difference to the sum may be subtracted as far as the sum is provably positive.
    const rest = difference(earlier, sum, times);
    const least = guards.reduce((most, guard) => {
      const by = ratio(sum, guard);
      const low = by && multiplyRational(times, difference(sum, guard, by));
      return low && compareRational(low, most) > 0 ? low : most;
    }, none);
    return { constant: compareRational(rest, negate(least)) < 0 ? negate(least) : rest, factors };
  };
  for (const [index, other] of known.entries()) {
    const times = ratio(earlier, other);
    if (times) found.push(mix(other, times, new Map([[index, times]])));
  }
  if (found.length > 0) return found;
  for (const [index, a] of known.entries()) {
    for (const [second, b] of known.slice(0, index).entries()) {
      const sum = plus(a, b);
      const times = ratio(earlier, sum);
      if (times)
        found.push(
          mix(
            sum,
            times,
            new Map([
              [index, times],
              [second, times],
            ]),
          ),
        );
    }
  }
  return found;
}

/** The positive factor between two forms, constants aside; null if they are not proportional. */
function ratio(form: Form, other: Form): Rational | null {
  if (form.terms.size !== other.terms.size) return null;
  let times: Rational | null = null;
  for (const [term, factor] of form.terms) {
    const by = other.terms.get(term);
    if (by === undefined) return null;
    const own = rational(factor, by);
    if (own.top <= 0n || (times && (times.top !== own.top || times.bottom !== own.bottom))) return null;
    times = own;
  }
  return times;
}

/** form - times * other, which is a number. */
function difference(form: Form, other: Form, times: Rational): Rational {
  return addRational(rational(form.constant), negate(multiplyRational(times, rational(other.constant))));
}

function plus(a: Form, b: Form): Form {
  const terms = new Map(a.terms);
  for (const [term, factor] of b.terms) {
    const total = (terms.get(term) ?? 0n) + factor;
    if (total === 0n) terms.delete(term);
    else terms.set(term, total);
  }
  return { constant: a.constant + b.constant, terms };
}

/** Solves for the factors, with the smallest potential at the start. */
function solved(forms: Forms, transitions: readonly { readonly transition: Transition; readonly isCounted: boolean }[]): Potential | null {
  const weights: Rational[] = [];
  const variable = (weight: bigint): number => weights.push(rational(weight)) - 1;
  const factors = new Map<Point, { readonly constant: number; readonly of: readonly number[] }>();
  for (const [at, list] of forms) {
    const constant = variable(at === null ? 1n : 0n);
    // Terms that depend on a size have a higher weight than any constant.
    const of = list.map(({ terms }) => variable(at === null ? 1n << (10n * BigInt(Math.min(terms.size, 4))) : 0n));
    factors.set(at, { constant, of });
  }
  const constraints: Constraint[] = [];
  for (const { transition, isCounted } of transitions) {
    const [here, there] = [factors.get(transition.from)!, factors.get(transition.to)!];
    // The part of each sum used as a bound of a form; the parts add up to the factor of the form.
    const constants = new Map<number, Rational>([[there.constant, rational(-1n)]]);
    const each = here.of.map(() => new Map<number, Rational>());
    for (const [index, form] of forms.get(transition.to)!.entries()) {
      const bounds = boundsBefore(forms, transition, form);
      const shares = bounds.length === 1 ? [there.of[index]!] : bounds.map(() => variable(0n));
      if (bounds.length > 1)
        constraints.push({
          coefficients: new Map([...shares.map((share) => [share, one] as const), [there.of[index]!, rational(-1n)]]),
          least: none,
        });
      for (const [number, { constant, factors: own }] of bounds.entries()) {
        accumulate(constants, shares[number]!, negate(constant));
        for (const [other, by] of own) accumulate(each[other]!, shares[number]!, negate(by));
      }
    }
    accumulate(constants, here.constant, one);
    constraints.push({ coefficients: constants, least: isCounted ? one : none });
    for (const [other, coefficients] of each.entries()) {
      if (coefficients.size === 0) continue;
      accumulate(coefficients, here.of[other]!, one);
      constraints.push({ coefficients, least: none });
    }
  }
  const values = minimise(weights, constraints, maxPivots);
  const start = factors.get(null);
  if (!values || !start) return null;
  const parts = forms.get(null)!.map((form, index) => ({ times: values[start.of[index]!]!, form }));
  return { constant: values[start.constant]!, parts: parts.filter(({ times }) => times.top > 0n) };
}

function accumulate(sum: Map<number, Rational>, variable: number, by: Rational): void {
  sum.set(variable, addRational(sum.get(variable) ?? none, by));
}
