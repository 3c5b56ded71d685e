/** A cubin: the functions that ptxas compiled from a unit, for one architecture. */
import type { Location } from '../../source/location.ts';
import { DamagedFile } from './byte-reader.ts';
import { type ElfFile, readElf, readSymbols, relocationsOf, type ElfSymbol, type Section } from './elf.ts';
import { type LineTable, readLineTable, rowFinder } from './line-table.ts';

/** A function: a kernel, or a body that ptxas appends to the section of a kernel, such as a division. */
export interface CodeFunction {
  readonly symbol: string;
  readonly isKernel: boolean;
  /** The kernel whose section contains the code. */
  readonly kernel: string;
  /** Offset of the function in its section, in bytes; targets of branches are addresses of the section. */
  readonly start: number;
  /** Machine code: 16 bytes per instruction. */
  readonly code: Uint8Array;
  /** Offset of the code in the file, in bytes. */
  readonly fileOffset: number;
  /** Source location of the code at an address of the section; undefined without `-lineinfo`. */
  readonly sourceAt: (address: number) => Location | undefined;
  /** The PTX line of the code at an address of the section. */
  readonly ptxLineAt: (address: number) => number | undefined;
}

export interface Cubin {
  /** `sm_90`. */
  readonly arch: string;
  /** In the order of the file. */
  readonly functions: readonly CodeFunction[];
  /** Whether calls to addresses in registers can only call functions of the driver, such as `vprintf`. */
  readonly callsRuntimeAlone: boolean;
  /** Register counts of the kernels as stated in the file, by symbol. */
  readonly registers: ReadonlyMap<string, number>;
}

const cudaMachine = 190;
export const instructionBytes = 16;
/** ABI of CUDA 13, in which the architecture is in different bits of the flags. */
const laterAbi = 8;

/** Whether the header of an ELF file is that of a GPU. */
export function isForGpu(bytes: Uint8Array): boolean {
  return bytes.length > 19 && bytes[18]! + bytes[19]! * 256 === cudaMachine;
}

/**
 * Reads a cubin.
 * @returns its functions, or an error message
 */
export function readCubin(bytes: Uint8Array): Cubin | { readonly problem: string } {
  try {
    return cubinOf(bytes);
  } catch (error) {
    if (error instanceof DamagedFile) return { problem: error.message };
    throw error;
  }
}

function cubinOf(bytes: Uint8Array): Cubin {
  const elf = readElf(bytes);
  if (elf.machine !== cudaMachine) throw new DamagedFile(`it is for machine ${elf.machine}, not for a GPU`);
  const version = elf.abiVersion >= laterAbi ? (elf.flags >>> 8) & 0xff : elf.flags & 0xff;
  const symbols = readSymbols(elf);
  const sources = readLineTable(elf, symbols, '.debug_line');
  const ptx = readLineTable(elf, symbols, '.nv_debug_line_sass');
  const texts = elf.sections.filter(({ name }) => name.startsWith('.text.'));
  requireApart(texts);
  const bySection = new Map<number, ElfSymbol[]>();
  for (const symbol of symbols) {
    if (!symbol.isFunction) continue;
    const known = bySection.get(symbol.section);
    if (known) known.push(symbol);
    else bySection.set(symbol.section, [symbol]);
  }
  let runtimeAlone: boolean | undefined;
  return {
    arch: `sm_${version}`,
    functions: texts.flatMap((section) => functionsOf(section, bySection.get(section.index) ?? [], sources, ptx)),
    get callsRuntimeAlone() {
      return (runtimeAlone ??= namesRuntimeAlone(elf, symbols));
    },
    registers: registersOf(elf.sections, symbols),
  };
}

/** Rejects overlapping sections, whose code would be read several times: ptxas does not emit them. */
function requireApart(texts: readonly Section[]): void {
  const ordered = texts.filter(({ bytes }) => bytes.length > 0).sort((a, b) => a.offset - b.offset);
  for (const [index, { name, offset, bytes }] of ordered.entries()) {
    const next = ordered[index + 1];
    if (next && offset + bytes.length > next.offset) throw new DamagedFile(`its sections ${name} and ${next.name} overlap`);
  }
}

/** The functions of a section of code: bodies that follow the kernel have separate symbols. */
function functionsOf(
  { name, index, bytes, offset }: Section,
  symbols: readonly ElfSymbol[],
  sources: LineTable,
  ptx: LineTable,
): CodeFunction[] {
  const kernel = name.slice('.text.'.length);
  const starts = symbols.filter(({ value, size }) => size > 0 || value === 0).sort((a, b) => a.value - b.value || b.size - a.size);
  if (starts.length === 0 && bytes.length > 0) {
    starts.push({ name: kernel, isFunction: true, isGlobal: true, section: index, value: 0, size: bytes.length });
  }
  // Lists of rows that belong to no code are omitted once.
  const [sourceRows, ptxRows] = [sources.get(index) ?? [], ptx.get(index) ?? []];
  const [sourceRowAt, ptxRowAt] = [rowFinder(sourceRows), rowFinder(ptxRows)];
  const sourceAt = (address: number): Location | undefined => {
    const location = sourceRowAt(address)?.location;
    return location && location.line > 0 ? location : undefined;
  };
  const ptxLineAt = (address: number): number | undefined => {
    const line = ptxRowAt(address)?.location.line;
    return line !== undefined && line > 0 ? line : undefined;
  };
  const functions: CodeFunction[] = [];
  for (const [order, symbol] of starts.entries()) {
    const end = symbol.value + symbol.size;
    const next = starts[order + 1]?.value ?? bytes.length;
    if (symbol.value % instructionBytes !== 0 || symbol.size % instructionBytes !== 0) {
      throw new DamagedFile(`its function ${symbol.name} does not consist of instructions of 16 bytes`);
    }
    if (end > bytes.length) throw new DamagedFile(`its function ${symbol.name} lies outside of its section`);
    // The symbol of a kernel also covers the bodies that ptxas appends to the section.
    const size = Math.max(0, Math.min(end, next) - symbol.value);
    if (size === 0) continue;
    functions.push({
      symbol: symbol.name,
      isKernel: symbol.name === kernel,
      kernel,
      start: symbol.value,
      code: bytes.subarray(symbol.value, symbol.value + size),
      fileOffset: offset + symbol.value,
      sourceAt,
      ptxLineAt,
    });
  }
  return functions;
}

/** Functions provided by the driver: they print, assert and allocate, and do not access the memory of the program. */
const runtimeFunctions: ReadonlySet<string> = new Set(['vprintf', '__assertfail', '__assert_fail', 'malloc', 'free']);

/** Whether all functions whose address may be taken are functions of the driver; false if unknown. */
function namesRuntimeAlone(elf: ElfFile, symbols: readonly ElfSymbol[]): boolean {
  try {
    return areOfRuntime(elf, symbols);
  } catch (error) {
    if (error instanceof DamagedFile) return false;
    throw error;
  }
}

function areOfRuntime(elf: ElfFile, symbols: readonly ElfSymbol[]): boolean {
  return elf.sections
    .filter(({ name }) => !/^\.(?:nv_)?debug|^\.nv\.merc|^\.nv\.capmerc|^\.nv\.info/.test(name))
    .flatMap((section) => [...relocationsOf(elf, section).values()])
    .every(({ symbol }) => {
      const named = symbols[symbol];
      return !named?.isFunction || runtimeFunctions.has(named.name);
    });
}

/** Attribute of `.nv.info` with the number of registers of a function: its symbol, and the count. */
const registerCount = 0x2f;
/** An attribute with an explicit value size. */
const sizedValue = 4;

/**
 * The `.nv.info` attributes of the file. An attribute has two bytes, format and kind, and a value of two bytes or of a
 * size that follows.
 */
function registersOf(sections: readonly Section[], symbols: readonly ElfSymbol[]): Map<string, number> {
  const found = new Map<string, number>();
  const bytes = sections.find(({ name }) => name === '.nv.info')?.bytes;
  if (!bytes) return found;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 4 <= bytes.length;) {
    const size = view.getUint16(at + 2, true);
    const isSized = bytes[at] === sizedValue;
    if (isSized && bytes[at + 1] === registerCount && size >= 8 && at + 12 <= bytes.length) {
      const symbol = symbols[view.getUint32(at + 4, true)];
      if (symbol) found.set(symbol.name, view.getUint32(at + 8, true));
    }
    at += 4 + (isSized ? size : 0);
  }
  return found;
}
