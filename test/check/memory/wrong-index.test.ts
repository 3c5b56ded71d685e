/** What findings on wrong indices state of the source: the line of a product, the element of a table, the cause of a race. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf } from '../../../src/report-model/outcome.ts';
import type { KernelReport } from '../../../src/report-model/report.ts';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { repairText } from '../../repair/repair-file.ts';

/** A kernel over rows, whose index is computed by these statements, and its launch. */
const overRows = (body: string, launch: string, elements: string): string => `__global__ void walk(float* out, const int* rows, int n) {
${body}
}
int main() {
    float* out;
    int* rows;
    cudaMalloc(&out, ${elements} * sizeof(float));
    cudaMalloc(&rows, 4 * sizeof(int));
    int table[4] = {3, 1, 40, 2};
    cudaMemcpy(rows, table, sizeof(table), cudaMemcpyHostToDevice);
    ${launch}
    return cudaDeviceSynchronize();
}
`;

async function checked(body: string, launch: string, elements = '64'): Promise<KernelReport> {
  const { report } = await repairText(overRows(body, launch, elements), 'walk.cu', { checks: ['race', 'divergence'] });
  return report.kernels[0]!;
}

test('the line of the product is named if the access is on another one', { skip: withoutNvcc }, async () => {
  const body = (first: string, second: string): string => `    int start = ${first};\n    out[${second}] = 1.f;`;
  const onOwn = await checked(body('blockIdx.x * n', 'start + threadIdx.x'), 'walk<<<300000, 32>>>(out, rows, 20000);', '1ull << 33');
  assert.match(findingsOf(onOwn)[0]!.message, /on line 3: the index, which is computed on line 2, is [2-9]\d{9} there/);
  const onSame = await checked(body('threadIdx.x', 'int(blockIdx.x) * n + start'), 'walk<<<300000, 32>>>(out, rows, 20000);', '1ull << 33');
  assert.match(findingsOf(onSame)[0]!.message, /on line 3: the index is [2-9]\d{9} there/);
  const open = await checked(body('blockIdx.x * n', 'start + threadIdx.x'), '');
  assert.match(
    findingsOf(open)[0]!.message,
    /on line 3 is computed in 32 bits on line 2, and wraps around when about `gridDim.x \* n > \d+`/,
  );
});

test('the element of a table is named that is too large, for the thread of the run', { skip: withoutNvcc }, async () => {
  const { race } = await checked('    if (threadIdx.x < 4)\n        out[16 * rows[threadIdx.x]] = 1.f;', 'walk<<<1, 32>>>(out, rows, 4);');
  assert.match(race.findings[0]!.message, /of an array of 256 bytes, since `rows\[2\] = 40`\. Store another number in `rows\[2\]`/);
  const shifted = await checked(
    '    if (threadIdx.x < 4)\n        out[16 * rows[(threadIdx.x + n) % 4]] = 1.f;',
    'walk<<<1, 4>>>(out, rows, 3);',
  );
  assert.match(shifted.race.findings[0]!.message, /since `rows\[2\] = 40`/);
  // Only the third block reads it.
  const { race: ofBlock } = await checked('    out[16 * rows[blockIdx.x] + threadIdx.x] = 1.f;', 'walk<<<4, 16>>>(out, rows, 4);');
  assert.match(ofBlock.findings[0]!.message, /of block \(2, 0, 0\) .* since `rows\[2\] = 40`/);
  const { race: ofFew } = await checked('    out[16 * rows[blockIdx.x] + threadIdx.x] = 1.f;', 'walk<<<2, 16>>>(out, rows, 4);');
  assert.deepEqual(ofFew.findings, []);
});

test('after a wrong index the hint is what the index needs', { skip: withoutNvcc }, async () => {
  const hints: (string | undefined)[] = [];
  for (const launch of ['(nullptr, rows, 1)', '(out, rows, 1)', '(out, rows, 20000)']) {
    const { race } = await checked('    int at = blockIdx.x * n;\n    out[at] = at;', `walk<<<200000, 32>>>${launch};`);
    hints.push(`${race.reason}: ${race.wouldDecide?.text}`);
  }
  const [ofNull, small, wide] = hints;
  assert.match(ofNull!, /^the kernel fails on line 3, where it accesses `out`, a null pointer: first pass an array/);
  assert.match(small!, /^an access on line 3 is outside of `out`, and .*: first keep every index inside of its array/);
  assert.match(wide!, /^an index of `out` on line 3 wraps around, and .*: first compute the index in 64 bits$/);
});

test('a race that comes from an index which wraps around refers to that', { skip: withoutNvcc }, async () => {
  const text = (launch: string): string => `__global__ void fill(float* out, int n) {
    for (int c = threadIdx.x; c < n; c += blockDim.x)
        out[blockIdx.x * n + c] = 1.f;
}
int main() {
    float* out;
    cudaMalloc(&out, 20000ull * 300000 * sizeof(float));
    ${launch}
    return cudaDeviceSynchronize();
}
`;
  const racesOf = async (launch: string): Promise<readonly string[]> => {
    const { report } = await repairText(text(launch), 'fill.cu', { checks: ['race', 'divergence'] });
    return report.kernels[0]!.race.findings.filter(({ code }) => code === 'race/global').map(({ message }) => message);
  };
  const [wrapped] = await racesOf('fill<<<300000, 256>>>(out, 20000);');
  assert.match(wrapped!, /is too large for 32 bits and wraps around\. Both write the same value\. Compute the index in 64 bits/);
  assert.deepEqual(await racesOf('fill<<<200000, 256>>>(out, 20000);'), []);
});
