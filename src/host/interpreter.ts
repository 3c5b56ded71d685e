/**
 * An abstract interpreter of host code as GCC lowers it. Values are terms over symbols, with the conditions under which
 * they were chosen. A statement that is not understood makes the whole state unknown.
 */
import { HostStore } from '../cuda/host/host-store.ts';
import { type Fact, arithmetic, compared, integer, isSameFact, negatedFact, termConstant, truth, zeroTerm } from '../cuda/host/term.ts'; // oxfmt-ignore
import { type HostFunction, type HostValue, integerValue, termOf, valueKey } from '../cuda/host/value.ts'; // oxfmt-ignore
import type { HostType } from '../gimple/debug-types.ts';
import type { GimpleBlock, GimpleFunction, GimpleLocation, GimpleOperand, GimpleStatement, GimpleVariable } from '../gimple/gimple.ts'; // oxfmt-ignore
import { type HostLoop, blockFlowOf, reachableFrom } from './flow.ts';
import type { HostProgram } from './host-program.ts';
import type { HostUnit } from './host-unit.ts';
import type { Activation, CallRequest, EdgeState, Outcome, Passed, TypedPlace } from './activation.ts';
import { OperandEvaluator, isBitField, isMemory, scalarName } from './evaluator.ts';
import { type LoopHost, executeLoop } from './loops.ts';
import { unknownObject } from './memory.ts';
import type { HostPlace } from './objects.ts';
import { castValue, hostComparison, movedBy, numberOf } from './operators.ts';
import { bytesOfType, sourceName } from './printed-types.ts';
import { type State, assume, cloneState, mergeStates } from './state.ts';

/** Maximum number of calls inside each other. */
const maxDepth = 64;
/** Maximum number of calls of one function inside each other; 1 if it has loops. */
const maxRecursion = 6;

/** Cell of the result of a function. */
const resultCell = -1;

const opaqueType: HostType = { kind: 'opaque', name: '', bytes: null };

export abstract class Interpreter extends OperandEvaluator implements LoopHost {
  /** Facts about symbols, true on every path. */
  readonly knownFacts: Fact[] = [];
  /** Functions with a body that a call did not follow. */
  readonly unfollowed = new Set<string>();
  /** Statements left before the work limit. */
  steps: number;
  isCutShort = false;

  constructor(program: HostProgram, steps: number, isAtStart: boolean) {
    super(program, isAtStart);
    this.steps = steps;
  }

  /** A call of a function that the unit does not define, or that cannot be followed. */
  abstract callLibrary(request: CallRequest, state: State): Outcome;
  /** Whether a call launches a kernel. If it does, its launch is recorded. */
  abstract launch(request: CallRequest, state: State): boolean;
  abstract reaches(unit: HostUnit, symbol: string): boolean;
  /** Number of launches recorded; `rewind` drops later ones. */
  abstract mark(): number;
  abstract rewind(mark: number): void;
  abstract isLeftOpenSince(mark: number, changed: ReadonlySet<string>): boolean;
  abstract silently<Value>(run: () => Value): Value;

  know(fact: Fact): void {
    if (fact.kind !== 'truth') this.knownFacts.push(fact);
  }

  /** Executes a function with arguments. */
  execute(
    unit: HostUnit,
    fn: GimpleFunction,
    given: readonly Passed[],
    state: State,
    caller: Activation | null,
    site: GimpleLocation | null,
    slot: HostPlace | null,
    catches: boolean,
  ): Outcome {
    // oxfmt-ignore
    const parameters = new Map(fn.parameters.map((one, at) => [one.name, given[at] ?? this.freeParameter(unit, one)]));
    const activation: Activation = { unit, fn, site, depth: (caller?.depth ?? 0) + 1, caller, objects: new Map(), parameters, catches, returns: [], throws: [], slot }; // oxfmt-ignore
    const own: State = { ...state, values: HostStore.empty() };
    const flow = blockFlowOf(fn);
    this.region(activation, null, [{ from: -1, to: flow.first, state: own }]);
    const merge = (states: readonly State[]): State | null => states.reduce<State | null>((all, one) => (all ? mergeStates(all, one, this.objects.context) : one), null); // oxfmt-ignore
    const { returns, throws } = activation;
    // Scalar results are joined as the other values of the paths are.
    for (const one of returns)
      if (one.value !== null && one.value !== 'in place' && one.value.kind === 'scalar')
        one.state.values.set(resultCell, one.value.value);
    const after = merge(returns.map((one) => one.state));
    const [first] = returns;
    let value = first?.value ?? null;
    if (value !== null && value !== 'in place' && value.kind === 'scalar')
      value = { ...value, value: after?.values.get(resultCell) ?? value.value };
    else if (returns.length > 1 && value !== 'in place') value = null;
    const thrown = merge(throws);
    const back = (one: State | null): State | null => one && { ...one, values: state.values.copy(), configuration: state.configuration }; // oxfmt-ignore
    return { state: back(after), value, thrown: back(thrown) };
  }

  /** A parameter about which nothing is known. */
  freeParameter(unit: HostUnit, parameter: GimpleVariable): Passed {
    const type = unit.types.typeOf(parameter.type);
    const label = sourceName(parameter);
    if (type.kind === 'record' || type.kind === 'array') {
      const bytes = bytesOfType(type) ?? 0;
      const symbol = this.objects.freshSymbol(label);
      return { kind: 'bytes', cells: [{ offset: 0, bytes, content: { kind: 'region', base: { kind: 'unknown', symbol }, from: 0 } }], type, place: null }; // oxfmt-ignore
    }
    return { kind: 'scalar', value: this.objects.fresh(label, scalarName(type)), type };
  }

  /**
   * Executes blocks in order, joining the states of paths that lead to one block.
   * @param loop whose blocks are executed once; null for a whole function
   * @returns states on edges that leave the loop, or that go back to its header
   */
  region(activation: Activation, loop: HostLoop | null, entering: readonly EdgeState[]): EdgeState[] {
    const flow = blockFlowOf(activation.fn);
    const leaving: EdgeState[] = [];
    const pending = new Map<number, EdgeState[]>();
    const send = (edge: EdgeState, isEntry: boolean): void => {
      if (!isEntry && loop && (edge.to === loop.header || !loop.blocks.has(edge.to))) leaving.push(edge);
      else pending.set(edge.to, [...(pending.get(edge.to) ?? []), edge]);
    };
    for (const edge of entering) send(edge, true);
    while (pending.size > 0) {
      let id = -1;
      for (const one of pending.keys()) if (id < 0 || (flow.order.get(one) ?? 0) < (flow.order.get(id) ?? 0)) id = one;
      const edges = pending.get(id)!;
      pending.delete(id);
      const inner = flow.loops.get(id);
      const state = edges.map((edge) => edge.state).reduce((all, one) => mergeStates(all, one, this.objects.context));
      const out = inner && inner !== loop ? executeLoop(this, activation, inner, state) : this.block(activation, flow.blocks.get(id)!, state); // oxfmt-ignore
      for (const edge of out) send(edge, false);
    }
    return leaving;
  }

  /** An edge to a block, with the values of its phis. */
  edge(activation: Activation, from: number, to: number, state: State): EdgeState {
    this.objects.settle(state);
    const values: [number, HostValue][] = [];
    for (const statement of blockFlowOf(activation.fn).blocks.get(to)?.statements ?? []) {
      if (statement.kind !== 'phi') continue;
      const source = statement.sources.find((one) => one.from === from);
      if (statement.target.kind !== 'ssa') continue;
      values.push([statement.target.version, source ? this.value(activation, source.value, state, this.typeOfOperand(activation, statement.target)) : this.objects.fresh(statement.target.label)]); // oxfmt-ignore
    }
    for (const [version, value] of values) state.values.set(version, value);
    return { from, to, state };
  }

  block(activation: Activation, block: GimpleBlock, state: State): EdgeState[] {
    const out: EdgeState[] = [];
    const go = (to: number, from: State): void => void out.push(this.edge(activation, block.id, to, from));
    for (const statement of block.statements) {
      if (--this.steps < 0) this.isCutShort = true;
      this.objects.settle(state);
      switch (statement.kind) {
        case 'assign':
          state = this.eachPointer(activation, statement, state, (own) => this.assign(activation, statement, own));
          break;
        case 'clobber': {
          state = this.eachPointer(activation, statement, state, (own) => {
            const place = this.place(activation, statement.target, own, null);
            if (place) this.objects.fill(place, bytesOfType(place.type), false, own);
          });
          break;
        }
        case 'phi':
          break;
        case 'call': {
          const outcome = this.call(activation, statement, block, state);
          if (outcome.thrown) {
            if (statement.landingPad !== null) go(statement.landingPad, outcome.thrown);
            else activation.throws.push(outcome.thrown);
          }
          if (!outcome.state) return out;
          state = outcome.state;
          break;
        }
        case 'condition': {
          const type =
            this.typeOfOperand(activation, statement.left) ?? this.typeOfOperand(activation, statement.right);
          const [left, right] = [statement.left, statement.right].map((one) => this.value(activation, one, state, type)) as [HostValue, HostValue]; // oxfmt-ignore
          const fact = this.decided(hostComparison(statement.operator, left, right, type) ?? this.objects.undecided(), state); // oxfmt-ignore
          return [...out, ...this.branch(activation, block.id, [[statement.then, fact], [statement.otherwise, negatedFact(fact)]], state)]; // oxfmt-ignore
        }
        case 'switch':
          return [...out, ...this.switch(activation, block.id, statement, state)];
        case 'goto':
          go(statement.to, state);
          return out;
        case 'return': {
          if (this.isCutShort) return out;
          this.objects.settle(state);
          const isInPlace = statement.value?.kind === 'ssa' && this.isSlot(activation, statement.value);
          activation.returns.push({ state, value: isInPlace ? 'in place' : statement.value ? this.passed(activation, statement.value, state, null) : null }); // oxfmt-ignore
          return out;
        }
        case 'resume':
          if (statement.landingPad !== null) go(statement.landingPad, state);
          else if (activation.catches) activation.throws.push(state);
          return out;
        case 'dispatch':
          return [...out, ...this.branch(activation, block.id, this.undecidedBranches(block.successors), state)];
        case 'opaque':
          this.everythingUnknown(activation, state);
          if (block.successors.length !== 1 && statement === block.statements.at(-1))
            return [...out, ...this.branch(activation, block.id, this.undecidedBranches(block.successors), state)];
          break;
        default:
          throw new TypeError(`unknown statement ${JSON.stringify(statement satisfies never)}`);
      }
      if (this.isCutShort) return [];
    }
    if (block.next !== null) go(block.next, state);
    return out;
  }

  /** Executes a statement for each pointer that a value in it may be. */
  eachPointer(
    activation: Activation,
    statement: GimpleStatement & { kind: 'assign' | 'clobber' },
    state: State,
    run: (state: State) => void,
  ): State {
    const operands = statement.kind === 'assign' ? [statement.target, ...statement.operands] : [statement.target];
    for (const operand of operands) {
      const pointer = pointerIn(operand);
      if (pointer?.kind !== 'ssa') continue;
      const { version } = pointer;
      const value = this.value(activation, pointer, state, null);
      if (value.kind !== 'either') continue;
      const other = cloneState(state);
      state.values.set(version, value.then);
      other.values.set(version, value.otherwise);
      assume(state, value.condition);
      assume(other, negatedFact(value.condition));
      const [first, second] = [
        this.eachPointer(activation, statement, state, run),
        this.eachPointer(activation, statement, other, run),
      ];
      const merged = mergeStates(first, second, this.objects.context);
      merged.values.set(version, value);
      return merged;
    }
    run(state);
    return state;
  }

  undecidedBranches(successors: readonly number[]): (readonly [number, Fact])[] {
    return successors.map((to) => [to, this.objects.undecided()] as const);
  }

  branch(
    activation: Activation,
    from: number,
    branches: readonly (readonly [number, Fact])[],
    state: State,
  ): EdgeState[] {
    const possible = branches.filter(([, fact]) => fact.kind !== 'truth' || fact.value);
    return possible.map(([to, fact], at) => {
      const own = at === possible.length - 1 ? state : cloneState(state);
      assume(own, fact);
      return this.edge(activation, from, to, own);
    });
  }

  switch(
    activation: Activation,
    from: number,
    statement: GimpleStatement & { kind: 'switch' },
    state: State,
  ): EdgeState[] {
    // oxfmt-ignore
    const term = termOf(this.value(activation, statement.value, state, this.typeOfOperand(activation, statement.value)));
    const byTarget = new Map<number, Fact>();
    let others: Fact = truth(true);
    for (const { values, to } of statement.cases) {
      if (!values) continue;
      const [low, high] = [integer(values[0]), integer(values[1])];
      const fact: Fact = !term ? this.objects.undecided() : values[0] === values[1] ? compared('==', term, low) : both(compared('>=', term, low), compared('<=', term, high)); // oxfmt-ignore
      others = both(others, negatedFact(fact));
      const known = byTarget.get(to);
      byTarget.set(to, known ? either(known, fact) : fact);
    }
    const fallback = statement.cases.find(({ values }) => !values)?.to;
    if (fallback !== undefined) byTarget.set(fallback, byTarget.has(fallback) ? either(byTarget.get(fallback)!, others) : others); // oxfmt-ignore
    return this.branch(activation, from, [...byTarget].map(([to, fact]) => [to, this.decided(fact, state)] as const), state); // oxfmt-ignore
  }

  /** A condition, decided by the conditions of the path. */
  decided(fact: Fact, state: State): Fact {
    if (fact.kind === 'truth') return fact;
    const opposite = negatedFact(fact);
    for (const one of state.facts) {
      if (isSameFact(one, fact)) return truth(true);
      if (isSameFact(one, opposite)) return truth(false);
    }
    return fact;
  }

  /** A statement that is not understood: all that the program can change is unknown. */
  everythingUnknown(activation: Activation, state: State): void {
    for (const cell of state.values.cells()) this.objects.lose(state.values.get(cell)!);
    for (let one: Activation | null = activation; one; one = one.caller)
      for (const object of one.objects.values()) {
        this.objects.lose(this.objects.addressOf({ object, offset: zeroTerm, label: '' }));
        this.objects.forget(object, state);
      }
    this.objects.settle(state);
    this.objects.disturb(state);
    state.contents = new Map();
  }

  call(
    activation: Activation,
    statement: GimpleStatement & { kind: 'call' },
    block: GimpleBlock,
    state: State,
  ): Outcome {
    const { callee, target, location } = statement;
    const symbol = callee.kind === 'declaration' ? callee.name.replace(/D\.\d+$/, '') : null;
    const pointer = symbol === null ? this.value(activation, callee.kind === 'virtual' ? callee.pointer : callee, state, null) : null; // oxfmt-ignore
    const callees: HostFunction[] =
      symbol !== null
        ? [activation.unit.functionValue(symbol)]
        : pointer?.kind === 'function'
          ? [pointer, ...(pointer.others ?? [])]
          : [];
    const types = symbol === null ? [] : activation.unit.parameterTypes(symbol);
    const given = statement.arguments.map((one, at) => this.passed(activation, one, state, this.argumentType(activation, one, types[at] ?? null))); // oxfmt-ignore
    const resultType = target && this.typeOfOperand(activation, target);
    const matters = this.padMatters(activation, statement);
    const request: CallRequest = { symbol, callees, given, operands: statement.arguments, target, resultType, location, activation, matters }; // oxfmt-ignore
    const outcome = this.callees(request, state);
    const next = outcome.state;
    if (next && target) this.storeResult(activation, target, outcome.value, resultType, next);
    const isEnd = block.next === null && statement === block.statements.at(-1);
    return { state: isEnd ? null : next, value: null, thrown: matters ? outcome.thrown : null };
  }

  /** The type of an argument; null if it is that of the operand. @param wanted the type of the parameter */
  argumentType(activation: Activation, operand: GimpleOperand, wanted: HostType | null): HostType | null {
    if (operand.kind === 'address') return wanted;
    if (operand.kind !== 'declaration' || wanted?.kind !== 'record') return null;
    const declared = activation.fn.locals.find((one) => one.name === operand.name);
    if (declared && activation.unit.types.typeOf(declared.type).kind === 'opaque') activation.unit.types.teach(declared.type, wanted); // oxfmt-ignore
    return null;
  }

  callees(request: CallRequest, state: State): Outcome {
    if (this.launch(request, state)) return { state, value: null, thrown: null };
    const { callees, given, activation } = request;
    if (callees.length === 1) return this.callOne(request, callees[0]!, given, state, activation);
    if (callees.length > 1) {
      const outcomes = callees.map((one, at) => {
        const own = at === callees.length - 1 ? state : cloneState(state);
        assume(own, this.objects.undecided());
        return this.callOne(request, one, given, own, activation);
      });
      const [first, ...rest] = outcomes.flatMap((one) => (one.state ? [one.state] : []));
      const thrown = outcomes.flatMap((one) => (one.thrown ? [one.thrown] : []));
      for (const { value } of outcomes) if (value !== null && value !== 'in place') this.losePassed(value);
      const merged = first ? rest.reduce((all, one) => mergeStates(all, one, this.objects.context), first) : null;
      const isInPlace = outcomes.every(({ value, state: after }) => !after || value === 'in place');
      return { state: merged, value: isInPlace ? 'in place' : null, thrown: thrown.length > 0 ? thrown.reduce((all, one) => mergeStates(all, one, this.objects.context)) : null }; // oxfmt-ignore
    }
    return this.callUnknown(request, state);
  }

  callOne(
    request: CallRequest,
    callee: HostFunction,
    given: readonly Passed[],
    state: State,
    activation: Activation,
  ): Outcome {
    const found = this.program.resolve(callee.name, activation.unit);
    const own: CallRequest = { ...request, symbol: found?.symbol ?? callee.name, callees: [callee] };
    if (!found) return this.callLibrary(own, state);
    // Templates of the runtime that search for a block.
    const search = /^_ZL?\d+(cudaOccupancyMaxPotentialBlockSize(?:VariableSMem)?)(?:WithFlags)?I/.exec(
      found.symbol,
    )?.[1];
    if (search !== undefined) return this.callLibrary({ ...own, symbol: 'cudaOccupancyMaxPotentialBlockSize' }, state);
    const { unit, symbol } = found;
    const fn = unit.functionOf(symbol);
    let depth = 0;
    for (let one: Activation | null = activation; one; one = one.caller) if (one.fn === fn) depth++;
    const isFollowed = fn !== null && activation.depth < maxDepth && depth < (fn !== null && blockFlowOf(fn).loops.size > 0 ? 1 : maxRecursion) && blockFlowOf(fn).isReducible && fn.parameters.length >= given.length; // oxfmt-ignore
    if (isFollowed) {
      const { target } = request;
      const wanted = target && target.kind !== 'ssa' ? this.place(request.activation, target, state, null) : null;
      const slot = wanted ?? this.newSlot(unit, fn);
      return this.execute(unit, fn, given, state, activation, request.location, slot, request.matters || activation.catches); // oxfmt-ignore
    }
    this.unfollowed.add(unit.key(symbol));
    return this.callUnknown(own, state);
  }

  /** An object for a result that is not used. */
  newSlot(unit: HostUnit, fn: GimpleFunction): HostPlace | null {
    if (unit.types.typeOf(fn.result).kind !== 'record') return null;
    const object = this.objects.createFresh(
      'variable',
      'a result',
      null,
      unknownObject(this.objects.freshSymbol('a result')),
    );
    return { object, offset: zeroTerm, label: 'a result' };
  }

  /** A call of unknown code: it may change all that it reaches, and return anything. */
  callUnknown({ given, matters }: CallRequest, state: State): Outcome {
    for (const one of given) this.losePassed(one);
    this.objects.settle(state);
    this.objects.disturb(state);
    state.contents = new Map();
    return matters ? this.mayThrow(state) : { state, value: null, thrown: null };
  }

  /** A call that returns, or throws, with the same effects. */
  mayThrow(state: State): Outcome {
    const thrown = cloneState(state);
    const fact = this.objects.undecided();
    assume(thrown, fact);
    assume(state, negatedFact(fact));
    return { state, value: null, thrown };
  }

  /** Whether an exception of a call may reach a handler, or code that launches. */
  padMatters(activation: Activation, { landingPad }: GimpleStatement): boolean {
    if (activation.catches) return true;
    if (landingPad === null) return false;
    const flow = blockFlowOf(activation.fn);
    for (const id of reachableFrom(flow, landingPad))
      for (const one of flow.blocks.get(id)?.statements ?? []) {
        if (one.kind === 'return' || one.kind === 'opaque') return true;
        if (one.kind !== 'call') continue;
        if (one.callee.kind !== 'declaration' || this.reaches(activation.unit, one.callee.name.replace(/D\.\d+$/, '')))
          return true;
      }
    return false;
  }

  storeResult(
    activation: Activation,
    target: GimpleOperand,
    value: Outcome['value'],
    type: HostType | null,
    state: State,
  ): void {
    if (value === 'in place') return;
    if (target.kind === 'ssa') {
      const own = value?.kind === 'scalar' ? value.value : this.objects.fresh(target.label === '' ? 'a result' : target.label, type ? scalarName(type) : undefined); // oxfmt-ignore
      state.values.set(target.version, own);
      return;
    }
    const declared =
      target.kind === 'declaration' ? activation.fn.locals.find((one) => one.name === target.name) : undefined;
    if (declared && value?.kind === 'bytes' && activation.unit.types.typeOf(declared.type).kind === 'opaque') activation.unit.types.teach(declared.type, value.type); // oxfmt-ignore
    const place = this.place(activation, target, state, null);
    if (!place) return this.everythingUnknown(activation, state);
    this.store(place, value, state);
  }

  /** Writes a value to a place. Null: an unknown one. */
  store(place: TypedPlace, value: Passed | null, state: State): void {
    const bytes = bytesOfType(place.type) ?? (value?.type ? bytesOfType(value.type) : null);
    if (value?.kind === 'scalar') this.objects.write(place, bytes, value.value, state);
    else if (value?.kind === 'bytes' && bytesOfType(value.type) === null && bytes === null && isStart(place))
      this.objects.copyWhole(place.object, value.cells, state); // oxfmt-ignore
    else if (value?.kind === 'bytes') {
      const source = this.objects.createFresh('variable', 'a temporary', null, { base: { kind: 'unknown', symbol: this.objects.freshSymbol(place.label) }, cells: value.cells }); // oxfmt-ignore
      this.objects.copy(place, { object: source, offset: zeroTerm, label: place.label }, bytesOfType(value.type) ?? bytes, state); // oxfmt-ignore
    } else this.objects.fill(place, bytes, false, state);
  }

  assign(activation: Activation, statement: GimpleStatement & { kind: 'assign' }, state: State): void {
    const { operator, target, operands } = statement;
    if (target.kind === 'ssa') {
      const type = this.typeOfOperand(activation, target);
      const value = this.operation(activation, operator, operands, type, state);
      state.values.set(target.version, value ?? this.unknownResult(activation, operands, target.label, type, state));
      return;
    }
    const [first] = operands;
    const place = this.place(activation, target, state, first && isMemory(first) ? this.typeOfOperand(activation, first) : null); // oxfmt-ignore
    if (!place) {
      // A write through a null pointer, or to a place of unknown kind.
      return this.everythingUnknown(activation, state);
    }
    const isAggregate = place.type.kind === 'record' || place.type.kind === 'array' || place.type.kind === 'opaque';
    if (first?.kind === 'zeros') return this.objects.fill(place, bytesOfType(place.type), true, state);
    const isFunction = first?.kind === 'declaration' && this.isFunction(activation, first.name);
    if (first && isMemory(first) && !isFunction && (isAggregate || operands.length === 1)) {
      const source = this.place(activation, first, state, place.type);
      const bytes = bytesOfType(place.type) ?? (source ? bytesOfType(source.type) : null);
      const isScalar = /^(?:integer|float|pointer)$/.test(place.type.kind) || /^(?:integer|float|pointer)$/.test(source?.type.kind ?? ''); // oxfmt-ignore
      if (bytes === null && target.kind === 'declaration' && first.kind === 'declaration' && source) {
        this.objects.copyWhole(place.object, this.objects.contents(source.object, state).cells, state);
        return;
      }
      if (!isScalar) {
        this.objects.copy(place, source, bytes, state);
        return;
      }
    }
    if (first?.kind === 'string') return this.objects.fill(place, bytesOfType(place.type), false, state);
    const type = place.type.kind === 'opaque' && first ? (this.typeOfOperand(activation, first) ?? place.type) : place.type; // oxfmt-ignore
    const value = this.operation(activation, operator, operands, type, state) ?? this.unknownResult(activation, operands, place.label, type, state); // oxfmt-ignore
    // Other bits of the same bytes stay.
    if (isBitField(place.type)) {
      this.objects.lose(value);
      this.objects.fill(place, bytesOfType(place.type), false, state);
    } else this.objects.write(place, bytesOfType(type), value, state);
  }

  /** A value that an operator gives which is not understood. */
  unknownResult(
    activation: Activation,
    operands: readonly GimpleOperand[],
    label: string,
    type: HostType | null,
    state: State,
  ): HostValue {
    for (const one of operands) this.losePassed(this.passed(activation, one, state, null));
    return this.objects.fresh(label === '' ? 'a number' : label, type ? scalarName(type) : undefined);
  }

  /** The value of an operator; null if it is unknown. */
  operation(
    activation: Activation,
    operator: string,
    operands: readonly GimpleOperand[],
    type: HostType | null,
    state: State,
  ): HostValue | null {
    const [first, second] = operands;
    if (!first) return null;
    const result = type ?? opaqueType;
    switch (operator) {
      case 'ssa_name':
      case 'var_decl':
      case 'parm_decl':
      case 'result_decl':
      case 'component_ref':
      case 'array_ref':
      case 'mem_ref':
      case 'target_mem_ref':
      case 'integer_cst':
      case 'real_cst':
      case 'addr_expr':
        return this.value(activation, first, state, result);
      case 'nop_expr':
      case 'convert_expr':
      case 'float_expr':
      case 'fix_trunc_expr': {
        const from = this.typeOfOperand(activation, first);
        const value = this.value(activation, first, state, from);
        const cast = castValue(value, result, from);
        if (!cast) this.objects.lose(value);
        return cast;
      }
      case 'pointer_plus_expr': {
        const pointer = this.value(activation, first, state, null);
        const by = second
          ? termOf(this.value(activation, second, state, this.typeOfOperand(activation, second)))
          : null;
        const constant = by ? termConstant(by) : undefined;
        const moved = movedBy(pointer, constant === undefined ? by : integer(BigInt.asIntN(64, constant)));
        if (!moved) this.objects.lose(pointer);
        return moved;
      }
      case 'pointer_diff_expr': {
        const [a, b] = [first, second!].map((one) => this.value(activation, one, state, null)) as [
          HostValue,
          HostValue,
        ];
        const isOne =
          a.kind === 'pointer' && b.kind === 'pointer' && a.memory.id === b.memory.id && a.offset && b.offset;
        const both = a.kind === 'symbol' && b.kind === 'symbol' && a.symbol.id === b.symbol.id;
        if (both) return integerValue(zeroTerm);
        const [start, moved] = a.kind === 'symbol' && b.kind === 'pointer' ? [a.symbol.id, b] : b.kind === 'symbol' && a.kind === 'pointer' ? [b.symbol.id, a] : [null, null]; // oxfmt-ignore
        if (moved && moved.memory.id === start && moved.offset) return integerValue(moved === a ? moved.offset : arithmetic('-', zeroTerm, moved.offset) ?? moved.offset); // oxfmt-ignore
        const difference = isOne && a.kind === 'pointer' && b.kind === 'pointer' ? arithmetic('-', a.offset, b.offset) : null; // oxfmt-ignore
        if (difference) return integerValue(difference);
        // The same for the same two pointers: the size of a container is one value.
        return {
          kind: 'symbol',
          symbol: { id: `${valueKey(a)} - ${valueKey(b)}`, label: 'a distance', type: 'long int' },
        };
      }
      case 'cond_expr':
        return null;
    }
    const operandType =
      this.typeOfOperand(activation, first) ?? (second ? this.typeOfOperand(activation, second) : null);
    const values = operands.map((one) => this.value(activation, one, state, operandType));
    if (/^(?:eq|ne|lt|le|gt|ge)_expr$/.test(operator) && second) {
      const fact = hostComparison(operator, values[0]!, values[1]!, operandType);
      return fact && { kind: 'condition', fact: this.decided(fact, state) };
    }
    return numberOf(operator, values, result);
  }
}

function isStart({ offset }: TypedPlace): boolean {
  return offset !== null && termConstant(offset) === 0n;
}

/** The SSA name of the pointer through which an operand accesses memory; null without one. */
function pointerIn(operand: GimpleOperand): GimpleOperand | null {
  switch (operand.kind) {
    case 'field':
    case 'address':
    case 'element':
      return pointerIn(operand.of);
    case 'pointee':
      return operand.pointer.kind === 'ssa' ? operand.pointer : pointerIn(operand.pointer);
    default:
      return null;
  }
}

function both(left: Fact, right: Fact): Fact {
  if (left.kind === 'truth') return left.value ? right : left;
  if (right.kind === 'truth') return right.value ? left : right;
  return { kind: 'and', left, right };
}

function either(left: Fact, right: Fact): Fact {
  if (left.kind === 'truth') return left.value ? left : right;
  if (right.kind === 'truth') return right.value ? right : left;
  return { kind: 'or', left, right };
}
