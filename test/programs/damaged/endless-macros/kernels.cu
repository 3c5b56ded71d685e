// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch kernels.cu:11 block=256 grid=16
//
// The macros of the host file call themselves and each other, and one doubles with every step.

#include "run.h"

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

void runScale(float* a, int threads) { scaleChunk<<<16, threads>>>(a); }

