/** Binds the parameters of a kernel to values for a run: buffers, pointers into them, scalars. */
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { Argument, GlobalBuffer } from '../../interpreter/core/arguments.ts';
import { nearest } from '../../base/nearest.ts';
import { isFloat, parameterFields, parameterName, type ParameterField } from '../../launch/parameter-field.ts';
import { endlessElements, type Witness, type WitnessArgument } from '../../verdict/finding.ts';
import { type GeneratedContents, drawnText } from '../../check/representative/contents.ts';
import { pattern, tableOf } from '../../check/witness/replay.ts';
import { sizeOfType } from '../../cuda/syntax/basic-type.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import { createArray, MAX_ARRAY_BYTES, parseArgument, type ArgumentValue } from './run-argument.ts';
import { readElement, elementTypeNamed, fits, pointeeOf, valueOf, wholeOf, type ElementType } from '../../launch/element.ts';
import { UsageError } from '../../base/usage-error.ts';

type PointersDrawn = GeneratedContents & { readonly kind: 'pointers' };

/** An array of a run. */
interface BoundArray {
  readonly name: string;
  /** Index of the interpreter's buffer for the array. */
  readonly buffer: number;
  readonly type: ElementType;
  /** Number of elements; null if the array is unbounded. */
  readonly length: number | null;
  /** Names of other parameters that point into the array. */
  readonly aliases: readonly string[];
  /** All names of the array. */
  readonly names: readonly string[];
}

export interface Binding {
  readonly buffers: readonly GlobalBuffer[];
  /** Arguments by parameter index. */
  readonly arguments: readonly Argument[];
  readonly arrays: readonly BoundArray[];
  /** Values of arguments by name, as a report shows them. */
  readonly described: Readonly<Record<string, WitnessArgument>>;
}

interface BindingRequest {
  readonly kernel: Kernel;
  /** Name of the kernel in messages. */
  readonly name: string;
  readonly parameters: readonly ParameterSource[];
  /** Arguments of the command line, by name. */
  readonly given: ReadonlyMap<string, string>;
  /** Scalars that configuration, annotation or launch site state, by parameter index. */
  readonly stated: ReadonlyMap<number, bigint>;
  readonly witness?: Witness | undefined;
  /** Returns the bytes of a file, or the problem as the end of a sentence. */
  readonly readFile: (path: string) => Uint8Array | { readonly problem: string };
}

/** Whether the number in the JSON document may have had other digits, lost by rounding. */
function isRounded(value: WitnessArgument): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
}

const rounded = 'of which JSON does not keep all digits; write it in quotes';

/** A part of the parameters to which one value is bound. */
interface Slot {
  /** All names of the slot; the first one is used in messages. */
  readonly names: readonly string[];
  readonly index: number;
  readonly offset: number;
  readonly bytes: number;
  /** Type as declared in the source. */
  readonly type: string | undefined;
  readonly isPointer: boolean;
  readonly isFloat: boolean;
  /** Whether the slot is a whole struct. */
  readonly isStruct: boolean;
  /** Whether the kernel reads the slot. */
  readonly isRead: boolean;
  /**
   * Whether the slot is part of a struct with unknown members. The text of a value then determines whether it is an
   * integer.
   */
  readonly isOpen: boolean;
}

/** Value that is bound to a slot: bits, a pointer, or the bytes of a struct. */
type Held =
  | { readonly kind: 'bits'; readonly value: bigint }
  | { readonly kind: 'pointer'; readonly buffer: number; readonly offset: bigint }
  | { readonly kind: 'bytes'; readonly value: Uint8Array };

/**
 * Binds the arguments of a run.
 * @throws UsageError naming every argument that is missing, unknown or wrong
 */
export function bindArguments(request: BindingRequest): Binding {
  const slots = slotsOf(request);
  const binder = new Binder(request, slots);
  for (const [name, text] of request.given) binder.bindText(name, text);
  binder.bindAliases();
  for (const [name, value] of Object.entries(request.witness?.args ?? {})) binder.bindWitness(name, value);
  binder.bindWitnessAliases();
  binder.bindStated();
  return binder.finish();
}

/** The slots of a kernel's parameters. */
function slotsOf({ kernel, parameters }: BindingRequest): Slot[] {
  const fields = parameterFields(kernel, [], parameters);
  const escaping = parametersByAddress(kernel);
  return kernel.parameters.flatMap((parameter): Slot[] => {
    const { index, bytes } = parameter;
    const source = parameters[index];
    const bases = [...new Set([parameterName(parameters, index), `param${index}`, parameter.symbol])];
    const own = fields.filter((field) => field.index === index);
    const reads = (offset: number, size: number): boolean =>
      escaping.has(index) || own.some((field) => field.offset < offset + size && offset < field.offset + field.bytes);
    const slot = (part: Partial<Slot>): Slot => ({
      names: bases,
      index,
      offset: 0,
      bytes,
      type: undefined,
      isPointer: part.type !== undefined && pointerType.test(part.type),
      isFloat: part.type !== undefined && pointeeOf(`${part.type}*`)?.kind === 'float',
      isStruct: false,
      isOpen: false,
      isRead: reads(part.offset ?? 0, part.bytes ?? bytes),
      ...part,
    });
    const declared = source ? { type: source.type } : {};
    if (!parameter.type.startsWith('b')) return [slot({ ...declared, isFloat: parameter.type.startsWith('f') })];
    const struct = slot({ ...declared, isPointer: false, isStruct: true, isRead: false });
    if (source?.fields) {
      const members = source.fields.map(({ name, offset, type }) => {
        const names = bases.flatMap((base) => [`${base}.${name}`, `${base}+${offset}`]);
        return slot({ names, offset, bytes: sizeOfType(type) ?? 8, type });
      });
      return [...members, struct];
    }
    // A value of a type such as __half is a single slot, although the PTX declares bytes.
    if (source && bytes <= 8 && sizeOfType(source.type) === bytes) {
      return [slot({ ...declared, names: [...bases, ...bases.map((base) => `${base}+0`)] })];
    }
    const parts = own.map(({ offset, bytes: size }) =>
      slot({ names: bases.map((base) => `${base}+${offset}`), offset, bytes: size, isOpen: true, isRead: true }),
    );
    return [...parts, { ...struct, isRead: escaping.has(index) }];
  });
}

const pointerType = /[*&]\s*(?:const|volatile|__restrict__|__restrict|\s)*$/;

/** Parameters whose address the kernel uses for more than loads from constant offsets. */
function parametersByAddress(kernel: Kernel): Set<number> {
  const found = new Set<number>();
  for (const { instructions, phis } of kernel.blocks) {
    const operands = instructions.flatMap((instruction) =>
      instruction.operation.effect.kind === 'load' ? instruction.arguments.slice(1) : instruction.arguments,
    );
    for (const operand of [...operands, ...phis.flatMap(({ inputs }) => inputs)]) {
      const parameter = operand.kind === 'address' ? kernel.objects[operand.object]!.parameter : undefined;
      if (parameter !== undefined) found.add(parameter);
    }
  }
  return found;
}

class Binder {
  readonly #request: BindingRequest;
  readonly #slots: readonly Slot[];
  readonly #held = new Map<Slot, Held>();
  readonly #buffers: GlobalBuffer[] = [];
  readonly #arrays: {
    name: string;
    buffer: number;
    type: ElementType;
    length: number | null;
    aliases: string[];
    names: string[];
  }[] = [];
  readonly #aliases: { readonly slot: Slot; readonly value: Extract<ArgumentValue, { kind: 'alias' }> }[] = [];
  readonly #witnessAliases: { readonly slot: Slot; readonly target: string; readonly bytes: bigint }[] = [];
  readonly #described: Record<string, WitnessArgument> = {};
  readonly #problems: string[] = [];

  constructor(request: BindingRequest, slots: readonly Slot[]) {
    this.#request = request;
    this.#slots = slots;
  }

  #named(name: string): Slot | undefined {
    return this.#slots.find(({ names }) => names.includes(name));
  }

  bindText(name: string, text: string): void {
    const slot = this.#named(name);
    if (!slot) {
      this.#problems.push(`--arg ${name}: ${this.#unknown(name)}`);
      return;
    }
    const value = parseArgument(text);
    const problem = 'problem' in value ? value.problem : this.#bind(slot, value);
    if (problem !== undefined) this.#problems.push(`--arg ${name} ${problem}.`);
  }

  #unknown(name: string): string {
    const all = this.#slots.filter(({ isStruct, isRead }) => !isStruct || isRead);
    const names = all.map(({ names: [first = ''] }) => first);
    const close = nearest(
      name,
      this.#slots.flatMap((slot) => slot.names),
    );
    const hint = close === undefined ? '' : ` Did you mean ${close}?`;
    return `${this.#request.name} has no such parameter.${hint} It has: ${names.join(', ') || 'none'}.`;
  }

  /** Binds a value to a slot; returns the problem as the end of a sentence. */
  #bind(slot: Slot, value: ArgumentValue): string | undefined {
    const { isPointer, isStruct, type, bytes } = slot;
    const declared = type === undefined ? `has ${bytes} bytes` : `is declared ${type}`;
    if (this.#held.has(slot)) return 'is given twice, under two names';
    if (isStruct) {
      if (value.kind === 'array' && value.contents.kind === 'file') return this.#bindStruct(slot, value.contents.path);
      const members = this.#slots.filter((other) => other.index === slot.index && other !== slot);
      const example = members[0]?.names[0];
      return `is a struct of ${bytes} bytes; give ${example === undefined ? 'its' : `its members, such as ${example}, or its`} bytes as @FILE`;
    }
    switch (value.kind) {
      case 'scalar': {
        if (isPointer) return `${declared}, so it takes an array; ${exampleOf(slot)}`;
        const bits = scalarBits(slot, value.text);
        if (typeof bits !== 'bigint') return `cannot be ${value.text}: ${bits.problem}`;
        const number = Number(value.text);
        this.#hold(slot, { kind: 'bits', value: bits }, isExact(number) ? number : value.text);
        return undefined;
      }
      case 'null':
        if (bytes !== 8 || (type !== undefined && !isPointer)) return `${declared}, which is not a pointer; ${exampleOf(slot)}`;
        this.#hold(slot, { kind: 'bits', value: 0n }, 'null');
        return undefined;
      case 'alias':
      case 'array':
        if (bytes !== 8 || (type !== undefined && !isPointer && isPlain(type))) {
          return `${declared}, so it takes a number; ${exampleOf(slot)}`;
        }
        if (value.kind === 'alias') this.#aliases.push({ slot, value });
        else return this.#bindArray(slot, value);
        return undefined;
    }
  }

  #hold(slot: Slot, held: Held, described: WitnessArgument): void {
    this.#held.set(slot, held);
    this.#described[slot.names[0]!] = described;
  }

  #bindStruct(slot: Slot, path: string): string | undefined {
    const read = this.#request.readFile(path);
    if ('problem' in read) return read.problem;
    if (read.length !== slot.bytes) return `has ${slot.bytes} bytes, and the file ${read.length}`;
    this.#hold(slot, { kind: 'bytes', value: read }, `@${path}`);
    return undefined;
  }

  #bindArray(slot: Slot, value: Extract<ArgumentValue, { kind: 'array' }>): string | undefined {
    const declared = slot.type === undefined ? undefined : pointeeOf(slot.type);
    const type = value.type ?? declared ?? (value.contents.kind === 'file' ? elementTypeNamed('uint8') : undefined);
    const [name = ''] = slot.names;
    if (!type) return `does not specify the type of its elements; write ${name}=float32[…]`;
    const { contents } = value;
    if (contents.kind === 'drawn' && contents.drawn.kind === 'pointers') {
      this.#addPointers(slot, type, contents.drawn);
      return undefined;
    }
    if (declared && value.type && !fits(value.type, declared)) {
      return `is declared ${slot.type}, so its elements are ${declared.name}, not ${value.type.name}`;
    }
    const data = createArray(type, value, this.#request.readFile);
    if ('problem' in data) return data.problem;
    const held = this.#buffers.reduce((sum, buffer) => sum + (buffer.bytes ?? 0), 0) + (data.bytes ?? 0);
    if (held > MAX_ARRAY_BYTES) return `increases the size of all arrays to ${held} bytes; the limit is ${MAX_ARRAY_BYTES} bytes`;
    this.#addBuffer(slot, type, { name, elementBytes: type.bytes, ...data });
    return undefined;
  }

  /** Creates an array of pointers, and the memory that they point to. */
  #addPointers(slot: Slot, type: ElementType, drawn: PointersDrawn): void {
    const [name = ''] = slot.names;
    const words = elementTypeNamed('uint64')!;
    const table = { name, bytes: null, elementBytes: 8, ...tableOf(drawn, this.#buffers.length + 1) };
    this.#addBuffer(slot, words, table, { type: type.name, length: endlessElements, drawn: drawnText(drawn) });
    const fill = pattern(1, type.name);
    this.#buffers.push({ name: `${name}[...]`, bytes: null, elementBytes: type.bytes, fill, values: new Map() });
  }

  #addBuffer(slot: Slot, type: ElementType, buffer: GlobalBuffer, described?: WitnessArgument): void {
    const index = this.#buffers.push(buffer) - 1;
    const [name = ''] = slot.names;
    const length = buffer.bytes === null ? null : buffer.bytes / type.bytes;
    this.#arrays.push({ name, buffer: index, type, length, aliases: [], names: [...slot.names] });
    this.#hold(slot, { kind: 'pointer', buffer: index, offset: 0n }, described ?? `${type.name}[${length ?? ''}]`);
  }

  bindAliases(): void {
    for (const { slot, value } of this.#aliases) {
      const { target, unit } = value;
      // In a struct with unknown members, A+8 may itself be the name of a slot that contains a pointer.
      const field = unit === 'bytes' ? this.#named(`${target}+${value.offset}`) : undefined;
      const [owner, offset] = field && this.#held.get(field)?.kind === 'pointer' ? [field, 0n] : [this.#named(target), value.offset];
      const problem = this.#alias(slot, owner, target, offset, unit);
      if (problem !== undefined) this.#problems.push(`--arg ${slot.names[0]} ${problem}.`);
    }
  }

  #alias(slot: Slot, owner: Slot | undefined, target: string, offset: bigint, unit: 'bytes' | 'elements'): string | undefined {
    const held = owner && this.#held.get(owner);
    const array = held?.kind === 'pointer' ? this.#arrays.find(({ buffer }) => buffer === held.buffer) : undefined;
    if (held?.kind !== 'pointer' || !array) {
      const names = this.#arrays.map(({ name }) => name).join(', ') || 'none';
      return `points into ${target}, which is not given as an array; the arrays are: ${names}`;
    }
    const bytes = held.offset + (unit === 'bytes' ? offset : offset * BigInt(array.type.bytes));
    const size = array.length === null ? null : BigInt(array.length * array.type.bytes);
    if (bytes < 0n || (size !== null && bytes > size)) {
      return `points to byte ${bytes} of ${array.name}, past its end: it has ${size} bytes`;
    }
    array.aliases.push(slot.names[0]!);
    array.names.push(...slot.names);
    const text = bytes === 0n ? `&${array.name}` : `&${array.name}+${bytes}`;
    this.#hold(slot, { kind: 'pointer', buffer: held.buffer, offset: bytes }, text);
    return undefined;
  }

  /** Binds a value of a witness: the inverse of `describeWitness`. Arguments of the command line take precedence. */
  bindWitness(name: string, value: WitnessArgument): void {
    const slot = this.#named(name);
    if (!slot) {
      this.#problems.push(`The witness names ${name}, but ${this.#unknown(name)}`);
      return;
    }
    if (this.#held.has(slot) || this.#aliases.some((alias) => alias.slot === slot)) return;
    const problem = this.#bindWitnessValue(slot, value);
    if (problem !== undefined) this.#problems.push(`The witness's ${name} ${problem}.`);
  }

  #bindWitnessValue(slot: Slot, value: WitnessArgument): string | undefined {
    if (typeof value !== 'object') {
      const widest = this.#widest(slot);
      if (!widest.isFloat && isRounded(value)) return `is ${value}, ${rounded}`;
      const bits = scalarBits(widest, String(value));
      if (typeof bits !== 'bigint') return `cannot be ${value}: ${bits.problem}`;
      this.#hold(slot, { kind: 'bits', value: bits }, value);
      return undefined;
    }
    if (slot.bytes !== 8) return `has ${slot.bytes} bytes, and is not an array`;
    if ('same' in value) {
      this.#witnessAliases.push({ slot, target: value.same, bytes: BigInt(value.bytes ?? 0) });
      return undefined;
    }
    const type = elementTypeNamed(value.type);
    if (value.drawn !== undefined) {
      const given = parseArgument(`int32[]:${value.drawn}`);
      const drawn = 'kind' in given && given.kind === 'array' && given.contents.kind === 'drawn' ? given.contents.drawn : undefined;
      if (!drawn) return `has an unknown generator ${JSON.stringify(value.drawn)}; write for example mixed(1,64)`;
      if (drawn.kind === 'pointers') {
        this.#addPointers(slot, type ?? elementTypeNamed('int32')!, drawn);
        return undefined;
      }
    }
    if (!type) return `has elements of type ${value.type}, which is not known`;
    const given = [value.fill ?? 0, ...Object.values(value.values ?? {})];
    const large = type.format === undefined ? given.find(isRounded) : undefined;
    if (large !== undefined) return `holds ${large}, ${rounded}`;
    const fill = readElement(type, String(value.fill ?? 0));
    const values = Object.entries(value.values ?? {}).map(([at, text]) => [Number(at), readElement(type, String(text))] as const);
    const wrong = [fill, ...values.map(([, bits]) => bits)].find((bits) => typeof bits !== 'bigint');
    if (typeof fill !== 'bigint' || wrong !== undefined) return `has a value that is not of type ${type.name}`;
    const known = new Map(values.flatMap(([at, bits]) => (typeof bits === 'bigint' ? [[at, bits] as const] : [])));
    // Arrays of a replay are unbounded, so that races are reproduced regardless of the sizes of arrays.
    const buffer = { name: slot.names[0]!, elementBytes: type.bytes, bytes: null, fill, values: known };
    this.#addBuffer(slot, type, buffer, value);
    return undefined;
  }

  /**
   * The slot, extended to the width with which the kernel reads it: a production build may read two members at once.
   */
  #widest(slot: Slot): Slot {
    const { kernel, parameters } = this.#request;
    const reads = parameterFields(kernel, [], parameters).filter(
      (field: ParameterField) => field.index === slot.index && field.offset === slot.offset,
    );
    const bytes = Math.max(slot.bytes, ...reads.map((field) => field.bytes));
    const float = reads.some((field) => isFloat(kernel, parameters, field));
    return { ...slot, bytes, isFloat: slot.isFloat || float };
  }

  bindWitnessAliases(): void {
    for (const { slot, target, bytes } of this.#witnessAliases) {
      const problem = this.#alias(slot, this.#named(target), target, bytes, 'bytes');
      if (problem !== undefined) this.#problems.push(`The witness's ${slot.names[0]} ${problem}.`);
    }
  }

  /** Binds scalars that are missing on the command line but stated elsewhere. */
  bindStated(): void {
    for (const slot of this.#slots) {
      const value = this.#request.stated.get(slot.index);
      if (value === undefined || slot.isPointer || slot.isStruct || this.#held.has(slot)) continue;
      const bits = BigInt.asUintN(8 * slot.bytes, value >> BigInt(8 * slot.offset));
      this.#hold(slot, { kind: 'bits', value: bits }, shown(slot, bits));
    }
  }

  finish(): Binding {
    const covered = new Set([...this.#held].flatMap(([slot, { kind }]) => (kind === 'bytes' ? [slot.index] : [])));
    const missing = this.#slots.filter((slot) => slot.isRead && !this.#held.has(slot) && !covered.has(slot.index) && !this.#isAlias(slot));
    if (missing.length > 0) {
      const width = Math.max(...missing.map(({ names }) => names[0]!.length));
      const lines = missing.map((slot) => `  ${slot.names[0]!.padEnd(width)}  ${typeText(slot)}; ${exampleOf(slot)}`);
      this.#problems.push(`${this.#request.name} needs more arguments:\n${lines.join('\n')}`);
    }
    if (this.#problems.length > 0) throw new UsageError(this.#problems.join('\n'));
    return {
      buffers: this.#buffers,
      arguments: this.#request.kernel.parameters.map(({ index }) => this.#argument(index)),
      arrays: this.#arrays,
      described: Object.fromEntries(
        this.#slots.flatMap(({ names: [name = ''] }) => {
          const value = this.#described[name];
          return value === undefined ? [] : [[name, value]];
        }),
      ),
    };
  }

  /** Whether the alias of a slot cannot be created, which another message already reports. */
  #isAlias(slot: Slot): boolean {
    return this.#problems.some((text) => text.startsWith(`--arg ${slot.names[0]} `));
  }

  #argument(index: number): Argument {
    const parameter = this.#request.kernel.parameters[index]!;
    const own = [...this.#held].filter(([slot]) => slot.index === index).sort(([a], [b]) => a.offset - b.offset);
    const [only] = own;
    if (only && own.length === 1 && only[0].bytes === parameter.bytes) {
      const [, held] = only;
      if (held.kind === 'pointer') return held;
      if (held.kind === 'bits') return { kind: 'scalar', value: held.value };
    }
    const bytes = new Uint8Array(parameter.bytes);
    const pointers: { at: number; buffer: number; offset: bigint }[] = [];
    for (const [slot, held] of own) if (held.kind === 'bytes') bytes.set(held.value, slot.offset);
    for (const [{ offset: at, bytes: size }, held] of own) {
      if (held.kind === 'pointer') pointers.push({ at, buffer: held.buffer, offset: held.offset });
      if (held.kind !== 'bits') continue;
      const count = Math.max(size, Math.ceil(held.value.toString(16).length / 2));
      for (let byte = 0; byte < count && at + byte < bytes.length; byte++) {
        bytes[at + byte] = Number((held.value >> BigInt(8 * byte)) & 255n);
      }
    }
    return { kind: 'struct', bytes, pointers };
  }
}

/** Whether a declared type cannot contain a pointer. */
function isPlain(type: string): boolean {
  return sizeOfType(type) !== undefined;
}

/** The type in which scalar values of a slot are given. */
function scalarType({ type, bytes, isFloat: float }: Slot): ElementType | undefined {
  const declared = type === undefined ? undefined : pointeeOf(`${type}*`);
  if (declared?.bytes === bytes) return declared;
  return elementTypeNamed(float ? `float${8 * bytes}` : `int${8 * bytes}`);
}

function scalarBits(slot: Slot, text: string): bigint | { readonly problem: string } {
  const type = scalarType(slot);
  if (!type) return { problem: `the parameter has ${slot.bytes} bytes, and no scalar type has that size` };
  const isFraction = slot.isOpen && type.kind !== 'float' && !isWhole(text);
  const float = isFraction && slot.bytes >= 4 ? elementTypeNamed(`float${8 * slot.bytes}`) : undefined;
  return readElement(float ?? type, text);
}

/** Whether JSON represents a number exactly. */
function isExact(number: number): boolean {
  return Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number));
}

function isWhole(text: string): boolean {
  return wholeOf(text.trim()) !== undefined || /^(?:true|false)$/.test(text.trim());
}

function shown(slot: Slot, bits: bigint): number | string {
  const type = scalarType(slot);
  return type ? valueOf(type, bits) : `0x${bits.toString(16)}`;
}

function typeText({ type, isStruct, bytes, isFloat: float }: Slot): string {
  if (type !== undefined) return type;
  if (isStruct) return `a struct of ${bytes} bytes`;
  if (bytes === 8 && !float) return 'a pointer or a number of 64 bits';
  return `a ${float ? 'floating-point ' : ''}number of ${8 * bytes} bits`;
}

function exampleOf(slot: Slot): string {
  const { names, isStruct, isPointer, bytes, type } = slot;
  const [name = ''] = names;
  if (isStruct) return `for example --arg ${name}=@FILE`;
  if (isPointer || (type === undefined && bytes === 8 && !slot.isFloat)) {
    const element = (type === undefined ? undefined : pointeeOf(type)) ?? elementTypeNamed('float32')!;
    return `for example --arg ${name}=${element.name}[1024]:${element.kind === 'float' ? 'random(1)' : 'iota'}`;
  }
  return `for example --arg ${name}=${scalarType(slot)?.kind === 'float' ? '1.5' : '1024'}`;
}
