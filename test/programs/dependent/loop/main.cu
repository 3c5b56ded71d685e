// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21
// expect: sumBefore race=proved divergence=proved
// expect: sumBefore finding ordering/pdl-wait error lines 21
// expect: sumAfter race=proved divergence=proved
// expect: sumAfter silent
//
// A loop waits after its first load, or before.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void sumBefore(float* y, const float* x) {
  float sum = 0;
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
    sum += x[i];
    cudaGridDependencySynchronize();
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void sumAfter(float* y, const float* x) {
  float sum = 0;
  cudaGridDependencySynchronize();
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) sum += x[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(sumBefore, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(sumAfter, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
