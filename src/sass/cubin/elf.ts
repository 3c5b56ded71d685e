/** ELF files of 64 bits, little endian, as ptxas writes them (System V ABI, chapter 4). */
import { ByteReader, DamagedFile, textAt } from './byte-reader.ts';

export interface Section {
  readonly index: number;
  readonly name: string;
  readonly type: number;
  /** Empty if the section has no bytes in the file. */
  readonly bytes: Uint8Array;
  /** Offset of its bytes in the file. */
  readonly offset: number;
  readonly link: number;
  /** For a table of relocations: the section that the relocations apply to. */
  readonly info: number;
}

export interface ElfSymbol {
  readonly name: string;
  /** Whether the symbol denotes code. */
  readonly isFunction: boolean;
  readonly isGlobal: boolean;
  readonly section: number;
  readonly value: number;
  readonly size: number;
}

/** A relocated value in a section: the address of a symbol plus an addend. */
export interface Relocation {
  readonly offset: number;
  readonly symbol: number;
  /** Undefined: the addend is stored at the relocated place (REL). */
  readonly addend: number | undefined;
}

export interface ElfFile {
  readonly machine: number;
  readonly flags: number;
  readonly abiVersion: number;
  readonly sections: readonly Section[];
}

type MutableSection = Omit<Section, 'name'> & { name: string };

const empty = new Uint8Array(0);

const headerBytes = 64;
const sectionBytes = 64;
const symbolBytes = 24;
const noBits = 8;
const tableOfSymbols = 2;
const relocationsWithAddend = 4;
const relocations = 9;

/** Whether bytes begin as an ELF file does. */
export function isElf(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && bytes[0] === 0x7f && bytes[1] === 0x45 && bytes[2] === 0x4c && bytes[3] === 0x46;
}

/**
 * Reads the header and the table of sections.
 * @throws DamagedFile
 */
export function readElf(bytes: Uint8Array): ElfFile {
  if (!isElf(bytes)) throw new DamagedFile('it does not begin as an ELF file');
  if (bytes.length < headerBytes) throw new DamagedFile('its ELF header is cut off');
  if (bytes[4] !== 2 || bytes[5] !== 1) throw new DamagedFile('it is no ELF file of 64 bits, little endian');
  const header = new ByteReader(bytes, 'the ELF header', 8);
  const abiVersion = header.u8();
  header.at = 18;
  const machine = header.u16();
  header.at = 40;
  const tableAt = header.offset();
  const flags = header.u32();
  header.skip(6);
  const [entryBytes, count, nameTable] = [header.u16(), header.u16(), header.u16()];
  if (count === 0) return { machine, flags, abiVersion, sections: [] };
  if (entryBytes !== sectionBytes) throw new DamagedFile(`its entries of sections have ${entryBytes} bytes, not 64`);
  if (tableAt + count * sectionBytes > bytes.length) throw new DamagedFile('its table of sections lies outside of it');
  let outside: number | undefined;
  const entry = new ByteReader(bytes, 'the table of sections', tableAt);
  const sections: MutableSection[] = [];
  const nameOffsets: number[] = [];
  for (let index = 0; index < count; index++) {
    nameOffsets.push(entry.u32());
    const type = entry.u32();
    entry.skip(16);
    const offset = entry.offset();
    const bytesOfFile = entry.offset();
    const size = type === noBits || type === 0 ? 0 : bytesOfFile;
    const link = entry.u32();
    const info = entry.u32();
    entry.skip(16);
    sections.push({ index, name: '', type, bytes: size === 0 ? empty : bytes.subarray(offset, offset + size), offset, link, info });
    if (size > 0 && offset + size > bytes.length) outside ??= index;
  }
  if (outside !== undefined) throw new DamagedFile(`its section ${outside} lies outside of it`);
  const table = sections[nameTable]?.bytes;
  if (!table) throw new DamagedFile('it has no table of the names of sections');
  // A name that many sections share is decoded once: names of a damaged file may be as long as the file.
  const known = new Map<number, string>();
  for (let index = 1; index < count; index++) {
    const at = nameOffsets[index]!;
    let name = known.get(at);
    if (name === undefined) {
      name = table.length === 0 ? '' : textAt(table, at, 'the table of names');
      known.set(at, name);
    }
    if (name.length > 16_384) throw new DamagedFile('the name of a section is longer than 16384 bytes');
    sections[index]!.name = name;
  }
  return { machine, flags, abiVersion, sections };
}

/** The symbols of a file, in the order of its table: relocations name them by number. */
export function readSymbols({ sections }: ElfFile): ElfSymbol[] {
  const table = sections.find(({ type }) => type === tableOfSymbols);
  if (!table) return [];
  const texts = sections[table.link]?.bytes ?? new Uint8Array(0);
  const known = new Map<number, string>([[0, '']]);
  const reader = new ByteReader(table.bytes, 'the table of symbols');
  const symbols: ElfSymbol[] = [];
  for (let left = Math.floor(table.bytes.length / symbolBytes); left > 0; left--) {
    const nameAt = reader.u32();
    const info = reader.u8();
    reader.skip(1);
    const section = reader.u16();
    const value = reader.offset();
    const size = reader.offset();
    let name = known.get(nameAt);
    if (name === undefined) {
      name = textAt(texts, nameAt, 'the table of symbol names');
      if (name.length > 65_536) throw new DamagedFile('the name of a symbol is longer than 65536 bytes');
      known.set(nameAt, name);
    }
    symbols.push({ name, isFunction: (info & 15) === 2, isGlobal: info >> 4 !== 0, section, value, size });
  }
  return symbols;
}

/** Relocations of a section, by offset: as REL before sm_90, as RELA from it. */
export function relocationsOf({ sections }: ElfFile, section: Section): ReadonlyMap<number, Relocation> {
  const found = new Map<number, Relocation>();
  for (const { type, info, bytes } of sections) {
    const isWhole = type === relocationsWithAddend;
    if ((!isWhole && type !== relocations) || info !== section.index) continue;
    const reader = new ByteReader(bytes, 'a table of relocations');
    for (let left = Math.floor(bytes.length / (isWhole ? 24 : 16)); left > 0; left--) {
      const offset = reader.offset();
      reader.skip(4);
      const symbol = reader.u32();
      found.set(offset, { offset, symbol, addend: isWhole ? reader.addend() : undefined });
    }
  }
  return found;
}
