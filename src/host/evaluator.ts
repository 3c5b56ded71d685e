/** Values and places of operands. */
import { appliedSymbol } from '../assumptions/applied-symbol.ts';
import { type HostTerm, integer, termConstant, zeroTerm } from '../assumptions/expression.ts';
import { arithmetic, truth } from '../assumptions/simplify.ts';
import { type HostValue, hostField, integerValue, nullPointer, quotientOfNumber, termOf, valueKey } from '../cuda/launches/value.ts';
import { objectName } from '../cuda/names/demangle.ts';
import type { HostType } from '../gimple/debug-types.ts';
import type { GimpleFunction, GimpleOperand } from '../gimple/gimple.ts';
import type { Activation, Passed, TypedPlace } from './activation.ts';
import type { HostProgram } from './host-program.ts';
import type { HostUnit } from './host-unit.ts';
import { type Cell, type ObjectState, copiedCells, objectKey, unknownObject } from './object-contents.ts';
import { type HostObject, type HostPlace, Objects, labelOf } from './objects.ts';
import { castValue } from './gimple-operators.ts';
import { bytesOfType, sourceName } from './printed-types.ts';
import type { State } from './state.ts';

const opaqueType: HostType = { kind: 'opaque', name: '', bytes: null };

/** Evaluates operands of statements. */
export class OperandEvaluator {
  readonly program: HostProgram;
  readonly objects = new Objects();
  readonly #statics = new Map<string, HostObject>();
  readonly #literals = new Map<string, HostValue>();
  /** Whether variables with static storage have their initial values: at the start of `main`. */
  readonly isAtStart: boolean;

  constructor(program: HostProgram, isAtStart: boolean) {
    this.program = program;
    this.isAtStart = isAtStart;
  }

  losePassed(one: Passed): void {
    if (one.kind === 'scalar') this.objects.lose(one.value);
    else for (const { content } of one.cells) if (content.kind === 'value') this.objects.lose(content.value);
  }

  /** Where an argument points to; null if it is not a pointer. */
  placeOf(passed: Passed | undefined): HostPlace | null {
    const value = passed?.kind === 'scalar' ? passed.value : undefined;
    return value && /^(?:pointer|symbol|either)$/.test(value.kind) ? this.objects.placeAt(value, labelOf(value)) : null;
  }

  /** All that arguments lead to may be written. */
  writeReachable(given: readonly Passed[], state: State): void {
    for (const passed of given) {
      this.losePassed(passed);
      const place = this.placeOf(passed);
      if (place && place.object.kind !== 'constant') this.objects.forget(place.object, state);
    }
    this.objects.settle(state);
    this.objects.writeAnywhere(state);
  }

  /** Whether a name is the address where the caller wants the result. */
  isSlot({ fn }: Activation, { label, isInitial }: GimpleOperand & { kind: 'ssa' }): boolean {
    return isInitial && (label === '<retval>' || fn.inResult.includes(label));
  }

  /** What an operand passes to a call. */
  passed(activation: Activation, operand: GimpleOperand, state: State, type: HostType | null): Passed {
    const own = type ?? this.typeOfOperand(activation, operand);
    if (isMemory(operand) && own && (own.kind === 'record' || own.kind === 'array')) {
      const place = this.place(activation, operand, state, null);
      const [bytes, at] = [bytesOfType(own), place?.offset ? termConstant(place.offset) : undefined];
      if (place && bytes !== null && at !== undefined)
        return { kind: 'bytes', cells: copiedCells(this.objects.contents(place.object, state), Number(at), bytes, 0), type: own, place };
      const symbol = this.objects.freshSymbol(place?.label ?? 'an object');
      return {
        kind: 'bytes',
        cells: [{ offset: 0, bytes: bytes ?? 1, content: { kind: 'region', base: { kind: 'unknown', symbol }, from: 0 } }],
        type: own,
        place: null,
      };
    }
    // An object of unknown layout is passed as a whole.
    if (operand.kind === 'declaration' && own?.kind === 'opaque' && own.bytes === null && !this.isFunction(activation, operand.name)) {
      const { object } = this.variable(activation, operand.name);
      return { kind: 'bytes', cells: this.objects.contents(object, state).cells, type: own, place: null };
    }
    return { kind: 'scalar', value: this.value(activation, operand, state, own), type: own };
  }

  /** The scalar value of an operand. */
  value(activation: Activation, operand: GimpleOperand, state: State, type: HostType | null): HostValue {
    switch (operand.kind) {
      case 'ssa': {
        const known = state.values.get(operand.version);
        if (known) return known;
        if (this.isSlot(activation, operand) && activation.slot) return this.objects.addressOf(activation.slot);
        if (operand.isInitial) {
          const parameter = this.parameterOf(activation, operand.label);
          if (parameter?.kind === 'scalar') return parameter.value;
        }
        const own = this.typeOfOperand(activation, operand);
        return this.objects.fresh(operand.label === '' ? 'a number' : operand.label, own ? scalarName(own) : undefined);
      }
      case 'integer':
        if (type?.kind === 'pointer' || operand.isAddress) {
          if (operand.value === 0n) return nullPointer;
          // Handles of streams, such as `cudaStreamPerThread`.
          return operand.value <= 2n ? integerValue(integer(operand.value)) : this.objects.fresh('an address');
        }
        if (type?.kind === 'integer' && /bool/i.test(type.name)) return { kind: 'condition', fact: truth(operand.value !== 0n) };
        return integerValue(integer(operand.value));
      case 'real':
        return quotientOfNumber(Number(operand.text)) ?? this.objects.fresh('a number');
      case 'address':
        return this.address(activation, operand.of, state, type?.kind === 'pointer' ? type.to : null);
      case 'declaration':
      case 'field':
      case 'element':
      case 'pointee': {
        // The name of a function is its address.
        if (operand.kind === 'declaration' && this.isFunction(activation, operand.name))
          return activation.unit.functionValue(operand.name.replace(/D\.\d+$/, ''));
        if (operand.kind === 'field' && operand.of.kind === 'ssa') {
          const whole = this.value(activation, operand.of, state, null);
          return whole.kind === 'record'
            ? hostField(whole, operand.field)
            : { kind: 'symbol', symbol: appliedSymbol(operand.field, [valueKey(whole)], 'a number') };
        }
        const place = this.place(activation, operand, state, type);
        return place ? this.load(place, type ?? place.type, state) : this.objects.fresh('a number');
      }
      case 'string':
        return { kind: 'text', text: operand.text };
      case 'zeros':
        return integerValue(zeroTerm);
      case 'virtual':
      case 'opaque':
        return this.objects.fresh('a value');
    }
  }

  parameterOf(activation: Activation, label: string): Passed | undefined {
    const own = activation.fn.parameters.filter((one) => sourceName(one) === label);
    const isShadowed = activation.fn.locals.some((one) => sourceName(one) === label && /D\.\d+$/.test(one.name));
    return own.length === 1 && !isShadowed ? activation.parameters.get(own[0]!.name) : undefined;
  }

  /** @param hint the type at the address, if it is known */
  address(activation: Activation, of: GimpleOperand, state: State, hint: HostType | null): HostValue {
    if (of.kind === 'declaration') {
      const symbol = of.name.replace(/D\.\d+$/, '');
      if (this.isFunction(activation, of.name)) return activation.unit.functionValue(symbol);
    }
    if (of.kind === 'string') return { kind: 'text', text: of.text };
    if (of.kind === 'element' && of.of.kind === 'string' && of.index.kind === 'integer' && of.index.value === 0n)
      return { kind: 'text', text: of.of.text };
    const place = this.place(activation, of, state, hint?.kind === 'record' ? hint : null);
    if (!place) {
      // The address of a member at a null pointer, or of something else than memory.
      return this.objects.fresh('an address');
    }
    return this.objects.addressOf(place);
  }

  isFunction(activation: Activation, name: string): boolean {
    if (name === '<retval>' || activation.objects.has(name) || activation.parameters.has(name)) return false;
    if (activation.fn.locals.some((one) => one.name === name)) return false;
    const symbol = name.replace(/D\.\d+$/, '');
    const { unit } = activation;
    if (unit.isDefined(symbol) || unit.isKernel(symbol)) return true;
    return !unit.dataOf(symbol) && !unit.typeOfVariable(symbol) && !/^_ZT[VTIS]/.test(symbol);
  }

  /** Reads a scalar, as a value of a type. */
  load(place: TypedPlace, type: HostType, state: State): HostValue {
    const bytes = bytesOfType(type) ?? bytesOfType(place.type);
    if (bytes === null) {
      this.objects.loseContents(place.object, state);
      this.objects.settle(state);
      return this.objects.fresh(place.label);
    }
    if (isBitField(place.type))
      return {
        kind: 'symbol',
        symbol: {
          id: `${place.label} of ${objectKey(this.objects.contents(place.object, state))}`,
          label: place.label,
          type: scalarName(type) ?? 'int',
        },
      };
    const { value, exact } = this.objects.read(place, bytes, state);
    const part = (): HostValue => {
      this.objects.lose(value);
      return { kind: 'symbol', symbol: { id: `${bytes} bytes of ${valueKey(value)}`, label: place.label, type: scalarName(type) ?? '' } };
    };
    switch (type.kind) {
      case 'integer': {
        if (value.kind === 'symbol') return { kind: 'symbol', symbol: { ...value.symbol, type: type.name } };
        // The handle of a texture is an integer.
        if (value.kind === 'condition' || (value.kind === 'texture' && exact)) return value;
        const constant = value.kind === 'number' ? termConstant(value.term) : undefined;
        if (constant !== undefined) return castValue(value, type, null) ?? part();
        return value.kind === 'number' && exact ? value : part();
      }
      case 'float':
        if (value.kind === 'symbol') return { kind: 'symbol', symbol: { ...value.symbol, type: type.name } };
        if (value.kind === 'number' && termConstant(value.term) === 0n)
          return { kind: 'quotient', numerator: zeroTerm, denominator: integer(1) };
        return value.kind === 'quotient' && exact ? value : part();
      case 'pointer':
        if (value.kind === 'number') return termConstant(value.term) === 0n ? nullPointer : part();
        return exact && /^(?:pointer|function|either|text|symbol|texture)$/.test(value.kind) ? value : part();
      default:
        return exact ? value : part();
    }
  }

  /** The place that an operand denotes; null for a null pointer, or something else than memory. @param hint its type */
  place(
    activation: Activation,
    operand: GimpleOperand,
    state: State,
    hint: HostType | null,
    inner: string | null = null,
  ): TypedPlace | null {
    switch (operand.kind) {
      case 'declaration':
        return this.variable(activation, operand.name);
      case 'field': {
        const name = operand.field.replace(/D\.\d+$/, '');
        const base = this.place(activation, operand.of, state, null, name === '' ? inner : name);
        if (!base) return null;
        const member = base.type.kind === 'record' ? activation.unit.types.member(base.type, operand.field, inner, hint) : null;
        const label = name === '' ? base.label : /^(?:this)?$/.test(base.label) ? name : `${base.label}.${name}`;
        if (!member) {
          const offset = { kind: 'symbol' as const, symbol: { id: `offset of ${operand.field}`, label: `offset of ${name}` } };
          return { object: base.object, offset: base.offset && arithmetic('+', base.offset, offset), label, type: hint ?? opaqueType };
        }
        return {
          object: base.object,
          offset: base.offset && arithmetic('+', base.offset, integer(member.offset)),
          label,
          type: member.type,
        };
      }
      case 'element': {
        const base = this.place(activation, operand.of, state, null);
        if (!base) return null;
        const element = base.type.kind === 'array' ? base.type.element : (hint ?? opaqueType);
        const size = bytesOfType(element);
        const index = termOf(this.value(activation, operand.index, state, this.typeOfOperand(activation, operand.index)));
        const bytes: HostTerm | null = index && size !== null ? arithmetic('*', index, integer(size)) : null;
        return {
          object: base.object,
          offset: base.offset && bytes && arithmetic('+', base.offset, bytes),
          label: `${base.label}[]`,
          type: element,
        };
      }
      case 'pointee': {
        const pointer = this.value(activation, operand.pointer, state, null);
        const name = operand.pointer.kind === 'ssa' && operand.pointer.label !== '' ? operand.pointer.label.replace(/\.\d+$/, '') : '';
        const label =
          name !== '' ? name : pointer.kind === 'pointer' ? pointer.memory.label : pointer.kind === 'symbol' ? pointer.symbol.label : '';
        const place = this.objects.placeAt(pointer, label);
        if (!place) return null;
        const pointerType = this.typeOfOperand(activation, operand.pointer);
        const printed = operand.type === null ? null : activation.unit.types.typeOf(operand.type);
        const type = printed ?? (pointerType?.kind === 'pointer' ? pointerType.to : (hint ?? opaqueType));
        return { object: place.object, offset: place.offset && arithmetic('+', place.offset, integer(operand.offset)), label, type };
      }
      default:
        return null;
    }
  }

  variable(activation: Activation, name: string): TypedPlace {
    const own = activation.objects.get(name);
    const declared = activation.fn.parameters.find((one) => one.name === name) ?? activation.fn.locals.find((one) => one.name === name);
    const symbol = name.replace(/D\.\d+$/, '');
    if (declared && !declared.isStatic) {
      const type = activation.unit.types.typeOf(declared.type);
      const object = own ?? this.newVariable(activation, name, symbol, type);
      return { object, offset: zeroTerm, label: symbol, type };
    }
    if (name === '<retval>') {
      const type = activation.unit.types.typeOf(activation.fn.result);
      const object = own ?? this.newVariable(activation, name, 'result', type);
      return { object, offset: zeroTerm, label: 'result', type };
    }
    const type = declared ? activation.unit.types.typeOf(declared.type) : (activation.unit.typeOfVariable(symbol) ?? opaqueType);
    return {
      object: this.staticObject(activation.unit, symbol, type),
      offset: zeroTerm,
      label: plainName(symbol),
      type,
    };
  }

  newVariable(activation: Activation, name: string, label: string, type: HostType): HostObject {
    const size = bytesOfType(type);
    const passed = activation.parameters.get(name);
    const symbol = this.objects.freshSymbol(label);
    let initial: ObjectState = unknownObject(symbol);
    if (passed?.kind === 'bytes') initial = { base: initial.base, cells: passed.cells };
    else if (passed && size !== null)
      initial = { base: initial.base, cells: [{ offset: 0, bytes: size, content: { kind: 'value', value: passed.value } }] };
    const object = this.objects.createFresh(
      'variable',
      label === '' ? 'a temporary' : label,
      size === null ? null : integer(size),
      initial,
    );
    activation.objects.set(name, object);
    return object;
  }

  /** The object of a variable with static storage. */
  staticObject(from: HostUnit, symbol: string, type: HostType): HostObject {
    const unit = this.program.unitOfData(symbol, from);
    const id = unit.linkageOf(symbol) === 'internal' ? unit.key(symbol) : symbol;
    const known = this.#statics.get(id);
    if (known) return known;
    const data = unit.dataOf(symbol);
    const linkage = unit.linkageOf(symbol);
    const uses = data && !data.isReadOnly && linkage === 'internal' ? unit.usesOf(symbol) : null;
    const isConstant = data !== undefined && (data.isReadOnly || (uses !== null && !uses.isWritten && !uses.isTaken));
    const isInitial = isConstant || (data !== undefined && this.isAtStart && linkage === 'internal');
    const size = data?.bytes ?? bytesOfType(type);
    const initial = isInitial ? this.initialContents(unit, symbol) : unknownObject({ id: `static ${id}`, label: plainName(symbol) });
    const isOwned = uses !== null && isInitial && !uses.isInData;
    const kind = isConstant ? 'constant' : uses && !uses.isTaken ? 'private' : isOwned ? 'owned' : 'static';
    const object = this.objects.create(kind, `static ${id}`, plainName(symbol), size === null ? null : integer(size), initial);
    this.#statics.set(id, object);
    return object;
  }

  /** Contents of a variable as the assembly initialises it. */
  initialContents(unit: HostUnit, symbol: string): ObjectState {
    const { contents, pointers } = unit.dataOf(symbol)!;
    const cells: Cell[] = [];
    const view = new DataView(contents.buffer, contents.byteOffset, contents.byteLength);
    let at = 0;
    while (at < contents.length) {
      const pointer = pointers.get(at);
      if (pointer) {
        cells.push({
          offset: at,
          bytes: 8,
          content: { kind: 'value', value: this.linked(unit, pointer.symbol, pointer.addend) },
        });
        at += 8;
        continue;
      }
      // Words of 4 bytes; larger and smaller reads are put together from them.
      const length = Math.min(4, contents.length - at);
      const value = length === 4 ? BigInt(view.getInt32(at, true)) : BigInt(contents[at]!);
      const bytes = length === 4 ? 4 : 1;
      if (value !== 0n) cells.push({ offset: at, bytes, content: { kind: 'value', value: integerValue(integer(value)) } });
      at += bytes;
    }
    return { base: { kind: 'zero' }, cells };
  }

  /** The address of a symbol. */
  linked(unit: HostUnit, symbol: string, addend: number): HostValue {
    const id = `${unit.path}!${symbol}+${addend}`;
    const known = this.#literals.get(id);
    if (known) return known;
    let value: HostValue;
    if (unit.isDefined(symbol) || unit.isKernel(symbol)) value = unit.functionValue(symbol);
    else if (addend === 0 && isText(unit.dataOf(symbol)?.contents)) {
      const bytes = Buffer.from(unit.dataOf(symbol)!.contents);
      value = { kind: 'text', text: bytes.subarray(0, -1).toString('latin1') };
    } else if (unit.dataOf(symbol) || unit.typeOfVariable(symbol))
      value = this.objects.addressOf({
        object: this.staticObject(unit, symbol, unit.typeOfVariable(symbol) ?? opaqueType),
        offset: integer(addend),
        label: symbol,
      });
    else value = unit.functionValue(symbol);
    this.#literals.set(id, value);
    return value;
  }

  /** The type of an operand; null if it is unknown. */
  typeOfOperand(activation: Activation, operand: GimpleOperand): HostType | null {
    const { types } = activation.unit;
    switch (operand.kind) {
      case 'ssa':
        if (this.isSlot(activation, operand)) return { kind: 'pointer', to: types.typeOf(activation.fn.result) };
        return this.typeOfName(activation, operand.label, operand.version);
      case 'declaration': {
        if (operand.name === '<retval>') return types.typeOf(activation.fn.result);
        const declared =
          activation.fn.parameters.find((one) => one.name === operand.name) ??
          activation.fn.locals.find((one) => one.name === operand.name);
        return declared ? types.typeOf(declared.type) : activation.unit.typeOfVariable(operand.name.replace(/D\.\d+$/, ''));
      }
      case 'field': {
        const base = this.typeOfOperand(activation, operand.of);
        const member = base?.kind === 'record' ? types.member(base, operand.field, null, null) : null;
        return member?.type ?? null;
      }
      case 'element': {
        const base = this.typeOfOperand(activation, operand.of);
        return base?.kind === 'array' ? base.element : null;
      }
      case 'pointee': {
        if (operand.type !== null) return types.typeOf(operand.type);
        const pointer = this.typeOfOperand(activation, operand.pointer);
        return pointer?.kind === 'pointer' ? pointer.to : null;
      }
      case 'address':
        return { kind: 'pointer', to: this.typeOfOperand(activation, operand.of) ?? opaqueType };
      case 'real':
        return null;
      default:
        return null;
    }
  }

  readonly #names = new WeakMap<GimpleFunction, Map<string, string | null>>();

  /** The name of the scalar type of an SSA name, if it is known. */
  typeNameOf(activation: Activation, label: string, version: number): string | undefined {
    const type = this.typeOfName(activation, label, version);
    return type ? scalarName(type) : undefined;
  }

  typeOfName(activation: Activation, label: string, version: number): HostType | null {
    let names = this.#names.get(activation.fn);
    if (!names) {
      names = new Map();
      for (const one of [...activation.fn.parameters, ...activation.fn.locals]) {
        names.set(one.name, one.type);
        const source = sourceName(one);
        if (source !== one.name) names.set(source, names.has(source) && names.get(source) !== one.type ? null : one.type);
      }
      // Of variables of one name and several types: what is assigned has the type.
      const typed = (one: GimpleOperand): string | null =>
        one.kind === 'ssa' ? (names!.get(`${one.label}_${one.version}`) ?? names!.get(one.label) ?? null) : null;
      for (const { statements } of activation.fn.blocks)
        for (const one of statements) {
          const [target, sources] =
            one.kind === 'phi'
              ? [one.target, one.sources.map(({ value }) => value)]
              : one.kind === 'assign' && one.operator === 'ssa_name'
                ? [one.target, one.operands]
                : [null, []];
          if (target?.kind !== 'ssa' || names.get(target.label) !== null || names.has(`${target.label}_${target.version}`)) continue;
          const type = sources.map(typed).find((own) => own !== null);
          if (type !== undefined) names.set(`${target.label}_${target.version}`, type);
        }
      this.#names.set(activation.fn, names);
    }
    const printed = names.get(`${label}_${version}`) ?? names.get(label) ?? null;
    return printed === null ? null : activation.unit.types.typeOf(printed);
  }
}

/** Whether an operand is a place in memory. */
export function isMemory({ kind }: GimpleOperand): boolean {
  return kind === 'declaration' || kind === 'field' || kind === 'element' || kind === 'pointee';
}

/** Whether bytes are characters and the one 0 after them. */
function isText(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.length > 0 && bytes.indexOf(0) === bytes.length - 1;
}

/** Whether a member shares its bytes with others. */
export function isBitField(type: HostType): boolean {
  return type.kind === 'opaque' && type.name === 'bit-field';
}

/** The name of a scalar type, for symbols. */
export function scalarName(type: HostType): string | undefined {
  return type.kind === 'integer' || type.kind === 'float' ? type.name : undefined;
}

/** The last part of the name of a variable: `_ZN2ns5tableE` is `table`. */
function plainName(symbol: string): string {
  return objectName(symbol).replace(/^.*::/s, '');
}
