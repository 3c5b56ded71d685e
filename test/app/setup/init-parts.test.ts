/** Parts of what `selvage init` writes: packages of the toolkit, databases, missing headers; and its trial build. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { includedHeaders } from '../../../src/app/setup/included-headers.ts';
import { openSourceTree } from '../../../src/app/project/source-tree.ts';
import { isStandardHeader, isToolkitHeader, packagesFor, toolkitPackage } from '../../../src/app/setup/toolkit-headers.ts';
import { parseConfiguration } from '../../../src/settings/configuration-parser.ts';
import { needsCompiler } from '../../e2e/pull-request.ts';
import { selvage } from '../commands/in-process.ts';

const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true })));

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-init-'));
  made.push(folder);
  mkdirSync(join(folder, '.git'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

interface Written {
  readonly folder: string;
  readonly configuration: string;
  readonly workflow: string;
}

/** Files that `init` writes. */
async function initialised(files: Readonly<Record<string, string>>): Promise<Written> {
  const folder = folderOf(files);
  const ran = await selvage(['init', '--quiet'], folder);
  assert.equal(ran.status, 0, ran.stderr);
  const text = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const configuration = text('.selvage.yml');
  assert.deepEqual(parseConfiguration(configuration, 'c.yml').diagnostics, []);
  return { folder, configuration, workflow: text('.github/workflows/selvage.yml') };
}

const kernel = '__global__ void k(int* p) { p[threadIdx.x] = 1; }\n';

test('headers of the toolkit name the packages of the workflow', async () => {
  const { workflow, configuration } = await initialised({
    'a.cu': `#include <cublas_v2.h>\n#include "lib/b.h"\n#include <cuda_runtime.h>\n#include <vector>\n${kernel}`,
    'lib/b.h': '#ifdef PROFILE\n#include <nvtx3/nvToolsExt.h>\n#endif\n#include <cub/cub.cuh>\n',
  });
  assert.match(workflow, /^ +sub-packages: '\["nvcc", "cudart", "cudart-dev", "nvtx", "cccl"\]'$/m);
  assert.match(workflow, /^ +non-cuda-sub-packages: '\["libcublas-dev"\]'$/m);
  assert.doesNotMatch(configuration, /Neither/);
});

test('packages by header and version', () => {
  const rows: Readonly<Record<string, string | undefined>> = {
    'cublasLt.h': 'libcublas-dev',
    'curand_kernel.h': 'libcurand-dev',
    'cufftXt.h': 'libcufft-dev',
    'cusparse.h': 'libcusparse-dev',
    'cusolverDn.h': 'libcusolver-dev',
    'nvml.h': 'nvml-dev',
    'nvjpeg.h': 'libnvjpeg-dev',
    'nppi_filtering_functions.h': 'libnpp-dev',
    'nvrtc.h': 'nvrtc-dev',
    'cuda_profiler_api.h': 'profiler-api',
    'nvToolsExt.h': 'nvtx',
    'thrust/sort.h': 'cccl',
    'cuda/std/atomic': 'cccl',
    'cuda_fp16.h': undefined,
    'cooperative_groups/reduce.h': undefined,
    'mpi.h': undefined,
    'cudnn.h': undefined,
  };
  for (const [header, name] of Object.entries(rows)) assert.equal(toolkitPackage(header, '13.2.0'), name, header);
  assert.equal(toolkitPackage('cub/cub.cuh', '11.7.1'), 'thrust');
  assert.equal(toolkitPackage('cub/cub.cuh', '11.8.0'), 'cccl');
  assert.deepEqual(packagesFor(['cusolverDn.h'], '13.2.0').plain, ['libcublas-dev', 'libcusolver-dev', 'libcusparse-dev']);
  for (const header of ['vector', 'cstdint', 'stdio.h', 'sys/mman.h', 'immintrin.h', 'omp.h', 'bits/stdc++.h'])
    assert.ok(isStandardHeader(header) && !isToolkitHeader(header), header);
  for (const header of ['cuda.h', 'cuda_runtime.h', 'cuComplex.h', 'mma.h', 'vector_types.h'])
    assert.ok(isToolkitHeader(header) && !isStandardHeader(header), header);
  for (const header of ['mpi.h', 'torch/extension.h', 'GL/gl.h', 'opencv2/core.hpp', 'cudnn.h', 'nccl.h'])
    assert.ok(!isToolkitHeader(header) && !isStandardHeader(header), header);
});

test('headers of other libraries are those under no open condition', () => {
  const folder = folderOf({
    'a.cu':
      '#include "in/a.h"\n#include <mpi.h>\n/* #include <old.h>\n*/\n#ifdef USE_GL\n#include <GL/gl.h>\n#endif\n#ifdef GIVEN\n#include <given.h>\n#else\n#include <other.h>\n#endif\n',
    'in/a.h':
      '#ifndef A_H\n#define A_H\n#include "b.h"\n#ifdef _WIN32\n#include <windows.h>\n#else\n#include <unistd.h>\n#include <sdl.h>\n#endif\n#if 0\n#include <zero.h>\n#elif defined(GIVEN) && !defined(__APPLE__)\n#include <elif.h>\n#endif\n#endif\n',
    'in/b.h': '#include <x/found.h>\n',
    'far/x/found.h': '#include <deep.h>\n',
    'b.cu': '#include <x/found.h>\n#include <nvml.h>\n',
  });
  const { foreign, outside } = includedHeaders(['a.cu', 'b.cu'], openSourceTree(folder), (unit) =>
    unit === 'a.cu' ? ['-DGIVEN=1'] : ['-Ifar'],
  );
  assert.deepEqual(Object.fromEntries(foreign), {
    'a.cu': ['deep.h', 'elif.h', 'given.h', 'mpi.h', 'sdl.h'],
    'b.cu': ['deep.h'],
  });
  assert.ok(outside.has('GL/gl.h') && outside.has('nvml.h') && !outside.has('windows.h') && !outside.has('zero.h'));
});

test('headers of other libraries are named in the configuration', async () => {
  const { configuration } = await initialised({ 'a.cu': `#include <mpi.h>\n#include <opencv2/core.hpp>\n${kernel}` });
  assert.match(configuration, /^ *# Neither the repository nor the toolkit has mpi\.h, opencv2\/core\.hpp\.$/m);
  const withFlags = await initialised({ Makefile: 'k: k.cu\n\tnvcc -DK $<\n', 'k.cu': `#include <mpi.h>\n${kernel}` });
  assert.match(withFlags.configuration, /- '-DK'\n {2}# Neither the repository nor the toolkit has mpi\.h\.\n/);
});

test('flags of single files are in a database that the configuration names', async () => {
  const { folder, configuration, workflow } = await initialised({
    'CMakeLists.txt': 'project(p CUDA)\nadd_library(a a.cu)\nadd_library(b b.cu)\ntarget_compile_definitions(b PRIVATE B=1)\n',
    'a.cu': kernel,
    'b.cu': kernel,
  });
  assert.match(configuration, /^ {2}compile-commands: selvage\/compile_commands\.json$/m);
  const entries: unknown = JSON.parse(readFileSync(join(folder, 'selvage/compile_commands.json'), 'utf8'));
  assert.deepEqual(entries, [
    { directory: '..', file: 'a.cu', arguments: ['nvcc', '-c', 'a.cu'] },
    { directory: '..', file: 'b.cu', arguments: ['nvcc', '-DB=1', '-c', 'b.cu'] },
  ]);
  assert.doesNotMatch(workflow, /cmake/);
});

test('databases of a repository are named, and their flags are not repeated', async () => {
  const database = (file: string): string => JSON.stringify([{ directory: '../..', file, command: `nvcc -c ${file}` }]);
  const whole = {
    Makefile: '%.o: %.cu\n\tnvcc -DM -c $<\n',
    'one/a.cu': kernel,
    'two/b.cu': kernel,
    'one/build/compile_commands.json': database('one/a.cu'),
    'two/out/compile_commands.json': database('two/b.cu'),
    'host/build/compile_commands.json': database('host/main.cpp'),
    'bad/compile_commands.json': '{',
  };
  const { configuration } = await initialised(whole);
  assert.deepEqual(parseConfiguration(configuration, 'c.yml').configuration.nvcc, {
    args: [],
    compileCommands: ['one/build/compile_commands.json', 'two/out/compile_commands.json'],
    stubsMissingHeaders: false,
  });
  const partly = await initialised({ ...whole, 'c.cu': kernel });
  assert.deepEqual(parseConfiguration(partly.configuration, 'c.yml').configuration.nvcc.args, ['-DM']);
});

test('settings that CUDA files need are those of the configure step', async () => {
  const { workflow, configuration } = await initialised({
    'CMakeLists.txt': 'project(p CUDA)\noption(GPU "" OFF)\nif(GPU)\nadd_library(k k.cu)\nendif()\n',
    'k.cu': kernel,
  });
  assert.match(workflow, /run: cmake -S \. -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DGPU=ON$/m);
  assert.match(configuration, /^# Some CUDA files are compiled only with these settings of the build: GPU=ON$/m);
});

test('definitions that are left out are remarks with their place', async () => {
  const { configuration } = await initialised({
    Makefile: 'ifeq ($(P),FP32)\nF = -DFP32\nelse\nF = -DBF16\nendif\nk: k.cu\n\tnvcc $(F) $<\n',
    'k.cu': kernel,
  });
  assert.match(configuration, /^#   Makefile:2: -DFP32 \(if ifeq \(\$\(P\),FP32\)\)$/m);
  assert.match(configuration, /^ {4}- '-DBF16'$/m);
});

test('headers that only host code uses are stubbed', needsCompiler, async () => {
  const host = 'void join(nvshmem_team_t team) { nvshmem_barrier(team); }\n';
  const folder = folderOf({ 'a.cu': `#include <nvshmem.h>\n${kernel}${host}` });
  assert.match((await selvage(['init'], folder)).stderr, /^selvage: a\.cu compiles with this configuration$/m);
  assert.match(
    readFileSync(join(folder, '.selvage.yml'), 'utf8'),
    /^ {2}# Neither .* has nvshmem\.h\.\n.*\n {2}stub-missing-headers: true$/m,
  );
});

test('one unit is compiled, and the message states what is missing', needsCompiler, async () => {
  const messages = async (files: Readonly<Record<string, string>>): Promise<string> => (await selvage(['init'], folderOf(files))).stderr;
  assert.match(
    await messages({ 'a.cu': `#include <mpi.h>\n${kernel}`, 'b.cu': kernel }),
    /^selvage: b\.cu compiles with this configuration$/m,
  );
  assert.match(
    await messages({ 'a.cu': `#include "math/x.h"\n${kernel}`, 'lib/math/x.h': '' }),
    /a\.cu does not compile with this configuration: a\.cu:1: the header math\/x\.h is not found\. Add '-Ilib' to nvcc\.args of \.selvage\.yml/,
  );
  assert.match(
    await messages({ 'a.cu': `#include <nvshmem.h>\n__device__ nvshmem_team_t team;\n${kernel}` }),
    /the header nvshmem\.h is not found\. Install its library/,
  );
  assert.match(
    await messages({ 'a.cu': `#include "config.h"\n${kernel}`, 'config.h.in': '' }),
    /the header config\.h is not found\. The build writes it/,
  );
  assert.match(
    await messages({ 'a.cu': `#include <torch/nothing.h>\n${kernel}` }),
    /torch\/nothing\.h is not found\. The workflow installs PyTorch/,
  );
  assert.match(
    await messages({ 'a.cu': `int x = MISSING;\n${kernel}` }),
    /a\.cu:1: .*MISSING.* If your build compiles it, add its flags to nvcc\.args/,
  );
  assert.match(
    await messages({
      'a.cu': `#include <sub.h>\n__device__ sub_t sub;\n${kernel}`,
      '.gitmodules': '[submodule "s"]\n\tpath = deps/s\n',
    }),
    /the submodule deps\/s is not checked out[^]*Check the submodules out/,
  );
});

test('include folders of submodules are taken even if they are not checked out', async () => {
  const { configuration } = await initialised({
    'CMakeLists.txt': 'project(p CUDA)\nadd_library(k k.cu)\ntarget_include_directories(k PRIVATE deps/s/include deps/t)\n',
    '.gitmodules': '[submodule "s"]\n\tpath = deps/s\n\turl = https://example.org/s\n',
    'k.cu': `#include <s.h>\n${kernel}`,
  });
  assert.deepEqual(parseConfiguration(configuration, 'c.yml').configuration.nvcc.args, ['-Ideps/s/include']);
  assert.match(configuration, /Submodules that are not checked out here may have them: deps\/s\./);
});
