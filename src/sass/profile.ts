/** What a kernel executes, by source line. */
import { type Location, outermost, outsideToolkit } from '../source/location.ts';
import type { CodeFunction, Cubin } from './cubin/cubin.ts';
import { flowOf } from './control-flow.ts';
import {
  accessBits,
  instructionsOf,
  type SassInstruction,
  sassGuard,
  targetOf,
  versionOf,
} from './instruction/decode.ts';
import { registerUse } from './instruction/operands.ts';
import { liveRegisters } from './registers.ts';
import { loopPlaces } from './loops.ts';

/** Kinds of work that are counted; loads and stores by space and width. */
export type WorkKind =
  | `${'load' | 'store'} ${'global' | 'shared' | 'generic' | 'constant' | 'surface'} ${number}`
  | `spill ${'load' | 'store'}`
  | 'atomic' | 'copy' | 'barrier' | 'fence' | 'double' | 'special' | 'division' | 'call' | 'tensor' | 'texture'
  | 'conversion' | 'uniform' | 'guarded' | 'other'; // prettier-ignore

export interface LineProfile {
  /** Where the user wrote it; undefined for code that belongs to no line. */
  readonly location: Location | undefined;
  readonly instructions: number;
  readonly work: ReadonlyMap<WorkKind, number>;
  /** Of the deepest of its instructions: the loops around it, and whether the last one holds no other. */
  readonly depth: number;
  readonly isInner: boolean;
}

export interface CodeProfile {
  readonly arch: string;
  readonly instructions: number;
  readonly registers: number | undefined;
  /** Bytes that registers are spilled to, where somebody says; without that, local memory may hold arrays as well. */
  readonly spillBytes?: number;
  /** The most registers that are live at once, and where; absent where nobody knows the operands of some instruction. */
  readonly live?: { readonly registers: number; readonly location: Location | undefined };
  /** Of all lines. */
  readonly work: ReadonlyMap<WorkKind, number>;
  /** By file and line. */
  readonly lines: readonly LineProfile[];
}

const spaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic', 'constant', 'surface']);

function workOf(
  instruction: SassInstruction,
  version: number,
  calleeAt: (address: number) => string | undefined,
): WorkKind[] {
  const { opcode } = instruction;
  if (!opcode) return ['other'];
  const found: WorkKind[] = [];
  const { kind, space } = opcode;
  if (kind === 'load' || kind === 'store') {
    if (space === 'local') found.push(`spill ${kind}`);
    else if (spaces.has(space) && space !== 'constant') {
      found.push(`${kind} ${space as 'global'} ${accessBits(instruction, version) ?? 32}`);
    }
  } else if (kind === 'call') {
    const target = targetOf(instruction, version);
    const callee = target === undefined ? undefined : calleeAt(target);
    found.push(callee !== undefined && /div|rcp|rem|sqrt/.test(callee) ? 'division' : 'call');
  } else if (kind === 'convert') found.push('conversion');
  else if (
    kind === 'atomic' || kind === 'copy' || kind === 'barrier' || kind === 'fence' || kind === 'double' ||
    kind === 'special' || kind === 'tensor' || kind === 'texture'
  ) found.push(kind); // prettier-ignore
  if (opcode.uniform) found.push('uniform');
  if (sassGuard(instruction) && kind !== 'branch' && kind !== 'exit') found.push('guarded');
  return found;
}

/** Fillers behind the end: NOPs, and a branch to itself. */
function withoutPadding(instructions: readonly SassInstruction[], version: number): readonly SassInstruction[] {
  let end = instructions.length;
  while (end > 0) {
    const one = instructions[end - 1]!;
    const isLoop = one.opcode?.mnemonic === 'BRA' && targetOf(one, version) === one.address;
    if (one.opcode?.mnemonic !== 'NOP' && !isLoop) break;
    end--;
  }
  return instructions.slice(0, end);
}

/** The functions of a kernel: itself, then the bodies that ptxas appended to it. */
function functionsOfKernel({ functions }: Cubin, symbol: string): readonly CodeFunction[] {
  const own = functions.filter(({ kernel }) => kernel === symbol);
  return own.toSorted((a, b) => Number(b.isKernel) - Number(a.isKernel));
}

/**
 * Counts what a kernel executes.
 * @param symbol of the kernel
 * @returns null where the cubin has no such kernel
 */
export function profileOf(cubin: Cubin, symbol: string): CodeProfile | null {
  const functions = functionsOfKernel(cubin, symbol);
  const [kernel] = functions;
  if (!kernel?.isKernel) return null;
  const version = versionOf(cubin.arch);
  const starts = new Map(functions.map((one) => [one.start, one.symbol]));
  const work = new Map<WorkKind, number>();
  const lines = new Map<string, { location: Location | undefined; instructions: number; work: Map<WorkKind, number>; depth: number; isInner: boolean }>(); // prettier-ignore
  let total = 0;
  for (const one of functions) {
    const instructions = withoutPadding(instructionsOf(one, version), version);
    const flow = flowOf(instructions, version);
    const places = loopPlaces(flow);
    for (const [index, { first, end }] of flow.blocks.entries()) {
      for (const instruction of instructions.slice(first, end)) {
        total++;
        const place = one.isKernel ? one.sourceAt(instruction.address) : undefined;
        const location = place && (outsideToolkit(place) ?? outermost(place));
        const key = location ? `${location.file}\n${location.line}` : '';
        const { depth, isInner } = places[index]!;
        const line = lines.get(key) ?? {
          location,
          instructions: 0,
          work: new Map<WorkKind, number>(),
          depth: 0,
          isInner: false,
        };
        lines.set(key, line);
        line.instructions++;
        if (depth > line.depth) [line.depth, line.isInner] = [depth, isInner];
        for (const kind of workOf(instruction, version, (address) => starts.get(address))) {
          work.set(kind, (work.get(kind) ?? 0) + 1);
          line.work.set(kind, (line.work.get(kind) ?? 0) + 1);
        }
      }
    }
  }
  const ordered = [...lines.values()].sort(
    (a, b) =>
      Number(!a.location) - Number(!b.location) ||
      (a.location && b.location
        ? a.location.file.localeCompare(b.location.file, 'en') || a.location.line - b.location.line
        : 0),
  );
  const live = mostLive(kernel, version);
  return {
    ...(live && { live }),
    arch: cubin.arch,
    instructions: total,
    registers: cubin.registers.get(symbol),
    work,
    lines: ordered,
  };
}

/** Where most registers of a kernel are live; null where its code does not show it. */
function mostLive(kernel: CodeFunction, version: number): CodeProfile['live'] | null {
  const flow = flowOf(instructionsOf(kernel, version), version);
  const live = flow.unknown === undefined ? liveRegisters(flow, flow.instructions.map((one) => registerUse(one, version))) : null; // prettier-ignore
  if (!live || live.length === 0) return null;
  const worst = live.reduce((best, count, index) => (count > live[best]! ? index : best), 0);
  const place = kernel.sourceAt(flow.instructions[worst]!.address);
  return { registers: live[worst]!, location: place && (outsideToolkit(place) ?? outermost(place)) };
}
