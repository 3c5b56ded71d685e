/** `cvt` between floating-point formats of 8 bits and fewer and wider ones (PTX ISA 9.7.9.21). */
import type { Domain, Width } from './model/domain.ts';
import type { Rule } from './model/operation.ts';
import type { Modifiers, Row, Signature } from './model/row.ts';
import { constantPattern, joinHalves } from './arithmetic/bit-arithmetic.ts';
import { bits, pure, uncomputed } from './model/row.ts';
import { smallFormatNames, wideFormats } from './arithmetic/small-conversion.ts';

const section = '9.7.9.21';

type Small = (typeof smallFormatNames)[number];

const pairs = smallFormatNames.map((name) => `${name}x2` as const);

/** Bits that one value occupies in a packed register: 6-bit formats are padded to a byte. */
function stride(format: Small): 4 | 8 {
  return format === 'e2m1' ? 4 : 8;
}

function takeSmall(modifiers: Modifiers): Small | undefined {
  return modifiers.oneOf(...pairs)?.slice(0, -2) as Small | undefined;
}

/** Packs two values of 8 bits, `upper` above `lower`. */
function packSmall<V, B>(d: Domain<V, B>, format: Small, upper: V, lower: V): V {
  if (stride(format) === 4) return d.or(8, d.shl(8, upper, constantPattern(d, 8, 4)), lower);
  return d.or(16, d.shl(16, d.zeroExtend(8, 16, upper), constantPattern(d, 16, 8)), d.zeroExtend(8, 16, lower));
}

/** `cvt.rn.satfinite.e4m3x2.f32 d, a, b` and `cvt.rn.satfinite.e4m3x2.f16x2 d, a`. */
const narrow: Row = {
  opcode: 'cvt',
  section,
  forms:
    'cvt.rn.satfinite{.relu}.small.f32 d, a, b; cvt.rn.satfinite{.relu}.small.wide d, a; .small = {.e4m3x2, .e5m2x2, .e2m3x2, .e3m2x2, .e2m1x2}; .wide = {.f16x2, .bf16x2}',
  treatment: 'exact',
  decode(modifiers) {
    if (!modifiers.flag('rn') || !modifiers.flag('satfinite')) return null;
    const relu = modifiers.flag('relu') ? '.relu' : '';
    const to = takeSmall(modifiers);
    const from = modifiers.oneOf('f32', 'f16x2', 'bf16x2');
    if (!to || !from) return null;
    const wide = from === 'f32' ? 'f32' : from === 'f16x2' ? 'f16' : 'bf16';
    const width = wideFormats[wide];
    const convert = <V, B>(d: Domain<V, B>, value: V): V => d.pure(`cvt.${to}.${wide}${relu}`, 8, [{ width, value }]);
    const evaluate: Rule =
      from === 'f32'
        ? bits((d, a, b) => packSmall(d, to, convert(d, a), convert(d, b)))
        : bits((d, a) => {
            const upper = d.truncate(32, 16, d.lshr(32, a, constantPattern(d, 32, 16)));
            return packSmall(d, to, convert(d, upper), convert(d, d.truncate(32, 16, a)));
          });
    return pure((2 * stride(to)) as Width, from === 'f32' ? [32, 32] : [32], 'convert', evaluate);
  },
};

/** `cvt.rn.f16x2.e4m3x2 d, a`. */
const widen: Row = {
  opcode: 'cvt',
  section,
  forms: 'cvt.rn{.relu}.f16x2.small d, a; .small = {.e4m3x2, .e5m2x2, .e2m3x2, .e3m2x2, .e2m1x2}',
  treatment: 'exact',
  decode(modifiers) {
    if (!modifiers.flag('rn')) return null;
    const relu = modifiers.flag('relu') ? '.relu' : '';
    if (!modifiers.flag('f16x2')) return null;
    const from = takeSmall(modifiers);
    if (!from) return null;
    const width = (2 * stride(from)) as 8 | 16;
    return pure(
      32,
      [width],
      'convert',
      bits((d, a) => {
        const upper = d.lshr(width, a, constantPattern(d, width, stride(from)));
        const [high, low] = [upper, a].map((value) => {
          const byte = width === 8 ? d.and(8, value, constantPattern(d, 8, 15)) : d.truncate(16, 8, value);
          return d.pure(`cvt.f16.${from}${relu}`, 16, [{ width: 8, value: byte }]);
        });
        return joinHalves(d, 32, low!, high!);
      }),
    );
  },
};

/**
 * Conversions with random rounding, of four values at once, or with powers of two and fixed point: of sm_100 and later.
 */
const uncomputedConversion: Row = {
  opcode: 'cvt',
  section,
  forms:
    'cvt.rs{.relu}{.satfinite}.dtype.f32 d, a, b, rbits; cvt.rs{.relu}.satfinite.dtype.f32 d, {a, b, e, f}, rbits; cvt.rnd{.satfinite}.ue8m0x2.atype d, a{, b}; cvt.rn.bf16x2.ue8m0x2 d, a; cvt with .s2f6x2',
  treatment: 'havoc',
  decode(modifiers, shape): Signature | null {
    const rest = modifiers.rest();
    if (!rest.some((name) => /^(rs|ue8m0x2|s2f6x2|e\dm\dx4)$/.test(name))) return null;
    return uncomputed(shape, 1, { kind: 'havoc', reason: 'conversion that is not computed' }, 'convert');
  },
};

export const smallFloatRows: readonly Row[] = [narrow, widen, uncomputedConversion];
