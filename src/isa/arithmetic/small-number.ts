/**
 * Floating-point formats of 16 bits and fewer as JavaScript numbers, which represent all values of these formats and
 * all products of two exactly (PTX ISA 5.2.3 and 5.2.4).
 */

interface SmallFormat {
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly bias: number;
  /** Special values: `ieee`: infinities and NaN; `nan`: all ones are NaN; `finite`: every pattern is a number. */
  readonly specials: 'ieee' | 'nan' | 'finite';
}

const smallFormats = {
  f16: { exponentBits: 5, fractionBits: 10, bias: 15, specials: 'ieee' },
  bf16: { exponentBits: 8, fractionBits: 7, bias: 127, specials: 'ieee' },
  e5m2: { exponentBits: 5, fractionBits: 2, bias: 15, specials: 'ieee' },
  e4m3: { exponentBits: 4, fractionBits: 3, bias: 7, specials: 'nan' },
  e3m2: { exponentBits: 3, fractionBits: 2, bias: 3, specials: 'finite' },
  e2m3: { exponentBits: 2, fractionBits: 3, bias: 1, specials: 'finite' },
  e2m1: { exponentBits: 2, fractionBits: 1, bias: 1, specials: 'finite' },
} satisfies Readonly<Record<string, SmallFormat>>;

export type SmallFormatName = keyof typeof smallFormats;

/** The number that the low bits of `pattern` encode. */
export function decodeSmall(name: SmallFormatName, pattern: number): number {
  const { exponentBits, fractionBits, bias, specials }: SmallFormat = smallFormats[name];
  const fraction = pattern & ((1 << fractionBits) - 1);
  const exponent = (pattern >> fractionBits) & ((1 << exponentBits) - 1);
  const sign = (pattern >> (fractionBits + exponentBits)) & 1 ? -1 : 1;
  const top = (1 << exponentBits) - 1;
  if (exponent === top && specials === 'ieee') return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === top && specials === 'nan' && fraction === (1 << fractionBits) - 1) return NaN;
  const unit = 2 ** (Math.max(exponent, 1) - bias - fractionBits);
  return sign * (exponent === 0 ? fraction : fraction + (1 << fractionBits)) * unit;
}

/** Rounds to the nearest integer, ties to even; exact for numbers within 53 bits. */
function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/**
 * The pattern of `value`, rounded to nearest even. Too large values become infinity, or the largest number if
 * `saturate` or if the format has no infinity; NaN becomes the format's (the largest number if it has none).
 */
export function encodeSmall(name: SmallFormatName, value: number, saturate: boolean): number {
  const { exponentBits, fractionBits, bias, specials }: SmallFormat = smallFormats[name];
  const top = (1 << exponentBits) - 1;
  const infinity = top << fractionBits;
  const largest = specials === 'ieee' ? infinity - 1 : infinity + (1 << fractionBits) - (specials === 'nan' ? 2 : 1);
  if (Number.isNaN(value)) {
    // NaN of the small formats has all bits but the sign set (9.7.9.21).
    return specials === 'finite' ? largest : infinity + (1 << fractionBits) - 1;
  }
  const sign = (value < 0 || Object.is(value, -0) ? 1 : 0) << (fractionBits + exponentBits);
  const magnitude = Math.abs(value);
  const overflow = saturate || specials !== 'ieee' ? largest : infinity;
  if (magnitude === Infinity) return sign | overflow;
  if (magnitude === 0) return sign;
  const exponent = Math.max(exponentOf(magnitude), 1 - bias);
  const field = roundEven(magnitude / 2 ** (exponent - fractionBits));
  // A carry out of the fraction moves into the exponent.
  const bits = ((exponent + bias - 1) << fractionBits) + field;
  return sign | (bits > largest ? overflow : bits);
}

const view = new DataView(new ArrayBuffer(8));

/** The exponent of the leading bit of a positive number. */
function exponentOf(value: number): number {
  view.setFloat64(0, value);
  const field = view.getUint16(0) >> 4;
  return field === 0 ? -1022 : field - 1023;
}

/** The single-precision number with this pattern. */
export function fromSingle(pattern: number): number {
  view.setUint32(0, pattern);
  return view.getFloat32(0);
}

/** The pattern of `value` in single precision, as an unsigned number. NaN is 0x7fffffff. */
export function toSingle(value: number): number {
  if (Number.isNaN(value)) return 0x7fffffff;
  view.setFloat32(0, value);
  return view.getUint32(0);
}
