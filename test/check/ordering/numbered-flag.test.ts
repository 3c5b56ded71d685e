/** Flags that a number from a counter selects: accesses that they order, and the conditions without which they do not. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CheckOptions, closeSolver, verdicts } from '../kernel-text.ts';
import { type OrderedCase, otherwiseOrdered } from './ordered.ts';

after(closeSolver);

const fence = 'fence.acq_rel.gpu;';
const draw = 'atom.global.add.u32 %r20, [t], 1;';
const drawOther = 'atom.global.add.u32 %r21, [t+4], 1;';
/** The address of an element with this index. */
const at = (to: string, array: string, index: string): string => `mul.wide.u32 ${to}, ${index}, 4; add.s64 ${to}, ${array}, ${to};`;
const put = (index = '%r20'): string => `${at('%d30', '%d1', index)} st.global.u32 [%d30], %r6;`;
const get = (index = '%r21'): string => `${at('%d31', '%d1', index)} ld.global.u32 %r40, [%d31];`;
const raise = (index = '%r20'): string => `${at('%d32', '%d2', index)} atom.global.exch.b32 %r22, [%d32], 1;`;
const until = (index = '%r21', label = 'L'): string =>
  `${at('%d33', '%d2', index)} ${label}: atom.global.or.b32 %r23, [%d33], 0; setp.eq.u32 %p5, %r23, 0; @%p5 bra ${label};`;

/** Thread 0 of the even blocks executes one body, that of the odd ones the other. */
const sides = (even: string, odd: string): string =>
  `setp.ne.s32 %p1, %r0, 0; @%p1 bra END; and.b32 %r10, %r6, 1; setp.ne.u32 %p2, %r10, 0; @%p2 bra ODD; ${even} bra END; ODD: ${odd} END:`;
const producer = `${draw} ${put()} ${fence} ${raise()}`;
const consumer = `${drawOther} ${until()} ${fence} ${get()}`;
const loop = (body: string): string => `mov.u32 %r30, 0; R: ${body} add.u32 %r30, %r30, 1; setp.lt.u32 %p6, %r30, %r9; @%p6 bra R;`;

test('a flag that a number selects orders what its thread did before, and what another one does once it has seen that flag', () => {
  const cases: Readonly<Record<string, OrderedCase>> = {
    'numbers on both sides': [sides(producer, consumer), 'block? grid?'],
    'a slot of another choice': [sides(producer, `mov.u32 %r21, %r9; ${until()} ${fence} ${get()}`), 'block? grid?'],
    'numbers of two consumers': [sides(producer, loop(consumer)), 'block? grid?'],
    'each thread takes a number': [
      `and.b32 %r10, %r6, 1; setp.ne.u32 %p2, %r10, 0; @%p2 bra ODD; ${producer} bra END; ODD: ${consumer} END:`,
      'block? grid?',
    ],
    'no fence before the flag': [sides(`${draw} ${put()} ${raise()}`, consumer), ''],
    'no fence after the flag': [sides(producer, `${drawOther} ${until()} ${get()}`), ''],
    'the flag before the item': [sides(`${draw} ${raise()} ${fence} ${put()}`, consumer), ''],
    'the item before the flag is seen': [sides(producer, `${drawOther} ${get()} ${until()} ${fence}`), ''],
    'several numbers of a thread': [sides(loop(producer), consumer), ''],
    'the same number twice': [sides(`${draw} ${loop(`${put()} ${fence} ${raise()}`)}`, consumer), ''],
    'another number before': [sides(`${loop(draw)} ${put()} ${fence} ${raise()}`, consumer), ''],
    'a counter of each block': [sides(producer.replace('global.add.u32 %r20, [t]', 'shared.add.u32 %r20, [s]'), consumer), ''],
    'a counter that goes back': [sides(`${producer} atom.global.add.u32 %r24, [t], -1;`, consumer), ''],
    'a counter that adds nothing': [sides(producer.replace('[t], 1', '[t], 0'), consumer), ''],
    'two numbers for one flag': [sides(`${draw} shr.u32 %r25, %r20, 1; ${put()} ${fence} ${raise('%r25')}`, consumer), ''],
    'flags that overlap': [sides(producer.replace('mul.wide.u32 %d32, %r20, 4', 'mul.wide.u32 %d32, %r20, 2'), consumer), ''],
    'a flag that another thread clears': [sides(producer, `${consumer} ${raise('%r9')}`), ''],
    'a number of the warp': [
      `${draw} shfl.sync.idx.b32 %r20, %r20, 0, 31, -1; ${put()} ${fence} ${raise()} ${consumer}`,
      '',
      { grid: [4, 1, 1], block: [32, 1, 1] },
    ],
    'an access without the number': [`${put('%r7')} ${sides(`${draw} ${fence} ${raise()}`, consumer)}`, ''],
    'an item of another thread of the block': [
      `setp.ne.s32 %p1, %r0, 0; @%p1 bra J; ${draw} st.shared.u32 [s], %r20; J: bar.sync 0; ld.shared.u32 %r26, [s]; ${put('%r26')} ${fence} bar.sync 0; setp.ne.s32 %p1, %r0, 0; @%p1 bra K; ${raise()} K: ${drawOther} ${until()} ${fence} ${get()}`,
      '',
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('slots that are taken by numbers do not race; slots next to them do', async () => {
  const options: CheckOptions = { grid: [8, 1, 1], block: [32, 1, 1], declarations: '.global .align 4 .b32 t[2];' };
  const cases: Readonly<Record<string, readonly [string, RegExp]>> = {
    'the slot that was seen': [sides(producer, consumer), /^proved/],
    'the next slot': [sides(producer, `${drawOther} add.u32 %r27, %r21, 1; ${until()} ${fence} ${get('%r27')}`), /^(?:race|possible)/],
    'the slot of a later number': [
      sides(producer, `${drawOther} ${until()} ${fence} ${loop(`${drawOther} ${get()}`)}`),
      /^(?:race|possible)/,
    ],
    'the next flag': [sides(`${draw} add.u32 %r27, %r20, 1; ${put()} ${fence} ${raise('%r27')}`, consumer), /^(?:race|possible)/],
    'an item of two words': [
      sides(producer.replace('st.global.u32 [%d30], %r6', 'st.global.u64 [%d30], %d1'), consumer),
      /^(?:race|possible)/,
    ],
  };
  for (const [name, [body, expected]] of Object.entries(cases)) {
    assert.match(await verdicts(body, options), expected, name);
  }
});
