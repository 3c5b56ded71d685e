/** Repairs whose place is in a header of the repository: edited once, and verified in all units that include it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compareText } from '../../src/base/text.ts';
import type { Report } from '../../src/report-model/report.ts';
import { selvage } from '../app/commands/in-process.ts';
import { temporaryFolder, withoutNvcc, writeFiles } from '../toolchain/fixture.ts';

const step = `#pragma once
inline __device__ void step(int* a, int t) {
    int mine = a[t + 1];
    a[t] = mine;
}
`;
const shift = `#pragma once
#include "step.cuh"
template <typename T>
__global__ void shift(T* a) {
    T mine = a[threadIdx.x + 1];
    a[threadIdx.x] = mine;
}
`;
const rotate = `#include "detail/shift.cuh"
__global__ void rotate(int* a) {
    step(a, threadIdx.x);
}
void run(int* a) { rotate<<<1, 64>>>(a); shift<int><<<1, 64>>>(a); }
`;
const configuration = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.selvage.yml': 'version: 1\nnvcc:\n  args: [-Idetail]\n',
};

test('a header is edited once, for the kernels of all translation units', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, {
    ...configuration,
    'detail/step.cuh': step,
    'detail/shift.cuh': shift,
    'rotate.cu': rotate,
    'more/float.cu': '#include <shift.cuh>\nvoid run(float* a) { shift<float><<<1, 128>>>(a); }\n',
    'broken.cu': '#include "detail/step.cuh"\nno program\n',
  });
  const kernels = await repair(folder, '--write', 'rotate.cu', 'more/float.cu');
  const reach = 'verified in all 2 units that include it and compile: more/float.cu, rotate.cu (broken.cu does not)';
  const [inShift, inStep] = ['shift.cuh, add `__syncthreads()` after line 5', 'step.cuh, add `__syncthreads()` after line 3'];
  assert.deepEqual(
    kernels
      .map(({ name, repair: { reason = '', edits = [] } }) => [name, reason, edits.map(({ file }) => file)])
      .sort(([one], [other]) => compareText(String(one), String(other))),
    [
      ['rotate(int*)', `in detail/${inStep}; ${reach}`, ['detail/step.cuh']],
      [
        'shift<float>(float*)',
        `in detail/${inShift}; ${reach.replace(' and compile', '').replace(/ \(broken.*/, '')}`,
        ['detail/shift.cuh'],
      ],
      ['shift<int>(int*)', `in detail/${inShift}; ${reach.replace(' and compile', '').replace(/ \(broken.*/, '')}`, ['detail/shift.cuh']],
    ],
  );
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  assert.equal(read('detail/step.cuh'), step.replace('    a[t] =', '    __syncthreads();\n    a[t] ='));
  assert.equal(read('detail/shift.cuh'), shift.replace('    a[th', '    __syncthreads();\n    a[th'));
  assert.equal(read('rotate.cu'), rotate);
  for (const { race, divergence } of await repair(folder, 'rotate.cu', 'more/float.cu'))
    assert.deepEqual([race.verdict, divergence.verdict], ['proved', 'proved']);
});

test('a header is not edited if a kernel of another unit gets worse', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, {
    ...configuration,
    'detail/step.cuh': step,
    'detail/shift.cuh': shift,
    'rotate.cu': rotate.replace(' shift<int><<<1, 64>>>(a);', ''),
    'single.cu': `#include "detail/step.cuh"
// selvage: block=64 grid=1
__global__ void single(int* a) {
    if (threadIdx.x == 0) {
        step(a, 0);
    }
}
`,
  });
  const [kernel] = await repair(folder, 'rotate.cu');
  assert.equal(kernel?.repair.edits, undefined);
  assert.match(kernel?.repair.reason ?? '', /in detail\/step\.cuh, .*the edit also changes the kernel `single/);
});

test('a header included by very many translation units is not edited', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  const units = Array.from({ length: 16 }, (_, index) => [`unit${index}.cu`, '#include "detail/shift.cuh"\n']);
  const own = { 'detail/step.cuh': step, 'detail/shift.cuh': shift, 'rotate.cu': rotate };
  writeFiles(folder, { ...configuration, ...own, ...(Object.fromEntries(units) as Record<string, string>) });
  const kernels = await repair(folder, 'rotate.cu');
  assert.deepEqual(
    kernels.map((kernel) => kernel.repair.edits),
    [undefined, undefined],
  );
  const reasons = kernels.map((kernel) => kernel.repair.reason ?? '');
  assert.ok(
    reasons.some((reason) => /17 units include that file, more than Selvage builds/.test(reason)),
    reasons.join('\n'),
  );
  assert.ok(
    reasons.some((reason) => /^17 units include detail\/shift\.cuh, more than Selvage builds/.test(reason)),
    reasons.join('\n'),
  );
});

test('macros of headers are known: device functions, barriers, statements', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  const sum = `#include "detail/common.h"
DEVICE int both(int *s, int t) {
    s[t] = t;
    return s[t ^ 1];
}
__global__ void turn(int *a) {
    __shared__ int s[64];
    a[threadIdx.x] = both(s, threadIdx.x);
    s[threadIdx.x] = 0;
    SYNC();
    a[threadIdx.x] += s[threadIdx.x ^ 1];
}
__global__ void hand(int *a) {
    __shared__ int s[64];
    MIRROR(s, a);
}
void run(int *a) { turn<<<1, 64>>>(a); hand<<<1, 64>>>(a); }
`;
  const common = `#define DEVICE __device__ __forceinline__
#define SYNC() __syncthreads()
#define MIRROR(s, a) s[threadIdx.x] = a[threadIdx.x]; a[threadIdx.x] = s[63 - threadIdx.x]
`;
  writeFiles(folder, { ...configuration, 'detail/common.h': common, 'sum.cu': sum });
  const kernels = await repair(folder, '--write', 'sum.cu');
  assert.deepEqual(kernels.map((kernel) => kernel.repair.reason ?? '').sort(compareText), [
    'add `__syncwarp()` after line 3, after line 8',
    'write out the macro `MIRROR` on line 15, and add `SYNC()` after line 15',
  ]);
  assert.equal(
    readFileSync(join(folder, 'sum.cu'), 'utf8'),
    sum
      .replace('s[t] = t;\n', 's[t] = t;\n    __syncwarp();\n')
      .replace('threadIdx.x);\n    s', 'threadIdx.x);\n    __syncwarp();\n    s')
      .replace('MIRROR(s, a);', 's[threadIdx.x] = a[threadIdx.x];\n    SYNC();\n    a[threadIdx.x] = s[63 - threadIdx.x];'),
  );
});

async function repair(folder: string, ...words: readonly string[]): Promise<Report['kernels']> {
  const { stdout } = await selvage(['repair', ...words, '--format', 'json'], folder);
  return (JSON.parse(stdout) as Report).kernels;
}
