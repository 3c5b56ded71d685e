/** The lines of a trace. */
import type { TracedAccess, TracedValue, TraceEntry } from '../../interpreter/trace.ts';
import type { Location } from '../../source/location.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import { elementTypeNamed, valueOf } from '../../launch/element.ts';

/**
 * One line for an instruction that a thread executed.
 * @param placeOf source location
 */
export function traceLine(entry: TraceEntry, placeOf: (place: TraceEntry['place']) => Location): string {
  const { block, thread, place, reads, writes, accesses, target } = entry;
  const { file, line } = placeOf(place);
  const where = `(${block.join(',')}) (${thread.join(',')}) ${file}:${line}`;
  const name = 'operation' in place ? place.operation.mnemonic : terminatorNames[place.kind];
  const types = name
    .split('.')
    .slice(1)
    .filter((part) => Object.hasOwn(shownTypes, part));
  const values = (list: readonly TracedValue[], type: string | undefined): string => list.map((value) => valueText(value, type)).join(', ');
  const parts = [
    `${where}  ${name}`,
    ...(writes.length > 0 ? [values(writes, types[0])] : []),
    ...(reads.length > 0 ? [`from ${values(reads, types.at(-1))}`] : []),
    ...accesses.map(accessText),
    ...(target === null ? [] : [`to block ${target}`]),
  ];
  return parts.join('  ');
}

const terminatorNames = {
  jump: 'jump',
  branch: 'branch',
  switch: 'brx.idx',
  exit: 'exit',
  trap: 'trap',
  unknown: 'unknown',
} as const;

const shownTypes: Readonly<Record<string, string>> = {
  f16: 'float16',
  bf16: 'bfloat16',
  f32: 'float32',
  f64: 'float64',
  s8: 'int8',
  s16: 'int16',
  s32: 'int32',
  s64: 'int64',
  u8: 'uint8',
  u16: 'uint16',
  u32: 'uint32',
  u64: 'uint64',
  b16: 'uint16',
  b32: 'uint32',
  b64: 'uint64',
};

function valueText({ register, type, value }: TracedValue, shown: string | undefined): string {
  if (value === null) return objectName(register ?? '');
  const name = register === undefined ? '' : `${register} = `;
  if (typeof value === 'boolean') return `${name}${value}`;
  const element = shown === undefined ? undefined : elementTypeNamed(shownTypes[shown] ?? '');
  // Addresses and bit patterns in hexadecimal; integers near zero are more readable in decimal.
  const isNumber = element?.kind === 'float' || BigInt.asIntN(64, value + (1n << 40n)) >> 41n === 0n;
  if (element && 8 * element.bytes === type && isNumber) return `${name}${valueOf(element, value)}`;
  return `${name}${value < 1n << 31n ? value : `0x${value.toString(16)}`}`;
}

function accessText({ operation, bytes, object, offset }: TracedAccess): string {
  const verbs = { read: 'reads', write: 'writes', atomic: 'updates' } as const;
  const at = offset === 0 ? '' : offset > 0 ? `+${offset}` : String(offset);
  return `${verbs[operation]} ${bytes} at ${objectName(object)}${at}`;
}
