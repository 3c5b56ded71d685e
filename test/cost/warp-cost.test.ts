/** Bounds of loops, branches and waits: their form, and against counts at several sizes. */
import type { Dim3 } from '../../src/base/dim3.ts';
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Dimensions } from '../../src/analysis/values/launch-bounds.ts';
import { evaluate } from '../../src/cost/expressions/expression.ts';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import { type KernelBounds, boundKernel, costOfKernel, outOfTime } from '../../src/cost/kernel-cost.ts';
import { LaunchCounters } from '../../src/interpreter/counters.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { kernel, launch } from '../interpreter/core/launch-text.ts';

type CostRequest = Parameters<typeof boundKernel>[0];

function requestOf(code: Kernel, dimensions: Dimensions): CostRequest {
  return {
    kernel: code,
    dimensions,
    sharedBytes: 0,
    declaredAs: (index) => (index < 2 ? 'pointer' : 'scalar'),
    parameterName: (index) => (index === 2 ? 'n' : null),
  };
}

function boundsOf(code: Kernel, dimensions: Dimensions): KernelBounds {
  return boundKernel(requestOf(code, dimensions));
}

const metrics = ['steps', 'sectors', 'conflicts', 'divwarps'] as const;
const sizes = [0, 1, 2, 3, 7, 8, 31, 32, 33, 64, 100];

interface Case {
  readonly name: string;
  readonly body: string;
  readonly block?: Dim3;
  readonly sizes?: readonly number[];
  /** Printed bounds; null: unbounded. */
  readonly bounds: Partial<Record<(typeof metrics)[number], string | null>>;
  /** Metrics whose bound some warp attains at every size. */
  readonly exact?: readonly (typeof metrics)[number][];
}

function check({ name, body, block = [64, 1, 1], sizes: own = sizes, bounds, exact = [] }: Case): void {
  test(name, () => {
    const code = kernel(body, '.shared .align 16 .b8 s[8192];');
    const found = boundsOf(code, { block, grid: [2, 1, 1] });
    for (const [metric, text] of Object.entries(bounds)) {
      const { bound, reason } = found[metric as (typeof metrics)[number]];
      assert.equal(bound && expressionText(bound), text, `${metric}: ${reason}`);
    }
    for (const n of own) {
      const counters = new LaunchCounters();
      const { outcome } = launch(code, {
        block,
        grid: [2, 1, 1],
        n: BigInt(n),
        observer: counters,
        detectRaces: false,
      });
      assert.equal(outcome, 'finished');
      for (const metric of metrics) {
        const { bound } = found[metric];
        const value = bound && evaluate(bound, (name) => (name === 'n' ? BigInt(n) : undefined));
        if (!value) continue;
        const most = Number(value.top) / Number(value.bottom);
        const counted = Math.max(...counters.warps.map((warp) => (metric === 'divwarps' ? warp.divergentBranches : warp[metric])));
        assert.ok(most >= counted, `${metric} at n = ${n}: ${expressionText(bound)} is ${most}, counted ${counted}`);
        if (exact.includes(metric)) assert.equal(most, counted, `${metric} at n = ${n}: ${expressionText(bound)}`);
      }
    }
  });
}

// The loop runs max(1, n - 20) times: a preceding guard replaces that by n - 20 only if it implies n > 20 in all lanes.
for (const [guard, sectors] of [
  ['setp.lt.s32 %p1, %r9, 0;', '4*max(0, n - 21) + 4'],
  ['setp.ge.s32 %p1, %r0, %r9;', '4*max(0, n - 21) + 4'],
  ['setp.lt.s32 %p1, %r9, 20;', '4*max(0, n - 21) + 4'],
  ['setp.le.s32 %p1, %r9, 20;', 'max(0, 4*n - 80)'],
  ['add.s32 %r2, %r0, 21; setp.lt.s32 %p1, %r9, %r2;', 'max(0, 4*n - 80)'],
] as const)
  check({
    name: `a loop tested at its end, after ${guard}`,
    body: `${guard} @%p1 bra END; mov.u32 %r1, 20;
      HEAD: st.global.u32 [%d3], %r1; add.s32 %r1, %r1, 1; setp.lt.s32 %p2, %r1, %r9; @%p2 bra HEAD; END:`,
    sizes: [0, 1, 2, 19, 20, 21, 22, 23, 40, 60],
    bounds: { sectors },
  });

check({
  name: 'a counted loop',
  body: `mov.u32 %r1, 0;
    HEAD: setp.ge.s32 %p1, %r1, %r9; @%p1 bra END; st.global.u32 [%d3], %r1; add.s32 %r1, %r1, 1; bra HEAD; END:`,
  bounds: { sectors: '4*n', divwarps: '0', conflicts: '0' },
  exact: metrics,
});

check({
  name: 'down to zero, and by steps of three',
  body: `mov.u32 %r1, %r9;
    HEAD: setp.le.s32 %p1, %r1, 0; @%p1 bra END; st.global.u32 [%d3], %r1; sub.s32 %r1, %r1, 3; bra HEAD; END:`,
  bounds: { sectors: '4*ceil(n/3)' },
  exact: metrics,
});

check({
  name: 'tested at its end after a guard, and until equal',
  body: `setp.lt.s32 %p1, %r9, 1; @%p1 bra END; mov.u32 %r1, 0;
    BODY: st.global.u32 [%d3], %r1; add.s32 %r1, %r1, 1; setp.ne.s32 %p2, %r1, %r9; @%p2 bra BODY; END:`,
  bounds: { sectors: '4*n' },
  exact: ['sectors', 'divwarps'],
});

check({
  name: 'doubling up to n',
  body: `mov.u32 %r1, 1;
    HEAD: setp.ge.s32 %p1, %r1, %r9; @%p1 bra END; st.global.u32 [%d3], %r1; shl.b32 %r1, %r1, 1; bra HEAD; END:`,
  bounds: { sectors: '4*ceil(log2(n))' },
  exact: metrics,
});

check({
  name: 'halving down from n',
  body: `mov.u32 %r1, %r9;
    HEAD: setp.eq.u32 %p1, %r1, 0; @%p1 bra END; st.global.u32 [%d3], %r1; shr.u32 %r1, %r1, 1; bra HEAD; END:`,
  bounds: { sectors: '4*ceil(log2(n + 1))' },
  exact: metrics,
});

check({
  name: 'a triangle: the sum over its iterations',
  body: `mov.u32 %r1, 0;
    HEAD: setp.ge.s32 %p1, %r1, %r9; @%p1 bra END; mov.u32 %r2, %r1;
    INNER: setp.ge.s32 %p2, %r2, %r9; @%p2 bra NEXT; st.global.u32 [%d3], %r2; add.s32 %r2, %r2, 1; bra INNER;
    NEXT: add.s32 %r1, %r1, 1; bra HEAD; END:`,
  sizes: [0, 1, 2, 7, 33],
  bounds: { sectors: '2*n*n + 2*n' },
  exact: metrics,
});

check({
  name: 'a trip count equal to the lane index: each lane leaves separately',
  body: `mov.u32 %r1, 0;
    HEAD: setp.ge.u32 %p1, %r1, %r0; @%p1 bra END; add.u32 %r1, %r1, 1; bra HEAD;
    END: st.global.u32 [%d3], %r1;`,
  bounds: { divwarps: '31' },
  exact: metrics,
});

check({
  name: 'a stride of the block: at most one warp is split',
  body: `mov.u32 %r1, %r0;
    HEAD: setp.ge.s32 %p1, %r1, %r9; @%p1 bra END; mul.wide.s32 %d6, %r1, 4; add.s64 %d7, %d1, %d6;
    st.global.u32 [%d7], %r1; add.s32 %r1, %r1, 64; bra HEAD; END:`,
  bounds: { sectors: '4*ceil(n/64)', divwarps: 'ceil(n/32) - floor(n/32)' },
  exact: ['steps', 'divwarps'],
});

check({
  name: 'iterations that differ are distinguished',
  body: `mov.u32 %r1, 1;
    HEAD: setp.ge.u32 %p1, %r1, 64; @%p1 bra END; sub.u32 %r2, %r1, 1; and.b32 %r2, %r2, %r0; setp.ne.u32 %p2, %r2, 0; @%p2 bra NEXT;
    st.global.u32 [%d3], %r1;
    NEXT: shl.b32 %r1, %r1, 1; bra HEAD; END:`,
  // 1: all lanes, 4 sectors; 2: every other lane, 4; 4: 4, then 4, 2 and 1.
  bounds: { sectors: '19', divwarps: '5' },
  exact: metrics,
});

check({
  name: 'exclusive paths: the more expensive one; divergent paths: both',
  body: `setp.gt.s32 %p1, %r9, 7; @%p1 bra MANY; st.global.u32 [%d3], %r9; bra NEXT;
    MANY: st.global.u32 [%d3], %r9; st.global.u32 [%d4], %r9;
    NEXT: ld.global.u32 %r1, [%d3+512]; setp.eq.u32 %p2, %r1, 0; @%p2 bra NONE; st.global.u32 [%d4], %r9; bra END;
    NONE: st.global.u32 [%d4+256], %r9; END:`,
  bounds: { sectors: '20', divwarps: '1' },
});

check({
  name: 'early returns before a barrier: returned threads do not wait',
  body: `setp.lt.u32 %p1, %r0, %r9; @!%p1 bra DONE; st.global.u32 [%d3], %r0; bar.sync 0; DONE: st.global.u32 [%d4], %r0;`,
  bounds: { sectors: '12' },
  sizes: [0, 32, 64],
});

check({
  name: 'lanes that wait for half of their warp continue without the other half',
  body: `shr.u32 %r1, %r0, 4; and.b32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; selp.b32 %r2, 0xffff, 0xffff0000, %p1;
    bar.warp.sync %r2; st.global.u32 [%d3], %r0;`,
  bounds: { conflicts: '0' },
});

check({
  name: 'two back edges of a loop: lanes reconverge before the next iteration',
  body: `mov.u32 %r1, 0; mov.u32 %r3, 0;
    HEAD: add.u32 %r1, %r1, 1; setp.gt.u32 %p3, %r1, 8; @%p3 bra END;
    xor.b32 %r2, %r1, %r0; and.b32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra HEAD;
    st.global.u32 [%d3], %r1; st.global.u32 [%d4], %r1; bra HEAD; END:`,
  bounds: { sectors: '64', steps: '90' },
});

check({
  name: 'a loop over data has no bound',
  body: `ld.global.u32 %r3, [%d1]; mov.u32 %r1, 0;
    HEAD: setp.ge.u32 %p1, %r1, %r3; @%p1 bra END; st.global.u32 [%d4], %r1; add.u32 %r1, %r1, 1; bra HEAD; END:`,
  bounds: { sectors: null, steps: null, conflicts: '0', divwarps: '0' },
});

check({
  name: 'a bound for lanes that stay, and an exit that data decide',
  body: `mov.u32 %r1, 0;
    HEAD: setp.ge.s32 %p1, %r1, %r9; @%p1 bra END; ld.global.u32 %r2, [%d3]; setp.gt.u32 %p2, %r2, %r1; @%p2 bra END;
    add.s32 %r1, %r1, 1; bra HEAD; END:`,
  bounds: { sectors: '4*n', divwarps: 'min(n, 31)' },
});

test('a block of any size has the warps of the largest block', () => {
  const code = kernel(
    `mov.u32 %r5, %ntid.x; mov.u32 %r1, %r0;
    HEAD: setp.ge.s32 %p1, %r1, %r9; @%p1 bra END; mul.wide.s32 %d6, %r1, 4; add.s64 %d7, %d1, %d6;
    st.global.u32 [%d7], %r1; add.s32 %r1, %r1, %r5; bra HEAD; END:`,
  );
  const { bound } = boundsOf(code, { block: [null, 1, 1], grid: [1, 1, 1] }).sectors;
  assert.equal(bound && expressionText(bound), '5*ceil(n/blockDim.x)');
});

test('after the deadline there are only missing bounds, and every metric states why', () => {
  const bounds = boundKernel({
    kernel: kernel('st.global.u32 [%d1], %r0;'),
    dimensions: { block: [32, 1, 1], grid: [1, 1, 1] },
    sharedBytes: 0,
    declaredAs: () => 'pointer',
    parameterName: () => null,
    expired: () => true,
  });
  for (const { bound, reason } of Object.values(bounds)) assert.deepEqual([bound, reason], [null, outOfTime]);
});

test('sequential blocks that overflow the stack are a reason, not an internal error', () => {
  const fill = (): boolean => fill();
  const bounds = boundKernel({
    kernel: kernel('st.global.u32 [%d1], %r0;'),
    dimensions: { block: [32, 1, 1], grid: [1, 1, 1] },
    sharedBytes: 0,
    declaredAs: () => 'pointer',
    parameterName: () => null,
    expired: fill,
  });
  for (const { bound, reason } of Object.values(bounds))
    assert.deepEqual([bound, reason], [null, 'the kernel has too many blocks in a row']);
});

test('lines of loops have the iterations of the innermost loop and of all loops, in kernel parameters', () => {
  const code = kernel(
    `.loc 1 2 0
    mov.u32 %r1, 0;
    HEAD: .loc 1 3 0
    setp.ge.s32 %p1, %r1, 128; @%p1 bra OPEN;
    mov.u32 %r2, 0;
    INNER: .loc 1 4 0
    st.global.u32 [%d3], %r2; add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, 10; @%p2 bra INNER;
    .loc 1 5 0
    add.s32 %r1, %r1, 1; bra HEAD;
    OPEN: .loc 1 6 0
    mov.u32 %r3, 0;
    NEXT: .loc 1 7 0
    setp.ge.s32 %p1, %r3, %r9; @%p1 bra END; st.global.u32 [%d3], %r3; add.s32 %r3, %r3, 1; bra NEXT;
    END:`,
    '.file 1 "a.cu"',
  );
  const { rounds, visits } = costOfKernel(requestOf(code, { block: [64, 1, 1], grid: [2, 1, 1] }));
  assert.deepEqual(
    rounds.map(({ location, inner, all }) => [location.line, expressionText(inner), expressionText(all)]),
    // The condition of line 3 is evaluated once more than it is true.
    [
      [3, '129', '129'],
      [7, 'n + 1', 'n + 1'],
      [4, '10', '1280'],
      [5, '128', '128'],
    ],
  );
  assert.deepEqual([...new Set([...visits.values()].map(expressionText))], ['129', 'n + 1', '1280', '128']);
});
