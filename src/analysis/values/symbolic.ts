/**
 * Symbolic values of a kernel: each SSA value as a term over thread and block indices, parameters, loop iteration
 * counters and unknowns; each block with the condition under which a thread reaches it. Loops are not unrolled: a loop
 * variable becomes a closed form in the number of completed iterations if its recurrence is affine, geometric,
 * alternating or constant after the first iteration, otherwise an unknown value.
 */
import { invariant } from '../../base/assert.ts';
import { OutOfTime } from '../../base/out-of-time.ts';
import { dominates } from '../../ir/form/dominators.ts';
import type { Block, BlockId, Instruction, Kernel, Loop, Operand, Phi, ValueId } from '../../ir/form/kernel.ts';
import type { ValueType } from '../../isa/model/operation.ts';
import { termDomain } from '../../term/term-domain.ts';
import { type Bounds, type Linear, LinearView, inside, signedBounds, unsignedBounds } from '../../term/linear.ts';
import { type Term, TermStore } from '../../term/term.ts';
import { wideDivision } from '../../term/wide-division.ts';
import { readComparison, uncovered } from '../loops/ordered-terms.ts';
import { type FrozenVariables, frozenVariables } from '../loops/frozen-variables.ts';
import { shiftedForm } from '../loops/halving.ts';
import { type NarrowCounter, narrowCounter } from '../loops/narrow-counter.ts';
import { inductiveRange } from '../loops/inductive-range.ts';
import { nestedStep } from '../loops/nested-stride.ts';
import { ringForm } from '../loops/ring.ts';
import { specialRegister } from './special-register-term.ts';
import { type Dimensions, blockSizeBounds, gridSizeBounds } from './launch-bounds.ts';
import { substituted } from '../../term/rewrite.ts';

export interface SymbolicKernel {
  readonly kernel: Kernel;
  readonly store: TermStore;
  readonly view: LinearView;
  /** The closed form of a value. */
  readonly value: (id: ValueId) => Term;
  readonly operand: (operand: Operand) => Term;
  /** Condition for a thread to reach the block, with its latest values; sufficient too in code without loops. */
  readonly reach: (block: BlockId) => Term;
  /** The conditions of `SELVAGE_ASSUME`, with the instructions that state them. */
  readonly stated: readonly { readonly instruction: Instruction; readonly condition: Term }[];
  /** The condition of a branch terminator; undefined for other terminators. */
  readonly condition: (block: BlockId) => Term | undefined;
  /** The condition under which a thread at the end of `from` continues at `to`. */
  readonly edge: (from: BlockId, to: BlockId) => Term;
  /** Maximum trip count of each loop, as far as the ranges limit it. */
  readonly rounds: readonly bigint[];
  /** The block that defines the value of a `phi` or `havoc` atom. */
  readonly definedIn: (value: number) => BlockId;
  /** Values that only one thread of a block computes, once, usually thread 0: in the terms of all threads they denote those of that one. */
  readonly leaderValues: ReadonlySet<number>;
  /** Of these, the values that another thread than thread 0 computes. */
  readonly valuesOfOthers: ReadonlySet<number>;
}

export interface SymbolicContext {
  readonly dimensions: Dimensions;
  /** Value of a scalar parameter of the launch, as its bit pattern. */
  readonly scalar: (index: number, offset: number, bytes: number) => bigint | undefined;
  /** Range of a scalar parameter from the user's assumptions. */
  readonly scalarBounds: (index: number, offset: number, bytes: number) => Bounds | undefined;
  /** Range of a dimension under the user's assumptions. */
  readonly sizeBounds?: (kind: 'block-size' | 'grid-size', axis: 0 | 1 | 2, range: Bounds) => Bounds;
  readonly sharedBytes: number | null;
  /** Whether the time limit of the kernel has passed. */
  readonly expired?: (() => boolean) | undefined;
  /** The values of thread 0 of the block that instructions return, with the values that only thread 0 computes. */
  readonly broadcast?: {
    readonly stored: ReadonlyMap<Instruction, Operand>;
    readonly leaderValues: ReadonlySet<number>;
    readonly valuesOfOthers: ReadonlySet<number>;
  };
}

/** Index of a `havoc` atom for a register that was never written. */
export const undefinedValue = -1;

const unlimitedRounds = 1n << 62n;
/**
 * A value computed in more steps than this is unknown: hashes and random numbers, which never simplify. The addends of
 * a sum are steps, so that sums of thousands of addends are not rebuilt for each of them.
 */
const maxSteps = 256;
/** A value printed with more terms than this is unknown: not all readers of terms memoise shared parts. */
const longest = 2 ** 18;
/** A block with more incoming edges than this has the condition true. */
const maxAlternatives = 24;

/**
 * Evaluates a kernel symbolically for one launch.
 * @throws OutOfTime if its time is up before it is done
 */
export function evaluateSymbolically(kernel: Kernel, context: SymbolicContext): SymbolicKernel {
  const store = new TermStore((object) => kernel.objects[object]!.space === 'shared');
  const domain = termDomain(store);
  const raw: Term[] = [];
  const known = new Map<Term, Bounds>();
  const rounds: bigint[] = kernel.loops.map(() => unlimitedRounds);
  const view = new LinearView(store, { atom: atomBounds, known, isExhaustive });

  function isExhaustive(term: Term): boolean {
    const atom = term.atom!;
    if (atom.kind === 'thread') return context.dimensions.block[atom.axis] !== null;
    return atom.kind === 'block' && context.dimensions.grid[atom.axis] !== null;
  }

  function sizeBounds(kind: 'block-size' | 'grid-size', axis: 0 | 1 | 2): Bounds {
    const { dimensions } = context;
    const range = kind === 'block-size' ? blockSizeBounds(dimensions, axis, kernel) : gridSizeBounds(dimensions, axis);
    const left = context.sizeBounds?.(kind, axis, range) ?? range;
    // Assumptions that contradict each other give an empty range; that is reported elsewhere.
    return left.low <= left.high ? left : range;
  }

  function atomBounds(term: Term): Bounds {
    const atom = term.atom!;
    switch (atom.kind) {
      case 'thread':
        return { low: 0n, high: sizeBounds('block-size', atom.axis).high - 1n };
      case 'block':
        return { low: 0n, high: sizeBounds('grid-size', atom.axis).high - 1n };
      case 'block-size':
      case 'grid-size':
        return sizeBounds(atom.kind, atom.axis);
      case 'parameter':
        return context.scalarBounds(atom.index, atom.offset, atom.bytes) ?? signedBounds(term.width);
      case 'iteration':
        return { low: 0n, high: rounds[atom.loop]! };
      case 'object':
        return { low: 0n, high: 1n << 48n };
      case 'line':
        return { low: 0n, high: BigInt(atom.lines - 1) };
      default:
        return term.width === 0 ? { low: 0n, high: 1n } : signedBounds(term.width);
    }
  }

  const unknown = (id: ValueId): Term => store.atom(widthOf(kernel.values[id]!.type), { kind: 'havoc', value: id });

  /** The term of a value: an unknown one if it is computed in too many steps. */
  const kept = (id: ValueId, term: Term): Term =>
    term.depth + term.coefficients.length <= maxSteps && term.size <= longest ? term : unknown(id);

  /** The part of a loop in which its frozen variables were updated in every iteration, with their names there. */
  interface Part {
    readonly variables: FrozenVariables;
    readonly names: ReadonlyMap<Term, Term>;
    readonly memo: Map<Term, Term>;
  }
  const parts: Part[] = [];
  const partsOf: (readonly Part[])[] = [];
  /** The variable of each name; names are numbered from the first index that no value has. */
  const namedValues: ValueId[] = [];
  /** Further conditions of a block, in addition to its reach condition. */
  const alsoHolds: Term[] = [];

  function operandIn(block: BlockId, source: Operand): Term {
    const term = operand(source);
    const here = partsOf[block] ?? [];
    return here.reduce((named, { names, memo }) => substituted(store, named, (leaf) => names.get(leaf), memo), term);
  }

  function operand(source: Operand): Term {
    switch (source.kind) {
      case 'value':
        return raw[source.id] ?? unknown(source.id);
      case 'constant':
        return source.type === 'predicate' ? store.truth(source.value === 1n) : store.constant(source.type, source.value);
      case 'address': {
        const start = store.atom(source.width, { kind: 'object', object: source.object, generic: source.generic });
        return store.sum(source.width, source.offset, [[start, 1n]]);
      }
      case 'special':
        return specialRegister(store, context, source.register);
      case 'undefined':
        return store.atom(widthOf(source.type), { kind: 'havoc', value: undefinedValue });
    }
  }

  /** A load from the parameter space at a constant address is the parameter itself. */
  function parameterLoad(instruction: Instruction, lane: number): Term | null {
    const effect = instruction.operation.effect;
    const base = instruction.arguments[0];
    if (effect.kind !== 'load' || base?.kind !== 'address') return null;
    const object = kernel.objects[base.object]!;
    if (object.space !== 'param' || object.parameter === undefined) return null;
    const offset = Number(base.offset + instruction.offset) + lane * effect.bytes;
    const width = effect.bytes * 8;
    const given = context.scalar(object.parameter, offset, effect.bytes);
    const loaded =
      given !== undefined
        ? store.constant(width, given)
        : store.atom(width, { kind: 'parameter', index: object.parameter, offset, bytes: effect.bytes });
    const id = instruction.results[lane];
    const target = id === null || id === undefined ? width : widthOf(kernel.values[id]!.type);
    if (target < width) return store.truncate(target, loaded);
    return effect.extend === 'sign' ? store.signExtend(target, loaded) : store.zeroExtend(target, loaded);
  }

  function evaluateInstruction(instruction: Instruction, block: BlockId): void {
    if (context.expired?.()) throw new OutOfTime();
    const { operation, results } = instruction;
    if (operation.effect.kind === 'pure' && operation.evaluate) {
      const outputs = operation.evaluate(
        domain,
        instruction.arguments.map((source) => operandIn(block, source)),
      );
      results.forEach((id, i) => {
        const output = outputs[i];
        if (id !== null) raw[id] = output ? kept(id, output) : unknown(id);
      });
      return;
    }
    results.forEach((id, lane) => {
      if (id === null) return;
      raw[id] = parameterLoad(instruction, lane) ?? broadcast(instruction, id) ?? loaded(instruction, id) ?? unknown(id);
    });
  }

  /** A value that thread 0 has stored for its block, or stated at a barrier. */
  function broadcast(instruction: Instruction, id: ValueId): Term | null {
    const stored = context.broadcast?.stored.get(instruction);
    const effect = instruction.operation.effect;
    if (!stored) return null;
    const value = operand(stored);
    if (value.leaves.some(({ atom }) => atom!.kind === 'phi')) return null;
    const zero = (leaf: Term): Term | undefined => (leaf.atom!.kind === 'thread' ? store.constant(leaf.width, 0n) : undefined);
    const told = substituted(store, value, zero, new Map());
    if (effect.kind !== 'load') return told;
    const width = widthOf(kernel.values[id]!.type);
    const narrow = store.truncate(Math.min(effect.bytes * 8, told.width), told);
    return effect.extend === 'sign' ? store.signExtend(width, narrow) : store.zeroExtend(width, narrow);
  }

  /** A narrow load has a narrow range: the unknown has the width of the memory, then it is widened. */
  function loaded(instruction: Instruction, id: ValueId): Term | null {
    const effect = instruction.operation.effect;
    if (effect.kind !== 'load') return null;
    const width = widthOf(kernel.values[id]!.type);
    const narrow = effect.bytes * 8;
    if (narrow >= width || width === 0) return null;
    const atom = store.atom(narrow, { kind: 'havoc', value: id });
    return effect.extend === 'sign' ? store.signExtend(width, atom) : store.zeroExtend(width, atom);
  }

  /** `// selvage.assume`: the operand is not zero, in every thread that executes the instruction. */
  const statedIn: Term[] = [];
  const statedBy: { instruction: Instruction; term: Term }[] = [];
  function evaluateMarker(instruction: Instruction, block: BlockId): void {
    const [subject] = instruction.arguments;
    if (instruction.marker?.name !== 'assume' || !subject) return;
    const value = operandIn(block, subject);
    const term = value.width === 0 ? value : store.not(store.equal(value, store.constant(value.width, 0n)));
    statedIn[block] = store.all([statedIn[block] ?? store.true, term]);
    statedBy.push({ instruction, term });
  }

  const branchCondition = (block: Block): Term | undefined =>
    block.terminator.kind === 'branch' ? operandIn(block.id, block.terminator.condition) : undefined;

  function edgeCondition(from: Block, to: BlockId): Term {
    const terminator = from.terminator;
    if (terminator.kind === 'branch') {
      if (terminator.then === terminator.otherwise) return store.true;
      const condition = operandIn(from.id, terminator.condition);
      return terminator.then === to ? condition : store.not(condition);
    }
    if (terminator.kind === 'switch') {
      const index = operandIn(from.id, terminator.index);
      const matches = terminator.targets.flatMap((target, i) => (target === to ? [store.equal(index, store.constant(32, BigInt(i)))] : []));
      return store.any(matches);
    }
    return store.true;
  }

  const isBackEdge = (from: BlockId, to: BlockId): boolean => {
    const loop = kernel.loops.find((candidate) => candidate.header === to);
    return loop !== undefined && loop.latches.includes(from);
  };

  // Conditions within the region between a block and its immediate dominator; weakened to true if too many edges enter
  // the block.
  const sinceDominator: Term[] = [];
  const weakened: boolean[] = [];
  /**
   * For each block: the number of its dominators; the number of those, itself included, whose condition was weakened;
   * and its nearest dominator with a condition. Thousands of consecutive branches may have no condition, and are not
   * walked for each block.
   */
  const depths: number[] = [];
  const weakenedAbove: number[] = [];
  const conditionedAbove: (BlockId | null)[] = [];

  /** The condition to get from `dominator` (which dominates `block`) to `block`. */
  function reachFrom(block: BlockId, dominator: BlockId): Term {
    const parts: Term[] = [];
    for (let at: BlockId | null = block; at !== null && depths[at]! > depths[dominator]!; at = conditionedAbove[at]!) {
      parts.push(sinceDominator[at]!);
    }
    return store.all(parts);
  }

  interface IncomingEdge {
    readonly predecessor: number;
    readonly condition: Term;
    /** False if the condition is only necessary. */
    readonly exact: boolean;
  }

  function isExact(block: BlockId, dominator: BlockId): boolean {
    return weakenedAbove[block] === weakenedAbove[dominator];
  }

  function incomingEdges(block: Block): IncomingEdge[] {
    const dominator = kernel.dominators[block.id]!;
    const ways: IncomingEdge[] = [];
    block.predecessors.forEach((id, predecessor) => {
      if (isBackEdge(id, block.id)) return;
      if (id >= block.id) {
        // A back edge of an irreducible region: its condition is not known yet.
        ways.push({ predecessor, condition: store.true, exact: false });
        return;
      }
      const edge = edgeCondition(kernel.blocks[id]!, block.id);
      ways.push({
        predecessor,
        condition: store.all([reachFrom(id, dominator), edge]),
        exact: isExact(id, dominator),
      });
    });
    return ways;
  }

  function joinPhi(block: Block, phi: Phi, ways: readonly IncomingEdge[]): Term {
    const inputOf = ({ predecessor }: IncomingEdge): Term => operandIn(block.predecessors[predecessor]!, phi.inputs[predecessor]!);
    let merged = inputOf(ways[ways.length - 1]!);
    for (let i = ways.length - 2; i >= 0; i--) {
      const way = ways[i]!;
      const input = inputOf(way);
      if (input === merged) continue;
      if (!way.exact || ways.length > maxAlternatives) return unknown(phi.result);
      merged = wideDivision(store, way.condition, input, merged) ?? store.select(way.condition, input, merged);
    }
    return kept(phi.result, merged);
  }

  const definedIn = (value: number): BlockId =>
    value === undefinedValue ? (0 as BlockId) : kernel.values[namedValues[value - kernel.values.length] ?? value]!.definition.block;

  /** If the block's condition depends on the variables only, their updates are unconditional from here on. */
  function enterPart(variables: FrozenVariables): void {
    const { loop, start, decides, updates } = variables;
    const condition = reachFrom(start, decides);
    const isOfVariables = condition.leaves.every((leaf) => {
      const { atom } = leaf;
      if (atom!.kind === 'phi' && updates.has(atom.value as ValueId)) return true;
      return (atom!.kind !== 'havoc' || atom.value !== undefinedValue) && isInvariant(leaf, loop);
    });
    if (!isOfVariables || !isExact(start, decides)) return;
    const names = new Map<Term, Term>();
    for (const id of updates.keys()) {
      const value = kernel.values.length + namedValues.push(id) - 1;
      names.set(raw[id]!, store.atom(raw[id]!.width, { kind: 'phi', value }));
    }
    const part = { variables, names, memo: new Map<Term, Term>() };
    parts.push(part);
    partsOf[start] = [...partsOf[start]!, part];
    alsoHolds[start] = substituted(store, condition, (leaf) => names.get(leaf), part.memo);
  }

  const freezing = new Map(frozenVariables(kernel).map((variables) => [variables.start, variables]));
  const headers = new Map<BlockId, Loop>(kernel.loops.map((loop) => [loop.header, loop]));
  for (const block of kernel.blocks) {
    const ways = block.id === 0 ? [] : incomingEdges(block);
    weakened[block.id] = ways.length > maxAlternatives || ways.some((way) => !way.exact);
    const tooMany = block.id === 0 || ways.length > maxAlternatives;
    sinceDominator[block.id] = tooMany ? store.true : store.any(ways.map((way) => way.condition));
    const above = kernel.dominators[block.id]!;
    const isFirst = above === block.id;
    depths[block.id] = isFirst ? Math.min(block.id, 1) : depths[above]! + 1;
    weakenedAbove[block.id] = (isFirst ? 0 : weakenedAbove[above]!) + (weakened[block.id] ? 1 : 0);
    const isBare = isFirst || sinceDominator[above] === store.true;
    conditionedAbove[block.id] = isFirst ? null : isBare ? conditionedAbove[above]! : above;
    const loop = headers.get(block.id);
    const dominating = block.id === 0 ? [] : partsOf[kernel.dominators[block.id]!]!;
    partsOf[block.id] = dominating.filter(({ variables }) => variables.loop.blocks.has(block.id));
    const variables = freezing.get(block.id);
    if (variables) enterPart(variables);
    for (const phi of block.phis) {
      raw[phi.result] = loop
        ? store.atom(widthOf(kernel.values[phi.result]!.type), { kind: 'phi', value: phi.result })
        : joinPhi(block, phi, ways);
    }
    for (const instruction of block.instructions) {
      if (instruction.marker) evaluateMarker(instruction, block.id);
      evaluateInstruction(instruction, block.id);
    }
  }

  // Closed forms, outer loops first: an inner loop may start from an outer loop's variable.
  const closed = new Map<number, Term>();
  let memo = new Map<Term, Term>();
  const close = (term: Term): Term =>
    substituted(store, term, (leaf) => (leaf.atom!.kind === 'phi' ? closed.get(leaf.atom.value) : undefined), memo);

  function isInvariant(term: Term, loop: Loop): boolean {
    return term.leaves.every((leaf) => {
      const atom = leaf.atom!;
      if (atom.kind === 'phi' || atom.kind === 'havoc') return !loop.blocks.has(definedIn(atom.value));
      if (atom.kind === 'iteration') return !loop.blocks.has(kernel.loops[atom.loop]!.header);
      return true;
    });
  }

  interface Recurrence {
    readonly phi: Term;
    readonly initial: Term;
    readonly next: Term;
    readonly narrow: NarrowCounter | null;
  }

  function recurrences(loop: Loop): Recurrence[] {
    const block = kernel.blocks[loop.header]!;
    const list: Recurrence[] = [];
    const entries = block.predecessors.length - loop.latches.length;
    const entryWays = entries > 1 ? incomingEdges(block) : [];
    for (const phi of block.phis) {
      const nexts = new Set<Term>();
      const initials = new Set<Term>();
      block.predecessors.forEach((from, i) => {
        (loop.latches.includes(from) ? nexts : initials).add(operand(phi.inputs[i]!));
      });
      const atom = raw[phi.result]!;
      if (nexts.size !== 1) continue;
      const initial = initials.size === 1 ? [...initials][0]! : joinPhi(block, phi, entryWays);
      const next = [...nexts][0]!;
      const narrow = narrowCounter(kernel, store, phi.result, atom, next);
      list.push({ phi: atom, initial, next: narrow ? store.add(atom.width, atom, narrow.step) : next, narrow });
    }
    return list;
  }

  const loops = {
    kernel,
    store,
    operand,
    variablesOf: recurrences,
    edge: edgeCondition,
    isInvariant,
    read: (term: Term) => view.signed(close(term)),
  };

  function closedForm(loop: Loop, recurrence: Recurrence, all: readonly Recurrence[]): Term | null {
    const { phi, initial, next } = recurrence;
    if (!isInvariant(initial, loop)) return null;
    const width = phi.width;
    const start = close(initial);
    if (next === phi) return start;
    const round = store.atom(width === 0 ? 32 : width, { kind: 'iteration', loop: loop.id });
    const odd = store.equal(store.and(round.width, round, store.constant(round.width, 1n)), store.constant(round.width, 1n));
    if (isInvariant(next, loop)) {
      // In 64 bits: a narrower counter would wrap around.
      const counter = store.atom(64, { kind: 'iteration', loop: loop.id });
      const first = store.equal(counter, store.constant(64, 0n));
      return store.select(first, start, close(next));
    }
    const partner = all.find((other) => other.phi === next);
    if (partner && partner.next === phi && isInvariant(partner.initial, loop)) return store.select(odd, close(partner.initial), start);
    if (width === 0) return next === store.not(phi) ? store.select(odd, store.not(start), start) : null;
    const step = store.sub(width, next, phi);
    const each = isInvariant(step, loop) ? step : nestedStep(loops, loop, recurrence);
    if (each) return store.add(width, start, store.mul(width, close(each), round));
    const reflected = store.add(width, next, phi);
    if (isInvariant(reflected, loop)) return store.select(odd, store.sub(width, close(reflected), start), start);
    if (next.operator === 'xor' && next.arguments.includes(phi)) {
      const other = next.arguments[0] === phi ? next.arguments[1]! : next.arguments[0]!;
      if (isInvariant(other, loop)) return store.select(odd, store.xor(width, start, close(other)), start);
    }
    return ringForm(store, view, loop, recurrence, start) ?? shiftedForm(store, view, recurrence, start, round);
  }

  for (const loop of kernel.loops) {
    const list = recurrences(loop);
    for (const recurrence of list) {
      const form = closedForm(loop, recurrence, list);
      if (form) closed.set(phiOf(recurrence.phi), kept(phiOf(recurrence.phi) as ValueId, form));
      memo = new Map();
    }
    for (const phi of kernel.blocks[loop.header]!.phis) if (!closed.has(phi.result)) closed.set(phi.result, unknown(phi.result));
    memo = new Map();
    for (const part of parts) if (part.variables.loop === loop) closeNames(part, list);
    boundLoop(loop, list);
    for (const phi of kernel.blocks[loop.header]!.phis) boundUnknown(loop, phi);
  }

  /** The range of a variable without a closed form. */
  function boundUnknown(loop: Loop, phi: Phi): void {
    const atom = unknown(phi.result);
    if (closed.get(phi.result) !== atom) return;
    const before = known.get(atom);
    const setRange = (range: Bounds | undefined): void => {
      if (range) known.set(atom, range);
      else known.delete(atom);
      view.reset();
    };
    const readIn = (range: Bounds, term: Term): Linear => {
      setRange(range);
      return loops.read(term);
    };
    const found = inductiveRange({ ...loops, readIn }, loop, phi, raw[phi.result]!, rounds[loop.id]!);
    setRange(found?.range ?? before);
    if (found?.below)
      alsoHolds[loop.header] = store.all([alsoHolds[loop.header] ?? store.true, store.signedLess(raw[phi.result]!, found.below)]);
  }

  /** Closed forms of frozen variables, in the part in which a thread has updated them in every iteration. */
  function closeNames({ variables, names, memo: named }: Part, list: readonly Recurrence[]): void {
    const unfrozen = [...variables.updates].flatMap(([id, update]) => {
      const variable = list.find(({ phi }) => phi === raw[id]);
      const next = substituted(store, operand(update), (leaf) => names.get(leaf), named);
      return variable ? [{ phi: names.get(variable.phi)!, initial: variable.initial, next, narrow: null }] : [];
    });
    for (const [phi, name] of names) {
      const recurrence = unfrozen.find((candidate) => candidate.phi === name);
      const form = recurrence && closedForm(variables.loop, recurrence, unfrozen);
      closed.set(phiOf(name), form ?? closed.get(phiOf(phi))!);
    }
    memo = new Map();
  }

  /** Ranges of a loop's variables and its trip count, from the conditions under which it continues. */
  function boundLoop(loop: Loop, list: readonly Recurrence[]): void {
    let most = unlimitedRounds;
    for (const condition of continueConditions(loop)) {
      for (const recurrence of list) {
        const limit = limitRounds(loop, recurrence, condition);
        if (limit !== null && limit < most) most = limit;
      }
    }
    rounds[loop.id] = most;
    view.reset();
  }

  /** Conditions satisfied in every iteration that is followed by another one. */
  function continueConditions(loop: Loop): Term[] {
    const conditions: Term[] = [];
    for (const { from, to } of loop.exits) {
      if (!loop.latches.every((latch) => dominates(kernel.dominators, from, latch))) continue;
      const leave = edgeCondition(kernel.blocks[from]!, to);
      const stay = store.not(leave);
      conditions.push(...(stay.operator === 'all' ? stay.arguments : [stay]));
      if (leave.operator === 'any') conditions.push(...leave.arguments.map((part) => store.not(part)));
    }
    return conditions;
  }

  function limitRounds(loop: Loop, recurrence: Recurrence, condition: Term): bigint | null {
    const compared = readComparison(condition);
    if (!compared) return null;
    const { phi, next, initial, narrow } = recurrence;
    const whole = (term: Term): Term => narrow?.whole(term) ?? term;
    const comparison = { ...compared, smaller: whole(compared.smaller), larger: whole(compared.larger) };
    const form = closed.get(phiOf(phi))!;
    const width = phi.width;
    if (width === 0 || !isInvariant(initial, loop)) return null;
    const any = comparison.signed ? signedBounds(width) : unsignedBounds(width);
    const target = narrow?.range ?? any;
    // A range that depends on an assumption would hide it: such a term has the range of its type instead.
    const read = (term: Term): Bounds => {
      const form = comparison.signed ? view.signed(close(term)) : view.unsigned(close(term));
      return form.assumes.length > 0 ? any : form;
    };
    // The linear form of the variable starts from `natural` of its initial value: both must equal the compared value.
    const first = view.natural(close(initial));
    if (!inside(first, target)) return null;
    const start = read(initial);
    const step = store.sub(width, next, phi);
    if (isInvariant(step, loop)) {
      // The comparison is of phi + rest: subtract the rest from the bound.
      const below = uncovered(store, comparison);
      for (const [subject, limit, isUpper] of [
        [below.smaller, below.larger, true],
        [comparison.larger, comparison.smaller, false],
      ] as const) {
        const rest = store.sub(width, subject, phi);
        if (subject.width !== width || !isInvariant(rest, loop) || !isInvariant(limit, loop)) continue;
        const by = view.signed(close(step));
        const beside = view.signed(close(rest));
        const bound = read(limit);
        const last = view.natural(close(limit));
        const gap = view.subtract(last, first);
        const correlated = inside(last, target) && gap.assumes.length === 0;
        const slack = (isUpper ? below : comparison).strict ? 1n : 0n;
        if (by.assumes.length > 0 || beside.assumes.length > 0) return null;
        const fits = (range: Bounds): boolean =>
          inside(range, target) && inside({ low: range.low + beside.low, high: range.high + beside.high }, target);
        if (isUpper && by.low > 0n) {
          const end = bound.high - slack - beside.low + by.high;
          const range = { low: start.low, high: end > start.high ? end : start.high };
          if (!fits(range) || (below.most !== null && range.high + beside.high > below.most)) return null;
          if (form.operator !== 'constant') known.set(form, range);
          const distance = (correlated ? gap.high : bound.high - start.low) - slack - beside.low;
          return distance < 0n ? 0n : distance / by.low + 1n;
        }
        if (!isUpper && by.high < 0n) {
          const end = bound.low + slack - beside.high + by.low;
          const range = { low: end < start.low ? end : start.low, high: start.high };
          if (!fits(range)) return null;
          if (form.operator !== 'constant') known.set(form, range);
          const distance = (correlated ? -gap.low : start.high - bound.low) - slack + beside.high;
          return distance < 0n ? 0n : distance / -by.high + 1n;
        }
      }
      return null;
    }
    // Bounds of a variable that is halved towards a positive bound, or doubled up to a limit.
    if (
      (form.operator === 'lshr' || form.operator === 'ashr') &&
      start.low >= 0n &&
      (comparison.larger === phi || comparison.larger === next)
    ) {
      const bound = read(comparison.smaller);
      if (!isInvariant(comparison.smaller, loop) || bound.low < (comparison.strict ? 0n : 1n)) return null;
      known.set(form, { low: 0n, high: start.high });
      return BigInt(start.high.toString(2).length);
    }
    if (form.operator === 'shl' && start.low >= 1n && comparison.smaller === phi && isInvariant(comparison.larger, loop)) {
      const factor = next.operator === 'sum' ? next.coefficients[0]! : 2n;
      const bound = read(comparison.larger);
      const last = bound.high * factor;
      const range = { low: start.low, high: last > start.high ? last : start.high };
      if (!inside(range, target)) return null;
      known.set(form, range);
      return BigInt(bound.high > 0n ? bound.high.toString(2).length + 1 : 1);
    }
    return null;
  }

  const values = new Map<number, Term>();
  const value = (id: ValueId): Term => {
    let term = values.get(id);
    if (!term) {
      term = kept(id, close(raw[id] ?? unknown(id)));
      values.set(id, term);
    }
    return term;
  };
  const closedOperand = (source: Operand): Term => (source.kind === 'value' ? value(source.id) : operand(source));
  const reached = new Map<BlockId, Term>();
  return {
    kernel,
    store,
    view,
    value,
    operand: closedOperand,
    reach: (block) => {
      let term = reached.get(block);
      if (!term) {
        const stated: Term[] = [];
        for (let at = block; statedBy.length > 0 || alsoHolds.length > 0; at = kernel.dominators[at]!) {
          for (const here of [statedIn[at], alsoHolds[at]]) if (here) stated.push(here);
          if (at === kernel.dominators[at]) break;
        }
        term = close(store.all([reachFrom(block, 0 as BlockId), ...stated]));
        reached.set(block, term);
      }
      return term;
    },
    stated: statedBy.map(({ instruction, term }) => ({ instruction, condition: close(term) })),
    condition: (block) => {
      const condition = branchCondition(kernel.blocks[block]!);
      return condition && close(condition);
    },
    edge: (from, to) => close(edgeCondition(kernel.blocks[from]!, to)),
    rounds,
    definedIn,
    leaderValues: context.broadcast?.leaderValues ?? new Set(),
    valuesOfOthers: context.broadcast?.valuesOfOthers ?? new Set(),
  };
}

function phiOf(term: Term): number {
  const atom = term.atom;
  invariant(atom?.kind === 'phi', 'not a phi');
  return atom.value;
}

/** Bits of a value; 0 for a predicate. */
function widthOf(type: ValueType): number {
  return type === 'predicate' ? 0 : type;
}
