/** The paths on which a thread reaches an access: conditions are read in order, and a disjunction splits a path. */
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { BlockId, Kernel, Loop } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { spend } from '../model/effort.ts';
import type { IdempotencyReasonKind } from '../model/kernel-idempotency.ts';
import { type Learnt, learn } from './conditions.ts';
import { addAmounts, isAtMost, oneAmount } from './amount.ts';
import { LinearInterpretation, type StatedValue } from './linear-interpretation.ts';
import { continueConditions, lastIteration, learnTripCounts } from './iterations.ts';

export interface PathCase {
  readonly reading: LinearInterpretation;
  /** Whether all conditions of the path are known. */
  readonly isComplete: boolean;
  /** Whether a thread may execute the path in a launch that satisfies the conditions collected on it. */
  readonly isPossible: boolean;
  /** Why the conditions are not all known. */
  readonly reason: IdempotencyReasonKind | null;
}

/** Maximum number of paths; more are merged into one. */
const maxWays = 4;
/** Blocks with more predecessors lose their condition; see `evaluateSymbolically`. */
const maxPredecessors = 24;

interface Lesson {
  readonly learn: (reading: LinearInterpretation) => Learnt;
  readonly reason: IdempotencyReasonKind | null;
}

/** Lists the paths to a block on which an additional condition is satisfied. */
export function pathsTo(symbolic: SymbolicKernel, block: BlockId, condition: Term, stated: StatedValue): readonly PathCase[] {
  const { kernel } = symbolic;
  const inside = kernel.loops.filter((loop) => loop.blocks.has(block));
  const { lessons, isComplete } = lessonsOf(symbolic, block, condition, inside);
  const ways: PathCase[] = [];
  let taken = 0;
  const open: (readonly number[])[] = [[]];
  for (let choices = open.pop(); choices; choices = open.pop()) {
    const reading = new LinearInterpretation({
      symbolic,
      statedValue: stated,
      isInside: (loop) => inside.some(({ id }) => id === loop),
      lastIteration: (loop, outside) => lastIteration(symbolic, kernel.loops[loop]!, outside),
      learn: (inner, term) => void learn(inner, term),
    });
    let complete = isComplete;
    let reason: IdempotencyReasonKind | null = null;
    let at = 0;
    for (const lesson of lessons) {
      const learnt = lesson.learn(reading);
      let isAll = learnt.kind === 'all';
      if (learnt.kind === 'one-of' && (at < choices.length || taken + open.length + learnt.ways.length <= maxWays)) {
        if (at === choices.length) {
          for (let other = learnt.ways.length - 1; other > 0; other--) open.push([...choices, other]);
          choices = [...choices, 0];
        }
        isAll = learnt.ways[choices[at]!]!(reading);
        at++;
      }
      if (isAll) continue;
      complete = false;
      reason ??= lesson.reason;
    }
    const canBe = isPossible(reading);
    if (canBe) taken++;
    ways.push({ reading, isComplete: complete, isPossible: canBe, reason });
  }
  return ways;
}

function isPossible({ scope }: LinearInterpretation): boolean {
  if (scope.guards.some(({ condition }) => condition.kind === 'never')) return false;
  return scope.facts.every((fact) => {
    const { low, high } = scope.narrower(fact, scope.byVariables(fact.form));
    return !low || !high || !isAtMost(addAmounts(high, oneAmount), low);
  });
}

/** The facts to learn on the path to a block, from the entry on. */
function lessonsOf(
  symbolic: SymbolicKernel,
  block: BlockId,
  condition: Term,
  inside: readonly Loop[],
): { readonly lessons: readonly Lesson[]; readonly isComplete: boolean } {
  const { kernel, store } = symbolic;
  const lessons: Lesson[] = [];
  const seen = new Set<Term>();
  const ends = endConditions(symbolic, inside);
  const addLessons = (term: Term): void => {
    for (const whole of term.operator === 'all' ? term.arguments : [term]) {
      const part = seen.has(whole) ? store.true : withoutEnds(symbolic, whole, ends);
      seen.add(whole);
      if (part === store.true) continue;
      lessons.push({
        learn: (reading) => learn(reading, part),
        reason: isOfMemory(part) ? 'condition-from-memory' : null,
      });
    }
  };
  const skip = (term: Term): void => {
    for (const part of term.operator === 'all' ? term.arguments : [term]) seen.add(part);
  };
  let isComplete = kernel.unsupported.length === 0 && kernel.blocks.every(({ predecessors }) => predecessors.length <= maxPredecessors);
  const chain: BlockId[] = [];
  for (let at = block; ; at = kernel.dominators[at]!) {
    chain.unshift(at);
    if (at === kernel.dominators[at]) break;
  }
  for (const at of chain) {
    const dominator = kernel.dominators[at]!;
    spend(symbolic, symbolic.reach(at).arguments.length);
    // If all paths from the dominator lead to this block, its condition adds no fact.
    if (at !== dominator && alwaysLeads(kernel, dominator, at)) skip(symbolic.reach(at));
    else addLessons(symbolic.reach(at));
    const loop = inside.find(({ header }) => header === at);
    if (!loop) continue;
    const { terms, areAll } = continueConditions(symbolic, loop);
    if (!areAll) isComplete = false;
    for (const stay of terms)
      lessons.push({ learn: (reading) => learnTripCounts(reading, loop, stay), reason: isOfMemory(stay) ? 'condition-from-memory' : null });
  }
  addLessons(condition);
  return { lessons, isComplete };
}

/**
 * Whether each thread that executes one block later executes the other, in the same iteration of the loops around both.
 */
function alwaysLeads({ postdominators, blocks, loops }: Kernel, from: BlockId, to: BlockId): boolean {
  let at: BlockId | null = from;
  while (at !== null && at !== to) at = postdominators[at] === at ? null : postdominators[at]!;
  if (at === null) return false;
  const headers = loops.filter((loop) => loop.blocks.has(from) && loop.blocks.has(to)).map(({ header }) => header);
  const seen = new Set<BlockId>([to]);
  const open = [...blocks[from]!.successors];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    if (headers.includes(next)) return false;
    seen.add(next);
    open.push(...blocks[next]!.successors);
  }
  return true;
}

/** Conditions implied by the end of a loop: each thread satisfies them in some iteration. */
function endConditions(symbolic: SymbolicKernel, inside: readonly Loop[]): ReadonlySet<Term> {
  const ended = symbolic.kernel.loops.filter((loop) => loop.exits.length === 1 && !inside.includes(loop));
  const terms = new Set<Term>();
  for (const { exits } of ended) {
    for (const { from, to } of exits) {
      const edge = symbolic.edge(from, to);
      for (const part of edge.operator === 'all' ? edge.arguments : [edge]) if (isOfRounds(part)) terms.add(part);
    }
  }
  return terms;
}

function withoutEnds(symbolic: SymbolicKernel, term: Term, ends: ReadonlySet<Term>): Term {
  const { store } = symbolic;
  if (ends.has(term)) return store.true;
  const inner = (): Term[] => term.arguments.map((part) => withoutEnds(symbolic, part, ends));
  if (term.operator === 'all') return store.all(inner());
  return term.operator === 'any' ? store.any(inner()) : term;
}

function isOfRounds(term: Term): boolean {
  return term.leaves.some(({ atom }) => atom!.kind === 'iteration');
}

function isOfMemory(term: Term): boolean {
  return term.leaves.some(({ atom }) => atom!.kind === 'havoc' || atom!.kind === 'phi');
}
