/** The state of a host program at a point, and how the states of two paths become one. */
import { LayeredMap } from '../base/layered-map.ts';
import { appliedSymbol } from '../assumptions/applied-symbol.ts';
import type { Fact } from '../assumptions/expression.ts';
import { isLarge, isSame } from '../assumptions/parts.ts';
import { printCondition } from '../assumptions/print-assumption.ts';
import { joinedFact, negatedFact, truth } from '../assumptions/simplify.ts';
import { type HostValue, type MemoryContents, eitherValue, valueKey } from '../cuda/launches/value.ts';
import { type HostOrder, joinedOrder } from './operations/order.ts';
import { type Cell, type Content, type ObjectState, copiedCells, isSameBase, objectKey, refined } from './object-contents.ts';

/** What `<<<…>>>` configures, and the call of a function that contains it. */
interface LaunchConfiguration {
  readonly grid: HostValue;
  readonly block: HostValue;
  readonly shared: HostValue;
  /** Undefined if it is unknown. */
  readonly stream: HostValue | undefined;
  readonly within: object;
}

/** Changed in place. */
export interface State {
  /** SSA names of the calls that are being executed. */
  values: LayeredMap<number, HostValue>;
  /** Objects that were written. */
  objects: LayeredMap<number, StoredObject>;
  /** Conditions of the path. They are about symbols, whose values do not change, so they stay true. */
  facts: readonly Fact[];
  /** When what unknown pointers may point to was last changed by unknown code, or through an unknown pointer. */
  changed: number;
  /** When unknown code was last called. */
  called: number;
  /** When what is known by unknown pointers only was last changed by a write to a variable. */
  outerChanged: number;
  /** Known contents of device memory: by the identity of an allocation, or `symbol NAME` of a variable. */
  contents: ReadonlyMap<string, MemoryContents>;
  /** What `<<<…>>>` configured for the launch that follows. */
  configuration: LaunchConfiguration | null;
  /** Which operations have ended. */
  order: HostOrder;
}

/** An independent copy of a state. */
export function cloneState({ values, objects, ...rest }: State): State {
  return { values: values.copy(), objects: objects.copy(), ...rest };
}

/** Adds a condition to the path. Even an unknown condition selects one of the two values of a joined variable. */
export function assume(state: State, fact: Fact): void {
  if (fact.kind === 'truth') return;
  if (fact.kind === 'and') {
    assume(state, fact.left);
    assume(state, fact.right);
    return;
  }
  if (state.facts.includes(fact)) return;
  state.facts = [...state.facts, fact];
}

/** Contents of an object, and when they were written. */
interface StoredObject {
  readonly contents: ObjectState;
  readonly at: number;
}

/** What merging needs to know of objects. */
export interface MergeContext {
  readonly contents: (object: number, state: State) => ObjectState;
  readonly store: (contents: ObjectState) => StoredObject;
  /** Stops following a value: the object whose address it is may change unseen. */
  readonly lose: (value: HostValue) => void;
  readonly isEscaped: (object: number) => boolean;
  /** Whether the object was made on the path to a state. */
  readonly exists: (object: number, state: State) => boolean;
  readonly fresh: (label: string) => HostValue;
  readonly undecided: () => Fact;
  readonly now: () => number;
}

function joined(facts: readonly Fact[]): Fact {
  return facts.reduce((left, right) => joinedFact('and', left, right), truth(true));
}

/** Conjunction of facts; null without facts, or if it is too large. */
function conjunction(facts: readonly Fact[]): Fact | null {
  const all = joined(facts);
  return all.kind === 'truth' || facts.length > 12 || isLarge(all) ? null : all;
}

/** Joins the states of two paths. The first one becomes the state after both. */
export function mergeStates(first: State, second: State, context: MergeContext): State {
  let common = 0;
  while (common < first.facts.length && first.facts[common] === second.facts[common]) common++;
  const [a, b] = [conjunction(first.facts.slice(common)), conjunction(second.facts.slice(common))];
  const condition = a && (!b || size(a) <= size(b)) ? a : b ? negatedFact(b) : context.undecided();
  const facts = first.facts.slice(0, common);
  const either = a && b ? disjunction(a, b) : null;
  const merged: State = {
    values: mergedValues(first, second, condition, context),
    objects: mergedObjects(first, second, condition, context),
    facts:
      !a || !b
        ? [...facts, context.undecided()]
        : either === null || either.kind === 'truth'
          ? facts
          : [...facts, isLarge(either) ? context.undecided() : either],
    contents: new Map([...first.contents].filter(([memory, held]) => second.contents.get(memory) === held)),
    changed: Math.max(first.changed, second.changed),
    called: Math.max(first.called, second.called),
    outerChanged: Math.max(first.outerChanged, second.outerChanged),
    configuration: first.configuration === second.configuration ? first.configuration : null,
    order: joinedOrder(first.order, second.order),
  };
  return merged;
}

function size(fact: Fact): number {
  return fact.kind === 'and' || fact.kind === 'or' ? size(fact.left) + size(fact.right) : 1;
}

function conjuncts(fact: Fact): readonly Fact[] {
  return fact.kind === 'and' ? [...conjuncts(fact.left), ...conjuncts(fact.right)] : [fact];
}

/** One of two paths; null if it is always true. `a || (!a && b)` is `a || b`. */
function disjunction(a: Fact, b: Fact): Fact | null {
  if (isSame(a, negatedFact(b)) || isSame(b, negatedFact(a))) return null;
  const [as, bs] = [conjuncts(a), conjuncts(b)];
  const shared = as.filter((one) => bs.some((other) => isSame(one, other)));
  const rest = (all: readonly Fact[], others: readonly Fact[]): readonly Fact[] => {
    const own = all.filter((one) => !shared.some((other) => isSame(one, other)));
    const [only] = others;
    return others.length === 1 && only ? own.filter((one) => !isSame(one, negatedFact(only))) : own;
  };
  const left = as.filter((one) => !shared.some((other) => isSame(one, other)));
  const right = bs.filter((one) => !shared.some((other) => isSame(one, other)));
  const [one, other] = [rest(as, right), rest(bs, left)];
  const either = one.length === 0 || other.length === 0 ? truth(true) : joinedFact('or', joined(one), joined(other));
  const all = joinedFact('and', joined(shared), either);
  return all.kind === 'truth' ? null : all;
}

function mergedValues(first: State, second: State, condition: Fact, context: MergeContext): LayeredMap<number, HostValue> {
  const values = first.values.copy();
  for (const cell of LayeredMap.writtenApart(first.values, second.values)) {
    const [a, b] = [first.values.get(cell), second.values.get(cell)];
    if (a === undefined || b === undefined) values.set(cell, a ?? b!);
    else if (a !== b) values.set(cell, mergedValue(a, b, condition, context));
  }
  return values;
}

/** Maximum number of pointers of which a value may be one. */
const maxPointers = 4;

/** Number of pointers of which a value is one; 0 for other values. */
function pointersIn(value: HostValue): number {
  if (value.kind === 'either') return pointersIn(value.then) + pointersIn(value.otherwise);
  return value.kind === 'pointer' || value.kind === 'symbol' || value.kind === 'function' ? 1 : 0;
}

/** The value of one of two paths. */
function mergedValue(a: HostValue, b: HostValue, condition: Fact, context: MergeContext): HostValue {
  const either = eitherValue(condition, a, b);
  if (either) return either;
  const alternatives = [a, b].map(pointersIn);
  if (
    !isLarge(condition) &&
    condition.kind !== 'unknown' &&
    alternatives.every((count) => count > 0) &&
    alternatives[0]! + alternatives[1]! <= maxPointers
  )
    return { kind: 'either', condition, then: a, otherwise: b };
  if (a.kind === 'function' && b.kind === 'function')
    return { ...a, others: [...(a.others ?? []), { ...b, others: [] }, ...(b.others ?? [])] };
  for (const value of [a, b]) context.lose(value);
  const label = a.kind === 'pointer' ? a.memory.label : a.kind === 'symbol' ? a.symbol.label : 'a value';
  const isNumber = [a, b].every(({ kind }) => kind === 'number' || kind === 'symbol' || kind === 'condition');
  return isNumber
    ? {
        kind: 'symbol',
        symbol: {
          ...appliedSymbol('either', [printCondition(condition), valueKey(a), valueKey(b)], label),
          origin: `${label === 'a value' ? label : `\`${label}\``}, which depends on the path`,
        },
      }
    : context.fresh(label);
}

function mergedObjects(first: State, second: State, condition: Fact, context: MergeContext): LayeredMap<number, StoredObject> {
  const objects = first.objects.copy();
  for (const object of LayeredMap.writtenApart(first.objects, second.objects)) {
    const [a, b] = [context.contents(object, first), context.contents(object, second)];
    if (!context.exists(object, first) || !context.exists(object, second)) {
      objects.set(object, context.store(context.exists(object, first) ? a : b));
      continue;
    }
    if (a === b) {
      objects.set(object, context.store(a));
      continue;
    }
    if (context.isEscaped(object))
      for (const { content } of [...a.cells, ...b.cells]) if (content.kind === 'value') context.lose(content.value);
    objects.set(object, context.store(mergedObject(a, b, condition, context)));
  }
  return objects;
}

function mergedObject(a: ObjectState, b: ObjectState, condition: Fact, context: MergeContext): ObjectState {
  if (objectKey(a) === objectKey(b)) return a;
  const cells: Cell[] = [];
  const fresh = (): Content => {
    const value = context.fresh('a value');
    return { kind: 'region', base: { kind: 'unknown', symbol: value.kind === 'symbol' ? value.symbol : { id: '', label: '' } }, from: 0 };
  };
  for (const [offset, bytes] of refined(a, b)) {
    const [own, other] = [copiedCells(a, offset, bytes, offset), copiedCells(b, offset, bytes, offset)];
    const [x, y] = [own[0]?.content, other[0]?.content];
    if (own.length !== 1 || other.length !== 1 || !x || !y) cells.push({ offset, bytes, content: fresh() });
    else if (x.kind === 'region' && y.kind === 'region')
      cells.push({ offset, bytes, content: x.from === y.from && isSameBase(x.base, y.base) ? x : fresh() });
    else if (x.kind === 'value' && y.kind === 'value')
      cells.push({ offset, bytes, content: { kind: 'value', value: mergedValue(x.value, y.value, condition, context) } });
    else {
      const scalar = x.kind === 'value' ? y : x;
      const value = x.kind === 'value' ? x.value : y.kind === 'value' ? y.value : null;
      // Zeros are a number.
      const isZero = scalar.kind === 'region' && scalar.base.kind === 'zero' && value?.kind === 'number';
      const zero: HostValue = { kind: 'number', term: { kind: 'integer', value: 0n } };
      if (isZero)
        cells.push({
          offset,
          bytes,
          content: {
            kind: 'value',
            value: x.kind === 'value' ? mergedValue(value, zero, condition, context) : mergedValue(zero, value, condition, context),
          },
        });
      else {
        if (value) context.lose(value);
        cells.push({ offset, bytes, content: fresh() });
      }
    }
  }
  if (isSameBase(a.base, b.base)) return { base: a.base, cells };
  const rest = fresh();
  return { base: rest.kind === 'region' ? rest.base : a.base, cells };
}
