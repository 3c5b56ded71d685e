// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch kernels.cu:16 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 14
// expect: halveChunk launch host.cpp:6 block=512 grid=16
//
// The host file stops in the middle of a function. The code before that is read.

#include "run.h"

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void runScale(float* a) { scaleChunk<<<16, 256>>>(a); }
