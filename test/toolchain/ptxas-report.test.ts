import assert from 'node:assert/strict';
import test from 'node:test';
import { parsePtxasReport } from '../../src/toolchain/ptxas-report.ts';

test('the resources of each kernel are parsed', () => {
  const report = parsePtxasReport(`ptxas info    : 0 bytes gmem, 400 bytes cmem[3]
ptxas info    : Compiling entry function '_Z2k2Pf' for 'sm_80'
ptxas info    : Function properties for _Z2k2Pf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
ptxas info    : Compile time = 1.450 ms
ptxas info    : Compiling entry function '_Z1kPfi' for 'sm_80'
ptxas info    : Function properties for _Z6helperf
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for _Z1kPfi
    160 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 25 registers, used 1 barriers, 176 bytes cumulative stack size, 256 bytes smem, 364 bytes cmem[0], 8 bytes cmem[2]
`);
  assert.deepEqual([...report.keys()], ['_Z2k2Pf', '_Z1kPfi']);
  assert.deepEqual(report.get('_Z2k2Pf'), {
    registers: 8,
    stackBytes: 0,
    spillStoreBytes: 0,
    spillLoadBytes: 0,
    sharedBytes: 0,
    constantBytes: 360,
    barriers: 0,
  });
  assert.deepEqual(report.get('_Z1kPfi'), {
    registers: 25,
    stackBytes: 176,
    spillStoreBytes: 12,
    spillLoadBytes: 20,
    sharedBytes: 256,
    constantBytes: 372,
    barriers: 1,
  });
});

test('a report of older assemblers has no barriers, and damage is not a kernel', () => {
  const report = parsePtxasReport(`ptxas info    : Compiling entry function 'k' for 'sm_70'
ptxas info    : Used 12 registers, 32+16 bytes smem, 340 bytes cmem[0]
ptxas fatal   : no kernel here
ptxas info    : Used 3 registers`);
  assert.deepEqual([report.size, report.get('k')?.sharedBytes, report.get('k')?.barriers], [1, 32, 0]);
});
