/** Code that `selvage repair` does not edit, and the reported reasons. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Report } from '../../../src/report-model/report.ts';
import { temporaryFolder, withoutNvcc, writeFiles } from '../../toolchain/fixture.ts';
import { selvage } from './in-process.ts';

const body = `{
    int mine = a[threadIdx.x + 1];
    a[threadIdx.x] = mine;
}
`;
const kernel = `// selvage: block=64 grid=1\n__global__ void shift(int* a) ${body}`;

interface Case {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** The reported reason why no kernel of `shift.cu` is edited. */
  readonly says: RegExp;
}

const cases: readonly Case[] = [
  {
    what: 'a kernel that a macro writes',
    files: {
      'shift.cu': `#define SHIFT(name) __global__ void name(int* a) { int mine = a[threadIdx.x + 1]; a[threadIdx.x] = mine; }\nSHIFT(shift)\n`,
    },
    says: /^the kernel on line 2 is defined by a macro, and Selvage does not edit macros$/,
  },
  {
    what: 'accesses that a macro writes',
    files: {
      'shift.cu': `#define STEP(a, t) { int t##_mine = a[threadIdx.x + 1]; a[threadIdx.x] = t##_mine; }\n__global__ void shift(int* a) {\n    STEP(a, own)\n}\n`,
    },
    says: /the accesses of line 3 are inside the macro STEP, which is not written out because its definition holds `#`, `##`/,
  },
  {
    what: 'a kernel in a header that a generator wrote',
    files: { 'shift.cu': '#include "shift.cuh"\n', 'shift.cuh': kernel.replace('{\n', '{\n#line 4 "shift.cuh"\n') },
    says: /^shift\.cuh contains #line directives, so it is generated from shift\.cuh; edit that file instead$/,
  },
  {
    what: 'a helper in a header that a generator wrote',
    files: {
      'shift.cu': '#include "step.cuh"\n__global__ void shift(int* a) {\n    step(a, threadIdx.x);\n}\n',
      'step.cuh': 'inline __device__ void step(int* a, int t) {\n#line 2 "step.cuh"\n    int mine = a[t + 1];\n    a[t] = mine;\n}\n',
    },
    says: /^no barrier in shift\.cu can separate the accesses of lines 2 and 3 of step\.cuh in step, which line 3 calls, and Selvage does not edit step\.cuh/,
  },
  {
    what: 'generated code',
    files: { 'shift.cu': kernel.replace('{\n', '{\n#line 70 "shift.template"\n') },
    says: /^shift\.cu contains #line directives, so it is generated from shift\.template; edit that file instead$/,
  },
];

for (const { what, files, says } of cases) {
  test(`${what}: the report states why the source is not edited`, { skip: withoutNvcc }, async (t) => {
    const folder = temporaryFolder(t);
    writeFiles(folder, files);
    const { repair, race } = await repairOf(folder);
    assert.equal(race.verdict, 'race');
    assert.equal(repair.edits, undefined);
    assert.ok(repair.status === 'skipped' || repair.status === 'unrepairable', repair.status);
    assert.match(repair.reason ?? '', says);
  });
}

test('a requested kernel outside of the repository is not edited, and the report states why', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, {
    'outside/shift.cuh': kernel,
    'project/.git/HEAD': 'ref: refs/heads/main\n',
    'project/shift.cu': '#include "../outside/shift.cuh"\n',
  });
  const { repair } = await repairOf(join(folder, 'project'), '--kernel', 'shift');
  assert.equal(repair.edits, undefined);
  assert.match(repair.reason ?? '', /shift\.cuh, outside of the repository, which Selvage does not edit$/);
});

test('a barrier is inserted between the macros of a kernel', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, {
    'shift.cu': `#define LOAD(a, t) int mine = a[t + 1]\n#define STORE(a, t) a[t] = mine\n__global__ void shift(int* a) {\n    LOAD(a, threadIdx.x);\n    STORE(a, threadIdx.x);\n}\n`,
  });
  const { repair } = await repairOf(folder);
  assert.equal(repair.status, 'repaired');
  assert.deepEqual(
    repair.edits?.map(({ startLine, endLine, replacement }) => [startLine, endLine, replacement]),
    [[5, 4, '    __syncthreads();\n']],
  );
});

async function repairOf(folder: string, ...words: readonly string[]) {
  const options = ['--block', '64', '--grid', '1', '--format', 'json', ...words];
  const { stdout } = await selvage(['repair', 'shift.cu', ...options], folder);
  const [kernel] = (JSON.parse(stdout) as Report).kernels;
  assert.ok(kernel);
  return kernel;
}
