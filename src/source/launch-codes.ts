/** Codes about launches. */
import type { CodeEntry } from './code-entry.ts';

export const launchCodes = {
  'launch/out-of-range': {
    severity: 'error',
    title: 'No device allows the dimensions of this launch.',
    explanation:
      'The launch always fails at run time, for example because a block has more than 1024 threads or a dimension is 0. Selvage leaves it out of the analysis.',
    example: 'kernel<<<64, dim3(64, 32)>>>(p);   // 2048 threads',
    remedy: 'Stay within the limits: 1024 threads per block, blockDim.z at most 64, gridDim.y and gridDim.z at most 65535.',
  },
  'launch/unstated': {
    severity: 'notice',
    title: 'Nothing states how a kernel is launched.',
    explanation:
      'Neither the command line, .selvage.yml, a comment nor a launch in the repository gives the block and the grid, as for the kernels of a library, or PTX that Python generates. Selvage then considers every launch possible. Verdicts that a launch could decide stay open, and findings are shown at representative launches.',
    example: '__global__ void scale(float *a, int n) { … }   // launched by a program that is not in the repository',
    remedy: 'State the launch that the message suggests, with your own numbers: in a comment above the kernel, or in .selvage.yml.',
  },
  'launch/precondition': {
    severity: 'error',
    title: 'The launch violates a precondition of the proof of its kernel.',
    explanation:
      'The kernel is free of races if its arguments satisfy usual preconditions: rows have room for their width, sizes are positive, masks are powers of two. The host program constrains the arguments of this launch so that they always violate one. If Selvage cannot determine whether a launch satisfies a precondition, a notice of this code lists it.',
    example: 'copyRows<<<grid, block>>>(out, in, w, w / 2);   // out[y * ld + x] needs ld >= w',
    remedy: 'Pass arguments that satisfy the precondition in the message, or change the indices of the kernel.',
  },
  'launch/starts-early': {
    severity: 'notice',
    title: 'Kernels may start before the kernel before them in the stream has ended.',
    explanation:
      'With programmatic dependent launch a kernel starts while the one before it still runs: the launch has the attribute programmatic stream serialization or programmatic event, or the kernel waits by `cudaGridDependencySynchronize()`, or lets the next one start by `cudaTriggerProgrammaticLaunchCompletion()`. If it accesses global memory before it waits, on some path, its proof lists the assumption that the kernel before it has ended. Accesses of bytes that the kernel before uses are reported as `ordering/pdl-wait`. The idempotency of such a kernel stays undecided.',
    example: 'attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;   // k may read unfinished results',
    remedy: 'Call cudaGridDependencySynchronize() before the first access to memory that the kernel before it uses.',
  },
  'launch/not-compared': {
    severity: 'notice',
    title: 'Some operations of the host program were not compared.',
    explanation:
      'Launches, copies and accesses of the host that nothing orders are compared in pairs, by runs of their kernels. A file may have more of them than one check runs.',
    example: 'for (int i = 0; i < 64; i++) k<<<1, 32, 0, streams[i]>>>(x);',
    remedy: 'Check the launches of the file in parts, or order the operations by fewer streams.',
  },
  'launch/not-evaluated': {
    severity: 'notice',
    title: 'Selvage cannot evaluate the dimensions of this launch.',
    explanation:
      'The dimensions depend on values that are known only at run time. Selvage checks the kernel for the launches that it can evaluate, and its proof covers only those.',
    example: 'kernel<<<blocksFor(n), threads>>>(p, n);',
    remedy:
      'State the dimensions: with `--block` and `--grid`, in .selvage.yml, or in a comment `// selvage: block=256 grid=64` above the kernel.',
  },
  'launch/block-mismatch': {
    severity: 'error',
    title: 'The launch contradicts the block size for which the kernel was compiled.',
    explanation:
      'A kernel with .reqntid runs only with exactly that block. A kernel with __launch_bounds__ runs only with at most that many threads per block. Any other launch fails at run time.',
    example: '__global__ void __launch_bounds__(128) k(float* p);   // k<<<1, 256>>>(p) fails',
    remedy: 'Change the launch or the bounds so that they agree.',
  },
  'launch/bad-argument': {
    severity: 'warning',
    title: 'The value given for a parameter does not fit its type.',
    explanation:
      "Only scalar parameters take values: integers, booleans and floating-point numbers of the parameter's type. Pointers and structs take none.",
    example: '--arg out=7   // out is a float*',
    remedy: "Give a value of the parameter's type, or leave it out.",
  },
  'launch/refused': {
    severity: 'error',
    title: 'The architecture cannot run this launch.',
    explanation:
      'A block needs more threads, registers or shared memory than a multiprocessor has, or more than 48 KiB of shared memory without `cudaFuncSetAttribute()`. The launch returns an error and the kernel does not run.',
    example: 'kernel<<<grid, 1024>>>();   // 96 registers per thread: 98304 of 65536',
    remedy:
      'Use smaller blocks, or add __launch_bounds__ so that the compiler uses fewer registers. For up to 227 KiB of dynamic shared memory call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the launch.',
  },
  'launch/unread': {
    severity: 'notice',
    title: 'Selvage cannot read the host code of a file.',
    explanation:
      'Selvage reads launches from what GCC makes of the host code of a file. Here that code does not compile, or another compiler is used. The kernels of the file are checked as if no launch of them were known.',
    example: '#ifndef __CUDA_ARCH__\n#include "missing.h"   // only host code includes it\n#endif',
    remedy:
      'Make the file compile with nvcc -c and GCC, or state launches with --block and --grid, in .selvage.yml or in a comment at the kernel.',
  },
} as const satisfies Record<string, CodeEntry>;
