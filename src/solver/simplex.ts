/**
 * Bounds on sums of integers, by the simplex method for solvers modulo theories (Dutertre and de Moura, CAV 2006), in
 * exact arithmetic. A sum becomes a row of the tableau when it is first bounded.
 */
import { type Exact, commonDivisor, exact, magnitude, multiplied, divided, remainder, added } from '../base/exact.ts';

/** Identifies the origin of a bound; a conflict lists the origins whose bounds contradict each other. */
type Source = number;

/** A sum without a constant: coefficients of columns, by ascending column. */
interface Sum {
  readonly columns: readonly number[];
  readonly factors: readonly Exact[];
}

/** `scale` times the basic column is the sum of the others. */
interface Row extends Sum {
  readonly scale: Exact;
}

interface Change {
  readonly column: number;
  readonly isUpper: boolean;
  readonly bound: Exact | null;
  readonly source: Source;
}

/** A bound without a source. */
export const given: Source = -1;

/** Pivots of a check that select the column that occurs in the fewest rows; after these, Bland's rule applies. */
const fewPivots = 50;

export class Simplex {
  /** Values of columns, as fractions in lowest terms. */
  private readonly numerator: Exact[] = [];
  private readonly denominator: Exact[] = [];
  private readonly lower: (Exact | null)[] = [];
  private readonly upper: (Exact | null)[] = [];
  private readonly lowerSource: Source[] = [];
  private readonly upperSource: Source[] = [];
  /** The sums that columns name; null for other columns. */
  private readonly sums: (Sum | null)[] = [];
  /** Sums without a row, since they are unbounded. */
  private readonly isDormant: boolean[] = [];
  private readonly rows: (Row | null)[] = [];
  /** Basic columns whose rows contain a column. */
  private readonly users: Set<number>[] = [];
  private readonly changes: Change[] = [];
  private readonly suspects = new Set<number>();
  /** Number of changes of values, and its state when the value of a dormant sum was computed. */
  private moves = 0;
  private readonly computedAt: number[] = [];
  /** Whether conflicts set {@link factors}. */
  explains = false;
  /**
   * Farkas multipliers of the sources of the last conflict: the sum of their bounds, multiplied by these, is a
   * contradiction.
   */
  factors: readonly Exact[] = [];
  /** Coefficients computed so far. */
  work = 0;
  /** Work after which {@link check} no longer looks for values. */
  mostWork = Infinity;

  /** Adds a column: a free variable, or the name of a sum of others. */
  add(sum: ReadonlyMap<number, bigint> | null = null): number {
    const column = this.numerator.length;
    this.numerator.push(0);
    this.denominator.push(1);
    this.lower.push(null);
    this.upper.push(null);
    this.lowerSource.push(given);
    this.upperSource.push(given);
    this.sums.push(sum && sortedSum([...sum].map(([part, factor]) => [part, exact(factor)])));
    this.isDormant.push(sum !== null);
    this.computedAt.push(-1);
    this.rows.push(null);
    this.users.push(new Set());
    return column;
  }

  /** The parts of the sum that a column names, with their coefficients; null if it names none. */
  sumAt(column: number): readonly (readonly [column: number, factor: bigint])[] | null {
    const sum = this.sums[column]!;
    return sum && sum.columns.map((part, at) => [part, BigInt(sum.factors[at]!)]);
  }

  /** Number of bounds that are in force; an argument of {@link retract}. */
  get mark(): number {
    return this.changes.length;
  }

  /** Retracts the bounds that were added after an earlier mark. */
  retract(mark: number): void {
    while (this.changes.length > mark) {
      const { column, isUpper, bound, source } = this.changes.pop()!;
      if (isUpper) {
        this.upper[column] = bound;
        this.upperSource[column] = source;
      } else {
        this.lower[column] = bound;
        this.lowerSource[column] = source;
      }
    }
  }

  /** Bounds a column. @returns the sources of a conflict, or null */
  bound(column: number, isUpper: boolean, bound: Exact, source: Source): readonly Source[] | null {
    const known = isUpper ? this.upper[column]! : this.lower[column]!;
    if (known !== null && (isUpper ? known <= bound : known >= bound)) return null;
    const sources = isUpper ? this.upperSource : this.lowerSource;
    this.changes.push({ column, isUpper, bound: known, source: sources[column]! });
    (isUpper ? this.upper : this.lower)[column] = bound;
    sources[column] = source;
    const other = isUpper ? this.lower[column]! : this.upper[column]!;
    if (other !== null && (isUpper ? other > bound : other < bound)) {
      if (this.explains) this.factors = [1, 1];
      return [(isUpper ? this.lowerSource : this.upperSource)[column]!, source];
    }
    if (this.isDormant[column]) this.wake(column);
    if (this.rows[column]) this.suspects.add(column);
    else if (this.isBeyond(column, isUpper, bound)) this.move(column, bound);
    return null;
  }

  /** Whether the value of a column is above its upper bound, or below its lower one. */
  private isBeyond(column: number, isUpper: boolean, bound: Exact): boolean {
    const scaled = multiplied(bound, this.denominator[column]!);
    return isUpper ? this.numerator[column]! > scaled : this.numerator[column]! < scaled;
  }

  /** Compares the value of a column with an integer. */
  isAtMost(column: number, bound: Exact): boolean {
    this.compute(column);
    return this.numerator[column]! <= multiplied(bound, this.denominator[column]!);
  }

  /** The value of a column rounded down. */
  floor(column: number): Exact {
    this.compute(column);
    const [numerator, denominator] = [this.numerator[column]!, this.denominator[column]!];
    const quotient = divided(numerator, denominator);
    return numerator < 0 && denominator !== 1 ? added(quotient, -1) : quotient;
  }

  isInteger(column: number): boolean {
    this.compute(column);
    return this.denominator[column] === 1;
  }

  /** Computes the value of a dormant sum, if values have changed since. */
  private compute(column: number): void {
    if (!this.isDormant[column] || this.computedAt[column] === this.moves) return;
    this.computedAt[column] = this.moves;
    this.setValue(column, this.sums[column]!, 1);
  }

  /** Sets the value of a column to that of a sum divided by a number. */
  private setValue(column: number, { columns, factors }: Sum, scale: Exact): void {
    let numerator: Exact = 0;
    let denominator: Exact = 1;
    for (let at = 0; at < columns.length; at++) {
      const part = columns[at]!;
      const below = this.denominator[part]!;
      const product = multiplied(factors[at]!, this.numerator[part]!);
      if (below === denominator) numerator = added(numerator, product);
      else {
        numerator = added(multiplied(numerator, below), multiplied(product, denominator));
        denominator = multiplied(denominator, below);
      }
    }
    denominator = multiplied(denominator, scale);
    if (denominator !== 1) {
      const divisor = commonDivisor(numerator, denominator);
      if (divisor !== 1) {
        numerator = divided(numerator, divisor);
        denominator = divided(denominator, divisor);
      }
    }
    this.numerator[column] = numerator;
    this.denominator[column] = denominator;
  }

  /** Adds the row of a dormant sum to the tableau. */
  private wake(column: number): void {
    const sum = this.sums[column]!;
    this.compute(column);
    this.isDormant[column] = false;
    // Basic columns in the sum are replaced by their rows.
    let scale: Exact = 1;
    for (const part of sum.columns) {
      const row = this.rows[part];
      if (row) scale = multiplied(divided(scale, commonDivisor(scale, row.scale)), row.scale);
    }
    const written = new Map<number, Exact>();
    for (const [at, part] of sum.columns.entries()) {
      const row = this.rows[part];
      const factor = multiplied(sum.factors[at]!, scale);
      if (!row) accumulate(written, part, factor);
      else {
        const times = divided(factor, row.scale);
        for (const [other, inner] of row.columns.entries()) accumulate(written, inner, multiplied(times, row.factors[other]!));
      }
    }
    this.work += written.size;
    this.rows[column] = reduced(scale, sortedSum([...written]));
    for (const part of written.keys()) this.users[part]!.add(column);
  }

  /** Changes the value of a nonbasic column, and the values that depend on it. */
  private move(column: number, value: Exact): void {
    this.moves++;
    this.numerator[column] = value;
    this.denominator[column] = 1;
    for (const user of this.users[column]!) this.recompute(user);
  }

  /** Removes the row of a sum that has no bounds any more. @returns whether the column was such a sum */
  private rest(column: number): boolean {
    if (!this.sums[column] || this.lower[column] !== null || this.upper[column] !== null) return false;
    for (const part of this.rows[column]!.columns) this.users[part]!.delete(column);
    this.rows[column] = null;
    this.isDormant[column] = true;
    this.computedAt[column] = -1;
    return true;
  }

  private recompute(column: number): void {
    if (this.rest(column)) return;
    const row = this.rows[column]!;
    this.work += row.columns.length;
    this.setValue(column, row, row.scale);
    this.suspects.add(column);
  }

  /**
   * Searches for values within all bounds. @returns the sources of a conflict; null without one, or when out of work
   */
  check(): readonly Source[] | null {
    for (let pivots = 0; this.work <= this.mostWork; pivots++) {
      let wrong = -1;
      for (const column of this.suspects) {
        if (!this.rows[column] || !this.isOutside(column)) this.suspects.delete(column);
        // Selects the violated column of the smallest index (Bland's rule), here and after some iterations below, so
        // that the method terminates.
        else if (wrong < 0 || column < wrong) wrong = column;
      }
      if (wrong < 0) return null;
      const lower = this.lower[wrong]!;
      const isBelow = lower !== null && this.isBeyond(wrong, false, lower);
      const { scale, columns, factors } = this.rows[wrong]!;
      let entering = -1;
      for (let at = 0; at < columns.length; at++) {
        const column = columns[at]!;
        if (!this.canMove(column, isBelow === factors[at]! > 0)) continue;
        const by = pivots < fewPivots && entering >= 0 ? this.users[column]!.size - this.users[entering]!.size : 0;
        if (entering < 0 || by < 0) entering = column;
      }
      if (entering < 0) {
        const sources = [isBelow ? this.lowerSource[wrong]! : this.upperSource[wrong]!];
        for (const [at, column] of columns.entries())
          sources.push(isBelow === factors[at]! > 0 ? this.upperSource[column]! : this.lowerSource[column]!);
        if (this.explains) this.factors = [scale, ...factors.map(magnitude)];
        return sources;
      }
      this.exchange(wrong, entering);
      this.move(wrong, isBelow ? lower : this.upper[wrong]!);
    }
    return null;
  }

  private isOutside(column: number): boolean {
    const [lower, upper] = [this.lower[column]!, this.upper[column]!];
    return (lower !== null && this.isBeyond(column, false, lower)) || (upper !== null && this.isBeyond(column, true, upper));
  }

  private canMove(column: number, up: boolean): boolean {
    const bound = up ? this.upper[column]! : this.lower[column]!;
    if (bound === null) return true;
    const scaled = multiplied(bound, this.denominator[column]!);
    return up ? this.numerator[column]! < scaled : this.numerator[column]! > scaled;
  }

  /** Pivots: the column `entering` becomes basic instead of `leaving`. */
  private exchange(leaving: number, entering: number): void {
    const { scale, columns, factors } = this.rows[leaving]!;
    this.rows[leaving] = null;
    for (const column of columns) this.users[column]!.delete(leaving);
    // pivot * entering = scale * leaving - the rest.
    const pivot = factors[columns.indexOf(entering)]!;
    const sign = pivot < 0 ? -1 : 1;
    const solved: [number, Exact][] = [[leaving, multiplied(sign, scale)]];
    for (const [at, column] of columns.entries()) if (column !== entering) solved.push([column, multiplied(-sign, factors[at]!)]);
    const row = reduced(magnitude(pivot), sortedSum(solved));
    const users = [...this.users[entering]!].filter((user) => !this.rest(user));
    this.users[entering]!.clear();
    this.rows[entering] = row;
    for (const column of row.columns) this.users[column]!.add(entering);
    for (const user of users) this.replace(user, entering, row);
  }

  /** Replaces a column in the row of another one by its own row. */
  private replace(user: number, column: number, by: Row): void {
    const old = this.rows[user]!;
    const factor = old.factors[old.columns.indexOf(column)]!;
    const divisor = commonDivisor(factor, by.scale);
    const [timesOld, timesNew] = [divided(by.scale, divisor), divided(factor, divisor)];
    const columns: number[] = [];
    const factors: Exact[] = [];
    let at = 0;
    let other = 0;
    while (at < old.columns.length || other < by.columns.length) {
      const first = at < old.columns.length ? old.columns[at]! : Infinity;
      const second = other < by.columns.length ? by.columns[other]! : Infinity;
      if (first === column) at++;
      else if (first < second) {
        columns.push(first);
        factors.push(multiplied(old.factors[at++]!, timesOld));
      } else {
        let total = multiplied(by.factors[other++]!, timesNew);
        if (first === second) total = added(multiplied(old.factors[at++]!, timesOld), total);
        else this.users[second]!.add(user);
        if (total === 0) {
          this.users[second]!.delete(user);
          continue;
        }
        columns.push(second);
        factors.push(total);
      }
    }
    this.work += columns.length;
    this.rows[user] = reduced(multiplied(old.scale, timesOld), { columns, factors });
  }

  /** The distance between the bounds of a column; null if one is missing. */
  range(column: number): Exact | null {
    const [lower, upper] = [this.lower[column]!, this.upper[column]!];
    return lower === null || upper === null ? null : added(upper, multiplied(-1, lower));
  }

  /** Whether the value of a column is the largest that its bounds allow. */
  isAtUpper(column: number): boolean {
    return this.isInteger(column) && this.upper[column] === this.numerator[column];
  }

  /** Columns of the row of a basic column that are not fixed, and whose multiple in it need not be an integer. */
  undividedParts(column: number): readonly number[] {
    const { scale, columns, factors } = this.rows[column]!;
    return columns.filter((part, at) => remainder(factors[at]!, scale) !== 0 && this.range(part) !== 0);
  }

  /**
   * Whether a basic column with a non-integer value can have an integer one: not if the fixed part of its row leaves a
   * remainder.
   * @returns the sources of the fixed part, or null
   */
  divisibilityConflict(column: number): readonly Source[] | null {
    const row = this.rows[column]!;
    let divisor = row.scale;
    let fixed: Exact = 0;
    const sources: Source[] = [];
    const factors: Exact[] = [];
    for (const [at, part] of row.columns.entries()) {
      const factor = row.factors[at]!;
      const bound = this.lower[part]!;
      if (bound !== null && bound === this.upper[part]) {
        fixed = added(fixed, multiplied(factor, bound));
        sources.push(this.lowerSource[part]!, this.upperSource[part]!);
        if (this.explains) factors.push(factor);
      } else divisor = commonDivisor(divisor, factor);
    }
    if (remainder(fixed, divisor) === 0) return null;
    if (this.explains) this.factors = factors;
    return sources;
  }
}

function accumulate(sum: Map<number, Exact>, column: number, factor: Exact): void {
  const total = added(sum.get(column) ?? 0, factor);
  if (total === 0) sum.delete(column);
  else sum.set(column, total);
}

/** A sum with its columns in ascending order. */
function sortedSum(parts: (readonly [column: number, factor: Exact])[]): Sum {
  const sorted = parts.sort(([a], [b]) => a - b);
  return { columns: sorted.map(([column]) => column), factors: sorted.map(([, factor]) => factor) };
}

/** The row of a sum, divided by what scale and coefficients have in common. */
function reduced(scale: Exact, sum: Sum): Row {
  let divisor = scale;
  for (const factor of sum.factors) {
    if (divisor === 1) break;
    divisor = commonDivisor(divisor, factor);
  }
  if (divisor === 1) return { scale, ...sum };
  return { scale: divided(scale, divisor), columns: sum.columns, factors: sum.factors.map((factor) => divided(factor, divisor)) };
}
