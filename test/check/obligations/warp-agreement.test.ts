/** Which lanes fail an obligation of an instruction that lanes execute together, lane by lane. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlDependence } from '../../../src/analysis/values/control-dependence.ts';
import { inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import { warpObligations } from '../../../src/check/obligations/warp-agreement.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import type { Term } from '../../../src/term/term.ts';
import { contextOf, store } from '../kernel-text.ts';

/** The value of the parameter n. */
const n = 5;

interface Answers {
  /** Pairs of different lanes that satisfy the conditions of some obligation. */
  readonly pairs: number;
  /** Lanes that satisfy the conditions of an obligation on one lane. */
  readonly lanes: number;
  /** Obligations that no condition expresses. */
  readonly open: number;
  /** Obligations that require all lanes. */
  readonly ofAll: number;
  readonly obligations: number;
}

function answersTo(body: string): Answers {
  const { symbolic, kernel, loaded, dimensions } = contextOf(`${body} ${store('%d1', '%r7', '%r0', 60)}`, { block: [32, 1, 1] });
  const dependences = controlDependence(kernel);
  const uniformity = inferUniformity(kernel, dependences, loaded, new Set());
  const list = warpObligations(symbolic, dependences, uniformity, dimensions);
  let [pairs, lanes] = [0, 0];
  for (const { paths } of list) {
    const holds = (a: number, b: number): boolean =>
      paths.some((conditions) =>
        conditions.every(({ term, reading }) => {
          const lane = reading.side === 1 ? a : b;
          const valueOf = ({ atom }: Term): number => {
            // Iterations of two lanes are independent only if they are free.
            if (atom?.kind === 'iteration') return reading.rounds[atom.loop] === 'free' && reading.side === 2 ? 4 : 0;
            return { thread: lane, parameter: n, 'block-size': 32 }[atom!.kind as string] ?? 0;
          };
          return evaluateTerm(term, (leaf) => BigInt(valueOf(leaf)), new Map()) === 1n;
        }),
      );
    const isOfTwo = paths.some((conditions) => conditions.some(({ reading }) => reading.side === 2));
    for (let a = 0; a < 32; a++)
      if (isOfTwo) for (let b = 0; b < 32; b++) pairs += a !== b && holds(a, b) ? 1 : 0;
      else lanes += holds(a, a) ? 1 : 0;
  }
  const open = list.filter(({ paths }) => paths.length === 0).length;
  return {
    pairs,
    lanes,
    open,
    ofAll: list.filter(({ byLane }) => byLane?.groups.every((group) => group === 0)).length,
    obligations: list.length,
  };
}

/** An instruction that the lanes below a limit execute. */
function below(limit: number | string, instruction: string): string {
  return `setp.ge.s32 %p1, %r0, ${limit}; @%p1 bra X; ${instruction} X:`;
}

const shuffle = (mask: string | number): string => `shfl.sync.idx.b32 %r1, %r0, 0, 31, ${mask};`;

test('each instruction with a mask has lanes that the mask names', () => {
  for (const instruction of [
    shuffle(255),
    'bar.warp.sync 255;',
    'vote.sync.ballot.b32 %r1, %p2, 255;',
    'vote.sync.any.pred %p3, %p2, 255;',
    'match.any.sync.b32 %r1, %r0, 255;',
    'redux.sync.add.u32 %r1, %r0, 255;',
    'elect.sync %r1|%p3, 255;',
  ]) {
    // Lane 7 is named, and each of the others waits for it.
    assert.deepEqual(answersTo(below(7, instruction)), { pairs: 7, lanes: 0, open: 0, ofAll: 0, obligations: 2 }, instruction);
    assert.deepEqual(answersTo(below(8, instruction)), { pairs: 0, lanes: 0, open: 0, ofAll: 0, obligations: 2 }, instruction);
    // Lane 8 executes it without being named.
    assert.deepEqual(answersTo(below(9, instruction)), { pairs: 0, lanes: 1, open: 0, ofAll: 0, obligations: 2 }, instruction);
  }
  assert.equal(answersTo(below(7, 'activemask.b32 %r1;')).obligations, 0);
});

test('without a mask, or with one of unknown lanes, all lanes execute the instruction', () => {
  const missing = { pairs: 7 * 25, lanes: 0, open: 0, ofAll: 1, obligations: 1 };
  for (const instruction of [shuffle(-1), 'shfl.idx.b32 %r1, %r0, 0, 31;', `${shuffle(-1)} ${shuffle(-1)}`])
    assert.deepEqual(answersTo(below(7, instruction)), missing, instruction);
  // Whether it names the lane that executes the instruction is unknown, too.
  assert.deepEqual(answersTo(below(7, shuffle('%r9'))), { ...missing, open: 1, obligations: 2 });
  assert.equal(answersTo(`setp.ge.s32 %p1, %r9, 3; @%p1 bra X; ${shuffle(-1)} X:`).obligations, 0);
});

test('a constant mask names runs of lanes', () => {
  const parted = (mask: number): number => answersTo(below(16, shuffle(mask))).lanes;
  assert.deepEqual(
    [0xffff, 0xff0f, 0xf0f0, 0x8001, 0x7fff, 0xfffe].map((mask) => parted(mask)),
    [0, 4, 8, 14, 1, 1],
  );
  // The uppermost lane has no limit above it.
  assert.deepEqual(answersTo(`setp.lt.s32 %p1, %r0, 24; @%p1 bra X; ${shuffle(0xff000000 | 0)} X:`).lanes, 0);
  assert.deepEqual(answersTo(`setp.lt.s32 %p1, %r0, 24; @%p1 bra X; ${shuffle(0x7f000000)} X:`).lanes, 1);
});

test('a mask of the lanes below a number that all threads share', () => {
  const mask = (one: number, by: string, add: number): string => `mov.u32 %r2, ${one}; shl.b32 %r2, %r2, ${by}; add.s32 %r2, %r2, ${add};`;
  const inBranch = (text: string, limit: string): Answers => answersTo(`${text} ${below(limit, shuffle('%r2'))}`);
  assert.deepEqual(inBranch(mask(1, '%r9', -1), '%r9'), { pairs: 0, lanes: 0, open: 0, ofAll: 0, obligations: 2 });
  assert.equal(inBranch(mask(1, '%r9', -1), '6').lanes, 1);
  assert.equal(inBranch(mask(1, '%r9', -1), '4').pairs, 4);
  for (const text of [mask(2, '%r9', -1), mask(1, '%r9', -2), mask(1, '%r0', -1)]) assert.equal(inBranch(text, '%r9').ofAll, 1, text);
});

test('a ballot names the lanes that execute it and satisfy its predicate', () => {
  const ballot = 'setp.lt.s32 %p2, %r0, 7; vote.sync.ballot.b32 %r2, %p2, -1;';
  const inBranch = (limit: number): Answers => answersTo(`${ballot} ${below(limit, shuffle('%r2'))}`);
  assert.deepEqual(inBranch(7), { pairs: 0, lanes: 0, open: 0, ofAll: 0, obligations: 2 });
  assert.equal(inBranch(6).pairs, 6);
  assert.equal(inBranch(8).lanes, 1);
  // A vote that returns one bit names no lanes.
  assert.equal(
    answersTo(`setp.lt.s32 %p2, %r0, 7; vote.sync.any.pred %p3, %p2, -1; selp.u32 %r2, 1, 0, %p3; ${below(7, shuffle('%r2'))}`).ofAll,
    1,
  );
});

test('the lanes that execute an instruction together stay together until the next branch', () => {
  for (const mask of ['activemask.b32 %r2;', 'match.any.sync.b32 %r2, %r9, -1;']) {
    assert.equal(answersTo(`${mask} ${below(7, shuffle('%r2'))}`).pairs, 7 * 25, mask);
    assert.equal(answersTo(below(7, `activemask.b32 %r2; ${shuffle('%r2')}`)).pairs, 0);
  }
  assert.equal(answersTo(`match.all.sync.b32 %r2|%p3, %r9, -1; ${below(7, shuffle('%r2'))}`).ofAll, 1);
});

test('in a loop, lanes of one mask may be in different iterations unless a mask synchronises them', () => {
  const loop = (mask: string): string => `mov.u32 %r20, 0; ROW: ${mask} setp.ge.s32 %p2, %r20, 3; @%p2 bra X;
    ${shuffle('%r2')} X: add.s32 %r20, %r20, 1; setp.lt.s32 %p4, %r20, %r9; @%p4 bra ROW;`;
  // Both at the branch in the loop and at its end.
  assert.equal(answersTo(loop('activemask.b32 %r2;')).pairs, 2 * 32 * 31);
  assert.equal(answersTo(loop('match.any.sync.b32 %r2, %r9, -1;')).pairs, 0);
});

test('the predicate of a ballot in a loop cannot be read after the loop', () => {
  const loop = (after: string): string => `mov.u32 %r20, 0; ROW: setp.lt.s32 %p2, %r0, %r20; vote.sync.ballot.b32 %r2, %p2, -1; ${after}`;
  const end = 'add.s32 %r20, %r20, 1; setp.lt.s32 %p4, %r20, %r9; @%p4 bra ROW;';
  assert.equal(answersTo(loop(`${end} ${shuffle('%r2')}`)).open, 1);
  assert.equal(answersTo(loop(`${shuffle('%r2')} ${end}`)).open, 0);
});

test('a lane that exits without waiting for others is only missing as a source of values', () => {
  const exits = (instruction: string, after = ''): readonly boolean[] => {
    const { symbolic, kernel, loaded, dimensions } = contextOf(`${below(7, instruction)} ${after}`, { block: [32, 1, 1] });
    const dependences = controlDependence(kernel);
    const list = warpObligations(symbolic, dependences, inferUniformity(kernel, dependences, loaded, new Set()), dimensions);
    return list.map(({ isOfExit }) => isOfExit);
  };
  assert.deepEqual(exits(shuffle(-1)), [true]);
  assert.deepEqual(exits(shuffle(-1), 'bar.sync 0;'), [false]);
  assert.deepEqual(exits(shuffle(-1), 'L: atom.global.add.u32 %r2, [%d1], 1; setp.eq.u32 %p4, %r2, 7; @%p4 bra L;'), [false]);
  assert.deepEqual(exits(shuffle(-1), 'atom.global.add.u32 %r2, [%d1], 1;'), [true]);
  assert.deepEqual(exits('bar.warp.sync -1;'), [false]);
  assert.deepEqual(exits('movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;'), [false]);
  // The shuffle does not represent the warp barrier next to it.
  assert.deepEqual(exits(`${shuffle(-1)} bar.warp.sync -1; ${shuffle(-1)}`), [true, false]);
});

test('masks that depend on the lane name the lanes that pass the same mask', () => {
  const part = (bits: number): string => `and.b32 %r3, %r0, 24; mov.u32 %r4, ${bits}; shl.b32 %r2, %r4, %r3;`;
  const inBranch = (bits: number, limit: number): Answers => answersTo(`${part(bits)} ${below(limit, shuffle('%r2'))}`);
  assert.deepEqual(inBranch(0xff, 8), { pairs: 0, lanes: 0, open: 0, ofAll: 0, obligations: 1 });
  assert.equal(inBranch(0xff, 16).pairs, 0);
  // Lane 7 is missing for the others of its part.
  assert.equal(inBranch(0xff, 7).pairs, 7);
  assert.equal(inBranch(0x7f, 32).open, 1);
  assert.equal(inBranch(0x1ff, 8).ofAll, 1);
});
