import type { Parameter } from '../ir/form/kernel.ts';

export type ScalarValue = number | bigint | boolean | string;

/**
 * The bit pattern of a scalar argument, as a little-endian integer of the parameter's size.
 * @param sourceType the type as the source writes it, if known
 * @returns the pattern, or the problem as the end of a sentence
 */
export function scalarPattern(
  parameter: Parameter,
  sourceType: string | undefined,
  value: ScalarValue,
): bigint | { readonly problem: string } {
  if (sourceType !== undefined && /[*&]|\[/.test(sourceType)) return { problem: 'is a pointer; only scalar parameters take values' };
  if (![1, 2, 4, 8].includes(parameter.bytes)) return { problem: 'is not a scalar' };
  const text = typeof value === 'string' ? value.trim() : String(value);
  const floating = /^f(?:32|64)$/.test(parameter.type) || /\b(?:float|double)\b/.test(sourceType ?? '');
  if (floating) {
    const number = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?f?$/i.test(text) ? Number(text.replace(/f$/i, '')) : NaN;
    if (Number.isNaN(number)) return { problem: `cannot be ${text}: give a number` };
    return floatPattern(number, parameter.bytes);
  }
  const whole = text === 'true' ? 1n : text === 'false' ? 0n : wholeNumber(text);
  if (whole === undefined) return { problem: `cannot be ${text}: give a whole number` };
  const bits = BigInt(parameter.bytes * 8);
  if (whole < -(1n << (bits - 1n)) || whole >= 1n << bits) return { problem: `cannot be ${text}: the parameter has ${bits} bits` };
  return BigInt.asUintN(Number(bits), whole);
}

function wholeNumber(text: string): bigint | undefined {
  const match = /^(-?)(0x[\da-f]+|\d+)(?:u?l{0,2}|l{0,2}u)$/i.exec(text);
  if (!match?.[2]) return undefined;
  const magnitude = BigInt(match[2]);
  return match[1] === '-' ? -magnitude : magnitude;
}

function floatPattern(value: number, bytes: number): bigint | { readonly problem: string } {
  const view = new DataView(new ArrayBuffer(8));
  if (bytes === 4) {
    view.setFloat32(0, value, true);
    return BigInt(view.getUint32(0, true));
  }
  if (bytes === 8) {
    view.setFloat64(0, value, true);
    return view.getBigUint64(0, true);
  }
  return { problem: 'is not a float or double' };
}
