/** Launches through `<<<…>>>`, the runtime and the driver: kernels, configurations, arguments and places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LaunchSite, withoutCovered } from '../../src/cuda/launches/launch-site.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { type Snippet, readSnippets, tiesOf } from './fixture.ts';

const everyArgument: Snippet = {
  text: `struct T {};
namespace ns {
template <typename A, int B, bool C, typename D>
__global__ void red(A*, A*, A*, void*, int, float, int, A*, A*, A*, void*) {}
}
template <typename A> A *raw(A *p) { return p; }
void f(float* in, float* out, int rows, cudaStream_t s) {
  const int n = 64; float* late = in + 2; std::vector<float> v(n);
  ns::red<float, 4 * 8, true, T><<<1, n, n * sizeof(float), s>>>(in, in + n, &out[3], (void*)late, n, 2.5f, rows,
      raw(v.data()), v.data(), out + rows, nullptr);
}`,
};

const everyForm: Snippet = {
  kernels: { '4nodeEPfiS0_': [8, 4, 8], '3extEPfi': [8, 4], '2ns4coopEPfiS1_': [8, 4, 8] },
  text: `template <int B> __global__ void red(float*, int, float*) {}
__global__ void node(float*, int, float*) {}
__global__ void ext(float*, int) {}
namespace ns { __global__ void coop(float*, int, float*) {} }
void f(float* a, int n, CUmodule module, cudaGraph_t graph) {
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
  cudaKernelNodeParams p = {0}; p.func = (void*)node;
  p.gridDim = dim3(6, 1, 1); p.blockDim = dim3(7, 1, 1); p.kernelParams = args;
  cudaGraphNode_t added; cudaGraphAddKernelNode(&added, graph, nullptr, 0, &p);
}`,
};

const unknownConfiguration: Snippet = {
  kernels: { '3extEPfi': [8, 4] },
  text: `__global__ void ext(float*, int) {}
void f(cudaLaunchConfig_t c, float* a) { cudaLaunchKernelEx(&c, ext, a, 7); }`,
};

const covered: Snippet = {
  parameters: [
    { name: 'p', type: 'float*' },
    { name: 'n', type: 'int' },
  ],
  text: `static void run(float *p, int n) { k<<<(n + 63) / 64, 64>>>(p, n); }
void all(float *p, int n, int b) { if (b > 4) b++; else n++; if (n > 9) run(p, n); run(p, n); }`,
};

const inTemplate: Snippet = {
  text: `template <typename T> __global__ void fill(T* p, T with) {}
template <typename T> void launch(T* p, T with) {
  fill<<<2, 32>>>(p, with);
}
void f(float* p, int* q) {
  launch(p, 1.5f);
  launch(q, 3);
}`,
};

test('forms of launches', { skip: withoutNvcc }, async (context) => {
  const found = await readSnippets(context, [everyArgument, everyForm, unknownConfiguration, covered, inTemplate], ['cuda.h', 'vector']);
  await context.test('arguments, shared memory and place of a launch', () => {
    const [one, ...others] = found[0]!;
    const [site] = one?.sites ?? [];
    assert.ok(one && site && others.length === 0);
    assert.match(one.launch.kernel, /2ns3redIfLi32ELb1ENS?_?\S*1TE/);
    assert.deepEqual(site.location, { file: 'unit.cu', line: 9 });
    assert.deepEqual(
      [site.grid, site.block],
      [
        [1, 1, 1],
        [64, 1, 1],
      ],
    );
    assert.equal(site.sharedBytes, 256);
    assert.equal(site.cooperative, false);
    assert.deepEqual(
      [...site.scalars],
      [
        [4, 64n],
        [5, 2.5],
      ],
    );
    assert.deepEqual(site.pointers.get(10), { memory: 'null', bytes: 0n, offset: 0n });
    assert.deepEqual(site.aliases, [
      [0, 1],
      [0, 3],
      [1, 3],
      [2, 9],
      [7, 8],
    ]);
  });
  await context.test('launches through the runtime and the driver are found', () => {
    const all = found[1]!;
    const summary = all.map(({ launch, sites: [site] }) => [
      launch.kernel.replace(/^_ZN5s\d{4}/, ''),
      site?.grid,
      site?.block,
      site?.cluster,
      site?.sharedBytes,
      site?.cooperative,
    ]);
    assert.deepEqual(summary, [
      ['3redILi256EEEvPfiS1_', [3, 1, 1], [4, 5, 1], undefined, 16, false],
      ['2ns4coopEPfiS1_', [3, 1, 1], [4, 5, 1], undefined, 0, true],
      ['3extEPfi', [3, 1, 1], [32, 1, 1], [2, 1, 1], 0, false],
      ['byName', [2, 3, 1], [64, 1, 1], undefined, 8, false],
      ['4nodeEPfiS0_', [6, 1, 1], [7, 1, 1], undefined, 0, false],
    ]);
    const sites = all.map((one) => one.sites[0]);
    assert.deepEqual([...sites[0]!.scalars], [[1, 12n]]);
    assert.deepEqual(sites[0]!.aliases, [[0, 2]]);
    assert.deepEqual([...sites[2]!.scalars], [[1, 7n]]);
  });
  await context.test('a configuration from unknown code is unspecified', () => {
    assert.deepEqual(found[2]![0]?.sites[0]?.unknown, ['block', 'grid', 'sharedBytes', 'cooperative', 'cluster']);
  });
  await context.test('a launch in a template is of the instance of each of its callers', () => {
    const all = found[4]!.map(({ launch, sites: [site] }) => [
      /4fillI(\w)E/.exec(launch.kernel)?.[1],
      site?.location.line,
      site?.scalars.get(1),
    ]);
    assert.deepEqual(all, [
      ['f', 3, 1.5],
      ['i', 3, 3n],
    ]);
  });
  await context.test('a path that only adds conditions to another path to the launch is covered by it', () => {
    const all = found[3]!.flatMap(({ sites }) => sites);
    const kept = withoutCovered(all);
    const conditions = (site: LaunchSite): string => tiesOf(site).join('; ');
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
});
