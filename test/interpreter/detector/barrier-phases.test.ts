/** Phases of barriers of some threads: which runs show that every execution has the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BarrierPhases, countsOfBarriers } from '../../../src/interpreter/detector/barrier-phases.ts';
import { kernelOf } from '../../check/kernel-text.ts';

const [a, b, c, d] = [0, 1, 2, 3];

/** The phases of a block of four warps whose barriers wait for two; a warp arrives at once. */
class OfWarps {
  readonly phases = new BarrierPhases(128, new Map([1, 2].map((name) => [name, 64])));

  arrive(barrier: number, warp: number): void {
    for (const thread of lanesOf(warp)) this.phases.arrive(barrier, thread);
  }

  complete(barrier: number, warps: readonly number[]): void {
    this.phases.complete(barrier, warps.flatMap(lanesOf));
  }
}

const lanesOf = (warp: number): number[] => Array.from({ length: 32 }, (_, lane) => 32 * warp + lane);

/** Whether the phases are determined after some arrivals. */
function isDetermined(run: (of: OfWarps) => void): boolean {
  const warps = new OfWarps();
  run(warps);
  return warps.phases.isDetermined;
}

test('an arrival that may come before the phase is complete belongs to an unknown phase', () => {
  assert.ok(isDetermined((of) => of.complete(1, [a, b])));
  // Threads 2 and 3 might have waited for one of the others.
  assert.ok(
    !isDetermined((of) =>
      [
        [a, b],
        [c, d],
      ].forEach((pair) => of.complete(1, pair)),
    ),
  );
  // They have waited for one of the others at another barrier.
  assert.ok(
    isDetermined((of) =>
      [
        [1, [a, b]],
        [2, [b, c]],
        [1, [b, c]],
      ].forEach(([name, pair]) => of.complete(name as number, pair as number[])),
    ),
  );
  assert.ok(
    !isDetermined((of) =>
      [
        [1, [a, b]],
        [2, [b, c]],
        [1, [c, d]],
      ].forEach(([name, pair]) => of.complete(name as number, pair as number[])),
    ),
  );
});

test('a thread that arrives without waiting does not know that the phase is complete', () => {
  const handOver = (of: OfWarps): void => {
    of.arrive(1, a);
    of.complete(1, [b]);
  };
  assert.ok(isDetermined(handOver));
  assert.ok(!isDetermined((of) => [handOver, handOver].forEach((each) => each(of))));
  assert.ok(
    isDetermined((of) => {
      handOver(of);
      of.arrive(2, b);
      of.complete(2, [a]);
      handOver(of);
    }),
  );
});

test('a phase has the arrivals of the number of threads for which the barrier waits', () => {
  assert.ok(!isDetermined((of) => of.complete(1, [a, b, c])));
  assert.ok(!isDetermined((of) => of.complete(3, [a, b])));
  assert.ok(
    !isDetermined((of) => {
      of.arrive(1, a);
      of.complete(1, [a]);
    }),
  );
});

test('halves of four warps are not two warps', () => {
  const halves = [a, b, c, d].flatMap((warp) => lanesOf(warp).slice(0, 16));
  assert.ok(!isDetermined((of) => of.phases.complete(1, halves)));
});

test('a barrier has one number of threads, which are whole warps', () => {
  const counts = (body: string): unknown => countsOfBarriers(kernelOf(body), 128);
  assert.deepEqual(
    counts('bar.sync 0; bar.sync 1, 64; bar.arrive 1, 64;'),
    new Map([
      [0, 128],
      [1, 64],
    ]),
  );
  for (const body of [
    'bar.sync 1, 64; bar.sync 1, 96;',
    'bar.sync 1, 48;',
    'bar.sync %r0, 64;',
    'bar.sync 1, %r0;',
    'bar.red.or.pred %p1, 1, 64, %p2;',
  ])
    assert.equal(counts(body), null, body);
});
