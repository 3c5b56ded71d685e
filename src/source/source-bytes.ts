/**
 * Texts of files that need not be UTF-8: an invalid byte is represented as one code unit from U+DC80 to U+DCFF, a half
 * of a surrogate pair that UTF-8 cannot contain, and converted back to that byte (as Python's `surrogateescape`, PEP
 * 383).
 */
import { isUtf8 } from 'node:buffer';

/** The text of a file. */
export function decodeSource(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < bytes.length;) {
    const length = lengthAt(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(bytes.toString('utf8', from, at), String.fromCharCode(0xdc00 + bytes[at]!));
    at++;
    from = at;
  }
  parts.push(bytes.toString('utf8', from));
  return parts.join('');
}

/** The number of bytes of the UTF-8 character at an offset; 0 if invalid. */
function lengthAt(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** Whether a text contains bytes that are not UTF-8, so that it cannot be sent as text. */
export function hasNonTextBytes(text: string): boolean {
  return otherByte.test(text);
}

/** The bytes of a file with a text. */
export function encodeSource(text: string): Buffer {
  if (!hasNonTextBytes(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  let from = 0;
  for (const { index } of text.matchAll(otherBytes)) {
    parts.push(Buffer.from(text.slice(from, index), 'utf8'), Buffer.of(text.charCodeAt(index) - 0xdc00));
    from = index + 1;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(from), 'utf8')]);
}

const otherByte = /(?<![\ud800-\udbff])[\udc80-\udcff]/;
const otherBytes = new RegExp(otherByte, 'g');
