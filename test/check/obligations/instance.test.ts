/** Which atoms two threads share, by scope and by the iterations of the loops around them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlDependence } from '../../../src/analysis/values/control-dependence.ts';
import type { IterationRelation } from '../../../src/analysis/values/iteration-relation.ts';
import { inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import { Instances, isOfOneThread, type PairScope } from '../../../src/check/obligations/instance.ts';
import type { BlockId } from '../../../src/ir/form/kernel.ts';
import type { Term } from '../../../src/term/term.ts';
import { contextOf } from '../kernel-text.ts';

/** The atoms of the offsets of all stores of a body, by kind, with the names of a block or grid. */
function atomsOf(body: string, scope: PairScope): { readonly instances: Instances; readonly atoms: ReadonlyMap<string, Term> } {
  const { symbolic, kernel, loaded, accesses } = contextOf(body, { block: null, grid: null });
  const uniformity = inferUniformity(kernel, controlDependence(kernel), loaded, new Set());
  const atoms = new Map<string, Term>();
  for (const { operation, targets } of accesses)
    if (operation === 'write')
      for (const { offset } of targets)
        for (const leaf of offset.leaves) {
          const { atom } = leaf;
          atoms.set(atom!.kind === 'iteration' ? `iteration ${atom.loop}` : atom!.kind, leaf);
        }
  return { instances: new Instances(symbolic, uniformity, scope), atoms };
}

/** The kinds of atoms with one name in both threads. */
function sharedKinds(body: string, scope: PairScope, rounds: readonly IterationRelation[]): string[] {
  const { instances, atoms } = atomsOf(body, scope);
  return [...atoms]
    .filter(([, leaf]) => {
      const [one, other] = ([1, 2] as const).map((side) => instances.of(leaf, { side, rounds }));
      assert.equal(one!.shared, one!.name === other!.name);
      if (one!.name !== null) assert.equal(isOfOneThread(one!.name), !one!.shared);
      return one!.shared;
    })
    .map(([kind]) => kind)
    .sort();
}

const sum = (...registers: readonly string[]): string =>
  `mov.u32 %r30, 0; ${registers.map((register) => `add.s32 %r30, %r30, ${register};`).join(' ')}
    mul.wide.s32 %d20, %r30, 4; add.s64 %d20, %d1, %d20; st.u32 [%d20], %r0;`;

test('threads of a block share the block, of a grid only sizes and parameters', () => {
  const body = `mov.u32 %r3, %nctaid.x; ld.u32 %r4, [%d2]; ${sum('%r0', '%r6', '%r5', '%r3', '%r9', '%r4')}`;
  assert.deepEqual([...atomsOf(body, 'block').atoms.keys()].sort(), ['block', 'block-size', 'grid-size', 'havoc', 'parameter', 'thread']);
  assert.deepEqual(sharedKinds(body, 'block', []), ['block', 'block-size', 'grid-size', 'havoc', 'parameter']);
  assert.deepEqual(sharedKinds(body, 'grid', []), ['block-size', 'grid-size', 'parameter']);
  const own = `mul.wide.u32 %d10, %r0, 4; add.s64 %d10, %d2, %d10; ld.u32 %r4, [%d10]; ${sum('%r4')}`;
  assert.deepEqual(sharedKinds(own, 'block', []), []);
});

/** Two loops, one inside the other, up to n and up to m, or up to the thread. */
function nested(outer: string, inner: string, body: string): string {
  return `mov.u32 %r20, 0;\nOUTER: mov.u32 %r21, 0;\nINNER: ${body}
    add.s32 %r21, %r21, 1; setp.lt.s32 %p1, %r21, ${inner}; @%p1 bra INNER;
    add.s32 %r20, %r20, 1; setp.lt.s32 %p2, %r20, ${outer}; @%p2 bra OUTER;`;
}

test('threads share an iteration if they are in one execution of its loop and of the loops around', () => {
  const uniform = nested('%r9', '%r8', sum('%r20', '%r21'));
  const { atoms } = atomsOf(uniform, 'block');
  const loopOf = (leaf: Term): number => (leaf.atom?.kind === 'iteration' ? leaf.atom.loop : -1);
  const loops = [...atoms.values()].map(loopOf).sort((a, b) => a - b);
  assert.deepEqual(loops, [0, 1]);
  const { kernel } = contextOf(uniform);
  const [outer, inner] = kernel.loops[0]!.parent === null ? [0, 1] : [1, 0];
  const shared = (body: string, of: IterationRelation, within: IterationRelation, scope: PairScope = 'block'): string => {
    const rounds: IterationRelation[] = [];
    [rounds[outer], rounds[inner]] = [of, within];
    return sharedKinds(body, scope, rounds)
      .map((kind) => (kind === `iteration ${outer}` ? 'outer' : 'inner'))
      .sort()
      .reverse()
      .join();
  };
  for (const relation of ['same', 'next', 'same-2', 'first', 'first+1', 'left', 'before'] as const) {
    assert.equal(shared(uniform, relation, 'same'), 'outer,inner', relation);
    assert.equal(shared(uniform, relation, 'free'), 'outer', relation);
  }
  assert.equal(shared(uniform, 'free', 'same'), '');
  assert.equal(shared(uniform, 'free', 'first'), 'inner', 'a constant');
  // Threads leave a loop after different numbers of iterations if its limit is their index.
  const varying = nested('%r9', '%r0', sum('%r20', '%r21'));
  assert.equal(shared(varying, 'same', 'same'), 'outer,inner');
  assert.equal(shared(varying, 'same', 'left'), 'outer');
  assert.equal(shared(varying, 'same', 'before'), 'outer');
  const outside = nested('%r0', '%r8', sum('%r20', '%r21'));
  assert.equal(shared(outside, 'same', 'same'), 'outer,inner');
  assert.equal(shared(outside, 'left', 'same'), '');
});

test('iterations relative to one point differ by constants', () => {
  const { instances, atoms } = atomsOf(nested('%r9', '%r8', sum('%r20')), 'block');
  const [leaf] = atoms.values();
  const at = (relation: IterationRelation): readonly [string | null, bigint] => {
    const { name, offset } = instances.of(leaf!, { side: 1, rounds: [relation, relation] });
    return [name, offset];
  };
  const [name] = at('same');
  assert.deepEqual(at('next'), [name, 1n]);
  assert.deepEqual(at('same+3'), [name, 3n]);
  assert.deepEqual(at('same-2'), [name, -2n]);
  assert.deepEqual(at('first'), [null, 0n]);
  assert.deepEqual(at('first+2'), [null, 2n]);
  assert.equal(new Set(['same', 'free', 'left', 'before'].map((relation) => at(relation as IterationRelation)[0])).size, 4);
  assert.deepEqual(at('before-1'), [at('before')[0], -1n]);
});

test('a value loaded in an iteration is one of all threads that share this iteration', () => {
  const uniform = nested('%r9', '%r8', `mul.wide.u32 %d10, %r21, 4; add.s64 %d10, %d2, %d10; ld.u32 %r4, [%d10]; ${sum('%r4')}`);
  const shared = (relation: IterationRelation, scope: PairScope = 'block'): boolean =>
    sharedKinds(uniform, scope, [relation, relation]).includes('havoc');
  assert.deepEqual(
    [shared('same'), shared('first'), shared('before'), shared('free'), shared('same', 'grid')],
    [true, true, true, false, false],
  );
});

test('keys of terms are equal if all atoms are, with their offsets', () => {
  const { instances, atoms } = atomsOf(nested('%r9', '%r8', sum('%r20', '%r0')), 'block');
  const [iteration, thread] = [[...atoms.values()].find(({ atom }) => atom!.kind === 'iteration')!, atoms.get('thread')!];
  const key = (term: Term, side: 1 | 2, relation: IterationRelation): string => instances.key(term, { side, rounds: [relation, relation] });
  assert.equal(key(iteration, 1, 'same'), key(iteration, 2, 'same'));
  assert.notEqual(key(iteration, 1, 'same'), key(iteration, 2, 'next'));
  assert.notEqual(key(iteration, 1, 'same'), key(iteration, 1, 'free'));
  assert.notEqual(key(thread, 1, 'same'), key(thread, 2, 'same'));
  const reading = (side: 1 | 2, relation: IterationRelation) => ({ side, rounds: [relation, relation] });
  assert.ok(instances.isShared(iteration, reading(1, 'same'), reading(2, 'same')));
  assert.ok(!instances.isShared(thread, reading(1, 'same'), reading(2, 'same')));
  assert.ok(!instances.isShared(iteration, reading(1, 'same'), reading(2, 'next')));
});

test('two basic blocks are one execution of a thread in the same iterations of the same loop', () => {
  const { instances } = atomsOf(nested('%r9', '%r8', sum('%r20')), 'block');
  const { kernel } = instances;
  const inside = kernel.blocks.map(({ id }) => id).filter((id) => (kernel.loopOf[id] ?? null) !== null);
  const outside = kernel.blocks.map(({ id }) => id).filter((id) => (kernel.loopOf[id] ?? null) === null);
  const reading = (side: 1 | 2, relation: IterationRelation) => ({ side, rounds: [relation, relation] });
  const isOne = (a: BlockId, b: BlockId, one = reading(1, 'same'), other = reading(1, 'same')): boolean =>
    instances.isOneExecution([a, one], [b, other]);
  assert.ok(isOne(inside[0]!, inside[0]!));
  assert.ok(!isOne(inside[0]!, outside[0]!));
  assert.ok(!isOne(inside[0]!, inside[0]!, reading(1, 'same'), reading(2, 'same')));
  assert.ok(!isOne(inside[0]!, inside[0]!, reading(1, 'same'), reading(1, 'next')));
  // Outside of all loops the iterations do not count.
  assert.ok(isOne(outside[0]!, outside[0]!, reading(1, 'same'), reading(1, 'next')));
});
