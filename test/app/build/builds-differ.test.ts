import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildsDiffer, differsAt } from '../../../src/app/build/builds-differ.ts';
import { copyGroup } from '../../../src/isa/copy.ts';
import type { Effect } from '../../../src/isa/model/operation.ts';
import { kernelOf as textKernel } from '../../check/kernel-text.ts';
import { kernelOf } from '../../ir/form/kernel-fixture.ts';

const barrier: Effect = { kind: 'barrier', form: 'sync', aligned: true };
const store = (space: 'global' | 'shared' | 'local' = 'shared'): Effect =>
  ({ kind: 'store', space, bytes: 4, lanes: 1, semantics: 'weak', scope: 'cta' }) as const;
const atomic = {
  kind: 'atomic',
  space: 'global',
  operation: 'add',
  type: 'u32',
  bytes: 4,
  lanes: 1,
  semantics: 'relaxed',
  scope: 'gpu',
  returns: true,
} as const;
const at = (effect: Effect, line: number) => ({ effect, location: { file: 'a.cu', line } });

test('builds agree if the same lines have the same effects, regardless of the number of effects', () => {
  const verification = kernelOf({ effects: [at(barrier, 3), at(store(), 4)] });
  const production = kernelOf({ effects: [at(barrier, 3), at(store(), 4), at(store(), 4), at(barrier, 3)] });
  assert.equal(buildsDiffer(verification, production), undefined);
});

test('an effect that only the production build has is reported as unchecked', () => {
  const verification = kernelOf({ effects: [at(store(), 4)] });
  const with_ = (effect: Effect, line = 9) => buildsDiffer(verification, kernelOf({ effects: [at(store(), 4), at(effect, line)] }));
  assert.match(with_(barrier) ?? '', /barrier at a\.cu:9/);
  assert.match(with_(store()) ?? '', /store at a\.cu:9/);
  assert.match(with_(atomic) ?? '', /atomic at a\.cu:9/);
  assert.equal(with_(store('local')), undefined, 'a spill is a store that no other thread sees');
});

test('a barrier that the production build lacks counts, a dead store does not', () => {
  const verification = kernelOf({ effects: [at(barrier, 3), at(store(), 4)] });
  assert.match(buildsDiffer(verification, kernelOf({ effects: [at(store(), 4)] })) ?? '', /lacks the barrier at a\.cu:3/);
  assert.equal(buildsDiffer(verification, kernelOf({ effects: [at(barrier, 3)] })), undefined);
});

test('a store without a line matches only another store without a line', () => {
  const bare = kernelOf({ effects: [{ effect: store() }] });
  assert.match(buildsDiffer(kernelOf(), bare) ?? '', /a store without a source line/);
  assert.equal(buildsDiffer(bare, bare), undefined);
});

test('a missing or unsupported production build differs, with its reason', () => {
  assert.match(buildsDiffer(kernelOf(), undefined) ?? '', /lacks this kernel/);
  const opaque = kernelOf({ unsupported: [{ reason: 'setmaxnreg', ptxLine: 7 }] });
  assert.match(buildsDiffer(kernelOf(), opaque) ?? '', /setmaxnreg/);
});

test('a grid barrier that the production build expands is the one of its line', () => {
  const inHeader = (effect: Effect, line: number) => {
    const file = 'usr/local/cuda/include/cooperative_groups/details/sync.h';
    return { effect, location: { file, line: 70, inlinedAt: { file: 'a.cu', line } } };
  };
  const verification = kernelOf({ effects: [at({ kind: 'grid-barrier' }, 6)] });
  const taken = (line: number) => kernelOf({ effects: [inHeader(barrier, line), inHeader(atomic, line)] });
  assert.equal(buildsDiffer(verification, taken(6)), undefined);
  assert.match(buildsDiffer(verification, taken(8)) ?? '', /a\.cu:8/);
});

test('a barrier that no launch reaches is dead code, and one that some launch reaches is not', () => {
  const production = textKernel('');
  const lacks = (body: string): string | undefined => buildsDiffer(textKernel(body), production);
  const halving = (start: string): string => `${start} L: setp.le.u32 %p1, %r1, 32; @%p1 bra X; bar.sync 0; shr.u32 %r1, %r1, 1; bra L; X:`;
  assert.equal(lacks(halving('mov.u32 %r1, 16;')), undefined);
  assert.match(lacks(halving('mov.u32 %r1, 64;')) ?? '', /lacks the barrier/);
  assert.match(lacks(halving('shr.u32 %r1, %r5, 1;')) ?? '', /lacks the barrier/, 'blocks of 128 threads reach it');
  assert.match(lacks(halving('mov.u32 %r1, %r9;')) ?? '', /lacks the barrier/);
  // Dead only in the first iteration.
  const later = (step: number): string =>
    `mov.u32 %r1, 0; L: setp.eq.u32 %p1, %r1, 0; @%p1 bra N; bar.sync 0; N: add.u32 %r1, %r1, ${step};
    setp.lt.u32 %p2, %r1, 4; @%p2 bra L;`;
  assert.match(lacks(later(1)) ?? '', /lacks the barrier/);
  assert.equal(lacks(later(4)), undefined);
});

test('stores of only the production build race with nothing if the launch has a single thread', () => {
  const kernel = kernelOf({ effects: [at(store('global'), 4)] });
  const copy = { kind: 'copy', to: 'shared', from: 'global', bytes: 4, completion: copyGroup } as const;
  const opaque = { kind: 'opaque', reason: 'a call' } as unknown as Effect;
  const told = (other: Effect, block: readonly number[] | null, grid: readonly number[] | null): boolean => {
    const produced = kernelOf({ effects: [at(store('global'), 4), at(other, 9)] });
    return differsAt({ block, grid } as never, { kernel, produced, differ: 'they differ' } as never) !== undefined;
  };
  const one = [1, 1, 1];
  assert.equal(told(store('global'), one, one), false);
  assert.equal(told(atomic, one, one), false);
  for (const [block, grid] of [
    [[2, 1, 1], one],
    [one, [1, 2, 1]],
    [null, one],
    [one, null],
  ] as const)
    assert.equal(told(store('global'), block, grid), true);
  assert.equal(told(copy, one, one), true);
  assert.equal(told(opaque, one, one), true);
});

test('a load before the wait for the kernels before, if only the production build has it there', () => {
  const load = 'ld.global.nc.u32 %r20, [%d1];';
  const after = textKernel(`griddepcontrol.wait; ${load} st.global.u32 [%d2], %r20;`);
  const before = textKernel(`${load} griddepcontrol.wait; st.global.u32 [%d2], %r20;`);
  assert.equal(
    buildsDiffer(after, before),
    'only the production build has an access before cudaGridDependencySynchronize() without a source line',
  );
  assert.equal(buildsDiffer(after, after), undefined);
  assert.equal(buildsDiffer(before, before), undefined, 'the proof assumes that the kernel before has ended');
  assert.equal(buildsDiffer(textKernel(`${load} st.global.u32 [%d2], %r20;`), before), undefined);
  const alone = { block: [1, 1, 1], grid: [1, 1, 1] } as unknown as Parameters<typeof differsAt>[0];
  const compared = { differ: buildsDiffer(after, before), kernel: after, produced: before } as Parameters<typeof differsAt>[1];
  assert.notEqual(differsAt(alone, compared), undefined, 'threads of another kernel run at the same time');
});
