/** Which accesses of global memory come before or after `griddepcontrol.wait`, by paths and by barriers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WaitOrder, gridDependency, waitsFirst } from '../../../src/analysis/barriers/grid-dependency.ts';
import { kernelOf } from '../../check/kernel-text.ts';

/** The accesses `[%d1+NAME]` of a body. */
function ordersOf(body: string): Record<string, WaitOrder> {
  return Object.fromEntries([...gridDependency(kernelOf(body)).accesses].map(([{ offset }, order]) => [String(offset), order]));
}

const st = (name: number): string => `st.global.u32 [%d1+${name}], %r0;`;
const ld = (name: number): string => `ld.global.u32 %r2${name}, [%d1+${name}];`;
const wait = 'griddepcontrol.wait;';
const trigger = 'griddepcontrol.launch_dependents;';
/** `body` for the threads of a condition on registers. */
const when = (condition: string, body: string, label = 'A'): string => `setp.${condition}; @!%p1 bra ${label}; ${body} ${label}:`;
const first = 'eq.u32 %p1, %r0, 0';
const second = 'eq.u32 %p1, %r0, 1';

const cases: readonly (readonly [what: string, body: string, expected: Record<string, WaitOrder>])[] = [
  ['without a wait', `${ld(0)} ${st(4)}`, { 0: 'early', 4: 'early' }],
  ['a wait first', `${wait} ${ld(0)} ${st(4)}`, { 0: 'after', 4: 'after' }],
  ['a wait between', `${ld(0)} ${wait} ${st(4)}`, { 0: 'early', 4: 'after' }],
  ['only a trigger', `${trigger} ${ld(0)}`, { 0: 'early' }],
  ['a wait on one path', `${when('lt.u32 %p1, %r9, 4', wait)} ${st(0)}`, { 0: 'open' }],
  [
    'a wait on both paths',
    `setp.lt.u32 %p1, %r9, 4; @!%p1 bra A; ${wait} bra B; A: ${ld(4)} ${wait} B: ${st(0)}`,
    { 4: 'early', 0: 'after' },
  ],
  ['a return before the wait', `${when('lt.u32 %p1, %r9, 4', 'ret;')} ${wait} ${st(0)}`, { 0: 'after' }],
  ['a store before a return', `${when('lt.u32 %p1, %r9, 4', `${st(4)} ret;`)} ${wait} ${st(0)}`, { 4: 'early', 0: 'after' }],
  [
    'a wait in a loop, after a load',
    `L: ${ld(0)} ${wait} add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 9; @%p2 bra L; ${st(4)}`,
    { 0: 'open', 4: 'after' },
  ],
  ['thread 0 waits, no barrier', `${when(first, wait)} ${st(0)}`, { 0: 'open' }],
  ['thread 0 waits before a barrier', `${when(first, wait)} bar.sync 0; ${st(0)}`, { 0: 'after' }],
  ['thread 0 waits before a barrier with a load between', `${when(first, wait)} ${ld(4)} bar.sync 0; ${st(0)}`, { 4: 'open', 0: 'after' }],
  ['a barrier before thread 0 waits', `bar.sync 0; ${when(first, wait)} ${st(0)}`, { 0: 'open' }],
  ['a load between a barrier and the wait', `bar.sync 0; ${ld(4)} ${when(first, wait)} bar.sync 0; ${st(0)}`, { 4: 'early', 0: 'after' }],
  ['the first warp waits', `shr.u32 %r3, %r0, 5; setp.eq.u32 %p1, %r3, 0; @!%p1 bra A; ${wait} A: bar.sync 0; ${st(0)}`, { 0: 'after' }],
  ['another thread waits, if the block has it', `${when(second, wait)} bar.sync 0; ${st(0)}`, { 0: 'open' }],
  ['thread 0 waits in some launches', `${when('eq.u32 %p1, %r9, 0', wait)} bar.sync 0; ${st(0)}`, { 0: 'open' }],
  ['thread 0 of one block waits', `${when('eq.u32 %p1, %r7, 0', wait)} bar.sync 0; ${st(0)}`, { 0: 'open' }],
  ['thread 0 may have returned', `${when('lt.u32 %p1, %r9, 4', 'ret;')} ${when(first, wait, 'B')} bar.sync 0; ${st(0)}`, { 0: 'open' }],
  ['a barrier of part of the block', `${when(first, wait)} bar.sync 1, 64; ${st(0)}`, { 0: 'open' }],
  ['an arrival', `${when(first, wait)} bar.arrive 0, 64; ${st(0)}`, { 0: 'open' }],
  [
    'a wait of other threads, seen by a barrier in memory',
    `${when(first, `${wait} mbarrier.arrive.shared.b64 %d9, [s]; ret;`)} ${ld(4)} W: mbarrier.test_wait.parity.shared.b64 %p3, [s], 0; @!%p3 bra W; ${st(0)}`,
    { 4: 'early', 0: 'open' },
  ],
  [
    'threads that pass one barrier at two places',
    `${when(second, `${wait} bar.sync 0; ret;`)} ${ld(4)} bar.sync 0; ${st(0)}`,
    { 4: 'early', 0: 'open' },
  ],
  [
    'an atomic that may see one after the wait',
    `atom.global.add.u32 %r20, [%d2+8], 1; ${ld(4)} ${wait} red.global.add.u32 [%d2+12], 1;`,
    { 8: 'early', 4: 'open', 12: 'after' },
  ],
  ['a fence sees nothing', `membar.gl; ${ld(4)} ${wait} red.global.add.u32 [%d2+12], 1;`, { 4: 'early', 12: 'after' }],
  ['shared memory, and parameters', `st.shared.u32 [%r0], %r0; st.u32 [%d0], %r0; ${wait}`, {}],
  ['a generic address of unknown memory', `st.u32 [%d1], %r0; ${wait}`, { 0: 'early' }],
  [
    'an atomic, and a load by the read-only path',
    `red.global.add.u32 [%d1], %r0; ld.global.nc.u32 %r30, [%d2+8]; ${wait} ${st(4)}`,
    { 0: 'early', 8: 'early', 4: 'after' },
  ],
  ['a copy of memory', `cp.async.ca.shared.global [%d3], [%d1], 4; ${wait} ${st(4)}`, { 0: 'early', 4: 'after' }],
];

test('accesses before and after the wait', () => {
  for (const [what, body, expected] of cases) assert.deepEqual(ordersOf(body), expected, what);
});

test('waits and triggers of a kernel', () => {
  const cases = [
    [`${when(first, trigger)} ${wait} ${trigger}`, { hasWait: true, hasTrigger: true, triggersFirst: false, waitsFirst: true }],
    [`${wait} ${st(0)}`, { hasWait: true, hasTrigger: false, triggersFirst: false, waitsFirst: true }],
    [`${trigger} ${wait} ${st(0)}`, { hasWait: true, hasTrigger: true, triggersFirst: true, waitsFirst: true }],
    [`${wait} ${st(0)} ${trigger}`, { hasWait: true, hasTrigger: true, triggersFirst: false, waitsFirst: true }],
    [`${when(first, wait)} ${trigger}`, { hasWait: true, hasTrigger: true, triggersFirst: false, waitsFirst: true }],
    [`${st(0)} ${trigger}`, { hasWait: false, hasTrigger: true, triggersFirst: true, waitsFirst: false }],
    [`${ld(0)} ${wait} ${st(0)}`, { hasWait: true, hasTrigger: false, triggersFirst: false, waitsFirst: false }],
  ] as const;
  for (const [body, expected] of cases) {
    const known = gridDependency(kernelOf(body));
    const { hasWait, hasTrigger, triggersFirst } = known;
    assert.deepEqual({ hasWait, hasTrigger, triggersFirst, waitsFirst: waitsFirst(known) }, expected, body);
  }
});

test('whether each path has a wait', () => {
  const cases = [
    [`${wait} ${st(0)}`, true],
    [`${when(first, wait)} ${st(0)}`, false],
    [`${when(first, st(4))} ${wait}`, true],
    [st(0), false],
  ] as const;
  for (const [body, expected] of cases) assert.equal(gridDependency(kernelOf(body)).alwaysWaits, expected, body);
});
