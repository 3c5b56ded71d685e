import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardReturn } from '../../../src/cuda/editing/return-guard.ts';
import { applyEdits } from '../../../src/source/text-edit.ts';
import { cudaParser } from '../syntax/grammar.ts';

async function guarded(text: string): Promise<string | null> {
  const source = (await cudaParser()).parse(text);
  const guard = guardReturn(source, source.functions[0]!);
  return guard && applyEdits(text, [guard.edit]);
}

test('statements after a return move into the guard, in the style of the file', async () => {
  const text = `__global__ void k(int* a, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  // what is left
  a[i] = 1;

  a[i + 1] = 2; // last
}
`;
  const expected = `__global__ void k(int* a, int n) {
  int i = threadIdx.x;
  if (i < n) {
    // what is left
    a[i] = 1;

    a[i + 1] = 2; // last
  }
}
`;
  assert.equal(await guarded(text), expected);
  assert.equal(await guarded(text.replaceAll('\n', '\r\n')), expected.replaceAll('\n', '\r\n'));
});

test('a comparison is inverted only for integers: NaN satisfies neither side', async () => {
  const kernel = (type: string, test: string): string =>
    `__global__ void k(int* a, ${type} x, ${type} n) { if (${test}) return; a[0] = 1; }`;
  assert.match((await guarded(kernel('unsigned', 'x + 1 > n')))!, /if \(x \+ 1 <= n\)/);
  assert.match((await guarded(kernel('float', 'x >= n')))!, /if \(!\(x >= n\)\)/);
  assert.match((await guarded(kernel('Real', 'x >= n')))!, /if \(!\(x >= n\)\)/);
  assert.match((await guarded(kernel('int', 'x >= n || x < 0')))!, /if \(!\(x >= n \|\| x < 0\)\)/);
  assert.match((await guarded(kernel('int', 'a[x] > n')))!, /if \(!\(a\[x\] > n\)\)|if \(a\[x\] <= n\)/);
  assert.match((await guarded(kernel('int', '!x')))!, /if \(x\)/);
});

test('consecutive returns become one guard; shared variables are declared outside', async () => {
  const text = await guarded(
    '__global__ void k(int* a, int n) {\n    if (n < 0) return;\n    if (n > 9) { return; }\n    __shared__ int s[4];\n    s[0] = a[0];\n}\n',
  );
  assert.equal(
    text,
    '__global__ void k(int* a, int n) {\n    __shared__ int s[4];\n    if (n >= 0 && n <= 9) {\n        s[0] = a[0];\n    }\n}\n',
  );
});

test('kernels with further returns are unchanged', async () => {
  const rest = ['for (;;) { return; }', 'goto end; end: a[0] = 1;', '#ifdef X\n a[0] = 1;\n#endif\n', 'if (n) { a[0] = 1; return; }', ''];
  for (const words of rest)
    assert.equal(await guarded(`__global__ void k(int* a, int n) {\n if (n < 0) return;\n ${words}\n}`), null, words);
  assert.equal(await guarded('__device__ void f(int* a, int n) { if (n < 0) return; a[0] = 1; }'), null);
  assert.equal(await guarded('__global__ void k(int* a, int n) { if (n < 0) return; else a[0] = 2; a[0] = 1; }'), null);
});
