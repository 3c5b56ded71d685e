// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 20
// expect: copyNever race=proved divergence=proved
// expect: copyNever finding ordering/pdl-wait error lines 20
// expect: copyAfter race=proved divergence=proved
// expect: copyAfter silent
//
// The second kernel never waits for the first one.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copyNever(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

__global__ void copyAfter(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  y[i] = x[i];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(copyNever, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyAfter, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
