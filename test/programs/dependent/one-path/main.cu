// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21
// expect: copySome race=proved divergence=proved
// expect: copySome finding ordering/pdl-wait error lines 21
// expect: copyBoth race=proved divergence=proved
// expect: copyBoth silent
//
// Some blocks do not wait.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copySome(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0) cudaGridDependencySynchronize();
  y[i] = x[i];
}

__global__ void copyBoth(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0) {
    cudaGridDependencySynchronize();
    y[i] = x[i];
  } else {
    cudaGridDependencySynchronize();
    y[i] = 2 * x[i];
  }
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(copySome, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyBoth, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
