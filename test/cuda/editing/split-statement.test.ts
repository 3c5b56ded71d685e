import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitStatement } from '../../../src/cuda/editing/split-statement.ts';
import { nodesWhere } from '../../../src/cuda/syntax/syntax-tree.ts';
import { cudaParser } from '../syntax/grammar.ts';

const helpers = `
__device__ int get(const int* s, int at) { return s[at]; }
__device__ int put(int* s, int value) { s[0] = value; return value; }
__device__ void change(int& x, int y) { x = y; }
`;

/** The halves of the last statement of a kernel, around `|`; null if it is not split. */
async function halves(statement: string, parameters = 'int* a, float* f, int t'): Promise<string | null> {
  const source = (await cudaParser()).parse(`${helpers}__global__ void k(${parameters}) { ${statement} }`);
  const definition = source.functions.at(-1)!;
  const body = nodesWhere(source.tree(), ({ type, start }) => type === 'compound_statement' && start === definition.bodyStart)[0]!;
  const node = body.children.filter(({ type }) => /_statement$|^declaration$/.test(type)).at(-1)!;
  const split = splitStatement(source, definition, node);
  if (!split) return null;
  const names = Array.from({ length: split.variables }, (_, index) => `v${index}`);
  const { before, after } = split.parts(names, split.types());
  return `${before.join(' ')} | ${after}`;
}

test('a stored value goes to a variable of the type of its destination', async () => {
  assert.equal(await halves('f[t] = f[t + 1];'), 'float v0 = f[t + 1]; | f[t] = v0;');
  assert.equal(
    await halves('f[t] = t > 0 ? f[t - 1] : 0;'),
    'float v0 = t > 0 ? f[t - 1] : 0; | f[t] = v0;',
    'the condition stays with what it guards',
  );
  assert.equal(await halves('a[t] += a[t + 1];'), 'int v0 = a[t] + a[t + 1]; | a[t] = v0;');
  assert.equal(await halves('int x; x = a[t] = a[t + 1];'), 'int v0 = a[t + 1]; | x = a[t] = v0;');
  assert.equal(await halves('int x = a[t] = a[t + 1];'), 'int v0 = a[t + 1]; | int x = a[t] = v0;');
});

test('a chain of assignments is split after that of its variable', async () => {
  assert.equal(await halves('int s; a[t] = s = s + a[t + 1];'), 's = s + a[t + 1]; | a[t] = s;');
  assert.equal(await halves('int s; a[t] = a[0] = s += a[t + 1];'), 's += a[t + 1]; | a[t] = a[0] = s;');
  assert.equal(await halves('int s; a[t] += s = a[t + 1];'), null, 'what is added to is read first');
  assert.equal(await halves('int s; a[t++] = s = a[t];'), null);
});

test('queries of a thread group may be evaluated twice', async () => {
  const group = 'int s; cg::thread_block g = cg::this_thread_block();';
  const stored = 's = s + a[g.thread_rank() + 1]; | a[g.thread_rank()] = s;';
  assert.equal(await halves(`${group} a[g.thread_rank()] = s = s + a[g.thread_rank() + 1];`), stored);
  assert.equal(await halves(`${group} a[g.next()] = s = s + a[t];`), null);
});

test('a call that may change operands of the left side is made first', async () => {
  assert.equal(await halves('a[t] += put(a + t, 1);'), 'auto v0 = put(a + t, 1); int v1 = a[t] + v0; | a[t] = v1;');
  assert.equal(await halves('f[t] += sqrtf(f[t + 1]);'), 'float v0 = f[t] + sqrtf(f[t + 1]); | f[t] = v0;');
  assert.equal(await halves('int x; x = a[t] += put(a, 1);'), null);
});

test('arguments that read memory are evaluated before a call that may write it', async () => {
  assert.equal(await halves('put(a + t, get(a, t + 1));'), 'int v0 = get(a, t + 1); | put(a + t, v0);');
  assert.equal(await halves('int x = put(a + t, a[t + 1] * 2);'), 'int v0 = a[t + 1] * 2; | int x = put(a + t, v0);');
  assert.equal(await halves('atomicAdd(&a[0], a[t]);'), 'auto v0 = a[t]; | atomicAdd(&a[0], v0);');
});

test('arguments passed by reference stay in place', async () => {
  assert.equal(await halves('change(a[t], a[t + 1]);'), 'int v0 = a[t + 1]; | change(a[t], v0);');
  assert.equal(await halves('elsewhere(a[t], a[t + 1]);'), null, 'functions of other files are unknown');
});

test('lists of declarations and expressions are split after the first', async () => {
  assert.equal(await halves('int x = a[t + 1], *y = a + t, z = put(y, x);'), 'int x = a[t + 1]; | int *y = a + t, z = put(y, x);');
  assert.equal(await halves('int x; x = a[t + 1], a[t] = x;'), 'x = a[t + 1]; | a[t] = x;');
});

test('statements with side effects in the target, and those without a read or write, stay whole', async () => {
  for (const words of ['a[t++] = a[t];', 'a[t] = 1;', 't = a[t];', '__shared__ int s[4];', 'int x = t + 1;'])
    assert.equal(await halves(words), null, words);
});
