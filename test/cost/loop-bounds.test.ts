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

interface FoundBound {
  readonly text: string;
  /** A size at which the bound is below the count. */
  readonly below: number | null;
  /** Whether the bound is attained at every size, and whether it is marked so. */
  readonly isAttained: boolean;
  readonly isMarked: boolean;
}

/** The bounds of a body in one warp: the sectors, 1 for each iteration, and the divergent branches. */
function boundsOf(body: string): readonly [sectors: FoundBound, divergent: FoundBound] {
  const code = kernel(body);
  const bounds = boundKernel({
    kernel: code,
    dimensions: { block, grid: [1, 1, 1] },
    sharedBytes: 0,
    declaredAs: (index) => (index < 2 ? 'pointer' : 'scalar'),
    parameterName: (index) => (index === 2 ? 'n' : null),
  });
  // A loop without a bound may not end.
  const runs = (bounds.sectors.bound ? sizes : []).map((n) => {
    const counted = [0n, 1n].flatMap((fill) => {
      const observer = new LaunchCounters();
      const { outcome } = launch(code, { block, grid: [1, 1, 1], n: BigInt(n), b: { fill }, observer, detectRaces: false });
      assert.equal(outcome, 'finished', body);
      return observer.warps;
    });
    return { n, warps: counted };
  });
  const found = (
    { bound, exact }: (typeof bounds)['sectors'],
    counted: (warp: (typeof runs)[number]['warps'][number]) => number,
  ): FoundBound => {
    if (!bound) return { text: '-', below: null, isAttained: false, isMarked: exact === true };
    let [below, isAttained]: [number | null, boolean] = [null, true];
    for (const { n, warps } of runs) {
      const value = evaluate(bound, (name) => (name === 'n' ? BigInt(n) : undefined));
      // A quotient by 0: the loop would never end.
      if (!value) continue;
      const most = Number(value.top) / Number(value.bottom);
      const count = Math.max(...warps.map(counted));
      if (most < count) below = n;
      if (most !== count) isAttained = false;
    }
    return { text: expressionText(bound), below, isAttained, isMarked: exact === true };
  };
  return [found(bounds.sectors, (warp) => warp.sectors), found(bounds.divwarps, (warp) => warp.divergentBranches)];
}

const st = 'st.global.u32 [%d1], 1;';
/** `for (i = start; !leave; step)`. */
const loop = (start: string, leave: string, step: string, inside = ''): string =>
  `mov.u32 %r1, ${start}; H: setp.${leave}; @%p1 bra E; ${st} ${inside} ${step}; bra H; E:`;
/** `do … while (stay)`. */
const tail = (start: string, step: string, stay: string, before = ''): string =>
  `${before} mov.u32 %r1, ${start}; H: ${st} ${step}; setp.${stay}; @%p1 bra H; E:`;
const up = (by: number | string): string => `add.s32 %r1, %r1, ${by}`;
/** A loop within `for (i = 0; i < n; i++)`. */
const nested = (start: string, leave: string, step: string): string =>
  `mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r9; @%p1 bra E; ${start} I: setp.${leave}; @%p2 bra F; ${st} ${step} bra I; F: ${up(1)}; bra H; E:`;
/** `%r1` becomes one of two values, depending on memory. */
const either = (a: string, b: string): string =>
  `ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; ${a.replace('=', '%r5, %r1,')}; ${b.replace('=', '%r6, %r1,')}; selp.b32 %r1, %r5, %r6, %p3`;
const guarded = 'setp.lt.s32 %p2, %r9, 1; @%p2 bra E;';

/** With the bound, whether it is attained at every size, and the bound of the divergent branches unless it is 0. */
const cases: readonly (readonly [body: string, bound: string, isAttained: boolean, divergent?: string])[] = [
  [loop('0', 'ge.s32 %p1, %r1, %r9', up(1)), 'n', true],
  [loop('0', 'gt.s32 %p1, %r1, %r9', up(1)), 'n + 1', true],
  [loop('0', 'ge.u32 %p1, %r1, %r9', up(1)), 'n', true],
  [loop('3', 'ge.s32 %p1, %r1, %r9', up(1)), 'max(0, n - 3)', true],
  [loop('3', 'ge.s32 %p1, %r1, %r9', up(2)), 'max(0, floor(n/2) - 1)', true],
  [loop('0', 'gt.s32 %p1, %r1, %r9', up(3)), 'floor(n/3) + 1', true],
  [loop('%r0', 'ge.s32 %p1, %r1, %r9', up(1)), 'n', true, 'min(n, 31)'],
  [loop('%r0', 'ge.s32 %p1, %r1, %r9', up(32)), 'ceil(n/32)', true, 'ceil(n/32) - floor(n/32)'],
  [loop('%r0', 'ge.s32 %p1, %r1, %r9', up(16)), 'ceil(n/16)', true, 'min(ceil(n/16), 2)'],
  [loop('%r9', 'le.s32 %p1, %r1, 0', up(-1)), 'n', true],
  [loop('%r9', 'lt.s32 %p1, %r1, 0', up(-1)), 'n + 1', true],
  [loop('%r9', 'le.s32 %p1, %r1, 2', up(-3)), 'floor(n/3)', true],
  [loop('%r9', 'le.s32 %p1, %r1, %r0', up(-1)), 'n', true, 'min(n, 31)'],
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
  [loop('%r9', 'le.u32 %p1, %r1, %r0', 'shr.u32 %r1, %r1, 1'), 'ceil(log2(n + 1))', true, 'min(ceil(log2(n + 1)), 31)'],
  // More than one condition, and limits that branches before the loop bound.
  [
    `mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r9; setp.ge.s32 %p2, %r1, 20; or.pred %p3, %p1, %p2; @%p3 bra E; ${st} ${up(1)}; bra H; E:`,
    'min(n, 20)',
    true,
  ],
  [
    `mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r9; setp.ge.s32 %p2, %r1, %r0; or.pred %p3, %p1, %p2; @%p3 bra E; ${st} ${up(1)}; bra H; E:`,
    'min(n, 31)',
    true,
    'min(n, 31)',
  ],
  [`setp.lt.s32 %p2, %r9, 3; @%p2 bra E; ${loop('3', 'ge.s32 %p1, %r1, %r9', up(1))}`, 'max(0, n - 3)', true],
  [`setp.le.s32 %p2, %r9, 3; @%p2 bra E; ${tail('3', up(1), 'lt.s32 %p1, %r1, %r9')}`, 'max(0, n - 3)', true],
  [`shl.b32 %r2, %r9, 1; setp.lt.s32 %p2, %r2, 5; @%p2 bra E; ${loop('3', 'ge.s32 %p1, %r1, %r9', up(1))}`, 'max(0, n - 3)', true],
  [`setp.le.s32 %p2, %r9, %r0; @%p2 bra E; ${loop('2', 'ge.s32 %p1, %r1, %r9', up(1))}`, 'max(0, n - 2)', true, 'ceil(n/32) - floor(n/32)'],
  [
    `add.s32 %r2, %r0, 2; setp.le.s32 %p2, %r9, %r2; @%p2 bra E; ${loop('2', 'ge.s32 %p1, %r1, %r9', up(1))}`,
    'max(0, n - 2)',
    true,
    'floor((n + 29)/32) - floor((n + 30)/32) + 1',
  ],
  [`setp.eq.s32 %p2, %r9, 0; @%p2 bra E; ${tail('0', up(1), 'ne.s32 %p1, %r1, %r9')}`, 'max(1, n)', false],
  // Steps that are not constant.
  [`setp.lt.s32 %p2, %r9, 1; @%p2 bra E; ${loop('0', 'ge.s32 %p1, %r1, 40', up('%r9'))}`, 'floor(39/n) + 1', true],
  [`add.s32 %r2, %r9, 2; ${loop('0', 'ge.s32 %p1, %r1, 40', up('%r2'))}`, 'ceil(40/(n + 2))', true],
  [`add.s32 %r2, %r9, 2; ${loop('%r0', 'ge.s32 %p1, %r1, 100', up('%r2'))}`, 'ceil(100/(n + 2))', true, 'min(ceil(31/(n + 2)), 31)'],
  [`add.s32 %r2, %r0, 1; ${loop('0', 'ge.s32 %p1, %r1, 40', up('%r2'))}`, '40', true, '10'],
  [
    `and.b32 %r2, %r0, 1; add.s32 %r2, %r2, 1; ${loop('0', 'ge.s32 %p1, %r1, %r9', up('%r2'))}`,
    'max(ceil(n/2), n)',
    true,
    'min(max(ceil(n/2), n), 31)',
  ],
  // Limits that lanes select, or that differ in each lane.
  [`and.b32 %r2, %r0, 3; ${loop('0', 'ge.s32 %p1, %r1, %r2', up(1))}`, '3', true, '3'],
  [`and.b32 %r2, %r0, 3; add.s32 %r2, %r2, %r9; ${loop('0', 'ge.s32 %p1, %r1, %r2', up(1))}`, 'n + 3', true, '3'],
  [`setp.lt.u32 %p2, %r0, 8; selp.b32 %r2, %r9, 4, %p2; ${loop('0', 'ge.s32 %p1, %r1, %r2', up(1))}`, 'max(n, 4)', true, '1'],
  [`setp.lt.u32 %p2, %r0, 8; selp.b32 %r2, 2, 0, %p2; ${loop('%r2', 'ge.s32 %p1, %r1, %r9', up(1))}`, 'n', true, '1'],
  [`mul.lo.s32 %r2, %r0, 3; ${loop('%r2', 'ge.s32 %p1, %r1, %r9', up(5))}`, 'ceil(n/5)', true, 'min(ceil(n/5), 19)'],
  [`neg.s32 %r2, %r0; add.s32 %r2, %r2, %r9; ${loop('0', 'ge.s32 %p1, %r1, %r2', up(2))}`, 'ceil(n/2)', true, 'min(ceil(n/2), 16)'],
  [`max.s32 %r2, %r9, 4; ${loop('0', 'ge.s32 %p1, %r1, %r2', up(1))}`, 'max(n, 4)', true],
  // Counters of 64 bits, and counters compared after a conversion.
  [
    `cvt.s64.s32 %d8, %r9; mov.u64 %d7, 0; H: setp.ge.s64 %p1, %d7, %d8; @%p1 bra E; ${st} add.s64 %d7, %d7, 2; bra H; E:`,
    'ceil(n/2)',
    true,
  ],
  [loop('0', 'ge.s64 %p1, %d7, %d8', up(1), '').replace('H:', 'cvt.s64.s32 %d8, %r9; H: cvt.s64.s32 %d7, %r1;'), 'n', true],
  [
    loop('0', 'ge.u16 %p1, %h1, %h2', up(1), '').replace('H:', 'and.b32 %r2, %r9, 255; cvt.u16.u32 %h2, %r2; H: cvt.u16.u32 %h1, %r1;'),
    '-',
    false,
  ],
  // Shifts from a shifted start, and up to a shifted limit.
  [`shr.u32 %r2, %r9, 1; ${loop('%r2', 'eq.s32 %p1, %r1, 0', 'shr.u32 %r1, %r1, 1')}`, 'ceil(log2(floor(n/2) + 1))', true],
  [`shr.u32 %r2, %r9, 1; ${loop('%r2', 'eq.s32 %p1, %r1, 0', 'shr.u32 %r1, %r1, 2')}`, 'ceil(ceil(log2(floor(n/2) + 1))/2)', true],
  [`shr.u32 %r2, %r9, 1; ${loop('1', 'gt.s32 %p1, %r1, %r2', 'shl.b32 %r1, %r1, 1')}`, 'ceil(log2(floor(n/2) + 1))', true],
  [loop('2', 'ge.s32 %p1, %r1, %r9', 'shl.b32 %r1, %r1, 1'), 'ceil(log2(ceil(n/2)))', true],
  [loop('2', 'ge.u32 %p1, %r1, %r9', 'shl.b32 %r1, %r1, 3'), 'ceil(ceil(log2(ceil(n/2)))/3)', true],
  [loop('%r9', 'le.u32 %p1, %r1, 1', 'shr.u32 %r1, %r1, 1'), 'ceil(log2(floor(n/2) + 1))', true],
  [loop('%r9', 'lt.u32 %p1, %r1, 5', 'shr.u32 %r1, %r1, 1'), 'ceil(log2(floor(n/5) + 1))', true],
  [loop('%r0', 'eq.s32 %p1, %r1, 0', 'shr.u32 %r1, %r1, 1'), '5', true, '5'],
  [loop('16', 'eq.s32 %p1, %r1, 1', 'shr.u32 %r1, %r1, 1'), '-', false],
  [loop('1', 'eq.s32 %p1, %r1, 16', 'shl.b32 %r1, %r1, 1'), '-', false],
  [loop('0', 'gt.s32 %p1, %r1, %r9', 'shl.b32 %r1, %r1, 1', 'setp.gt.s32 %p4, %r1, -1; @%p4 bra E;'), '-', false],
  // Binary searches, and the larger of two ends.
  [
    `mov.u32 %r2, %r9; ${loop('0', 'ge.s32 %p1, %r1, %r2', 'add.s32 %r3, %r1, %r2; shr.s32 %r3, %r3, 1; ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; add.s32 %r5, %r3, 1; selp.b32 %r1, %r5, %r1, %p3; selp.b32 %r2, %r2, %r3, %p3')}`,
    '2*ceil(log2(n + 1))',
    true,
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
  // The distance of two ends, halved: with the middle kept or left out, rounded down or towards 0.
  ...(
    [
      [
        'ge.s32 %p1, %r1, %r2',
        'add.s32 %r3, %r1, %r2; shr.u32 %r7, %r3, 31; add.s32 %r3, %r3, %r7; shr.s32 %r3, %r3, 1;',
        1,
        0,
        '2*ceil(log2(n + 1))',
        true,
      ],
      ['gt.s32 %p1, %r1, %r2', 'add.s32 %r3, %r1, %r2; shr.s32 %r3, %r3, 1;', 1, -1, '-', false],
      ['ge.s32 %p1, %r1, %r2', 'add.s32 %r3, %r1, %r2; shr.s32 %r3, %r3, 1;', 1, -1, '-', false],
      ['ge.s32 %p1, %r7, %r2', 'add.s32 %r3, %r1, %r2; shr.s32 %r3, %r3, 1;', 0, 0, '2*ceil(log2(max(1, n)))', true],
      ['ge.s32 %p1, %r1, %r2', 'add.s32 %r3, %r1, %r2; shr.s32 %r3, %r3, 2;', 1, 0, '-', false],
      ['ge.s32 %p1, %r1, %r2', 'sub.s32 %r3, %r2, %r1; shr.s32 %r3, %r3, 1; add.s32 %r3, %r3, %r1;', 1, 0, '-', false],
      ['ge.s32 %p1, %r1, %r2', 'add.s32 %r3, %r1, %r2; div.s32 %r3, %r3, 2;', 1, 0, '2*ceil(log2(n + 1))', true],
      ['ge.s32 %p1, %r1, %r2', 'add.s32 %r3, %r1, %r2; shr.s32 %r3, %r3, 1;', 0, 0, '-', false],
    ] as const
  ).map(
    ([leave, middle, low, high, bound, isAttained]) =>
      [
        `mov.u32 %r2, %r9; mov.u32 %r1, 0; H: add.s32 %r7, %r1, 1; setp.${leave}; @%p1 bra E; ${st} ${middle} ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0;
        add.s32 %r5, %r3, ${low}; selp.b32 %r1, %r5, %r1, %p3; add.s32 %r6, %r3, ${high}; selp.b32 %r2, %r2, %r6, %p3; bra H; E:`,
        bound,
        isAttained,
      ] as const,
  ),
  // A number that is at least halved, and one that is halved or decreased.
  [loop('%r9', 'le.s32 %p1, %r1, 0', either('shr.s32 = 1', 'shr.s32 = 2')), '2*ceil(log2(n + 1))', true],
  [loop('%r9', 'le.s32 %p1, %r1, 0', either('shr.s32 = 1', 'sub.s32 = 1')), '-', false],
  [loop('%r9', 'le.s32 %p1, %r1, 0', either('sub.s32 = 2', 'sub.s32 = 3')), '2*ceil(n/2)', true],
  [loop('%r9', 'le.s32 %p1, %r1, 4', either('sub.s32 = 2', 'sub.s32 = 1')), '2*max(0, n - 4)', true],
  [loop('%r9', 'eq.s32 %p1, %r1, 0', either('shr.u32 = 1', 'shr.u32 = 3')), '2*ceil(log2(n + 1))', true],
  // A number that need not decrease.
  [
    loop('%r9', 'le.s32 %p1, %r1, 0', 'ld.global.u32 %r4, [%d2]; min.u32 %r4, %r4, 1; sub.s32 %r1, %r1, 1; sub.s32 %r1, %r1, %r4'),
    '-',
    false,
  ],
  // A sum of which one part may be too large for 32 bits, so that it may wrap around before the loop ends.
  [
    `and.b32 %r2, %r9, 2147483647; H0: mov.u32 %r1, 0; H: mad.lo.s32 %r3, %r2, 4, %r1; cvt.s64.s32 %d7, %r3; setp.ge.s64 %p1, %d7, 100; @%p1 bra E; ${st} ${up(1)}; bra H; E:`,
    'max(0, -4*n + 100)',
    true,
  ],
  // Too many paths through one iteration.
  [
    `mov.u32 %r1, %r9; H: setp.le.s32 %p1, %r1, 0; @%p1 bra E; ${st} ${Array.from({ length: 7 }, (_, i) => `ld.global.u32 %r4, [%d2+${4 * i}]; setp.eq.u32 %p3, %r4, 0; @%p3 bra J${i}; sub.s32 %r1, %r1, 1; J${i}:`).join(' ')} sub.s32 %r1, %r1, 1; bra H; E:`,
    '-',
    false,
  ],
  [
    `mov.u32 %r1, %r9; H: setp.le.s32 %p1, %r1, 0; @%p1 bra E; ${st} ${Array.from({ length: 2 }, (_, i) => `ld.global.u32 %r4, [%d2+${4 * i}]; setp.eq.u32 %p3, %r4, 0; @%p3 bra J${i}; sub.s32 %r1, %r1, 1; J${i}:`).join(' ')} sub.s32 %r1, %r1, 1; bra H; E:`,
    '3*n',
    true,
  ],
  // A variable that an iteration loads is not known before it.
  [
    `mov.u32 %r1, %r9; H: setp.le.s32 %p1, %r1, 0; @%p1 bra E; ${st} ld.global.u32 %r4, [%d2]; and.b32 %r4, %r4, 3; sub.s32 %r1, %r4, 1; bra H; E:`,
    '-',
    false,
  ],
  [
    `mov.u32 %r1, %r9; mov.u32 %r2, 0; H: setp.ge.s32 %p1, %r2, %r1; @%p1 bra E; ${st} ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra A; add.s32 %r2, %r2, 1; bra H; A: ld.global.u32 %r5, [%d2+4]; min.s32 %r5, %r5, 0; add.s32 %r1, %r1, %r5; sub.s32 %r1, %r1, 1; bra H; E:`,
    '-',
    false,
  ],
  // A loop that goes on while two numbers differ, and while one is not 0.
  [loop('%r9', 'eq.s32 %p1, %r1, 0', 'ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra H; sub.s32 %r1, %r1, 1'), '-', false],
  [
    `mov.u32 %r2, 0; mov.u32 %r1, %r9; H: setp.eq.s32 %p1, %r1, 0; @%p1 bra E; ${st} ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra A; sub.s32 %r1, %r1, 1; bra H; A: add.s32 %r2, %r2, 1; setp.ne.s32 %p4, %r2, 5; @%p4 bra H; E:`,
    '2*n + 12',
    false,
  ],
  // Numbers that grow by one of two steps, compared as signed and as unsigned.
  [loop('0', 'ge.s32 %p1, %r1, %r9', either('add.s32 = 1', 'add.s32 = 2')), '2*n', true],
  [loop('0', 'ge.u32 %p1, %r1, %r9', either('add.s32 = 1', 'add.s32 = 2')), '2*n', true],
  [loop('0', 'gt.u32 %p1, %r1, %r9', either('add.s32 = 3', 'add.s32 = 2')), '2*floor(n/2) + 2', true],
  [loop('0', 'hs.u32 %p1, %r1, 20', either('add.s32 = 3', 'add.s32 = 2')), '20', true],
  // Two numbers that approach each other, and their sum.
  [
    `mov.u32 %r2, %r9; mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r2; @%p1 bra E; ${st} ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra A; add.s32 %r1, %r1, 2; bra H; A: sub.s32 %r2, %r2, 1; bra H; E:`,
    '2*n',
    true,
  ],
  [
    `mov.u32 %r2, %r9; mov.u32 %r1, %r9; H: add.s32 %r3, %r1, %r2; setp.le.s32 %p1, %r3, 0; @%p1 bra E; ${st} ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra A; sub.s32 %r1, %r1, 1; bra H; A: sub.s32 %r2, %r2, 1; bra H; E:`,
    '4*n',
    true,
  ],
  // An outer loop moves units from one number to another one, which an inner loop uses up.
  [
    `mov.u32 %r2, 0; mov.u32 %r1, %r9; H: setp.le.s32 %p1, %r1, 0; @%p1 bra E; sub.s32 %r1, %r1, 1; add.s32 %r2, %r2, 1; ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra H; I: setp.le.s32 %p2, %r2, 0; @%p2 bra H; ${st} sub.s32 %r2, %r2, 1; bra I; E:`,
    '2*n + 1',
    false,
  ],
  [
    `mov.u32 %r2, 0; mov.u32 %r1, %r9; H: setp.le.s32 %p1, %r1, 0; @%p1 bra E; sub.s32 %r1, %r1, 1; add.s32 %r2, %r2, 3; ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra H; I: setp.le.s32 %p2, %r2, 5; @%p2 bra H; ${st} sub.s32 %r2, %r2, 2; bra I; E:`,
    'n + floor((3*n)/2)',
    false,
  ],
  // An exit that some iterations skip.
  [
    `mov.u32 %r1, 0; H: ${st} ${up(1)}; ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra H; setp.lt.s32 %p1, %r1, %r9; @%p1 bra H; E:`,
    '-',
    false,
  ],
  [
    `mov.u32 %r1, 0; H: ${st} ld.global.u32 %r4, [%d2]; setp.eq.u32 %p3, %r4, 0; @%p3 bra H; ${up(1)}; setp.lt.s32 %p1, %r1, %r9; @%p1 bra H; E:`,
    '-',
    false,
  ],
  // Inner loops: from and to the outer counter, with steps, and over what is left of a common counter.
  [nested('mov.u32 %r2, %r1;', 'ge.s32 %p2, %r2, %r9', 'add.s32 %r2, %r2, 1;'), 'n*n/2 + n/2', true],
  [nested('mov.u32 %r2, 0;', 'gt.s32 %p2, %r2, %r1', 'add.s32 %r2, %r2, 1;'), 'n*n/2 + n/2', true],
  [nested('mov.u32 %r2, 0;', 'ge.s32 %p2, %r2, %r1', 'add.s32 %r2, %r2, 2;'), 'n*n/4 + n/4', false],
  [nested('mov.u32 %r2, %r1;', 'le.s32 %p2, %r2, 0', 'sub.s32 %r2, %r2, 1;'), 'n*n/2 - n/2', true],
  [nested('mov.u32 %r2, 3;', 'le.s32 %p2, %r2, 0', 'sub.s32 %r2, %r2, 1;'), '3*n', true],
  [nested('mov.u32 %r2, %r1;', 'eq.s32 %p2, %r2, 0', 'shr.u32 %r2, %r2, 1;'), 'ceil(log2(n))*n', false],
  [
    `mov.u32 %r2, 0; mov.u32 %r1, 0; H: setp.ge.s32 %p1, %r1, %r9; @%p1 bra E; I: ld.global.u32 %r4, [%d2]; setp.ne.u32 %p2, %r4, 0; @%p2 bra F; setp.ge.s32 %p4, %r2, 7; @%p4 bra F; ${st} add.s32 %r2, %r2, 2; bra I; F: add.s32 %r1, %r1, 1; bra H; E:`,
    '2*n + 8',
    false,
  ],
];

test('bounds of the trip counts of small loops', () => {
  const wrong = cases.flatMap(([body, bound, isAttained, divergent = '0']) => {
    const [sectors, branches] = boundsOf(body);
    for (const one of [sectors, branches]) {
      assert.equal(one.below, null, `${body}: below the count at n = ${one.below}`);
      assert.ok(one.isAttained || !one.isMarked, body);
    }
    const found = [sectors.text, sectors.isAttained, branches.text];
    return found.join() === [bound, isAttained, divergent].join() ? [] : [`${body}: ${found.join('; ')}`];
  });
  assert.deepEqual(wrong, []);
});
