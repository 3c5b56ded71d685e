/** Serialisation of values as JSON: bigints, maps, bytes and undefined in addition to the types of JSON. */
import { isDeepStrictEqual } from 'node:util';

/** Objects with this key represent values that JSON cannot. */
const tag = '$';

/**
 * A value as text: different values have different texts.
 * @throws TypeError for functions and instances of classes
 */
export function textOfValue(value: unknown): string {
  return JSON.stringify(encode(value));
}

/** A value as text that {@link valueOfText} reads back; undefined if no text represents it exactly. */
export function exactText(value: unknown): string | undefined {
  try {
    const text = textOfValue(value);
    // Values that do not survive the conversion are not cached.
    return isDeepStrictEqual(valueOfText(text), value) ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The value of a text.
 * @throws Error for any text that {@link exactText} does not produce
 */
export function valueOfText(text: string): unknown {
  return decode(JSON.parse(text));
}

function encode(value: unknown): unknown {
  if (value === undefined) return { [tag]: 'undefined' };
  if (typeof value === 'bigint') return { [tag]: 'integer', value: String(value) };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return { [tag]: 'number', value: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError('functions are not data');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(encode);
  if (value instanceof Map) return { [tag]: 'map', value: [...value].map(encode) };
  if (value instanceof Uint8Array) return { [tag]: 'bytes', value: Buffer.from(value).toString('base64') };
  if (Object.getPrototypeOf(value) !== Object.prototype || tag in value) throw new TypeError('not a plain object');
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, encode(inner)]));
}

function decode(encoded: unknown): unknown {
  if (Array.isArray(encoded)) return encoded.map(decode);
  if (typeof encoded !== 'object' || encoded === null) return encoded;
  if (!(tag in encoded)) return Object.fromEntries(Object.entries(encoded).map(([key, inner]) => [key, decode(inner)]));
  const inner = 'value' in encoded ? encoded.value : undefined;
  switch (encoded[tag]) {
    case 'undefined':
      return undefined;
    case 'integer':
      return BigInt(inner as string);
    case 'number':
      return Number(inner);
    case 'map':
      return new Map(decode(inner) as [unknown, unknown][]);
    case 'bytes':
      return Uint8Array.from(Buffer.from(inner as string, 'base64'));
    default:
      throw new TypeError('unknown tag');
  }
}
