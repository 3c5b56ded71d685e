/** Launches of one kernel that are given memory again which nothing else has used in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { readUnit } from '../fixture.ts';

const kernels =
  '__global__ void p(float*) {}\n__global__ void c(float*, float*) {} float* pointer();\nstruct Both { float *first, *second; };\n__global__ void r(Both) {}';
const before = 'float *x, *y; cudaMalloc(&x, 4096); cudaMalloc(&y, 4096); float host[4] = {};';

/** Bodies, and their pairs: the first line of a body is 7. */
const bodies: Readonly<Record<string, readonly [body: string, pairs: readonly string[]]>> = {
  'two launches': ['p<<<4, 256>>>(x);\np<<<4, 256>>>(x);', ['7 8 x']],
  'two arrays': ['p<<<4, 256>>>(x);\np<<<4, 256>>>(y);', []],
  'two kernels': ['p<<<4, 256>>>(x);\nc<<<4, 256>>>(x, y);', []],
  'another kernel in between': ['p<<<4, 256>>>(x);\nc<<<4, 256>>>(x, y);\np<<<4, 256>>>(x);', []],
  'another kernel with other memory': ['p<<<4, 256>>>(x);\nc<<<4, 256>>>(y, y);\np<<<4, 256>>>(x);', ['7 9 x']],
  'one of two arrays is filled': ['c<<<4, 256>>>(x, y);\ncudaMemset(x, 0, 64);\nc<<<4, 256>>>(x, y);', ['7 9 y']],
  'a fill in a stream': ['p<<<4, 256>>>(x);\ncudaMemsetAsync(x, 0, 64, 0);\np<<<4, 256>>>(x);', []],
  'a copy to it': ['p<<<4, 256>>>(x);\ncudaMemcpy(x, host, 16, cudaMemcpyHostToDevice);\np<<<4, 256>>>(x);', []],
  'a copy from it': ['p<<<4, 256>>>(x);\ncudaMemcpy(host, x, 16, cudaMemcpyDeviceToHost);\np<<<4, 256>>>(x);', ['7 9 x']],
  'a copy to unknown memory': ['p<<<4, 256>>>(x);\ncudaMemcpy(pointer(), host, 16, cudaMemcpyHostToDevice);\np<<<4, 256>>>(x);', []],
  'unknown code': ['p<<<4, 256>>>(x);\nunknown();\np<<<4, 256>>>(x);', []],
  'the host waits': ['p<<<4, 256>>>(x);\ncudaDeviceSynchronize();\np<<<4, 256>>>(x);', ['7 9 x']],
  'each iteration': ['for (int i = 0; i < parameter; i++) p<<<4, 256>>>(x);', ['7 7 x']],
  'each iteration fills it': ['for (int i = 0; i < parameter; i++) {\ncudaMemset(x, 0, 64);\np<<<4, 256>>>(x); }', []],
  'each iteration fills it afterwards': ['for (int i = 0; i < parameter; i++) {\np<<<4, 256>>>(x);\ncudaMemset(x, 0, 64); }', []],
  'one path fills it': ['p<<<4, 256>>>(x);\nif (parameter > 3) cudaMemset(x, 0, 64);\np<<<4, 256>>>(x);', []],
  'both paths fill it': ['p<<<4, 256>>>(x);\nif (parameter > 3) cudaMemset(x, 0, 64); else cudaMemset(x, 0, 32);\np<<<4, 256>>>(x);', []],
  'paths that exclude each other': ['if (parameter > 3) p<<<4, 256>>>(x);\nif (parameter <= 3) p<<<4, 256>>>(x);', []],
  'paths of two values': ['if (parameter == 0) p<<<4, 256>>>(x);\nif (parameter == 1) p<<<4, 256>>>(x);', []],
  'all iterations but the first fill it': [
    'for (int i = 0; i < parameter; i++) {\nif (i > 0) cudaMemset(x, 0, 64);\np<<<4, 256>>>(x); }',
    [],
  ],
  'all iterations but the last fill it': [
    'for (int i = 0; i < parameter; i++) {\np<<<4, 256>>>(x);\nif (i + 1 < parameter) cudaMemset(x, 0, 64); }',
    [],
  ],
  'a copy of three dimensions': [
    'p<<<4, 256>>>(x);\ncudaMemcpy3DParms d = {};\nd.dstPtr = make_cudaPitchedPtr(x, 4, 4, 1);\ncudaMemcpy3D(&d);\np<<<4, 256>>>(x);',
    [],
  ],
  'memory of the caller': ['p<<<4, 256>>>(parameter2);\np<<<4, 256>>>(parameter2);', ['7 8 parameter2']],
  'memory of the caller, filled': ['p<<<4, 256>>>(parameter2);\ncudaMemset(parameter2, 0, 64);\np<<<4, 256>>>(parameter2);', []],
  'a structure that may have more pointers': ['p<<<4, 256>>>(x);\nr<<<4, 256>>>(Both{y, y});\np<<<4, 256>>>(x);', []],
};

test('launches that find memory as the launch before has left it are paired', { skip: withoutNvcc }, async (context) => {
  const snippets = Object.values(bodies).map(([body]) => ({
    text: `${kernels}\nvoid run(int parameter, float* parameter2) {\n${before}\n${body}\n}`,
    kernels: { '1pEPf': [8], '1cEPfS0_': [8, 8], '1rENS_4BothE': [16] },
  }));
  const { repeated } = await readUnit(context, snippets);
  const found = Object.fromEntries(Object.keys(bodies).map((name, at) => [name, repeated[at]]));
  assert.deepEqual(found, Object.fromEntries(Object.entries(bodies).map(([name, [, pairs]]) => [name, pairs])));
});
