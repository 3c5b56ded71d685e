/**
 * Loops as transitions between their headers: the linear conditions of a transition, and the value of a linear form
 * after it. Conditions that are not linear are omitted; a form that becomes unknown has no value.
 */
import { dominates } from '../../ir/form/dominators.ts';
import type { BlockId, Loop, LoopId } from '../../ir/form/kernel.ts';
import { readingOf } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { undefinedValue } from '../../analysis/values/symbolic.ts';
import { comparisonOf } from '../lanes/term-comparison.ts';
import { type LaneSetting, withoutReadings } from '../lanes/lane-values.ts';

/** constant + sum of coefficient * integer. */
export interface Form {
  readonly constant: bigint;
  readonly terms: ReadonlyMap<Term, bigint>;
}

/** A header; null: the start of the root. */
export type Point = BlockId | null;

export interface Transition {
  readonly from: Point;
  readonly to: BlockId;
  /** Forms that are not negative at `from` if the transition is taken. */
  readonly guards: readonly Form[];
  /** A form over values known at `to`, rewritten over values known at `from`; null if that is not possible. */
  readonly before: (form: Form) => Form | null;
}

/** Maximum number of paths between headers. */
const maxTransitions = 64;
/** Maximum number of choices between two values that are distinguished on one path. */
const maxForks = 4;

/**
 * The transitions of a loop and those within it, or of a whole kernel.
 * @returns null if there are too many
 */
export function transitionsOf(setting: LaneSetting, root: Loop | null): readonly Transition[] | null {
  const { kernel, store, view, edge, operand, reach } = setting.symbolic;
  const deciding = decidingVariables(setting, root);
  const loopAt = new Map<BlockId, Loop>();
  for (const loop of kernel.loops) if (!root || root.blocks.has(loop.header)) loopAt.set(loop.header, loop);
  const found: Transition[] = [];
  let ways = 0;

  const arrive = (from: Point, last: BlockId, to: BlockId, known: Facts, path: ReadonlySet<BlockId>, forks: number): void => {
    const loop = loopAt.get(to)!;
    const input = kernel.blocks[to]!.predecessors.indexOf(last);
    const phis = new Map<number, Form | null>();
    for (const phi of kernel.blocks[to]!.phis) {
      if (!deciding.has(phi.result)) continue;
      const resolved = resolve(setting, view.natural(operand(phi.inputs[input]!)), known);
      if (resolved.kind === 'open' && forks > 0) {
        for (const value of [true, false]) {
          const more = new Map(known);
          assume(more, resolved.test, value);
          arrive(from, last, to, more, path, forks - 1);
        }
        return;
      }
      phis.set(phi.result, resolved.kind === 'form' ? resolved.form : null);
    }
    const isBack = loop.latches.includes(last);
    found.push({ from, to, guards: guardsOf(setting, known), before: (form) => before(setting, form, { from, loop, isBack, phis, path }) });
  };

  const follow = (from: Point, block: BlockId, to: BlockId, known: Facts, path: ReadonlySet<BlockId>): void => {
    if (++ways > 8 * maxTransitions || found.length > maxTransitions) return;
    const condition = edge(block, to);
    if (decide(known, condition) === false) return;
    const more = new Map(known);
    assume(more, condition, true);
    if (loopAt.has(to)) arrive(from, block, to, more, path, maxForks);
    else if (!root || root.blocks.has(to)) leave(from, to, more, new Set([...path, to]));
  };

  const leave = (from: Point, block: BlockId, known: Facts, path: ReadonlySet<BlockId>): void => {
    for (const next of new Set(kernel.blocks[block]!.successors)) follow(from, block, next, known, path);
  };

  const factsAt = (block: BlockId): Facts => {
    const known: Facts = new Map();
    assume(known, reach(block), true);
    return known;
  };

  for (const header of loopAt.keys()) leave(header, header, factsAt(header), new Set([header]));
  if (root) {
    for (const entry of kernel.blocks[root.header]!.predecessors)
      if (!root.latches.includes(entry)) follow(null, entry, root.header, factsAt(entry), new Set());
  } else leave(null, 0 as BlockId, new Map([[store.true, true]]), new Set([0 as BlockId]));
  return ways > 8 * maxTransitions || found.length > maxTransitions ? null : found;
}

/**
 * Whether all terms of a form are available when a thread arrives at a header: the variables of its loop, and values
 * computed before.
 */
export function isKnownAt(setting: LaneSetting, { terms }: Form, block: BlockId): boolean {
  const { kernel, definedIn } = setting.symbolic;
  return [...terms.keys()].every(({ leaves }) =>
    leaves.every(({ atom }) => {
      if (atom!.kind === 'iteration') return dominates(kernel.dominators, kernel.loops[atom.loop]!.header, block);
      if (atom!.kind !== 'havoc' && atom!.kind !== 'phi') return true;
      const home = definedIn(atom!.value);
      return dominates(kernel.dominators, home, block) && (home !== block || phiOf(setting, atom!.value) !== null);
    }),
  );
}

/** The block of the phi that defines a value; null for other values. */
function phiOf({ symbolic: { kernel } }: LaneSetting, value: number | null): BlockId | null {
  const definition = value === null || value === undefinedValue ? null : kernel.values[value]!.definition;
  return definition?.kind === 'phi' ? definition.block : null;
}

/** Loop variables compared by conditions, and the loop variables that those are computed from. */
function decidingVariables(setting: LaneSetting, root: Loop | null): ReadonlySet<number> {
  const { kernel, edge, operand } = setting.symbolic;
  const found = new Set<number>();
  const work: number[] = [];
  const visit = ({ leaves }: Term): void => {
    for (const { atom } of leaves) {
      if (atom!.kind !== 'havoc' || found.has(atom.value) || phiOf(setting, atom.value) === null) continue;
      found.add(atom.value);
      work.push(atom.value);
    }
  };
  const conditions = new Set<Term>();
  const visitCondition = (term: Term): void => {
    if (conditions.has(term)) return;
    conditions.add(term);
    if (['slt', 'ult', 'equal'].includes(term.operator)) visit(term);
    else if (['not', 'all', 'any'].includes(term.operator)) term.arguments.forEach(visitCondition);
  };
  for (const { id, successors } of kernel.blocks)
    if (!root || root.blocks.has(id)) for (const next of successors) visitCondition(edge(id, next));
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    const { definition } = kernel.values[value]!;
    if (definition.kind === 'phi')
      for (const input of kernel.blocks[definition.block]!.phis[definition.index]!.inputs) visit(operand(input));
  }
  return found;
}

/** Conditions known to be true or false on a path. */
type Facts = Map<Term, boolean>;

function assume(facts: Facts, condition: Term, value: boolean): void {
  if (facts.get(condition) === value) return;
  facts.set(condition, value);
  if (condition.operator === 'not') assume(facts, condition.arguments[0]!, !value);
  if ((condition.operator === 'all' && value) || (condition.operator === 'any' && !value))
    for (const part of condition.arguments) assume(facts, part, value);
}

function decide(facts: Facts, condition: Term): boolean | undefined {
  const known = facts.get(condition);
  if (known !== undefined) return known;
  switch (condition.operator) {
    case 'constant':
      return condition.value === 1n;
    case 'not': {
      const inner = decide(facts, condition.arguments[0]!);
      return inner === undefined ? undefined : !inner;
    }
    case 'all':
    case 'any': {
      const ends = condition.operator === 'any';
      const parts = condition.arguments.map((part) => decide(facts, part));
      if (parts.includes(ends)) return ends;
      return parts.includes(undefined) ? undefined : !ends;
    }
    default:
      return undefined;
  }
}

type Resolved =
  | { readonly kind: 'form'; readonly form: Form }
  /** A form that differs depending on whether the condition holds. */
  | { readonly kind: 'open'; readonly test: Term };

/** A form with its known choices resolved, and with one name for the iteration index of a loop. */
function resolve(setting: LaneSetting, form: Form, facts: Facts): Resolved {
  const { view } = setting.symbolic;
  const terms = new Map<Term, bigint>();
  let { constant } = form;
  const work = [...form.terms];
  for (let next = work.pop(); next; next = work.pop()) {
    const [term, factor] = next;
    if (term.operator === 'select' && term.width > 0) {
      const [test, yes, no] = term.arguments as [Term, Term, Term];
      const value = decide(facts, test);
      if (value === undefined) return { kind: 'open', test };
      const taken = view.natural(value ? yes : no);
      constant += factor * taken.constant;
      work.push(...[...taken.terms].map(([part, by]) => [part, factor * by] as [Term, bigint]));
      continue;
    }
    if (readingOf(term)) {
      const read = withoutReadings(setting, { constant: 0n, terms: new Map([[term, 1n]]), low: 0n, high: 0n, assumes: [] });
      if (!read.terms.has(term)) {
        constant += factor * read.constant;
        work.push(...[...read.terms].map(([part, by]) => [part, factor * by] as [Term, bigint]));
        continue;
      }
    }
    const own = term.atom?.kind === 'iteration' ? roundsOf(setting, term.atom.loop as LoopId) : term;
    const total = (terms.get(own) ?? 0n) + factor;
    if (total === 0n) terms.delete(own);
    else terms.set(own, total);
  }
  return { kind: 'form', form: { constant, terms } };
}

function roundsOf({ symbolic: { store } }: LaneSetting, loop: LoopId): Term {
  return store.atom(64, { kind: 'iteration', loop });
}

/** Linear forms that are not negative by the facts. */
function guardsOf(setting: LaneSetting, facts: Facts): Form[] {
  const { store, view } = setting.symbolic;
  const guards: Form[] = [];
  const add = (larger: Term, smaller: Term, signed: boolean, slack: bigint): void => {
    const read = (term: Term) => (signed ? view.signed(term) : view.unsigned(term));
    const { constant, terms } = view.subtract(read(larger), read(smaller));
    const resolved = resolve(setting, { constant: constant - slack, terms }, facts);
    if (resolved.kind === 'form' && resolved.form.terms.size > 0) guards.push(resolved.form);
  };
  for (const [term, value] of facts) {
    if (term.operator === 'equal' && value && term.arguments[0]!.width > 1) {
      const [a, b] = term.arguments as [Term, Term];
      add(a, b, true, 0n);
      add(b, a, true, 0n);
      continue;
    }
    if (term.operator === 'equal' && !value && term.arguments[0]!.width > 1) {
      const [a, b] = term.arguments as [Term, Term];
      // 0 is the smallest unsigned integer.
      const [zero, other] = a.operator === 'constant' ? [a, b] : [b, a];
      if (zero.operator === 'constant' && zero.value === 0n) add(other, zero, false, 1n);
      continue;
    }
    if (term.operator !== 'slt' && term.operator !== 'ult') continue;
    const comparison = comparisonOf(value ? term : store.not(term));
    if (comparison && comparison.kind !== 'differ')
      add(comparison.larger, comparison.smaller, comparison.signed, comparison.kind === 'strict' ? 1n : 0n);
  }
  return guards;
}

interface Arrival {
  readonly from: Point;
  readonly loop: Loop;
  readonly isBack: boolean;
  readonly phis: ReadonlyMap<number, Form | null>;
  readonly path: ReadonlySet<BlockId>;
}

function before(setting: LaneSetting, form: Form, { from, loop, isBack, phis, path }: Arrival): Form | null {
  const { kernel, definedIn } = setting.symbolic;
  const rounds = roundsOf(setting, loop.id);
  const variables = new Set(from === null ? [] : kernel.blocks[from]!.phis.map(({ result }) => result as number));
  // Values computed on the path are not known before it.
  const isNew = ({ leaves }: Term): boolean =>
    leaves.some(
      ({ atom }) => (atom!.kind === 'havoc' || atom!.kind === 'phi') && !variables.has(atom!.value) && path.has(definedIn(atom!.value)),
    );
  let { constant } = form;
  const terms = new Map<Term, bigint>();
  const include = (term: Term, factor: bigint): void => {
    const total = (terms.get(term) ?? 0n) + factor;
    if (total === 0n) terms.delete(term);
    else terms.set(term, total);
  };
  for (const [term, factor] of form.terms) {
    if (term === rounds) {
      if (isBack) {
        include(term, factor);
        constant += factor;
      }
      continue;
    }
    if (term.atom?.kind === 'havoc' && phiOf(setting, term.atom.value) === loop.header) {
      const value = phis.get(term.atom.value);
      if (!value) return null;
      constant += factor * value.constant;
      for (const [part, by] of value.terms) {
        if (isNew(part)) return null;
        include(part, factor * by);
      }
      continue;
    }
    const isOther = term.leaves.some(({ atom }) =>
      atom!.kind === 'iteration' ? atom.loop === loop.id : phiOf(setting, atom!.kind === 'havoc' ? atom!.value : null) === loop.header,
    );
    if (isOther || isNew(term)) return null;
    include(term, factor);
  }
  return { constant, terms };
}
