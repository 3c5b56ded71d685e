/** Entries of the debugging information in the assembly of `gcc -g -dA -S`, with what types and variables need. */

/** Tags of entries that are kept. Others are left out, and their children belong to the entry around them. */
const keptTags = [
  'compile_unit namespace subprogram inlined_subroutine lexical_block formal_parameter variable',
  'base_type enumeration_type structure_type class_type union_type array_type subrange_type member inheritance',
  'pointer_type reference_type rvalue_reference_type ptr_to_member_type subroutine_type unspecified_type',
  'typedef template_alias const_type volatile_type restrict_type atomic_type immutable_type packed_type',
].flatMap((line) => line.split(' '));

const tags: ReadonlyMap<string, string> = new Map(keptTags.map((tag) => [tag, tag]));

/** An entry: a type, a function, a variable, or a scope of these. */
export class DebugEntry {
  /** Where it begins in the unit: references to it are this number. */
  readonly offset: number;
  readonly tag: string;
  /** Its place in the list of entries, and the place after its last descendant. */
  readonly index: number;
  end: number;
  parent: DebugEntry | null = null;
  name = '';
  linkageName = '';
  /** Of a function: the label of its code. Of a variable: its symbol. */
  address = '';
  /** Offset of its type, or -1. */
  type = -1;
  /** Offset of the entry that it specifies or of which it is an instance, or -1. */
  origin = -1;
  bytes = -1;
  encoding = -1;
  /** Of a member: its offset in the record; null if that is computed when the program runs, as of a virtual base. */
  location: number | null = -1;
  /** Of a bit-field. */
  bitOffset = -1;
  bitSize = -1;
  /** Of a dimension: null if unknown. */
  count: number | null = null;
  isDeclaration = false;
  isExternal = false;
  /** The class has a table of virtual functions. */
  hasTable = false;
  /** A variable of which the location holds the address. */
  isIndirect = false;

  constructor(offset: number, tag: string, index: number) {
    this.offset = offset;
    this.tag = tag;
    this.index = index;
    this.end = index + 1;
  }
}

/** Entries in the order of the text, which is that of their offsets. */
export class DebugEntries {
  private readonly entries: readonly DebugEntry[];

  constructor(assembly: string) {
    this.entries = entriesOf(assembly);
  }

  [Symbol.iterator](): Iterator<DebugEntry> {
    return this.entries[Symbol.iterator]();
  }

  /** The entry at an offset, if there is one. */
  at(offset: number): DebugEntry | undefined {
    let [from, to] = [0, this.entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.entries[middle]!.offset < offset) from = middle + 1;
      else to = middle;
    }
    const found = this.entries[from];
    return found?.offset === offset ? found : undefined;
  }

  *childrenOf(entry: DebugEntry): Iterable<DebugEntry> {
    for (let index = entry.index + 1; index < entry.end;) {
      const child = this.entries[index]!;
      yield child;
      index = child.end;
    }
  }

  /** An entry, what it specifies or is an instance of, and so on. */
  *withOrigins(entry: DebugEntry): Iterable<DebugEntry> {
    let one: DebugEntry | undefined = entry;
    for (let depth = 0; one && depth < 8; depth++) {
      yield one;
      one = one.origin < 0 ? undefined : this.at(one.origin);
    }
  }

  nameOf(entry: DebugEntry): string {
    for (const { name } of this.withOrigins(entry)) if (name !== '') return name;
    return '';
  }

  linkageNameOf(entry: DebugEntry): string {
    for (const { linkageName } of this.withOrigins(entry)) if (linkageName !== '') return linkageName;
    return '';
  }

  typeOf(entry: DebugEntry): number {
    for (const { type } of this.withOrigins(entry)) if (type >= 0) return type;
    return -1;
  }
}

const comment = '\t# ';
const entryMark = '(DIE (';
const endMark = 'end of children of DIE ';

function entriesOf(text: string): DebugEntry[] {
  const entries: DebugEntry[] = [];
  const section = text.indexOf('\t.section\t.debug_info,');
  if (section < 0) return entries;
  const following = text.indexOf('\n\t.section\t', section);
  const end = following < 0 ? text.length : following;
  const open: DebugEntry[] = [];
  let entry: DebugEntry | null = null;
  for (let at = text.indexOf(comment, section); at >= 0 && at < end; at = text.indexOf(comment, at + 1)) {
    const from = at + comment.length;
    if (text.startsWith(entryMark, from)) {
      entry = entryAt(text, from + entryMark.length, entries.length);
      if (!entry) continue;
      entries.push(entry);
      open.push(entry);
    } else if (text.startsWith('DW_AT_', from)) {
      if (entry) readAttribute(text, entry, at, from + 6);
    } else if (text.startsWith('DW_OP_', from)) {
      if (entry) readOperation(text, entry, from + 6);
    } else if (text.startsWith(endMark, from)) {
      entry = null;
      close(open, entries.length, Number(wordAt(text, from + endMark.length)));
    }
  }
  resolveCounts(entries);
  return entries;
}

/** `0x2a) DW_TAG_variable)` */
function entryAt(text: string, from: number, index: number): DebugEntry | null {
  const close = text.indexOf(')', from);
  if (!text.startsWith(') DW_TAG_', close)) return null;
  const tag = tags.get(text.slice(close + 9, text.indexOf(')', close + 9)));
  return tag === undefined ? null : new DebugEntry(Number(text.slice(from, close)), tag, index);
}

/** Ends the entry at an offset: those that were opened after it are its children. It may have been left out. */
function close(open: DebugEntry[], end: number, offset: number): void {
  let at = open.length - 1;
  while (at >= 0 && open[at]!.offset > offset) at--;
  const parent = open[at];
  if (parent?.offset !== offset) return;
  for (const child of open.splice(at + 1)) child.parent = parent;
  parent.end = end;
}

function wordAt(text: string, from: number): string {
  let to = from;
  while (to < text.length && text.charCodeAt(to) > 32 && text.charCodeAt(to) !== 58 /* colon */) to++;
  return text.slice(from, to);
}

/**
 * @param at where the comment begins that names the attribute
 * @param from where the name begins, after `DW_AT_`
 */
function readAttribute(text: string, entry: DebugEntry, at: number, from: number): void {
  if (text.startsWith('decl_', from) || text.startsWith('sibling', from)) return;
  const word = wordAt(text, from);
  switch (word) {
    case 'name':
      entry.name = stringAt(text, at, from + word.length);
      break;
    case 'linkage_name':
      entry.linkageName = stringAt(text, at, from + word.length);
      break;
    case 'type':
      entry.type = numberAt(text, at, from + word.length) ?? -1;
      break;
    case 'abstract_origin':
    case 'specification':
      entry.origin = numberAt(text, at, from + word.length) ?? -1;
      break;
    case 'byte_size':
      entry.bytes = numberAt(text, at, from + word.length) ?? -1;
      break;
    case 'encoding':
      entry.encoding = numberAt(text, at, from + word.length) ?? -1;
      break;
    case 'data_member_location':
      entry.location = numberAt(text, at, from + word.length);
      break;
    case 'data_bit_offset':
      entry.bitOffset = numberAt(text, at, from + word.length) ?? -1;
      break;
    case 'bit_size':
      entry.bitSize = numberAt(text, at, from + word.length) ?? -1;
      break;
    case 'upper_bound':
      entry.count = (numberAt(text, at, from + word.length) ?? NaN) + 1;
      break;
    case 'count':
      entry.count = numberAt(text, at, from + word.length);
      break;
    case 'low_pc':
      if (entry.tag === 'subprogram') entry.address = wordBefore(text, at);
      break;
    case 'declaration':
      entry.isDeclaration = true;
      break;
    case 'external':
      entry.isExternal = true;
      break;
    case 'containing_type':
      entry.hasTable = true;
      break;
  }
}

/** An operation of an expression that the attribute before it begins. */
function readOperation(text: string, entry: DebugEntry, from: number): void {
  if (entry.tag === 'variable') {
    const isAddress = entry.address === '' && text.startsWith('addr\n', from);
    entry.address = isAddress ? (/\t\.quad\t([\w.$]+)\n/y.exec(text.slice(from + 5, text.indexOf('\n', from + 5) + 1))?.[1] ?? '') : '';
  }
  if (text.startsWith('deref', from)) entry.isIndirect = true;
  entry.location = null;
  entry.count = null;
}

/** `.LASF2 # DW_AT_name: "x"` or `.ascii "x\0" # DW_AT_name` */
function stringAt(text: string, at: number, afterWord: number): string {
  if (text.startsWith(': "', afterWord)) return text.slice(afterWord + 3, text.indexOf('\n', afterWord) - 1);
  const line = text.slice(text.lastIndexOf('\n', at) + 1, at);
  const quoted = /"(.*?)(?:\\0)?"$/.exec(line)?.[1] ?? '';
  return quoted.replace(/\\([0-7]{1,3}|.)/g, (_, code: string) =>
    /^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : code,
  );
}

/** The operand of a directive, before the comment at `at`. */
function wordBefore(text: string, at: number): string {
  let from = at;
  while (from > 0 && text.charCodeAt(from - 1) > 32) from--;
  return text.slice(from, at);
}

/** `.long 0x40 # DW_AT_type`, or `# DW_AT_byte_size (0x8)` if all entries of its kind have that value. */
function numberAt(text: string, at: number, afterWord: number): number | null {
  const operand = wordBefore(text, at);
  if (operand !== '') return integer(operand);
  return text.startsWith(' (', afterWord) ? integer(text.slice(afterWord + 2, text.indexOf(')', afterWord))) : null;
}

function integer(text: string): number | null {
  if (/^0x[89a-f]\w{15}$/.test(text)) return Number(BigInt.asIntN(64, BigInt(text)));
  return /^-?(?:0x[\da-f]+|\d+)$/.test(text) ? (text.startsWith('-') ? -Number(text.slice(1)) : Number(text)) : null;
}

/** A bound that may be something else than a number, such as the variable that contains it, is unknown. */
function resolveCounts(entries: readonly DebugEntry[]): void {
  const dimensions = entries.filter(({ tag, count }) => tag === 'subrange_type' && count !== null);
  if (dimensions.length === 0) return;
  const variables = new Set(entries.filter(({ tag }) => tag === 'variable' || tag === 'member').map(({ offset }) => offset));
  for (const one of dimensions) if (!(one.count! >= 0) || variables.has(one.count! - 1)) one.count = null;
}
