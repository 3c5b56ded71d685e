/** Final contents of the arrays of each correct kernel, computed here. */
import assert from 'node:assert/strict';
import { elementAt, valueOf } from '../../src/launch/element.ts';
import type { Ran } from './kernel-run.ts';

/** The arrays of a run by name, before and after it. 64-bit integers that no number can represent are strings. */
export interface Memory {
  readonly before: (name: string) => readonly number[];
  readonly after: (name: string) => readonly number[];
  readonly texts: (name: string) => readonly string[];
}

/** Reads the arrays of a run. */
export function memoryOf({ binding, result }: Ran): Memory {
  const arrayNamed = (name: string): (typeof binding.arrays)[number] => {
    const array = binding.arrays.find((one) => one.name === name);
    assert.ok(array, `no array is called ${name}`);
    return array;
  };
  const after = (name: string): (number | string)[] => {
    const { buffer, type, length } = arrayNamed(name);
    const bytes = result.readBytes(buffer, 0, length! * type.bytes);
    return Array.from({ length: length! }, (_, index) => valueOf(type, elementAt(type, bytes, index)));
  };
  const given = (name: string): number[] => {
    const { buffer, type, length } = arrayNamed(name);
    const { initial, fill, values } = binding.buffers[buffer]!;
    return Array.from({ length: length! }, (_, index) =>
      Number(valueOf(type, initial ? elementAt(type, initial, index) : (values.get(index) ?? fill))),
    );
  };
  // Cached, as it is requested for each element of another array.
  const known = new Map<string, number[]>();
  return {
    before(name) {
      const array = known.get(name) ?? given(name);
      known.set(name, array);
      return array;
    },
    after: (name) => after(name).map(Number),
    texts: (name) => after(name).map(String),
  };
}

type Check = (memory: Memory) => void;

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const triangle = (n: number): number => (n * (n - 1)) / 2;

/** The elements of an array are a function of the index. */
const each =
  (name: string, value: (index: number, memory: Memory) => number): Check =>
  (memory) =>
    assert.deepEqual(
      memory.after(name),
      memory.before(name).map((_, index) => value(index, memory) + 0),
    );

/** An array has these values. */
const holds =
  (name: string, ...values: readonly number[]): Check =>
  ({ after }) =>
    assert.deepEqual(after(name), values);

/** An array of 64-bit elements by index. */
const wide =
  (name: string, value: (index: number) => bigint): Check =>
  ({ texts }) =>
    assert.deepEqual(
      texts(name),
      texts(name).map((_, index) => String(value(index))),
    );

const all =
  (...checks: readonly Check[]): Check =>
  (memory) => {
    for (const check of checks) check(memory);
  };

interface Graph {
  readonly vertices: readonly number[];
  readonly value: readonly number[];
  readonly neighbours: (vertex: number) => readonly number[];
}

function graphOf({ before }: Memory): Graph {
  const offsets = before('offsets');
  const targets = before('targets');
  return {
    vertices: range(offsets.length - 1),
    get value() {
      return before('value');
    },
    neighbours: (vertex) => targets.slice(offsets[vertex], offsets[vertex + 1]),
  };
}

/** Vertices with a larger neighbour, and the largest of those neighbours. */
const vertexUpdate: Check = (memory) => {
  const { vertices, value, neighbours } = graphOf(memory);
  const best = vertices.map((v) => Math.max(-1, ...neighbours(v).map((u) => value[u]!)));
  const chosen = vertices.filter((v) => best[v]! > value[v]!);
  assert.deepEqual(memory.after('result'), [chosen.length, Math.max(...chosen.map((v) => best[v]!))]);
};

const edgeUpdate: Check = (memory) => {
  const { vertices, value, neighbours } = graphOf(memory);
  const larger = vertices.map((v) => neighbours(v).filter((u) => value[u]! > value[v]!).length);
  assert.deepEqual(memory.after('result'), [sum(larger)]);
};

const push: Check = (memory) => {
  const { vertices, value, neighbours } = graphOf(memory);
  const sources = (u: number): number[] => vertices.filter((v) => neighbours(v).includes(u));
  assert.deepEqual(
    memory.after('out'),
    vertices.map((u) => sum(sources(u).map((v) => value[v]!))),
  );
};

const pull: Check = (memory) => {
  const { vertices, value, neighbours } = graphOf(memory);
  assert.deepEqual(
    memory.after('out'),
    vertices.map((v) => sum(neighbours(v).map((u) => value[u]!))),
  );
};

/** The list contains the vertices with odd values in any order. */
const append: Check = ({ before, after }) => {
  const odd = before('value').flatMap((value, v) => (value % 2 === 1 ? [v] : []));
  assert.deepEqual(after('size'), [odd.length]);
  assert.deepEqual(
    after('list')
      .slice(0, odd.length)
      .sort((a, b) => a - b),
    odd,
  );
};

/** The root of every vertex is the smallest vertex of its component. */
const components: Check = (memory) => {
  const { vertices, neighbours } = graphOf(memory);
  const smallest = vertices.slice();
  for (const _ of vertices) {
    for (const v of vertices) {
      for (const u of neighbours(v)) smallest[v] = smallest[u] = Math.min(smallest[v]!, smallest[u]!);
    }
  }
  const parent = memory.after('parent');
  const root = (v: number): number => (parent[v] === v ? v : root(parent[v]!));
  assert.deepEqual(vertices.map(root), smallest);
};

/** Rounding of a number to 16-bit and single-precision formats. */
const half = (value: number): number => {
  const exponent = value === 0 ? 0 : Math.max(Math.floor(Math.log2(Math.abs(value))), -14);
  const unit = 2 ** (exponent - 10);
  const down = Math.floor(value / unit);
  const rest = value / unit - down;
  return (rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down) * unit;
};
const { fround } = Math;

const int32 = (value: number): number => value | 0;
const clamped = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
const bits32 = (value: number): string => (value >>> 0).toString(2).padStart(32, '0');
const mask64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
const collatz = (v: number): number => (v === 1 ? 0 : 1 + collatz(v % 2 === 1 ? 3 * v + 1 : v / 2));
const ties = (value: number): number => {
  const down = Math.floor(value);
  return value - down > 0.5 || (value - down === 0.5 && down % 2 !== 0) ? down + 1 : down;
};
const lanes = (t: number, accept: (lane: number) => boolean): number =>
  range(32).reduce((mask, lane) => (accept((t & ~31) + lane) ? (mask | (1 << lane)) >>> 0 : mask), 0);
const product = ({ before }: Memory, n: number, at: number): number =>
  range(n).reduce((total, k) => fround(total + fround(before('a')[Math.floor(at / n) * n + k]! * before('b')[k * n + (at % n)]!)), 0);

/** By kernel; every kernel with a clean run has one. */
export const expectedMemory: Readonly<Record<string, Check>> = {
  // Message passing
  flag_fenced: holds('out', 42),
  flag_atomic: holds('out', 42),
  flag_between_warps: each('out', (t) => 3 * (31 - t)),
  flag_barrier: each('out', (t) => (63 - t) ** 2),
  flag_chain: holds('out', 7),
  ref_release_acquire: holds('out', 42),
  ref_counted: each('out', (t) => 2 * (t + 1)),
  object_fences: holds('out', 5),
  object_sequential: holds('out', 5),
  object_in_block: each('out', (t) => 131 - t),
  lock_fenced: all(holds('counter', 4), holds('lock', 0)),
  lock_every_thread: all(holds('counter', 96), holds('lock', 0)),
  ticket_fenced: all(holds('log', 0, 1, 2, 3), holds('count', 4), holds('serving', 4)),
  last_block: all(holds('out', triangle(256)), holds('retired', 0)),

  back_off_lock: holds('total', 6, 12),
  system_fences: holds('out', 42),
  barrier_of_counters: each('out', (i) => 95 - i),

  // Atomics
  count_device: holds('n', 192),
  count_system: holds('n', 192),
  count_block_each_its_own: holds('n', 64, 64, 64),
  count_mixed_one_block: holds('n', 64),
  int_operations: holds('v', 744, 100, 5, 0xfffff, 0, 8, 0xffffff00, 64, 11, 73),
  wide_operations: wide('v', (at) => [BigInt(triangle(64)) << 32n, 63n << 33n, 0n, 1n << 40n][at]!),
  float_add: all(holds('f', 0.5 * triangle(128)), holds('d', 0.25 * triangle(128))),
  short_compare_and_swap: holds('v', 96, 96),
  cas_loop_max: holds('best', 0x42fe0000),
  add_half_pairs: holds('out', 128, 64),
  add_vectors: holds('out', 128, 256, 384, 2 * triangle(64)),
  swap_wide_pair: wide('out', (at) => BigInt(at === 0 ? 240 : 256) << 40n),
  load_after_barrier: all(
    holds('n', 32),
    each('out', (t) => (t < 32 ? 32 : 0)),
  ),
  volatile_load_of_counter: all(
    holds('n', 64),
    each('out', () => 1),
  ),
  volatile_against_volatile: all(
    holds('n', 3),
    each('out', () => 0),
  ),
  read_then_count: all(
    holds('n', 64),
    each('out', () => 0),
  ),
  count_in_two_rounds: all(
    holds('n', 164),
    each('out', (t) => (t === 0 ? 64 : 0)),
  ),
  bytes_beside_each_other: each('out', (i) => i),
  double_word_halves: each('out', (i) => (i >= 32 ? i : i % 2 === 0 ? 1 : i >> 1)),
  vector_store_beside_scalar: each('out', (i) => (i < 128 ? (i >> 2) + (i % 4) : 128 - i)),
  shared_bytes: each('out', (t) => ((95 - t) * 3) % 256),
  window_barrier: each('data', (i) => (i === 0 || i === 65 ? i : 2 * i - 1)),
  all_read_then_one_writes: all(
    holds('data', 6),
    each('out', () => 5),
  ),

  // Warps
  warp_reduce: holds('out', triangle(32), triangle(64) - triangle(32)),
  volatile_warp_exchange: each('out', (t) => t >> 1),
  lane_zero_publishes: each('out', (t) => t & 32),
  half_warps: each('out', (t) => 10 * (t ^ 15)),
  odd_lanes: each('out', (t) => (t & 1 ? (t ^ 2) + 1 : 0)),
  mask_in_branches: each('out', (t) => (t < 8 ? -(t + 8) : t & 7)),
  rotating_quads: each('out', (t) => 4 * (t & ~3) + 12),
  nested_masks: each('out', (t) => (t === 0 ? 45 : 0)),
  shuffle_reduce: holds('out', triangle(32), triangle(64) - triangle(32)),
  shuffle_forms: each('out', (i) => {
    const t = i % 32;
    return [7, t < 3 ? t : t - 3, t ^ 5, (t & ~7) + 2][i >> 5]!;
  }),
  shuffle_then_syncwarp: each('out', (t) => 31 - t),
  votes: each('out', (i) => {
    const t = i % 64;
    const own = (1 << (t & 31)) >>> 0;
    return [lanes(t, (v) => v % 3 === 0), t < 32 ? 0 : 1, t < 32 ? 1 : 0, t & 1 ? own : 0][i >> 6]!;
  }),
  match_and_reduce: each('out', (i) => {
    const t = i % 32;
    return [lanes(t, (v) => v % 5 === t % 5), 0xffffffff, triangle(32), 31][i >> 5]!;
  }),
  shuffle_between_warps: holds('out', triangle(128)),

  // Blocks
  two_halves: each('out', (t) => t ^ 63),
  producer_consumer: each('out', (i) => (i >> 5) * 100 + 31 - (i % 32)),
  count_of_all: each('out', (t) => 63 - t),
  arrived_and_gone: each('out', (t) => (t < 32 ? 0 : t - 32)),
  count_above: holds('out', 36, 1, 0, 1),
  barrier_vote_orders: each('out', (t) => 63 - t + 32),
  vote_until_stable: each('data', (t) => t),
  volume_shift: each('out', (i) => (i % 16) + 100 * ((i >> 4) % 4) + 10000 * (i >> 6)),
  tile_transpose: each('out', (i) => (i % 32) * 32 + (i >> 5)),
  matrix_product: each('c', (i, memory) => product(memory, 16, i)),
  prefix_sum: each('data', (t) => triangle(t + 1)),
  bitonic_sort: ({ before, after }) =>
    assert.deepEqual(
      after('data'),
      before('data').toSorted((a, b) => a - b),
    ),

  // Asynchronous copies, barrier objects
  copy_double_buffer: each('out', (t) => sum(range(8).map((k) => 64 * k + 63 - t))),
  copy_own_element: each('out', (t) => t + 1),
  copy_sixteen_bytes: each('out', () => 127),
  mbarrier_hand_over: each('out', (t) => 2 * (63 - t)),
  mbarrier_rounds: each('out', (i) => 10 * (i >> 6) + 63 - (i % 64)),
  mbarrier_copy: each('out', (t) => 63 - t),
  bulk_load: each('out', (t) => 63 - t),
  bulk_store: each('out', (t) => 7 * t),
  barrier_object: each('out', (t) => 3 * (63 - t)),
  barrier_object_drop_one: each('out', (t) => (t < 32 ? 3 * (32 + t) : 0)),

  // Grids and groups
  grid_sync: each('out', (i) => 5 * (191 - i)),
  grid_reduce: holds('out', triangle(256)),
  grid_stencil: ({ before, after }) => {
    let a = before('a').slice();
    for (let k = 0; k < 3; k++) a = a.map((own, i) => (i === 0 || i === 97 ? own : a[i - 1]! + a[i + 1]!));
    assert.deepEqual(after('a'), a);
  },
  tile_reduce: each('out', (i) => triangle(16) + 256 * i),
  tile_shared: each('out', (t) => (t ^ 15) ** 2),
  coalesced_count: holds('out', 22),

  // Graphs
  vertex_update_thread: vertexUpdate,
  vertex_update_warp: vertexUpdate,
  vertex_update_block: vertexUpdate,
  edge_update_thread: edgeUpdate,
  edge_update_warp: edgeUpdate,
  edge_update_block: edgeUpdate,
  push_thread: push,
  push_warp: push,
  push_block: push,
  pull_thread: pull,
  pull_warp: pull,
  pull_block: pull,
  append_thread: append,
  append_warp: append,
  append_block: append,
  union_thread: components,
  union_warp: components,
  compress_block: all(
    each('parent', () => 0),
    each('label', () => 0),
  ),

  // Kernels in the files of racy ones
  global_guarded: each('out', (i) => i),
  shared_all_written: each('out', (t) => 63 - t),
  shared_exchanged_first: each('out', () => 32),
  trap_not_reached: each('out', (t) => 2 * t),
  assert_holds: each('out', (t) => 2 * t),
  early_return_full_block: each('out', () => 2),
  leaves_in_other_rounds: each('out', (t) => ((t + 1) * (t + 2)) / 2 + 1),
  again_and_again: each('out', (t) => (5 * t * (t - 1)) / 2),

  // Language
  initialised_globals: each('out', (i) => [10 * ((i % 4) + 1) - 5, 'selvage\0'.charCodeAt(i % 8)][i >> 3]!),
  constant_tables: each('out', (t) => [0.25, 0.5, 1, 2][t % 4]! * t),
  global_counter: each('out', () => 1),
  two_dynamic_arrays: each('out', (t) => 31 - t + 0.5),
  local_array: each('out', (t) => {
    const count = (digit: number): number => range(t + 1).filter((k) => k % 10 === digit).length;
    return count(t % 10) * 100 + count(9);
  }),
  struct_argument: each('out', (t) => 2 * (7 + 3 * t)),
  pointer_chase: each('out', (t, { before }) => range(5).reduce((at) => before('next')[at]!, t)),
  initialised_pointers: holds('out', 26, 38, 37, 42),
  linked_variables: holds('out', 1, 21, 321, 321),
  large_indices: wide('out', (i) => [2n ** 33n, -(2n ** 33n) / 3n, 2n ** 34n, -(2n ** 33n) / 4n][i]!),
  switch_table: each('out', (t) => {
    const k = t % 9;
    return [7, t * t, 100 - t, 100, 1 << (t / 4), 55, 9, t ^ 0x55, 9][k]!;
  }),
  function_pointers: each('out', (t) => [2 * t, t * t, -t][t % 3]!),
  nested_functions: each('out', (t) => clamped(t, 4, 20) + clamped(2 * t, 10, 30)),
  greatest_common_divisor: each('out', (t) => gcd(360, t)),
  collatz_lengths: each('out', (t) => collatz(t + 1)),
  prints: each('out', (t) => t + 1),
  template_sum: each('out', (i) => (i < 16 ? 5 * i + 10 : Math.trunc(1.5 * (i - 16) + 3))),
  short_circuit: each('out', (t) => (t < 20 && t % 2 === 0 ? 1 : 0) + (t >= 20 || t % 3 === 0 ? 2 : 0)),
  exits_at_different_times: each('out', (t) => triangle(t + 1)),
  vector_add: each('c', (i) => 2 * i),
  grid_stride: each('y', (i) => 3.5 * i),
  wide_integers: wide('out', (i) => {
    const t = BigInt(i % 32);
    const value = 0x123456789abcdefn * (t + 1n);
    return [mask64(value * value), value / (3n * t + 1n), value >> (2n * t), (value * value) >> 64n][i >> 5]!;
  }),
  bit_operations: each('out', (i, { before }) => {
    const t = i % 32;
    const v = before('in')[t]!;
    const text = bits32(v);
    const byte = (selector: number): number => ((selector < 4 ? v : ~v) >>> (8 * (selector % 4))) & 255;
    return [
      text.replaceAll('0', '').length,
      Math.clz32(v),
      parseInt([...text].toReversed().join(''), 2),
      v === 0 ? 0 : 32 - text.lastIndexOf('1'),
      (byte(5) | (byte(1) << 8) | (byte(7) << 16) | (byte(3) << 24)) >>> 0,
      parseInt((bits32(~v) + text).slice(t, t + 32), 2),
    ][i >> 5]!;
  }),
  narrow_integers: each('out', (t, { before }) => {
    const added = before('in')[t]! + before('in')[(t + 1) % 64]!;
    return int32(((added << 24) >> 24) * 65536 + ((before('in')[t]! * 517) & 0xffff));
  }),
  conversions: each('out', (i, { before }) => {
    const value = before('in')[i % 16]!;
    const signed = (whole: number): number => clamped(whole, -(2 ** 31), 2 ** 31 - 1);
    return [signed(ties(value)), signed(Math.trunc(value)), signed(Math.ceil(value)), int32(clamped(Math.floor(value), 0, 2 ** 32 - 1))][
      i >> 4
    ]!;
  }),
  square_roots: each('out', (i) => (i < 32 ? i : (3 * (i - 32) - 1) / 4)),
  doubles: each('out', (i) => (i < 16 ? (i + 1) / (i + 3) : Math.sqrt(i - 16) + Math.floor((i - 16) / 4))),
  halves: each('out', (i) => (i < 16 ? 2 * (i + 0.25) : half((i - 16 + 0.25) * half(0.1)))),
  blur_to_other: each('out', (i) => (i === 0 || i === 65 ? 0 : 4 * i)),
  reverse_with_barrier: each('data', (t) => 63 - t),
};
