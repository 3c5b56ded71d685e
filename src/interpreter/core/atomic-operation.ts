import type { Domain, Width } from '../../isa/model/domain.ts';
import { referenceDomain } from '../../isa/arithmetic/reference-domain.ts';

/**
 * The value that an atomic operation stores (PTX ISA 9.7.13, atom and red), over any domain. Packed types are computed
 * by halves.
 *
 * @param isGlobal whether it is done in global memory: there sums of `f32` flush subnormal numbers to zeros of their sign
 * @param operation `add min max inc dec exch cas and or xor`
 * @param type of the operands, for example `s32` or `f16x2`
 * @param width of the type
 * @param b only for `cas`: stored if the old value equals `a`
 */
export function atomicRule<V, B>(
  domain: Domain<V, B>,
  operation: string,
  type: string,
  width: Width,
  old: V,
  a: V,
  b: V,
  isGlobal: boolean,
): V {
  if (type.endsWith('x2')) {
    const half = (width / 2) as Width;
    const shift = domain.constant(width, BigInt(half));
    const low = (value: V): V => domain.truncate(width, half, value);
    const high = (value: V): V => domain.truncate(width, half, domain.lshr(width, value, shift));
    const [lower, upper] = [low, high].map((part) =>
      domain.zeroExtend(half, width, atomicRule(domain, operation, type.slice(0, -2), half, part(old), part(a), part(b), isGlobal)),
    );
    return domain.or(width, lower!, domain.shl(width, upper!, shift));
  }
  const isFloat = type.startsWith('f') || type.startsWith('bf');
  const ftz = operation === 'add' && type === 'f32' && isGlobal;
  const float = (rounding: string): V => domain.float({ name: operation, from: type, to: type, rounding, ftz, saturate: false }, [old, a]);
  const one = domain.constant(width, 1n);
  const zero = domain.constant(width, 0n);
  switch (operation) {
    case 'add':
      return isFloat ? float('rn') : domain.add(width, old, a);
    case 'min':
    case 'max': {
      if (isFloat) return float('none');
      const less = type.startsWith('s') ? domain.signedLess(width, old, a) : domain.unsignedLess(width, old, a);
      return operation === 'min' ? domain.select(width, less, old, a) : domain.select(width, less, a, old);
    }
    case 'inc':
      return domain.select(width, domain.unsignedLess(width, old, a), domain.add(width, old, one), zero);
    case 'dec': {
      const wraps = domain.either(domain.equal(width, old, zero), domain.unsignedLess(width, a, old));
      return domain.select(width, wraps, a, domain.sub(width, old, one));
    }
    case 'and':
      return domain.and(width, old, a);
    case 'or':
      return domain.or(width, old, a);
    case 'xor':
      return domain.xor(width, old, a);
    case 'cas':
      return domain.select(width, domain.equal(width, old, a), b, old);
    default:
      return a;
  }
}

/** {@link atomicRule} on bit patterns. */
export function atomicResult(operation: string, type: string, bits: number, old: bigint, a: bigint, b: bigint, isGlobal: boolean): bigint {
  return atomicRule(referenceDomain, operation, type, bits as Width, old, a, b, isGlobal);
}
