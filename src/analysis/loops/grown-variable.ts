/**
 * Variables that grow on some paths through a loop only: the number of elements found so far. They have no closed form,
 * but a range: they never shrink, one iteration adds a limited amount, and the loop may end at a bound.
 */
import type { Block, BlockId, Kernel, Loop, Operand, Phi } from '../../ir/form/kernel.ts';
import type { Bounds, Linear } from '../../term/linear.ts';
import type { Term, TermStore } from '../../term/term.ts';
import { readComparison } from './comparison.ts';

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
}

/** A value that one iteration may leave in the variable, and the conditions of the edges on which it is passed on. */
interface Passed {
  readonly value: Term;
  readonly conditions: readonly Term[];
}

/** An addition to the variable: its largest amount, and the values that it becomes until the next iteration. */
interface Addition {
  readonly most: bigint;
  readonly passed: readonly Passed[];
}

/** The range of a variable at the start of iterations, and an exclusive upper bound that is constant in the loop. */
interface GrownVariable {
  readonly range: Bounds;
  readonly below: Term | null;
}

/** Limit on the joins of paths that are followed in one iteration. */
const maxJoins = 32;

/**
 * The range of a loop variable that iterations only add to.
 * @param variable the term of the phi at the loop header
 * @param mostTrips upper bound on the trip count
 * @returns null if an iteration may do anything else, or if the sum may wrap around
 */
export function grownVariable(
  loops: Loops,
  loop: Loop,
  phi: Phi,
  variable: Term,
  mostTrips: bigint,
): GrownVariable | null {
  const { kernel, operand, read } = loops;
  const { width } = variable;
  if (width < 32) return null;
  const { predecessors } = kernel.blocks[loop.header]!;
  const additions: Addition[] = [];
  const walk = additionsOf(loops, loop, variable, additions);
  let [low, high]: [bigint | null, bigint] = [null, 0n];
  for (const [at, from] of predecessors.entries()) {
    const input = phi.inputs[at]!;
    if (loop.latches.includes(from)) {
      if (!walk(input, from, loop.header, [])) return null;
      continue;
    }
    const initial = read(operand(input));
    if (initial.assumes.length > 0) return null;
    [low, high] = [low === null || initial.low < low ? initial.low : low, low === null || initial.high > high ? initial.high : high]; // oxfmt-ignore
  }
  if (low === null) return null;
  const each = additions.reduce((most, one) => (one.most > most ? one.most : most), 0n);
  const largest = (1n << BigInt(width - 1)) - 1n;
  const below = boundOf(loops, loop, additions, high, each);
  // Below the bound, one more addition may not wrap around.
  const limits = [high + each * mostTrips, ...(below ? [read(below).high - 1n + each] : [])].filter((limit) => limit <= largest); // oxfmt-ignore
  if (limits.length === 0) return null;
  return { range: { low, high: limits.reduce((least, limit) => (limit < least ? limit : least)) }, below };
}

/** Collects the additions on all paths to a use of the variable; the result is false if there are other changes. */
function additionsOf({ kernel, store, operand, edge, read }: Loops, loop: Loop, variable: Term, additions: Addition[]) {
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
    if (amount.leaves.includes(variable) || low < 0n || assumes.length > 0) return false;
    additions.push({ most: high, passed });
    return true;
  };
  return function walk(source: Operand, from: BlockId, to: BlockId, later: readonly Passed[]): boolean {
    const value = operand(source);
    const passed = [...later, { value, conditions: conditionsBefore(kernel, loop, edge, from, to) }];
    if (value === variable) return true;
    const definition = source.kind === 'value' ? kernel.values[source.id]!.definition : undefined;
    const { block } = definition ?? {};
    const isJoin = definition?.kind === 'phi' && loop.blocks.has(block!) && !kernel.loops.some(({ header }) => header === block); // oxfmt-ignore
    if (!isJoin) return valued(value, passed);
    if (++joins > maxJoins) return false;
    const { phis, predecessors } = kernel.blocks[block!]!;
    const { inputs } = phis.find(({ result }) => source.kind === 'value' && result === source.id)!;
    return inputs.every((input, at) => walk(input, predecessors[at]!, block!, passed));
  };
}

/** The conditions of the edges that every path takes to an edge since its last join. */
function conditionsBefore(
  kernel: Kernel,
  loop: Loop,
  edge: Loops['edge'],
  from: BlockId,
  to: BlockId,
): readonly Term[] {
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
function boundOf(
  { isInvariant, read }: Loops,
  loop: Loop,
  additions: readonly Addition[],
  start: bigint,
  each: bigint,
): Term | null {
  const boundsOf = ({ passed }: Addition): readonly Term[] =>
    passed.flatMap(({ value, conditions }) =>
      conditions.flatMap((condition): readonly Term[] => {
        const comparison = readComparison(condition);
        if (comparison?.strict === true && comparison.signed && comparison.smaller === value) return [comparison.larger]; // oxfmt-ignore
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
  const [first, ...others] = additions;
  const rest = others.map(boundsOf);
  const found = first && boundsOf(first).find((bound) => isInvariant(bound, loop) && rest.every((bounds) => bounds.includes(bound)) && isStartBelow(bound)); // oxfmt-ignore
  return found ?? null;
}
