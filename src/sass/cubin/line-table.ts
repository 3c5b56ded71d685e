/** Line tables of cubins: DWARF 2, 6.2, with NVIDIA's extension for inlined calls. */
import type { Location } from '../../source/location.ts';
import { ByteReader, DamagedFile } from './byte-reader.ts';
import { type ElfFile, type ElfSymbol, type Relocation, relocationsOf, type Section } from './elf.ts';

/** A row of a line table: instructions from its address up to the address of the next row belong to its line. */
interface LineRow {
  /** Offset in bytes from the start of the code section. */
  readonly address: number;
  /** In the table of source lines: the file as named by the compiler. In the table of PTX lines the name is empty. */
  readonly location: Location;
}

/** Rows by the index of the section of code, ascending by address. */
export type LineTable = ReadonlyMap<number, readonly LineRow[]>;

/**
 * The caller of inlined code: the row of the call, counted from 1, and the offset of the function name in `.debug_str`.
 */
const inlinedCall = 0x90;
const nameOfFunction = 0x91;
/**
 * Maximum number of nested callers of inlined code; further ones are omitted, since compilers do not nest calls as
 * deeply.
 */
const deepest = 1000;

/**
 * Reads the rows of one section of lines.
 * @param name `.debug_line` for source lines, `.nv_debug_line_sass` for lines of the PTX
 * @throws DamagedFile
 */
export function readLineTable(elf: ElfFile, symbols: readonly ElfSymbol[], name: string): LineTable {
  const section = elf.sections.find((one) => one.name === name);
  const rows = new Map<number, LineRow[]>();
  if (!section) return rows;
  const relocations = relocationsOf(elf, section);
  const reader = new ByteReader(section.bytes, `the line table ${name}`);
  while (!reader.isAtEnd) readUnit(reader, section, relocations, symbols, rows);
  for (const list of rows.values()) if (!isAscending(list)) list.sort((a, b) => a.address - b.address);
  return rows;
}

function isAscending(rows: readonly LineRow[]): boolean {
  for (let index = 1; index < rows.length; index++) if (rows[index]!.address < rows[index - 1]!.address) return false;
  return true;
}

function readUnit(
  reader: ByteReader,
  section: Section,
  relocations: ReadonlyMap<number, Relocation>,
  symbols: readonly ElfSymbol[],
  rows: Map<number, LineRow[]>,
): void {
  const what = `the line table ${section.name}`;
  const bytes = reader.u32();
  const end = reader.at + bytes;
  if (end > section.bytes.length) throw new DamagedFile(`${what} has a unit that is longer than the table`);
  const version = reader.u16();
  if (version < 2 || version > 4) throw new DamagedFile(`${what} is of version ${version} of DWARF, which no ptxas writes`);
  const headerBytes = reader.u32();
  const program = reader.at + headerBytes;
  const least = reader.u8();
  if (version === 4) reader.skip(1);
  reader.skip(1);
  const [base, range, firstSpecial] = [reader.s8(), reader.u8(), reader.u8()];
  if (range === 0 || firstSpecial === 0) throw new DamagedFile(`${what} has a header with zeros`);
  const operands: number[] = [];
  for (let opcode = 1; opcode < firstSpecial; opcode++) operands.push(reader.u8());
  const folders = [''];
  for (let folder = reader.text(); folder !== ''; folder = reader.text()) folders.push(folder);
  const files = [''];
  for (let file = reader.text(); file !== ''; file = reader.text()) {
    const folder = folders[reader.uleb()] ?? '';
    reader.uleb();
    reader.uleb();
    files.push(folder === '' || file.startsWith('/') ? file : `${folder}/${file}`);
  }
  if (program < reader.at || program > end) throw new DamagedFile(`${what} has a header of a wrong length`);
  reader.at = program;

  /** Rows of the section of the current sequence; undefined if the section is unknown. */
  let list: LineRow[] | undefined;
  let address = 0;
  let file = 1;
  let line = 1;
  /** The row of the call into which the next rows are inlined; 0 for none. */
  let context = 0;
  /** Rows of the sequence so far: a call refers to an earlier row, so that chains of calls end. */
  let emitted: Location[] = [];
  let depths: number[] = [];
  const emit = (): void => {
    const depth = context === 0 ? -1 : depths[context - 1]!;
    const isCalled = depth >= 0 && depth < deepest;
    const name = files[file] ?? '';
    const location: Location = isCalled ? { file: name, line, inlinedAt: emitted[context - 1]! } : { file: name, line };
    emitted.push(location);
    depths.push(isCalled ? depth + 1 : 0);
    list?.push({ address, location });
  };
  while (reader.at < end) {
    const opcode = reader.u8();
    if (opcode >= firstSpecial) {
      const step = opcode - firstSpecial;
      address += Math.floor(step / range) * least;
      line += base + (step % range);
      emit();
    } else if (opcode === 0) {
      const size = reader.uleb();
      const next = reader.at + size;
      if (size === 0 || next > end) throw new DamagedFile(`${what} has an instruction of a wrong length`);
      const extended = reader.u8();
      if (extended === 1) {
        list = undefined;
        emitted = [];
        depths = [];
        file = 1;
        line = 1;
        context = 0;
      } else if (extended === 2) {
        const place = placeOf(relocations.get(reader.at), reader.offset(), symbols);
        list = place && (rows.get(place.section) ?? []);
        address = place?.address ?? 0;
        if (place && list) rows.set(place.section, list);
      } else if (extended === inlinedCall) {
        context = reader.uleb();
        reader.uleb();
        if (context > emitted.length) context = 0;
      } else if (extended === nameOfFunction) {
        reader.uleb();
      }
      reader.at = next;
    } else if (opcode === 1) emit();
    else if (opcode === 2) address += reader.uleb() * least;
    else if (opcode === 3) line += reader.sleb();
    else if (opcode === 4) file = reader.uleb();
    else if (opcode === 8) address += Math.floor((255 - firstSpecial) / range) * least;
    else if (opcode === 9) address += reader.u16();
    else for (let left = operands[opcode - 1]!; left > 0; left--) reader.uleb();
  }
  reader.at = end;
}

/** The relocated address at a place: of a symbol, plus the addend of the relocation or of the place. */
function placeOf(
  relocation: Relocation | undefined,
  inPlace: number,
  symbols: readonly ElfSymbol[],
): { section: number; address: number } | undefined {
  const symbol = relocation && symbols[relocation.symbol];
  if (!symbol) return undefined;
  return { section: symbol.section, address: symbol.value + (relocation.addend ?? inPlace) };
}

/**
 * Finds the last row at or before an address. Callers visit consecutive instructions, so the last row usually applies.
 */
export function rowFinder(rows: readonly LineRow[]): (address: number) => LineRow | undefined {
  let [from, to] = [Infinity, -Infinity];
  let row: LineRow | undefined;
  return (address) => {
    if (address >= from && address < to) return row;
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle]!.address <= address) low = middle + 1;
      else high = middle;
    }
    row = rows[low - 1];
    from = row?.address ?? -Infinity;
    to = rows[low]?.address ?? Infinity;
    return row;
  };
}
