// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 25
// expect: fill finding ordering/pdl-wait error lines 52
// expect: clearNever race=proved divergence=proved
// expect: clearNever finding ordering/pdl-wait error lines 25 when "may end before `fill`"
// expect: clearAfterWait race=proved divergence=proved
// expect: clearAfterWait silent
// expect: clearBeforeWait race=proved divergence=proved
// expect: clearBeforeWait silent
// expect: copyAfterWait race=proved divergence=proved
// expect: copyAfterWait finding ordering/pdl-wait error lines 25
// expect: copyEarly race=proved divergence=proved
// expect: copyEarly finding ordering/pdl-wait error lines 52 when "`fill`"
//
// The third kernel uses what the first one writes, and waits only for the second one.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void clearNever(float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = 0;
}

__global__ void clearAfterWait(float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  z[i] = 0;
}

__global__ void clearBeforeWait(float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  z[i] = 0;
}

__global__ void copyAfterWait(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  y[i] = x[i];
}

__global__ void copyEarly(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
  cudaGridDependencySynchronize();
  y[i] = value;
}

int main() {
  float *x, *y, *z;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaMalloc(&z, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(clearNever, 4, 256, z);
  launchEarly(copyAfterWait, 4, 256, y, (const float*)x);
  // The second kernel ends after the first one.
  fill<<<4, 256>>>(x);
  launchEarly(clearAfterWait, 4, 256, z);
  launchEarly(copyAfterWait, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(clearBeforeWait, 4, 256, z);
  launchEarly(copyAfterWait, 4, 256, y, (const float*)x);
  // It lets the third one start when the first one has ended.
  fill<<<4, 256>>>(x);
  launchEarly(clearAfterWait, 4, 256, z);
  launchEarly(copyEarly, 4, 256, y, (const float*)x);
  // It lets the third one start before that.
  fill<<<4, 256>>>(x);
  launchEarly(clearBeforeWait, 4, 256, z);
  launchEarly(copyEarly, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
