// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 19
// expect: copyByHelper race=proved divergence=proved
// expect: copyByHelper finding ordering/pdl-wait error lines 19
// expect: copyByWaitingHelper race=proved divergence=proved
// expect: copyByWaitingHelper silent
//
// A function that the kernel calls loads before the kernel waits, or waits itself.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__device__ float load(const float* x, int i) {
  return x[i];
}

__device__ float loadAfterWait(const float* x, int i) {
  cudaGridDependencySynchronize();
  return x[i];
}

__global__ void copyByHelper(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = load(x, i);
  cudaGridDependencySynchronize();
  y[i] = value;
}

__global__ void copyByWaitingHelper(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = loadAfterWait(x, i);
  y[i] = value;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(copyByHelper, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyByWaitingHelper, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
