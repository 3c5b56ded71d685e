/** What a launch accesses in a run: its bytes, which accesses count, and which are before the wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { integer } from '../../src/assumptions/expression.ts';
import { concreteLaunch } from '../../src/between/concrete-launch.ts';
import { samplesOf } from '../../src/between/host-values.ts';
import { effectsOf } from '../../src/between/launch-effects.ts';
import { unorderedBytes } from '../../src/between/unordered-bytes.ts';
import { type LaunchSetting, codeOf, launchOf, memory, pointer, size } from './fixture.ts';

const limits = { steps: 100_000, maxThreads: 64 };

/** The accesses of a body: `MEMORY OPERATION: OFFSETS`, `*` for those before the wait, `t` for those after the trigger, `?` for open ones. */
function textOf(body: string, setting: LaunchSetting = {}): string[] {
  const { kernel, parameters } = codeOf(body);
  const [sample] = samplesOf(setting.facts ?? [], [size], 1);
  const run = concreteLaunch(kernel, parameters, launchOf(setting).launch!, sample!, limits);
  const groups = new Map<string, Set<number>>();
  for (const { memory: of, operation, offset, isEarly, isAfterTrigger, isOpen } of run ? effectsOf(run) : []) {
    const key = `${of} ${operation}${isEarly ? '*' : ''}${isAfterTrigger ? 't' : ''}${isOpen ? '?' : ''}`;
    groups.set(key, (groups.get(key) ?? new Set<number>()).add(offset));
  }
  return [...groups].map(([key, offsets]) => `${key}: ${[...offsets].sort((a, b) => a - b).join()}`);
}

const st = (base: string, offset: number): string => `st.global.u32 [${base}+${offset}], %r0;`;
const wait = 'griddepcontrol.wait;';
const trigger = 'griddepcontrol.launch_dependents;';
const first = 'setp.eq.u32 %p1, %r0, 0;';
const two = { block: integer(2) };

test('bytes by the memory of the host program, at the offsets of its pointers', () => {
  assert.deepEqual(textOf(st('%d1', 4), two), ['x write*: 4']);
  assert.deepEqual(textOf(st('%d2', 4), { ...two, b: pointer('x', integer(64)) }), ['x write*: 68']);
  assert.deepEqual(textOf(st('%d2', 4), { ...two, b: pointer('x', null) }), [], 'at an offset that is not known');
  assert.deepEqual(textOf('ld.global.u32 %r20, [%d1]; red.global.add.u32 [%d2], %r0;', two), ['x read*: 0', 'y atomic*: 0']);
  assert.deepEqual(textOf('st.shared.u32 [%d3], %r0; st.u32 [%d0], %r0;', two), [], 'shared memory');
  const scaled = 'mul.wide.u32 %d5, %r7, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r9;';
  assert.deepEqual(textOf(scaled, { block: integer(2), grid: integer(2) }), ['x write*: 0,4,8,12']);
});

test('of large grids the first blocks and the last one', () => {
  const ofBlock = 'mul.wide.u32 %d5, %r6, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r9;';
  assert.deepEqual(textOf(ofBlock, { block: integer(32), grid: integer(1000) }), ['x write*: 0,4,3996']);
  assert.deepEqual(textOf(ofBlock, { block: integer(1024), grid: integer(3) }), ['x write*: 0,8']);
  assert.deepEqual(textOf(ofBlock, { block: integer(2048) }), [], 'no device allows the block');
  assert.deepEqual(textOf(ofBlock, { grid: integer(0) }), [], 'the launch fails');
});

test('accesses whose address or path depends on contents of memory are open', () => {
  const load = 'ld.global.u32 %r20, [%d2];';
  assert.deepEqual(textOf(`${load} mul.wide.u32 %d5, %r20, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r0;`, two), [
    'y read*: 0',
    'x write*?: 0',
  ]);
  assert.deepEqual(textOf(`${load} setp.eq.u32 %p1, %r20, 0; @%p1 ${st('%d1', 0)}`, two), ['y read*: 0', 'x write*?: 0']);
  assert.deepEqual(textOf(`setp.lt.u32 %p1, %r9, 9; @%p1 ${st('%d1', 0)}`, two), ['x write*: 0'], 'n is 8');
});

test('accesses before the wait of the thread, and before a barrier after that of another one', () => {
  assert.deepEqual(textOf(`${st('%d1', 0)} ${wait} ${st('%d1', 4)}`, two), ['x write*: 0', 'x write: 4']);
  assert.deepEqual(textOf(`${first} @%p1 ${wait} ${st('%d1', 0)}`, two), ['x write: 0', 'x write*: 0']);
  assert.deepEqual(textOf(`${first} @%p1 ${wait} bar.sync 0; ${st('%d1', 0)}`, two), ['x write: 0']);
  assert.deepEqual(textOf(`${first} @%p1 ${wait} bar.warp.sync -1; ${st('%d1', 0)}`, two), ['x write: 0']);
  assert.deepEqual(textOf(`bar.sync 0; ${st('%d1', 0)} ${wait}`, two), ['x write*: 0', 'x write: 0']);
  const byContents = `ld.global.u32 %r20, [%d2]; setp.ne.u32 %p1, %r20, 0; @%p1 ${wait} ${st('%d1', 0)}`;
  assert.deepEqual(textOf(byContents, two), ['y read*: 0', 'x write: 0'], 'contents of memory decide who waits');
  assert.deepEqual(textOf(`${st('%d1', 0)} ${trigger} ${st('%d1', 4)}`, two), ['x write*: 0', 'x write*t: 4']);
});

test('two launches share bytes if every sample shows it', () => {
  const store = codeOf('mul.wide.u32 %d5, %r7, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r9;');
  const load = codeOf(`${wait} ld.global.u32 %r20, [%d1+16];`);
  const far = codeOf('ld.global.u32 %r20, [%d1+2000];');
  const shared = (kind: 'streams' | 'programmatic', a: LaunchSetting, b: LaunchSetting, second = load): string => {
    const bytes = unorderedBytes({ kind, first: launchOf(a), second: launchOf(b), symbolFacts: [] }, [store, second]);
    return bytes ? `${bytes.overlaps.length} ${bytes.possible.length}` : 'unknown';
  };
  assert.equal(shared('streams', {}, {}), '1 0');
  assert.equal(shared('programmatic', {}, {}), '0 0', 'the load is after the wait');
  assert.equal(shared('streams', {}, { a: pointer('z') }), '0 0');
  assert.equal(shared('streams', { block: integer(4) }, {}), '0 0');
  assert.equal(shared('streams', { block: integer(1024) }, {}, far), '1 0');
  assert.equal(shared('streams', { block: size }, {}, far), '0 0', 'only the larger of two samples reaches the bytes');
  const isLarge = { kind: 'comparison', operator: '>', left: size, right: integer(4) } as const;
  assert.equal(shared('streams', { block: size, facts: [isLarge] }, { block: size }), '1 0');
  const unknown = { kind: 'comparison', operator: '>', left: integer(0), right: integer(4) } as const;
  assert.equal(shared('streams', { facts: [unknown] }, {}), '0 0', 'no sample satisfies the facts');
  const indirect = codeOf('ld.global.u32 %r20, [%d2]; mul.wide.u32 %d5, %r20, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r9;');
  assert.equal(shared('streams', {}, {}, indirect), '0 1');
  assert.equal(shared('streams', {}, { a: pointer('z') }, indirect), '0 0');
  assert.equal(shared('programmatic', {}, {}, indirect), '0 1');
  const noGrid = { grid: size, facts: [{ kind: 'comparison', operator: '==', left: size, right: integer(0) }] } as const;
  assert.equal(shared('streams', noGrid, {}), '0 1', 'a launch that cannot be run is given the array');
  assert.equal(shared('programmatic', {}, noGrid), 'unknown');
});

test('launches that may synchronise by strong accesses share nothing', () => {
  const store = 'st.global.u32 [%d1], %r0;';
  const shared = (kind: 'streams' | 'programmatic', one: string, other: string, b = 'y'): boolean =>
    unorderedBytes({ kind, first: launchOf(), second: launchOf({ b: pointer(b) }), symbolFacts: [] }, [
      codeOf(`${store} ${one}`),
      codeOf(`${other} ${store}`),
    ])!.overlaps.length > 0;
  const flag = 'st.release.gpu.global.u32 [%d2], 1;';
  const spin = 'ld.acquire.gpu.global.u32 %r20, [%d2]; st.shared.u32 [%d3], %r20;';
  const lock = 'atom.global.cas.b32 %r20, [%d2], 0, 1; st.shared.u32 [%d3], %r20;';
  const count = 'red.global.add.u32 [%d2], 1;';
  assert.equal(shared('streams', flag, spin), false);
  assert.equal(shared('streams', spin, flag), false);
  assert.equal(shared('streams', lock, lock), false);
  assert.equal(shared('streams', count, lock), false);
  assert.equal(shared('streams', count, count), true, 'no thread observes the counter');
  assert.equal(shared('streams', spin, spin), true, 'no thread writes the flag');
  assert.equal(shared('streams', flag, spin, 'z'), true, 'another flag');
  assert.equal(shared('streams', flag.replace('gpu', 'cta'), spin), true, 'a flag of the block');
  assert.equal(shared('streams', flag, spin.replace('gpu', 'cta')), true, 'an observation of the block');
  assert.equal(shared('programmatic', flag, spin), true);
});

test('a store of literals writes equal values', () => {
  const shared = (one: string, other: string): number =>
    unorderedBytes({ kind: 'streams', first: launchOf(), second: launchOf(), symbolFacts: [] }, [codeOf(one), codeOf(other)])!.overlaps
      .length;
  const flag = (value: string): string => `st.global.u32 [%d1], ${value};`;
  assert.equal(shared(flag('1'), flag('1')), 0);
  assert.equal(shared(flag('1'), flag('2')), 1);
  assert.equal(shared(flag('%r0'), flag('%r0')), 1);
  assert.equal(shared('st.global.v2.u32 [%d1], {1, 2};', 'st.global.v2.u32 [%d1], {1, 2};'), 0);
  assert.equal(shared('st.global.v2.u32 [%d1], {1, 2};', 'st.global.v2.u32 [%d1], {1, %r0};'), 1);
});

test('copies and accesses of the host share bytes with a launch', () => {
  const store = codeOf('mul.wide.u32 %d5, %r7, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r9;');
  const copy = (offset: number, bytes: number | null, isWrite: boolean) => ({
    ...launchOf(),
    kind: 'copy' as const,
    launch: undefined as never,
    touches: [{ memory: memory('x'), offset: integer(offset), bytes: bytes === null ? null : integer(bytes), isWrite }],
  });
  const shared = (...of: Parameters<typeof copy>): string => {
    const bytes = unorderedBytes({ kind: 'streams', first: copy(...of), second: launchOf(), symbolFacts: [] }, [null, store]);
    return bytes ? `${bytes.overlaps.length} ${bytes.possible.length}` : 'unknown';
  };
  assert.equal(shared(124, 4, false), '1 0');
  assert.equal(shared(128, 4, false), '0 0');
  assert.equal(shared(0, null, true), '0 1', 'a copy of unknown size');
});
