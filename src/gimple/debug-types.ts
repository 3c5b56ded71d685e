/** Layouts of types, and types of variables, from the debugging information in the assembly of `gcc -O0 -g -dA -S`. */
import { DebugEntries, type DebugEntry } from './debug-entries.ts';

/** A type as the debugging information describes it. Typedefs and qualifiers are resolved; references are pointers. */
export type HostType =
  /** `bool`, characters and enumerations too. */
  | { readonly kind: 'integer'; readonly name: string; readonly bytes: number; readonly isSigned: boolean }
  | { readonly kind: 'float'; readonly name: string; readonly bytes: number }
  | HostPointer
  | HostRecord
  /** Of several dimensions: an array of arrays. The count is null if it is unknown. */
  | { readonly kind: 'array'; readonly element: HostType; readonly count: number | null }
  /** Values that are not read: `void`, functions, bit-fields, incomplete types, pointers to members. */
  | { readonly kind: 'opaque'; readonly name: string; readonly bytes: number | null };

interface HostPointer {
  readonly kind: 'pointer';
  readonly to: HostType;
}

/** A complete class, structure or union. */
export interface HostRecord {
  readonly kind: 'record';
  /** With template arguments, without namespaces: `vector<int, std::allocator<int> >`. '' for lambdas and others. */
  readonly name: string;
  /** Distinct for each record of a unit. */
  readonly id: number;
  /** Of a complete object. A base class may take less, if it ends in padding or has virtual bases. */
  readonly bytes: number;
  readonly isUnion: boolean;
  /** It has a table of virtual functions, or of virtual bases. */
  readonly isPolymorphic: boolean;
  /** There are parts of it, such as virtual bases, of which the place is not constant. They are not members. */
  readonly hasUnknownMembers: boolean;
  readonly members: readonly HostMember[];
}

export interface HostMember {
  /** '' for a base class or an unnamed member. */
  readonly name: string;
  readonly isBase: boolean;
  readonly offset: number;
  /** Of a bit-field: opaque, with the bytes of which it has bits. */
  readonly type: HostType;
}

/** A parameter or a local variable. */
interface HostVariable {
  readonly name: string;
  readonly type: HostType;
  /**
   * Its address is computed from a pointer in memory: so GCC passes objects with copy constructors, returns results and
   * accesses arrays of variable length, and what a lambda captures. Its type is that of the object.
   */
  readonly isIndirect: boolean;
}

export interface DebugTypes {
  /** Complete records of that name without template arguments and namespaces: `vector` gives all instances. */
  recordsNamed(name: string): readonly HostRecord[];
  /** The types of which a typedef in any scope has this name, without repetitions. */
  typedefsNamed(name: string): readonly HostType[];
  /** Named parameters, `this` too, and local variables of the function with this symbol. Names may repeat. */
  variablesOf(symbol: string): readonly HostVariable[];
  /** Type of the result of the function with this symbol; null if it is not known. */
  resultOf(symbol: string): HostType | null;
  /** Type of a variable with static storage, by its symbol. */
  typeOfVariable(symbol: string): HostType | null;
  /** Whether some class has a volatile member of this name. */
  isVolatileMember(name: string): boolean;
}

/** Reads the debugging information of one unit. It never fails: what it does not understand is opaque, or left out. */
export function readDebugTypes(assembly: string): DebugTypes {
  const entries = new DebugEntries(assembly);
  const types = new Types(entries);
  const named = once(() => typesByName(entries));
  const functions = once(() => functionsBySymbol(entries, assembly));
  const variables = once(() => variablesBySymbol(entries));
  const volatileMembers = once(() => namesOfVolatileMembers(entries));
  return {
    recordsNamed: (name) => (named().records.get(name) ?? []).map((one) => types.at(one.offset)).filter((type) => type.kind === 'record'),
    typedefsNamed: (name) => [...new Set((named().typedefs.get(name) ?? []).map((one) => types.at(one.offset)))],
    variablesOf: (symbol) => {
      const entry = functions()(symbol);
      return entry ? localsOf(entries, types, entry) : [];
    },
    resultOf: (symbol) => {
      const entry = functions()(symbol);
      return entry ? types.at(entries.typeOf(entry)) : null;
    },
    typeOfVariable: (symbol) => {
      const entry = variables().get(symbol);
      return entry ? types.at(entries.typeOf(entry)) : null;
    },
    isVolatileMember: (name) => volatileMembers().has(name),
  };
}

function namesOfVolatileMembers(entries: DebugEntries): ReadonlySet<string> {
  const names = new Set<string>();
  for (const entry of entries) {
    let type = entry.tag === 'member' ? entries.at(entry.type) : undefined;
    while (type && /^(?:typedef|(?:const|restrict|array)_type)$/.test(type.tag)) type = entries.at(type.type);
    if (type?.tag === 'volatile_type') names.add(entries.nameOf(entry));
  }
  return names;
}

const isRecord = ({ tag }: DebugEntry): boolean => tag === 'structure_type' || tag === 'class_type' || tag === 'union_type';
const isTypedef = ({ tag }: DebugEntry): boolean => tag === 'typedef' || tag === 'template_alias';

/** Types, made on demand. Each entry has one, so that a type is identical to itself however it is reached. */
class Types {
  private readonly entries: DebugEntries;
  private readonly known = new Map<number, HostType>();
  private readonly definitions = once(() => this.findDefinitions());
  private readonly typedefNames = once(() => this.findTypedefNames());

  constructor(entries: DebugEntries) {
    this.entries = entries;
  }

  /** @param offset of the entry, or negative for `void` */
  at(offset: number): HostType {
    const entry = this.unqualified(offset);
    if (entry === null) return voidType;
    if (entry === undefined) return { kind: 'opaque', name: '', bytes: null };
    const known = this.known.get(entry.offset);
    if (known) return known;
    // A type that contains itself does not occur: this ends the search if the text has one.
    this.known.set(entry.offset, opaque(this.entries.nameOf(entry)));
    const type = this.make(entry);
    this.known.set(entry.offset, type);
    return type;
  }

  /** The entry of a type without typedefs and qualifiers; null for `void`, undefined without one. */
  private unqualified(offset: number): DebugEntry | null | undefined {
    let at = offset;
    for (let depth = 0; depth < 64; depth++) {
      if (at < 0) return null;
      const entry = this.entries.at(at);
      if (!entry) return undefined;
      if (!isTypedef(entry) && !/^(?:const|volatile|restrict|atomic|immutable|packed)_type$/.test(entry.tag))
        return this.definitions().get(entry.offset) ?? entry;
      at = entry.type;
    }
    return undefined;
  }

  private make(entry: DebugEntry): HostType {
    const bytes = entry.bytes < 0 ? null : entry.bytes;
    const name = this.entries.nameOf(entry);
    switch (entry.tag) {
      case 'base_type':
        return baseType(name, bytes, entry.encoding);
      case 'enumeration_type':
        return this.enumeration(entry, name, bytes);
      case 'structure_type':
      case 'class_type':
      case 'union_type':
        return bytes === null ? opaque(name) : this.record(entry, name, bytes);
      case 'array_type':
        return this.array(entry);
      case 'pointer_type':
      case 'reference_type':
      case 'rvalue_reference_type':
        return this.pointer(entry.type);
      case 'ptr_to_member_type':
        return opaque('pointer to member', this.unqualified(entry.type)?.tag === 'subroutine_type' ? 16 : 8);
      case 'subroutine_type':
        return opaque('function');
      case 'unspecified_type':
        return opaque(name, name === 'decltype(nullptr)' ? 8 : bytes);
      default:
        return opaque(name, bytes);
    }
  }

  private enumeration(entry: DebugEntry, name: string, bytes: number | null): HostType {
    if (entry.encoding >= 0) return baseType(name, bytes, entry.encoding);
    const underlying = entry.type < 0 ? null : this.at(entry.type);
    return underlying?.kind === 'integer' ? { ...underlying, name, bytes: bytes ?? underlying.bytes } : opaque(name, bytes);
  }

  private pointer(to: number): HostPointer {
    const pointee = once(() => this.at(to));
    return {
      kind: 'pointer',
      get to() {
        return pointee();
      },
    };
  }

  private array(entry: DebugEntry): HostType {
    const dimensions = [...this.entries.childrenOf(entry)].filter(({ tag }) => tag === 'subrange_type');
    if (dimensions.length === 0) return opaque('array');
    return dimensions.reduceRight<HostType>((element, { count }) => ({ kind: 'array', element, count }), this.at(entry.type));
  }

  private record(entry: DebugEntry, name: string, bytes: number): HostRecord {
    const isUnion = entry.tag === 'union_type';
    const parts = [...this.entries.childrenOf(entry)].filter(
      (one) => (one.tag === 'member' && !one.isDeclaration) || one.tag === 'inheritance',
    );
    const members = once(() => parts.flatMap((one) => this.member(one, isUnion)));
    return {
      kind: 'record',
      name: name || (this.typedefNames().get(entry.offset) ?? ''),
      id: entry.offset,
      bytes,
      isUnion,
      isPolymorphic: entry.hasTable,
      hasUnknownMembers: parts.some((one) => placeOf(one, isUnion) === null),
      get members() {
        return members();
      },
    };
  }

  private member(entry: DebugEntry, isInUnion: boolean): HostMember[] {
    const offset = placeOf(entry, isInUnion);
    if (offset === null) return [];
    const type = entry.bitSize < 0 ? this.at(entry.type) : opaque('bit-field', bytesOfBitField(entry));
    return [{ name: entry.name, isBase: entry.tag === 'inheritance', offset, type }];
  }

  /** Definitions outside the scope of the class, by the offset of the declaration in it. */
  private findDefinitions(): ReadonlyMap<number, DebugEntry> {
    const found = new Map<number, DebugEntry>();
    for (const entry of this.entries) if (isRecord(entry) && entry.bytes >= 0 && entry.origin >= 0) found.set(entry.origin, entry);
    return found;
  }

  /** `typedef struct { } Name;` */
  private findTypedefNames(): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    for (const entry of this.entries) if (isTypedef(entry) && !found.has(entry.type)) found.set(entry.type, entry.name);
    return found;
  }
}

const voidType: HostType = { kind: 'opaque', name: 'void', bytes: null };

function opaque(name: string, bytes: number | null = null): HostType {
  return { kind: 'opaque', name, bytes };
}

/** By the encodings of DWARF: boolean, floating, signed, signed character, unsigned, unsigned character, UTF. */
function baseType(name: string, bytes: number | null, encoding: number): HostType {
  if (bytes === null) return opaque(name);
  if (encoding === 4) return { kind: 'float', name, bytes };
  const isSigned = encoding === 5 || encoding === 6;
  if (isSigned || [2, 7, 8, 0x10].includes(encoding)) return { kind: 'integer', name, bytes, isSigned };
  return opaque(name, bytes);
}

/** @returns null if it is not constant */
function placeOf(entry: DebugEntry, isInUnion: boolean): number | null {
  if (entry.bitOffset >= 0) return Math.floor(entry.bitOffset / 8);
  if (entry.location !== null && entry.location >= 0) return entry.location;
  return isInUnion && entry.location !== null ? 0 : null;
}

/** Those of which it has bits; before DWARF 5 those of its declared type. */
function bytesOfBitField({ bitOffset, bitSize, bytes }: DebugEntry): number | null {
  if (bitOffset >= 0) return Math.ceil(((bitOffset % 8) + bitSize) / 8);
  return bytes < 0 ? null : bytes;
}

interface NamedTypes {
  readonly records: ReadonlyMap<string, readonly DebugEntry[]>;
  readonly typedefs: ReadonlyMap<string, readonly DebugEntry[]>;
}

function typesByName(entries: DebugEntries): NamedTypes {
  const records = new Map<string, DebugEntry[]>();
  const typedefs = new Map<string, DebugEntry[]>();
  const add = (map: Map<string, DebugEntry[]>, name: string, entry: DebugEntry): void => {
    const own = map.get(name);
    if (!own) map.set(name, [entry]);
    else if (!own.includes(entry)) own.push(entry);
  };
  for (const entry of entries) {
    if (isTypedef(entry)) {
      add(typedefs, withoutArguments(entry.name), entry);
      const target = entries.at(entry.type);
      if (target && isRecord(target) && entries.nameOf(target) === '' && target.bytes >= 0) add(records, entry.name, target);
    } else if (isRecord(entry) && entry.bytes >= 0) {
      const name = entries.nameOf(entry);
      if (name !== '') add(records, withoutArguments(name), entry);
    }
  }
  return { records, typedefs };
}

/** `vector<int, std::allocator<int> >` without its arguments. Names such as `<lambda>` stay. */
function withoutArguments(name: string): string {
  const at = name.indexOf('<');
  return at > 0 ? name.slice(0, at) : name;
}

/**
 * Functions by their symbols. The label of the code follows the symbol, so that those without a linkage name, as static
 * functions and lambdas, are found. Functions without code, as those that are always inlined, have their names only.
 */
function functionsBySymbol(entries: DebugEntries, assembly: string): (symbol: string) => DebugEntry | undefined {
  const byLabel = new Map<string, DebugEntry>();
  const byName = new Map<string, DebugEntry>();
  const structors = new Map<string, DebugEntry>();
  for (const entry of entries) {
    if (entry.tag !== 'subprogram' || entry.isDeclaration) continue;
    if (entry.address !== '') byLabel.set(entry.address, entry);
    const linkageName = entries.linkageNameOf(entry);
    const isPlain = linkageName === '' && entry.isExternal;
    for (const name of new Set([linkageName, isPlain ? entries.nameOf(entry) : ''])) {
      if (name === '') continue;
      const map = isStructor(entries, entry) ? structors : byName;
      if (entry.address !== '' || !map.has(name)) map.set(name, entry);
    }
  }
  const { labels, aliases } = labelsIn(assembly);
  return (symbol) => {
    const label = labels.get(symbol) ?? labels.get(aliases.get(symbol) ?? '');
    const own = byLabel.get(label ?? '') ?? byName.get(symbol) ?? structors.get(symbol);
    if (own) return own;
    for (const { 0: text, index } of symbol.matchAll(/(?:CI?|D)[0-5]/g)) {
      const found = structors.get(`${symbol.slice(0, index)}${text.slice(0, -1)}4${symbol.slice(index + text.length)}`);
      if (found) return found;
    }
    return undefined;
  };
}

/** Whether a function is a constructor or a destructor. */
function isStructor(entries: DebugEntries, entry: DebugEntry): boolean {
  const name = entries.nameOf(entry);
  if (name.startsWith('~')) return true;
  const scopes = [...entries.withOrigins(entry)].flatMap(({ parent }) => (parent && isRecord(parent) ? [parent] : []));
  return scopes.some((scope) => withoutArguments(entries.nameOf(scope)) === withoutArguments(name));
}

/** Labels at the beginning of functions, by symbol, and other names of functions: `.set _ZN1AC1Ev,_ZN1AC2Ev`. */
function labelsIn(assembly: string): {
  readonly labels: ReadonlyMap<string, string>;
  readonly aliases: ReadonlyMap<string, string>;
} {
  const labels = new Map<string, string>();
  const aliases = new Map<string, string>();
  const section = assembly.indexOf('\t.section\t.debug_info,');
  const end = section < 0 ? assembly.length : section;
  for (let at = assembly.indexOf('\n.LFB'); at >= 0 && at < end; at = assembly.indexOf('\n.LFB', at + 1)) {
    const label = assembly.slice(at + 1, assembly.indexOf('\n', at + 1));
    const before = assembly.slice(assembly.lastIndexOf('\n', at - 1) + 1, at);
    if (label.endsWith(':') && before.endsWith(':')) labels.set(before.slice(0, -1), label.slice(0, -1));
  }
  for (let at = assembly.indexOf('\n\t.set\t'); at >= 0 && at < end; at = assembly.indexOf('\n\t.set\t', at + 1)) {
    const [alias, target] = assembly.slice(at + 7, assembly.indexOf('\n', at + 7)).split(',');
    if (alias !== undefined && target !== undefined) aliases.set(alias, target);
  }
  return { labels, aliases };
}

/** An instance of a constructor may list a variable twice, once without its location. */
function localsOf(entries: DebugEntries, types: Types, scope: DebugEntry): HostVariable[] {
  const found = new Map<number, HostVariable>();
  for (const entry of variablesIn(entries, scope)) {
    const origins = [...entries.withOrigins(entry)];
    const name = entries.nameOf(entry);
    if (name === '' || origins.some(({ address, isExternal }) => address !== '' || isExternal)) continue;
    const key = origins.at(-1)!.offset;
    const isIndirect = entry.isIndirect || (found.get(key)?.isIndirect ?? false);
    found.set(key, { name, type: types.at(entries.typeOf(entry)), isIndirect });
  }
  return [...found.values()];
}

function* variablesIn(entries: DebugEntries, scope: DebugEntry): Iterable<DebugEntry> {
  for (const entry of entries.childrenOf(scope)) {
    if (entry.tag === 'lexical_block') yield* variablesIn(entries, entry);
    else if (entry.tag === 'formal_parameter' || entry.tag === 'variable') yield entry;
  }
}

/** By the symbols of their addresses; those of other units by their linkage names, or names if they are not mangled. */
function variablesBySymbol(entries: DebugEntries): ReadonlyMap<string, DebugEntry> {
  const found = new Map<string, DebugEntry>();
  const variables = [...entries].filter(({ tag }) => tag === 'variable');
  for (const entry of variables) if (entry.address !== '') found.set(entry.address, entry);
  for (const entry of variables) {
    const linkageName = entries.linkageNameOf(entry);
    const symbol = linkageName !== '' ? linkageName : entry.isExternal ? entry.name : '';
    if (symbol !== '' && !found.has(symbol)) found.set(symbol, entry);
  }
  return found;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
