// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk precondition "blockDim.x <= 256"
//
// The macros of the host file call themselves and each other, and one doubles with every step. The file does not compile.

#include "run.h"

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

void runScale(float* a, int threads) { scaleChunk<<<16, threads>>>(a); }

