/** Asynchronous copies: at which barriers they are pending, and which accesses of their thread are concurrent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFullBarrier } from '../../../src/analysis/barriers/barrier-interval.ts';
import { pendingCopies } from '../../../src/analysis/barriers/pending-copy.ts';
import { printTerm } from '../../../src/analysis/values/print-term.ts';
import { contextOf } from '../../check/kernel-text.ts';

const names = { parameter: (index: number) => 'abnm'[index]!, object: () => 's' };

/** Copies `cN`, of which the number is the offset of the source; stores and loads `[%d1+N]`; barriers in order. */
function pendingIn(body: string): { at: string[]; own: string[]; abandoned: string[] } {
  const { symbolic, accesses, inMemory, kernel } = contextOf(body);
  const { at, own, abandoned } = pendingCopies(symbolic, accesses, isFullBarrier, inMemory);
  const counter = printTerm(symbolic.store.atom(64, { kind: 'iteration', loop: 0 }), names);
  const barriers = kernel.blocks.flatMap(({ instructions }) => instructions).filter(isFullBarrier);
  const nameOf = (access: (typeof accesses)[number]): string => {
    const source = access.isCopy
      ? accesses.find(({ instruction, operation }) => instruction === access.instruction && operation === 'read')!
      : access;
    const { offset } = source.targets[0]!;
    return `${access.isCopy ? 'c' : ''}${offset.value}`;
  };
  const path = (occurrence: { path: readonly { term: Parameters<typeof printTerm>[0]; rounds: readonly string[] }[] }): string =>
    occurrence.path
      .map(({ term, rounds: iterations }) => ` if ${printTerm(term, names).replaceAll(counter, 'i')} (${iterations.join(' ')})`)
      .join('');
  const describe = (one: Parameters<typeof path>[0] & { access: (typeof accesses)[number]; rounds: readonly string[] }): string =>
    `${[nameOf(one.access), ...one.rounds].join(' ')}${path(one)}`;
  const unique = (list: readonly string[]): string[] => [...new Set(list)].sort();
  return {
    at: unique([...at].flatMap(([barrier, list]) => list.map((one) => `${barriers.indexOf(barrier)}: ${describe(one)}`))),
    own: unique(
      own
        .filter(({ access }) => !access.access.isCopy)
        .map(({ copy, access, later }) => `${describe(copy)}, ${describe(access)}${later.map(({ by }) => ` after ${by}`).join('')}`),
    ),
    abandoned: unique(abandoned.map(nameOf)),
  };
}

const copy = (name: number): string => `cp.async.ca.shared.global [s], [%d1+${name}], 4;`;
const st = (name: number): string => `st.u32 [%d1+${name}], %r0;`;
const commit = 'cp.async.commit_group;';
const wait = (groups: number): string => `cp.async.wait_group ${groups};`;
const barrier = 'bar.sync 0;';
const loop = (body: string, bound = '%r9'): string =>
  `mov.u32 %r20, 0; L: setp.ge.s32 %p1, %r20, ${bound}; @%p1 bra X; ${body} add.s32 %r20, %r20, 1; bra L; X:`;

type Case = readonly [body: string, at: readonly string[], own: readonly string[], abandoned: readonly string[]];

/** Iterations are relative to the barrier, or to the copy, with the conditions under which the path was taken. */
const cases: readonly Case[] = [
  [st(0), [], [], []],
  [`${copy(0)} ${commit} ${wait(0)} ${barrier} ${st(4)}`, [], [], []],
  [`${copy(0)} ${commit} ${barrier} ${st(4)} ${wait(0)} ${barrier} ${st(8)}`, ['0: c0'], ['c0, 4'], []],
  [`${copy(0)} ${st(4)}`, [], ['c0, 4'], ['c0']],
  [`${copy(0)} ${commit} ${copy(4)} ${commit} ${wait(1)} ${barrier} ${wait(0)} ${barrier}`, ['0: c4'], [], []],
  [`${copy(0)} ${wait(0)} ${barrier} cp.async.wait_all; ${barrier}`, ['0: c0'], [], []],
  [`${copy(0)} ${commit} setp.eq.s32 %p1, %r9, 1; @%p1 bra N; ${wait(0)} N: ${barrier} ${st(4)}`, ['0: c0'], ['c0, 4'], ['c0']],
  [
    `setp.eq.s32 %p1, %r9, 1; @%p1 bra M; ${copy(0)} M: setp.eq.s32 %p2, %r9, 1; @%p2 bra N; ${commit} ${wait(0)} N: ${barrier} ${st(4)}`,
    [],
    [],
    [],
  ],
  [
    `setp.eq.s32 %p1, %r9, 1; @%p1 bra M; ${copy(0)} M: setp.ne.s32 %p2, %r9, 1; @%p2 bra N; ${commit} ${wait(0)} N: ${barrier} ${st(4)}`,
    ['0: c0'],
    ['c0, 4'],
    ['c0'],
  ],
  [loop(`${copy(0)} ${commit} ${wait(0)} ${barrier} ${st(4)}`), [], [], []],
  [loop(`${copy(0)} ${commit} ${wait(1)} ${barrier} ${st(4)}`), ['0: c0 same'], ['c0 same, 4 same'], ['c0']],
  [
    `${copy(0)} ${commit} ${loop(`${copy(4)} ${commit} ${wait(1)} ${barrier} ${st(8)}`)} ${wait(0)} ${barrier} ${st(12)}`,
    ['1: c4 same'],
    ['c4 same, 8 same'],
    [],
  ],
  [
    `${loop(`${copy(0)} ${commit}`)} ${barrier} ${wait(0)} ${st(4)}`,
    [
      '0: c0 before-1 if i >= n (before) if i >= 1 (before)',
      '0: c0 before-2 if i >= n (before) if i >= 2 (before)',
      '0: c0 before-3 if i >= n (before) if i >= 3 (before)',
      '0: c0 free if i >= n (before) if i >= 4 (before)',
    ],
    [],
    [],
  ],
  [
    `${loop(`${copy(0)} ${commit}`, '3')} ${barrier} ${wait(0)} ${st(4)}`,
    [
      '0: c0 before-1 if i >= 3 (before) if i >= 1 (before)',
      '0: c0 before-2 if i >= 3 (before) if i >= 2 (before)',
      '0: c0 before-3 if i >= 3 (before) if i >= 3 (before)',
    ],
    [],
    [],
  ],
  [
    `${copy(0)} ${loop(st(4), '3')} ${barrier} ${commit} ${wait(0)}`,
    ['0: c0 before if i == 3 (before)'],
    ['c0 before, 4 first', 'c0 before, 4 first+1', 'c0 before, 4 first+2'],
    [],
  ],
  [
    `${copy(0)} ${loop(`${barrier} ${st(4)}`)} ${commit} ${wait(0)}`,
    [
      '0: c0 before if i == 0 (same)',
      '0: c0 before if i == 1 (same)',
      '0: c0 before if i == 2 (same)',
      '0: c0 before if i == 3 (same)',
      '0: c0 before if i >= 4 (same)',
    ],
    ['c0 before, 4 first', 'c0 before, 4 first+1', 'c0 before, 4 first+2', 'c0 before, 4 first+3', 'c0 before, 4 free'],
    [],
  ],
  [
    `${copy(0)} ${loop(`setp.eq.s32 %p3, %r20, 0; @%p3 bra N; ${commit} ${wait(0)} N: ${st(4)}`, '2')} ${barrier}`,
    [],
    ['c0 before, 4 first'],
    [],
  ],
  [
    `mov.u32 %r21, 0; O: ${loop(`${copy(0)} ${commit}`, '%r8')} ${barrier} ${wait(0)} ${st(4)} add.s32 %r21, %r21, 1; setp.lt.s32 %p2, %r21, %r9; @%p2 bra O;`,
    [
      '0: c0 same before-1 if i >= m (same before) if i >= 1 (same before)',
      '0: c0 same before-2 if i >= m (same before) if i >= 2 (same before)',
      '0: c0 same before-3 if i >= m (same before) if i >= 3 (same before)',
      '0: c0 same free if i >= m (same before) if i >= 4 (same before)',
    ],
    [],
    [],
  ],
  [loop(`${st(4)} ${wait(0)} ${barrier} ${copy(0)} ${commit}`), [], ['c0 same, 4 next'], ['c0']],
  [
    loop(`${copy(0)} ${commit} ${wait(2)} ${barrier} ${st(4)}`),
    ['0: c0 same', '0: c0 same-1 if i >= 1 (same)'],
    ['c0 same, 4 next', 'c0 same, 4 same'],
    ['c0'],
  ],
  [
    loop(`${copy(0)} ${commit} ${barrier} ${st(4)}`),
    [
      '0: c0 free if i >= 4 (same)',
      '0: c0 same',
      '0: c0 same-1 if i >= 1 (same)',
      '0: c0 same-2 if i >= 2 (same)',
      '0: c0 same-3 if i >= 3 (same)',
    ],
    ['c0 same, 4 free after 4', 'c0 same, 4 next', 'c0 same, 4 same', 'c0 same, 4 same+2', 'c0 same, 4 same+3'],
    ['c0'],
  ],
  [
    loop(`${copy(0)} ${commit} ${barrier} ${st(4)}`, '2'),
    ['0: c0 same', '0: c0 same-1 if i >= 1 (same)', '0: c0 same-2 if i >= 2 (same)'],
    ['c0 same, 4 next', 'c0 same, 4 same', 'c0 same, 4 same+2'],
    ['c0'],
  ],
  [
    `mov.u32 %r21, 0; O: ${copy(0)} ${loop(st(4), '2')} ${barrier} ${commit} ${wait(0)} add.s32 %r21, %r21, 1; setp.lt.s32 %p2, %r21, %r9; @%p2 bra O;`,
    ['0: c0 same before if i == 2 (same before)'],
    ['c0 same before, 4 same first', 'c0 same before, 4 same first+1'],
    [],
  ],
  [
    `mov.u32 %r21, 0; O: ${loop(`${barrier} ${st(4)}`, '2')} ${copy(0)} ${commit} add.s32 %r21, %r21, 1; setp.lt.s32 %p2, %r21, %r9; @%p2 bra O; ${wait(0)}`,
    [
      '0: c0 free before if i >= 4 (same same) if i == 0 (same same)',
      '0: c0 free before if i >= 4 (same same) if i == 1 (same same)',
      '0: c0 same-1 before if i >= 1 (same same) if i == 0 (same same)',
      '0: c0 same-1 before if i >= 1 (same same) if i == 1 (same same)',
      '0: c0 same-2 before if i >= 2 (same same) if i == 0 (same same)',
      '0: c0 same-2 before if i >= 2 (same same) if i == 1 (same same)',
      '0: c0 same-3 before if i >= 3 (same same) if i == 0 (same same)',
      '0: c0 same-3 before if i >= 3 (same same) if i == 1 (same same)',
    ],
    [
      'c0 same before, 4 free first after 4',
      'c0 same before, 4 free first+1 after 4',
      'c0 same before, 4 next first',
      'c0 same before, 4 next first+1',
      'c0 same before, 4 same+2 first',
      'c0 same before, 4 same+2 first+1',
      'c0 same before, 4 same+3 first',
      'c0 same before, 4 same+3 first+1',
    ],
    [],
  ],
  [
    `${copy(0)} ${commit} mov.u32 %r21, 0; W: ld.volatile.u32 %r22, [%d1+64]; setp.eq.u32 %p3, %r22, 0; @%p3 bra W; ${barrier} ${wait(0)}`,
    [
      '0: c0 before if i == 0 (before)',
      '0: c0 before if i == 1 (before)',
      '0: c0 before if i == 2 (before)',
      '0: c0 before if i == 3 (before)',
      '0: c0 before if i >= 4 (before)',
    ],
    ['c0 before, 64 first', 'c0 before, 64 first+1', 'c0 before, 64 first+2', 'c0 before, 64 first+3', 'c0 before, 64 free'],
    [],
  ],
  [
    `${copy(0)} ${commit} mov.u32 %r21, 0; W: add.u32 %r21, %r21, %r9; setp.lt.u32 %p3, %r21, 1000; @%p3 bra W; ${barrier} ${wait(0)}`,
    ['0: c0 before if true (before)'],
    [],
    [],
  ],
  [
    `${copy(0)} ${copy(4)} ${commit} ${wait(0)} ${copy(8)} ${commit} ${copy(12)} ${wait(1)} ${barrier} ${wait(0)} ${barrier} ${commit} ${wait(0)} ${barrier}`,
    ['0: c12', '0: c8', '1: c12'],
    [],
    [],
  ],
  [
    loop(
      `setp.eq.s32 %p3, %r9, %r20; @%p3 bra N; ${copy(0)} ${commit} N: setp.eq.s32 %p4, %r9, %r20; @%p4 bra M; ${wait(0)} M: ${barrier}`,
    ),
    [],
    [],
    [],
  ],
  [
    loop(
      `setp.eq.s32 %p3, %r9, 7; @%p3 bra N; ${copy(0)} ${commit} N: ${barrier} setp.eq.s32 %p4, %r9, 7; @%p4 bra M; ${wait(0)} M: ${barrier}`,
    ),
    ['0: c0 same'],
    [],
    [],
  ],
  // A condition that each iteration decides again: whether iteration m + 1 waits is unknown.
  [
    loop(
      `setp.ne.s32 %p4, %r20, %r8; @%p4 bra M; ${wait(0)} M: ${barrier} setp.ne.s32 %p3, %r20, %r8; @%p3 bra N; ${copy(0)} ${commit} N:`,
    ),
    ['0: c0 free if i >= 4 (same)', '0: c0 same-1 if i >= 1 (same)', '0: c0 same-2 if i >= 2 (same)', '0: c0 same-3 if i >= 3 (same)'],
    [],
    ['c0'],
  ],
  [
    loop(
      `ld.u32 %r40, [%d2+64]; setp.ne.s32 %p4, %r40, 0; @%p4 bra M; ${wait(0)} M: ${barrier} setp.ne.s32 %p3, %r40, 0; @%p3 bra N; ${copy(0)} ${commit} N:`,
    ),
    ['0: c0 free if i >= 4 (same)', '0: c0 same-1 if i >= 1 (same)', '0: c0 same-2 if i >= 2 (same)', '0: c0 same-3 if i >= 3 (same)'],
    ['c0 same, 64 free after 4', 'c0 same, 64 next', 'c0 same, 64 same+2', 'c0 same, 64 same+3'],
    ['c0'],
  ],
];

test('copies are pending until a wait completes their group', () => {
  for (const [body, at, own, abandoned] of cases) assert.deepEqual(pendingIn(body), { at, own, abandoned }, body);
});

test('a barrier in memory waits for the copies that are announced to it', () => {
  const setUp = (count: number): string =>
    `.shared .align 8 .b64 one; mov.u32 %r30, one; setp.ne.u32 %p5, %r0, 0; @%p5 bra I; mbarrier.init.shared.b64 [%r30], ${count}; I: bar.sync 0;`;
  const arrive = 'mbarrier.arrive.shared.b64 %d20, [%r30];';
  const look = 'V: mbarrier.test_wait.shared.b64 %p6, [%r30], %d20; @!%p6 bra V;';
  const announce = 'cp.async.mbarrier.arrive.noinc.shared.b64 [%r30];';
  // The loop that waits for the barrier adds a condition to the path.
  const pending = ['1: c0 before if true (before)'];
  assert.deepEqual(pendingIn(`${setUp(128)} ${copy(0)} ${announce} ${arrive} ${look} ${barrier}`).at, []);
  assert.deepEqual(pendingIn(`${setUp(128)} ${announce} ${copy(0)} ${arrive} ${look} ${barrier}`).at, pending);
  assert.deepEqual(pendingIn(`${setUp(64)} ${copy(0)} ${arrive} ${look} ${barrier}`).at, pending);
  // An access between arrival and wait may happen before the copy is complete.
  assert.deepEqual(pendingIn(`${setUp(128)} ${copy(0)} ${announce} ${arrive} ${st(4)} ${look} ${barrier}`).at.length, 1);
});

test('a copy with too many states is pending at all barriers and accesses', () => {
  const branches = Array.from(
    { length: 7 },
    (_, i) => `mov.u32 %r${30 + i}, 0; L${i}: ${st(4 + 4 * i)} add.s32 %r${30 + i}, %r${30 + i}, 1;
    setp.lt.s32 %p${i + 1}, %r${30 + i}, %r9; @%p${i + 1} bra L${i};`,
  ).join(' ');
  const { at, own, abandoned } = pendingIn(`${barrier} ${copy(0)} ${branches} ${commit} ${wait(0)} ${barrier}`);
  const free = ' free'.repeat(7);
  assert.deepEqual(at, [`0: c0${free}`, `1: c0${free}`]);
  assert.ok(own.includes(`c0${' before'.repeat(7)}, 4${free}`));
  assert.deepEqual(abandoned, ['c0']);
});
