/** Both builds of one front end are those that nvcc makes, and are not made where they might differ. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { ProcessResult } from '../../src/system/child-process.ts';
import { compileUnit, type CompileResult } from '../../src/toolchain/compile.ts';
import type { Compiler } from '../../src/toolchain/compiler.ts';
import { buildFromOneFrontEnd, stepsOf } from '../../src/toolchain/one-front-end.ts';
import { restrictsPointers } from '../../src/toolchain/preprocessed.ts';
import { flagGroup, nvcc, request, temporaryFolder, writeFiles } from './fixture.ts';

/** The compiler itself, where tests see one that keeps its builds. */
const compiler = nvcc && behind(nvcc);
const without = compiler?.features.separateFrontEnd ? false : 'no nvcc whose front end is known';

function behind(kept: Compiler): Compiler {
  const named = join(dirname(kept.path), 'compiler');
  return existsSync(named) ? { ...kept, path: readFileSync(named, 'utf8').trim() } : kept;
}

/** What an optimising compiler would drop, merge, unroll or move. */
const kernels = `#include <cstdio>
struct Four { int a, b, c, d; };
__device__ int counter[64];
__constant__ float weights[64];
__device__ __noinline__ int twice(int* p, int i) { p[i] = i; p[i] = i + 1; return p[i] + p[i]; }
__device__ int recursive(int* a, int n) { if (n <= 0) return a[0]; a[n] = n; return recursive(a, n - 1); }
__device__ int first(int x) { return x + counter[0]; }
__device__ int second(int x) { counter[1] = x; return x; }
__device__ int (*table[2])(int) = {first, second};
__global__ void dead(int n) { __shared__ int s[256]; s[threadIdx.x] = n; s[threadIdx.x ^ 1] = 2; }
__global__ void merged(int* a, int n) { if (n == 5) a[threadIdx.x] = 5; else a[threadIdx.x] = n; }
__global__ void again(int* a, int* b) { int x = a[1]; int y = a[1]; b[threadIdx.x] = x + y; a[1] = x; }
__global__ void loops(int* a) {
  __shared__ int s[32];
#pragma unroll
  for (int i = 0; i < 8; i++) { s[(threadIdx.x + i) % 32] = i; __syncthreads(); __syncthreads(); }
  for (int i = 0; i < 4; i++) a[i] = 7;
}
__global__ void sides(int* a, int n) { if (n > 3) { a[0] = 1; __syncthreads(); } else { a[0] = 1; __syncthreads(); } }
__global__ void calls(int* a, int n) { counter[threadIdx.x] = twice(a, n) + recursive(a, n) + table[n & 1](n); }
__global__ void structs(Four* p, Four* q) { Four t = p[threadIdx.x]; t.b = 3; q[threadIdx.x] = t; q[threadIdx.x].a = 9; }
__global__ void numbers(float* a) { a[threadIdx.x] = sinf(a[1]) / expf(a[0]) + sqrtf(a[2]) * weights[3] + a[4] / 3.0f; }
__global__ void prints(int* a) { atomicAdd(a, 0); printf("%d", a[0]); memcpy(a, a + 64, 64); }
template <int N> __global__ void sized(int* a) { if (N > 3) a[threadIdx.x] = N; else a[0] = N; }
template __global__ void sized<2>(int*);
template __global__ void sized<8>(int*);
`;

/** The PTX of both builds: each by itself, then those of one front end. */
async function builds(
  root: string,
  flags: readonly string[] = [],
): Promise<[CompileResult, CompileResult, CompileResult]> {
  const base = { ...request(compiler!, root, 'a.cu'), flags: [flagGroup(root, ...flags)] };
  const verification = await compileUnit(base);
  const production = await compileUnit({ ...base, build: 'production' });
  return [verification, production, await compileUnit({ ...base, build: 'production', withVerification: true })];
}

test('one front end makes what nvcc makes of a unit in two builds', { skip: without }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'a.cu': kernels });
  for (const flags of [[], ['-use_fast_math', '-std=c++20', '-maxrregcount=32', '-rdc=true']]) {
    const [verification, production, { verification: ptx, ...one }] = await builds(root, flags);
    assert.deepEqual(one, production);
    assert.equal(ptx, verification.ptx);
    assert.match(ptx!, /dead[^]*st\.u32[^]*merged/);
  }
});

test(
  'what is of the project is told before the unit is compiled, and is that of the result',
  { skip: without },
  async (t) => {
    const root = temporaryFolder(t);
    const hosts: string[] = [];
    const base = { ...request(compiler!, root, 'a.cu'), build: 'production', onHost: (host: string) => hosts.push(host) } as const; // prettier-ignore
    writeFiles(root, { 'a.cu': kernels });
    const { host } = await compileUnit({ ...base, withVerification: true });
    assert.deepEqual(hosts.splice(0), [host]);
    assert.match(host!, /__attribute__\(\(global\)\) void loops/);
    await compileUnit(base);
    assert.deepEqual(hosts, []);
    writeFiles(root, { 'a.cu': 'int main() { wrong; }\n' });
    assert.equal((await compileUnit({ ...base, withVerification: true })).ptx, undefined);
    assert.match(hosts.join(), /wrong/);
  },
);

test('a unit with restrict pointers, or one that asks which build it is in, has two', { skip: without }, async (t) => {
  const root = temporaryFolder(t);
  const kernel = '__global__ void k(int* a, int n) { a[n] = 1; }\n';
  const base = { ...request(compiler!, root, 'a.cu'), build: 'production', withVerification: true } as const;
  const units = [
    `#define ONLY __restrict\n__device__ int f(int* ONLY p) { return *p; }\n${kernel}`,
    `#include "selvage.h"\n${kernel}`,
    `#ifdef __SELVAGE__\n#endif\n${kernel}`,
  ];
  for (const text of units) {
    writeFiles(root, { 'a.cu': text });
    const { ptx, verification } = await compileUnit(base);
    assert.match(ptx!, /\.entry/);
    assert.equal(verification, undefined, text);
  }
});

test('a unit that does not compile says why', { skip: without }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'a.cu': '__global__ void k() { wrong; }\n' });
  const [, production, one] = await builds(root);
  assert.deepEqual(one, production);
  assert.deepEqual(
    one.diagnostics.map(({ code }) => code),
    ['compile/failed'],
  );
});

const told = `#$ TOP=/cuda/bin/..
#$ CICC_PATH=/cuda/bin/../nvvm/bin
#$ gcc -D__CUDA_ARCH__=800 -E -x c++ "-I/my folder" "/repo/a.cu" -o "/out/kept/a.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --orig_src_file_name "/repo/a.cu" -arch compute_80 -m64 -ftz=0 -prec_div=1 -generate-line-info -tused "/out/kept/a.cpp1.ii" -o "/out/unit.ptx"
`;

test('the steps of nvcc are read off its dry run, where all of their words are known', () => {
  assert.deepEqual(stepsOf(told), {
    preprocess: [
      'gcc',
      '-D__CUDA_ARCH__=800',
      '-E',
      '-x',
      'c++',
      '-I/my folder',
      '/repo/a.cu',
      '-o',
      '/out/kept/a.cpp1.ii',
    ],
    preprocessed: '/out/kept/a.cpp1.ii',
    cicc: '/cuda/bin/../nvvm/bin/cicc',
    frontEnd: ['--c++17', '--orig_src_file_name', '/repo/a.cu', '--nv_arch', 'compute_80', '--m64', '--generate-line-info', '-tused'], // prettier-ignore
    backEnd: ['-arch=compute_80', '-ftz=0', '-prec-div=1', '-generate-line-info'],
  });
  const changes: readonly (readonly [string | RegExp, string])[] = [
    [' -tused', ' -tused --kernel-params-are-restrict'],
    [' -tused', ' -g -O0'],
    [' -tused', ' --Ofast-compile=min'],
    [' -ftz=0', ' -ftz=2'],
    ['compute_80', 'lto_80'],
    ['/repo/a.cu"', '/repo/$(a).cu"'],
    [' -E', ' -c'],
    [/#\$ CICC_PATH.*\n/, ''],
    [/#\$ "\$CICC.*\n/, ''],
    [/$/, '#$ ptxas a.ptx\n'],
  ];
  for (const [from, to] of changes) assert.equal(stepsOf(told.replace(from, () => to)), null, `${from} ${to}`);
});

test('the preprocessed text is told of before it is compiled, if there is one', async () => {
  const good: ProcessResult = { end: { kind: 'exited', code: 0 }, stdout: '', stderr: '' };
  const stepsUntil = async (failing: string): Promise<string[]> => {
    const steps: string[] = [];
    await buildFromOneFrontEnd(
      async () => ({ ...good, stderr: told }),
      async (program, [first = '']) => {
        const step = program === 'gcc' ? program : first;
        steps.push(step);
        return step === failing ? { ...good, end: { kind: 'exited', code: 1 } } : good;
      },
      '/out/unit.ptx',
      '/out',
      () => steps.push('told'),
    );
    return steps;
  };
  assert.deepEqual(await stepsUntil('none'), ['gcc', 'told', '-lgenfe', '-libnvvm', '-libnvvm']);
  assert.deepEqual(await stepsUntil('gcc'), ['gcc']);
  assert.deepEqual(await stepsUntil('-lgenfe'), ['gcc', 'told', '-lgenfe']);
});

test('a step that fails sends to nvcc, one that passes a limit is the result', async () => {
  const good: ProcessResult = { end: { kind: 'exited', code: 0 }, stdout: '', stderr: '' };
  const dryRun = async (): Promise<ProcessResult> => ({ ...good, stderr: told });
  for (const step of ['gcc', '-lgenfe', '-libnvvm']) {
    const made = (bad: Partial<ProcessResult>) =>
      buildFromOneFrontEnd(
        dryRun,
        async (program, args) => ([program, args[0]].includes(step) ? { ...good, ...bad } : good),
        '/out/unit.ptx',
        '/out',
        () => undefined,
      );
    assert.deepEqual(await made({}), { result: good, verification: '/out/verification.ptx' });
    assert.equal(await made({ end: { kind: 'exited', code: 2 } }), null);
    assert.equal(await made({ end: { kind: 'signalled', signal: 'SIGSEGV' } }), null);
    assert.equal((await made({ end: { kind: 'time-limit' } }))?.result.end.kind, 'time-limit');
    // What front ends say is for the user; a back end that says something was not understood.
    assert.equal((await made({ stderr: 'a warning' })) === null, step === '-libnvvm');
  }
});

test("restrict pointers of headers of the system that have no device code are the host's", () => {
  const header = '# 1 "/usr/include/string.h" 1 3 4\nvoid* memcpy(void* __restrict to, const void* __restrict from);\n';
  const own = '# 1 "a.cu"\nint x;\n';
  const device = '__attribute__((device)) int f(int* p);\n';
  assert.equal(restrictsPointers(header + own), false);
  assert.equal(restrictsPointers(own + header), false);
  assert.equal(restrictsPointers(`${header}# 1 "/usr/include/c++/12/x.h" 1 3\nint* __restrict p;\n${own}${device}`), false); // prettier-ignore
  assert.equal(restrictsPointers(`${header}# 1 "a.cu"\nint* __restrict__ p;\n`), true);
  assert.equal(restrictsPointers(`${header}# 1 "/lib/x.h" 1\nint* __restrict p;\n`), true);
  assert.equal(restrictsPointers(`${header}# 1 "a.cu"\n# 9 "/usr/include/string.h" 3 4\n${device}`), true);
  assert.equal(restrictsPointers('int* __restrict p;\n'), true);
});
