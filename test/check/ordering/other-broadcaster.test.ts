/** Counters of arrivals of which another thread than thread 0 broadcasts the result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, store } from '../kernel-text.ts';
import { type OrderedCase, otherwiseOrdered } from './ordered.ts';

const fence = 'fence.acq_rel.gpu;';
const bar = 'bar.sync 0;';
const count = 'atom.global.add.u32 %r20, [%d2], 1;';
const publish = 'st.shared.u32 [s], %r20;';
/** Code that only one thread of the block executes. */
const only = (thread: string, body: string): string => `setp.ne.u32 %p9, %r0, ${thread}; @%p9 bra X; ${body} X:`;
/** All threads write before the count; those of the last of four blocks read afterwards. */
const around = (counted: string, afterwards = ''): string =>
  `${store('%d1', '%r7', '%r0', 10)} ${fence} ${bar} ${counted} ${bar} ld.shared.u32 %r22, [s]; setp.ne.u32 %p5, %r22, 3; @%p5 bra END;
  ${afterwards} add.s32 %r1, %r7, %r5; ${load('%r2', '%d1', '%r1', 11)} END:`;
const whole = `${fence} ${count} ${fence} ${publish}`;

test('the last block may be found by any one thread', () => {
  const cases: Readonly<Record<string, OrderedCase>> = {
    'thread 0': [around(only('0', whole)), 'grid'],
    'the last thread': [around(only('63', whole)), 'grid'],
    'a fence.sc of each thread afterwards': [
      around(only('63', `fence.sc.gpu; ${count} ${publish}`), 'fence.sc.gpu;').replace(`${fence} ${bar}`, `fence.sc.gpu; ${bar}`),
      'grid',
    ],
    'no fence after the count': [around(only('63', `${fence} ${count} ${publish}`)), ''],
    // The fence is not in the thread that has counted.
    'a fence of each thread afterwards': [around(only('63', `${fence} ${count} ${publish}`), fence), ''],
    'a fence of thread 0 afterwards': [
      around(only('63', `${fence} ${count} ${publish}`), `${only('0', fence)} ${bar}`.replaceAll('X', 'Y')),
      '',
    ],
    'a thread that the block does not have': [around(only('64', whole)), ''],
    'a block of unknown size': [around(only('63', whole)), '', { grid: [4, 1, 1], block: null }],
    'several threads': [around(`setp.lt.u32 %p9, %r0, 62; @%p9 bra X; ${whole} X:`), ''],
    'a value that depends on the thread': [
      around(only('63', `${fence} ${count} ${fence} sub.u32 %r23, %r20, %r0; st.shared.u32 [s], %r23;`)),
      '',
    ],
    'another thread writes it, too': [around(`${only('5', 'st.shared.u32 [s], 3;').replaceAll('X', 'Y')} ${only('63', whole)}`), ''],
    'the result of the atomic operation of all threads': [around(`${count} ${only('63', `${fence} ${publish}`)}`), ''],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});
