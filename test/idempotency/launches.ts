/** Launches of the kernels of the corpus, generated from a seed: placement, contents and sizes of arrays. */
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { Dim3 } from '../../src/base/dim3.ts';
import { argumentBytes, regionBase } from '../../src/interpreter/core/global-memory.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { stage } from '../../src/interpreter/javascript/stage.ts';
import type { ArrayWindow, ReexecutionRequest } from '../../src/idempotency/reexecution/reexecute.ts';
import type { CorpusKernel } from './corpus.ts';
import { type Contents, type DrawnArray, type DrawnLaunch, drawLaunch } from './directive.ts';

/** Placement of the arrays of a launch. */
export type Placement =
  | 'apart'
  | 'pool'
  | 'touching'
  | 'exact'
  | 'one-byte'
  | 'one-element'
  | 'interleaved'
  | 'half'
  | 'misaligned'
  | 'empty';

interface PlacedArray extends DrawnArray, ArrayWindow {
  readonly type: ElementType;
}

export interface CorpusLaunch {
  readonly kernel: CorpusKernel;
  readonly number: number;
  readonly placement: Placement;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly sharedBytes: number;
  readonly scalars: DrawnLaunch['scalars'];
  readonly arrays: readonly PlacedArray[];
  /** Bytes of each buffer, which is one allocation. */
  readonly buffers: readonly number[];
}

interface ElementType {
  readonly bytes: number;
  readonly isFloat: boolean;
  readonly isPointer: boolean;
  /** Components of an element. */
  readonly count: number;
}

const overlapping: readonly Placement[] = ['exact', 'one-byte', 'one-element', 'interleaved', 'half', 'misaligned'];
const harmless: readonly Placement[] = ['apart', 'pool', 'touching'];
/** The first launches of each kernel; the others are random. */
const first: readonly Placement[] = [
  'apart',
  'exact',
  'empty',
  'touching',
  'one-byte',
  'one-element',
  'interleaved',
  'pool',
  'half',
  'misaligned',
];
/** Share of overlapping ones among the others; about a third of all launches is then not idempotent. */
const shareOverlapping = 0.12;

/** The same launches for the same seed. */
export function launchesOf(kernel: CorpusKernel, count: number, seed: number): readonly CorpusLaunch[] {
  return Array.from({ length: count }, (_, number) => launchOf(kernel, number, seed));
}

function launchOf(kernel: CorpusKernel, number: number, seed: number): CorpusLaunch {
  const random = seededRandom(hash(`${kernel.name} ${number} ${seed}`));
  const placement = first[number] ?? random.pick(random.chance(shareOverlapping) ? overlapping : harmless);
  const drawn = drawLaunch(kernel.launch, { random, isEmpty: placement === 'empty' });
  const order = drawn.arrays.map((array) => ({ ...array, type: elementType(kernel, array.name) }));
  return { kernel, number, placement, ...drawn, ...place(order, kernel, placement, random) };
}

function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (const sign of text) bits = Math.imul(bits ^ sign.charCodeAt(0), 0x01000193);
  return bits;
}

function elementType({ parameters }: CorpusKernel, name: string): ElementType {
  const { type } = parameters.find((parameter) => parameter.name === name)!;
  if ((type.match(/\*/g) ?? []).length > 1) return { bytes: 8, isFloat: false, isPointer: true, count: 1 };
  const [, count = '1'] = /(?:float|int)([24])/.exec(type) ?? [];
  const bytes = /double|long long/.test(type) ? 8 : /float|int|unsigned(?! char)/.test(type) ? 4 : /short/.test(type) ? 2 : 1;
  return { bytes: bytes * Number(count), isFloat: /float|double/.test(type), isPointer: false, count: Number(count) };
}

type Unplaced = Omit<PlacedArray, keyof ArrayWindow>;

function place(arrays: readonly Unplaced[], kernel: CorpusKernel, placement: Placement, random: Random) {
  const sizeOf = ({ elements, type }: Unplaced): number => elements * type.bytes;
  const placed: PlacedArray[] = [];
  const buffers: number[] = [];
  const add = (array: Unplaced, buffer: number, offset: number): void => {
    placed.push({ ...array, buffer, offset, bytes: sizeOf(array) });
    buffers[buffer] = Math.max(buffers[buffer] ?? 0, offset + sizeOf(array));
  };
  if (placement === 'pool' || placement === 'touching') {
    let end = 16 * random.below(4);
    for (const array of arrays) {
      const gap = placement === 'pool' ? random.below(40) : 0;
      end = Math.ceil((end + gap) / array.type.bytes) * array.type.bytes;
      add(array, 0, end);
      end += sizeOf(array);
    }
    return { arrays: placed, buffers };
  }
  const pair = overlapping.includes(placement) ? pairOf(arrays, kernel, random) : null;
  for (const array of arrays) if (array !== pair?.second) add(array, buffers.length, 0);
  if (pair) {
    const { first: base, second } = pair;
    const below = placed.findIndex(({ name }) => name === base.name);
    const delta = distance(placement, base, second, random);
    // The buffer begins with the first of the two.
    const alignment = Math.max(base.type.bytes, second.type.bytes);
    const shift = delta < 0 ? Math.ceil(-delta / alignment) * alignment : 0;
    const { buffer } = placed[below]!;
    placed[below] = { ...placed[below]!, offset: shift };
    buffers[buffer] = Math.max(buffers[buffer]!, shift + sizeOf(base));
    add(second, buffer, shift + delta);
  }
  return { arrays: arrays.map(({ name }) => placed.find((array) => array.name === name)!), buffers };
}

/** Two arrays to overlap, of which one may be written. */
function pairOf(all: readonly Unplaced[], { parameters, stated }: CorpusKernel, random: Random) {
  // Statements hold: no array overlaps the targets of pointers that are stated to be disjoint.
  const tables = stated.flatMap(({ expression }) => (expression.kind === 'pointers-apart' ? expression.array : []));
  const targets = all.flatMap(({ name, contents }) => (contents.kind === 'pointers' && tables.includes(name) ? contents.target : []));
  const arrays = all.filter(({ name }) => !targets.includes(name));
  const isWritable = ({ name }: Unplaced): boolean =>
    !/\bconst\b[^*]*\*$/.test(
      parameters
        .find((parameter) => parameter.name === name)!
        .type.replace('__restrict__', '')
        .trim(),
    );
  const writable = arrays.filter(isWritable);
  if (writable.length === 0 || arrays.length < 2) return null;
  const one = random.pick(writable);
  const other = random.pick(arrays.filter((array) => array !== one));
  return random.chance(0.5) ? { first: one, second: other } : { first: other, second: one };
}

/** Bytes from the start of one array to that of the other, as far as the elements of both allow. */
function distance(placement: Placement, base: Unplaced, second: Unplaced, random: Random): number {
  const [bytes, other] = [base.elements * base.type.bytes, second.elements * second.type.bytes];
  const step = second.type.bytes;
  const aligned = (offset: number): number => Math.floor(offset / step) * step;
  // If the second array cannot begin at every byte, the first one may end there.
  const oneByte = step === 1 ? bytes - 1 : base.type.bytes === 1 ? -(other - 1) : aligned(bytes - 1);
  switch (placement) {
    case 'one-byte':
      return bytes === 0 || other === 0 ? 0 : oneByte;
    case 'one-element':
      return random.chance(0.5) ? aligned(bytes - 1) : -(Math.ceil((other - 1) / step) - 1) * step;
    case 'interleaved':
      return step * random.between(1, 3);
    case 'half':
      return aligned(bytes / 2);
    case 'misaligned':
      return step * (1 + 2 * random.below(8));
    default:
      return 0;
  }
}

/** Address of a buffer in every run. */
export function bufferAddress({ executable }: CorpusKernel, buffer: number): number {
  return regionBase(stage(executable).layout.firstBuffer + buffer);
}

function memoryOf(launch: CorpusLaunch, contents: number): GlobalBuffer[] {
  const random = seededRandom(hash(`${launch.kernel.name} ${launch.number} contents ${contents}`));
  const bytes = launch.buffers.map((count) => new Uint8Array(count));
  // Contents that decide addresses, or that the user states, are written last.
  const stated = launch.kernel.stated.flatMap(({ expression }) => (expression.kind === 'elements' ? expression.array : []));
  const rank = ({ name, contents: { kind } }: DrawnArray): number =>
    (kind === 'numbers' || kind === 'zero') && !stated.includes(name) ? 0 : 1;
  for (const array of [...launch.arrays].sort((a, b) => rank(a) - rank(b))) fill(bytes[array.buffer]!, array, launch, random);
  return bytes.map((initial, buffer) => ({
    name: launch.arrays
      .filter((array) => array.buffer === buffer)
      .map(({ name }) => name)
      .join('+'),
    bytes: initial.length,
    elementBytes: 1,
    fill: 0n,
    values: new Map(),
    initial,
  }));
}

function fill(memory: Uint8Array, array: PlacedArray, launch: CorpusLaunch, random: Random): void {
  const { type, elements, offset } = array;
  const view = new DataView(memory.buffer);
  const each = type.bytes / type.count;
  const numbers = numbersOf(array.contents, elements * type.count, type.isFloat, random);
  for (const [at, number] of numbers.entries()) {
    const place = offset + at * each;
    if (array.contents.kind === 'pointers') {
      const { target, elements: spacing } = array.contents;
      const to = launch.arrays.find(({ name }) => name === target)!;
      const address = bufferAddress(launch.kernel, to.buffer) + to.offset + at * spacing * to.type.bytes;
      view.setBigUint64(place, BigInt(address), true);
    } else if (type.isFloat) {
      if (each === 8) view.setFloat64(place, number, true);
      else view.setFloat32(place, number, true);
    } else if (each === 8) view.setBigInt64(place, BigInt(number), true);
    else if (each === 4) view.setInt32(place, number, true);
    else if (each === 2) view.setInt16(place, number, true);
    else view.setInt8(place, number);
  }
}

function numbersOf(contents: Contents, count: number, isFloat: boolean, random: Random): number[] {
  const each = (make: (at: number) => number): number[] => Array.from({ length: count }, (_, at) => make(at));
  switch (contents.kind) {
    case 'zero':
      return each(() => 0);
    case 'below':
      return each(() => random.below(Math.max(1, contents.limit)));
    case 'ascending': {
      let sum = 0;
      return each((at) => (sum += at === 0 ? 0 : random.below(contents.limit + 1)));
    }
    case 'flags':
      return each(() => random.below(2));
    case 'levels':
      return each(() => random.between(-1, 1));
    case 'ranks':
      return each((at) => at);
    case 'perm': {
      const order = each((at) => at);
      for (let last = count - 1; last > 0; last--) {
        const other = random.below(last + 1);
        [order[last], order[other]] = [order[other]!, order[last]!];
      }
      return order;
    }
    case 'sorted':
      return each(() => random.below(100)).sort((a, b) => a - b);
    default:
      // Every byte of an element should sometimes differ from those of other arrays.
      return each(() =>
        isFloat ? 16 * random.next() - 8 : random.chance(0.5) ? random.below(100) : random.between(-(2 ** 31), 2 ** 31 - 1),
      );
  }
}

/** The input of a re-execution, for one contents of memory. */
export function reexecutionOf(launch: CorpusLaunch, contents: number, stops: number): ReexecutionRequest {
  const { kernel, block, grid, sharedBytes, arrays } = launch;
  return {
    kernel: kernel.executable,
    block,
    grid,
    sharedBytes,
    buffers: memoryOf(launch, contents),
    arguments: kernel.parameters.map((_, index) => argumentOf(launch, index)),
    windows: arrays,
    stops,
    steps: 400_000,
    seed: contents,
  };
}

function argumentOf({ kernel, scalars, arrays }: CorpusLaunch, index: number): Argument {
  const { name } = kernel.parameters[index]!;
  const array = arrays.find((one) => one.name === name);
  if (array) return { kind: 'pointer', buffer: array.buffer, offset: BigInt(array.offset) };
  const { value, isFloat } = scalars.get(name) ?? { value: 1, isFloat: /float|double/.test(kernel.parameters[index]!.type) };
  const { bytes } = kernel.kernel.parameters[index]!;
  if (!isFloat) return { kind: 'scalar', value: BigInt.asUintN(8 * bytes, BigInt(value)) };
  const view = new DataView(new ArrayBuffer(8));
  if (bytes === 8) view.setFloat64(0, value, true);
  else view.setFloat32(0, value, true);
  return { kind: 'scalar', value: bytes === 8 ? view.getBigUint64(0, true) : BigInt(view.getUint32(0, true)) };
}

/** The arguments as the launch passes them: parameters in order, each aligned (PTX ISA, kernel parameters). */
export function packedArguments(launch: CorpusLaunch): {
  readonly bytes: Uint8Array;
  readonly offsets: readonly number[];
} {
  const offsets: number[] = [];
  let end = 0;
  for (const { bytes, alignment } of launch.kernel.kernel.parameters) {
    const start = Math.ceil(end / alignment) * alignment;
    offsets.push(start);
    end = start + bytes;
  }
  const packed = new Uint8Array(end);
  for (const [index, { bytes }] of launch.kernel.kernel.parameters.entries())
    packed.set(
      argumentBytes(argumentOf(launch, index), bytes, (buffer) => bufferAddress(launch.kernel, buffer)),
      offsets[index],
    );
  return { bytes: packed, offsets };
}
