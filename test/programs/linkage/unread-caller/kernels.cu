// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk precondition "blockDim.x <= 256"
// expect: scaleChunk launch kernels.cu:12 block=256 grid=16
//
// A file that does not compile calls the wrapper too: it may pass any number of threads.

#include "run.h"

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

void runScale(float* a, int threads) {
  scaleChunk<<<16, threads>>>(a);
}

void run(float* a) { runScale(a, 256); }
