/** A sample of the kernels of `weakenings.ts`: one that lacks an order, a scope or a fence is not proved any more. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeSolver } from '../check/kernel-text.ts';
import { weakenFile } from './weakenings.ts';

after(closeSolver);

for (const [name, every] of [
  ['lock', 6],
  ['flag', 6],
  ['ticket-lock', 5],
  ['last-block', 4],
] as const)
  test(`kernels of ${name}.cu are not proved any more once an order is weakened`, async () => {
    const { counts, proved } = await weakenFile(`test/kernels/memory-model/${name}.cu`, every);
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    assert.ok(all >= 4, `${all} weakened kernels`);
    // Release and acquire suffice for message passing.
    assert.deepEqual(
      proved.filter((line) => !/fence\.sc\.\w+; -> fence\.acq_rel/.test(line)),
      [],
    );
    assert.ok((counts['race'] ?? 0) >= all - 2, JSON.stringify(counts));
  });
