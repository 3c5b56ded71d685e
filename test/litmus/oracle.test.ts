/**
 * The oracle compared with publications on the PTX memory model: the litmus tests of the PTX ISA (section 8), and those
 * of "A Formal Analysis of the NVIDIA PTX Memory Consistency Model" (ASPLOS 2019).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideProgram } from './oracle.ts';
import type { FenceOrder, LitmusProgram, LoadOrder, Scope, StoreOrder } from './program.ts';
import { atomic, fence, load, phasesOf, type Placement, programOf, store, until, when, x, y, z } from './statements.ts';

/** Whether reads may find these values, in the order of threads and their reads. */
function allows(program: LitmusProgram, ...values: readonly number[]): boolean {
  return [...decideProgram(program, 'all').outcomes].some((outcome) => outcome.replaceAll(/\S+=/g, '') === values.join(' '));
}

function isRacy(program: LitmusProgram): boolean {
  return decideProgram(program).races.size > 0;
}

interface Handover {
  readonly release?: StoreOrder;
  readonly acquire?: LoadOrder;
  readonly scope?: Scope;
  readonly releaseFence?: FenceOrder;
  readonly acquireFence?: FenceOrder;
  readonly isConditional?: boolean;
}

/** Message passing: x is written, then the flag y; the other thread reads the flag, then x. */
function messagePassing(placement: Placement, handover: Handover = {}): LitmusProgram {
  const { release = 'relaxed', acquire = 'relaxed', scope = 'gpu', releaseFence, acquireFence, isConditional } = handover;
  return programOf(
    placement,
    [store(x), ...(releaseFence ? [fence(releaseFence, scope)] : []), store(y, 1, release, scope)],
    [load(y, acquire, scope, isConditional ? when() : undefined), ...(acquireFence ? [fence(acquireFence, scope)] : []), load(x)],
  );
}

test('a message arrives only if it is released and acquired', () => {
  assert.ok(!allows(messagePassing('grid', { release: 'release', acquire: 'acquire' }), 1, 0));
  assert.ok(!allows(messagePassing('grid', { releaseFence: 'acq_rel', acquireFence: 'acq_rel' }), 1, 0));
  assert.ok(!allows(messagePassing('grid', { releaseFence: 'release', acquireFence: 'acquire' }), 1, 0));
  assert.ok(!allows(messagePassing('grid', { releaseFence: 'sc', acquire: 'acquire' }), 1, 0));
  for (const handover of [
    {},
    { release: 'release' },
    { acquire: 'acquire' },
    { releaseFence: 'acquire', acquireFence: 'acquire' },
    { releaseFence: 'release', acquireFence: 'release' },
    { release: 'weak', acquire: 'acquire', releaseFence: 'acq_rel' },
    { release: 'release', acquire: 'weak', acquireFence: 'acq_rel' },
  ] as const) {
    assert.ok(allows(messagePassing('grid', handover), 1, 0), JSON.stringify(handover));
  }
});

test('message passing needs scopes that include the other thread', () => {
  const handover = (scope: Scope): Handover => ({ release: 'release', acquire: 'acquire', scope });
  const reached: readonly (readonly [Placement, Scope, boolean])[] = [
    ['warp', 'cta', true],
    ['block', 'cta', true],
    ['cluster', 'cta', false],
    ['cluster', 'cluster', true],
    ['grid', 'cluster', false],
    ['grid', 'gpu', true],
    ['grid', 'sys', true],
  ];
  for (const [placement, scope, isReached] of reached) {
    assert.equal(allows(messagePassing(placement, handover(scope)), 1, 0), !isReached, `${placement} ${scope}`);
    const conditional = messagePassing(placement, { ...handover(scope), isConditional: true });
    assert.equal(isRacy(conditional), !isReached, `${placement} ${scope}`);
  }
});

test('message passing without a test of the flag is a data race', () => {
  assert.ok(isRacy(messagePassing('grid', { release: 'release', acquire: 'acquire' })));
  assert.ok(!isRacy(messagePassing('grid', { release: 'release', acquire: 'acquire', isConditional: true })));
  const waiting = programOf('grid', [store(x), store(y, 1, 'release')], [load(y, 'acquire', 'gpu', until()), load(x)]);
  assert.ok(!isRacy(waiting));
  assert.ok(isRacy(messagePassing('grid', { release: 'release', acquire: 'relaxed', isConditional: true })));
  assert.ok(isRacy(messagePassing('grid', { release: 'relaxed', acquire: 'acquire', isConditional: true })));
});

test('store buffering is forbidden only by fence.sc', () => {
  const buffering = (order: FenceOrder, scope: Scope = 'gpu', placement: Placement = 'grid'): LitmusProgram =>
    programOf(
      placement,
      [store(x, 1, 'relaxed'), fence(order, scope), load(y, 'relaxed')],
      [store(y, 1, 'relaxed'), fence(order, scope), load(x, 'relaxed')],
    );
  assert.ok(!allows(buffering('sc'), 0, 0));
  assert.ok(allows(buffering('sc'), 1, 0));
  assert.ok(allows(buffering('acq_rel'), 0, 0));
  assert.ok(allows(buffering('sc', 'cta'), 0, 0));
  assert.ok(!allows(buffering('sc', 'cta', 'block'), 0, 0));
});

test('load buffering is forbidden by release and acquire, and if values would be out of thin air', () => {
  const buffering = (acquire: LoadOrder, release: StoreOrder, isConditional: boolean): LitmusProgram => {
    const decides = isConditional ? when() : undefined;
    return programOf(
      'grid',
      [load(x, acquire, 'gpu', decides), store(y, 1, release)],
      [load(y, acquire, 'gpu', decides), store(x, 1, release)],
    );
  };
  assert.ok(allows(buffering('relaxed', 'relaxed', false), 1, 1));
  assert.ok(allows(buffering('weak', 'weak', false), 1, 1));
  assert.ok(!allows(buffering('acquire', 'release', false), 1, 1));
  assert.ok(!allows(buffering('relaxed', 'relaxed', true), 1, 1));
});

test('independent reads of independent writes agree on an order only with fence.sc', () => {
  const reads = (order: FenceOrder | null, load1: LoadOrder): LitmusProgram => {
    const between = order ? [fence(order)] : [];
    return programOf(
      'grid',
      [store(x, 1, 'relaxed')],
      [store(y, 1, 'relaxed')],
      [load(x, load1), ...between, load(y, load1)],
      [load(y, load1), ...between, load(x, load1)],
    );
  };
  assert.ok(allows(reads(null, 'acquire'), 1, 0, 1, 0));
  assert.ok(allows(reads('acq_rel', 'relaxed'), 1, 0, 1, 0));
  assert.ok(!allows(reads('sc', 'relaxed'), 1, 0, 1, 0));
});

test('causality is transitive through a thread that acquires and then releases', () => {
  const chain = (order: 'strong' | 'relaxed', second: Scope = 'gpu'): LitmusProgram => {
    const [acquire, release] = order === 'strong' ? (['acquire', 'release'] as const) : (['relaxed', 'relaxed'] as const);
    return programOf(
      'grid',
      [store(x), store(y, 1, release)],
      [load(y, acquire), store(z, 1, release, second)],
      [load(z, acquire, second), load(x)],
    );
  };
  assert.ok(!allows(chain('strong'), 1, 1, 0));
  assert.ok(allows(chain('strong', 'cta'), 1, 1, 0));
  assert.ok(allows(chain('relaxed'), 1, 1, 0));
  // Write to read causality: that the middle thread has read x counts.
  const seen = (release: StoreOrder): LitmusProgram =>
    programOf('grid', [store(x, 1, 'relaxed')], [load(x, 'relaxed'), store(y, 1, release)], [load(y, 'acquire'), load(x, 'relaxed')]);
  assert.ok(!allows(seen('release'), 1, 1, 0));
  assert.ok(allows(seen('relaxed'), 1, 1, 0));
});

test('atomics continue a release sequence, stores by other threads end it', () => {
  const through = (middle: 'atomic' | 'store'): LitmusProgram =>
    programOf(
      'grid',
      [store(x), store(y, 1, 'release')],
      [middle === 'atomic' ? atomic(y) : store(y, 2, 'relaxed')],
      [load(y, 'acquire', 'gpu', when(2)), load(x)],
    );
  assert.ok(!isRacy(through('atomic')));
  assert.ok(isRacy(through('store')));
  // A strong write after a release of the same location belongs to its pattern (PTX ISA 8.8).
  const again = programOf(
    'grid',
    [store(x), store(y, 1, 'release'), store(y, 2, 'relaxed')],
    [load(y, 'acquire', 'gpu', when(2)), load(x)],
  );
  assert.ok(!isRacy(again));
});

test('morally strong accesses to one location are sequentially consistent', () => {
  const readsTwice = (order: LoadOrder, scope: Scope): LitmusProgram =>
    programOf('grid', [store(x, 1, order === 'weak' ? 'weak' : 'relaxed', scope)], [load(x, order, scope), load(x, order, scope)]);
  assert.ok(!allows(readsTwice('relaxed', 'gpu'), 1, 0));
  assert.ok(allows(readsTwice('weak', 'gpu'), 1, 0));
  assert.ok(allows(readsTwice('relaxed', 'cta'), 1, 0));
  const own = programOf('grid', [store(x, 1), load(x)], [store(z)]);
  assert.ok(!allows(own, 0));
  assert.ok(allows(own, 1));
  const future = programOf('grid', [load(x), store(x, 1)], [store(z)]);
  assert.ok(!allows(future, 1));
});

test('atomics are atomic within their scope', () => {
  const both = (one: Scope, other: Scope): LitmusProgram =>
    programOf('grid', [atomic(x, 'add', 'relaxed', one)], [atomic(x, 'add', 'relaxed', other)]);
  assert.ok(!allows(both('sys', 'sys'), 0, 0));
  assert.ok(!isRacy(both('sys', 'gpu')));
  assert.ok(allows(both('cta', 'gpu'), 0, 0));
  assert.ok(isRacy(both('cta', 'gpu')));
});

test('two threads write two locations in both orders, unless fence.sc is between the writes', () => {
  const writes = (order: FenceOrder | null): LitmusProgram => {
    const between = order ? [fence(order)] : [];
    return programOf(
      'grid',
      [store(x, 1, 'relaxed'), ...between, store(y, 2, 'relaxed'), load(y, 'relaxed')],
      [store(y, 1, 'relaxed'), ...between, store(x, 2, 'relaxed'), load(x, 'relaxed')],
    );
  };
  assert.ok(allows(writes('acq_rel'), 1, 1));
  assert.ok(!allows(writes('sc'), 1, 1));
});

test('barriers order the participating threads', () => {
  const across = (placement: Placement, kind: 'block' | 'warp'): boolean =>
    isRacy(phasesOf(placement, [kind], [[store(x)], []], [[], [load(x)]]));
  assert.ok(!across('warp', 'block'));
  assert.ok(!across('block', 'block'));
  assert.ok(across('grid', 'block'));
  assert.ok(!across('warp', 'warp'));
  assert.ok(across('block', 'warp'));
  // A thread that waits in vain blocks the other threads of its block at the barrier.
  const stuck = phasesOf('block', ['block'], [[load(z, 'relaxed', 'gpu', until())], [store(x)]], [[], [store(x, 2)]]);
  assert.ok(!isRacy(stuck));
});

test('a lock ensures mutual exclusion if it is released and acquired', () => {
  const section = (acquire: 'acquire' | 'relaxed', release: StoreOrder, value: number) => [
    atomic(y, 'cas', acquire, 'gpu', { test: until(0) }),
    store(x, value),
    store(y, 0, release),
  ];
  const locked = (acquire: 'acquire' | 'relaxed', release: StoreOrder): LitmusProgram =>
    programOf('grid', section(acquire, release, 1), section(acquire, release, 2));
  assert.ok(!isRacy(locked('acquire', 'release')));
  assert.ok(isRacy(locked('relaxed', 'release')));
  assert.ok(isRacy(locked('acquire', 'relaxed')));
});

test('a race is found that only executions without an equivalent interleaving have', () => {
  const buffered = programOf(
    'grid',
    [store(x, 1, 'relaxed'), load(y, 'relaxed', 'gpu', when(0)), store(z, 1)],
    [store(y, 1, 'relaxed'), load(x, 'relaxed', 'gpu', when(0)), store(z, 2)],
  );
  assert.deepEqual([...decideProgram(buffered).races], ['0:0.2 1:0.2']);
  const fenced = programOf(
    'grid',
    [store(x, 1, 'relaxed'), fence('sc'), load(y, 'relaxed', 'gpu', when(0)), store(z, 1)],
    [store(y, 1, 'relaxed'), fence('sc'), load(x, 'relaxed', 'gpu', when(0)), store(z, 2)],
  );
  assert.ok(!isRacy(fenced));
});

test('volatile accesses are distinguished: strong in PTX, and a race in C++', () => {
  const flag = programOf('grid', [store(y, 1, 'volatile')], [load(y, 'volatile')]);
  assert.deepEqual([...decideProgram(flag).races], []);
  assert.deepEqual([...decideProgram(flag).volatileRaces], ['0:0.0 1:0.0']);
  const fenced = programOf('grid', [store(x), fence(), store(y, 1, 'volatile')], [load(y, 'volatile', 'gpu', when()), fence(), load(x)]);
  assert.deepEqual([...decideProgram(fenced).races], []);
});
