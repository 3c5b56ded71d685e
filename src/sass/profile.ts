/** Instructions of a kernel, by source line. */
import { type Location, outermost, outsideToolkit } from '../source/location.ts';
import type { CodeFunction, Cubin } from './cubin/cubin.ts';
import { flowOf, type SassFlow } from './sass-flow.ts';
import { accessBits, instructionsOf, type SassInstruction, targetOf, versionOf } from './instruction/decode.ts';
import type { Opcode } from './instruction/opcode-table.ts';
import { liveRegisters } from './register-liveness.ts';
import { loopPlaces, loopsOf } from './sass-loops.ts';

/** Kinds of work that are counted; loads and stores by space and width. */
export type WorkKind =
  | `${'load' | 'store'} ${'global' | 'shared' | 'generic' | 'constant' | 'surface'} ${number}`
  | `spill ${'load' | 'store'}`
  | 'atomic'
  | 'copy'
  | 'barrier'
  | 'fence'
  | 'double'
  | 'special'
  | 'division'
  | 'call'
  | 'tensor'
  | 'texture'
  | 'conversion'
  | 'uniform'
  | 'guarded'
  | 'other';

export interface LineProfile {
  /** Location in the user's source; undefined for code that belongs to no line. */
  readonly location: Location | undefined;
  readonly instructions: number;
  readonly work: ReadonlyMap<WorkKind, number>;
  /** Instructions in ascending order of their addresses. */
  readonly code: readonly SassInstruction[];
  /**
   * Maximum number of loops around an instruction of the line, and whether the innermost of them contains no further
   * loop.
   */
  readonly depth: number;
  readonly isInner: boolean;
  /**
   * Maximum trip counts of those loops, if known: of the innermost loop each time it is entered, and the product over
   * all loops.
   */
  readonly rounds?: { readonly inner: Repetition; readonly all: Repetition };
}

/**
 * A bound in the parameters of the kernel: its text, and its value at the reference sizes (1000 for unspecified
 * parameters).
 */
export interface Repetition {
  readonly bound: string;
  /** Null if the reference sizes do not determine it. */
  readonly value: number | null;
  readonly weight: number;
}

export interface CodeProfile {
  readonly arch: string;
  /** The number in the name of the architecture. */
  readonly version: number;
  readonly instructions: number;
  readonly registers: number | undefined;
  /** Bytes of spilled registers, if known; otherwise local memory may contain arrays as well. */
  readonly spillBytes?: number;
  /**
   * The maximum number of live registers, and its location, computed on demand; undefined if the operands of some
   * instruction are unknown.
   */
  readonly live?: { readonly registers: number; readonly location: Location | undefined } | undefined;
  /** Work of all lines. */
  readonly work: ReadonlyMap<WorkKind, number>;
  /** By file and line. */
  readonly lines: readonly LineProfile[];
}

const spaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic', 'constant', 'surface']);

/** Cached work by operation and the bits that vary it, which most instructions share. */
const works = new Map<Opcode, (readonly WorkKind[] | undefined)[]>();

/** The kinds of work of an instruction. */
function workOf(instruction: SassInstruction, version: number, calleeAt: (address: number) => string | undefined): readonly WorkKind[] {
  const { opcode } = instruction;
  if (!opcode) return unknownWork;
  const { kind, space } = opcode;
  const bits = (kind === 'load' || kind === 'store') && spaces.has(space) ? (accessBits(instruction, version) ?? 32) : 0;
  // The guard `PT` is 7, without the negation bit.
  const isGuarded = ((instruction.text[instruction.at]! >>> 12) & 15) !== 7 && kind !== 'branch' && kind !== 'exit';
  const isDivision = kind === 'call' && divides(instruction, version, calleeAt);
  const variant = bits * 4 + (isGuarded ? 2 : 0) + (isDivision ? 1 : 0);
  let variants = works.get(opcode);
  if (!variants) works.set(opcode, (variants = []));
  return (variants[variant] ??= kindsOf(opcode, bits, isGuarded, isDivision));
}

function divides(call: SassInstruction, version: number, calleeAt: (address: number) => string | undefined): boolean {
  const target = targetOf(call, version);
  const callee = target === undefined ? undefined : calleeAt(target);
  return callee !== undefined && /div|rcp|rem|sqrt/.test(callee);
}

const unknownWork: readonly WorkKind[] = ['other'];

function kindsOf({ kind, space, uniform }: Opcode, bits: number, isGuarded: boolean, isDivision: boolean): WorkKind[] {
  const found: WorkKind[] = [];
  if (kind === 'load' || kind === 'store') {
    if (space === 'local') found.push(`spill ${kind}`);
    else if (spaces.has(space) && space !== 'constant') found.push(`${kind} ${space as 'global'} ${bits}`);
  } else if (kind === 'call') found.push(isDivision ? 'division' : 'call');
  else if (kind === 'convert') found.push('conversion');
  else if (
    kind === 'atomic' ||
    kind === 'copy' ||
    kind === 'barrier' ||
    kind === 'fence' ||
    kind === 'double' ||
    kind === 'special' ||
    kind === 'tensor' ||
    kind === 'texture'
  )
    found.push(kind);
  if (uniform) found.push('uniform');
  if (isGuarded) found.push('guarded');
  return found;
}

/** Instructions without the padding after the end of the function: NOPs, and a branch to itself. */
export function withoutPadding(instructions: readonly SassInstruction[], version: number): readonly SassInstruction[] {
  let end = instructions.length;
  while (end > 0) {
    const one = instructions[end - 1]!;
    const isLoop = one.opcode?.mnemonic === 'BRA' && targetOf(one, version) === one.address;
    if (one.opcode?.mnemonic !== 'NOP' && !isLoop) break;
    end--;
  }
  return end === instructions.length ? instructions : instructions.slice(0, end);
}

/** The functions of a kernel: itself, then the bodies that ptxas appended to it. */
function functionsOfKernel({ functions }: Cubin, symbol: string): readonly CodeFunction[] {
  const own = functions.filter(({ kernel }) => kernel === symbol);
  return own.length === 1 ? own : own.sort((a, b) => Number(b.isKernel) - Number(a.isKernel));
}

interface MutableLine {
  readonly location: Location | undefined;
  instructions: number;
  readonly work: Map<WorkKind, number>;
  readonly code: SassInstruction[];
  depth: number;
  isInner: boolean;
}

/**
 * Counts the instructions of a kernel.
 * @param symbol of the kernel
 * @returns null if the cubin has no such kernel
 */
export function profileOf(cubin: Cubin, symbol: string): CodeProfile | null {
  const functions = functionsOfKernel(cubin, symbol);
  const [kernel] = functions;
  if (!kernel?.isKernel) return null;
  const version = versionOf(cubin.arch);
  const calleeAt = (address: number): string | undefined => functions.findLast(({ start }) => start === address)?.symbol;
  const work = new Map<WorkKind, number>();
  const lines = new Map<string, MutableLine>();
  let total = 0;
  let flowOfKernel: SassFlow | undefined;
  for (const one of functions) {
    const instructions = withoutPadding(instructionsOf(one, version), version);
    const flow = flowOf(instructions, version);
    if (one === kernel) flowOfKernel = flow;
    const places = loopPlaces(flow, loopsOf(flow));
    total += instructions.length;
    /** Cached by row of the line table, since consecutive instructions usually share a row. */
    let place: Location | undefined;
    let line: MutableLine | undefined;
    for (let block = 0; block < places.length; block++) {
      const { first, end } = flow.blocks[block]!;
      const { depth, isInner } = places[block]!;
      for (let at = first; at < end; at++) {
        const instruction = instructions[at]!;
        const own = one.isKernel ? one.sourceAt(instruction.address) : undefined;
        if (!line || own !== place) {
          place = own;
          line = lineOf(lines, place);
        }
        line.instructions++;
        line.code.push(instruction);
        if (depth > line.depth) {
          line.depth = depth;
          line.isInner = isInner;
        }
        const kinds = workOf(instruction, version, calleeAt);
        for (let index = 0; index < kinds.length; index++) {
          const kind = kinds[index]!;
          work.set(kind, (work.get(kind) ?? 0) + 1);
          line.work.set(kind, (line.work.get(kind) ?? 0) + 1);
        }
      }
    }
  }
  const ordered = [...lines.values()].sort(
    (a, b) =>
      Number(!a.location) - Number(!b.location) ||
      (a.location && b.location ? order(a.location.file, b.location.file) || a.location.line - b.location.line : 0),
  );
  let live: CodeProfile['live'] | null = null;
  return {
    get live() {
      if (flowOfKernel) live = mostLive(kernel, flowOfKernel, version);
      flowOfKernel = undefined;
      return live ?? undefined;
    },
    arch: cubin.arch,
    version,
    instructions: total,
    registers: cubin.registers.get(symbol),
    work,
    lines: ordered,
  };
}

/** The counts of the source line at a place. */
function lineOf(lines: Map<string, MutableLine>, place: Location | undefined): MutableLine {
  const location = place && (outsideToolkit(place) ?? outermost(place));
  const key = location ? `${location.file}\n${location.line}` : '';
  let line = lines.get(key);
  if (!line) {
    line = { location, instructions: 0, work: new Map(), code: [], depth: 0, isInner: false };
    lines.set(key, line);
  }
  return line;
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The location with the most live registers of a kernel; null if unknown. */
function mostLive(kernel: CodeFunction, flow: SassFlow, version: number): CodeProfile['live'] | null {
  const live = flow.unknown === undefined ? liveRegisters(flow, version) : null;
  if (!live || live.length === 0) return null;
  let worst = 0;
  for (let index = 1; index < live.length; index++) if (live[index]! > live[worst]!) worst = index;
  const place = kernel.sourceAt(flow.instructions[worst]!.address);
  return { registers: live[worst]!, location: place && (outsideToolkit(place) ?? outermost(place)) };
}
