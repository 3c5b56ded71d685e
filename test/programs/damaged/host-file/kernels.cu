// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch kernels.cu:16 block=256 grid=16
// expect: halveChunk race=proved divergence=proved
// expect: halveChunk precondition "blockDim.x <= 256"
// expect: halveChunk silent
//
// The host file does not compile: no launch in it is known, also not that of 512 threads.

#include "run.h"

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void runScale(float* a) { scaleChunk<<<16, 256>>>(a); }
