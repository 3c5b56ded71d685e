/** Why threads compute the same index from a number that an atomic operation returns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { causeOfIndex, sourceOfIndex } from '../../../src/check/advice/shared-index.ts';
import type { InstructionId } from '../../../src/ir/form/kernel.ts';
import { kernelOf, requestFor, store } from '../kernel-text.ts';

const lane = 'and.b32 %r1, %r0, 31;';
/** Lane `by` counts `added` at `counter`, and a shuffle of `source` and the segment gives the result to the others. */
const draw = (by: number, added: string, source: string, segment = 31, counter = 'global'): string => `${lane}
  mov.u32 %r2, 0; setp.ne.u32 %p1, %r1, ${by}; @%p1 bra J; atom.${counter}.add.u32 %r2, [${counter === 'global' ? '%d2' : 's'}], ${added};
  J: shfl.sync.idx.b32 %r3, %r2, ${source}, ${segment}, -1;`;
const put = (index: string): string => `${index} ${store('%d1', '%r4', '%r0', 10)}`;
const atLane = put('add.u32 %r4, %r3, %r1;');

interface Threads {
  readonly first?: number;
  readonly second?: number;
  readonly blocks?: readonly [number, number];
  readonly size?: number;
  readonly hasUndefined?: boolean;
  /** Whether the two threads execute two statements. */
  readonly isOfTwo?: boolean;
}

/** The cause for two threads of blocks of 128, in words. */
function causeOf(
  body: string,
  { first = 0, second = 32, blocks = [0, 0], size = 128, hasUndefined = false, isOfTwo = false }: Threads = {},
): string {
  const context = kernelContext(requestFor(kernelOf(body), { block: [size, 1, 1], grid: [4, 1, 1] }));
  const access = context.accesses.findLast(({ operation }) => operation === 'write')!;
  const source = sourceOfIndex(context, access);
  if (!source) return 'no source';
  const cause = causeOfIndex(
    context,
    [isOfTwo ? context.accesses.find(({ operation }) => operation === 'write')! : access, access],
    source,
    {
      first: { thread: [first, 0, 0], block: [blocks[0], 0, 0] },
      second: { thread: [second, 0, 0], block: [blocks[1], 0, 0] },
      block: [size, 1, 1],
      undefinedReads: new Set<InstructionId>(hasUndefined ? [source.by.id] : []),
    },
  );
  switch (cause?.kind) {
    case 'lane':
      return `lane ${cause.lane} reads ${cause.source}, not ${cause.reads ?? 'one of several'}`;
    case 'count':
      return `adds ${cause.added}, not ${cause.needed}`;
    case 'number':
      return `one number${cause.isRepeated ? ' in iterations' : ''}`;
    default:
      return cause?.kind ?? 'unknown';
  }
}

test('the cause of a shared index follows from who counts, how much, and who reads the number', () => {
  const loop = (body: string): string => `mov.u32 %r20, 0; L: ${body} add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3; @%p3 bra L;`;
  const cases: Readonly<Record<string, readonly [body: string, expected: string, threads?: Threads]>> = {
    'an addend for all lanes': [draw(0, '32', '0') + atLane, 'unknown'],
    'one too few': [draw(0, '31', '0') + atLane, 'adds 31, not 32'],
    'a step for two elements': [draw(0, '15', '0') + put('shl.b32 %r4, %r3, 1; add.u32 %r4, %r4, %r1;'), 'adds 15, not 16'],
    'enough steps for two elements': [draw(0, '16', '0') + put('shl.b32 %r4, %r3, 1; add.u32 %r4, %r4, %r1;'), 'unknown'],
    'fewer lanes write': [`${draw(0, '8', '0')} setp.ge.u32 %p2, %r1, 8; @%p2 bra END; ${atLane} END:`, 'unknown'],
    'a counter that falls': [draw(0, '-32', '0') + atLane, 'unknown'],
    'an unknown addend': [draw(0, '%r9', '0') + atLane, 'unknown'],
    'an index that does not grow with the number': [draw(0, '31', '0') + put('and.b32 %r4, %r3, 7; add.u32 %r4, %r4, %r1;'), 'unknown'],
    'another lane': [draw(0, '32', '1') + atLane, 'lane 0 reads 1, not 0'],
    'the lane of the second thread': [draw(0, '32', '0', 0x101f) + atLane, 'lane 20 reads 16, not 0', { second: 52 }],
    'the lane of the first thread': [draw(0, '32', '0', 0x101f) + atLane, 'lane 17 reads 16, not 0', { first: 17 }],
    'a lane outside of the segment reads itself': [draw(0, '31', '9', 0x7) + atLane, 'adds 31, not 32'],
    'several lanes count': [
      `${lane} mov.u32 %r2, 0; setp.gt.u32 %p1, %r1, 1; @%p1 bra J; atom.global.add.u32 %r2, [%d2], 32;
      J: shfl.sync.idx.b32 %r3, %r2, 2, 31, -1; ${atLane}`,
      'lane 0 reads 2, not one of several',
    ],
    'a counter of each block': [draw(0, '32', '0', 31, 'shared') + atLane, 'block', { second: 0, blocks: [0, 1] }],
    'a counter of the block': [draw(0, '32', '0', 31, 'shared') + atLane, 'unknown'],
    'a counter of all blocks': [draw(0, '32', '0') + atLane, 'unknown', { second: 0, blocks: [0, 1] }],
    'one element of two lanes': [draw(0, '32', '0') + put('shr.u32 %r4, %r1, 1; add.u32 %r4, %r4, %r3;'), 'one number', { second: 1 }],
    'two elements of two lanes': [draw(0, '32', '0') + atLane, 'unknown', { second: 1 }],
    'a number for several iterations': [
      draw(0, '32', '0') + loop(put('add.u32 %r4, %r1, %r20; and.b32 %r4, %r4, 31; add.u32 %r4, %r4, %r3;')),
      'one number in iterations',
      { second: 1 },
    ],
    'a number in each iteration': [loop(draw(0, '32', '0') + atLane), 'unknown', { second: 1 }],
    'a wrong lane, and an undefined value': [draw(0, '32', '1') + atLane, 'lane 0 reads 1, not 0', { hasUndefined: true }],
    'an undefined value of a lane that does not exist': [
      draw(0, '32', '31') + atLane,
      'undefined',
      { first: 96, second: 97, size: 120, hasUndefined: true },
    ],
    'an undefined value': [draw(0, '32', '0') + atLane, 'undefined', { hasUndefined: true }],
    'two values': [
      `${draw(0, '16', '0').replace('J: shfl', 'J: atom.global.add.u32 %r5, [%d2+4], 1; add.u32 %r2, %r2, %r5; shfl')} ${atLane}`,
      'unknown',
    ],
    'a number of the first thread for its block': [
      `setp.ne.u32 %p1, %r0, 0; @%p1 bra J; atom.global.add.u32 %r2, [%d2], 100; st.shared.u32 [s], %r2; J: bar.sync 0; ld.shared.u32 %r3, [s];
      ${put('add.u32 %r4, %r3, %r0;')}`,
      'adds 100, not 128',
      { first: 100, second: 0, blocks: [0, 1] },
    ],
    'a number for two statements of one thread': [
      `atom.global.add.u32 %r3, [%d2], 1; ${put('mov.u32 %r4, %r3;')} ${put('add.u32 %r4, %r3, 1;')}`,
      'adds 1, not 2',
      { second: 1, isOfTwo: true },
    ],
    'a number for each thread': [`atom.global.add.u32 %r3, [%d2], 1; ${put('shl.b32 %r4, %r3, 1;')}`, 'unknown'],
    'no number': [put('mov.u32 %r4, %r9;'), 'no source'],
  };
  const wrong = Object.entries(cases).filter(([, [body, expected, threads]]) => causeOf(body, threads) !== expected);
  assert.deepEqual(
    wrong.map(([name, [body, , threads]]) => `${name}: ${causeOf(body, threads)}`),
    [],
  );
});
