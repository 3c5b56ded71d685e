/** Barriers of the grid, which wait for all threads of it: no thread may have returned. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { closeSolver, kernelOf, requestFor } from './kernel-text.ts';

after(closeSolver);

const name = '_ZNK18cooperative_groups10grid_group4syncEv';
const sync = `{ .param .b64 g; st.param.b64 [g], %d1; call.uni ${name}, (g); }`;

async function divergenceOf(body: string) {
  const kernel = kernelOf(body, `.extern .func ${name} (.param .b64 g);`);
  const options = { block: [64, 1, 1], grid: [4, 1, 1], launch: { cooperative: true } } as const;
  const { divergence } = await checkKernel(requestFor(kernel, options));
  return [divergence.verdict, ...divergence.findings.map(({ severity, confirmed }) => `${severity} ${confirmed}`)];
}

test('a grid barrier that all threads reach is proved', async () => {
  assert.deepEqual(await divergenceOf(sync), ['proved']);
});

test('a grid barrier after some threads of each block have returned is not proved', async () => {
  for (const half of ['and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 0;', 'setp.lt.s32 %p1, %r0, 32;'])
    assert.deepEqual(await divergenceOf(`${half} @!%p1 bra G; ${sync} G:`), ['divergent', 'error true'], half);
});

test('a grid barrier after some blocks have returned is not proved', async () => {
  assert.deepEqual(await divergenceOf(`setp.eq.s32 %p1, %r6, 3; @%p1 bra G; ${sync} G:`), ['divergent', 'error true']);
});
