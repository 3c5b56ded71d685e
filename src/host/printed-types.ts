/** Types as GIMPLE dumps print them, with the layouts that the debugging information has. */
import type { DebugTypes, HostMember, HostType } from '../gimple/debug-types.ts';
import type { GimpleFunction, GimpleVariable } from '../gimple/gimple.ts';

type RecordType = Extract<HostType, { kind: 'record' }>;

/** GCC prints the types without a name that it makes for intermediate results as `signed int`, `unsigned short`. */
const integers: readonly (readonly [RegExp, number, boolean])[] = [
  [/^(?:char|signed char)$/, 1, true],
  [/^(?:unsigned char|_?[Bb]ool(?:ean)?|char8_t)$/, 1, false],
  [/^(?:short int|signed short)$/, 2, true],
  [/^(?:short unsigned int|unsigned short|char16_t)$/, 2, false],
  [/^(?:int|signed int|wchar_t)$/, 4, true],
  [/^(?:unsigned int|char32_t)$/, 4, false],
  [/^(?:long int|long long int|signed long|ssizetype|<unnamed-signed:64>)$/, 8, true],
  [/^(?:long unsigned int|long long unsigned int|unsigned long|sizetype|size_t|bitsizetype|<unnamed-unsigned:64>)$/, 8, false],
  [/^__int128$/, 16, true],
  [/^__int128 unsigned$/, 16, false],
];
const floats: ReadonlyMap<string, number> = new Map([
  ['float', 4],
  ['double', 8],
  ['long double', 16],
]);

const unknownType: HostType = { kind: 'opaque', name: '', bytes: null };

/** Types of a translation unit. Functions are shown to it before their types are asked for. */
export class PrintedTypes {
  readonly #debug: DebugTypes;
  /** Types of records, typedefs and enumerations, by their printed names with numbers: `vectorD.68204`. */
  readonly #known = new Map<string, HostType>();
  readonly #resolved = new Map<string, HostType>();

  /** Members that unnamed fields denote. */
  readonly #unnamed = new Map<string, HostMember>();
  /** For unnamed fields, the name of a field that is accessed in them. */
  readonly #inner: ReadonlyMap<string, string>;

  /** @param gimple the whole dump */
  constructor(debug: DebugTypes, gimple: string) {
    this.#debug = debug;
    this.#inner = new Map([...gimple.matchAll(/[.>](D\.\d+)\.([A-Za-z_][\w.]*?)D\.\d+/g)].map(([, field, name]) => [field!, name!]));
  }

  /** Learns which records the printed names of a function denote, from its variables in the debugging information. */
  learn({ symbol, result, parameters, locals }: Pick<GimpleFunction, 'symbol' | 'result' | 'parameters' | 'locals'>): void {
    const resultType = result === '' ? null : this.#debug.resultOf(symbol);
    if (resultType) this.#unify(result, resultType);
    const own = new Map<string, HostType[]>();
    for (const { name, type, isIndirect } of this.#debug.variablesOf(symbol))
      own.set(name, [...(own.get(name) ?? []), isIndirect ? { kind: 'pointer', to: type } : type]);
    for (const one of [...parameters, ...locals]) {
      const types = own.get(sourceName(one)) ?? [];
      const [first] = types;
      if (first && types.every((type) => isSameType(type, first))) this.#unify(one.type, first);
    }
  }

  /** Notes that values of a printed type have a type of the debugging information. */
  teach(printed: string, type: HostType): void {
    this.#unify(printed, type);
  }

  #unify(printed: string, type: HostType): void {
    const text = withoutQualifiers(printed);
    const array = /^(.*)\[\d*\]$/.exec(text);
    const pointer = /^(.*?) ?(?:\*|&&?)$/.exec(text);
    if (array && type.kind === 'array') this.#unify(array[1]!, type.element);
    else if (pointer && type.kind === 'pointer') this.#unify(pointer[1]!, type.to);
    else if (!array && !pointer && /D\.\d+$/.test(text) && type.kind === 'record' && !this.#known.has(recordName(text))) {
      this.#known.set(recordName(text), type);
      this.#resolved.clear();
    }
  }

  /** Complete records of a name. */
  recordsNamed(name: string): readonly RecordType[] {
    return this.#debug.recordsNamed(name);
  }

  /** The type that a dump prints. */
  typeOf(printed: string): HostType {
    const known = this.#resolved.get(printed);
    if (known) return known;
    const type = this.#read(withoutQualifiers(printed));
    this.#resolved.set(printed, type);
    return type;
  }

  #read(text: string): HostType {
    const array = /^(.*?)((?:\[\d*\])+)$/.exec(text);
    if (array) {
      const counts = [...array[2]!.matchAll(/\[(\d*)\]/g)].map(([, count]) => (count === '' ? null : Number(count)));
      return counts.reduceRight((element: HostType, count): HostType => ({ kind: 'array', element, count }), this.typeOf(array[1]!));
    }
    if (/\)$/.test(text)) return { kind: 'pointer', to: unknownType };
    const pointer = /^(.*?) ?(?:\*|&&?)$/.exec(text);
    if (pointer) {
      const to = (): HostType => this.typeOf(pointer[1]!);
      return {
        kind: 'pointer',
        get to() {
          return to();
        },
      };
    }
    const basic = text.replace(/D\.\d+$/, '');
    const integer = integers.find(([pattern]) => pattern.test(basic));
    if (integer) return { kind: 'integer', name: basic, bytes: integer[1], isSigned: integer[2] };
    const float = floats.get(basic);
    if (float !== undefined) return { kind: 'float', name: basic, bytes: float };
    return this.#known.get(recordName(text)) ?? this.#named(text, basic);
  }

  /** A type of which only the name is known; the candidates must agree. */
  #named(text: string, basic: string): HostType {
    const name = basic.replace(/^(?:struct|union|class|enum) /, '');
    const isEnum = text.startsWith('enum ');
    const candidates = isEnum ? [] : [...this.#debug.recordsNamed(name), ...this.#debug.typedefsNamed(name)];
    const [first] = candidates;
    if (isEnum) return { kind: 'integer', name, bytes: 4, isSigned: false };
    return first && candidates.every((one) => isSameType(one, first)) ? first : unknownType;
  }

  /**
   * The member of a record that a field denotes.
   * @param field `xD.2301`; `D.180` for a base class or an unnamed member
   * @param inner name of a field that the member must have, and `type` its type, if they are known
   */
  member(record: RecordType, field: string, inner: string | null, type: HostType | null): HostMember | null {
    const name = field.replace(/D\.\d+$/, '');
    const own = record.members.filter((one) => one.name === name);
    if (own.length <= 1 || name !== '') return own.length === 1 ? own[0]! : null;
    const known = this.#unnamed.get(field);
    if (known) return known;
    const within = inner ?? this.#inner.get(field) ?? null;
    const fitting = own.filter((one) => (within === null || hasMember(one.type, within)) && (type === null || isSameType(one.type, type)));
    if (fitting.length === 1) this.#unnamed.set(field, fitting[0]!);
    if (fitting.length <= 1) return fitting[0] ?? null;
    // Empty bases have the address of the one that is not.
    const offsets = new Set(fitting.map(({ offset }) => offset));
    const sized = fitting.filter((one) => one.type.kind === 'record' && one.type.members.length > 0);
    return offsets.size === 1 && sized.length === 1 ? sized[0]! : null;
  }
}

function hasMember(type: HostType, name: string): boolean {
  return type.kind === 'record' && type.members.some((one) => one.name === name || (one.name === '' && hasMember(one.type, name)));
}

/** Whether two types have the same layout. */
function isSameType(a: HostType, b: HostType): boolean {
  if (a === b) return true;
  if (a.kind === 'record' && b.kind === 'record') return a.id === b.id;
  if (a.kind === 'array' && b.kind === 'array') return a.count === b.count && isSameType(a.element, b.element);
  if (a.kind === 'pointer' && b.kind === 'pointer') return isSameType(a.to, b.to);
  if (a.kind === 'integer' && b.kind === 'integer') return a.bytes === b.bytes && a.isSigned === b.isSigned;
  return a.kind === 'float' && b.kind === 'float' && a.bytes === b.bytes;
}

/** Bytes of a type; null if unknown. */
export function bytesOfType(type: HostType): number | null {
  switch (type.kind) {
    case 'integer':
    case 'float':
    case 'record':
    case 'opaque':
      return type.bytes;
    case 'pointer':
      return 8;
    case 'array': {
      const element = bytesOfType(type.element);
      return element === null || type.count === null ? null : element * type.count;
    }
  }
}

function withoutQualifiers(printed: string): string {
  return printed
    .replace(/\b(?:const|volatile|restrict|register) ?|\{ref-all\}| ?(?:const|volatile|restrict)$/g, '')
    .replace(/ +(?=\[)/, '')
    .trim();
}

function recordName(text: string): string {
  return text.replace(/^(?:struct|union|class|enum) /, '');
}

/** The name of a variable in the source. */
export function sourceName({ name }: Pick<GimpleVariable, 'name'>): string {
  return name.replace(/D\.\d+$/, '');
}
