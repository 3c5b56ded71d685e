// expect: scaleRow race=proved divergence=proved
// expect: scaleRow silent
// expect: scaleRow launch kernels.cu:16 block=256 grid=16
// expect: countRow race=race divergence=proved
// expect: countRow finding race/global error on a lines 14
// expect: countRow launch kernels.cu:17 block=512 grid=16
//
// compile_commands.json has the macros of the host, and names files that are not there.

#include "run.h"

__global__ void scaleRow(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void countRow(float* a) { a[blockIdx.x * 256 + threadIdx.x] += 1.0f; }

void runScale(float* a, int threads) { scaleRow<<<16, threads>>>(a); }
void runCount(float* a, int threads) { countRow<<<16, threads>>>(a); }
