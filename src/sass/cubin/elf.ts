/** ELF files of 64 bits, little endian, as ptxas writes them (System V ABI, chapter 4). */
import { ByteReader, DamagedFile, textAt } from './byte-reader.ts';

export interface Section {
  readonly index: number;
  readonly name: string;
  readonly type: number;
  /** Empty where the section holds no bytes of the file. */
  readonly bytes: Uint8Array;
  /** Where its bytes lie in the file. */
  readonly offset: number;
  readonly link: number;
  /** Of a table of relocations, the section that they are in. */
  readonly info: number;
}

export interface ElfSymbol {
  readonly name: string;
  /** Whether it names code. */
  readonly isFunction: boolean;
  readonly isGlobal: boolean;
  readonly section: number;
  readonly value: number;
  readonly size: number;
}

/** What stands at a place of a section: the address of a symbol, and what is added to it. */
export interface Relocation {
  readonly offset: number;
  readonly symbol: number;
  /** Undefined: the addend lies at the place itself (REL). */
  readonly addend: number | undefined;
}

export interface ElfFile {
  readonly machine: number;
  readonly flags: number;
  readonly abiVersion: number;
  readonly sections: readonly Section[];
}

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
  const raw = Array.from({ length: count }, (_, index) => {
    const entry = new ByteReader(bytes, 'the table of sections', tableAt + index * sectionBytes);
    const [nameAt, type] = [entry.u32(), entry.u32()];
    entry.skip(16);
    const [offset, size, link, info] = [entry.offset(), entry.offset(), entry.u32(), entry.u32()];
    return { index, nameAt, type, offset, size: type === noBits || type === 0 ? 0 : size, link, info };
  });
  for (const { index, offset, size } of raw) {
    if (size > 0 && offset + size > bytes.length) throw new DamagedFile(`its section ${index} lies outside of it`);
  }
  const bytesOf = ({ offset, size }: { offset: number; size: number }): Uint8Array =>
    size === 0 ? new Uint8Array(0) : bytes.subarray(offset, offset + size);
  const names = raw[nameTable];
  if (!names) throw new DamagedFile('it has no table of the names of sections');
  const table = bytesOf(names);
  // A name that many sections share is decoded once: names of a damaged file may be as long as the file.
  const known = new Map<number, string>();
  const nameOf = (at: number): string => {
    const name = known.get(at) ?? (table.length === 0 ? '' : textAt(table, at, 'the table of names'));
    known.set(at, name);
    if (name.length > 16_384) throw new DamagedFile('the name of a section is longer than 16384 bytes');
    return name;
  };
  const sections = raw.map((section) => ({
    index: section.index,
    name: section.index === 0 ? '' : nameOf(section.nameAt),
    type: section.type,
    bytes: bytesOf(section),
    offset: section.offset,
    link: section.link,
    info: section.info,
  }));
  return { machine, flags, abiVersion, sections };
}

/** The symbols of a file, in the order of its table: relocations name them by number. */
export function readSymbols({ sections }: ElfFile): ElfSymbol[] {
  const table = sections.find(({ type }) => type === tableOfSymbols);
  if (!table) return [];
  const texts = sections[table.link]?.bytes ?? new Uint8Array(0);
  const known = new Map<number, string>();
  const nameOf = (at: number): string => {
    if (at === 0) return '';
    const name = known.get(at) ?? textAt(texts, at, 'the table of symbol names');
    if (name.length > 65_536) throw new DamagedFile('the name of a symbol is longer than 65536 bytes');
    known.set(at, name);
    return name;
  };
  const reader = new ByteReader(table.bytes, 'the table of symbols');
  return Array.from({ length: Math.floor(table.bytes.length / symbolBytes) }, () => {
    const [nameAt, info] = [reader.u32(), reader.u8()];
    reader.skip(1);
    const section = reader.u16();
    const [value, size] = [reader.offset(), reader.offset()];
    const name = nameOf(nameAt);
    return { name, isFunction: (info & 15) === 2, isGlobal: info >> 4 !== 0, section, value, size };
  });
}

/** What is relocated in a section, by its offset: as REL before sm_90, as RELA from it. */
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
