import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredArray } from '../../../src/cuda/reading/array-declaration.ts';
import { elementName } from '../../../src/app/project/element-text.ts';
import { cudaParser } from '../../cuda/syntax/grammar.ts';

const text = `__device__ int counts[16];
__shared__ float spare[2];
__global__ void k(float* a) {
  __shared__ float tile[32][33];
  extern __shared__ unsigned char bytes[];
  __shared__ __align__(16) float s[256];
  __shared__ int b[4] = {1, 2};
  __shared__ T other[SIZE][SIZE + 1];
  __shared__ int p[2], q[2];
  int local[4];
  tile[0][0] = 1;
}
__global__ void other(int* a) {
  __shared__ double s[8];
}
`;

test('declarations of arrays in shared and global memory', async () => {
  const source = (await cudaParser()).parse(text, 'a.cu');
  const of = (name: string, line = 11): unknown => declaredArray(source, line, name);
  assert.deepEqual(of('tile'), { type: 'float', extents: ['32', '33'] });
  assert.deepEqual(of('bytes'), { type: 'unsigned char', extents: [''] });
  assert.deepEqual(of('s'), { type: 'float', extents: ['256'] });
  assert.deepEqual(of('s', 14), { type: 'double', extents: ['8'] });
  assert.deepEqual(of('other'), { type: 'T', extents: ['SIZE', 'SIZE + 1'] });
  assert.deepEqual(of('counts'), { type: 'int', extents: ['16'] });
  assert.equal(of('local'), undefined);
  assert.equal(of('p'), undefined);
  assert.equal(of('nowhere'), undefined);
});

test('elements are named by their byte offset', () => {
  const tile = { type: 'float', extents: ['32', '33'] };
  assert.equal(elementName('tile', tile, { offset: 4 * 34, bytes: 4 }), 'tile[1][1]');
  assert.equal(elementName('tile', tile, { offset: 4 * 34 + 2, bytes: 4 }), undefined);
  assert.equal(elementName('tile', tile, { offset: 4 * 34, bytes: 2 }), undefined);
  assert.equal(elementName('a', { type: 'const int', extents: [''] }, { offset: -4, bytes: 4 }), 'a[-1]');
  assert.equal(elementName('o', { type: 'int', extents: ['N', 'N + 1'] }, { offset: 4, bytes: 4 }), undefined);
  assert.equal(elementName('o', { type: 'T', extents: [''] }, { offset: 4, bytes: 4 }), undefined);
  assert.equal(elementName('v', { type: 'float4', extents: [''] }, { offset: 16, bytes: 4 }), undefined);
});
