/** Symbolic lower and upper bounds of terms. */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { LoopId } from '../../ir/form/kernel.ts';
import { type Linear, inside, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { type Expression, add, constant, floorQuotient, multiply, named, scale, subtract } from '../expressions/expression.ts';
import { extremum, isNonNegative } from '../expressions/expression-order.ts';
import { type LaneEvaluator, type LaneSetting, unread } from './lane-values.ts';
import type { WarpPosition } from './warp-position.ts';

export interface BoundSetting extends LaneSetting {
  readonly dimensions: Dimensions;
  /** Name of a scalar parameter; null if it is not an integer. */
  readonly parameterName: (index: number, offset: number) => string | null;
  /** Known bounds of a loaded value, or of a loop variable. */
  readonly valueBounds: (value: number) => TermBounds | null;
}

/** If both bounds exist and are equal, they are the value itself. */
export interface TermBounds {
  readonly low: Expression | null;
  readonly high: Expression | null;
}

const unknown: TermBounds = { low: null, high: null };
const axes = ['x', 'y', 'z'] as const;
/** Constants of at least this size are not used as bounds of a size. */
const large = 1n << 24n;

/** The name of the number of completed iterations of a loop, within the loop. */
export function roundName(loop: number): string {
  return `#${loop}`;
}

/** Whether a name of a bound denotes the number of completed iterations of a loop. */
export function isRoundName(name: string): boolean {
  return name.startsWith('#');
}

/** Bounds of the values of terms in one lane at one place. */
export class TermBounder {
  readonly #setting: BoundSetting;
  readonly #place: WarpPosition;
  readonly #evaluator: LaneEvaluator;
  readonly #lane: number;
  readonly #least: ReadonlyMap<string, bigint>;
  readonly #known = new Map<Term, TermBounds>();

  /** @param least lower bounds of parameters that are known to be more than 0 */
  constructor(
    setting: BoundSetting,
    place: WarpPosition,
    evaluator: LaneEvaluator,
    lane: number,
    least: ReadonlyMap<string, bigint> = new Map(),
  ) {
    this.#least = least;
    this.#setting = setting;
    this.#place = place;
    this.#evaluator = evaluator;
    this.#lane = lane;
  }

  /** Bounds of a linear form. */
  ofForm(form: Linear): TermBounds {
    let low: Expression | null = constant(form.constant);
    let high: Expression | null = low;
    for (const [term, factor] of form.terms) {
      const bounds = this.ofUnknown(term);
      const [below, above] = factor > 0n ? [bounds.low, bounds.high] : [bounds.high, bounds.low];
      low = low && below && add(low, scale(below, factor));
      high = high && above && add(high, scale(above, factor));
    }
    return { low, high };
  }

  /** Bounds of the integer that an unknown of a linear form denotes. */
  ofUnknown(term: Term): TermBounds {
    let bounds = this.#known.get(term);
    if (!bounds) {
      bounds = this.#compute(term);
      this.#known.set(term, bounds);
    }
    return bounds;
  }

  #compute(term: Term): TermBounds {
    const found = this.#structure(term);
    if (found.low && found.high) return found;
    const range = this.#setting.symbolic.view.unknownRange(term);
    return {
      low: found.low ?? (range.low > -large ? constant(range.low) : null),
      high: found.high ?? (range.high < large ? constant(range.high) : null),
    };
  }

  #structure(term: Term): TermBounds {
    const { view } = this.#setting.symbolic;
    const inner = unread(view, term);
    if (inner) return this.ofForm(inner);
    const { atom } = term;
    if (atom) {
      switch (atom.kind) {
        case 'parameter': {
          const name = this.#setting.parameterName(atom.index, atom.offset);
          if (name === null) return unknown;
          this.#setting.assume('non-negative');
          return exactly(named(name, this.#least.get(name) ?? 0n));
        }
        case 'block-size':
        case 'grid-size':
          return exactly(named(`${atom.kind === 'block-size' ? 'blockDim' : 'gridDim'}.${axes[atom.axis]}`, 1n));
        case 'block': {
          const size = this.#setting.dimensions.grid[atom.axis];
          const most = size === null ? named(`gridDim.${axes[atom.axis]}`, 1n) : constant(size);
          return { low: constant(0), high: subtract(most, constant(1)) };
        }
        case 'thread': {
          const own = this.#evaluator.atom(term, this.#lane);
          return own === undefined ? unknown : exactly(constant(own));
        }
        case 'iteration': {
          const round = this.#place.rounds.get(atom.loop as LoopId);
          if (round === undefined) return { low: constant(0), high: null };
          return exactly(round === null ? named(roundName(atom.loop)) : constant(round));
        }
        case 'havoc':
          return this.#setting.valueBounds(atom.value) ?? unknown;
        default:
          return unknown;
      }
    }
    const own = this.#evaluator.evaluate(term, this.#lane);
    if (own !== undefined) {
      const isSigned = view.unknownRange(term).low < 0n;
      return exactly(constant(isSigned ? BigInt.asIntN(term.width, own) : own));
    }
    return this.#operation(term);
  }

  #operation(term: Term): TermBounds {
    const [a, b] = term.arguments as [Term, Term];
    switch (term.operator) {
      case 'mul': {
        const [x, y] = [this.ofTerm(a), this.ofTerm(b)];
        if (!x.low || !x.high || !y.low || !y.high) return unknown;
        if (isNonNegative(x.low) && isNonNegative(y.low)) return { low: multiply(x.low, y.low), high: multiply(x.high, y.high) };
        const isExact = x.low.key === x.high.key && y.low.key === y.high.key;
        return isExact ? exactly(multiply(x.low, y.low)) : unknown;
      }
      case 'udiv':
      case 'sdiv':
      case 'lshr':
      case 'ashr':
        return this.#quotient(term, a, b);
      case 'and': {
        if (b.operator !== 'constant') return unknown;
        const from = this.ofTerm(a);
        if (!from.low || !from.high || !isNonNegative(from.low)) return unknown;
        // A mask without its lowest bits rounds down to a multiple.
        const rest = BigInt.asIntN(term.width, b.value);
        const unit = rest & -rest;
        if (rest < 0n && -rest === unit) {
          const down = (whole: Expression): Expression => scale(floorQuotient(whole, constant(unit)), unit);
          return { low: down(from.low), high: down(from.high) };
        }
        if ((b.value & (b.value + 1n)) === 0n && from.low.key === from.high.key && isPlain(from.low) && !holdsRounds(from.low))
          return exactly(subtract(from.low, scale(floorQuotient(from.low, constant(b.value + 1n)), b.value + 1n)));
        if (b.value >= large) return { low: constant(0), high: from.high };
        // For a minimum or maximum of several values the mask suffices as bound.
        const high = isPlain(from.high) ? extremum('min', from.high, constant(b.value)) : constant(b.value);
        return { low: constant(0), high };
      }
      case 'urem':
      case 'srem': {
        const [dividend, divisor] = [this.ofTerm(a), this.ofTerm(b)];
        if (!dividend.low || !isNonNegative(dividend.low)) return unknown;
        const isExact = dividend.high?.key === dividend.low.key && b.operator === 'constant' && b.value > 0n;
        if (isExact) {
          const quotient = floorQuotient(dividend.low, constant(b.value));
          return exactly(subtract(dividend.low, scale(quotient, b.value)));
        }
        const limits = [dividend.high, divisor.high && subtract(divisor.high, constant(1))].filter((limit) => limit !== null);
        return { low: constant(0), high: limits.length > 0 ? extremum('min', ...limits) : null };
      }
      case 'select': {
        const [, x, y] = term.arguments as [Term, Term, Term];
        const [one, other] = [this.ofTerm(x), this.ofTerm(y)];
        const order = this.#order(term);
        return {
          low: one.low && other.low && extremum(order === 'max' ? 'max' : 'min', one.low, other.low),
          high: one.high && other.high && extremum(order === 'min' ? 'min' : 'max', one.high, other.high),
        };
      }
      default:
        return unknown;
    }
  }

  /** select(x < y, x, y) is a minimum. */
  #order(term: Term): 'min' | 'max' | null {
    const [test, a, b] = term.arguments as [Term, Term, Term];
    if (test.operator !== 'slt' && test.operator !== 'ult') return null;
    const [x, y] = test.arguments;
    if (x === a && y === b) return 'min';
    return x === b && y === a ? 'max' : null;
  }

  #quotient(term: Term, a: Term, b: Term): TermBounds {
    const isShift = term.operator === 'lshr' || term.operator === 'ashr';
    const dividend = this.ofTerm(a);
    if (!dividend.low || !isNonNegative(dividend.low)) return unknown;
    if (b.operator === 'constant') {
      if (!isShift && b.value === 0n) return unknown;
      const divisor = constant(isShift ? 1n << b.value : b.value);
      return {
        low: floorQuotient(dividend.low, divisor),
        high: dividend.high && floorQuotient(dividend.high, divisor),
      };
    }
    const by = isShift ? null : this.ofTerm(b);
    if (by?.low && by.low.key === by.high?.key && isNonNegative(subtract(by.low, constant(1)))) {
      return { low: floorQuotient(dividend.low, by.low), high: dividend.high && floorQuotient(dividend.high, by.low) };
    }
    return { low: constant(0), high: dividend.high };
  }

  /** Bounds of an integer congruent to a term; the term is assumed not to wrap around. */
  ofTerm(term: Term): TermBounds {
    const form = this.#setting.symbolic.view.natural(term);
    if (!inside(form, { low: signedBounds(term.width).low, high: unsignedBounds(term.width).high })) this.#setting.assume('no-wrap');
    return this.ofForm(form);
  }
}

/** Whether an expression contains no minimum or maximum; with one, remainders would not become simpler. */
function isPlain({ key }: Expression): boolean {
  return !/\[(?:min|max) /.test(key);
}

/** Whether iteration counts are among the names. Sums over iterations require simple expressions. */
function holdsRounds({ key }: Expression): boolean {
  return key.includes('[#');
}

function exactly(value: Expression): TermBounds {
  return { low: value, high: value };
}
