/** Repairs of one file that depend on each other are suggested as one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import type { UnitBuilder } from '../../src/app/project/unit-builder.ts';
import { applyLineEdits } from '../../src/report-model/repaired-file.ts';
import { assertProved, repairText, root } from './repair-file.ts';

const read = (file: string): string => readFileSync(join(root, 'test/repair', file), 'utf8');

test('kernels that share a function share the edits', { skip: withoutNvcc }, async () => {
  const { report } = await repairText(read('strategies/helper.cu'), 'helper.cu');
  const [one, two] = report.kernels.map(({ repair }) => repair);
  assert.equal(one?.edits?.length, 3);
  assert.deepEqual(two?.edits, one?.edits);
});

test('unrelated kernels keep separate repairs', { skip: withoutNvcc }, async () => {
  const text = `${read('paper/listing-1.cu')}\n${read('paper/listing-1.cu').replaceAll('shift', 'again')}`;
  const { report } = await repairText(text, 'two.cu');
  assert.deepEqual(
    report.kernels.map(({ repair }) => repair.edits?.length),
    [1, 1],
  );
});

/** Kernels that each lack a barrier. */
const broken = `// selvage: block=64 grid=4
__global__ void reversed(float* x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[blockIdx.x * 64 + threadIdx.x + 64] = s[63 - threadIdx.x];
}

// selvage: block=64 grid=4
__global__ void rotated(float* x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[blockIdx.x * 64 + threadIdx.x + 64] = s[(threadIdx.x + 1) % 64];
}

// selvage: block=64 grid=4
__global__ void summed(float* out, const float* in) {
    __shared__ float s[64];
    s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    for (int h = 32; h > 0; h /= 2)
        if (threadIdx.x < h)
            s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}
`;

/** Adds the texts that are built instead of the file. */
function counting(texts: Set<string>): (builder: UnitBuilder) => UnitBuilder {
  return (builder) => ({
    ...builder,
    build(unit, kind, arch, text) {
      if (text !== undefined) texts.add(text);
      return builder.build(unit, kind, arch, text);
    },
  });
}

test('racy kernels of a file are built at once, each repair is proved separately', { skip: withoutNvcc }, async () => {
  const texts = new Set<string>();
  const { report, text } = await repairText(broken, 'three.cu', {}, counting(texts));
  assert.deepEqual(
    report.kernels.map(({ repair }) => repair.status),
    ['repaired', 'repaired', 'repaired'],
  );
  assert.equal(texts.size, 2, 'a copy with markers, and one with all edits');
  assert.ok(texts.has(text));
  for (const kernel of report.kernels) {
    const alone = await repairText(applyLineEdits(broken, kernel.repair.edits!), 'three.cu', {
      kernel: kernel.name.replace(/\(.*/, ''),
      checks: ['race', 'divergence'],
    });
    assertProved({ ...report, kernels: [kernel] }, alone.report);
  }
});

test('if the first edit of a kernel fails, other kernels keep theirs', { skip: withoutNvcc }, async () => {
  // The race in `counted` is an update: the first edit is only an atomic, but the read also needs a barrier.
  const counted = `
// selvage: block=64 grid=4
__global__ void counted(int* out) {
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    n += 1;
    out[blockIdx.x * 64 + threadIdx.x] = n;
}
`;
  const { report } = await repairText(`${broken}${counted}`, 'four.cu');
  assert.deepEqual(
    report.kernels.map(({ repair }) => repair.status),
    ['repaired', 'repaired', 'repaired', 'repaired'],
  );
  const { edits } = report.kernels[3]!.repair;
  assert.match(edits!.map(({ replacement }) => replacement).join(), /atomicAdd[^]*__syncthreads/);
});
