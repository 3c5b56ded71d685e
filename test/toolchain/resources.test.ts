import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assembledUnit } from '../../src/toolchain/resources.ts';
import { nvcc } from './fixture.ts';

const sums = Array.from({ length: 40 }, (_, at) => `ld.global.u32 %r${at + 1}, [%rd1+${4 * at}];`);
const uses = Array.from({ length: 40 }, (_, at) => `st.global.u32 [%rd1+${4 * (39 - at)}], %r${at + 1};`);
const ptx = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<41>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [p];
  ${sums.join('\n  ')}
  bar.sync 0;
  ${uses.join('\n  ')}
  st.shared.u32 [s], %r1;
  ret;
}
`;
const limits = { milliseconds: 60_000, outputBytes: 1 << 20 };

test('a module is measured, with a register limit if one is given', async (t) => {
  if (!nvcc?.ptxas) return t.skip('no ptxas');
  const free = await assembledUnit(nvcc, ptx, 'sm_80', limits);
  assert.ok(!('reason' in free));
  const { sharedBytes, registers, barriers } = free.kernels.get('k')!;
  assert.deepEqual([sharedBytes, barriers], [256, 1]);
  assert.ok(registers > 32, String(registers));
  const capped = await assembledUnit(nvcc, ptx, 'sm_80', limits, undefined, 32);
  assert.ok(!('reason' in capped));
  assert.ok(capped.kernels.get('k')!.registers <= 32);
});

test('a unit whose functions are linked later is assembled, too', async (t) => {
  if (!nvcc?.ptxas) return t.skip('no ptxas');
  const separate = [
    '.version 7.0',
    '.target sm_80',
    '.address_size 64',
    '.extern .func other;',
    '.visible .entry k()',
    '{',
    '  call other;',
    '  ret;',
    '}',
    '',
  ].join('\n');
  const resources = await assembledUnit(nvcc, separate, 'sm_80', limits);
  assert.ok(!('reason' in resources) && resources.kernels.has('k'), JSON.stringify(resources));
});

test('without ptxas, or if it rejects the PTX, the reason is reported', async (t) => {
  if (!nvcc?.ptxas) return t.skip('no ptxas');
  const refused = await assembledUnit(nvcc, 'no PTX', 'sm_80', limits);
  const reason = "ptxas rejects it for sm_80: Missing .version directive at start of file 'unit.ptx'";
  assert.deepEqual(refused, { reason, isRefusal: true, ptxLine: 1 });
  const bare = { ...nvcc, ptxas: null };
  assert.deepEqual(await assembledUnit(bare, ptx, 'sm_80', limits), {
    reason: 'no ptxas was found next to nvcc',
    isRefusal: false,
  });
});

test('a refusal names the line or the kernel; PTX of a newer toolkit or architecture is not wrong', async (t) => {
  if (!nvcc?.ptxas) return t.skip('no ptxas');
  const of = (text: string): Promise<object> => assembledUnit(nvcc!, text, 'sm_80', limits);
  const { ptxLine, isRefusal } = (await of(ptx.replace('bar.sync 0;', 'bogus.sync 0;'))) as Record<string, unknown>;
  assert.deepEqual([ptxLine, isRefusal], [ptx.slice(0, ptx.indexOf('bar.sync')).split('\n').length, true]);
  assert.partialDeepStrictEqual(await of(ptx.replace('s[256]', 's[65536]')), { symbol: 'k', isRefusal: true });
  assert.partialDeepStrictEqual(await of(ptx.replace('.version 8.0', '.version 99.0')), { isRefusal: false });
  assert.partialDeepStrictEqual(await of(ptx.replace('sm_80', 'sm_90')), { isRefusal: false });
});
