/** Units whose host code uses a library that is not installed. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { lowerHost } from '../../src/lowering/lower-host.ts';
import { compileUnit, type CompileRequest, type CompileResult } from '../../src/toolchain/compile.ts';
import { compilerLimits } from '../../src/toolchain/confinement.ts';
import type { KeptCode } from '../../src/toolchain/kept-code.ts';
import type { Trust } from '../../src/toolchain/flags.ts';
import { flagGroup, nvcc, request, temporaryFolder, withoutNvcc, wrappedCompiler, writeFiles } from './fixture.ts';

const compiler = nvcc && wrappedCompiler(nvcc);
const skip = withoutNvcc;

const kernel = `template <typename scalar_t> __global__ void scale(scalar_t* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i];
}
`;

interface Compiled {
  readonly result: CompileResult;
  readonly root: string;
  readonly asked: CompileRequest;
}

interface CompileSettings {
  readonly flags?: readonly string[];
  readonly trust?: Trust;
  /** Whether the key is set. */
  readonly stubs?: boolean;
  readonly kept?: KeptCode;
}

async function compiled(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { flags = [], trust = 'user', stubs = true, kept }: CompileSettings = {},
): Promise<Compiled> {
  const root = temporaryFolder(t);
  writeFiles(root, files);
  const asked: CompileRequest = {
    ...request(compiler!, root, 'a.cu'),
    build: 'production',
    limits: compilerLimits,
    trust,
    kept,
    flags: [flagGroup(root, ...flags)],
    ...(stubs && { stubs: new Map() }),
  };
  return { result: await compileUnit(asked), root, asked };
}

const notes = ({ diagnostics }: CompileResult): string[] => diagnostics.map(({ code, message }) => `${code}: ${message}`);

function assertStubbed({ result }: Compiled): string {
  assert.deepEqual(
    result.diagnostics.map(({ code }) => code),
    ['compile/stubbed-headers'],
    notes(result).join('\n'),
  );
  return result.ptx!;
}

function assertRefused({ result }: Compiled, reason: RegExp): void {
  assert.equal(result.ptx, undefined);
  assert.deepEqual(
    result.diagnostics.map(({ code }) => code),
    ['compile/failed', 'compile/not-stubbed'],
  );
  assert.match(result.diagnostics[1]!.message, reason);
}

/** A library of linear algebra in C, and a host program that uses it. */
const algebraHeader = `#pragma once
#include <cuda_runtime.h>
typedef struct algebraContext* algebraHandle_t;
typedef enum { ALGEBRA_OK = 0, ALGEBRA_BAD = 1 } algebraStatus_t;
typedef enum { ALGEBRA_OP_N = 0, ALGEBRA_OP_T = 1 } algebraOperation_t;
extern "C" {
algebraStatus_t algebraCreate(algebraHandle_t* handle);
algebraStatus_t algebraSetStream(algebraHandle_t handle, cudaStream_t stream);
algebraStatus_t algebraSgemm(algebraHandle_t handle, algebraOperation_t a, algebraOperation_t b, int m, int n, int k, const float* alpha, const float* x, int ldx, const float* y, int ldy, const float* beta, float* z, int ldz);
const char* algebraName(algebraStatus_t status);
}
`;
const algebraUnit = `#include <algebra.h>
#include <cstdio>
${kernel}
#define CHECK(call) do { algebraStatus_t status = (call); if (status != ALGEBRA_OK) { printf("%s\\n", algebraName(status)); return; } } while (0)
struct Solver { algebraHandle_t handle; int steps; };
static algebraHandle_t shared_handle;
void multiply(Solver& solver, float* x, float* y, float* z, int n, bool transposed) {
  const float one = 1.0f, zero = 0.0f;
  CHECK(algebraCreate(&solver.handle));
  CHECK(algebraSetStream(solver.handle, 0));
  algebraOperation_t op = transposed ? ALGEBRA_OP_T : ALGEBRA_OP_N;
  algebraStatus_t last = algebraSgemm(solver.handle, op, (algebraOperation_t)0, n, n, n, &one, x, n, y, n, &zero, z, n);
  if (last != ALGEBRA_OK || shared_handle == nullptr) return;
  scale<float><<<(n * n + 255) / 256, 256>>>(z, n * n);
}
`;

test('a unit that calls a library in C gets the same PTX as with the library', { skip }, async (t) => {
  const stubbed = await compiled(t, { 'a.cu': algebraUnit });
  const ptx = assertStubbed(stubbed);
  const whole = await compiled(t, { 'a.cu': algebraUnit, 'include/algebra.h': algebraHeader }, { flags: ['-Iinclude'] });
  assert.deepEqual(notes(whole.result), []);
  assert.equal(ptx.replaceAll(stubbed.root, ''), whole.result.ptx!.replaceAll(whole.root, ''));
  const verification = await compileUnit({ ...stubbed.asked, build: 'verification' });
  assert.match(verification.ptx ?? '', /\.entry _Z5scaleIfEvPT_i/);
  // Nothing is written to the repository.
  assert.deepEqual(readdirSync(stubbed.root), ['a.cu']);
});

const tensorUnit = `#include <tensors/extension.h>
#include <vector>
${kernel}
using namespace tensors::indexing;
tensors::Tensor run(tensors::Tensor x, const std::vector<tensors::Tensor>& others, tensors::optional<tensors::Tensor> mask) {
  TENSOR_CHECK(x.is_cuda() && x.dim() == 2, "expected a matrix, got ", x.dim());
  const tensors::cuda::Guard guard(x.device());
  auto y = tensors::empty({x.size(0), x.size(1)}, x.options().dtype(tensors::kFloat).device(x.device()));
  const int n = x.numel();
  const auto threads = 256;
  if (mask.has_value() && others.size() > 1) y = y + others[0] * 2;
  dim3 blocks((n + threads - 1) / threads, x.size(0));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "run", ([&] {
    scale<scalar_t><<<blocks, threads, 0, tensors::cuda::getCurrentCUDAStream()>>>(y.data_ptr<scalar_t>(), n);
  }));
  return y.view({-1}).index({Slice(), 0}).contiguous();
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("run", &run, "scales");
}
`;

test('a unit of tensors is compiled, with the instances that a macro makes in any case', { skip }, async (t) => {
  const ptx = assertStubbed(await compiled(t, { 'a.cu': tensorUnit }));
  const entries = new Set(Array.from(ptx.matchAll(/\.entry (\w+)/g), ([, name]) => name));
  assert.deepEqual(entries, new Set(['_Z5scaleIdEvPT_i', '_Z5scaleIfEvPT_i']));
});

const imageUnit = `#include <images/core.hpp>
#include "pixels.h"
${kernel}
#include <iostream>
class Filter {
 public:
  explicit Filter(const images::Size& size) : buffer_(size.height, size.width, IMAGE_8UC1) {}
  images::Mat apply(const images::Mat& input);
 private:
  images::GpuMat buffer_;
  images::Mat_<float> weights_;
};
images::Mat Filter::apply(const images::Mat& input) {
  images::Mat result = images::Mat::zeros(input.rows, input.cols, IMAGE_8UC1);
  for (int row = 0; row < input.rows; row++) result.at<unsigned char>(row, 0) = input.at<unsigned char>(row, 1);
  TRACE_SCOPE("apply")
  images::resize(input, result, images::Size(4, 4), 0, 0, images::INTER_LINEAR);
  std::cout << "rows: " << result.rows << std::endl;
  float* pixels = (float*)buffer_.ptr();
  scale<<<dim3(result.rows), 64>>>(pixels, result.cols * result.rows);
  return result;
}
`;

test('classes, members and macros of a library, and a header that a header of the repository includes', { skip }, async (t) => {
  const ptx = assertStubbed(
    await compiled(t, {
      'a.cu': imageUnit,
      'pixels.h': '#pragma once\n#include "codec/png.h"\ninline int bytes(png_image& image) { return image.bytes; }\n',
    }),
  );
  assert.match(ptx, /\.entry _Z5scaleIfEvPT_i/);
});

test('device code that needs the header is refused, and reported as before', { skip }, async (t) => {
  const include = '#include <lib.h>\n';
  const refused: readonly (readonly [text: string, reason: RegExp])[] = [
    ['__global__ void k(lib_t* x) { x[1] = x[0]; }\n', /depends on lib_t \(a\.cu:2\)/],
    ['__global__ void k(float* x) { x[0] = lib_value(1); }\n', /depends on lib_value/],
    ['__global__ void k(float* x) { x[0] = LIB_SIZE; }\n', /depends on LIB_SIZE/],
    ['struct S { lib_t a; int n; };\n__global__ void k(S* s) { s->n = 1; }\n', /depends on S/],
    ['LIB_API __global__ void k(float* x) { x[0] = 1; }\n', /depends on LIB_API/],
    ['template <class T> __global__ void k(T* x) { x[0] = x[1]; }\nvoid f(lib::Half* x) { k<<<1, 32>>>(x); }\n', /instantiated with Half/],
    [`${kernel}#if LIB_VERSION >= 2\n__device__ int n;\n#endif\n`, /define LIB_VERSION, .* a\.cu:6 .*-ULIB_VERSION/],
    [`#ifdef LIB_HALF\ntypedef short real;\n#else\ntypedef float real;\n#endif\n__global__ void k(real* x) { x[0] = 1; }\n`, /-ULIB_HALF/],
    [`${kernel}#ifdef LIB_T\n#endif\nint f() { return lib("a" 1 +); }\n`, /the compiler still reports/],
  ];
  for (const [text, reason] of refused) assertRefused(await compiled(t, { 'a.cu': include + text }), reason);
  const stated = {
    'a.cu': `${include}${kernel}#if LIB_VERSION >= 2\n__device__ int n;\n#endif\nvoid f() { lib_init(); scale<float><<<1, 1>>>(0, 1); }\n`,
  };
  assertStubbed(await compiled(t, stated, { flags: ['-ULIB_VERSION'] }));
});

test('a header of the repository is not stubbed', { skip }, async (t) => {
  const text = `#include "lib.h"\n${kernel}`;
  assertRefused(await compiled(t, { 'a.cu': text, 'src/lib.h': '' }), /the repository has the header lib\.h/);
  assertRefused(await compiled(t, { 'a.cu': text, 'src/lib.h.in': '' }), /the repository has the header lib\.h/);
});

test('without the key a missing header is an error that names it', { skip }, async (t) => {
  const files = { 'a.cu': `#include <lib.h>\n${kernel}` };
  const { result } = await compiled(t, files, { stubs: false });
  assert.match(notes(result).join('\n'), /^compile\/failed: .*lib\.h: No such file.*stub-missing-headers: true/);
  const own = await compiled(t, { ...files, 'src/lib.h': '' }, { stubs: false });
  assert.doesNotMatch(notes(own.result).join('\n'), /stub-missing-headers/);
});

test('in a pull request the stub is made of names, and no message quotes the compiler', { skip }, async (t) => {
  const ptx = assertStubbed(await compiled(t, { 'a.cu': algebraUnit }, { trust: 'pull-request' }));
  assert.match(ptx, /\.entry _Z5scaleIfEvPT_i/);
  const wrong = `#include <lib.h>\n${kernel}int f() { return lib("secret" 1 +); }\n`;
  const { result } = await compiled(t, { 'a.cu': wrong }, { trust: 'pull-request' });
  assert.match(notes(result).join('\n'), /compiler still reports an error/);
  for (const name of ['../lib.h', '/etc/passwd.h', 'a/../../b.h', 'x y.h']) {
    const outside = await compiled(t, { 'a.cu': `#include "${name}"\n${kernel}` }, { trust: 'pull-request' });
    assert.equal(outside.result.ptx, undefined, name);
  }
  // A condition that the stub itself would decide.
  const included = `#include <lib.h>\n${kernel}LIB_SCOPE(f) { \n#ifdef LIB_SCOPE\n#include "/etc/hostname"\n#endif\n}\n`;
  assert.equal((await compiled(t, { 'a.cu': included }, { trust: 'pull-request' })).result.ptx, undefined);
});

test('cached code and host code are not stale when the header appears', { skip }, async (t) => {
  const values = new Map<string, unknown>();
  const kept: KeptCode = {
    read: (parts) => values.get(JSON.stringify(parts)),
    write: (parts, value) => void values.set(JSON.stringify(parts), value),
  };
  const { asked, root, result } = await compiled(t, { 'a.cu': algebraUnit }, { kept, flags: ['-Iinclude'] });
  assertStubbed({ asked, root, result });
  const lowered = async (): Promise<string> => {
    const host = await lowerHost({ ...asked, stubs: new Map() });
    // The folder of the stubs is another one each time.
    return 'problem' in host ? host.problem.message : host.dump().gimple.replaceAll(/\/selvage-\w+\//g, '/');
  };
  const before = await lowered();
  assert.ok(before.includes('selvage_stub'));
  assert.ok((await lowered()) === before);
  let made = 0;
  const again = () => compileUnit({ ...asked, stubs: new Map(), onCompiled: () => void (made += 1) });
  assert.equal((await again()).ptx, result.ptx);
  assert.equal(made, 0);
  // The header of another version makes another kernel.
  writeFiles(root, { 'include/algebra.h': `${algebraHeader}#define int long\n` });
  const whole = await again();
  assert.deepEqual([made, notes(whole)], [1, []]);
  assert.match(whole.ptx!, /_Z5scaleIfEvPT_l/);
  const after = await lowered();
  assert.ok(after.includes('algebraCreate') && !after.includes('selvage_stub'));
});

test('host code is not lowered if an invented constant could reach a launch', { skip }, async (t) => {
  const text = `#include <lib.h>\n${kernel}void f(lib_t x, float* y) { lib_use(x); scale<<<sizeof(lib_t), 64>>>(y, 4); }\n`;
  const { asked, result, root } = await compiled(t, { 'a.cu': text });
  assert.match(result.ptx ?? '', /scale/);
  assert.match(notes(result).join('\n'), /Its launches are not read: the size or kind of lib_t \(a\.cu:6\) decides/);
  const host = await lowerHost(asked);
  assert.ok('problem' in host && host.problem.code === 'launch/unread' && /lib_t/.test(host.problem.message));
  assert.ok(!existsSync(join(root, 'stubs')));
});
