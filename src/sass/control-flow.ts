/** The flow of control of a SASS function. */
import { wordBits, type SassGuard, type SassInstruction, sassGuard, targetOf } from './instruction/decode.ts';

interface SassBlock {
  /** Indices of its instructions: from the first to before the end. */
  readonly first: number;
  readonly end: number;
  readonly successors: readonly number[];
  readonly predecessors: readonly number[];
  /** The guard of the branch at its end, and the block that it leads to; undefined where something else decides, too. */
  readonly branch?: SassGuard & { readonly taken: number };
}

export interface SassFlow {
  readonly instructions: readonly SassInstruction[];
  /** In the order of their addresses; the entry is the first. */
  readonly blocks: readonly SassBlock[];
  /** Why it is not all of the flow; undefined where it is. */
  readonly unknown: string | undefined;
}

/** Whether more than its guard decides of a branch or an exit. The other operand is in bits 87 to 89, 7 for "always". */
function hasOtherCondition(instruction: SassInstruction): boolean {
  const { code } = instruction;
  // A branch on a uniform predicate: bits 24 to 26.
  if (code === 0x547) return wordBits(instruction, 24, 3) !== 7;
  if (wordBits(instruction, 87, 3) !== 7) return true;
  // `.DIV` is taken where lanes diverge, `.CONV` where they do not.
  return code === 0x947 && wordBits(instruction, 32, 2) >= 2;
}

/** Low nine bits between these name operations that lead elsewhere. */
const [firstOfControl, lastOfControl] = [0x140, 0x15f];

/**
 * Finds the blocks of a function and where each leads.
 * @param instructions of the function, ascending by address
 */
export function flowOf(instructions: readonly SassInstruction[], version: number): SassFlow {
  const [{ address: start } = { address: 0 }] = instructions;
  const indexOf = (address: number): number | undefined => {
    const index = (address - start) / 16;
    return Number.isInteger(index) && index >= 0 && index < instructions.length ? index : undefined;
  };
  let unknown: string | undefined;
  const leaders = new Set([0]);
  const ends = new Map<number, { readonly target?: number; readonly falls: boolean }>();
  for (let index = 0; index < instructions.length; index++) {
    const instruction = instructions[index]!;
    const { opcode, code } = instruction;
    if (!opcode) {
      const operation = code & 0x1ff;
      if (operation >= firstOfControl && operation <= lastOfControl)
        unknown ??= `an instruction of unknown code 0x${code.toString(16)} that may branch`;
      continue;
    }
    const { kind } = opcode;
    if (kind !== 'branch' && kind !== 'exit' && kind !== 'return') continue;
    const falls = sassGuard(instruction) !== undefined || hasOtherCondition(instruction);
    if (kind !== 'branch') ends.set(index, { falls });
    else {
      const address = targetOf(instruction, version);
      const target = address === undefined ? undefined : indexOf(address);
      if (address === undefined) unknown ??= 'an indirect branch';
      else if (target === undefined) unknown ??= 'a branch out of the function';
      if (target !== undefined) leaders.add(target);
      ends.set(index, { ...(target === undefined ? {} : { target }), falls });
    }
    leaders.add(index + 1);
  }
  const firsts = [...leaders].filter((index) => index < instructions.length).sort((a, b) => a - b);
  const blockAt = new Map(firsts.map((first, block) => [first, block]));
  const predecessors: number[][] = firsts.map(() => []);
  const blocks = firsts.map((first, block) => {
    const end = firsts[block + 1] ?? instructions.length;
    const last = ends.get(end - 1);
    const successors = new Set<number>();
    if (last?.target !== undefined) successors.add(blockAt.get(last.target)!);
    if ((!last || last.falls) && end < instructions.length) successors.add(block + 1);
    for (const successor of successors) predecessors[successor]!.push(block);
    const guard = last?.target === undefined ? undefined : sassGuard(instructions[end - 1]!);
    const taken = last?.target === undefined ? undefined : blockAt.get(last.target);
    const decides = guard && taken !== undefined && taken !== block + 1 && !hasOtherCondition(instructions[end - 1]!);
    return {
      first,
      end,
      successors: [...successors],
      predecessors: predecessors[block]!,
      ...(decides && { branch: { ...guard, taken } }),
    };
  });
  return { instructions, blocks, unknown };
}
