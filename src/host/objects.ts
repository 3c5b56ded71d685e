/** Objects of the host program: variables, allocations, and what unknown pointers point to. Only this file reads and writes them. */
import { type Fact, type HostSymbol, type HostTerm, integer, termConstant, zeroTerm } from '../assumptions/expression.ts';
import { printExpression } from '../assumptions/print-assumption.ts';
import { type HostMemory, type HostValue, integerValue, pointerOfText, symbolOf } from '../cuda/launches/value.ts';
import {
  type Cell,
  type ObjectState,
  composing,
  copiedCells,
  objectKey,
  partlyIn,
  readScalar,
  unknownObject,
  valuesOf,
  written,
  zeroObject,
} from './object-contents.ts';
import type { MergeContext, State } from './state.ts';

type ObjectKind =
  /** A variable of a call. */
  | 'variable'
  /** A variable with static storage that other code may change. */
  | 'static'
  /** A variable with static storage that only functions of its unit can name, and of which no pointer is made. */
  | 'private'
  /** A variable with static storage, of which only functions of its unit make pointers; from the start of the program. */
  | 'owned'
  /** A variable with static storage that nothing changes, or a literal. */
  | 'constant'
  /** Memory that the program allocates. */
  | 'allocation'
  /** Memory that only the device and copies access. */
  | 'device'
  /** A variable of a library that its functions change. */
  | 'volatile'
  /** What an unknown pointer points to. */
  | 'outer';

export interface HostObject {
  readonly key: number;
  readonly kind: ObjectKind;
  readonly memory: HostMemory;
  readonly initial: ObjectState | null;
  /** When it was made; 0 for what exists from the start. */
  readonly since: number;
  /** Whether a statement allocates it: it exists only on paths through that, where it is written at once. */
  readonly isAllocated: boolean;
}

/** A place in memory. The offset is in bytes; null: anywhere in the object. */
export interface HostPlace {
  readonly object: HostObject;
  readonly offset: HostTerm | null;
  readonly label: string;
}

/** What a pointer is called in messages. */
export function labelOf(value: HostValue | undefined): string {
  if (value?.kind === 'pointer') return value.memory.label;
  return value?.kind === 'symbol' ? value.symbol.label : 'memory';
}

/** Whether what an object holds is never known. */
function isUntracked({ kind }: HostObject): boolean {
  return kind === 'device' || kind === 'volatile';
}

/** Larger copies are not followed byte by byte. */
const maxCells = 2000;

export class Objects {
  readonly #byId = new Map<string, HostObject>();
  readonly #all: HostObject[] = [];
  readonly #escaped = new Set<number>();
  /** Whether code was run that is not followed: it may have made pointers to variables with static storage. */
  #isDisturbed = false;
  /** Functions whose address left: unknown code may call them. */
  readonly openFunctions = new Set<string>();
  #count = 0;
  readonly context: MergeContext;

  constructor() {
    this.context = {
      contents: (object, state) => this.contents(this.#all[object]!, state),
      store: (contents) => ({ contents, at: ++this.#count }),
      lose: (value) => this.lose(value),
      isEscaped: (object) => this.#isShared(this.#all[object]!),
      exists: (object, state) => !this.#all[object]!.isAllocated || state.objects.get(object) !== undefined,
      fresh: (label) => this.fresh(label),
      undecided: () => this.undecided(),
      now: () => ++this.#count,
    };
  }

  /** Memory that both the host program and the device access, by its identity. */
  readonly shared = new Set<string>();

  /** Is called for each access to memory that the device shares. @param bytes null if unknown */
  observer: ((place: HostPlace, bytes: number | null, isWrite: boolean, state: State) => void) | null = null;

  #observe(place: HostPlace, bytes: number | null, isWrite: boolean, state: State): void {
    if (this.shared.has(place.object.memory.id)) this.observer?.(place, bytes, isWrite, state);
  }

  /** An unknown value, different from all others. */
  fresh(label: string, type?: string, origin?: string): HostValue {
    return { kind: 'symbol', symbol: this.freshSymbol(label, type, origin) };
  }

  freshSymbol(label: string, type?: string, origin?: string): HostSymbol {
    const more = { ...(type === undefined ? {} : { type }), ...(origin === undefined ? {} : { origin }) };
    return { id: `${label}#${++this.#count}${this.#within}`, label, ...more };
  }

  #within = '';

  /** Runs something whose new symbols are functions of what is named. */
  named<Value>(name: string, run: () => Value): Value {
    const before = this.#within;
    this.#within = ` of ${name}`;
    const value = run();
    this.#within = before;
    return value;
  }

  /** An unknown condition that is equal to no other. */
  undecided(): Fact {
    return { kind: 'unknown', id: `condition ${++this.#count}` };
  }

  /** Makes an object. */
  create(
    kind: ObjectKind,
    id: string,
    label: string,
    bytes: HostTerm | null,
    initial: ObjectState | null,
    isAllocated = false,
  ): HostObject {
    const memory: HostMemory = {
      id,
      label,
      ...(kind === 'allocation' || kind === 'device' ? { isAllocation: true } : {}),
      ...(kind === 'device' ? { isOfDevice: true } : {}),
      ...(bytes ? { bytes } : {}),
    };
    const since = /^(?:static|private|owned|constant|volatile|outer)$/.test(kind) ? 0 : ++this.#count;
    const object: HostObject = { key: this.#all.length, kind, memory, initial, since, isAllocated };
    this.#all.push(object);
    this.#byId.set(id, object);
    return object;
  }

  /** A new object with a unique name. */
  createFresh(kind: ObjectKind, label: string, bytes: HostTerm | null, initial: ObjectState | null): HostObject {
    return this.create(kind, `${label}@${++this.#count}`, label, bytes, initial);
  }

  /** The address of new memory. */
  allocate(
    kind: 'allocation' | 'device' | 'variable',
    label: string,
    bytes: HostTerm | null,
    contents: ObjectState,
    state: State,
  ): HostValue {
    const object = this.create(kind, `${label}@${++this.#count}`, label, bytes, contents, true);
    this.#set(object, contents, state);
    return this.addressOf({ object, offset: zeroTerm, label });
  }

  /** The address of a place. */
  addressOf({ object, offset }: HostPlace): HostValue {
    return { kind: 'pointer', memory: object.memory, offset };
  }

  /** The place that a pointer points to; null for a null pointer. */
  placeAt(value: HostValue, label: string): HostPlace | null {
    const pointer = pointerOfText(value);
    if (pointer.kind === 'pointer') {
      if (pointer.memory.id === 'null') return null;
      const object = this.#byId.get(pointer.memory.id) ?? this.#literal(pointer.memory) ?? this.#outer(pointer.memory);
      return { object, offset: pointer.offset, label };
    }
    if (pointer.kind === 'number' && pointer.term.kind === 'integer') return null;
    // One of several pointers: what they point to may be accessed from here on.
    this.lose(pointer);
    const symbol = symbolOf(pointer);
    return { object: this.#byId.get(symbol.id) ?? this.#outer(symbol), offset: zeroTerm, label };
  }

  /** The characters of a literal, if GCC prints them as they are. */
  #literal({ id, label, text }: HostMemory): HostObject | null {
    if (text === undefined || text.length > maxCells || !/^[ -[\]-~]*$/.test(text)) return null;
    const cells = Array.from(text, (character, offset): Cell => ({
      offset,
      bytes: 1,
      content: { kind: 'value', value: integerValue(integer(character.charCodeAt(0))) },
    }));
    return this.create('constant', id, label, integer(text.length + 1), { base: zeroObject.base, cells });
  }

  #outer({ id, label }: HostSymbol): HostObject {
    return this.create('outer', id, label, null, null);
  }

  /** Contents of an object. */
  contents(object: HostObject, state: State): ObjectState {
    const stored = state.objects.get(object.key);
    // Writes since then may have changed what unknown pointers may point to.
    const changed = this.#changedAt(object, state);
    if (stored && stored.at >= changed) return stored.contents;
    if (!stored && object.initial && object.since >= changed) return object.initial;
    const { id, label } = object.memory;
    return unknownObject({ id: `*${id}@${changed}`, label });
  }

  #set(object: HostObject, contents: ObjectState, state: State): void {
    state.objects.set(object.key, { contents, at: ++this.#count });
  }

  #changedAt(object: HostObject, { changed, called, outerChanged }: State): number {
    if (object.kind === 'private') return called;
    if (object.kind === 'outer') return Math.max(changed, outerChanged);
    return this.#isShared(object) ? changed : -1;
  }

  /** Whether unknown pointers may point to the object, or unknown code may change it. */
  #isShared({ key, kind }: HostObject): boolean {
    if (kind === 'owned' && this.#isDisturbed) return true;
    return /^(?:outer|static|private)$/.test(kind) || (kind !== 'constant' && this.#escaped.has(key));
  }

  /** A scalar at a place. */
  read(place: HostPlace, bytes: number, state: State): { readonly value: HostValue; readonly exact: boolean } {
    const { object, offset, label } = place;
    this.#observe(place, bytes, false, state);
    if (isUntracked(object)) return { value: this.fresh(label), exact: true };
    const contents = this.contents(object, state);
    const at = offset && termConstant(offset);
    if (at !== undefined && at !== null) {
      this.#loseAllOf(composing(contents, Number(at), bytes));
      return readScalar(contents, Number(at), bytes, label);
    }
    if (!offset) return { value: this.fresh(label), exact: true };
    // A value at an unknown offset is the same wherever the contents and the offset are.
    this.#loseAll(contents);
    return { value: { kind: 'symbol', symbol: { id: `${objectKey(contents)}[${printExpression(offset)}]:${bytes}`, label } }, exact: true };
  }

  /** Writes a scalar. @param bytes null if unknown */
  write(place: HostPlace, bytes: number | null, value: HostValue, state: State): void {
    this.#observe(place, bytes, true, state);
    const at = place.offset && termConstant(place.offset);
    if (at === undefined || at === null || bytes === null || bytes === 0) {
      if (bytes === 0) return;
      this.lose(value);
      this.forget(place.object, state);
      return;
    }
    this.#put(place.object, [{ offset: Number(at), bytes, content: { kind: 'value', value } }], state);
  }

  /** Writes zeros, or unknown bytes. */
  fill(place: HostPlace, bytes: number | null, isZero: boolean, state: State): void {
    this.#observe(place, bytes, true, state);
    const at = place.offset && termConstant(place.offset);
    if (at === undefined || at === null || bytes === null) return this.forget(place.object, state);
    if (bytes !== 0) this.#fillWith(place, Number(at), bytes, isZero, state);
  }

  #fillWith({ object, label }: HostPlace, at: number, bytes: number, isZero: boolean, state: State): void {
    const base = isZero ? { kind: 'zero' as const } : { kind: 'unknown' as const, symbol: this.freshSymbol(label) };
    this.#put(object, [{ offset: at, bytes, content: { kind: 'region', base, from: isZero ? 0 : at } }], state);
  }

  /** Copies bytes from one place to another. @param bytes null if unknown */
  copy(target: HostPlace, source: HostPlace | null, bytes: number | null, state: State): void {
    this.#observe(target, bytes, true, state);
    if (source) this.#observe(source, bytes, false, state);
    const [to, from] = [target.offset && termConstant(target.offset), source?.offset && termConstant(source.offset)];
    const isKnown = to !== undefined && to !== null && from !== undefined && from !== null && bytes !== null;
    if (bytes === 0) return;
    const contents = source && !isUntracked(source.object) ? this.contents(source.object, state) : null;
    if (!isKnown || !contents) {
      if (contents) this.#loseAll(contents);
      if (to === undefined || to === null || bytes === null) this.forget(target.object, state);
      else this.#fillWith(target, Number(to), bytes, false, state);
      return;
    }
    this.#loseAllOf(partlyIn(contents, Number(from), bytes));
    const cells = copiedCells(contents, Number(from), bytes, Number(to));
    if (cells.length > maxCells) {
      this.#loseAll(contents);
      this.forget(target.object, state);
    } else this.#put(target.object, cells, state);
  }

  /** Writes an object of unknown size as a whole. What the cells do not cover is unknown. */
  copyWhole(object: HostObject, cells: readonly Cell[], state: State): void {
    this.forget(object, state);
    this.#put(object, cells, state);
  }

  #put(object: HostObject, cells: readonly Cell[], state: State): void {
    if (isUntracked(object)) {
      for (const { content } of cells) if (content.kind === 'value') this.lose(content.value);
      return;
    }
    const before = this.contents(object, state);
    for (const { offset, bytes } of cells) this.#loseAllOf(partlyIn(before, offset, bytes));
    if (this.#isShared(object)) {
      for (const { content } of cells) if (content.kind === 'value') this.lose(content.value);
      // Another pointer may point to the same bytes; those of this object that are not written stay.
      this.#changeShared(state, object);
    }
    this.#set(object, cells.reduce(written, before), state);
  }

  /** All contents of an object become unknown. @param label of what they are from now on */
  forget(object: HostObject, state: State, label: string = object.memory.label): void {
    if (isUntracked(object)) return;
    this.#loseAll(this.contents(object, state));
    if (this.#isShared(object)) this.#changeShared(state, object);
    this.#set(object, unknownObject(this.freshSymbol(label)), state);
  }

  #loseAll(contents: ObjectState): void {
    this.#loseAllOf(valuesOf(contents));
  }

  #loseAllOf(values: readonly HostValue[]): void {
    for (const value of values) this.lose(value);
  }

  /**
   * What unknown pointers may point to becomes unknown. Pointers in it were lost when they were written.
   * @param except the object that is written; two objects that are known by name are different. Null: any write
   */
  #changeShared(state: State, except: HostObject | null): void {
    this.settle(state);
    if (except?.kind === 'private') return;
    if (except === null || except.kind === 'outer') state.changed = ++this.#count;
    else state.outerChanged = ++this.#count;
  }

  /** Code that is not followed runs. */
  disturb(state: State): void {
    this.#isDisturbed = true;
    this.#changeShared(state, null);
    state.called = ++this.#count;
  }

  /** Something is written through a pointer that is not known. */
  writeAnywhere(state: State): void {
    this.#changeShared(state, null);
  }

  /** Number of objects so far: later ones have greater keys. */
  get count(): number {
    return this.#all.length;
  }

  /** The object with a key. */
  at(key: number): HostObject {
    return this.#all[key]!;
  }

  /** Stops following the values that an object holds. */
  loseContents(object: HostObject, state: State): void {
    this.#loseAll(this.contents(object, state));
  }

  /** What a pointer points to becomes unknown. */
  forgetPointee(value: HostValue, state: State): void {
    if (value.kind === 'either') {
      this.forgetPointee(value.then, state);
      this.forgetPointee(value.otherwise, state);
    }
    const object =
      value.kind === 'pointer' ? this.#byId.get(value.memory.id) : value.kind === 'symbol' ? this.#byId.get(value.symbol.id) : undefined;
    if (object && object.kind !== 'constant' && !isUntracked(object)) this.forget(object, state);
  }

  /** Whether unknown pointers may point to what a place is in. */
  isShared({ object }: HostPlace): boolean {
    return this.#isShared(object);
  }

  /** Stops following a value: unknown pointers may be equal to it, unknown code may call it. */
  lose(value: HostValue): void {
    if (value.kind === 'pointer') {
      const object = this.#byId.get(value.memory.id);
      if (object) this.#escape(object);
    } else if (value.kind === 'either') for (const one of [value.then, value.otherwise]) this.lose(one);
    else if (value.kind === 'function') for (const one of [value, ...(value.others ?? [])]) this.openFunctions.add(one.name);
  }

  #escape(object: HostObject): void {
    if (this.#escaped.has(object.key) || isUntracked(object)) return;
    this.#escaped.add(object.key);
    // Nothing changes it, but its functions may be called.
    if (object.kind === 'constant') for (const value of valuesOf(object.initial!)) this.lose(value);
    else this.#pending.push(object);
  }

  readonly #pending: HostObject[] = [];

  /** Loses what escaped objects hold; to be called where a state is at hand, before anything else is read from it. */
  settle(state: State): void {
    for (let object = this.#pending.pop(); object; object = this.#pending.pop()) {
      const stored = state.objects.get(object.key);
      // Until now nothing else could change it.
      const contents = stored?.contents ?? object.initial ?? this.contents(object, state);
      this.#loseAll(contents);
      this.#set(object, contents, state);
    }
  }
}
