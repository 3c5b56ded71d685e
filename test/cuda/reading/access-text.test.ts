import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessText } from '../../../src/cuda/reading/access-text.ts';
import type { AccessOperation } from '../../../src/cuda/reading/access-text.ts';
import { cudaParser, lineOf } from '../syntax/grammar.ts';

const text = `struct P { int n; float* out; };
struct Tile { float data[4]; int count; };
__device__ int total;
__device__ float helper(const float* p, int i) {
  return p[i] + // helper
         p[i + 1];
}
__global__ void k(float* a, const float* b, P p, int n) {
  __shared__ float s[256], u[4];
  __shared__ float m[16][17];
  __shared__ int flag;
  __shared__ Tile tile;
  int t = threadIdx.x; // builtin
  s[t] = a[t] // plain
       + b[t + 1];
  m[t / 16][t % 16] += s[t ^ 1]; // compound
  float x = s[0], y = s[1]; // declarations
  s[2] = s[3] + s[4] * s[5]; // order
  for (int i = a[1]; i < s[2]; i += s[3]) s[i] = s[7]; // loop
  s[6]++; // increment
  p.out[t] = x + y + p.n; // member
  *(a + t) = *b; // pointer
  atomicAdd(&s[7], // atomic
            s[8]);
  flag = 1; // scalar
  if (flag) a[0] = total; // globals
  tile.data[t] = tile.count; // structure
  float* q = &a[4]; // address
  q[1] = s[10]; // renamed
  reinterpret_cast<float4*>(a)[t] = reinterpret_cast<const float4*>(b)[t]; // vector
  x = __ldg(&b[t]) + __ldcg(a + t); // loads
  __pipeline_memcpy_async(&s[t], &a[t * 4], 4); // asynchronous
  a[sizeof(s[0])] = s[s[1] > 0 ? 1 : 0]; // nested
  float2 v = ((float2*)a)[n].x > 0 ? u[0] : // choice
      u[1];
  MACRO(s, t); // macro
}
`;

async function at(marker: string, operation: AccessOperation, array?: string, ordinal?: number): Promise<string | undefined> {
  const source = (await cudaParser()).parse(text, 'a.cu');
  return accessText(source, { line: lineOf(text, `// ${marker}`) }, operation, array, ordinal);
}

test('the access of a kind on a line is found', async () => {
  assert.equal(await at('plain', 'write'), 's[t]');
  assert.equal(await at('plain', 'read', 'a'), 'a[t]');
  assert.equal(await at('compound', 'write'), 'm[t / 16][t % 16]');
  assert.equal(await at('compound', 'read', 'm'), 'm[t / 16][t % 16]');
  assert.equal(await at('compound', 'read', 's'), 's[t ^ 1]');
  assert.equal(await at('increment', 'read'), 's[6]');
  assert.equal(await at('increment', 'write'), 's[6]');
  assert.equal(await at('pointer', 'write', 'a'), '*(a + t)');
  assert.equal(await at('pointer', 'read'), '*b');
  assert.equal(await at('helper', 'read', 's'), 'p[i]');
  assert.equal(await at('vector', 'write', 'a'), 'reinterpret_cast<float4*>(a)[t]');
});

test('members, scalars in memory and atomics are accesses', async () => {
  assert.equal(await at('member', 'write', 'p.out'), 'p.out[t]');
  assert.equal(await at('member', 'read'), undefined);
  assert.equal(await at('scalar', 'write', 'flag'), 'flag');
  assert.equal(await at('globals', 'read', 'flag'), 'flag');
  assert.equal(await at('globals', 'read', 'total'), 'total');
  assert.equal(await at('structure', 'write', 'tile'), 'tile.data[t]');
  assert.equal(await at('structure', 'read', 'tile'), 'tile.count');
  assert.equal(await at('atomic', 'atomic', 's'), 'atomicAdd(&s[7], s[8])');
  assert.equal(await at('atomic', 'read'), undefined);
  assert.equal(await at('loads', 'read', 'b'), '&b[t]');
  assert.equal(await at('loads', 'read', 'a'), 'a + t');
  assert.equal(await at('asynchronous', 'write'), '&s[t]');
  assert.equal(await at('asynchronous', 'read'), '&a[t * 4]');
});

test('several candidates are distinguished only by the order of evaluation', async () => {
  assert.equal(await at('declarations', 'read', 's'), undefined);
  assert.equal(await at('declarations', 'read', 's', 1), 's[1]');
  assert.deepEqual(
    [await at('order', 'read', 's', 0), await at('order', 'read', 's', 1), await at('order', 'read', 's', 2)],
    ['s[3]', 's[4]', 's[5]'],
  );
  assert.equal(await at('order', 'read', 's', 3), undefined);
  assert.equal(await at('loop', 'read', 's', 1), 's[7]');
  assert.equal(await at('loop', 'read', 's', 2), 's[3]');
  assert.equal(await at('nested', 'read', 's', 0), 's[1]');
  assert.equal(await at('nested', 'read', 's', 1), 's[s[1] > 0 ? 1 : 0]');
  assert.equal(await at('choice', 'read', 'u'), 'u[0]');
});

test('a name that denotes another array is never used for the array', async () => {
  assert.equal(await at('plain', 'write', 'u'), undefined);
  assert.equal(await at('plain', 'read', 's'), undefined);
  assert.equal(await at('renamed', 'write', 'a'), 'q[1]');
  assert.equal(await at('renamed', 'read', 'u'), undefined);
});

test('texts without an access yield none', async () => {
  assert.equal(await at('builtin', 'read'), undefined);
  assert.equal(await at('address', 'read'), undefined);
  assert.equal(await at('macro', 'write'), undefined);
  assert.equal(await at('nested', 'write'), 'a[sizeof(s[0])]');
});
