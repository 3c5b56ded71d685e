/**
 * Copies of an iteration. Ptxas unrolls loops, and duplicates code after branches. The stores and atomics of one PTX
 * block are executed equally often, so each path of the SASS has an equal number of each. A path with fewer of one has
 * lost it.
 */
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { accessBits, type SassInstruction, sassGuard } from '../instruction/decode.ts';

const accessSpaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic']);

function isAccess({ operation: { effect } }: Instruction): boolean {
  return (effect.kind === 'store' || effect.kind === 'load') && accessSpaces.has(effect.space);
}

/**
 * Finds PTX lines of stores that some path of the SASS executes less often than other stores of the same block.
 * @param lineOf the PTX line of an instruction
 */
export function fewerCopies(
  kernel: Kernel,
  flow: SassFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
): number[] {
  const times = new Map<number, number>();
  for (const { instructions } of kernel.blocks) for (const { ptxLine } of instructions) times.set(ptxLine, (times.get(ptxLine) ?? 0) + 1);
  const present = new Map<number, SassInstruction[]>();
  for (const one of flow.instructions) {
    const line = isAccessCode(one) ? lineOf(one) : undefined;
    if (line === undefined) continue;
    const known = present.get(line);
    if (known) known.push(one);
    else present.set(line, [one]);
  }
  return kernel.blocks.flatMap(({ instructions }) => {
    // Excluded are split stores and merged ones, whose number of copies differs, and guarded ones, which may be
    // omitted.
    const accesses = instructions.flatMap((one) => {
      const { effect } = one.operation;
      const copies = present.get(one.ptxLine);
      if (!isAccess(one) || !('lanes' in effect) || !copies || times.get(one.ptxLine) !== 1) return [];
      const bits = effect.bytes * effect.lanes * 8;
      const isWhole = copies.every((copy) => copy.opcode!.kind === effect.kind && accessBits(copy, version) === bits && !sassGuard(copy));
      return isWhole ? [{ line: one.ptxLine, isStore: effect.kind === 'store', copies: copies.length }] : [];
    });
    const most = Math.max(0, ...accesses.map(({ copies }) => copies));
    // Ptxas may replace a load by another one, but does not add loads.
    const [first] = accesses.filter(({ copies }) => copies === most);
    return accesses.flatMap(({ line, isStore, copies }) =>
      isStore && copies < most && !isBalanced(flow, lineOf, first!.line, line) ? [line] : [],
    );
  });
}

function isAccessCode({ opcode }: SassInstruction): boolean {
  return (opcode?.kind === 'store' || opcode?.kind === 'load') && accessSpaces.has(opcode.space);
}

/** Whether each path from the start to an end has equal numbers of stores of two lines. */
function isBalanced(
  { instructions, blocks }: SassFlow,
  lineOf: (instruction: SassInstruction) => number | undefined,
  one: number,
  other: number,
): boolean {
  /** By block: the difference between the execution counts of the two lines before it. */
  const before: (number | undefined)[] = blocks.map(() => undefined);
  before[0] = 0;
  const work = [0];
  while (work.length > 0) {
    const block = work.pop()!;
    const { first, end, successors } = blocks[block]!;
    let sum = before[block]!;
    for (let at = first; at < end; at++) {
      const { opcode } = instructions[at]!;
      if (opcode?.kind === 'exit' && sum !== 0) return false;
      if (!isAccessCode(instructions[at]!)) continue;
      const line = lineOf(instructions[at]!);
      if (line === one) sum++;
      else if (line === other) sum--;
    }
    for (const successor of successors) {
      if (before[successor] === undefined) {
        before[successor] = sum;
        work.push(successor);
      } else if (before[successor] !== sum) return false;
    }
  }
  return true;
}
