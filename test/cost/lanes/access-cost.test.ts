/** Sectors and bank conflicts of affine accesses equal the counts of the interpreter. */
import type { Dim3 } from '../../../src/base/dim3.ts';
import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { constantValue } from '../../../src/cost/expressions/expression.ts';
import { boundKernel } from '../../../src/cost/kernel-cost.ts';
import type { BoundMetric } from '../../../src/cost/model/metrics.ts';
import { maxSectors, maxSectorsOfAlternatives } from '../../../src/cost/lanes/access-cost.ts';
import type { LaneValues } from '../../../src/cost/lanes/lane-values.ts';
import { LaunchCounters } from '../../../src/interpreter/counters.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { kernel, launch } from '../../interpreter/core/launch-text.ts';

/** The bounds of the sectors and conflicts of a kernel, and the counts of its worst warp. */
function compared(code: Kernel, block: Dim3, n = 0n): Record<'sectors' | 'conflicts', readonly [number, number]> {
  const bounds = boundKernel({
    kernel: code,
    dimensions: { block, grid: [1, 1, 1] },
    sharedBytes: 0,
    declaredAs: (index) => (index < 2 ? 'pointer' : 'scalar'),
    parameterName: (index) => (index === 2 ? 'n' : null),
  });
  const counters = new LaunchCounters();
  const { outcome } = launch(code, { block, grid: [1, 1, 1], observer: counters, detectRaces: false, n });
  assert.equal(outcome, 'finished');
  const of = (metric: BoundMetric, counted: (warp: (typeof counters.warps)[number]) => number) => {
    const { bound } = bounds[metric];
    const value = bound && constantValue(bound);
    assert.ok(value && value.bottom === 1n, metric);
    return [Number(value.top), Math.max(...counters.warps.map(counted))] as const;
  };
  return { sectors: of('sectors', ({ sectors }) => sectors), conflicts: of('conflicts', ({ conflicts }) => conflicts) };
}

function assertEqual(code: Kernel, block: Dim3, message: string): void {
  const { sectors, conflicts } = compared(code, block);
  assert.equal(sectors[0], sectors[1], `sectors, ${message}`);
  assert.equal(conflicts[0], conflicts[1], `conflicts, ${message}`);
}

const types: readonly (readonly [bytes: number, load: string, store: string])[] = [
  [1, 'ld.SPACE.u8 %h1, [ADDRESS];', 'st.SPACE.u8 [ADDRESS], %h1;'],
  [2, 'ld.SPACE.u16 %h1, [ADDRESS];', 'st.SPACE.u16 [ADDRESS], %h1;'],
  [4, 'ld.SPACE.u32 %r1, [ADDRESS];', 'st.SPACE.u32 [ADDRESS], %r1;'],
  [8, 'ld.SPACE.v2.u32 {%r1, %r2}, [ADDRESS];', 'st.SPACE.u64 [ADDRESS], %d9;'],
  [16, 'ld.SPACE.v4.u32 {%r1, %r2, %r3, %r4}, [ADDRESS];', 'st.SPACE.v4.u32 [ADDRESS], {%r1, %r2, %r3, %r4};'],
];

/** One load and one store in each memory, at a distance from thread to thread and from an offset on, in bytes. */
function strided(width: (typeof types)[number], distance: number, offset: number): Kernel {
  const [, load, store] = width;
  const at = (space: string, address: string): string =>
    `${load} ${store}`.replaceAll('SPACE', space).replaceAll('ADDRESS', `${address}+${offset}`);
  return kernel(
    `mul.wide.u32 %d6, %r0, ${distance}; add.s64 %d7, %d1, %d6; mov.u64 %d8, s; add.s64 %d8, %d8, %d6;
    mov.u64 %d9, 0; ${at('global', '%d7')} ${at('shared', '%d8')}`,
    '.shared .align 128 .b8 s[100000];',
  );
}

test('strides of 1 to 64 words have exact bounds', () => {
  for (let stride = 1; stride <= 64; stride++) assertEqual(strided(types[2]!, 4 * stride, 0), [64, 1, 1], `${stride}`);
});

test('strides of 1 to 256 bytes have exact bounds, for every width', () => {
  for (let distance = 1; distance <= 256; distance++) {
    for (const width of types) {
      if (distance % width[0] === 0) assertEqual(strided(width, distance, 0), [32, 1, 1], `${distance} by ${width[0]}`);
    }
  }
});

test('offsets, and blocks with a partial last warp, have exact bounds', () => {
  const random = seededRandom(3);
  for (let round = 0; round < 120; round++) {
    const width = random.pick(types);
    const distance = width[0] * random.below(40);
    const offset = width[0] * random.below(70);
    const threads = random.pick([1, 7, 31, 32, 33, 48, 96, 100]);
    assertEqual(strided(width, distance, offset), [threads, 1, 1], `${width[0]} ${distance} ${offset} ${threads}`);
  }
});

/** Reads rows and writes columns of a tile: `s[y][x] = a[y][x]; b[y][x] = s[x][y]`. */
function transpose(width: number, global: number): Kernel {
  return kernel(
    `mov.u32 %r1, %tid.y; mad.lo.u32 %r2, %r1, ${width}, %r0; mad.lo.u32 %r3, %r0, ${width}, %r1;
    mad.lo.u32 %r4, %r1, ${global}, %r0; mul.wide.u32 %d6, %r4, 4; add.s64 %d7, %d1, %d6; ld.global.u32 %r5, [%d7];
    mov.u64 %d8, s; mul.wide.u32 %d9, %r2, 4; add.s64 %d9, %d8, %d9; st.shared.u32 [%d9], %r5; bar.sync 0;
    mul.wide.u32 %d10, %r3, 4; add.s64 %d10, %d8, %d10; ld.shared.u32 %r6, [%d10];
    add.s64 %d11, %d2, %d6; st.global.u32 [%d11], %r6;`,
    '.shared .align 4 .b8 s[16384];',
  );
}

test('transposes have exact bounds, with and without padding, in blocks of several shapes', () => {
  for (const block of [
    [32, 8, 1],
    [32, 32, 1],
    [16, 16, 1],
    [8, 8, 4],
    [64, 4, 1],
    [5, 7, 1],
  ] as const) {
    for (let width = 31; width <= 40; width++) assertEqual(transpose(width, 32 * width + 1), block, `${width} ${block.join('x')}`);
  }
});

test('swizzled and masked indices have exact bounds', () => {
  const random = seededRandom(5);
  for (let round = 0; round < 60; round++) {
    const [mask, factor, shift] = [random.below(64), 1 + random.below(33), random.below(4)];
    const code = kernel(
      `mul.lo.u32 %r1, %r0, ${factor}; shr.u32 %r2, %r0, ${shift}; xor.b32 %r1, %r1, %r2; and.b32 %r3, %r0, ${mask};
      add.u32 %r1, %r1, %r3; rem.u32 %r1, %r1, 1000; mul.wide.u32 %d6, %r1, 4; mov.u64 %d8, s; add.s64 %d8, %d8, %d6;
      ld.shared.u32 %r5, [%d8]; add.s64 %d7, %d1, %d6; ld.global.u32 %r6, [%d7];`,
      '.shared .align 4 .b8 s[4096];',
    );
    assertEqual(code, [64, 1, 1], `${mask} ${factor} ${shift}`);
  }
});

test('an access with an unknown row costs its worst case: any start within a sector', () => {
  const code = kernel('add.u32 %r1, %r0, %r9; mul.wide.u32 %d6, %r1, 4; add.s64 %d7, %d1, %d6; ld.global.u32 %r5, [%d7];');
  assert.deepEqual(
    [8n, 3n].map((n) => compared(code, [32, 1, 1], n).sectors),
    [
      [5, 4],
      [5, 5],
    ],
  );
});

test('an unknown stride: all lanes may touch different sectors, and the same bank', () => {
  const code = kernel(
    `mul.lo.u32 %r1, %r0, %r9; and.b32 %r1, %r1, 1023; mul.wide.u32 %d6, %r1, 4; mov.u64 %d8, s; add.s64 %d8, %d8, %d6;
    ld.shared.u32 %r5, [%d8]; mul.lo.u32 %r2, %r0, %r9; mul.wide.u32 %d9, %r2, 4; add.s64 %d7, %d1, %d9; ld.global.u32 %r6, [%d7];`,
    '.shared .align 4 .b8 s[4096];',
  );
  assert.deepEqual(
    [0n, 1n, 32n].map((n) => compared(code, [32, 1, 1], n)),
    [
      { sectors: [32, 1], conflicts: [31, 0] },
      { sectors: [32, 4], conflicts: [31, 0] },
      { sectors: [32, 32], conflicts: [31, 31] },
    ],
  );
});

test('unknown words of known banks do not conflict', () => {
  // s[lane + 32 * (loaded value & 7)]
  const code = kernel(
    `ld.global.u32 %r1, [%d3]; and.b32 %r1, %r1, 7; shl.b32 %r1, %r1, 5; add.u32 %r1, %r1, %r0; mul.wide.u32 %d6, %r1, 4;
    mov.u64 %d8, s; add.s64 %d8, %d8, %d6; ld.shared.u32 %r5, [%d8];`,
    '.shared .align 4 .b8 s[4096];',
  );
  assert.deepEqual(compared(code, [32, 1, 1]).conflicts, [0, 0]);
  // A table of 64 words has two in each bank.
  const table = kernel(
    `ld.global.u32 %r1, [%d3]; and.b32 %r1, %r1, 63; mul.wide.u32 %d6, %r1, 4;
    mov.u64 %d8, s; add.s64 %d8, %d8, %d6; ld.shared.u32 %r5, [%d8];`,
    '.shared .align 4 .b8 s[4096];',
  );
  assert.deepEqual(compared(table, [32, 1, 1]).conflicts, [1, 0]);
});

test('lanes with two alternatives in two runs touch the sectors of the most expensive split', () => {
  const random = seededRandom(5);
  const lanes = Array.from({ length: 32 }, (_, lane) => lane);
  const wayOf = (bytes: number): LaneValues => {
    const [base, distance] = [random.below(400) - 200, random.below(80) - 20];
    const jump = random.below(2) * bytes * random.below(64);
    return {
      modulus: BigInt([0, 4, 8, 32][random.below(4)]!),
      offsets: lanes.map((lane) => BigInt(bytes * (base + lane * distance) + (lane % 3 === 0 ? jump : 0))),
      groups: lanes.map((lane) => (random.below(4) === 0 ? String(lane % 2) : 'one')),
      scattered: null,
    };
  };
  for (let round = 0; round < 200; round++) {
    const bytes = [1, 4, 8, 16][random.below(4)]!;
    const shape = { bytes, isAtomic: false, alignment: 256 };
    const ways = [wayOf(bytes), wayOf(bytes)];
    const most = (some: readonly number[]): number => {
      const mask = some.reduce((bits, lane) => bits | (1 << lane), 0);
      return some.length === 0 ? 0 : Math.max(...ways.map((values) => maxSectors(values, mask, shape).most));
    };
    const inRuns = Math.max(...lanes.map((at) => most(lanes.slice(0, at)) + most(lanes.slice(at))));
    const all = maxSectorsOfAlternatives(
      ways.map((values) => ({ values, more: [] })),
      -1,
      shape,
    ).most;
    const found = maxSectorsOfAlternatives(
      ways.map((values) => ({ values, more: [] })),
      -1,
      shape,
      2,
    ).most;
    assert.equal(found, Math.min(inRuns, all));
  }
});
