/** Sites of launches: dimensions, scalars, pointers, and constraints between dimensions and arguments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LaunchSite } from '../../src/cuda/launches/launch-site.ts';
import type { LaunchParameter } from '../../src/cuda/launches/launch-parameter.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { type Snippet, extentsOf, gridsOf, readSnippets, snippetOf, tiesOf } from './fixture.ts';

type Grid = readonly [number, number, number];

const dimensions: readonly (readonly [body: string, expected: Grid, before?: string])[] = [
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
  ['int n = 3; read(n); k<<<n, 1>>>();', [3, 1, 1], 'void use(int n); void read(const int& n) { use(n); }'],
  ['auto f = [&]() { k<<<6, 1>>>(); }; f();', [6, 1, 1]],
];

const power = 'int p = 0; while ((2 << p) <= parameter) p++; const int t = 1 << p;';

const changed: readonly (readonly [body: string, expected: readonly number[], before?: string])[] = [
  ['int n = 3; n++; k<<<n, 1>>>();', [4]],
  ['int n = 3; if (parameter) n = 4; k<<<n, 1>>>();', [3, 4]],
  ['int n = 3; n <<= 1; k<<<n, 1>>>();', [6]],
  ['int n = 100; k<<<~0x3f & (n + 0x3f), 1>>>();', [128]],
  ['for (int n = 1; n < 9; n *= 2) k<<<n, 1>>>();', [1, 2, 4, 8]],
  ['int n = 3; int& r = n; r = 4; k<<<n, 1>>>();', [4]],
  ['int n = 3; read(n); k<<<n, 1>>>();', [5], 'void read(int& n) { n = 5; }'],
  ['int n = 3; read(&n); k<<<n, 1>>>();', [5], 'void read(int* n) { *n = 5; }'],
  ['int n; n = 3; k<<<n, 1>>>();', [3]],
  ['dim3 g; if (parameter) g.x = 3; k<<<g, 1>>>();', [1, 3]],
  ['dim3 g; g.x = 3; g.x = 4; k<<<g, 1>>>();', [4]],
  ['auto f = [](int N) { k<<<N, 1>>>(); }; f(7);', [7], 'const int N = 4;'],
  ['switch (parameter) { case 1: k<<<1, 1>>>(); break; case 2: k<<<2, 1>>>(); }', [1, 2]],
  // Powers of two below 8: the default is never taken.
  [
    `${power} if (t < 8) switch (t) { case 1: k<<<1, 1>>>(); break; case 2: k<<<2, 1>>>(); break; case 4: k<<<4, 1>>>(); break; default: k<<<t, 1>>>(); }`,
    [1, 2, 4],
  ],
  ['k<<<size(), 1>>>();', [8], 'int size() { int s = 1; while (s < 5) s *= 2; return s; }'],
  ['Cfg c; c.rows = 3; k<<<c.rows * c.cols, 1>>>();', [12], 'struct Cfg { int rows; int cols = 4; };'],
  ['int s[] = {2, 3}; k<<<s[1], 1>>>();', [3]],
  [
    'unsigned g = 0; blocks(1000, 256, g); k<<<g, 1>>>();',
    [4],
    'void blocks(int n, int b, unsigned& g) { g = n % b ? n / b + 1 : n / b; }',
  ],
  ['wrap(k, 1000);', [8], '__global__ void k() {}\ntemplate <typename F> void wrap(F f, int n) { f<<<(n + 127) / 128, 128>>>(); }'],
  ['LAUNCH(k, 9);', [9], '#define LAUNCH(name, g) do { name<<<g, 1>>>(); } while (0)'],
];

/** Programs of which the first launch has a grid that only the run decides. */
const undecided: readonly (readonly [body: string, before?: string])[] = [
  ['k<<<parameter, 1>>>();'],
  ['int n = 3; scanf("%d", &n); k<<<n, 1>>>();'],
  ['int n = 3; change(n); k<<<n, 1>>>();', 'void change(int& n);'],
  ['for (int n : list) k<<<n, 1>>>();', 'extern int list[4];'],
  ['for (int n : list) k<<<n, 1>>>();', 'extern std::vector<int> list;'],
  ['k<<<variable, 1>>>();', 'int variable = 4;'],
  ['k<<<missing, 1>>>();', 'extern int missing;'],
  ['k<<<compute(), 1>>>();', 'int compute();'],
  ['k<<<1 / 0, 1>>>();'],
  [`${power} if (t < 8) switch (t) { case 1: case 4: break; default: k<<<t, 1>>>(); }`],
  [`${power} switch (t) { case 1: case 2: case 4: break; default: k<<<t, 1>>>(); }`],
  ['int n = 3; while (more()) n += 2; k<<<n, 1>>>();'],
  ['State* s = get(); s->n = 4; State* t = get(); t->n = 5; k<<<s->n, 1>>>();', 'struct State { int n; }; State* get();'],
];

const sizes: readonly (readonly [type: string, expected: number, before: string])[] = [
  ['S', 8, 'struct S { int x; float y; };'],
  ['S', 24, 'typedef struct { double x, y, z; } S;'],
  ['S', 4, 'struct S { int x; static int y; int get() const { return x; } };'],
  ['a::N', 4, 'namespace a { struct N { int x; }; }'],
  ['S', 4, 'union S { int x; float y; };'],
  ['S', 4, 'struct S { int x : 8; int y : 8; };'],
  ['S', 32, 'struct alignas(32) S { int x; };'],
  ['S', 16, 'struct __attribute__((aligned(16))) S { int x; };'],
  ['S', 16, 'struct S { int x; } __attribute__((aligned(16)));'],
  ['S', 16, 'struct S { alignas(16) int x; };'],
  ['S', 8, 'struct B { int x; }; struct S : B { int y; };'],
  ['S', 16, 'struct S { int x; virtual int get() const { return x; } };'],
  ['S', 12, 'struct S { struct { int x, y; }; int z; };'],
  ['S<double>', 8, 'template <typename T> struct S { T x; };'],
  ['a::N', 4, 'namespace a { struct N { int x; }; } namespace b { struct N { int x, y; }; }'],
  ['S', 4, 'struct S { int x; }; void inner() { struct S { int x, y; }; take(sizeof(S)); }'],
  ['T', 4, 'using T = float;'],
  ['a::T', 4, 'namespace a { using T = float; } namespace b { using T = double; }'],
  ['T', 4, 'using T = float; void inner() { using T = double; take(sizeof(T)); }'],
];

const floats: readonly (readonly [body: string, expected: number | undefined])[] = [
  ['k<<<1, 1>>>(0.0f);', 0],
  ['k<<<1, 1>>>(-0.5f);', -0.5],
  ['float z = 2.0f; k<<<1, 1>>>(z * -1.5f);', -3],
  ['k<<<1, 1>>>(100000001.0f);', 100000000],
  ['float z = 16777217; k<<<1, 1>>>(z - 16777216);', 0],
  ['k<<<1, 1>>>(3);', 3],
  // Rounded to 100000000.
  ['k<<<1, 1>>>(100000000.0f + 1.0f - 100000000.0f);', 0],
  ['float z = 1.0f; k<<<1, 1>>>(100000000.0f + z - 100000000.0f);', 0],
  // A negative zero is another number: its sign bit is set.
  ['k<<<1, 1>>>(-0.0f);', undefined],
  ['float z = 0; k<<<1, 1>>>(-z);', undefined],
  ['float z = 0; k<<<1, 1>>>(z * -1.0f);', undefined],
  ['float z = 0; k<<<1, 1>>>(z / -2.0f);', undefined],
];

const distances: readonly (readonly [record: string, bytes: number])[] = [
  ['struct S { int x, y; };', 80],
  ['struct alignas(32) S { int x, y; };', 320],
];

const a: LaunchParameter = { name: 'a', type: 'float*' };
const int = (name: string): LaunchParameter => ({ name, type: 'int' });

const pick = 'bool first, int n) { int pick = n ? (first ? 5 : 9) : 0; k<<<1, 64>>>(a,';

/** Functions that launch `k`, and the constraints of its dimensions and arguments. */
const related: readonly (readonly [text: string, parameters: readonly LaunchParameter[], ties: readonly string[]])[] = [
  [
    'void f(float* a, int n) { k<<<(n + 255) / 256, 256>>>(a, n); }',
    [a, int('n')],
    ['gridDim.x == (n + 255) / 256', 'gridDim.y == 1', 'gridDim.z == 1'],
  ],
  [
    'void f(float* a, int n) { int g = n % 64 ? n / 64 + 1 : n / 64; k<<<dim3(g, 1, 1), 64>>>(a, n); }',
    [a, int('n')],
    ['gridDim.x == (n + 63) / 64', 'gridDim.y == 1', 'gridDim.z == 1'],
  ],
  [
    'void f(float* a, int n) { int g = (int)ceil((float)n / 64.0f); k<<<dim3(g, 1, 1), 64>>>(a, n); }',
    [a, int('n')],
    ['gridDim.x == (n + 63) / 64', 'gridDim.y == 1', 'gridDim.z == 1'],
  ],
  [
    'void f(float* a, int w, int h) { if (w % 16 != 0) return; k<<<dim3(w / 16, h / 16), 64>>>(a, w); }',
    [a, int('w')],
    ['gridDim.x == w / 16', 'gridDim.z == 1', 'w % 16 == 0'],
  ],
  [
    'void f(float* a, int n, int t) { k<<<n / t, t>>>(a, n); }',
    [a, int('n')],
    ['blockDim.y == 1', 'blockDim.z == 1', 'gridDim.x == n / blockDim.x', 'gridDim.y == 1', 'gridDim.z == 1'],
  ],
  ['void f(float* a, int n) { k<<<n / 4, 64>>>(a, n / 4); }', [a, int('n')], ['gridDim.x == n', 'gridDim.y == 1', 'gridDim.z == 1']],
  [
    'void f(float* a, int n) { for (int s = n / 2; s > 0; s /= 2) k<<<1, 64>>>(a, s, n); }',
    [a, int('s'), int('n')],
    ['s > 0', 's <= n / 2'],
  ],
  [`void f(float* a, ${pick} n != 3); }`, [a, int('up')], ['up == 1 || up == 0']],
  [`void f(float* a, ${pick} pick); }`, [a, int('pick')], ['pick == 0 || pick == 9 || pick == 5']],
  [`void f(float* a, ${pick} n ? pick : n); }`, [a, int('pick')], []],
  ['void f(int n) { float* a; cudaMalloc(&a, n * sizeof(float)); k<<<1, 64>>>(a, n); }', [a, int('n')], ['extent(a) >= n']],
];

/** Functions that launch `k` with a constraint among others. */
const constrained: readonly (readonly [text: string, parameters: readonly LaunchParameter[], tie: string])[] = [
  // The value of a quotient in a condition bounds the dividend.
  ['void f(int n) { if (n / 2 == 4) k<<<n / 2, 256>>>(n); }', [int('n')], 'n <= 9'],
  ['void f(int n) { if (n / 2 == 4) k<<<n / 2, 256>>>(n); }', [int('n')], 'n >= 8'],
  ['void f(int n) { if (n / 2 == 0) k<<<1, 256>>>(n); }', [int('n')], 'n >= -1'],
  ['void f(int n) { if (n / 2 != 0) k<<<1, 256>>>(n); }', [int('n')], 'n < -1 || n > 1'],
  ['void f(unsigned n) { if (n + 3 > 8) k<<<1, 256>>>(n); }', [int('n')], 'n + 3 > 8'],
  // A grid is constrained by a part of the number of which an argument is a part.
  ['void f(int n) { int half = n / 2; k<<<half / 512, 512>>>(half); }', [int('n')], 'gridDim.x == n / 512'],
];

/** Functions that launch `k` for which a relation may be violated. */
const violated: readonly (readonly [text: string, parameters: readonly LaunchParameter[], wrong: RegExp])[] = [
  ['void f(int n) { k<<<(n + 255) / 256, 256>>>(n); }', [{ name: 'p', type: 'unsigned char' }], /gridDim.x == \(p/],
  ['void f(int n) { unsigned char c = n; k<<<c, 256>>>(n); }', [int('p')], /gridDim.x == p/],
  [
    'void adjust(int& s) { s = -7; } void f(int n) { for (int s = 1; s < n; s += 2) { adjust(s); k<<<1, 1>>>(s); } }',
    [int('p')],
    /p >= 1|% 2/,
  ],
  ['void g(); void f(int n) { int s; for (s = n; s > 3; s /= 2) g(); k<<<1, 1>>>(s, n); }', [int('p'), int('q')], /^p >= 0|^p <= q/m],
  ['struct S { int n; }; void f(S* s, S* t) { int m = s->n; t->n = 5; k<<<s->n, 1>>>(m); }', [int('p')], /gridDim.x == p/],
  // The compiler tests `n - 8 > 1` with unsigned numbers, for which a small `n` is a large number.
  ['void f(int n) { if (n / 2 != 4) k<<<1, 256>>>(n); }', [int('p')], /^p - 8 > 1|^p > 9/m],
  // It tests `n + 1 > 2`.
  ['void f(int n) { if (n / 2 != 0) k<<<1, 256>>>(n); }', [int('p')], /^p \+ 1 > 2|^p > 1/m],
  ['void f(unsigned n) { if (n - 5u > 95) k<<<1, 256>>>(n); }', [int('p')], /^p - 5 > 95|^p > 100/m],
  ['struct S { int n_; void f() { int m = n_; n_ = 8; k<<<n_, 1>>>(m); } }; void g(S& s) { s.f(); }', [int('p')], /gridDim.x == p/],
];

/** Pairs of arguments, and whether they point into one object, and are the same pointer. */
const pairs: readonly (readonly [list: string, isOfOne: boolean, isSame: boolean])[] = [
  ['pool.next(), pool.next()', false, false],
  ['bufs[j++], bufs[j++]', false, false],
  ['*bufs++, *bufs++', false, false],
  ['bufs[g()], bufs[g()]', false, false],
  ['v.data(), v.data()', true, true],
  ['v.data_ptr<float>(), v.data_ptr<float>()', true, true],
  ['bufs[j], bufs[j]', true, true],
  ['*bufs, *bufs', true, true],
  ['&d[j++], &d[j++]', true, false],
  ['d + g(), d + g()', true, false],
];

const ofPair = `struct Pool { int *next(); };
struct V { float *p; float *data() { return p; }
  template <typename T> T *data_ptr() const { return static_cast<T *>(p); } };
int g();
`;

/** Why extents are neither constant nor constrained by an argument. */
const reasons: readonly (readonly [body: string, expected: readonly string[], before?: string])[] = [
  ['k<<<4, 32>>>();', []],
  ['k<<<more(), 32>>>();', ['gridDim.x depends on the result of `more()`']],
  ['k<<<dim3(2, atoi("3")), more()>>>();', ['blockDim.x depends on the result of `more()`', 'gridDim.y depends on the result of `atoi()`']],
  ['k<<<parameter, 32>>>();', ['gridDim.x depends on the parameter `parameter` of `s1000::run`, of which not all callers were read']],
  // An argument determines it.
  ['k<<<(parameter + 31) / 32, 32>>>(parameter);', []],
  ['for (int i = 1; i < parameter; i *= 2) if (late()) k<<<i, 32>>>();', ['gridDim.x depends on `i`, which a loop changes']],
  [
    'k<<<plan->blocks(), 32>>>();',
    ['gridDim.x depends on the result of a virtual function of `Plan`, which may be one of several'],
    'struct Plan { virtual int blocks(); }; extern Plan* plan;',
  ],
  ['k<<<n, 32>>>();', ['gridDim.x depends on `n`'], 'extern int n;'],
];

test('sites of launches', { skip: withoutNvcc }, async (context) => {
  const snippets: Snippet[] = [];
  const add = (...more: readonly Snippet[]): number => snippets.push(...more) - more.length;
  const starts = {
    dimensions: add(...dimensions.map(([body, , before]) => snippetOf(body, before))),
    changed: add(...changed.map(([body, , before]) => snippetOf(body, before))),
    undecided: add(...undecided.map(([body, before]) => snippetOf(body, before))),
    sizes: add(...sizes.map(([type, , before]) => snippetOf(`k<<<sizeof(${type}), 1>>>();`, before))),
    floats: add(...floats.map(([body]) => snippetOf(body, '', [{ name: 's', type: 'float' }]))),
    distances: add(...distances.map(([record]) => snippetOf('S* p; cudaMalloc(&p, 4096); k<<<1, 64>>>(p, p + 10);', record))),
    related: add(...related.map(([text, parameters]) => ({ text, parameters }))),
    constrained: add(...constrained.map(([text, parameters]) => ({ text, parameters }))),
    violated: add(...violated.map(([text, parameters]) => ({ text, parameters }))),
    reasons: add(...reasons.map(([body, , before]) => snippetOf(body, before))),
    pairs: add(
      ...pairs.map(([list]) => ({ text: `${ofPair}void f(Pool& pool, int** bufs, int* d, int j, V v) { k<<<1, 256>>>(${list}); }` })),
    ),
  };
  const found = await readSnippets(context, snippets, ['algorithm', 'vector']);
  const sites = (at: number): readonly LaunchSite[] => found[at]!.flatMap((one) => one.sites);
  await context.test('dimensions are evaluated', () => {
    for (const [at, [body, expected]] of dimensions.entries()) assert.deepEqual(gridsOf(found[starts.dimensions + at]!)[0], expected, body);
  });
  await context.test('changes on the path to a launch are followed', () => {
    for (const [at, [body, expected]] of changed.entries()) assert.deepEqual(extentsOf(found[starts.changed + at]!), expected, body);
  });
  await context.test('values known only at run time are unspecified', () => {
    for (const [at, [body]] of undecided.entries()) assert.equal(gridsOf(found[starts.undecided + at]!)[0], null, body);
  });
  await context.test('the size of a record is that of its layout', () => {
    for (const [at, [, expected, record]] of sizes.entries())
      assert.deepEqual(gridsOf(found[starts.sizes + at]!), [[expected, 1, 1]], record);
  });
  await context.test('floating-point arguments are known if they are exact', () => {
    for (const [at, [body, expected]] of floats.entries()) assert.equal(sites(starts.floats + at)[0]!.scalars.get(0), expected, body);
  });
  await context.test('the distance of pointers in bytes is known', () => {
    for (const [at, [record, bytes]] of distances.entries())
      assert.deepEqual(sites(starts.distances + at)[0]!.distances, [[0, 1, { kind: 'integer', value: BigInt(bytes) }]], record);
  });
  await context.test('unknown values are related to the arguments', () => {
    assert.deepEqual(
      related.map(([text], at) => [text, tiesOf(sites(starts.related + at)[0])]),
      related.map(([text, , ties]) => [text, ties]),
    );
    for (const [at, [text, , tie]] of constrained.entries()) {
      const list = tiesOf(sites(starts.constrained + at)[0]);
      assert.ok(list.includes(tie), `${text}: ${list.join('; ')}`);
    }
  });
  await context.test('relations that are violated are not constraints', () => {
    for (const [at, [text, , wrong]] of violated.entries()) {
      assert.ok(sites(starts.violated + at).length > 0);
      for (const site of sites(starts.violated + at)) assert.doesNotMatch(tiesOf(site).join('\n'), wrong, text);
    }
  });
  await context.test('why an extent is open', () => {
    assert.deepEqual(
      reasons.map(([body], at) => [
        body,
        sites(starts.reasons + at)
          .at(-1)
          ?.reasons.map((text) => text.replaceAll(/s\d{4}/g, 's1000')),
      ]),
      reasons.map(([body, expected]) => [body, expected]),
    );
  });
  await context.test('arguments that may change between launches are not the same memory', () => {
    for (const [at, [list, isOfOne, isSame]] of pairs.entries()) {
      const [site] = sites(starts.pairs + at);
      assert.deepEqual([site?.aliases, site?.samePointers], [isOfOne ? [[0, 1]] : [], isSame ? [[0, 1]] : []], list);
    }
  });
});
