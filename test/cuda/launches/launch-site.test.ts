import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHostProgram, type HostLaunch } from '../../../src/cuda/host/host-program.ts';
import { readHostText } from '../../../src/cuda/host/host-text.ts';
import { preprocessPlainly } from '../../../src/cuda/host/plain-preprocessor.ts';
import { canLaunch, canTake } from '../../../src/cuda/launches/kernel-match.ts';
import {
  commonPointers,
  sitesOf,
  type LaunchParameter,
  type LaunchSite,
  type SitePointer,
  withoutCovered,
} from '../../../src/cuda/launches/launch-site.ts';
import { mayLaunch } from '../../../src/cuda/launches/launch-text.ts';
import { printAssumption } from '../../../src/cuda/assumptions/assumption-parser.ts';
import { cudaParser } from '../syntax/grammar.ts';

const header = '#pragma once\nnamespace c { constexpr int kFromHeader = 96; }\n#define TWICE 1\n';

interface Found {
  readonly launch: HostLaunch;
  readonly sites: readonly LaunchSite[];
}

/** The launches of a file that includes the header, with the parameters that their kernels have. */
async function launchesIn(text: string, parameters: readonly LaunchParameter[] = anyParameters): Promise<Found[]> {
  const parser = await cudaParser();
  const files = new Map([
    ['config.h', header],
    ['run.cu', `#include "config.h"\n${text}`],
  ]);
  const resolve = (_: string, written: string) => (files.has(written) ? written : undefined);
  const own = preprocessPlainly({ file: 'run.cu', text: (file) => files.get(file), resolve, definitions: [] });
  const host = readHostText(own);
  const program = readHostProgram('run.cu', host.text, parser.treeOf(host.text));
  return program.launches.map((launch) => {
    const location = host.locate(launch.node.start);
    return { launch, sites: sitesOf(launch, { ...location, line: location.line - 1 }, parameters) };
  });
}

/** Without types, so that no argument excludes a launch. */
const anyParameters: readonly LaunchParameter[] = Array.from({ length: 12 }, (_, at) => ({
  name: `param${at}`,
  type: '',
}));

async function sites(text: string, parameters?: readonly LaunchParameter[]): Promise<LaunchSite[]> {
  return (await launchesIn(text, parameters)).flatMap((found) => found.sites);
}

/** The grids of the launches of `k` in the body of a function; null if it is not constant. */
async function grids(body: string, before = ''): Promise<(readonly number[] | null)[]> {
  const found = await launchesIn(`${before}\nvoid run(int parameter) {\n${body}\n}\n`);
  const ofK = found.filter(({ launch }) => launch.kernel.name === 'k');
  return ofK.flatMap((one) => one.sites.map(({ grid }) => grid ?? null));
}

async function grid(body: string, before = ''): Promise<readonly number[] | null | undefined> {
  return (await grids(body, before))[0];
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
    ['k<<<c::kFromHeader, 1>>>();', [96, 1, 1]],
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

test('changes on the path to a launch are followed', async () => {
  for (const [body, expected, before] of [
    ['int n = 3; n++; k<<<n, 1>>>();', [[4, 1, 1]]],
    [
      'int n = 3; if (parameter) n = 4; k<<<n, 1>>>();',
      [
        [4, 1, 1],
        [3, 1, 1],
      ],
    ],
    ['int n = 3; n <<= 1; k<<<n, 1>>>();', [[6, 1, 1]]],
    ['int n = 100; k<<<~0x3f & (n + 0x3f), 1>>>();', [[128, 1, 1]]],
    [
      'for (int n = 1; n < 9; n *= 2) k<<<n, 1>>>();',
      [
        [1, 1, 1],
        [2, 1, 1],
        [4, 1, 1],
        [8, 1, 1],
      ],
    ],
    ['int n = 3; int& r = n; r = 4; k<<<n, 1>>>();', [[4, 1, 1]]],
    ['int n = 3; read(n); k<<<n, 1>>>();', [[5, 1, 1]], 'void read(int& n) { n = 5; }'],
    ['int n = 3; read(&n); k<<<n, 1>>>();', [[5, 1, 1]], 'void read(int* n) { *n = 5; }'],
    ['int n; n = 3; k<<<n, 1>>>();', [[3, 1, 1]]],
    [
      'dim3 g; if (parameter) g.x = 3; k<<<g, 1>>>();',
      [
        [3, 1, 1],
        [1, 1, 1],
      ],
    ],
    ['dim3 g; g.x = 3; g.x = 4; k<<<g, 1>>>();', [[4, 1, 1]]],
    ['auto f = [](int N) { k<<<N, 1>>>(); }; f(7);', [[7, 1, 1]], 'const int N = 4;'],
    [
      'switch (parameter) { case 1: k<<<1, 1>>>(); break; case 2: k<<<2, 1>>>(); }',
      [
        [1, 1, 1],
        [2, 1, 1],
      ],
    ],
    ['k<<<size(), 1>>>();', [[8, 1, 1]], 'int size() { int s = 1; while (s < 5) s *= 2; return s; }'],
    ['Cfg c; c.rows = 3; k<<<c.rows * c.cols, 1>>>();', [[12, 1, 1]], 'struct Cfg { int rows; int cols = 4; };'],
    ['int s[] = {2, 3}; k<<<s[1], 1>>>();', [[3, 1, 1]]],
    [
      'unsigned g = 0; blocks(1000, 256, g); k<<<g, 1>>>();',
      [[4, 1, 1]],
      'void blocks(int n, int b, unsigned& g) { g = n % b ? n / b + 1 : n / b; }',
    ],
    [
      'wrap(k, 1000);',
      [[8, 1, 1]],
      'template <typename F> void wrap(F f, int n) { f<<<(n + 127) / 128, 128>>>(); }\n__global__ void k();',
    ],
    ['LAUNCH(k, 9);', [[9, 1, 1]], '#define LAUNCH(name, g) do { name<<<g, 1>>>(); } while (0)'],
  ] as const) {
    assert.deepEqual(await grids(body, before), expected, body);
  }
});

test('values known only at run time are unspecified', async () => {
  for (const [body, before] of [
    ['k<<<parameter, 1>>>();'],
    ['int n = 3; scanf("%d", &n); k<<<n, 1>>>();'],
    ['int n = 3; elsewhere(n); k<<<n, 1>>>();'],
    ['for (int n : list) k<<<n, 1>>>();'],
    ['k<<<variable, 1>>>();', 'int variable = 4;'],
    ['k<<<missing, 1>>>();'],
    ['k<<<compute(), 1>>>();'],
    ['k<<<1 / 0, 1>>>();'],
    ['int a = b; int b = a; k<<<a, 1>>>();'],
    ['k<<<A, 1>>>();', '#define A B\n#define B A'],
    ['int n = 3; while (more()) n += 2; k<<<n, 1>>>();'],
    ['State* s = get(); s->n = 4; State* t = get(); t->n = 5; k<<<s->n, 1>>>();', 'struct State { int n; };'],
  ] as const) {
    assert.equal(await grid(body, before), null, body);
  }
});

test('the size of a record is known if only its fields determine it', async () => {
  for (const [type, expected, before] of [
    ['S', [8, 1, 1], 'struct S { int x; float y; };'],
    ['S', [24, 1, 1], 'typedef struct { double x, y, z; } S;'],
    ['S', [4, 1, 1], 'struct S { int x; static int y; int get() const { return x; } };'],
    ['a::N', [4, 1, 1], 'namespace a { struct N { int x; }; }'],
    ['S', null, 'union S { int x; float y; };'],
    ['S', null, 'struct S { int x : 8; int y : 8; };'],
    ['S', null, 'struct alignas(32) S { int x; };'],
    ['S', null, 'struct __attribute__((aligned(16))) S { int x; };'],
    ['S', null, 'struct S { int x; } __attribute__((aligned(16)));'],
    ['S', null, 'struct S { alignas(16) int x; };'],
    ['S', null, 'struct B { int x; }; struct S : B { int y; };'],
    ['S', null, 'struct S { int x; virtual int get() const { return x; } };'],
    ['S', null, 'struct S { struct { int x, y; }; int z; };'],
    ['S<double>', null, 'template <typename T> struct S { int x; };'],
    ['a::N', null, 'namespace a { struct N { int x; }; } namespace b { struct N { int x, y; }; }'],
    ['S', null, 'struct S { int x; }; void other() { struct S { int x, y; }; use(sizeof(S)); }'],
    ['T', [4, 1, 1], 'using T = float;'],
    ['a::T', null, 'namespace a { using T = float; } namespace b { using T = double; }'],
    ['T', null, 'using T = float; void other() { using T = double; use(sizeof(T)); }'],
  ] as const) {
    assert.deepEqual(await grid(`k<<<sizeof(${type}), 1>>>();`, before), expected, before);
  }
});

test('floating-point arguments are known if they are exact', async () => {
  const float = [{ name: 's', type: 'float' }];
  for (const [body, expected] of [
    ['k<<<1, 1>>>(0.0f);', 0],
    ['k<<<1, 1>>>(-0.5f);', -0.5],
    ['float z = 2.0f; k<<<1, 1>>>(z * -1.5f);', -3],
    ['k<<<1, 1>>>(16777217.0f);', 16777216],
    ['float z = 16777217; k<<<1, 1>>>(z - 16777216);', 0],
    ['k<<<1, 1>>>(3);', 3],
    // A negative zero is another number: its sign bit is set.
    ['k<<<1, 1>>>(-0.0f);', undefined],
    ['float z = 0; k<<<1, 1>>>(-z);', undefined],
    ['float z = 0; k<<<1, 1>>>(z * -1.0f);', undefined],
    ['float z = 0; k<<<1, 1>>>(z / -2.0f);', undefined],
    // It is rounded to 100000000.
    ['k<<<1, 1>>>(100000000.0f + 1.0f - 100000000.0f);', undefined],
  ] as const) {
    const [site] = await sites(`void run() { ${body} }`, float);
    assert.equal(site!.scalars.get(0), expected, body);
  }
});

test('pointers are a known number of bytes apart if the size of their pointee is known', async () => {
  const distances = async (record: string) =>
    (await sites(`${record}\nvoid run() { S* p; cudaMalloc(&p, 4096); k<<<1, 64>>>(p, p + 10); }`))[0]!.distances;
  assert.deepEqual(await distances('struct S { int x, y; };'), [[0, 1, 80]]);
  assert.deepEqual(await distances('struct alignas(32) S { int x, y; };'), []);
});

test('sites that are combined keep the pointers, sizes and offsets that they agree on', () => {
  const pointer = (memory: string, bytes: bigint | null, offset: bigint | null): SitePointer => ({
    memory,
    bytes,
    offset,
  });
  const site = (...pointers: (readonly [number, SitePointer])[]) =>
    ({ pointers: new Map(pointers) }) as unknown as LaunchSite;
  const common = (...all: LaunchSite[]) => [...commonPointers(all)];
  const first = site([0, pointer('x', 64n, 0n)], [1, pointer('y', 32n, 8n)]);
  assert.deepEqual(common(first), [...first.pointers]);
  assert.deepEqual(common(first, site([0, pointer('x', 64n, 0n)])), [[0, pointer('x', 64n, 0n)]]);
  assert.deepEqual(common(first, first, site([1, pointer('y', 32n, 8n)])), [[1, pointer('y', 32n, 8n)]]);
  assert.deepEqual(common(first, first, site([1, pointer('y', 16n, 8n)])), [[1, pointer('y', null, 8n)]]);
  assert.deepEqual(common(first, site([1, pointer('y', 32n, 4n)]), first), [[1, pointer('y', 32n, null)]]);
  assert.deepEqual(common(first, site()), []);
  assert.deepEqual(common(), []);
});

test('unknown values are related to the arguments', async () => {
  const of = async (text: string, ...names: string[]) => {
    const parameters = names.map((name) => ({
      name: name.replace(/^.* \**/, ''),
      type: /\*/.test(name) ? 'float *' : 'int',
    }));
    const [site] = await sites(text, parameters);
    return site?.ties.map(printAssumption);
  };
  const a = 'float *a';
  assert.deepEqual(await of('void f(float* a, int n) { k<<<(n + 255) / 256, 256>>>(a, n); }', a, 'n'), ['gridDim.x == (n + 255) / 256', 'gridDim.y == 1', 'gridDim.z == 1']); // oxfmt-ignore
  assert.deepEqual(await of('void f(float* a, int n) { int g = n % 64 ? n / 64 + 1 : n / 64; k<<<dim3(g, 1, 1), 64>>>(a, n); }', a, 'n'), ['gridDim.x == (n + 63) / 64', 'gridDim.y == 1', 'gridDim.z == 1']); // oxfmt-ignore
  assert.deepEqual(await of('void f(float* a, int n) { int g = (int)ceil((float)n / 64.0f); k<<<dim3(g, 1, 1), 64>>>(a, n); }', a, 'n'), ['gridDim.x == (n + 63) / 64', 'gridDim.y == 1', 'gridDim.z == 1']); // oxfmt-ignore
  assert.deepEqual(await of('void f(float* a, int w, int h) { if (w % 16 != 0) return; k<<<dim3(w / 16, h / 16), 64>>>(a, w); }', a, 'w'), ['gridDim.x == w / 16', 'gridDim.z == 1', 'w % 16 == 0']); // oxfmt-ignore
  assert.deepEqual(await of('void f(float* a, int n, int t) { k<<<n / t, t>>>(a, n); }', a, 'n'), ['blockDim.y == 1', 'blockDim.z == 1', 'gridDim.x == n / blockDim.x', 'gridDim.y == 1', 'gridDim.z == 1']); // oxfmt-ignore
  assert.deepEqual(await of('void f(float* a, int n) { k<<<n / 4, 64>>>(a, n / 4); }', a, 'n'), ['gridDim.x == n', 'gridDim.y == 1', 'gridDim.z == 1']); // oxfmt-ignore
  assert.deepEqual(await of('void f(float* a, int n) { for (int s = n / 2; s > 0; s /= 2) k<<<1, 64>>>(a, s, n); }', a, 's', 'n'), ['s > 0', 's <= n / 2']); // oxfmt-ignore
  const condition = 'bool first, int n) { int pick = n ? (first ? 5 : 9) : 0; k<<<1, 64>>>(a,';
  assert.deepEqual(await of(`void f(float* a, ${condition} n != 3); }`, a, 'up'), ['up == 1 || up == 0']);
  assert.deepEqual(await of(`void f(float* a, ${condition} pick); }`, a, 'pick'), [
    'pick == 5 || pick == 9 || pick == 0',
  ]);
  assert.deepEqual(await of(`void f(float* a, ${condition} n ? pick : n); }`, a, 'pick'), []);
  assert.deepEqual(await of('void f(int n) { float* a; cudaMalloc(&a, n * sizeof(float)); k<<<1, 64>>>(a, n); }', a, 'n'), ['extent(a) >= n']); // oxfmt-ignore
});

test('arguments, shared memory and text of a launch', async () => {
  const [found] = await launchesIn(
    'void f(float* in, float* out, int rows) {\n  const int n = 64; float* late = in + 2; thrust::device_vector<int> v;\n  ns::red<float, 4 * 8, true, T><<<1, n, n * sizeof(float), s>>>(in, in + n, &out[3], (void*)late, n, 2.5f, rows, raw_pointer_cast(v.data()), v.data(), out + rows, nullptr);\n}\n',
  );
  const [site] = found?.sites ?? [];
  assert.ok(found && site);
  assert.equal(found.launch.kernel.name, 'ns::red');
  assert.deepEqual(found.launch.kernel.templateArguments, ['float', '32', '1', 'T']);
  assert.deepEqual(site.location, { file: 'run.cu', line: 3 });
  assert.match(site.text, /^ns::red<float, 4 \* 8, true, T><<<1, n/);
  assert.equal(site.sharedBytes, 256);
  assert.equal(site.cooperative, false);
  assert.deepEqual([...site.scalars], [[4, 64n], [5, 2.5]]); // oxfmt-ignore
  assert.deepEqual(site.aliases, [[0, 1], [0, 3], [1, 3], [2, 9], [7, 8]]); // oxfmt-ignore
});

test('arguments that may change between launches are not the same memory', async () => {
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

test('launches through the runtime and the driver are found', async () => {
  const found = await launchesIn(`__global__ void red(float*, int, float*);
void f(float* a, int n, CUmodule module) {
  int m = 12; dim3 g(3), b(4, 5);
  void* args[] = { &a, (void*)&m, &a };
  cudaLaunchKernel((const void*)red<256>, g, b, args, 16, 0);
  auto kern = &ns::coop;
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kern), g, b, args);
  cudaLaunchConfig_t c = {0}; c.gridDim = g; c.blockDim = 32;
  cudaLaunchAttribute attribute[1]; attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2; attribute[0].val.clusterDim.y = 1; attribute[0].val.clusterDim.z = 1;
  c.attrs = attribute; c.numAttrs = 1;
  cudaLaunchKernelEx(&c, ext, a, 7);
  CUfunction function; cuModuleGetFunction(&function, module, "byName");
  cuLaunchKernel(function, 2, 3, 1, 64, 1, 1, 8, 0, args, nullptr);
  cudaKernelNodeParams p = {0}; p.func = (void*)red; p.gridDim = dim3(6, 1, 1); p.blockDim = dim3(7, 1, 1); p.kernelParams = args;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p);
}
`);
  const summary = found.map(({ launch, sites: [site] }) => [launch.kernel.name, site?.grid, site?.block, site?.cluster, site?.sharedBytes, site?.cooperative]); // oxfmt-ignore
  assert.deepEqual(summary, [
    ['red', [3, 1, 1], [4, 5, 1], undefined, 16, false],
    ['ns::coop', [3, 1, 1], [4, 5, 1], undefined, 0, true],
    ['ext', [3, 1, 1], [32, 1, 1], [2, 1, 1], 0, false],
    ['byName', [2, 3, 1], [64, 1, 1], undefined, 8, false],
    ['red', [6, 1, 1], [7, 1, 1], undefined, 0, false],
  ]);
  assert.ok(found[3]?.launch.isByName && found[0]?.launch.isByName === false);
  const [first] = found[0]?.sites ?? [];
  assert.deepEqual([...(first?.scalars ?? [])], [[1, 12n]]);
  assert.deepEqual(first?.aliases, [[0, 2]]);
  assert.deepEqual([...(found[2]?.sites[0]?.scalars ?? [])], [[1, 7n]]);
});

test('a configuration from unknown code is unspecified', async () => {
  const [site] = await sites('void f(cudaLaunchConfig_t c, float* a) { cudaLaunchKernelEx(&c, ext, a, 7); }');
  assert.deepEqual(site?.unknown, ['block', 'grid', 'sharedBytes', 'cooperative', 'cluster']);
});

test('a launch belongs to the kernels of its name and arguments', async () => {
  const [found] = await launchesIn('void f() { ns::red<256, unsigned><<<1, 2>>>(); }');
  assert.ok(found);
  const { kernel } = found.launch;
  for (const name of [
    'ns::red<256, unsigned int>',
    'outer::ns::red<256, unsigned int, 5>',
    'ns::(anonymous namespace)::red<256, T>',
    'ns::red',
  ]) {
    assert.ok(canLaunch(kernel, name), name);
  }
  for (const name of [
    'red<256, unsigned int>',
    'ns::red<64, unsigned int>',
    'ns::red<256, float>',
    'ns::red<256, int>',
    'ns::red2<256, unsigned int>',
    'bns::red<256, unsigned>',
  ]) {
    assert.ok(!canLaunch(kernel, name), name);
  }
  const [open] = await launchesIn('template <int B> void f() { red<B><<<1, B>>>(); }');
  assert.ok(open && canLaunch(open.launch.kernel, 'red<64>') && canLaunch(open.launch.kernel, 'ns::red<128>'));
});

test('arguments distinguish instances, by incompatible types', () => {
  assert.ok(canTake(['half*', undefined, 'const T*'], ['__half*', 'float const*', 'double const*']));
  assert.ok(canTake(['unsigned int*'], ['unsigned*']) && canTake(['int'], ['float*']));
  assert.ok(!canTake(['double*'], ['float*']) && !canTake(['const int*'], ['unsigned int const*']));
});

test('texts without a launch are recognized without parsing', () => {
  assert.ok(
    mayLaunch('k<<<1, 2>>>()') && mayLaunch('cudaLaunchKernel(f)') && mayLaunch('cudaLaunchCooperativeKernel(f)'),
  );
  assert.ok(!mayLaunch('__global__ void k() { a << b; }'));
});

test('a path to a launch that only adds conditions to another path there is covered by it', async () => {
  const parameters = [{ name: 'p', type: 'float*' }, { name: 'n', type: 'int' }]; // oxfmt-ignore
  const launches = 'if (b > 4) b++; else n++; if (n > 9) run(p, n); run(p, n);';
  const found = await launchesIn(
    `static void run(float *p, int n) { k<<<(n + 63) / 64, 64>>>(p, n); }\nvoid all(float *p, int n, int b) { ${launches} }`,
    parameters,
  );
  const all = found.flatMap(({ sites }) => sites);
  const kept = withoutCovered(all);
  const conditions = (site: LaunchSite): string => site.ties.map((tie) => printAssumption(tie)).join('; ');
  assert.ok(all.some((site) => conditions(site).includes('n > 9')));
  assert.ok(kept.length > 0 && kept.every((site) => !conditions(site).includes('n > 9')));
  const [site] = kept;
  assert.ok(site);
  const [more] = all.filter((other) => conditions(other).includes('n > 9'));
  assert.ok(more);
  // Properties other than conditions: a block, a size of shared memory, an argument.
  const others: LaunchSite[] = [
    { ...more, block: [32, 1, 1] },
    { ...more, sharedBytes: 64 },
    { ...more, scalars: new Map([[1, 12n]]) },
    { ...more, aliases: [[0, 1]] },
    { ...more, location: { ...more.location, line: 99 } },
    { ...more, ties: [...more.ties, { kind: 'extent', array: 'p', atLeast: { kind: 'integer', value: 8n } }] },
  ];
  assert.deepEqual(withoutCovered([site, ...others]), [site, ...others]);
  assert.deepEqual(withoutCovered([more, site]), [site]);
});
