/** A sample of what `weakenings.ts` goes through: what lacks an order, a scope or a fence is proved no more. */
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
  test(`kernels of ${name}.cu are proved no more once an order is weakened`, async () => {
    const { counts, proved } = await weakenFile(`test/kernels/memory-model/${name}.cu`, every);
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    assert.ok(all >= 4, `${all} weakened kernels`);
    // To acquire and to release is all that a hand-over needs.
    assert.deepEqual(proved.filter((line) => !/fence\.sc\.\w+; -> fence\.acq_rel/.test(line)), []); // oxfmt-ignore
    assert.ok((counts['race'] ?? 0) >= all - 2, JSON.stringify(counts));
  });
