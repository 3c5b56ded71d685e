import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunResult } from '../../../src/interpreter/core/run-result.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { runKernel } from '../../../src/interpreter/machine.ts';
import { orderedRequest } from './ordered-kernel.ts';

/** All results of a run. The faults of uninitialised cells are reported once each, for any continuation of the run. */
function summary({ outcome, steps, races, divergences, faults, readBytes }: RunResult): unknown {
  return { outcome, steps, races, divergences, faults, memory: [...readBytes(0, 0, 64)] };
}

test('shadow words filter only accesses that vector clocks need not process', () => {
  let racy = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const { ptx, ...request } = orderedRequest(seededRandom(seed));
    const all = runKernel({ ...request, backend: 'javascript' });
    const sifted = runKernel({ ...request, backend: 'webassembly' });
    assert.deepEqual(summary(sifted), summary(all), `seed ${seed}\n${ptx}`);
    if (all.races.length > 0) racy++;
  }
  assert.ok(racy > 20 && racy < 58, `${racy} of 60 race`);
});
