// options: --arch sm_90
// expect: storeEarly race=proved divergence=proved
// expect: storeEarly finding ordering/pdl-wait warning lines 14
// expect: storeSome race=proved divergence=proved
// expect: storeSome finding ordering/pdl-wait warning lines 22
// expect: storeLate race=proved divergence=proved
// expect: storeLate silent
//
// The kernel before is not known: the library launches one kernel in each function.
#include "early-launch.cuh"

__global__ void storeEarly(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 0;
  cudaGridDependencySynchronize();
  y[i] += x[i];
}

__global__ void storeSome(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0) cudaGridDependencySynchronize();
  y[i] = x[i];
}

__global__ void storeLate(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  y[i] = x[i];
}

void early(float* y, const float* x) { launchEarly(storeEarly, 4, 256, y, x); }

void some(float* y, const float* x) { launchEarly(storeSome, 4, 256, y, x); }

void late(float* y, const float* x) { launchEarly(storeLate, 4, 256, y, x); }
