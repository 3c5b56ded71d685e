// options: --arch sm_90
// expect: sum race=proved divergence=proved
// expect: sum finding ordering/pdl-wait error lines 19
// expect: clearEarly race=proved divergence=proved
// expect: clearEarly finding ordering/pdl-wait error lines 19
// expect: clearLate race=proved divergence=proved
// expect: clearLate silent
//
// The second kernel writes what the first one still reads after it has let the second one start.
#include "early-launch.cuh"

__global__ void sum(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  y[i] += x[i];
}

__global__ void clearEarly(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = 0;
  cudaGridDependencySynchronize();
}

__global__ void clearLate(float* x) {
  cudaGridDependencySynchronize();
  x[blockIdx.x * blockDim.x + threadIdx.x] = 0;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  sum<<<4, 256>>>(y, x);
  launchEarly(clearEarly, 4, 256, x);
  sum<<<4, 256>>>(y, x);
  launchEarly(clearLate, 4, 256, x);
  return cudaDeviceSynchronize();
}
