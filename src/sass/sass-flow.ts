/** The flow of control of a SASS function. */
import { wordBits, type SassGuard, type SassInstruction, sassGuard, targetOf } from './instruction/decode.ts';

interface SassBlock {
  /** Indices of the instructions of the block: from the first to before the end. */
  readonly first: number;
  readonly end: number;
  readonly successors: readonly number[];
  readonly predecessors: readonly number[];
  /** The guard of the branch at its end, and its target block; undefined if the branch has further conditions. */
  readonly branch?: SassGuard & { readonly taken: number };
}

export interface SassFlow {
  readonly instructions: readonly SassInstruction[];
  /** In the order of their addresses; the entry is the first. */
  readonly blocks: readonly SassBlock[];
  /** Why the control flow graph is incomplete; undefined if it is complete. */
  readonly unknown: string | undefined;
}

/**
 * Whether a branch or an exit has a condition in addition to its guard. The further operand is in bits 87 to 89, 7 for
 * "always".
 */
function hasOtherCondition(instruction: SassInstruction): boolean {
  const { code } = instruction;
  // A branch on a uniform predicate: bits 24 to 26.
  if (code === 0x547) return wordBits(instruction, 24, 3) !== 7;
  if (wordBits(instruction, 87, 3) !== 7) return true;
  // `.DIV` is taken if lanes diverge, `.CONV` if they do not.
  return code === 0x947 && wordBits(instruction, 32, 2) >= 2;
}

/** The low nine bits of operations that transfer control are between these numbers. */
const [firstOfControl, lastOfControl] = [0x140, 0x15f];

/**
 * Finds the blocks of a function and their successors.
 * @param instructions of the function, ascending by address
 */
export function flowOf(instructions: readonly SassInstruction[], version: number): SassFlow {
  const count = instructions.length;
  const start = count === 0 ? 0 : instructions[0]!.address;
  let unknown: string | undefined;
  /** By index: whether a block begins at an instruction, and whether one ends there. */
  const begins = new Uint8Array(count + 1);
  begins[0] = 1;
  const ends = new Map<number, { readonly target: number | undefined; readonly falls: boolean }>();
  for (let index = 0; index < count; index++) {
    const instruction = instructions[index]!;
    const { code } = instruction;
    if ((code & 0x1ff) < firstOfControl || (code & 0x1ff) > lastOfControl) continue;
    const { opcode } = instruction;
    if (!opcode) {
      unknown ??= `an instruction of unknown code 0x${code.toString(16)} that may branch`;
      continue;
    }
    const { kind } = opcode;
    if (kind !== 'branch' && kind !== 'exit' && kind !== 'return') continue;
    const falls = sassGuard(instruction) !== undefined || hasOtherCondition(instruction);
    let target: number | undefined;
    if (kind === 'branch') {
      const address = targetOf(instruction, version);
      const found = address === undefined ? NaN : (address - start) / 16;
      if (address === undefined) unknown ??= 'an indirect branch';
      else if (Number.isInteger(found) && found >= 0 && found < count) begins[(target = found)] = 1;
      else unknown ??= 'a branch out of the function';
    }
    ends.set(index, { target, falls });
    begins[index + 1] = 1;
  }
  const firsts: number[] = [];
  const blockAt = new Map<number, number>();
  for (let index = 0; index < count; index++) {
    if (begins[index] === 0) continue;
    blockAt.set(index, firsts.length);
    firsts.push(index);
  }
  const predecessors: number[][] = firsts.map(() => []);
  const blocks: SassBlock[] = [];
  for (let block = 0; block < firsts.length; block++) {
    const end = firsts[block + 1] ?? count;
    const last = ends.get(end - 1);
    const target = last?.target === undefined ? undefined : blockAt.get(last.target);
    const next = (!last || last.falls) && end < count ? block + 1 : undefined;
    const successors: number[] = [];
    if (target !== undefined) successors.push(target);
    if (next !== undefined && next !== target) successors.push(next);
    for (const successor of successors) predecessors[successor]!.push(block);
    const found = { first: firsts[block]!, end, successors, predecessors: predecessors[block]! };
    const branch = target === undefined || target === block + 1 ? undefined : instructions[end - 1]!;
    const guard = branch && !hasOtherCondition(branch) ? sassGuard(branch) : undefined;
    blocks.push(guard ? { ...found, branch: { ...guard, taken: target! } } : found);
  }
  return { instructions, blocks, unknown };
}
