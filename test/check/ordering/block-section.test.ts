/** Locks that thread 0 takes for its block: barriers of the block extend them to its threads, towards other blocks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leader, type OrderedCase, otherwiseOrdered } from './ordered.ts';

const fence = 'fence.sc.gpu;';
const weaker = 'fence.acq_rel.gpu;';
const work = 'ld.global.u32 %r40, [%d1]; add.s32 %r40, %r40, %r0; st.global.u32 [%d1], %r40;';
const take = 'L: atom.global.cas.b32 %r20, [%d2], 0, 1; setp.ne.s32 %p1, %r20, 0; @%p1 bra L;';
const free = 'atom.global.exch.b32 %r21, [%d2], 0;';
const bar = 'bar.sync 0;';
const entry = (body = `${take} ${fence}`): string => leader(body, 'X');
const exit = (body = `${fence} ${free}`): string => leader(body, 'Y');

test('thread 0 holds a lock for its block between two barriers', () => {
  const cases: Readonly<Record<string, OrderedCase>> = {
    'barriers on both sides': [`${entry()} ${bar} ${work} ${bar} ${exit()}`, 'grid'],
    'weaker fences of thread 0': [`${entry(`${take} ${weaker}`)} ${bar} ${work} ${bar} ${exit(`${weaker} ${free}`)}`, 'grid'],
    'acquire and release': [
      `${entry(take.replace('atom.', 'atom.acquire.gpu.'))} ${bar} ${work} ${bar} ${exit('st.release.gpu.global.u32 [%d2], 0;')}`,
      'grid',
    ],
    'two intervals': [`${entry()} ${bar} ${work} ${bar} ${work} ${bar} ${exit()}`, 'grid'],
    'sequential fences of all threads': [`${entry(take)} ${bar} ${fence} ${work} ${fence} ${bar} ${exit(free)}`, 'grid'],
    'weaker fences of all threads': [`${entry(take)} ${bar} ${weaker} ${work} ${weaker} ${bar} ${exit(free)}`, ''],
    'a fence of thread 0 before, and of all threads after': [`${entry()} ${bar} ${work} ${fence} ${bar} ${exit(free)}`, 'grid'],
    'no barrier before': [`${entry()} ${work} ${bar} ${exit()}`, ''],
    'no barrier after': [`${entry()} ${bar} ${work} ${exit()}`, ''],
    'no fence before': [`${entry(take)} ${bar} ${work} ${bar} ${exit()}`, ''],
    'no fence after': [`${entry()} ${bar} ${work} ${bar} ${exit(free)}`, ''],
    'fences of the block': [`${entry(`${take} fence.sc.cta;`)} ${bar} ${work} ${bar} ${exit(`fence.sc.cta; ${free}`)}`, ''],
    'a lock of the block': [`${entry(`${take.replace('atom.', 'atom.relaxed.cta.')} ${fence}`)} ${bar} ${work} ${bar} ${exit()}`, ''],
    'another thread takes it': [`setp.ne.s32 %p9, %r0, 1; @%p9 bra X; ${take} ${fence} X: ${bar} ${work} ${bar} ${exit()}`, ''],
    'another thread frees it': [`${entry()} ${bar} ${work} ${bar} setp.ne.s32 %p9, %r0, 1; @%p9 bra Y; ${fence} ${free} Y:`, ''],
    'two threads take it': [`setp.ge.s32 %p9, %r0, 2; @%p9 bra X; ${take} ${fence} X: ${bar} ${work} ${bar} ${exit()}`, ''],
    'thread 0 does not wait': [`${entry(`atom.global.cas.b32 %r20, [%d2], 0, 1; ${fence}`)} ${bar} ${work} ${bar} ${exit()}`, ''],
    'thread 0 takes it in some blocks only': [
      `${entry(`setp.gt.s32 %p4, %r9, 3; @%p4 bra X; ${take} ${fence}`)} ${bar} ${work} ${bar} ${exit()}`,
      '',
    ],
    'thread 0 frees it in some blocks only': [
      `${entry()} ${bar} ${work} ${bar} ${exit(`setp.gt.s32 %p4, %r9, 3; @%p4 bra Y; ${fence} ${free}`)}`,
      'grid',
    ],
    'thread 0 frees it while others work, and takes it again': [
      `${entry()} ${bar} ${leader(`${fence} ${free} ${take.replaceAll('L', 'M')} ${fence}`, 'Z')} ${work} ${bar} ${exit()}`,
      '',
    ],
    'thread 0 frees it first, and work follows': [`${entry()} ${bar} ${bar} ${exit()} ${work}`, ''],
    'work after the last barrier': [`${entry()} ${bar} ${exit()} ${bar} ${work} ${bar}`, ''],
    'threads may leave at work': [`${entry()} ${bar} setp.gt.s32 %p4, %r0, 5; @%p4 bra Z; ${work} ret; Z: ${bar} ${exit()}`, ''],
    'a barrier of part of the block': [`${entry()} bar.sync 0, 32; ${work} ${bar} ${exit()}`, ''],
    'a store frees it, without a fence': [`${entry()} ${bar} ${work} ${bar} ${exit('st.volatile.global.u32 [%d2], 0;')}`, ''],
    'a weak store frees it': [`${entry()} ${bar} ${work} ${bar} ${exit(`${fence} st.global.u32 [%d2], 0;`)}`, ''],
    'a store frees it': [`${entry()} ${bar} ${work} ${bar} ${exit(`${fence} st.volatile.global.u32 [%d2], 0;`)}`, 'grid'],
    'a loop of sections': [
      `mov.u32 %r30, 0; R: ${entry()} ${bar} ${work} ${bar} ${exit()} add.s32 %r30, %r30, 1; setp.lt.s32 %p4, %r30, %r9; @%p4 bra R;`,
      'grid',
    ],
    'a loop of sections, and work before them': [
      `mov.u32 %r30, 0; R: ${work} ${entry()} ${bar} ${bar} ${exit()} add.s32 %r30, %r30, 1; setp.lt.s32 %p4, %r30, %r9; @%p4 bra R;`,
      '',
    ],
    'one block': [`${entry()} ${bar} ${work} ${bar} ${exit()}`, 'grid', { grid: [1, 1, 1] }],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('blocks proceed in the order of their numbers', () => {
  const wait = (number = '%r6', at = '%d2'): string =>
    `L: ld.volatile.global.u32 %r20, [${at}]; setp.ne.s32 %p1, %r20, ${number}; @%p1 bra L; ${fence}`;
  const next = (at = '%d2'): string => `${fence} atom.global.add.u32 %r21, [${at}], 1;`;
  const inOrder = (before: string, after: string): string => `${entry(before)} ${bar} ${work} ${bar} ${exit(after)}`;
  const tile = 'mul.wide.u32 %d30, %r6, 4; add.s64 %d30, %d2, %d30; mov.u32 %r31, %ctaid.y;';
  const ofTile = (number: string): string => `${tile} ${inOrder(wait(number, '%d30'), next('%d30'))}`;
  const plane = { grid: [4, 3, 1] } as const;
  const cases: Readonly<Record<string, OrderedCase>> = {
    'in the order of their numbers': [inOrder(wait(), next()), 'grid'],
    'a store of the next number': [inOrder(wait(), `${fence} add.s32 %r22, %r6, 1; st.volatile.global.u32 [%d2], %r22;`), 'grid'],
    'a store of another number': [inOrder(wait(), `${fence} add.s32 %r22, %r6, 2; st.volatile.global.u32 [%d2], %r22;`), ''],
    'another number': [inOrder(wait('%r9'), next()), ''],
    'an addition of 2': [inOrder(wait(), next().replace(', 1;', ', 2;')), ''],
    'no fence after': [inOrder(wait(), next().replace(fence, '')), ''],
    'no fence before': [inOrder(wait().replace(fence, ''), next()), ''],
    'a grid of two axes': [inOrder(wait(), next()), '', plane],
    'an order for each tile': [ofTile('%r31'), 'grid?', plane],
    'an order for each tile, by the number of the tile': [ofTile('%r6'), '', plane],
    'an order for each tile in three dimensions': [ofTile('%r31'), '', { grid: [4, 3, 2] }],
    'tiles that overlap': [ofTile('%r31').replace('%r6, 4', '%r6, 2'), '', plane],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});
