/** Barriers that are put where no pair needs them are found, and the kernel is proved without them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { repairText } from './repair-file.ts';
import { testAddedBarrier } from './seeded-tests.ts';

const files = ['reduction-halving', 'matmul-tiled', 'scan-hillis-steele'];

for (const name of files) testAddedBarrier(name, name.length);

const apart = `
// selvage: block=64 grid=1
__global__ void maybe(int* a, int* b, int* c) {
    int t = threadIdx.x;
    a[t] = 1;
    int y = b[t];
    __syncthreads();
    c[t] = b[t + 1] + y;
}

// selvage: block=64 grid=1 assume(apart(a, b)) assume(apart(a, c)) assume(apart(b, c))
__global__ void stated(int* a, int* b, int* c) {
    int t = threadIdx.x;
    a[t] = 1;
    int y = b[t];
    __syncthreads();
    c[t] = b[t + 1] + y;
}
`;

test('a barrier is removed under assumptions of the user, not under those of the proof', { skip: withoutNvcc }, async () => {
  const { report } = await repairText(apart, 'pair.cu');
  const [maybe, stated] = report.kernels;
  assert.deepEqual([maybe?.race.verdict, maybe?.repair.status], ['proved', 'not-needed']);
  assert.deepEqual([stated?.race.verdict, stated?.repair.status], ['proved', 'optimised']);
  assert.equal(stated?.repair.cost?.text, '1 barrier fewer, no extra register');
  const granted = [maybe, stated].map((kernel) => kernel?.race.assumptions?.some(({ kind }) => kind === 'no-alias'));
  assert.deepEqual(granted, [true, false], 'stated assumptions are not assumed again');
  const notice = report.diagnostics.find(({ code }) => code === 'barrier/redundant');
  assert.equal(notice?.severity, 'notice');
  assert.match(
    notice?.message ?? '',
    / has a redundant barrier: no two accesses need the barrier on line 16\. Selvage proves the kernel without it \(1 barrier fewer, no extra register\)\.$/,
  );
});

const members = (stated: string): string => `
struct Arrays { int* a; int* b; int* c; };

// selvage: block=64 grid=1 ${stated}
__global__ void fields(Arrays p) {
    int t = threadIdx.x;
    p.a[t] = 1;
    int y = p.b[t] + p.c[t];
    __syncthreads();
    p.c[t] = p.b[t + 1] + y;
}
`;

test('an assumption on two members of a struct does not apply to the others', { skip: withoutNvcc }, async () => {
  const two = await repairText(members('assume(apart(p.a, p.b))'), 'two.cu');
  assert.deepEqual(
    two.report.kernels.map(({ race, repair }) => [race.verdict, repair.status]),
    [['proved', 'not-needed']],
  );
  const all = await repairText(members('assume(apart(p.a, p.b)) assume(apart(p.a, p.c)) assume(apart(p.b, p.c))'), 'all.cu');
  assert.deepEqual(
    all.report.kernels.map(({ race, repair }) => [race.verdict, repair.status]),
    [['proved', 'optimised']],
  );
});

const foundOnly = `
__global__ void single(float* x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}

void launch(float* x) { single<<<1, 1>>>(x); }
`;

test('a barrier that is redundant only for the launches found stays', { skip: withoutNvcc }, async () => {
  const found = await repairText(foundOnly, 'single.cu');
  assert.deepEqual(
    found.report.kernels.map(({ race, repair }) => [race.verdict, repair.status]),
    [['proved', 'not-needed']],
  );
  const text = foundOnly.replace('__global__', '// selvage: block=1 grid=1\n__global__');
  const stated = await repairText(text, 'single.cu');
  assert.deepEqual(
    stated.report.kernels.map(({ race, repair }) => [race.verdict, repair.status]),
    [['proved', 'optimised']],
  );
});
