import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { accessText } from '../../../src/cuda/reading/access-text.ts';
import { commentProblems } from '../../../src/cuda/reading/annotation.ts';
import { nodesWhere } from '../../../src/cuda/syntax/syntax-tree.ts';
import { readSource } from '../../../src/cuda/syntax/syntax.ts';
import { cudaParser, lineOf } from './grammar.ts';

const sample = `#include <cstdint>
#include "tile.h" // not a system header
#define N 256
#define CEIL_DIV(a, b) \\
  (((a) + (b) - 1) / (b))
#define KERNEL __global__ void

// selvage: block=256 grid=64
/* more about it */
// selvage: assume(n % 32 == 0)
template <int BS, typename T = float>
__global__ void __launch_bounds__(256)
reduce(const float* __restrict__ in, T (&table)[4], float out[], int n = 3, cudaTextureObject_t) {
  out[0] = in[n]; // selvage-ignore race/global: one thread
}

namespace ns { namespace a::inline b {
class S final : Base<int> {
public:
  S() : x(0) { run(); }
  static __device__ int f(int x) { return x; }
};
namespace {
static __global__ void hidden(unsigned long long* p, void (*callback)(int)) {}
}
}}

extern "C" {
__global__ void plain(int) { if (true) { } }
}

KERNEL macroed(int* p, unsigned n, const ns::Type t, ns::Type) { *p = 0; }
ATTRIBUTES(3) __global__ void attributed(struct P p) {}
template <> __global__ void special<256, float>(float* p) {}
__global__ void declared(int*);

#if FAST
__global__ void either(int a) {
#else
__global__ void either(int a, int b) {
#endif
  // selvage-ignore race/shared: known,
  // in two lines
  a = 3 +
      4;
}
__global__ void after() {}
// selvage: block=1
int unrelated;
`;

test('kernels are found with names, parameters and lines', () => {
  const source = readSource(sample, 'a.cu');
  const kernels = new Map(source.kernels.map((kernel) => [`${kernel.qualified}@${kernel.firstLine}`, kernel]));
  assert.deepEqual(
    source.kernels.map(({ qualified }) => qualified),
    ['reduce', 'ns::a::b::(anonymous namespace)::hidden', 'plain', 'macroed', 'attributed', 'special', 'either', 'either', 'after'],
  );
  const reduce = kernels.get(`reduce@${lineOf(sample, 'template <int BS')}`);
  assert.ok(reduce);
  assert.deepEqual(reduce.parameters, [
    { name: 'in', type: 'const float* __restrict__' },
    { name: 'table', type: 'T (&)[4]' },
    { name: 'out', type: 'float []' },
    { name: 'n', type: 'int' },
    { name: undefined, type: 'cudaTextureObject_t' },
  ]);
  assert.deepEqual(reduce.templateParameters, [
    { name: 'BS', type: 'int' },
    { name: 'T', type: 'typename' },
  ]);
  assert.equal(reduce.signatureLine, lineOf(sample, 'reduce(const'));
  assert.equal(reduce.lastLine, lineOf(sample, 'one thread') + 1);
  assert.deepEqual(
    reduce.annotations.map(({ line, column }) => [line, column]),
    [
      [lineOf(sample, 'selvage: block=256'), 1],
      [lineOf(sample, 'selvage: assume'), 1],
    ],
  );
  const [hidden] = source.kernels.filter(({ name }) => name === 'hidden');
  assert.deepEqual(hidden?.parameters, [
    { name: 'p', type: 'unsigned long long*' },
    { name: 'callback', type: 'void (*)(int)' },
  ]);
  const [macroed] = source.kernels.filter(({ name }) => name === 'macroed');
  assert.deepEqual(
    macroed?.parameters.map(({ name }) => name),
    ['p', 'n', 't', undefined],
  );
  assert.equal(source.kernels.find(({ name }) => name === 'special')?.specialization, '256, float');
  assert.deepEqual(source.kernels.find(({ name }) => name === 'attributed')?.parameters, [{ name: 'p', type: 'struct P' }]);
});

test('both branches of a conditional are definitions, and the text after it is read', () => {
  const source = readSource(sample, 'a.cu');
  const either = source.kernels.filter(({ name }) => name === 'either');
  assert.deepEqual(
    either.map(({ parameters }) => parameters.length),
    [1, 2],
  );
  const end = lineOf(sample, 'void after') - 1;
  assert.deepEqual(
    either.map(({ lastLine }) => lastLine),
    [end, end],
  );
});

test('functions have their kind and class', () => {
  const source = readSource(sample, 'a.cu');
  const kinds = source.functions.filter(({ kind }) => kind !== 'kernel').map(({ qualified, kind }) => `${kind} ${qualified}`);
  assert.deepEqual(kinds, ['host ns::a::b::S::S', 'device ns::a::b::S::f']);
});

test('directives are read', () => {
  const { includes, macros } = readSource(sample, 'a.cu');
  assert.deepEqual(includes, [
    { path: 'cstdint', system: true, line: 1 },
    { path: 'tile.h', system: false, line: 2 },
  ]);
  assert.deepEqual(macros.slice(0, 2), [
    { name: 'N', parameters: undefined, value: '256', line: 3 },
    { name: 'CEIL_DIV', parameters: ['a', 'b'], value: '(((a) + (b) - 1) / (b))', line: 4 },
  ]);
});

test('suppressions apply to their line, or to the statement below', () => {
  const { suppressions } = readSource(sample, 'a.cu');
  const statement = lineOf(sample, 'a = 3 +');
  assert.deepEqual(
    suppressions.map(({ code, reason, firstLine, lastLine }) => ({ code, reason, firstLine, lastLine })),
    [
      { code: 'race/global', reason: 'one thread', firstLine: lineOf(sample, 'one thread'), lastLine: lineOf(sample, 'one thread') },
      { code: 'race/shared', reason: 'known,', firstLine: statement, lastLine: statement + 1 },
    ],
  );
});

test('comments without effect are reported at their position', () => {
  const text = '// selvage: block=1\nint x;\n// selvage-ignore race/shard: why\n  // selvage-ignore race/shared\n// selvage-ignore\n';
  const problems = commentProblems(readSource(text, 'b.cu'));
  assert.deepEqual(
    problems.map(({ code, location }) => [code, location?.file, location?.line, location?.column]),
    [
      ['annotation/stray', 'b.cu', 1, 1],
      ['suppression/malformed', 'b.cu', 3, 1],
      ['suppression/malformed', 'b.cu', 4, 3],
      ['suppression/malformed', 'b.cu', 5, 1],
    ],
  );
  assert.match(problems[1]?.message ?? '', /Did you mean race\/shared\?/);
});

test('text of kernels within strings, comments and raw strings is ignored', () => {
  const text =
    'const char* a = "__global__ void no() {"; /* __global__ void no() {} */ auto r = R"x(__global__ void no() {)x";\n__global__ void yes() { char c = \'{\'; }\n__global__ void also() {}';
  assert.deepEqual(
    readSource(text, '').kernels.map(({ name }) => name),
    ['yes', 'also'],
  );
});

test('the tree carries lines and survives errors', async () => {
  const source = (await cudaParser()).parse('void f() { k<<<1, 2>>>(3); }\n@@@ }\nint g() { return 1; }\n', 'c.cu');
  const launches = nodesWhere(source.tree(), ({ type }) => type === 'kernel_call_syntax');
  assert.equal(launches.length, 1);
  assert.ok(nodesWhere(source.tree(), ({ type }) => type === 'ERROR').length > 0);
  assert.equal(source.functions.find(({ name }) => name === 'g')?.firstLine, 3);
});

test('deep nesting and damaged texts neither throw nor hang', async () => {
  const parser = await cudaParser();
  const deep = `__global__ void k(int* p) { *p = ${'('.repeat(5000)}1${')'.repeat(5000)}; }\n__global__ void l() {}`;
  const source = parser.parse(deep);
  source.tree();
  assert.deepEqual(
    source.kernels.map(({ name }) => name),
    ['k', 'l'],
  );
  parser.parse('<'.repeat(20_000)).tree();

  const random = seededRandom(7);
  const host = 'void run(int* d) { const int n = 64; dim3 b(n); reduce<256><<<(n + 1) / 2, b, 4 * n>>>(d, d + 1, n); }\n';
  const whole = sample + host;
  const noise = [
    '{',
    '}',
    '(',
    ')',
    '<',
    '>',
    '<<<',
    '>>>',
    '"',
    "'",
    '/*',
    '//',
    '#if X\n',
    '#else\n',
    '#endif\n',
    '::',
    'template <',
    ';',
  ];
  for (let round = 0; round < 150; round++) {
    let text = whole;
    for (let edit = 0; edit < random.between(1, 4); edit++) {
      const at = random.below(text.length);
      const length = random.chance(0.5) ? random.below(40) : 0;
      text = text.slice(0, at) + (random.chance(0.7) ? random.pick(noise) : '') + text.slice(at + length);
    }
    const damaged = parser.parse(text, 'd.cu');
    commentProblems(damaged);
    for (const { firstLine, lastLine } of damaged.functions) {
      assert.ok(firstLine <= lastLine);
      accessText(damaged, { line: random.between(firstLine, lastLine) }, 'write', 'out', 0);
    }
  }
});

test('macros that expand to `__device__` make functions of the device, those that define one do not', () => {
  const text = `#define INLINE __forceinline__
#define HD __host__ __device__ INLINE
#define DEFINE(name) __device__ int name() { return 1; }
#define API HD
API int plain(int x) { return x; }
DEFINE(one)
int host() { return 1; }
`;
  const kinds = readSource(text, 'a.cuh').functions.map(({ name, kind }) => `${name} ${kind}`);
  assert.deepEqual(kinds, ['plain device', 'host host']);
});
