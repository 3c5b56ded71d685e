import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BarrierCandidate, type CandidateOptions, markCandidates } from '../../../src/cuda/editing/barrier-candidates.ts';
import { barrierEdits, type PlacedBarrier } from '../../../src/cuda/editing/barrier-edit.ts';
import { applyEdits } from '../../../src/source/text-edit.ts';
import { cudaParser } from '../syntax/grammar.ts';

async function candidatesOf(text: string, options: CandidateOptions = { splits: true }) {
  const source = (await cudaParser()).parse(text, 'a.cu');
  return { source, ...markCandidates(source, options) };
}

/** The text with barriers at the candidates that `choose` takes. */
async function edited(
  text: string,
  choose: (candidate: BarrierCandidate) => PlacedBarrier['state'] | undefined,
  options?: CandidateOptions,
): Promise<string> {
  const { source, candidates } = await candidatesOf(text, options);
  const placed = candidates.flatMap((candidate) => {
    const state = choose(candidate);
    return state === undefined ? [] : [{ candidate, state }];
  });
  assert.ok(placed.length > 0, 'no candidate is chosen');
  return applyEdits(text, barrierEdits(source, placed));
}

const at =
  (line: number, kind: BarrierCandidate['kind'] = 'before', state: PlacedBarrier['state'] = 'block') =>
  (candidate: BarrierCandidate): PlacedBarrier['state'] | undefined =>
    candidate.line === line && candidate.kind === kind ? state : undefined;

const kernel = (body: string): string => `__global__ void k(float *A, int n) {\n${body}}\n`;

test('the marked copy has a marker at each boundary, the same number of lines, and each number once', async () => {
  const text = kernel(`    __shared__ float s[64];
    for (int i = 0; i < n; i++) A[i] = 0;
    if (n) {
        s[0] = 1; // one
        A[0] = s[1];
    } else
        A[1] = 2;
    __syncthreads();
    switch (n) {
    case 1:
        A[2] = 1;
        break;
    default:
        A[3] = 1;
    }
    do A[4]++;
    while (A[4] < 3);
`);
  const { candidates, text: marked } = await candidatesOf(text);
  assert.equal(marked.split('\n').length, text.split('\n').length);
  const numbers = [...marked.matchAll(/SELVAGE_CANDIDATE (\d+)/g)].map(([, number]) => Number(number));
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    candidates.map(({ number }) => number),
  );
  assert.deepEqual(
    candidates.filter(({ kind }) => kind === 'existing').map(({ line }) => line),
    [9],
  );
});

test('functions that the host calls have no candidates', async () => {
  const { candidates } = await candidatesOf(`
void host(float *a) { a[0] = 1; a[1] = 2; }
__host__ __device__ float both(float *a) { a[0] = 1; return a[1]; }
__device__ constexpr int twice(int x) { int y = x; return y + y; }
__device__ float own(float *a) { a[0] = 1; return a[1]; }
`);
  assert.deepEqual([...new Set(candidates.map(({ line }) => line))], [5]);
});

test('the bodies of lambdas that the device calls have candidates, and their statement stays whole', async () => {
  const text = kernel(`    auto store = [&](int i) { A[i] = n; n = A[i + 1]; };
    auto both = [=] __host__ __device__ (int i) { n++; return i; };
    A[0] = [&] { A[1] = 2; return A[2]; }();
`);
  const { candidates } = await candidatesOf(text);
  const inside = candidates.filter(({ line, column }) => line === 2 && column > 20);
  assert.deepEqual(
    inside.map(({ kind }) => kind),
    ['before', 'before', 'after'],
  );
  assert.ok(!candidates.some(({ line, column }) => line === 3 && column > 10));
  assert.ok(!candidates.some(({ kind }) => kind === 'split'));
  assert.match(
    await edited(text, (one) => (one === inside[1] || one.number === inside[1]!.number ? 'block' : undefined)),
    /A\[i\] = n; __syncthreads\(\); n = /,
  );
});

test('no candidate is placed between a pragma and its loop', async () => {
  const { text } = await candidatesOf(kernel(`    A[0] = 1;\n    #pragma unroll\n    for (int i = 0; i < 4; i++) A[i] = 0;\n`));
  assert.match(text, /#pragma unroll\n {4}for/);
  assert.match(text, /A\[0\] = 1; asm/);
});

test('a barrier comes after the statement above, in its indentation; comments stay in place', async () => {
  const text = kernel(`    A[0] = 1; // first\n\n    // what follows\n    A[1] = A[0];\n`);
  assert.equal(await edited(text, at(5)), text.replace('// first\n', '// first\n    __syncthreads();\n'));
});

test('line ends and tabs of the file are preserved', async () => {
  const text = '__global__ void k(int *A) {\r\n\tA[0] = 1;\r\n\tA[1] = A[0];\r\n}\r\n';
  assert.equal(await edited(text, at(3)), text.replace('A[0] = 1;\r\n', 'A[0] = 1;\r\n\t__syncthreads();\r\n'));
});

test('braces are added to a body that has none', async () => {
  const text = kernel(`    for (int i = 0; i < n; i++)\n        A[i] = A[i + 1]; // move\n    A[0] = 1;\n`);
  assert.equal(
    await edited(text, at(3, 'after')),
    kernel(`    for (int i = 0; i < n; i++) {\n        A[i] = A[i + 1]; // move\n        __syncthreads();\n    }\n    A[0] = 1;\n`),
  );
});

test('nested bodies without braces are closed from the inside', async () => {
  const text = kernel(`    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++)\n            A[i] += A[j + 1];\n`);
  assert.equal(
    await edited(text, ({ kind }) => (kind === 'after' ? 'block' : undefined)),
    kernel(`    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i] += A[j + 1];
            __syncthreads();
        }
        __syncthreads();
    }
    __syncthreads();
`),
  );
});

test('an assignment is split between its loads and its store, with the declared type and an unused name', async () => {
  const text = kernel(`    int temp = n;\n    A[temp] += A[temp + 1] * 2;\n`);
  assert.equal(
    await edited(text, at(3, 'split')),
    kernel(`    int temp = n;
    float temp2 = A[temp] + A[temp + 1] * 2;
    __syncthreads();
    A[temp] = temp2;
`),
  );
});

test('the operand of a compound assignment keeps its brackets', async () => {
  const text = kernel(`    A[0] *= A[1] + A[2];\n`);
  assert.match(await edited(text, at(2, 'split')), /float temp = A\[0\] \* \(A\[1\] \+ A\[2\]\);/);
});

test('an assignment whose target has side effects stays whole', async () => {
  const { candidates } = await candidatesOf(kernel(`    A[n++] = A[n];\n    A[0] = n;\n`));
  assert.ok(!candidates.some(({ kind }) => kind === 'split'));
});

test('a barrier is removed with its line, unless other code shares the line', async () => {
  const text = kernel(`    A[0] = 1;\n    __syncthreads(); // wait\n    A[1] = 2; __syncthreads(); A[2] = 3;\n`);
  assert.equal(
    await edited(text, ({ kind }) => (kind === 'existing' ? 'off' : undefined)),
    kernel(`    A[0] = 1;\n    A[1] = 2; A[2] = 3;\n`),
  );
});

test('barriers of cooperative groups are known, and a barrier of the grid brings its header', async () => {
  const text = `#include <cstdio>\n__global__ void k(int *A) {\n    auto g = cooperative_groups::this_grid();\n    g.sync();\n    A[0] = 1;\n    A[1] = A[0];\n}\n`;
  const { candidates } = await candidatesOf(text);
  assert.deepEqual(
    candidates.flatMap((candidate) => (candidate.kind === 'existing' ? [candidate.level] : [])),
    ['grid'],
  );
  assert.equal(
    await edited(text, at(6, 'before', 'grid')),
    text.replace('<cstdio>\n', '<cstdio>\n#include <cooperative_groups.h>\n').replace('A[0] = 1;\n', 'A[0] = 1;\n    g.sync();\n'),
  );
});

const conditions = (text: string): CandidateOptions => ({ splits: true, conditions: new Set([text.indexOf('if (')]) });

test('a condition is split: declarations in the first part that the second uses move out', async () => {
  const text = kernel(`    if (threadIdx.x < 32) {
        // the neighbour's
        float next = A[threadIdx.x + 1], unused = 0;
        int i = threadIdx.x; // own
        A[i] = next;
    }
`);
  assert.equal(
    await edited(text, ({ kind, line }) => (kind === 'condition' && line === 6 ? 'block' : undefined), conditions(text)),
    kernel(`    float next;
    int i;
    if (threadIdx.x < 32) {
        // the neighbour's
        next = A[threadIdx.x + 1]; float unused = 0;
        i = threadIdx.x; // own
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        A[i] = next;
    }
`),
  );
});

test('a condition that the body may change is saved in a variable', async () => {
  const text = kernel(`    if (A[n] > 0) A[n] = A[n + 1];\n`);
  assert.equal(
    await edited(text, ({ kind }) => (kind === 'condition' ? 'block' : undefined), conditions(text)),
    kernel(`    float temp;
    const bool isActive = A[n] > 0;
    if (isActive) {
        temp = A[n + 1];
    }
    __syncthreads();
    if (isActive) {
        A[n] = temp;
    }
`),
  );
});

test('conditions with early exits, or with declarations that cannot move, are not split', async () => {
  for (const body of [
    'if (n) { float x = A[0]; if (x > 0) return; A[1] = x; }',
    'if (n) { auto x = A[0]; A[1] = x; }',
    'if (n) { float x[2] = {A[0], A[1]}; A[1] = x[0]; }',
    'if (n) { float &x = A[0]; x = 1; }',
    'float x; if (n) { float x = A[0]; A[1] = x; }',
  ]) {
    const text = kernel(`    ${body}\n`);
    const { candidates } = await candidatesOf(text, { ...conditions(text), splits: false });
    const usable = candidates.filter(
      (candidate) => candidate.kind === 'condition' && candidate.body.pieces[candidate.piece]?.half === null,
    );
    assert.deepEqual(usable, [], body);
  }
});

test('comments are removed with their barrier', async () => {
  const text = kernel(`    if (n) {
        A[0] = 1;
        // all of A is there
        __syncthreads(); /* once */
    }
    A[1] = 2; // next
    int x; float y = A[2];
`);
  const moved = (line: number) => edited(text, (candidate) => (candidate.kind === 'existing' ? 'off' : at(line)(candidate)));
  const after = (await moved(7)).split('\n');
  assert.deepEqual(after.slice(1, 7), [
    '    if (n) {',
    '        A[0] = 1;',
    '    }',
    '    // all of A is there',
    '    __syncthreads(); /* once */',
    '    A[1] = 2; // next',
  ]);
  const shared = await edited(text.replace('/* once */', 'A[3] = 1;'), (candidate) =>
    candidate.kind === 'existing' ? 'off' : at(7)(candidate),
  );
  assert.match(shared, /\/\/ all of A is there\n +A\[3\] = 1;\n {4}}\n {4}__syncthreads\(\);\n/);
  // Insertions without a separate line do not interfere with the following text.
  const inline = await edited(text, (candidate) =>
    candidate.kind === 'existing'
      ? 'off'
      : candidate.kind === 'before' && candidate.line === 8 && candidate.column > 5
        ? 'block'
        : undefined,
  );
  assert.match(inline, /^ {4}int x; __syncthreads\(\); float y = A\[2\];$/m);
});

test('a macro that is the head of a loop stays with it, and its body has candidates', async () => {
  const text = `#define FOR(i, n) for (int i = 0; i < (n); i++)
#define BARRIER() __syncthreads()
__global__ void k(float *A, int n) {
  FOR (i, n) {
    A[i] = 1;
    BARRIER();
    FOR (j, n) {
      A[j] += 2;
    }
  }
}
`;
  const { candidates, text: marked } = await candidatesOf(text, { splits: false });
  assert.doesNotMatch(marked, /FOR \(\w, n\)(?! \{)/);
  assert.deepEqual(
    candidates.filter(({ kind }) => kind === 'existing').map(({ line }) => line),
    [6],
  );
  const twice = await edited(text, at(8, 'after'), { splits: false });
  assert.equal(twice, text.replace('+= 2;\n', '+= 2;\n      BARRIER();\n'));
});

test('a function without a barrier writes it as the others of the file do, if it has the group', async () => {
  const other = '__global__ void other(cg::thread_block cta) {\n    cg::sync(cta);\n}\n';
  const own = kernel('    cg::thread_block cta = cg::this_thread_block();\n    A[0] = 1;\n    A[1] = 2;\n');
  assert.match(await edited(other + own, at(7)), /A\[0\] = 1;\n    cg::sync\(cta\);\n/);
  assert.match(await edited(other + own.replace(/.*cta.*\n/, ''), at(6)), /A\[0\] = 1;\n    __syncthreads\(\);\n/);
});
