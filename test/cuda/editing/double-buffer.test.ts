import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doubleBuffer } from '../../../src/cuda/editing/double-buffer.ts';
import { applyEdits } from '../../../src/source/text-edit.ts';
import { cudaParser } from '../syntax/grammar.ts';

const kernel = `__global__ void k(float *out, const float *in, int n)
{
\t__shared__ float tile[16][17], other[16];
\tint buffer = threadIdx.x;

\t// all of them
#pragma unroll 1
\tfor (int i = 0; i < n; i++)
\t{
\t\ttile[threadIdx.y][buffer] = in[i];
\t\t__syncthreads();
\t\tout[i] += tile[buffer][threadIdx.y]; // turned
\t}
\tother[0] = 1;
}
`;

async function doubled(text: string, names: readonly string[] = ['tile']): Promise<string | null> {
  const source = (await cudaParser()).parse(text);
  const lines = [...text.split('\n').entries()].filter(([, line]) => /^\t\t.*\btile\b/.test(line)).map(([at]) => at + 1);
  const edit = doubleBuffer(source, new Set(names), lines);
  return edit && applyEdits(text, edit.edits);
}

test('iterations alternate between two copies, in the style of the file', async () => {
  const expected = kernel
    .replace('tile[16]', 'tile[2][16]')
    .replace('\t// all', '\tint buffer2 = 0;\n\t// all')
    .replace('tile[threadIdx.y]', 'tile[buffer2][threadIdx.y]')
    .replace('tile[buffer]', 'tile[buffer2][buffer]')
    .replace('// turned\n', '// turned\n\t\tbuffer2 ^= 1;\n');
  assert.equal(await doubled(kernel), expected);
  assert.equal(await doubled(kernel.replaceAll('\n', '\r\n')), expected.replaceAll('\n', '\r\n'));
});

test('arrays visible to other code, and loops of another form, are unchanged', async () => {
  const changes: readonly (readonly [string, string])[] = [
    ['other[0]', 'tile[0][0]'],
    ['out[i] += tile[buffer][threadIdx.y];', 'use(tile);'],
    ['\t\t__syncthreads();\n', ''],
    ['\t\t__syncthreads();', '\t\tif (in[i] > 0) continue;\n\t\t__syncthreads();'],
    ['= in[i];', '= in[i] + tile[0][0];'],
    ['__shared__', 'extern __shared__'],
    ['__shared__ float tile[16][17], other[16];', '__shared__ float other[16]; float tile[16][17];'],
  ];
  for (const [from, to] of changes) assert.equal(await doubled(kernel.replace(from, to)), null, to);
  assert.equal(await doubled(kernel, ['tile', 'other']), null);
});
