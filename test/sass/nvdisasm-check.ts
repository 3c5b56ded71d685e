/**
 * Compares Selvage's decoding of cubins with the output of NVIDIA's nvdisasm: mnemonics, guards, widths, targets,
 * source lines with their callers, lines of the PTX. For architectures that this nvdisasm does not support, it counts
 * the instructions with unknown codes.
 *
 *     node test/sass/nvdisasm-check.ts NVDISASM CUBIN…
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type CodeFunction, readCubin } from '../../src/sass/cubin/cubin.ts';
import { accessBits, sassGuard, instructionsOf, targetOf, versionOf } from '../../src/sass/instruction/decode.ts';

interface Printed {
  readonly text: string;
  readonly source: string;
  /** Whether it printed a place here: it does so only if the innermost line differs from the previous one. */
  readonly isPlaced: boolean;
  readonly ptxLine: string;
}

/** Results for one architecture. */
export interface Tally {
  instructions: number;
  other: number;
  readonly otherCodes: Map<string, number>;
  readonly differences: string[];
}

/**
 * Output of nvdisasm, by function's section and address, and the addresses of its labels; null if it does not support
 * the architecture. CUDA 12.4 supports those before sm_100.
 */
function printed(nvdisasm: string, file: string): Map<string, { at: Map<number, Printed>; labels: Map<string, number> }> | null {
  const asked = ['-g', '-gi', '-gp', '-hex', file];
  const { status, stdout: text } = spawnSync(nvdisasm, asked, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  if (status !== 0) return null;
  const sections = new Map<string, { at: Map<number, Printed>; labels: Map<string, number> }>();
  let current = { at: new Map<number, Printed>(), labels: new Map<string, number>() };
  let [source, ptxLine, isFresh] = ['', '', true];
  let waiting: string[] = [];
  for (const line of text.split('\n')) {
    const section = /^\t?\.section\s+\.text\.([^,\s]+)/.exec(line);
    if (section) {
      current = { at: new Map(), labels: new Map() };
      sections.set(section[1]!, current);
      [source, ptxLine] = ['', ''];
      continue;
    }
    const label = /^(\S+):$/.exec(line);
    if (label) waiting.push(label[1]!);
    const place = /^\s*\/\/## File "(.*?)", line (\d+)(?: inlined at "(.*?)", line (\d+))?/.exec(line);
    if (place) {
      const [, path, number, caller, callerLine] = place;
      if (path === '.nv_debug_ptx_txt') {
        ptxLine = number!;
        continue;
      }
      if (isFresh) source = `${path}:${number}${caller === undefined ? '' : ` < ${caller}:${callerLine}`}`;
      isFresh = false;
      continue;
    }
    const instruction = /^\s*\/\*([0-9a-f]{4,})\*\/\s+(.*?)\s*;?\s*\/\* 0x[0-9a-f]{16} \*\//.exec(line);
    if (!instruction) continue;
    const address = parseInt(instruction[1]!, 16);
    for (const name of waiting) current.labels.set(name, address);
    waiting = [];
    current.at.set(address, { text: instruction[2]!.replace(/^\{\s*/, ''), source, isPlaced: !isFresh, ptxLine });
    isFresh = true;
  }
  return sections;
}

const widths: Readonly<Record<string, number>> = { '.U8': 8, '.S8': 8, '.U16': 16, '.S16': 16, '.64': 64, '.128': 128 };

/** Bits of an access by its modifiers. */
function printedBits(modifiers: string): number {
  const words = modifiers.match(/\.[^.]+/g) ?? [];
  for (const word of words) {
    if (word in widths) return widths[word]!;
    if (/^\.(?:F64|S64|U64|F16x4|BF16x4|F32x2)/.test(word)) return 64;
    if (/^\.(?:F16x8|BF16x8|F32x4|U128)/.test(word)) return 128;
  }
  return 32;
}

const innermost = (place: string): string => place.split(' < ')[0]!;

const widthOf = /^(?:LDG|LD|LDS|LDL|LDC|ULDC|STG|ST|STS|STL|LDGSTS|ATOMG?|ATOMS|REDG?)$/;

function compare(one: CodeFunction, version: number, told: NonNullable<ReturnType<typeof printed>>, tally: Tally): void {
  const section = told.get(one.kernel);
  for (const instruction of instructionsOf(one, version)) {
    const { address, opcode, code } = instruction;
    tally.instructions++;
    const note = (what: string): unknown => tally.differences.push(`${one.symbol} ${address.toString(16)} ${code.toString(16)}: ${what}`);
    const expected = section?.at.get(address);
    if (!expected) {
      note('not printed');
      continue;
    }
    const [, negation, guard, name = '', modifiers = ''] = /^(?:@(!?)(U?P\w+)\s+)?([A-Z0-9_]+)([.\w]*)/.exec(expected.text) ?? [];
    const own = sassGuard(instruction);
    const ownGuard = own && `${own.negated ? '!' : ''}${own.register === 7 ? 'T' : own.register}`;
    const theirGuard = guard === undefined ? undefined : `${negation}${guard.replace(/^U?P/, '')}`;
    if (ownGuard !== theirGuard) note(`guard ${ownGuard}, not ${theirGuard}`);
    if (!opcode) {
      tally.other++;
      tally.otherCodes.set(`${code.toString(16)} ${name}`, (tally.otherCodes.get(`${code.toString(16)} ${name}`) ?? 0) + 1);
      continue;
    }
    if (opcode.mnemonic !== name) note(`${opcode.mnemonic}, not ${name}`);
    if (widthOf.test(name)) {
      const [mine, theirs] = [accessBits(instruction, version), printedBits(modifiers)];
      if (mine !== theirs) note(`${mine} bits, not ${theirs}: ${expected.text}`);
    }
    // A call through a register has only a base.
    const isDirect = /^(?:BRA|BSSY|CALL)$/.test(name) && !/CALL\S* U?R\d/.test(expected.text);
    const label = isDirect ? /`\((.*?)\)/.exec(expected.text)?.[1] : undefined;
    if (label !== undefined) {
      const [mine, theirs] = [targetOf(instruction, version), section!.labels.get(label)];
      if (theirs !== undefined && mine !== theirs) note(`to ${mine?.toString(16)}, not ${theirs.toString(16)}: ${expected.text}`);
    }
    const where = one.sourceAt(address);
    const caller = where?.inlinedAt;
    const line = where ? `${where.file}:${where.line}${caller ? ` < ${caller.file}:${caller.line}` : ''}` : '';
    const [mine, theirs] = expected.isPlaced ? [line, expected.source] : [line, expected.source].map(innermost);
    if (mine !== theirs) note(`source ${line}, not ${expected.source}`);
    const ptx = String(one.ptxLineAt(address) ?? '');
    if (ptx !== expected.ptxLine) note(`PTX line ${ptx}, not ${expected.ptxLine}`);
  }
}

/** Compares one file, if nvdisasm can read it; otherwise counts the unknown codes. */
export function checkFile(nvdisasm: string | undefined, file: string, tallies: Map<string, Tally>): void {
  const cubin = readCubin(readFileSync(file));
  if ('problem' in cubin) throw new Error(`${file}: ${cubin.problem}`);
  const version = versionOf(cubin.arch);
  const tally = tallies.get(cubin.arch) ?? { instructions: 0, other: 0, otherCodes: new Map(), differences: [] };
  tallies.set(cubin.arch, tally);
  const told = nvdisasm === undefined ? null : printed(nvdisasm, file);
  if (told) {
    for (const one of cubin.functions) compare(one, version, told, tally);
    return;
  }
  for (const one of cubin.functions) {
    for (const { opcode, code } of instructionsOf(one, version)) {
      tally.instructions++;
      if (opcode) continue;
      tally.other++;
      tally.otherCodes.set(code.toString(16), (tally.otherCodes.get(code.toString(16)) ?? 0) + 1);
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) {
  const [nvdisasm, ...files] = process.argv.slice(2);
  const tallies = new Map<string, Tally>();
  for (const file of files) checkFile(nvdisasm, file, tallies);
  for (const [arch, { instructions, other, otherCodes, differences }] of tallies) {
    const share = ((100 * other) / Math.max(1, instructions)).toFixed(2);
    const codes = [...otherCodes].sort(([, a], [, b]) => b - a).slice(0, 12);
    console.log(`${arch}: ${instructions} instructions, ${other} other (${share} %), ${differences.length} differences`);
    if (codes.length > 0) console.log(`  other: ${codes.map(([code, count]) => `${code} (${count})`).join(', ')}`);
    for (const difference of differences.slice(0, 12)) console.log(`  ${difference}`);
  }
}
