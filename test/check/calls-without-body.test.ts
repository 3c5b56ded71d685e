/** Calls of functions without a body, which are assumed to have no effect unless they get an address. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { closeSolver, kernelOf, requestFor } from './kernel-text.ts';

after(closeSolver);

/** Verdicts of a kernel that calls a function with a register, and whether each assumes that calls have no effect. */
async function handing(type: 'b32' | 'b64', register: string, before = ''): Promise<string> {
  const call = `{ .param .${type} p; st.param.${type} [p], ${register}; call.uni report, (p); }`;
  const kernel = kernelOf(`${before} ${call}`, `.extern .func report (.param .${type} p);`);
  const { race, divergence } = await checkKernel(requestFor(kernel, { grid: [1, 1, 1] }));
  const assumed = [race, divergence].map(({ assumptions }) => assumptions?.some(({ kind }) => kind === 'no-effect') ?? false);
  return [race.verdict, divergence.verdict, ...assumed].join(' ');
}

test('integer arguments give a callee no access to memory', async () => {
  assert.equal(await handing('b32', '%r0'), 'proved proved true true');
  assert.equal(await handing('b32', '%r1', 'ld.global.u32 %r1, [%d1];'), 'proved proved true true');
});

test('address arguments give a callee access to memory, and loaded values may', async () => {
  for (const [register, before] of [
    ['%d1', ''],
    ['%d10', 'add.s64 %d10, %d1, 4;'],
    ['%d10', 'ld.global.u64 %d10, [%d1];'],
    ['%d10', 'mov.u64 %d10, s; cvta.shared.u64 %d10, %d10;'],
  ] as const)
    assert.equal(await handing('b64', register, before), 'unknown unknown false false', before);
  for (const store of [
    'st.global.u64 [%d2], %d1;',
    'ld.global.u64 %d10, [%d2]; st.shared.u64 [s], %d10;',
    'atom.global.exch.b64 %d10, [%d2], %d1;',
  ])
    assert.equal(await handing('b32', '%r0', store), 'unknown unknown false false', store);
  assert.equal(await handing('b32', '%r0', 'st.global.u64 [%d2+64], 7;'), 'proved proved true true');
  // The low half of an address.
  assert.equal(await handing('b32', '%r1', 'cvt.u32.u64 %r1, %d1;'), 'unknown unknown false false');
});
