/** Host code of real units, from nvcc's steps to statements of which launches consist. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { GimpleFunction } from '../../src/gimple/gimple.ts';
import { readDebugTypes } from '../../src/gimple/debug-types.ts';
import { parseFunction, splitDump } from '../../src/gimple/gimple-parser.ts';
import { selfTestProgram, understandsDump } from '../../src/gimple/self-test.ts';
import { runProcess } from '../../src/system/child-process.ts';
import { type HostDump, hostDump } from '../../src/lowering/host-dump.ts';
import { hostStepsOf, withoutStubs } from '../../src/lowering/host-steps.ts';
import { nvcc, temporaryFolder, withoutNvcc, wrappedCompiler, writeFiles } from '../toolchain/fixture.ts';

const compilers = ['g++-11', 'g++-12', 'g++-13', 'g++-14', 'g++'].filter((name) => existsSync(`/usr/bin/${name}`));

function dumpOf(compiler: string, folder: string, passes: string): string {
  writeFiles(folder, { 'program.cpp': selfTestProgram });
  const dump = join(folder, 'program.gimple');
  execFileSync(`/usr/bin/${compiler}`, [
    '-O0',
    '-fwrapv',
    '-g',
    '-w',
    '-S',
    `-fdump-tree-ssa-raw-lineno-asmname-${passes}=${dump}`,
    join(folder, 'program.cpp'),
    '-o',
    '/dev/null',
  ]);
  return readFileSync(dump, 'utf8');
}

for (const compiler of compilers)
  test(`dumps of ${compiler} are understood, and no others`, (context) => {
    const folder = temporaryFolder(context);
    const dump = dumpOf(compiler, folder, 'blocks-eh-uid');
    assert.ok(understandsDump(dump));
    for (const passes of ['blocks-eh', 'blocks-uid', 'eh-uid']) assert.ok(!understandsDump(dumpOf(compiler, folder, passes)), passes);
    const start = dump.indexOf(';; Function chosen');
    const [before, chosen] = [dump.slice(0, start), dump.slice(start)];
    for (const match of chosen.matchAll(/gimple_(?=(?:assign|call|cond|phi|switch|return|resx) <)/g)) {
      const changed = `${chosen.slice(0, match.index)}gimpel_${chosen.slice(match.index + match[0].length)}`;
      assert.ok(!understandsDump(before + changed), chosen.slice(match.index, match.index + 80));
    }
  });

async function dumped(context: TestContext, text: string, flags: readonly string[] = [], file = 'unit.cu'): Promise<HostDump> {
  const [root, folder] = [temporaryFolder(context), temporaryFolder(context)];
  writeFiles(root, { [file]: text });
  const { path } = wrappedCompiler(nvcc!);
  const { stderr } = spawnSync(path, ['-c', '--dryrun', '-arch=sm_80', ...flags, file, '-o', join(folder, 'unit.o')], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  const steps = hostStepsOf(stderr, folder);
  assert.ok(steps, stderr);
  const limits = { milliseconds: 60_000, outputBytes: 1 << 20 };
  const made = await hostDump(steps, limits, ([executable, ...args]) =>
    runProcess({ executable, args, cwd: root, env: { PATH: process.env['PATH'] ?? '' }, limits }),
  );
  assert.ok('gimple' in made, JSON.stringify(made));
  return made;
}

function functionOf({ gimple }: HostDump, symbol: string): GimpleFunction {
  const parsed = parseFunction(symbol, splitDump(gimple).texts.get(symbol) ?? '');
  assert.ok(parsed, symbol);
  return parsed;
}

/** The callees and the sources of the lines of the calls of a function. */
function callsOf({ blocks }: GimpleFunction): string[] {
  return blocks.flatMap(({ statements }) =>
    statements.flatMap((one) =>
      one.kind === 'call' && one.callee.kind === 'declaration' ? [`${one.location?.line}: ${one.callee.name.replace(/D\.\d+$/, '')}`] : [],
    ),
  );
}

const unit = `#include <cstdio>
namespace {
template <typename T, int B> __global__ void fill(T* a, int n) { int i = blockIdx.x * B + threadIdx.x; if (i < n) a[i] = T(B); }
template <typename T> void launch(T* a, int n, cudaStream_t s) {
  fill<T, 128><<<(n + 127) / 128, 128, 0, s>>>(a, n);
}
}
void run(float* a, double* b, int n) {
  launch(a, n, nullptr);
  void* given[] = {&b, &n};
  cudaLaunchKernel(fill<double, 64>, dim3(n, 2), dim3(64), given, 0, nullptr);
}
`;

test('launches of a unit are calls at their lines, also in templates', { skip: withoutNvcc }, async (context) => {
  for (const flags of [[], ['-O3', '-Xcompiler', '-fopenmp,-O2', '-std=c++17', '-rdc=true']]) {
    const made = await dumped(context, unit, flags);
    const [wrapper] = [...splitDump(made.gimple).texts.keys()].filter((name) => /launchIfE/.test(name));
    assert.match(
      callsOf(functionOf(made, wrapper!)).join(' '),
      /^5: _ZN4dim3C1Ejjj 5: _ZN4dim3C1Ejjj 5: __cudaPushCallConfiguration 5: \S*fillIfLi128EEEvPT_i$/,
    );
    const calls = callsOf(functionOf(made, '_Z3runPfPdi'));
    assert.match(calls[0]!, /^9: \S*launchIfEEvPT_iP11CUstream_st$/);
    assert.deepEqual(calls.slice(1), [
      '11: _ZN4dim3C1Ejjj',
      '11: _ZN4dim3C1Ejjj',
      '11: _Z16cudaLaunchKernelIFvPdiEE9cudaErrorPT_4dim3S5_PPvmP11CUstream_st',
    ]);
  }
});

test('the assembly has the layouts of types, also of classes that another unit implements', { skip: withoutNvcc }, async (context) => {
  const text = 'struct Elsewhere { virtual void key(); int a; }; int run(Elsewhere* e, dim3 d) { return e->a + d.z; }';
  const types = readDebugTypes((await dumped(context, text)).assembly);
  const offsets = (name: string): string[][] =>
    types.recordsNamed(name).map(({ members }) => members.map((one) => `${one.name}@${one.offset}`));
  assert.deepEqual(offsets('dim3'), [['x@0', 'y@4', 'z@8']]);
  assert.deepEqual(offsets('Elsewhere'), [['_vptr.Elsewhere@0', 'a@8']]);
  assert.deepEqual(
    types.variablesOf('_Z3runP9Elsewhere4dim3').map(({ name, type }) => `${name} ${type.kind}`),
    ['e pointer', 'd record'],
  );
});

test('the stub include is removed; a text without exactly one is rejected', () => {
  assert.equal(withoutStubs('int a;\n#include "x.cudafe1.stub.c"\nint b;\n'), 'int a;\n\nint b;\n');
  assert.equal(withoutStubs('int a;\n'), null);
  assert.equal(withoutStubs('#include "a.stub.c"\n#include "b.stub.c"\n'), null);
});

test('a file without functions has an empty dump', { skip: withoutNvcc }, async (context) => {
  const { gimple, assembly } = await dumped(context, 'extern const int sizes[] = {64, 128};', [], 'sizes.cpp');
  assert.equal(gimple, '');
  assert.match(assembly, /^sizes:/m);
});
