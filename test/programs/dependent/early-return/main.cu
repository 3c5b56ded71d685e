// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21
// expect: copyOrReturn race=proved divergence=proved
// expect: copyOrReturn finding ordering/pdl-wait error lines 21
// expect: returnOrCopy race=proved divergence=proved
// expect: returnOrCopy silent
//
// Threads return before the wait: one after a load, the other without an access.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copyOrReturn(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    y[i] = x[i];
    return;
  }
  cudaGridDependencySynchronize();
  y[i] = 2 * x[i];
}

__global__ void returnOrCopy(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cudaGridDependencySynchronize();
  y[i] = 2 * x[i];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(copyOrReturn, 4, 256, y, (const float*)x, 600);
  fill<<<4, 256>>>(x);
  launchEarly(returnOrCopy, 4, 256, y, (const float*)x, 600);
  return cudaDeviceSynchronize();
}
