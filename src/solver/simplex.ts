/**
 * Bounds on sums of integers, by the simplex method for solvers modulo theories (Dutertre and de Moura, CAV 2006), in
 * exact arithmetic. A sum becomes a row of the tableau when it is first bounded.
 */
import { gcd } from '../base/integer.ts';

/** Identifies the origin of a bound; a conflict lists the origins whose bounds contradict each other. */
type Source = number;

/** A sum without a constant: coefficients by column. */
type Sum = ReadonlyMap<number, bigint>;

interface Row {
  /** `scale` times the basic column is the sum of the others. */
  readonly scale: bigint;
  readonly sum: Map<number, bigint>;
}

interface Change {
  readonly column: number;
  readonly isUpper: boolean;
  readonly bound: bigint | null;
  readonly source: Source;
}

/** A bound without a source. */
export const given: Source = -1;

/** Pivots of a check that select the column that occurs in the fewest rows; after these, Bland's rule applies. */
const fewPivots = 50;

export class Simplex {
  /** Values of columns, as fractions in lowest terms. */
  private readonly numerator: bigint[] = [];
  private readonly denominator: bigint[] = [];
  private readonly lower: (bigint | null)[] = [];
  private readonly upper: (bigint | null)[] = [];
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
  /** Whether conflicts set {@link factors}. */
  explains = false;
  /**
   * Farkas multipliers of the sources of the last conflict: the sum of their bounds, multiplied by these, is a
   * contradiction.
   */
  factors: readonly bigint[] = [];
  /** Coefficients computed so far. */
  work = 0;
  /** Work after which {@link check} no longer looks for values. */
  mostWork = Infinity;

  /** Adds a column: a free variable, or the name of a sum of others. */
  add(sum: Sum | null = null): number {
    const column = this.numerator.length;
    this.numerator.push(0n);
    this.denominator.push(1n);
    this.lower.push(null);
    this.upper.push(null);
    this.lowerSource.push(given);
    this.upperSource.push(given);
    this.sums.push(sum);
    this.isDormant.push(sum !== null);
    this.rows.push(null);
    this.users.push(new Set());
    return column;
  }

  /** The sum that a column names; null if it names none. */
  sumAt(column: number): Sum | null {
    return this.sums[column]!;
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
  bound(column: number, isUpper: boolean, bound: bigint, source: Source): readonly Source[] | null {
    const known = isUpper ? this.upper[column]! : this.lower[column]!;
    if (known !== null && (isUpper ? known <= bound : known >= bound)) return null;
    const sources = isUpper ? this.upperSource : this.lowerSource;
    this.changes.push({ column, isUpper, bound: known, source: sources[column]! });
    (isUpper ? this.upper : this.lower)[column] = bound;
    sources[column] = source;
    const other = isUpper ? this.lower[column]! : this.upper[column]!;
    if (other !== null && (isUpper ? other > bound : other < bound)) {
      if (this.explains) this.factors = [1n, 1n];
      return [(isUpper ? this.lowerSource : this.upperSource)[column]!, source];
    }
    if (this.isDormant[column]) this.wake(column);
    if (this.rows[column]) this.suspects.add(column);
    else if (this.isBeyond(column, isUpper, bound)) this.move(column, bound);
    return null;
  }

  /** Whether the value of a column is above its upper bound, or below its lower one. */
  private isBeyond(column: number, isUpper: boolean, bound: bigint): boolean {
    const scaled = bound * this.denominator[column]!;
    return isUpper ? this.numerator[column]! > scaled : this.numerator[column]! < scaled;
  }

  /** Compares the value of a column with an integer. */
  isAtMost(column: number, bound: bigint): boolean {
    const [numerator, denominator] = this.valueIn(column);
    return numerator <= bound * denominator;
  }

  /** The value of a column rounded down. */
  floor(column: number): bigint {
    const [numerator, denominator] = this.valueIn(column);
    const quotient = numerator / denominator;
    return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
  }

  isInteger(column: number): boolean {
    const [numerator, denominator] = this.valueIn(column);
    return denominator === 1n || numerator % denominator === 0n;
  }

  private valueIn(column: number): readonly [numerator: bigint, denominator: bigint] {
    return this.isDormant[column] ? this.valueOf(this.sums[column]!) : [this.numerator[column]!, this.denominator[column]!];
  }

  private valueOf(sum: Sum): [numerator: bigint, denominator: bigint] {
    let numerator = 0n;
    let denominator = 1n;
    for (const [column, coefficient] of sum) {
      const below = this.denominator[column]!;
      if (below === denominator) numerator += coefficient * this.numerator[column]!;
      else {
        numerator = numerator * below + coefficient * this.numerator[column]! * denominator;
        denominator *= below;
      }
    }
    return [numerator, denominator];
  }

  private setValue(column: number, numerator: bigint, denominator: bigint): void {
    if (denominator !== 1n) {
      const divisor = gcd(numerator, denominator);
      numerator /= divisor;
      denominator /= divisor;
    }
    this.numerator[column] = numerator;
    this.denominator[column] = denominator;
  }

  /** Adds the row of a dormant sum to the tableau. */
  private wake(column: number): void {
    const sum = this.sums[column]!;
    this.isDormant[column] = false;
    // Basic columns in the sum are replaced by their rows.
    let scale = 1n;
    for (const part of sum.keys()) {
      const row = this.rows[part];
      if (row) scale = (scale / gcd(scale, row.scale)) * row.scale;
    }
    const written = new Map<number, bigint>();
    for (const [part, coefficient] of sum) {
      const row = this.rows[part];
      if (!row) accumulate(written, part, coefficient * scale);
      else for (const [other, factor] of row.sum) accumulate(written, other, (coefficient * factor * scale) / row.scale);
    }
    this.work += written.size;
    this.rows[column] = reduced({ scale, sum: written });
    for (const part of written.keys()) this.users[part]!.add(column);
    const [numerator, denominator] = this.valueOf(sum);
    this.setValue(column, numerator, denominator);
  }

  /** Changes the value of a nonbasic column, and the values that depend on it. */
  private move(column: number, value: bigint): void {
    this.numerator[column] = value;
    this.denominator[column] = 1n;
    for (const user of this.users[column]!) this.recompute(user);
  }

  /** Removes the row of a sum that has no bounds any more. @returns whether the column was such a sum */
  private rest(column: number): boolean {
    if (!this.sums[column] || this.lower[column] !== null || this.upper[column] !== null) return false;
    for (const part of this.rows[column]!.sum.keys()) this.users[part]!.delete(column);
    this.rows[column] = null;
    this.isDormant[column] = true;
    return true;
  }

  private recompute(column: number): void {
    if (this.rest(column)) return;
    const { scale, sum } = this.rows[column]!;
    this.work += sum.size;
    const [numerator, denominator] = this.valueOf(sum);
    this.setValue(column, numerator, denominator * scale);
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
      const row = this.rows[wrong]!;
      let entering = -1;
      for (const [column, coefficient] of row.sum) {
        if (!this.canMove(column, isBelow === coefficient > 0n)) continue;
        const by = pivots < fewPivots && entering >= 0 ? this.users[column]!.size - this.users[entering]!.size : 0;
        if (entering < 0 || by < 0 || (by === 0 && column < entering)) entering = column;
      }
      if (entering < 0) {
        const sources = [isBelow ? this.lowerSource[wrong]! : this.upperSource[wrong]!];
        for (const [column, coefficient] of row.sum)
          sources.push(isBelow === coefficient > 0n ? this.upperSource[column]! : this.lowerSource[column]!);
        if (this.explains) this.factors = [row.scale, ...[...row.sum.values()].map((factor) => (factor < 0n ? -factor : factor))];
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
    const scaled = bound * this.denominator[column]!;
    return up ? this.numerator[column]! < scaled : this.numerator[column]! > scaled;
  }

  /** Pivots: the column `entering` becomes basic instead of `leaving`. */
  private exchange(leaving: number, entering: number): void {
    const { scale, sum } = this.rows[leaving]!;
    const pivot = sum.get(entering)!;
    this.rows[leaving] = null;
    for (const column of sum.keys()) this.users[column]!.delete(leaving);
    // pivot * entering = scale * leaving - the rest.
    const sign = pivot < 0n ? -1n : 1n;
    const solved = new Map([[leaving, sign * scale]]);
    for (const [column, coefficient] of sum) if (column !== entering) solved.set(column, -sign * coefficient);
    const row = reduced({ scale: sign * pivot, sum: solved });
    const users = [...this.users[entering]!].filter((user) => !this.rest(user));
    this.users[entering]!.clear();
    this.rows[entering] = row;
    for (const column of row.sum.keys()) this.users[column]!.add(entering);
    for (const user of users) {
      const old = this.rows[user]!;
      const factor = old.sum.get(entering)!;
      const divisor = gcd(factor, row.scale);
      const [times, by] = [row.scale / divisor, factor / divisor];
      const next = new Map<number, bigint>();
      for (const [column, coefficient] of old.sum) if (column !== entering) next.set(column, coefficient * times);
      for (const [column, coefficient] of row.sum) {
        accumulate(next, column, coefficient * by);
        if (next.has(column)) this.users[column]!.add(user);
        else this.users[column]!.delete(user);
      }
      this.work += next.size;
      this.rows[user] = reduced({ scale: old.scale * times, sum: next });
    }
  }

  /** The distance between the bounds of a column; null if one is missing. */
  range(column: number): bigint | null {
    const [lower, upper] = [this.lower[column]!, this.upper[column]!];
    return lower === null || upper === null ? null : upper - lower;
  }

  /** Whether the value of a column is the largest that its bounds allow. */
  isAtUpper(column: number): boolean {
    return this.isInteger(column) && this.upper[column] === this.numerator[column];
  }

  /** Columns of the row of a basic column that are not fixed, and whose multiple in it need not be an integer. */
  undividedParts(column: number): readonly number[] {
    const { scale, sum } = this.rows[column]!;
    return [...sum].flatMap(([part, coefficient]) => (coefficient % scale !== 0n && this.range(part) !== 0n ? [part] : []));
  }

  /**
   * Whether a basic column with a non-integer value can have an integer one: not if the fixed part of its row leaves a
   * remainder.
   * @returns the sources of the fixed part, or null
   */
  divisibilityConflict(column: number): readonly Source[] | null {
    const { scale, sum } = this.rows[column]!;
    let divisor = scale;
    let fixed = 0n;
    const sources: Source[] = [];
    const factors: bigint[] = [];
    for (const [part, coefficient] of sum) {
      const bound = this.lower[part]!;
      if (bound !== null && bound === this.upper[part]) {
        fixed += coefficient * bound;
        sources.push(this.lowerSource[part]!, this.upperSource[part]!);
        if (this.explains) factors.push(coefficient);
      } else divisor = gcd(divisor, coefficient);
    }
    if (fixed % divisor === 0n) return null;
    if (this.explains) this.factors = factors;
    return sources;
  }
}

function accumulate(sum: Map<number, bigint>, column: number, coefficient: bigint): void {
  const total = (sum.get(column) ?? 0n) + coefficient;
  if (total === 0n) sum.delete(column);
  else sum.set(column, total);
}

function reduced(row: Row): Row {
  let divisor = row.scale;
  for (const coefficient of row.sum.values()) {
    if (divisor === 1n) return row;
    divisor = gcd(divisor, coefficient);
  }
  if (divisor === 1n) return row;
  for (const [column, coefficient] of row.sum) row.sum.set(column, coefficient / divisor);
  return { scale: row.scale / divisor, sum: row.sum };
}
