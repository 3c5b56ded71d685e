/**
 * An abstract interpreter of host code as GCC lowers it. Values are terms over symbols, with the conditions under which
 * they were chosen. A statement that is not understood makes the whole state unknown.
 */
import { LayeredMap } from '../base/layered-map.ts';
import { appliedSymbol } from '../assumptions/applied-symbol.ts';
import { type Fact, integer, termConstant, zeroTerm } from '../assumptions/expression.ts';
import { arithmetic, compared, joinedFact, negatedFact, truth } from '../assumptions/simplify.ts';
import { type HostValue, integerValue, pointerOfText, termOf, valueKey } from '../cuda/launches/value.ts';
import type { HostType } from '../gimple/debug-types.ts';
import type { GimpleBlock, GimpleFunction, GimpleOperand, GimpleStatement, GimpleVariable } from '../gimple/gimple.ts';
import { type HostLoop, blockFlowOf } from './flow.ts';
import type { HostProgram } from './host-program.ts';
import { type HostUnit } from './host-unit.ts';
import type { HostOperation } from './operations/host-operation.ts';
import { type HostStream, unknownCode } from './operations/order.ts';
import { Streams } from './operations/stream-calls.ts';
import type { Activation, CallRequest, EdgeState, FollowedCall, Outcome, Passed } from './activation.ts';
import { CallInterpreter, sourceNameOf } from './calls.ts';
import { isBitField, isMemory, scalarName } from './evaluator.ts';
import { type LoopHost, executeLoop } from './host-loops.ts';
import { castValue, hostComparison, movedBy, numberOf } from './gimple-operators.ts';
import { bytesOfType, sourceName } from './printed-types.ts';
import { type State, assume, cloneState, mergeStates } from './state.ts';

const opaqueType: HostType = { kind: 'opaque', name: '', bytes: null };

export abstract class Interpreter extends CallInterpreter implements LoopHost {
  /** Facts about symbols, true on every path. */
  readonly knownFacts: Fact[] = [];
  /** Number of launches recorded; `rewind` drops later ones. */
  abstract mark(): number;
  abstract rewind(mark: number): void;
  abstract isLeftOpenSince(mark: number, changed: ReadonlySet<string>): boolean;
  abstract silently<Value>(run: () => Value): Value;
  /** The statement that accesses memory; null while the runtime does. */
  accessing: Pick<CallRequest, 'activation' | 'location'> | null = null;
  /** Streams and events by their handles. */
  readonly streams: Streams;
  /** Issues a copy or a fill to a stream. */
  abstract issue(request: CallRequest, operation: Pick<HostOperation, 'kind' | 'name' | 'touches'>, stream: HostStream, state: State): void;

  constructor(program: HostProgram, steps: number, isAtStart: boolean) {
    super(program, steps, isAtStart);
    this.streams = new Streams(program.hasThreadStreams);
  }

  know(fact: Fact): void {
    if (fact.kind !== 'truth') this.knownFacts.push(fact);
  }

  /** Executes a function with arguments. */
  execute(call: FollowedCall, given: readonly Passed[], state: State): Outcome {
    const { unit, fn, caller } = call;
    const parameters = new Map(fn.parameters.map((one, at) => [one.name, given[at] ?? this.freeParameter(unit, one, fn.symbol)]));
    const activation: Activation = { ...call, depth: (caller?.depth ?? 0) + 1, objects: new Map(), parameters, returns: [], throws: [] };
    const own: State = { ...state, values: new LayeredMap() };
    const flow = blockFlowOf(fn);
    this.region(activation, null, [{ from: -1, to: flow.first, state: own }]);
    const { state: after, value } = this.joined(activation.returns);
    const thrown = this.merged(activation.throws);
    const back = (one: State | null): State | null => one && { ...one, values: state.values.copy(), configuration: state.configuration };
    return { state: back(after), value, thrown: back(thrown) };
  }

  /** A parameter about which nothing is known. */
  freeParameter(unit: HostUnit, parameter: GimpleVariable, fn: string): Passed {
    const type = unit.types.typeOf(parameter.type);
    const label = sourceName(parameter);
    if (type.kind === 'record' || type.kind === 'array') {
      const bytes = bytesOfType(type) ?? 0;
      const symbol = this.objects.freshSymbol(label);
      return {
        kind: 'bytes',
        cells: [{ offset: 0, bytes, content: { kind: 'region', base: { kind: 'unknown', symbol }, from: 0 } }],
        type,
        place: null,
      };
    }
    const origin =
      fn === 'main'
        ? `\`${label}\` of \`main\``
        : `the parameter \`${label}\` of \`${sourceNameOf(fn)}\`, of which not all callers were read`;
    return { kind: 'scalar', value: this.objects.fresh(label, scalarName(type), origin), type };
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
      const out =
        inner && inner !== loop ? executeLoop(this, activation, inner, state) : this.block(activation, flow.blocks.get(id)!, state);
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
      values.push([
        statement.target.version,
        source
          ? this.value(activation, source.value, state, this.typeOfOperand(activation, statement.target))
          : this.objects.fresh(statement.target.label),
      ]);
    }
    for (const [version, value] of values) state.values.set(version, value);
    return { from, to, state };
  }

  block(activation: Activation, block: GimpleBlock, state: State): EdgeState[] {
    const out: EdgeState[] = [];
    const go = (to: number, from: State): void => void out.push(this.edge(activation, block.id, to, from));
    for (const statement of block.statements) {
      if (--this.steps < this.floor) this.isCutShort = true;
      this.objects.settle(state);
      switch (statement.kind) {
        case 'assign':
          this.accessing = { activation, location: statement.location };
          state = this.eachPointer(activation, statement, state, (own) => this.assign(activation, statement, own));
          this.accessing = null;
          break;
        case 'clobber': {
          state = this.eachPointer(activation, statement, state, (own) => {
            const place = this.place(activation, statement.target, own, null);
            // Nothing reads the bytes before they are written again.
            const bytes = place && bytesOfType(place.type);
            if (place && bytes !== null) this.objects.fill(place, bytes, false, own);
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
          const type = this.typeOfOperand(activation, statement.left) ?? this.typeOfOperand(activation, statement.right);
          const [left, right] = [statement.left, statement.right].map((one) => this.value(activation, one, state, type)) as [
            HostValue,
            HostValue,
          ];
          const fact = this.decided(hostComparison(statement.operator, left, right, type) ?? this.objects.undecided(), state);
          return [
            ...out,
            ...this.branch(
              activation,
              block.id,
              [
                [statement.then, fact],
                [statement.otherwise, negatedFact(fact)],
              ],
              state,
            ),
          ];
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
          activation.returns.push({
            state,
            value: isInPlace ? 'in place' : statement.value ? this.passed(activation, statement.value, state, null) : null,
          });
          return out;
        }
        case 'resume':
          if (statement.landingPad !== null) go(statement.landingPad, state);
          else if (activation.catches) activation.throws.push(state);
          return out;
        case 'dispatch':
          return [...out, ...this.branch(activation, block.id, this.undecidedBranches(block.successors), state)];
        case 'opaque':
          // Assembly calls no function of a table.
          this.note({ kind: statement.text.includes('gimple_asm') ? 'external' : 'anything' });
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
      const { then, otherwise } = value;
      // A program that reads or writes at a null pointer does not go on.
      const isRead = operand.kind !== 'address';
      const possible =
        isRead && isNullPointer(then) ? negatedFact(value.condition) : isRead && isNullPointer(otherwise) ? value.condition : null;
      if (possible) assume(state, possible);
      const known = this.decided(value.condition, state);
      if (known.kind === 'truth') {
        state.values.set(version, known.value ? value.then : value.otherwise);
        return this.eachPointer(activation, statement, state, run);
      }
      const other = cloneState(state);
      state.values.set(version, value.then);
      other.values.set(version, value.otherwise);
      assume(state, value.condition);
      assume(other, negatedFact(value.condition));
      const [first, second] = [this.eachPointer(activation, statement, state, run), this.eachPointer(activation, statement, other, run)];
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

  branch(activation: Activation, from: number, branches: readonly (readonly [number, Fact])[], state: State): EdgeState[] {
    const possible = branches.filter(([, fact]) => fact.kind !== 'truth' || fact.value);
    return possible.map(([to, fact], at) => {
      const own = at === possible.length - 1 ? state : cloneState(state);
      assume(own, fact);
      return this.edge(activation, from, to, own);
    });
  }

  switch(activation: Activation, from: number, statement: GimpleStatement & { kind: 'switch' }, state: State): EdgeState[] {
    const term = termOf(this.value(activation, statement.value, state, this.typeOfOperand(activation, statement.value)));
    const byTarget = new Map<number, Fact>();
    let others: Fact = truth(true);
    for (const { values, to } of statement.cases) {
      if (!values) continue;
      const [low, high] = [integer(values[0]), integer(values[1])];
      const fact: Fact = !term
        ? this.objects.undecided()
        : values[0] === values[1]
          ? compared('==', term, low)
          : joinedFact('and', compared('>=', term, low), compared('<=', term, high));
      others = joinedFact('and', others, negatedFact(fact));
      const known = byTarget.get(to);
      byTarget.set(to, known ? joinedFact('or', known, fact) : fact);
    }
    const fallback = statement.cases.find(({ values }) => !values)?.to;
    if (fallback !== undefined) byTarget.set(fallback, byTarget.has(fallback) ? joinedFact('or', byTarget.get(fallback)!, others) : others);
    return this.branch(
      activation,
      from,
      [...byTarget].map(([to, fact]) => [to, this.decided(fact, state)] as const),
      state,
    );
  }

  /** A statement that is not understood: all that the program can change is unknown. */
  everythingUnknown(activation: Activation, state: State): void {
    for (const cell of state.values.keys()) this.objects.lose(state.values.get(cell)!);
    for (let one: Activation | null = activation; one; one = one.caller)
      for (const object of one.objects.values()) {
        this.objects.lose(this.objects.addressOf({ object, offset: zeroTerm, label: '' }));
        this.objects.forget(object, state);
      }
    this.objects.settle(state);
    this.objects.disturb(state);
    state.contents = new Map();
    state.order = unknownCode(state.order);
  }

  assign(activation: Activation, statement: GimpleStatement & { kind: 'assign' }, state: State): void {
    const { operator, target, operands } = statement;
    if (target.kind === 'ssa') {
      const type = this.typeOfOperand(activation, target);
      const value = this.operation(activation, operator, operands, type, state);
      state.values.set(target.version, value ?? this.unknownResult(activation, operator, operands, target.label, type, state));
      return;
    }
    const [first] = operands;
    const place = this.place(activation, target, state, first && isMemory(first) ? this.typeOfOperand(activation, first) : null);
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
      const isScalar = /^(?:integer|float|pointer)$/.test(place.type.kind) || /^(?:integer|float|pointer)$/.test(source?.type.kind ?? '');
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
    const type = place.type.kind === 'opaque' && first ? (this.typeOfOperand(activation, first) ?? place.type) : place.type;
    const value =
      this.operation(activation, operator, operands, type, state) ??
      this.unknownResult(activation, operator, operands, place.label, type, state);
    // Other bits of the same bytes stay.
    if (isBitField(place.type)) {
      this.objects.lose(value);
      this.objects.fill(place, bytesOfType(place.type), false, state);
    } else this.objects.write(place, bytesOfType(type), value, state);
  }

  /** A value that an operator gives which is not understood. */
  unknownResult(
    activation: Activation,
    operator: string,
    operands: readonly GimpleOperand[],
    label: string,
    type: HostType | null,
    state: State,
  ): HostValue {
    const given = operands.map((one) => this.passed(activation, one, state, null));
    for (const one of given) this.losePassed(one);
    const name = type ? scalarName(type) : undefined;
    const shown = label === '' ? 'a number' : label;
    const keys = given.flatMap((one) => (one.kind === 'scalar' ? [valueKey(one.value)] : []));
    return name !== undefined && keys.length === given.length
      ? { kind: 'symbol', symbol: appliedSymbol(`${name} ${operator}`, keys, shown, name) }
      : this.objects.fresh(shown, name);
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
        const by = second ? termOf(this.value(activation, second, state, this.typeOfOperand(activation, second))) : null;
        const constant = by ? termConstant(by) : undefined;
        const moved = movedBy(pointer, constant === undefined ? by : integer(BigInt.asIntN(64, constant)));
        if (!moved) this.objects.lose(pointer);
        return moved;
      }
      case 'pointer_diff_expr': {
        const [a, b] = [first, second!].map((one) => pointerOfText(this.value(activation, one, state, null))) as [HostValue, HostValue];
        const isOne = a.kind === 'pointer' && b.kind === 'pointer' && a.memory.id === b.memory.id && a.offset && b.offset;
        const both = a.kind === 'symbol' && b.kind === 'symbol' && a.symbol.id === b.symbol.id;
        if (both) return integerValue(zeroTerm);
        const [start, moved] =
          a.kind === 'symbol' && b.kind === 'pointer'
            ? [a.symbol.id, b]
            : b.kind === 'symbol' && a.kind === 'pointer'
              ? [b.symbol.id, a]
              : [null, null];
        if (moved && moved.memory.id === start && moved.offset)
          return integerValue(moved === a ? moved.offset : (arithmetic('-', zeroTerm, moved.offset) ?? moved.offset));
        const difference = isOne && a.kind === 'pointer' && b.kind === 'pointer' ? arithmetic('-', a.offset, b.offset) : null;
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
    const operandType = this.typeOfOperand(activation, first) ?? (second ? this.typeOfOperand(activation, second) : null);
    const values = operands.map((one) => this.value(activation, one, state, operandType));
    if (/^(?:eq|ne|lt|le|gt|ge)_expr$/.test(operator) && second) {
      const fact = hostComparison(operator, values[0]!, values[1]!, operandType);
      return fact && { kind: 'condition', fact: this.decided(fact, state) };
    }
    return numberOf(operator, values, result);
  }
}

const volatileUse = new WeakMap<GimpleFunction, boolean>();

/** Whether a function accesses memory as `volatile`: it then communicates with the device on purpose. */
export function usesVolatile({ fn, unit }: Pick<Activation, 'fn' | 'unit'>): boolean {
  const known =
    volatileUse.get(fn) ??
    ([...fn.parameters, ...fn.locals].some(({ type }) => type.includes('volatile ')) ||
      fn.blocks.some(({ statements }) =>
        statements.some((one) => one.kind === 'assign' && [one.target, ...one.operands].some((place) => isVolatilePlace(place, unit))),
      ));
  volatileUse.set(fn, known);
  return known;
}

/** Whether an operand is memory at a pointer that is cast to a pointer to volatile, or a volatile member. */
function isVolatilePlace(operand: GimpleOperand, unit: HostUnit): boolean {
  if (operand.kind === 'field' && unit.isVolatileMember(operand.field.replace(/D\.\d+$/, ''))) return true;
  if (operand.kind === 'field' || operand.kind === 'element') return isVolatilePlace(operand.of, unit);
  return operand.kind === 'pointee' && operand.type?.includes('volatile ') === true;
}

function isNullPointer(value: HostValue): boolean {
  return value.kind === 'pointer' && value.memory.id === 'null';
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
