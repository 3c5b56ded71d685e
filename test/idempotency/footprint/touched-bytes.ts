/** The bytes that the accesses of a launch touch in the interpreter, and those of their footprints. */
import type { Dim3 } from '../../../src/base/dim3.ts';
import { collectAccesses } from '../../../src/analysis/values/access.ts';
import { evaluateSymbolically } from '../../../src/analysis/values/symbolic.ts';
import { type Footprint, footprintsOf } from '../../../src/idempotency/footprint/footprint.ts';
import type { AddressSet, Quantity } from '../../../src/idempotency/model/quantity.ts';
import { type InstanceArguments, isKnownToHold } from '../../../src/idempotency/validator/instance-condition.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { sharedWindow } from '../../../src/isa/model/address-window.ts';
import type { Argument, GlobalBuffer } from '../../../src/interpreter/core/arguments.ts';
import { layOut } from '../../../src/interpreter/core/global-memory.ts';
import type { NamedMemory } from '../../../src/interpreter/core/observer.ts';
import type { MemoryAccess } from '../../../src/interpreter/core/program.ts';
import type { Thread } from '../../../src/interpreter/core/thread.ts';
import { runKernel } from '../../../src/interpreter/machine.ts';

export interface TestLaunch {
  readonly grid: Dim3;
  readonly block: Dim3;
  /** By parameter; `array` is a separate array for each. */
  readonly arguments: readonly (bigint | 'array')[];
  readonly sharedBytes?: number;
  /** Value of the array elements. */
  readonly fill?: bigint;
}

/** The footprints of a kernel, with everything symbolic. */
export function footprintsOfKernel(kernel: Kernel): readonly Footprint[] {
  const symbolic = evaluateSymbolically(kernel, {
    dimensions: { block: [null, null, null], grid: [null, null, null] },
    scalar: () => undefined,
    scalarBounds: () => undefined,
    sharedBytes: null,
  });
  return footprintsOf(
    symbolic,
    collectAccesses(symbolic, () => 'unknown'),
  );
}

/** The buffer of arguments as PTX lays it out. */
export function instanceOf(
  kernel: Kernel,
  launch: Pick<TestLaunch, 'grid' | 'block' | 'sharedBytes'>,
  values: readonly bigint[],
): InstanceArguments {
  const offsets: number[] = [];
  let end = 0;
  for (const { bytes, alignment } of kernel.parameters) {
    const start = Math.ceil(end / alignment) * alignment;
    offsets.push(start);
    end = start + bytes;
  }
  const buffer = new Uint8Array(end);
  kernel.parameters.forEach(({ bytes }, i) => {
    for (let at = 0; at < bytes; at++) buffer[offsets[i]! + at] = Number((values[i]! >> BigInt(8 * at)) & 255n);
  });
  const { grid, block, sharedBytes = 0 } = launch;
  return { arguments: buffer, offsets, grid, block, dynamicShared: sharedBytes };
}

/** The value of a quantity at a launch, found only with comparisons; undefined if the launch does not determine it. */
function valueOf(quantity: Quantity, launch: InstanceArguments): bigint | undefined {
  const isAtMost = (most: bigint): boolean =>
    isKnownToHold({ kind: 'compare', comparison: '<=', left: quantity, right: { kind: 'constant', value: most } }, launch);
  let low = -(1n << 70n);
  let high = 1n << 70n;
  if (!isAtMost(high) || isAtMost(low)) return undefined;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (isAtMost(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The bytes of a set at a launch; null if they are unknown or too many. */
export function bytesOf({ base, steps, bytes }: AddressSet, launch: InstanceArguments): Set<bigint> | null {
  const start = valueOf(base, launch);
  if (start === undefined) return null;
  let starts = new Set([start]);
  for (const step of steps) {
    const [stride, count] = [valueOf(step.stride, launch), valueOf(step.count, launch)];
    if (stride === undefined || count === undefined || count > 100_000n) return null;
    const next = new Set<bigint>();
    for (const at of starts) for (let i = 0n; i < count; i++) next.add(at + stride * i);
    if (next.size > 200_000) return null;
    starts = next;
  }
  const all = new Set<bigint>();
  for (const at of starts) for (let i = 0n; i < BigInt(bytes); i++) all.add(at + i);
  return all;
}

export interface Touched {
  readonly instance: InstanceArguments;
  /** By instruction number and kind of access: the bytes, shared ones from the start of their window. */
  readonly bytes: ReadonlyMap<string, ReadonlySet<bigint>>;
}

/** Runs a launch. */
export function touchedBytes(kernel: Kernel, launch: TestLaunch): Touched {
  const bytes = new Map<string, Set<bigint>>();
  const buffers: GlobalBuffer[] = [];
  const values = launch.arguments.map((argument): Argument => {
    if (argument !== 'array') return { kind: 'scalar', value: argument };
    buffers.push({ name: `array${buffers.length}`, bytes: null, elementBytes: 4, fill: launch.fill ?? 0n, values: new Map() });
    return { kind: 'pointer', buffer: buffers.length - 1, offset: 1n << 20n };
  });
  let memory: readonly NamedMemory[] = [];
  const result = runKernel({
    kernel,
    block: launch.block,
    grid: launch.grid,
    sharedBytes: launch.sharedBytes ?? 0,
    buffers,
    arguments: values,
    steps: 3_000_000,
    detectRaces: false,
    backend: 'javascript',
    observer: {
      singly: true,
      start: (_program, named) => {
        memory = named;
      },
      runWarp: (warp, step) => {
        for (const thread of warp) while (thread.status === 'ready') step(thread);
      },
      accessed: (_thread: Thread, access: MemoryAccess, address: number) => {
        const key = `${access.instruction}.${access.operation === 'read'}`;
        const isShared = access.space === 'shared' || BigInt(address) >= sharedWindow;
        const start = isShared ? BigInt(address) & 0xffff_ffffn : BigInt(address);
        let set = bytes.get(key);
        if (!set) bytes.set(key, (set = new Set()));
        for (let i = 0; i < access.bytes; i++) set.add(start + BigInt(i));
      },
    },
  });
  if (result.outcome !== 'finished') throw new Error(`the run ended with ${result.outcome}`);
  const bits = launch.arguments.map((argument, i) => {
    if (argument !== 'array') return BigInt.asUintN(64, argument);
    const buffer = launch.arguments.slice(0, i).filter((other) => other === 'array').length;
    return BigInt(memory.find(({ name }) => name === `array${buffer}`)!.base) + (1n << 20n);
  });
  return { instance: instanceOf(kernel, launch, bits), bytes };
}

export interface Comparison {
  /** Accesses that touched a byte outside of their footprint. */
  readonly missed: readonly string[];
  /** Exact footprints with a byte that was not touched. */
  readonly untouched: readonly string[];
  /** Bytes of footprints, and bytes that were touched, of all accesses that were compared. */
  readonly named: number;
  readonly touched: number;
  /** Accesses whose footprints are undecided at the launch. */
  readonly undecided: number;
  readonly decided: number;
}

/** Compares the touched bytes of a launch with the footprints. */
export function compare(kernel: Kernel, footprints: readonly Footprint[], { instance, bytes }: Touched): Comparison {
  const missed: string[] = [];
  const untouched: string[] = [];
  let [named, touched, undecided, decided] = [0, 0, 0, 0];
  const { addresses } = layOut(kernel);
  const byAccess = new Map<number, Footprint[]>();
  for (const footprint of footprints) {
    const list = byAccess.get(footprint.access.index);
    if (list) list.push(footprint);
    else byAccess.set(footprint.access.index, [footprint]);
  }
  for (const list of byAccess.values()) {
    const { access } = list[0]!;
    const found = bytes.get(`${access.instruction.id}.${access.operation === 'read'}`) ?? new Set<bigint>();
    const name = `${access.operation} at line ${access.instruction.ptxLine}`;
    const sets = list.map((footprint) => {
      if (!footprint.bytes || !isKnownToHold(footprint.needs, instance)) return null;
      const { root } = footprint;
      const set = bytesOf(footprint.bytes, instance);
      if (root.kind !== 'object' || root.object.space !== 'shared' || !set) return set;
      return new Set([...set].map((byte) => byte + BigInt(addresses[root.object.id]!)));
    });
    list.forEach(({ exact }, i) => {
      if (exact && sets[i] && ![...sets[i]].every((byte) => found.has(byte))) untouched.push(name);
    });
    if (sets.includes(null)) {
      undecided++;
      continue;
    }
    decided++;
    const all = new Set(sets.flatMap((set) => [...set!]));
    if (![...found].every((byte) => all.has(byte))) missed.push(name);
    named += all.size;
    touched += found.size;
  }
  return { missed, untouched, named, touched, undecided, decided };
}
