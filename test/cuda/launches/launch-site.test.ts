import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLaunchSites, launches } from '../../../src/cuda/launches/launch-site.ts';
import { mayLaunch } from '../../../src/cuda/launches/launch-text.ts';
import type { LaunchSite } from '../../../src/cuda/launches/launch-site.ts';
import { readSource } from '../../../src/cuda/syntax/syntax.ts';
import { cudaParser } from '../syntax/grammar.ts';

const header = '#pragma once\nnamespace c { constexpr int kFromHeader = 96; }\n#define TWICE 1\n';

async function sites(text: string): Promise<LaunchSite[]> {
  const parser = await cudaParser();
  return findLaunchSites(parser, parser.parse(text, 'run.cu'), [readSource(header, 'config.h')]);
}

/** The grid of the launch of `k` in the body of a function, or why it is not known. */
async function grid(body: string, before = ''): Promise<readonly number[] | string> {
  const found = await sites(`${before}\nvoid run(int parameter) {\n${body}\n}\n`);
  const site = found.find(({ kernel }) => kernel === 'k');
  assert.ok(site, body);
  return site.grid ?? site.unknown.find(({ property }) => property === 'grid')?.reason ?? '';
}

test('dimensions are evaluated', async () => {
  for (const [body, expected, before] of [
    ['k<<<4, 1>>>();', [4, 1, 1]],
    ['k<<<dim3(2, 3), 1>>>();', [2, 3, 1]],
    ['k<<<dim3{2, 3, 4}, 1>>>();', [2, 3, 4]],
    ['k<<<{5, 6}, 1>>>();', [5, 6, 1]],
    ['dim3 g(4, 2); k<<<g, 1>>>();', [4, 2, 1]],
    ['dim3 g = dim3(4, 2); k<<<g, 1>>>();', [4, 2, 1]],
    ['const dim3 g = {4, 2}; k<<<g, 1>>>();', [4, 2, 1]],
    ['int n = 9; dim3 g(n); k<<<g, 1>>>();', [9, 1, 1]],
    ['dim3 g; g.x = 3; g.y = 4; k<<<g, 1>>>();', [3, 4, 1]],
    ['const int n = 1 << 20; k<<<(n + 255) / 256, 1>>>();', [4096, 1, 1]],
    ['auto n = 100u; k<<<n, 1>>>();', [100, 1, 1]],
    ['int n = 7; { int n = 5; k<<<n, 1>>>(); }', [5, 1, 1]],
    ['k<<<N, 1>>>();', [256, 1, 1], '#define N (1 << 8)'],
    ['int m = 1000; k<<<CEIL_DIV(m, 32), 1>>>();', [32, 1, 1], '#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))'],
    ['k<<<blocks(1000, 32), 1>>>();', [32, 1, 1], 'constexpr int blocks(int a, int b) { return (a + b - 1) / b; }'],
    ['k<<<kTile * 2, 1>>>();', [32, 1, 1], 'constexpr int kTile = 16;'],
    ['k<<<Cfg::Block, 1>>>();', [64, 1, 1], 'struct Cfg { static constexpr int Block = 64; };'],
    ['k<<<LANES, 1>>>();', [5, 1, 1], 'enum { WARPS = 4, LANES };'],
    ['k<<<kFromHeader, 1>>>();', [96, 1, 1]],
    ['k<<<sizeof(float) * sizeof(unsigned long long), 1>>>();', [32, 1, 1]],
    ['k<<<std::min(70000, 65535), 1>>>();', [65535, 1, 1]],
    ['int m = 1000; k<<<(int)ceil(m / 256.0), 1>>>();', [4, 1, 1]],
    ['k<<<static_cast<unsigned>(3 > 2 ? 8 : 4), 1>>>();', [8, 1, 1]],
    ["k<<<0x10 + 1'000 + 010, 1>>>();", [1024, 1, 1]],
    ['dim3 b(8, 4); k<<<b.x * b.y, b>>>();', [32, 1, 1]],
    ['int n = 3; printf("%d", n); other<<<n, 1>>>(n); k<<<n, 1>>>();', [3, 1, 1]],
    ['int n = 3; read(n); k<<<n, 1>>>();', [3, 1, 1], 'void read(const int& n) { use(n); }'],
    ['auto f = [&]() { k<<<6, 1>>>(); };', [6, 1, 1]],
  ] as const) {
    assert.deepEqual(await grid(body, before), expected, body);
  }
});

test('what may differ at run time is not evaluated', async () => {
  for (const [body, reason, before] of [
    ['k<<<parameter, 1>>>();', /parameter is a parameter of the function/],
    ['k<<<BS, 1>>>(); } template <int BS> void f() { k<<<BS, 1>>>();', /BS/, 'constexpr int OTHER = 1;'],
    ['int n = 3; n++; k<<<n, 1>>>();', /n changes after/],
    ['int n = 3; if (parameter) n = 4; k<<<n, 1>>>();', /n changes after/],
    ['int n = 3; n <<= 1; k<<<n, 1>>>();', /n changes after/],
    ['for (int n = 1; n < 9; n *= 2) k<<<n, 1>>>();', /n changes after/],
    ['for (int n : list) k<<<n, 1>>>();', /each iteration/],
    ['int n = 3; scanf("%d", &n); k<<<n, 1>>>();', /address taken/],
    ['int n = 3; std::cin >> n; k<<<n, 1>>>();', /stream/],
    ['int n = 3; int& r = n; r = 4; k<<<n, 1>>>();', /reference/],
    ['int n = 3; elsewhere(n); k<<<n, 1>>>();', /may be changed by elsewhere/],
    ['int n = 3; read(n); k<<<n, 1>>>();', /may be changed by read/, 'void read(int& n) { n = 5; }'],
    ['int n; n = 3; k<<<n, 1>>>();', /n changes after/],
    ['auto [N, m] = pair(); k<<<N, 1>>>();', /binding/, 'const int N = 4;'],
    ['auto f = [](int N) { k<<<N, 1>>>(); };', /parameter/, 'const int N = 4;'],
    ['auto f = [N = 5]() { k<<<N, 1>>>(); };', /capture/, 'const int N = 4;'],
    ['k<<<TWICE, 1>>>();', /several definitions/, '#define TWICE 2'],
    ['k<<<C, 1>>>();', /several definitions/, 'namespace a { const int C = 1; } namespace b { const int C = 2; }'],
    ['#if X\nint n = 1;\n#else\nint n = 2;\n#endif\nk<<<n, 1>>>();', /several definitions/],
    ['k<<<variable, 1>>>();', /variable of the file/, 'int variable = 4;'],
    ['k<<<missing, 1>>>();', /missing is not known here/],
    ['k<<<compute(), 1>>>();', /calls compute\(\)/],
    ['k<<<1 / 0, 1>>>();', /divides by 0/],
    ['unsigned char n = 300; k<<<n, 1>>>();', /does not fit/],
    ['int a = b; int b = a; k<<<a, 1>>>();', /too deeply/],
    ['dim3 g; if (parameter) g.x = 3; k<<<g, 1>>>();', /g changes after/],
    ['dim3 g; g.x = 3; g.x = 4; k<<<g, 1>>>();', /g changes after/],
    ['k<<<A, 1>>>();', /too deeply/, '#define A B\n#define B A'],
  ] as const) {
    const found = await grid(body, before);
    assert.ok(typeof found === 'string', `${body} gave ${String(found)}`);
    assert.match(found, reason, body);
  }
});

test('arguments, shared memory and text of a launch', async () => {
  const [site] = await sites(
    'void f(float* in, float* out, int rows) {\n  const int n = 64; float* late = in + 2; thrust::device_vector<int> v;\n  ns::red<float, 4 * 8, true, T><<<1, n, n * sizeof(float), s>>>(in, in + n, &out[3], (void*)late, n, 2.5f, rows, raw_pointer_cast(v.data()), v.data(), out + rows, nullptr);\n}\n',
  );
  assert.ok(site);
  assert.equal(site.kernel, 'ns::red');
  assert.deepEqual(site.templateArguments, ['float', '32', 'true', undefined]);
  assert.deepEqual(site.location, { file: 'run.cu', line: 3, column: 3 });
  assert.match(site.text, /^ns::red<float, 4 \* 8, true, T><<<1, n/);
  assert.equal(site.sharedBytes, 256);
  assert.equal(site.cooperative, false);
  assert.deepEqual([...site.scalars], [[4, 64n], [5, 2.5]]); // prettier-ignore
  assert.deepEqual(site.aliases, [[0, 1], [0, 3], [1, 3], [2, 9], [7, 8]]); // prettier-ignore
});

test('an argument that may mean something else the next time is not the same memory', async () => {
  const aliasesOf = async (list: string) => {
    const [site] = await sites(`void f(Pool& pool, int** bufs, int* d, int j, V v) { k<<<1, 256>>>(${list}); }`);
    return [site?.aliases, site?.samePointers];
  };
  for (const list of ['pool.next(), pool.next()', 'bufs[j++], bufs[j++]', '*bufs++, *bufs++', 'bufs[g()], bufs[g()]'])
    assert.deepEqual(await aliasesOf(list), [[], []], list);
  for (const list of [
    'v.data(), v.data()',
    'v.data_ptr<float>(), v.data_ptr<float>()',
    'bufs[j], bufs[j]',
    '*bufs, *bufs',
  ])
    assert.deepEqual(await aliasesOf(list), [[[0, 1]], [[0, 1]]], list);
  for (const list of ['&d[j++], &d[j++]', 'd + g(), d + g()'])
    assert.deepEqual(await aliasesOf(list), [[[0, 1]], []], list);
});

test('launches through the runtime are found', async () => {
  const found = await sites(`void f(float* a, int n, cudaLaunchConfig_t c) {
  int m = 12; dim3 g(3), b(4, 5);
  void* args[] = { &a, (void*)&m, &a };
  cudaLaunchKernel((const void*)red<256>, g, b, args, 16, 0);
  auto kern = &ns::coop;
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kern), g, b, args);
  cudaLaunchKernelEx(&c, ext, a, 7);
}
`);
  const summary = found.map(({ kernel, grid: g, block, sharedBytes, cooperative }) => ({ kernel, g, block, sharedBytes, cooperative })); // prettier-ignore
  assert.deepEqual(summary, [
    { kernel: 'red', g: [3, 1, 1], block: [4, 5, 1], sharedBytes: 16, cooperative: false },
    { kernel: 'ns::coop', g: [3, 1, 1], block: [4, 5, 1], sharedBytes: 0, cooperative: true },
    { kernel: 'ext', g: undefined, block: undefined, sharedBytes: undefined, cooperative: false },
  ]);
  assert.deepEqual([...(found[0]?.scalars ?? [])], [[1, 12n]]);
  assert.deepEqual(found[0]?.aliases, [[0, 2]]);
  assert.deepEqual([...(found[2]?.scalars ?? [])], [[1, 7n]]);
  assert.deepEqual(
    found[2]?.unknown.map(({ property }) => property),
    ['block', 'grid', 'sharedBytes', 'cluster', 'cooperative'],
  );
});

test('launches that cannot be parsed are listed', async () => {
  const found = await sites(
    '#define RUN(g) macro_kernel<float><<<g, 32>>>(p)\nvoid f() { @ ] broken<<<1 ; }\nvoid g() { fine<<<1, 2>>>(); }\n',
  );
  assert.deepEqual(found.map(({ kernel, grid: g }) => [kernel, g]), [['macro_kernel', undefined], ['broken', undefined], ['fine', [1, 1, 1]]]); // prettier-ignore
  assert.match(found[0]?.unknown[0]?.reason ?? '', /macro/);
});

test('a launch belongs to the kernels of its name and arguments', async () => {
  const [site] = await sites('void f() { ns::red<256, unsigned><<<1, 2>>>(); }');
  assert.ok(site);
  for (const name of [
    'ns::red<256, unsigned int>',
    'outer::ns::red<256, unsigned int, 5>',
    'ns::(anonymous namespace)::red<256, T>',
    'ns::red',
  ]) {
    assert.ok(launches(site, name), name);
  }
  for (const name of [
    'red<256, unsigned int>',
    'ns::red<64, unsigned int>',
    'ns::red<256, float>',
    'ns::red<256, int>',
    'ns::red2<256, unsigned int>',
    'bns::red<256, unsigned>',
  ]) {
    assert.ok(!launches(site, name), name);
  }
  const [open] = await sites('template <int B> void f() { red<B><<<1, B>>>(); }');
  assert.ok(open && launches(open, 'red<64>') && launches(open, 'ns::red<128>'));
});

test('texts without a launch are told without parsing', () => {
  assert.ok(
    mayLaunch('k<<<1, 2>>>()') && mayLaunch('cudaLaunchKernel(f)') && mayLaunch('cudaLaunchCooperativeKernel(f)'),
  );
  assert.ok(!mayLaunch('__global__ void k() { a << b; }'));
});
