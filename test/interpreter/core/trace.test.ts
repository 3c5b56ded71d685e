/** Entries of a trace for the chosen threads: their own accesses and values, regardless of interleaved threads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKernel } from '../../../src/interpreter/machine.ts';
import { Trace, type TraceEntry } from '../../../src/interpreter/trace.ts';
import { kernelOf, load, store } from '../../check/kernel-text.ts';

const kernel = kernelOf(`${load('%r1', '%d1', '%r0', 20)}
shfl.sync.down.b32 %r2|%p1, %r1, 1, 31, -1;
setp.lt.u32 %p2, %r0, 1;
@%p2 bra LEADS;
mov.u32 %r10, 0;
LOOP:
add.u32 %r10, %r10, 1;
setp.lt.u32 %p3, %r10, 40;
@%p3 bra LOOP;
LEADS:
bar.sync 0;
${store('%d2', '%r0', '%r2', 22)}`);

function traced(seed: number | undefined, isTold?: ConstructorParameters<typeof Trace>[2]) {
  const entries: TraceEntry[] = [];
  const trace = new Trace(
    (_, [x]) => x === 0,
    (entry) => void entries.push(entry),
    isTold,
  );
  const values = new Map(Array.from({ length: 64 }, (_, index) => [index, BigInt(index + 100)]));
  const result = runKernel({
    kernel,
    block: [64, 1, 1],
    grid: [1, 1, 1],
    sharedBytes: 0,
    buffers: [
      { name: 'a', bytes: 256, elementBytes: 4, fill: 0n, values },
      { name: 'b', bytes: 256, elementBytes: 4, fill: 0n, values: new Map() },
    ],
    arguments: [
      { kind: 'pointer', buffer: 0, offset: 0n },
      { kind: 'pointer', buffer: 1, offset: 0n },
      { kind: 'scalar', value: 0n },
      { kind: 'scalar', value: 0n },
    ],
    steps: 100_000,
    detectRaces: false,
    observer: trace,
    ...(seed !== undefined && { seed }),
  });
  trace.finish();
  assert.equal(result.outcome, 'finished');
  return { entries, result };
}

const kindOf = ({ place }: TraceEntry): string => ('operation' in place ? place.operation.effect.kind : place.kind);

// Default schedule, another order of warps, interleaved instructions, and delayed stores.
for (const seed of [undefined, 3, 1000, 1001, 1005]) {
  test(`the accesses of a thread are its own, also while it waits for an exchange: seed ${seed}`, () => {
    const { entries } = traced(seed);
    const at = entries.findIndex((entry) => kindOf(entry) === 'shuffle');
    const exchange = entries[at];
    const read = entries.slice(0, at).findLast((entry) => kindOf(entry) === 'load');
    const written = entries.slice(at).find((entry) => kindOf(entry) === 'store');
    assert.deepEqual(read?.accesses, [{ operation: 'read', bytes: 4, object: 'a', offset: 0 }]);
    assert.deepEqual(exchange?.accesses, []);
    assert.equal(exchange?.writes[0]?.value, 101n);
    assert.deepEqual(written?.accesses, [{ operation: 'write', bytes: 4, object: 'b', offset: 0 }]);
  });

  test(`instructions that are not requested do not change the others: seed ${seed}`, () => {
    const whole = traced(seed);
    const some = traced(seed, (place) => 'operation' in place && place.operation.effect.kind !== 'pure');
    const asked = whole.entries.filter((entry) => 'operation' in entry.place && kindOf(entry) !== 'pure');
    assert.ok(asked.length >= 4 && asked.length < whole.entries.length);
    assert.deepEqual(some.entries, asked);
    assert.equal(some.result.steps, whole.result.steps);
  });
}
