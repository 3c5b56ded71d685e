// expect: scaleRow race=proved divergence=proved
// expect: scaleRow silent
// expect: scaleRow launch kernels.cu:22 block=256 grid=16
// expect: shiftRow race=race divergence=proved
// expect: shiftRow finding race/shared error on s lines 17,19
// expect: shiftRow launch kernels.cu:23 block=64 grid=16
//
// The host that calls the launching functions is a file that nvcc does not see.

#include "run.h"

__global__ void scaleRow(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void shiftRow(float* out, const float* in) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncwarp();
  out[i] = s[(t + 1) % blockDim.x];
}

void runScale(float* a, int blocks, int threads) { scaleRow<<<blocks, threads>>>(a); }
void runShift(float* out, const float* in, int threads) { shiftRow<<<16, threads>>>(out, in); }

