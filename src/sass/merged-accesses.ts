/**
 * Accesses that the assembler merged: four adjacent loads of 32 bits become one of 128. Their cost is that of the
 * single access.
 */
import type { Instruction, Kernel } from '../ir/form/kernel.ts';
import type { Cubin } from './cubin/cubin.ts';
import { rootOf } from './displacements.ts';
import { accessBits, instructionsOf, versionOf } from './instruction/decode.ts';

/**
 * By merged access of the PTX: the number of bytes per lane if it represents the merged access; 0 if another one does.
 */
export type MergedAccesses = ReadonlyMap<Instruction, number>;

interface PlacedAccess {
  readonly instruction: Instruction;
  /** Offset from the root in bytes. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * Finds the accesses of shared and global memory that were merged. The SASS of such an access has one width on its
 * line, and the adjacent accesses have no separate SASS.
 */
export function mergedAccesses(kernel: Kernel, cubin: Cubin): MergedAccesses {
  const merged = new Map<Instruction, number>();
  const code = cubin.functions.find(({ symbol, isKernel }) => isKernel && symbol === kernel.symbol);
  if (!code) return merged;
  const version = versionOf(cubin.arch);
  const widths = new Map<number, Set<number>>();
  for (const instruction of instructionsOf(code, version)) {
    const { opcode, address } = instruction;
    if (opcode?.kind !== 'load' && opcode?.kind !== 'store') continue;
    const line = code.ptxLineAt(address);
    if (line === undefined || opcode.space === 'local' || opcode.space === 'constant') continue;
    widths.set(line, (widths.get(line) ?? new Set()).add((accessBits(instruction, version) ?? 0) / 8));
  }
  for (const { instructions } of kernel.blocks) {
    for (const group of groupsOf(kernel, instructions)) {
      const [{ at: first }] = group as [PlacedAccess];
      const byPlace = new Map(group.map((access) => [access.at, access]));
      for (const access of group) {
        const own = widths.get(access.instruction.ptxLine);
        const [width = 0] = own ?? [];
        if (own?.size !== 1 || width <= access.bytes || width > 16) continue;
        const start = first + Math.floor((access.at - first) / width) * width;
        const members: PlacedAccess[] = [];
        for (let at = start; at < start + width; at += access.bytes) {
          const member = byPlace.get(at);
          if (member?.bytes === access.bytes && !merged.has(member.instruction)) members.push(member);
        }
        const isWhole = members.length * access.bytes === width;
        if (!isWhole || members.some((one) => one !== access && widths.has(one.instruction.ptxLine))) continue;
        for (const [index, { instruction }] of members.entries()) merged.set(instruction, index === 0 ? width : 0);
      }
    }
  }
  return merged;
}

/** Loads, and stores, of a block, grouped by root, in ascending order of their distance from the root. */
function groupsOf(kernel: Kernel, instructions: readonly Instruction[]): PlacedAccess[][] {
  const groups = new Map<string, PlacedAccess[]>();
  for (const instruction of instructions) {
    const { effect } = instruction.operation;
    if ((effect.kind !== 'load' && effect.kind !== 'store') || (effect.space !== 'shared' && effect.space !== 'global')) continue;
    const [address] = instruction.arguments;
    const found = address && rootOf(kernel, address);
    if (!found) continue;
    const key = `${effect.kind} ${effect.space} ${found.root}`;
    const access = { instruction, at: Number(BigInt.asIntN(32, found.added + instruction.offset)), bytes: effect.bytes * effect.lanes };
    const group = groups.get(key);
    if (group) group.push(access);
    else groups.set(key, [access]);
  }
  return [...groups.values()].map((group) => group.sort((a, b) => a.at - b.at));
}
