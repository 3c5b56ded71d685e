// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 20
// expect: copyLate race=proved divergence=proved
// expect: copyLate finding ordering/pdl-wait error lines 20
// expect: copyInTime race=proved divergence=proved
// expect: copyInTime silent
//
// The load comes before the wait.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copyLate(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
  cudaGridDependencySynchronize();
  y[i] = value;
}

__global__ void copyInTime(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  float value = x[i];
  y[i] = value;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(copyLate, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyInTime, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
