/** Literals of PTX (PTX ISA 4.5): values of number tokens. */

/** An integer literal, or the bits of a floating-point literal. */
export type NumberLiteral =
  | { readonly kind: 'integer'; readonly value: bigint; readonly unsigned: boolean }
  | { readonly kind: 'float'; readonly bits: 32 | 64; readonly pattern: bigint };

const DECIMAL = /^(?:0|[1-9][0-9]*)U?$/;
const OCTAL = /^0[0-7]+U?$/;
const HEXADECIMAL = /^0[xX][0-9a-fA-F]+U?$/;
const BINARY = /^0[bB][01]+U?$/;
const SINGLE = /^0[fF][0-9a-fA-F]{8}$/;
const DOUBLE = /^0[dD][0-9a-fA-F]{16}$/;
const REAL = /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** Number of decimal digits that a double represents exactly. */
const EXACT_DIGITS = 15;

/** The value of a number token; a sentence with the error if it is malformed. */
export function parseLiteral(text: string): NumberLiteral | string {
  if (DECIMAL.test(text)) {
    const unsigned = text.endsWith('U');
    const digits = unsigned ? text.slice(0, -1) : text;
    // Converting a number to a BigInt is much faster than converting a text.
    if (digits.length <= EXACT_DIGITS) return { kind: 'integer', value: BigInt(Number(digits)), unsigned };
    return integer(digits, unsigned, text);
  }
  if (HEXADECIMAL.test(text) || BINARY.test(text)) {
    const unsigned = text.endsWith('U');
    return integer((unsigned ? text.slice(0, -1) : text).toLowerCase(), unsigned, text);
  }
  if (OCTAL.test(text)) {
    const unsigned = text.endsWith('U');
    return integer(`0o${unsigned ? text.slice(1, -1) : text.slice(1)}`, unsigned, text);
  }
  if (SINGLE.test(text)) return { kind: 'float', bits: 32, pattern: BigInt(`0x${text.slice(2)}`) };
  if (DOUBLE.test(text)) return { kind: 'float', bits: 64, pattern: BigInt(`0x${text.slice(2)}`) };
  if (/^0[fF]/.test(text)) return '0f must be followed by exactly 8 hexadecimal digits';
  if (/^0[dD]/.test(text)) return '0d must be followed by exactly 16 hexadecimal digits';
  if (/^0[xX]/.test(text)) return 'a hexadecimal literal is 0x, hexadecimal digits and an optional U';
  if (/^0[bB]/.test(text)) return 'a binary literal is 0b, the digits 0 and 1 and an optional U';
  if (/^0[0-9]+U?$/.test(text)) return 'a literal that begins with 0 is octal: its digits are 0 to 7';
  if (REAL.test(text)) return { kind: 'float', bits: 64, pattern: doublePattern(Number(text)) };
  return 'a number is followed by characters that do not belong to it';
}

/** A literal of more digits than any 64-bit number is rejected before it is converted, which takes quadratic time. */
function integer(digits: string, unsigned: boolean, text: string): NumberLiteral | string {
  if (digits.length <= 4 + 64) {
    const value = BigInt(digits);
    if (value < 1n << 64n) return { kind: 'integer', value, unsigned: unsigned || value >= 1n << 63n };
  }
  return `${text.slice(0, 24)}${text.length > 24 ? '…' : ''} does not fit in 64 bits`;
}

const view = new DataView(new ArrayBuffer(8));

/** The 64 bits of a double. */
export function doublePattern(value: number): bigint {
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/** The double that 64 bits encode. */
export function doubleOf(pattern: bigint): number {
  view.setBigUint64(0, pattern);
  return view.getFloat64(0);
}
