/** Flags of all blocks, flags with several values, and flags that a loop looks at one after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leader, type OrderedCase, otherwiseOrdered } from './ordered.ts';

const fence = 'fence.acq_rel.gpu;';
const [bar, write, read] = ['bar.sync 0;', 'st.global.u32 [%d1], 1;', 'ld.global.u32 %r40, [%d1];'];
const at = (index: string, to: string): string => `mul.wide.u32 %d3${to}, ${index}, 4; add.s64 %d3${to}, %d2, %d3${to};`;
const own = at('%r6', '0');
const set = (value = 1): string => `st.volatile.global.u32 [%d30], ${value};`;
/** The flag with number `index` is seen. */
const see = (index = '%r0', test = 'eq.s32 %p2, %r20, 0'): string =>
  `${at(index, '1')} L: ld.volatile.global.u32 %r20, [%d31]; setp.${test}; @%p2 bra L;`;
const release = `${own} ${write} ${bar} ${leader(`${fence} ${set()}`, 'S')}`;
const guarded = (body: string, limit = '4', compare = 'ge.u32', index = '%r0'): string =>
  `setp.${compare} %p3, ${index}, ${limit}; @%p3 bra G; ${body} G:`;

/** `for (index = from; index < 4; index += step)`. */
const each = (body: string, from = '%r0', step = '64', limit = '4'): string =>
  `mov.u32 %r30, ${from}; H: setp.ge.u32 %p4, %r30, ${limit}; @%p4 bra F; ${body} add.s32 %r30, %r30, ${step}; bra H; F:`;

const grid = { block: [64, 1, 1], grid: [4, 1, 1] } as const;
const open = { block: [64, 1, 1], grid: null } as const;

test('a block whose threads see the flags of all blocks is after all of them', () => {
  const cases: Readonly<Record<string, OrderedCase>> = {
    'each thread sees one': [`${release} ${guarded(`${see()} ${fence}`)} ${bar} ${read}`, 'block grid', grid],
    'the number of blocks': [
      `mov.u32 %r50, %nctaid.x; ${release} ${guarded(`${see()} ${fence}`, '%r50')} ${bar} ${read}`,
      'block grid',
      grid,
    ],
    'a fence after the branch': [`${release} ${guarded(see())} ${fence} ${bar} ${read}`, 'block grid', grid],
    'a loop of all threads': [`${release} ${each(see('%r30'))} ${fence} ${bar} ${read}`, 'block grid', grid],
    'a loop of some threads': [
      `${release} ${guarded(`${each(see('%r30'), '%r0', '32')} ${fence}`, '32')} ${bar} ${read}`,
      'block grid',
      grid,
    ],
    'a loop of thread 0': [`${release} ${leader(`${each(see('%r30'), '0', '1')} ${fence}`, 'T')} ${bar} ${read}`, 'block grid', grid],
    'any number of blocks': [
      `mov.u32 %r50, %nctaid.x; ${release} ${each(see('%r30'), '%r0', '64', '%r50')} ${fence} ${bar} ${read}`,
      'block grid',
      open,
    ],
    'more blocks than threads': [
      `${release} ${guarded(`${see()} ${fence}`)} ${bar} ${read}`,
      'block? grid?',
      { ...grid, grid: [65, 1, 1] },
    ],
    'a flag fewer': [`${release} ${guarded(`${see()} ${fence}`, '3')} ${bar} ${read}`, 'block? grid?', grid],
    'from the second flag on': [
      `${release} ${guarded(guarded(see(), '1', 'lt.u32').replaceAll('G', 'Q'))} ${fence} ${bar} ${read}`,
      '',
      grid,
    ],
    'the flags of the next blocks': [
      `add.s32 %r51, %r0, 1; ${release} ${guarded(`${see('%r51')} ${fence}`)} ${bar} ${read}`,
      'block? grid?',
      grid,
    ],
    'every second flag': [`shl.b32 %r51, %r0, 1; ${release} ${guarded(`${see('%r51')} ${fence}`)} ${bar} ${read}`, 'block? grid?', grid],
    'a loop with a step that is too large': [
      `${release} ${each(see('%r30'), '%r0', '65', '400')} ${fence} ${bar} ${read}`,
      '',
      { ...grid, grid: [400, 1, 1] },
    ],
    'a loop of fewer threads than its step': [
      `${release} ${guarded(`${each(see('%r30'), '%r0', '64', '400')} ${fence}`, '32')} ${bar} ${read}`,
      '',
      { ...grid, grid: [400, 1, 1] },
    ],
    'a loop from the second flag on': [`${release} ${leader(`${each(see('%r30'), '1', '1')} ${fence}`, 'T')} ${bar} ${read}`, '', grid],
    'a loop that may end early': [
      `${release} ${each(`${see('%r30')} setp.eq.s32 %p5, %r9, 3; @%p5 bra F;`)} ${fence} ${bar} ${read}`,
      '',
      { ...grid, grid: [400, 1, 1] },
    ],
    'a loop that tests the last flag only': [
      `${release} ${each(`${at('%r30', '1')} ld.volatile.global.u32 %r20, [%d31];`)} setp.eq.s32 %p5, %r20, 0; @%p5 trap; ${fence} ${bar} ${read}`,
      '',
      { ...grid, grid: [400, 1, 1] },
    ],
    'a loop that tests the last look only': [
      `${release} mov.u32 %r30, %r0; H: ${at('%r30', '1')} ld.volatile.global.u32 %r20, [%d31]; setp.ge.u32 %p4, %r30, 400; @%p4 bra F;
        add.s32 %r30, %r30, 64; bra H; F: setp.eq.s32 %p5, %r20, 0; @%p5 bra Z; ${fence} ${bar} ${read} Z:`,
      'block? grid?',
      { ...grid, grid: [400, 1, 1] },
    ],
    'some launches only': [`${release} ${guarded(`${guarded(see(), '%r9').replaceAll('G', 'Q')} ${fence}`)} ${bar} ${read}`, '', grid],
    'a look that does not wait': [
      `${release} ${guarded(`${at('%r0', '1')} ld.volatile.global.u32 %r20, [%d31]; ${fence}`)} ${bar} ${read}`,
      '',
      grid,
    ],
    'no barrier': [`${release} ${guarded(`${see()} ${fence}`)} ${read}`, '', grid],
    'a barrier before the wait': [`${release} ${bar} ${guarded(`${see()} ${fence}`)} ${read}`, '', grid],
    'no fence': [`${release} ${guarded(see())} ${bar} ${read}`, '', grid],
    'a fence of the block': [`${release} ${guarded(`${see()} fence.acq_rel.cta;`)} ${bar} ${read}`, 'block', grid],
    'a fence before the wait': [`${release} ${guarded(`${fence} ${see()}`)} ${bar} ${read}`, '', grid],
    'no fence before the flag': [`${release.replace(fence, '')} ${guarded(`${see()} ${fence}`)} ${bar} ${read}`, '', grid],
    'a wait until it is not set': [`${release} ${guarded(`${see('%r0', 'ne.s32 %p2, %r20, 0')} ${fence}`)} ${bar} ${read}`, '', grid],
    'one block waits': [
      `${release} setp.ne.s32 %p6, %r6, 0; @%p6 bra Y; ${guarded(`${see()} ${fence}`)} ${bar} ${read} Y:`,
      'block grid',
      grid,
    ],
    'flags of another array': [`${release} ${guarded(`${see().replaceAll('%d2', '%d3')} ${fence}`)} ${bar} ${read}`, '', grid],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a flag may have several values', () => {
  const stages = (between = ''): string => `${own} ${leader(`${fence} ${set(1)} ${between} ${fence} ${set(2)}`, 'S')}`;
  const saw = (test: string, last = '0'): string => `${see(last, test)} ${fence} ${read}`;
  const [early, late] = [`${own} ${leader(`${write} ${fence} ${set(1)} ${fence} ${set(2)}`, 'S')}`, stages(write)];
  const either = `${own} ${leader(`setp.gt.s32 %p7, %r9, 3; @%p7 bra U; ${write} ${fence} ${set(1)} bra S; U: ${set(2)}`, 'S')}`;
  const unless = (body: string): string => `setp.eq.s32 %p5, %r20, 2; @%p5 bra M; ${body} M:`;
  const cases: Readonly<Record<string, OrderedCase>> = {
    'the second value after the write before it': [`${late} ${saw('ne.s32 %p2, %r20, 2')}`, 'block? grid?', grid],
    'any value after the write before the first': [`${early} ${saw('eq.s32 %p2, %r20, 0')}`, 'block? grid?', grid],
    'the second value after the write before the first': [`${early} ${saw('ne.s32 %p2, %r20, 2')}`, 'block? grid?', grid],
    'at least the second value': [`${late} ${saw('lt.u32 %p2, %r20, 2')}`, 'block? grid?', grid],
    'any value after the write before the second': [`${late} ${saw('eq.s32 %p2, %r20, 0')}`, '', grid],
    'the first value after the write before the second': [`${late} ${saw('ne.s32 %p2, %r20, 1')}`, '', grid],
    'the first value again': [`${late.replace(set(2), set(1))} ${saw('eq.s32 %p2, %r20, 0')}`, '', grid],
    'a value that is not known': [`${late.replace(set(1), 'st.volatile.global.u32 [%d30], %r9;')} ${saw('ne.s32 %p2, %r20, 2')}`, '', grid],
    'a second value of the block': [
      `${early.replace(set(2), 'st.relaxed.cta.global.u32 [%d30], 2;')} ${saw('eq.s32 %p2, %r20, 0')}`,
      '',
      grid,
    ],
    'a second value by another thread': [
      `${own} ${leader(`${write} ${fence} ${set(1)}`, 'S')} setp.ne.s32 %p7, %r0, 1; @%p7 bra V; ${set(2)} V: ${saw('eq.s32 %p2, %r20, 0')}`,
      '',
      grid,
    ],
    'one of two values': [`${either} ${saw('eq.s32 %p2, %r20, 0')}`, '', grid],
    'one of two values that one branch excludes': [`${either} ${saw('ne.s32 %p2, %r20, 1')}`, 'block? grid?', grid],
    'one of two values that two branches exclude': [`${either} ${see('0')} ${fence} ${unless(read)}`, 'block? grid?', grid],
    'two branches on two results': [`${either} ${see('0')} ld.volatile.global.u32 %r20, [%d31]; ${fence} ${unless(read)}`, '', grid],
    'two branches on two results, the other order': [
      `${either} ${at('0', '1')} ld.volatile.global.u32 %r20, [%d31]; ${unless(`${see('0')} ${fence} ${read}`)}`,
      '',
      grid,
    ],
    'one loop whose result another branch may exclude': [
      `${either} ${at('0', '1')} mov.u32 %r22, 0; L: ld.volatile.global.u32 %r20, [%d31]; setp.eq.s32 %p2, %r20, 0; @%p2 bra L; add.s32 %r22, %r22, 1;
        setp.eq.s32 %p5, %r20, 2; @%p5 bra L; setp.lt.s32 %p6, %r22, %r9; @%p6 bra K; ${fence} ${read} bra M; K: M:`,
      'block? grid?',
      grid,
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});

test('a loop that looks at one flag after the other is after those of this iteration', () => {
  const eachIteration = (body: string): string =>
    `mov.u32 %r30, %r6; H: setp.lt.s32 %p4, %r30, 1; @%p4 bra F; add.s32 %r30, %r30, -1; ${body} bra H; F:`;
  const released = `${own} ${leader(`${write} ${fence} ${set()}`, 'S')}`;
  const cases: Readonly<Record<string, OrderedCase>> = {
    'in the iteration': [`${released} ${eachIteration(`${see('%r30')} ${fence} ${read}`)}`, 'block? grid?', grid],
    'after an exit of the iteration': [
      `${released} ${eachIteration(`${see('%r30')} ${fence} setp.gt.s32 %p5, %r9, 4; @%p5 bra F; ${read}`)}`,
      'block? grid?',
      grid,
    ],
    'before the wait of the iteration': [`${released} ${eachIteration(`${read} ${see('%r30')} ${fence}`)}`, '', grid],
    'no fence': [`${released} ${eachIteration(`${see('%r30')} ${read}`)}`, '', grid],
    'a result of the previous iteration': [
      `${released} mov.u32 %r20, 0; ${eachIteration(`setp.eq.s32 %p5, %r20, 0; @%p5 bra N; ${fence} ${read} N: ${at('%r30', '1')} ld.volatile.global.u32 %r20, [%d31];`)}`,
      '',
      grid,
    ],
    'a result of the iteration before the last': [
      `${released} mov.u32 %r20, 0; mov.u32 %r30, %r6; H: setp.ne.s32 %p5, %r20, 0; @%p5 bra N; setp.lt.s32 %p4, %r30, 1; @%p4 bra F;
        add.s32 %r30, %r30, -1; ${at('%r30', '1')} ld.volatile.global.u32 %r20, [%d31]; bra H; N: ${fence} ${read} F:`,
      '',
      grid,
    ],
    'a result of this iteration, after the loop': [
      `${released} mov.u32 %r30, %r6; H: setp.lt.s32 %p4, %r30, 1; @%p4 bra F; add.s32 %r30, %r30, -1; ${at('%r30', '1')}
        ld.volatile.global.u32 %r20, [%d31]; setp.ne.s32 %p5, %r20, 0; @%p5 bra N; bra H; N: ${fence} ${read} F:`,
      'block? grid?',
      grid,
    ],
    'a look that does not wait': [
      `${released} ${eachIteration(`${at('%r30', '1')} ld.volatile.global.u32 %r20, [%d31]; ${fence} ${read}`)}`,
      '',
      grid,
    ],
  };
  assert.deepEqual(otherwiseOrdered(cases), []);
});
