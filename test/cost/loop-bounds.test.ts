/** Bounds of the trip counts of small loops: their form, and never below the counts of the interpreter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate } from '../../src/cost/expressions/expression.ts';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import { LaunchCounters } from '../../src/interpreter/counters.ts';
import { kernel, launch } from '../interpreter/core/launch-text.ts';

const block = [32, 1, 1] as const;
const sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 40];

/** The bound of the sectors of a body in one warp: 1 for each iteration; and a size at which it is below the count. */
function boundOf(body: string): { text: string; below: number | null; isExact: boolean } {
  const code = kernel(body);
  const { bound } = boundKernel({
    kernel: code,
    dimensions: { block, grid: [1, 1, 1] },
    sharedBytes: 0,
    declaredAs: (index) => (index < 2 ? 'pointer' : 'scalar'),
    parameterName: (index) => (index === 2 ? 'n' : null),
  }).sectors;
  if (!bound) return { text: '-', below: null, isExact: false };
  let [below, isExact]: [number | null, boolean] = [null, true];
  for (const n of sizes) {
    const counters = new LaunchCounters();
    const { outcome } = launch(code, { block, grid: [1, 1, 1], n: BigInt(n), observer: counters, detectRaces: false });
    assert.equal(outcome, 'finished', body);
    const value = evaluate(bound, (name) => (name === 'n' ? BigInt(n) : undefined))!;
    const most = Number(value.top) / Number(value.bottom);
    const counted = Math.max(...counters.warps.map(({ sectors }) => sectors));
    if (most < counted) below = n;
    if (most !== counted) isExact = false;
  }
  return { text: expressionText(bound), below, isExact };
}

const st = 'st.global.u32 [%d1], 1;';
/** `for (i = start; !leave; step)`. */
const loop = (start: string, leave: string, step: string, inside = ''): string =>
  `mov.u32 %r1, ${start}; H: setp.${leave}; @%p1 bra E; ${st} ${inside} ${step}; bra H; E:`;
/** `do … while (stay)`. */
const tail = (start: string, step: string, stay: string, before = ''): string =>
  `${before} mov.u32 %r1, ${start}; H: ${st} ${step}; setp.${stay}; @%p1 bra H; E:`;
const up = (by: number | string): string => `add.s32 %r1, %r1, ${by}`;
const guarded = 'setp.lt.s32 %p2, %r9, 1; @%p2 bra E;';

/** With the bound, and whether it is attained at every size. */
const cases: readonly (readonly [body: string, bound: string, isExact: boolean])[] = [
  [loop('0', 'ge.s32 %p1, %r1, %r9', up(1)), 'n', true],
  [loop('0', 'gt.s32 %p1, %r1, %r9', up(1)), 'n + 1', true],
  [loop('0', 'ge.u32 %p1, %r1, %r9', up(1)), 'n', true],
  [loop('3', 'ge.s32 %p1, %r1, %r9', up(1)), 'max(0, n - 3)', true],
  [loop('3', 'ge.s32 %p1, %r1, %r9', up(2)), 'max(0, floor(n/2) - 1)', true],
  [loop('0', 'gt.s32 %p1, %r1, %r9', up(3)), 'floor(n/3) + 1', true],
  [loop('%r0', 'ge.s32 %p1, %r1, %r9', up(1)), 'n', true],
  [loop('%r0', 'ge.s32 %p1, %r1, %r9', up(32)), 'ceil(n/32)', true],
  [loop('%r0', 'ge.s32 %p1, %r1, %r9', up(16)), 'ceil(n/16)', true],
  [loop('%r9', 'le.s32 %p1, %r1, 0', up(-1)), 'n', true],
  [loop('%r9', 'lt.s32 %p1, %r1, 0', up(-1)), 'n + 1', true],
  [loop('%r9', 'le.s32 %p1, %r1, 2', up(-3)), 'floor(n/3)', true],
  [loop('%r9', 'le.s32 %p1, %r1, %r0', up(-1)), 'n', true],
  [loop('0', 'eq.s32 %p1, %r1, %r9', up(1)), 'n', true],
  [loop('%r9', 'eq.s32 %p1, %r1, 0', up(-1)), 'n', true],
  [`and.b32 %r2, %r9, 15; ${loop('0', 'eq.s32 %p1, %r1, %r2', up(1))}`, 'n - 16*floor(n/16)', true],
  [`shl.b32 %r2, %r9, 1; ${loop('0', 'eq.s32 %p1, %r1, %r2', up(2))}`, 'n', true],
  [loop('0', 'eq.s32 %p1, %r1, 12', up(3)), '4', true],
  [loop('12', 'eq.s32 %p1, %r1, 0', up(-3)), '4', true],
  [loop('0', 'ge.s32 %p1, %r1, 10', up(4)), '3', true],
  [loop('0', 'ge.s32 %p1, %r1, %r9', up(1), 'setp.eq.s32 %p3, %r1, 5; @%p3 bra E;'), 'n', false],
  [loop('0', 'ge.s32 %p1, %r1, %r9', up(1), 'ld.global.u32 %r3, [%d2]; setp.eq.s32 %p3, %r3, 5; @%p3 bra E;'), '2*n', true],
  [loop('0', 'eq.s32 %p1, %r1, %r9', up(1), 'ld.global.u32 %r3, [%d2]; setp.eq.s32 %p3, %r3, 5; @%p3 bra E;'), '2*n', true],
  [loop('0', 'eq.s32 %p1, %r1, 12', up(3), 'ld.global.u32 %r3, [%d2]; setp.eq.s32 %p3, %r3, 5; @%p3 bra E;'), '8', true],
  [loop('0', 'eq.s32 %p1, %r1, 12', up(4), 'ld.global.u32 %r3, [%d2]; setp.eq.s32 %p3, %r3, 5; @%p3 bra E;'), '6', true],
  [tail('0', up(1), 'lt.s32 %p1, %r1, %r9'), 'max(1, n)', true],
  [tail('0', up(1), 'lt.s32 %p1, %r1, %r9', guarded), 'n', true],
  [tail('0', up(2), 'lt.s32 %p1, %r1, %r9', guarded), 'ceil(n/2)', true],
  [tail('0', up(1), 'ne.s32 %p1, %r1, %r9', guarded), 'n', true],
  [tail('%r9', up(-1), 'gt.s32 %p1, %r1, 0', guarded), 'n', true],
  [tail('%r9', up(-1), 'gt.s32 %p1, %r1, 0'), 'max(1, n)', true],
  // Doubling, quadrupling, halving, quartering.
  [loop('1', 'ge.s32 %p1, %r1, %r9', 'shl.b32 %r1, %r1, 1'), 'ceil(log2(n))', true],
  [loop('1', 'gt.s32 %p1, %r1, %r9', 'shl.b32 %r1, %r1, 1'), 'ceil(log2(n + 1))', true],
  [loop('1', 'gt.s32 %p1, %r1, %r9', 'shl.b32 %r1, %r1, 2'), 'ceil(ceil(log2(n + 1))/2)', true],
  [loop('3', 'gt.s32 %p1, %r1, %r9', 'shl.b32 %r1, %r1, 1'), 'ceil(log2(floor(n/3) + 1))', true],
  [loop('16', 'eq.s32 %p1, %r1, 0', 'shr.u32 %r1, %r1, 1'), '5', true],
  [loop('16', 'le.s32 %p1, %r1, 2', 'shr.s32 %r1, %r1, 1'), '3', true],
  [`and.b32 %r2, %r9, 63; ${loop('%r2', 'eq.s32 %p1, %r1, 0', 'shr.u32 %r1, %r1, 1')}`, 'ceil(log2(n - 64*floor(n/64) + 1))', true],
  [
    `and.b32 %r2, %r9, 63; ${loop('%r2', 'lt.u32 %p1, %r1, 3', 'shr.u32 %r1, %r1, 1')}`,
    'ceil(log2(floor((n - 64*floor(n/64))/3) + 1))',
    true,
  ],
  [
    `and.b32 %r2, %r9, 63; ${loop('%r2', 'le.u32 %p1, %r1, 3', 'shr.u32 %r1, %r1, 2')}`,
    'ceil(ceil(log2(floor(n/4) - 16*floor(n/64) + 1))/2)',
    true,
  ],
  [loop('%r9', 'eq.s32 %p1, %r1, 0', 'shr.u32 %r1, %r1, 1'), 'ceil(log2(n + 1))', true],
  [loop('%r9', 'lt.u32 %p1, %r1, 2', 'shr.u32 %r1, %r1, 2'), 'ceil(ceil(log2(floor(n/2) + 1))/2)', true],
  [loop('%r9', 'le.s32 %p1, %r1, 0', 'shr.s32 %r1, %r1, 1'), 'ceil(log2(n + 1))', true],
  [loop('%r9', 'le.u32 %p1, %r1, %r0', 'shr.u32 %r1, %r1, 1'), 'ceil(log2(n + 1))', true],
  // Binary searches, and the larger of two ends.
  [
    `mov.u32 %r2, %r9; ${loop('0', 'ge.s32 %p1, %r1, %r2', 'add.s32 %r3, %r1, %r2; shr.s32 %r3, %r3, 1; ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; add.s32 %r5, %r3, 1; selp.b32 %r1, %r5, %r1, %p3; selp.b32 %r2, %r2, %r3, %p3')}`,
    '2*ceil(log2(n + 1))',
    false,
  ],
  [
    `mov.u32 %r2, %r9; ${loop('0', 'ge.s32 %p1, %r1, %r2', 'ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; add.s32 %r5, %r1, 1; selp.b32 %r1, %r5, %r1, %p3; sub.s32 %r6, %r2, 1; selp.b32 %r2, %r2, %r6, %p3')}`,
    '2*n',
    true,
  ],
  // Two counters, of which each iteration advances one.
  [
    `mov.u32 %r2, 0; mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r9; @%p1 bra E; ${st} ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra A; add.s32 %r1, %r1, 1; bra H; A: add.s32 %r2, %r2, 1; setp.lt.s32 %p4, %r2, %r9; @%p4 bra H; E:`,
    '2*max(2*n, 2)',
    false,
  ],
  // An inner loop up to the outer counter, and one that continues.
  [
    `mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r9; @%p1 bra E; mov.u32 %r2, 0; I: setp.ge.s32 %p2, %r2, %r1; @%p2 bra F; ${st} add.s32 %r2, %r2, 1; bra I; F: add.s32 %r1, %r1, 1; bra H; E:`,
    'n*n/2 - n/2',
    true,
  ],
  [
    `mov.u32 %r2, 0; mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r9; @%p1 bra E; ld.global.u32 %r4, [%d2]; I: setp.ge.s32 %p2, %r2, %r4; @%p2 bra F; setp.ge.s32 %p4, %r2, %r9; @%p4 bra F; ${st} add.s32 %r2, %r2, 1; bra I; F: add.s32 %r1, %r1, 1; bra H; E:`,
    '3*n',
    false,
  ],
];

test('bounds of the trip counts of small loops', () => {
  for (const [body, bound, isExact] of cases) {
    const found = boundOf(body);
    assert.equal(found.text, bound, body);
    assert.equal(found.below, null, `${body}: below the count at n = ${found.below}`);
    assert.equal(found.isExact, isExact, body);
  }
});
