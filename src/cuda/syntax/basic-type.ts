/** Integer types by name after {@link basicTypeOf}: size in bytes (LP64) and signedness. */
const integers: Readonly<Record<string, readonly [bytes: number, signed: boolean]>> = {
  bool: [1, false],
  char: [1, true],
  'signed char': [1, true],
  'unsigned char': [1, false],
  short: [2, true],
  'unsigned short': [2, false],
  int: [4, true],
  unsigned: [4, false],
  long: [8, true],
  'unsigned long': [8, false],
  'long long': [8, true],
  'unsigned long long': [8, false],
  int8_t: [1, true],
  uint8_t: [1, false],
  int16_t: [2, true],
  uint16_t: [2, false],
  int32_t: [4, true],
  uint32_t: [4, false],
  int64_t: [8, true],
  uint64_t: [8, false],
  size_t: [8, false],
  ptrdiff_t: [8, true],
  ssize_t: [8, true],
  intptr_t: [8, true],
  uintptr_t: [8, false],
  uint: [4, false],
  uchar: [1, false],
  ushort: [2, false],
};
const floats: Readonly<Record<string, number>> = { float: 4, double: 8, half: 2, __half: 2, __nv_bfloat16: 2 };
const otherSizes: Readonly<Record<string, number>> = { __half2: 4, half2: 4, __nv_bfloat162: 4, float3: 12, int3: 12, uint3: 12, dim3: 12 };
const vector = /^(u?(?:char|short|int|long|longlong)|float|double)([124])$/;
const vectorElements: Readonly<Record<string, number>> = {
  char: 1,
  uchar: 1,
  short: 2,
  ushort: 2,
  int: 4,
  uint: 4,
  long: 8,
  ulong: 8,
  longlong: 8,
  ulonglong: 8,
  float: 4,
  double: 8,
};

/** Cache of types: programs have few, and they are requested often. */
const basicTypes = new Map<string, string>();
const maxBasicTypes = 4096;

/** A type without qualifiers, in the spelling of the tables here: `unsigned` for `const unsigned int`. */
export function basicTypeOf(type: string): string {
  let known = basicTypes.get(type);
  if (known === undefined) {
    if (basicTypes.size >= maxBasicTypes) basicTypes.clear();
    basicTypes.set(type, (known = withoutQualifiers(type)));
  }
  return known;
}

function withoutQualifiers(type: string): string {
  const words = type
    .replace(/\bstd\s*::/g, '')
    .split(/\s+/)
    .filter((word) => word !== '' && !/^(?:const|constexpr|static|volatile|inline|__\w+__)$/.test(word));
  const count = (word: string): number => words.filter((other) => other === word).length;
  const base = words.filter((word) => !/^(?:unsigned|signed|int|long|short|char)$/.test(word));
  if (base.length > 0 || words.length === 0) return words.join(' ');
  const sign = count('unsigned') > 0 ? 'unsigned' : '';
  if (count('char') > 0) return sign ? 'unsigned char' : count('signed') > 0 ? 'signed char' : 'char';
  if (count('short') > 0) return `${sign} short`.trim();
  if (count('long') > 0) return `${sign} ${count('long') > 1 ? 'long long' : 'long'}`.trim();
  return sign || 'int';
}

/** Size in bytes and signedness of an integer type; undefined for other types. */
export function integerType(type: string): { readonly bytes: number; readonly signed: boolean } | undefined {
  const entry = integers[basicTypeOf(type)];
  return entry && { bytes: entry[0], signed: entry[1] };
}

/** Whether a type is a floating-point scalar. */
export function isFloatType(type: string): boolean {
  return Object.hasOwn(floats, basicTypeOf(type));
}

/** `sizeof` of a built-in type or of a pointer, in bytes (LP64); undefined for another type. */
export function sizeOfType(type: string): number | undefined {
  if (/\*\s*(?:const\s*)?$/.test(type)) return 8;
  const name = basicTypeOf(type);
  const known = integers[name]?.[0] ?? floats[name] ?? otherSizes[name];
  const [, element = '', lanes] = vector.exec(name) ?? [];
  return known ?? (lanes === undefined ? undefined : (vectorElements[element] ?? 0) * Number(lanes));
}

/** Alignment of a built-in type or of a pointer, in bytes (LP64, `vector_types.h`); undefined for another type. */
export function alignmentOfType(type: string): number | undefined {
  const bytes = sizeOfType(type);
  // Vectors of three elements are aligned as one element is; no vector is aligned to more than 16 bytes.
  return bytes === 12 ? 4 : bytes === undefined ? undefined : Math.min(bytes, 16);
}
