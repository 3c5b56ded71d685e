import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureResources, parseResourceUsage } from '../../../src/toolchain/resource-usage.ts';
import { nvcc } from './fixture.ts';

const printed = `ptxas info    : 8 bytes gmem
ptxas info    : Compiling entry function '_Z1bPf' for 'sm_80'
ptxas info    : Function properties for _Z1bPf
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 4.331 ms
ptxas info    : Compiling entry function 'a' for 'sm_80'
ptxas info    : Function properties for helper
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
`;

test('what ptxas prints is read by kernel', () => {
  assert.deepEqual(
    [...parseResourceUsage(printed)],
    [
      ['_Z1bPf', { registers: 255, spillBytes: 32, sharedBytes: 1024 }],
      ['a', { registers: 8, spillBytes: 0, sharedBytes: 0 }],
    ],
  );
  assert.equal(parseResourceUsage('ptxas fatal: no').size, 0);
});

const ptx = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  st.shared.u32 [s], %r1;
  st.global.u32 [%rd1], %r1;
  ret;
}
`;

test('a module is measured, and one that ptxas refuses is not', async (t) => {
  if (!nvcc?.ptxas) return t.skip('no ptxas');
  const common = { compiler: nvcc, arch: 'sm_80', limits: { milliseconds: 60_000, outputBytes: 1 << 20 } };
  const usage = await measureResources({ ...common, ptx });
  assert.equal(usage?.get('k')?.sharedBytes, 256);
  assert.ok((usage?.get('k')?.registers ?? 0) > 0);
  assert.equal(await measureResources({ ...common, ptx: 'no PTX' }), null);
  assert.equal(await measureResources({ ...common, arch: '-o', ptx }), null);
  assert.equal(await measureResources({ ...common, compiler: { ...nvcc, ptxas: null }, ptx }), null);
});
