/**
 * Whether accesses that share a base register in the SASS have the same distances as in the PTX. If two accesses to one
 * array were exchanged, each has the displacement of the other.
 */
import type { Instruction, Kernel, Operand } from '../ir/form/kernel.ts';
import { type SassInstruction, wordBits } from './instruction/decode.ts';
import { displacementAt } from './instruction/operands.ts';

/** An access of the SASS with the single PTX instruction of its line. */
export interface PlacedAccess {
  readonly instruction: SassInstruction;
  readonly ptx: Instruction;
  /** Origin of its address in the SASS without the displacement; addresses with equal strings are equal. */
  readonly base: string;
}

/** The root of an address of the PTX, and the number of bytes added to the root. */
export function rootOf(kernel: Kernel, from: Operand): { readonly root: string; readonly added: bigint } | null {
  let operand = from;
  let added = 0n;
  for (;;) {
    if (operand.kind === 'address') return { root: `object ${operand.object}`, added: added + operand.offset };
    if (operand.kind !== 'value') return null;
    const { definition } = kernel.values[operand.id]!;
    if (definition.kind === 'phi') return { root: `value ${operand.id}`, added };
    const { operation, arguments: values } = definition.instruction;
    const [left, right] = values;
    if (!/^add\.[bsu](?:32|64)$/.test(operation.mnemonic) || right?.kind !== 'constant') return { root: `value ${operand.id}`, added };
    added += BigInt.asIntN(64, right.value);
    operand = left!;
  }
}

/** The accesses whose displacement differs from that of most accesses with the same base. */
export function misplaced(kernel: Kernel, accesses: readonly PlacedAccess[]): PlacedAccess[] {
  const groups = new Map<string, { readonly access: PlacedAccess; readonly shift: number }[]>();
  for (const access of accesses) {
    const { instruction, ptx, base } = access;
    const [address] = ptx.arguments;
    const found = address && rootOf(kernel, address);
    if (!found) continue;
    const high = wordBits(instruction, displacementAt(instruction), 24);
    const own = high >= 2 ** 23 ? high - 2 ** 24 : high;
    const shift = own - Number(BigInt.asIntN(32, found.added + ptx.offset));
    const key = `${base}\n${found.root}`;
    const group = groups.get(key);
    if (group) group.push({ access, shift });
    else groups.set(key, [{ access, shift }]);
  }
  return [...groups.values()].flatMap((group) => {
    const times = new Map<number, number>();
    for (const { shift } of group) times.set(shift, (times.get(shift) ?? 0) + 1);
    if (times.size === 1) return [];
    const [usual] = [...times].reduce((best, one) => (one[1] > best[1] ? one : best));
    return group.filter(({ shift }) => shift !== usual).map(({ access }) => access);
  });
}
