/** The launches of a host program: classified if it determines enough arguments and dimensions. */
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Report } from '../../../src/report-model/report.ts';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { selvage } from '../commands/in-process.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-judged-')));
after(() => rmSync(folder, { recursive: true, force: true }));

const kernels = `
__global__ void add(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void fill(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}
__global__ void half(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) out[i] = out[i + n / 2];
}
__global__ void count(int *out) { out[threadIdx.x] += 1; }
__global__ void look(cudaTextureObject_t texture, int *out) { out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x); }
cudaTextureObject_t made(cudaResourceDesc described) {
  cudaTextureDesc as = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &described, &as, NULL);
  return texture;
}
cudaTextureObject_t ofLine(int *line) {
  cudaResourceDesc described;
  memset(&described, 0, sizeof described);
  described.resType = cudaResourceTypeLinear;
  described.res.linear.devPtr = line;
  return made(described);
}
cudaTextureObject_t ofArray(cudaArray_t array) {
  cudaResourceDesc described = {};
  described.resType = cudaResourceTypeArray;
  described.res.array.array = array;
  return made(described);
}
`;

/** The classification of each launch of a program with the given body, by the text of the launch. */
async function judged(body: string): Promise<Map<string, string>> {
  const text = `${kernels}\nint run(int m, int *given) {\n  int *a, *b, *c;\n  const int n = 1000;\n  cudaMalloc(&a, n * sizeof(int)); cudaMalloc(&b, 2 * n * sizeof(int)); cudaMalloc(&c, m * sizeof(int));\n  cudaArray_t image;\n  cudaMallocArray(&image, NULL, 64, 64);\n${body}\n  return 0;\n}\n`;
  writeFileSync(join(folder, 'run.cu'), text);
  const run = await selvage(['idempotency', 'run.cu', '--format', 'json'], folder);
  assert.equal(run.status, 0, run.stderr);
  const lines = text.split('\n');
  const launches = (JSON.parse(run.stdout) as Report).kernels.flatMap(({ idempotency }) => idempotency?.launches ?? []);
  return new Map(
    launches.map(({ location, verdict, reason, savedBytes, assumptions }) => [
      lines[location.line - 1]!.trim(),
      [verdict, reason, savedBytes, ...(assumptions ?? [])].filter((part) => part !== undefined).join(': '),
    ]),
  );
}

const wrap = 'no arithmetic on indices wraps around';

test('launches are classified by their allocations and sizes', { skip: withoutNvcc }, async () => {
  const said: readonly (readonly [launch: string, verdict: string])[] = [
    ['add<<<4, 256>>>(a, b, b + 1000, n);', 'idempotent: 8000'],
    ['add<<<4, 256>>>(a, b, b + 999, n);', 'undecided: `b` and `out` are in the same memory'],
    ['add<<<4, 256>>>(a, a, b, n);', 'idempotent: 8000'],
    ['add<<<4, 256>>>(a, b, a, n);', 'undecided: `a` and `out` are in the same memory'],
    // Only the size of the written range is unknown.
    ['add<<<4, 256>>>(a, b, c, n);', 'idempotent'],
    ['add<<<4, 256>>>(a, given, c, n);', 'undecided: the host program does not specify `b`'],
    // Unspecified sizes: different allocations, one allocation, and a pointer to any.
    ['add<<<m, 256>>>(a, b, c, n);', `idempotent: ${wrap}`],
    ['add<<<4, 256>>>(a, a, b, m);', `idempotent: 8000: ${wrap}`],
    ['add<<<dim3(m, 1, 1), 256>>>(a, b, b + 1000, m);', 'undecided: `b` and `out` are in the same memory'],
    ['add<<<m, 256>>>(a, given, b, n);', 'undecided: the host program does not specify grid, `b`'],
    // The number of blocks along an axis that the kernel does not read is irrelevant.
    ['add<<<dim3(4, m, 1), 256>>>(a, b, c, n);', 'undecided: the host program does not specify grid'],
    ['add<<<4, dim3(64, m, 1)>>>(a, b, c, n);', 'undecided: the host program does not specify block'],
    ['half<<<m, 256>>>(a, n);', 'undecided: the host program does not specify grid'],
    ['fill<<<m, 256>>>(given, n);', `idempotent: ${wrap}`],
    ['fill<<<4, 256>>>(a, n);', 'idempotent: 4000'],
    ['count<<<1, 256>>>(a);', 'non-idempotent'],
    ['look<<<1, 256>>>(ofArray(image), a);', 'idempotent: 4000'],
    ['look<<<1, 256>>>(ofLine(b), a);', 'idempotent: 4000'],
    ['look<<<1, 256>>>(ofLine(b + 1000), b);', 'undecided: `texture` and `out` are in the same memory'],
    ['look<<<1, 256>>>(ofLine(given), a);', 'undecided: the host program does not specify `texture`'],
    ['look<<<1, 256>>>(given == a ? ofLine(a) : ofLine(b), a);', 'undecided: the host program does not specify `texture`'],
  ];
  const found = await judged(said.map(([launch]) => `  ${launch}`).join('\n'));
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(said));
});
