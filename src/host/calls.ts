/** Calls of the host program: which functions they may be of, and what happens if they are not followed. */
import { appliedSymbol } from '../assumptions/applied-symbol.ts';
import { type Fact, type HostSymbol, integer, termConstant, zeroTerm } from '../assumptions/expression.ts';
import { isSame } from '../assumptions/parts.ts';
import { negatedFact, truth } from '../assumptions/simplify.ts';
import { type ChosenFunction, type HostValue, functionsOf, valueKey } from '../cuda/launches/value.ts';
import { objectName, withoutTemplateArguments } from '../cuda/names/demangle.ts';
import type { HostType } from '../gimple/debug-types.ts';
import type { GimpleBlock, GimpleFunction, GimpleOperand, GimpleStatement } from '../gimple/gimple.ts';
import { blockFlowOf, reachableFrom } from './flow.ts';
import type { HostProgram } from './host-program.ts';
import { type HostUnit, type UnknownCallee, movedObject } from './host-unit.ts';
import type { Activation, CallRequest, FollowedCall, Outcome, Passed, TypedPlace } from './activation.ts';
import { OperandEvaluator, scalarName } from './evaluator.ts';
import { unknownObject } from './object-contents.ts';
import type { HostPlace } from './objects.ts';
import { changesOnlyArguments, isPure } from './effects.ts';
import { movedBy } from './gimple-operators.ts';
import { unknownCode } from './operations/order.ts';
import { bytesOfType } from './printed-types.ts';
import { type State, assume, cloneState, mergeStates } from './state.ts';

/** Maximum number of calls inside each other. */
const maxDepth = 64;
/** Maximum number of calls of one function inside each other; 1 if it has loops. */
const maxRecursion = 6;

/** Maximum number of statements of a call that launches nothing. */
const maxShare = 15_000;

/** Cell of the result of a function. */
const resultCell = -1;

export abstract class CallInterpreter extends OperandEvaluator {
  /** Functions with a body that a call did not follow. */
  readonly unfollowed = new Set<string>();
  /** Functions of calls that were not followed, each kind once. */
  readonly unknownCallees = new Map<string, UnknownCallee>();
  /** Statements left before the work limit. */
  steps: number;
  isCutShort = false;
  /** With fewer statements left, what is executed is cut short. */
  floor = 0;

  constructor(program: HostProgram, steps: number, isAtStart: boolean) {
    super(program, isAtStart);
    this.steps = steps;
  }

  /** A call of a function that the unit does not define, or that cannot be followed. */
  abstract callLibrary(request: CallRequest, state: State): Outcome;
  /** Whether a function without a body changes only what its arguments lead to. */
  abstract isKnown(name: string): boolean;
  /** Whether a call launches a kernel. If it does, its launch is recorded. */
  abstract launch(request: CallRequest, state: State): boolean;
  abstract reaches(unit: HostUnit, symbol: string): boolean;
  abstract execute(call: FollowedCall, given: readonly Passed[], state: State): Outcome;
  /** A statement that is not understood: all that the program can change is unknown. */
  abstract everythingUnknown(activation: Activation, state: State): void;
  /** A condition, decided by the conditions of the path. */
  decided(fact: Fact, state: State): Fact {
    if (fact.kind === 'truth') return fact;
    const opposite = negatedFact(fact);
    for (const one of state.facts) {
      if (isSame(one, fact)) return truth(true);
      if (isSame(one, opposite)) return truth(false);
    }
    return fact;
  }

  call(activation: Activation, statement: GimpleStatement & { kind: 'call' }, block: GimpleBlock, state: State): Outcome {
    const { callee, target, location } = statement;
    // Functions inside the compiler begin with a dot.
    const symbol =
      callee.kind === 'declaration'
        ? callee.name.replace(/D\.\d+$/, '')
        : callee.kind === 'opaque' && /^\.[A-Z]\w*$/.test(callee.text)
          ? callee.text
          : null;
    const isThrough = callee.kind === 'virtual' || (callee.kind === 'pointee' && callee.offset === 0n);
    const pointer = symbol === null ? this.value(activation, isThrough ? callee.pointer : callee, state, null) : null;
    const callees = functionsOf(symbol === null ? pointer! : activation.unit.functionValue(symbol)) ?? [];
    const types = symbol === null ? [] : activation.unit.parameterTypes(symbol);
    const given = statement.arguments.map((one, at) =>
      this.passed(activation, one, state, this.argumentType(activation, one, types[at] ?? null)),
    );
    const resultType = target && this.typeOfOperand(activation, target);
    const matters = this.padMatters(activation, statement);
    const request: CallRequest = {
      symbol,
      callee,
      callees,
      given,
      operands: statement.arguments,
      target,
      resultType,
      location,
      activation,
      matters,
    };
    const outcome = this.callees(request, state);
    const next = outcome.state;
    if (next && target) this.storeResult(request, target, outcome.value, next);
    const isEnd = block.next === null && statement === block.statements.at(-1);
    return { state: isEnd ? null : next, value: null, thrown: matters ? outcome.thrown : null };
  }

  /** The type of an argument; null if it is that of the operand. @param wanted the type of the parameter */
  argumentType(activation: Activation, operand: GimpleOperand, wanted: HostType | null): HostType | null {
    if (operand.kind === 'address') return wanted;
    if (operand.kind !== 'declaration' || wanted?.kind !== 'record') return null;
    const declared = activation.fn.locals.find((one) => one.name === operand.name);
    if (declared && activation.unit.types.typeOf(declared.type).kind === 'opaque') activation.unit.types.teach(declared.type, wanted);
    return null;
  }

  callees(request: CallRequest, state: State): Outcome {
    if (this.launch(request, state)) return { state, value: null, thrown: null };
    const { callees, given, activation } = request;
    const possible = callees.filter(({ facts }) =>
      facts.every((fact) => {
        const now = this.decided(fact, state);
        return now.kind !== 'truth' || now.value;
      }),
    );
    if (possible.length === 0) {
      this.#noteUnknown(request.callee);
      return this.callUnknown(request, state);
    }
    if (possible.length === 1) return this.callOne(request, possible[0]!, given, state, activation);
    const outcomes = possible.map((one, at) => {
      const own = at === possible.length - 1 ? state : cloneState(state);
      for (const fact of one.facts.length > 0 ? one.facts : [this.objects.undecided()]) assume(own, fact);
      return this.callOne(request, one, given, own, activation);
    });
    const thrown = outcomes.flatMap((one) => (one.thrown ? [one.thrown] : []));
    const returns = outcomes.flatMap(({ state: after, value }) => (after ? [{ state: after, value }] : []));
    return { ...this.joined(returns), thrown: this.merged(thrown) };
  }

  merged(states: readonly State[]): State | null {
    return states.reduce<State | null>((all, one) => (all ? mergeStates(all, one, this.objects.context) : one), null);
  }

  /** The state and the value after one of several returns. */
  joined(returns: Activation['returns']): Pick<Outcome, 'state' | 'value'> {
    // Scalar results are joined as the other values of the paths are.
    for (const { state, value } of returns)
      if (value !== null && value !== 'in place' && value.kind === 'scalar') state.values.set(resultCell, value.value);
    const state = this.merged(returns.map((one) => one.state));
    const value = returns[0]?.value ?? null;
    if (returns.length < 2) return { state, value };
    const kinds = new Set(returns.map((one) => (one.value === null || one.value === 'in place' ? one.value : one.value.kind)));
    if (kinds.size === 1 && (value === null || value === 'in place')) return { state, value };
    if (kinds.size === 1 && value !== 'in place' && value?.kind === 'scalar')
      return { state, value: { ...value, value: state?.values.get(resultCell) ?? value.value } };
    for (const one of returns) if (one.value !== null && one.value !== 'in place') this.losePassed(one.value);
    return { state, value: null };
  }

  callOne(request: CallRequest, callee: ChosenFunction, given: readonly Passed[], state: State, activation: Activation): Outcome {
    const moved = movedObject(callee.name.replace(/^.*!/s, ''));
    const [first, ...others] = given;
    if (moved && first?.kind === 'scalar') {
      const object = movedBy(first.value, integer(moved.bytes));
      if (object) given = [{ ...first, value: object }, ...others];
    }
    const found = this.program.resolve(callee.name, activation.unit);
    const own: CallRequest = { ...request, symbol: found?.symbol ?? callee.name, callees: [callee] };
    if (!found) return this.callLibrary(own, state);
    // Templates of the runtime that search for a block.
    const search = /^_ZL?\d+(cudaOccupancyMaxPotentialBlockSize(?:VariableSMem)?)(?:WithFlags)?I/.exec(found.symbol)?.[1];
    if (search !== undefined) return this.callLibrary({ ...own, symbol: 'cudaOccupancyMaxPotentialBlockSize' }, state);
    const { unit, symbol } = found;
    const fn = unit.functionOf(symbol);
    let depth = 0;
    for (let one: Activation | null = activation; one; one = one.caller) if (one.fn === fn) depth++;
    const { resultType: type } = request;
    const isFollowed =
      fn !== null &&
      activation.depth < maxDepth &&
      depth < (fn !== null && blockFlowOf(fn).loops.size > 0 ? 1 : maxRecursion) &&
      blockFlowOf(fn).isReducible &&
      fn.parameters.length >= given.length;
    const keys = given.flatMap((one) => (one.kind === 'scalar' ? [valueKey(one.value)] : []));
    const applied =
      keys.length === given.length && this.isPure(unit, symbol) ? appliedSymbol(unit.key(symbol), keys, `${sourceNameOf(symbol)}()`) : null;
    if (isFollowed && fn && applied) return this.pureCall(request, unit, fn, applied, given, state, activation);
    if (isFollowed) {
      const { target } = request;
      const wanted = target && target.kind !== 'ssa' ? this.place(request.activation, target, state, null) : null;
      const slot = wanted ?? this.newSlot(unit, fn);
      const call = { unit, fn, caller: activation, site: request.location, slot, catches: request.matters || activation.catches };
      const run = (from: State): Outcome => this.execute(call, given, from);
      return this.reaches(activation.unit, callee.name) ? run(state) : this.#withinShare(own, unit, symbol, state, run);
    }
    if (applied && type?.kind === 'integer')
      return { state, value: { kind: 'scalar', value: { kind: 'symbol', symbol: { ...applied, type: type.name } }, type }, thrown: null };
    return this.callUnfollowed(own, unit, symbol, state);
  }

  /** Follows a call that launches nothing, unless that takes too many statements. */
  #withinShare(request: CallRequest, unit: HostUnit, symbol: string, state: State, run: (state: State) => Outcome): Outcome {
    const [floor, before] = [this.floor, cloneState(state)];
    this.floor = Math.max(floor, this.steps - maxShare);
    const outcome = run(state);
    this.floor = floor;
    if (!this.isCutShort || this.steps < floor) return outcome;
    this.isCutShort = false;
    return this.callUnfollowed(request, unit, symbol, before);
  }

  /** A call of a function with a body that is not executed. */
  callUnfollowed(request: CallRequest, unit: HostUnit, symbol: string, state: State): Outcome {
    if (!this.changesOnlyArguments(unit, symbol)) {
      this.unfollowed.add(unit.key(symbol));
      return this.callUnknown(request, state);
    }
    this.writeReachable(request.given, state);
    return request.matters ? this.mayThrow(state) : { state, value: null, thrown: null };
  }

  readonly #pure = new Map<string, boolean>();
  readonly #results = new Map<string, Passed>();

  isPure(unit: HostUnit, symbol: string): boolean {
    const key = unit.key(symbol);
    const known = this.#pure.get(key) ?? isPure(this.program, unit, symbol);
    this.#pure.set(key, known);
    return known;
  }

  /** A call whose result depends only on numbers: equal numbers have equal results on any path. */
  pureCall(
    { location, matters }: CallRequest,
    unit: HostUnit,
    fn: GimpleFunction,
    { id }: HostSymbol,
    given: readonly Passed[],
    state: State,
    activation: Activation,
  ): Outcome {
    const known = this.#results.get(id);
    if (known) return { state, value: known, thrown: null };
    const own: State = { ...cloneState(state), facts: [] };
    const call = { unit, fn, caller: activation, site: location, slot: null, catches: matters || activation.catches };
    const { value, state: after } = this.objects.named(id, () => this.execute(call, given, own));
    if (!after) return { state: null, value: null, thrown: null };
    if (value !== null && value !== 'in place') this.#results.set(id, value);
    return { state, value, thrown: null };
  }

  /** An object for a result that is not used. */
  newSlot(unit: HostUnit, fn: GimpleFunction): HostPlace | null {
    if (unit.types.typeOf(fn.result).kind !== 'record') return null;
    const object = this.objects.createFresh('variable', 'a result', null, unknownObject(this.objects.freshSymbol('a result')));
    return { object, offset: zeroTerm, label: 'a result' };
  }

  note(callee: UnknownCallee): void {
    this.unknownCallees.set(JSON.stringify(callee), callee);
  }

  #noteUnknown(callee: GimpleOperand): void {
    const name = callee.kind === 'virtual' ? classIn(callee.type) : undefined;
    this.note(
      callee.kind !== 'virtual'
        ? { kind: 'pointer' }
        : name === undefined
          ? { kind: 'anything' }
          : { kind: 'virtual', name, slot: callee.slot },
    );
  }

  /** A call of unknown code: it may change all that it reaches, and return anything. */
  callUnknown({ given, matters }: CallRequest, state: State): Outcome {
    this.note({ kind: 'external' });
    for (const one of given) this.losePassed(one);
    this.objects.settle(state);
    this.objects.disturb(state);
    state.contents = new Map();
    state.order = unknownCode(state.order);
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
    const { unit } = activation;
    const statements = [...reachableFrom(flow, landingPad)].flatMap((id) => flow.blocks.get(id)?.statements ?? []);
    const names = statements.flatMap((one) =>
      one.kind === 'call' && one.callee.kind === 'declaration' ? [one.callee.name.replace(/D\.\d+$/, '')] : [],
    );
    if (
      statements.some((one) => one.kind === 'return' || one.kind === 'opaque' || (one.kind === 'call' && one.callee.kind !== 'declaration'))
    )
      return true;
    // A handler may also call a function that launches through a table only; a cleanup calls destructors.
    const isHandler = names.includes('__cxa_begin_catch');
    return names.some(
      (name) =>
        this.reaches(unit, name) || (isHandler && this.program.resolve(name, unit) !== null && !this.changesOnlyArguments(unit, name)),
    );
  }

  readonly #closed = new Map<string, boolean>();

  changesOnlyArguments(unit: HostUnit, symbol: string): boolean {
    const key = unit.key(symbol);
    const known = this.#closed.get(key) ?? changesOnlyArguments(this.program, unit, symbol, (name) => this.isKnown(name));
    this.#closed.set(key, known);
    return known;
  }

  storeResult(
    { activation, callee: called, callees: [callee, ...others], resultType: type }: CallRequest,
    target: GimpleOperand,
    value: Outcome['value'],
    state: State,
  ): void {
    if (value === 'in place') return;
    if (target.kind === 'ssa') {
      const own =
        value?.kind === 'scalar' ? value.value : this.unknownResultOf(!callee || others.length > 0 ? null : callee.name, called, type);
      state.values.set(target.version, own);
      return;
    }
    const declared = target.kind === 'declaration' ? activation.fn.locals.find((one) => one.name === target.name) : undefined;
    if (declared && value?.kind === 'bytes' && activation.unit.types.typeOf(declared.type).kind === 'opaque')
      activation.unit.types.teach(declared.type, value.type);
    const place = this.place(activation, target, state, null);
    if (!place) return this.everythingUnknown(activation, state);
    this.store(place, value, state);
  }

  /** The result of a call that is not known. @param name of the function, if it is one */
  unknownResultOf(name: string | null, callee: GimpleOperand, type: HostType | null): HostValue {
    const typeName = type ? scalarName(type) : undefined;
    if (name !== null) return this.objects.fresh(`${sourceNameOf(name)}()`, typeName, `the result of \`${sourceNameOf(name)}()\``);
    const className = callee.kind === 'virtual' ? classIn(callee.type) : undefined;
    return this.objects.fresh(
      'a result',
      typeName,
      className === undefined
        ? 'the result of a function that is not known'
        : `the result of a virtual function of \`${className}\`, which may be one of several`,
    );
  }

  /** Writes a value to a place. Null: an unknown one. */
  store(place: TypedPlace, value: Passed | null, state: State): void {
    const bytes = bytesOfType(place.type) ?? (value?.type ? bytesOfType(value.type) : null);
    if (value?.kind === 'scalar') this.objects.write(place, bytes, value.value, state);
    else if (value?.kind === 'bytes' && bytesOfType(value.type) === null && bytes === null && isStart(place))
      this.objects.copyWhole(place.object, value.cells, state);
    else if (value?.kind === 'bytes') {
      const source = this.objects.createFresh('variable', 'a temporary', null, {
        base: { kind: 'unknown', symbol: this.objects.freshSymbol(place.label) },
        cells: value.cells,
      });
      this.objects.copy(place, { object: source, offset: zeroTerm, label: place.label }, bytesOfType(value.type) ?? bytes, state);
    } else this.objects.fill(place, bytes, false, state);
  }
}

/** The name of a function in the source, for messages. */
export function sourceNameOf(symbol: string): string {
  return withoutTemplateArguments(objectName(symbol.replace(/^.*!/s, '')));
}

/** The name of a class as dumps print it: `const struct PlanD.2371`. */
function classIn(printed: string): string | undefined {
  return /([A-Za-z_]\w*)D\.\d+$/.exec(printed.trim())?.[1];
}

function isStart({ offset }: TypedPlace): boolean {
  return offset !== null && termConstant(offset) === 0n;
}
