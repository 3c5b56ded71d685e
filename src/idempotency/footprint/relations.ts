/**
 * Relations of quotients and remainders to their dividends: `e = c * floor(e / c) + e mod c`. With them, an unrolled
 * loop with its remainder loop stays below the limit of the source loop.
 */
import {
  type AddressForm,
  type IndexVariable,
  addForms,
  contentOf,
  formMultiple,
  launchForm,
  replaceVariable,
  scaleForm,
  subtractForms,
  variableForm,
} from './form.ts';
import {
  fixedAmount,
  fixedValueOf,
  divideExactly,
  isAtMost,
  multiplyAmounts,
  type Amount,
  rangeOf,
  subtractAmounts,
  zeroAmount,
} from './amount.ts';
import type { LinearInterpretation } from './linear-interpretation.ts';
import type { WayFacts } from './path-facts.ts';

/** An equation that expresses a variable by others. */
interface Relation {
  readonly variable: IndexVariable;
  readonly form: AddressForm;
}

/** Maximum number of parts in the forms on the path to an access; with more, relations are not derived. */
const maxParts = 12;

/** Quotients and remainders by the value and the divisor. */
function partsIn(forms: readonly AddressForm[]): readonly IndexVariable[] {
  const parts = new Set<IndexVariable>();
  const open = [...forms];
  for (let form = open.pop(); form && parts.size <= maxParts; form = open.pop()) {
    for (const variable of form.terms.keys()) {
      const { part } = variable;
      if (!part || parts.has(variable) || (part.kind !== 'quotient' && part.kind !== 'remainder')) continue;
      parts.add(variable);
      open.push(part.of);
    }
  }
  return [...parts];
}

/** Relations that express a variable by its quotients and remainders. */
function relationsAmong(reading: LinearInterpretation, forms: readonly AddressForm[]): readonly Relation[] {
  const parts = partsIn(forms);
  if (parts.length > maxParts) return [];
  const present = new Set(forms.flatMap((form) => [...form.terms.keys()]));
  const relations: Relation[] = [];
  const seen = new Set<string>();
  // One relation may introduce variables of the next one.
  for (const { part } of parts.flatMap(() => parts)) {
    if (!part || (part.kind !== 'quotient' && part.kind !== 'remainder')) continue;
    const { quotient, remainder, key } = reading.digits(part.of, part.by);
    if (seen.has(key)) continue;
    const whole = relations.reduce((form, relation) => replaceVariable(form, relation.variable, relation.form), part.of);
    const [own] = [...whole.terms].filter(
      ([variable, coefficient]) => isUnit(coefficient) && present.has(variable) && variable !== quotient && variable !== remainder,
    );
    if (!own) {
      const isLinked = variablesWithin(whole).some((variable) => variable !== remainder && present.has(variable));
      if (!isLinked || !present.has(remainder) || relations.some(({ variable }) => variable === remainder)) continue;
      seen.add(key);
      const form = subtractForms(whole, scaleForm(variableForm(quotient), part.by));
      for (const [i, other] of relations.entries()) relations[i] = { ...other, form: replaceVariable(other.form, remainder, form) };
      relations.push({ variable: remainder, form });
      for (const more of form.terms.keys()) present.add(more);
      continue;
    }
    seen.add(key);
    const [variable, coefficient] = own;
    const digits = addForms(scaleForm(variableForm(quotient), part.by), variableForm(remainder));
    const rest = replaceVariable(whole, variable, launchForm(zeroAmount));
    const form = scaleForm(subtractForms(digits, rest), coefficient);
    if (form.terms.has(variable)) continue;
    for (const [i, other] of relations.entries()) relations[i] = { ...other, form: replaceVariable(other.form, variable, form) };
    relations.push({ variable, form });
    for (const part of form.terms.keys()) present.add(part);
  }
  return relations;
}

/** The variables of a form, and those of its parts. */
function variablesWithin(form: AddressForm): readonly IndexVariable[] {
  const found = new Set<IndexVariable>();
  const open = [form];
  for (let next = open.pop(); next; next = open.pop()) {
    for (const variable of next.terms.keys()) {
      if (found.has(variable)) continue;
      found.add(variable);
      const { part } = variable;
      if (part) open.push(...('of' in part ? [part.of] : [part.a, part.b]));
    }
  }
  return [...found];
}

function isUnit(coefficient: Amount): boolean {
  const value = fixedValueOf(coefficient);
  return value === 1n || value === -1n;
}

/**
 * An address in which each sum of indices with a known remainder is expressed by its quotient: if `i mod 2` is 1, `i`
 * is `2 * q + 1`.
 */
export function withKnownRemainders(reading: LinearInterpretation, address: AddressForm): AddressForm {
  const { scope } = reading;
  let form = address;
  for (const fact of scope.facts) {
    const [[variable, coefficient]] = fact.form.terms as unknown as [[IndexVariable, Amount]];
    const { part } = variable;
    if (fact.form.terms.size > 1 || part?.kind !== 'remainder' || !isUnit(coefficient)) continue;
    const { low, high } = scope.ofVariable(variable);
    const factor = formMultiple(form, part.of);
    if (!low || low.key !== high?.key || !factor) continue;
    const { quotient } = reading.digits(part.of, part.by);
    const known = addForms(launchForm(low), variableForm(quotient), part.by);
    form = addForms(subtractForms(form, scaleForm(part.of, factor)), known, factor);
  }
  return form;
}

/** Narrows sums of indices by facts on their quotients and remainders. */
export function tighten(reading: LinearInterpretation, address: AddressForm): void {
  const { scope } = reading;
  const sums = scope.facts.filter(({ form }) => form.terms.size > 1);
  const relations = relationsAmong(reading, [address, ...sums.map(({ form }) => form)]);
  if (relations.length === 0) return;
  const rewrite = (form: AddressForm): AddressForm =>
    relations.reduce((whole, { variable, form: by }) => replaceVariable(whole, variable, by), form);
  const inner = scope.withFacts(scope.facts);
  for (const fact of sums) {
    const form = rewrite(fact.form);
    inner.learn(form, fact);
    learnLargeParts(inner, form, fact.high);
    learnWithoutRemainder(inner, fact.form, fact.high);
  }
  const ofAddress = (variable: IndexVariable): boolean => address.terms.has(variable);
  for (const fact of inner.facts) learnWithoutOthers(inner, fact.form, fact.high, ofAddress);
  for (const { form, high } of inner.facts) {
    const variables = [...form.terms.keys()];
    if (high && variables.every(ofAddress) && variables.some(({ kind }) => kind === 'round')) scope.learn(form, { low: null, high });
  }
  const changed = new Set(relations.map(({ variable }) => variable));
  const candidates = [...sums.map(({ form }) => form), ...groupsOf(address, relations)];
  for (const form of candidates) {
    const variables = [...form.terms.keys()];
    if (!variables.some((variable) => changed.has(variable)) || !variables.some(({ kind }) => kind === 'round')) continue;
    const { high } = inner.ofForm(rewrite(form));
    const known = scope.ofForm(form);
    if (!high || (known.high && isAtMost(known.high, high))) continue;
    scope.learn(form, { low: known.low, high });
  }
}

/** Facts without the smaller addends: 32 * a + r <= c with r from 0 to 31 implies 32 * a <= c. */
function learnLargeParts(scope: WayFacts, form: AddressForm, high: Amount | null): void {
  if (!high) return;
  for (const variable of form.terms.keys()) {
    const coefficient = form.terms.get(variable)!;
    const terms = new Map(form.terms);
    terms.delete(variable);
    const rest: AddressForm = { ...form, terms };
    const content = contentOf(rest);
    const by = fixedValueOf(coefficient);
    const span = scope.ofVariable(variable);
    const reach = span.high && rangeOf(span.high).high;
    if (content <= 1n || by === null || by >= content || by <= -content || reach === null || reach >= content) continue;
    const least = span.low && rangeOf(span.low).low;
    if (least === null) continue;
    scope.learn(rest, { low: null, high: subtractAmounts(high, fixedAmount(by * (by < 0n ? reach : least))) });
  }
}

/** A value below e mod c is below e, if e is not negative. */
function learnWithoutRemainder(scope: WayFacts, form: AddressForm, high: Amount | null): void {
  for (const [variable, coefficient] of form.terms) {
    const { part } = variable;
    if (part?.kind !== 'remainder' || fixedValueOf(coefficient) !== -1n) continue;
    const { low } = scope.ofForm(part.of);
    if (low && scope.isAtMost(zeroAmount, low)) scope.learn(replaceVariable(form, variable, part.of), { low: null, high });
  }
}

/**
 * Facts without variables that the address does not contain: a + 4 * q <= c implies a <= c - l if 4 * q is at least l.
 */
function learnWithoutOthers(
  scope: WayFacts,
  form: AddressForm,
  high: Amount | null,
  isOfAddress: (variable: IndexVariable) => boolean,
): void {
  const terms = new Map([...form.terms].filter(([variable]) => isOfAddress(variable)));
  if (!high || terms.size === form.terms.size || terms.size === 0) return;
  let most = high;
  for (const [variable, coefficient] of form.terms) {
    if (isOfAddress(variable)) continue;
    const { low } = scope.times(scope.ofVariable(variable), coefficient);
    if (low === null) return;
    // The lower bound of a nonnegative addend is replaced by 0, so that bounds stay short.
    if (!scope.isAtMost(zeroAmount, low)) most = subtractAmounts(most, low);
  }
  scope.learn({ ...form, terms }, { low: null, high: most });
}

/** The part of an address that depends on variables that relations replace. */
function groupsOf(address: AddressForm, relations: readonly Relation[]): readonly AddressForm[] {
  return relations.flatMap(({ variable }) => {
    const stride = address.terms.get(variable);
    if (!stride) return [];
    const terms = new Map<IndexVariable, Amount>();
    for (const [other, coefficient] of address.terms) {
      const ratio = divideExactly(coefficient, stride);
      if (ratio && fixedValueOf(ratio) !== null && multiplyAmounts(ratio, stride).key === coefficient.key) terms.set(other, ratio);
    }
    const group: AddressForm = { constant: zeroAmount, terms };
    return terms.size > 1 ? [scaleForm(group, fixedAmount(1n))] : [];
  });
}
