import type { KernelContext } from '../../../src/check/context/facts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlDependence } from '../../../src/analysis/values/control-dependence.ts';
import { sharedByLanes } from '../../../src/analysis/values/shared-by-lanes.ts';
import { type SharedByLanes, type UniformityResult, inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import type { BlockId } from '../../../src/ir/form/kernel.ts';
import { contextOf, load, store } from '../../check/kernel-text.ts';

interface Inferred {
  readonly context: KernelContext;
  readonly uniformity: UniformityResult;
  /** Uniformity of the value that the last store to `b` writes. */
  readonly stored: string;
}

/** Infers the uniformity of a kernel that ends with a store of `%r1` to `b`. */
function infer(body: string, proved: readonly number[] = []): Inferred {
  const context = contextOf(`${body} ${store('%d2', '%r0', '%r1', 60)}`);
  const { kernel, loaded } = context;
  const uniformity = inferUniformity(kernel, controlDependence(kernel), loaded, new Set(proved as BlockId[]));
  return { context, uniformity, stored: lastStored(context, uniformity) };
}

function lastStored({ kernel }: KernelContext, uniformity: UniformityResult): string {
  const stores = kernel.blocks.flatMap(({ instructions }) => instructions.filter(({ operation }) => operation.effect.kind === 'store'));
  const value = stores[stores.length - 1]!.arguments[1]!;
  return value.kind === 'value' ? uniformity.value(value.id) : value.kind;
}

/** Uniformity, for the lanes of a warp, of the value that the last store writes. */
function storedIn(context: KernelContext, lanes: SharedByLanes): string {
  const { kernel, loaded } = context;
  return lastStored(context, inferUniformity(kernel, controlDependence(kernel), loaded, new Set(), lanes));
}

const stored = (body: string): string => infer(body).stored;

test('launch parameters are uniform, indices of threads vary', () => {
  assert.equal(stored('mad.lo.s32 %r1, %r6, %r5, %r9;'), 'uniform');
  assert.equal(stored('mov.u32 %r2, %nctaid.x; add.s32 %r1, %r2, %r9;'), 'uniform');
  assert.equal(stored('add.s32 %r1, %r9, %r0;'), 'varying');
  assert.equal(stored('mov.u32 %r2, %laneid; add.s32 %r1, %r2, 1;'), 'varying');
  assert.equal(stored('mov.u32 %r2, %clock; add.s32 %r1, %r2, 1;'), 'varying');
});

test('loads: fixed memory, memory that is written, an index that varies', () => {
  assert.equal(stored(load('%r1', '%d1', '%r9', 10)), 'uniform');
  assert.equal(stored(load('%r1', '%d1', '%r0', 10)), 'varying');
  assert.equal(stored(load('%r1', '%d2', '%r9', 10)), 'stable');
  assert.equal(stored(`${store('%d0', '%r0', '%r9', 11)} bar.sync 0; ${load('%r1', '%d0', '%r9', 10)}`), 'stable');
  assert.equal(stored('ld.volatile.u32 %r1, [%d1];'), 'varying');
  assert.equal(stored('ld.relaxed.gpu.u32 %r1, [%d1];'), 'varying');
  assert.equal(stored('atom.add.u32 %r1, [%d1], 1;'), 'varying');
});

test('loads of thread-private memory vary', () => {
  const own = `.local .align 4 .b8 own[64]; mov.u64 %d20, own; and.b32 %r10, %r9, 15; mul.wide.u32 %d22, %r10, 4;
    and.b32 %r11, %r8, 15; mul.wide.u32 %d24, %r11, 4;`;
  const direct = `${own} add.s64 %d23, %d20, %d22; st.local.u32 [%d23], %r0; add.s64 %d25, %d20, %d24;
    ld.local.u32 %r1, [%d25];`;
  assert.equal(stored(direct), 'varying');
  const generic = `${own} cvta.local.u64 %d21, %d20; add.s64 %d23, %d21, %d22; st.u32 [%d23], %r0;
    add.s64 %d25, %d21, %d24; ld.u32 %r1, [%d25];`;
  assert.equal(stored(generic), 'varying');
  // A pointer that is read from memory may lead there.
  assert.equal(stored('ld.u64 %d10, [%d1]; ld.u32 %r1, [%d10];'), 'varying');
});

test('a value merged after a varying branch varies, unless it is equal on both paths', () => {
  const merge = (condition: string, other: string): string =>
    `mov.u32 %r1, 1; setp.lt.s32 %p1, ${condition}, 5; @%p1 bra X; mov.u32 %r1, ${other}; X:`;
  assert.equal(stored(merge('%r0', '%r9')), 'varying');
  assert.equal(stored(merge('%r9', '%r8')), 'uniform');
  assert.equal(stored(merge('%r9', '%r0')), 'varying');
  const nested = `mov.u32 %r1, 1; setp.lt.s32 %p1, %r0, 5; @%p1 bra X; setp.lt.s32 %p2, %r9, 5; @%p2 bra X;
    mov.u32 %r1, %r8; X:`;
  assert.equal(stored(nested), 'varying');
});

test('a register that no path writes varies', () => {
  const { context, uniformity } = infer('add.s32 %r1, %r30, 1; bar.sync 0;');
  assert.ok(context.kernel.values.some((_, id) => uniformity.value(id as never) === 'varying'));
});

const rounds = (bound: string, inside = ''): string =>
  `mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, ${bound}; @%p1 bra X; ${inside} add.s32 %r1, %r1, 1; bra L;
    X: mul.lo.s32 %r1, %r1, 3;`;

test('a loop that threads exit in different iterations makes its variables vary after it', () => {
  const uniform = infer(rounds('%r9'));
  assert.equal(uniform.stored, 'uniform');
  assert.equal(uniform.uniformity.divergent(uniform.context.kernel.loops[0]!.id), false);
  const varying = infer(rounds('%r0'));
  assert.equal(varying.stored, 'varying');
  assert.equal(varying.uniformity.divergent(varying.context.kernel.loops[0]!.id), true);
});

test('a break under a varying condition, and one in a branch under a varying condition', () => {
  assert.equal(infer(rounds('%r9', 'setp.eq.s32 %p2, %r1, %r0; @%p2 bra X;')).stored, 'varying');
  const nested = 'setp.ne.s32 %p2, %r1, %r0; @%p2 bra N; setp.eq.s32 %p3, %r9, 7; @%p3 bra X; N:';
  assert.equal(infer(rounds('%r9', nested)).stored, 'varying');
});

test('a varying branch that only delays the exit', () => {
  // Each thread exits by a uniform condition, but in a different iteration: the others iterate without reaching it.
  const body = `mov.u32 %r2, 0; L: setp.gt.s32 %p1, %r0, %r2; @%p1 bra C; mov.u32 %r1, %r2; setp.ne.s32 %p2, %r9, 0;
    @%p2 bra X; add.s32 %r1, %r2, 1; setp.ne.s32 %p4, %r8, 0; @%p4 bra X; C: add.s32 %r2, %r2, 1; bra L; X:`;
  const { context, uniformity, stored: value } = infer(body);
  assert.equal(uniformity.divergent(context.kernel.loops[0]!.id), true);
  assert.equal(value, 'varying');
});

test('a branch that is proved to be uniform is treated as uniform', () => {
  const body = `mov.u32 %r1, 1; shr.u32 %r2, %r0, 6; setp.eq.s32 %p1, %r2, 0; @%p1 bra X; mov.u32 %r1, 2; X:`;
  assert.equal(infer(body).stored, 'varying');
  const branch = infer(body).context.kernel.blocks.find(({ successors }) => successors.length > 1)!;
  assert.equal(infer(body, [branch.id]).stored, 'uniform');
});

test('the result of a barrier reduction is uniform', () => {
  assert.equal(stored('setp.lt.s32 %p1, %r0, %r9; bar.red.popc.u32 %r1, 0, %p1;'), 'uniform');
});

test('votes on what a block agrees on have its value, those of lanes do not', () => {
  const voted = (vote: string): string => stored(`${vote} selp.b32 %r1, 1, 0, %p2;`);
  const agreed = 'setp.lt.s32 %p1, %r9, 5;';
  const own = 'setp.lt.s32 %p1, %r0, 5;';
  for (const mode of ['any', 'all', 'uni']) {
    assert.equal(voted(`${agreed} vote.sync.${mode}.pred %p2, %p1, -1;`), 'uniform', mode);
    assert.equal(voted(`${own} vote.sync.${mode}.pred %p2, %p1, -1;`), 'varying', mode);
  }
  assert.equal(stored(`${agreed} vote.sync.ballot.b32 %r1, %p1, -1;`), 'varying');
  assert.equal(voted(`${load('%r2', '%d2', '%r9', 10)} setp.lt.s32 %p1, %r2, 5; vote.sync.any.pred %p2, %p1, -1;`), 'stable');
});

test('lanes of a warp agree on votes, reductions, broadcasts, and on their number of the warp', () => {
  const cases: readonly (readonly [body: string, block: readonly [number, number, number], expected: string])[] = [
    ['shr.u32 %r1, %r0, 5;', [64, 1, 1], 'uniform'],
    ['shr.u32 %r1, %r0, 4;', [64, 1, 1], 'varying'],
    ['and.b32 %r1, %r0, 96;', [128, 1, 1], 'uniform'],
    ['mov.u32 %r2, %tid.y; add.u32 %r1, %r2, 1;', [32, 4, 1], 'uniform'],
    ['mov.u32 %r2, %tid.y; add.u32 %r1, %r2, 1;', [64, 4, 1], 'uniform'],
    ['mov.u32 %r2, %tid.y; add.u32 %r1, %r2, 1;', [16, 4, 1], 'varying'],
    ['mov.u32 %r2, %tid.y; shr.u32 %r1, %r2, 1;', [16, 4, 1], 'uniform'],
    ['setp.lt.s32 %p1, %r0, 5; vote.sync.ballot.b32 %r1, %p1, -1;', [64, 1, 1], 'uniform'],
    ['setp.lt.s32 %p1, %r0, 5; vote.sync.ballot.b32 %r1, %p1, %r0;', [64, 1, 1], 'varying'],
    ['redux.sync.add.s32 %r1, %r0, -1;', [64, 1, 1], 'uniform'],
    ['match.any.sync.b32 %r1, %r0, -1;', [64, 1, 1], 'varying'],
    ['activemask.b32 %r1;', [64, 1, 1], 'varying'],
    ['shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;', [40, 1, 1], 'uniform'],
    ['shfl.sync.idx.b32 %r1, %r0, 9, 31, -1;', [64, 1, 1], 'uniform'],
    ['shfl.sync.idx.b32 %r1, %r0, 9, 31, -1;', [40, 1, 1], 'varying'],
    ['shfl.sync.idx.b32 %r1, %r0, %r0, 31, -1;', [64, 1, 1], 'varying'],
    // Of each segment of 16 lanes, or of some lanes.
    ['shfl.sync.idx.b32 %r1, %r0, 0, 4127, -1;', [64, 1, 1], 'varying'],
    ['shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;', [64, 1, 1], 'varying'],
    ['shfl.sync.up.b32 %r1, %r0, 0, 0, -1;', [64, 1, 1], 'varying'],
  ];
  for (const [body, block, expected] of cases) {
    const context = contextOf(`${body} ${store('%d2', '%r0', '%r1', 60)}`, { block });
    const lanes = sharedByLanes(context.symbolic, context.dimensions, false);
    assert.equal(storedIn(context, lanes), expected, `${body} ${block.join()}`);
    const exited = sharedByLanes(context.symbolic, context.dimensions, true);
    if (body.startsWith('shfl')) assert.equal(storedIn(context, exited), 'varying', body);
  }
});
