/** Elements of arrays: their types, and their values as text and as bits. */
import { basicTypeOf, integerType } from '../cuda/syntax/basic-type.ts';
import { floatFormats, fromNumber, pack, toNumber, unpack } from '../isa/arithmetic/soft-float.ts';

export interface ElementType {
  readonly name: string;
  readonly bytes: 1 | 2 | 4 | 8;
  readonly kind: 'signed' | 'unsigned' | 'float';
  /** For a float: key of its format. */
  readonly format?: 'f16' | 'bf16' | 'f32' | 'f64';
}

const integer = (kind: 'signed' | 'unsigned', bytes: 1 | 2 | 4 | 8): ElementType => ({
  name: `${kind === 'signed' ? 'int' : 'uint'}${8 * bytes}`,
  bytes,
  kind,
});
const sizes = [1, 2, 4, 8] as const;

/** Element types by their names in reports. */
const elementTypes: Readonly<Record<string, ElementType>> = Object.fromEntries(
  [
    ...sizes.map((bytes) => integer('signed', bytes)),
    ...sizes.map((bytes) => integer('unsigned', bytes)),
    { name: 'float16', bytes: 2, kind: 'float', format: 'f16' } as const,
    { name: 'bfloat16', bytes: 2, kind: 'float', format: 'bf16' } as const,
    { name: 'float32', bytes: 4, kind: 'float', format: 'f32' } as const,
    { name: 'float64', bytes: 8, kind: 'float', format: 'f64' } as const,
  ].map((type) => [type.name, type]),
);

/** Common alternative names of element types. */
const otherNames: Readonly<Record<string, string>> = {
  float: 'float32',
  double: 'float64',
  half: 'float16',
  __half: 'float16',
  __nv_bfloat16: 'bfloat16',
  f16: 'float16',
  bf16: 'bfloat16',
  f32: 'float32',
  f64: 'float64',
};

export const elementTypeNames: readonly string[] = Object.keys(elementTypes);

/** The element type of a name: `float32`, or as in C without blanks: `float`, `int32_t`, `uchar`. */
export function elementTypeNamed(name: string): ElementType | undefined {
  const key = otherNames[name] ?? name;
  if (Object.hasOwn(elementTypes, key)) return elementTypes[key];
  const known = integerType(name);
  return known && elementTypes[`${known.signed ? 'int' : 'uint'}${8 * known.bytes}`];
}

const vectorType = /^(u?(?:char|short|int|long|longlong)|float|double)([234])$/;

/** Element type of a pointee type; undefined if the type is not a number or a vector of numbers. */
export function pointeeOf(type: string): ElementType | undefined {
  const pointee = basicTypeOf(type.replace(/[*&][^*&]*$/, ' ').replace(/\b__restrict(?:__)?\b/g, ' '));
  if (pointee.includes('*')) return elementTypes['uint64'];
  const vector = vectorType.exec(pointee);
  if (vector?.[1] === 'longlong') return elementTypes['int64'];
  if (vector?.[1] === 'ulonglong') return elementTypes['uint64'];
  if (/^(?:__)?half2$/.test(pointee)) return elementTypes['float16'];
  if (pointee === '__nv_bfloat162') return elementTypes['bfloat16'];
  return elementTypeNamed(vector?.[1]?.replace(/^u(?=long)/, 'unsigned ') ?? pointee);
}

/** Whether an array of one type can be passed for a parameter of another. Signedness is irrelevant. */
export function fits(given: ElementType, declared: ElementType): boolean {
  return given.name === declared.name || (given.kind !== 'float' && declared.kind !== 'float' && given.bytes === declared.bytes);
}

/**
 * The bits of a value given as text: integers in decimal or hexadecimal, `true`, `false`; for floats also fractions,
 * exponents, `inf` and `nan`.
 * @returns the bits, or a description of the problem, as the end of a sentence
 */
export function readElement(type: ElementType, text: string): bigint | { readonly problem: string } {
  const word = text.trim();
  const bits = 8 * type.bytes;
  if (type.format !== undefined) {
    const number = floatOf(word);
    return number === undefined ? { problem: `${word} is not a number` } : floatBits(type.format, number);
  }
  const whole = word === 'true' ? 1n : word === 'false' ? 0n : wholeOf(word);
  if (whole === undefined) return { problem: `${word} is not a whole number` };
  if (whole < -(1n << BigInt(bits - 1)) || whole >= 1n << BigInt(bits)) {
    return { problem: `${word} does not fit in ${bits} bits` };
  }
  return BigInt.asUintN(bits, whole);
}

/** An integer in C syntax; undefined if the text is not one. */
export function wholeOf(text: string): bigint | undefined {
  const match = /^([-+]?)(0x[\da-f]+|\d+)(?:u?l{0,2}|l{1,2}u)$/i.exec(text);
  if (!match?.[2]) return undefined;
  return match[1] === '-' ? -BigInt(match[2]) : BigInt(match[2]);
}

/** A number in C syntax, `inf` or `nan`; undefined if the text is not one. */
export function floatOf(text: string): number | undefined {
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?f?$/i.test(text)) return Number(text.replace(/f$/i, ''));
  const whole = wholeOf(text);
  if (whole !== undefined) return Number(whole);
  if (/^nan$/i.test(text)) return NaN;
  const infinite = /^([-+]?)inf(?:inity)?$/i.exec(text);
  return infinite ? (infinite[1] === '-' ? -Infinity : Infinity) : undefined;
}

/** The bits of the number nearest to a value in a format. */
export function floatBits(format: NonNullable<ElementType['format']>, value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  switch (format) {
    case 'f32':
      view.setFloat32(0, value);
      return BigInt(view.getUint32(0));
    case 'f64':
      view.setFloat64(0, value);
      return view.getBigUint64(0);
    default:
      return pack(floatFormats[format]!, fromNumber(value), 'rn', false);
  }
}

/** A value in the form of reports: a number if JSON can represent it, otherwise its text. */
export function valueOf(type: ElementType, bits: bigint): number | string {
  if (type.format === undefined) {
    const whole = type.kind === 'signed' ? BigInt.asIntN(8 * type.bytes, bits) : bits;
    const number = Number(whole);
    return Number.isSafeInteger(number) ? number : String(whole);
  }
  const number = toNumber(unpack(floatFormats[type.format]!, bits, false));
  return Number.isFinite(number) ? number : Number.isNaN(number) ? 'nan' : number > 0 ? 'inf' : '-inf';
}

/** The bits of an element of a type at an index of a byte array, little-endian. */
export function elementAt(type: ElementType, bytes: Uint8Array, index: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + index * type.bytes, type.bytes);
  switch (type.bytes) {
    case 1:
      return BigInt(view.getUint8(0));
    case 2:
      return BigInt(view.getUint16(0, true));
    case 4:
      return BigInt(view.getUint32(0, true));
    case 8:
      return view.getBigUint64(0, true);
  }
}
