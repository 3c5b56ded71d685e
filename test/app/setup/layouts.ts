/** Small repositories of several kinds, each with a race-free and a racy kernel. */
import type { Files } from '../../github/runner.ts';

/** `factor` must come from the flags of the build. */
const kernels = (factor: string): string => `__global__ void scale(float* a, float f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= f * ${factor};
}
__global__ void reverse(float* a) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = a[t];
  a[t] = s[255 - t];
}
`;
const launches = `void run(float* a, int n) {
  scale<<<(n + 255) / 256, 256>>>(a, 2.0f, n);
  reverse<<<1, 256>>>(a);
}
`;
const factor = '#pragma once\n#define FACTOR 2\n';

export interface Layout {
  readonly files: Files;
  /** The flags that the configuration must specify. */
  readonly flags: readonly string[];
  /** The file of the racy kernel. */
  readonly racy: string;
}

export const layouts: Readonly<Record<string, Layout>> = {
  CMake: {
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
set(CMAKE_CUDA_STANDARD 17) # c++17
set(CMAKE_CUDA_ARCHITECTURES 75 90)
add_library(kernels src/k.cu)
target_include_directories(kernels PRIVATE \${CMAKE_CURRENT_SOURCE_DIR}/include \${OTHER}/include missing)
target_compile_options(kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr> -Wall)
`,
      'include/factor.h': factor,
      'src/k.cu': `#include "factor.h"\n${kernels('FACTOR')}${launches}`,
    },
    flags: ['-std=c++17', '-Iinclude', '--expt-relaxed-constexpr'],
    racy: 'src/k.cu',
  },
  Make: {
    files: {
      Makefile: `INC = inc
NVCCFLAGS := -O3 -std=c++14 -I $(INC)
NVCCFLAGS += -DEXTRA=3 \\
  -gencode arch=compute_86,code=sm_86 -I$(shell pwd)
k.o: src/k.cu
\tnvcc $(NVCCFLAGS) -c $< -o $@
`,
      'inc/factor.h': factor,
      'src/k.cu': `#include "factor.h"\n${kernels('FACTOR * EXTRA')}${launches}`,
    },
    flags: ['-std=c++14', '-Iinc', '-DEXTRA=3'],
    racy: 'src/k.cu',
  },
  'setup.py': {
    files: {
      'setup.py': `from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(
    name='ext',
    ext_modules=[
        CUDAExtension('ext', ['csrc/bind.cpp', 'csrc/k.cu'], include_dirs=['csrc/include'],
                      define_macros=[('FAST', None), ('LEVEL', '2')],
                      extra_compile_args={'cxx': ['-O2', '-DHOST'], 'nvcc': ['-O3', '-std=c++17', '--use_fast_math']}),
    ],
    cmdclass={'build_ext': BuildExtension})
`,
      'csrc/include/factor.h': factor,
      'csrc/bind.cpp': '#include <torch/extension.h>\nvoid run(float*, int);\n',
      'csrc/k.cu': `#include "factor.h"\n#ifndef FAST\n#error FAST\n#endif\n${kernels('FACTOR * LEVEL')}${launches}`,
    },
    flags: [
      '-std=c++17',
      '--use_fast_math',
      '-Icsrc/include',
      '-DFAST',
      '-DLEVEL=2',
      '-D__CUDA_NO_HALF_OPERATORS__',
      '-D__CUDA_NO_HALF_CONVERSIONS__',
      '-D__CUDA_NO_BFLOAT16_CONVERSIONS__',
      '-D__CUDA_NO_HALF2_OPERATORS__',
      '--expt-relaxed-constexpr',
      '-DTORCH_API_INCLUDE_EXTENSION_H',
      '-DTORCH_EXTENSION_NAME=ext',
    ],
    racy: 'csrc/k.cu',
  },
  'headers only': {
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.18)
project(lib)
add_library(lib INTERFACE)
target_include_directories(lib INTERFACE include)
target_compile_features(lib INTERFACE cxx_std_17)
`,
      'include/lib/factor.h': factor,
      'include/lib/kernels.cuh': `#pragma once\n#include <lib/factor.h>\n${kernels('FACTOR')}inline ${launches}`,
    },
    flags: ['-std=c++17', '-Iinclude'],
    racy: 'include/lib/kernels.cuh',
  },
  Bazel: {
    files: {
      'MODULE.bazel': 'module(name = "demo")\n',
      'kernels/BUILD.bazel': `cuda_library(
    name = "k",
    srcs = ["k.cu"],
    copts = ["-std=c++17", "-O3"],
    defines = ["MODE=1"],
    deps = ["//common:factor"],
)
`,
      'common/factor.h': factor,
      'kernels/k.cu': `#include "common/factor.h"\n${kernels('FACTOR * MODE')}${launches}`,
    },
    flags: ['-I.', '-std=c++17', '-DMODE=1'],
    racy: 'kernels/k.cu',
  },
  'CMake with several targets': {
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
set(CMAKE_CUDA_STANDARD 17)
add_library(kernels src/k.cu)
target_compile_definitions(kernels PRIVATE FACTOR=2)
add_library(other src/other.cu)
target_compile_definitions(other PRIVATE FACTOR=3 OTHER)
`,
      'src/k.cu': `#ifdef OTHER\n#error OTHER\n#endif\n${kernels('FACTOR')}${launches}`,
      'src/other.cu': 'static_assert(FACTOR == 3);\n#ifndef OTHER\n#error OTHER\n#endif\n',
    },
    flags: ['-std=c++17'],
    racy: 'src/k.cu',
  },
};
