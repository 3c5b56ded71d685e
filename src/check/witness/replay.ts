/** Runs a kernel in the reference interpreter to show a finding: concrete dimensions, arguments and memory. */
import { evaluateExpression } from '../../assumptions/evaluate.ts';
import { givenScalar, lookupIn } from '../context/scalars.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { KernelContext } from '../context/facts.ts';
import type { FaultEvent, RunResult } from '../../interpreter/core/run-result.ts';
import type { Argument, GlobalBuffer } from '../../interpreter/core/arguments.ts';
import { type GeneratedContents, generatedNumbers, drawnText, trailingValue, pointersIn } from '../representative/contents.ts';
import { seededRandom } from '../../base/random.ts';
import { settled, type Steps } from '../../base/coroutine.ts';
import type { RunRequest } from '../../interpreter/core/run-request.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import { type ParameterField, fieldName, scalarText } from '../../launch/parameter-field.ts';
import { type Launch, clusterOf } from '../../launch/launch.ts';
import { endlessElements, type Witness, type WitnessArgument } from '../../verdict/finding.ts';

/** The parameters of a replay. */
export interface Scenario {
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly sharedBytes: number;
  /** Value of a scalar field. */
  readonly scalar: (field: ParameterField) => bigint;
  /** The index of the representative launch that the run executes; absent if none exists. */
  readonly setting?: number;
  /** Linear indices of the blocks to run. */
  readonly blocks: readonly number[];
  /** The seed of the schedule of blocks and warps (`interpreter/core/schedule.ts`); absent: the order of `blocks`. */
  readonly order?: number;
  readonly contents: Contents;
  /** Contents of arrays for which `contents` does not apply, by `INDEX.OFFSET` of the parameter. */
  readonly settled: ReadonlyMap<string, Contents>;
  /** Stated sizes of arrays in bytes, by `INDEX.OFFSET` of the parameter; other arrays are unbounded. */
  readonly extents?: ReadonlyMap<string, number>;
}

/** An event of a finding, and the scenario of the run in which it occurred. */
export interface Shown<Event> {
  readonly event: Event;
  readonly scenario: Scenario;
}

/**
 * Contents of array arguments: one value for all elements, values that ascend or descend with the index, or random
 * values.
 */
export type Contents = number | 'rising' | 'falling' | `random ${number}` | GeneratedContents | Filled;

/** The elements that the host program stores in an array. */
interface Filled {
  readonly kind: 'filled';
  readonly values: readonly number[];
}

/** Maximum number of races in a run before it is stopped. */
const maxRaces = 1000;

/** Number of leading elements that differ if contents ascend or descend. */
const distinctElements = 4096;

/** The elements of contents: a fill value, and the values of the leading elements. */
function numbersIn(contents: Contents, type: string): { fill: number; values: readonly number[] } {
  if (typeof contents === 'number') return { fill: contents, values: [] };
  if (typeof contents === 'object' && contents.kind === 'filled') return { fill: 0, values: contents.values };
  if (typeof contents === 'object') return { fill: trailingValue(contents, type), values: generatedNumbers(contents, type) };
  if (contents === 'rising') return { fill: distinctElements, values: [...Array(distinctElements).keys()] };
  if (contents === 'falling') return { fill: 0, values: Array.from({ length: distinctElements }, (_, i) => distinctElements - i) };
  const random = seededRandom(Number(contents.slice('random '.length)));
  return { fill: 0, values: Array.from({ length: distinctElements }, () => random.below(100)) };
}

type Patterns = Pick<GlobalBuffer, 'fill' | 'values'>;

/** Cached bit patterns, since runs of a kernel fill their arrays with few different contents. */
const patterns = new Map<string, Patterns>();
const maxPatterns = 100;

function contentsOf(contents: Contents, type: string): Patterns {
  const key = `${typeof contents} ${typeof contents === 'object' ? JSON.stringify(contents) : contents} ${type}`;
  const known = patterns.get(key);
  if (known) return known;
  const { fill, values } = numbersIn(contents, type);
  const made = { fill: pattern(fill, type), values: new Map(values.map((value, i) => [i, pattern(value, type)])) };
  if (patterns.size >= maxPatterns) patterns.clear();
  patterns.set(key, made);
  return made;
}

/** Distance of the arrays that pointers in memory point to, in bytes. */
const spacing = 2 ** 26;

/** An array of pointers into a buffer, with integers between them. */
export function tableOf(
  held: GeneratedContents & { readonly kind: 'pointers' },
  buffer: number,
): Patterns & Pick<GlobalBuffer, 'pointers'> {
  const size = BigInt(held.size);
  return { fill: (size << 32n) | size, values: new Map(), pointers: { buffer, spacing, elements: pointersIn(held) } };
}

/** The bit pattern of a value as an element. */
export function pattern(value: number, type: string): bigint {
  if (type === 'float32') return BigInt(new Uint32Array(new Float32Array([value]).buffer)[0]!);
  if (type === 'float64') return new BigUint64Array(new Float64Array([value]).buffer)[0]!;
  return BigInt.asUintN(Number(/\d+/.exec(type)![0]), BigInt(value));
}

/** Element type of an array parameter: its contents depend on it. */
function elementOf(parameters: readonly ParameterSource[], field: ParameterField): { type: string; bytes: number } {
  const parameter = parameters[field.index];
  const text = parameter?.fields?.find(({ offset }) => offset === field.offset)?.type ?? parameter?.type ?? '';
  if (/\bdouble\b/.test(text)) return { type: 'float64', bytes: 8 };
  if (/\bfloat\d?\b/.test(text)) return { type: 'float32', bytes: 4 };
  if (/\b(unsigned char|uint8_t|uchar)\b/.test(text)) return { type: 'uint8', bytes: 1 };
  if (/\b(char|int8_t|bool)\b/.test(text)) return { type: 'int8', bytes: 1 };
  if (/\b(short|int16_t|uint16_t)\b/.test(text)) return { type: 'int16', bytes: 2 };
  if (/\b(long|int64_t|uint64_t|size_t)\b/.test(text)) return { type: 'int64', bytes: 8 };
  return { type: 'int32', bytes: 4 };
}

function describeContents(contents: Contents, type: string, length = endlessElements): WitnessArgument {
  const { fill, values } = numbersIn(contents, type);
  const kept = values.slice(0, length);
  const drawn = typeof contents === 'object' && contents.kind !== 'filled' ? { drawn: drawnText(contents) } : {};
  return { type, length, fill, ...(kept.length > 0 && { values: Object.fromEntries(kept.entries()) }), ...drawn };
}

/** The parameter to whose array a pointer points; the pointer's own index if it does not alias a lower one. */
function ownerOf({ samePointers, distances }: Launch, { index, offset }: ParameterField): number {
  const lower = distances?.find(([, to]) => to === index);
  if (lower && offset === 0) return lower[0];
  const alias = samePointers?.find(([a, b]) => b === index || a === index);
  return alias && offset === 0 ? Math.min(...alias) : index;
}

/** Byte offset of a pointer from the start of the array into which it points. */
export function offsetInArray(
  kernel: Kernel,
  parameters: readonly ParameterSource[],
  fields: readonly ParameterField[],
  { distances }: Launch,
  scenario: Scenario,
  { index, offset }: Pick<ParameterField, 'index' | 'offset'>,
): number {
  const distance = offset === 0 ? distances?.find(([, to]) => to === index) : undefined;
  if (!distance) return 0;
  return Number(evaluateExpression(distance[2], lookupIn({ kernel, fields }, parameters, scenario)) ?? 0n);
}

function contentsIn({ contents, settled }: Scenario, array: string): Contents {
  return settled.get(array) ?? contents;
}

/** The request for a run of a scenario, with race detection. */
export function replayRequest(
  kernel: Kernel,
  parameters: readonly ParameterSource[],
  fields: readonly ParameterField[],
  launch: Launch,
  scenario: Scenario,
  steps: number,
  warpLockstep: boolean,
  watch?: RunRequest['watch'],
): RunRequest {
  const buffers: GlobalBuffer[] = [];
  const bufferOf = new Map<string, number>();
  for (const field of fields) {
    if (!field.isPointer) continue;
    const key = `${ownerOf(launch, field)}.${field.offset}`;
    if (!bufferOf.has(key)) {
      const { type, bytes } = elementOf(parameters, field);
      bufferOf.set(key, buffers.length);
      const held = contentsIn(scenario, key);
      const isTable = typeof held === 'object' && held.kind === 'pointers';
      const contents = isTable ? tableOf(held, buffers.length + 1) : contentsOf(held, type);
      buffers.push({ name: key, bytes: scenario.extents?.get(key) ?? null, elementBytes: isTable ? 8 : bytes, ...contents });
      // The buffer for the arrays to which the pointers in a table point.
      if (isTable) buffers.push({ name: `${key}[...]`, bytes: null, elementBytes: bytes, ...contentsOf(scenario.contents, type) });
    }
    bufferOf.set(`${field.index}.${field.offset}`, bufferOf.get(key)!);
  }
  const values = kernel.parameters.map((parameter): Argument => {
    const own = fields.filter((field) => field.index === parameter.index);
    const single = own.length === 1 && own[0]!.offset === 0 && own[0]!.bytes === parameter.bytes ? own[0]! : null;
    if (single?.isPointer && launch.nulls?.includes(parameter.index)) return { kind: 'scalar', value: 0n };
    if (single?.isPointer)
      return {
        kind: 'pointer',
        buffer: bufferOf.get(`${parameter.index}.0`)!,
        offset: BigInt(offsetInArray(kernel, parameters, fields, launch, scenario, single)),
      };
    if (single) return { kind: 'scalar', value: scenario.scalar(single) };
    const bytes = new Uint8Array(parameter.bytes);
    const pointers: { at: number; buffer: number; offset: bigint }[] = [];
    for (const field of own) {
      if (field.isPointer) pointers.push({ at: field.offset, buffer: bufferOf.get(`${field.index}.${field.offset}`)!, offset: 0n });
      else {
        const value = scenario.scalar(field);
        for (let i = 0; i < field.bytes; i++) bytes[field.offset + i] = Number((value >> BigInt(8 * i)) & 255n);
      }
    }
    return { kind: 'struct', bytes, pointers };
  });
  return {
    kernel,
    block: scenario.block,
    grid: scenario.grid,
    sharedBytes: scenario.sharedBytes,
    buffers,
    arguments: values,
    blocks: scenario.blocks,
    ...(scenario.order !== undefined && { seed: scenario.order }),
    steps,
    detectRaces: true,
    maxRaces,
    warpLockstep,
    cluster: clusterOf(launch, kernel),
    ...(watch && { watch }),
  };
}

/**
 * Executes a run. The interpreter is loaded on demand, since most kernels are decided without it and most runs are
 * small.
 */
export function* replay(request: RunRequest): Steps<RunResult> {
  const { runIfSmall } = yield* settled(() => import('../../interpreter/javascript/staged-run.ts'));
  const result = runIfSmall(request);
  if (result) return result;
  const { runKernel } = yield* settled(() => import('../../interpreter/machine.ts'));
  return runKernel({ ...request, backend: 'webassembly' });
}

/** A fault with the array that it left, if the launch passes a null pointer for it. */
export function ofNullPointer({ accesses, request }: Pick<KernelContext, 'accesses' | 'request'>, fault: FaultEvent): FaultEvent {
  const targets = accesses.find(({ instruction }) => instruction.id === fault.instruction)?.targets ?? [];
  const isNull = targets.some(({ base }) => base.kind === 'parameter' && base.offset === 0 && request.launch.nulls?.includes(base.index));
  return fault.kind === 'out-of-bounds' && !fault.left && isNull ? { ...fault, left: { object: 'null', offset: 0, bytes: 0 } } : fault;
}

/** The scenario of a run as a witness in the report. */
export function describeWitness(
  kernel: Kernel,
  name: string,
  parameters: readonly ParameterSource[],
  fields: readonly ParameterField[],
  launch: Launch,
  scenario: Scenario,
): Witness {
  const args: Record<string, WitnessArgument> = {};
  const chosen: string[] = [];
  for (const field of fields) {
    const key = fieldName(parameters, field, kernel);
    const owner = fields.find(({ index, offset }) => index === ownerOf(launch, field) && offset === field.offset);
    if (field.isPointer && owner && owner.index !== field.index) {
      const bytes = offsetInArray(kernel, parameters, fields, launch, scenario, field);
      args[key] = { same: fieldName(parameters, owner, kernel), ...(bytes > 0 ? { bytes } : {}) };
    } else if (field.isPointer) {
      const { type, bytes } = elementOf(parameters, field);
      const array = `${ownerOf(launch, field)}.${field.offset}`;
      const extent = scenario.extents?.get(array);
      const length = extent === undefined ? undefined : Math.ceil(extent / bytes);
      args[key] = describeContents(contentsIn(scenario, array), type, length);
    } else {
      args[key] = scalarText(kernel, parameters, field, scenario.scalar(field));
      if (givenScalar(launch, field.index, field.offset, field.bytes) === undefined) chosen.push(key);
    }
  }
  return {
    kernel: name,
    block: scenario.block,
    grid: scenario.grid,
    ...(scenario.sharedBytes > 0 && { sharedBytes: scenario.sharedBytes }),
    schedule: { blocks: scenario.blocks, ...(scenario.order !== undefined && { order: scenario.order }) },
    args,
    ...(chosen.length > 0 && { chosen }),
  };
}
