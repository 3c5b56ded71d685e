/** Conversions to and from floating-point formats of 8 bits and fewer, one value at a time (PTX ISA 9.7.9.21). */
import type { SmallFormatName } from './small-number.ts';
import { decodeSmall, encodeSmall, fromSingle } from './small-number.ts';

/** Formats of 8 bits and fewer with a fraction. */
export const smallFormatNames = ['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1'] as const satisfies readonly SmallFormatName[];

/** Source formats of conversions, with their widths. */
export const wideFormats = { f32: 32, f16: 16, bf16: 16 } as const;

type Conversion = (sources: readonly { readonly value: bigint }[]) => bigint;

function decodeWide(name: keyof typeof wideFormats, pattern: number): number {
  return name === 'f32' ? fromSingle(pattern) : decodeSmall(name, pattern);
}

/**
 * Conversions by name: `cvt.e4m3.f32` rounds to nearest even and limits to the largest number (`.satfinite` is
 * mandatory), `cvt.f16.e4m3` is exact; with `.relu` negative numbers give 0.
 */
export const smallConversions: Readonly<Record<string, Conversion>> = Object.fromEntries(
  smallFormatNames.flatMap((small) =>
    ['', '.relu'].flatMap((suffix): [string, Conversion][] => {
      const limit = (value: number): number => (suffix !== '' && value < 0 ? 0 : value);
      const narrowing = (Object.keys(wideFormats) as (keyof typeof wideFormats)[]).map((wide): [string, Conversion] => [
        `cvt.${small}.${wide}${suffix}`,
        ([a]) => BigInt(encodeSmall(small, limit(decodeWide(wide, Number(a!.value))), true)),
      ]);
      const widening: Conversion = ([a]) => {
        const value = decodeSmall(small, Number(a!.value));
        return BigInt(encodeSmall('f16', limit(value), false));
      };
      return [...narrowing, [`cvt.f16.${small}${suffix}`, widening]];
    }),
  ),
);
