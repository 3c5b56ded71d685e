/**
 * Ranges of loop variables without a closed form, which iterations change differently on different paths: the number
 * of elements found so far, the depth of a walk, a length that is halved and rounded up. A range holds at the start of
 * the loop, and each path through an iteration stays in it.
 */
import { greatestOf, leastOf } from '../../base/integer.ts';
import type { Block, BlockId, Kernel, Loop, Operand, Phi } from '../../ir/form/kernel.ts';
import { type Bounds, type Linear, inside } from '../../term/linear.ts';
import type { Term, TermStore } from '../../term/term.ts';
import { readComparison } from './ordered-terms.ts';

/** Facts about a kernel's loops. */
interface Loops {
  readonly kernel: Kernel;
  readonly store: TermStore;
  readonly operand: (source: Operand) => Term;
  /** The condition under which control flows from one block to another. */
  readonly edge: (from: Block, to: BlockId) => Term;
  readonly isInvariant: (term: Term, loop: Loop) => boolean;
  /** As a signed integer. */
  readonly read: (term: Term) => Linear;
  /** As a signed integer in iterations that begin with the variable in a range. */
  readonly readIn: (range: Bounds, term: Term) => Linear;
}

/** A value that one iteration may leave in the variable, and the conditions of the edges on which it is passed on. */
interface Passed {
  readonly value: Term;
  readonly conditions: readonly Term[];
}

/** A path that changes the variable: its new value, and the values that it becomes until the next iteration. */
interface Change {
  readonly value: Term;
  /** What the path adds to the variable; null if that depends on the variable. */
  readonly amount: Bounds | null;
  readonly passed: readonly Passed[];
}

/** The range of a variable at the start of iterations, and an exclusive upper bound that is constant in the loop. */
interface InductiveRange {
  readonly range: Bounds;
  readonly below: Term | null;
}

/** Limit on the joins of paths that are followed in one iteration. */
const maxJoins = 32;
/** Lower limits that halving and similar steps end at, in the order in which they are tried. */
const lowerLimits = [1n, 0n, -1n];

/**
 * The range of a loop variable.
 * @param variable the term of the phi at the loop header
 * @param mostTrips upper bound on the trip count
 * @returns null if none is found, or if the value may wrap around
 */
export function inductiveRange(loops: Loops, loop: Loop, phi: Phi, variable: Term, mostTrips: bigint): InductiveRange | null {
  const { kernel, operand, read } = loops;
  if (variable.width < 32) return null;
  const { predecessors } = kernel.blocks[loop.header]!;
  const changes: Change[] = [];
  const walk = changesOf(loops, loop, variable, changes);
  let start: Bounds | null = null;
  for (const [at, from] of predecessors.entries()) {
    const input = phi.inputs[at]!;
    if (loop.latches.includes(from)) {
      if (!walk(input, from, loop.header, [])) return null;
      continue;
    }
    const { low, high, assumes } = read(operand(input));
    if (assumes.length > 0) return null;
    start = start ? { low: leastOf([start.low, low]), high: greatestOf([start.high, high]) } : { low, high };
  }
  if (!start) return null;
  if (changes.some(({ amount }) => amount === null)) {
    const range = keptRange(loops, changes, start);
    return range && { range, below: null };
  }
  return summedRange(loops, loop, variable, changes, start, mostTrips);
}

/** A range that no change leaves: that of the start, or one with a smaller lower limit. */
function keptRange({ readIn }: Loops, changes: readonly Change[], start: Bounds): Bounds | null {
  const candidates = [start.low, ...lowerLimits.filter((limit) => limit < start.low)].map((low) => ({ ...start, low }));
  const keeps = (range: Bounds, { value }: Change): boolean => {
    const after = readIn(range, value);
    return after.assumes.length === 0 && inside(after, range);
  };
  return candidates.find((range) => changes.every((change) => keeps(range, change))) ?? null;
}

/** The range of a variable that each path adds a limited amount to, which may be negative. */
function summedRange(
  loops: Loops,
  loop: Loop,
  variable: Term,
  changes: readonly Change[],
  start: Bounds,
  mostTrips: bigint,
): InductiveRange | null {
  const { width } = variable;
  const growing = changes.filter(({ amount }) => amount!.high > 0n);
  const shrinking = changes.filter(({ amount }) => amount!.low < 0n);
  const up = greatestOf([0n, ...growing.map(({ amount }) => amount!.high)]);
  const down = leastOf([0n, ...shrinking.map(({ amount }) => amount!.low)]);
  const limits = shrinking.map((change) => lowerLimit(loops, variable, change));
  const low = limits.every((limit) => limit !== null) ? leastOf([start.low, ...limits]) : start.low + down * mostTrips;
  const largest = (1n << BigInt(width - 1)) - 1n;
  // Above the lower limit, one more subtraction may not wrap around.
  if (low + down < -largest - 1n) return null;
  const below = boundOf(loops, loop, growing, start.high, up);
  const highs = [start.high + up * mostTrips, ...(below ? [loops.read(below).high - 1n + up] : [])].filter((high) => high <= largest);
  return highs.length === 0 ? null : { range: { low, high: leastOf(highs) }, below };
}

/** The least value that a path with a subtraction passes on, by a condition on the variable or on its new value. */
function lowerLimit({ read }: Loops, variable: Term, { amount, passed }: Change): bigint | null {
  const limits = passed.flatMap(({ value, conditions }) =>
    conditions.flatMap((condition): bigint[] => {
      const comparison = readComparison(condition);
      if (!comparison?.signed) return [];
      const { low, assumes } = read(comparison.smaller);
      if (assumes.length > 0) return [];
      const smallest = comparison.strict ? low + 1n : low;
      if (comparison.larger === value) return [smallest];
      return comparison.larger === variable ? [smallest + amount!.low] : [];
    }),
  );
  return limits.length === 0 ? null : greatestOf(limits);
}

/** Collects the changes on all paths to a use of the variable; the result is false if there are too many. */
function changesOf({ kernel, store, operand, edge, read }: Loops, loop: Loop, variable: Term, changes: Change[]) {
  let joins = 0;
  const valued = (term: Term, passed: readonly Passed[]): boolean => {
    if (term === variable) return true;
    if (term.operator === 'select') {
      const [condition, one, other] = term.arguments as [Term, Term, Term];
      const under = (arm: Term, holds: Term): readonly Passed[] => [...passed, { value: arm, conditions: [holds] }];
      return valued(one, under(one, condition)) && valued(other, under(other, store.not(condition)));
    }
    const amount = store.sub(term.width, term, variable);
    const { low, high, assumes } = read(amount);
    const isSum = !amount.leaves.includes(variable) && assumes.length === 0;
    changes.push({ value: term, amount: isSum ? { low, high } : null, passed });
    return true;
  };
  return function walk(source: Operand, from: BlockId, to: BlockId, later: readonly Passed[]): boolean {
    const value = operand(source);
    const passed = [...later, { value, conditions: conditionsBefore(kernel, loop, edge, from, to) }];
    if (value === variable) return true;
    const definition = source.kind === 'value' ? kernel.values[source.id]!.definition : undefined;
    const { block } = definition ?? {};
    const isJoin = definition?.kind === 'phi' && loop.blocks.has(block!) && !kernel.loops.some(({ header }) => header === block);
    if (!isJoin) return valued(value, passed);
    if (++joins > maxJoins) return false;
    const { phis, predecessors } = kernel.blocks[block!]!;
    const { inputs } = phis.find(({ result }) => source.kind === 'value' && result === source.id)!;
    return inputs.every((input, at) => walk(input, predecessors[at]!, block!, passed));
  };
}

/** The conditions of the edges that every path takes to an edge since its last join. */
function conditionsBefore(kernel: Kernel, loop: Loop, edge: Loops['edge'], from: BlockId, to: BlockId): readonly Term[] {
  const conditions: Term[] = [];
  for (let [at, next] = [from, to]; ;) {
    const block = kernel.blocks[at]!;
    const condition = edge(block, next);
    conditions.push(...(condition.operator === 'all' ? condition.arguments : [condition]));
    const [before, ...others] = block.predecessors;
    if (before === undefined || others.length > 0 || !loop.blocks.has(before) || before === at) return conditions;
    [at, next] = [before, at];
  }
}

/**
 * A bound below which the variable stays: it starts below it, and the loop goes on after an addition only if the sum is
 * below the bound, or, for additions of one, different from it.
 */
function boundOf({ isInvariant, read }: Loops, loop: Loop, growing: readonly Change[], start: bigint, each: bigint): Term | null {
  const boundsOf = ({ passed }: Change): readonly Term[] =>
    passed.flatMap(({ value, conditions }) =>
      conditions.flatMap((condition): readonly Term[] => {
        const comparison = readComparison(condition);
        if (comparison?.strict === true && comparison.signed && comparison.smaller === value) return [comparison.larger];
        const [inner] = condition.arguments;
        if (condition.operator !== 'not' || inner!.operator !== 'equal' || each > 1n) return [];
        const [a, b] = inner!.arguments as [Term, Term];
        return a === value ? [b] : b === value ? [a] : [];
      }),
    );
  const isStartBelow = (bound: Term): boolean => {
    const { low, assumes } = read(bound);
    return low > start && assumes.length === 0;
  };
  const [first, ...others] = growing;
  const rest = others.map(boundsOf);
  const found =
    first &&
    boundsOf(first).find((bound) => isInvariant(bound, loop) && rest.every((bounds) => bounds.includes(bound)) && isStartBelow(bound));
  return found ?? null;
}
