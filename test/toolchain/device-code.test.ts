/** Both builds of one front end are those that nvcc makes, and are not made where they might differ. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ProcessLimits, ProcessResult } from '../../src/system/child-process.ts';
import { compileUnit, type CompileResult } from '../../src/toolchain/compile.ts';
import { deviceCode, largestFunction } from '../../src/toolchain/device-code.ts';
import { stepsOf, type ProgramCall } from '../../src/toolchain/nvcc-steps.ts';
import { restrictsPointers } from '../../src/toolchain/preprocessed.ts';
import { wrappedCompiler, flagGroup, nvcc, request, temporaryFolder, writeFiles } from './fixture.ts';

/** The compiler itself, if tests use one that caches its builds. */
const compiler = nvcc && wrappedCompiler(nvcc);
const without = compiler?.features.separateFrontEnd ? false : 'no nvcc whose front end is known';

/** Code that an optimising compiler would drop, merge, unroll or move. */
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

/** The PTX of both builds: each separately, then those of one front end. */
async function builds(root: string, flags: readonly string[] = []): Promise<[CompileResult, CompileResult, CompileResult]> {
  const base = { ...request(compiler!, root, 'a.cu'), flags: [flagGroup(root, ...flags)] };
  const verification = await compileUnit(base);
  const production = await compileUnit({ ...base, build: 'production' });
  return [verification, production, await compileUnit({ ...base, build: 'production', withVerification: true })];
}

test('one front end produces the same as nvcc for a unit in two builds', { skip: without }, async (t) => {
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
  'the host code of the project is passed on before the unit is compiled, and equals that of the result',
  { skip: without },
  async (t) => {
    const root = temporaryFolder(t);
    const hosts: string[] = [];
    const base = { ...request(compiler!, root, 'a.cu'), build: 'production', onHost: (host: string) => hosts.push(host) } as const;
    writeFiles(root, { 'a.cu': kernels });
    const { host } = await compileUnit({ ...base, withVerification: true });
    assert.deepEqual(hosts.splice(0), [host]);
    assert.match(host!, /__attribute__\(\(global\)\) void loops/);
    const alone = await compileUnit(base);
    assert.deepEqual([hosts.splice(0), alone.host], [[host], host]);
    writeFiles(root, { 'a.cu': 'int main() { wrong; }\n' });
    assert.equal((await compileUnit({ ...base, withVerification: true })).ptx, undefined);
    assert.match(hosts.join(), /wrong/);
  },
);

test('a unit with restrict pointers, or one that tests which build it is in, has two', { skip: without }, async (t) => {
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

test('the reason is reported for a unit that does not compile', { skip: without }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'a.cu': '__global__ void k() { wrong; }\n' });
  const [, production, one] = await builds(root);
  assert.deepEqual(one, production);
  assert.deepEqual(
    one.diagnostics.map(({ code }) => code),
    ['compile/failed'],
  );
});

const ptxas = '/cuda/bin/ptxas';
const told = `#$ TOP=/cuda/bin/..
#$ CICC_PATH=/cuda/bin/../nvvm/bin
#$ gcc -D__CUDA_ARCH__=800 -E -x c++ "-I/my folder" "/repo/a.cu" -o "/out/kept/a.cpp1.ii"
#$ "$CICC_PATH/cicc" --c++17 --orig_src_file_name "/repo/a.cu" -arch compute_80 -m64 -ftz=0 -prec_div=1 -generate-line-info -tused "/out/kept/a.cpp1.ii" -o "/out/unit.ptx"
`;

test('the steps of nvcc are parsed from its dry run, and the halves if all arguments are known', () => {
  const steps = stepsOf(told, ptxas)!;
  assert.deepEqual(steps.preprocess.slice(0, 5), ['gcc', '-D__CUDA_ARCH__=800', '-E', '-x', 'c++']);
  assert.equal(steps.preprocess[5], '-I/my folder');
  assert.equal(steps.preprocessed, '/out/kept/a.cpp1.ii');
  assert.deepEqual(steps.compile.slice(0, 2), ['/cuda/bin/../nvvm/bin/cicc', '--c++17']);
  assert.equal(steps.libraries, null);
  assert.deepEqual(steps.halves, {
    frontEnd: ['--c++17', '--orig_src_file_name', '/repo/a.cu', '--nv_arch', 'compute_80', '--m64', '--generate-line-info', '-tused'],
    backEnd: ['-arch=compute_80', '-ftz=0', '-prec-div=1', '-generate-line-info'],
  });
  // Options added by the verification build belong to neither half.
  assert.deepEqual(stepsOf(told.replace(' -tused', ' --Ofast-compile=max -tused'), ptxas)?.halves, steps.halves);
  const validated = `${told}#$ ptxas -arch=compute_90 -m64 "/out/unit.ptx" \n`;
  assert.equal(steps.validate, null);
  assert.deepEqual(stepsOf(validated, ptxas)?.validate, [ptxas, '-arch=compute_90', '-m64', '/out/unit.ptx']);
  assert.equal(stepsOf(validated, null), null);
  const whole: readonly (readonly [string, string])[] = [
    [' -tused', ' -tused --kernel-params-are-restrict'],
    [' -tused', ' -g -O0'],
    [' -tused', ' --Ofast-compile=min'],
    [' -ftz=0', ' -ftz=2'],
    ['compute_80', 'lto_80'],
  ];
  for (const [from, to] of whole) assert.equal(stepsOf(told.replace(from, to), ptxas)?.halves, null, `${from} ${to}`);
  const unknown: readonly (readonly [string | RegExp, string])[] = [
    ['/repo/a.cu"', '/repo/$(a).cu"'],
    [' -E', ' -c'],
    [/#\$ CICC_PATH.*\n/, ''],
    [/#\$ "\$CICC.*\n/, ''],
    [/$/, '#$ ptxas a.ptx\n'],
  ];
  for (const [from, to] of unknown)
    assert.equal(
      stepsOf(
        told.replace(from, () => to),
        ptxas,
      ),
      null,
      `${from} ${to}`,
    );
});

const good: ProcessResult = { end: { kind: 'exited', code: 0 }, stdout: '', stderr: '' };
const limits: ProcessLimits = {
  milliseconds: 60_000,
  outputBytes: 1 << 20,
  resources: { cpuSeconds: 600, memoryBytes: 1 << 30, fileBytes: 1 << 20 },
};

/** PTX of a kernel with the given number of instructions. */
function kernelOf(instructions: number): string {
  return `.visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\t.reg .b32 %r<9>;\n${'\tmov.u32 %r1, %r2;\n'.repeat(instructions - 1)}\tret;\n\n}\n`;
}

interface Run {
  readonly command: ProgramCall;
  readonly cpuSeconds: number | undefined;
}

/** Compiles with a program whose result is given, by the step that it is run for. */
async function compiledBy(
  t: TestContext,
  answers: Readonly<Record<string, Partial<ProcessResult>>>,
  { size = 10, separates = true, production = true, verification = true, text = told } = {},
) {
  const temporary = temporaryFolder(t);
  const runs: Run[] = [];
  const stepOf = (words: readonly string[]): string =>
    words.find((word) => ['-lgenfe', '-opt=0', '-Ofast-compile=max', '--Ofast-compile=max', '-O0', ptxas].includes(word)) ?? 'usual';
  const code = await deviceCode({
    steps: stepsOf(text, ptxas)!,
    production,
    verification,
    separates,
    limits,
    temporary,
    async run(command, within) {
      runs.push({ command, cpuSeconds: within.resources?.cpuSeconds });
      if (command[0] !== ptxas && command.at(-1)!.startsWith(temporary)) writeFileSync(command.at(-1)!, kernelOf(size));
      return { ...good, ...answers[stepOf(command)] };
    },
  });
  return { code, runs, steps: runs.map(({ command }) => stepOf(command)), temporary };
}

const late: Partial<ProcessResult> = { end: { kind: 'time-limit' } };

test('the choice of the verification build depends on the size of functions, not on the computer', async (t) => {
  const small = await compiledBy(t, {}, { size: 20_000 });
  assert.deepEqual(small.steps, ['-lgenfe', 'usual', '-opt=0', '-Ofast-compile=max']);
  assert.equal(small.code?.unoptimised, undefined);
  assert.equal(small.code?.verification, join(small.temporary, 'verification.ptx'));
  const large = await compiledBy(t, { '-Ofast-compile=max': late }, { size: 20_001 });
  assert.deepEqual(large.steps, ['-lgenfe', 'usual', '-opt=0']);
  assert.equal(large.code?.unoptimised, 'large');
  assert.equal(large.code?.verification, join(large.temporary, 'plain.ptx'));
  // A separate build is the same.
  const alone = await compiledBy(t, {}, { size: 20_001, production: false });
  assert.deepEqual([alone.steps, alone.code?.unoptimised], [['-lgenfe', '-opt=0'], 'large']);
});

test('a build that exceeds its time is distinguished from one that was too large', async (t) => {
  const { code, runs } = await compiledBy(t, { '-Ofast-compile=max': late });
  assert.equal(code?.unoptimised, 'late');
  assert.match(code?.verification ?? '', /plain\.ptx$/);
  assert.deepEqual(
    runs.map(({ cpuSeconds }) => cpuSeconds),
    [600, 600, 600, 60],
  );
});

test('if the halves are unknown, only time determines that a build is too expensive', async (t) => {
  const text = told.replace(' -tused', ' --Ofast-compile=max -tused');
  const setting = { separates: false, production: false, text };
  const usual = await compiledBy(t, {}, setting);
  assert.deepEqual([usual.steps, usual.code?.unoptimised], [['--Ofast-compile=max'], undefined]);
  const { code, steps, runs } = await compiledBy(t, { '--Ofast-compile=max': late }, setting);
  assert.deepEqual([steps, code?.unoptimised], [['--Ofast-compile=max', '-O0'], 'late']);
  assert.ok(runs[0]!.cpuSeconds! < runs[1]!.cpuSeconds!);
});

test('after a step that fails nvcc is run; a step that exceeds a limit is the result', async (t) => {
  for (const step of ['-lgenfe', 'usual', '-opt=0', '-Ofast-compile=max']) {
    assert.deepEqual((await compiledBy(t, {})).code?.result, good);
    assert.equal((await compiledBy(t, { [step]: { end: { kind: 'exited', code: 2 } } })).code, null, step);
    assert.equal((await compiledBy(t, { [step]: { end: { kind: 'signalled', signal: 'SIGSEGV' } } })).code, null);
    const limited = (await compiledBy(t, { [step]: late })).code;
    assert.equal(limited?.result.end.kind, step === '-Ofast-compile=max' ? 'exited' : 'time-limit', step);
    // Messages of front ends are for the user; a message of a back end means that a step failed.
    assert.equal((await compiledBy(t, { [step]: { stderr: 'a warning' } })).code === null, step !== '-lgenfe', step);
  }
});

test('texts that nvcc has ptxas check are checked, in both builds', async (t) => {
  const text = `${told}#$ ptxas -arch=compute_90 -m64 "/out/unit.ptx" \n`;
  const { code, runs, temporary } = await compiledBy(t, {}, { text });
  const read = runs.flatMap(({ command }) => (command[0] === ptxas ? [command] : []));
  assert.deepEqual(
    read,
    ['production', 'verification'].map((name) => [ptxas, '-arch=compute_90', '-m64', join(temporary, `${name}.ptx`)]),
  );
  assert.deepEqual(code?.result, good);
  assert.equal((await compiledBy(t, { [ptxas]: { end: { kind: 'exited', code: 255 } } }, { text })).code, null);
});

test('the size of a function is its number of instructions, not of lines', () => {
  const call = '\t{ // callseq 0, 0\n\t.reg .b32 temp;\n\tcall.uni (retval0), \n\tf, \n\t(\n\tparam0\n\t);\n\t} // callseq 0\n';
  const body = (lines: string): string => `.func f()\n{\n\t.loc\t1 2 3\n${lines}$L__BB0_1:\n\t@%p1 bra \t$L__BB0_1;\n}\n`;
  assert.equal(largestFunction(kernelOf(7)), 7);
  assert.equal(largestFunction(body(call) + kernelOf(1)), 2);
  assert.equal(largestFunction(''), 0);
});

test("restrict pointers of headers of the system that have no device code are the host's", () => {
  const header = '# 1 "/usr/include/string.h" 1 3 4\nvoid* memcpy(void* __restrict to, const void* __restrict from);\n';
  const own = '# 1 "a.cu"\nint x;\n';
  const device = '__attribute__((device)) int f(int* p);\n';
  assert.equal(restrictsPointers(header + own), false);
  assert.equal(restrictsPointers(own + header), false);
  assert.equal(restrictsPointers(`${header}# 1 "/usr/include/c++/12/x.h" 1 3\nint* __restrict p;\n${own}${device}`), false);
  assert.equal(restrictsPointers(`${header}# 1 "a.cu"\nint* __restrict__ p;\n`), true);
  assert.equal(restrictsPointers(`${header}# 1 "/lib/x.h" 1\nint* __restrict p;\n`), true);
  assert.equal(restrictsPointers(`${header}# 1 "a.cu"\n# 9 "/usr/include/string.h" 3 4\n${device}`), true);
  assert.equal(restrictsPointers('int* __restrict p;\n'), true);
});
