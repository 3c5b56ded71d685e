/** Inputs common to both sides: parameters, special registers, sizes of the block and the grid. */
import type { Kernel } from '../../ir/form/kernel.ts';

/** Special registers by their number in bits 72 to 79. */
const specialRegisters: Readonly<Record<number, string>> = {
  0x00: 'laneid',
  0x21: 'tid.x',
  0x22: 'tid.y',
  0x23: 'tid.z',
  0x25: 'ctaid.x',
  0x26: 'ctaid.y',
  0x27: 'ctaid.z',
};

/** The leaf for a special register; undefined for unsupported ones. */
export function specialLeaf(register: number): string | undefined {
  const name = specialRegisters[register];
  return name === undefined ? undefined : `special ${name}`;
}

/** Offset of the kernel parameters in constant bank 0. */
function parametersFrom(version: number): number {
  if (version >= 100) return 0x380;
  return version >= 90 ? 0x210 : 0x160;
}

/** Dimensions of the block and the grid; they are contiguous in constant bank 0. */
const sizes = ['ntid.x', 'ntid.y', 'ntid.z', 'nctaid.x', 'nctaid.y', 'nctaid.z'];
const laterSizes = ['ntid.x', 'ntid.y', 'ntid.z', undefined, 'nctaid.x', 'nctaid.y', 'nctaid.z'];
const laterSizesFrom = 0x360;

/** A word of constant bank 0: a dimension, or a parameter by its offset in bytes. */
export type ConstantLeaf = { readonly kind: 'special'; readonly name: string } | { readonly kind: 'parameter'; readonly offset: number };

/** The meaning of a word of constant bank 0; null for other words. */
export function constantLeaf(version: number, offset: number): ConstantLeaf | null {
  const size = version >= 100 ? laterSizes[(offset - laterSizesFrom) / 4] : sizes[offset / 4];
  if (size !== undefined) return { kind: 'special', name: `special ${size}` };
  const from = parametersFrom(version);
  return offset >= from ? { kind: 'parameter', offset: offset - from } : null;
}

/** Maximum size of the parameters in bytes; larger parameters start elsewhere in the constant bank. */
export const maxParameterBytes = 4096;

/** Offsets of the parameters of a kernel from the first one, and their total size in bytes. */
export function parameterOffsets({ parameters }: Kernel): { readonly at: readonly number[]; readonly bytes: number } {
  let bytes = 0;
  const at = parameters.map((one) => {
    const offset = Math.ceil(bytes / one.alignment) * one.alignment;
    bytes = offset + one.bytes;
    return offset;
  });
  return { at, bytes };
}
