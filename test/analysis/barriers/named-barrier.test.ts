/** Barriers of part of a block (PTX ISA 9.7.13.1): which are understood, who waits, and what they order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ThreadGroup } from '../../../src/analysis/barriers/named-barrier.ts';
import type { Access } from '../../../src/analysis/values/access.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import { contextOf, type CheckOptions } from '../../check/kernel-text.ts';

const options: CheckOptions = { block: [128, 1, 1] };

type Handed = readonly [ThreadGroup, Access];

/** The stores `[%d1+NAME]` of a body, and its named barriers. */
function barriersOf(body: string, more: CheckOptions = options) {
  const { accesses, named, kernel } = contextOf(body, more);
  /** Sizes of the groups of threads, with the number of barriers at which each waits. */
  const groups = named.groups.map(({ members, meets }) => {
    const [x, y] = more.block as readonly [number, number, number];
    const own = Array.from({ length: x * y * more.block![2] }, (_, i) => [i % x, Math.floor(i / x) % y, Math.floor(i / (x * y))]).filter(
      (index) => evaluateTerm(members, ({ atom }) => (atom?.kind === 'thread' ? BigInt(index[atom.axis]!) : undefined), new Map()) === 1n,
    );
    return `${own.length} threads from ${own[0]!.join(' ')}: ${meets.size}`;
  });
  const access = (name: number) => accesses.find(({ instruction }) => instruction.offset === BigInt(name))!;
  const barrier = kernel.blocks
    .flatMap(({ instructions }) => instructions)
    .filter(({ operation: { effect } }) => effect.kind === 'barrier');
  /** Whether the barriers order the store `earlier` of a group before the store `later` of another, as `GROUP:NAME`. */
  const isOrdered = (earlier: string, later: string, start: number | null = null): boolean => {
    const [before, after] = [earlier, later].map((one) => {
      const [group, name] = one.split(':').map(Number) as [number, number];
      return [named.groups[group]!, access(name)] as const;
    }) as [Handed, Handed];
    return named.handsOver(start === null ? null : barrier[start]!, before, after);
  };
  return { problem: named.problem, groups: groups.sort(), isOrdered };
}

const st = (name: number): string => `st.u32 [%d1+${name}], %r0;`;
/** Threads below `limit` execute `first`, the others `second`. */
const split = (limit: number, first: string, second = '', label = 'A'): string =>
  `setp.lt.u32 %p1, %r0, ${limit}; @!%p1 bra ${label}; ${first} bra ${label}J; ${label}: ${second} ${label}J:`;

test('threads that wait at one point, in whole warps of the number that the barrier counts', () => {
  const cases: [string, string | null, string[]][] = [
    [`${st(0)} bar.sync 0; ${st(4)}`, null, []],
    [split(64, 'bar.sync 1, 64;'), null, ['64 threads from 0 0 0: 1', '64 threads from 64 0 0: 0']],
    [split(32, 'bar.sync 1, 32;'), null, ['32 threads from 0 0 0: 1', '96 threads from 32 0 0: 0']],
    [split(64, 'bar.sync 1, 64; bar.sync 1, 64;'), null, ['64 threads from 0 0 0: 2', '64 threads from 64 0 0: 0']],
    [split(64, 'bar.sync 1, 64;', 'bar.sync 2, 64;'), null, ['64 threads from 0 0 0: 1', '64 threads from 64 0 0: 1']],
    ['bar.sync 1;', null, ['128 threads from 0 0 0: 1']],
    ['bar.sync 1, 128;', null, ['128 threads from 0 0 0: 1']],
    // Parts of warps, other counts, other conditions.
    [split(16, 'bar.sync 1, 16;'), 'cannot show', []],
    [split(48, 'bar.sync 1, 48;'), 'cannot show', []],
    [split(64, 'bar.sync 1, 32;'), 'cannot show', []],
    [split(64, 'bar.sync 1, 96;'), 'cannot show', []],
    [split(64, 'bar.sync 1;'), 'cannot show', []],
    ['setp.lt.u32 %p1, %r0, %r9; @!%p1 bra A; bar.sync 1, 64; A:', 'cannot show', []],
    ['setp.lt.u32 %p1, %r9, 3; @!%p1 bra A; bar.sync 1, 128; A:', null, ['128 threads from 0 0 0: 1']],
    // Every other thread: 64 of them, in no whole warp.
    ['and.b32 %r20, %r0, 1; setp.eq.u32 %p1, %r20, 0; @!%p1 bra A; bar.sync 1, 64; A:', 'cannot show', []],
    // Every other warp.
    [
      'shr.u32 %r20, %r0, 5; and.b32 %r20, %r20, 1; setp.eq.u32 %p1, %r20, 0; @!%p1 bra A; bar.sync 1, 64; A:',
      null,
      ['64 threads from 0 0 0: 1', '64 threads from 32 0 0: 0'],
    ],
    // Operands.
    [split(64, 'bar.sync %r9, 64;'), 'which named barrier', []],
    [split(64, 'bar.sync 1, %r9;'), 'which named barrier', []],
    [split(64, 'bar.red.popc.u32 %r20, 1, 64, %p1;'), 'count or vote', []],
    [split(64, 'bar.sync 0, 64;'), 'barrier 0', []],
    // A loop with an equal trip count of all threads, and one whose trip count depends on the thread.
    [
      split(64, 'mov.u32 %r20, 0; L: bar.sync 1, 64; add.s32 %r20, %r20, 1; setp.lt.s32 %p2, %r20, %r9; @%p2 bra L;'),
      null,
      ['64 threads from 0 0 0: 1', '64 threads from 64 0 0: 0'],
    ],
    [split(64, 'mov.u32 %r20, 0; L: bar.sync 1, 64; add.s32 %r20, %r20, 1; setp.lt.s32 %p2, %r20, %r0; @%p2 bra L;'), 'cannot show', []],
  ];
  for (const [body, problem, groups] of cases) {
    const found = barriersOf(body);
    assert.equal(
      problem === null ? found.problem : found.problem?.includes(problem),
      problem === null ? null : true,
      `${body}: ${found.problem}`,
    );
    assert.deepEqual(found.groups, groups, body);
  }
  assert.match(barriersOf(split(64, 'bar.sync 1, 64;'), { block: null as never }).problem ?? '', /how many threads/);
});

test('threads of a block with several dimensions are counted in linear order', () => {
  const block = [32, 2, 2] as const;
  const condition = (axis: string): string =>
    `mov.u32 %r21, %tid.y; mov.u32 %r22, %tid.z; setp.eq.u32 %p1, ${axis}, 0; @!%p1 bra A; bar.sync 1, 64; A:`;
  assert.deepEqual(barriersOf(condition('%r21'), { block }).groups, ['64 threads from 0 0 0: 1', '64 threads from 0 1 0: 0']);
  assert.deepEqual(barriersOf(condition('%r22'), { block }).groups, ['64 threads from 0 0 0: 1', '64 threads from 0 0 1: 0']);
  // In blocks of 16 by 4 by 2, a warp is two rows.
  const rows = { block: [16, 4, 2] } as const;
  assert.match(barriersOf(condition('%r21'), rows).problem ?? '', /cannot show/);
  assert.deepEqual(barriersOf(condition('%r22'), rows).groups, ['64 threads from 0 0 0: 1', '64 threads from 0 0 1: 0']);
});

test('groups are at most six', () => {
  const parts = (count: number): string =>
    Array.from(
      { length: count },
      (_, i) => `setp.eq.u32 %p${i + 1}, %r20, ${i}; @!%p${i + 1} bra L${i}; bar.sync ${i + 1}, 32; L${i}:`,
    ).join(' ');
  const body = (count: number): string => `shr.u32 %r20, %r0, 5; ${parts(count)}`;
  const block = [256, 1, 1] as const;
  assert.equal(barriersOf(body(5), { block }).groups.length, 6);
  assert.match(barriersOf(body(6), { block }).problem ?? '', /too many groups/);
});

test('a barrier at which one side arrives and the other waits orders writes before it and accesses after it', () => {
  const handOver = barriersOf(split(64, `${st(0)} bar.arrive 1, 128; ${st(4)}`, `${st(8)} bar.sync 1, 128; ${st(12)}`));
  assert.equal(handOver.problem, null);
  assert.equal(handOver.groups.length, 2);
  // Group 0 arrives, group 1 waits.
  assert.ok(handOver.isOrdered('0:0', '1:12'));
  assert.ok(handOver.isOrdered('1:8', '1:12'));
  // After the arrival, before the wait, in the other direction, and in threads that do not wait.
  assert.ok(!handOver.isOrdered('0:4', '1:12'));
  assert.ok(!handOver.isOrdered('0:0', '1:8'));
  assert.ok(!handOver.isOrdered('1:8', '0:0'));
  assert.ok(!handOver.isOrdered('1:8', '0:4'));
  assert.ok(!handOver.isOrdered('0:0', '0:4'));
  const both = barriersOf(split(64, `${st(0)} bar.sync 1, 128; ${st(4)}`, `${st(8)} bar.sync 1, 128; ${st(12)}`));
  assert.ok(both.isOrdered('0:0', '1:12') && both.isOrdered('1:8', '0:4') && both.isOrdered('0:0', '0:4'));
  assert.ok(!both.isOrdered('0:4', '1:12') && !both.isOrdered('0:0', '1:8') && !both.isOrdered('1:12', '0:4'));
});

test('a barrier with two sides is passed once between barriers of the block', () => {
  const sides = (first: string, second: string): string => split(64, first, second);
  const cases: [string, string | null][] = [
    [sides('bar.arrive 1, 128;', 'bar.sync 1, 128;'), null],
    [sides('bar.arrive 1, 128;', 'bar.arrive 1, 128;'), null],
    // One side does not reach it, or reaches it on some path only, or another barrier first, or leaves.
    [sides('bar.arrive 1, 128;', ''), 'cannot show'],
    [sides('bar.arrive 1, 128;', 'setp.eq.s32 %p2, %r9, 3; @%p2 bra N; bar.sync 1, 128; N:'), 'cannot show'],
    [sides('bar.arrive 1, 128;', 'setp.eq.s32 %p2, %r9, 3; @%p2 ret; bar.sync 1, 128;'), 'cannot show'],
    [sides('bar.sync 0; bar.arrive 1, 128;', 'bar.sync 1, 128;'), 'cannot show'],
    [sides('bar.arrive 1, 128;', 'bar.arrive 1, 128; bar.sync 1, 128;'), 'cannot show'],
    [sides('bar.sync 2, 64; bar.arrive 1, 128;', 'bar.sync 1, 128;'), 'cannot show'],
    [sides('bar.arrive 1, 128; bar.sync 2, 64;', 'bar.sync 1, 128;'), null],
    [sides('bar.arrive 1, 64;', 'bar.sync 1, 128;'), 'cannot show'],
    [split(48, 'bar.arrive 1, 128;', 'bar.sync 1, 128;'), 'cannot show'],
    // An arrival on one path and a wait on another of the same side.
    [sides('setp.eq.s32 %p2, %r9, 3; @%p2 bra N; bar.arrive 1, 128; bra M; N: bar.sync 1, 128; M:', 'bar.sync 1, 128;'), 'cannot show'],
    [sides('setp.eq.s32 %p2, %r9, 3; @%p2 bra N; bar.arrive 1, 128; bra M; N: bar.arrive 1, 128; M:', 'bar.sync 1, 128;'), null],
    // In a loop with a barrier of the block, and without.
    [
      `mov.u32 %r20, 0; L: ${sides('bar.arrive 1, 128;', 'bar.sync 1, 128;')} bar.sync 0; add.s32 %r20, %r20, 1; setp.lt.s32 %p3, %r20, %r9; @%p3 bra L;`,
      null,
    ],
    [
      `mov.u32 %r20, 0; L: ${sides('bar.arrive 1, 128;', 'bar.sync 1, 128;')} add.s32 %r20, %r20, 1; setp.lt.s32 %p3, %r20, %r9; @%p3 bra L;`,
      'cannot show',
    ],
    // A loop on one side leads back to the branch before the barrier; also if its block is only the branch.
    [
      `mov.u32 %r20, 0; setp.lt.u32 %p1, %r0, 64; L: @!%p1 bra A; add.s32 %r20, %r20, 1; setp.lt.s32 %p3, %r20, %r9; @%p3 bra L; bar.arrive 1, 128; bra J; A: bar.sync 1, 128; J:`,
      'cannot show',
    ],
    [
      `mov.u32 %r20, 0; L: add.s32 %r20, %r20, 1; ${split(64, 'setp.lt.s32 %p3, %r20, %r9; @%p3 bra L; bar.arrive 1, 128;', 'bar.sync 1, 128;')}`,
      'cannot show',
    ],
  ];
  for (const [body, problem] of cases) {
    const found = barriersOf(body);
    assert.equal(
      problem === null ? found.problem : found.problem?.includes(problem),
      problem === null ? null : true,
      `${body}: ${found.problem}`,
    );
  }
});

test('accesses between a barrier of the block and a wait are not after it', () => {
  const body = `${st(0)} bar.sync 0; ${split(64, `${st(4)} bar.arrive 1, 128;`, `${st(8)} bar.sync 1, 128; ${st(12)}`)} ${st(16)}`;
  const { isOrdered } = barriersOf(body);
  // From barrier 0 of the block on, the waiting threads execute 8 before their barrier, and 12 and 16 after it.
  assert.ok(!isOrdered('0:4', '1:8', 0));
  assert.ok(isOrdered('0:4', '1:12', 0) && isOrdered('0:4', '1:16', 0));
  assert.ok(!isOrdered('0:16', '1:12', 0) && !isOrdered('1:16', '1:16', 0));
  assert.ok(!isOrdered('0:4', '0:16', 0));
});
