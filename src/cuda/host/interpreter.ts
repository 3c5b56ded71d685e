/** Shared definitions of the interpreter of host programs: its state, and the calls between its parts. */
import { basicTypeOf, integerType, isFloatType, sizeOfType } from '../syntax/basic-type.ts';
import type { SyntaxNode } from '../syntax/syntax-tree.ts';
import type { Declarations, FunctionDeclaration } from '../declarations/declarations.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { type Fact, type HostSymbol, type HostTerm, arithmetic, symbolTerm } from './term.ts';
import { HostStore } from './host-store.ts';
import { type HostMemory, type HostValue, type HostScope, type MemoryContents, eitherValue, factOf, hostField, integerValue, quotientOf, quotientOfNumber, symbolOf, termOf, valueKey } from './value.ts'; // oxfmt-ignore

/** Values of the variables at a point of the program, and the facts of the path. Changed in place. */
export interface State {
  store: HostStore;
  /** Conditions of the path. They are about symbols, whose values do not change, so they stay true. */
  facts: readonly Fact[];
  /** Incremented with every call that may change memory that only pointers point to. */
  epoch: number;
}

/** A function that is being executed. */
export interface Frame {
  readonly scope: HostScope;
  readonly function: FunctionDeclaration | undefined;
  /** Arguments of the enclosing templates: numbers and types as text. */
  readonly template: ReadonlyMap<string, string>;
  /** The object on which a method is called. */
  readonly self: HostValue | undefined;
  readonly depth: number;
  readonly exits: Exits;
}

/** States at the exits of statements. */
export interface Exits {
  returns: { readonly state: State; readonly value: HostValue }[];
  breaks: State[] | undefined;
  continues: State[] | undefined;
}

/** A launch, as it happens in the program. */
export interface LaunchEvent {
  readonly kind: 'launch';
  /** The place in the text. */
  readonly node: SyntaxNode;
  /** `reduce<256>` as written, for messages. */
  readonly text: string;
  /** The kernel: as named in the unit, or found by name in a module (driver API). */
  readonly kernel: { readonly name: string; readonly templateArguments: readonly (string | undefined)[] };
  readonly isByName: boolean;
  /** Namespaces around the function that launches. */
  readonly path: readonly string[];
  readonly grid: HostValue | undefined;
  readonly block: HostValue | undefined;
  readonly cluster: HostValue | undefined;
  readonly shared: HostValue | undefined;
  /** Undefined if unknown. */
  readonly cooperative: boolean | undefined;
  /** Whether it may start before the kernel before it in the stream has ended (programmatic dependent launch). */
  readonly startsEarly: boolean;
  /** Values of the arguments; undefined if unknown. */
  readonly arguments: readonly HostValue[] | undefined;
  /** Declared types of the arguments, if known from declarations. */
  readonly argumentTypes: readonly (string | undefined)[];
  readonly facts: readonly Fact[];
  /** Facts about symbols on every path. */
  readonly symbolFacts: readonly Fact[];
  /** Contents of memory when the kernel starts: by the identity of an allocation, or `symbol NAME`. */
  readonly contents: ReadonlyMap<string, MemoryContents>;
}

/** A call of a function that another file defines. */
export interface CallEvent {
  readonly kind: 'call';
  readonly node: SyntaxNode;
  readonly name: string;
  /** Candidate declarations of that name. */
  readonly declared: readonly Pick<FunctionDeclaration, 'path' | 'record'>[];
  readonly arguments: readonly HostValue[];
  readonly facts: readonly Fact[];
}

export type HostEvent = LaunchEvent | CallEvent;

/** A variable, or a part of one; or memory that a pointer points to. */
export type HostPlace =
  | { readonly kind: 'cell'; readonly cell: number; readonly path: readonly string[] }
  | { readonly kind: 'memory'; readonly symbol: HostSymbol };

/** Writers of a variable, and the written parts. */
export interface Writes {
  /** Assignments in the text; undefined for other writers. */
  readonly by: ReadonlySet<SyntaxNode | undefined>;
  /** Names of fields; an empty name for the variable as a whole, or for any of its elements. */
  readonly fields: ReadonlySet<string>;
}

export interface Interpreter {
  readonly declarations: Declarations;
  readonly evaluate: (node: SyntaxNode, state: State, frame: Frame) => HostValue;
  /** @returns whether the next statement is reached */
  readonly execute: (node: SyntaxNode, state: State, frame: Frame) => boolean;
  readonly call: (node: SyntaxNode, state: State, frame: Frame) => HostValue;
  readonly invoke: (declaration: FunctionDeclaration, given: readonly HostArgument[], state: State, frame: Frame, options?: { readonly template?: readonly (string | undefined)[]; readonly self?: HostValue }) => HostValue | null; // oxfmt-ignore
  /** Arguments with parameter packs expanded. */
  readonly expand: (items: readonly SyntaxNode[], frame: Frame) => readonly SyntaxNode[];
  readonly place: (node: SyntaxNode, state: State, frame: Frame) => HostPlace | null;
  readonly read: (place: HostPlace, state: State) => HostValue;
  /** @param by the expression that writes, if it is an assignment in the text */
  readonly write: (place: HostPlace, value: HostValue, state: State, by?: SyntaxNode) => void;
  /** Value of a cell that a state has not written: a global variable, memory; undefined for others. */
  readonly initial: (cell: number) => HostValue | undefined;
  /** Makes a variable unknown permanently: pointers that are not followed point into it. */
  readonly expose: (cell: number) => void;
  /** Stops following a value: the object whose address it is may change unseen. */
  readonly lose: (value: HostValue) => void;
  /** Notes that unknown code has the address of a variable. */
  readonly escape: (cell: number) => void;
  /** Unknown code runs: makes objects whose address it has, and global variables, unknown. */
  readonly disturb: (state: State) => void;
  /**
   * Code of this unit runs that is not followed: an operator, a destructor, a virtual method. From here on, the
   * variables that other code may access are unknown.
   */
  readonly opaque: (state: State) => void;
  /** Notes that a function may be called with any arguments by a call that is not followed. */
  readonly unfollowed: (name: string) => void;
  /** Notes that a lambda is passed to unknown code: it may be called with any arguments, at any time. */
  readonly handed: (lambda: Extract<HostValue, { kind: 'lambda' }>, state: State) => void;
  /** An unknown condition that is equal to no other. */
  readonly undecided: () => Fact;
  /** The variable of a name that is in scope, or a global one. */
  readonly lookUp: (name: string, frame: Frame, state: State) => number | undefined;
  readonly declare: (name: string, type: string, value: HostValue, state: State, frame: Frame) => number;
  /** Notes that a variable does not end with the call of its function. */
  readonly outlives: (cell: number) => void;
  readonly typeOfCell: (cell: number) => string;
  readonly symbol: (label: string, type?: string) => HostValue;
  readonly memory: (label: string, bytes?: HostTerm) => HostMemory;
  /** Notes contents of device memory from here on; null: unknown. */
  readonly fill: (memory: string, contents: MemoryContents | null, state: State) => void;
  /** Forgets contents of device memory, after a kernel only those that kernels can write. */
  readonly endContents: (state: State, isKernel?: boolean) => void;
  /** Known contents of device memory in a state. */
  readonly contentsIn: (state: State) => ReadonlyMap<string, MemoryContents>;
  readonly emit: (event: HostEvent) => void;
  /** Adds a fact about a symbol, valid on every path. */
  readonly know: (fact: Fact) => void;
  readonly knownFacts: () => readonly Fact[];
  /** Notes that a lambda is created, or that one is called: lambdas without a call are executed at the end. */
  readonly made: (lambda: Extract<HostValue, { kind: 'lambda' }>, state: State) => void;
  readonly called: (lambda: Extract<HostValue, { kind: 'lambda' }>) => void;
  /** Whether a part of the text may reach a launch, or a call that is searched for. */
  readonly reaches: (node: SyntaxNode) => boolean;
  /** Work done so far. */
  readonly spent: () => number;
  /** Counts work; false if the limit is exceeded. */
  readonly step: (count?: number) => boolean;
  /** Runs something without recording its effects; returns the cells that it wrote. */
  readonly silently: (run: () => void) => ReadonlyMap<number, Writes>;
  /** Runs something that can inspect the events it emits; its effects are undone if it returns false. */
  readonly attempt: (run: (emitted: () => readonly HostEvent[]) => boolean) => boolean;
}

/** An argument: its value, and its place if it is an lvalue. */
export interface HostArgument {
  readonly value: HostValue;
  readonly place: HostPlace | null;
  readonly type: string | undefined;
}

/** An independent copy of a state. */
export function cloneState({ store, facts, epoch }: State): State {
  return { store: store.copy(), facts, epoch };
}

/** Adds a fact to the path. Even an unknown condition selects one of the two values of a joined variable. */
export function assume(state: State, fact: Fact): void {
  if (fact.kind === 'truth') return;
  if (fact.kind === 'and') {
    assume(state, fact.left);
    assume(state, fact.right);
    return;
  }
  state.facts = [...state.facts, fact];
}

/** Joins two states into one. */
export function mergeStates(
  state: State,
  then: State,
  otherwise: State,
  condition: Fact,
  { initial, lose }: Pick<Interpreter, 'initial' | 'lose'>,
  fresh: (cell: number) => HostValue,
): void {
  const store = then.store.copy();
  for (const cell of HostStore.writtenApart(then.store, otherwise.store)) {
    const [a, b] = [then.store.get(cell) ?? initial(cell), otherwise.store.get(cell) ?? initial(cell)];
    if (a === undefined || b === undefined) {
      const only = a ?? b;
      if (only) store.set(cell, only);
    } else {
      const either = a === b ? a : eitherValue(condition, a, b);
      if (!either) for (const value of [a, b]) lose(value);
      store.set(cell, either ?? fresh(cell));
    }
  }
  state.store = store;
  let common = 0;
  while (common < then.facts.length && then.facts[common] === otherwise.facts[common]) common++;
  state.facts = then.facts.slice(0, common);
  state.epoch = Math.max(then.epoch, otherwise.epoch);
}

/** A value converted to a declared type. */
export function converted(value: HostValue, type: string, aliases: ReadonlyMap<string, string>): HostValue {
  const known = resolvedType(type, aliases);
  if (/[*[(]/.test(known)) return value;
  const basic = basicTypeOf(known);
  if (basic === 'dim3') return dim3Of(value);
  if (integerType(known)) {
    const kind = integerType(known)!;
    if (basic !== 'bool' && value.kind === 'number' && value.term.kind === 'integer') {
      const wrapped = kind.signed ? BigInt.asIntN(8 * kind.bytes, value.term.value) : BigInt.asUintN(8 * kind.bytes, value.term.value); // oxfmt-ignore
      return wrapped === value.term.value ? value : integerValue({ kind: 'integer', value: wrapped });
    }
    const isTyped = value.kind === 'symbol' && value.symbol.type !== undefined && value.symbol.type !== basic;
    if (basic === 'bool' && value.kind !== 'condition' && (value.kind !== 'symbol' || isTyped)) return { kind: 'condition', fact: factOf(value) }; // oxfmt-ignore
    // A narrow type contains only a part of the number, which is the same for equal numbers.
    const before = value.kind === 'symbol' ? integerType(value.symbol.type ?? '')?.bytes : undefined;
    const isFresh = value.kind === 'symbol' && value.symbol.type === undefined;
    if (kind.bytes < 4 && !isFresh && value.kind !== 'condition' && before !== kind.bytes && valueKey(value) !== '')
      return { kind: 'symbol', symbol: { id: `${basic} of ${valueKey(value)}`, label: 'a part of a number', type: basic } }; // oxfmt-ignore
    if (value.kind === 'symbol') return { kind: 'symbol', symbol: { ...value.symbol, type: basic } };
    const term = /^(?:quotient|condition)$/.test(value.kind) ? termOf(value) : null;
    return term ? integerValue(term) : value;
  }
  if (isFloatType(known)) {
    const isWhole = value.kind === 'symbol' && integerType(value.symbol.type ?? '') !== undefined;
    const quotient = isWhole || /^(?:number|condition)$/.test(value.kind) ? quotientOf(value) : null;
    const held = quotient ?? (value.kind === 'quotient' ? value : null);
    if (basic === 'float' && held?.numerator.kind === 'integer' && held.denominator.kind === 'integer') {
      const exact = Number(held.numerator.value) / Number(held.denominator.value);
      if (exact !== Math.fround(exact)) return quotientOfNumber(Math.fround(exact)) ?? value;
    }
    return quotient ? { kind: 'quotient', ...quotient } : value;
  }
  return value;
}

/** Conversion of a number to `dim3`. */
export function dim3Of(value: HostValue): HostValue {
  if (value.kind === 'record') return value;
  const one: HostValue = integerValue({ kind: 'integer', value: 1n });
  const isNumber = value.kind === 'number' || (value.kind === 'symbol' && integerType(value.symbol.type ?? ''));
  const term = value.kind === 'quotient' || isNumber ? termOf(value) : null;
  if (!term) {
    const symbol = symbolOf(value);
    return { kind: 'record', fields: new Map(), rest: { ...symbol, type: 'dim3' } };
  }
  const fields = new Map<string, HostValue>([
    ['x', integerValue(term)],
    ['y', one],
    ['z', one],
  ]);
  return { kind: 'record', fields, rest: { id: `dim3 ${valueKey(value)}`, label: 'dim3' } };
}

/** The value of a field, or of a field of a field. */
export function partOf(value: HostValue, path: readonly string[]): HostValue {
  return path.reduce(hostField, value);
}

/** A value with a part of it changed. */
export function withPart(value: HostValue, path: readonly string[], part: HostValue): HostValue {
  const [name, ...inner] = path;
  if (name === undefined) return part;
  const record =
    value.kind === 'record'
      ? value
      : { kind: 'record' as const, fields: new Map<string, HostValue>(), rest: symbolOf(value) };
  const own = withPart(hostField(record, name), inner, part);
  // A write to an unknown element may be to any of the listed ones.
  if (name.startsWith('[')) return { kind: 'record', fields: new Map([[name, own]]), rest: { id: `${valueKey(record)}/${name}`, label: record.rest.label } }; // oxfmt-ignore
  const fields = new Map<string, HostValue>(record.fields);
  for (const other of record.fields.keys()) if (other.startsWith('[')) fields.delete(other);
  fields.set(name, own);
  return { ...record, fields };
}

/** `sizeof` of a type, in bytes; a separate symbol if it is unknown here. */
export function sizeOfNamed(type: string, declarations: Declarations): HostTerm {
  const known = resolvedType(type.replace(/&/g, ''), declarations.aliases);
  const size = sizeOfType(known) ?? (/\*$/.test(known) ? 8 : undefined);
  if (size !== undefined) return { kind: 'integer', value: BigInt(size) };
  const record = declarations.records.get(known.replace(/^.*::/, ''));
  if (record?.isPlain && record.fields.length > 0) {
    const sizes = record.fields.map((field) => sizeOfType(resolvedType(field.type, declarations.aliases)));
    const [first] = sizes;
    // Fields of equal size have no padding between them.
    if (first !== undefined && sizes.every((one) => one === first))
      return { kind: 'integer', value: BigInt(first * sizes.length) };
  }
  return symbolTerm({ id: `sizeof ${known}`, label: `sizeof(${known})`, type: 'size_t' });
}

/** A pointer moved by a number of elements. */
export function moved(
  pointer: HostValue,
  by: HostTerm | null,
  type: string | undefined,
  declarations: Declarations,
): HostValue {
  const memory: HostMemory = pointer.kind === 'pointer' ? pointer.memory : symbolOf(pointer);
  const before = pointer.kind === 'pointer' ? pointer.offset : { kind: 'integer' as const, value: 0n };
  const element = type === undefined ? null : sizeOfNamed(type.replace(/(?:\*|\[\])\s*(?:const)?$/, ''), declarations);
  const bytes = by && element && arithmetic('*', by, element);
  return { kind: 'pointer', memory, offset: bytes && before && arithmetic('+', before, bytes) };
}

/** A type with the arguments of the enclosing templates substituted. */
export function typeText(type: string, frame: Frame): string {
  return type.replace(/[A-Za-z_]\w*/g, (word) => frame.template.get(word) ?? word);
}
