import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atomicUpdates } from '../../../src/cuda/editing/atomic-update.ts';
import { applyEdits } from '../../../src/source/text-edit.ts';
import { cudaParser } from '../syntax/grammar.ts';

/** The replacement of a statement on the second line; the statement itself if it is not an update. */
async function atomic(statement: string, parameters = 'int *A, int n, int v'): Promise<string> {
  const text = `__global__ void k(${parameters}) {\n${statement}\n}\n`;
  const source = (await cudaParser()).parse(text, 'a.cu');
  const updates = atomicUpdates(source, new Set([2]));
  return applyEdits(
    text,
    updates.map(({ edit }) => edit),
  ).split('\n')[1]!;
}

test('updates become the atomic that does the same', async () => {
  const cases: readonly (readonly [string, string, string?])[] = [
    ['A[n] += v;', 'atomicAdd(&A[n], v);'],
    ['A[n]++;', 'atomicAdd(&A[n], 1);'],
    ['--A[n];', 'atomicSub(&A[n], 1);'],
    ['*A -= v;', 'atomicSub(A, v);'],
    ['A[n] -= v;', 'atomicAdd(&A[n], -(v));', 'float *A, int n, float v'],
    ['A[n] = v + A[n];', 'atomicAdd(&A[n], v);'],
    ['A[n] = max(A[n], v);', 'atomicMax(&A[n], v);'],
    ['if (v < A[n]) A[n] = v;', 'atomicMin(&A[n], v);'],
    ['if (A[n] <= v) { A[n] = v; }', 'atomicMax(&A[n], v);'],
    ['A[n] |= v;', 'atomicOr(&A[n], v);'],
  ];
  for (const [before, after, parameters] of cases) assert.equal(await atomic(before, parameters), after);
});

test('an update whose type is a template parameter is recognized only as a sum', async () => {
  const text = 'template <typename T, int N>\n__global__ void k(T *A, T v) {\nA[N] += v;\nA[0] = max(A[0], v);\n}\n';
  const source = (await cudaParser()).parse(text, 'a.cu');
  const updates = atomicUpdates(source, new Set([3, 4]));
  assert.deepEqual(
    updates.map(({ edit, isFloat }) => [edit.text, isFloat]),
    [['atomicAdd(&A[N], v);', true]],
  );
});

test('statements that are not updates, or have no atomic of their type, are unchanged', async () => {
  const cases: readonly (readonly [string, string?])[] = [
    ['A[n] = v - A[n];'],
    ['A[n] = A[n + 1] + v;'],
    ['A[n] *= v;'],
    ['A[n++] += v;'],
    ['int old = A[n]++;'],
    ['A[n] += v;', 'char *A, int n, int v'],
    ['A[n] = max(A[n], v);', 'float *A, int n, float v'],
    ['if (v < A[n]) A[n] = v; else A[0] = 1;'],
    ['if (v < A[n]) { A[n] = v; A[0] = n; }'],
  ];
  for (const [statement, parameters] of cases) assert.equal(await atomic(statement, parameters), statement);
});
