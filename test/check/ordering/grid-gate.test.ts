/** Barriers of the grid that programs make of a counter: which code is one, and which is almost one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import { areExecutedByAll } from '../../../src/check/ordering/grid-gate.ts';
import { type CheckOptions, contextOf } from '../kernel-text.ts';

/** Number of gates that all blocks execute. */
function gatesOf(body: string, options: CheckOptions = { grid: [4, 1, 1] }): number {
  const { gates, kernel, dependences, loaded } = contextOf(body, options);
  const uniformity = inferUniformity(kernel, dependences, loaded, new Set(), 'grid');
  return areExecutedByAll(gates, kernel, dependences, uniformity) ? gates.length : 0;
}

type GateCase = readonly [body: string, gates: number, options?: CheckOptions];

function wrongOf(cases: Readonly<Record<string, GateCase>>): readonly string[] {
  return Object.entries(cases).flatMap(([name, [body, expected, options]]) => {
    const found = gatesOf(body, options);
    return found === expected ? [] : [`${name}: ${found}, not ${expected}`];
  });
}

const fence = 'fence.acq_rel.gpu;';
const bar = 'bar.sync 0;';
const add = 'atom.global.add.u32 %r20, [%d2], 1;';
let labels = 0;
const leader = (body: string): string => `setp.ne.s32 %p9, %r0, 0; @%p9 bra X${++labels}; ${body} X${labels}:`;
const poll = 'ld.volatile.global.u32 %r21, [%d2];';
const until = (goal: string, look = poll, test = 'lt.u32'): string =>
  `W${++labels}: ${look} setp.${test} %p2, %r21, ${goal}; @%p2 bra W${labels};`;
const gate = (body: string): string => `${bar} ${leader(body)} ${bar}`;
const up = (goal: string): string => gate(`${fence} ${add} ${until(goal)} ${fence}`);
const loop = (body: string, step = 1): string =>
  `mov.u32 %r30, 0; mov.u32 %r31, 0; R: ${body} add.s32 %r30, %r30, ${step}; setp.lt.s32 %p4, %r30, %r9; @%p4 bra R;`;

test('blocks that count up and wait for the number of all make a barrier of the grid', () => {
  const cases: Readonly<Record<string, GateCase>> = {
    'one wait': [up('4'), 1],
    'two waits': [`${up('4')} ${up('8')}`, 2],
    'a poll by an atomic': [gate(`${fence} ${add} ${until('4', 'atom.global.or.b32 %r21, [%d2], 0;')} ${fence}`), 1],
    'fences that are sequential': [gate(`fence.sc.gpu; ${add} ${until('4')} fence.sc.gpu;`), 1],
    'the second wait for the number of the first': [`${up('4')} ${up('4')}`, 0],
    'the second wait for one more': [`${up('4')} ${up('9')}`, 0],
    'a wait for one too few': [up('3'), 0],
    'a wait for the number of half of the blocks': [up('2'), 0],
    'another number': [up('%r9'), 0],
    'a grid of another size': [up('4'), 0, { grid: [5, 1, 1] }],
    'a grid of two axes': [up('8'), 1, { grid: [4, 2, 1] }],
    'an unknown grid': [up('4'), 0, {}],
    'no fence before': [gate(`${add} ${until('4')} ${fence}`), 0],
    'no fence after': [gate(`${fence} ${add} ${until('4')}`), 0],
    'fences of the block': [gate(`fence.acq_rel.cta; ${add} ${until('4')} fence.acq_rel.cta;`), 0],
    'a count of the block': [gate(`${fence} ${add.replace('atom.', 'atom.relaxed.cta.')} ${until('4')} ${fence}`), 0],
    'a poll of the block': [gate(`${fence} ${add} ${until('4', 'ld.relaxed.cta.global.u32 %r21, [%d2];')} ${fence}`), 0],
    'a weak poll': [gate(`${fence} ${add} ${until('4', 'ld.global.u32 %r21, [%d2];')} ${fence}`), 0],
    'a poll of another element': [gate(`${fence} ${add} ${until('4', 'ld.volatile.global.u32 %r21, [%d2+4];')} ${fence}`), 0],
    'a poll that changes the value': [gate(`${fence} ${add} ${until('4', 'atom.global.or.b32 %r21, [%d2], 1;')} ${fence}`), 0],
    'a wait in the other direction': [gate(`${fence} ${add} ${until('4', poll, 'ge.u32')} ${fence}`), 0],
    'a wait with a sign': [gate(`${fence} ${add} ${until('4', poll, 'lt.s32')} ${fence}`), 0],
    'a wait that may end earlier': [
      gate(`${fence} ${add} W: ${poll} setp.lt.u32 %p2, %r21, 4; setp.gt.s32 %p3, %r9, 3; @%p3 bra V; @%p2 bra W; V: ${fence}`),
      0,
    ],
    'a look without a wait': [gate(`${fence} ${add} ${poll} ${fence}`), 0],
    'a count of 2': [gate(`${fence} ${add.replace(', 1;', ', 2;')} ${until('4')} ${fence}`), 0],
    'a count in a loop': [gate(`${fence} Q: ${add} setp.lt.u32 %p3, %r20, %r9; @%p3 bra Q; ${until('4')} ${fence}`), 0],
    'a count by another thread': [`${bar} setp.ne.s32 %p9, %r0, 1; @%p9 bra X; ${fence} ${add} ${until('4')} ${fence} X: ${bar}`, 0],
    'a count by two threads': [`${bar} setp.ge.s32 %p9, %r0, 2; @%p9 bra X; ${fence} ${add} ${until('4')} ${fence} X: ${bar}`, 0],
    'no barrier before': [`${leader(`${fence} ${add} ${until('4')} ${fence}`)} ${bar}`, 0],
    'no barrier after': [`${bar} ${leader(`${fence} ${add} ${until('4')} ${fence}`)}`, 0],
    'a barrier of a part of the block after': [`${bar} ${leader(`${fence} ${add} ${until('4')} ${fence}`)} bar.sync 0, 32;`, 0],
    'a write of other threads in between': [`${bar} st.global.u32 [%d1], 1; ${leader(`${fence} ${add} ${until('4')} ${fence}`)} ${bar}`, 0],
    'threads that leave in between': [
      `${bar} ${leader(`${fence} ${add} ${until('4')} ${fence}`)} setp.gt.s32 %p5, %r9, 7; @%p5 ret; ${bar}`,
      0,
    ],
    'another path to the second barrier': [
      `setp.gt.s32 %p5, %r9, 7; @%p5 bra Z; ${bar} ${leader(`${fence} ${add} ${until('4')} ${fence}`)} Z: ${bar}`,
      0,
    ],
    'a reset later': [`${up('4')} ${leader('st.volatile.global.u32 [%d2], 0;')}`, 0],
    'a count elsewhere': [`${up('4')} ${add}`, 0],
    'a store that may be to the counter': [`${up('4')} mul.wide.s32 %d30, %r9, 4; add.s64 %d30, %d2, %d30; st.global.u32 [%d30], 3;`, 0],
    'thread 0 counts in some launches only': [
      `${bar} setp.ne.s32 %p9, %r0, 0; setp.gt.s32 %p8, %r9, 3; or.pred %p9, %p9, %p8; @%p9 bra X; ${fence} ${add} ${until('4')} ${fence} X: ${bar}`,
      0,
    ],
    'a poll that some paths skip': [
      `mov.u32 %r21, 4; ${gate(`${fence} ${add} setp.gt.s32 %p5, %r9, 7; @%p5 bra V; W: ${poll} V: setp.lt.u32 %p2, %r21, 4; @%p2 bra W; ${fence}`)}`,
      0,
    ],
    'some blocks only': [`setp.gt.s32 %p5, %r6, 1; @%p5 bra Z; ${up('4')} Z:`, 0],
    'blocks that agree': [`setp.gt.s32 %p5, %r9, 1; @%p5 bra Z; ${up('4')} Z:`, 1],
    'one of two': [`setp.gt.s32 %p5, %r9, 1; @%p5 bra Z; ${up('4')} bra Y; Z: ${up('8')} Y:`, 0],
    'a second one for some launches only': [`${up('4')} setp.gt.s32 %p5, %r9, 1; @%p5 bra Z; ${up('8')} Z:`, 2],
    'a first one for some launches only': [`setp.gt.s32 %p5, %r9, 1; @%p5 bra Z; ${up('4')} Z: ${up('8')}`, 0],
  };
  assert.deepEqual(wrongOf(cases), []);
});

test('in a loop the number grows with the iterations', () => {
  const goal = (by: number, first: number): string => `mad.lo.s32 %r32, %r31, ${by}, ${first}; add.s32 %r31, %r31, 1;`;
  const cases: Readonly<Record<string, GateCase>> = {
    'one wait in each iteration': [loop(`${goal(4, 4)} ${up('%r32')}`), 1],
    'two waits in each iteration': [loop(`mad.lo.s32 %r33, %r31, 8, 4; ${up('%r33')} ${goal(8, 8)} ${up('%r32')}`), 2],
    'one wait before the loop': [`${up('4')} ${loop(`${goal(4, 8)} ${up('%r32')}`)}`, 2],
    'the same number in each iteration': [loop(up('4')), 0],
    'a number that grows too slowly': [loop(`${goal(3, 4)} ${up('%r32')}`), 0],
    'a number that begins too low': [loop(`${goal(4, 0)} ${up('%r32')}`), 0],
    'one wait in some iterations': [loop(`${goal(4, 4)} setp.gt.s32 %p5, %r30, 3; @%p5 bra Z; ${up('%r32')} Z:`), 0],
    'iterations that depend on the block': [loop(`${goal(4, 4)} ${up('%r32')}`).replace('%r30, %r9', '%r30, %r6'), 0],
    'a number that a loop variable carries': [`mov.u32 %r32, 0; ${loop(`add.s32 %r32, %r32, 4; ${up('%r32')}`)}`, 1],
  };
  assert.deepEqual(wrongOf(cases), []);
});

test('the last block opens a generation', () => {
  const [own, look] = ['ld.volatile.global.u32 %r22, [%d2+4];', 'ld.volatile.global.u32 %r21, [%d2+4];'];
  const [clear, change] = ['st.volatile.global.u32 [%d2], 0;', 'atom.global.add.u32 %r23, [%d2+4], 1;'];
  const opened = (
    parts: Partial<Record<'own' | 'first' | 'count' | 'last' | 'second' | 'clear' | 'third' | 'change' | 'wait' | 'end', string>>,
  ): string => {
    const all = {
      own,
      first: fence,
      count: add,
      last: 'setp.ne.s32 %p3, %r20, 3;',
      second: '',
      clear,
      third: fence,
      change,
      wait: `W: ${look} setp.eq.s32 %p2, %r21, %r22; @%p2 bra W;`,
      end: fence,
      ...parts,
    };
    return gate(
      `${all.own} ${all.first} ${all.count} ${all.last} @%p3 bra W; ${all.second} ${all.clear} ${all.third} ${all.change} bra E; ${all.wait} E: ${all.end}`,
    );
  };
  const other = opened({}).replaceAll(/\b([WE])\b/g, 'SECOND$1');
  const [seen, skipped] = ['ld.global.u32 %r27, [%d3]; setp.gt.s32 %p7, %r27, 3;', 'or.pred %p9, %p9, %p7;'];
  const next = 'add.s32 %r24, %r22, 1; st.volatile.global.u32 [%d2+4], %r24;';
  const cases: Readonly<Record<string, GateCase>> = {
    'an addition': [opened({}), 1],
    'a weak reset': [opened({ clear: 'st.global.u32 [%d2], 0;' }), 1],
    'a store of the next number': [opened({ change: next }), 1],
    'in a loop': [loop(opened({})), 1],
    'two in a loop': [loop(`${opened({})} ${other}`), 2],
    'two in a loop, one for some values of memory': [loop(`${opened({})} ${seen} ${other.replace('%r0, 0;', `%r0, 0; ${skipped}`)}`), 0],
    'a store of the same number': [opened({ change: 'st.volatile.global.u32 [%d2+4], %r22;' }), 0],
    'a store of another number': [opened({ change: 'st.volatile.global.u32 [%d2+4], %r9;' }), 0],
    'a weak store': [opened({ change: next.replace('.volatile', '') }), 0],
    'an addition of 0': [opened({ change: change.replace(', 1;', ', 0;') }), 0],
    'no fence between the generation and the count': [opened({ own: `${fence} ${own}`, first: '' }), 0],
    'no fence between the count and the change': [opened({ third: '' }), 0],
    'a fence before the reset only': [opened({ second: fence, third: '' }), 0],
    'no fence at the end': [opened({ end: '' }), 0],
    'no reset': [opened({ clear: '' }), 0],
    'a reset to another number': [opened({ clear: 'st.volatile.global.u32 [%d2], 1;' }), 0],
    'a reset after the change': [opened({ clear: '', change: `${change} ${clear}` }), 0],
    'a reset by all': [opened({ clear: '', end: `${clear} ${fence}` }), 0],
    'the last but one': [opened({ last: 'setp.ne.s32 %p3, %r20, 2;' }), 0],
    'those that are not the last': [opened({ last: 'setp.eq.s32 %p3, %r20, 3;' }), 0],
    'no wait': [opened({ wait: 'W:' }), 0],
    'one look': [opened({ wait: `W: ${look}` }), 0],
    'a wait for the same generation': [opened({ wait: `W: ${look} setp.ne.s32 %p2, %r21, %r22; @%p2 bra W;` }), 0],
    'a wait for another element': [opened({ wait: `W: ${look.replace('+4', '+8')} setp.eq.s32 %p2, %r21, %r22; @%p2 bra W;` }), 0],
    'a generation that is read in the first iteration only': [loop(opened({ own: `setp.gt.s32 %p6, %r30, 0; @%p6 bra U; ${own} U:` })), 0],
    'a generation that is read once': [opened({ wait: 'W: setp.eq.s32 %p2, %r22, %r9; @%p2 bra W;' }), 0],
    'a generation that others change, too': [`${opened({})} ${leader(change)}`, 0],
    'a weak read of the generation': [opened({ own: own.replace('.volatile', '') }), 0],
    'the generation is the counter': [opened({}).replaceAll('[%d2+4]', '[%d2]'), 0],
  };
  assert.deepEqual(wrongOf(cases), []);
});

test('the highest bit of the counter opens it', () => {
  const added = (first: number, others = 1, test = 'eq.s32 %p3, %r6, 0'): string =>
    `setp.${test}; selp.b32 %r24, ${first}, ${others}, %p3; ${fence} atom.global.add.u32 %r20, [%d2], %r24;`;
  const wait = (test = 'setp.ge.s32 %p2, %r25, 0;'): string => `W: ${poll} xor.b32 %r25, %r20, %r21; ${test} @%p2 bra W;`;
  const rest = -(2 ** 31) - 3 + 2 ** 32;
  const masked = 'and.b32 %r26, %r25, -2147483648; setp.eq.s32 %p2, %r26, 0;';
  const cases: Readonly<Record<string, GateCase>> = {
    'by its sign': [gate(`${added(rest)} ${wait()} ${fence}`), 1],
    'by a mask': [gate(`${added(rest)} ${wait(masked)} ${fence}`), 1],
    'in a loop': [loop(gate(`${added(rest)} ${wait()} ${fence}`)), 1],
    'one too many': [gate(`${added(rest + 1)} ${wait()} ${fence}`), 0],
    'one too few': [gate(`${added(rest - 1)} ${wait()} ${fence}`), 0],
    'a grid of another size': [gate(`${added(rest)} ${wait()} ${fence}`), 0, { grid: [5, 1, 1] }],
    'steps of 2': [gate(`${added(rest, 2)} ${wait()} ${fence}`), 0],
    'the rest by another block': [gate(`${added(rest, 1, 'eq.s32 %p3, %r6, 1')} ${wait()} ${fence}`), 0],
    'the rest by a row of blocks': [gate(`${added(-(2 ** 31) - 11 + 2 ** 32)} ${wait()} ${fence}`), 0, { grid: [4, 3, 1] }],
    'another bit': [gate(`${added(rest)} ${wait(masked.replace('-2147483648', '1073741824'))} ${fence}`), 0],
    'a wait for the bit of before': [gate(`${added(rest)} ${wait('setp.lt.s32 %p2, %r25, 0;')} ${fence}`), 0],
    'a wait for the bit only': [gate(`${added(rest)} ${wait('setp.ge.s32 %p2, %r21, 0;')} ${fence}`), 0],
    'no fence after': [gate(`${added(rest)} ${wait()}`), 0],
    'no fence before': [gate(`${added(rest).replace(fence, '')} ${wait()} ${fence}`), 0],
    'a reset': [`${gate(`${added(rest)} ${wait()} ${fence}`)} ${leader('st.volatile.global.u32 [%d2], 0;')}`, 0],
  };
  assert.deepEqual(wrongOf(cases), []);
});
