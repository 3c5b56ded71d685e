/** A launch of a host program as a run of the interpreter: its extents, arguments and memory in one sample. */
import type { Dim3 } from '../base/dim3.ts';
import { pattern } from '../check/witness/replay.ts';
import { endsOf } from '../check/witness/some-blocks.ts';
import type { LaunchEvent } from '../cuda/launches/launch-event.ts';
import { type HostValue, extentsOf, hostField, termOf } from '../cuda/launches/value.ts';
import { maximumThreads } from '../device/hardware-limits.ts';
import type { Argument, GlobalBuffer } from '../interpreter/core/arguments.ts';
import type { RunRequest } from '../interpreter/core/run-request.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { type ParameterField, parameterFields } from '../launch/parameter-field.ts';
import type { ParameterSource } from '../launch/parameter-source.ts';
import type { HostSample, UsedTerms } from './host-values.ts';

/** What a run needs to know of a launch. */
export type LaunchInProgram = Pick<LaunchEvent, 'grid' | 'block' | 'shared' | 'arguments' | 'cooperative'>;

/** A run, with the memory of the host program for each of its buffers. */
export interface ConcreteLaunch {
  readonly request: RunRequest;
  /** Identities of memory by buffer; null: memory at an unknown place. */
  readonly memories: readonly (string | null)[];
}

/** The numbers of a launch on which a run of it depends. */
export function termsOfLaunch({ grid, block, shared, arguments: given = [] }: LaunchInProgram): UsedTerms {
  const extents = [grid, block, shared].flatMap((value) => (value && extentsOf(value)) ?? []);
  const all = given.flatMap(partsOf);
  const offsets = all.flatMap((value) => (value.kind === 'pointer' && value.offset ? [value.offset] : []));
  return { extents, offsets, numbers: all.flatMap((value) => (value.kind === 'pointer' ? [] : (termOf(value) ?? []))) };
}

function partsOf(value: HostValue): HostValue[] {
  return value.kind === 'record' ? [...value.fields.values()].flatMap(partsOf) : [value];
}

/**
 * A run of the first and the last blocks of a launch; null if its extents or arguments are unknown.
 * @param maxThreads number of threads of the first blocks; at least one block is run
 */
export function concreteLaunch(
  kernel: Kernel,
  parameters: readonly ParameterSource[],
  launch: LaunchInProgram,
  sample: HostSample,
  { steps, maxThreads }: { readonly steps: number; readonly maxThreads: number },
): ConcreteLaunch | null {
  const [grid, block] = [dimensionsOf(launch.grid, sample), dimensionsOf(launch.block, sample)];
  const sharedTerm = launch.shared && termOf(launch.shared);
  const sharedBytes = sharedTerm ? sample(sharedTerm) : undefined;
  const needsShared = kernel.objects.some(({ space, bytes }) => space === 'shared' && bytes === null);
  if (!grid || !block || !launch.arguments || (needsShared && sharedBytes === undefined)) return null;
  const threads = block[0] * block[1] * block[2];
  const count = grid[0] * grid[1] * grid[2];
  // Blocks that wait for others need all of them.
  if (threads > maximumThreads || kernel.workspace !== undefined || launch.cooperative !== false) return null;
  const first = Math.max(1, Math.floor(maxThreads / threads));
  const blocks = [...new Set([...Array(Math.min(count, first)).keys(), ...endsOf(grid)])];
  const buffers = new Buffers();
  const fields = parameterFields(kernel, [], parameters);
  const values: Argument[] = [];
  for (const { index } of kernel.parameters) {
    const value = launch.arguments[index];
    const own = fields.filter((field) => field.index === index);
    const argument = own.length === 0 ? unused : value && argumentOf(kernel, parameters, value, own, sample, buffers);
    if (!argument) return null;
    values.push(argument);
  }
  const request: RunRequest = {
    kernel,
    block,
    grid,
    sharedBytes: needsShared ? Number(sharedBytes) : 0,
    buffers: buffers.list,
    arguments: values,
    blocks,
    steps,
    detectRaces: false,
  };
  return { request, memories: buffers.memories };
}

const unused: Argument = { kind: 'scalar', value: 0n };

/** Extents of a block or a grid; null if they are unknown, or not those of a launch. */
function dimensionsOf(value: HostValue | undefined, sample: HostSample): Dim3 | null {
  const extents = value && extentsOf(value)?.map((term) => sample(term));
  if (!extents) return null;
  const [x, y, z] = extents;
  const isExtent = (extent: bigint | undefined): extent is bigint => extent !== undefined && extent > 0n && extent < 1n << 31n;
  return isExtent(x) && isExtent(y) && isExtent(z) ? [Number(x), Number(y), Number(z)] : null;
}

/** Arrays of a run, one for each memory. They have no end. */
class Buffers {
  readonly list: GlobalBuffer[] = [];
  readonly memories: (string | null)[] = [];

  of(memory: string | null): number {
    const known = memory === null ? -1 : this.memories.indexOf(memory);
    if (known >= 0) return known;
    this.memories.push(memory);
    return this.list.push({ name: memory ?? 'unknown', bytes: null, elementBytes: 4, fill: 0n, values: new Map() }) - 1;
  }
}

type Pointer = Extract<Argument, { kind: 'pointer' }>;

/** The argument of a parameter; null if the kernel reads a part of it that is unknown. */
function argumentOf(
  kernel: Kernel,
  parameters: readonly ParameterSource[],
  value: HostValue,
  fields: readonly ParameterField[],
  sample: HostSample,
  buffers: Buffers,
): Argument | null {
  const [{ index }] = fields as readonly [ParameterField];
  const { bytes, type } = kernel.parameters[index]!;
  const source = parameters[index];
  if (value.kind !== 'record') return scalarOrPointer(value, { bytes, type: source?.type ?? type }, sample, buffers);
  const all = new Uint8Array(bytes);
  const pointers: { at: number; buffer: number; offset: bigint }[] = [];
  for (const field of fields) {
    const member = source?.fields?.find(({ offset }) => offset === field.offset);
    if (!member) return null;
    const part = member.name.split('.').reduce(hostField, value as HostValue);
    const argument = scalarOrPointer(part, { bytes: field.bytes, type: member.type }, sample, buffers);
    if (argument?.kind === 'pointer') pointers.push({ at: field.offset, buffer: argument.buffer, offset: argument.offset });
    else if (argument) for (let at = 0; at < field.bytes; at++) all[field.offset + at] = Number((argument.value >> BigInt(8 * at)) & 255n);
    else return null;
  }
  return { kind: 'struct', bytes: all, pointers };
}

function scalarOrPointer(
  value: HostValue,
  { bytes, type }: { readonly bytes: number; readonly type: string },
  sample: HostSample,
  buffers: Buffers,
): Pointer | Extract<Argument, { kind: 'scalar' }> | null {
  if (value.kind === 'pointer' && value.memory.id === 'null') return unused as Extract<Argument, { kind: 'scalar' }>;
  if (value.kind === 'pointer') {
    const offset = value.offset ? sample(value.offset) : undefined;
    return { kind: 'pointer', buffer: buffers.of(offset === undefined ? null : value.memory.id), offset: offset ?? 0n };
  }
  if (type.includes('*')) return { kind: 'pointer', buffer: buffers.of(value.kind === 'symbol' ? value.symbol.id : null), offset: 0n };
  const isFloat = /^f\d|\b(?:float|double)\b/.test(type);
  if (value.kind === 'quotient') {
    const [numerator, denominator] = [sample(value.numerator), sample(value.denominator)];
    if (numerator === undefined || !denominator) return null;
    return scalar(isFloat ? Number(numerator) / Number(denominator) : numerator / denominator);
  }
  const term = termOf(value);
  const number = term ? sample(term) : undefined;
  return number === undefined ? null : scalar(isFloat ? Number(number) : number);

  function scalar(result: number | bigint): Extract<Argument, { kind: 'scalar' }> {
    const bits = typeof result === 'number' ? pattern(result, bytes === 4 ? 'float32' : 'float64') : result;
    return { kind: 'scalar', value: BigInt.asUintN(8 * bytes, bits) };
  }
}
