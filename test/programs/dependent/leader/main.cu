// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21
// expect: copyWithoutBarrier race=proved divergence=proved
// expect: copyWithoutBarrier finding ordering/pdl-wait error lines 21
// expect: copyWithBarrier race=proved divergence=proved
// expect: copyWithBarrier silent
//
// Thread 0 waits for its block, with and without a barrier after it.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copyWithoutBarrier(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  y[i] = x[i];
}

__global__ void copyWithBarrier(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  y[i] = x[i];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(copyWithoutBarrier, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyWithBarrier, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
