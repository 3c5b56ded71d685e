import type { Width } from '../isa/domain.ts';
import { referenceDomain } from '../isa/reference-domain.ts';

/** Packed types are computed half by half. */
function halves(type: string): string | null {
  return type.endsWith('x2') ? type.slice(0, -2) : null;
}

/**
 * What an atomic operation stores (PTX ISA 9.7.13, atom).
 *
 * @param operation `add min max inc dec exch cas and or xor`
 * @param type of the operands, for example `s32` or `f16x2`
 * @param bits of the type
 * @param b only for `cas`: stored if the old value equals `a`
 */
export function atomicResult(operation: string, type: string, bits: number, old: bigint, a: bigint, b = 0n): bigint {
  const half = halves(type);
  if (half) {
    const width = bits / 2;
    const part = (value: bigint, index: number): bigint => BigInt.asUintN(width, value >> BigInt(width * index));
    const [low, high] = [0, 1].map((index) => atomicResult(operation, half, width, part(old, index), part(a, index)));
    return low! | (high! << BigInt(width));
  }
  const float = type.startsWith('f') || type.startsWith('bf');
  const signed = type.startsWith('s');
  switch (operation) {
    case 'add':
      if (!float) return BigInt.asUintN(bits, old + a);
      return referenceDomain.float({ name: 'add', from: type, to: type, rounding: 'rn', ftz: false, saturate: false }, [
        old,
        a,
      ]);
    case 'min':
    case 'max': {
      if (float) {
        const rounded = { name: operation, from: type, to: type, rounding: 'none', ftz: false, saturate: false };
        return referenceDomain.float(rounded, [old, a]);
      }
      const width = bits as Width;
      const below = signed ? referenceDomain.signedLess(width, old, a) : old < a;
      return below === (operation === 'min') ? old : a;
    }
    case 'inc':
      return old >= a ? 0n : old + 1n;
    case 'dec':
      return old === 0n || old > a ? a : old - 1n;
    case 'and':
      return old & a;
    case 'or':
      return old | a;
    case 'xor':
      return old ^ a;
    case 'cas':
      return old === a ? b : old;
    default:
      return a;
  }
}
