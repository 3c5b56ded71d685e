import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, parts, sitesOf } from './source-mutation.ts';
import { type Shown, type Told, rightSeverities } from './wanted-severity.ts';

const text = `#define N 64
__device__ int helper(int* a) { return a[1]; }
template <int Size> __global__ void __launch_bounds__(Size) sum(int* out, const int* in, int n) {
    __shared__ int s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x; // not s[i] < n
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&out[blockIdx.x], s[threadIdx.x + 32]);
    for (int k = threadIdx.x; k < n; k += blockDim.x) s[k % 64] = k;
}
`;

test('changes are limited to a part and a kernel, and comments and declarations stay', () => {
  const sites = sitesOf(text);
  assert.deepEqual([...new Set(sites.map(({ part }) => part))], [...parts]);
  assert.deepEqual([...new Set(sites.map(({ kernel }) => kernel))], ['sum']);
  const texts = sites.map((site) => changed(text, site));
  assert.ok(texts.every((other) => other !== text && other.includes('// not s[i] < n') && other.includes('int s[64];')));
  for (const line of [
    'if (true) atomicAdd(&out[blockIdx.x], s[threadIdx.x + 32]);',
    'if (threadIdx.x <= 32) atomicAdd(&out[blockIdx.x], s[threadIdx.x + 32]);',
    '(*(&out[blockIdx.x]) += s[threadIdx.x + 32]);',
    'atomicAdd_block(&out[blockIdx.x], s[threadIdx.x + 32]);',
    's[(threadIdx.x) / 2] = i < n ? in[i] : 0;',
    'int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;',
    'for (int k = threadIdx.x; k < n; k += 1) s[k % 64] = k;',
    '    __syncwarp();',
  ])
    assert.ok(
      texts.some((other) => other.includes(line)),
      line,
    );
});

test('the severity of a finding is the worst over all runs', () => {
  const right = (...list: (readonly Told[])[]): readonly Told[] =>
    rightSeverities(list.map((severities): Shown => ({ what: 'race', right: severities, text: '' })));
  assert.deepEqual(right(['warning'], ['error']), ['error']);
  assert.deepEqual(right(['none', 'warning']), ['none', 'warning']);
  assert.deepEqual(right(['none', 'warning'], ['notice']), ['notice', 'warning']);
  assert.deepEqual(right(['warning', 'notice'], ['warning']), ['warning']);
  assert.deepEqual(right(), ['none']);
});
