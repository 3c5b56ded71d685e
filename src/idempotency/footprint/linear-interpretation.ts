/**
 * Terms of a kernel as linear forms over indices (section 5.1 of PICKER): sums and products with quantities of the
 * launch are followed, and a non-linear term becomes a part with the range of its operands. A form is congruent to its
 * term modulo 2^width; if a value is read as a number, the launch has to imply that nothing wraps around.
 */
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { gcd } from '../../base/integer.ts';
import { maximumBlock, maximumGrid } from '../../device/hardware-limits.ts';
import type { LoopId } from '../../ir/form/kernel.ts';
import { signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import {
  type AddressForm,
  type IndexVariable,
  type Part,
  addForms,
  contentOf,
  formKey,
  launchForm,
  leavesOf,
  formMultiple,
  scaleForm,
  shiftForm,
  subtractForms,
  variableForm,
} from './form.ts';
import { type LaunchCondition, allMet, anyMet, lessOrEqual, equal, neverMet, alwaysMet } from './launch-condition.ts';
import {
  type Amount,
  addAmounts,
  atom,
  choiceAmount,
  fixedAmount,
  fixedValueOf,
  divideExactly,
  isAtMost,
  maxAmount,
  minAmount,
  multiplyAmounts,
  oneAmount,
  quantityOf,
  quotientAmount,
  rangeOf,
  remainderAmount,
  scaleAmount,
  subtractAmounts,
  zeroAmount,
} from './amount.ts';
import { spend } from '../model/effort.ts';
import { WayFacts } from './path-facts.ts';

/** Bounds of a loaded value that the user states: the minimum and the maximum. */
export type StatedValue = (value: number) => { readonly low: Amount; readonly high: Amount } | undefined;

interface ReadingContext {
  readonly symbolic: SymbolicKernel;
  readonly statedValue: StatedValue;
  /** Number of iterations that a loop has completed at its exit; null if unknown. */
  readonly lastIteration: (loop: LoopId, reading: LinearInterpretation) => AddressForm | null;
  /** Assumes a condition. */
  readonly learn: (reading: LinearInterpretation, condition: Term) => void;
  /** Whether the access is within the loop, so that it is made in iterations of the loop. */
  readonly isInside: (loop: LoopId) => boolean;
}

/** Interprets terms at one program point as linear forms. */
export class LinearInterpretation {
  readonly context: ReadingContext;
  scope: WayFacts;
  private memo = new Map<Term, AddressForm>();
  private memoVersion = 0;
  private readonly variables: Map<string, IndexVariable>;

  constructor(context: ReadingContext, scope = new WayFacts(), variables = new Map<string, IndexVariable>()) {
    this.context = context;
    this.scope = scope;
    this.variables = variables;
  }

  /** An interpretation with additional facts, for one alternative of the value. `scope.adopt` transfers its needs. */
  inner(context = this.context): LinearInterpretation {
    return new LinearInterpretation(context, new WayFacts(this.scope), this.variables);
  }

  private variable(key: string, make: () => Omit<IndexVariable, 'key'>): IndexVariable {
    let variable = this.variables.get(key);
    if (!variable) {
      variable = { key, ...make() };
      this.variables.set(key, variable);
    }
    return variable;
  }

  /** The variable of the completed iterations of a loop around the access. */
  round(loop: LoopId): IndexVariable {
    const key = `round.${loop}`;
    return this.variable(key, () => ({ kind: 'round', of: [key], low: zeroAmount, high: null, part: null, isAnything: false }));
  }

  private index(kind: 'thread' | 'block', axis: 0 | 1 | 2): AddressForm {
    const key = `${kind}.${axis}`;
    const size = dimensionAmount(kind === 'thread' ? 'block-size' : 'grid-size', axis);
    return variableForm(
      this.variable(key, () => ({
        kind,
        of: [key],
        low: zeroAmount,
        high: subtractAmounts(size, oneAmount),
        part: null,
        isAnything: false,
      })),
    );
  }

  private part(part: Part, key: string, low: Amount | null = null, high: Amount | null = null): AddressForm {
    const forms = 'of' in part ? [part.of] : [part.a, part.b];
    const of = [...new Set(forms.flatMap((form) => [...leavesOf(form)]))];
    return variableForm(this.variable(key, () => ({ kind: 'part', of, low, high, part, isAnything: false })));
  }

  /** A variable for a value of which only the type is known. */
  private anything(term: Term, reading: 'signed' | 'unsigned'): AddressForm {
    const { low, high } = reading === 'signed' ? signedBounds(term.width || 1) : unsignedBounds(term.width);
    const leaves = term.leaves.map(({ id, atom: leaf }) => {
      if (leaf?.kind === 'havoc') return `value.${leaf.value}`;
      if (leaf?.kind === 'iteration') return `round.${leaf.loop}`;
      if (leaf?.kind === 'line') return `line.${leaf.instruction}`;
      return leaf?.kind === 'thread' || leaf?.kind === 'block' ? `${leaf.kind}.${leaf.axis}` : `term.${id}`;
    });
    const variable = this.variable(`any.${term.id}.${reading}`, () => ({
      kind: 'value',
      of: leaves,
      low: fixedAmount(low),
      high: fixedAmount(high),
      part: null,
      isAnything: term.width >= 32,
    }));
    return variableForm(variable);
  }

  /** A form that is congruent to the term modulo 2^width. */
  natural(term: Term): AddressForm {
    if (this.memoVersion !== this.scope.version) this.memo = new Map();
    this.memoVersion = this.scope.version;
    let form = this.memo.get(term);
    if (!form) {
      spend(this.context.symbolic, 1 + this.scope.size);
      form = this.compute(term);
      spend(this.context.symbolic, form.terms.size);
      this.memo.set(term, form);
    }
    return form;
  }

  signed(term: Term): AddressForm {
    return this.number(term, 'signed');
  }

  unsigned(term: Term): AddressForm {
    return this.number(term, 'unsigned');
  }

  /**
   * The unsigned number that other values are compared with. If the launch determines it, wrap-around is computed as in
   * the kernel.
   */
  unsignedLimit(term: Term): AddressForm {
    const value = this.launchNumber(term, 'unsigned');
    return value ? launchForm(value) : this.unsigned(term);
  }

  private number(term: Term, reading: 'signed' | 'unsigned'): AddressForm {
    if (term.operator === 'constant')
      return launchForm(fixedAmount(reading === 'signed' ? BigInt.asIntN(term.width, term.value) : term.value));
    if (term.atom?.kind === 'parameter') return launchForm(argument(term, reading === 'signed'));
    const { low, high } = reading === 'signed' ? signedBounds(term.width) : unsignedBounds(term.width);
    if (term.atom?.kind === 'havoc' || term.atom?.kind === 'phi') return this.unknown(term, reading);
    const form = this.natural(term);
    // Hashes are meant to wrap around.
    const isHash = [...form.terms.values()].some((coefficient) => {
      const value = fixedValueOf(coefficient);
      return value !== null && (value > high || value < -high);
    });
    return !isHash && this.scope.fits(form, low, high) ? form : this.anything(term, reading);
  }

  private unknown(term: Term, reading: 'signed' | 'unsigned'): AddressForm {
    const stated = term.atom?.kind === 'havoc' ? this.context.statedValue(term.atom.value) : undefined;
    const form = this.anything(term, reading);
    if (stated) this.scope.learn(form, stated);
    return form;
  }

  private compute(term: Term): AddressForm {
    const [a, b] = term.arguments as [Term, Term];
    switch (term.operator) {
      case 'constant':
        return launchForm(fixedAmount(BigInt.asIntN(term.width, term.value)));
      case 'atom':
        return this.ofAtom(term);
      case 'sum': {
        let sum = launchForm(fixedAmount(BigInt.asIntN(term.width, term.value)));
        term.arguments.forEach((part, i) => {
          sum = addForms(sum, this.natural(part), fixedAmount(term.coefficients[i]!));
        });
        return this.recombined(sum);
      }
      case 'mul': {
        const [x, y] = [this.natural(a), this.natural(b)];
        if (x.terms.size === 0) return scaleForm(y, x.constant);
        if (y.terms.size === 0) return scaleForm(x, y.constant);
        return this.product(term, x, y);
      }
      case 'zext':
        return this.unsigned(a);
      case 'sext':
        return this.signed(a);
      case 'trunc':
        return this.natural(a);
      case 'udiv':
      case 'urem':
      case 'sdiv':
      case 'srem':
        return this.division(term);
      case 'lshr':
      case 'ashr':
        if (b.operator !== 'constant') return this.shiftedBy(term);
        return this.rightShift(term, b.value);
      case 'shl':
        return this.shiftedBy(term);
      case 'and':
        return this.mask(term);
      case 'or':
      case 'xor':
        return this.bits(term);
      case 'select':
        return this.select(term);
      default:
        return this.anything(term, 'signed');
    }
  }

  private ofAtom(term: Term): AddressForm {
    const leaf = term.atom!;
    switch (leaf.kind) {
      case 'thread':
      case 'block':
        return this.index(leaf.kind, leaf.axis);
      case 'block-size':
      case 'grid-size':
        return launchForm(dimensionAmount(leaf.kind, leaf.axis));
      case 'parameter':
        return launchForm(argument(term, leaf.bytes < 8));
      case 'iteration': {
        const loop = leaf.loop as LoopId;
        if (this.context.isInside(loop)) return variableForm(this.round(loop));
        return this.context.lastIteration(loop, this) ?? this.anything(term, 'unsigned');
      }
      case 'line': {
        const key = `line.${leaf.instruction}`;
        const high = fixedAmount(BigInt(leaf.lines - 1));
        return variableForm(this.variable(key, () => ({ kind: 'line', of: [key], low: zeroAmount, high, part: null, isAnything: false })));
      }
      default:
        return this.unknown(term, 'signed');
    }
  }

  private product(term: Term, x: AddressForm, y: AddressForm): AddressForm {
    const [p, q] = [this.scope.ofForm(x), this.scope.ofForm(y)];
    if (!p.low || !p.high || !q.low || !q.high) return this.anything(term, 'signed');
    const ends = [
      multiplyAmounts(p.low, q.low),
      multiplyAmounts(p.low, q.high),
      multiplyAmounts(p.high, q.low),
      multiplyAmounts(p.high, q.high),
    ];
    const areNatural = isAtMost(zeroAmount, p.low) && isAtMost(zeroAmount, q.low);
    const [low, high] = areNatural ? [ends[0]!, ends[3]!] : [minAmount(...ends), maxAmount(...ends)];
    return this.between(`product.${term.id}`, term, low, high);
  }

  /** A variable for a value with a known range. */
  private between(key: string, term: Term, low: Amount, high: Amount): AddressForm {
    const of = this.anything(term, 'signed').terms.keys().next().value!.of;
    const id = `${key}:${low.key}..${high.key}`;
    return variableForm(this.variable(id, () => ({ kind: 'part', of, low, high, part: null, isAnything: false })));
  }

  /** The quotient and the remainder of a form that neither is a multiple of the divisor nor below it. */
  digits(of: AddressForm, by: Amount): { quotient: IndexVariable; remainder: IndexVariable; key: string } {
    const key = `${formKey(of)}/${by.key}`;
    const quotient = this.part({ kind: 'quotient', of, by }, `floor(${key})`);
    const remainder = this.part({ kind: 'remainder', of, by }, `mod(${key})`);
    return { quotient: onlyVariable(quotient), remainder: onlyVariable(remainder), key };
  }

  /** Writes e - c * floor(e / c) as e mod c, and c * floor(e / c) + e mod c as e. */
  private recombined(form: AddressForm): AddressForm {
    for (const [variable, coefficient] of form.terms) {
      const { part } = variable;
      const factor = part?.kind === 'quotient' ? divideExactly(coefficient, part.by) : null;
      if (part?.kind !== 'quotient' || !factor) continue;
      const { remainder: left } = this.digits(part.of, part.by);
      const own = formMultiple(form, part.of);
      const whole = variableForm(variable);
      if (own && own.key === scaleAmount(factor, -1n).key) {
        const difference = subtractForms(part.of, addForms(launchForm(zeroAmount), whole, part.by));
        return addForms(subtractForms(form, scaleForm(difference, own)), variableForm(left), own);
      }
      if (form.terms.get(left)?.key === factor.key) {
        const digits = addForms(variableForm(left), whole, part.by);
        return addForms(subtractForms(form, scaleForm(digits, factor)), part.of, factor);
      }
    }
    return form;
  }

  /**
   * The quotient that a compiler computes with a product: floor(m * e / 2^k) is floor(e / d) for m * d - 2^k = r >= 0
   * as long as r * e < 2^k, if e is not negative (Granlund and Montgomery, Division by Invariant Integers, theorem
   * 4.2).
   */
  private byProduct(form: AddressForm, by: Amount): { readonly of: AddressForm; readonly by: Amount } | null {
    const power = fixedValueOf(by);
    const factor = gcd(contentOf(form), fixedValueOf(form.constant) ?? 1n);
    if (power === null || factor < 3n || (power & (power - 1n)) !== 0n || power < 1n << 32n) return null;
    const divisor = (power + factor - 1n) / factor;
    const rest = factor * divisor - power;
    const start = divideExactly(form.constant, fixedAmount(factor))!;
    const terms = new Map([...form.terms].map(([v, c]) => [v, divideExactly(c, fixedAmount(factor))!]));
    const of: AddressForm = { constant: start, terms };
    const { low, high } = this.scope.ofForm(of);
    if (rest === 0n || divisor < 3n || !low || !high || !this.scope.isAtMost(zeroAmount, low)) return null;
    const most = fixedAmount((power - 1n) / rest);
    // Products with other constants do not come from divisions: the largest dividend for which the identity is valid is
    // far below the range of an index.
    if (power / rest < 1n << 30n) return null;
    if (!this.scope.isAtMost(high, most) && !this.scope.need(lessOrEqual(high, most))) return null;
    return { of, by: fixedAmount(divisor) };
  }

  /** floor(form / by), for a divisor that is positive. */
  quotient(form: AddressForm, by: Amount): AddressForm {
    if (fixedValueOf(by) === 1n) return form;
    const { whole, rest } = splitForm(form, by);
    const product = this.byProduct(rest, by);
    if (product) return addForms(whole, this.quotient(product.of, product.by));
    const [only] = rest.terms;
    // floor(floor(e / a) / b) is floor(e / (a * b)).
    if (rest.terms.size === 1 && only![0].part?.kind === 'quotient' && fixedValueOf(only![1]) === 1n) {
      const { of, by: inner } = only![0].part;
      return addForms(whole, this.quotient(shiftForm(of, multiplyAmounts(rest.constant, inner)), multiplyAmounts(by, inner)));
    }
    if (rest.terms.size === 0) return shiftForm(whole, quotientAmount(rest.constant, by));
    if (this.isBelow(rest, by)) return whole;
    return addForms(whole, this.part({ kind: 'quotient', of: rest, by }, `floor(${formKey(rest)}/${by.key})`));
  }

  /** form mod by, for a divisor that is positive. */
  remainder(form: AddressForm, by: Amount): AddressForm {
    const { rest } = splitForm(form, by);
    if (rest.terms.size === 0) return launchForm(remainderAmount(rest.constant, by));
    if (this.isBelow(rest, by)) return rest;
    return this.part({ kind: 'remainder', of: rest, by }, `mod(${formKey(rest)}/${by.key})`);
  }

  private isBelow(form: AddressForm, by: Amount): boolean {
    const { low, high } = this.scope.ofForm(form);
    return low !== null && high !== null && this.scope.isAtMost(zeroAmount, low) && this.scope.isAtMost(addAmounts(high, oneAmount), by);
  }

  private division(term: Term): AddressForm {
    const [a, b] = term.arguments as [Term, Term];
    const isSigned = term.operator === 'sdiv' || term.operator === 'srem';
    const reading = isSigned ? 'signed' : 'unsigned';
    const dividend = this.number(a, reading);
    const divisor = this.number(b, reading);
    if (divisor.terms.size > 0 || !this.scope.need(lessOrEqual(oneAmount, divisor.constant))) return this.anything(term, reading);
    if (isSigned) {
      // Truncation and rounding down agree if the value is not negative.
      const { low } = this.scope.ofForm(dividend);
      if (!low || !this.scope.need(this.scope.isAtMost(zeroAmount, low) ? alwaysMet : lessOrEqual(zeroAmount, low)))
        return this.anything(term, reading);
    }
    const isQuotient = term.operator === 'udiv' || term.operator === 'sdiv';
    return isQuotient ? this.quotient(dividend, divisor.constant) : this.remainder(dividend, divisor.constant);
  }

  private rightShift(term: Term, by: bigint): AddressForm {
    const [a] = term.arguments as [Term];
    const [value, amount] = a.arguments;
    const isSign = a.operator === 'ashr' && amount!.operator === 'constant' && amount!.value === BigInt(a.width - 1);
    if (term.operator === 'lshr' && isSign) {
      // The bias that signed division adds to a negative dividend before the shift.
      const { low } = this.scope.ofForm(this.signed(value!));
      if (low && this.scope.need(this.scope.isAtMost(zeroAmount, low) ? alwaysMet : lessOrEqual(zeroAmount, low)))
        return launchForm(zeroAmount);
    }
    if (term.operator === 'lshr' && by === BigInt(term.width - 1)) {
      // The sign of a number.
      const { low } = this.scope.ofForm(this.signed(a));
      if (low && this.scope.isAtMost(zeroAmount, low)) return launchForm(zeroAmount);
    }
    return this.quotient(term.operator === 'lshr' ? this.unsigned(a) : this.signed(a), fixedAmount(1n << by));
  }

  private mask(term: Term): AddressForm {
    const [a, b] = term.arguments as [Term, Term];
    if (b.operator === 'constant') {
      const size = b.value + 1n;
      if ((b.value & size) === 0n) return this.remainder(this.natural(a), fixedAmount(size));
      const lowest = b.value & -b.value;
      const above = b.value / lowest + 1n;
      // Tests for a mask of contiguous bits.
      if ((above & (above - 1n)) === 0n && above * lowest === 1n << BigInt(term.width))
        return scaleForm(this.quotient(this.unsigned(a), fixedAmount(lowest)), fixedAmount(lowest));
      return this.between(`mask.${term.id}`, term, zeroAmount, fixedAmount(b.value));
    }
    const [x, y] = [this.unsigned(a), this.unsigned(b)];
    const launched = this.ofLaunch('and', x, y);
    if (launched) return launched;
    const highs = [this.scope.ofForm(x).high, this.scope.ofForm(y).high].filter((high) => high !== null);
    return highs.length === 0 ? this.anything(term, 'unsigned') : this.between(`and.${term.id}`, term, zeroAmount, minAmount(...highs));
  }

  private bits(term: Term): AddressForm {
    const [a, b] = term.arguments as [Term, Term];
    const [x, y] = [this.unsigned(a), this.unsigned(b)];
    for (const [wide, narrow] of [
      [x, y],
      [y, x],
    ] as const) {
      const { low, high } = this.scope.ofForm(narrow);
      const most = high && rangeOf(high).high;
      if (!low || most === null || most < 0n || !this.scope.isAtMost(zeroAmount, low)) continue;
      const step = fixedAmount(1n << BigInt(most === 0n ? 0 : most.toString(2).length));
      if (splitForm(wide, step).rest.terms.size === 0 && fixedValueOf(splitForm(wide, step).rest.constant) === 0n)
        return addForms(wide, narrow);
    }
    const launched = this.ofLaunch(term.operator === 'or' ? 'or' : 'xor', x, y);
    if (launched) return launched;
    const [p, q] = [this.scope.ofForm(x), this.scope.ofForm(y)];
    if (!p.high || !q.high) return this.anything(term, 'unsigned');
    const [most, other] = [rangeOf(p.high).high, rangeOf(q.high).high];
    const sum = addAmounts(p.high, q.high);
    const larger = most === null || other === null ? null : most > other ? most : other;
    const bits = larger === null || larger < 0n ? null : fixedAmount((1n << BigInt(larger.toString(2).length)) - 1n);
    return this.between(`bits.${term.id}`, term, zeroAmount, bits ? minAmount(sum, bits) : sum);
  }

  private ofLaunch(kind: 'and' | 'or' | 'xor', x: AddressForm, y: AddressForm): AddressForm | null {
    if (x.terms.size > 0 || y.terms.size > 0) return null;
    const [left, right] = [x.constant, y.constant];
    const high = kind === 'and' ? rangeOf(minAmount(left, right)).high : rangeOf(addAmounts(left, right)).high;
    const quantity = { kind, left: quantityOf(left), right: quantityOf(right) };
    return launchForm(atom(`${kind}(${left.key};${right.key})`, quantity, 0n, high));
  }

  /** Shifts by launch-determined amounts. */
  private shiftedBy(term: Term): AddressForm {
    const [a, b] = term.arguments as [Term, Term];
    const amount = this.unsigned(b);
    const value = term.operator === 'ashr' ? this.signed(a) : this.unsigned(a);
    const most = fixedAmount(BigInt(term.width - 1));
    if (amount.terms.size === 0 && this.scope.need(lessOrEqual(amount.constant, most))) {
      const power = atom(
        `1<<(${amount.constant.key})`,
        { kind: 'shift-left', left: quantityOf(oneAmount), right: quantityOf(amount.constant) },
        1n,
        1n << BigInt(term.width - 1),
      );
      return term.operator === 'shl' ? scaleForm(value, power) : this.quotient(value, power);
    }
    const { low, high } = this.scope.ofForm(value);
    if (term.operator !== 'shl' && low && high && this.scope.isAtMost(zeroAmount, low))
      return this.between(`shift.${term.id}`, term, zeroAmount, high);
    const by = this.scope.ofForm(amount);
    const places = by.high && rangeOf(by.high).high;
    if (term.operator !== 'shl' || !low || !high || places === null || places >= BigInt(term.width))
      return this.anything(term, term.operator === 'ashr' ? 'signed' : 'unsigned');
    return this.between(`shift.${term.id}`, term, minAmount(low, zeroAmount), scaleAmount(maxAmount(high, zeroAmount), 1n << places));
  }

  private select(term: Term): AddressForm {
    const [test, a, b] = term.arguments as [Term, Term, Term];
    const decided = this.launchCondition(test);
    if (decided && this.scope.isMet(decided)) return this.natural(a);
    if (decided && this.scope.isMet(decided.negation())) return this.natural(b);
    const yes = this.inner();
    const no = this.inner();
    if (decided) {
      yes.scope.guard(decided);
      no.scope.guard(decided.negation());
    }
    this.context.learn(yes, test);
    this.context.learn(no, this.context.symbolic.store.not(test));
    const [x, y] = [yes.natural(a), no.natural(b)];
    this.scope.adopt(yes.scope);
    this.scope.adopt(no.scope);
    if (formKey(x) === formKey(y)) return x;
    const order = this.order(test, a, b);
    const larger = order && this.larger(a, b);
    if (larger) return this.natural((order === 'largest') === (larger === 'first') ? a : b);
    if (decided && order && x.terms.size === 0 && y.terms.size === 0)
      return launchForm(order === 'least' ? minAmount(x.constant, y.constant) : maxAmount(x.constant, y.constant));
    if (decided) {
      const key = decided.key;
      const chosen = (p: Amount, q: Amount): Amount => choiceAmount(decided.condition, key, p, q);
      const variables = new Set([...x.terms.keys(), ...y.terms.keys()]);
      const terms = new Map([...variables].map((v) => [v, chosen(x.terms.get(v) ?? zeroAmount, y.terms.get(v) ?? zeroAmount)]));
      return { constant: chosen(x.constant, y.constant), terms };
    }
    // x == 0 ? y : y + c * x is y + c * x: the final value of a variable of a loop that may have no iterations.
    const difference = subtractForms(y, x);
    if (yes.isZero(difference)) return y;
    if (no.isZero(difference)) return x;
    const [p, q] = [yes.scope.ofForm(x), no.scope.ofForm(y)];
    const low = p.low && q.low && minAmount(p.low, q.low);
    const high = p.high && q.high && maxAmount(p.high, q.high);
    const id = `${order ?? 'either'}.${term.id}:${low?.key}..${high?.key}`;
    return this.part({ kind: order ?? 'either', a: x, b: y }, id, low, high);
  }

  /** Which of two signed numbers is at least the other, in all threads and iterations. */
  private larger(a: Term, b: Term): 'first' | 'second' | null {
    const { low, high } = this.scope.ofForm(subtractForms(this.signed(a), this.signed(b)));
    if (low && this.scope.isAtMost(zeroAmount, low)) return 'first';
    return high && this.scope.isAtMost(high, zeroAmount) ? 'second' : null;
  }

  isZero(form: AddressForm): boolean {
    const { low, high } = this.scope.ofForm(form);
    return low !== null && high !== null && fixedValueOf(low) === 0n && fixedValueOf(high) === 0n;
  }

  /** `x < y ? x : y` is the minimum, `x < y ? y : x` the maximum. */
  private order(test: Term, a: Term, b: Term): 'least' | 'largest' | null {
    if (test.operator !== 'slt') return null;
    const [x, y] = test.arguments;
    if (x === a && y === b) return 'least';
    return x === b && y === a ? 'largest' : null;
  }

  /** A condition that depends only on the launch; null if it depends on a thread, an iteration or memory. */
  launchCondition(term: Term): LaunchCondition | null {
    if (term.operator === 'constant') return term.value === 1n ? alwaysMet : neverMet;
    const isOfLaunch = term.leaves.every(({ atom: leaf }) => /^(parameter|block-size|grid-size)$/.test(leaf!.kind));
    if (!isOfLaunch) return null;
    const inner = (parts: readonly Term[]): LaunchCondition[] | null => {
      const list = parts.map((part) => this.launchCondition(part));
      return list.includes(null) ? null : (list as LaunchCondition[]);
    };
    const [a, b] = term.arguments as [Term, Term];
    switch (term.operator) {
      case 'not':
        return this.launchCondition(a)?.negation() ?? null;
      case 'all':
      case 'any': {
        const list = inner(term.arguments);
        return list && (term.operator === 'all' ? allMet(list) : anyMet(list));
      }
      case 'slt':
      case 'ult':
      case 'equal': {
        if (a.width === 0) return null;
        const reading = term.operator === 'slt' ? 'signed' : 'unsigned';
        const [x, y] = [this.launchNumber(a, reading), this.launchNumber(b, reading)];
        if (!x || !y) return null;
        return term.operator === 'equal' ? equal(x, y) : lessOrEqual(addAmounts(x, oneAmount), y);
      }
      default:
        return null;
    }
  }

  /** The value of a term that depends only on the launch, wrapped around as in the kernel; null for other terms. */
  private launchNumber(term: Term, reading: 'signed' | 'unsigned'): Amount | null {
    if (term.operator === 'constant' || term.atom?.kind === 'parameter') return this.number(term, reading).constant;
    const form = this.natural(term);
    if (form.terms.size > 0) return null;
    const { low, high } = reading === 'signed' ? signedBounds(term.width) : unsignedBounds(term.width);
    const value = form.constant;
    if (this.scope.isAtMost(fixedAmount(low), value) && this.scope.isAtMost(value, fixedAmount(high))) return value;
    if (reading === 'signed' && this.scope.fits(form, low, high)) return value;
    const size = fixedAmount(1n << BigInt(term.width));
    return addAmounts(remainderAmount(subtractAmounts(value, fixedAmount(low)), size), fixedAmount(low));
  }
}

/** Splits a form into the quotient of the addends that are multiples of the divisor, and the other addends. */
function splitForm(form: AddressForm, by: Amount): { readonly whole: AddressForm; readonly rest: AddressForm } {
  const split = (value: Amount, isConstant: boolean): { whole: Amount; rest: Amount } => {
    const left = remainderOfSum(value, by, isConstant);
    return { rest: left, whole: divideExactly(subtractAmounts(value, left), by) ?? zeroAmount };
  };
  const start = split(form.constant, true);
  let whole = launchForm(start.whole);
  let rest = launchForm(start.rest);
  for (const [variable, coefficient] of form.terms) {
    const parts = split(coefficient, false);
    whole = addForms(whole, variableForm(variable), parts.whole);
    rest = addForms(rest, variableForm(variable), parts.rest);
  }
  return { whole, rest };
}

/** A sum without the addends that are multiples of the divisor. */
function remainderOfSum(value: Amount, by: Amount, isConstant: boolean): Amount {
  const parts = [...value.monomials].map(([key, part]) => ({ key, monomials: new Map([[key, part]]) }));
  const others = parts.filter((part) => !divideExactly(addAmounts(part), by));
  const divisor = fixedValueOf(by);
  return addAmounts(
    ...others.map((part) => {
      const number = fixedValueOf(part);
      if (number === null || divisor === null) return part;
      // The coefficient keeps its sign under the remainder, so that -1 is unchanged.
      const left = number % divisor;
      return fixedAmount(isConstant && left < 0n ? left + divisor : left);
    }),
  );
}

function onlyVariable(form: AddressForm): IndexVariable {
  return form.terms.keys().next().value!;
}

const limits = { 'block-size': maximumBlock, 'grid-size': maximumGrid };

/** A dimension of the launch. */
export function dimensionAmount(kind: 'block-size' | 'grid-size', axis: 0 | 1 | 2): Amount {
  return atom(`${kind}.${axis}`, { kind, axis }, 1n, BigInt(limits[kind][axis]));
}

/** An integer among the arguments of the launch. */
function argument(term: Term, signed: boolean): Amount {
  const leaf = term.atom;
  if (leaf?.kind !== 'parameter') return zeroAmount;
  const bytes = leaf.bytes as 1 | 2 | 4 | 8;
  const { low, high } = signed ? signedBounds(bytes * 8) : unsignedBounds(bytes * 8);
  const { index, offset } = leaf;
  return atom(`argument.${index}.${offset}.${bytes}.${signed ? 's' : 'u'}`, { kind: 'argument', index, offset, bytes, signed }, low, high);
}
