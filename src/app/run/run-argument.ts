/** The language of `--arg NAME=VALUE` for `run`: scalars, arrays from literals and files, aliases. */
import type { GlobalBuffer } from '../../interpreter/core/arguments.ts';
import { seededRandom } from '../../base/random.ts';
import { type GeneratedContents, generatedNumbers, drawnOf, trailingValue } from '../../check/representative/contents.ts';
import { readElement, elementTypeNamed, elementTypeNames, floatBits, floatOf, wholeOf, type ElementType } from '../../launch/element.ts';
import { nearest } from '../../base/nearest.ts';

/** Initial contents of an array. */
type Contents =
  | { readonly kind: 'fill'; readonly value: string }
  | { readonly kind: 'uninitialised' }
  /** After `count` steps, all further elements are identical. */
  | { readonly kind: 'iota'; readonly start: string; readonly step: string; readonly count?: number }
  | { readonly kind: 'random'; readonly seed: number; readonly low?: string; readonly high?: string }
  /** Generated contents, as in the witness search for races. */
  | { readonly kind: 'drawn'; readonly drawn: GeneratedContents }
  | { readonly kind: 'list'; readonly values: readonly string[] }
  | { readonly kind: 'file'; readonly path: string };

export type ArgumentValue =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'null' }
  | { readonly kind: 'alias'; readonly target: string; readonly offset: bigint; readonly unit: 'bytes' | 'elements' }
  | {
      readonly kind: 'array';
      /** Element type; if absent, the type that the parameter is declared with. */
      readonly type?: ElementType;
      /** Number of elements, or `endless`; if absent, the contents determine it. */
      readonly length?: number | 'endless';
      readonly contents: Contents;
    };

/** Maximum bytes of a single array, and of all arrays of a run together. */
export const MAX_ARRAY_BYTES = 2 ** 30;

type Problem = { readonly problem: string };

/**
 * Parses the value of an argument.
 * @returns the value, or the problem as the end of a sentence
 */
export function parseArgument(given: string): ArgumentValue | Problem {
  const text = given.trim();
  if (/^(?:null|nullptr|NULL)$/.test(text)) return { kind: 'null' };
  if (text.startsWith('&')) return parseAlias(text);
  if (/^(?:true|false|[-+]?inf(?:inity)?|nan)$/i.test(text) || /^[-+]?\.?\d/.test(text)) return { kind: 'scalar', text };
  if (text.startsWith('@') || /^\[[^\]]*\]$/.test(text)) {
    const contents = parseContents(text);
    return 'problem' in contents ? contents : { kind: 'array', contents };
  }
  const match = /^([A-Za-z_]\w*)?(?:\[(\d*)\])?(?::(.*))?$/s.exec(text);
  if (!match) return { problem: `is ${text}, which is neither a number nor an array; ${examples}` };
  const [, typeName, count, contentsText] = match;
  const type = typeName === undefined ? undefined : elementTypeNamed(typeName);
  if (typeName !== undefined && !type) {
    const close = nearest(typeName, elementTypeNames);
    const hint = close === undefined ? `they are ${elementTypeNames.join(', ')}` : `did you mean ${close}?`;
    return { problem: `has elements of type ${typeName}, which is not known; ${hint}` };
  }
  if (count === undefined && contentsText === undefined) {
    return { problem: `is ${text}, without a length or contents; ${examples}` };
  }
  const contents = parseContents(contentsText ?? 'zeros');
  if ('problem' in contents) return contents;
  const length = count === undefined ? undefined : count === '' ? 'endless' : Number(count);
  return { kind: 'array', ...(type ? { type } : {}), ...(length === undefined ? {} : { length }), contents };
}

const examples = 'write for example 4096, 2.5, float32[1024]:iota, int32:@file.bin or &A+16';

function parseAlias(text: string): ArgumentValue | Problem {
  const match = /^&\s*([A-Za-z_][\w.]*)\s*(?:\[(\w+)\]|\+\s*(\w+))?$/.exec(text);
  const [, target, index, bytes] = match ?? [];
  const offset = wholeOf(index ?? bytes ?? '0');
  if (target === undefined || offset === undefined) {
    return { problem: `is ${text}; an alias is &A, &A+16 (bytes) or &A[4] (elements)` };
  }
  return { kind: 'alias', target, offset, unit: index === undefined ? 'bytes' : 'elements' };
}

function parseContents(given: string): Contents | Problem {
  const text = given.trim();
  if (text.startsWith('@')) {
    return text.length > 1 ? { kind: 'file', path: text.slice(1) } : { problem: 'names no file after @' };
  }
  if (text.startsWith('[') && text.endsWith(']')) {
    const inner = text.slice(1, -1).trim();
    return { kind: 'list', values: inner === '' ? [] : inner.split(',').map((value) => value.trim()) };
  }
  const match = /^([a-z]+)(?:\((.*)\))?$/.exec(text);
  const values = match?.[2] === undefined ? [] : match[2].split(',').map((value) => value.trim());
  const [a, b, c] = values;
  const wrong = (form: string): Problem => ({ problem: `contains ${text}; write ${form}` });
  switch (match?.[1]) {
    case 'zeros':
    case 'ones':
      return values.length > 0 ? wrong(match[1]) : { kind: 'fill', value: match[1] === 'zeros' ? '0' : '1' };
    case 'uninitialised':
    case 'uninitialized':
      return values.length > 0 ? wrong('uninitialised') : { kind: 'uninitialised' };
    case 'fill':
      return a === undefined || a === '' || values.length > 1 ? wrong('fill(VALUE)') : { kind: 'fill', value: a };
    case 'iota':
      return values.length > 3 || values.includes('') || (c !== undefined && !/^\d{1,7}$/.test(c))
        ? wrong('iota, iota(START), iota(START,STEP) or iota(START,STEP,COUNT)')
        : { kind: 'iota', start: a ?? '0', step: b ?? '1', ...(c !== undefined && { count: Number(c) }) };
    case 'random': {
      const seed = Number(a);
      const isSeed = a !== undefined && /^\d+$/.test(a) && seed < 2 ** 32;
      if (!isSeed || (values.length !== 1 && values.length !== 3)) return wrong('random(SEED) or random(SEED,LOW,HIGH)');
      return { kind: 'random', seed, ...(b !== undefined && c !== undefined ? { low: b, high: c } : {}) };
    }
    default: {
      const drawn = drawnOf(match?.[1] ?? '', values.map(Number));
      if (drawn) return { kind: 'drawn', drawn };
      const known = ['zeros', 'ones', 'uninitialised', 'fill', 'iota', 'random'];
      const close = nearest(/^\w*/.exec(text)?.[0] ?? '', known);
      const hint =
        close === undefined ? 'write zeros, ones, fill(3), iota, random(1), [1,2,3], uninitialised or @FILE' : `did you mean ${close}?`;
      return { problem: `holds ${text === '' ? 'nothing' : text}; ${hint}` };
    }
  }
}

/** An array in the format of the interpreter. */
type ArrayData = Omit<GlobalBuffer, 'name' | 'elementBytes'>;

/**
 * Creates an array.
 * @param readBytes returns the bytes of a file, or the problem as the end of a sentence
 * @returns the data, or the problem as the end of a sentence
 */
export function createArray(
  type: ElementType,
  { length: given, contents }: Extract<ArgumentValue, { kind: 'array' }>,
  readBytes: (path: string) => Uint8Array | Problem,
): ArrayData | Problem {
  const file = contents.kind === 'file' ? readBytes(contents.path) : undefined;
  if (file && 'problem' in file) return file;
  if (file && file.length % type.bytes !== 0) {
    return { problem: `has ${file.length} bytes, which is not a multiple of the ${type.bytes} bytes of ${type.name}` };
  }
  const held = file ? file.length / type.bytes : contents.kind === 'list' ? contents.values.length : undefined;
  const length = given ?? held;
  if (length === undefined) return { problem: `has no length; write ${type.name}[1024]` };
  if (length === 'endless') return endlessArray(type, contents);
  if (length * type.bytes > MAX_ARRAY_BYTES) {
    return { problem: `has ${length * type.bytes} bytes; an array may have ${MAX_ARRAY_BYTES}` };
  }
  if (held !== undefined && held > length) return { problem: `has ${length} elements, and ${held} are given` };
  if (file && held !== length) return { problem: `has ${length} elements, and the file has ${held}` };
  const bytes = length * type.bytes;
  const plain = { bytes, values: new Map<number, bigint>(), fill: 0n };
  switch (contents.kind) {
    case 'uninitialised':
      return { ...plain, uninitialised: true };
    case 'fill': {
      const fill = readElement(type, contents.value);
      return typeof fill === 'bigint' ? { ...plain, fill } : { problem: `is filled with a value that is wrong: ${fill.problem}` };
    }
    case 'file':
      return { ...plain, initial: file! };
    case 'drawn':
      return {
        problem: `has ${length} elements, and only arrays without bounds are generated; write ${type.name}[]`,
      };
    default: {
      const initial = elements(type, length, contents);
      return 'problem' in initial ? initial : { ...plain, initial };
    }
  }
}

function endlessArray(type: ElementType, contents: Contents): ArrayData | Problem {
  const plain = { bytes: null, values: new Map<number, bigint>() };
  if (contents.kind === 'drawn') {
    const { drawn } = contents;
    const bits = (value: number): bigint => {
      const read = readElement(type, String(value));
      return typeof read === 'bigint' ? read : 0n;
    };
    const values = generatedNumbers(drawn, type.name).map((value, at) => [at, bits(value)] as const);
    return { bytes: null, values: new Map(values), fill: bits(trailingValue(drawn, type.name)) };
  }
  if (contents.kind === 'fill') {
    const fill = readElement(type, contents.value);
    return typeof fill === 'bigint' ? { ...plain, fill } : { problem: `is filled with a value that is wrong: ${fill.problem}` };
  }
  if (contents.kind === 'iota' && contents.count !== undefined) {
    const next = sequence(type, contents);
    if (typeof next !== 'function') return next;
    const values = new Map(Array.from({ length: contents.count }, (_, index) => [index, next(index)]));
    return { ...plain, values, fill: next(contents.count) };
  }
  return { problem: 'has no bounds, so it can contain only zeros, ones, fill(VALUE) or iota(START,STEP,COUNT)' };
}

function elements(
  type: ElementType,
  length: number,
  contents: Extract<Contents, { kind: 'iota' | 'random' | 'list' }>,
): Uint8Array | Problem {
  const bytes = new Uint8Array(length * type.bytes);
  const view = new DataView(bytes.buffer);
  const put = writer(type, view);
  if (contents.kind === 'list') {
    for (const [index, text] of contents.values.entries()) {
      const bits = readElement(type, text);
      if (typeof bits !== 'bigint') return { problem: `has an element ${index} that is wrong: ${bits.problem}` };
      put(index, bits);
    }
    return bytes;
  }
  const next = sequence(type, contents);
  if (typeof next !== 'function') return next;
  for (let index = 0; index < length; index++) put(index, next(index));
  return bytes;
}

/** The bit patterns of the elements; they must be requested in ascending order. */
function sequence(type: ElementType, contents: Sequence): ((index: number) => bigint) | Problem {
  const { format } = type;
  if (format === undefined) return wholeSequence(type, contents);
  const next = floatSequence(contents);
  return typeof next === 'function' ? (index) => floatBits(format, next(index)) : next;
}

function writer({ bytes }: ElementType, view: DataView): (index: number, bits: bigint) => void {
  switch (bytes) {
    case 1:
      return (index, bits) => view.setUint8(index, Number(BigInt.asUintN(8, bits)));
    case 2:
      return (index, bits) => view.setUint16(2 * index, Number(BigInt.asUintN(16, bits)), true);
    case 4:
      return (index, bits) => view.setUint32(4 * index, Number(BigInt.asUintN(32, bits)), true);
    case 8:
      return (index, bits) => view.setBigUint64(8 * index, bits, true);
  }
}

function steps({ count }: { readonly count?: number }, index: number): number {
  return count === undefined ? index : Math.min(index, count);
}

type Sequence = Extract<Contents, { kind: 'iota' | 'random' }>;

function floatSequence(contents: Sequence): ((index: number) => number) | Problem {
  const [a, b] = contents.kind === 'iota' ? [contents.start, contents.step] : [contents.low ?? '0', contents.high ?? '1'];
  const [first, second] = [floatOf(a), floatOf(b)];
  if (first === undefined || second === undefined) {
    return { problem: `contains ${contents.kind} of ${first === undefined ? a : b}, which is not a number` };
  }
  if (contents.kind === 'iota') return (index) => first + steps(contents, index) * second;
  if (!(first <= second)) return { problem: `asks for random numbers from ${a} to ${b}, but ${b} is less than ${a}` };
  const random = seededRandom(contents.seed);
  return () => first + random.next() * (second - first);
}

function wholeSequence(type: ElementType, contents: Sequence): ((index: number) => bigint) | Problem {
  const bits = BigInt(8 * type.bytes);
  const all = type.kind === 'signed' ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, (1n << bits) - 1n];
  const [a, b] =
    contents.kind === 'iota' ? [contents.start, contents.step] : [contents.low ?? String(all[0]), contents.high ?? String(all[1])];
  const [first, second] = [wholeOf(a), wholeOf(b)];
  if (first === undefined || second === undefined) {
    return { problem: `contains ${contents.kind} of ${first === undefined ? a : b}, which is not a whole number` };
  }
  if (contents.kind === 'iota') return (index) => BigInt.asUintN(Number(bits), first + BigInt(steps(contents, index)) * second);
  if (first > second) return { problem: `asks for random numbers from ${a} to ${b}, but ${b} is less than ${a}` };
  const random = seededRandom(contents.seed);
  const count = second - first + 1n;
  const draw = (): bigint => (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
  return () => BigInt.asUintN(Number(bits), first + (draw() % count));
}
