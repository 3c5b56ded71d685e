/** Launches in a trace: lines of JSON, each of which describes a launch of a kernel. */
import type { Dim3 } from '../../base/dim3.ts';
import { parameterName } from '../../launch/parameter-field.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { Parameter } from '../../ir/form/kernel.ts';
import { argumentBufferBytes } from '../../idempotency/validator/c-source.ts';
import { isLegal, type InstanceArguments } from '../../idempotency/validator/instance-condition.ts';
import { parameterPlaces } from '../../idempotency/validator/parameter-layout.ts';
import { scalarPattern } from '../../settings/scalar-argument.ts';

/** A kernel that the lines of a trace may name. */
export interface TracedKernel {
  /** Names in a trace: the symbol in PTX, the whole name, and the name without parameters. */
  readonly names: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly sources: readonly ParameterSource[];
}

/** A line of a trace: a launch of a kernel, or why it is not one. */
type TracedLaunch<Kernel extends TracedKernel> =
  | ({ readonly kernel: Kernel; readonly launch: InstanceArguments } & Placed)
  /** If `isMalformed`, the line is not a launch of any kernel. */
  | ({ readonly problem: string; readonly kernel?: Kernel; readonly isMalformed: boolean } & Placed);

/** Location and sequence of a launch in the trace. */
interface Placed {
  /** Name of the sequence that the launch is part of. */
  readonly sequence?: string;
  readonly stream?: string;
}

/** Thrown for a line that cannot be parsed. */
class Malformed extends Error {}

/** Thrown for a line whose launch does not fit the kernel. */
class Unfitting extends Error {}

const longestLine = 1 << 20;

/** Parses one line of a trace. Never throws. */
export function readLaunch<Kernel extends TracedKernel>(line: string, kernels: readonly Kernel[]): TracedLaunch<Kernel> {
  let kernel: Kernel | undefined;
  let placed: Placed = {};
  try {
    const fields = fieldsOf(line);
    placed = placeOf(fields);
    kernel = kernelOf(fields['kernel'], kernels);
    return { kernel, launch: launchOf(fields, kernel), ...placed };
  } catch (error) {
    if (!(error instanceof Malformed || error instanceof Unfitting)) throw error;
    return {
      problem: error.message,
      ...(kernel ? { kernel } : {}),
      isMalformed: error instanceof Malformed,
      ...placed,
    };
  }
}

const known = ['kernel', 'grid', 'block', 'shared', 'arguments', 'allocations', 'symbols', 'sequence', 'stream'];

function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  if (line.length > longestLine) throw new Malformed(`the line has more than ${longestLine} characters`);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Malformed('the line is not JSON');
  }
  if (!isRecord(value)) throw new Malformed('the line is not a JSON object');
  const other = Object.keys(value).find((name) => !known.includes(name));
  if (other !== undefined) throw new Malformed(`the field ${shown(other)} is unknown`);
  return value;
}

function placeOf(fields: Readonly<Record<string, unknown>>): Placed {
  const name = (field: 'sequence' | 'stream'): Placed => {
    const value = fields[field];
    if (value === undefined) return {};
    const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
    if (typeof text !== 'string') throw new Malformed(`\`${field}\` is neither a name nor a number`);
    return { [field]: text };
  };
  return { ...name('sequence'), ...name('stream') };
}

function kernelOf<Kernel extends TracedKernel>(name: unknown, kernels: readonly Kernel[]): Kernel {
  if (typeof name !== 'string') throw new Malformed('`kernel` is not the name of a kernel');
  const named = kernels.filter(({ names }) => names.includes(name));
  if (named.length === 0) throw new Unfitting(`the kernel ${shown(name)} is not known`);
  if (named.length > 1) throw new Unfitting(`several kernels are called ${shown(name)}`);
  return named[0]!;
}

function launchOf(fields: Readonly<Record<string, unknown>>, kernel: TracedKernel): InstanceArguments {
  const { parameters } = kernel;
  const places = parameterPlaces(parameters);
  const launch: InstanceArguments = {
    arguments: argumentsOf(fields['arguments'] ?? [], kernel, argumentBufferBytes(places)),
    offsets: places.map(({ offset }) => offset),
    grid: dimensions(fields, 'grid'),
    block: dimensions(fields, 'block'),
    dynamicShared: fields['shared'] === undefined ? 0 : whole(fields['shared'], '`shared`'),
    ...allocations(fields['allocations']),
    ...symbols(fields['symbols']),
  };
  if (!isLegal(launch)) {
    throw new Unfitting(
      `no device accepts a grid of ${launch.grid.join(', ')}, a block of ${launch.block.join(', ')} and ${launch.dynamicShared} bytes of shared memory`,
    );
  }
  refuseShared(fields['allocations'], launch.arguments);
  return launch;
}

/**
 * Rejects memory that is mapped twice or shared with others: conditions on the arguments may not detect changes to it.
 */
function refuseShared(given: unknown, buffer: Uint8Array): void {
  const shared = listedAllocations(given ?? []).filter(({ isShared }) => isShared);
  if (shared.length === 0) return;
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  for (let at = 0; at + 8 <= buffer.length; at += 4) {
    const address = view.getBigUint64(at, true);
    if (shared.some(({ start, bytes }) => start <= address && address < start + bytes))
      throw new Unfitting(`an argument leads to ${shownAddress(address)}, which is memory with two addresses, or that others use`);
  }
}

function shownAddress(address: bigint): string {
  return `0x${address.toString(16)}`;
}

function dimensions(fields: Readonly<Record<string, unknown>>, name: 'grid' | 'block'): Dim3 {
  const value = fields[name];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length < 1 || list.length > 3) throw new Malformed(`\`${name}\` has ${list.length} dimensions`);
  const [x = 1, y = 1, z = 1] = list.map((extent) => whole(extent, `\`${name}\``));
  return [x, y, z];
}

function whole(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value)) throw new Malformed(`${what} is not a whole number`);
  return value as number;
}

/**
 * The bytes of all arguments, given as hexadecimal digits or as one value for each parameter, by position or by name.
 */
function argumentsOf(given: unknown, kernel: TracedKernel, size: number): Uint8Array {
  const { parameters, sources } = kernel;
  if (typeof given === 'string') return bytesOf(given, size, 'the arguments');
  const values = new Map<number, unknown>();
  if (Array.isArray(given)) {
    if (given.length !== parameters.length)
      throw new Unfitting(`the kernel has ${parameters.length} parameters, and the launch ${given.length} arguments`);
    given.forEach((value, index) => values.set(index, value));
  } else if (isRecord(given)) {
    for (const [name, value] of Object.entries(given)) {
      const index = parameters.findIndex(({ index: at }) => parameterName(sources, at) === name || `param${at}` === name);
      if (index < 0) throw new Unfitting(`the kernel has no parameter ${shown(name)}`);
      if (values.has(index)) throw new Unfitting(`the argument ${shown(name)} is given twice`);
      values.set(index, value);
    }
  } else throw new Malformed('`arguments` is neither a list, nor an object, nor hexadecimal digits');
  const buffer = new Uint8Array(size);
  for (const [index, { offset }] of parameterPlaces(parameters).entries()) {
    const name = parameterName(sources, index);
    if (!values.has(index)) throw new Unfitting(`the argument ${shown(name)} is missing`);
    buffer.set(argumentOf(values.get(index), parameters[index]!, sources[index]?.type, name), offset);
  }
  return buffer;
}

function argumentOf(value: unknown, parameter: Parameter, type: string | undefined, name: string): Uint8Array {
  const { bytes } = parameter;
  if (isRecord(value)) {
    if (typeof value['hex'] !== 'string') throw new Malformed(`the argument ${shown(name)} has no field \`hex\``);
    return bytesOf(value['hex'], bytes, `the argument ${shown(name)}`);
  }
  const isScalar = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
  if (!isScalar) throw new Malformed(`the argument ${shown(name)} is neither a number nor a string`);
  if (typeof value === 'string' && value.length > 64) throw new Unfitting(`the argument ${shown(name)} is too long`);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) && !/^f/.test(parameter.type))
    throw new Unfitting(`the argument ${shown(name)} has more digits than JSON keeps: give it as a string`);
  const pattern = scalarPattern(parameter, /[*&]|\[/.test(type ?? '') ? undefined : type, value);
  if (typeof pattern !== 'bigint') throw new Unfitting(`the argument ${shown(name)} ${pattern.problem}`);
  return Uint8Array.from({ length: bytes }, (_, index) => Number((pattern >> BigInt(index * 8)) & 0xffn));
}

function bytesOf(digits: string, size: number, what: string): Uint8Array {
  const hex = digits.replace(/^0x/, '');
  if (hex.length % 2 !== 0 || !/^[\da-f]*$/i.test(hex)) throw new Malformed(`${what} are not hexadecimal digits`);
  if (hex.length / 2 !== size) throw new Unfitting(`${what} have ${hex.length / 2} bytes and not ${size}`);
  return Uint8Array.from({ length: size }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16));
}

const end = 1n << 64n;

/** Parses an address or a number of bytes, which must be below 2^64. */
function address(value: unknown, what: string): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !/^(?:0x[\da-f]{1,32}|\d{1,40})$/i.test(text)) throw new Malformed(`${what} is not an address or size`);
  const number = BigInt(text);
  if (number >= end) throw new Unfitting(`${what} has more than 64 bits`);
  return number;
}

function allocations(given: unknown): Pick<InstanceArguments, 'allocation'> {
  if (given === undefined) return {};
  const all = listedAllocations(given).map(({ start, bytes }) => ({ start, bytes }));
  return { allocation: (of) => all.find(({ start, bytes }) => start <= of && of < start + bytes) };
}

interface ListedAllocation {
  readonly start: bigint;
  readonly bytes: bigint;
  /** Whether the memory is mapped twice, or shared with other processes or devices. */
  readonly isShared: boolean;
}

function listedAllocations(given: unknown): readonly ListedAllocation[] {
  if (!Array.isArray(given)) throw new Malformed('`allocations` is not a list');
  const all = given.map((one: unknown): ListedAllocation => {
    if (!isRecord(one)) throw new Malformed('an allocation is not an object with `start` and `bytes`');
    const start = address(one['start'], '`start` of an allocation');
    const bytes = address(one['bytes'], '`bytes` of an allocation');
    const { shared = false } = one;
    if (typeof shared !== 'boolean') throw new Malformed('`shared` of an allocation is neither true nor false');
    if (start + bytes > end) throw new Unfitting('an allocation goes beyond 64 bits of addresses');
    return { start, bytes, isShared: shared };
  });
  all.sort((a, b) => (a.start < b.start ? -1 : 1));
  if (all.some(({ start }, index) => index > 0 && all[index - 1]!.start + all[index - 1]!.bytes > start))
    throw new Unfitting('allocations overlap');
  return all;
}

function symbols(given: unknown): Pick<InstanceArguments, 'symbol'> {
  if (given === undefined) return {};
  if (!isRecord(given)) throw new Malformed('`symbols` is not an object');
  const all = new Map(Object.entries(given).map(([name, at]) => [name, address(at, `the symbol ${shown(name)}`)]));
  return { symbol: (name) => all.get(name) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
