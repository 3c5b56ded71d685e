/**
 * Satisfiability of clauses, by conflict-driven clause learning (Marques-Silva and Sakallah, GRASP; Eén and Sörensson,
 * MiniSat), without or with a theory that determines which literals exclude each other.
 */

import { effortOfQuery } from './limits.ts';

/** Variable v as `2 * v`, its negation as `2 * v + 1`. */
export type Literal = number;

/** The meaning of literals beyond the clauses. All conflicts are lists of true literals that exclude each other. */
export interface Theory {
  /** Adds a literal that has become true. @returns a conflict, or null */
  readonly assign: (literal: Literal) => readonly Literal[] | null;
  /** Retracts the literals after the first `kept`. */
  readonly retract: (kept: number) => void;
  /** Whether the literals so far are consistent, as far as that is cheap to decide. @returns a conflict, or null */
  readonly check: () => readonly Literal[] | null;
  /** Value of an unassigned literal in the theory's current model; undefined if the theory does not determine it. */
  readonly holds: (literal: Literal) => boolean | undefined;
  /** Called if the present model satisfies all clauses. */
  readonly complete: () => Completion;
  /** Effort of the theory; the budget limits its sum with the number of conflicts. */
  readonly work: () => number;
}

/** Records the steps of a proof that there is no model, other than the exclusions of the theory. */
export interface SatRecorder {
  /** Called with a clause that was added and is active. */
  readonly given: (clause: readonly Literal[]) => void;
  /** A clause that follows by unit propagation from all earlier ones. */
  readonly learnt: (clause: readonly Literal[]) => void;
}

type Completion =
  | { readonly kind: 'model' | 'unknown' }
  | { readonly kind: 'conflict'; readonly literals: readonly Literal[] }
  /** A literal over a new variable, to be tried with both values. */
  | { readonly kind: 'split'; readonly literal: Literal };

type Clause = Literal[];

const noReason: Clause = [];
const restartUnit = 128;
const activityDecay = 0.95;
/** Number of clauses checked against a model that count as one unit of work. */
const clausesForWork = 4;

export class Sat {
  /** By literal: 1 true, -1 false, 0 open. */
  private readonly value: number[] = [];
  private readonly level: number[] = [];
  private readonly reason: Clause[] = [];
  private readonly activity: number[] = [];
  private readonly phase: boolean[] = [];
  private readonly seen: boolean[] = [];
  private readonly watches: Clause[][] = [];
  private readonly clauses: Clause[] = [];
  /** Clauses that no model has violated so far; they are not used in propagation. */
  private readonly dormant: Clause[] = [];
  private readonly trail: Literal[] = [];
  private readonly limits: number[] = [];
  private assumedLevels = 0;
  private propagated = 0;
  private told = 0;
  private increment = 1;
  private contradictory = false;
  private readonly heap: number[] = [];
  private readonly position: number[] = [];
  private cursor = 0;
  private readonly theory: Theory | null;
  private readonly recorder: SatRecorder | null;
  /** Dormant clauses as they were added, if there is a recorder. */
  private readonly origins = new Map<Clause, readonly Literal[]>();
  private conflicts = 0;
  private looked = 0;
  private visited = 0;

  constructor(theory: Theory | null = null, recorder: SatRecorder | null = null) {
    this.theory = theory;
    this.recorder = recorder;
  }

  /** @param phase the value to try first */
  newVariable(phase = false): number {
    const variable = this.level.length;
    this.value.push(0, 0);
    this.level.push(0);
    this.reason.push(noReason);
    this.activity.push(0);
    this.phase.push(phase);
    this.seen.push(false);
    this.watches.push([], []);
    this.position.push(-1);
    if (!this.theory) this.insert(variable);
    return variable;
  }

  /** Backtracks to the root level, before clauses are added after a search. */
  reset(): void {
    this.backtrack(0);
  }

  /**
   * Adds a clause; during the search, only a clause with two literals that are not false.
   * @param isKnown the recorder already has a justification of the clause
   */
  add(literals: readonly Literal[], isLazy = false, isKnown = false): void {
    if (this.contradictory) return;
    const clause: Clause = [];
    for (const literal of new Set(literals)) {
      if (this.limits.length === 0 && this.valueOf(literal) === 1) return;
      if (literals.includes(literal ^ 1)) return;
      if (this.limits.length > 0 || this.valueOf(literal) === 0) clause.push(literal);
    }
    if (this.recorder && !isKnown) {
      if (clause.length > 1 && isLazy) this.origins.set(clause, literals);
      else this.recorder.given(literals);
    }
    if (clause.length === 0) this.contradictory = true;
    else if (clause.length === 1) this.enqueue(clause[0]!, noReason);
    else if (isLazy) this.dormant.push(clause);
    else this.attach(clause);
  }

  private attach(clause: Clause): void {
    this.clauses.push(clause);
    this.watches[clause[0]!]!.push(clause);
    this.watches[clause[1]!]!.push(clause);
  }

  /** Value of a literal in the model of the last search, valid until a clause or variable is added. */
  isTrue(literal: Literal): boolean {
    const value = this.valueOf(literal);
    if (value !== 0) return value === 1;
    return this.theory?.holds(literal) ?? this.phase[literal >> 1]! === ((literal & 1) === 0);
  }

  /**
   * Searches for a model.
   * @param most work, in conflicts and steps of the theory, after which the answer is `unknown`
   * @param assumed literals that are to hold
   */
  solve(most: number, assumed: readonly Literal[] = []): 'sat' | 'unsat' | 'unknown' {
    this.backtrack(0);
    this.assumedLevels = assumed.length;
    const end = this.work + most;
    const last = this.effort + (this.theory ? effortOfQuery.linear : effortOfQuery.bits);
    let restarts = 1;
    let untilRestart = restartUnit;
    for (;;) {
      const conflict = this.contradictory ? noReason : this.propagate();
      if (conflict) {
        this.conflicts++;
        untilRestart--;
        if (this.contradictory || !this.resolve(conflict)) return 'unsat';
        continue;
      }
      if (this.work > end || this.effort > last) return 'unknown';
      if (untilRestart <= 0) {
        untilRestart = restartUnit * luby(++restarts);
        this.backtrack(0);
        continue;
      }
      if (this.limits.length < assumed.length) {
        const literal = assumed[this.limits.length]!;
        if (this.valueOf(literal) === -1) return 'unsat';
        this.limits.push(this.trail.length);
        if (this.valueOf(literal) === 0) this.enqueue(literal, noReason);
        continue;
      }
      let next = this.theory ? this.violated() : this.mostActive();
      if (next === null && this.theory) {
        const broken = this.awaken();
        if (broken === 'clause') continue;
        if (broken) {
          this.conflicts++;
          if (!this.resolve(broken)) return 'unsat';
          continue;
        }
      }
      if (next === null && this.theory) {
        const completion = this.theory.complete();
        if (completion.kind === 'conflict') {
          this.conflicts++;
          if (!this.resolve(completion.literals.map((literal) => literal ^ 1))) return 'unsat';
          continue;
        }
        if (completion.kind === 'unknown') return 'unknown';
        if (completion.kind === 'split') next = completion.literal;
      }
      if (next === null) return 'sat';
      this.limits.push(this.trail.length);
      this.enqueue(next, noReason);
    }
  }

  /** Effort of all searches so far: visited clauses, and steps of the theory. */
  get effort(): number {
    return this.visited + this.looked + (this.theory?.work() ?? 0);
  }

  /** Work so far: conflicts, steps of the theory, and clauses checked against its model. */
  private get work(): number {
    return this.conflicts + (this.theory?.work() ?? 0) + Math.floor(this.looked / clausesForWork);
  }

  private valueOf(literal: Literal): number {
    return this.value[literal]!;
  }

  private enqueue(literal: Literal, reason: Clause): void {
    const variable = literal >> 1;
    this.value[literal] = 1;
    this.value[literal ^ 1] = -1;
    this.level[variable] = this.limits.length;
    this.reason[variable] = reason;
    this.trail.push(literal);
  }

  /** Propagates clauses and theory to a fixed point. @returns a clause that is false, or null */
  private propagate(): Clause | null {
    do {
      const conflict = this.propagateClauses();
      if (conflict) return conflict;
      if (!this.theory) return null;
      while (this.told < this.trail.length) {
        const clash = this.theory.assign(this.trail[this.told++]!);
        if (clash) return clash.map((literal) => literal ^ 1);
      }
      const clash = this.theory.check();
      if (clash) return clash.map((literal) => literal ^ 1);
    } while (this.propagated < this.trail.length);
    return null;
  }

  private propagateClauses(): Clause | null {
    const { trail, watches, value: values } = this;
    while (this.propagated < trail.length) {
      const gone = trail[this.propagated++]! ^ 1;
      const list = watches[gone]!;
      const { length } = list;
      this.visited += length;
      let kept = 0;
      for (let i = 0; i < length; i++) {
        const clause = list[i]!;
        let first = clause[0]!;
        if (first === gone) {
          first = clause[1]!;
          clause[0] = first;
          clause[1] = gone;
        }
        const value = values[first]!;
        if (value === 1) {
          if (kept !== i) list[kept] = clause;
          kept++;
          continue;
        }
        const size = clause.length;
        let k = 2;
        while (k < size && values[clause[k]!]! === -1) k++;
        if (k < size) {
          const other = clause[k]!;
          clause[1] = other;
          clause[k] = gone;
          watches[other]!.push(clause);
          continue;
        }
        list[kept++] = clause;
        if (value === -1) {
          for (i++; i < length; i++) list[kept++] = list[i]!;
          list.length = kept;
          return clause;
        }
        this.enqueue(first, clause);
      }
      if (kept !== length) list.length = kept;
    }
    return null;
  }

  /** Learns from a false clause, and backtracks to the level where the result propagates. @returns false at the root */
  private resolve(conflict: Clause): boolean {
    const top = conflict.reduce((most, literal) => Math.max(most, this.level[literal >> 1]!), 0);
    if (top === 0) {
      this.contradictory = true;
      return false;
    }
    this.backtrack(top);
    const learnt: Clause = [0];
    const touched: number[] = [];
    let open = 0;
    let clause = conflict;
    let at = this.trail.length;
    let pivot = -1;
    do {
      for (const literal of clause) {
        const variable = literal >> 1;
        if (literal === pivot || this.seen[variable] || this.level[variable] === 0) continue;
        this.seen[variable] = true;
        touched.push(variable);
        this.bump(variable);
        if (this.level[variable] === top) open++;
        else learnt.push(literal);
      }
      do pivot = this.trail[--at]!;
      while (!this.seen[pivot >> 1]);
      clause = this.reason[pivot >> 1]!;
      open--;
    } while (open > 0);
    learnt[0] = pivot ^ 1;
    const short = learnt.filter((literal, i) => i === 0 || !this.isImplied(literal));
    for (const variable of touched) this.seen[variable] = false;
    this.increment /= activityDecay;
    let back = 0;
    for (let i = 1; i < short.length; i++) {
      const level = this.level[short[i]! >> 1]!;
      if (level <= back) continue;
      back = level;
      [short[1], short[i]] = [short[i]!, short[1]!];
    }
    this.backtrack(back);
    this.recorder?.learnt(short);
    if (short.length === 1) this.enqueue(short[0]!, noReason);
    else {
      this.attach(short);
      this.enqueue(short[0]!, short);
    }
    return true;
  }

  /** Whether the other literals of the learnt clause imply this one. */
  private isImplied(literal: Literal): boolean {
    const reason = this.reason[literal >> 1]!;
    return reason.length > 0 && reason.every((other) => other === (literal ^ 1) || this.seen[other >> 1]! || this.level[other >> 1] === 0);
  }

  private backtrack(level: number): void {
    if (level >= this.limits.length) return;
    const kept = this.limits[level]!;
    for (let i = this.trail.length - 1; i >= kept; i--) {
      const literal = this.trail[i]!;
      const variable = literal >> 1;
      this.value[literal] = 0;
      this.value[literal ^ 1] = 0;
      // Phase saving: the values of assumptions are not saved, since they are not decisions.
      if (this.level[variable]! > this.assumedLevels) this.phase[variable] = (literal & 1) === 0;
      if (!this.theory && this.position[variable]! < 0) this.insert(variable);
    }
    this.trail.length = kept;
    this.limits.length = level;
    this.propagated = kept;
    if (this.theory && this.told > kept) {
      this.told = kept;
      this.theory.retract(kept);
    }
  }

  /** The most active open literal of a clause that the present model does not satisfy; null if it satisfies all. */
  private violated(): Literal | null {
    const { clauses, value: values, activity } = this;
    const { length } = clauses;
    let at = length > 0 ? this.cursor % length : 0;
    for (let step = 0; step < length; step++, at++) {
      if (at === length) at = 0;
      const clause = clauses[at]!;
      let best = -1;
      let isMet = false;
      for (let i = 0; i < clause.length; i++) {
        const literal = clause[i]!;
        const value = values[literal]!;
        if (value === 1 || (value === 0 && this.isTrue(literal))) {
          isMet = true;
          break;
        }
        if (value === 0 && (best < 0 || activity[literal >> 1]! > activity[best >> 1]!)) best = literal;
      }
      if (isMet) continue;
      this.cursor = at;
      this.looked += step + 1;
      return best;
    }
    this.looked += length;
    return null;
  }

  /**
   * Activates a dormant clause that the present model violates, and backtracks to the level at which it propagates.
   * @returns the clause if it is false, `clause` if one was activated, null if the model satisfies all
   */
  private awaken(): Clause | 'clause' | null {
    for (let i = this.dormant.length - 1; i >= 0; i--) {
      const clause = this.dormant[i]!;
      if (clause.some((literal) => this.isTrue(literal))) continue;
      this.dormant[i] = this.dormant[this.dormant.length - 1]!;
      this.dormant.pop();
      this.recorder?.given(this.origins.get(clause)!);
      // Unassigned literals first, then those that became false last.
      const rank = (literal: Literal): number => (this.valueOf(literal) === 0 ? Infinity : this.level[literal >> 1]!);
      clause.sort((a, b) => rank(b) - rank(a) || a - b);
      this.attach(clause);
      const [first, second] = clause as [Literal, Literal];
      if (this.valueOf(first) === -1) return clause;
      if (this.valueOf(second) === -1) {
        this.backtrack(this.level[second >> 1]!);
        this.enqueue(first, clause);
      }
      return 'clause';
    }
    return null;
  }

  private bump(variable: number): void {
    this.activity[variable]! += this.increment;
    if (this.activity[variable]! > 1e100) {
      for (let i = 0; i < this.activity.length; i++) this.activity[i]! *= 1e-100;
      this.increment *= 1e-100;
    }
    if (this.position[variable]! >= 0) this.rise(this.position[variable]!);
  }

  private mostActive(): Literal | null {
    while (this.heap.length > 0) {
      const variable = this.heap[0]!;
      const last = this.heap.pop()!;
      this.position[variable] = -1;
      if (this.heap.length > 0) {
        this.heap[0] = last;
        this.position[last] = 0;
        this.sink(0);
      }
      if (this.value[2 * variable] === 0) return this.phase[variable]! ? 2 * variable : 2 * variable + 1;
    }
    return null;
  }

  private insert(variable: number): void {
    this.position[variable] = this.heap.length;
    this.heap.push(variable);
    this.rise(this.heap.length - 1);
  }

  private rise(from: number): void {
    const variable = this.heap[from]!;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = this.heap[above]!;
      if (this.activity[other]! >= this.activity[variable]!) break;
      this.heap[at] = other;
      this.position[other] = at;
      at = above;
    }
    this.heap[at] = variable;
    this.position[variable] = at;
  }

  private sink(from: number): void {
    const variable = this.heap[from]!;
    let at = from;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= this.heap.length) break;
      if (below + 1 < this.heap.length && this.activity[this.heap[below + 1]!]! > this.activity[this.heap[below]!]!) below++;
      const other = this.heap[below]!;
      if (this.activity[other]! <= this.activity[variable]!) break;
      this.heap[at] = other;
      this.position[other] = at;
      at = below;
    }
    this.heap[at] = variable;
    this.position[variable] = at;
  }
}

/** The Luby sequence 1 1 2 1 1 2 4 1 …, with indices from 1. */
function luby(index: number): number {
  let size = 1;
  while (size < index + 1) size *= 2;
  return size === index + 1 ? size / 2 : luby(index - size / 2 + 1);
}
