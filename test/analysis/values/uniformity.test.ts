import type { KernelContext } from '../../../src/check/context/facts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlDependence } from '../../../src/analysis/values/control-dependence.ts';
import { type UniformityResult, inferUniformity } from '../../../src/analysis/values/uniformity.ts';
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
  const stores = kernel.blocks.flatMap(({ instructions }) => instructions.filter(({ operation }) => operation.effect.kind === 'store'));
  const value = stores[stores.length - 1]!.arguments[1]!;
  const stored = value.kind === 'value' ? uniformity.value(value.id) : value.kind;
  return { context, uniformity, stored };
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
